//! TCP as the Linux kernel has it (6.18; net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c, tcp_recovery.c, tcp_rate.c, tcp_cubic.c, tcp_bbr.c),
//! written from its behaviour: windows in segments, states Open, Disorder, CWR, Recovery and Loss, RACK-TLP, PRR, undo, F-RTO, and Reno, CUBIC
//! with HyStart or BBRv1. The standard's TCP beside it knows nothing of it.
//!
//! Read `tcp` first: the state that all share, by the kernel's names. An acknowledgement goes through `ack` (`tcp_ack`), which calls `sack`,
//! `rack`, `recovery` and `reduction`; `output` has bursts and retransmissions; `timers` has what timers do; `receiver` is the other end. [`sender`] and
//! [`receiver`] make endpoints of them.

mod ack;
mod clock;
mod congestion;
mod flags;
mod minmax;
mod output;
mod rack;
mod rate;
mod receive_window;
mod receiver;
mod recovery;
mod reduction;
mod rtt;
mod sack;
mod segments;
mod sender;
mod settings;
mod socket;
mod tcp;
#[cfg(test)]
mod tests;
mod timers;
mod undo;

use lasthop_net::engine::Stream;
use lasthop_net::net::{Endpoint, EndpointContext};
use lasthop_protocols::transport::tcp::config::Config;

pub use settings::Settings;

/// The sending end; random choices of its congestion control are drawn from `stream`.
pub fn sender(config: &Config, seat: EndpointContext, stream: Stream) -> Box<dyn Endpoint> {
    Box::new(sender::Sender::new(Settings::new(config), seat, stream))
}

/// The receiving end.
pub fn receiver(config: &Config, seat: EndpointContext) -> Box<dyn Endpoint> {
    Box::new(receiver::Receiver::new(Settings::new(config), seat))
}
