//! Random scenarios, as texts, and ways to spoil them. All of it follows from a number.

use std::fmt::Write;

mod cell;
mod hsdpa;
mod mbms;
mod sky;

use cell::cell;
use hsdpa::hsdpa;
use mbms::mbms;
use sky::sky;

/// Random numbers: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True with a chance of one in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A number from `low` to `high`, its logarithm uniform.
    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        let share = self.next() as f64 / u64::MAX as f64;
        low * libm::pow(high / low, share)
    }
}

/// A random valid scenario: 2 to 8 nodes in a tree with some more links, up to two cells of UMTS, some of HSDPA, a Node B of MBMS and a
/// constellation, up to six flows, and losses, changes and handovers. About `packets` packets, over all links.
pub fn scenario(dice: &mut Dice, packets: f64) -> String {
    let nodes = 2 + dice.below(7);
    let mut pairs: Vec<(usize, usize)> = (1..nodes).map(|n| (dice.below(n), n)).collect();
    for _ in 0..dice.below(3) {
        let (a, b) = (dice.below(nodes), dice.below(nodes));
        if a != b {
            pairs.push((a, b));
        }
    }
    let rates: Vec<f64> = pairs.iter().map(|_| libm::round(dice.log(32.0, 20_000.0))).collect();
    let total: f64 = rates.iter().sum::<f64>() * 1000.0;
    let duration = (packets * 8.0 * 1000.0 / total).clamp(0.01, 40.0);
    let ms = libm::ceil(duration * 1000.0) as usize;
    let mut out = String::new();
    if dice.one_in(2) {
        let _ = writeln!(out, "name = \"case\"");
    }
    // Where headers are compressed, all are as they are on the wire.
    let compressed = dice.one_in(4);
    let _ = writeln!(out, "profile = \"{}\"", dice.pick(&["rfc", "3gpp", "ns2"][..3 - usize::from(compressed)]));
    let _ = writeln!(out, "duration = \"{ms} ms\"\nseed = {}", dice.below(1_000_000));
    if dice.one_in(3) {
        let names: Vec<String> = (0..nodes).map(|n| format!("\"n{n}\"")).collect();
        let _ = writeln!(out, "nodes = [{}]", names.join(", "));
    }
    for (i, ((a, b), rate)) in pairs.iter().zip(&rates).enumerate() {
        let _ =
            writeln!(out, "\n[[link]]\nname = \"link {i}\"\nbetween = [\"n{a}\", \"n{b}\"]\nrate = \"{rate} kbit/s\"");
        if !dice.one_in(4) {
            let _ = writeln!(out, "delay = \"{} us\"", libm::round(dice.log(1.0, 300_000.0)));
        }
        if dice.one_in(4) {
            let _ = writeln!(out, "reorder = {}", dice.one_in(2));
        }
        if !dice.one_in(3) {
            let _ = writeln!(out, "queue.{}", queue(dice));
        }
        if dice.one_in(3) {
            let _ = writeln!(out, "loss.{}", loss(dice, ms));
        }
        if dice.one_in(4) {
            let _ = writeln!(out, "reverse.rate = \"{} kbit/s\"", libm::round(dice.log(16.0, *rate)));
        }
        if dice.one_in(6) {
            let _ = writeln!(out, "reverse.queue.{}", queue(dice));
        }
        if dice.one_in(6) {
            let _ = writeln!(out, "reverse.loss.{}", loss(dice, ms));
        }
    }
    let cells = if dice.one_in(3) { 1 + dice.below(2) } else { 0 };
    let mut terminals: Vec<(String, usize)> =
        (0..cells).map(|i| (format!("cell {i}"), cell(dice, &mut out, i, nodes, ms, compressed))).collect();
    if dice.one_in(4) {
        terminals.push(("radio 0".to_owned(), hsdpa(dice, &mut out, 0, nodes)));
    }
    if dice.one_in(4) {
        terminals.push(("node b 0".to_owned(), mbms(dice, &mut out, 0, nodes, ms)));
    }
    if dice.one_in(4) {
        sky(dice, &mut out, 0, nodes, ms);
    }
    let sender = dice.below(nodes);
    let mut members: Vec<String> = (0..nodes)
        .filter(|n| *n != sender && (n + 1 == nodes || dice.one_in(2)))
        .map(|n| format!("\"n{n}\""))
        .collect();
    for (radio, ues) in &terminals {
        members.extend((0..*ues).filter(|_| dice.one_in(2)).map(|ue| format!("\"{radio}.ue[{ue}]\"")));
    }
    let group = dice.one_in(4) && !members.is_empty();
    let layers = dice.one_in(3);
    if group {
        let _ = writeln!(out, "\n[[group]]\nname = \"all\"\nmembers = [{}]", members.join(", "));
        if dice.one_in(3) {
            let _ = writeln!(out, "trees = \"instant\"");
        }
        if !layers && dice.one_in(3) {
            let _ = writeln!(out, "area = [{}]", members.join(", "));
        }
        if dice.one_in(2) {
            let _ = writeln!(out, "leave_latency = \"{} ms\"", dice.below(200));
            let [leave, join] = [dice.below(ms as usize), dice.below(ms as usize)];
            for (field, at) in [("leave", leave), ("join", join)] {
                let who = &members[dice.below(members.len())];
                let _ = writeln!(out, "{field} = [{{ at = \"{at} ms\", members = [{who}] }}]");
            }
        }
    }
    for i in 0..1 + dice.below(6) {
        let to_group = group && i == 0;
        let from = if to_group { sender } else { dice.below(nodes) };
        let to = (from + 1 + dice.below(nodes - 1)) % nodes;
        let [mut from, mut to] = [from, to].map(|n| format!("n{n}"));
        if !to_group && !terminals.is_empty() && !dice.one_in(4) {
            let (radio, ues) = &terminals[dice.below(terminals.len())];
            let ue = dice.below(*ues);
            let [up, all] = [dice.one_in(3), dice.one_in(3)];
            let terminal = if all { format!("{radio}.ue[*]") } else { format!("{radio}.ue[{ue}]") };
            *(if up { &mut from } else { &mut to }) = terminal;
        }
        let _ = writeln!(out, "\n[[flow]]\nname = \"flow {i}\"\nfrom = \"{from}\"");
        if to_group {
            let _ = writeln!(out, "to = \"all\"");
            let controlled = !dice.one_in(3);
            if layers {
                layered(dice, &mut out, packets / (ms as f64 / 1000.0), &members);
            } else if !controlled {
                let _ = writeln!(out, "transport = \"udp\"\nsource.{}", datagrams(dice, ms, packets));
            } else if dice.one_in(2) {
                tfmcc(dice, &mut out);
            } else {
                pgmcc(dice, &mut out);
            }
            match dice.below(3) {
                _ if layers => {}
                0 if controlled => {
                    let size = libm::round(dice.log(1.0, packets * 1000.0));
                    let _ = writeln!(out, "source.file.size = \"{size} B\"");
                }
                1 if controlled => {
                    let _ = writeln!(out, "source.{}", datagrams(dice, ms, packets));
                }
                _ => {}
            }
        } else if dice.one_in(4) {
            let _ = writeln!(out, "to = \"{to}\"\ntransport = \"udp\"\nsource.{}", datagrams(dice, ms, packets));
        } else {
            let _ = writeln!(out, "to = \"{to}\"");
            // HSDPA's way up has no rate: what slows down for losses only would send ever more, if no window ends it.
            let unlimited = from.starts_with("radio");
            let reliable = !dice.one_in(3) || unlimited;
            // Web pages and files of 3GPP need what only TCP has; PGMCC serves no source that waits for what it has sent.
            let sources = if unlimited {
                let _ = writeln!(out, "transport.tcp.window = {}", 1 + dice.below(50));
                7
            } else if reliable {
                tcp(dice, &mut out, compressed);
                7
            } else if dice.one_in(4) {
                pgmcc(dice, &mut out);
                4
            } else {
                unreliable(dice, &mut out, compressed);
                5
            };
            match dice.below(sources) {
                0 => {
                    let _ = writeln!(out, "source.file.size = \"{} B\"", libm::round(dice.log(1.0, packets * 1000.0)));
                }
                4 => {
                    let largest = libm::round(dice.log(1.0, packets * 500.0));
                    let pause = libm::round(dice.log(0.1, ms as f64));
                    let _ = writeln!(
                        out,
                        "source.files = {{ sizes = [\"1 B\", \"{largest} B\"], weights = [1.0, 2.0], \
                         pause = \"{pause} ms\", pause_min = \"0 s\", first = \"{pause} ms\" }}"
                    );
                }
                5 => {
                    let _ = writeln!(out, "source.web{}", web(dice, ms));
                }
                6 => {
                    let _ = writeln!(out, "source.ftp{}", ftp(dice, ms, packets));
                }
                1 => {
                    let _ = writeln!(out, "source.{}", datagrams(dice, ms, packets));
                }
                _ => {}
            }
        }
        if dice.one_in(2) {
            let _ = writeln!(out, "start = \"{} ms\"", dice.below(ms));
        }
    }
    for _ in 0..dice.below(6) / 2 {
        let link = dice.below(pairs.len());
        change(dice, &mut out, link, rates[link], ms);
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "\n[record]\nseries = \"{} ms\"\npackets = {}", 1 + ms / 20, dice.one_in(2));
        if dice.one_in(4) {
            let _ = writeln!(out, "transfers = false");
        }
        let _ = writeln!(out, "variables = {}\nhandovers = {}", dice.one_in(2), dice.one_in(2));
    }
    out
}

