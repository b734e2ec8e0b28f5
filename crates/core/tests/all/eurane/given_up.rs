//! maxDAT: how often SDUs are given up.

use lasthop_core::engine::{Duration, Instant, Streams};
use lasthop_core::radio::arq::Outcome;
use lasthop_core::replicas::eurane::rlc::Config;

use super::cell::{Cell, Channel, DOWN};

#[test]
fn an_sdu_is_lost_as_often_as_one_of_its_pdus_is_lost_in_all_its_transmissions() {
    let sdus = 5_000u32;
    // 26 PDUs over FACH take 0.26 s, and a loop under 0.25 s.
    let spacing = Duration::from_secs(5);
    for (p, max_dat) in [(0.1, 1), (0.1, 2), (0.1, 3), (0.2, 1), (0.2, 2), (0.2, 3)] {
        let mut stream = Streams::new(7).stream("air", "loss");
        let lost = Box::new(move |arrival: super::cell::Arrival| arrival.direction == DOWN && stream.chance(p));
        let config = Config { max_dat: Some(max_dat), ..Config::default() };
        let mut cell = Cell::new(&config, [Channel::FACH, Channel::RACH], lost);
        // One more, behind which the last is missed if need be.
        for sdu in 0..=u64::from(sdus) {
            cell.send(DOWN, Instant::ZERO + spacing * sdu, 1_040, sdu);
        }
        cell.run_until(Instant::ZERO + spacing * u64::from(sdus + 2));
        let outcomes = &cell.outcomes(DOWN)[..sdus as usize];
        let lost = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Lost(_))).count();

        let p_pdu = libm::pow(p, f64::from(max_dat));
        let expected = 1.0 - libm::pow(1.0 - p_pdu, 26.0);
        let error = libm::sqrt(expected * (1.0 - expected) / f64::from(sdus));
        let measured = lost as f64 / f64::from(sdus);
        assert!(
            (measured - expected).abs() <= 4.0 * error,
            "p {p}, maxDAT {max_dat}: {measured}, expected {expected} with a standard error of {error}"
        );
        assert!(cell.most_transmissions(DOWN) <= max_dat);
    }
}
