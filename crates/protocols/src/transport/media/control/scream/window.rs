//! The congestion window: back-off at loss, marks and delay, and growth.

use super::ticks::{PER_SECOND, Ticks};

/// kMultiplicativeIncreaseScalefactor: growth of a window far from congestion, a round-trip time (ScreamTx.h).
const MULTIPLICATIVE_INCREASE: f32 = 0.05;
/// kSrttVirtual: below this round-trip time the window grows more slowly, seconds (ScreamV2Tx.cpp).
pub(super) const VIRTUAL_RTT: f32 = 0.025;
/// kPostCongestionDelayRtts: round-trip times after congestion until growth is the full multiplicative one.
const POST_CONGESTION_RTTS: Ticks = 200;
/// kBytesInFlightHeadRoom: the window grows to this multiple of what was in flight.
const IN_FLIGHT_HEADROOM: f32 = 2.0;
/// The inflexion point is near while the window differs from it by less than an eighth.
const INFLEXION_SLOPE: f32 = 8.0;
/// Back-off at L4S marks is scaled down to a quarter at most, and so is growth near the inflexion point.
const LEAST_SCALE: f32 = 0.25;
/// kTotalAckedBitrateFraction: below this share of what arrived, the target has already fallen.
const ACKED_FRACTION: f32 = 0.8;
/// Round-trip times without congestion after which the window falls to what was in flight, at the first mark.
const LONG_QUIET_RTTS: f32 = 100.0;
/// kMinWindowHeadroom, and maxWindowHeadroom of the constructor: by how much bytes in flight may exceed the window.
const HEADROOM: [f32; 2] = [1.5, 3.0];

/// What the window reads of the rest of the controller, when it is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) now: Ticks,
    /// sRtt, in ticks and in seconds.
    pub(super) srtt: Ticks,
    /// See `srtt`.
    pub(super) srtt_s: f32,
    pub(super) mss: i64,
    /// latencyDiffCwndScale.
    pub(super) steadiness: f32,
    /// The most that was in flight lately, and in the interval before.
    pub(super) most_in_flight: [i64; 2],
    /// The target rate, that which arrived, and the highest that the encoder may produce, bit/s.
    pub(super) target: f32,
    /// See `target`.
    pub(super) acked: f32,
    /// See `target`.
    pub(super) max_rate: f32,
}

/// A reason to back off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Congestion {
    /// A packet was lost.
    Loss,
    /// Marks, where they are classic.
    ClassicCe,
    /// Marks, of which this is the average share; the queue's delay is not small.
    L4sCe { alpha: f32, low_delay: bool },
    /// The queue's delay, as if this share of packets were marked.
    Delay { alpha: f32 },
}

/// cwnd.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) bytes: i64,
    /// cwndMin.
    pub(super) least: i64,
    /// cwndI: where congestion was last met.
    inflexion: i64,
    /// It has not grown since.
    inflexion_is_set: bool,
    beta_loss: f32,
    beta_ecn: f32,
    /// lastCongestionDetectedT.
    congested_at: Ticks,
    /// Bytes that have left the flight since the last computation, and how many of them were marked.
    pub(super) acked: i64,
    /// See `acked`.
    pub(super) acked_ce: i64,
    /// The factor by which bytes in flight may exceed it.
    headroom: f32,
    /// cwndRatio: of the window, before it was computed, the share of a packet.
    pub(super) mss_share: f32,
    /// It is larger than bytes in flight allow.
    pub(super) application_limited: bool,
}

impl Window {
    pub(super) fn new(bytes: i64, beta_loss: f32, beta_ecn: f32) -> Self {
        Self {
            bytes,
            least: 0,
            inflexion: 1,
            inflexion_is_set: false,
            beta_loss,
            beta_ecn,
            congested_at: 0,
            acked: 0,
            acked_ce: 0,
            headroom: HEADROOM[1],
            mss_share: 0.001,
            application_limited: false,
        }
    }

    /// It is at least this.
    pub(super) fn set_least(&mut self, least: i64) {
        self.least = least;
        self.bytes = self.bytes.max(least);
    }

