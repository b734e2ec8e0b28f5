//! TCP. Profile `ns2` is what ns-2.35 does, counted in packets, in [`ns2`]; profile `rfc` is
//! what the standards say, counted in bytes, in the files beside it.

pub mod config;
pub mod ns2;
pub mod truth;

pub use config::Config;

use crate::engine::{Fault, Stream};
use crate::net::{Endpoint, Seat};
use crate::profile::Profile;

use super::TransportConfig;

impl TransportConfig for Config {
    fn sender(&self, seat: Seat, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return ns2::sender(self, seat, stream);
        }
        todo!("merged with the two stacks")
    }

    fn receiver(&self, seat: Seat, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        if self.profile.unwrap_or(profile).is_ns2() {
            return ns2::receiver(self, seat);
        }
        let _ = stream;
        todo!("merged with the two stacks")
    }

    fn label(&self, profile: Profile) -> String {
        let _ = profile;
        "tcp".to_owned()
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        self.faults(self.profile.unwrap_or(profile)).map_or(Ok(()), Err)
    }
}
