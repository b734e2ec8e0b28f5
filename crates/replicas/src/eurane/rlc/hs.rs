//! EURANE's RLC AM at the RNC over the high-speed shared channel (`am-hs.cc`, "AMHS").
//!
//! The Node B gives out capacity, and the PDUs of a grant leave at once. Where this differs from the entity at the
//! terminal, which is EURANE's usual one:
//!
//! - SDUs are cut into PDUs when they come. A last part with room for more waits a little for the next SDU, and is padded then. The
//!   buffer counts PDUs.
//! - A PDU gets its sequence number when it leaves. What a report misses is put in front of all others, unless it stands there
//!   already; it polls again if it did when it left first. There is no repetition for a poll.
//! - The last PDU of a grant polls. The poll timer only makes the next PDU poll, whichever it is; before the first report it does nothing.
//! - A report waits for a PDU with enough padding. If none comes in a second (the parameter says 1 ms, and is read
//!   as 1 s), it takes its place behind the PDUs that wait, and is still taken to be wanted: so one more may ride
//!   later, and no gap and no poll asks for the next in time.

mod config;
mod segmentation;

pub use config::Config;

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, FloatTime, Instant};
use lasthop_net::net::Probe;
use lasthop_radio::radio::arq::{LinkArq, Outcome, Slot, Unsent};
use lasthop_radio::radio::rlc::{Control, Pdu, Reason, Status};

use super::receiver::Receiver;
use super::sdus::Content;
use super::ticks::{Ticks, Timer};
use segmentation::Segmentation;

/// The end of a bearer at the RNC.
pub struct Entity {
    pdu: u8,
    window: u32,
    poll_every: u32,
    poll_timer: Duration,
    status_delay: Duration,
    buffer: usize,
    segmentation: Segmentation,
    /// PDUs that wait for capacity.
    queue: VecDeque<Waiting>,
    /// PDUs kept for retransmission, from `kept_from` on.
    kept: VecDeque<Kept>,
    kept_from: u32,
    /// FSN of the last report; `None` before the first.
    reported: Option<u32>,
    /// Whether the next PDU polls.
    poll_wanted: bool,
    /// The PDU sent again with a poll that a report has yet to cover. `None`: any report will do.
    awaited: Option<u32>,
    /// When a poll is missed.
    poll_expires: Timer,
    /// PDUs sent since the last poll.
    since_poll: u32,
    receiver: Receiver,
    /// When a report that nothing has carried is sent alone.
    report_due: Timer,
    /// When allocations come; `None` before the first.
    ticks: Option<Ticks>,
    /// When the last PDU came by ns-2's clock, if that is followed.
    float: Option<FloatTime>,
    totals: Totals,
}

/// A PDU that waits.
enum Waiting {
    New(Content),
    /// The PDU with this sequence number, again.
    Again(u32, Kept),
    /// A report, as it was when it was made.
    Report(Status),
}

/// A PDU that left.
#[derive(Clone, Copy)]
struct Kept {
    content: Content,
    /// Whether it polled. EURANE keeps it with its poll bit, unlike the entity at the terminal.
    poll: bool,
}

/// Counts since the start.
#[derive(Default)]
struct Totals {
    sdus: u64,
    refused: u64,
    new: u64,
    again: u64,
    alone: u64,
}

impl Entity {
    /// An entity that has sent and received nothing.
    pub fn new(config: &Config) -> Self {
        let am = &config.am;
        let pdu = am.pdu.get() as u8;
        Self {
            pdu,
            window: config.window,
            poll_every: am.poll_every,
            poll_timer: am.poll_timer,
            status_delay: config.status_delay,
            buffer: config.buffer as usize,
            segmentation: Segmentation::new(pdu, config.wait),
            queue: VecDeque::new(),
            kept: VecDeque::new(),
            kept_from: 0,
            reported: None,
            poll_wanted: false,
            awaited: None,
            poll_expires: Timer::OFF,
            since_poll: 0,
            receiver: Receiver::new(am),
            report_due: Timer::OFF,
            ticks: None,
            float: None,
            totals: Totals::default(),
        }
    }

    /// The next sequence number.
    fn next_sn(&self) -> u32 {
        self.kept_from + self.kept.len() as u32
    }

