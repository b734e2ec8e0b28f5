//! Do layered sessions share a link as their controllers say?

use std::fmt::Write as _;

use crate::common::scenario::{column, rows, run, series, state};
use lasthop_core::scenario::session::Results;
use lasthop_core::scenario::{check, read};

/// Two layered sessions of 15 layers of 50 kbit/s and some TCP flows over one link of 1.5 Mbit/s and 40 ms with queue-phase control.
fn shared(duration: u32, tcp: u32, lines: &str) -> String {
    let mut text = format!(
        "duration = \"{duration} s\"\nrecord.state = true\nrecord.series = \"1 s\"\nrecord.quantities = [\"layers\"]\n\
         [[link]]\nname = \"bottleneck\"\nbetween = [\"a\", \"b\"]\nrate = \"1.5 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"queue_phase\"\n\
         reverse.queue = \"droptail\"\n"
    );
    for n in 0..2 + tcp {
        let _ = write!(
            text,
            "[[link]]\nname = \"s{n}\"\nbetween = [\"s{n}\", \"a\"]\nrate = \"5 Mbit/s\"\ndelay = \"2 ms\"\n\
             [[link]]\nname = \"d{n}\"\nbetween = [\"b\", \"d{n}\"]\nrate = \"5 Mbit/s\"\ndelay = \"2 ms\"\n"
        );
    }
    for n in 0..2 {
        let _ = write!(
            text,
            "[[group]]\nname = \"session {n}\"\nmembers = [\"d{n}\"]\n[[flow]]\nname = \"layers {n}\"\nfrom = \"s{n}\"\n\
             to = \"session {n}\"\ntransport.layered.control = \"empty_layer\"\n{lines}\n"
        );
    }
    for n in 2..2 + tcp {
        let _ = write!(
            text,
            "[[flow]]\nname = \"tcp {n}\"\nfrom = \"s{n}\"\nto = \"d{n}\"\ntransport.tcp.variant = \"newreno\"\n\
             transport.tcp.rto.min = \"1 s\"\ntransport.tcp.segment = \"960 B\"\n"
        );
    }
    text
}

const LINK: [(&str, &str); 2] = [("kind", "link"), ("name", "bottleneck a>b")];

fn dropped(results: &Results, cause: &str) -> f64 {
    let table = results.table("drops").unwrap();
    rows(table, &[("place", "bottleneck a>b"), ("cause", cause)])
        .iter()
        .filter_map(|row| table.number("packets", *row))
        .sum()
}

/// kB/s on the wire of each flow: of layers payload of 972 in 1000 bytes, of TCP 960 in 1000.
fn rates(results: &Results) -> Vec<f64> {
    let sizes = [972.0, 972.0, 960.0, 960.0, 960.0];
    column(results, "flows", "goodput_kbps")
        .iter()
        .zip(sizes)
        .map(|(kbps, payload)| kbps / 8.0 * 1000.0 / payload)
        .collect()
}

/// 2·15·50 kbit/s are the whole link: without TCP every layer is open, and nothing is blocked.
#[test]
fn without_tcp_the_link_is_filled_with_layers() {
    let results = run(&shared(200, 0, ""), 1);
    assert_eq!(state(&results, &LINK, "blocks"), 0.0);
    assert_eq!(state(&results, &LINK, "open_layers"), 30.0);
    for n in 0..2 {
        let layers = series(&results, &format!("layers {n} at d{n}"), "layers");
        assert_eq!(layers.last().unwrap().1, 15.0);
    }
}

/// Five sessions of 187.5 kB/s: 37.5 each if layers and TCP get the same, and 34.7 and 41.7 where layers have a fifth more; within 15 %.
#[test]
fn layers_and_tcp_share_the_link() {
    let results = run(&shared(600, 3, ""), 1);
    let rates = rates(&results);
    for (n, rate) in rates.iter().enumerate() {
        let (least, most) = if n < 2 { (37.5, 41.7) } else { (34.7, 37.5) };
        assert!((0.85 * least..=1.15 * most).contains(rate), "{rates:?}");
    }
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    assert!(sum * sum / (5.0 * squares) >= 0.98, "{rates:?}");
    assert!(dropped(&results, "blocked") > 0.0);
    // One layer at least is always let through, and one waits: neither session is starved.
    assert!(state(&results, &LINK, "phase_1_s") < 0.05 * 600.0);
}

