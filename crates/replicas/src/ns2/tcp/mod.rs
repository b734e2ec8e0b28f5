//! TCP as ns-2.35 has it (`Agent/TCP` and its children, one-way): Tahoe, Reno, Newreno, Sack1,
//! Fack, Vegas and Reno/XCP, with the sinks `TCPSink`, `DelAck`, `Sack1` and `Sack1/DelAck`.
//!
//! Everything is counted in packets. Packet 0 is the SYN, or the first data packet where there
//! is no SYN; an acknowledgement carries the highest packet received in order, and −1 (all bits
//! set) before there is one. Where ns-2 departs from the RFCs, so do these files, and their
//! comments say so; the standard's TCP knows nothing of it.
//!
//! Read `agent` first: numbering, windows, timers and sending, which all variants share.
//! [`sender`] makes an endpoint of it, one file each adds what a variant does at an
//! acknowledgement and at a timeout. Names are ns-2's where ns-2 has one.

mod agent;
mod fack;
mod fack_board;
mod newreno;
mod reno;
mod rtt;
mod sack;
mod sack_board;
mod sack_stack;
mod sender;
mod settings;
mod sink;
mod tahoe;
mod vegas;
mod xcp;

use lasthop_net::engine::Stream;
use lasthop_net::net::{Endpoint, EndpointContext};

use lasthop_protocols::transport::tcp::config::{Config, Variant};

use sender::Sender;
pub use settings::Settings;

/// The sending end. The phase of its clock ticks is drawn from `stream` unless `config` gives it.
pub fn sender(config: &Config, seat: EndpointContext, stream: Stream) -> Box<dyn Endpoint> {
    let settings = Settings::new(config);
    match settings.variant {
        Variant::Tahoe => Box::new(Sender::new(tahoe::Tahoe, settings, seat, stream)),
        Variant::Reno => Box::new(Sender::new(reno::Reno, settings, seat, stream)),
        Variant::NewReno => Box::new(Sender::new(newreno::NewReno::default(), settings, seat, stream)),
        Variant::Sack => Box::new(Sender::new(sack::Sack::default(), settings, seat, stream)),
        Variant::Fack => Box::new(Sender::new(fack::Fack::new(&settings), settings, seat, stream)),
        Variant::Vegas => Box::new(Sender::new(vegas::Vegas::new(&settings), settings, seat, stream)),
        Variant::Xcp => Box::new(Sender::new(xcp::Xcp::default(), settings, seat, stream)),
        Variant::Cubic | Variant::Bbr | Variant::Dctcp | Variant::Prague | Variant::Copa | Variant::Ledbat => {
            unreachable!("ns-2.35 has none of them: `check` refuses it")
        }
    }
}

/// The receiving end.
pub fn receiver(config: &Config, seat: EndpointContext) -> Box<dyn Endpoint> {
    Box::new(sink::Sink::new(&Settings::new(config), seat))
}
