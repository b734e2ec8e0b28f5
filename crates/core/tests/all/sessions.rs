//! Web pages and files over networks: one connection each, in the packets that they ask for, and
//! none that is never finished.

use std::collections::BTreeMap;

use lasthop_core::measure::table::Table;
use lasthop_core::scenario::session::{Results, Session};
use lasthop_core::scenario::{check::check, read};

fn run(text: &str, seed: u64) -> Results {
    let document = read::toml(text, "test").unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(&document).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut run = Session::new(&document.scenario, seed, None).unwrap();
    run.complete().unwrap();
    run.finish()
}

fn column(table: &Table, name: &str) -> Vec<Option<f64>> {
    (0..table.rows()).map(|row| table.number(name, row)).collect()
}

const RFC: [&str; 7] = ["tahoe", "reno", "newreno", "sack", "fack", "vegas", "cubic"];
const NS2: [&str; 6] = ["tahoe", "reno", "newreno", "sack", "fack", "vegas"];

/// Every variant of TCP with its profile.
fn variants() -> impl Iterator<Item = (&'static str, &'static str)> {
    RFC.map(|variant| ("rfc", variant)).into_iter().chain(NS2.map(|variant| ("ns2", variant)))
}

/// A main object of two full packets and an embedded one of one, with no time to parse or read.
/// The shape makes nearly all numbers of embedded objects the largest, 3 − 2.
const SMALL_PAGES: &str = "main_std = '0 B', embedded_std = '0 B', number = { shape = 1e-9, max = 3 }, \
                           parsing = '0 s', reading = '0 s', first = '0 s'";

/// A link of 100 kB/s and 50 ms, so that 40 B take 0.4 ms to send and 1500 B take 15 ms.
fn over_a_link(profile: &str, source: &str, tcp: &str) -> Results {
    let text = format!(
        "profile = '{profile}'
        duration = '1 s'
        record.packets = true
        link = [{{ name = 'l', between = ['a', 'b'], rate = '800 kbit/s', delay = '50 ms' }}]
        flow = [{{ from = 'a', to = 'b', source.web = {{ {SMALL_PAGES}, {source} }}, transport.tcp = {{ {tcp} }} }}]"
    );
    run(&text, 1)
}

#[test]
fn a_page_takes_what_its_packets_take() {
    // Times in ms. The SYN arrives at 50.4, its answer at 100.8. Then the main object is sent, at once
    // the embedded one, and in profile `rfc` an acknowledgement of 0.4 before them and a FIN behind.
    // The third packet has left the serialiser after 3 · 15, and arrives 50 later; its
    // acknowledgement comes 50.4 after that, and with it the next page.
    let large = "main_mean = '2920 B', embedded_mean = '1460 B', packet.large_share = 1";
    // Packets of 576 B take 5.76.
    let small = "main_mean = '1072 B', embedded_mean = '536 B', packet.large_share = 0";
    let stated = "main_mean = '920 B', embedded_mean = '460 B', packet.large_share = 0";
    for (profile, source, tcp, packet, ack, bytes) in [
        ("rfc", large, "", 15.0, 0.4, 4380.0),
        ("rfc", small, "", 5.76, 0.4, 1608.0),
        ("rfc", stated, "segment = '460 B'", 5.0, 0.4, 1380.0),
        ("ns2", large, "initial_window = 4", 15.0, 0.0, 4380.0),
        ("ns2", small, "initial_window = 4", 5.76, 0.0, 1608.0),
        ("ns2", stated, "initial_window = 4, segment = '460 B'", 5.0, 0.0, 1380.0),
    ] {
        let results = over_a_link(profile, source, tcp);
        let transfers = results.table("transfers").unwrap();
        let (sent, received) = (100.8, 150.8f64 + ack + 3.0 * packet);
        let page = received + 50.4;
        assert_eq!(transfers.rows() as f64, (1000.0 / page).ceil(), "{profile}, {source}");
        for row in 0..transfers.rows() - 1 {
            for (name, expected) in [("start_s", 0.0), ("sent_s", sent), ("received_s", received), ("acked_s", page)] {
                let got = transfers.number(name, row).unwrap() * 1e3;
                let expected = row as f64 * page + expected;
                assert!((got - expected).abs() < 1e-6, "{profile}, {source}: {name} {got}, expected {expected}");
            }
            assert_eq!(transfers.number("bytes", row), Some(bytes));
            assert_eq!(transfers.number("objects", row), Some(2.0));
        }
        let packets = results.table("packets").unwrap();
        let data = (0..packets.rows()).filter(|&row| packets.number("payload_bytes", row) > Some(0.0));
        let sizes: Vec<f64> = data.filter_map(|row| packets.number("size_bytes", row)).collect();
        assert!(sizes.iter().all(|size| *size == packet * 100.0), "{profile}, {source}: {sizes:?}");
    }
}

