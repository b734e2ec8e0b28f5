//! Where cells and mobiles are: hexagons around a centre, and mobiles uniformly over all of them.

use lasthop_net::engine::{Length, Point, Stream};

/// √3.
const ROOT_3: f64 = 1.732_050_807_568_877_2;

/// The places of the sites: the centre first, then ring by ring. Neighbours are √3 `radius` from each other, where
/// `radius` is that of the circle through the corners of a hexagon.
pub fn sites(rings: u32, radius: Length) -> Vec<Point> {
    let mut sites = vec![Point::from_metres(0.0, 0.0)];
    for ring in 1..=i64::from(rings) {
        // Along the six sides of a ring, in steps of one cell.
        const STEPS: [(i64, i64); 6] = [(-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0), (0, 1)];
        let (mut q, mut r) = (ring, 0);
        for (dq, dr) in STEPS {
            for _ in 0..ring {
                sites.push(centre(q, r, radius));
                (q, r) = (q + dq, r + dr);
            }
        }
    }
    sites
}

/// The centre of a hexagon, with two of its corners on the line to the east, by its axial coordinates.
fn centre(q: i64, r: i64, radius: Length) -> Point {
    let (q, r) = (q as f64, r as f64);
    Point::from_metres(1.5 * radius.metres() * q, ROOT_3 * radius.metres() * (r + q / 2.0))
}

/// A place uniform over the hexagons of all sites, and whose hexagon it is.
pub fn drop_mobile(sites: &[Point], radius: Length, stream: &mut Stream) -> (Point, u32) {
    let hexagon = ((stream.unit() * sites.len() as f64) as usize).min(sites.len() - 1);
    let (x, y) = within_hexagon(stream);
    let Point(east, north) = sites[hexagon];
    let place = Point::from_metres(east.metres() + x * radius.metres(), north.metres() + y * radius.metres());
    (place, hexagon as u32)
}

/// The hexagon in which a place lies, or to which it is nearest: that of the nearest site, the first of equals.
pub fn hexagon_of(sites: &[Point], place: Point) -> u32 {
    let nearer = |best: usize, site: usize| {
        if sites[site].distance(place).metres() < sites[best].distance(place).metres() { site } else { best }
    };
    (0..sites.len()).fold(0, nearer) as u32
}

/// A place uniform in the hexagon of radius 1 around the origin, by rejection.
fn within_hexagon(stream: &mut Stream) -> (f64, f64) {
    loop {
        let (x, y) = (stream.uniform(-1.0, 1.0), stream.uniform(-ROOT_3 / 2.0, ROOT_3 / 2.0));
        if ROOT_3 * x.abs() + y.abs() <= ROOT_3 {
            return (x, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    #[test]
    fn a_ring_of_six_stands_866_metres_from_the_centre() {
        let radius = Length::from_metres(500.0);
        let all = sites(2, radius);
        assert_eq!((sites(0, radius).len(), sites(1, radius).len(), all.len()), (1, 7, 19));
        for site in &all[1..7] {
            assert!((all[0].distance(*site).metres() - 866.025_403_784).abs() < 1e-6);
            let near = all.iter().filter(|other| (site.distance(**other).metres() - 866.025).abs() < 0.01).count();
            assert_eq!(near, 6, "each has six neighbours");
        }
    }

    #[test]
    fn mobiles_are_uniform_over_the_hexagons() {
        let radius = Length::from_metres(500.0);
        let all = sites(1, radius);
        let mut stream = Streams::new(3).stream("test", "place");
        let n = 70_000;
        let (mut inner, mut nearest_is_own, mut of_centre) = (0, 0, 0);
        for _ in 0..n {
            let (place, hexagon) = drop_mobile(&all, radius, &mut stream);
            let own = all[hexagon as usize].distance(place).metres();
            assert!(own <= 500.0 + 1e-9);
            assert_eq!(hexagon_of(&all, place), hexagon);
            // The circle within a hexagon has radius √3/2 and takes π√3/6 = 0.9069 of its area.
            inner += u32::from(own <= 250.0 * ROOT_3);
            nearest_is_own += u32::from(all.iter().all(|site| site.distance(place).metres() >= own - 1e-9));
            of_centre += u32::from(hexagon == 0);
        }
        assert_eq!(nearest_is_own, n, "hexagons are where a site is nearest");
        let near = |count: u32, share: f64| {
            let five = 5.0 * (share * (1.0 - share) / f64::from(n)).sqrt();
            assert!((f64::from(count) / f64::from(n) - share).abs() < five, "{count} of {n}, expected {share}");
        };
        near(inner, std::f64::consts::PI * ROOT_3 / 6.0);
        near(of_centre, 1.0 / 7.0);
    }
}
