//! PGMCC's sender against a second, plain model of its rules: window, packets in flight and acker, report by report, in runs
//! with losses, several receivers, and ackers that leave.
//!
//! The model is written from draft-ietf-rmt-bb-pgmcc-03 §2 with sets of numbers and whole-number arithmetic, and shares no code with the
//! sender. Decisions where the draft is silent: F is the packets sent and neither acknowledged by any receiver nor taken for lost; a packet
//! that a bitmap has passed without a word on it is given up without a cut; an election, a timeout or an acker that leaves sets F to 0, and
//! nothing sent before it is looked at any more; without an acker one packet at a time is in flight; two timeouts without an ACK between them
//! end an acker.

use std::any::Any;
use std::collections::BTreeSet;

use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Duration, Instant, Stream};
use lasthop_core::multicast::pgmcc::config::{self, RttMode, TokenMode};
use lasthop_core::multicast::pgmcc::{Config, Receiver, Sender, element};
use lasthop_core::net::clock::Exact;
use lasthop_core::net::link::Link;
use lasthop_core::net::loss::{Loss, LossConfig, bernoulli};
use lasthop_core::net::simulation::Group;
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{
    Action, Address, Endpoint, Header, NodeId, Notice, Observation, Observer, Packet, PgmHeader, Port, Probe,
    Simulation, Source, Timed, Variable,
};

/// What the model remembers.
struct Model {
    w: f64,
    /// Numbers below were sent.
    next: u64,
    /// Numbers below are over, whatever becomes of them.
    forgotten: u64,
    /// Packets in flight.
    open: BTreeSet<u64>,
    /// What ACKs of ackers have acknowledged, and reported as lost.
    acked: BTreeSet<u64>,
    lost: BTreeSet<u64>,
    repairs: usize,
    recover: Option<u64>,
    /// Node, R in packets, p·65536.
    acker: Option<(u32, u128, u128)>,
    timeouts_in_a_row: u32,
    /// Counts of events, so that a run without any is noticed.
    cuts: u32,
    switches: u32,
    dismissals: u32,
    unknown: u32,
}

/// A report as it comes.
#[derive(Clone, Copy, Debug)]
struct Report {
    receiver: u32,
    loss: u16,
    last: u64,
    /// Of an ACK: the packet, the bitmap, whether it leaves.
    ack: Option<(u64, u32, bool)>,
}

impl Model {
    fn new() -> Self {
        Self {
            w: 1.0,
            next: 0,
            forgotten: 0,
            open: BTreeSet::new(),
            acked: BTreeSet::new(),
            lost: BTreeSet::new(),
            repairs: 0,
            recover: None,
            acker: None,
            timeouts_in_a_row: 0,
            cuts: 0,
            switches: 0,
            dismissals: 0,
            unknown: 0,
        }
    }

    fn f(&self) -> f64 {
        (self.open.len() + self.repairs) as f64
    }

    fn send(&mut self) {
        self.open.insert(self.next);
        self.next += 1;
    }

    fn forget(&mut self) {
        self.forgotten = self.next;
        self.open.clear();
        self.repairs = 0;
    }

    fn on_report(&mut self, report: Report) {
        let before = self.acker.map(|(node, ..)| node);
        if !report.ack.is_some_and(|(.., leaving)| leaving) {
            self.elect(report);
        }
        let Some((seq, mask, leaving)) = report.ack else { return };
        self.timeouts_in_a_row = 0;
        // "The receive status of the latest N data packets with sequence numbers RX_MAX-(N-1) to RX_MAX" (§2.1.2).
        let covers = self.forgotten.max((report.last + 1).saturating_sub(32))..report.last + 1;
        let came = |packet: u64| mask & (1 << (report.last - packet)) != 0;
        let (have, miss): (Vec<u64>, Vec<u64>) = covers.clone().partition(|packet| came(*packet));
        // §3: only ACKs of the acker update the window, or of the one that becomes it because there is none.
        if before.map_or(!leaving, |node| node == report.receiver) {
            let new = have.iter().filter(|packet| !self.lost.contains(packet));
            let acked = new.filter(|packet| self.acked.insert(**packet)).count();
            let mut lost = Vec::new();
            for packet in miss {
                // "Followed by at least 3 acknowledged data packets" of the same report, "not reported in previous ACKs" (§2.2).
                if have.iter().filter(|later| **later > packet).count() >= 3 && self.lost.insert(packet) {
                    self.open.remove(&packet);
                    lost.push(packet);
                }
            }
            self.react(seq, acked, &lost);
        }
        let open = self.open.len();
        self.open.retain(|packet| *packet >= covers.start);
        self.unknown += (open - self.open.len()) as u32;
        for packet in have {
            self.open.remove(&packet);
        }
        if leaving && before == Some(report.receiver) {
            self.acker = None;
            self.forget();
            self.dismissals += 1;
        }
    }

