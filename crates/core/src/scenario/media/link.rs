//! Point-to-point links as data, and from there to their medium's parts.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Duration};
use crate::net::clock::{Clock, Exact, Ns2};
use crate::net::discipline::Site;
use crate::net::jitter;
use crate::net::loss::Loss;
use crate::net::transmitter::Setup;
use crate::net::watched::Watched;
use crate::net::{Core, End, NodeId, Simulation};
use crate::profile::Profile;
use crate::scenario::change;
use crate::scenario::diagnostic::shown;
use crate::scenario::registry::{LossModel, Queue};

use super::{Around, Built, Faults, Joined, MediumConfig, Setting};

/// A point-to-point link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// A name for results and changes.
    pub name: String,
    /// The two nodes. Forward is from the first to the second.
    pub between: [String; 2],
    /// The rate, in both directions.
    pub rate: BitRate,
    /// The propagation delay, in both directions. Default: 10 ms.
    #[serde(default = "default_delay")]
    pub delay: Duration,
    /// The queue in front of the link, in both directions. Default: DropTail of 100 packets.
    #[serde(default = "default_queue")]
    pub queue: Queue,
    /// Losses of packets sent forward. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Whether a packet may overtake one that was sent before the delay became shorter, as it would
    /// on a real path. Default: (ns-2: not `avoidReordering_`.)
    #[serde(default = "yes")]
    pub reorder: bool,
    /// Jitter of packets, each way by itself. Packets keep their order, so `reorder` does not matter. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<jitter::Config>,
    /// What differs on the way back, from the second node to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Reverse>,
}

/// What differs on the way back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reverse {
    /// The rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// The propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Losses of packets sent back. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
}

impl MediumConfig for Link {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "links"
    }

    fn joins(&self) -> Vec<Joined<'_>> {
        ["between[0]", "between[1]"].into_iter().zip(&self.between).map(|(at, name)| Joined::new(at, name)).collect()
    }

    fn check(&self, _around: &Around<'_>, faults: &mut Faults) {
        if self.between[0] == self.between[1] {
            let message = format!("link {} goes from {} to itself", shown(&self.name), shown(&self.between[0]));
            faults.add("between", message, "expected two nodes");
        }
        let reverse = self.reverse.as_ref();
        for (path, queue) in [("queue", Some(&self.queue)), ("reverse.queue", reverse.and_then(|r| r.queue.as_ref()))] {
            faults.queue(path, queue);
        }
        for (path, loss) in [("loss", self.loss.as_ref()), ("reverse.loss", reverse.and_then(|r| r.loss.as_ref()))] {
            faults.loss(path, loss);
        }
        faults.found("jitter", self.jitter.as_ref().map_or(Ok(()), jitter::Config::check));
    }

    fn changing(&self) -> Range<u32> {
        0..1
    }

    fn changes(&self) -> &'static [&'static str] {
        &change::OF_LINKS
    }

    fn keeps_ns2_clock(&self) -> bool {
        self.jitter.is_none()
    }

    fn rows(&self) -> usize {
        2
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built {
        if setting.ns2_clock {
            self.add::<Ns2>(simulation, ends, setting)
        } else {
            self.add::<Exact>(simulation, ends, setting)
        }
    }
}

impl Link {
    fn add<C: Clock>(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built {
        let [forward, backward] = self.setups(simulation.core_mut(), setting.profile);
        let (places, jitter) = ([forward.place, backward.place], self.jitter);
        let new = |core: &mut Core, component: u32, ends: &[End]| {
            let mut link = crate::net::link::Link::<C>::new(core, component, [ends[0], ends[1]], forward, backward);
            if let Some(jitter) = jitter {
                link.set_paths(places.map(|place| jitter.build(core.stream(core.place_name(place), "jitter"))));
            }
            link
        };
        let medium = if setting.shows_handovers {
            simulation.add_medium(ends, |core, component, ends| {
                let ways = vec![(ends[1], places[0]), (ends[0], places[1])];
                Watched::new(new(core, component, ends), ways)
            })
        } else {
            simulation.add_medium(ends, new)
        };
        Built { medium, directions: Some(places) }
    }

    /// Its two directions.
    fn setups(&self, core: &mut Core, profile: Profile) -> [Setup; 2] {
        let reverse = self.reverse.clone().unwrap_or_default();
        let [a, b] = &self.between;
        let forward = (self.rate, self.delay, &self.queue, self.loss.as_ref());
        let backward = (
            reverse.rate.unwrap_or(self.rate),
            reverse.delay.unwrap_or(self.delay),
            reverse.queue.as_ref().unwrap_or(&self.queue),
            reverse.loss.as_ref(),
        );
        let mut setup = |from: &str, to: &str, (rate, delay, queue, loss): (_, _, &Queue, Option<&LossModel>)| {
            let name = format!("{} {from}>{to}", self.name);
            let place = core.place(name.clone());
            let site = Site { name: &name, place, rate, delay, profile, streams: core.streams() };
            let queue = queue.config().build(&site);
            let loss = loss.map_or_else(Loss::default, |model| model.config().build(core.stream(&name, "loss")));
            Setup { place, rate, delay, reorder: self.reorder && self.jitter.is_none(), queue, loss }
        };
        [setup(a, b, forward), setup(b, a, backward)]
    }
}

fn default_delay() -> Duration {
    Duration::from_millis(10)
}

fn default_queue() -> Queue {
    Queue::DropTail(Default::default())
}

fn yes() -> bool {
    true
}
