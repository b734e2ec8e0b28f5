//! Acknowledged mode against the standard's own order of events, and under any loss.

mod chaos;
mod discard;
mod timeline;

use crate::radio::rlc::bearer::{Bearer, Departure, delivered, in_order, ms, pair};
use crate::radio::rlc::pdu::{Control, Pdu, Reason, Status};
use crate::radio::rlc::{Header, um};
use lasthop_net::engine::{Bytes, Duration, Instant};

use super::config::{Discard, MaxDatCounts, Poll};
use super::sn_set::MODULUS;
use super::{Am, Config};

/// Both ends with the same parameters, on the bearer of 10 ms intervals and 25 ms from end to end.
fn bearer(config: &Config) -> Bearer<Am> {
    Bearer::new(pair(config, || Am::new(config)), Some(MODULUS)).keeping_departures()
}

/// Five PDUs of 38 B, the last with an indicator and no padding.
const FIVE_PDUS: u32 = 4 * 38 + 37;

fn status(departure: &Departure) -> &Status {
    match departure.pdu.control.as_deref() {
        Some(Control::Status(status)) => status,
        other => panic!("a report, not {other:?}"),
    }
}

/// A time in milliseconds.
fn in_ms(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}
