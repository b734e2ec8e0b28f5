//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! A controller hears samples, never packets; it owns its window and its pacing rate. Who is
//! lost is decided in [`super::recovery`]. To add one: a file with the algorithm, a name in
//! [`super::config::Congestion`], a line in [`new`].

pub mod cubic;
pub mod hystart;
pub mod reno;
pub mod vegas;
pub mod xcp;

use crate::engine::{BitRate, Duration, Instant};
use crate::net::CongestionHeader;

use super::config::Congestion;
use super::settings::Settings;

/// A congestion control algorithm. Windows are in bytes.
pub trait CongestionControl: Send {
    /// A segment of `bytes` was sent for the first or another time; `in_flight` includes it.
    fn on_sent(&mut self, _now: Instant, _bytes: u64, _in_flight: u64) {}

    /// An acknowledgement told something new.
    fn on_ack(&mut self, sample: &AckSample);

    /// Loss recovery has begun, or marks came back: at most once in a window of data.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// The retransmission timer has expired with `flight` bytes outstanding. `again` says that
    /// it had expired for the same segment before: the threshold then stays (RFC 5681 §3.1).
    fn on_timeout(&mut self, now: Instant, flight: u64, again: bool);

    /// The congestion window.
    fn window(&self) -> u64;

    /// The slow-start threshold, if there is one and it is set.
    fn ssthresh(&self) -> Option<u64> {
        None
    }

    /// Whether it wants samples of the delivery rate, which need a record of each segment in flight.
    fn wants_rates(&self) -> bool {
        false
    }

    /// How fast segments may leave; `None` as fast as the window allows.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// Sets the window from outside (but not below one segment): a standard says how large it is
    /// to be now, whatever the algorithm.
    fn set_window(&mut self, bytes: u64);

    /// Lowers the window to `bytes`, if it is larger.
    fn limit_window(&mut self, bytes: u64) {
        if bytes < self.window() {
            self.set_window(bytes);
        }
    }

    /// XCP: the congestion header of a segment that is about to leave. `more` data wait behind it.
    fn congestion_header(&mut self, _srtt: Duration, _more: bool) -> CongestionHeader {
        CongestionHeader::NONE
    }

    /// XCP: routers grant this change of throughput, bytes/s.
    fn on_feedback(&mut self, _change: f64) {}

    /// Itself as it is, to be put back if a timeout proves spurious.
    fn snapshot(&self) -> Box<dyn CongestionControl>;

    /// The timeout since the snapshot, which this is, was spurious, and the window is about to be
    /// set. The slow-start threshold becomes at least `flight`, what was in flight at the timeout
    /// (RFC 4015 §3, step (9)).
    fn on_undo(&mut self, flight: u64);
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it came.
    pub now: Instant,
    /// Bytes newly acknowledged cumulatively, SACKed before or not.
    pub acked: u64,
    /// Bytes newly SACKed.
    pub sacked: u64,
    /// Bytes newly taken for lost.
    pub lost: u64,
    /// Bytes in flight before it came.
    pub prior_in_flight: u64,
    /// Bytes in flight now.
    pub in_flight: u64,
    /// A round-trip time of a segment that was sent once.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Bytes delivered so far in this connection.
    pub delivered: u64,
    /// How fast the path delivered them lately, if [`CongestionControl::wants_rates`].
    pub rate: Option<RateSample>,
    /// How many congestion echoes came with it (RFC 3168: none or one).
    pub ece: u32,
    /// How many round trips have passed.
    pub round: u64,
    /// Whether the window was full when the acknowledged data left. A window that was not in use
    /// is not to grow (RFC 7661 §4.3; RFC 9438 §4.2).
    pub window_limited: bool,
    /// Whether losses are being repaired: the window then waits.
    pub recovering: bool,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr §4.1.2): `delivered` bytes in `interval`.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Bytes delivered while the sampled segment was in flight.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Duration,
    /// Whether the sender had nothing more to send then.
    pub app_limited: bool,
}

/// A sign of congestion other than a timeout.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When.
    pub now: Instant,
    /// What.
    pub kind: CongestionKind,
    /// FlightSize, what limited transmit added excepted (RFC 5681 §3.2, RFC 3042 §2).
    pub flight: u64,
    /// Bytes taken for lost so far.
    pub lost: u64,
    /// Whether the segment lost is one that had been sent again before.
    pub resent: bool,
}

/// Kinds of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionKind {
    /// A segment was lost.
    Loss,
    /// A segment was marked.
    Ecn,
}

/// The controller that `settings` name.
pub fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    let (smss, window, ssthresh) = (u64::from(settings.smss), settings.initial_window, settings.initial_ssthresh);
    match settings.congestion {
        Congestion::Reno => Box::new(reno::Reno::new(smss, window, ssthresh)),
        Congestion::Cubic => Box::new(cubic::Cubic::new(settings.cubic, smss, window, ssthresh)),
        Congestion::Xcp => Box::new(xcp::Xcp::new(settings)),
        Congestion::Vegas => Box::new(vegas::Vegas::new(settings.vegas, smss, window, ssthresh)),
    }
}
