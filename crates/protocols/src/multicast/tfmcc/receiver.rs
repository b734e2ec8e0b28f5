//! The receiving end: the rate that it computes, and when it reports it (RFC 4654 §4).

use crate::multicast::feedback_timer::{FeedbackTimer, exponential};
use crate::transport::half_connection::Receiving;
use crate::transport::tfrc::equation;
use lasthop_net::engine::{Duration, Instant, Stream};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::sequence::Sequence;
use lasthop_net::net::{Ecn, Header, NodeId, Packet, Probe, TfmccHeader, TfmccReport, Timed};

use super::config::{REPORT_BYTES, Settings};
use super::floats;
use super::losses::{Losses, Present};
use super::receive_rate::ReceiveRate;
use super::rounds;
use super::rtt::Rtt;

/// How many receivers are reckoned with (N).
const RECEIVERS: f64 = 10_000.0;
/// Over how many round trips the rate of reception is measured (k), if they are longer than R_max: the sender's packets may be that far apart.
const WINDOW: u64 = 3;
/// After this multiple of R_max in which the sender sent nothing, losses are forgotten (§3.6). If packets are missing it did send, and
/// their loss sets have_loss again (§4.3.1). R_max is at least the time between two packets: with a shorter round trip a slow sender's
/// every packet would end a silence.
const SILENCE: u64 = 10;
/// By how much a round-trip time must exceed R_max to count as longer: the resolution of the fields.
const SLACK: f64 = 1e-3;
/// How long a receiver may ask for less than the least rate before it leaves.
const PATIENCE: Duration = Duration::from_secs(120);

/// Work for each packet: the way here and back, the window of the rate of reception and its bytes, the open interval.
const PACKET: Operations = Operations { additions: 8, multiplications: 0 };
/// Work for each rate by the equation: the mean of eight intervals by both sets of weights, and the equation, roots as products.
const RATE: Operations = Operations { additions: 36, multiplications: 50 };
/// Work for each lost packet: when it would have come.
const LOSS: Operations = Operations { additions: 3, multiplications: 2 };

/// The receiving machine.
pub struct Machine {
    settings: Settings,
    node: NodeId,
    stream: Stream,
    losses: Losses,
    received: ReceiveRate,
    /// Once a packet has come.
    rtt: Option<Rtt>,
    is_clr: bool,
    /// The round, R_max and X_supp of the packet received last, and the own rate when the round began (X_fbr).
    round: u8,
    r_max: f64,
    x_supp: f64,
    x_fbr: f64,
    timer: FeedbackTimer,
    /// Whether it waits for fresher data.
    postponed: bool,
    /// The packet that came last: when it was sent, and when it came.
    last: Option<(Instant, Instant)>,
    /// When the CLR reports next, at the earliest, and whether data came since the last report.
    next_report: Instant,
    any_since: bool,
    due: bool,
    /// Since when its rate is below the least.
    low_since: Option<Instant>,
    leaving: bool,
    left: bool,
    /// The rate computed last.
    x_r: f64,
    packets: u64,
    bytes: u64,
    duplicates: u64,
    /// What has come, for the table `flows`; the protocol does not read it.
    sequence: Sequence,
    reports: u64,
    suppressed: u64,
    rates: u64,
}

impl Machine {
    /// A machine at `node` to which nothing has come. Its waits are drawn from `stream`.
    pub fn new(settings: Settings, node: NodeId, stream: Stream) -> Self {
        Self {
            losses: Losses::new(settings.classifier, settings.discount_threshold),
            settings,
            node,
            stream,
            received: ReceiveRate::default(),
            rtt: None,
            is_clr: false,
            round: 0,
            r_max: 0.0,
            x_supp: f64::INFINITY,
            x_fbr: f64::INFINITY,
            timer: FeedbackTimer::default(),
            postponed: false,
            last: None,
            next_report: Instant::ZERO,
            any_since: false,
            due: false,
            low_since: None,
            leaving: false,
            left: false,
            x_r: f64::INFINITY,
            packets: 0,
            bytes: 0,
            duplicates: 0,
            sequence: Sequence::default(),
            reports: 0,
            suppressed: 0,
            rates: 0,
        }
    }

