//! The table `changes`: a row for each change of a variable of an endpoint.

use crate::engine::Instant;
use crate::net::{FlowId, NodeId, Variable};

use super::labels::Labels;
use super::table::{Column, Keys, Table};

/// Collects changes, column by column.
#[derive(Debug, Default)]
pub struct Changes {
    time: Vec<f64>,
    flow: Keys<FlowId>,
    place: Keys<NodeId>,
    variable: Keys<&'static str>,
    value: Vec<f64>,
}

impl Changes {
    /// Takes note of a change at the endpoint of a flow at a node.
    pub fn see(&mut self, now: Instant, node: NodeId, flow: FlowId, variable: Variable, value: f64) {
        self.time.push(now.as_secs_f64());
        self.flow.push(flow);
        self.place.push(node);
        self.variable.push(variable.name());
        self.value.push(value);
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// The table.
    pub fn table(self, labels: &Labels<'_>) -> Table {
        Table {
            columns: vec![
                ("time_s", Column::Float(self.time.into())),
                ("flow", self.flow.column(labels.flow)),
                ("place", self.place.column(labels.node)),
                ("variable", self.variable.column(str::to_owned)),
                ("value", Column::Float(self.value.into())),
            ],
        }
    }
}
