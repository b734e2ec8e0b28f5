//! Reads the TCP segments of a capture back (pcapng and pcap; Ethernet, Linux's cooked frames or bare IP; IPv4 and IPv6), as
//! [`super::pcapng`], live runs, tcpdump and tshark write them: one row for each packet that passed an interface.
//!
//! What a connection did is not found out here; a row says what its packet's headers say.

use std::borrow::Cow;
use std::cell::Cell;
use std::error::Error;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpOptionsIterator};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapPacket, PcapReader};
use pcap_file::pcapng::PcapNgReader;
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::packet::PacketOption;

use super::table::{Column, Names, Numbers, Table};

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is neither pcapng nor pcap, or it is damaged.
    #[error("this is no capture in the format pcapng or pcap, or it is damaged: {0}")]
    Format(String),
    /// It ends in the middle of a packet, after this number of whole ones.
    #[error(
        "the capture ends in the middle of a packet, after {0} whole ones: it was cut, or is still being written. \
         Wireshark's `editcap CAPTURE WHOLE` writes a file of the whole ones"
    )]
    Cut(u64),
    /// A block behind this number of whole packets is longer than the reader's buffer.
    #[error("behind {0} packets stands a block of more than 8 MB, and longer ones cannot be read")]
    Large(u64),
    /// A Simple Packet Block behind this number of other packets.
    #[error(
        "behind {0} packets stands a Simple Packet Block: packets in such blocks carry no time, and cannot be read"
    )]
    NoTime(u64),
    /// Of this number of segments less is stored than TCP's header without options.
    #[error(
        "the capture has less than the 20 bytes that TCP's header begins with of {0} segments: \
         it needs a larger snap length, as `tcpdump -s 96` has"
    )]
    Headers(u64),
    /// An interface of another kind.
    #[error("interface {0} is {1:?}, and only Ethernet, Linux's cooked frames and bare IP can be read")]
    Link(u32, DataLink),
}

/// How a file of classic pcap begins, in either order of bytes, with times in µs or in ns (draft-ietf-opsawg-pcap §4).
const PCAP: [[u8; 4]; 4] =
    [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];

/// The longest frame that libpcap reads, whatever the file says (`MAXIMUM_SNAPLEN` in its `pcap-int.h`).
const MAXIMUM_SNAPLEN: u32 = 262_144;

/// How interfaces are described whose times count from the start of a run, as in captures of this project.
pub const OF_A_RUN: &str = "lasthop: times since the start of the run";

/// The TCP segments of a capture, in the order of the file. Other packets are left out.
///
/// | column | unit | meaning |
/// | --- | --- | --- |
/// | `time_s` | s | when: in a capture of this project since the start of the run, in others since the first packet |
/// | `interface` | | the name of the interface, or its number, as in `#0` |
/// | `direction` | | `out`, `in`, or empty if the file does not say |
/// | `from`, `to` | | address and port; an address of IPv6 in brackets |
/// | `seq` | B | sequence number, 32 bits |
/// | `ack` | B | acknowledgement number, 32 bits; missing without the flag |
/// | `payload_bytes` | B | payload, whether it is stored or not |
/// | `syn`, `fin`, `rst` | | 1 where the flag is set |
/// | `window` | | the advertised window, as it stands there |
/// | `sack_blocks` | | how many SACK blocks it carries, as far as they are stored |
///
/// # Errors
/// If the file is damaged, has interfaces of another kind, or packets without a time or without a TCP header.
pub fn segments<R: Read>(mut input: R) -> Result<Table, ReadError> {
    let mut magic = Vec::new();
    input.by_ref().take(4).read_to_end(&mut magic).map_err(damaged)?;
    let is_classic = PCAP.iter().any(|known| *magic == *known);
    let input = Input { inner: std::io::Cursor::new(magic).chain(input), has_ended: Rc::default() };
    let mut rows = Rows::default();
    if is_classic { rows.read_pcap(input) } else { rows.read_pcapng(input) }?;
    match rows.without_header {
        0 => Ok(rows.table()),
        several => Err(ReadError::Headers(several)),
    }
}

fn damaged(error: impl ToString) -> ReadError {
    ReadError::Format(error.to_string())
}

