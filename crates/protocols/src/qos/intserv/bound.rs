//! The delay that guaranteed service promises (RFC 2212, End-to-End Behavior).

use lasthop_net::engine::{BitRate, Bytes, Duration};

/// What the sender says of its traffic (RFC 2215 §3.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficSpec {
    /// The token rate r.
    pub rate: BitRate,
    /// The bucket b.
    pub bucket: Bytes,
    /// The peak rate p; `None` if there is no limit.
    pub peak: Option<BitRate>,
    /// The largest packet M.
    pub packet: Bytes,
}

/// By how much the path's schedulers lag behind the fluid model, summed over the hops (RFC 2212, Network Element Data Handling Requirements).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathError {
    /// C_tot: the part that shrinks with the reserved rate.
    pub bytes: Bytes,
    /// D_tot: the part that does not.
    pub time: Duration,
}

impl PathError {
    /// With the error of one more hop that serves by weighted fair queueing: C = M, D = the time of `others` at the rate of the link (RFC
    /// 2212, Guidelines for Implementors). With the clock of the fluid system `others` is the largest packet of any flow (Parekh and
    /// Gallager 1994), with the clock of the packet in service the sum of the largest packet of each other queue (Golestani 1994).
    #[must_use]
    pub fn behind_fair_queue(self, packet: Bytes, others: Bytes, link: BitRate) -> Self {
        let time = Duration::from_secs_f64(others.get() as f64 / link.as_bytes_per_s());
        Self { bytes: Bytes::new(self.bytes.get() + packet.get()), time: self.time + time }
    }
}

/// The longest time that a packet waits in queues, if `reserved` is at least the token rate; propagation comes
/// on top.
pub fn queueing_delay(spec: &TrafficSpec, reserved: BitRate, error: &PathError) -> Duration {
    let [b, m, c] = [spec.bucket, spec.packet, error.bytes].map(|bytes| bytes.get() as f64);
    let rate = reserved.as_bytes_per_s();
    let fixed = error.time.as_secs_f64();
    let seconds = match spec.peak.map(BitRate::as_bytes_per_s) {
        // RFC 2212, End-to-End Behavior, the case p > R ≥ r.
        Some(peak) if peak > rate => {
            let r = spec.rate.as_bytes_per_s();
            (b - m) / rate * (peak - rate) / (peak - r) + (m + c) / rate + fixed
        }
        // The case R ≥ p ≥ r.
        Some(_) => (m + c) / rate + fixed,
        // p without limit.
        None => (b + c) / rate + fixed,
    };
    Duration::from_secs_f64(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(reserved: u64, peak: Option<u64>) -> f64 {
        let spec = TrafficSpec {
            rate: BitRate::from_bps(8 * 8_000),
            bucket: Bytes::new(2_000),
            peak: peak.map(|p| BitRate::from_bps(8 * p)),
            packet: Bytes::new(1_000),
        };
        let error = PathError { bytes: Bytes::new(2_000), time: Duration::from_millis(4) };
        queueing_delay(&spec, BitRate::from_bps(8 * reserved), &error).as_secs_f64()
    }

    #[test]
    fn bounds_are_those_of_rfc_2212() {
        // By hand, in bytes: (2000 − 1000)/R · (p − R)/(p − r) + (1000 + 2000)/R + 0.004.
        for (reserved, peak, expected) in [
            (8_000, Some(16_000), 0.504),
            // 1000/12000 · 4000/8000 + 3000/12000 + 0.004.
            (12_000, Some(16_000), 0.295_666_667),
            // R ≥ p: 3000/20000 + 0.004.
            (20_000, Some(16_000), 0.154),
            // No limit: 4000/8000 + 0.004.
            (8_000, None, 0.504),
        ] {
            let got = bound(reserved, peak);
            assert!((got - expected).abs() < 1e-9, "R {reserved}, p {peak:?}: {got}");
        }
    }

    #[test]
    fn errors_add_up_hop_by_hop() {
        let (packet, largest) = (Bytes::new(500), Bytes::new(1_500));
        let hop = |error: PathError, mbps| error.behind_fair_queue(packet, largest, BitRate::from_mbps(mbps));
        let error = hop(hop(PathError::default(), 10), 2);
        // 1500 B take 1.2 ms at 10 Mbit/s, 6 ms at 2.
        assert_eq!(error, PathError { bytes: Bytes::new(1_000), time: Duration::from_nanos(7_200_000) });
    }
}
