//! Does RSVP reserve, refuse, refresh, forget and repair as RFC 2205 says, and in the time that closed forms
//! give? The queues here admit up to a rate and serve first come, first served.

use std::collections::{BTreeMap, VecDeque};

use crate::common::{Script, scenario, us};
use lasthop_core::engine::{BitRate, Bytes, Duration, Instant, Streams};
use lasthop_core::net::clock::Exact;
use lasthop_core::net::link::Link;
use lasthop_core::net::loss::Loss;
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{
    Address, Answer, Backlog, Change, Command, Core, FlowId, Histogram, NodeId, Notice, Pkt, Probe, QueueDiscipline,
    Simulation, Source, Timed,
};
use lasthop_core::profile::Profile;
use lasthop_core::qos::QosConfig;
use lasthop_core::qos::intserv::{AtHandover, Config};
use lasthop_core::qos::rejection::OnReject;
use lasthop_core::scenario::session::Results;
use lasthop_core::transport::udp;

/// Admits reservations as long as they fit into its share of the rate.
struct Admitting {
    share: f64,
    capacity: f64,
    reserved: BTreeMap<FlowId, BitRate>,
    fifo: VecDeque<Pkt>,
}

impl Admitting {
    fn queue(share: f64) -> Queue {
        Queue::Asked(Box::new(Self { share, capacity: 0.0, reserved: BTreeMap::new(), fifo: VecDeque::new() }))
    }
}

impl Timed for Admitting {}

impl QueueDiscipline for Admitting {
    fn enqueue(&mut self, _core: &mut Core, packet: Pkt) {
        self.fifo.push_back(packet);
    }
    fn dequeue(&mut self, _core: &mut Core) -> Option<Pkt> {
        self.fifo.pop_front()
    }
    fn put_back(&mut self, _core: &mut Core, packet: Pkt) {
        self.fifo.push_front(packet);
    }
    fn on_capacity(&mut self, _now: Instant, rate: BitRate) {
        self.capacity = rate.as_bps() as f64;
    }
    fn on_order(&mut self, _now: Instant, command: &Command) -> Answer {
        match *command {
            Command::Reserve(flow, rate) => {
                let others: u64 = self.reserved.iter().filter(|(f, _)| **f != flow).map(|(_, r)| r.as_bps()).sum();
                let left = self.share * self.capacity - others as f64;
                if rate.as_bps() as f64 > left {
                    return Answer::Refused(BitRate::from_bps(left.max(0.0) as u64));
                }
                self.reserved.insert(flow, rate);
            }
            Command::Release(flow) => {
                self.reserved.remove(&flow);
            }
            _ => return Answer::Unknown,
        }
        Answer::Done
    }
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.fifo.len() as u64, bytes: 0 }
    }
    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("reserved_bps", self.reserved.values().map(|r| r.as_bps() as f64).sum());
    }
}

/// What a probe is shown, by part.
#[derive(Default)]
struct Values {
    part: String,
    values: BTreeMap<(String, &'static str), f64>,
}

impl Probe for Values {
    fn part(&mut self, _what: lasthop_core::net::What, name: &str) {
        self.part = name.to_owned();
    }
    fn value(&mut self, name: &'static str, value: f64) {
        self.values.insert((self.part.clone(), name), value);
    }
    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

/// A network under test.
struct Net {
    simulation: Simulation,
    nodes: Vec<NodeId>,
    links: Vec<u32>,
}

const DELAY: Duration = Duration::from_millis(10);
const RATE: BitRate = BitRate::from_mbps(1);
/// One small packet, out of the way of everything.
const ONE: (u64, u64) = (1, 8);

impl Net {
    /// Nodes, and links between them by their numbers, each of 1 Mbit/s and 10 ms.
    fn new(nodes: usize, links: &[(usize, usize)]) -> Self {
        Self::seeded(1, nodes, links)
    }

    fn seeded(seed: u64, nodes: usize, links: &[(usize, usize)]) -> Self {
        let mut simulation = Simulation::new(seed);
        let nodes: Vec<NodeId> = (0..nodes).map(|n| simulation.add_node(&format!("n{n}"))).collect();
        let ends = links.iter().map(|&(a, b)| [nodes[a], nodes[b]]).collect::<Vec<_>>();
        let links = ends.into_iter().map(|[a, b]| add_link(&mut simulation, a, b)).collect();
        let agent = Config::with_rate(RATE).agent().expect("reservations need a machine at every node");
        for (n, &node) in nodes.iter().enumerate() {
            let stream = simulation.core().stream("agent", &n.to_string());
            simulation.add_agent(node, agent.port, |seat| (agent.make)(seat, stream));
        }
        Self { simulation, nodes, links }
    }

    /// A UDP flow that reserves, and whose packets come every 10 ms from `start` on: how many, of how many bytes.
    fn flow(&mut self, from: usize, to: usize, config: &Config, start: Instant, packets: (u64, u64)) -> FlowId {
        let writes = (0..packets.0).map(|n| (start + DELAY * n, packets.1)).collect();
        self.flow_of(from, to, config, start, Script::boxed(writes))
    }

    /// The same, for packets of `source`.
    fn flow_of(&mut self, from: usize, to: usize, config: &Config, start: Instant, source: Box<dyn Source>) -> FlowId {
        let streams = Streams::new(7);
        let profile = Profile::default();
        let flow = self.simulation.add_flow(
            self.nodes[from],
            Address::Node(self.nodes[to]),
            start,
            source,
            |seat| config.sender(Box::new(udp::Sender::new(0, seat)), seat, profile, streams.stream("f", "s")),
            |seat| config.receiver(Box::new(udp::Receiver::new(0, seat)), seat, profile, streams.stream("f", "r")),
        );
        self.simulation.route();
        flow
    }

