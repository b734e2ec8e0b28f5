//! DCCP (RFC 4340): datagrams without retransmission, under a congestion control that is chosen
//! by its identifier (CCID). Connections are open from the start; features are not negotiated.

pub mod ccid2;
pub mod ccid3;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Fault, Stream};
use lasthop_net::net::{DccpHeader, Endpoint, EndpointContext};
use lasthop_net::profile::Profile;

use super::{TransportConfig, half_connection, limits, tfrc};

/// DCCP: congestion control without retransmission (RFC 4340).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The congestion control: 2 is TCP-like (RFC 4341), 3 is TFRC (RFC 4342). Default: 3.
    pub ccid: u8,
    /// Payload of a full data packet. With `ccid` 3: 1464 B, with IPv4's header (20 B) and DCCP's
    /// (16 B) 1500 B. With 2: 1448 B, with IPv4's header, that of a DCCP-DataAck (24 B) and an
    /// option Ack Ratio (8 B) 1500 B; most packets have 1484 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// How many datagrams of a source with a rate of its own may wait; the oldest is dropped when
    /// one more comes. Default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self { ccid: 3, segment: None, buffer: None }
    }
}

/// The IPv4 header.
const IP_BYTES: u32 = 20;

impl Config {
    /// Payload bytes of a full packet.
    fn segment(&self) -> u32 {
        let usual = if self.ccid == 2 { 1448 } else { 1464 };
        self.segment.map_or(usual, |segment| segment.get() as u32)
    }

    /// How many writes may wait.
    fn buffer(&self) -> u32 {
        self.buffer.unwrap_or(tfrc::settings::BUFFER)
    }

    /// The parameters of TFRC in CCID 3.
    fn tfrc(&self) -> tfrc::settings::Rfc {
        tfrc::settings::Rfc::new(&tfrc::Config {
            segment: Some(Bytes::new(self.segment().into())),
            header: Some(Bytes::new(u64::from(IP_BYTES + DccpHeader::DATA_BYTES))),
            buffer: Some(self.buffer()),
            ..tfrc::Config::default()
        })
    }
}

impl TransportConfig for Config {
    fn sender(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.ccid == 2 {
            let machine = ccid2::Sender::new(self.segment(), self.buffer() as usize);
            return Box::new(half_connection::Sender::new(machine, seat));
        }
        Box::new(half_connection::Sender::new(ccid3::Sender::new(&self.tfrc()), seat))
    }

    fn receiver(&self, seat: EndpointContext, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        if self.ccid == 2 {
            return Box::new(half_connection::Receiver::new(ccid2::Receiver::default(), seat));
        }
        Box::new(half_connection::Receiver::new(ccid3::Receiver::new(&self.tfrc()), seat))
    }

    fn label(&self, _profile: Profile) -> String {
        format!("dccp ccid{}", self.ccid)
    }

    fn sends_datagrams(&self) -> bool {
        false
    }

    fn can_multicast(&self) -> bool {
        false
    }

    fn check(&self, _profile: Profile) -> Result<(), Fault> {
        if let Some(fault) = limits::segment(self.segment).or_else(|| limits::buffer(self.buffer)) {
            return Err(fault);
        }
        if !matches!(self.ccid, 2 | 3) {
            return Err(Fault::new("ccid", format!("there is no CCID {}", self.ccid), "choose 2 or 3"));
        }
        Ok(())
    }
}
