//! Which packets are missing at a receiver, and why it thinks they are.
//!
//! A receiver that takes every loss for congestion is a legacy one. Where base stations say with a bit
//! in later packets which packets they never had ([`indication`](lasthop_net::net::indication)), it can tell these from
//! packets that the radio lost (Alexiou, Bouras, Papazois 2009, §4). The two differ in their [`Classifier`] alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::net::Probe;

/// How a receiver tells losses by congestion from losses of the radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Classifier {
    /// It does not: every loss is one by congestion.
    #[default]
    All,
    /// A gap is congestion if the packet after it carries the packet-loss indication, and so is a late packet that carries it.
    Indication,
    /// A gap is congestion if the indication bit has changed across it.
    Toggle,
    /// A gap is congestion if the packet after it carries ECN's mark (RFC 3168).
    Ecn,
}

/// Why packets are missing, as a receiver judges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// A queue had no room for them.
    Congestion,
    /// The radio lost them.
    Radio,
}

/// Missing packets in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first.
    pub first: u64,
    /// The packet after the last of them, with which the gap was seen.
    pub next: u64,
    /// Why they are missing. It is fixed when the gap is seen.
    pub blame: Blame,
}

/// How a packet comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It follows the highest number, or is the first of all: packets sent before the first do not count as missing.
    Next,
    /// It is higher than that: packets are missing.
    After(Gap),
    /// Its number is not higher than all before.
    Late {
        /// It says of itself that it was rejected on its way: it stays a loss by congestion although it has come.
        rejected: bool,
        /// That is news: it had not been counted as one.
        news: bool,
    },
}

/// The numbers that come to a receiver.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    classifier: Classifier,
    highest: Option<u64>,
    /// The indication bit of the packet received last.
    bit: bool,
    /// Which of the last 64 numbers count as lost by congestion; the highest number is the lowest bit.
    congested: u64,
    /// How many packets were missing by congestion, and by the radio.
    missing: [u64; 2],
}

impl Tracker {
    /// Nothing has come.
    pub fn new(classifier: Classifier) -> Self {
        Self { classifier, ..Self::default() }
    }

    /// Numbers begin anew; what was missing is counted on.
    pub fn restart(&mut self) {
        *self = Self { missing: self.missing, ..Self::new(self.classifier) };
    }

    /// The highest number that has come.
    pub fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// A packet of this number has come, with its packet-loss indication; `marked` if it carries ECN's mark.
    #[inline]
    pub fn on_packet(&mut self, seq: u64, indicated: bool, marked: bool) -> Arrival {
        let changed = std::mem::replace(&mut self.bit, indicated) != indicated;
        let Some(highest) = self.highest.filter(|highest| *highest >= seq || *highest + 1 < seq) else {
            self.highest = Some(seq);
            self.congested <<= 1;
            return Arrival::Next;
        };
        if seq > highest {
            let congestion = match self.classifier {
                Classifier::All => true,
                Classifier::Indication => indicated,
                Classifier::Toggle => changed,
                Classifier::Ecn => marked,
            };
            let blame = if congestion { Blame::Congestion } else { Blame::Radio };
            self.missing[blame as usize] += seq - highest - 1;
            let shift = |bits: u64, by: u64| if by < 64 { bits << by } else { 0 };
            let between = !shift(u64::MAX, seq - highest) & !1;
            self.congested = shift(self.congested, seq - highest) | if congestion { between } else { 0 };
            self.highest = Some(seq);
            return Arrival::After(Gap { first: highest + 1, next: seq, blame });
        }
        let place = (highest - seq).min(64);
        let known = place == 64 || self.congested >> place & 1 == 1;
        let rejected = self.classifier == Classifier::Indication && indicated;
        let news = rejected && !known;
        if news {
            self.congested |= 1 << place;
            self.missing[Blame::Congestion as usize] += 1;
            self.missing[Blame::Radio as usize] = self.missing[Blame::Radio as usize].saturating_sub(1);
        }
        Arrival::Late { rejected, news }
    }

