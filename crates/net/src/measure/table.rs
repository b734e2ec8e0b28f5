//! Tidy tables: one row for each thing, units in the names of columns.

use std::collections::BTreeMap;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its columns with their names, all of one length.
    pub columns: Vec<(&'static str, Column)>,
}

/// A column. A number can be missing, such as the round-trip time of a flow that measured none.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Text.
    Text(Vec<String>),
    /// Text out of few different ones: places in the list of names.
    Names(Vec<u32>, Vec<String>),
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Numbers.
    Float(Vec<Option<f64>>),
}

impl Column {
    /// How many rows it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(v) => v.len(),
            Self::Names(v, _) => v.len(),
            Self::Int(v) => v.len(),
            Self::Float(v) => v.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, column)| column)
    }

    /// A number of the column `name`; `None` if it is missing or not a number.
    pub fn number(&self, name: &str, row: usize) -> Option<f64> {
        match self.column(name)? {
            Column::Float(values) => *values.get(row)?,
            Column::Int(values) => values.get(row)?.map(|n| n as f64),
            Column::Text(_) | Column::Names(..) => None,
        }
    }

    /// A text of the column `name`; `None` if there is none.
    pub fn text(&self, name: &str, row: usize) -> Option<&str> {
        match self.column(name)? {
            Column::Text(values) => values.get(row).map(String::as_str),
            Column::Names(places, names) => names.get(*places.get(row)? as usize).map(String::as_str),
            Column::Int(_) | Column::Float(_) => None,
        }
    }
}

/// Fills a column of names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    codes: Vec<u32>,
    names: Vec<String>,
    places: BTreeMap<String, u32>,
    /// The code that came last after each: samples have their rows in one order again and again.
    after: Vec<u32>,
}

impl Names {
    /// Adds a row.
    pub fn push(&mut self, name: &str) {
        let last = self.codes.last().map(|code| *code as usize);
        let expected = last.map_or(0, |last| self.after[last]);
        let code = match self.names.get(expected as usize) {
            Some(known) if known == name => expected,
            _ => self.code(name),
        };
        if let Some(last) = last {
            self.after[last] = code;
        }
        self.codes.push(code);
    }

    fn code(&mut self, name: &str) -> u32 {
        if let Some(code) = self.places.get(name) {
            return *code;
        }
        let code = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), code);
        self.after.push(0);
        code
    }

    /// The column.
    pub fn column(self) -> Column {
        Column::Names(self.codes, self.names)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In one order again and again, or not.
        #[test]
        fn names_have_the_codes_of_their_first_rows(
            cycle in proptest::collection::vec(0u8..6, 1..8),
            others in proptest::collection::vec(0u8..9, 0..30),
        ) {
            let rows: Vec<String> =
                cycle.iter().cycle().take(25).chain(&others).chain(&cycle).map(|n| format!("n{n}")).collect();
            let (mut column, mut known) = (Names::default(), Vec::new());
            let mut codes = Vec::new();
            for row in &rows {
                column.push(row);
                let code = known.iter().position(|name| name == row).unwrap_or_else(|| {
                    known.push(row.clone());
                    known.len() - 1
                });
                codes.push(code as u32);
            }
            prop_assert_eq!(column.column(), Column::Names(codes, known));
        }
    }
}
