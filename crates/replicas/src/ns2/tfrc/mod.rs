//! TFRC as ns-2.35 has it (`Agent/TFRC` and `Agent/TFRCSink`, `tcp/tfrc.cc`, `tcp/tfrc-sink.cc`).
//!
//! Packets are of one size, rates are bytes of payload per second, and reports carry packets per
//! second. All times are doubles by ns-2's clock: on a path without queues a packet meets the end
//! of a round trip exactly, and which comes first decides when a report leaves. Names are ns-2's
//! where it has one.

mod formula;
mod sender;
mod settings;
mod sink;
mod wali;

use lasthop_net::net::{Endpoint, EndpointContext};
use lasthop_protocols::transport::tfrc::Config;

use settings::Settings;

/// The sending end.
pub fn sender(config: &Config, seat: EndpointContext) -> Box<dyn Endpoint> {
    Box::new(sender::Sender::new(Settings::new(config), seat))
}

/// The receiving end.
pub fn receiver(config: &Config, seat: EndpointContext) -> Box<dyn Endpoint> {
    Box::new(sink::Sink::new(Settings::new(config), seat))
}

/// ns-2's smallest number that is not zero (`SMALLFLOAT`).
const SMALL: f64 = 1e-7;
