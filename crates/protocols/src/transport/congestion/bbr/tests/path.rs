//! One sender, one bottleneck with a queue, an acknowledgement for each segment: what the draft's test cases call a controlled path.
//! Lost segments count as sent again at once. Losses are detected by three later segments (RFC 9002 §6.1.1), or by a timer of a second.

use std::collections::VecDeque;

use super::super::*;
use crate::transport::congestion::Begun;
use crate::transport::tcp::delivery::Delivery;

/// SMSS of the tests: full segments, without headers.
pub(super) const S: u64 = 1_200;

/// An unlimited application.
pub(super) const GREEDY: f64 = f64::INFINITY;

pub(super) fn seat(sack: bool) -> EndpointContext {
    EndpointContext {
        smss: S as u32,
        header: 0,
        options: 0,
        initial_window: 10 * S,
        initial_ssthresh: u64::MAX,
        sack,
        flow: 0,
        seed: 1,
        begun: Begun::default(),
    }
}

pub(super) fn mbps(rate: f64) -> f64 {
    rate * 1e6 / 8.0
}

pub(super) struct Path {
    pub(super) bbr: Bbr,
    pub(super) now: Instant,
    /// The bottleneck, bytes/s, and its buffer.
    pub(super) rate: f64,
    pub(super) buffer: u64,
    /// The round-trip propagation delay.
    pub(super) delay: Duration,
    /// Bytes per second that the application writes from now on.
    app: f64,
    app_since: Instant,
    app_left: f64,
    /// Whether the path loses this transmission in front of the queue.
    pub(super) lose: Box<dyn FnMut(u64) -> bool>,
    /// Acknowledgements come together at multiples of this.
    pub(super) batch: Option<Duration>,
    /// Every change of the state, with its time.
    pub(super) states: Vec<(f64, State)>,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) sent: u64,
    delivery: Delivery,
    in_flight: u64,
    /// Outstanding transmissions by number, from `first` on: whether each is.
    first: u64,
    outstanding: VecDeque<bool>,
    queue: VecDeque<u64>,
    in_service: Option<(Instant, u64)>,
    acks: VecDeque<(Instant, u64)>,
    release: Instant,
    timer: Instant,
    srtt: Duration,
    full_to: u64,
    recover: u64,
    timed_out_to: u64,
}

impl Path {
    /// A path of this many Mbit/s and milliseconds, with a buffer in bytes.
    pub(super) fn new(rate: f64, rtt_ms: u64, buffer: u64) -> Self {
        Self::with(Config::default(), &seat(true), rate, rtt_ms, buffer)
    }

    pub(super) fn with(config: Config, seat: &EndpointContext, rate: f64, rtt_ms: u64, buffer: u64) -> Self {
        Self {
            bbr: Bbr::new(config, seat),
            now: Instant::ZERO,
            rate: mbps(rate),
            buffer,
            delay: Duration::from_millis(rtt_ms),
            app: GREEDY,
            app_since: Instant::ZERO,
            app_left: 0.0,
            lose: Box::new(|_| false),
            batch: None,
            states: vec![(0.0, State::Startup)],
            delivered: 0,
            lost: 0,
            sent: 0,
            delivery: Delivery::new(true),
            in_flight: 0,
            first: 0,
            outstanding: VecDeque::new(),
            queue: VecDeque::new(),
            in_service: None,
            acks: VecDeque::new(),
            release: Instant::ZERO,
            timer: Instant::MAX,
            srtt: Duration::ZERO,
            full_to: 0,
            recover: 0,
            timed_out_to: 0,
        }
    }

    /// From now on the application writes this many Mbit/s.
    pub(super) fn application(&mut self, rate: f64) {
        (self.app, self.app_since, self.app_left) = (mbps(rate), self.now, 0.0);
    }

    pub(super) fn seconds(&self) -> f64 {
        self.now.as_secs_f64()
    }

    pub(super) fn state(&self) -> State {
        self.bbr.state
    }

