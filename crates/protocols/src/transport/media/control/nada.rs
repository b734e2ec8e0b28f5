//! NADA (RFC 8698): one congestion signal of queueing delay, loss and marks; the rate follows it.
//!
//! The sender does all of it, from reports on each packet (§5.3). [`Nada`] is the algorithm without an interface: packets go in, r_ref comes
//! out. [`Config`] seats it as a [`MediaControl`], with the rate shaping buffer of §5.2.2 behind it.

mod algorithm;
mod history;
mod intervals;
#[cfg(test)]
mod tests;

pub use algorithm::{Bounds, Nada};
pub use history::Packet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::{Ecn, Probe};

use super::{Feedback, MediaContext, MediaControl, MediaControlConfig, Sent};

/// NADA's parameters that belong to a flow (RFC 8698, Table 2); RMIN and RMAX are `min_rate` and `max_rate`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// PRIO: the weight of the flow; flows on one bottleneck share it in proportion. Default: 1 (Table 2).
    pub prio: f64,
    /// XREF, the reference congestion level, ms: the congestion signal at which a flow of weight 1 stays at its highest rate. Default: 10
    /// (Table 2).
    pub xref_ms: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { prio: 1.0, xref_ms: 10.0 }
    }
}

impl MediaControlConfig for Config {
    fn build(&self, seat: &MediaContext) -> Box<dyn MediaControl> {
        let [min, max, start] = [seat.min_rate, seat.max_rate, seat.start_rate].map(|rate| rate.as_bps() as f64);
        Box::new(Controller { nada: Nada::new(*self, Bounds { min, max }, start), queued: 0 })
    }

    fn feedback_interval(&self) -> Duration {
        DELTA
    }

    fn check(&self) -> Result<(), Fault> {
        for (field, value) in [("prio", self.prio), ("xref_ms", self.xref_ms)] {
            if !(value > 0.0 && value <= 1e6) {
                return Err(Fault::new(field, format!("{field} is {value}"), "expected a number above 0"));
            }
        }
        Ok(())
    }
}

/// The algorithm in its seat.
struct Controller {
    nada: Nada,
    /// Bytes in the rate shaping buffer (buffer_len).
    queued: u64,
}

impl Controller {
    /// By how much encoder and network are asked for different rates, bit/s (§5.2.2, equations 11 and 12).
    fn shaping(&self) -> f64 {
        shaping(self.nada.r_ref(), self.queued)
    }
}

impl MediaControl for Controller {
    fn on_sent(&mut self, sent: &Sent) {
        self.nada.begin(sent.now);
        self.queued = sent.queued;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.queued = feedback.queued;
        for fate in feedback.packets {
            // A loss is a gap in the numbers of those that arrived (§5.1.2).
            let Some(arrival) = fate.arrival else { continue };
            self.nada.on_arrival(&Packet {
                number: fate.number,
                bytes: fate.bytes,
                sent_at: fate.sent_at,
                arrived_at: arrival.at,
                acked_at: feedback.now,
                marked: arrival.ecn == Ecn::Ce,
            });
        }
        if self.nada.since_update(feedback.now).is_some_and(|passed| passed.as_nanos() * 2 >= DELTA.as_nanos()) {
            self.nada.update(feedback.now);
        }
    }

    fn on_path_change(&mut self, now: Instant) {
        self.nada.forget_path(now);
    }

    /// r_vin (equation 13).
    fn target(&self) -> BitRate {
        bit_rate((self.nada.r_ref() - self.shaping()).max(self.nada.bounds().min))
    }

    /// r_send (equation 14).
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(bit_rate((self.nada.r_ref() + self.shaping()).min(self.nada.bounds().max)))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("nada.r_ref", self.nada.r_ref());
        probe.value("nada.x_curr_ms", self.nada.x_curr());
        probe.value("nada.queue_ms", self.nada.queue_ns() as f64 / 1e6);
        probe.value("nada.p_loss", self.nada.p_loss());
        probe.value("nada.p_mark", self.nada.p_mark());
        probe.value("nada.gradual", f64::from(u8::from(self.nada.is_gradual())));
    }
}

/// Equations 11 and 12 with `queued` bytes in the buffer, bit/s.
fn shaping(r_ref: f64, queued: u64) -> f64 {
    (0.05 * r_ref).min(BETA * 8.0 * queued as f64 * FPS)
}

fn bit_rate(bps: f64) -> BitRate {
    // A cast from float saturates, and takes NaN to zero.
    BitRate::from_bps(libm::round(bps) as u64)
}

/// DELTA: the target interval of reports, and of updates (Table 2).
const DELTA: Duration = Duration::from_millis(100);
/// FPS: the frame rate of the video (Table 2).
const FPS: f64 = 30.0;
/// BETA_S and BETA_V, of the outgoing and of the encoder's rate (Table 2).
const BETA: f64 = 0.1;
