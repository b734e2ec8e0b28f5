//! RLC in acknowledged mode (TS 25.322 §11.3 to §11.6).
//!
//! | concern | file |
//! | --- | --- |
//! | PDUs under way, missing, given up | `sender` |
//! | when a report is asked for | `polling` |
//! | moving the far end's window past SDUs given up | `mrw` |
//! | PDUs received, and the SDUs that they complete | `receiver` |
//! | when a report is made, and what it says | `reports` |
//! | starting anew | `reset` |
//!
//! Where it differs from the standard, or the standard leaves a choice:
//!
//! - A report is made up when it leaves, and answers all polls before (§9.7.2 lets it be updated).
//! - A gap makes the receiver report when it opens, not at each PDU that finds it open (§9.7.2).
//! - A poll is repeated with the PDU VT(S) − 1, or, if that is known to have come, with the last that is not
//!   (§11.3.2 allows any below a window of 2048).
//! - An SDU given up before any of it was sent is signalled to the far end too, as with *Send MRW* (§9.7.3.1); an
//!   MRW names the last SDU given up only. An SDU that is partly in PDUs ends, for that, in a PDU of its own
//!   that is not sent.
//! - After MaxRST the procedure goes on (see `reset`).
//! - WINDOW and POLL super-fields, Timer_Poll_Prohibit and Timer_Reordering are not used.

pub mod config;
mod mrw;
mod polling;
mod receiver;
mod reports;
mod reset;
mod sender;
mod sn_set;
#[cfg(test)]
mod tests;

use crate::radio::arq::{LinkArq, Outcome, Slot, Unsent};
use lasthop_net::engine::Instant;
use lasthop_net::net::Probe;

use super::pdu::{Control, Pdu, Reason, Status};
use super::segmentation::Segment;

pub use config::Config;
use config::Discard;
use mrw::Mrw;
use polling::{Leaving, Polling};
use receiver::Receiver;
use reports::{Reports, earlier, wire};
use reset::Reset;
use sender::{Reported, Sender};

/// One end of a bearer in acknowledged mode.
#[derive(Debug)]
pub struct Am {
    /// Bytes of a PDU.
    pdu: u16,
    resets_when_exhausted: bool,
    status_on_gap: bool,
    sender: Sender,
    polling: Polling,
    mrw: Mrw,
    receiver: Receiver,
    reports: Reports,
    reset: Reset,
    sent: Counts,
}

/// PDUs sent, by reason; and such as carried a report or an order beside their data.
#[derive(Debug, Default)]
struct Counts {
    new: u64,
    again: u64,
    poll: u64,
    status: u64,
    reset: u64,
    piggybacked: u64,
}

/// The data that leaves next.
enum Next {
    New(Segment),
    Again(u64),
    Carrier(u64),
}

impl Am {
    /// With nothing sent and nothing received.
    pub fn new(config: &Config) -> Self {
        Self {
            pdu: u16::try_from(config.pdu.get()).expect("a PDU has at most 1505 bytes"),
            resets_when_exhausted: config.discard == Discard::Reset,
            status_on_gap: config.status_on_gap,
            sender: Sender::new(config),
            polling: Polling::new(config),
            mrw: Mrw::new(config),
            receiver: Receiver::new(config),
            reports: Reports::new(config),
            reset: Reset::new(config),
            sent: Counts::default(),
        }
    }

    fn bits(&self) -> u32 {
        8 * u32::from(self.pdu)
    }

    /// The data PDU that leaves next: missing PDUs before new ones, and those that only poll last.
    #[inline]
    fn next(&self) -> Option<Next> {
        if let Some(sn) = self.sender.first_missing() {
            return Some(Next::Again(sn));
        }
        if self.sender.window_is_open()
            && let Some(segment) = self.sender.segmenter.plan()
        {
            return Some(Next::New(segment));
        }
        if self.polling.is_due() { self.sender.carrier().map(Next::Carrier) } else { None }
    }

    /// Sends data.
    fn submit(&mut self, next: Next, slot: &Slot) -> Option<Pdu> {
        let (sn, reason) = match next {
            Next::New(segment) => return Some(self.submit_new(&segment, slot)),
            Next::Again(sn) => {
                self.sent.again += 1;
                (sn, Reason::Retransmission)
            }
            Next::Carrier(sn) => {
                if !self.sender.schedule(sn) {
                    self.on_exhausted(sn);
                    self.rest_if_idle();
                    return self.pull(slot);
                }
                self.sent.poll += 1;
                (sn, Reason::Poll)
            }
        };
        let used_window = self.sender.used_window();
        let segment = self.sender.send_again(slot.at, sn);
        let last = self.sender.first_missing().is_none();
        let poll = self.polls(&Leaving { again: true, last, used_window, segment: &segment }, slot);
        Some(segment.to_pdu(wire(sn), poll, reason, self.bits()))
    }

