//! Are satellites where geometry says, do links and terminals follow the rules of ns-2's example, and does a packet take the way and the
//! time that follow from both?

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::common::scenario::{column, rows, run, series, state, watched};
use crate::common::{Event, Happened, Log};
use lasthop_core::satellite::body::{Body, Circle, period};
use lasthop_core::satellite::earth::{self, distance, elevation, latitude, length, longitude};
use lasthop_core::satellite::handoff;
use lasthop_core::satellite::orbits::{OrbitsConfig, star, tle, walker};
use lasthop_core::scenario::read;

fn close(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((got - expected).abs() <= tolerance, "{what}: {got}, expected {expected}");
}

/// The constants of ns-2 and closed forms: T = 2π√(a³/μ); the slant range at an elevation is a root of the cosine rule; the horizon is
/// √(a² − R²); the satellite in the plane is 2a·sin(π/11) away.
#[test]
fn orbits_have_the_sizes_of_closed_forms() {
    let a = earth::RADIUS_KM + 780.0;
    close(period(780.0), 6026.96, 0.005, "period, s");
    close(std::f64::consts::TAU * a / period(780.0), 7.462, 5e-4, "speed, km/s");
    let shell = star::Config::default().shell();
    let at = |satellite: usize| shell.bodies[satellite].position(0.0);
    close(distance(at(0), at(1)), 4033.28, 0.01, "within a plane, km");
    close(distance(at(0), at(1)) / earth::LIGHT_KM_PER_S * 1e3, 13.454, 5e-4, "the same, ms");
    let (sin, cos) = 8.2_f64.to_radians().sin_cos();
    let foot = earth::RADIUS_KM * cos;
    let slant = (a * a - foot * foot).sqrt() - earth::RADIUS_KM * sin;
    close(slant, 2464.57, 0.01, "slant range at 8.2 deg, km");
    // A body that far, that high, is seen that high.
    let site = [earth::RADIUS_KM, 0.0, 0.0];
    let body = [earth::RADIUS_KM + slant * sin, slant * cos, 0.0];
    close(length(body), a, 1e-9, "its orbit, km");
    close(elevation(site, body).to_degrees(), 8.2, 1e-9, "its elevation, deg");
    let horizon = (a * a - earth::RADIUS_KM * earth::RADIUS_KM).sqrt();
    close(horizon, 3249.3, 0.05, "horizon, km");
    close(elevation(site, [earth::RADIUS_KM, horizon, 0.0]), 0.0, 1e-12, "its elevation, rad");
}

/// Places computed by hand for ns-2's Iridium example: ascending node, place on the orbit, seconds, latitude and longitude.
#[test]
fn satellites_are_where_they_should_be() {
    let cases = [
        (0.0, 0.0, 600.0, 35.757, 0.090),
        (31.6, 16.36, 0.0, 16.327, 32.656),
        (31.6, 16.36, 600.0, 52.053, 33.721),
        (31.6, 16.36, 3000.0, -15.523, -159.933),
    ];
    for (node, place, seconds, north, east) in cases {
        let at = Body::Circle(Circle::orbit(780.0, 86.4, node, place)).position(seconds);
        close(latitude(at).to_degrees(), north, 1e-3, "latitude");
        close(longitude(at, seconds).to_degrees(), east, 1e-3, "longitude");
    }
}

#[test]
fn the_first_satellites_over_berkeley_and_boston() {
    let shell = star::Config::default().shell();
    let rules = handoff::Config::default();
    // Planes from 0, satellites from 0; elevation in degrees, distance in km.
    for (north, east, satellite, height, far) in [(37.9, -122.3, 26, 25.11, 1522.4), (42.3, -71.1, 48, 24.18, 1556.9)] {
        let site = Body::Circle(Circle::ground(north, east)).position(0.0);
        assert_eq!(rules.choose(&shell, site, None, 0.0), Some(satellite));
        let body = shell.bodies[satellite as usize].position(0.0);
        close(elevation(site, body).to_degrees(), height, 0.01, "elevation");
        close(distance(site, body), far, 0.1, "distance");
    }
}