    fn run(&mut self, ms: u64) {
        self.simulation.run_until(us(ms * 1_000), u64::MAX).unwrap();
        self.simulation.check_conservation().unwrap();
    }

    fn change(&mut self, link: usize, change: Change) {
        self.simulation.change(self.links[link], change);
    }

    fn sender(&self, flow: FlowId, name: &'static str) -> Option<f64> {
        let mut values = Values::default();
        self.simulation.sample_sender(flow, &mut values);
        values.values.get(&(String::new(), name)).copied()
    }

    fn receiver(&self, flow: FlowId, name: &'static str) -> Option<f64> {
        let mut values = Values::default();
        self.simulation.sample_receivers(flow, &mut values);
        values.values.iter().find(|((_, n), _)| *n == name).map(|(_, value)| *value)
    }

    /// A value of every agent, in the order of nodes.
    fn agents(&self, name: &'static str) -> Vec<f64> {
        let mut values = Values::default();
        self.simulation.sample_agents(&mut values);
        values.values.iter().filter(|((_, n), _)| *n == name).map(|(_, value)| *value).collect()
    }

    /// The rate reserved from one node to another, in kbit/s; of several links between them at the last.
    fn reserved(&self, from: usize, to: usize) -> f64 {
        let mut values = Values::default();
        self.simulation.sample_media(&mut values);
        let name = format!("{}>{}", self.nodes[from].0, self.nodes[to].0);
        values.values[&(name, "reserved_bps")] / 1e3
    }
}

fn add_link(simulation: &mut Simulation, a: NodeId, b: NodeId) -> u32 {
    simulation.add_medium(&[a, b], |core, component, ends| {
        let mut setup = |from: NodeId, to: NodeId| {
            let place = core.place(&format!("{}>{}", from.0, to.0));
            Setup { place, rate: RATE, delay: DELAY, reorder: true, queue: Admitting::queue(0.9), loss: Loss(None) }
        };
        let (forward, backward) = (setup(a, b), setup(b, a));
        Link::<Exact>::new(core, component, [ends[0], ends[1]], forward, backward).boxed()
    })
}

fn kbps(n: u64) -> BitRate {
    BitRate::from_kbps(n)
}

fn near(got: Option<f64>, expected: f64) -> bool {
    got.is_some_and(|got| (got - expected).abs() < 1e-6)
}

/// A message of 100 B takes 0.8 ms at 1 Mbit/s, then 10 ms, then 5 ms of work.
const HOP_MS: f64 = 10.8;
const WORK_MS: f64 = 5.0;

#[test]
fn a_reservation_is_set_up_in_two_crossings_of_the_path() {
    for hops in [1usize, 2, 5] {
        let links: Vec<_> = (0..hops).map(|n| (n, n + 1)).collect();
        let mut net = Net::new(hops + 1, &links);
        let flow = net.flow(0, hops, &Config::with_rate(kbps(400)), Instant::ZERO, (0, 0));
        let start = net.flow(0, hops, &Config::with_rate(kbps(100)), us(1), ONE);
        net.run(2_000);
        assert_eq!(net.sender(flow, "setup_ms"), None, "it never had anything to send");
        // Out and back over every hop; every process on the way works at a PATH and at a RESV.
        let expected = 2.0 * (hops as f64 * HOP_MS + (hops + 1) as f64 * WORK_MS);
        assert!(near(net.sender(start, "setup_ms"), expected), "{hops} hops: {:?}", net.sender(start, "setup_ms"));
        assert_eq!(net.sender(start, "reserved_bps"), Some(100e3));
        assert_eq!(net.receiver(start, "confirmed_bps"), Some(100e3));
        for &(a, b) in &links {
            assert_eq!((net.reserved(a, b), net.reserved(b, a)), (100.0, 0.0), "one way only");
        }
        // PATH and RESV once over each link; the confirmation is the sender's.
        let signalling: f64 = net.agents("signalling_packets").iter().sum();
        assert_eq!((signalling, net.sender(start, "signalling_packets")), (2.0 * hops as f64, Some(1.0)));
    }
}

#[test]
fn what_does_not_fit_is_refused_and_gives_everything_back() {
    // 0.9 of 1 Mbit/s: two of 400 kbit/s fit, a third does not. The bottleneck is the first link, which is asked
    // last; the second has given already when the refusal comes.
    let mut net = Net::new(4, &[(0, 1), (1, 2), (1, 3)]);
    let config = Config { on_reject: OnReject::Block, ..Config::with_rate(kbps(400)) };
    let first = net.flow(0, 3, &config, us(1), ONE);
    let second = net.flow(0, 3, &config, us(1_000_000), ONE);
    net.run(2_000);
    let third = net.flow(0, 2, &config, us(2_000_001), (3, 1_000));
    net.run(3_000);
    for flow in [first, second] {
        assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
    }
    assert_eq!(net.sender(third, "reserved_bps"), Some(0.0));
    assert_eq!(net.receiver(third, "refusals"), Some(1.0));
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2), net.reserved(1, 3)), (800.0, 0.0, 800.0));
    // Blocked data are not sent.
    assert_eq!(net.sender(third, "blocked_packets"), Some(3.0));
    assert_eq!(net.receiver(third, "received_packets"), Some(0.0));
}

