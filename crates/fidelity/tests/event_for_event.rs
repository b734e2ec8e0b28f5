//! Profile `ns2` follows ns-2.35 and EURANE event for event.

use std::path::Path;

use lasthop_fidelity::report::{self, Line, Outcome};

fn lines(family: &str) -> Vec<Line> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(family);
    lasthop_fidelity::folder(&folder, 2)
}

/// All scenarios of `family` agree, but for those of a kind that lasthop has not.
fn check(family: &str, expected: usize) {
    let lines = lines(family);
    let failures: Vec<Line> = lines.iter().filter(|line| line.outcome.is_failure()).cloned().collect();
    assert!(failures.is_empty(), "\n{}", report::text(&failures));
    let agreeing = lines.iter().filter(|line| line.outcome.agrees()).count();
    assert!(agreeing >= expected, "{agreeing} of {expected} agree\n{}", report::text(&lines));
}

#[test]
fn scripted_losses() {
    check("ns2/tcp-scripted", 150);
    check("ns2-3/tcp-scripted", 5);
}

#[test]
fn queue_overflow() {
    check("ns2/tcp-droptail", 28);
}

#[test]
fn handover() {
    check("ns2/handover", 20);
    check("ns2-2/handover", 1);
    check("ns2-3/handover", 1);
}

/// Cases event for event, and others by bytes received and the queue in each tenth of a second.
#[test]
fn xcp() {
    check("ns2/xcp", 12);
    check("ns2-2/xcp", 1);
    check("ns2-3/xcp", 4);
}

/// Nine with scripted losses, and three over seeds.
#[test]
fn rates_by_equation() {
    check("ns2/tfrc", 12);
    check("ns2-2/tfrc", 3);
}

/// Delay and path of each packet over constellations, and each terminal's handoffs.
#[test]
fn satellites() {
    check("ns2/satellite", 2);
    check("ns2-2/satellite", 2);
    check("ns2-3/satellite", 1);
}

/// Layered multicast with and without TCP, by means over seeds.
#[test]
fn layers() {
    check("ns2/rlm", 4);
    check("ns2-2/rlm", 1);
}

/// EURANE's RLC, and its switching between channels.
#[test]
fn eurane() {
    check("eurane/rlc-am", 45);
    check("eurane/switch", 4);
    check("eurane-2/rlc-am", 1);
    check("eurane-2/switch", 2);
}

/// Terminals on an HS-DSCH: CBR, TCP and TFRC one by one, with hybrid ARQ that fails too; where it fails three times, by means.
#[test]
fn eurane_hsdpa() {
    check("eurane/hsdpa", 79);
    check("eurane-2/hsdpa", 13);
}

/// Today's controllers against logs of their own code, step by step and by summaries, and runs of ns-3 by their means.
#[test]
fn modern() {
    check("modern", 65);
    check("modern-2", 11);
}

/// Links that follow a trace: each packet's millisecond, by mahimahi's own queue and disciplines.
#[test]
fn trace_links() {
    check("traces", 60);
}

#[test]
fn a_known_difference_that_is_gone_is_reported() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/eurane/switch");
    let folder = std::env::temp_dir().join(format!("lasthop-fidelity-known-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for file in ["index.json", "single-sdus.csv", "bursts.csv", "trickle.csv", "uplink.csv"] {
        std::fs::copy(reference.join(file), folder.join(file)).unwrap();
    }
    // One that differs: its first event comes later.
    let text = std::fs::read_to_string(reference.join("uplink.csv")).unwrap();
    let (headings, rows) = text.split_once('\n').unwrap();
    std::fs::write(folder.join("uplink.csv"), format!("{headings}\n9{rows}")).unwrap();
    let outcomes = |differences: &str| -> Vec<(String, Outcome)> {
        std::fs::write(folder.join("differences.json"), differences).unwrap();
        lasthop_fidelity::folder(&folder, 1).into_iter().map(|line| (line.scenario, line.outcome)).collect()
    };
    let unexplained = outcomes("{}");
    let known = outcomes(r#"{"uplink": "rounding", "trickle": "nothing"}"#);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(unexplained.iter().any(|(scenario, o)| scenario == "uplink" && matches!(o, Outcome::Differs(..))));
    assert!(
        known.iter().any(
            |(scenario, o)| scenario == "uplink" && matches!(o, Outcome::Explained(_, _, why) if why == "rounding")
        )
    );
    let failures: Vec<_> =
        known.iter().filter(|(_, o)| o.is_failure()).map(|(scenario, _)| scenario.as_str()).collect();
    assert_eq!(failures, ["trickle"]);
}

#[test]
fn unknown_keys_are_reported_by_name() {
    let folder = std::env::temp_dir().join(format!("lasthop-fidelity-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let index = r#"{"family": "tcp-scripted", "simulator": "", "columns": {}, "quirks": "",
        "scenarios": [{"id": "one", "colour": "red"}]}"#;
    std::fs::write(folder.join("index.json"), index).unwrap();
    let lines = lasthop_fidelity::folder(&folder, 1);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(lines[0].scenario, "one");
    assert!(matches!(&lines[0].outcome, Outcome::Failed(why) if why.contains("colour")), "{:?}", lines[0]);
}

/// The Linux kernel's own TCP: Reno, CUBIC with and without HyStart, and BBR over five paths each, by goodput and drops.
#[test]
fn the_kernels_tcp() {
    check("live/kernel", 20);
    check("live/kernel-2", 6);
}
