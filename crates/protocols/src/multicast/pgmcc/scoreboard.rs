//! What ackers have reported: which packets came, which are lost, by the bitmaps of their ACKs.
//!
//! Each ACK speaks for the receiver that sent it: a packet that it reports as missing is lost, whatever another receiver got. So the loss that
//! elects an acker counts, as soon as that one acknowledges. A loss reported before counts once.

use super::flight::BITMAP;

/// How many later packets an ACK must report for a missing one to count as lost (draft-ietf-rmt-bb-pgmcc-03 §2.2).
const LATER_ACKED: u32 = 3;

/// What ackers have reported of the last packets. Bit *n* of a bitmap stands for packet `top` − *n*.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scoreboard {
    /// The highest number reported.
    top: u64,
    acked: u32,
    lost: u32,
    /// Of packets below this number nothing is asked any more.
    floor: u64,
}

/// What an ACK reports that none before it has. Bit *n* of a bitmap stands for packet `last` − *n*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Packets acknowledged.
    pub acked: u32,
    /// Packets lost.
    pub lost: u32,
}

impl Scoreboard {
    /// The acker says which of the packets up to `last` have come.
    pub fn on_ack(&mut self, last: u64, mask: u32) -> Reported {
        let rise = last.saturating_sub(self.top);
        (self.top, self.acked, self.lost) = (self.top + rise, left(self.acked, rise), left(self.lost, rise));
        // An ACK that others have overtaken reaches further back than the memory.
        let behind = self.top - last;
        let asked = !left(u32::MAX, (last + 1).saturating_sub(self.floor)) & right(u32::MAX, behind);
        let (acked, lost) = (right(self.acked, behind), right(self.lost, behind));
        let reported =
            Reported { acked: asked & mask & !acked & !lost, lost: asked & missing_before(mask, LATER_ACKED) & !lost };
        self.acked |= left(reported.acked, behind);
        self.lost |= left(reported.lost, behind);
        reported
    }

    /// Nothing that was sent before packet `next` is asked for any more.
    pub fn forget(&mut self, next: u64) {
        self.floor = next;
    }
}

/// The packets of a bitmap that have not come although `later` packets behind them have.
fn missing_before(mask: u32, later: u32) -> u32 {
    let mut rest = mask;
    for _ in 1..later {
        rest &= rest.wrapping_sub(1);
    }
    // The lowest bit of `rest` is the last of those; without it nothing is far enough behind.
    if rest == 0 { 0 } else { !mask & left(u32::MAX, u64::from(rest.trailing_zeros())) }
}

fn left(bits: u32, by: u64) -> u32 {
    if by < BITMAP { bits << by } else { 0 }
}

fn right(bits: u32, by: u64) -> u32 {
    if by < BITMAP { bits >> by } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(acked: u32, lost: u32) -> Reported {
        Reported { acked, lost }
    }

    /// §2.2: "an unacknowledged data packet which is followed by at least 3 acknowledged data packets".
    #[test]
    fn three_later_packets_make_a_missing_one_lost() {
        let mut board = Scoreboard::default();
        assert_eq!(board.on_ack(0, !0), reported(1, 0));
        // 1 to 3 are missing.
        assert_eq!(board.on_ack(4, 0b1_0001), reported(1, 0));
        assert_eq!(board.on_ack(5, 0b10_0011), reported(1, 0));
        assert_eq!(board.on_ack(6, 0b100_0111), reported(1, 0b11_1000));
        // Once lost, a packet stays lost.
        assert_eq!(board.on_ack(7, 0b1000_1111), reported(1, 0));
        assert_eq!(board.on_ack(8, !0), reported(1, 0));
    }

    /// §2.2: losses are those "which were not reported in previous ACKs", and each ACK reports what its receiver has.
    #[test]
    fn what_one_acker_had_the_next_may_miss() {
        let mut board = Scoreboard::default();
        (0..10).for_each(|last| assert_eq!(board.on_ack(last, !0), reported(1, 0)));
        assert_eq!(board.on_ack(10, !0b100_0000), reported(1, 0b100_0000), "packet 4");
        assert_eq!(board.on_ack(11, !0b1000_0000), reported(1, 0));
        // A third one misses it too, and packet 6.
        assert_eq!(board.on_ack(12, !0b1_0100_0000), reported(1, 0b100_0000));
    }

    #[test]
    fn an_ack_that_was_overtaken_reports_what_it_alone_has() {
        let mut board = Scoreboard::default();
        assert_eq!(board.on_ack(9, 0b10_0111_1111), reported(0b10_0111_1111, 0b1_1000_0000));
        assert_eq!(board.on_ack(5, !0), reported(0, 0), "1 and 2 are lost, the others acknowledged");
        assert_eq!(board.on_ack(100, 1), reported(1, 0));
        assert_eq!(board.on_ack(98, !0b1000), reported(!0b1000 & !0 >> 2, 0b1000), "68 and before are not remembered");
        assert_eq!(board.on_ack(60, !0), reported(0, 0));
    }

    #[test]
    fn what_is_forgotten_is_neither_acknowledged_nor_lost() {
        let mut board = Scoreboard::default();
        board.forget(5);
        assert_eq!(board.on_ack(4, !0), reported(0, 0));
        assert_eq!(board.on_ack(8, 0b1_1101), reported(0b1101, 0));
        assert_eq!(board.on_ack(10, 0b11_0111), reported(0b11, 0b1000), "7 is lost; 4 is long over");
    }

    /// Against the rule written plainly, for every bitmap of ten packets.
    #[test]
    fn losses_are_those_of_the_rule() {
        for mask in 0..1_u32 << 10 {
            let has = |n: u32| mask >> n & 1 == 1;
            let lost = |n: u32| !has(n) && (0..n).filter(|later| has(*later)).count() >= 3;
            let expected: u32 = (0..32).filter(|n| lost(*n)).map(|n| 1 << n).sum();
            assert_eq!(missing_before(mask, 3), expected, "{mask:b}");
        }
    }
}
