//! Do trees grow and shrink when hosts join and leave, in the time that messages take, and follow a network that changes?

use crate::common::scenario::{column, rows, run, state};
use lasthop_core::scenario::session::Results;

/// A source at `s`, behind `r2`, with a member there from the start; a host `h` behind `r1`. Packets of 125 B every 1 ms over links
/// so fast that serialising takes next to nothing.
fn two_routers(group: &str) -> Results {
    let text = format!(
        "duration = '10 s'
        record.packets = true
        record.state = true
        link = [
            {{ name = 'source', between = ['s', 'r2'], rate = '100 Gbit/s', delay = '1 ms' }},
            {{ name = 'core', between = ['r2', 'r1'], rate = '100 Gbit/s', delay = '20 ms' }},
            {{ name = 'host', between = ['r1', 'h'], rate = '100 Gbit/s', delay = '10 ms' }},
            {{ name = 'other', between = ['r2', 'o'], rate = '100 Gbit/s', delay = '1 ms' }},
        ]
        group = [{{ name = 'g', members = ['o'], {group} }}]
        flow = [{{ name = 'f', from = 's', to = 'g', transport = 'udp', source.cbr = {{ interval = '1 ms', size = '97 B' }} }}]"
    );
    run(&text, 1)
}

/// When packets of the flow came to a node: the first and the last time after `from`.
fn came(results: &Results, node: &str, from: f64, until: f64) -> Option<(f64, f64)> {
    let table = results.table("packets").unwrap();
    let times: Vec<f64> = rows(table, &[("event", "received"), ("place", node), ("kind", "data")])
        .into_iter()
        .map(|row| table.number("time_s", row).unwrap())
        .filter(|time| (from..until).contains(time))
        .collect();
    Some((*times.first()?, *times.last()?))
}

fn packets(results: &Results, link: &str) -> f64 {
    let table = results.table("links").unwrap();
    let row = rows(table, &[("link", link)])[0];
    table.number("packets", row).unwrap()
}

#[test]
fn data_come_when_join_graft_and_data_have_gone_their_ways() {
    let results = two_routers("join = [{ at = '3 s', members = ['h'] }]");
    let (first, last) = came(&results, "h", 0.0, 10.0).unwrap();
    // 10 ms for the JOIN, 20 ms for the GRAFT, 30 ms back for the data, of which there are some every millisecond.
    assert!((3.060..3.0611).contains(&first), "{first}");
    assert!(last > 9.99);
    let sent = |node, what| state(&results, &[("kind", "agent"), ("node", node)], what);
    assert_eq!((sent("h", "joins_sent"), sent("r1", "grafts_sent"), sent("r2", "grafts_sent")), (1.0, 1.0, 0.0));
    assert_eq!(sent("h", "control_bytes"), 40.0);
}

#[test]
fn the_last_router_goes_on_for_the_leave_latency() {
    // It joins at 1 s; LEAVE and PRUNE take 30 ms, and the latency 2 s: the last packet leaves r2 at 5 + 2.03 s.
    let results = two_routers("join = [{ at = '1 s', members = ['h'] }], leave = [{ at = '5 s', members = ['h'] }]");
    let over_core = packets(&results, "core r2>r1");
    // r2 sends from 1.03 s to 7.03 s, a packet each millisecond.
    assert!((over_core - 6000.0).abs() <= 2.0, "{over_core}");
    // The host hears nothing after it has left.
    let (_, last) = came(&results, "h", 0.0, 10.0).unwrap();
    assert!((4.998..5.0).contains(&last), "{last}");
    assert_eq!(state(&results, &[("kind", "agent"), ("node", "r1")], "prunes_sent"), 1.0);
    let at_once = two_routers(
        "join = [{ at = '1 s', members = ['h'] }], leave = [{ at = '5 s', members = ['h'] }], leave_latency = '0 s'",
    );
    assert!((packets(&at_once, "core r2>r1") - 4000.0).abs() <= 2.0);
}