/// What is wrong behind this number of whole packets, in a file that has ended or not.
fn damaged_behind(packets: u64, has_ended: bool, error: impl Error) -> ReadError {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    match cause.map(std::io::Error::kind) {
        Some(ErrorKind::UnexpectedEof) if has_ended => ReadError::Cut(packets),
        Some(ErrorKind::UnexpectedEof) => ReadError::Large(packets),
        _ => damaged(error),
    }
}

/// A file, and whether its end was read.
struct Input<R> {
    inner: R,
    has_ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(bytes)?;
        self.has_ended.set(self.has_ended.get() || (length == 0 && !bytes.is_empty()));
        Ok(length)
    }
}

#[derive(Default)]
struct Rows {
    /// What times are counted from.
    begin: Option<Duration>,
    /// Segments of which less is stored than the header without options.
    without_header: u64,
    time: Numbers<f64>,
    interface: Names,
    direction: Names,
    from: Names,
    to: Names,
    seq: Numbers<i64>,
    ack: Numbers<i64>,
    payload: Numbers<i64>,
    syn: Numbers<i64>,
    fin: Numbers<i64>,
    rst: Numbers<i64>,
    window: Numbers<i64>,
    sack_blocks: Numbers<i64>,
}

/// What an interface has captured.
struct Frame<'a> {
    time: Duration,
    /// Whether the time counts from the start of a run.
    is_of_a_run: bool,
    interface: &'a str,
    /// Which way it passed the interface, if the file says so beside it.
    direction: &'static str,
    data: &'a [u8],
    /// Bytes that it had, whether all are stored or not.
    original_len: u32,
}

impl Rows {
    fn read_pcapng(&mut self, input: Input<impl Read>) -> Result<(), ReadError> {
        let has_ended = Rc::clone(&input.has_ended);
        let mut reader = PcapNgReader::new(input).map_err(damaged)?;
        let mut packets = 0;
        while let Some(block) = reader.next_block() {
            let (block, state) = block.map_err(|error| damaged_behind(packets, has_ended.get(), error))?;
            let (number, time, data, original_len, flags) = match block {
                Block::EnhancedPacket(packet) => {
                    let flags = packet.options.iter().find_map(|option| match option {
                        EnhancedPacketOption::Flags(flags) => Some(*flags),
                        _ => None,
                    });
                    (packet.interface_id, packet.timestamp, packet.data, packet.original_len, flags)
                }
                Block::Packet(packet) => {
                    let flags = packet.options.iter().find_map(|option| match option {
                        PacketOption::Flags(flags) => Some(*flags),
                        _ => None,
                    });
                    (packet.interface_id.into(), packet.timestamp, packet.data, packet.original_len, flags)
                }
                Block::SimplePacket(_) => return Err(ReadError::NoTime(packets)),
                _ => continue,
            };
            packets += 1;
            let interface = state.interfaces().get(number as usize);
            let linktype = interface.map_or(DataLink::NULL, |interface| interface.linktype);
            let (name, is_of_a_run) = interface.map_or((None, false), described);
            let name = name.map_or_else(|| format!("#{number}"), str::to_owned);
            let direction = direction(flags);
            let frame = Frame { time, is_of_a_run, interface: &name, direction, data: &data, original_len };
            self.read(linktype, &frame).ok_or(ReadError::Link(number, linktype))?;
        }
        Ok(())
    }

    fn read_pcap(&mut self, input: Input<impl Read>) -> Result<(), ReadError> {
        let has_ended = Rc::clone(&input.has_ended);
        let mut reader = PcapReader::new(input).map_err(damaged)?;
        let header = reader.header();
        let linktype = header.datalink;
        // Some writers state a length of 0, and some store longer frames than they state.
        let snaplen = header.snaplen.max(MAXIMUM_SNAPLEN);
        let mut packets = 0;
        while let Some(packet) = reader.next_raw_packet() {
            let packet = packet.map_err(|error| damaged_behind(packets, has_ended.get(), error))?;
            packets += 1;
            let packet = PcapPacket::try_from_raw_packet(packet, header.ts_resolution, snaplen).map_err(damaged)?;
            let (time, data, original_len) = (packet.timestamp(), packet.data(), packet.orig_len());
            let frame = Frame { time, is_of_a_run: false, interface: "#0", direction: "", data, original_len };
            self.read(linktype, &frame).ok_or(ReadError::Link(0, linktype))?;
        }
        Ok(())
    }

