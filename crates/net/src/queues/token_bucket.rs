//! A token bucket in front of the link. As a shaper it lets packets wait until there are tokens for them; as a policer it drops, or
//! demotes, packets without tokens (RFC 2475 §2.3.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{BitRate, Bytes, Fault, Instant};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::dscp::Dscp;
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::order::{Answer, Command};
use crate::net::packet::Packet;
use crate::net::token_bucket::TokenBucket;
use crate::net::transmitter::Queue;

use super::inner::Inner;

/// A shaper or a policer with a token bucket, around another queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The rate at which tokens come.
    pub rate: BitRate,
    /// How many are kept. Default: 15 kB, ten packets of 1500 B.
    #[serde(default = "default_burst")]
    pub burst: Bytes,
    /// What becomes of packets for which there are no tokens.
    #[serde(default)]
    pub excess: Excess,
    /// Where packets wait. Default: DropTail of 100 packets.
    #[serde(default)]
    pub queue: Inner,
}

/// What becomes of packets for which there are no tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Excess {
    /// They wait until tokens have come: a shaper. A packet larger than the bucket waits until it
    /// is full, and later tokens pay for what it lacked.
    #[default]
    Wait,
    /// They are dropped: a policer.
    Drop,
    /// They become best effort: a marker.
    Demote,
}

fn default_burst() -> Bytes {
    Bytes::new(15_000)
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Shaper {
            bucket: TokenBucket::new(self.rate, self.burst, Instant::ZERO),
            excess: self.excess,
            queue: self.queue.asked(&Site { rate: behind(self.excess, self.rate, site.rate), ..*site }),
            rate: self.rate,
            head: None,
            ready_at: None,
            place: site.place,
            exceeded: 0,
        }))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.burst.get() == 0 {
            return Err(Fault::new("burst", "a bucket that holds nothing", "expected a size, such as \"15 kB\""));
        }
        self.queue.config().check().map_err(|fault| fault.inside("queue"))
    }
}

/// The rate at which packets leave the queue behind a bucket with tokens of a rate, in front of a link.
fn behind(excess: Excess, tokens: BitRate, link: BitRate) -> BitRate {
    if excess == Excess::Wait { tokens.min(link) } else { link }
}

/// The bucket, and the queue behind it.
struct Shaper {
    bucket: TokenBucket,
    excess: Excess,
    /// At which tokens come.
    rate: BitRate,
    queue: Box<dyn QueueDiscipline>,
    /// The packet that leaves next and waits for tokens, and its size.
    head: Option<(Pkt, u32)>,
    /// When there will be tokens for it.
    ready_at: Option<Instant>,
    place: Place,
    /// Packets that were dropped or demoted.
    exceeded: u64,
}

impl QueueDiscipline for Shaper {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        if self.excess != Excess::Wait && !self.bucket.take(core.now(), core.packet(&packet).size) {
            self.exceeded += 1;
            if self.excess == Excess::Drop {
                return core.drop(packet, self.place, Cause::Policed);
            }
            core.packet_mut(&packet).dscp = Dscp::Be.value();
        }
        self.queue.enqueue(core, packet);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        if self.excess != Excess::Wait {
            return self.queue.dequeue(core);
        }
        let now = core.now();
        let (packet, size) = match self.head.take() {
            Some(head) => head,
            None => {
                let packet = self.queue.dequeue(core)?;
                let size = core.packet(&packet).size;
                (packet, size)
            }
        };
        let ready_at = self.bucket.ready_at(now, size);
        if ready_at > now {
            self.head = Some((packet, size));
            self.ready_at = Some(ready_at);
            return None;
        }
        self.bucket.drain(now, size);
        self.ready_at = None;
        Some(packet)
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.ready_at = None;
        self.head.take().map(|(packet, _)| packet).or_else(|| self.queue.evict(core))
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        if let Some((head, _)) = self.head.take() {
            self.queue.put_back(core, head);
            self.ready_at = None;
        }
        self.queue.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.queue.on_held(held);
    }

    fn on_return(&mut self, now: Instant, packet: &mut Packet) {
        self.queue.on_return(now, packet);
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        self.queue.on_capacity(now, behind(self.excess, self.rate, rate));
    }

    fn on_order(&mut self, now: Instant, command: &Command) -> Answer {
        self.queue.on_order(now, command)
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = self.queue.backlog();
        if let Some((_, size)) = self.head {
            backlog.packets += 1;
            backlog.bytes += u64::from(size);
        }
        backlog
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("exceeded_packets", self.exceeded as f64);
        self.queue.sample(probe);
    }
}