/// Links between planes of ns-2's example while both ends are within 60 degrees. A satellite of an even plane is half a place behind
/// its neighbour to the east, one of an odd plane half a place ahead, and since planes lean to the east on their way north, these
/// are nearer. (Both ranges from a separate computation of two circles, in steps of a second.) The longest line of sight passes 150
/// km above the ground.
#[test]
fn links_between_planes_have_the_lengths_of_the_example() {
    let shell = star::Config::default().shell();
    let links: Vec<_> = shell.links().into_iter().filter(|link| !link.within_plane).collect();
    assert_eq!(links.len(), 55, "eleven between each of six planes");
    let mut ranges = [(f64::INFINITY, 0.0_f64); 2];
    for second in 0..6027 {
        let seconds = f64::from(second);
        for link in &links {
            let ends = link.ends.map(|end| shell.bodies[end as usize].position(seconds));
            if lasthop_core::satellite::mesh::is_up(ends, 60_f64.to_radians()) {
                let (far, range) = (distance(ends[0], ends[1]), &mut ranges[(link.ends[0] / 11 % 2) as usize]);
                *range = (range.0.min(far), range.1.max(far));
            }
        }
    }
    for ((least, most), expected) in ranges.into_iter().zip([(3254.1, 4470.6), (2947.8, 4252.8)]) {
        // Half a second is 4 km.
        close(least, expected.0, 4.0, "the shortest, km");
        close(most, expected.1, 4.0, "the longest, km");
    }
    let a = earth::RADIUS_KM + 780.0;
    let height = earth::RADIUS_KM + earth::ATMOSPHERE_KM;
    close(2.0 * (a * a - height * height).sqrt(), 5872.7, 0.05, "the longest grazing link, km");
}

/// The followers of a Walker shell close into rings, and each satellite has four neighbours.
#[test]
fn a_shell_of_starlink_is_a_torus() {
    let shell = walker::Config::default().shell();
    assert_eq!(shell.bodies.len(), 1584);
    let mut neighbours = vec![0; 1584];
    for link in shell.links() {
        for end in link.ends {
            neighbours[end as usize] += 1;
        }
        let [a, b] = link.ends.map(|end| shell.bodies[end as usize].position(0.0));
        assert!(earth::sees(a, b), "{link:?} is {} km long", distance(a, b));
    }
    assert!(neighbours.iter().all(|count| *count == 4));
    assert_eq!((shell.follower(0), shell.follower(21), shell.follower(22)), (21, 20, 43));
}

/// A line of an element set with its checksum.
fn with_checksum(line: &str) -> String {
    let sum: u32 = line.chars().map(|c| if c == '-' { 1 } else { c.to_digit(10).unwrap_or(0) }).sum();
    format!("{line}{}\n", sum % 10)
}

/// The element sets of planes of satellites on circles, as they are published: angles to 0.0001 deg.
fn element_sets(planes: &[(f64, f64)], per_plane: u32, inclination: f64, per_day: f64) -> String {
    let mut text = String::new();
    let all = planes.iter().flat_map(|plane| (0..per_plane).map(move |place| (plane, place)));
    for (number, ((node, first), place)) in (1..).zip(all) {
        let place = (first + 360.0 * f64::from(place) / f64::from(per_plane)).rem_euclid(360.0);
        text += &with_checksum(&format!("1 {number:05}U 24001A   24001.00000000  .00000000  00000-0  00000-0 0  999"));
        text += &with_checksum(&format!(
            "2 {number:05} {inclination:8.4} {node:8.4} 0000001   0.0000 {place:8.4} {per_day:11.8}    1"
        ));
    }
    text
}

