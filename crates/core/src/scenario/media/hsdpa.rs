//! Cells of HSDPA as data, and from there to their medium's parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, Fault, Length, Point};
use crate::net::discipline::Site;
use crate::net::{Core, NodeId, Simulation};
use crate::profile::Profile;
use crate::queues::inner::asked;
use crate::radio::hsdpa::air::{self, Air, Scene, Serving};
use crate::radio::hsdpa::{Hsdpa as Medium, Setup, Split, Terminal, layout};
use crate::radio::quality::Quality;
use crate::radio::shared_channel::SLOT;
use crate::radio::{Direction, imposed};

use crate::scenario::registry::{Queue, RateMap, Scheduler};

use super::{Around, Built, Faults, Joined, MediumConfig, Setting, countable, terminals_of};

/// Cells of HSDPA around a centre, with mobiles that stand still. The mobiles are nodes called `NAME.ue[0]`, `NAME.ue[1]`, …; a
/// flow to or from `NAME.ue[*]` stands for one flow for each of them, `NAME.ue[0:15]` for the first
/// 15. The model and its defaults are those of Landström, Larzon and Bodin (*Congestion Control in a High Speed Radio Environment*).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hsdpa {
    /// A name for results and mobiles.
    pub name: String,
    /// The node on the wired side of all base stations.
    pub node: String,
    /// How many mobiles there are, in all cells together: they are dropped uniformly over them.
    /// Default: 65.
    #[serde(default = "default_ues")]
    pub ues: u32,
    /// Where the first of them stand, as coordinates from the site in the centre: `[["100 m", "0 m"], ["400 m", "0 m"]]`. Shadowing comes on top:
    /// `air.shadowing.deviation = "0 dB"` leaves the distance alone. Default: no place is given, and all are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Point>,
    /// How many rings of cells are around the centre: 0 is one cell, 1 is seven, 2 is nineteen.
    /// Default: 1.
    #[serde(default = "default_rings")]
    pub rings: u32,
    /// The radius of the circle through the corners of a cell, which is a hexagon. Default: 500 m.
    #[serde(default = "default_radius")]
    pub radius: Length,
    /// Which site serves a mobile: that with the `strongest` signal, or that in whose `hexagon` it stands. Default: the
    /// strongest.
    #[serde(default)]
    pub serving: Serving,
    /// How good the air is.
    #[serde(default)]
    pub air: air::Config,
    /// What that buys: which format is used when, and how often it fails.
    #[serde(default = "default_rate_map")]
    pub rate_map: RateMap,
    /// The scheduler of each slot of 2 ms, in each cell. Default: `round_robin`, the mobiles in turn.
    #[serde(default = "default_scheduler")]
    pub scheduler: Scheduler,
    /// How many codes of spreading factor 16 the shared channel has. Default: 12.
    #[serde(default = "default_codes")]
    pub codes: u8,
    /// How many mobiles are served in one slot, at most. Default: 3.
    #[serde(default = "default_users")]
    pub users: u8,
    /// How they share the codes: each takes what it needs, in the scheduler's order, or all have equal shares. Default: what they need.
    #[serde(default)]
    pub split: Split,
    /// How often a block is sent, at most; after that its packets are lost. Default: until it
    /// comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The queue in front of the air, for each mobile. Packets not received yet count for its limit. Default: DropTail of 90
    /// packets.
    #[serde(default = "default_queue")]
    pub queue: Queue,
    /// The delay of packets up, from the mobile to the node. Default: 0 s.
    #[serde(default)]
    pub uplink_delay: Duration,
}

/// The most rings of cells, and the most gains between mobiles and sites.
const MOST_RINGS: u32 = 10;
const MOST_GAINS: u64 = 10_000_000;
/// The most codes of spreading factor 16 that a shared channel has (3GPP TS 25.211 §5.3.3.13).
const MOST_CODES: u8 = 15;

/// The most gains that fading draws for a mobile: one without data for long catches up at once.
const MOST_BLOCKS: u64 = 10_000_000;

