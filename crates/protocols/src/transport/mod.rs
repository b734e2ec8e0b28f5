//! Transport protocols: sans-IO endpoints, and the modules that they share.

pub mod congestion;
pub mod dccp;
pub mod ewa;
pub mod half_connection;
pub(crate) mod limits;
pub mod media;
pub mod path_hint;
pub mod tcp;
pub mod tfrc;
pub mod udp;
pub mod xcp;

use lasthop_net::engine::{Fault, Stream};
use lasthop_net::net::{Agent, Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

/// The parameters of a transport.
pub trait TransportConfig: Send + Sync {
    /// The sending end; `stream` is its own.
    fn sender(&self, seat: EndpointContext, profile: Profile, stream: Stream) -> Box<dyn Endpoint>;

    /// The receiving end; `stream` is its own.
    fn receiver(&self, seat: EndpointContext, profile: Profile, stream: Stream) -> Box<dyn Endpoint>;

    /// The receiving end at the node of this name.
    fn receiver_at(&self, _node: &str, seat: EndpointContext, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        self.receiver(seat, profile, stream)
    }

    /// To how many groups behind that of its flow it sends, each a layer to which receivers subscribe by themselves.
    fn layers(&self) -> u32 {
        0
    }

    /// What it is, in a few words, for tables: `tcp sack+cubic`.
    fn label(&self, profile: Profile) -> String;

    /// Whether each write of a source becomes one datagram.
    fn sends_datagrams(&self) -> bool;

    /// Whether it serves sources that open one connection after another
    /// ([`SourceConfig::reconnects`](crate::traffic::SourceConfig::reconnects)): it reports bytes sent to them, delivers all of them, and
    /// accepts a segment size.
    fn can_reconnect(&self) -> bool {
        false
    }

    /// Whether it serves sources that open one connection after another
    /// ([`SourceConfig::repeats`](crate::traffic::SourceConfig::repeats)): it reports bytes sent to them, and when all of them were
    /// received, or never will be.
    fn can_repeat(&self) -> bool {
        true
    }

    /// The reason for which its headers cannot be compressed: how they differ from those of its standard.
    fn header_fault(&self, _profile: Profile) -> Option<String> {
        None
    }

    /// Whether it tells sources the rate that its congestion control allows ([`Notice::Rate`](lasthop_net::net::Notice::Rate)).
    fn tells_rate(&self, _profile: Profile) -> bool {
        false
    }

    /// Whether it can send to a group.
    fn can_multicast(&self) -> bool;

    /// The machine that every node needs for it, if any. Flows share one machine at each node.
    fn agent(&self) -> Option<Agent> {
        None
    }

    /// Whether its parameters make sense together, under the scenario's `profile`.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        Ok(())
    }
}
