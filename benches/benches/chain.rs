//! The network over which a packet-hop is measured.

use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Duration, Instant};
use lasthop_core::net::clock::Exact;
use lasthop_core::net::link::Link;
use lasthop_core::net::loss::Loss;
use lasthop_core::net::transmitter::{Queue, Setup};
use lasthop_core::net::{Address, Simulation};
use lasthop_core::queues::droptail;
use lasthop_core::traffic::{SourceConfig, cbr};
use lasthop_core::transport::udp;

/// Ten links in a row, over which a CBR flow fills half of the rate.
pub fn chain(planned: bool) -> Simulation {
    const LINKS: u32 = 10;
    let mut simulation = Simulation::new(1);
    let nodes: Vec<_> = (0..=LINKS).map(|n| simulation.add_node(&format!("n{n}"))).collect();
    for pair in nodes.windows(2) {
        simulation.add_medium(pair, |core, component, ends| {
            let mut setup = |name: &str| {
                let place = core.place(name);
                let limit = Amount::Packets(100);
                let config = droptail::Config { limit, ..Default::default() };
                let queue = if planned {
                    Queue::Planned(limit)
                } else {
                    Queue::Asked(Box::new(droptail::DropTail::new(config, place)))
                };
                let (rate, delay) = (BitRate::from_mbps(100), Duration::from_millis(1));
                Setup { place, rate, delay, reorder: true, queue, loss: Loss(None) }
            };
            let (forward, backward) = (setup("forward"), setup("backward"));
            Link::<Exact>::new(core, component, [ends[0], ends[1]], forward, backward).boxed()
        });
    }
    let config: cbr::Config = serde_json::from_str(r#"{ "rate": "50 Mbit/s" }"#).expect("a source");
    let stream = simulation.core().stream("flow", "source");
    simulation.add_flow(
        nodes[0],
        Address::Node(nodes[LINKS as usize]),
        Instant::ZERO,
        config.build(Instant::ZERO, stream),
        |seat| Box::new(udp::Sender::new(28, seat)),
        |seat| Box::new(udp::Receiver::new(28, seat)),
    );
    simulation.route();
    simulation
}
