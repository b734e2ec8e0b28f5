//! Random cells of UMTS, as texts.

use std::fmt::Write;

use super::Dice;
use super::links::loss;

/// Writes cell number `i`, whose RNC is one of `nodes` nodes, for a run of `ms` milliseconds. How many terminals it has. Headers may be
/// `compressed`.
pub fn cell(dice: &mut Dice, out: &mut String, i: usize, nodes: usize, ms: usize, compressed: bool) -> usize {
    let ues = if dice.one_in(6) { 1 + dice.below(30) } else { 1 + dice.below(4) };
    let _ = writeln!(out, "\n[[cell]]\nname = \"cell {i}\"\nrnc = \"n{}\"\nues = {ues}", dice.below(nodes));
    if dice.one_in(3) {
        let _ = writeln!(out, "loss_indication = \"{}\"", dice.pick(&["edge", "toggle", "resend"]));
    }
    if compressed {
        let _ = match dice.below(3) {
            0 => Ok(()),
            1 => writeln!(out, "pdcp = \"rfc2507\""),
            _ => writeln!(
                out,
                "pdcp.rfc2507 = {{ tcp_space = {}, non_tcp_space = {}, f_max_period = {} }}",
                3 + dice.below(253),
                3 + dice.below(1_000),
                1 + dice.below(300)
            ),
        };
    }
    if dice.one_in(6) {
        high_speed(dice, out, ms, ues, compressed);
        return ues;
    }
    if !dice.one_in(4) {
        let _ = writeln!(out, "rlc.{}", rlc(dice, compressed));
    }
    let moves = dice.one_in(3);
    let loops = moves && dice.one_in(2);
    for line in ["loss", "uplink_loss"] {
        if !loops && dice.one_in(3) {
            let _ = writeln!(out, "{line}.{}", loss(dice, ms));
        }
    }
    channels(dice, out, moves);
    let attachment = dice.below(5);
    let _ = match attachment {
        0 => writeln!(out, "attachment = \"common\""),
        1 => writeln!(out, "attachment = \"dedicated\""),
        2 => writeln!(out, "attachment.eurane = {{ timer = \"{} ms\" }}", dice.below(ms)),
        _ => writeln!(out, "attachment.rrc = {{ {} }}", rrc(dice, ms)),
    };
    if attachment > 2 && !moves && dice.one_in(3) {
        let order = dice.pick(&["fifo", "round_robin"]);
        let (rate, tti) = rate(dice, 40);
        let _ = writeln!(out, "dsch = {{ rate = \"{rate} bit/s\", tti = \"{tti} ms\", order = \"{order}\" }}");
    }
    if attachment != 1 && !moves && dice.one_in(3) {
        let (rate, tti) = rate(dice, 8);
        let (channels, frames) = (1 + dice.below(4), 8 + dice.below(57));
        let (threshold, backoff) = (dice.below(3000), 1 + dice.below(127));
        let _ = writeln!(
            out,
            "cpch = {{ channels = {channels}, rate = \"{rate} bit/s\", tti = \"{tti} ms\", threshold = \"{threshold} B\", \
             max_frames = {frames}, backoff = {backoff} }}"
        );
    }
    if moves {
        mobility(dice, out, nodes, ms);
        if loops {
            let _ = writeln!(out, "power = \"loops\"");
        }
        sites(dice, out, nodes);
    }
    ues
}

