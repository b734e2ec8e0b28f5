//! PGM with PGMCC over UDP: packets of RFC 3208 §8, with the options and the ACK of draft-ietf-rmt-bb-pgmcc-03, as the payload of UDP datagrams.
//!
//! ```text
//! Every packet (RFC 3208 §8)             SPM (§8.1)               ODATA, RDATA (§8.2)
//!  0  source port, destination port      16  SPM_SQN              16  sequence number
//!  4  type                               20  SPM_TRAIL            20  OD_TRAIL
//!  5  options: bit 0, options present;   24  SPM_LEAD             24  options
//!     bit 1, network-significant         28  AFI 1, 0             44  data
//!  6  checksum                           32  path NLA
//!  8  global source ID
//! 14  length of the data
//!
//! NAK, N-NAK, NCF (§8.3)                 ACK (draft §2.1.2)
//! 16  requested sequence number          16  the packet that is acknowledged
//! 20  AFI 1, 0; 24  source NLA           20  bitmap; the lowest bit stands for recv_lastseq
//! 28  AFI 1, 0; 32  group NLA            24  options
//! 36  options
//!
//! OPT_LENGTH (§9.1)      OPT_PGMCC_DATA, 0x12        OPT_PGMCC_FEEDBACK, 0x13
//!  0  0x00, 4             0  0x92, 16                 0  0x93, 20
//!  2  length of all       2  0, 0                     2  0, flags: bit 0, the acker leaves
//!     options             4  time stamp, in ms        4  time stamp, later by the time it was held
//!                         8  AFI 1, 0                 8  AFI 1, recv_loss
//!                        12  the acker; 0: none      12  the receiver
//!                                                    16  recv_lastseq
//! ```
//!
//! What differs: a receiver and the acker are numbers in the place of addresses (NLAs). A report that asks for nothing is an N-NAK. The feedback
//! option has recv_lastseq at its end, since round-trip times are counted in packets (draft §2.5.3), and the flag of an acker that leaves (draft
//! §2.3.2), for which the draft names no bit. NLAs of source and group are 0: there are no network elements.

use lasthop_net::engine::Instant;
use lasthop_net::net::{Header, NodeId, Packet, PgmAck, PgmData, PgmHeader, PgmNak, PgmPath, PgmReport};

use super::reader::Reader;
use super::sequence::{Numbers, Sent};
use super::stamp::{Foreign, Ticks};
use super::{Codec, WireError};

/// draft-ietf-rmt-bb-pgmcc-03 §2.1: time stamps are in milliseconds.
const TICKS: Ticks = Ticks(1_000_000);

/// RFC 3208 §8, packet types; the ACK's is that of OpenPGM and Wireshark, since the draft has none.
const SPM: u8 = 0x00;
const ODATA: u8 = 0x04;
const RDATA: u8 = 0x05;
const NAK: u8 = 0x08;
const NNAK: u8 = 0x09;
const NCF: u8 = 0x0a;
const ACK: u8 = 0x0d;
/// RFC 3208 §8: bits of the options field. The PGMCC options are network-significant: elements compare NAKs by them.
const OPTIONS: u8 = 0x01;
const NETWORK: u8 = 0x02;
/// RFC 3208 §9: the last option has this bit.
const LAST: u8 = 0x80;
const OPT_LENGTH: u8 = 0x00;
const OPT_PGMCC_DATA: u8 = 0x12;
const OPT_PGMCC_FEEDBACK: u8 = 0x13;
/// Address family of IPv4 (RFC 3208 §8.1: the numbers of IANA).
const AFI: u16 = 1;

const COMMON_BYTES: usize = 16;
/// Bytes of the header of a data packet.
pub const DATA_BYTES: usize = COMMON_BYTES + 8 + 4 + 16;
/// The longest transmit window that is believed, in packets.
const MOST_KEPT: u64 = 1 << 20;