#[test]
fn with_a_floor_the_narrowest_hop_decides_for_all() {
    let mut net = Net::new(4, &[(0, 1), (1, 2), (1, 3)]);
    net.flow(0, 3, &Config::with_rate(kbps(700)), us(1), ONE);
    let config = Config { floor: Some(kbps(100)), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 2, &config, us(1_000_000), ONE);
    net.run(2_000);
    // 900 − 700 are left on the first link; the second releases the excess.
    assert_eq!(net.sender(flow, "reserved_bps"), Some(200e3));
    assert_eq!(net.receiver(flow, "confirmed_bps"), Some(200e3));
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (900.0, 200.0));
}

/// The flow before it has ended, and is torn down after a period of refresh.
#[test]
fn what_becomes_free_is_given_at_the_next_refresh() {
    let mut net = Net::new(4, &[(0, 1), (1, 2), (1, 3)]);
    let refresh = Duration::from_secs(1);
    let asks = [Notice::Open, Notice::Write(8), Notice::Close].map(|ask| (us(1), ask));
    let large = Config { refresh, ..Config::with_rate(kbps(700)) };
    net.flow_of(0, 3, &large, us(1), Box::new(Asks(VecDeque::from(asks))));
    let config = Config { refresh, floor: Some(kbps(100)), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 2, &config, us(300_000), ONE);
    net.run(480);
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (900.0, 200.0));
    net.run(10_000);
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (400.0, 400.0));
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
    assert_eq!(net.receiver(flow, "confirmed_bps"), Some(400e3));
}

#[test]
fn data_wait_for_nothing_by_default_and_are_policed_once_admitted() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    // 1000 B every 10 ms are 800 kbit/s; 400 are reserved.
    let config = Config { bucket: Bytes::new(4_000), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 2, &config, us(1), (300, 1_000));
    net.run(4_000);
    let [unreserved, policed, received] = [
        net.sender(flow, "unreserved_packets").unwrap(),
        net.sender(flow, "policed_packets").unwrap(),
        net.receiver(flow, "received_packets").unwrap(),
    ];
    // RESV meets no queue: 2·(2·10.8 + 3·5) = 73.2 ms, but PATH waits at the second link for no packet either.
    assert_eq!(unreserved, 8.0, "those of 0 … 70 ms");
    assert_eq!(unreserved + policed + received, 300.0 + unreserved);
    // Within the remaining 2.92 s: rT + b, in packets.
    let most = (400e3 / 8.0 * 2.93 + 4_000.0) / 1_000.0;
    let conforming = received - unreserved;
    assert!((most - 2.0..=most).contains(&conforming), "{conforming} of at most {most}");
}

#[test]
fn state_is_refreshed_and_expires_when_the_sender_falls_silent() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    let config = Config { refresh: Duration::from_secs(1), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 2, &config, us(1), ONE);
    net.run(60_000);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3), "refreshed for a minute");
    assert_eq!(net.agents("expiries"), [0.0; 3]);
    // Each process refreshes PATH and RESV about once a second: within [0.5 R, 1.5 R], on average R.
    let refreshes = net.agents("signalling_packets")[1];
    assert!((2.0 * 50.0..=2.0 * 70.0).contains(&refreshes), "{refreshes}");
    // From now on every PATH is lost on the first link, but no packet of the other direction. State lives for
    // (3 + 0.5)·1.5·R = 5.25 s after the last refresh, and that came up to 1.5 R before.
    net.change(0, Change { loss: Some(Loss(Some(Box::new(Everything)))), ..Change::default() });
    net.run(60_000 + 5_250 - 1_500);
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (400.0, 400.0));
    net.run(60_000 + 5_250);
    assert_eq!(net.reserved(1, 2), 0.0);
    // The next node learns of it by a RESV-TEAR, and then the sender.
    net.run(60_000 + 5_250 + 20);
    assert_eq!(net.reserved(0, 1), 0.0);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(0.0));
    // And those behind it by a PATH-TEAR (RFC 2205 §3.1.5): they do not wait for timeouts of their own.
    assert_eq!(net.agents("sessions"), [1.0, 0.0, 0.0]);
    assert_eq!(net.receiver(flow, "confirmed_bps"), Some(0.0));
}

/// Asks for something at each of the given instants, which do not decrease.
struct Asks(VecDeque<(Instant, Notice)>);

impl Timed for Asks {
    fn on_timeout(&mut self, _now: Instant) {}
    fn next_timeout(&self) -> Option<Instant> {
        self.0.front().map(|(at, _)| *at)
    }
}

impl Source for Asks {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}
    fn poll(&mut self, now: Instant) -> Option<Notice> {
        self.0.pop_front_if(|(at, _)| *at <= now).map(|(_, notice)| notice)
    }
}

#[test]
fn a_reservation_ends_with_the_last_connection_of_its_flow() {
    let connection = |ms: u64| [Notice::Reset, Notice::Open, Notice::Write(8)].map(|ask| (us(ms * 1_000), ask));
    for closed in [false, true] {
        let mut net = Net::new(2, &[(0, 1)]);
        let config = Config { refresh: Duration::from_secs(1), ..Config::with_rate(kbps(400)) };
        let close = |ms: u64| (us(ms * 1_000), Notice::Close);
        // The second connection opens before a refresh finds the first closed.
        let mut asks: VecDeque<_> = connection(1).into_iter().chain([close(100)]).chain(connection(200)).collect();
        asks.extend(closed.then(|| close(20_000)));
        let flow = net.flow_of(0, 1, &config, us(1_000), Box::new(Asks(asks)));
        net.run(19_000);
        assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
        net.run(30_000);
        assert_eq!(net.sender(flow, "reserved_bps"), Some(if closed { 0.0 } else { 400e3 }));
    }
}