/// A high-speed shared channel in the place of all that.
fn high_speed(dice: &mut Dice, out: &mut String, ms: usize, ues: usize, compressed: bool) {
    let rlc = rlc(dice, compressed);
    let _ = match rlc.starts_with("tm") {
        true => {
            writeln!(out, "rlc.eurane_hs = {{ buffer = {}, wait = \"{} ms\" }}", 30 + dice.below(600), dice.below(5))
        }
        false => writeln!(out, "rlc.{rlc}"),
    };
    if dice.one_in(3) {
        let _ = writeln!(out, "uplink_loss.{}", loss(dice, ms));
    }
    channels(dice, out, false);
    let traces = if dice.one_in(2) { 1 } else { ues };
    let run = |dice: &mut Dice| format!("[{}, {}]", 1 + dice.below(50), dice.below(31));
    let mut trace = || (0..1 + dice.below(4)).map(|_| run(dice)).collect::<Vec<_>>().join(", ");
    let cqi: Vec<String> = (0..traces).map(|_| format!("[{}]", trace())).collect();
    let scheduler = *dice.pick(&["round_robin", "max_sir", "proportional_fair", "least_recent", "fair_channel"]);
    let reception = match dice.below(3) {
        0 => "\"combining\"".to_owned(),
        _ => format!(
            "{{ thresholds = {{ gains = [\"{} dB\"], thresholds = [\"{} dB\", \"0 dB\"] }} }}",
            dice.below(30),
            dice.below(90)
        ),
    };
    let _ = writeln!(
        out,
        "attachment = \"high_speed\"\nhs_dsch = {{ cqi = [{}], category = {}, scheduler = \"{scheduler}\", processes = {}, \
         transmissions = {}, reception = {reception}, air_time = \"{} us\", window = {}, t1 = \"{} ms\", \
         capacity = {{ interval = \"{} ms\", delay = \"{} ms\", limit = {} }} }}",
        cqi.join(", "),
        1 + dice.below(12),
        6 + dice.below(3),
        1 + dice.below(10),
        dice.below(2001),
        1 + dice.below(32),
        1 + dice.below(400),
        1 + dice.below(100),
        dice.below(100),
        1 + dice.below(500),
    );
}

/// How terminals move, and by which rules cells change: fast, so that much happens in a short run.
fn mobility(dice: &mut Dice, out: &mut String, nodes: usize, ms: usize) {
    let _ = writeln!(out, "[cell.mobility]");
    let speed = 20 + dice.below(300);
    let _ = match dice.below(3) {
        0 => writeln!(
            out,
            "movement = [{{ straight = {{ to = [\"1 km\", \"0 m\"], speed = \"{speed} m/s\" }} }}, \"still\"]"
        ),
        1 => writeln!(
            out,
            "movement = [{{ waypoints.points = [{{ time = \"0 s\", at = [\"0 m\", \"0 m\"] }}, \
             {{ time = \"{} ms\", at = [\"1 km\", \"1 km\"] }}] }}]",
            1 + dice.below(ms)
        ),
        _ => writeln!(
            out,
            "movement = [{{ random_waypoint = {{ corners = [[\"-500 m\", \"-500 m\"], [\"1 km\", \"1 km\"]], \
             speed = [\"10 m/s\", \"{speed} m/s\"], pause = \"{} ms\" }} }}]",
            dice.below(500)
        ),
    };
    let (held, interval) = (dice.below(300), 10 + dice.below(100));
    let _ = writeln!(out, "interval = \"{interval} ms\"\nshadowing.deviation = \"{} dB\"", dice.below(12));
    let _ = writeln!(out, "soft = {{ most = {}, held = \"{held} ms\" }}", 1 + dice.below(4));
    for kind in ["hard", "reselection"] {
        let _ = writeln!(out, "{kind} = {{ held = \"{held} ms\", interruption = \"{} ms\" }}", dice.below(300));
    }
    if nodes > 1 && dice.one_in(2) {
        let _ = writeln!(out, "relocation = {{ held = \"{held} ms\", pause = \"{} ms\" }}", dice.below(200));
    }
}

/// Where sites stand, and other systems.
fn sites(dice: &mut Dice, out: &mut String, nodes: usize) {
    let place = |dice: &mut Dice| format!("at = [\"{} m\", \"{} m\"]", dice.below(1000), dice.below(1000));
    for _ in 0..1 + dice.below(4) {
        let _ = writeln!(out, "[[cell.mobility.site]]\n{}\ncarrier = {}", place(dice), dice.below(2));
        if dice.one_in(2) {
            let _ = writeln!(out, "sectors = [\"30 deg\", \"150 deg\", \"270 deg\"]");
        }
        if dice.one_in(2) {
            let _ = writeln!(out, "rnc = \"n{}\"", dice.below(nodes));
        }
    }
    for _ in 0..dice.below(3) {
        let carry_over = dice.pick(&["keep", "lose"]);
        let (rate, interruption) = (libm::round(dice.log(1e5, 1e7)), dice.below(600));
        let _ = writeln!(
            out,
            "[[cell.mobility.system]]\n{}\nrate = \"{rate} bit/s\"\ncarry_over = \"{carry_over}\"\n\
             interruption = \"{interruption} ms\"\nqueue = \"{} kB\"",
            place(dice),
            2 + dice.below(100)
        );
    }
}

