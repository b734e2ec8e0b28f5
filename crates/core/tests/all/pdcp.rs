//! Header compression through a UMTS cell: PDUs counted by hand, and what becomes of lost contexts.

use crate::common::scenario::{column, rows, run};
use lasthop_core::scenario::session::Results;
use lasthop_core::scenario::{check, read};

/// A cell of one terminal on the common channels, and a flow to it.
fn cell(cell: &str, duration: &str, flow: &str) -> Results {
    let text = format!(
        r#"
        duration = "{duration}"
        [[cell]]
        name = "cell"
        rnc = "rnc"
        attachment = "common"
        {cell}
        [[flow]]
        from = "rnc"
        to = "cell.ue[0]"
        {flow}
        "#
    );
    run(&text, 1)
}

/// A quantity of one direction of the bearer.
fn bearer(results: &Results, direction: &str, quantity: &str) -> f64 {
    let table = results.table("bearers").unwrap();
    let row = rows(table, &[("bearer", &format!("cell.ue[0] {direction}"))])[0];
    table.number(quantity, row).unwrap()
}

/// Packets dropped on the way down for a cause.
fn drops(results: &Results, cause: &str) -> f64 {
    let table = results.table("drops").unwrap();
    let row = rows(table, &[("place", "cell.ue[0] down"), ("cause", cause)]);
    row.first().map_or(0.0, |row| table.number("packets", *row).unwrap())
}

/// Unacknowledged mode with PDUs of 40 B of data.
const UM: &str = "rlc.um = { header = \"free\", tells_start = false }";

/// Ten datagrams of 1500 B, so far apart that each has its PDUs for itself.
fn datagrams(more: &str) -> Results {
    let flow = "transport = \"udp\"\nsource.cbr = { size = \"1472 B\", interval = \"500 ms\" }";
    cell(&format!("{UM}\n{more}"), "4.99 s", flow)
}

/// A file of 50 segments over TCP with a window of `window` packets.
fn file(window: u32, cell_text: &str) -> Results {
    let flow = format!("transport.tcp.window = {window}\nsource.file.size = \"73000 B\"");
    let results = cell(cell_text, "120 s", &flow);
    assert_eq!(column(&results, "transfers", "bytes"), [73_000.0]);
    assert!(column(&results, "transfers", "received_s")[0] > 0.0, "it arrives");
    results
}

#[test]
fn datagrams_of_1500_bytes_take_a_pdu_less() {
    // 37.5 PDUs of 40 B.
    assert_eq!(bearer(&datagrams(""), "down", "new_pdus"), 10.0 * 38.0);
    let results = datagrams("pdcp = \"rfc2507\"");
    // The headers 0, 2 and 5 are full: 1501 B are 38 PDUs. The others have 7 B instead of 28: 1479 B are 36 PDUs
    // and 39 B, for which a last one with its indicator has room.
    assert_eq!(bearer(&results, "down", "new_pdus"), 3.0 * 38.0 + 7.0 * 37.0);
    assert_eq!(bearer(&results, "down", "full_headers"), 3.0);
    assert_eq!(bearer(&results, "down", "header_bytes"), 10.0 * 28.0);
    assert_eq!(bearer(&results, "down", "coded_header_bytes"), 3.0 * 29.0 + 7.0 * 7.0);
    assert_eq!(bearer(&results, "down", "bytes"), 10.0 * 1500.0, "the packets are what they were");
}

#[test]
fn an_acknowledgement_takes_a_pdu_with_and_without() {
    // EURANE's PDUs hold 40 B, and tell nothing of an end that fills them. The acknowledgements go one by one. A report of RLC
    // that rides on one pushes its end into a second PDU.
    let without = file(2, "rlc = \"eurane\"");
    let riding = bearer(&without, "up", "sent_reports") - bearer(&without, "up", "control_pdus");
    assert_eq!(bearer(&without, "up", "new_pdus"), bearer(&without, "up", "packets") + riding);
    let with = file(2, "rlc = \"eurane\"\npdcp = \"rfc2507\"");
    // SYN+ACK, and the first ACK after it, have full headers: 41 B with that of PDCP. The others leave room for reports.
    assert_eq!(bearer(&with, "up", "full_headers"), 2.0);
    assert_eq!(bearer(&with, "up", "new_pdus"), bearer(&with, "up", "packets") + 2.0);
    // Down these are the SYN, the ACK after it, and the FIN.
    assert_eq!(bearer(&with, "down", "full_headers"), 3.0);
    // 5 B for each of the 50 segments.
    assert_eq!(bearer(&with, "down", "coded_header_bytes"), 3.0 * 41.0 + 50.0 * 5.0);
}

