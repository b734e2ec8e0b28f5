//! RLC in transparent mode (TS 25.322 §11.1): no header, no sequence numbers.
//!
//! An SDU is a PDU, or is cut into PDUs that all leave in one interval, with no other SDU's (§9.2.2.9).
//! If one of them is lost, so is the SDU.
//!
//! Where the standard drops waiting SDUs when a new one comes, unless a discard timer is set (§9.7.3.5), this entity queues, as if the
//! timer were longer than any queue. But an SDU of more PDUs than an interval of the present channel carries is discarded when its turn
//! comes: it would stop all others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::arq::{ArqConfig, LinkArq, Outcome, Slot, Unsent};
use lasthop_net::engine::{Bytes, Fault, Instant};
use lasthop_net::net::Probe;

use super::pdu::Pdu;
use super::reassembly::Reassembly;

use std::collections::VecDeque;

/// Transparent mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The largest PDU. Default: 40 B.
    pub pdu: Bytes,
    /// Cut an SDU that is larger into PDUs, which leave in one interval (*segmentation*, §9.2.2.9); if the channel's interval carries fewer,
    /// it is discarded. Default: off: a PDU is an SDU, and a larger SDU is refused.
    pub segmentation: bool,
    /// The most bytes of SDUs that wait; an SDU that does not fit is dropped. Default: 100 kB, as
    /// in the other modes.
    pub buffer: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { pdu: Bytes::new(40), segmentation: false, buffer: Bytes::new(100_000) }
    }
}

impl ArqConfig for Config {
    fn build(&self, _sends: Direction) -> Box<dyn LinkArq> {
        Box::new(Tm::new(self))
    }

    fn pdu_bits(&self) -> u32 {
        self.pdu.bits()
    }

    fn check(&self) -> Result<(), Fault> {
        if !(1..=8191).contains(&self.pdu.get()) {
            return Err(Fault::new("pdu", format!("PDUs of {}", self.pdu), "expected 1 B to 8191 B"));
        }
        Ok(())
    }
}

/// One end of a bearer in transparent mode.
#[derive(Debug)]
pub struct Tm {
    config: Config,
    /// The SDUs that wait, the number of the first, and how many PDUs of it are gone.
    sdus: VecDeque<u32>,
    front: u64,
    cut: u32,
    bytes: u64,
    /// The interval in which something was last sent, and the size of the SDU that was sent.
    interval: Option<(Instant, u32)>,
    pdus: u64,
    discarded: u64,
    reassembly: Reassembly,
    /// The SDU and the number in it of the PDU that came last.
    last: Option<(u64, u32)>,
}

impl Tm {
    /// With nothing sent and nothing received.
    pub fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            sdus: VecDeque::new(),
            front: 0,
            cut: 0,
            bytes: 0,
            interval: None,
            pdus: 0,
            discarded: 0,
            reassembly: Reassembly::new(),
            last: None,
        }
    }

    fn pdu(&self) -> u32 {
        u32::try_from(self.config.pdu.get()).expect("a PDU has at most 8191 bytes")
    }

    /// Whether an SDU of `bytes` may begin here. With segmentation an interval carries one SDU,
    /// without it SDUs of one size (§9.2.2.9).
    fn may_begin(&self, bytes: u32, slot: &Slot) -> bool {
        let under_way = self.interval.filter(|(interval, _)| *interval == slot.now);
        if self.config.segmentation {
            let [_, left] = slot.pdus_of(8 * self.pdu());
            return under_way.is_none() && bytes.div_ceil(self.pdu()) <= left;
        }
        under_way.is_none_or(|(_, size)| size == bytes)
    }

    /// The size of the SDU that begins next. Those before it that no interval of this channel carries are discarded.
    fn begin(&mut self, slot: &Slot) -> Option<u32> {
        let most = slot.bits / 8 / self.pdu();
        loop {
            let bytes = *self.sdus.front()?;
            if !self.config.segmentation || bytes.div_ceil(self.pdu()) <= most {
                return Some(bytes);
            }
            self.sdus.pop_front();
            self.front += 1;
            self.bytes -= u64::from(bytes);
            self.discarded += 1;
        }
    }
}

impl LinkArq for Tm {
    fn enqueue(&mut self, _now: Instant, bytes: u32, exempt: bool) -> bool {
        let fits = exempt || self.bytes + u64::from(bytes) <= self.config.buffer.get();
        let taken = fits && (self.config.segmentation || bytes <= self.pdu());
        if taken {
            self.bytes += u64::from(bytes);
            self.sdus.push_back(bytes);
        }
        taken
    }

    fn pull(&mut self, slot: &Slot) -> Option<Pdu> {
        let number = self.cut;
        let bytes = if number == 0 { self.begin(slot)? } else { *self.sdus.front()? };
        if number == 0 {
            if !self.may_begin(bytes, slot) {
                return None;
            }
            self.interval = Some((slot.now, bytes));
        }
        let data = self.pdu().min(bytes - number * self.pdu());
        let ends = number * self.pdu() + data == bytes;
        let sdu = self.front;
        if ends {
            self.sdus.pop_front();
            self.front += 1;
        }
        self.cut = if ends { 0 } else { number + 1 };
        self.bytes -= u64::from(data);
        self.pdus += 1;
        let starts = number == 0;
        // It is not larger than a PDU.
        let short = data as u16;
        Some(Pdu {
            sn: number,
            sdu,
            ends: u16::from(ends),
            starts,
            goes_on: !ends,
            data: short,
            first: short,
            bits: 8 * data,
            ..Pdu::default()
        })
    }

