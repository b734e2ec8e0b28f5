use super::*;
use crate::net::bench::{Bench, packet};
use crate::net::dscp::Dscp;

const KBPS: u64 = 1_000;
/// No flow: signalling.
const NONE: u32 = FlowId::NONE.0;

fn wfq(rate: u64, clock: Clock) -> Wfq {
    let config = Config { clock, limit: Amount::Packets(10_000), ..Config::default() };
    Wfq::new(config, BitRate::from_bps(rate), Place(0))
}

fn reserve(wfq: &mut Wfq, flow: u32, bps: u64) -> Answer {
    wfq.on_order(Instant::ZERO, &Command::Reserve(FlowId(flow), BitRate::from_bps(bps)))
}

fn best_effort(flow: u32, size: u32) -> crate::net::Packet {
    packet(flow, size, Dscp::Be)
}

#[test]
fn signalling_goes_first_and_what_is_demoted_with_best_effort() {
    let mut bench = Bench::new();
    let mut wfq = Wfq::new(Config::default(), BitRate::from_kbps(80), Place(0));
    assert_eq!(reserve(&mut wfq, 1, 40_000), Answer::Done);
    for (flow, size, dscp) in
        [(2, 100, Dscp::Be), (1, 101, Dscp::Cs1), (1, 200, Dscp::Be), (NONE, 102, Dscp::Cs6), (NONE, 103, Dscp::Cs6)]
    {
        bench.enqueue(&mut wfq, packet(flow, size, dscp));
    }
    // Tags: best effort, of weight 40 kbit/s as well, 20 ms and 40.2 ms, and 41 ms more for 205 B of signalling; the reservation 40 ms.
    let sizes: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(_, size, _)| size).collect();
    assert_eq!(sizes, [102, 103, 200, 100, 101]);
    assert_eq!(wfq.backlog(), Backlog::default());
}

#[test]
fn data_marked_as_network_control_are_data() {
    let mut bench = Bench::new();
    let mut wfq = Wfq::new(Config { limit: Amount::Packets(2), ..Config::default() }, BitRate::from_kbps(80), Place(0));
    let reserved = |wfq: &Wfq| wfq.reserved().to_bits();
    assert_eq!(reserved(&wfq), 0.0_f64.to_bits(), "not −0");
    assert_eq!(reserve(&mut wfq, 1, 40_000), Answer::Done);
    for (flow, size) in [(2, 200), (2, 201), (2, 202), (1, 100)] {
        bench.enqueue(&mut wfq, packet(flow, size, Dscp::Cs6));
    }
    // They wait with best effort, within its limit, behind the smaller packet of the flow of the same weight.
    let sizes: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(_, size, _)| size).collect();
    assert_eq!(sizes, [100, 200, 201]);
}

#[test]
fn a_burst_of_a_heavy_flow_goes_ahead_as_far_as_its_tags_do() {
    // The construction of Bennett and Zhang 1996 (§3.1) with 16 light flows: one flow with 16
    // times the weight sends 17 packets, the others one each, all at once. The fluid system ends
    // the sixteenth packet of the heavy flow together with those of the others, the last one
    // after them.
    for clock in [Clock::SelfClocked, Clock::Gps] {
        let mut bench = Bench::new();
        let mut wfq = wfq(40 << 20, clock);
        assert_eq!(reserve(&mut wfq, 0, 16 << 20), Answer::Done);
        for flow in 1..=16 {
            assert_eq!(reserve(&mut wfq, flow, 1 << 20), Answer::Done);
        }
        for _ in 0..17 {
            bench.enqueue(&mut wfq, best_effort(0, 128));
        }
        for flow in 1..=16 {
            bench.enqueue(&mut wfq, best_effort(flow, 128));
        }
        let order: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(flow, ..)| flow).collect();
        let expected: Vec<u32> = [0; 16].into_iter().chain(1..=16).chain([0]).collect();
        assert_eq!(order, expected, "{clock:?}");
    }
}

