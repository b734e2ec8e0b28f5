//! A channel whose blocks come by the ratio of signal to interference (SIR) that power control leaves.
//!
//! Down, a terminal adds the SIRs of the cells of its active set, which all send with one power. Up, each Node B adds those of
//! its own cells, and receives or not by itself; the terminal raises its power only if all ask for that (TS 25.214 §5.1.2.2.2),
//! so it follows the best. Common channels have no loops: down with a fixed power, up with that of the open loop.
//!
//! Nothing of this is an event. When a block comes, the frames since the last one are run, but not more of them than it takes
//! the inner loop from one end of its range to the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::channel::{Block, Channel, Receivers};
use crate::radio::propagation::noise;
use crate::radio::umts::channel::Rate;
use lasthop_net::engine::{Decibel, Duration, Fault, Instant, Level, Probability, Stream};
use lasthop_net::net::Probe;

use super::block_errors::BlockErrors;
use super::inner_loop::{FRAME, InnerLoop};
use super::open_loop;
use super::outer_loop::OuterLoop;

/// Powers, interference, and the loops that control powers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoopsConfig {
    /// The share of bad blocks that the outer loop aims at. Default: 0.01: the usual one for data (3GPP TS 25.101 §8 tests 0.1
    /// to 0.001).
    pub block_errors: Probability,
    /// By how much a bad block raises the target of the SIR. Default: 0.5 dB.
    pub outer_step: Decibel,
    /// By how much a slot's command changes a power. Default: 1 dB (TS 25.214 §5.1.2.2).
    pub inner_step: Decibel,
    /// The SIR of a slot at which every second block is bad. Default: 4 dB.
    pub half: Decibel,
    /// How wide the fall of the curve of bad blocks is: they are 1/(1 + exp((SIR − `half`)/`width`)).
    /// Default: 0.5 dB.
    pub width: Decibel,
    /// What each cell sends in all, always. Default: 40 dBm: half of the most (43 dBm, TR 25.942
    /// §5.1.4.1).
    pub cell_power: Level,
    /// The least and the highest power of a dedicated channel down. Default: 5 to 30 dBm (the same: a range
    /// of 25 dB).
    pub link_power: [Level; 2],
    /// The least and the highest power of a terminal. −44 to 21 dBm (the same: a range of 65 dB).
    pub terminal_power: [Level; 2],
    /// The power of the forward access channel. Default: 33 dBm.
    pub access_power: Level,
    /// How far above the interference a terminal's random access comes to its Node B, before despreading: the constant value of
    /// TS 25.331 §8.5.7. −15 dB.
    pub access_constant: Decibel,
    /// Which share of what its own cell sends disturbs a terminal: 1 less the orthogonality of its codes. Default: 0.4 (TR 25.942
    /// §5.1.4.1).
    pub own_cell: Probability,
    /// The noise figure of terminals. Default: 9 dB (the same).
    pub terminal_noise: Decibel,
    /// The noise figure of Node Bs. Default: 5 dB (the same).
    pub node_b_noise: Decibel,
    /// By how much all terminals raise a Node B's noise. Default: 6 dB (the same: a load of 75 %).
    pub noise_rise: Decibel,
}

impl Default for LoopsConfig {
    fn default() -> Self {
        let levels = |least, most| [Level::from_dbm(least), Level::from_dbm(most)];
        Self {
            block_errors: Probability::new(0.01).unwrap_or_default(),
            outer_step: Decibel::new(0.5),
            inner_step: Decibel::new(1.0),
            half: Decibel::new(4.0),
            width: Decibel::new(0.5),
            cell_power: Level::from_dbm(40.0),
            link_power: levels(5.0, 30.0),
            terminal_power: levels(-44.0, 21.0),
            access_power: Level::from_dbm(33.0),
            access_constant: Decibel::new(-15.0),
            own_cell: Probability::new(0.4).unwrap_or_default(),
            terminal_noise: Decibel::new(9.0),
            node_b_noise: Decibel::new(5.0),
            noise_rise: Decibel::new(6.0),
        }
    }
}

