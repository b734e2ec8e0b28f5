//! What a learner decides: three spaces of actions, and the window and the rate that follow.

use libm::{exp, log};

use crate::engine::{BitRate, Duration};

use super::interval::{Decision, MonitorInterval};

/// How much an action of 1 changes the rate (α of Aurora, Jay et al. 2019; `DELTA_SCALE` of its PCC-RL).
const ALPHA: f64 = 0.025;
/// A window beside a rate, in what the rate sends in a smoothed round-trip time: DefaultCwndGain of draft-ietf-ccwg-bbr §2.
const WINDOW_GAIN: f64 = 2.0;
/// Its least, segments: MinPipeCwnd of draft-ietf-ccwg-bbr §2.
const LEAST_GAINED: f64 = 4.0;
/// The largest window, segments: at 1 Gbit/s, it lasts for a round trip of 190 ms.
const MOST_SEGMENTS: f64 = 16_384.0;
/// The highest rate, bit/s. The lowest is a segment a second.
const MOST_RATE: f64 = 1e9;
/// The highest rate that a multiplied rate reaches, in greatest delivery rates of 10 s: beyond it packets are only dropped. PCC-RL has 1000 packets/s,
/// 2 to 10 times the rates of its paths.
const MOST_GAIN: f64 = 4.0;
/// What is added to the window, and taken from it, segments (mvfst-rl, Sivakumar et al. 2019).
const SOME_SEGMENTS: f64 = 10.0;

/// A space of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionSpace {
    /// A number from −1 to 1, by which the rate grows or shrinks (Aurora, Jay et al. 2019).
    RateMultiplier,
    /// One of five: half of the window, ten segments less, the same, ten more, twice as much (mvfst-rl, Sivakumar et al. 2019).
    WindowSteps,
    /// Two numbers from 0 to 1: the window and the rate, on logarithmic scales.
    WindowAndRate,
}

/// Their names.
pub const ACTION_SPACES: [(&str, ActionSpace); 3] = [
    ("rate-multiplier", ActionSpace::RateMultiplier),
    ("window-steps", ActionSpace::WindowSteps),
    ("window-and-rate", ActionSpace::WindowAndRate),
];

/// Window and rate before they are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Control {
    /// Bytes.
    window: f64,
    /// Bit/s.
    rate: f64,
}

impl ActionSpace {
    /// How many numbers an action has.
    pub fn width(self) -> usize {
        match self {
            Self::RateMultiplier | Self::WindowSteps => 1,
            Self::WindowAndRate => 2,
        }
    }

    /// Says what of an action lies outside.
    ///
    /// # Errors
    /// A sentence that names the number and the space.
    pub fn check(self, action: &[f64]) -> Result<(), String> {
        let (range, whole, shown) = match self {
            Self::RateMultiplier => (-1.0..=1.0, false, "a number from -1 to 1"),
            Self::WindowSteps => (0.0..=4.0, true, "a whole number from 0 to 4"),
            Self::WindowAndRate => (0.0..=1.0, false, "a number from 0 to 1"),
        };
        // Not a number lies in no range.
        let outside = |value: &f64| !range.contains(value) || whole && libm::floor(*value) != *value;
        match action.iter().position(outside) {
            Some(place) => Err(format!("action[{place}] is {}: it must be {shown}", action[place])),
            None => Ok(()),
        }
    }

    /// Where a learner begins: at the initial window, sent once in a round trip.
    pub fn start(self, interval: &MonitorInterval) -> Control {
        Control { window: interval.initial_window as f64, rate: initial_rate(interval) }
    }

