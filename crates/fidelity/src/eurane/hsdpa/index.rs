//! The description of the family. Keys that are not known are refused.

use std::fmt::Write;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::eurane::{RTO_2_29, tcp};
use crate::mrg::Mrg32k3a;

/// An index. Fields for readers are ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "for readers of the index")]
struct File {
    family: IgnoredAny,
    simulator: IgnoredAny,
    topology: IgnoredAny,
    traffic: IgnoredAny,
    scheduler: IgnoredAny,
    cqi_pattern: IgnoredAny,
    harq: IgnoredAny,
    #[serde(rename = "runs.csv")]
    runs: IgnoredAny,
    #[serde(rename = "slots-*.csv")]
    slots: IgnoredAny,
    #[serde(rename = "events-*.csv")]
    events: IgnoredAny,
    comparison: IgnoredAny,
    scenarios: Vec<Scenario>,
}

/// A scenario.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys are for readers of the index")]
pub struct Scenario {
    /// Its name.
    pub id: String,
    /// The file with its decisions from 3.0 s to 3.6 s.
    pub slots_file: String,
    /// The file with its events to 1.9 s, if there is one.
    #[serde(default)]
    pub events_file: Option<String>,
    /// How many terminals there are.
    pub ues: u32,
    scheduler: String,
    traffic: String,
    packet_bytes: u32,
    tcp_window_pkts: u32,
    cbr_kbps: Option<u32>,
    wired_delay_ms: f64,
    cqi_pattern: Vec<Vec<(u32, u8)>>,
    harq_channel: IgnoredAny,
    rx_first_db: String,
    rx_gain_db: Vec<f64>,
    harq_thresholds_db: Vec<f64>,
    /// The seed of ns-2's generator.
    pub seed: u32,
    deterministic: bool,
}

/// The scenarios of an index.
pub fn read(value: Value) -> Result<Vec<Scenario>, String> {
    let file: File = crate::index::file(value)?;
    Ok(file.scenarios)
}

/// What a RLC of EURANE takes to hand an SDU up, which its events do not count (`delay_`), in nanoseconds.
pub const HAND_UP: u64 = 50_000;
/// A tick of a TCP sender's clock, in seconds (`tcpTick_`).
const TICK: f64 = 0.01;
/// The wire's rate, in bits per second.
pub const WIRE_BPS: u64 = 622_000_000;

impl Scenario {
    /// Its name without that of its seed.
    pub fn variant(&self) -> &str {
        self.id.rsplit_once("-s").filter(|(_, seed)| seed.parse::<u64>().is_ok()).map_or(&self.id, |(name, _)| name)
    }

    /// Whether every run of it is the same: nothing that matters is drawn while it runs. The description says so of TCP and CBR; of TFRC it
    /// does not, but ns-2.29's draws nothing either (`overhead_` 0). What is drawn for a block matters if thresholds differ.
    pub fn draws_nothing(&self) -> bool {
        self.deterministic || self.harq_thresholds_db.iter().all(|db| *db == self.harq_thresholds_db[0])
    }

    /// The wire's delay, in nanoseconds.
    pub fn wire_delay(&self) -> u64 {
        (self.wired_delay_ms * 1e6).round() as u64
    }

    /// ns-2's generator as the run begins and resets the TCP senders. They have drawn once, when they were made.
    fn phases(&self, seed: u32) -> Mrg32k3a {
        let mut draws = Mrg32k3a::new(seed);
        for _ in 0..self.ues {
            draws.uniform();
        }
        draws
    }

    /// The same when packets are about to flow: only TCP has drawn.
    pub fn draws(&self, seed: u32) -> Mrg32k3a {
        if tcp(&self.traffic).is_none() {
            return Mrg32k3a::new(seed);
        }
        let mut draws = self.phases(seed);
        for _ in 0..self.ues {
            draws.uniform();
        }
        draws
    }

