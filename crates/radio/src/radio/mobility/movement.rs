//! Where a terminal is at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::choice;
use lasthop_net::engine::{Duration, Fault, Instant, Point, Speed, Stream};

/// Says where a terminal is. Asked at instants that do not decrease.
pub trait Movement: Send {
    /// Where it is at `now`.
    fn position(&mut self, now: Instant) -> Point;
}

/// The parameters of a movement.
pub trait MovementConfig: Send + Sync {
    /// The movement of a terminal, which may draw from a stream of its own.
    fn build(&self, stream: Stream) -> Box<dyn Movement>;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault>;
}

choice! {
    /// How a terminal moves.
    pub enum Way: "movement" as MovementConfig {
        /// It stays where it is.
        "still" => Still(Still),
        /// It goes from place to place, and is at each at a given time.
        "waypoints" => Waypoints(Waypoints),
        /// It goes straight at a constant speed.
        "straight" => Straight(Straight),
        /// It goes to places drawn at random in a rectangle, one after another, with a pause at each.
        "random_waypoint" => RandomWaypoint(RandomWaypoint),
    }
}

/// A terminal that stays where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Still {
    /// Where, in coordinates east and north. Default: the origin.
    pub at: Point,
}

/// A terminal that is at given places at given times, and on the straight way in between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Waypoints {
    /// The places in the order of their times. Before the first it is there, after the last it stays there.
    pub points: Vec<Waypoint>,
}

/// A place at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// When.
    pub time: Duration,
    /// Where.
    pub at: Point,
}

/// A terminal that goes straight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Straight {
    /// Where it is at the start of the run.
    #[serde(default)]
    pub from: Point,
    /// Where it goes.
    pub to: Point,
    /// How fast. Default: 50 km/h.
    #[serde(default = "usual_speed")]
    pub speed: Speed,
    /// Whether it turns at the end and goes back, again and again. Default: no: it stays there.
    #[serde(default)]
    pub back_and_forth: bool,
}

/// A terminal that goes to places drawn at random, starting at one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomWaypoint {
    /// Two opposite corners of the rectangle.
    pub corners: [Point; 2],
    /// The least and the highest speed, between which that of each way is drawn. 3 to 50 km/h. The least is above 0, or
    /// terminals come to a stand for ever (Yoon, Liu, Noble: *Random Waypoint Considered Harmful*, INFOCOM 2003).
    #[serde(default = "usual_speeds")]
    pub speed: [Speed; 2],
    /// How long it stays at each place. Default: 0 s.
    #[serde(default)]
    pub pause: Duration,
}

fn usual_speed() -> Speed {
    Speed::from_metres_per_s(50.0 / 3.6)
}

fn usual_speeds() -> [Speed; 2] {
    [Speed::from_metres_per_s(3.0 / 3.6), usual_speed()]
}

impl MovementConfig for Still {
    fn build(&self, _stream: Stream) -> Box<dyn Movement> {
        Box::new(self.clone())
    }

    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

impl Movement for Still {
    fn position(&mut self, _now: Instant) -> Point {
        self.at
    }
}

impl MovementConfig for Waypoints {
    fn build(&self, _stream: Stream) -> Box<dyn Movement> {
        Box::new(self.clone())
    }

    fn check(&self) -> Result<(), Fault> {
        if self.points.is_empty() {
            return Err(Fault::new("points", "a way without places", "expected at least one"));
        }
        let in_order = self.points.windows(2).all(|pair| pair[0].time < pair[1].time);
        let wrong = || Fault::new("points", "the places' times do not grow", "expected each later than the one before");
        if in_order { Ok(()) } else { Err(wrong()) }
    }
}

impl Movement for Waypoints {
    fn position(&mut self, now: Instant) -> Point {
        let past = self.points.partition_point(|point| Instant::ZERO + point.time <= now);
        match (past.checked_sub(1).map(|n| &self.points[n]), self.points.get(past)) {
            (Some(last), Some(next)) => {
                let gone = now.since(Instant::ZERO + last.time).as_secs_f64();
                last.at.toward(next.at, gone / (next.time - last.time).as_secs_f64())
            }
            (Some(only), None) | (None, Some(only)) => only.at,
            (None, None) => Point::default(),
        }
    }
}

impl MovementConfig for Straight {
    fn build(&self, _stream: Stream) -> Box<dyn Movement> {
        Box::new(self.clone())
    }

