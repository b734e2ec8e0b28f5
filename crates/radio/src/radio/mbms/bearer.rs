//! A radio bearer: a FIFO in front of the air, and the attempts to bring its packets over.
//!
//! A packet that does not come is sent again at once, with its whole length, until it comes or the attempts are used up. If each of
//! at most A attempts fails with probability e, a share e^A stays lost, a packet takes (1 − e^A)/(1 − e) attempts on average, and the
//! bearer serves its rate divided by that.

use crate::radio::Direction;
use crate::radio::channel::{Block, Channel};
use crate::radio::delay_line::DelayLine;
use crate::radio::imposed::Imposed;
use crate::radio::loss_indication::Markers;
use lasthop_net::engine::units::Amount;
use lasthop_net::engine::{BitRate, Duration, Instant, Target};
use lasthop_net::net::clock::{Clock, Exact};
use lasthop_net::net::copies;
use lasthop_net::net::indication::Marker;
use lasthop_net::net::schedule::Schedule;
use lasthop_net::net::{Cause, Core, FlowId, Pkt, Place, Probe, Rejections};
use lasthop_net::queues::fifo::Fifo;

use super::audiences::Audiences;
use super::varying::Varying;

/// How a bearer sends.
#[derive(Clone)]
pub struct Sending {
    /// Its rate.
    pub rate: BitRate,
    /// How often a packet is sent, at most.
    pub attempts: u32,
    /// How much waits, without the packet that is being sent.
    pub queue: Amount,
    /// What tells terminals of packets that it never had. `None`: nothing does.
    pub marker: Option<Marker>,
}

/// The terminals that a bearer serves.
pub enum To {
    /// One terminal (point to point).
    One(u32),
    /// Those that listen to each packet (point to multipoint).
    Several(Audiences),
}

/// The air interface behind the FIFO.
pub struct Air<'a> {
    /// Decides which blocks are received.
    pub channel: &'a mut dyn Channel,
    /// What changes impose on it.
    pub imposed: &'a mut Imposed,
    /// Packets received by terminals, on their way up in them.
    pub line: &'a mut DelayLine,
    /// Where what a terminal does not receive ends.
    pub places: &'a [Place],
}

impl Air<'_> {
    /// Whether a terminal receives a block.
    fn receive(&mut self, block: &Block<'_>) -> bool {
        self.imposed.receive(self.channel, block).any()
    }
}

/// A radio bearer.
pub struct Bearer {
    /// As it stands in results.
    name: String,
    /// Woken when an attempt ends.
    target: Target,
    to: To,
    schedule: Schedule<Exact>,
    attempts: u32,
    /// Of a point-to-point bearer whose rate and delay change.
    varying: Option<Varying>,
    /// When the last packet comes to the terminal.
    last_due: Instant,
    fifo: Fifo,
    present: Option<Attempt>,
    markers: Option<Markers>,
    /// Packets that found no room, by flow.
    rejected: Vec<(FlowId, Rejections)>,
    counts: Counts,
    /// Terminals of the present packet; empty between events.
    audience: Vec<u32>,
}

/// An attempt that is under way.
struct Attempt {
    pkt: Pkt,
    start: Instant,
    /// Its number for this packet, from 1.
    number: u32,
}

/// What a bearer did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets that came to a terminal.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Attempts.
    pub tries: u64,
    /// Attempts that a terminal did not receive.
    pub failed: u64,
    /// Packets that found no room.
    pub rejected: u64,
    /// Packets in which the packet-loss indication was set.
    pub indicated: u64,
}

impl Counts {
    /// Adds those of another bearer.
    pub fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.tries += other.tries;
        self.failed += other.failed;
        self.rejected += other.rejected;
        self.indicated += other.indicated;
    }

    /// Shows them.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("packets", self.packets as f64);
        probe.value("bytes", self.bytes as f64);
        probe.value("tries", self.tries as f64);
        probe.value("failed_tries", self.failed as f64);
        probe.value("rejected_packets", self.rejected as f64);
        probe.value("indicated_packets", self.indicated as f64);
    }
}

impl Bearer {
    /// A bearer on which nothing has come; it wakes `target`.
    pub fn new(name: String, target: Target, to: To, sending: &Sending, varying: Option<Varying>) -> Self {
        Self {
            name,
            target,
            to,
            schedule: Schedule::new(sending.rate, Duration::ZERO, true),
            attempts: sending.attempts,
            varying,
            last_due: Instant::ZERO,
            fifo: Fifo::new(sending.queue),
            present: None,
            markers: sending.marker.clone().map(Markers::new),
            rejected: Vec::new(),
            counts: Counts::default(),
            audience: Vec::new(),
        }
    }

