//! Values of sources in the table `series`.

use crate::common::scenario::{column, run, series};

/// A call over a link that falls to a third of its rate.
fn call(record: &str) -> String {
    format!(
        "duration = '20 s'
        record = {{ {record} }}
        link = [{{ name = 'l', between = ['a', 'b'], rate = '1500 kbit/s', delay = '50 ms', queue.droptail.limit = '20 kB' }}]
        change = [{{ at = '10 s', link = 'l', rate = '500 kbit/s' }}]
        flow = [{{ name = 'call', from = 'a', to = 'b', transport.media.congestion = 'nada', source = 'encoder' }}]"
    )
}

/// What became of frames grows sample by sample to the totals of the table `media`.
#[test]
fn frames_so_far_are_sampled() {
    let names = ["frames_received", "frames_late", "frames_lost", "frames_skipped"];
    let mut wanted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    wanted.push("'frame_delay_ms_mean'".to_owned());
    let results = run(&call(&format!("series = '100 ms', quantities = [{}]", wanted.join(", "))), 1);
    for name in names {
        let samples = series(&results, "call", name);
        assert_eq!(samples.len(), 201, "{name}");
        assert!(samples.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{name}");
        assert_eq!(samples.last().unwrap().1, column(&results, "media", name)[0], "{name}");
    }
    let delays = series(&results, "call", "frame_delay_ms_mean");
    assert_eq!(delays.last().unwrap().1, column(&results, "media", "frame_delay_ms_mean")[0]);
    // Nothing has arrived within the first 50 ms.
    assert!(delays.first().unwrap().0 > 0.05);
}

/// What is not named is not shown.
#[test]
fn frames_are_not_sampled_unless_they_are_named() {
    let results = run(&call("series = '100 ms'"), 1);
    assert!(series(&results, "call", "frames_received").is_empty());
    assert!(!series(&results, "call", "arrival_kbps").is_empty());
}
