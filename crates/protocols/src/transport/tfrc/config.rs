//! The parameters of TFRC as a scenario states them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transport::limits;
use lasthop_net::engine::{BitRate, Bytes, Duration, Fault};
use lasthop_net::profile::Profile;

/// TFRC: a rate that follows TCP's throughput equation. Nothing is sent again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The profile, if not the scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Profile `rfc`: which of the two standards. Default: `rfc5348`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Payload of a full packet, `s` in the equation. Default: `rfc`: 1460 B. `ns2`: 1000 B
    /// (`packetSize_`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Header bytes on the wire of each data packet, IP included. Default: `rfc`: 40 B, 20 of IPv4,
    /// 8 of UDP, and 12 for sequence number, time stamp and round-trip time (RFC 5348 §3.2.1).
    /// `ns2`: 32 B (`headersize_`); 0 B is `useHeaders_` off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// After how many later packets a missing one is lost. Default: `rfc`: 3 (RFC 5348 §5.1,
    /// NDUPACK). `ns2`: 1 (`numPkts_`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_trigger: Option<u32>,
    /// Whether a long time without loss discounts the intervals before it (RFC 5348 §5.5). Default: on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discounting: Option<bool>,
    /// The least discount factor. Default: `rfc`: 0.25 (RFC 5348 §5.5, THRESHOLD). `ns2`: 0.5
    /// (`minDiscountRatio_`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_threshold: Option<f64>,
    /// Whether the time between packets follows the last round-trip time, against oscillation (RFC
    /// 5348 §4.5; ns-2: `ca_`). Default: on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<bool>,
    /// The weight of the old mean when a round-trip time is averaged. Default: `rfc`: 0.9 (RFC 5348
    /// §4.3). `ns2`: 0.95 (`df_`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_weight: Option<f64>,
    /// Explicit congestion notification: a mark counts as a loss. Default: off.
    pub ecn: bool,
    /// How many datagrams of a source with a rate of its own may wait; the oldest is dropped when
    /// one more comes, since old media are worth least. Default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u32>,
    /// The reaction to a change of the receiver's link. Default: `off`.
    pub handover: Handover,
    /// Profile `rfc`: packets for each round trip that the first report allows, W_init. Default: `rfc5348`: 2 to 4, with at most
    /// 4380 B (RFC 5348 §4.2). `rfc3448`: 1 (RFC 3448 §4.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Profile `rfc`: what limits the rate until the first loss. Default: `received`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_limit: Option<SlowStartLimit>,
    /// Profile `ns2`: for how many rounds the rate may exceed twice the rate of reception
    /// (`maxHeavyRounds_`). Default: 0; it was 1 before March 2007.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heavy_rounds: Option<u32>,
    /// Profile `ns2`: how the rate grows until the first loss. Default: `ns-2.35`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStart>,
    /// Profile `ns2`: the rate before the first report (`InitRate_`, there in bytes per second).
    /// Default: 2400 bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<BitRate>,
    /// Profile `ns2`: the clock tick of the retransmission timeout (`tcp_tick_`). Default: 100 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
}

/// The most packets of an initial window.
const MOST_INITIAL: u32 = 100;

/// The standards of TFRC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// RFC 5348 (2008): the rate of reception counts over two round trips, and a sender without
    /// data is not held to what it sent.
    #[default]
    Rfc5348,
    /// RFC 3448 (2003): at most twice the rate of reception in the last report.
    Rfc3448,
}

/// The reaction to a change of the receiver's link (handover notification, "TFRC-HN"): a receiver that notices it forgets its losses, and
/// informs the sender at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Handover {
    /// Nothing.
    #[default]
    Off,
    /// The sender starts anew; on a way to a slower link with the initial window.
    Restart,
    /// The same, but on a way to a slower link with the rate of that link, which the receiver
    /// knows and tells.
    Hint,
}

/// What limits the rate until the first loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SlowStartLimit {
    /// Twice the rate of reception (RFC 3448 §4.3, RFC 5348 §4.3). A report is about packets sent a round trip before, so the rate
    /// doubles every second round trip.
    #[default]
    Received,
    /// The rate doubles each round trip "if the reported receive rate matches the current send rate, otherwise the new sending rate is
    /// set to twice the receive rate" (Landström, Larzon, Bodin 2004, §II-C), to a packet in a round trip. The reported rate is of packets that were
    /// sent a round trip before, and is compared with the rate of that time.
    Matched,
}

/// Slow start of ns-2's TFRC, which ns-2 changed after 2005.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SlowStart {
    /// The initial rate (RFC 3390) counts in two rounds; the rate is halved below a rate of reception that it has passed; a round
    /// without a report halves the rate.
    #[default]
    #[serde(rename = "ns-2.35")]
    Ns235,
    /// The initial rate counts in one round; the rate falls to twice the rate of reception when it has passed that, and to a half of
    /// it when the rate before had too; a round without a report ends slow start.
    #[serde(rename = "ns-2.29")]
    Ns229,
}

impl Config {
    /// Whether ns-2's agents act, and not the standard's.
    pub fn is_ns2(&self, profile: Profile) -> bool {
        self.profile.unwrap_or(profile).is_ns2()
    }

    /// What does not make sense under `profile`, the first of it.
    pub fn faults(&self, profile: Profile) -> Option<Fault> {
        let bad = |field, message: String, expected: &str| Some(Fault::new(field, message, expected));
        let sizes = [limits::segment(self.segment), limits::header(self.header), limits::buffer(self.buffer)];
        if let Some(fault) = sizes.into_iter().flatten().next() {
            return Some(fault);
        }
        if self.loss_trigger == Some(0) {
            return bad("loss_trigger", "a packet cannot be lost before a later one comes".to_owned(), "at least 1");
        }
        if let Some(threshold) = self.discount_threshold
            && !(threshold > 0.0 && threshold <= 1.0)
        {
            return bad("discount_threshold", format!("{threshold} is no such factor"), "expected above 0, at most 1");
        }
        if let Some(weight) = self.rtt_weight
            && !(0.0..1.0).contains(&weight)
        {
            return bad("rtt_weight", format!("{weight} is no weight of an old mean"), "expected from 0 to below 1");
        }
        if self.initial_window.is_some_and(|packets| !(1..=MOST_INITIAL).contains(&packets)) {
            return bad("initial_window", "no such window to begin with".to_owned(), "expected 1 to 100 packets");
        }
        let names = |fields: &[(&'static str, bool)]| fields.iter().copied().find(|(_, stated)| *stated);
        if profile.is_ns2() {
            let standard = "it exists in profile \"rfc\" only";
            let fields = [
                ("version", self.version.is_some()),
                ("handover", self.handover != Handover::Off),
                ("initial_window", self.initial_window.is_some()),
                ("slow_start_limit", self.slow_start_limit.is_some()),
                ("buffer", self.buffer.is_some()),
            ];
            if let Some((field, _)) = names(&fields) {
                return bad(field, format!("ns-2's TFRC knows no {field}"), standard);
            }
            if self.tick == Some(Duration::ZERO) {
                return bad("tick", "a clock without ticks".to_owned(), "longer than 0 s");
            }
        } else {
            let fields = [
                ("heavy_rounds", self.heavy_rounds.is_some()),
                ("slow_start", self.slow_start.is_some()),
                ("initial_rate", self.initial_rate.is_some()),
                ("tick", self.tick.is_some()),
            ];
            if let Some((field, _)) = names(&fields) {
                return bad(field, format!("the standard knows no {field}"), "it exists in profile \"ns2\" only");
            }
        }
        None
    }
}
