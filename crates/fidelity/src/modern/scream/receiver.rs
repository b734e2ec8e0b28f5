//! SCReAM's receiver (ScreamRx at c8f84c3d): the last 32 packets in each report, at the end of a frame, after 16 packets or after 40 ms.
//! Where the numbers have leapt by more, the report speaks of the stream several times, of 32 packets each.

use std::collections::BTreeMap;

use lasthop_core::net::Ecn;
use lasthop_core::transport::media::control::scream::{Block, Ticks};
use lasthop_core::transport::media::rfc8888::{ArrivalOffset, Count, Received, Report, Stream, decode, encode};

use super::sender::Packet;

/// kReportedRtpPackets.
const REPORTED: u64 = 32;
/// kMaxRtcpSize, 900 bytes: a report speaks of a stream this many times at most.
const TIMES: usize = 13;
/// ackDiff: half of them.
const UNREPORTED: u64 = 16;
/// kRxHistorySize.
const REMEMBERED: u64 = 512;
/// rtcpFbInterval, until packets have come for 100 ms, and then kMaxRtcpInterval: 40 ms.
const INTERVALS: [Ticks; 2] = [13_107, 2_621];
const MEASURED: Ticks = 6_554;
/// The harness's SSRCs: of its receiver and of the stream.
const SSRC: [u32; 2] = [0, 10];

/// The receiver of one stream.
#[derive(Default)]
pub struct Receiver {
    /// By its number: when a packet came, and its ECN field.
    packets: BTreeMap<u64, (Ticks, Ecn)>,
    highest: Option<u64>,
    /// highestSeqNrTx: the highest that was reported; 0 before the first report.
    reported: u64,
    /// Packets since the last report, and whether a frame has ended.
    fresh: u64,
    flush: bool,
    reported_at: Ticks,
    first_at: Option<Ticks>,
    measured: bool,
}

impl Receiver {
    /// A packet has come.
    pub fn on_packet(&mut self, now: Ticks, packet: &Packet, ecn: Ecn) {
        self.measured |= now - *self.first_at.get_or_insert(now) > MEASURED;
        self.packets.insert(packet.number, (now, ecn));
        self.packets = self.packets.split_off(&(packet.number + 1).saturating_sub(REMEMBERED));
        self.highest = self.highest.max(Some(packet.number));
        self.fresh += 1;
        self.flush |= packet.marker;
    }

    /// The report that is due.
    pub fn poll(&mut self, now: Ticks) -> Option<Vec<u8>> {
        let highest = self.highest.filter(|_| self.fresh > 0)?;
        let interval = INTERVALS[usize::from(self.measured)];
        // Packets that are lost are unreported and not fresh: the receiver asks for both.
        let is_enough = self.flush || self.fresh.min(highest.saturating_sub(self.reported)) >= UNREPORTED;
        if now - self.reported_at <= interval && !is_enough {
            return None;
        }
        let mut streams = Vec::new();
        while streams.is_empty() || (self.reported < highest && streams.len() < TIMES) {
            self.reported = if self.reported + REPORTED < highest { self.reported + REPORTED } else { highest };
            streams.push(self.stream(now));
        }
        (self.fresh, self.flush, self.reported_at) = (0, self.reported < highest, now);
        let report = Report { sender: SSRC[0], streams, timestamp: now as u32 };
        Some(encode(&report, Count::LastPacket).expect("some times 32 packets fit a report"))
    }

    /// The 32 packets of which the last is that reported last.
    fn stream(&self, now: Ticks) -> Stream {
        let packets = (0..REPORTED).map(|place| {
            let (at, ecn) = *self.packets.get(&(self.reported + 1 + place).checked_sub(REPORTED)?)?;
            Some(Received { ecn, offset: ArrivalOffset::between(at as u32, now as u32) })
        });
        let begin = (self.reported as u16).wrapping_sub(REPORTED as u16 - 1);
        Stream { ssrc: SSRC[1], begin, packets: packets.collect() }
    }
}

