//! The high-speed downlink shared channel of a cell as data, and from there to its parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Duration, Fault};
use crate::profile::Profile;
use crate::radio::quality::trace::{Run, Traces};
use crate::radio::rate_map::{RateMapConfig, cqi};
use crate::radio::scheduler;
use crate::radio::shared_channel::{SLOT, harq};
use crate::radio::umts::hs_dsch::capacity::Plan;
use crate::radio::umts::hs_dsch::{Setup, pdus_of};
use crate::replicas::eurane::fair_channel::FairChannel;

use crate::scenario::registry::{Reception, Scheduler};

use super::Cell;

/// A high-speed downlink shared channel (HS-DSCH): one terminal in each slot of 2 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HsDsch {
    /// How good the air is: for each terminal a trace of channel quality indicators (CQI), as runs `[slots, CQI]` that are
    /// repeated. One trace alone is for all terminals. `[[[1, 14]]]` is a CQI of 14 for ever.
    pub cqi: Vec<Vec<Run>>,
    /// The category of the terminals (TS 25.306 §5.1): 1 to 6, 11 and 12 receive 5 codes, 7 and 8 receive 10, 9 and 10
    /// receive 15; 11 and 12 do without 16QAM. Default: 6.
    #[serde(default = "default_category")]
    pub category: u8,
    /// Whose slot it is. Default: `3gpp`: `round_robin`. `ns2`: `max_sir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// How many processes hybrid ARQ has: a block that failed is sent again this number of slots later. Default: 6.
    #[serde(default = "default_processes")]
    pub processes: u8,
    /// How often a block is sent at most. Default: 3 (EURANE).
    #[serde(default = "default_transmissions")]
    pub transmissions: u32,
    /// Which transmissions are received. Default: `3gpp`: `combining`. `ns2`: `thresholds`, all of which are
    /// reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reception: Option<Reception>,
    /// How long a block is on the air. Default: `3gpp`: 2 ms. `ns2`: 0 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub air_time: Option<Duration>,
    /// How many blocks a terminal reorders at most: at most half of the 64 numbers (TS 25.321 §11.6.2.3).
    /// Default: 32.
    #[serde(default = "default_window")]
    pub window: u32,
    /// How long a terminal waits for a block that is missing (T1, TS 25.321 §11.6.2). Default: 25 ms (EURANE); `3gpp`: at
    /// least as long as a block may be sent again, (`transmissions` − 1) × `processes` × 2 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t1: Option<Duration>,
    /// How many PDUs the RNC may send to the Node B.
    #[serde(default)]
    pub capacity: CapacityPlan,
}

/// Flow control between RNC and Node B (TS 25.435 §5.9, §5.10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CapacityPlan {
    /// The time between two capacity requests of the RNC. Default: 30 ms (EURANE).
    pub interval: Duration,
    /// From a request until the allocation is at the RNC. Default: `3gpp`: twice the delay of the Iub.
    /// `ns2`: 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// How many PDUs may wait for a terminal at the Node B, with those under way to it. Default: 250 (EURANE); `3gpp`: at least as
    /// many as the largest blocks of the category carry until the PDUs of the next request have come, in `interval`, `delay`, the
    /// delay of the Iub and a slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl Default for CapacityPlan {
    fn default() -> Self {
        Self { interval: Duration::from_millis(30), delay: None, limit: None }
    }
}

impl HsDsch {
    /// The scheduler in a scenario of this profile.
    pub fn scheduler(&self, profile: Profile) -> Scheduler {
        let usual = || match profile.is_ns2() {
            true => Scheduler::MaxSir(Default::default()),
            false => Scheduler::RoundRobin(Default::default()),
        };
        self.scheduler.clone().unwrap_or_else(usual)
    }

    /// The rule of reception in a scenario of this profile.
    pub fn reception(&self, profile: Profile) -> Reception {
        let usual = || match profile.is_ns2() {
            true => Reception::Thresholds(Default::default()),
            false => Reception::Combining(Default::default()),
        };
        self.reception.clone().unwrap_or_else(usual)
    }

    /// How long a block is on the air in a scenario of this profile.
    pub fn air_time(&self, profile: Profile) -> Duration {
        self.air_time.unwrap_or(if profile.is_ns2() { Duration::ZERO } else { SLOT })
    }

    /// How long a terminal waits for a block that is missing in a scenario of this profile. The next block comes a slot after the first
    /// transmission, at the earliest.
    pub fn t1(&self, profile: Profile) -> Duration {
        let again = SLOT * (u64::from(self.processes) * u64::from(self.transmissions.saturating_sub(1)));
        let usual = if profile.is_ns2() { EURANE_T1 } else { EURANE_T1.max(again) };
        self.t1.unwrap_or(usual)
    }

    /// Flow control in a scenario of this profile, over an Iub with this delay, for PDUs of this number of bits.
    fn plan(&self, profile: Profile, iub: Duration, pdu_bits: u32) -> Plan {
        let CapacityPlan { interval, delay, limit } = self.capacity;
        let delay = delay.unwrap_or(if profile.is_ns2() { EURANE_ALLOCATION } else { iub * 2 });
        let blocks = (interval + delay + iub + SLOT).as_nanos().div_ceil(SLOT.as_nanos() * self.rate_map().interval());
        let pdus = blocks.saturating_mul(pdus_of(self.largest_block(), pdu_bits).into());
        let enough = u32::try_from(pdus).unwrap_or(u32::MAX);
        let usual = if profile.is_ns2() { EURANE_LIMIT } else { EURANE_LIMIT.max(enough) };
        Plan { interval, delay, limit: limit.unwrap_or(usual) }
    }

