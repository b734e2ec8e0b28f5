//! What a high-speed downlink shared channel is made of.

use crate::radio::quality::Quality;
use crate::radio::rate_map::RateMap;
use crate::radio::scheduler::Scheduler;
use lasthop_net::engine::Duration;

use super::capacity::Plan;
use crate::radio::shared_channel::reception::Reception;

/// How the channel is set up.
pub struct Setup {
    /// How good the air is to each terminal.
    pub quality: Box<dyn Quality>,
    /// What that buys.
    pub rate_map: Box<dyn RateMap>,
    /// Whose slot it is.
    pub scheduler: Box<dyn Scheduler>,
    /// Decides which blocks are received.
    pub reception: Box<dyn Reception>,
    /// How many HARQ processes there are.
    pub processes: u8,
    /// How often a block is sent at most.
    pub transmissions: u32,
    /// How many slots lie between the beginnings of two blocks to a terminal, at least.
    pub interval: u64,
    /// How many blocks a terminal reorders at most.
    pub window: u32,
    /// How long it waits for one that is missing.
    pub t1: Duration,
    /// Between RNC and Node B.
    pub capacity: Plan,
    /// How long a block is on the air.
    pub air_time: Duration,
}