/// A change of link number `link`, whose rate is `rate` kbit/s, in a run of `ms` milliseconds.
fn change(dice: &mut Dice, out: &mut String, link: usize, rate: f64, ms: usize) {
    let at = dice.below(ms);
    let _ = writeln!(out, "\n[[change]]\nat = \"{at} ms\"\nlink = \"link {link}\"");
    let before = out.len();
    if dice.one_in(2) {
        let _ = writeln!(out, "rate = \"{} kbit/s\"", libm::round(dice.log(16.0, rate)));
        if dice.one_in(4) {
            let _ = writeln!(out, "ramp = \"{} us\"", dice.below(ms * 1500));
        }
    }
    if dice.one_in(2) {
        let _ = writeln!(out, "delay = \"{} us\"", libm::round(dice.log(1.0, 300_000.0)));
    }
    if dice.one_in(4) {
        let _ = writeln!(out, "up = {}", dice.one_in(2));
    }
    if dice.one_in(6) {
        let _ = writeln!(out, "loss.{}", loss(dice, ms));
        if dice.one_in(2) {
            let _ = writeln!(out, "loss_for = \"{} ms\"", dice.below(ms));
        }
    }
    let mut queue = *dice.pick(&["keep", "keep", "empty", "forward"]);
    if out.len() == before {
        queue = "empty";
    }
    let _ = writeln!(out, "queue = \"{queue}\"");
    let overlap = dice.one_in(4);
    let in_flight = if overlap { "finish" } else { *dice.pick(&["finish", "move", "copy", "lose", "forward"]) };
    let _ = writeln!(out, "in_flight = \"{in_flight}\"");
    if queue == "forward" || in_flight == "forward" {
        let _ = writeln!(out, "forwarding = \"{} us\"", libm::round(dice.log(1.0, 300_000.0)));
    }
    if overlap {
        let _ = writeln!(out, "overlap = \"{} us\"", libm::round(dice.log(1.0, 300_000.0)));
    } else if dice.one_in(3) {
        let _ = writeln!(out, "interruption = \"{} us\"", libm::round(dice.log(1.0, 2_000_000.0)));
    }
    if dice.one_in(4) {
        let times = 1 + dice.below(20);
        let _ = writeln!(out, "repeat = {{ every = \"{} us\", times = {times} }}", 1 + (ms - at) * 990 / times);
    }
}

