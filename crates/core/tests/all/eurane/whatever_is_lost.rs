//! Whatever is lost: SDUs come out in order, each once and whole, or are said to be lost. The cell
//! itself checks that at every outcome.

use std::collections::BTreeMap;

use lasthop_core::engine::{Duration, Instant, Streams};
use lasthop_core::net::{Histogram, Probe};
use lasthop_core::radio::arq::{LinkArq, Outcome, Unsent};
use lasthop_core::replicas::eurane::rlc::{Config, Entity};
use proptest::prelude::*;

use super::cell::{Arrival, Cell, Channel, DOWN, UP};

/// SDUs of a direction: when they enter, in milliseconds, and their sizes in bytes.
type Sdus = Vec<(u64, u32)>;

fn sdus(count: usize) -> impl Strategy<Value = Sdus> {
    prop::collection::vec((0..5_000u64, 1..1_500u32), 0..count)
}

/// Whether the n-th PDU is lost, for a time; repeated.
fn losses() -> impl Strategy<Value = Vec<bool>> {
    (0.0..1.0f64).prop_flat_map(|rate| prop::collection::vec(prop::bool::weighted(rate), 1..200))
}

fn channels() -> impl Strategy<Value = [Channel; 2]> {
    prop_oneof![Just([Channel::FACH, Channel::RACH]), Just([Channel::DCH_64, Channel::DCH_32])]
}

/// A cell that loses by the given patterns until `clean`.
fn cell(config: &Config, channels: [Channel; 2], sdus: [Sdus; 2], losses: [Vec<bool>; 2], clean: Instant) -> Cell {
    let lost = move |arrival: Arrival| {
        let pattern = &losses[arrival.direction];
        arrival.at < clean && pattern[arrival.number as usize % pattern.len()]
    };
    let mut cell = Cell::new(config, channels, Box::new(lost));
    for (direction, sdus) in sdus.into_iter().enumerate() {
        for (name, (ms, bytes)) in sdus.into_iter().enumerate() {
            cell.send(direction, Instant::ZERO + Duration::from_millis(ms), bytes, name as u64);
        }
    }
    cell
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// At most 16 SDUs take fewer PDUs than close the window.
    #[test]
    fn everything_is_settled_once_nothing_is_lost_any_more(
        max_dat in prop::option::of(1..6u32),
        channels in channels(),
        down in sdus(16), up in sdus(16),
        lost_down in losses(), lost_up in losses(),
    ) {
        let config = Config { max_dat, ..Config::default() };
        let clean = Instant::from_secs_f64(8.0);
        let mut cell = cell(&config, channels, [down, up], [lost_down, lost_up], clean);
        // PDUs lost behind the last poll are missed when another SDU follows.
        for direction in [DOWN, UP] {
            cell.send(direction, clean, 40, 99);
        }
        cell.run_until(Instant::from_secs_f64(90.0));
        for direction in [DOWN, UP] {
            let outcomes = cell.outcomes(direction);
            prop_assert_eq!(outcomes.len(), cell.taken(direction));
            if let Some(max_dat) = max_dat {
                prop_assert!(cell.most_transmissions(direction) <= max_dat);
            } else {
                prop_assert!(!outcomes.iter().any(|outcome| matches!(outcome, Outcome::Lost(_))));
            }
            let entity = cell.entity(direction);
            prop_assert_eq!(entity.backlog(), Unsent::default());
            prop_assert_eq!(values(entity)["waiting_pdus"], 0.0);
            prop_assert!(!entity.wants_to_send() && entity.next_timeout().is_none(), "it is at rest");
        }
    }

    /// A small window may close for ever, as EURANE's does; all statements until then are true.
    #[test]
    fn no_parameters_make_it_say_what_is_not_so(
        max_dat in prop::option::of(1..6u32),
        window in 1..2_000u32,
        poll_every in 1..300u32,
        prohibit in 0..400u64,
        poll_timer in 1..400u64,
        mrw_timer in 1..1_000u64,
        channels in channels(),
        down in sdus(60), up in sdus(60),
        lost_down in losses(), lost_up in losses(),
    ) {
        let config = Config {
            max_dat,
            window,
            poll_every,
            status_prohibit: Duration::from_millis(prohibit),
            poll_timer: Duration::from_millis(poll_timer),
            mrw_timer: Duration::from_millis(mrw_timer),
            ..Config::default()
        };
        let mut cell = cell(&config, channels, [down, up], [lost_down, lost_up], Instant::from_secs_f64(20.0));
        cell.run_until(Instant::from_secs_f64(40.0));
        for direction in [DOWN, UP] {
            prop_assert!(cell.outcomes(direction).len() <= cell.taken(direction));
            prop_assert!(max_dat.is_none_or(|max_dat| cell.most_transmissions(direction) <= max_dat));
        }
    }
}

#[test]
fn a_long_run_holds_no_more_than_a_window() {
    for max_dat in [None, Some(3)] {
        let config = Config { max_dat, ..Config::default() };
        let mut stream = Streams::new(3).stream("air", "loss");
        let lost = Box::new(move |_| stream.chance(0.2));
        let mut cell = Cell::new(&config, [Channel::DCH_64, Channel::DCH_32], lost);
        // 1000 B every 200 ms is 40 of 64 kbit/s, of which a fifth is lost.
        let mut at = Duration::ZERO;
        for second in 1..=2_000u64 {
            while at < Duration::from_secs(second) {
                cell.send(DOWN, Instant::ZERO + at, 1_000, 0);
                at += Duration::from_millis(200);
            }
            cell.run_until(Instant::ZERO + Duration::from_secs(second));
            assert!(cell.entity(DOWN).backlog().unacknowledged <= u64::from(config.window) * 40);
            assert!(values(cell.entity(UP))["waiting_pdus"] <= f64::from(config.window));
        }
        assert!(cell.outcomes(DOWN).len() > 9_900, "{}", cell.outcomes(DOWN).len());
    }
}

/// What an entity shows of itself.
fn values(entity: &Entity) -> BTreeMap<&'static str, f64> {
    struct Values(BTreeMap<&'static str, f64>);
    impl Probe for Values {
        fn part(&mut self, _what: lasthop_core::net::What, _name: &str) {}
        fn value(&mut self, name: &'static str, value: f64) {
            self.0.insert(name, value);
        }
        fn distribution(&mut self, name: &'static str, _scale: f64, _histogram: &Histogram) {
            panic!("{name} is no value");
        }
    }
    let mut values = Values(BTreeMap::new());
    entity.sample(&mut values);
    values.0
}
