//! PGM (RFC 3208) with PGMCC (draft-ietf-rmt-bb-pgmcc-03; Rizzo 2000): a single-rate multicast transport whose window is opened
//! and closed by the acknowledgements of one receiver, the acker, as TCP's is.
//!
//! Read [`sender`] first: it asks [`window`] how much it may send, [`flight`] which packets are under way, [`scoreboard`] which the acker
//! got and missed, [`election`] which receiver is the acker. [`receiver`] measures loss ([`loss_filter`]), answers, and reports missing
//! packets ([`naks`]). A legacy receiver and a modified one (Alexiou, Bouras, Papazois 2009, §4.1) differ in their
//! `gaps::Classifier` alone.

pub mod config;
pub mod deadlines;
pub mod election;
pub mod element;
pub mod flight;
pub mod loss_filter;
pub mod naks;
pub mod receiver;
pub mod reception;
pub mod scoreboard;
pub mod sender;
mod sizes;
pub mod transmit_window;
pub mod window;

pub use config::Config;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::transport::{TransportConfig, limits};
use lasthop_net::engine::{Fault, Stream};
use lasthop_net::net::{Agent, Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::gaps::Classifier;

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Sender::new(self, seat))
    }

    fn receiver(&self, seat: EndpointContext, _profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Receiver::new(self, seat, stream))
    }

    fn label(&self, _profile: Profile) -> String {
        let scheme = if self.classifier == Classifier::All { "pgmcc" } else { "pgmcc modified" };
        format!("{scheme}{}", if self.reliable { " reliable" } else { "" })
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_repeat(&self) -> bool {
        false
    }

    fn header_fault(&self, _profile: Profile) -> Option<String> {
        limits::unlike_the_standard(false, Some(self.header), 28)
    }

    fn can_multicast(&self) -> bool {
        true
    }

    fn agent(&self) -> Option<Agent> {
        self.network_elements
            .then_some(Agent { port: element::PORT, make: |seat, _stream| Box::new(element::Element::new(seat)) })
    }

    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        self.faults().map_or(Ok(()), Err)
    }
}
