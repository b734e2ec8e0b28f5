//! The sender's rate (RFC 5348 §4): what a report does to it, and what the lack of one does. It
//! never sees a packet.

use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::Direction;

use super::config::{SlowStartLimit, Version};
use super::equation;

/// The longest time between two packets, seconds (§4.3, t_mbi).
const MAX_BACK_OFF: f64 = 64.0;
/// How much longer the way may have become by a handover.
const HANDOVER_STRETCH: f64 = 2.0;

/// What the control needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Payload of a full packet, bytes (s).
    pub segment: f64,
    /// Its header bytes.
    pub header: f64,
    /// Which standard.
    pub version: Version,
    /// The weight of the old round-trip time.
    pub rtt_weight: f64,
    /// Whether the interval follows the last round-trip time (§4.5).
    pub damping: bool,
    /// The initial window in packets, if it is not the version's.
    pub initial_window: Option<u32>,
    /// What limits the rate until the first loss.
    pub slow_start_limit: SlowStartLimit,
}

/// What a report says.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// When the packet was sent that the receiver got last.
    pub echo: Instant,
    /// How long the receiver held the report back.
    pub delay: Duration,
    /// The rate of reception, bytes per second.
    pub rate: f64,
    /// The loss event rate.
    pub p: f64,
    /// Whether a loss event began since the last report.
    pub new_loss: bool,
}

/// What a receiver tells of a handover.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notification {
    /// Where it leads.
    pub direction: Direction,
    /// The rate of the new link.
    pub hint: Option<BitRate>,
}

/// The allowed rate.
#[derive(Clone, Debug)]
pub struct Control {
    parameters: Parameters,
    /// The allowed rate, bytes per second (X).
    x: f64,
    /// The round-trip time in seconds (R), and the mean of square roots (R_sqmean) over that of
    /// the last sample.
    rtt: Option<f64>,
    sqrt_mean: f64,
    ratio: f64,
    /// Rates of reception with their times: those of two round trips (X_recv_set).
    received: Vec<(Instant, f64)>,
    /// Rates that were allowed, each from when on: for as long as reports may tell of them.
    allowed: Vec<(Instant, f64)>,
    p: f64,
    /// When the rate was doubled last (tld).
    doubled_at: Instant,
    /// When the no-feedback timer expires, if it is set.
    pub no_feedback_at: Option<Instant>,
    /// Whether nothing was sent since it was set.
    idle: bool,
    coverage: Coverage,
    /// After a handover: reports of packets sent before it count for nothing.
    reset_at: Option<Instant>,
    /// When a handover made it start anew last.
    restarted_at: Option<Instant>,
    /// No faster than this before the first loss after a handover.
    cap: f64,
    /// How often the no-feedback timer expired.
    pub expiries: u64,
    /// How often a handover made it start anew.
    pub restarts: u64,
}

/// Whether the sender lacked data for all of the time that a report covers (§8.2.1).
#[derive(Clone, Copy, Debug, Default)]
struct Coverage {
    /// When the time began that the next report covers, and the one after it.
    since: Instant,
    next: Instant,
    /// The first instants in them at which it sent all that it was allowed to.
    busy: [Option<Instant>; 2],
}

impl Coverage {
    fn sent_all(&mut self, now: Instant) {
        if self.busy[0].is_none() {
            self.busy[0] = Some(now);
        } else if self.busy[1].is_none() && now > self.next {
            self.busy[1] = Some(now);
        }
    }

    /// A report covers the time until `echo`. Says whether the sender lacked data for all of it.
    fn close(&mut self, now: Instant, echo: Instant) -> bool {
        let limited = self.busy[0].is_none_or(|at| at > echo);
        self.since = echo;
        self.next = now;
        self.busy = match self.busy {
            [Some(first), _] if first > echo => [Some(first), None],
            [_, second] => [second.filter(|at| *at > echo), None],
        };
        limited
    }
}

impl Control {
    /// One packet for each second, until the first report (§4.2).
    pub fn new(parameters: Parameters) -> Self {
        Self {
            x: parameters.segment,
            rtt: None,
            sqrt_mean: 1.0,
            ratio: 1.0,
            received: Vec::with_capacity(8),
            allowed: Vec::new(),
            p: 0.0,
            doubled_at: Instant::ZERO,
            no_feedback_at: None,
            idle: true,
            coverage: Coverage::default(),
            reset_at: None,
            restarted_at: None,
            cap: f64::INFINITY,
            expiries: 0,
            restarts: 0,
            parameters,
        }
    }

    /// The allowed rate, bytes per second.
    pub fn rate(&self) -> f64 {
        self.x
    }

    /// The loss event rate that was reported last.
    pub fn loss_rate(&self) -> f64 {
        self.p
    }

