//! Captures as tshark and tcptrace read them: their counts are the sender's own.
//!
//! Each tool is used if it is installed; a test that lacks it says that it is skipped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use lasthop_core::measure::pcapng::Capture;
use lasthop_core::net::{FlowId, Histogram, Probe};
use lasthop_core::scenario::{capture, check, read, run::Run};

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
    fn part(&mut self, _name: &str) {}
    fn value(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, value);
    }
    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

impl Captured {
    fn new(name: &str, flow: &str, node: &[&str]) -> Self {
        let text = format!("{NETWORK}[[flow]]\nfrom = \"server\"\nto = \"mobile\"\n{flow}\n");
        let document = read::toml(&text, name).and_then(|d| check(&d).map(|()| d)).unwrap_or_else(|e| panic!("{e}"));
        let scenario = document.scenario;
        let names: Vec<String> = node.iter().map(|n| (*n).to_owned()).collect();
        let nodes = capture::nodes(&scenario, &names).unwrap();
        let file = std::env::temp_dir().join(format!("lasthop-{}-{name}.pcapng", std::process::id()));
        let out = std::fs::File::create(&file).unwrap();
        let observer = capture::capture(&scenario, &nodes, out).unwrap();
        let mut run = Run::new(&scenario, 1, Some(Box::new(observer))).unwrap();
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

    /// The packets that pass a filter of tshark's, and the sum of one of their fields.
    fn tshark(&self, filter: &str, field: &str) -> Option<(f64, f64)> {
        let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];
        let arguments = [&["-r", "FILE", "-Y", filter, "-T", "fields", "-e", field][..], &checks].concat();
        let values: Vec<f64> =
            self.ask("tshark", &arguments)?.lines().map(|line| line.parse().unwrap_or(0.0)).collect();
        Some((values.len() as f64, values.iter().sum()))
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

#[test]
fn tshark_counts_what_the_sender_counts() {
    for (name, flow) in [
        ("sack", "transport.tcp.variant = \"sack\""),
        ("newreno", "transport.tcp.variant = \"newreno\""),
        ("timestamps", "transport.tcp = { variant = \"sack\", timestamps = true, ecn = true }"),
        ("ns2-sack", "transport.tcp = { profile = \"ns2\", variant = \"sack\", window = 1000 }"),
        ("ns2-newreno", "transport.tcp = { profile = \"ns2\", variant = \"newreno\" }"),
        ("file", "transport.tcp.variant = \"sack\"\nsource.file.size = \"300 kB\""),
    ] {
        let run = Captured::new(name, flow, &["server"]);
        let Some((sent, bytes)) = run.tshark("tcp.len > 0", "tcp.len") else { return };
        let resent = run.flow("retransmitted_packets");
        assert_eq!(sent, run.segments(name), "{name}: segments");
        assert_eq!(bytes, run.flow("sent_bytes") + run.flow("retransmitted_bytes"), "{name}: bytes");
        let again = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.spurious_retransmission";
        let (seen, _) = run.tshark(&format!("tcp.len > 0 && ({again} || tcp.analysis.out_of_order)"), "frame.number").unwrap();
        assert_eq!(seen, resent, "{name}: retransmissions");
        assert!(resent > 0.0 || name == "file", "{name} should lose something");
        let (bad, _) = run
            .tshark("tcp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\" || _ws.malformed", "frame.number")
            .unwrap();
        assert_eq!(bad, 0.0, "{name}: wrong checksums");
        let (good, _) = run.tshark("ip.checksum.status == \"Good\"", "frame.number").unwrap();
        assert!(good >= sent, "{name}: checksums are looked at");
        let odd = "tcp.analysis.zero_window || tcp.analysis.window_full || tcp.analysis.ack_lost_segment || tcp.analysis.lost_segment";
        let (odd, _) = run.tshark(odd, "frame.number").unwrap();
        assert!(odd == 0.0 || name == "ns2-newreno", "{name}: {odd} packets look odd to tshark");
        let (syns, mss) = run.tshark("tcp.flags.syn == 1", "tcp.options.mss_val").unwrap();
        assert!(syns >= 2.0 && mss > 0.0, "{name}: {syns} SYNs, {mss}");
        if name.contains("sack") {
            let (blocks, _) = run.tshark("tcp.options.sack_le", "frame.number").unwrap();
            assert!(blocks > 0.0, "{name}: no SACK blocks");
        }
    }
}

#[test]
fn tcptrace_counts_what_the_sender_counts() {
    for (name, flow) in [
        ("trace-sack", "transport.tcp.variant = \"sack\""),
        ("trace-ns2", "transport.tcp = { profile = \"ns2\", variant = \"sack\", window = 1000 }"),
    ] {
        let run = Captured::new(name, flow, &["server"]);
        let Some(text) = run.ask("tcptrace", &["-l", "-n", "FILE"]) else { return };
        // The first of the two columns is the direction of the SYN.
        let value = |label: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(label)).unwrap_or_else(|| panic!("{label}:\n{text}"));
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
fn datagrams_and_several_nodes() {
    let flow = "transport = \"udp\"\nsource.cbr = { rate = \"100 kbit/s\", size = \"500 B\" }";
    let run = Captured::new("udp", flow, &["server", "mobile"]);
    let Some((frames, bytes)) = run.tshark("udp", "udp.length") else { return };
    let (sent, received) = (run.flow("sent_packets"), run.flow("received_packets"));
    assert_eq!(frames, sent + received);
    assert_eq!(bytes, (sent + received) * 508.0);
    let (at_mobile, _) = run.tshark("frame.interface_name == \"mobile\"", "frame.number").unwrap();
    assert_eq!(at_mobile, received);
    let (bad, _) = run.tshark("udp.checksum.status == \"Bad\" || _ws.malformed", "frame.number").unwrap();
    assert_eq!(bad, 0.0);
    let times = run.ask("tshark", &["-r", "FILE", "-c", "2", "-T", "fields", "-e", "frame.time_epoch"]).unwrap();
    assert!(times.lines().next().unwrap().starts_with("0.000000000"), "{times}");
}
