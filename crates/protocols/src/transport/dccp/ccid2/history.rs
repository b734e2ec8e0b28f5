//! What the receiver knows of the packets sent to it: the Acknowledgement Window (RFC 4340 §11.4.2).

use std::collections::VecDeque;

use lasthop_net::net::{AckVector, PacketState};

/// The states of the packets that the sender may not know yet, in runs.
#[derive(Debug, Default)]
pub struct History {
    /// The runs from the oldest to the newest; each goes to the next one's first packet.
    runs: VecDeque<Run>,
    /// The packet above the highest that came.
    end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    state: PacketState,
}

/// What the arrival of a packet means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is the next one.
    Next,
    /// It came out of order: one before it is missing, or it was.
    OutOfOrder,
    /// It is known to have come before, or so old that this is not known.
    Old,
}

impl History {
    /// The highest number that came.
    #[inline]
    pub fn highest(&self) -> u64 {
        self.end.saturating_sub(1)
    }

    /// How many packets were sent, as far as is known.
    pub fn count(&self) -> u64 {
        self.end
    }

    /// Packet `number` has come.
    #[inline]
    pub fn on_packet(&mut self, number: u64, marked: bool) -> Arrival {
        let state = if marked { PacketState::Marked } else { PacketState::Received };
        if number < self.end {
            return self.fill(number, state);
        }
        let next = number == self.end;
        if !next {
            self.extend(self.end, PacketState::Missing);
        }
        self.extend(number, state);
        self.end = number + 1;
        if next { Arrival::Next } else { Arrival::OutOfOrder }
    }

    /// Packets from `first` on, where the newest run ends, have this state.
    #[inline]
    fn extend(&mut self, first: u64, state: PacketState) {
        if self.runs.back().is_none_or(|run| run.state != state) {
            self.runs.push_back(Run { first, state });
        }
    }

    /// A packet below the highest has come late, or again.
    fn fill(&mut self, number: u64, state: PacketState) -> Arrival {
        let place = self.runs.partition_point(|run| run.first <= number);
        // Below the oldest run nothing is known any more.
        let Some(run) = place.checked_sub(1).map(|i| self.runs[i]) else { return Arrival::Old };
        if run.state != PacketState::Missing {
            return Arrival::Old;
        }
        let above = self.runs.get(place).copied();
        let next = above.map_or(self.end, |above| above.first);
        let mut parts = [Some(run), Some(Run { first: number, state }), Some(Run { first: number + 1, ..run })];
        if number == run.first {
            parts[0] = None;
        }
        if number + 1 == next {
            parts[2] = None;
        }
        self.runs.remove(place - 1);
        for part in parts.into_iter().rev().flatten() {
            self.runs.insert(place - 1, part);
        }
        Arrival::OutOfOrder
    }

    /// The sender knows of everything up to and including packet `number`.
    pub fn forget(&mut self, number: u64) {
        while let Some(next) = self.runs.get(1)
            && next.first <= number + 1
        {
            self.runs.pop_front();
        }
        if let Some(oldest) = self.runs.front_mut() {
            oldest.first = oldest.first.max(number + 1);
            if oldest.first >= self.end {
                self.runs.clear();
            }
        }
    }

    /// All of it, from the highest packet downwards, or as much as finds room; and whether all did.
    #[inline]
    pub fn vector(&self) -> (AckVector, bool) {
        let mut vector = AckVector::EMPTY;
        let mut end = self.end;
        for (i, run) in self.runs.iter().enumerate().rev() {
            // Neighbours of one state, which late packets leave, share their bytes.
            if i > 0 && self.runs[i - 1].state == run.state {
                continue;
            }
            if !vector.push(run.state, end - run.first) {
                return (vector, false);
            }
            end = run.first;
        }
        (vector, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(packets: &[(u64, bool)]) -> History {
        let mut history = History::default();
        packets.iter().for_each(|(number, marked)| {
            history.on_packet(*number, *marked);
        });
        history
    }

    fn bytes(history: &History) -> Vec<u8> {
        history.vector().0.bytes().to_vec()
    }

    /// The buffers of RFC 4340 Appendix A, with runs joined: the example, then packet 11 marked, packet
    /// 12 unmarked, and packet 8 late.
    #[test]
    fn the_examples_of_the_rfc() {
        let example = [(0, false), (1, true), (2, false), (3, false), (4, false), (5, false), (6, false), (10, false)];
        for (name, more, expected) in [
            ("the example", &[][..], &[0, 0xc2, 4, 0x40, 0][..]),
            ("11 marked", &[(11, true)], &[0x40, 0, 0xc2, 4, 0x40, 0]),
            ("11 unmarked", &[(11, false)], &[1, 0xc2, 4, 0x40, 0]),
            ("12", &[(12, false)], &[0, 0xc0, 0, 0xc2, 4, 0x40, 0]),
            ("8 late", &[(8, false)], &[0, 0xc0, 0, 0xc0, 4, 0x40, 0]),
            ("9 late", &[(9, false)], &[1, 0xc1, 4, 0x40, 0]),
            ("7 late", &[(7, false)], &[0, 0xc1, 5, 0x40, 0]),
            ("7 to 9 late", &[(8, false), (7, false), (9, false)], &[8, 0x40, 0]),
            ("6 again", &[(6, true)], &[0, 0xc2, 4, 0x40, 0]),
        ] {
            let packets: Vec<_> = example.iter().chain(more).copied().collect();
            assert_eq!(bytes(&history(&packets)), expected, "{name}");
        }
    }

    /// RFC 4340 §A.3: acknowledgements of packets 3 and 10 were acknowledged.
    #[test]
    fn what_the_sender_knows_is_forgotten() {
        let packets = [0, 1, 2, 3, 4, 5, 6, 10].map(|n| (n, n == 1));
        for (number, expected) in
            [(0, &[0, 0xc2, 4, 0x40][..]), (3, &[0, 0xc2, 2]), (6, &[0, 0xc2]), (8, &[0, 0xc0]), (9, &[0]), (10, &[])]
        {
            let mut history = history(&packets);
            history.forget(number);
            assert_eq!(bytes(&history), expected, "up to {number}");
            // A late packet below it is old, above it not.
            assert_eq!(history.on_packet(number, false), Arrival::Old, "{number}");
            assert_eq!(history.on_packet(11, false), Arrival::Next);
        }
    }

    #[test]
    fn gaps_and_late_packets_are_out_of_order() {
        let mut history = History::default();
        let arrivals = [0, 1, 3, 3, 4, 2, 2, 9, 10].map(|number| history.on_packet(number, false));
        use Arrival::{Next, Old, OutOfOrder};
        assert_eq!(arrivals, [Next, Next, OutOfOrder, Old, Next, OutOfOrder, Old, OutOfOrder, Next]);
        assert_eq!(history.highest(), 10);
    }
}