/// 24 planes of 22 in a Walker delta with f = 13, and Iridium's star.
#[test]
fn planes_of_element_sets_close_where_they_go_all_around() {
    let delta: Vec<_> = (0..24).map(|n| (15.0 * f64::from(n), 360.0 * f64::from(n) * 13.0 / 528.0)).collect();
    let star: Vec<_> = (0..6).map(|n| (31.6 * f64::from(n), f64::from(n % 2) * 180.0 / 11.0)).collect();
    let plane_gap = lasthop_core::engine::space::Angle::from_degrees(2.0);
    let shell = |text| tle::Config { text, plane_gap }.shell();
    let closed = shell(element_sets(&delta, 22, 53.0, 15.05));
    assert_eq!((closed.planes.len(), closed.closes_with.is_some()), (24, true));
    let mut neighbours = vec![0; 528];
    for link in closed.links() {
        link.ends.iter().for_each(|end| neighbours[*end as usize] += 1);
        // Counterparts are at most half a place apart on their orbits, and 15 degrees between planes: far less than a ninth of a turn.
        let [a, b] = link.ends.map(|end| closed.bodies[end as usize].position(0.0));
        assert!(
            distance(a, b) < 2.0 * length(a) * libm::sin(12_f64.to_radians()),
            "{link:?} is {} km long",
            distance(a, b)
        );
    }
    assert!(neighbours.iter().all(|count| *count == 4));
    let open = shell(element_sets(&star, 11, 86.4, 14.34));
    assert_eq!((open.planes.len(), open.closes_with), (6, None));
}

/// Satellites that cross the equator side by side are counterparts, whether the one of the middle plane is a bit before its node or behind it.
#[test]
fn counterparts_do_not_depend_on_where_a_node_lies() {
    for middle in [0.5, -0.5] {
        let planes = [(0.0, 0.5), (30.0, middle), (60.0, 0.5)];
        let text = element_sets(&planes, 11, 86.4, 14.34);
        let shell = tle::Config { text, plane_gap: lasthop_core::engine::space::Angle::from_degrees(2.0) }.shell();
        assert_eq!(shell.planes, [11; 3]);
        for link in shell.links().into_iter().filter(|link| !link.within_plane) {
            let [a, b] = link.ends.map(|end| earth::latitude(shell.bodies[end as usize].position(0.0)).to_degrees());
            // A degree on their orbits.
            assert!((a - b).abs() < 1.5, "{middle}: {link:?} at {a} and {b} deg");
        }
    }
}

/// A satellite that has come down carries nothing: neither in its plane nor for terminals.
#[test]
fn a_satellite_that_has_come_down_forwards_nothing() {
    let mut text = String::new();
    for n in 0..12 {
        // The drag of the third brings it down within ten minutes.
        let drag = if n == 2 { " 99999+2" } else { " 00000-0" };
        text += &with_checksum(&format!("1 {n:05}U 24001A   24001.00000000  .00000000  00000-0 {drag} 0  999"));
        let place = 5.0 + 30.0 * f64::from(n);
        text += &with_checksum(&format!("2 {n:05}  53.0000   0.0000 0005000   0.0000 {place:8.4} 15.20000000    1"));
    }
    let flow = "duration = '620 s'\n[[flow]]\nfrom = 'a'\nto = 'b'\nstart = '600 s'\ntransport = 'udp'\n\
                source.cbr = { interval = '100 ms', size = '300 B' }";
    let sites = [("a", 49.8, -50.2), ("b", 35.6, 33.9)];
    let results = run(&sky(&sites, &format!("orbits.tle.text = \"\"\"\n{text}\"\"\""), flow), 1);
    let table = results.table("links").unwrap();
    let used: Vec<&str> = (0..table.rows()).filter_map(|row| table.text("link", row)).collect();
    assert!(used.iter().all(|link| !link.contains("sat[2]")), "{used:?}");
    // The other way around the Earth there are nine more.
    assert!(used.len() > 8, "{used:?}");
}

/// A scenario of one constellation with terminals at these places, north and east, then more.
fn sky(terminals: &[(&str, f64, f64)], lines: &str, more: &str) -> String {
    let mut text = format!("[[constellation]]\nname = \"sky\"\n{lines}\n");
    for (name, north, east) in terminals {
        let _ = write!(
            text,
            "[[constellation.terminal]]\nnode = \"{name}\"\nlatitude = \"{north} deg\"\nlongitude = \"{east} deg\"\n"
        );
    }
    format!("{more}\n{text}")
}

const COASTS: [(&str, f64, f64); 2] = [("berkeley", 37.9, -122.3), ("boston", 42.3, -71.1)];

