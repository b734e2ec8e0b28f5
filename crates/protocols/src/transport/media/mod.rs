//! Interactive media: packets like RTP's, feedback for each packet (RFC 8888), and congestion control that gives an encoder its rate.
//!
//! A source writes frames; each is cut into packets, which leave as the [congestion control](control) says and are not sent again.
//! Playout is judged by the [source](crate::traffic::encoder).

pub mod control;
mod frames;
mod receiver;
pub mod rfc8888;
mod sender;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Stream};
use lasthop_net::net::{Ecn, Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::TransportConfig;
use super::path_hint::PathHint;
use control::{MediaCongestion, MediaContext};

/// Media over RTP with congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The congestion control. Default: `scream`.
    pub congestion: MediaCongestion,
    /// The least rate that the congestion control asks of the encoder, RTP headers included. Default: 150 kbit/s (RFC 8867 §4.3).
    pub min_rate: BitRate,
    /// The greatest. Default: 1.5 Mbit/s (RFC 8867 §4.3).
    pub max_rate: BitRate,
    /// That at the start. Default: `min_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_rate: Option<BitRate>,
    /// The largest packet, RTP's header of 12 B included. Default: 1200 B.
    pub packet: Bytes,
    /// How often the receiver reports, and at latest after 14 packets. Default: as the congestion control recommends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Duration>,
    /// Packets are ECN-capable: ECT(0), and ECT(1) where the congestion control is one of L4S, which switches this on. Default: off.
    pub ecn: bool,
    /// What a change of the terminal's path makes void. Default: `off`.
    pub path_hint: PathHint,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            congestion: MediaCongestion::Scream(control::scream::Config::default()),
            min_rate: BitRate::from_kbps(150),
            max_rate: BitRate::from_kbps(1_500),
            start_rate: None,
            packet: Bytes::new(1_200),
            feedback: None,
            ecn: false,
            path_hint: PathHint::Off,
        }
    }
}

/// RTP's header without contributing sources (RFC 3550 §5.1).
const RTP_BYTES: u32 = 12;

/// The headers of IPv4 and UDP.
const UDP_IP_BYTES: u32 = 28;

impl Config {
    /// The ECN field of its packets.
    fn ect(&self) -> Ecn {
        match (self.congestion.config().is_l4s(), self.ecn) {
            (true, _) => Ecn::Ect1,
            (false, true) => Ecn::Ect0,
            (false, false) => Ecn::NotEct,
        }
    }

    fn context(&self, seed: u64) -> MediaContext {
        let start = self.start_rate.unwrap_or(self.min_rate);
        MediaContext {
            min_rate: self.min_rate,
            max_rate: self.max_rate,
            start_rate: start.clamp(self.min_rate, self.max_rate),
            packet: self.packet.get() as u32,
            overhead: UDP_IP_BYTES,
            seed,
        }
    }
}

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, _profile: Profile, stream: Stream) -> Box<dyn Endpoint> {
        Box::new(sender::Sender::new(self, seat, stream))
    }

    fn receiver(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        Box::new(receiver::Receiver::new(self, seat))
    }

    fn label(&self, _profile: Profile) -> String {
        format!("media {}", self.congestion.name())
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_repeat(&self) -> bool {
        false
    }

    fn tells_rate(&self, _profile: Profile) -> bool {
        true
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        let wrong = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if self.min_rate.as_bps() < LEAST_RATE || self.min_rate > self.max_rate {
            let message = format!("rates from {} to {}", self.min_rate, self.max_rate);
            return wrong("min_rate", message, "expected at least 1 kbit/s, and no more than max_rate");
        }
        if let Some(start) = self.start_rate
            && !(self.min_rate..=self.max_rate).contains(&start)
        {
            return wrong("start_rate", format!("a start at {start}"), "expected a rate from min_rate to max_rate");
        }
        let packet = self.packet.get();
        if !(PACKETS.0..=PACKETS.1).contains(&packet) {
            return wrong("packet", format!("packets of {}", self.packet), "expected 100 B to 9000 B");
        }
        if self.feedback.is_some_and(|interval| interval < LEAST_FEEDBACK) {
            let interval = self.feedback.unwrap_or_default();
            return wrong("feedback", format!("a report every {interval}"), "expected at least 1 ms");
        }
        let chosen = self.congestion.config();
        chosen.check().map_err(|fault| fault.below(&format!("congestion.{}", self.congestion.name())))
    }
}

/// The least rate, bit/s: controllers divide by it.
const LEAST_RATE: u64 = 1_000;

/// The smallest and the largest packets, bytes.
const PACKETS: (u64, u64) = (100, 9_000);

/// The shortest interval of reports.
const LEAST_FEEDBACK: Duration = Duration::from_millis(1);
