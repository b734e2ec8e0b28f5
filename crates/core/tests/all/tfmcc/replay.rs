//! What a sender does in simulated runs, decision by decision, against the model.

use std::any::Any;

use lasthop_core::engine::{BitRate, Duration, Instant, Streams};
use lasthop_core::multicast::tfmcc::Config;
use lasthop_core::net::{
    Action, Address, EndpointContext, FlowId, GroupId, Header, Hears, NodeId, Notice, Observation, Observer, Packet,
    Port, Simulation, Socket, TfmccHeader, TfmccReport, Variable,
};
use lasthop_core::profile::Profile;
use lasthop_core::transport::TransportConfig;
use serde_json::json;

use super::model::{Model, Said};
use super::network::{Line, droptail, run, tfmcc};

/// The events at the sender.
enum Event {
    Sent(TfmccHeader),
    Heard(TfmccReport),
    /// X, bytes per second.
    Rate(f64),
}

/// Writes it down.
struct Log {
    sender: NodeId,
    events: Vec<(Instant, Event)>,
}

impl Observer for Log {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        let event = match *observation {
            Observation::Sent { node, packet } if node == self.sender => match &packet.header {
                Header::Tfmcc(header) => Event::Sent(*header),
                _ => return,
            },
            Observation::Received { node, packet } if node == self.sender => match &packet.header {
                Header::TfmccReport(report) => Event::Heard(*report),
                _ => return,
            },
            Observation::Changed { variable: Variable::PacingRate, value, .. } => Event::Rate(value / 8.0),
            _ => return,
        };
        self.events.push((now, event));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A star: each receiver has a link of its own with its rate in kbit/s, delay in ms and loss.
fn record(leaves: &[(u64, u64, f64)], seconds: f64, cut: Option<(f64, f64)>, seed: u64) -> Vec<(Instant, Event)> {
    let mut simulation = Simulation::new(seed);
    let [source, router] = ["source", "router"].map(|name| simulation.add_node(name));
    simulation.set_observer(Box::new(Log { sender: source, events: Vec::new() }));
    let queue = droptail(30);
    let ms = Duration::from_millis;
    Line { rate: BitRate::from_mbps(10), delay: ms(5), queue: &queue, loss: 0.0 }.add(
        &mut simulation,
        "up",
        source,
        router,
    );
    let members: Vec<NodeId> = leaves
        .iter()
        .enumerate()
        .map(|(n, &(kbps, delay, loss))| {
            let leaf = simulation.add_node(&format!("leaf {n}"));
            Line { rate: BitRate::from_kbps(kbps), delay: ms(delay), queue: &queue, loss }.add(
                &mut simulation,
                &format!("leaf {n}"),
                router,
                leaf,
            );
            leaf
        })
        .collect();
    tfmcc(&mut simulation, json!({}), source, members, 0.7);
    simulation.route();
    if let Some((from, to)) = cut {
        for (at, up) in [(from, false), (to, true)] {
            simulation.run_until(Instant::from_secs_f64(at), u64::MAX).unwrap();
            simulation.change(1, lasthop_core::net::Change { up: Some(up), ..Default::default() });
        }
    }
    run(&mut simulation, seconds);
    let log = simulation.take_observer().unwrap().into_any().downcast::<Log>().unwrap();
    log.events
}

/// Replays it, and gives the model at the end.
fn replay(name: &str, events: &[(Instant, Event)]) -> Model {
    let mut model = Model::new(1452.0);
    let near = |a: f64, b: f64| a == b || (a / b - 1.0).abs() < 1e-9;
    let mut shown = 0.0;
    let mut first = true;
    for (n, (at, event)) in events.iter().enumerate() {
        let now = at.as_secs_f64();
        match event {
            Event::Sent(header) => {
                model.data(now, std::mem::take(&mut first));
                assert_eq!(header.round, model.fb_nr, "{name}: round of {n} at {now}");
                assert!(near(header.x_supp, model.x_supp), "{name}: X_supp of {n}: {} {}", header.x_supp, model.x_supp);
                assert!(
                    near(header.r_max, model.r_max(now)),
                    "{name}: R_max of {n}: {} {}",
                    header.r_max,
                    model.r_max(now)
                );
                if let Some(echo) = header.echo {
                    assert_eq!(header.is_clr, model.clr == Some(echo.receiver.0), "{name}: CLR of {n} at {now}");
                }
            }
            Event::Heard(report) => {
                let said = Said {
                    receiver: report.receiver.0,
                    age: at.since(report.echo).as_secs_f64(),
                    round: report.round,
                    have_rtt: report.have_rtt,
                    have_loss: report.have_loss,
                    leaving: report.leaving,
                    rate: report.rate,
                };
                model.report(now, said);
                // A change is shown before anything else happens; without one X is what it was.
                let next = events.get(n + 1).filter(|(then, _)| then == at);
                let x = if let Some((_, Event::Rate(x))) = next { *x } else { shown };
                assert!(near(x, model.x(now)), "{name}: X after report {n} at {now}: {x} {} {said:?}", model.x(now));
            }
            Event::Rate(x) => {
                model.silence(now);
                shown = *x;
                if !matches!(events.get(n + 1), Some((then, Event::Sent(_))) if then == at) {
                    assert!(near(*x, model.x(now)), "{name}: X at {now}: {x} {}", model.x(now));
                }
            }
        }
    }
    model
}

/// Receivers that differ in rate, distance and loss; one with a loss rate at which it leaves; ways that are cut for a time.
#[test]
fn the_model_agrees_decision_by_decision() {
    let equal = [(800, 20, 0.01); 6];
    let mixed = [(900, 10, 0.0), (400, 60, 0.02), (2000, 150, 0.04), (700, 5, 0.0), (5000, 300, 0.01)];
    let awful = [(1000, 10, 0.01), (1000, 250, 0.55), (600, 40, 0.0)];
    let mut counts = std::collections::BTreeMap::<&str, u32>::new();
    for (name, leaves, seconds, cut) in [
        ("one", &equal[..1], 100.0, None),
        ("equal", &equal[..], 200.0, None),
        ("mixed", &mixed[..], 200.0, None),
        ("leaving", &awful[..], 900.0, None),
        ("cut", &mixed[..], 150.0, Some((50.0, 80.0))),
        ("cut alone", &equal[..1], 200.0, Some((50.0, 90.0))),
    ] {
        for seed in 1..=3 {
            let events = record(leaves, seconds, cut, seed);
            let reports = events.iter().filter(|(_, event)| matches!(event, Event::Heard(_))).count();
            assert!(reports > 50, "{name}: {reports} reports");
            for (what, count) in replay(name, &events).counts {
                *counts.entry(what).or_default() += count;
            }
        }
    }
    // Every rule was tried.
    for what in ["rounds", "elections", "end of slow start", "adjusted", "halved in silence", "clr lost"] {
        assert!(counts.get(what).is_some_and(|count| *count > 0), "{what} never: {counts:?}");
    }
}

/// Reports that no receiver would make: any rates, ages and rounds, and leaves, also of the CLR.
#[test]
fn the_model_agrees_on_any_reports() {
    let source = Socket { node: NodeId(0), port: 4 };
    let members = Address::Group(GroupId(0));
    let flow = FlowId(0);
    let hears = Hears::default();
    let seat = EndpointContext { local: source, remote: members, remote_port: 4, flow, hears, observed: true };
    for seed in 0..20 {
        let streams = Streams::new(seed);
        let mut dice = streams.stream("reports", "fields");
        let mut sender = Config::default().sender(seat, Profile::default(), streams.stream("", ""));
        sender.on_notice(Instant::ZERO, Notice::Write(u64::MAX));
        let mut events = Vec::new();
        let mut next_report = Instant::from_secs_f64(0.3);
        let mut packet = Packet::vacant();
        for _ in 0..5000 {
            let due = sender.next_timeout().unwrap_or(next_report);
            let now = due.min(next_report);
            if now == next_report {
                let report = TfmccReport {
                    receiver: NodeId(1 + (dice.bits() % 5) as u32),
                    stamp: now,
                    echo: Instant::from_secs_f64(now.as_secs_f64() - dice.uniform(0.0, 0.4)),
                    round: (dice.bits() % 16) as u8,
                    have_rtt: dice.chance(0.8),
                    have_loss: dice.chance(0.9),
                    leaving: dice.chance(0.05),
                    rate: dice.uniform(500.0, 50_000.0),
                };
                packet.header = Header::TfmccReport(report);
                (packet.connection, packet.from) = (0, Socket { node: report.receiver, port: 4 });
                events.push((now, Event::Heard(report)));
                sender.on_packet(now, &packet, Port(0));
                next_report = now + Duration::from_secs_f64(dice.exponential(0.2));
            } else {
                sender.on_timeout(now);
            }
            while let Some(action) = sender.poll(now, &mut packet) {
                match (action, &packet.header) {
                    (Action::Observe(_, value), _) => events.push((now, Event::Rate(value / 8.0))),
                    (Action::Send, Header::Tfmcc(header)) => events.push((now, Event::Sent(*header))),
                    _ => {}
                }
            }
        }
        let counts = replay("any reports", &events).counts;
        assert!(counts.get("clr leaves").is_some_and(|leaves| *leaves > 5), "{counts:?}");
    }
}
