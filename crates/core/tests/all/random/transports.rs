//! Random transports, as texts.

use std::fmt::Write;

use super::Dice;

/// TCP with some of its parameters; in profile `rfc` if it has to have `whole` headers.
pub fn tcp(dice: &mut Dice, out: &mut String, whole: bool) {
    if dice.one_in(4) {
        return;
    }
    if dice.one_in(5) {
        return tcp_of_linux(dice, out);
    }
    let ns2 = !whole && dice.one_in(2);
    let _ = writeln!(out, "transport.tcp.profile = \"{}\"", if ns2 { "ns2" } else { "rfc" });
    let variants = [
        "xcp", "tahoe", "reno", "newreno", "sack", "fack", "vegas", "cubic", "dctcp", "prague", "copa", "ledbat", "bbr",
    ];
    let variant = *dice.pick(if ns2 { &variants[..7] } else { &variants[..] });
    let _ = writeln!(out, "transport.tcp.variant = \"{variant}\"");
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
        6 => writeln!(out, "transport.tcp.timestamps = {}", variant == "xcp" || dice.one_in(2)),
        7 => writeln!(out, "transport.tcp.max_burst = {}", dice.below(6)),
        8 => writeln!(out, "transport.tcp.initial_ssthresh = {}", 1 + dice.below(50)),
        9 => writeln!(out, "transport.tcp.handshake = \"{}\"", dice.pick(&handshakes[..4 - usize::from(ns2)])),
        10 => writeln!(out, "transport.tcp.ecn = true"),
        11 if !ns2 => writeln!(out, "transport.tcp.spurious = \"{}\"", dice.pick(&["eifel", "frto", "none"])),
        13 if !ns2 && variant != "xcp" => {
            let (prr, tlp) = (dice.one_in(2), dice.one_in(2));
            writeln!(out, "transport.tcp.recovery.rack = {{ prr = {prr}, tlp = {tlp} }}")
        }
        12 if !ns2 => writeln!(out, "transport.tcp.idle_restart = \"{}\"", dice.pick(&["rfc5681", "off"])),
        _ => Ok(()),
    };
}

/// TCP as the Linux kernel has it, with some of its parameters.
fn tcp_of_linux(dice: &mut Dice, out: &mut String) {
    let _ = writeln!(out, "transport.tcp.profile = \"linux\"");
    let _ = match dice.below(4) {
        0 => writeln!(out, "transport.tcp.congestion.cubic.hystart = {}", dice.one_in(2)),
        _ => writeln!(out, "transport.tcp.variant = \"{}\"", dice.pick(&["reno", "cubic", "bbr"])),
    };
    let _ = match dice.below(6) {
        0 => writeln!(out, "transport.tcp.window = {}", 1 + dice.below(50)),
        1 => writeln!(out, "transport.tcp.initial_window = {}", 1 + dice.below(20)),
        2 => writeln!(out, "transport.tcp.segment = \"{} B\"", 1 + dice.below(1460)),
        3 => writeln!(out, "transport.tcp.initial_ssthresh = {}", 1 + dice.below(50)),
        _ => Ok(()),
    };
}

/// PGMCC with some of its parameters.
pub fn pgmcc(dice: &mut Dice, out: &mut String) {
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
pub fn unreliable(dice: &mut Dice, out: &mut String, whole: bool) {
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
pub fn tfmcc(dice: &mut Dice, out: &mut String) {
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

/// A layered session of at most about `most` packets a second, to these members.
pub fn layered(dice: &mut Dice, out: &mut String, most: f64, members: &[String]) {
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
