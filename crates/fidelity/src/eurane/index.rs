//! The descriptions of the families `rlc-am` and `switch`. Keys that are not known are refused.

use lasthop_core::engine::{BitRate, Bytes, Duration};
use lasthop_core::radio::umts::attachment::{AttachmentConfig, fixed};
use lasthop_core::radio::umts::channel::Rate;
use lasthop_core::replicas::eurane::attachment as eurane;
use lasthop_core::replicas::eurane::rlc::Config as Rlc;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A scenario whose events are compared.
pub struct Case {
    /// Its name.
    pub id: String,
    /// The file with its events.
    pub file: String,
    /// Why it is not compared, if it is not.
    pub left_out: Option<String>,
    /// Down and up, when on common and when on dedicated channels.
    pub common: [Rate; 2],
    /// The same for dedicated channels.
    pub dedicated: [Rate; 2],
    /// What serves the terminal.
    pub attachment: Box<dyn AttachmentConfig + Send + Sync>,
    /// RLC's parameters.
    pub rlc: Rlc,
    /// Arrivals over the air that are lost, down and up.
    pub lost: [Vec<u64>; 2],
    /// Seconds.
    pub stop: f64,
}

type Cases = Vec<Result<Case, (String, String)>>;

/// The scenarios of `rlc-am`.
pub fn rlc(value: Value) -> Result<Cases, String> {
    cases::<RlcScenario>(value)
}

/// The scenarios of `switch`.
pub fn switch(value: Value) -> Result<Cases, String> {
    cases::<SwitchScenario>(value)
}

fn cases<D: Description>(value: Value) -> Result<Cases, String> {
    let file: File = crate::index::file(value)?;
    let cases = file.scenarios.into_iter().map(|scenario| {
        let id = scenario.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        serde_json::from_value::<D>(scenario).map_err(|e| e.to_string()).and_then(D::describe).map_err(|e| (id, e))
    });
    Ok(cases.collect())
}

trait Description: for<'de> Deserialize<'de> {
    fn describe(self) -> Result<Case, String>;
}

/// An index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "for readers of the index")]
struct File {
    family: IgnoredAny,
    simulator: IgnoredAny,
    topology: IgnoredAny,
    rules: Option<IgnoredAny>,
    columns: IgnoredAny,
    order: Option<IgnoredAny>,
    #[serde(rename = "lost arrivals")]
    lost_arrivals: Option<IgnoredAny>,
    integer_clock_exact: Option<IgnoredAny>,
    comparison: IgnoredAny,
    scenarios: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys are for readers of the index")]
struct RlcScenario {
    id: String,
    file: String,
    note: IgnoredAny,
    comparison: String,
    channel: String,
    dl_rate_bps: f64,
    dl_tti_ms: f64,
    ul_rate_bps: f64,
    ul_tti_ms: f64,
    dl_pdus_per_tti: u32,
    ul_pdus_per_tti: u32,
    rlc_window_pdus: u32,
    poll_every_pdus: u32,
    poll_timer_ms: f64,
    status_prohibit_ms: f64,
    rlc_spacing_us: f64,
    rach_access_delay_ms: f64,
    integer_clock_exact: bool,
    dl_error_rate: f64,
    ul_error_rate: f64,
    sdus_dl: u32,
    sdus_ul: u32,
    lost_dl_arrivals: Vec<u64>,
    lost_ul_arrivals: Vec<u64>,
    stop_s: f64,
    totals: IgnoredAny,
}

/// EURANE's PDUs, in bits.
const PDU: u32 = 320;

impl Description for RlcScenario {
    fn describe(self) -> Result<Case, String> {
        let rates = [rate(self.dl_rate_bps, self.dl_tti_ms), rate(self.ul_rate_bps, self.ul_tti_ms)];
        let pdus = [self.dl_pdus_per_tti, self.ul_pdus_per_tti];
        if rates.map(|rate| rate.bits() / PDU) != pdus {
            return Err(format!("{pdus:?} PDUs in an interval do not fit the rates"));
        }
        let attachment: Box<dyn AttachmentConfig + Send + Sync> = match self.channel.as_str() {
            "dch" => Box::new(fixed::Dedicated {}),
            "fach" => Box::new(fixed::Common {}),
            other => return Err(format!("unknown channel {other}")),
        };
        let left_out = if self.comparison != "exact" {
            Some("its timing is random: the family tcp-fach compares such runs by means".to_owned())
        } else if !self.integer_clock_exact {
            Some("the rounding of ns-2's clock decides it".to_owned())
        } else {
            None
        };
        if left_out.is_none() && (self.rlc_spacing_us != 0.0 || self.rach_access_delay_ms != 0.0) {
            return Err("its timing is random, yet it is to be exact".to_owned());
        }
        Ok(Case {
            id: self.id,
            file: self.file,
            left_out,
            common: rates,
            dedicated: rates,
            attachment,
            rlc: Rlc {
                window: self.rlc_window_pdus,
                poll_every: self.poll_every_pdus,
                poll_timer: milliseconds(self.poll_timer_ms),
                status_prohibit: milliseconds(self.status_prohibit_ms),
                ..Rlc::default()
            },
            lost: [self.lost_dl_arrivals, self.lost_ul_arrivals],
            stop: self.stop_s,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys are for readers of the index")]
struct SwitchScenario {
    id: String,
    file: String,
    note: IgnoredAny,
    dch: Rates,
    common: Rates,
    upswitch_dl_bytes: u64,
    upswitch_ul_bytes: u64,
    downswitch_timer_s: f64,
    initial_state: String,
    buffer_check_ms: f64,
    pending_after_trigger_s: f64,
    throughput_report_ms: f64,
    downswitch_below_kbps: f64,
    timer_cancelled_above_kbps: f64,
    stop_s: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    dl_rate_bps: f64,
    dl_tti_ms: f64,
    ul_rate_bps: f64,
    ul_tti_ms: f64,
}

impl Rates {
    fn both(&self) -> [Rate; 2] {
        [rate(self.dl_rate_bps, self.dl_tti_ms), rate(self.ul_rate_bps, self.ul_tti_ms)]
    }
}

impl Description for SwitchScenario {
    fn describe(self) -> Result<Case, String> {
        if self.initial_state != "dedicated" {
            return Err("EURANE begins on dedicated channels".to_owned());
        }
        let constants = eurane::Constants {
            look: milliseconds(self.buffer_check_ms),
            pending: Duration::from_secs_f64(self.pending_after_trigger_s),
            report: milliseconds(self.throughput_report_ms),
            // Rates are compared as whole numbers.
            low: self.downswitch_below_kbps.ceil() as u64,
            high: self.timer_cancelled_above_kbps.floor() as u64,
        };
        Ok(Case {
            id: self.id,
            file: self.file,
            left_out: None,
            common: self.common.both(),
            dedicated: self.dch.both(),
            attachment: Box::new(eurane::Config {
                threshold: Bytes::new(self.upswitch_dl_bytes),
                uplink_threshold: Bytes::new(self.upswitch_ul_bytes),
                timer: Duration::from_secs_f64(self.downswitch_timer_s),
                constants,
            }),
            rlc: Rlc::default(),
            lost: [Vec::new(), Vec::new()],
            stop: self.stop_s,
        })
    }
}

fn rate(bps: f64, tti_ms: f64) -> Rate {
    Rate { rate: BitRate::from_bps(bps as u64), tti: milliseconds(tti_ms) }
}

fn milliseconds(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}
