use super::*;
use lasthop_net::engine::Streams;
use lasthop_net::net::bench::any_packet;
use lasthop_net::net::{NodeId, Packet, Port, SignalHeader};

fn swan(config: Config) -> (Core, Swan) {
    let mut core = Core::new(1);
    core.place("swan");
    let mut swan = Swan::new(config, Place(0), Streams::new(3).stream("swan", "test"));
    swan.on_capacity(Instant::ZERO, BitRate::from_mbps(2));
    (core, swan)
}

fn at(core: &mut Core, seconds: f64) -> Instant {
    let now = Instant::from_secs_f64(seconds);
    core.set_present(now, Instant::ZERO);
    now
}

#[test]
fn the_shaping_rate_follows_the_algorithm() {
    // By hand, T = 1 s, c = 32 kbit/s, r = 50 %, g = 10 %: (bits used, late packets) and the new rate in
    // kbit/s. Growth is bounded by 1.1 of what is used, and the rate is never below c.
    let mut shaper = Shaper {
        rate: f64::INFINITY,
        next: Instant::ZERO,
        ends: Instant::ZERO,
        bits: 0.0,
        passed: 0,
        late: 0,
        used: 0.0,
    };
    for (kbit, late, expected) in [
        (1_000.0, 0, 1_100.0),
        (1_100.0, 0, 1_132.0),
        (1_100.0, 3, 566.0),
        (566.0, 0, 598.0),
        (598.0, 1, 299.0),
        (100.0, 0, 110.0),
        (0.0, 0, 32.0),
    ] {
        (shaper.bits, shaper.late) = (kbit * 1e3, late);
        shaper.adapt(&Config::default());
        assert!((shaper.rate / 1e3 - expected).abs() < 1e-9, "{kbit} kbit, {late} late: {}", shaper.rate);
    }
    // A first period with too long delays: half of what was used.
    (shaper.rate, shaper.bits, shaper.late) = (f64::INFINITY, 1e6, 1);
    shaper.adapt(&Config::default());
    assert_eq!(shaper.rate, 0.5e6);
}

#[test]
fn best_effort_passes_at_the_shaping_rate_and_real_time_at_once() {
    let (mut core, mut swan) = swan(Config::default());
    swan.shaper.rate = 80e3;
    for _ in 0..3 {
        let pkt = core.insert(Packet { size: 1_000, ..any_packet() });
        swan.enqueue(&mut core, pkt);
    }
    let pkt = core.insert(Packet { size: 500, dscp: EF, ..any_packet() });
    swan.enqueue(&mut core, pkt);
    let mut times = Vec::new();
    for ms in 0..400 {
        let now = at(&mut core, f64::from(ms) / 1e3);
        if swan.next_timeout().is_some_and(|at| at <= now) {
            swan.on_timeout(now);
        }
        while let Some(pkt) = swan.dequeue(&mut core) {
            times.push((ms, core.packet(&pkt).size));
            core.arrive(NodeId(0), Port(0), pkt);
        }
    }
    // 8000 bit at 80 kbit/s: every 100 ms.
    assert_eq!(times, [(0, 1_000), (0, 500), (100, 1_000), (200, 1_000)]);
}

/// Best effort waits before the shaper, and is dropped there, while the line to the medium is full.
#[test]
fn the_line_to_the_medium_has_its_limit() {
    let (mut core, mut swan) = swan(Config { limit: Amount::Packets(3), ..Config::default() });
    for _ in 0..10 {
        let pkt = core.insert(Packet { size: 1_000, ..any_packet() });
        swan.enqueue(&mut core, pkt);
    }
    let waiting = |swan: &Swan| (swan.shaped.packets.len(), swan.medium.packets.len());
    assert_eq!((waiting(&swan), core.counters().dropped), ((3, 3), 4));
    assert_eq!(swan.next_timeout(), None, "a line that is full is asked");
    let pkt = swan.dequeue(&mut core).expect("packets wait");
    core.arrive(NodeId(0), Port(0), pkt);
    assert_eq!(waiting(&swan), (2, 3));
}