    fn check(&self) -> Result<(), Fault> {
        positive_speed("speed", self.speed)?;
        if self.from == self.to {
            return Err(Fault::new("to", "a way from a place to itself", "expected another place"));
        }
        Ok(())
    }
}

impl Movement for Straight {
    fn position(&mut self, now: Instant) -> Point {
        let way = self.from.distance(self.to).metres();
        let ways = now.as_secs_f64() * self.speed.metres_per_s() / way;
        let share = if self.back_and_forth { 1.0 - (ways % 2.0 - 1.0).abs() } else { ways.min(1.0) };
        self.from.toward(self.to, share)
    }
}

impl MovementConfig for RandomWaypoint {
    fn build(&self, stream: Stream) -> Box<dyn Movement> {
        let mut wanderer = Wanderer {
            config: self.clone(),
            stream,
            from: Point::default(),
            to: Point::default(),
            leaves: Instant::ZERO,
            arrives: Instant::ZERO,
        };
        wanderer.to = wanderer.place();
        wanderer.go_on();
        Box::new(wanderer)
    }

    fn check(&self) -> Result<(), Fault> {
        positive_speed("speed", self.speed[0])?;
        if self.speed[1] < self.speed[0] {
            return Err(Fault::new("speed", "the highest speed lies below the least", "expected the least first"));
        }
        let [a, b] = self.corners;
        if a == b {
            return Err(Fault::new("corners", "a rectangle without size", "expected two opposite corners"));
        }
        let longest = a.time_to(b, self.speed[1]) + self.pause;
        if longest < SHORTEST_WAY {
            let message = format!("the longest way and the pause after it take {longest}");
            return Err(Fault::new(
                "corners",
                message,
                format!("expected {SHORTEST_WAY} or more, or slower terminals"),
            ));
        }
        Ok(())
    }
}

fn positive_speed(field: &'static str, speed: Speed) -> Result<(), Fault> {
    if speed.metres_per_s() > 0.0 {
        return Ok(());
    }
    Err(Fault::new(field, "a terminal that moves at no speed", "expected more than 0 m/s, or the movement \"still\""))
}

/// The least time of the longest way: a radio frame. Places are not read more often.
const SHORTEST_WAY: Duration = Duration::from_millis(10);

/// A terminal on its way between places drawn at random.
struct Wanderer {
    config: RandomWaypoint,
    stream: Stream,
    from: Point,
    to: Point,
    leaves: Instant,
    arrives: Instant,
}

impl Wanderer {
    fn place(&mut self) -> Point {
        let [a, b] = self.config.corners;
        let east = self.stream.uniform(a.0.metres(), b.0.metres());
        Point::from_metres(east, self.stream.uniform(a.1.metres(), b.1.metres()))
    }

