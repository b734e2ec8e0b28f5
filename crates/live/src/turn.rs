//! The loop of a live run: one turn reads the devices, brings the network up to the present, and writes what has come.
//!
//! A packet's stamp is the clock's reading after it was read, and the network computes from stamps only: so lateness of one write never
//! moves another packet. Nothing is skipped and time is never stretched.

use std::io;

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::net::RunError;
use thiserror::Error;

use crate::bridge::{Bridge, Delivery};
use crate::capture::Unwritten;
use crate::clock::Clock;
use crate::device::{Device, Packets, Written};
use crate::lateness::Lateness;
use crate::recording::Recorder;
use crate::snapshot::{Snapshot, Watch};

/// After this many packets a device is read no further in a turn, so that a host that sends without pause does not keep others waiting.
const PACKETS_PER_DEVICE: usize = 64;

/// A run that is more than this behind its clock has fallen behind.
const FAR_BEHIND: Duration = Duration::from_millis(100);

/// What ends a live run early.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The network.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The device of the host with this number, which cannot be read or written any more.
    #[error("the interface of host {0}: {1}")]
    Device(usize, io::Error),
    /// Waiting.
    #[error("wait: {0}")]
    Wait(io::Error),
    /// The recording or the capture could not be written.
    #[error("the recording or the capture cannot be written")]
    Unwritten,
    /// In a strict run: a packet left late.
    #[error("a packet left {late:.1} ms late, more than {1} (--strict)", late = 1e3 * .0.as_secs_f64())]
    Late(Duration, Duration),
    /// In a strict run: a packet may have waited to be read.
    #[error("a packet may have waited {waited:.1} ms to be read, more than {1} (--strict)", waited = 1e3 * .0.as_secs_f64())]
    Waited(Duration, Duration),
}

/// Counts of a live run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Turns of the loop.
    pub turns: u64,
    /// The furthest that the network was behind the clock.
    pub behind: Duration,
    /// Packets that a host's interface did not take.
    pub refused: u64,
    /// Packets for hosts that were read when the bridge had not run for longer than packets may be late: they may have waited, and their
    /// stamps say nothing of it.
    pub waited: u64,
    /// For how long at most.
    pub longest_wait: Duration,
}

impl Pace {
    /// Whether the run was ever far behind.
    pub fn fell_behind(&self) -> bool {
        self.behind > FAR_BEHIND
    }
}

/// A live run.
pub struct Turns<C, D> {
    clock: C,
    devices: Vec<D>,
    bridge: Bridge,
    limit: Duration,
    strict: bool,
    recorder: Option<Recorder>,
    lateness: Vec<Lateness>,
    pace: Pace,
    last: Instant,
    /// How much later than it should this turn began.
    overslept: Duration,
    packets: Packets,
    deliveries: Vec<Delivery>,
    watch: Option<(Watch, Show)>,
}

/// Shows a snapshot.
pub type Show = Box<dyn FnMut(Snapshot) + Send>;

/// A live run that has ended.
pub struct Ended<D> {
    /// The network.
    pub bridge: Bridge,
    /// The devices.
    pub devices: Vec<D>,
    /// The lateness at each host.
    pub lateness: Vec<Lateness>,
    /// How the loop went.
    pub pace: Pace,
    /// What was recorded.
    pub recorder: Option<Recorder>,
    /// Whether the capture could be written.
    pub capture: Result<(), Unwritten>,
}

impl<C: Clock, D: Device> Turns<C, D> {
    /// A run over these devices, one for each host of the bridge. A packet written more than `limit` after it came is late; in a strict
    /// run the first of them ends it.
    pub fn new(
        clock: C,
        devices: Vec<D>,
        bridge: Bridge,
        limit: Duration,
        strict: bool,
        recorder: Option<Recorder>,
    ) -> Self {
        Self {
            lateness: vec![Lateness::default(); devices.len()],
            clock,
            devices,
            bridge,
            limit,
            strict,
            recorder,
            pace: Pace::default(),
            last: Instant::ZERO,
            overslept: Duration::ZERO,
            packets: Packets::default(),
            deliveries: Vec::new(),
            watch: None,
        }
    }

    /// Takes snapshots, once a second, and gives them to `show`, which must not wait for anything. `cpu` gives the processor time so far.
    pub fn watch(&mut self, cpu: fn() -> f64, show: Show) {
        self.watch = Some((Watch::new(cpu), show));
    }

    /// The next turn should have begun this long ago: packets that it reads may have waited since.
    pub fn overslept(&mut self, by: Duration) {
        self.overslept = by;
        self.note_behind(by);
    }

