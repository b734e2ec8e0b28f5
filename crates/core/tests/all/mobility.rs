//! Terminals that move between cells: handovers at the instants that geometry says, blocks as power control aims at, and
//! nothing lost in the books.

use crate::common::scenario::{column, rows, run, series, state};
use lasthop_core::scenario::session::Results;

/// A terminal drives east at 20 m/s: past a Node B at 0 m, one of two sectors at 1 km, one of another carrier and RNC at 2 km
/// (all 300 m off the road), and through a WLAN at 3 km.
const DRIVE: &str = r#"
    profile = "3gpp"
    duration = "200 s"
    record.series = "50 ms"
    record.quantities = ["active_set", "cell", "rnc", "silent", "other_system"]
    record.state = true
    link = [
        { name = "core", between = ["server", "sgsn"], rate = "10 Mbit/s", delay = "35 ms" },
        { name = "iu one", between = ["sgsn", "rnc1"], rate = "622 Mbit/s", delay = "400 us" },
        { name = "iu two", between = ["sgsn", "rnc2"], rate = "622 Mbit/s", delay = "400 us" },
    ]
    [[cell]]
    name = "umts"
    rnc = "rnc1"
    attachment = "dedicated"
    [cell.mobility]
    movement = [{ straight = { to = ["4 km", "0 m"], speed = "20 m/s" } }]
    relocation.held = "5 s"
    site = [
        { at = ["0 m", "300 m"] },
        { at = ["1 km", "300 m"], sectors = ["225 deg", "315 deg"] },
        { at = ["2 km", "300 m"], carrier = 1, rnc = "rnc2" },
    ]
    system = [{ at = ["3 km", "0 m"], rate = "2 Mbit/s" }]
    [[flow]]
    from = "server"
    to = "umts.ue[0]"
"#;

/// When a quantity of the terminal took which value: sampled just before the events of an instant, it shows a change one
/// interval of 50 ms after it.
fn changes(results: &Results, quantity: &str) -> Vec<(f64, f64)> {
    let samples = series(results, "umts.ue[0] down", quantity);
    let changed = samples.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    changed.map(|pair| ((pair[1].0 * 1000.0 - 50.0).round() / 1000.0, pair[1].1)).collect()
}

#[test]
fn each_handover_comes_when_geometry_says() {
    // In the direction of x metres the levels in dBm are, with d from the site and 37.6 log10 as path loss: 33 + 11 − L(d) of
    // the sites without sectors, 33 + 14 − min(12 (θ/70)², 20) − L(d) of sectors, 20 + 11 − L(d) of the WLAN. Solved for x by
    // bisection in a script of ten lines; at 20 m/s x is reached at x/20 s, the next measurement is at the next tenth of a
    // second, and the condition has held for 200 ms two measurements later.
    //
    //   sector 1 = cell 0 − 3 dB at x = 392.819: 19.641 s, measured at 19.7 s, event 1A at 19.9 s
    //   cell 0 = sector 1 − 5 dB at x = 548.288: 27.414 s, 1B at 27.7 s
    //   sector 2 = sector 1 − 3 dB: 12/4900 · 180° φ = −3 dB, φ = −6.806°, x = 1000 − 300 tan 6.806° = 964.198: 1A at 48.5 s
    //   sector 1 = sector 2 − 5 dB: φ = 11.343°, x = 1060.178: 53.009 s, 1B at 53.3 s
    //   cell 3 = sector 2 + 3 dB at x = 1607.181: 80.359 s, hard handover at 80.6 s, for 100 ms
    //   its RNC is the other one, since the first measurement after that, at 80.7 s: relocation at 85.7 s, for 100 ms
    //   −75 dBm: 37.6 log10 d = −22.1, d = 258.365 m, x = 2741.635: 137.082 s, to the WLAN at 137.3 s, for 500 ms
    //   −80 dBm: d = 350.924 m, x = 3350.924: 167.546 s, back at 167.8 s, for 500 ms
    let results = run(DRIVE, 1);
    let sets = [(19.9, 2.0), (27.7, 1.0), (48.5, 2.0), (53.3, 1.0), (137.3, 0.0), (167.8, 1.0)];
    assert_eq!(changes(&results, "active_set"), sets);
    let silences = [80.6, 85.7, 137.3, 167.8].into_iter().zip([0.1, 0.1, 0.5, 0.5]);
    let silences: Vec<(f64, f64)> = silences.flat_map(|(at, time)| [(at, 1.0), (at + time, 0.0)]).collect();
    for (got, expected) in changes(&results, "silent").into_iter().zip(&silences) {
        assert!((got.0 - expected.0).abs() < 1e-9 && got.1 == expected.1, "{got:?}, expected {expected:?}");
    }
    assert_eq!(changes(&results, "silent").len(), silences.len());
    assert_eq!(changes(&results, "rnc"), [(85.8, 1.0)]);
    assert_eq!(changes(&results, "other_system"), [(137.3, 1.0), (167.8, 0.0)]);
    let bearer = |quantity| state(&results, &[("name", "umts.ue[0] down")], quantity);
    let kinds = ["soft_handovers", "softer_handovers", "hard_handovers", "intersystem_handovers"].map(bearer);
    assert_eq!(kinds, [2.0, 2.0, 1.0, 2.0]);
    assert_eq!((bearer("relocations"), bearer("reselections")), (1.0, 0.0));
    for (quantity, seconds) in [("soft_s", 7.8), ("softer_s", 4.8), ("interruption_s", 1.2), ("other_system_s", 30.5)] {
        let got = bearer(quantity);
        assert!((got - seconds).abs() < 1e-9, "{quantity}: {got}, expected {seconds}");
    }
}