/// Loses packets sent forward into a link between two instants.
fn lose(net: &mut Net, link: usize, from_ms: u64, to_ms: u64) {
    net.run(from_ms);
    net.change(link, Change { loss: Some(Loss(Some(Box::new(Everything)))), ..Change::default() });
    net.run(to_ms);
    net.change(link, Change { loss: Some(Loss(None)), ..Change::default() });
}

struct Everything;

impl lasthop_core::net::loss::LossModel for Everything {
    fn loses(&mut self, _now: Instant) -> bool {
        true
    }
}

#[test]
fn a_lost_message_is_made_good_by_the_next_refresh() {
    // Of three links the middle one loses packets forward from 0 to 30 ms, with them the first PATH.
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)]);
    let config = Config { refresh: Duration::from_secs(2), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 3, &config, us(1), ONE);
    lose(&mut net, 1, 0, 30);
    net.run(1_000);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(0.0));
    net.run(4_000);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
    let setup = net.sender(flow, "setup_ms").unwrap();
    // The first process behind whose link PATH was lost sends it again after 0.5 R to 1.5 R; it got the first
    // one after 5 + 10.8 ms and 5 ms of work, and from there it takes 2 crossings of 2 hops and one of the first.
    let rest = 2.0 * 2.0 * HOP_MS + HOP_MS + 6.0 * WORK_MS;
    let got = 20.8;
    assert!((got + 1_000.0 + rest - WORK_MS..=got + 3_000.0 + rest).contains(&setup), "{setup}");
}

fn handover(rate: BitRate) -> Change {
    Change { rate: Some([rate; 2]), delay: Some(Duration::from_millis(40)), ..Change::default() }
}

#[test]
fn at_a_handover_the_terminal_signals_to_the_node_where_the_ways_meet() {
    // n0 – n1 – n2, and n2 changes its access: 100 B take 0.8 ms at 1 Mbit/s and 1.6 ms at half of it.
    for (rate, kept) in [(kbps(500), true), (kbps(400), false)] {
        let mut net = Net::new(3, &[(0, 1), (1, 2)]);
        let flow = net.flow(0, 2, &Config::with_rate(kbps(400)), us(1), ONE);
        net.run(1_000);
        net.change(1, handover(rate));
        assert_eq!(net.reserved(1, 2), 0.0, "the new access knows of nothing");
        net.run(2_000);
        if kept {
            // The notice comes at once; RESV goes up, one process works at it, the confirmation comes back.
            let expected = 2.0 * (40.0 + 800.0 / 500.0) + WORK_MS;
            let got = net.receiver(flow, "interruption_ms");
            assert!(near(got, expected), "{got:?} against {expected}");
            assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (400.0, 400.0));
            assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
        } else {
            // 0.9 · 400 kbit/s: refused, and the whole way is given back.
            assert_eq!(net.receiver(flow, "refusals"), Some(1.0));
            assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (0.0, 0.0));
            assert_eq!(net.sender(flow, "reserved_bps"), Some(0.0));
        }
    }
}

#[test]
fn at_a_handover_a_reservation_may_shrink_to_its_floor_and_grow_again() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    let config = Config { floor: Some(kbps(100)), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 2, &config, us(1), ONE);
    net.run(1_000);
    net.change(1, handover(kbps(200)));
    net.run(2_000);
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (180.0, 180.0));
    assert_eq!(net.sender(flow, "reserved_bps"), Some(180e3));
    // The new rate is asked on the whole way: up to the sender and back to the receiver.
    let expected = 2.0 * (40.0 + 4.0) + 2.0 * HOP_MS + 2.0 * WORK_MS + WORK_MS - WORK_MS;
    let got = net.receiver(flow, "interruption_ms");
    assert!(near(got, expected), "{got:?} against {expected}");
    net.change(1, Change { rate: Some([RATE; 2]), delay: Some(DELAY), ..Change::default() });
    net.run(3_000);
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (400.0, 400.0));
    assert_eq!(net.receiver(flow, "handovers"), Some(2.0));
}

#[test]
fn a_transferred_reservation_takes_one_message() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    let config = Config { at_handover: AtHandover::Transfer, ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 2, &config, us(1), ONE);
    net.run(1_000);
    let before: f64 = net.agents("signalling_packets").iter().sum();
    net.change(1, handover(kbps(500)));
    assert_eq!(net.reserved(1, 2), 400.0, "it never lapses");
    net.run(2_000);
    let after: f64 = net.agents("signalling_packets").iter().sum();
    assert_eq!((after - before, net.receiver(flow, "interruption_ms")), (1.0, Some(0.0)));
    assert_eq!(net.receiver(flow, "handovers"), Some(1.0));
    // Where it does not fit it is lost.
    net.change(1, handover(kbps(300)));
    net.run(3_000);
    assert_eq!((net.reserved(0, 1), net.reserved(1, 2)), (0.0, 0.0));
    assert_eq!(net.sender(flow, "reserved_bps"), Some(0.0));
}