#[test]
fn the_exact_clock_follows_the_fluid_system() {
    // By hand: 8000 bit/s, weights 2000 and 4000. 1000 B of the first at 0: tag 4, and V grows by
    // 4 a second. 500 B of the second at 0.5 s, V = 2: tag 3, and V grows by 4/3 a second. The
    // fluid system ends the second packet at 1.25 s and the first at 1.5 s.
    let mut bench = Bench::new();
    let mut wfq = wfq(8_000, Clock::Gps);
    assert_eq!([reserve(&mut wfq, 1, 2_000), reserve(&mut wfq, 2, 4_000)], [Answer::Done; 2]);
    bench.enqueue(&mut wfq, best_effort(1, 1_000));
    assert_eq!(bench.take(&mut wfq).unwrap().0, 1);
    bench.at(0.5);
    bench.enqueue(&mut wfq, best_effort(2, 500));
    for (at, expected) in [(0.5, 2.0), (0.8, 2.4), (1.0, 8.0 / 3.0), (1.25, 3.0), (1.4, 3.6), (1.5, 4.0), (2.0, 4.0)] {
        if at == 1.0 {
            bench.at(at);
            assert_eq!(bench.take(&mut wfq).unwrap().0, 2);
        }
        wfq.follow(Instant::from_secs_f64(at));
        assert!((wfq.virtual_time - expected).abs() < 1e-9, "at {at} s: {}", wfq.virtual_time);
    }
}

/// A fluid system with the weights of its flows, without virtual time: each flow's packets, of which the first is being served.
struct Fluid {
    weights: Vec<f64>,
    waiting: Vec<VecDeque<f64>>,
    /// Work done so far, in bits, and of each packet of a flow how much there was when it was done.
    work: f64,
    done: Vec<Vec<f64>>,
    /// Bits of signalling that wait ahead of best effort, which is flow 0.
    signalling: f64,
}

impl Fluid {
    fn serve(&mut self, mut bits: f64) {
        while bits > 1e-9 {
            let waits = |flow: usize| !self.waiting[flow].is_empty() || (flow == 0 && self.signalling > 0.0);
            let busy: Vec<usize> = (0..self.weights.len()).filter(|&flow| waits(flow)).collect();
            let all: f64 = busy.iter().map(|&flow| self.weights[flow]).sum();
            let first =
                |flow: usize| if flow == 0 && self.signalling > 0.0 { self.signalling } else { self.waiting[flow][0] };
            let until = |flow: usize| first(flow) * all / self.weights[flow];
            let Some(step) = busy.iter().map(|&flow| until(flow)).min_by(f64::total_cmp) else { return };
            let step = step.min(bits);
            bits -= step;
            self.work += step;
            for flow in busy {
                let served = step * self.weights[flow] / all;
                if flow == 0 && self.signalling > 0.0 {
                    self.signalling = if self.signalling - served < 1e-6 { 0.0 } else { self.signalling - served };
                    continue;
                }
                let first = &mut self.waiting[flow][0];
                *first -= served;
                if *first < 1e-6 {
                    self.waiting[flow].pop_front();
                    self.done[flow].push(self.work);
                }
            }
        }
    }
}

#[test]
fn a_packet_is_sent_at_most_one_packet_later_than_in_the_fluid_system_whatever_the_link_does_beside() {
    // Parekh and Gallager 1993, Theorem 1, in work instead of time: an outage stops both systems. Signalling is best effort's first packet in the
    // fluid system; on the link it goes ahead of all, so what the fluid system has not yet sent of it comes on top.
    const RATE: f64 = 1e6;
    const MOST: u32 = 1_500;
    let mut state = 3u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..20 {
        let mut bench = Bench::new();
        let mut wfq = wfq(RATE as u64, Clock::Gps);
        for (flow, kbps) in [(1, 100), (2, 200), (3, 400)] {
            assert_eq!(reserve(&mut wfq, flow, kbps * KBPS), Answer::Done);
        }
        let mut fluid = Fluid {
            weights: vec![300e3, 100e3, 200e3, 400e3],
            waiting: vec![VecDeque::new(); 4],
            work: 0.0,
            done: vec![Vec::new(); 4],
            signalling: 0.0,
        };
        let mut ahead: f64 = 0.0;
        let mut sent = vec![Vec::new(); 4];
        let (mut now, mut work) = (0.0, 0.0);
        for _ in 0..3_000 {
            // One packet is sent, while others come; or signalling, or nothing.
            bench.at(now);
            let took = match draw(20) {
                0 => {
                    bench.enqueue(&mut wfq, packet(NONE, 200, Dscp::Cs6));
                    fluid.signalling += 1_600.0;
                    ahead = ahead.max(fluid.signalling);
                    work += 8.0 * f64::from(bench.take(&mut wfq).unwrap().1);
                    1_600.0 / RATE
                }
                1 => 0.05,
                _ => bench.take(&mut wfq).map_or(0.002, |(flow, size, _)| {
                    work += 8.0 * f64::from(size);
                    sent[flow as usize].push(work);
                    8.0 * f64::from(size) / RATE
                }),
            };
            let before = now;
            let mut come: Vec<f64> = (0..draw(3)).map(|_| draw(1_000) as f64 / 1_000.0 * took).collect();
            come.sort_by(f64::total_cmp);
            now += took;
            for after in come {
                bench.at(before + after);
                fluid.serve((work - fluid.work - RATE * (took - after)).max(0.0));
                let (flow, size) = (draw(4) as usize, 40 + draw(u64::from(MOST) - 39) as u32);
                if fluid.waiting[flow].len() < 30 {
                    fluid.waiting[flow].push_back(8.0 * f64::from(size));
                    bench.enqueue(&mut wfq, best_effort(flow as u32, size));
                }
            }
            fluid.serve(work - fluid.work);
        }
        let mut apart: f64 = 0.0;
        for (sent, done) in sent.iter().zip(&fluid.done) {
            assert!(done.len() > 100);
            for (sent, done) in sent.iter().zip(done) {
                apart = apart.max(sent - done);
            }
        }
        assert!(apart <= 8.0 * f64::from(MOST) + ahead + 1.0, "{apart} bits, {ahead} of signalling");
        assert!(ahead < 30_000.0, "{ahead}: what no flow has reserved pays for it in time");
    }
}

