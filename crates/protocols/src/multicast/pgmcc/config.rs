//! The parameters of PGMCC as a scenario states them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::multicast::gaps::Classifier;
use crate::transport::tcp::config::Rto;
use lasthop_net::engine::{Bytes, Duration, Fault};
use lasthop_net::net::PgmElements;

/// PGM with PGMCC: one window for a group, opened and closed by what its worst receiver, the acker, acknowledges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Payload of a full packet. Default: 1436 B, so that with its headers it has 1500 B.
    pub segment: Bytes,
    /// Header bytes on the wire of each data packet, IP included. 64 B: 20 of IPv4, 24 of PGM's data (RFC 3208 §8.2), and 20 for
    /// an option with time stamp and acker (draft-ietf-rmt-bb-pgmcc-03 §2.1).
    pub header: Bytes,
    /// How many datagrams of a source with a rate of its own may wait; the oldest is dropped when one more comes.
    /// Default: 50.
    pub buffer: u32,
    /// Whether packets are sent again until every receiver has them. Default: off.
    pub reliable: bool,
    /// With `reliable`: how many packets are kept to be sent again (RFC 3208 §5.1, transmit window). Default: 100,000
    /// packets.
    pub transmit_window: u32,
    /// How a receiver tells losses by congestion from losses of the radio, which it does not report. `ecn` is of TFMCC: no packet of
    /// PGMCC carries a mark. Default: `all`: it takes every loss for congestion.
    pub classifier: Classifier,
    /// Below this window each acknowledged packet opens it by one packet. Default: 6 packets (Rizzo 2000);
    /// draft-ietf-rmt-bb-pgmcc-03 §2.2 suggests 4.
    pub ssthresh: u32,
    /// What the sender may send. Default: `in_flight`.
    pub token_mode: TokenMode,
    /// What halves the window again after a cut: a loss of a packet sent after it (`later_loss`), or any loss that is reported with
    /// feedback for such a packet (`later_feedback`). draft-ietf-rmt-bb-pgmcc-03 §2.2 has both "in each RTT in which a loss event is
    /// experienced", "in the same way as TCP", and that changes are cancelled "until feedback is received for the next transmitted
    /// packet". Default: `later_loss`.
    pub cut_again: CutAgain,
    /// Another receiver becomes the acker if its throughput is below that of the acker times this (draft-ietf-rmt-bb-pgmcc-03
    /// §2.3, C). Above 0, at most 1. Default: 0.75, as the draft suggests.
    pub c: f64,
    /// The weight of a packet in the loss rate of a receiver, κ, rounded to a multiple of 1/65536. Default: 500/65536, a memory of
    /// 131 packets (draft-ietf-rmt-bb-pgmcc-03 §2.6).
    pub kappa: f64,
    /// How the sender measures the round-trip times that it compares (draft-ietf-rmt-bb-pgmcc-03 §2.5). Default:
    /// `packets`.
    pub rtt_mode: RttMode,
    /// By which model of TCP's throughput it compares receivers (draft-ietf-rmt-bb-pgmcc-03 §2.4). Default:
    /// `simple`.
    pub model: Model,
    /// The least timeout of the sender. Default: 1 s (RFC 6298 §2.4).
    pub rto_min: Duration,
    /// The timeout before the acker's round-trip time is known. Default: 3 s
    /// (draft-ietf-rmt-bb-pgmcc-03 §2.7).
    pub rto_initial: Duration,
    /// How long a receiver holds a NAK back at most; it draws a time from 0 to this (RFC 3208 §6.3, NAK_BO_IVL). Default:
    /// 30 ms, as ns-2's PGM.
    pub nak_bo: Duration,
    /// After this time without a confirmation a NAK is sent again (RFC 3208 §6.3, NAK_RPT_IVL). With network elements, where the
    /// confirmation comes from the next node, 50 ms, as ns-2's PGM; without them, where it comes from the sender, 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nak_rpt: Option<Duration>,
    /// With `reliable`: how long after a confirmation a repair is waited for (RFC 3208 §6.3, NAK_RDATA_IVL). Default: 1 s, as
    /// ns-2's PGM.
    pub nak_rdata: Duration,
    /// How often a NAK is sent again before the packet is given up (RFC 3208 §6.3, NAK_NCF_RETRIES and NAK_DATA_RETRIES
    /// together). Default: 5.
    pub nak_retries: u32,
    /// Whether nodes are network elements of PGM (RFC 3208 §7): each sends only one NAK for a packet on towards the sender, and
    /// repairs only to where they were asked for. Default: off: NAKs go straight to the sender.
    pub network_elements: bool,
    /// Whether network elements also send on a second NAK for a packet if it comes from a receiver with a higher loss rate,
    /// so that elections do not miss it (draft-ietf-rmt-bb-pgmcc-03 §2.8). Default: off.
    pub ne_forward_worse: bool,
    /// With `reliable`: how long after the last data packet the sender first says what it was, so that receivers can miss it;
    /// each time after that is twice as long (RFC 3208 §5.1.5, IHB_MIN). Default: 100 ms.
    pub ihb_min: Duration,
    /// The longest of these times (RFC 3208 §5.1.5, IHB_MAX). Default: 30 s.
    pub ihb_max: Duration,
}

