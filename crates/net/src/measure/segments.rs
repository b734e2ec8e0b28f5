//! Reads the TCP segments of a capture back (pcapng and pcap; Ethernet, Linux's cooked frames or bare IP; IPv4 and IPv6), as
//! [`super::pcapng`], live runs, tcpdump and tshark write them: one row for each packet that passed an interface.
//!
//! What a connection did is not found out here; a row says what its packet's headers say.

use std::error::Error;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpSlice, TransportSlice};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapPacket, PcapReader};
use pcap_file::pcapng::PcapNgReader;
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;

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
    /// An interface of another kind.
    #[error("interface {0} is {1:?}, and only Ethernet, Linux's cooked frames and bare IP can be read")]
    Link(u32, DataLink),
}

/// How a file of classic pcap begins, in either order of bytes, with times in µs or in ns (draft-ietf-opsawg-pcap §4).
const PCAP: [[u8; 4]; 4] =
    [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];

/// The longest frame that libpcap reads, whatever the file says (`MAXIMUM_SNAPLEN` in its `pcap-int.h`).
const MAXIMUM_SNAPLEN: u32 = 262_144;

/// Times from here on, ten years after 1970, are dates, and not the time of a run.
const DATES: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The TCP segments of a capture, in the order of the file. Other packets are left out.
///
/// | column | unit | meaning |
/// | --- | --- | --- |
/// | `time_s` | s | when; of a capture with dates, since its first packet |
/// | `interface` | | the name of the interface, or its number, as in `#0` |
/// | `direction` | | `out`, `in`, or empty if the file does not say |
/// | `from`, `to` | | address and port; an address of IPv6 in brackets |
/// | `seq` | B | sequence number, 32 bits |
/// | `ack` | B | acknowledgement number, 32 bits; missing without the flag |
/// | `payload_bytes` | B | payload, whether it is stored or not |
/// | `syn`, `fin`, `rst` | | 1 where the flag is set |
/// | `window` | | the advertised window, as it stands there |
/// | `sack_blocks` | | how many SACK blocks it carries |
///
/// # Errors
/// If the file is damaged, or has interfaces of another kind.
pub fn segments<R: Read>(mut input: R) -> Result<Table, ReadError> {
    let mut magic = Vec::new();
    input.by_ref().take(4).read_to_end(&mut magic).map_err(damaged)?;
    let is_classic = PCAP.iter().any(|known| *magic == *known);
    let input = std::io::Cursor::new(magic).chain(input);
    let mut rows = Rows::default();
    if is_classic { rows.read_pcap(input) } else { rows.read_pcapng(input) }?;
    Ok(rows.table())
}

fn damaged(error: impl ToString) -> ReadError {
    ReadError::Format(error.to_string())
}

/// What is wrong behind this number of whole packets.
fn damaged_behind(packets: u64, error: impl Error) -> ReadError {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    match cause.map(std::io::Error::kind) {
        Some(ErrorKind::UnexpectedEof) => ReadError::Cut(packets),
        _ => damaged(error),
    }
}

#[derive(Default)]
struct Rows {
    /// What times are counted from.
    begin: Option<Duration>,
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
    interface: &'a str,
    /// Which way it passed the interface, if the file says so beside it.
    direction: &'static str,
    data: &'a [u8],
    /// Bytes that it had, whether all are stored or not.
    original_len: u32,
}