    /// The next PDU that may leave. While the window is closed new ones may not.
    fn take(&mut self) -> Option<Waiting> {
        // EURANE's `FSN_` is -1 before the first report.
        let from = self.reported.map_or(0, |first| u64::from(first) + 1);
        if u64::from(self.next_sn()) < from + u64::from(self.window) {
            return self.queue.pop_front();
        }
        let place = self.queue.iter().position(|waiting| !matches!(waiting, Waiting::New(_)))?;
        self.queue.remove(place)
    }

    /// A timer that starts with a PDU of this slot.
    fn timer(&mut self, slot: &Slot, length: Duration) -> Timer {
        self.ticks.get_or_insert_with(|| Ticks::of_allocations(slot)).timer(slot, slot.at, length)
    }

    /// Whether a PDU of this slot polls; `sn` is its number if it has left before.
    fn polls(&mut self, slot: &Slot, sn: Option<u32>) -> bool {
        let poll = std::mem::take(&mut self.poll_wanted) || self.since_poll > self.poll_every;
        if poll {
            self.since_poll = 0;
            if sn >= self.awaited || self.poll_expires.at == Instant::MAX {
                self.awaited = sn;
                self.poll_expires = self.timer(slot, self.poll_timer);
            }
        }
        self.since_poll += 1;
        poll
    }

    /// The size of a report, in bytes. Its header has 4 bits here, not 20 as at the terminal.
    fn report_bytes(&self) -> u16 {
        (HEADER_BITS + self.receiver.report_bits()).div_ceil(8).min(u32::from(self.pdu)) as u16
    }

    /// The report that is sent now. The next one is prohibited until `prohibited`.
    fn report(&mut self, prohibited: Timer) -> Option<Status> {
        self.report_due = Timer::OFF;
        let bytes = self.report_bytes();
        let limit = u32::from(self.pdu) * 8 - HEADER_BITS;
        let (first, received) = self.receiver.take_report(prohibited, limit as usize)?;
        Some(Status { first, received, bytes, ..Status::default() })
    }

    fn data(&mut self, slot: &Slot, sn: u32, content: &Content, poll: bool, reason: Reason) -> Pdu {
        let mut padding = u16::from(content.padding);
        let mut control = None;
        if self.receiver.wants_report() && padding >= self.report_bytes() {
            let prohibited = self.timer(slot, self.receiver.prohibit);
            let status = self.report(prohibited);
            padding -= status.as_ref().map_or(0, |status| status.bytes);
            control = status.map(|status| Box::new(Control::Status(status)));
        }
        Pdu { padding, control, ..content.pdu(sn, self.pdu, poll, reason) }
    }

    /// Takes a report.
    fn on_report(&mut self, status: &Status) {
        while self.kept_from < status.first && self.kept.pop_front().is_some() {
            self.kept_from += 1;
        }
        self.reported = Some(status.first);
        for (place, received) in status.received.iter().enumerate().rev() {
            let sn = status.first + place as u32;
            let stands = |waiting: &Waiting| matches!(waiting, Waiting::Again(other, _) if *other == sn);
            if !received
                && let Some(kept) = self.kept.get((sn - self.kept_from) as usize)
                && !self.queue.iter().any(stands)
            {
                self.queue.push_front(Waiting::Again(sn, *kept));
            }
        }
        let highest = (status.first + status.received.len() as u32).checked_sub(1);
        if highest >= self.awaited {
            (self.awaited, self.poll_expires, self.poll_wanted) = (None, Timer::OFF, false);
        }
    }
}

impl LinkArq for Entity {
    fn enqueue(&mut self, now: Instant, bytes: u32, exempt: bool) -> bool {
        // One place is for a last part that waits.
        let pdus = bytes.div_ceil(u32::from(self.pdu)) as usize;
        let taken = exempt || 1 + pdus + self.queue.len() < self.buffer;
        *(if taken { &mut self.totals.sdus } else { &mut self.totals.refused }) += 1;
        if taken {
            let queue = &mut self.queue;
            self.segmentation.push(now, bytes, |content| queue.push_back(Waiting::New(content)));
        }
        taken
    }

