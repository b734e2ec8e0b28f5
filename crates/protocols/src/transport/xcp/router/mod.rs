//! XCP's router: a FIFO whose packets learn, as they leave, by how much their senders are to
//! change their throughput (Katabi, Handley, Rohrs 2002; ns-2.35 `xcp/xcpq.cc`).
//!
//! [`control`] is the control law, [`capacity`] what the router knows of its link. This file has
//! the queue and the two timers: the control interval is a mean round-trip time, and the queue
//! interval half of one, less what the queue takes to drain. Both run by themselves, the first
//! time at a random instant, so that routers do not march in step.

pub mod capacity;
pub mod control;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::units::Amount;
use lasthop_net::engine::{BitRate, Duration, Instant, Stream};
use lasthop_net::net::Pkt;
use lasthop_net::net::core::Core;
use lasthop_net::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_net::net::machine::Timed;
use lasthop_net::net::observe::{Cause, Place, Probe};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::packet::{Header, Packet, TcpOptions};
use lasthop_net::net::transmitter::Queue;

use lasthop_net::queues::fifo::Fifo;

use capacity::{Capacity, Knowledge};
use control::{Control, INITIAL, x_of_window};

/// XCP's router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail.
    pub limit: Amount,
    /// How it learns of the link's rate: `oracle`, at once; `stale`, never; `{ delayed = "1 s" }`;
    /// `measured`, from how fast packets leave. Default: `oracle`.
    pub capacity: Capacity,
    /// Keep packets without XCP in a FIFO of their own, of the same limit. While both have packets the two take turns packet by packet, and
    /// XCP uses half of the link's rate (ns-2's `tcp_xcp_on_`). Off: all wait together, and packets without XCP count as input.
    pub share: bool,
    /// When the control timer expires first. Left out: drawn from a normal distribution of mean
    /// 50 ms and deviation 10 ms, but at least 4 ms (ns-2.35).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_control: Option<Duration>,
    /// When the queue timer expires first. Default: likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_queue: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit: Amount::Packets(100),
            capacity: Capacity::Oracle,
            share: false,
            first_control: None,
            first_queue: None,
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        let mut queue = Xcp::new(self, site.place, site.streams.stream(site.name, "xcp"));
        // Not every medium says it again.
        queue.on_capacity(Instant::ZERO, site.rate);
        Queue::Asked(Box::new(queue))
    }
}

/// The router's queue.
pub struct Xcp {
    share: bool,
    place: Place,
    knowledge: Knowledge,
    control: Control,
    /// When the timers expire next, s. They are sums of doubles, which do not drift.
    control_at: f64,
    queue_at: f64,
    /// XCP's packets; without `share`, all.
    own: Fifo,
    /// With `share`, the others.
    others: Fifo,
    /// With `share`, whether the last packet to leave was one of the others.
    others_left: bool,
    /// Packets whose change of throughput this router decided.
    decided: u64,
}

impl Xcp {
    /// An empty queue whose drops are counted at `place`. Its timers are drawn from `stream`.
    pub fn new(config: &Config, place: Place, mut stream: Stream) -> Self {
        let mut first = |stated: Option<Duration>| {
            let drawn = (INITIAL * (1.0 + 0.2 * normal(&mut stream))).max(0.004);
            stated.map_or(drawn, Duration::as_secs_f64)
        };
        Self {
            share: config.share,
            place,
            knowledge: Knowledge::new(config.capacity),
            control: Control::new(0.0),
            queue_at: first(config.first_queue),
            control_at: first(config.first_control),
            own: Fifo::new(config.limit),
            others: Fifo::new(config.limit),
            others_left: false,
            decided: 0,
        }
    }

    /// The rate that XCP may fill.
    fn capacity(&mut self, now: Instant) -> f64 {
        let rate = self.knowledge.rate(now);
        if self.share { rate / 2.0 } else { rate }
    }

    /// Does what the timers ask for that have expired, in their order.
    fn expire(&mut self, now: Instant) {
        loop {
            let at = Instant::from_secs_f64(self.control_at.min(self.queue_at));
            if at > now {
                return;
            }
            self.control.capacity = self.capacity(at);
            if self.queue_at <= self.control_at {
                self.control.end_queue_interval(self.own.backlog().bytes);
                self.queue_at += self.control.queue_interval;
            } else {
                self.control.end_interval();
                self.control_at += self.control.interval;
            }
        }
    }

