//! What rows are labelled with.

use crate::net::{FlowId, NodeId, Place};

/// Names by number.
pub struct Labels<'a> {
    /// Of nodes.
    pub node: &'a dyn Fn(NodeId) -> String,
    /// Of places.
    pub place: &'a dyn Fn(Place) -> String,
    /// Of flows.
    pub flow: &'a dyn Fn(FlowId) -> String,
}