#[test]
fn time_in_another_system_is_none_at_another_rnc() {
    // As above, with 20 s for the relocation and the WLAN at 2.2 km: at 97.082 s, to the WLAN at 97.3 s; at 127.546 s, back at 127.8 s, for
    // 500 ms. From 128.3 s on the terminal is at cells of the other RNC for 20 s without a break: relocation at 148.3 s, for 100 ms.
    let text =
        DRIVE.replace("relocation.held = \"5 s\"", "relocation.held = \"20 s\"").replace("\"3 km\"", "\"2.2 km\"");
    let results = run(&text, 1);
    assert_eq!(changes(&results, "other_system"), [(97.3, 1.0), (127.8, 0.0)]);
    assert_eq!(changes(&results, "rnc"), [(148.4, 1.0)]);
}

#[test]
fn packets_come_by_the_rnc_that_serves() {
    let results = run(DRIVE, 1);
    let links = results.table("links").unwrap();
    let carried = |link: &str| links.number("bytes", rows(links, &[("link", link)])[0]).unwrap();
    let (one, two) = (carried("iu one sgsn>rnc1"), carried("iu two sgsn>rnc2"));
    // Until the relocation, at 85.8 s, the first RNC gets what the channel carries, 7600 B/s (of 40 bytes 38 are data), and
    // the queue there at the end, of RLC's 100 kB and a window of 1024 PDUs at the most, and the packets that found no room.
    let dropped: f64 = column(&results, "drops", "bytes").iter().sum();
    let beside = 100e3 + 1024.0 * 40.0 + dropped;
    let most = 85.8 * 7600.0 + beside;
    assert!((85.8 * 7600.0 * 0.9..=most).contains(&one), "{one} bytes by the first RNC, of at most {most}");
    // After that there are 83.7 s of UMTS, and 30 s of 250 kB/s; the same may wait or find no room.
    let most = 83.7 * 7600.0 + 30.0 * 250e3 + beside;
    assert!((most * 0.5..=most).contains(&two), "{two} bytes by the second RNC");
    assert_eq!(results.table("drops").map_or(0, |drops| rows(drops, &[("cause", "no_route")]).len()), 0);
}

