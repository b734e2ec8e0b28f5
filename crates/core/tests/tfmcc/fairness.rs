//! TFMCC beside TCP over a wired bottleneck.

use lasthop_core::engine::{BitRate, Duration};
use lasthop_core::net::discipline::QueueConfig;
use lasthop_core::net::disciplines::red;
use lasthop_core::net::{Address, FlowId, NodeId, Simulation};
use lasthop_core::transport::tcp;
use serde_json::json;

use super::network::{Line, config, droptail, flow, receivers, run, tfmcc};

/// A bottleneck: rate in kbit/s, round-trip time in ms, flows of TCP, and whether its queue is RED.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kbps: u64,
    rtt: u64,
    tcps: usize,
    red: bool,
}

const WARM_UP: f64 = 60.0;
const END: f64 = 360.0;

/// The queue: the bandwidth-delay product, and at least three packets for each flow and ten. RED's thresholds are a sixth and half of
/// twice that.
fn queue(cell: Cell) -> Box<dyn QueueConfig> {
    let product = cell.kbps * cell.rtt / (8 * 1500);
    let packets = (product as usize).max(3 * (cell.tcps + 1)).max(10);
    if cell.red {
        let (min, max) = (packets as f64 / 3.0, packets as f64);
        let value = json!({ "limit": format!("{} packets", 2 * packets), "min": min, "max": max });
        Box::new(config::<red::Config>(value))
    } else {
        Box::new(droptail(packets))
    }
}

/// The rate of TFMCC over the mean rate of the flows of TCP, all with packets of 1500 B.
fn ratio(cell: Cell, seed: u64) -> f64 {
    let mut simulation = Simulation::new(seed);
    let [left, right] = ["left", "right"].map(|name| simulation.add_node(name));
    let bottleneck = queue(cell);
    let delay = Duration::from_micros(cell.rtt * 500 - 2_000);
    Line { rate: BitRate::from_kbps(cell.kbps), delay, queue: &*bottleneck, loss: 0.0 }.add(&mut simulation, "bottleneck", left, right);
    let wide = droptail(1000);
    let access = Line { rate: BitRate::from_mbps(100), delay: Duration::from_millis(1), queue: &wide, loss: 0.0 };
    let pairs: Vec<[NodeId; 2]> = (0..=cell.tcps)
        .map(|n| {
            let [from, to] = ["from", "to"].map(|end| simulation.add_node(&format!("{end} {n}")));
            access.add(&mut simulation, &format!("from {n}"), from, left);
            access.add(&mut simulation, &format!("to {n}"), right, to);
            [from, to]
        })
        .collect();
    let mut starts = simulation.core().stream("cell", "starts");
    let tcp: tcp::Config = config(json!({ "variant": "sack" }));
    let mut flows: Vec<FlowId> = Vec::new();
    for (n, [from, to]) in pairs.iter().enumerate() {
        let start = starts.uniform(0.0, 5.0);
        flows.push(match n {
            0 => tfmcc(&mut simulation, json!({}), *from, vec![*to], start),
            _ => flow(&mut simulation, &format!("tcp {n}"), &tcp, *from, Address::Node(*to), start),
        });
    }
    simulation.route();
    let received = |simulation: &Simulation| -> Vec<f64> {
        flows.iter().map(|&flow| receivers(simulation, flow)[0]["received_packets"]).collect()
    };
    run(&mut simulation, WARM_UP);
    let before = received(&simulation);
    run(&mut simulation, END);
    let rates: Vec<f64> = received(&simulation).iter().zip(before).map(|(after, before)| after - before).collect();
    rates[0] / (rates[1..].iter().sum::<f64>() / cell.tcps as f64)
}

fn cells() -> impl Iterator<Item = Cell> {
    let each = |kbps| [20, 100, 200].into_iter().map(move |rtt| (kbps, rtt));
    let pairs = [500, 2000, 10_000].into_iter().flat_map(each);
    let triples = pairs.flat_map(|(kbps, rtt)| [1, 4, 16].map(move |tcps| (kbps, rtt, tcps)));
    triples.flat_map(|(kbps, rtt, tcps)| [false, true].map(|red| Cell { kbps, rtt, tcps, red }))
}

/// The mean over `seeds` runs.
fn mean(cell: Cell, seeds: u64) -> f64 {
    (1..=seeds).map(|seed| ratio(cell, seed)).sum::<f64>() / seeds as f64
}

/// All of them, three runs each.
#[test]
#[ignore = "takes minutes"]
fn the_whole_table() {
    let mut all: Vec<f64> = Vec::new();
    let mut outside = 0;
    for cell in cells() {
        let ratio = mean(cell, 3);
        let Cell { kbps, rtt, tcps, red } = cell;
        println!("{kbps} kbit/s, {rtt} ms, {tcps} TCP, {}: {ratio:.2}", if red { "RED" } else { "DropTail" });
        outside += u32::from(!(0.5..=2.0).contains(&ratio));
        all.push(ratio);
    }
    all.sort_by(f64::total_cmp);
    println!("median {:.2}, {outside} outside", all[all.len() / 2]);
}
