//! Does a network of several nodes do what its parts promise: trees, routes that change, the
//! guard against standing time, and observers that change nothing?

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::common::{Happened, Log, Script, add_link, add_udp, take_log, us};
use lasthop_core::engine::{BitRate, Duration, Instant, Streams, Target};
use lasthop_core::net::simulation::{Group, Progress};
use lasthop_core::net::{
    Action, Address, Answer, Cause, Change, Command, Endpoint, EndpointContext, Header, NodeId, Notice, Order, Packet,
    Port, Probe, RunError, Simulation, Source, Timed, UdpHeader,
};
use lasthop_core::traffic::{SourceConfig, cbr};
use lasthop_core::transport::udp;

const RATE: BitRate = BitRate::from_mbps(8);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn down() -> Change {
    Change { up: Some(false), ..Change::default() }
}

fn up() -> Change {
    Change { up: Some(true), ..Change::default() }
}

fn cbr(text: &str, start: Instant) -> Box<dyn Source> {
    let config: cbr::Config = toml::from_str(text).unwrap();
    config.build(start, Streams::new(1).stream("flow", "source"))
}

#[test]
fn every_member_of_a_group_gets_every_packet_once() {
    // The sender's node and a node in the middle of the tree are members too.
    let mut simulation = Simulation::new(1);
    let nodes: Vec<NodeId> = ["s", "r", "a", "b", "c", "d"].map(|name| simulation.add_node(name)).into();
    let [s, r, a, b, c, d] = nodes[..] else { unreachable!() };
    for (from, to) in [(s, r), (r, a), (r, b), (b, c), (b, d)] {
        add_link(&mut simulation, from, to, RATE, ms(1));
    }
    let members = vec![s, a, b, c, d];
    let group = simulation.add_group(Group::instant(members.clone()));
    let source = cbr("interval = '5 ms'\nsize = '100 B'", Instant::ZERO);
    add_udp(&mut simulation, s, Address::Group(group), Instant::ZERO, source);
    simulation.route();
    simulation.set_observer(Box::new(Log::default()));
    simulation.run_until(Instant::from_secs_f64(0.4995), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let counters = simulation.core().counters();
    // Copies are made at s, r, b (for c, d and itself): 1 + 1 + 2.
    assert_eq!((counters.sent, counters.copied, counters.delivered), (100, 400, 500));
    let mut got: BTreeMap<NodeId, Vec<u64>> = BTreeMap::new();
    for (_, _, number, happened) in take_log(&mut simulation) {
        let Happened::Received(node) = happened else { panic!("{happened:?}") };
        got.entry(node).or_default().push(number);
    }
    let all: Vec<u64> = (1..=100).collect();
    assert_eq!(got, members.iter().map(|&node| (node, all.clone())).collect());
}

#[test]
fn two_senders_of_a_group_have_a_tree_each() {
    // One tree for both would send packets back over r1–r2, to and fro.
    let mut simulation = Simulation::new(1);
    let [s1, r1, r2, s2, m1, m2] = ["s1", "r1", "r2", "s2", "m1", "m2"].map(|name| simulation.add_node(name));
    for (from, to) in [(s1, r1), (r1, r2), (r2, s2), (r1, m1), (r2, m2)] {
        add_link(&mut simulation, from, to, RATE, ms(1));
    }
    let group = simulation.add_group(Group::instant(vec![m1, m2]));
    for sender in [s1, s2] {
        let source = cbr("interval = '5 ms'\nsize = '100 B'", Instant::ZERO);
        add_udp(&mut simulation, sender, Address::Group(group), Instant::ZERO, source);
    }
    simulation.route();
    simulation.run_until(Instant::from_secs_f64(0.4995), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let counters = simulation.core().counters();
    assert_eq!((counters.sent, counters.copied, counters.delivered, counters.dropped), (200, 200, 400, 0));
}

#[test]
fn a_member_out_of_reach_does_not_disturb_the_others() {
    let mut simulation = Simulation::new(1);
    let [s, r, a, b] = ["s", "r", "a", "b"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, s, r, RATE, ms(1));
    add_link(&mut simulation, r, a, RATE, ms(1));
    let lost = add_link(&mut simulation, r, b, RATE, ms(1));
    let group = simulation.add_group(Group::instant(vec![a, b]));
    let source = cbr("interval = '5 ms'\nsize = '100 B'", Instant::ZERO);
    add_udp(&mut simulation, s, Address::Group(group), Instant::ZERO, source);
    simulation.route();
    simulation.run_until(Instant::from_secs_f64(0.1), u64::MAX).unwrap();
    simulation.change(lost, down());
    simulation.run_until(Instant::from_secs_f64(0.198), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let counters = simulation.core().counters();
    assert_eq!((counters.sent, counters.copied, counters.delivered), (40, 20, 60));
}

#[test]
fn routes_are_recomputed_when_a_link_goes_down_and_up() {
    // s–x–d is the short way, s–y–z–d the long one.
    let mut simulation = Simulation::new(1);
    let [s, x, y, z, d] = ["s", "x", "y", "z", "d"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, s, x, RATE, ms(1));
    let short = add_link(&mut simulation, x, d, RATE, ms(1));
    add_link(&mut simulation, s, y, RATE, ms(2));
    add_link(&mut simulation, y, z, RATE, ms(2));
    let long = add_link(&mut simulation, z, d, RATE, ms(2));
    // 8 Mbit/s: 8 B take 8 us on each link.
    let writes = (0..5).map(|n| (us(n * 20_000), 8)).collect();
    add_udp(&mut simulation, s, Address::Node(d), Instant::ZERO, Script::boxed(writes));
    simulation.route();
    simulation.set_observer(Box::new(Log::default()));
    for (at, link, change) in
        [(10_000, short, down()), (30_000, short, up()), (50_000, short, down()), (55_000, long, down())]
    {
        simulation.run_until(us(at), u64::MAX).unwrap();
        simulation.change(link, change);
    }
    assert!(!simulation.reaches(s, d));
    simulation.run_until(us(70_000), u64::MAX).unwrap();
    simulation.change(short, up());
    simulation.run_until(us(200_000), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let delays: Vec<_> = take_log(&mut simulation)
        .into_iter()
        .map(|(at, _, number, happened)| match happened {
            Happened::Received(_) => Ok((number, at.since(us((number - 1) * 20_000)).as_nanos() / 1_000)),
            Happened::Dropped(_, cause) => Err((number, cause)),
        })
        .collect();
    assert_eq!(delays, [Ok((1, 2_016)), Ok((2, 6_024)), Ok((3, 2_016)), Err((4, Cause::NoRoute)), Ok((5, 2_016))]);
}

#[test]
fn two_nodes_left_alone_do_not_send_a_strangers_packet_to_and_fro() {
    let mut simulation = Simulation::new(1);
    let [a, b, c] = ["a", "b", "c"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, a, b, RATE, ms(1));
    let lost = add_link(&mut simulation, b, c, RATE, ms(1));
    let writes = vec![(us(0), 8), (us(5_000), 8)];
    add_udp(&mut simulation, a, Address::Node(c), Instant::ZERO, Script::boxed(writes));
    simulation.route();
    // The first packet is on its way to b, the second still at a.
    simulation.run_until(us(500), u64::MAX).unwrap();
    simulation.change(lost, down());
    simulation.run_until(Instant::from_secs_f64(1.0), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    let counters = simulation.core().counters();
    assert_eq!((counters.sent, counters.dropped, counters.hops), (2, 2, 1));
    assert!(counters.drops.keys().all(|(_, cause, _)| *cause == Cause::NoRoute));
}

/// Wants to be woken at once, for ever.
struct Restless;

impl Timed for Restless {
    fn on_timeout(&mut self, _now: Instant) {}
    fn next_timeout(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }
}

impl Source for Restless {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}
    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        None
    }
}

#[test]
fn a_run_in_which_time_stands_still_ends_with_an_error() {
    let mut simulation = Simulation::new(1);
    let [a, b] = ["a", "b"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, a, b, RATE, ms(1));
    add_udp(&mut simulation, a, Address::Node(b), us(3), Box::new(Restless));
    simulation.route();
    let error = simulation.run_until(Instant::from_secs_f64(1.0), u64::MAX).unwrap_err();
    let RunError::Stalled { at, component, .. } = error else { panic!("{error}") };
    assert_eq!((at, component.as_str()), (us(3), "the source of flow 0"));
}

/// On any notice it sends a packet to its peer.
struct Echo {
    seat: EndpointContext,
    owes: u64,
}

impl Timed for Echo {
    fn on_timeout(&mut self, _now: Instant) {}
    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Endpoint for Echo {
    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _via: Port) {
        self.owes += 1;
    }
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {
        self.owes += 1;
    }
    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        self.owes = self.owes.checked_sub(1)?;
        *packet = self.seat.packet(0, self.owes, 100, Header::Udp(UdpHeader::default()));
        Some(Action::Send)
    }
    fn sample(&self, _probe: &mut dyn Probe) {}
}

/// Two machines of one node that answer each other for ever neither use up the stack nor hang.
#[test]
fn machines_that_answer_each_other_for_ever_end_the_run() {
    let mut simulation = Simulation::new(1);
    let [a, b] = ["a", "b"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, a, b, RATE, ms(1));
    let source = cbr("interval = '1 s'\nsize = '100 B'", us(3));
    let echo = |seat: EndpointContext| Box::new(Echo { seat, owes: 0 }) as Box<dyn Endpoint>;
    simulation.add_flow(a, Address::Node(a), us(3), source, echo, echo);
    simulation.route();
    let error = simulation.run_until(Instant::from_secs_f64(1.0), u64::MAX).unwrap_err();
    let RunError::Stalled { at, component, .. } = error else { panic!("{error}") };
    assert_eq!((at, component.as_str()), (us(3), "an endpoint at a"));
}

/// A machine that sends thousands of packets in one wake-up uses up the events of a call as thousands of events would, so that a caller
/// that runs it in slices gets control in between.
#[test]
fn what_a_machine_does_in_one_wake_up_counts_as_events() {
    let mut simulation = Simulation::new(1);
    let [a, b] = ["a", "b"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, a, b, RATE, ms(1));
    let source = cbr("interval = '1 ms'\nsize = '100 B'", us(3));
    let [sender, receiver] =
        [5000, 0].map(|owes| move |seat: EndpointContext| Box::new(Echo { seat, owes }) as Box<dyn Endpoint>);
    simulation.add_flow(a, Address::Node(b), us(3), source, sender, receiver);
    simulation.route();
    assert_eq!(simulation.run_until(Instant::from_secs_f64(1e-4), 1000), Ok(Progress::Paused));
    let sent = simulation.core().counters().sent;
    assert!((5000..5010).contains(&sent), "{sent} packets in one wake-up");
    assert!(simulation.events() >= 1000, "{} events", simulation.events());
}

/// The queue of wake-ups tells 2²⁴ apart; a run ends long before, and says so.
#[test]
fn wake_ups_without_number_end_the_run() {
    let mut simulation = Simulation::new(1);
    let [a, b] = ["a", "b"].map(|name| simulation.add_node(name));
    add_link(&mut simulation, a, b, RATE, ms(1));
    add_udp(
        &mut simulation,
        a,
        Address::Node(b),
        Instant::ZERO,
        cbr("interval = '1 us'\nsize = '100 B'", Instant::ZERO),
    );
    simulation.route();
    let far = Instant::from_secs_f64(100.0);
    for key in 0..1 << 23 {
        simulation.core_mut().arm(Target { component: 0, key }, far, Instant::ZERO);
    }
    let error = simulation.run_until(Instant::from_secs_f64(50.0), u64::MAX).unwrap_err();
    assert!(matches!(error, RunError::TooManyWakes { wakes, .. } if wakes > 1 << 23), "{error}");
}

/// A receiver that writes down arrivals, observed or not.
struct Tap {
    inner: udp::Receiver,
    got: Arc<Mutex<Vec<(Instant, u64)>>>,
}

impl Timed for Tap {
    fn on_timeout(&mut self, now: Instant) {
        self.inner.on_timeout(now);
    }
    fn next_timeout(&self) -> Option<Instant> {
        self.inner.next_timeout()
    }
}

impl Endpoint for Tap {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        self.got.lock().unwrap().push((now, packet.number));
        self.inner.on_packet(now, packet, via);
    }
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.inner.on_notice(now, notice);
    }
    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        self.inner.poll(now, packet)
    }
    fn sample(&self, probe: &mut dyn Probe) {
        self.inner.sample(probe);
    }
}

