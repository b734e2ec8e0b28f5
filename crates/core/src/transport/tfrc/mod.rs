//! TFRC. Profile `ns2` is what ns-2.35 does, in [`ns2`]; profile `rfc` is what RFC 5348 says, in
//! the files beside it. [`equation`] and [`loss_history`] know nothing of endpoints; multicast
//! protocols compute with them too.

pub mod config;
pub mod control;
pub mod equation;
pub mod loss_history;
pub mod meter;
pub mod ns2;
pub mod pacer;
pub mod receiver;
pub mod sender;
pub mod settings;

pub use config::Config;

use crate::engine::{Fault, Stream};
use crate::net::{Endpoint, Seat};
use crate::profile::Profile;

use super::{TransportConfig, half_connection, limits};

impl TransportConfig for Config {
    fn sender(&self, seat: Seat, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return Box::new(ns2::Sender::new(settings::Ns2::new(self), seat));
        }
        let settings = settings::Rfc::new(self);
        Box::new(half_connection::Sender::new(sender::Machine::new(&settings), seat))
    }

    fn receiver(&self, seat: Seat, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return Box::new(ns2::Sink::new(settings::Ns2::new(self), seat));
        }
        let settings = settings::Rfc::new(self);
        Box::new(half_connection::Receiver::new(receiver::Machine::new(&settings), seat))
    }

    fn label(&self, profile: Profile) -> String {
        let name = match (self.profile.unwrap_or(profile).is_ns2(), self.version) {
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

    fn header_fault(&self, profile: Profile) -> Option<String> {
        limits::unlike_the_standard(self.profile.unwrap_or(profile).is_ns2(), self.header, 28)
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        self.faults(self.profile.unwrap_or(profile)).map_or(Ok(()), Err)
    }
}
