use super::*;
use lasthop_net::engine::{BitRate, Streams};
use lasthop_net::net::observe::{Histogram, What};

fn rate(kbps: u64, ms: u64) -> Rate {
    Rate { rate: BitRate::from_kbps(kbps), tti: Duration::from_millis(ms) }
}

/// Cells 0 and 1 are of Node B 0, cell 2 of another, cell 3 of another carrier. One terminal.
fn loops() -> Loops {
    let plan = Plan {
        cells: vec![[0, 0], [0, 0], [0, 1], [1, 2]],
        pilot: Level::from_dbm(33.0),
        common: [rate(32, 10), rate(16, 20)],
        dedicated: [rate(64, 10), rate(32, 10)],
    };
    let streams = Streams::new(4);
    Loops::new(&LoopsConfig::default(), plan, vec![["down", "up"].map(|way| streams.stream("test", way))])
}

const GAINS: [Decibel; 4] = [Decibel::new(-100.0), Decibel::new(-100.0), Decibel::new(-110.0), Decibel::new(-80.0)];

#[test]
fn quality_is_that_of_the_definition() {
    // In milliwatts: 10 W of each cell are 1e4. Noise: -174 dBm/Hz + 65.843 dB + 9 dB; at a Node B 5 dB, and a rise of 6 dB.
    let loops = loops();
    let noise = 1.214_314_6e-10;
    let first = 1e-10 / (0.4 * 1e-6 + 1e-6 + 1e-7 + noise);
    let third = 1e-11 / (0.4 * 1e-7 + 2e-6 + noise);
    for (cells, expected) in [(&[0][..], first), (&[0, 1], 2.0 * first), (&[0, 2], first + third)] {
        let got = loops.quality_down(cells, &GAINS);
        assert!((got / expected - 1.0).abs() < 1e-6, "{cells:?}: {got}, expected {expected}");
    }
    let interference = libm::pow(10.0, (-174.0 + 65.843_312_2 + 5.0 + 6.0) / 10.0);
    for (place, received) in [(0, 2e-10), (1, 2e-10), (2, 1e-11)] {
        let got = loops.quality_up(&[0, 1, 2], place, &GAINS);
        assert!((got * interference / received - 1.0).abs() < 1e-6, "{place}: {got}");
    }
}

/// What is shown.
struct Shown(Vec<(&'static str, f64)>);

impl Probe for Shown {
    fn part(&mut self, _: What, _: &str) {}
    fn value(&mut self, name: &'static str, value: f64) {
        self.0.push((name, value));
    }
    fn distribution(&mut self, _: &'static str, _: f64, _: &Histogram) {}
}

/// Sends blocks in consecutive intervals of 10 ms.
fn send(loops: &mut Loops, from: u64, intervals: u64, direction: Direction, cells: &[u32]) -> u64 {
    let block = |n: u64| {
        let sent = Instant::ZERO + Duration::from_millis(10 * n);
        Block { terminal: 0, direction, dedicated: true, sent, at: sent + Duration::from_millis(10), cells }
    };
    (from..from + intervals).filter(|n| !loops.receive(&block(*n)).any()).count() as u64
}

#[test]
fn a_still_terminal_gets_what_the_outer_loop_aims_at_with_the_power_that_takes() {
    for (direction, cells) in [(Direction::Down, &[0, 1][..]), (Direction::Up, &[0, 2]), (Direction::Up, &[2, 0])] {
        let mut loops = loops();
        loops.on_gains(Instant::ZERO, 0, &GAINS);
        loops.on_gains(Instant::ZERO, 0, &GAINS);
        let blocks = 100_000;
        let bad = send(&mut loops, 0, blocks, direction, cells);
        // 1 % and the 40 bad blocks of the target's range.
        assert!((960..=1040).contains(&bad), "{direction:?} {cells:?}: {bad}");
        let link = &loops.terminals[0].links[direction.index()];
        let (Some((inner, _)), sir) = (link.loops, link.sir) else { panic!("blocks were sent") };
        let quality =
            loops.quality(direction, cells, &GAINS, Loops::spreading(loops.plan.dedicated[direction.index()]));
        let needed = link.outer.target() - quality;
        assert!((inner.power().dbm() - needed.db()).abs() <= 1.0 + 1e-9, "{inner:?}, needed {needed}");
        assert!((sir - link.outer.target()).db().abs() < 1.5, "{sir} toward {}", link.outer.target());
        let mut shown = Shown(Vec::new());
        loops.sample(0, direction, &mut shown);
        let of = |name| shown.0.iter().find(|(of, _)| *of == name).unwrap().1;
        assert!((of("sir_db") - of("power_dbm") - quality.db()).abs() < 1e-9, "both of one block: {:?}", shown.0);
    }
}

#[test]
fn a_sender_at_its_limit_loses_blocks_and_the_target_goes_no_farther() {
    let mut loops = loops();
    let far = [Decibel::new(-150.0); 4];
    loops.on_gains(Instant::ZERO, 0, &far);
    loops.on_gains(Instant::ZERO, 0, &far);
    assert_eq!(send(&mut loops, 0, 1000, Direction::Up, &[0]), 1000);
    let link = &loops.terminals[0].links[1];
    assert_eq!(link.outer.target(), Decibel::new(14.0));
    assert_eq!(link.loops.unwrap().0.power(), Level::from_dbm(21.0));
}

#[test]
fn the_loop_runs_no_further_than_the_blocks() {
    let mut loops = loops();
    loops.plan.dedicated = [rate(64, 2), rate(32, 2)];
    loops.on_gains(Instant::ZERO, 0, &GAINS);
    loops.on_gains(Instant::ZERO, 0, &GAINS);
    for n in 0..100 {
        let sent = Instant::ZERO + Duration::from_millis(2 * n);
        let at = sent + Duration::from_millis(2);
        loops.receive(&Block { terminal: 0, direction: Direction::Up, dedicated: true, sent, at, cells: &[0] });
    }
    assert_eq!(loops.terminals[0].links[1].loops.unwrap().1, Instant::from_nanos(200_000_000));
}

#[test]
fn after_a_silence_the_power_is_the_one_that_is_needed() {
    // 15 dB more of path loss meanwhile; the loop's range of 65 dB takes 65 slots, and more frames than that are run.
    let mut loops = loops();
    loops.on_gains(Instant::ZERO, 0, &GAINS);
    loops.on_gains(Instant::ZERO, 0, &GAINS);
    send(&mut loops, 0, 100, Direction::Up, &[0]);
    let before = loops.terminals[0].links[1].loops.unwrap().0.power();
    let faded = GAINS.map(|gain| gain - Decibel::new(15.0));
    loops.on_gains(Instant::from_secs_f64(50.0), 0, &faded);
    loops.on_gains(Instant::from_secs_f64(50.0), 0, &faded);
    send(&mut loops, 6000, 1, Direction::Up, &[0]);
    let after = loops.terminals[0].links[1].loops.unwrap().0.power();
    assert!(((after - before).db() - 15.0).abs() <= 2.0, "{before}, then {after}");
}
