//! Prague for media, dialect `udp`: UDP Prague (L4STeam/udp_prague), a scalable congestion control that answers to the share of marks and
//! meets RFC 9331 §4.3.
//!
//! [`udp::UdpPrague`] is its arithmetic without an interface. Here it gets the counters that a report says; the round trip is that of each
//! packet, without the time for which the receiver held the report back.

#[cfg(test)]
mod tests;
pub mod udp;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::{Ecn, Probe};

use super::{Feedback, MediaContext, MediaControl, MediaControlConfig, Sent};
use udp::{Counters, Limits, UdpPrague};

/// UDP Prague has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl MediaControlConfig for Config {
    fn build(&self, seat: &MediaContext) -> Box<dyn MediaControl> {
        let [start_rate, min_rate, max_rate] =
            [seat.start_rate, seat.min_rate, seat.max_rate].map(|rate| (rate.as_bps() / 8).max(1));
        let limits = Limits { start_rate, min_rate, max_rate, packet: u64::from(seat.packet.max(1)) };
        Box::new(Prague {
            core: UdpPrague::new(limits, 0),
            counters: Counters::default(),
            sent: 0,
            now: Instant::ZERO,
            path_since: Instant::ZERO,
            in_flight: 0,
            written_off: 0,
            heard_at: None,
        })
    }

    /// As UDP Prague's receiver reports by default (RFC8888_ACKPERIOD).
    fn feedback_interval(&self) -> Duration {
        Duration::from_millis(25)
    }

    fn is_l4s(&self) -> bool {
        true
    }
}

/// The algorithm in the seat of a flow.
struct Prague {
    core: UdpPrague,
    counters: Counters,
    sent: i64,
    /// The last instant of which it knows: its pacing rate changes in the middle of a round.
    now: Instant,
    /// Packets that were sent before took another path: their round trips do not count.
    path_since: Instant,
    in_flight: u64,
    /// Bytes in flight that do not count any more, since nothing has come back for too long.
    written_off: u64,
    /// When the last report came, or the first packet left that had none before it.
    heard_at: Option<Instant>,
}

impl Prague {
    /// When the flow is given up for silent: a second after the last report while the window is full.
    fn silent_at(&self) -> Option<Instant> {
        let is_full = self.in_flight + self.core.packet() > self.allowed();
        self.heard_at.filter(|_| is_full).map(|heard| heard + SILENCE)
    }

    fn turns_at(&self) -> Option<Instant> {
        let turns = Instant::ZERO + Duration::from_micros(self.core.turns_at().max(0) as u64);
        (self.now < turns).then_some(turns)
    }

    fn allowed(&self) -> u64 {
        (self.core.packet_window().saturating_mul(self.core.packet())).saturating_add(self.written_off)
    }
}

impl MediaControl for Prague {
    fn on_sent(&mut self, sent: &Sent) {
        self.now = sent.now;
        self.sent += 1;
        self.in_flight = sent.in_flight;
        self.heard_at.get_or_insert(sent.now);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.now = feedback.now;
        self.heard_at = Some(feedback.now);
        self.in_flight = feedback.in_flight;
        self.written_off = 0;
        let mut has_arrivals = false;
        for fate in feedback.packets {
            let Some(arrival) = fate.arrival else {
                self.counters.lost += 1;
                continue;
            };
            has_arrivals = true;
            self.counters.received += 1;
            self.counters.ce += i64::from(arrival.ecn == Ecn::Ce);
            if fate.sent_at >= self.path_since {
                let held = feedback.reported_at.since(arrival.at);
                self.core.on_rtt(us(feedback.now.since(fate.sent_at).saturating_sub(held)));
            }
        }
        // Like UDP Prague, nothing is done about losses until a packet has arrived behind them.
        if has_arrivals {
            self.core.on_ack(us(feedback.now.since(Instant::ZERO)), self.counters, self.sent);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.turns_at().into_iter().chain(self.silent_at()).min()
    }

    fn on_timeout(&mut self, now: Instant) {
        self.now = now;
        if self.silent_at().is_some_and(|at| at <= now) {
            self.core.reset(us(now.since(Instant::ZERO)));
            self.written_off = self.in_flight;
            self.heard_at = Some(now);
        }
    }

    fn on_path_change(&mut self, now: Instant) {
        self.path_since = now;
        self.core.forget_path();
    }

    fn target(&self) -> BitRate {
        BitRate::from_bps(self.core.rate().saturating_mul(8))
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        let now = us(self.now.since(Instant::ZERO));
        Some(BitRate::from_bps(self.core.pacing_rate(now).saturating_mul(8)))
    }

    fn burst(&self) -> u64 {
        self.core.burst().saturating_mul(self.core.packet())
    }

    fn packet_size(&self) -> Option<u32> {
        u32::try_from(self.core.packet()).ok()
    }

    fn window(&self) -> Option<u64> {
        Some(self.allowed())
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("prague.alpha", self.core.alpha() as f64 / f64::from(1 << 20));
        probe.value("prague.srtt_ms", self.core.srtt() as f64 / 1e3);
        probe.value("prague.packet_bytes", self.core.packet() as f64);
        probe.value("prague.quiet_rtts", self.core.rtts_to_growth() as f64);
    }
}

fn us(duration: Duration) -> i64 {
    (duration.as_nanos() / 1_000) as i64
}

/// A sender whose window is full waits this long for a report (UDP Prague's SND_TIMEOUT).
const SILENCE: Duration = Duration::from_secs(1);
