//! What makes terminals move between cells, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::mobility::SetRules;
use crate::radio::mobility::movement::Way;
use crate::radio::propagation::{Antenna, PathLoss, Shadowing};
use crate::radio::umts::power::LoopsConfig;
use lasthop_net::choice;
use lasthop_net::engine::{Angle, BitRate, Bytes, Decibel, Duration, Fault, Level, Point};

/// Several radio cells in the place of one, and terminals that move between them. Each has the channels of the block's own
/// cell, and each site an Iub like it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mobility {
    /// The sites: a Node B at each, with one radio cell or one for each sector.
    pub site: Vec<Site>,
    /// Sites of other systems, such as a WLAN, which take terminals that hear them well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<System>,
    /// How terminals move: the first of these is that of the first terminal, and so on. If there are more terminals, the next
    /// begin again with the first. Default: they stay at the origin.
    #[serde(default = "still")]
    pub movement: Vec<Way>,
    /// How much less comes from farther away.
    #[serde(default)]
    pub path_loss: PathLoss,
    /// The shadowing by obstacles in between.
    #[serde(default)]
    pub shadowing: Shadowing,
    /// The antennas of sites.
    #[serde(default)]
    pub antenna: Antenna,
    /// What each cell sends its pilot (CPICH) with; terminals measure it. Default: 33 dBm: a tenth of 43 dBm (3GPP TR 25.942
    /// §5.1.4.1).
    #[serde(default = "usual_pilot")]
    pub pilot: Level,
    /// The time between two measurements. Default: 100 ms.
    #[serde(default = "usual_interval")]
    pub interval: Duration,
    /// Soft handover: the active set of a terminal with dedicated channels.
    #[serde(default)]
    pub soft: SetRules,
    /// Hard handover, to a cell of another carrier (TS 25.331 §14.2.1.1, event 2A). With `soft.most = 1` each handover within a
    /// carrier is hard too, by `soft.replace`.
    #[serde(default)]
    pub hard: Break,
    /// The change of cell of a terminal that has no dedicated channels (TS 25.304 §5.2.6).
    #[serde(default)]
    pub reselection: Break,
    /// Relocation: the RNC at whose Node Bs a terminal is becomes the one at which its RLC ends, and packets come there. Left
    /// out: there is none, and the first RNC serves for ever, over the Iur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relocation: Option<Relocation>,
    /// Between two RNCs.
    #[serde(default)]
    pub iur: Iur,
    /// How well blocks come over the air.
    #[serde(default = "ideal")]
    pub power: Power,
}

/// A site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Where it stands, in coordinates east and north. Default: the origin.
    #[serde(default)]
    pub at: Point,
    /// The main direction of the antenna of each of its sectors. Default: none: one cell that sends alike in all
    /// directions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sectors: Vec<Angle>,
    /// The node that is its RNC. Default: That of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rnc: Option<String>,
    /// The number of its carrier. Terminals are in soft handover between cells of one carrier only.
    /// Default: 0.
    #[serde(default)]
    pub carrier: u32,
}

/// A site of another system. It serves each terminal by itself, with queues of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Where it stands. Default: the origin.
    #[serde(default)]
    pub at: Point,
    /// Its rate, in both directions.
    pub rate: BitRate,
    /// Its rate up, if that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<BitRate>,
    /// Its delay. Default: 20 ms.
    #[serde(default = "usual_delay")]
    pub delay: Duration,
    /// The limit of the queue in front of it in each direction; packets beyond it are dropped. Default: 100 kB.
    #[serde(default = "usual_queue")]
    pub queue: Bytes,
    /// What it sends with, alike in all directions. Default: 20 dBm.
    #[serde(default = "usual_power")]
    pub power: Level,
    /// A terminal comes that hears it better than this for `held` (TS 25.331 §14.3.1.2, event 3B). −75 dBm.
    #[serde(default = "usual_enter")]
    pub enter: Level,
    /// But only if it hears no cell of its active set better than this (event 3A). Default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_below: Option<Level>,
    /// A terminal goes back that hears it worse than this for `held` (event 3C). −80 dBm.
    #[serde(default = "usual_leave")]
    pub leave: Level,
    /// How long each condition must hold. Default: 200 ms.
    #[serde(default = "usual_held")]
    pub held: Duration,
    /// For how long nothing is sent, on the way there and back. Default: 500 ms.
    #[serde(default = "usual_gap")]
    pub interruption: Duration,
    /// What becomes of packets that wait at the former system: whole ones go to the new system, ahead of all others, or are
    /// lost. Default: `keep`.
    #[serde(default)]
    pub carry_over: CarryOver,
}

/// What becomes of waiting packets when a terminal changes to another system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CarryOver {
    /// Those that have not come go to the new system, in order.
    #[default]
    Keep,
    /// They are dropped.
    Lose,
}

