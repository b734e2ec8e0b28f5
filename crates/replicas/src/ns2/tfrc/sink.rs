//! The receiving end (`TfrcSinkAgent`).

use std::collections::VecDeque;

use crate::ns2::tfrc::settings::Settings;
use lasthop_net::engine::{FloatTime, Instant};
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, Notice, Packet, Port, Probe, TfrcHeader, TfrcReport, Timed,
};

use super::formula;
use super::wali::Wali;

/// The receiving end.
pub struct Sink {
    seat: EndpointContext,
    settings: Settings,
    now: FloatTime,
    connection: u32,
    /// The highest packet received (`maxseq`), when it was sent and came; −1 before the first.
    highest: i64,
    highest_sent: f64,
    highest_came: f64,
    /// The highest packet up to which losses were looked for (`maxseqList`), and when it was sent.
    checked: i64,
    checked_sent: f64,
    /// Packets received beyond `checked`, in order.
    beyond: Vec<i64>,
    /// Packets out of sequence since losses were looked for (`numPktsSoFar_`).
    out_of_sequence: u32,
    /// Packets received and when, in the order of their numbers: those of some round trips.
    recent: VecDeque<(i64, f64)>,
    /// When the present loss event began (`lastloss`), and in which of the sender's rounds.
    event_at: f64,
    event_round: Option<u32>,
    any_loss: bool,
    wali: Wali,
    /// What the last packet in sequence said.
    rtt: f64,
    rto: f64,
    round: u32,
    sent_at: FloatTime,
    came_at: FloatTime,
    size: f64,
    fair_size: f64,
    /// Payload bytes of the connection up to `highest`.
    end: u64,
    last_report: FloatTime,
    since_report: u32,
    new_loss: bool,
    report_at: Option<FloatTime>,
    /// A report that is to be sent: its loss event rate.
    pending: Option<f64>,
    tell: bool,
    reports: u64,
    received: u64,
    received_bytes: u64,
    lost: u64,
    loss_events: u64,
    old: u64,
}

impl Sink {
    /// A sink at `seat`.
    pub fn new(settings: Settings, seat: EndpointContext) -> Self {
        Self {
            seat,
            now: FloatTime::default(),
            connection: 0,
            highest: -1,
            highest_sent: 0.0,
            highest_came: 0.0,
            checked: -1,
            checked_sent: 0.0,
            beyond: Vec::new(),
            out_of_sequence: 0,
            recent: VecDeque::new(),
            event_at: 0.0,
            event_round: None,
            any_loss: false,
            wali: Wali::new(settings.discounting, settings.discount_threshold),
            rtt: 0.0,
            rto: 0.0,
            round: 0,
            sent_at: FloatTime::default(),
            came_at: FloatTime::default(),
            size: f64::from(settings.segment),
            fair_size: 1460.0,
            end: 0,
            last_report: FloatTime::default(),
            since_report: 0,
            new_loss: false,
            report_at: None,
            pending: None,
            tell: false,
            reports: 0,
            received: 0,
            received_bytes: 0,
            lost: 0,
            loss_events: 0,
            old: 0,
            settings,
        }
    }

    /// Whether a loss of a packet sent at `sent` begins a loss event (`new_loss`).
    fn begins_event(&mut self, sent: f64) -> bool {
        let begins = sent - self.event_at > self.rtt && self.event_round.is_none_or(|round| self.round > round);
        if begins {
            self.event_at = sent;
            self.event_round = Some(self.round);
        }
        begins
    }

    fn take(&mut self, header: &TfrcHeader, marked: bool) {
        let (seq, now) = (header.seq as i64, self.now.as_secs());
        self.since_report += 1;
        if self.highest < 0 {
            self.highest = seq - 1;
            self.checked = seq;
            self.checked_sent = header.sent_at.as_secs();
        }
        let before = (self.highest, self.highest_sent);
        let is_highest = seq > self.highest;
        let mut urgent = false;
        let mut ecn_event = false;
        if is_highest || (seq > self.checked && self.beyond.binary_search(&seq).is_err()) {
            self.out_of_sequence += u32::from(seq > self.checked + 1);
            urgent = header.urgent;
            self.round = header.round;
            (self.rtt, self.rto) = (header.rtt, header.rto);
            self.fair_size = if header.rtt > 0.0 { self.size } else { 1460.0 };
            self.came_at = self.now;
            self.sent_at = header.sent_at;
            if marked {
                self.new_loss = true;
                if self.begins_event(header.sent_at.as_secs()) {
                    ecn_event = true;
                    self.loss_events += 1;
                    self.wali.begin_event(seq);
                }
            } else {
                self.remember(seq, now);
            }
            if seq > self.checked {
                let place = self.beyond.partition_point(|s| *s < seq);
                self.beyond.insert(place, seq);
            }
        }
        let sent = header.sent_at.as_secs();
        if is_highest {
            self.lost += (seq - self.highest - 1) as u64;
        }
        let mut event = false;
        if seq > self.checked
            && (ecn_event || self.out_of_sequence >= self.settings.loss_trigger || sent - self.checked_sent > self.rtt)
        {
            event = self.look_for_losses(seq, sent, before);
        } else if seq == self.checked + 1 {
            self.check_up_to(seq, sent);
        }
        if is_highest {
            let gap = seq - before.0 > 1;
            self.highest = seq;
            self.highest_sent = sent;
            self.highest_came = now;
            self.end = self.end.max(header.end);
            self.tell = self.seat.hears.received;
            let mut loss_rate = None;
            if !self.any_loss && (gap || ecn_event) {
                urgent = true;
                self.any_loss = true;
                loss_rate = Some(self.first_loss(sent));
            }
            if self.rtt > super::SMALL && self.now.seconds_since(self.last_report) >= self.rtt {
                urgent = true;
            }
            if urgent || ecn_event || event {
                self.report(loss_rate);
            }
        } else if urgent || ecn_event || event {
            self.report(None);
        }
    }

