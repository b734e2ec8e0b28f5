//! A program in a host's namespace: it runs as the caller, without capabilities, and knows the hosts by name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount};
use rustix::process::{Pid, Signal, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, LinkNameSpaceType, UnshareFlags, capabilities, clear_ambient_capability_set,
    move_into_link_name_space, remove_capability_from_bounding_set, set_capabilities,
};

use super::sys;
use crate::bridge::Host;
use crate::plan::Program;

/// A program that is under way, or about to be.
pub struct Running {
    start: Sender<()>,
    pid: Receiver<io::Result<Pid>>,
    code: Receiver<i32>,
    process: Option<Pid>,
    is_group: bool,
}

impl Running {
    /// Prepares a program: its thread is in the namespace and waits. At its end `bell` is rung.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn prepare(program: Program, namespace: &File, hosts: &[Host], bell: OwnedFd) -> io::Result<Self> {
        let namespace = namespace.try_clone()?;
        let names = hosts_file(hosts);
        let variables = variables(program.host, hosts);
        let is_group = !program.has_terminal;
        let (ready, is_ready) = channel();
        let (start, started) = channel();
        let (say_pid, pid) = channel();
        let (say_code, code) = channel();
        // The child is this thread's: it is in its namespaces, and without its capabilities.
        std::thread::spawn(move || {
            let entered = enter(&namespace, &names);
            let fine = entered.is_ok();
            if ready.send(entered).is_err() || !fine || started.recv().is_err() {
                return;
            }
            let run = || -> io::Result<i32> {
                drop_capabilities(CapabilitySet::empty())?;
                let mut command = Command::new(&program.words[0]);
                if !program.has_terminal {
                    // A group of its own, so that all that it starts is asked to end with it. The input is the own program's.
                    command.process_group(0).stdin(Stdio::null());
                }
                let mut child = command
                    .args(&program.words[1..])
                    .envs(variables)
                    .envs(program.environment)
                    .env_remove(super::outer::INNER)
                    .spawn()?;
                if let Some(pid) = Pid::from_raw(child.id() as i32) {
                    let _ = say_pid.send(Ok(pid));
                }
                let status = child.wait()?;
                // As a shell says it.
                Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
            };
            match run() {
                Ok(code) => drop(say_code.send(code)),
                Err(error) => {
                    // As a shell says it: not found, or not to be run.
                    let _ = say_code.send(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 });
                    let _ = say_pid.send(Err(error));
                }
            }
            let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
        });
        let entered = is_ready.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of a program panicked")));
        entered.map(|()| Self { start, pid, code, process: None, is_group })
    }

    /// Starts it.
    ///
    /// # Errors
    /// If there is no such program, or it cannot be run.
    pub fn start(&mut self) -> io::Result<()> {
        let _ = self.start.send(());
        self.process =
            Some(self.pid.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of a program panicked")))?);
        Ok(())
    }

    /// Its exit code, if it has ended.
    pub fn code(&self) -> Option<i32> {
        self.code.try_recv().ok()
    }

    /// Asks it to end.
    pub fn ask_to_end(&self) {
        let Some(process) = self.process else { return };
        let _ = if self.is_group {
            rustix::process::kill_process_group(process, Signal::TERM)
        } else {
            rustix::process::kill_process(process, Signal::TERM)
        };
    }

    /// Waits a while until it has ended; its exit code, if it was not given before.
    pub fn wait(&self, at_most: std::time::Duration) -> Option<i32> {
        self.code.recv_timeout(at_most).ok()
    }
}

/// What `/etc/resolv.conf` says: without a name server, the resolver asks this host, which refuses at once. Others are out of reach.
const RESOLVER: &str = "# There is no name server in a live run: /etc/hosts has the hosts.\n";

/// Moves the calling thread to a host: its network, and mounts of its own in which `/etc/hosts` has these lines.
fn enter(namespace: &File, names: &str) -> io::Result<()> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    sys::unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    // Files in memory, over a folder that every system has, for as long as they are bound to their places: nothing stays on a disk.
    let place = "/tmp";
    mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755")?;
    let bound = [("hosts", names), ("resolv.conf", RESOLVER)].map(|(name, text)| {
        let file = format!("{place}/{name}");
        std::fs::write(&file, text)?;
        Ok(mount_bind(&file, format!("/etc/{name}"))?)
    });
    unmount(place, UnmountFlags::DETACH)?;
    let is_missing =
        |bound: &io::Result<()>| bound.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if is_missing(&bound[0]) {
        eprintln!("warning: there is no /etc/hosts: hosts have addresses, but no names");
    }
    bound.into_iter().filter(|bound| !is_missing(bound)).collect()
}

/// Takes all capabilities from the calling thread, but those of `root` from root's, and all from all that it starts.
pub fn drop_capabilities(root: CapabilitySet) -> io::Result<()> {
    for one in CapabilitySet::all().iter() {
        // One that this kernel does not know cannot be had.
        let _ = remove_capability_from_bounding_set(one);
    }
    clear_ambient_capability_set()?;
    let kept = if geteuid().is_root() { root & capabilities(None)?.permitted } else { CapabilitySet::empty() };
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?)
}

/// The lines of `/etc/hosts`.
fn hosts_file(hosts: &[Host]) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for host in hosts {
        for address in &host.addresses {
            text += &format!("{address} {}\n", host.node);
        }
    }
    text
}

/// The variables that say where the hosts are: `LASTHOP_PEER_<NODE>`, and `…_6` for the address of IPv6.
fn variables(own: usize, hosts: &[Host]) -> Vec<(String, String)> {
    let mut variables = vec![("LASTHOP_HOST".to_owned(), hosts[own].node.clone())];
    for host in hosts {
        let name = variable(&host.node);
        for address in &host.addresses {
            let suffix = if matches!(address, IpAddr::V6(_)) { "_6" } else { "" };
            variables.push((format!("{name}{suffix}"), address.to_string()));
        }
    }
    variables
}

/// The name of a node's variable.
fn variable(node: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("LASTHOP_PEER_{}", node.chars().map(upper).collect::<String>())
}

/// Says so if two hosts have the same variable.
pub fn warn_of_shared_variables(hosts: &[Host]) {
    let mut of_nodes = BTreeMap::new();
    for Host { node, .. } in hosts {
        let name = variable(node);
        if let Some(other) = of_nodes.insert(name.clone(), node) {
            eprintln!("warning: \"{other}\" and \"{node}\" are both {name}, which has the address of \"{node}\"");
        }
    }
}
