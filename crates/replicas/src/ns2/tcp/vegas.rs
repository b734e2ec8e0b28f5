//! Vegas (`Agent/TCP/Vegas`; Brakmo and Peterson 1995): the window follows the difference
//! between the rate that an empty path would give and the rate reached, once in a round trip.
//!
//! ns-2.35 keeps send times and transmission counts in a table of `window_` entries. It clears
//! them at an acknowledgement only up to the table's end, so after a wrap some counts stay, and
//! those packets give no sample. Its clock starts anew each time packet 0 is sent. The rates that it compares are
//! often equal but for the last bits of ns-2's sums of times, which are asked if the network follows them.

use lasthop_protocols::transport::congestion::vegas::Config as Thresholds;

use super::agent::{Ack, CutTo, DUPLICATES, LastAction, Resume, TcpAgent};
use super::sender::Variant;
use super::settings::Settings;

/// Vegas' own state. Times are seconds since packet 0 was last sent.
pub struct Vegas {
    thresholds: Thresholds,
    table: Vec<Entry>,
    /// When the window was cut last (`t_cwnd_changed_`).
    cut_at: f64,
    /// An acknowledgement has come.
    started: bool,
    /// The fine estimate: 8 times the mean, 4 times the deviation, and what follows of it.
    mean: f64,
    deviation: f64,
    timeout: f64,
    /// How many acknowledgements after a resend are still to be checked (`v_worried_`).
    worried: i64,
    /// The packet whose acknowledgement ends the round, and when the round began.
    round_end: i64,
    round_at: f64,
    /// Samples of the round.
    sum: f64,
    samples: u32,
    base_rtt: f64,
    /// Growth per acknowledgement in this round (`v_incr_`).
    growth: f64,
    /// Slow start grows in every other round; in this one it does.
    growing: bool,
    /// The window without the duplicates that inflate it (`v_newcwnd_`).
    plain_window: f64,
}

/// The record of a packet.
#[derive(Clone, Copy)]
struct Entry {
    sent_at: f64,
    transmissions: u32,
}

const UNSENT: Entry = Entry { sent_at: -1.0, transmissions: 0 };

impl Vegas {
    pub fn new(settings: &Settings) -> Self {
        Self::with(settings.vegas, settings.window.max(1) as usize)
    }

    fn with(thresholds: Thresholds, entries: usize) -> Self {
        Self {
            thresholds,
            table: vec![UNSENT; entries],
            cut_at: 0.0,
            started: false,
            mean: 0.0,
            deviation: 0.0,
            timeout: 1000.0,
            worried: 0,
            round_end: 0,
            round_at: 0.0,
            sum: 0.0,
            samples: 0,
            base_rtt: 1e9,
            growth: 0.0,
            growing: true,
            plain_window: 0.0,
        }
    }

    fn place(&self, seq: i64) -> usize {
        (seq % self.table.len() as i64) as usize
    }

    /// The packet after `ack`, if it has been under way longer than the fine timeout.
    fn expired(&self, m: &TcpAgent, ack: &Ack) -> Option<i64> {
        let age = clock(m) - self.table[self.place(ack.seq + 1)].sent_at;
        (age >= self.timeout).then_some(ack.seq + 1)
    }