/// Writes packets of a session.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// Source and destination port of the data.
    pub ports: [u16; 2],
    /// The global source ID.
    pub source: [u8; 6],
}

impl Session {
    fn begin(&self, kind: u8, options: u8, upstream: bool, to: &mut Vec<u8>) {
        let [source, destination] = self.ports;
        // RFC 3208 §8: the ports of packets to the source are the other way round.
        let ports = if upstream { [destination, source] } else { [source, destination] };
        to.extend(ports.into_iter().flat_map(u16::to_be_bytes));
        to.extend([kind, options, 0, 0]);
        to.extend(self.source);
        to.extend([0, 0]);
    }
}

/// RFC 3208 §8: the checksum of the packet (RFC 1071), and the length of its data. The payload is written already.
fn finish(packet: &mut [u8], data: usize) {
    packet[14..16].copy_from_slice(&(data as u16).to_be_bytes());
    let sum = checksum(packet);
    // Zero means that there is none.
    packet[6..8].copy_from_slice(&(if sum == 0 { 0xffff } else { sum }).to_be_bytes());
}

/// RFC 1071: the complement of the sum of 16-bit words in one's complement.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u64 =
        bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn feedback(report: &PgmReport, stamp: u32, last_seq: u32, leaving: bool, to: &mut Vec<u8>) {
    to.extend([OPT_LENGTH, 4, 0, 24, OPT_PGMCC_FEEDBACK | LAST, 20, 0, u8::from(leaving)]);
    to.extend(stamp.to_be_bytes());
    to.extend(AFI.to_be_bytes());
    to.extend(report.loss.to_be_bytes());
    to.extend(report.receiver.0.to_be_bytes());
    to.extend(last_seq.to_be_bytes());
}

/// The parts of a packet.
struct Parts<'d> {
    kind: u8,
    /// Behind the common header.
    fields: Reader<'d>,
    has_options: bool,
    data: usize,
}

fn parts(datagram: &[u8]) -> Result<Parts<'_>, WireError> {
    let mut fields = Reader(datagram);
    let [.., kind, options, _, _] = fields.bytes::<8>()?;
    fields.bytes::<6>()?;
    let data = usize::from(fields.u16()?);
    // RFC 3208 §8: the sum of a packet with its checksum is 0xffff; a checksum of 0 was not computed.
    if datagram[6..8] != [0, 0] && checksum(datagram) != 0 {
        return Err(WireError::Checksum);
    }
    Ok(Parts { kind, fields, has_options: options & OPTIONS != 0, data })
}

/// The contents of the option of this type, behind its type, length and two bytes more, of which the second is given too.
fn option<'d>(fields: &mut Reader<'d>, wanted: u8) -> Result<Option<(u8, Reader<'d>)>, WireError> {
    let [kind, length, high, low] = fields.bytes::<4>()?;
    let total = usize::from(u16::from_be_bytes([high, low]));
    let mut rest = Reader(fields.take(total.checked_sub(4).ok_or(WireError::Value)?)?);
    if (kind & !LAST, length) != (OPT_LENGTH, 4) {
        return Err(WireError::Value);
    }
    let mut found = None;
    while !rest.0.is_empty() {
        let [kind, length, _, flags] = rest.bytes::<4>()?;
        let body = rest.take(usize::from(length).checked_sub(4).ok_or(WireError::Value)?)?;
        if kind & !LAST == wanted {
            found = Some((flags, Reader(body)));
        }
        if kind & LAST != 0 {
            break;
        }
    }
    Ok(found)
}

/// The sending end's codec: writes data and messages to the group, reads reports. It checksums a packet when its payload is behind it.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    session: Session,
    sent: Sent,
    paths: u32,
}

impl Sender {
    /// For this session.
    pub fn new(session: Session) -> Self {
        Self { session, sent: Sent::default(), paths: 0 }
    }

