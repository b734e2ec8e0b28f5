//! CoDel: controlled delay (RFC 8289).
//!
//! It judges packets by how long they have waited, when they leave. If for a whole `interval`
//! none waited less than `target`, it drops one, and goes on dropping at times that come closer
//! with the square root of their number until one has waited less.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{Duration, Fault};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::transmitter::Queue;

use super::fifo::Fifo;

pub mod control;
mod mahimahi;

pub use control::Resume;

use control::{Control, Law};

/// Controlled delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 1000 packets (Linux).
    pub limit: Amount,
    /// A second limit, which holds too: `"64 kB"` beside one in packets. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<Amount>,
    /// The waiting time that is acceptable all the time. Default: 5 ms (RFC 8289 §4.4).
    pub target: Duration,
    /// How long the waiting time may stay above: a round-trip time of the slowest connections.
    /// Default: 100 ms (RFC 8289 §4.3).
    pub interval: Duration,
    /// Mark packets of ECN-capable transports instead of dropping them. Default: off.
    pub ecn: bool,
    /// At which drop rate it begins again soon after it has stopped. Default: `rfc`: `difference`.
    /// `ns2`: `minus-two`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// Whose CoDel it is. Default: `rfc`.
    pub variant: Variant,
}

/// Whose CoDel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// That of RFC 8289.
    #[default]
    Rfc,
    /// That of the emulator mahimahi, in whole milliseconds. It marks nothing.
    Mahimahi,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(1000),
            also: None,
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
            resume: None,
            variant: Variant::Rfc,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        if self.variant == Variant::Mahimahi {
            return Queue::Asked(Box::new(mahimahi::CoDel::new(self, site.place)));
        }
        let usual = if site.profile.is_ns2() { Resume::MinusTwo } else { Resume::Difference };
        let resume = self.resume.unwrap_or(usual);
        Queue::Asked(Box::new(CoDel::new(&Self { resume: Some(resume), ..self.clone() }, site.place)))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.variant == Variant::Mahimahi && (self.ecn || self.resume.is_some()) {
            let field = if self.ecn { "ecn" } else { "resume" };
            return Err(Fault::new(field, format!("mahimahi's CoDel has no `{field}`"), "expected it left out"));
        }
        if self.interval == Duration::ZERO {
            return Err(Fault::new(
                "interval",
                "an interval of zero",
                "expected a round-trip time, such as \"100 ms\"",
            ));
        }
        Ok(())
    }
}

/// The queue.
pub struct CoDel {
    law: Law,
    place: Place,
    fifo: Fifo,
    control: Control,
}

impl CoDel {
    /// An empty queue whose drops are counted at `place`. Without a word on where it resumes it follows the RFC.
    pub fn new(config: &Config, place: Place) -> Self {
        let Config { target, interval, ecn, resume, .. } = *config;
        let law = Law { target, interval, ecn, resume: resume.unwrap_or(Resume::Difference) };
        Self { law, place, fifo: Fifo::limited(config.limit, config.also), control: Control::default() }
    }
}

impl QueueDiscipline for CoDel {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        if self.fifo.is_full(size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        self.control.on_arrival(size);
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        self.control.dequeue(&self.law, core, self.place, &mut self.fifo)
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.control.evict(core, &mut self.fifo)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.fifo.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("drop_count", self.control.count() as f64);
    }
}