    fn on_new_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        let now = clock(m);
        m.open_after_syn();
        if m.dupacks > DUPLICATES && m.cwnd() > self.plain_window {
            m.set_cwnd(self.plain_window);
            m.set_ssthresh(2);
        }
        let before = m.last_ack;
        m.new_ack(ack);
        if ack.seq >= self.round_end {
            self.end_round(m, now);
        }
        if self.growth == 1.0 && m.cwnd() >= m.ssthresh() as f64 {
            self.growth = 0.0;
        }
        if self.growth > 0.0 && m.cwnd() - (m.next - m.last_ack) as f64 <= 2.0 {
            m.set_cwnd(m.cwnd() + self.growth);
        }
        self.take_sample(before, ack, now);
        if self.worried > 0 {
            self.worried -= 1;
            match self.expired(m, ack) {
                Some(seq) => {
                    m.dupacks = DUPLICATES;
                    m.note_fast_retransmit();
                    self.output(m, seq);
                }
                None => self.worried = 0,
            }
        }
    }

    /// Once in a round trip: compares the expected with the actual rate.
    fn end_round(&mut self, m: &mut TcpAgent, now: f64) {
        let rtt = if self.samples > 0 { self.sum / f64::from(self.samples) } else { now - self.round_at };
        self.sum = 0.0;
        self.samples = 0;
        let under_way = m.next - self.round_end;
        if rtt > 0.0 {
            if rtt < self.base_rtt || under_way <= 1 {
                self.base_rtt = rtt;
            }
            let actual = under_way as f64 / rtt;
            let expected = (m.next - m.last_ack) as f64 / self.base_rtt;
            let difference = ((expected - actual) * self.base_rtt + 0.5).trunc();
            if m.cwnd() < m.ssthresh() as f64 {
                self.growing = !self.growing;
                self.growth = if !self.growing {
                    0.0
                } else if difference > self.thresholds.gamma {
                    m.set_ssthresh(2);
                    m.set_cwnd(m.cwnd() - m.cwnd() / 8.0);
                    keep_two(m);
                    0.0
                } else {
                    1.0
                };
            } else if difference > self.thresholds.beta {
                m.set_cwnd(m.cwnd() - 1.0);
                keep_two(m);
                self.growth = 0.0;
            } else if difference < self.thresholds.alpha {
                self.growth = 1.0 / m.cwnd();
            } else {
                self.growth = 0.0;
            }
        }
        self.round_end = m.next;
        self.round_at = now;
    }

    /// Clears acknowledged packets from the table, and takes a sample of the last of them.
    fn take_sample(&mut self, before: i64, ack: &Ack, now: f64) {
        let last = self.place(ack.seq);
        let Entry { sent_at, transmissions } = self.table[last];
        let mut left = ack.seq - before;
        let mut place = self.place(before + 1);
        while place <= last && left > 0 {
            self.table[place] = UNSENT;
            place = (place + 1) % self.table.len();
            left -= 1;
        }
        if sent_at != 0.0 && transmissions == 1 {
            let rtt = now - sent_at;
            self.sum += rtt;
            self.samples += 1;
            if rtt > 0.0 {
                self.base_rtt = self.base_rtt.min(rtt);
                let error = rtt - self.mean / 8.0;
                self.mean += error;
                self.deviation += error.abs() - self.deviation / 4.0;
                self.timeout = (self.mean / 4.0 + self.deviation) / 2.0;
                self.timeout += self.timeout / 16.0;
            }
        }
    }

    fn on_duplicate(&mut self, m: &mut TcpAgent, ack: &Ack) {
        m.dupacks += 1;
        let expired = self.expired(m, ack);
        if expired.is_none() && m.dupacks != DUPLICATES {
            if m.dupacks > DUPLICATES {
                m.set_cwnd(m.cwnd() + 1.0);
            }
            return;
        }
        let first = self.table[self.place(m.last_ack + 1)];
        if m.settings.guard && m.highest_ack <= m.recover && m.last_action == LastAction::Timeout {
            return;
        }
        let mut window = m.usable();
        m.last_action = LastAction::DupAck;
        m.recover = m.max_seq;
        self.worried = (m.next - m.last_ack).min(2);
        if first.transmissions > 1 {
            self.timeout *= 2.0;
        } else {
            self.timeout += self.timeout / 8.0;
        }
        if self.cut_at < first.sent_at {
            // The packet left after the last cut.
            if window <= 3 {
                window = 2;
            } else if first.transmissions > 1 {
                window >>= 1;
            } else {
                window -= window >> 2;
            }
            self.plain_window = window as f64;
            m.set_cwnd(self.plain_window + m.dupacks as f64);
            self.cut_at = clock(m);
        }
        // The coarse timer is backed off as at a timeout.
        m.reset_timer(Resume::Stay, true);
        m.note_fast_retransmit();
        self.output(m, expired.unwrap_or(m.last_ack + 1));
        if first.transmissions == 1 {
            m.dupacks = DUPLICATES;
        }
    }
}

/// The window does not fall below two packets.
fn keep_two(m: &mut TcpAgent) {
    if m.cwnd() < 2.0 {
        m.set_cwnd(2.0);
    }
}

/// Seconds since packet 0 was last sent (`vegastime`).
#[inline]
fn clock(m: &TcpAgent) -> f64 {
    m.float_now().seconds_since(m.first_sent)
}

impl Variant for Vegas {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        if !self.started {
            self.started = true;
            let rtt = clock(m);
            self.base_rtt = rtt;
            self.mean = rtt * 8.0;
            self.deviation = rtt;
            self.timeout = (self.mean / 4.0 + self.deviation) / 2.0;
        }
        if ack.seq > m.last_ack {
            self.on_new_ack(m, ack);
        } else if ack.seq == m.last_ack {
            self.on_duplicate(m, ack);
        }
        if m.dupacks == 0 || m.dupacks >= DUPLICATES {
            self.send_much(m, false, m.settings.max_burst);
        }
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        if m.is_idle() && !m.settings.idle_restart {
            return;
        }
        m.dupacks = 0;
        m.recover = m.max_seq;
        m.last_action = LastAction::Timeout;
        m.reset_timer(Resume::GoBack, true);
        m.count_rexmit();
        m.cut(CutTo::One, true);
        m.set_cwnd(2.0);
        self.plain_window = 0.0;
        self.cut_at = clock(m);
        self.send_much(m, false, 0);
    }

    fn reset(&mut self) {
        *self = Self::with(self.thresholds, self.table.len());
    }

    fn output(&mut self, m: &mut TcpAgent, seq: i64) {
        if seq == 0 {
            self.table.fill(UNSENT);
        }
        let place = self.place(seq);
        self.table[place].sent_at = clock(m);
        self.table[place].transmissions += 1;
        m.emit(seq);
        if m.rtx_at.is_none() {
            m.set_timer();
        }
    }

    /// Vegas adds no header to any packet.
    fn wire_size(&self, settings: &Settings, _seq: i64) -> u32 {
        settings.segment
    }
}