    /// The round-trip time.
    #[inline]
    fn r(&self) -> Duration {
        self.rtt.as_ref().map_or(Duration::from_secs_f64(self.r_max), Rtt::value)
    }

    /// The rate of reception, bytes per second (X_recv); one packet for each round trip before there are two.
    fn x_recv(&self, now: Instant) -> f64 {
        self.received.rate(now).unwrap_or_else(|| self.settings.segment / self.r().as_secs_f64())
    }

    /// The rate to report (X_r): by the equation, or twice that of reception before any loss.
    fn rate(&mut self, now: Instant) -> f64 {
        self.rates += 1;
        let r = self.r().as_secs_f64();
        let rate = if self.losses.have_loss() {
            equation::throughput(self.settings.segment, r, self.losses.rate(), 4.0 * r)
        } else {
            2.0 * self.x_recv(now)
        };
        // §4.4 speaks of the calculated rate: a source that writes little is no reason to leave.
        if self.losses.have_loss() && rate < self.settings.least() {
            self.low_since.get_or_insert(now);
        } else {
            self.low_since = None;
        }
        self.x_r = rate.max(self.settings.least());
        self.x_r
    }

    /// Whether its round-trip time is longer than all that the sender knows of.
    #[inline]
    fn is_farthest(&self) -> bool {
        self.r().as_secs_f64() > self.r_max + SLACK
    }

    /// The time stamps of a packet.
    #[inline]
    fn on_times(&mut self, now: Instant, header: &TfmccHeader) {
        let rtt = self.rtt.get_or_insert_with(|| Rtt::new(Duration::from_secs_f64(header.r_max)));
        rtt.follow(Duration::from_secs_f64(header.r_max));
        let Some(echo) = header.echo.filter(|echo| echo.receiver == self.node) else {
            rtt.on_packet(now, header.sent_at);
            // The sender announces another receiver as CLR.
            self.is_clr &= !header.is_clr;
            return;
        };
        let first = !rtt.is_measured();
        rtt.on_echo(now, header.sent_at, echo.stamp, header.is_clr);
        if first {
            self.losses.on_first_sample(rtt.value().as_secs_f64());
        }
        self.is_clr = header.is_clr;
        if self.is_clr {
            self.timer.cancel();
        }
    }

    /// The round, and what the sender knows in it.
    #[inline]
    fn on_round(&mut self, now: Instant, header: &TfmccHeader, first: bool) {
        if header.r_max != self.r_max {
            if self.timer.is_pending() {
                self.timer.rescale(header.r_max / self.r_max);
            }
            self.r_max = header.r_max;
        }
        self.x_supp = header.x_supp;
        // Packets come here in the order of sending: another number is a later round, however many this receiver has missed.
        if first || header.round != self.round {
            self.round = header.round;
            self.timer.cancel();
            self.x_fbr = self.rate(now);
            if !self.is_clr {
                let wait = self.draw(now);
                self.timer.set(now, wait);
                self.postponed = false;
            }
        }
        if self.timer.is_pending()
            && self.x_supp.is_finite()
            && !self.is_farthest()
            && (self.x_supp < self.x_fbr || self.x_supp < self.rate(now))
        {
            self.suppressed += u64::from(self.timer.cancel());
        }
    }

    /// How long it waits for others before it reports.
    fn draw(&mut self, now: Instant) -> Duration {
        let span = Duration::from_secs_f64(rounds::LENGTH * self.r_max);
        let x = 1.0 - self.stream.unit();
        if !self.settings.bias {
            return exponential(x, span, RECEIVERS);
        }
        // A quarter of the wait depends on the rate, from half to nine tenths of the sending rate.
        let share = ((self.x_r / self.x_recv(now)).clamp(0.5, 0.9) - 0.5) / 0.4;
        span.mul_f64(0.25 * share) + exponential(x, span, RECEIVERS).mul_f64(0.75)
    }

    /// The wait for others is over.
    fn on_timer(&mut self, now: Instant) {
        let Some((_, came)) = self.last else { return };
        // What it knows of the others' reports is old: it waits for what it may have missed.
        let old = now.since(came).saturating_sub(Duration::from_secs_f64(self.r_max));
        if old > Duration::ZERO && !std::mem::replace(&mut self.postponed, true) {
            self.timer.postpone(old);
            return;
        }
        self.timer.cancel();
        if self.rate(now) < self.x_supp || self.is_farthest() {
            self.due = true;
        } else {
            self.suppressed += 1;
        }
    }

