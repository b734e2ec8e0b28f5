//! Runs one benchmark workload and prints one line of JSON: packet-hops, goodput, CPU time of
//! the run without its set-up, and peak memory. `benches/peers/README.md` defines the workloads.
//!
//! ```sh
//! workload w1 --flows 100 --rate-mbps 100 --seconds 60
//! workload w2 --seconds 60
//! workload w3 --seconds 100
//! workload w4 --seconds 1500
//! workload scenario --file examples/hsdpa.toml --seconds 10
//! ```
//!
//! `scenario` runs a file, for another duration than it says.

use std::error::Error;
use std::fs;

use lasthop_core::engine::space::Angle;
use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Bytes, Duration};
use lasthop_core::profile::Profile;
use lasthop_core::queues::droptail;
use lasthop_core::satellite::handoff;
use lasthop_core::scenario::media::constellation::{Constellation, GroundTerminal, Isl};
use lasthop_core::scenario::read;
use lasthop_core::scenario::registry::{Orbits, Queue, Source, Transport};
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::types::{Flow, Group, Link, Scenario};
use lasthop_core::traffic::{cbr, greedy};
use lasthop_core::transport::{tcp, udp};

const USAGE: &str =
    "workload w1|w2|w3|w4|scenario [--file FILE] [--flows N] [--rate-mbps N] [--seconds N] [--profile rfc|ns2]";

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    let started = cpu_seconds();
    let scenario = match options.workload.as_str() {
        "w1" => dumbbell(&options),
        "w2" => chain(&options),
        "w3" => tree(&options),
        "w4" => sky(&options),
        "scenario" => of_file(&options)?,
        other => return Err(format!("unknown workload \"{other}\"\n{USAGE}").into()),
    };
    let mut run = Session::new(&scenario, 1, None)?;
    drop(scenario);
    let built = cpu_seconds();
    run.complete()?;
    let done = cpu_seconds();
    let peak = peak_rss_kb()?;
    let results = run.finish();
    let flows = results.table("flows").ok_or("a run has a table of flows")?;
    let tcp = (0..flows.rows()).filter(|&row| flows.number("acked_bytes", row).is_some());
    let received = tcp.filter_map(|row| flows.number("received_bytes", row)).fold(0.0, |sum, bytes| sum + bytes);
    let goodput = received * 8.0 / options.seconds as f64 / 1e6;
    println!(
        "{{\"workload\": \"{}\", \"flows\": {}, \"hops\": {}, \"goodput_mbps\": {goodput:.2}, \"run_cpu_s\": {:.6}, \"setup_s\": {:.6}, \"peak_rss_kb\": {peak}, \"ns_per_hop\": {:.2}}}",
        options.workload,
        options.flows,
        results.packet_hops,
        done - built,
        built - started,
        (done - built) * 1e9 / results.packet_hops as f64,
    );
    Ok(())
}