    #[inline]
    fn submit_new(&mut self, segment: &Segment, slot: &Slot) -> Pdu {
        let used_window = self.sender.used_window();
        let sn = self.sender.send_new(slot.at, segment);
        self.sent.new += 1;
        let last = !self.sender.has_new();
        let poll = self.polls(&Leaving { again: false, last, used_window, segment }, slot);
        segment.to_pdu(wire(sn), poll, Reason::New, self.bits())
    }

    /// Whether a PDU that leaves polls.
    #[inline]
    fn polls(&mut self, pdu: &Leaving<'_>, slot: &Slot) -> bool {
        let polls = self.polling.polls(pdu);
        if polls {
            self.polling.submit(slot.at, self.sender.vt_s());
        }
        polls
    }

    /// Sends a report, and what the far end is to give up, in the padding of the data that leaves next if there
    /// is room, else alone.
    fn pull_status(&mut self, slot: &Slot) -> Option<Pdu> {
        let order = self.mrw.due();
        let next = self.next();
        let padding = match &next {
            Some(Next::New(segment)) => segment.padding,
            Some(Next::Again(sn)) => self.sender.segment(*sn).padding,
            // A carrier may be given up instead of being sent.
            Some(Next::Carrier(_)) | None => 0,
        };
        let beside = self.reports.draft(&self.receiver, order, padding, false);
        let is_beside = beside.is_some();
        let draft = beside.or_else(|| self.reports.draft(&self.receiver, order, self.pdu, true))?;
        let mut pdu = match next {
            Some(next) if is_beside => self.submit(next, slot)?,
            _ => Pdu { reason: Reason::Control, padding: self.pdu, bits: self.bits(), ..Pdu::default() },
        };
        let count = if is_beside { &mut self.sent.piggybacked } else { &mut self.sent.status };
        *count += 1;
        self.reports.submit(slot.at, &draft);
        if order.is_some() {
            self.mrw.submit(slot.at);
        }
        pdu.padding -= draft.status.bytes;
        pdu.control = Some(Box::new(Control::Status(draft.status)));
        Some(pdu)
    }

    /// A PDU would be sent too often (§11.3.3a).
    fn on_exhausted(&mut self, sn: u64) {
        if self.resets_when_exhausted {
            return self.ask_for_reset();
        }
        let order = self.sender.give_up_to_pdu(sn, self.mrw.told());
        self.mrw.order(order);
    }

    fn give_up_late(&mut self, now: Instant) {
        if self.reset.is_pending() {
            return;
        }
        if let Some(order) = self.sender.give_up_late(now, self.mrw.told()) {
            self.mrw.order(order);
        }
    }

    /// Takes what the far end tells or asks. `kept`: after a reset, the SDU with which it goes on.
    fn on_control(&mut self, now: Instant, control: &Control, kept: u64, outcomes: &mut Vec<Outcome>) {
        let starts_anew = match control {
            Control::Reset(rsn) => self.reset.on_reset(*rsn, self.sender.untouched()),
            Control::ResetAck(rsn) => self.reset.on_answer(*rsn),
            Control::Status(status) if !self.reset.is_pending() => {
                self.on_status(now, status, outcomes);
                false
            }
            Control::Status(_) => false,
        };
        if starts_anew {
            self.start_anew(now, kept, outcomes);
        }
        self.rest_if_idle();
    }

    fn on_status(&mut self, now: Instant, status: &Status, outcomes: &mut Vec<Outcome>) {
        if let Some(sn) = status.give_up.last() {
            let moved = self.receiver.on_order(*sn, status.give_up_end, status.kept, outcomes);
            self.reports.acknowledge(moved);
        }
        if let Some(sn) = status.gave_up {
            let sn = self.sender.absolute(sn);
            if self.mrw.is_acknowledged(sn, status.gave_up_end) && sn <= self.sender.vt_s() {
                self.sender.acknowledge(sn);
                self.mrw.end();
            }
        }
        match self.sender.on_report(now, status) {
            Reported::Fine => {}
            Reported::Exhausted(sn) => self.on_exhausted(sn),
            Reported::Erroneous => return self.ask_for_reset(),
        }
        self.mrw.on_acknowledged(self.sender.vt_a());
        let sender = &self.sender;
        self.polling.on_report(sender.vt_a(), |sn| sender.is_missing(sn));
    }

    /// Stops the timers of the sending side, and asks for a reset (§11.4.2).
    fn ask_for_reset(&mut self) {
        self.polling.reset();
        self.mrw.reset();
        self.reports.reset();
        self.reset.ask(self.sender.untouched());
    }

