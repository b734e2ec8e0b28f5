//! The air between the base stations and their mobiles: signal, interference and noise on the shared channel.
//!
//! SIR = P g / (`self_interference` P g + `intra_cell` P_o g + Σ (P' + P_o) g' + N), where P is the power of the shared
//! channel, P_o that of the cell's other channels, g the gain from the serving site, g' that from another one, and P'
//! is P, or what that site sends in this slot (Landström, Larzon, Bodin, Table I).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::propagation::{Antenna, PathLoss, Sector, Shadow, Shadowing, coupling_gain, noise};
use crate::radio::quality::{Quality, State};
use lasthop_net::engine::{
    Decibel, Duration, Fault, Instant, Length, Level, Point, Power, Probability, Stream, Streams,
};
use lasthop_net::net::Probe;

use super::layout;

/// The air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HsdpaAir")]
pub struct Config {
    /// Path loss. 128.1 dB at 1 km (3GPP TR 25.848 §A.3.1), exponent 3.5 (Landström et al.; a parameter left out beside the others is as in
    /// `mobility`).
    #[serde(default = "default_path_loss")]
    pub path_loss: PathLoss,
    /// Shadowing, which stays as it is, since mobiles stand still. Default: 8 dB (Landström et al.), correlation 0.5
    /// between sites.
    #[serde(default = "default_shadowing")]
    pub shadowing: Shadowing,
    /// The power of the shared channel at each site. Default: 10 W (Landström et al.).
    #[serde(default = "default_power")]
    pub power: Power,
    /// The power of all other channels of each site. Default: 1 W (own choice: the interference that follows must leave room for
    /// the fourth modulation, which ends at 1.95 W).
    #[serde(default = "default_other_power")]
    pub other_power: Power,
    /// How much of the shared channel's own power interferes with it. Default: 0.1 (Landström et al.: limited
    /// to 10 %).
    #[serde(default = "default_self_interference")]
    pub self_interference: Probability,
    /// How much of the cell's other power interferes. Default: 0.4 (Landström et al.: limited to 40
    /// %).
    #[serde(default = "default_intra_cell")]
    pub intra_cell: Probability,
    /// The noise figure of mobiles, in 3.84 MHz. Default: 9 dB (3GPP TR 25.942 §5.1.4.1).
    #[serde(default = "default_noise_figure")]
    pub noise_figure: Decibel,
    /// What the other sites send on their shared channels. Default: always.
    #[serde(default)]
    pub neighbours: Neighbours,
    /// Rayleigh fading of the signal, in blocks. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fading: Option<Fading>,
}

/// What other sites send on their shared channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Neighbours {
    /// They always send.
    #[default]
    AlwaysOn,
    /// They send in those slots in which they have something to send. Formats are chosen by the interference of the slot before.
    BySlot,
}

/// Rayleigh fading in blocks: the gain is constant for a time, and then another, independent one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fading {
    /// How long the gain is constant. A format is chosen by the gain of the slot itself, so a short time costs nothing. 80 ms: about the
    /// coherence time, 0.423/f_d, at 3 km/h and 2 GHz (f_d = 5.6 Hz).
    pub coherence: Duration,
}

impl Default for Fading {
    fn default() -> Self {
        Self { coherence: Duration::from_millis(80) }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            path_loss: default_path_loss(),
            shadowing: default_shadowing(),
            power: default_power(),
            other_power: default_other_power(),
            self_interference: default_self_interference(),
            intra_cell: default_intra_cell(),
            noise_figure: default_noise_figure(),
            neighbours: Neighbours::default(),
            fading: None,
        }
    }
}

impl Config {
    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not, with its field below the part that the first word names.
    pub fn check(&self) -> Result<(), (&'static str, Fault)> {
        self.path_loss.check().map_err(|fault| ("path_loss.", fault))?;
        self.shadowing.check().map_err(|fault| ("shadowing.", fault))?;
        if self.power == Power::from_watts(0.0) {
            return Err(("", Fault::new("power", "a shared channel without power", "expected more than 0 W")));
        }
        if self.fading.as_ref().is_some_and(|fading| fading.coherence == Duration::ZERO) {
            let fault = Fault::new("coherence", "a gain that is constant for no time", "expected more than 0 s");
            return Err(("fading.", fault));
        }
        Ok(())
    }
}

/// Which site serves a mobile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Serving {
    /// That with the strongest signal.
    #[default]
    Strongest,
    /// That in whose hexagon it stands.
    Hexagon,
}

/// The air as it is.
pub struct Air {
    power: f64,
    other_power: f64,
    self_interference: f64,
    intra_cell: f64,
    noise: f64,
    neighbours: Neighbours,
    sites: usize,
    mobiles: Vec<Mobile>,
    /// The gain from each site to each mobile, one mobile after the other.
    gains: Vec<f64>,
    /// Whether each site sends on its shared channel in the slot last told of.
    sending: Vec<bool>,
    coherence: Option<Duration>,
}

/// The state of a mobile.
struct Mobile {
    place: Point,
    cell: u32,
    fading: Stream,
    /// The gain of fading in the present block, and the number of blocks drawn so far.
    faded: f64,
    blocks: u64,
}

/// The places and names of sites and mobiles.
pub struct Scene<'a> {
    /// The sites.
    pub sites: &'a [Point],
    /// The radius of their hexagons.
    pub radius: Length,
    /// Which of them serves a mobile.
    pub serving: Serving,
    /// The names of the mobiles.
    pub mobiles: &'a [String],
    /// Where the first of them stand; the others are dropped.
    pub places: &'a [Point],
}

