//! Intervals of a nanosecond, counts of thousands of millions, long sleeps: each is refused by its name, or costs no more in one
//! event than any other.

use std::sync::mpsc;
use std::time::Duration;

use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{check, read};

/// The longest that a case may take: as random scenarios.
const PATIENCE: Duration = Duration::from_secs(10);

const LINK: &str = "[[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\n";
const FLOW: &str = "[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
const CELL: &str = "[[cell]]\nname = \"c\"\nrnc = \"a\"\n";
const TO_CELL: &str = "[[flow]]\nfrom = \"a\"\nto = \"c.ue[*]\"\n";

/// What becomes of a scenario: the place at which it is refused, or nothing if it begins to run.
fn fate(text: String) -> Option<String> {
    let (done, outcome) = mpsc::channel();
    let shown = text.clone();
    // Not scoped: a case that hangs must not keep the test from saying so.
    std::thread::spawn(move || {
        let fate = match read::toml(&text, "case").and_then(|document| check(&document).map(|()| document)) {
            Err(error) => Some(error.path),
            Ok(document) => {
                let mut run = Session::new(&document.scenario, 1, None).expect("it was checked");
                // A run may end with an error: that time stands still, for one.
                if let Err(error) = run.advance(100_000) {
                    assert!(!error.to_string().contains("not conserved"), "{error}");
                }
                None
            }
        };
        done.send(fate)
    });
    outcome.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("it takes longer than {PATIENCE:?}:\n{shown}"))
}

fn refused(place: &str, text: String) {
    assert_eq!(fate(text.clone()).as_deref(), Some(place), "{text}");
}

fn runs(text: String) {
    assert_eq!(fate(text.clone()), None, "{text}");
}

/// A link with this queue, whose first packet comes after `seconds` seconds.
fn late(queue: &str, seconds: u64) -> String {
    format!("duration = \"{} s\"\n{LINK}queue.{queue}\n{FLOW}start = \"{seconds} s\"\n", seconds + 1)
}

#[test]
fn queues_that_slept() {
    for queue in [
        "ewa.interval = \"1 ns\"",
        "ewa = {}",
        "queue_phase.check = \"1 ns\"",
        "swan = { period = \"1 ns\", window = \"1 ns\" }",
        "pie.update = \"1 ns\"",
        "dualpi2.update = \"1 ns\"",
    ] {
        runs(late(queue, 1_000_000));
    }
    // XCP's intervals are those of ns-2, and 50 ms while nothing comes.
    runs(late("xcp = {}", 100_000));
    refused("link[0].queue.ewa.increase", late("ewa.increase = 1e-9", 1));
}

#[test]
fn a_quantum_of_a_byte() {
    let flows: String = (0..100)
        .map(|n| {
            format!("{FLOW}name = \"{n}\"\ntransport = \"udp\"\nsource.cbr = {{ rate = \"1 Gbit/s\", size = \"65507 B\" }}\n")
        })
        .collect();
    runs(format!("{LINK}queue.drr.quantum = \"1 B\"\n{flows}"));
    runs(format!("{LINK}queue.fq_codel = {{ quantum = \"1 B\", limit = \"100 packets\" }}\n{flows}"));
}

#[test]
fn sources_of_very_many_writes() {
    let udp = |source: &str| format!("{LINK}{FLOW}transport = \"udp\"\nsource.{source}\n");
    runs(udp("cbr = { rate = \"10 Gbit/s\", size = \"1 B\" }"));
    runs(udp("cbr = { interval = \"1 ns\", size = \"1 B\" }"));
    runs(udp("onoff = { on = \"1 ms\", off = \"0 s\", rate = \"10 Gbit/s\", size = \"1 B\" }"));
    refused(
        "flow[0].source.video.slices",
        udp("video = { slices = 4000000000, min_gap = \"0 s\", max_gap = \"0 s\" }"),
    );
    // The mean is made by bursts that do not occur in practice: most are of 10⁻¹⁶ s.
    refused("flow[0].source.onoff.on", udp("onoff = { distribution = \"pareto\", shape = 1.000000000000001 }"));
}

#[test]
fn senders_whose_gaps_round_to_nothing() {
    let link = LINK.replace("10 Mbit/s", "100000 Gbit/s");
    for transport in ["tfrc", "tcp", "udp"] {
        let source = if transport == "udp" { "source.cbr.interval = \"1 ns\"\n" } else { "" };
        runs(format!("{link}delay = \"0 s\"\n{FLOW}transport = \"{transport}\"\n{source}"));
    }
    let group = "[[group]]\nname = \"g\"\nmembers = [\"b\"]\n[[flow]]\nfrom = \"a\"\nto = \"g\"\n";
    for transport in ["tfmcc", "pgmcc"] {
        runs(format!("{link}delay = \"0 s\"\n{group}transport = \"{transport}\"\n"));
    }
}

#[test]
fn a_gain_of_the_air_every_nanosecond() {
    let radio = |duration: &str| {
        format!(
            "duration = \"{duration}\"\n[[hsdpa]]\nname = \"c\"\nnode = \"a\"\nair.fading.coherence = \"1 ns\"\n{TO_CELL}"
        )
    };
    refused("hsdpa[0].air.fading.coherence", radio("1 s"));
    runs(radio("1 ms"));
}

#[test]
fn terminals_that_wander_within_a_micrometre() {
    let cell = |way: &str| {
        format!(
            "{CELL}[cell.mobility]\nsite = [{{ at = [\"0 m\", \"0 m\"] }}]\nmovement = [{{ random_waypoint = {{ {way} }} }}]\n{TO_CELL}"
        )
    };
    let place = "cell[0].mobility.movement[0].random_waypoint.corners";
    refused(place, cell("corners = [[\"0 m\", \"0 m\"], [\"0.000001 m\", \"0 m\"]]"));
    runs(cell("corners = [[\"0 m\", \"0 m\"], [\"0.000001 m\", \"0 m\"]], pause = \"10 ms\""));
}

#[test]
fn power_in_steps_of_nothing() {
    let cell = |loops: &str| {
        format!("{CELL}[cell.mobility]\nsite = [{{ at = [\"0 m\", \"0 m\"] }}]\npower.loops = {{ {loops} }}\n{TO_CELL}")
    };
    refused("cell[0].mobility.power.loops.link_power", cell("inner_step = \"1e-9 dB\""));
    runs(cell("inner_step = \"0.01 dB\""));
}

#[test]
fn more_bits_than_can_be_counted() {
    let cell = |field: &str| format!("{CELL}{field}\n{TO_CELL}");
    refused("cell[0].dch.down.rate", cell("dch.down = { rate = \"26.84 Gbit/s\", tti = \"80 ms\" }"));
    refused("cell[0].dch.up.rate", cell("dch.up = { rate = \"100000 Gbit/s\", tti = \"80 ms\" }"));
    // The PDU itself, or the channels that are too narrow for it.
    let fate_of = |field: &str| fate(cell(field)).unwrap_or_default();
    for rlc in ["am", "um", "tm", "eurane"] {
        for pdu in ["600 MB", "1000000 GB"] {
            assert!(fate_of(&format!("rlc.{rlc}.pdu = \"{pdu}\"")).starts_with("cell[0]."), "{rlc}, {pdu}");
        }
    }
    let shared = "attachment = \"high_speed\"\nhs_dsch = { cqi = [[[1, 14]]] }\nrlc.am.pdu = \"1000000 GB\"";
    assert!(fate_of(shared).starts_with("cell[0]."));
}
