//! Live runs with real namespaces, devices and programs. They need no root; where the system lets users make no network namespaces, or has no
//! TUN devices, these tests say why they do nothing, and fail if `LASTHOP_NEEDS_LIVE` is set, as in continuous integration.
//!
//! Run by root, they run as an ordinary user, with a TUN device of their own that users may open; or as root, if users may not.
#![cfg(target_os = "linux")]

#[path = "common/user.rs"]
mod user;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};

use user::text;

const LIVE: &str = env!("CARGO_BIN_EXE_lasthop-live");

/// 10 Mbit/s and 20 ms.
const LINK: &str = r#"
[[link]]
name = "radio"
between = ["server", "phone"]
rate = "10 Mbit/s"
delay = "20 ms"
queue.droptail.limit = "100 kB"
"#;

/// A folder of its own with a scenario, removed at the end. One test runs at a time: they measure times.
struct Place {
    folder: PathBuf,
    as_user: bool,
    _alone: MutexGuard<'static, ()>,
}

impl Place {
    /// `None` if there can be no live run here.
    fn new(scenario: &str) -> Option<Self> {
        static ALONE: Mutex<()> = Mutex::new(());
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("lasthop-namespaces-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut place = Self { folder, as_user: false, _alone: alone };
        place.open_to_users();
        fs::write(place.file("s.toml"), scenario).unwrap();
        place.as_user = user::possible(|as_user| {
            place.as_user = as_user;
            place.run(&["--host", "server", "phone", "--", "true"])
        })?;
        Some(place)
    }

    fn open_to_users(&mut self) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o777)).unwrap();
        // The one that was built may lie in a folder that is root's alone.
        fs::copy(LIVE, self.file("lasthop-live")).unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A run as the words of `lasthop live` would ask for it.
    fn command(&self, words: &[&str]) -> Command {
        let mut scenario = fs::read_to_string(self.file("s.toml")).unwrap() + "[live]\n";
        let mut hosts = String::new();
        let mut options = serde_json::Map::new();
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || *words.next().unwrap();
            match word {
                "--host" => hosts += &format!("[[live.host]]\nnode = \"{}\"\n", value()),
                "--run" => {
                    let (node, command) = value().split_once('=').unwrap();
                    hosts += &format!("[[live.host]]\nnode = \"{node}\"\nrun = [\"sh\", \"-c\", \"{command}\"]\n");
                }
                "--offload" => scenario += "offload = true\n",
                "--late" => scenario += &format!("late = \"{}\"\n", value()),
                "--for" => drop(options.insert("time".to_owned(), value().into())),
                "--strict" => drop(options.insert("strict".to_owned(), true.into())),
                "--pcap" => drop(options.insert("pcap".to_owned(), value().into())),
                "-o" => drop(options.insert("record".to_owned(), value().into())),
                node => {
                    assert_eq!(words.next(), Some(&"--"), "{node}");
                    options.insert("node".to_owned(), node.into());
                    options.insert("command".to_owned(), words.by_ref().copied().collect());
                }
            }
        }
        let file = self.file("run.toml");
        fs::write(&file, scenario + &hosts).unwrap();
        let mut command = user::command(&self.file("lasthop-live"), &self.folder, self.as_user);
        command.arg(file).arg(serde_json::Value::from(options).to_string()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts a run and waits until its program has written the file `up`.
    fn start(&self, arguments: &[&str]) -> Child {
        let mut child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        for _ in 0..500 {
            if self.file("up").exists() {
                return child;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        panic!("the program did not start: {}", text(&output.stderr));
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    /// The first row of a table that a run with `-o out` wrote, by column.
    fn row(&self, table: &str) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.file("out").join(table)).unwrap();
        let mut lines = text.lines();
        let names = lines.next().unwrap().split(',').map(str::to_owned);
        names.zip(lines.next().unwrap().split(',').map(str::to_owned)).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn verdict(output: &Output) -> String {
    text(&output.stderr).lines().last().unwrap_or_default().to_owned()
}

/// Sends numbered datagrams with their time, or prints number and delay in ms of those that come, by the kernel's stamp.
const DATAGRAMS: &str = r#"
import socket, struct, sys, time
role, family, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
s = socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET, socket.SOCK_DGRAM)
if role == "send":
    # Looked up once: the first time takes the resolver milliseconds.
    to = socket.getaddrinfo("phone", 7000, s.family)[0][4]
    time.sleep(0.5)
    for n in range(count):
        s.sendto(struct.pack("!QQ", n, time.time_ns()).ljust(size, b"x"), to)
        time.sleep(0.01)
    time.sleep(9)
else:
    s.bind(("", 7000))
    s.settimeout(5)
    s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    for _ in range(count):
        data, options, _, _ = s.recvmsg(70000, 1000)
        seconds, nanos = struct.unpack("qq", options[0][2])
        n, sent = struct.unpack("!QQ", data[:16])
        assert data[16:] == b"x" * (size - 16)
        print(n, (seconds * 10**9 + nanos - sent) / 1e6)
"#;

fn delays(place: &Place, family: &str, size: &str) -> (Vec<usize>, Vec<f64>, String) {
    place.script("datagrams.py", DATAGRAMS);
    let server = format!("server=python3 datagrams.py send {family} 100 {size}");
    let output =
        place.run(&["--run", &server, "phone", "--", "python3", "datagrams.py", "receive", family, "100", size]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let rows = lines.lines().map(|line| line.split_once(' ').unwrap());
    let (numbers, delays) = rows.map(|(n, ms)| (n.parse::<usize>().unwrap(), ms.parse::<f64>().unwrap())).unzip();
    (numbers, delays, verdict(&output))
}

#[test]
fn datagrams_come_whole_in_order_and_on_time() {
    let Some(place) = Place::new(LINK) else { return };
    // Of a datagram of 4,000 B, three fragments pass one behind another; each has its headers (20 B of IPv4; 40 B of IPv6 and 8 B).
    for (family, size, bytes) in [("4", "100", 128), ("6", "100", 148), ("4", "4000", 4_068), ("6", "4000", 4_152)] {
        // Transmission at 10 Mbit/s, then 20 ms of propagation.
        let least = 20.0 + f64::from(bytes) * 8.0 / 1e4;
        // On a machine that is busy with other things the bridge is late, and says so: then a run says nothing of times. It cannot know of a packet
        // that waits in front of it, before its stamp, or of a sender that is held up between its clock and the socket: a defect is in each run.
        let (mut sound, mut on_time) = (0, false);
        for _ in 0..5 {
            let (numbers, delays, verdict) = delays(&place, family, size);
            assert_eq!(numbers, (0..100).collect::<Vec<_>>(), "IPv{family}, {size} B");
            let early = delays.iter().filter(|delay| **delay < least).count();
            assert_eq!(early, 0, "IPv{family}, {size} B: {delays:?}");
            if verdict == "sound" {
                sound += 1;
                on_time = delays.iter().all(|delay| *delay <= least + 5.0);
            }
            if on_time {
                break;
            }
        }
        assert!(
            on_time || sound < 5,
            "IPv{family}, {size} B: in each of five sound runs packets came more than 5 ms late"
        );
        if !on_time {
            eprintln!("this machine is too busy: no run of five was sound and on time");
        }
    }
}

#[test]
fn a_file_comes_whole_over_tcp() {
    let Some(place) = Place::new(LINK) else { return };
    get_a_file(&place, 1_000_000, "4", &[]);
    // It took the link's time at least: 1 MB at 10 Mbit/s.
    let live = place.row("live.csv");
    assert!(live["virtual_s"].parse::<f64>().unwrap() > 0.8, "{live:?}");
}

#[test]
fn a_file_comes_whole_where_tcp_is_cut_by_the_bridge() {
    // The second link is fast enough that segments come together, and drops some.
    let fast = LINK.replace("10 Mbit/s", "2 Gbit/s").replace("20 ms", "1 ms");
    for (text, size, family) in [(LINK, 1_000_000, "4"), (&fast, 30_000_000, "4"), (&fast, 30_000_000, "6")] {
        let Some(place) = Place::new(text) else { return };
        get_a_file(&place, size, family, &["--offload"]);
        // The interface counts writes of the bridge: joined packets, but for the first link, whose segments come 1.2 ms apart.
        let counted = fs::read_to_string(place.file("received")).unwrap();
        let writes: u64 = counted.split_whitespace().nth(2).unwrap().parse().unwrap();
        let hosts = fs::read_to_string(place.file("out/hosts.csv")).unwrap();
        let phone: Vec<&str> = hosts.lines().find(|line| line.starts_with("phone,")).unwrap().split(',').collect();
        let (packets, bytes) = (phone[4].parse::<u64>().unwrap(), phone[5].parse::<u64>().unwrap());
        assert!(bytes / packets <= 1_500 && packets >= size as u64 / 1_460, "packets are segments: {hosts}");
        assert!(writes <= packets && (size == 1_000_000 || 2 * writes < packets), "{counted} {hosts}");
    }
}

/// Gets a file of random bytes by curl over IPv4 or IPv6, and repeats the recorded run.
fn get_a_file(place: &Place, size: u32, family: &str, options: &[&str]) {
    let bytes: Vec<u8> = (0..size).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::create_dir(place.file("www")).unwrap();
    fs::write(place.file("www/file"), &bytes).unwrap();
    let get = &format!(
        "curl -s{family} --retry 20 --retry-delay 1 --retry-connrefused -o got http://server:8000/file; code=$?; \
         grep live0 /proc/net/dev > received; exit $code"
    );
    let address = if family == "6" { "::" } else { "0.0.0.0" };
    let server = &format!("server=python3 -m http.server -b {address} -d www 8000");
    let words = ["--run", server, "-o", "out", "phone", "--", "sh", "-c", get];
    let output = place.run(&[options, &words].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read(place.file("got")).unwrap() == bytes, "the file is another");
    // One flow of TCP carried it; others are attempts before the server was up.
    let flows = fs::read_to_string(place.file("out/real_flows.csv")).unwrap();
    let rows = flows.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let large = rows.filter(|row| row[1] == "6" && row[3].parse::<u64>().unwrap() > u64::from(size)).count();
    assert_eq!(large, 1, "{flows}\n{}", text(&output.stderr));
    // The recording gives the same tables again.
    let again = Command::new(LIVE).current_dir(&place.folder).args(["--replay", "out", "again"]).output().unwrap();
    assert!(again.status.success(), "{}", text(&again.stderr));
    let mut tables = 0;
    for entry in fs::read_dir(place.file("again")).unwrap() {
        let path = entry.unwrap().path();
        let recorded = fs::read(place.file("out").join(path.file_name().unwrap())).unwrap();
        assert!(fs::read(&path).unwrap() == recorded, "{}", path.display());
        tables += 1;
    }
    assert!(tables >= 5);
}

/// Sends ECT(0) faster than the link carries, or counts CE among datagrams, and headers with wrong checksums.
const MARKS: &str = r#"
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == "send":
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0b10)
    time.sleep(0.5)
    for n in range(1500):
        s.sendto(bytes(1000), ("phone", 7000))
        time.sleep(0.0004)
    time.sleep(9)
else:
    s.bind(("", 7000))
    s.settimeout(2)
    s.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
    fields = [0, 0, 0, 0]
    try:
        while True:
            data, options, _, _ = s.recvmsg(2000, 100)
            fields[options[0][2][0] & 0b11] += 1
    except TimeoutError:
        pass
    with open("/proc/net/netstat") as file:
        lines = [line.split() for line in file if line.startswith("IpExt:")]
    errors = dict(zip(*lines))["InCsumErrors"]
    print(*fields, errors)
"#;

#[test]
fn marks_come_and_checksums_are_right() {
    let Some(place) = Place::new(&LINK.replace("queue.droptail.limit = \"100 kB\"", "queue.codel.ecn = true")) else {
        return;
    };
    place.script("marks.py", MARKS);
    let output = place.run(&["--run", "server=python3 marks.py send", "phone", "--", "python3", "marks.py", "count"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let counts: Vec<u64> = text(&output.stdout).split_whitespace().map(|n| n.parse().unwrap()).collect();
    let [not, ect1, ect0, ce, errors] = counts[..] else { panic!("{counts:?}") };
    assert_eq!((not, ect1, errors), (0, 0, 0), "{counts:?}");
    assert!(ect0 > 0 && ce > 0, "{counts:?}");
}

#[test]
fn exit_codes_are_those_of_the_program() {
    let Some(place) = Place::new(LINK) else { return };
    let code = |arguments: &[&str]| place.run(arguments).status.code();
    assert_eq!(code(&["--host", "server", "phone", "--", "sh", "-c", "exit 7"]), Some(7));
    assert_eq!(code(&["--host", "server", "phone", "--", "sh", "-c", "kill -9 $$"]), Some(137));
    assert_eq!(code(&["--host", "server", "phone", "--", "/there/is/no/such/program"]), Some(127));
    // `--for` ends it.
    assert_eq!(code(&["--host", "server", "--for", "300 ms", "phone", "--", "sleep", "60"]), Some(0));
    assert_eq!(code(&["--host", "nowhere", "phone", "--", "true"]), Some(2));
}

#[test]
fn programs_have_no_capabilities_and_are_the_caller() {
    let Some(place) = Place::new(LINK) else { return };
    let script =
        "id -u; grep -h Cap /proc/self/status; echo $LASTHOP_PEER_SERVER $LASTHOP_PEER_SERVER_6; cat /etc/hosts";
    let output = place.run(&["--host", "server", "phone", "--", "sh", "-c", script]);
    let said = text(&output.stdout);
    let user = if place.as_user { 65_534 } else { geteuid().as_raw() };
    assert!(said.starts_with(&format!("{user}\n")), "{said}");
    let sets: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("Cap")).collect();
    assert_eq!(sets.len(), 5, "{said}");
    assert!(sets.iter().all(|set| set.ends_with("0000000000000000")), "{said}");
    assert!(said.contains("10.77.0.1 fd77::1\n") && said.contains("10.77.0.2 phone\n"), "{said}");
}

/// Sends a datagram each ms, for ever.
const CHATTER: &str = r#"
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
open("up", "w").close()
while True:
    s.sendto(bytes(100), ("server", 7000))
    time.sleep(0.001)
"#;

/// The children of a process.
fn children(process: u32) -> Vec<u32> {
    let file = format!("/proc/{process}/task/{process}/children");
    fs::read_to_string(file).unwrap_or_default().split_whitespace().map(|n| n.parse().unwrap()).collect()
}

/// Sends a signal; says whether the process was there.
fn signal(process: u32, signal: Signal) -> bool {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).is_ok()
}

#[test]
fn a_stopped_bridge_says_that_it_was_late() {
    let Some(place) = Place::new(LINK) else { return };
    place.script("chatter.py", CHATTER);
    let pause = |options: &[&str]| {
        let _ = fs::remove_file(place.file("up"));
        let arguments = [options, &["--host", "server", "-o", "out", "phone", "--", "python3", "chatter.py"]].concat();
        let mut child = place.start(&arguments);
        sleep(Duration::from_millis(300));
        let [inner] = children(child.id())[..] else { panic!("one inner process") };
        assert!(signal(inner, Signal::STOP));
        sleep(Duration::from_millis(50));
        assert!(signal(inner, Signal::CONT));
        sleep(Duration::from_millis(300));
        signal(child.id(), Signal::INT);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (child.wait().unwrap().code(), said.trim().lines().last().unwrap_or_default().to_owned())
    };
    // Late is 30 ms, so that nothing but the pause of 50 ms is.
    let (code, verdict) = pause(&["--late", "30 ms"]);
    // That of the program, which SIGTERM ended.
    assert_eq!(code, Some(143));
    assert!(
        verdict.starts_with("LATE: ") && verdict.contains("% of packets left more than 30 ms late (p99 "),
        "{verdict}"
    );
    let text = fs::read_to_string(place.file("out/hosts.csv")).unwrap();
    let server = text.lines().find(|line| line.starts_with("server,")).unwrap();
    let late: u64 = server.rsplit(',').next().unwrap().parse().unwrap();
    assert!(late > 0, "{text}");
    // The pause is as long as it was: nothing is skipped, and the recording knows it.
    let (code, _) = pause(&["--late", "30 ms", "--strict"]);
    assert_eq!(code, Some(3));
}

/// Sends one datagram when it may, and ends when it may.
const ONE: &str = r#"
import os, socket, time
def say(name): open(name, "w").close()
def wait(name):
    while not os.path.exists(name): time.sleep(0.01)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to = socket.getaddrinfo("server", 7000, s.family)[0][4]
say("up")
wait("send")
s.sendto(b"x", to)
say("sent")
wait("end")
"#;

/// Nothing is due in the network while the bridge stands still, and a packet waits in front of it.
#[test]
fn a_bridge_that_stood_still_does_not_call_the_run_sound() {
    let Some(place) = Place::new(LINK) else { return };
    place.script("one.py", ONE);
    let say = |name: &str| fs::write(place.file(name), "").unwrap();
    let run = |options: &[&str]| {
        for name in ["up", "send", "sent", "end"] {
            let _ = fs::remove_file(place.file(name));
        }
        let child = place.start(&[options, &["--host", "server", "phone", "--", "python3", "one.py"]].concat());
        sleep(Duration::from_millis(200));
        let [inner] = children(child.id())[..] else { panic!("one inner process") };
        assert!(signal(inner, Signal::STOP));
        say("send");
        let sent = (0..500).any(|_| {
            sleep(Duration::from_millis(20));
            place.file("sent").exists()
        });
        assert!(sent);
        sleep(Duration::from_millis(600));
        assert!(signal(inner, Signal::CONT));
        sleep(Duration::from_millis(400));
        say("end");
        child.wait_with_output().unwrap()
    };
    // The pause is longer, and what a busy machine adds is less.
    let output = run(&["--late", "200 ms"]);
    assert!(verdict(&output).starts_with("LATE: 1 packet may have waited up to "), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run(&["--late", "200 ms", "--strict"]).status.code(), Some(3));
}

/// What loses its parent comes to the first process of the namespace, which alone can end it.
#[test]
fn orphans_do_not_pile_up() {
    let Some(place) = Place::new(LINK) else { return };
    place.script(
        "orphans.sh",
        "for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.1 &); done\nsleep 3\ncat /proc/[0-9]*/stat | grep -c ') Z'\nexit 7\n",
    );
    let output = place.run(&["--host", "server", "phone", "--", "sh", "orphans.sh"]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("0", Some(7)), "{}", text(&output.stderr));
}

/// The processes whose command line has this word, and their network namespaces.
fn processes(word: &str) -> Vec<(u32, Option<PathBuf>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).any(|part| text(part).contains(word)) {
            found.push((process, fs::read_link(entry.path().join("ns/net")).ok()));
        }
    }
    found
}

