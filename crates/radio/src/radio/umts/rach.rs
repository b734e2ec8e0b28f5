//! The random access channel (RACH) with access slots and collisions.
//!
//! A terminal sends its preamble in one of the access slots of the first frame of an interval, eight in one frame and seven in the
//! next, with one of the signatures, both at random (3GPP TS 25.214 §6.1, the next full access slot set). The message begins three
//! access slots after the preamble (TS 25.211 §7.3, AICH transmission timing 0) and lasts an interval; only then is the terminal free
//! for the next. If two choose the same slot and signature they hear the same acknowledgement, both send, and neither message is
//! received: slotted ALOHA with slots × signatures places. RLC finds out.
//!
//! Not modelled: the power of preambles, so the first is heard; persistence and priorities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant, Stream};

use super::slots;

/// Slotted ALOHA on the random access channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aloha {
    /// How many signatures the cell allows, 1 to 16. Default: 16, all of them.
    pub signatures: u32,
}

impl Default for Aloha {
    fn default() -> Self {
        Self { signatures: MOST_SIGNATURES }
    }
}

/// Signatures of preambles (TS 25.213 §4.3.3.3).
const MOST_SIGNATURES: u32 = 16;
/// From the preamble to the message (TS 25.211 §7.3).
const TO_MESSAGE: Duration = slots::lasting(3);

impl Aloha {
    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if (1..=MOST_SIGNATURES).contains(&self.signatures) {
            return Ok(());
        }
        let message = format!("{} signatures", self.signatures);
        Err(Fault { field: "signatures".into(), message, expected: "expected 1 to 16".to_owned() })
    }

    /// Where a preamble goes in the interval that begins at `now`: slot × 16 + signature.
    pub fn choose(&self, now: Instant, stream: &mut Stream) -> Place {
        let (first, end) = (slots::first_at(now), slots::first_at(now + slots::SET));
        let mut below = |n: u64| (n as f64 * stream.unit()) as u64;
        let slot = first + below(end - first);
        let signature = below(u64::from(self.signatures));
        Place(slot * u64::from(MOST_SIGNATURES) + signature)
    }
}

/// An access slot and a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    /// When the message begins whose preamble goes there.
    pub fn message(self) -> Instant {
        slots::start(self.0 / u64::from(MOST_SIGNATURES)) + TO_MESSAGE
    }
}
