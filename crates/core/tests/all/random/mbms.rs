//! Random Node Bs of MBMS, as texts.

use std::fmt::Write as _;

use super::Dice;
use super::links::loss;

/// Writes Node B number `i`, whose RNC is one of `nodes` nodes, for a run of `ms` milliseconds. How many terminals it has.
pub fn mbms(dice: &mut Dice, out: &mut String, i: usize, nodes: usize, ms: usize) -> usize {
    let ues = 1 + dice.below(8);
    let _ = writeln!(out, "\n[[mbms]]\nname = \"node b {i}\"\nrnc = \"n{}\"\nues = {ues}", dice.below(nodes));
    let rate = |dice: &mut Dice| format!("{} kbit/s", libm::round(dice.log(8.0, 20_000.0)));
    let delay = |dice: &mut Dice| format!("{} us", libm::round(dice.log(1.0, 300_000.0)));
    let queue = |dice: &mut Dice| format!("{} {}", dice.below(60), dice.pick(&["packets", "kB"]));
    let _ = writeln!(out, "rate = \"{}\"\ndelay = \"{}\"\nqueue = \"{}\"", rate(dice), delay(dice), queue(dice));
    let _ = writeln!(out, "attempts = {}", 1 + dice.below(4));
    if dice.one_in(2) {
        let _ = writeln!(out, "iub = {{ rate = \"{}\", queue = \"{}\" }}", rate(dice), queue(dice));
    }
    if dice.one_in(2) {
        let _ = writeln!(out, "uplink = {{ rate = \"{}\", delay = \"{}\" }}", rate(dice), delay(dice));
    }
    for line in ["loss", "uplink_loss"] {
        if dice.one_in(2) {
            let _ = writeln!(out, "{line}.{}", loss(dice, ms));
        }
    }
    if dice.one_in(4) {
        let _ = writeln!(out, "bearers = \"{}\"", dice.pick(&["flow", "terminal"]));
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "ptm_threshold = {}", 1 + dice.below(4));
    }
    if dice.one_in(3) {
        let rules = ["\"edge\"", "{ edge.hold = 3 }", "\"toggle\"", "\"resend\""];
        let _ = writeln!(out, "loss_indication = {}", dice.pick(&rules));
    }
    if dice.one_in(2) {
        let (after, times) = (dice.below(200), 1 + dice.below(3));
        let _ = writeln!(out, "retransmission = {{ after = \"{after} ms\", times = {times} }}");
    }
    if dice.one_in(3) {
        let _ = writeln!(out, "terminal = [{{ ue = {}, loss.{} }}]", dice.below(ues), loss(dice, ms));
    }
    ues
}
