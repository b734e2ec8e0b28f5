//! Media with an air of their own: cells, and satellites. They know no protocol that they carry.

pub mod radio;
pub mod satellite;