/// n0 – n1 –{n2, n3}– n4: the terminal n4 goes from n2 to n3.
fn branches() -> Net {
    let mut net = Net::new(5, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
    net.simulation.route();
    net.change(4, Change { up: Some(false), ..Change::default() });
    net
}

#[test]
fn over_another_branch_the_old_one_is_torn_down_and_the_new_one_reserved() {
    let mut net = branches();
    let flow = net.flow(0, 4, &Config::with_rate(kbps(400)), us(1), ONE);
    net.run(1_000);
    let ways = |net: &Net| [(0, 1), (1, 2), (2, 4), (1, 3), (3, 4)].map(|(a, b)| net.reserved(a, b));
    assert_eq!(ways(&net), [400.0, 400.0, 400.0, 0.0, 0.0]);
    net.change(3, Change { up: Some(false), ..Change::default() });
    net.change(4, Change { up: Some(true), ..Change::default() });
    net.run(2_000);
    // RESV goes over two hops to n1, whose confirmation comes back.
    let expected = 2.0 * 2.0 * HOP_MS + 2.0 * WORK_MS;
    let got = net.receiver(flow, "interruption_ms");
    assert!(near(got, expected), "{got:?} against {expected}");
    assert_eq!(ways(&net), [400.0, 0.0, 400.0, 400.0, 400.0], "nobody reaches the interface that is down");
    assert_eq!(net.agents("sessions"), [1.0, 1.0, 0.0, 1.0, 1.0]);
    // Back again. What the interface still held is given back when it comes up, before it is reserved anew.
    net.change(4, Change { up: Some(false), ..Change::default() });
    net.change(3, Change { up: Some(true), ..Change::default() });
    assert_eq!(ways(&net)[2], 0.0);
    net.run(3_000);
    assert_eq!(ways(&net), [400.0, 400.0, 400.0, 0.0, 400.0]);
    assert_eq!(net.receiver(flow, "handovers"), Some(2.0));
    // The state outlives many refreshes.
    net.run(600_000);
    assert_eq!(ways(&net), [400.0, 400.0, 400.0, 0.0, 400.0]);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
}

#[test]
fn a_terminal_that_sends_makes_its_new_way_known() {
    let mut net = branches();
    let flow = net.flow(4, 0, &Config::with_rate(kbps(400)), us(1), ONE);
    net.run(1_000);
    net.change(3, Change { up: Some(false), ..Change::default() });
    net.change(4, Change { up: Some(true), ..Change::default() });
    net.run(2_000);
    let ways = [(4, 3), (3, 1), (1, 0), (2, 1)].map(|(a, b)| net.reserved(a, b));
    assert_eq!(ways, [400.0, 400.0, 400.0, 0.0]);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
    // In place, over a link that changes.
    net.change(4, handover(kbps(500)));
    assert_eq!(net.reserved(4, 3), 0.0);
    net.run(3_000);
    assert_eq!(net.reserved(4, 3), 400.0);
}

#[test]
fn a_rate_is_given_back_at_the_interface_that_holds_it() {
    // RFC 2205 §3.1.2 and §3.6: reservations belong to outgoing interfaces. All links are up; the way leaves one that becomes slower.
    let slow = || Change { delay: Some(Duration::from_millis(50)), ..Change::default() };
    // Two links from n1 to n2; data leave the second of them.
    let mut net = Net::new(3, &[(0, 1), (1, 2), (1, 2)]);
    net.change(1, Change { delay: Some(Duration::from_millis(20)), ..Change::default() });
    let flow = net.flow(0, 2, &Config::with_rate(kbps(400)), us(1), ONE);
    net.run(1_000);
    assert_eq!(net.reserved(1, 2), 400.0);
    net.change(2, slow());
    net.run(2_000);
    assert_eq!((net.reserved(1, 2), net.sender(flow, "reserved_bps")), (0.0, Some(400e3)));
    // Over another node. The release at the old interface does not reach the new one, to which the old next hop lies now.
    let mut net = Net::new(5, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
    net.change(2, Change { delay: Some(Duration::from_millis(15)), ..Change::default() });
    let flow = net.flow(0, 4, &Config::with_rate(kbps(400)), us(1), ONE);
    let ways = |net: &Net| [(0, 1), (1, 2), (2, 4), (1, 3), (3, 4)].map(|(a, b)| net.reserved(a, b));
    net.run(1_000);
    assert_eq!(ways(&net), [400.0, 400.0, 400.0, 0.0, 0.0]);
    net.change(1, slow());
    net.run(2_000);
    assert_eq!(ways(&net), [400.0, 0.0, 0.0, 400.0, 400.0]);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
}

#[test]
fn a_way_over_another_link_to_the_same_node_is_reserved() {
    let mut net = Net::new(3, &[(0, 1), (1, 2), (1, 2)]);
    net.simulation.route();
    net.change(2, Change { up: Some(false), ..Change::default() });
    let flow = net.flow(0, 2, &Config::with_rate(kbps(400)), us(1), ONE);
    net.run(1_000);
    assert_eq!(net.reserved(1, 2), 0.0);
    net.change(2, Change { up: Some(true), delay: Some(Duration::from_millis(20)), ..Change::default() });
    net.run(2_000);
    assert_eq!((net.reserved(1, 2), net.receiver(flow, "handovers")), (0.0, Some(0.0)), "the first link is the way");
    net.change(1, Change { up: Some(false), ..Change::default() });
    net.run(3_000);
    assert_eq!((net.reserved(1, 2), net.receiver(flow, "handovers")), (400.0, Some(1.0)));
}

#[test]
fn make_before_break_is_repaired_when_the_way_moves() {
    // The link to n3 is slower: data take it when that to n2 breaks (RFC 2205 §3.6, Local Repair).
    let delay = Duration::from_millis(20);
    for down in [true, false] {
        let mut net = branches();
        let (from, to) = if down { (0, 4) } else { (4, 0) };
        let flow = net.flow(from, to, &Config::with_rate(kbps(400)), us(1), ONE);
        net.run(1_000);
        net.change(4, Change { up: Some(true), delay: Some(delay), ..Change::default() });
        net.run(2_000);
        assert_eq!(net.receiver(flow, "handovers"), Some(0.0), "nothing has moved");
        net.change(3, Change { up: Some(false), ..Change::default() });
        net.run(3_000);
        let way = if down { [(0, 1), (1, 3), (3, 4)] } else { [(4, 3), (3, 1), (1, 0)] };
        assert_eq!(way.map(|(a, b)| net.reserved(a, b)), [400.0; 3]);
        assert_eq!((net.reserved(1, 2), net.reserved(2, 1)), (0.0, 0.0));
        if down {
            // RESV over two hops to n1, and the confirmation back, from the break on.
            let expected = 2.0 * (2.0 * HOP_MS + 10.0) + 2.0 * WORK_MS;
            let got = net.receiver(flow, "interruption_ms");
            assert!(near(got, expected), "{got:?} against {expected}");
            assert_eq!(net.receiver(flow, "handovers"), Some(1.0));
        }
    }
}

#[test]
fn a_link_lost_in_the_middle_is_repaired_by_the_node_before_it() {
    // n1 has another way, over n3; neither end's links change.
    let mut net = Net::new(6, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]);
    net.change(2, Change { delay: Some(Duration::from_millis(15)), ..Change::default() });
    let flow = net.flow(0, 5, &Config::with_rate(kbps(400)), us(1), ONE);
    net.run(1_000);
    net.change(1, Change { up: Some(false), ..Change::default() });
    net.run(2_000);
    let ways = [(0, 1), (1, 3), (3, 4), (4, 5), (2, 4)].map(|(a, b)| net.reserved(a, b));
    assert_eq!(ways, [400.0, 400.0, 400.0, 400.0, 0.0]);
    assert_eq!(net.sender(flow, "reserved_bps"), Some(400e3));
}

#[test]
fn a_lost_way_is_followed_by_another_that_comes_later() {
    // From `first`, over n2 or over n3. That over n3 is down when that over n2 breaks, and comes up at 20 s, at the node itself or farther on;
    // that over n2 never does.
    for (first, later) in [(1, 2), (0, 2), (1, 4), (0, 4)] {
        let mut net = Net::new(6, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]);
        let config = Config { refresh: Duration::from_secs(3), ..Config::with_rate(kbps(400)) };
        let flow = net.flow(first, 5, &config, us(1), ONE);
        net.change(later, Change { up: Some(false), ..Change::default() });
        net.run(5_000);
        net.change(1, Change { up: Some(false), ..Change::default() });
        net.run(20_000);
        net.change(later, Change { up: Some(true), ..Change::default() });
        // A lifetime is 15.75 s; the next refresh is at most 4.5 s away.
        for ms in (25_000..100_000).step_by(1_000) {
            net.run(ms);
            let way = [(1, 3), (3, 4), (4, 5)].map(|(a, b)| net.reserved(a, b));
            let case = format!("from n{first}, link {later}, at {ms} ms");
            assert_eq!((way, net.sender(flow, "reserved_bps")), ([400.0; 3], Some(400e3)), "{case}");
        }
    }
}

