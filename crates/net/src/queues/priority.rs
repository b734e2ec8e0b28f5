//! Strict priority: classes by code point, each with a queue of its own. All packets waiting in a class leave before those of the classes
//! behind it; the packet in service is not interrupted.

use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Fault, Instant};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::dscp::Dscp;
use crate::net::machine::Timed;
use crate::net::observe::Probe;
use crate::net::packet::Packet;
use crate::net::transmitter::Queue;

use super::inner::Inner;

/// Strict priority by code point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The classes, the most urgent first; at most eight. Code points that none of them names go
    /// to the last. Two: expedited forwarding with class selectors 6 and 7, and the rest.
    pub classes: Vec<PriorityClass>,
}

/// A class of a strict-priority queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PriorityClass {
    /// The code points of its packets.
    pub dscp: Vec<Dscp>,
    /// Its queue. Default: DropTail of 100 packets.
    pub queue: Inner,
}

impl Default for Config {
    fn default() -> Self {
        let urgent = PriorityClass { dscp: vec![Dscp::Ef, Dscp::Cs6, Dscp::Cs7], ..PriorityClass::default() };
        Self { classes: vec![urgent, PriorityClass::default()] }
    }
}

/// How many packets have left each class, by their names in results: one that is put back leaves again. There is a class for each value of
/// the IP precedence (RFC 791 §3.1).
const SENT: [&str; 8] = [
    "class0_packets",
    "class1_packets",
    "class2_packets",
    "class3_packets",
    "class4_packets",
    "class5_packets",
    "class6_packets",
    "class7_packets",
];

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Priority::new(self, site)))
    }

    fn check(&self) -> Result<(), Fault> {
        let count = self.classes.len();
        if !(1..=SENT.len()).contains(&count) {
            return Err(Fault::new("classes", format!("{count} classes"), "expected one to eight"));
        }
        let mut named = Vec::new();
        for (n, class) in self.classes.iter().enumerate() {
            for dscp in &class.dscp {
                if named.contains(dscp) {
                    let message = format!("code point {} is named twice", dscp.value());
                    return Err(Fault::new("classes", message, "keep one"));
                }
                named.push(*dscp);
            }
            if let Err(Fault { field, message, expected }) = class.queue.config().check() {
                return Err(Fault::new("classes", format!("class {n}, {field}: {message}"), expected));
            }
        }
        Ok(())
    }
}

/// The queue.
pub struct Priority {
    /// The class of each code point.
    class: [u8; 64],
    classes: Vec<Child>,
}

struct Child {
    queue: Box<dyn QueueDiscipline>,
    sent: u64,
}

impl Priority {
    /// An empty queue at `site`.
    pub fn new(config: &Config, site: &Site<'_>) -> Self {
        let mut class = [config.classes.len() as u8 - 1; 64];
        for (n, named) in (0..).zip(&config.classes) {
            for dscp in &named.dscp {
                class[usize::from(dscp.value())] = n;
            }
        }
        let child = |(n, named): (usize, &PriorityClass)| {
            // Each class draws from streams of its own.
            let name = format!("{} class {n}", site.name);
            Child { queue: named.queue.asked(&Site { name: &name, ..*site }), sent: 0 }
        };
        Self { class, classes: config.classes.iter().enumerate().map(child).collect() }
    }

    fn child(&mut self, packet: &Packet) -> &mut Child {
        &mut self.classes[usize::from(self.class[usize::from(packet.dscp & 63)])]
    }
}

impl QueueDiscipline for Priority {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        self.child(core.packet(&packet)).queue.enqueue(core, packet);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let mut first = None;
        for class in &mut self.classes {
            // A queue sees that it is empty when it is asked; a less urgent one is asked for that alone.
            if (first.is_none() || class.queue.backlog() == Backlog::default())
                && let Some(packet) = class.queue.dequeue(core)
            {
                class.sent += 1;
                first = Some(packet);
            }
        }
        first
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.classes.iter_mut().find_map(|class| {
            let packet = class.queue.evict(core)?;
            class.sent += 1;
            Some(packet)
        })
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.child(core.packet(&packet)).queue.put_back(core, packet);
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        self.classes.iter_mut().for_each(|class| class.queue.on_capacity(now, rate));
    }

    fn backlog(&self) -> Backlog {
        let all = self.classes.iter().map(|class| class.queue.backlog());
        all.fold(Backlog::default(), Add::add)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        for (name, class) in SENT.into_iter().zip(&self.classes) {
            probe.value(name, class.sent as f64);
        }
    }
}

