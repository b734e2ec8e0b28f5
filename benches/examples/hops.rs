//! Sends packets over a chain of links for a simulated time in seconds, and prints the number of packet-hops: for
//! `benches/instructions.py`, which counts their cost in instructions.

#[path = "../benches/chain.rs"]
mod chain;

use lasthop_core::engine::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [queue, seconds] = words.as_slice() else { return Err("usage: hops planned|asked SECONDS".into()) };
    let mut simulation = chain::chain(queue == "planned");
    simulation.run_until(Instant::ZERO + Duration::from_secs(seconds.parse()?), u64::MAX)?;
    println!("{}", simulation.core().counters().hops);
    Ok(())
}