    /// How many packets were missing, by why.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("missing_by_congestion", self.missing[Blame::Congestion as usize] as f64);
        probe.value("missing_by_radio", self.missing[Blame::Radio as usize] as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::net::indication::{Indication, Marker};

    #[test]
    fn each_classifier_reads_its_own_sign() {
        let seen = |classifier, packets: &[(u64, bool)]| {
            let mut tracker = Tracker::new(classifier);
            packets.iter().map(|&(seq, bit)| tracker.on_packet(seq, bit, false)).collect::<Vec<_>>()
        };
        let gap = |first, next, blame| Arrival::After(Gap { first, next, blame });
        use Arrival::{Late, Next};
        use Blame::{Congestion, Radio};
        // 7 to 9 were rejected, 12 was lost by the radio, 8 was sent again.
        let packets = [(6, false), (10, true), (11, false), (13, false), (8, true)];
        let expected =
            vec![Next, gap(7, 10, Congestion), Next, gap(12, 13, Radio), Late { rejected: true, news: false }];
        assert_eq!(seen(Classifier::Indication, &packets), expected);
        let late = Late { rejected: false, news: false };
        let expected = vec![Next, gap(7, 10, Congestion), Next, gap(12, 13, Congestion), late];
        assert_eq!(seen(Classifier::All, &packets), expected);
        // Bits that change at 10 and stay.
        let packets = [(6, false), (10, true), (11, true), (13, true)];
        let expected = vec![Next, gap(7, 10, Congestion), Next, gap(12, 13, Radio)];
        assert_eq!(seen(Classifier::Toggle, &packets), expected);
        // Only the copy says that it was rejected: it counts once.
        let packets = [(6, false), (8, false), (7, true), (7, true)];
        let late = |news| Late { rejected: true, news };
        let expected = vec![Next, gap(7, 8, Radio), late(true), late(false)];
        assert_eq!(seen(Classifier::Indication, &packets), expected);
    }

    /// The shares of congestion losses that a receiver takes for losses of the radio, and the other way round, where runs of `burst`
    /// packets begin to be lost before the base station with probability `up`, and each packet is lost by the radio with probability `radio`.
    fn misjudged(indication: Indication, hold: u32, up: f64, radio: f64, burst: u32) -> [f64; 2] {
        let mut stream = Streams::new(1).stream("gaps", "losses");
        let mut marker = Marker::new(indication, hold);
        let classifier = if indication == Indication::Toggle { Classifier::Toggle } else { Classifier::Indication };
        let mut tracker = Tracker::new(classifier);
        let (mut run, mut pending, mut lost, mut wrong) = (0, Vec::new(), [0u32; 2], [0u32; 2]);
        for seq in 0..10_000_000u64 {
            if run == 0 && stream.chance(up) {
                run = burst;
            }
            if run > 0 {
                run -= 1;
                pending.push(Blame::Congestion);
                continue;
            }
            let bit = marker.on_accept(seq, false);
            if stream.chance(radio) {
                pending.push(Blame::Radio);
                continue;
            }
            if let Arrival::After(gap) = tracker.on_packet(seq, bit, false) {
                for truth in &pending {
                    lost[*truth as usize] += 1;
                    wrong[*truth as usize] += u32::from(gap.blame != *truth);
                }
            }
            pending.clear();
        }
        [0, 1].map(|truth| f64::from(wrong[truth]) / f64::from(lost[truth]))
    }

    /// The shares follow from the rules: `Edge` misses a run if the packet after it is lost too, and blames the radio losses that touch
    /// a run; `Toggle` fails if a gap holds an even number of runs, two losses by congestion with nothing but losses by the radio between them.
    #[test]
    fn few_losses_are_misjudged() {
        for (indication, hold, (up, radio, burst), expected) in [
            (Indication::Edge, 1, (0.01, 0.05, 1), [0.050, 0.010]),
            (Indication::Edge, 2, (0.01, 0.05, 1), [0.05 * 0.05, 0.020]),
            (Indication::Toggle, 1, (0.01, 0.05, 1), [2.0 * 0.05 / 0.95 * 0.01, 0.021]),
            (Indication::Edge, 1, (0.01, 0.2, 1), [0.205, 0.010]),
            (Indication::Toggle, 1, (0.01, 0.2, 1), [2.0 * 0.2 / 0.8 * 0.01, 0.025]),
            (Indication::Edge, 1, (0.01 / 3.0, 0.05, 3), [0.050, 0.01 / 3.0]),
        ] {
            let got = misjudged(indication, hold, up, radio, burst);
            for (got, expected) in got.into_iter().zip(expected) {
                assert!(
                    (got / expected - 1.0).abs() < 0.2,
                    "{indication:?} {up} {radio} {burst}: {got}, not {expected}"
                );
            }
        }
    }
}
