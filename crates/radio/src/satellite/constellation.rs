//! The medium: the transmitters of satellites and terminals, and the links that exist at present.
//!
//! Peers are the satellites and then the terminals. Each link between satellites has a transmitter at either end, each terminal one
//! for its up-link, each satellite one down-link for all terminals that it serves: a packet for several of them is sent once.
//!
//! More than 500 lines: links, looks and handoffs change the same transmitters within one event.

use lasthop_net::engine::{BitRate, Duration, Instant, Stream, Target};
use lasthop_net::net::clock::Exact;
use lasthop_net::net::loss::Loss;
use lasthop_net::net::medium::{Access, Change, Edge, End, Medium, Peer};
use lasthop_net::net::transmitter::{self, KEYS, Returned, Transmitter};
use lasthop_net::net::{Address, Answer, Cause, Command, Core, NodeId, Pkt, Place, Port, Probe, What, copies};

use super::air::{Air, Way};
use super::audiences::Audiences;
use super::body::{Body, Circle};
use super::earth::{LIGHT_KM_PER_S, Vector, distance};
use super::handoff::{self, Queued};
use super::mesh::{Shell, is_up};
use super::range::Range;

/// What a constellation is made of.
pub struct Setup {
    /// Its name.
    pub name: String,
    /// Its satellites.
    pub shell: Shell,
    /// How far north and south links between planes are up, in radians.
    pub latitude_limit: f64,
    /// When terminals change their satellite.
    pub handoff: handoff::Config,
    /// The transmitters of each link between satellites: from its first end to its second, and back.
    pub isl: Vec<[Sending; 2]>,
    /// The transmitter down of each satellite.
    pub down: Vec<transmitter::Setup>,
    /// The terminals.
    pub terminals: Vec<Terminal>,
    /// When terminals and satellites look.
    pub looks: Looks,
    /// Whether lengths of ways are in steps of 10 ns, as ns-2 compares them.
    pub in_steps: bool,
}

/// When terminals look for satellites, and satellites at their links to other planes.
pub struct Looks {
    /// How often terminals do, and by how much one is early or late at most.
    pub terminals: [Duration; 2],
    /// The same for satellites.
    pub satellites: [Duration; 2],
    /// By how much they are.
    pub stream: Stream,
}

impl Looks {
    fn wait(&mut self, [interval, jitter]: [Duration; 2]) -> Duration {
        let jitter = jitter.as_secs_f64();
        let late = if jitter > 0.0 { self.stream.uniform(-jitter, jitter) } else { 0.0 };
        Duration::from_secs_f64(interval.as_secs_f64() + late)
    }
}

/// A transmitter, and the losses on its way.
pub struct Sending {
    /// The transmitter.
    pub setup: transmitter::Setup,
    /// The losses.
    pub errors: Loss,
}

/// What a terminal is made of.
pub struct Terminal {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// The transmitter up.
    pub up: Sending,
    /// The losses on the way down.
    pub errors: Loss,
    /// Where its packets end that do not come down.
    pub place: Place,
}

/// A constellation and its terminals.
pub struct Constellation {
    name: String,
    shell: Shell,
    latitude_limit: f64,
    handoff: handoff::Config,
    links: Vec<Isl>,
    satellites: Vec<Satellite>,
    terminals: Vec<Ground>,
    air: Air,
    looks: Looks,
    in_steps: bool,
    audiences: Audiences,
    counts: Counts,
    component: u32,
}

/// A link between satellites.
struct Isl {
    ends: [u32; 2],
    within_plane: bool,
    up: bool,
    /// From the first end to the second, and back.
    directions: [Transmitter<Exact>; 2],
    /// The way's length, for routing.
    range: Range,
}

struct Satellite {
    end: End,
    down: Transmitter<Exact>,
    /// The links that end here, as (neighbour, link, direction away from here).
    links: Vec<(u32, u32, usize)>,
    /// Whether it has come down.
    fallen: bool,
}

