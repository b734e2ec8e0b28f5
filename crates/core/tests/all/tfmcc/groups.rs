//! Large groups: how many receivers report.

use lasthop_core::engine::{BitRate, Duration};
use lasthop_core::net::{FlowId, NodeId, Simulation};
use serde_json::{Value, json};

use super::network::{Line, droptail, receivers, run, sender, tfmcc};

/// `n` receivers behind a router, 150 and `delay` ms from the source, that miss the same packets: a share `loss` of all. With `worst`
/// there is one more, which misses this share in addition.
struct Star {
    n: usize,
    rate: BitRate,
    delay: u64,
    loss: f64,
    worst: Option<f64>,
}

impl Star {
    fn build(&self, config: Value) -> (Simulation, FlowId) {
        let mut simulation = Simulation::new(7);
        let [source, router] = ["source", "router"].map(|name| simulation.add_node(name));
        let queue = droptail(50);
        let ms = Duration::from_millis;
        let up = Line { rate: self.rate, delay: ms(150), queue: &queue, loss: self.loss };
        up.add(&mut simulation, "up", source, router);
        let losses = std::iter::repeat_n(0.0, self.n).chain(self.worst);
        let members: Vec<NodeId> = (0..)
            .zip(losses)
            .map(|(n, loss)| {
                let node = simulation.add_node(&format!("leaf {n}"));
                let leaf = Line { rate: BitRate::from_mbps(100), delay: ms(self.delay), queue: &queue, loss };
                leaf.add(&mut simulation, &format!("leaf {n}"), router, node);
                node
            })
            .collect();
        let flow = tfmcc(&mut simulation, config, source, members, 0.0);
        simulation.route();
        (simulation, flow)
    }
}

/// `n` equal receivers and a worse one, which is the CLR and does not count: how many of them report in a round, over `seconds` simulated
/// seconds, and how many are expected to.
///
/// With F(t) = N^(t/T−1) and D from a report to its being heard, n·F(D) + N^(D/T)·∫ n(1−u)^(n−1) du of n receivers report (see the
/// feedback timer's own test). D is the round-trip time and, on average, half of the time between two packets; a sixth of T and a
/// little more.
fn reports(n: usize, seconds: f64) -> [f64; 2] {
    let star = Star { n, rate: BitRate::from_mbps(100), delay: 100, loss: 0.001, worst: Some(0.004) };
    let (mut simulation, flow) = star.build(json!({}));
    run(&mut simulation, 100.0);
    let total = |s: &Simulation| {
        let state = sender(s, flow);
        [state["rounds"], state["rounds"] * state["reports_per_round"], state["clr_changes"]]
    };
    let before = total(&simulation);
    run(&mut simulation, 100.0 + seconds);
    let [rounds, reports, changes] = std::array::from_fn(|place| total(&simulation)[place] - before[place]);
    assert!(rounds > seconds / 3.5, "{n}: {rounds} rounds");
    let interval = 1452.0 * 8.0 / sender(&simulation, flow)["rate_bps"];
    let share = (0.5 + 0.5 * interval) / (6.0 * 0.5);
    let (count, power) = (n as f64, libm::pow(1e4, share));
    let late = power * (libm::pow(1.0 - 1e-4, count) - libm::pow(1.0 - 1.0 / power, count));
    let expected = count * 1e-4 * power + late;
    println!("{n}: {:.3} in {rounds} rounds, expected {expected:.3}; {changes} changes of CLR", reports / rounds);
    [reports / rounds, expected]
}

/// Within 15 % of the expected number.
fn check_reports(n: usize, seconds: f64) {
    let [mean, expected] = reports(n, seconds);
    assert!((mean / expected - 1.0).abs() < 0.15, "{n}: {mean} reports in a round, not {expected}");
}

#[test]
fn few_report_however_many_there_are() {
    for (n, seconds) in [(1, 3000.0), (10, 6000.0), (100, 6000.0), (1000, 1000.0)] {
        check_reports(n, seconds);
    }
}

/// The same with 10,000. Asked for by name: it takes minutes.
#[test]
#[ignore = "takes minutes"]
fn few_report_of_ten_thousand() {
    check_reports(10_000, 500.0);
}

/// 10,000 receivers for a minute, at 384 kbit/s or what the losses leave of it. Asked for by name: it takes its time and memory.
#[test]
#[ignore = "takes up to a minute"]
fn ten_thousand_receivers() {
    let star = Star { n: 10_000, rate: BitRate::from_kbps(384), delay: 20, loss: 0.001, worst: None };
    let (mut simulation, flow) = star.build(json!({}));
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
        let star = Star { n: 3, rate: BitRate::from_kbps(500), delay: 20, loss: 0.0, worst: None };
        let (mut simulation, flow) = star.build(json!({ "classifier": classifier }));
        run(&mut simulation, 20.0);
        let all = receivers(&simulation, flow);
        assert!(all.iter().all(|receiver| receiver["received_packets"] > 100.0));
        ["additions_in", "state_bytes"].map(|name| all.iter().map(|receiver| receiver[name]).fold(0.0, f64::max))
    });
    assert_eq!(values[0][1], values[1][1], "bytes of state");
    assert!(values[1][0] <= values[0][0], "additions: {values:?}");
}