/// Whether any process is in this network namespace.
fn is_inhabited(namespace: &Path) -> bool {
    let mut all = fs::read_dir("/proc").unwrap().flatten();
    all.any(|entry| fs::read_link(entry.path().join("ns/net")).is_ok_and(|of| of == namespace))
}

#[test]
fn nothing_is_left_however_it_ends() {
    let Some(place) = Place::new(LINK) else { return };
    // The program leaves a daemon, which no signal to it or its group reaches.
    let word = format!("marker-{}", std::process::id());
    let script = format!("setsid sh -c 'sleep 600; : {word}' & touch up; sleep 600; : {word}");
    for (signal_sent, to_inner) in
        [(Signal::INT, false), (Signal::TERM, false), (Signal::KILL, false), (Signal::KILL, true), (Signal::TERM, true)]
    {
        let _ = fs::remove_file(place.file("up"));
        let mut child = place.start(&["--host", "server", "phone", "--", "sh", "-c", &script]);
        sleep(Duration::from_millis(200));
        let before = processes(&word);
        // Outer, inner, program, daemon.
        assert!(before.len() >= 4, "{before:?}");
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        let namespaces: Vec<PathBuf> = before.into_iter().filter_map(|(_, of)| of).filter(|of| *of != own).collect();
        assert!(!namespaces.is_empty());
        let inner = children(child.id());
        let to = if to_inner { inner[0] } else { child.id() };
        assert!(signal(to, signal_sent));
        child.wait().unwrap();
        // A process that ends loses its command line first, and its namespace a little later.
        let inhabited = || namespaces.iter().any(|namespace| is_inhabited(namespace));
        for _ in 0..150 {
            if processes(&word).is_empty() && !inhabited() {
                break;
            }
            sleep(Duration::from_millis(20));
        }
        let to = if to_inner { "the inner process" } else { "the outer one" };
        assert_eq!(processes(&word), [], "{signal_sent:?} to {to}");
        assert!(!inhabited(), "{signal_sent:?} to {to}");
    }
}
