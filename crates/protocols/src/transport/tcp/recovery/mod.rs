//! Loss recovery: which segments are lost, what to send next, when a recovery begins and ends,
//! and how many bytes are thought to be in flight.
//!
//! A recovery gets acknowledgements after they were entered on the [`Scoreboard`], and never
//! decides how large the window is: that is [congestion control](crate::transport::congestion)'s. To add one: a file with
//! the recovery and its parameters, and a line in the registry below.

pub mod fack;
mod fast;
pub mod newreno;
pub mod rack;
pub mod reno;
pub mod sack;
pub mod tahoe;
pub mod vegas;

use lasthop_net::choice;
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{Probe, TcpHeader};

use super::rto::RtoEstimator;
use super::scoreboard::{Id, Scoreboard};
use super::settings::Settings;

/// RFC 5681 §3.2: this many duplicate acknowledgements are taken for a loss.
pub const DUP_THRESH: u32 = 3;

/// The parameters of a loss recovery.
pub trait RecoveryConfig: Send + Sync {
    /// The recovery of a new connection.
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery>;

    /// Whether it reads SACK blocks, so that the receiver has to send them.
    fn reads_sack(&self) -> bool {
        false
    }

    /// Whether Proportional Rate Reduction says how much leaves while it recovers ([`prr`](super::prr)).
    fn has_prr(&self) -> bool {
        false
    }

    /// Whether reductions of the window that prove needless are undone, if the connection does not say ([`undo`](super::undo)).
    fn undoes(&self) -> bool {
        false
    }
}

choice! {
    /// Decides which segments are lost and which are resent.
    pub enum Recovery: "loss recovery" as RecoveryConfig {
        /// Go back to the first unacknowledged segment.
        "tahoe" => Tahoe(tahoe::Config),
        /// Leave recovery at the first new acknowledgement.
        "reno" => Reno(reno::Config),
        /// Stay until everything sent at the loss is acknowledged (RFC 6582).
        "newreno" => NewReno(newreno::Config),
        /// Scoreboard and pipe (RFC 6675).
        "sack" => Sack(sack::Config),
        /// Forward-most acknowledged data (Mathis, Mahdavi 1996).
        "fack" => Fack(fack::Config),
        /// Send times of the segments, with a fine-grained timeout (Brakmo, Peterson 1995).
        "vegas" => Vegas(vegas::Config),
        /// Send times of the segments, a reordering window, and probes of the tail (RFC 8985).
        "rack" => Rack(rack::Config),
    }
}

/// A loss recovery.
pub trait LossRecovery: Send {
    /// An acknowledgement has been entered on the board. Says what it means.
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict;

    /// What to send next, with room for a full segment in the window; it will be sent. New data
    /// can be sent if `new_data` says so.
    fn next(&mut self, board: &mut Scoreboard, new_data: bool) -> Option<Next> {
        match board.next_hole() {
            Some((id, true)) => Some(Next::Resend(id)),
            _ => new_data.then_some(Next::New),
        }
    }

    /// The retransmission timer has expired: everything not SACKed counts as lost, and `nxt` is
    /// SND.NXT.
    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, nxt: u64);

    /// The last timeout was spurious, and `una` is SND.UNA: what it taught is void, and nothing is marked lost. Recoveries
    /// that count duplicates keep their guard, since the segment sent in vain makes one.
    fn on_undo(&mut self, _board: &mut Scoreboard, _una: u64) {}

    /// The loss that it repairs was none: as for a spurious timeout, and it ends.
    fn leave(&mut self, board: &mut Scoreboard, una: u64) {
        self.on_undo(board, una);
    }

    /// The handshake took a round trip of this time.
    fn on_opened(&mut self, _now: Instant, _rtt: Duration) {}

    /// The path is another one: delays that were learnt on the old one are void.
    fn on_path_change(&mut self) {}

    /// Where it stands.
    fn status(&self) -> Status;

    /// Whether it has timers, and so gets each segment that is sent. Asked once for each connection.
    fn is_timed(&self) -> bool {
        false
    }

    /// A segment was sent, for the first time or again, if it [is timed](Self::is_timed).
    fn on_sent(&mut self, _board: &Scoreboard, _sent: &SentEvent) {}

    /// When its timer expires; `Instant::MAX` if it is off. Asked after each of the other calls, if it [is timed](Self::is_timed).
    fn next_timeout(&self) -> Instant {
        Instant::MAX
    }

    /// Its timer has expired.
    fn on_timer(&mut self, _board: &mut Scoreboard, _timer: &TimerEvent) -> Verdict {
        Verdict::Usual
    }

    /// Shows its values, for the table `state`.
    fn sample(&self, _probe: &mut dyn Probe) {}
}