/// What the sender may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenMode {
    /// As many packets as the window has beyond those that are in flight: T = W − F.
    #[default]
    InFlight,
    /// The increments of draft-ietf-rmt-bb-pgmcc-03 §2.2 as printed. They never return the token of a lost packet, nor those of
    /// the round after a loss, so the sender may have to wait for its timeout.
    Literal,
}

/// What halves the window again after a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutAgain {
    /// The loss of a packet sent after the cut, as TCP's `recover` has it (RFC 6582): one cut for each round.
    #[default]
    LaterLoss,
    /// Any loss that is reported with feedback for a packet sent after the cut, be it of a packet before it.
    LaterFeedback,
}

/// How round-trip times are measured for elections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttMode {
    /// In packets sent since (draft-ietf-rmt-bb-pgmcc-03 §2.5.3).
    #[default]
    Packets,
    /// By time stamps (§2.5.1).
    Time,
}

/// A model of 1/throughput, up to a factor, from round-trip time R and loss rate p.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// R·√p (Rizzo 2000).
    #[default]
    Simple,
    /// R·√p·(1 + 9p·(1 + 32p²)), which knows timeouts (draft-ietf-rmt-bb-pgmcc-03 §2.4).
    Full,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            segment: Bytes::new(1436),
            header: Bytes::new(64),
            buffer: 50,
            reliable: false,
            transmit_window: 100_000,
            classifier: Classifier::All,
            ssthresh: 6,
            token_mode: TokenMode::InFlight,
            cut_again: CutAgain::LaterLoss,
            c: 0.75,
            kappa: 500.0 / 65_536.0,
            rtt_mode: RttMode::Packets,
            model: Model::Simple,
            rto_min: Duration::from_secs(1),
            rto_initial: Duration::from_secs(3),
            nak_bo: Duration::from_millis(30),
            nak_rpt: None,
            nak_rdata: Duration::from_secs(1),
            nak_retries: 5,
            network_elements: false,
            ne_forward_worse: false,
            ihb_min: Duration::from_millis(100),
            ihb_max: Duration::from_secs(30),
        }
    }
}

impl Config {
    /// After this time without a confirmation a NAK is sent again.
    pub fn repeat(&self) -> Duration {
        let usual = if self.network_elements { Duration::from_millis(50) } else { Duration::from_secs(1) };
        self.nak_rpt.unwrap_or(usual)
    }

    /// What network elements are to do.
    pub fn elements(&self) -> PgmElements {
        PgmElements {
            repeat: self.repeat(),
            repair: self.nak_rdata,
            retries: self.nak_retries,
            forward_worse: self.ne_forward_worse,
        }
    }

    /// The sender's retransmission timer.
    pub fn rto(&self) -> Rto {
        Rto { min: Some(self.rto_min), initial: Some(self.rto_initial), ..Rto::default() }
    }

    /// What does not make sense, the first of it.
    pub fn faults(&self) -> Option<Fault> {
        let bad = |field, message: String, expected: &str| Some(Fault::new(field, message, expected));
        if !(1..=MAX_SEGMENT).contains(&self.segment.get()) {
            let expected = format!("expected from 1 B to {MAX_SEGMENT} B");
            return bad("segment", format!("packets of {} cannot be sent", self.segment), &expected);
        }
        if self.header.get() > MAX_HEADER {
            return bad(
                "header",
                format!("a header of {} is too large", self.header),
                &format!("at most {MAX_HEADER} B"),
            );
        }
        for (field, value) in [("buffer", self.buffer), ("transmit_window", self.transmit_window)] {
            if value == 0 {
                return bad(field, "nothing could be sent".to_owned(), "expected at least 1");
            }
        }
        if !(self.c > 0.0 && self.c <= 1.0) {
            return bad("c", format!("{} is no such factor", self.c), "expected above 0, at most 1");
        }
        if !(1.0 / 65_536.0..=1.0).contains(&self.kappa) {
            return bad("kappa", format!("{} is no such weight", self.kappa), "expected from 1/65536 to 1");
        }
        for (field, value) in [
            ("rto_initial", self.rto_initial),
            ("nak_rpt", self.repeat()),
            ("nak_rdata", self.nak_rdata),
            ("ihb_min", self.ihb_min),
        ] {
            if value < SHORTEST {
                return bad(field, format!("{value} is too short"), &format!("expected at least {SHORTEST}"));
            }
        }
        if self.classifier == Classifier::Ecn {
            let message = "packets of PGMCC do not understand ECN's marks, so none carries one".to_owned();
            return bad("classifier", message, "expected all, indication or toggle");
        }
        if self.ihb_max < self.ihb_min {
            let message = format!("the longest time, {}, is below the shortest, {}", self.ihb_max, self.ihb_min);
            return bad("ihb_max", message, "expected at least `ihb_min`");
        }
        if self.ne_forward_worse && !self.network_elements {
            return bad("ne_forward_worse", "there are no network elements".to_owned(), "it needs `network_elements`");
        }
        None
    }
}

/// The largest payload of a packet: IPv4's 65 535 B less the smallest headers.
const MAX_SEGMENT: u64 = 65_495;

/// The largest header.
const MAX_HEADER: u64 = 1_000;

/// The shortest time after which something is sent again: below it repetitions would be the load.
const SHORTEST: Duration = Duration::from_millis(1);
