//! One end over a socket, by the wall clock.

use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lasthop_net::engine::{Duration, Instant, Streams};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::file::receiving::Receiving;
use crate::file::sending::Sending;
use crate::host::{Do, Host, Load, Setting, To};
use crate::plan::Plan;
use crate::socket::Socket;
use crate::tables::{self, Recorder};

/// The longest datagram.
const LONGEST: usize = 65_536;
/// The most datagrams that are read before the endpoint is asked what it wants.
const MOST_READ: usize = 64;
/// A receiver that has its file waits as long for the sender's end after the last data.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest wait without looking at the clock.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The exit code of a transfer that is not whole.
const NOT_WHOLE: i32 = 1;

/// `CLOCK_MONOTONIC` since one reading of it, from a second on: a stamp of this clock says nothing to another host.
struct Clock(u64);

impl Clock {
    fn reading() -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    fn start() -> Self {
        Self(Self::reading() - 1_000_000_000)
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(Self::reading() - self.0)
    }
}

/// An end and its socket.
struct Running {
    socket: Socket,
    host: Host,
    /// Where data go, and which groups there are.
    to: SocketAddrV4,
    /// The other end, if there is one: of a receiver, the source of the first packet that was one. No other is listened to.
    peer: Option<SocketAddrV4>,
    sends: bool,
    datagram: Vec<u8>,
    /// Datagrams that the system did not take, and those of other sources.
    refused: u64,
    strangers: u64,
}

impl Running {
    /// Reads what has come. Says whether more may wait.
    fn read(&mut self, clock: &Clock, buffer: &mut [u8]) -> io::Result<bool> {
        for _ in 0..MOST_READ {
            let Some((length, from)) = self.socket.receive(buffer)? else { return Ok(false) };
            if self.peer.is_some_and(|peer| peer != from) {
                self.strangers += 1;
                continue;
            }
            if self.host.on_datagram(clock.now(), &buffer[..length]) && !self.sends {
                self.peer = Some(from);
            }
        }
        Ok(true)
    }

    /// Does what the endpoint wants.
    fn act(&mut self, now: Instant) -> io::Result<()> {
        let mut datagram = std::mem::take(&mut self.datagram);
        while let Some(wish) = self.host.poll(now, &mut datagram) {
            match wish {
                Do::Send(to) => {
                    let to = match to {
                        To::Peer if self.sends => Some(self.to),
                        To::Peer => self.peer,
                        To::Group(group) => Some(SocketAddrV4::new(self.group(group), self.to.port())),
                    };
                    let taken = to.map_or(Ok(false), |to| self.socket.send(&datagram, to))?;
                    self.refused += u64::from(!taken);
                }
                Do::Join(group) => self.socket.join(self.group(group))?,
                Do::Leave(group) => self.socket.leave(self.group(group))?,
            }
        }
        self.datagram = datagram;
        Ok(())
    }

    /// The address of a group of the session: its own, and those behind it.
    fn group(&self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(*self.to.ip()).wrapping_add(number))
    }
}

/// Runs the plan, and gives the exit code.
///
/// # Errors
/// A sentence.
pub fn run(plan: &Plan) -> Result<i32, String> {
    // The standard library draws the keys of its hashers at random.
    let drawn = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    let seed = plan.seed.unwrap_or_else(drawn);
    let mut stream = Streams::new(seed).stream("endpoint", "number");
    let number = (stream.bits() as u32).max(1);
    let failed = |what: &dyn std::fmt::Display| {
        let what = what.to_string();
        move |error: io::Error| format!("{what}: {error}")
    };
    if let Some(folder) = &plan.out {
        tables::check(folder, plan.file.as_deref().filter(|_| !plan.sends))?;
    }
    let host = Host::new(Setting {
        endpoint: plan.endpoint(number, seed),
        codec: plan.codec(number, number),
        load: load(plan, number, seed)?,
        segment: plan.full_packet().map_or(0, |(segment, _)| segment),
        layered: plan.is_layered(),
    });
    let address = match plan.sends {
        true => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0),
        // Layers have groups of their own.
        false if plan.is_layered() => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, plan.to.port()),
        false => plan.to,
    };
    let mut socket = Socket::bind(address, plan.is_multicast(), plan.ttl)
        .map_err(failed(&format_args!("port {}", address.port())))?;
    if !plan.interface.is_unspecified() {
        socket.use_interface(plan.interface).map_err(failed(&format_args!("--interface {}", plan.interface)))?;
    }
    if plan.is_multicast() && !plan.sends {
        socket.join(*plan.to.ip()).map_err(failed(plan.to.ip()))?;
    }
    let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
    let peer = (plan.sends && !plan.is_multicast()).then_some(plan.to);
    let mut running =
        Running { socket, host, to: plan.to, peer, sends: plan.sends, datagram: Vec::new(), refused: 0, strangers: 0 };
    // A signal ends it as its time does: a receiver leaves, and tables are written.
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&asked)).map_err(failed(&"signals"))?;
    }
    let clock = Clock::start();
    let began = clock.now();
    let mut recorder = Recorder::new(began, &plan.label(), plan.sends);
    running.host.start(began);
    let end = plan.time.map(|time| began + time);
    serve(&mut running, &clock, end, &asked, &mut recorder).map_err(failed(&"socket"))?;
    let now = clock.now();
    running.host.stop(now);
    running.act(now).map_err(failed(&"socket"))?;
    if let Some(folder) = &plan.out {
        let about = [
            (if plan.sends { "flow" } else { "receiver" }, if plan.sends { plan.label() } else { number.to_string() }),
            ("to", plan.to.to_string()),
            ("transport", plan.label()),
            ("start_s", "0".to_owned()),
            ("end_s", now.since(began).as_secs_f64().to_string()),
            ("refused_datagrams", running.refused.to_string()),
            ("datagrams_of_others", running.strangers.to_string()),
        ];
        recorder.write(folder, &running.host, &about)?;
    }
    Ok(last_word(&running, now.since(began)))
}

