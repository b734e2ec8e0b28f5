//! Agents of other simulators, rebuilt so that their traces come out event for event. The models beside them know nothing of them;
//! [`scenario`](https://docs.rs/lasthop-core) puts them in their places.

pub mod eurane;
pub mod linux;
pub mod ns2;
