//! Recordings of live runs: a folder with `live.json`, which says what was run, and `packets.pcapng`, which has each packet that a host sent
//! (outbound) at its stamp, and each that was handed to one (inbound) at the time of the write. Wireshark reads it.
//!
//! A recording is run again without clock or network, and must give the very same packets and tables.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::net::RunError;
use lasthop_core::scenario::read;
use lasthop_core::scenario::types::Scenario;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::{Block, PcapNgReader, PcapNgWriter};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bridge::{Bridge, Delivery, GroupAddress, Host, Refused};
use crate::lateness::Lateness;

/// Bits 0 and 1 of the flags of a packet (pcapng, §4.3.1): inbound, outbound.
const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;

const ABOUT: &str = "live.json";
const PACKETS: &str = "packets.pcapng";

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The scenario, with the duration of this run.
    pub scenario: serde_json::Value,
    /// The seed.
    pub seed: u64,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// Multicast addresses of groups, where they are not the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupAddress>,
    /// The limit beyond which a packet is late, in nanoseconds.
    pub late_ns: u64,
    /// When the run ended, in nanoseconds; `None` if it did not end well.
    pub end_ns: Option<u64>,
}

/// A recording that cannot be written, read or repeated.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each has its sentence")]
pub enum RecordingError {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
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
    writer: PcapNgWriter<BufWriter<File>>,
    failure: Option<io::Error>,
}

impl Recorder {
    /// Begins a recording in `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn new(folder: &Path, about: About) -> Result<Self, RecordingError> {
        let path = folder.join(PACKETS);
        let failed = |error| RecordingError::File { path: path.clone(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        let mut writer = PcapNgWriter::new(BufWriter::new(file)).map_err(|error| failed(io::Error::other(error)))?;
        for host in &about.hosts {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(&host.node)),
                InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
            ];
            let block = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
            writer.write_pcapng_block(block).map_err(|error| failed(io::Error::other(error)))?;
        }
        let recorder = Self { folder: folder.to_owned(), about, writer, failure: None };
        recorder.write_about()?;
        Ok(recorder)
    }

    /// A host sent this packet.
    pub fn sent(&mut self, host: usize, stamp: Instant, packet: &[u8]) {
        self.write(host, stamp, packet, OUTBOUND);
    }

    /// This packet was handed to a host.
    pub fn delivered(&mut self, host: usize, at: Instant, packet: &[u8]) {
        self.write(host, at, packet, INBOUND);
    }

    /// Ends the recording of a run that ended at `end`.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(mut self, end: Instant) -> Result<(), RecordingError> {
        self.about.end_ns = Some(end.as_nanos());
        let path = self.folder.join(PACKETS);
        let flushed = match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.writer.get_mut().flush(),
        };
        flushed.map_err(|error| RecordingError::File { path, error })?;
        self.write_about()
    }

    fn write_about(&self) -> Result<(), RecordingError> {
        let path = self.folder.join(ABOUT);
        let text = serde_json::to_string_pretty(&self.about).map_err(io::Error::other);
        let written = text.and_then(|text| std::fs::write(&path, text + "\n"));
        written.map_err(|error| RecordingError::File { path, error })
    }

    fn write(&mut self, host: usize, at: Instant, packet: &[u8], direction: u32) {
        if self.failure.is_some() {
            return;
        }
        let block = EnhancedPacketBlock {
            interface_id: host as u32,
            timestamp: std::time::Duration::from_nanos(at.as_nanos()),
            original_len: packet.len() as u32,
            data: Cow::Borrowed(packet),
            options: vec![EnhancedPacketOption::Flags(direction)],
        };
        if let Err(error) = self.writer.write_pcapng_block(block) {
            self.failure = Some(io::Error::other(error));
        }
    }
}

/// A recorded run that was repeated.
pub struct Replayed {
    /// What was run.
    pub about: About,
    /// The network at the end.
    pub bridge: Bridge,
    /// The lateness of the recorded run.
    pub lateness: Vec<Lateness>,
}

/// Runs a recording again. The bytes for each host must be the recorded ones.
///
/// # Errors
/// See [`RecordingError`].
pub fn replay(folder: &Path) -> Result<Replayed, RecordingError> {
    let about = about(folder)?;
    let Some(end) = about.end_ns.map(Instant::from_nanos) else { return Err(RecordingError::Unfinished) };
    let text = about.scenario.to_string();
    let document = read::json(&text, ABOUT).map_err(|error| RecordingError::Scenario(error.render(false)))?;
    let mut bridge = Bridge::new(&document.scenario, about.seed, about.hosts.clone())?.with_groups(&about.groups)?;
    let mut lateness = vec![Lateness::default(); about.hosts.len()];
    let mut come = vec![(0, VecDeque::new()); about.hosts.len()];
    let mut deliveries: Vec<Delivery> = Vec::new();
    let limit = Duration::from_nanos(about.late_ns);

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
    sort(&mut bridge, &mut deliveries, &mut come);
    if let Some(host) = come.iter().position(|(_, waiting)| !waiting.is_empty()) {
        return Err(RecordingError::Differs { host: about.hosts[host].node.clone(), packet: come[host].0 });
    }
    Ok(Replayed { about, bridge, lateness })
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
pub fn about_run(scenario: &Scenario, seed: u64, hosts: Vec<Host>, late: Duration) -> About {
    let scenario = serde_json::to_value(scenario).unwrap_or_default();
    About { scenario, seed, hosts, groups: Vec::new(), late_ns: late.as_nanos(), end_ns: None }
}
