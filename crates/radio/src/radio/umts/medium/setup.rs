//! What a cell is made of.

use crate::radio::Direction;
use crate::radio::arq::LinkArq;
use crate::radio::attachment::Attachment;
use crate::radio::channel::Channel;
use crate::radio::pdcp;
use crate::radio::umts::channel::{Limit, Order, Rate};
use crate::radio::umts::cpch;
use crate::radio::umts::hs_dsch;
use crate::radio::umts::rach::Aloha;
use crate::radio::umts::roaming::Area;
use crate::radio::umts::timing::Timing;
use crate::radio::umts::utran::Utran;
use lasthop_net::engine::Duration;
use lasthop_net::net::indication::Marker;
use lasthop_net::net::observe::Place;

use super::other_systems::OtherSystems;

/// How a cell is set up.
pub struct Setup {
    /// Its name in results.
    pub name: String,
    /// The forward access channel, down.
    pub fach: Rate,
    /// The random access channel, up: each terminal has it for itself.
    pub rach: Rate,
    /// Access to it delays an interval's PDUs by up to this long, at random.
    pub rach_access: Duration,
    /// Access to it is slotted ALOHA instead.
    pub rach_aloha: Option<Aloha>,
    /// Dedicated channels, down and up.
    pub dch: [Rate; 2],
    /// The downlink shared channel, if the cell has one.
    pub dsch: Option<Shared>,
    /// The high-speed downlink shared channel, if the cell has one.
    pub hs_dsch: Option<hs_dsch::Setup>,
    /// The common packet channels, up, if the cell has any.
    pub cpch: Option<cpch::Config>,
    /// What queues in front of the air take.
    pub limit: Limit,
    /// Whose turn it is on the forward access channel.
    pub order: Order,
    /// Between Node Bs and RNCs.
    pub utran: Utran,
    /// Decides which blocks are received.
    pub air: Box<dyn Channel>,
    /// What moves terminals between cells; `None`: there is one cell.
    pub area: Option<Area>,
    /// Other systems that serve terminals.
    pub elsewhere: OtherSystems,
    /// A new RLC entity: the end of a bearer that sends in a direction.
    pub rlc: Box<dyn Fn(Direction) -> Box<dyn LinkArq> + Send>,
    /// A new PDCP entity, if headers are compressed.
    pub pdcp: Box<dyn Fn() -> Option<Box<pdcp::Entity>> + Send>,
    /// PDUs of one interval leave their entity one after the other, each up to this long after the one
    /// before, at random.
    pub spacing: Duration,
    /// What draws this and [`Setup::rach_access`]; `None`: streams of the cell.
    pub timing: Option<Box<dyn Timing>>,
    /// Messages of a terminal on RACH come one after the other, and before what it sends over another channel later; on CELL_DCH it gets
    /// nothing of FACH; over a new channel it sends from the interval on that begins after the last one of the former. `false`: PDUs of a
    /// former interval or channel may be overtaken, and the intervals of the former channel go on in the new length, as in EURANE.
    pub in_order: bool,
    /// What indicates packets that RLC never had down; `None`: nothing does.
    pub loss_indication: Option<Marker>,
    /// PDU size, in bits.
    pub pdu_bits: u32,
    /// What serves the terminals, and when that changes.
    pub attachment: Box<dyn Attachment>,
    /// For each terminal: where packets end that are not delivered, down and up.
    pub terminals: Vec<[Place; 2]>,
}

/// A channel that several terminals share, one in each interval.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// Its rate and interval.
    pub rate: Rate,
    /// Whose turn it is.
    pub order: Order,
}