impl Timed for Priority {
    fn on_timeout(&mut self, now: Instant) {
        let due = |class: &&mut Child| class.queue.next_timeout().is_some_and(|at| at <= now);
        self.classes.iter_mut().filter(due).for_each(|class| class.queue.on_timeout(now));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.classes.iter().filter_map(|class| class.queue.next_timeout()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::choice::parsed;
    use crate::net::bench::{Bench, packet};
    use crate::net::observe::{Cause, Histogram, What};

    fn build(bench: &Bench, text: &str) -> Priority {
        let config: Config = parsed(text).unwrap();
        config.check().unwrap();
        Priority::new(&config, &bench.site(BitRate::from_mbps(1)))
    }

    #[test]
    fn the_urgent_leave_first_and_each_class_in_order() {
        let mut bench = Bench::new();
        let text = "[[classes]]\ndscp = ['ef']\n[[classes]]\ndscp = ['af11', 'af12']\n[[classes]]";
        let mut queue = build(&bench, text);
        for (flow, dscp) in [Dscp::Be, Dscp::Af12, Dscp::Ef, Dscp::Af11, Dscp::Cs1, Dscp::Ef].into_iter().enumerate() {
            bench.enqueue(&mut queue, packet(flow as u32, 100, dscp));
        }
        let order: Vec<u32> = bench.empty(&mut queue).into_iter().map(|(flow, ..)| flow).collect();
        assert_eq!(order, [2, 5, 1, 3, 0, 4]);
    }

    #[test]
    fn limits_are_each_class_its_own() {
        let mut bench = Bench::new();
        let text = "[[classes]]\ndscp = ['ef']\nqueue.droptail.limit = '1 packet'\n[[classes]]\nqueue = 'rio'";
        let mut queue = build(&bench, text);
        for dscp in [Dscp::Ef, Dscp::Ef, Dscp::Be, Dscp::Be] {
            bench.enqueue(&mut queue, packet(0, 100, dscp));
        }
        assert_eq!((queue.backlog().packets, bench.drops(Cause::Overflow)), (3, 1));
    }

    /// The average of a class decays while more urgent packets keep the link busy.
    #[test]
    fn a_class_without_packets_sees_that_it_is_empty() {
        let mut bench = Bench::new();
        let red = "queue.red = { min = 5, max = 15, weight = 0.5, count = 'packets', mean_packet = '100 B' }";
        let mut queue = build(&bench, &format!("[[classes]]\ndscp = ['ef']\n[[classes]]\n{red}"));
        let average = |queue: &Priority| {
            let mut shown = Shown::default();
            queue.classes[1].queue.sample(&mut shown);
            shown.0
        };
        for _ in 0..10 {
            bench.enqueue(&mut queue, packet(0, 100, Dscp::Be));
        }
        let before = average(&queue);
        while bench.take(&mut queue).is_some_and(|_| queue.backlog().packets > 0) {}
        for tenth in 1..=10 {
            bench.at(0.1 * f64::from(tenth));
            bench.enqueue(&mut queue, packet(1, 100, Dscp::Ef));
            bench.take(&mut queue);
        }
        bench.enqueue(&mut queue, packet(0, 100, Dscp::Be));
        assert!(before > 5.0 && average(&queue) < 1e-9, "{before}, {}", average(&queue));
    }

    /// The average length that a queue shows.
    #[derive(Default)]
    struct Shown(f64);

    impl Probe for Shown {
        fn part(&mut self, _: What, _: &str) {}
        fn distribution(&mut self, _: &'static str, _: f64, _: &Histogram) {}
        fn value(&mut self, name: &'static str, value: f64) {
            if name == "average_packets" {
                self.0 = value;
            }
        }
    }

    #[test]
    fn a_packet_put_back_is_the_first_of_its_class() {
        let mut bench = Bench::new();
        let mut queue = build(&bench, "");
        bench.enqueue(&mut queue, packet(0, 100, Dscp::Be));
        bench.enqueue(&mut queue, packet(1, 100, Dscp::Be));
        let first = queue.dequeue(&mut bench.core).unwrap();
        bench.enqueue(&mut queue, packet(2, 100, Dscp::Ef));
        queue.put_back(&mut bench.core, first);
        let order: Vec<u32> = bench.empty(&mut queue).into_iter().map(|(flow, ..)| flow).collect();
        assert_eq!(order, [2, 0, 1]);
        // Copies of packets in flight are put back too, more often than any packet has left.
        for flow in 3..8 {
            let copy = bench.core.insert(packet(flow, 100, Dscp::Be));
            queue.put_back(&mut bench.core, copy);
        }
        assert_eq!((queue.classes[0].sent, queue.classes[1].sent), (1, 3));
    }

    #[test]
    fn classes_that_make_no_sense_are_refused() {
        for (text, part) in [
            ("classes = []", "0 classes"),
            ("[[classes]]\ndscp = ['ef']\n[[classes]]\ndscp = ['be', 'ef']", "46 is named twice"),
            ("[[classes]]\nqueue.rio.in_min = 40", "class 0, in_min"),
        ] {
            let config: Config = parsed(text).unwrap();
            let fault = config.check().unwrap_err();
            assert!(fault.message.contains(part), "{text}: {}", fault.message);
        }
    }
}
