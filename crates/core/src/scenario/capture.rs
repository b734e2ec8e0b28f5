//! Captures by the names of a scenario (see [`crate::measure::pcapng`]).

use std::io::{self, Write};

use crate::measure::pcapng::{Capture, Numbering, TcpFlow};
use crate::net::NodeId;
use crate::profile::Profile;
use crate::replicas::{linux, ns2};
use crate::transport::tcp;

use super::diagnostic::{Diagnostic, listed, nearest, shown};
use super::media::Radios;
use super::registry::Transport;
use super::types::{Flow, Scenario};

/// The nodes to capture at, by their names, with their numbers in the simulation. No name means
/// all nodes that send or receive.
///
/// # Errors
/// A name that no node has.
pub fn nodes(scenario: &Scenario, names: &[String]) -> Result<Vec<(NodeId, String)>, Diagnostic> {
    let (known, radios) = (scenario.node_names(), Radios::of(scenario));
    let ends = scenario.flow.iter().flat_map(|flow| {
        let group = scenario.group.iter().find(|group| group.name == flow.to);
        let members = group.map_or_else(|| radios.called(&flow.to), |group| group.everybody(&radios));
        radios.called(&flow.from).into_iter().chain(members)
    });
    let mut wanted: Vec<String> = if names.is_empty() { ends.collect() } else { names.to_vec() };
    wanted.sort_unstable();
    wanted.dedup();
    let find = |name: String| {
        let place = known.binary_search(&name).map_err(|_| {
            let known = || known.iter().map(String::as_str);
            let mut diagnostic = Diagnostic::new(format!("there is no node {} to capture at", shown(&name)), "capture");
            diagnostic.label = nearest(&name, known())
                .map_or_else(|| "not known".to_owned(), |near| format!("did you mean \"{near}\"?"));
            diagnostic.note = format!("known: {}", listed(known()));
            diagnostic
        })?;
        Ok((NodeId(place as u32), name))
    };
    wanted.into_iter().map(find).collect()
}

/// A capture at these nodes of a run of `scenario`, to be given to the run as its observer.
///
/// # Errors
/// If the head of the file cannot be written.
pub fn capture<W: Write>(scenario: &Scenario, nodes: &[(NodeId, String)], out: W) -> io::Result<Capture<W>> {
    let radios = Radios::of(scenario);
    let flows = scenario.flow.iter().flat_map(|flow| radios.flows(flow));
    Capture::new(out, nodes, flows.map(|flow| tcp_flow(&flow, scenario.profile)).collect())
}

/// What a capture has to know of a flow.
fn tcp_flow(flow: &Flow, profile: Profile) -> Option<TcpFlow> {
    let Transport::Tcp(config) = &flow.transport else { return None };
    if config.is_linux(profile) {
        let settings = linux::Settings::new(config);
        let (segment, window) = (settings.mss, settings.window_clamp);
        Some(TcpFlow { segment, window, sack: true, numbering: Numbering::Bytes })
    } else if config.is_ns2(profile) {
        let settings = ns2::tcp::Settings::new(config);
        let segment = settings.segment;
        let window = settings.window.max(1) as u64 * u64::from(segment);
        let syn = settings.syn && settings.variant != tcp::config::Variant::Vegas;
        let numbering = Numbering::Packets { syn, overhead: settings.header_bytes() };
        Some(TcpFlow { segment, window, sack: settings.sack(), numbering })
    } else {
        let settings = tcp::settings::Settings::new(config);
        let (window, sack) = (u64::from(settings.buffer), settings.sack);
        Some(TcpFlow { segment: settings.smss, window, sack, numbering: Numbering::Bytes })
    }
}