    /// The round-trip time in seconds, once there is a sample of the present way.
    pub fn rtt(&self) -> Option<f64> {
        self.rtt.filter(|_| self.reset_at.is_none())
    }

    /// The time from a packet with this payload to the next (§4.5, §4.6).
    pub fn interval(&self, payload: u32) -> Duration {
        let rate = if self.parameters.damping { self.x * self.ratio } else { self.x };
        Duration::from_secs_f64(f64::from(payload) / rate.max(self.least()))
    }

    /// A packet is sent; `waited` says whether the rate held it back.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, waited: bool) {
        if waited {
            self.coverage.sent_all(now);
        }
        if self.no_feedback_at.is_none() {
            self.set_timer(now, self.rtt.unwrap_or(0.0));
        }
        self.idle = false;
    }

    /// A report has come (§4.3). Gives the sample of the round-trip time.
    pub fn on_report(&mut self, now: Instant, report: &Report) -> Option<Duration> {
        if self.reset_at.is_some_and(|at| report.echo < at) {
            // It lives, and no more is known of the new way.
            self.set_timer(now, self.rtt.unwrap_or(0.0) * HANDOVER_STRETCH);
            return None;
        }
        let sample = now.since(report.echo).saturating_sub(report.delay);
        let r = sample.as_secs_f64().max(1e-6);
        let unknown = self.rtt.is_none();
        let first = unknown || self.reset_at.take().is_some();
        let keep = if first { 0.0 } else { self.parameters.rtt_weight };
        let rtt = keep * self.rtt.unwrap_or(0.0) + (1.0 - keep) * r;
        self.sqrt_mean = keep * self.sqrt_mean + (1.0 - keep) * libm::sqrt(r);
        self.ratio = self.sqrt_mean / libm::sqrt(r);
        self.rtt = Some(rtt);
        let limited = self.coverage.close(now, report.echo);
        let worse = report.new_loss || report.p > self.p;
        self.p = report.p;
        if self.p > 0.0 {
            self.cap = f64::INFINITY;
        }
        if first {
            // §4.2: the rate received in the first round trip limits nothing yet.
            self.received.clear();
            self.received.push((now, f64::INFINITY));
            if unknown {
                self.doubled_at = now;
                self.x = self.initial_rate(rtt);
            }
            if self.p > 0.0 || !unknown {
                self.follow(now, f64::INFINITY);
            }
        } else {
            let limit = self.limit(now, report.rate, limited, worse);
            let unlimited = self.parameters.slow_start_limit == SlowStartLimit::Matched && self.matches(report, rtt);
            let limit = if unlimited && self.p == 0.0 { f64::INFINITY } else { limit };
            self.follow(now, limit);
        }
        if self.parameters.slow_start_limit == SlowStartLimit::Matched {
            self.allowed.push((now, self.x));
        }
        self.set_timer(now, rtt);
        Some(sample)
    }

    /// Whether the receive rate is, to a packet in a round trip, the rate allowed at the time of sending: in the round trip that ended
    /// with the packet that the report echoes.
    fn matches(&mut self, report: &Report, rtt: f64) -> bool {
        let begin = Instant::ZERO + report.echo.since(Instant::ZERO).saturating_sub(Duration::from_secs_f64(rtt));
        let old = self.allowed.iter().rposition(|(at, _)| *at <= begin).unwrap_or(0);
        self.allowed.drain(..old);
        let sent = self.allowed.first().map_or(self.x, |(_, rate)| *rate);
        // A packet more or less in a round trip is no difference; nor is the last digit of a quotient.
        report.rate + self.parameters.segment / rtt >= sent * (1.0 - 1e-9)
    }

    /// Takes a rate of reception, and gives what it limits the rate to.
    fn limit(&mut self, now: Instant, rate: f64, limited: bool, worse: bool) -> f64 {
        // A receiver that has begun anew knows of no rate before it has a round-trip time.
        if rate == 0.0 && self.restarted_at.is_some() {
            return f64::INFINITY;
        }
        if self.parameters.version == Version::Rfc3448 {
            self.received.clear();
            self.received.push((now, rate));
            return 2.0 * rate;
        }
        if limited {
            let mut rate = rate;
            if worse {
                self.received.iter_mut().for_each(|(_, old)| *old *= 0.5);
                rate *= 0.85;
            }
            // Maximize X_recv_set(): the largest alone stays, as if it were new.
            let known = self.received.iter().map(|(_, old)| *old).filter(|old| old.is_finite());
            let most = known.fold(rate, f64::max);
            self.received.clear();
            self.received.push((now, most));
            return if worse { most } else { 2.0 * most };
        }
        let old = Duration::from_secs_f64(2.0 * self.rtt.unwrap_or(0.0));
        self.received.retain(|(at, _)| now.since(*at) <= old);
        self.received.push((now, rate));
        2.0 * self.received()
    }

    /// max(X_recv_set).
    fn received(&self) -> f64 {
        self.received.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// The rate by the equation, or in slow start, within `limit`.
    fn follow(&mut self, now: Instant, limit: f64) {
        let Some(rtt) = self.rtt else { return };
        if self.p > 0.0 {
            self.x = self.fair_rate(rtt).min(limit).max(self.least());
        } else if now.since(self.doubled_at).as_secs_f64() >= rtt {
            // A known capacity guards against overshoot better than the receive rate, which
            // lags by a round trip and lets the rate double in two.
            let limit = if self.cap.is_finite() { self.cap } else { limit };
            self.x = (2.0 * self.x).min(limit).max(self.initial_rate(rtt)).min(self.cap);
            self.doubled_at = now;
        }
    }

    /// The no-feedback timer has expired (§4.4).
    pub fn on_no_feedback(&mut self, now: Instant) {
        self.expiries += 1;
        let idle = self.idle;
        match self.rtt {
            None if !idle => self.x = (0.5 * self.x).max(self.least()),
            None => {}
            Some(rtt) => {
                let recover = match self.parameters.version {
                    Version::Rfc5348 => self.initial_rate(rtt),
                    Version::Rfc3448 => 4.0 * self.parameters.segment / rtt,
                };
                let received = self.received();
                let small = if self.p > 0.0 { received < recover } else { self.x < 2.0 * recover };
                if idle && small {
                    // What an idle sender may send at once is not taken from it.
                } else if self.p == 0.0 {
                    self.x = (0.5 * self.x).max(self.least());
                } else {
                    let fair = self.fair_rate(rtt);
                    let limit = if fair > 2.0 * received { received } else { 0.5 * fair };
                    let limit = limit.max(self.least());
                    self.received.clear();
                    self.received.push((now, 0.5 * limit));
                    self.x = fair.min(limit).max(self.least());
                }
            }
        }
        self.set_timer(now, self.rtt.unwrap_or(0.0));
    }

    /// The receiver tells of a handover. Says whether the control starts anew; a second time
    /// within a second or four round trips is too soon.
    pub fn on_handover(&mut self, now: Instant, notification: Notification) -> bool {
        let Some(rtt) = self.rtt else { return false };
        let pause = Duration::from_secs_f64((4.0 * rtt).max(1.0));
        if self.restarted_at.is_some_and(|at| now.since(at) < pause) {
            return false;
        }
        self.restarted_at = Some(now);
        let Parameters { segment, header, .. } = self.parameters;
        let initial = self.initial_rate(rtt);
        let capacity = notification.hint.map(|rate| rate.as_bytes_per_s() * segment / (segment + header));
        match (notification.direction, capacity) {
            (Direction::Up, capacity) => self.cap = capacity.unwrap_or(f64::INFINITY),
            (_, Some(capacity)) => {
                self.cap = capacity;
                self.x = self.x.max(initial).min(capacity);
            }
            (_, None) => {
                self.cap = f64::INFINITY;
                self.x = self.x.min(initial);
            }
        }
        self.p = 0.0;
        self.doubled_at = now;
        self.reset_at = Some(now);
        self.ratio = 1.0;
        self.restarts += 1;
        self.set_timer(now, rtt * HANDOVER_STRETCH);
        true
    }

    /// What the equation allows (§3.1, t_RTO = 4 R).
    fn fair_rate(&self, rtt: f64) -> f64 {
        equation::throughput(self.parameters.segment, rtt, self.p, 4.0 * rtt)
    }

    /// The initial window for each round trip (§4.2, W_init); RFC 3448: one packet, unless another is stated.
    fn initial_rate(&self, rtt: f64) -> f64 {
        let s = self.parameters.segment;
        let window = match (self.parameters.initial_window, self.parameters.version) {
            (Some(packets), _) => s * f64::from(packets),
            (None, Version::Rfc5348) => (4.0 * s).min((2.0 * s).max(4380.0)),
            (None, Version::Rfc3448) => s,
        };
        window / rtt
    }

    /// One packet for each 64 seconds.
    fn least(&self) -> f64 {
        self.parameters.segment / MAX_BACK_OFF
    }

    fn set_timer(&mut self, now: Instant, rtt: f64) {
        let wait = (4.0 * rtt).max(2.0 * self.parameters.segment / self.x);
        self.no_feedback_at = Some(now + Duration::from_secs_f64(wait));
        self.idle = true;
    }
}

#[cfg(test)]
mod tests;