#[test]
fn after_a_handover_a_way_that_changes_above_is_repaired_once() {
    // n0 – {n1, n2} – n3 – n4: the receiver's link changes, and later that from n1 to n3 breaks.
    for seed in 1..=4 {
        let mut net = Net::seeded(seed, 5, &[(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)]);
        let config = Config { refresh: Duration::from_secs(3), ..Config::with_rate(kbps(400)) };
        net.change(2, Change { delay: Some(Duration::from_millis(15)), ..Change::default() });
        net.flow(0, 4, &config, us(1), ONE);
        net.run(6_000);
        net.change(4, handover(RATE));
        net.run(20_000);
        net.change(1, Change { up: Some(false), ..Change::default() });
        let way = |net: &Net| [(0, 2), (2, 3), (3, 4)].map(|(a, b)| net.reserved(a, b));
        let mut repaired = false;
        for ms in (20_000..60_000).step_by(100) {
            net.run(ms);
            repaired |= way(&net) == [400.0; 3];
            assert!(way(&net) == [400.0; 3] || !repaired, "seed {seed} at {ms} ms: {:?}", way(&net));
            assert!(repaired || ms < 24_800, "seed {seed}");
        }
    }
}

#[test]
fn a_refresh_of_the_former_branch_that_crosses_a_repair_undoes_nothing() {
    // n0's data come over n1 and n2 first, and over n2 alone when that link comes up. If n1's next PATH leaves at that moment, n2 takes n1 for the
    // previous hop again. n0 knows that its data do not go there (RFC 2209 §2).
    for tenth in 0..60 {
        let mut net = Net::new(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]);
        let config = Config { refresh: Duration::from_secs(3), ..Config::with_rate(kbps(400)) };
        net.change(2, Change { up: Some(false), ..Change::default() });
        net.flow(0, 3, &config, us(1), ONE);
        let up = 10_000 + 100 * tenth;
        net.run(up);
        net.change(2, Change { up: Some(true), ..Change::default() });
        for ms in (up + 100..up + 5_000).step_by(20) {
            net.run(ms);
            let ways = [(0, 2), (2, 3)].map(|(a, b)| net.reserved(a, b));
            assert_eq!(ways, [400.0; 2], "up at {up} ms, at {ms} ms");
        }
    }
}