/// A terminal.
struct Ground {
    end: End,
    body: Body,
    up: Transmitter<Exact>,
    errors: Loss,
    place: Place,
    serving: Option<Serving>,
    /// Whether nothing stands between it and the sky.
    clear: bool,
    /// The satellite before, and until when it served.
    before: Option<(u32, Instant)>,
    /// Since when none serves it.
    out_since: Instant,
    handoffs: u64,
    outages: u64,
    outage: Duration,
}

/// The satellite that serves a terminal.
struct Serving {
    satellite: u32,
    since: Instant,
    range: Range,
}

#[derive(Default)]
struct Counts {
    links_lost: u64,
    links_found: u64,
    rerouted: u64,
}

/// Where down-links bring packets: it is no node of the network.
const SKY: End = End { node: NodeId(u32::MAX), port: Port::LOCAL };

/// The wake-ups that belong to no transmitter.
const AIR: u32 = 3 << 30;
const LOOKS: u32 = 1 << 31;

/// Tags from here on name sets of terminals, those below single ones.
const SEVERAL: u32 = 1 << 31;

impl Constellation {
    /// One whose wake-ups come to `component`; `ends` are its satellites and its terminals.
    pub fn new(core: &mut Core, component: u32, ends: &[End], setup: Setup) -> Self {
        let mut key = 0;
        let mut transmitter = |core: &Core, to: End, setup: transmitter::Setup| {
            key += KEYS;
            Transmitter::new(core, to, component, key - KEYS, setup)
        };
        let bodies = &setup.shell.bodies;
        let mut links = Vec::new();
        for (link, sendings) in setup.shell.links().into_iter().zip(setup.isl) {
            let [a, b] = link.ends;
            let range = || Range::new(bodies[a as usize].clone(), bodies[b as usize].clone());
            let [forth, back] = sendings;
            let mut make = |core: &Core, to: u32, sending: Sending| {
                let mut made = transmitter(core, ends[to as usize], sending.setup);
                made.set_errors(sending.errors);
                made.set_path(Box::new(range()));
                made
            };
            let (mut forth, mut back) = (make(core, b, forth), make(core, a, back));
            forth.hear(&back);
            back.hear(&forth);
            let (ends, within_plane) = (link.ends, link.within_plane);
            links.push(Isl { ends, within_plane, up: true, directions: [forth, back], range: range() });
        }
        let mut satellites: Vec<Satellite> = setup
            .down
            .into_iter()
            .zip(ends)
            .map(|(down, &end)| Satellite { end, down: transmitter(core, SKY, down), links: Vec::new(), fallen: false })
            .collect();
        for (link, number) in links.iter().zip(0..) {
            let [a, b] = link.ends;
            satellites[a as usize].links.push((b, number, 0));
            satellites[b as usize].links.push((a, number, 1));
        }
        let turned = setup.shell.turned;
        let terminals = setup.terminals.into_iter().zip(&ends[satellites.len()..]).map(|(terminal, &end)| {
            let mut up = transmitter(core, SKY, terminal.up.setup);
            up.set_errors(terminal.up.errors);
            if let Some(satellite) = satellites.first() {
                up.hear(&satellite.down);
            }
            Ground {
                end,
                body: Body::Circle(Circle::ground(terminal.latitude, terminal.longitude + turned)),
                up,
                errors: terminal.errors,
                place: terminal.place,
                serving: None,
                clear: true,
                before: setup.handoff.initial.map(|satellite| (satellite, Instant::ZERO)),
                out_since: Instant::ZERO,
                handoffs: 0,
                outages: 0,
                outage: Duration::ZERO,
            }
        });
        let terminals: Vec<Ground> = terminals.collect();
        let mut new = Self {
            name: setup.name,
            latitude_limit: setup.latitude_limit,
            handoff: setup.handoff,
            links,
            satellites,
            terminals,
            air: Air::new(component, AIR),
            looks: setup.looks,
            in_steps: setup.in_steps,
            audiences: Audiences::default(),
            counts: Counts::default(),
            component,
            shell: setup.shell,
        };
        new.start(core);
        new
    }

