//! TFMCC over real sockets through a live MBMS cell, beside the simulation of the same cell. Where no live run is possible the test says why it
//! does nothing, and fails if `LASTHOP_NEEDS_LIVE` is set, as in continuous integration.
#![cfg(target_os = "linux")]

#[path = "../../live/tests/common/user.rs"]
mod user;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{check, read};

use user::text;

/// Eight terminals; the slowest bearer's queue makes the losses, so that the rate is that of the bearer in every run.
const CELL: &str = r#"
duration = "20 s"
[[link]]
name = "iu"
between = ["server", "rnc"]
rate = "10 Mbit/s"
delay = "30 ms"
[[mbms]]
name = "cell"
rnc = "rnc"
ues = 8
queue = "10 packets"
[[group]]
name = "file"
members = ["cell.ue[*]"]
"#;

const FLOW: &str = r#"
[[flow]]
name = "tfmcc"
from = "server"
to = "file"
transport = "tfmcc"
source.file.size = "1 GB"
"#;

/// A folder of its own with a scenario, removed at the end. One test runs at a time: they measure times.
struct Place {
    folder: PathBuf,
    as_user: bool,
    _alone: MutexGuard<'static, ()>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    /// `None` if there can be no live run here.
    fn new() -> Option<Self> {
        use std::os::unix::fs::PermissionsExt;
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let endpoint = Path::new(env!("CARGO_BIN_EXE_lasthop-endpoint"));
        let bridge = endpoint.with_file_name("lasthop-live");
        let folder = std::env::temp_dir().join(format!("lasthop-endpoint-live-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let mut place = Self { folder, as_user: false, _alone: alone };
        if !bridge.exists() {
            assert!(std::env::var_os("LASTHOP_NEEDS_LIVE").is_none(), "{} is not built", bridge.display());
            eprintln!("skipped: {} is not built", bridge.display());
            return None;
        }
        fs::copy(&bridge, place.file("lasthop-live")).unwrap();
        fs::copy(endpoint, place.file("lasthop-endpoint")).unwrap();
        fs::write(place.file("s.toml"), CELL).unwrap();
        place.as_user = user::possible(|as_user| {
            place.as_user = as_user;
            place.run("", "true", "10 s")
        })?;
        Some(place)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs `receive` at all terminals, if it is given, and `send` at the server.
    fn run(&self, receive: &str, send: &str, time: &str) -> Output {
        let scenario = fs::read_to_string(self.file("s.toml")).unwrap();
        let hosts = match receive {
            "" => "[[live.host]]\nnode = \"server\"\n".to_owned(),
            _ => format!(
                "[[live.host]]\nnode = \"server\"\n[[live.host]]\nnode = \"cell.ue[*]\"\nrun = [\"sh\", \"-c\", '{receive}']\n"
            ),
        };
        fs::write(self.file("run.toml"), format!("{scenario}\n{hosts}")).unwrap();
        let options = serde_json::json!({ "node": "server", "command": ["sh", "-c", send], "time": time });
        let mut command = user::command(&self.file("lasthop-live"), &self.folder, self.as_user);
        command.arg("run.toml").arg(options.to_string()).output().unwrap()
    }
}

/// Payload that the simulated sender sends in 20 s, in kbit/s.
fn simulated() -> f64 {
    let document = read::toml(&format!("{CELL}{FLOW}"), "test").unwrap();
    check(&document).unwrap();
    let mut session = Session::new(&document.scenario, 1, None).unwrap();
    session.complete().unwrap();
    let tables = session.finish();
    let bytes = tables.table("flows").unwrap().number("sent_bytes", 0).unwrap();
    bytes * 8e-3 / 20.0
}

/// The sender's mean rate over 20 s is the simulated one within 10 %. A run that calls itself late, since the machine was busy, says nothing of the
/// sender, and is made anew, twice at most.
#[test]
fn tfmcc_keeps_the_simulated_rate_over_a_live_cell() {
    let Some(place) = Place::new() else { return };
    let receive = "exec ./lasthop-endpoint tfmcc receive --group 239.77.0.1:5000 --for 21s";
    let send = "sleep 1; ./lasthop-endpoint tfmcc send --group 239.77.0.1:5000 --for 20s -o sent";
    let simulated = simulated();
    for again in [true, true, false] {
        let _ = fs::remove_dir_all(place.file("sent"));
        let output = place.run(receive, send, "30 s");
        let verdict = text(&output.stderr);
        assert!(output.status.success(), "{verdict}");
        let flows = fs::read_to_string(place.file("sent/flows.csv")).unwrap();
        let (names, row) = flows.trim().split_once('\n').unwrap();
        let mut cells = names.split(',').zip(row.split(','));
        let bytes: f64 = cells.find(|(name, _)| *name == "sent_bytes").unwrap().1.parse().unwrap();
        let live = bytes * 8e-3 / 20.0;
        if (live / simulated - 1.0).abs() < 0.1 {
            return;
        }
        assert!(again && verdict.contains("LATE: "), "{live} kbit/s live, {simulated} simulated; {verdict}");
    }
}

#[test]
fn a_file_arrives_whole_at_all_terminals_of_a_live_cell() {
    let Some(place) = Place::new() else { return };
    let lossy = CELL.replace("queue =", "loss.bernoulli.p = 0.15\nqueue =");
    fs::write(place.file("s.toml"), lossy).unwrap();
    let content: Vec<u8> = (0..10_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    fs::write(place.file("file"), &content).unwrap();
    let receive = "exec ./lasthop-endpoint tfmcc receive --group 239.77.0.1:5000 --out \"$LASTHOP_HOST\"";
    let send = "sleep 1; ./lasthop-endpoint tfmcc send --group 239.77.0.1:5000 --file file --receivers 8 --for 60s";
    let output = place.run(receive, send, "70 s");
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said} {}", text(&output.stderr));
    assert!(said.contains("8 of 8 receivers have it"), "{said}");
    for ue in 0..8 {
        assert!(fs::read(place.file(&format!("cell.ue[{ue}]"))).unwrap() == content, "terminal {ue}");
    }
}
