//! Which retransmissions were needless, judged from what really arrived.
//!
//! No protocol decides by it: it reads the truth that rides along with packets. Each
//! transmission has a running number; an acknowledgement says the highest number that had
//! arrived when it was made, and whether the segment that caused it had been there before.
//!
//! A retransmission timeout of a segment is *spurious* if an acknowledgement that covers the
//! segment, made before anything sent at or after the timeout had arrived, reaches the sender
//! later: a longer timer would have saved it. If such acknowledgements were made but all of them
//! died, so that the first to cover the segment was caused by a second copy, it is an
//! *ack-loss* timeout. The same test applies to fast retransmits.

/// Judges the retransmissions of one sender. While none waits for its verdict it costs a
/// comparison per acknowledgement.
#[derive(Clone, Debug, Default)]
pub struct GroundTruth {
    /// Retransmissions that wait for an acknowledgement of their segment, oldest first.
    pending: Vec<Pending>,
    totals: Totals,
}

/// The verdicts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Timeouts that a longer timer would have saved.
    pub spurious_timeouts: u64,
    /// Timeouts whose data had arrived, but all acknowledgements of it died.
    pub ack_loss_timeouts: u64,
    /// Fast retransmits of a segment that was only late.
    pub spurious_fast_retransmits: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    cause: Cause,
    /// The first sequence number of the segment.
    seq: u64,
    /// The number of the first transmission at or after the event.
    next_number: u64,
}

/// What made the sender retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Timeout,
    FastRetransmit,
}

impl GroundTruth {
    /// The timer expired with the segment at `seq` the first one unacknowledged; the next
    /// transmission has the number `next_number`.
    pub fn on_timeout(&mut self, seq: u64, next_number: u64) {
        self.pending.push(Pending { cause: Cause::Timeout, seq, next_number });
    }

    /// The segment at `seq`, the first one unacknowledged, is about to be resent because of
    /// duplicate acknowledgements, with the number `next_number`.
    pub fn on_fast_retransmit(&mut self, seq: u64, next_number: u64) {
        self.pending.push(Pending { cause: Cause::FastRetransmit, seq, next_number });
    }

    /// An acknowledgement has come that covers everything before `una`. `arrived` and
    /// `duplicate` are the truth that it carries.
    #[inline]
    pub fn on_ack(&mut self, una: u64, arrived: u64, duplicate: bool) {
        if !self.pending.is_empty() {
            self.judge(una, arrived, duplicate);
        }
    }

    /// The connection is forgotten. Timeouts that wait for their verdict will not get one.
    pub fn reset(&mut self) {
        self.pending.clear();
    }

    /// The verdicts so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    #[cold]
    fn judge(&mut self, una: u64, arrived: u64, duplicate: bool) {
        // The second copy that a duplicate is came from the last event before it was sent.
        let last = self.pending.iter().rposition(|p| p.seq < una && p.next_number <= arrived);
        let mut index = 0;
        let totals = &mut self.totals;
        self.pending.retain(|p| {
            let is_last = last == Some(index);
            index += 1;
            if p.seq >= una {
                return true;
            }
            let needless = arrived < p.next_number;
            match p.cause {
                Cause::Timeout if needless => totals.spurious_timeouts += 1,
                Cause::Timeout if duplicate && is_last => totals.ack_loss_timeouts += 1,
                Cause::FastRetransmit if needless => totals.spurious_fast_retransmits += 1,
                _ => {}
            }
            false
        });
        if self.pending.is_empty() {
            // Most senders have none most of the time: their memory is worth more than a call of the allocator for each loss.
            self.pending = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(act: impl FnOnce(&mut GroundTruth)) -> (u64, u64, u64) {
        let mut truth = GroundTruth::default();
        act(&mut truth);
        let t = truth.totals();
        (t.spurious_timeouts, t.ack_loss_timeouts, t.spurious_fast_retransmits)
    }

    /// Segment 7 is transmission 9; its copy after the timeout is number 12.
    #[test]
    fn a_timeout_is_judged_by_the_first_acknowledgement_that_covers_it() {
        let after = |una, arrived, duplicate| {
            totals(|t| {
                t.on_timeout(7, 12);
                t.on_ack(7, 11, false);
                t.on_ack(una, arrived, duplicate);
            })
        };
        assert_eq!(after(8, 11, false), (1, 0, 0), "the late original was acknowledged");
        assert_eq!(after(10, 12, true), (0, 1, 0), "the original had arrived, its acknowledgement died");
        assert_eq!(after(8, 12, false), (0, 0, 0), "the copy was needed");
        assert_eq!(after(7, 11, true), (0, 0, 0), "nothing covers the segment yet");
    }

    #[test]
    fn of_two_timeouts_the_second_is_spurious_if_the_first_copy_arrives() {
        let t = totals(|t| {
            t.on_timeout(7, 12);
            t.on_timeout(7, 13);
            t.on_ack(8, 12, false);
        });
        assert_eq!(t, (1, 0, 0));
    }

    #[test]
    fn fast_retransmits_of_late_segments_are_spurious() {
        let t = totals(|t| {
            t.on_fast_retransmit(7, 12);
            t.on_ack(9, 10, false);
            t.on_fast_retransmit(20, 30);
            t.on_ack(21, 30, false);
        });
        assert_eq!(t, (0, 0, 1));
    }
}