fn queue(dice: &mut Dice) -> String {
    let limit = match dice.below(3) {
        0 => format!("{} packets", dice.below(4)),
        1 => format!("{} packets", libm::round(dice.log(4.0, 1000.0))),
        _ => format!("{} B", libm::round(dice.log(100.0, 1e6))),
    };
    match dice.below(13) {
        6 => format!("rio = {{ limit = \"{limit}\", weight = {:.3} }}", dice.log(1e-3, 0.5)),
        7 => format!("drr = {{ limit = \"{limit}\", quantum = \"{} B\" }}", libm::round(dice.log(1.0, 9000.0))),
        8 => "priority = { classes = [{ dscp = [\"ef\", \"af11\"], queue = \"drr\" }, { queue = \"codel\" }] }"
            .to_owned(),
        9 => {
            let (rate, burst) = (libm::round(dice.log(1e4, 1e7)), libm::round(dice.log(1.0, 1e5)));
            let excess = dice.pick(&["wait", "drop", "demote"]);
            let queue = dice.pick(&["droptail", "red", "codel", "rio", "drr"]);
            format!(
                "token_bucket = {{ rate = \"{rate} bit/s\", burst = \"{burst} B\", excess = \"{excess}\", queue = \"{queue}\" }}"
            )
        }
        10 => format!("wfq = {{ limit = \"{limit}\", clock = \"{}\" }}", dice.pick(&["self-clocked", "gps"])),
        12 => {
            let (check, observe) = (1 + dice.below(100), 1 + dice.below(2_000));
            format!("queue_phase = {{ limit = \"{limit}\", check = \"{check} ms\", observe = \"{observe} ms\" }}")
        }
        11 => format!("diffserv = {{ limit = \"{limit}\", edge = {} }}", dice.one_in(2)),
        0 => format!("droptail = {{ limit = \"{limit}\", drop_front = true }}"),
        1 => format!("red = {{ limit = \"{limit}\", ecn = {} }}", dice.one_in(2)),
        2 => {
            let min = libm::round(dice.log(1.0, 20.0));
            let adaptive = dice.one_in(2);
            format!("red = {{ min = {min}.0, max = {}.5, gentle = {}, adaptive = {adaptive} }}", min * 3.0, !adaptive)
        }
        3 => format!("codel = {{ limit = \"{limit}\", target = \"{} ms\" }}", 1 + dice.below(30)),
        _ => format!("droptail.limit = \"{limit}\""),
    }
}