impl Rows {
    fn read_pcapng(&mut self, input: impl Read) -> Result<(), ReadError> {
        let mut reader = PcapNgReader::new(input).map_err(damaged)?;
        let mut packets = 0;
        while let Some(block) = reader.next_block() {
            let (block, state) = block.map_err(|error| damaged_behind(packets, error))?;
            let Block::EnhancedPacket(packet) = block else { continue };
            packets += 1;
            let number = packet.interface_id;
            let interface = state.interfaces().get(number as usize);
            let linktype = interface.map_or(DataLink::NULL, |interface| interface.linktype);
            let name = interface.and_then(|interface| {
                interface.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                })
            });
            let name = name.unwrap_or_else(|| format!("#{number}"));
            let (time, direction) = (packet.timestamp, direction(&packet));
            let frame =
                Frame { time, interface: &name, direction, data: &packet.data, original_len: packet.original_len };
            self.read(linktype, &frame).ok_or(ReadError::Link(number, linktype))?;
        }
        Ok(())
    }

    fn read_pcap(&mut self, input: impl Read) -> Result<(), ReadError> {
        let mut reader = PcapReader::new(input).map_err(damaged)?;
        let header = reader.header();
        let linktype = header.datalink;
        // Some writers state a length of 0, and some store longer frames than they state.
        let snaplen = header.snaplen.max(MAXIMUM_SNAPLEN);
        let mut packets = 0;
        while let Some(packet) = reader.next_raw_packet() {
            let packet = packet.map_err(|error| damaged_behind(packets, error))?;
            packets += 1;
            let packet = PcapPacket::try_from_raw_packet(packet, header.ts_resolution, snaplen).map_err(damaged)?;
            let (data, original_len) = (packet.data(), packet.orig_len());
            let frame = Frame { time: packet.timestamp(), interface: "#0", direction: "", data, original_len };
            self.read(linktype, &frame).ok_or(ReadError::Link(0, linktype))?;
        }
        Ok(())
    }

    /// Adds the segment of a frame, if it has one. Nothing if frames of this kind cannot be read.
    fn read(&mut self, linktype: DataLink, frame: &Frame<'_>) -> Option<()> {
        let mut direction = frame.direction;
        let parsed = match linktype {
            DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(frame.data).ok(),
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => LaxSlicedPacket::from_ip(frame.data).ok(),
            DataLink::LINUX_SLL | DataLink::LINUX_SLL2 => cooked(linktype, frame.data).map(|(way, kind, rest)| {
                if direction.is_empty() {
                    direction = way;
                }
                LaxSlicedPacket::from_ether_type(kind, rest)
            }),
            _ => return None,
        };
        let time = frame.time.saturating_sub(*self.begin.get_or_insert(match frame.time {
            time if time >= DATES => time,
            _ => Duration::ZERO,
        }));
        if let Some(segment) = parsed.as_ref().and_then(|packet| Segment::of(packet, frame)) {
            self.push(time, frame.interface, direction, &segment);
        }
        Some(())
    }

    fn push(&mut self, time: Duration, interface: &str, direction: &str, segment: &Segment<'_>) {
        let Segment { from, to, tcp, payload } = segment;
        self.time.push(Some(time.as_secs_f64()));
        self.interface.push(interface);
        self.direction.push(direction);
        self.from.push(&SocketAddr::new(*from, tcp.source_port()).to_string());
        self.to.push(&SocketAddr::new(*to, tcp.destination_port()).to_string());
        self.seq.push(Some(tcp.sequence_number().into()));
        self.ack.push(tcp.ack().then(|| tcp.acknowledgment_number().into()));
        self.payload.push(Some(*payload as i64));
        self.syn.push(Some(tcp.syn().into()));
        self.fin.push(Some(tcp.fin().into()));
        self.rst.push(Some(tcp.rst().into()));
        self.window.push(Some(tcp.window_size().into()));
        self.sack_blocks.push(Some(sack_blocks(tcp)));
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

/// A TCP segment, by its headers.
struct Segment<'a> {
    from: IpAddr,
    to: IpAddr,
    tcp: &'a TcpSlice<'a>,
    /// Bytes of payload, by the length that the IP header says: it need not be stored. Where that is 0, as of segments that the
    /// interface will cut (TSO) or that are longer than the field can say (BIG TCP), by the length of the frame.
    payload: usize,
}

impl<'a> Segment<'a> {
    /// The segment that a packet is, if it is one. Fragments are none.
    fn of(packet: &'a LaxSlicedPacket<'a>, frame: &Frame<'_>) -> Option<Self> {
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { return None };
        // Without a length in its header a packet reaches to the end of the frame.
        let in_frame = (frame.original_len as usize).saturating_sub(frame.data.len() - tcp.slice().len());
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
        Some(Self { from, to, tcp, payload: length.saturating_sub(tcp.header_slice().len()) })
    }
}

