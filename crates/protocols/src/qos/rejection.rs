//! What becomes of a flow's data while it is not admitted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::net::Probe;

/// What becomes of data while nothing is reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnReject {
    /// They go as best effort.
    #[default]
    BestEffort,
    /// They are not sent.
    Block,
}

/// Packets of a flow that was not admitted.
pub struct Unadmitted {
    on_reject: OnReject,
    sent: u64,
    blocked: u64,
}

impl Unadmitted {
    /// None so far.
    pub fn new(on_reject: OnReject) -> Self {
        Self { on_reject, sent: 0, blocked: 0 }
    }

    /// Whether they are blocked.
    pub fn is_blocked(&self) -> bool {
        self.on_reject == OnReject::Block
    }

    /// Whether one more may go.
    pub fn lets_pass(&mut self) -> bool {
        let blocked = self.is_blocked();
        self.blocked += u64::from(blocked);
        self.sent += u64::from(!blocked);
        !blocked
    }

    /// Shows how many went, and how many did not.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("unreserved_packets", self.sent as f64);
        probe.value("blocked_packets", self.blocked as f64);
    }
}
