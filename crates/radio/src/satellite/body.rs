//! What moves in the frame of [`earth`](super::earth): satellites on circular orbits or by SGP4, and places on the turning ground.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::earth::{DAY_S, MU_KM3_PER_S2, RADIUS_KM, State, Vector, length};
use super::tracked::Tracked;

/// A satellite or a place on the ground.
#[derive(Clone, Debug)]
pub enum Body {
    /// On a circle.
    Circle(Circle),
    /// By a set of orbital elements.
    Tracked(Arc<Tracked>),
}

/// A circle that is run through with constant speed: `offset + radius·(cos θ·first + sin θ·second)`, θ = start + rate·t.
#[derive(Clone, Debug)]
pub struct Circle {
    radius: f64,
    first: Vector,
    second: Vector,
    offset: Vector,
    start: f64,
    rate: f64,
}

impl Circle {
    /// A circular orbit `altitude` km above the ground: ascending node and place on the orbit, counted from that node at the start, in
    /// degrees.
    pub fn orbit(altitude: f64, inclination: f64, node: f64, place: f64) -> Self {
        let (sin_i, cos_i) = libm::sincos(inclination.to_radians());
        let (sin_n, cos_n) = libm::sincos(node.to_radians());
        Self {
            radius: RADIUS_KM + altitude,
            first: [cos_n, sin_n, 0.0],
            second: [-sin_n * cos_i, cos_n * cos_i, sin_i],
            offset: [0.0; 3],
            start: place.to_radians(),
            rate: TAU / period(altitude),
        }
    }

    /// A place on the ground, in degrees north and east.
    pub fn ground(latitude: f64, longitude: f64) -> Self {
        let (sin, cos) = libm::sincos(latitude.to_radians());
        Self {
            radius: RADIUS_KM * cos,
            first: [1.0, 0.0, 0.0],
            second: [0.0, 1.0, 0.0],
            offset: [0.0, 0.0, RADIUS_KM * sin],
            start: longitude.to_radians(),
            rate: TAU / DAY_S,
        }
    }

    fn state(&self, seconds: f64) -> State {
        let (sin, cos) = libm::sincos(self.start + self.rate * seconds);
        let speed = self.radius * self.rate;
        let along = |n: usize| self.offset[n] + self.radius * (cos * self.first[n] + sin * self.second[n]);
        let moving = |n: usize| speed * (cos * self.second[n] - sin * self.first[n]);
        State { position: [along(0), along(1), along(2)], velocity: [moving(0), moving(1), moving(2)] }
    }
}

impl Body {
    /// Its state `seconds` after the start.
    pub fn state(&self, seconds: f64) -> State {
        match self {
            Self::Circle(circle) => circle.state(seconds),
            Self::Tracked(tracked) => tracked.state(seconds),
        }
    }

    /// Whether it is above the ground then: one by elements may come down.
    pub fn is_in_orbit(&self, seconds: f64) -> bool {
        match self {
            Self::Circle(_) => true,
            Self::Tracked(_) => length(self.position(seconds)) > RADIUS_KM,
        }
    }

    /// Where it is then.
    pub fn position(&self, seconds: f64) -> Vector {
        self.state(seconds).position
    }
}

/// How long a circular orbit takes, in seconds.
pub fn period(altitude: f64) -> f64 {
    let a = RADIUS_KM + altitude;
    TAU * libm::sqrt(a * a * a / MU_KM3_PER_S2)
}
