//! Detection of spurious retransmission timeouts from the acknowledgements: Eifel (RFC 3522) and F-RTO (RFC 5682). The response (RFC 4015)
//! is the sender's.

use lasthop_net::engine::Instant;

use super::answered::Answered;
use super::config::Spurious as Kind;
use super::rto::Conservative;
use crate::transport::congestion::CongestionControl;

/// A detector and, after a timeout, what to restore if that proves spurious.
pub struct Detector {
    kind: Kind,
    /// Whether acknowledgements carry SACK blocks: F-RTO then takes RFC 5682 §3.
    sack: bool,
    state: State,
    saved: Option<Box<Saved>>,
    /// SND.NXT at the last timeout: the `recover` of RFC 5682, RecoveryPoint in its §3.
    recover: u64,
    /// Whether the receiver has ever reported a duplicate (RFC 2883).
    dsack_seen: bool,
}

/// What a timeout destroys.
pub struct Saved {
    /// The congestion control as it was, unless it has begun anew since.
    pub congestion: Option<Box<dyn CongestionControl>>,
    /// How far congestion was answered.
    pub answered: Answered,
    /// FlightSize.
    pub flight: u64,
    /// SND.NXT.
    pub nxt: u64,
    /// The estimate of the round-trip time.
    pub estimate: Option<Conservative>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// No timeout to judge.
    Idle,
    /// Eifel: the first retransmission was stamped with this (RetransmitTS).
    Stamped(Instant),
    /// F-RTO step 2: the first segment was sent again, and nothing else is to be sent.
    Resent,
    /// F-RTO step 3: this number of new segments may leave, and nothing is to be sent again.
    Probing(u32),
}

/// What an acknowledgement after a timeout looks like.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// SND.UNA after it.
    pub una: u64,
    /// Whether it moved SND.UNA.
    pub advanced: bool,
    /// The highest sequence number that it newly acknowledged or SACKed of segments sent once.
    pub original_to: u64,
    /// The echoed time stamp, if there is one.
    pub ts_echo: Option<Instant>,
    /// Whether it reports a duplicate segment (RFC 2883).
    pub dsack: bool,
    /// Whether new data could be sent now.
    pub new_data: bool,
}

/// The verdict after an acknowledgement.
pub enum Judgement {
    /// Nothing yet.
    Open,
    /// The timeout was right, as far as one can tell.
    Genuine {
        /// Whether the window is to be three segments (RFC 5682 §2.1 step 3a).
        three_segments: bool,
    },
    /// It was spurious: restore this.
    Spurious(Saved),
}

impl Detector {
    /// A detector of this kind.
    pub fn new(kind: Kind, sack: bool) -> Self {
        Self { kind, sack, state: State::Idle, saved: None, recover: 0, dsack_seen: false }
    }