    /// Additive increase, multiplicative decrease "in each RTT in which a loss event is experienced": after a cut, no manipulation
    /// "until feedback is received for the next transmitted packet" (§2.2).
    fn react(&mut self, seq: u64, acked: usize, lost: &[u64]) {
        let later = |packet: u64| self.recover.is_none_or(|recover| packet > recover);
        if lost.iter().any(|packet| later(*packet)) {
            self.w = f64::max(1.0, self.w * 0.5);
            self.recover = Some(self.next - 1);
            self.cuts += 1;
        } else if later(seq) {
            for _ in 0..acked {
                self.w += if self.w < 6.0 { 1.0 } else { 1.0 / self.w };
            }
        }
    }

    /// §2.3, with C = 3/4 and M² = R²p.
    fn elect(&mut self, report: Report) {
        let r = u128::from((self.next - 1).saturating_sub(report.last));
        let p = u128::from(report.loss);
        let standing = Some((report.receiver, r, p));
        match self.acker {
            None => {
                self.acker = standing;
                self.forget();
                self.timeouts_in_a_row = 0;
            }
            Some((node, ..)) if node == report.receiver => self.acker = standing,
            Some((_, r_acker, p_acker)) => {
                let worse = if p_acker == 0 { p > 0 } else { 9 * r * r * p > 16 * r_acker * r_acker * p_acker };
                if worse {
                    self.acker = standing;
                    self.switches += 1;
                    self.timeouts_in_a_row = 0;
                }
            }
        }
    }

    fn on_timeout(&mut self) {
        (self.w, self.recover) = (1.0, None);
        self.forget();
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row == 2 {
            self.timeouts_in_a_row = 0;
            self.acker = None;
            self.dismissals += 1;
        }
    }
}

/// Runs the model beside the sender and compares.
struct Judge {
    model: Model,
    /// The sender's W and F as it last showed them.
    shown: [f64; 2],
    decisions: u64,
}

impl Judge {
    /// Whether the sender has shown what the model has.
    fn compare(&mut self, now: Instant) {
        self.decisions += 1;
        let [w, f] = self.shown;
        // Repairs leave F by themselves, after a round-trip time.
        let landed = self.model.f() - f;
        if landed > 0.0 && landed <= self.model.repairs as f64 {
            self.model.repairs -= landed as usize;
        }
        assert!((w - self.model.w).abs() < 1e-9, "at {now}: W is {w}, not {}", self.model.w);
        assert_eq!(f, self.model.f(), "at {now}: F");
    }
}

impl Judge {
    /// Something new happens: until now the source, which never ends, has left no token.
    fn begin(&mut self, now: Instant) {
        self.compare(now);
        let elects = self.model.acker.is_none() && self.model.f() > 0.0;
        assert!(elects || self.model.w - self.model.f() < 1.0, "at {now}: a token is left");
    }
}

