//! XCP's sender (Katabi, Handley, Rohrs 2002 §3.3; draft-falk-xcp-spec): routers say by how much
//! its throughput is to change, and the window follows. To a loss it reacts as Reno does.
//!
//! Routers count bytes on the wire, the window counts payload: a change of throughput is converted
//! by the sizes of a full segment. Segments leave at the pace of a window in each round trip.
//!
//! The alternative that keeps a rate has no window: the change is added to the rate, and segments
//! leave at it. Before the first round trip is measured there is no rate, but the initial window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::{CongestionHeader, Words};

use crate::transport::congestion::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule,
};

/// What XCP's congestion header adds to every packet, between IP and TCP (draft-falk-xcp-spec; ns-2's
/// `XCP_HDR_LEN`).
pub const HEADER_BYTES: u32 = 20;

/// XCP's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Keep a rate instead of a window: feedback is added to it, and segments leave at it whatever
    /// is in flight. Profile `rfc` only. Default: off.
    pub rate_based: bool,
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Xcp::new(*self, seat))
    }

    fn is_explicit(&self) -> bool {
        true
    }
}

/// A controller to which routers say its rate.
pub trait Explicit {
    /// The congestion header of a segment of this size on the wire that is about to leave. `more` data wait behind it.
    fn congestion_header(&mut self, srtt: Duration, size: u32, more: bool) -> CongestionHeader;

    /// Routers grant this change of throughput, bytes/s.
    fn on_feedback(&mut self, change: f64);
}

/// The sender.
#[derive(Clone, Debug)]
pub struct Xcp {
    smss: f64,
    /// Bytes on the wire of a full segment.
    wire: f64,
    /// The part of them that pacing counts: all but options.
    paced: f64,
    /// What it keeps.
    kept: Kept,
    /// The smoothed round-trip time, s; 0 before the first sample. While none is known of a new path it is that of the old one.
    srtt: f64,
}

/// What the sender keeps.
#[derive(Clone, Debug)]
enum Kept {
    /// A window, bytes of payload.
    Window(f64),
    /// Bytes of payload, while there is no rate.
    FirstWindow(f64),
    /// A rate, bytes on the wire per second.
    Rate(f64),
}

impl Xcp {
    /// With the initial window.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let paced = seat.smss + seat.header;
        let window = seat.initial_window as f64;
        Self {
            smss: f64::from(seat.smss),
            wire: f64::from(paced + seat.options),
            paced: f64::from(paced),
            kept: if config.rate_based { Kept::FirstWindow(window) } else { Kept::Window(window) },
            srtt: 0.0,
        }
    }

    fn set_window(&mut self, bytes: u64) {
        let bytes = (bytes as f64).clamp(self.smss, MOST_WINDOW);
        match &mut self.kept {
            Kept::Window(window) | Kept::FirstWindow(window) => *window = bytes,
            Kept::Rate(rate) => *rate = bytes / self.smss * self.wire / self.srtt,
        }
    }

    /// Its throughput, bytes on the wire per second.
    fn throughput(&self) -> f64 {
        match self.kept {
            Kept::Window(window) | Kept::FirstWindow(window) => window / self.smss * self.wire / self.srtt,
            Kept::Rate(rate) => rate,
        }
    }

    fn set_throughput(&mut self, throughput: f64) {
        // One segment in a round trip at least.
        let throughput = throughput.max(self.wire / self.srtt);
        match &mut self.kept {
            Kept::Window(window) | Kept::FirstWindow(window) => {
                *window = (throughput * self.srtt / self.wire * self.smss).clamp(self.smss, MOST_WINDOW);
            }
            Kept::Rate(rate) => *rate = throughput.min(MOST),
        }
    }

    fn hear_srtt(&mut self, srtt: Duration) {
        if srtt == Duration::ZERO {
            return;
        }
        self.srtt = srtt.as_secs_f64();
        if let Kept::FirstWindow(_) = self.kept {
            self.kept = Kept::Rate(self.throughput());
        }
    }
}

