//! Logs of today's congestion controls, made by their own code.

pub mod scream;
