//! What changes during a run, as data, and what of it goes together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Decibel, Duration, Fault};
use crate::net::{InFlight, Queued};

use super::registry::LossModel;

/// A change of a link, or of the way to a terminal, during the run. Properties left out stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When.
    pub at: Duration,
    /// The link; or a radio, `cell`, or one of its terminals, `cell.ue[3]`, or several, `cell.ue[0:3]`; or a constellation or one of its terminals. A radio and
    /// a constellation stand for all their terminals. A change of a terminal is one of the way to it: of the air, not of routes.
    pub link: String,
    /// The new rate, in both directions; of a terminal of MBMS that of its bearers down, of one of a constellation that of its
    /// up-link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// The time in which the rate goes to its new value, in ten equal steps. The n-th is made after n
    /// tenths of this time. Another change of the link's rate ends it. Default: 0 s: the rate changes
    /// at once.
    #[serde(default)]
    pub ramp: Duration,
    /// The new propagation delay, in both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Whether the link is up. Packets find no way over a link that is down, and those that wait there stay. A terminal that is not up
    /// has no coverage: nothing comes over the air to it or from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// By how much the ratio of signal to interference at the terminal is better than it is by itself, from now on: `-10 dB` in a
    /// car park. Of radios that choose formats by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Decibel>,
    /// A new loss model, forward. On the way to a terminal it loses blocks on top of what the air loses; of a constellation it takes
    /// the place of the former one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// For how long the new loss model holds. Then the former one goes on. Default: for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_for: Option<Duration>,
    /// What becomes of packets in service and in flight.
    #[serde(default)]
    pub in_flight: InFlight,
    /// What becomes of waiting packets.
    #[serde(default)]
    pub queue: Queued,
    /// How long the way of forwarded packets takes, from the old access to the queue of the
    /// changed link.
    #[serde(default)]
    pub forwarding: Duration,
    /// Break before make: how long nothing is sent, in both directions. Packets that come meanwhile wait.
    #[serde(default)]
    pub interruption: Duration,
    /// Make before break: how long the old access goes on sending the waiting packets, while the new one sends arriving ones. Packets of
    /// the new one may arrive first.
    #[serde(default)]
    pub overlap: Duration,
    /// Makes the same change again, at equal intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
}

/// How often a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The time from each change to the next.
    pub every: Duration,
    /// How many changes there are, the first one included.
    pub times: u64,
}

/// The fields that a change of a link may have.
pub const OF_LINKS: [&str; 11] =
    ["rate", "delay", "up", "loss", "in_flight", "queue", "interruption", "overlap", "ramp", "loss_for", "forwarding"];

/// Those of a link that follows a trace.
pub const OF_TRACES: [&str; 4] = ["delay", "up", "loss", "loss_for"];

impl Change {
    /// A change of the link `link` at `at` that leaves everything as it is.
    pub fn new(at: Duration, link: &str) -> Self {
        Self {
            at,
            link: link.to_owned(),
            rate: None,
            ramp: Duration::ZERO,
            delay: None,
            up: None,
            quality: None,
            loss: None,
            loss_for: None,
            in_flight: InFlight::default(),
            queue: Queued::default(),
            forwarding: Duration::ZERO,
            interruption: Duration::ZERO,
            overlap: Duration::ZERO,
            repeat: None,
        }
    }

    /// How many changes it stands for.
    pub fn times(&self) -> u64 {
        self.repeat.map_or(1, |repeat| repeat.times)
    }

    /// When the `n`-th of the changes that it stands for is made, counted from 0.
    pub fn instant(&self, n: u64) -> Duration {
        self.at + self.repeat.map_or(Duration::ZERO, |repeat| repeat.every * n)
    }

    /// The fields that say something.
    pub fn changed(&self) -> Vec<&'static str> {
        let set = |duration: Duration| duration > Duration::ZERO;
        let fields = [
            ("rate", self.rate.is_some()),
            ("ramp", set(self.ramp)),
            ("delay", self.delay.is_some()),
            ("up", self.up.is_some()),
            ("quality", self.quality.is_some()),
            ("loss", self.loss.is_some()),
            ("loss_for", self.loss_for.is_some()),
            ("in_flight", self.in_flight != InFlight::Finish),
            ("queue", self.queue != Queued::Keep),
            ("forwarding", set(self.forwarding)),
            ("interruption", set(self.interruption)),
            ("overlap", set(self.overlap)),
        ];
        fields.into_iter().filter(|(_, set)| *set).map(|(field, _)| field).collect()
    }

    /// Whether its fields make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        let set = |duration: Duration| duration > Duration::ZERO;
        if set(self.ramp) && self.rate.is_none() {
            return Err(Fault::new("ramp", "a ramp to no new rate", "expected rate beside it"));
        }
        if self.loss_for.is_some() && self.loss.is_none() {
            return Err(Fault::new("loss_for", "loss_for without a loss model", "expected loss beside it"));
        }
        let forwards = self.in_flight == InFlight::Forward || self.queue == Queued::Forward;
        if set(self.forwarding) && !forwards {
            let expected = "expected in_flight = \"forward\" or queue = \"forward\" beside it";
            return Err(Fault::new("forwarding", "forwarding takes time, but nothing is forwarded", expected));
        }
        if set(self.overlap) && set(self.interruption) {
            let message =
                "an overlap and an interruption: a handover makes before it breaks, or breaks before it makes";
            return Err(Fault::new("overlap", message, "keep overlap or interruption"));
        }
        if set(self.overlap) && self.in_flight != InFlight::Finish {
            let message = "with an overlap, packets in flight arrive by the old access: in_flight cannot say otherwise";
            return Err(Fault::new("in_flight", message, "expected in_flight = \"finish\", or no overlap"));
        }
        match self.repeat {
            Some(Repeat { times: 0, .. }) => {
                Err(Fault::new("repeat.times", "a change that is made zero times", "expected at least 1"))
            }
            Some(Repeat { every: Duration::ZERO, .. }) => {
                let expected = "expected an interval, such as \"20 s\"";
                Err(Fault::new("repeat.every", "an interval of zero between changes", expected))
            }
            _ => Ok(()),
        }
    }
}

/// The single changes that `changes` stand for. Each has its repetitions behind it.
pub fn expanded(changes: &[Change]) -> Vec<Change> {
    let each = |change: &Change| {
        let change = change.clone();
        (0..change.times()).map(move |n| Change { at: change.instant(n), repeat: None, ..change.clone() })
    };
    changes.iter().flat_map(each).collect()
}
