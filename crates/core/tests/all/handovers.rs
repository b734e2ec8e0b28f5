//! What a scenario can say about a handover, and what the table `handovers` says of it: arrivals
//! against sums of transmission times and delays, by both paths of a transmitter.

use crate::common::scenario;
use crate::common::{Event, Happened, Log};
use lasthop_core::engine::{Duration, Instant};
use lasthop_core::measure::table::Table;
use lasthop_core::net::Cause;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::{check, expand, read};

/// A FIFO that the transmitter plans, and one that it asks.
const QUEUES: [&str; 2] =
    ["queue.droptail.limit = '10000 packets'", "queue.droptail = { limit = '10000 packets', drop_front = true }"];

/// One run.
struct Outcome {
    results: Results,
    log: Vec<Event>,
}

impl Outcome {
    /// When each packet arrived, in the order of arrivals; packets are numbered from 0.
    fn arrivals(&self) -> Vec<(u64, Instant)> {
        let arrived = |&(at, _, number, happened): &Event| match happened {
            Happened::Received(_) => Some((number - 1, at)),
            Happened::Dropped(..) => None,
        };
        self.log.iter().filter_map(arrived).collect()
    }

    /// The packets that were dropped for this cause.
    fn dropped(&self, why: Cause) -> Vec<u64> {
        let dropped = |&(_, _, number, happened): &Event| match happened {
            Happened::Dropped(_, cause) if cause == why => Some(number - 1),
            _ => None,
        };
        self.log.iter().filter_map(dropped).collect()
    }

    fn table(&self, name: &str) -> &Table {
        self.results.table(name).unwrap()
    }

    /// A number of the table `handovers` that the `n`-th change of the forward direction has.
    fn forward(&self, n: usize, column: &str) -> Option<f64> {
        self.table("handovers").number(column, 2 * n)
    }

    /// A number of the receiver's in the table `state`.
    fn receiver(&self, quantity: &str) -> f64 {
        let state = self.table("state");
        let is_it = |row: &usize| {
            state.text("kind", *row) == Some("receiver") && state.text("quantity", *row) == Some(quantity)
        };
        state.number("value", (0..state.rows()).find(is_it).unwrap()).unwrap()
    }

    /// The forward rate at each sample of the table `series`, with its time.
    fn rates(&self, direction: &str) -> Vec<(f64, f64)> {
        let series = self.table("series");
        let is_it = |row: &usize| {
            series.text("name", *row) == Some(direction) && series.text("quantity", *row) == Some("rate_bps")
        };
        let number = |column, row| series.number(column, row).unwrap();
        (0..series.rows()).filter(is_it).map(|row| (number("time_s", row), number("value", row))).collect()
    }
}