#[test]
fn best_effort_pays_for_signalling() {
    // A flow that sends a little less than the nine tenths that it has reserved waits no longer though signalling takes a twentieth of the link.
    for clock in [Clock::SelfClocked, Clock::Gps] {
        let mut bench = Bench::new();
        let mut wfq = wfq(1_000 * KBPS, clock);
        assert_eq!(reserve(&mut wfq, 1, 900 * KBPS), Answer::Done);
        let (mut signalled, mut sent, mut worst) = (0, 0, 0);
        // A packet of 1000 B in each 8 ms.
        for n in 0..5_000 {
            bench.at(0.008 * f64::from(n));
            while wfq.queues[BEST_EFFORT].fifo.len() < 10 {
                bench.enqueue(&mut wfq, best_effort(2, 1_000));
            }
            while sent < n * 88 / 100 {
                bench.enqueue(&mut wfq, best_effort(1, 1_000));
                sent += 1;
            }
            if signalled < n / 20 {
                bench.enqueue(&mut wfq, packet(NONE, 1_000, Dscp::Cs6));
                signalled += 1;
            }
            bench.take(&mut wfq).unwrap();
            worst = worst.max(wfq.queues[1].fifo.len());
        }
        assert!(worst <= 3, "{clock:?}: {worst} packets waited");
    }
}

#[test]
fn what_signalling_took_of_an_idle_link_is_forgotten() {
    for clock in [Clock::SelfClocked, Clock::Gps] {
        let mut bench = Bench::new();
        let mut wfq = wfq(1_000 * KBPS, clock);
        assert_eq!(reserve(&mut wfq, 1, 500 * KBPS), Answer::Done);
        for n in 0..100 {
            bench.at(0.01 * f64::from(n));
            bench.enqueue(&mut wfq, packet(NONE, 1_000, Dscp::Cs6));
            assert!(bench.take(&mut wfq).is_some());
            bench.at(0.01 * f64::from(n) + 0.008);
            assert!(bench.take(&mut wfq).is_none());
        }
        for flow in [2, 1, 2, 1, 2, 1] {
            bench.enqueue(&mut wfq, best_effort(flow, 1_000));
        }
        let flows: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(flow, ..)| flow).collect();
        assert_eq!(flows, [2, 1, 2, 1, 2, 1], "{clock:?}: equal weights");
    }
}

#[test]
fn another_weight_holds_for_what_waits() {
    // By hand: 100 packets of best effort wait with the whole rate as their weight. A flow reserves nine tenths. Of the next ten packets nine are the
    // flow's, as if the others had come after it.
    for clock in [Clock::SelfClocked, Clock::Gps] {
        let mut bench = Bench::new();
        let mut wfq = wfq(1_000 * KBPS, clock);
        for _ in 0..100 {
            bench.enqueue(&mut wfq, best_effort(2, 1_000));
        }
        assert_eq!(bench.take(&mut wfq).unwrap().0, 2);
        assert_eq!(reserve(&mut wfq, 1, 900 * KBPS), Answer::Done);
        for _ in 0..100 {
            bench.enqueue(&mut wfq, best_effort(1, 1_000));
        }
        let flows: Vec<u32> = (1..=50)
            .map(|n| {
                bench.at(0.008 * f64::from(n));
                bench.take(&mut wfq).unwrap().0
            })
            .collect();
        let reserved = flows.iter().filter(|flow| **flow == 1).count();
        assert!((44..=46).contains(&reserved), "{clock:?}: {flows:?}");
    }
}