    /// With what the profile leaves to it filled in.
    #[must_use]
    pub fn resolved(&self, profile: Profile, iub: Duration, pdu_bits: u32) -> Self {
        let Plan { interval, delay, limit } = self.plan(profile, iub, pdu_bits);
        Self {
            scheduler: Some(self.scheduler(profile)),
            reception: Some(self.reception(profile)),
            air_time: Some(self.air_time(profile)),
            t1: Some(self.t1(profile)),
            capacity: CapacityPlan { interval, delay: Some(delay), limit: Some(limit) },
            ..self.clone()
        }
    }

    fn rate_map(&self) -> cqi::Config {
        cqi::Config { category: self.category }
    }

    /// The largest block that its terminals receive, in bits.
    pub fn largest_block(&self) -> u32 {
        let best = self.rate_map().build().grant(cqi::to_sir(cqi::HIGHEST), u64::MAX, u8::MAX);
        best.map_or(0, |grant| grant.bits)
    }

    /// The faults in it, in a cell of this number of terminals: the field below it, and the fault.
    pub fn faults(&self, ues: u32, profile: Profile) -> Vec<(String, Fault)> {
        let mut faults = Vec::new();
        let mut add = |part: String, fault: Result<(), Fault>| faults.extend(fault.err().map(|fault| (part, fault)));
        add(String::new(), self.rate_map().check());
        let (scheduler, reception) = (self.scheduler(profile), self.reception(profile));
        add(format!("scheduler.{}.", scheduler.name()), scheduler.config().check());
        add(format!("reception.{}.", reception.name()), reception.config().check());
        let wrong = |field: &'static str, message: String, expected: String| Err(Fault::new(field, message, expected));
        if self.cqi.len() != 1 && self.cqi.len() != ues as usize {
            let message = format!("{} traces for {ues} terminals", self.cqi.len());
            add(String::new(), wrong("cqi", message, "expected one for all, or one for each".to_owned()));
        }
        for (n, runs) in self.cqi.iter().enumerate() {
            if runs.is_empty() {
                let message = format!("the trace of terminal {n} is empty");
                add(String::new(), wrong("cqi", message, "expected runs of [slots, CQI]".to_owned()));
            }
            if let Some((slots, cqi)) = runs.iter().find(|(slots, cqi)| *slots == 0 || *cqi > cqi::HIGHEST) {
                let message = format!("{slots} slots with CQI {cqi}");
                let expected = format!("expected at least 1 slot, and 0 to {}", cqi::HIGHEST);
                add(String::new(), wrong("cqi", message, expected));
            }
        }
        if !harq::PROCESSES.contains(&self.processes) {
            let message = format!("{} processes", self.processes);
            add(String::new(), wrong("processes", message, "expected 6 to 8: an answer takes six slots".to_owned()));
        }
        if self.transmissions == 0 {
            let message = "a block that is never sent".to_owned();
            add(String::new(), wrong("transmissions", message, "expected 1 or more".to_owned()));
        }
        if self.air_time.is_some_and(|time| time > SLOT) {
            let message = format!("a block is on the air for {}", self.air_time.unwrap_or_default());
            add(String::new(), wrong("air_time", message, format!("expected at most a slot, {}", SLOT)));
        }
        if !(1..=32).contains(&self.window) {
            let message = format!("a window of {} blocks", self.window);
            add(String::new(), wrong("window", message, "expected 1 to 32".to_owned()));
        }
        if self.t1 == Some(Duration::ZERO) {
            let message = "a terminal that waits for nothing".to_owned();
            add(String::new(), wrong("t1", message, "expected more than 0 s".to_owned()));
        }
        if self.capacity.interval == Duration::ZERO {
            let message = "requests without end".to_owned();
            add("capacity.".to_owned(), wrong("interval", message, "expected more than 0 s".to_owned()));
        }
        if self.capacity.limit == Some(0) {
            let message = "a Node B that takes nothing".to_owned();
            add("capacity.".to_owned(), wrong("limit", message, "expected 1 or more".to_owned()));
        }
        faults
    }
}

/// The parts of the channel of a cell.
pub(super) fn setup(cell: &Cell, hs_dsch: &HsDsch, profile: Profile) -> Setup {
    let trace = |n: usize| &hs_dsch.cqi[n % hs_dsch.cqi.len()][..];
    Setup {
        quality: Box::new(Traces::new((0..cell.ues as usize).map(trace))),
        rate_map: hs_dsch.rate_map().build(),
        scheduler: match hs_dsch.scheduler(profile) {
            // EURANE's own arithmetic, with its own window.
            Scheduler::FairChannel(config)
                if profile.is_ns2() && config == scheduler::fair_channel::Config::default() =>
            {
                Box::new(FairChannel::default())
            }
            scheduler => scheduler.config().build(SLOT),
        },
        reception: hs_dsch.reception(profile).config().build(),
        processes: hs_dsch.processes,
        transmissions: hs_dsch.transmissions,
        interval: hs_dsch.rate_map().interval(),
        window: hs_dsch.window,
        t1: hs_dsch.t1(profile),
        capacity: hs_dsch.plan(profile, cell.iub.delay, cell.rlc(profile).config().pdu_bits()),
        air_time: hs_dsch.air_time(profile),
    }
}

/// EURANE's T1.
const EURANE_T1: Duration = Duration::from_millis(25);
/// Half of EURANE's `flow_control_rtt_`.
const EURANE_ALLOCATION: Duration = Duration::from_millis(15);
/// How many PDUs EURANE lets wait for a terminal at the Node B.
const EURANE_LIMIT: u32 = 250;

fn default_category() -> u8 {
    6
}

fn default_processes() -> u8 {
    6
}

fn default_transmissions() -> u32 {
    3
}

fn default_window() -> u32 {
    32
}
