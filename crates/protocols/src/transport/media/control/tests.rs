//! What every congestion control for media keeps to, whatever a report says.

use lasthop_net::engine::choice::parsed;
use lasthop_net::engine::{BitRate, Duration, Instant, Streams};
use lasthop_net::net::Ecn;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Chosen {
    chosen: MediaCongestion,
}

/// Each entry of the registry that is written in Rust, and each dialect.
fn all() -> Vec<MediaCongestion> {
    let rust = MediaCongestion::NAMES.iter().filter(|name| **name != "python");
    let names = rust.map(|name| format!("chosen = '{name}'"));
    let dialects = ["chosen.gcc.dialect = 'draft'".to_owned()];
    names.chain(dialects).map(|text| parsed::<Chosen>(&text).unwrap().chosen).collect()
}

/// Reports at random: losses, marks, clocks apart, packets in any order, pauses, changes of path, many at one instant.
#[test]
fn no_report_brings_a_rate_out_of_its_bounds() {
    for choice in all() {
        for run in 0..40 {
            let mut draws = Streams::new(run).stream("media", choice.name());
            let seat = MediaContext {
                min_rate: BitRate::from_kbps(150),
                max_rate: BitRate::from_kbps(1_500),
                start_rate: BitRate::from_kbps(300),
                packet: 1200,
                overhead: 28,
                seed: 1,
            };
            let mut control = choice.config().build(&seat);
            // The receiver's clock is ahead or behind.
            let apart = draws.uniform(0.0, 2e9) as u64;
            let (mut now, mut number) = (Instant::ZERO + Duration::from_secs(1), 0);
            for _ in 0..200 {
                let step = [1e3, 1e6, 1e8, 1e10][(draws.unit() * 4.0) as usize];
                let mut packets = Vec::new();
                for _ in 0..(draws.unit() * 30.0) as u64 {
                    now += Duration::from_nanos(draws.uniform(0.0, step / 10.0) as u64);
                    let bytes = 1 + (draws.unit() * 1200.0) as u32;
                    let in_flight = u64::from(bytes) * packets.len() as u64;
                    control.on_sent(&Sent { now, number, bytes, in_flight, queued: 500, marker: draws.chance(0.3) });
                    let delay = draws.uniform(0.0, step) as u64;
                    let at = Instant::from_nanos((now.as_nanos() + delay + 1_000_000_000).saturating_sub(apart));
                    let ecn = if draws.chance(0.2) { Ecn::Ce } else { Ecn::Ect1 };
                    let arrival = draws.chance(0.8).then_some(Arrival { at, ecn });
                    packets.push(Fate { number, bytes, sent_at: now, arrival });
                    number += 1;
                }
                if draws.chance(0.1) {
                    packets.reverse();
                }
                now += Duration::from_nanos(draws.uniform(0.0, step) as u64);
                if let Some(due) = control.next_timeout()
                    && due <= now
                {
                    control.on_timeout(now);
                }
                control.on_feedback(&Feedback {
                    now,
                    reported_at: Instant::from_nanos((now.as_nanos() + 1_000_000_000).saturating_sub(apart)),
                    packets: &packets,
                    prior_in_flight: 40_000,
                    in_flight: (draws.unit() * 40_000.0) as u64,
                    queued: (draws.unit() * 40_000.0) as u64,
                    queue_delay: Duration::ZERO,
                });
                if draws.chance(0.02) {
                    control.on_path_change(now);
                }
                let target = control.target();
                let name = choice.name();
                // 8 bit/s: rates of bytes.
                assert!((149_992..=1_500_000).contains(&target.as_bps()), "{name}: {target:?}");
                assert!(control.pacing_rate().is_none_or(|rate| rate.as_bps() > 100_000), "{name}");
                assert!(control.packet_size().is_none_or(|size| (1..=1200).contains(&size)), "{name}");
                assert!(control.window().is_none_or(|window| window >= 300), "{name}");
            }
        }
    }
}

#[test]
fn unknown_parameters_are_refused_by_name() {
    for text in ["chosen.nada.tau = 1", "chosen.gcc.dialect = 'trendline'", "chosen.prague.linux = true"] {
        assert!(parsed::<Chosen>(text).is_err(), "{text}");
    }
}