    /// Takes note of an arrival for the rate of reception.
    fn remember(&mut self, seq: i64, now: f64) {
        // The sender's mean moves by a twentieth of a sample from one report to the next, so packets that came many round trips ago are not
        // looked at again.
        let old = |came: f64| self.rtt > 0.0 && now - came > 10.0 * self.rtt;
        while self.recent.len() > 1 && self.recent.front().is_some_and(|(_, came)| old(*came)) {
            self.recent.pop_front();
        }
        let later = self.recent.iter().rev().take_while(|(s, _)| *s > seq).count();
        let place = self.recent.len() - later;
        self.recent.insert(place, (seq, now));
    }

    /// Decides which packets before `seq` are lost, and whether loss events begin. Times at which
    /// lost packets were sent lie on a line between the packets around the gap.
    fn look_for_losses(&mut self, seq: i64, sent: f64, (before, before_sent): (i64, f64)) -> bool {
        let mut event = false;
        let step = (sent - before_sent) / (seq - before) as f64;
        let beyond = std::mem::take(&mut self.beyond);
        let mut received = beyond.iter().peekable();
        for lost in self.checked + 1..seq {
            if received.next_if(|r| **r == lost).is_some() {
                continue;
            }
            self.new_loss = true;
            if self.begins_event(before_sent + (lost - before) as f64 * step) {
                event = true;
                self.loss_events += 1;
                self.wali.begin_event(lost);
            }
        }
        self.beyond = beyond;
        self.check_up_to(seq, sent);
        event
    }

    fn check_up_to(&mut self, seq: i64, sent: f64) {
        self.checked = seq;
        self.checked_sent = sent;
        self.out_of_sequence = 0;
        self.beyond.retain(|s| *s > seq);
    }

    /// The first loss of all closes an interval that fits the rate of reception
    /// (`adjust_history`).
    fn first_loss(&mut self, sent: f64) -> f64 {
        self.event_at = sent;
        self.event_round = Some(self.round);
        let p = formula::loss(self.receive_rate() * self.size, self.rtt, self.rto, self.fair_size);
        self.wali.first_loss((1.0 / p) as i64);
        self.loss_events = 1;
        p
    }

    /// Packets received per second (`est_thput`).
    fn receive_rate(&self) -> f64 {
        let since = self.now.seconds_since(self.last_report);
        if self.rtt > 0.0 && since >= self.rtt {
            return if self.since_report > 0 { f64::from(self.since_report) / since } else { 1.0 };
        }
        if self.rtt <= 0.0 {
            return 1.0;
        }
        let recent = self.recent.iter().rev();
        let count = recent.take_while(|(seq, came)| *seq > 0 && came + self.rtt > self.highest_came).count();
        if count > 0 { count as f64 / self.rtt } else { 1.0 }
    }

    /// Sends a report if anything came since the last, and sets the timer for the next
    /// (`nextpkt`).
    fn report(&mut self, loss_rate: Option<f64>) {
        if self.came_at >= self.last_report {
            let p = loss_rate.unwrap_or_else(|| self.wali.loss_rate(self.highest));
            self.pending = Some(p);
        }
        if self.rtt > 0.0 {
            self.report_at = Some(self.now.after(1.5 * self.rtt));
        }
    }
}

impl Timed for Sink {
    fn on_timeout(&mut self, now: Instant) {
        self.now = self.now.or_nearest(now);
        if self.report_at.is_some_and(|at| at.instant() <= now) {
            self.report_at = None;
            self.report(None);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.report_at.map(FloatTime::instant)
    }

    fn set_float(&mut self, now: FloatTime) {
        self.now = now;
    }

    fn next_float(&self) -> Option<FloatTime> {
        self.report_at
    }
}

impl Endpoint for Sink {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        self.now = self.now.or_nearest(now);
        let Header::Tfrc(header) = &packet.header else { return };
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                self.old += 1;
                return;
            }
            let counts = (self.reports, self.received, self.received_bytes, self.lost, self.loss_events, self.old);
            let now = self.now;
            *self = Self::new(self.settings.clone(), self.seat);
            (self.reports, self.received, self.received_bytes, self.lost, self.loss_events, self.old) = counts;
            (self.connection, self.now) = (packet.connection, now);
        }
        self.received += 1;
        self.received_bytes += u64::from(header.payload);
        self.take(header, packet.ecn == Ecn::Ce);
    }

    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        let Some(p) = self.pending.take() else {
            return std::mem::take(&mut self.tell).then_some(Action::Tell(Notice::Received(self.end)));
        };
        let rate = self.receive_rate();
        let report = TfrcReport {
            seq: self.highest as u64,
            echo: self.sent_at,
            delay: self.now.seconds_since(self.came_at),
            rate,
            p,
            end: self.end,
            new_loss: std::mem::take(&mut self.new_loss),
            ..TfrcReport::default()
        };
        self.last_report = self.now;
        self.since_report = 0;
        self.reports += 1;
        *packet = self.seat.packet(self.connection, self.reports, REPORT_BYTES, Header::TfrcReport(report));
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.received as f64);
        probe.value("received_bytes", self.received_bytes as f64);
        probe.value("lost_packets", self.lost as f64);
        let expected = self.received + self.lost;
        if expected > 0 {
            probe.value("lost_share", self.lost as f64 / expected as f64);
        }
        probe.value("loss_events", self.loss_events as f64);
        probe.value("reports", self.reports as f64);
        probe.value("old_connection_packets", self.old as f64);
    }
}

/// `packetSize_` of a sink.
const REPORT_BYTES: u32 = 40;
