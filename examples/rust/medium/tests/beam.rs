//! Do flows go through the beam, does it take its time, and are its names and faults those of a medium?

use std::sync::Arc;

use lasthop_core::engine::Duration;
use lasthop_core::engine::choice::Custom;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{Diagnostic, Document, check, read};
use lasthop_example_medium::Beam;

const FLOWS: &str = "
    duration = '10 s'
    nodes = ['server', 'gateway']
    link = [{ name = 'wire', between = ['server', 'gateway'], rate = '10 Mbit/s', delay = '5 ms' }]
    flow = [{ from = 'server', to = 'beam.ue[*]', source.file = { size = '20 kB' } }]
";

fn document(from: &str, delay: Duration) -> Document {
    let mut document = read::toml(FLOWS, "flows").unwrap();
    let beam = Beam { name: "beam".to_owned(), from: from.to_owned(), terminals: 3, delay };
    document.scenario.medium = vec![Custom::new("beam", Arc::new(beam))];
    document
}

#[test]
fn every_terminal_gets_its_file_after_the_delay_of_the_beam() {
    let document = document("gateway", Duration::from_millis(300));
    check(&document).unwrap();
    let mut run = Session::new(&document.scenario, 1, None).unwrap();
    run.complete().unwrap();
    let results = run.finish();
    let flows = results.table("flows").unwrap();
    assert_eq!(flows.rows(), 3);
    for row in 0..3 {
        assert_eq!(flows.number("received_bytes", row), Some(20_000.0));
        // Twice 305 ms, and what three flows of ten full packets wait for one another at 10 Mbit/s.
        let rtt = flows.number("rtt_ms_p50", row).unwrap();
        assert!((610.0..660.0).contains(&rtt), "{rtt} ms");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let said = |from: &str, delay| -> Diagnostic { check(&document(from, delay)).unwrap_err() };
    assert_eq!(said("gateway", Duration::ZERO).message, "a beam that takes no time");
    let nowhere = said("gatewy", Duration::from_millis(1));
    assert!(
        nowhere.message.contains("there is no node \"gatewy\"") && nowhere.label.contains("\"gateway\""),
        "{nowhere}"
    );
    assert_eq!(nowhere.path, "medium[0].from");
}
