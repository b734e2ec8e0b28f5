//! Profile `ns2` follows ns-2.35 event for event.

use std::path::Path;

use lasthop_fidelity::report::{self, Line, Outcome};

fn lines(family: &str) -> Vec<Line> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/ns2").join(family);
    lasthop_fidelity::folder(&folder, 2)
}

/// All scenarios of `family` agree, but for those of a kind that lasthop has not.
fn check(family: &str, expected: usize) {
    let lines = lines(family);
    let failures: Vec<Line> = lines.iter().filter(|line| line.outcome.is_failure()).cloned().collect();
    assert!(failures.is_empty(), "\n{}", report::text(&failures));
    let agreeing = lines.iter().filter(|line| matches!(line.outcome, Outcome::Same(_))).count();
    assert!(agreeing >= expected, "{agreeing} of {expected} agree\n{}", report::text(&lines));
}

#[test]
fn scripted_losses() {
    check("tcp-scripted", 150);
}

#[test]
fn queue_overflow() {
    check("tcp-droptail", 28);
}

#[test]
fn handover() {
    check("handover", 20);
}

/// Six cases event for event, six by bytes received and the queue in each tenth of a second.
#[test]
fn xcp() {
    check("xcp", 12);
}

/// Nine with scripted losses, and three over seeds.
#[test]
fn rates_by_equation() {
    check("tfrc", 12);
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
