//! Watches a run and notes the events that the reference files have.

use std::any::Any;
use std::collections::BTreeMap;

use lasthop_core::engine::Instant;
use lasthop_core::net::{Cause, Header, Observation, Observer, Packet, Place, TcpFlags, Variable};

/// An event of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// The first value.
    pub a: f64,
    /// The second value.
    pub b: Option<f64>,
}

/// The events of a run by flow and letter, each list in the order in which they happened.
pub type Events = BTreeMap<(u32, char), Vec<Event>>;

/// The watcher.
#[derive(Debug, Default)]
pub struct Watcher {
    /// The events so far, but for drops.
    pub events: Events,
    /// Drops with their place and letter.
    pub drops: Vec<(Place, u32, char, Event)>,
    flows: BTreeMap<u32, FlowState>,
}

/// The state of a flow.
#[derive(Debug, Default)]
struct FlowState {
    /// The highest packet sent.
    highest: Option<u64>,
    /// Wire bytes of packets that have arrived beyond a gap.
    beyond: BTreeMap<u64, u32>,
    /// The next packet in order, and the wire bytes before it.
    next: u64,
    bytes: u64,
    /// `bytes` each time it changes.
    in_order: Vec<(Instant, u64)>,
}

impl Watcher {
    /// Wire bytes that the flow's sink had (TCP's in order) just before `seconds`.
    pub fn bytes_before(&self, flow: u32, seconds: f64) -> u64 {
        let Some(state) = self.flows.get(&flow) else { return 0 };
        let count = state.in_order.partition_point(|(time, _)| time.as_secs_f64() < seconds);
        count.checked_sub(1).map_or(0, |last| state.in_order[last].1)
    }

    fn add(&mut self, at: Instant, flow: u32, letter: char, a: f64, b: Option<f64>) {
        self.events.entry((flow, letter)).or_default().push(Event { at, a, b });
    }

    fn arrive(&mut self, at: Instant, packet: &Packet, seq: u64) {
        let state = self.flows.entry(packet.flow.0).or_default();
        if matches!(packet.header, Header::Tfrc(_)) {
            // TFRC's sink counts whatever comes.
            state.bytes += u64::from(packet.size);
            state.in_order.push((at, state.bytes));
            return;
        }
        if seq < state.next || state.beyond.contains_key(&seq) {
            return;
        }
        state.beyond.insert(seq, packet.size);
        while let Some(size) = state.beyond.remove(&state.next) {
            state.next += 1;
            state.bytes += u64::from(size);
        }
        state.in_order.push((at, state.bytes));
    }
}

impl Observer for Watcher {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Sent { packet, .. } => {
                if let Some((seq, false)) = numbered(packet) {
                    let highest = &mut self.flows.entry(packet.flow.0).or_default().highest;
                    let again = highest.is_some_and(|h| seq <= h);
                    *highest = (*highest).max(Some(seq));
                    self.add(now, packet.flow.0, 'S', seq as f64, Some(f64::from(u8::from(again))));
                }
            }
            Observation::Received { packet, .. } => match numbered(packet) {
                Some((seq, false)) => {
                    self.add(now, packet.flow.0, 'R', seq as f64, Some(packet.size.into()));
                    self.arrive(now, packet, seq);
                }
                Some((ack, true)) => {
                    self.add(now, packet.flow.0, 'A', ack as i64 as f64, Some(packet.size.into()));
                }
                None => {}
            },
            Observation::Dropped { place, cause, packet } => {
                let Some((number, is_ack)) = numbered(packet) else { return };
                let (letter, b) = if is_ack {
                    ('K', f64::from(packet.size))
                } else {
                    ('D', f64::from(u8::from(cause == Cause::Loss)))
                };
                let event = Event { at: now, a: number as i64 as f64, b: Some(b) };
                self.drops.push((place, packet.flow.0, letter, event));
            }
            Observation::Changed { flow, variable, value, .. } => {
                let letter = match variable {
                    Variable::Cwnd => 'W',
                    Variable::Ssthresh => 'H',
                    Variable::Rtt => 'R',
                    Variable::Srtt => 'T',
                    Variable::Rttvar => 'V',
                    Variable::Backoff => 'B',
                    Variable::Timeouts => 'O',
                    _ => return,
                };
                // In families with variables `R` is a sample, in the others an arrival.
                let key = if letter == 'R' { SAMPLE } else { letter };
                self.add(now, flow.0, key, value, None);
            }
            Observation::Marked { .. }
            | Observation::Forwarded { .. }
            | Observation::Arrived { .. }
            | Observation::Handover { .. }
            | Observation::Served { .. }
            | Observation::Slot { .. }
            | Observation::Copied { .. }
            | Observation::Pdu { .. } => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The letter under which round-trip-time samples are noted, since `R` also stands for arrivals.
pub const SAMPLE: char = 'r';

/// The number of a packet or of an acknowledgement, and which of the two it is.
fn numbered(packet: &Packet) -> Option<(u64, bool)> {
    match &packet.header {
        Header::Tcp(tcp) if tcp.flags.has(TcpFlags::ACK) => Some((tcp.ack, true)),
        Header::Tcp(tcp) => Some((tcp.seq, false)),
        Header::Tfrc(tfrc) => Some((tfrc.seq, false)),
        Header::TfrcReport(report) => Some((report.seq, true)),
        _ => None,
    }
}
