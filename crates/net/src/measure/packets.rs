//! The table `packets`: a row for each packet sent, received, dropped and marked, and for each node that one goes on from.
//!
//! It is written column by column as packets come: rows that were made into columns at the end took two fifths of the time of a run that records,
//! and two thirds of the memory.

use crate::engine::Instant;
use crate::net::{Cause, DccpType, FlowId, Header, LayeredHeader, NodeId, Packet, PgmHeader, Place, TcpFlags};

use super::labels::Labels;
use super::table::{Column, Keys, Numbers, Table};

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// It left the endpoint that made it.
    Sent,
    /// It reached an endpoint.
    Received,
    /// It went on.
    Forwarded,
    /// It was dropped.
    Dropped(Cause),
    /// It was marked.
    Marked,
}

/// Where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// At a node.
    Node(NodeId),
    /// In a queue, or on a link.
    Place(Place),
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Forwarded => "forwarded",
            Self::Dropped(_) => "dropped",
            Self::Marked => "marked",
        }
    }

    fn cause(self) -> &'static str {
        if let Self::Dropped(cause) = self { cause.name() } else { "" }
    }
}

/// Collects packets.
#[derive(Debug, Default)]
pub struct Packets {
    time: Vec<f64>,
    event: Keys<Event>,
    place: Keys<At>,
    flow: Keys<FlowId>,
    connection: Vec<i64>,
    kind: Keys<&'static str>,
    seq: Vec<i64>,
    ack: Numbers<i64>,
    payload: Vec<i64>,
    size: Vec<i64>,
    number: Vec<i64>,
    sack_blocks: Vec<i64>,
}

/// What a header says.
struct Said {
    flow: FlowId,
    connection: u32,
    kind: &'static str,
    seq: u64,
    ack: Option<u64>,
    payload: u32,
    sack_blocks: u8,
}

impl Packets {
    /// Takes note of what happened to a packet.
    pub fn see(&mut self, now: Instant, event: Event, at: At, packet: &Packet) {
        let said = read(packet);
        self.time.push(now.as_secs_f64());
        self.event.push(event);
        self.place.push(at);
        self.flow.push(said.flow);
        self.connection.push(said.connection.into());
        self.kind.push(said.kind);
        self.seq.push(said.seq as i64);
        self.ack.push(said.ack.map(|ack| ack as i64));
        self.payload.push(said.payload.into());
        self.size.push(packet.size.into());
        self.number.push(packet.number as i64);
        self.sack_blocks.push(said.sack_blocks.into());
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// The table.
    pub fn table(self, labels: &Labels<'_>) -> Table {
        let int = |values: Vec<i64>| Column::Int(values.into());
        let cause = self.event.clone().column(|event| event.cause().to_owned());
        let place = |at| match at {
            At::Node(node) => (labels.node)(node),
            At::Place(place) => (labels.place)(place),
        };
        Table {
            columns: vec![
                ("time_s", Column::Float(self.time.into())),
                ("event", self.event.column(|event| event.name().to_owned())),
                ("place", self.place.column(place)),
                ("flow", self.flow.column(labels.flow)),
                ("connection", int(self.connection)),
                ("kind", self.kind.column(str::to_owned)),
                ("seq", int(self.seq)),
                ("ack", Column::Int(self.ack)),
                ("payload_bytes", int(self.payload)),
                ("size_bytes", int(self.size)),
                ("number", int(self.number)),
                ("sack_blocks", int(self.sack_blocks)),
                ("cause", cause),
            ],
        }
    }
}

fn read(packet: &Packet) -> Said {
    let mut said = Said {
        flow: packet.flow,
        connection: packet.connection,
        kind: "data",
        seq: 0,
        ack: None,
        payload: 0,
        sack_blocks: 0,
    };
    match &packet.header {
        Header::Tcp(tcp) => {
            said.seq = tcp.seq;
            said.ack = tcp.flags.has(TcpFlags::ACK).then_some(tcp.ack);
            said.payload = tcp.payload.into();
            said.sack_blocks = tcp.sack().len() as u8;
            said.kind = if tcp.flags.has(TcpFlags::SYN) {
                "syn"
            } else if tcp.flags.has(TcpFlags::FIN) {
                "fin"
            } else if tcp.payload > 0 {
                "data"
            } else {
                "ack"
            };
        }
        Header::Udp(udp) => said.seq = udp.seq,
        Header::Opaque => said.kind = "other",
        Header::Rtp(rtp) => {
            said.seq = rtp.seq;
            said.payload = rtp.payload;
        }
        Header::Rtcp(report) => {
            said.kind = "report";
            said.ack = Some(report.begin + report.len() as u64);
        }
        Header::Tfrc(tfrc) => {
            said.seq = tfrc.seq;
            said.payload = tfrc.payload;
        }
        Header::TfrcReport(report) => {
            said.kind = "report";
            said.ack = Some(report.seq);
        }
        Header::Dccp(dccp) => {
            said.seq = dccp.seq;
            said.payload = dccp.payload;
            said.ack = (dccp.kind != DccpType::Data).then_some(dccp.ack);
            if dccp.kind == DccpType::Ack {
                said.kind = "ack";
            }
        }
        Header::Tfmcc(tfmcc) => {
            said.seq = tfmcc.seq;
            said.payload = tfmcc.payload;
        }
        Header::TfmccReport(_) => said.kind = "report",
        Header::Pgm(pgm) => match pgm {
            PgmHeader::Data(data) => {
                said.seq = data.seq;
                said.payload = data.payload;
            }
            PgmHeader::Repair(data) => {
                said.kind = "repair";
                said.seq = data.seq;
                said.payload = data.payload;
            }
            PgmHeader::Nak(nak) => {
                said.kind = "nak";
                said.seq = nak.missing.unwrap_or_default();
            }
            PgmHeader::Confirmation(seq) => {
                said.kind = "ncf";
                said.seq = *seq;
            }
            PgmHeader::Ack(ack) => {
                said.kind = "ack";
                said.ack = Some(ack.seq);
            }
            PgmHeader::Path(path) => {
                said.kind = "spm";
                said.seq = path.next;
            }
        },
        Header::Layered(LayeredHeader::Data { layer, seq, .. }) => {
            said.connection = *layer;
            said.seq = *seq;
        }
        Header::Layered(LayeredHeader::Added(layer)) => {
            said.kind = "added";
            said.seq = u64::from(*layer);
        }
        Header::Signal(signal) => {
            said.flow = signal.flow;
            said.kind = signal.kind.name();
            said.seq = signal.number.into();
        }
    }
    said
}
