//! UDP Prague's arithmetic (L4STeam/udp_prague e8e34353, `prague_cc.cpp`) in its units: microseconds, bytes a second, and 10⁻⁶ bytes for the
//! window, so that a rate times a time is a window.
//!
//! More than 500 lines: one state, which each acknowledgement changes in a fixed order.

/// The state of the sender, from counters that the receiver echoes.
#[derive(Clone, Debug)]
pub struct UdpPrague {
    limits: Limits,
    mode: Mode,
    state: State,
    /// Whether a round trip of this path was measured.
    is_measured: bool,
    /// srtt and vrtt, µs.
    srtt: i64,
    vrtt: i64,
    /// alpha, 2⁻²⁰.
    alpha: i64,
    /// pacing_rate, bytes/s, and fractional_window, 10⁻⁶ bytes.
    rate: u64,
    window: u64,
    packet: u64,
    burst: u64,
    packet_window: u64,
    /// Virtual round trips without a mark or a loss until the rate grows by 1 ms of itself.
    rtts_to_growth: i64,
    /// The counters of the last acknowledgement.
    last: Counters,
    /// Where the round of alpha began, and when.
    round: Counters,
    round_sent: i64,
    round_at: i64,
    loss: Loss,
    /// Packets sent, and the time, at the last answer to a mark.
    cwr_sent: i64,
    cwr_at: i64,
}

/// The bounds of rate and packet size.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The rate at the start, bytes/s.
    pub start_rate: u64,
    /// The least and the greatest rate, bytes/s.
    pub min_rate: u64,
    /// See `min_rate`.
    pub max_rate: u64,
    /// The largest packet, bytes.
    pub packet: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { start_rate: 12_500, min_rate: 12_500, max_rate: 12_500_000_000, packet: 1_400 }
    }
}

/// What the receiver counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets received, marked CE, and lost; the last may fall.
    pub received: i64,
    /// See `received`.
    pub ce: i64,
    /// See `received`.
    pub lost: i64,
}

/// Whether the window follows from the rate or the rate from the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The window is set, and the rate is a window in a round trip.
    Window,
    /// The round trip is too short to divide by: the rate is set.
    Rate,
}

/// What was answered to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No round trip of the path was measured yet.
    Init,
    /// Nothing.
    Avoidance,
    /// A loss.
    InLoss,
    /// A mark.
    InCwr,
}

/// The last answer to a loss, and how to take it back.
#[derive(Clone, Debug)]
struct Loss {
    mode: Mode,
    at: i64,
    sent: i64,
    /// By how much window or rate fell; both 0 if there is nothing to take back.
    window: u64,
    rate: u64,
    rtts_to_growth: i64,
    /// The lost packets before it.
    lost: i64,
}

impl UdpPrague {
    /// At the start of a flow, at `now` µs.
    pub fn new(limits: Limits, now: i64) -> Self {
        let rate = limits.start_rate;
        let mut prague = Self {
            limits,
            mode: Mode::Window,
            state: State::Init,
            is_measured: false,
            srtt: 0,
            vrtt: 0,
            alpha: 0,
            rate,
            window: INITIAL_PACKETS * limits.packet * MICRO,
            packet: 0,
            burst: 0,
            packet_window: 0,
            rtts_to_growth: quiet_rtts(rate),
            last: Counters::default(),
            round: Counters::default(),
            round_sent: 0,
            round_at: now,
            loss: Loss { mode: Mode::Window, at: 0, sent: 0, window: 0, rate: 0, rtts_to_growth: 0, lost: 0 },
            cwr_sent: 0,
            cwr_at: 0,
        };
        prague.size_packets(REF_RTT);
        let packets = prague.window.div_ceil(MICRO).div_ceil(prague.packet);
        prague.packet_window = packets.max(LEAST_WINDOW);
        prague
    }

    /// A round trip was measured, µs.
    pub fn on_rtt(&mut self, rtt: i64) {
        let rtt = rtt.max(0);
        self.is_measured = true;
        self.srtt = if self.state == State::Init { rtt } else { self.srtt + ((rtt - self.srtt) >> 3) };
        self.vrtt = self.srtt.max(REF_RTT);
    }

    /// An acknowledgement has come at `now` µs, when `sent` packets had left. One with counters of the past is passed over; before a round
    /// trip of the path is measured, counters wait.
    pub fn on_ack(&mut self, now: i64, counters: Counters, sent: i64) {
        if !self.is_measured || counters.received < self.last.received || counters.ce < self.last.ce {
            return;
        }
        self.choose_mode();
        let seen = counters.received + counters.lost;
        self.measure_marks(now, &counters, seen, sent);
        self.undo(&counters);
        if self.state == State::InLoss && seen > self.loss.sent && now - self.loss.at >= self.vrtt {
            self.state = State::Avoidance;
        }
        if self.state != State::InLoss && counters.lost > self.last.lost {
            self.on_loss(now, sent);
        }
        let unmarked = (counters.received - self.last.received) - (counters.ce - self.last.ce);
        if self.state != State::InLoss && unmarked > 0 {
            self.grow(unmarked as u64);
        }
        if self.state == State::InCwr && seen > self.cwr_sent && now - self.cwr_at >= self.vrtt {
            self.state = State::Avoidance;
        }
        if self.state == State::Avoidance && counters.ce > self.last.ce {
            self.on_mark(now, sent);
        }
        self.last = counters;
        self.align();
    }

