//! A congestion controller of the core in the place that QUIC gives it (RFC 9002 §7): packets are numbered and never sent again, windows are
//! reduced for a lost packet that was sent after the last reduction (§7.3.2), and the flight size of a reduction is the window (App. B).

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::net::{Histogram, Probe, What};
use lasthop_core::transport::congestion::{
    AckSample, Begun, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, LostSegment, Sent,
};
use lasthop_core::transport::tcp::delivery::Delivery;

use super::implementation::{Implementation, Pacing};

/// Bytes of a packet; it has no headers.
pub const PACKET: u64 = 1_200;

/// The controller, and the state of its connection.
pub struct Quic {
    control: Box<dyn CongestionControl>,
    pacing: Pacing,
    records: bool,
    /// The bytes counted towards the next growth outlast a reduction.
    keeps_count: bool,
    delivery: Delivery,
    /// Packets sent up to this time, in µs, were sent before the last reduction; `None` before the first.
    cut_at: Option<u64>,
    /// Bytes that are counted towards the next growth in congestion avoidance, and bytes still to be counted.
    counted: u64,
    carried: u64,
    /// Packets up to this one were sent when the window was full.
    full_to: u64,
    /// Packets up to this one were in flight when the last loss was seen.
    recover: u64,
    lost: u64,
}

/// An acknowledged packet. Times are in µs, round trips in ns.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub now: u64,
    pub number: u64,
    pub sent_at: u64,
    pub srtt: u64,
    pub rttvar: u64,
    /// Packets in flight after it, those that it shows lost included.
    pub in_flight: u64,
    /// The first packet that is still in flight, and the one that is sent next.
    pub first: u64,
    /// See `first`.
    pub next: u64,
    /// The application writes less than the path takes.
    pub app_limited: bool,
}

impl Quic {
    pub fn new(implementation: &Implementation) -> Self {
        let seat = EndpointContext {
            smss: PACKET as u32,
            header: 0,
            options: 0,
            initial_window: implementation.initial_window,
            initial_ssthresh: u64::MAX,
            sack: true,
            flow: 0,
            seed: 1,
            begun: Begun::default(),
        };
        let control = implementation.congestion.config().build(&seat);
        let records = control.wants().records;
        Self {
            control,
            pacing: implementation.pacing,
            records,
            keeps_count: implementation.keeps_count,
            delivery: Delivery::new(true),
            cut_at: implementation.cut_at_start.then_some(0),
            counted: 0,
            carried: 0,
            full_to: 0,
            recover: 0,
            lost: 0,
        }
    }

    pub fn window(&self) -> u64 {
        self.control.window()
    }

    pub fn ssthresh(&self) -> Option<u64> {
        self.control.ssthresh()
    }

    /// Bytes per second that may leave, with this smoothed round trip, in ns.
    pub fn rate(&self, srtt: Option<u64>) -> Option<u64> {
        let (windows, initial) = match self.pacing {
            Pacing::Own => return self.control.pacing_rate().map(|rate| rate.as_bps() / 8),
            Pacing::Windows { slow_start, avoidance, initial } => {
                let is_slow_start = self.ssthresh().is_none_or(|ssthresh| self.window() < ssthresh);
                (if is_slow_start { slow_start } else { avoidance }, initial)
            }
        };
        let rtt = srtt.map(seconds).or(initial)?;
        Some((windows * self.window() as f64 / rtt) as u64)
    }

    /// The window has no room for another packet.
    pub fn on_full(&mut self, next: u64) {
        self.full_to = next;
    }

