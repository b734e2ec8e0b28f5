//! The packets of interactive media: RTP's data, and RTCP's feedback for each packet.

use crate::engine::Instant;

use super::Ecn;

/// What a data packet of a media flow carries: RTP's header (RFC 3550 §5.1), and truths that no protocol decides by.
#[derive(Clone, Copy, Debug, Default)]
pub struct RtpHeader {
    /// The packet's number, from 0; the sequence number is its low 16 bits.
    pub seq: u64,
    /// When it was sent.
    pub sent_at: Instant,
    /// RTP's time stamp: when its frame was written, in steps of 1/90 000 s, modulo 2³².
    pub timestamp: u32,
    /// Whether it is the last packet of its frame (the marker bit of video).
    pub marker: bool,
    /// Payload bytes.
    pub payload: u32,
    /// Payload bytes of the flow up to this packet's end.
    pub end: u64,
}

/// A report of which packets arrived, when and how marked (RFC 8888 §3.1), about one stream.
#[derive(Clone, Copy, Debug)]
pub struct RtcpReport {
    /// The number of the first packet reported of (begin_seq is its low 16 bits).
    pub begin: u64,
    /// The report timestamp, in steps of 2⁻¹⁶ s.
    rts: Instant,
    /// How many times the receiver's terminal has changed its path.
    pub epoch: u8,
    blocks: Blocks,
}

#[derive(Clone, Copy, Debug)]
struct Blocks {
    len: u8,
    of: [u16; RtcpReport::MOST],
}

/// R: the packet arrived.
const RECEIVED: u16 = 1 << 15;
/// ATO: how long before the report, in steps of 1/1024 s. The largest that is known to be right; beyond it all say 0x1FFE.
const LONGEST_ATO: u64 = 0x1ffd;
const OVER_RANGE: u16 = 0x1ffe;

impl RtcpReport {
    /// The most packets of a report: what a packet has room for here. On the wire it may be 16 384.
    pub const MOST: usize = 28;

    /// A report at `now`, of packets from `begin` on.
    pub fn new(now: Instant, begin: u64, epoch: u8) -> Self {
        // RFC 8888 §3.1: the middle 32 bits of NTP's timestamp.
        let ticks = (u128::from(now.as_nanos()) << 16) / 1_000_000_000;
        let rts = Instant::from_nanos((ticks * 1_000_000_000).div_ceil(1 << 16) as u64);
        Self { begin, rts, epoch, blocks: Blocks { len: 0, of: [0; Self::MOST] } }
    }

    /// Adds the next packet: its arrival, if it has arrived. Says whether it found room.
    pub fn push(&mut self, arrival: Option<(Instant, Ecn)>) -> bool {
        let Some(block) = self.blocks.of.get_mut(usize::from(self.blocks.len)) else { return false };
        *block = arrival.map_or(0, |(at, ecn)| {
            let ato = u128::from(self.rts.since(at).as_nanos()) * 1024 / 1_000_000_000;
            let ato = if ato > u128::from(LONGEST_ATO) { OVER_RANGE } else { ato as u16 };
            RECEIVED | (ecn as u16) << 13 | ato
        });
        self.blocks.len += 1;
        true
    }

    /// When it was made, as the report says it.
    pub fn made_at(&self) -> Instant {
        self.rts
    }

    /// The same in steps of 2⁻¹⁶ s, modulo 2³²: RTS.
    pub fn timestamp(&self) -> u32 {
        ((u128::from(self.rts.as_nanos()) << 16) / 1_000_000_000) as u32
    }

    /// The packets as they are written: R, ECN and ATO of each.
    pub fn blocks(&self) -> &[u16] {
        &self.blocks.of[..self.len()]
    }

    /// How many packets it reports of.
    pub fn len(&self) -> usize {
        self.blocks.len.into()
    }

    /// Whether it reports of none.
    pub fn is_empty(&self) -> bool {
        self.blocks.len == 0
    }

    /// The packets with their arrivals, as far as they arrived.
    pub fn packets(&self) -> impl Iterator<Item = (u64, Option<(Instant, Ecn)>)> + '_ {
        let arrival = |block: u16| {
            let before = u64::from(block & 0x1fff) * 1_000_000_000 / 1024;
            let at = Instant::from_nanos(self.rts.as_nanos().saturating_sub(before));
            let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(block >> 13 & 3)];
            (block & RECEIVED != 0).then_some((at, ecn))
        };
        (self.begin..).zip(self.blocks()).map(move |(seq, &block)| (seq, arrival(block)))
    }

    /// Its bytes as an RTCP packet: header and sender, the stream with two numbers, two bytes a packet in words of four, and the report
    /// timestamp.
    pub fn bytes(&self) -> u32 {
        8 + 8 + (2 * u32::from(self.blocks.len)).next_multiple_of(4) + 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn arrivals_survive_in_steps_of_1024_to_a_second() {
        let mut report = RtcpReport::new(ms(1_000), 7, 0);
        for arrival in [Some((ms(900), Ecn::Ect1)), None, Some((ms(999), Ecn::Ce)), Some((ms(1_000), Ecn::NotEct))] {
            assert!(report.push(arrival));
        }
        let got: Vec<_> = report.packets().collect();
        // 100 ms are 102 whole steps of 1/1024 s; 1 ms is 1.
        let before = |steps: u64| Instant::from_nanos(1_000_000_000 - steps * 1_000_000_000 / 1024);
        let expected = [
            (7, Some((before(102), Ecn::Ect1))),
            (8, None),
            (9, Some((before(1), Ecn::Ce))),
            (10, Some((ms(1_000), Ecn::NotEct))),
        ];
        assert_eq!(got, expected);
        // Header 4, sender 4, stream 4 + 4, four packets 8, timestamp 4.
        assert_eq!(report.bytes(), 28);
    }

    #[test]
    fn what_is_too_long_ago_or_too_much_is_said_so() {
        let mut report = RtcpReport::new(ms(20_000), 0, 0);
        assert!(report.push(Some((ms(1), Ecn::NotEct))));
        let at = report.packets().next().unwrap().1.unwrap().0;
        // RFC 8888 §3.1: 0x1FFE is anything beyond 8189/1024 s.
        assert_eq!(at, Instant::from_nanos(20_000_000_000 - 8190 * 1_000_000_000 / 1024));
        (1..RtcpReport::MOST).for_each(|_| assert!(report.push(None)));
        assert!(!report.push(None));
        assert_eq!(report.len(), RtcpReport::MOST);
    }
}