fn run(text: &str) -> Outcome {
    let document =
        read::toml(text, "test").and_then(|d| check(&d).map(|()| d)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut run = Session::new(&document.scenario, 1, Some(Box::new(Log::default()))).unwrap();
    run.complete().unwrap();
    let mut results = run.finish();
    let log = results.observer.take().unwrap().downcast::<Log>().unwrap().0;
    Outcome { results, log }
}

/// A link `radio` of 8 Mbit/s, over which 1000 B take 1 ms, and one packet of them each `interval`
/// for as long as the run lasts.
fn scenario(duration: &str, delay: &str, queue: &str, interval: &str, rest: &str) -> String {
    format!(
        "duration = '{duration}'\n\
         [[link]]\nname = 'radio'\nbetween = ['router', 'mobile']\nrate = '8 Mbit/s'\ndelay = '{delay}'\n{queue}\n\
         [[flow]]\nfrom = 'router'\nto = 'mobile'\ntransport.udp.header = '0 B'\n\
         source.cbr = {{ interval = '{interval}', size = '1000 B' }}\n\
         [record]\nhandovers = true\nstate = true\n{rest}"
    )
}

fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// Arrivals in the order of their times: packets `first`, `first` + 1, … from `at` on, each 1 ms
/// after the one before; times in microseconds.
fn train(first: u64, at: u64, packets: u64) -> Vec<(u64, Instant)> {
    (0..packets).map(|n| (first + n, us(at + n * 1_000))).collect()
}

#[test]
fn what_is_in_flight_over_wlan_takes_a_fifth_of_a_second_over_umts() {
    // 3.84 Mbit/s · 20 ms are 9.6 kB: 96 packets of 100 B, which take 0.2 s at 384 kbit/s. One more
    // is in service: the source is 0.1 ms behind the change, of 0.2083 ms that a packet takes.
    for queue in QUEUES {
        let outcome = run(&format!(
            "duration = '11 s'\n\
             [[link]]\nname = 'radio'\nbetween = ['router', 'mobile']\nrate = '3.84 Mbit/s'\ndelay = '20 ms'\n{queue}\n\
             [[flow]]\nfrom = 'router'\nto = 'mobile'\nstart = '0.1 ms'\ntransport.udp.header = '0 B'\n\
             source.cbr = {{ rate = '3.84 Mbit/s', size = '100 B' }}\n\
             [[change]]\nat = '10 s'\nlink = 'radio'\nrate = '384 kbit/s'\ndelay = '40 ms'\nin_flight = 'move'\n\
             [record]\nhandovers = true\n"
        ));
        let arrivals = outcome.arrivals();
        let change = Instant::from_secs_f64(10.0);
        let before = arrivals.iter().take_while(|(_, at)| *at < change).count() as u64;
        // 800 bit take 2 083 333 1/3 ns.
        let resent = |n: u64| change + Duration::from_nanos(n * 6_250_000 / 3) + Duration::from_millis(40);
        let expected: Vec<_> = (1..=97).map(|n| (before + n - 1, resent(n))).collect();
        assert_eq!(arrivals[before as usize..][..97], expected, "{queue}");
        // The 96 take 0.2 s.
        assert_eq!(resent(96).since(change), Duration::from_millis(240));
        // They are the last of the 48 000 that were written, 4800 a second. Arriving packets wait behind them.
        assert_eq!(before + 97, 48_000);
        assert_eq!(arrivals[before as usize + 97], (before + 97, resent(98)));
        let row = |column: &str| outcome.forward(0, column);
        assert_eq!(row("time_s"), Some(10.0));
        assert_eq!((row("old_rate_kbps"), row("new_rate_kbps")), (Some(3840.0), Some(384.0)));
        assert_eq!((row("old_delay_ms"), row("new_delay_ms")), (Some(20.0), Some(40.0)));
        assert_eq!((row("reordered_packets"), row("drops")), (Some(0.0), Some(0.0)));
        // Nothing arrives until the first one is there again.
        assert!((row("outage_ms").unwrap() - (40.0 + 2.083_333)).abs() < 1e-9, "{:?}", row("outage_ms"));
    }
}

#[test]
fn an_interruption_delays_what_follows() {
    // Packet k is written and starts at k ms, and arrives at k + 21 ms.
    for queue in QUEUES {
        let change = "[[change]]\nat = '1000.5 ms'\nlink = 'radio'\ninterruption = '300 ms'\n";
        let outcome = run(&scenario("2 s", "20 ms", queue, "1 ms", change));
        // The packet in service keeps its end. The next starts when the interruption is over.
        let mut expected = train(0, 21_000, 1_001);
        expected.extend(train(1_001, 1_300_500 + 21_000, 679));
        let arrivals = outcome.arrivals();
        assert_eq!(arrivals[..expected.len()], expected, "{queue}");
        assert_eq!(arrivals.len(), expected.len());
        // From the arrival of packet 1000 at 1.021 s to that of 1001.
        assert_eq!(outcome.forward(0, "outage_ms"), Some(300.5));
        assert_eq!(outcome.forward(0, "longest_gap_ms"), Some(300.5));
        assert_eq!(outcome.forward(0, "time_to_90pct_s"), Some(0.321));
        // 980 to 1000 were under way.
        assert_eq!(outcome.forward(0, "packets"), Some(21.0 + 679.0));
        assert_eq!(outcome.forward(0, "reordered_packets"), Some(0.0));
        // On the way back nothing was sent.
        let table = outcome.table("handovers");
        assert_eq!(table.rows(), 2);
        assert_eq!(table.text("link", 1), Some("radio mobile>router"));
        for missing in ["outage_ms", "longest_gap_ms", "time_to_90pct_s"] {
            assert_eq!(table.number(missing, 1), None, "{missing}");
        }
        assert_eq!(table.number("packets", 1), Some(0.0));
    }
}

/// A handover at 10.25 ms with an overlap of 5 ms. Packet k is written at k/2 ms and starts at k ms:
/// 0 to 10 have started, 11 to 20 wait, and the old access sends 11 to 14 in time.
fn overlap(queue: &str, link: &str) -> Outcome {
    let change = "[[change]]\nat = '10250 us'\nlink = 'radio'\ndelay = '10 ms'\noverlap = '5 ms'\n";
    run(&scenario("100 ms", "50 ms", &format!("{queue}\n{link}"), "500 us", change))
}

#[test]
fn an_overlap_lets_the_new_access_be_first() {
    for queue in QUEUES {
        let outcome = overlap(queue, "");
        let old = train(0, 51_000, 15);
        // 15 and those behind it go by the new access, 11.25 ms after the handover and on.
        let mut expected = [train(15, 21_250, 79), old].concat();
        expected.sort_by_key(|(_, at)| *at);
        assert_eq!(outcome.arrivals()[..expected.len()], expected, "{queue}");
        assert_eq!(outcome.forward(0, "reordered_packets"), Some(15.0));
        assert_eq!(outcome.forward(0, "outage_ms"), Some(11.0), "nothing had arrived before");
        assert_eq!(outcome.forward(0, "longest_gap_ms"), Some(1.0));
    }
}

#[test]
fn without_reordering_an_overlap_keeps_the_order() {
    for queue in QUEUES {
        let outcome = overlap(queue, "reorder = false");
        // Behind the last of the old ones, each after its transmission time.
        let expected = train(0, 51_000, 49);
        assert_eq!(outcome.arrivals(), expected, "{queue}");
        assert_eq!(outcome.forward(0, "reordered_packets"), Some(0.0));
    }
}

#[test]
fn what_is_forwarded_comes_to_the_new_queue_later() {
    // Packet k is written at k/2 ms and starts at k ms. At 30.25 ms 10 to 29 are in flight, 30 is in
    // service, and 31 to 60 wait.
    for queue in QUEUES {
        let change = "[[change]]\nat = '30.25 ms'\nlink = 'radio'\nin_flight = 'forward'\nqueue = 'forward'\n\
                      forwarding = '5 ms'\n";
        let outcome = run(&scenario("200 ms", "20 ms", queue, "500 us", change));
        // The new access is busy from 30.5 ms on, with packets written until 35.25 ms, then with forwarded ones, then with the rest.
        let mut expected = train(0, 21_000, 10);
        let order = (61..=70).chain(10..=60).chain(71..);
        expected.extend(order.take(149).zip(0..).map(|(number, n)| (number, us(51_500 + n * 1_000))));
        assert_eq!(outcome.arrivals(), expected, "{queue}");
        assert_eq!(outcome.forward(0, "reordered_packets"), Some(51.0));
        assert_eq!(outcome.forward(0, "drops"), Some(0.0));
    }
}

#[test]
fn forwarded_packets_keep_their_order_and_start_together() {
    for queue in QUEUES {
        let change = "[[change]]\nat = '250.5 ms'\nlink = 'radio'\nrate = '4 Mbit/s'\ndelay = '10 ms'\n\
                      in_flight = 'forward'\nforwarding = '30 ms'\n";
        let outcome = run(&scenario("400 ms", "200 ms", queue, "100 ms", change));
        // 0 arrives at 201 ms. 1 and 2 are forwarded: they come at 280.5 ms and take 2 ms each. 3 is
        // written at 300 ms.
        let expected = [(0, us(201_000)), (1, us(292_500)), (2, us(294_500)), (3, us(312_000))];
        assert_eq!(outcome.arrivals(), expected, "{queue}");
        assert_eq!(outcome.forward(0, "outage_ms"), Some(42.0));
        assert_eq!(outcome.forward(0, "longest_gap_ms"), Some(91.5));
    }
}

#[test]
fn copies_are_duplicates_and_hide_no_loss() {
    // Number 1000 is lost. At 1000.5 ms 980 to 999 are in flight: with 1000 lost the link is idle.
    for queue in QUEUES {
        let change = "[[change]]\nat = '1000.5 ms'\nlink = 'radio'\nin_flight = 'copy'\n";
        let link = format!("{queue}\nloss.list.drop = [7, 1000]");
        let outcome = run(&scenario("2 s", "20 ms", &link, "1 ms", change));
        let numbers: Vec<u64> = outcome.arrivals().iter().map(|(number, _)| *number).collect();
        let twice: Vec<u64> = (0..2_000).filter(|n| numbers.iter().filter(|m| *m == n).count() == 2).collect();
        assert_eq!(twice, (980..1_000).collect::<Vec<_>>(), "{queue}");
        // Copies are sent from 1000.5 ms to 1020.5 ms, while 1001 to 1020 are written: from then on
        // arrivals are 19.5 ms late. 1959 arrives at 1.9995 s.
        assert_eq!(outcome.receiver("received_packets"), 1_960.0 - 2.0 + 20.0);
        assert_eq!(outcome.receiver("duplicate_packets"), 20.0);
        assert_eq!(outcome.receiver("lost_packets"), 2.0);
        assert_eq!(outcome.receiver("received_bytes"), 1_958_000.0);
        // A copy arrives after its original, which is no reordering.
        assert_eq!(outcome.forward(0, "reordered_packets"), Some(0.0));
    }
}

#[test]
fn what_a_handover_drops_stands_under_its_cause() {
    // At 30.75 ms packets 10 to 29 are in flight, 30 is in service, and 31 to 61 wait. 62 is the first
    // over the new link: it starts at 31 ms. At 60 ms 91 to 119 wait, which come to a link that is
    // down. Packets written while it is down have no way to it.
    for queue in QUEUES {
        let change = "[[change]]\nat = '30.75 ms'\nlink = 'radio'\nin_flight = 'lose'\nqueue = 'empty'\n\
                      [[change]]\nat = '60 ms'\nlink = 'radio'\nup = false\nqueue = 'forward'\nforwarding = '10 ms'\n\
                      [[change]]\nat = '80 ms'\nlink = 'radio'\nup = true\n";
        let outcome = run(&scenario("100 ms", "20 ms", queue, "500 us", change));
        let lost: Vec<u64> = (10..=61).collect();
        let mut handover = outcome.dropped(Cause::Handover);
        handover.sort_unstable();
        assert_eq!(handover, lost, "{queue}");
        assert_eq!(outcome.dropped(Cause::LinkDown), (91..=119).collect::<Vec<_>>());
        assert_eq!(outcome.dropped(Cause::NoRoute), (120..=159).collect::<Vec<_>>());
        let row = |n, column| outcome.forward(n, column).unwrap();
        assert_eq!((row(0, "drops"), row(0, "drops_handover"), row(0, "drops_link_down")), (52.0, 52.0, 0.0));
        assert_eq!((row(1, "drops"), row(1, "drops_handover"), row(1, "drops_link_down")), (29.0, 0.0, 29.0));
        assert_eq!(row(2, "drops"), 0.0);
        assert_eq!((row(1, "old_rate_kbps"), row(1, "new_rate_kbps")), (8_000.0, 0.0));
        assert_eq!((row(2, "old_rate_kbps"), row(2, "new_rate_kbps")), (0.0, 8_000.0));
        // 62 arrives at 52 ms, one that is written at 80 ms after the end of the run.
        assert_eq!(row(0, "outage_ms"), 21.25);
        assert_eq!((outcome.forward(1, "outage_ms"), outcome.forward(2, "outage_ms")), (None, None));
        // An arrival at the instant of a change belongs to what follows.
        assert_eq!([0, 1, 2].map(|n| row(n, "packets")), [8.0, 20.0, 1.0]);
    }
}

#[test]
fn losses_after_a_handover_last_as_long_as_they_should() {
    // The list counts what it sees: 2 is lost, and the one behind the first thousand, which it sees
    // when the other model is gone.
    for queue in QUEUES {
        let change = "[[change]]\nat = '1000 ms'\nlink = 'radio'\nloss.bernoulli.p = 1\nloss_for = '100 ms'\n";
        let link = format!("{queue}\nloss.list.drop = [2, 1000, 1001]");
        let outcome = run(&scenario("2 s", "20 ms", &link, "1 ms", change));
        let expected: Vec<u64> = [2].into_iter().chain(1_000..1_100).chain([1_100, 1_101]).collect();
        assert_eq!(outcome.dropped(Cause::Loss), expected, "{queue}");
        assert_eq!(outcome.forward(0, "drops_loss"), Some(102.0));
        assert_eq!(outcome.receiver("lost_packets"), 103.0);
        // 999 is out at 1 s and arrives at 1.02 s, 1102 at 1.123 s.
        assert_eq!(outcome.forward(0, "longest_gap_ms"), Some(103.0));
    }
}

#[test]
fn a_ramp_has_ten_steps_in_each_direction() {
    let change = "[[change]]\nat = '1 s'\nlink = 'radio'\nrate = '4 Mbit/s'\nramp = '200 ms'\n";
    let text = scenario("2 s", "20 ms", &format!("{}\nreverse.rate = '1 Mbit/s'", QUEUES[0]), "1 ms", change);
    // Samples come before changes of their instant, so they lie between steps.
    let text = text.replace("state = true", "state = true\nseries = '10 ms'");
    let outcome = run(&text);
    for (direction, from) in [("radio router>mobile", 8e6), ("radio mobile>router", 1e6)] {
        let rates = outcome.rates(direction);
        assert_eq!(rates.len(), 201);
        for (at, rate) in rates {
            let steps = (((at - 1.0) / 0.02 - 1e-9).floor()).clamp(0.0, 10.0);
            let expected = from + (4e6 - from) * steps / 10.0;
            assert!((rate - expected).abs() < 1e-6, "{direction} at {at} s: {rate}, expected {expected}");
        }
    }
    // One change, one row; it ends at the goal.
    assert_eq!(outcome.table("handovers").rows(), 2);
    assert_eq!(outcome.forward(0, "old_rate_kbps"), Some(8_000.0));
    assert_eq!(outcome.forward(0, "new_rate_kbps"), Some(4_000.0));
}

#[test]
fn another_change_of_the_rate_ends_a_ramp() {
    let changes = "[[change]]\nat = '1 s'\nlink = 'radio'\nrate = '4 Mbit/s'\nramp = '100 ms'\n\
                   [[change]]\nat = '1.035 s'\nlink = 'radio'\ndelay = '30 ms'\n\
                   [[change]]\nat = '1.055 s'\nlink = 'radio'\nrate = '1 Mbit/s'\n";
    let text = scenario("2 s", "20 ms", QUEUES[0], "1 ms", changes).replace("state = true", "series = '10 ms'");
    let outcome = run(&text);
    let late: Vec<f64> = outcome.rates("radio router>mobile")[103..].iter().map(|(_, rate)| *rate).collect();
    assert_eq!(late[..4], [7.2e6, 6.8e6, 6.4e6, 1e6]);
    assert!(late[4..].iter().all(|rate| *rate == 1e6), "{late:?}");
    // The change between them tells where the rate is going.
    let rates = |n| (outcome.forward(n, "old_rate_kbps").unwrap(), outcome.forward(n, "new_rate_kbps").unwrap());
    assert_eq!([rates(0), rates(1), rates(2)], [(8e3, 4e3), (6.8e3, 4e3), (6e3, 1e3)]);
}

/// To and fro, five times each.
const PING_PONG: &str = "[[change]]\nat = '1 s'\nlink = 'radio'\nrate = '1 Mbit/s'\ndelay = '80 ms'\nin_flight = 'move'\n\
                         loss.bernoulli.p = 0.3\nloss_for = '150 ms'\nrepeat = { every = '600 ms', times = 5 }\n\
                         [[change]]\nat = '1.3 s'\nlink = 'radio'\nrate = '8 Mbit/s'\ndelay = '20 ms'\n\
                         repeat = { every = '600 ms', times = 5 }\n";

#[test]
fn repeated_changes_come_at_their_instants() {
    let outcome = run(&scenario("5 s", "20 ms", QUEUES[0], "2 ms", PING_PONG));
    let table = outcome.table("handovers");
    assert_eq!(table.rows(), 20);
    for n in 0..10 {
        let down = n % 2 == 0;
        let row = |column| outcome.forward(n, column).unwrap();
        assert!((row("time_s") - (1.0 + 0.3 * n as f64)).abs() < 1e-12, "{n}");
        assert_eq!(row("new_rate_kbps"), if down { 1_000.0 } else { 8_000.0 });
        assert_eq!(row("new_delay_ms"), if down { 80.0 } else { 20.0 });
        // 75 packets come in 150 ms, of which 0.3 · 75 ± 4 standard deviations are lost.
        assert!(if down { (6.0..=39.0).contains(&row("drops_loss")) } else { row("drops_loss") == 0.0 });
    }
}

#[test]
fn repeated_changes_written_one_by_one_are_the_same() {
    let text = scenario("5 s", "20 ms", QUEUES[0], "2 ms", PING_PONG);
    let expanded = expand::toml(&read::toml(&text, "text").unwrap().scenario);
    assert_eq!(expanded.matches("[[change]]").count(), 10);
    assert!(!expanded.contains("repeat"), "{expanded}");
    let (short, long) = (run(&text), run(&expanded));
    assert_eq!(short.log, long.log);
    for name in ["flows", "links", "drops", "state", "handovers"] {
        assert_eq!(short.results.table(name), long.results.table(name), "{name}");
    }
}

#[test]
fn the_new_rate_is_reached_when_nine_tenths_of_it_arrive() {
    // The link goes from 4 to 8 Mbit/s at 1 s. A second flow begins at 1.5 s, and fills it from
    // 1.521 s on, or fills it to 7/8. In 0.2 s 180 packets are due: 20 in the 40 ms before, and 160.
    for (rate, reached) in [("3 Mbit/s", None), ("4 Mbit/s", Some(0.521 - 0.04))] {
        let flow = format!(
            "[[flow]]\nname = 'second'\nfrom = 'router'\nto = 'mobile'\nstart = '1.5 s'\n\
             transport.udp.header = '0 B'\nsource.cbr = {{ rate = '{rate}', size = '1000 B' }}\n\
             [[change]]\nat = '1 s'\nlink = 'radio'\nrate = '8 Mbit/s'\n"
        );
        let text = scenario("3 s", "20 ms", QUEUES[0], "2 ms", &flow);
        let outcome = run(&text.replace("rate = '8 Mbit/s'\ndelay", "rate = '4 Mbit/s'\ndelay"));
        match (outcome.forward(0, "time_to_90pct_s"), reached) {
            // Packets are 2 ms apart there.
            (Some(got), Some(reached)) => assert!((got - reached).abs() <= 0.002, "{got}, expected {reached}"),
            (got, reached) => assert_eq!(got, reached),
        }
    }
}

#[test]
fn on_a_slow_link_the_new_rate_is_that_of_ten_large_packets() {
    // 15 kB take 1.25 s at 96 kbit/s, a packet of 1000 B 83.3 ms. The source fills the link, so the
    // first packet over it begins the period.
    let change = "[[change]]\nat = '1 s'\nlink = 'radio'\nrate = '96 kbit/s'\nin_flight = 'move'\n";
    let outcome = run(&scenario("4 s", "20 ms", QUEUES[0], "1 ms", change));
    let first = 0.02 + 8_000.0 / 96_000.0;
    assert!((outcome.forward(0, "time_to_90pct_s").unwrap() - first).abs() < 1e-8);
    // Before that much has arrived it is not known: 90 % of it are 14 packets, and the first.
    let short = run(&scenario("2.26 s", "20 ms", QUEUES[0], "1 ms", change));
    assert_eq!(short.forward(0, "time_to_90pct_s"), None);
    assert_eq!(short.forward(0, "packets"), Some(14.0));
}

#[test]
fn recording_handovers_alters_nothing() {
    for rest in [PING_PONG, "[[change]]\nat = '2 s'\nlink = 'radio'\noverlap = '20 ms'\ndelay = '1 ms'\n"] {
        let text = scenario("5 s", "20 ms", QUEUES[1], "1 ms", rest);
        let (with, without) = (run(&text), run(&text.replace("handovers = true", "handovers = false")));
        assert_eq!(with.log, without.log);
        assert!(without.results.table("handovers").is_none());
        for name in ["flows", "links", "drops", "state"] {
            assert_eq!(with.results.table(name), without.results.table(name), "{name}");
        }
    }
}

/// Packets of 1 ms back to back, of which 1000 ms are in flight at the change: their time counts, whatever becomes of them.
#[test]
fn a_link_was_busy_with_packets_that_are_taken_out_of_its_flight() {
    for (queue, fate) in QUEUES.iter().flat_map(|queue| ["lose", "move", "forward", "copy"].map(|fate| (queue, fate))) {
        let change = format!("[[change]]\nat = '3000.5 ms'\nlink = 'radio'\nin_flight = '{fate}'\n");
        let outcome = run(&scenario("4 s", "1 s", queue, "1 ms", &change));
        let busy = outcome.table("links").number("utilisation_pct", 0).unwrap();
        assert!((99.9..=100.0).contains(&busy), "{queue}, {fate}: {busy} %");
    }
}

/// The time that packets have flown is none that they waited, though they wait once more.
#[test]
fn packets_that_are_put_back_begin_to_wait() {
    for queue in ["droptail", "codel"] {
        let text = format!(
            "duration = '3 s'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', delay = '300 ms', queue = '{queue}' }}]
            flow = [{{ name = 'f', from = 'a', to = 'b', transport = 'udp', source.cbr = {{ interval = '20 ms', size = '1000 B' }} }}]
            change = [{{ at = '2.5 s', link = 'l', in_flight = 'move' }}]"
        );
        let results = scenario::run(&text, 1);
        let waited = results.table("links").unwrap().number("queue_ms_p95", 0).unwrap();
        // Fifteen packets at most, of 8.2 ms each, are put back at once: every tenth of those that arrive.
        assert!((60.0..130.0).contains(&waited), "{queue}: {waited}");
    }
}