#[test]
fn a_probe_learns_the_least_that_is_left() {
    let (mut core, mut swan) = swan(Config::default());
    let probe = |swan: &mut Swan, core: &mut Core, rate, own| {
        let (rate, floor) = (BitRate::from_kbps(rate), BitRate::from_kbps(own));
        let header = SignalHeader { kind: Signal::Probe, rate, floor, ..SignalHeader::default() };
        let pkt = core.insert(Packet { dscp: CS6, header: Header::Signal(header), ..any_packet() });
        swan.enqueue(core, pkt);
        let Some(pkt) = swan.dequeue(core) else { panic!("it goes straight through") };
        let left = core.packet(&pkt).signal().map(|h| h.rate.as_bps() as f64 / 1e3);
        core.arrive(NodeId(0), Port(0), pkt);
        left.unwrap()
    };
    // C_th = 0.6 · 2 Mbit/s, and nothing is there.
    assert_eq!(probe(&mut swan, &mut core, 9_999, 0), 1_200.0);
    assert_eq!(probe(&mut swan, &mut core, 300, 0), 300.0);
    // 800 kbit/s of real time for ten windows. From 8 kbit/s after the first packet the estimate goes up to
    // it, and each packet leaves 1/1.01 of the difference: after 999 more 792 · 1.01⁻⁹⁹⁹ = 0.038 kbit/s.
    for n in 0..1_000 {
        at(&mut core, f64::from(n) / 100.0);
        let pkt = core.insert(Packet { size: 1_000, dscp: EF, ..any_packet() });
        swan.enqueue(&mut core, pkt);
        let Some(pkt) = swan.dequeue(&mut core) else { panic!("it goes straight through") };
        core.arrive(NodeId(0), Port(0), pkt);
    }
    let left = probe(&mut swan, &mut core, 9_999, 0);
    assert!((left - 400.038).abs() < 1e-3, "{left}");
    // A flow that is there already does not stand in its own way.
    let left = probe(&mut swan, &mut core, 9_999, 100);
    assert!((left - 500.038).abs() < 1e-3, "{left}");
    // Traffic of long ago is not added to the rest.
    at(&mut core, 30.0);
    let left = probe(&mut swan, &mut core, 9_999, 800);
    assert!((left - 1_200.0).abs() < 1e-3, "{left}");
}

#[test]
fn too_much_real_time_is_marked_and_only_the_share_that_is_wanted() {
    for (marked, bounds) in [(1.0, 1.0..=1.0), (0.25, 0.19..=0.31), (0.0, 0.0..=0.0)] {
        let (mut core, mut swan) = swan(Config { marked: share(marked), ..Config::default() });
        let (mut ces, mut all) = (0.0, 0.0);
        for n in 0..4_000u32 {
            at(&mut core, f64::from(n) / 200.0);
            // 1.6 Mbit/s of 20 flows, one of them without ECN; the threshold is 1.2 Mbit/s.
            let ecn = if n % 20 == 0 { Ecn::NotEct } else { Ecn::Ect0 };
            let pkt = core.insert(Packet { size: 1_000, dscp: EF, ecn, flow: FlowId(n % 20), ..any_packet() });
            swan.enqueue(&mut core, pkt);
            let Some(pkt) = swan.dequeue(&mut core) else { panic!("it goes straight through") };
            let packet = core.packet(&pkt);
            assert!(packet.ecn != Ecn::Ce || n > 100, "not before the estimate has passed the threshold");
            if n >= 1_000 && ecn == Ecn::Ect0 {
                all += 1.0;
                ces += f64::from(packet.ecn == Ecn::Ce);
            }
            core.arrive(NodeId(0), Port(0), pkt);
        }
        // 15 periods of 19 flows: 285 draws, standard error 2.6 % at 0.25.
        assert!(bounds.contains(&(ces / all)), "{marked}: {}", ces / all);
    }
}