    /// Bytes of memory that its state takes.
    fn memory(&self) -> usize {
        size_of::<Self>() - size_of::<Sequence>() + self.received.memory()
    }
}

impl Timed for Machine {
    fn on_timeout(&mut self, now: Instant) {
        if self.timer.at().is_some_and(|at| at <= now) {
            self.on_timer(now);
        }
        self.due |= self.is_clr && self.any_since && self.next_report <= now;
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        let report = (self.is_clr && self.any_since && !self.left).then_some(self.next_report);
        match (report, self.timer.at()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

impl Receiving for Machine {
    fn on_data(&mut self, now: Instant, packet: &Packet) -> Option<u64> {
        let Header::Tfmcc(header) = &packet.header else { return None };
        if let Some((_, came)) = self.last
            && self.losses.have_loss()
            && now.since(came) > self.r().max(Duration::from_secs_f64(self.r_max.max(header.r_max))) * SILENCE
            && self.losses.are_settled_before(header.seq)
        {
            self.losses.forget(self.settings.discount_threshold);
        }
        self.on_times(now, header);
        let rtt = self.r();
        let present = Present { now, rtt, measured: self.rtt.is_some_and(|rtt| rtt.is_measured()) };
        let packets = || {
            let x_recv = self.received.rate(now).unwrap_or(0.0);
            x_recv * rtt.as_secs_f64() / self.settings.segment
        };
        let marked = packet.ecn == Ecn::Ce;
        let fresh = self.losses.on_packet(present, header.seq, header.loss_indicated, marked, packets);
        if self.last.is_none() {
            self.sequence.begin_at(header.seq);
        }
        self.sequence.take(header.seq);
        self.packets += 1;
        if !fresh {
            self.duplicates += 1;
            return Some(header.end);
        }
        self.bytes += u64::from(header.payload);
        let window = (rtt * WINDOW).max(Duration::from_secs_f64(header.r_max));
        self.received.on_packet(now, header.payload, window);
        let newest = self.last.is_none_or(|(sent_at, _)| header.sent_at >= sent_at);
        if newest {
            let first = self.last.is_none();
            self.last = Some((header.sent_at, now));
            if !self.left {
                self.on_round(now, header, first);
            }
        }
        self.any_since = true;
        self.due |= self.is_clr && self.next_report <= now;
        Some(header.end)
    }

    /// It misses nothing that was sent before it joined; when it leaves it says so once, and is silent from then on.
    fn on_membership(&mut self, joins: bool) {
        if joins {
            return self.reset();
        }
        if !self.left && self.last.is_some() {
            (self.leaving, self.due) = (true, true);
        }
        self.timer.cancel();
    }

    fn take(&mut self, now: Instant, _end: u64, packet: &mut Packet) -> bool {
        if !std::mem::take(&mut self.due) || self.left {
            return false;
        }
        let Some((echo, came)) = self.last else { return false };
        let rate = self.rate(now);
        self.leaving |= self.low_since.is_some_and(|since| now.since(since) >= PATIENCE);
        self.left = self.leaving;
        if self.left {
            self.timer.cancel();
        }
        self.any_since = false;
        self.next_report = now + self.r();
        self.reports += 1;
        packet.ecn = Ecn::NotEct;
        packet.size = REPORT_BYTES;
        packet.header = Header::TfmccReport(TfmccReport {
            receiver: self.node,
            stamp: now,
            echo: echo + now.since(came),
            round: self.round,
            have_rtt: self.rtt.is_some_and(|rtt| rtt.is_measured()),
            have_loss: self.losses.have_loss(),
            leaving: self.leaving,
            rate: if self.settings.quantise { floats::rate(rate) } else { rate },
        });
        true
    }

    fn reset(&mut self) {
        self.losses.restart(self.settings.discount_threshold);
        self.sequence.restart();
        self.received = ReceiveRate::default();
        (self.rtt, self.is_clr, self.last) = (None, false, None);
        (self.round, self.r_max) = (0, 0.0);
        self.timer.cancel();
        (self.next_report, self.any_since, self.due) = (Instant::ZERO, false, false);
        (self.low_since, self.leaving, self.left) = (None, false, false);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("received_packets", self.packets as f64);
        probe.value("received_bytes", self.bytes as f64);
        probe.value("duplicate_packets", self.duplicates as f64);
        self.sequence.sample(probe);
        self.losses.sample(probe);
        if self.x_r.is_finite() {
            probe.value("rate_bps", self.x_r * 8.0);
        }
        if self.rtt.is_some_and(|rtt| rtt.is_measured()) {
            probe.value("srtt_ms", self.r().as_secs_f64() * 1e3);
        }
        probe.value("is_clr", f64::from(u8::from(self.is_clr)));
        probe.value("left", f64::from(u8::from(self.left)));
        probe.value("reports", self.reports as f64);
        probe.value("suppressed_reports", self.suppressed as f64);
        let work = PACKET.times(self.packets).and(RATE.times(self.rates)).and(LOSS.times(self.losses.lost()));
        work.show_mean(probe, Operations::IN, self.packets);
        probe.value("state_bytes", self.memory() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multicast::tfmcc::Config;
    use lasthop_net::engine::Streams;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn machine() -> Machine {
        let settings = Settings::new(&Config::default());
        Machine::new(settings, NodeId(1), Streams::new(1).stream("receiver", "waits"))
    }

    /// A packet of 1000 B that was sent at time zero or later, and took 20 ms.
    fn receive(machine: &mut Machine, at: Instant, seq: u64, r_max: f64) {
        receive_in(machine, at, seq, r_max, 0);
    }

    /// The same, in a round.
    fn receive_in(machine: &mut Machine, at: Instant, seq: u64, r_max: f64, round: u8) {
        let header = TfmccHeader {
            seq,
            sent_at: Instant::ZERO + at.since(ms(20)),
            echo: None,
            is_clr: false,
            round,
            r_max,
            x_supp: f64::INFINITY,
            payload: 1000,
            end: 0,
            loss_indicated: false,
        };
        machine.on_data(at, &Packet { header: Header::Tfmcc(header), ..Packet::vacant() });
    }

    /// §4.5: a round is new however many there were of which the receiver had no packet. Their numbers have four bits.
    #[test]
    fn the_first_packet_after_an_outage_begins_a_round() {
        for round in 1..16 {
            let mut machine = machine();
            receive_in(&mut machine, ms(20), 0, 0.1, 0);
            machine.timer.cancel();
            receive_in(&mut machine, ms(5_000), 1, 0.1, round);
            assert!(machine.timer.is_pending(), "round {round}");
            // A packet of before that has been overtaken begins none.
            machine.timer.cancel();
            receive_in(&mut machine, ms(4_000), 2, 0.1, round - 1);
            assert!(!machine.timer.is_pending(), "round {round}");
        }
    }

    /// One packet of 20 is lost, and then comes nothing for two seconds, twenty times R_max.
    #[test]
    fn only_a_silence_of_the_sender_lets_losses_be_forgotten() {
        let after_silence = |last: u64, next: u64, r_max: f64| {
            let mut machine = machine();
            (0..last).filter(|seq| *seq != 10).for_each(|seq| receive(&mut machine, ms(20 * seq), seq, 0.1));
            receive(&mut machine, ms(20 * last + 2000), next, r_max);
            machine.losses.have_loss()
        };
        assert!(!after_silence(20, 20, 0.1), "the sender was silent");
        assert!(after_silence(20, 21, 0.1), "it was not: a packet is missing");
        assert!(after_silence(20, 20, 0.3), "R_max has grown meanwhile");
        assert!(after_silence(20, 90, 0.1));
    }

    /// A packet in 20 s is less than the least rate, one in 8 s. A receiver leaves only if losses make it so, such as that of every other.
    #[test]
    fn a_slow_source_makes_no_receiver_leave() {
        let leaves = |step: usize| {
            let mut machine = machine();
            for n in (0..20).map(|n| n * step as u64) {
                receive(&mut machine, ms(20_000 * n), n, 8.0);
                machine.due = true;
                machine.take(ms(20_000 * n), 0, &mut Packet::vacant());
            }
            machine.left
        };
        assert!(!leaves(1));
        assert!(leaves(2));
    }
}
