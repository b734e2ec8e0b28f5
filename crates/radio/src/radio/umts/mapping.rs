//! Which transport channels carry a terminal's data.
//!
//! Packets of flows are user data: the logical channel DTCH. It may be mapped to FACH, RACH, DCH, DSCH, HS-DSCH
//! or CPCH (3GPP TS 25.301 §5.3.1.1.2); BCH and PCH carry no user data. Signalling (DCCH, CCCH, BCCH, PCCH) and broadcast
//! (CTCH) are no packets here: what they cost is the delays of RRC.

/// A transport channel that may carry DTCH (TS 25.301 §5.3.1.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The forward access channel, down.
    Fach,
    /// The random access channel, up.
    Rach,
    /// Dedicated channels, down and up.
    Dch,
    /// The downlink shared channel.
    Dsch,
    /// The high-speed downlink shared channel.
    HsDsch,
    /// The common packet channel, up.
    Cpch,
}

impl Transport {
    /// Its name as in the standard.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fach => "FACH",
            Self::Rach => "RACH",
            Self::Dch => "DCH",
            Self::Dsch => "DSCH",
            Self::HsDsch => "HS-DSCH",
            Self::Cpch => "CPCH",
        }
    }
}
