//! Low-orbit satellites: constellations whose satellites forward packets to one another and to terminals on the ground.
//!
//! A constellation is one medium. Its satellites and terminals are nodes; between them it makes links of transmitters, each with
//! a queue, whose length follows the orbits:
//!
//! | part of a radio link | here |
//! | --- | --- |
//! | attachment | [`handoff`]: a terminal keeps a satellite while it stands high enough |
//! | channel | [`range`]: the distance when a packet begins to be sent, at the speed of light; loss models for errors |
//! | rate map | none: fixed rates |
//! | scheduler | none: each transmitter sends whenever it has something |
//! | link ARQ | none |
//!
//! [`orbits`] says where satellites are, [`mesh`] which of them are linked. Geometry and rules follow ns-2's `satellite/`, whose
//! constants [`earth`] has.

pub mod air;
mod audiences;
pub mod body;
pub mod constellation;
pub mod earth;
pub mod handoff;
pub mod mesh;
pub mod orbits;
pub mod range;
pub mod tracked;

pub use constellation::{Constellation, Looks, Sending, Setup, Terminal};
