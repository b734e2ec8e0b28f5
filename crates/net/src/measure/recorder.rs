//! Records packets, variables, handovers and slots as they are observed, into the tables `packets`,
//! `changes`, `handovers` and `slots`.

use std::any::Any;

use crate::engine::Instant;
use crate::net::{Observation, Observer, Packet};

use super::changes::Changes;
use super::handovers::Handovers;
use super::labels::Labels;
use super::packets::{At, Event, Packets};
use super::slots::Slots;
use super::table::Table;

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
    packets: Packets,
    changes: Changes,
    handovers: Handovers,
    slots: Slots,
    next: Option<Box<dyn Observer>>,
}

impl Recorder {
    /// A recorder that shows everything to `next` as well.
    pub fn new(wanted: Wanted, next: Option<Box<dyn Observer>>) -> Self {
        Self {
            wanted,
            packets: Packets::default(),
            changes: Changes::default(),
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
    pub fn tables(self, labels: &Labels<'_>) -> Vec<(&'static str, Table)> {
        let mut tables = Vec::new();
        if self.wanted.packets {
            tables.push(("packets", self.packets.table(labels)));
        }
        if self.wanted.variables {
            tables.push(("changes", self.changes.table(labels)));
        }
        if self.wanted.handovers {
            tables.push(("handovers", self.handovers.table(labels.place)));
        }
        if self.wanted.slots {
            tables.push(("slots", self.slots.table(labels.place)));
        }
        tables
    }

    fn note(&mut self, now: Instant, event: Event, at: At, packet: &Packet) {
        if self.wanted.packets {
            self.packets.see(now, event, at, packet);
        }
    }
}

impl Observer for Recorder {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        if self.wanted.handovers {
            self.handovers.see(now, observation);
        }
        match *observation {
            Observation::Sent { node, packet } => self.note(now, Event::Sent, At::Node(node), packet),
            Observation::Received { node, packet } => self.note(now, Event::Received, At::Node(node), packet),
            Observation::Forwarded { node, packet } if self.wanted.hops => {
                self.note(now, Event::Forwarded, At::Node(node), packet);
            }
            Observation::Dropped { place, cause, packet } => {
                self.note(now, Event::Dropped(cause), At::Place(place), packet);
            }
            Observation::Marked { place, packet } => self.note(now, Event::Marked, At::Place(place), packet),
            Observation::Changed { node, flow, variable, value } => {
                if self.wanted.variables {
                    self.changes.see(now, node, flow, variable, value);
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
            ("packets", self.packets.rows()),
            ("variables", self.changes.rows()),
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
