//! `duplicate_bytes`: each payload byte that was sent is dropped, or new to the receiver, or one that it had already.

use crate::common::scenario::{column, rows, run, series};
use lasthop_core::scenario::session::Results;

/// For 0.6 s the delay is 1.5 s, which is longer than the retransmission timer.
const SPIKE: &str = "[[change]]
    at = '1 s'
    link = 'l'
    delay = '1.5 s'
    [[change]]
    at = '1.6 s'
    link = 'l'
    delay = '20 ms'";

/// A file of 1 MB over 2 Mbit/s and 20 ms, with more said of the link, and changes of it.
fn transfer(profile: &str, link: &str, changes: &str) -> Results {
    run(
        &format!(
            "duration = '60 s'
            profile = '{profile}'
            record = {{ series = '1 s', quantities = ['duplicate_bytes'] }}
            [[link]]
            name = 'l'
            between = ['a', 'b']
            rate = '2 Mbit/s'
            delay = '20 ms'
            {link}
            [[flow]]
            name = 'f'
            from = 'a'
            to = 'b'
            transport.tcp = {{ segment = '1000 B' }}
            source.file.size = '1 MB'
            {changes}"
        ),
        1,
    )
}

fn flow(results: &Results, name: &str) -> f64 {
    column(results, "flows", name)[0]
}

/// Segments that were dropped on their way to the receiver.
fn dropped(results: &Results) -> f64 {
    let table = results.table("drops").unwrap();
    rows(table, &[("place", "l a>b")]).into_iter().map(|row| table.number("packets", row).unwrap()).sum()
}

#[test]
fn what_is_sent_again_is_a_duplicate_unless_it_replaces_what_was_dropped() {
    for profile in ["rfc", "ns2"] {
        // Timeouts without a drop; a drop that is mended by one retransmission; drops of any number.
        for (name, link, changes, drops, twice) in [
            ("spike", "queue.droptail.limit = '10000 packets'", SPIKE, Some(0.0), Some(true)),
            ("one drop", "loss.list.drop = [100]", "", Some(1.0), Some(false)),
            ("overflows", "queue.droptail.limit = '10 packets'", "", None, None),
        ] {
            let case = format!("{profile}, {name}");
            let results = transfer(profile, link, changes);
            let sent = flow(&results, "sent_bytes") + flow(&results, "retransmitted_bytes");
            let duplicates = flow(&results, "duplicate_bytes");
            assert_eq!(flow(&results, "received_bytes"), 1e6, "{case}");
            assert_eq!(sent, 1e6 + duplicates + 1000.0 * dropped(&results), "{case}");
            assert!(drops.is_none_or(|drops| drops == dropped(&results)), "{case}: {} drops", dropped(&results));
            assert!(twice.is_none_or(|twice| twice == (duplicates > 0.0)), "{case}: {duplicates} B twice");
            // Whole segments are sent again.
            assert_eq!(duplicates, 1000.0 * flow(&results, "duplicate_packets"), "{case}");
            assert_eq!(series(&results, "f at b", "duplicate_bytes").last().map(|(_, value)| *value), Some(duplicates));
        }
    }
}

/// Both radios of a handover carry a copy of packets in flight: 20 datagrams of 1000 B come twice.
#[test]
fn copies_of_datagrams_are_duplicates() {
    let results = run(
        "duration = '2 s'
        link = [{ name = 'radio', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms' }]
        flow = [{ from = 'a', to = 'b', transport = 'udp', source.cbr = { rate = '8 Mbit/s', size = '1000 B' } }]
        change = [{ at = '1000.5 ms', link = 'radio', in_flight = 'copy' }]",
        1,
    );
    let copies = flow(&results, "duplicate_packets");
    assert!(copies > 0.0);
    assert_eq!(flow(&results, "duplicate_bytes"), 1000.0 * copies);
}