    /// Runs until `done`, for at most this many seconds. Says whether that came.
    pub(super) fn run(&mut self, most: f64, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + Duration::from_secs_f64(most);
        while !done(self) {
            if !self.step(end) {
                self.now = end;
                return false;
            }
        }
        true
    }

    /// Runs into this state.
    pub(super) fn enter(&mut self, state: State, most: f64) {
        assert!(self.run(most, |path| path.state() == state), "no {state:?} until {:?}: {:?}", self.now, self.states);
    }

    /// Runs this many seconds; says how many bytes per second were delivered in them.
    pub(super) fn goodput(&mut self, seconds: f64) -> f64 {
        let before = self.delivered;
        self.run(seconds, |_| false);
        (self.delivered - before) as f64 / seconds
    }

    /// When the application has a segment to send.
    fn ready(&self) -> Instant {
        if self.app == GREEDY {
            return self.now;
        }
        let missing = S as f64 - self.app_left;
        if missing <= 0.0 {
            return self.now;
        }
        if self.app <= 0.0 { Instant::MAX } else { self.app_since + Duration::from_secs_f64(missing / self.app) }
    }

    /// One event before `end`, if there is one.
    fn step(&mut self, end: Instant) -> bool {
        let room = self.in_flight + S <= self.bbr.cwnd;
        if !room {
            self.full_to = self.first + self.outstanding.len() as u64;
        }
        let ready = self.ready();
        let send = if room { ready.max(self.release).max(self.now) } else { Instant::MAX };
        if room && ready > self.now && self.release <= self.now {
            self.delivery.on_app_limited(self.in_flight);
        }
        let served = self.in_service.map_or(Instant::MAX, |(at, _)| at);
        let acked = self.acks.front().map_or(Instant::MAX, |(at, _)| *at);
        // The pacer lets go before the application writes: that is when it is seen to be the limit.
        let released = if room && self.release > self.now { self.release } else { Instant::MAX };
        let at = send.min(served).min(acked).min(self.timer).min(released);
        if at >= end {
            return false;
        }
        self.now = self.now.max(at);
        if at == acked {
            self.on_acks();
        } else if at == served {
            self.serve();
        } else if at == send {
            self.send();
        } else if at == self.timer {
            self.on_timer();
        }
        if self.states.last().is_none_or(|(_, last)| *last != self.bbr.state) {
            self.states.push((self.seconds(), self.bbr.state));
        }
        true
    }

    fn send(&mut self) {
        let id = self.first + self.outstanding.len() as u64;
        if self.app < GREEDY {
            // Written since the last look, less the segment that leaves.
            self.app_left += self.app * self.now.since(self.app_since).as_secs_f64() - S as f64;
            self.app_since = self.now;
        }
        let idle = self.in_flight == 0;
        self.in_flight += S;
        self.delivery.on_send(self.now, id, idle, self.in_flight, self.lost);
        self.outstanding.push_back(true);
        self.sent += 1;
        let app_limited = self.delivery.is_app_limited();
        let rto = Duration::from_secs(1);
        let (now, in_flight, srtt) = (self.now, self.in_flight, self.srtt);
        self.bbr.on_sent(&Sent { now, bytes: S, in_flight, more: self.app == GREEDY, app_limited, srtt, rto });
        let rate = self.bbr.pacing_rate().unwrap().as_bps() as f64 / 8.0;
        self.release = self.release.max(self.now) + Duration::from_secs_f64(S as f64 / rate);
        if self.timer == Instant::MAX {
            self.timer = self.now + rto;
        }
        if (self.lose)(id) || self.queue.len() as u64 * S + S > self.buffer {
            return;
        }
        self.queue.push_back(id);
        if self.in_service.is_none() {
            self.next();
        }
    }

    fn next(&mut self) {
        let service = Duration::from_secs_f64(S as f64 / self.rate);
        self.in_service = self.queue.pop_front().map(|id| (self.now + service, id));
    }