#[test]
fn flows_that_wait_share_by_their_weights() {
    // Golestani 1994, Theorem 1: over any interval in which both wait, what two flows got, each
    // over its weight, differs by at most a packet of each over its weight. Best effort has
    // the rest: 4 of 10.
    let mut bench = Bench::new();
    let mut wfq = wfq(10_000 * KBPS, Clock::SelfClocked);
    assert_eq!([reserve(&mut wfq, 1, 5_000 * KBPS), reserve(&mut wfq, 2, 1_000 * KBPS)], [Answer::Done; 2]);
    let flows: [(u32, u32, f64); 3] = [(1, 1_500, 5.0), (2, 300, 1.0), (3, 700, 4.0)];
    for (flow, size, _) in flows {
        for _ in 0..2_000_000 / size {
            bench.enqueue(&mut wfq, best_effort(flow, size));
        }
    }
    let mut got = [0.0; 3];
    for _ in 0..2_500 {
        let (flow, size, _) = bench.take(&mut wfq).unwrap();
        got[flow as usize - 1] += f64::from(size) / flows[flow as usize - 1].2;
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let most = f64::from(flows[a].1) / flows[a].2 + f64::from(flows[b].1) / flows[b].2;
            assert!((got[a] - got[b]).abs() <= most + 1e-6, "{got:?}");
        }
    }
}

/// The longest delay of flow 1's packets, each of 200 B at its rate, beside nine greedy flows
/// with packets of 1500 B.
fn worst_delay(clock: Clock) -> f64 {
    const RATE: f64 = 10e6;
    let mut bench = Bench::new();
    let mut wfq = wfq(RATE as u64, clock);
    for flow in 1..=9 {
        assert_eq!(reserve(&mut wfq, flow, 1_000 * KBPS), Answer::Done);
    }
    let between = 1_600.0 / 1e6;
    let (mut now, mut sent, mut arrived) = (0.0, 0, 0);
    let mut worst: f64 = 0.0;
    while sent < 2_000 {
        bench.at(now);
        for flow in 2..=10 {
            while wfq.queues[wfq.queue_of(FlowId(flow))].fifo.len() < 3 {
                bench.enqueue(&mut wfq, best_effort(flow, 1_500));
            }
        }
        while f64::from(arrived) * between <= now {
            bench.enqueue(&mut wfq, best_effort(1, 200));
            arrived += 1;
        }
        let (flow, size, _) = bench.take(&mut wfq).unwrap();
        now += f64::from(size) * 8.0 / RATE;
        if flow == 1 {
            worst = worst.max(now - f64::from(sent) * between);
            sent += 1;
        }
    }
    worst
}

#[test]
fn delays_keep_to_the_bounds_of_the_papers() {
    // A flow that keeps to its rate r with packets of L waits L / r in the fluid system. Parekh
    // and Gallager 1993, Theorem 1: the exact clock adds at most a largest packet at the rate of
    // the link. Golestani 1994, Theorem 2: the clock of its own adds one of each other flow.
    // Arrivals are seen up to a packet late on this bench: the bounds count from their due time,
    // so another largest packet comes on top.
    let (fluid, packet) = (1_600.0 / 1e6, 12_000.0 / 10e6);
    let exact = worst_delay(Clock::Gps);
    assert!(exact <= fluid + 2.0 * packet + 1e-9, "{exact}");
    let own = worst_delay(Clock::SelfClocked);
    assert!(own <= fluid + 10.0 * packet + 1e-9, "{own}");
}

