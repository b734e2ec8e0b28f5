//! TFRC over UDP. RFC 5348 §3.2 says which fields packets have, but gives no layout; this is one of our own, with ticks of 10 µs as DCCP's
//! timestamp options have (RFC 4340 §13.1, which CCID 3 of RFC 4342 uses).
//!
//! ```text
//! Data, 12 bytes (RFC 5348 §3.2.1)          Feedback, 16 bytes (RFC 5348 §3.2.2)
//!  0  sequence number                         0  t_recvdata: the time stamp of the last data packet
//!  4  time stamp ts_i, in 10 µs               4  bit 31: a loss event began since the last report;
//!  8  round-trip time R, in 10 µs;               bits 30-0: t_delay, in 10 µs
//!     0 before there is one                   8  X_recv, in bytes per second
//!                                            12  loss event rate p, in units of 2⁻³²
//! ```
//!
//! The sizes are those of the simulated packets (40 and 44 bytes with IPv4 and UDP). The flag of a new loss event is implied by the report in
//! RFC 5348 §6.1 step 3; the machines say it. The hints of handovers have no field.

use lasthop_net::engine::{Duration, FloatTime, Instant};
use lasthop_net::net::{Header, Packet, TfrcHeader, TfrcReport};

use super::reader::Reader;
use super::sequence::Numbers;
use super::stamp::{Foreign, Ticks};
use super::{Codec, WireError};

/// RFC 4340 §13.1: time stamps count units of 10 µs.
const TICKS: Ticks = Ticks(10_000);
/// Bytes of the header of a data packet, and of a report.
pub const DATA_BYTES: usize = 12;
/// See [`DATA_BYTES`].
pub const REPORT_BYTES: usize = 16;

const NEW_LOSS: u32 = 1 << 31;
const UNIT_OF_P: f64 = 1.0 / 4_294_967_296.0;

/// The sending end's codec: writes data, reads reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender;

impl Codec for Sender {
    fn encode(&mut self, packet: &Packet, datagram: &mut Vec<u8>) {
        let Header::Tfrc(header) = &packet.header else { return };
        let rtt = Duration::from_secs_f64(header.rtt);
        let fields = [header.seq as u32, TICKS.write(header.sent_at.instant()), TICKS.span(rtt, u32::MAX)];
        datagram.extend(fields.into_iter().flat_map(u32::to_be_bytes));
    }

    fn decode(&mut self, now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let mut fields = Reader(datagram);
        let echo = TICKS.own(fields.u32()?, now)?;
        let delay = fields.u32()?;
        let rate = fields.u32()?;
        let p = fields.u32()?;
        let new_loss = delay & NEW_LOSS != 0;
        let delay = TICKS.duration(delay & !NEW_LOSS);
        if !fields.0.is_empty() || delay > now.since(echo) + TICKS.duration(2) {
            return Err(WireError::Value);
        }
        packet.header = Header::TfrcReport(TfrcReport {
            echo: FloatTime::new(echo),
            delay: delay.as_secs_f64(),
            rate: rate.into(),
            p: f64::from(p) * UNIT_OF_P,
            new_loss,
            ..TfrcReport::default()
        });
        Ok(REPORT_BYTES)
    }
}

/// The receiving end's codec: reads data, writes reports.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    numbers: Numbers,
    clock: Foreign,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { numbers: Numbers::default(), clock: Foreign::new(TICKS) }
    }
}

impl Codec for Receiver {
    fn encode(&mut self, packet: &Packet, datagram: &mut Vec<u8>) {
        let Header::TfrcReport(report) = &packet.header else { return };
        let delay = TICKS.span(Duration::from_secs_f64(report.delay), !NEW_LOSS);
        let flag = if report.new_loss { NEW_LOSS } else { 0 };
        // Casts from float saturate.
        let (rate, p) = (libm::round(report.rate) as u32, libm::round(report.p / UNIT_OF_P) as u32);
        let fields = [self.clock.write(report.echo.instant()), delay | flag, rate, p];
        datagram.extend(fields.into_iter().flat_map(u32::to_be_bytes));
    }

    fn decode(&mut self, _now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let mut fields = Reader(datagram);
        let (seq, stamp, rtt) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let payload = fields.0.len() as u32;
        packet.header = Header::Tfrc(TfrcHeader {
            seq: self.numbers.read(seq)?,
            sent_at: FloatTime::new(self.clock.read(stamp)),
            rtt: TICKS.duration(rtt).as_secs_f64(),
            payload,
            ..TfrcHeader::default()
        });
        Ok(DATA_BYTES)
    }

    fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data(seq: u64, sent_ns: u64, rtt: f64) -> Packet {
        let sent_at = FloatTime::new(Instant::from_nanos(sent_ns));
        Packet { header: Header::Tfrc(TfrcHeader { seq, sent_at, rtt, ..TfrcHeader::default() }), ..Packet::vacant() }
    }

    /// Field by field: number 7 at 1.5 s with a round-trip time of 100 ms; its report 20 ms later, at 125 kB/s and p = 1/4.
    #[test]
    fn bytes_are_those_of_the_layout() {
        let mut bytes = Vec::new();
        Sender.encode(&data(7, 1_500_000_000, 0.1), &mut bytes);
        assert_eq!(bytes, [0, 0, 0, 7, 0x00, 0x02, 0x49, 0xf0, 0x00, 0x00, 0x27, 0x10]);
        let mut receiver = Receiver::default();
        let mut packet = Packet::vacant();
        bytes.extend([0; 100]);
        assert_eq!(receiver.decode(Instant::ZERO, &bytes, &mut packet), Ok(12));
        let Header::Tfrc(header) = &packet.header else { panic!() };
        assert_eq!((header.seq, header.payload, header.rtt), (7, 100, 0.1));
        let report = TfrcReport {
            echo: header.sent_at,
            delay: 0.02,
            rate: 125e3,
            p: 0.25,
            new_loss: true,
            ..Default::default()
        };
        let mut bytes = Vec::new();
        receiver.encode(&Packet { header: Header::TfrcReport(report), ..Packet::vacant() }, &mut bytes);
        assert_eq!(
            bytes,
            [0x00, 0x02, 0x49, 0xf0, 0x80, 0x00, 0x07, 0xd0, 0x00, 0x01, 0xe8, 0x48, 0x40, 0x00, 0x00, 0x00]
        );
        let now = Instant::from_nanos(1_600_000_000);
        assert_eq!(Sender.decode(now, &bytes, &mut packet), Ok(16));
        let Header::TfrcReport(report) = &packet.header else { panic!() };
        assert_eq!((report.echo.as_secs(), report.delay, report.rate, report.p), (1.5, 0.02, 125e3, 0.25));
        assert!(report.new_loss);
        // A byte more or less, or a delay longer than the round trip, is no report.
        assert_eq!(Sender.decode(now, &bytes[..15], &mut packet), Err(WireError::Short));
        assert_eq!(Sender.decode(Instant::from_nanos(1_510_000_000), &bytes, &mut packet), Err(WireError::Value));
    }

    proptest! {
        #[test]
        fn round_trips(
            seq in 0u64..1 << 40, sent in 0u64..1 << 50, rtt in 0.0..60.0f64, held in 0u64..30_000_000_000, rate in 0.0..4e9f64,
            p in 0.0..1.0f64, new_loss: bool,
        ) {
            let (mut bytes, mut packet) = (Vec::new(), Packet::vacant());
            Sender.encode(&data(seq, sent, rtt), &mut bytes);
            let mut receiver = Receiver::default();
            receiver.decode(Instant::ZERO, &bytes, &mut packet).unwrap();
            let Header::Tfrc(header) = packet.header else { panic!() };
            prop_assert_eq!(header.seq as u32, seq as u32);
            prop_assert!((header.rtt - rtt).abs() <= 5.1e-6);
            let delay = held as f64 * 1e-9;
            let report = TfrcReport { echo: header.sent_at, delay, rate, p, new_loss, ..Default::default() };
            bytes.clear();
            receiver.encode(&Packet { header: Header::TfrcReport(report), ..Packet::vacant() }, &mut bytes);
            Sender.decode(Instant::from_nanos(sent + held), &bytes, &mut packet).unwrap();
            let Header::TfrcReport(report) = packet.header else { panic!() };
            prop_assert!((report.echo.as_secs() - sent as f64 * 1e-9).abs() <= 2.1e-5);
            prop_assert!((report.delay - delay).abs() <= 5.1e-6 && (report.rate - rate).abs() <= 0.5 && (report.p - p).abs() <= 1e-9);
            prop_assert_eq!(report.new_loss, new_loss);
        }
    }
}
