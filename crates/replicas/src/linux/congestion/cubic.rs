//! CUBIC (tcp_cubic.c): the curve in ticks of the kernel and whole segments. Times are in units of 2^−10 s.

use super::super::clock::{self, HZ};
use super::super::rate::Sample;
use super::super::tcp::Tcp;
use super::hystart::HyStart;
use super::reno;

/// `BICTCP_BETA_SCALE`, and `beta` on that scale: 0.7.
const BETA_SCALE: u64 = 1_024;
const BETA: u64 = 717;
/// `bic_scale` times ten: C = 0.4 for a round-trip time of 100 ms, on a scale of 2^10.
const CUBE_RTT_SCALE: u64 = 41 * 10;
/// `BICTCP_HZ`.
const SHIFT: u32 = 10;
/// `cube_factor`.
const CUBE_FACTOR: u64 = (1 << (10 + 3 * SHIFT)) / CUBE_RTT_SCALE;
/// `beta_scale`: segments to be acknowledged until Reno's window would grow, eightfold, for each segment of the window.
const RENO_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// The controller.
#[derive(Clone, Debug)]
pub struct Cubic {
    fast_convergence: bool,
    /// How many acknowledged segments let the window grow by one (`cnt`).
    every: u64,
    last_max_cwnd: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    /// K.
    k: u64,
    /// The least delay, us; 0 before the first.
    delay_min: u64,
    /// When the stage began, ticks; `None` before.
    epoch_start: Option<u64>,
    ack_cnt: u64,
    /// The window that Reno would have (`tcp_cwnd`).
    reno_cwnd: u64,
    hystart: Option<HyStart>,
}

impl Cubic {
    /// At the start of a connection.
    pub fn new(hystart: bool, fast_convergence: bool) -> Self {
        Self {
            fast_convergence,
            every: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min: 0,
            epoch_start: None,
            ack_cnt: 0,
            reno_cwnd: 0,
            hystart: hystart.then(HyStart::default),
        }
    }

    /// `cubictcp_init`.
    pub fn begin(&mut self, tcp: &Tcp) {
        if let Some(hystart) = &mut self.hystart {
            hystart.begin_round(tcp);
        }
    }

    /// `cubictcp_recalc_ssthresh`.
    pub fn ssthresh(&mut self, tcp: &Tcp) -> u64 {
        self.epoch_start = None;
        let cwnd = tcp.snd_cwnd;
        self.last_max_cwnd = if cwnd < self.last_max_cwnd && self.fast_convergence {
            cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        (cwnd * BETA / BETA_SCALE).max(2)
    }

    /// `cubictcp_cong_avoid`.
    pub fn on_progress(&mut self, tcp: &mut Tcp, segments: u64) {
        if !tcp.is_limited() {
            return;
        }
        let rest = reno::slow_start(tcp, segments);
        if rest > 0 {
            self.update(tcp.snd_cwnd, rest, tcp.jiffies());
            reno::avoid(tcp, self.every, rest);
        }
    }

    /// `bictcp_update`.
    fn update(&mut self, cwnd: u64, segments: u64, now: u64) {
        self.ack_cnt += segments;
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        // Once a tick at most.
        if self.epoch_start.is_none() || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            self.follow_curve(cwnd, segments, now);
        }
        self.keep_up_with_reno(cwnd);
        self.every = self.every.max(2);
    }

    fn follow_curve(&mut self, cwnd: u64, segments: u64, now: u64) {
        let start = match self.epoch_start {
            Some(start) => start,
            None => {
                self.ack_cnt = segments;
                self.reno_cwnd = cwnd;
                if self.last_max_cwnd <= cwnd {
                    (self.k, self.origin) = (0, cwnd);
                } else {
                    self.k = cubic_root(CUBE_FACTOR.saturating_mul(self.last_max_cwnd - cwnd));
                    self.origin = self.last_max_cwnd;
                }
                self.epoch_start = Some(now);
                now
            }
        };
        let t = ((now - start + clock::ticks(self.delay_min)) << SHIFT) / HZ;
        let offset = u128::from(t.abs_diff(self.k));
        let delta = (u128::from(CUBE_RTT_SCALE) * offset * offset * offset) >> (10 + 3 * SHIFT);
        let delta = u64::try_from(delta).unwrap_or(u64::MAX / 2);
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        self.every = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        // Before the first loss by 5 % a round trip at least.
        if self.last_max_cwnd == 0 {
            self.every = self.every.min(20);
        }
    }

