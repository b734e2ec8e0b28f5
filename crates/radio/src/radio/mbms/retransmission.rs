//! Packets that a base station rejected and asks its RNC for (Alexiou, Bouras, Papazois 2009, §3.3).
//!
//! The paper says that a Node B whose buffer is full requests what it rejected from the RNC, not when, nor how often. Here the RNC
//! sends it again some time after the rejection, and keeps the last 64 packets of each flow. What it keeps no longer is not sent.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Instant, Target};
use lasthop_net::net::{Core, FlowId, Packet, Pkt};

/// How many packets of a flow the RNC keeps.
const KEPT: u64 = 64;

/// Whether and when a Node B asks the RNC for packets to a group that it rejected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Retransmission")]
pub struct Config {
    /// How long after the rejection the RNC sends the packet again, the way of the request included.
    /// Default: 0.1 s.
    pub after: Duration,
    /// How often the Node B asks for one packet, at most. Default: 1.
    pub times: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { after: Duration::from_millis(100), times: 1 }
    }
}

/// How a packet came over the Iub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Its number among the packets of its flow, if it may be asked for.
    pub number: Option<u64>,
    /// How often the Node B had asked for it.
    pub requests: u32,
}

/// The requests of a Node B, and what its RNC keeps.
pub struct Retransmission {
    config: Config,
    /// Woken when the RNC answers a request.
    target: Target,
    /// How many packets of each flow went down, sorted by flow.
    flows: Vec<(FlowId, u64)>,
    /// In the order of the answers.
    requests: VecDeque<Request>,
}

/// A packet that was asked for.
struct Request {
    /// When it was rejected.
    since: Instant,
    packet: Packet,
    passage: Passage,
    terminals: Box<[u32]>,
}

impl Retransmission {
    /// Nothing has gone down; it wakes `target`.
    pub fn new(config: Config, target: Target) -> Self {
        Self { config, target, flows: Vec::new(), requests: VecDeque::new() }
    }

    fn flow(&mut self, flow: FlowId) -> &mut u64 {
        let place = self.flows.binary_search_by_key(&flow, |(known, _)| *known).unwrap_or_else(|place| {
            self.flows.insert(place, (flow, 0));
            place
        });
        &mut self.flows[place].1
    }

    /// The RNC sends a packet of this flow down for the first time. Its number.
    pub fn on_sent(&mut self, flow: FlowId) -> u64 {
        let count = self.flow(flow);
        *count += 1;
        *count - 1
    }

    /// The Node B rejected a packet. Says whether it asks for it.
    pub fn on_rejected(&mut self, core: &mut Core, pkt: &Pkt, passage: Passage, terminals: &[u32]) -> bool {
        if passage.number.is_none() || passage.requests >= self.config.times {
            return false;
        }
        let since = core.now();
        if self.requests.is_empty() {
            core.arm(self.target, since + self.config.after, since);
        }
        let passage = Passage { requests: passage.requests + 1, ..passage };
        self.requests.push_back(Request { since, packet: *core.packet(pkt), passage, terminals: terminals.into() });
        true
    }

    /// The next packet that the RNC sends again by now, for these terminals. To be asked at each wake-up until there is none: then
    /// the next one is armed.
    pub fn take(&mut self, core: &mut Core, terminals: &mut Vec<u32>) -> Option<(Pkt, Passage)> {
        while let Some(Request { since, .. }) = self.requests.front() {
            let (since, at) = (*since, *since + self.config.after);
            if at > core.now() {
                core.arm(self.target, at, since);
                return None;
            }
            let Request { packet, passage, terminals: asked, .. } = self.requests.pop_front()?;
            let sent = *self.flow(packet.flow);
            if passage.number.is_some_and(|number| number + KEPT >= sent) {
                terminals.clear();
                terminals.extend(asked);
                return Some((core.copy_of(&packet), passage));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rnc_keeps_the_last_packets_of_a_flow() {
        let target = Target { component: 0, key: 0 };
        let config = Config { after: Duration::ZERO, times: 2 };
        let mut core = Core::new(1);
        let mut retransmission = Retransmission::new(config, target);
        let flow = Packet::vacant().flow;
        for number in 0..70 {
            assert_eq!(retransmission.on_sent(flow), number);
        }
        let (pkt, mut terminals) = (core.copy_of(&Packet::vacant()), Vec::new());
        for number in [5, 6] {
            assert!(retransmission.on_rejected(
                &mut core,
                &pkt,
                Passage { number: Some(number), requests: 0 },
                &[3, 4]
            ));
        }
        // The last 64 of 70 are those from number 6 on.
        let (again, passage) = retransmission.take(&mut core, &mut terminals).unwrap();
        assert_eq!((passage, &terminals[..]), (Passage { number: Some(6), requests: 1 }, &[3, 4][..]));
        assert!(retransmission.take(&mut core, &mut terminals).is_none());
        // A third time it is not asked for, and a packet without a number never.
        assert!(retransmission.on_rejected(&mut core, &again, Passage { number: Some(69), requests: 1 }, &[3]));
        assert!(!retransmission.on_rejected(&mut core, &again, Passage { number: Some(69), requests: 2 }, &[3]));
        assert!(!retransmission.on_rejected(&mut core, &again, Passage::default(), &[3]));
        for pkt in [pkt, again] {
            core.deliver(pkt);
        }
    }
}
