//! Where satellites and terminals of constellations are.

use lasthop_core::measure::table::{Column, Table as CoreTable};
use pyo3::prelude::*;

use crate::scenario::Scenario;
use crate::table::Table;

/// Where the satellites and terminals of a scenario's constellations are over the ground at some times, in seconds: a row for
/// each and each time.
#[pyfunction]
pub fn positions(scenario: &Scenario, seconds: Vec<f64>) -> PyResult<Table> {
    let (mut times, mut nodes, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let (mut latitudes, mut longitudes, mut altitudes) = (Vec::new(), Vec::new(), Vec::new());
    let mut add = |time: f64, node: String, kind: u32, place: [f64; 3]| {
        times.push(time);
        nodes.push(node);
        kinds.push(kind);
        latitudes.push(place[0]);
        longitudes.push(place[1]);
        altitudes.push(place[2]);
    };
    for constellation in &scenario.document.scenario.constellation {
        let shell = constellation.orbits.config().shell();
        for &time in &seconds {
            for (node, over) in constellation.satellites().zip(shell.over(time)) {
                add(time, node, 0, [over.latitude, over.longitude, over.altitude]);
            }
            for terminal in &constellation.terminal {
                let place = [terminal.latitude.degrees(), terminal.longitude.degrees(), 0.0];
                add(time, terminal.node.clone(), 1, place);
            }
        }
    }
    Table::new(CoreTable {
        columns: vec![
            ("time_s", Column::Float(times.into())),
            ("node", Column::Text(nodes)),
            ("kind", Column::Names(kinds, vec!["satellite".to_owned(), "terminal".to_owned()])),
            ("latitude_deg", Column::Float(latitudes.into())),
            ("longitude_deg", Column::Float(longitudes.into())),
            ("altitude_km", Column::Float(altitudes.into())),
        ],
    })
}
