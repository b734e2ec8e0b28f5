//! The NAKs of a receiver (RFC 3208 §6.3): held back for a random time, confirmed, repeated, given up.

use crate::multicast::feedback_timer::uniform;
use lasthop_net::engine::{Duration, Instant, Stream};

use super::config::Config;
use super::deadlines::Deadlines;

/// The missing packets of a receiver that it reports, or wants to have again.
#[derive(Debug)]
pub struct Naks {
    back_off: Duration,
    repeat: Duration,
    repair: Duration,
    retries: u32,
    /// Whether missing packets are wanted again. Otherwise a NAK is a report, over when it is confirmed.
    reliable: bool,
    stream: Stream,
    pending: Deadlines<u64, Pending>,
    /// NAKs sent.
    sent: u64,
    /// NAKs that were not sent because another receiver's was confirmed, or because the packet came.
    suppressed: u64,
    /// Packets given up.
    given_up: u64,
}

/// A missing packet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    state: State,
    /// Whether a NAK was sent for it.
    asked: bool,
    /// How often it was waited for in vain.
    waits: u32,
}

/// RFC 3208 §6.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// BACK_OFF_STATE: the NAK is held back.
    BackOff,
    /// WAIT_NCF_STATE: it was sent.
    WaitNcf,
    /// WAIT_DATA_STATE: a NAK, perhaps of another receiver, was confirmed.
    WaitData,
}

/// The action due for a missing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Send a NAK for it.
    Nak(u64),
    /// It will not come any more.
    GivenUp(u64),
}

impl Naks {
    /// None yet.
    pub fn new(config: &Config, stream: Stream) -> Self {
        Self {
            back_off: config.nak_bo,
            repeat: config.repeat(),
            repair: config.nak_rdata,
            retries: config.nak_retries,
            reliable: config.reliable,
            stream,
            pending: Deadlines::default(),
            sent: 0,
            suppressed: 0,
            given_up: 0,
        }
    }

    /// A time from 0 to NAK_BO_IVL.
    pub fn draw(&mut self) -> Duration {
        uniform(self.stream.unit(), self.back_off)
    }

    /// This packet is missing.
    pub fn miss(&mut self, now: Instant, seq: u64) {
        if !self.pending.contains(seq) {
            let due = now + self.draw();
            self.pending.insert(seq, due, Pending { state: State::BackOff, asked: false, waits: 0 });
        }
    }

    /// It has come after all.
    #[inline]
    pub fn on_arrival(&mut self, seq: u64) {
        if let Some(pending) = self.pending.remove(seq) {
            self.suppressed += u64::from(!pending.asked);
        }
    }

    /// A NAK for it was confirmed: one's own, or another's.
    pub fn on_confirmation(&mut self, now: Instant, seq: u64) {
        let Some(pending) = self.pending.remove(seq) else { return };
        self.suppressed += u64::from(pending.state == State::BackOff);
        if self.reliable {
            self.pending.insert(seq, now + self.repair, Pending { state: State::WaitData, ..pending });
        }
    }

    /// Packets below `trail` cannot be had any more. The next of them, if it is missing.
    pub fn give_up_below(&mut self, trail: u64) -> Option<u64> {
        let (seq, _) = self.pending.pop_below(trail)?;
        self.given_up += 1;
        Some(seq)
    }

    /// The next action due by now.
    pub fn poll(&mut self, now: Instant) -> Option<Due> {
        loop {
            let (seq, pending) = self.pending.pop_due(now)?;
            if pending.state == State::BackOff {
                self.sent += 1;
                let waiting = Pending { state: State::WaitNcf, asked: true, ..pending };
                self.pending.insert(seq, now + self.repeat, waiting);
                return Some(Due::Nak(seq));
            }
            if pending.waits == self.retries {
                self.given_up += 1;
                return Some(Due::GivenUp(seq));
            }
            let due = now + self.draw();
            self.pending.insert(seq, due, Pending { state: State::BackOff, waits: pending.waits + 1, ..pending });
        }
    }

    /// When something is to be done.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.pending.next()
    }

    /// A report that asks for nothing was sent.
    pub fn count_dummy(&mut self) {
        self.sent += 1;
    }

    /// Forgets the missing packets; totals stay.
    pub fn clear(&mut self) {
        self.pending.clear();
    }

    /// How many packets are missed at present.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// NAKs sent, suppressed; packets given up.
    pub fn counts(&self) -> [u64; 3] {
        [self.sent, self.suppressed, self.given_up]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    fn naks(reliable: bool) -> Naks {
        let config = Config { reliable, nak_rpt: Some(Duration::from_millis(50)), ..Config::default() };
        Naks::new(&config, Streams::new(1).stream("receiver", "naks"))
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn a_nak_is_held_back_and_repeated_until_it_is_given_up() {
        let mut naks = naks(true);
        naks.miss(ms(0), 7);
        let mut at = Vec::new();
        let end = loop {
            let now = naks.next_timeout().unwrap();
            match naks.poll(now) {
                Some(Due::Nak(7)) => at.push(now),
                Some(due) => break (now, due),
                None => {}
            }
        };
        assert_eq!((end.1, at.len(), naks.next_timeout()), (Due::GivenUp(7), 6, None));
        assert!(at[0] <= ms(30));
        for pair in at.windows(2) {
            let between = pair[1].since(pair[0]);
            assert!(between >= Duration::from_millis(50) && between <= Duration::from_millis(80), "{between}");
        }
        assert_eq!(naks.counts(), [6, 0, 1]);
    }

    #[test]
    fn a_confirmation_suppresses_it() {
        for (reliable, waits) in [(false, None), (true, Some(ms(1_001)))] {
            let mut naks = naks(reliable);
            naks.miss(ms(0), 7);
            naks.on_confirmation(ms(1), 7);
            assert_eq!(naks.next_timeout(), waits);
            assert_eq!(naks.counts(), [0, 1, 0]);
        }
    }

    #[test]
    fn a_repair_that_does_not_come_is_asked_for_again() {
        let mut naks = naks(true);
        naks.miss(ms(0), 7);
        let now = naks.next_timeout().unwrap();
        assert_eq!(naks.poll(now), Some(Due::Nak(7)));
        naks.on_confirmation(ms(40), 7);
        assert_eq!(naks.next_timeout(), Some(ms(1_040)));
        assert_eq!(naks.poll(ms(1_040)), None);
        let again = naks.next_timeout().unwrap();
        assert!(again >= ms(1_040) && again <= ms(1_070));
        assert_eq!(naks.poll(again), Some(Due::Nak(7)));
        naks.on_arrival(7);
        assert_eq!((naks.next_timeout(), naks.pending()), (None, 0));
    }

    /// 10,000 draws: mean 15 ms, standard error 0.09 ms.
    #[test]
    fn back_off_is_uniform() {
        let mut naks = naks(false);
        let draws: Vec<f64> = (0..10_000).map(|_| naks.draw().as_secs_f64() * 1e3).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        assert!((mean - 15.0).abs() < 0.35, "{mean}");
        assert!(draws.iter().all(|draw| (0.0..30.0).contains(draw)));
    }
}