    /// The window has room, and the application has nothing.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.delivery.on_app_limited(in_flight * PACKET);
    }

    /// Packet `number` leaves; with it `in_flight` packets are in flight.
    pub fn on_sent(&mut self, now: u64, number: u64, in_flight: u64, srtt: Option<u64>, more: bool) {
        let in_flight = in_flight * PACKET;
        self.delivery.on_send(instant(now), number - 1, in_flight == PACKET, in_flight, self.lost);
        if self.control.wants().sends {
            let srtt = Duration::from_nanos(srtt.unwrap_or_default());
            let app_limited = self.delivery.is_app_limited();
            self.control.on_sent(&Sent {
                now: instant(now),
                bytes: PACKET,
                in_flight,
                more,
                app_limited,
                srtt,
                rto: Duration::from_secs(1),
            });
        }
    }

    /// A packet is acknowledged, and shows `lost` ones to be so, with the times at which they were sent.
    ///
    /// Controllers with records get losses first, as their trait has it. In the stacks with a window alone growth came first.
    pub fn on_ack(&mut self, acked: &Acked, lost: &[(u64, u64)]) {
        let was_recovering = acked.number <= self.recover;
        if self.records {
            self.on_lost(acked.now, acked.next, lost, PACKET);
        }
        let window = self.window();
        let recovering = if self.records {
            was_recovering || acked.first <= self.recover
        } else {
            self.cut_at.is_some_and(|cut| acked.sent_at <= cut)
        };
        let grows = !recovering && !acked.app_limited;
        let given = if self.keeps_count && grows { (PACKET + self.carried).min(window.max(PACKET)) } else { PACKET };
        let rtt = Duration::from_nanos((acked.now - acked.sent_at) * 1_000);
        let lost_bytes = lost.len() as u64 * PACKET;
        let (number, first) = (acked.number - 1, acked.first - 1);
        let rate = self.delivery.on_ack(instant(acked.now), PACKET, number, first, self.lost, Some(rtt));
        self.control.on_ack(&AckSample {
            now: instant(acked.now),
            acked: given,
            lost: lost_bytes,
            prior_in_flight: (acked.in_flight + 1) * PACKET,
            in_flight: acked.in_flight * PACKET - lost_bytes,
            rtt: Some(rtt),
            srtt: Duration::from_nanos(acked.srtt),
            rttvar: Duration::from_nanos(acked.rttvar),
            delivered: self.delivery.bytes(),
            rate,
            ack_every: 1,
            round: self.delivery.round().unwrap_or_default(),
            window_limited: if self.records { acked.number <= self.full_to } else { !acked.app_limited },
            recovering,
            ..AckSample::default()
        });
        if self.keeps_count && grows {
            self.count(window, given);
        }
        if !self.records {
            self.on_lost(acked.now, acked.next, lost, 0);
        }
        if self.control.holds_back() {
            self.delivery.on_app_limited(acked.in_flight * PACKET - lost_bytes);
        }
    }

    /// The window was `before`, and `given` bytes were counted, or it grew by them in slow start. Bytes above the threshold count then.
    fn count(&mut self, before: u64, given: u64) {
        let window = self.window();
        let threshold = self.ssthresh().unwrap_or(u64::MAX);
        if before < threshold {
            self.carried = window.saturating_sub(threshold);
            return;
        }
        self.carried = self.carried + PACKET - given;
        self.counted += given;
        if window > before {
            self.counted = self.counted.saturating_sub(before);
        }
    }

    /// The timer finds packets lost.
    pub fn on_timer(&mut self, now: u64, next: u64, lost: &[(u64, u64)]) {
        self.on_lost(now, next, lost, 0);
    }

    /// Packets are lost, and `next` is sent next; `newly` bytes of this acknowledgement are not counted as delivered yet.
    fn on_lost(&mut self, now: u64, next: u64, lost: &[(u64, u64)], newly: u64) {
        let Some(newest) = lost.iter().map(|(_, sent_at)| *sent_at).max() else { return };
        let sent_before = now;
        let now = instant(now);
        if self.cut_at.is_none_or(|cut| newest > cut) {
            self.cut_at = Some(sent_before);
            self.recover = next - 1;
            self.carried += std::mem::take(&mut self.counted);
            let event = CongestionEvent {
                now,
                kind: CongestionKind::Loss,
                flight: self.window(),
                lost: self.lost,
                resent: false,
            };
            self.control.on_congestion(&event);
        }
        for (number, _) in lost {
            self.lost += PACKET;
            let Some(record) = self.delivery.record(number - 1).filter(|_| self.records) else { continue };
            let delivered = self.delivery.bytes() + newly;
            let start = (number - 1) * PACKET;
            self.control.on_lost(&LostSegment { now, start, bytes: PACKET, lost: self.lost, delivered, record });
        }
    }

    /// The state of BBR's machine, if it is that.
    pub fn bbr_state(&self) -> Option<f64> {
        let mut state = BbrState(None);
        self.control.sample(&mut state);
        state.0
    }
}

/// Reads one value of a controller.
struct BbrState(Option<f64>);

impl Probe for BbrState {
    fn part(&mut self, _: What, _: &str) {}

    fn value(&mut self, name: &'static str, value: f64) {
        if name == "bbr_state" {
            self.0 = Some(value);
        }
    }

    fn distribution(&mut self, _: &'static str, _: f64, _: &Histogram) {}
}

/// Of ns, rounded as the standard library's `Duration::as_secs_f64` is.
fn seconds(ns: u64) -> f64 {
    (ns / 1_000_000_000) as f64 + (ns % 1_000_000_000) as f64 / 1e9
}

fn instant(us: u64) -> Instant {
    Instant::from_nanos(us.saturating_mul(1_000))
}