    /// Starts anew; the far end goes on with the SDU `kept`.
    fn start_anew(&mut self, now: Instant, kept: u64, outcomes: &mut Vec<Outcome>) {
        self.sender.reset();
        self.polling.reset();
        self.mrw.reset();
        self.reports.reset();
        self.receiver.reset(kept, outcomes);
        self.give_up_late(now);
        self.polling.wake(now);
    }

    /// After an input: stops polling if there is nothing to poll for (§9.7.1).
    #[inline]
    fn rest_if_idle(&mut self) {
        if self.sender.is_idle() {
            self.polling.rest();
        }
    }
}

impl LinkArq for Am {
    fn enqueue(&mut self, now: Instant, bytes: u32, exempt: bool) -> bool {
        if self.sender.is_idle() {
            self.polling.wake(now);
        }
        self.sender.enqueue(now, bytes, exempt)
    }

    fn pull(&mut self, slot: &Slot) -> Option<Pdu> {
        if self.reset.is_due() {
            let (padding, bits) = (self.pdu - RESET_BYTES, self.bits());
            let pdu = self.reset.pull(slot.at)?;
            self.sent.reset += 1;
            return Some(Pdu { padding, bits, ..pdu });
        }
        if self.reset.is_pending() {
            return None;
        }
        if self.reports.is_due() || self.mrw.due().is_some() {
            return self.pull_status(slot);
        }
        match self.next()? {
            Next::New(segment) => Some(self.submit_new(&segment, slot)),
            next => self.submit(next, slot),
        }
    }

    fn wants_to_send(&self) -> bool {
        if self.reset.is_due() || self.reset.is_pending() {
            return self.reset.is_due();
        }
        self.sender.has_new()
            || self.sender.first_missing().is_some()
            || self.reports.is_due()
            || self.mrw.due().is_some()
            || (self.polling.is_due() && self.sender.waiting() > 0)
    }

    fn has_control(&self) -> bool {
        let reports = self.reports.is_due() || self.mrw.due().is_some();
        self.reset.is_due() || (reports && !self.reset.is_pending())
    }

    fn next_sdu(&self) -> Option<u64> {
        self.next().map(|next| match next {
            Next::New(segment) => segment.sdu,
            Next::Again(sn) | Next::Carrier(sn) => self.sender.sdu_of(sn),
        })
    }

    fn on_pdu(&mut self, now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>) {
        if let Some(control) = pdu.control.as_deref() {
            self.on_control(now, control, pdu.sdu, outcomes);
        }
        if pdu.is_data() && !self.reset.is_pending() {
            let opens_gap = self.receiver.on_data(pdu, outcomes);
            if pdu.poll || (opens_gap && self.status_on_gap) {
                self.reports.ask(now);
            }
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.reset.on_timeout(now);
        self.reports.on_timeout(now);
        self.give_up_late(now);
        if !self.mrw.on_timeout(now) {
            self.ask_for_reset();
        }
        self.polling.on_timeout(now);
        self.rest_if_idle();
    }

    fn next_timeout(&self) -> Option<Instant> {
        let reports = earlier(self.reports.next_timeout(), self.reset.next_timeout());
        if self.reset.is_pending() {
            return reports;
        }
        let sending = earlier(self.polling.next_timeout(), self.mrw.next_timeout());
        earlier(earlier(reports, sending), self.sender.next_deadline())
    }

    fn ready_pdus(&self) -> u64 {
        if !self.wants_to_send() {
            return 0;
        }
        let control = self.reports.is_due() || self.mrw.due().is_some();
        (self.sender.ready() + u64::from(control)).max(1)
    }

    fn backlog(&self) -> Unsent {
        let unacknowledged = self.sender.waiting() * u64::from(self.pdu);
        Unsent { sdus: self.sender.segmenter.bytes(), unacknowledged }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let backlog = self.backlog();
        for (name, value) in [
            ("new_pdus", self.sent.new),
            ("retransmitted_pdus", self.sent.again),
            ("poll_pdus", self.sent.poll),
            ("status_pdus", self.sent.status),
            ("reset_pdus", self.sent.reset),
            ("piggybacked_status", self.sent.piggybacked),
            ("duplicate_pdus", self.receiver.duplicates),
            ("delivered_sdus", self.receiver.delivered),
            ("lost_sdus", self.receiver.lost),
            ("discarded_sdus", self.sender.discarded),
            ("mrw_sent", self.mrw.sent),
            ("mrw_resent", self.mrw.resent),
            ("resets", self.reset.resets),
            ("unrecoverable_errors", self.reset.unrecoverable),
            ("backlog_bytes", backlog.sdus),
            ("unacknowledged_bytes", backlog.unacknowledged),
        ] {
            probe.value(name, value as f64);
        }
    }
}

/// Bytes of a RESET or RESET ACK with its hyper frame number (§9.2.1.7).
const RESET_BYTES: u16 = 4;
