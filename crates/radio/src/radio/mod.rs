//! Radio access: the part between a radio network's last node and its terminals.
//!
//! A radio medium is made of five parts, each of which can be replaced and may be trivial:
//!
//! | part | question | here |
//! | --- | --- | --- |
//! | attachment | what serves this terminal, when does that change? | [`attachment`], `umts/attachment/`; [`mobility`], `umts/roaming/` |
//! | channel | how good is it now? | [`channel`]: the loss models of `net`, or [`propagation`] and `umts/power/`; [`quality`] for radios that adapt to it, known through [`channel_state`] |
//! | rate map | what does that buy? | [`umts::channel`]: a fixed rate in intervals; [`rate_map`]: formats chosen by quality |
//! | scheduler | which terminal gets this slot? | [`scheduler`]; in the intervals of [`umts::channel`] and `umts/medium/turns.rs`, first come first served, or in turn |
//! | link ARQ | segmentation, retransmission, order | [`arq`], [`rlc`] |
//!
//! Above the link ARQ [`pdcp`] may compress headers. What radios share beside the parts: [`delay_line`]; [`imposed`], what changes of a
//! scenario do to terminals; and [`loss_indication`], by which base stations tell terminals of packets that they never had.

pub mod alarm;
pub mod arq;
pub mod attachment;
pub mod channel;
pub mod channel_state;
pub mod delay_line;
pub mod hsdpa;
pub mod imposed;
pub mod loss_indication;
pub mod mbms;
pub mod mobility;
pub mod pdcp;
pub mod propagation;
pub mod quality;
pub mod rate_map;
pub mod rlc;
pub mod scheduler;
pub mod shared_channel;
pub mod umts;

/// A direction between a radio network and a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the terminal.
    Down,
    /// From the terminal.
    Up,
}

impl Direction {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Down, Self::Up];

    /// The index of the sender in this direction among the two ends of a bearer.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    #[inline]
    pub fn reverse(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }

    /// The direction as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }
}
