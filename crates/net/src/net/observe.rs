//! What can be observed of a run. Areas emit observations, [`crate::measure`] makes tables of
//! them; nothing in a run depends on whether there is an observer.

use crate::engine::Instant;

use super::medium::Access;
use super::packet::{FlowId, NodeId, Packet};

/// A place where packets wait, fly or end, for counting and for naming drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The queue was full.
    Overflow,
    /// Active queue management dropped it early.
    Early,
    /// It exceeded what its flow or its class was promised.
    Policed,
    /// The loss model took it.
    Loss,
    /// A handover emptied the queue, or lost packets in flight.
    Handover,
    /// The link was down.
    LinkDown,
    /// No route led to its destination.
    NoRoute,
    /// No endpoint listens at its port.
    NoEndpoint,
    /// Its sender knows of no member of its group.
    NoMembers,
    /// It came to a member of a tree from elsewhere than its parent.
    WrongInterface,
    /// It belonged to an earlier connection.
    OldConnection,
    /// A part of it did not come over the radio, or its link ARQ gave it up.
    Radio,
    /// Its compressed header could not be got back: the context was lost.
    ContextLost,
    /// Its layer may not enter the link at present.
    Blocked,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 14] = [
        Self::Overflow,
        Self::Early,
        Self::Policed,
        Self::Loss,
        Self::Handover,
        Self::LinkDown,
        Self::NoRoute,
        Self::NoEndpoint,
        Self::NoMembers,
        Self::WrongInterface,
        Self::OldConnection,
        Self::Radio,
        Self::ContextLost,
        Self::Blocked,
    ];

    /// The cause as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Early => "early",
            Self::Policed => "policed",
            Self::Loss => "loss",
            Self::Handover => "handover",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::NoEndpoint => "no_endpoint",
            Self::NoMembers => "no_members",
            Self::WrongInterface => "wrong_interface",
            Self::OldConnection => "old_connection",
            Self::Radio => "radio",
            Self::ContextLost => "context_lost",
            Self::Blocked => "blocked",
        }
    }
}

/// A variable of an endpoint whose every change can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// Congestion window, in packets.
    Cwnd,
    /// Slow-start threshold, in packets.
    Ssthresh,
    /// Last round-trip-time sample; seconds, or ticks in profile `ns2`.
    Rtt,
    /// Smoothed round-trip time; seconds, or ticks times 8 in profile `ns2`.
    Srtt,
    /// Round-trip-time variation; seconds, or ticks times 4 in profile `ns2`.
    Rttvar,
    /// Retransmission timeout, seconds.
    Rto,
    /// Back-off multiplier of the retransmission timeout.
    Backoff,
    /// Retransmission timeouts so far.
    Timeouts,
    /// Bytes in flight, in packets.
    InFlight,
    /// Pacing rate, bit/s.
    PacingRate,
    /// Layers to which a receiver subscribes.
    Layers,
}

