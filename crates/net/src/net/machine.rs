//! Machines without IO: endpoints, sources, and their notices and actions.
//!
//! A machine never schedules, sleeps or asks the time. After every input its `poll` is drained,
//! then `next_timeout` is read; when that instant comes, `on_timeout` is called.

use crate::engine::{BitRate, Duration, FloatTime, Instant, Stream};

use super::core::Port;
use super::medium::Access;
use super::observe::{Probe, Variable};
use super::order::{Answer, Order};
use super::packet::{Address, Ecn, FlowId, GroupId, Header, NodeId, Packet, Socket};

/// A machine with one timer, the earliest of all those that it keeps; or with none.
pub trait Timed: Send {
    /// The instant that [`Timed::next_timeout`] named has come.
    fn on_timeout(&mut self, _now: Instant) {}
    /// When it wants to be woken next. Read after every input.
    fn next_timeout(&self) -> Option<Instant> {
        None
    }
    /// The present by ns-2's clock. Said before every input of an endpoint in a run that follows
    /// that clock; for machines that repeat ns-2's sums of times.
    fn set_float(&mut self, _now: FloatTime) {}
    /// [`Timed::next_timeout`] by ns-2's clock, if the machine keeps it.
    fn next_float(&self) -> Option<FloatTime> {
        None
    }
}

/// One end of a transport connection: packet in, timer in; packets and notices out.
pub trait Endpoint: Timed {
    /// A packet has come to its port.
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port);
    /// The flow's source asks for something, an order was answered, or an access link of its node
    /// has changed. Only the sending end gets notices of the source.
    fn on_notice(&mut self, now: Instant, notice: Notice);
    /// What it wants done next; `None` when nothing is left. A packet to be sent is written to
    /// `packet`, where it is to lie; what that held before means nothing.
    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action>;
    /// Its present state and totals, for tables and series.
    fn sample(&self, probe: &mut dyn Probe);
}

/// What an endpoint wants done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send the packet that was written.
    Send,
    /// Send the packet that was written to the neighbour on the way to this node: to the machine
    /// there at the port that it names. It is dropped if there is no way.
    SendToward(NodeId),
    /// Ask something of the own node. The answer comes at once, as [`Notice::Answer`].
    Order(Order),
    /// Tell the flow's source.
    Tell(Notice),
    /// Show that a variable changed. Said only if [`EndpointContext::observed`] is set.
    Observe(Variable, f64),
}

/// A message between a source and its endpoints. Byte counts are totals since the connection was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Source: open a connection.
    Open,
    /// Source: here are `n` more bytes to send; `u64::MAX` is a source that never ends.
    Write(u64),
    /// Source: no more will come; close when everything has been sent.
    Close,
    /// Source: forget the connection and everything learnt in it; what follows belongs to a new one.
    Reset,
    /// Source, before it opens a connection: full packets carry this many bytes of payload and options from now on, or fewer if the
    /// transport's own configuration says so (RFC 6691: options take of the segment).
    Segment(u32),
    /// Sender: bytes sent for the first time so far.
    Sent(u64),
    /// Sender: bytes acknowledged so far.
    Acked(u64),
    /// Sender: the rate at which its congestion control lets payload leave, for sources that can follow it.
    Rate(BitRate),
    /// Receiver: bytes received in order so far.
    Received(u64),
    /// The network, or the sender of media that came too late to be sent: a packet of a protocol that sends nothing again was dropped.
    Lost {
        /// How many bytes it carried.
        payload: u32,
        /// How many bytes of the connection were sent up to its end.
        end: u64,
    },
    /// Source: the receiver has all data of the connection. No answer is awaited any more.
    Over,
    /// The node: the answer to the order given last.
    Answer(Answer),
    /// The node: one of its links has changed.
    Link(LinkNotice),
    /// The node: from now on it listens to what a sender sends to a group, or no longer.
    Membership(Membership),
    /// The node: from now on its receiver of the session with this group takes part, or no longer.
    Session(GroupId, bool),
    /// The node: the way back to the sender of a group that it listens to or passes on leads elsewhere.
    Upstream(Upstream),
}

