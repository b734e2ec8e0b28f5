//! What EURANE draws on common channels, with ns-2's generator.
//!
//! EURANE has one generator for all that it draws, and asks it in the order of events:
//!
//! - as RLC entities hand down PDUs: how long until each leaves (`overhead_`); and again when it has left, in vain, since FACH and RACH carry
//!   one PDU in an interval;
//! - as an interval of a channel begins, if something waits there: the delay of access, which has no effect on FACH;
//! - as a PDU arrives over the air, if any can be lost: whether it is.

use std::sync::{Arc, Mutex, PoisonError};

use lasthop_core::engine::choice::Custom;
use lasthop_core::engine::{Duration, Instant, Stream};
use lasthop_core::net::Simulation;
use lasthop_core::net::loss::{Loss, LossConfig, LossModel};
use lasthop_core::net::observe::{PduStep, Place};
use lasthop_core::radio::umts::timing::{Timing, TimingConfig, Wake};
use lasthop_core::scenario::registry;
use lasthop_core::scenario::types::Scenario;

use super::as_it_leaves::as_it_leaves;
use crate::mrg::Mrg32k3a;

/// The generator, and where in the order of events it is.
#[derive(Clone)]
pub struct Draws(Arc<Mutex<State>>);

struct State {
    generator: Mrg32k3a,
    /// Draws of no effect that are due: at any time before the next with one.
    in_vain: u32,
    /// When PDUs leave that were handed down last, by EURANE's clock: each draws in vain then.
    leaving: Vec<f64>,
    /// The last of them.
    last: Leaves,
    /// Clocks as they will be when they wake next, and as they are.
    sums: Sums,
    ticks: Sums,
    /// The places of downlinks; empty before the run.
    downlinks: Vec<Place>,
}

/// When a PDU leaves: by EURANE's clock, and as drawn and as given, after its interval's PDUs are handed down.
#[derive(Clone, Copy, Default)]
struct Leaves {
    seconds: f64,
    handed_down: Instant,
    drawn: f64,
    nanos: u64,
}

impl State {
    /// The next with an effect, after all PDUs have left.
    fn draw(&mut self) -> f64 {
        self.draw_at(f64::INFINITY)
    }

    /// The next with an effect, at this time of EURANE's clock.
    fn draw_at(&mut self, seconds: f64) -> f64 {
        let still = |leaves: &f64| *leaves >= seconds;
        let before = self.leaving.len();
        self.leaving.retain(still);
        self.in_vain += (before - self.leaving.len()) as u32;
        for _ in 0..std::mem::take(&mut self.in_vain) {
            self.generator.uniform();
        }
        self.generator.uniform()
    }
}

