//! The segments in flight and the state of each: SACKed, lost, sent again.
//!
//! The board keeps marks and sums; *which* segments are lost is decided by a [recovery](super::recovery).
//! Segments lie in a ring in order of their sequence numbers, so an acknowledgement in order
//! costs the segments that it covers and nothing else. Runs of SACKed segments are jumped over,
//! and the two borders below which all is known to be lost or resent only move up, so the work
//! for each acknowledgement is constant in the long run, whatever the window.
//!
//! A recovery that judges segments one by one, by their times, has calls of its own, in `by_time`.
//!
//! More than 500 lines: marks and sums change together, and nothing else may change them.

mod by_time;

use lasthop_net::engine::Instant;
use lasthop_net::net::SackBlocks;

pub use by_time::Delivered;

/// A segment's running number in its connection.
pub type Id = u64;

/// A segment in flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// Its first sequence number.
    pub start: u64,
    /// Its length in sequence space: payload bytes, or 1 for a FIN.
    pub len: u32,
    /// Of a SACKed segment: the low bits of the first number behind it not known to be SACKed.
    skip: u32,
    /// When it was last sent.
    pub sent_at: Instant,
    marks: u8,
}

/// The smallest ring.
const LEAST_ROOM: usize = 4;

/// The receiver has it (RFC 2018).
const SACKED: u8 = 1;
/// It is taken for lost.
const LOST: u8 = 2;
/// A retransmission of it is in flight.
const RESENT: u8 = 4;
/// It was sent more than once: no round-trip time can be taken from it (Karn).
const AMBIGUOUS: u8 = 8;
/// It is a FIN.
const FIN: u8 = 16;

impl Segment {
    /// A segment that is being sent for the first time.
    pub fn new(start: u64, len: u32, fin: bool, sent_at: Instant) -> Self {
        Self { start, len, skip: 0, sent_at, marks: if fin { FIN } else { 0 } }
    }

    /// One past its last sequence number.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Whether it is a FIN.
    #[inline]
    pub fn is_fin(&self) -> bool {
        self.has(FIN)
    }

    #[inline]
    fn has(&self, mark: u8) -> bool {
        self.marks & mark != 0
    }
}

/// What one acknowledgement newly told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Bytes acknowledged cumulatively that had not been SACKed.
    pub acked: u64,
    /// Bytes SACKed.
    pub sacked: u64,
    /// When the segment was sent from which a round-trip time can be taken: the latest sent of
    /// those newly delivered, provided that no retransmission makes it ambiguous.
    pub timed: Option<Instant>,
    /// The latest sent segment among those newly delivered, and when that was. Meaningless if none
    /// was delivered.
    pub newest: Id,
    newest_at: Instant,
    /// The highest sequence number newly told of that was never resent; 0 if none.
    pub original_to: u64,
}

impl Acked {
    /// The segment `id`, last sent at `at`, was newly delivered.
    #[inline]
    fn note(&mut self, id: Id, at: Instant) {
        if at >= self.newest_at {
            self.newest = id;
            self.newest_at = at;
        }
    }
}

/// The segments in flight.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// A ring; its length is a power of two. The segment `id` lies at `id & mask`.
    ring: Vec<Segment>,
    mask: u64,
    /// The first segment in flight.
    first: Id,
    /// One past the last.
    next: Id,
    /// One past the highest SACKed segment: snd.fack.
    fack: Id,
    /// Every segment below is SACKed or marked lost.
    lost_to: Id,
    /// Every segment below was resent in this recovery, or is SACKed: HighRxt of RFC 6675.
    high_rxt: Id,
    /// Bytes in flight, known or not: FlightSize.
    flight: u64,
    /// Of these: SACKed.
    sacked: u64,
    /// SACKed, of segments below `lost_to`.
    sacked_below: u64,
    /// Neither SACKed nor thought to be on its way: lost.
    lost: u64,
    /// Not SACKed, with a retransmission in flight.
    resent: u64,
    /// Bytes marked lost so far.
    total_lost: u64,
    /// Segments delivered so far.
    total_delivered: u64,
    /// The length of a full segment.
    smss: u32,
    /// How many segments in flight are shorter.
    short: u32,
    /// The blocks of the last acknowledgement, which need not be read again.
    seen: [(u64, u64); SackBlocks::MAX],
    /// Segments newly marked lost, each with the bytes lost so far, if they are to be reported.
    newly_lost: Option<Vec<(Id, u64)>>,
    /// The segments that the last acknowledgements delivered, if they are to be noted.
    delivered: Option<Delivered>,
    /// One past the highest segment that was marked lost by itself.
    lost_end: Id,
}

