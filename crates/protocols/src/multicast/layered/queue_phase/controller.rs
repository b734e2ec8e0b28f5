//! When a layer is blocked or released: the phases of the queue, and the adaptations of §II.B.6 of the paper.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::observe::{Histogram, Probe};

use super::config::{Config, Counting, Hold};
use super::traffic::{Rates, Traffic};

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
    /// When this stay began, and when the queue was last looked at.
    since: Option<Instant>,
    seen: Instant,
    /// Whether it has overflowed in this stay in phase 3, or on the way there.
    overflowed: bool,
    total: [Duration; 3],
    longest: [Duration; 3],
    of_phase_3: Histogram,
    overflowed_of_phase_3: Histogram,
}

impl Stays {
    /// The queue is in this phase, 0 to 2, now.
    fn note(&mut self, now: Instant, phase: usize) {
        let since = *self.since.get_or_insert(now);
        if since < now {
            let stay = now.since(since);
            self.total[self.phase] += now.since(self.seen);
            self.longest[self.phase] = self.longest[self.phase].max(stay);
            if phase != self.phase && self.phase == 2 {
                self.of_phase_3.add(stay.as_nanos());
                if self.overflowed {
                    self.overflowed_of_phase_3.add(stay.as_nanos());
                }
            }
        }
        if phase != self.phase {
            (self.phase, self.since) = (phase, Some(now));
        }
        self.overflowed &= phase == 2;
        self.seen = now;
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

    /// The queue has overflowed.
    pub fn on_overflow(&mut self) {
        self.stays.overflowed = true;
    }

    /// Looks at the queue: its backlog as a share of its limit, and in packets.
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
        probe.distribution("overflowed_phase_3_ms", 1e-6, &self.stays.overflowed_of_phase_3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::net::packet::{Address, FlowId, GroupId, Header, NodeId, Packet, TcpHeader};

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn layer(group: u32) -> Packet {
        Packet { to: Address::Group(GroupId(group)), flow: FlowId(1), size: 1000, ..Packet::vacant() }
    }

    /// A session with this number of layers, all arriving, of which all but the first are blocked.
    fn blocked(layers: u32, config: &Config) -> Traffic {
        let mut traffic = Traffic::new(config);
        for group in 0..layers {
            traffic.arrives(at(0), &layer(group));
        }
        while traffic.block(at(0)) {}
        traffic
    }

    /// When layers are released while the queue stays empty, in seconds.
    fn releases(config: Config, layers: u32, seconds: u64) -> Vec<f64> {
        let mut traffic = blocked(layers, &config);
        let mut controller = Controller::new(config);
        let mut times = Vec::new();
        for check in 0..seconds * 50 {
            let now = at(check * 20);
            (0..layers).for_each(|group| {
                traffic.arrives(now, &layer(group));
            });
            // The first one is all that passes: the set of sessions stays the same.
            traffic.leaves(now, &layer(0));
            traffic.expire(now);
            let before = controller.counts.releases;
            controller.check(now, 0.0, 0, &mut traffic);
            if controller.counts.releases > before {
                times.push(now.as_secs_f64());
            }
        }
        times
    }

    fn tcp() -> Packet {
        let header = Header::Tcp(TcpHeader { payload: 1000, ..TcpHeader::default() });
        Packet { to: Address::Node(NodeId(9)), flow: FlowId(2), size: 1000, header, ..Packet::vacant() }
    }

    /// When layers are released, in seconds, in the loop of §II.B.6: with one of two layers of 10 packets/s a session has less than TCP's
    /// 15 packets/s, so that "a layer is released. The queue may then enter phase 3"; with both it has a third more, "so a layer may be
    /// blocked in phase 3. Then, the queue falls back to phase 2".
    fn loops(config: Config, seconds: u64) -> Vec<f64> {
        let mut traffic = Traffic::new(&config);
        let mut controller = Controller::new(config);
        let (mut times, mut share) = (Vec::new(), 0.5);
        for check in 0..seconds * 50 {
            let now = at(check * 20);
            for group in (0..2).filter(|_| check % 5 == 0) {
                if !traffic.arrives(now, &layer(group)) {
                    traffic.leaves(now, &layer(group));
                }
            }
            if check * 15 / 50 != (check + 1) * 15 / 50 {
                traffic.leaves(now, &tcp());
            }
            traffic.expire(now);
            if check == 5 * 50 {
                traffic.block(now);
            }
            if check <= 5 * 50 {
                continue;
            }
            let [releases, blocks] = [controller.counts.releases, controller.counts.blocks];
            controller.check(now, share, 10, &mut traffic);
            if controller.counts.releases > releases {
                times.push(now.as_secs_f64());
                share = 0.9;
            } else if controller.counts.blocks > blocks {
                share = 0.5;
            }
        }
        times
    }

    /// §II.B.6: "This process repeats forever if no precautions are taken. […] To avoid various kinds of layer fluctuation", T_observe "for
    /// the next layer release is increased by a factor" with each release, and "by another factor" "when a layer is blocked right
    /// after a layer is released": by 1.5·4 in each round of the loop. So 6, 36 and 216 s pass between releases, and without the precautions
    /// two checks.
    #[test]
    fn the_loop_of_release_and_block_slows_down() {
        let gaps = |config| -> Vec<f64> { loops(config, 300).windows(2).map(|pair| pair[1] - pair[0]).collect() };
        let never = Duration::from_secs(100_000);
        let slowed = gaps(Config { quiet: never, most_observe: never, ..Config::default() });
        assert_eq!(slowed.len(), 3, "{slowed:?}");
        for (gap, expected) in slowed.iter().zip([6.0, 36.0, 216.0]) {
            // The time runs from the block, one check after the release, and ends with a check.
            assert!((gap - expected - 0.02).abs() < 0.021, "{slowed:?}");
        }
        let forever = gaps(Config { hold: Hold::None, ..Config::default() });
        assert!(forever.len() > 5_000 && forever.iter().all(|gap| *gap < 0.041), "{forever:?}");
    }

    /// Time counts to the phase in which the queue was seen last; a stay in phase 3 counts when it ends.
    #[test]
    fn stays_are_measured_from_check_to_check() {
        let mut stays = Stays::default();
        let [phase_1, phase_2, phase_3] = [0, 1, 2];
        for (ms, overflows, phase) in [
            (0, false, phase_2),
            (20, true, phase_3),
            (40, false, phase_3),
            (60, false, phase_2),
            (80, false, phase_3),
            (100, false, phase_2),
            (120, false, phase_1),
            (200, false, phase_1),
        ] {
            stays.overflowed |= overflows;
            stays.note(at(ms), phase);
        }
        assert_eq!(stays.total.map(|total| total.as_nanos() / 1_000_000), [80, 60, 60]);
        assert_eq!(stays.longest.map(|longest| longest.as_nanos() / 1_000_000), [80, 20, 40]);
        assert_eq!((stays.of_phase_3.len(), stays.overflowed_of_phase_3.len()), (2, 1));
    }

    /// Σ 1.5ᵏ = (1.5ⁿ − 1)/0.5: 1, 2.5, 4.75 … and the 14th after 582 s.
    #[test]
    fn releases_slow_down_by_half_each() {
        let never = Duration::from_secs(100_000);
        let times = releases(Config { quiet: never, most_observe: never, ..Config::default() }, 20, 600);
        assert_eq!(times.len(), 14);
        for (n, time) in times.iter().enumerate() {
            let expected = (libm::pow(1.5, n as f64 + 1.0) - 1.0) / 0.5;
            // Each time is rounded up to a check.
            assert!((time - expected).abs() < 0.02 * (n as f64 + 2.0), "{times:?}");
        }
    }

    #[test]
    fn after_a_minute_without_a_block_it_begins_anew() {
        let times = releases(Config::default(), 40, 130);
        let within = |from: f64, to: f64| times.iter().filter(|time| (from..to).contains(*time)).count();
        // 1, 2.5, 4.75, 8.1, 13.2, 20.8, 32.2, 49.3 s; the next one would be at 74.9 s.
        assert_eq!(within(0.0, 60.0), 8, "{times:?}");
        assert!(within(60.0, 65.0) >= 2, "{times:?}");
    }

    /// Blocked is the highest layer, released the lowest; the first one is never blocked.
    #[test]
    fn layers_go_and_come_by_priority() {
        let config = Config::default();
        let mut traffic = blocked(3, &config);
        let passes = |traffic: &mut Traffic| [0, 1, 2].map(|group| !traffic.arrives(at(1), &layer(group)));
        assert_eq!(passes(&mut traffic), [true, false, false]);
        assert!(traffic.release(at(1)));
        assert_eq!(passes(&mut traffic), [true, true, false]);
        assert!(traffic.release(at(1)) && !traffic.release(at(1)));
        assert!(traffic.block(at(1)));
        assert_eq!(passes(&mut traffic), [true, true, false]);
        // A layer that arrives for the first time waits, since a layer of its session was blocked.
        assert!(traffic.arrives(at(1), &layer(3)));
        assert_eq!(traffic.waiting_layers(), 2);
        // Pruned above, layer 2 does not come any more.
        traffic.arrives(at(2_000), &layer(0));
        traffic.arrives(at(3_000), &layer(3));
        traffic.expire(at(3_000));
        assert_eq!(traffic.waiting_layers(), 1);
    }

    /// A block right after a release lengthens the observation fourfold, another one does not.
    #[test]
    fn a_block_after_a_release_backs_off() {
        let config = Config::default();
        let mut traffic = blocked(5, &config);
        let mut controller = Controller::new(config);
        controller.release(at(0), &mut traffic);
        assert_eq!(controller.observe, Duration::from_millis(1_500));
        controller.release(at(0), &mut traffic);
        controller.block(at(0), &mut traffic);
        assert_eq!(controller.observe, Duration::from_millis(9_000));
        controller.block(at(0), &mut traffic);
        assert_eq!(controller.observe, Duration::from_millis(9_000));
    }
}
