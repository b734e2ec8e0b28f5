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
    Int(Numbers<i64>),
    /// Numbers.
    Float(Numbers<f64>),
}

/// Numbers, of which some may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers<T> {
    values: Vec<T>,
    /// Whether each is there; empty as long as none is missing.
    there: Vec<bool>,
}

impl<T: Copy + Default> Numbers<T> {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, number: Option<T>) {
        if number.is_none() && self.there.is_empty() {
            self.there.resize(self.values.len(), true);
            self.there.push(false);
        } else if !self.there.is_empty() {
            self.there.push(number.is_some());
        }
        self.values.push(number.unwrap_or_default());
    }

    /// The number of a row; `None` if it is missing, or the row is.
    pub fn get(&self, row: usize) -> Option<T> {
        let there = self.there.get(row).is_none_or(|there| *there);
        self.values.get(row).copied().filter(|_| there)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values, with zeros for those that are missing; and which are there, unless all are.
    pub fn into_parts(self) -> (Vec<T>, Option<Vec<bool>>) {
        (self.values, Some(self.there).filter(|there| !there.is_empty()))
    }
}

impl<T> From<Vec<T>> for Numbers<T> {
    fn from(values: Vec<T>) -> Self {
        Self { values, there: Vec::new() }
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Numbers<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(rows: I) -> Self {
        let mut numbers = Self::default();
        rows.into_iter().for_each(|row| numbers.push(row));
        numbers
    }
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
            Column::Float(values) => values.get(row),
            Column::Int(values) => values.get(row).map(|n| n as f64),
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

/// As many keys are compared one by one before they are searched for: 6 % of the instructions of a run that records packets.
const FEW: usize = 8;

/// Fills a column with the names of things that are known by other keys, and named at the end.
#[derive(Clone, Debug)]
pub struct Keys<K> {
    codes: Vec<u32>,
    keys: Vec<K>,
    places: BTreeMap<K, u32>,
}

impl<K> Default for Keys<K> {
    fn default() -> Self {
        Self { codes: Vec::new(), keys: Vec::new(), places: BTreeMap::new() }
    }
}

impl<K: Copy + Ord> Keys<K> {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, key: K) {
        let few = self.keys.iter().take(FEW).position(|known| *known == key);
        let code = few.map_or_else(|| self.code(key), |code| code as u32);
        self.codes.push(code);
    }

    fn code(&mut self, key: K) -> u32 {
        *self.places.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.keys.len() as u32 - 1
        })
    }

    /// The column. Things of one name have one code.
    pub fn column(mut self, name: impl Fn(K) -> String) -> Column {
        let mut names = Names::default();
        let coded: Vec<u32> = self.keys.iter().map(|key| names.code(&name(*key))).collect();
        if names.names.len() < coded.len() {
            self.codes.iter_mut().for_each(|code| *code = coded[*code as usize]);
        }
        Column::Names(self.codes, names.names)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_what_was_added(rows in proptest::collection::vec(proptest::option::of(-3i64..3), 0..20)) {
            let numbers: Numbers<i64> = rows.iter().copied().collect();
            prop_assert_eq!(numbers.iter().collect::<Vec<_>>(), rows.clone());
            prop_assert_eq!(numbers.get(rows.len()), None);
            let (values, there) = numbers.into_parts();
            prop_assert_eq!(values, rows.iter().map(|row| row.unwrap_or(0)).collect::<Vec<_>>());
            let some_are_missing = rows.contains(&None);
            prop_assert_eq!(there, some_are_missing.then(|| rows.iter().map(Option::is_some).collect::<Vec<_>>()));
        }

        /// Few keys or many, of which some have the same name.
        #[test]
        fn keys_are_coded_as_their_names_are(keys in proptest::collection::vec(0u8..40, 0..80), same in 1u8..40) {
            let name = |key: u8| (key % same).to_string();
            let (mut column, mut names) = (Keys::default(), Names::default());
            for key in keys {
                column.push(key);
                names.push(&name(key));
            }
            prop_assert_eq!(column.column(name), names.column());
        }

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
