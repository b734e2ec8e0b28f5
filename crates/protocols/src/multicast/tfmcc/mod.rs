//! TFMCC (RFC 4654): a sender keeps to the rate that TCP would have on the way to the receiver that is worst off, its current
//! limiting receiver (CLR). Receivers compute that rate, and few of them report it.
//!
//! Begin with [`control`], the sender's rate and its choice of a CLR; [`rounds`] says when others report, and [`receiver`] what. It knows
//! no groups: the network knows the receivers. Sections cited are those of RFC 4654.

pub mod config;
pub mod control;
pub mod echoes;
pub mod floats;
pub mod losses;
pub mod receive_rate;
pub mod receiver;
pub mod rounds;
pub mod rtt;
pub mod sender;

pub use config::Config;

use crate::transport::{TransportConfig, half_connection, limits};
use lasthop_net::engine::{Fault, Stream};
use lasthop_net::net::{Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::gaps::Classifier;
use config::Settings;

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(half_connection::Sender::new(sender::Machine::new(Settings::new(self)), seat))
    }

    fn receiver(&self, seat: EndpointContext, _profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        let machine = receiver::Machine::new(Settings::new(self), seat.local.node, stream);
        Box::new(half_connection::Receiver::new(machine, seat))
    }

    fn label(&self, _profile: Profile) -> String {
        match self.classifier {
            Classifier::All => "tfmcc",
            Classifier::Indication => "tfmcc indication",
            Classifier::Toggle => "tfmcc toggle",
            Classifier::Ecn => "tfmcc ecn",
        }
        .to_owned()
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    /// The sender does not learn when all receivers have everything.
    fn can_repeat(&self) -> bool {
        false
    }

    fn header_fault(&self, _profile: Profile) -> Option<String> {
        limits::unlike_the_standard(false, Some(self.header), 28)
    }

    fn can_multicast(&self) -> bool {
        true
    }

    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        self.faults().map_or(Ok(()), Err)
    }
}
