//! Whose time stamp the next data packet brings back (RFC 4654 §3.3, Table 1).

use crate::engine::Instant;
use crate::net::{NodeId, TfmccEcho};

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
    /// The CLR has not been told yet that it is, and when it was answered last.
    new_clr: bool,
    clr_answered: Option<Instant>,
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
        match self.waiting.iter_mut().find(|old| old.receiver == receiver) {
            Some(old) => *old = new,
            None => self.waiting.push(new),
        }
    }

    /// There is another CLR.
    pub fn on_election(&mut self) {
        self.new_clr = true;
        self.clr_answered = None;
    }

    /// The answer that leaves now, if there is one: to the CLR if it is new or has no round-trip time, or if it had no answer since
    /// `round` began; then to receivers without a round-trip time, to others, to the CLR. Low rates come first.
    pub fn take(&mut self, now: Instant, clr: Option<NodeId>, round: Instant) -> Option<TfmccEcho> {
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
            std::iter::from_fn(|| echoes.take(ms(130), clr, ms(90)).map(|echo| echo.receiver.0)).collect()
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
        let echo = echoes.take(ms(130), clr, ms(90)).unwrap();
        assert_eq!((echo.receiver, echo.stamp), (NodeId(1), ms(70)));
    }
}