    /// Adds the segment of a frame, if it has one. Nothing if frames of this kind cannot be read.
    fn read(&mut self, linktype: DataLink, frame: &Frame<'_>) -> Option<()> {
        let (mut direction, mut interface) = (frame.direction, Cow::Borrowed(frame.interface));
        let parsed = match linktype {
            DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(frame.data).ok(),
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => LaxSlicedPacket::from_ip(frame.data).ok(),
            DataLink::LINUX_SLL | DataLink::LINUX_SLL2 => cooked(linktype, frame.data).map(|cooked| {
                if direction.is_empty() {
                    direction = cooked.direction;
                }
                if cooked.interface > 0 {
                    interface = format!("#{}", cooked.interface).into();
                }
                LaxSlicedPacket::from_ether_type(cooked.kind, cooked.rest)
            }),
            _ => return None,
        };
        let begin = *self.begin.get_or_insert(if frame.is_of_a_run { Duration::ZERO } else { frame.time });
        match parsed.as_ref().and_then(|packet| Segment::of(packet, frame)) {
            Some(Ok(segment)) => self.push(frame.time.saturating_sub(begin), &interface, direction, &segment),
            Some(Err(Short)) => self.without_header += 1,
            None => {}
        }
        Some(())
    }

    fn push(&mut self, time: Duration, interface: &str, direction: &str, segment: &Segment<'_>) {
        let (number, flag) = (|place| i64::from(segment.number(place)), |bit| Some(segment.flag(bit).into()));
        self.time.push(Some(time.as_secs_f64()));
        self.interface.push(interface);
        self.direction.push(direction);
        self.from.push(&SocketAddr::new(segment.from, segment.half(0)).to_string());
        self.to.push(&SocketAddr::new(segment.to, segment.half(2)).to_string());
        self.seq.push(Some(number(4)));
        self.ack.push(segment.flag(ACK).then(|| number(8)));
        self.payload.push(Some(segment.payload as i64));
        self.syn.push(flag(SYN));
        self.fin.push(flag(FIN));
        self.rst.push(flag(RST));
        self.window.push(Some(segment.half(14).into()));
        self.sack_blocks.push(Some(sack_blocks(segment.options)));
    }

    fn table(self) -> Table {
        Table {
            columns: vec![
                ("time_s", Column::Float(self.time)),
                ("interface", self.interface.column()),
                ("direction", self.direction.column()),
                ("from", self.from.column()),
                ("to", self.to.column()),
                ("seq", Column::Int(self.seq)),
                ("ack", Column::Int(self.ack)),
                ("payload_bytes", Column::Int(self.payload)),
                ("syn", Column::Int(self.syn)),
                ("fin", Column::Int(self.fin)),
                ("rst", Column::Int(self.rst)),
                ("window", Column::Int(self.window)),
                ("sack_blocks", Column::Int(self.sack_blocks)),
            ],
        }
    }
}

/// Flags of TCP's header (RFC 9293 §3.1).
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// The bytes of TCP's header without options.
const FIXED: usize = 20;

/// A TCP segment, by its headers.
struct Segment<'a> {
    from: IpAddr,
    to: IpAddr,
    header: &'a [u8; FIXED],
    /// The options, as far as they are stored.
    options: &'a [u8],
    /// Bytes of payload, by the length that the IP header says: it need not be stored. Where that is 0, as of segments that the
    /// interface will cut (TSO) or that are longer than the field can say (BIG TCP), by the length of the frame.
    payload: usize,
}

/// Less of a segment is stored than the header without options.
struct Short;