fn loss(dice: &mut Dice, ms: usize) -> String {
    match dice.below(6) {
        4 => format!(
            "redrawn = {{ high = {:.3}, period = \"{} ms\", attempts = {} }}",
            dice.log(0.01, 1.0),
            1 + dice.below(ms),
            1 + dice.below(3)
        ),
        0 => {
            format!("gilbert = {{ good_to_bad = {:.4}, bad_to_good = {:.4} }}", dice.log(1e-3, 0.1), dice.log(0.1, 1.0))
        }
        1 => format!("list.drop = [{}, {}, {}]", dice.below(3), dice.below(30), dice.below(300)),
        2 => format!("schedule.steps = [[\"{} ms\", {:.3}], [\"{} ms\", 0]]", dice.below(ms), dice.log(0.01, 1.0), ms),
        3 => "none = {}".to_owned(),
        _ => format!("bernoulli.p = {:.4}", dice.log(1e-4, 0.3)),
    }
}

/// A source of datagrams: at most about `packets` of them.
fn datagrams(dice: &mut Dice, ms: usize, packets: f64) -> String {
    let size = libm::round(dice.log(1.0, 9000.0));
    let most = (packets * size * 8.0 / (ms as f64 / 1000.0)).max(2.0);
    let rate = libm::ceil(dice.log(1.0, most.min(2e7)));
    match dice.below(5) {
        3 => format!("voice = {{ silence = \"{} ms\" }}", dice.below(2_000)),
        4 => format!("video.interval = \"{} ms\"", 88 + dice.below(100)),
        0 => format!("cbr = {{ interval = \"{} us\", size = \"{size} B\" }}", libm::ceil(ms as f64 * 1000.0 / packets)),
        1 => {
            let distribution = dice.pick(&["exponential", "pareto", "constant"]);
            format!(
                "onoff = {{ rate = \"{rate} bit/s\", size = \"{size} B\", on = \"{} ms\", distribution = \"{distribution}\" }}",
                1 + dice.below(500)
            )
        }
        _ => format!("cbr = {{ rate = \"{rate} bit/s\", size = \"{size} B\" }}"),
    }
}

