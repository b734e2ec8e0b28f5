//! IP header compression (RFC 2507) for IPv4 with TCP, UDP or something else behind it.
//!
//! | file | what | clauses |
//! | --- | --- | --- |
//! | `headers` | which fields a packet's headers have, and how each is coded | §4, §7 |
//! | `coded` | the formats of a compressed header, and what they take | §6, §10.2 |
//! | `contexts` | context identifiers | §4, §8 |
//! | `tcp` | TCP: differences to the header before; the "twice" algorithm and header requests | §3.2, §10 |
//! | `non_tcp` | others: generations, slow start and periodic refresh of contexts | §3.3 |
//!
//! Not here: IPv6 and tunnels, of which the simulation has none; fragments; the storing of packets until their
//! context comes (§9), a choice of the implementation; links that reorder (§11), which a bearer that delivers
//! in order is not.

mod coded;
mod contexts;
mod headers;
mod non_tcp;
mod tcp;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant};
use lasthop_net::net::{Packet, Probe};

use super::{PDU_HEADER, PdcpConfig};

pub use coded::Coded;
use coded::Form;
use headers::{Fields, Headers};

/// Header compression by RFC 2507. Defaults and ranges are those of RFC 2507 §14 and TS 25.331 §10.3.4.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The largest context identifier of TCP, 3 to 255; identifiers begin at 0 (TCP_SPACE).
    /// Default: 15.
    pub tcp_space: u32,
    /// The largest context identifier of other packet streams, 3 to 65535 (NON_TCP_SPACE). 15. Those above 255
    /// take a byte more.
    pub non_tcp_space: u32,
    /// The most compressed headers of a stream that is not TCP between two full ones, 1 to 65535 (F_MAX_PERIOD).
    /// Default: 256.
    pub f_max_period: u32,
    /// The time after which the next header of a stream that is not TCP is a full one, 1 s to 255 s (F_MAX_TIME). Default: 5 s.
    pub f_max_time: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { tcp_space: 15, non_tcp_space: 15, f_max_period: 256, f_max_time: Duration::from_secs(5) }
    }
}

impl PdcpConfig for Config {
    fn build(&self) -> Option<Box<Entity>> {
        Some(Box::new(Entity::new(self)))
    }

    fn check(&self) -> Result<(), Fault> {
        let ranges = [
            ("tcp_space", self.tcp_space, 3, 255),
            ("non_tcp_space", self.non_tcp_space, 3, 65_535),
            ("f_max_period", self.f_max_period, 1, 65_535),
        ];
        for (field, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(Fault::new(field, value.to_string(), format!("expected {least} to {most}")));
            }
        }
        if !(Duration::from_secs(1)..=Duration::from_secs(255)).contains(&self.f_max_time) {
            return Err(Fault::new("f_max_time", self.f_max_time.to_string(), "expected 1 s to 255 s"));
        }
        Ok(())
    }
}

/// One end of a bearer: it compresses what its end sends, and decompresses what the other end sent.
///
/// To send a packet: [`Entity::code`], then [`Entity::sent`] if RLC took it. Received PDUs go to [`Entity::receive`], in order. A header
/// request that this returns goes to the far end as an SDU of [`REQUEST_BYTES`], and there to [`Entity::on_request`].
pub struct Entity {
    tcp: tcp::Compressor,
    non_tcp: non_tcp::Compressor,
    from_tcp: tcp::Decompressor,
    from_non_tcp: non_tcp::Decompressor,
    config: Config,
    sent: Sent,
    received: Received,
}

/// What an end has sent.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    /// Bytes of headers before compression.
    headers: u64,
    /// Bytes of headers after it, those of PDCP included.
    coded: u64,
    full: u64,
    requests: u64,
}

/// The results of decompression at an end.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    /// Headers that could not be got back.
    lost: u64,
    /// Headers that the "twice" algorithm got back.
    repaired: u64,
}

/// A header that could not be got back: its packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextLost {
    /// The context for which the far end is to be asked for a header.
    pub request: Option<u8>,
}

/// What a header request takes: the PDU's type and PID, and CONTEXT_STATE with its type, a count of one and the
/// context identifier (RFC 2507 §10.2).
pub const REQUEST_BYTES: u32 = PDU_HEADER + 3;

impl Entity {
    fn new(config: &Config) -> Self {
        Self {
            tcp: tcp::Compressor::new(config.tcp_space),
            non_tcp: non_tcp::Compressor::new(config),
            from_tcp: tcp::Decompressor::default(),
            from_non_tcp: non_tcp::Decompressor::default(),
            config: config.clone(),
            sent: Sent::default(),
            received: Received::default(),
        }
    }

    /// How the header of a packet would be sent now.
    pub fn code(&self, now: Instant, packet: &Packet) -> Coded {
        let Some(headers) = Headers::of(packet) else { return Coded::uncompressed(packet.size) };
        let (cid, form) = match &headers.fields {
            Fields::Tcp(fields) => self.tcp.code(headers.stream, fields),
            Fields::Other(fields) => self.non_tcp.code(now, headers.stream, *fields),
        };
        Coded::new(packet.size, cid, form, headers)
    }

    /// The packet of this header is sent.
    pub fn sent(&mut self, now: Instant, coded: &Coded) {
        self.sent.coded += u64::from(coded.header_bytes());
        let Some(Headers { stream, fields, bytes }) = coded.headers else { return };
        self.sent.headers += u64::from(bytes);
        self.sent.full += u64::from(matches!(coded.form, Form::Full { .. }));
        match fields {
            Fields::Tcp(fields) => self.tcp.sent(coded.cid as u8, stream, &fields, coded.form),
            Fields::Other(fields) => self.non_tcp.sent(now, coded.cid, stream, fields, coded.form),
        }
    }

    /// A header of the far end has come.
    ///
    /// # Errors
    /// It cannot be got back.
    pub fn receive(&mut self, now: Instant, coded: &Coded) -> Result<(), ContextLost> {
        let Some(Headers { stream, fields, .. }) = coded.headers else { return Ok(()) };
        let result = match fields {
            Fields::Tcp(fields) => self.from_tcp.receive(now, coded.cid as u8, stream, &fields, coded.form),
            Fields::Other(_) => match self.from_non_tcp.receive(coded.cid, stream, coded.form) {
                true => Ok(tcp::Receivers::AsSent),
                false => Err(ContextLost { request: None }),
            },
        };
        self.received.lost += u64::from(result.is_err());
        self.received.repaired += u64::from(result == Ok(tcp::Receivers::Twice));
        result.map(|_| ())
    }

    /// A header request is sent.
    pub fn sent_request(&mut self) {
        self.sent.requests += 1;
    }

    /// The far end asks for a header of this context (§10.2).
    pub fn on_request(&mut self, cid: u8) {
        self.tcp.on_request(cid);
    }

    /// Both ends start with no context, as after the set-up of a bearer. Counts go on.
    pub fn begin_anew(&mut self) {
        let (sent, received) = (self.sent, self.received);
        *self = Self { sent, received, ..Self::new(&self.config) };
    }

    /// Shows what became of the headers that one end sent and the other received.
    pub fn sample(sender: &Self, receiver: &Self, probe: &mut dyn Probe) {
        probe.value("header_bytes", sender.sent.headers as f64);
        probe.value("coded_header_bytes", sender.sent.coded as f64);
        probe.value("full_headers", sender.sent.full as f64);
        probe.value("context_lost_packets", receiver.received.lost as f64);
        probe.value("repaired_headers", receiver.received.repaired as f64);
        probe.value("header_requests", receiver.sent.requests as f64);
    }
}
