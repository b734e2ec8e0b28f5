//! The parameters of TFRC, complete: what a scenario states, and the profile's values for what it
//! leaves out.

use super::config::{Config, Handover};
use super::{control, meter};

/// Profile `rfc`.
#[derive(Clone, Copy, Debug)]
pub struct Rfc {
    /// Of the rate.
    pub control: control::Parameters,
    /// Of the receiver.
    pub meter: meter::Parameters,
    /// Header bytes of a data packet.
    pub header: u32,
    /// Whether packets may be marked.
    pub ecn: bool,
    /// How many writes may wait.
    pub buffer: usize,
    /// The reaction to handovers.
    pub handover: Handover,
}

/// Bytes on the wire of a report: IPv4 (20 B), UDP (8 B), and 16 B for the time stamp, the delay,
/// the rate of reception and the loss event rate (RFC 5348 §3.2.2).
pub const REPORT_BYTES: u32 = 44;

/// How many writes may wait.
pub const BUFFER: u32 = 50;

impl Rfc {
    /// The parameters that `config` states, completed.
    pub fn new(config: &Config) -> Self {
        let version = config.version.unwrap_or_default();
        let segment = config.segment.map_or(1460, |b| b.get() as u32);
        let header = config.header.map_or(40, |b| b.get() as u32);
        let threshold = config.discount_threshold.unwrap_or(0.25);
        Self {
            control: control::Parameters {
                segment: segment.into(),
                header: header.into(),
                version,
                rtt_weight: config.rtt_weight.unwrap_or(0.9),
                damping: config.damping.unwrap_or(true),
                initial_window: config.initial_window,
                slow_start_limit: config.slow_start_limit.unwrap_or_default(),
            },
            meter: meter::Parameters {
                version,
                loss_trigger: config.loss_trigger.unwrap_or(3),
                discount_threshold: if config.discounting.unwrap_or(true) { threshold } else { 1.0 },
            },
            header,
            ecn: config.ecn,
            buffer: config.buffer.unwrap_or(BUFFER) as usize,
            handover: config.handover,
        }
    }
}