impl LoopsConfig {
    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        let bad = self.block_errors.get();
        if bad <= 0.0 || bad >= 1.0 {
            let message = format!("the outer loop cannot aim at a share of {bad} bad blocks");
            return Err(Fault::new("block_errors", message, "expected more than 0 and less than 1"));
        }
        for (field, step) in [("outer_step", self.outer_step), ("inner_step", self.inner_step), ("width", self.width)] {
            if step <= Decibel::ZERO {
                return Err(Fault::new(field, format!("a step of {step}"), "expected more than 0 dB"));
            }
        }
        for (field, [least, most]) in [("link_power", self.link_power), ("terminal_power", self.terminal_power)] {
            if most < least {
                return Err(Fault::new(field, "the highest power lies below the least", "expected the least first"));
            }
            if (most - least).db() / self.inner_step.db() > MOST_STEPS {
                let message = format!("{} in steps of {}", most - least, self.inner_step);
                return Err(Fault::new(field, message, format!("expected at most {MOST_STEPS} steps")));
            }
        }
        Ok(())
    }
}

/// The chip rate, in hertz (TS 25.213).
const CHIP_RATE: f64 = 3.84e6;
/// The most steps of the inner loop from the least power to the highest: a second of slots would do.
const MOST_STEPS: f64 = 100_000.0;
/// The target stays so near to where every second block is bad.
const TARGET_RANGE: Decibel = Decibel::new(10.0);

/// What the loops know of the cells and channels.
pub struct Plan {
    /// Of each cell: its carrier and its Node B.
    pub cells: Vec<[u32; 2]>,
    /// What pilots are sent with.
    pub pilot: Level,
    /// Common channels, down and up.
    pub common: [Rate; 2],
    /// Dedicated channels, down and up.
    pub dedicated: [Rate; 2],
}

/// The channel.
pub struct Loops {
    config: LoopsConfig,
    plan: Plan,
    errors: BlockErrors,
    /// In milliwatts: what a cell sends, the noise of a terminal.
    cell_power: f64,
    terminal_noise: f64,
    /// The interference at a Node B.
    interference: Level,
    terminals: Vec<Terminal>,
    draws: Vec<[Stream; 2]>,
    /// Gains at an instant; of no meaning between blocks.
    gains: Vec<Decibel>,
}

/// The state of a terminal.
struct Terminal {
    /// The gains to all cells at the last measurement and at the next, and when these are.
    gains: [Vec<Decibel>; 2],
    times: [Instant; 2],
    links: [Link; 2],
}

/// A direction of a terminal's dedicated channels.
struct Link {
    /// Its loops; `None` until the first block after a new begin.
    loops: Option<(InnerLoop, Instant)>,
    outer: OuterLoop,
    /// The mean power of the interval that began at this instant, whose blocks come now.
    block: (Instant, Level),
    /// The SIR of the last block.
    sir: Decibel,
    blocks: u64,
    bad: u64,
}

impl Loops {
    /// The channel of these cells. `draws` are the streams of each terminal, down and up.
    pub fn new(config: &LoopsConfig, plan: Plan, draws: Vec<[Stream; 2]>) -> Self {
        let errors = BlockErrors { half: config.half, width: config.width };
        let bad = config.block_errors.get();
        let range = [config.half - TARGET_RANGE, config.half + TARGET_RANGE];
        let link = || Link {
            loops: None,
            outer: OuterLoop::new(errors.sir(bad), config.outer_step, bad, range),
            block: (Instant::MAX, Level::default()),
            sir: Decibel::ZERO,
            blocks: 0,
            bad: 0,
        };
        let terminal = |_| Terminal { gains: Default::default(), times: [Instant::ZERO; 2], links: [link(), link()] };
        Self {
            errors,
            cell_power: config.cell_power.milliwatts(),
            terminal_noise: noise::thermal(CHIP_RATE, config.terminal_noise).milliwatts(),
            interference: noise::thermal(CHIP_RATE, config.node_b_noise) + config.noise_rise,
            terminals: draws.iter().map(terminal).collect(),
            config: config.clone(),
            plan,
            draws,
            gains: Vec::new(),
        }
    }

