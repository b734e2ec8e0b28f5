//! Cells of UMTS as data. Beside it: what does not make sense, and how the medium's parts are made.

mod faults;
pub mod hs_dsch;
mod setup;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::choice::Custom;
use crate::engine::{BitRate, Duration, Fault};
use crate::net::{NodeId, Simulation};
use crate::profile::Profile;
use crate::radio::imposed;
use crate::radio::umts::Umts;
use crate::radio::umts::channel::{Limit, Order, Rate};
use crate::radio::umts::cpch;
use crate::radio::umts::rach::Aloha;
use crate::radio::umts::roaming::Mobility;
use crate::radio::umts::timing::TimingConfig;

use crate::scenario::registry::{Attachment, LossIndication, LossModel, Pdcp, Rlc};

use super::{Around, Built, Faults, Joined, MediumConfig, Setting, countable};
use hs_dsch::HsDsch;

/// A cell of UMTS between an RNC and terminals (UEs). The terminals are nodes called `NAME.ue[0]`,
/// `NAME.ue[1]`, …; a flow to or from `NAME.ue[*]` stands for one flow for each of them, and `NAME.ue[0:15]` for the
/// first 15.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// A name for results and terminals.
    pub name: String,
    /// The node that is the RNC.
    pub rnc: String,
    /// How many terminals there are. Default: 1.
    #[serde(default = "one")]
    pub ues: u32,
    /// How RLC carries packets over the radio. Default: `3gpp`: `am`, acknowledged mode. `ns2`:
    /// `eurane`, or `eurane_hs` with the attachment `high_speed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rlc: Option<Rlc>,
    /// How PDCP compresses headers of packets above RLC. Default: none.
    #[serde(default = "default_pdcp")]
    pub pdcp: Pdcp,
    /// Which PDUs the air loses down, for each terminal by itself. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Which PDUs the air loses up. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_loss: Option<LossModel>,
    /// What serves the terminals: the common channels, dedicated ones, or dedicated ones on demand.
    /// Default: on demand.
    #[serde(default = "default_attachment")]
    pub attachment: Attachment,
    /// The forward access channel, down, which all terminals share. Default: 32 kbit/s in intervals
    /// of 10 ms.
    #[serde(default = "default_fach")]
    pub fach: Rate,
    /// The random access channel, up, which each terminal has for itself. Default: 16 kbit/s in intervals
    /// of 20 ms.
    #[serde(default = "default_rach")]
    pub rach: Rate,
    /// Access to the random access channel delays an interval's PDUs by up to this long, at random. Those of a terminal keep their order,
    /// but for profile `ns2`. Default: 3 ms (EURANE).
    #[serde(default = "default_access")]
    pub rach_access: Duration,
    /// Access to the random access channel is slotted ALOHA, with collisions, instead of that.
    /// Default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rach_aloha: Option<Aloha>,
    /// Dedicated channels.
    #[serde(default)]
    pub dch: Dch,
    /// A downlink shared channel (DSCH), which then carries what dedicated channels would carry down.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsch: Option<Dsch>,
    /// A high-speed downlink shared channel (HS-DSCH), for the attachment `high_speed`. Default:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hs_dsch: Option<HsDsch>,
    /// Common packet channels (CPCH), up, over which a terminal on the common channels sends if much waits
    /// there. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpch: Option<cpch::Config>,
    /// Between Node B and RNC.
    #[serde(default)]
    pub iub: Iub,
    /// How much the queues in front of the air take. Default: `3gpp`: what two intervals carry. `ns2`:
    /// EURANE's rule, which mixes units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Limit>,
    /// The order of service on the forward access channel. Default: first come first served.
    #[serde(default)]
    pub fach_order: Order,
    /// The PDUs of one interval leave RLC one after the other, each up to this long after the one before, at random. So the order at
    /// FACH changes in profile `ns2`. Default: 20 µs (EURANE); 0 s keeps the terminals in one order for ever.
    #[serde(default = "default_spacing")]
    pub spacing: Duration,
    /// What draws this and the delay of access to RACH, in a scenario that is built in code. Default: streams of the cell.
    #[serde(skip)]
    pub timing: Option<Custom<dyn TimingConfig>>,
    /// By which rule the RNC indicates packets that it never had, or that found no room in RLC's buffer. Default: it
    /// does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_indication: Option<LossIndication>,
    /// Several radio cells in the place of one, and terminals that move between them. Left out: one cell, in which it does not
    /// matter where terminals are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mobility: Option<Mobility>,
}

/// Dedicated channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dch {
    /// Down. Default: 64 kbit/s in intervals of 10 ms.
    pub down: Rate,
    /// Up. Default: 32 kbit/s in intervals of 10 ms.
    pub up: Rate,
}

impl Default for Dch {
    fn default() -> Self {
        Self { down: rate(64, 10), up: rate(32, 10) }
    }
}