#[test]
fn a_lost_full_header_costs_the_packets_until_the_next() {
    // The first PDU is of the first datagram; the second is compressed, the third full.
    let results = datagrams("pdcp = \"rfc2507\"\nloss.list.drop = [0]");
    assert_eq!(drops(&results, "radio"), 1.0);
    assert_eq!(drops(&results, "context_lost"), 1.0);
    assert_eq!(bearer(&results, "down", "context_lost_packets"), 1.0);
    assert_eq!(bearer(&results, "down", "packets"), 8.0);
    assert_eq!(bearer(&results, "down", "header_requests"), 0.0, "none is made for datagrams");
}

#[test]
fn the_loss_of_one_segment_is_mended_and_of_two_asked_about() {
    // A segment of 1465 B takes 36.6 PDUs: the one in the middle of which lies PDU 1000 is the 28th or so.
    let results = file(8, &format!("{UM}\npdcp = \"rfc2507\"\nloss.list.drop = [1000]"));
    assert_eq!(drops(&results, "radio"), 1.0);
    assert_eq!(bearer(&results, "down", "repaired_headers"), 1.0);
    assert_eq!(drops(&results, "context_lost"), 0.0);
    assert_eq!(bearer(&results, "down", "header_requests"), 0.0);
    // SYN, ACK, FIN, and the retransmission.
    assert_eq!(bearer(&results, "down", "full_headers"), 4.0);
    // The next one is 40 PDUs on.
    let results = file(8, &format!("{UM}\npdcp = \"rfc2507\"\nloss.list.drop = [1000, 1040]"));
    assert_eq!(drops(&results, "radio"), 2.0);
    assert!(drops(&results, "context_lost") > 0.0);
    assert_eq!(bearer(&results, "down", "context_lost_packets"), drops(&results, "context_lost"));
    assert!(bearer(&results, "down", "header_requests") > 0.0);
}

#[test]
fn acknowledged_mode_loses_no_context() {
    let loss = "loss.bernoulli.p = 0.05\nuplink_loss.bernoulli.p = 0.05";
    let results = file(8, &format!("rlc.am = {{ max_dat = 40 }}\npdcp = \"rfc2507\"\n{loss}"));
    assert!(bearer(&results, "down", "air_lost_pdus") > 50.0);
    for direction in ["down", "up"] {
        assert_eq!(bearer(&results, direction, "context_lost_packets"), 0.0, "{direction}");
        assert_eq!(bearer(&results, direction, "repaired_headers"), 0.0, "{direction}");
    }
}

#[test]
fn without_compression_there_is_nothing_of_it() {
    let results = datagrams("pdcp = \"none\"");
    assert_eq!(bearer(&results, "down", "new_pdus"), 380.0);
    assert!(results.table("bearers").unwrap().number("header_bytes", 0).is_none());
}

#[test]
fn what_cannot_be_compressed_is_refused_by_its_name() {
    let refused = |cell: &str, flow: &str| {
        let text = format!(
            "duration = \"1 s\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\n{cell}\n[[flow]]\nfrom = \"rnc\"\n\
             to = \"cell.ue[0]\"\n{flow}\n"
        );
        let document = read::toml(&text, "test.toml").unwrap();
        check(&document).map_err(|error| error.to_string()).err()
    };
    for (cell, flow, message) in [
        ("pdcp.rfc2507.tcp_space = 2", "", "tcp_space"),
        ("pdcp.rfc2507.f_max_time = \"0.1 s\"", "", "f_max_time"),
        ("pdcp = \"rfc2507\"\nrlc.am.in_sequence = false", "", "RLC does not keep the order"),
        ("pdcp = \"rfc2507\"", "transport.tcp.profile = \"ns2\"", "flow[0] has those of ns-2"),
        ("pdcp = \"rfc2507\"", "transport.tcp.header = \"20 B\"", "flow[0] has headers of 20 B"),
        ("pdcp = \"rfc2507\"", "transport.udp.header = \"0 B\"\nsource = \"cbr\"", "flow[0] has headers of 0 B"),
        ("pdcp = \"rfc2507\"", "transport.tfrc.profile = \"ns2\"", "flow[0] has those of ns-2"),
    ] {
        let error = refused(cell, flow).unwrap_or_else(|| panic!("{cell} {flow}"));
        assert!(error.contains(message) && error.contains("pdcp"), "{cell} {flow}: {error}");
    }
    for cell in ["pdcp = \"none\"\nrlc.am.in_sequence = false", "pdcp.rfc2507 = {}"] {
        assert_eq!(refused(cell, ""), None);
    }
}