    /// `tcp_friendliness`.
    fn keep_up_with_reno(&mut self, cwnd: u64) {
        let delta = ((cwnd * RENO_SCALE) >> 3).max(1);
        if self.ack_cnt > delta {
            let steps = (self.ack_cnt - 1) / delta;
            self.ack_cnt -= steps * delta;
            self.reno_cwnd += steps;
        }
        if self.reno_cwnd > cwnd {
            self.every = self.every.min(cwnd / (self.reno_cwnd - cwnd));
        }
    }

    /// `cubictcp_acked`.
    pub fn on_acked(&mut self, tcp: &mut Tcp, sample: &Sample) {
        let Some(delay) = sample.rtt_us else { return };
        // Right after a recovery delays are those of its queue.
        if self.epoch_start.is_some_and(|start| tcp.jiffies() - start < HZ) {
            return;
        }
        let delay = delay.max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
        let least = self.delay_min;
        if let Some(hystart) = &mut self.hystart
            && !hystart.found
            && tcp.in_slow_start()
        {
            hystart.on_sample(tcp, delay, least);
        }
    }

    /// `cubictcp_state`.
    pub fn on_timeout(&mut self, tcp: &Tcp) {
        *self = Self::new(self.hystart.is_some(), self.fast_convergence);
        self.begin(tcp);
    }

    /// Idle times do not count on the curve (`cubictcp_cwnd_event_tx_start`).
    pub fn on_start(&mut self, tcp: &Tcp) {
        let now = tcp.jiffies();
        let idle = now.saturating_sub(tcp.lsndtime);
        self.epoch_start = self.epoch_start.map(|start| (start + idle).min(now));
    }
}

/// The cubic root. The kernel's, by a table and one step of Newton and Raphson, is within 0.2 % of it.
fn cubic_root(x: u64) -> u64 {
    libm::floor(libm::cbrt(x as f64)) as u64
}

#[cfg(test)]
mod tests {
    use super::super::super::settings::Settings;
    use super::*;
    use lasthop_protocols::transport::tcp::config::Config;

    /// A loss at 100 segments: RFC 9438's K is (100·0.3/0.4)^(1/3) = 4.217 s; 41/1024 in place of 0.04 and the window of 70 make it 4.18 s.
    #[test]
    fn k_is_that_of_the_window_of_the_loss() {
        let mut tcp = Tcp::new(&Settings::new(&Config::default()));
        let mut cubic = Cubic::new(false, true);
        (tcp.snd_cwnd, tcp.is_cwnd_limited) = (100, true);
        tcp.snd_ssthresh = cubic.ssthresh(&tcp);
        assert_eq!(tcp.snd_ssthresh, 70);
        tcp.snd_cwnd = 70;
        cubic.on_progress(&mut tcp, 1);
        let k = cubic.k as f64 / 1_024.0;
        assert!((k - libm::cbrt(30.0 / (0.4 * 1.001))).abs() < 0.01, "{k}");
        assert_eq!(cubic.origin, 100);
    }

    /// Fast convergence (§4.7): a second loss below the last maximum leaves (1 + 0.7)/2 of the window.
    #[test]
    fn fast_convergence_releases_bandwidth() {
        let mut tcp = Tcp::new(&Settings::new(&Config::default()));
        for (fast, left) in [(true, 68), (false, 80)] {
            let mut cubic = Cubic::new(false, fast);
            tcp.snd_cwnd = 100;
            cubic.ssthresh(&tcp);
            tcp.snd_cwnd = 80;
            assert_eq!(cubic.ssthresh(&tcp), 56);
            assert_eq!(cubic.last_max_cwnd, left);
        }
    }

    /// §4.3: Reno's window with β 0.7 grows by 3·0.3/1.7 = 0.53 of a segment a round trip; the kernel's integers make it 8/15.
    #[test]
    fn reno_is_kept_up_with() {
        assert_eq!(RENO_SCALE, 15);
        let mut cubic = Cubic::new(false, true);
        (cubic.reno_cwnd, cubic.every, cubic.ack_cnt) = (100, 10_000, 188);
        cubic.keep_up_with_reno(100);
        assert_eq!((cubic.reno_cwnd, cubic.every), (101, 100));
    }
}