    fn report(&self, fields: &mut Reader<'_>, now: Instant) -> Result<(PgmReport, bool), WireError> {
        let (flags, mut option) = option(fields, OPT_PGMCC_FEEDBACK)?.ok_or(WireError::Value)?;
        let (stamp, _, loss, receiver, last) =
            (option.u32()?, option.u16()?, option.u16()?, option.u32()?, option.u32()?);
        if receiver == 0 {
            return Err(WireError::Value);
        }
        let echo = TICKS.own(stamp, now)?;
        let report = PgmReport { receiver: NodeId(receiver), loss, last_seq: self.sent.read(last)?, echo };
        Ok((report, flags & 1 != 0))
    }
}

impl Codec for Sender {
    fn encode(&mut self, packet: &Packet, to: &mut Vec<u8>) {
        let Header::Pgm(header) = &packet.header else { return };
        match header {
            PgmHeader::Data(data) | PgmHeader::Repair(data) => {
                let kind = if matches!(header, PgmHeader::Data(_)) { ODATA } else { RDATA };
                self.session.begin(kind, OPTIONS | NETWORK, false, to);
                to.extend(self.sent.write(data.seq).to_be_bytes());
                to.extend((data.trail as u32).to_be_bytes());
                to.extend([OPT_LENGTH, 4, 0, 20, OPT_PGMCC_DATA | LAST, 16, 0, 0]);
                to.extend(TICKS.write(data.sent_at).to_be_bytes());
                to.extend(AFI.to_be_bytes());
                to.extend([0, 0]);
                to.extend(data.acker.map_or(0, |NodeId(acker)| acker).to_be_bytes());
            }
            PgmHeader::Confirmation(seq) => {
                self.session.begin(NCF, 0, false, to);
                to.extend((*seq as u32).to_be_bytes());
                for _ in 0..2 {
                    to.extend(AFI.to_be_bytes());
                    to.extend([0; 6]);
                }
            }
            PgmHeader::Path(path) => {
                self.session.begin(SPM, 0, false, to);
                self.paths = self.paths.wrapping_add(1);
                for field in [self.paths, path.trail as u32, path.next.wrapping_sub(1) as u32] {
                    to.extend(field.to_be_bytes());
                }
                to.extend(AFI.to_be_bytes());
                to.extend([0; 6]);
            }
            PgmHeader::Nak(_) | PgmHeader::Ack(_) => {}
        }
    }

    fn seal(&mut self, packet: &Packet, datagram: &mut [u8]) {
        let header = if packet.has_data() { DATA_BYTES } else { datagram.len() };
        finish(datagram, datagram.len() - header);
    }

    fn decode(&mut self, now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let Parts { kind, mut fields, has_options, data } = parts(datagram)?;
        if !has_options || data != 0 {
            return Err(WireError::Kind);
        }
        let header = match kind {
            ACK => {
                let (seq, mask) = (fields.u32()?, fields.u32()?);
                let (report, leaving) = self.report(&mut fields, now)?;
                PgmHeader::Ack(PgmAck { report, seq: self.sent.read(seq)?, mask, leaving })
            }
            NAK | NNAK => {
                let missing = fields.u32()?;
                fields.bytes::<16>()?;
                let (report, _) = self.report(&mut fields, now)?;
                let missing = if kind == NAK { Some(self.sent.read(missing)?) } else { None };
                PgmHeader::Nak(PgmNak { report, missing, ..PgmNak::default() })
            }
            _ => return Err(WireError::Kind),
        };
        packet.header = Header::Pgm(header);
        Ok(datagram.len())
    }
}

/// The receiving end's codec: reads data and messages, writes reports.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    session: Session,
    numbers: Numbers,
    clock: Foreign,
}

impl Receiver {
    /// For a session; ports and source ID are those of the first packet.
    pub fn new() -> Self {
        let session = Session { ports: [0; 2], source: [0; 6] };
        Self { session, numbers: Numbers::default(), clock: Foreign::new(TICKS) }
    }
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new()
    }
}

