//! XCP's control law (Katabi, Handley, Rohrs 2002 §3.5, in the throughput form of ns-2.35 and
//! draft-falk-xcp-spec).
//!
//! Over a control interval it adds up the arrivals. At its end the efficiency controller says by how much all traffic together is to
//! change, φ, and the fairness controller how that is divided: increases go to all flows alike, decreases are in proportion to throughput.
//! Each departing packet carries its share away, until nothing remains to be given.
//!
//! It knows no packet and no clock. Rates are bytes/s.

use lasthop_net::net::operations::Operations;
use lasthop_net::net::packet::{CongestionHeader, Words};

/// Stability for all delays and numbers of flows: 0 < α < π/(4√2), β = α²√2 (§4.1); both as
/// ns-2.35 rounds them.
const ALPHA: f64 = 0.4;
const BETA: f64 = 0.226;
/// The part of the traffic that is shuffled in each interval (§3.5.2).
const GAMMA: f64 = 0.1;
/// A round-trip time above counts as this, and no interval is longer, s (ns-2.35).
const LONGEST: f64 = 1.0;
/// No control interval is shorter, s (ns-2.35).
const SHORTEST: f64 = 0.001;
/// No queue interval is shorter, s (ns-2.35).
const SHORTEST_QUEUE: f64 = 0.002;
/// Both before anything is known, s (ns-2.35).
pub const INITIAL: f64 = 0.05;

/// The controllers' state: a fixed amount, however many flows there are.
#[derive(Clone, Debug)]
pub struct Control {
    /// C.
    pub capacity: f64,
    /// Bytes that arrived in this interval.
    input: f64,
    /// Σx and Σ rtt·x over the packets of this interval, s and s².
    sum_x: f64,
    sum_rtt_x: f64,
    /// T_e, s.
    pub interval: f64,
    /// T_q, s.
    pub queue_interval: f64,
    /// d: the mean round-trip time, s.
    pub mean_rtt: f64,
    /// Q: the persistent queue, bytes; and the least seen in this queue interval.
    pub queue: f64,
    lowest: f64,
    /// The remaining increase and decrease to be given to packets.
    pub residue: [f64; 2],
    /// ξ_p, for each second of x, and ξ_n, for each byte.
    pub xi: [f64; 2],
    /// y, φ and h of the last interval.
    pub last: Interval,
    /// What arriving packets cost, and departing ones: those that know a round-trip time. Others
    /// cost an addition at most.
    pub work: [Operations; 2],
    /// How many there were.
    pub counted: [u64; 2],
}

/// x from the header of the paper, which has the window (bytes) in its place: rtt·s/cwnd (§3.2, Appendix
/// A). With that header a router computes it for each packet that arrives and for each that leaves.
pub fn x_of_window(work: &mut Operations, rtt: f64, size: f64, window: f64) -> f64 {
    let bytes = work.multiply(rtt, size);
    work.divide(bytes, window)
}

/// What the controllers found at the end of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// y: the input traffic.
    pub input: f64,
    /// φ: by how much it is to change.
    pub phi: f64,
    /// h: how much is taken and given again.
    pub shuffled: f64,
}

impl Control {
    /// In front of a link of this capacity.
    pub fn new(capacity: f64) -> Self {
        Self {
            capacity,
            input: 0.0,
            sum_x: 0.0,
            sum_rtt_x: 0.0,
            interval: INITIAL,
            queue_interval: INITIAL,
            mean_rtt: INITIAL,
            queue: 0.0,
            lowest: 0.0,
            residue: [0.0; 2],
            xi: [0.0; 2],
            last: Interval::default(),
            work: [Operations::default(); 2],
            counted: [0; 2],
        }
    }

    /// Bytes arrive that carry no congestion header.
    pub fn on_other(&mut self, size: u32) {
        self.input += f64::from(size);
    }

    /// A packet with a congestion header arrives.
    pub fn on_arrival(&mut self, size: u32, header: &CongestionHeader) {
        let (rtt, x) = (header.rtt.get(), header.x.get());
        if rtt == 0.0 {
            return self.on_other(size);
        }
        self.counted[0] += 1;
        let work = &mut self.work[0];
        self.input = work.add(self.input, f64::from(size));
        self.sum_x = work.add(self.sum_x, x);
        let rtt_x = work.multiply(rtt.min(LONGEST), x);
        self.sum_rtt_x = work.add(self.sum_rtt_x, rtt_x);
    }

