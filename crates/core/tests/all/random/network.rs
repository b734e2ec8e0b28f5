//! Random networks and what they carry, as texts.

use std::fmt::Write;

use super::Dice;
use super::cell::cell;
use super::hsdpa::hsdpa;
use super::links::{change, change_of_terminal, loss, queue};
use super::mbms::mbms;
use super::sky::sky;
use super::sources::{datagrams, ftp, web};
use super::transports::{layered, pgmcc, tcp, tfmcc, unreliable};

/// A random valid scenario: 2 to 8 nodes in a tree with some more links, up to two cells of UMTS, some of HSDPA, a Node B of MBMS and a
/// constellation, up to six flows, and losses, changes and handovers. About `packets` packets, over all links.
pub fn network(dice: &mut Dice, packets: f64) -> String {
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
    let _ =
        writeln!(out, "profile = \"{}\"", dice.pick(&["rfc", "3gpp", "linux", "ns2"][..4 - usize::from(compressed)]));
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
        if !terminals.is_empty() && dice.one_in(2) {
            let (radio, ues) = dice.pick(&terminals).clone();
            let name = if dice.one_in(4) { radio.clone() } else { format!("{radio}.ue[{}]", dice.below(ues)) };
            change_of_terminal(dice, &mut out, &name, radio.starts_with("radio"), ms);
        }
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "\n[record]\nseries = \"{} ms\"\npackets = {}", 1 + ms / 20, dice.one_in(2));
        if dice.one_in(4) {
            let _ = writeln!(out, "transfers = false");
        }
        let _ = writeln!(out, "variables = {}\nhandovers = {}", dice.one_in(2), dice.one_in(2));
        if dice.one_in(4) {
            let _ = writeln!(out, "hops = true");
        }
    }
    out
}