impl Variable {
    /// The variable as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd",
            Self::Ssthresh => "ssthresh",
            Self::Rtt => "rtt",
            Self::Srtt => "srtt",
            Self::Rttvar => "rttvar",
            Self::Rto => "rto",
            Self::Backoff => "backoff",
            Self::Timeouts => "timeouts",
            Self::InFlight => "in_flight",
            Self::PacingRate => "pacing_rate",
            Self::Layers => "layers",
        }
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Observation<'a> {
    /// An endpoint at `node` handed a packet to its node.
    Sent {
        /// The node.
        node: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet reached an endpoint at `node`.
    Received {
        /// The node.
        node: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet goes on from `node`, where it has come or was made.
    Forwarded {
        /// The node.
        node: NodeId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A handover made a copy of a packet to one node, which is under way too from now on. Copies of packets to groups are not shown.
    Copied {
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet was dropped.
    Dropped {
        /// Where.
        place: Place,
        /// Why.
        cause: Cause,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet was marked as having experienced congestion.
    Marked {
        /// Where.
        place: Place,
        /// The packet.
        packet: &'a Packet,
    },
    /// A variable of the flow's endpoint at `node` changed.
    Changed {
        /// The node.
        node: NodeId,
        /// The flow.
        flow: FlowId,
        /// What changed.
        variable: Variable,
        /// Its new value.
        value: f64,
    },
    /// A terminal is served by something else from now on.
    Served {
        /// The terminal's bearer down.
        place: Place,
        /// What serves it.
        service: &'static str,
    },
    /// Something happened to a PDU of a radio's link ARQ.
    Pdu {
        /// When: not always the present, since a medium may look at several instants in one event.
        at: Instant,
        /// The bearer and direction.
        place: Place,
        /// The step.
        step: PduStep,
        /// To what.
        pdu: &'a SeenPdu<'a>,
        /// Bytes that wait now in the queue concerned.
        queued: Option<u32>,
    },
    /// A slot of a radio's shared channel, or a part of it, carries a block to a terminal.
    Slot {
        /// The terminal's bearer down.
        place: Place,
        /// What the slot carries.
        block: &'a SeenBlock,
    },
    /// A packet arrived at the far side of a link that is watched ([`Watched`](super::watched::Watched)).
    Arrived {
        /// The direction of the link.
        place: Place,
        /// When its transmission began.
        start: Instant,
        /// The packet.
        packet: &'a Packet,
    },
    /// A direction of a link changes now, at once or from now on in steps.
    Handover {
        /// The direction of the link.
        place: Place,
        /// What it offers until now.
        before: Access,
        /// What it will offer when the change is complete.
        after: Access,
    },
}

/// What happens to a PDU of a radio's link ARQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PduStep {
    /// Its sending entity handed it down.
    Sent,
    /// The queue in front of the air was full.
    Dropped,
    /// The transmission time interval that carries it begins.
    Aired,
    /// It would have come now, but the air lost it.
    Lost,
    /// It came to the receiving entity.
    Received,
}

/// A PDU as it is seen.
#[derive(Clone, Copy, Debug)]
pub struct SeenPdu<'a> {
    /// Its sequence number, if it carries data.
    pub sn: Option<u32>,
    /// How many SDUs end in it.
    pub ends: u16,
    /// The polling bit.
    pub poll: bool,
    /// Length indicators.
    pub indicators: u8,
    /// Bytes of SDUs.
    pub data: u16,
    /// Bytes of these that belong to its first SDU.
    pub first: u16,
    /// Bytes of padding.
    pub padding: u16,
    /// Why it is sent.
    pub reason: &'static str,
    /// The status report that it carries: its first sequence number, which have come from there on, and
    /// its size in bytes.
    pub report: Option<(u32, &'a [bool], u16)>,
}

/// What a slot of a shared channel carries to one terminal.
#[derive(Clone, Copy, Debug)]
pub struct SeenBlock {
    /// The cell that sends it.
    pub cell: u32,
    /// The process of hybrid ARQ to which it belongs; 0 if there is only one.
    pub process: u8,
    /// Its number among the terminal's blocks.
    pub number: u32,
    /// How often it has been sent, this time included.
    pub transmission: u32,
    /// The transport format: modulation and coding.
    pub format: u8,
    /// How many codes it takes.
    pub codes: u8,
    /// Its size.
    pub bits: u32,
    /// How many of these are data.
    pub data: u32,
    /// Bits that waited for the terminal in front of the air, these included.
    pub waiting: u64,
    /// Whether it is received.
    pub received: bool,
}

/// An observer of a run.
pub trait Observer: Send {
    /// Takes note of an observation.
    fn see(&mut self, now: Instant, observation: &Observation<'_>);

    /// The table that it writes with the most rows, and how many these are. It is asked now and then, so that a run ends
    /// before its memory does.
    fn largest_table(&self) -> (&'static str, u64) {
        ("", 0)
    }

    /// Gives itself back as what it is, at the end of the run.
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
}

/// What a part is that shows its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A direction of a link.
    Link,
    /// A radio cell.
    Cell,
    /// A direction of a terminal's radio bearer.
    Bearer,
    /// An endpoint or another machine of a node.
    Machine,
}

impl What {
    /// The part as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Cell => "cell",
            Self::Bearer => "bearer",
            Self::Machine => "machine",
        }
    }
}

/// Takes the present values of a component, by name. Names carry their unit (`queue_bytes`).
pub trait Probe {
    /// What follows belongs to this part.
    fn part(&mut self, what: What, name: &str);
    /// A value.
    fn value(&mut self, name: &'static str, value: f64);
    /// A distribution: `name` carries the unit that remains after multiplying by `scale`.
    fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram);
}

/// A distribution of non-negative integers (nanoseconds, bytes): counts in buckets that are
/// exact below 32 and at most 3.2 % wide above.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    /// The bucket of `counts[0]`.
    first: usize,
    /// Values equal to zero, by far the commonest in a queue.
    zeros: u64,
    total: u64,
}

