//! When a layer is blocked or released: the phases of the queue, and the adaptations of §II.B.6 of the paper.

use crate::engine::{Duration, Instant};
use crate::net::observe::{Histogram, Probe};

use super::traffic::{Rates, Traffic};
use super::{Config, Counting, Hold};

/// The controller of a link.
pub struct Controller {
    config: Config,
    /// Since when the queue has been observed in phase 1.
    observed: Option<Instant>,
    /// Checks since then that found one or two packets.
    missed: u32,
    /// T_observe at present.
    observe: Duration,
    /// Whether the last change was a release.
    released_last: bool,
    changed: Option<Instant>,
    /// When T_observe began anew, or a layer was blocked.
    quiet_since: Instant,
    link_changed: bool,
    present: Vec<u64>,
    rates: Rates,
    counts: Counts,
    stays: Stays,
}

#[derive(Default)]
struct Counts {
    checks: u64,
    releases: u64,
    blocks: u64,
}

/// How long the queue is in each phase.
#[derive(Default)]
struct Stays {
    phase: usize,
    since: Option<Instant>,
    total: [Duration; 3],
    longest: [Duration; 3],
    of_phase_3: Histogram,
}

impl Stays {
    /// The queue is in this phase, 0 to 2, now.
    fn note(&mut self, now: Instant, phase: usize) {
        let Some(since) = self.since else {
            (self.phase, self.since) = (phase, Some(now));
            return;
        };
        if phase == self.phase {
            return;
        }
        let stay = now.since(since);
        self.total[self.phase] += stay;
        self.longest[self.phase] = self.longest[self.phase].max(stay);
        if self.phase == 2 {
            self.of_phase_3.add(stay.as_nanos());
        }
        (self.phase, self.since) = (phase, Some(now));
    }
}

impl Controller {
    /// One that has not looked yet.
    pub fn new(config: Config) -> Self {
        Self {
            observed: None,
            missed: 0,
            observe: config.observe,
            released_last: false,
            changed: None,
            quiet_since: Instant::ZERO,
            link_changed: false,
            present: Vec::new(),
            rates: Rates::default(),
            counts: Counts::default(),
            stays: Stays::default(),
            config,
        }
    }

    /// The link's rate or far end has changed.
    pub fn on_link_changed(&mut self) {
        self.link_changed = true;
    }

    /// Looks at the queue: a share of its limit waits, and so many packets.
    pub fn check(&mut self, now: Instant, share: f64, packets: u64, traffic: &mut Traffic) {
        self.counts.checks += 1;
        self.rates = traffic.rates(now);
        self.begin_anew(now, traffic);
        let phase = if share <= self.config.first_threshold.get() {
            0
        } else if share >= self.config.second_threshold.get() {
            2
        } else {
            1
        };
        self.stays.note(now, phase);
        if self.config.counting == Counting::Plain && self.is_within(now, self.config.rate_window) {
            return;
        }
        match phase {
            0 => self.observe(now, traffic),
            1 => {
                self.miss(packets);
                let hold = match self.config.hold {
                    Hold::Window => self.config.rate_window,
                    Hold::Observe => self.observe,
                    Hold::None => Duration::ZERO,
                };
                let behind = self.rates.tcp_sessions > 0 && self.rates.multicast < self.rates.tcp;
                if behind && !self.is_within(now, hold) {
                    self.release(now, traffic);
                }
            }
            _ => {
                self.observed = None;
                let Rates { tcp_sessions, tcp, multicast } = self.rates;
                if tcp_sessions == 0 || multicast - tcp > self.config.block * tcp {
                    self.block(now, traffic);
                }
            }
        }
    }

    /// T_observe begins anew when sessions come or go, when the link changes, and after a time without a block.
    fn begin_anew(&mut self, now: Instant, traffic: &Traffic) {
        let present = traffic.present(now);
        let quiet = now.since(self.quiet_since) >= self.config.quiet;
        if std::mem::take(&mut self.link_changed) || quiet || present != self.present {
            self.observe = self.config.observe;
            self.quiet_since = now;
            self.present = present;
        }
    }

    fn is_within(&self, now: Instant, time: Duration) -> bool {
        self.changed.is_some_and(|changed| now.since(changed) < time)
    }

    fn observe(&mut self, now: Instant, traffic: &mut Traffic) {
        let since = *self.observed.get_or_insert(now);
        if now.since(since) >= self.observe {
            self.release(now, traffic);
            self.observed = Some(now);
            self.missed = 0;
        }
    }

    /// A few packets, a few times, do not end the observation.
    fn miss(&mut self, packets: u64) {
        if packets <= 2 && self.observed.is_some() && self.missed < self.config.misses {
            self.missed += 1;
        } else {
            (self.observed, self.missed) = (None, 0);
        }
    }

    fn release(&mut self, now: Instant, traffic: &mut Traffic) {
        if traffic.release(now) {
            self.counts.releases += 1;
            self.lengthen(self.config.slow_down);
            self.released_last = true;
            self.changed = Some(now);
        }
    }

    fn block(&mut self, now: Instant, traffic: &mut Traffic) {
        if traffic.block(now) {
            self.counts.blocks += 1;
            if self.released_last {
                self.lengthen(self.config.back_off);
            }
            self.released_last = false;
            self.changed = Some(now);
            self.quiet_since = now;
        }
    }

    fn lengthen(&mut self, factor: f64) {
        self.observe = self.observe.mul_f64(factor).min(self.config.most_observe.max(self.config.observe));
    }

    /// Shows its state and totals.
    pub fn sample(&self, probe: &mut dyn Probe) {
        let window = self.config.rate_window.as_secs_f64();
        probe.value("phase", (self.stays.phase + 1) as f64);
        probe.value("observe_s", self.observe.as_secs_f64());
        probe.value("tcp_packets_per_s", self.rates.tcp / window);
        probe.value("multicast_packets_per_s", self.rates.multicast / window);
        probe.value("checks", self.counts.checks as f64);
        probe.value("releases", self.counts.releases as f64);
        probe.value("blocks", self.counts.blocks as f64);
        let names = [
            ("phase_1_s", "longest_phase_1_s"),
            ("phase_2_s", "longest_phase_2_s"),
            ("phase_3_s", "longest_phase_3_s"),
        ];
        for (n, (total, longest)) in names.into_iter().enumerate() {
            probe.value(total, self.stays.total[n].as_secs_f64());
            probe.value(longest, self.stays.longest[n].as_secs_f64());
        }
        probe.distribution("phase_3_ms", 1e-6, &self.stays.of_phase_3);
    }
}
