//! What changes of a scenario impose on the air of single terminals, whatever their radio: no coverage, lost blocks, another quality.

use std::collections::BTreeMap;

use lasthop_net::engine::{Decibel, Instant};
use lasthop_net::net::Change;
use lasthop_net::net::loss::Loss;

use super::Direction;
use super::channel::{Block, Channel, Receivers};
use super::quality::State;

/// The changes imposed on terminals. Most have nothing imposed on them, and cost nothing.
#[derive(Default)]
pub struct Imposed(BTreeMap<u32, Imposition>);

/// The changes imposed on a terminal.
struct Imposition {
    covered: bool,
    /// Down.
    loss: Loss,
    /// By how much the ratio of signal to interference is better than it is by itself.
    better: Decibel,
}

/// The fields of a change that a radio takes for its terminals if it chooses formats by quality …
pub const CHANGES: [&str; 4] = ["quality", "up", "loss", "loss_for"];
/// … and if it does not.
pub const LOSSES: &[&str] = CHANGES.split_at(1).1;

/// The ratio of signal to interference where there is no coverage: no format can be received.
pub const NO_SIGNAL: Decibel = Decibel::new(-200.0);

impl Imposed {
    /// Takes what a change says of a terminal.
    pub fn change(&mut self, terminal: u32, now: Instant, change: &mut Change) {
        let nothing = || Imposition { covered: true, loss: Loss::default(), better: Decibel::ZERO };
        let imposition = self.0.entry(terminal).or_insert_with(nothing);
        imposition.covered = change.up.unwrap_or(imposition.covered);
        imposition.better = change.quality.unwrap_or(imposition.better);
        if let Some(loss) = change.loss.take() {
            imposition.loss.replace(loss, change.loss_for.map(|time| now + time));
        }
    }

    /// Whether a terminal has coverage.
    #[inline]
    pub fn covers(&self, terminal: u32) -> bool {
        self.0.get(&terminal).is_none_or(|imposition| imposition.covered)
    }

    /// Whether a block for or from a terminal is lost, whatever the air says of it.
    #[inline]
    pub fn loses(&mut self, terminal: u32, direction: Direction, at: Instant) -> bool {
        let Some(imposition) = self.0.get_mut(&terminal) else { return false };
        let model = imposition.loss.0.as_mut().filter(|_| direction == Direction::Down);
        let lost = model.is_some_and(|model| model.loses(at));
        lost || !imposition.covered
    }

    /// The receivers of a block that comes over `channel`.
    #[inline]
    pub fn receive(&mut self, channel: &mut dyn Channel, block: &Block<'_>) -> Receivers {
        let got = channel.receive(block);
        if self.loses(block.terminal, block.direction, block.at) { Receivers::NOBODY } else { got }
    }

    /// The state of the air to a terminal that is `state` by itself.
    #[inline]
    pub fn on_state(&self, terminal: u32, state: State) -> State {
        match self.0.get(&terminal) {
            None => state,
            Some(imposition) if imposition.covered => State { sir: state.sir + imposition.better, ..state },
            Some(_) => State { sir: NO_SIGNAL, ..state },
        }
    }
}