/// At the start the way is berkeley, satellites 26, 37 and 48, boston: the sum of four distances at the speed of light, and of the times
/// in which four links send 1000 bytes.
#[test]
fn a_packet_takes_the_time_of_its_way() {
    let flow = "duration = \"1 s\"\n[[flow]]\nfrom = \"berkeley\"\nto = \"boston\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"972 B\", interval = \"10 s\" }";
    let (_, Log(events)) = watched(&sky(&COASTS, "", flow), Log::default());
    let [(arrived, _, _, Happened::Received(_))] = events[..] else { panic!("{events:?}") };
    let shell = star::Config::default().shell();
    let sites = COASTS.map(|(_, north, east)| Body::Circle(Circle::ground(north, east)));
    let stations = [&sites[0], &shell.bodies[26], &shell.bodies[37], &shell.bodies[48], &sites[1]];
    let sending = [1.5e6, 25e6, 25e6, 1.5e6].map(|rate| 8000.0 / rate);
    let mut at = 0.0;
    for (hop, sending) in stations.windows(2).zip(sending) {
        let [from, to] = [hop[0], hop[1]].map(|body| body.position(at));
        at += sending + distance(from, to) / earth::LIGHT_KM_PER_S;
    }
    close(arrived.as_secs_f64() * 1e3, at * 1e3, 1e-5, "delay, ms");
}

/// A packet to terminals under several satellites comes to each once, however often its way divides; two of them hear one transmission.
#[test]
fn a_packet_to_a_group_comes_to_each_terminal_once() {
    let around = [("salem", 42.5, -70.9), ("lima", -12.0, -77.0), ("oslo", 59.9, 10.7), ("tokyo", 35.7, 139.7)];
    let all = [&COASTS[..], &around].concat();
    let more = "duration = \"1 s\"\n[[group]]\nname = \"all\"\nmembers = [\"boston\", \"salem\", \"lima\", \"oslo\", \"tokyo\"]\n\
                [[flow]]\nname = \"film\"\nfrom = \"berkeley\"\nto = \"all\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"972 B\", interval = \"10 s\" }";
    let (_, Log(events)) = watched(&sky(&all, "", more), Log::default());
    let received = |(.., happened): &Event| match happened {
        Happened::Received(node) => node.0,
        other => panic!("{other:?}"),
    };
    let nodes: Vec<u32> = events.iter().map(received).collect();
    let distinct: BTreeSet<&u32> = nodes.iter().collect();
    assert_eq!((nodes.len(), distinct.len()), (5, 5), "{nodes:?}");
}

/// Twenty terminals around the world over ten orbits: as often handed over as the geometry asks, never without a satellite, and each packet
/// sent arrives or is accounted for.
#[test]
fn a_day_of_handoffs_at_berkeley() {
    // 166 handoffs a day with looks each 10 s (a plain model of the same rules); 5 % for random looks.
    let text = sky(&COASTS, "", "duration = \"86400 s\"\nrecord.state = true");
    let results = run(&text, 1);
    let of = |quantity: &str| state(&results, &[("name", "berkeley down")], quantity);
    close(of("handoffs"), 166.0, 8.0, "handoffs");
    close(of("outage_s"), 0.0, 0.0, "outage");
}

/// Losses and handoffs under TCP: the run ends with every packet accounted for, and losses behind the queue are seen as such.
#[test]
fn errors_take_packets_behind_the_queue() {
    let flow = "duration = \"200 s\"\n[[flow]]\nfrom = \"berkeley\"\nto = \"boston\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"972 B\", rate = \"500 kbit/s\" }";
    for (at, place) in [("up", "berkeley up"), ("down", "boston down")] {
        let lines = format!("{at}.loss.bernoulli.p = 0.01");
        let results = run(&sky(&COASTS, &lines, flow), 1);
        let drops = results.table("drops").unwrap();
        let lost: f64 = (0..drops.rows())
            .filter(|&row| drops.text("place", row) == Some(place) && drops.text("cause", row) == Some("radio"))
            .filter_map(|row| drops.number("packets", row))
            .sum();
        // 500 kbit/s of 972 bytes are 64.3 packets a second.
        let sent = 200.0 * 500e3 / (8.0 * 972.0);
        close(lost, 0.01 * sent, 4.0 * (0.01 * sent).sqrt(), place);
    }
}

