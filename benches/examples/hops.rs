//! Sends packets over a chain of links for so many simulated seconds, and prints how many
//! packet-hops that were: for `benches/instructions.sh`, which counts what they cost.

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
