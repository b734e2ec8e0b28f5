//! What an end writes down: a table of totals, and a series, with the columns of the simulator's tables.

use std::fmt::Write as _;
use std::path::Path;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{Histogram, Probe, What};

use crate::host::Host;

/// How often the series is sampled.
pub const EVERY: Duration = Duration::from_secs(1);

/// Quantities of the series, of those that an endpoint has.
const QUANTITIES: [&str; 8] =
    ["rate_bps", "loss_event_rate", "loss_rate", "srtt_ms", "cwnd_packets", "clr_changes", "is_clr", "layers"];

const SENDER: &str = "flows.csv";
const RECEIVER: &str = "receivers.csv";
const SERIES: &str = "series.csv";

/// Whether tables may go into `folder`: it is missing, or holds nothing but tables of an end, and the file that is received. A run of a
/// scenario has tables of these names too, beside its manifest.
///
/// # Errors
/// A sentence.
pub fn check(folder: &Path, received: Option<&Path>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    let received = received.and_then(|path| path.canonicalize().ok());
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let own = [SENDER, RECEIVER, SERIES].iter().any(|name| entry.file_name() == *name);
        if !own && (received.is_none() || entry.path().canonicalize().ok() != received) {
            return Err(format!("{} holds other files: choose another folder with -o", folder.display()));
        }
    }
    Ok(())
}

/// The values of an endpoint.
#[derive(Debug, Default)]
struct Values(Vec<(String, f64)>);

impl Values {
    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl Probe for Values {
    fn part(&mut self, _what: What, _name: &str) {}

    fn value(&mut self, name: &'static str, value: f64) {
        self.0.push((name.to_owned(), value));
    }

    fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram) {
        // One-way delays compare two clocks that are not shared.
        if name == "delay_ms" {
            return;
        }
        if let Some(mean) = histogram.mean() {
            self.0.push((format!("{name}_mean"), mean * scale));
        }
        for (suffix, share) in [("p50", 0.5), ("p99", 0.99)] {
            if let Some(value) = histogram.quantile(share) {
                self.0.push((format!("{name}_{suffix}"), value * scale));
            }
        }
    }
}

/// Samples an end each second.
#[derive(Debug)]
pub struct Recorder {
    name: String,
    sends: bool,
    began: Instant,
    samples: u64,
    last_bytes: f64,
    series: String,
}

impl Recorder {
    /// Of the end with this name, which begins now.
    pub fn new(now: Instant, name: &str, sends: bool) -> Self {
        let series = "time_s,kind,name,quantity,value\n".to_owned();
        Self { name: name.to_owned(), sends, began: now, samples: 0, last_bytes: 0.0, series }
    }

    /// When the next sample is due: the n-th is computed from n.
    pub fn due(&self) -> Instant {
        self.began + EVERY * (self.samples + 1)
    }

    /// Takes the samples that are due.
    pub fn sample(&mut self, now: Instant, host: &Host) {
        while self.due() <= now {
            self.samples += 1;
            let mut values = Values::default();
            host.sample(&mut values);
            let time = (EVERY * self.samples).as_secs_f64();
            let bytes = values.get(if self.sends { "sent_bytes" } else { "received_bytes" }).unwrap_or(0.0);
            let rate = (bytes - std::mem::replace(&mut self.last_bytes, bytes)) * 8e-3 / EVERY.as_secs_f64();
            let quantity = if self.sends { "sent_kbps" } else { "goodput_kbps" };
            let kind = if self.sends { "sender" } else { "receiver" };
            // Writing to a string cannot fail.
            let _ = writeln!(self.series, "{time},flow,{},{quantity},{rate}", self.name);
            for quantity in QUANTITIES {
                if let Some(value) = values.get(quantity) {
                    let _ = writeln!(self.series, "{time},{kind},{},{quantity},{value}", self.name);
                }
            }
        }
    }

    /// Writes the tables into `folder`.
    ///
    /// # Errors
    /// A sentence with the file that cannot be written.
    pub fn write(&self, folder: &Path, host: &Host, about: &[(&str, String)]) -> Result<(), String> {
        let mut values = Values::default();
        host.sample(&mut values);
        let counts = host.counts();
        let own = [
            ("datagrams_sent", counts.sent),
            ("datagrams_sent_bytes", counts.sent_bytes),
            ("datagrams_received", counts.received),
            ("datagrams_received_bytes", counts.received_bytes),
            ("datagrams_rejected", counts.rejected),
        ];
        let cells = about.iter().map(|(name, text)| ((*name).to_owned(), text.clone()));
        let cells = cells.chain(values.0.into_iter().map(|(name, value)| (name, value.to_string())));
        let cells = cells.chain(own.into_iter().map(|(name, count)| (name.to_owned(), count.to_string())));
        let (names, row): (Vec<String>, Vec<String>) = cells.unzip();
        let totals = if self.sends { SENDER } else { RECEIVER };
        let files = [(totals, format!("{}\n{}\n", names.join(","), row.join(","))), (SERIES, self.series.clone())];
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}
