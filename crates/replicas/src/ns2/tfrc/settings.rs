//! The parameters, complete: what a scenario states, and ns-2.35's values for what it leaves out.

use lasthop_protocols::transport::tfrc::config::{Config, SlowStart};

/// With the defaults of ns-2.35 (`tcl/lib/ns-default.tcl`).
#[derive(Clone, Debug)]
pub struct Settings {
    /// `packetSize_`, bytes.
    pub segment: u32,
    /// `headersize_`, bytes; 0 if `useHeaders_` is off.
    pub header: u32,
    /// `numPkts_`.
    pub loss_trigger: u32,
    /// `discount_`.
    pub discounting: bool,
    /// `minDiscountRatio_`.
    pub discount_threshold: f64,
    /// `ca_`.
    pub damping: bool,
    /// `df_`.
    pub rtt_weight: f64,
    /// `ecn_`.
    pub ecn: bool,
    /// `maxHeavyRounds_`.
    pub heavy_rounds: u32,
    /// The rules of slow start.
    pub slow_start: SlowStart,
    /// `InitRate_`, bytes per second.
    pub initial_rate: f64,
    /// `tcp_tick_`, seconds.
    pub tick: f64,
}

impl Settings {
    /// The parameters that `config` states, completed.
    pub fn new(config: &Config) -> Self {
        Self {
            segment: config.segment.map_or(1000, |b| b.get() as u32),
            header: config.header.map_or(32, |b| b.get() as u32),
            loss_trigger: config.loss_trigger.unwrap_or(1),
            discounting: config.discounting.unwrap_or(true),
            discount_threshold: config.discount_threshold.unwrap_or(0.5),
            damping: config.damping.unwrap_or(true),
            rtt_weight: config.rtt_weight.unwrap_or(0.95),
            ecn: config.ecn,
            heavy_rounds: config.heavy_rounds.unwrap_or(0),
            slow_start: config.slow_start.unwrap_or_default(),
            initial_rate: config.initial_rate.map_or(300.0, |rate| rate.as_bytes_per_s()),
            tick: config.tick.map_or(0.1, |tick| tick.as_secs_f64()),
        }
    }
}