    /// Whether a timeout is being judged.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.state != State::Idle
    }

    /// Whether retransmissions have to wait.
    #[inline]
    pub fn holds_resends(&self) -> bool {
        matches!(self.state, State::Resent | State::Probing(_))
    }

    /// Whether new data have to wait.
    #[inline]
    pub fn holds_new(&self) -> bool {
        matches!(self.state, State::Resent | State::Probing(0))
    }

    /// The path is another one: delays of the old one are not to be restored, nor is its congestion control, if that begins anew.
    pub fn on_path_change(&mut self, now: Instant, anew: bool) {
        let Some(saved) = &mut self.saved else { return };
        saved.estimate = None;
        match &mut saved.congestion {
            Some(congestion) if !anew => congestion.on_path_change(now),
            _ => saved.congestion = None,
        }
    }

    /// New data were sent.
    #[inline]
    pub fn on_new_data(&mut self) {
        if let State::Probing(left) = &mut self.state {
            *left = left.saturating_sub(1);
        }
    }

    /// The timeout has been judged otherwise.
    pub fn close(&mut self) {
        (self.state, self.saved) = (State::Idle, None);
    }

    /// The receiver has reported a duplicate.
    pub fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Whether the state before a timeout is wanted. Eifel's response restores the state when
    /// loss recovery was initiated (RFC 4015 §3 step (0)), so a timeout during a recovery is not
    /// judged by it. Nor is it by F-RTO with SACK: RecoveryPoint is the recovery's then, and not yet
    /// acknowledged (RFC 5682 §3.1 step 1).
    pub fn wants(&self, recovering: bool) -> bool {
        match self.kind {
            Kind::None => false,
            Kind::Eifel => !recovering && !self.is_open(),
            Kind::FRto => !self.is_open() && (!self.sack || !recovering),
        }
    }

    /// The timer has expired, and the segment at `una` is sent again at `now`. `saved` is the
    /// state before, if it was wanted.
    pub fn on_timeout(&mut self, now: Instant, una: u64, nxt: u64, saved: Option<Saved>) {
        match self.kind {
            Kind::None => return,
            // RFC 3522 §3.2 step (1): the time stamp of the first retransmission counts.
            Kind::Eifel if self.is_open() => {}
            Kind::Eifel => self.state = if saved.is_some() { State::Stamped(now) } else { State::Idle },
            // RFC 5682 §2.1 step 1: a timeout in the recovery from a timeout is not judged.
            Kind::FRto if self.recover > una || saved.is_none() => self.state = State::Idle,
            Kind::FRto => self.state = State::Resent,
        }
        self.recover = nxt;
        if saved.is_some() {
            self.saved = saved.map(Box::new);
        }
    }

    /// An acknowledgement has come while a timeout is judged.
    pub fn on_ack(&mut self, evidence: &Evidence) -> Judgement {
        let advanced = evidence.advanced;
        let judgement = match self.state {
            State::Idle => return Judgement::Open,
            // RFC 3522 §3.2 steps (4) and (5): the first acceptable acknowledgement.
            State::Stamped(_) if !advanced => return Judgement::Open,
            State::Stamped(first) => {
                let older = evidence.ts_echo.is_some_and(|echo| echo < first);
                // If it covers everything, all acknowledgements before it may have been lost. Only
                // a receiver that would have reported a duplicate, and has not, says otherwise.
                let late = evidence.una < self.recover || self.dsack_seen;
                Some(older && late && !evidence.dsack)
            }
            // Step 2; RFC 5682 §3.1 step 2 waits for the cumulative acknowledgement.
            State::Resent if !advanced && self.sack => return Judgement::Open,
            State::Resent if !advanced || evidence.una >= self.recover || !evidence.new_data => None,
            State::Resent => {
                self.state = State::Probing(2);
                return Judgement::Open;
            }
            // Step 3; RFC 5682 §3.1 step 3 asks for data that were not acknowledged before.
            State::Probing(_) if !self.sack => Some(advanced),
            State::Probing(_) if evidence.original_to > self.recover => Some(false),
            State::Probing(_) => Some(evidence.original_to > 0),
        };
        let frto = self.kind == Kind::FRto;
        self.state = State::Idle;
        match (judgement, self.saved.take()) {
            (Some(true), Some(saved)) => {
                self.recover = 0;
                Judgement::Spurious(*saved)
            }
            (spurious, _) => Judgement::Genuine { three_segments: frto && spurious.is_some() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5682 §2.1 step 1: a timeout while the last one is still being repaired is not judged.
    #[test]
    fn a_timeout_in_the_recovery_from_a_timeout_is_not_judged() {
        let saved =
            || Some(Saved { congestion: None, answered: Answered::default(), flight: 10, nxt: 20, estimate: None });
        let mut detector = Detector::new(Kind::FRto, false);
        detector.on_timeout(Instant::ZERO, 10, 20, saved());
        assert!(detector.is_open());
        let duplicate =
            Evidence { una: 10, advanced: false, original_to: 0, ts_echo: None, dsack: false, new_data: true };
        assert!(matches!(detector.on_ack(&duplicate), Judgement::Genuine { .. }));
        for (una, judged) in [(15, false), (20, true)] {
            detector.on_timeout(Instant::ZERO, una, 20, saved());
            assert_eq!(detector.is_open(), judged, "SND.UNA {una}, recover 20");
        }
    }
}
