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
    /// Payload of a full data packet. 1464 B: with IPv4's header (20 B) and DCCP's (16 B) 1500 B.
    pub segment: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { ccid: 3, segment: Bytes::new(1464) }
    }
}

/// The IPv4 header.
pub(crate) const IP_BYTES: u32 = 20;
/// A DCCP header without acknowledgement number and options, with long sequence numbers (§5.1).
pub(crate) const DATA_HEADER_BYTES: u32 = 16;
/// The same with an acknowledgement number (§5.6).
pub(crate) const ACK_HEADER_BYTES: u32 = 24;

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
        let segment = self.segment.get();
        if !(1..=65_000).contains(&segment) {
            let message = format!("packets of {} cannot be sent", self.segment);
            return Err(Fault::new("segment", message, "expected 1 B to 65000 B"));
        }
        Err(Fault::new("ccid", format!("there is no CCID {}", self.ccid), ""))
    }
}
