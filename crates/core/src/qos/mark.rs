//! A host that marks what its flow sends with a code point (RFC 2475 §2.3.2: hosts may mark).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Instant, Stream};
use crate::net::{Action, Endpoint, Notice, Packet, Port, Probe, Seat, Timed};
use crate::profile::Profile;

use super::QosConfig;
use super::dscp::Dscp;

/// What is sent carries a code point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The code point. Best effort.
    pub dscp: Dscp,
}

impl QosConfig for Config {
    fn sender(&self, inner: Box<dyn Endpoint>, _seat: Seat, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(Marked { inner, dscp: self.dscp.value() })
    }
}

/// A sending end whose packets are marked.
struct Marked {
    inner: Box<dyn Endpoint>,
    dscp: u8,
}

impl Timed for Marked {
    fn on_timeout(&mut self, now: Instant) {
        self.inner.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.inner.next_timeout()
    }
}

impl Endpoint for Marked {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        self.inner.on_packet(now, packet, via);
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.inner.on_notice(now, notice);
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let action = self.inner.poll(now, packet)?;
        if matches!(action, Action::Send | Action::SendToward(_)) {
            packet.dscp = self.dscp;
        }
        Some(action)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.inner.sample(probe);
    }
}
