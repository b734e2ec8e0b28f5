//! Random cells of HSDPA, as texts.

use std::fmt::Write as _;

use super::Dice;
use super::links::queue;

/// Writes radio number `i`, whose wired side is one of `nodes` nodes. How many mobiles it has.
pub fn hsdpa(dice: &mut Dice, out: &mut String, i: usize, nodes: usize) -> usize {
    let ues = 1 + dice.below(6);
    let _ = writeln!(out, "\n[[hsdpa]]\nname = \"radio {i}\"\nnode = \"n{}\"\nues = {ues}", dice.below(nodes));
    let _ = writeln!(out, "rings = {}", dice.below(3));
    let _ = writeln!(out, "radius = \"{} m\"", libm::round(dice.log(50.0, 5000.0)));
    let _ = writeln!(out, "serving = \"{}\"", dice.pick(&["strongest", "hexagon"]));
    let schedulers =
        ["scheduler = \"round_robin\"", "scheduler = \"max_sir\"", "scheduler.proportional_fair.window = \"100 ms\""];
    let _ = writeln!(out, "{}", dice.pick(&schedulers));
    let _ = writeln!(out, "codes = {}\nusers = {}", 1 + dice.below(15), 1 + dice.below(4));
    let _ = writeln!(out, "split = \"{}\"", dice.pick(&["need", "equal"]));
    if dice.one_in(3) {
        let _ = writeln!(out, "attempts = {}", 1 + dice.below(3));
    }
    if dice.one_in(2) {
        let _ = writeln!(out, "queue.{}", queue(dice));
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "uplink_delay = \"{} us\"", libm::round(dice.log(1.0, 200_000.0)));
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "rate_map.modulation = {{ bler = 0.{}, bler_below = 0.5 }}", dice.below(10));
    }
    if dice.one_in(2) {
        let _ = writeln!(out, "air.neighbours = \"{}\"", dice.pick(&["always_on", "by_slot"]));
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "air.fading.coherence = \"{} us\"", libm::round(dice.log(500.0, 500_000.0)));
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "air.other_power = \"{} W\"", dice.below(20));
    }
    ues
}