    /// What follows from an action within the space, in segments of the present connection.
    pub fn apply(self, control: &mut Control, action: &[f64], interval: &MonitorInterval) {
        let segment = interval.segment as f64;
        match (self, action) {
            (Self::RateMultiplier, &[a]) => {
                control.rate *= if a > 0.0 { 1.0 + ALPHA * a } else { 1.0 / (1.0 - ALPHA * a) };
                control.rate = control.rate.min(MOST_GAIN * known_rate(interval));
            }
            (Self::WindowSteps, &[a]) => {
                control.window = match a as u8 {
                    0 => control.window / 2.0,
                    1 => control.window - SOME_SEGMENTS * segment,
                    2 => control.window,
                    3 => control.window + SOME_SEGMENTS * segment,
                    _ => control.window * 2.0,
                };
            }
            (Self::WindowAndRate, &[w, r]) => {
                control.window = segment * between(1.0, MOST_SEGMENTS, w);
                control.rate = between(8.0 * segment, MOST_RATE, r);
            }
            _ => unreachable!("an action was checked, and has the width of its space"),
        }
        control.rate = control.rate.clamp((8.0 * segment).min(MOST_RATE), MOST_RATE);
        // Without a round-trip time the window stays.
        if self == Self::RateMultiplier && interval.srtt > Duration::ZERO {
            let sent = WINDOW_GAIN * control.rate / 8.0 * interval.srtt.as_secs_f64();
            control.window = sent.max(LEAST_GAINED * segment);
        }
        control.window = control.window.clamp(segment, MOST_SEGMENTS * segment);
    }

    /// As the sender takes it.
    pub fn decision(self, control: &Control) -> Decision {
        let pacing = (self != Self::WindowSteps).then(|| BitRate::from_bps(control.rate as u64));
        Decision { window: control.window as u64, pacing }
    }
}

/// The initial window in a round trip, bit/s. Before the first round-trip time a sender assumes 1 s (RFC 6298 §2.1).
fn initial_rate(interval: &MonitorInterval) -> f64 {
    let srtt = interval.srtt.as_secs_f64();
    8.0 * interval.initial_window as f64 / if srtt > 0.0 { srtt } else { 1.0 }
}

/// The greatest delivery rate, as far as it is known: the first samples are of single segments.
fn known_rate(interval: &MonitorInterval) -> f64 {
    interval.max_rate().unwrap_or(0.0).max(initial_rate(interval))
}

