//! What media and disciplines may use: the clock, wake-ups, packets, counters, streams.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::engine::{EventQueue, FloatTime, Instant, Stream, Streams, Target};

use super::machine::Notice;
use super::names::Names;
use super::observe::{Cause, Observation, Observer, Place};
use super::packet::{Ecn, FlowId, NodeId, Packet};
use super::slab::{Pkt, Slab};

/// The clock, `arm`, the packets under way, arrivals, counters and random streams.
pub struct Core {
    now: Instant,
    since: Instant,
    /// The present by ns-2's clock, if that is followed.
    float: Option<FloatTime>,
    pub(super) queue: EventQueue,
    slab: Slab,
    /// Packets that have come to a node and are to be forwarded there.
    pub(super) arrivals: Vec<Arrival>,
    /// Whether a medium has said since the last look that ways appeared or vanished.
    ways_changed: bool,
    streams: Streams,
    places: Names,
    counters: Counters,
    pub(super) observer: Option<Box<dyn Observer>>,
    losses: Option<Losses>,
}

/// Dropped packets to be reported to their sources.
struct Losses {
    /// The component that is woken to report them.
    target: Target,
    /// Flow and notice of each.
    of: Vec<(FlowId, Notice)>,
}

/// A packet that has come to a node over one of its ports.
#[derive(Debug)]
pub(super) struct Arrival {
    pub node: NodeId,
    pub via: Port,
    pub pkt: Pkt,
}

/// An interface of a node, numbered from 0; [`Port::LOCAL`] is the node's own endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port(pub u32);

impl Port {
    /// Not an interface: the packet was made at this node.
    pub const LOCAL: Self = Self(u32::MAX);
}

/// How many packets began and ended, over the whole network.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Packets that endpoints sent.
    pub sent: u64,
    /// Copies made of multicast packets.
    pub copied: u64,
    /// Packets that reached an endpoint.
    pub delivered: u64,
    /// Packets that were dropped, anywhere and for any cause.
    pub dropped: u64,
    /// Transmissions that ended at the far side of a link (packet-hops).
    pub hops: u64,
    /// Drops by place, cause and flow.
    pub drops: BTreeMap<(Place, Cause, FlowId), DropCount>,
    /// Marks by place.
    pub marks: BTreeMap<Place, u64>,
}

impl Counters {
    /// Dropped packets that had a receiver: flow (each perhaps several times), and how many packets.
    pub fn losses(&self) -> impl Iterator<Item = (FlowId, DropCount)> {
        self.drops
            .iter()
            .filter(|((_, cause, _), _)| *cause != Cause::NoMembers)
            .map(|((.., flow), count)| (*flow, *count))
    }
}

/// How many packets of a flow a place dropped for one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCount {
    /// How many packets.
    pub packets: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How many of the packets had data: no acknowledgements, reports, messages.
    pub data: u64,
}

impl AddAssign for DropCount {
    fn add_assign(&mut self, more: Self) {
        self.packets += more.packets;
        self.bytes += more.bytes;
        self.data += more.data;
    }
}

impl Core {
    /// A core at time zero.
    pub fn new(seed: u64) -> Self {
        Self {
            now: Instant::ZERO,
            since: Instant::ZERO,
            float: None,
            queue: EventQueue::new(),
            slab: Slab::default(),
            arrivals: Vec::new(),
            ways_changed: false,
            streams: Streams::new(seed),
            places: Names::default(),
            counters: Counters::default(),
            observer: None,
            losses: None,
        }
    }

    /// The present.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When the cause of the present event began. Among events of one instant it decides the
    /// order (see [`crate::engine::queue`]).
    #[inline]
    pub fn since(&self) -> Instant {
        self.since
    }

    #[inline]
    pub(crate) fn set_clock(&mut self, now: Instant, since: Instant) {
        debug_assert!(now >= self.now, "time does not run backwards");
        self.now = now;
        self.since = since;
    }

    /// From now on links keep ns-2's clock too, and it orders the events of one nanosecond; see
    /// [`FloatTime`]. Only where all media keep it, before any event.
    pub fn follow_ns2_clock(&mut self) {
        self.float = Some(FloatTime::new(self.now));
    }

