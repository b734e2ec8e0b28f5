//! Live runs as an ordinary user, also where root runs the tests.

use std::path::Path;
use std::process::{Command, Output};

/// Runs as an ordinary user, with a `/dev/net/tun` that users may open; `$0` is a folder for it.
const AS_USER: &str = r#"
mknod "$0/tun" c 10 200 2>/dev/null; chmod 666 "$0/tun" && mount --bind "$0/tun" /dev/net/tun &&
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"#;

/// The command `live`, in this folder; as an ordinary user, if root is to become one.
pub fn command(live: &Path, folder: &Path, as_user: bool) -> Command {
    let mut command = if as_user {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", AS_USER]).arg(folder).arg(live);
        command
    } else {
        Command::new(live)
    };
    command.current_dir(folder);
    command
}

/// Whether root becomes an ordinary user for live runs here: not, if users may make none. `run` tries one. `None`, if there can be none at all:
/// says why, and fails if `LASTHOP_NEEDS_LIVE` is set, as in continuous integration.
pub fn possible(mut run: impl FnMut(bool) -> Output) -> Option<bool> {
    let mut as_user = rustix::process::geteuid().is_root();
    let mut tried = run(as_user);
    if !tried.status.success() && as_user && text(&tried.stderr).contains("lets only root") {
        as_user = false;
        tried = run(as_user);
    }
    if tried.status.success() {
        return Some(as_user);
    }
    let why = text(&tried.stderr);
    assert!(std::env::var_os("LASTHOP_NEEDS_LIVE").is_none(), "no live run is possible here: {why}");
    let known = ["lets only root", "there is no /dev/net/tun", "cannot be opened"];
    assert!(known.iter().any(|known| why.contains(known)), "{why}");
    eprintln!("skipped: {why}");
    None
}

/// What a program printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