    /// All terminals and satellites look for the first time.
    fn start(&mut self, core: &mut Core) {
        for link in 0..self.links.len() {
            self.look_at_link(link as u32, 0.0);
        }
        for terminal in 0..self.terminals.len() as u32 {
            self.terminals[terminal as usize].up.change(
                core,
                &mut Change { up: Some(false), ..Change::default() },
                None,
            );
            self.look(core, terminal);
            let ground = &mut self.terminals[terminal as usize];
            ground.outages = u64::from(ground.serving.is_none());
        }
        self.counts = Counts::default();
        let everybody = self.terminals.len() + self.satellites.len();
        for one in 0..everybody as u32 {
            self.arm_look(core, one);
        }
    }

    /// Terminals are numbered from 0 here, satellites behind them.
    fn arm_look(&mut self, core: &mut Core, one: u32) {
        let is_terminal = (one as usize) < self.terminals.len();
        let wait = self.looks.wait(if is_terminal { self.looks.terminals } else { self.looks.satellites });
        let now = core.now();
        core.arm(Target { component: self.component, key: LOOKS + one }, now + wait, now);
    }

    fn wake_look(&mut self, core: &mut Core, one: u32) {
        let terminals = self.terminals.len() as u32;
        let changed = match one.checked_sub(terminals) {
            None => self.look(core, one),
            Some(satellite) => self.look_at_links(satellite, core.now().as_secs_f64()),
        };
        if changed {
            core.change_ways();
        }
        self.arm_look(core, one);
    }

    /// A satellite looks at its links to other planes; says whether one has changed.
    fn look_at_links(&mut self, satellite: u32, seconds: f64) -> bool {
        let links: Vec<u32> = self.satellites[satellite as usize].links.iter().map(|(_, link, _)| *link).collect();
        let mut changed = false;
        for link in links {
            changed |= self.look_at_link(link, seconds);
        }
        changed
    }

    fn look_at_link(&mut self, link: u32, seconds: f64) -> bool {
        let Isl { ends, within_plane, up, .. } = &mut self.links[link as usize];
        let bodies = ends.map(|end| &self.shell.bodies[end as usize]);
        let stands = || is_up(bodies.map(|body| body.position(seconds)), self.latitude_limit);
        for (end, body) in ends.iter().zip(bodies) {
            // Elements of one that has come down say nothing any more.
            self.satellites[*end as usize].fallen |= !body.is_in_orbit(seconds);
        }
        let in_orbit = ends.iter().all(|end| !self.satellites[*end as usize].fallen);
        let before = std::mem::replace(up, in_orbit && (*within_plane || stands()));
        self.counts.links_lost += u64::from(before && !*up);
        self.counts.links_found += u64::from(!before && *up);
        before != *up
    }

    /// A terminal looks which satellite is to serve it; says whether that has changed.
    fn look(&mut self, core: &mut Core, terminal: u32) -> bool {
        let now = core.now();
        let ground = &mut self.terminals[terminal as usize];
        let seconds = now.as_secs_f64();
        let last = ground.serving.as_ref().map(|serving| serving.satellite);
        let known = last.or(ground.before.map(|(satellite, _)| satellite));
        let chosen =
            ground.clear.then(|| self.handoff.choose(&self.shell, ground.body.position(seconds), known, seconds));
        let chosen = chosen.flatten();
        if chosen == last {
            return false;
        }
        let range = |satellite: u32| Range::new(ground.body.clone(), self.shell.bodies[satellite as usize].clone());
        let serving = chosen.map(|satellite| Serving { satellite, since: now, range: range(satellite) });
        if let Some(satellite) = chosen {
            ground.up.set_path(Box::new(range(satellite)));
        }
        for flying in ground.up.detach_in_flight(core) {
            // While none served it, nothing began.
            let way = Way::Up { terminal, satellite: last.unwrap_or_default() };
            self.air.send(core, flying.start, flying.arrival, way, flying.pkt);
        }
        if let Some(satellite) = chosen {
            ground.up.redirect(self.satellites[satellite as usize].end);
        }
        if chosen.is_some() != last.is_some() {
            ground.up.change(core, &mut Change { up: Some(chosen.is_some()), ..Change::default() }, None);
        }
        match (last, chosen) {
            (Some(_), None) => {
                ground.outages += 1;
                ground.out_since = now;
            }
            (None, Some(_)) => ground.outage += now.since(ground.out_since),
            _ => ground.handoffs += 1,
        }
        ground.serving = serving;
        ground.before = last.map(|last| (last, now)).or(ground.before);
        if let (Some(last), Queued::Reroute) = (last, self.handoff.queued) {
            self.reroute(core, last, terminal);
        }
        true
    }

