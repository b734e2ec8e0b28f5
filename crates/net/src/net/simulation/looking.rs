//! What can be seen of a network between events.

use super::{ENDPOINT, HOME, KIND, MEDIUM, RunError, SOURCE, Simulation};
use crate::engine::Target;
use crate::net::machine::Transfer;
use crate::net::observe::{Probe, What};
use crate::net::packet::{FlowId, NodeId};

impl Simulation {
    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.node_names[node.0]
    }

    /// Checks conservation of packets: sent + copied = delivered + dropped + in flight, with packets in flight counted where they are.
    ///
    /// # Errors
    /// [`RunError::NotConserved`], which is a defect of lasthop.
    pub fn check_conservation(&self) -> Result<(), RunError> {
        let counters = self.core.counters();
        let in_flight = self.media.iter().map(|m| m.holds()).sum::<u64>() + self.home.len() as u64;
        let (sent, copied, delivered, dropped) = (counters.sent, counters.copied, counters.delivered, counters.dropped);
        if sent + copied == delivered + dropped + in_flight && in_flight == self.core.under_way() {
            Ok(())
        } else {
            Err(RunError::NotConserved { sent, copied, delivered, dropped, in_flight })
        }
    }

    /// Shows the present state of every medium, part by part.
    pub fn sample_media(&self, probe: &mut dyn Probe) {
        for medium in &self.media {
            medium.sample(&self.core, probe);
        }
    }

    /// Shows the present state of a flow's sender.
    pub fn sample_sender(&self, flow: FlowId, probe: &mut dyn Probe) {
        let sender = self.flows[flow.0 as usize].sender;
        self.endpoints[sender as usize].endpoint.sample(probe);
    }

    /// Shows the present state of a flow's receivers, one part for each, named for its node.
    pub fn sample_receivers(&self, flow: FlowId, probe: &mut dyn Probe) {
        for &receiver in &self.flows[flow.0 as usize].receivers {
            let seated = &self.endpoints[receiver as usize];
            probe.part(What::Machine, self.node_name(seated.node));
            seated.endpoint.sample(probe);
        }
    }

    /// Shows the present state of every agent, one part for each, named for its node.
    pub fn sample_agents(&self, probe: &mut dyn Probe) {
        for &agent in &self.agents {
            let seated = &self.endpoints[agent as usize];
            probe.part(What::Machine, self.node_name(seated.node));
            seated.endpoint.sample(probe);
        }
    }

    /// Shows what a flow's source knows of the media that it sends.
    pub fn sample_source(&self, flow: FlowId, probe: &mut dyn Probe) {
        self.flows[flow.0 as usize].source.sample(probe);
    }

    /// The transfers that a flow's source has begun.
    pub fn transfers(&self, flow: FlowId) -> &[Transfer] {
        self.flows[flow.0 as usize].source.transfers()
    }

    pub(super) fn component_name(&self, target: Target) -> String {
        let index = target.component & ((1 << KIND) - 1);
        match target.component >> KIND {
            MEDIUM => {
                let ends = self.ends[index].iter();
                format!("the medium of {}", ends.map(|e| self.node_name(e.node)).collect::<Vec<_>>().join(", "))
            }
            ENDPOINT => format!("an endpoint at {}", self.node_name(self.endpoints[index as usize].node)),
            SOURCE => format!("the source of flow {index}"),
            _ if target == HOME => {
                let node = self.home.front().map_or("", |arrival| self.node_name(arrival.node));
                format!("an endpoint at {node}")
            }
            _ => "a source that hears of losses".to_owned(),
        }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::net::packet::Packet;

    #[test]
    #[should_panic(expected = "NotConserved")]
    fn a_packet_that_no_medium_holds_is_seen() {
        let mut simulation = Simulation::new(1);
        let _nowhere = simulation.core_mut().copy_of(&Packet::vacant());
        let _ = simulation.run_until(crate::engine::Instant::from_nanos(1), 10);
    }
}
