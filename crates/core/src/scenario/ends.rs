//! The ends of a flow: the standard's, or in profile `ns2` ns-2's where it has that transport, or in profile `linux` the kernel's TCP. The one
//! place that knows them all.

use crate::engine::Stream;
use crate::net::{Endpoint, EndpointContext};
use crate::profile::Profile;
use crate::replicas::{linux, ns2};

use super::registry::Transport;

/// The sending end of a flow by `transport`; `stream` is its own.
pub(super) fn sender(
    transport: &Transport,
    seat: EndpointContext,
    profile: Profile,
    stream: Stream,
) -> Box<dyn Endpoint> {
    match transport {
        Transport::Tcp(config) if config.is_ns2(profile) => ns2::tcp::sender(config, seat, stream),
        Transport::Tcp(config) if config.is_linux(profile) => linux::sender(config, seat, stream),
        Transport::Tfrc(config) if config.is_ns2(profile) => ns2::tfrc::sender(config, seat),
        other => other.config().sender(seat, profile, stream),
    }
}

/// The receiving end at the node of this name; `stream` is its own.
pub(super) fn receiver(
    transport: &Transport,
    node: &str,
    seat: EndpointContext,
    profile: Profile,
    stream: Stream,
) -> Box<dyn Endpoint> {
    match transport {
        Transport::Tcp(config) if config.is_ns2(profile) => ns2::tcp::receiver(config, seat),
        Transport::Tcp(config) if config.is_linux(profile) => linux::receiver(config, seat),
        Transport::Tfrc(config) if config.is_ns2(profile) => ns2::tfrc::receiver(config, seat),
        other => other.config().receiver_at(node, seat, profile, stream),
    }
}