    fn serve(&mut self) {
        let (_, id) = self.in_service.expect("one is served");
        let mut at = self.now + self.delay;
        if let Some(batch) = self.batch {
            at = Instant::from_nanos(at.as_nanos().div_ceil(batch.as_nanos()) * batch.as_nanos());
        }
        let last = self.acks.back().map_or(Instant::ZERO, |(at, _)| *at);
        self.acks.push_back((at.max(last), id));
        self.next();
    }

    fn is_outstanding(&self, id: u64) -> bool {
        id >= self.first && self.outstanding[(id - self.first) as usize]
    }

    /// The acknowledgements of this instant: one, or a batch.
    fn on_acks(&mut self) {
        while self.acks.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, id) = self.acks.pop_front().expect("it is due");
            if self.is_outstanding(id) {
                self.on_ack(id);
            }
        }
    }

    fn on_ack(&mut self, id: u64) {
        let prior_in_flight = self.in_flight;
        let record = self.delivery.record(id).expect("it is in flight");
        let rtt = self.now.since(record.sent_at);
        self.srtt = if self.srtt == Duration::ZERO {
            rtt
        } else {
            Duration::from_nanos((7 * self.srtt.as_nanos() + rtt.as_nanos()) / 8)
        };
        self.outstanding[(id - self.first) as usize] = false;
        self.in_flight -= S;
        self.delivered += S;
        let window_limited = self.first < self.full_to;
        let was_recovering = self.first < self.recover;
        let lost_before = self.lost;
        for old in self.first..id.saturating_sub(2) {
            self.on_loss(old, S);
        }
        while self.outstanding.front() == Some(&false) {
            self.outstanding.pop_front();
            self.first += 1;
        }
        self.timer = if self.outstanding.is_empty() { Instant::MAX } else { self.now + Duration::from_secs(1) };
        let rate = self.delivery.on_ack(self.now, S, id, self.first, self.lost, Some(rtt));
        self.bbr.on_ack(&AckSample {
            now: self.now,
            acked: S,
            lost: self.lost - lost_before,
            prior_in_flight,
            in_flight: self.in_flight,
            rtt: Some(rtt),
            srtt: self.srtt,
            delivered: self.delivery.bytes(),
            rate,
            ack_every: 1,
            window_limited,
            recovering: was_recovering || self.first < self.recover,
            after_timeout: self.first < self.timed_out_to,
            ..AckSample::default()
        });
        if self.bbr.holds_back() {
            self.delivery.on_app_limited(self.in_flight);
        }
    }

    /// The transmission is taken for lost, if it is outstanding; `newly` bytes of this acknowledgement are not counted yet.
    fn on_loss(&mut self, id: u64, newly: u64) {
        if !self.is_outstanding(id) {
            return;
        }
        let next = self.first + self.outstanding.len() as u64;
        if self.first >= self.recover && newly > 0 {
            self.recover = next;
            let (now, kind) = (self.now, CongestionKind::Loss);
            self.bbr.on_congestion(&CongestionEvent {
                now,
                kind,
                flight: self.in_flight,
                lost: self.lost,
                resent: false,
            });
        }
        let record = self.delivery.record(id).expect("it is in flight");
        self.outstanding[(id - self.first) as usize] = false;
        self.in_flight -= S;
        self.lost += S;
        let delivered = self.delivery.bytes() + newly;
        self.bbr.on_lost(&LostSegment { now: self.now, start: id * S, bytes: S, lost: self.lost, delivered, record });
    }

    /// A second has passed without an acknowledgement: everything outstanding is lost.
    fn on_timer(&mut self) {
        let next = self.first + self.outstanding.len() as u64;
        let flight = self.in_flight;
        for id in self.first..next {
            self.on_loss(id, 0);
        }
        self.outstanding.clear();
        self.first = next;
        self.delivery.on_ack(self.now, 0, next, next, self.lost, None);
        // As many are sent again.
        self.timed_out_to = next + flight / S;
        self.bbr.on_timeout(self.now, flight, false);
        (self.timer, self.release) = (Instant::MAX, self.now);
    }
}