/// A receiver that subscribes to everything gets no more than before, and harms no other: half a layer, 3.1 kB/s, in the mean over eight
/// phases in which TCP can begin.
#[test]
fn a_receiver_that_takes_all_layers_gains_nothing() {
    let mean = |lines: &str| {
        let mut sums = [0.0; 5];
        for phase in 0..8 {
            let text = shared(600, 3, lines)
                .replace("transport.tcp.variant", &format!("start = \"{}37 ms\"\ntransport.tcp.variant", phase));
            for (sum, rate) in sums.iter_mut().zip(rates(&run(&text, 1))) {
                *sum += rate / 8.0;
            }
        }
        sums
    };
    let clean = mean("");
    let greedy = mean("transport.layered.exceptions = [{ node = \"d0\", control = \"fixed\" }]");
    for (before, after) in clean.iter().zip(&greedy) {
        assert!((before - after).abs() < 3.1, "{clean:?} {greedy:?}");
    }
}

/// A receiver that takes part in a session already gets no layer for joining again: the first experiment comes after the join timer.
#[test]
fn who_joins_a_session_twice_has_one_layer() {
    let text = "duration = '14 s'
        record.state = true
        link = [{ name = 'up', between = ['s', 'h'], rate = '1 Mbit/s' }]
        group = [{ name = 'g', members = ['h'], join = [{ at = '5 s', members = ['h'] }] }]
        flow = [{ from = 's', to = 'g', transport.layered = { layers = ['50 kbit/s', '50 kbit/s'], control.CONTROL } }]";
    for (control, layers) in [("rlm = { join = '50 s' }", 1.0), ("fixed.layers = 1", 1.0)] {
        let results = run(&text.replace("CONTROL", control), 1);
        assert_eq!(state(&results, &[], "layers"), layers, "{control}");
    }
}

/// A session over a link whose queue controls it; its second layer sends a packet each 2.67 s. Five seconds of 30 kbit/s block it, and soon
/// after it is released again, once for each block.
#[test]
fn a_slow_layer_stays_released() {
    let results = run(
        "duration = '60 s'
        record.state = true
        link = [
            { name = 'up', between = ['s', 'a'], rate = '10 Mbit/s' },
            { name = 'l', between = ['a', 'h'], rate = '400 kbit/s', queue.queue_phase.limit = '10 packets', reverse.queue = 'droptail' },
        ]
        group = [{ name = 'g', members = ['h'] }]
        flow = [{ from = 's', to = 'g', transport.layered = { layers = ['50 kbit/s', '3 kbit/s'], control = 'fixed' } }]
        change = [{ link = 'l', at = '10 s', rate = '30 kbit/s' }, { link = 'l', at = '15 s', rate = '400 kbit/s' }]",
        1,
    );
    let of = |quantity: &str| state(&results, &[("kind", "link"), ("name", "l a>h")], quantity);
    assert!(of("blocks") > 0.0);
    assert_eq!((of("releases"), of("waiting_layers"), of("open_layers")), (of("blocks"), 0.0, 2.0));
}

/// A stream fills the queue a second or two after `h2` has left the third layer: one block, of a layer that flows, makes room.
#[test]
fn a_layer_that_has_ended_is_not_blocked() {
    for start in ["11.3 s", "12.6 s"] {
        let text = "duration = '14 s'
            record = { state = true, series = '10 ms', quantities = ['blocks'] }
            link = [
                { name = 'up', between = ['s', 'a'], rate = '100 Mbit/s' },
                { name = 'l', between = ['a', 'b'], rate = '400 kbit/s', queue.queue_phase.limit = '10 packets', reverse.queue = 'droptail' },
                { name = 'c', between = ['b', 'h1'], rate = '100 Mbit/s' },
                { name = 'd', between = ['b', 'h2'], rate = '100 Mbit/s' },
            ]
            group = [{ name = 'g', members = ['h1', 'h2'], leave_latency = '0 s', leave = [{ at = '10 s', members = ['h2'] }] }]
            [[flow]]
            from = 's'
            to = 'g'
            transport.layered.layers = ['50 kbit/s', '50 kbit/s', '50 kbit/s']
            transport.layered.control.fixed.layers = 2
            transport.layered.exceptions = [{ node = 'h2', control.fixed.layers = 3 }]
            [[flow]]
            from = 's'
            to = 'h1'
            start = 'START'
            transport = 'udp'
            source.cbr = { interval = '2 ms', size = '972 B' }";
        let results = run(&text.replace("START", start), 1);
        let blocks = series(&results, "l a>b", "blocks");
        assert_eq!(blocks.last().map(|(_, blocks)| *blocks), Some(1.0), "{start}");
    }
}