/// With all packets up lost, none arrives: also none that is in flight at a handoff, and each was sent.
#[test]
fn errors_take_packets_in_flight_at_a_handoff() {
    let flow = "duration = \"3000 s\"\nrecord.state = true\n[[flow]]\nfrom = \"berkeley\"\nto = \"boston\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"300 B\", interval = \"2 ms\" }";
    let results = run(&sky(&COASTS, "up.loss.bernoulli.p = 1.0", flow), 1);
    assert!(state(&results, &[("name", "berkeley down")], "handoffs") > 3.0);
    assert_eq!(column(&results, "flows", "received_packets"), [0.0]);
    let drops = results.table("drops").unwrap();
    let lost = drops.number("packets", rows(drops, &[("place", "berkeley up"), ("cause", "radio")])[0]);
    let links = results.table("links").unwrap();
    let sent = links.number("packets", rows(links, &[("link", "berkeley up")])[0]);
    assert_eq!(sent, lost);
    // The last are still on their way.
    assert!((1_499_990.0..1_500_000.0).contains(&sent.unwrap()), "{sent:?}");
}

/// A down-link of 82.24 ms a packet never rests. Its satellite is out of sight from 15 s on, for one packet's time or two: each that begins
/// meanwhile is lost.
#[test]
fn what_begins_to_fall_unseen_is_lost() {
    for (until, expected) in [(15.0822, 1.0), (15.1644, 2.0)] {
        let more = format!(
            "duration = \"20 s\"\n[[flow]]\nfrom = \"boston\"\nto = \"berkeley\"\ntransport = \"udp\"\n\
             source.cbr = {{ size = \"1000 B\", interval = \"70 ms\" }}\n[[change]]\nat = \"15 s\"\nlink = \"berkeley\"\nup = false\n\
             [[change]]\nat = \"{until} s\"\nlink = \"berkeley\"\nup = true"
        );
        let results = run(&sky(&COASTS, "handoff.jitter = \"0 s\"\ndown.rate = \"100 kbit/s\"", &more), 1);
        let drops = results.table("drops").unwrap();
        let lost = rows(drops, &[("cause", "handover")]).into_iter().filter_map(|row| drops.number("packets", row));
        assert_eq!(lost.sum::<f64>(), expected, "until {until} s");
    }
}

/// Packets in front of a busy down-link when their terminal leaves are lost, or sent on to the next satellite.
#[test]
fn what_waits_at_a_handoff_is_lost_or_sent_on() {
    let flow = "duration = \"3000 s\"\nrecord.state = true\n[[flow]]\nfrom = \"berkeley\"\nto = \"boston\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"972 B\", rate = \"1 Mbit/s\" }";
    let mut lost = Vec::new();
    for queued in ["lose", "reroute"] {
        let lines = format!("down.rate = \"500 kbit/s\"\nhandoff.queued = \"{queued}\"");
        let results = run(&sky(&COASTS, &lines, flow), 1);
        let drops = results.table("drops").unwrap();
        let handover = (0..drops.rows()).filter(|&row| drops.text("cause", row) == Some("handover"));
        lost.push(handover.filter_map(|row| drops.number("packets", row)).sum::<f64>());
        let rerouted = column(&results, "cells", "rerouted_packets")[0];
        assert_eq!(rerouted > 0.0, queued == "reroute", "{rerouted} packets were sent on");
    }
    // Fifty packets wait at each of some six handoffs; of those sent on only the packet in service is lost.
    assert!(lost[0] > 100.0 && lost[1] < 0.1 * lost[0], "{lost:?}");
}

/// No satellite of a shell inclined by 53° stands above a terminal at 85° north: one outage from the start, and no way to or from there.
#[test]
fn an_outage_from_the_start_is_one() {
    let sites = [("pole", 85.0, 0.0), ("rome", 42.0, 12.0)];
    for (from, to) in [("pole", "rome"), ("rome", "pole")] {
        let flow = format!(
            "duration = \"30 s\"\nrecord.state = true\n[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\n\
             source.cbr = {{ size = \"500 B\", interval = \"100 ms\" }}"
        );
        let results = run(&sky(&sites, "orbits = \"walker\"", &flow), 1);
        let of = |name: &str, quantity: &str| state(&results, &[("name", name)], quantity);
        assert_eq!([of("pole down", "outages"), of("pole down", "outage_s")], [1.0, 30.0]);
        assert_eq!([of("rome down", "outages"), of("rome down", "outage_s")], [0.0, 0.0]);
        let drops = results.table("drops").unwrap();
        assert_eq!(rows(drops, &[("place", "network"), ("cause", "no_route")]).len(), drops.rows(), "{from} to {to}");
        assert_eq!(drops.number("packets", 0), Some(300.0), "{from} to {to}");
    }
}

