//! Tidy tables: one row per thing, units in the column names.

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its columns, all of one length.
    pub columns: Vec<(String, Column)>,
}

/// A column. `None` is a value that does not exist, such as the round-trip time of a flow that
/// measured none.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Text.
    Text(Vec<String>),
    /// Text out of few different ones: codes into the names.
    Names(Vec<u32>, Vec<String>),
    /// Whole numbers.
    Int(Vec<i64>),
    /// Numbers.
    Float(Vec<Option<f64>>),
    /// Truth values.
    Bool(Vec<bool>),
}
