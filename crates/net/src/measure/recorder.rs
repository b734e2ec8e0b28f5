//! Records packets, variables, handovers and slots as they are observed, into the tables `packets`,
//! `changes`, `handovers` and `slots`.

use std::any::Any;

use crate::engine::Instant;
use crate::net::{
    DccpType, FlowId, Header, LayeredHeader, NodeId, Observation, Observer, Packet, PgmHeader, Place, TcpFlags,
};

use super::handovers::Handovers;
use super::slots::Slots;
use super::table::{Column, Names, Table};

/// What to record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Every packet sent, received, dropped and marked.
    pub packets: bool,
    /// Every change of a variable.
    pub variables: bool,
    /// Among these, each node that a packet goes on from.
    pub hops: bool,
    /// What each change of a link did.
    pub handovers: bool,
    /// The terminals served in each slot of a radio.
    pub slots: bool,
}

impl Wanted {
    /// Whether anything is to be recorded.
    pub fn anything(self) -> bool {
        self.packets || self.variables || self.handovers || self.slots
    }
}

/// The recorder.
pub struct Recorder {
    wanted: Wanted,
    packets: Vec<PacketRow>,
    changes: Vec<ChangeRow>,
    handovers: Handovers,
    slots: Slots,
    next: Option<Box<dyn Observer>>,
}

/// Names by number, to label rows.
pub struct Labels<'a> {
    /// Of nodes.
    pub node: &'a dyn Fn(NodeId) -> String,
    /// Of places.
    pub place: &'a dyn Fn(Place) -> String,
    /// Of flows.
    pub flow: &'a dyn Fn(FlowId) -> String,
}

struct PacketRow {
    at: Instant,
    event: Event,
    flow: FlowId,
    connection: u32,
    kind: &'static str,
    seq: u64,
    ack: Option<u64>,
    payload: u32,
    size: u32,
    number: u64,
    sack_blocks: u8,
}

enum Event {
    Sent(NodeId),
    Received(NodeId),
    Forwarded(NodeId),
    Dropped(Place, &'static str),
    Marked(Place),
}

struct ChangeRow {
    at: Instant,
    node: NodeId,
    flow: FlowId,
    variable: &'static str,
    value: f64,
}

impl Recorder {
    /// A recorder that shows everything to `next` as well.
    pub fn new(wanted: Wanted, next: Option<Box<dyn Observer>>) -> Self {
        Self {
            wanted,
            packets: Vec::new(),
            changes: Vec::new(),
            handovers: Handovers::default(),
            slots: Slots::default(),
            next,
        }
    }

    /// The observer behind this one.
    pub fn take_next(&mut self) -> Option<Box<dyn Observer>> {
        self.next.take()
    }

    /// The tables `packets`, `changes`, `handovers` and `slots`, as far as they were wanted.
    pub fn tables(&self, labels: &Labels<'_>) -> Vec<(&'static str, Table)> {
        let mut tables = Vec::new();
        if self.wanted.packets {
            tables.push(("packets", self.packet_table(labels)));
        }
        if self.wanted.variables {
            tables.push(("changes", self.change_table(labels)));
        }
        if self.wanted.handovers {
            tables.push(("handovers", self.handovers.table(labels.place)));
        }
        if self.wanted.slots {
            tables.push(("slots", self.slots.table(labels.place)));
        }
        tables
    }

    fn packet_table(&self, labels: &Labels<'_>) -> Table {
        let rows = &self.packets;
        let (mut event, mut place, mut cause) = (Names::default(), Names::default(), Names::default());
        let (mut flow, mut kind) = (Names::default(), Names::default());
        for row in rows {
            let (name, at, why) = match row.event {
                Event::Sent(node) => ("sent", (labels.node)(node), ""),
                Event::Received(node) => ("received", (labels.node)(node), ""),
                Event::Forwarded(node) => ("forwarded", (labels.node)(node), ""),
                Event::Dropped(at, why) => ("dropped", (labels.place)(at), why),
                Event::Marked(at) => ("marked", (labels.place)(at), ""),
            };
            event.push(name);
            place.push(&at);
            cause.push(why);
            flow.push(&(labels.flow)(row.flow));
            kind.push(row.kind);
        }
        let int =
            |f: &dyn Fn(&PacketRow) -> Option<u64>| Column::Int(rows.iter().map(|r| f(r).map(|n| n as i64)).collect());
        Table {
            columns: vec![
                ("time_s", Column::Float(rows.iter().map(|r| Some(r.at.as_secs_f64())).collect())),
                ("event", event.column()),
                ("place", place.column()),
                ("flow", flow.column()),
                ("connection", int(&|r| Some(r.connection.into()))),
                ("kind", kind.column()),
                ("seq", int(&|r| Some(r.seq))),
                ("ack", int(&|r| r.ack)),
                ("payload_bytes", int(&|r| Some(r.payload.into()))),
                ("size_bytes", int(&|r| Some(r.size.into()))),
                ("number", int(&|r| Some(r.number))),
                ("sack_blocks", int(&|r| Some(r.sack_blocks.into()))),
                ("cause", cause.column()),
            ],
        }
    }