#[test]
fn copies_on_the_iub_are_those_of_soft_handover_only() {
    let results = run(DRIVE, 1);
    let of = |part: &str, quantity| state(&results, &[("name", part)], quantity);
    // Soft handover lasts 7.8 s, in which the bearer is busy: 2 PDUs in each 10 ms down.
    let (copies, iub) = (of("umts", "iub_copies"), of("umts", "iub_pdus"));
    assert!((1560.0 * 0.95..=1560.0 * 1.7).contains(&copies), "{copies} copies");
    assert!(iub > 2.0 * 100.0 * 130.0, "{iub}");
    // Over the Iur go those of 5.0 s between the hard handover and the relocation.
    let iur = of("umts", "iur_pdus");
    assert!((1000.0 * 0.9..=1000.0 * 1.7).contains(&iur), "{iur} over the Iur");
}

#[test]
fn a_terminal_on_the_common_channels_listens_to_its_own_cell_only() {
    // Two sites 1 km apart on the road. Cell 1 is 3 dB better where d0/d1 = 10^(3/37.6) = 1.20168, at 545.81 m: 27.290 s, measured at
    // 27.3 s, reselection at 27.5 s, and 100 ms of silence. Until then both terminals are at cell 0, whose FACH carries 100 PDUs
    // in a second; from then on each has a FACH for itself, that of the second for 32.4 s but for what it takes to begin.
    let results = run(
        r#"
        profile = "3gpp"
        duration = "60 s"
        record.state = true
        link = [{ name = "core", between = ["server", "rnc"], rate = "10 Mbit/s", delay = "20 ms" }]
        [[cell]]
        name = "umts"
        rnc = "rnc"
        ues = 2
        attachment = "common"
        fach_order = "round_robin"
        rlc = "um"
        [cell.mobility]
        site = [{}, { at = ["1 km", "0 m"] }]
        movement = ["still", { straight = { to = ["2 km", "0 m"], speed = "20 m/s" } }]
        [[flow]]
        from = "server"
        to = "umts.ue[*]"
        transport = "udp"
        source.cbr = { size = "100 B", interval = "20 ms" }
    "#,
        1,
    );
    let of = |part: &str, quantity| state(&results, &[("name", part)], quantity);
    let sent = [0, 1].map(|cell| of(&format!("umts.cell[{cell}]"), "fach_sent_pdus"));
    assert!((5990.0..=6000.0).contains(&sent[0]), "{sent:?}");
    assert!((3230.0..=3240.0).contains(&sent[1]), "{sent:?}");
    assert_eq!((of("umts.ue[1] down", "reselections"), of("umts.ue[1] down", "hard_handovers")), (1.0, 0.0));
    // What was on its way to cell 0 then, over the Iub and in the air, was sent in vain: of up to four PDUs, in turn, two.
    let in_vain = of("umts.ue[1] down", "air_lost_pdus");
    assert!((1.0..=2.0).contains(&in_vain), "{in_vain}");
    assert_eq!(of("umts.ue[0] down", "air_lost_pdus"), 0.0);
}

/// A cell with losses and RRC, as it is without mobility, and with it.
fn cell(mobility: &str) -> String {
    format!(
        r#"
        profile = "3gpp"
        duration = "60 s"
        record.packets = true
        link = [{{ name = "core", between = ["server", "rnc"], rate = "10 Mbit/s", delay = "50 ms" }}]
        [[cell]]
        name = "umts"
        rnc = "rnc"
        ues = 1
        loss.bernoulli.p = 0.05
        uplink_loss.bernoulli.p = 0.02
        {mobility}
        [[flow]]
        from = "server"
        to = "umts.ue[*]"
        source = "web"
        [[flow]]
        name = "up"
        from = "umts.ue[*]"
        to = "server"
        source.file.size = "20 kB"
        start = "20 s"
    "#
    )
}

#[test]
fn a_still_terminal_under_ideal_power_control_is_one_in_a_cell() {
    for seed in 1..=5 {
        let (without, with) =
            (run(&cell(""), seed), run(&cell("mobility.site = [{ at = [\"0 m\", \"400 m\"] }]"), seed));
        for table in ["flows", "packets", "transfers", "links", "drops"] {
            let [a, b] =
                [&without, &with].map(|results| results.table(table).map(|table| format!("{:?}", table.columns)));
            assert_eq!(a, b, "{table} of seed {seed}");
        }
    }
}

