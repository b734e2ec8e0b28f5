//! Rows of a log, and what is found of them.

use std::fmt::{Debug, Display};
use std::path::Path;
use std::str::FromStr;

use crate::report::Outcome;

/// The rows of a file, without those that begin with `#`.
pub struct Log {
    text: String,
}

/// A row.
pub struct Row<'a> {
    line: usize,
    cells: Vec<&'a str>,
}

impl Log {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self { text })
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let lines = self.text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        lines.map(|(at, line)| Row { line: at + 1, cells: line.trim_end().split(',').collect() })
    }
}

impl Row<'_> {
    /// The text of a cell, empty if there is none.
    pub fn text(&self, at: usize) -> &str {
        self.cells.get(at).copied().unwrap_or_default()
    }

    pub fn value<T: FromStr>(&self, at: usize) -> Result<T, String> {
        let text = self.text(at);
        text.parse().map_err(|_| format!("line {}: cell {} is \"{text}\"", self.line, at + 1))
    }

    /// A number that is one.
    pub fn number(&self, at: usize) -> Result<f64, String> {
        let number: f64 = self.value(at)?;
        if number.is_finite() { Ok(number) } else { Err(self.fault(&format!("cell {} is no finite number", at + 1))) }
    }

    /// The cells from one on, as numbers of one kind.
    pub fn values<T: FromStr + Debug, const N: usize>(&self, from: usize) -> Result<[T; N], String> {
        let values = (from..from + N).map(|at| self.value(at)).collect::<Result<Vec<T>, String>>()?;
        Ok(values.try_into().expect("N cells make N values"))
    }

    /// How many cells it has.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// What is wrong with it.
    pub fn fault(&self, what: &str) -> String {
        format!("line {}: {what}", self.line)
    }

    pub fn unknown(&self) -> String {
        format!("line {}: a row of an unknown kind", self.line)
    }
}

/// How many outputs were compared, and the first that differs.
#[derive(Default)]
pub struct Tally {
    compared: usize,
    first: Option<String>,
}

impl Tally {
    /// A whole number, or a name.
    pub fn equal<T: PartialEq + Display>(&mut self, row: &Row<'_>, what: &str, ours: T, theirs: T) {
        let agrees = ours == theirs;
        self.count(agrees, row, what, &ours, &theirs);
    }

    /// A number that was printed with some digits.
    pub fn near(&mut self, row: &Row<'_>, what: &str, ours: f64, theirs: f64) {
        self.about(row, what, ours, theirs, RELATIVE);
    }

    /// A number of which this share may be lost, beside what its digits leave open.
    pub fn about(&mut self, row: &Row<'_>, what: &str, ours: f64, theirs: f64, share: f64) {
        self.within(row, what, ours, theirs, share * theirs.abs() + ABSOLUTE);
    }

    /// A number that may be off by `tolerance`.
    pub fn within(&mut self, row: &Row<'_>, what: &str, ours: f64, theirs: f64, tolerance: f64) {
        self.count((ours - theirs).abs() <= tolerance, row, what, &ours, &theirs);
    }

    fn count(&mut self, agrees: bool, row: &Row<'_>, what: &str, ours: &dyn Display, theirs: &dyn Display) {
        self.compared += 1;
        if !agrees && self.first.is_none() {
            self.first = Some(format!("line {}, {what}: {theirs}, lasthop {ours}", row.line));
        }
    }

    pub fn outcome(self) -> Result<Outcome, String> {
        match self.first {
            _ if self.compared == 0 => Err("no row was compared".to_owned()),
            Some(first) => Ok(Outcome::Differs(self.compared, first)),
            None => Ok(Outcome::Same(self.compared)),
        }
    }
}

/// What the logs promise: a relative error of single precision over many updates.
const RELATIVE: f64 = 1e-6;
/// Half of the last digit of a millionth.
const ABSOLUTE: f64 = 5e-7;