impl Codec for Receiver {
    fn encode(&mut self, packet: &Packet, to: &mut Vec<u8>) {
        let Header::Pgm(header) = &packet.header else { return };
        let (report, leaving) = match header {
            PgmHeader::Ack(ack) => {
                self.session.begin(ACK, OPTIONS | NETWORK, true, to);
                to.extend(self.numbers.write(ack.seq).to_be_bytes());
                to.extend(ack.mask.to_be_bytes());
                (&ack.report, ack.leaving)
            }
            PgmHeader::Nak(nak) => {
                self.session.begin(if nak.missing.is_some() { NAK } else { NNAK }, OPTIONS | NETWORK, true, to);
                to.extend(nak.missing.map_or(0, |seq| self.numbers.write(seq)).to_be_bytes());
                for _ in 0..2 {
                    to.extend(AFI.to_be_bytes());
                    to.extend([0; 6]);
                }
                (&nak.report, false)
            }
            _ => return,
        };
        feedback(report, self.clock.write(report.echo), self.numbers.write(report.last_seq), leaving, to);
    }

    fn seal(&mut self, _packet: &Packet, datagram: &mut [u8]) {
        finish(datagram, 0);
    }

    fn decode(&mut self, _now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let Parts { kind, mut fields, has_options, data } = parts(datagram)?;
        let header = match kind {
            ODATA | RDATA => {
                let (seq, trail) = (fields.u32()?, fields.u32()?);
                let found = if has_options { option(&mut fields, OPT_PGMCC_DATA)? } else { None };
                let (_, mut option) = found.ok_or(WireError::Value)?;
                let (stamp, _, _, acker) = (option.u32()?, option.u16()?, option.u16()?, option.u32()?);
                // Behind the options is the data, and nothing else.
                if fields.0.len() != data {
                    return Err(WireError::Value);
                }
                let behind = seq.wrapping_sub(trail);
                if behind > MOST_KEPT as u32 && behind != u32::MAX {
                    return Err(WireError::Value);
                }
                let seq = if kind == ODATA { self.numbers.read(seq)? } else { self.numbers.near(seq)? };
                let read = PgmData {
                    seq,
                    acker: (acker != 0).then_some(NodeId(acker)),
                    sent_at: self.clock.read(stamp),
                    // Without repairs the trail is the number after this.
                    trail: if behind == u32::MAX { seq + 1 } else { seq.saturating_sub(behind.into()) },
                    payload: data as u32,
                    end: 0,
                    loss_indicated: false,
                };
                if kind == ODATA { PgmHeader::Data(read) } else { PgmHeader::Repair(read) }
            }
            NCF => PgmHeader::Confirmation(self.numbers.near(fields.u32()?)?),
            SPM => {
                let (_, trail, lead) = (fields.u32()?, fields.u32()?, fields.u32()?);
                let lead = self.numbers.near(lead)?;
                let behind = self.numbers.write(lead).wrapping_sub(trail);
                if u64::from(behind) > MOST_KEPT {
                    return Err(WireError::Value);
                }
                PgmHeader::Path(PgmPath { trail: lead.saturating_sub(behind.into()), next: lead + 1 })
            }
            _ => return Err(WireError::Kind),
        };
        self.session = Session {
            ports: [u16::from_be_bytes([datagram[0], datagram[1]]), u16::from_be_bytes([datagram[2], datagram[3]])],
            source: [datagram[8], datagram[9], datagram[10], datagram[11], datagram[12], datagram[13]],
        };
        packet.header = Header::Pgm(header);
        Ok(if packet.has_data() { datagram.len() - data } else { datagram.len() })
    }

