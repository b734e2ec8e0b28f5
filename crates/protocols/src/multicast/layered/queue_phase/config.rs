//! Queue-phase control as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Duration;
use lasthop_net::engine::units::{Amount, Probability};

/// A FIFO before which layers of multicast sessions are blocked and released. The defaults are those of the paper's Table I; what the
/// paper leaves open says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "QueuePhaseConfig")]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 50 packets, as in ns-2's Iridium example.
    pub limit: Amount,
    /// The queue is in phase 1 up to this share of its limit, F_QuThresh1. Default: 0: only when it
    /// is empty.
    pub first_threshold: Probability,
    /// It is in phase 3 from this share on, F_QuThresh2. Default: 0.8.
    pub second_threshold: Probability,
    /// How often it looks, I_ChekQu. Default: 20 ms.
    pub check: Duration,
    /// For how long the queue has to be in phase 1 before a layer is released, at first, and for how long after a change none is
    /// released in phase 2 (`hold`): T_observe. Default: 1 s.
    pub observe: Duration,
    /// By what that time grows with each release, F_SlowDown. Default: 1.5; 1 is without this
    /// adaptation.
    pub slow_down: f64,
    /// By what it grows when a layer is blocked right after a release, F_BackOff. Default: 4; 1 is without this
    /// adaptation.
    pub back_off: f64,
    /// By what share the rate of multicast sessions has to exceed TCP's before a layer is blocked, R_Block. Default: 0.2; 0 is
    /// without this adaptation.
    pub block: f64,
    /// Over how long rates are counted, T_rate. Default: 2 s: it has to cover the ups and downs of TCP.
    /// (Left open.)
    pub rate_window: Duration,
    /// For how long after a packet a layer counts as flowing. Default: 1 s: six packets of 1000 B at 50 kbit/s.
    /// (Left open.)
    pub live: Duration,
    /// How long T_observe gets at most. Default: 60 s. (Left open.)
    pub most_observe: Duration,
    /// After how long without a block it begins anew; so it does when sessions come or go, and when the link changes. Default: 60 s.
    /// (Left open.)
    pub quiet: Duration,
    /// For how long after a change no layer is released in phase 2. Default: `observe`.
    pub hold: Hold,
    /// How layers count whose rate has not been seen for the whole window. Default: `settled`. (Left open.)
    pub counting: Counting,
    /// What a TCP session is.
    pub sessions: Sessions,
    /// How many checks in phase 1 may find one or two packets. Default: 0. (Left open.)
    pub misses: u32,
}

/// For how long after a change no layer is released in phase 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "QueuePhaseHold")]
pub enum Hold {
    /// As long as the queue is observed in phase 1: §II.B.6 of the paper sets T_observe, "the observation time for the next layer
    /// release", against the loop of a release in phase 2 and a block in phase 3.
    #[default]
    Observe,
    /// As long as rates are counted, so that the change is seen.
    Window,
    /// Not at all, as the paper's Algorithm 1 is printed, without the adaptations.
    None,
}

/// How layers count whose rate has not been seen for the whole window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "QueuePhaseCounting")]
pub enum Counting {
    /// As the mean of the session's older layers; and a blocked layer not at all. So a change shows at once.
    #[default]
    Settled,
    /// By the counts, whatever has changed since; the controller rests for the window after each change.
    Plain,
}

/// What a TCP session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "QueuePhaseSessions")]
pub enum Sessions {
    /// A connection: addresses and ports.
    #[default]
    Connections,
    /// All connections between two addresses.
    Addresses,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(50),
            first_threshold: Probability::default(),
            second_threshold: Probability::new(0.8).unwrap_or_default(),
            check: Duration::from_millis(20),
            observe: Duration::from_secs(1),
            slow_down: 1.5,
            back_off: 4.0,
            block: 0.2,
            rate_window: Duration::from_secs(2),
            live: Duration::from_secs(1),
            most_observe: Duration::from_secs(60),
            quiet: Duration::from_secs(60),
            hold: Hold::default(),
            counting: Counting::default(),
            sessions: Sessions::default(),
            misses: 0,
        }
    }
}