/// Reports to a machine a change of one of its node's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkNotice {
    /// The interface.
    pub port: Port,
    /// The way to this node before the change.
    pub before: Access,
    /// The way to this node from now on.
    pub after: Access,
}

/// A node begins or ceases to listen to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group.
    pub group: GroupId,
    /// The sender.
    pub source: NodeId,
    /// Whether it begins.
    pub joins: bool,
    /// How long the last router goes on after a node has ceased to listen.
    pub leave_latency: Duration,
}

/// The way back to the sender of a group leads elsewhere now, or over another interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The group.
    pub group: GroupId,
    /// The sender.
    pub source: NodeId,
    /// The neighbour on the way before, if it is not that on the way now.
    pub before: Option<NodeId>,
    /// The neighbour on the way now.
    pub now: Option<NodeId>,
}

/// The notices to which a source subscribes. Others are not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hears {
    /// [`Notice::Sent`].
    pub sent: bool,
    /// [`Notice::Acked`].
    pub acked: bool,
    /// [`Notice::Received`].
    pub received: bool,
    /// [`Notice::Lost`].
    pub lost: bool,
    /// [`Notice::Rate`].
    pub rate: bool,
}

/// A machine that serves its node.
#[derive(Clone, Copy)]
pub struct Agent {
    /// Its port, below [`FIRST_FREE_PORT`](super::FIRST_FREE_PORT).
    pub port: u16,
    /// Makes it; the stream is its own.
    pub make: fn(EndpointContext, Stream) -> Box<dyn Endpoint>,
}

/// Where an endpoint sits, and which of its events are subscribed to.
#[derive(Clone, Copy, Debug)]
pub struct EndpointContext {
    /// Its own end.
    pub local: Socket,
    /// The address of the other end.
    pub remote: Address,
    /// The port of the other end.
    pub remote_port: u16,
    /// The flow.
    pub flow: FlowId,
    /// The notices to which the flow's source subscribes.
    pub hears: Hears,
    /// Whether changes of variables are to be shown.
    pub observed: bool,
}

impl EndpointContext {
    /// A packet of this size to the other end: best effort, and not to be marked.
    #[inline(always)]
    pub fn packet(&self, connection: u32, number: u64, size: u32, header: Header) -> Packet {
        Packet {
            from: self.local,
            to: self.remote,
            to_port: self.remote_port,
            dscp: 0,
            ecn: Ecn::NotEct,
            size,
            flow: self.flow,
            connection,
            number,
            header,
        }
    }
}

/// The application of a flow: gets notices of both its ends, asks the sending one.
pub trait Source: Timed {
    /// An end of the flow says something. The first input of all is [`Timed::on_timeout`] at
    /// the flow's start.
    fn on_notice(&mut self, now: Instant, notice: Notice);
    /// What it asks of the sending end; `None` when nothing is left.
    fn poll(&mut self, now: Instant) -> Option<Notice>;
    /// The notices to which it subscribes.
    fn hears(&self) -> Hears {
        Hears::default()
    }
    /// The transfers that it has begun.
    fn transfers(&self) -> &[Transfer] {
        &[]
    }
    /// What became of the media that it sends, for the table `media`.
    fn sample(&self, _probe: &mut dyn Probe) {}
    /// Transfers are not recorded: those that have ended need not be kept.
    fn forget_transfers(&mut self) {}
}

/// A transfer of a finite amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When the source handed it over, or the first part of it.
    pub start: Instant,
    /// When the first byte left the sender; `None` if none has, or the source gets no such notice.
    pub sent: Option<Instant>,
    /// When all of it had been received in order; `None` if it is not complete.
    pub received: Option<Instant>,
    /// When the sender knew that: the last byte was acknowledged.
    pub acked: Option<Instant>,
    /// Its payload bytes.
    pub bytes: u64,
    /// The parts in which the source hands it over.
    pub objects: u32,
    /// The size of its full packets, headers included, if the source chooses it.
    pub packet: Option<u32>,
}

impl Transfer {
    /// A transfer of this size in one part that begins at `start`.
    pub fn begun(start: Instant, bytes: u64) -> Self {
        Self { start, sent: None, received: None, acked: None, bytes, objects: 1, packet: None }
    }
}
