//! One direction of a link that follows a trace: a queue that is asked at each opportunity, and a flight of packets.
//!
//! An opportunity serves packets that came before it. The packet in transit goes on first, then those that the queue gives, while bytes are
//! left; a packet is delivered by the opportunity that carries its last byte. What an opportunity does not use is lost. Nothing happens at
//! opportunities while nothing waits.

use crate::engine::{BitRate, Duration, Instant, Target};
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueDiscipline};
use crate::net::loss::Loss;
use crate::net::medium::{Access, Change, End};
use crate::net::observe::{Cause, Histogram, Place, Probe};
use crate::net::order::{Answer, Command};
use crate::net::schedule::Path;
use crate::net::slab::{Flight, Line, Pkt};
use crate::net::sparing::Sparing;
use crate::net::transmitter::Returned;

use super::format::{BYTES, Trace};
use super::opportunities::Opportunities;

/// How a direction that follows a trace is set up.
pub struct TracedSetup {
    /// Where its drops are counted; the place's name stands in results.
    pub place: Place,
    /// The trace.
    pub trace: Trace,
    /// How much of the trace lies before the start of the run.
    pub start: Duration,
    /// Whether the trace begins again after its last line.
    pub repeats: bool,
    /// Propagation delay, behind the opportunities.
    pub delay: Duration,
    /// The queue.
    pub queue: Box<dyn QueueDiscipline>,
    /// The loss model in front of the queue.
    pub loss: Loss,
}

/// One direction.
pub(super) struct Traced {
    opportunities: Opportunities,
    queue: Sparing,
    transit: Option<Transit>,
    /// In flight, in the order of arrivals.
    line: Line,
    delay: Duration,
    path: Option<Box<dyn Path>>,
    last_arrival: Instant,
    /// The valid wake-ups: the next opportunity, the next arrival, what the queue asked for.
    opportunity: Option<Instant>,
    arrival: Option<Instant>,
    timeout: Option<Instant>,
    component: u32,
    first_key: u32,
    up: bool,
    pub(super) heard: bool,
    to: End,
    loss: Loss,
    rate: BitRate,
    /// Bytes that opportunities carried.
    carried: u64,
    sent: Backlog,
    waits: Histogram,
    place: Place,
}

/// A packet of which a part may have been carried.
struct Transit {
    pkt: Pkt,
    left: u32,
    start: Instant,
    accepted: Instant,
    size: u32,
}

const OPPORTUNITY: u32 = 0;
const ARRIVAL: u32 = 1;

impl Traced {
    pub fn new(core: &Core, to: End, component: u32, first_key: u32, setup: TracedSetup) -> Self {
        let rate = setup.trace.mean_rate();
        let mut queue = Sparing::new(setup.queue);
        queue.discipline.on_capacity(core.now(), rate);
        Self {
            opportunities: Opportunities::new(setup.trace, setup.start, setup.repeats),
            queue,
            transit: None,
            line: Line::EMPTY,
            delay: setup.delay,
            path: None,
            last_arrival: Instant::ZERO,
            opportunity: None,
            arrival: None,
            timeout: None,
            component,
            first_key,
            up: true,
            heard: false,
            to,
            loss: setup.loss,
            rate,
            carried: 0,
            sent: Backlog::default(),
            waits: Histogram::default(),
            place: setup.place,
        }
    }

    pub fn set_path(&mut self, path: Box<dyn Path>) {
        self.path = Some(path);
    }

    pub fn place(&self) -> Place {
        self.place
    }

    pub fn delay(&self) -> Duration {
        self.delay
    }

    pub fn is_up(&self) -> bool {
        self.up
    }

    pub fn accept(&mut self, core: &mut Core, pkt: Pkt) {
        if !self.up {
            return core.drop(pkt, self.place, Cause::LinkDown);
        }
        if let Some(model) = &mut self.loss.0
            && model.loses(core.now())
            && !core.packet(&pkt).is_exempt()
        {
            return core.drop(pkt, self.place, Cause::Loss);
        }
        // An opportunity of this instant comes first.
        self.serve(core);
        core.note_queued(&pkt);
        self.queue.accept(core, pkt);
        self.arm(core);
    }

    pub fn wake(&mut self, core: &mut Core, key: u32, reverse: &mut impl Returned) {
        match key - self.first_key {
            OPPORTUNITY => self.serve(core),
            ARRIVAL => self.land(core, reverse),
            _ => self.wake_queue(core),
        }
        self.arm(core);
    }

    /// The opportunities that have come, of those that were waited for.
    fn serve(&mut self, core: &mut Core) {
        let now = core.now();
        if self.opportunity.is_none_or(|at| at > now) {
            return;
        }
        self.opportunity = None;
        while self.opportunities.next().is_some_and(|at| at <= now) && self.carry(core, now) {
            self.opportunities.take();
        }
    }

    /// An opportunity carries what it can. Says whether it carried anything.
    fn carry(&mut self, core: &mut Core, now: Instant) -> bool {
        let mut room = BYTES;
        while room > 0 {
            let Some(mut transit) = self.transit.take().or_else(|| self.begin(core, now)) else { break };
            let carried = transit.left.min(room);
            room -= carried;
            transit.left -= carried;
            self.carried += u64::from(carried);
            if transit.left > 0 {
                self.transit = Some(transit);
            } else {
                self.launch(core, transit, now);
            }
        }
        if room == 0 && self.transit.is_none() && self.queue.backlog().packets == 0 {
            // A queue sees that it is empty when it is asked.
            self.transit = self.begin(core, now);
        }
        room < BYTES
    }

