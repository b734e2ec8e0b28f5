//! Node Bs of MBMS as data, and from there to their medium's parts.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, Fault};
use crate::net::loss::Loss;
use crate::net::{Core, NodeId, Simulation, transmitter};
use crate::radio::channel::Losses;
use crate::radio::mbms::bearer::Sending;
use crate::radio::mbms::varying::{self, Varying};
use crate::radio::mbms::{Mbms as Medium, PerWhat, Setup, Terminal, retransmission};
use crate::radio::{Direction, imposed};

use crate::scenario::registry::{LossIndication, LossModel};

use super::{Around, Built, Faults, Joined, MediumConfig, Setting, countable, terminals_of};

/// A Node B of MBMS (Multimedia Broadcast Multicast Service) between an RNC and terminals. A packet for several terminals crosses
/// the Iub once; the Node B divides it. The terminals are nodes called `NAME.ue[0]`, `NAME.ue[1]`, …; a flow to or from
/// `NAME.ue[*]` stands for one flow for each of them, `NAME.ue[0:15]` for the first 15. The model is that of Alexiou, Bouras and Papazois (2009).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mbms {
    /// A name for results and terminals.
    pub name: String,
    /// The node that is the RNC.
    pub rnc: String,
    /// How many terminals there are. Default: 1.
    #[serde(default = "one")]
    pub ues: u32,
    /// Between RNC and Node B, in both directions.
    #[serde(default)]
    pub iub: MbmsIub,
    /// The rate of each radio bearer down, in bits per second of packets. Default: 384 kbit/s.
    #[serde(default = "default_rate")]
    pub rate: BitRate,
    /// How long a packet takes over the air after its last bit was sent, to the terminal. Default:
    /// 20 ms.
    #[serde(default = "default_delay")]
    pub delay: Duration,
    /// The limit of the queue at the Node B for each bearer, without the packet that is being sent. Packets beyond it are dropped. Default:
    /// 50 packets.
    #[serde(default = "default_queue")]
    pub queue: Amount,
    /// How often a packet is sent over a point-to-point bearer, at most, back to back. Default: 2; a bearer of unacknowledged
    /// mode has 1.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
    /// How the rate and the delay of point-to-point bearers down change. Default: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varying: Option<varying::Config>,
    /// Which attempts the air loses down, for each terminal by itself. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// The bearer of each terminal up.
    #[serde(default)]
    pub uplink: MbmsUplink,
    /// Which packets the air loses up, for each terminal by itself. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_loss: Option<LossModel>,
    /// Terminals with losses of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terminal: Vec<MbmsTerminal>,
    /// Whether a terminal has a bearer for each `flow`, with a rate and a queue of its own, or one for all that goes to the
    /// `terminal`. Default: for each flow.
    #[serde(default)]
    pub bearers: PerWhat,
    /// From how many listeners in this cell on a packet to a group goes over one bearer for all of them (point to multipoint): a
    /// queue for each flow, one attempt, losses of each terminal by itself. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptm_threshold: Option<u32>,
    /// By which rule the Node B indicates packets that it never had, or rejected itself. Default: it
    /// does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_indication: Option<LossIndication>,
    /// Whether the Node B asks the RNC for packets to a group that found no room. Default: it does
    /// not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmission: Option<retransmission::Config>,
}

/// The wire between RNC and Node B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MbmsIub {
    /// Its rate. Default: 622 Mbit/s (EURANE's examples).
    pub rate: BitRate,
    /// Its propagation delay. Default: 15 ms (the same).
    pub delay: Duration,
    /// How much waits in front of it. Default: 2000 packets (the same).
    pub queue: Amount,
}

impl Default for MbmsIub {
    fn default() -> Self {
        Self { rate: BitRate::from_mbps(622), delay: Duration::from_millis(15), queue: Amount::Packets(2000) }
    }
}

/// The bearer of a terminal up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MbmsUplink {
    /// Its rate. Default: 64 kbit/s.
    pub rate: BitRate,
    /// How long a packet takes over the air after its last bit was sent, to the Node B. Default: 20
    /// ms.
    pub delay: Duration,
    /// How much waits in front of it. Default: 50 packets.
    pub queue: Amount,
}

impl Default for MbmsUplink {
    fn default() -> Self {
        Self { rate: BitRate::from_kbps(64), delay: Duration::from_millis(20), queue: Amount::Packets(50) }
    }
}

/// What differs for one terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MbmsTerminal {
    /// Which one, from 0.
    pub ue: u32,
    /// Which attempts the air loses down. Default: as for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Which packets the air loses up. Default: as for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_loss: Option<LossModel>,
}

/// The most attempts to bring a packet over the air.
const MOST_ATTEMPTS: u32 = 1_000;
/// The most requests for one packet, and the longest time until the RNC answers one.
const MOST_REQUESTS: u32 = 1_000;
const LONGEST_REQUEST: Duration = Duration::from_secs(10);

impl MediumConfig for Mbms {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "radios"
    }

    fn joins(&self) -> Vec<Joined<'_>> {
        vec![Joined::new("rnc", &self.rnc)]
    }

    fn terminals(&self) -> u32 {
        self.ues
    }

    fn countable(&self) -> Result<(), Fault> {
        countable("a cell", self.ues)
    }

    fn check(&self, _around: &Around<'_>, faults: &mut Faults) {
        self.check_terminals(faults);
        self.check_bearers(faults);
    }

    fn changes(&self) -> &'static [&'static str] {
        if self.varying.is_some() { imposed::LOSSES } else { &["rate", "up", "loss", "loss_for"] }
    }

    fn build(&self, simulation: &mut Simulation, ends: &[NodeId], _setting: &Setting) -> Built {
        Built::new(simulation.add_medium(ends, |core, component, ends| {
            let setup = setup(core, self);
            Box::new(Medium::new(core, component, ends, setup))
        }))
    }
}

