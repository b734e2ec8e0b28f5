//! The outer process: makes the namespaces, starts the inner process in them, passes signals on to it, and ends as it does.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, getegid, geteuid, getpgrp, test_kill_process_group};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
use rustix::thread::UnshareFlags;

use super::sys;
use super::tun::TUN;

/// Set in the inner process.
pub const INNER: &str = "LASTHOP_LIVE_INNER";

/// Whether this is the inner process.
pub fn is_inner() -> bool {
    std::env::var_os(INNER).is_some()
}

/// Runs a program with these arguments inside new namespaces, and gives its exit code: it is the inner process, and finds that out by
/// [`is_inner`].
///
/// # Errors
/// The sentence that says why there can be no live run here.
pub fn run(program: &Path, arguments: impl IntoIterator<Item = OsString>) -> Result<i32, String> {
    match fs::OpenOptions::new().read(true).write(true).open(TUN) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("there is no {TUN}; in a container start it with --device {TUN}"));
        }
        // Most systems let every user open it: a device that is made in it belongs to the namespace, and needs a capability there.
        Err(error) => return Err(format!("{TUN} cannot be opened: {error}; let users open it, or run as root")),
        Ok(_) => {}
    }
    make_namespaces()?;
    let mut command = Command::new(program);
    command.args(arguments).env(INNER, "1");
    sys::tie(&mut command);
    let terminal = has_terminal().then(|| tcgetattr(stdin()).ok()).flatten();
    // The child is the first process of its namespace, which gets no signal that it does not handle: one that comes before it does must wait.
    sys::hold_signals();
    let spawned = command.spawn();
    if let Ok(child) = &spawned
        && let Some(process) = Pid::from_raw(child.id() as i32)
    {
        sys::pass_signals_to(process);
    }
    sys::release_signals();
    let mut child = spawned.map_err(|error| format!("the run cannot be started: {error}"))?;
    let status = child.wait().map_err(|error| format!("the run cannot be awaited: {error}"))?;
    // A program that is ended, such as an editor, may leave the terminal as it had set it.
    if let Some(terminal) = terminal.filter(|_| has_terminal()) {
        sys::hold_terminal_signals();
        let _ = tcsetattr(stdin(), OptionalActions::Now, &terminal);
    }
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}

/// Whether the terminal is this run's: its own group of processes has it, or one that is no more, such as that of a shell that was started here.
fn has_terminal() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp() || test_kill_process_group(group) == Err(Errno::SRCH))
}

/// Moves this process into namespaces of its own. Root needs no user namespace, unless its capabilities were taken away.
fn make_namespaces() -> Result<(), String> {
    let kinds = UnshareFlags::NEWNET | UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    let (user, group) = (geteuid(), getegid());
    if user.is_root() && sys::unshare(kinds).is_ok() {
        return Ok(());
    }
    sys::unshare(kinds | UnshareFlags::NEWUSER).map_err(|error| refusal(&error))?;
    // The caller stays the caller: user_namespaces(7), "Defining user and group ID mappings".
    let (user, group) = (user.as_raw(), group.as_raw());
    let lines = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (file, line) in lines {
        fs::write(file, line).map_err(|error| refusal(&error))?;
    }
    Ok(())
}

/// Why user namespaces are refused.
fn refusal(error: &io::Error) -> String {
    let settings = [
        ("user.max_user_namespaces", "0"),
        ("kernel.unprivileged_userns_clone", "0"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
    ];
    let forbids = settings.into_iter().find(|(name, value)| {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        fs::read_to_string(file).is_ok_and(|text| text.trim() == *value)
    });
    let why = forbids.map_or_else(|| error.to_string(), |(name, value)| format!("{name} = {value}"));
    format!("this system lets only root make network namespaces ({why}); run as root or use --attach")
}
