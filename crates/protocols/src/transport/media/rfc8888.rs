//! RTCP's feedback for congestion control (RFC 8888): which packets arrived, when, and with which ECN field.
//!
//! A report is bytes here and nothing else: [`encode`] and [`decode`] keep no state. Which packets a receiver reports, and how often, is its
//! own affair. Times are NTP's middle 32 bits, in units of 2⁻¹⁶ s.

use std::fmt;

use lasthop_net::net::Ecn;

/// RTPFB, the payload type of transport-layer feedback (RFC 4585 §6.1).
const PACKET_TYPE: u8 = 205;
/// CCFB, the format of this feedback (RFC 8888 §3.1).
const FORMAT: u8 = 11;
/// RTP's version (RFC 3550 §6.4.1).
const VERSION: u8 = 2;
/// RTCP's header and the SSRC of the sender of the report.
const HEADER: usize = 8;
/// SSRC, begin_seq and num_reports of a stream.
const STREAM_HEADER: usize = 8;
/// The report timestamp at the end.
const TRAILER: usize = 4;
/// Packets of a stream in a report at most (RFC 8888 §3.1).
pub const MOST_PACKETS: usize = 16_384;

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The SSRC of its sender.
    pub sender: u32,
    /// What it says of each stream.
    pub streams: Vec<Stream>,
    /// RTS: when it was made, by the clock of its sender, in units of 2⁻¹⁶ s.
    pub timestamp: u32,
}

/// What a report says of a stream of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The SSRC of the stream.
    pub ssrc: u32,
    /// begin_seq: the sequence number of the first of `packets`.
    pub begin: u16,
    /// The packets from `begin` on; `None` for one that has not arrived.
    pub packets: Vec<Option<Received>>,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its ECN field; CE if any copy of it was marked.
    pub ecn: Ecn,
    /// When its first copy came.
    pub offset: ArrivalOffset,
}

/// ATO: how long before the report a packet came, in units of 1/1024 s (RFC 8888 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrivalOffset(u16);

impl ArrivalOffset {
    /// Longer ago than can be said: 8189/1024 s.
    pub const OVER: Self = Self(0x1FFE);
    /// Not known, or after the report.
    pub const UNKNOWN: Self = Self(0x1FFF);

    /// That of an arrival, rounded down, in a report of `timestamp`; both in units of 2⁻¹⁶ s.
    pub fn between(arrival: u32, timestamp: u32) -> Self {
        let ago = timestamp.wrapping_sub(arrival);
        // Half of the clock's range tells earlier from later.
        if ago > u32::MAX / 2 {
            return Self::UNKNOWN;
        }
        let steps = ago >> 6;
        if steps > 8_189 { Self::OVER } else { Self(steps as u16) }
    }

    /// When the packet came, in units of 2⁻¹⁶ s, if it is said.
    pub fn arrival(self, timestamp: u32) -> Option<u32> {
        (self < Self::OVER).then(|| timestamp.wrapping_sub(u32::from(self.0) << 6))
    }

    /// In units of 1/1024 s, as it is written.
    pub fn steps(self) -> u16 {
        self.0
    }
}

/// How num_reports is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The number of packets. RFC 8888 §3.1 calls the range of sequence numbers inclusive, and lets 0 say that there is none: both hold if this
    /// field is the number of packets.
    Packets,
    /// The number of packets less one, as SCReAM's receiver has it (ScreamRx.cpp at c8f84c3d).
    LastPacket,
}

/// Why bytes are no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The byte at which it shows.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for Malformed {}

/// The bytes of a report that has this number of packets in each of its streams.
pub fn size(packets: impl IntoIterator<Item = usize>) -> usize {
    HEADER + packets.into_iter().map(|packets| STREAM_HEADER + area(packets)).sum::<usize>() + TRAILER
}

/// The bytes of a stream's packets: two each, filled up to whole words.
const fn area(packets: usize) -> usize {
    4 * packets.div_ceil(2)
}

/// A report in bytes.
///
/// # Errors
/// A stream has more packets than a report may say, the whole is longer than RTCP's length field, or a stream without packets is to be
/// written as one that ends before it begins.
pub fn encode(report: &Report, count: Count) -> Result<Vec<u8>, Malformed> {
    let bytes = size(report.streams.iter().map(|stream| stream.packets.len()));
    let words = u16::try_from(bytes / 4 - 1)
        .map_err(|_| Malformed { offset: 2, message: format!("{bytes} bytes are more than RTCP's length can say") })?;
    let mut out = Vec::with_capacity(bytes);
    out.extend([VERSION << 6 | FORMAT, PACKET_TYPE]);
    out.extend(words.to_be_bytes());
    out.extend(report.sender.to_be_bytes());
    for stream in &report.streams {
        let packets = stream.packets.len();
        let field = match count {
            Count::Packets => Some(packets),
            Count::LastPacket => packets.checked_sub(1),
        };
        let field = field.filter(|_| packets <= MOST_PACKETS).ok_or_else(|| Malformed {
            offset: out.len() + 6,
            message: format!("num_reports cannot say {packets} packets"),
        })?;
        out.extend(stream.ssrc.to_be_bytes());
        out.extend(stream.begin.to_be_bytes());
        out.extend((field as u16).to_be_bytes());
        for packet in &stream.packets {
            let word = packet.map_or(0, |packet| 1 << 15 | (packet.ecn as u16) << 13 | packet.offset.0);
            out.extend(word.to_be_bytes());
        }
        if packets % 2 == 1 {
            out.extend([0, 0]);
        }
    }
    out.extend(report.timestamp.to_be_bytes());
    Ok(out)
}

