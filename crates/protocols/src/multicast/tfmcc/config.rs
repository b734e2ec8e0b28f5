//! The parameters of TFMCC as a scenario states them, and complete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::multicast::gaps::Classifier;
use crate::transport::limits;
use lasthop_net::engine::{Bytes, Fault};

/// TFMCC (RFC 4654): a rate for a group. Nothing is sent again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Payload of a full packet, `s` in the equation. Default: 1452 B: with the headers, packets of
    /// 1500 B.
    pub segment: Bytes,
    /// Header bytes on the wire of each data packet, IP included. Default: 48 B: 20 of IPv4, 8 of UDP, 20 of TFMCC (RFC 4654
    /// §2.2.1).
    pub header: Bytes,
    /// Which losses count. `all`: each, as RFC 4654 has it. `indication`, `toggle`: those that the packet-loss indication of a base
    /// station blames on congestion; what the radio lost counts as received (Alexiou, Bouras, Papazois 2009, §4.2). `ecn`: those before
    /// a packet that carries a mark. Default: `all`.
    pub classifier: Classifier,
    /// Whether a long time without loss discounts the intervals before it, down to a factor of 0.5 (RFC 4654 §5.3).
    /// Default: on.
    pub discounting: bool,
    /// Whether rates and R_max lose what the short floating-point fields of the packets cannot hold (RFC 4654 §2.2). Default: off:
    /// they are exact.
    pub quantise: bool,
    /// Whether receivers with low rates draw shorter times until they report (Widmer, Handley 2001, §2.5.1). Default: off: RFC 4654
    /// dropped it.
    pub bias: bool,
    /// How many datagrams of a source with a rate of its own may wait; the oldest is dropped when one more comes, since old media
    /// are worth least. Default: 50.
    pub buffer: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            segment: Bytes::new(1452),
            header: Bytes::new(48),
            classifier: Classifier::All,
            discounting: true,
            quantise: false,
            bias: false,
            buffer: 50,
        }
    }
}

impl Config {
    /// What does not make sense, the first of it.
    pub fn faults(&self) -> Option<Fault> {
        let sizes =
            [limits::segment(Some(self.segment)), limits::header(Some(self.header)), limits::buffer(Some(self.buffer))];
        sizes.into_iter().flatten().next()
    }
}

/// Bytes on the wire of a report: IPv4 (20 B), UDP (8 B), and 16 B of RFC 4654 §2.2.2.
pub const REPORT_BYTES: u32 = 44;

/// The longest time between two packets, seconds (§3.5): the rate does not fall below one packet for each.
pub const LONGEST_INTERVAL: f64 = 8.0;

/// What machines need to know.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Payload of a full packet, bytes (s).
    pub segment: f64,
    /// Header bytes of a data packet.
    pub header: u32,
    /// Which losses count.
    pub classifier: Classifier,
    /// The least discount factor; 1 is no discounting.
    pub discount_threshold: f64,
    /// Whether fields are as short as on the wire.
    pub quantise: bool,
    /// Whether low rates are reported sooner.
    pub bias: bool,
    /// How many writes may wait.
    pub buffer: usize,
}

impl Settings {
    /// What `config` says.
    pub fn new(config: &Config) -> Self {
        Self {
            segment: config.segment.get() as f64,
            header: config.header.get() as u32,
            classifier: config.classifier,
            discount_threshold: if config.discounting { 0.5 } else { 1.0 },
            quantise: config.quantise,
            bias: config.bias,
            buffer: config.buffer as usize,
        }
    }

    /// The least rate, bytes per second.
    pub fn least(&self) -> f64 {
        self.segment / LONGEST_INTERVAL
    }
}
