//! What is found out about an acknowledgement on its way through the parts.

use super::rate::Sample;

/// What an acknowledgement is (`FLAG_*`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// SND.UNA advances.
    pub advances: bool,
    /// Segments with data leave the queue.
    pub data_acked: bool,
    pub retransmission_acked: bool,
    pub data_sacked: bool,
    /// The window it advertises is news.
    pub window_update: bool,
    /// A segment that was sent once, before `high_seq`.
    pub original_sacked: bool,
    pub duplicate_reported: bool,
    /// The duplicate is the loss probe.
    pub probe_duplicate: bool,
    pub retransmission_lost: bool,
    pub maybe_delayed: bool,
    /// The timer is to be armed anew.
    pub set_timer: bool,
    /// The time stamp that comes back, us.
    pub ts_echo_us: u64,
}

/// What it collects on its way over the queue.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub sample: Sample,
    /// When the first and the last of the segments were sent that it SACKs newly, us.
    pub first_sacked_us: Option<u64>,
    pub last_sacked_us: Option<u64>,
    /// The first segment of which it shows that it was reordered.
    pub reord: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { sample: Sample::default(), first_sacked_us: None, last_sacked_us: None, reord: u64::MAX }
    }
}
