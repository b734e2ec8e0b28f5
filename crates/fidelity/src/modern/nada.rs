//! NADA as ns3-rmcat computes it (cisco/ns3-rmcat adb3f8e5): packets sent, feedback in batches, and the state after each batch.
//!
//! Its code updates within a batch, after the first packet at which 100 ms have passed since the last update; or else at the end of the
//! batch if 50 ms have passed. It forgets what it sent 5 s ago, and passes over reports of packets that it does not know (any more). After a
//! pause it forgets that there were losses, but its log still has their intervals. That is done here; the rest is [`Nada`].

use std::collections::BTreeMap;
use std::path::Path;

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::transport::media::control::nada::{Bounds, Config, Nada, Packet};

use super::log::{Log, Row, Tally};
use crate::report::Outcome;

/// Rows `S` (time, seq), `F` (time, seq, time of arrival) and `U` (the state).
pub fn replay(file: &Path) -> Result<Outcome, String> {
    let log = Log::read(file)?;
    let mut tally = Tally::default();
    let mut nada = Nada::new(Config::default(), Bounds { min: R_MIN, max: R_MAX }, R_MIN);
    let mut sent: BTreeMap<u64, Instant> = BTreeMap::new();
    let mut next = 0;
    let mut intervals = (0.0, 0.0);
    for row in log.rows() {
        let now = us(row.value(0)?);
        match row.text(1) {
            "S" => {
                nada.begin(now);
                let number = row.value(2)?;
                sent.insert(number, now);
                next = number + 1;
                while sent.first_entry().is_some_and(|first| now.since(*first.get()) > REMEMBERED) {
                    sent.pop_first();
                }
            }
            "F" => {
                let number = row.value(2)?;
                if number >= next {
                    return Err(row.fault(&format!("packet {number} comes back and was not sent")));
                }
                let arrived_at = us(row.value(3)?);
                if let Some(sent_at) = sent.remove(&number) {
                    let packet = Packet { number, bytes: BYTES, sent_at, arrived_at, acked_at: now, marked: false };
                    nada.on_arrival(&packet);
                }
                update_after(&mut nada, now, DELTA);
                intervals = nada.loss_intervals().unwrap_or(intervals);
            }
            "U" => {
                update_after(&mut nada, now, Duration::from_nanos(DELTA.as_nanos() / 2));
                intervals = nada.loss_intervals().unwrap_or(intervals);
                compare(&mut tally, &row, &nada, intervals)?;
            }
            _ => return Err(row.unknown()),
        }
    }
    tally.outcome()
}

fn update_after(nada: &mut Nada, now: Instant, least: Duration) {
    if nada.since_update(now).is_some_and(|passed| passed >= least) {
        nada.update(now);
    }
}

fn compare(tally: &mut Tally, row: &Row<'_>, nada: &Nada, intervals: (f64, f64)) -> Result<(), String> {
    let (average, current) = intervals;
    let ours = [
        ("r_ref", nada.r_ref()),
        ("x_curr", nada.x_curr()),
        ("qdelay", nada.queue_ns() as f64 / 1e3),
        ("rtt", nada.rtt().as_nanos() as f64 / 1e3),
        ("plr", nada.p_loss()),
        ("recv", nada.r_recv()),
        ("losses", nada.lost() as f64),
        ("average loss interval", average),
        ("current loss interval", current),
        ("rmode", f64::from(u8::from(nada.is_gradual()))),
    ];
    for (at, (what, ours)) in ours.into_iter().enumerate() {
        tally.about(row, what, ours, row.value(at + 2)?, SHARE);
    }
    Ok(())
}

fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

/// Single precision adds up over updates: 7·10⁻⁷ in the logs here, 1.1·10⁻⁶ in others. Their index allows 10⁻⁴.
const SHARE: f64 = 1e-5;
/// RMIN and RMAX (RFC 8698, Table 2), bit/s; the flow begins at RMIN.
const R_MIN: f64 = 150e3;
const R_MAX: f64 = 1.5e6;
/// DELTA (Table 2).
const DELTA: Duration = Duration::from_millis(100);
/// 10 · MAX_INTER_PACKET_TIME: for how long it knows a packet that was sent.
const REMEMBERED: Duration = Duration::from_secs(5);
/// All packets of the logs.
const BYTES: u32 = 1_000;
