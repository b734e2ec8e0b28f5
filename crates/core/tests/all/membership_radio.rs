//! Do JOIN and LEAVE of terminals come over radios that lose, refuse and give up?

use crate::common::scenario::{column, rows, run, state};

/// A terminal joins at 5 s and leaves at 20 s, over a cell: gives how often its RNC sent GRAFT and PRUNE.
fn over_a_cell(cell: &str, flow: &str, seed: u64) -> [f64; 2] {
    let text = format!(
        "duration = '600 s'
        record.state = true
        link = [{{ name = 'core', between = ['s', 'rnc'], rate = '10 Mbit/s', delay = '10 ms' }}]
        cell = [{{ name = 'c', rnc = 'rnc', ues = 1, {cell} }}]
        group = [{{
            name = 'g', members = [], join = [{{ at = '5 s', members = ['c.ue[0]'] }}],
            leave = [{{ at = '20 s', members = ['c.ue[0]'] }}]
        }}]
        flow = [{{ name = 'f', from = 's', to = 'g', transport = 'udp', source.cbr = {{ interval = '100 ms', size = '12 B' }} }}, {flow}]"
    );
    let results = run(&text, seed);
    ["grafts_sent", "prunes_sent"].map(|what| state(&results, &[("kind", "agent"), ("node", "rnc")], what))
}

#[test]
fn no_mode_of_rlc_loses_a_message() {
    let modes = [
        ("'um'", 0.9),
        ("'tm'", 0.9),
        ("{ am = { max_dat = 2 } }", 0.5),
        ("{ am = { max_dat = 2, discard = 'reset' } }", 0.5),
        ("{ am = { discard = 'timer', discard_timer = '100 ms' } }", 0.5),
    ];
    // Alone, and behind a buffer that is full: 100 kB over a RACH of 16 kbit/s. Transparent mode refuses SDUs that are larger than a PDU.
    let upload = |bytes: u32| {
        format!(
            "{{ name = 'up', from = 'c.ue[0]', to = 's', transport = 'udp', source.cbr = {{ interval = '5 ms', size = '{bytes} B' }} }}"
        )
    };
    for (mode, loss) in modes {
        let cell = format!("rlc = {mode}, uplink_loss.bernoulli.p = {loss}");
        for flow in [String::new(), upload(if mode == "'tm'" { 12 } else { 1000 })] {
            for seed in 1..=5 {
                assert_eq!(over_a_cell(&cell, &flow, seed), [1.0, 1.0], "{mode}, {flow}, {seed}");
            }
        }
    }
}

/// A terminal joins, and leaves, while it has no coverage.
#[test]
fn no_gap_in_coverage_loses_a_message() {
    let radios = [
        "cell = [{ name = 'c', rnc = 'rnc', ues = 1 }]",
        "cell = [{ name = 'c', rnc = 'rnc', ues = 1, rlc = 'um' }]",
        "cell = [{ name = 'c', rnc = 'rnc', ues = 1, rlc.am = { discard = 'timer', discard_timer = '500 ms' } }]",
        "hsdpa = [{ name = 'c', node = 'rnc', ues = 1 }]",
        "mbms = [{ name = 'c', rnc = 'rnc', ues = 1 }]",
    ];
    for radio in radios {
        let text = format!(
            "duration = '30 s'
            record.state = true
            link = [{{ name = 'core', between = ['s', 'rnc'], rate = '10 Mbit/s', delay = '10 ms' }}]
            {radio}
            group = [{{
                name = 'g', members = [], join = [{{ at = '10 s', members = ['c.ue[0]'] }}],
                leave = [{{ at = '20 s', members = ['c.ue[0]'] }}]
            }}]
            flow = [{{ from = 's', to = 'g', transport = 'udp', source.cbr = {{ interval = '100 ms', size = '12 B' }} }}]
            change = [
                {{ at = '8 s', link = 'c.ue[0]', up = false }}, {{ at = '12 s', link = 'c.ue[0]', up = true }},
                {{ at = '18 s', link = 'c.ue[0]', up = false }}, {{ at = '22 s', link = 'c.ue[0]', up = true }},
            ]"
        );
        let results = run(&text, 1);
        for what in ["grafts_sent", "prunes_sent"] {
            assert_eq!(state(&results, &[("kind", "agent"), ("node", "rnc")], what), 1.0, "{what}, {radio}");
        }
    }
}

