//! Do trees come back after links were down, and does an area get its packets always?

use crate::common::scenario::{rows, run, state};
use lasthop_core::scenario::session::Results;

/// How many packets of the flow came to a node that listens.
fn received(results: &Results, node: &str) -> usize {
    let table = results.table("packets").unwrap();
    rows(table, &[("event", "received"), ("place", node), ("kind", "data")]).len()
}

/// How many came to a node without one.
fn without_listener(results: &Results) -> usize {
    rows(results.table("packets").unwrap(), &[("event", "dropped"), ("cause", "no_endpoint")]).len()
}

/// The router's PRUNE waits while its link to the sender is down. When that is up again the member's GRAFT comes first, and the PRUNE that
/// waits, which would shut what that has opened, is void: it is looked at each second.
#[test]
fn a_prune_that_waits_does_not_undo_the_graft_that_follows() {
    for back in ["25 s", "25.3 s", "25.9 s"] {
        let results = run(
            &format!(
                "duration = '40 s'
                record.packets = true
                link = [
                    {{ name = 'up', between = ['server', 'core'], rate = '10 Mbit/s', delay = '5 ms' }},
                    {{ name = 'a', between = ['core', 'a'], rate = '2 Mbit/s', delay = '5 ms' }},
                ]
                group = [{{ name = 'g', members = ['a'] }}]
                change = [
                    {{ at = '20 s', link = 'up', up = false }},
                    {{ at = '{back}', link = 'up', up = true }},
                ]
                flow = [{{ name = 'f', from = 'server', to = 'g', transport = 'udp', source.cbr.interval = '20 ms' }}]"
            ),
            1,
        );
        // 20 s before and some 15 s after.
        let came = received(&results, "a");
        assert!((1690..=1755).contains(&came), "{back}: {came}");
    }
}

/// n1 loses its way to the sender, and so n3 does: a node with one link left must not take that for a way.
#[test]
fn a_prune_waits_where_the_only_link_leads_nowhere() {
    let results = run(
        "duration = '40 s'
        record.packets = true
        link = [
            { name = 'n0n1', between = ['n0', 'n1'], rate = '10 Mbit/s', delay = '51 ms' },
            { name = 'n0n2', between = ['n0', 'n2'], rate = '10 Mbit/s', delay = '49 ms' },
            { name = 'n1n2', between = ['n1', 'n2'], rate = '10 Mbit/s', delay = '6 ms' },
            { name = 'n1n3', between = ['n1', 'n3'], rate = '10 Mbit/s', delay = '44 ms' },
        ]
        group = [{ name = 'g', members = ['n3'] }]
        change = [
            { at = '5.07 s', link = 'n0n1', up = false },
            { at = '15.901 s', link = 'n0n2', up = false },
            { at = '21 s', link = 'n0n1', up = true },
            { at = '21 s', link = 'n0n2', up = true },
        ]
        flow = [{ name = 'f', from = 'n0', to = 'g', transport = 'udp', source.cbr.interval = '100 ms' }]",
        1,
    );
    let table = results.table("packets").unwrap();
    let wrong = rows(table, &[("event", "dropped"), ("cause", "wrong_interface")]);
    let late = wrong.into_iter().filter(|row| table.number("time_s", *row).unwrap() > 24.0).count();
    assert_eq!(late, 0, "copies that go on over a way that is none");
    assert!(received(&results, "n3") > 330, "{}", received(&results, "n3"));
}

fn broadcast(trees: &str, more: &str) -> Results {
    run(
        &format!(
            "duration = '20 s'
            record.packets = true
            record.state = true
            link = [
                {{ name = 'up', between = ['server', 'core'], rate = '10 Mbit/s', delay = '5 ms' }},
                {{ name = 'a', between = ['core', 'a'], rate = '2 Mbit/s', delay = '5 ms' }},
                {{ name = 'a2', between = ['core', 'a'], rate = '2 Mbit/s', delay = '9 ms' }},
                {{ name = 'b', between = ['core', 'b'], rate = '2 Mbit/s', delay = '5 ms' }},
            ]
            flow = [{{ name = 'f', from = 'server', to = 'g', transport = 'udp', source.cbr.interval = '100 ms' }}]
            group = [{{ name = 'g', trees = '{trees}', area = ['a'], {more} }}]"
        ),
        1,
    )
}

/// Packets always go to an area, independent of membership: instant trees reach it, a LEAVE shuts nothing there, and it gets them over
/// another link when one is down.
#[test]
fn an_area_gets_its_packets_always() {
    for trees in ["instant", "signalled"] {
        let without = broadcast(trees, "members = ['b']");
        assert_eq!(without_listener(&without), 200, "{trees}");
        let left = broadcast(trees, "members = ['a', 'b'], leave = [{ at = '5 s', members = ['a'] }]");
        assert_eq!((received(&left, "a"), without_listener(&left)), (50, 150), "{trees}");
        let moved = broadcast(trees, "members = ['b'] }]\nchange = [{ at = '5.05 s', link = 'a', up = false");
        assert!(without_listener(&moved) >= 198, "{trees}: {}", without_listener(&moved));
    }
    let left = broadcast("signalled", "members = ['a', 'b'], leave = [{ at = '5 s', members = ['a'] }]");
    assert_eq!(state(&left, &[("kind", "agent"), ("node", "a")], "leaves_sent"), 0.0);
}