impl Explicit for Xcp {
    /// x is rtt·s/cwnd with s the size of this very packet (Katabi, Handley, Rohrs 2002 §3.5.2): over a round trip it adds up to no more
    /// than the round-trip time, however the data are cut into packets, so a router counts flows by it.
    fn congestion_header(&mut self, srtt: Duration, size: u32, more: bool) -> CongestionHeader {
        self.hear_srtt(srtt);
        let (rtt, mut x, mut delta) = (self.srtt, 0.0, 0.0);
        if rtt > 0.0 {
            x = f64::from(size) / self.throughput();
            delta = if more { MOST - self.throughput() } else { 0.0 };
        }
        CongestionHeader { rtt: Words::new(rtt), x: Words::new(x), delta: Words::new(delta) }
    }

    fn on_feedback(&mut self, change: f64) {
        if self.srtt > 0.0 {
            self.set_throughput(self.throughput() + change);
        }
    }
}

impl CongestionControl for Xcp {
    fn on_ack(&mut self, sample: &AckSample) {
        self.hear_srtt(sample.srtt);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match &mut self.kept {
            // RFC 5681 §3.1, equation (4).
            Kept::Window(window) | Kept::FirstWindow(window) => {
                *window = (event.flight as f64 / 2.0).max(2.0 * self.smss);
            }
            Kept::Rate(rate) => *rate = (*rate / 2.0).max(2.0 * self.wire / self.srtt),
        }
    }

    fn on_timeout(&mut self, _now: Instant, _flight: u64, _again: bool) {
        self.set_window(self.smss as u64);
    }

    fn window(&self) -> u64 {
        match self.kept {
            Kept::Window(window) | Kept::FirstWindow(window) => window as u64,
            Kept::Rate(_) => MOST_WINDOW as u64,
        }
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        let known = self.srtt > 0.0;
        known.then(|| BitRate::from_bps((8.0 * self.throughput() * self.paced / self.wire).max(1.0) as u64))
    }

    /// A rate has no window that could be lowered to the flight size. A rate above that of the window at a start begins with it anew.
    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        let kept = match (rule, &self.kept) {
            (WindowRule::Recovery(_), Kept::Rate(_)) => return,
            (WindowRule::Start(_), Kept::Rate(rate)) => (rate * self.srtt / self.wire * self.smss) as u64,
            _ => self.window(),
        };
        if let Some(window) = rule.applied(kept) {
            self.set_window(window);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    /// A rate is that of before. What is in flight says nothing of it.
    fn on_undo(&mut self, undo: &Undo) {
        if !matches!(self.kept, Kept::Rate(_)) {
            self.set_window(undo.window);
        }
    }

    fn explicit(&mut self) -> Option<&mut dyn Explicit> {
        Some(self)
    }
}

/// The throughput that a sender asks for that has more to send: as much as there is, bytes/s
/// (ns-2.35).
const MOST: f64 = 1e24;

/// The largest window, bytes (RFC 7323 §2.3). Without a router that answers, a sender would get
/// what it asked for.
const MOST_WINDOW: f64 = (1 << 30) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Begun;

    /// A segment of 1000 B on the wire, a window of 24, and a round trip of 100 ms.
    fn sender(rate_based: bool) -> Xcp {
        let seat = EndpointContext {
            smss: 940,
            header: 40,
            options: HEADER_BYTES,
            initial_window: 24 * 940,
            initial_ssthresh: u64::MAX,
            sack: true,
            flow: 0,
            seed: 0,
            begun: Begun::default(),
        };
        Xcp::new(Config { rate_based }, &seat)
    }

    #[test]
    fn feedback_of_4000_bytes_per_second_is_0_4_segments() {
        // 24 segments in 100 ms are 240 000 B/s. 4000 B/s more are 400 B in a round trip.
        let mut xcp = sender(false);
        let header = xcp.congestion_header(Duration::from_millis(100), 1000, true);
        assert_eq!((header.rtt.get(), header.delta.get()), (0.1, MOST - 240_000.0));
        assert!((header.x.get() - 0.1 / 24.0).abs() < 1e-15);
        xcp.on_feedback(4000.0);
        let Kept::Window(window) = xcp.kept else { panic!("it keeps a window") };
        assert!((window / 940.0 - 24.4).abs() < 1e-9, "{window}");
        let rate = xcp.pacing_rate().unwrap().as_bps() as f64;
        assert!((rate - 24.4 * 980.0 * 8.0 / 0.1).abs() < 1.0, "without options: {rate}");
        assert_eq!(xcp.congestion_header(Duration::from_millis(100), 1000, false).delta.get(), 0.0);
    }

