//! The system calls that need `unsafe`: all of this crate's is here.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::ioctl::{IntegerSetter, Opcode, Setter, ioctl};
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, wait};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities, unshare_unsafe,
};

/// Moves the calling thread into new namespaces of these kinds.
pub fn unshare(kinds: UnshareFlags) -> io::Result<()> {
    assert!(!kinds.contains(UnshareFlags::FILES), "threads share their files");
    // SAFETY: the table of files stays shared, which is all that the function asks for.
    Ok(unsafe { unshare_unsafe(kinds) }?)
}

/// Makes an open `/dev/net/tun` the device `name`: IP packets, with a header of virtio before each or without one.
pub fn set_tun_interface(tun: impl AsFd, name: &str, with_virtio: bool) -> io::Result<()> {
    /// `struct ifreq` of linux/if.h as `TUNSETIFF` reads it: a name, flags, and the rest of the union.
    #[repr(C)]
    struct Request {
        name: [u8; libc::IFNAMSIZ],
        flags: libc::c_short,
        rest: [u8; 22],
    }
    let virtio = if with_virtio { libc::IFF_VNET_HDR } else { 0 };
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI | virtio) as libc::c_short;
    let mut request = Request { name: [0; libc::IFNAMSIZ], flags, rest: [0; 22] };
    // The last byte stays zero.
    for (to, from) in request.name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *to = from;
    }
    const TUNSETIFF: Opcode = libc::TUNSETIFF as Opcode;
    // SAFETY: the opcode is TUNSETIFF, whose argument is a `struct ifreq`; `Request` has its layout and its 40 bytes.
    Ok(unsafe { ioctl(tun, Setter::<TUNSETIFF, Request>::new(request)) }?)
}

/// Lets the kernel leave checksums, and the cutting of TCP, to a TUN device with headers of virtio.
pub fn leave_tcp_to_device(tun: impl AsFd) -> io::Result<()> {
    const TUNSETOFFLOAD: Opcode = libc::TUNSETOFFLOAD as Opcode;
    let features = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    // SAFETY: the opcode is TUNSETOFFLOAD, whose argument is a number and no pointer.
    Ok(unsafe { ioctl(tun, IntegerSetter::<TUNSETOFFLOAD>::new_usize(features as usize)) }?)
}

/// The child of `command` gets SIGKILL when this thread ends, and keeps the capabilities that this thread has over its own namespaces:
/// exec would take them from a user other than root.
pub fn tie(command: &mut Command) {
    let tie = || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        let mut sets = capabilities(None)?;
        sets.inheritable = sets.permitted;
        set_capabilities(None, sets)?;
        for one in sets.permitted.iter().filter(|one| CapabilitySet::all().contains(*one)) {
            configure_capability_in_ambient_set(one, true)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only, and takes neither locks nor memory.
    unsafe { command.pre_exec(tie) };
}

/// Gives the calling thread the real-time priority 10 (`SCHED_FIFO`) and keeps in memory what this process has there. What it starts has
/// neither. What it asks for later is not kept: without capabilities a small limit would hold for all of it.
pub fn be_realtime() -> io::Result<()> {
    let priority = libc::sched_param { sched_priority: 10 };
    // SAFETY: 0 is the calling thread; the parameter is a valid `sched_param`, which the call only reads.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const priority) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT)?)
}

/// Ends processes of which only the exit code is left, and whose new parent is this thread: the first of its process-id namespace, to which
/// all come that lose theirs. Programs of other threads are not among them.
pub fn reap_orphans() {
    let orphans = WaitOptions::NOHANG | WaitOptions::from_bits_retain(libc::__WNOTHREAD as u32);
    while let Ok(Some(_)) = wait(orphans) {}
}

/// The signals that end a run.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The one of them that came last; 0 before.
static STOP: AtomicI32 = AtomicI32::new(0);
/// The process that is to get these signals.
static TO: AtomicI32 = AtomicI32::new(0);

/// The number of the signal that asked this process to stop, after [`hear_signals`].
pub fn asked_to_stop() -> Option<i32> {
    Some(STOP.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// From now on SIGINT, SIGTERM and SIGHUP only ask to stop, also those that were held back.
pub fn hear_signals() {
    extern "C" fn stop(signal: libc::c_int) {
        STOP.store(signal, Ordering::Relaxed);
    }
    handle(stop);
    release_signals();
}

/// Holds SIGINT, SIGTERM and SIGHUP back, in this thread and all that it starts, until [`release_signals`] or [`hear_signals`].
pub fn hold_signals() {
    mask(libc::SIG_BLOCK, &ENDING);
}

/// Lets them come, also those that were held back.
pub fn release_signals() {
    mask(libc::SIG_UNBLOCK, &ENDING);
}

/// Lets this thread set up the terminal also after a shell has taken it for another group of processes (POSIX.1-2017 §11.1.4).
pub fn hold_terminal_signals() {
    mask(libc::SIG_BLOCK, &[libc::SIGTTOU]);
}

fn mask(how: libc::c_int, signals: &[libc::c_int]) {
    // SAFETY: an all-zero set is valid memory for sigemptyset, which makes it an empty set; the others read and write this set only.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut());
    }
}

/// From now on they are passed on to this process.
pub fn pass_signals_to(process: Pid) {
    extern "C" fn pass(signal: libc::c_int) {
        // SAFETY: kill may be called in a signal handler (POSIX.1-2017 §2.4.3) and has no conditions.
        unsafe { libc::kill(TO.load(Ordering::Relaxed), signal) };
    }
    TO.store(process.as_raw_nonzero().get(), Ordering::Relaxed);
    handle(pass);
}

fn handle(handler: extern "C" fn(libc::c_int)) {
    for signal in ENDING {
        // SAFETY: an all-zero sigaction is valid: no flags, an empty mask. Without SA_RESTART a wait ends with EINTR. The handlers touch
        // atomics and make one system call.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
