//! Two-line element sets: read, checked, and the satellites followed for a day.

#![no_main]

use lasthop_core::engine::space::Angle;
use lasthop_core::satellite::orbits::{OrbitsConfig, tle};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let orbits = tle::Config { text: text.to_owned(), plane_gap: Angle::from_degrees(2.0) };
    if orbits.check().is_ok() {
        for body in orbits.shell().bodies {
            for hour in 0..24 {
                let state = body.state(f64::from(hour) * 3600.0);
                assert!(state.position.iter().chain(&state.velocity).all(|number| number.is_finite()));
            }
        }
    }
});
