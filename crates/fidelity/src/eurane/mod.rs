//! Families of EURANE, the UMTS extension of ns-2.

mod events;
mod hsdpa;
mod index;
mod means;
mod script;

use std::path::Path;

use serde_json::Value;

use crate::report::Outcome;

/// The retransmission timer of TCP in ns-2.29, EURANE's host, where it differs from ns-2.35's (`tcp/tcp.cc`,
/// `tcl/lib/ns-default.tcl`). Windows are cut to the half of their whole packets there too (`exact_half`).
const RTO_2_29: &str = r#"initial = "6 s", min = "200 ms", max = "100000 s", max_backoff = 64"#;

/// Compares the folder of a family of EURANE, with this many threads; `None` if it is another's.
pub fn folder(path: &Path, jobs: usize) -> Option<Vec<(String, Outcome)>> {
    let text = std::fs::read_to_string(path.join("index.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let family = value.get("family")?.as_str()?;
    let failed = |message: String| vec![(String::new(), Outcome::Failed(message))];
    Some(match family {
        "rlc-am" => index::rlc(value).map_or_else(failed, |cases| events::compare(path, &cases, jobs)),
        "switch" => index::switch(value).map_or_else(failed, |cases| events::compare(path, &cases, jobs)),
        "tcp-fach" | "tcp-fach-more" => means::compare(path, value, jobs).unwrap_or_else(failed),
        "hsdpa" => hsdpa::compare(path, value, jobs).unwrap_or_else(failed),
        _ => return None,
    })
}
