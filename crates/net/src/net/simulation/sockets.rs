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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_of_a_node_has_its_own_endpoint() {
        let mut sockets = Sockets::default();
        (0..3).for_each(|_| sockets.add_node());
        let at = |node, port| Socket { node: NodeId(node), port };
        for (endpoint, here) in (10..).zip([at(0, 4), at(1, 1), at(1, 4), at(1, 6)]) {
            sockets.listen(here, endpoint);
        }
        assert_eq!([1, 4, 5, 6, 7].map(|port| sockets.at(NodeId(1), port)), [Some(11), Some(12), None, Some(13), None]);
        assert_eq!([1, 4].map(|port| sockets.at(NodeId(0), port)), [None, Some(10)]);
        assert_eq!([1, 4].map(|port| sockets.at(NodeId(2), port)), [None, None]);
        // A machine below the first free port takes none of those of flows.
        assert_eq!([0, 1, 2].map(|node| sockets.free(NodeId(node))), [5, 7, 4]);
        sockets.listen(at(2, 1), 14);
        assert_eq!(sockets.free(NodeId(2)), FIRST_FREE_PORT);
    }
}
