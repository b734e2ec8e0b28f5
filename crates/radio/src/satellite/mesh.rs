//! Which satellites are linked to which.
//!
//! A satellite has a link to the one before and the one behind in its plane, which are up while both are in orbit, and to one in each of the two
//! neighbouring planes. Those are down while either end is too far north or south, where planes cross and neighbours swap sides, or
//! while the Earth is in between. Where the first plane and the last fly in opposite directions, as in a polar constellation, lies
//! the seam: no links cross it.

use super::body::Body;
use super::earth::{RADIUS_KM, Vector, latitude, length, longitude, sees};

/// The satellites of a constellation, plane by plane.
#[derive(Clone, Debug)]
pub struct Shell {
    /// All of them.
    pub bodies: Vec<Body>,
    /// How many each plane has.
    pub planes: Vec<u32>,
    /// By how many places a satellite's neighbour in the first plane is ahead of its place in the last one; `None` where there is a
    /// seam between these planes.
    pub closes_with: Option<u32>,
    /// How far the Earth has turned in this frame when time begins, in degrees.
    pub turned: f64,
}

/// Where a satellite is over the turning Earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Over {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east, from −180 to 180.
    pub longitude: f64,
    /// Above the ground, in km.
    pub altitude: f64,
}

/// A link between two satellites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The satellites.
    pub ends: [u32; 2],
    /// Whether it stays within a plane.
    pub within_plane: bool,
}

impl Shell {
    /// The first satellite of each plane, and one more.
    fn starts(&self) -> Vec<u32> {
        let ends = self.planes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// The links that may be up, those within planes first.
    pub fn links(&self) -> Vec<Link> {
        let starts = self.starts();
        let mut links = Vec::new();
        for plane in starts.windows(2) {
            let (first, size) = (plane[0], plane[1] - plane[0]);
            // Two have one link, one has none.
            let count = if size > 2 { size } else { size.saturating_sub(1) };
            let around = (0..count).map(|n| [first + n, first + (n + 1) % size]);
            links.extend(around.map(|ends| Link { ends, within_plane: true }));
        }
        let mut across = |from: usize, to: usize, ahead: u32| {
            let (own, other) = (self.planes[from], self.planes[to]);
            for n in 0..own {
                let peer = counterpart(n, own, other);
                let ends = [starts[from] + n, starts[to] + (peer + ahead % other) % other];
                links.push(Link { ends, within_plane: false });
            }
        };
        let last = self.planes.len().saturating_sub(1);
        (0..last).for_each(|plane| across(plane, plane + 1, 0));
        if let (Some(ahead), 2..) = (self.closes_with, last) {
            across(last, 0, ahead);
        }
        links
    }

    /// Where all satellites are at this time.
    pub fn over(&self, seconds: f64) -> impl Iterator<Item = Over> + '_ {
        self.bodies.iter().map(move |body| {
            let at = body.position(seconds);
            let east = longitude(at, seconds).to_degrees() - self.turned;
            Over {
                latitude: latitude(at).to_degrees(),
                longitude: (east + 180.0).rem_euclid(360.0) - 180.0,
                altitude: length(at) - RADIUS_KM,
            }
        })
    }

    /// The satellite that follows this one over the ground: the one before it in its plane.
    pub fn follower(&self, satellite: u32) -> u32 {
        let starts = self.starts();
        let plane = starts.partition_point(|&start| start <= satellite) - 1;
        let (first, size) = (starts[plane], self.planes[plane]);
        first + (satellite - first + size - 1) % size
    }
}

/// The place in a plane of `other` satellites for place `n` in one of `own`: planes of other sizes are met in proportion.
pub fn counterpart(n: u32, own: u32, other: u32) -> u32 {
    (u64::from(n) * u64::from(other) / u64::from(own)) as u32
}

/// Whether a link between planes can be up with its ends at these places; `limit` is a latitude in radians.
pub fn is_up(ends: [Vector; 2], limit: f64) -> bool {
    ends.iter().all(|&end| latitude(end).abs() <= limit) && sees(ends[0], ends[1])
}