/// A terminal leaves cell 0 for cell 1 at 27.5 s (`mobility.rs`), and joins a little before, so that its JOIN is under way then. It sends nothing
/// else, so RLC does not see that a PDU is missing.
#[test]
fn no_handover_loses_a_message() {
    for (rlc, ms) in ["um", "tm", "am"].into_iter().flat_map(|rlc| (27_400..27_620).step_by(5).map(move |ms| (rlc, ms)))
    {
        let text = format!(
            r#"
            profile = "3gpp"
            duration = "32 s"
            record.state = true
            link = [{{ name = "core", between = ["s", "rnc"], rate = "10 Mbit/s", delay = "20 ms" }}]
            group = [{{ name = "g", members = [], join = [{{ at = "{ms} ms", members = ["c.ue[0]"] }}] }}]
            flow = [{{ from = "s", to = "g", transport = "udp", source.cbr = {{ size = "12 B", interval = "1 s" }} }}]
            [[cell]]
            name = "c"
            rnc = "rnc"
            ues = 1
            attachment = "common"
            rlc = "{rlc}"
            [cell.mobility]
            site = [{{}}, {{ at = ["1 km", "0 m"] }}]
            movement = [{{ straight = {{ to = ["2 km", "0 m"], speed = "20 m/s" }} }}]
            "#
        );
        let grafts = state(&run(&text, 1), &[("kind", "agent"), ("node", "rnc")], "grafts_sent");
        assert_eq!(grafts, 1.0, "{rlc}, {ms} ms");
    }
}

/// A source behind a terminal: the GRAFT to it goes down, where a flood keeps the queue full.
#[test]
fn no_full_queue_down_loses_a_message() {
    for radio in [
        "cell = [{ name = 'c', rnc = 'n', ues = 1 }]",
        "hsdpa = [{ name = 'c', node = 'n', ues = 1, queue.droptail.limit = '5 packets' }]",
        "mbms = [{ name = 'c', rnc = 'n', ues = 1 }]",
        "mbms = [{ name = 'c', rnc = 'n', ues = 1, bearers = 'terminal' }]",
    ] {
        let text = format!(
            "duration = '60 s'
            record.packets = true
            link = [
                {{ name = 'core', between = ['s', 'n'], rate = '10 Gbit/s', delay = '10 ms' }},
                {{ name = 'home', between = ['c.ue[0]', 'source'], rate = '10 Mbit/s', delay = '1 ms' }},
            ]
            {radio}
            group = [{{ name = 'g', members = [], join = [{{ at = '5.0013 s', members = ['s'] }}] }}]
            flow = [
                {{ name = 'f', from = 'source', to = 'g', transport = 'udp', source.cbr = {{ interval = '1 s', size = '12 B' }} }},
                {{ name = 'flood', from = 's', to = 'c.ue[0]', transport = 'udp', source.cbr = {{ interval = '100 us', size = '12 B' }} }},
            ]"
        );
        let flows = run(&text, 1);
        let flows = flows.table("flows").unwrap();
        let received = flows.number("received_packets", rows(flows, &[("flow", "f")])[0]).unwrap();
        assert!(received > 0.0, "{radio}");
    }
}

/// The same without a flood, over HSDPA that sends each block once and loses nine of ten.
#[test]
fn no_block_given_up_loses_a_message() {
    for seed in 1..=5 {
        let results = run(
            "duration = '60 s'
            link = [
                { name = 'core', between = ['s', 'n'], rate = '10 Mbit/s', delay = '10 ms' },
                { name = 'home', between = ['c.ue[0]', 'source'], rate = '10 Mbit/s', delay = '1 ms' },
            ]
            hsdpa = [{ name = 'c', node = 'n', ues = 1, attempts = 1 }]
            group = [{ name = 'g', members = [], join = [{ at = '5 s', members = ['s'] }] }]
            flow = [{ name = 'f', from = 'source', to = 'g', transport = 'udp', source.cbr = { interval = '1 s', size = '12 B' } }]
            change = [{ at = '1 s', link = 'c.ue[0]', loss.bernoulli.p = 0.9 }]",
            seed,
        );
        assert!(column(&results, "flows", "received_packets")[0] > 0.0, "{seed}");
    }
}
