//! Which of the two queues is served: the L queue, but never at the cost of the other's starvation (RFC 9332 §4.2.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Duration;

/// Which of the two queues is served: the L queue, with bounds to its priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DualPi2Scheduler")]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Weighted round robin: while both wait, C packets have a share of `c_weight`.
    #[default]
    Wrr,
    /// Time-shifted FIFO: a C packet that has waited longer by `shift` than the L packet at the head.
    TimeShifted,
}

/// Which of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Low latency.
    L = 0,
    /// Classic.
    C = 1,
}

/// The size of a full packet, by which Linux counts.
pub const MTU: u64 = 1500;

/// The scheduler.
pub struct Schedule {
    kind: Scheduler,
    /// The weight of the C queue; that of the L queue is the rest.
    c_weight: f64,
    shift: Duration,
    /// Linux's credit: above zero it is the C queue's turn.
    credit: f64,
}

impl Schedule {
    /// One in favour of the L queue.
    pub fn new(kind: Scheduler, c_weight: f64, shift: Duration) -> Self {
        let mut schedule = Self { kind, c_weight, shift, credit: 0.0 };
        schedule.reset();
        schedule
    }

    /// Nothing waits: the L queue is favoured again (Linux, `dualpi2_reset_c_protection`).
    pub fn reset(&mut self) {
        self.credit = MTU as f64 * (2.0 * self.c_weight - 1.0);
    }

    /// The queue to serve, by how long the packets at the heads have waited.
    pub fn choose(&self, delays: [Option<Duration>; 2]) -> Option<Class> {
        let [l, c] = delays;
        let favours_l = match self.kind {
            Scheduler::Wrr => self.credit <= 0.0,
            Scheduler::TimeShifted => l.unwrap_or_default() + self.shift >= c.unwrap_or_default(),
        };
        match (l, c) {
            (None, None) => None,
            (Some(_), None) => Some(Class::L),
            (None, Some(_)) => Some(Class::C),
            _ => Some(if favours_l { Class::L } else { Class::C }),
        }
    }

    /// A packet of this size was sent while both queues had one.
    pub fn on_sent(&mut self, class: Class, size: u32) {
        let size = f64::from(size);
        self.credit += match class {
            Class::L => self.c_weight * size,
            Class::C => -(1.0 - self.c_weight) * size,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Option<Duration>; 2] = [Some(Duration::ZERO); 2];

    #[test]
    fn while_both_wait_the_c_queue_has_its_weight() {
        for (weight, size_l, size_c) in [(1.0 / 16.0, 1500, 1500), (0.1, 1500, 1500), (0.1, 200, 1500)] {
            let mut schedule = Schedule::new(Scheduler::Wrr, weight, Duration::ZERO);
            let mut bytes = [0u32; 2];
            for n in 0..10_000 {
                let class = schedule.choose(BOTH).unwrap();
                assert!(n > 0 || class == Class::L, "it begins with the L queue");
                let size = if class == Class::L { size_l } else { size_c };
                bytes[class as usize] += size;
                schedule.on_sent(class, size);
            }
            let share = f64::from(bytes[1]) / f64::from(bytes[0] + bytes[1]);
            // Within a packet or two of 2 MB.
            assert!((share - weight).abs() < 2e-3, "{share} of {weight}");
        }
    }

    #[test]
    fn a_c_packet_at_the_head_waits_for_fifteen_l_packets() {
        // RFC 9332 §4.2.2: "if the Classic weight is 1/16, the maximum that a Classic packet at the head of the queue can be delayed by L
        // traffic is the serialization delay of 15 MTU-sized packets".
        let mut schedule = Schedule::new(Scheduler::Wrr, 1.0 / 16.0, Duration::ZERO);
        let (mut run, mut longest, mut count) = (0, 0, 0);
        for _ in 0..1_000 {
            let class = schedule.choose(BOTH).unwrap();
            schedule.on_sent(class, 1500);
            match class {
                Class::L => run += 1,
                // The first one waits besides for what the L queue is favoured by at the start.
                Class::C => {
                    longest = if count == 0 { 0 } else { longest.max(run) };
                    (run, count) = (0, count + 1);
                }
            }
        }
        assert_eq!(longest, 15);
    }

    #[test]
    fn a_time_shifted_fifo_serves_the_head_that_waited_longer() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let schedule = Schedule::new(Scheduler::TimeShifted, 0.1, Duration::from_millis(50));
        for (l, c, class) in [
            (ms(1), ms(51), Some(Class::L)),
            (ms(1), ms(52), Some(Class::C)),
            (None, ms(1), Some(Class::C)),
            (ms(0), None, Some(Class::L)),
            (None, None, None),
        ] {
            assert_eq!(schedule.choose([l, c]), class, "{l:?} {c:?}");
        }
    }
}
