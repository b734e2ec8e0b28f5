//! The Earth as a sphere that turns, and vectors in its frame: kilometres from its centre, axes that do not turn.

/// Radius in km (ns-2, `satellite/satgeometry.h`).
pub const RADIUS_KM: f64 = 6378.0;
/// Gravitational parameter in km³/s² (the same).
pub const MU_KM3_PER_S2: f64 = 398_601.2;
/// Speed of light in km/s (the same).
pub const LIGHT_KM_PER_S: f64 = 299_793.0;
/// Sidereal day in seconds (the same).
pub const DAY_S: f64 = 86_164.0;
/// How far above the ground a line of sight has to pass, in km (the same).
pub const ATMOSPHERE_KM: f64 = 150.0;

/// A vector.
pub type Vector = [f64; 3];

/// Where a body is and how it moves, in km and km/s.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Where.
    pub position: Vector,
    /// How fast, and where to.
    pub velocity: Vector,
}

/// The scalar product.
#[inline]
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The way from `a` to `b`.
#[inline]
pub fn between(a: Vector, b: Vector) -> Vector {
    [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
}

/// The length of a vector.
#[inline]
pub fn length(a: Vector) -> f64 {
    libm::sqrt(dot(a, a))
}

/// The distance between two points.
#[inline]
pub fn distance(a: Vector, b: Vector) -> f64 {
    length(between(a, b))
}

/// How high something at `body` stands above the horizon at `site`, in radians. On a sphere the way up leads from the centre.
pub fn elevation(site: Vector, body: Vector) -> f64 {
    let way = between(site, body);
    libm::asin((dot(site, way) / (length(site) * length(way))).clamp(-1.0, 1.0))
}

/// Whether the line of sight between two bodies passes above the atmosphere.
pub fn sees(a: Vector, b: Vector) -> bool {
    let way = between(a, b);
    // The point of the line that is nearest to the centre, as a share of the way.
    let nearest = (-dot(a, way) / dot(way, way)).clamp(0.0, 1.0);
    let height = length([a[0] + nearest * way[0], a[1] + nearest * way[1], a[2] + nearest * way[2]]);
    height >= RADIUS_KM + ATMOSPHERE_KM
}

/// Latitude of a point, in radians.
pub fn latitude(at: Vector) -> f64 {
    libm::asin((at[2] / length(at)).clamp(-1.0, 1.0))
}

/// Longitude on the turning Earth of a point at `seconds`, in radians from −π to π.
pub fn longitude(at: Vector, seconds: f64) -> f64 {
    let turned = std::f64::consts::TAU * seconds / DAY_S;
    let plain = (libm::atan2(at[1], at[0]) - turned) % std::f64::consts::TAU;
    if plain > std::f64::consts::PI {
        plain - std::f64::consts::TAU
    } else if plain < -std::f64::consts::PI {
        plain + std::f64::consts::TAU
    } else {
        plain
    }
}
