//! TFMCC over UDP. RFC 4654 §2.2 says which fields packets have and how wide they are, and draws no layout; here they stand in its order, with
//! the flags and short fields in one word.
//!
//! ```text
//! Data, 20 bytes (RFC 4654 §2.2.1)          Feedback, 16 bytes (RFC 4654 §2.2.2)
//!  0  sequence number                         0  r: the receiver
//!  4  ts_i: time stamp, in ms                 4  tr_r: time stamp, in ms
//!  8  r: the receiver that is answered;       8  ts_i': the time stamp of the last data packet,
//!     0 for none                                 later by the time for which it was held
//! 12  tr_r': its time stamp, later by the    12  bit 31: have_RTT, 30: have_loss,
//!     time for which it was held                 29: receiver_leave; 28-16: 0, but
//! 16  bit 31: is_CLR; 30-28: 0;                  bits 19-16: fb_nr; 15-12: 0;
//!     27-24: fb_nr; 23-16: R_max;                11-0: X_r
//!     15-12: 0; 11-0: X_supp
//! ```
//!
//! R_max and the rates are the short floating-point numbers of RFC 4654 §2.2 ([`super::floats`]). The largest X_supp stands for no limit. The
//! packet-loss indication of a base station has no bit: real packets are not rewritten.

use lasthop_net::engine::Instant;
use lasthop_net::net::{Header, NodeId, Packet, TfmccEcho, TfmccHeader, TfmccReport};

use super::reader::Reader;
use super::sequence::Numbers;
use super::stamp::{Foreign, Ticks};
use super::{Codec, WireError, floats};

/// RFC 4654 §2.2.1: time stamps are in milliseconds.
const TICKS: Ticks = Ticks(1_000_000);
/// Bytes of the header of a data packet, and of a report.
pub const DATA_BYTES: usize = 20;
/// See [`DATA_BYTES`].
pub const REPORT_BYTES: usize = 16;

const IS_CLR: u32 = 1 << 31;
const HAVE_RTT: u32 = 1 << 31;
const HAVE_LOSS: u32 = 1 << 30;
const LEAVES: u32 = 1 << 29;
const RATE: u32 = 0xfff;
const ROUND: u32 = 0xf;

/// The sending end's codec: writes data, reads reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender;

impl Codec for Sender {
    fn encode(&mut self, packet: &Packet, datagram: &mut Vec<u8>) {
        let Header::Tfmcc(header) = &packet.header else { return };
        let (receiver, stamp) = header.echo.map_or((0, 0), |echo| (echo.receiver.0, TICKS.write(echo.stamp)));
        let word = if header.is_clr { IS_CLR } else { 0 }
            | (u32::from(header.round) & ROUND) << 24
            | u32::from(floats::write_time(header.r_max)) << 16
            | u32::from(floats::write_rate(header.x_supp));
        let fields = [header.seq as u32, TICKS.write(header.sent_at), receiver, stamp, word];
        datagram.extend(fields.into_iter().flat_map(u32::to_be_bytes));
    }

    fn decode(&mut self, now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let mut fields = Reader(datagram);
        let (receiver, stamp, echo, word) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
        if !fields.0.is_empty() || receiver == 0 || word & RATE == RATE {
            return Err(WireError::Value);
        }
        packet.header = Header::TfmccReport(TfmccReport {
            receiver: NodeId(receiver),
            stamp: TICKS.raw(stamp),
            echo: TICKS.own(echo, now)?,
            round: (word >> 16 & ROUND) as u8,
            have_rtt: word & HAVE_RTT != 0,
            have_loss: word & HAVE_LOSS != 0,
            leaving: word & LEAVES != 0,
            rate: floats::read_rate((word & RATE) as u16),
        });
        Ok(REPORT_BYTES)
    }
}

/// The receiving end's codec: reads data, writes reports.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    receiver: u32,
    numbers: Numbers,
    clock: Foreign,
}

impl Receiver {
    /// For the receiver with this number, which is not 0.
    pub fn new(receiver: u32) -> Self {
        Self { receiver, numbers: Numbers::default(), clock: Foreign::new(TICKS) }
    }
}

impl Codec for Receiver {
    fn encode(&mut self, packet: &Packet, datagram: &mut Vec<u8>) {
        let Header::TfmccReport(report) = &packet.header else { return };
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let word = flag(report.have_rtt, HAVE_RTT)
            | flag(report.have_loss, HAVE_LOSS)
            | flag(report.leaving, LEAVES)
            | (u32::from(report.round) & ROUND) << 16
            | u32::from(floats::write_rate(report.rate.min(f64::MAX)));
        let fields = [report.receiver.0, TICKS.write(report.stamp), self.clock.write(report.echo), word];
        datagram.extend(fields.into_iter().flat_map(u32::to_be_bytes));
    }

