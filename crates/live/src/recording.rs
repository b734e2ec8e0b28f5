//! Recordings of live runs: a folder with `live.json`, which says what was run, and `packets.pcapng`, which has each packet that a host sent
//! (outbound) at its stamp, and each that was handed to one (inbound) at the time of the write. Wireshark reads it.
//!
//! A recording is run again without clock or network, and must give the very same packets and tables.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use lasthop_core::engine::Instant;
use lasthop_core::measure::table::Table;
use lasthop_core::net::RunError;
use lasthop_core::scenario::read;
use lasthop_core::scenario::types::Scenario;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bridge::{Bridge, Delivery, Host, Refused};
use crate::capture::{Capture, INBOUND, PacketFile, Unwritten};
use crate::lateness::Lateness;
use crate::results::{self, Verdict};

const ABOUT: &str = "live.json";
const PACKETS: &str = "packets.pcapng";

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The scenario, with the duration and the seed of this run.
    pub scenario: serde_json::Value,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// When the run ended, in nanoseconds; `None` if it did not end well.
    pub end_ns: Option<u64>,
}

/// A recording that cannot be written, read or repeated.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each has its sentence")]
pub enum RecordingError {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Unwritten(#[from] Unwritten),
    #[error("{}: {why}", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("the recording did not end well: it cannot be repeated")]
    Unfinished,
    #[error("{0}")]
    Scenario(String),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("packet {packet} for host \"{host}\" is not the recorded one: the replay differs")]
    Differs { host: String, packet: u64 },
}

/// Writes a recording.
pub struct Recorder {
    folder: PathBuf,
    about: About,
    packets: PacketFile,
}

impl Recorder {
    /// Begins a recording in `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn new(folder: &Path, about: About) -> Result<Self, RecordingError> {
        let path = folder.join(PACKETS);
        std::fs::create_dir_all(folder).map_err(|error| RecordingError::File { path: path.clone(), error })?;
        let packets = PacketFile::new(&path, about.hosts.iter().map(|host| host.node.as_str()))?;
        let recorder = Self { folder: folder.to_owned(), about, packets };
        write_about(&recorder.folder, &recorder.about)?;
        Ok(recorder)
    }

    /// A host sent this packet.
    pub fn sent(&mut self, host: usize, stamp: Instant, packet: &[u8]) {
        self.packets.sent(host as u32, stamp, packet);
    }

    /// This packet was handed to a host.
    pub fn delivered(&mut self, host: usize, at: Instant, packet: &[u8]) {
        self.packets.delivered(host as u32, at, packet);
    }

    /// Whether a packet could not be written.
    pub fn has_failed(&self) -> bool {
        self.packets.has_failed()
    }

    /// Ends the recording of a run that ended at `end`.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(mut self, end: Instant) -> Result<(), RecordingError> {
        self.about.end_ns = Some(end.as_nanos());
        self.packets.finish()?;
        write_about(&self.folder, &self.about)
    }
}

fn write_about(folder: &Path, about: &About) -> Result<(), RecordingError> {
    let path = folder.join(ABOUT);
    let text = serde_json::to_string_pretty(about).map_err(io::Error::other);
    let written = text.and_then(|text| std::fs::write(&path, text + "\n"));
    written.map_err(|error| RecordingError::File { path, error })
}

