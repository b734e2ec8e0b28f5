//! Whose time stamp the next data packet brings back (RFC 4654 §3.3, Table 1).

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{NodeId, TfmccEcho};

/// Reports of how many receivers wait at most: as many receivers as are reckoned with (RFC 4654 §3.4, N). Of others, real or forged, none is
/// kept: they report again.
const MOST: usize = 10_000;

/// A report that was not answered yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    receiver: NodeId,
    stamp: Instant,
    came: Instant,
    have_rtt: bool,
    rate: f64,
}

/// The reports that wait for an answer, at most one of each receiver.
#[derive(Clone, Debug, Default)]
pub struct Echoes {
    waiting: Vec<Waiting>,
    /// The CLR has not yet been informed that it is the CLR; when it was answered last, and which report of it.
    new_clr: bool,
    clr_answered: Option<Instant>,
    clr_report: Option<Waiting>,
}

/// A report that wants an answer.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// Whose it is.
    pub receiver: NodeId,
    /// Its time stamp.
    pub stamp: Instant,
    /// Whether the receiver has measured its round-trip time.
    pub have_rtt: bool,
    /// The rate that it reported.
    pub rate: f64,
}

impl Echoes {
    /// A report has come.
    pub fn on_report(&mut self, now: Instant, report: Stamp) {
        let Stamp { receiver, stamp, have_rtt, rate } = report;
        let new = Waiting { receiver, stamp, came: now, have_rtt, rate };
        let has_room = self.waiting.len() < MOST;
        match self.waiting.iter_mut().find(|old| old.receiver == receiver) {
            Some(old) => *old = new,
            None if has_room => self.waiting.push(new),
            None => {}
        }
    }

    /// There is another CLR.
    pub fn on_election(&mut self) {
        self.new_clr = true;
        self.clr_answered = None;
        self.clr_report = None;
    }

    /// A CLR that has been silent for `patience` since its last answer is answered once more: the packet that announced it as CLR may be
    /// lost, and then it leaves reporting to others, which its own rate keeps silent.
    fn remind(&mut self, now: Instant, clr: Option<NodeId>, patience: Duration) {
        let Some(last) = self.clr_report.filter(|last| clr == Some(last.receiver)) else { return };
        let silent = self.clr_answered.is_some_and(|at| now.since(at) >= patience);
        if silent && self.waiting.iter().all(|waiting| waiting.receiver != last.receiver) {
            self.waiting.push(last);
        }
    }

