//! RLC, the link ARQ of UMTS (3GPP TS 25.322; clauses as in release 13).
//!
//! | mode | what it adds | file |
//! | --- | --- | --- |
//! | transparent | nothing: an SDU is a PDU, or is cut into the PDUs of one interval | [`tm`] |
//! | unacknowledged | sequence numbers, segmentation, concatenation | [`um`] |
//! | acknowledged | retransmission, polls and status reports, discard, reset | [`am`] |
//! | acknowledged, as in EURANE | the same in the rules of ns-2's extension | `eurane` of the replicas |
//!
//! Not here: ciphering, suspension and re-establishment by upper layers, flexible PDU sizes, reordering
//! and out-of-sequence delivery in unacknowledged mode (multicast in the terminal).

pub mod am;
pub mod pdu;
mod reassembly;
mod segmentation;
pub mod tm;
pub mod um;

#[cfg(test)]
mod bearer;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use pdu::{Control, Pdu, Reason, Status};

/// Whether the header of a PDU takes of its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Header {
    /// The header lies inside the PDU (TS 25.322 §9.2.1): of 40 B an AM entity fills 38, a UM entity
    /// 39.
    #[default]
    Included,
    /// The PDU is all payload, and its header takes nothing of an interval, as in EURANE.
    Free,
}

impl Header {
    /// What of a PDU lies behind a header of `bytes`.
    fn room(self, pdu: u64, bytes: u64) -> u16 {
        let room = match self {
            Self::Included => pdu - bytes,
            Self::Free => pdu,
        };
        u16::try_from(room).expect("a PDU has at most 1505 bytes")
    }
}