/// A report from its bytes.
///
/// Where it speaks of one stream, its length says how many packets are reported, so that both meanings of num_reports are understood. Where
/// it speaks of several, num_reports is the number of packets.
///
/// # Errors
/// The bytes are no report; the error names the place.
pub fn decode(bytes: &[u8]) -> Result<Report, Malformed> {
    let fault = |offset, message: String| Err(Malformed { offset, message });
    if bytes.len() < HEADER + TRAILER {
        return fault(bytes.len(), format!("a report has {} bytes at least", HEADER + TRAILER));
    }
    let (flags, kind, words) = (bytes[0], bytes[1], half(bytes, 2));
    if flags >> 6 != VERSION {
        return fault(0, format!("version {} of RTP, expected {VERSION}", flags >> 6));
    }
    if kind != PACKET_TYPE {
        return fault(1, format!("payload type {kind}, expected {PACKET_TYPE}"));
    }
    if flags & 0x1F != FORMAT {
        return fault(0, format!("format {}, expected {FORMAT}", flags & 0x1F));
    }
    if (usize::from(words) + 1) * 4 != bytes.len() {
        return fault(2, format!("length {words} does not fit {} bytes", bytes.len()));
    }
    // RFC 3550 §6.4.1: the last byte of the padding counts it.
    let padding = if flags & 0x20 == 0 { 0 } else { usize::from(bytes[bytes.len() - 1]) };
    if flags & 0x20 != 0 && (padding == 0 || padding % 4 != 0 || padding > bytes.len() - HEADER - TRAILER) {
        return fault(bytes.len() - 1, format!("padding of {padding} bytes"));
    }
    let end = bytes.len() - padding - TRAILER;
    let mut streams = Vec::new();
    let mut at = HEADER;
    while at < end {
        if end - at < STREAM_HEADER {
            return fault(at, format!("{} bytes where a stream begins, which has {STREAM_HEADER} at least", end - at));
        }
        let (ssrc, begin, field) = (word(bytes, at), half(bytes, at + 4), usize::from(half(bytes, at + 6)));
        let from = at + STREAM_HEADER;
        let alone = streams.is_empty() && (end - from == area(field) || end - from == area(field + 1));
        // Alike in length if the field is odd: then the last two bytes are padding, or a packet that has arrived.
        let inclusive = alone && (end - from > area(field) || (field % 2 == 1 && half(bytes, end - 2) != 0));
        let packets = field + usize::from(inclusive);
        if packets > MOST_PACKETS {
            return fault(at + 6, format!("{packets} packets, at most {MOST_PACKETS} can be reported"));
        }
        if area(packets) > end - from {
            return fault(at + 6, format!("{packets} packets reported, there are bytes for {}", (end - from) / 2));
        }
        let packets = (0..packets).map(|i| received(half(bytes, from + 2 * i))).collect::<Vec<_>>();
        at = from + area(packets.len());
        streams.push(Stream { ssrc, begin, packets });
    }
    Ok(Report { sender: word(bytes, 4), streams, timestamp: word(bytes, end) })
}