#[test]
fn time_stamps_take_of_the_packets_of_a_page() {
    // RFC 6691: what options take goes off the segment. A packet of the wire has the size that the page says.
    for (profile, tcp) in [("rfc", "timestamps = true"), ("linux", "")] {
        for (share, size) in [(1, 1500.0), (0, 576.0)] {
            let pages = format!("main_mean = '50 kB', embedded_mean = '50 B', packet.large_share = {share}");
            let results = over_a_link(profile, &pages, tcp);
            let packets = results.table("packets").unwrap();
            let sent = (0..packets.rows()).filter(|&row| packets.number("payload_bytes", row) > Some(0.0));
            let largest = sent.filter_map(|row| packets.number("size_bytes", row)).fold(0.0, f64::max);
            assert_eq!(largest, size, "{profile}");
            assert_eq!(results.table("transfers").unwrap().number("packet_bytes", 0), Some(size), "{profile}");
        }
    }
}

#[test]
fn each_page_has_a_connection_of_its_own_and_packets_of_its_size() {
    for (profile, variant) in variants() {
        let text = format!(
            "profile = '{profile}'
            duration = '200 s'
            record.packets = true
            link = [{{ name = 'l', between = ['a', 'b'], rate = '2 Mbit/s', delay = '20 ms', loss.bernoulli.p = 0.01 }}]
            flow = [{{ from = 'a', to = 'b', transport.tcp.variant = '{variant}',
                       source.web = {{ reading = '5 s', first = '1 s' }} }}]"
        );
        let results = run(&text, 5);
        let transfers = results.table("transfers").unwrap();
        let packets = results.table("packets").unwrap();
        let mut largest: BTreeMap<i64, f64> = BTreeMap::new();
        for row in (0..packets.rows()).filter(|&row| packets.number("payload_bytes", row) > Some(0.0)) {
            let connection = packets.number("connection", row).unwrap() as i64;
            let size = largest.entry(connection).or_insert(0.0);
            *size = packets.number("size_bytes", row).unwrap().max(*size);
        }
        assert_eq!(largest.len(), transfers.rows(), "{profile} {variant}");
        assert!(transfers.rows() > 10, "{profile} {variant}: {} pages", transfers.rows());
        let asked = column(transfers, "packet_bytes");
        for (connection, size) in largest {
            let expected = asked[connection as usize].unwrap();
            // ns-2's Vegas counts no header.
            let header = if (profile, variant) == ("ns2", "vegas") { 40.0 } else { 0.0 };
            let bytes = transfers.number("bytes", connection as usize).unwrap();
            // Objects may be smaller than a packet.
            let objects = transfers.number("objects", connection as usize).unwrap();
            let full = profile == "ns2" || bytes >= objects * (expected - 40.0);
            assert!(!full || size == expected - header, "{profile} {variant}: {size} B, expected {expected} B");
        }
        // Both packet sizes occur.
        assert!(asked.contains(&Some(1500.0)) && asked.contains(&Some(576.0)));
    }
}