    /// Reads, goes on to the present, writes.
    ///
    /// # Errors
    /// See [`LiveError`].
    pub fn turn(&mut self) -> Result<(), LiveError> {
        self.pace.turns += 1;
        let now = self.clock.now();
        if let Some(due) = self.bridge.next_event().filter(|due| *due < now) {
            self.note_behind(now.since(due));
        }
        let overslept = Some(std::mem::take(&mut self.overslept)).filter(|by| *by > self.limit);
        for host in 0..self.devices.len() {
            let (mut count, sent) = (0, self.bridge.traffic(host).sent);
            while count < PACKETS_PER_DEVICE {
                let read = self.devices[host].read(&mut self.packets);
                if !read.map_err(|error| LiveError::Device(host, error))? {
                    break;
                }
                // Segments of one packet come at once.
                let stamp = self.stamp();
                for packet in self.packets.iter() {
                    if let Some(recorder) = &mut self.recorder {
                        recorder.sent(host, stamp, packet);
                    }
                    self.bridge.send(host, packet, stamp)?;
                }
                count += self.packets.iter().len();
            }
            let sent = self.bridge.traffic(host).sent - sent;
            if let Some(by) = overslept.filter(|_| sent > 0) {
                self.pace.waited += sent;
                self.pace.longest_wait = self.pace.longest_wait.max(by);
            }
        }
        let now = self.stamp();
        self.advance_and_write(now)?;
        if self.strict && self.pace.waited > 0 {
            return Err(LiveError::Waited(self.pace.longest_wait, self.limit));
        }
        if self.bridge.capture_has_failed() || self.recorder.as_ref().is_some_and(Recorder::has_failed) {
            return Err(LiveError::Unwritten);
        }
        if let Some((watch, show)) = &mut self.watch
            && watch.is_due(now)
        {
            let behind = self.clock.now().since(now);
            show(watch.look(&self.bridge, &self.lateness, now, behind));
        }
        Ok(())
    }

    /// When the next turn is due, if no packet is read before.
    pub fn due(&mut self) -> Option<Instant> {
        let look = self.watch.as_ref().map(|(watch, _)| watch.due());
        self.bridge.next_event().into_iter().chain(look).min()
    }

    /// The devices.
    pub fn devices(&self) -> &[D] {
        &self.devices
    }

    /// The network.
    pub fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    /// Whether the end of the scenario is reached.
    pub fn is_over(&self) -> bool {
        self.bridge.now() >= self.bridge.end()
    }

    /// Ends the run now.
    ///
    /// # Errors
    /// See [`LiveError`].
    pub fn end(mut self) -> Result<Ended<D>, LiveError> {
        let now = self.stamp();
        self.strict = false;
        self.advance_and_write(now)?;
        let capture = self.bridge.end_capture();
        let Self { bridge, devices, lateness, pace, recorder, .. } = self;
        Ok(Ended { bridge, devices, lateness, pace, recorder, capture })
    }

    /// The clock's reading, never before the last one.
    fn stamp(&mut self) -> Instant {
        self.last = self.last.max(self.clock.now());
        self.last
    }

    fn advance_and_write(&mut self, now: Instant) -> Result<(), LiveError> {
        self.bridge.advance_to(now)?;
        self.bridge.take(&mut self.deliveries);
        if self.devices.iter().any(Device::joins) {
            // A host's packets stay in their order, and become neighbours.
            self.deliveries.sort_by_key(|delivery| delivery.host);
        }
        let mut latest = Duration::ZERO;
        for mut packets in self.deliveries.chunk_by(|one, next| one.host == next.host) {
            while let [Delivery { host, .. }, ..] = *packets {
                let written = self.devices[host].write(packets).map_err(|error| LiveError::Device(host, error))?;
                let Written { packets: count, taken } = written;
                self.last = self.last.max(self.clock.now());
                let (together, rest) = packets.split_at(count);
                for Delivery { at, bytes, .. } in together {
                    let lateness = self.last.since(*at);
                    self.lateness[host].add(lateness, self.limit);
                    latest = latest.max(lateness);
                    self.pace.refused += u64::from(!taken);
                    if let Some(recorder) = &mut self.recorder {
                        recorder.delivered(host, self.last, bytes);
                    }
                }
                packets = rest;
            }
        }
        self.deliveries.clear();
        if self.strict && latest > self.limit {
            return Err(LiveError::Late(latest, self.limit));
        }
        Ok(())
    }

    fn note_behind(&mut self, behind: Duration) {
        if behind > FAR_BEHIND && !self.pace.fell_behind() {
            let ms = 1e3 * behind.as_secs_f64();
            eprintln!("warning: the run is {ms:.0} ms behind the clock; it goes on, and its result says so");
        }
        self.pace.behind = self.pace.behind.max(behind);
    }
}