    fn forget(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn session() -> Session {
        Session { ports: [7000, 7500], source: [1, 2, 3, 4, 5, 6] }
    }

    fn packet(header: PgmHeader) -> Packet {
        Packet { header: Header::Pgm(header), ..Packet::vacant() }
    }

    fn datagram(codec: &mut dyn Codec, packet: &Packet, payload: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::new();
        codec.encode(packet, &mut datagram);
        datagram.extend(payload);
        codec.seal(packet, &mut datagram);
        datagram
    }

    /// RFC 1071 §3: the sum of these bytes is ddf2, and the checksum its complement.
    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    /// Field by field, by RFC 3208 §8, §8.2, §9.1 and the draft's OPT_PGMCC_DATA.
    #[test]
    fn bytes_of_data_are_those_of_the_rfc() {
        let data = PgmData {
            seq: 258,
            acker: Some(NodeId(9)),
            sent_at: ms(1_000),
            trail: 250,
            payload: 3,
            ..Default::default()
        };
        let mut bytes = datagram(&mut Sender::new(session()), &packet(PgmHeader::Data(data)), b"abc");
        let mut expected = vec![
            0x1b, 0x58, 0x1d, 0x4c, 0x04, 0x03, 0, 0, 1, 2, 3, 4, 5, 6, 0, 3, 0, 0, 1, 2, 0, 0, 0, 250, 0x00, 4, 0, 20,
            0x92, 16, 0, 0, 0, 0, 0x03, 0xe8, 0, 1, 0, 0, 0, 0, 0, 9, b'a', b'b', b'c',
        ];
        let sum = checksum(&expected).to_be_bytes();
        expected[6..8].copy_from_slice(&sum);
        assert_eq!(bytes, expected);
        let mut read = Packet::vacant();
        let mut receiver = Receiver::new();
        assert_eq!(receiver.decode(ms(0), &bytes, &mut read), Ok(DATA_BYTES));
        let Header::Pgm(PgmHeader::Data(found)) = read.header else { panic!() };
        assert_eq!((found.seq, found.acker, found.trail, found.payload), (258, Some(NodeId(9)), 250, 3));
        // Its report has the ports the other way round, and the same source.
        let report = PgmReport { receiver: NodeId(5), loss: 1_488, last_seq: 258, echo: found.sent_at };
        let nak = PgmNak { report, missing: Some(256), ..Default::default() };
        let nak = datagram(&mut receiver, &packet(PgmHeader::Nak(nak)), &[]);
        let mut expected = vec![
            0x1d, 0x4c, 0x1b, 0x58, 0x08, 0x03, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,
            0, 0, 0, 0, 0, 0, 0x00, 4, 0, 24, 0x93, 20, 0, 0, 0, 0, 0x03, 0xe8, 0, 1, 0x05, 0xd0, 0, 0, 0, 5, 0, 0, 1,
            2,
        ];
        let sum = checksum(&expected).to_be_bytes();
        expected[6..8].copy_from_slice(&sum);
        assert_eq!(nak, expected);
        // A damaged byte.
        bytes[45] ^= 1;
        assert_eq!(receiver.decode(ms(0), &bytes, &mut read), Err(WireError::Checksum));
    }

    #[test]
    fn reports_and_messages_come_through() {
        let mut sender = Sender::new(session());
        let mut receiver = Receiver::new();
        let mut read = Packet::vacant();
        for seq in 0..40 {
            let data = PgmData { seq, sent_at: ms(1_000 + seq), trail: seq + 1, ..Default::default() };
            let bytes = datagram(&mut sender, &packet(PgmHeader::Data(data)), &[0; 10]);
            receiver.decode(ms(0), &bytes, &mut read).unwrap();
        }
        let Header::Pgm(PgmHeader::Data(last)) = read.header else { panic!() };
        assert_eq!(last.trail, 40, "without repairs nothing is kept");
        let report = PgmReport { receiver: NodeId(5), loss: 7, last_seq: 39, echo: last.sent_at };
        let ack = PgmAck { report, seq: 38, mask: 0xffff_fffe, leaving: true };
        let bytes = datagram(&mut receiver, &packet(PgmHeader::Ack(ack)), &[]);
        assert_eq!(bytes.len(), 48);
        sender.decode(ms(1_100), &bytes, &mut read).unwrap();
        let Header::Pgm(PgmHeader::Ack(found)) = &read.header else { panic!() };
        assert_eq!((found.seq, found.mask, found.leaving, found.report.last_seq), (38, 0xffff_fffe, true, 39));
        assert_eq!((found.report.echo, found.report.loss), (ms(1_039), 7));
        // What was not sent is not acknowledged, and what was sent long ago is not echoed.
        let ack = PgmAck { seq: 40, ..ack };
        let bytes = datagram(&mut receiver, &packet(PgmHeader::Ack(ack)), &[]);
        assert_eq!(sender.decode(ms(1_100), &bytes, &mut read), Err(WireError::Sequence));
        let bytes = datagram(&mut receiver, &packet(PgmHeader::Nak(PgmNak { report, ..Default::default() })), &[]);
        assert_eq!(sender.decode(ms(70_000), &bytes, &mut read), Err(WireError::Stamp));
        sender.decode(ms(1_100), &bytes, &mut read).unwrap();
        let Header::Pgm(PgmHeader::Nak(found)) = &read.header else { panic!() };
        assert_eq!(found.missing, None);
        for header in [PgmHeader::Confirmation(30), PgmHeader::Path(PgmPath { trail: 10, next: 41 })] {
            let bytes = datagram(&mut sender, &packet(header), &[]);
            receiver.decode(ms(0), &bytes, &mut read).unwrap();
            match (&header, &read.header) {
                (PgmHeader::Confirmation(a), Header::Pgm(PgmHeader::Confirmation(b))) => assert_eq!(a, b),
                (PgmHeader::Path(a), Header::Pgm(PgmHeader::Path(b))) => {
                    assert_eq!((a.trail, a.next), (b.trail, b.next));
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(sender.decode(ms(0), &bytes, &mut read), Err(WireError::Kind), "not for the sender");
        }
    }

    proptest! {
        #[test]
        fn round_trips(
            first in 0u64..1 << 33, kept in 0u64..1 << 20, sent in 0u64..1 << 51, held in 0u64..60_000_000_000, loss: u16, mask: u32,
            acker in proptest::option::of(1u32..), payload in proptest::collection::vec(any::<u8>(), 0..50),
        ) {
            let (mut sender, mut receiver) = (Sender::new(session()), Receiver::new());
            let sent_at = Instant::from_nanos(sent);
            let data = PgmData { seq: first, acker: acker.map(NodeId), sent_at, trail: first.saturating_sub(kept), ..Default::default() };
            let bytes = datagram(&mut sender, &packet(PgmHeader::Data(data)), &payload);
            let mut read = Packet::vacant();
            prop_assert_eq!(receiver.decode(Instant::ZERO, &bytes, &mut read), Ok(DATA_BYTES));
            prop_assert_eq!(&bytes[DATA_BYTES..], &payload[..]);
            let Header::Pgm(PgmHeader::Data(found)) = read.header else { panic!() };
            prop_assert_eq!((found.seq as u32, found.acker, found.payload as usize), (first as u32, data.acker, payload.len()));
            let report = PgmReport { receiver: NodeId(3), loss, last_seq: found.seq, echo: found.sent_at };
            let ack = PgmAck { report, seq: found.seq, mask, leaving: false };
            let bytes = datagram(&mut receiver, &packet(PgmHeader::Ack(ack)), &[]);
            sender.decode(Instant::from_nanos(sent + held), &bytes, &mut read).unwrap();
            let Header::Pgm(PgmHeader::Ack(found)) = read.header else { panic!() };
            prop_assert_eq!((found.seq, found.report.last_seq, found.mask, found.report.loss), (first, first, mask, loss));
            prop_assert!(found.report.echo.as_nanos().abs_diff(sent) <= 1_000_000);
        }
    }
}
