//! How far two bodies are from each other, for each packet that begins to be sent.
//!
//! The distance is computed exactly every second, with its rate of change, and by a cubic in between. For satellites 300 km high
//! and more the cubic is less than 10⁻¹² s off, so a delay is the exact one to the nanosecond; a test holds it to that.

use std::cell::Cell;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::schedule::Path;

use super::body::Body;
use super::earth::{LIGHT_KM_PER_S, between, distance, dot, length};

/// The way between two bodies.
pub struct Range {
    ends: [Body; 2],
    piece: Cell<Piece>,
}

/// The delay in ns over one second: a cubic of the share of that second.
#[derive(Clone, Copy)]
struct Piece {
    /// The second's first nanosecond.
    begin: u64,
    terms: [f64; 4],
}

/// ns in a second.
const SECOND: u64 = 1_000_000_000;

impl Range {
    /// The way from one body to another.
    pub fn new(from: Body, to: Body) -> Self {
        let range = Self { ends: [from, to], piece: Cell::new(Piece { begin: 0, terms: [0.0; 4] }) };
        range.piece.set(range.piece_of(0));
        range
    }

    /// The delay at this time in whole steps of 10 ns, as ns-2 compares ways (`SatGeometry::propdelay`).
    pub fn in_steps(&self, at: Instant) -> Duration {
        let [a, b] = [&self.ends[0], &self.ends[1]].map(|body| body.position(at.as_secs_f64()));
        let steps = distance(a, b) / LIGHT_KM_PER_S * 1e8 + 0.5;
        Duration::from_nanos(steps as u64 * 10)
    }

    /// The delay in ns at a second, and its rate in ns/s.
    fn exact(&self, second: u64) -> (f64, f64) {
        let [a, b] = [&self.ends[0], &self.ends[1]].map(|body| body.state(second as f64));
        let way = between(a.position, b.position);
        let moving = between(a.velocity, b.velocity);
        let distance = length(way);
        let rate = if distance > 0.0 { dot(way, moving) / distance } else { 0.0 };
        (distance / LIGHT_KM_PER_S * 1e9, rate / LIGHT_KM_PER_S * 1e9)
    }

    #[cold]
    fn piece_of(&self, second: u64) -> Piece {
        let ((d0, v0), (d1, v1)) = (self.exact(second), self.exact(second + 1));
        Piece { begin: second * SECOND, terms: [d0, v0, 3.0 * (d1 - d0) - 2.0 * v0 - v1, 2.0 * (d0 - d1) + v0 + v1] }
    }

    /// The delay of a packet that is sent at `start`.
    #[inline]
    pub fn delay(&self, start: Instant) -> Duration {
        let mut piece = self.piece.get();
        // Before its second this wraps round.
        if start.as_nanos().wrapping_sub(piece.begin) >= SECOND {
            piece = self.piece_of(start.as_nanos() / SECOND);
            self.piece.set(piece);
        }
        let share = (start.as_nanos() - piece.begin) as f64 * 1e-9;
        let [a, b, c, d] = piece.terms;
        Duration::from_nanos((a + share * (b + share * (c + share * d)) + 0.5) as u64)
    }
}

impl Path for Range {
    #[inline]
    fn delay(&self, start: Instant, _propagation: Duration) -> Duration {
        self.delay(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::satellite::body::Circle;

    /// Overhead passes of the lowest orbits bend most.
    #[test]
    fn the_cubic_is_the_distance_to_the_nanosecond() {
        for (altitude, latitude) in [(300.0, 0.0), (550.0, 30.0), (780.0, 37.9)] {
            let satellite = Body::Circle(Circle::orbit(altitude, 53.0, 10.0, 350.0));
            let site = Body::Circle(Circle::ground(latitude, 5.0));
            let range = Range::new(satellite.clone(), site.clone());
            let mut worst: f64 = 0.0;
            for n in 0..40_000_u64 {
                let at = Instant::from_nanos(n * 37_000_001);
                let seconds = at.as_nanos() as f64 * 1e-9;
                let exact = distance(satellite.position(seconds), site.position(seconds)) / LIGHT_KM_PER_S * 1e9;
                worst = worst.max((range.delay(at).as_nanos() as f64 - exact).abs());
            }
            assert!(worst <= 0.51, "{worst} ns at {altitude} km");
        }
    }
}