impl<'a> Segment<'a> {
    /// The segment that a packet is, if it is one. Fragments are none, nor are those whose header is longer than they are.
    fn of(packet: &'a LaxSlicedPacket<'a>, frame: &Frame<'_>) -> Option<Result<Self, Short>> {
        let ip = packet.ip_payload().filter(|ip| ip.ip_number == IpNumber::TCP && !ip.fragmented)?;
        let is_cut = frame.data.len() < frame.original_len as usize;
        let Some((header, rest)) = ip.payload.split_first_chunk::<FIXED>() else {
            return is_cut.then_some(Err(Short));
        };
        let header_bytes = 4 * usize::from(header[12] >> 4);
        let options = header_bytes.checked_sub(FIXED)?;
        if options > rest.len() && !is_cut {
            return None;
        }
        // Without a length in its header a packet reaches to the end of the frame.
        let in_frame = (frame.original_len as usize).saturating_sub(frame.data.len() - ip.payload.len());
        let (from, to, length) = match packet.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let (header, behind) = (ip.header(), ip.extensions().auth.map_or(0, |auth| auth.slice().len()));
                let length = match header.total_len() {
                    0 => in_frame,
                    length => usize::from(length).saturating_sub(header.slice().len() + behind),
                };
                (header.source_addr().into(), header.destination_addr().into(), length)
            }
            LaxNetSlice::Ipv6(ip) => {
                let length = match ip.header().payload_length() {
                    0 => in_frame,
                    length => usize::from(length).saturating_sub(ip.extensions().slice().len()),
                };
                (ip.header().source_addr().into(), ip.header().destination_addr().into(), length)
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let (options, payload) = (&rest[..options.min(rest.len())], length.saturating_sub(header_bytes));
        Some(Ok(Self { from, to, header, options, payload }))
    }

    /// The two bytes of the header from this place on.
    fn half(&self, place: usize) -> u16 {
        u16::from_be_bytes([self.header[place], self.header[place + 1]])
    }

    /// The four bytes of the header from this place on.
    fn number(&self, place: usize) -> u32 {
        u32::from(self.half(place)) << 16 | u32::from(self.half(place + 2))
    }

    fn flag(&self, bit: u8) -> bool {
        self.header[13] & bit != 0
    }
}

/// The name of an interface, and whether its times count from the start of a run.
fn described<'a>(interface: &'a InterfaceDescriptionBlock<'_>) -> (Option<&'a str>, bool) {
    let (mut name, mut is_of_a_run) = (None, false);
    for option in &interface.options {
        match option {
            InterfaceDescriptionOption::IfName(text) => name = Some(&**text),
            InterfaceDescriptionOption::IfDescription(text) => is_of_a_run = *text == OF_A_RUN,
            _ => {}
        }
    }
    (name, is_of_a_run)
}

/// Which way the packet passed its interface: the lowest two bits of `epb_flags`.
fn direction(flags: Option<u32>) -> &'static str {
    match flags.map(|flags| flags & 3) {
        Some(1) => "in",
        Some(2) => "out",
        _ => "",
    }
}

/// What a cooked frame says.
struct Cooked<'a> {
    /// Which way it passed its interface.
    direction: &'static str,
    /// The number of this interface, or 0 if there is none.
    interface: u32,
    /// What it carries.
    kind: EtherType,
    rest: &'a [u8],
}

/// Reads a cooked frame (tcpdump.org: LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2).
fn cooked(linktype: DataLink, data: &[u8]) -> Option<Cooked<'_>> {
    let word = |place: usize| Some(u16::from_be_bytes(*data.get(place..)?.first_chunk()?));
    let (packet_type, interface, protocol, header) = match linktype {
        DataLink::LINUX_SLL2 => {
            let interface = u32::from_be_bytes(*data.get(4..)?.first_chunk()?);
            ((*data.get(10)?).into(), interface, word(0)?, 20)
        }
        _ => (word(0)?, 0, word(14)?, 16),
    };
    let direction = match packet_type {
        0..=3 => "in", // to this host, to all, to a group, to another host
        4 => "out",
        _ => "",
    };
    Some(Cooked { direction, interface, kind: EtherType(protocol), rest: data.get(header..)? })
}

fn sack_blocks(options: &[u8]) -> i64 {
    let blocks = TcpOptionsIterator::from_slice(options).filter_map(Result::ok).find_map(|option| match option {
        TcpOptionElement::SelectiveAcknowledgement(_, rest) => Some(1 + rest.iter().flatten().count()),
        _ => None,
    });
    blocks.unwrap_or(0) as i64
}

#[cfg(test)]
mod tests;