#[test]
fn a_refused_handover_leaves_the_old_branch() {
    // RESV goes to the previous hop of the present way (RFC 2205 §3.1.3), and 0.9 · 400 kbit/s are too little there.
    let mut net = branches();
    let config = Config { refresh: Duration::from_secs(1), ..Config::with_rate(kbps(400)) };
    let flow = net.flow(0, 4, &config, us(1), ONE);
    net.run(1_000);
    net.change(3, Change { up: Some(false), ..Change::default() });
    net.change(4, Change { up: Some(true), rate: Some([kbps(400); 2]), ..Change::default() });
    for ms in (2_000..20_000).step_by(500) {
        net.run(ms);
        let ways = [(0, 1), (1, 2), (1, 3), (3, 4)].map(|(a, b)| net.reserved(a, b));
        assert_eq!((ways, net.sender(flow, "reserved_bps")), ([0.0; 4], Some(0.0)), "at {ms} ms");
    }
    assert!(net.receiver(flow, "refusals").unwrap() > 3.0, "the receiver goes on asking");
    net.change(4, handover(kbps(500)));
    net.run(25_000);
    let ways = [(0, 1), (1, 3), (3, 4), (1, 2)].map(|(a, b)| net.reserved(a, b));
    assert_eq!((ways, net.sender(flow, "reserved_bps")), ([400.0, 400.0, 400.0, 0.0], Some(400e3)));
}

#[test]
fn back_from_a_branch_that_refused_nothing_of_it_disturbs_the_reservation() {
    // n3 has path state, and would go on with PATH to the receiver, which would then leave n2; and n2 has heard no PATH for
    // 140 s of its 157.5. Each seed has timers of its own.
    for seed in 1..=12 {
        let mut net = Net::seeded(seed, 5, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
        net.change(4, Change { delay: Some(Duration::from_millis(20)), ..Change::default() });
        let flow = net.flow(0, 4, &Config::with_rate(kbps(400)), us(1), ONE);
        net.flow(1, 3, &Config::with_rate(kbps(800)), us(1), ONE);
        net.run(60_000);
        let way = |net: &Net| [(0, 1), (1, 2), (2, 4)].map(|(a, b)| net.reserved(a, b));
        assert_eq!(way(&net), [400.0; 3], "seed {seed}");
        net.change(3, Change { up: Some(false), ..Change::default() });
        net.run(200_000);
        assert_eq!((way(&net)[0], net.receiver(flow, "confirmed_bps")), (0.0, Some(0.0)), "seed {seed}");
        net.change(3, Change { up: Some(true), ..Change::default() });
        for ms in (201_000..700_000).step_by(1_000) {
            net.run(ms);
            assert_eq!(way(&net), [400.0; 3], "seed {seed} at {ms} ms");
        }
        assert_eq!([(1, 3), (3, 4)].map(|(a, b)| net.reserved(a, b)), [800.0, 0.0], "seed {seed}");
    }
}

#[test]
fn the_hops_behind_a_narrower_one_release_the_excess_after_a_repair() {
    // The first link becomes narrow: of the sender itself, or of a node before it.
    for first in [0, 1] {
        let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)]);
        let config = Config { floor: Some(kbps(100)), ..Config::with_rate(kbps(400)) };
        let flow = net.flow(0, 3, &config, us(1), ONE);
        net.run(1_000);
        net.change(first, handover(kbps(200)));
        net.run(3_000);
        assert_eq!([(0, 1), (1, 2), (2, 3)].map(|(a, b)| net.reserved(a, b)), [180.0; 3], "link {first}");
        let rates = (net.sender(flow, "reserved_bps"), net.receiver(flow, "confirmed_bps"));
        assert_eq!(rates, (Some(180e3), Some(180e3)));
        assert_eq!(net.receiver(flow, "handovers"), Some(0.0), "the receiver's access is the same");
    }
}

#[test]
fn handovers_are_counted_anew_after_a_path_was_torn_down_and_only_on_the_way() {
    let connection = |ms: u64| [Notice::Reset, Notice::Open, Notice::Write(8)].map(|ask| (us(ms * 1_000), ask));
    let close = |ms: u64| (us(ms * 1_000), Notice::Close);
    // n2 is the receiver; n3 hangs on it and has nothing to do with the flow.
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)]);
    net.simulation.route();
    net.change(2, Change { up: Some(false), ..Change::default() });
    let config = Config { refresh: Duration::from_secs(1), ..Config::with_rate(kbps(400)) };
    let asks = connection(1).into_iter().chain([close(1_000)]).chain(connection(10_000)).collect();
    let flow = net.flow_of(0, 2, &config, us(1_000), Box::new(Asks(asks)));
    net.run(500);
    net.change(1, handover(kbps(500)));
    net.run(9_000);
    assert_eq!(net.agents("sessions"), [0.0; 4], "torn down");
    net.run(11_000);
    net.change(1, handover(RATE));
    net.run(12_000);
    assert_eq!(net.receiver(flow, "handovers"), Some(2.0));
    net.change(2, Change { up: Some(true), ..Change::default() });
    net.run(13_000);
    assert_eq!(net.receiver(flow, "handovers"), Some(2.0));
}

/// A scenario of three hops with weighted fair queueing, all full of best effort, and one reserving flow that sends
/// as much as its buckets let through.
fn guaranteed(reserve: u64, hops: u64) -> String {
    let mut text = String::from("duration = \"30 s\"\nrecord.packets = true\nrecord.state = true\n");
    for hop in 0..hops {
        text += &format!(
            "[[link]]\nname = \"l{hop}\"\nbetween = [\"n{hop}\", \"n{}\"]\nrate = \"400 kbit/s\"\ndelay = \"3 ms\"\n\
             queue.wfq.clock = \"gps\"\n[[flow]]\nname = \"cross{hop}\"\nfrom = \"n{hop}\"\nto = \"n{}\"\ntransport = \"udp\"\n\
             source.cbr = {{ rate = \"500 kbit/s\", size = \"1000 B\" }}\n",
            hop + 1,
            hop + 1
        );
    }
    text + &format!(
        "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n{hops}\"\ntransport = \"udp\"\nstart = \"1 s\"\n\
         source.onoff = {{ rate = \"128 kbit/s\", size = \"472 B\", on = \"300 ms\", off = \"400 ms\" }}\n\
         qos.intserv = {{ rate = \"64 kbit/s\", bucket = \"2 kB\", peak = \"128 kbit/s\", max_packet = \"1 kB\", \
         reserve = \"{reserve} bit/s\", on_reject = \"block\" }}\n"
    )
}