/// A terminal drives to and fro between two sites in shadows of 8 dB, with as much to send both ways as its channels carry.
fn shadows(control: &str) -> String {
    format!(
        r#"
        profile = "3gpp"
        duration = "2000 s"
        record.state = true
        link = [{{ name = "core", between = ["server", "rnc"], rate = "10 Mbit/s", delay = "20 ms" }}]
        [[cell]]
        name = "umts"
        rnc = "rnc"
        attachment = "dedicated"
        rlc = "um"
        [cell.mobility]
        movement = [{{ straight = {{ to = ["1 km", "0 m"], speed = "50 km/h", back_and_forth = true }} }}]
        shadowing.deviation = "8 dB"
        site = [{{ at = ["0 m", "100 m"] }}, {{ at = ["1 km", "100 m"] }}]
        power.loops = {{ {control} }}
        [[flow]]
        name = "down"
        from = "server"
        to = "umts.ue[0]"
        transport = "udp"
        source.cbr = {{ size = "400 B", interval = "50 ms" }}
        [[flow]]
        name = "up"
        from = "umts.ue[0]"
        to = "server"
        transport = "udp"
        source.cbr = {{ size = "400 B", interval = "100 ms" }}
    "#
    )
}

#[test]
fn power_control_holds_the_share_of_bad_blocks_while_the_terminal_drives() {
    // The bad blocks that the target's whole range of 20 dB allows beyond the share are 40, of 2000 and more; powers that
    // end at their limits may add some: 10 % in all.
    let sets = "block_errors = 0.01, link_power = [\"-20 dBm\", \"38 dBm\"]";
    let results = run(&shadows(sets), 3);
    for way in ["down", "up"] {
        let of = |quantity| state(&results, &[("name", &format!("umts.ue[0] {way}"))], quantity);
        let (blocks, bad) = (of("blocks"), of("bad_blocks"));
        assert!(blocks > 190_000.0, "{way}: {blocks} blocks");
        let share = bad / blocks;
        assert!((share / 0.01 - 1.0).abs() < 0.1, "{way}: {share}");
        assert_eq!(of("air_lost_pdus"), bad, "{way}");
    }
    assert!(state(&results, &[("name", "umts.ue[0] down")], "soft_handovers") > 20.0);
}

/// Both flows begin after a second: what has not been measured by then is missing.
#[test]
fn before_the_first_block_there_is_neither_a_ratio_nor_a_power() {
    let record = "record = { series = \"100 ms\", quantities = [\"sir_db\", \"sir_target_db\", \"power_dbm\"] }";
    let text = shadows("").replace("2000 s", "2 s").replace("record.state = true", record);
    let results = run(&text.replace("transport =", "start = \"1 s\"\ntransport ="), 1);
    for way in ["down", "up"] {
        let from = |quantity| {
            let samples = series(&results, &format!("umts.ue[0] {way}"), quantity);
            assert!(samples.last().is_some_and(|(at, _)| *at > 1.85), "{way} {quantity}");
            samples[0].0
        };
        assert!(from("sir_target_db") < 0.15 && from("sir_db") > 1.0 && from("power_dbm") > 1.0, "{way}");
    }
}

/// Many terminals, wherever they happen to go.
fn crowd(rlc: &str, attachment: &str, power: &str, more: &str) -> String {
    format!(
        r#"
        profile = "3gpp"
        duration = "120 s"
        record.state = true
        link = [
            {{ name = "core", between = ["server", "sgsn"], rate = "10 Mbit/s", delay = "35 ms" }},
            {{ name = "iu one", between = ["sgsn", "rnc1"], rate = "622 Mbit/s", delay = "400 us" }},
            {{ name = "iu two", between = ["sgsn", "rnc2"], rate = "622 Mbit/s", delay = "400 us" }},
        ]
        [[cell]]
        name = "umts"
        rnc = "rnc1"
        ues = 12
        rlc = "{rlc}"
        attachment = {attachment}
        [cell.mobility]
        movement = [{{ random_waypoint = {{ corners = [["-500 m", "-500 m"], ["1500 m", "500 m"]], speed = ["20 m/s", "60 m/s"] }} }}]
        shadowing.deviation = "6 dB"
        relocation = {{}}
        power = "{power}"
        site = [
            {{ at = ["0 m", "0 m"], sectors = ["30 deg", "150 deg", "270 deg"] }},
            {{ at = ["1 km", "0 m"], sectors = ["30 deg", "150 deg", "270 deg"], rnc = "rnc2" }},
            {{ at = ["500 m", "400 m"], carrier = 1, rnc = "rnc2" }},
        ]
        system = [{{ at = ["500 m", "-300 m"], rate = "1 Mbit/s"{more} }}]
        [[flow]]
        from = "server"
        to = "umts.ue[*]"
        [[flow]]
        name = "up"
        from = "umts.ue[*]"
        to = "server"
        source = "onoff"
        transport = "udp"
    "#
    )
}