/// An acknowledgement, as a recovery sees it.
#[derive(Clone, Copy)]
pub struct AckEvent<'a> {
    /// Its header.
    pub header: &'a TcpHeader,
    /// The retransmission timer's estimate, this acknowledgement's sample included.
    pub rto: &'a RtoEstimator,
    /// When it came.
    pub now: Instant,
    /// SND.UNA.
    pub una: u64,
    /// SND.NXT.
    pub nxt: u64,
    /// By how many bytes it moved SND.UNA.
    pub advance: u64,
    /// How many bytes it newly SACKed.
    pub sacked: u64,
    /// The round-trip time that it gives, if it does.
    pub rtt: Option<Duration>,
    /// Whether it is a duplicate: without payload, and with data outstanding, for the same
    /// SND.UNA (RFC 5681 §2). The advertised window is not compared: receivers here never change
    /// it, and network elements that do (EWA) are not to hide a loss.
    pub duplicate: bool,
}

/// A segment that was sent, as a recovery with timers sees it.
#[derive(Clone, Copy)]
pub struct SentEvent<'a> {
    /// When.
    pub now: Instant,
    /// Which.
    pub id: Id,
    /// Whether for the first time.
    pub new: bool,
    /// Whether it is the probe that the recovery asked for.
    pub probe: bool,
    /// SND.NXT behind it.
    pub nxt: u64,
    /// The retransmission timer's estimate, and when that timer expires.
    pub rto: &'a RtoEstimator,
    /// See `rto`.
    pub rto_at: Instant,
}

/// The state of the connection as a recovery's timer expires.
#[derive(Clone, Copy)]
pub struct TimerEvent<'a> {
    /// Now.
    pub now: Instant,
    /// SND.UNA.
    pub una: u64,
    /// SND.NXT.
    pub nxt: u64,
    /// Whether there are new data that the receiver's window takes.
    pub new_data: bool,
    /// The retransmission timer's estimate.
    pub rto: &'a RtoEstimator,
}

/// What an acknowledgement, or the expiry of a recovery's timer, means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing in particular.
    Usual,
    /// A loss: the window is to be lowered to `limit`.
    Enter {
        /// The most that the window may be, `u64::MAX` for what the congestion control says.
        limit: u64,
        /// The call of the congestion control that comes first.
        cut: Cut,
        /// Whether the first segment is to be sent again at once.
        resend: bool,
    },
    /// A loss that is repaired already, and so begins no recovery: the congestion control answers to it.
    Repaired,
    /// A segment is to be sent at once, whatever the window says.
    Probe(Next),
    /// Some of the data outstanding at the loss have been repaired.
    Partial {
        /// Whether the first segment is to be sent again at once.
        resend: bool,
        /// Whether the retransmission timer goes on as it runs.
        hold_timer: bool,
    },
    /// Everything has been repaired, and the window is to be lowered to `limit`.
    Exit {
        /// The most that the window may be.
        limit: u64,
    },
}

/// How a loss is reported to the congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Not at all: it is the second loss in a window.
    None,
    /// As of a loss.
    Once,
    /// As of two losses, if it was in slow start (overdamping).
    TwiceInSlowStart,
}

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This segment again.
    Resend(Id),
    /// New data.
    New,
}

/// Where a recovery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether losses are being repaired and the window waits.
    pub recovering: bool,
    /// Whether it needs every acknowledgement; otherwise only unusual ones.
    pub alert: bool,
    /// Bytes to be taken off the board's `pipe`: duplicate acknowledgements, each of which says
    /// that a segment has left the network (the "inflation" of RFC 5681 §3.2), or negative.
    pub credit: i64,
    /// Duplicate acknowledgements since SND.UNA last moved.
    pub duplicates: u32,
}

/// Counts duplicate acknowledgements, and knows when they are a loss.
#[derive(Clone, Debug)]
struct Duplicates {
    smss: u64,
    limited_transmit: bool,
    guard: bool,
    count: u32,
    /// SND.NXT when the last recovery or timeout began.
    recover: u64,
}

impl Duplicates {
    fn new(settings: &Settings) -> Self {
        Self {
            smss: u64::from(settings.smss),
            limited_transmit: settings.limited_transmit,
            guard: settings.guard,
            count: 0,
            recover: 0,
        }
    }

    /// Counts one; says whether it is the one that means a loss. RFC 6582 §3.2 step 2: not
    /// while the acknowledgement covers no more than was outstanding at the last loss.
    fn count(&mut self, ack: &AckEvent) -> bool {
        self.count += 1;
        self.count == DUP_THRESH && self.may_be_loss(ack.una)
    }

    /// Whether duplicates of an acknowledgement up to `una` may mean a loss. Others may come from
    /// segments sent twice.
    fn may_be_loss(&self, una: u64) -> bool {
        !self.guard || una > self.recover
    }

    /// Before a recovery the first two duplicates let a new segment out each (RFC 3042).
    fn limited(&self, una: u64) -> i64 {
        let some = self.limited_transmit && self.count < DUP_THRESH && self.may_be_loss(una);
        if some { i64::from(self.count) * self.smss as i64 } else { 0 }
    }
}