/// Parameters of web pages that come soon enough to be seen.
fn web(dice: &mut Dice, ms: usize) -> String {
    let (first, reading) = (1 + dice.below(ms), dice.below(ms));
    let times = format!("first = \"{first} ms\", reading = \"{reading} ms\"");
    let rest = match dice.below(6) {
        0 => format!("load = \"{}\"", dice.pick(&["table-5.1", "thesis-load", "thesis-load-main"])),
        1 => format!("main_std = \"{} B\", main_max = \"20 kB\"", dice.below(30_000)),
        2 => format!("embedded_mean = \"{} B\", embedded_min = \"0 B\"", libm::round(dice.log(1.0, 1e5))),
        3 => {
            let (larger, rounding) = (dice.pick(&["clip", "reject"]), dice.pick(&["nearest", "down"]));
            let (shape, max) = (dice.log(0.1, 5.0), 2 + dice.below(100));
            format!(
                "number = {{ shape = {shape:.3}, max = {max}.0, larger = \"{larger}\", rounding = \"{rounding}\" }}"
            )
        }
        4 => {
            format!("packet = {{ small = \"{} B\", large_share = {:.2} }}", 41 + dice.below(2_000), dice.log(0.01, 1.0))
        }
        _ => format!("parsing = \"{} ms\"", dice.below(ms)),
    };
    format!(" = {{ {times}, {rest} }}")
}

/// Parameters of files, likewise.
fn ftp(dice: &mut Dice, ms: usize, packets: f64) -> String {
    // Larger files than 5 MB would all be drawn again.
    let mean = libm::round(dice.log(1.0, (packets * 100.0).min(2e6)));
    let times = format!("first = \"{} ms\", reading = \"{} ms\"", 1 + dice.below(ms), dice.below(ms));
    format!(" = {{ {times}, size_mean = \"{mean} B\", size_std = \"{} B\" }}", libm::round(mean * dice.log(0.01, 2.0)))
}

/// TCP with some of its parameters; in profile `rfc` if it has to have `whole` headers.
fn tcp(dice: &mut Dice, out: &mut String, whole: bool) {
    if dice.one_in(4) {
        return;
    }
    let ns2 = !whole && dice.one_in(2);
    let _ = writeln!(out, "transport.tcp.profile = \"{}\"", if ns2 { "ns2" } else { "rfc" });
    let variants = ["tahoe", "reno", "newreno", "sack", "fack", "vegas", "cubic"];
    let _ = writeln!(out, "transport.tcp.variant = \"{}\"", dice.pick(&variants[..7 - usize::from(ns2)]));
    let handshakes = ["partial", "data_on_syn", "none", "full"];
    let _ = match dice.below(14) {
        0 => writeln!(out, "transport.tcp.window = {}", 1 + dice.below(50)),
        1 => writeln!(out, "transport.tcp.initial_window = {}", 1 + dice.below(20)),
        2 => {
            writeln!(out, "transport.tcp.ack = {{ every = {}, delay = \"{} ms\" }}", 1 + dice.below(2), dice.below(300))
        }
        3 => writeln!(out, "transport.tcp.rto.min = \"{} ms\"", dice.below(1500)),
        4 => writeln!(out, "transport.tcp.limited_transmit = {}", dice.one_in(2)),
        5 => writeln!(out, "transport.tcp.segment = \"{} B\"", 1 + dice.below(1460)),
        6 => writeln!(out, "transport.tcp.timestamps = {}", dice.one_in(2)),
        7 => writeln!(out, "transport.tcp.max_burst = {}", dice.below(6)),
        8 => writeln!(out, "transport.tcp.initial_ssthresh = {}", 1 + dice.below(50)),
        9 => writeln!(out, "transport.tcp.handshake = \"{}\"", dice.pick(&handshakes[..4 - usize::from(ns2)])),
        10 => writeln!(out, "transport.tcp.ecn = true"),
        11 if !ns2 => writeln!(out, "transport.tcp.spurious = \"{}\"", dice.pick(&["eifel", "frto", "none"])),
        12 if !ns2 => writeln!(out, "transport.tcp.idle_restart = \"{}\"", dice.pick(&["rfc5681", "off"])),
        _ => Ok(()),
    };
}