    /// A slot is a grant here.
    fn pull(&mut self, slot: &Slot) -> Option<Pdu> {
        let waiting = self.take()?;
        let [_, left] = slot.pdus_of(u32::from(self.pdu) * 8);
        self.poll_wanted |= left == 1;
        match waiting {
            Waiting::New(content) => {
                let poll = self.polls(slot, None);
                let sn = self.next_sn();
                self.kept.push_back(Kept { content, poll });
                self.totals.new += 1;
                Some(self.data(slot, sn, &content, poll, Reason::New))
            }
            Waiting::Again(sn, kept) => {
                let poll = self.polls(slot, Some(sn)) || kept.poll;
                self.totals.again += 1;
                Some(self.data(slot, sn, &kept.content, poll, Reason::Retransmission))
            }
            Waiting::Report(status) => {
                // The poll bit of a report means nothing to the terminal.
                let poll = self.polls(slot, Some(status.first));
                self.totals.alone += 1;
                Some(Pdu {
                    poll,
                    reason: Reason::Control,
                    padding: u16::from(self.pdu) - status.bytes,
                    bits: u32::from(self.pdu) * 8,
                    control: Some(Box::new(Control::Status(status))),
                    ..Pdu::default()
                })
            }
        }
    }

    fn wants_to_send(&self) -> bool {
        !self.queue.is_empty()
    }

    fn on_pdu(&mut self, now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        if let Some(Control::Status(status)) = pdu.control.as_deref() {
            self.on_report(status);
        }
        if pdu.data == 0 {
            return;
        }
        self.receiver.on_data(pdu, outcomes);
        let wanted = self.receiver.wants_report();
        self.receiver.consider_report(now, pdu.poll);
        if !wanted && self.receiver.wants_report() {
            self.report_due = Timer::starting(now, self.float, self.status_delay);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        let queue = &mut self.queue;
        self.segmentation.on_timeout(now, |content| queue.push_back(Waiting::New(content)));
        if let Some(ticks) = &mut self.ticks {
            for timer in [&mut self.poll_expires, &mut self.receiver.prohibited, &mut self.report_due] {
                ticks.order(now, timer, false);
            }
        }
        if self.poll_expires.at <= now {
            self.poll_expires = Timer::OFF;
            // EURANE asks whether the highest number sent is that of the last report, but never notes it (`maxseq_`, -1 for ever).
            if self.reported.is_some() {
                (self.awaited, self.poll_wanted) = (None, true);
            }
        }
        if self.receiver.next_timeout() <= now {
            self.receiver.on_timeout(now);
            self.report_due = self.receiver.prohibited.followed_by(self.status_delay);
        }
        if self.report_due.at <= now {
            let prohibited = self.report_due.followed_by(self.receiver.prohibit);
            let report = self.report(prohibited);
            self.queue.extend(report.map(Waiting::Report));
            self.receiver.want_report();
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let reports = self.receiver.next_timeout().min(self.report_due.at);
        let next = self.segmentation.next_timeout().min(self.poll_expires.at).min(reports);
        (next < Instant::MAX).then_some(next)
    }

    fn set_float(&mut self, now: FloatTime) {
        self.float = Some(now);
    }

    /// Among allocations it puts its timers in order itself.
    fn next_float(&self) -> Option<FloatTime> {
        let next = self.next_timeout().filter(|at| !self.ticks.as_ref().is_some_and(|ticks| ticks.may_be_at(*at)))?;
        let timers = [self.poll_expires, self.receiver.prohibited, self.report_due];
        timers.into_iter().find(|timer| timer.at == next)?.float()
    }

    fn ready_pdus(&self) -> u64 {
        self.queue.len() as u64
    }

    fn backlog(&self) -> Unsent {
        let bytes = |pdus: usize| pdus as u64 * u64::from(self.pdu);
        Unsent { sdus: bytes(self.queue.len()), unacknowledged: bytes(self.kept.len()) }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (sent, received) = (&self.totals, &self.receiver.totals);
        for (name, count) in [
            ("sent_sdus", sent.sdus),
            ("refused_sdus", sent.refused),
            ("delivered_sdus", received.delivered),
            ("lost_sdus", received.lost),
            ("new_pdus", sent.new),
            ("retransmitted_pdus", sent.again),
            ("control_pdus", sent.alone),
            ("received_pdus", received.pdus),
            ("duplicate_pdus", received.duplicates),
            ("sent_reports", received.reports),
            ("waiting_pdus", self.receiver.waiting() as u64),
        ] {
            probe.value(name, count as f64);
        }
    }
}

/// Data or control, and the kind of control PDU.
const HEADER_BITS: u32 = 4;

#[cfg(test)]
mod tests;