/// What a report says, each time that it speaks of the stream.
pub struct Part {
    /// The packets that have arrived.
    pub blocks: Vec<Block>,
    /// The last one of which it speaks is one of them.
    pub ends: bool,
}

/// The parts of a report. The numbers are those near `latest`, a packet that was sent lately.
pub fn parts(bytes: &[u8], latest: u64) -> Result<Vec<Part>, String> {
    let short = || "a report without a stream".to_owned();
    let (header, rest) = bytes.split_at_checked(8).ok_or_else(short)?;
    let (mut rest, timestamp) = rest.split_last_chunk::<4>().ok_or_else(short)?;
    let mut all = Vec::new();
    // What num_reports means is clear of one stream alone: each is read as if it were.
    while !rest.is_empty() {
        let [.., high, low] = *rest.first_chunk::<8>().ok_or_else(short)?;
        let words = 2 + (usize::from(u16::from_be_bytes([high, low])) + 2) / 2;
        let (stream, others) = rest.split_at_checked(4 * words).ok_or_else(short)?;
        let mut alone = [header, stream, timestamp].concat();
        let length = (alone.len() / 4 - 1) as u16;
        alone[2..4].copy_from_slice(&length.to_be_bytes());
        all.push(part(&alone, latest)?);
        rest = others;
    }
    if all.is_empty() { Err(short()) } else { Ok(all) }
}

/// What a report says that speaks of the stream once.
fn part(bytes: &[u8], latest: u64) -> Result<Part, String> {
    let report = decode(bytes).map_err(|error| error.to_string())?;
    let stream = report.streams.first().ok_or("a report without a stream")?;
    let arrived = stream.packets.iter().enumerate().filter_map(|(place, packet)| {
        let sequence = stream.begin.wrapping_add(place as u16);
        let behind = (latest as u16).wrapping_sub(sequence) as i16;
        let number = latest.checked_add_signed(-i64::from(behind))?;
        let packet = packet.as_ref()?;
        Some(Block { number, at: u64::from(packet.offset.arrival(report.timestamp)?), ce: packet.ecn == Ecn::Ce })
    });
    Ok(Part { blocks: arrived.collect(), ends: stream.packets.last().is_some_and(Option::is_some) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(receiver: &mut Receiver, now: Ticks, number: u64, marker: bool) {
        receiver.on_packet(now, &Packet { at: 0, bytes: 1200, number, marker }, Ecn::Ect1);
    }

    /// createStandardizedFeedback goes round until the highest number is reported: of 0 and 70 the second is in the third part, and the first
    /// two end with packets that have not arrived.
    #[test]
    fn numbers_that_leap_are_reported_in_parts() {
        let mut receiver = Receiver::default();
        arrive(&mut receiver, 100, 0, true);
        assert!(receiver.poll(100).is_some());
        arrive(&mut receiver, 200, 70, true);
        let parts = parts(&receiver.poll(200).unwrap(), 70).unwrap();
        let said: Vec<(usize, bool)> = parts.iter().map(|part| (part.blocks.len(), part.ends)).collect();
        assert_eq!(said, [(0, false), (0, false), (1, true)]);
        assert_eq!(parts[2].blocks[0].number, 70);
        assert!(receiver.poll(3_000).is_none(), "nothing is new");
    }

    /// 16 packets have to arrive within 40 ms (nRtpSinceLastRtcp), lost ones beside them.
    #[test]
    fn lost_packets_bring_no_report() {
        let mut receiver = Receiver::default();
        arrive(&mut receiver, 100, 0, true);
        assert!(receiver.poll(100).is_some());
        for k in 1..=16 {
            arrive(&mut receiver, 100 + k, 2 * k, false);
            assert_eq!(receiver.poll(100 + k).is_some(), k == 16, "{k}");
        }
    }
}
