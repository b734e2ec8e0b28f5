//! A constellation from two-line element sets, by SGP4.
//!
//! Time begins at the latest epoch of the set. Satellites whose ascending nodes lie close together make a plane, and in it they follow
//! one another as they do on the orbit; across planes each is linked to its counterpart, which is about as far from its node. Planes that go
//! all around close; those of a polar constellation leave half a turn free, where the seam is. The ground is a sphere.

use std::f64::consts::TAU;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::satellite::body::Body;
use crate::satellite::earth::RADIUS_KM;
use crate::satellite::earth::State;
use crate::satellite::mesh::{self, Shell};
use crate::satellite::tracked::Tracked;
use lasthop_net::engine::Fault;
use lasthop_net::engine::space::Angle;

use super::{MOST_SATELLITES, OrbitsConfig};

/// The satellites of element sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TleOrbits")]
pub struct Config {
    /// The sets: two lines for each satellite, with or without a line with its name before them.
    pub text: String,
    /// Ascending nodes that are farther apart than this lie in different planes. Default: 2 deg.
    #[serde(default = "default_gap")]
    pub plane_gap: Angle,
}

/// The element sets of a text.
fn parse(text: &str) -> Result<Vec<sgp4::Elements>, Fault> {
    let fault = |line: usize, message: String| {
        Fault::new("text", format!("line {}: {message}", line + 1), "expected two-line element sets")
    };
    let mut first: Option<(usize, &str)> = None;
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        match (line.as_bytes(), first.take()) {
            ([b'2', b' ', ..], Some((at, before))) => {
                for (number, line) in [(at, before), (number, line)] {
                    if !line.ends_with(|last: char| last.is_ascii_digit()) {
                        return Err(fault(number, "it does not end with its checksum, a digit".to_owned()));
                    }
                }
                let elements = sgp4::Elements::from_tle(None, before.as_bytes(), line.as_bytes());
                all.push(elements.map_err(|error| fault(number, error.to_string()))?);
            }
            (_, Some((at, _))) => return Err(fault(at, "a first line has no second one behind it".to_owned())),
            ([b'1', b' ', ..], None) => first = Some((number, line)),
            ([b'2', b' ', ..], None) => {
                return Err(fault(number, "a second line has no first one before it".to_owned()));
            }
            // A name, or nothing.
            _ => {}
        }
    }
    match first {
        Some((at, _)) => Err(fault(at, "a first line has no second one behind it".to_owned())),
        None if all.is_empty() => Err(fault(0, "there is no satellite".to_owned())),
        None if all.len() > MOST_SATELLITES as usize => Err(fault(0, "there are too many satellites".to_owned())),
        None => Ok(all),
    }
}

/// A satellite where it is at the start: ascending node and place on the orbit from there, in turns.
struct Placed {
    body: Body,
    node: f64,
    place: f64,
}

fn place(tracked: Tracked) -> Placed {
    let body = Body::Tracked(Arc::new(tracked));
    let State { position: [x, y, z], velocity: [vx, vy, vz] } = body.state(0.0);
    // Angular momentum points away from the plane; the node is where the plane meets the equator.
    let momentum = [y * vz - z * vy, z * vx - x * vz, x * vy - y * vx];
    let node = libm::atan2(momentum[0], -momentum[1]);
    let (sin, cos) = libm::sincos(node);
    let along = cos * x + sin * y;
    let length = libm::sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
    // The direction in the plane at a right angle to the node.
    let ahead =
        [-sin * momentum[2], cos * momentum[2], sin * momentum[0] - cos * momentum[1]].map(|part| part / length);
    let across = ahead[0] * x + ahead[1] * y + ahead[2] * z;
    let turns = |angle: f64| (angle / TAU).rem_euclid(1.0);
    Placed { body, node: turns(node), place: turns(libm::atan2(across, along)) }
}

/// By how many places a satellite's counterpart in the next plane is ahead of its own place in its plane, so that counterparts are as close
/// on their orbits as can be in the mean.
fn ahead(plane: &[Placed], next: &[Placed]) -> usize {
    let apart = |ahead: usize| -> f64 {
        let gap = |(n, own): (usize, &Placed)| {
            let other = &next
                [(mesh::counterpart(n as u32, plane.len() as u32, next.len() as u32) as usize + ahead) % next.len()];
            let gap = (other.place - own.place).rem_euclid(1.0);
            gap.min(1.0 - gap)
        };
        plane.iter().enumerate().map(gap).sum()
    };
    (0..next.len()).map(|ahead| (ahead, apart(ahead))).min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(ahead, _)| ahead)
}

