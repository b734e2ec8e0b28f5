//! The Ack Ratio: congestion control of acknowledgements (RFC 4341 §6.1), and how the ends agree on
//! it (RFC 4340 §6.6, §11.3).

use crate::transport::tfrc::loss_history::LossDetector;
use lasthop_net::engine::{Duration, Instant};

/// After how many later ones an acknowledgement is lost (RFC 4341 §6.1.1).
const NUMDUPACK: u32 = 3;
/// The ratio of new connections (RFC 4340 §11.3).
pub const INITIAL: u16 = 2;
/// The longest wait before a Change option is repeated (RFC 4340 §6.6.3).
const LONGEST_WAIT: Duration = Duration::from_secs(64);

/// The ratio as the sender of the data keeps it.
#[derive(Debug)]
pub struct AckRatio {
    /// What both ends have.
    agreed: u16,
    /// What the sender wants.
    wanted: u16,
    /// The Change option that is not confirmed yet.
    asked: Option<Asked>,
    losses: LossDetector,
    /// Whether an acknowledgement was lost or marked in this window of data, and how many
    /// windows have passed without.
    congested: bool,
    clean: u32,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    ratio: u16,
    /// The first packet that asked for this ratio (RFC 4340 §6.6.4, FGSS).
    since: u64,
    /// When to ask again, and how long to wait after that.
    again_at: Instant,
    wait: Duration,
}

impl AckRatio {
    /// The ratio of a new connection.
    pub fn new() -> Self {
        Self {
            agreed: INITIAL,
            wanted: INITIAL,
            asked: None,
            losses: LossDetector::new(NUMDUPACK),
            congested: false,
            clean: 0,
        }
    }

    /// The ratio that both ends have.
    #[inline]
    pub fn agreed(&self) -> u16 {
        self.agreed
    }

    /// Acknowledgements of the connection that were lost.
    pub fn lost(&self) -> u64 {
        self.losses.lost()
    }

