use super::*;

/// With EURANE's draws a run is EURANE's: with one user means agree to the last digit that the reference has, in both directions with losses.
/// One draw more or less, and they are those of other runs.
#[test]
fn a_run_is_that_of_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/eurane/tcp-fach");
    let index = std::fs::read_to_string(folder.join("index.json")).unwrap();
    let file: File = crate::index::file(serde_json::from_str(&index).unwrap()).unwrap();
    let reference = read_means(&folder.join("means.csv")).unwrap();
    let set = file.sets.iter().find(|set| set.name == "both-directions").unwrap();
    let runs: Vec<Run> = set.seeds.iter().map(|seed| run(set, "Reno", 0.01, *seed).unwrap()).collect();
    let cell = (set.name.clone(), "Reno".to_owned(), 10, "one".to_owned(), "0".to_owned());
    for column in COLUMNS {
        let ours = Mean::of(runs.iter().map(|run| run[&("one", "0", column)])).mean;
        let theirs = reference[&cell][column];
        assert!((ours - theirs).abs() <= 0.000_051, "{column}: {ours}, not {theirs}");
    }
}
