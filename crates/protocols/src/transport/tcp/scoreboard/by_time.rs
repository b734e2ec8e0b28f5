//! The board's calls for a recovery that judges each segment by itself, by when it was sent (RFC 8985), in any order.
//!
//! Such a recovery needs to know which segments an acknowledgement delivered. Those that it acknowledged cumulatively have left the flight,
//! but their places in the ring stay as they were until the next segment is pushed.

use std::ops::Range;

use super::{AMBIGUOUS, Id, LOST, RESENT, SACKED, Scoreboard, Segment, skip};

/// The segments that an acknowledgement delivered.
#[derive(Clone, Debug, Default)]
pub struct Delivered {
    /// Those that it acknowledged cumulatively, SACKed before or not.
    pub acked: Range<Id>,
    /// Those that it newly SACKed, in no order.
    pub sacked: Vec<Id>,
}

impl Segment {
    /// Whether it was sent more than once.
    #[inline]
    pub fn was_resent(&self) -> bool {
        self.has(AMBIGUOUS)
    }

    /// Whether the receiver has it beyond a gap.
    #[inline]
    pub fn is_sacked(&self) -> bool {
        self.has(SACKED)
    }

    /// Whether it is thought to be on its way: neither SACKed nor lost, or sent again since it was lost.
    #[inline]
    pub fn is_in_flight(&self) -> bool {
        !self.has(SACKED) && (!self.has(LOST) || self.has(RESENT))
    }
}

impl Scoreboard {
    /// Notes from now on which segments are delivered.
    pub fn note_delivered(&mut self) {
        self.delivered = Some(Delivered::default());
    }

    /// Writes the segments delivered since the last call into `out`, if they are noted. They can be read with [`Scoreboard::at`] until the
    /// next is pushed.
    pub fn take_delivered(&mut self, out: &mut Delivered) {
        out.acked = 0..0;
        out.sacked.clear();
        if let Some(delivered) = &mut self.delivered {
            std::mem::swap(delivered, out);
        }
    }

    /// Bytes taken for lost and neither acknowledged nor SACKed, sent again or not.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Marks the segment `id` lost, also if it was resent.
    pub fn mark_lost_alone(&mut self, id: Id) {
        self.mark_lost(id);
        self.lost_end = self.lost_end.max(id + 1);
        // Below HighRxt nothing waits to be sent again.
        self.high_rxt = self.high_rxt.min(id);
    }

    /// The first lost segment that has not been sent again since.
    pub fn next_lost_alone(&mut self) -> Option<Id> {
        let mut id = self.high_rxt.max(self.first);
        while id < self.lost_end {
            let segment = self.at(id);
            if segment.has(SACKED) {
                id = skip(id, segment);
                continue;
            }
            if segment.has(LOST) && !segment.has(RESENT) {
                self.high_rxt = id;
                return Some(id);
            }
            id += 1;
        }
        self.high_rxt = id;
        None
    }
}
