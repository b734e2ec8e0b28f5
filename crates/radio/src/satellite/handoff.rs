//! Which satellite serves a terminal.
//!
//! A terminal looks every now and then, keeps its satellite while that stands above the mask, and then takes the satellite that
//! follows in the same plane if it can, or else the highest one. Between two looks it keeps a satellite that has sunk below the mask,
//! as in ns-2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::space::Angle;
use lasthop_net::engine::{Duration, Fault};

use super::body::Body;
use super::earth::{Vector, elevation};
use super::mesh::Shell;

/// When a terminal changes its satellite, and what becomes of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SatelliteHandoff")]
pub struct Config {
    /// How often a terminal looks. Default: 10 s (ns-2).
    pub interval: Duration,
    /// By how much a look is early or late at most, drawn anew each time. Default: 5 s (ns-2's half of the
    /// interval).
    pub jitter: Duration,
    /// The least elevation of a satellite above a terminal's horizon. Default: 8.2 deg (Iridium).
    pub mask: Angle,
    /// Which satellite a terminal takes when it needs another.
    pub rule: Rule,
    /// The number of the satellite that terminals are taken to have had before their first look. None. Scripts of ns-2 that link
    /// every terminal to a satellite at the start make terminals follow that one, if another of its plane stands high enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<u32>,
    /// What becomes of packets for the terminal that wait at the satellite that it leaves.
    pub queued: Queued,
}

/// Which satellite a terminal takes when it needs another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SatelliteHandoffRule")]
pub enum Rule {
    /// The one that follows in the plane of the last one, if it stands above the mask, or else the highest.
    #[default]
    Follower,
    /// The highest.
    Highest,
}

/// What becomes of packets for a terminal that wait at the satellite that it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SatelliteHandoffQueued")]
pub enum Queued {
    /// They are sent and lost.
    #[default]
    Lose,
    /// The satellite sends them on to where the terminal is now.
    Reroute,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            jitter: Duration::from_secs(5),
            mask: Angle::from_degrees(8.2),
            rule: Rule::default(),
            initial: None,
            queued: Queued::default(),
        }
    }
}

impl Config {
    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        looks_fault(self.interval, self.jitter)?;
        if !(0.0..90.0).contains(&self.mask.degrees()) {
            return Err(Fault::new("mask", "no satellite stands there", "expected 0 deg to 90 deg"));
        }
        Ok(())
    }

    /// The satellite for a terminal at `site` that has had `last`, `seconds` after the start.
    pub fn choose(&self, shell: &Shell, site: Vector, last: Option<u32>, seconds: f64) -> Option<u32> {
        let mask = self.mask.degrees().to_radians();
        let height = |body: &Body| elevation(site, body.position(seconds));
        let stands = |satellite: &u32| height(&shell.bodies[*satellite as usize]) >= mask;
        let kept = last.filter(stands);
        let followed = || last.filter(|_| self.rule == Rule::Follower).map(|last| shell.follower(last)).filter(stands);
        let highest = || {
            let heights = shell.bodies.iter().map(height).zip(0..);
            let above = heights.filter(|(height, _)| *height >= mask);
            above.fold(None, |best: Option<(f64, u32)>, one| best.filter(|best| best.0 >= one.0).or(Some(one)))
        };
        kept.or_else(followed).or_else(|| highest().map(|(_, satellite)| satellite))
    }
}

/// Refuses looks that never end, or come before one another.
///
/// # Errors
/// Which of the two is wrong.
pub fn looks_fault(interval: Duration, jitter: Duration) -> Result<(), Fault> {
    if interval == Duration::ZERO {
        return Err(Fault::new("interval", "looks at every instant never end", "expected more than 0 s"));
    }
    if jitter >= interval {
        return Err(Fault::new("jitter", "looks would come before one another", "expected less than the interval"));
    }
    Ok(())
}
