//! RLC in unacknowledged mode (TS 25.322 §11.2): sequence numbers, segmentation and concatenation, and
//! no retransmission.
//!
//! Each PDU has a header of one byte with a sequence number modulo 128. If one is missing, every SDU of which a part could lie in it is
//! discarded (§11.2.3.1). The loss of 128 PDUs in a row is not noticed, as in the standard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::arq::{ArqConfig, LinkArq, Outcome, Slot, Unsent};
use lasthop_net::engine::{Bytes, Fault, Instant};
use lasthop_net::net::Probe;

use super::Header;
use super::pdu::{Pdu, Reason};
use super::reassembly::Reassembly;
use super::segmentation::{Format, Segmenter};

/// Unacknowledged mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The size of a PDU. Up to 125 B a length indicator takes 1 B, above 2 B (§9.2.2.8). Default:
    /// 40 B.
    pub pdu: Bytes,
    /// Whether the header of 1 B takes of it. Default: `included`.
    pub header: Header,
    /// Spend an indicator to tell that a PDU begins with the first byte of an SDU, where the end of
    /// the one before does not tell it; then a missing PDU does not cost that SDU. Default: on: the
    /// uplink must, the downlink may (§9.2.2.8).
    pub tells_start: bool,
    /// The most bytes that wait to be put into PDUs; an SDU that does not fit is dropped. Default:
    /// 100 kB, as in acknowledged mode.
    pub buffer: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { pdu: Bytes::new(40), header: Header::Included, tells_start: true, buffer: Bytes::new(100_000) }
    }
}

impl ArqConfig for Config {
    fn build(&self, _sends: Direction) -> Box<dyn LinkArq> {
        Box::new(Um::new(self))
    }

    fn pdu_bits(&self) -> u32 {
        self.pdu.bits()
    }

    fn check(&self) -> Result<(), Fault> {
        if !PDU_SIZES.contains(&self.pdu.get()) {
            let expected = "expected 8 B to 1504 B, which holds the largest data field (TS 25.322 §9.2.2.9)";
            return Err(Fault::new("pdu", format!("PDUs of {}", self.pdu), expected));
        }
        Ok(())
    }
}

/// Room for a header, two indicators and something beside, to the largest data field of 1503 B.
const PDU_SIZES: std::ops::RangeInclusive<u64> = 8..=1504;
/// Bytes of the header (§9.2.1.3).
const HEADER: u64 = 1;
/// The largest PDU with indicators of 7 bits (§9.2.2.8).
const SHORT_INDICATORS: u64 = 125;
/// Sequence numbers are taken modulo this (§9.4).
const MODULUS: u32 = 128;

/// One end of a bearer in unacknowledged mode.
#[derive(Debug)]
pub struct Um {
    bits: u32,
    tells_start: bool,
    segmenter: Segmenter,
    /// VT(US): the next sequence number to send.
    vt_us: u32,
    pdus: u64,
    /// VR(US): the sequence number after the last received.
    vr_us: u32,
    reassembly: Reassembly,
}

impl Um {
    /// With nothing sent and nothing received.
    pub fn new(config: &Config) -> Self {
        let pdu = config.pdu.get();
        let format = Format {
            room: config.header.room(pdu, HEADER),
            indicator: if pdu <= SHORT_INDICATORS { 1 } else { 2 },
            tells_start: config.tells_start,
            header_tells_end: false,
            most_ends: u16::MAX,
        };
        Self {
            bits: u32::try_from(8 * pdu).expect("a PDU has at most 1504 bytes"),
            tells_start: config.tells_start,
            segmenter: Segmenter::new(format, config.buffer.get()),
            vt_us: 0,
            pdus: 0,
            vr_us: 0,
            reassembly: Reassembly::new(),
        }
    }
}

impl LinkArq for Um {
    fn enqueue(&mut self, _now: Instant, bytes: u32, exempt: bool) -> bool {
        self.segmenter.push(bytes, exempt)
    }

    fn pull(&mut self, _slot: &Slot) -> Option<Pdu> {
        let segment = self.segmenter.plan()?;
        self.segmenter.take(&segment);
        let pdu = segment.to_pdu(self.vt_us, false, Reason::New, self.bits);
        self.vt_us = (self.vt_us + 1) % MODULUS;
        self.pdus += 1;
        Some(pdu)
    }

    fn wants_to_send(&self) -> bool {
        !self.segmenter.is_empty()
    }

    fn next_sdu(&self) -> Option<u64> {
        Some(self.segmenter.unfinished())
    }

    fn on_pdu(&mut self, _now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        if pdu.sn != self.vr_us {
            self.reassembly.miss();
        }
        self.vr_us = (pdu.sn + 1) % MODULUS;
        self.reassembly.accept(pdu, pdu.starts && self.tells_start, outcomes);
    }

    fn on_timeout(&mut self, _now: Instant) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn ready_pdus(&self) -> u64 {
        self.segmenter.pdus()
    }

    fn retransmits(&self) -> bool {
        false
    }

