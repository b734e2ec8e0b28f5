//! Large groups: how many receivers report.

use lasthop_core::engine::{BitRate, Duration};
use lasthop_core::net::{FlowId, NodeId, Simulation};
use serde_json::{Value, json};

use super::network::{Line, droptail, receivers, run, sender, tfmcc};

/// `n` receivers behind a router, 150 and `delay` ms from the source. What is lost, all of them miss.
fn star(n: usize, config: Value, rate: BitRate, delay: u64, loss: f64) -> (Simulation, FlowId) {
    let mut simulation = Simulation::new(7);
    let [source, router] = ["source", "router"].map(|name| simulation.add_node(name));
    let queue = droptail(50);
    let ms = Duration::from_millis;
    let up = Line { rate, delay: ms(150), queue: &queue, loss };
    up.add(&mut simulation, "up", source, router);
    let leaf = Line { rate: BitRate::from_mbps(100), delay: ms(delay), queue: &queue, loss: 0.0 };
    let members: Vec<NodeId> = (0..n)
        .map(|n| {
            let node = simulation.add_node(&format!("leaf {n}"));
            leaf.add(&mut simulation, &format!("leaf {n}"), router, node);
            node
        })
        .collect();
    let flow = tfmcc(&mut simulation, config, source, members, 0.0);
    simulation.route();
    (simulation, flow)
}

/// With F(t) = N^(t/T−1) and D from a report to its being heard, n·F(D) + N^(D/T)·∫ n(1−u)^(n−1) du of n receivers report (see the
/// feedback timer's own test). D is the round-trip time and, on average, half of the time between two packets; a sixth of T and a
/// little more. One of n + 1 receivers is the CLR, which does not count.
#[test]
fn few_report_however_many_there_are() {
    let rounds_of = |n: usize| if n < 1000 { 400.0 } else { 60.0 };
    for (n, seconds) in [(1, 1500.0), (10, 1500.0), (100, 1500.0), (1000, 500.0)] {
        let (mut simulation, flow) = star(n + 1, json!({}), BitRate::from_mbps(100), 100, 0.01);
        run(&mut simulation, 50.0);
        let total = |s: &Simulation| {
            let state = sender(s, flow);
            (state["rounds"], state["rounds"] * state["reports_per_round"])
        };
        let before = total(&simulation);
        run(&mut simulation, seconds);
        let after = total(&simulation);
        let rounds = after.0 - before.0;
        assert!(rounds > rounds_of(n), "{n}: {rounds} rounds");
        let mean = (after.1 - before.1) / rounds;
        let interval = 1452.0 * 8.0 / sender(&simulation, flow)["rate_bps"];
        let share = (0.5 + 0.5 * interval) / (6.0 * 0.5);
        let (count, power) = (n as f64, libm::pow(1e4, share));
        let late = power * (libm::pow(1.0 - 1e-4, count) - libm::pow(1.0 - 1.0 / power, count));
        let expected = count * 1e-4 * power + late;
        println!("{n}: {mean:.2} in {rounds} rounds, expected {expected:.2}");
        assert!((mean / expected - 1.0).abs() < 0.15, "{n}: {mean} reports in a round, not {expected}");
    }
}

/// 10,000 receivers for a minute, at 384 kbit/s or what the losses leave of it. Asked for by name: it takes its time and memory.
#[test]
#[ignore = "takes up to a minute"]
fn ten_thousand_receivers() {
    let (mut simulation, flow) = star(10_000, json!({}), BitRate::from_kbps(384), 20, 0.001);
    run(&mut simulation, 60.0);
    let state = sender(&simulation, flow);
    println!(
        "{} packets, {:.2} reports in each of {} rounds",
        state["sent_packets"], state["reports_per_round"], state["rounds"]
    );
    assert!(state["reports_per_round"] < 20.0, "{state:?}");
}

/// A receiver that tells losses apart does the same arithmetic and keeps the same state as one that does not.
#[test]
fn classifiers_cost_no_arithmetic() {
    let values = ["all", "toggle"].map(|classifier| {
        let (mut simulation, flow) = star(3, json!({ "classifier": classifier }), BitRate::from_kbps(500), 20, 0.0);
        run(&mut simulation, 20.0);
        let all = receivers(&simulation, flow);
        assert!(all.iter().all(|receiver| receiver["received_packets"] > 100.0));
        ["additions_in", "state_bytes"].map(|name| all.iter().map(|receiver| receiver[name]).fold(0.0, f64::max))
    });
    assert_eq!(values[0][1], values[1][1], "bytes of state");
    assert!(values[1][0] <= values[0][0], "additions: {values:?}");
}