    /// The window or the rate leads; it is continuous where one hands over to the other.
    fn choose_mode(&mut self) {
        let pacing_interval = (self.packet * MICRO / self.rate) as i64;
        if self.state == State::Init {
            self.window = self.window_of_rate();
            self.state = State::Avoidance;
        }
        if self.srtt <= SHORT_RTT || self.srtt <= pacing_interval {
            self.mode = Mode::Rate;
        } else {
            if self.mode == Mode::Rate {
                self.window = self.window_of_rate();
            }
            self.mode = Mode::Window;
        }
    }

    /// alpha, once in a round that is a virtual round trip long at least.
    fn measure_marks(&mut self, now: i64, counters: &Counters, seen: i64, sent: i64) {
        let received = counters.received - self.round.received;
        if seen <= self.round_sent || now - self.round_at < self.vrtt {
            return;
        }
        // Where all packets of the round were lost, the reference divides by zero; here alpha stays.
        if received > 0 {
            let share = ((counters.ce - self.round.ce) << ALPHA_BITS) / received;
            self.alpha = (self.alpha + (share - self.alpha) / ALPHA_ROUNDS).min(1 << ALPHA_BITS);
        }
        self.round = *counters;
        self.round_sent = sent;
        self.round_at = now;
        self.rtts_to_growth = (self.rtts_to_growth - 1).max(0);
    }

    /// The loss that was answered to was none: its packet came late.
    fn undo(&mut self, counters: &Counters) {
        if (self.loss.window == 0 && self.loss.rate == 0) || counters.lost > self.loss.lost {
            return;
        }
        self.mode = self.loss.mode;
        match self.mode {
            Mode::Rate => self.rate = self.rate.saturating_add(std::mem::take(&mut self.loss.rate)),
            Mode::Window => self.window = self.window.saturating_add(std::mem::take(&mut self.loss.window)),
        }
        self.rtts_to_growth = (self.rtts_to_growth - std::mem::take(&mut self.loss.rtts_to_growth)).max(0);
        self.state = State::Avoidance;
    }

    fn on_loss(&mut self, now: i64, sent: i64) {
        // After them a flow with the reference round trip would be at the same bottleneck again.
        let reference = REF_RTT as u64;
        let packets = self.rate / 2 / self.limits.packet;
        let rtts = (packets.saturating_mul(reference) / self.vrtt as u64).saturating_mul(reference) / MICRO;
        let rtts = i64::try_from(rtts).unwrap_or(i64::MAX);
        self.loss.rtts_to_growth = self.loss.rtts_to_growth.saturating_add(rtts - self.rtts_to_growth).min(rtts);
        self.rtts_to_growth = rtts;
        match self.mode {
            Mode::Window => {
                self.loss.window = self.window / 2;
                self.window -= self.loss.window;
            }
            Mode::Rate => {
                self.loss.rate = self.rate / 2;
                self.rate -= self.loss.rate;
            }
        }
        self.state = State::InLoss;
        self.loss.mode = self.mode;
        self.loss.sent = sent;
        self.loss.at = now;
        self.loss.lost = self.last.lost;
    }

    /// A packet in a virtual round trip, or after a quiet time 1 ms of the rate, scaled by (srtt/vrtt)².
    fn grow(&mut self, packets: u64) {
        let quick = muldiv(self.rate, QUEUE_GROWTH, MICRO);
        let step = if quick < self.limits.packet || self.rtts_to_growth > 0 { self.limits.packet } else { quick };
        let (srtt, vrtt) = (self.srtt as u128, self.vrtt as u128);
        let micro = u128::from(MICRO);
        match self.mode {
            Mode::Window => {
                let scale = rounded(srtt * srtt * micro, vrtt * vrtt);
                let acked = u128::from(packets) * u128::from(self.packet);
                let steps = rounded(acked.saturating_mul(scale).saturating_mul(micro), u128::from(self.window));
                self.window = self.window.saturating_add(clipped(steps.saturating_mul(u128::from(step))));
            }
            Mode::Rate => {
                let in_flight = rounded(u128::from(self.rate) * vrtt, u128::from(self.packet) * micro);
                let increase = rounded(u128::from(packets) * u128::from(step) * micro, vrtt);
                self.rate = self.rate.saturating_add(clipped(rounded(increase, in_flight)));
            }
        }
    }