impl Scoreboard {
    /// An empty board for segments of at most `smss` bytes; `notes_lost` says whether each lost segment is to be reported.
    pub fn new(smss: u32, notes_lost: bool) -> Self {
        Self { smss, newly_lost: notes_lost.then(Vec::new), ..Self::default() }
    }

    /// Segments marked lost since this was called last, in the order in which they were, each with the bytes lost so far, its own
    /// included.
    pub fn take_newly_lost(&mut self) -> Vec<(Id, u64)> {
        self.newly_lost.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Bytes sent and not acknowledged cumulatively: FlightSize (RFC 5681 §2).
    #[inline]
    pub fn flight(&self) -> u64 {
        self.flight
    }

    /// Bytes thought to be in the network: those neither SACKed nor lost, and those resent (`pipe` of RFC 6675 §4; with everything below
    /// `snd.fack` marked lost, `awnd` of FACK).
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.flight + self.resent - self.sacked - self.lost
    }

    /// Bytes taken for lost so far, counted each time.
    #[inline]
    pub fn total_lost(&self) -> u64 {
        self.total_lost
    }

    /// Segments acknowledged or SACKed so far, each once.
    #[inline]
    pub fn total_delivered(&self) -> u64 {
        self.total_delivered
    }

    /// SACKed bytes in flight.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// How far the highest SACKed byte lies above the first one in flight: snd.fack − snd.una.
    pub fn below_fack(&self) -> u64 {
        if self.fack <= self.first { 0 } else { self.at(self.fack - 1).end() - self.at(self.first).start }
    }

