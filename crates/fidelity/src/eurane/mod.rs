//! Families of EURANE, the UMTS extension of ns-2.

mod as_it_leaves;
mod common_draws;
mod events;
mod hsdpa;
mod index;
mod means;
mod script;

use std::path::Path;

use serde_json::Value;

use crate::families::Outcomes;

pub use hsdpa::compare as hsdpa;
pub use means::compare as means;

/// The retransmission timer of TCP in ns-2.29, EURANE's host, where it differs from ns-2.35's (`tcp/tcp.cc`,
/// `tcl/lib/ns-default.tcl`). Windows are cut to the half of their whole packets there too (`exact_half`).
const RTO_2_29: &str = r#"initial = "6 s", min = "200 ms", max = "100000 s", max_backoff = 64"#;

/// A TCP of ns-2 by its name in scenarios.
fn tcp(name: &str) -> Option<&'static str> {
    Some(match name {
        "Tahoe" => "tahoe",
        "Reno" => "reno",
        "Newreno" => "newreno",
        "Sack1" => "sack",
        "Fack" => "fack",
        "Vegas" => "vegas",
        _ => return None,
    })
}

/// The family rlc-am: RLC in acknowledged mode, event for event.
pub fn rlc(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    Ok(events::compare(folder, &index::rlc(index)?, jobs))
}

/// The family switch: the switching between channels, event for event.
pub fn switch(folder: &Path, index: Value, jobs: usize) -> Result<Outcomes, String> {
    Ok(events::compare(folder, &index::switch(index)?, jobs))
}