/// Which way the packet passed its interface: the lowest two bits of `epb_flags`.
fn direction(packet: &EnhancedPacketBlock<'_>) -> &'static str {
    let flags = packet.options.iter().find_map(|option| match option {
        EnhancedPacketOption::Flags(flags) => Some(flags & 3),
        _ => None,
    });
    match flags {
        Some(1) => "in",
        Some(2) => "out",
        _ => "",
    }
}

/// Which way a cooked frame passed its interface, and what it carries (tcpdump.org: LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2).
fn cooked(linktype: DataLink, data: &[u8]) -> Option<(&'static str, EtherType, &[u8])> {
    let word = |place: usize| Some(u16::from_be_bytes(*data.get(place..)?.first_chunk()?));
    let (packet_type, protocol, header) = match linktype {
        DataLink::LINUX_SLL2 => ((*data.get(10)?).into(), word(0)?, 20),
        _ => (word(0)?, word(14)?, 16),
    };
    let way = match packet_type {
        0..=3 => "in", // to this host, to all, to a group, to another host
        4 => "out",
        _ => "",
    };
    Some((way, EtherType(protocol), data.get(header..)?))
}

fn sack_blocks(tcp: &TcpSlice<'_>) -> i64 {
    let blocks = tcp.options_iterator().filter_map(Result::ok).find_map(|option| match option {
        TcpOptionElement::SelectiveAcknowledgement(_, rest) => Some(1 + rest.iter().flatten().count()),
        _ => None,
    });
    blocks.unwrap_or(0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_capture_or_is_cut_short_is_an_error() {
        assert!(matches!(segments(&b"not a capture at all, but a text"[..]), Err(ReadError::Format(_))));
        assert!(matches!(segments(&b""[..]), Err(ReadError::Format(_))));
    }

    /// A capture in pcap of one segment over bare IP, of which as much is stored as there is in `stored`.
    fn pcap(snaplen: u32, stored: &[u8], original_len: u32) -> Vec<u8> {
        let mut file = Vec::from(0xa1b2_c3d4_u32.to_le_bytes());
        file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [snaplen, 101, 0, 0, stored.len() as u32, original_len] {
            file.extend(number.to_le_bytes());
        }
        file.extend(stored);
        file
    }

    fn payload(file: &[u8]) -> Result<Vec<Option<i64>>, String> {
        let table = segments(file).map_err(|error| error.to_string())?;
        match table.columns.into_iter().find(|(name, _)| *name == "payload_bytes") {
            Some((_, Column::Int(numbers))) => Ok(numbers.iter().collect()),
            _ => panic!("there is such a column"),
        }
    }

    /// The headers of a segment whose IP header states `length`, and `stored` bytes of its payload.
    fn segment(length: u16, stored: usize) -> Vec<u8> {
        let mut ip = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        let tcp = [0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 9, 0, 0, 0, 0];
        [&ip[..], &tcp[..], &vec![0; stored]].concat()
    }

    #[test]
    fn where_the_ip_header_states_no_length_the_frame_has_it() {
        for (name, length, stored, original, expected) in [
            ("a length stated", 1040, 1000, 1040, 1000),
            ("a length stated, and a frame with padding", 41, 6, 46, 1),
            ("none, stored whole", 0, 1000, 1040, 1000),
            ("none, and little of it stored", 0, 28, 70_040, 70_000),
        ] {
            let file = pcap(262_144, &segment(length, stored), original);
            assert_eq!(payload(&file), Ok(vec![Some(expected)]), "{name}");
        }
    }

    #[test]
    fn frames_longer_than_a_capture_states_are_read_as_libpcap_does() {
        let stored = segment(1040, 1000);
        for snaplen in [0, 68, 262_144] {
            assert_eq!(payload(&pcap(snaplen, &stored, 1040)), Ok(vec![Some(1000)]), "{snaplen}");
        }
        let longer = vec![0; MAXIMUM_SNAPLEN as usize + 1];
        assert!(payload(&pcap(0, &longer, longer.len() as u32)).is_err());
    }
}
