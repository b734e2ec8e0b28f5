//! What the sender does when the terminal says that its path is another one from now on.
//!
//! The end at the terminal learns of a handover from its own access link. A receiving end says so in its next packet; a sending end knows it
//! at once. Neither says anything of the new path: only that what was learnt is of the old one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a change of the path makes void.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathHint {
    /// Nothing: the change is not reported.
    #[default]
    Off,
    /// Delays learnt on the old path: base delays, least and smoothed round-trip times.
    Delays,
    /// Everything: the congestion control begins anew, as at the start.
    Restart,
}
