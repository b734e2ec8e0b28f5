use super::*;
use lasthop_net::engine::choice::parsed;
use lasthop_net::net::bench::{Bench, packet};

const MBIT: BitRate = BitRate::from_mbps(1);

fn build(bench: &Bench, text: &str) -> DiffServ {
    let config: Config = parsed(text).unwrap();
    config.check().unwrap();
    DiffServ::new(config, &bench.site(MBIT))
}

fn condition(queue: &mut DiffServ, flow: u32, class: Class, kbps: u64, burst: u64) -> Answer {
    let promise = Promise { rate: BitRate::from_kbps(kbps), burst: Bytes::new(burst) };
    queue.on_order(Instant::ZERO, &Command::Condition(FlowId(flow), class, promise))
}

#[test]
fn an_edge_marks_by_profile_alone() {
    let mut bench = Bench::new();
    let mut queue = build(&bench, "");
    assert_eq!(condition(&mut queue, 1, Class::Expedited, 64, 2_000), Answer::Done);
    // CIR 8000 B/s, CBS 2000 B, EBS as CBS: of five at once two are green, two yellow, one red.
    assert_eq!(condition(&mut queue, 2, Class::Assured(2), 64, 2_000), Answer::Done);
    for _ in 0..5 {
        bench.enqueue(&mut queue, packet(2, 1_000, Dscp::Be));
    }
    // Of three at once the bucket of expedited forwarding passes two.
    for _ in 0..3 {
        bench.enqueue(&mut queue, packet(1, 1_000, Dscp::Be));
    }
    // A mark without a profile is taken for nothing; what belongs to no flow keeps its own.
    bench.enqueue(&mut queue, packet(3, 1_000, Dscp::Ef));
    bench.enqueue(&mut queue, packet(FlowId::NONE.0, 100, Dscp::Cs6));
    let left = bench.empty(&mut queue);
    let of = |flow: u32| left.iter().filter(|p| p.0 == flow).map(|p| p.2).collect::<Vec<_>>();
    assert_eq!(left[0].0, FlowId::NONE.0);
    assert_eq!(of(1), [Dscp::Ef.value(); 2]);
    assert_eq!(of(2), [Dscp::Af21, Dscp::Af21, Dscp::Af22, Dscp::Af22, Dscp::Af23].map(Dscp::value));
    assert_eq!(of(3), [Dscp::Be.value()]);
    assert_eq!(bench.drops(Cause::Policed), 1);
    // Without its profile a flow is best effort again.
    assert_eq!(queue.on_order(Instant::ZERO, &Command::Release(FlowId(1))), Answer::Done);
    bench.enqueue(&mut queue, packet(1, 1_000, Dscp::Ef));
    assert_eq!(bench.empty(&mut queue), [(1, 1_000, 0)]);
}

#[test]
fn the_core_believes_marks_and_takes_no_profiles() {
    let mut bench = Bench::new();
    let mut queue = build(&bench, "edge = false");
    assert_eq!(condition(&mut queue, 1, Class::Expedited, 64, 2_000), Answer::Unknown);
    assert_eq!(queue.on_order(Instant::ZERO, &Command::Offer(Class::Expedited)), Answer::Unknown);
    for dscp in [Dscp::Be, Dscp::Af43, Dscp::Ef, Dscp::Cs7] {
        bench.enqueue(&mut queue, packet(1, 100, dscp));
    }
    let order: Vec<u8> = bench.empty(&mut queue).into_iter().map(|(.., dscp)| dscp).collect();
    // AF4 and best effort both start at 0; assured forwarding is looked at first.
    assert_eq!(order, [Dscp::Cs7, Dscp::Ef, Dscp::Af43, Dscp::Be].map(Dscp::value));
}

#[test]
fn expedited_forwarding_is_policed_to_its_share() {
    // 0.3 of 1 Mbit/s and 15 kB: of 1 Mbit/s of packets of 1000 B for 10 s, 375 kB + 15 kB pass.
    let mut bench = Bench::new();
    let mut queue = build(&bench, "edge = false");
    for n in 0..1_250 {
        bench.at(0.008 * f64::from(n));
        bench.enqueue(&mut queue, packet(1, 1_000, Dscp::Ef));
        bench.take(&mut queue);
    }
    // The last comes at 9.992 s.
    let passed = 1_250 - bench.drops(Cause::Policed);
    assert_eq!(passed, ((0.3 * 125_000.0 * 9.992 + 15_000.0) / 1_000.0) as u64);
    // With the link the share changes.
    queue.on_capacity(Instant::from_secs_f64(10.0), BitRate::from_kbps(100));
    let offered = queue.on_order(Instant::ZERO, &Command::Offer(Class::Assured(1)));
    assert_eq!(offered, Answer::Unknown);
    assert_eq!(queue.offer(Class::Expedited), BitRate::from_kbps(30));
}

