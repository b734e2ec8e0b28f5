//! The wires of the radio access network: an Iub from each Node B to its RNC, and an Iur between RNCs.
//!
//! A terminal's bearer ends at its serving RNC. Node Bs of another one, the drift RNC, are reached over the Iur. Down, each
//! Node B of a terminal gets a copy, and all send it in the same interval. Up, each that received sends a copy, and the first
//! good one counts (3GPP TS 25.401 §7.2.4).

use crate::radio::channel::Receivers;
use lasthop_net::engine::{Duration, FloatTime, Instant};

use super::iub::Iub;

/// The wires, and what they carried.
pub struct Utran {
    /// Per Node B and direction (the last index); the middle index 1 queues Iur traffic separately.
    node_bs: Vec<[[Iub; 2]; 2]>,
    /// The RNC of each Node B.
    rnc: Vec<u32>,
    /// From each RNC to each.
    iur: Vec<Iub>,
    rncs: usize,
    /// The Node B of each cell.
    node_b: Vec<u32>,
    /// Counts of PDUs.
    pub counts: Counts,
}

/// PDUs that wires carried.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Over an Iub, all copies counted.
    pub iub: u64,
    /// Of these, copies beyond the first.
    pub copies: u64,
    /// Over an Iur.
    pub iur: u64,
}

impl Utran {
    /// Wires between `rncs` RNCs and the Node Bs, given by their RNCs; cells are given by their Node Bs. `iub` and `iur` make a wire.
    pub fn new(rncs: usize, rnc: Vec<u32>, node_b: Vec<u32>, iub: impl Fn() -> Iub, iur: impl Fn() -> Iub) -> Self {
        let wires = |_| [[iub(), iub()], [iub(), iub()]];
        Self {
            node_bs: rnc.iter().map(wires).collect(),
            iur: (0..rncs * rncs).map(|_| iur()).collect(),
            counts: Counts::default(),
            rncs,
            rnc,
            node_b,
        }
    }

    /// One RNC, one Node B and one cell.
    pub fn single(iub: impl Fn() -> Iub) -> Self {
        Self::new(1, vec![0], vec![0], &iub, &iub)
    }

    /// How long a bit takes between an RNC and its Node Bs.
    pub fn delay(&self) -> Duration {
        self.node_bs.first().map_or(Duration::ZERO, |wires| wires[0][0].delay())
    }

    /// How many RNCs there are.
    pub fn rncs(&self) -> usize {
        self.rncs
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.node_b.len()
    }

    /// `bits` bits leave a serving RNC for these cells: when the last of their Node Bs has them.
    #[inline]
    pub fn down(&mut self, at: Instant, bits: u32, rnc: u32, cells: &[u32]) -> Instant {
        match cells {
            [cell] => self.down_to(at, bits, rnc, self.node_b[*cell as usize] as usize),
            _ => self.down_to_all(at, bits, rnc, cells),
        }
    }

    #[inline(never)]
    fn down_to_all(&mut self, at: Instant, bits: u32, rnc: u32, cells: &[u32]) -> Instant {
        let mut last = Instant::ZERO;
        for place in 0..cells.len() {
            if let Some(node_b) = self.first_of(cells, place) {
                last = last.max(self.down_to(at, bits, rnc, node_b));
                self.counts.copies += u64::from(place > 0);
            }
        }
        last
    }

    /// `bits` bits leave a serving RNC for this Node B: when it has them.
    #[inline(always)]
    fn down_to(&mut self, at: Instant, bits: u32, rnc: u32, node_b: usize) -> Instant {
        self.counts.iub += 1;
        let (from, drifts) = self.over_iur(at, bits, rnc, self.rnc[node_b]);
        self.node_bs[node_b][usize::from(drifts)][0].arrival(from, bits)
    }

