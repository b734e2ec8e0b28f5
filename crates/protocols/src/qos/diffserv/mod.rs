//! Differentiated services for one flow (RFC 2475): it asks for a class, the edges of the domain ask
//! a bandwidth broker (RFC 2638), and condition the flow if that has room for it.
//!
//! Read [`agent`] for what nodes do, [`host`] for the sending end. Packets are metered, marked and
//! scheduled by the queue of a [`router`]. The core knows no flow.

pub mod agent;
pub mod host;
pub mod router;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Bytes, Fault, Stream};
use lasthop_net::net::dscp::Class;
use lasthop_net::net::{Agent, Endpoint, EndpointContext, NodeId};
use lasthop_net::profile::Profile;

use super::QosConfig;
use super::rejection::OnReject;
use lasthop_net::net::guard::Guarded;

/// The flow asks for a class of service at each edge on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The class. Default: expedited forwarding.
    #[serde(default)]
    pub class: Service,
    /// The rate that it is to have, headers included.
    pub rate: BitRate,
    /// The burst that it is to have. Default: 3 kB, two packets of 1500 B.
    #[serde(default = "default_burst")]
    pub burst: Bytes,
    /// The node that decides, the bandwidth broker. Default: each edge decides for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
    /// What becomes of data while the flow is not admitted: not yet, not any more, or refused.
    #[serde(default)]
    pub on_reject: OnReject,
}

/// A class that can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// Expedited forwarding (RFC 3246).
    #[default]
    Ef,
    /// Assured forwarding, class 1 (RFC 2597).
    Af11,
    /// Assured forwarding, class 2.
    Af21,
    /// Assured forwarding, class 3.
    Af31,
    /// Assured forwarding, class 4.
    Af41,
}

impl Service {
    fn class(self) -> Class {
        match self {
            Self::Ef => Class::Expedited,
            Self::Af11 => Class::Assured(1),
            Self::Af21 => Class::Assured(2),
            Self::Af31 => Class::Assured(3),
            Self::Af41 => Class::Assured(4),
        }
    }
}

fn default_burst() -> Bytes {
    Bytes::new(3_000)
}

impl QosConfig for Config {
    fn sender(
        &self,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        self.sender_served_by(None, inner, seat, profile, stream)
    }

    fn served_by(&self) -> Option<(&'static str, &str)> {
        self.broker.as_deref().map(|name| ("broker", name))
    }

    fn sender_served_by(
        &self,
        broker: Option<NodeId>,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        _profile: Profile,
        _stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(host::Sender::new(seat, self, broker), inner))
    }

    fn agent(&self) -> Option<Agent> {
        Some(Agent { port: agent::PORT, make: |seat, _stream| Box::new(agent::Agent::new(seat)) })
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), Fault> {
        let most = u64::from(u32::MAX);
        if !(1..=most).contains(&self.burst.get()) {
            let expected = format!("expected a size from 1 B to {most} B");
            return Err(Fault::new("burst", format!("a burst of {}", self.burst), expected));
        }
        Ok(())
    }
}