impl Mbms {
    /// The losses of all terminals, and of single ones.
    fn check_terminals(&self, faults: &mut Faults) {
        for (path, loss) in [("loss", &self.loss), ("uplink_loss", &self.uplink_loss)] {
            faults.loss(path, loss.as_ref());
        }
        let mut seen = BTreeSet::new();
        for (n, terminal) in self.terminal.iter().enumerate() {
            let path = format!("terminal[{n}]");
            if terminal.ue >= self.ues {
                let message = format!("there is no terminal {} of {}", terminal.ue, self.ues);
                faults.add(format!("{path}.ue"), message, "terminals are numbered from 0");
            } else if !seen.insert(terminal.ue) {
                faults.add(format!("{path}.ue"), format!("terminal {} is named twice", terminal.ue), "keep one");
            }
            for (field, loss) in [("loss", &terminal.loss), ("uplink_loss", &terminal.uplink_loss)] {
                faults.loss(&format!("{path}.{field}"), loss.as_ref());
            }
        }
    }

    /// The parameters of attempts and repair requests.
    fn check_bearers(&self, faults: &mut Faults) {
        if !(1..=MOST_ATTEMPTS).contains(&self.attempts) {
            let message = format!("{} attempts for each packet", self.attempts);
            faults.add("attempts", message, format!("expected 1 to {MOST_ATTEMPTS}"));
        }
        if self.ptm_threshold == Some(0) {
            faults.add("ptm_threshold", "a bearer for nobody", "expected 1 or more");
        }
        if let Some(indication) = &self.loss_indication {
            faults.found(&format!("loss_indication.{}", indication.name()), indication.config().check());
        }
        if let Some(varying) = &self.varying {
            faults.found("varying", varying.check(self.rate, self.delay));
        }
        let Some(retransmission) = self.retransmission else { return };
        if !(1..=MOST_REQUESTS).contains(&retransmission.times) {
            let message = format!("{} requests for a packet", retransmission.times);
            faults.add("retransmission.times", message, format!("expected 1 to {MOST_REQUESTS}"));
        }
        if retransmission.after > LONGEST_REQUEST {
            let message = format!("a packet is sent again after {}", retransmission.after);
            faults.add("retransmission.after", message, format!("the most is {LONGEST_REQUEST}"));
        }
    }
}

/// The parts of the medium.
fn setup(core: &mut Core, mbms: &Mbms) -> Setup {
    let queue = |amount| transmitter::Queue::Planned(amount);
    let iub = Direction::BOTH.map(|direction| transmitter::Setup {
        place: core.place(&format!("{} iub {}", mbms.name, direction.name())),
        rate: mbms.iub.rate,
        delay: mbms.iub.delay,
        reorder: false,
        queue: queue(mbms.iub.queue),
        loss: Loss::default(),
    });
    let names: Vec<String> = terminals_of(&mbms.name, mbms.ues).collect();
    let own = |number: u32| mbms.terminal.iter().find(|terminal| terminal.ue == number);
    let losses = |(number, name): (u32, &String)| {
        let own = own(number);
        let down = own.and_then(|own| own.loss.as_ref()).or(mbms.loss.as_ref());
        let up = own.and_then(|own| own.uplink_loss.as_ref()).or(mbms.uplink_loss.as_ref());
        let loss = |model: Option<&LossModel>, direction: Direction| {
            let stream = core.stream(&format!("{name} {}", direction.name()), "loss");
            model.map_or_else(Loss::default, |model| model.config().build(stream))
        };
        [loss(down, Direction::Down), loss(up, Direction::Up)]
    };
    let channel = Losses::new((0..).zip(&names).map(losses).collect());
    let terminals = names
        .iter()
        .map(|name| Terminal {
            place: core.place(&format!("{name} down")),
            uplink: transmitter::Setup {
                place: core.place(&format!("{name} up")),
                rate: mbms.uplink.rate,
                delay: mbms.uplink.delay,
                reorder: false,
                queue: queue(mbms.uplink.queue),
                loss: Loss::default(),
            },
            varying: mbms.varying.clone().map(|config| {
                let stream = core.stream(&format!("{name} down"), "varying");
                Varying::new(config, mbms.rate, mbms.delay, stream)
            }),
        })
        .collect();
    Setup {
        name: mbms.name.clone(),
        iub,
        sending: Sending {
            rate: mbms.rate,
            attempts: mbms.attempts,
            queue: mbms.queue,
            marker: mbms.loss_indication.as_ref().map(|indication| indication.config().marker()),
        },
        delay: mbms.delay,
        bearers: mbms.bearers,
        shared: mbms.ptm_threshold.map(|least| (least, core.place(&format!("{} ptm", mbms.name)))),
        retransmission: mbms.retransmission,
        channel: Box::new(channel),
        terminals,
    }
}

fn one() -> u32 {
    1
}

fn default_rate() -> BitRate {
    BitRate::from_kbps(384)
}

fn default_delay() -> Duration {
    Duration::from_millis(20)
}

fn default_queue() -> Amount {
    Amount::Packets(50)
}

fn default_attempts() -> u32 {
    2
}
