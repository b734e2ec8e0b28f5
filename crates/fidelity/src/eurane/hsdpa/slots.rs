//! Compares the decisions of a run from 3.0 s to 3.6 s, one by one.

use std::path::Path;

use super::watch::Seen;
use crate::report::Outcome;

/// A decision in EURANE's words: time in microseconds, then UE, process, TSN, PDUs that fit, PDUs, bits, and PDUs that waited.
type Row = (u64, [u64; 7]);

/// The window of the files, in nanoseconds.
const WINDOW: std::ops::Range<u64> = 3_000_000_000..3_600_000_000;

/// Compares the decisions of a file.
pub fn compare(file: &Path, seen: &Seen) -> Result<Outcome, String> {
    let theirs = read(file)?;
    let first = seen.blocks.iter().filter(|(at, _, block)| WINDOW.contains(at) && block.transmission == 1);
    let ours: Vec<Row> = first.map(|(at, ue, block)| (at / 1000, values(*ue, block))).collect();
    let place = (0..theirs.len().max(ours.len())).find(|n| theirs.get(*n) != ours.get(*n));
    let Some(place) = place else { return Ok(Outcome::Same(theirs.len())) };
    let words = |row: Option<&Row>| row.map_or("nothing".to_owned(), |(at, values)| format!("{values:?} at {at} us"));
    let first = format!("decision {place}: {}, not {}", words(ours.get(place)), words(theirs.get(place)));
    Ok(Outcome::Differs(theirs.len(), first))
}

/// What a block carries, as in the files.
pub fn values(ue: u32, block: &lasthop_core::net::SeenBlock) -> [u64; 7] {
    let (bits, pdus) = (u64::from(block.bits), u64::from(block.data / PDU));
    [
        u64::from(ue),
        u64::from(block.process),
        u64::from(block.number),
        (bits - HEADER) / u64::from(PDU),
        pdus,
        bits,
        block.waiting / u64::from(PDU),
    ]
}

/// EURANE's PDUs and header of a block, in bits.
const PDU: u32 = 320;
const HEADER: u64 = 21;

fn read(file: &Path) -> Result<Vec<Row>, String> {
    let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(|e| problem(&e))?;
    let headings = reader.headers().map_err(|e| problem(&e))?;
    if headings != vec!["t_ms", "ue", "process", "tsn", "max_pdus", "pdus", "tb_bits", "queue_pdus"] {
        return Err(problem(&"other columns than expected"));
    }
    let rows = reader.deserialize::<(f64, [u64; 7])>().map(|row| {
        let (ms, values) = row.map_err(|e| problem(&e))?;
        Ok(((ms * 1000.0).round() as u64, values))
    });
    rows.collect()
}