impl Timed for CoDel {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Instant, Streams};
    use crate::net::bench::any_packet;
    use crate::net::packet::Ecn;
    use crate::net::{NodeId, Packet, Port};
    use crate::queues::fq_codel::{self, FqCoDel};

    fn at(ms: f64) -> Instant {
        Instant::from_secs_f64(ms / 1000.0)
    }

    /// Asks a queue for a packet at every tenth of a millisecond of the `busy` periods, in which
    /// all have waited long; gives the times of drops and marks in ms.
    fn signals(config: Config, ecn: Ecn, busy: &[std::ops::Range<u32>]) -> Vec<f64> {
        let mut core = Core::new(1);
        core.place("codel");
        let mut codel = CoDel::new(&config, Place(0));
        let mut times = Vec::new();
        for period in busy {
            core.set_clock(at(f64::from(period.start) - 10.0), Instant::ZERO);
            let enter = |core: &mut Core, codel: &mut CoDel| {
                let pkt = core.insert(Packet { ecn, ..any_packet() });
                core.note_queued(&pkt);
                codel.enqueue(core, pkt);
            };
            // The initial backlog is enough for the whole period.
            for _ in 0..20 * (period.end - period.start) {
                enter(&mut core, &mut codel);
            }
            for tenth in 10 * period.start..10 * period.end {
                core.set_clock(at(f64::from(tenth) / 10.0), Instant::ZERO);
                let before = signalled(&core);
                let Some(served) = codel.dequeue(&mut core) else { panic!("enough waits") };
                core.arrive(NodeId(0), Port(0), served);
                times.extend((before..signalled(&core)).map(|_| f64::from(tenth) / 10.0));
            }
            while let Some(rest) = codel.fifo.pop(&core) {
                core.drop(rest, Place(0), Cause::Handover);
            }
            assert!(codel.dequeue(&mut core).is_none());
        }
        times
    }

    /// Packets of 1,500 B: two limits, of which the smaller one holds.
    #[test]
    fn both_limits_hold() {
        let bytes = |n| Some(Amount::Bytes(crate::engine::Bytes::new(n)));
        for (packets, also, fit) in [(3, bytes(3_000), 2), (1, bytes(3_000), 1), (3, None, 3)] {
            let config = Config { limit: Amount::Packets(packets), also, ..Config::default() };
            let queues: [Box<dyn QueueDiscipline>; 2] =
                [Box::new(CoDel::new(&config, Place(0))), Box::new(mahimahi::CoDel::new(&config, Place(0)))];
            for mut queue in queues {
                let mut core = Core::new(1);
                core.place("codel");
                for _ in 0..3 {
                    let pkt = core.insert(Packet { size: 1_500, ..any_packet() });
                    core.note_queued(&pkt);
                    queue.enqueue(&mut core, pkt);
                }
                assert_eq!(queue.backlog().packets, fit);
            }
        }
    }

    fn signalled(core: &Core) -> u64 {
        let early = core.counters().drops.iter().filter(|((_, cause, _), _)| *cause == Cause::Early);
        early.map(|(_, count)| count.packets).sum::<u64>() + core.counters().marks.values().sum::<u64>()
    }

    #[test]
    fn drops_follow_the_control_law() {
        // Waiting times are above the target from 10 ms on; RFC 8289's law from then:
        // 100, 200, 270.7, 328.4, 378.4 ms.
        for (config, ecn) in [
            (Config::default(), Ecn::NotEct),
            (Config { ecn: true, ..Config::default() }, Ecn::NotEct),
            (Config { ecn: true, ..Config::default() }, Ecn::Ect0),
        ] {
            let limit = Amount::Packets(100_000);
            let times = signals(Config { limit, ..config }, ecn, std::slice::from_ref(&(10..400)));
            let expected = [110.0, 210.0, 280.7, 338.4, 388.4];
            assert_eq!(times.len(), expected.len(), "{times:?}");
            for (time, expected) in times.iter().zip(expected) {
                // It is asked every 0.1 ms.
                assert!((0.0..=0.11).contains(&(time - expected)), "{times:?}");
            }
        }
    }

    /// RFC 8289 §5.6: while no more than a packet of the largest size is left nothing is dropped, however long each has waited.
    #[test]
    fn a_queue_in_which_a_packet_is_left_is_good() {
        let mut core = Core::new(1);
        core.place("codel");
        let mut codel = CoDel::new(&Config::default(), Place(0));
        for n in 0..200 {
            core.set_clock(at(20.0 * f64::from(n)), Instant::ZERO);
            let pkt = core.insert(any_packet());
            core.note_queued(&pkt);
            codel.enqueue(&mut core, pkt);
            if n > 0 {
                let Some(served) = codel.dequeue(&mut core) else { panic!("two wait") };
                core.arrive(NodeId(0), Port(0), served);
            }
        }
        assert_eq!(signalled(&core), 0);
        while let Some(rest) = codel.evict(&mut core) {
            core.drop(rest, Place(0), Cause::Handover);
        }
    }

    /// A queue that is emptied because its link changes gives all that waits, however long that was.
    #[test]
    fn an_emptied_queue_drops_and_marks_nothing() {
        let queues: [fn() -> Box<dyn QueueDiscipline>; 3] = [
            || Box::new(CoDel::new(&Config { ecn: true, ..Config::default() }, Place(0))),
            || Box::new(mahimahi::CoDel::new(&Config::default(), Place(0))),
            || Box::new(FqCoDel::new(&fq_codel::Config::default(), Place(0), Streams::new(1).stream("q", "salt"))),
        ];
        for (ecn, queue) in [Ecn::NotEct, Ecn::Ect0].into_iter().flat_map(|ecn| queues.map(|queue| (ecn, queue))) {
            let mut core = Core::new(1);
            core.place("codel");
            let mut codel = queue();
            let mut taken = 0;
            for ms in 0..2000 {
                core.set_clock(at(f64::from(ms)), Instant::ZERO);
                for _ in 0..2 {
                    let pkt = core.insert(Packet { ecn, ..any_packet() });
                    core.note_queued(&pkt);
                    codel.enqueue(&mut core, pkt);
                }
                let Some(served) = codel.dequeue(&mut core) else { panic!("enough waits") };
                core.arrive(NodeId(0), Port(0), served);
                if signalled(&core) >= 3 {
                    break;
                }
            }
            let (before, waiting) = (signalled(&core), codel.backlog().packets);
            assert!(waiting > 20);
            while let Some(rest) = codel.evict(&mut core) {
                core.drop(rest, Place(0), Cause::Handover);
                taken += 1;
            }
            assert_eq!((taken, signalled(&core)), (waiting, before));
            // Packets of later have an interval's time, as after an empty queue was asked.
            for _ in 0..5 {
                let pkt = core.insert(Packet { ecn, ..any_packet() });
                core.note_queued(&pkt);
                codel.enqueue(&mut core, pkt);
            }
            core.set_clock(core.now() + Duration::from_millis(90), Instant::ZERO);
            let Some(served) = codel.dequeue(&mut core) else { panic!("five wait") };
            core.arrive(NodeId(0), Port(0), served);
            assert_eq!(signalled(&core), before);
        }
    }

    #[test]
    fn after_a_short_pause_it_resumes_at_the_rate_at_which_it_stopped() {
        // The first period drops five packets. Where the second resumes is seen in its intervals.
        for (resume, pause, count) in [
            (Resume::Difference, 500, 4.0),
            (Resume::Difference, 1200, 4.0),
            (Resume::Difference, 2000, 1.0),
            (Resume::MinusTwo, 500, 3.0),
            (Resume::MinusTwo, 1200, 1.0),
        ] {
            let config = Config { limit: Amount::Packets(100_000), resume: Some(resume), ..Config::default() };
            let start = 400 + pause;
            let times = signals(config, Ecn::NotEct, &[10..400, start..start + 300]);
            let interval = times[6] - times[5];
            let expected = 100.0 / f64::sqrt(count);
            assert!((interval - expected).abs() <= 0.11, "{resume:?} after {pause} ms: {times:?}");
        }
    }
}
