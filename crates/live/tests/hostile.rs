//! Packets as no kernel makes them, through a bridge without devices: nothing panics, no byte stays, and memory has its bound.
//!
//! `LASTHOP_PACKETS` says how many there are; 50,000 otherwise.

mod common;
#[path = "common/frames.rs"]
mod frames;

use std::net::Ipv6Addr;

use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};
use lasthop_core::engine::{Duration, Instant};
use lasthop_live::bridge::Bridge;
use lasthop_live::device::Packets;
use lasthop_live::flows::{MOST_FLOWS, OLDER};
use lasthop_live::offload::Offload;

use common::{hosts, scenario};
use frames::{uncut, virtio};

/// A link with a queue that looks into packets, a handover that copies, and a group.
const LINK: &str = r#"
duration = "100000 s"
[[link]]
name = "radio"
between = ["a", "b"]
rate = "50 Mbit/s"
delay = "5 ms"
queue = "fq_codel"
[[change]]
at = "1 s"
repeat = { every = "1 s", times = 50 }
link = "radio"
delay = "7 ms"
in_flight = "copy"
[[group]]
name = "tv"
members = ["b"]
"#;

/// SplitMix64 (Steele et al., OOPSLA 2014).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// How many packets are tried.
fn packets() -> usize {
    std::env::var("LASTHOP_PACKETS").map_or(50_000, |text| text.parse().unwrap())
}

/// Packets of all kinds that the bridge looks into, whole.
fn whole() -> Vec<Vec<u8>> {
    let ends4 = ([10, 77, 0, 1], [10, 77, 0, 2]);
    let ends6 =
        (Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1).octets(), Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2).octets());
    let v4 = || PacketBuilder::ipv4(ends4.0, ends4.1, 64);
    let v6 = || PacketBuilder::ipv6(ends6.0, ends6.1, 64);
    let options = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 10, 0, 0, 0, 9, 0, 0, 0, 19, 3, 3, 7, 1];
    let payload = [7; 200];
    let mut all = vec![Vec::new(); 8];
    v4().udp(1, 2).write(&mut all[0], &payload).unwrap();
    v6().udp(1, 2).write(&mut all[1], &payload).unwrap();
    v4().tcp(1, 2, 3, 4).syn().options_raw(&options).unwrap().write(&mut all[2], &[]).unwrap();
    v6().tcp(1, 2, u32::MAX - 9, 4).ack(5).options_raw(&options).unwrap().write(&mut all[3], &payload).unwrap();
    v4().icmpv4(Icmpv4Type::EchoRequest(etherparse::IcmpEchoHeader { id: 1, seq: 2 }))
        .write(&mut all[4], &payload)
        .unwrap();
    v6().icmpv6(Icmpv6Type::EchoRequest(etherparse::IcmpEchoHeader { id: 1, seq: 2 }))
        .write(&mut all[5], &payload)
        .unwrap();
    PacketBuilder::ipv4(ends4.0, [239, 77, 0, 1], 1).udp(1, 2).write(&mut all[6], &payload).unwrap();
    // A report of IGMPv3 (RFC 3376 §4.2): one record, a join.
    let report = [0x22, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 239, 77, 0, 1];
    PacketBuilder::ipv4(ends4.1, [224, 0, 0, 22], 1).write(&mut all[7], etherparse::IpNumber::IGMP, &report).unwrap();
    all
}

#[test]
fn packets_that_no_kernel_makes_do_no_harm() {
    let count = packets();
    let mut bridge = Bridge::new(&scenario(LINK), 1, hosts(&["a", "b"])).unwrap();
    let (seeds, mut draw) = (whole(), Draw(1));
    let mut deliveries = Vec::new();
    let mut at = Instant::ZERO;
    let mut come = 0;
    for _ in 0..count {
        let mut packet = seeds[draw.below(seeds.len())].clone();
        for _ in 0..draw.below(5) {
            let length = packet.len().max(1);
            match draw.below(6) {
                0 => packet.truncate(draw.below(length)),
                1 => packet.extend((0..draw.below(3_000)).map(|n| n as u8)),
                2 => drop(packet.splice(0..0, [draw.next() as u8])),
                // Heads are where lengths are.
                3 if !packet.is_empty() => {
                    let place = draw.below(packet.len().min(60));
                    packet[place] = [0, 1, 0x45, 0x60, 0x7f, 0x80, 0xff][draw.below(7)];
                }
                _ if !packet.is_empty() => {
                    let place = draw.below(packet.len());
                    packet[place] = draw.next() as u8;
                }
                _ => {}
            }
        }
        at += Duration::from_micros(draw.below(300) as u64);
        bridge.send(draw.below(2), &packet, at).unwrap();
        bridge.take(&mut deliveries);
        come += deliveries.len();
        deliveries.clear();
    }
    bridge.advance_to(at + Duration::from_secs(60)).unwrap();
    assert_eq!(bridge.kept(), (0, false), "bytes of packets that have ended");
    assert!(come > count / 10, "most were thrown away: {come} of {count}");
    bridge.finish().unwrap();
}

