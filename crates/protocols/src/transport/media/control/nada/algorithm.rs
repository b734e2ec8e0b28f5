//! The reference rate (RFC 8698 §4).

use lasthop_net::engine::{Duration, Instant};

use super::history::{History, Packet, RateAndRatios};
use super::{Config, DELTA};

/// RMIN and RMAX, bit/s.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// RMIN.
    pub min: f64,
    /// RMAX.
    pub max: f64,
}

/// NADA at a sender: packets that arrived go in, in the order of their numbers, and [`Nada::update`] makes r_ref of them.
#[derive(Clone, Debug)]
pub struct Nada {
    prio: f64,
    /// XREF, ms.
    xref: f64,
    bounds: Bounds,
    history: History,
    /// r_ref, bit/s.
    r_ref: f64,
    /// x_curr, ms.
    x_curr: f64,
    /// d_queue, and the round-trip time, as of the last update.
    queue_ns: u64,
    rtt: Duration,
    /// r_recv, bit/s, and what was lost of the packets in the window, as of the last update.
    r_recv: f64,
    lost: u64,
    p_loss: f64,
    p_mark: f64,
    /// Loss intervals as of the last update.
    intervals: Option<(f64, f64)>,
    /// Whether x_curr is of this path: the first of a new one has nothing to be compared with.
    comparable: bool,
    last_update: Option<Instant>,
}

impl Nada {
    /// At the start of a flow, at `r_ref` bit/s.
    pub fn new(config: Config, bounds: Bounds, r_ref: f64) -> Self {
        Self {
            prio: config.prio,
            xref: config.xref_ms,
            bounds,
            history: History::default(),
            r_ref,
            x_curr: 0.0,
            queue_ns: 0,
            rtt: Duration::ZERO,
            r_recv: 0.0,
            lost: 0,
            p_loss: 0.0,
            p_mark: 0.0,
            intervals: None,
            comparable: true,
            last_update: None,
        }
    }

    /// A packet has left: time between updates counts from the first one.
    pub fn begin(&mut self, now: Instant) {
        self.last_update.get_or_insert(now);
    }

    /// How long ago r_ref was updated last; `None` before the first packet.
    pub fn since_update(&self, now: Instant) -> Option<Duration> {
        self.last_update.map(|last| now.since(last))
    }

    /// A report says that this packet arrived. One behind a later one counts as lost (§5.1.2).
    pub fn on_arrival(&mut self, packet: &Packet) {
        self.history.add(packet);
    }

    /// Computes x_curr and r_ref anew (§4.2, §4.3).
    pub fn update(&mut self, now: Instant) {
        let delta = self.since_update(now).unwrap_or(Duration::ZERO).as_secs_f64() * 1e3;
        self.last_update = Some(now);
        let Some(queue) = self.history.queue_ns() else {
            // No packet of this path has arrived: there is nothing to follow.
            return;
        };
        self.queue_ns = queue;
        self.rtt = self.history.rtt().unwrap_or(self.rtt);
        if let Some(RateAndRatios { rate, lost, loss, marks }) = self.history.rate_and_ratios() {
            self.r_recv = rate.unwrap_or(self.r_recv);
            self.lost = lost;
            // Equation 10, and the same for marks (§5.1.3).
            self.p_loss += ALPHA * (loss - self.p_loss);
            self.p_mark += ALPHA * (marks - self.p_mark);
        }
        self.intervals = self.history.loss_intervals();
        let x_prev = self.x_curr;
        self.x_curr = self.signal(self.queue_ns);
        let difference = if self.comparable { self.x_curr - x_prev } else { 0.0 };
        self.comparable = true;
        if self.is_gradual() {
            self.update_gradually(delta, difference);
        } else {
            self.r_ref = self.r_ref.max((1.0 + gamma(self.rtt)) * self.r_recv);
        }
        self.r_ref = self.r_ref.min(self.bounds.max).max(self.bounds.min);
    }

    /// Delays of the path up to now are void: base delay, delays and round-trip times of packets sent before it, and the congestion signal,
    /// with which the first one of the new path is not compared. Rate, loss intervals and ratios stay.
    pub fn forget_path(&mut self, now: Instant) {
        self.history.forget_delays(now);
        self.queue_ns = 0;
        self.comparable = false;
    }