    /// `bits` bits were received at the Node Bs of these cells as `got` says, at least at one: when the first good copy is at the serving
    /// RNC.
    #[inline]
    pub fn up(&mut self, at: Instant, bits: u32, rnc: u32, cells: &[u32], got: Receivers) -> Instant {
        let mut first = Instant::MAX;
        let mut copies = 0;
        for place in 0..cells.len() {
            if got.at(place)
                && let Some(node_b) = self.first_of(cells, place)
            {
                let drifts = usize::from(self.rnc[node_b] != rnc);
                let at_rnc = self.node_bs[node_b][drifts][1].arrival(at, bits);
                first = first.min(self.over_iur(at_rnc, bits, self.rnc[node_b], rnc).0);
                copies += 1;
            }
        }
        self.counts.iub += copies;
        self.counts.copies += copies.saturating_sub(1);
        first
    }

    /// By ns-2's clock: when `bits` bits are at the RNC that the only Node B received at `at`. To be called in the order of arrival.
    pub fn up_by_ns2(&mut self, at: FloatTime, bits: u32) -> FloatTime {
        self.node_bs[0][0][1].arrival_by_ns2(at, bits)
    }

    /// The Node B of the cell at a place of the list, if no cell before it has the same.
    #[inline]
    fn first_of(&self, cells: &[u32], place: usize) -> Option<usize> {
        let node_b = |cell: u32| self.node_b[cell as usize];
        let here = node_b(cells[place]);
        (!cells[..place].iter().any(|cell| node_b(*cell) == here)).then_some(here as usize)
    }

    /// When bits are at another RNC, if it is another.
    #[inline]
    fn over_iur(&mut self, at: Instant, bits: u32, from: u32, to: u32) -> (Instant, bool) {
        if from == to {
            return (at, false);
        }
        self.counts.iur += 1;
        (self.iur[from as usize * self.rncs + to as usize].arrival(at, bits), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::{BitRate, Duration};

    /// Two RNCs; the first has Node Bs 0 and 1, the second Node B 2. Cells 0 and 1 are of Node B 0, cell 2 of 1, cell 3 of 2.
    fn utran() -> Utran {
        let wire = |ms| Iub::new(BitRate::from_mbps(320), Duration::from_millis(ms));
        Utran::new(2, vec![0, 0, 1], vec![0, 0, 1, 2], || wire(15), || wire(5))
    }

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn each_node_b_gets_a_copy_and_the_farthest_decides() {
        // 320 bits take 1 µs on each wire; 15 ms on an Iub, 5 ms on the Iur.
        for (cells, last, carried) in [
            (&[0][..], 15_001, [1, 0, 0]),
            (&[0, 1], 15_001, [1, 0, 0]), // softer: one copy
            (&[0, 2], 15_001, [2, 1, 0]), // soft: two copies
            (&[3], 20_002, [1, 0, 1]),    // over the Iur
            (&[1, 2, 3], 20_002, [3, 2, 1]),
        ] {
            let mut utran = utran();
            assert_eq!(utran.down(us(0), 320, 0, cells), us(last), "{cells:?}");
            let Counts { iub, copies, iur } = utran.counts;
            assert_eq!([iub, copies, iur], carried, "{cells:?}");
        }
    }

    #[test]
    fn the_first_good_copy_counts() {
        let some = |places: &[usize]| places.iter().fold(Receivers::NOBODY, |got, place| got.and(*place));
        for (cells, got, first, copies) in [
            (&[0, 3][..], Receivers::ALL, 15_001, 1),
            (&[0, 3], some(&[1]), 20_002, 0),
            (&[0, 1], Receivers::ALL, 15_001, 0),
            (&[0, 2, 3], some(&[1, 2]), 15_001, 1),
        ] {
            let mut utran = utran();
            assert_eq!(utran.up(us(0), 320, 0, cells, got), us(first), "{cells:?} {got:?}");
            assert_eq!(utran.counts.copies, copies, "{cells:?} {got:?}");
        }
    }
}
