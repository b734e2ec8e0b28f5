//! A trace of channel quality indicators: how good the air is, slot by slot, again and again.

use crate::radio::rate_map::cqi;
use crate::radio::shared_channel::SLOT;
use lasthop_net::engine::{Decibel, Instant};

use super::{Quality, State};

/// A number of slots, and their common CQI.
pub type Run = (u32, u8);

/// Traces of terminals.
pub struct Traces(Vec<Trace>);

/// The trace of a terminal.
struct Trace {
    /// When each run ends, in slots from the beginning of the trace, and its CQI.
    ends: Vec<(u64, u8)>,
}

impl Traces {
    /// One trace for each terminal: runs with at least one slot each, and at least one of them.
    pub fn new<'a>(traces: impl Iterator<Item = &'a [Run]>) -> Self {
        let trace = |runs: &[Run]| {
            let mut end = 0;
            let ends = runs.iter().map(|(slots, cqi)| {
                end += u64::from(*slots);
                (end, *cqi)
            });
            Trace { ends: ends.collect() }
        };
        Self(traces.map(trace).collect())
    }
}

impl Trace {
    /// How long it is, in slots.
    fn period(&self) -> u64 {
        self.ends.last().map_or(1, |(end, _)| *end)
    }
}

impl Quality for Traces {
    fn state(&mut self, terminal: u32, at: Instant) -> State {
        let trace = &self.0[terminal as usize];
        if let [(_, cqi)] = trace.ends[..] {
            return State { sir: cqi::to_sir(cqi), valid_until: Instant::MAX };
        }
        let slot = at.as_nanos() / SLOT.as_nanos();
        let within = slot % trace.period();
        let (end, cqi) = trace.ends[trace.ends.partition_point(|(end, _)| *end <= within)];
        State { sir: cqi::to_sir(cqi), valid_until: Instant::ZERO + SLOT * (slot - within + end) }
    }

    /// The mean over the trace, in dB.
    fn usual(&self, terminal: u32) -> Decibel {
        let trace = &self.0[terminal as usize];
        let mut begin = 0;
        let sum = trace.ends.iter().map(|(end, cqi)| {
            let slots = end - std::mem::replace(&mut begin, *end);
            slots as f64 * cqi::to_sir(*cqi).db()
        });
        Decibel::new(sum.sum::<f64>() / trace.period() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Duration;

    #[test]
    fn a_trace_goes_on_again_and_again() {
        let mut traces = Traces::new([&[(3, 8), (2, 16), (1, 9)][..], &[(1, 22)]].into_iter());
        for (us, cqi, until) in [
            (0, 8, 6),
            (5_999, 8, 6),
            (6_000, 16, 10),
            (9_800, 16, 10),
            (10_000, 9, 12),
            (12_000, 8, 18),
            (1_200_007, 8, 1_206),
        ] {
            let at = Instant::ZERO + Duration::from_micros(us);
            let State { sir, valid_until } = traces.state(0, at);
            assert_eq!(cqi::of_sir(sir), cqi, "at {us} us");
            assert_eq!(valid_until, Instant::ZERO + Duration::from_millis(until), "at {us} us");
            assert_eq!(cqi::of_sir(traces.state(1, at).sir), 22);
        }
        let mean = (3.0 * cqi::to_sir(8).db() + 2.0 * cqi::to_sir(16).db() + cqi::to_sir(9).db()) / 6.0;
        assert!((traces.usual(0).db() - mean).abs() < 1e-12);
    }
}
