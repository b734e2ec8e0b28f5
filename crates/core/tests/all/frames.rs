//! Values of sources in the table `series`.

use crate::common::scenario::{column, run, series, state};

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
    wanted.extend(["'frame_delay_ms_mean'".to_owned(), "'frame_delay_ms_samples'".to_owned()]);
    let results = run(&call(&format!("series = '100 ms', quantities = [{}]", wanted.join(", "))), 1);
    for name in names {
        let samples = series(&results, "call", name);
        assert_eq!(samples.len(), 201, "{name}");
        assert!(samples.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{name}");
        assert_eq!(samples.last().unwrap().1, column(&results, "media", name)[0], "{name}");
    }
    // Delays are of the frames since the last sample: together they have the mean of all.
    let [counts, delays] = ["samples", "mean"].map(|of| series(&results, "call", &format!("frame_delay_ms_{of}")));
    let arrived: Vec<f64> = counts.iter().map(|(_, count)| *count).filter(|count| *count > 0.0).collect();
    assert_eq!(arrived.len(), delays.len(), "a mean where frames arrived, and nowhere else");
    let sum: f64 = delays.iter().zip(&arrived).map(|((_, mean), count)| mean * count).sum();
    let mean = column(&results, "media", "frame_delay_ms_mean")[0];
    assert!((sum / arrived.iter().sum::<f64>() / mean - 1.0).abs() < 1e-9);
    // Nothing has arrived within the first 50 ms.
    assert!(delays.first().unwrap().0 > 0.05);
    // After the fall of the rate frames wait, and the mean of all hides by how much.
    let largest = |from: f64, to: f64| {
        let during = delays.iter().filter(|(at, _)| (from..to).contains(at));
        during.map(|(_, delay)| *delay).fold(0.0, f64::max)
    };
    let (before, after) = (largest(8.0, 10.0), largest(10.0, 12.0));
    assert!(after > 2.0 * before.max(mean), "before {before} ms, after {after} ms, of all {mean} ms");
}

/// What is not named is not shown.
#[test]
fn frames_are_not_sampled_unless_they_are_named() {
    let results = run(&call("series = '100 ms'"), 1);
    assert!(series(&results, "call", "frames_received").is_empty());
    assert!(!series(&results, "call", "arrival_kbps").is_empty());
}

/// A sender that drops the oldest frames while its rate is low goes on with those that come later, and frames are what they were when they
/// were written.
#[test]
fn a_call_goes_on_after_frames_were_dropped_at_the_sender() {
    let text = "duration = '40 s'
        record = { state = true, series = '1 s', quantities = ['frames_received'] }
        link = [{ name = 'l', between = ['a', 'b'], rate = '200 kbit/s', delay = '50 ms' }]
        change = [{ at = '20 s', link = 'l', rate = '2 Mbit/s' }]
        flow = [{ name = 'call', from = 'a', to = 'b', transport.tfrc.buffer = 2, source = 'encoder' }]";
    let results = run(text, 1);
    let sender = |what| state(&results, &[("kind", "sender")], what);
    let dropped = sender("dropped_writes");
    assert!(dropped > 5.0, "{dropped}");
    assert!(sender("acked_bytes") <= sender("sent_bytes"), "what was dropped was not acknowledged");
    let of = |what| column(&results, "media", what)[0];
    let [frames, came, lost, skipped] = ["frames", "frames_received", "frames_lost", "frames_skipped"].map(of);
    // Of a frame in several packets the rest may have been dropped.
    assert!(
        lost >= dropped / 2.0 && frames - came - lost - skipped < 20.0,
        "{frames} {came} {lost} {skipped} {dropped}"
    );
    let samples = series(&results, "call", "frames_received");
    let at = |time: f64| samples.iter().find(|(at, _)| *at >= time).unwrap().1;
    // Thirty frames a second.
    assert!(at(39.0) - at(29.0) > 250.0, "{} frames in the last 10 s", at(39.0) - at(29.0));
    assert!(of("frames_late") < 0.2 * came, "{} of {came} late", of("frames_late"));
}