/// A packet's 16 bits: R, ECN, ATO.
fn received(word: u16) -> Option<Received> {
    let ecn = match word >> 13 & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    (word >> 15 == 1).then_some(Received { ecn, offset: ArrivalOffset(word & 0x1FFF) })
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first report of `tests/reference/modern/scream/scream-events-l4s-3s.csv`, made by SCReAM's receiver: 32 packets, num_reports 31.
    const SCREAM: &str = "8bcd0014000000000000000affe4001f0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000a008a004a001a00000000801";

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    fn arrived(ecn: Ecn, steps: u16) -> Option<Received> {
        Some(Received { ecn, offset: ArrivalOffset(steps) })
    }

    #[test]
    fn reports_of_screams_receiver_are_read_by_their_length() {
        let report = decode(&bytes(SCREAM)).unwrap();
        assert_eq!((report.sender, report.timestamp, report.streams.len()), (0, 0x801, 1));
        let stream = &report.streams[0];
        assert_eq!((stream.ssrc, stream.begin, stream.packets.len()), (10, 65_508, 32));
        assert!(stream.packets[..28].iter().all(Option::is_none));
        assert_eq!(stream.packets[28..], [8, 4, 1, 0].map(|steps| arrived(Ecn::Ect1, steps)));
        assert_eq!(encode(&report, Count::LastPacket).unwrap(), bytes(SCREAM));
        // The number of packets in the field needs no other bytes.
        let exact = encode(&report, Count::Packets).unwrap();
        assert_eq!((exact.len(), &exact[14..16], decode(&exact).unwrap()), (bytes(SCREAM).len(), &[0, 32][..], report));
    }

    #[test]
    fn the_bits_are_where_figure_1_has_them() {
        let streams = vec![
            Stream {
                ssrc: 0x0102_0304,
                begin: 0xFFFF,
                packets: vec![None, arrived(Ecn::Ce, 1), arrived(Ecn::Ect0, 0x1FFE)],
            },
            Stream { ssrc: 5, begin: 7, packets: Vec::new() },
        ];
        let report = Report { sender: 0xAABB_CCDD, streams, timestamp: 0x1122_3344 };
        let written = encode(&report, Count::Packets).unwrap();
        let expected = "8bcd0008aabbccdd01020304ffff00030000e001dffe0000000000050007000011223344";
        assert_eq!(written, bytes(expected));
        assert_eq!(written.len(), size([3, 0]));
        assert_eq!(decode(&written).unwrap(), report);
    }

    #[test]
    fn arrivals_are_said_in_steps_of_1_1024_s_rounded_down() {
        // (arrival, timestamp, ATO).
        for (arrival, timestamp, steps) in [
            (1_000, 1_000, 0),
            (1_000, 1_063, 0),
            (1_000, 1_064, 1),
            (0, 8_189 << 6, 8_189),
            (0, (8_189 << 6) + 63, 8_189),
            (0, 8_190 << 6, 0x1FFE),
            (u32::MAX, 127, 2),
            (1_001, 1_000, 0x1FFF),
        ] {
            let offset = ArrivalOffset::between(arrival, timestamp);
            assert_eq!(offset.steps(), steps, "{arrival} {timestamp}");
            if let Some(said) = offset.arrival(timestamp) {
                assert!(said.wrapping_sub(arrival) < 64, "{arrival} {timestamp}");
            }
        }
        assert_eq!(ArrivalOffset::OVER.arrival(5), None);
    }

    #[test]
    fn one_stream_is_read_in_both_meanings_of_num_reports() {
        let stream =
            |packets: Vec<_>| Report { sender: 1, streams: vec![Stream { ssrc: 2, begin: 3, packets }], timestamp: 4 };
        for packets in 1..6 {
            let report = stream(vec![arrived(Ecn::Ect1, 9); packets]);
            for count in [Count::Packets, Count::LastPacket] {
                assert_eq!(decode(&encode(&report, count).unwrap()).unwrap(), report, "{packets} {count:?}");
            }
        }
        assert_eq!(decode(&encode(&stream(Vec::new()), Count::Packets).unwrap()).unwrap(), stream(Vec::new()));
    }

    #[test]
    fn malformed_reports_name_the_place() {
        let good = bytes(SCREAM);
        let changed = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            bytes
        };
        for (name, bytes, offset) in [
            ("empty", Vec::new(), 0),
            ("version 1", changed(0, 0x4B), 0),
            ("another format", changed(0, 0x8F), 0),
            ("a receiver report", changed(1, 201), 1),
            ("longer than it is", changed(3, 0x15), 2),
            ("more packets than bytes", changed(15, 0x21), 14),
            ("fewer packets than bytes", changed(15, 0x1D), 76),
            ("padding that counts nothing", changed(0, 0xAB), 83),
        ] {
            assert_eq!(decode(&bytes).map_err(|error| error.offset), Err(offset), "{name}");
        }
        let many = Stream { ssrc: 0, begin: 0, packets: vec![None; MOST_PACKETS + 1] };
        assert!(encode(&Report { sender: 0, streams: vec![many], timestamp: 0 }, Count::Packets).is_err());
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_an_error_or_a_report(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }

        /// Past the header, where random bytes seldom come.
        #[test]
        fn hostile_streams_are_an_error_or_a_report(words in prop::collection::vec(any::<u32>(), 2..40), small in any::<bool>()) {
            let mut bytes = vec![0x8B, 205];
            bytes.extend((words.len() as u16).to_be_bytes());
            for (i, word) in words.iter().enumerate() {
                let word = if small && i == 2 { word & 0xFFFF_001F } else { *word };
                bytes.extend(word.to_be_bytes());
            }
            if let Ok(report) = decode(&bytes) {
                prop_assert_eq!(decode(&encode(&report, Count::Packets).unwrap()).unwrap(), report);
            }
        }
    }
}