    /// Packets sent from now on have another rate.
    pub fn set_rate(&mut self, rate: BitRate) {
        self.schedule.set_rate(rate);
    }

    /// Takes a packet for these terminals, or gives it back if there is no room; `resent` if the base station had asked for it.
    pub fn accept(&mut self, core: &mut Core, pkt: Pkt, terminals: &[u32], resent: bool) -> Result<(), Pkt> {
        let packet = core.packet_mut(&pkt);
        let (size, flow, exempt) = (packet.size, packet.flow, packet.is_exempt());
        if self.present.is_some() && self.fifo.is_full(size) && !exempt {
            self.counts.rejected += 1;
            let one = Rejections { count: 1, last: core.now() };
            match self.rejected.iter_mut().find(|(known, _)| *known == flow) {
                Some((_, so_far)) => *so_far = so_far.and(one),
                None => self.rejected.push((flow, one)),
            }
            return Err(pkt);
        }
        if let Some(markers) = &mut self.markers {
            markers.on_accept(packet, resent);
        }
        if let To::Several(audiences) = &mut self.to {
            audiences.push(terminals);
        }
        if self.present.is_some() {
            self.fifo.push_exempt(pkt, size);
        } else {
            self.attempt(core, pkt, 1);
        }
        Ok(())
    }

    /// Begins an attempt.
    fn attempt(&mut self, core: &mut Core, pkt: Pkt, number: u32) {
        let start = core.now();
        if let Some(varying) = &mut self.varying {
            self.schedule.set_rate(varying.at(start).rate);
        }
        let service = Exact::serve(&mut self.schedule, (start, ()), core.packet(&pkt).size);
        self.present = Some(Attempt { pkt, start, number });
        core.arm(self.target, service.out, start);
    }

    /// The present attempt is over: the packet came, or is sent again, or is lost.
    pub fn wake(&mut self, core: &mut Core, air: &mut Air<'_>) {
        let Some(Attempt { pkt, start, number }) = self.present.take() else { return };
        self.counts.tries += 1;
        let block = |terminal, dedicated, at| Block {
            terminal,
            direction: Direction::Down,
            dedicated,
            sent: start,
            at,
            cells: &[0],
        };
        let more = self.varying.as_mut().map_or(Duration::ZERO, |varying| varying.at(core.now()).more);
        // No packet overtakes another of its bearer.
        let at = (core.now() + air.line.delay() + more).max(self.last_due);
        self.last_due = at;
        match &mut self.to {
            To::One(terminal) => {
                let terminal = *terminal;
                if air.receive(&block(terminal, true, at)) || core.packet(&pkt).is_exempt() {
                    self.counts.packets += 1;
                    self.counts.bytes += u64::from(core.packet(&pkt).size);
                    air.line.send_until(core, at, terminal, pkt);
                } else {
                    self.counts.failed += 1;
                    if number < self.attempts {
                        return self.attempt(core, pkt, number + 1);
                    }
                    core.drop(pkt, air.places[terminal as usize], Cause::Radio);
                }
            }
            To::Several(audiences) => {
                audiences.pop(&mut self.audience);
                let counts = &mut self.counts;
                copies::each(core, pkt, &self.audience, |core, terminal, pkt| {
                    if air.receive(&block(terminal, false, at)) || core.packet(&pkt).is_exempt() {
                        counts.packets += 1;
                        counts.bytes += u64::from(core.packet(&pkt).size);
                        air.line.send(core, terminal, pkt);
                    } else {
                        counts.failed += 1;
                        core.drop(pkt, air.places[terminal as usize], Cause::Radio);
                    }
                });
            }
        }
        if let Some(next) = self.fifo.pop(core) {
            self.attempt(core, next, 1);
        }
    }

    /// How many packets of a flow found no room.
    pub fn rejections(&self, flow: FlowId) -> Rejections {
        self.rejected.iter().find(|(known, _)| *known == flow).map(|(_, so_far)| *so_far).unwrap_or_default()
    }

    /// How many packets it holds.
    pub fn holds(&self) -> u64 {
        self.fifo.backlog().packets + u64::from(self.present.is_some())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it did.
    pub fn counts(&self) -> Counts {
        Counts { indicated: self.markers.as_ref().map_or(0, Markers::set), ..self.counts }
    }

    /// Shows its state.
    pub fn sample(&self, probe: &mut dyn Probe) {
        self.counts().sample(probe);
        let backlog = self.fifo.backlog();
        probe.value("queue_packets", backlog.packets as f64);
        probe.value("queue_bytes", backlog.bytes as f64);
    }
}
