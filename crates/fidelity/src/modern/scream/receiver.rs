//! SCReAM's receiver (ScreamRx at c8f84c3d): the last 32 packets in each report, at the end of a frame, after 16 packets or after 40 ms.

use std::collections::BTreeMap;

use lasthop_core::net::Ecn;
use lasthop_core::transport::media::control::scream::{Block, Ticks};
use lasthop_core::transport::media::rfc8888::{ArrivalOffset, Count, Received, Report, Stream, decode, encode};

use super::sender::Packet;

/// kReportedRtpPackets.
const REPORTED: u64 = 32;
/// ackDiff: half of them.
const UNREPORTED: u64 = 16;
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
    /// The highest that was reported.
    reported: Option<u64>,
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
        self.packets = self.packets.split_off(&packet.number.saturating_sub(2 * REPORTED));
        self.highest = self.highest.max(Some(packet.number));
        self.fresh += 1;
        self.flush |= packet.marker;
    }

    /// The report that is due.
    pub fn poll(&mut self, now: Ticks) -> Option<Vec<u8>> {
        let highest = self.highest.filter(|_| self.fresh > 0)?;
        let unreported = self.reported.map_or(highest + 1, |reported| highest - reported);
        let interval = INTERVALS[usize::from(self.measured)];
        if now - self.reported_at <= interval && unreported < UNREPORTED && !self.flush {
            return None;
        }
        (self.reported, self.fresh, self.flush, self.reported_at) = (Some(highest), 0, false, now);
        let packets = (0..REPORTED).map(|place| {
            let (at, ecn) = *self.packets.get(&(highest + 1 + place).checked_sub(REPORTED)?)?;
            Some(Received { ecn, offset: ArrivalOffset::between(at as u32, now as u32) })
        });
        let begin = (highest as u16).wrapping_sub(REPORTED as u16 - 1);
        let stream = Stream { ssrc: SSRC[1], begin, packets: packets.collect() };
        let report = Report { sender: SSRC[0], streams: vec![stream], timestamp: now as u32 };
        Some(encode(&report, Count::LastPacket).expect("32 packets fit a report"))
    }
}

/// The packets that a report says have arrived. The numbers are those near `latest`, a packet that was sent lately.
pub fn blocks(bytes: &[u8], latest: u64) -> Result<Vec<Block>, String> {
    let report = decode(bytes).map_err(|error| error.to_string())?;
    let stream = report.streams.first().ok_or("a report without a stream")?;
    let arrived = stream.packets.iter().enumerate().filter_map(|(place, packet)| {
        let sequence = stream.begin.wrapping_add(place as u16);
        let behind = (latest as u16).wrapping_sub(sequence) as i16;
        let number = latest.checked_add_signed(-i64::from(behind))?;
        let packet = packet.as_ref()?;
        Some(Block { number, at: u64::from(packet.offset.arrival(report.timestamp)?), ce: packet.ecn == Ecn::Ce })
    });
    Ok(arrived.collect())
}
