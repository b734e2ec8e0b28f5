//! Does a link with this queue deliver no packet late?

use std::sync::Arc;

use lasthop_core::engine::Duration;
use lasthop_core::scenario::registry::Queue;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{check, read};
use lasthop_example_queue::Deadline;

/// Twice as much is sent as the link carries.
const OVERLOAD: &str = "
    duration = '10 s'
    nodes = ['a', 'b']
    link = [{ name = 'l', between = ['a', 'b'], rate = '1 Mbit/s', delay = '10 ms' }]
    flow = [{ from = 'a', to = 'b', transport.udp = {}, source.cbr = { interval = '2 ms', size = '500 B' } }]
";

#[test]
fn nobody_is_served_late_and_the_link_is_full() {
    let document = read::toml(OVERLOAD, "overload").unwrap();
    check(&document).unwrap();
    let mut scenario = document.scenario;
    let most = Duration::from_millis(30);
    scenario.link[0].queue = Queue::custom("deadline", Arc::new(Deadline { most }));
    let mut run = Session::new(&scenario, 1, None).unwrap();
    run.complete().unwrap();
    let results = run.finish();
    let flows = results.table("flows").unwrap();
    // The wait, a transmission of (500 + 28) B, and the propagation; percentiles are within 1 %.
    let latest_ms = 30.0 + 528.0 * 8.0 / 1_000.0 + 10.0;
    let p95 = flows.number("delay_ms_p95", 0).unwrap();
    assert!(p95 <= 1.01 * latest_ms && p95 > 0.9 * latest_ms, "{p95} ms, at most {latest_ms} ms");
    let share = flows.number("received_packets", 0).unwrap() * 528.0 * 8.0 / 10e6;
    assert!(share > 0.98, "{share} of the link");
}
