//! Random scenarios, valid and broken: nothing panics, nothing hangs, packets are conserved, and
//! an error says where it is.
//!
//! 1,000 of them by default; `LASTHOP_FUZZ=10000` asks for more, `LASTHOP_FUZZ_FIRST=n` begins
//! with number `n`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::random::entries::{ENTRIES, Place, said};
use crate::random::{Dice, disturb, scenario, spoil};
use lasthop_core::net::RunError;
use lasthop_core::net::simulation::Progress;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{Document, check, expand, read};
use proptest::prelude::*;
use serde_json::Value;

/// The longest that a case may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Events after which a disturbed scenario is left alone: it may ask for much more than its
/// author did.
const FEW_EVENTS: u64 = 100_000;

/// Events after which a valid scenario is left alone: the item written into it may ask for much.
const MANY_EVENTS: u64 = 1_000_000;

/// How often each entry of the schema is asked for, until all have to have been drawn: some are only valid beside others.
const PASSES: usize = 12;

#[test]
fn random_files_are_run_or_refused() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let first: u64 = number("LASTHOP_FUZZ_FIRST", 0);
    let end = first + number("LASTHOP_FUZZ", 1_000);
    let next = AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (report, reports) = mpsc::channel();
    // Not scoped: a case that hangs must not keep the test from saying so.
    let next: &'static AtomicU64 = Box::leak(Box::new(next));
    for worker in 0..workers {
        let report = report.clone();
        std::thread::spawn(move || {
            loop {
                let case = next.fetch_add(1, Ordering::Relaxed);
                if case >= end || report.send((worker, case, None)).is_err() {
                    return;
                }
                let outcome = catch_unwind(AssertUnwindSafe(|| one(case)));
                let outcome = outcome.map_err(|panic| {
                    let text = panic.downcast_ref::<String>().cloned();
                    text.or(panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
                });
                if report.send((worker, case, Some(outcome))).is_err() {
                    return;
                }
            }
        });
    }
    drop(report);
    let mut busy = vec![None; workers];
    let mut count = [0u64; 3];
    loop {
        match reports.recv_timeout(PATIENCE) {
            Ok((worker, case, None)) => busy[worker] = Some(case),
            Ok((_, case, Some(Err(panic)))) => panic!("case {case}: {panic}"),
            Ok((worker, _, Some(Ok(outcome)))) => {
                busy[worker] = None;
                count[outcome as usize] += 1;
            }
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("cases {busy:?} take longer than {PATIENCE:?}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    println!("{} ran to their end, {} for a while, {} were refused", count[0], count[1], count[2]);
    assert_eq!(count.iter().sum::<u64>(), end - first);
}

/// Each entry of the schema stands in a valid scenario of the first cases.
#[test]
fn everything_that_can_be_said_is_drawn() {
    let mut found = BTreeSet::new();
    for pass in 0..PASSES {
        for (n, entry) in ENTRIES.keys().enumerate() {
            // Items drawn beside others need not be asked for.
            if !found.contains(entry) {
                said(&Place::root(), &drawn(3 * (pass * ENTRIES.len() + n) as u64).1, &mut found);
            }
        }
    }
    let never: Vec<&String> = ENTRIES.keys().filter(|entry| !found.contains(*entry)).collect();
    assert!(never.is_empty(), "of {} entries {} are never drawn: {never:#?}", ENTRIES.len(), never.len());
}

#[derive(Clone, Copy)]
enum Outcome {
    Complete,
    Partial,
    Refused,
}

/// The scenario of case number `case`, and the dice for the actions on it. Three cases one after the other have the same wish.
fn drawn(case: u64) -> (Dice, Value) {
    let mut dice = Dice::new(case.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let packets = dice.log(100.0, 100_000.0);
    let scenario = scenario(&mut dice, packets, case as usize / 3);
    (dice, scenario)
}

/// Case number `case`: a third are valid, a third have one wrong field, a third are disturbed.
fn one(case: u64) -> Outcome {
    let (mut dice, scenario) = drawn(case);
    let text = toml::to_string(&scenario).expect("a tree of tables");
    match case % 3 {
        0 => valid(&text, &mut dice),
        1 => {
            let spoiled = spoil(&mut dice, &text);
            let error = match read::toml(&spoiled.text, "case") {
                Ok(_) => panic!("{} in line {} should be refused:\n{}", spoiled.field, spoiled.line, spoiled.text),
                Err(error) => error,
            };
            let text = error.render(false);
            assert!(text.contains(&spoiled.field), "should name {}:\n{text}\n{}", spoiled.field, spoiled.text);
            assert_eq!(error.line, Some(spoiled.line), "{text}\n{}", spoiled.text);
            Outcome::Refused
        }
        _ => disturbed(&disturb(&mut dice, &text)),
    }
}

fn valid(text: &str, dice: &mut Dice) -> Outcome {
    let read = |text: &str| read::toml(text, "case").and_then(|d| check(&d).map(|()| d));
    let refused = |error| -> Document { panic!("{error}\n{text}") };
    let document = read(text).unwrap_or_else(refused);
    let resolved = expand::resolved(&document.scenario);
    let expanded = expand::toml(&document.scenario);
    let again = read(&expanded).unwrap_or_else(|error| panic!("{error}\n{expanded}"));
    assert_eq!(again.scenario, resolved, "{text}");
    let json = read::json(&expand::json(&document.scenario), "case").unwrap_or_else(refused);
    assert_eq!(json.scenario, resolved, "{text}");

    let seed = document.scenario.seed;
    let run = |scenario: &_| {
        let mut run = Session::new(scenario, seed, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let outcome = advance(&mut run, MANY_EVENTS, text);
        (outcome, run.finish())
    };
    let (outcome, results) = run(&document.scenario);
    if matches!(outcome, Outcome::Complete) && dice.one_in(8) {
        // Recording does not alter a run, and a seed gives the same run again.
        let mut other = document.scenario.clone();
        other.record.packets = !other.record.packets;
        other.record.hops = !other.record.hops;
        other.record.variables = !other.record.variables;
        other.record.transfers ^= dice.one_in(2);
        let same = other.record.transfers == document.scenario.record.transfers;
        other.record.handovers = !other.record.handovers;
        other.record.most_rows = u64::MAX;
        let (_, other) = run(&other);
        for table in ["flows", "transfers", "links", "drops", "cells", "bearers"]
            .into_iter()
            .filter(|name| same || *name != "transfers")
        {
            assert_eq!(results.table(table), other.table(table), "{table} with other records:\n{text}");
        }
    }
    outcome
}

/// Goes on for about `events` events. A scenario may ask for too much, which a run says in words; that time stands still or packets are
/// lost from the books would be a defect.
fn advance(run: &mut Session, events: u64, text: &str) -> Outcome {
    match run.advance(events) {
        Ok(Progress::Reached) => Outcome::Complete,
        Ok(Progress::Paused) => {
            run.simulation().check_conservation().unwrap_or_else(|error| panic!("{error}\n{text}"));
            Outcome::Partial
        }
        Err(error @ (RunError::Stalled { .. } | RunError::NotConserved { .. })) => panic!("{error}\n{text}"),
        Err(_) => Outcome::Refused,
    }
}

fn disturbed(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let document = match read::toml(&text, "case").and_then(|d| check(&d).map(|()| d)) {
        Ok(document) => document,
        Err(error) => {
            assert!(!error.message.trim().is_empty(), "{text}");
            assert!(error.line.is_some() && error.column.is_some(), "{error}\n{text}");
            let shown = error.render(true);
            assert!(shown.len() < 10_000, "{shown}");
            return Outcome::Refused;
        }
    };
    let Ok(mut run) = Session::new(&document.scenario, 1, None) else { panic!("checked, but not built:\n{text}") };
    advance(&mut run, FEW_EVENTS, &text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        for result in [read::toml(&text, "text"), read::json(&text, "text")] {
            if let Err(error) = result {
                prop_assert!(!error.message.is_empty());
                error.render(true);
            }
        }
    }

    #[test]
    fn any_value_is_read_or_refused(
        field in "(name|duration|seed|nodes|link|profile|record|flow\\.from|[a-zé\"'.]{1,12})",
        value in "([0-9.eE+_-]{1,20}|\"[^\"\\\\\n]{0,20}\"|\\[.{0,10}\\]|\\{.{0,10}\\}|.{0,20})",
    ) {
        if let Err(error) = read::toml(&format!("{field} = {value}"), "text") {
            prop_assert!(!error.message.is_empty() && error.line.is_some(), "{}", error);
        }
    }

    #[test]
    fn a_number_is_the_same_in_json_and_in_toml(p in 0.0f64..1.0) {
        let toml = format!(
            "[[link]]\nname = 'l'\nbetween = ['a', 'b']\nrate = '1 Mbit/s'\nloss.bernoulli.p = {p:?}"
        );
        let json = format!(
            r#"{{"link": [{{"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "loss": {{"bernoulli": {{"p": {p:?}}}}}}}]}}"#
        );
        let read = |read: Result<Document, _>| read.map(|document| document.scenario).unwrap();
        prop_assert_eq!(read(read::toml(&toml, "text")), read(read::json(&json, "text")));
    }

    #[test]
    fn durations_are_read_back_as_they_are_written(ns in 0u64..1 << 52) {
        let duration = lasthop_core::engine::Duration::from_nanos(ns);
        prop_assert_eq!(lasthop_core::engine::Duration::parse(&duration.to_string()), Ok(duration));
    }

    #[test]
    fn quantities_never_panic(text in any::<String>(), number in any::<f64>(), unit in "(ns|s|h|B|GB|packets|bit/s|Gbit/s|x)?") {
        use lasthop_core::engine::units::Amount;
        use lasthop_core::engine::{BitRate, Bytes};
        for text in [text, format!("{number} {unit}"), format!("{number:e}{unit}")] {
            let _ = lasthop_core::engine::Duration::parse(&text);
            let _ = (BitRate::parse(&text), Bytes::parse(&text), Amount::parse(&text));
        }
    }
}
