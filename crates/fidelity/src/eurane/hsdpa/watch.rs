//! Runs a scenario, and takes down what EURANE's files record.

use std::any::Any;
use std::collections::BTreeMap;

use lasthop_core::engine::Instant;
use lasthop_core::net::observe::{PduStep, SeenPdu};
use lasthop_core::net::{Cause, Header, NodeId, Observation, Observer, Packet, Place, SeenBlock};
use lasthop_core::scenario::{builder, read};

use super::draws::Draws;
use super::index::{HAND_UP, Scenario, WIRE_BPS};

/// The events of a run.
#[derive(Default)]
pub struct Seen {
    /// Blocks in the order in which they were sent: time of the decision, terminal, block.
    pub blocks: Vec<(u64, u32, SeenBlock)>,
    /// PDUs that left their RLC or came to it, before [`EVENTS_END`].
    pub pdus: Vec<(u64, u32, &'static str, [String; 5])>,
    /// When PDUs left the RNC's RLC.
    pub sent_pdus: Vec<(u64, u32)>,
    /// SDUs that came to an RLC or left it.
    pub sdus: Vec<Sdu>,
}

/// An SDU at an RLC.
#[derive(Clone, Copy)]
pub struct Sdu {
    /// When, in nanoseconds.
    pub at: u64,
    /// Of which terminal.
    pub ue: u32,
    /// The event, in EURANE's words.
    pub event: &'static str,
    /// ns-2 numbers packets as they are made.
    pub number: usize,
    /// Its size.
    pub bytes: u32,
}

/// Events are recorded until then, in nanoseconds.
pub const EVENTS_END: u64 = 1_900_000_000;

/// Runs a scenario. If it is to be replayed, thresholds are drawn as in EURANE.
pub fn run(scenario: &Scenario, seed: u32, replay: bool) -> Result<Seen, String> {
    let mut document = read::toml(&scenario.text(seed)?, "scenario").map_err(|e| e.to_string())?;
    let names = document.scenario.node_names();
    let ue_of_node = |n: &String| n.strip_prefix("mobile[")?.strip_suffix(']')?.parse().ok();
    let draws = replay.then(|| Draws::new(scenario.draws(seed)));
    if let Some(draws) = &draws {
        draws.decide(&mut document.scenario);
    }
    let watcher = Watcher {
        draws: draws.clone(),
        wire_delay: scenario.wire_delay(),
        wire_free: 0,
        ues: names.iter().map(ue_of_node).collect(),
        packets: BTreeMap::new(),
        first: BTreeMap::new(),
        places: BTreeMap::new(),
        seen: Seen::default(),
    };
    let mut built =
        builder::build(&document.scenario, seed.into(), Some(Box::new(watcher))).map_err(|e| e.to_string())?;
    if let Some(draws) = &draws {
        draws.begin(&mut built.simulation);
    }
    let end = Instant::ZERO + document.scenario.duration;
    built.simulation.run_until(end, u64::MAX).map_err(|e| e.to_string())?;
    let watcher = built.simulation.take_observer().and_then(|o| o.into_any().downcast::<Watcher>().ok());
    let Watcher { mut seen, places, .. } = *watcher.ok_or("the watcher is lost")?;
    // Places are numbered; their names say whose they are.
    let ues: BTreeMap<u32, (u32, bool)> = places
        .into_keys()
        .filter_map(|place| {
            let name = built.simulation.core().place_name(Place(place));
            let (ue, way) = name.strip_prefix("cell.ue[")?.split_once("] ")?;
            Some((place, (ue.parse().ok()?, way == "down")))
        })
        .collect();
    let of = |place: &u32| ues.get(place).copied().unwrap_or((u32::MAX, false));
    seen.blocks.iter_mut().for_each(|(_, ue, _)| *ue = of(ue).0);
    for (_, ue, event, _) in &mut seen.pdus {
        let (number, down) = of(ue);
        *ue = number;
        *event = match (*event, down) {
            ("TX", true) => "RLC_TX",
            ("TX", false) => "UL_TX",
            (_, true) => "RLC_RX",
            (_, false) => "UL_RX",
        };
    }
    seen.sent_pdus.retain_mut(|(_, ue)| {
        let (number, down) = of(ue);
        *ue = number;
        down
    });
    for sdu in seen.sdus.iter_mut().filter(|sdu| sdu.event == "SDU_DROP") {
        sdu.ue = of(&sdu.ue).0;
    }
    seen.sdus.sort_by_key(|sdu| sdu.at);
    Ok(seen)
}

/// Takes down what happens.
struct Watcher {
    draws: Option<Draws>,
    wire_delay: u64,
    /// When the wire to the RNC has sent what it has.
    wire_free: u64,
    /// The terminal of each node, if it is the end of a flow there.
    ues: Vec<Option<u32>>,
    /// The numbers of packets, by flow, direction and number at the sender.
    packets: BTreeMap<(u32, bool, u64), usize>,
    /// The number of the first SDU to each terminal.
    first: BTreeMap<u32, usize>,
    /// Places that were seen.
    places: BTreeMap<u32, ()>,
    seen: Seen,
}

impl Watcher {
    fn ue(&self, node: NodeId) -> Option<u32> {
        self.ues[node.0 as usize]
    }

