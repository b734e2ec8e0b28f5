//! A layered session as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transport::{TransportConfig, limits};
use lasthop_net::engine::{BitRate, Bytes, Fault, Stream};
use lasthop_net::net::{Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::control::ControlConfig;
use super::receiver::Receiver;
use super::sender::{Sender, Sending};
use super::{empty_layer, fixed, rlm};

lasthop_net::choice! {
    /// What decides to how many layers a receiver subscribes.
    pub enum Control: "subscription controller" as ControlConfig {
        /// Receiver-driven layered multicast (McCanne, Jacobson, Vetterli 1996).
        "rlm" => Rlm(rlm::Config),
        /// One layer more than comes, for routers that block layers (Peng, Sikdar 2003).
        "empty_layer" => EmptyLayer(empty_layer::Config),
        /// Always the same layers.
        "fixed" => Fixed(fixed::Config),
    }
}

/// The most layers of a session.
pub const MOST_LAYERS: usize = 64;

/// Header bytes of a packet: IPv4, UDP.
const HEADER_BYTES: u32 = 28;

/// Layered multicast: each layer goes to a group of its own, and receivers subscribe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "LayeredConfig")]
pub struct Config {
    /// The rate of each layer on the wire, the lowest first. Default: 15 of 50 kbit/s (Peng, Sikdar
    /// 2003).
    pub layers: Vec<BitRate>,
    /// Bytes of a packet on the wire. Default: 1000 B.
    pub packet: Bytes,
    /// By which share of itself the time between two packets of a layer is shorter or longer at most, drawn anew for each.
    /// Default: 0; ns-2's sources of RLM have 0.5.
    pub jitter: f64,
    /// Whether layers send one after the other at the start, spread over the time between two packets, and not all at once.
    /// Default: yes.
    pub stagger: bool,
    /// What decides to how many layers a receiver subscribes. Default: RLM.
    pub control: Control,
    /// Receivers with a controller of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<Exception>,
}

/// A receiver with a controller of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LayeredException")]
pub struct Exception {
    /// The receiver's node.
    pub node: String,
    /// What decides there.
    pub control: Control,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            layers: vec![BitRate::from_kbps(50); 15],
            packet: Bytes::new(1000),
            jitter: 0.0,
            stagger: true,
            control: Control::Rlm(Default::default()),
            exceptions: Vec::new(),
        }
    }
}

impl Config {
    fn count(&self) -> u32 {
        self.layers.len() as u32
    }

    /// From packet to packet of each layer, in seconds.
    fn gaps(&self) -> impl Iterator<Item = f64> {
        let bits = 8.0 * self.packet.get() as f64;
        self.layers.iter().map(move |rate| bits / rate.as_bps() as f64)
    }

    fn header(&self, profile: Profile) -> u32 {
        if profile.is_ns2() { 0 } else { HEADER_BYTES }
    }

    fn build_receiver(
        &self,
        control: &Control,
        seat: EndpointContext,
        profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        let controller = control.config().build(self.count(), profile, stream);
        Box::new(Receiver::new(controller, self.count(), self.header(profile), seat))
    }
}

/// The shortest gap between the packets of a layer, in seconds: of a hundred ticks of the clock.
const SHORTEST_GAP_S: f64 = 100e-9;

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        let size = self.packet.get() as u32;
        let sending = Sending {
            gaps: self.gaps().collect(),
            size: (size, u64::from(size.saturating_sub(self.header(profile)))),
            jitter: self.jitter,
            stagger: self.stagger,
        };
        Box::new(Sender::new(sending, seat, stream))
    }

    fn receiver(&self, seat: EndpointContext, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        self.build_receiver(&self.control, seat, profile, stream)
    }

    fn receiver_at(&self, node: &str, seat: EndpointContext, profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        let own = self.exceptions.iter().find(|exception| exception.node == node);
        self.build_receiver(own.map_or(&self.control, |exception| &exception.control), seat, profile, stream)
    }

    fn label(&self, _profile: Profile) -> String {
        format!("layered {}", self.control.name())
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    /// The sender does not learn when all receivers have everything.
    fn can_repeat(&self) -> bool {
        false
    }

    fn header_fault(&self, profile: Profile) -> Option<String> {
        limits::unlike_the_standard(profile.is_ns2(), None, 0)
    }

    fn can_multicast(&self) -> bool {
        true
    }

    fn layers(&self) -> u32 {
        self.count()
    }

    fn check(&self, profile: Profile) -> Result<(), Fault> {
        if !(1..=MOST_LAYERS).contains(&self.layers.len()) {
            let message = format!("a session of {} layers", self.layers.len());
            return Err(Fault::new("layers", message, format!("expected 1 to {MOST_LAYERS}")));
        }
        if self.layers.iter().any(|rate| rate.as_bps() < 100) {
            return Err(Fault::new("layers", "a layer hardly ever sends", "expected 100 bit/s or more each"));
        }
        let least = u64::from(self.header(profile)) + 1;
        if !(least..=65_535).contains(&self.packet.get()) {
            let expected = format!("expected {least} B to 65535 B");
            return Err(Fault::new("packet", format!("packets of {}", self.packet), expected));
        }
        if !(0.0..=0.9).contains(&self.jitter) {
            return Err(Fault::new(
                "jitter",
                format!("gaps that differ by {} of themselves", self.jitter),
                "expected 0 to 0.9",
            ));
        }
        if self.gaps().any(|gap| gap * (1.0 - self.jitter) < SHORTEST_GAP_S) {
            let message = format!("packets of {} come at gaps that a clock of nanoseconds cannot tell", self.packet);
            return Err(Fault::new("layers", message, "expected lower rates"));
        }
        let controls = std::iter::once(&self.control).chain(self.exceptions.iter().map(|exception| &exception.control));
        for control in controls {
            control.config().check().map_err(|fault| fault.inside("control"))?;
        }
        Ok(())
    }
}