    #[test]
    fn packets_of_a_round_trip_add_up_to_the_round_trip_time_whatever_their_sizes() {
        // Katabi, Handley, Rohrs 2002 §3.5.2: x = rtt·s/cwnd. A window of 24 000 B on the wire.
        for rate_based in [false, true] {
            for sizes in [vec![1000; 24], vec![160; 150], [[1000; 20], [200; 20]].concat()] {
                let mut xcp = sender(rate_based);
                let x = |size| xcp.congestion_header(Duration::from_millis(100), size, true).x.get();
                let sum: f64 = sizes.into_iter().map(x).sum();
                assert!((sum - 0.1).abs() < 1e-12, "{sum}");
            }
        }
    }

    #[test]
    fn a_rate_takes_feedback_as_it_is_and_segments_leave_at_it() {
        let mut xcp = sender(true);
        assert_eq!((xcp.window(), xcp.pacing_rate()), (24 * 940, None));
        xcp.congestion_header(Duration::from_millis(100), 1000, true);
        xcp.on_feedback(4000.0);
        let rate = xcp.throughput();
        assert!((rate - 244_000.0).abs() < 1e-6, "{rate}");
        // A segment every s/X: 980 of 1000 bytes count.
        assert_eq!(xcp.pacing_rate().unwrap().as_bps(), 8 * 244_000 * 980 / 1000);
        assert_eq!(xcp.window(), 1 << 30, "nothing but the rate holds it back");
        xcp.on_rule(Instant::ZERO, WindowRule::Recovery(940));
        assert!((xcp.throughput() - rate).abs() < 1e-6);
        xcp.on_timeout(Instant::ZERO, 0, false);
        assert!((xcp.throughput() - 10_000.0).abs() < 1e-6, "a segment in a round trip");
    }

    #[test]
    fn a_rate_stays_while_no_round_trip_of_a_new_path_is_known_and_when_a_timeout_was_spurious() {
        let mut xcp = sender(true);
        xcp.congestion_header(Duration::from_millis(100), 1000, true);
        let paced = xcp.pacing_rate();
        assert!(paced.is_some());
        xcp.congestion_header(Duration::ZERO, 1000, true);
        xcp.on_feedback(0.0);
        assert_eq!(xcp.pacing_rate(), paced);
        xcp.on_undo(&Undo { now: Instant::ZERO, flight: 1 << 20, window: 1 << 20 });
        assert_eq!(xcp.pacing_rate(), paced);
        // RFC 5681 §4.1: after an idle time what ten segments a round trip are, if that is less.
        xcp.on_rule(Instant::ZERO, WindowRule::Start(1 << 20));
        assert!((xcp.throughput() - 240_000.0).abs() < 1e-6);
        xcp.on_rule(Instant::ZERO, WindowRule::Start(10 * 940));
        assert!((xcp.throughput() - 100_000.0).abs() < 1e-6, "{}", xcp.throughput());
    }

    #[test]
    fn a_window_falls_to_one_segment_at_most_and_does_not_exceed_what_tcp_can_say() {
        let mut xcp = sender(false);
        assert_eq!(xcp.congestion_header(Duration::ZERO, 1000, true).delta.get(), 0.0, "no round trip is known");
        xcp.on_feedback(4000.0);
        assert_eq!(xcp.window(), 24 * 940, "feedback means nothing without one");
        xcp.congestion_header(Duration::from_millis(100), 1000, true);
        xcp.on_feedback(-1e9);
        assert_eq!(xcp.window(), 940);
        xcp.on_feedback(MOST);
        assert_eq!(xcp.window(), 1 << 30);
    }
}
