//! What links have and how they change, as texts.

use std::fmt::Write;

use super::Dice;

/// A change of the way to a terminal, or to all of a radio, in a run of `ms` milliseconds.
pub fn change_of_terminal(dice: &mut Dice, out: &mut String, name: &str, quality: bool, ms: usize) {
    let _ = writeln!(out, "\n[[change]]\nat = \"{} ms\"\nlink = \"{name}\"", dice.below(ms));
    let _ = writeln!(out, "up = {}", dice.one_in(2));
    if quality && dice.one_in(2) {
        let _ = writeln!(out, "quality = \"{} dB\"", dice.below(60) as i64 - 50);
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "loss.{}", loss(dice, ms));
    }
}

/// A change of link number `link`, whose rate is `rate` kbit/s, in a run of `ms` milliseconds.
pub fn change(dice: &mut Dice, out: &mut String, link: usize, rate: f64, ms: usize) {
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

/// A queue.
pub fn queue(dice: &mut Dice) -> String {
    let limit = match dice.below(3) {
        0 => format!("{} packets", dice.below(4)),
        1 => format!("{} packets", libm::round(dice.log(4.0, 1000.0))),
        _ => format!("{} B", libm::round(dice.log(100.0, 1e6))),
    };
    match dice.below(17) {
        6 => format!("rio = {{ limit = \"{limit}\", weight = {:.3} }}", dice.log(1e-3, 0.5)),
        7 => format!("drr = {{ limit = \"{limit}\", quantum = \"{} B\" }}", libm::round(dice.log(1.0, 9000.0))),
        8 => "priority = { classes = [{ dscp = [\"ef\", \"af11\"], queue = \"drr\" }, { queue = \"codel\" }] }"
            .to_owned(),
        9 => {
            let (rate, burst) = (libm::round(dice.log(1e4, 1e7)), libm::round(dice.log(1.0, 1e5)));
            let excess = dice.pick(&["wait", "drop", "demote"]);
            let queue = dice.pick(&["droptail", "red", "codel", "rio", "drr", "pie", "fq_codel", "dualpi2"]);
            format!(
                "token_bucket = {{ rate = \"{rate} bit/s\", burst = \"{burst} B\", excess = \"{excess}\", queue = \"{queue}\" }}"
            )
        }
        10 => format!("wfq = {{ limit = \"{limit}\", clock = \"{}\" }}", dice.pick(&["self-clocked", "gps"])),
        12 => {
            let (check, observe) = (1 + dice.below(100), 1 + dice.below(2_000));
            format!("queue_phase = {{ limit = \"{limit}\", check = \"{check} ms\", observe = \"{observe} ms\" }}")
        }
        13 => format!(
            "pie = {{ limit = \"{limit}\", target = \"{} ms\", derandomize = {}, ecn = {} }}",
            1 + dice.below(30),
            dice.one_in(2),
            dice.one_in(2)
        ),
        14 => format!(
            "fq_codel = {{ limit = \"{limit}\", flows = {}, quantum = \"{} B\", ecn = {} }}",
            libm::round(dice.log(1.0, 1024.0)),
            libm::round(dice.log(1.0, 9000.0)),
            dice.one_in(2)
        ),
        15 => {
            let dialect = dice.pick(&["rfc", "linux"]);
            let (scheduler, overload) = (dice.pick(&["wrr", "time-shifted"]), dice.pick(&["drop", "delay"]));
            format!("dualpi2 = {{ dialect = \"{dialect}\", scheduler = \"{scheduler}\", overload = \"{overload}\" }}")
        }
        16 => format!("threshold = {{ limit = \"{limit}\", delay = \"{} us\" }}", dice.below(20_000)),
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

/// A loss model.
pub fn loss(dice: &mut Dice, ms: usize) -> String {
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