/// What is carried.
fn load(plan: &Plan, number: u32, seed: u64) -> Result<Load, String> {
    let Some(path) = &plan.file else { return Ok(if plan.sends { Load::Stream } else { Load::Counts }) };
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    if plan.sends {
        let file = Box::new(File::open(path).map_err(failed)?);
        let kept = plan.full_packet().map_or(0, |(_, kept)| kept);
        let sending = Sending::new(file, number, plan.payload(), plan.receivers, kept).map_err(failed)?;
        return Ok(Load::Sends(Box::new(sending)));
    }
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path).map_err(failed)?;
    let stream = Streams::new(seed).stream("file", "answers");
    Ok(Load::Receives(Box::new(Receiving::new(Box::new(file), number, stream))))
}

/// Reads, acts and waits until it is over.
fn serve(
    running: &mut Running,
    clock: &Clock,
    end: Option<Instant>,
    asked: &AtomicBool,
    recorder: &mut Recorder,
) -> io::Result<()> {
    let mut buffer = vec![0; LONGEST];
    loop {
        let more = running.read(clock, &mut buffer)?;
        let now = clock.now();
        running.host.on_timeout(now);
        running.act(now)?;
        recorder.sample(now, &running.host);
        let ends = asked.load(Ordering::Relaxed) || end.is_some_and(|end| now >= end);
        if ends || running.host.is_over() || is_left(&running.host, now) {
            return Ok(());
        }
        if more {
            continue;
        }
        let due = [running.host.next_timeout(), end, Some(recorder.due())].into_iter().flatten().min();
        let wait = due.map_or(LONGEST_WAIT, |due| due.since(clock.now())).min(LONGEST_WAIT);
        running.socket.wait(wait)?;
    }
}

/// Whether a receiver has its file and the sender is gone without a word.
fn is_left(host: &Host, now: Instant) -> bool {
    let Load::Receives(receiving) = host.load() else { return false };
    receiving.is_whole() && host.last_data().is_some_and(|at| now.since(at) >= PATIENCE)
}

/// Says what happened, and gives the exit code.
fn last_word(running: &Running, time: Duration) -> i32 {
    let host = &running.host;
    let counts = host.counts();
    let seconds = time.as_secs_f64();
    let rate = |bytes: u64| bytes as f64 * 8e-3 / seconds;
    let mut line = if running.sends {
        format!(
            "sent {} datagrams, {} bytes in {seconds:.1} s ({:.1} kbit/s), received {}",
            counts.sent,
            counts.sent_bytes,
            rate(counts.sent_bytes),
            counts.received
        )
    } else {
        format!(
            "received {} datagrams, {} bytes in {seconds:.1} s ({:.1} kbit/s), sent {}",
            counts.received,
            counts.received_bytes,
            rate(counts.received_bytes),
            counts.sent
        )
    };
    if let Some(error) = host.last_error() {
        line += &format!(", rejected {} (the last one: {error})", counts.rejected);
    }
    let mut code = 0;
    match host.load() {
        Load::Sends(sending) => {
            let (length, sum) = sending.identity();
            let (complete, all, passes) = (sending.complete(), sending.receivers(), sending.passes());
            line += &format!(
                "; file of {length} bytes, CRC-32 {sum:08x}: {complete} of {all} receivers have it, {passes} passes"
            );
            if let Some(error) = sending.failure() {
                line += &format!("; it could not be read: {error}");
            }
            code = if sending.failure().is_none() && complete == all && all > 0 { 0 } else { NOT_WHOLE };
        }
        Load::Receives(receiving) => {
            line += &match (receiving.is_whole(), receiving.identity()) {
                (true, Some((length, sum))) => format!("; file of {length} bytes, CRC-32 {sum:08x}: whole"),
                (false, Some((length, _))) => {
                    format!("; file of {length} bytes: {} are missing", receiving.missing().unwrap_or(length))
                }
                _ => "; no file".to_owned(),
            };
            if let Some(error) = receiving.failure() {
                line += &format!("; it could not be written: {error}");
            }
            code = if receiving.is_whole() { 0 } else { NOT_WHOLE };
        }
        Load::Stream | Load::Counts => {}
    }
    println!("{line}");
    code
}