    /// It departs: its header takes its share, unless it asks for less, or a router before grants
    /// less. Says whether this router decides.
    pub fn on_departure(&mut self, size: u32, header: &mut CongestionHeader) -> bool {
        if header.rtt.get() == 0.0 {
            header.delta = Words::new(0.0);
            return false;
        }
        self.counted[1] += 1;
        let work = &mut self.work[1];
        let ([left_positive, left_negative], [xi_positive, xi_negative]) = (self.residue, self.xi);
        let mut positive = work.multiply(xi_positive, header.x.get()).min(left_positive);
        let mut negative = work.multiply(xi_negative, f64::from(size)).min(left_negative);
        let feedback = work.subtract(positive, negative);
        let asked = header.delta.get();
        let decides = asked >= feedback;
        if decides {
            header.delta = Words::new(feedback);
        } else {
            // What it does not want is not given: it may stay for others.
            let refused = work.subtract(feedback, asked);
            negative = work.add(negative, refused).min(left_negative);
            positive = work.add(asked, negative);
        }
        self.residue =
            [work.subtract(left_positive, positive).max(0.0), work.subtract(left_negative, negative).max(0.0)];
        for (residue, xi) in self.residue.iter().zip(&mut self.xi) {
            if *residue == 0.0 {
                *xi = 0.0;
            }
        }
        decides
    }

    /// The control interval is over.
    pub fn end_interval(&mut self) {
        let arrived = self.input > 0.0;
        let y = self.input / self.interval;
        self.mean_rtt = if self.sum_x == 0.0 { INITIAL } else { self.sum_rtt_x / self.sum_x };
        self.last = Interval { input: y, ..Interval::default() };
        if arrived {
            let phi = ALPHA * (self.capacity - y) - BETA * self.queue / self.mean_rtt;
            self.last.phi = phi;
            self.last.shuffled = (GAMMA * y - phi.abs()).max(0.0);
        }
        let Interval { phi, shuffled, .. } = self.last;
        self.residue = [phi.max(0.0) + shuffled, (-phi).max(0.0) + shuffled];
        self.xi = [0.0; 2];
        if arrived {
            let sum_x = if self.sum_x == 0.0 { 1.0 } else { self.sum_x };
            self.xi = [self.residue[0] / sum_x, self.residue[1] / self.input];
        }
        (self.input, self.sum_x, self.sum_rtt_x) = (0.0, 0.0, 0.0);
        self.interval = self.mean_rtt.max(SHORTEST);
    }

    /// Notes the bytes waiting, the departing packet included.
    pub fn see_queue(&mut self, bytes: u64) {
        self.lowest = self.lowest.min(bytes as f64);
    }