impl Observer for Judge {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Changed { variable, value, .. } => match variable {
                Variable::Timeouts => {
                    self.begin(now);
                    self.model.on_timeout();
                }
                Variable::Cwnd => self.shown[0] = value,
                Variable::InFlight => self.shown[1] = value,
                _ => {}
            },
            Observation::Sent { node: NodeId(0), packet } => match &packet.header {
                Header::Pgm(PgmHeader::Data(data)) => {
                    self.compare(now);
                    assert_eq!(data.seq, self.model.next);
                    assert_eq!(data.acker.map(|node| node.0), self.model.acker.map(|acker| acker.0), "at {now}");
                    assert!(self.model.w - self.model.f() >= 1.0, "at {now}: sent without a token");
                    self.model.send();
                    self.shown[1] += 1.0;
                }
                Header::Pgm(PgmHeader::Repair(data)) if packet.from.port != element::PORT => {
                    self.compare(now);
                    assert!(self.model.w - self.model.f() >= 1.0, "at {now}: repaired without a token");
                    assert!(data.seq < self.model.next);
                    self.model.repairs += 1;
                    self.shown[1] += 1.0;
                }
                _ => {}
            },
            Observation::Received { node: NodeId(0), packet } if packet.to_port != element::PORT => {
                self.begin(now);
                let report = match &packet.header {
                    Header::Pgm(PgmHeader::Ack(ack)) => Some((ack.report, Some((ack.seq, ack.mask, ack.leaving)))),
                    Header::Pgm(PgmHeader::Nak(nak)) => Some((nak.report, None)),
                    _ => None,
                };
                if let Some((report, ack)) = report {
                    let (receiver, loss, last) = (report.receiver.0, report.loss, report.last_seq);
                    self.model.on_report(Report { receiver, loss, last, ack });
                }
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A receiver that leaves at an instant: with a word, or without one.
struct Leaver {
    inner: Receiver,
    at: Option<(Instant, bool)>,
    silent: bool,
}

impl Timed for Leaver {
    fn on_timeout(&mut self, now: Instant) {
        if let Some((_, says)) = self.at.take_if(|(at, _)| *at <= now) {
            if says {
                self.inner.leave();
            } else {
                self.silent = true;
            }
        }
        self.inner.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let inner = if self.silent { None } else { self.inner.next_timeout() };
        [self.at.map(|(at, _)| at), inner].into_iter().flatten().min()
    }
}

impl Endpoint for Leaver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        if !self.silent {
            self.inner.on_packet(now, packet, via);
        }
    }
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        self.inner.on_notice(now, notice);
    }
    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if self.silent { None } else { self.inner.poll(now, packet) }
    }
    fn sample(&self, probe: &mut dyn Probe) {
        self.inner.sample(probe);
    }
}

/// A receiver's link: kbit/s, delay in ms, loss both ways, and when it leaves in seconds, with a word or without.
type Way = (u64, u64, f64, Option<(u64, bool)>);

fn link(simulation: &mut Simulation, ends: [NodeId; 2], (rate, delay, loss, _): Way, queue: u64) {
    simulation.add_medium(&ends, |core, component, ends| {
        let [forward, backward] = ["forward", "backward"].map(|name| {
            let name = format!("link {component} {name}");
            let place = core.place(&name);
            let stream = core.stream(&name, "loss");
            let model: bernoulli::Config = toml::from_str(&format!("p = {loss}")).unwrap();
            Setup {
                place,
                rate: BitRate::from_kbps(rate),
                delay: Duration::from_millis(delay),
                reorder: true,
                queue: Queue::Planned(Amount::Packets(queue)),
                loss: if loss > 0.0 { model.build(stream) } else { Loss(None) },
            }
        });
        Link::<Exact>::new(core, component, [ends[0], ends[1]], forward, backward).boxed()
    });
}

/// A source without end.
struct Greedy(u8);

impl Timed for Greedy {
    fn on_timeout(&mut self, _now: Instant) {
        self.0 = 1;
    }
}

impl Source for Greedy {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}
    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        (std::mem::take(&mut self.0) == 1).then_some(Notice::Write(u64::MAX))
    }
}

