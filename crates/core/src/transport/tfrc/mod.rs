//! TFRC. Profile `ns2` is what ns-2.35 does, in [`ns2`]; profile `rfc` is what RFC 5348 says, in
//! the files beside it. [`equation`] and [`loss_history`] know nothing of endpoints; multicast
//! protocols compute with them too.

pub mod config;
pub mod equation;
pub mod ns2;
pub mod settings;

pub use config::Config;

use crate::engine::{Fault, Stream};
use crate::net::{Endpoint, Seat};
use crate::profile::Profile;

use super::TransportConfig;

impl TransportConfig for Config {
    fn sender(&self, seat: Seat, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return Box::new(ns2::Sender::new(settings::Ns2::new(self), seat));
        }
        unreachable!("`check` refuses it")
    }

    fn receiver(&self, seat: Seat, profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return Box::new(ns2::Sink::new(settings::Ns2::new(self), seat));
        }
        unreachable!("`check` refuses it")
    }

    fn label(&self, profile: Profile) -> String {
        let _ = profile;
        "tfrc".to_owned()
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        if !self.profile.unwrap_or(profile).is_ns2() {
            return Err(Fault::new("profile", "TFRC exists in profile \"ns2\" only", "choose profile = \"ns2\""));
        }
        self.faults(self.profile.unwrap_or(profile)).map_or(Ok(()), Err)
    }
}
