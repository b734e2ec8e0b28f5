//! HyStart (Ha, Rhee 2011; tcp_cubic.c): slow start ends when acknowledgements of a round came in one train for half of the least delay, or when
//! the delay has risen. Not RFC 9406's HyStart++, which the standard's CUBIC has.

use super::super::tcp::Tcp;

/// `hystart_low_window`, segments.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`.
const ACK_DELTA_US: u64 = 2_000;
/// `HYSTART_MIN_SAMPLES`.
const MIN_SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`, us.
const DELAY_US: (u64, u64) = (4_000, 16_000);

/// The state of a round.
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    /// Slow start was ended.
    pub found: bool,
    samples: u32,
    round_start_us: u64,
    /// SND.NXT when the round began.
    end_seq: u64,
    last_ack_us: u64,
    least_us: u64,
}

impl HyStart {
    /// A round begins (`bictcp_hystart_reset`).
    pub fn begin_round(&mut self, tcp: &Tcp) {
        self.round_start_us = tcp.now_us;
        self.last_ack_us = tcp.now_us;
        self.end_seq = tcp.snd_nxt;
        self.least_us = u64::MAX;
        self.samples = 0;
    }

    /// A sample of the delay in slow start; `delay_min` is the least one (`hystart_update`).
    pub fn on_sample(&mut self, tcp: &mut Tcp, delay_us: u64, delay_min: u64) {
        if tcp.snd_una > self.end_seq {
            self.begin_round(tcp);
        }
        if tcp.snd_cwnd < LOW_WINDOW {
            return;
        }
        // Both tests set the threshold to the window of now.
        if tcp.now_us - self.last_ack_us <= ACK_DELTA_US {
            self.last_ack_us = tcp.now_us;
            let mut threshold = delay_min + ack_delay(tcp);
            // Without pacing segments leave as one burst, and the train shows half of the delay.
            if !tcp.paces {
                threshold >>= 1;
            }
            if tcp.now_us - self.round_start_us > threshold {
                self.end(tcp);
            }
        }
        self.least_us = self.least_us.min(delay_us);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else if self.least_us > delay_min + (delay_min >> 3).clamp(DELAY_US.0, DELAY_US.1) {
            self.end(tcp);
        }
    }

    fn end(&mut self, tcp: &mut Tcp) {
        self.found = true;
        tcp.snd_ssthresh = tcp.snd_cwnd;
    }
}

/// By how much bursts lengthen the train: four of the largest at the pacing rate, at most a millisecond (`hystart_ack_delay`).
fn ack_delay(tcp: &Tcp) -> u64 {
    const GSO_MAX_SIZE: u64 = 65_536;
    (GSO_MAX_SIZE * 4 * 1_000_000).checked_div(tcp.pacing_rate).unwrap_or(0).min(1_000)
}

#[cfg(test)]
mod tests {
    use super::super::super::settings::Settings;
    use super::*;
    use lasthop_net::engine::Instant;
    use lasthop_protocols::transport::tcp::config::Config;

    fn at(tcp: &mut Tcp, us: u64) {
        tcp.set_now(Instant::from_nanos(us * 1_000));
    }

    fn tcp() -> Tcp {
        let mut tcp = Tcp::new(&Settings::new(&Config::default()));
        (tcp.snd_cwnd, tcp.snd_nxt, tcp.pacing_rate) = (40, 100_000, 1 << 20);
        tcp
    }

    /// Delay 100 ms: a train of more than half of 101 ms ends slow start, with gaps of 2 ms at most.
    #[test]
    fn a_train_of_half_of_the_delay_ends_slow_start() {
        for (gap, ends) in [(1_000, Some(51)), (2_000, Some(26)), (2_001, None)] {
            let (mut hystart, mut tcp) = (HyStart::default(), tcp());
            hystart.begin_round(&tcp);
            let found = (1..=90).find(|n| {
                at(&mut tcp, n * gap);
                hystart.on_sample(&mut tcp, 100_000, 100_000);
                hystart.found
            });
            assert_eq!(found, ends, "gaps of {gap} us");
        }
    }

    /// Delay 40 ms: an eighth is 5 ms, and eight samples have to be there before.
    #[test]
    fn a_rise_by_an_eighth_ends_slow_start_with_the_ninth_sample() {
        for (delay, ends) in [(45_000, None), (45_001, Some(9))] {
            let (mut hystart, mut tcp) = (HyStart::default(), tcp());
            hystart.begin_round(&tcp);
            let found = (1..=30).find(|n| {
                at(&mut tcp, n * 5_000);
                hystart.on_sample(&mut tcp, delay, 40_000);
                hystart.found
            });
            assert_eq!(found, ends, "{delay} us");
            assert_eq!(tcp.snd_ssthresh == 40, ends.is_some());
        }
    }

    #[test]
    fn a_window_below_sixteen_is_too_small_to_tell() {
        let (mut hystart, mut tcp) = (HyStart::default(), tcp());
        tcp.snd_cwnd = 15;
        hystart.begin_round(&tcp);
        for n in 1..100 {
            at(&mut tcp, n * 1_000);
            hystart.on_sample(&mut tcp, 400_000, 40_000);
        }
        assert!(!hystart.found);
    }
}
