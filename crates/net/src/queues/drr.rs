//! Deficit round robin (Shreedhar, Varghese 1996): each flow has a queue, and the queues that
//! hold something take turns. In its turn a queue may send a quantum of bytes, and what it saved
//! in its last turn because the next packet was larger.
//!
//! When everything together is full, the longest queue loses its last packet (McKenney's buffer
//! stealing, which the paper takes over), so that a greedy flow cannot push out the others.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{Bytes, Fault};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::packet::FlowId;
use crate::net::transmitter::Queue;

/// Deficit round robin between flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What a flow may send in its turn. With the largest packet's size or more, a turn always
    /// sends something (Shreedhar, Varghese 1996 §3). Default: 1500 B.
    pub quantum: Bytes,
    /// How much may wait, all flows together. Default: 100 packets, as DropTail.
    pub limit: Amount,
}

impl Default for Config {
    fn default() -> Self {
        Self { quantum: Bytes::new(1500), limit: Amount::Packets(100) }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Drr::new(self, site.place)))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.quantum.get() == 0 {
            return Err(Fault::new("quantum", "a quantum of no bytes", "expected a size, such as \"1500 B\""));
        }
        Ok(())
    }
}

/// The queue.
pub struct Drr {
    quantum: u64,
    limit: Amount,
    place: Place,
    /// The flows that wait, or did until something took their packets from behind.
    flows: BTreeMap<FlowId, Turn>,
    /// Whose turn it is, and the order after that.
    round: VecDeque<FlowId>,
    backlog: Backlog,
    /// Packets that have left but still take room.
    held: Backlog,
}

/// A flow's queue.
#[derive(Default)]
struct Turn {
    fifo: VecDeque<Pkt>,
    bytes: u64,
    /// What it may still send.
    deficit: u64,
    /// Whether it has got the quantum of this turn.
    begun: bool,
}

impl Drr {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: &Config, place: Place) -> Self {
        Self {
            quantum: config.quantum.get(),
            limit: config.limit,
            place,
            flows: BTreeMap::new(),
            round: VecDeque::new(),
            backlog: Backlog::default(),
            held: Backlog::default(),
        }
    }

    fn is_over(&self) -> bool {
        let Backlog { packets, bytes } = self.backlog + self.held;
        match self.limit {
            Amount::Packets(most) => packets > most,
            Amount::Bytes(most) => bytes > most.get(),
        }
    }

    /// Takes the last packet of the longest queue.
    fn steal(&mut self, core: &Core) -> Option<Pkt> {
        let longest = self.flows.values_mut().max_by_key(|turn| turn.bytes)?;
        let packet = longest.fifo.pop_back()?;
        let size = u64::from(core.packet(&packet).size);
        longest.bytes -= size;
        self.forget(size);
        Some(packet)
    }

    /// A whole round has sent nothing: adds the quanta of all rounds that would send nothing either.
    fn skip_rounds(&mut self, core: &Core) {
        let quantum = self.quantum;
        let fruitless = |turn: &Turn| {
            let missing = u64::from(core.packet(turn.fifo.front()?).size).checked_sub(turn.deficit + 1)?;
            Some(missing / quantum)
        };
        let rounds = self.flows.values().filter_map(fruitless).min().unwrap_or(0);
        self.flows.values_mut().for_each(|turn| turn.deficit += rounds * quantum);
    }

    /// A packet of this size waits no longer.
    fn forget(&mut self, size: u64) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= size;
    }

    /// One more packet of this size waits.
    fn count(&mut self, size: u64) {
        self.backlog.packets += 1;
        self.backlog.bytes += size;
    }
}

impl QueueDiscipline for Drr {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let (flow, size) = (core.packet(&packet).flow, u64::from(core.packet(&packet).size));
        let turn = self.flows.entry(flow).or_insert_with(|| {
            self.round.push_back(flow);
            Turn::default()
        });
        turn.fifo.push_back(packet);
        turn.bytes += size;
        self.count(size);
        while self.is_over()
            && let Some(stolen) = self.steal(core)
        {
            core.drop(stolen, self.place, Cause::Overflow);
        }
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        // Turns in a row that sent nothing.
        let mut fruitless = 0;
        loop {
            let flow = *self.round.front()?;
            let turn = self.flows.get_mut(&flow).expect("a flow in the round has a queue");
            if !std::mem::replace(&mut turn.begun, true) {
                turn.deficit += self.quantum;
            }
            let size = turn.fifo.front().map(|head| u64::from(core.packet(head).size));
            match size {
                Some(size) if size > turn.deficit => {
                    turn.begun = false;
                    self.round.rotate_left(1);
                    fruitless += 1;
                    if fruitless == self.round.len() {
                        self.skip_rounds(core);
                        fruitless = 0;
                    }
                }
                Some(size) => {
                    turn.deficit -= size;
                    turn.bytes -= size;
                    let packet = turn.fifo.pop_front();
                    if turn.fifo.is_empty() {
                        self.flows.remove(&flow);
                        self.round.pop_front();
                    }
                    self.forget(size);
                    return packet;
                }
                None => {
                    self.flows.remove(&flow);
                    self.round.pop_front();
                    fruitless = 0;
                }
            }
        }
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        let (flow, size) = (core.packet(&packet).flow, u64::from(core.packet(&packet).size));
        let turn = self.flows.entry(flow).or_insert_with(|| {
            self.round.push_front(flow);
            Turn { begun: true, ..Turn::default() }
        });
        turn.fifo.push_front(packet);
        turn.bytes += size;
        // It had been paid for.
        turn.deficit += size;
        self.count(size);
    }

    fn on_held(&mut self, held: Backlog) {
        self.held = held;
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("flows", self.flows.len() as f64);
        probe.value("state_bytes", (self.flows.len() * size_of::<(FlowId, Turn)>()) as f64);
    }
}