#[test]
fn classes_that_wait_share_by_their_weights() {
    // Goyal, Vin, Cheng 1997, Theorem 1: over any interval in which both wait, what two queues
    // got, each over its weight, differs by at most a packet of each over its weight.
    let mut bench = Bench::new();
    let rio = "rio = { limit = '5000 packets', in_min = 9999, in_max = 10000 }";
    let text = format!("edge = false\nlimit = '5000 packets'\naf = [0.1, 0.2, 0.1, 0.1]\n{rio}");
    let mut queue = build(&bench, &text);
    let classes = [(Dscp::Af11, 1_500, 0.1), (Dscp::Af21, 400, 0.2), (Dscp::Be, 1_000, 0.2)];
    for (dscp, size, _) in classes {
        for _ in 0..2_000_000 / size {
            bench.enqueue(&mut queue, packet(1, size, dscp));
        }
    }
    let mut got = [0.0; 3];
    for _ in 0..2_000 {
        let (_, size, dscp) = bench.take(&mut queue).unwrap();
        let class = classes.iter().position(|c| c.0.value() == dscp).unwrap();
        got[class] += f64::from(size) / classes[class].2;
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let most = f64::from(classes[a].1) / classes[a].2 + f64::from(classes[b].1) / classes[b].2;
            assert!((got[a] - got[b]).abs() <= most + 1e-6, "{got:?}");
        }
    }
}

#[test]
fn a_class_that_was_idle_gets_no_more_than_its_share_afterwards() {
    // What a class did not use is not saved: after 100 packets of best effort alone, it and the
    // first class take turns, one of the first to three of best effort by their weights.
    let mut bench = Bench::new();
    let mut queue = build(&bench, "edge = false\nlimit = '1000 packets'");
    for _ in 0..200 {
        bench.enqueue(&mut queue, packet(1, 1_000, Dscp::Be));
    }
    for _ in 0..100 {
        bench.take(&mut queue);
    }
    for _ in 0..4 {
        bench.enqueue(&mut queue, packet(2, 1_000, Dscp::Af11));
    }
    let flows: Vec<u32> = (0..13).map(|_| bench.take(&mut queue).unwrap().0).collect();
    let first = flows.iter().filter(|&&flow| flow == 2).count();
    assert!((3..=5).contains(&first), "{flows:?}");
}

#[test]
fn what_a_class_got_of_an_idle_link_is_not_held_against_it() {
    // Goyal, Vin, Cheng 1997, rule 2: at the end of a busy period the virtual time is the greatest finish tag. So a packet that comes to an empty class
    // after that waits for one packet of each other class at most (Theorem 4), not for what its last one took of its share.
    let mut bench = Bench::new();
    let mut queue = build(&bench, "edge = false\nlimit = '1000 packets'\naf = [0.01, 0.1, 0.1, 0.1]");
    for _ in 0..3 {
        bench.enqueue(&mut queue, packet(2, 1_000, Dscp::Af11));
        assert!(bench.take(&mut queue).is_some() && bench.take(&mut queue).is_none());
    }
    for _ in 0..100 {
        bench.enqueue(&mut queue, packet(1, 1_000, Dscp::Be));
    }
    bench.enqueue(&mut queue, packet(2, 1_000, Dscp::Af11));
    let flows: Vec<u32> = (0..100).map(|_| bench.take(&mut queue).unwrap().0).collect();
    let place = flows.iter().position(|flow| *flow == 2);
    assert!(place.is_some_and(|place| place <= 1), "{flows:?}");
}

#[test]
fn packets_put_back_are_the_first_of_their_class() {
    let mut bench = Bench::new();
    let mut queue = build(&bench, "edge = false");
    for (flow, dscp) in [(0, Dscp::Be), (1, Dscp::Be), (2, Dscp::Af11), (3, Dscp::Ef)] {
        bench.enqueue(&mut queue, packet(flow, 1_000, dscp));
    }
    let sent: Vec<Pkt> = (0..3).map(|_| queue.dequeue(&mut bench.core).unwrap()).collect();
    for pkt in sent.into_iter().rev() {
        queue.put_back(&mut bench.core, pkt);
    }
    assert_eq!(queue.backlog(), Backlog { packets: 4, bytes: 4_000 });
    // A copy of what is still under way comes back without having left here.
    let copy = queue.dequeue(&mut bench.core).map(|pkt| (bench.core.copy(&pkt), pkt));
    let (copy, original) = copy.unwrap();
    queue.put_back(&mut bench.core, copy);
    queue.put_back(&mut bench.core, original);
    assert_eq!(bench.take(&mut queue).map(|(flow, ..)| flow), Some(3));
    let order: Vec<u32> = bench.empty(&mut queue).into_iter().map(|(flow, ..)| flow).collect();
    assert_eq!(order, [3, 2, 0, 1]);
}

#[test]
fn shares_that_make_no_sense_are_refused() {
    for (text, field) in [
        ("ef = 0.6", "ef"),
        ("af = [0.1, 0.0, 0.1, 0.1]", "af"),
        ("rio.out_min = 20", "rio"),
        ("meter.trtcm.peak = 0.5", "meter.trtcm.peak"),
        ("meter.tsw2cm.window = '0 s'", "meter.tsw2cm.window"),
    ] {
        let config: Config = parsed(text).unwrap();
        assert_eq!(config.check().unwrap_err().field, field, "{text}");
    }
}
