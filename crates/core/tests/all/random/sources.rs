//! Random sources, as texts.

use super::Dice;

/// A source of datagrams: at most about `packets` of them.
pub fn datagrams(dice: &mut Dice, ms: usize, packets: f64) -> String {
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
pub fn web(dice: &mut Dice, ms: usize) -> String {
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
pub fn ftp(dice: &mut Dice, ms: usize, packets: f64) -> String {
    // Larger files than 5 MB would all be drawn again.
    let mean = libm::round(dice.log(1.0, (packets * 100.0).min(2e6)));
    let times = format!("first = \"{} ms\", reading = \"{} ms\"", 1 + dice.below(ms), dice.below(ms));
    format!(" = {{ {times}, size_mean = \"{mean} B\", size_std = \"{} B\" }}", libm::round(mean * dice.log(0.01, 2.0)))
}