/// Whether planes, in the order of their nodes, go all around: then the gap behind the last one, the widest, is like those between them.
fn is_closed(planes: &[Vec<Placed>]) -> bool {
    let ends: Vec<[f64; 2]> =
        planes.iter().filter_map(|plane| Some([plane.first()?.node, plane.last()?.node])).collect();
    let gap = |[_, before]: [f64; 2], [next, _]: [f64; 2]| (next - before).rem_euclid(1.0);
    let mut gaps: Vec<f64> = ends.windows(2).map(|pair| gap(pair[0], pair[1])).collect();
    gaps.sort_by(f64::total_cmp);
    let (Some(first), Some(last), Some(median)) = (ends.first(), ends.last(), gaps.get(gaps.len() / 2)) else {
        return false;
    };
    gap(*last, *first) <= LIKE * median
}

impl OrbitsConfig for Config {
    fn count(&self) -> u32 {
        parse(&self.text).map_or(0, |all| all.len() as u32)
    }

    fn shell(&self) -> Shell {
        let all = parse(&self.text).unwrap_or_default();
        let latest = all.iter().map(|elements| elements.datetime).max();
        let tracked = |elements: &sgp4::Elements| {
            let begins = elements.datetime_to_minutes_since_epoch(&latest?).ok()?.0;
            Some(Tracked::new(sgp4::Constants::from_elements(elements).ok()?, begins))
        };
        let mut placed: Vec<Placed> = all.iter().filter_map(tracked).map(place).collect();
        placed.sort_by(|a, b| a.node.total_cmp(&b.node));
        // The widest gap is where the row of planes begins.
        let widest = (0..placed.len()).max_by(|&a, &b| {
            let gap = |n: usize| {
                let before = placed[(n + placed.len() - 1) % placed.len()].node;
                (placed[n].node - before).rem_euclid(1.0)
            };
            gap(a).total_cmp(&gap(b))
        });
        placed.rotate_left(widest.unwrap_or_default());
        let gap = self.plane_gap.degrees() / 360.0;
        let mut planes: Vec<Vec<Placed>> = Vec::new();
        for next in placed {
            match planes.last_mut() {
                Some(plane) if plane.last().is_some_and(|last| (next.node - last.node).rem_euclid(1.0) <= gap) => {
                    plane.push(next);
                }
                _ => planes.push(vec![next]),
            }
        }
        for plane in &mut planes {
            plane.sort_by(|a, b| a.place.total_cmp(&b.place));
        }
        for next in 1..planes.len() {
            let ahead = ahead(&planes[next - 1], &planes[next]);
            planes[next].rotate_left(ahead);
        }
        let closes_with = match (planes.last(), planes.first()) {
            (Some(last), Some(first)) if is_closed(&planes) => Some(ahead(last, first) as u32),
            _ => None,
        };
        let mut shell = Shell { bodies: Vec::new(), planes: Vec::new(), closes_with, turned: 0.0 };
        for plane in planes {
            shell.planes.push(plane.len() as u32);
            shell.bodies.extend(plane.into_iter().map(|placed| placed.body));
        }
        let turned =
            latest.map_or(0.0, |latest| sgp4::iau_epoch_to_sidereal_time(sgp4::julian_years_since_j2000(&latest)));
        shell.turned = turned.to_degrees();
        shell
    }

    fn check(&self) -> Result<(), Fault> {
        if self.plane_gap.degrees() < 0.0 {
            return Err(Fault::new("plane_gap", "it is a distance", "expected 0 deg or more"));
        }
        let all = parse(&self.text)?;
        let latest = all.iter().map(|elements| elements.datetime).max();
        for elements in all {
            let fault = |what: String| Fault::new("text", what, "expected elements of a satellite in orbit");
            let name = elements.norad_id;
            let constants = sgp4::Constants::from_elements(&elements)
                .map_err(|error| fault(format!("satellite {name}: {error}")))?;
            let is_high = |at: sgp4::MinutesSinceEpoch| {
                constants.propagate(at).is_ok_and(|found| crate::satellite::earth::length(found.position) > RADIUS_KM)
            };
            if !is_high(sgp4::MinutesSinceEpoch(0.0)) {
                return Err(fault(format!("satellite {name} is not above the ground")));
            }
            let begins = latest.and_then(|latest| elements.datetime_to_minutes_since_epoch(&latest).ok());
            if begins.is_some_and(|begins| !is_high(begins)) {
                let when = "at the latest epoch of the set, where time begins";
                return Err(fault(format!("satellite {name} is no longer above the ground {when}")));
            }
        }
        if self.shell().bodies.len() != self.count() as usize {
            return Err(Fault::new("text", "epochs lie centuries apart", "expected elements of one time"));
        }
        Ok(())
    }
}

/// A gap of at most this many times the median is like the others. Element sets give nodes to 0.0001 deg, and planes drift by some
/// degrees; half a turn is many gaps.
const LIKE: f64 = 1.5;

fn default_gap() -> Angle {
    Angle::from_degrees(2.0)
}