    /// It has arrived: from here to the next place.
    fn go_on(&mut self) {
        let [least, most] = self.config.speed;
        self.leaves = self.arrives + self.config.pause;
        self.from = self.to;
        self.to = self.place();
        let speed = self.stream.uniform(least.metres_per_s(), most.metres_per_s());
        self.arrives = self.leaves + self.from.time_to(self.to, Speed::from_metres_per_s(speed));
    }
}

impl Movement for Wanderer {
    fn position(&mut self, now: Instant) -> Point {
        while now >= self.arrives && self.arrives < Instant::MAX {
            self.go_on();
        }
        let way = self.arrives.since(self.leaves).as_secs_f64();
        let gone = now.since(self.leaves).as_secs_f64();
        if way > 0.0 { self.from.toward(self.to, gone / way) } else { self.to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    fn stream() -> Stream {
        Streams::new(3).stream("test", "movement")
    }

    fn at(movement: &mut dyn Movement, seconds: f64) -> [f64; 2] {
        let Point(east, north) = movement.position(Instant::from_secs_f64(seconds));
        [east.metres(), north.metres()]
    }

    #[test]
    fn a_straight_way_is_as_long_as_speed_times_time() {
        let straight = |back_and_forth| Straight {
            from: Point::from_metres(0.0, 0.0),
            to: Point::from_metres(300.0, 400.0),
            speed: Speed::from_metres_per_s(10.0),
            back_and_forth,
        };
        let (mut once, mut again) = (straight(false).build(stream()), straight(true).build(stream()));
        for (seconds, expected, turned) in [
            (0.0, [0.0, 0.0], [0.0, 0.0]),
            (25.0, [150.0, 200.0], [150.0, 200.0]),
            (50.0, [300.0, 400.0], [300.0, 400.0]),
            (60.0, [300.0, 400.0], [240.0, 320.0]),
            (100.0, [300.0, 400.0], [0.0, 0.0]),
        ] {
            assert_eq!(at(&mut *once, seconds), expected, "{seconds} s");
            let got = at(&mut *again, seconds);
            assert!((0..2).all(|n| (got[n] - turned[n]).abs() < 1e-9), "{seconds} s: {got:?}");
        }
    }

    #[test]
    fn waypoints_are_reached_at_their_times() {
        let point = |s, east, north| Waypoint { time: Duration::from_secs(s), at: Point::from_metres(east, north) };
        let mut way = Waypoints { points: vec![point(10, 0.0, 0.0), point(20, 100.0, 0.0), point(24, 100.0, 80.0)] }
            .build(stream());
        for (seconds, expected) in [
            (0.0, [0.0, 0.0]),
            (10.0, [0.0, 0.0]),
            (12.5, [25.0, 0.0]),
            (20.0, [100.0, 0.0]),
            (23.0, [100.0, 60.0]),
            (99.0, [100.0, 80.0]),
        ] {
            assert_eq!(at(&mut *way, seconds), expected, "{seconds} s");
        }
    }

    #[test]
    fn random_places_lie_in_the_rectangle_and_speeds_in_their_range() {
        let config = RandomWaypoint {
            corners: [Point::from_metres(0.0, 0.0), Point::from_metres(1000.0, 500.0)],
            speed: [Speed::from_metres_per_s(5.0), Speed::from_metres_per_s(15.0)],
            pause: Duration::from_secs(2),
        };
        let mut wanderer = config.build(stream());
        let (mut before, mut stood, mut moved) = (at(&mut *wanderer, 0.0), 0, 0);
        for tenth in 1..100_000 {
            let now = at(&mut *wanderer, f64::from(tenth) / 10.0);
            assert!((0.0..=1000.0).contains(&now[0]) && (0.0..=500.0).contains(&now[1]), "{now:?}");
            let speed = libm::hypot(now[0] - before[0], now[1] - before[1]) * 10.0;
            assert!(speed < 15.0 + 1e-6, "{speed}");
            stood += u32::from(speed < 1e-9);
            moved += u32::from(speed > 5.0 - 1e-6);
            before = now;
        }
        // The mean way in a rectangle of a × b is (Santaló; here a = 1000, b = 500): 402.4 m. Speeds are uniform, so the mean
        // time of a way is 402.4 m · ln(15/5)/(15 − 5) = 44.2 s, and of the time 2/46.2 = 4.3 % is spent standing.
        let share = f64::from(stood) / 1e5;
        assert!((share - 0.0433).abs() < 0.009, "{share}");
        assert!(moved > 90_000);
    }
}