/// RLM alone on a link that carries three of its five layers: 32 + 64 + 128 kbit/s fit into 300 kbit/s, 256 more do not.
#[test]
fn rlm_finds_the_layers_that_fit() {
    let text = shared(
        600,
        0,
        "transport.layered.layers = [\"32 kbit/s\", \"64 kbit/s\", \"128 kbit/s\", \"256 kbit/s\", \"1 Mbit/s\"]",
    )
    .replace("control = \"empty_layer\"", "control = \"rlm\"")
    .replace("rate = \"1.5 Mbit/s\"", "rate = \"600 kbit/s\"")
    .replace("queue = \"queue_phase\"", "queue.droptail.limit = \"50 packets\"");
    let results = run(&text, 1);
    for n in 0..2 {
        let late: Vec<f64> = series(&results, &format!("layers {n} at d{n}"), "layers")
            .into_iter()
            .filter(|(at, _)| *at > 300.0)
            .map(|(_, l)| l)
            .collect();
        let share = late.iter().filter(|layers| **layers == 3.0).count() as f64 / late.len() as f64;
        assert!(share > 0.7, "session {n} has three layers {share} of the time");
    }
}

/// Viewers that wait for a session learn nothing of the time that a layer takes: it begins when they have waited for 100 s, and T_D stays 5 s.
#[test]
fn waiting_for_a_session_is_no_detection_time() {
    let text = "duration = '200 s'
        record.state = true
        link = [{ name = 'l', between = ['s', 'd'], rate = '500 kbit/s', delay = '20 ms' }]
        group = [{ name = 'tv', members = ['d'] }]
        flow = [{
            name = 'show', from = 's', to = 'tv', start = '100 s', source = 'greedy',
            transport.layered = { layers = ['32 kbit/s', '64 kbit/s', '128 kbit/s', '256 kbit/s'], control = 'rlm' },
        }]";
    let results = run(text, 1);
    let detection = state(&results, &[("kind", "receiver"), ("name", "show")], "detection_s");
    assert!((detection - 5.0).abs() < 1.0, "{detection} s");
}

#[test]
fn sessions_that_make_no_sense_are_refused() {
    let text = "duration = '14 s'
        link = [{ name = 'up', between = ['s', 'h'], rate = '1 Mbit/s' }]
        group = [{ name = 'g', members = ['h'], GROUP }]
        flow = [{ from = 's', to = 'g', transport.layered = { LAYERED } }]";
    for (group, layered, words) in [
        ("", "control.rlm = { detection = '0 s', deviation = '0 s' }", "a detection time of 0 s"),
        // Nothing but headers.
        ("", "packet = '28 B'", "expected 29 B to 65535 B"),
        (
            "leave = [{ at = '5 s', members = ['h'] }], join = [{ at = '5 s', members = ['h'] }]",
            "",
            "a leave at 5 s, when the same node joins",
        ),
    ] {
        let document = read::toml(&text.replace("GROUP", group).replace("LAYERED", layered), "test.toml").unwrap();
        let error = check(&document).unwrap_err().to_string();
        assert!(error.contains(words), "{group} {layered}: {error}");
    }
}

/// One layer of 50 kbit/s would do: a source of small writes fills packets with them, and one that pauses is not made up for in a burst.
#[test]
fn layers_carry_what_a_slow_source_writes() {
    for (source, kbps) in [
        ("cbr = { rate = '100 kbit/s', size = '1000 B' }", 100.0),
        ("cbr = { rate = '40 kbit/s', size = '100 B' }", 40.0),
    ] {
        let text = format!(
            "duration = '60 s'
            record.series = '1 s'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '10 ms' }}]
            group = [{{ name = 'g', members = ['b'] }}]
            flow = [{{ name = 'f', from = 'a', to = 'g', transport = 'layered', source.{source} }}]"
        );
        let results = run(&text, 1);
        let sent = column(&results, "flows", "sent_packets")[0] * 972.0 * 8.0 / 60e3;
        assert!((sent / kbps - 1.0).abs() < 0.05, "{source}: {sent} kbit/s");
    }
    let text = "duration = '60 s'
        record = { series = '100 ms', quantities = ['throughput_kbps'] }
        link = [{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '10 ms' }]
        group = [{ name = 'g', members = ['b'] }]
        flow = [{
            name = 'f', from = 'a', to = 'g', transport.layered.control.fixed.layers = 15,
            source.onoff = { rate = '5 Mbit/s', size = '972 B', on = '1 s', off = '10 s', distribution = 'constant' },
        }]";
    let results = run(text, 1);
    let most = series(&results, "l a>b", "throughput_kbps").iter().map(|sample| sample.1).fold(0.0, f64::max);
    // All layers together have 750 kbit/s; at a beginning there is one packet of each.
    assert!((700.0..=750.0 + 15.0 * 80.0).contains(&most), "{most} kbit/s");
}
