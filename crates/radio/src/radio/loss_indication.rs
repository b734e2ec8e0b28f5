//! The setting of the packet-loss indication at a base station: a marker for each flow on each bearer, with a rule that a scenario chooses.
//! The meaning of the bit is in [`indication`](lasthop_net::net::indication).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Fault;
use lasthop_net::net::indication::{Indication, Marker};
use lasthop_net::net::{FlowId, Packet};

/// The parameters of a rule.
pub trait IndicationConfig: Send + Sync {
    /// The marker of a flow on a bearer.
    fn marker(&self) -> Marker;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// The bit is set in the first packets after a gap, and in copies that the base station itself asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Edge {
    /// In how many packets after a gap: the radio may lose the first. Default: 1.
    pub hold: u32,
}

impl Default for Edge {
    fn default() -> Self {
        Self { hold: 1 }
    }
}

impl IndicationConfig for Edge {
    fn marker(&self) -> Marker {
        Marker::new(Indication::Edge, self.hold)
    }

    fn check(&self) -> Result<(), Fault> {
        match self.hold {
            0 => Err(Fault::new("hold", "an indication that no packet carries", "expected 1 or more")),
            _ => Ok(()),
        }
    }
}

/// The bit changes with each gap, and stays until the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Toggle {}

impl IndicationConfig for Toggle {
    fn marker(&self) -> Marker {
        Marker::new(Indication::Toggle, 1)
    }
}

/// The bit is set only in copies that the base station itself asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resend {}

impl IndicationConfig for Resend {
    fn marker(&self) -> Marker {
        Marker::new(Indication::Resend, 1)
    }
}

/// The markers of a bearer: one for each flow, made when its first packet comes.
pub struct Markers {
    fresh: Marker,
    flows: Vec<(FlowId, Marker)>,
    set: u64,
}

impl Markers {
    /// Of a bearer on which nothing has come.
    pub fn new(fresh: Marker) -> Self {
        Self { fresh, flows: Vec::new(), set: 0 }
    }

    /// The bearer admits a packet; `resent` if its base station had asked for it. Writes the bit into it if it has one.
    #[inline]
    pub fn on_accept(&mut self, packet: &mut Packet, resent: bool) {
        let flow = packet.flow;
        let Some((seq, bit)) = packet.indication() else { return };
        let place = self.flows.iter().position(|(known, _)| *known == flow).unwrap_or_else(|| {
            self.flows.push((flow, self.fresh.clone()));
            self.flows.len() - 1
        });
        *bit = self.flows[place].1.on_accept(seq, resent);
        self.set += u64::from(*bit);
    }

    /// In how many packets the bit was set.
    pub fn set(&self) -> u64 {
        self.set
    }

    /// The bearer begins anew, as at a handover: it does not know earlier packets.
    pub fn begin_anew(&mut self) {
        self.flows.clear();
    }
}