    /// The queue interval is over; `bytes` bytes wait.
    pub fn end_queue_interval(&mut self, bytes: u64) {
        let bytes = bytes as f64;
        self.queue = self.lowest;
        self.lowest = bytes;
        self.queue_interval = ((self.mean_rtt - bytes / self.capacity) / 2.0).max(SHORTEST_QUEUE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(rtt: f64, window: f64, delta: f64) -> CongestionHeader {
        CongestionHeader { rtt: Words::new(rtt), x: Words::new(rtt / window), delta: Words::new(delta) }
    }

    /// An interval `d` in which `y` bytes/s arrive in packets of 1000 B of flows with these windows.
    fn interval(capacity: f64, d: f64, y: f64, queue: f64, window: f64) -> Control {
        let mut control = Control::new(capacity);
        control.interval = d;
        control.queue = queue;
        for _ in 0..(y * d / 1000.0).round() as u32 {
            control.on_arrival(1000, &header(d, window, 1e24));
        }
        control.end_interval();
        control
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    /// The worked cases of the law: φ = α(C − y) − βQ/d, h = max(0, γy − |φ|).
    #[test]
    fn the_law() {
        for (name, (c, d, y, q), (phi, shuffled)) in [
            ("half used", (480_000.0, 0.1, 240_000.0, 0.0), (96_000.0, 0.0)),
            ("full", (480_000.0, 0.1, 480_000.0, 0.0), (0.0, 48_000.0)),
            ("a tenth of the rate", (48_000.0, 0.2, 480_000.0, 0.0), (-172_800.0, 0.0)),
            // Where a router that still believes in 480 kB/s comes to rest: beyond any queue of 64 kB.
            ("a stale capacity", (480_000.0, 0.25, 48_000.0, 0.4 * 432_000.0 * 0.25 / 0.226), (0.0, 4800.0)),
            ("the same with a queue", (48_000.0, 0.2, 480_000.0, 64_000.0), (-245_120.0, 0.0)),
        ] {
            let control = interval(c, d, y, q, 24.0);
            assert!(close(control.mean_rtt, d), "{name}");
            assert!(close(control.last.input, y), "{name}: {:?}", control.last);
            assert!((control.last.phi - phi).abs() < 1e-6, "{name}: {:?}", control.last);
            assert!((control.last.shuffled - shuffled).abs() < 1e-6, "{name}: {:?}", control.last);
            let expected = [phi.max(0.0) + shuffled, (-phi).max(0.0) + shuffled];
            assert!((0..2).all(|i| (control.residue[i] - expected[i]).abs() < 1e-6), "{name}");
        }
    }

    /// ns-2.35: round-trip times above a second count as one.
    #[test]
    fn a_long_round_trip_counts_as_a_second() {
        let mut control = Control::new(480_000.0);
        control.on_arrival(1000, &header(2.0, 24.0, 1e24));
        control.end_interval();
        assert_eq!((control.mean_rtt, control.interval), (1.0, 1.0));
    }

    #[test]
    fn each_packet_of_a_window_of_24_gets_a_24th() {
        let mut control = interval(480_000.0, 0.1, 240_000.0, 0.0, 24.0);
        for packet in 0..24 {
            let mut packet_header = header(0.1, 24.0, 1e24);
            assert!(control.on_departure(1000, &mut packet_header), "packet {packet}");
            assert!((packet_header.delta.get() - 4000.0).abs() < 1e-6, "packet {packet}");
        }
        // All of φ has been given.
        assert!(control.residue[0] < 1e-6);
    }

    #[test]
    fn utilisation_after_a_tenfold_rise_of_the_rate() {
        // All of φ is given and used one interval later: the gap shrinks by 1 − α.
        let (capacity, mut y) = (480_000.0, 48_000.0);
        for expected in [0.46, 0.676, 0.8056, 0.88336, 0.930_016, 0.958_009_6] {
            let mut control = Control::new(capacity);
            control.interval = 0.1;
            control.input = y * 0.1;
            (control.sum_x, control.sum_rtt_x) = (0.1, 0.01);
            control.end_interval();
            y += control.last.phi;
            assert!(close(y / capacity, expected), "{}", y / capacity);
        }
    }

    #[test]
    fn a_packet_that_wants_less_leaves_the_rest() {
        let mut control = interval(480_000.0, 0.1, 480_000.0, 0.0, 48.0);
        let before = control.residue;
        let mut modest = header(0.1, 24.0, -500.0);
        assert!(!control.on_departure(1000, &mut modest), "it decides by itself");
        assert_eq!(modest.delta.get(), -500.0);
        // 48 packets of flows with windows of 48 share 48 000 both ways: for a window of 24 that is
        // 2000 to be given and 1000 to be taken. It wants 1500 less than the 1000 more.
        assert!((before[0] - control.residue[0] - 2000.0).abs() < 1e-6);
        assert!((before[1] - control.residue[1] - 2500.0).abs() < 1e-6);
    }

    #[test]
    fn a_packet_without_a_round_trip_time_gets_nothing_and_costs_nothing() {
        let mut control = interval(480_000.0, 0.1, 240_000.0, 0.0, 24.0);
        let before = control.residue;
        let mut first = header(0.0, 1.0, 0.0);
        control.on_departure(1000, &mut first);
        assert_eq!((first.delta.get(), control.residue), (0.0, before));
    }

    #[test]
    fn persistent_queue_is_the_least_of_the_interval_before() {
        let mut control = Control::new(480_000.0);
        control.mean_rtt = 0.1;
        control.end_queue_interval(5000);
        assert_eq!(control.queue, 0.0);
        for bytes in [9000, 4000, 7000] {
            control.see_queue(bytes);
        }
        control.end_queue_interval(48_000);
        assert_eq!((control.queue, control.queue_interval), (4000.0, 0.002), "(0.1 − 48000/480000)/2 is less");
        control.end_queue_interval(0);
        assert!(close(control.queue_interval, 0.05));
    }

    #[test]
    fn work_of_a_packet() {
        let mut control = Control::new(480_000.0);
        control.on_arrival(1000, &header(0.1, 24.0, 1e24));
        // Three sums, and x is in the header: one product.
        assert_eq!(control.work[0], Operations { additions: 3, multiplications: 1 });
        control.end_interval();
        control.on_departure(1000, &mut header(0.1, 24.0, 1e24));
        // Two products and a sum for the feedback, two sums for the residues.
        assert_eq!(control.work[1], Operations { additions: 3, multiplications: 2 });
    }

    #[test]
    fn the_papers_header_costs_two_products_more() {
        // A window of 24 packets of 1000 B.
        let mut more = Operations::default();
        let x = x_of_window(&mut more, 0.1, 1000.0, 24_000.0);
        assert!(close(x, header(0.1, 24.0, 0.0).x.get()), "{x}");
        let mut control = Control::new(480_000.0);
        control.on_arrival(1000, &header(0.1, 24.0, 1e24));
        // Appendix A: the sums of s, rtt·s/cwnd and rtt²·s/cwnd.
        assert_eq!(control.work[0].and(more), Operations { additions: 3, multiplications: 3 });
    }
}