/// A recorded run that was repeated.
pub struct Replayed {
    /// What was run.
    pub about: About,
    /// When it ended.
    pub end: Instant,
    /// Its tables; lateness is that of the recorded run.
    pub tables: Vec<(&'static str, Table)>,
    /// Whether its figures can be trusted. What the kernel dropped is not recorded.
    pub verdict: Verdict,
    /// Transmissions that ended at the far side of a link.
    pub packet_hops: u64,
}

/// Runs a recording again, perhaps with a capture in the file `pcap`, and perhaps with another scenario in the place of its own: one that
/// records more. The bytes for each host must be the recorded ones.
///
/// # Errors
/// See [`RecordingError`].
pub fn replay(folder: &Path, pcap: Option<&Path>, scenario: Option<&Scenario>) -> Result<Replayed, RecordingError> {
    let about = about(folder)?;
    let Some(end) = about.end_ns.map(Instant::from_nanos) else { return Err(RecordingError::Unfinished) };
    let text = about.scenario.to_string();
    let document = read::json(&text, ABOUT).map_err(|error| RecordingError::Scenario(error.render(false)))?;
    let scenario = scenario.unwrap_or(&document.scenario);
    let mut bridge = Bridge::new(scenario, scenario.seed, about.hosts.clone())?;
    if let Some(path) = pcap {
        bridge.capture(Capture::new(path, &about.hosts)?);
    }
    let mut lateness = vec![Lateness::default(); about.hosts.len()];
    let mut come = vec![(0, VecDeque::new()); about.hosts.len()];
    let mut deliveries: Vec<Delivery> = Vec::new();
    let limit = scenario.live.late;

    let path = folder.join(PACKETS);
    let damaged = |why: String| RecordingError::Damaged { path: path.clone(), why };
    let file = File::open(&path).map_err(|error| RecordingError::File { path: path.clone(), error })?;
    let mut reader = PcapNgReader::new(BufReader::new(file)).map_err(|error| damaged(error.to_string()))?;
    let mut last = Instant::ZERO;
    while let Some(block) = reader.next_block() {
        let (block, _) = block.map_err(|error| damaged(error.to_string()))?;
        let Block::EnhancedPacket(packet) = block else { continue };
        let host = packet.interface_id as usize;
        let at = u64::try_from(packet.timestamp.as_nanos()).map(Instant::from_nanos).unwrap_or(Instant::MAX);
        if host >= about.hosts.len() || at < last {
            return Err(damaged("a packet of another host or time".to_owned()));
        }
        last = at;
        let inbound = packet.options.contains(&EnhancedPacketOption::Flags(INBOUND));
        if !inbound {
            bridge.send(host, &packet.data, at)?;
            continue;
        }
        // Packets sent later have later stamps, so the network may go on to this write. The last ones come after the end.
        bridge.advance_to(at.min(end))?;
        sort(&mut bridge, &mut deliveries, &mut come);
        let (number, waiting) = &mut come[host];
        let here: Option<Delivery> = waiting.pop_front();
        match here.filter(|delivery| *delivery.bytes == *packet.data) {
            Some(delivery) => lateness[host].add(at.since(delivery.at), limit),
            None => {
                return Err(RecordingError::Differs { host: about.hosts[host].node.clone(), packet: *number });
            }
        }
        *number += 1;
    }
    bridge.advance_to(end)?;
    bridge.end_capture()?;
    sort(&mut bridge, &mut deliveries, &mut come);
    if let Some(host) = come.iter().position(|(_, waiting)| !waiting.is_empty()) {
        return Err(RecordingError::Differs { host: about.hosts[host].node.clone(), packet: come[host].0 });
    }
    let verdict = Verdict::of(&lateness, limit, &[], bridge.refused());
    let packet_hops = bridge.session().simulation().core().counters().hops;
    Ok(Replayed { end, tables: results::tables(bridge, &lateness)?, verdict, packet_hops, about })
}

/// Sorts packets that have come by host.
fn sort(bridge: &mut Bridge, deliveries: &mut Vec<Delivery>, come: &mut [(u64, VecDeque<Delivery>)]) {
    bridge.take(deliveries);
    for delivery in deliveries.drain(..) {
        come[delivery.host].1.push_back(delivery);
    }
}

fn about(folder: &Path) -> Result<About, RecordingError> {
    let path = folder.join(ABOUT);
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| RecordingError::File { path: path.clone(), error })?;
    serde_json::from_str(&text).map_err(|error| RecordingError::Damaged { path, why: error.to_string() })
}

/// What is to be said of a run before it begins.
pub fn about_run(scenario: &Scenario, hosts: Vec<Host>) -> About {
    let written = serde_json::to_value(scenario).unwrap_or_default();
    About { scenario: written, hosts, end_ns: None }
}