    /// x_curr, ms (equation 2), at this queueing delay.
    fn signal(&self, queue_ns: u64) -> f64 {
        let delay = queue_ns as f64 / 1e6;
        let perceived = match self.intervals {
            None => delay,
            Some((average, current)) => {
                let warped = if queue_ns / NS_PER_MS > QTH as u64 { warped(delay) } else { delay };
                // From 0 while the last loss is recent to 1 when it has expired.
                let expired = ((current - MULTILOSS * average) / average).clamp(0.0, 1.0);
                expired * delay + (1.0 - expired) * warped
            }
        };
        (perceived + penalties(self.p_mark, self.p_loss)).min(X_MAX)
    }

    /// Equations 5 to 7; `delta` and `difference` (x_diff) in ms.
    fn update_gradually(&mut self, delta: f64, difference: f64) {
        let offset = self.x_curr - self.prio * self.xref * self.bounds.max / self.r_ref;
        self.r_ref -=
            KAPPA * (delta / TAU) * (offset / TAU) * self.r_ref + KAPPA * ETA * (difference / TAU) * self.r_ref;
    }

    /// RMIN and RMAX.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// r_ref, bit/s.
    pub fn r_ref(&self) -> f64 {
        self.r_ref
    }

    /// x_curr, ms.
    pub fn x_curr(&self) -> f64 {
        self.x_curr
    }

    /// d_queue at the last update, ns.
    pub fn queue_ns(&self) -> u64 {
        self.queue_ns
    }

    /// The round-trip time at the last update.
    pub fn rtt(&self) -> Duration {
        self.rtt
    }

    /// r_recv, bit/s.
    pub fn r_recv(&self) -> f64 {
        self.r_recv
    }

    /// p_loss.
    pub fn p_loss(&self) -> f64 {
        self.p_loss
    }

    /// p_mark.
    pub fn p_mark(&self) -> f64 {
        self.p_mark
    }

    /// Packets that were lost in the window of the last update.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The mean of the loss intervals, and the present one, in packets, at the last update; `None` before the first loss.
    pub fn loss_intervals(&self) -> Option<(f64, f64)> {
        self.intervals
    }

    /// rmode: whether an update now is gradual, and not accelerated ramp-up.
    pub fn is_gradual(&self) -> bool {
        // §4.2 names losses alone; a mark is to be answered to as they are (RFC 3168 §5).
        self.lost > 0 || self.history.has_marks() || self.history.exceeds(QEPS)
    }

    #[cfg(test)]
    pub(super) fn at(mut self, x_prev: f64, x_curr: f64) -> Self {
        self.x_curr = x_curr;
        self.update_gradually(100.0, x_curr - x_prev);
        self
    }
}

/// d_tilde, ms, of a queueing delay above QTH (equation 1).
pub(super) fn warped(delay: f64) -> f64 {
    QTH * libm::exp(-LAMBDA * (delay - QTH) / QTH)
}

/// What marks and losses add to the delay, ms (equation 2).
pub(super) fn penalties(p_mark: f64, p_loss: f64) -> f64 {
    let (marks, losses) = (p_mark / PMRREF, p_loss / PLRREF);
    DMARK * marks * marks + DLOSS * losses * losses
}

/// γ (equation 3).
pub(super) fn gamma(rtt: Duration) -> f64 {
    let bound = (rtt.as_nanos() + DELTA.as_nanos() + DFILT.as_nanos()) / NS_PER_MS;
    (QBOUND / bound as f64).min(GAMMA_MAX)
}

const NS_PER_MS: u64 = 1_000_000;

// Table 2, in its order; times in ms.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU: f64 = 500.0;
const QEPS: Duration = Duration::from_millis(10);
const DFILT: Duration = Duration::from_millis(120);
const GAMMA_MAX: f64 = 0.5;
const QBOUND: f64 = 50.0;
const MULTILOSS: f64 = 7.0;
const QTH: f64 = 50.0;
const LAMBDA: f64 = 0.5;
const PLRREF: f64 = 0.01;
const PMRREF: f64 = 0.01;
const DLOSS: f64 = 10.0;
const DMARK: f64 = 2.0;
const ALPHA: f64 = 0.1;
/// The greatest congestion signal, ms (ns3-rmcat; RFC 8698 has no bound).
const X_MAX: f64 = 500.0;