impl MediumConfig for Hsdpa {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "radios"
    }

    fn joins(&self) -> Vec<Joined<'_>> {
        vec![Joined::new("node", &self.node)]
    }

    fn terminals(&self) -> u32 {
        self.ues
    }

    fn countable(&self) -> Result<(), Fault> {
        countable("a radio", self.ues)
    }

    fn check(&self, around: &Around<'_>, faults: &mut Faults) {
        self.check_places(faults);
        if let Err((part, fault)) = self.air.check() {
            faults.add(format!("air.{part}{}", fault.field), fault.message, fault.expected);
        }
        let duration = around.scenario.duration;
        if let Some(coherence) = self.air.fading.as_ref().map(|fading| fading.coherence)
            && duration.as_nanos() / MOST_BLOCKS > coherence.as_nanos()
        {
            let message = format!("a run of {duration} with another gain every {coherence}");
            faults.add("air.fading.coherence", message, format!("the most is {MOST_BLOCKS} gains"));
        }
        faults.found(&format!("rate_map.{}", self.rate_map.name()), self.rate_map.config().check());
        faults.found(&format!("scheduler.{}", self.scheduler.name()), self.scheduler.config().check());
        faults.queue("queue", Some(&self.queue));
        self.check_shares(faults);
    }

    fn changes(&self) -> &'static [&'static str] {
        &imposed::CHANGES
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built {
        Built::new(simulation.add_medium(ends, |core, component, ends| {
            Box::new(Medium::new(component, ends, setup(core, self, setting.profile)))
        }))
    }
}

impl Hsdpa {
    /// How many cells there are, how large these are, and where mobiles stand.
    fn check_places(&self, faults: &mut Faults) {
        if self.places.len() > self.ues as usize {
            let message = format!("{} places, and mobiles: {}", self.places.len(), self.ues);
            faults.add("places", message, "expected a place for each mobile at most");
        }
        if self.rings > MOST_RINGS {
            faults.add("rings", format!("{} rings of cells", self.rings), format!("expected 0 to {MOST_RINGS}"));
        } else if u64::from(self.ues) * u64::from(3 * self.rings * (self.rings + 1) + 1) > MOST_GAINS {
            let message = format!("{} mobiles that see {} rings of cells", self.ues, self.rings);
            faults.add("rings", message, "expected fewer of one or the other");
        }
        if self.radius.metres() <= 0.0 {
            faults.add("radius", format!("cells with a radius of {}", self.radius), "expected more than 0 m");
        }
    }

    /// How a slot is shared.
    fn check_shares(&self, faults: &mut Faults) {
        if !(1..=MOST_CODES).contains(&self.codes) {
            let message = format!("a shared channel of {} codes", self.codes);
            faults.add("codes", message, format!("expected 1 to {MOST_CODES}"));
        }
        if self.users == 0 {
            faults.add("users", "a slot for nobody", "expected 1 or more");
        }
        if self.attempts == Some(0) {
            faults.add("attempts", "a block that is never sent", "expected 1 or more");
        }
    }
}

/// The parts of the medium.
fn setup(core: &mut Core, hsdpa: &Hsdpa, profile: Profile) -> Setup {
    let names: Vec<String> = terminals_of(&hsdpa.name, hsdpa.ues).collect();
    let sites = layout::sites(hsdpa.rings, hsdpa.radius);
    let scene =
        Scene { sites: &sites, radius: hsdpa.radius, serving: hsdpa.serving, mobiles: &names, places: &hsdpa.places };
    let air = Air::new(&hsdpa.air, &scene, core.streams());
    let rate_map = hsdpa.rate_map.config().build();
    let terminal = |(number, name): (u32, &String)| {
        let places = [Direction::Down, Direction::Up].map(|way| core.place(&format!("{name} {}", way.name())));
        let bits = rate_map.grant(air.usual(number), u64::MAX, hsdpa.codes).map_or(1, |grant| grant.bits);
        let site = Site {
            name,
            place: places[0],
            rate: BitRate::from_bps(u64::from(bits) * 1_000_000_000 / SLOT.as_nanos()),
            delay: SLOT,
            profile,
            streams: core.streams(),
        };
        let queue = asked(hsdpa.queue.config().build(&site), &site);
        Terminal { cell: air.cell(number), places, queue, errors: core.stream(name, "blocks") }
    };
    let terminals = (0..).zip(&names).map(terminal).collect();
    Setup {
        name: hsdpa.name.clone(),
        air: Box::new(air),
        rate_map: hsdpa.rate_map.config().build(),
        schedulers: sites.iter().map(|_| hsdpa.scheduler.config().build(SLOT)).collect(),
        codes: hsdpa.codes,
        users: hsdpa.users,
        split: hsdpa.split,
        attempts: hsdpa.attempts,
        uplink_delay: hsdpa.uplink_delay,
        terminals,
    }
}

fn default_ues() -> u32 {
    65
}

fn default_rings() -> u32 {
    1
}

fn default_radius() -> Length {
    Length::from_metres(500.0)
}

fn default_rate_map() -> RateMap {
    RateMap::Modulation(Default::default())
}

fn default_scheduler() -> Scheduler {
    Scheduler::RoundRobin(Default::default())
}

fn default_codes() -> u8 {
    12
}

fn default_users() -> u8 {
    3
}

fn default_queue() -> Queue {
    Queue::DropTail(Amount::Packets(90).into())
}