    fn change_table(&self, labels: &Labels<'_>) -> Table {
        let (mut flow, mut place, mut variable) = (Names::default(), Names::default(), Names::default());
        for row in &self.changes {
            flow.push(&(labels.flow)(row.flow));
            place.push(&(labels.node)(row.node));
            variable.push(row.variable);
        }
        Table {
            columns: vec![
                ("time_s", Column::Float(self.changes.iter().map(|r| Some(r.at.as_secs_f64())).collect())),
                ("flow", flow.column()),
                ("place", place.column()),
                ("variable", variable.column()),
                ("value", Column::Float(self.changes.iter().map(|r| Some(r.value)).collect())),
            ],
        }
    }

    fn note(&mut self, at: Instant, event: Event, packet: &Packet) {
        if !self.wanted.packets {
            return;
        }
        let mut row = PacketRow {
            at,
            event,
            flow: packet.flow,
            connection: packet.connection,
            kind: "data",
            seq: 0,
            ack: None,
            payload: 0,
            size: packet.size,
            number: packet.number,
            sack_blocks: 0,
        };
        match &packet.header {
            Header::Tcp(tcp) => {
                row.seq = tcp.seq;
                row.ack = tcp.flags.has(TcpFlags::ACK).then_some(tcp.ack);
                row.payload = tcp.payload;
                row.sack_blocks = tcp.sack().len() as u8;
                row.kind = if tcp.flags.has(TcpFlags::SYN) {
                    "syn"
                } else if tcp.flags.has(TcpFlags::FIN) {
                    "fin"
                } else if tcp.payload > 0 {
                    "data"
                } else {
                    "ack"
                };
            }
            Header::Udp(udp) => row.seq = udp.seq,
            Header::Opaque => row.kind = "other",
            Header::Rtp(rtp) => {
                row.seq = rtp.seq;
                row.payload = rtp.payload;
            }
            Header::Rtcp(report) => {
                row.kind = "report";
                row.ack = Some(report.begin + report.len() as u64);
            }
            Header::Tfrc(tfrc) => {
                row.seq = tfrc.seq;
                row.payload = tfrc.payload;
            }
            Header::TfrcReport(report) => {
                row.kind = "report";
                row.ack = Some(report.seq);
            }
            Header::Dccp(dccp) => {
                row.seq = dccp.seq;
                row.payload = dccp.payload;
                row.ack = (dccp.kind != DccpType::Data).then_some(dccp.ack);
                if dccp.kind == DccpType::Ack {
                    row.kind = "ack";
                }
            }
            Header::Tfmcc(tfmcc) => {
                row.seq = tfmcc.seq;
                row.payload = tfmcc.payload;
            }
            Header::TfmccReport(_) => row.kind = "report",
            Header::Pgm(pgm) => match pgm {
                PgmHeader::Data(data) => {
                    row.seq = data.seq;
                    row.payload = data.payload;
                }
                PgmHeader::Repair(data) => {
                    row.kind = "repair";
                    row.seq = data.seq;
                    row.payload = data.payload;
                }
                PgmHeader::Nak(nak) => {
                    row.kind = "nak";
                    row.seq = nak.missing.unwrap_or_default();
                }
                PgmHeader::Confirmation(seq) => {
                    row.kind = "ncf";
                    row.seq = *seq;
                }
                PgmHeader::Ack(ack) => {
                    row.kind = "ack";
                    row.ack = Some(ack.seq);
                }
                PgmHeader::Path(path) => {
                    row.kind = "spm";
                    row.seq = path.next;
                }
            },
            Header::Layered(LayeredHeader::Data { layer, seq, .. }) => {
                row.connection = *layer;
                row.seq = *seq;
            }
            Header::Layered(LayeredHeader::Added(layer)) => {
                row.kind = "added";
                row.seq = u64::from(*layer);
            }
            Header::Signal(signal) => {
                row.flow = signal.flow;
                row.kind = signal.kind.name();
                row.seq = signal.number.into();
            }
        }
        self.packets.push(row);
    }
}

impl Observer for Recorder {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        if self.wanted.handovers {
            self.handovers.see(now, observation);
        }
        match *observation {
            Observation::Sent { node, packet } => self.note(now, Event::Sent(node), packet),
            Observation::Received { node, packet } => self.note(now, Event::Received(node), packet),
            Observation::Forwarded { node, packet } if self.wanted.hops => {
                self.note(now, Event::Forwarded(node), packet);
            }
            Observation::Dropped { place, cause, packet } => {
                self.note(now, Event::Dropped(place, cause.name()), packet)
            }
            Observation::Marked { place, packet } => self.note(now, Event::Marked(place), packet),
            Observation::Changed { node, flow, variable, value } => {
                if self.wanted.variables {
                    self.changes.push(ChangeRow { at: now, node, flow, variable: variable.name(), value });
                }
            }
            Observation::Slot { place, block } if self.wanted.slots => self.slots.see(now, place, block),
            Observation::Slot { .. }
            | Observation::Arrived { .. }
            | Observation::Handover { .. }
            | Observation::Served { .. }
            | Observation::Forwarded { .. }
            | Observation::Copied { .. }
            | Observation::Pdu { .. } => {}
        }
        if let Some(next) = &mut self.next {
            next.see(now, observation);
        }
    }

    fn largest_table(&self) -> (&'static str, u64) {
        let rows = [
            ("packets", self.packets.len()),
            ("variables", self.changes.len()),
            ("slots", self.slots.rows()),
            ("handovers", self.handovers.rows()),
        ];
        let (table, rows) = rows.into_iter().max_by_key(|(_, rows)| *rows).unwrap_or_default();
        (table, rows as u64)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
