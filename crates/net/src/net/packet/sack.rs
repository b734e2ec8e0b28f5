//! SACK blocks (RFC 2018), in the space of an option.

/// Up to three SACK blocks (RFC 2018), most recent first.
///
/// Numbers are modulo 2³², as on the wire; [`SackBlocks::iter`] gives full ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    len: Len,
}

/// How many SACK blocks there are. An enumeration, so that its unused values tell the kinds of
/// [`TcpOptions`] apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum Len {
    #[default]
    None,
    One,
    Two,
    Three,
}

impl SackBlocks {
    /// The most blocks that a header holds: three, as RFC 2018 §3 says for use with time stamps.
    pub const MAX: usize = 3;

    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); 3], len: Len::None };

    /// Adds the block `[start, end)` unless three are there.
    #[inline]
    pub fn push(&mut self, start: u64, end: u64) {
        let place = self.len();
        if let Some(block) = self.blocks.get_mut(place) {
            *block = (start as u32, end as u32);
            self.len = match self.len {
                Len::None => Len::One,
                Len::One => Len::Two,
                Len::Two | Len::Three => Len::Three,
            };
        }
    }

    /// Leaves out all blocks after the first `most`.
    #[inline]
    pub fn truncate(&mut self, most: usize) {
        self.blocks.iter_mut().skip(most).for_each(|block| *block = (0, 0));
        self.len = match most.min(self.len()) {
            0 => Len::None,
            1 => Len::One,
            2 => Len::Two,
            _ => Len::Three,
        };
    }

    /// How many blocks there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == Len::None
    }

    /// Whether the first block reports a duplicate: it lies below `ack`, or in the second (RFC 2883 §4).
    pub fn reports_duplicate(&self, ack: u64) -> bool {
        self.duplicate(ack).is_some()
    }

    /// The duplicate that the first block reports, if it does.
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let mut blocks = self.iter(ack);
        let (start, end) = blocks.next()?;
        let is_one = start < ack || blocks.next().is_some_and(|(from, to)| from <= start && end <= to);
        is_one.then_some((start, end))
    }

    /// The blocks as full sequence numbers `[start, end)`, those nearest to `ack`.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let near = move |n: u32| ack.wrapping_add_signed(i64::from(n.wrapping_sub(ack as u32) as i32));
        self.blocks[..self.len()].iter().map(move |&(start, end)| (near(start), near(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sack_blocks_survive_the_wrap_of_32_bits() {
        let mut sack = SackBlocks::default();
        let ack = (7 << 32) - 1_000;
        sack.push(ack + 500, ack + 1_500);
        sack.push(ack - 200, ack - 100);
        let blocks: Vec<_> = sack.iter(ack).collect();
        assert_eq!(blocks, [(ack + 500, ack + 1_500), (ack - 200, ack - 100)]);
    }
}
