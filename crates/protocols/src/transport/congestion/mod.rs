//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! A controller gets samples, never packets; it alone sets its window and its pacing rate. Which
//! segments are lost is decided by the transport. To add one: a file with the algorithm and its parameters, and a line in
//! the registry below. One made elsewhere, in another crate or for one flow, is seated as a [`Congestion::Custom`].

pub mod base_delay;
pub mod bbr;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod filter;
pub mod hystart;
pub mod ledbat;
pub mod ledbat_pp;
pub mod prague;
pub mod python;
pub mod reno;
mod samples;
pub mod tcp_like;
pub mod vegas;

pub use samples::{
    AckSample, CongestionEvent, CongestionKind, Flight, LostSegment, RateSample, Record, Sent, Undo, WindowRule,
};

use super::xcp::sender as xcp;
use lasthop_net::choice;
use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Probe;

/// A congestion control algorithm. Windows are in bytes.
pub trait CongestionControl: Send {
    /// The optional inputs that it asks for.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// A segment was sent for the first or another time, if [`Wants::sends`]. The pacing rate is read after it.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A segment is taken for lost, if [`Wants::records`]: once for each, before the acknowledgement that told it.
    fn on_lost(&mut self, _lost: &LostSegment) {}

    /// The flight as it is now, before a call for anything but an acknowledgement and a sent segment, which say so themselves.
    fn on_flight(&mut self, _flight: &Flight) {}

    /// An acknowledgement told something new.
    fn on_ack(&mut self, sample: &AckSample);

    /// Loss recovery has begun, or marks came back: at most once in a window of data.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// The retransmission timer has expired with `flight` bytes outstanding. `again` says that
    /// it had expired for the same segment before: the threshold then stays (RFC 5681 §3.1).
    fn on_timeout(&mut self, now: Instant, flight: u64, again: bool);

    /// A standard that goes with the loss recovery says something of the window. An algorithm whose window is not of
    /// that kind does nothing.
    fn on_rule(&mut self, _now: Instant, _rule: WindowRule) {}

    /// Itself as it is, to be put back if a timeout proves spurious.
    fn snapshot(&self) -> Box<dyn CongestionControl>;

    /// The timeout since the snapshot, which this is, was spurious.
    fn on_undo(&mut self, undo: &Undo);

    /// A segment leaves now after nothing was in flight for this time.
    fn on_idle(&mut self, _idle: Duration) {}

    /// Whether a reduction of its window for a loss that was none is undone by putting back a snapshot from before it (RFC 9438 §4.9.2). Of an
    /// algorithm that learns from each acknowledgement the snapshot is out of date.
    fn is_restorable(&self) -> bool {
        false
    }

    /// The terminal says that its path is another one from now on: delays that were learnt on the old one are void.
    fn on_path_change(&mut self, _now: Instant) {}

    /// The congestion window: at least one segment, or nothing is sent (asserted in builds with debug assertions).
    fn window(&self) -> u64;

    /// How often it has lowered the window for losses and marks, timeouts excepted; `None` if once at each
    /// [`on_congestion`](Self::on_congestion), and never else.
    fn cuts(&self) -> Option<u64> {
        None
    }

    /// Whether it answers a loss in a window of data of which it has answered a mark. One that answers marks as losses does not
    /// (RFC 3168 §6.1.2).
    fn answers_losses_after_marks(&self) -> bool {
        false
    }

    /// The slow-start threshold, if there is one and it is set.
    fn ssthresh(&self) -> Option<u64> {
        None
    }

    /// How fast segments may leave, above 0; `None` as fast as the window allows.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// Whether it keeps the flight below what the path takes, to measure it: samples of segments sent meanwhile count as
    /// application-limited. It is asked after each acknowledgement, if [`Wants::records`].
    fn holds_back(&self) -> bool {
        false
    }

    /// Shows its values, for the table `state`.
    fn sample(&self, _probe: &mut dyn Probe) {}

    /// Itself, if routers tell it its rate ([`CongestionConfig::is_explicit`]).
    fn explicit(&mut self) -> Option<&mut dyn xcp::Explicit> {
        None
    }
}

