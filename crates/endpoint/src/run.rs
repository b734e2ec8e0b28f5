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

/// A session ends here at the latest, a day before the last instant that there is: behind that all timers are due at once.
const LAST: Instant = Instant::from_nanos(Instant::MAX.as_nanos() - 86_400_000_000_000);

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
    /// Datagrams that the system did not take, and why it did not take the last of them; and those of other sources.
    refused: u64,
    refusal: Option<io::Error>,
    strangers: u64,
}

impl Running {
    /// Reads what has come. Says whether more may wait.
    fn read(&mut self, clock: &Clock, buffer: &mut [u8]) -> io::Result<bool> {
        for _ in 0..MOST_READ {
            let Some((length, from)) = self.socket.receive(buffer)? else { return Ok(false) };
            let datagram = &buffer[..length];
            let of_receiver = self.host.is_of_receiver(datagram);
            if !of_receiver && self.peer.is_some_and(|peer| peer != from) {
                self.strangers += 1;
                continue;
            }
            if self.host.on_datagram(clock.now(), datagram) && !self.sends && !of_receiver {
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
                    // Nothing is sent before the sender is known.
                    let Some(to) = to else { continue };
                    let refusal =
                        self.socket.send(&datagram, to).map_err(|error| named(&format_args!("to {to}"), &error))?;
                    if let Some(refusal) = refusal {
                        self.refused += 1;
                        self.refusal = Some(refusal);
                    }
                }
                Do::Join(group) => {
                    let group = self.group(group);
                    self.socket.join(group).map_err(|error| named(&format_args!("joining {group}"), &error))?;
                }
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

/// An error of the socket with the place that it concerns. A socket may join `igmp_max_memberships` groups (ip(7)), which are fewer than layers
/// may be.
fn named(place: &dyn std::fmt::Display, error: &io::Error) -> io::Error {
    let most = error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error());
    let hint = if most { "; net.ipv4.igmp_max_memberships says how many groups a socket may join" } else { "" };
    io::Error::new(error.kind(), format!("{place}: {error}{hint}"))
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
    let address = match (plan.sends, plan.is_multicast()) {
        (true, true) => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0),
        (true, false) => SocketAddrV4::new(plan.interface, 0),
        // RFC 1122 §4.1.3.5: answers come from the address to which data were sent. Bound to all, the system takes that of its route.
        (false, false) => SocketAddrV4::new(plan.interface, plan.to.port()),
        // Layers have groups of their own.
        (false, true) if plan.is_layered() => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, plan.to.port()),
        (false, true) => plan.to,
    };
    let interface = format!("--interface {}", plan.interface);
    let place = match plan.interface.is_unspecified() || plan.is_multicast() {
        true => format!("port {}", address.port()),
        false => format!("{interface}, port {}", address.port()),
    };
    let mut socket = Socket::bind(address, plan.is_multicast(), plan.ttl).map_err(failed(&place))?;
    if plan.is_multicast() && !plan.interface.is_unspecified() {
        socket.use_interface(plan.interface).map_err(failed(&interface))?;
    }
    if plan.is_multicast() && !plan.sends {
        socket.join(*plan.to.ip()).map_err(failed(plan.to.ip()))?;
    }
    // Tables that cannot be written are no surprise at the end of a session.
    if let Some(folder) = &plan.out {
        std::fs::create_dir_all(folder).map_err(failed(&folder.display()))?;
    }
    // A file that is to be received is emptied only when the socket is there.
    let host = Host::new(Setting {
        endpoint: plan.endpoint(number, seed),
        codec: plan.codec(number, number),
        load: load(plan, number, seed)?,
        segment: plan.full_packet().map_or(0, |(segment, _)| segment),
        layered: plan.is_layered(),
    });
    let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
    let peer = (plan.sends && !plan.is_multicast()).then_some(plan.to);
    let mut running = Running {
        socket,
        host,
        to: plan.to,
        peer,
        sends: plan.sends,
        datagram: Vec::new(),
        refused: 0,
        refusal: None,
        strangers: 0,
    };
    // A signal ends it as its time does: a receiver leaves, and tables are written.
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&asked)).map_err(failed(&"signals"))?;
    }
    let clock = Clock::start();
    let began = clock.now();
    let mut recorder = plan.out.is_some().then(|| Recorder::new(began, &plan.label(), plan.sends));
    running.host.start(began);
    let end = plan.time.map_or(LAST, |time| (began + time).min(LAST));
    serve(&mut running, &clock, end, &asked, recorder.as_mut()).map_err(failed(&"socket"))?;
    let now = clock.now();
    running.host.stop(now);
    running.act(now).map_err(failed(&"socket"))?;
    let code = last_word(&running, now.since(began));
    if let (Some(folder), Some(recorder)) = (&plan.out, &recorder) {
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
    Ok(code)
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
    end: Instant,
    asked: &AtomicBool,
    mut recorder: Option<&mut Recorder>,
) -> io::Result<()> {
    let mut buffer = vec![0; LONGEST];
    loop {
        let more = running.read(clock, &mut buffer)?;
        let now = clock.now();
        running.host.on_timeout(now);
        running.act(now)?;
        if let Some(recorder) = &mut recorder {
            recorder.sample(now, &running.host);
        }
        let ends = asked.load(Ordering::Relaxed) || now >= end;
        if ends || running.host.is_over() || is_left(&running.host, now) {
            return Ok(());
        }
        if more {
            continue;
        }
        let sample = recorder.as_ref().map(|recorder| recorder.due());
        let due = [running.host.next_timeout(), sample].into_iter().flatten().fold(end, Instant::min);
        running.socket.wait(due.since(clock.now()).min(LONGEST_WAIT))?;
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
    if running.strangers > 0 {
        line += &format!(", {} from others", running.strangers);
    }
    if let Some(refusal) = &running.refusal {
        line += &format!(", {} of those sent were refused by the system (the last one: {refusal})", running.refused);
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
                line += &format!("; {error}");
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
    crate::say(&line);
    code
}