/// Packets to a group are lost for a terminal that leaves, also where it was the only member below its satellite, and none is counted as
/// sent on.
#[test]
fn packets_to_a_group_are_not_sent_on() {
    for trees in ["signalled", "instant"] {
        let more = format!(
            "duration = \"3000 s\"\n[[group]]\nname = \"coast\"\nmembers = [\"boston\"]\ntrees = \"{trees}\"\n[[flow]]\n\
             from = \"berkeley\"\nto = \"coast\"\ntransport = \"udp\"\nsource.cbr = {{ size = \"972 B\", rate = \"1 Mbit/s\" }}"
        );
        let results = run(&sky(&COASTS, "down.rate = \"500 kbit/s\"\nhandoff.queued = \"reroute\"", &more), 1);
        assert_eq!(column(&results, "cells", "rerouted_packets")[0], 0.0, "{trees}");
        let drops = results.table("drops").unwrap();
        let lost = rows(drops, &[("place", "boston down"), ("cause", "handover")]).into_iter();
        let lost: f64 = lost.map(|row| drops.number("packets", row).unwrap()).sum();
        // Fifty packets wait at each of some six handoffs.
        assert!(lost > 100.0, "{trees}: {lost} packets");
    }
}

/// Links are shown from when they are first used, in the course of the run: the rates of all others and of flows stay what they are.
#[test]
fn rates_over_time_add_up_to_totals() {
    let flow = "duration = \"900 s\"\nrecord.series = \"1 s\"\n[[flow]]\nname = \"west\"\nfrom = \"berkeley\"\nto = \"boston\"\n\
                transport = \"udp\"\nsource.cbr = { size = \"972 B\", rate = \"500 kbit/s\" }\n\
                [[flow]]\nname = \"east\"\nfrom = \"boston\"\nto = \"berkeley\"\nstart = \"100 s\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"972 B\", rate = \"200 kbit/s\" }";
    let results = run(&sky(&COASTS, "", flow), 1);
    for (flow, received) in ["west", "east"].iter().zip(column(&results, "flows", "received_bytes")) {
        let rates = series(&results, flow, "goodput_kbps");
        assert!(rates.iter().all(|(_, rate)| *rate >= 0.0));
        let all: f64 = rates.iter().map(|(_, rate)| rate * 1e3 / 8.0).sum();
        // Packets of the last second are not sampled.
        assert!((received - all).abs() <= 2.0 * 500e3 / 8.0 && all <= received, "{flow}: {all} of {received}");
    }
}

/// Two sets of the ISS's plane make one plane of two; another inclination makes another.
#[test]
fn element_sets_make_planes() {
    let one = "ISS (ZARYA)\n1 25544U 98067A   20194.88612269 -.00002218  00000-0 -31515-4 0  9992\n\
               2 25544  51.6461 221.2784 0001413  89.1723 280.4612 15.49507896236008\n";
    let text = tle::Config { text: one.to_owned(), plane_gap: lasthop_core::engine::space::Angle::from_degrees(2.0) };
    text.check().unwrap();
    let shell = text.shell();
    assert_eq!((shell.bodies.len(), shell.planes.as_slice()), (1, &[1][..]));
    let at = length(shell.bodies[0].position(0.0)) - earth::RADIUS_KM;
    // The station flew 415 to 425 km high in July 2020.
    assert!((410.0..430.0).contains(&at), "{at} km");
    for (broken, words) in [
        (one.replace("9992", "9991"), "line 3"),
        (one.replace("9992", "999("), "line 2: it does not end with its checksum"),
        (one.lines().take(2).collect::<Vec<_>>().join("\n"), "no second one behind it"),
        (String::new(), "there is no satellite"),
    ] {
        let fault = tle::Config { text: broken, ..text.clone() }.check().unwrap_err();
        assert!(fault.message.contains(words), "{fault:?}");
    }
}