    /// Whether any segment in flight is SACKed, lost or resent.
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.sacked | self.lost | self.resent != 0
    }

    /// Whether nothing is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// The first segment not acknowledged cumulatively, in flight or not sent yet.
    #[inline]
    pub fn una(&self) -> Id {
        self.first
    }

    /// The segment that is sent next for the first time.
    #[inline]
    pub fn next(&self) -> Id {
        self.next
    }

    /// The first segment in flight.
    pub fn first(&self) -> Option<Id> {
        (!self.is_empty()).then_some(self.first)
    }

    /// Whether the first segment in flight is lost.
    pub fn first_is_lost(&self) -> bool {
        !self.is_empty() && self.at(self.first).has(LOST)
    }

    /// Whether the first segment in flight was sent more than once.
    pub fn first_was_resent(&self) -> bool {
        !self.is_empty() && self.at(self.first).has(AMBIGUOUS)
    }

    /// The segment `id`, which is in flight.
    #[inline]
    pub fn at(&self, id: Id) -> &Segment {
        &self.ring[(id & self.mask) as usize]
    }

    #[inline]
    fn at_mut(&mut self, id: Id) -> &mut Segment {
        &mut self.ring[(id & self.mask) as usize]
    }

    /// A segment is sent for the first time.
    #[inline]
    pub fn push(&mut self, segment: Segment) {
        // The ring is looked at once in a lap, and whenever it is full.
        if self.next & self.mask == 0 || self.next - self.first == self.ring.len() as u64 {
            self.fit();
        }
        self.flight += u64::from(segment.len);
        self.short += u32::from(segment.len < self.smss);
        let id = self.next;
        *self.at_mut(id) = segment;
        self.next += 1;
    }

    /// Doubles the ring if it is full; halves it if three quarters are free, so that a window that
    /// was large once does not hold its memory for ever.
    #[cold]
    fn fit(&mut self) {
        let (held, room) = ((self.next - self.first) as usize, self.ring.len());
        let size = match room {
            0 => LEAST_ROOM,
            _ if held == room => 2 * room,
            _ if held <= room / 4 && room > LEAST_ROOM => room / 2,
            _ => return,
        };
        let mut ring = vec![Segment::default(); size];
        let mask = size as u64 - 1;
        for id in self.first..self.next {
            ring[(id & mask) as usize] = *self.at(id);
        }
        (self.ring, self.mask) = (ring, mask);
    }

    /// Everything below `ack` has arrived.
    #[inline]
    pub fn on_ack(&mut self, ack: u64, out: &mut Acked) {
        let mut ambiguous = false;
        let from = self.first;
        while self.first != self.next {
            let segment = &self.ring[(self.first & self.mask) as usize];
            if segment.end() > ack {
                break;
            }
            let len = u64::from(segment.len);
            self.flight -= len;
            self.short -= u32::from(segment.len < self.smss);
            if segment.marks & (SACKED | LOST | RESENT | AMBIGUOUS) != 0 {
                if segment.has(SACKED) {
                    self.sacked -= len;
                    if self.first < self.lost_to {
                        self.sacked_below -= len;
                    }
                    self.first += 1;
                    continue;
                }
                self.lost -= if segment.has(LOST) { len } else { 0 };
                self.resent -= if segment.has(RESENT) { len } else { 0 };
                ambiguous |= segment.has(AMBIGUOUS);
            }
            if !segment.has(AMBIGUOUS) {
                out.original_to = segment.end();
            }
            out.acked += len;
            out.timed = Some(segment.sent_at);
            out.note(self.first, segment.sent_at);
            self.total_delivered += 1;
            self.first += 1;
        }
        if ambiguous {
            // Segments behind a hole may have arrived long before it was filled.
            out.timed = None;
        }
        if let Some(delivered) = &mut self.delivered {
            delivered.acked = from..self.first;
        }
    }

    /// The receiver has what the blocks of an acknowledgement of `ack` say. Blocks below `ack`
    /// (RFC 2883) and blocks that are known tell nothing.
    pub fn on_sack(&mut self, ack: u64, blocks: &SackBlocks, out: &mut Acked) {
        let mut seen = [(0, 0); SackBlocks::MAX];
        for (slot, (start, end)) in seen.iter_mut().zip(blocks.iter(ack)) {
            *slot = (start, end);
            if start >= ack && start < end && !self.seen.contains(&(start, end)) {
                self.mark_sacked(start, end, out);
            }
        }
        self.seen = seen;
    }

    fn mark_sacked(&mut self, start: u64, end: u64, out: &mut Acked) {
        let from = self.find(start);
        let mut id = from;
        while id < self.next {
            let lost_to = self.lost_to;
            let segment = self.at_mut(id);
            if segment.end() > end {
                break;
            }
            if segment.has(SACKED) {
                id = skip(id, segment);
                continue;
            }
            let (marks, len, at) = (segment.marks, u64::from(segment.len), segment.sent_at);
            out.original_to = if marks & AMBIGUOUS == 0 { out.original_to.max(segment.end()) } else { out.original_to };
            segment.marks = (marks | SACKED) & !(LOST | RESENT);
            segment.skip = (id + 1) as u32;
            self.lost -= if marks & LOST != 0 { len } else { 0 };
            self.resent -= if marks & RESENT != 0 { len } else { 0 };
            self.sacked += len;
            self.sacked_below += if id < lost_to { len } else { 0 };
            out.sacked += len;
            if marks & AMBIGUOUS == 0 {
                out.timed = out.timed.max(Some(at));
            }
            out.note(id, at);
            self.total_delivered += 1;
            if let Some(delivered) = &mut self.delivered {
                delivered.sacked.push(id);
            }
            id += 1;
        }
        if id > from {
            self.fack = self.fack.max(id);
            if self.at(from).has(SACKED) {
                self.at_mut(from).skip = id as u32;
            }
        }
    }

    /// The first segment in flight that starts at `seq` or later.
    fn find(&self, seq: u64) -> Id {
        let (mut low, mut high) = (self.first, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle).start < seq { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Marks lost what RFC 6675 §4 calls lost: segments with more than two full segments' bytes
    /// SACKed above them, or three separate SACKed sequences.
    pub fn mark_lost_rfc6675(&mut self) {
        let enough = 2 * u64::from(self.smss);
        let mut id = self.lost_to.max(self.first);
        while id < self.fack {
            if self.at(id).has(SACKED) {
                self.sacked_below += u64::from(self.at(id).len);
            } else {
                let above = self.sacked - self.sacked_below;
                // Three sequences of full segments are more than `enough` anyway.
                if above <= enough && (self.short == 0 || !self.has_three_runs_above(id)) {
                    break;
                }
                self.mark_lost(id);
            }
            id += 1;
        }
        self.lost_to = id;
    }

    fn has_three_runs_above(&self, id: Id) -> bool {
        let (mut id, mut runs) = (id + 1, 0);
        while id < self.fack && runs < 3 {
            runs += u32::from(self.at(id).has(SACKED));
            while id < self.fack && self.at(id).has(SACKED) {
                id = skip(id, self.at(id));
            }
            id += 1;
        }
        runs >= 3
    }

    /// Marks lost everything below the highest SACKed segment (FACK).
    pub fn mark_lost_below_fack(&mut self) {
        for id in self.lost_to.max(self.first)..self.fack {
            if self.at(id).has(SACKED) {
                self.sacked_below += u64::from(self.at(id).len);
            } else {
                self.mark_lost(id);
            }
        }
        self.lost_to = self.lost_to.max(self.first).max(self.fack);
    }

    /// Marks the first segment lost, also if it was resent.
    pub fn mark_first_lost(&mut self) {
        if self.is_empty() {
            return;
        }
        let first = self.first;
        if first >= self.lost_to && self.at(first).has(SACKED) {
            self.sacked_below += u64::from(self.at(first).len);
        }
        self.mark_lost(first);
        self.lost_to = self.lost_to.max(first + 1);
    }

    /// Marks all segments lost that are not SACKed, also those resent.
    pub fn mark_all_lost(&mut self) {
        for id in self.first..self.next {
            self.mark_lost(id);
        }
        self.sacked_below = self.sacked;
        self.lost_to = self.next;
        self.begin();
    }

    fn mark_lost(&mut self, id: Id) {
        let segment = self.at_mut(id);
        if segment.has(SACKED) {
            return;
        }
        let (marks, len) = (segment.marks, u64::from(segment.len));
        segment.marks = (marks | LOST) & !RESENT;
        if marks & LOST == 0 || marks & RESENT != 0 {
            self.total_lost += len;
            if let Some(newly_lost) = &mut self.newly_lost {
                newly_lost.push((id, self.total_lost));
            }
        }
        self.lost += if marks & LOST == 0 { len } else { 0 };
        self.resent -= if marks & RESENT != 0 { len } else { 0 };
    }

    /// Nothing is lost after all.
    pub fn unmark_lost(&mut self) {
        for id in self.first..self.lost_to.max(self.lost_end).max(self.first) {
            self.at_mut(id).marks &= !LOST;
        }
        self.lost = 0;
        self.sacked_below = 0;
        self.lost_to = self.first;
        self.lost_end = self.first;
    }

    /// Begins a recovery: resending starts at the first segment.
    pub fn begin(&mut self) {
        self.high_rxt = self.first;
    }

    /// The first segment neither SACKed nor resent since the recovery began, with whether it is
    /// marked lost; `None` if no SACKed segment lies above it and it is not lost.
    pub fn next_hole(&mut self) -> Option<(Id, bool)> {
        let mut id = self.high_rxt.max(self.first);
        while id < self.next && self.at(id).has(SACKED) {
            id = skip(id, self.at(id));
        }
        self.high_rxt = id;
        (id < self.lost_to.max(self.fack)).then_some((id, id < self.lost_to))
    }

    /// The last segment in flight that is neither SACKed nor resent since the recovery began.
    pub fn last_unsent_again(&self) -> Option<Id> {
        let from = self.high_rxt.max(self.first);
        (from..self.next).rev().find(|&id| !self.at(id).has(SACKED))
    }

    /// The segment `id` is sent again. Resent in order, it moves HighRxt; out of order, not.
    pub fn resend(&mut self, id: Id, now: Instant) {
        let segment = self.at_mut(id);
        let (marks, len) = (segment.marks, u64::from(segment.len));
        segment.marks = marks | RESENT | AMBIGUOUS;
        segment.sent_at = now;
        self.resent += if marks & RESENT == 0 { len } else { 0 };
        if id == self.high_rxt.max(self.first) {
            self.high_rxt = id + 1;
        }
    }
}

/// The first segment behind the SACKed one `id` that is not known to be SACKed.
#[inline]
fn skip(id: Id, segment: &Segment) -> Id {
    id + u64::from(segment.skip.wrapping_sub(id as u32))
}

#[cfg(test)]
mod tests;
