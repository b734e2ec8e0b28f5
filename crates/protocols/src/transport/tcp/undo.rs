//! Whether the last reduction of the window was needless, because nothing was lost: the receiver reports all that was sent again as
//! duplicates (RFC 3708), or the echo of a time stamp is the original's (RFC 3522).
//!
//! This judges fast recoveries and, late, timeouts. For timeouts alone there are the [detectors](super::spurious) that need no
//! retransmission to arrive. The answer, to restore what was (RFC 9438 §4.9.2; RFC 4015 §3), is the sender's.

use std::collections::BTreeMap;

use lasthop_net::engine::Instant;
use lasthop_net::net::{TcpFlags, TcpHeader};

use crate::transport::congestion::CongestionControl;

use super::answered::Answered;

/// The last reduction, and the segments sent again since.
#[derive(Default)]
pub struct Reversal {
    last: Option<Reduction>,
    /// Segments sent again, by their first sequence numbers, from SND.UNA at the reduction on.
    resent: BTreeMap<u64, Resent>,
    /// How many of them have not been reported as duplicates.
    unreported: usize,
    /// The network makes duplicates of its own, so reports mean nothing (RFC 3708 §3 (A.4)).
    duplicating: bool,
    /// Whether the receiver has ever reported a duplicate (RFC 3522 §3.2 step (5)).
    dsack_seen: bool,
}

/// What a reduction took away.
pub struct Reduction {
    /// The congestion control as it was.
    pub before: Box<dyn CongestionControl>,
    /// How far congestion was answered.
    pub answered: Answered,
    /// FlightSize, if it was a timeout's.
    pub timeout: Option<u64>,
    /// SND.UNA.
    from: u64,
    /// A report says that this reduction is not to be undone (RFC 3708 §3 (A.1), (A.3)).
    barred: bool,
    /// RetransmitTS, until an acceptable acknowledgement has come (RFC 3522 §3.2 step (2)).
    first_resent: Option<(u64, Instant)>,
    eifel_done: bool,
}

#[derive(Clone, Copy, Default)]
struct Resent {
    times: u32,
    reported: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// Its header.
    pub header: &'a TcpHeader,
    /// SND.UNA before it, and after it.
    pub before: u64,
    /// See `before`.
    pub una: u64,
    /// SND.NXT.
    pub nxt: u64,
    /// Whether anything was SACKed before it.
    pub had_sacked: bool,
}

impl Reversal {
    /// The window is about to be reduced for a loss, or for a timeout with this FlightSize.
    pub fn begin(&mut self, una: u64, before: Box<dyn CongestionControl>, answered: Answered, timeout: Option<u64>) {
        self.forget_to(una);
        self.last = Some(Reduction {
            before,
            answered,
            timeout,
            from: una,
            barred: false,
            first_resent: None,
            eifel_done: false,
        });
    }

    /// The window was reduced for another reason, or the reduction was undone: the last one stays.
    pub fn end(&mut self) {
        self.last = None;
    }

    /// The path is another one: delays of the old one are not to be restored, nor is its congestion control, if that begins anew.
    pub fn on_path_change(&mut self, now: Instant, anew: bool) {
        match &mut self.last {
            Some(last) if !anew => last.before.on_path_change(now),
            _ => self.end(),
        }
    }

    /// The segment at `start` is sent again; `una` is SND.UNA.
    pub fn on_resend(&mut self, now: Instant, start: u64, una: u64) {
        match &mut self.last {
            Some(last) => last.first_resent = last.first_resent.or(Some((start, now))),
            // A probe: what is acknowledged need not be remembered.
            None => self.forget_to(una),
        }
        let one = self.resent.entry(start).or_default();
        self.unreported += usize::from(one.times == 0 || one.reported);
        *one = Resent { times: one.times + 1, reported: false };
    }

    fn forget_to(&mut self, una: u64) {
        self.resent = self.resent.split_off(&una);
        self.unreported = self.resent.values().filter(|one| !one.reported).count();
    }

    /// An acknowledgement has come. Gives the last reduction if it proves to have been needless.
    pub fn on_ack(&mut self, ack: &Evidence) -> Option<Reduction> {
        let duplicate = ack.header.sack().duplicate(ack.una);
        let (had_dsack, dsack) = (self.dsack_seen, duplicate.is_some());
        self.dsack_seen |= dsack;
        let spurious = self.by_time_stamp(ack, had_dsack, dsack)
            || duplicate.is_some_and(|(start, _)| self.by_duplicate(ack, start));
        self.last.take_if(|_| spurious)
    }

    /// RFC 3522 §3.2 steps (3) to (5): the first acceptable acknowledgement, of the oldest segment.
    fn by_time_stamp(&mut self, ack: &Evidence, had_dsack: bool, dsack: bool) -> bool {
        let Some(last) = &mut self.last else { return false };
        let Some((start, at)) = last.first_resent else { return false };
        if last.eifel_done || ack.una <= ack.before || !ack.header.flags.has(TcpFlags::TIMESTAMPS) {
            return false;
        }
        last.eifel_done = true;
        start == ack.before && ack.header.ts_echo < at && !dsack && (had_dsack || ack.una < ack.nxt)
    }

    /// RFC 3708 §3: a report of a duplicate that begins at `start`. Whether all segments sent again have been reported.
    fn by_duplicate(&mut self, ack: &Evidence, start: u64) -> bool {
        let Some(last) = &mut self.last else { return false };
        if self.duplicating || start < last.from {
            return false;
        }
        match self.resent.get_mut(&start) {
            // (A.1): an entire window of acknowledgements was lost.
            _ if !ack.had_sacked && start == ack.before => last.barred = true,
            Some(one) if one.times == 1 => self.unreported -= usize::from(!std::mem::replace(&mut one.reported, true)),
            Some(_) => last.barred = true,
            None => self.duplicating = true,
        }
        !self.duplicating && !last.barred && self.unreported == 0
    }
}
