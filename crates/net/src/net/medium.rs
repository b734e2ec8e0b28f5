//! Media carry packets between the interfaces attached to them.

use crate::engine::{BitRate, Decibel, Duration, Instant};

use super::core::{Core, Port};
use super::loss::Loss;
use super::observe::Probe;
use super::order::{Answer, Command};
use super::packet::NodeId;
use super::slab::Pkt;

/// An interface attached to a medium, numbered from 0 in the order of attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer(pub u32);

/// The far side of a peer: where arriving packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The node.
    pub node: NodeId,
    /// The node's interface.
    pub port: Port,
}

/// Carries packets between the interfaces attached to it; may delay, lose, segment, schedule
/// and replicate them.
pub trait Medium: Send {
    /// Takes a packet from a peer, for one or more others. Where the way divides it makes copies.
    fn accept(&mut self, core: &mut Core, from: Peer, to: &[Peer], packet: Pkt);
    /// The wake-up with this key has come. It may be an old one with nothing due.
    fn wake(&mut self, core: &mut Core, key: u32);
    /// The world changes: a rate, a delay, a link goes up or down. Parts that cannot be copied,
    /// such as a loss model, are taken out of `change`.
    fn change(&mut self, core: &mut Core, change: &mut Change);
    /// A machine of the node at peer `at` asks something of its outgoing interface there.
    fn order(&mut self, _core: &mut Core, _at: Peer, _command: &Command) -> Answer {
        Answer::Unknown
    }
    /// Whether the way from one peer to another is one of which a machine asks something by [`Medium::order`].
    fn takes_orders(&self, _from: Peer, _to: Peer) -> bool {
        true
    }
    /// The way to `peer` at present, as its terminal may know it.
    fn access(&self, peer: Peer) -> Access;
    /// The ways that exist at present, for routing.
    fn edges(&self, now: Instant) -> Vec<Edge>;
    /// Packets that it holds at present: waiting, in service and in flight.
    fn holds(&self) -> u64;
    /// Its present state and totals, after a [`Probe::part`] for each of its directions or parts.
    fn sample(&self, core: &Core, probe: &mut dyn Probe);
}

/// A way between two peers of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// From here …
    pub from: Peer,
    /// … to there.
    pub to: Peer,
    /// Its propagation delay, by which paths are compared.
    pub delay: Duration,
}

/// A way to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its rate.
    pub rate: BitRate,
    /// Its propagation delay.
    pub delay: Duration,
    /// Whether it carries anything.
    pub up: bool,
}

/// What changes in a medium. `None` leaves a property as it is.
#[derive(Default)]
pub struct Change {
    /// The terminal of a radio or a constellation whose way changes. A link has one way only, and does not ask.
    pub peer: Peer,
    /// The new rates, forward and back.
    pub rate: Option<[BitRate; 2]>,
    /// The new propagation delay, in both directions.
    pub delay: Option<Duration>,
    /// Whether the link is up.
    pub up: Option<bool>,
    /// By how much the ratio of signal to interference becomes better than it is by itself.
    pub quality: Option<Decibel>,
    /// A new loss model for the forward direction; of a terminal, down.
    pub loss: Option<Loss>,
    /// How long the new loss model holds before the former goes on; `None`: for good.
    pub loss_for: Option<Duration>,
    /// What becomes of packets in service or in flight.
    pub in_flight: InFlight,
    /// What becomes of waiting packets.
    pub queue: Queued,
    /// How long it takes to forward packets from the old access to the new one.
    pub forwarding: Duration,
    /// How long nothing is sent. Packets that arrive meanwhile wait.
    pub interruption: Duration,
    /// How long the old access goes on sending the packets that wait, while the new one sends those that arrive.
    pub overlap: Duration,
}

/// What becomes of packets in service or in flight when a link changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InFlight {
    /// They arrive as if nothing had changed.
    #[default]
    Finish,
    /// They are sent again over the changed link, in order and ahead of its queue, and not
    /// over the old one. They are exempt from the queue's limit, but count for later arrivals.
    Move,
    /// They arrive as if nothing had changed, and copies of them are sent as with `move`.
    Copy,
    /// They are dropped.
    Lose,
    /// They come to the queue of the changed link, in order and like all other packets, after
    /// the time that forwarding takes.
    Forward,
}

/// What becomes of waiting packets when a link changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queued {
    /// They stay in the queue.
    #[default]
    Keep,
    /// They are dropped.
    Empty,
    /// They come to the queue of the changed link, in order and like all other packets, after
    /// the time that forwarding takes.
    Forward,
}