#[test]
fn an_observer_does_not_change_the_trajectory() {
    let arrivals = |observed: bool| {
        let mut simulation = Simulation::new(7);
        let [a, b] = ["a", "b"].map(|name| simulation.add_node(name));
        let link = add_link(&mut simulation, a, b, BitRate::from_kbps(700), ms(20));
        let got = Arc::new(Mutex::new(Vec::new()));
        if observed {
            simulation.set_observer(Box::new(Log::default()));
        }
        let bursts: lasthop_core::traffic::onoff::Config = toml::from_str("rate = '2 Mbit/s'\nsize = '500 B'").unwrap();
        for n in 0..3 {
            let stream = simulation.core().stream(&format!("flow {n}"), "source");
            simulation.add_flow(
                a,
                Address::Node(b),
                Instant::ZERO,
                bursts.build(Instant::ZERO, stream),
                |seat| Box::new(udp::Sender::new(28, seat)),
                |seat| Box::new(Tap { inner: udp::Receiver::new(28, seat), got: got.clone() }),
            );
        }
        simulation.route();
        simulation.run_until(Instant::from_secs_f64(5.0), u64::MAX).unwrap();
        simulation.change(link, Change { rate: Some([BitRate::from_kbps(300); 2]), ..Change::default() });
        simulation.run_until(Instant::from_secs_f64(10.0), u64::MAX).unwrap();
        drop(simulation);
        Arc::into_inner(got).unwrap().into_inner().unwrap()
    };
    let fingerprint = arrivals(false);
    assert!(fingerprint.len() > 1000, "{} arrivals", fingerprint.len());
    assert_eq!(fingerprint, arrivals(true));
}