    /// The SIR at a terminal that a power of 0 dBm from each of `cells` would have before despreading, with these gains.
    fn quality_down(&self, cells: &[u32], gains: &[Decibel]) -> f64 {
        let carrier = |cell: u32| self.plan.cells[cell as usize][0];
        let Some(own) = cells.first().map(|cell| carrier(*cell)) else { return 0.0 };
        let all: f64 = (0..).zip(gains).filter(|(cell, _)| carrier(*cell) == own).map(|(_, gain)| gain.ratio()).sum();
        let heard = self.cell_power * all + self.terminal_noise;
        let orthogonal = (1.0 - self.config.own_cell.get()) * self.cell_power;
        let of = |cell: &u32| {
            let gain = gains[*cell as usize].ratio();
            gain / (heard - orthogonal * gain)
        };
        cells.iter().map(of).sum()
    }

    /// The same up, at the Node B of the cell at a place of the list.
    fn quality_up(&self, cells: &[u32], place: usize, gains: &[Decibel]) -> f64 {
        let node_b = |cell: u32| self.plan.cells[cell as usize][1];
        let here = node_b(cells[place]);
        let of_here = cells.iter().filter(|cell| node_b(**cell) == here);
        of_here.map(|cell| gains[*cell as usize].ratio()).sum::<f64>() / self.interference.milliwatts()
    }

    /// The same as it steers the sender: up that of the best Node B.
    fn quality(&self, direction: Direction, cells: &[u32], gains: &[Decibel], spreading: Decibel) -> Decibel {
        let ratio = match direction {
            Direction::Down => self.quality_down(cells, gains),
            Direction::Up => (0..cells.len()).map(|place| self.quality_up(cells, place, gains)).fold(0.0, f64::max),
        };
        Decibel::of(ratio) + spreading
    }

    /// What despreading gains on a channel.
    fn spreading(rate: Rate) -> Decibel {
        Decibel::of(CHIP_RATE / rate.rate.as_bps() as f64)
    }

    /// The power of a dedicated channel's interval, as a mean of its slots.
    fn power(&mut self, block: &Block<'_>, spreading: Decibel, tti: Duration) -> Level {
        let n = block.terminal as usize;
        let direction = block.direction;
        let link = &self.terminals[n].links[direction.index()];
        if link.block.0 == block.sent {
            return link.block.1;
        }
        let target = link.outer.target();
        let range = match direction {
            Direction::Down => self.config.link_power,
            Direction::Up => self.config.terminal_power,
        };
        let step = self.config.inner_step;
        let longest =
            FRAME * (((range[1] - range[0]).db() / step.db() / f64::from(super::inner_loop::SLOTS)) as u64 + 1);
        let end = block.sent + tti;
        let mut gains = std::mem::take(&mut self.gains);
        let mut quality = |loops: &Self, at: Instant| {
            loops.terminals[n].gains_at(at, &mut gains);
            loops.quality(direction, block.cells, &gains, spreading)
        };
        let (mut inner, done) = link.loops.unwrap_or_else(|| {
            // The first power is that which the target needs now.
            let needed = Level::from_dbm((target - quality(self, block.sent)).db());
            (InnerLoop::new(needed, step, range), block.sent)
        });
        let frames = |from: Instant, until: Instant| until.since(from).as_nanos() / FRAME.as_nanos();
        let mut at = Instant::from_nanos(done.as_nanos().max(block.sent.as_nanos().saturating_sub(longest.as_nanos())));
        let (mut sum, mut counted) = (0.0, 0u32);
        let mut before = quality(self, at);
        for _ in 0..frames(at, end) {
            let next = at + FRAME;
            let after = quality(self, next);
            let mean = inner.run_frame([before, after], target);
            if next > block.sent {
                (sum, counted) = (sum + mean.dbm(), counted + 1);
            }
            (at, before) = (next, after);
        }
        self.gains = gains;
        let mean = if counted > 0 { Level::from_dbm(sum / f64::from(counted)) } else { inner.power() };
        let link = &mut self.terminals[n].links[direction.index()];
        link.loops = Some((inner, at));
        link.block = (block.sent, mean);
        mean
    }
}

impl Terminal {
    /// The gains at an instant: on a straight line between two measurements, on the logarithmic scale.
    fn gains_at(&self, at: Instant, gains: &mut Vec<Decibel>) {
        let [from, to] = self.times;
        let whole = to.since(from).as_secs_f64();
        let share = if whole > 0.0 { (at.since(from).as_secs_f64() / whole).min(1.0) } else { 1.0 };
        gains.clear();
        gains.extend(self.gains[0].iter().zip(&self.gains[1]).map(|(from, to)| *from + (*to - *from).times(share)));
    }
}

