//! Profiles: what the papers' simulator did, what the standards say, or what an operating system does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which body of rules fills in what a scenario leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Profile {
    /// What ns-2.35 and EURANE do: for reproducing papers and for cross-validation.
    #[serde(rename = "ns2")]
    Ns2,
    /// What the RFCs say; for radios the same as `3gpp`.
    #[default]
    #[serde(rename = "rfc")]
    Rfc,
    /// What the Linux kernel does, for TCP; for all else the same as `rfc`.
    #[serde(rename = "linux")]
    Linux,
    /// What 3GPP says; for transports and queues the same as `rfc`.
    #[serde(rename = "3gpp")]
    Gpp,
}

impl Profile {
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns2 => "ns2",
            Self::Rfc => "rfc",
            Self::Linux => "linux",
            Self::Gpp => "3gpp",
        }
    }

    /// Whether ns-2's rules apply.
    pub fn is_ns2(self) -> bool {
        self == Self::Ns2
    }
}
