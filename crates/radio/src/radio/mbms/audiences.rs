//! Which terminals the packets of a line are for.

use std::collections::VecDeque;

/// The terminals of packets that lie one behind the other. They take no memory of their own for each packet.
#[derive(Default)]
pub struct Audiences {
    sizes: VecDeque<u32>,
    terminals: VecDeque<u32>,
}

impl Audiences {
    /// Those of the packet that comes last.
    #[inline]
    pub fn push(&mut self, terminals: &[u32]) {
        self.sizes.push_back(terminals.len() as u32);
        self.terminals.extend(terminals);
    }

    /// Takes those of the first packet, in the place of what `terminals` had.
    #[inline]
    pub fn pop(&mut self, terminals: &mut Vec<u32>) {
        terminals.clear();
        let size = self.sizes.pop_front().unwrap_or_default();
        terminals.extend(self.terminals.drain(..size as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packet_has_its_own() {
        let (mut audiences, mut terminals) = (Audiences::default(), vec![9]);
        audiences.push(&[1, 2]);
        audiences.push(&[]);
        audiences.push(&[3]);
        for expected in [&[1, 2][..], &[], &[3], &[]] {
            audiences.pop(&mut terminals);
            assert_eq!(terminals, expected);
        }
    }
}
