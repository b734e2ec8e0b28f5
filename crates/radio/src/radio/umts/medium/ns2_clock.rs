//! When PDUs come by ns-2's clock: the sums of EURANE's cell.
//!
//! EURANE adds its intervals up in seconds, as doubles, one by one; and to the beginning of an interval what a PDU of it takes. The
//! transports of ns-2 at both ends subtract such times. Differences that are equal in nanoseconds are equal there or not, as
//! roundings have it, and that decides where a rate or a number of ticks is compared (see [`FloatTime`]).

use crate::radio::shared_channel::SLOT;
use lasthop_net::engine::{Duration, FloatTime, Instant};

use super::hs_dsch;
use super::landing::BEYOND_AIR;

/// The intervals by ns-2's clock.
#[derive(Default)]
pub(super) struct Ns2Clock {
    sums: Vec<Sum>,
}

/// Intervals of one length, added up.
struct Sum {
    tti: Duration,
    /// The last beginning that was looked at, by both clocks.
    last: Instant,
    time: FloatTime,
}

impl Ns2Clock {
    /// The beginning, `before` the instant `at`, of an interval of length `tti`; `None` if none begins then.
    fn beginning(&mut self, tti: Duration, at: Instant, before: Duration) -> Option<FloatTime> {
        let place = self.sums.iter().position(|sum| sum.tti == tti).unwrap_or_else(|| {
            self.sums.push(Sum { tti, last: Instant::ZERO, time: FloatTime::default() });
            self.sums.len() - 1
        });
        let sum = &mut self.sums[place];
        while sum.last + before < at {
            sum.last += tti;
            sum.time = sum.time.after_duration(tti);
        }
        (sum.last + before == at).then_some(sum.time)
    }

    /// The instant `at` when a block is at the terminals; `None` if it is not one of these.
    pub fn at_terminal(&mut self, at: Instant) -> Option<FloatTime> {
        Some(self.beginning(SLOT, at, hs_dsch::BEYOND_AIR)?.after(PROPAGATION))
    }

    /// The instant `at` when a PDU of an interval of length `tti` is at the Node B; `None` if it is not one of these.
    pub fn at_node_b(&mut self, tti: Duration, at: Instant) -> Option<FloatTime> {
        let beginning = self.beginning(tti, at, tti + BEYOND_AIR)?;
        Some(beginning.after(PROPAGATION).after(MAC + tti.as_secs_f64()))
    }
}

/// Over the air (`delay_` of a channel), in seconds, as ns-2 reads microseconds.
const PROPAGATION: f64 = 5.0 * 1e-6;
/// What the MAC adds (`delay_` of `Mac/Umts`), in seconds.
const MAC: f64 = 10.0 * 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    /// In EURANE's run `5ue-c16-ci-tfrc` (tests/reference/eurane-2/hsdpa) a report that comes at 3.525 066 s echoes a packet of
    /// 3.275 066 s. TFRC counts a round trip in whole tenths of a second, and by its sums these 0.25 s are 2, as a program of doubles
    /// prints for `t += 0.01`: from 2 s on; before, and after 16 s, they are 3.
    #[test]
    fn a_quarter_of_a_second_is_two_ticks_or_three() {
        let mut clock = Ns2Clock::default();
        let tti = Duration::from_millis(10);
        for (seconds, ticks) in
            [(1.0, 3), (1.5, 3), (2.5, 2), (3.25, 2), (3.9, 2), (7.5, 2), (15.5, 2), (16.5, 3), (25.0, 3)]
        {
            let sent = (seconds * 1e6) as u64 + 10_015;
            let at = [sent, sent + 250_000].map(|at| clock.at_node_b(tti, us(at)).unwrap());
            let round_trip = at[1].seconds_since(at[0]);
            assert_eq!((round_trip / 0.1 + 0.5) as u32, ticks, "from {seconds} s on");
            assert_eq!(at[1].instant(), us(sent + 250_000));
        }
        assert_eq!(clock.at_node_b(tti, us(26_003_000)), None, "no interval ends then");
    }

    /// Blocks with equal distances in slots are equally far apart by ns-2's clock, while its doubles have the same spacing: a rate of
    /// reception that stays the same is no greater than itself.
    #[test]
    fn equal_distances_stay_equal() {
        let mut clock = Ns2Clock::default();
        let times: Vec<FloatTime> =
            (2_050..3_950).map(|slot| clock.at_terminal(us(slot * 2_000 + 5)).unwrap()).collect();
        let distances = times.windows(53).map(|w| w[52].seconds_since(w[0]));
        assert!(
            distances.clone().all(|d| d == 0.103_999_999_999_988_55),
            "{:?}",
            distances.take(3).collect::<Vec<_>>()
        );
    }
}