    /// An acknowledgement with this number has come.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, number: u64, marked: bool) {
        let mut congested = marked;
        self.losses.on_packet(now, number, marked, Duration::ZERO, |_, _| congested = true);
        self.congested |= congested;
    }

    /// A window of data of `cwnd` packets has been acknowledged. With lost or marked acknowledgements
    /// the ratio doubles; after cwnd / (R² - R) windows without it falls by one (RFC 4341 §6.1.2).
    /// Until a change is confirmed it stays: packets lost meanwhile were sent at the old ratio.
    pub fn on_window(&mut self, cwnd: u32) {
        let congested = std::mem::take(&mut self.congested);
        if self.asked.is_some() {
            self.clean = 0;
        } else if congested {
            self.clean = 0;
            self.wanted = self.agreed.saturating_mul(2);
        } else {
            self.clean += 1;
            let ratio = u64::from(self.agreed);
            if ratio > 1 && u64::from(self.clean) * (ratio * ratio - ratio) >= cwnd.into() {
                self.clean = 0;
                self.wanted = self.agreed - 1;
            }
        }
        self.limit(cwnd);
    }

    /// Keeps the ratio within the bounds of a window of `cwnd` packets: at most half of it, rounded
    /// up, and at least 2 from four packets on (RFC 4341 §6.1.2). That 2 is always acceptable is not
    /// made use of: a window of one or two packets would wait for the receiver's timer.
    pub fn limit(&mut self, cwnd: u32) {
        let most = cwnd.div_ceil(2).min(u16::MAX.into()) as u16;
        let least = if cwnd >= 4 { 2 } else { 1 };
        self.wanted = self.wanted.clamp(least, most);
    }

    /// The ratio to ask for on data packet `number`, which carries an acknowledgement number too; a
    /// question that is not answered is asked again after `wait`, then twice that, and so on.
    pub fn question(&mut self, now: Instant, number: u64, wait: Duration) -> Option<u16> {
        let ratio = self.wanted;
        let (since, wait) = match self.asked {
            None if ratio == self.agreed => return None,
            Some(Asked { again_at, .. }) if now < again_at => return None,
            None => (number, wait),
            Some(asked) if asked.ratio == ratio => (asked.since, (asked.wait * 2).min(LONGEST_WAIT)),
            Some(asked) => (number, asked.wait),
        };
        self.asked = Some(Asked { ratio, since, again_at: now + wait, wait });
        Some(ratio)
    }

    /// An acknowledgement of data packet `ack` confirms a ratio; 0 is none.
    #[inline]
    pub fn on_confirm(&mut self, ack: u64, ratio: u16) {
        if let Some(asked) = self.asked
            && asked.ratio == ratio
            && ack >= asked.since
        {
            self.agreed = ratio;
            self.asked = None;
            (self.congested, self.clean) = (false, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ratio that both ends have agreed on.
    fn agreed(ratio: u16) -> AckRatio {
        AckRatio { agreed: ratio, wanted: ratio, ..AckRatio::new() }
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// RFC 4341 §6.1.2, the three constraints.
    #[test]
    fn the_window_bounds_the_ratio() {
        for (cwnd, least, most) in
            [(1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 2, 2), (5, 2, 3), (6, 2, 3), (9, 2, 5), (40, 2, 20), (41, 2, 21)]
        {
            for (wanted, expected) in [(1, least), (1000, most)] {
                let mut ratio = agreed(wanted);
                ratio.limit(cwnd);
                assert_eq!(ratio.wanted, expected, "{wanted} at a window of {cwnd}");
            }
        }
    }

    /// RFC 4341 §6.1.2 and Appendix A: it doubles with a window in which acknowledgements are lost, and
    /// falls by one after cwnd / (R² - R) windows in which none is, rounded up to whole windows.
    #[test]
    fn windows_change_the_ratio() {
        for (ratio, cwnd, windows) in [(2, 3, 2), (3, 60, 10), (4, 60, 5), (4, 61, 6), (5, 20, 1), (10, 900, 10)] {
            let mut clean = agreed(ratio);
            for window in 1..=windows {
                assert_eq!(clean.wanted, ratio, "{ratio} at {cwnd}, before window {window}");
                clean.on_window(cwnd);
            }
            assert_eq!(clean.wanted, ratio - 1, "{ratio} at {cwnd}");
        }
        let mut ratio = agreed(3);
        // Acknowledgement 1 is lost when 2, 3 and 4 have come.
        let wanted: Vec<u16> = [0, 2, 3, 4, 5]
            .map(|number| {
                ratio.on_ack(ms(number), number, false);
                ratio.on_window(100);
                ratio.wanted
            })
            .to_vec();
        assert_eq!(wanted, [3, 3, 3, 6, 6]);
        let mut ratio = agreed(3);
        ratio.on_ack(ms(0), 0, true);
        ratio.on_window(100);
        assert_eq!(ratio.wanted, 6, "a marked one");
        let mut ratio = agreed(1);
        (0..100).for_each(|_| ratio.on_window(3));
        assert_eq!(ratio.wanted, 1);
    }

    /// RFC 4340 §6.6.3 and §6.6.4: the question is repeated with a growing wait; only an answer to a
    /// packet that asked it counts.
    #[test]
    fn a_change_is_asked_for_until_it_is_confirmed() {
        let mut ratio = agreed(2);
        let wait = Duration::from_millis(100);
        assert_eq!(ratio.question(ms(0), 10, wait), None);
        ratio.wanted = 4;
        let asked: Vec<u64> =
            (0..16).filter(|n| ratio.question(ms(n * 50), 20 + n, wait).is_some()).map(|n| n * 50).collect();
        assert_eq!(asked, [0, 100, 300, 700]);
        ratio.on_confirm(19, 4);
        ratio.on_confirm(25, 3);
        assert_eq!(ratio.agreed(), 2, "not answers");
        ratio.on_confirm(20, 4);
        assert_eq!((ratio.agreed(), ratio.question(ms(9000), 90, wait)), (4, None));
    }

    /// The window shrank while the question was open: the next one asks for less, and only its
    /// own answer counts.
    #[test]
    fn a_question_can_be_replaced() {
        let mut ratio = agreed(2);
        let wait = Duration::from_millis(100);
        ratio.wanted = 8;
        assert_eq!(ratio.question(ms(0), 10, wait), Some(8));
        ratio.limit(6);
        assert_eq!(ratio.question(ms(50), 11, wait), None);
        assert_eq!(ratio.question(ms(100), 12, wait), Some(3));
        ratio.on_confirm(11, 8);
        assert_eq!(ratio.agreed(), 2);
        ratio.on_confirm(12, 3);
        assert_eq!(ratio.agreed(), 3);
    }
}