    /// The number of a packet: a new one if it was not seen before.
    fn number(&mut self, packet: &Packet, down: bool) -> usize {
        let next = self.packets.len();
        *self.packets.entry((packet.flow.0, down, packet.number)).or_insert(next)
    }

    fn sdu(&mut self, at: u64, ue: u32, event: &'static str, packet: &Packet, down: bool) {
        let number = self.number(packet, down);
        let first = down && event != "SDU_DROP" && *self.first.entry(ue).or_insert(number) == number;
        let bytes = if first && event == "SDU_OUT" { last_part(packet.size) } else { packet.size };
        self.seen.sdus.push(Sdu { at, ue, event, number, bytes });
    }
}

impl Observer for Watcher {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let now = now.as_nanos();
        match *observation {
            Observation::Sent { node, packet } => match self.ue(node) {
                Some(ue) => self.sdu(now, ue, "UL_SDU_IN", packet, false),
                None => {
                    if let (Some(draws), Header::Tfrc(_)) = (&self.draws, &packet.header) {
                        draws.on_tfrc(packet.flow.0);
                    }
                    self.wire_free = self.wire_free.max(now) + u64::from(packet.size) * 8_000_000_000 / WIRE_BPS;
                    self.sdu(self.wire_free + self.wire_delay, packet.flow.0, "SDU_IN", packet, true);
                }
            },
            Observation::Received { node, packet } => match self.ue(node) {
                Some(ue) => self.sdu(now - HAND_UP, ue, "SDU_OUT", packet, true),
                None => {
                    let wire = self.wire_delay + u64::from(packet.size) * 8_000_000_000 / WIRE_BPS;
                    self.sdu(now - HAND_UP - wire, packet.flow.0, "UL_SDU_OUT", packet, false);
                }
            },
            Observation::Dropped { place, cause: Cause::Overflow, packet } => {
                self.places.insert(place.0, ());
                self.sdu(now, place.0, "SDU_DROP", packet, true);
            }
            Observation::Slot { place, block } => {
                self.places.insert(place.0, ());
                self.seen.blocks.push((now, place.0, *block));
            }
            Observation::Pdu { at, place, step: step @ PduStep::Aired, .. } => {
                if let Some(draws) = &self.draws {
                    draws.see(at, place, step);
                }
            }
            Observation::Pdu { at, place, step, pdu, .. } if matches!(step, PduStep::Sent | PduStep::Received) => {
                if let Some(draws) = &self.draws {
                    draws.see(at, place, step);
                }
                self.places.insert(place.0, ());
                let at = at.as_nanos();
                if step == PduStep::Sent {
                    self.seen.sent_pdus.push((at, place.0));
                }
                if at < EVENTS_END {
                    let event = if step == PduStep::Sent { "TX" } else { "RX" };
                    self.seen.pdus.push((at, place.0, event, values(pdu)));
                }
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The size of an SDU's last PDU. EURANE's RNC notes the size of an SDU when it begins to cut it, but not that of a terminal's first
/// (`SDU_size_` is 0 then, not -1), which leaves the terminal's RLC with this size.
fn last_part(bytes: u32) -> u32 {
    if bytes > PDU_BYTES { (bytes - 1) % PDU_BYTES + 1 } else { bytes }
}

/// EURANE's PDUs.
const PDU_BYTES: u32 = 40;

/// A PDU in EURANE's words: kind, sn, poll, fsn and bitmap.
fn values(pdu: &SeenPdu<'_>) -> [String; 5] {
    let kind = match (pdu.sn.is_some(), pdu.report.is_some()) {
        (true, false) => "DATA",
        (false, _) => "STATUS",
        (true, true) => "DATA+STATUS",
    };
    // A report that goes alone shows its first sequence number as its own.
    let sn = pdu.sn.or(pdu.report.map(|(first, ..)| first)).map_or_else(String::new, |sn| sn.to_string());
    let (first, bits) = pdu.report.map_or_else(Default::default, |(first, received, _)| {
        (first.to_string(), received.iter().map(|came| if *came { '1' } else { '0' }).collect())
    });
    [kind.to_owned(), sn, u8::from(pdu.poll).to_string(), first, bits]
}