    /// A satellite forwards the packets that wait there for a terminal that it no longer serves. Those to groups stay: they would go to all
    /// members behind the satellite again.
    fn reroute(&mut self, core: &mut Core, satellite: u32, terminal: u32) {
        let Satellite { down, end, .. } = &mut self.satellites[satellite as usize];
        let stays =
            |core: &Core, pkt: &Pkt| core.tag(pkt) != terminal || matches!(core.packet(pkt).to, Address::Group(_));
        let taken = down.take_waiting(core, stays);
        self.counts.rerouted += taken.len() as u64;
        for pkt in taken {
            core.hand_over(end.node, end.port, pkt);
        }
    }

    /// A down-link has sent a packet.
    fn come_down(&mut self, core: &mut Core, satellite: u32, pkt: Pkt) {
        let tag = core.tag(&pkt);
        if tag < SEVERAL {
            return self.fall(core, satellite, tag, pkt);
        }
        let audiences = std::mem::take(&mut self.audiences);
        copies::each(core, pkt, audiences.of(tag - SEVERAL), |core, terminal, pkt| {
            self.fall(core, satellite, terminal, pkt);
        });
        self.audiences = audiences;
    }

    /// A packet is on its way to a terminal, if that listened to the satellite when its transmission began.
    fn fall(&mut self, core: &mut Core, satellite: u32, terminal: u32, pkt: Pkt) {
        let (start, out) = (core.since(), core.now());
        let ground = &self.terminals[terminal as usize];
        let delay = match (&ground.serving, ground.before) {
            (Some(serving), _) if serving.satellite == satellite && start >= serving.since => {
                serving.range.delay(start)
            }
            (_, Some((before, until))) if before == satellite && start <= until => {
                let at = self.shell.bodies[satellite as usize].position(start.as_secs_f64());
                propagation(ground.body.position(start.as_secs_f64()), at)
            }
            // A message that must not be lost goes on through the constellation.
            _ if core.packet(&pkt).is_exempt() => {
                let End { node, port } = self.satellites[satellite as usize].end;
                return core.hand_over(node, port, pkt);
            }
            _ => return core.drop(pkt, ground.place, Cause::Handover),
        };
        self.air.send(core, start, out + delay, Way::Down(terminal), pkt);
    }

    fn wake_air(&mut self, core: &mut Core, key: u32) {
        let Some((way, pkt)) = self.air.take(key) else { return };
        match way {
            Way::Up { terminal, satellite } => {
                let Satellite { end, down, .. } = &mut self.satellites[satellite as usize];
                self.terminals[terminal as usize].up.land_detached(core, pkt, *end, down);
            }
            Way::Down(terminal) => {
                let ground = &mut self.terminals[terminal as usize];
                if let Some(model) = &mut ground.errors.0
                    && model.loses(core.now())
                    && !core.packet(&pkt).is_exempt()
                {
                    return core.drop(pkt, ground.place, Cause::Radio);
                }
                ground.up.on_return(core, &pkt);
                core.hand_over(ground.end.node, ground.end.port, pkt);
            }
        }
    }

    fn wake_transmitter(&mut self, core: &mut Core, key: u32) {
        let number = (key / KEYS) as usize;
        let between = 2 * self.links.len();
        if number < between {
            let [forth, back] = &mut self.links[number / 2].directions;
            return if number.is_multiple_of(2) { forth.wake(core, key, back) } else { back.wake(core, key, forth) };
        }
        let number = number - between;
        match number.checked_sub(self.satellites.len()) {
            Some(terminal) => {
                let ground = &mut self.terminals[terminal];
                // While none serves it, nothing lands at any.
                let above = ground.serving.as_ref().map_or(0, |serving| serving.satellite);
                ground.up.wake(core, key, &mut self.satellites[above as usize].down);
            }
            None => {
                // What a down-link sends is seen where it lands, at a terminal.
                let Some(any) = self.terminals.first_mut() else { return };
                self.satellites[number].down.wake(core, key, &mut any.up);
                if let Some(pkt) = core.take_arrival(SKY.node) {
                    self.come_down(core, number as u32, pkt);
                }
            }
        }
    }

