//! The sending side: PDUs under way, those reported missing, and SDUs given up.
//!
//! Inside, sequence numbers do not wrap; they do when a PDU leaves.

use std::collections::VecDeque;

use crate::radio::rlc::pdu::Status;
use crate::radio::rlc::segmentation::{Segment, Segmenter};
use lasthop_net::engine::{Duration, Instant};

use super::config::{Config, Discard};
use super::mrw::Order;
use super::sn_set::{MODULUS, SnSet};

/// A PDU that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub segment: Segment,
    /// When it was last sent.
    at: Instant,
    /// VT(DAT): how often it was scheduled (TS 25.322 §9.4 c).
    vt_dat: u32,
    state: State,
}

/// The state of a PDU that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It may have to be sent again.
    Waiting,
    /// It has arrived, and one before it has not.
    Received,
    /// All it carries was given up.
    Discarded,
    /// It was never sent: its number marks the end of an SDU given up before all of it was in PDUs.
    Mark,
}

/// The sending side of an entity.
#[derive(Debug)]
pub struct Sender {
    pub segmenter: Segmenter,
    /// The PDUs from VT(A) to VT(S).
    under_way: VecDeque<Sent>,
    /// VT(A): the first PDU that is not acknowledged (§9.4 b).
    vt_a: u64,
    window: u64,
    /// How many under way may have to be sent again.
    waiting: u64,
    /// Those reported missing, not sent again yet.
    missing: SnSet,
    vt_dat_limit: u32,
    round_trip: Duration,
    /// The first SDU that is neither acknowledged nor given up.
    oldest: u64,
    /// With a discard timer: when it expires, for each SDU from the oldest on; never, for one that is exempt.
    deadlines: VecDeque<Instant>,
    discard_timer: Option<Duration>,
    /// All PDUs before this one that carry only SDUs given up are known to.
    discarded_to: u64,
    /// SDUs given up.
    pub discarded: u64,
}

/// What a report leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Reported {
    /// Nothing but retransmissions.
    Fine,
    /// This PDU, the last of such, would have to be sent too often.
    Exhausted(u64),
    /// It names PDUs that it must not name (§10.1).
    Erroneous,
}

impl Sender {
    pub fn new(config: &Config) -> Self {
        Self {
            segmenter: Segmenter::new(config.format(), config.buffer.get()),
            under_way: VecDeque::new(),
            vt_a: 0,
            window: u64::from(config.window),
            waiting: 0,
            missing: SnSet::new(),
            vt_dat_limit: config.vt_dat_limit(),
            round_trip: config.round_trip.unwrap_or_default(),
            oldest: 0,
            deadlines: VecDeque::new(),
            discard_timer: (config.discard == Discard::Timer).then_some(config.discard_timer),
            discarded_to: 0,
            discarded: 0,
        }
    }

    /// VT(A).
    #[inline]
    pub fn vt_a(&self) -> u64 {
        self.vt_a
    }

    /// VT(S): the next new PDU (§9.4 a).
    #[inline]
    pub fn vt_s(&self) -> u64 {
        self.vt_a + self.under_way.len() as u64
    }

    /// How many PDUs may have to be sent again.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Whether the window, up to VT(MS), is open.
    #[inline]
    pub fn window_is_open(&self) -> bool {
        (self.under_way.len() as u64) < self.window
    }

    /// Whether a new PDU can be sent.
    #[inline]
    pub fn has_new(&self) -> bool {
        self.window_is_open() && !self.segmenter.is_empty()
    }