/// A rate that carries 1 to `most` PDUs of 40 B in an interval, and the interval.
fn rate(dice: &mut Dice, most: usize) -> (usize, usize) {
    let tti = *dice.pick(&[10, 10, 20, 40, 80]);
    ((1 + dice.below(most)) * 320_000 / tti + dice.below(5_000), tti)
}

/// The channels that every cell has, and the Iub.
fn channels(dice: &mut Dice, out: &mut String, moves: bool) {
    for (name, most) in [("fach", 4), ("rach", 2), ("dch.down", 12), ("dch.up", 6)] {
        if dice.one_in(3) {
            let (rate, tti) = rate(dice, most);
            let _ = writeln!(out, "{name} = {{ rate = \"{rate} bit/s\", tti = \"{tti} ms\" }}");
        }
    }
    match dice.below(6) {
        0 => {
            let _ = writeln!(out, "rach_access = \"{} us\"", dice.below(50_000));
        }
        1 | 2 if !moves => {
            let _ = writeln!(out, "rach_aloha.signatures = {}", 1 + dice.below(16));
        }
        _ => {}
    }
    match dice.below(6) {
        0 => {
            let _ = writeln!(out, "queue = \"{}\"", dice.pick(&["two_intervals", "mixed_units"]));
        }
        1 => {
            let _ = writeln!(out, "fach_order = \"round_robin\"");
        }
        2 => {
            let _ = writeln!(out, "spacing = \"{} us\"", dice.below(2_000));
        }
        3 => {
            let rate = libm::round(dice.log(1e6, 1e9));
            let _ = writeln!(out, "iub = {{ rate = \"{rate} bit/s\", delay = \"{} us\" }}", dice.below(100_000));
        }
        _ => {}
    }
}

/// RLC whose PDUs are no larger than 40 B, which every channel carries, nor smaller than a report needs; `ordered` if it has to keep the
/// order.
fn rlc(dice: &mut Dice, ordered: bool) -> String {
    let pdu = 16 + dice.below(25);
    let header = dice.pick(&["free", "included"]);
    match dice.below(8) {
        0 => format!("tm = {{ pdu = \"{pdu} B\", segmentation = {} }}", dice.one_in(2)),
        1 | 2 => format!("um = {{ pdu = \"{pdu} B\", header = \"{header}\", tells_start = {} }}", dice.one_in(2)),
        3 => format!("eurane = {{ pdu = \"40 B\", max_dat = {} }}", 1 + dice.below(12)),
        4 => "eurane = {}".to_owned(),
        5 => {
            let (discard, max_dat) = (dice.pick(&["max-dat", "reset"]), 1 + dice.below(12));
            format!("am = {{ pdu = \"{pdu} B\", header = \"{header}\", discard = \"{discard}\", max_dat = {max_dat} }}")
        }
        6 if dice.one_in(2) => "am = { poll = \"periodic\" }".to_owned(),
        6 => format!("am = {{ discard = \"timer\", discard_timer = \"{} ms\" }}", 100 + dice.below(7_400)),
        _ => format!("am = {{ window = {}, in_sequence = {} }}", 1 + dice.below(2047), ordered || dice.one_in(2)),
    }
}

/// Parameters of RRC whose times lie within the run.
fn rrc(dice: &mut Dice, ms: usize) -> String {
    let setup = dice.below(ms);
    let mut text = format!("setup = \"{setup} ms\", setup_after_release = \"{} ms\"", setup + dice.below(ms));
    let mut add = |name: &str, value: String| {
        let _ = write!(text, ", {name} = {value}");
    };
    if dice.one_in(3) {
        add("initial", "\"idle\"".to_owned());
    }
    if dice.one_in(2) {
        add("threshold", format!("\"{} B\"", dice.below(2_000)));
    }
    if dice.one_in(3) {
        add("uplink_threshold", format!("\"{} B\"", dice.below(2_000)));
    }
    if dice.one_in(2) {
        add("budget", format!("\"{} kbit/s\"", 1 + dice.below(3_000)));
    }
    for name in ["keep", "preemptible", "from_paging", "from_idle", "idle_after", "paging_after"] {
        if dice.one_in(3) {
            add(name, format!("\"{} ms\"", dice.below(ms)));
        }
    }
    if dice.one_in(4) {
        add("serve_during_switch", "true".to_owned());
    }
    if dice.one_in(4) {
        add("refused", "\"asks_again\"".to_owned());
    }
    text
}