impl Loops {
    /// What a channel without loops sends with, at these gains.
    fn open_power(&self, block: &Block<'_>, gains: &[Decibel]) -> Level {
        if block.direction == Direction::Down {
            return self.config.access_power;
        }
        let heard = self.plan.pilot + gains[block.cells[0] as usize];
        let power = open_loop::first_power(self.plan.pilot, heard, self.interference, self.config.access_constant);
        power.within(self.config.terminal_power[0], self.config.terminal_power[1])
    }

    /// Whether a terminal receives a block. `full` is the SIR that a quality of 1 would mean. Also gives the SIR.
    fn receive_down(&mut self, block: &Block<'_>, gains: &[Decibel], full: Decibel) -> (Receivers, Decibel) {
        let sir = full + Decibel::of(self.quality_down(block.cells, gains));
        let good = self.draws[block.terminal as usize][0].unit() >= self.errors.chance(sir);
        (if good { Receivers::ALL } else { Receivers::NOBODY }, sir)
    }

    /// Which Node Bs receive a block, each by itself, and the best SIR among them.
    fn receive_up(&mut self, block: &Block<'_>, gains: &[Decibel], full: Decibel) -> (Receivers, Decibel) {
        let mut got = Receivers::NOBODY;
        let mut best = Decibel::new(f64::NEG_INFINITY);
        for (place, cell) in block.cells.iter().enumerate() {
            let node_b = |cell: u32| self.plan.cells[cell as usize][1];
            let same = block.cells[..place].iter().position(|other| node_b(*other) == node_b(*cell));
            let received = same.map_or_else(
                || {
                    let sir = full + Decibel::of(self.quality_up(block.cells, place, gains));
                    best = if sir > best { sir } else { best };
                    self.draws[block.terminal as usize][1].unit() >= self.errors.chance(sir)
                },
                |same| got.at(same),
            );
            if received {
                got = got.and(place);
            }
        }
        (got, best)
    }
}

impl Channel for Loops {
    fn receive(&mut self, block: &Block<'_>) -> Receivers {
        let (n, direction) = (block.terminal as usize, block.direction);
        let rate = if block.dedicated { self.plan.dedicated } else { self.plan.common }[direction.index()];
        let spreading = Self::spreading(rate);
        let closed = block.dedicated.then(|| self.power(block, spreading, rate.tti));
        // The middle of the interval stands for all of it.
        let mut gains = std::mem::take(&mut self.gains);
        self.terminals[n].gains_at(block.sent + rate.tti.mul_f64(0.5), &mut gains);
        let power = closed.unwrap_or_else(|| self.open_power(block, &gains));
        let full = spreading + (power - Level::from_dbm(0.0));
        let (got, sir) = match direction {
            Direction::Down => self.receive_down(block, &gains, full),
            Direction::Up => self.receive_up(block, &gains, full),
        };
        self.gains = gains;
        if block.dedicated {
            let link = &mut self.terminals[n].links[direction.index()];
            link.sir = sir;
            link.blocks += 1;
            link.bad += u64::from(!got.any());
            link.outer.on_block(got.any());
        }
        got
    }

    fn on_gains(&mut self, at: Instant, terminal: u32, gains: &[Decibel]) {
        let terminal = &mut self.terminals[terminal as usize];
        terminal.gains.swap(0, 1);
        terminal.times = [terminal.times[1], at];
        terminal.gains[1].clear();
        terminal.gains[1].extend_from_slice(gains);
    }

    fn on_new_link(&mut self, _now: Instant, terminal: u32) {
        for link in &mut self.terminals[terminal as usize].links {
            link.loops = None;
        }
    }

    fn sample(&self, terminal: u32, direction: Direction, probe: &mut dyn Probe) {
        let link = &self.terminals[terminal as usize].links[direction.index()];
        let (sir, power) = ((link.blocks > 0).then_some(link.sir), link.loops.map(|_| link.block.1));
        sir.into_iter().for_each(|sir| probe.value("sir_db", sir.db()));
        probe.value("sir_target_db", link.outer.target().db());
        power.into_iter().for_each(|power| probe.value("power_dbm", power.dbm()));
        probe.value("blocks", link.blocks as f64);
        probe.value("bad_blocks", link.bad as f64);
    }
}

#[cfg(test)]
mod tests;
