//! How SDUs are cut into PDUs when they come.

use crate::eurane::rlc::sdus::{Content, INDICATOR, LEAST_SECOND};
use lasthop_net::engine::{Duration, Instant};

/// Cuts SDUs, and keeps a last part that has room for more.
pub(super) struct Segmentation {
    pdu: u8,
    wait: Duration,
    /// The number of the next SDU.
    next: u64,
    /// The last part that waits, and until when. Its indicators count the next SDU's.
    open: Option<(Content, Instant)>,
}

impl Segmentation {
    /// For PDUs of this size, and parts that wait this time.
    pub fn new(pdu: u8, wait: Duration) -> Self {
        Self { pdu, wait, next: 0, open: None }
    }

    /// Takes an SDU; the PDUs that it completes are given in order.
    pub fn push(&mut self, now: Instant, bytes: u32, mut complete: impl FnMut(Content)) {
        let pdu = u32::from(self.pdu);
        let mut left = bytes;
        if let Some((open, _)) = self.open.take() {
            // The SDU is begun only if it does not end in this PDU, by the largest measure.
            if bytes > pdu {
                let second = room_beside(self.pdu, open.first);
                left -= u32::from(second);
                complete(Content { second, ..open });
            } else {
                complete(padded(self.pdu, open));
            }
        }
        let part = |left: u32, first: u8| Content {
            sdu: self.next,
            first,
            second: 0,
            starts: left == bytes,
            ends: left <= pdu,
            indicators: 0,
            padding: 0,
        };
        while left > pdu {
            complete(part(left, self.pdu));
            left -= pdu;
        }
        let last = part(left, left as u8);
        if left == pdu {
            complete(last);
        } else if room_beside(self.pdu, last.first) < LEAST_SECOND {
            complete(padded(self.pdu, last));
        } else {
            self.open = Some((Content { indicators: 2, ..last }, now + self.wait));
        }
        self.next += 1;
    }

    /// When the part that waits is padded; `Instant::MAX` if none does.
    pub fn next_timeout(&self) -> Instant {
        self.open.as_ref().map_or(Instant::MAX, |(_, until)| *until)
    }

    /// A part may have waited long enough.
    pub fn on_timeout(&mut self, now: Instant, mut complete: impl FnMut(Content)) {
        if let Some((open, _)) = self.open.take_if(|(_, until)| *until <= now) {
            complete(padded(self.pdu, open));
        }
    }
}

/// What a PDU has room for beside the last part of an SDU, with an indicator for each.
fn room_beside(pdu: u8, first: u8) -> u8 {
    pdu.saturating_sub(first + 2 * INDICATOR)
}

fn padded(pdu: u8, part: Content) -> Content {
    Content { indicators: 1, padding: pdu - part.first - INDICATOR, ..part }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Data, indicators, padding of the PDUs that are complete when these SDUs have come at these times, and later.
    fn pdus(sdus: &[(u64, u32)]) -> Vec<(u8, u8, u8, u8)> {
        let mut cut = Vec::new();
        let mut segmentation = Segmentation::new(40, Duration::from_millis(2));
        for (at, bytes) in sdus {
            segmentation.on_timeout(ms(*at), |content| cut.push(content));
            segmentation.push(ms(*at), *bytes, |content| cut.push(content));
        }
        segmentation.on_timeout(segmentation.next_timeout(), |content| cut.push(content));
        let sum: u32 = cut.iter().map(|content| u32::from(content.first) + u32::from(content.second)).sum();
        assert_eq!(sum, sdus.iter().map(|(_, bytes)| bytes).sum::<u32>());
        cut.iter().map(|content| (content.first, content.second, content.indicators, content.padding)).collect()
    }

    #[test]
    fn a_last_part_waits_for_the_next_sdu() {
        // 1032 B are 25 PDUs and 32 B, which leave 6 for another.
        let of = |sdus: &[(u64, u32)]| pdus(sdus).split_off(25);
        assert_eq!(of(&[(0, 1032)]), [(32, 0, 1, 7)]);
        assert_eq!(of(&[(0, 1032), (1, 50)]), [(32, 6, 2, 0), (40, 0, 0, 0), (4, 0, 1, 35)]);
        // It has waited 2 ms, or the next SDU is no larger than a PDU.
        assert_eq!(of(&[(0, 1032), (2, 50)]), [(32, 0, 1, 7), (40, 0, 0, 0), (10, 0, 1, 29)]);
        assert_eq!(of(&[(0, 1032), (1, 40)]), [(32, 0, 1, 7), (40, 0, 0, 0)]);
    }

    #[test]
    fn what_leaves_no_room_does_not_wait() {
        // 35 B leave 3 beside two indicators; 36 to 39 B less. 40 B fill a PDU, and no indicator tells their end.
        for (bytes, waits) in [(35, true), (36, false), (39, false), (40, false)] {
            let mut segmentation = Segmentation::new(40, Duration::from_millis(2));
            let mut complete = 0;
            segmentation.push(ms(0), bytes, |_| complete += 1);
            assert_eq!((complete, segmentation.next_timeout() < Instant::MAX), (u32::from(!waits), waits), "{bytes} B");
        }
        assert_eq!(pdus(&[(0, 39), (0, 40)]), [(39, 0, 1, 0), (40, 0, 0, 0)]);
    }
}