    fn on_mark(&mut self, now: i64, sent: i64) {
        self.rtts_to_growth = quiet_rtts(self.rate);
        let half_alpha = |x: u64| clipped((u128::from(x) * self.alpha as u128) >> (ALPHA_BITS + 1));
        match self.mode {
            Mode::Window => self.window -= half_alpha(self.window),
            Mode::Rate => self.rate -= half_alpha(self.rate),
        }
        self.state = State::InCwr;
        self.cwr_sent = sent;
        self.cwr_at = now;
    }

    /// Rate and window in their bounds and in step, and what the sender needs of them.
    fn align(&mut self) {
        if self.mode == Mode::Window {
            self.rate = self.window / self.srtt as u64;
        }
        self.rate = self.rate.max(self.limits.min_rate).min(self.limits.max_rate);
        self.window = self.window_of_rate().max(1);
        self.size_packets(self.vrtt);
        // 3 % more, and one: the window is for stalls of the path, and not to hold up the pacer.
        self.packet_window = (muldiv(self.window, 103, 100 * MICRO) / self.packet + 1).max(LEAST_WINDOW);
    }

    /// Two packets in a virtual round trip.
    fn size_packets(&mut self, vrtt: i64) {
        let size = muldiv(self.rate, vrtt as u64, MICRO) / LEAST_WINDOW;
        self.packet = size.max(LEAST_PACKET).min(self.limits.packet);
        self.burst = (muldiv(self.rate, BURST_TIME, MICRO) / self.packet).max(1);
    }

    fn window_of_rate(&self) -> u64 {
        self.rate.saturating_mul(self.srtt as u64)
    }

    /// The path is another one: the next round trip is taken as it is, and the window becomes what keeps the rate. alpha stays.
    pub fn forget_path(&mut self) {
        self.state = State::Init;
        self.is_measured = false;
        self.loss.window = 0;
        self.loss.rate = 0;
    }

    /// Nothing has come back for too long: the rate is that of the start, and nothing is known of the path.
    pub fn reset(&mut self, now: i64) {
        self.state = State::Init;
        self.is_measured = false;
        self.mode = Mode::Window;
        self.round_at = now;
        self.alpha = 0;
        self.rate = self.limits.start_rate;
        self.window = self.limits.packet * MICRO;
        self.burst = 1;
        self.packet = self.limits.packet;
        self.packet_window = LEAST_WINDOW;
        self.rtts_to_growth = quiet_rtts(self.rate);
        self.loss.rtts_to_growth = 0;
    }

    /// How fast packets leave at `now` µs, bytes/s: in the first half of a round 3 % faster, then 3 % slower.
    pub fn pacing_rate(&self, now: i64) -> u64 {
        if now < self.turns_at() { muldiv(self.rate, 103, 100) } else { muldiv(self.rate, 100, 103) }
    }

    /// When the second half of the round begins, µs.
    pub fn turns_at(&self) -> i64 {
        self.round_at + (self.vrtt >> 1)
    }

    /// The smoothed round trip, µs.
    pub fn srtt(&self) -> i64 {
        self.srtt
    }

    /// The virtual round trip, µs.
    pub fn vrtt(&self) -> i64 {
        self.vrtt
    }

    /// alpha, 2⁻²⁰.
    pub fn alpha(&self) -> i64 {
        self.alpha
    }

    /// What was answered to last.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether window or rate leads.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Virtual round trips until the rate grows by 1 ms of itself.
    pub fn rtts_to_growth(&self) -> i64 {
        self.rtts_to_growth
    }

    /// The rate, bytes/s.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// The window, 10⁻⁶ bytes.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The window, packets.
    pub fn packet_window(&self) -> u64 {
        self.packet_window
    }

    /// How many packets may leave at once.
    pub fn burst(&self) -> u64 {
        self.burst
    }

    /// The size of packets, bytes.
    pub fn packet(&self) -> u64 {
        self.packet
    }
}

/// Virtual round trips after a mark until the rate grows faster.
fn quiet_rtts(rate: u64) -> i64 {
    (rate / RATE_STEP) as i64 + MIN_STEP
}

/// a·b/c, rounded down.
fn muldiv(a: u64, b: u64, c: u64) -> u64 {
    clipped(u128::from(a) * u128::from(b) / u128::from(c))
}

/// a/b, rounded to nearest; the most there is if b is 0.
fn rounded(a: u128, b: u128) -> u128 {
    a.saturating_add(b >> 1).checked_div(b).unwrap_or(u128::from(u64::MAX)).min(u128::from(u64::MAX))
}

fn clipped(x: u128) -> u64 {
    u64::try_from(x).unwrap_or(u64::MAX)
}

