//! What the air's state buys: how much a slot carries, and how likely it is lost.

use lasthop_net::engine::{Decibel, Fault};

pub mod cqi;
pub mod modulation;

/// From the state of the air to transport formats, for a shared channel whose slots are divided into resources: HSDPA's codes, or
/// resource blocks.
pub trait RateMap: Send {
    /// The smallest block that takes `bits` bits, or else the largest, with at most `resources` resources, to a terminal whose
    /// signal-to-interference ratio is taken for `sir`. `None`: these resources carry nothing.
    fn grant(&self, sir: Decibel, bits: u64, resources: u8) -> Option<Grant>;

    /// How likely a block of this format is in error if it is sent at this signal-to-interference ratio.
    fn error(&self, format: u8, sir: Decibel) -> f64;

    /// How many slots lie between the beginnings of two blocks to a terminal, at least.
    fn interval(&self) -> u64 {
        1
    }
}

/// What a terminal gets of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The transport format: modulation and coding.
    pub format: u8,
    /// How many resources it takes.
    pub resources: u8,
    /// How many bits they carry.
    pub bits: u32,
}

/// The parameters of a rate map.
pub trait RateMapConfig: Send + Sync {
    /// The map.
    fn build(&self) -> Box<dyn RateMap>;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}
