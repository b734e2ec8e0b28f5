//! The inputs of a congestion controller.

use lasthop_net::engine::{Duration, Instant};

/// A segment that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Payload bytes in flight, this segment included: if they are its own, the flight was empty.
    pub in_flight: u64,
    /// Whether more data wait behind it.
    pub more: bool,
    /// Whether samples of segments sent now are application-limited, with [`Wants::records`](super::Wants::records).
    pub app_limited: bool,
    /// The smoothed round-trip time (RFC 6298); zero before the first sample, which the handshake may have given.
    pub srtt: Duration,
    /// The retransmission timeout (RFC 6298).
    pub rto: Duration,
}

/// The flight at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// Bytes in flight.
    pub in_flight: u64,
    /// Bytes taken for lost so far in this connection.
    pub lost: u64,
    /// Whether losses are being repaired.
    pub recovering: bool,
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug, Default)]
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
    /// The delay of the acknowledged segment one way, with time stamps (RFC 7323). The clocks of both ends agree.
    pub one_way: Option<Duration>,
    /// The smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The variation of the round-trip time (RFC 6298), with [`Wants::records`](super::Wants::records).
    pub rttvar: Duration,
    /// Bytes delivered so far in this connection.
    pub delivered: u64,
    /// Segments delivered so far in this connection, a FIN included.
    pub packets: u64,
    /// How fast the path delivered them lately, with [`Wants::records`](super::Wants::records).
    pub rate: Option<RateSample>,
    /// How many congestion echoes came with it (RFC 3168: none or one; with counted marks: whether there are new ones).
    pub ece: u32,
    /// Payload bytes newly reported to have come marked, where the receiver counts them (AccECN, RFC 9768).
    pub ce: u64,
    /// How many packets the receiver acknowledges at once, as far as the sender knows (DCCP's Ack Ratio; TCP: 1).
    pub ack_every: u32,
    /// How many round trips have passed.
    pub round: u64,
    /// Whether the window was full when the acknowledged data left. A window that was not in use
    /// is not to grow (RFC 7661 §4.3; RFC 9438 §4.2).
    pub window_limited: bool,
    /// Whether losses are being repaired: the window then waits.
    pub recovering: bool,
    /// Whether data that were in flight at the last timeout have not all arrived, with [`Wants::records`](super::Wants::records).
    pub after_timeout: bool,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr §4.1.2), from the acknowledged segment that was sent last.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Bytes delivered while the segment was in flight, and bytes lost meanwhile.
    pub delivered: u64,
    /// See `delivered`.
    pub lost: u64,
    /// The longer of the times in which they were sent and acknowledged. `None` if it is shorter than the least round-trip
    /// time: no rate follows from it (§4.1.2.3).
    pub interval: Option<Duration>,
    /// The record made when the segment was sent.
    pub record: Record,
}

/// The record of a segment, made when it is sent (draft-ietf-ccwg-bbr §4.1.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was sent (P.send_time).
    pub sent_at: Instant,
    /// Bytes delivered by then (P.delivered), and since when (P.delivered_time).
    pub delivered: u64,
    /// See `delivered`.
    pub delivered_at: Instant,
    /// When the first segment of the sampled flight was sent (P.first_send_time).
    pub first_sent_at: Instant,
    /// Bytes in flight, this segment included (P.tx_in_flight).
    pub tx_in_flight: u64,
    /// Bytes lost by then (P.lost).
    pub lost: u64,
    /// Whether the sender had nothing more to send (P.is_app_limited).
    pub app_limited: bool,
}

/// A segment that is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// When.
    pub now: Instant,
    /// Its place in the connection's data: its first sequence number.
    pub start: u64,
    /// Its payload.
    pub bytes: u64,
    /// Bytes lost so far in this connection, these included (C.lost).
    pub lost: u64,
    /// Bytes delivered so far, by the acknowledgement that told of it too (C.delivered).
    pub delivered: u64,
    /// The record made when it was sent.
    pub record: Record,
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

/// What a standard says of the window of loss-based algorithms, whatever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    /// It is at most so large where the flow begins anew: after an idle time (RFC 5681 §4.1), or a lost SYN (§3.1).
    Start(u64),
    /// The upper limit as a recovery begins or ends (Tahoe: one segment; RFC 6582 §3.2 step 3: little more than the flight size).
    Recovery(u64),
    /// A timeout was not spurious; the window is set to this (RFC 5682 §2.1 step 3a).
    Genuine(u64),
}

impl WindowRule {
    /// The new value of a window of `window` bytes, if it changes.
    pub fn applied(self, window: u64) -> Option<u64> {
        match self {
            Self::Start(most) | Self::Recovery(most) => (most < window).then_some(most),
            Self::Genuine(window) => Some(window),
        }
    }
}

/// A timeout was spurious (RFC 4015 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undo {
    /// When that was found.
    pub now: Instant,
    /// The flight size at the timeout (pipe_prev): the slow-start threshold becomes at least this much (step 9).
    pub flight: u64,
    /// The new window: the flight size, and a little more.
    pub window: u64,
}
