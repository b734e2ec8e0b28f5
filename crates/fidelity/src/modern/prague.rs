//! UDP Prague (L4STeam/udp_prague e8e34353, `prague_cc.cpp`): packets sent, acknowledgements, and the state after each.

use std::path::Path;

use lasthop_core::transport::media::control::prague::udp::{Counters, Limits, Mode, State, UdpPrague};

use super::log::{Log, Row, Tally};
use crate::report::Outcome;

/// Rows `X` (a packet sent), `A` (an acknowledgement) and `O` (the state after the one before it). The defaults of the code hold.
pub fn replay(file: &Path) -> Result<Outcome, String> {
    let log = Log::read(file)?;
    let mut tally = Tally::default();
    // Its clock skips 0.
    let mut prague = UdpPrague::new(Limits::default(), 1);
    let mut newest = i64::MIN;
    let mut number = 0;
    for row in log.rows() {
        match row.text(0) {
            "X" => {
                number += 1;
                tally.equal(&row, "bytes of a packet", prague.packet(), row.value(2)?);
                tally.equal(&row, "number of a packet", number, row.value(3)?);
            }
            "A" => {
                let [now, timestamp, echoed, received, ce, lost, sent] = row.values(1)?;
                tally.equal(&row, "packets sent", number, sent);
                // A timestamp of the past gives no round trip.
                if prague.state() == State::Init || timestamp >= newest {
                    prague.on_rtt(now - echoed);
                    newest = timestamp;
                }
                prague.on_ack(now, Counters { received, ce, lost }, sent);
            }
            "O" => compare(&mut tally, &row, &prague)?,
            _ => return Err(row.unknown()),
        }
    }
    tally.outcome()
}

fn compare(tally: &mut Tally, row: &Row<'_>, prague: &UdpPrague) -> Result<(), String> {
    let state = match prague.state() {
        State::Init => 0,
        State::Avoidance => 1,
        State::InLoss => 2,
        State::InCwr => 3,
    };
    let mode = match prague.mode() {
        Mode::Window => 0,
        Mode::Rate => 1,
    };
    let ours = [
        ("srtt", i128::from(prague.srtt())),
        ("vrtt", i128::from(prague.vrtt())),
        ("alpha", i128::from(prague.alpha())),
        ("state", state),
        ("mode", mode),
        ("quiet round trips", i128::from(prague.rtts_to_growth())),
        ("rate", i128::from(prague.rate())),
        ("window", i128::from(prague.window())),
        ("packet window", i128::from(prague.packet_window())),
        ("burst", i128::from(prague.burst())),
        ("packet", i128::from(prague.packet())),
    ];
    for (at, (what, ours)) in ours.into_iter().enumerate() {
        tally.equal(row, what, ours, row.value(at + 2)?);
    }
    Ok(())
}
