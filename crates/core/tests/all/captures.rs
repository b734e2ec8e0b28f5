//! Captures as tshark and tcptrace read them: their counts are the sender's own.
//!
//! Each tool is used if it is installed; a test that lacks it says that it is skipped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use lasthop_core::measure::pcapng::Capture;
use lasthop_core::measure::segments::{ReadError, segments};
use lasthop_core::net::{FlowId, Histogram, Probe};
use lasthop_core::scenario::{capture, session::Session};

const NETWORK: &str = r#"
duration = "20 s"
[[link]]
name = "wire"
between = ["server", "router"]
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
name = "radio"
between = ["router", "mobile"]
rate = "2 Mbit/s"
delay = "40 ms"
queue.droptail.limit = "20 packets"
loss.bernoulli.p = 0.01
"#;

/// A run of one flow from `server` to `mobile`, captured at `node`.
struct Captured {
    file: PathBuf,
    /// What the sender and the receiver count.
    counts: Counts,
}

#[derive(Default)]
struct Counts(BTreeMap<&'static str, f64>);

impl Probe for Counts {
    fn part(&mut self, _what: lasthop_core::net::What, _name: &str) {}
    fn value(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, value);
    }
    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

impl Captured {
    fn new(name: &str, flow: &str, node: &[&str]) -> Self {
        let text = format!("{NETWORK}[[flow]]\nfrom = \"server\"\nto = \"mobile\"\n{flow}\n");
        let scenario = crate::common::scenario::scenario(&text);
        let names: Vec<String> = node.iter().map(|n| (*n).to_owned()).collect();
        let nodes = capture::nodes(&scenario, &names).unwrap();
        let file = std::env::temp_dir().join(format!("lasthop-{}-{name}.pcapng", std::process::id()));
        let out = std::fs::File::create(&file).unwrap();
        let observer = capture::capture(&scenario, &nodes, out).unwrap();
        let mut run = Session::new(&scenario, 1, Some(Box::new(observer))).unwrap();
        run.complete().unwrap();
        let mut counts = Counts::default();
        run.simulation().sample_sender(FlowId(0), &mut counts);
        run.simulation().sample_receivers(FlowId(0), &mut counts);
        let results = run.finish();
        let observer = results.observer.unwrap().downcast::<Capture<std::fs::File>>().expect("the capture comes back");
        observer.finish().unwrap();
        Self { file, counts }
    }

    fn flow(&self, name: &str) -> f64 {
        *self.counts.0.get(name).expect(name)
    }

    /// Data segments that the sender counts. ns-2 counts packet 0, the SYN, among them.
    fn segments(&self, name: &str) -> f64 {
        let syn = if name.contains("ns2") { 1.0 } else { 0.0 };
        self.flow("sent_packets") + self.flow("retransmitted_packets") - syn
    }

    /// What a tool says, or `None` if it is not installed.
    fn ask(&self, tool: &str, arguments: &[&str]) -> Option<String> {
        let file = self.file.to_str().expect("a plain path");
        let arguments = arguments.iter().map(|a| if *a == "FILE" { file } else { a });
        match Command::new(tool).args(arguments).output() {
            Ok(output) => {
                assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
                Some(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Err(_) => {
                println!("skipped: {tool} is not installed");
                None
            }
        }
    }

    /// These fields of each packet, as tshark sees them; empty where a packet has none.
    fn tshark(&self, fields: &[&str]) -> Option<Vec<Vec<String>>> {
        let checks = ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "udp.check_checksum:TRUE"];
        let mut arguments = vec!["-r", "FILE", "-T", "fields"];
        checks.iter().for_each(|check| arguments.extend(["-o", check]));
        fields.iter().for_each(|field| arguments.extend(["-e", field]));
        let text = self.ask("tshark", &arguments)?;
        Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

#[test]
fn tshark_counts_what_the_sender_counts() {
    // The fields whose presence is counted, after the bytes and the two states of checksums.
    const FLAGS: [&str; 11] = [
        "tcp.analysis.retransmission",
        "tcp.analysis.fast_retransmission",
        "tcp.analysis.spurious_retransmission",
        "tcp.analysis.out_of_order",
        "_ws.malformed",
        "tcp.analysis.zero_window",
        "tcp.analysis.window_full",
        "tcp.analysis.ack_lost_segment",
        "tcp.analysis.lost_segment",
        "tcp.options.mss_val",
        "tcp.options.sack_le",
    ];
    for (name, flow) in [
        ("sack", "transport.tcp.variant = \"sack\""),
        ("newreno", "transport.tcp.variant = \"newreno\""),
        ("timestamps", "transport.tcp = { variant = \"sack\", timestamps = true, ecn = true }"),
        ("ns2-sack", "transport.tcp = { profile = \"ns2\", variant = \"sack\", window = 1000 }"),
        ("ns2-newreno", "transport.tcp = { profile = \"ns2\", variant = \"newreno\" }"),
        ("file", "transport.tcp.variant = \"sack\"\nsource.file.size = \"300 kB\""),
        ("data-on-syn", "transport.tcp = { variant = \"sack\", handshake = \"data_on_syn\" }"),
    ] {
        let run = Captured::new(name, flow, &["server"]);
        let fields = [&["tcp.len", "tcp.checksum.status", "ip.checksum.status"][..], &FLAGS].concat();
        let Some(rows) = run.tshark(&fields) else { return };
        let length = |row: &[String]| row[0].parse::<f64>().expect("a length");
        let data: Vec<_> = rows.iter().filter(|row| length(row) > 0.0).collect();
        let count = |flags: &[&str], rows: &[&Vec<String>]| {
            let places: Vec<usize> = flags.iter().filter_map(|f| fields.iter().position(|g| f == g)).collect();
            rows.iter().filter(|row| places.iter().any(|&place| !row[place].is_empty())).count() as f64
        };
        let all: Vec<_> = rows.iter().collect();
        assert_eq!(data.len() as f64, run.segments(name), "{name}: segments");
        let bytes: f64 = rows.iter().map(|row| length(row)).sum();
        assert_eq!(bytes, run.flow("sent_bytes") + run.flow("retransmitted_bytes"), "{name}: bytes");
        let resent = run.flow("retransmitted_packets");
        assert_eq!(count(&FLAGS[..4], &data), resent, "{name}: retransmissions");
        assert!(resent > 0.0, "{name} should lose something");
        // 0 is bad, 1 good, 2 not verified, as a packet cut short cannot be.
        assert!(rows.iter().all(|row| row[1] != "0" && row[2] == "1"), "{name}: wrong checksums");
        assert!(rows.iter().any(|row| row[1] == "1"), "{name}: checksums of TCP are looked at");
        // ns-2's 20 packets do fill the window.
        let odd = if name == "ns2-newreno" { &FLAGS[4..6] } else { &FLAGS[4..9] };
        assert_eq!(count(odd, &all), 0.0, "{name}: odd to tshark");
        assert!(count(&["tcp.options.mss_val"], &all) >= 2.0, "{name}: two SYNs");
        assert_eq!(count(&["tcp.options.sack_le"], &all) > 0.0, !name.contains("newreno"), "{name}: SACK");
    }
}

#[test]
fn tcptrace_counts_what_the_sender_counts() {
    for (name, flow) in [
        ("trace-sack", "transport.tcp.variant = \"sack\""),
        ("trace-data-on-syn", "transport.tcp = { variant = \"sack\", handshake = \"data_on_syn\" }"),
        ("trace-ns2", "transport.tcp = { profile = \"ns2\", variant = \"sack\", window = 1000 }"),
    ] {
        let run = Captured::new(name, flow, &["server"]);
        let Some(text) = run.ask("tcptrace", &["-l", "-n", "FILE"]) else { return };
        // The first of the two columns is the direction of the SYN.
        let value = |label: &str| {
            let line = text
                .lines()
                .find(|line| line.trim_start().starts_with(label))
                .unwrap_or_else(|| panic!("{label}:\n{text}"));
            let words = line.trim_start().strip_prefix(label).expect("found by it").split_whitespace();
            words.into_iter().find_map(|word| word.parse::<f64>().ok()).expect("a number")
        };
        assert_eq!(value("actual data pkts:"), run.segments(name), "{text}");
        assert_eq!(value("actual data bytes:"), run.flow("sent_bytes") + run.flow("retransmitted_bytes"), "{text}");
        assert_eq!(value("unique bytes sent:"), run.flow("sent_bytes"), "{text}");
        assert_eq!(value("rexmt data pkts:"), run.flow("retransmitted_packets"), "{text}");
        assert_eq!(value("rexmt data bytes:"), run.flow("retransmitted_bytes"), "{text}");
    }
}

#[test]
fn segments_read_back_are_those_that_were_sent() {
    let run = Captured::new("read", "transport.tcp = { variant = \"sack\", timestamps = true }", &["server"]);
    let file = std::fs::read(&run.file).unwrap();
    let table = segments(&file[..]).unwrap();
    let sum = |name: &str, direction: &str| {
        let rows = (0..table.rows()).filter(|&row| table.text("direction", row) == Some(direction));
        rows.filter_map(|row| table.number(name, row)).sum::<f64>()
    };
    assert_eq!(sum("payload_bytes", "out"), run.flow("sent_bytes") + run.flow("retransmitted_bytes"));
    assert_eq!((sum("payload_bytes", "in"), sum("syn", "out"), sum("syn", "in")), (0.0, 1.0, 1.0));
    assert!(sum("sack_blocks", "in") > 0.0 && sum("sack_blocks", "out") == 0.0);
    assert_eq!(table.text("interface", 0), Some("server"));
    assert_eq!(table.number("time_s", 0), Some(0.0));
    // Packet by packet, as another reader of captures sees them.
    let fields = ["frame.time_epoch", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.window_size_value"];
    if let Some(rows) = run.tshark(&fields) {
        assert_eq!(rows.len(), table.rows());
        for (row, theirs) in rows.iter().enumerate() {
            let ack = table.number("ack", row).unwrap_or(0.0);
            let ours =
                [table.number("seq", row), Some(ack), table.number("payload_bytes", row), table.number("window", row)];
            let theirs: Vec<_> = theirs.iter().map(|field| field.parse::<f64>().ok()).collect();
            assert_eq!(ours, theirs[1..], "row {row}");
            assert!((table.number("time_s", row).unwrap() - theirs[0].unwrap()).abs() < 1e-9);
        }
    }
    // Wherever the file is cut, it is read up to there or refused, and nothing else.
    let mut whole = 0;
    for end in (0..file.len()).step_by(97) {
        match segments(&file[..end]) {
            Ok(part) => assert!(part.rows() <= table.rows()),
            Err(ReadError::Cut(packets)) => {
                assert!((whole..=table.rows() as u64).contains(&packets), "{packets}");
                whole = packets;
            }
            Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
        }
    }
    assert!(whole + 1 >= table.rows() as u64, "{whole} of {}", table.rows());
}

#[test]
fn datagrams_and_several_nodes() {
    let flow = "transport = \"udp\"\nsource.cbr = { rate = \"100 kbit/s\", size = \"500 B\" }";
    let run = Captured::new("udp", flow, &["server", "mobile"]);
    let fields = ["udp.length", "frame.interface_name", "udp.checksum.status", "frame.time_epoch", "ip.dst"];
    let Some(rows) = run.tshark(&fields) else { return };
    let (sent, received) = (run.flow("sent_packets"), run.flow("received_packets"));
    assert_eq!(rows.len() as f64, sent + received);
    assert!(rows.iter().all(|row| row[0] == "508" && row[2] != "0" && row[4] == "10.0.0.0"), "{:?}", rows[0]);
    assert_eq!(rows.iter().filter(|row| row[1] == "mobile").count() as f64, received);
    assert_eq!(rows[0][3], "0.000000000", "nanoseconds, from the start of the run");
}

/// Readers that build on libpcap end at a packet that is longer than the file says packets are.
#[test]
fn no_packet_is_longer_than_the_file_says() {
    let media = |control| format!("transport.media.congestion = \"{control}\"\nsource = \"encoder\"");
    let flows =
        [media("nada"), media("scream"), "transport.dccp.ccid = 3".to_owned(), "transport = \"tcp\"".to_owned()];
    for (n, flow) in flows.iter().enumerate() {
        let run = Captured::new(&format!("snaplen{n}"), flow, &["server"]);
        let file = std::fs::read(&run.file).unwrap();
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (mut at, mut most, mut packets) = (0, 0, 0);
        // Each block has its kind, its length, its content and its length again.
        while at < file.len() {
            match word(at) {
                // An interface: its kind, and the longest packet.
                1 => most = word(at + 12),
                // A packet: interface, two words of time, its length here.
                6 => {
                    assert!(word(at + 20) <= most, "{flow}: {} of {most}", word(at + 20));
                    packets += 1;
                }
                _ => {}
            }
            at += word(at + 4) as usize;
        }
        assert!(packets > 100, "{flow}: {packets}");
    }
}

/// DCCP as tshark reads it: types, numbers, options and checksums.
#[test]
fn dccp_is_read_by_tshark() {
    for ccid in [2, 3] {
        let run = Captured::new(&format!("ccid{ccid}"), &format!("transport.dccp.ccid = {ccid}"), &["server"]);
        let fields = [
            "dccp.type",
            "dccp.data_offset",
            "dccp.checksum.status",
            "dccp.option_type",
            "dccp.ack_vector.nonce_0",
            "dccp.ccid3_loss_intervals",
            "_ws.malformed",
            "dccp.option.len.bad",
            "dccp.option_unknown",
            "ip.len",
        ];
        let Some(rows) = run.tshark(&fields) else { return };
        for row in &rows {
            assert!(row[2] != "0" && row[6..9].iter().all(String::is_empty), "{row:?}");
        }
        let of = |kind: &str| rows.iter().filter(|row| row[0] == kind).collect::<Vec<_>>();
        let (data, acks, data_acks) = (of("2"), of("3"), of("4"));
        assert_eq!((data.len() + data_acks.len()) as f64, run.flow("sent_packets"), "CCID {ccid}");
        // What neither IPv4's header nor DCCP's is.
        let payload = |row: &Vec<String>| row[9].parse::<f64>().unwrap() - 20.0 - 4.0 * row[1].parse::<f64>().unwrap();
        let bytes: f64 = data.iter().chain(&data_acks).map(|row| payload(row)).sum();
        assert_eq!(bytes, run.flow("sent_bytes"), "CCID {ccid}");
        if ccid == 2 {
            assert!(!data_acks.is_empty() && acks.iter().all(|row| row[3].starts_with("38") && !row[4].is_empty()));
        } else {
            assert!(data_acks.is_empty() && acks.iter().all(|row| row[3].starts_with("194,43,193")), "{:?}", acks[0]);
        }
    }
}
