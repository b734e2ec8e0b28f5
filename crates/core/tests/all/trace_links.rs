//! Links that follow a trace, as scenarios have them: traces are files beside the scenario or texts in it.

use std::path::{Path, PathBuf};

use lasthop_core::scenario;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::Scenario;

use crate::common::scenario::{column, run, series, state};

const FLOW: &str = "[[flow]]\nfrom = 'a'\nto = 'b'\n";

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lasthop-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn read(folder: &Path, link: &str) -> Result<Scenario, String> {
    let file = folder.join("s.toml");
    let text = format!("duration = '20 s'\n[[link]]\nname = 'cell'\nbetween = ['a', 'b']\n{link}\n{FLOW}");
    std::fs::write(&file, text).unwrap();
    let document = scenario::read::file(&file).map_err(|error| error.to_string())?;
    scenario::check(&document).map_err(|error| error.to_string())?;
    Ok(document.scenario)
}

/// One opportunity a millisecond is 12.032 Mbit/s, of which TCP has 1460 of 1500 bytes.
#[test]
fn tcp_fills_a_trace_from_a_file_as_one_in_the_text() {
    let folder = folder("fills");
    std::fs::write(folder.join("down.trace"), "1\n").unwrap();
    let named = read(&folder, "delay = '20 ms'\nrate = '5 Mbit/s'\ntrace.down = 'down.trace'").unwrap();
    let written = read(&folder, "delay = '20 ms'\nrate = '5 Mbit/s'\ntrace.down = '1'").unwrap();
    assert_eq!(named, written);
    let mut session = Session::new(&named, 1, None).unwrap();
    session.complete().unwrap();
    let results = session.finish();
    let mbps = column(&results, "flows", "goodput_kbps")[0] / 1e3;
    assert!((11.4..=12.032 * 1460.0 / 1500.0).contains(&mbps), "{mbps}");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let folder = folder("wrong");
    std::fs::write(folder.join("falls.trace"), "1\n5\n4\n").unwrap();
    for (link, expected) in [
        ("rate = '1 Mbit/s'\ntrace.down = 'none.trace'", "the file \"none.trace\": there is no such file"),
        ("rate = '1 Mbit/s'\ntrace.down = 'falls.trace'", "the file \"falls.trace\": "),
        ("rate = '1 Mbit/s'\ntrace.down = 'falls.trace'", "line 3"),
        ("rate = '1 Mbit/s'\ntrace.down = '.'", "it is no file"),
        ("", "a link without a rate"),
        ("trace.down = '1'", "a direction without a rate or a trace"),
        ("rate = '1 Mbit/s'\ntrace = { down = '1', up = '1' }", "both directions follow traces"),
        ("trace = { down = '1', up = '1', start = '1 ms', repeat = false }", "less than a trace lasts"),
    ] {
        let error = read(&folder, link).unwrap_err();
        assert!(error.contains(expected), "{link}: {error}");
    }
}

/// A trace of 300 ms that repeats is at the same place 100 ms and 1 s after its beginning; and elsewhere 200 ms after it.
#[test]
fn a_trace_that_repeats_may_begin_after_any_time() {
    let folder = folder("begins");
    let trace: String = (1..=100).chain([300]).map(|ms: u32| format!("{ms}\n")).collect();
    std::fs::write(folder.join("bursts.trace"), trace).unwrap();
    let run = |start: &str| {
        let link =
            format!("delay = '20 ms'\nrate = '5 Mbit/s'\ntrace = {{ down = 'bursts.trace', start = '{start}' }}");
        let mut session = Session::new(&read(&folder, &link).unwrap(), 1, None).unwrap();
        session.complete().unwrap();
        column(&session.finish(), "flows", "received_bytes")
    };
    assert_eq!(run("100 ms"), run("1 s"));
    assert_ne!(run("100 ms"), run("200 ms"));
}

#[test]
fn a_rate_of_a_trace_cannot_be_changed() {
    let folder = folder("change");
    let change = "rate = '1 Mbit/s'\ntrace.down = '1'\n[[change]]\nat = '1 s'\nlink = 'cell'\nrate = '2 Mbit/s'";
    assert!(read(&folder, change).unwrap_err().contains("rate"));
    assert!(read(&folder, &change.replace("rate = '2 Mbit/s'", "delay = '50 ms'")).is_ok());
}

/// Ten opportunities a second for 5 s, then a thousand; in each tenth of a second a packet takes one. The share of both times together fell by
/// nine tenths in the sixth second, and so did what was called the time of use.
#[test]
fn the_use_of_a_part_of_a_run_is_the_growth_of_what_was_carried_and_could_be() {
    let times = (1..=50).map(|n| 100 * n - 50).chain(5001..=10_000);
    let trace: String = times.map(|ms: u32| format!("{ms}\n")).collect();
    let text = format!(
        "duration = '10 s'
        record = {{ series = '1 s', quantities = ['carried_bytes', 'opportunity_bytes'] }}
        link = [{{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', trace.down = \"\"\"{trace}\"\"\" }}]
        flow = [{{ from = 'a', to = 'b', transport = 'udp', source.cbr = {{ interval = '100 ms', size = '1476 B' }} }}]"
    );
    let results = run(&text, 1);
    let growth = |quantity: &str| {
        let samples = series(&results, "l a>b", quantity);
        samples.windows(2).map(|pair| pair[1].1 - pair[0].1).collect::<Vec<_>>()
    };
    assert_eq!(growth("carried_bytes"), [10.0 * 1504.0; 10]);
    assert_eq!(growth("opportunity_bytes"), [[10.0 * 1504.0; 5], [1000.0 * 1504.0; 5]].concat());
    let share = column(&results, "links", "utilisation_pct")[0];
    assert!((share - 100.0 * 100.0 / 5050.0).abs() < 1e-9, "{share} %");
}

/// A burst of a second, then 5 s of silence: RED's average has gone, whether or not the last packet filled its opportunity of 1504 B to the
/// byte.
#[test]
fn an_idle_queue_sees_that_it_is_empty() {
    for size in [1476, 1475] {
        let text = format!(
            "duration = '6.005 s'
            record.state = true
            link = [{{ name = 'l', between = ['a', 'b'], trace = {{ down = '1', up = '1' }}, queue.red = {{ limit = '500 packets', max_p = 0.02, weight = 0.02 }} }}]
            flow = [{{ from = 'a', to = 'b', transport = 'udp', source.onoff = {{ rate = '13 Mbit/s', size = '{size} B', on = '1 s', off = '5 s', distribution = 'constant' }} }}]"
        );
        let average = state(&run(&text, 1), &[("kind", "link"), ("name", "l a>b")], "average_packets");
        assert!(average < 0.1, "{size} B: {average} packets");
    }
}
