//! What the slots of HSDPA cells carry, and what is counted of it, in scenarios as text.

use std::collections::BTreeMap;

use crate::common::scenario::{rows, run, state};
use lasthop_core::scenario::session::Results;

/// How many blocks each slot of the only cell carried, and how many codes.
fn loads(results: &Results) -> BTreeMap<u64, (u64, u64)> {
    let slots = results.table("slots").unwrap();
    let mut loads: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for row in 0..slots.rows() {
        let number = |column| slots.number(column, row).unwrap();
        let slot = (number("time_s") * 500.0).round() as u64;
        let load = loads.entry(slot).or_default();
        *load = (load.0 + 1, load.1 + number("codes") as u64);
    }
    loads
}

/// A cell with lines of its own, after a fast wire, with a busy flow to each mobile.
fn busy_cell(ues: u32, rate: &str, lines: &str) -> String {
    format!(
        "duration = '6 s'
        record.slots = true
        record.state = true
        [[link]]
        name = 'wire'
        between = ['server', 'node_b']
        rate = '1 Gbit/s'
        delay = '5 ms'
        [[flow]]
        name = 'down'
        from = 'server'
        to = 'cell.ue[*]'
        transport = 'udp'
        source.cbr = {{ rate = '{rate}', size = '1000 B' }}
        [[hsdpa]]
        name = 'cell'
        node = 'node_b'
        ues = {ues}
        rings = 0
        {lines}"
    )
}

/// A mobile is without coverage while a block of its is in error, and others take the whole slot. Behind the gap their blocks in error
/// do not fit into one slot together.
#[test]
fn blocks_in_error_that_do_not_fit_into_a_slot_wait() {
    for (users, most) in [(1, 1), (3, 3)] {
        let changes = "
            [[change]]
            at = '2 s'
            link = 'cell.ue[0]'
            up = false
            repeat = { every = '20 ms', times = 200 }
            [[change]]
            at = '2.01 s'
            link = 'cell.ue[0]'
            up = true
            repeat = { every = '20 ms', times = 199 }";
        let cell = format!("users = {users}\nrate_map.modulation.bler = 0.5\n{changes}");
        let results = run(&busy_cell(6, "4 Mbit/s", &cell), 1);
        let loads = loads(&results);
        assert!(loads.len() > 2900, "{} slots", loads.len());
        for (slot, (blocks, codes)) in loads {
            assert!(blocks <= most && codes <= 12, "slot {slot}: {blocks} blocks with {codes} codes");
        }
        // None waits for ever.
        for ue in 0..6 {
            let received = state(&results, &[("name", &format!("cell.ue[{ue}] down"))], "packets");
            assert!(received > 100.0, "ue[{ue}]: {received} packets");
        }
    }
}

/// TS 25.306 table 5.1a: a terminal of category 1 receives in each third slot at most, one of category 3 or 11 in each second. A tenth of
/// the blocks is sent again.
#[test]
fn terminals_of_low_categories_do_not_receive_in_each_slot() {
    for (category, least) in [(1, 3), (2, 3), (3, 2), (4, 2), (5, 1), (11, 2), (12, 1)] {
        let loss = "[[change]]\nat = '0 s'\nlink = 'cell.ue[0]'\nloss.bernoulli.p = 0.1";
        let cell = format!("rate_map.cqi.category = {category}\n{loss}");
        let results = run(&busy_cell(2, "8 Mbit/s", &cell), 1);
        let slots = results.table("slots").unwrap();
        for ue in 0..2 {
            let of_ue = rows(slots, &[("bearer", &format!("cell.ue[{ue}] down"))]).into_iter();
            let begun = of_ue.map(|row| (500.0 * slots.number("time_s", row).unwrap()).round() as u64);
            let begun: Vec<u64> = begun.collect();
            let apart = begun.windows(2).map(|pair| pair[1] - pair[0]).min();
            assert_eq!(apart, Some(least), "category {category}, ue[{ue}]");
        }
    }
}

/// Whatever a queue drops, when packets come or when it is their turn: each packet has come, waits, or was dropped.
#[test]
fn packets_that_a_queue_drops_are_counted() {
    for queue in ["codel", "fq_codel", "pie", "red", "droptail"] {
        let results = run(&busy_cell(1, "8 Mbit/s", &format!("queue = '{queue}'")), 1);
        let of = |quantity: &str| state(&results, &[("name", "cell.ue[0] down")], quantity);
        let drops = results.table("drops").unwrap();
        let dropped = rows(drops, &[("place", "cell.ue[0] down")]).into_iter();
        let dropped: f64 = dropped.map(|row| drops.number("packets", row).unwrap()).sum();
        assert!(dropped > 10.0, "{queue}");
        assert_eq!(of("dropped_packets"), dropped, "{queue}");
        assert_eq!(of("offered_packets"), of("packets") + dropped + of("queue_packets"), "{queue}");
    }
}

