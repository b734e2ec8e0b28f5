//! How much of what one antenna sends comes to another: distance, shadowing, antenna pattern, noise.
//!
//! It knows no radio system. A system adds its powers and its interference.

pub mod antenna;
pub mod noise;
pub mod path_loss;
pub mod shadowing;
pub mod site;

pub use antenna::Antenna;
pub use path_loss::PathLoss;
pub use shadowing::{Shadow, Shadowing};
pub use site::{Sector, coupling_gain};