const MICRO: u64 = 1_000_000;
/// The round trip below which flows do not grow faster, µs.
const REF_RTT: i64 = 25_000;
/// Round trips up to this are too short for a window, µs.
const SHORT_RTT: i64 = 2_000;
const ALPHA_BITS: u32 = 20;
/// alpha moves by a sixteenth.
const ALPHA_ROUNDS: i64 = 16;
/// Quiet virtual round trips before the rate grows faster: 7, and one for each 1.92 MB/s.
const MIN_STEP: i64 = 7;
const RATE_STEP: u64 = 1_920_000;
/// The queue that faster growth makes in a virtual round trip, µs.
const QUEUE_GROWTH: u64 = 1_000;
/// The longest burst, µs.
const BURST_TIME: u64 = 250;
const LEAST_WINDOW: u64 = 2;
const INITIAL_PACKETS: u64 = 10;
/// The least packet, bytes.
const LEAST_PACKET: u64 = 150;

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow in window mode at this rate, with a round trip of 50 ms.
    fn flow(rate: u64) -> UdpPrague {
        let mut prague = UdpPrague::new(Limits { start_rate: rate, ..Limits::default() }, 1);
        prague.on_rtt(50_000);
        prague.on_ack(50_001, Counters { received: 1, ..Counters::default() }, 10);
        prague
    }

    /// modern-cc.md §2.1: a rate of 1,000,000 with alpha 0.25.
    #[test]
    fn a_mark_takes_half_of_alpha() {
        let mut prague = flow(1_000_000);
        (prague.window, prague.alpha) = (1_000_000 * 50_000, 1 << 18);
        prague.on_mark(60_000, 11);
        assert_eq!(prague.window / 50_000, 875_000);
        prague.mode = Mode::Rate;
        prague.rate = 1_000_000;
        prague.on_mark(60_000, 11);
        assert_eq!(prague.rate, 875_000);
    }

    /// A round without marks takes a sixteenth, cut towards zero; one with marks adds a sixteenth of what lacks.
    #[test]
    fn alpha_follows_the_share_of_marks() {
        let mut prague = flow(1_000_000);
        let mut counters = prague.last;
        let mut round = |marks: i64| {
            counters.received += 100;
            counters.ce += marks;
            let now = prague.round_at + prague.vrtt;
            prague.on_ack(now, counters, counters.received);
            prague.alpha()
        };
        assert_eq!(round(50), (1 << 19) / 16);
        assert_eq!(round(0), 32_768 - 32_768 / 16);
    }

    /// Half a window for a loss, once in a round trip; given back if the packet came after all.
    #[test]
    fn a_loss_is_answered_once_and_taken_back() {
        let mut prague = flow(1_000_000);
        let lost = |lost, received| Counters { received, lost, ce: 0 };
        let before = prague.window();
        prague.on_ack(60_000, lost(1, 1), 12);
        assert_eq!((prague.window(), prague.state()), (before / 2 / 50_000 * 50_000, State::InLoss));
        prague.on_ack(61_000, lost(2, 1), 12);
        assert_eq!(prague.window(), before / 2 / 50_000 * 50_000);
        prague.on_ack(62_000, lost(0, 1), 12);
        assert_eq!((prague.window() / 50_000, prague.state()), (before / 50_000, State::Avoidance));
    }

    /// The window follows the new round trip, and the rate stays.
    #[test]
    fn a_new_path_keeps_the_rate() {
        let mut prague = flow(1_000_000);
        let rate = prague.rate();
        prague.forget_path();
        prague.on_ack(70_000, Counters { received: 2, ..Counters::default() }, 12);
        assert_eq!(prague.last.received, 1, "counters wait for a round trip");
        prague.on_rtt(150_000);
        prague.on_ack(80_000, Counters { received: 2, ..Counters::default() }, 12);
        // Growth: of a packet in a round trip of 150 ms the share of 1400 in 150,000 bytes, 13.07 bytes.
        assert_eq!((prague.srtt(), prague.rate() - rate), (150_000, 87));
    }

    #[test]
    fn extreme_inputs_do_not_overflow() {
        let limits = Limits { start_rate: u64::MAX / 8, min_rate: 1, max_rate: u64::MAX / 8, packet: 1 };
        let mut prague = UdpPrague::new(limits, 0);
        let mut counters = Counters::default();
        for (k, rtt) in [0, 1, i64::from(u32::MAX), 4_000_000_000_000, 0].into_iter().enumerate() {
            counters.received += 1 << 40;
            counters.lost += (k as i64 % 2) << 30;
            counters.ce += 1 << 20;
            prague.on_rtt(rtt);
            prague.on_ack(1 << (40 + k), counters, counters.received * 2);
            assert!(prague.rate() >= 1 && prague.packet() >= 1 && prague.packet_window() >= 2);
        }
    }
}
