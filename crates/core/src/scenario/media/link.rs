//! Point-to-point links as data, and from there to their medium's parts.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Duration};
use crate::net::clock::{Exact, Ns2};
use crate::net::discipline::Site;
use crate::net::loss::Loss;
use crate::net::trace::{Trace, TraceLink, TracedSetup, WaySetup};
use crate::net::transmitter::Setup;
use crate::net::watched::Watched;
use crate::net::{Core, End, Medium, NodeId, Place, Simulation};
use crate::net::{jitter, link};
use crate::profile::Profile;
use crate::queues::inner;
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Traces of opportunities to deliver, as mahimahi's, in the place of rates. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Traces>>,
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
    /// on a real path (ns-2: not `avoidReordering_`). Default: it may.
    #[serde(default = "yes")]
    pub reorder: bool,
    /// Jitter of packets, each way by itself. Packets keep their order, so `reorder` does not matter. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<jitter::Config>,
    /// What differs on the way back, from the second node to the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Box<Reverse>>,
}

/// Traces of a link: when up to 1,504 bytes each are delivered. The delay comes on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Traces {
    /// The trace forward: the name of a file beside the scenario, or its lines. Default: none; the link has a `rate` forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Trace>,
    /// The trace back, likewise. Default: none; the link has a rate on the way back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<Trace>,
    /// How much of the traces lies before the start of the run. Default: 0 s.
    pub start: Duration,
    /// Whether a trace begins again after its last line; else nothing is delivered any more. Default: true (mahimahi).
    pub repeat: bool,
}

impl Default for Traces {
    fn default() -> Self {
        Self { down: None, up: None, start: Duration::ZERO, repeat: true }
    }
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
        self.check_rates(faults);
        faults.found("jitter", self.jitter.as_ref().map_or(Ok(()), jitter::Config::check));
    }

    fn changing(&self) -> Range<u32> {
        0..1
    }

    fn changes(&self) -> &'static [&'static str] {
        if self.trace.is_some() { &change::OF_TRACES } else { &change::OF_LINKS }
    }

    fn keeps_ns2_clock(&self) -> bool {
        self.jitter.is_none() && self.trace.is_none()
    }

    fn rows(&self) -> usize {
        2
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built {
        let core = simulation.core_mut();
        let [forward, backward] = self.directions(core);
        let places = [forward.place, backward.place];
        let jitter = self.jitter.map(|jitter| places.map(|p| jitter.build(core.stream(core.place_name(p), "jitter"))));
        if self.trace.is_some() {
            let (forward, backward) = (forward.way(core, setting.profile), backward.way(core, setting.profile));
            self.add(simulation, ends, setting, places, |core, component, ends| {
                let mut link = TraceLink::new(core, component, ends, forward, backward);
                jitter.into_iter().for_each(|paths| link.set_paths(paths));
                Box::new(link)
            })
        } else if setting.ns2_clock {
            let (forward, backward) = (forward.setup(core, setting.profile), backward.setup(core, setting.profile));
            self.add(simulation, ends, setting, places, |core, component, ends| {
                link::Link::<Ns2>::new(core, component, ends, forward, backward).boxed()
            })
        } else {
            let (forward, backward) = (forward.setup(core, setting.profile), backward.setup(core, setting.profile));
            self.add(simulation, ends, setting, places, |core, component, ends| {
                let mut link = link::Link::<Exact>::new(core, component, ends, forward, backward);
                jitter.into_iter().for_each(|paths| link.set_paths(paths));
                link.boxed()
            })
        }
    }
}

/// One direction.
struct Direction<'l> {
    name: String,
    place: Place,
    rate: Option<BitRate>,
    trace: Option<(&'l Trace, &'l Traces)>,
    delay: Duration,
    queue: &'l Queue,
    loss: Option<&'l LossModel>,
    reorder: bool,
}

