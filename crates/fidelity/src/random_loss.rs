//! Compares means over seeds: Welch's test for each cell, with Holm's correction over all.
//!
//! The reference has the seeds 1, 2, 3, … of ns-2's generator, and with these the runs do not
//! begin independently: the first number grows in proportion to the seed, so the SYN is lost in
//! every run or in none, and slow start ends early in every run. Runs with independent losses
//! could not agree with that. So we lose what ns-2's generator loses, for each of its seeds; the
//! phase of the sender's clock, which the index does not give, is drawn several times for each.

use lasthop_core::engine::Duration;
use lasthop_core::scenario::session::{Results, Session};

use crate::build::{self, Obstacle};
use crate::families::Outcomes;
use crate::in_parallel;
use crate::index::{Flow, Network, RandomLoss, Summary};
use crate::means::{Mean, Test, rejected, welch};
use crate::mrg::Mrg32k3a;
use crate::report::Outcome;

/// Our runs for each of ns-2's seeds.
const PHASES: u64 = 4;
/// Between samples of the smoothed round-trip time.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);
/// The compared quantities.
const COLUMNS: [&str; 6] = ["goodput_bps", "packets_sent", "retransmissions", "timeouts", "window_cuts", "mean_srtt_s"];

/// Compares each variant at each loss rate.
pub fn compare(family: &RandomLoss, jobs: usize) -> Outcomes {
    let runs: Vec<(usize, u32, u64)> = family
        .seeds
        .iter()
        .enumerate()
        .flat_map(|(cell, seeds)| seeds.iter().map(move |seed| (cell, *seed)))
        .flat_map(|(cell, seed)| (0..PHASES).map(move |phase| (cell, seed, phase)))
        .collect();
    let values = in_parallel(jobs, &runs, |&(cell, seed, phase)| run(family, &family.summary[cell], seed, phase));
    let mut values = runs.iter().map(|(cell, ..)| *cell).zip(values).peekable();
    let mut tests = Vec::new();
    let mut lines = Vec::new();
    for (cell, summary) in family.summary.iter().enumerate() {
        let name = format!("{}-{}", summary.variant, summary.loss);
        let own = std::iter::from_fn(|| values.next_if(|(of, _)| *of == cell)).map(|(_, result)| result);
        match own.collect::<Result<Vec<_>, _>>() {
            Err(outcome) => lines.push((name, outcome)),
            Ok(values) => {
                let own = cells(summary, &values);
                lines.push((
                    name,
                    match &own {
                        Ok(own) => Outcome::Same(own.len()),
                        Err(message) => Outcome::Failed(message.clone()),
                    },
                ));
                tests.extend(own.into_iter().flatten().map(|test| (cell, test)));
            }
        }
    }
    for (cell, words) in rejected(tests) {
        match &mut lines[cell].1 {
            Outcome::Differs(_, before) => {
                before.push_str("; ");
                before.push_str(&words);
            }
            outcome => {
                let Outcome::Same(count) = *outcome else { continue };
                *outcome = Outcome::Differs(count, words);
            }
        }
    }
    lines
}

fn cells(summary: &Summary, values: &[[f64; COLUMNS.len()]]) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for (i, column) in COLUMNS.into_iter().enumerate() {
        // Fack does not count its timeouts in ns-2.
        if column == "timeouts" && summary.variant == "Fack" {
            continue;
        }
        let known = |what: &str| {
            let key = format!("{column}_{what}");
            summary.values.get(&key).copied().ok_or_else(|| format!("summary: {key} is missing"))
        };
        let theirs = Mean { mean: known("mean")?, error: known("stderr")?, n: summary.n as f64 };
        let ours = Mean::of(values.iter().map(|v| v[i]));
        let words = format!(
            "{column}: ns-2 {:.6} ± {:.6}, lasthop {:.6} ± {:.6}",
            theirs.mean, theirs.error, ours.mean, ours.error
        );
        tests.push(Test { words, p: welch(ours, theirs) });
    }
    Ok(tests)
}

/// One run: the values of the columns.
fn run(family: &RandomLoss, summary: &Summary, seed: u32, phase: u64) -> Result<[f64; COLUMNS.len()], Outcome> {
    let mut network = network(&family.network, &summary.variant);
    network.data_drops = losses(&network, summary.loss, seed);
    let mut scenario = build::scenario(&network).map_err(|obstacle| match obstacle {
        Obstacle::Unsupported(why) => Outcome::Unsupported(why),
        Obstacle::Wrong(why) => Outcome::Failed(why),
    })?;
    scenario.record.series = Some(SAMPLE_INTERVAL);
    let mut run =
        Session::new(&scenario, u64::from(seed) * PHASES + phase, None).map_err(|e| Outcome::Failed(e.to_string()))?;
    run.complete().map_err(|e| Outcome::Failed(e.to_string()))?;
    let results = run.finish();
    let flows = results.table("flows").ok_or_else(|| Outcome::Failed("there is no table of flows".to_owned()))?;
    let total = |name: &str| flows.number(name, 0).unwrap_or(f64::NAN);
    let resent = total("retransmitted_packets");
    let samples = ((network.stop - family.warm) / SAMPLE_INTERVAL.as_secs_f64()).round();
    // Each rate is that of the interval before its sample.
    let goodput = sum(&results, "goodput_kbps", |t| t > family.warm) * 1e3 / samples;
    let srtt = sum(&results, "srtt_ms", |t| t >= family.warm && t < network.stop) / 1e3 / samples;
    // ns-2's `ncwndcuts_` counts expiries of the timer of an idle sender too, and Vegas' `nrexmit_`.
    let idle = total("idle_timeouts");
    let timeouts = total("timeouts") + if summary.variant == "Vegas" { idle } else { 0.0 };
    Ok([goodput, total("sent_packets") + resent, resent, timeouts, total("window_cuts") + idle, srtt])
}

/// The arrivals at the bottleneck that ns-2's generator loses.
fn losses(network: &Network, p: f64, seed: u32) -> Vec<u64> {
    let mut generator = Mrg32k3a::new(seed);
    // Twice what the link can carry is more than ever arrives.
    let most = 2.0 * network.stop * network.bottleneck.rate as f64 / (8.0 * f64::from(network.tcp.packet_size));
    (0..most as u64).filter(|_| generator.uniform() < p).collect()
}

/// The sum of the flow's samples of a quantity.
fn sum(results: &Results, quantity: &str, when: impl Fn(f64) -> bool) -> f64 {
    let Some(series) = results.table("series") else { return f64::NAN };
    let rows = (0..series.rows()).filter(|&row| {
        series.text("kind", row) == Some("flow")
            && series.text("quantity", row) == Some(quantity)
            && series.number("time_s", row).is_some_and(&when)
    });
    rows.filter_map(|row| series.number("value", row)).sum()
}

/// The network with flows of this variant.
fn network(network: &Network, variant: &str) -> Network {
    let mut network = network.clone();
    for flow in &mut network.flows {
        let is_vegas = variant == "Vegas";
        *flow = Flow {
            variant: variant.to_owned(),
            // The index gives the sizes of the variants with headers.
            data_bytes: if is_vegas { network.tcp.packet_size } else { flow.data_bytes },
            first_bytes: flow.first_bytes.filter(|_| !is_vegas),
            ..flow.clone()
        };
    }
    network
}