    /// The present by ns-2's clock, if that is followed.
    #[inline]
    pub fn float(&self) -> Option<FloatTime> {
        self.float
    }

    /// The present event happens at `time` by ns-2's clock, and its cause began at `since`.
    #[inline]
    pub(super) fn set_float(&mut self, time: FloatTime, since: Instant) {
        if let Some(float) = &mut self.float {
            *float = time;
            self.since = since;
        }
    }

    /// Asks for a wake-up of `target` at `at` (not before now), whose cause began at `since`.
    /// A machine keeps one pending wake-up and finds nothing due when an older one fires.
    #[inline]
    pub fn arm(&mut self, target: Target, at: Instant, since: Instant) {
        self.queue.push(at.max(self.now), since, target);
    }

    /// The run's random streams.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// A random stream, named for a component and a purpose.
    pub fn stream(&self, component: &str, purpose: &str) -> Stream {
        self.streams.stream(component, purpose)
    }

    /// Registers a place under a name that stands in the results.
    pub fn place(&mut self, name: &str) -> Place {
        Place(self.places.push(name))
    }

    /// The name of a place.
    pub fn place_name(&self, place: Place) -> &str {
        &self.places[place.0]
    }

    /// A packet under way.
    #[inline]
    pub fn packet(&self, pkt: &Pkt) -> &Packet {
        self.slab.get(pkt)
    }

    /// A packet under way, to be changed.
    #[inline]
    pub fn packet_mut(&mut self, pkt: &Pkt) -> &mut Packet {
        self.slab.get_mut(pkt)
    }

    #[inline]
    pub(super) fn slab(&self) -> &Slab {
        &self.slab
    }

    #[inline]
    pub(super) fn slab_mut(&mut self) -> &mut Slab {
        &mut self.slab
    }

    pub(super) fn keep_times(&mut self, pkt: &Pkt, times: [FloatTime; 2]) {
        self.slab.keep_times(pkt, times);
    }

    pub(super) fn kept_times(&self, place: u32) -> [FloatTime; 2] {
        self.slab.kept_times(place)
    }

    /// Notes that a queue takes this packet now.
    #[inline]
    pub fn note_queued(&mut self, pkt: &Pkt) {
        self.slab.flight_mut(pkt).accepted = self.now;
    }

    /// When the queue in which it waits took this packet.
    #[inline]
    pub fn queued_at(&self, pkt: &Pkt) -> Instant {
        self.slab.flight(pkt.0).accepted
    }

    /// A medium writes on a packet what it wants to know when the packet has left a queue of its.
    #[inline]
    pub fn set_tag(&mut self, pkt: &Pkt, tag: u32) {
        self.slab.set_tag(pkt, tag);
    }

    /// What the medium that holds a packet has written on it.
    #[inline]
    pub fn tag(&self, pkt: &Pkt) -> u32 {
        self.slab.tag(pkt)
    }

    /// Where the next new packet is to lie, to be written.
    #[inline]
    pub(super) fn vacant(&mut self) -> &mut Packet {
        self.slab.vacant()
    }

    /// Sends the packet that was written on its way. The caller then gives it to a node or a
    /// medium.
    #[inline]
    pub(super) fn send_vacant(&mut self) -> Pkt {
        self.counters.sent += 1;
        self.slab.take_vacant()
    }

    /// A copy of a multicast packet, made where its way divides.
    pub fn copy(&mut self, pkt: &Pkt) -> Pkt {
        self.counters.copied += 1;
        if let Some(observer) = &mut self.observer {
            observer.see(self.now, &Observation::Copied { packet: self.slab.get(pkt) });
        }
        self.slab.copy(pkt)
    }

    /// A copy of a packet that the caller has kept by value; the original may have ended.
    pub fn copy_of(&mut self, packet: &Packet) -> Pkt {
        self.counters.copied += 1;
        if self.is_observed() {
            self.observe(&Observation::Copied { packet });
        }
        *self.slab.vacant() = *packet;
        self.slab.take_vacant()
    }