    /// The answer that leaves now, if there is one: to the CLR if it is new or has no round-trip time, or if it had no answer since
    /// `round` began; then to receivers without a round-trip time, to others, to the CLR. Low rates come first. `r_max` is how long the
    /// CLR may be silent before its last report is answered again.
    pub fn take(&mut self, now: Instant, clr: Option<NodeId>, round: Instant, r_max: Duration) -> Option<TfmccEcho> {
        self.remind(now, clr, r_max);
        if self.waiting.is_empty() {
            return None;
        }
        let neglected = self.new_clr || self.clr_answered.is_none_or(|at| at < round);
        let rank = |waiting: &Waiting| match (clr == Some(waiting.receiver), waiting.have_rtt) {
            (true, false) => 0,
            (true, true) => {
                if neglected {
                    0
                } else {
                    3
                }
            }
            (false, false) => 1,
            (false, true) => 2,
        };
        let better = |a: &Waiting, b: &Waiting| {
            rank(a).cmp(&rank(b)).then(a.rate.total_cmp(&b.rate)).then(a.receiver.cmp(&b.receiver))
        };
        let place = (0..self.waiting.len()).min_by(|&a, &b| better(&self.waiting[a], &self.waiting[b]))?;
        let chosen = self.waiting.swap_remove(place);
        if clr == Some(chosen.receiver) {
            self.new_clr = false;
            self.clr_answered = Some(now);
            self.clr_report = Some(chosen);
        }
        Some(TfmccEcho { receiver: chosen.receiver, stamp: chosen.stamp + now.since(chosen.came) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    const R_MAX: Duration = Duration::from_millis(100);

    /// A receiver that reports gets one answer; a CLR that then says nothing gets another each R_max, also if others keep the sender busy.
    #[test]
    fn a_silent_clr_is_reminded() {
        let mut echoes = Echoes::default();
        let stamp = |receiver| Stamp { receiver: NodeId(receiver), stamp: ms(10), have_rtt: true, rate: 5.0 };
        let take = |echoes: &mut Echoes, now, round| echoes.take(ms(now), Some(NodeId(1)), ms(round), R_MAX);
        let of = |receiver, stamp| Some(TfmccEcho { receiver: NodeId(receiver), stamp: ms(stamp) });
        echoes.on_election();
        echoes.on_report(ms(50), stamp(1));
        assert_eq!(take(&mut echoes, 60, 0), of(1, 20));
        assert_eq!(take(&mut echoes, 159, 0), None);
        assert_eq!(take(&mut echoes, 160, 0), of(1, 120), "the time of holding grows");
        assert_eq!(take(&mut echoes, 200, 0), None);
        // Others come first, but not in a round in which it had no answer.
        echoes.on_report(ms(250), stamp(2));
        assert_eq!(take(&mut echoes, 270, 0), of(2, 30));
        assert_eq!(take(&mut echoes, 270, 0), of(1, 230));
        echoes.on_report(ms(380), stamp(2));
        assert_eq!(take(&mut echoes, 390, 300), of(1, 350));
        // Its new report replaces its old one, and a receiver that is the CLR no longer gets no reminder.
        echoes.on_report(ms(500), stamp(1));
        assert_eq!(take(&mut echoes, 500, 300), of(2, 130));
        assert_eq!(take(&mut echoes, 500, 300), of(1, 10));
        assert_eq!(echoes.take(ms(900), Some(NodeId(2)), ms(300), R_MAX), None);
    }

    /// Reports with ever new numbers take no more memory, nor the place of those that wait.
    #[test]
    fn no_more_reports_wait_than_there_can_be_receivers() {
        let mut echoes = Echoes::default();
        for receiver in 1..=MOST as u32 + 1_000 {
            echoes.on_report(ms(1), Stamp { receiver: NodeId(receiver), stamp: ms(0), have_rtt: true, rate: 2.0 });
        }
        echoes.on_report(ms(2), Stamp { receiver: NodeId(7), stamp: ms(1), have_rtt: true, rate: 1.0 });
        assert_eq!(echoes.waiting.len(), MOST);
        let first = echoes.take(ms(2), None, ms(0), R_MAX);
        assert_eq!(first, Some(TfmccEcho { receiver: NodeId(7), stamp: ms(1) }));
    }

    #[test]
    fn answers_go_by_rank_and_then_by_rate() {
        let mut echoes = Echoes::default();
        let clr = Some(NodeId(1));
        for (receiver, have_rtt, rate) in
            [(2, true, 5.0), (1, true, 1.0), (3, false, 9.0), (4, false, 8.0), (5, true, 4.0)]
        {
            echoes.on_report(ms(100), Stamp { receiver: NodeId(receiver), stamp: ms(40), have_rtt, rate });
        }
        // A second report takes the place of the first.
        echoes.on_report(ms(110), Stamp { receiver: NodeId(5), stamp: ms(50), have_rtt: true, rate: 6.0 });
        let order = |echoes: &mut Echoes| -> Vec<u32> {
            std::iter::from_fn(|| echoes.take(ms(130), clr, ms(90), R_MAX).map(|echo| echo.receiver.0)).collect()
        };
        let mut again = echoes.clone();
        assert_eq!(order(&mut again), [1, 4, 3, 2, 5]);
        // The CLR has had its answer in this round.
        echoes.clr_answered = Some(ms(95));
        again = echoes.clone();
        assert_eq!(order(&mut again), [4, 3, 2, 5, 1]);
        echoes.on_election();
        assert_eq!(order(&mut echoes.clone()), [1, 4, 3, 2, 5]);
        // The time that a stamp is held is added to it.
        let echo = echoes.take(ms(130), clr, ms(90), R_MAX).unwrap();
        assert_eq!((echo.receiver, echo.stamp), (NodeId(1), ms(70)));
    }
}
