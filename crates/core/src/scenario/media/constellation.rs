//! Constellations of satellites as data, and from there to their medium's parts.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::space::Angle;
use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, Fault};
use crate::net::discipline::Site;
use crate::net::loss::Loss;
use crate::net::{Core, NodeId, Simulation, transmitter};
use crate::profile::Profile;
use crate::satellite::{Looks, Sending, Setup, handoff};

use crate::scenario::registry::{LossModel, Orbits, Queue};

use super::{Around, Built, Faults, Joined, Made, MediumConfig, Setting};

/// Low-orbit satellites that forward packets to one another and to terminals on the ground. Satellites are nodes called
/// `NAME.sat[0]`, `NAME.sat[1]`, …, plane by plane; terminals are nodes with names of their own. The rules are those of ns-2's
/// `satellite/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constellation {
    /// A name for results and satellites.
    pub name: String,
    /// Where the satellites are. Default: Iridium's star.
    #[serde(default = "default_orbits")]
    pub orbits: Orbits,
    /// The terminals.
    pub terminal: Vec<GroundTerminal>,
    /// The links between satellites.
    #[serde(default)]
    pub isl: Isl,
    /// The transmitter from a terminal to its satellite.
    #[serde(default)]
    pub up: SatelliteLink,
    /// The transmitter from a satellite to its terminals: one for all of them.
    #[serde(default)]
    pub down: SatelliteLink,
    /// When terminals change their satellite.
    #[serde(default)]
    pub handoff: handoff::Config,
    /// When routes are computed anew.
    #[serde(default)]
    pub routes: SatelliteRoutes,
}

/// A terminal on the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundTerminal {
    /// The node's name.
    pub node: String,
    /// How far north.
    pub latitude: Angle,
    /// How far east.
    pub longitude: Angle,
    /// The queue in front of its up-link. Default: as `up` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
}

/// The links between satellites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Isl {
    /// The rate. Default: 25 Mbit/s (ns-2's Iridium example).
    pub rate: BitRate,
    /// The queue in front of each. Default: DropTail of 50 packets (the same).
    pub queue: Queue,
    /// Losses on the way. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// How far north and south links between planes are up. Default: 60 deg (the same).
    pub latitude_limit: Angle,
    /// How often a satellite looks whether its links to other planes can be up. Default: 10 s (the
    /// same).
    pub interval: Duration,
    /// By how much a look is early or late at most, drawn anew each time. Default: 5 s (half of it, as
    /// in ns-2).
    pub jitter: Duration,
}

/// A link between satellites and the ground, in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SatelliteLink {
    /// The rate. Default: 1.5 Mbit/s (ns-2's Iridium example).
    pub rate: BitRate,
    /// The queue in front of it. Default: DropTail of 50 packets (the same).
    pub queue: Queue,
    /// Losses on the way, after transmission; for each terminal by itself. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
}

/// When routes through a constellation are computed anew. Ways are compared by their propagation delays at that time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SatelliteRoutes {
    /// When a link goes up or down, or a terminal changes its satellite.
    #[default]
    Changes,
    /// For each packet at each node (ns-2's `data_driven_computation_`). Slow.
    Packets,
}

impl Default for Isl {
    fn default() -> Self {
        Self {
            rate: BitRate::from_mbps(25),
            queue: queue_of_50(),
            loss: None,
            latitude_limit: Angle::from_degrees(60.0),
            interval: Duration::from_secs(10),
            jitter: Duration::from_secs(5),
        }
    }
}

impl Default for SatelliteLink {
    fn default() -> Self {
        Self { rate: BitRate::from_kbps(1_500), queue: queue_of_50(), loss: None }
    }
}

impl Constellation {
    /// The name of a satellite.
    fn satellite(&self, number: u32) -> String {
        format!("{}.sat[{number}]", self.name)
    }

    /// The names of its satellites.
    pub fn satellites(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.orbits.config().count()).map(|number| self.satellite(number))
    }
}