    /// The tag for a set of terminals.
    fn tag(&mut self, terminals: impl Iterator<Item = u32> + Clone) -> u32 {
        let mut some = terminals.clone();
        if let (Some(one), None) = (some.next(), some.next()) {
            return one;
        }
        SEVERAL + self.audiences.number(terminals)
    }

    /// Sends from a satellite to these neighbours and terminals.
    #[inline]
    fn send(&mut self, core: &mut Core, satellite: u32, to: &[Peer], pkt: Pkt) {
        let first_terminal = self.satellites.len() as u32;
        match to {
            [one] => match one.0.checked_sub(first_terminal) {
                None => self.send_across(core, satellite, one.0, pkt),
                Some(terminal) => self.send_down(core, satellite, terminal, pkt),
            },
            _ => self.send_to_several(core, satellite, to, pkt),
        }
    }

    /// Sends copies to neighbours, and one for all terminals among them.
    #[inline(never)]
    fn send_to_several(&mut self, core: &mut Core, satellite: u32, to: &[Peer], pkt: Pkt) {
        let first_terminal = self.satellites.len() as u32;
        let below = || to.iter().filter_map(move |peer| peer.0.checked_sub(first_terminal));
        let down = below().next().is_some().then(|| self.tag(below()));
        let Some(tag) = down else {
            return copies::each(core, pkt, to, |core, peer, copy| self.send_across(core, satellite, peer.0, copy));
        };
        for peer in to.iter().filter(|peer| peer.0 < first_terminal) {
            let copy = core.copy(&pkt);
            self.send_across(core, satellite, peer.0, copy);
        }
        self.send_down(core, satellite, tag, pkt);
    }

    /// Sends from a satellite to a neighbour.
    #[inline]
    fn send_across(&mut self, core: &mut Core, satellite: u32, neighbour: u32, pkt: Pkt) {
        let Satellite { down, links: own, .. } = &self.satellites[satellite as usize];
        let Some(&(_, link, direction)) = own.iter().find(|(other, ..)| *other == neighbour) else {
            return core.drop(pkt, down.place(), Cause::NoRoute);
        };
        let link = &mut self.links[link as usize];
        if link.up {
            link.directions[direction].accept(core, pkt);
        } else {
            core.drop(pkt, link.directions[direction].place(), Cause::LinkDown);
        }
    }

    /// Sends from a satellite to a terminal, or to the several of a tag.
    #[inline]
    fn send_down(&mut self, core: &mut Core, satellite: u32, tag: u32, pkt: Pkt) {
        core.set_tag(&pkt, tag);
        self.satellites[satellite as usize].down.accept(core, pkt);
    }
}

/// How long light takes between two points.
fn propagation(a: Vector, b: Vector) -> Duration {
    Duration::from_secs_f64(distance(a, b) / LIGHT_KM_PER_S)
}

impl Medium for Constellation {
    fn accept(&mut self, core: &mut Core, from: Peer, to: &[Peer], packet: Pkt) {
        match from.0.checked_sub(self.satellites.len() as u32) {
            None => self.send(core, from.0, to, packet),
            Some(terminal) => self.terminals[terminal as usize].up.accept(core, packet),
        }
    }

    fn wake(&mut self, core: &mut Core, key: u32) {
        match key {
            AIR.. => self.wake_air(core, key),
            LOOKS.. => self.wake_look(core, key - LOOKS),
            _ => self.wake_transmitter(core, key),
        }
    }