/// The notices of machines, and when they came.
type Heard = Arc<Mutex<Vec<Notice>>>;

/// A machine at a node: repeats arriving packets to the neighbour on the way to `onward`, asks that interface for a reservation, and
/// remembers its notices.
struct Repeater {
    here: NodeId,
    onward: NodeId,
    heard: Heard,
    waiting: Vec<Action>,
    template: Option<Packet>,
}

impl Timed for Repeater {}

impl Endpoint for Repeater {
    fn on_packet(&mut self, _now: Instant, packet: &Packet, _via: Port) {
        self.template = Some(*packet);
        if self.here != self.onward {
            self.waiting.push(Action::SendToward(self.onward));
        }
        let command = Command::Reserve(packet.flow, RATE);
        self.waiting.push(Action::Order(Order { toward: self.onward, over: None, command }));
    }
    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        self.heard.lock().unwrap().push(notice);
    }
    fn poll(&mut self, _now: Instant, packet: &mut Packet) -> Option<Action> {
        let action = self.waiting.pop()?;
        if let Some(template) = &self.template {
            *packet = *template;
        }
        Some(action)
    }
    fn sample(&self, _probe: &mut dyn Probe) {}
}

#[test]
fn machines_at_routers_pass_packets_from_neighbour_to_neighbour() {
    // A datagram to the machine at a goes hop by hop to c's, though its address does not name c.
    let mut simulation = Simulation::new(1);
    let [s, a, b, c] = ["s", "a", "b", "c"].map(|name| simulation.add_node(name));
    let links = [(s, a), (a, b), (b, c)].map(|(from, to)| add_link(&mut simulation, from, to, RATE, ms(1)));
    let heard: [Heard; 3] = Default::default();
    for (node, log) in [a, b, c].into_iter().zip(&heard) {
        let heard = log.clone();
        simulation.add_agent(node, 1, |seat| {
            Box::new(Repeater { here: seat.local.node, onward: c, heard, waiting: Vec::new(), template: None })
        });
    }
    let source = cbr("interval = '1 s'\nsize = '100 B'", Instant::ZERO);
    let sender = |seat: EndpointContext| {
        udp::Sender::new(0, EndpointContext { remote: Address::Node(a), remote_port: 1, ..seat })
    };
    let receiver = |seat| Box::new(udp::Receiver::new(0, seat)) as _;
    simulation.add_flow(s, Address::Node(c), Instant::ZERO, source, |seat| Box::new(sender(seat)), receiver);
    simulation.route();
    simulation.set_observer(Box::new(Log::default()));
    simulation.run_until(Instant::from_secs_f64(0.5), u64::MAX).unwrap();
    let received: Vec<NodeId> = take_log(&mut simulation)
        .into_iter()
        .filter_map(|(.., happened)| if let Happened::Received(node) = happened { Some(node) } else { None })
        .collect();
    assert_eq!(received, [a, b, c]);
    // A tail-drop FIFO reserves nothing; c itself has no interface on the way to c.
    for log in &heard {
        assert_eq!(*log.lock().unwrap(), [Notice::Answer(Answer::Unknown)]);
    }

    let rate = Some(BitRate::from_mbps(1));
    simulation.change(links[1], Change { rate: rate.map(|rate| [rate; 2]), ..Change::default() });
    let ways = heard.map(|log| match log.lock().unwrap().last() {
        Some(Notice::Link(notice)) => Some((notice.before.rate, notice.after.rate)),
        _ => None,
    });
    let changed = Some((RATE, BitRate::from_mbps(1)));
    assert_eq!(ways, [changed, changed, None]);
}
