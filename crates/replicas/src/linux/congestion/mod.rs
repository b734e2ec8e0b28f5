//! Congestion control (`struct tcp_congestion_ops`). A controller of the kernel reads and sets the socket's window and threshold itself.

mod aggregation;
mod bandwidth;
mod bbr;
mod cubic;
mod hystart;
mod policer;
mod reno;

use lasthop_net::engine::Stream;
use lasthop_net::net::Probe;

use super::rate::Sample;
use super::settings::{Algorithm, Settings};
use super::tcp::{CaState, Tcp};

/// `enum tcp_ca_event`, as far as a controller listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first segment leaves after none was in flight.
    TxStart,
    /// A reduction is complete.
    CompleteCwr,
    /// A timeout.
    Loss,
}

/// A controller.
pub enum Control {
    Reno,
    Cubic(Box<cubic::Cubic>),
    Bbr(Box<bbr::Bbr>),
}

impl Control {
    /// The controller of a connection; `stream` is its own.
    pub fn new(settings: &Settings, stream: Stream) -> Self {
        match settings.algorithm {
            Algorithm::Reno => Self::Reno,
            Algorithm::Cubic { hystart, fast_convergence } => {
                Self::Cubic(Box::new(cubic::Cubic::new(hystart, fast_convergence)))
            }
            Algorithm::Bbr => Self::Bbr(Box::new(bbr::Bbr::new(stream))),
        }
    }

    /// The connection is open.
    pub fn begin(&mut self, tcp: &mut Tcp) {
        match self {
            Self::Reno => {}
            Self::Cubic(cubic) => cubic.begin(tcp),
            Self::Bbr(bbr) => bbr.begin(tcp),
        }
    }

    /// Whether it sets the window at each acknowledgement, recovery or not (`cong_control`).
    pub fn governs(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// The threshold after a loss (`ssthresh`).
    pub fn ssthresh(&mut self, tcp: &mut Tcp) -> u64 {
        match self {
            Self::Reno => reno::ssthresh(tcp),
            Self::Cubic(cubic) => cubic.ssthresh(tcp),
            Self::Bbr(bbr) => bbr.ssthresh(tcp),
        }
    }

    /// `segments` were delivered, and the window may grow (`cong_avoid`).
    pub fn on_progress(&mut self, tcp: &mut Tcp, segments: u64) {
        match self {
            Self::Reno => reno::on_progress(tcp, segments),
            Self::Cubic(cubic) => cubic.on_progress(tcp, segments),
            Self::Bbr(_) => {}
        }
    }

    /// Segments were acknowledged; the sample has its round-trip time (`pkts_acked`).
    pub fn on_acked(&mut self, tcp: &mut Tcp, sample: &Sample) {
        if let Self::Cubic(cubic) = self {
            cubic.on_acked(tcp, sample);
        }
    }

    /// `cong_control`.
    pub fn on_sample(&mut self, tcp: &mut Tcp, sample: &Sample) {
        if let Self::Bbr(bbr) = self {
            bbr.on_sample(tcp, sample);
        }
    }

    /// `set_state`.
    pub fn on_state(&mut self, tcp: &mut Tcp, state: CaState) {
        match self {
            Self::Cubic(cubic) if state == CaState::Loss => cubic.on_timeout(tcp),
            Self::Bbr(bbr) if state == CaState::Loss => bbr.on_timeout(tcp),
            _ => {}
        }
    }

    /// `cwnd_event`.
    pub fn on_event(&mut self, tcp: &mut Tcp, event: Event) {
        match self {
            Self::Cubic(cubic) if event == Event::TxStart => cubic.on_start(tcp),
            Self::Bbr(bbr) if event == Event::TxStart => bbr.on_start(tcp),
            _ => {}
        }
    }

    /// The window after a reduction that proved needless (`undo_cwnd`).
    pub fn undo_cwnd(&mut self, tcp: &mut Tcp) -> u64 {
        match self {
            Self::Reno | Self::Cubic(_) => tcp.snd_cwnd.max(tcp.prior_cwnd),
            Self::Bbr(bbr) => bbr.undo(tcp),
        }
    }

    /// The least burst, segments (`min_tso_segs`).
    pub fn min_tso_segs(&self, pacing_rate: u64) -> u64 {
        match self {
            Self::Bbr(_) => bbr::min_tso_segs(pacing_rate),
            _ => MIN_TSO_SEGS,
        }
    }

    /// Shows its values.
    pub fn sample(&self, probe: &mut dyn Probe) {
        if let Self::Bbr(bbr) = self {
            bbr.sample(probe);
        }
    }
}

/// `tcp_min_tso_segs`.
const MIN_TSO_SEGS: u64 = 2;
