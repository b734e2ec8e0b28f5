//! Integrated services (RFC 1633): a flow has a rate reserved on its whole way by RSVP (RFC 2205), and polices
//! itself to what it has said of itself (RFC 2211, RFC 2212).
//!
//! Read [`agent`] for the signalling, [`host`] for the ends of a flow. Reservations are kept by queue disciplines: `wfq` answers to them.

pub mod agent;
pub mod bound;
pub mod host;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Stream};
use lasthop_net::net::{Agent, Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::QosConfig;
use super::rejection::OnReject;
use lasthop_net::net::guard::Guarded;

/// A rate is reserved for the flow at every hop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The token rate r that the flow keeps to, headers included (RFC 2215 §3.6).
    pub rate: BitRate,
    /// The token bucket b: how much may come at once. Default: 10 kB.
    #[serde(default = "default_bucket")]
    pub bucket: Bytes,
    /// The peak rate p. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<BitRate>,
    /// The largest packet M, headers included; a larger one is excess (RFC 2211, Policing).
    /// Default: 1500 B.
    #[serde(default = "default_packet")]
    pub max_packet: Bytes,
    /// The rate R that is reserved. A higher one shortens the delay bound (RFC 2212, End-to-End Behavior). Default: the
    /// token rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<BitRate>,
    /// The least rate that will do where the whole is not free. Default: the rate that is reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<BitRate>,
    /// What becomes of data while nothing is reserved for them: not yet, not any more, or refused.
    #[serde(default)]
    pub on_reject: OnReject,
    /// What becomes of packets beyond rate, bucket, peak or size at the sender.
    #[serde(default)]
    pub excess: Excess,
    /// How the reservation gets to a changed link.
    #[serde(default)]
    pub at_handover: AtHandover,
    /// The refresh period R of all state; each refresh comes after 0.5 R to 1.5 R, and state lives for
    /// (3 + 0.5)·1.5·R. Default: 30 s (RFC 2205 §3.7).
    #[serde(default = "default_refresh")]
    pub refresh: Duration,
    /// How long each node works at a message. Default: 5 ms.
    #[serde(default = "default_processing")]
    pub processing: Duration,
}

/// What becomes of excess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Excess {
    /// It is not sent.
    #[default]
    Drop,
    /// It goes with the code point CS1, which is below best effort (RFC 3662).
    Demote,
}

/// How the reservation gets to a changed link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtHandover {
    /// The terminal signals, up to the node where the old way and the new one meet (RFC 2205 §3.6).
    #[default]
    Signal,
    /// It moves with the link if it fits there, which takes one message. Where the way goes over another link,
    /// the terminal signals.
    Transfer,
}

fn default_bucket() -> Bytes {
    Bytes::new(10_000)
}

fn default_packet() -> Bytes {
    Bytes::new(1_500)
}

fn default_refresh() -> Duration {
    Duration::from_secs(30)
}

fn default_processing() -> Duration {
    Duration::from_millis(5)
}

impl Config {
    /// A reservation of this rate; the rest as by default.
    pub fn with_rate(rate: BitRate) -> Self {
        Self {
            rate,
            bucket: default_bucket(),
            peak: None,
            max_packet: default_packet(),
            reserve: None,
            floor: None,
            on_reject: OnReject::default(),
            excess: Excess::default(),
            at_handover: AtHandover::default(),
            refresh: default_refresh(),
            processing: default_processing(),
        }
    }

    fn reserved(&self) -> BitRate {
        self.reserve.unwrap_or(self.rate)
    }

    fn floor(&self) -> BitRate {
        self.floor.unwrap_or(self.reserved())
    }

    fn handover_flag(&self) -> u8 {
        match self.at_handover {
            AtHandover::Signal => 0,
            AtHandover::Transfer => agent::flag::TRANSFER,
        }
    }
}

impl QosConfig for Config {
    fn sender(
        &self,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        _profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(host::Sender::new(seat, stream, self.clone()), inner))
    }

    fn receiver(
        &self,
        inner: Box<dyn Endpoint>,
        seat: EndpointContext,
        _profile: Profile,
        stream: Stream,
    ) -> Box<dyn Endpoint> {
        Box::new(Guarded::new(host::Receiver::new(seat, stream, self), inner))
    }

    fn agent(&self) -> Option<Agent> {
        Some(Agent { port: agent::PORT, make: |seat, stream| Box::new(agent::Agent::new(seat, stream)) })
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: String| Err(Fault::new(field, message, expected));
        if self.bucket > MAX_BUCKET {
            return fault(
                "bucket",
                format!("a bucket of {} is too large", self.bucket),
                format!("the most is {MAX_BUCKET}"),
            );
        }
        if self.bucket < self.max_packet {
            let message = format!("a bucket of {} never holds a packet of {}", self.bucket, self.max_packet);
            return fault("bucket", message, format!("expected at least {}", self.max_packet));
        }
        if self.reserved() < self.rate {
            let message = format!("{} reserved for a flow of {}", self.reserved(), self.rate);
            return fault(
                "reserve",
                message,
                "expected at least the token rate (RFC 2212, End-to-End Behavior)".to_owned(),
            );
        }
        if let Some(peak) = self.peak.filter(|peak| *peak < self.rate) {
            let message = format!("a peak rate of {peak} below the token rate of {}", self.rate);
            return fault("peak", message, "expected at least the token rate (RFC 2215 §3.6)".to_owned());
        }
        if self.floor() > self.reserved() {
            let message = format!("a floor of {} above the {} that is reserved", self.floor(), self.reserved());
            return fault("floor", message, "expected at most the rate that is reserved".to_owned());
        }
        if self.refresh < MIN_REFRESH {
            let message = format!("a refresh every {}", self.refresh);
            return fault("refresh", message, format!("expected at least {MIN_REFRESH}"));
        }
        Ok(())
    }
}

/// The largest bucket: what fits into the 32 bits of a message.
const MAX_BUCKET: Bytes = Bytes::new(1_000_000_000);

/// The shortest refresh period: below it messages would be the load.
const MIN_REFRESH: Duration = Duration::from_millis(100);