    /// Whether there are SDUs or PDUs that are not acknowledged.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0 && self.segmenter.is_empty()
    }

    /// How many PDUs are to be sent, new ones as far as the window is open.
    pub fn ready(&self) -> u64 {
        let room = self.window.saturating_sub(self.under_way.len() as u64);
        u64::from(self.missing.len()) + self.segmenter.pdus().min(room)
    }

    /// How much of the window is in use with the next new PDU (VT(S) + 1 - VT(A), §9.6 d).
    #[inline]
    pub fn used_window(&self) -> u64 {
        self.under_way.len() as u64 + 1
    }

    /// The first SDU of which a PDU under way carries something.
    pub fn sdu_of(&self, sn: u64) -> u64 {
        let sent = sn.checked_sub(self.vt_a).and_then(|place| self.under_way.get(place as usize));
        sent.map_or(self.oldest, |sent| sent.segment.sdu)
    }

    pub fn enqueue(&mut self, now: Instant, bytes: u32, exempt: bool) -> bool {
        let taken = self.segmenter.push(bytes, exempt);
        if let (true, Some(timer)) = (taken, self.discard_timer) {
            self.deadlines.push_back(if exempt { Instant::MAX } else { now + timer });
        }
        taken
    }

    /// Sends a new PDU, which was planned. Its number.
    #[inline]
    pub fn send_new(&mut self, at: Instant, segment: &Segment) -> u64 {
        debug_assert!(self.window_is_open(), "no new PDU has the number VT(MS) or a higher one (§11.3.2.2)");
        let sn = self.vt_s();
        self.segmenter.take(segment);
        self.under_way.push_back(Sent { segment: *segment, at, vt_dat: 1, state: State::Waiting });
        self.waiting += 1;
        sn
    }

    /// The lowest PDU that is due to be sent again.
    #[inline]
    pub fn first_missing(&self) -> Option<u64> {
        self.missing.first_from(self.vt_a)
    }

    /// Whether this PDU is due to be sent again.
    pub fn is_missing(&self, sn: u64) -> bool {
        self.missing.contains(sn)
    }

    /// What a PDU under way carries.
    pub fn segment(&self, sn: u64) -> Segment {
        self.under_way[(sn - self.vt_a) as usize].segment
    }

    /// A PDU is sent again now. What it carries.
    pub fn send_again(&mut self, at: Instant, sn: u64) -> Segment {
        self.missing.remove(sn);
        let sent = self.sent_mut(sn);
        sent.at = at;
        sent.segment
    }

    /// The PDU with which to poll when nothing else is to be sent: the last, or, if that has arrived, the
    /// last that may not have (§11.3.2).
    pub fn carrier(&self) -> Option<u64> {
        let place = self.under_way.iter().rposition(|sent| sent.state == State::Waiting)?;
        Some(self.vt_a + place as u64)
    }

    /// Counts that a PDU is to be sent again. `false`: that would be too often.
    pub fn schedule(&mut self, sn: u64) -> bool {
        let limit = self.vt_dat_limit;
        let sent = self.sent_mut(sn);
        sent.vt_dat = sent.vt_dat.saturating_add(1);
        sent.vt_dat < limit
    }

    /// Takes what a report tells of the PDUs under way (§11.5.3).
    pub fn on_report(&mut self, now: Instant, status: &Status) -> Reported {
        let Some(ack) = status.ack else { return Reported::Fine };
        let (lsn, first) = (self.absolute(ack), self.absolute(status.first));
        let of = |received: bool| {
            let these = status.received.iter().enumerate().filter(move |(_, r)| **r == received);
            these.map(move |(place, _)| first + place as u64)
        };
        let first_error = of(false).next();
        if lsn > self.vt_s() || of(false).next_back().is_some_and(|sn| sn >= self.vt_s()) {
            return Reported::Erroneous;
        }
        // VT(A) moves to the end of the PDUs acknowledged without a gap (§9.2.2.11.2).
        self.acknowledge(first_error.map_or(lsn, |error| error.min(lsn)));
        for sn in of(true) {
            if (self.vt_a..self.vt_s()).contains(&sn) {
                self.leave(sn, State::Received);
            }
        }
        let mut reported = Reported::Fine;
        for sn in of(false) {
            if sn >= self.vt_a && self.believes_missing(now, sn) {
                if self.schedule(sn) {
                    self.missing.insert(sn);
                } else {
                    reported = Reported::Exhausted(sn);
                }
            }
        }
        debug_assert!(self.counts_what_waits(), "what may have to be sent again lies in the window");
        reported
    }

    /// Whether the count of waiting PDUs is right, and all that are due to be sent again are among them.
    fn counts_what_waits(&self) -> bool {
        let waiting = (self.vt_a..).zip(&self.under_way).filter(|(_, sent)| sent.state == State::Waiting);
        let missing = waiting.clone().filter(|(sn, _)| self.missing.contains(*sn));
        waiting.count() as u64 == self.waiting && missing.count() as u64 == u64::from(self.missing.len())
    }

    /// Whether a PDU reported missing has to be sent again, and is not due already.
    fn believes_missing(&self, now: Instant, sn: u64) -> bool {
        let sent = &self.under_way[(sn - self.vt_a) as usize];
        sent.state == State::Waiting && !self.missing.contains(sn) && now.since(sent.at) >= self.round_trip
    }

    /// All PDUs before this one have arrived, or were discarded at both ends.
    pub fn acknowledge(&mut self, before: u64) {
        let these = (before - self.vt_a) as usize;
        let Some(last) = these.checked_sub(1) else { return };
        let waited = self.under_way.range(..these).filter(|sent| sent.state == State::Waiting).count();
        self.waiting -= waited as u64;
        if !self.missing.is_empty() {
            (self.vt_a..before).for_each(|sn| _ = self.missing.remove(sn));
        }
        let segment = self.under_way[last].segment;
        self.under_way.drain(..these);
        self.vt_a = before;
        self.settle(segment.sdu + u64::from(segment.ends));
    }

    /// This sequence number from the wire, seen from VT(A) (§9.4).
    pub fn absolute(&self, sn: u32) -> u64 {
        self.vt_a + u64::from(sn).wrapping_sub(self.vt_a) % MODULUS
    }

    /// Gives up the SDUs of which a PDU carries something, and all before (§11.6.2).
    pub fn give_up_to_pdu(&mut self, sn: u64, told: Option<u64>) -> Order {
        self.give_up(self.segment(sn).last(), told)
    }

    /// Gives up the SDUs whose timer has expired. `None`: there is none.
    pub fn give_up_late(&mut self, now: Instant, told: Option<u64>) -> Option<Order> {
        let late = self.deadlines.iter().take_while(|deadline| **deadline <= now).count() as u64;
        (late > 0).then(|| self.give_up(self.oldest + late - 1, told))
    }

    /// When the next discard timer expires.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.front().copied().filter(|deadline| *deadline < Instant::MAX)
    }

    /// Gives up all SDUs up to `last`. `told`: where the window shall go on according to the order sent to the far end and not yet
    /// acknowledged.
    fn give_up(&mut self, last: u64, told: Option<u64>) -> Order {
        let kept = last + 1;
        self.discarded += kept - self.oldest;
        self.settle(kept);
        if last >= self.segmenter.unfinished() {
            self.segmenter.drop_before(kept);
            self.mark(kept, told);
            self.discard_before(self.vt_s());
            return Order { sn: self.vt_s(), end: 0, kept };
        }
        // The PDU that tells its end.
        let ends_after = |sent: &Sent| sent.segment.sdu + u64::from(sent.segment.ends);
        let place = self.under_way.partition_point(|sent| ends_after(sent) <= last);
        let sn = self.vt_a + place as u64;
        let segment = self.segment(sn);
        if segment.last() == last {
            self.discard_before(sn + 1);
            return Order { sn: sn + 1, end: 0, kept };
        }
        self.discard_before(sn);
        // At most 15 SDUs end in a PDU.
        Order { sn, end: (kept - segment.sdu) as u8, kept }
    }

    /// Marks the end of SDUs that are not wholly in PDUs with a number of its own, at VT(S). So the far end cannot have everything before
    /// the ordered window without having received the order (§11.6.4).
    fn mark(&mut self, kept: u64, told: Option<u64>) {
        let segment = Segment { sdu: kept, ..Segment::default() };
        let vt_s = self.vt_s();
        match self.under_way.back_mut() {
            Some(last) if last.state == State::Mark && told != Some(vt_s) => last.segment = segment,
            _ => {
                let at = Instant::ZERO;
                self.under_way.push_back(Sent { segment, at, vt_dat: 0, state: State::Mark });
            }
        }
    }

    /// PDUs before this one are not sent any more.
    fn discard_before(&mut self, before: u64) {
        for sn in self.discarded_to.max(self.vt_a)..before {
            self.leave(sn, State::Discarded);
        }
        self.discarded_to = self.discarded_to.max(before);
    }

    /// This PDU need not be sent again.
    fn leave(&mut self, sn: u64, state: State) {
        let sent = self.sent_mut(sn);
        if sent.state == State::Waiting {
            sent.state = state;
            self.waiting -= 1;
            if !self.missing.is_empty() {
                self.missing.remove(sn);
            }
        }
    }

    /// The SDUs before this one are acknowledged or given up.
    fn settle(&mut self, before: u64) {
        if self.discard_timer.is_some() && before > self.oldest {
            self.deadlines.drain(..(before - self.oldest) as usize);
        }
        self.oldest = self.oldest.max(before);
    }

    #[inline]
    fn sent_mut(&mut self, sn: u64) -> &mut Sent {
        &mut self.under_way[(sn - self.vt_a) as usize]
    }

    /// The first SDU of which nothing was sent: with it the sender goes on after a reset.
    pub fn untouched(&self) -> u64 {
        self.segmenter.untouched().max(self.oldest)
    }

    /// Starts anew: sent PDUs are discarded (§11.4.3).
    pub fn reset(&mut self) {
        let kept = self.untouched();
        self.discarded += kept - self.oldest;
        self.settle(kept);
        self.segmenter.drop_before(kept);
        self.under_way.clear();
        self.missing.clear();
        (self.vt_a, self.waiting, self.discarded_to) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With two PDUs of a window of two under way.
    fn sender() -> Sender {
        let mut sender = Sender::new(&Config { window: 2, ..Config::default() });
        assert!(sender.enqueue(Instant::ZERO, 200, false));
        (0..2).for_each(|_| send(&mut sender));
        sender
    }

    fn send(sender: &mut Sender) {
        let segment = sender.segmenter.plan().unwrap();
        sender.send_new(Instant::ZERO, &segment);
    }

    /// TS 25.322 §10.1: a report that acknowledges what was never sent is erroneous.
    #[test]
    fn a_report_beyond_vt_s_is_erroneous() {
        let mut sender = Sender::new(&Config::default());
        let report = |ack| Status { ack: Some(ack), ..Status::default() };
        assert_eq!(sender.on_report(Instant::ZERO, &report(0)), Reported::Fine);
        assert_eq!(sender.on_report(Instant::ZERO, &report(1)), Reported::Erroneous);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "VT(MS)")]
    fn its_law_refuses_a_pdu_beyond_the_window() {
        send(&mut sender());
    }

    #[test]
    fn a_wrong_count_of_what_waits_is_seen() {
        let mut sender = sender();
        assert!(sender.counts_what_waits());
        sender.missing.insert(2);
        assert!(!sender.counts_what_waits(), "it was never sent");
        sender.missing.clear();
        sender.waiting = 1;
        assert!(!sender.counts_what_waits());
    }
}