#[test]
fn who_joins_again_in_time_is_not_cut_off() {
    let results = two_routers(
        "join = [{ at = '1 s', members = ['h'] }, { at = '6 s', members = ['h'] }], leave = [{ at = '5 s', members = ['h'] }]",
    );
    // r1 gets them from 1.05 s to the end.
    assert!((packets(&results, "core r2>r1") - 8950.0).abs() <= 2.0);
    assert_eq!(state(&results, &[("kind", "agent"), ("node", "r1")], "prunes_sent"), 0.0);
}

#[test]
fn who_leaves_while_there_is_no_way_is_heard_when_there_is_one() {
    // h leaves at 5 s, when its link or that of its router is down, until 8 s. Messages look for a way each second: at 8.03 s at the latest
    // r2 knows, or r1 and 2 s of leave latency later r2.
    // r1 lost r2 with its link, and later its own branch: each is a reason to prune.
    for (link, latest, reasons) in [("host", 11.1, 1.0), ("core", 9.1, 2.0)] {
        let results = two_routers(&format!(
            "join = [{{ at = '1 s', members = ['h'] }}], leave = [{{ at = '5 s', members = ['h'] }}] }}]
            change = [{{ at = '4.5 s', link = '{link}', up = false }}, {{ at = '8 s', link = '{link}', up = true"
        ));
        let last = |place| {
            let table = results.table("packets").unwrap();
            let sent = rows(table, &[("event", "dropped"), ("cause", "wrong_interface"), ("place", place)]);
            sent.into_iter().map(|row| table.number("time_s", row).unwrap()).fold(0.0, f64::max)
        };
        let (r1, h) = (last("r1"), last("h"));
        assert!(r1.max(h) < latest, "{link}: {r1} s, {h} s");
        let leaves = state(&results, &[("kind", "agent"), ("node", "h")], "leaves_sent");
        let prunes = state(&results, &[("kind", "agent"), ("node", "r1")], "prunes_sent");
        assert_eq!((leaves, prunes), (1.0, reasons), "{link}");
        // Nothing goes on over the link that came back.
        let table = results.table("packets").unwrap();
        let all = rows(table, &[("flow", "f"), ("kind", "data")]);
        let late = all.into_iter().filter(|row| {
            let at = table.number("time_s", *row).unwrap();
            at > latest && ["r1", "h"].contains(&table.text("place", *row).unwrap())
        });
        assert_eq!(late.count(), 0, "{link}");
    }
}

/// No branch was shut when `h` comes back within the leave latency, so no router farther up has to know.
#[test]
fn a_branch_that_is_there_already_is_no_reason_to_graft() {
    let results = two_routers(
        "join = [{ at = '0 s', members = ['h'] }, { at = '6 s', members = ['h'] }], leave = [{ at = '5 s', members = ['h'] }]",
    );
    let sent = |what| state(&results, &[("kind", "agent"), ("node", "r1")], what);
    // One at the beginning.
    assert_eq!((sent("grafts_sent"), sent("prunes_sent")), (1.0, 0.0));
    assert_eq!(packets(&results, "core r1>r2"), 1.0);
}

/// A JOIN is on its way over `host` from 3 to 3.01 s, a LEAVE from 5 s on: what a handover loses there is data.
#[test]
fn handovers_let_messages_pass() {
    for how in ["in_flight = 'lose'", "queue = 'empty', in_flight = 'lose'", "in_flight = 'move'"] {
        let results = two_routers(&format!(
            "leave_latency = '0 s', join = [{{ at = '3 s', members = ['h'] }}], leave = [{{ at = '5 s', members = ['h'] }}] }}]
            change = [
                {{ at = '3.005 s', link = 'host', rate = '10 Gbit/s', {how} }},
                {{ at = '5.005 s', link = 'host', rate = '1 Gbit/s', {how}"
        ));
        // The JOIN begins anew at 3.005 s.
        let (first, _) = came(&results, "h", 0.0, 10.0).unwrap();
        assert!((3.065..3.0661).contains(&first), "{how}: {first}");
        // The LEAVE comes at 5.015 s, and the PRUNE at 5.035 s; what r2 has sent until then is 20 ms on its way.
        let table = results.table("packets").unwrap();
        let sent = rows(table, &[("event", "dropped"), ("cause", "no_endpoint")]);
        let last = sent.into_iter().map(|row| table.number("time_s", row).unwrap()).fold(0.0, f64::max);
        assert!((5.054..5.0561).contains(&last), "{how}: {last}");
    }
}

#[test]
fn two_members_behind_a_router_cost_one_copy_above_it() {
    let text = |trees| {
        format!(
            "duration = '1 s'
            link = [
                {{ name = 'up', between = ['s', 'r'], rate = '1 Gbit/s' }},
                {{ name = 'a', between = ['r', 'a'], rate = '1 Gbit/s' }},
                {{ name = 'b', between = ['r', 'b'], rate = '1 Gbit/s' }},
            ]
            group = [{{ name = 'g', members = ['a', 'b'], trees = '{trees}' }}]
            flow = [{{ from = 's', to = 'g', transport = 'udp', source.cbr = {{ interval = '10 ms', size = '100 B' }} }}]"
        )
    };
    for trees in ["signalled", "instant"] {
        let results = run(&text(trees), 1);
        assert_eq!(packets(&results, "up s>r"), 99.0, "{trees}");
        assert_eq!(column(&results, "flows", "received_packets"), [98.0, 98.0], "{trees}");
    }
}

/// A square: `s`–`x`–`d` is the short way, `s`–`y`–`d` the long one. The short one goes down at 1 s and comes back at 2 s.
fn square(trees: &str) -> Results {
    square_back(trees, "2 s")
}

/// The same with a short way that comes back at this time.
fn square_back(trees: &str, back: &str) -> Results {
    let text = format!(
        "duration = '3 s'
        record.packets = true
        link = [
            {{ name = 'sx', between = ['s', 'x'], rate = '1 Gbit/s', delay = '10 ms' }},
            {{ name = 'xd', between = ['x', 'd'], rate = '1 Gbit/s', delay = '10 ms' }},
            {{ name = 'sy', between = ['s', 'y'], rate = '1 Gbit/s', delay = '20 ms' }},
            {{ name = 'yd', between = ['y', 'd'], rate = '1 Gbit/s', delay = '20 ms' }},
        ]
        group = [{{ name = 'g', members = ['d'], trees = '{trees}' }}]
        flow = [{{ from = 's', to = 'g', transport = 'udp', source.cbr = {{ interval = '1 ms', size = '100 B' }} }}]
        change = [{{ at = '1 s', link = 'xd', up = false }}, {{ at = '{back}', link = 'xd', up = true }}]"
    );
    run(&text, 1)
}

#[test]
fn a_tree_follows_the_network_with_messages_or_at_once() {
    // With messages: GRAFT over 20 + 20 ms, data over 40 ms, so nothing comes for 80 ms; at once: for 40 ms less.
    for (trees, gap) in [("signalled", 0.080), ("instant", 0.040)] {
        let results = square(trees);
        let (_, last) = came(&results, "d", 0.9, 1.01).unwrap();
        let (first, _) = came(&results, "d", 1.01, 2.0).unwrap();
        assert!((first - 1.0 - gap).abs() < 0.0015, "{trees}: from {last} to {first}");
        // Back again: over the short way, with nothing twice in the end.
        let (_, last) = came(&results, "d", 2.5, 3.0).unwrap();
        assert!(last > 2.998, "{trees}");
        let twice = column(&results, "flows", "duplicate_packets")[0];
        assert_eq!(twice, 0.0, "{trees}");
    }
}

/// Two links in a row of which the second is doubled: `a` is the short one, `b` the long one; and changes of `a`.
fn doubled(changes: &str) -> Results {
    let text = format!(
        "duration = '3 s'
        record.packets = true
        record.state = true
        link = [
            {{ name = 'up', between = ['s', 'r'], rate = '1 Gbit/s', delay = '1 ms' }},
            {{ name = 'a', between = ['r', 'd'], rate = '1 Gbit/s', delay = '10 ms' }},
            {{ name = 'b', between = ['r', 'd'], rate = '1 Gbit/s', delay = '20 ms' }},
        ]
        group = [{{ name = 'g', members = ['d'] }}]
        flow = [{{ from = 's', to = 'g', transport = 'udp', source.cbr = {{ interval = '1 ms', size = '100 B' }} }}]
        change = [{changes}]"
    );
    run(&text, 1)
}

#[test]
fn a_branch_moves_to_another_link_of_the_same_neighbours() {
    let results = doubled("{ at = '1 s', link = 'a', up = false }, { at = '2 s', link = 'a', up = true }");
    // A GRAFT and data over 20 ms each; back again over 10 ms each.
    let (first, _) = came(&results, "d", 1.011, 2.0).unwrap();
    assert!((first - 1.040).abs() < 0.0015, "{first}");
    let (first, last) = came(&results, "d", 2.001, 3.0).unwrap();
    assert!((first - 2.020).abs() < 0.0015 && last > 2.998, "from {first} to {last}");
    // `b` is used from 1.02 s to 2.01 s, and `a` the rest of the time: no packet goes both ways.
    assert!((packets(&results, "b r>d") - 990.0).abs() <= 2.0, "{}", packets(&results, "b r>d"));
    assert!((packets(&results, "a r>d") - (1000.0 + 980.0)).abs() <= 2.0, "{}", packets(&results, "a r>d"));
    // The router was on the tree all the time.
    assert_eq!(state(&results, &[("kind", "agent"), ("node", "r")], "grafts_sent"), 0.0);
    // A longer delay moves it too.
    let results = doubled("{ at = '1 s', link = 'a', delay = '50 ms' }");
    assert!((packets(&results, "b r>d") - 1960.0).abs() <= 2.0, "{}", packets(&results, "b r>d"));
}

#[test]
fn messages_that_were_overtaken_undo_nothing() {
    // The GRAFT over the long link comes when that over the short one, which was sent later, has come.
    let results = doubled("{ at = '1 s', link = 'a', up = false }, { at = '1.005 s', link = 'a', up = true }");
    let (_, last) = came(&results, "d", 0.0, 3.0).unwrap();
    assert!(last > 2.998, "{last}");
    assert_eq!(packets(&results, "b r>d"), 0.0);
    // So comes the PRUNE for the neighbour that was to be left.
    let results = square_back("signalled", "1.005 s");
    let (_, last) = came(&results, "d", 0.0, 3.0).unwrap();
    assert!(last > 2.998, "{last}");
}

#[test]
fn what_nobody_asked_for_is_no_loss() {
    // Ten packets from 0 to 0.9 s, before the join; ninety from 1 s on, of which two are lost.
    let text = "duration = '10 s'
        link = [{ name = 'wire', between = ['s', 'd'], rate = '1 Gbit/s', loss.list.drop = [3, 7] }]
        group = [{ name = 'g', join = [{ at = '950 ms', members = ['d'] }] }]
        flow = [{ from = 's', to = 'g', transport = 'udp', source.cbr = { interval = '100 ms', size = '100 B' } }]";
    let results = run(text, 1);
    let drops = results.table("drops").unwrap();
    let nobody = rows(drops, &[("cause", "no_members")]);
    assert_eq!(nobody.iter().map(|&row| drops.number("packets", row).unwrap()).sum::<f64>(), 10.0);
    assert_eq!(column(&results, "flows", "received_packets"), [88.0]);
    assert_eq!(column(&results, "flows", "loss_pct"), [100.0 * 2.0 / 90.0]);
}

/// Two receivers behind one link that loses a packet, and another link that loses two: one drop is missing at several receivers.
#[test]
fn each_receiver_of_a_group_has_losses_of_its_own() {
    for transport in ["'udp'", "{ tfmcc.classifier = 'all' }", "{ pgmcc.classifier = 'all' }"] {
        let text = format!(
            "duration = '10 s'
            link = [
                {{ name = 'up', between = ['s', 'r'], rate = '10 Mbit/s', delay = '10 ms', loss.list.drop = [30] }},
                {{ name = 'a', between = ['r', 'a'], rate = '10 Mbit/s', delay = '10 ms' }},
                {{ name = 'b', between = ['r', 'b'], rate = '10 Mbit/s', delay = '10 ms', loss.list.drop = [40, 50] }},
            ]
            group = [{{ name = 'g', members = ['a', 'b'] }}]
            flow = [{{ from = 's', to = 'g', transport = {transport}, source.cbr = {{ interval = '50 ms', size = '100 B' }} }}]"
        );
        let results = run(&text, 1);
        let got = column(&results, "flows", "received_packets");
        let loss = column(&results, "flows", "loss_pct");
        for (receiver, missed) in [1.0, 3.0].into_iter().enumerate() {
            let expected = 100.0 * missed / (got[receiver] + missed);
            assert!((loss[receiver] - expected).abs() < 1e-9, "{transport}: {} for {expected}", loss[receiver]);
        }
        assert!(results.table("flows").unwrap().number("dropped_packets", 0).is_none(), "{transport}");
    }
}

/// Packets of a time in which it was no member are not lost to a receiver; what it missed before counts on.
#[test]
fn who_comes_back_has_the_losses_of_its_times_as_a_member() {
    for transport in ["'udp'", "{ tfmcc.classifier = 'all' }", "{ pgmcc.classifier = 'all' }"] {
        let text = format!(
            "duration = '10 s'
            link = [{{ name = 'b', between = ['s', 'b'], rate = '10 Mbit/s', delay = '10 ms', loss.list.drop = [30, 150, 151] }}]
            [[group]]
            name = 'g'
            members = ['b']
            leave = [{{ at = '4 s', members = ['b'] }}]
            join = [{{ at = '6 s', members = ['b'] }}]
            [[flow]]
            from = 's'
            to = 'g'
            transport = {transport}
            source.cbr = {{ interval = '50 ms', size = '100 B' }}"
        );
        let results = run(&text, 1);
        let got = column(&results, "flows", "received_packets")[0];
        assert!(got > 150.0, "{transport}: {got}");
        let loss = column(&results, "flows", "loss_pct")[0];
        assert!((loss - 300.0 / (got + 3.0)).abs() < 1e-9, "{transport}: {loss}");
    }
}

/// Packets that overtake others are not lost, and nothing is.
#[test]
fn who_comes_late_is_not_lost() {
    for transport in ["'udp'", "'tfmcc'", "'pgmcc'", "{ pgmcc.reliable = true }"] {
        let text = format!(
            "duration = '10 s'
            link = [{{ name = 'l', between = ['s', 'd'], rate = '10 Mbit/s', delay = '200 ms' }}]
            change = [{{ at = '5 s', link = 'l', delay = '20 ms' }}]
            group = [{{ name = 'g', members = ['d'] }}]
            flow = [{{ from = 's', to = 'g', transport = {transport}, source.cbr = {{ interval = '10 ms', size = '100 B' }} }}]"
        );
        let results = run(&text, 1);
        assert_eq!(results.table("drops").unwrap().rows(), 0, "{transport}");
        assert_eq!(column(&results, "flows", "loss_pct"), [0.0], "{transport}");
    }
}

/// Repairs that another receiver asked for are no packets that came, and none that came twice.
#[test]
fn repairs_for_others_do_not_count_in_the_loss() {
    let text = "duration = '10 s'
        record.state = true
        link = [
            { name = 'up', between = ['s', 'r'], rate = '10 Mbit/s', delay = '10 ms' },
            { name = 'a', between = ['r', 'a'], rate = '10 Mbit/s', delay = '10 ms', loss.list.drop = [30] },
            { name = 'b', between = ['r', 'b'], rate = '10 Mbit/s', delay = '10 ms', loss.list.drop = [40, 50, 60, 70] },
        ]
        group = [{ name = 'g', members = ['a', 'b'] }]
        flow = [{ from = 's', to = 'g', transport.pgmcc.reliable = true, source.cbr = { interval = '50 ms', size = '100 B' } }]";
    let results = run(text, 1);
    for (row, node, missed) in [(0, "a", 1.0), (1, "b", 4.0)] {
        let of = |what| state(&results, &[("kind", "receiver"), ("node", node)], what);
        assert_eq!((of("repairs"), of("duplicate_packets")), (5.0, 5.0 - missed));
        let first = column(&results, "flows", "received_packets")[row] - 5.0;
        let loss = column(&results, "flows", "loss_pct")[row];
        assert!((loss - 100.0 * missed / (first + missed)).abs() < 1e-9, "{node}: {loss}");
    }
}

/// While no receiver listens, PGM sends a packet after each timeout, and SPMs of 56 B between them that say so (RFC 3208 §5.1.5). Both
/// reach no receiver.
#[test]
fn what_was_sent_before_a_receiver_listened_is_no_loss_of_its() {
    let text = "duration = '100 s'
        link = [{ name = 'wire', between = ['s', 'd'], rate = '1 Gbit/s', delay = '1 ms', loss.list.drop = [30, 40] }]
        group = [{ name = 'g', join = [{ at = '10 s', members = ['d'] }] }]
        flow = [{ from = 's', to = 'g', transport.pgmcc.reliable = true, source.file.size = '100 kB' }]";
    let results = run(text, 1);
    let drops = results.table("drops").unwrap();
    let nobody = rows(drops, &[("cause", "no_members")]);
    let [packets, bytes] = ["packets", "bytes"]
        .map(|column| -> f64 { nobody.iter().map(|&row| drops.number(column, row).unwrap()).sum() });
    let data = (bytes - 56.0 * packets) / (1500.0 - 56.0);
    assert!(data >= 2.0 && packets > data, "{data} of {packets}");
    assert_eq!(column(&results, "flows", "sent_packets"), [70.0]);
    assert_eq!(column(&results, "flows", "loss_pct"), [100.0 * 2.0 / (70.0 - data)]);
}

#[test]
fn an_area_is_sent_to_whoever_listens() {
    let text = "duration = '1 s'
        link = [
            { name = 'up', between = ['s', 'r'], rate = '1 Gbit/s' },
            { name = 'a', between = ['r', 'a'], rate = '1 Gbit/s' },
            { name = 'b', between = ['r', 'b'], rate = '1 Gbit/s' },
        ]
        group = [{ name = 'g', members = ['a'], area = ['b'] }]
        flow = [{ from = 's', to = 'g', transport = 'udp', source.cbr = { interval = '10 ms', size = '100 B' } }]";
    let results = run(text, 1);
    assert_eq!((packets(&results, "a r>a"), packets(&results, "b r>b")), (98.0, 98.0));
    assert_eq!(column(&results, "flows", "received_packets"), [98.0]);
    let drops = results.table("drops").unwrap();
    assert_eq!(rows(drops, &[("cause", "no_endpoint")]).len(), 1);
}

#[test]
fn queues_let_messages_pass() {
    // The way up is full of a stream that overloads it.
    let text = "duration = '5 s'
        record.packets = true
        link = [
            { name = 'up', between = ['s', 'r'], rate = '10 Mbit/s' },
            { name = 'a', between = ['r', 'a'], rate = '100 kbit/s', queue.droptail.limit = '2 packets' },
        ]
        group = [{ name = 'g', join = [{ at = '1 s', members = ['a'] }] }]
        flow = [
            { name = 'f', from = 's', to = 'g', transport = 'udp', source.cbr = { interval = '10 ms', size = '10 B' } },
            { name = 'load', from = 'a', to = 'r', transport = 'udp', source.cbr = { interval = '10 ms', size = '1000 B' } },
        ]";
    let results = run(text, 1);
    let (first, _) = came(&results, "a", 0.0, 5.0).unwrap();
    // The JOIN waits behind two packets at most, 82 ms each, and one in service.
    assert!(first < 1.35, "{first}");
}

/// Eight groups are joined at once over a way up that each discipline keeps short as it likes, by dropping packets that have waited too.
#[test]
fn no_discipline_drops_a_message_that_waits() {
    for queue in [
        "droptail = { limit = '5 packets', drop_front = true }",
        "red = {}",
        "rio = {}",
        "codel = { target = '1 ms', interval = '5 ms' }",
        "codel = { variant = 'mahimahi', target = '1 ms', interval = '5 ms' }",
        "fq_codel = { limit = '3 packets' }",
        "fq_codel = { target = '1 ms', interval = '5 ms' }",
        "pie = {}",
        "dualpi2 = {}",
        "drr = { limit = '3 packets' }",
        "threshold = { limit = '3 packets' }",
        "priority.classes = [{ queue.codel = { target = '1 ms', interval = '5 ms' } }]",
        "token_bucket = { rate = '32 kbit/s', burst = '1 kB', queue = 'codel' }",
        "wfq = {}",
        "swan = {}",
    ] {
        let groups = |each: fn(u32) -> String| (0..8).map(each).collect::<Vec<_>>().join(",");
        let text = format!(
            "duration = '8 s'
            link = [
                {{ name = 'up', between = ['s', 'r'], rate = '10 Mbit/s' }},
                {{ name = 'a', between = ['r', 'a'], rate = '64 kbit/s', reverse.queue.{queue} }},
            ]
            group = [{}]
            flow = [
                {{ name = 'load', from = 'a', to = 'r', transport = 'udp', source.cbr = {{ interval = '20 ms', size = '1000 B' }} }},
                {}
            ]",
            groups(|n| format!("{{ name = 'g{n}', join = [{{ at = '5.0013 s', members = ['a'] }}] }}")),
            groups(|n| format!(
                "{{ name = 'f{n}', from = 's', to = 'g{n}', transport = 'udp', source.cbr = {{ interval = '100 ms', size = '10 B' }} }}"
            )),
        );
        let received = column(&run(&text, 1), "flows", "received_packets");
        // A packet of the load is in service for 125 ms at most.
        assert!(received[1..].iter().all(|packets| (27.0..=30.0).contains(packets)), "{queue}: {received:?}");
    }
}

/// The worst receiver of a group leaves, and comes back: its sender follows the other one meanwhile.
#[test]
fn congestion_control_of_a_group_follows_who_listens() {
    for transport in ["tfmcc", "pgmcc"] {
        let text = format!(
            "duration = '180 s'
            record.series = '1 s'
            link = [
                {{ name = 'up', between = ['s', 'r'], rate = '10 Mbit/s' }},
                {{ name = 'fast', between = ['r', 'a'], rate = '2 Mbit/s', queue.droptail.limit = '20 packets' }},
                {{ name = 'slow', between = ['r', 'b'], rate = '300 kbit/s', queue.droptail.limit = '20 packets' }},
            ]
            group = [{{
                name = 'g', members = ['a', 'b'], leave_latency = '0 s',
                leave = [{{ at = '60 s', members = ['b'] }}], join = [{{ at = '120 s', members = ['b'] }}],
            }}]
            flow = [{{ name = 'f', from = 's', to = 'g', transport = '{transport}' }}]"
        );
        let results = run(&text, 1);
        let got = crate::common::scenario::series(&results, "fast r>a", "throughput_kbps");
        let mean = |from: f64, until: f64| {
            let values: Vec<f64> =
                got.iter().filter(|(at, _)| (from..until).contains(at)).map(|(_, value)| *value).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let (with, without, again) = (mean(40.0, 60.0), mean(100.0, 120.0), mean(160.0, 180.0));
        // What the slow link loses, a few per cent, comes on top of its rate.
        let follows = |rate: f64| (150.0..315.0).contains(&rate);
        assert!(follows(with) && without > 1000.0 && follows(again), "{transport}: {with}, {without}, {again}");
    }
}
