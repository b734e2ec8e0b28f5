//! Networks of links for these tests, and what their ends say of themselves.

use std::collections::BTreeMap;

use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::multicast::tfmcc;
use lasthop_core::net::clock::Exact;
use lasthop_core::net::discipline::{QueueConfig, Site};
use lasthop_core::net::link::Link;
use lasthop_core::net::loss::{Loss, LossConfig, bernoulli};
use lasthop_core::net::simulation::Group;
use lasthop_core::net::transmitter::Setup;
use lasthop_core::net::{Address, FlowId, Histogram, NodeId, Probe, Simulation, What};
use lasthop_core::profile::Profile;
use lasthop_core::traffic::{SourceConfig, greedy};
use lasthop_core::transport::TransportConfig;
use serde_json::{Value, json};

/// A configuration written as data.
pub fn config<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A drop-tail queue of `packets` packets.
pub fn droptail(packets: usize) -> lasthop_core::queues::droptail::Config {
    config(json!({ "limit": format!("{packets} packets") }))
}

/// A link in both directions; a share of the packets from `a` to `b` is lost.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    pub rate: BitRate,
    pub delay: Duration,
    pub queue: &'a dyn QueueConfig,
    pub loss: f64,
}

impl Line<'_> {
    pub fn add(&self, simulation: &mut Simulation, name: &str, a: NodeId, b: NodeId) {
        let Self { rate, delay, queue, loss } = *self;
        let profile = Profile::default();
        simulation.add_medium(&[a, b], |core, component, ends| {
            let setups = ["forward", "back"].map(|way| {
                let name = format!("{name} {way}");
                let place = core.place(&name);
                let site = Site { name: &name, place, rate, delay, profile, streams: core.streams() };
                let queue = queue.build(&site);
                let loss = match loss {
                    p if p > 0.0 && way == "forward" => {
                        config::<bernoulli::Config>(json!({ "p": p })).build(core.stream(&name, "loss"))
                    }
                    _ => Loss::default(),
                };
                Setup { place, rate, delay, reorder: true, queue, loss }
            });
            let [forward, back] = setups;
            Link::<Exact>::new(core, component, [ends[0], ends[1]], forward, back).boxed()
        });
    }
}

/// A flow that always has something to send.
pub fn flow(
    simulation: &mut Simulation,
    name: &str,
    transport: &dyn TransportConfig,
    from: NodeId,
    to: Address,
    start: f64,
) -> FlowId {
    flow_of(simulation, name, &greedy::Config::default(), transport, from, to, start)
}

/// A flow of some source.
pub fn flow_of(
    simulation: &mut Simulation,
    name: &str,
    source: &dyn SourceConfig,
    transport: &dyn TransportConfig,
    from: NodeId,
    to: Address,
    start: f64,
) -> FlowId {
    let streams = simulation.core().streams().clone();
    let stream = |purpose: &str| streams.stream(name, purpose);
    let start = Instant::from_secs_f64(start);
    let source = source.build(start, stream("source"));
    let profile = Profile::default();
    simulation.add_flow(
        from,
        to,
        start,
        source,
        |seat| transport.sender(seat, profile, stream("sender")),
        |seat| transport.receiver(seat, profile, stream(&format!("receiver {}", seat.local.node.0))),
    )
}

/// TFMCC to a group of `members`.
pub fn tfmcc(simulation: &mut Simulation, value: Value, from: NodeId, members: Vec<NodeId>, start: f64) -> FlowId {
    let group = simulation.add_group(Group::instant(members));
    flow(simulation, "tfmcc", &config::<tfmcc::Config>(value), from, Address::Group(group), start)
}

/// Values by name, a map for each part.
#[derive(Default)]
pub struct Values(pub Vec<BTreeMap<&'static str, f64>>);

impl Probe for Values {
    fn part(&mut self, _what: What, _name: &str) {
        self.0.push(BTreeMap::new());
    }
    fn value(&mut self, name: &'static str, value: f64) {
        if self.0.is_empty() {
            self.0.push(BTreeMap::new());
        }
        self.0.last_mut().unwrap().insert(name, value);
    }
    fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram) {
        if let Some(median) = histogram.quantile(0.5) {
            self.value(name, median * scale);
        }
    }
}

/// What a flow's sender says.
pub fn sender(simulation: &Simulation, flow: FlowId) -> BTreeMap<&'static str, f64> {
    let mut values = Values::default();
    simulation.sample_sender(flow, &mut values);
    values.0.remove(0)
}

/// What its receivers say.
pub fn receivers(simulation: &Simulation, flow: FlowId) -> Vec<BTreeMap<&'static str, f64>> {
    let mut values = Values::default();
    simulation.sample_receivers(flow, &mut values);
    values.0
}

/// Runs until then, and checks that no packet is missing.
pub fn run(simulation: &mut Simulation, seconds: f64) {
    simulation.run_until(Instant::from_secs_f64(seconds), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
}