    fn decode(&mut self, now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let mut fields = Reader(datagram);
        let (seq, sent_at, receiver, stamp, word) =
            (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
        let echo = match receiver {
            0 => None,
            // Only the own stamp means something here.
            own if own == self.receiver => Some(TICKS.own(stamp, now)?),
            _ => Some(TICKS.raw(stamp)),
        };
        packet.header = Header::Tfmcc(TfmccHeader {
            seq: self.numbers.read(seq)?,
            sent_at: self.clock.read(sent_at),
            echo: echo.map(|stamp| TfmccEcho { receiver: NodeId(receiver), stamp }),
            is_clr: word & IS_CLR != 0 && receiver != 0,
            round: (word >> 24 & ROUND) as u8,
            r_max: floats::read_time((word >> 16) as u8),
            x_supp: floats::read_rate((word & RATE) as u16),
            payload: fields.0.len() as u32,
            end: 0,
            loss_indicated: false,
        });
        Ok(DATA_BYTES)
    }

    fn forget(&mut self) {
        *self = Self::new(self.receiver);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn header() -> TfmccHeader {
        TfmccHeader {
            seq: 258,
            sent_at: ms(1000),
            echo: Some(TfmccEcho { receiver: NodeId(0x0a4d_0002), stamp: ms(770) }),
            is_clr: true,
            round: 9,
            r_max: 0.256,
            x_supp: 12_500.0,
            payload: 100,
            ..TfmccHeader::default()
        }
    }

    /// R_max of 256 ms is 2⁸ ms: exponent 8, mantissa 0. 100 kbit/s are 1000 units: 2⁹ · (1 + 122/128) = 1000.
    #[test]
    fn bytes_of_data_are_those_of_the_layout() {
        let mut bytes = Vec::new();
        Sender.encode(&Packet { header: Header::Tfmcc(header()), ..Packet::vacant() }, &mut bytes);
        let word = 1 << 31 | 9 << 24 | 0x80 << 16 | (9 << 7 | 122);
        let expected = [258u32, 1000, 0x0a4d_0002, 770, word];
        assert_eq!(bytes, expected.into_iter().flat_map(u32::to_be_bytes).collect::<Vec<u8>>());
        let mut packet = Packet::vacant();
        bytes.extend([0; 100]);
        assert_eq!(Receiver::new(0x0a4d_0002).decode(ms(900), &bytes, &mut packet), Ok(20));
        let Header::Tfmcc(read) = packet.header else { panic!() };
        let header = header();
        assert_eq!((read.seq, read.echo, read.is_clr, read.round), (258, header.echo, true, 9));
        assert_eq!((read.r_max, read.x_supp, read.payload), (header.r_max, header.x_supp, 100));
        // To another receiver the same packet says that it is not the CLR's, and the stamp means nothing.
        assert!(Receiver::new(1).decode(ms(0), &bytes, &mut packet).is_ok());
        // A receiver does not take a stamp for its own that it never sent.
        assert_eq!(Receiver::new(0x0a4d_0002).decode(ms(500), &bytes, &mut packet), Err(WireError::Stamp));
    }

    #[test]
    fn bytes_of_feedback_are_those_of_the_layout() {
        let mut receiver = Receiver::new(5);
        let mut packet = Packet::vacant();
        let mut bytes = Vec::new();
        Sender.encode(&Packet { header: Header::Tfmcc(header()), ..Packet::vacant() }, &mut bytes);
        receiver.decode(ms(0), &bytes, &mut packet).unwrap();
        let Header::Tfmcc(data) = packet.header else { panic!() };
        let report = TfmccReport {
            receiver: NodeId(5),
            stamp: ms(40),
            echo: data.sent_at + lasthop_net::engine::Duration::from_millis(30),
            round: 9,
            have_rtt: false,
            have_loss: true,
            leaving: true,
            rate: 12_500.0,
        };
        bytes.clear();
        receiver.encode(&Packet { header: Header::TfmccReport(report), ..Packet::vacant() }, &mut bytes);
        let expected = [5u32, 40, 1030, 0b011 << 29 | 9 << 16 | (9 << 7 | 122)];
        assert_eq!(bytes, expected.into_iter().flat_map(u32::to_be_bytes).collect::<Vec<u8>>());
        assert_eq!(Sender.decode(ms(1200), &bytes, &mut packet), Ok(16));
        let Header::TfmccReport(read) = packet.header else { panic!() };
        assert_eq!((read.receiver, read.echo, read.stamp, read.round), (NodeId(5), ms(1030), ms(40), 9));
        assert_eq!((read.have_rtt, read.have_loss, read.leaving, read.rate), (false, true, true, 12_500.0));
        bytes.push(0);
        assert_eq!(Sender.decode(ms(1200), &bytes, &mut packet), Err(WireError::Value));
    }

    proptest! {
        #[test]
        fn round_trips(
            seq in 0u64..1 << 32, sent in 0u64..1 << 51, held in 0u64..60_000_000_000, round in 0u8..16, r_max in 1e-3..63.0f64,
            x_supp in 12.5..5e9f64, is_clr: bool, id in 1u32..,
        ) {
            let echo = Some(TfmccEcho { receiver: NodeId(id), stamp: Instant::from_nanos(sent) });
            let header = TfmccHeader { seq, sent_at: Instant::from_nanos(sent), echo, is_clr, round, r_max, x_supp, ..Default::default() };
            let (mut bytes, mut packet) = (Vec::new(), Packet::vacant());
            Sender.encode(&Packet { header: Header::Tfmcc(header), ..Packet::vacant() }, &mut bytes);
            Receiver::new(id).decode(Instant::from_nanos(sent + held), &bytes, &mut packet).unwrap();
            let Header::Tfmcc(read) = packet.header else { panic!() };
            prop_assert_eq!((read.seq, read.is_clr, read.round), (seq, is_clr, round));
            prop_assert!(read.echo.unwrap().stamp.as_nanos().abs_diff(sent) <= 1_000_000);
            // R_max is rounded up, X_supp to the nearest.
            prop_assert!((-1e-9..=1.0 / 16.0).contains(&(read.r_max / r_max - 1.0)));
            prop_assert!((read.x_supp / x_supp - 1.0).abs() <= 1.0 / 256.0);
        }
    }
}
