//! PDCP, the sublayer above RLC that compresses headers (3GPP TS 25.323).
//!
//! A PDCP entity stands at each end of a bearer. It codes the headers of what its end sends, and puts together
//! again those of what the other end sent. Without compression a packet is its own PDU (PDCP-No-Header, TS 25.323
//! §8.2.1), and there is no entity; with it each PDU begins with a byte of its type and packet identifier (PID).
//!
//! Packets keep their headers here: a [`Coded`] says beside them how the header is sent and how long it is, and
//! the entity at the far end decides by its own contexts whether it would have got the header back.
//!
//! Not here: RFC 3095 (ROHC), and the sequence numbers of lossless relocation (TS 25.323 §5.4).

pub mod rfc2507;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Fault;

pub use rfc2507::{Coded, Entity};

/// The parameters of a header compression.
pub trait PdcpConfig: Send + Sync {
    /// One end of a bearer; `None`: headers are not compressed.
    fn build(&self) -> Option<Box<Entity>>;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Headers are sent as they are, and PDCP adds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoCompression {}

impl PdcpConfig for NoCompression {
    fn build(&self) -> Option<Box<Entity>> {
        None
    }
}

/// Bytes of a PDU's type and PID (TS 25.323 §8.2.2).
const PDU_HEADER: u32 = 1;