impl Draws {
    /// What this generator will draw.
    pub fn new(generator: Mrg32k3a) -> Self {
        Self(Arc::new(Mutex::new(State {
            generator,
            in_vain: 0,
            leaving: Vec::new(),
            last: Leaves::default(),
            sums: Sums::default(),
            ticks: Sums::default(),
            downlinks: Vec::new(),
        })))
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets the cell of a scenario draw here, and lose PDUs with these probabilities, down and up.
    pub fn decide(&self, scenario: &mut Scenario, [down, up]: [f64; 2]) {
        let Some(cell) = scenario.cell.first_mut() else { return };
        let lossy = |p: f64| {
            let config = Arc::new(Lossy { draws: self.clone(), p });
            (p > 0.0).then(|| registry::LossModel::custom("losses of ns-2", config))
        };
        cell.loss = lossy(down);
        cell.uplink_loss = lossy(up);
        cell.rlc = cell.rlc.as_ref().map(as_it_leaves);
        cell.timing = Some(Custom::new("draws of ns-2", Arc::new(self.clone())));
    }

    /// Learns the places of a simulation.
    pub fn begin(&self, simulation: &mut Simulation) {
        let core = simulation.core_mut();
        let count = core.place("the last one").0;
        let downlinks = (0..count).map(Place).filter(|place| core.place_name(*place).ends_with("] down")).collect();
        self.with(|state| state.downlinks = downlinks);
    }

    /// A PDU is handed down, or sent over the air.
    pub fn see(&self, place: Place, step: PduStep) {
        self.with(|state| match step {
            PduStep::Sent => state.leaving.push(state.last.seconds),
            PduStep::Aired if state.downlinks.contains(&place) => state.in_vain += 1,
            PduStep::Aired | PduStep::Dropped | PduStep::Lost | PduStep::Received => {}
        });
    }
}

impl TimingConfig for Draws {
    fn build(&self) -> Box<dyn Timing> {
        Box::new(self.clone())
    }
}

impl Timing for Draws {
    fn spacing(&mut self, now: Instant, tti: Duration, most: Duration) -> Duration {
        self.with(|state| {
            let tick = state.ticks.at(now, Wake::HandDown, tti);
            let drawn = state.draw_at(tick);
            let mut nanos = (drawn * most.as_nanos() as f64) as u64;
            // Two in the same nanosecond leave in their order all the same.
            let last = state.last;
            if last.handed_down == now && nanos == last.nanos && drawn < last.drawn {
                nanos = nanos.saturating_sub(1);
            }
            state.last = Leaves { seconds: tick + drawn * most.as_secs_f64(), handed_down: now, drawn, nanos };
            Duration::from_nanos(nanos)
        })
    }

    fn access(&mut self, _now: Instant, most: Duration) -> Duration {
        self.with(|state| Duration::from_nanos((state.draw() * most.as_nanos() as f64) as u64))
    }

    fn order(&mut self, _now: Instant, at: Instant, wake: Wake, tti: Duration) -> Instant {
        self.with(|state| state.sums.order(at, wake, tti))
    }
}

/// EURANE's clocks run for ever, each by a sum of its intervals in seconds, as doubles. What falls on one instant has the order of these
/// sums; where they are equal, what was asked for first comes first, which is the longer interval.
#[derive(Default)]
struct Sums(Vec<Sum>);

struct Sum {
    wake: Wake,
    tti: Duration,
    at: Instant,
    seconds: f64,
}

impl Sums {
    /// By the sum of this clock, the wake-up at this instant.
    fn at(&mut self, at: Instant, wake: Wake, tti: Duration) -> f64 {
        let place = self.0.iter().position(|sum| sum.wake == wake && sum.tti == tti).unwrap_or_else(|| {
            let lead = if wake == Wake::HandDown { 1 } else { 0 };
            let first = Instant::ZERO + tti.saturating_sub(Duration::from_millis(lead));
            self.0.push(Sum { wake, tti, at: first, seconds: tti.as_secs_f64() - lead as f64 * 0.001 });
            self.0.len() - 1
        });
        let sum = &mut self.0[place];
        while sum.at < at {
            sum.at += sum.tti;
            sum.seconds += sum.tti.as_secs_f64();
        }
        sum.seconds
    }

    fn order(&mut self, at: Instant, wake: Wake, tti: Duration) -> Instant {
        let before = |tti: Duration| Instant::from_nanos(at.as_nanos().saturating_sub(tti.as_nanos()));
        if tti <= FACH {
            return before(tti);
        }
        let is_first = self.at(at, wake, tti) <= self.at(at, wake, FACH);
        if is_first { before(tti) } else { before(FACH) + Duration::from_nanos(1) }
    }
}

/// The interval of FACH; RACH has longer ones.
const FACH: Duration = Duration::from_millis(10);

/// Losses drawn by ns-2's generator.
struct Lossy {
    draws: Draws,
    p: f64,
}

impl LossConfig for Lossy {
    fn build(&self, _stream: Stream) -> Loss {
        Loss(Some(Box::new(Self { draws: self.draws.clone(), p: self.p })))
    }
}

impl LossModel for Lossy {
    fn loses(&mut self, _now: Instant) -> bool {
        self.draws.with(State::draw) < self.p
    }
}