/// Runs a group behind a bottleneck of 2 Mbit/s beside the model, which must agree all along.
fn run(config: &Config, ways: &[Way], seed: u64, seconds: u64) -> Judge {
    let mut simulation = Simulation::new(seed);
    let judge = Judge { model: Model::new(), shown: [1.0, 0.0], decisions: 0 };
    simulation.set_observer(Box::new(judge));
    let [sender, router] = ["sender", "router"].map(|name| simulation.add_node(name));
    link(&mut simulation, [sender, router], (2_000, 10, 0.0, None), 20);
    let receivers: Vec<NodeId> = (0..ways.len()).map(|n| simulation.add_node(&format!("receiver {n}"))).collect();
    for (&receiver, &way) in receivers.iter().zip(ways) {
        link(&mut simulation, [router, receiver], way, 50);
    }
    if config.network_elements {
        for n in 0..2 + receivers.len() as u32 {
            simulation.add_agent(NodeId(n), element::PORT, |seat| Box::new(element::Element::new(seat)));
        }
    }
    let group = simulation.add_group(Group::instant(receivers));
    let streams = simulation.core().streams().clone();
    simulation.add_flow(
        sender,
        Address::Group(group),
        Instant::ZERO,
        Box::new(Greedy(0)),
        |seat| Box::new(Sender::new(config, seat)),
        |seat| {
            let node = seat.local.node.0;
            let at = ways[node as usize - 2].3.map(|(s, says)| (Instant::ZERO + Duration::from_secs(s), says));
            let stream: Stream = streams.stream(&format!("receiver {node}"), "naks");
            Box::new(Leaver { inner: Receiver::new(config, seat, stream), at, silent: false })
        },
    );
    simulation.route();
    simulation.run_until(Instant::ZERO + Duration::from_secs(seconds), u64::MAX).unwrap();
    simulation.check_conservation().unwrap();
    *simulation.take_observer().unwrap().into_any().downcast::<Judge>().unwrap()
}

#[test]
fn the_sender_decides_as_the_model() {
    let mut decisions = 0;
    let [mut cuts, mut switches, mut dismissals, mut unknown] = [0; 4];
    for seed in 1..=4 {
        for (reliable, network_elements) in [(false, false), (true, false), (false, true), (true, true)] {
            let config = Config { reliable, network_elements, ..Config::default() };
            let near = |loss, leaves| (10_000, 5, loss, leaves);
            let far = |loss, leaves| (1_500, 120, loss, leaves);
            for ways in [
                // A window of more packets than a bitmap has, and switches from far to near.
                vec![near(0.003, None), (10_000, 200, 0.0005, None)],
                // One receiver: only its window.
                vec![near(0.0, None)],
                vec![near(0.02, None)],
                // Losses on both ways, so that ACKs are lost too.
                vec![near(0.05, None), far(0.03, None), near(0.2, None)],
                // The worst leaves with a word, the next worst without.
                vec![near(0.01, None), far(0.02, Some((25, false))), near(0.15, Some((12, true)))],
                // No receiver is left.
                vec![far(0.02, Some((20, false))), near(0.05, Some((10, true)))],
            ] {
                let judge = run(&config, &ways, seed, 60);
                decisions += judge.decisions;
                cuts += judge.model.cuts;
                switches += judge.model.switches;
                dismissals += judge.model.dismissals;
                unknown += judge.model.unknown;
            }
        }
    }
    println!("{decisions} comparisons, {cuts} cuts, {switches} switches, {dismissals} dismissals, {unknown} unknown");
    assert!(decisions > 100_000 && cuts > 1_000 && switches > 200 && dismissals > 50 && unknown > 0);
}

/// Other rules than the model's do not pass.
#[test]
fn a_sender_with_another_rule_is_noticed() {
    let others = [
        Config { ssthresh: 5, ..Config::default() },
        Config { c: 0.6, ..Config::default() },
        Config { token_mode: TokenMode::Literal, ..Config::default() },
        Config { model: config::Model::Full, ..Config::default() },
        Config { rtt_mode: RttMode::Time, ..Config::default() },
    ];
    let ways = [(10_000, 5, 0.05, None), (1_500, 120, 0.03, None), (10_000, 5, 0.06, Some((20, true)))];
    for other in others {
        let passes = |seed| std::panic::catch_unwind(|| run(&other, &ways, seed, 60)).is_ok();
        assert!(!(1..=4).all(passes), "{other:?}");
    }
    (1..=4).for_each(|seed| drop(run(&Config::default(), &ways, seed, 60)));
}
