//! When PDUs come by ns-2's clock: the sums of EURANE's cell.
//!
//! EURANE adds its intervals up in seconds, as doubles, one by one; and to the beginning of an interval what a PDU of it takes. The
//! transports of ns-2 at both ends subtract such times. Differences that are equal in nanoseconds are equal there or not, as
//! roundings have it, and that decides where a rate or a number of ticks is compared (see [`FloatTime`]).

use crate::engine::{Duration, FloatTime, Instant};
use crate::radio::rate_map::cqi::SLOT;

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