/// A change of cell that breaks before it makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Break {
    /// By how much the new cell must be better. Default: 3 dB.
    pub by: Decibel,
    /// For how long. Default: 200 ms.
    pub held: Duration,
    /// For how long nothing is sent. RLC keeps its state. Default: 100 ms.
    pub interruption: Duration,
}

/// Relocation of the serving RNC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Relocation {
    /// For how long no cell of the terminal must have belonged to its RNC. Default: 1 s.
    pub held: Duration,
    /// For how long nothing is sent, while the state of RLC moves. Default: 100 ms.
    pub pause: Duration,
}

/// The interface between two RNCs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Iur {
    /// Its rate. Default: 622 Mbit/s, like the Iub.
    pub rate: BitRate,
    /// Its delay. Default: 5 ms.
    pub delay: Duration,
}

choice! {
    /// How well blocks come over the air.
    pub enum Power: "power control" {
        /// Power control is perfect: wherever a terminal is, the cell's `loss` and `uplink_loss` say which blocks are lost.
        "ideal" => Ideal(Ideal),
        /// Loops control powers, and blocks are lost by the ratio of signal to interference that these leave.
        "loops" => Loops(LoopsConfig),
    }
}

/// Perfect power control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ideal {}

impl Default for Break {
    fn default() -> Self {
        Self { by: Decibel::new(3.0), held: usual_held(), interruption: Duration::from_millis(100) }
    }
}

impl Default for Relocation {
    fn default() -> Self {
        Self { held: Duration::from_secs(1), pause: Duration::from_millis(100) }
    }
}

impl Default for Iur {
    fn default() -> Self {
        Self { rate: BitRate::from_mbps(622), delay: Duration::from_millis(5) }
    }
}

fn still() -> Vec<Way> {
    vec![Way::Still(Default::default())]
}

fn ideal() -> Power {
    Power::Ideal(Ideal {})
}

fn usual_pilot() -> Level {
    Level::from_dbm(33.0)
}

fn usual_interval() -> Duration {
    Duration::from_millis(100)
}

fn usual_delay() -> Duration {
    Duration::from_millis(20)
}

fn usual_queue() -> Bytes {
    Bytes::new(100_000)
}

fn usual_power() -> Level {
    Level::from_dbm(20.0)
}

fn usual_enter() -> Level {
    Level::from_dbm(-75.0)
}

fn usual_leave() -> Level {
    Level::from_dbm(-80.0)
}

fn usual_held() -> Duration {
    Duration::from_millis(200)
}

fn usual_gap() -> Duration {
    Duration::from_millis(500)
}

/// The most cells.
const MOST_CELLS: usize = 1000;
/// The shortest time between two measurements: a frame.
const SHORTEST: Duration = Duration::from_millis(10);

impl Mobility {
    /// The nodes that are RNCs, that of the block first.
    pub fn rncs<'a>(&'a self, first: &'a str) -> Vec<&'a str> {
        let mut rncs = vec![first];
        for rnc in self.site.iter().filter_map(|site| site.rnc.as_deref()) {
            if !rncs.contains(&rnc) {
                rncs.push(rnc);
            }
        }
        rncs
    }

    /// How many radio cells there are.
    pub fn cells(&self) -> usize {
        self.site.iter().map(|site| site.sectors.len().max(1)).sum()
    }

    /// The faults, with the place of each parameter below this table. The names in it are checked elsewhere.
    pub fn faults(&self) -> Vec<(String, Fault)> {
        let mut faults = Vec::new();
        let mut add = |path: String, found: Result<(), Fault>| {
            if let Err(fault) = found {
                faults.push((path, fault));
            }
        };
        add(String::new(), self.check());
        add("path_loss.".to_owned(), self.path_loss.check());
        add("shadowing.".to_owned(), self.shadowing.check());
        add("antenna.".to_owned(), self.antenna.check());
        add("soft.".to_owned(), self.soft.check());
        for (n, way) in self.movement.iter().enumerate() {
            add(format!("movement[{n}].{}.", way.name()), way.config().check());
        }
        for (n, system) in self.system.iter().enumerate() {
            add(format!("system[{n}]."), system.check());
        }
        if let Power::Loops(loops) = &self.power {
            add("power.loops.".to_owned(), loops.check());
        }
        faults
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if !(1..=MOST_CELLS).contains(&self.cells()) {
            let expected = format!("expected 1 to {MOST_CELLS}");
            return fault("site", format!("sites with {} cells", self.cells()), &expected);
        }
        if self.movement.is_empty() {
            return fault("movement", "no movement for any terminal".to_owned(), "expected at least one");
        }
        if self.interval < SHORTEST {
            let expected = format!("expected at least {SHORTEST}");
            return fault("interval", format!("measurements every {}", self.interval), &expected);
        }
        Ok(())
    }
}

impl System {
    fn check(&self) -> Result<(), Fault> {
        if self.leave > self.enter {
            let message = "a terminal would go back as soon as it has come";
            return Err(Fault::new("leave", message, "expected at most `enter`"));
        }
        Ok(())
    }
}
