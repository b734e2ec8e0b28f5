//! TCP. Profile `ns2` is what ns-2.35 does, counted in packets, in [`ns2`]; profile `rfc` is
//! what the standards say, counted in bytes, in the files beside it.

pub mod config;
pub mod delivery;
pub mod ns2;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod scoreboard;
pub mod sender;
pub mod settings;
pub mod spurious;
pub mod truth;

pub use config::Config;

use crate::engine::{Fault, Stream};
use crate::net::{Endpoint, Seat};
use crate::profile::Profile;

use super::{TransportConfig, limits};

impl TransportConfig for Config {
    fn sender(&self, seat: Seat, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return ns2::sender(self, seat, stream);
        }
        Box::new(sender::Sender::new(self, seat))
    }

    fn receiver(&self, seat: Seat, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return ns2::receiver(self, seat);
        }
        Box::new(receiver::Receiver::new(self, seat))
    }

    fn label(&self, profile: Profile) -> String {
        if self.profile.unwrap_or(profile).is_ns2() {
            return format!("tcp {}", self.variant.unwrap_or(config::Variant::NewReno).name());
        }
        let (recovery, congestion) = settings::parts(self);
        format!("tcp {}+{}", recovery.name(), congestion.name())
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_reconnect(&self) -> bool {
        true
    }

    fn header_fault(&self, profile: Profile) -> Option<String> {
        limits::unlike_the_standard(self.profile.unwrap_or(profile).is_ns2(), self.header, 40)
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        self.faults(self.profile.unwrap_or(profile)).map_or(Ok(()), Err)
    }
}
