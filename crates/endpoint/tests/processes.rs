//! Two processes and more, over the sockets of this machine.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const ENDPOINT: &str = env!("CARGO_BIN_EXE_lasthop-endpoint");

/// A folder of its own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lasthop-endpoint-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(words: &str, more: &[&str]) -> Child {
    let words = words.split_whitespace().chain(more.iter().copied());
    Command::new(ENDPOINT).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The last line of an end that must succeed.
fn ended(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "{text} {}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Waits until a process listens to this UDP port, given as /proc shows it.
fn listens(port: u16, sockets: usize) {
    let shown = format!(":{port:04X} ");
    for _ in 0..500 {
        let table = fs::read_to_string("/proc/net/udp").unwrap();
        if table.lines().filter(|line| line.contains(&shown)).count() >= sockets {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no process listens to port {port}");
}

/// Bytes in which no piece is like another.
fn content(length: u32) -> Vec<u8> {
    (0..length.div_ceil(4)).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).take(length as usize).collect()
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_file_by_tfrc_arrives_whole() {
    let place = Place::new("tfrc");
    fs::write(place.file("sent"), content(300_001)).unwrap();
    let (out, tables) = (place.file("received"), place.file("tables"));
    let receiver = start("tfrc receive --port 47301 --for 30s --out", &[&out]);
    listens(47_301, 1);
    let sender = start(
        "tfrc send --to 127.0.0.1:47301 --receivers 1 --for 30s",
        &["--file", &place.file("sent"), "-o", &tables],
    );
    let said = ended(sender);
    assert!(said.contains("1 of 1 receivers have it"), "{said}");
    assert!(ended(receiver).ends_with("whole"));
    assert_eq!(fs::read(&out).unwrap(), content(300_001));
    let flows = rows(&place.0.join("tables/flows.csv"));
    let column = |name: &str| flows[0].iter().position(|column| column == name).unwrap();
    let sent: u64 = flows[1][column("sent_packets")].parse().unwrap();
    // 1460 B less 28 of the piece's header: 210 pieces, and what is said at the end.
    assert!((210..230).contains(&sent), "{sent}");
}

#[test]
fn a_file_by_multicast_arrives_whole_at_three_receivers() {
    let place = Place::new("multicast");
    fs::write(place.file("sent"), content(200_000)).unwrap();
    for (protocol, port) in [("tfmcc", 47_302), ("pgmcc", 47_303)] {
        let group = format!("239.77.9.9:{port}");
        let outs: Vec<String> = (0..3).map(|n| place.file(&format!("{protocol}{n}"))).collect();
        let receive = |out: &String| {
            let words = format!("{protocol} receive --group {group} --interface 127.0.0.1 --for 30s");
            start(&words, &["--out", out])
        };
        let receivers: Vec<Child> = outs.iter().map(receive).collect();
        listens(port, 3);
        let words = format!("{protocol} send --group {group} --interface 127.0.0.1 --receivers 3 --for 30s");
        let said = ended(start(&words, &["--file", &place.file("sent")]));
        assert!(said.contains("3 of 3 receivers have it"), "{said}");
        for (receiver, out) in receivers.into_iter().zip(&outs) {
            assert!(ended(receiver).ends_with("whole"));
            assert_eq!(fs::read(out).unwrap(), content(200_000));
        }
    }
}

/// A signal ends a receiver in order: its table is written.
#[test]
fn a_signal_ends_it_in_order() {
    let place = Place::new("signal");
    let receiver = start("tfrc receive --port 47305 -o", &[&place.file("tables")]);
    listens(47_305, 1);
    let sender = start("tfrc send --to 127.0.0.1:47305 --for 300ms", &[]);
    assert!(ended(sender).starts_with("sent "));
    let process = rustix::process::Pid::from_raw(receiver.id() as i32).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(ended(receiver).starts_with("received "));
    assert_eq!(rows(&place.0.join("tables/receivers.csv")).len(), 2);
}

/// A datagram to this port of this machine.
fn probe(port: u16, datagram: &[u8]) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(datagram, ("127.0.0.1", port)).unwrap();
}

/// Ports that are open to the world get queries of other protocols: those of NTP and DNS, and ours with a wild number and a wild stamp, are no
/// sender of a file, and leave no trace.
#[test]
fn queries_of_scanners_are_no_sender_of_a_file() {
    let place = Place::new("scanned");
    fs::write(place.file("sent"), content(20_000)).unwrap();
    let out = place.file("received");
    let receiver = start("tfrc receive --port 47308 --for 20s --out", &[&out]);
    listens(47_308, 1);
    let mut ntp = [0; 48];
    ntp[..4].copy_from_slice(&[0xe3, 0, 4, 0xfa]);
    let dns = b"\x34\xef\x01\0\0\x01\0\0\0\0\0\0\x07version\x04bind\0\0\x10\0\x03";
    let wild = [0, 0, 0, 5, 0x60, 0, 0, 0, 0, 0, 0, 0, 7];
    for datagram in [&ntp[..], dns, &wild, &[0; 12]] {
        probe(47_308, datagram);
    }
    let words = "tfrc send --to 127.0.0.1:47308 --receivers 1 --for 15s";
    let said = ended(start(words, &["--file", &place.file("sent")]));
    assert!(said.contains("1 of 1 receivers have it, 1 passes") && !said.contains("rejected"), "{said}");
    let said = ended(receiver);
    assert!(said.contains("rejected 4") && said.ends_with("whole"), "{said}");
    assert_eq!(fs::read(&out).unwrap(), content(20_000));
}

/// A host with several addresses answers from that of `--interface` (RFC 1122 §4.1.3.5): a sender listens to no other.
#[test]
fn a_host_with_several_addresses_answers_from_the_one_it_is_given() {
    let place = Place::new("several");
    fs::write(place.file("sent"), content(5_000)).unwrap();
    let receiver = start("tfrc receive --port 47312 --interface 127.0.0.2 --for 20s --out", &[&place.file("received")]);
    listens(47_312, 1);
    let words = "tfrc send --to 127.0.0.2:47312 --interface 127.0.0.3 --receivers 1 --for 15s --file";
    assert!(ended(start(words, &[&place.file("sent")])).contains("1 of 1 receivers have it"));
    assert!(ended(receiver).ends_with("whole"));
    let said = refused("tfrc receive --port 47312 --interface 192.0.2.9", &[]);
    assert!(said.starts_with("error: --interface 192.0.2.9, port 47312: Cannot assign requested address"), "{said}");
}

/// What was there is still there where the end cannot run.
#[test]
fn a_port_that_is_taken_costs_no_file() {
    let place = Place::new("taken");
    fs::write(place.file("precious"), content(1_000)).unwrap();
    let _other = std::net::UdpSocket::bind("0.0.0.0:47309").unwrap();
    let said = refused("tfrc receive --port 47309 --for 1s --out", &[&place.file("precious")]);
    assert!(said.starts_with("error: port 47309: Address already in use"), "{said}");
    assert_eq!(fs::read(place.file("precious")).unwrap(), content(1_000));
}

/// RLM's receivers tell one another which layers they add (McCanne, Jacobson, Vetterli 1996, shared learning).
#[test]
fn receivers_of_layers_hear_one_another() {
    let place = Place::new("learning");
    let group = "--group 239.77.9.9:47310 --interface 127.0.0.1";
    let tables = ["first", "second"].map(|name| place.file(name));
    let timers = "--control.rlm.join 500ms --control.rlm.detection 300ms --control.rlm.deviation 50ms";
    let receivers =
        tables.each_ref().map(|folder| start(&format!("layered receive {group} --for 5s {timers}"), &["-o", folder]));
    listens(47_310, 2);
    ended(start(&format!("layered send {group} --for 5s"), &[]));
    receivers.into_iter().map(ended).for_each(drop);
    let totals = tables.map(|folder| {
        let rows = rows(&Path::new(&folder).join("receivers.csv"));
        ["messages_sent", "datagrams_of_others", "datagrams_rejected"].map(|name| {
            let column = rows[0].iter().position(|column| column == name).unwrap();
            rows[1][column].parse::<u64>().unwrap()
        })
    });
    for [sent, others, rejected] in totals {
        assert!(sent > 0 && others == 0 && rejected == 0, "{totals:?}");
    }
}

/// Standard output is a closed pipe: that is no fault of the end.
#[test]
fn a_closed_pipe_is_no_fault() {
    for words in ["--help", "tfrc receive --port 47311 --for 50ms"] {
        let mut end = start(words, &[]);
        drop(end.stdout.take());
        let output = end.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{words}");
    }
}

/// A file that no receiver has is not whole, and the exit code says so.
#[test]
fn a_sender_without_receivers_says_so() {
    let place = Place::new("alone");
    fs::write(place.file("sent"), content(1_000)).unwrap();
    let sender = start("tfrc send --to 127.0.0.1:47304 --for 1s --file", &[&place.file("sent")]);
    let output = sender.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 of 0 receivers have it"));
    let sender = start("tfrc send --to 127.0.0.1:47304 --receivers 2 --for 1s --file", &[&place.file("sent")]);
    let output = sender.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 of 2 receivers have it"));
    assert_eq!(start("tfrc send", &[]).wait().unwrap().code(), Some(2));
}

/// What an end says that cannot run.
fn refused(words: &str, more: &[&str]) -> String {
    let output = start(words, more).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Tables go into a folder of their own, which may be that of an earlier session, or hold the file that is received.
#[test]
fn tables_are_written_over_nothing_else() {
    let place = Place::new("tables");
    let (tables, out) = (place.file("tables"), place.file("tables/received"));
    for _ in 0..2 {
        fs::create_dir_all(&tables).unwrap();
        assert!(ended(start("tfrc receive --port 47306 --for 50ms", &["-o", &tables])).starts_with("received 0"));
        let output = start("tfrc receive --port 47306 --for 50ms", &["-o", &tables, "--out", &out]);
        assert_eq!(output.wait_with_output().unwrap().status.code(), Some(1), "no file came");
        let words = "tfrc send --to 127.0.0.1:47306 --for 50ms";
        let says = format!("error: {tables} holds other files: choose another folder with -o");
        assert_eq!(refused(words, &["-o", &tables]), says, "it holds the file that was received");
        assert!(!place.0.join("tables/flows.csv").exists());
        fs::remove_file(&out).unwrap();
    }
    // A run of a scenario.
    fs::write(place.file("tables/manifest.json"), "{}").unwrap();
    fs::write(place.file("tables/receivers.csv"), "those of the run").unwrap();
    assert!(refused("tfrc receive --port 47306", &["-o", &tables]).contains("holds other files"));
    assert_eq!(fs::read_to_string(place.file("tables/receivers.csv")).unwrap(), "those of the run");
    // What cannot be written is said before the session, not behind it.
    let mut end = start("tfrc receive --port 47306 --for 60s", &["-o", "/proc/self/tables"]);
    let ends = (0..200).any(|_| {
        sleep(Duration::from_millis(100));
        end.try_wait().unwrap().is_some()
    });
    let output = end.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(ends && said.starts_with("error: /proc/self/tables: "), "{said}");
    let file = place.file("tables/manifest.json");
    assert!(refused("tfrc receive --port 47306", &["-o", &file]).contains("Not a directory"));
}

/// What the system refuses is named: an address that it sends nothing to, and the groups that it allows (ip(7), 20 by default).
#[test]
fn what_a_socket_may_not_do_is_named() {
    let said = refused("tfrc send --to 255.255.255.255:9 --for 1s", &[]);
    assert!(said.starts_with("error: socket: to 255.255.255.255:9: Permission denied"), "{said}");
    let most = fs::read_to_string("/proc/sys/net/ipv4/igmp_max_memberships").unwrap();
    let Some(most) = most.trim().parse::<usize>().ok().filter(|most| *most < 60) else { return };
    let layers = format!("[{}]", vec!["\"1kbit/s\""; most + 1].join(","));
    let words = format!(
        "layered receive --group 239.77.10.0:47313 --interface 127.0.0.1 --for 5s --control.fixed.layers {}",
        most + 1
    );
    let said = refused(&words, &["--layers", &layers]);
    assert!(said.contains(&format!("joining 239.77.10.{most}: No buffer space available")), "{said}");
    assert!(said.contains("net.ipv4.igmp_max_memberships"), "{said}");
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    for words in ["tfmcc receive", "tfmcc send"] {
        let said = refused(&format!("{words} --group 239.77.9.9:47307 --interface 192.0.2.9 --for 1s"), &[]);
        assert!(said.starts_with("error: --interface 192.0.2.9: Cannot assign requested address"), "{said}");
    }
}