#[test]
fn reservations_are_admitted_up_to_the_share() {
    let mut wfq = wfq(1_000 * KBPS, Clock::SelfClocked);
    assert_eq!(reserve(&mut wfq, 1, 500 * KBPS), Answer::Done);
    assert_eq!(reserve(&mut wfq, 2, 500 * KBPS), Answer::Refused(BitRate::from_kbps(400)));
    assert_eq!(reserve(&mut wfq, 2, 400 * KBPS), Answer::Done);
    assert_eq!(reserve(&mut wfq, 3, 1), Answer::Refused(BitRate::from_bps(0)));
    // A change counts in place of what was reserved.
    assert_eq!(reserve(&mut wfq, 1, 600 * KBPS), Answer::Refused(BitRate::from_kbps(500)));
    assert_eq!(reserve(&mut wfq, 1, 100 * KBPS), Answer::Done);
    assert_eq!(wfq.queues[BEST_EFFORT].weight, 500e3);
    assert_eq!(wfq.on_order(Instant::ZERO, &Command::Release(FlowId(2))), Answer::Done);
    assert_eq!((wfq.reserved(), wfq.queues[BEST_EFFORT].weight), (100e3, 900e3));
}

#[test]
fn what_no_longer_fits_lapses_the_latest_first_and_waits_as_best_effort() {
    let mut bench = Bench::new();
    let mut wfq = wfq(1_000 * KBPS, Clock::SelfClocked);
    for (flow, kbps) in [(1, 200), (2, 300), (3, 400)] {
        assert_eq!(reserve(&mut wfq, flow, kbps * KBPS), Answer::Done);
        bench.enqueue(&mut wfq, best_effort(flow, 1_000));
        bench.enqueue(&mut wfq, best_effort(flow, 1_000));
    }
    wfq.on_capacity(Instant::ZERO, BitRate::from_kbps(400));
    assert_eq!(wfq.flows, [FlowId::NONE, FlowId(1)]);
    assert_eq!((wfq.reserved(), wfq.queues[BEST_EFFORT].weight), (200e3, 200e3));
    assert_eq!(wfq.queues[BEST_EFFORT].fifo.len(), 4);
    assert_eq!(wfq.backlog(), Backlog { packets: 6, bytes: 6_000 });
    let order: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(flow, ..)| flow).collect();
    // Equal weights: in turn, and each flow in order.
    assert_eq!(order, [1, 3, 1, 3, 2, 2]);
}

#[test]
fn the_others_keep_their_queues_when_a_reservation_ends() {
    let mut bench = Bench::new();
    let mut wfq = wfq(1_000 * KBPS, Clock::SelfClocked);
    for (flow, kbps) in [(7, 100), (2, 200), (3, 400)] {
        assert_eq!(reserve(&mut wfq, flow, kbps * KBPS), Answer::Done);
    }
    assert_eq!(wfq.on_order(Instant::ZERO, &Command::Release(FlowId(7))), Answer::Done);
    for flow in [3, 3, 3, 2, 2, 2] {
        bench.enqueue(&mut wfq, best_effort(flow, 1_000));
    }
    // 8000 bit each. Tags: 20, 40 and 60 ms at 400 kbit/s; 40, 80 and 120 ms at 200 kbit/s.
    let order: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(flow, ..)| flow).collect();
    assert_eq!(order, [3, 3, 2, 3, 2, 2]);
    assert_eq!(reserve(&mut wfq, FlowId::NONE.0, 1), Answer::Unknown);
}

#[test]
fn packets_put_back_leave_first_and_in_order() {
    let mut bench = Bench::new();
    let mut wfq = wfq(1_000 * KBPS, Clock::SelfClocked);
    reserve(&mut wfq, 1, 500 * KBPS);
    for (flow, size) in [(1, 100), (2, 900), (1, 101), (2, 901)] {
        bench.enqueue(&mut wfq, best_effort(flow, size));
    }
    let sent: Vec<Pkt> = (0..3).map(|_| wfq.dequeue(&mut bench.core).unwrap()).collect();
    let sizes: Vec<u32> = sent.iter().map(|pkt| bench.core.packet(pkt).size).collect();
    for pkt in sent.into_iter().rev() {
        wfq.put_back(&mut bench.core, pkt);
    }
    assert_eq!(sizes, [100, 101, 900]);
    let again: Vec<u32> = bench.empty(&mut wfq).into_iter().map(|(_, size, _)| size).collect();
    assert_eq!(again, [100, 101, 900, 901]);
}

#[test]
fn each_queue_has_its_limit() {
    let mut bench = Bench::new();
    let config = Config { limit: Amount::Packets(2), ..Config::default() };
    let mut wfq = Wfq::new(config, BitRate::from_mbps(1), Place(0));
    reserve(&mut wfq, 1, 1_000);
    for flow in [1, 1, 1, 2, 3, 4, 4] {
        bench.enqueue(&mut wfq, best_effort(flow, 100));
    }
    assert_eq!((wfq.backlog().packets, bench.drops(Cause::Overflow)), (4, 3));
}
