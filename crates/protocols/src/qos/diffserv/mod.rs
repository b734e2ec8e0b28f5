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

use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Stream};
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
    /// After what time a refused flow asks again: 0.5 to 1.5 of this. Default: with `on_reject = "block"` 5 s, as SWAN's sources; else never,
    /// since the edges ask again for it at a handover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Duration>,
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

/// When a refused flow of which the edges know nothing any more asks again.
const RETRY_BLOCKED: Duration = Duration::from_secs(5);

/// Below this, messages would be the load.
const SHORTEST: Duration = Duration::from_millis(10);

impl Config {
    /// After what time a refused flow asks again, if it does.
    fn retry(&self) -> Option<Duration> {
        self.retry.or((self.on_reject == OnReject::Block).then_some(RETRY_BLOCKED))
    }
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
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(host::Sender::new(seat, stream, self, broker), inner))
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
        if let Some(retry) = self.retry.filter(|retry| *retry < SHORTEST) {
            return Err(Fault::new("retry", format!("a retry of {retry}"), format!("expected at least {SHORTEST}")));
        }
        Ok(())
    }
}
