//! GCC of the time of REMB, as aiortc computes it (aiortc 1.16.0, `rate.py`): packets, and the state after those that changed something.

use std::path::Path;

use lasthop_core::transport::media::control::gcc::webrtc::Estimator;

use super::log::{Log, Row, Tally};
use crate::report::Outcome;

/// Rows `P` (a packet; one that is lost says so in its last cell) and `O` (the state after the packet before it).
pub fn replay(file: &Path) -> Result<Outcome, String> {
    let log = Log::read(file)?;
    let mut tally = Tally::default();
    let mut estimator = Estimator::default();
    let mut remb = None;
    // A packet after which there is no state must have changed nothing: its state, REMB included, is the one that was shown last.
    let mut deltas = 0;
    let mut last_remb = String::new();
    let mut rows = log.rows().peekable();
    while let Some(row) = rows.next() {
        match row.text(0) {
            "P" if is_lost(&row) => {}
            "P" => {
                remb = estimator.on_packet(row.value(2)?, Some(row.value(3)?), row.value(4)?);
                if rows.peek().is_none_or(|next| next.text(0) != "O") {
                    tally.equal(&row, "differences of groups", estimator.deltas(), deltas);
                    tally.equal(&row, "REMB", shown(remb), last_remb.clone());
                }
                deltas = estimator.deltas();
            }
            "O" => {
                compare(&mut tally, &row, &estimator, remb)?;
                row.text(7).clone_into(&mut last_remb);
            }
            _ => return Err(row.unknown()),
        }
    }
    tally.outcome()
}

fn compare(tally: &mut Tally, row: &Row<'_>, estimator: &Estimator, remb: Option<u64>) -> Result<(), String> {
    tally.near(row, "offset", estimator.offset(), row.value(2)?);
    tally.near(row, "threshold", estimator.threshold(), row.value(3)?);
    tally.equal(row, "usage", estimator.usage() as u32, row.value(4)?);
    tally.equal(row, "differences of groups", estimator.deltas(), row.value(5)?);
    tally.near(row, "noise", estimator.noise(), row.value(6)?);
    tally.equal(row, "REMB", shown(remb).as_str(), row.text(7));
    tally.equal(row, "state", estimator.state() as u32, row.value(8)?);
    tally.equal(row, "near", u32::from(estimator.is_near()), row.value(9)?);
    Ok(())
}

fn shown(remb: Option<u64>) -> String {
    remb.map(|bps| bps.to_string()).unwrap_or_default()
}

/// A sixth cell that is not 0 says that the packet is lost; or its arrival is missing.
fn is_lost(row: &Row<'_>) -> bool {
    !["", "0"].contains(&row.text(5)) || row.text(2).is_empty()
}
