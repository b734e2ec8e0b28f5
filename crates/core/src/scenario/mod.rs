//! The scenario: one schema, from which reading, checking, JSON Schema and documentation come.
//! The only part of the core that reads files.

pub mod builder;
pub mod registry;
pub mod run;
pub mod types;
