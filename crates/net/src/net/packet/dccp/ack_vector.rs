//! The Ack Vector (RFC 4340 §11.4), as it is on the wire.

/// Which packets came, from the acknowledgement number downwards: bytes of two bits of state and six
/// of run length, so that one says the state of up to 64 packets in a row.
///
/// There is room for [`AckVector::MAX`] bytes, of which two runs of 64 packets take two: more than
/// 3000 packets in a row, or 26 gaps. A vector on the wire may have 253 and more. Older packets
/// stay out; to the sender that is "not yet received", unless an earlier acknowledgement told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckVector {
    len: u8,
    bytes: [u8; Self::MAX],
}

/// What an Ack Vector says of a packet (RFC 4340 §11.4, Table 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketState {
    /// Received.
    Received = 0,
    /// Received, and marked as having experienced congestion.
    Marked = 1,
    /// Not yet received.
    Missing = 3,
}

/// The longest run of one byte.
const LONGEST: u64 = 64;

impl AckVector {
    /// The most bytes.
    pub const MAX: usize = 52;

    /// A vector that says nothing.
    pub const EMPTY: Self = Self { len: 0, bytes: [0; Self::MAX] };

    /// Adds a run of `count` packets of this state below those that are there. Says whether all
    /// of it found room.
    pub fn push(&mut self, state: PacketState, mut count: u64) -> bool {
        while count > 0 {
            let Some(byte) = self.bytes.get_mut(self.len as usize) else { return false };
            let run = count.min(LONGEST);
            *byte = (state as u8) << 6 | (run - 1) as u8;
            self.len += 1;
            count -= run;
        }
        true
    }

    /// The bytes of the vector, without the type and the length of the option.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// The runs: their state, and the packets from the first number up to and including the
    /// second. `ack` is the acknowledgement number, below which they go down.
    #[inline]
    pub fn runs(&self, ack: u64) -> impl Iterator<Item = (PacketState, u64, u64)> + '_ {
        let mut above = ack + 1;
        self.bytes().iter().map_while(move |byte| {
            let state = match byte >> 6 {
                0 => PacketState::Received,
                1 => PacketState::Marked,
                _ => PacketState::Missing,
            };
            let last = above.checked_sub(1)?;
            above = above.saturating_sub(u64::from(byte & 63) + 1);
            Some((state, above, last))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PacketState::{Marked, Missing, Received};

    /// The example of RFC 4340 §11.4.
    #[test]
    fn the_example_of_the_rfc() {
        let mut vector = AckVector::EMPTY;
        for (state, count) in [(Received, 1), (Missing, 1), (Received, 4), (Marked, 1), (Received, 6)] {
            assert!(vector.push(state, count));
        }
        assert_eq!(vector.bytes(), [0, 192, 3, 64, 5]);
        let runs: Vec<_> = vector.runs(100).collect();
        let expected =
            [(Received, 100, 100), (Missing, 99, 99), (Received, 95, 98), (Marked, 94, 94), (Received, 88, 93)];
        assert_eq!(runs, expected);
    }

    /// §11.4: run lengths of 65 or more take several bytes.
    #[test]
    fn long_runs_take_a_byte_for_each_64_packets() {
        for (count, bytes) in [(1, vec![0]), (64, vec![63]), (65, vec![63, 0]), (200, vec![63, 63, 63, 7])] {
            let mut vector = AckVector::EMPTY;
            assert!(vector.push(Received, count));
            assert_eq!(vector.bytes(), bytes);
        }
    }

    #[test]
    fn what_does_not_fit_stays_out() {
        let mut vector = AckVector::EMPTY;
        assert!(!vector.push(Received, 64 * 60));
        assert_eq!(vector.bytes().len(), AckVector::MAX);
        assert_eq!(vector.runs(10_000).last(), Some((Received, 10_001 - 64 * 52, 10_000 - 64 * 51)));
    }
}
