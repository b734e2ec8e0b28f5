//! Which endpoint listens at a port of a node.

use crate::net::node::FIRST_FREE_PORT;
use crate::net::packet::{NodeId, Socket};

/// The endpoints at the ports of all nodes, by number.
#[derive(Default)]
pub(super) struct Sockets {
    /// Of each node that at the first free port, or [`NONE`]. Most nodes have no other, and these lie close together.
    firsts: Vec<u32>,
    /// Of each node those at other ports, by port, or [`NONE`].
    others: Vec<Vec<u32>>,
}

/// No endpoint.
const NONE: u32 = u32::MAX;

impl Sockets {
    /// Another node, where no endpoint listens.
    pub fn add_node(&mut self) {
        self.firsts.push(NONE);
    }

    /// From now on this endpoint listens here.
    pub fn listen(&mut self, Socket { node, port }: Socket, endpoint: u32) {
        let node = node.0 as usize;
        if port == FIRST_FREE_PORT {
            self.firsts[node] = endpoint;
            return;
        }
        if self.others.len() <= node {
            self.others.resize(node + 1, Vec::new());
        }
        let others = &mut self.others[node];
        others.resize(others.len().max(usize::from(port) + 1), NONE);
        others[usize::from(port)] = endpoint;
    }

    /// The endpoint that listens here.
    #[inline]
    pub fn at(&self, node: NodeId, port: u16) -> Option<u32> {
        let node = node.0 as usize;
        let endpoint = match port {
            FIRST_FREE_PORT => self.firsts[node],
            _ => *self.others.get(node)?.get(usize::from(port))?,
        };
        (endpoint != NONE).then_some(endpoint)
    }

    /// The lowest port of a node behind all at which an endpoint listens.
    pub fn free(&self, node: NodeId) -> u16 {
        let node = node.0 as usize;
        let first = FIRST_FREE_PORT + u16::from(self.firsts[node] != NONE);
        self.others.get(node).map_or(first, |others| first.max(others.len() as u16))
    }
}