/// PGMCC with some of its parameters.
fn pgmcc(dice: &mut Dice, out: &mut String) {
    let elements = dice.one_in(2);
    let _ = writeln!(out, "transport.pgmcc.reliable = {}", dice.one_in(2));
    let _ = writeln!(out, "transport.pgmcc.network_elements = {elements}");
    let _ = match dice.below(11) {
        0 => writeln!(out, "transport.pgmcc.token_mode = \"literal\""),
        1 => writeln!(out, "transport.pgmcc.rtt_mode = \"time\"\ntransport.pgmcc.model = \"full\""),
        2 => {
            let classifier = dice.pick(&["indication", "toggle", "all"]);
            writeln!(out, "transport.pgmcc.classifier = \"{classifier}\"")
        }
        3 => writeln!(out, "transport.pgmcc.segment = \"{} B\"", libm::round(dice.log(1.0, 65_495.0))),
        4 => writeln!(out, "transport.pgmcc.nak_bo = \"{} ms\"", dice.below(1000)),
        5 => writeln!(out, "transport.pgmcc.nak_retries = {}", dice.below(50)),
        6 => writeln!(out, "transport.pgmcc.transmit_window = {}", 1 + dice.below(100)),
        7 if elements => writeln!(out, "transport.pgmcc.ne_forward_worse = true"),
        8 => writeln!(out, "transport.pgmcc.cut_again = \"later_feedback\""),
        9 => writeln!(out, "transport.pgmcc.ssthresh = {}", dice.below(100)),
        _ => {
            let (c, kappa) = (dice.log(0.01, 1.0), dice.log(1e-4, 1.0));
            writeln!(out, "transport.pgmcc.c = {c:.3}\ntransport.pgmcc.kappa = {kappa:.6}")
        }
    };
}

/// TFRC, or DCCP with one of its congestion controls.
fn unreliable(dice: &mut Dice, out: &mut String, whole: bool) {
    let name = *dice.pick(&["tfrc", "dccp"]);
    let _ = if name == "dccp" {
        writeln!(out, "transport.dccp.ccid = {}", 2 + dice.below(2))
    } else {
        writeln!(out, "transport.tfrc.profile = \"{}\"", dice.pick(&["rfc", "ns2"][..2 - usize::from(whole)]))
    };
    match dice.below(6) {
        0 => {
            let _ = writeln!(out, "transport.{name}.segment = \"{} B\"", libm::round(dice.log(1.0, 65_495.0)));
        }
        1 if name == "dccp" => {
            let _ = writeln!(out, "transport.dccp.buffer = {}", 1 + dice.below(100));
        }
        _ => {}
    }
}

/// TFMCC.
fn tfmcc(dice: &mut Dice, out: &mut String) {
    let classifier = dice.pick(&["all", "indication", "toggle", "ecn"]);
    let _ = writeln!(out, "transport.tfmcc.classifier = \"{classifier}\"");
    let _ = match dice.below(5) {
        0 => writeln!(out, "transport.tfmcc.segment = \"{} B\"", libm::round(dice.log(1.0, 65_495.0))),
        1 => writeln!(out, "transport.tfmcc.quantise = true"),
        2 => writeln!(out, "transport.tfmcc.bias = true"),
        3 => writeln!(out, "transport.tfmcc.discounting = false"),
        _ => Ok(()),
    };
}

/// A layered session of at most about so many packets a second, to these members.
fn layered(dice: &mut Dice, out: &mut String, most: f64, members: &[String]) {
    let packet = libm::round(dice.log(28.0, 9_000.0));
    let count = 1 + dice.below(6);
    let highest = (most * packet * 8.0 / count as f64).clamp(200.0, 1e7);
    let rates: Vec<String> =
        (0..count).map(|_| format!("\"{} bit/s\"", libm::ceil(dice.log(100.0, highest)))).collect();
    let _ = writeln!(out, "transport.layered.layers = [{}]", rates.join(", "));
    let _ = writeln!(out, "transport.layered.packet = \"{packet} B\"\ntransport.layered.stagger = {}", dice.one_in(2));
    let controls = ["\"rlm\"", "\"empty_layer\"", "{ fixed.layers = 2 }", "{ rlm.shared_learning = false }"];
    let _ = writeln!(out, "transport.layered.control = {}", dice.pick(&controls));
    if dice.one_in(3) {
        let node = dice.pick(members);
        let control = dice.pick(&controls);
        let _ = writeln!(out, "transport.layered.exceptions = [{{ node = {node}, control = {control} }}]");
    }
}

