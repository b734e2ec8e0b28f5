//! Random constellations of satellites, as texts.

use std::fmt::Write as _;

use super::Dice;
use super::links::{loss, queue};

/// Writes constellation number `i`, with some of `nodes` nodes as its terminals, for a run of `ms` milliseconds.
pub fn sky(dice: &mut Dice, out: &mut String, i: usize, nodes: usize, ms: usize) {
    let _ = writeln!(out, "\n[[constellation]]\nname = \"sky {i}\"");
    let altitude = 300 + dice.below(2_000);
    let _ = match dice.below(4) {
        0 => writeln!(out, "orbits.star = {{ planes = {}, per_plane = {} }}", 2 + dice.below(5), 3 + dice.below(9)),
        1 => writeln!(
            out,
            "orbits.walker = {{ planes = {}, per_plane = {}, altitude = \"{altitude} km\", phasing = {} }}",
            3 + dice.below(6),
            3 + dice.below(9),
            dice.below(3)
        ),
        2 => writeln!(
            out,
            "orbits.planes = {{ altitude = \"{altitude} km\", inclination = \"80 deg\", plane = [\
             {{ node = \"0 deg\", places = [\"0 deg\", \"120 deg\", \"200 deg\"] }}, \
             {{ node = \"40 deg\", places = [\"{} deg\"] }}] }}",
            dice.below(360)
        ),
        _ => Ok(()),
    };
    for part in ["up", "down", "isl"] {
        if dice.one_in(2) {
            let _ = writeln!(out, "{part}.rate = \"{} kbit/s\"", libm::round(dice.log(16.0, 20_000.0)));
        }
        if dice.one_in(4) {
            let _ = writeln!(out, "{part}.queue.{}", queue(dice));
        }
        if dice.one_in(4) {
            let _ = writeln!(out, "{part}.loss.{}", loss(dice, ms));
        }
    }
    for part in ["handoff", "isl"] {
        if dice.one_in(2) {
            // Often enough to be seen.
            let interval = 2 + dice.below(1 + ms);
            let jitter = dice.below(interval / 2);
            let _ = writeln!(out, "{part}.interval = \"{interval} ms\"\n{part}.jitter = \"{jitter} ms\"");
        }
    }
    if dice.one_in(2) {
        let _ = writeln!(out, "handoff.mask = \"{} deg\"", dice.below(60));
    }
    if dice.one_in(2) {
        let _ = writeln!(out, "handoff.rule = \"highest\"\nhandoff.queued = \"reroute\"");
    }
    if dice.one_in(4) {
        let _ = writeln!(out, "isl.latitude_limit = \"{} deg\"", dice.below(91));
    }
    if dice.one_in(4) {
        let _ = writeln!(out, "routes = \"packets\"");
    }
    let first = dice.below(nodes);
    for n in 0..2 + dice.below(nodes - 1).min(4) {
        let [latitude, longitude] = [dice.below(181) as i32 - 90, dice.below(361) as i32 - 180];
        let _ = writeln!(out, "[[constellation.terminal]]\nnode = \"n{}\"", (first + n) % nodes);
        let _ = writeln!(out, "latitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"");
        if dice.one_in(4) {
            let _ = writeln!(out, "queue.{}", queue(dice));
        }
    }
}
