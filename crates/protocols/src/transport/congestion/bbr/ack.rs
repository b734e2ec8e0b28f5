//! One acknowledgement as BBR reads it: the rate sample RS (draft-ietf-ccwg-bbr §2.3) and the connection's state C (§2.2) after it.

use lasthop_net::engine::{Duration, Instant};

use super::super::{AckSample, RateSample};

/// RS, and C at this acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    /// When.
    pub(super) now: Instant,
    /// RS.newly_acked: bytes delivered by it.
    pub(super) newly_acked: u64,
    /// C.delivered.
    pub(super) delivered: u64,
    /// C.inflight, after it and before it.
    pub(super) in_flight: u64,
    /// See `in_flight`.
    pub(super) prior_in_flight: u64,
    /// C.is_cwnd_limited.
    pub(super) cwnd_limited: bool,
    /// Whether losses are being repaired in fast recovery.
    pub(super) fast_recovery: bool,
    /// RS.rtt.
    pub(super) rtt: Option<Duration>,
    /// C.srtt; zero if there is none.
    pub(super) srtt: Duration,
    /// RS.delivery_rate, bytes/s; 0 if there is none.
    pub(super) rate: f64,
    /// RS.delivered.
    pub(super) volume: u64,
    /// RS.prior_delivered, if it delivered anything.
    pub(super) prior_delivered: Option<u64>,
    /// RS.tx_in_flight.
    pub(super) tx_in_flight: u64,
    /// RS.lost.
    pub(super) lost: u64,
    /// RS.is_app_limited.
    pub(super) app_limited: bool,
}

impl Ack {
    /// It delivered `newly_acked` bytes. What it says of segments that left before `since` is void: they took another path. So are rates into
    /// which deliveries of such segments enter: those of segments that left before the first of the new path was delivered, which is when
    /// C.delivered was `alone_from`.
    pub(super) fn new(sample: &AckSample, newly_acked: u64, since: Instant, alone_from: &mut Option<u64>) -> Self {
        let ack = Self {
            now: sample.now,
            delivered: sample.delivered,
            in_flight: sample.in_flight,
            prior_in_flight: sample.prior_in_flight,
            cwnd_limited: sample.window_limited,
            fast_recovery: sample.recovering,
            srtt: sample.srtt,
            ..Self::default()
        };
        let Some(rs) = sample.rate.filter(|rs| rs.record.sent_at >= since) else { return ack };
        let alone = rs.record.delivered >= *alone_from.get_or_insert(sample.delivered);
        Self {
            newly_acked,
            rtt: sample.rtt,
            rate: if alone { rate(&rs) } else { 0.0 },
            volume: if alone { rs.delivered } else { 0 },
            prior_delivered: Some(rs.record.delivered),
            tx_in_flight: rs.record.tx_in_flight,
            lost: rs.lost,
            app_limited: rs.record.app_limited || !alone,
            ..ack
        }
    }
}

/// RS.delivered / RS.interval (§4.1.2.3).
fn rate(rs: &RateSample) -> f64 {
    let interval = rs.interval.map_or(0.0, Duration::as_secs_f64);
    if interval > 0.0 { rs.delivered as f64 / interval } else { 0.0 }
}
