//! Does a group get rid of a receiver whose radio stays bad, and only of such a one?

use crate::common::scenario::{rows, run, series, state};
use lasthop_core::scenario::session::Results;
use lasthop_core::scenario::{check, read};

/// Ten terminals in cells of their own behind one RNC, with room for 48 packets a second each; the radio of one is bad (`loss` lists when and
/// how much). Rejections in front of the radio are indicated, and losses of the radio cost no rate.
fn group(transport: &str, loss: &str, more: &str) -> String {
    let mut text = format!(
        "duration = '400 s'\nrecord = {{ series = '1 s', state = true, quantities = ['expelled'] }}
        link = [
            {{ name = 'wire', between = ['server', 'router'], rate = '10 Mbit/s', delay = '50 ms' }},
            {{ name = 'iu', between = ['router', 'rnc'], rate = '10 Mbit/s', delay = '10 ms' }},
        ]
        [[group]]
        name = 'all'
        members = [{}]
        {more}
        [[flow]]
        name = 'tv'
        from = 'server'
        to = 'all'
        transport.{transport} = {{ classifier = 'indication', segment = '952 B' }}\n",
        (0..10).map(|n| format!("'nb{n}.ue[0]'")).collect::<Vec<_>>().join(", ")
    );
    for n in 0..10 {
        let loss = if n == 3 { loss } else { "" };
        text += &format!(
            "[[mbms]]\nname = 'nb{n}'\nrnc = 'rnc'\nues = 1\nrate = '384 kbit/s'\nqueue = '50 packets'\nloss_indication = 'edge'\n{loss}\n"
        );
    }
    text
}

/// The mean throughput of a terminal, in kbit/s on the wire.
fn goodput(results: &Results, terminal: &str, from: f64, until: f64) -> f64 {
    let all = series(results, terminal, "throughput_kbps");
    let values: Vec<f64> = all.iter().filter(|(at, _)| (from..until).contains(at)).map(|(_, value)| *value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn judged(results: &Results) -> [f64; 3] {
    ["expulsions", "readmissions", "expelled"].map(|of| state(results, &[("kind", "sender")], of))
}

/// The rate of the group is that of the bad radio until that one is out; then it climbs again. A
/// minute later that one may come back.
#[test]
fn a_group_is_rid_of_a_radio_that_stays_bad() {
    let bad = "loss.schedule = { steps = [['50 s', 0.2]], attempts = 2 }";
    let results = run(&group("tfmcc", bad, "expulsion = {}"), 1);
    let kept = run(&group("tfmcc", bad, ""), 1);
    let out: Vec<f64> =
        series(&results, "tv", "expelled").iter().filter(|(_, n)| *n > 0.0).map(|(at, _)| *at).collect();
    assert!(out[0] >= 80.0, "bad for 30 s at least: {}", out[0]);
    let [expulsions, readmissions, _] = judged(&results);
    assert!(expulsions >= 1.0 && readmissions >= 1.0, "{expulsions} {readmissions}");
    let other = |results: &Results, from: f64| goodput(results, "nb0.ue[0] down flow[0]", from, from + 40.0);
    let (rid, stuck) = (other(&results, out[0] + 20.0), other(&kept, out[0] + 20.0));
    // A packet that is lost after two attempts in a fifth of the cases takes 1 + √0.2 attempts.
    let bad_rate = 384.0 / (1.0 + 0.2f64.sqrt());
    assert!(stuck <= 1.02 * bad_rate && rid > 1.25 * bad_rate, "{bad_rate}: {rid}, {stuck}");
    assert_eq!(goodput(&results, "nb3.ue[0] down flow[0]", out[0] + 10.0, out[0] + 50.0), 0.0);
}

/// The radio loses no message of the manager. A receiver that leaves while it is expelled is not let in again.
#[test]
fn a_radio_that_loses_data_loses_no_order() {
    let bad = "loss.schedule = { steps = [['50 s', 0.2]], attempts = 2 }";
    for seed in [1, 6, 7] {
        let results = run(&group("tfmcc", bad, "expulsion = {}"), seed);
        let out = series(&results, "tv", "expelled").iter().find(|(_, n)| *n > 0.0).unwrap().0;
        let leaves = format!("leave = [{{ at = '{} s', members = ['nb3.ue[0]'] }}]\nexpulsion = {{}}", out + 20.0);
        let left = run(&group("tfmcc", bad, &leaves), seed);
        for (results, until) in [(results, out + 50.0), (left, 400.0)] {
            assert_eq!(
                goodput(&results, "nb3.ue[0] down flow[0]", out + 5.0, until),
                0.0,
                "seed {seed}, until {until}"
            );
            let orders = rows(results.table("drops").unwrap(), &[("flow", ""), ("cause", "radio")]);
            assert!(orders.is_empty(), "seed {seed}");
        }
    }
}

/// Losses that do not fill the queue in front of the radio are no reason, and neither is a queue that fills now and then.
#[test]
fn who_is_as_good_as_the_others_stays() {
    for transport in ["tfmcc", "pgmcc"] {
        let results = run(&group(transport, "", "expulsion = {}"), 1);
        assert_eq!(judged(&results), [0.0; 3], "{transport}");
    }
}

#[test]
fn what_cannot_expel_is_refused() {
    let refused = |text: &str| read::toml(text, "text").and_then(|document| check(&document)).unwrap_err().to_string();
    let text = group("tfmcc", "", "expulsion.ratio = 1.5");
    assert!(refused(&text).contains("a share of 1.5"), "{}", refused(&text));
    let text = group("tfmcc", "", "trees = 'instant'\nexpulsion = {}");
    assert!(refused(&text).contains("nobody can be taken out"), "{}", refused(&text));
    let text = "link = [{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s' }]
        duration = '1 s'
        group = [{ name = 'g', members = ['b'], expulsion = {} }]
        flow = [{ name = 'f', from = 'a', to = 'g', transport = 'udp', source = 'voice' }]";
    assert!(refused(text).contains("nobody reports over udp"), "{}", refused(text));
}