    /// A medium takes back what a transmitter in it has brought, in this event, to a place that is no node but inside the medium.
    #[inline]
    pub fn take_arrival(&mut self, inside: NodeId) -> Option<Pkt> {
        let last = self.arrivals.pop_if(|arrival| arrival.node == inside)?;
        Some(last.pkt)
    }

    /// A medium hands over a packet that has come to `node` over its interface `via`.
    #[inline]
    pub fn arrive(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        self.counters.hops += 1;
        self.hand_over(node, via, pkt);
    }

    /// The same for a packet whose transmission was counted when a transmitter inside the medium ended it.
    #[inline]
    pub fn hand_over(&mut self, node: NodeId, via: Port, pkt: Pkt) {
        self.arrivals.push(Arrival { node, via, pkt });
    }

    /// A medium says that ways appear or vanish now: routes are computed anew when its event is over.
    pub fn change_ways(&mut self) {
        self.ways_changed = true;
    }

    /// Whether one has said so since this was last asked.
    #[inline]
    pub(super) fn take_ways_changed(&mut self) -> bool {
        if !self.ways_changed {
            return false;
        }
        self.ways_changed = false;
        true
    }

    /// Ends a packet that reached its endpoint, and shows it a last time.
    #[inline]
    pub fn deliver(&mut self, pkt: Pkt) -> &Packet {
        self.counters.delivered += 1;
        self.slab.release(pkt)
    }

    /// From now on `target` is woken when a packet was dropped whose source subscribes to losses.
    pub(super) fn note_losses(&mut self, target: Target) {
        self.losses.get_or_insert(Losses { target, of: Vec::new() });
    }

    /// The losses since this was last asked.
    pub(super) fn take_losses(&mut self) -> Vec<(FlowId, Notice)> {
        self.losses.as_mut().map(|losses| std::mem::take(&mut losses.of)).unwrap_or_default()
    }

    /// Ends a packet at `place` because of `cause`.
    #[inline(never)]
    pub fn drop(&mut self, pkt: Pkt, place: Place, cause: Cause) {
        let packet = self.slab.release(pkt);
        let (flow, bytes, data) = (packet.flow, u64::from(packet.size), u64::from(packet.has_data()));
        if let Some(losses) = &mut self.losses
            && let Some((payload, end)) = packet.header.unrepaired()
        {
            losses.of.push((flow, Notice::Lost { payload, end }));
            self.queue.push(self.now, self.now, losses.target);
        }
        if let Some(observer) = &mut self.observer {
            observer.see(self.now, &Observation::Dropped { place, cause, packet });
        }
        self.counters.dropped += 1;
        *self.counters.drops.entry((place, cause, flow)).or_default() += DropCount { packets: 1, bytes, data };
    }

    /// Counts what `place` has dropped of a flow for `cause` as another's, and forgets the flow there.
    pub fn count_drops_as(&mut self, place: Place, cause: Cause, flow: FlowId, other: FlowId) {
        if let Some(count) = self.counters.drops.remove(&(place, cause, flow)) {
            *self.counters.drops.entry((place, cause, other)).or_default() += count;
        }
    }

    /// Marks a packet as having experienced congestion (RFC 3168). One that is marked stays so, and does not count again.
    pub fn mark(&mut self, pkt: &Pkt, place: Place) {
        let before = std::mem::replace(&mut self.slab.get_mut(pkt).ecn, Ecn::Ce);
        if before == Ecn::Ce {
            return;
        }
        if let Some(observer) = &mut self.observer {
            observer.see(self.now, &Observation::Marked { place, packet: self.slab.get(pkt) });
        }
        *self.counters.marks.entry(place).or_default() += 1;
    }

    /// Passes an observation to the observer, if there is one.
    #[inline]
    pub fn observe(&mut self, observation: &Observation<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.see(self.now, observation);
        }
    }

    /// Whether there is an observer.
    #[inline]
    pub fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// The counts so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How many packets are under way.
    pub fn under_way(&self) -> u64 {
        self.slab.len() as u64
    }
}
