//! Congestion control for media: the rate that the encoder is to produce, and how packets leave.
//!
//! A controller gets what was sent and the outcome of it, never packets. The sender finds out by the receiver's reports which packets arrived,
//! when and how marked, and which are lost. To add one: a file with the algorithm and its parameters, and a line in the registry below.

pub mod gcc;
pub mod nada;
pub mod prague;
mod samples;
pub mod scream;
#[cfg(test)]
mod tests;

pub use samples::{Arrival, Fate, Feedback, Frame, Sent};

use crate::transport::congestion::python;
use lasthop_net::choice;
use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Probe;

/// A congestion control for media.
pub trait MediaControl: Send {
    /// The encoder has made a frame, and its packets wait.
    fn on_frame(&mut self, _frame: &Frame) {}

    /// A packet has left.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A report told something new.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);

    /// The instant that [`MediaControl::next_timeout`] named has come.
    fn on_timeout(&mut self, _now: Instant) {}

    /// When it wants to act next without a report.
    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    /// The terminal says that its path is another one from now on: delays that were learnt on the old one are void.
    fn on_path_change(&mut self, _now: Instant) {}

    /// The rate that the encoder is to produce, RTP's header included and those of UDP and IP not.
    fn target(&self) -> BitRate;

    /// How fast packets may leave; `None` as fast as the window allows.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// How many bytes may leave at once, ahead of the pacing rate; a packet always may.
    fn burst(&self) -> u64 {
        0
    }

    /// The most bytes of a packet from now on, RTP's header included; `None` for those of the [`MediaContext`].
    fn packet_size(&self) -> Option<u32> {
        None
    }

    /// How many bytes may be in flight; `None` for no limit.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Shows its values, for the table `state`.
    fn sample(&self, _probe: &mut dyn Probe) {}
}

/// What a controller knows of its flow when it is made.
#[derive(Clone, Copy, Debug)]
pub struct MediaContext {
    /// The bounds of the encoder's rate, and that at the start.
    pub min_rate: BitRate,
    /// See `min_rate`.
    pub max_rate: BitRate,
    /// See `min_rate`.
    pub start_rate: BitRate,
    /// The most bytes of a packet, RTP's header included.
    pub packet: u32,
    /// Bytes that UDP and IP add to a packet.
    pub overhead: u32,
    /// The seed of its random streams, of this flow alone.
    pub seed: u64,
}

/// The parameters of an algorithm: they make its controllers.
pub trait MediaControlConfig: Send + Sync {
    /// A controller of a new flow.
    fn build(&self, seat: &MediaContext) -> Box<dyn MediaControl>;

    /// How often the receiver reports, if the scenario does not say it.
    fn feedback_interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// Whether its packets are ECT(1): it answers to marks as L4S asks (RFC 9331).
    fn is_l4s(&self) -> bool {
        false
    }

    /// Packets that wait longer than this at the sender are dropped there. `None`: never.
    fn discards_after(&self) -> Option<Duration> {
        None
    }

    /// Whether its parameters make sense.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

choice! {
    /// What gives the encoder its rate.
    pub enum MediaCongestion: "congestion control for media" as MediaControlConfig {
        /// A window that answers to delay, loss and marks (SCReAM v2; RFC 8298).
        "scream" => Scream(scream::Config),
        /// Delay, loss and marks in one signal (RFC 8698).
        "nada" => Nada(nada::Config),
        /// The growth of the delay between groups of packets (draft-ietf-rmcat-gcc-02; WebRTC).
        "gcc" => Gcc(gcc::Config),
        /// The share of L4S marks (UDP Prague).
        "prague" => Prague(prague::Config),
        /// A class in Python ([`lasthop.MediaController`](../controllers.md)).
        "python" => Python(python::Config),
    }
}