/// Buckets per octave: 2⁵.
const SUB_BITS: u32 = 5;

impl Histogram {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.total += 1;
        if value == 0 {
            self.zeros += 1;
            return;
        }
        let bucket = bucket(value);
        if bucket >= self.first && bucket - self.first < self.counts.len() {
            let count = &mut self.counts[bucket - self.first];
            *count = count.saturating_add(1);
        } else {
            self.widen(bucket);
        }
    }

    #[cold]
    fn widen(&mut self, bucket: usize) {
        // Ranges settle soon, and there are many histograms: they take no more than they need.
        if self.counts.is_empty() {
            self.first = bucket;
        } else if bucket < self.first {
            let gap = self.first - bucket;
            self.counts.reserve_exact(gap);
            self.counts.splice(0..0, std::iter::repeat_n(0, gap));
            self.first = bucket;
        }
        let place = bucket - self.first;
        if place >= self.counts.len() {
            self.counts.reserve_exact(place + 1 - self.counts.len());
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// The same distribution with zeros added until there are `total` values: for callers that count only the others.
    #[must_use]
    pub fn with_zeros(&self, total: u64) -> Self {
        let zeros = self.zeros + total.saturating_sub(self.total);
        Self { zeros, total: total.max(self.total), ..self.clone() }
    }

    /// How many values were counted.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The least value that at least the share `q` of all values do not exceed (the middle of
    /// its bucket); `None` if nothing was counted.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let rank = libm::ceil(q.clamp(0.0, 1.0) * self.total as f64).max(1.0) as u64;
        let mut seen = self.zeros;
        if seen >= rank {
            return Some(0.0);
        }
        for (i, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if seen >= rank {
                return Some(middle(self.first + i));
            }
        }
        Some(middle(self.first + self.counts.len().saturating_sub(1)))
    }

    /// The mean, each value taken for the middle of its bucket; `None` if nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        let values = (self.first..).zip(&self.counts).map(|(place, &count)| middle(place) * f64::from(count));
        // From 0: the sum of no number is -0.
        let sum = values.fold(0.0, |sum, value| sum + value);
        (self.total > 0).then(|| sum / self.total as f64)
    }
}

/// The bucket of a value: exact below 2⁵, then 2⁵ to the octave.
#[inline]
fn bucket(value: u64) -> usize {
    let octave = (63 - value.leading_zeros()).saturating_sub(SUB_BITS);
    ((octave as usize) << SUB_BITS) + (value >> octave) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> f64 {
    let octave = (bucket >> SUB_BITS).saturating_sub(1);
    let low = (bucket - (octave << SUB_BITS)) as f64;
    let width = (1u64 << octave) as f64;
    if octave == 0 { low } else { low * width + (width - 1.0) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_half_a_bucket() {
        let mut histogram = Histogram::default();
        for value in (1..=100_000u64).rev() {
            histogram.add(value);
        }
        for q in [0.01, 0.5, 0.95, 1.0] {
            let exact = 100_000.0 * q;
            let got = histogram.quantile(q).unwrap();
            assert!((got - exact).abs() <= 0.016 * exact + 1.0, "{q}: {got} against {exact}");
        }
    }

    #[test]
    fn the_mean_is_within_half_a_bucket() {
        let mut histogram = Histogram::default();
        for value in 1..=100_000u64 {
            histogram.add(value);
        }
        let got = histogram.with_zeros(200_000).mean().unwrap();
        assert!((got / 25_000.25 - 1.0).abs() < 0.016, "{got}");
        assert_eq!(Histogram::default().mean(), None);
        assert_eq!(Histogram::default().with_zeros(3).mean().map(f64::to_bits), Some(0), "0, not -0");
    }

    #[test]
    fn small_values_are_exact() {
        let mut histogram = Histogram::default();
        for value in [0, 0, 5, 31, 32] {
            histogram.add(value);
        }
        assert_eq!(histogram.quantile(0.4), Some(0.0));
        assert_eq!(histogram.quantile(0.6), Some(5.0));
        assert_eq!(histogram.quantile(1.0), Some(32.0));
        assert_eq!(histogram.mean(), Some(68.0 / 5.0));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