impl Air {
    /// Puts mobiles where they are to stand, drops the others, and draws what shadows them.
    pub fn new(config: &Config, scene: &Scene<'_>, streams: &Streams) -> Self {
        let sites = scene.sites.len();
        let antenna = Antenna { omnidirectional: Decibel::ZERO, ..Antenna::default() };
        let mut air = Self {
            power: config.power.watts(),
            other_power: config.other_power.watts(),
            self_interference: config.self_interference.get(),
            intra_cell: config.intra_cell.get(),
            noise: watts(noise::thermal(BANDWIDTH_HZ, config.noise_figure)),
            neighbours: config.neighbours,
            sites,
            mobiles: Vec::with_capacity(scene.mobiles.len()),
            gains: Vec::with_capacity(scene.mobiles.len() * sites),
            sending: vec![true; sites],
            coherence: config.fading.as_ref().map(|fading| fading.coherence),
        };
        for (number, name) in scene.mobiles.iter().enumerate() {
            let (place, hexagon) = match scene.places.get(number) {
                Some(&place) => (place, layout::hexagon_of(scene.sites, place)),
                None => layout::drop_mobile(scene.sites, scene.radius, &mut streams.stream(name, "place")),
            };
            let mut shadow = Shadow::new(&config.shadowing, sites, streams.stream(name, "shadow"));
            shadow.move_by(Length::default());
            let gain = |(number, site): (usize, &Point)| {
                let sector = Sector { at: *site, direction: None };
                coupling_gain(&sector, &antenna, &config.path_loss, shadow.to(number), place).ratio()
            };
            let gains: Vec<f64> = scene.sites.iter().enumerate().map(gain).collect();
            let cell = match scene.serving {
                Serving::Hexagon => hexagon,
                // The first of equals, which are the nearest antennas' only.
                Serving::Strongest => {
                    let first = |best: usize, site: usize| if gains[site] > gains[best] { site } else { best };
                    (0..sites).fold(0, first) as u32
                }
            };
            air.gains.extend(gains);
            air.mobiles.push(Mobile { place, cell, fading: streams.stream(name, "fading"), faded: 1.0, blocks: 0 });
        }
        air
    }

    /// The cell that serves a mobile.
    pub fn cell(&self, mobile: u32) -> u32 {
        self.mobiles[mobile as usize].cell
    }

    fn sir(&self, mobile: u32, faded: f64, sends: impl Fn(usize) -> bool) -> Decibel {
        let own = self.mobiles[mobile as usize].cell as usize;
        let gains = &self.gains[mobile as usize * self.sites..][..self.sites];
        let others = gains.iter().enumerate().filter(|(site, _)| *site != own);
        let interference: f64 =
            others.map(|(site, gain)| gain * (self.other_power + if sends(site) { self.power } else { 0.0 })).sum();
        let gain = gains[own] * faded;
        let from_own_cell = gain * (self.self_interference * self.power + self.intra_cell * self.other_power);
        Decibel::of(self.power * gain / (from_own_cell + interference + self.noise))
    }

    /// The gain of a mobile's fading at an instant, and until when it is that.
    fn faded(&mut self, mobile: u32, at: Instant) -> (f64, Instant) {
        let Some(coherence) = self.coherence else { return (1.0, Instant::MAX) };
        let block = at.as_nanos() / coherence.as_nanos();
        let mobile = &mut self.mobiles[mobile as usize];
        if mobile.blocks <= block {
            // Each block has its draw, so that it does not depend on when the value is read.
            mobile.fading.skip(block - mobile.blocks);
            mobile.faded = mobile.fading.exponential(1.0);
            mobile.blocks = block + 1;
        }
        (mobile.faded, Instant::ZERO + coherence * (block + 1))
    }
}

impl Quality for Air {
    fn state(&mut self, terminal: u32, at: Instant) -> State {
        let (faded, until) = self.faded(terminal, at);
        match self.neighbours {
            Neighbours::AlwaysOn => State { sir: self.sir(terminal, faded, |_| true), valid_until: until },
            Neighbours::BySlot => State { sir: self.sir(terminal, faded, |site| self.sending[site]), valid_until: at },
        }
    }

    /// Without fading, if all sites always send.
    fn usual(&self, terminal: u32) -> Decibel {
        self.sir(terminal, 1.0, |_| true)
    }

    fn on_slot(&mut self, sending: &[bool]) {
        self.sending.copy_from_slice(sending);
    }

    fn sample(&self, terminal: u32, probe: &mut dyn Probe) {
        let Point(x, y) = self.mobiles[terminal as usize].place;
        probe.value("x_m", x.metres());
        probe.value("y_m", y.metres());
        probe.value("sir_db", self.usual(terminal).db());
    }
}

/// The chip rate of WCDMA as the bandwidth of its noise.
const BANDWIDTH_HZ: f64 = 3.84e6;

fn watts(level: Level) -> f64 {
    level.milliwatts() / 1000.0
}

fn default_path_loss() -> PathLoss {
    PathLoss { exponent: 3.5, ..PathLoss::default() }
}

fn default_shadowing() -> Shadowing {
    Shadowing { deviation: Decibel::new(8.0), ..Shadowing::default() }
}

fn default_power() -> Power {
    Power::from_watts(10.0)
}

fn default_other_power() -> Power {
    Power::from_watts(1.0)
}

fn default_self_interference() -> Probability {
    Probability::new(0.1).unwrap_or_default()
}

fn default_intra_cell() -> Probability {
    Probability::new(0.4).unwrap_or_default()
}

fn default_noise_figure() -> Decibel {
    Decibel::new(9.0)
}

#[cfg(test)]
mod tests;
