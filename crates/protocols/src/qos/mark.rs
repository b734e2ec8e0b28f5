//! A host that marks what its flow sends with a code point (RFC 2475 §2.3.2: hosts may mark).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Instant, Stream};
use lasthop_net::net::{Endpoint, EndpointContext, Packet, Timed};
use lasthop_net::profile::Profile;

use super::QosConfig;
use super::dscp::Dscp;
use lasthop_net::net::guard::{Guard, Guarded};

/// The flow's packets carry a code point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The code point. Default: best effort.
    pub dscp: Dscp,
}

impl QosConfig for Config {
    fn sender(
        &self,
        inner: Box<dyn Endpoint>,
        _seat: EndpointContext,
        _profile: Profile,
        _stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(Marker { dscp: self.dscp.value() }, inner))
    }
}

/// Marks what the sending end writes.
struct Marker {
    dscp: u8,
}

impl Timed for Marker {}

impl Guard for Marker {
    fn lets_pass(&mut self, _now: Instant, packet: &mut Packet) -> bool {
        packet.dscp = self.dscp;
        true
    }
}
