//! DCCP (RFC 4340): datagrams without retransmission, under a congestion control that is chosen
//! by its identifier (CCID). Connections are open from the start; features are not negotiated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Bytes, Fault, Stream};
use crate::net::{Endpoint, Seat};
use crate::profile::Profile;

use super::TransportConfig;

/// DCCP: congestion control without retransmission (RFC 4340).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The congestion control: 3 is TFRC (RFC 4342). 3.
    pub ccid: u8,
    /// Bytes on the wire of a full data packet: IPv4 header (20 B), DCCP header (16 B) and
    /// payload. 1000 B.
    pub packet: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { ccid: 3, packet: Bytes::new(1000) }
    }
}

/// The IPv4 header.
pub(crate) const IP_BYTES: u32 = 20;
/// A DCCP header without acknowledgement number and options, with long sequence numbers (§5.1).
pub(crate) const DATA_HEADER_BYTES: u32 = 16;
/// The same with an acknowledgement number (§5.6).
pub(crate) const ACK_HEADER_BYTES: u32 = 24;

impl Config {
    /// Payload of a full data packet.
    pub(crate) fn payload(&self) -> u32 {
        self.packet.get() as u32 - IP_BYTES - DATA_HEADER_BYTES
    }
}

impl TransportConfig for Config {
    fn sender(&self, seat: Seat, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        unreachable!("CCID {} at {:?}: `check` refuses it", self.ccid, seat.local)
    }

    fn receiver(&self, seat: Seat, _profile: Profile, _stream: Stream) -> Box<dyn Endpoint> {
        unreachable!("CCID {} at {:?}: `check` refuses it", self.ccid, seat.local)
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
        let packet = self.packet.get();
        if !(100..=65_535).contains(&packet) {
            let message = format!("packets of {} bytes cannot be sent", self.packet);
            return Err(Fault::new("packet", message, "expected 100 B to 65535 B"));
        }
        Err(Fault::new("ccid", format!("there is no CCID {}", self.ccid), ""))
    }
}
