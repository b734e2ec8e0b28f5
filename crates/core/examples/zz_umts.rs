//! Temporary.
use lasthop_core::scenario::{read, run::Run};
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let seed = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(1);
    let document = read::json(&text, "x").unwrap();
    let mut run = Run::new(&document.scenario, seed, None).map_err(|e| e.message).unwrap();
    let begin = std::time::Instant::now();
    run.complete().unwrap();
    let took = begin.elapsed();
    let results = run.finish();
    let t = results.table("bearers").unwrap();
    let mut pdus = 0i64;
    for (name, column) in &t.columns {
        if ["new_pdus", "retransmitted_pdus", "poll_pdus", "control_pdus"].contains(name)
            && let lasthop_core::measure::table::Column::Int(v) = column {
            pdus += v.iter().map(|v| v.unwrap_or(0)).sum::<i64>();
        }
    }
    println!("{:.3} s, {} PDUs, {:.1} ns/PDU", took.as_secs_f64(), pdus, took.as_nanos() as f64 / pdus as f64);
}