/// A downlink shared channel: one terminal in each interval. Each terminal that RRC gives access to it has
/// beside it a dedicated channel for signalling, of 3.4 kbit/s down, and `dch.up`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dsch {
    /// Its rate, in bits per second of RLC's PDUs. Default: 256 kbit/s.
    pub rate: BitRate,
    /// Its transmission time interval. Default: 10 ms, the shortest (TS 25.302 §6.2).
    pub tti: Duration,
    /// Whose turn it is: the terminal whose oldest packet came first, behind those with control information of RLC, or the terminals
    /// in turn. Default: `fifo`.
    pub order: Order,
}

impl Default for Dsch {
    fn default() -> Self {
        Self { rate: BitRate::from_bps(256_000), tti: Duration::from_millis(10), order: Order::Fifo }
    }
}

impl Dsch {
    /// Its rate and interval.
    pub fn channel(&self) -> Rate {
        Rate { rate: self.rate, tti: self.tti }
    }
}

/// The interface between Node B and RNC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Iub {
    /// Its rate. Default: 622 Mbit/s (EURANE's examples).
    pub rate: BitRate,
    /// Its propagation delay. Default: 15 ms (the same).
    pub delay: Duration,
}

impl Default for Iub {
    fn default() -> Self {
        Self { rate: BitRate::from_bps(622_000_000), delay: Duration::from_millis(15) }
    }
}

impl Cell {
    /// The nodes that are its RNCs.
    pub fn rncs(&self) -> Vec<&str> {
        self.mobility.as_ref().map_or_else(|| vec![self.rnc.as_str()], |mobility| mobility.rncs(&self.rnc))
    }

    /// How RLC works in a scenario of this profile.
    pub fn rlc(&self, profile: Profile) -> Rlc {
        let usual = || match (profile.is_ns2(), &self.attachment) {
            (false, _) => Rlc::Am(Default::default()),
            (true, Attachment::HighSpeed(_)) => Rlc::EuraneHs(Default::default()),
            (true, _) => Rlc::Eurane(Default::default()),
        };
        self.rlc.clone().unwrap_or_else(usual)
    }

    /// How much the queues take in a scenario of this profile.
    pub fn queue(&self, profile: Profile) -> Limit {
        self.queue.unwrap_or(if profile.is_ns2() { Limit::MixedUnits } else { Limit::TwoIntervals })
    }
}

impl MediumConfig for Cell {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "radios"
    }

    fn joins(&self) -> Vec<Joined<'_>> {
        let first = Joined::new("rnc", &self.rnc);
        let site = |rnc: &str| self.mobility.as_ref()?.site.iter().position(|site| site.rnc.as_deref() == Some(rnc));
        let others = self.rncs().into_iter().skip(1).map(|rnc| {
            let field = format!("mobility.site[{}].rnc", site(rnc).unwrap_or_default());
            Joined { linked: true, ..Joined::new(field, rnc) }
        });
        std::iter::once(first).chain(others).collect()
    }

    fn terminals(&self) -> u32 {
        self.ues
    }

    fn countable(&self) -> Result<(), Fault> {
        countable("a cell", self.ues)
    }

    fn check(&self, around: &Around<'_>, faults: &mut Faults) {
        self.find_faults(around, faults);
    }

    fn resolve(&mut self, profile: Profile) {
        let (rlc, iub) = (self.rlc(profile), self.iub.delay);
        self.queue = Some(self.queue(profile));
        self.hs_dsch = self.hs_dsch.as_ref().map(|hs_dsch| hs_dsch.resolved(profile, iub, rlc.config().pdu_bits()));
        self.rlc = Some(rlc);
    }

    fn changes(&self) -> &'static [&'static str] {
        if self.hs_dsch.is_some() { &imposed::CHANGES } else { imposed::LOSSES }
    }

    /// It can with one Node B that sends over the high-speed channel and receives over dedicated ones, at moments that nothing draws.
    fn keeps_ns2_clock(&self) -> bool {
        matches!(self.attachment, Attachment::HighSpeed(_)) && self.mobility.is_none()
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], setting: &Setting) -> Built {
        Built::new(simulation.add_medium(ends, |core, component, ends| {
            let setup = setup::setup(core, component, ends, self, setting.profile);
            let mut medium = Umts::new(core, component, ends, setup);
            medium.start(core);
            Box::new(medium)
        }))
    }
}

fn one() -> u32 {
    1
}

fn rate(kbps: u64, ms: u64) -> Rate {
    Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(ms) }
}

fn default_pdcp() -> Pdcp {
    Pdcp::None(Default::default())
}

fn default_fach() -> Rate {
    rate(32, 10)
}

fn default_rach() -> Rate {
    rate(16, 20)
}

fn default_access() -> Duration {
    Duration::from_millis(3)
}

fn default_spacing() -> Duration {
    Duration::from_micros(20)
}

fn default_attachment() -> Attachment {
    Attachment::Rrc(Default::default())
}