    /// Takes the next packet into transit.
    fn begin(&mut self, core: &mut Core, now: Instant) -> Option<Transit> {
        if !self.up {
            return None;
        }
        let pkt = self.queue.dequeue(core)?;
        let (size, accepted) = (core.packet(&pkt).size, core.queued_at(&pkt));
        Some(Transit { pkt, left: size, start: now, accepted, size })
    }

    /// Its last byte was carried: it flies.
    fn launch(&mut self, core: &mut Core, transit: Transit, now: Instant) {
        let Transit { pkt, start, accepted, size, .. } = transit;
        let delay = self.path.as_ref().map_or(self.delay, |path| path.delay(now, self.delay));
        // Packets keep their order.
        self.last_arrival = self.last_arrival.max(now + delay);
        let flight = Flight { size, accepted, start, out: now, arrival: self.last_arrival, ..Flight::default() };
        self.line.push(core, pkt, flight);
    }

    fn land(&mut self, core: &mut Core, reverse: &mut impl Returned) {
        let now = core.now();
        if self.arrival.is_none_or(|at| at > now) {
            return;
        }
        self.arrival = None;
        while self.line.front(core).is_some_and(|first| first.arrival <= now)
            && let Some((pkt, flight)) = self.line.pop(core)
        {
            self.sent.packets += 1;
            self.sent.bytes += u64::from(flight.size);
            self.waits.add(flight.start.since(flight.accepted).as_nanos());
            if self.heard {
                reverse.on_return(core, &pkt);
            }
            core.arrive(self.to.node, self.to.port, pkt);
        }
    }

    fn wake_queue(&mut self, core: &Core) {
        let now = core.now();
        if self.timeout.is_some_and(|at| at <= now) {
            self.timeout = None;
            if self.queue.discipline.next_timeout().is_some_and(|at| at <= now) {
                self.queue.discipline.on_timeout(now);
            }
        }
    }

    /// Arms what is due next: the next opportunity if something waits, the next arrival, the queue.
    fn arm(&mut self, core: &mut Core) {
        let now = core.now();
        let waits = self.transit.is_some() || (self.up && self.queue.backlog().packets > 0);
        if waits && self.opportunity.is_none() {
            self.opportunities.pass(now);
            self.opportunity = self.opportunities.next();
            if let Some(at) = self.opportunity {
                core.arm(self.target(OPPORTUNITY), at, now);
            }
        }
        if let Some(first) = self.line.front(core).map(|flight| (flight.arrival, flight.out))
            && self.arrival.is_none_or(|armed| first.0 < armed)
        {
            self.arrival = Some(first.0);
            core.arm(self.target(ARRIVAL), first.0, first.1);
        }
        if let Some(at) = self.queue.discipline.next_timeout()
            && self.timeout.is_none_or(|armed| at < armed)
        {
            self.timeout = Some(at);
            core.arm(self.target(ARRIVAL + 1), at, now);
        }
    }

    /// Delay, state and loss change; rates do not.
    pub fn change(&mut self, core: &mut Core, change: &mut Change) {
        self.serve(core);
        self.delay = change.delay.unwrap_or(self.delay);
        self.up = change.up.unwrap_or(self.up);
        if let Some(loss) = change.loss.take() {
            self.loss.replace(loss, change.loss_for.map(|time| core.now() + time));
        }
        self.arm(core);
    }

    pub fn order(&mut self, core: &mut Core, command: &Command) -> Answer {
        let answer = self.queue.discipline.on_order(core.now(), command);
        self.arm(core);
        answer
    }

    pub fn access(&self) -> Access {
        Access { rate: self.rate, delay: self.delay, up: self.up }
    }

    pub fn holds(&self) -> u64 {
        self.queue.backlog().packets + u64::from(self.transit.is_some()) + self.line.len()
    }

    /// The same quantities as of a serialiser, but for the time that it was busy: what its opportunities carried, and could. Its rate is the
    /// trace's mean.
    pub fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        let backlog = self.queue.backlog();
        let delay = self.path.as_ref().map_or(self.delay, |path| path.delay(core.now(), self.delay));
        probe.value("rate_bps", self.rate.as_bps() as f64);
        probe.value("delay_s", delay.as_secs_f64());
        probe.value("queue_packets", backlog.packets as f64);
        probe.value("queue_bytes", backlog.bytes as f64);
        probe.value("packets", self.sent.packets as f64);
        probe.value("bytes", self.sent.bytes as f64);
        probe.value("carried_bytes", self.carried as f64);
        probe.value("opportunity_bytes", f64::from(BYTES) * self.opportunities.until(core.now()) as f64);
        probe.distribution("queue_ms", 1e-6, &self.waits);
        self.queue.discipline.sample(probe);
    }

    fn target(&self, key: u32) -> Target {
        Target { component: self.component, key: self.first_key + key }
    }
}

impl Returned for Traced {
    fn on_return(&mut self, core: &mut Core, pkt: &Pkt) {
        let now = core.now();
        self.queue.discipline.on_return(now, core.packet_mut(pkt));
    }
}