#[test]
fn frames_that_no_kernel_makes_do_no_harm() {
    let count = packets() / 10;
    let mut bridge = Bridge::new(&scenario(LINK), 1, hosts(&["a", "b"])).unwrap();
    let mut offload = Offload::new(1_500);
    let (good, mut draw) = ([&virtio(1_000)[..], &uncut(7, &[7; 9_500])].concat(), Draw(2));
    let (mut cut, mut packets, mut deliveries) = (0, Packets::default(), Vec::new());
    for n in 0..count {
        let mut frame = good.clone();
        let is_uncut = draw.below(3) > 0;
        if !is_uncut {
            frame = [&[0; 10][..], &whole()[draw.below(6)]].concat();
        }
        for _ in 0..draw.below(4) {
            // The header of virtio, or those behind it.
            let most = if draw.below(2) == 0 { 10 } else { frame.len().clamp(1, 60) };
            let place = draw.below(most);
            match draw.below(3) {
                0 if place < frame.len() => frame.truncate(draw.below(frame.len())),
                _ if place < frame.len() => frame[place] = [draw.next() as u8, 0, 1, 0xff][draw.below(4)],
                _ => {}
            }
        }
        let read = |buffer: &mut [u8]| {
            buffer[..frame.len()].copy_from_slice(&frame);
            Ok(Some(frame.len()))
        };
        assert!(offload.read(&mut packets, read).unwrap());
        let sent = packets.iter().len();
        assert!(sent > 0 && (sent == 1 || packets.iter().all(|packet| packet.len() <= 1_500)));
        cut += u64::from(sent > 1);
        let at = Instant::ZERO + Duration::from_millis(2) * n as u64;
        for packet in packets.iter() {
            bridge.send(0, packet, at).unwrap();
        }
        bridge.take(&mut deliveries);
        let mut rest = &deliveries[..];
        while !rest.is_empty() {
            let written = offload.write(rest, |parts| Ok(!parts.is_empty())).unwrap();
            rest = &rest[written.packets..];
        }
        deliveries.clear();
    }
    bridge.advance_to(Instant::ZERO + Duration::from_secs(1_000)).unwrap();
    assert_eq!(bridge.kept(), (0, false));
    let good = count as u64 / 10;
    assert!(cut > good && bridge.not_for_a_host() > good, "{cut} cut, {} thrown away", bridge.not_for_a_host());
    bridge.finish().unwrap();
}

/// Each datagram is a flow of its own, as in a scan of ports, and most are dropped: what is kept of them has the bound that flows have.
#[test]
fn ever_new_flows_have_a_bound_in_memory() {
    let flows = 2 * u32::try_from(MOST_FLOWS).unwrap();
    let full =
        LINK.replace("50 Mbit/s", "8 kbit/s").replace("queue = \"fq_codel\"", "queue.droptail.limit = \"2 packets\"");
    let mut bridge = Bridge::new(&scenario(&full), 1, hosts(&["a", "b"])).unwrap();
    for n in 0..flows {
        let mut packet = Vec::new();
        let (source, destination) = ((n % 60_000) as u16 + 1, (n / 60_000) as u16 + 1);
        let builder = PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64).udp(source, destination);
        builder.write(&mut packet, &[0; 100]).unwrap();
        bridge.send(0, &packet, Instant::from_nanos(1_000 * u64::from(n))).unwrap();
    }
    bridge.advance_to(Instant::ZERO + Duration::from_secs(100)).unwrap();
    let dropped = bridge.flows().older.dropped + bridge.flows().iter().map(|flow| flow.counts.dropped).sum::<u64>();
    let tables = bridge.finish().unwrap();
    let (_, drops) = tables.iter().find(|(name, _)| *name == "drops").unwrap();
    let whose: Vec<&str> = (0..drops.rows()).map(|row| drops.text("flow", row).unwrap()).collect();
    assert_eq!(whose.iter().filter(|name| **name == OLDER).count(), 1);
    assert!(whose.len() <= MOST_FLOWS + 1, "{} rows", whose.len());
    let counted: f64 = (0..drops.rows()).map(|row| drops.number("packets", row).unwrap()).sum();
    assert_eq!(counted as u64, dropped);
}

#[test]
fn packets_under_way_have_a_bound_in_memory() {
    let slow = LINK.replace("50 Mbit/s", "8 kbit/s").replace("queue = \"fq_codel\"", "queue.droptail.limit = \"1 GB\"");
    // A handover would empty the queue.
    let slow = slow.replace("at = \"1 s\"", "at = \"1000 s\"");
    let bounded = format!("{slow}\n[live]\nmemory = \"10 kB\"");
    let mut bridge = Bridge::new(&scenario(&bounded), 1, hosts(&["a", "b"])).unwrap();
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64).udp(1, 2).write(&mut packet, &[0; 972]).unwrap();
    for _ in 0..100 {
        bridge.send(0, &packet, Instant::ZERO).unwrap();
    }
    assert_eq!((bridge.traffic(0).sent, bridge.refused()), (10, 90));
    // As packets come, there is room again: each takes a second.
    bridge.advance_to(Instant::ZERO + Duration::from_millis(3_500)).unwrap();
    bridge.send(0, &packet, Instant::ZERO + Duration::from_millis(3_500)).unwrap();
    assert_eq!((bridge.traffic(0).sent, bridge.refused()), (11, 90));
}