impl Link {
    /// Each direction has a rate or a trace.
    fn check_rates(&self, faults: &mut Faults) {
        let back = self.reverse.as_ref().and_then(|reverse| reverse.rate);
        let Some(traces) = &self.trace else {
            if self.rate.is_none() {
                faults.add("rate", "a link without a rate", "expected one such as \"2 Mbit/s\", or a trace");
            }
            return;
        };
        let of_both = traces.down.is_some() && traces.up.is_some();
        if (traces.down.is_none() && self.rate.is_none()) || (traces.up.is_none() && back.or(self.rate).is_none()) {
            faults.add("rate", "a direction without a rate or a trace", "expected a rate for what follows no trace");
        }
        if of_both && self.rate.is_some() {
            faults.add("rate", "both directions follow traces", "expected no rate");
        }
        if traces.up.is_some() && back.is_some() {
            faults.add("reverse.rate", "the way back follows a trace", "expected no rate");
        }
        // One that begins anew is found after any time.
        let ends_before = |trace: &&Trace| !traces.repeat && traces.start >= trace.period();
        for trace in [&traces.down, &traces.up].into_iter().flatten().filter(ends_before) {
            let message = format!("the traces begin {} before the run, and one lasts {}", traces.start, trace.period());
            faults.add("trace.start", message, "expected less than a trace lasts");
        }
    }

    fn add(
        &self,
        simulation: &mut Simulation,
        ends: &[NodeId],
        setting: &Setting,
        places: [Place; 2],
        new: impl FnOnce(&mut Core, u32, [End; 2]) -> Box<dyn Medium>,
    ) -> Built {
        let medium = simulation.add_medium(ends, |core, component, ends| {
            let link = new(core, component, [ends[0], ends[1]]);
            if !setting.shows_handovers {
                return link;
            }
            let ways = vec![(ends[1], places[0]), (ends[0], places[1])];
            Box::new(Watched::new(link, ways))
        });
        Built { medium, directions: Some(places) }
    }

    /// Its two directions.
    fn directions(&self, core: &mut Core) -> [Direction<'_>; 2] {
        let [a, b] = &self.between;
        let reverse = self.reverse.as_ref();
        let traces = self.trace.as_deref();
        let mut direction = |from: &str, to: &str| {
            let name = format!("{} {from}>{to}", self.name);
            let place = core.place(&name);
            Direction {
                name,
                place,
                rate: self.rate,
                trace: traces.and_then(|traces| Some((traces.down.as_ref()?, traces))),
                delay: self.delay,
                queue: &self.queue,
                loss: self.loss.as_ref(),
                reorder: self.reorder && self.jitter.is_none(),
            }
        };
        let (forward, backward) = (direction(a, b), direction(b, a));
        let backward = Direction {
            rate: reverse.and_then(|r| r.rate).or(self.rate),
            trace: traces.and_then(|traces| Some((traces.up.as_ref()?, traces))),
            delay: reverse.and_then(|r| r.delay).unwrap_or(self.delay),
            queue: reverse.and_then(|r| r.queue.as_ref()).unwrap_or(&self.queue),
            loss: reverse.and_then(|r| r.loss.as_ref()),
            ..backward
        };
        [forward, backward]
    }
}

impl Direction<'_> {
    fn setup(self, core: &Core, profile: Profile) -> Setup {
        let rate = self.rate.unwrap_or_default();
        let queue = self.queue.config().build(&self.site(core, rate, profile));
        let loss = self.loss(core);
        Setup { place: self.place, rate, delay: self.delay, reorder: self.reorder, queue, loss }
    }

    fn way(self, core: &Core, profile: Profile) -> WaySetup {
        let Some((trace, traces)) = self.trace else { return WaySetup::Rated(self.setup(core, profile)) };
        let site = self.site(core, trace.mean_rate(), profile);
        let queue = inner::asked(self.queue.config().build(&site), &site);
        WaySetup::Traced(TracedSetup {
            place: self.place,
            trace: trace.clone(),
            // One that repeats did so before the run, too.
            start: match traces.repeat {
                true => Duration::from_nanos(traces.start.as_nanos() % trace.period().as_nanos()),
                false => traces.start,
            },
            repeats: traces.repeat,
            delay: self.delay,
            queue,
            loss: self.loss(core),
        })
    }

    fn site<'s>(&'s self, core: &'s Core, rate: BitRate, profile: Profile) -> Site<'s> {
        Site { name: &self.name, place: self.place, rate, delay: self.delay, profile, streams: core.streams() }
    }

    fn loss(&self, core: &Core) -> Loss {
        self.loss.map_or_else(Loss::default, |model| model.config().build(core.stream(&self.name, "loss")))
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
