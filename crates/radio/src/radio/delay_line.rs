//! A delay without a queue, constant or nearly so: packets on the air, or on a wire that never fills.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant, Target};
use lasthop_net::net::{Core, Pkt};

/// Packets on their way, each with the number of the terminal that it is for or from. One wake-up is pending while there are any.
pub struct DelayLine {
    delay: Duration,
    /// Woken when packets come.
    target: Target,
    /// With when each comes and when it was sent, in the order in which they come.
    packets: VecDeque<(Instant, Instant, u32, Pkt)>,
    /// When the next wake-up is due.
    armed: Option<Instant>,
}

impl DelayLine {
    /// An empty one, which wakes `target`.
    pub fn new(delay: Duration, target: Target) -> Self {
        Self { delay, target, packets: VecDeque::new(), armed: None }
    }

    /// How long the way takes.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Sends a packet.
    #[inline]
    pub fn send(&mut self, core: &mut Core, terminal: u32, pkt: Pkt) {
        let due = core.now() + self.delay;
        self.send_until(core, due, terminal, pkt);
    }

    /// Sends a packet that comes when it is `due`.
    #[inline]
    pub fn send_until(&mut self, core: &mut Core, due: Instant, terminal: u32, pkt: Pkt) {
        let sent = core.now();
        // Nearly always the last.
        let place = self.packets.iter().rposition(|(before, ..)| *before <= due).map_or(0, |place| place + 1);
        self.packets.insert(place, (due, sent, terminal, pkt));
        if place == 0 {
            self.arm(core, due, sent);
        }
    }

    /// Asks for a wake-up, if none is due by then.
    #[inline]
    fn arm(&mut self, core: &mut Core, due: Instant, sent: Instant) {
        if self.armed.is_none_or(|armed| armed <= core.now() || due < armed) {
            core.arm(self.target, due, sent);
            self.armed = Some(due);
        }
    }

    /// The next packet that has come by now, with its terminal. To be asked at each wake-up until there is none: then the next one
    /// is armed.
    #[inline]
    pub fn take(&mut self, core: &mut Core) -> Option<(u32, Pkt)> {
        let &(due, sent, ..) = self.packets.front()?;
        if due > core.now() {
            self.arm(core, due, sent);
            return None;
        }
        self.packets.pop_front().map(|(_, _, terminal, pkt)| (terminal, pkt))
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