    fn backlog(&self) -> Unsent {
        Unsent { sdus: self.segmenter.bytes(), unacknowledged: 0 }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("new_pdus", self.pdus as f64);
        probe.value("delivered_sdus", self.reassembly.delivered as f64);
        probe.value("lost_sdus", self.reassembly.lost as f64);
        probe.value("backlog_bytes", self.segmenter.bytes() as f64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bearer::{Bearer, in_order, ms, pair};
    use super::*;

    fn bearer(config: &Config) -> Bearer<Um> {
        Bearer::new(pair(config, || Um::new(config)), Some(u64::from(MODULUS))).keeping_departures()
    }

    #[test]
    fn indicators_have_two_bytes_above_125() {
        for (pdu, indicator) in [(125, 1), (126, 2)] {
            let config = Config { pdu: Bytes::new(pdu), tells_start: false, ..Config::default() };
            let mut um = Um::new(&config);
            assert!(um.enqueue(Instant::ZERO, 10, false));
            let slot =
                Slot { now: Instant::ZERO, at: Instant::ZERO, tti: Default::default(), bits: u32::MAX, left: u32::MAX };
            let sent = um.pull(&slot).unwrap();
            // Header, data, one indicator for the end and one for padding.
            assert_eq!(u64::from(sent.padding), pdu - 1 - 10 - 2 * indicator);
            assert_eq!((u64::from(sent.bits), sent.indicators), (8 * pdu, 2));
        }
    }

    #[test]
    fn a_missing_pdu_costs_every_sdu_that_could_touch_it() {
        // 39 B behind the header. SDUs of 37 B: start, 37 B, end fill a PDU. Without the start told, 38
        // B and an end do.
        for (tells_start, bytes, lost) in [(true, 37, [1].as_slice()), (false, 38, &[1, 2])] {
            let config = Config { tells_start, ..Config::default() };
            let mut bearer = bearer(&config).losing(|_, number, _| number == 1);
            (0..4).for_each(|_| assert!(bearer.enqueue(0, bytes)));
            bearer.run_until(ms(1000));
            assert_eq!(bearer.departures.len(), 4);
            let fates: Vec<_> = bearer.outcomes[0].iter().map(|(_, outcome)| *outcome).collect();
            let fate = |sdu| if lost.contains(&sdu) { Outcome::Lost(sdu) } else { Outcome::Delivered(sdu) };
            assert_eq!(fates, [0, 1, 2, 3].map(fate));
        }
    }

    #[test]
    fn an_end_told_late_does_not_cost_the_next_sdu() {
        // 38 B and the told start fill the first PDU, so the second tells its end, and the start of the next.
        let mut bearer = bearer(&Config::default()).losing(|_, number, _| number == 0);
        assert!(bearer.enqueue(0, 38) && bearer.enqueue(0, 20));
        bearer.run_until(ms(1000));
        let fates: Vec<_> = bearer.outcomes[0].iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(fates, [Outcome::Lost(0), Outcome::Delivered(1)]);
    }

    proptest! {
        #[test]
        fn what_is_delivered_has_come_and_what_is_lost_was_touched(
            sdus in proptest::collection::vec(1u32..300, 1..80),
            losses in proptest::collection::vec(prop::bool::weighted(0.2), 0..600),
            pdu in 8u64..300,
            tells_start: bool,
        ) {
            let config = Config { pdu: Bytes::new(pdu), tells_start, ..Config::default() };
            let fate = losses.clone();
            let loses = move |_, number: u64, _: &Pdu| fate.get(number as usize).copied().unwrap_or(false);
            let mut bearer = bearer(&config).losing(loses);
            for bytes in &sdus {
                prop_assert!(bearer.enqueue(0, *bytes));
            }
            prop_assert!(bearer.run_until_quiet(ms(100_000)));
            bearer.losing_nothing();
            // Two more, since the first of a PDU after a gap may be lost too.
            prop_assert!(bearer.enqueue(0, 500) && bearer.enqueue(0, 500));
            prop_assert!(bearer.run_until_quiet(ms(200_000)));
            let taken = bearer.taken(0);
            let lost = in_order(&bearer.outcomes[0], taken);
            let (touched, runs) = touched(&bearer);
            prop_assert!(lost >= touched, "{lost} lost, {touched} touched");
            prop_assert!(lost <= touched + if tells_start { 0 } else { runs }, "{lost} lost, {touched} touched");
        }
    }

    /// How many SDUs had a part in a lost PDU, and how many runs of lost PDUs there were: each can cost one
    /// SDU more, if its start is not told.
    fn touched(bearer: &Bearer<Um>) -> (u64, u64) {
        let mut touched = vec![false; bearer.taken(0) as usize];
        let (mut runs, mut before) = (0, false);
        for departure in &bearer.departures {
            if departure.lost {
                let pdu = &departure.pdu;
                let carried = pdu.sdu..pdu.sdu + u64::from(pdu.ends) + u64::from(pdu.goes_on);
                carried.for_each(|sdu| touched[sdu as usize] = true);
            }
            runs += u64::from(departure.lost && !before);
            before = departure.lost;
        }
        (touched.iter().filter(|t| **t).count() as u64, runs)
    }

    #[test]
    fn sequence_numbers_wrap_unnoticed() {
        let config = Config::default();
        let mut bearer = bearer(&config).losing(|_, number, _| number % 97 < 3);
        for _ in 0..5 {
            (0..66).for_each(|_| assert!(bearer.enqueue(0, 1500)));
            let later = bearer.now + lasthop_net::engine::Duration::from_secs(30);
            assert!(bearer.run_until_quiet(later));
        }
        bearer.losing_nothing();
        assert!(bearer.enqueue(0, 1500));
        assert!(bearer.run_until_quiet(ms(200_000)));
        let pdus = bearer.departures.len();
        assert!(pdus > 99 * MODULUS as usize, "{pdus} PDUs");
        assert_eq!(in_order(&bearer.outcomes[0], 331), touched(&bearer).0);
    }
}
