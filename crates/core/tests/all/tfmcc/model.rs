//! The rules of TFMCC's sender (RFC 4654 §3) once more, written plainly and apart from the sender. Seconds and bytes per second.

use std::collections::BTreeMap;

/// What a report says.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    pub receiver: u32,
    /// R_r, the age of the time stamp that it brings back.
    pub age: f64,
    pub round: u8,
    pub have_rtt: bool,
    pub have_loss: bool,
    pub leaving: bool,
    pub rate: f64,
}

/// The sender's state, in the RFC's words.
#[derive(Clone, Debug)]
pub struct Model {
    s: f64,
    x: f64,
    /// In slow start: when it began to rise, from where, to where, in how long.
    rise: Option<[f64; 4]>,
    slow_start: bool,
    r_max: f64,
    r_peak: f64,
    pub fb_nr: u8,
    round_start: f64,
    other_reported: bool,
    pub x_supp: f64,
    pub clr: Option<u32>,
    clr_since: f64,
    /// When data were sent for the first time after the last report of the CLR, or, without one, of any receiver.
    unanswered: Option<f64>,
    halved: bool,
    no_increase_rounds: u32,
    last_increase: f64,
    /// X after the last event.
    x_then: f64,
    pub counts: BTreeMap<&'static str, u32>,
}

impl Model {
    pub fn new(s: f64) -> Self {
        Self {
            s,
            x: s / 0.5,
            rise: None,
            slow_start: true,
            r_max: 0.5,
            r_peak: 0.0,
            fb_nr: 0,
            round_start: 0.0,
            other_reported: false,
            x_supp: f64::INFINITY,
            clr: None,
            clr_since: 0.0,
            unanswered: None,
            halved: false,
            no_increase_rounds: 0,
            last_increase: 0.0,
            x_then: s / 0.5,
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub fn x(&self, now: f64) -> f64 {
        match self.rise {
            Some([t, from, to, time]) if now < t + time => from + (to - from) * (now - t) / time,
            Some([_, _, to, _]) => to,
            None => self.x,
        }
    }

    /// R_max, never below the time between two packets.
    pub fn r_max(&self, now: f64) -> f64 {
        self.r_max.max(self.s / self.x(now))
    }

    fn settle(&mut self, now: f64, x: f64) {
        self.x = x.max(self.s / 8.0);
        self.rise = None;
        self.x_then = self.x(now);
    }

    /// §3.5, for all that was due before `now`.
    pub fn silence(&mut self, now: f64) {
        while let Some(since) = self.unanswered {
            let r = self.r_max.max(self.s / self.x_then);
            // Clocks tick in nanoseconds.
            let [four, ten] = [4.0, 10.0].map(|times| (times * r * 1e9).round() * 1e-9);
            let due = match self.clr {
                None => since + ten,
                Some(_) if self.halved => since + ten,
                Some(_) => (since + ten).min((since + four).max(self.clr_since + ten)),
            };
            if due > now + 0.5e-9 {
                return;
            }
            if self.clr.is_some() && due >= since + ten - 0.5e-9 {
                self.count("clr lost");
                self.give_up_clr(due);
            } else {
                self.count("halved in silence");
                self.halved = true;
                if self.clr.is_none() {
                    self.unanswered = None;
                }
                let x = self.x(due) / 2.0;
                self.settle(due, x);
            }
        }
    }

    fn give_up_clr(&mut self, now: f64) {
        self.clr = None;
        self.unanswered = None;
        self.no_increase_rounds = 2;
        let x = self.x(now);
        self.settle(now, x);
    }

    /// §3.4.
    fn end_round(&mut self, now: f64) {
        let t = 6.0 * self.r_max(now);
        let length = if self.other_reported { t } else { 2.0 * t };
        let over = now > self.round_start + (length * 1e9).round() * 1e-9 - 0.5e-9;
        if !over {
            return;
        }
        self.count("rounds");
        if self.r_peak > 0.0 {
            self.r_max = (0.9 * self.r_max).max(self.r_peak);
        }
        self.r_peak = 0.0;
        self.fb_nr = (self.fb_nr + 1) % 16;
        self.round_start = now;
        self.other_reported = false;
        self.x_supp = f64::INFINITY;
        self.no_increase_rounds = self.no_increase_rounds.saturating_sub(1);
    }

    /// A data packet leaves.
    pub fn data(&mut self, now: f64, first: bool) {
        self.silence(now);
        if first {
            self.round_start = now;
        }
        self.end_round(now);
        self.unanswered.get_or_insert(now);
        self.x_then = self.x(now);
    }

    /// A report comes.
    pub fn report(&mut self, now: f64, said: Said) {
        self.silence(now);
        self.end_round(now);
        let sample = said.age.max(1e-3);
        self.r_max = self.r_max.max(sample);
        self.r_peak = self.r_peak.max(sample);
        let r_max = self.r_max(now);
        if !said.leaving && self.clr != Some(said.receiver) && said.round == self.fb_nr {
            self.other_reported = true;
            if self.x_supp > said.rate {
                self.x_supp = said.rate - 0.1 * said.rate;
            }
        }
        if said.leaving {
            if self.clr == Some(said.receiver) {
                self.count("clr leaves");
                self.give_up_clr(now);
            } else {
                self.x_then = self.x(now);
            }
            return;
        }
        let mut x_r = said.rate;
        if said.have_loss && !said.have_rtt {
            x_r *= r_max / sample;
            self.count("adjusted");
        }
        let mut x = self.x(now);
        if self.clr.is_none() {
            self.unanswered = None;
        }
        if self.slow_start && !said.have_loss {
            let target = self.rise.map_or(x, |[_, _, to, _]| to);
            if self.clr.is_none() || (self.clr != Some(said.receiver) && x_r < target) {
                self.elect(now, said.receiver);
            }
            if self.clr == Some(said.receiver) {
                self.unanswered = None;
                self.halved = false;
                let to = if self.no_increase_rounds > 0 { x } else { x_r.max(x + self.s / r_max) };
                self.rise = Some([now, x, to, r_max]);
            }
            self.x_then = self.x(now);
            return;
        }
        if self.slow_start {
            self.count("end of slow start");
            self.slow_start = false;
            self.last_increase = now;
        }
        let limited = x + self.s / r_max * ((now - self.last_increase) / r_max).min(1.0);
        if self.clr.is_none() || (self.clr != Some(said.receiver) && x_r < x) {
            self.elect(now, said.receiver);
        }
        if self.clr == Some(said.receiver) {
            self.unanswered = None;
            self.halved = false;
            if x_r <= x {
                x = x_r;
            } else if self.no_increase_rounds == 0 && limited > x {
                x = x_r.min(limited);
                self.last_increase = now;
            }
        }
        self.settle(now, x);
    }

    fn elect(&mut self, now: f64, receiver: u32) {
        self.count("elections");
        self.clr = Some(receiver);
        self.clr_since = now;
    }
}