#[test]
fn constellations_that_make_no_sense_are_refused() {
    let text = element_sets(&[(0.0, 5.0)], 2, 53.0, 15.2);
    let old = element_sets(&[(0.0, 65.0)], 1, 53.0, 16.2)
        .replace("24001.0", "23336.0")
        .replace("00000-0 0  999", "10000-2 0  999");
    let old: Vec<String> = old.lines().map(|line| with_checksum(&line[..68])).collect();
    let stale = format!("orbits.tle.text = \"\"\"\n{text}{}\"\"\"", old.concat());
    for (lines, words) in [
        ("orbits.star.planes = 4000000000", "too many satellites"),
        ("orbits.star.altitude = \"100 km\"", "no satellite flies there"),
        ("orbits.walker.phasing = 72", "it counts planes"),
        ("handoff.interval = \"0 s\"", "looks at every instant"),
        ("handoff.mask = \"95 deg\"", "no satellite stands there"),
        ("isl.latitude_limit = \"100 deg\"", "no such latitude"),
        ("orbits.tle.text = \"nonsense\\n\"", "there is no satellite"),
        // A set of 30 days ago whose satellite has come down since.
        (&stale, "no longer above the ground"),
    ] {
        let text = sky(&COASTS, lines, "duration = \"1 s\"");
        let document = read::toml(&text, "test.toml").unwrap();
        let error = lasthop_core::scenario::check(&document).unwrap_err().to_string();
        assert!(error.contains(words), "{lines}: {error}");
    }
}

/// A way that packets find for themselves says nothing of a tree: with a flow beside the group, members get each packet once.
#[test]
fn ways_of_packets_leave_trees_alone() {
    let sites = [("a", 37.9, -122.3), ("b", 42.3, -71.1), ("c", 51.0, 0.0), ("d", -33.0, 18.0)];
    let flow = |from, to| {
        format!(
            "[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\nsource.cbr = {{ size = \"500 B\", interval = \"500 ms\" }}\n"
        )
    };
    let group = "duration = \"2000 s\"\n[[group]]\nname = \"world\"\nmembers = [\"b\", \"c\", \"d\"]\n";
    let results =
        run(&sky(&sites, "routes = \"packets\"", &(group.to_owned() + &flow("a", "world") + &flow("b", "a"))), 1);
    let sent = 4000.0;
    for received in &column(&results, "flows", "received_packets")[..3] {
        assert!((0.95 * sent..=sent).contains(received), "{received} of {sent}");
    }
}

/// All links of a satellite have one interface, whose queue is that of the way down. A rate cannot be reserved for a link to another satellite: the
/// hop is one without reservation, and nothing is taken away from packets down.
#[test]
fn links_between_satellites_are_hops_without_reservation() {
    let flow = "duration = \"60 s\"\nrecord.state = true\n[[flow]]\nname = \"f\"\nfrom = \"berkeley\"\nto = \"boston\"\ntransport = \"udp\"\n\
                source.cbr = { size = \"160 B\", rate = \"64 kbit/s\" }\nqos.intserv.rate = \"80 kbit/s\"";
    let queues = "up.queue = \"wfq\"\ndown.queue = \"wfq\"\nisl.queue = \"wfq\"";
    let results = run(&sky(&COASTS, queues, flow), 1);
    let of = |kind: &str, name: &str, quantity: &str| state(&results, &[("kind", kind), ("name", name)], quantity);
    assert!(of("sender", "f", "hops_without_reservation") >= 1.0);
    // Of the satellites only that above Boston has what is reserved.
    assert_eq!(of("link", "sky.sat[48] down", "reserved_bps"), 80_000.0);
    assert_eq!(of("link", "berkeley up", "reserved_bps"), 80_000.0);
    let links = results.table("state").unwrap();
    let reserved = rows(links, &[("kind", "link"), ("quantity", "reserved_bps")]).into_iter();
    assert_eq!(reserved.filter(|row| links.number("value", *row).unwrap() > 0.0).count(), 2);
}
