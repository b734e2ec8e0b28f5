//! A log of events: frames (N), packets sent (X) and received (R), reports (F), and the controller after each of them (O).
//!
//! Times and sizes of frames, arrivals, and the times at which reports come are what the log gives. The rest is computed: what the encoder
//! makes, when which packets leave, the bytes of each report, and the controller's values.

use std::path::Path;

use lasthop_core::net::Ecn;
use lasthop_core::transport::media::control::scream::{PER_SECOND, Ticks};

use super::ENCODERS;
use super::receiver::{Receiver, parts};
use super::sender::{Encoder, Packet, Sender};
use crate::report::Outcome;

/// Cells compared, and the first difference.
#[derive(Default)]
struct Tally {
    cells: usize,
    first: Option<String>,
}

impl Tally {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, line: usize, what: &str, theirs: T, ours: T) {
        self.cells += 1;
        if theirs != ours {
            self.first.get_or_insert_with(|| format!("line {line}, {what}: {theirs:?}, lasthop {ours:?}"));
        }
    }
}

/// A row: its line in the file, its time, and its cells.
struct Row<'a> {
    line: usize,
    at: Ticks,
    cells: Vec<&'a str>,
}

impl Row<'_> {
    fn number<T: std::str::FromStr>(&self, cell: usize) -> Result<T, String> {
        let text = self.cells.get(cell).copied().unwrap_or_default();
        text.parse().map_err(|_| format!("line {}: cell {} is \"{text}\"", self.line, cell + 1))
    }

    fn is(&self, kind: &str) -> bool {
        self.cells[0] == kind
    }
}

/// Replays a log. L4S is what its name says.
pub fn replay(file: &Path) -> Result<Outcome, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut rows = Vec::new();
    for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.starts_with('#') && !text.is_empty()) {
        let mut row = Row { line: line + 1, at: 0, cells: text.split(',').collect() };
        row.at = row.number(1)?;
        rows.push(row);
    }
    let l4s = !file.file_name().is_some_and(|name| name.to_string_lossy().contains("nol4s"));
    let encoder = encoder(&rows)?;
    let Some(last) = rows.last() else { return Err("no rows".to_owned()) };
    let mut sender = Sender::new(rows[0].at, encoder, l4s);
    let mut receiver = Receiver::default();
    let (mut sent, mut reports, mut latest, mut markers) = (Vec::new(), Vec::new(), 0, Vec::new());
    let mut tally = Tally::default();
    let mut left = rows.iter().peekable();
    // The harness's clock: in each tick frames, arrivals, reports, and then packets sent.
    for now in 0..=last.at {
        let mut event = sender.call_at().is_some_and(|at| at <= now);
        while let Some(row) = left.next_if(|row| row.at <= now && !row.is("X")) {
            match row.cells[0] {
                "N" => {
                    let bytes = row.number(2)?;
                    tally.same(row.line, "bytes of a frame", bytes, sender.encode(now));
                    sender.on_frame(now, bytes);
                    event = true;
                }
                "R" => {
                    let number = row.number(3)?;
                    let marker = markers.get(number as usize).copied();
                    tally.same(row.line, "a packet that was sent", true, marker.is_some());
                    let marker = marker.unwrap_or_default();
                    receiver.on_packet(now, &Packet { at: now, bytes: row.number(2)?, number, marker }, ecn(row)?);
                }
                "F" => {
                    sender.on_report(now, &parts(&bytes(row)?, latest)?);
                    event = true;
                }
                "O" => {
                    let scream = &sender.scream;
                    tally.same(row.line, "cwnd", row.number(2)?, scream.window());
                    tally.same(row.line, "bytes in flight", row.number(3)?, scream.in_flight());
                    tally.same(row.line, "target", row.number(4)?, scream.target());
                    tally.same(row.line, "queue delay", row.number(5)?, scream.queue_delay());
                    tally.same(row.line, "srtt", row.number(6)?, scream.srtt());
                    tally.same(row.line, "l4s_alpha", row.number(7)?, scream.alpha());
                    tally.same(row.line, "pace interval", row.number(8)?, scream.pace_interval());
                }
                _ => return Err(format!("line {}: a row of an unknown kind", row.line)),
            }
        }
        reports.extend(receiver.poll(now));
        if event {
            sender.send(now, |packet| {
                latest = packet.number;
                markers.resize(packet.number as usize, false);
                markers.push(packet.marker);
                sent.push(packet);
            });
        }
        while left.next_if(|row| row.at <= now).is_some() {}
    }
    for (row, ours) in rows.iter().filter(|row| row.is("X")).zip(&sent) {
        tally.same(row.line, "packet sent at", row.at, ours.at);
        tally.same(row.line, "bytes", row.number(2)?, ours.bytes);
        tally.same(row.line, "number", row.number(3)?, ours.number);
        tally.same(row.line, "marker", row.number::<u8>(4)?, u8::from(ours.marker));
    }
    for (row, ours) in rows.iter().filter(|row| row.is("F")).zip(&reports) {
        tally.same(row.line, "report", bytes(row)?, ours.clone());
    }
    let of = |kind: &str| rows.iter().filter(|row| row.is(kind)).count();
    tally.same(last.line, "packets sent", of("X"), sent.len());
    // The last ones may be on their way.
    tally.same(last.line, "fewer reports", true, of("F") <= reports.len());
    Ok(match tally.first {
        None => Outcome::Same(tally.cells),
        Some(first) => Outcome::Differs(tally.cells, first),
    })
}

fn ecn(row: &Row<'_>) -> Result<Ecn, String> {
    match row.number(4)? {
        0 => Ok(Ecn::NotEct),
        1 => Ok(Ecn::Ect1),
        2 => Ok(Ecn::Ect0),
        3 => Ok(Ecn::Ce),
        other => Err(format!("line {}: ECN field {other}", row.line)),
    }
}

fn bytes(row: &Row<'_>) -> Result<Vec<u8>, String> {
    let hex = row.cells.get(2).copied().unwrap_or_default();
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<Vec<u8>>>();
    bytes.ok_or_else(|| format!("line {}: no bytes in hexadecimal", row.line))
}

/// The encoder of which a log is: its frames tell their rate, the first frame that at the start, the second the lowest, which holds until the
/// first report. The highest rate goes with these.
fn encoder(rows: &[Row<'_>]) -> Result<Encoder, String> {
    let frames: Vec<&Row<'_>> = rows.iter().filter(|row| row.is("N")).collect();
    let [first, second, third, ..] = frames.as_slice() else { return Err("fewer than three frames".to_owned()) };
    let period = (third.at - first.at) as f64 / 2.0 / PER_SECOND as f64;
    let (start, least): (u32, u32) = (first.number(2)?, second.number(2)?);
    let is_reported = rows.iter().any(|row| row.is("F") && row.at < second.at);
    let fits = |encoder: &&Encoder| {
        (f64::from(encoder.frames_per_second) * period - 1.0).abs() < 0.05
            && encoder.frame(encoder.start_rate) == start
            && (is_reported || encoder.frame(encoder.min_rate) == least)
    };
    ENCODERS
        .iter()
        .find(fits)
        .copied()
        .ok_or_else(|| format!("frames of {start} and {least} bytes: an unknown encoder"))
}
