use super::*;

/// Air with many mobiles over seven cells of 500 m.
fn drops(config: &Config, serving: Serving, seed: u64, mobiles: usize) -> Air {
    let radius = Length::from_metres(500.0);
    let sites = layout::sites(1, radius);
    let mobiles: Vec<String> = (0..mobiles).map(|n| format!("cell.ue[{n}]")).collect();
    Air::new(config, &Scene { sites: &sites, radius, serving, mobiles: &mobiles, places: &[] }, &Streams::new(seed))
}

/// The ratios of the mobiles that the centre serves, in ascending order.
fn ratios_in_the_centre(air: &Air) -> Vec<f64> {
    let mobiles = (0..air.mobiles.len() as u32).filter(|mobile| air.cell(*mobile) == 0);
    let mut ratios: Vec<f64> = mobiles.map(|mobile| air.usual(mobile).db()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios
}

/// The shares below −3.5, 0, 3.5, 7.5 dB and above.
fn shares(ratios: &[f64]) -> [f64; 5] {
    let mut counts = [0; 5];
    for ratio in ratios {
        counts[[-3.5, 0.0, 3.5, 7.5].iter().filter(|threshold| ratio >= threshold).count()] += 1;
    }
    counts.map(|count| f64::from(count) / ratios.len() as f64)
}

#[test]
fn shares_of_20_000_drops_are_those_of_the_model() {
    // A computation apart from this one, in which 20 000 mobiles served by the centre were drawn: shares and quantiles
    // within 0.02 and 0.2 dB.
    for (serving, expected) in
        [(Serving::Strongest, [0.03, 0.24, 0.26, 0.30, 0.17]), (Serving::Hexagon, [0.22, 0.15, 0.19, 0.27, 0.17])]
    {
        let ratios = ratios_in_the_centre(&drops(&Config::default(), serving, 1, 140_000));
        assert!(ratios.len() > 18_000, "{}", ratios.len());
        for (got, expected) in shares(&ratios).into_iter().zip(expected) {
            assert!((got - expected).abs() < 0.02, "{serving:?}: {:?}, expected {expected}", shares(&ratios));
        }
        if serving == Serving::Strongest {
            for (q, expected) in [(0.05, -3.0), (0.5, 3.1), (0.95, 8.4)] {
                let got = ratios[(q * ratios.len() as f64) as usize];
                assert!((got - expected).abs() < 0.2, "quantile {q}: {got} dB, expected {expected}");
            }
        }
    }
}

#[test]
fn goodput_by_equal_slots_and_by_equal_bits_is_that_of_the_shares() {
    // Goodput of each share: 1.44 Mbit/s with half of the blocks in error, then 0.9 of 1.44, 2.88, 4.32 and 7.2 Mbit/s. The mean over
    // slots is 3.28 Mbit/s; with equal bits for all it is the harmonic mean, 2.33 Mbit/s, both by the computation apart.
    let shares = shares(&ratios_in_the_centre(&drops(&Config::default(), Serving::Strongest, 1, 140_000)));
    let goodput = [0.72, 1.296, 2.592, 3.888, 6.48];
    let slots: f64 = shares.iter().zip(goodput).map(|(share, rate)| share * rate).sum();
    let bits = 1.0 / shares.iter().zip(goodput).map(|(share, rate)| share / rate).sum::<f64>();
    assert!((slots - 3.28).abs() < 0.07, "{slots} Mbit/s by slots");
    assert!((bits - 2.33).abs() < 0.07, "{bits} Mbit/s by bits");
}

#[test]
fn without_other_cells_the_ratio_is_bounded_by_the_own_one() {
    // 1 / (0.1 + 0.4 P_o/P): 10 dB without other power, 8.54 dB with 1 W, 3.01 dB with 10 W.
    for (watts, ceiling) in [(0.0, 10.0), (1.0, 8.538_719_643_217_6), (10.0, 3.010_299_956_639_8)] {
        let config = Config { other_power: Power::from_watts(watts), ..Config::default() };
        let best = ratios_in_the_centre(&drops(&config, Serving::Strongest, 1, 20_000)).pop().unwrap();
        assert!(best <= ceiling && best > ceiling - 0.05, "{watts} W: {best} dB, expected a little below {ceiling}");
    }
}

#[test]
fn noise_hardly_matters() {
    let quiet = Config { noise_figure: Decibel::new(-100.0), ..Config::default() };
    let median = |config: &Config| {
        let ratios = ratios_in_the_centre(&drops(config, Serving::Strongest, 1, 70_000));
        ratios[ratios.len() / 2]
    };
    assert!((median(&quiet) - median(&Config::default())).abs() < 0.1);
}

#[test]
fn silent_neighbours_do_not_interfere_but_for_their_other_channels() {
    let config = Config { neighbours: Neighbours::BySlot, ..Config::default() };
    let mut air = drops(&config, Serving::Strongest, 2, 50);
    let at = Instant::ZERO;
    for mobile in 0..50 {
        let usual = air.usual(mobile);
        air.on_slot(&[true; 7]);
        assert_eq!(air.state(mobile, at).sir, usual);
        air.on_slot(&[false; 7]);
        let alone = air.state(mobile, at).sir;
        assert!(alone > usual, "mobile {mobile}: {alone}, with all {usual}");
        // With a tenth of the power of each neighbour interference is at most eleven times less.
        assert!(alone < usual + Decibel::of(11.0));
    }
}

#[test]
fn fading_is_rayleigh_and_constant_in_its_blocks() {
    let config = Config { fading: Some(Fading::default()), ..Config::default() };
    let mut air = drops(&config, Serving::Strongest, 2, 2);
    let n = 20_000;
    let mut gains = Vec::new();
    for block in 0..n {
        let begins = Instant::ZERO + Duration::from_millis(80) * block;
        let (gain, until) = air.faded(0, begins);
        assert_eq!(air.faded(0, begins + Duration::from_millis(79)), (gain, until));
        assert_eq!(until, begins + Duration::from_millis(80));
        gains.push(gain);
    }
    // The power of a Rayleigh amplitude is exponential: mean 1, and e^{-0.1} of it above 0.1.
    let mean = gains.iter().sum::<f64>() / n as f64;
    assert!((mean - 1.0).abs() < 5.0 / (n as f64).sqrt(), "{mean}");
    let deep = gains.iter().filter(|gain| **gain < 0.1).count() as f64 / n as f64;
    assert!((deep - 0.095_162_58).abs() < 5.0 * (0.0952f64 * 0.9048 / n as f64).sqrt(), "{deep}");
    // A late reader meets the same blocks.
    let mut late = drops(&config, Serving::Strongest, 2, 2);
    let at = Instant::ZERO + Duration::from_millis(80) * 99;
    assert_eq!(late.faded(0, at).0, gains[99]);
}

#[test]
fn mobiles_stand_where_they_are_put() {
    let radius = Length::from_metres(500.0);
    let names = ["cell.ue[0]", "cell.ue[1]", "cell.ue[2]"].map(String::from);
    let config =
        Config { shadowing: Shadowing { deviation: Decibel::new(0.0), ..default_shadowing() }, ..Config::default() };
    let air = |rings, places: &[Point]| {
        let sites = layout::sites(rings, radius);
        let scene = Scene { sites: &sites, radius, serving: Serving::Hexagon, mobiles: &names, places };
        Air::new(&config, &scene, &Streams::new(1))
    };
    let put = [Point::from_metres(0.0, 500.0), Point::from_metres(-2000.0, 0.0)];
    let one = air(0, &put);
    // By hand: path loss 117.564 and 138.636 dB; 10 W against 0.1 · 10 W, 0.4 · 1 W and -99.157 dBm.
    for (mobile, expected) in [(0, 8.329), (1, -0.115)] {
        let found = one.usual(mobile).db();
        assert!((found - expected).abs() < 0.005, "{mobile}: {found} dB, expected {expected}");
    }
    assert_eq!(one.mobiles[2].place, air(0, &[]).mobiles[2].place, "the others are dropped where they were");
    // The first site of the ring stands 750 m east and 433 m north of the centre.
    let seven = air(1, &[Point::from_metres(100.0, 0.0), Point::from_metres(700.0, 400.0)]);
    assert_eq!((seven.cell(0), seven.cell(1)), (0, 1));
}
