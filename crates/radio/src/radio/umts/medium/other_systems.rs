//! Other systems that serve terminals of the medium: a queue, a rate and a delay for each terminal and direction.

use crate::radio::Direction;
use lasthop_net::engine::Duration;
use lasthop_net::net::clock::Exact;
use lasthop_net::net::medium::{Access, Change, End};
use lasthop_net::net::observe::{Probe, What};
use lasthop_net::net::transmitter::{KEYS, Setup, Transmitter};
use lasthop_net::net::{Core, Pkt};

/// Keys from here on are those of transmitters.
pub(super) const FIRST_KEY: u32 = 1 << 31;

/// The transmitters of all terminals at all other systems, down and up: those of one terminal one after the other.
#[derive(Default)]
pub struct OtherSystems {
    systems: u32,
    transmitters: Vec<[Transmitter<Exact>; 2]>,
}

impl OtherSystems {
    /// The transmitters of `systems` systems. `setup` says how the transmitters of a terminal at a system are set up; wake-ups come to
    /// `component`, and `ends` are those of an RNC and of the terminals.
    pub fn new(
        core: &mut Core,
        component: u32,
        rnc: End,
        terminals: &[End],
        systems: u32,
        mut setup: impl FnMut(&mut Core, u32, u32) -> [Setup; 2],
    ) -> Self {
        let mut transmitters = Vec::with_capacity(terminals.len() * systems as usize);
        for (terminal, ue) in (0..).zip(terminals) {
            for system in 0..systems {
                let first = FIRST_KEY + 2 * KEYS * transmitters.len() as u32;
                let [down, up] = setup(core, terminal, system);
                transmitters.push([
                    Transmitter::new(core, *ue, component, first, down),
                    Transmitter::new(core, rnc, component, first + KEYS, up),
                ]);
            }
        }
        Self { systems, transmitters }
    }

    fn of(&mut self, terminal: u32, system: u32) -> &mut [Transmitter<Exact>; 2] {
        &mut self.transmitters[(terminal * self.systems + system) as usize]
    }

    /// Takes a packet.
    pub(super) fn accept(&mut self, core: &mut Core, terminal: u32, system: u32, direction: Direction, pkt: Pkt) {
        self.of(terminal, system)[direction.index()].accept(core, pkt);
    }

    /// A terminal comes: nothing is sent for some time, and what it sends comes to this RNC.
    pub(super) fn begin(&mut self, core: &mut Core, terminal: u32, system: u32, rnc: End, interruption: Duration) {
        let transmitters = self.of(terminal, system);
        transmitters[Direction::Up.index()].redirect(rnc);
        for transmitter in transmitters {
            transmitter.change(core, &mut Change { interruption, ..Change::default() }, None);
        }
    }

    /// A terminal leaves: the packets that have not come.
    pub(super) fn end(&mut self, core: &mut Core, terminal: u32, system: u32, direction: Direction) -> Vec<Pkt> {
        self.of(terminal, system)[direction.index()].take_all(core)
    }

    /// The wake-up with this key has come.
    pub(super) fn wake(&mut self, core: &mut Core, key: u32) {
        let number = (key - FIRST_KEY) / KEYS;
        let [down, up] = &mut self.transmitters[number as usize / 2];
        let (this, other) = if number.is_multiple_of(2) { (down, up) } else { (up, down) };
        this.wake(core, key, other);
    }

    pub(super) fn access(&self, terminal: u32, system: u32, direction: Direction) -> Access {
        self.transmitters[(terminal * self.systems + system) as usize][direction.index()].access()
    }

    pub(super) fn holds(&self) -> u64 {
        self.transmitters.iter().flatten().map(Transmitter::holds).sum()
    }

    pub(super) fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        for transmitter in self.transmitters.iter().flatten() {
            probe.part(What::Link, core.place_name(transmitter.place()));
            transmitter.sample(core, probe);
        }
    }
}
