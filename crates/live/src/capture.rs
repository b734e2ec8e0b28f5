//! A capture of a live run, as pcapng: an interface for each host, and one for each place of the network at which packets were dropped or
//! marked. Bytes are the real ones, times those of the network: a replay gives the same file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lasthop_core::engine::Instant;
use lasthop_core::measure::segments::OF_A_RUN;
use lasthop_core::net::Place;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;

use crate::bridge::Host;

/// Bits 0 and 1 of the flags of a packet (pcapng, §4.3.1): inbound, outbound.
pub const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct Unwritten {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// A pcapng file of IP packets. A failure to write is kept until its end.
pub struct PacketFile {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    interfaces: u32,
    failure: Option<io::Error>,
}

impl PacketFile {
    /// Makes the file, with these interfaces.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new<'a>(path: &Path, interfaces: impl IntoIterator<Item = &'a str>) -> Result<Self, Unwritten> {
        let failed = |error| Unwritten { path: path.to_owned(), error };
        let made = File::create(path).map_err(failed)?;
        let writer = PcapNgWriter::new(BufWriter::new(made)).map_err(|error| failed(cause(error)))?;
        let mut file = Self { path: path.to_owned(), writer, interfaces: 0, failure: None };
        for name in interfaces {
            file.interface(name);
        }
        match file.failure {
            Some(failure) => Err(failed(failure)),
            None => Ok(file),
        }
    }

    /// Whether something could not be written.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Adds an interface, and gives its number.
    pub fn interface(&mut self, name: &str) -> u32 {
        let options = vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
            InterfaceDescriptionOption::IfDescription(Cow::Borrowed(OF_A_RUN)),
            InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
        ];
        let written =
            self.writer.write_pcapng_block(InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options });
        self.note(written);
        self.interfaces += 1;
        self.interfaces - 1
    }

    /// A packet that a host sent.
    pub fn sent(&mut self, interface: u32, at: Instant, bytes: &[u8]) {
        self.packet(interface, at, bytes, EnhancedPacketOption::Flags(OUTBOUND));
    }

    /// A packet that came to a host.
    pub fn delivered(&mut self, interface: u32, at: Instant, bytes: &[u8]) {
        self.packet(interface, at, bytes, EnhancedPacketOption::Flags(INBOUND));
    }

    /// A packet to which something happened.
    pub fn commented(&mut self, interface: u32, at: Instant, bytes: &[u8], comment: &str) {
        self.packet(interface, at, bytes, EnhancedPacketOption::Common(CommonOption::Comment(Cow::Borrowed(comment))));
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(mut self) -> Result<(), Unwritten> {
        let written = self.failure.map_or_else(|| self.writer.get_mut().flush(), Err);
        written.map_err(|error| Unwritten { path: self.path, error })
    }

    fn packet(&mut self, interface_id: u32, at: Instant, bytes: &[u8], option: EnhancedPacketOption<'_>) {
        if self.failure.is_some() {
            return;
        }
        let block = EnhancedPacketBlock {
            interface_id,
            timestamp: std::time::Duration::from_nanos(at.as_nanos()),
            original_len: bytes.len() as u32,
            data: Cow::Borrowed(bytes),
            options: vec![option],
        };
        let written = self.writer.write_pcapng_block(block);
        self.note(written);
    }

    fn note<E: Error + Send + Sync + 'static>(&mut self, written: Result<usize, E>) {
        if let Err(error) = written {
            self.failure.get_or_insert(cause(error));
        }
    }
}

/// The system's own error, if it is one.
fn cause(error: impl Error + Send + Sync + 'static) -> io::Error {
    let system = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).and_then(io::Error::raw_os_error);
    system.map_or_else(|| io::Error::other(error), io::Error::from_raw_os_error)
}

/// A capture under way.
pub struct Capture {
    file: PacketFile,
    places: BTreeMap<Place, u32>,
}

impl Capture {
    /// Begins a capture at these hosts.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn new(path: &Path, hosts: &[Host]) -> Result<Self, Unwritten> {
        let file = PacketFile::new(path, hosts.iter().map(|host| host.node.as_str()))?;
        Ok(Self { file, places: BTreeMap::new() })
    }

    /// A host sent this packet.
    pub fn sent(&mut self, host: usize, at: Instant, bytes: &[u8]) {
        self.file.sent(host as u32, at, bytes);
    }

    /// This packet came to a host.
    pub fn delivered(&mut self, host: usize, at: Instant, bytes: &[u8]) {
        self.file.delivered(host as u32, at, bytes);
    }

    /// At a place of this name something happened to this packet.
    pub fn happened(&mut self, place: Place, name: &str, at: Instant, bytes: &[u8], comment: &str) {
        let file = &mut self.file;
        let interface = *self.places.entry(place).or_insert_with(|| file.interface(name));
        file.commented(interface, at, bytes, comment);
    }

    /// Whether something could not be written.
    pub fn has_failed(&self) -> bool {
        self.file.has_failed()
    }

    /// Ends it.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(self) -> Result<(), Unwritten> {
        self.file.finish()
    }
}
