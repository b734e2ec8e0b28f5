//! What takes the same time from one end to the other, and keeps its order: what is on the air, or on a wire that never fills.

use std::collections::VecDeque;

use crate::engine::{Duration, Instant, Target};
use crate::net::{Core, Pkt};

/// Packets on their way, each with the number of the terminal that it is for or from. One wake-up is pending while there are any.
pub struct DelayLine {
    delay: Duration,
    /// Woken when packets come.
    target: Target,
    /// With when each was sent.
    packets: VecDeque<(Instant, u32, Pkt)>,
}

impl DelayLine {
    /// An empty one, which wakes `target`.
    pub fn new(delay: Duration, target: Target) -> Self {
        Self { delay, target, packets: VecDeque::new() }
    }

    /// How long the way takes.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Sends a packet.
    #[inline]
    pub fn send(&mut self, core: &mut Core, terminal: u32, pkt: Pkt) {
        if self.packets.is_empty() {
            core.arm(self.target, core.now() + self.delay, core.now());
        }
        self.packets.push_back((core.now(), terminal, pkt));
    }

    /// The next packet that has come by now, with its terminal. To be asked at each wake-up until there is none: then the next one
    /// is armed.
    #[inline]
    pub fn take(&mut self, core: &mut Core) -> Option<(u32, Pkt)> {
        let &(sent, ..) = self.packets.front()?;
        if sent + self.delay > core.now() {
            core.arm(self.target, sent + self.delay, sent);
            return None;
        }
        self.packets.pop_front().map(|(_, terminal, pkt)| (terminal, pkt))
    }

    /// How many packets are on their way.
    pub fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