    /// The bytes that may be in flight: adaptive headroom, and one packet.
    pub(super) fn limit(&self, mss: i64) -> f32 {
        self.bytes as f32 * self.headroom + mss as f32
    }

    /// Computes it, after a report or several.
    pub(super) fn update(&mut self, congestion: Option<Congestion>, now: &Inputs) {
        let quiet = now.now.saturating_sub(self.congested_at);
        // postCongestionScale: how far the time of cautious growth has passed.
        let mut recovered = (quiet as f32 / (POST_CONGESTION_RTTS * now.srtt) as f32).min(1.0);
        self.mss_share = now.mss as f32 / self.bytes as f32;
        self.headroom = HEADROOM[0] + (HEADROOM[1] - HEADROOM[0]) * now.steadiness;
        // sclI: growth and back-off are small near the inflexion point.
        let distance = (self.bytes - self.inflexion) as f32 / self.inflexion as f32 * INFLEXION_SLOPE;
        let distance = (distance * distance).clamp(0.1, 1.0);

        if let Some(congestion) = congestion {
            if !self.inflexion_is_set {
                (self.inflexion, self.inflexion_is_set) = (self.bytes, true);
            }
            if let Congestion::L4sCe { .. } = congestion
                && quiet as f32 > LONG_QUIET_RTTS * now.srtt_s.max(VIRTUAL_RTT) * PER_SECOND as f32
            {
                self.bytes = self.bytes.min(now.most_in_flight[1]);
            }
            let factor = self.factor(congestion, distance, now);
            self.bytes = self.least.max((factor * self.bytes as f32) as i64);
            self.congested_at = now.now;
            recovered = 0.0;
        }
        self.grow(distance, recovered, now);
    }

    /// By what the window is multiplied.
    fn factor(&self, congestion: Congestion, distance: f32, now: &Inputs) -> f32 {
        let (alpha, low_delay) = match congestion {
            Congestion::Loss => return self.beta_loss,
            Congestion::ClassicCe => return self.beta_ecn,
            Congestion::L4sCe { alpha, low_delay } => (alpha, low_delay),
            Congestion::Delay { alpha } => (alpha, false),
        };
        let mut back_off = alpha / 2.0;
        if now.target < now.acked * ACKED_FRACTION {
            back_off *= LEAST_SCALE;
        }
        // updateCwnd: shared among those that fit into a round-trip time.
        back_off /= back_offs_per_rtt(now.srtt);
        if low_delay {
            back_off *= distance.max(LEAST_SCALE);
            back_off *= now.steadiness.clamp(LEAST_SCALE, 1.0);
        }
        1.0 - back_off
    }

    /// For what has left the flight without a mark.
    fn grow(&mut self, distance: f32, recovered: f32, now: &Inputs) {
        let unmarked = (self.acked - self.acked_ce) as f32;
        (self.acked, self.acked_ce) = (0, 0);
        let mut growth = unmarked * self.mss_share;
        growth *= distance.max(LEAST_SCALE);
        growth *= (now.srtt_s / VIRTUAL_RTT).min(1.0);
        growth *= now.steadiness.clamp(0.1, 1.0);
        let multiple = 1.0 + MULTIPLICATIVE_INCREASE * self.bytes as f32 / now.mss as f32;
        // In double precision there, as the literals are.
        let multiple = 1.0 + (f64::from(multiple) - 1.0) * f64::from(recovered) * f64::from(distance);
        growth *= multiple as f32;

        let most = now.most_in_flight[0].max(now.most_in_flight[1]);
        let allowed = f64::from(now.mss as f32 + most as f32 * IN_FLIGHT_HEADROOM);
        self.application_limited = allowed < self.bytes as f64;
        let before = self.bytes;
        let grown = self.bytes.saturating_add((growth + 0.5) as i64);
        if grown as f64 <= allowed && now.target < now.max_rate {
            self.bytes = grown;
        }
        if self.bytes > before {
            self.inflexion_is_set = false;
        }
        self.bytes = self.bytes.max(self.least);
    }
}

/// How many back-offs there can be in a round-trip time.
pub(super) fn back_offs_per_rtt(srtt: Ticks) -> f32 {
    (srtt as f32 / super::delay::BACK_OFF_INTERVAL as f32).max(1.0)
}
