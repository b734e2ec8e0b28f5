//! The loop over devices that hand over TCP uncut: each segment is a packet of its own in the network, what is due at once is joined, and a
//! recorded run repeats.

mod common;
#[path = "common/frames.rs"]
mod frames;
#[path = "common/hand.rs"]
mod hand;

use std::collections::VecDeque;
use std::io;

use etherparse::{IpSlice, TcpSlice};
use lasthop_core::engine::Duration;
use lasthop_core::measure::table::Table;
use lasthop_live::bridge::{Bridge, Delivery};
use lasthop_live::device::{Device, Packets, Written};
use lasthop_live::offload::Offload;
use lasthop_live::recording::{self, Recorder};
use lasthop_live::results;
use lasthop_live::turn::{Ended, Turns};

use common::{hosts, scenario};
use frames::{uncut, virtio};
use hand::{Folder, Hand};

/// A packet of 1,000 B takes 1 ms; the queue holds ten.
const LINK: &str = r#"
duration = "20 s"
[[link]]
name = "radio"
between = ["a", "b"]
rate = "8 Mbit/s"
delay = "20 ms"
queue.droptail.limit = "10 packets"
"#;

/// Payload of a packet of 1,000 B.
const SIZE: usize = 960;

/// A device that has frames at given times, and keeps the frames that it gets.
struct Framed {
    clock: Hand,
    frames: VecDeque<(u64, Vec<u8>)>,
    offload: Offload,
    written: Vec<Vec<u8>>,
}

impl Device for Framed {
    fn read(&mut self, packets: &mut Packets) -> io::Result<bool> {
        let Self { clock, frames, offload, .. } = self;
        offload.read(packets, |buffer| {
            let Some((_, frame)) = frames.pop_front_if(|(at, _)| *at <= clock.0.get()) else { return Ok(None) };
            buffer[..frame.len()].copy_from_slice(&frame);
            Ok(Some(frame.len()))
        })
    }

    fn write(&mut self, packets: &[Delivery]) -> io::Result<Written> {
        let Self { offload, written, .. } = self;
        offload.write(packets, |parts| {
            written.push(parts.iter().flat_map(|part| part.to_vec()).collect());
            Ok(true)
        })
    }

    fn joins(&self) -> bool {
        true
    }
}

/// Runs frames of host `a`, with a turn every `step` ns, for a second.
fn run(frames: Vec<(u64, Vec<u8>)>, step: u64, recorder: Option<Recorder>) -> Ended<Framed> {
    let clock = Hand::default();
    let device = |frames: Vec<_>| Framed {
        clock: clock.clone(),
        frames: frames.into(),
        offload: Offload::new(1_500),
        written: Vec::new(),
    };
    let devices = vec![device(frames), device(Vec::new())];
    let bridge = Bridge::new(&scenario(LINK), 1, hosts(&["a", "b"])).unwrap();
    let mut turns = Turns::new(clock.clone(), devices, bridge, Duration::from_millis(1), false, recorder);
    while clock.0.get() < 1_000_000_000 {
        turns.turn().unwrap();
        clock.0.set(clock.0.get() + step);
    }
    turns.end().unwrap()
}

/// The payload of 30 segments.
fn payload() -> Vec<u8> {
    (0..30 * SIZE as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// The frame of 30 segments.
fn thirty() -> Vec<u8> {
    [&virtio(SIZE as u16)[..], &uncut(77, &payload())].concat()
}

/// Size of segments and payload of a written frame.
fn written(frame: &[u8]) -> (u16, Vec<u8>) {
    let tcp = TcpSlice::from_slice(IpSlice::from_slice(&frame[10..]).unwrap().payload().payload).unwrap().payload();
    (u16::from_ne_bytes([frame[4], frame[5]]), tcp.to_vec())
}

#[test]
fn each_segment_is_queued_and_dropped_alone() {
    let ended = run(vec![(0, thirty())], 100_000, None);
    // One is in service and ten wait; the others come in the same instant.
    assert_eq!((ended.bridge.traffic(0).sent, ended.bridge.traffic(0).sent_bytes), (30, 30_000));
    assert_eq!(ended.bridge.traffic(1).delivered, 11);
    assert_eq!(ended.bridge.flows().iter().next().unwrap().counts.dropped, 19);
    assert_eq!(ended.bridge.kept(), (0, false));
    // They come a millisecond apart, and go to the host one by one.
    let written: Vec<_> = ended.devices[1].written.iter().map(|frame| written(frame)).collect();
    assert_eq!(written.len(), 11);
    for (segment, payload) in written.iter().zip(payload().chunks(SIZE)) {
        assert_eq!(segment, &(0, payload.to_vec()));
    }
    assert!(ended.lateness[1].largest() <= Duration::from_micros(100));
}

#[test]
fn segments_that_are_due_at_once_are_joined() {
    let ended = run(vec![(0, thirty())], 25_000_000, None);
    // Those that came before 25 ms, at 21 ms and up, and the rest, at 25 ms to 31 ms.
    let (sizes, parts): (Vec<_>, Vec<_>) = ended.devices[1].written.iter().map(|frame| written(frame)).unzip();
    assert_eq!(sizes, [SIZE as u16; 2]);
    assert_eq!([parts[0].len(), parts[1].len()], [4 * SIZE, 7 * SIZE]);
    assert!(parts.concat() == payload()[..11 * SIZE], "in their order");
    // Each has a lateness of its own.
    assert_eq!((ended.lateness[1].packets(), ended.lateness[1].largest()), (11, Duration::from_millis(25)));
}

#[test]
fn a_recorded_run_repeats_segment_by_segment() {
    let folder = Folder::new();
    let recorder = Recorder::new(&folder.0, recording::about_run(&scenario(LINK), hosts(&["a", "b"]))).unwrap();
    let damaged = [&virtio(0)[..], &uncut(77, &payload())].concat();
    let frames = vec![(0, thirty()), (7_000_000, thirty()), (300_000_000, damaged), (400_000_000, thirty())];
    let ended = run(frames, 3_000_000, Some(recorder));
    assert_eq!((ended.bridge.traffic(0).sent, ended.bridge.not_for_a_host()), (90, 1));
    ended.recorder.unwrap().finish(ended.bridge.now()).unwrap();
    let again = recording::replay(&folder.0, None, None).unwrap();
    let written = |tables: &[(&'static str, Table)]| -> Vec<(&'static str, String)> {
        tables.iter().map(|(name, table)| (*name, results::csv(table))).collect()
    };
    let first = results::tables(ended.bridge, &ended.lateness).unwrap();
    assert_eq!(written(&first), written(&again.tables));
}