    fn change(&mut self, core: &mut Core, change: &mut Change) {
        let Some(terminal) = change.peer.0.checked_sub(self.satellites.len() as u32) else { return };
        let (ground, now) = (&mut self.terminals[terminal as usize], core.now());
        if let Some(loss) = change.loss.take() {
            ground.errors.replace(loss, change.loss_for.map(|time| now + time));
        }
        if let Some([rate, _]) = change.rate {
            ground.up.change(core, &mut Change::default(), Some(rate));
        }
        ground.clear = change.up.unwrap_or(ground.clear);
        if change.up.is_some() {
            self.look(core, terminal);
        }
    }

    fn order(&mut self, core: &mut Core, at: Peer, command: &Command) -> Answer {
        match at.0.checked_sub(self.satellites.len() as u32) {
            None => self.satellites[at.0 as usize].down.order(core, command),
            Some(terminal) => self.terminals[terminal as usize].up.order(core, command),
        }
    }

    /// All links of a satellite have one interface, at whose queue only packets down wait.
    fn takes_orders(&self, from: Peer, to: Peer) -> bool {
        let satellites = self.satellites.len() as u32;
        from.0 >= satellites || to.0 >= satellites
    }

    fn access(&self, peer: Peer) -> Access {
        let nowhere = Access { rate: BitRate::default(), delay: Duration::ZERO, up: false };
        match peer.0.checked_sub(self.satellites.len() as u32) {
            None => nowhere,
            Some(terminal) => self.terminals[terminal as usize].serving.as_ref().map_or(nowhere, |serving| Access {
                up: true,
                ..self.satellites[serving.satellite as usize].down.access()
            }),
        }
    }

    fn edges(&self, now: Instant) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(2 * (self.links.len() + self.terminals.len()));
        let delay = |range: &Range| if self.in_steps { range.in_steps(now) } else { range.delay(now) };
        let mut both = |a: u32, b: u32, delay: Duration| {
            edges.push(Edge { from: Peer(a), to: Peer(b), delay });
            edges.push(Edge { from: Peer(b), to: Peer(a), delay });
        };
        for link in self.links.iter().filter(|link| link.up) {
            both(link.ends[0], link.ends[1], delay(&link.range));
        }
        let first_terminal = self.satellites.len() as u32;
        for (ground, number) in self.terminals.iter().zip(0..) {
            if let Some(Serving { satellite, range, .. }) = &ground.serving {
                both(first_terminal + number, *satellite, delay(range));
            }
        }
        edges
    }

    fn holds(&self) -> u64 {
        let between: u64 = self.links.iter().flat_map(|link| &link.directions).map(Transmitter::holds).sum();
        let down: u64 = self.satellites.iter().map(|satellite| satellite.down.holds()).sum();
        let up: u64 = self.terminals.iter().map(|ground| ground.up.holds()).sum();
        between + down + up + self.air.in_flight()
    }

    fn sample(&self, core: &Core, probe: &mut dyn Probe) {
        let between = self.links.iter().flat_map(|link| &link.directions);
        let down = self.satellites.iter().map(|satellite| &satellite.down);
        let up = self.terminals.iter().map(|ground| &ground.up);
        // Of hundreds of transmitters most never send.
        for direction in up.chain(down).chain(between).filter(|transmitter| transmitter.was_used()) {
            probe.part(What::Link, core.place_name(direction.place()));
            direction.sample(core, probe);
        }
        probe.part(What::Cell, &self.name);
        probe.value("satellites", self.satellites.len() as f64);
        probe.value("terminals", self.terminals.len() as f64);
        probe.value("links_up", self.links.iter().filter(|link| link.up).count() as f64);
        probe.value("links_lost", self.counts.links_lost as f64);
        probe.value("links_found", self.counts.links_found as f64);
        probe.value("rerouted_packets", self.counts.rerouted as f64);
        for ground in &self.terminals {
            probe.part(What::Bearer, core.place_name(ground.place));
            let since = |start: Instant| core.now().since(start);
            let out = if ground.serving.is_none() { since(ground.out_since) } else { Duration::ZERO };
            probe.value("satellite", ground.serving.as_ref().map_or(-1.0, |serving| f64::from(serving.satellite)));
            probe.value("handoffs", ground.handoffs as f64);
            probe.value("outages", ground.outages as f64);
            probe.value("outage_s", (ground.outage + out).as_secs_f64());
        }
    }
}
