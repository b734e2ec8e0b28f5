//! No losses: what a change says to end those of another model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Stream;

use super::{Loss, LossConfig};

/// Nothing is lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl LossConfig for Config {
    fn build(&self, _stream: Stream) -> Loss {
        Loss(None)
    }
}