#[test]
fn packets_are_conserved_wherever_terminals_go() {
    let lose = ", carry_over = \"lose\", interruption = \"0 s\"";
    for (rlc, attachment, power, more) in [
        ("am", "\"dedicated\"", "loops", ""),
        ("um", "\"rrc\"", "ideal", lose),
        ("am", "\"rrc\"", "loops", ""),
        ("eurane", "\"eurane\"", "ideal", lose),
        ("tm", "\"common\"", "loops", ""),
    ] {
        let text = crowd(rlc, attachment, power, more);
        // The end of a run checks that sent + copied = delivered + dropped + in flight.
        let (first, second) = (run(&text, 7), run(&text, 7));
        for (a, b) in first.tables.iter().zip(&second.tables) {
            assert_eq!(format!("{:?}", a.1.columns), format!("{:?}", b.1.columns), "{rlc} {attachment}: {}", a.0);
        }
        let bearers = first.table("bearers").unwrap();
        let sum = |name| (0..bearers.rows()).filter_map(|row| bearers.number(name, row)).sum::<f64>();
        assert!(sum("intersystem_handovers") > 0.0 && sum("relocations") > 0.0, "{rlc} {attachment}");
        let changes = sum("reselections") + sum("hard_handovers");
        assert!(changes > 0.0, "{rlc} {attachment}: {changes}");
        if attachment == "\"dedicated\"" {
            assert!(sum("soft_handovers") > 0.0 && sum("softer_handovers") > 0.0);
        }
        assert!(column(&first, "flows", "received_bytes").iter().any(|bytes| *bytes > 0.0));
    }
}

#[test]
fn messages_of_membership_come_wherever_terminals_go() {
    // Each terminal joins and leaves, in turn, every 100 ms, at instants of its own.
    let at = |add: f64| -> String {
        let of = |k: u32, n: u32| {
            let at = 1.0 + 0.2 * f64::from(k) + 0.007 * f64::from(n) + add;
            format!("{{ at = '{at:.3} s', members = ['umts.ue[{n}]'] }}, ")
        };
        (0..590).flat_map(|k| (0..12).map(move |n| of(k, n))).collect()
    };
    let group = format!("[[group]]\nname = 'g'\nmembers = []\njoin = [{}]\nleave = [{}]", at(0.0), at(0.1));
    let flow = "[[flow]]\nname = 'news'\nfrom = 'server'\nto = 'g'\ntransport = 'udp'\nsource.cbr = { size = '12 B', interval = '1 s' }";
    for (rlc, attachment) in [("am", "'dedicated'"), ("um", "'rrc'"), ("eurane", "'eurane'"), ("tm", "'common'")] {
        let text = crowd(rlc, attachment, "loops", ", carry_over = 'lose', interruption = '0 s'");
        let results = run(&format!("{text}\n{group}\n{flow}"), 7);
        let lost = rows(results.table("drops").unwrap(), &[("flow", "")]).len();
        assert_eq!(lost, 0, "{rlc} {attachment}");
        let joined = (0..12).map(|n| state(&results, &[("node", &format!("umts.ue[{n}]"))], "joins_sent")).sum::<f64>();
        assert_eq!(joined, 12.0 * 590.0);
    }
}
