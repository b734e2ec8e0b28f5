//! Quality of service: what a flow asks of the network beyond best effort, and the machines at
//! hosts and routers that ask, decide and police. What they decide is carried out by queue
//! disciplines.

pub mod diffserv;
pub mod intserv;
pub mod mark;
pub mod rejection;
pub mod signal;
pub mod swan;

pub use lasthop_net::net::dscp;

use lasthop_net::engine::{Fault, Stream};
use lasthop_net::net::{Agent, Endpoint, EndpointContext, NodeId};
use lasthop_net::profile::Profile;

/// What a flow asks of the network.
pub trait QosConfig: Send + Sync {
    /// Puts the sending end of a flow behind what asks, polices or marks for it; `stream` is that one's own.
    fn sender(
        &self,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint>;

    /// The node that decides for it, if it names one: the parameter that does, and the name.
    fn served_by(&self) -> Option<(&'static str, &str)> {
        None
    }

    /// [`QosConfig::sender`] with that node, if there is one.
    fn sender_served_by(
        &self,
        _node: Option<NodeId>,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        self.sender(inner, seat, profile, stream)
    }

    /// Puts the receiving end of a flow behind what answers for it; `stream` is that one's own.
    fn receiver(
        &self,
        inner: Box<dyn Endpoint>,
        _seat: EndpointContext,
        _profile: Profile,
        _stream: Stream,
    ) -> Box<dyn Endpoint> {
        inner
    }

    /// The machine that every node needs for it, if any. Flows that ask for the same share one
    /// machine at each node.
    fn agent(&self) -> Option<Agent> {
        None
    }

    /// Whether a flow to a group can have it.
    fn can_multicast(&self) -> bool {
        true
    }

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}
