//! Controllers of TCP from end to end: is the link full, how long is the queue, how is the link shared?

use crate::common::scenario::{column, run, series};
use lasthop_core::scenario::session::Results;

/// A flow: its parameters of TCP, and when it starts, in seconds.
type Flow<'a> = (&'a str, f64);

const CUBIC: &str = "variant = 'cubic'";

/// Flows of equal round-trip time over one bottleneck, to be watched between two instants.
struct Dumbbell<'a> {
    /// Mbit/s, and ms.
    rate: u32,
    rtt: u32,
    queue: &'a str,
    flows: &'a [Flow<'a>],
    /// Seconds.
    from: f64,
    to: f64,
    /// Further sections.
    more: &'a str,
}

/// What is seen: Mbit/s of payload of each flow, the mean queue in packets, packets dropped in all of the run.
struct Seen {
    shares: Vec<f64>,
    queue: f64,
    drops: f64,
}

/// The mean of a quantity between two instants.
fn mean(results: &Results, name: &str, quantity: &str, from: f64, to: f64) -> f64 {
    let samples = series(results, name, quantity).into_iter().filter(|(at, _)| *at > from && *at <= to);
    let values: Vec<f64> = samples.map(|(_, value)| value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

impl Dumbbell<'_> {
    fn run(&self) -> Seen {
        let Self { rate, rtt, queue, flows, from, to, more } = self;
        let mut text = format!(
            "duration = '{to} s'\nrecord.series = '10 ms'\n[[link]]\nname = 'bottleneck'\nbetween = ['left', 'right']\n\
             rate = '{rate} Mbit/s'\ndelay = '{} ms'\nqueue.{queue}\nreverse.queue.droptail.limit = '250 packets'\n",
            rtt / 2 - 1
        );
        for (n, (tcp, start)) in flows.iter().enumerate() {
            text += &format!(
                "[[link]]\nname = 'access{n}'\nbetween = ['s{n}', 'left']\nrate = '1 Gbit/s'\ndelay = '1 ms'\n\
                 queue.droptail.limit = '10000 packets'\n\
                 [[flow]]\nname = 'f{n}'\nfrom = 's{n}'\nto = 'right'\nstart = '{start} s'\ntransport.tcp = {{ {tcp} }}\n"
            );
        }
        let results = run(&(text + more), 1);
        let share = |flow| mean(&results, &format!("f{flow}"), "goodput_kbps", *from, *to) / 1e3;
        Seen {
            shares: (0..flows.len()).map(share).collect(),
            queue: mean(&results, "bottleneck left>right", "queue_packets", *from, *to),
            drops: column(&results, "drops", "packets").into_iter().sum(),
        }
    }
}

impl Seen {
    fn sum(&self) -> f64 {
        self.shares.iter().sum()
    }

    /// The least share of the greatest.
    fn fairness(&self) -> f64 {
        let least = self.shares.iter().copied().fold(f64::INFINITY, f64::min);
        least / self.shares.iter().copied().fold(0.0, f64::max)
    }
}

/// Payload of a full link of one Mbit/s with 1460 B in 1500 B, and with time stamps.
const FULL: f64 = 1460.0 / 1500.0;
const FULL_STAMPED: f64 = 1460.0 / 1512.0;

/// Arun, Balakrishnan 2018 §3: the queue swings between none and 2.5/δ packets for each flow, 1.25/δ on average. It consists of
/// whole packets, and n flows do not swing quite together: 15 % for that.
#[test]
fn copa_keeps_the_queue_of_its_law() {
    let (plain, whole) = ("congestion.copa.competitive = false, variant = 'copa'", "variant = 'copa'");
    for (flow, delta, n) in [(plain, 0.5, 1), (plain, 0.5, 2), (plain, 0.5, 4), (whole, 0.5, 1), (whole, 0.5, 2)] {
        let flows: Vec<Flow<'_>> = (0..n).map(|i| (flow, 0.1 * f64::from(i))).collect();
        let seen = Dumbbell {
            rate: 20,
            rtt: 40,
            queue: "droptail.limit = '1000 packets'",
            flows: &flows,
            from: 20.0,
            to: 60.0,
            more: "",
        }
        .run();
        let law = 1.25 / delta * f64::from(n);
        assert!((seen.queue / law - 1.0).abs() < 0.15, "{flow} x{n}: {} packets, law {law}", seen.queue);
        assert!(seen.sum() > 0.98 * 20.0 * FULL, "{flow} x{n}: {:?}", seen.shares);
        assert!(seen.fairness() > 0.9, "{flow} x{n}: {:?}", seen.shares);
        assert_eq!(seen.drops, 0.0);
    }
}

/// §2.2: against flows that fill the queue δ follows losses as their windows do; without that mode there is little left for Copa.
#[test]
fn copa_competes_with_flows_that_fill_the_queue() {
    for other in [CUBIC, "variant = 'sack'"] {
        let ratio = |competitive: bool| {
            let copa = format!("variant = 'copa', congestion.copa.competitive = {competitive}");
            let seen = Dumbbell {
                rate: 20,
                rtt: 40,
                queue: "droptail.limit = '150 packets'",
                flows: &[(other, 0.0), (&copa, 5.0)],
                from: 15.0,
                to: 65.0,
                more: "",
            }
            .run();
            seen.shares[1] / seen.shares[0]
        };
        let (with, without) = (ratio(true), ratio(false));
        assert!((0.5..2.0).contains(&with), "{other}: {with}");
        assert!(without < 0.1, "{other}: {without}");
    }
}

fn background(flows: &[Flow<'_>], from: f64, to: f64) -> Seen {
    Dumbbell { rate: 10, rtt: 40, queue: "droptail.limit = '500 packets'", flows, from, to, more: "" }.run()
}

const LEDBAT: &str = "variant = 'ledbat'";
const LEDBAT_PP: &str = "recovery = 'sack', congestion = 'ledbat_pp'";

/// A queue of TARGET: 100 ms are 82.7 packets of 1512 B, 60 ms are 50 of 1500 B. LEDBAT++ gives up to a tenth of the time to slowdowns.
#[test]
fn ledbat_alone_fills_the_link_and_the_queue_to_its_target() {
    let one = background(&[(LEDBAT, 0.0)], 20.0, 80.0);
    assert!(one.sum() > 0.98 * 10.0 * FULL_STAMPED, "{}", one.sum());
    assert!((one.queue / 82.7 - 1.0).abs() < 0.1, "{}", one.queue);
    let one = background(&[(LEDBAT_PP, 0.0)], 20.0, 80.0);
    assert!(one.sum() > 0.88 * 10.0 * FULL, "{}", one.sum());
    assert!(one.queue > 0.85 * 50.0 && one.queue < 1.05 * 50.0, "{}", one.queue);
}

/// CUBIC keeps far more than the target queued in a buffer of 0.6 s. A window of two segments gets less than 1 % there.
#[test]
fn ledbat_yields_to_cubic() {
    let share = |flow: &str| {
        let seen = background(&[(flow, 0.0), (CUBIC, 15.0)], 35.0, 95.0);
        seen.shares[0] / seen.sum()
    };
    for flow in [LEDBAT, LEDBAT_PP] {
        let share = share(flow);
        assert!(share < 0.02, "{flow}: {share}");
    }
    let reno = share("variant = 'sack'");
    assert!(reno > 0.1, "{reno}");
}

/// RFC 6817 §4.4: the late-comer takes the queue of the first for the base delay and drives it out. Slowdowns and the multiplicative
/// decrease of LEDBAT++ are made against that.
#[test]
fn the_late_comer_has_the_advantage_in_ledbat_only() {
    let late = |flow| background(&[(flow, 0.0), (flow, 20.0)], 60.0, 180.0);
    let ledbat = late(LEDBAT);
    assert!(ledbat.shares[1] > 5.0 * ledbat.shares[0], "{:?}", ledbat.shares);
    let ledbat_pp = late(LEDBAT_PP);
    assert!(ledbat_pp.fairness() > 0.5, "{:?}", ledbat_pp.shares);
    let together = background(&[(LEDBAT, 0.0), (LEDBAT, 0.05)], 20.0, 80.0);
    assert!(together.fairness() > 0.9, "{:?}", together.shares);
}

/// CUBIC keeps 165 to 250 packets queued on the way back, 198 ms and more: one-way delays do not see it, round-trip times do.
#[test]
fn ledbat_with_time_stamps_does_not_see_the_queue_of_the_way_back() {
    let against = |timestamps: bool| {
        let flow = format!("variant = 'ledbat', timestamps = {timestamps}");
        Dumbbell {
            rate: 10,
            rtt: 40,
            queue: "droptail.limit = '500 packets'",
            flows: &[(&flow, 0.0)],
            from: 30.0,
            to: 90.0,
            more: "[[flow]]\nname = 'back'\nfrom = 'right'\nto = 'left'\nstart = '5 s'\ntransport.tcp.variant = 'cubic'\n",
        }
        .run()
        .sum()
    };
    let (stamped, timed) = (against(true), against(false));
    assert!(stamped > 3.0 * timed, "{stamped} and {timed} Mbit/s");
}

const PRAGUE: &str = "variant = 'prague'";

/// A queue that marks more the longer it is: from 4 packets on, each one from 40 on.
fn marking(rate: u32, rtt: u32, flows: &[Flow<'_>]) -> Seen {
    let queue = "red = { limit = '1000 packets', count = 'packets', min = 4.0, max = 40.0, max_p = 0.99, weight = 1.0, \
                 wait = false, ecn = true, mark_p = 1.0 }";
    Dumbbell { rate, rtt, queue, flows, from: 10.0, to: 40.0, more: "" }.run()
}

/// RFC 9330: full links with queues of a few packets, where a loss-based controller that takes each mark for a loss leaves a part of the link.
#[test]
fn prague_fills_a_link_that_marks_with_a_short_queue() {
    for (rate, rtt) in [(40, 20), (10, 40)] {
        let full = f64::from(rate) * FULL;
        for n in 1..=2 {
            let flows: Vec<Flow<'_>> = (0..n).map(|i| (PRAGUE, 3.0 * f64::from(i))).collect();
            let seen = marking(rate, rtt, &flows);
            assert!(seen.sum() > 0.98 * full, "{rate} x{n}: {:?}", seen.shares);
            assert!(seen.queue < 8.0, "{rate} x{n}: {} packets", seen.queue);
            assert!(seen.fairness() > 0.85, "{rate} x{n}: {:?}", seen.shares);
            assert!(seen.drops < 5.0, "{rate} x{n}: {}", seen.drops);
        }
        let cubic = marking(rate, rtt, &[("variant = 'cubic', ecn = true", 0.0)]);
        assert!(cubic.sum() < 0.96 * full, "{}", cubic.sum());
    }
}

/// RFC 9331 §4.3: a loss is answered as Reno answers it.
#[test]
fn prague_shares_a_queue_that_only_drops_with_reno() {
    let seen = Dumbbell {
        rate: 10,
        rtt: 40,
        queue: "droptail.limit = '50 packets'",
        flows: &[("variant = 'sack'", 0.0), (PRAGUE, 0.0)],
        from: 10.0,
        to: 100.0,
        more: "",
    }
    .run();
    assert!(seen.fairness() > 0.5, "{:?}", seen.shares);
}

const DCTCP: &str = "variant = 'dctcp'";

/// Alizadeh et al. 2010 §3.3: marks from K on, with K above a seventh of the bandwidth-delay product, keep the link full and the queue at about K;
/// two flows share it. CUBIC, for which each mark is a loss, leaves a part of it.
#[test]
fn dctcp_fills_a_link_that_marks_above_a_threshold() {
    // 66 packets are the product at 40 Mbit/s and 20 ms.
    let queue = "threshold.backlog = '16 packets'";
    let run = |flows: &[Flow<'_>]| Dumbbell { rate: 40, rtt: 20, queue, flows, from: 10.0, to: 40.0, more: "" }.run();
    for n in 1..=2 {
        let flows: Vec<Flow<'_>> = (0..n).map(|i| (DCTCP, 3.0 * f64::from(i))).collect();
        let seen = run(&flows);
        assert!(seen.sum() > 0.98 * 40.0 * FULL, "x{n}: {:?}", seen.shares);
        assert!((6.0..20.0).contains(&seen.queue), "x{n}: {} packets", seen.queue);
        assert!(seen.fairness() > 0.85, "x{n}: {:?}", seen.shares);
        assert!(seen.drops < 5.0, "x{n}: {}", seen.drops);
    }
    let cubic = run(&[("variant = 'cubic', ecn = true", 0.0)]);
    assert!(cubic.sum() < run(&[(DCTCP, 0.0)]).sum(), "{:?}", cubic.shares);
}

/// The rate of the link falls to a tenth: marks lower the window a little, and the queue overflows within the same window of data. The losses halve the
/// window (RFC 8257 §3.5), so segments sent again find room, and the timer does not expire.
#[test]
fn dctcp_answers_losses_that_follow_marks() {
    let results = run(
        "duration = '14 s'
        record = { state = true, series = '20 ms' }
        link = [{ name = 'l', between = ['a', 'b'], rate = '50 Mbit/s', delay = '10 ms',
                  queue.threshold = { backlog = '15 packets', limit = '70 packets' } }]
        change = [{ at = '10 s', link = 'l', rate = '5 Mbit/s' }]
        flow = [{ name = 'f', from = 'a', to = 'b', transport.tcp.variant = 'dctcp' }]",
        1,
    );
    assert!(column(&results, "links", "drops")[0] > 10.0, "the queue overflows");
    let window: Vec<(f64, f64)> = series(&results, "f", "cwnd_packets");
    let at = |time: f64| window.iter().rev().find(|(at, _)| *at <= time).unwrap().1;
    let (before, after) = (at(10.0), at(10.3));
    assert!(after < 0.55 * before && after > 0.4 * before, "{before} packets, then {after}");
    let timeouts = crate::common::scenario::state(&results, &[("kind", "sender")], "timeouts");
    assert_eq!(timeouts, 0.0);
}