    /// The FIFO of a packet, which is XCP's or not.
    fn fifo(&mut self, is_xcp: bool) -> &mut Fifo {
        if self.share && !is_xcp { &mut self.others } else { &mut self.own }
    }
}

impl QueueDiscipline for Xcp {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        // The control timer is not armed before the first packet.
        self.expire(core.now());
        let arriving = core.packet(&packet);
        let (size, options) = (arriving.size, options(arriving));
        if let Some(TcpOptions::Congestion(header)) = options {
            self.control.on_arrival(size, header);
        } else if options.is_some() || !self.share {
            self.control.on_other(size);
        }
        let is_xcp = options.is_some();
        let fifo = self.fifo(is_xcp);
        if fifo.is_full(size) {
            return core.drop(packet, self.place, Cause::Overflow);
        }
        fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let others = !self.others.is_empty() && (!self.others_left || self.own.is_empty());
        if !others && !self.own.is_empty() {
            self.control.see_queue(self.own.backlog().bytes);
        }
        let fifo = if others { &mut self.others } else { &mut self.own };
        let packet = fifo.pop(core)?;
        let leaving = core.packet_mut(&packet);
        let size = leaving.size;
        self.others_left = others;
        if let Header::Tcp(tcp) = &mut leaving.header
            && let TcpOptions::Congestion(header) = &mut tcp.options
        {
            self.decided += u64::from(self.control.on_departure(size, header));
        }
        let waits = !(self.own.is_empty() && self.others.is_empty());
        self.knowledge.on_departure(core.now(), size, waits);
        Some(packet)
    }

    /// It gets no feedback.
    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.knowledge.forget_service();
        self.own.pop(core).or_else(|| self.others.pop(core))
    }

    fn on_interrupted(&mut self) {
        self.knowledge.forget_service();
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.knowledge.forget_service();
        let is_xcp = options(core.packet(&packet)).is_some();
        self.fifo(is_xcp).put_back(core, packet);
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        self.expire(now);
        self.knowledge.on_rate(now, rate);
    }

    fn backlog(&self) -> Backlog {
        self.own.backlog() + self.others.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let Control { capacity, interval, mean_rtt, queue, residue, xi, last, work, counted, .. } = &self.control;
        probe.value("capacity_bytes_per_s", *capacity);
        probe.value("input_bytes_per_s", last.input);
        probe.value("phi_bytes_per_s", last.phi);
        probe.value("shuffled_bytes_per_s", last.shuffled);
        probe.value("persistent_queue_bytes", *queue);
        probe.value("mean_rtt_s", *mean_rtt);
        probe.value("control_interval_s", *interval);
        probe.value("residue_positive_bytes_per_s", residue[0]);
        probe.value("residue_negative_bytes_per_s", residue[1]);
        probe.value("xi_positive", xi[0]);
        probe.value("xi_negative", xi[1]);
        probe.value("decided_packets", self.decided as f64);
        work[0].show_mean(probe, Operations::IN, counted[0]);
        work[1].show_mean(probe, Operations::OUT, counted[1]);
        let mut more = Operations::default();
        x_of_window(&mut more, *mean_rtt, 1.0, 1.0);
        work[0].and(more.times(counted[0])).show_mean(probe, WINDOW_IN, counted[0]);
        work[1].and(more.times(counted[1])).show_mean(probe, WINDOW_OUT, counted[1]);
        probe.value("state_bytes", size_of::<Control>() as f64);
    }
}

impl Timed for Xcp {
    fn on_timeout(&mut self, now: Instant) {
        self.expire(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(Instant::from_secs_f64(self.control_at.min(self.queue_at)))
    }
}

/// The names of what a packet would cost with the header of the paper, which has the window instead of x.
const WINDOW_IN: [&str; 2] = ["window_header_additions_in", "window_header_multiplications_in"];
const WINDOW_OUT: [&str; 2] = ["window_header_additions_out", "window_header_multiplications_out"];

/// The options of a packet that is XCP's: with a congestion header, or the answer to one.
fn options(packet: &Packet) -> Option<&TcpOptions> {
    packet.tcp().map(|tcp| &tcp.options).filter(|options| !matches!(options, TcpOptions::Sack(_)))
}

/// A number from the standard normal distribution (Box, Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

#[cfg(test)]
mod tests;
