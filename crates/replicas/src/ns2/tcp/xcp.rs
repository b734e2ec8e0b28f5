//! XCP over Reno (`Agent/TCP/Reno/XCP`; ns-2.35 `xcp/xcp-end-sys.cc`): routers say how the window
//! is to change, acknowledgements of new data bring their word, and nothing else makes it grow.
//! To losses it reacts as Reno does. What a duplicate acknowledgement brings is lost.
//!
//! Its round-trip time is an estimate of its own, in whole clock ticks like TCP's but with eight
//! bits behind the point. Where an event coincides with a tick, the sums of ns-2's clock decide on
//! which side it lies; it is asked if the network follows it.

use lasthop_net::net::{CongestionHeader, TcpOptions, Words};

use super::agent::{Ack, TcpAgent};
use super::reno;
use super::sender::Variant;

/// What XCP knows beyond Reno.
#[derive(Default)]
pub struct Xcp {
    /// The smoothed round-trip time, ticks times 256 (`xcp_srtt_`).
    srtt: i64,
    /// The same in seconds; 0 before the first sample of a connection (`srtt_estimate_`).
    estimate: f64,
}

impl Xcp {
    /// New data are acknowledged.
    fn new_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        self.sample(m, ack);
        m.new_ack_without_growth(ack);
        if let Some(feedback) = ack.feedback {
            let change = feedback * self.estimate / f64::from(m.settings.segment);
            m.set_cwnd((m.cwnd() + change).max(1.0));
        }
    }

    /// Takes a round-trip-time sample: the ticks of a clock that ticks at whole multiples
    /// (`XcpEndsys::rtt_update`).
    fn sample(&mut self, m: &mut TcpAgent, ack: &Ack) {
        let tick = m.settings.tick;
        let now = m.float_now().as_secs();
        let sent = m.echoed(ack.ts_echo).float;
        // The sender computes the time of sending back from the round-trip time.
        let sent = now - (now - sent.as_secs());
        let ticks = (now / tick) as i64 - (sent / tick) as i64;
        self.srtt = match self.srtt {
            0 => ticks << SRTT_BITS,
            srtt => srtt + ((ticks << DELTA_BITS) - ((srtt + (1 << (GAIN_BITS - 1))) >> GAIN_BITS)),
        };
        self.estimate = self.srtt as f64 * tick / f64::from(1 << SRTT_BITS);
    }
}

impl Variant for Xcp {
    fn on_ack(&mut self, m: &mut TcpAgent, ack: &Ack) {
        reno::on_ack(self, m, ack, |xcp, m| xcp.new_ack(m, ack));
    }

    fn on_timeout(&mut self, m: &mut TcpAgent) {
        reno::on_timeout(m);
        self.send_much(m, false, m.settings.max_burst);
    }

    /// ns-2 forgets the estimate, but keeps the mean for the next connection's first sample.
    fn reset(&mut self) {
        self.estimate = 0.0;
    }

    fn options(&mut self, m: &TcpAgent, window: i64) -> TcpOptions {
        let (rtt, mut x, mut delta) = (self.estimate, 0.0, 0.0);
        if rtt != 0.0 {
            let window = window as f64;
            x = rtt / window;
            delta = MOST - window * f64::from(m.settings.segment) / rtt;
        }
        TcpOptions::Congestion(CongestionHeader { rtt: Words::new(rtt), x: Words::new(x), delta: Words::new(delta) })
    }
}

/// Bits of the mean behind the binary point (`XCP_RTT_SHIFT`): those of the gain, 1/8
/// (`XCP_EXPO_SHIFT`), and five more (`XCP_DELTA_SHIFT`).
const SRTT_BITS: u32 = DELTA_BITS + GAIN_BITS;
const DELTA_BITS: u32 = 5;
const GAIN_BITS: u32 = 3;

/// The throughput that a sender asks for: as much as there is (`MAX_THROUGHPUT`), bytes/s.
const MOST: f64 = 1e24;
