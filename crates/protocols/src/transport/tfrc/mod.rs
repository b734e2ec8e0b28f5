//! TFRC as RFC 5348 has it. Profile `ns2`, what ns-2.35 does, is not here: the configuration is shared. [`equation`] and
//! [`loss_history`] know nothing of endpoints; multicast protocols compute with them too.

pub mod config;
pub mod control;
pub mod equation;
pub mod loss_history;
pub mod meter;
pub mod pacer;
pub mod receiver;
pub mod sender;
pub mod settings;

pub use config::Config;

use lasthop_net::engine::{Fault, Stream};
use lasthop_net::net::{Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::{TransportConfig, half_connection, limits};

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        let settings = settings::Rfc::new(self);
        Box::new(half_connection::Sender::new(sender::Machine::new(&settings), seat))
    }

    fn receiver(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        let settings = settings::Rfc::new(self);
        Box::new(half_connection::Receiver::new(receiver::Machine::new(&settings), seat))
    }

    fn label(&self, profile: Profile) -> String {
        let name = match (self.is_ns2(profile), self.version) {
            (false, Some(config::Version::Rfc3448)) => "tfrc rfc3448",
            _ => "tfrc",
        };
        let handover = match self.handover {
            config::Handover::Off => "",
            config::Handover::Restart => "+hn",
            config::Handover::Hint => "+hint",
        };
        format!("{name}{handover}")
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn tells_rate(&self, profile: Profile) -> bool {
        !self.is_ns2(profile)
    }

    fn header_fault(&self, profile: Profile) -> Option<String> {
        limits::unlike_the_standard(self.is_ns2(profile), self.header, 28)
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        self.faults(self.profile.unwrap_or(profile)).map_or(Ok(()), Err)
    }
}
