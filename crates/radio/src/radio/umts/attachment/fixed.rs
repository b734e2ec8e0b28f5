//! Channels that never change: all terminals on the common ones, each on its own, or all on the high-speed shared one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::attachment::{Attachment, Move, Service, Waiting};
use crate::radio::umts::mapping::Transport;
use lasthop_net::engine::Instant;
use lasthop_net::net::Probe;

use super::{AttachmentConfig, Cell};

/// All terminals stay on the common channels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Common {}

/// Each terminal has dedicated channels, whatever that takes of the cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dedicated {}

/// All terminals share the high-speed shared channel down, and each has a dedicated channel up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HighSpeed {}

impl AttachmentConfig for Common {
    fn build(&self, _cell: &Cell) -> Box<dyn Attachment> {
        Box::new(Fixed(Service::Common))
    }

    fn maps_to(&self) -> &'static [Transport] {
        &[Transport::Fach, Transport::Rach, Transport::Cpch]
    }
}

impl AttachmentConfig for Dedicated {
    fn build(&self, _cell: &Cell) -> Box<dyn Attachment> {
        Box::new(Fixed(Service::Dedicated))
    }

    fn maps_to(&self) -> &'static [Transport] {
        &[Transport::Dch]
    }
}

impl AttachmentConfig for HighSpeed {
    fn build(&self, _cell: &Cell) -> Box<dyn Attachment> {
        Box::new(Fixed(Service::HighSpeed))
    }

    fn maps_to(&self) -> &'static [Transport] {
        &[Transport::HsDsch, Transport::Dch]
    }
}

/// The attachment.
struct Fixed(Service);

impl Attachment for Fixed {
    fn service(&self, _terminal: u32) -> Service {
        self.0
    }

    fn on_backlog(&mut self, _now: Instant, _terminal: u32, _direction: Direction, _waiting: &dyn Waiting) {}

    fn on_sent(&mut self, _now: Instant, _terminal: u32, _direction: Direction, _bits: u32) {}

    fn on_timeout(&mut self, _now: Instant, _waiting: &dyn Waiting) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn poll(&mut self) -> Option<Move> {
        None
    }

    fn sample(&self, _now: Instant, _probe: &mut dyn Probe) {}

    fn sample_terminal(&self, _now: Instant, _terminal: u32, _probe: &mut dyn Probe) {}
}