struct Options {
    workload: String,
    file: String,
    flows: u64,
    rate_mbps: u64,
    seconds: u64,
    profile: Profile,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let workload = words.next().ok_or(USAGE)?;
        let mut options =
            Self { workload, file: String::new(), flows: 10, rate_mbps: 100, seconds: 60, profile: Profile::Rfc };
        while let Some(name) = words.next() {
            let value = words.next().ok_or(USAGE)?;
            match name.as_str() {
                "--file" => options.file = value,
                "--flows" => options.flows = value.parse()?,
                "--rate-mbps" => options.rate_mbps = value.parse()?,
                "--seconds" => options.seconds = value.parse()?,
                "--profile" if value == "rfc" => options.profile = Profile::Rfc,
                "--profile" if value == "ns2" => options.profile = Profile::Ns2,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}

/// A queue that never drops in these workloads.
const DEEP: u64 = 100_000;

fn link(name: String, between: [&str; 2], rate: BitRate, delay_ms: u64, packets: u64) -> Link {
    let queue = Queue::DropTail(droptail::Config { limit: Amount::Packets(packets), ..Default::default() });
    Link {
        name,
        between: between.map(str::to_owned),
        rate: Some(rate),
        trace: None,
        delay: Duration::from_millis(delay_ms),
        queue,
        jitter: None,
        loss: None,
        reorder: true,
        reverse: None,
    }
}

/// NewReno with SACK, initial window 10, unlimited windows, an ACK for each segment, minimum
/// RTO 200 ms, no ECN, no time stamps, no handshake; 1000 bytes of payload.
fn greedy_tcp(from: String, to: String, start: Duration) -> Flow {
    let config = tcp::Config {
        variant: Some(tcp::config::Variant::Sack),
        segment: Some(Bytes::new(1000)),
        handshake: Some(tcp::config::Handshake::None),
        initial_window: Some(10),
        window: Some(1_000_000),
        rto: tcp::config::Rto { min: Some(Duration::from_millis(200)), ..Default::default() },
        ..Default::default()
    };
    let (transport, source) = (Transport::Tcp(config), Source::Greedy(greedy::Config::default()));
    Flow { name: String::new(), from, to, transport, source, start, qos: None }
}

/// Datagrams of 1000 bytes, IP header included, at a constant rate.
fn stream(from: String, to: String, rate: BitRate) -> Flow {
    let rate = BitRate::from_bps(rate.as_bps() * 972 / 1000);
    let source = Source::Cbr(cbr::Config::with_rate(rate, Bytes::new(972)));
    let transport = Transport::Udp(udp::Config::default());
    Flow { name: String::new(), from, to, transport, source, start: Duration::ZERO, qos: None }
}

fn scenario(options: &Options, link: Vec<Link>, flow: Vec<Flow>, group: Vec<Group>) -> Scenario {
    Scenario {
        profile: options.profile,
        duration: Duration::from_secs(options.seconds),
        link,
        flow,
        group,
        ..Default::default()
    }
}

/// W1: N flows over one bottleneck of 20 ms.
fn dumbbell(options: &Options) -> Scenario {
    let rate = BitRate::from_mbps(options.rate_mbps);
    let access = BitRate::from_mbps(1000);
    let mut links = vec![link("bottleneck".into(), ["a", "b"], rate, 20, options.rate_mbps * 625 / 100)];
    let mut flows = Vec::new();
    for i in 0..options.flows {
        let (sender, receiver) = (format!("s{i}"), format!("r{i}"));
        let delay = 1 + i % 5;
        links.push(link(format!("up{i}"), [&sender, "a"], access, delay, DEEP));
        links.push(link(format!("down{i}"), ["b", &receiver], access, delay, DEEP));
        flows.push(greedy_tcp(sender, receiver, Duration::from_secs_f64(i as f64 / options.flows as f64)));
    }
    scenario(options, links, flows, Vec::new())
}

/// W2: eleven routers in a row, ten flows over all of them, one constant stream over each link.
fn chain(options: &Options) -> Scenario {
    let access = BitRate::from_mbps(1000);
    let (mut links, mut flows) = (Vec::new(), Vec::new());
    for i in 0..10 {
        let (here, next) = (format!("n{i}"), format!("n{}", i + 1));
        let hosts = [format!("s{i}"), format!("r{i}"), format!("cs{i}"), format!("cr{i}")];
        links.push(link(format!("hop{i}"), [&here, &next], BitRate::from_mbps(100), 5, 1300));
        for (host, router) in hosts.iter().zip(["n0", "n10", &here, &next]) {
            links.push(link(format!("access {host}"), [host, router], access, 1, DEEP));
        }
        let [sender, receiver, source, sink] = hosts;
        flows.push(greedy_tcp(sender, receiver, Duration::from_millis(100 * i)));
        flows.push(stream(source, sink, BitRate::from_mbps(50)));
    }
    scenario(options, links, flows, Vec::new())
}

/// W3: one constant stream to 500 members of a group over a tree of 556 links.
fn tree(options: &Options) -> Scenario {
    let fast = BitRate::from_mbps(100);
    let mut links = vec![link("source".into(), ["source", "root"], fast, 5, DEEP)];
    let mut members = Vec::new();
    for i in 0..5 {
        let child = format!("c{i}");
        links.push(link(child.clone(), ["root", &child], fast, 10, DEEP));
        for j in 0..10 {
            let grandchild = format!("g{i}-{j}");
            links.push(link(grandchild.clone(), [&child, &grandchild], fast, 10, DEEP));
            for k in 0..10 {
                let member = format!("m{i}-{j}-{k}");
                links.push(link(member.clone(), [&grandchild, &member], BitRate::from_mbps(10), 5, DEEP));
                members.push(member);
            }
        }
    }
    let group = Group { name: "all".into(), members, ..Group::default() };
    scenario(options, links, vec![stream("source".into(), "all".into(), BitRate::from_mbps(1))], vec![group])
}

/// W4: five flows over a constellation like Iridium, from coast to coast and across the Atlantic.
fn sky(options: &Options) -> Scenario {
    let pairs = [
        ([37.9, -122.3], [42.3, -71.1]),
        ([34.1, -118.2], [40.7, -74.0]),
        ([47.6, -122.3], [38.9, -77.0]),
        ([41.9, -87.6], [51.5, -0.1]),
        ([29.8, -95.4], [48.9, 2.4]),
    ];
    let (mut terminals, mut flows) = (Vec::new(), Vec::new());
    for (n, (west, east)) in pairs.into_iter().enumerate() {
        let names = [format!("west{n}"), format!("east{n}")];
        for (name, [latitude, longitude]) in names.iter().zip([west, east]) {
            let [latitude, longitude] = [latitude, longitude].map(Angle::from_degrees);
            terminals.push(GroundTerminal { node: name.clone(), latitude, longitude, queue: None });
        }
        let [from, to] = names;
        flows.push(greedy_tcp(from, to, Duration::ZERO));
    }
    let constellation = Constellation {
        name: "sky".into(),
        orbits: Orbits::Star(Default::default()),
        terminal: terminals,
        isl: Isl { jitter: Duration::ZERO, ..Isl::default() },
        up: Default::default(),
        down: Default::default(),
        handoff: handoff::Config { jitter: Duration::ZERO, ..Default::default() },
        routes: Default::default(),
    };
    Scenario { constellation: vec![constellation], ..scenario(options, Vec::new(), flows, Vec::new()) }
}

/// The scenario of a file, for as long as the options say.
fn of_file(options: &Options) -> Result<Scenario, Box<dyn Error>> {
    let mut scenario = read::file(&options.file)?.scenario;
    scenario.duration = Duration::from_secs(options.seconds);
    Ok(scenario)
}

/// CPU time of this process so far, in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The largest resident size so far, in kB (Linux: /proc/self/status).
fn peak_rss_kb() -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find(|l| l.starts_with("VmHWM:")).ok_or("no VmHWM in status")?;
    Ok(line.split_whitespace().nth(1).ok_or("VmHWM has no value")?.parse()?)
}
