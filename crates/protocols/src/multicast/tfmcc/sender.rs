//! The sending end: when data leave, what they carry, and what reports say.

use crate::transport::half_connection::{NominalTime, Outbox, Sending};
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{Ecn, Header, Histogram, Packet, Probe, TfmccHeader, Timed, Variable};

use super::config::Settings;
use super::control::{Control, Report};
use super::echoes::{Echoes, Stamp};
use super::floats;
use super::rounds::Rounds;
use crate::multicast::gaps::Classifier;

/// The least round-trip time that a report may give.
const LEAST_RTT: Duration = Duration::from_millis(1);
/// For how many R_max after the last packet of a transfer a receiver may still be waiting for it.
const LAST_PACKET: f64 = 10.0;

/// The sending machine.
pub struct Machine {
    settings: Settings,
    outbox: Outbox,
    control: Control,
    rounds: Rounds,
    round_began: Instant,
    echoes: Echoes,
    next: u64,
    nominal: NominalTime,
    /// When the end of the transfer has reached all receivers that it will reach.
    over_at: Option<Instant>,
    reports: u64,
    rtts: Histogram,
    /// The rate after the last event, and the one that was shown.
    x: f64,
    shown: f64,
    /// Of earlier connections.
    changes: u64,
    silences: u64,
}

impl Machine {
    /// A machine that has sent nothing.
    pub fn new(settings: Settings) -> Self {
        let rounds = Rounds::new(Instant::ZERO);
        let control = Control::new(Instant::ZERO, settings.segment, settings.least(), rounds.r_max(0.0));
        Self {
            outbox: Outbox::new(settings.segment as u32, settings.buffer),
            x: control.rate(Instant::ZERO),
            control,
            rounds,
            round_began: Instant::ZERO,
            echoes: Echoes::default(),
            next: 0,
            nominal: NominalTime::default(),
            over_at: None,
            reports: 0,
            rtts: Histogram::default(),
            shown: 0.0,
            changes: 0,
            silences: 0,
            settings,
        }
    }

    /// The largest round-trip time, which is at least the time between two packets at rate `x`.
    #[inline]
    fn r_max(&self, x: f64) -> f64 {
        self.rounds.r_max(self.settings.segment / x)
    }

    /// Begins the next round if the present one is over.
    #[inline]
    fn advance(&mut self, now: Instant) {
        if self.rounds.advance(now, self.settings.segment / self.control.rate(now)) {
            self.round_began = now;
            self.control.on_round();
        }
    }

    /// The time to the next packet counts from the last one, by the rate of now.
    fn rate_changed(&mut self, now: Instant) {
        self.x = self.control.rate(now);
        self.nominal.change(now, |payload| Duration::from_secs_f64(f64::from(payload) / self.x));
    }

    fn silent_at(&self) -> Option<Instant> {
        self.control.silent_at(self.r_max(self.x))
    }
}

impl Timed for Machine {
    fn on_timeout(&mut self, now: Instant) {
        if self.silent_at().is_some_and(|at| at <= now) {
            self.control.on_silence(now, self.r_max(self.x));
            self.rate_changed(now);
        }
        if self.over_at.is_some_and(|at| at <= now) {
            self.over_at = None;
            self.outbox.give_up();
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        let send = (!self.outbox.is_empty()).then_some(self.nominal.at());
        [send, self.silent_at(), self.over_at].into_iter().flatten().min()
    }
}

impl Sending for Machine {
    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn on_answer(&mut self, now: Instant, packet: &Packet) -> bool {
        let Header::TfmccReport(report) = &packet.header else { return false };
        self.advance(now);
        self.reports += 1;
        let sample = now.since(report.echo).max(LEAST_RTT);
        self.rtts.add(sample.as_nanos());
        let sample = sample.as_secs_f64();
        self.rounds.on_sample(sample);
        let r_max = self.r_max(self.control.rate(now));
        if !report.leaving && self.control.clr() != Some(report.receiver) {
            self.rounds.on_report(report.round, report.rate);
        }
        // A receiver that has not measured its round-trip time computed with R_max.
        let guessed = report.have_loss && !report.have_rtt;
        let rate = if guessed { report.rate * r_max / sample } else { report.rate };
        let receiver = report.receiver;
        let said = Report { receiver, rate, have_loss: report.have_loss, leaving: report.leaving };
        if self.control.on_report(now, said, r_max) {
            self.echoes.on_election();
        }
        if !report.leaving {
            let stamp = Stamp { receiver, stamp: report.stamp, have_rtt: report.have_rtt, rate };
            self.echoes.on_report(now, stamp);
        }
        self.rate_changed(now);
        false
    }

    fn take(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let Some(payload) = self.outbox.peek().filter(|_| self.nominal.has_come(now)) else { return false };
        if self.nominal.is_first() {
            // No report was asked for before.
            self.rounds.reset(now);
            self.round_began = now;
        }
        self.advance(now);
        self.outbox.send(payload);
        self.control.on_sent(now);
        self.x = self.control.rate(now);
        let r_max = self.r_max(self.x);
        let (interval, more) = (Duration::from_secs_f64(f64::from(payload) / self.x), !self.outbox.is_empty());
        self.nominal.pass(now, payload, interval, more, || Duration::from_secs_f64(r_max));
        if self.outbox.is_empty() {
            self.over_at = Some(now + Duration::from_secs_f64(LAST_PACKET * r_max));
        } else {
            self.over_at = None;
        }
        let echo = self.echoes.take(now, self.control.clr(), self.round_began, Duration::from_secs_f64(r_max));
        let (r_max, x_supp) = match self.settings.quantise {
            true => (floats::time(r_max), floats::rate(self.rounds.x_supp())),
            false => (r_max, self.rounds.x_supp()),
        };
        packet.ecn = if self.settings.classifier == Classifier::Ecn { Ecn::Ect0 } else { Ecn::NotEct };
        packet.size = payload + self.settings.header;
        packet.header = Header::Tfmcc(TfmccHeader {
            seq: self.next,
            sent_at: now,
            echo,
            is_clr: echo.is_some_and(|echo| self.control.clr() == Some(echo.receiver)),
            round: self.rounds.number(),
            r_max,
            x_supp,
            payload,
            end: self.outbox.end(),
            loss_indicated: false,
        });
        self.next += 1;
        true
    }

    fn show(&mut self) -> Option<(Variable, f64)> {
        (self.x != self.shown).then(|| {
            self.shown = self.x;
            (Variable::PacingRate, self.x * 8.0)
        })
    }

    fn reset(&mut self) {
        self.changes += self.control.changes;
        self.silences += self.control.silences;
        self.rounds.reset(Instant::ZERO);
        let Settings { segment, .. } = self.settings;
        self.control = Control::new(Instant::ZERO, segment, self.settings.least(), self.rounds.r_max(0.0));
        self.echoes = Echoes::default();
        (self.next, self.nominal, self.over_at) = (0, NominalTime::default(), None);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.outbox.sample(probe);
        probe.value("rate_bps", self.x * 8.0);
        probe.value("slow_start", f64::from(u8::from(self.control.is_slow_start())));
        if let Some(clr) = self.control.clr() {
            probe.value("clr", f64::from(clr.0));
        }
        probe.value("clr_changes", (self.changes + self.control.changes) as f64);
        probe.value("silences", (self.silences + self.control.silences) as f64);
        probe.value("r_max_ms", self.r_max(self.x) * 1e3);
        probe.value("reports", self.reports as f64);
        self.rounds.sample(probe);
        probe.distribution("rtt_ms", 1e-6, &self.rtts);
    }
}
