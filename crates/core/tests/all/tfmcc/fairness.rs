//! TFMCC beside TCP over a wired bottleneck.
//!
//! Between links without any randomness a drop-tail queue shares by phase: a flow whose packets come just after a departure finds room,
//! always (Floyd, Jacobson 1992, "On Traffic Phase Effects in Packet-Switched Gateways"). So the ways to the bottleneck differ in
//! length, and bursts of small datagrams cross it in both directions, a twentieth of its rate.

use lasthop_core::engine::{BitRate, Duration};
use lasthop_core::net::discipline::QueueConfig;
use lasthop_core::net::{Address, FlowId, NodeId, Simulation};
use lasthop_core::queues::red;
use lasthop_core::traffic::onoff;
use lasthop_core::transport::{tcp, tfrc, udp};
use serde_json::json;

use super::network::{Line, config, droptail, flow, flow_of, receivers, run, tfmcc};

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
const SEEDS: u64 = 5;

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

/// What competes with TCP.
#[derive(Clone, Copy)]
enum Rival {
    Tfmcc,
    /// For comparison: the same equation and loss history, without a group.
    Tfrc,
}

/// The rate of a rival over the mean rate of the flows of TCP, all with packets of 1500 B.
fn ratio(rival: Rival, cell: Cell, seed: u64) -> f64 {
    let mut simulation = Simulation::new(seed);
    let [left, right] = ["left", "right"].map(|name| simulation.add_node(name));
    let bottleneck = queue(cell);
    let delay = Duration::from_micros(cell.rtt * 500 - 2_000);
    Line { rate: BitRate::from_kbps(cell.kbps), delay, queue: &*bottleneck, loss: 0.0 }.add(
        &mut simulation,
        "bottleneck",
        left,
        right,
    );
    let wide = droptail(1000);
    let mut starts = simulation.core().stream("cell", "starts");
    let mut access = || {
        let delay = Duration::from_secs_f64(starts.uniform(0.0, 2e-3));
        Line { rate: BitRate::from_mbps(100), delay, queue: &wide, loss: 0.0 }
    };
    let pairs: Vec<[NodeId; 2]> = (0..=cell.tcps)
        .map(|n| {
            let [from, to] = ["from", "to"].map(|end| simulation.add_node(&format!("{end} {n}")));
            access().add(&mut simulation, &format!("from {n}"), from, left);
            access().add(&mut simulation, &format!("to {n}"), right, to);
            [from, to]
        })
        .collect();
    let bursts: onoff::Config = config(json!({
        "rate": format!("{} bit/s", cell.kbps * 1000 / 20),
        "size": "160 B",
        "on": "100 ms",
        "off": "300 ms",
        "distribution": "exponential",
    }));
    for n in 0..8 {
        let [from, to] = if n % 2 == 0 { [pairs[0][0], pairs[0][1]] } else { [pairs[0][1], pairs[0][0]] };
        let name = format!("bursts {n}");
        flow_of(&mut simulation, &name, &bursts, &udp::Config::default(), from, Address::Node(to), 0.0);
    }
    let tcp: tcp::Config = config(json!({ "variant": "sack" }));
    let mut flows: Vec<FlowId> = Vec::new();
    for (n, [from, to]) in pairs.iter().enumerate() {
        let start = starts.uniform(0.0, 5.0);
        flows.push(match n {
            0 => match rival {
                Rival::Tfmcc => tfmcc(&mut simulation, json!({}), *from, vec![*to], start),
                Rival::Tfrc => {
                    flow(&mut simulation, "tfrc", &tfrc::Config::default(), *from, Address::Node(*to), start)
                }
            },
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
fn mean(rival: Rival, cell: Cell, seeds: u64) -> f64 {
    (1..=seeds).map(|seed| ratio(rival, cell, seed)).sum::<f64>() / seeds as f64
}

/// A cell in the middle of the table, and one at each end of it.
#[test]
fn tfmcc_and_tcp_share_within_a_factor_of_two() {
    for (kbps, rtt, tcps, red) in [(500, 200, 1, true), (2000, 100, 4, false), (2000, 20, 4, true)] {
        let cell = Cell { kbps, rtt, tcps, red };
        let ratio = mean(Rival::Tfmcc, cell, 2);
        assert!((0.5..=2.0).contains(&ratio), "{cell:?}: {ratio}");
    }
}

/// The cells outside a factor of two, all with drop-tail queues: small windows in a short queue. `docs/protocols/tfmcc.md` says why.
const OUTSIDE: &[(u64, u64, usize)] =
    &[(500, 20, 1), (500, 20, 4), (500, 100, 16), (500, 200, 16), (2000, 20, 1), (2000, 20, 16), (2000, 100, 16)];

/// All 54, as a table of the docs: RFC 4654 §1.1 calls a factor of two reasonably fair.
#[test]
#[ignore = "takes minutes"]
fn the_whole_table() {
    let (mut all, mut outside): (Vec<f64>, Vec<_>) = Default::default();
    println!("kbit/s, ms, TCP, queue: TFMCC, TFRC");
    for cell in cells() {
        let Cell { kbps, rtt, tcps, red } = cell;
        let [ratio, tfrc] = [Rival::Tfmcc, Rival::Tfrc].map(|rival| mean(rival, cell, SEEDS));
        println!("{kbps}, {rtt}, {tcps}, {}: {ratio:.2}, {tfrc:.2}", if red { "RED" } else { "DropTail" });
        let listed = !red && OUTSIDE.contains(&(kbps, rtt, tcps));
        if !listed && !(0.5..=2.0).contains(&ratio) {
            outside.push((cell, ratio));
        }
        all.push(ratio);
    }
    all.sort_by(f64::total_cmp);
    let median = all[all.len() / 2];
    println!("median {median:.2}");
    assert!((0.7..=1.4).contains(&median), "{median}");
    assert!(outside.is_empty(), "{outside:?}");
}