impl Timed for Shaper {
    fn on_timeout(&mut self, now: Instant) {
        if self.queue.next_timeout().is_some_and(|at| at <= now) {
            self.queue.on_timeout(now);
        }
        if self.ready_at.is_some_and(|at| at <= now) {
            // The link asks again.
            self.ready_at = None;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let timeouts = [self.ready_at, self.queue.next_timeout()];
        timeouts.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::choice::parsed;
    use crate::net::bench::{Bench, packet};
    use crate::net::observe::{Histogram, What};
    use crate::queues::inner::asked as inner;

    fn build(bench: &Bench, text: &str) -> Box<dyn QueueDiscipline> {
        let config: Config = parsed(text).unwrap();
        config.check().unwrap();
        match config.build(&bench.site(BitRate::from_mbps(10))) {
            Queue::Asked(queue) => queue,
            Queue::Planned(_) => unreachable!("a bucket is asked"),
        }
    }

    #[test]
    fn a_shaper_lets_packets_wait_for_tokens() {
        // 8000 B/s, 2000 B: of five packets of 1000 B two leave at once, then one each 125 ms.
        let mut bench = Bench::new();
        let mut queue = build(&bench, "rate = '64 kbit/s'\nburst = '2 kB'");
        for flow in 0..5 {
            bench.enqueue(&mut *queue, packet(flow, 1_000, Dscp::Ef));
        }
        let mut left = bench.empty(&mut *queue).iter().map(|(flow, ..)| (0, *flow)).collect::<Vec<_>>();
        while let Some(at) = queue.next_timeout() {
            bench.at(at.as_secs_f64());
            queue.on_timeout(at);
            left.extend(bench.empty(&mut *queue).iter().map(|(flow, ..)| (at.as_nanos() / 1_000_000, *flow)));
        }
        assert_eq!(left, [(0, 0), (0, 1), (125, 2), (250, 3), (375, 4)]);
        assert_eq!(queue.backlog(), Backlog::default());
    }

    /// RED's average after a burst of ten packets at 0.
    fn average(mut queue: Box<dyn QueueDiscipline>, link: Option<BitRate>) -> f64 {
        struct Average(f64);
        impl Probe for Average {
            fn part(&mut self, _: What, _: &str) {}
            fn value(&mut self, name: &'static str, value: f64) {
                self.0 = if name == "average_packets" { value } else { self.0 };
            }
            fn distribution(&mut self, _: &'static str, _: f64, _: &Histogram) {}
        }
        if let Some(rate) = link {
            queue.on_capacity(Instant::ZERO, rate);
        }
        let mut bench = Bench::new();
        for _ in 0..10 {
            bench.enqueue(&mut *queue, packet(0, 1_000, Dscp::Be));
        }
        let mut average = Average(f64::NAN);
        queue.sample(&mut average);
        average.0
    }

    #[test]
    fn the_queue_of_a_shaper_is_set_up_for_the_rate_at_which_it_is_emptied() {
        // RED's weight is 1 - exp(-1/C) for a link of C packets a second (Floyd 2001).
        let bench = Bench::new();
        let red = |mbps| {
            let config: crate::queues::red::Config = parsed("").unwrap();
            let site = bench.site(BitRate::from_mbps(mbps));
            inner(config.build(&site), &site)
        };
        let [slower, slow, fast] = [1, 2, 10].map(|mbps| average(red(mbps), None));
        assert!(slower > 1.5 * slow && slow > 3.0 * fast && fast > 0.0, "{slower}, {slow}, {fast}");
        for (excess, link, expected) in [
            ("wait", None, slow),
            ("wait", Some(BitRate::from_mbps(5)), slow),
            ("wait", Some(BitRate::from_mbps(1)), average(red(10), Some(BitRate::from_mbps(1)))),
            ("drop", None, fast),
            ("demote", None, fast),
        ] {
            let shaper = build(&bench, &format!("rate = '2 Mbit/s'\nexcess = '{excess}'\nqueue = 'red'"));
            assert_eq!(average(shaper, link), expected, "{excess}, {link:?}");
        }
    }

    #[test]
    fn what_is_held_at_the_transmitter_takes_room_behind_the_bucket() {
        let mut bench = Bench::new();
        let mut queue = build(&bench, "rate = '64 kbit/s'\nqueue.droptail.limit = '2 packets'");
        queue.on_held(Backlog { packets: 1, bytes: 1_000 });
        bench.enqueue(&mut *queue, packet(0, 1_000, Dscp::Be));
        bench.enqueue(&mut *queue, packet(1, 1_000, Dscp::Be));
        assert_eq!((queue.backlog().packets, bench.drops(Cause::Overflow)), (1, 1));
    }

    #[test]
    fn a_packet_larger_than_the_bucket_leaves_when_it_is_full_and_pays_later() {
        let mut bench = Bench::new();
        let mut queue = build(&bench, "rate = '64 kbit/s'\nburst = '500 B'");
        bench.enqueue(&mut *queue, packet(0, 1_000, Dscp::Be));
        bench.enqueue(&mut *queue, packet(1, 1_000, Dscp::Be));
        assert_eq!(bench.empty(&mut *queue).len(), 1);
        // 500 B that the first one took too many, and 500 B for a full bucket, at 8000 B/s.
        assert_eq!(queue.next_timeout(), Some(Instant::from_secs_f64(0.125)));
        assert_eq!(queue.backlog(), Backlog { packets: 1, bytes: 1_000 });
        // A queue that is emptied gives up the packets that wait for their time.
        let evicted = queue.evict(&mut bench.core).expect("one packet waits");
        bench.core.drop(evicted, Place(0), Cause::Handover);
        assert_eq!((queue.backlog(), queue.next_timeout()), (Backlog::default(), None));
    }

    #[test]
    fn a_policer_drops_or_demotes_what_comes_without_tokens() {
        // As the bucket's own test: in, in, out, out, in, in.
        for (excess, left) in [("drop", vec![46; 4]), ("demote", vec![46, 46, 0, 0, 46, 46])] {
            let mut bench = Bench::new();
            let text = format!("rate = '64 kbit/s'\nburst = '2 kB'\nexcess = '{excess}'");
            let mut queue = build(&bench, &text);
            for at in [0.0, 0.0, 0.0, 0.1, 0.125, 0.25] {
                bench.at(at);
                bench.enqueue(&mut *queue, packet(0, 1_000, Dscp::Ef));
            }
            let got: Vec<u8> = bench.empty(&mut *queue).into_iter().map(|(.., dscp)| dscp).collect();
            assert_eq!(got, left, "{excess}");
            assert_eq!(bench.drops(Cause::Policed), 6 - left.len() as u64);
        }
    }
}
