//! The constants and rules of `tcl/rlm/rlm.tcl` (ns-2.35), as tables.

use super::*;
use lasthop_net::engine::Streams;

fn rlm(defects: bool) -> Rlm {
    Rlm::new(Config::default(), 5, defects, Streams::new(1).stream("receiver", "rlm"))
}

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn seconds(timer: Option<Instant>) -> f64 {
    timer.unwrap().as_secs_f64()
}

/// T_J/2 and an exponential time of mean T_J cut at 4 T_J: from 2.5 s to 22.5 s, 2.5 + 5·(1 − 4e⁻⁴/(1 − e⁻⁴)) = 7.127 s in the mean.
#[test]
fn experiments_come_after_half_the_timer_and_a_cut_exponential_time() {
    let mut rlm = rlm(false);
    let n = 200_000;
    let waits: Vec<f64> = (0..n)
        .map(|_| {
            rlm.set_join_timer(Instant::ZERO);
            seconds(rlm.join_timer)
        })
        .collect();
    assert!(waits.iter().all(|wait| (2.5..=22.5).contains(wait)));
    let mean = waits.iter().sum::<f64>() / f64::from(n);
    let beyond = libm::exp(-4.0);
    let expected = 2.5 + 5.0 * (1.0 - 4.0 * beyond / (1.0 - beyond));
    assert!((expected - 7.127).abs() < 5e-4, "{expected}");
    // The standard deviation of a wait is 4.2 s.
    assert!((mean - expected).abs() < 4.0 * 4.2 / f64::from(n).sqrt(), "{mean}");
}

#[test]
fn failures_double_the_timer_up_to_a_minute() {
    let mut rlm = rlm(false);
    let mut timers = Vec::new();
    for _ in 0..6 {
        timers.push(rlm.layers[1].join);
        rlm.back_off(2);
    }
    assert_eq!(timers, [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]);
    // Those above wait at least as long, those below are as before.
    assert_eq!(rlm.layers.iter().map(|layer| layer.join).collect::<Vec<_>>(), [5.0, 60.0, 60.0, 60.0, 60.0]);
}

#[test]
fn quiet_times_shorten_it_by_a_quarter_each() {
    let mut rlm = rlm(false);
    rlm.begin(Instant::ZERO);
    rlm.layers[0].join = 60.0;
    let mut timers = Vec::new();
    for _ in 0..9 {
        rlm.on_detection_timer(at(1.0));
        timers.push(rlm.layers[0].join);
    }
    assert_eq!(timers[..2], [45.0, 33.75]);
    assert!(timers[7] > 5.0 && timers[8] == 5.0, "{timers:?}");
}

#[test]
fn the_timers_of_the_states() {
    let mut rlm = rlm(false);
    rlm.begin(Instant::ZERO);
    assert_eq!(rlm.detection_timer, None, "none runs before the first loss");
    // Long after anything: hysteresis, T_D + 1.5 σ.
    rlm.on_packet(at(100.0), 1, 1);
    assert_eq!((rlm.state, seconds(rlm.detection_timer)), (State::Hysteresis, 108.0));
    rlm.level = 4;
    rlm.on_timeout(at(108.0));
    assert_eq!((rlm.state, seconds(rlm.detection_timer)), (State::Measurement, 108.0 + 12.0));
    assert!(rlm.is_recent(at(8.99), Some(Instant::ZERO)) && !rlm.is_recent(at(9.0), Some(Instant::ZERO)));
}

#[test]
fn a_failed_experiment_is_taken_back_and_teaches_the_detection_time() {
    let mut rlm = rlm(false);
    rlm.begin(Instant::ZERO);
    rlm.on_packet(at(1.0), 1, 0);
    rlm.on_join_timer(at(20.0));
    assert_eq!((rlm.level, rlm.tell()), (2, Some(2)));
    rlm.on_packet(at(23.0), 1, 1);
    assert_eq!((rlm.level, rlm.state), (1, State::Dropped));
    assert_eq!((rlm.detection, rlm.deviation), (4.5, 2.0));
    assert_eq!(rlm.layers[1].join, 10.0);
    // Losses are ignored until the timer has run out: 4.5 s + 1.5·2 s.
    rlm.on_packet(at(24.0), 1, 5);
    assert_eq!((rlm.state, seconds(rlm.detection_timer)), (State::Dropped, 30.5));
}

#[test]
fn a_quarter_of_losses_in_the_measurement_drops_a_layer() {
    for (lost, level) in [(3, 3), (4, 2)] {
        let mut rlm = rlm(false);
        rlm.level = 3;
        rlm.measure(Instant::ZERO);
        for n in 0..10 {
            rlm.on_packet(at(f64::from(n)), 1, 0);
        }
        rlm.on_packet(at(10.0), 1, lost);
        // 3 of 14 are 21 %, 4 of 15 are 27 %.
        assert_eq!(rlm.level, level, "{lost} lost");
    }
}

#[test]
fn what_others_add_is_learnt() {
    let mut rlm = rlm(false);
    rlm.begin(Instant::ZERO);
    rlm.on_packet(at(1.0), 1, 0);
    rlm.on_added(at(10.0), 3);
    // A loss soon after is put down to that experiment: layer 3 waits longer, and no layer is dropped.
    rlm.on_packet(at(12.0), 1, 1);
    assert_eq!((rlm.layers[2].join, rlm.layers[3].join, rlm.level), (10.0, 10.0, 1));
}

#[test]
fn the_defects_of_ns2_are_kept_only_where_they_are_wanted() {
    for defects in [false, true] {
        let mut rlm = rlm(defects);
        rlm.begin(Instant::ZERO);
        rlm.level = 5;
        rlm.on_join_timer(at(20.0));
        assert_eq!(rlm.join_timer.is_none(), defects, "with all layers");
        rlm.level = 1;
        rlm.wait_after_drop(at(30.0));
        assert_eq!(rlm.level, u32::from(!defects), "the last layer");
    }
}
