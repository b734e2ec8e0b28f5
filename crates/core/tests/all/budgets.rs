//! Recordings have a budget of rows, whatever the stretches in which the clock moves.

use lasthop_core::net::RunError;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{check, read};

use crate::common::scenario::scenario;

/// How a run ends: the table that has too many rows.
fn overfull(text: &str, slice: u64) -> Option<(&'static str, u64)> {
    let mut run = Session::new(&scenario(text), 1, None).unwrap();
    loop {
        match run.advance(slice) {
            Ok(lasthop_core::net::simulation::Progress::Paused) => {}
            Ok(_) => return None,
            Err(RunError::TooManyRows { table, rows, most, .. }) => {
                assert!(rows > most);
                return Some((table, rows));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

const LINK: &str = "[[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n";
const FLOW: &str = "[[flow]]\nfrom = \"a\"\nto = \"b\"\n";

#[test]
fn each_table_that_grows_with_time_ends_the_run() {
    let tiny = "source.files = { sizes = [\"1 B\"], weights = [1], pause = \"0 s\", pause_min = \"0 s\" }\n";
    for (table, record, source) in [
        ("packets", "record.packets = true", ""),
        ("variables", "record.variables = true", ""),
        ("transfers", "", tiny),
    ] {
        let most = "record.most_rows = 1000";
        let text = format!("duration = \"100 s\"\n{most}\n{record}\n{LINK}{FLOW}{source}");
        let (of, rows) = overfull(&text, u64::MAX).unwrap_or_else(|| panic!("record.{table} has no budget"));
        assert_eq!(of, table);
        // It is found within the events between two looks, each of which makes a few rows.
        assert!(rows < 10 * (1 << 16), "{rows} rows of {table}");
    }
    let slots = format!("record.most_rows = 1000\nrecord.slots = true\n[[hsdpa]]\nname = \"c\"\nnode = \"a\"\n{FLOW}")
        .replace("to = \"b\"", "to = \"c.ue[0]\"");
    assert_eq!(overfull(&slots, u64::MAX).map(|(table, _)| table), Some("slots"));
}

/// A sample each millisecond stops the clock after a few events.
#[test]
fn many_short_stretches_are_looked_at_like_a_long_one() {
    let text = format!(
        "duration = \"1000 s\"\nrecord = {{ packets = true, series = \"1 ms\", most_rows = 10000000 }}\n{LINK}{FLOW}"
    );
    let mut scenario = scenario(&text);
    // `check` sees that this number of samples fits.
    scenario.record.most_rows = 20_000;
    scenario.record.series = Some(lasthop_core::engine::Duration::from_millis(100));
    let mut run = Session::new(&scenario, 1, None).unwrap();
    let error = run.complete().unwrap_err();
    let RunError::TooManyRows { at, table: "packets", .. } = error else { panic!("{error}") };
    assert!(at.as_secs_f64() < 60.0, "{error}");
}

/// The end of a run decides, so that it does not depend on when the caller looked.
#[test]
fn whether_a_run_fits_does_not_depend_on_its_slices() {
    // Ten datagrams of a second's distance, each sent and received.
    let text = |most: u64| {
        format!(
            "duration = \"9.5 s\"\nrecord = {{ packets = true, most_rows = {most} }}\n{LINK}{FLOW}transport = \"udp\"\n\
             source.cbr.interval = \"1 s\"\n"
        )
    };
    for slice in [1, 7, 200_000, u64::MAX] {
        assert_eq!(overfull(&text(19), slice), Some(("packets", 20)), "{slice}");
        assert_eq!(overfull(&text(20), slice), None, "{slice}");
    }
}

#[test]
fn what_is_sure_not_to_fit_is_refused() {
    let text = |interval: &str, most: u64| {
        format!(
            "duration = \"1 h\"\nrecord = {{ packets = true, most_rows = {most} }}\n{LINK}{FLOW}transport = \"udp\"\n\
             source.cbr.interval = \"{interval}\"\n"
        )
    };
    let checked = |text: &str| read::toml(text, "case").and_then(|document| check(&document));
    let error = checked(&text("1 us", 5_000_000)).unwrap_err();
    assert_eq!(error.path, "record.packets");
    assert!(error.message.contains("3600000000 rows"), "{error}");
    checked(&text("1 s", 3_600)).unwrap();
    checked(&text("1 s", 3_599)).unwrap_err();
}