impl Timed for Drr {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::bench::{Bench, packet};
    use crate::net::dscp::Dscp;

    fn drr(quantum: u64, limit: u64) -> Drr {
        Drr::new(&Config { quantum: Bytes::new(quantum), limit: Amount::Packets(limit) }, Place(0))
    }

    fn enqueue(bench: &mut Bench, drr: &mut Drr, flow: u32, sizes: &[u32]) {
        for &size in sizes {
            bench.enqueue(drr, packet(flow, size, Dscp::Be));
        }
    }

    #[test]
    fn the_papers_example() {
        // Shreedhar, Varghese 1996, Figs. 2 and 3: quantum 500. Queue 1 holds 200, 750, 20, queue 2
        // 500, 500, queue 3 200, 600, 100, queue 4 50, 700, 180. In the first round queue 1 sends
        // its 200 and saves 300; queue 2 a 500; queue 3 its 200 and saves 300; queue 4 its 50 and
        // saves 450. In the second round queue 1 has 800: it sends 750 and 20.
        let mut bench = Bench::new();
        let mut drr = drr(500, 100);
        enqueue(&mut bench, &mut drr, 1, &[200, 750, 20]);
        enqueue(&mut bench, &mut drr, 2, &[500, 500]);
        enqueue(&mut bench, &mut drr, 3, &[200, 600, 100]);
        enqueue(&mut bench, &mut drr, 4, &[50, 700, 180]);
        let order: Vec<_> = bench.empty(&mut drr).into_iter().map(|(flow, size, _)| (flow, size)).collect();
        let first = [(1, 200), (2, 500), (3, 200), (4, 50)];
        let second = [(1, 750), (1, 20), (2, 500), (3, 600), (3, 100), (4, 700), (4, 180)];
        assert_eq!(order, [&first[..], &second].concat());
        assert_eq!((drr.backlog(), drr.flows.len()), (Backlog::default(), 0));
    }

    #[test]
    fn what_is_held_at_the_transmitter_takes_room() {
        let mut bench = Bench::new();
        let mut drr = drr(500, 3);
        drr.on_held(Backlog { packets: 2, bytes: 1000 });
        enqueue(&mut bench, &mut drr, 1, &[500, 500]);
        assert_eq!((drr.backlog().packets, bench.drops(Cause::Overflow)), (1, 1));
        drr.on_held(Backlog::default());
        enqueue(&mut bench, &mut drr, 1, &[500, 500, 500]);
        assert_eq!((drr.backlog().packets, bench.drops(Cause::Overflow)), (3, 2));
    }

    #[test]
    fn flows_share_bytes_whatever_their_packets() {
        // Lemma 2 of the paper: over any interval in which both wait, what they sent differs by at
        // most a quantum and two largest packets.
        let mut bench = Bench::new();
        let mut drr = drr(1500, 10_000);
        enqueue(&mut bench, &mut drr, 1, &[1500; 400]);
        enqueue(&mut bench, &mut drr, 2, &[100; 6000]);
        let mut sent = [0i64; 3];
        for _ in 0..2000 {
            let (flow, size, _) = bench.take(&mut drr).unwrap();
            sent[flow as usize] += i64::from(size);
            assert!((sent[1] - sent[2]).abs() <= 1500 + 2 * 1500, "{sent:?}");
        }
    }

    #[test]
    fn a_small_quantum_gives_the_order_of_rounds_one_by_one() {
        // Three flows whose packets take thousands of rounds of 3 B; the last two are equal, and keep their order.
        let sizes: [&[u32]; 3] = [&[40, 65_000, 7], &[1500, 1499, 65_535], &[1500, 1499, 65_535]];
        let mut bench = Bench::new();
        let mut drr = drr(3, 100);
        for (flow, sizes) in (0..).zip(sizes) {
            enqueue(&mut bench, &mut drr, flow, sizes);
        }
        let mut waiting = sizes.map(|sizes| sizes.to_vec());
        let (mut deficits, mut expected) = ([0; 3], Vec::new());
        while waiting.iter().any(|sizes| !sizes.is_empty()) {
            for flow in 0..3 {
                deficits[flow] += 3;
                while waiting[flow].first().is_some_and(|size| *size <= deficits[flow]) {
                    deficits[flow] -= waiting[flow][0];
                    expected.push((flow as u32, waiting[flow].remove(0)));
                }
            }
        }
        let order: Vec<_> = bench.empty(&mut drr).into_iter().map(|(flow, size, _)| (flow, size)).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn the_longest_queue_loses_its_last_packet() {
        let mut bench = Bench::new();
        let mut drr = drr(1500, 5);
        enqueue(&mut bench, &mut drr, 1, &[1000; 5]);
        enqueue(&mut bench, &mut drr, 2, &[100; 2]);
        let drops: Vec<_> = bench.core.counters().drops.iter().map(|((_, _, flow), n)| (flow.0, n.packets)).collect();
        assert_eq!(drops, [(1, 2)]);
        assert_eq!(drr.backlog(), Backlog { packets: 5, bytes: 3_200 });
    }

    #[test]
    fn a_packet_put_back_leaves_first() {
        let mut bench = Bench::new();
        let mut drr = drr(1500, 10);
        enqueue(&mut bench, &mut drr, 1, &[1000, 999]);
        enqueue(&mut bench, &mut drr, 2, &[500]);
        let first = drr.dequeue(&mut bench.core).unwrap();
        drr.put_back(&mut bench.core, first);
        let order: Vec<_> = bench.empty(&mut drr).into_iter().map(|(flow, size, _)| (flow, size)).collect();
        assert_eq!(order, [(1, 1000), (2, 500), (1, 999)]);
    }
}