impl MediumConfig for Constellation {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "constellations"
    }

    fn joins(&self) -> Vec<Joined<'_>> {
        Vec::new()
    }

    fn makes(&self) -> Vec<Made> {
        let satellites = self.satellites().map(|name| Made::new("orbits", name));
        let ground = self.terminal.iter().enumerate();
        let ground = ground.map(|(n, terminal)| Made::new(format!("terminal[{n}].node"), terminal.node.clone()));
        satellites.chain(ground).collect()
    }

    fn countable(&self) -> Result<(), Fault> {
        self.orbits.config().check().map_err(|fault| fault.below(&format!("orbits.{}", self.orbits.name())))
    }

    fn check(&self, _around: &Around<'_>, faults: &mut Faults) {
        faults.found("handoff", self.handoff.check());
        let satellites = self.orbits.config().count();
        if self.handoff.initial.is_some_and(|satellite| satellite >= satellites) {
            let expected = format!("expected a number below {satellites}");
            faults.add("handoff.initial", "there is no such satellite", expected);
        }
        if self.terminal.is_empty() {
            faults.add("terminal", "nobody is on the ground", "expected one terminal or more");
        }
        for (n, terminal) in self.terminal.iter().enumerate() {
            if terminal.latitude.degrees().abs() > 90.0 {
                faults.add(format!("terminal[{n}].latitude"), "there is no such place", "expected -90 deg to 90 deg");
            }
            faults.queue(&format!("terminal[{n}].queue"), terminal.queue.as_ref());
        }
        if !(0.0..=90.0).contains(&self.isl.latitude_limit.degrees()) {
            faults.add("isl.latitude_limit", "there is no such latitude", "expected 0 deg to 90 deg");
        }
        faults.found("isl", handoff::looks_fault(self.isl.interval, self.isl.jitter));
        let isl = ("isl", &self.isl.queue, &self.isl.loss);
        let ground = [("up", &self.up), ("down", &self.down)].map(|(at, link)| (at, &link.queue, &link.loss));
        for (at, queue, loss) in std::iter::once(isl).chain(ground) {
            faults.queue(&format!("{at}.queue"), Some(queue));
            faults.loss(&format!("{at}.loss"), loss.as_ref());
        }
    }

    fn changing(&self) -> Range<u32> {
        let satellites = self.orbits.config().count();
        satellites..satellites + self.terminal.len() as u32
    }

    fn changes(&self) -> &'static [&'static str] {
        &["rate", "up", "loss", "loss_for"]
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built {
        if self.routes == SatelliteRoutes::Packets {
            simulation.route_every_packet();
        }
        Built::new(simulation.add_medium(ends, |core, component, ends| {
            let setup = setup(core, self, setting.profile);
            Box::new(crate::satellite::Constellation::new(core, component, ends, setup))
        }))
    }
}

/// The parts of the medium.
fn setup(core: &mut Core, constellation: &Constellation, profile: Profile) -> Setup {
    let shell = constellation.orbits.config().shell();
    let Constellation { name, isl, up, down, .. } = constellation;
    let mut make = |name: String, rate: BitRate, queue: &Queue, loss: Option<&LossModel>| {
        let place = core.place(&name);
        let delay = Duration::ZERO;
        let site = Site { name: &name, place, rate, delay, profile, streams: core.streams() };
        let queue = queue.config().build(&site);
        let errors = loss.map_or_else(Loss::default, |model| model.config().build(core.stream(&name, "loss")));
        Sending {
            setup: transmitter::Setup { place, rate, delay, reorder: true, queue, loss: Loss::default() },
            errors,
        }
    };
    let between = shell.links().into_iter().map(|link| {
        let [a, b] = link.ends.map(|end| constellation.satellite(end));
        [(&a, &b), (&b, &a)].map(|(from, to)| make(format!("{from}>{to}"), isl.rate, &isl.queue, isl.loss.as_ref()))
    });
    let isl = between.collect();
    let satellites = shell.bodies.len() as u32;
    let downs = (0..satellites)
        .map(|number| make(format!("{} down", constellation.satellite(number)), down.rate, &down.queue, None).setup);
    let downs = downs.collect();
    let ground = constellation.terminal.iter().map(|terminal| {
        let queue = terminal.queue.as_ref().unwrap_or(&up.queue);
        let up = make(format!("{} up", terminal.node), up.rate, queue, up.loss.as_ref());
        // Its name is that of the terminal's end of the down-link; only errors and drops are counted here.
        let arriving = make(format!("{} down", terminal.node), down.rate, &down.queue, down.loss.as_ref());
        let (latitude, longitude) = (terminal.latitude.degrees(), terminal.longitude.degrees());
        crate::satellite::Terminal { latitude, longitude, up, errors: arriving.errors, place: arriving.setup.place }
    });
    let terminals = ground.collect();
    Setup {
        name: name.clone(),
        shell,
        latitude_limit: constellation.isl.latitude_limit.degrees().to_radians(),
        looks: Looks {
            terminals: [constellation.handoff.interval, constellation.handoff.jitter],
            satellites: [constellation.isl.interval, constellation.isl.jitter],
            stream: core.stream(name, "looks"),
        },
        handoff: constellation.handoff.clone(),
        in_steps: constellation.routes == SatelliteRoutes::Packets,
        isl,
        down: downs,
        terminals,
    }
}

fn default_orbits() -> Orbits {
    Orbits::Star(Default::default())
}

fn queue_of_50() -> Queue {
    Queue::DropTail(Amount::Packets(50).into())
}