/// A queue of a mobile shows what it keeps, as one of a link does, and its marks.
#[test]
fn a_queue_that_marks_shows_its_marks_and_its_state() {
    let text = busy_cell(1, "8 Mbit/s", "queue.dualpi2 = {}");
    let results = run(&text.replace("transport = 'udp'", "transport.tcp.congestion.prague = {}"), 1);
    let of = |name: &str, quantity: &str| state(&results, &[("name", name)], quantity);
    assert!(of("cell.ue[0] down", "marks") > 10.0);
    assert!(of("cell.ue[0] down", "base_p") > 0.0);
    let bearers = results.table("bearers").unwrap();
    assert_eq!(bearers.number("base_p", 0), Some(of("cell.ue[0] down", "base_p")), "no whole number");
}

/// After 2 s without coverage the oldest packet has waited that long, and CoDel drops some of those behind it.
#[test]
fn packets_dropped_at_their_turn_count_for_spikes() {
    let outage = "queue.codel = {}\n[[change]]\nat = '2 s'\nlink = 'cell.ue[0]'\nup = false\n\
                  [[change]]\nat = '4 s'\nlink = 'cell.ue[0]'\nup = true";
    let results = run(&busy_cell(1, "500 kbit/s", outage), 1);
    let of = |quantity: &str| state(&results, &[("name", "cell.ue[0] down")], quantity);
    assert!(of("delay_spikes") >= 1.0);
    assert!(of("dropped_packets") > 0.0 && of("dropped_in_spike") == of("dropped_packets"));
}

/// A block keeps its number when it is sent again, and the next one has the next number, whether it was received or given up.
#[test]
fn rows_of_a_block_have_its_number() {
    for attempts in ["", "attempts = 2"] {
        let results = run(&busy_cell(1, "2 Mbit/s", &format!("rate_map.modulation.bler = 0.5\n{attempts}")), 1);
        let slots = results.table("slots").unwrap();
        let value = |column, row| slots.number(column, row).unwrap() as u64;
        let mut expected = (1, 1);
        for row in 0..slots.rows() {
            let (number, transmission) = (value("number", row), value("transmission", row));
            assert_eq!((number, transmission), expected, "row {row}");
            let ends = value("received", row) == 1 || (!attempts.is_empty() && transmission == 2);
            expected = if ends { (number + 1, 1) } else { (number, transmission + 1) };
        }
        assert!(expected.0 > 500 && slots.rows() as u64 > expected.0 + 100, "{expected:?} of {}", slots.rows());
    }
}

/// Without coverage packets wait, but the cell does not use its slots: there is a block in each slot that it used.
#[test]
fn slots_in_which_nothing_is_sent_are_not_used() {
    let outage = "[[change]]\nat = '2 s'\nlink = 'cell.ue[0]'\nup = false";
    let results = run(&busy_cell(1, "500 kbit/s", outage), 1);
    let of = |quantity: &str| state(&results, &[("name", "cell.cell[0]")], quantity);
    assert_eq!(of("used_slots"), of("blocks"));
    assert!(of("receivers_1") > of("used_slots") + 1900.0, "packets wait from 2 s on");
}

/// A terminal has no coverage from 1 to 2 s: what it sends then is lost, though packets up take 75 ms.
#[test]
fn what_is_sent_up_without_coverage_is_lost() {
    let results = run(
        "duration = '4 s'
        record.packets = true
        link = [{ name = 'w', between = ['s', 'nb'], rate = '100 Mbit/s', delay = '1 ms' }]
        hsdpa = [{ name = 'h', node = 'nb', ues = 1, rings = 0, places = [['50 m', '0 m']], uplink_delay = '75 ms' }]
        flow = [{ from = 'h.ue[0]', to = 's', transport = 'udp', source.cbr = { interval = '10 ms', size = '100 B' } }]
        change = [{ at = '1 s', link = 'h.ue[0]', up = false }, { at = '2 s', link = 'h.ue[0]', up = true }]",
        1,
    );
    let table = results.table("packets").unwrap();
    let lost = rows(table, &[("event", "dropped"), ("cause", "radio")]);
    let times: Vec<f64> = lost.iter().map(|&row| table.number("time_s", row).unwrap()).collect();
    assert_eq!(times.len(), 100);
    assert!(times.iter().all(|at| (1.0..2.0).contains(at)), "{times:?}");
    let drops = results.table("drops").unwrap();
    let rows = rows(drops, &[("place", "h.ue[0] up"), ("cause", "radio")]);
    assert_eq!(rows.iter().map(|&row| drops.number("packets", row).unwrap()).collect::<Vec<_>>(), [100.0]);
}