#[test]
fn all_variants_carry_the_same_pages() {
    for source in ["web = { reading = '2 s' }", "ftp = { size_mean = '50 kB', size_max = '200 kB', reading = '2 s' }"] {
        let pages = |(profile, variant)| {
            let text = format!(
                "profile = '{profile}'
                duration = '400 s'
                link = [{{ name = 'l', between = ['a', 'b'], rate = '4 Mbit/s', delay = '10 ms', loss.bernoulli.p = 0.02 }}]
                flow = [{{ from = 'a', to = 'b', transport.tcp.variant = '{variant}', source.{source} }}]"
            );
            let results = run(&text, 9);
            let transfers = results.table("transfers").unwrap();
            let columns = ["bytes", "objects", "packet_bytes"].map(|name| column(transfers, name));
            (0..transfers.rows()).map(|row| columns.each_ref().map(|values| values[row])).collect::<Vec<_>>()
        };
        let all: Vec<_> = variants().map(|variant| (variant, pages(variant))).collect();
        let (_, longest) = all.iter().max_by_key(|(_, pages)| pages.len()).unwrap();
        for (variant, pages) in &all {
            assert!(pages.len() > 20, "{variant:?}: {} pages", pages.len());
            assert_eq!(pages[..], longest[..pages.len()], "{variant:?}");
        }
    }
}

/// With a fifth of all packets lost in either direction a page takes long: timers back off to a
/// minute. But it ends, and the next begins.
#[test]
fn no_page_is_stuck_however_much_is_lost() {
    for (profile, variant) in variants() {
        for seed in 1..=3 {
            let text = format!(
                "profile = '{profile}'
                duration = '40000 s'
                [[link]]
                name = 'l'
                between = ['a', 'b']
                rate = '400 kbit/s'
                delay = '60 ms'
                queue.droptail.limit = '5 packets'
                loss.bernoulli.p = 0.2
                reverse.loss.bernoulli.p = 0.2
                [[flow]]
                from = 'a'
                to = 'b'
                transport.tcp.variant = '{variant}'
                source.web = {{ main_mean = '4 kB', main_std = '8 kB', embedded_mean = '2 kB', embedded_std = '4 kB',
                                embedded_max = '50 kB', main_max = '50 kB', reading = '200 ms', number.max = 10 }}"
            );
            let results = run(&text, seed);
            let what = format!("{profile} {variant}, seed {seed}");
            let transfers = results.table("transfers").unwrap();
            let last = transfers.rows() - 1;
            assert!(last > 100, "{what}: {last} pages");
            let start = column(transfers, "start_s");
            assert!(start[last] > Some(35_000.0), "{what}: no new page since {:?} s", start[last]);
            let [sent, received, acked, bytes] =
                ["sent_s", "received_s", "acked_s", "bytes"].map(|name| column(transfers, name));
            for row in 0..last {
                assert!(start[row] <= sent[row] && sent[row] < acked[row], "{what}: page {row} has no end");
                assert!(acked[row] < start[row + 1], "{what}: page {row} ends after the next begins");
            }
            if (profile, variant) == ("ns2", "vegas") {
                // ns-2's Vegas resends packets that were never sent.
                continue;
            }
            assert!((0..last).all(|row| sent[row] < received[row] && received[row] < acked[row]), "{what}");
            let complete: f64 = bytes[..last].iter().flatten().sum();
            let got = results.table("flows").unwrap().number("received_bytes", 0).unwrap();
            assert!((0.0..=bytes[last].unwrap()).contains(&(got - complete)), "{what}: {got} B of {complete} B");
        }
    }
}

#[test]
fn without_the_table_a_run_is_the_same() {
    let results = |transfers| {
        let text = format!(
            "duration = '300 s'
            record.transfers = {transfers}
            link = [{{ name = 'l', between = ['a', 'b'], rate = '2 Mbit/s' }}]
            flow = [{{ name = 'web', from = 'a', to = 'b', source = 'web' }},
                    {{ name = 'ftp', from = 'a', to = 'b', source = 'ftp' }},
                    {{ name = 'file', from = 'a', to = 'b', source = 'file' }}]"
        );
        run(&text, 2)
    };
    let (with, without) = (results(true), results(false));
    assert!(with.table("transfers").unwrap().rows() > 5);
    assert!(without.table("transfers").is_none());
    for table in ["flows", "links", "drops"] {
        assert_eq!(with.table(table), without.table(table));
    }
}