    /// The same as a scenario of lasthop. Each terminal stands for EURANE's RLC, which takes a little time to hand up: that time
    /// is a link to the node of the flow's end, and a part of the way from the RNC to the host.
    ///
    /// The phases of the TCP senders' clocks are what ns-2's generator gives with `seed`: one for each sender, in order, after as many that
    /// are drawn in vain. A sender draws its phase when it is reset (`boot_time_`): when it is made, and again as the run begins, which resets
    /// every agent.
    pub fn text(&self, seed: u32) -> Result<String, String> {
        if self.cqi_pattern.len() != self.ues as usize {
            return Err("cqi_pattern: not one for each UE".to_owned());
        }
        // The first transmission comes with that much more power than the CQI says; lasthop counts 40 dB.
        let power = self.rx_first_db.strip_suffix(" + CQI").and_then(|power| power.parse::<f64>().ok());
        let (Some(power), Some(gain)) = (power, self.rx_gain_db.first()) else {
            return Err("rx_first_db: a power that does not follow from the CQI".to_owned());
        };
        let gains: Vec<f64> = self.rx_gain_db[1..].iter().map(|db| db - gain).collect();
        let thresholds: Vec<f64> = self.harq_thresholds_db.iter().map(|db| db - gain - (power - 40.0)).collect();
        let scheduler = match self.scheduler.as_str() {
            "rr" => "least_recent",
            "ci" => "max_sir",
            "fcds" => "fair_channel",
            other => return Err(format!("unknown scheduler {other}")),
        };
        let decibels = |list: &[f64]| list.iter().map(|db| format!("\"{db} dB\"")).collect::<Vec<_>>().join(", ");
        let mut text = format!(
            r#"
            profile = "ns2"
            duration = "30 s"
            [[link]]
            name = "wire"
            between = ["host", "rnc"]
            rate = "622 Mbit/s"
            delay = "{} ns"
            queue.droptail.limit = "10000 packets"
            reverse.delay = "{} ns"
            [[cell]]
            name = "cell"
            rnc = "rnc"
            ues = {}
            attachment = "high_speed"
            dch.up = {{ rate = "64 kbit/s", tti = "10 ms" }}
            spacing = "0 s"
            [cell.hs_dsch]
            cqi = {:?}
            scheduler = "{scheduler}"
            reception.thresholds = {{ gains = [{}], thresholds = [{}] }}
            "#,
            self.wire_delay(),
            self.wire_delay() + HAND_UP,
            self.ues,
            self.cqi_pattern
                .iter()
                .map(|runs| runs.iter().map(|(n, cqi)| [*n, u32::from(*cqi)]).collect())
                .collect::<Vec<Vec<_>>>(),
            decibels(&gains),
            decibels(&thresholds),
        );
        let bytes = self.packet_bytes;
        let mut draws = self.phases(seed);
        let mut transport = || match (self.traffic.as_str(), self.cbr_kbps) {
            ("CBR", Some(kbps)) => {
                Ok(format!("transport = \"udp\"\nsource.cbr = {{ size = \"{bytes} B\", rate = \"{kbps} kbit/s\" }}"))
            }
            ("TFRC", _) => Ok(format!(
                "transport.tfrc = {{ segment = \"{bytes} B\", heavy_rounds = 1, slow_start = \"ns-2.29\" }}"
            )),
            ("CBR", None) => Err("traffic: CBR without cbr_kbps".to_owned()),
            (name, _) => {
                let variant = tcp(name).ok_or_else(|| format!("traffic: {name} is not known"))?;
                Ok(format!(
                    "transport.tcp = {{ variant = \"{variant}\", window = {}, segment = \"{bytes} B\", exact_half = false, \
                     rto = {{ {RTO_2_29}, granularity = \"{TICK} s\" }}, boot_time = {:e} }}",
                    self.tcp_window_pkts,
                    draws.uniform() * TICK,
                ))
            }
        };
        for n in 0..self.ues {
            let transport = transport()?;
            let _ = write!(
                text,
                r#"
            [[link]]
            name = "rlc {n}"
            between = ["cell.ue[{n}]", "mobile[{n}]"]
            rate = "1000 Gbit/s"
            delay = "{HAND_UP} ns"
            reverse.delay = "0 s"
            [[flow]]
            name = "{n}"
            from = "host"
            to = "mobile[{n}]"
            start = "1 s"
            {transport}
            "#
            );
        }
        Ok(text)
    }
}