    fn wants_to_send(&self) -> bool {
        !self.sdus.is_empty()
    }

    fn next_sdu(&self) -> Option<u64> {
        Some(self.front)
    }

    fn on_pdu(&mut self, _now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        let follows = self.last.is_some_and(|(sdu, number)| sdu == pdu.sdu && number + 1 == pdu.sn);
        if !follows {
            self.reassembly.miss();
        }
        self.last = Some((pdu.sdu, pdu.sn));
        self.reassembly.accept(pdu, pdu.starts, outcomes);
    }

    fn on_timeout(&mut self, _now: Instant) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn ready_pdus(&self) -> u64 {
        self.bytes.div_ceil(u64::from(self.pdu())).max(self.sdus.len() as u64)
    }

    fn retransmits(&self) -> bool {
        false
    }

    fn backlog(&self) -> Unsent {
        Unsent { sdus: self.bytes, unacknowledged: 0 }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("new_pdus", self.pdus as f64);
        probe.value("delivered_sdus", self.reassembly.delivered as f64);
        probe.value("lost_sdus", self.reassembly.lost as f64);
        probe.value("discarded_sdus", self.discarded as f64);
        probe.value("backlog_bytes", self.bytes as f64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bearer::{Bearer, in_order, ms, pair};
    use super::*;

    fn bearer(config: &Config, pdus: u32) -> Bearer<Tm> {
        let bearer = Bearer::new(pair(config, || Tm::new(config)), None).with_pdus_of(config.pdu_bits());
        bearer.carrying(pdus).keeping_departures()
    }

    #[test]
    fn without_segmentation_an_sdu_is_a_pdu() {
        let mut bearer = bearer(&Config::default(), 2);
        assert!(!bearer.enqueue(0, 41), "larger than a PDU");
        for bytes in [40, 40, 30, 40] {
            assert!(bearer.enqueue(0, bytes));
        }
        bearer.run_until(ms(1000));
        assert_eq!(in_order(&bearer.outcomes[0], 4), 0);
        // Two of one size share an interval; another size waits for the next one (§9.2.2.9).
        let left: Vec<_> = bearer.departures.iter().map(|d| (d.at, d.pdu.bits)).collect();
        assert_eq!(left, [(ms(0), 320), (ms(0), 320), (ms(10), 240), (ms(20), 320)]);
    }

    #[test]
    fn with_segmentation_an_sdu_leaves_in_one_interval_alone() {
        let mut bearer = bearer(&Config { segmentation: true, ..Config::default() }, 3);
        for bytes in [81, 40, 120] {
            assert!(bearer.enqueue(0, bytes));
        }
        bearer.run_until(ms(1000));
        assert_eq!(in_order(&bearer.outcomes[0], 3), 0);
        let left: Vec<_> = bearer.departures.iter().map(|d| (d.at, d.pdu.data)).collect();
        let (a, b, c) = (ms(0), ms(10), ms(20));
        assert_eq!(left, [(a, 40), (a, 40), (a, 1), (b, 40), (c, 40), (c, 40), (c, 40)]);
    }

    #[test]
    fn an_sdu_that_no_interval_carries_does_not_stop_the_others() {
        let mut bearer = bearer(&Config { segmentation: true, ..Config::default() }, 3);
        for bytes in [40, 121, 500, 120] {
            assert!(bearer.enqueue(0, bytes));
        }
        bearer.run_until(ms(1000));
        let fates: Vec<_> = bearer.outcomes[0].iter().map(|(_, outcome)| *outcome).collect();
        let expected = [Outcome::Delivered(0), Outcome::Lost(1), Outcome::Lost(2), Outcome::Delivered(3)];
        assert_eq!((fates.as_slice(), bearer.ends[0].discarded), (&expected[..], 2));
        // Nor does the last one.
        assert!(bearer.enqueue(0, 121));
        bearer.run_until(ms(2000));
        assert_eq!((bearer.is_quiet(), bearer.ends[0].backlog()), (true, Unsent::default()));
    }

    proptest! {
        #[test]
        fn a_lost_pdu_loses_its_sdu_and_no_other(
            sdus in proptest::collection::vec(1u32..=120, 1..60),
            losses in proptest::collection::vec(any::<bool>(), 0..200),
        ) {
            let config = Config { segmentation: true, ..Config::default() };
            let fate = losses.clone();
            let loses = move |_, number: u64, _: &Pdu| fate.get(number as usize).copied().unwrap_or(false);
            let mut bearer = bearer(&config, 3).losing(loses);
            for bytes in &sdus {
                prop_assert!(bearer.enqueue(0, *bytes));
            }
            // The last PDU that is not lost settles all before.
            bearer.run_until(ms(10_000));
            bearer.losing_nothing();
            prop_assert!(bearer.enqueue(0, 1));
            bearer.run_until(ms(20_000));
            let mut number = 0;
            let mut hit = |bytes: u32| {
                let pdus = bytes.div_ceil(40) as usize;
                number += pdus;
                (number - pdus..number).any(|pdu| losses.get(pdu).copied().unwrap_or(false))
            };
            let expected = sdus.iter().filter(|bytes| hit(**bytes)).count() as u64;
            prop_assert_eq!(in_order(&bearer.outcomes[0], sdus.len() as u64 + 1), expected);
        }
    }
}
