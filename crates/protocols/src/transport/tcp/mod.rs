//! TCP as the standards have it, counted in bytes. Profile `ns2`, what ns-2.35 does, is not here: the configuration is shared.

pub mod answered;
pub mod config;
pub mod delivery;
pub mod ground_truth;
pub mod prr;
pub mod reassembly;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod scoreboard;
pub mod sender;
pub mod settings;
pub mod spurious;
pub mod undo;

pub use config::Config;

use lasthop_net::engine::{Fault, Stream};
use lasthop_net::net::{Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::{TransportConfig, limits};

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, _profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        Box::new(sender::Sender::new(self, seat, &stream))
    }

    fn receiver(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(receiver::Receiver::new(self, seat))
    }

    fn label(&self, profile: Profile) -> String {
        if self.is_ns2(profile) {
            return format!("tcp {}", self.variant.unwrap_or(config::Variant::NewReno).name());
        }
        let (recovery, congestion) = settings::parts(self);
        if self.is_linux(profile) {
            return format!("tcp linux+{}", congestion.name());
        }
        format!("tcp {}+{}", recovery.name(), congestion.name())
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_reconnect(&self) -> bool {
        true
    }

    fn tells_rate(&self, profile: Profile) -> bool {
        !self.is_ns2(profile)
    }

    fn header_fault(&self, profile: Profile) -> Option<String> {
        limits::unlike_the_standard(self.is_ns2(profile), self.header, 40)
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        self.faults(self.profile.unwrap_or(profile)).map_or(Ok(()), Err)
    }
}