/// When each packet of data of the flow arrived, and how long it took, in seconds. None is lost.
fn delays(results: &Results, flow: &str) -> Vec<(f64, f64)> {
    let packets = results.table("packets").unwrap();
    let mut sent = BTreeMap::new();
    let mut arrived = Vec::new();
    for row in scenario::rows(packets, &[("flow", flow), ("kind", "data")]) {
        let (at, number) = (packets.number("time_s", row).unwrap(), packets.number("number", row).unwrap() as u64);
        match packets.text("event", row) {
            Some("sent") => {
                sent.insert(number, at);
            }
            Some("received") => arrived.push((at, at - sent[&number])),
            event => panic!("a conforming packet was {event:?}"),
        }
    }
    arrived
}

#[test]
fn no_conforming_packet_waits_longer_than_guaranteed_service_promises() {
    use lasthop_core::qos::intserv::bound::{PathError, TrafficSpec, queueing_delay};
    let hops = 3;
    for reserve in [64_000u64, 96_000] {
        let results = scenario::run(&guaranteed(reserve, hops), 3);
        let waits: Vec<f64> = delays(&results, "f").into_iter().map(|(_, delay)| delay - 0.003 * hops as f64).collect();
        let spec =
            TrafficSpec { rate: kbps(64), bucket: Bytes::new(2_000), peak: Some(kbps(128)), packet: Bytes::new(1_000) };
        // The largest packet on a link is cross traffic with its header; one signalling message may come between.
        let hop = |error: PathError| error.behind_fair_queue(spec.packet, Bytes::new(1_028 + 100), kbps(400));
        let error = (0..hops).fold(PathError::default(), |error, _| hop(error));
        let bound = queueing_delay(&spec, BitRate::from_bps(reserve), &error).as_secs_f64();
        let longest = waits.iter().copied().fold(0.0, f64::max);
        assert!(waits.len() > 200, "{} packets", waits.len());
        // Best effort waits for a hundred packets: 2 s. The bound is below one.
        assert!(longest <= bound && bound < 1.0, "{longest} s, promised {bound} s");
        assert!(longest >= 0.1 * bound, "the path is loaded: {longest} s");
    }
}

/// Eight flows that reserve four fifths of a link which best effort fills before they come, and whose paths are announced each second.
#[test]
fn a_promise_holds_behind_a_backlog_that_was_there_before() {
    use lasthop_core::qos::intserv::bound::{PathError, TrafficSpec, queueing_delay};
    let mut text = String::from(
        "duration = \"60 s\"\nrecord.packets = true\n[[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\n\
         delay = \"5 ms\"\nqueue.wfq.clock = \"gps\"\nqueue.wfq.limit = \"1000 packets\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n\
         transport = \"udp\"\nsource.cbr = { rate = \"3 Mbit/s\", size = \"1472 B\" }\n",
    );
    for voice in 0..8 {
        text += &format!(
            "[[flow]]\nname = \"v{voice}\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nstart = \"{} ms\"\n\
             source.onoff = {{ rate = \"400 kbit/s\", size = \"222 B\", on = \"200 ms\", off = \"400 ms\" }}\n\
             qos.intserv = {{ rate = \"200 kbit/s\", bucket = \"2 kB\", max_packet = \"250 B\", refresh = \"1 s\", \
             on_reject = \"block\" }}\n",
            1_000 + 13 * voice
        );
    }
    let results = scenario::run(&text, 1);
    let spec = TrafficSpec { rate: kbps(200), bucket: Bytes::new(2_000), peak: None, packet: Bytes::new(250) };
    // A packet of best effort is being sent, and messages of all flows may come between.
    let error = PathError::default().behind_fair_queue(spec.packet, Bytes::new(1_500 + 8 * 150), kbps(2_000));
    let bound = queueing_delay(&spec, kbps(200), &error).as_secs_f64();
    for voice in 0..8 {
        let late = delays(&results, &format!("v{voice}")).into_iter().filter(|(at, _)| *at > 5.0);
        let longest = late.map(|(_, delay)| delay - 0.005).fold(0.0, f64::max);
        assert!(longest > 0.01 && longest <= bound, "v{voice}: {longest} s, promised {bound} s");
    }
}

#[test]
fn demoted_packets_go_with_best_effort() {
    let text = guaranteed(64_000, 1)
        .replace("\"500 kbit/s\", size = \"1000 B\"", "\"100 kbit/s\", size = \"1000 B\"")
        .replace("on = \"300 ms\", off = \"400 ms\"", "on = \"2 s\", off = \"100 ms\"")
        .replace("on_reject = \"block\"", "on_reject = \"block\", excess = \"demote\"");
    let results = scenario::run(&text, 3);
    let value = |kind: &str, quantity: &str| scenario::state(&results, &[("kind", kind), ("name", "f")], quantity);
    // Twice the token rate is sent, and there is room for all of it beside the reservation.
    assert!(value("sender", "policed_packets") > 300.0);
    let missing =
        value("sender", "sent_packets") - value("sender", "blocked_packets") - value("receiver", "received_packets");
    assert!((0.0..=2.0).contains(&missing), "{missing} are under way");
}
