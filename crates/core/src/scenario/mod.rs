//! The scenario: one schema, from which reading, checking, JSON Schema and documentation come.
//! The only part of the core that reads files.

mod attached;
pub mod builder;
pub mod capture;
pub mod change;
pub mod check;
pub mod diagnostic;
mod ends;
pub mod expand;
mod group;
mod hints;
pub mod live;
pub mod media;
mod ramp;
pub mod read;
pub mod registry;
pub mod schema;
pub mod session;
mod tree;
pub mod types;
mod wording;

pub use check::check;
pub use diagnostic::Diagnostic;
pub use read::Document;