/// A share of the way from one positive number to another, on a logarithmic scale.
fn between(from: f64, to: f64, share: f64) -> f64 {
    from * exp(share * log(to / from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Instant;
    use crate::transport::congestion::{AckSample, RateSample, Record};

    const SEGMENT: f64 = 1000.0;

    fn interval() -> MonitorInterval {
        let mut interval = MonitorInterval::default();
        interval.srtt = Duration::from_millis(100);
        interval.connect(1000, 10_000, 0);
        interval
    }

    /// Window in segments and rate in bit/s after actions.
    fn after(space: ActionSpace, actions: &[&[f64]]) -> (f64, f64) {
        let interval = interval();
        let mut control = space.start(&interval);
        for action in actions {
            space.check(action).unwrap();
            space.apply(&mut control, action, &interval);
        }
        (control.window / SEGMENT, control.rate)
    }

    #[test]
    fn a_rate_is_multiplied_as_auroras_is() {
        let space = ActionSpace::RateMultiplier;
        // Ten segments of 1000 B in 100 ms.
        assert_eq!(after(space, &[&[0.0]]).1, 800e3);
        assert!((after(space, &[&[1.0]]).1 - 820e3).abs() < 1e-6);
        assert!((after(space, &[&[-1.0]]).1 - 800e3 / 1.025).abs() < 1e-6);
        // There and back.
        assert!((after(space, &[&[0.7], &[-0.7]]).1 - 800e3).abs() < 1e-6);
        // The window is twice what the rate sends in a round trip, and at least four segments.
        assert!((after(space, &[&[1.0]]).0 - 20.5).abs() < 1e-9);
        assert_eq!(after(space, &[&[-1.0] as &[f64]; 200]).0, 4.0);
        // A segment a second is the least; four times the initial rate the most, as long as no more is delivered.
        assert_eq!(after(space, &[&[-1.0] as &[f64]; 2000]).1, 8.0 * SEGMENT);
        assert_eq!(after(space, &[&[1.0] as &[f64]; 2000]), (80.0, 4.0 * 800e3));
    }

    #[test]
    fn a_multiplied_rate_stays_near_what_is_delivered() {
        let mut interval = interval();
        let zero = Instant::ZERO;
        let record = Record {
            sent_at: zero,
            delivered: 0,
            delivered_at: zero,
            first_sent_at: zero,
            tx_in_flight: 0,
            lost: 0,
            app_limited: false,
        };
        // 10 segments of 1000 B in 100 ms: 800 kbit/s.
        let rate = RateSample { delivered: 10_000, lost: 0, interval: Some(Duration::from_millis(100)), record };
        let srtt = interval.srtt;
        interval.on_ack(&AckSample { srtt, rate: Some(rate), ..AckSample::default() });
        let mut control = ActionSpace::RateMultiplier.start(&interval);
        for _ in 0..200 {
            ActionSpace::RateMultiplier.apply(&mut control, &[1.0], &interval);
        }
        assert_eq!(control.rate, 4.0 * 800e3);
    }

    #[test]
    fn a_window_takes_five_steps() {
        let space = ActionSpace::WindowSteps;
        let windows = [0.0, 1.0, 2.0, 3.0, 4.0].map(|step| after(space, &[&[4.0], &[step]]).0);
        assert_eq!(windows, [10.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(after(space, &[&[1.0] as &[f64]; 3]).0, 1.0);
        assert_eq!(after(space, &[&[4.0] as &[f64]; 30]).0, 16_384.0);
        let control = space.start(&interval());
        assert_eq!(space.decision(&control), Decision { window: 10_000, pacing: None });
    }

    #[test]
    fn segments_are_those_of_the_present_connection() {
        let mut interval = interval();
        let mut control = ActionSpace::WindowSteps.start(&interval);
        interval.connect(500, 5_000, 0);
        ActionSpace::WindowSteps.apply(&mut control, &[3.0], &interval);
        assert_eq!(control.window, 15_000.0);
        for space in [ActionSpace::RateMultiplier, ActionSpace::WindowSteps, ActionSpace::WindowAndRate] {
            interval.connect(500, 5_000, 0);
            let action = [[-1.0, 0.0], [0.0, 0.0]][usize::from(space != ActionSpace::RateMultiplier)];
            for _ in 0..2000 {
                space.apply(&mut control, &action[..space.width()], &interval);
            }
            interval.connect(1000, 10_000, 0);
            space.apply(&mut control, &action[..space.width()], &interval);
            assert!(control.window >= SEGMENT && control.rate >= 8.0 * SEGMENT, "{space:?}: {control:?}");
        }
    }

    #[test]
    fn window_and_rate_lie_on_logarithmic_scales() {
        let space = ActionSpace::WindowAndRate;
        let (window, rate) = after(space, &[&[0.0, 0.0]]);
        assert_eq!((window, rate), (1.0, 8.0 * SEGMENT));
        let (window, rate) = after(space, &[&[0.5, 0.5]]);
        assert!((window - 128.0).abs() < 1e-9 && (rate / libm::sqrt(8e3 * 1e9) - 1.0).abs() < 1e-12);
        let (window, rate) = after(space, &[&[1.0, 1.0]]);
        assert!((window / 16_384.0 - 1.0).abs() < 1e-12 && (rate / 1e9 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_lies_outside_a_space_is_named() {
        for (space, action, message) in [
            (ActionSpace::RateMultiplier, &[1.5][..], "action[0] is 1.5: it must be a number from -1 to 1"),
            (ActionSpace::RateMultiplier, &[f64::NAN], "action[0] is NaN: it must be a number from -1 to 1"),
            (ActionSpace::WindowSteps, &[5.0], "action[0] is 5: it must be a whole number from 0 to 4"),
            (ActionSpace::WindowSteps, &[0.5], "action[0] is 0.5: it must be a whole number from 0 to 4"),
            (ActionSpace::WindowAndRate, &[0.5, f64::INFINITY], "action[1] is inf: it must be a number from 0 to 1"),
        ] {
            assert_eq!(space.check(action), Err(message.to_owned()));
        }
    }
}