/// A scenario with one field spoiled: the text, the field, and its line.
pub struct Spoiled {
    pub text: String,
    pub field: String,
    pub line: usize,
}

/// Spoils one field of a valid scenario so that it is certainly wrong: its name, its type or its
/// unit.
pub fn spoil(dice: &mut Dice, text: &str) -> Spoiled {
    let lines: Vec<&str> = text.lines().collect();
    let fields: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains(" = ")).collect();
    let line = *dice.pick(&fields);
    let (key, value) = lines[line].split_once(" = ").expect("a field has a value");
    let last = key.rsplit('.').next().expect("a key is not empty");
    let quantity = value.starts_with('"') && value.as_bytes()[1].is_ascii_digit() && value.contains(' ');
    let (spoiled, field) = match dice.below(4) {
        0 => (format!("{key}q = {value}"), format!("{last}q")),
        1 if quantity => (format!("{key} = \"10 parsecs\""), last.to_owned()),
        // Lengths, decibels and angles may be negative where they are read.
        2 if quantity && ![" m\"", " dB\"", " deg\""].iter().any(|unit| value.ends_with(unit)) => {
            (format!("{key} = \"-1 {}\"", value.trim_matches('"').split_once(' ').unwrap().1), last.to_owned())
        }
        1 | 2 => (format!("{key} = 1979-05-27"), last.to_owned()),
        _ => (format!("{key} = [[[3]]]"), last.to_owned()),
    };
    let mut all: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
    all[line] = spoiled;
    Spoiled { text: all.join("\n") + "\n", field, line: line + 1 }
}

/// Does something to a text that may or may not make it wrong: tokens deleted, doubled, moved or
/// replaced, the end cut off, bytes changed.
pub fn disturb(dice: &mut Dice, text: &str) -> Vec<u8> {
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        match tokens.last_mut() {
            Some(word) if c.is_alphanumeric() && word.chars().all(char::is_alphanumeric) => word.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    const STRANGE: &[&str] = &[
        "\"",
        "'",
        "=",
        ".",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        ",",
        "\n",
        "#",
        "\\",
        "\u{0}",
        "\u{7}",
        "é",
        "\u{202e}",
        "💥",
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "1e999",
        "18446744073709551615",
        "99999999999999999999999999",
        "0x10",
        "true",
        "1979-05-27",
        "\"\"",
        "\"\"\"",
        "u32",
        "\"1e300 s\"",
        "\"0 bit/s\"",
        "{}",
        "[]",
        "\r",
        "\u{feff}",
        "\u{1F1E6}\u{1F1E6}",
    ];
    for _ in 0..1 + dice.below(3) {
        let at = dice.below(tokens.len());
        match dice.below(6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at].clone()),
            2 => tokens[at] = (*dice.pick(STRANGE)).to_owned(),
            3 => tokens.insert(at, (*dice.pick(STRANGE)).to_owned()),
            4 => {
                let other = dice.below(tokens.len());
                tokens.swap(at, other);
            }
            _ => {
                let to = (at + dice.below(40)).min(tokens.len());
                tokens.drain(at..to);
            }
        }
        if tokens.is_empty() {
            tokens.push(" ".to_owned());
        }
    }
    let mut bytes = tokens.concat().into_bytes();
    if dice.one_in(6) && !bytes.is_empty() {
        bytes.truncate(dice.below(bytes.len()));
    }
    if dice.one_in(6) && !bytes.is_empty() {
        for _ in 0..1 + dice.below(4) {
            let at = dice.below(bytes.len());
            bytes[at] = dice.next() as u8;
        }
    }
    bytes
}
