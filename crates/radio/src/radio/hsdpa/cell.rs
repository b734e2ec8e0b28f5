//! A cell: the mobiles waiting in it, its scheduler, and its counts.

use crate::radio::scheduler::Scheduler;
use crate::radio::shared_channel::SharedChannel;
use lasthop_net::net::Probe;

/// A cell.
pub struct Cell {
    pub shared: SharedChannel,
    /// How many mobiles it serves.
    pub mobiles: u32,
    pub counts: Counts,
}

/// What a cell did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Slots by the number of mobiles with data waiting at the start; the last entry: that many or more. The first entry is not counted.
    pub receivers: [u64; RECEIVERS.len()],
    /// Slots in which it sent.
    pub used: u64,
    pub blocks: u64,
    pub failed: u64,
    /// Bytes that came.
    pub bytes: u64,
    pub codes: u64,
}

/// Slots by how many mobiles had something waiting.
const RECEIVERS: [&str; 16] = [
    "receivers_0",
    "receivers_1",
    "receivers_2",
    "receivers_3",
    "receivers_4",
    "receivers_5",
    "receivers_6",
    "receivers_7",
    "receivers_8",
    "receivers_9",
    "receivers_10",
    "receivers_11",
    "receivers_12",
    "receivers_13",
    "receivers_14",
    "receivers_15_or_more",
];

impl Cell {
    /// A cell in which no mobile waits.
    pub fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self { shared: SharedChannel::new(scheduler, 0), mobiles: 0, counts: Counts::default() }
    }

    /// A slot begins.
    pub fn count_receivers(&mut self) {
        let place = self.shared.waiting().min(RECEIVERS.len() - 1);
        self.counts.receivers[place] += 1;
    }

    /// Shows its counts over a number of slots.
    pub fn sample(&self, slots: u64, probe: &mut dyn Probe) {
        let counts = &self.counts;
        probe.value("ues", f64::from(self.mobiles));
        probe.value("slots", slots as f64);
        probe.value("used_slots", counts.used as f64);
        // Slots are looked at only while something waits.
        let some: u64 = counts.receivers[1..].iter().sum();
        probe.value(RECEIVERS[0], slots.saturating_sub(some) as f64);
        for (name, count) in RECEIVERS.into_iter().zip(counts.receivers).skip(1) {
            probe.value(name, count as f64);
        }
        probe.value("blocks", counts.blocks as f64);
        probe.value("failed_blocks", counts.failed as f64);
        probe.value("bytes", counts.bytes as f64);
        probe.value("codes", counts.codes as f64);
    }
}
