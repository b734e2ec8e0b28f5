//! Runs of scenarios that are written as text, and what their tables say.

use lasthop_core::measure::table::Table;
use lasthop_core::net::Observer;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{check, read};

/// The scenario that a text says.
pub fn scenario(text: &str) -> Scenario {
    let document = read::toml(text, "test.toml").and_then(|document| check(&document).map(|()| document));
    document.unwrap_or_else(|error| panic!("{error}\n{text}")).scenario
}

/// Its tables at the end.
pub fn run(text: &str, seed: u64) -> Results {
    complete(Session::new(&scenario(text), seed, None).unwrap())
}

/// The same, and what an observer saw.
pub fn watched<O: Observer + 'static>(text: &str, observer: O) -> (Results, O) {
    let mut results = complete(Session::new(&scenario(text), 1, Some(Box::new(observer))).unwrap());
    let observer = results.observer.take().and_then(|o| o.downcast::<O>().ok()).expect("it is observed");
    (results, *observer)
}

fn complete(mut run: Session) -> Results {
    run.complete().unwrap();
    run.finish()
}

/// The rows of a table whose columns have these texts.
pub fn rows(table: &Table, cells: &[(&str, &str)]) -> Vec<usize> {
    let is = |row: usize| cells.iter().all(|(column, text)| table.text(column, row) == Some(text));
    (0..table.rows()).filter(|&row| is(row)).collect()
}

/// A quantity of the table `state`, of the first part whose columns have these texts.
pub fn state(results: &Results, part: &[(&str, &str)], quantity: &str) -> f64 {
    let table = results.table("state").unwrap();
    let rows = rows(table, &[part, &[("quantity", quantity)]].concat());
    let row = rows.first().unwrap_or_else(|| panic!("no {quantity} of {part:?}"));
    table.number("value", *row).unwrap()
}

/// Samples of a quantity of a link or flow: time and value.
pub fn series(results: &Results, name: &str, quantity: &str) -> Vec<(f64, f64)> {
    let table = results.table("series").unwrap();
    let sample = |row| (table.number("time_s", row).unwrap(), table.number("value", row).unwrap());
    rows(table, &[("name", name), ("quantity", quantity)]).into_iter().map(sample).collect()
}

/// A column of numbers.
pub fn column(results: &Results, table: &str, column: &str) -> Vec<f64> {
    let table = results.table(table).unwrap();
    (0..table.rows()).map(|row| table.number(column, row).unwrap()).collect()
}