/// The optional inputs of an algorithm. They cost memory or time for each segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// A call for each segment that is sent.
    pub sends: bool,
    /// A record of each segment in flight: samples of the delivery rate, rounds that are counted by delivered data, and
    /// a call for each lost segment.
    pub records: bool,
}

/// What a controller knows of its connection when it is made.
#[derive(Clone, Copy, Debug)]
pub struct EndpointContext {
    /// SMSS: payload bytes of a full segment.
    pub smss: u32,
    /// Header bytes of a data segment on the wire, options excepted, and the bytes of its options.
    pub header: u32,
    /// See `header`.
    pub options: u32,
    /// Initial window, bytes.
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes; `u64::MAX` for none.
    pub initial_ssthresh: u64,
    /// Whether more than one loss can be detected in a round trip (RFC 2018).
    pub sack: bool,
    /// The number of the flow in its network.
    pub flow: u32,
    /// The seed of its random streams, of this connection alone: `Streams::new(seed).stream("bbr", "wait")`.
    pub seed: u64,
    /// Where in the life of its flow it is made.
    pub begun: Begun,
}

/// Where in the life of its flow a controller is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Begun {
    /// When.
    pub at: Instant,
    /// The number of the connection in the flow, from 0.
    pub connection: u32,
    /// Bytes and segments that the connection has delivered so far, and bytes taken for lost: there are some if the controller begins anew
    /// because the path is another one.
    pub delivered: u64,
    /// See `delivered`.
    pub packets: u64,
    /// See `delivered`.
    pub lost: u64,
}

/// The parameters of an algorithm: they make its controllers, one for each connection.
pub trait CongestionConfig: Send + Sync {
    /// A controller of a new connection.
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl>;

    /// Whether its packets carry XCP's congestion header.
    fn is_explicit(&self) -> bool {
        false
    }

    /// Whether it is an L4S controller (RFC 9331 §4): its data packets are ECT(1), the receiver counts marks (AccECN, RFC 9768),
    /// and it answers to the counts ([`AckSample::ce`]) and not to [`CongestionKind::Ecn`].
    fn is_l4s(&self) -> bool {
        false
    }

    /// Whether it needs ECN with a receiver that counts marks, as L4S controllers do. Packets of others are ECT(0).
    fn counts_marks(&self) -> bool {
        self.is_l4s()
    }

    /// Whether it measures delays one way ([`AckSample::one_way`]): packets then carry time stamps, unless the scenario says otherwise.
    fn wants_timestamps(&self) -> bool {
        false
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
    /// What decides how much may be in flight, and how fast.
    pub enum Congestion: "congestion control" as CongestionConfig {
        /// Slow start and additive increase, multiplicative decrease (RFC 5681).
        "reno" => Reno(reno::Config),
        /// Delay-based (Brakmo, Peterson 1995).
        "vegas" => Vegas(vegas::Config),
        /// Cubic growth in time (RFC 9438).
        "cubic" => Cubic(cubic::Config),
        /// The share of marked data (RFC 8257).
        "dctcp" => Dctcp(dctcp::Config),
        /// Data marked by L4S queues (RFC 9331; Linux' `tcp_prague`).
        "prague" => Prague(prague::Config),
        /// A target rate from the queueing delay (Arun, Balakrishnan 2018).
        "copa" => Copa(copa::Config),
        /// Background transfers that yield (RFC 6817).
        "ledbat" => Ledbat(ledbat::Config),
        /// LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-06).
        "ledbat_pp" => LedbatPp(ledbat_pp::Config),
        /// A model of the path: its bandwidth and its least round-trip time (draft-ietf-ccwg-bbr).
        "bbr" => Bbr(bbr::Config),
        /// As routers say (Katabi, Handley, Rohrs 2002): the links need queues of this name.
        "xcp" => Xcp(xcp::Config),
        /// A class in Python ([`lasthop.Controller`](../controllers.md)).
        "python" => Python(python::Config) boxed,
    }
}
