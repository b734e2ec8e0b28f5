//! Flows that a learner leads: what they observe against closed forms, how episodes end, and vectors against single environments.

use std::sync::Arc;

use lasthop_core::engine::Duration;
use lasthop_core::learning::observation::{FEATURES, VALUES};
use lasthop_core::learning::{ActionSpace, End, Environment, Every, Report, Reward, Settings, StepError, Vector};
use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{check, read};

/// A link of `rate` with 30 ms of round trip, and a flow over it.
fn scenario(rate: &str, more: &str) -> Scenario {
    let text = format!(
        "
        link = [{{ name = 'l', between = ['a', 'b'], rate = '{rate}', delay = '15 ms', queue.droptail.limit = '100 packets' }}]
        flow = [{{ name = 'f', from = 'a', to = 'b' }}]
        duration = '60 s'
        {more}"
    );
    let document = read::toml(&text, "test").unwrap_or_else(|error| panic!("{error}"));
    check(&document).unwrap_or_else(|error| panic!("{error}"));
    document.scenario
}

fn settings(action: ActionSpace) -> Settings {
    Settings {
        flow: "f".to_owned(),
        step: Every::RoundTrips(0.5),
        action,
        features: FEATURES.iter().map(|(_, feature)| *feature).collect(),
        history: 1,
        reward: Reward::Aurora,
        episode: Duration::from_secs(60),
    }
}

fn environment(scenario: &Scenario, settings: Settings) -> Environment {
    Environment::new(scenario, Arc::new(settings)).unwrap()
}

/// The reports of `steps` steps with the same action, and the features of each.
fn reports(environment: &mut Environment, action: &[f64], steps: usize) -> Vec<(Report, Vec<f32>)> {
    let mut observation = vec![0.0; FEATURES.len()];
    environment.reset(1, &mut observation).unwrap();
    let mut step = || {
        environment.check(action).unwrap();
        environment.step(action, &mut observation).unwrap();
        (*environment.report(), observation.clone())
    };
    (0..steps).map(|_| step()).collect()
}

fn feature(observed: &[f32], name: &str) -> f64 {
    observed[FEATURES.iter().position(|(one, _)| *one == name).unwrap()].into()
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

/// A segment of 1460 bytes in a packet of 1500, at 10 Mbit/s: 1.2 ms. An acknowledgement of 40 bytes: 32 µs.
const SEGMENT: f64 = 1460.0;
const EMPTY_RTT: f64 = 0.030 + 0.0012 + 0.000_032;

#[test]
fn a_constant_window_gives_a_window_in_each_round_trip() {
    let mut led = environment(&scenario("10 Mbit/s", ""), settings(ActionSpace::WindowSteps));
    let steps = reports(&mut led, &[2.0], 400);
    let steps = &steps[200..];
    // Ten segments do not fill the pipe of 26.
    let rate = mean(steps.iter().map(|(report, _)| report.delivery_rate));
    assert!((rate / (8.0 * 10.0 * SEGMENT / EMPTY_RTT) - 1.0).abs() < 0.01, "{rate}");
    for (report, observed) in steps {
        assert_eq!((report.window, report.sent.min(report.delivered) > 0.0), (10.0 * SEGMENT, true));
        assert!(report.lost == 0.0 && report.timeouts == 0.0 && report.pacing_rate.is_nan());
        assert!((report.rtt - report.min_rtt).abs() < 1e-9 && feature(observed, "latency_ratio").abs() < 1e-6);
        assert!((report.min_rtt - EMPTY_RTT).abs() < 1e-9, "{}", report.min_rtt);
    }
}

#[test]
fn a_window_beyond_the_pipe_waits_in_the_queue() {
    let mut led = environment(&scenario("10 Mbit/s", ""), settings(ActionSpace::WindowSteps));
    let mut observation = vec![0.0; FEATURES.len()];
    led.reset(1, &mut observation).unwrap();
    // Twice, twice: 40 segments.
    for action in [4.0, 4.0].into_iter().chain(std::iter::repeat_n(2.0, 100)) {
        led.step(&[action], &mut observation).unwrap();
    }
    let report = *led.report();
    assert_eq!(report.window, 40.0 * SEGMENT);
    // 40 packets of 1.2 ms are the round trip, and the link is full.
    assert!((report.rtt - 0.048).abs() < 1e-4, "{}", report.rtt);
    assert!((report.max_delivery_rate / (1e7 * SEGMENT / 1500.0) - 1.0).abs() < 0.01, "{}", report.max_delivery_rate);
    assert!((feature(&observation, "latency_ratio") - (0.048 / EMPTY_RTT - 1.0)).abs() < 0.01);
    assert!((feature(&observation, "delivery_rate") - 1.0).abs() < 0.05);
    let bdp = 1e7 / 8.0 * SEGMENT / 1500.0 * EMPTY_RTT;
    assert!((feature(&observation, "in_flight") / (40.0 * SEGMENT / bdp) - 1.0).abs() < 0.03);
    let throughput = report.delivered / SEGMENT / report.duration;
    let aurora = 10.0 * throughput - 1000.0 * report.rtt - 2000.0 * report.lost / (report.lost + report.delivered);
    assert!((Reward::Aurora.of(&report) - aurora).abs() < 1e-9);
}

#[test]
fn a_rate_is_the_rate_at_which_packets_leave_and_a_queue_grows_as_it_says() {
    let mut led = environment(&scenario("10 Mbit/s", ""), settings(ActionSpace::WindowAndRate));
    // 5 Mbit/s, of packets with their headers: half of the link, without a queue.
    let share = |rate: f64| libm::log(rate / (8.0 * SEGMENT)) / libm::log(1e9 / (8.0 * SEGMENT));
    let steps = reports(&mut led, &[1.0, share(5e6)], 200);
    let sent = mean(steps[100..].iter().map(|(report, _)| report.send_rate));
    assert!((sent / (5e6 * SEGMENT / 1500.0) - 1.0).abs() < 0.01, "{sent}");
    assert!(steps[100..].iter().all(|(report, _)| (report.rtt - EMPTY_RTT).abs() < 1e-4));
    // 10.5 Mbit/s: acknowledgements come at 10 Mbit/s, so that the round-trip time grows by 1 − 10/10.5 of the time between them.
    let steps = reports(&mut led, &[1.0, share(10.5e6)], 40);
    for (report, observed) in &steps[20..] {
        assert!((report.rtt_gradient - (1.0 - 10.0 / 10.5)).abs() < 1e-4, "{}", report.rtt_gradient);
        assert!((feature(observed, "latency_gradient") - report.rtt_gradient).abs() < 1e-6);
        assert!((report.inter_ack - 0.0012).abs() < 2e-5, "{}", report.inter_ack);
    }
    assert!(mean(steps[20..].iter().map(|(_, observed)| feature(observed, "send_ratio"))) > 1.02);
}

#[test]
fn losses_have_their_share() {
    let lossy = scenario("10 Mbit/s", "change = [{ at = '0 s', link = 'l', loss.bernoulli.p = 0.02 }]");
    let mut led = environment(&lossy, settings(ActionSpace::WindowSteps));
    let steps = reports(&mut led, &[2.0], 3000);
    let (lost, all) = steps
        .iter()
        .fold((0.0, 0.0), |(lost, all), (report, _)| (lost + report.lost, all + report.lost + report.delivered));
    // Of some 13,000 segments 2 %, within four standard deviations.
    assert!((lost / all - 0.02).abs() < 4.0 * (0.02 * 0.98 / (all / SEGMENT)).sqrt(), "{}", lost / all);
    assert!(steps.iter().any(|(_, observed)| feature(observed, "since_loss") < 1.0));
}

#[test]
fn a_step_in_which_nothing_comes_says_so() {
    let cut = scenario("10 Mbit/s", "change = [{ at = '1 s', link = 'l', up = false }]");
    let mut led = environment(&cut, settings(ActionSpace::RateMultiplier));
    let steps = reports(&mut led, &[0.0], 200);
    let (report, observed) = steps.last().unwrap();
    assert!(report.packets_acked == 0.0 && report.rtt.is_nan() && report.rtt_gradient.is_nan() && report.srtt > 0.0);
    assert!(feature(observed, "latency_ratio") == 0.0 && feature(observed, "delivery_rate") == 0.0);
    assert!(observed.iter().all(|value| value.is_finite()));
    assert!(Reward::Aurora.of(report) < 0.0 && Reward::Power.of(report).is_finite());
}

#[test]
fn steps_by_acknowledgements_have_that_number() {
    let by_acks = Settings { step: Every::Acks(8), ..settings(ActionSpace::WindowSteps) };
    let mut led = environment(&scenario("10 Mbit/s", ""), by_acks);
    for (report, _) in &reports(&mut led, &[2.0], 100)[2..] {
        assert_eq!(report.packets_acked, 8.0);
    }
    let by_time = Settings { step: Every::Time(Duration::from_millis(7)), ..settings(ActionSpace::WindowSteps) };
    let mut led = environment(&scenario("10 Mbit/s", ""), by_time);
    assert!(reports(&mut led, &[2.0], 100).iter().all(|(report, _)| (report.duration - 0.007).abs() < 1e-12));
}

#[test]
fn an_episode_ends_with_its_transfer_or_its_time() {
    let mut file = scenario("10 Mbit/s", "");
    let source = "nodes = ['a', 'b']\nflow = [{ name = 'f', from = 'a', to = 'b', source.file.size = '100 kB' }]";
    file.flow = read::toml(source, "test").unwrap().scenario.flow;
    for (scenario, expected) in [(&file, End::Terminated), (&scenario("10 Mbit/s", ""), End::Truncated)] {
        let short = Settings { episode: Duration::from_secs(2), ..settings(ActionSpace::WindowSteps) };
        let mut led = environment(scenario, short);
        let mut observation = vec![0.0; FEATURES.len()];
        assert!(matches!(led.check(&[2.0]), Err(StepError::NoEpisode)));
        led.reset(1, &mut observation).unwrap();
        let end = loop {
            let (_, end) = led.step(&[2.0], &mut observation).unwrap();
            if end != End::None {
                break end;
            }
        };
        assert_eq!(end, expected);
        let time = led.report().time;
        assert!(if end == End::Truncated { time == 2.0 } else { time < 1.0 }, "{time}");
        assert!(matches!(led.step(&[2.0], &mut observation), Err(StepError::NoEpisode)));
    }
}

#[test]
fn an_episode_begins_with_its_flow() {
    let mut late = scenario("10 Mbit/s", "");
    late.flow[0].start = Duration::from_secs(20);
    let short = Settings { episode: Duration::from_secs(2), ..settings(ActionSpace::WindowSteps) };
    let mut led = environment(&late, short);
    let mut observation = vec![0.0; FEATURES.len()];
    led.reset(1, &mut observation).unwrap();
    // A handshake and the first round trip of data.
    assert!((led.report().time - 20.0 - 2.0 * EMPTY_RTT).abs() < 0.002, "{}", led.report().time);
    while led.step(&[2.0], &mut observation).unwrap().1 == End::None {}
    assert_eq!(led.report().time, 22.0);
}

#[test]
fn a_vector_does_what_single_environments_do_on_any_number_of_threads() {
    let lossy = scenario("10 Mbit/s", "change = [{ at = '0 s', link = 'l', loss.bernoulli.p = 0.01 }]");
    let parts = Arc::new(Settings { history: 3, ..settings(ActionSpace::RateMultiplier) });
    let count = 5;
    let action = |step: usize, number: usize| ((step * 7 + number * 13) % 21) as f64 / 10.0 - 1.0;
    let mut singles = Vec::new();
    for number in 0..count {
        let mut single = Vector::new(&lossy, &parts, 1, 1).unwrap();
        single.reset(0, 100 + number as u64).unwrap();
        let mut seen = Vec::new();
        for step in 0..200 {
            single.step(&[action(step, number)], &[]).unwrap();
            seen.push((single.observations().to_vec(), single.rewards()[0], single.values().to_vec()));
        }
        singles.push(seen);
    }
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for threads in [1, 2, 3, 8] {
        let mut vector = Vector::new(&lossy, &parts, count, threads).unwrap();
        for number in 0..count {
            vector.reset(number, 100 + number as u64).unwrap();
        }
        for step in 0..200 {
            let actions: Vec<f64> = (0..count).map(|number| action(step, number)).collect();
            vector.step(&actions, &[]).unwrap();
            for (number, single) in singles.iter().enumerate() {
                let size = 3 * FEATURES.len();
                let (observed, reward, values) = &single[step];
                assert_eq!(&vector.observations()[number * size..][..size], observed);
                assert_eq!(vector.rewards()[number].to_bits(), reward.to_bits());
                assert_eq!(bits(&vector.values()[number * VALUES.len()..][..VALUES.len()]), bits(values));
            }
        }
    }
    // The seeds matter.
    assert_ne!(singles[0].last(), singles[1].last());
}

#[test]
fn a_wrong_action_takes_no_step_of_any_environment() {
    let mut vector =
        Vector::new(&scenario("10 Mbit/s", ""), &Arc::new(settings(ActionSpace::RateMultiplier)), 2, 1).unwrap();
    vector.reset(0, 1).unwrap();
    vector.reset(1, 2).unwrap();
    let before = vector.values().to_vec();
    let (number, error) = vector.step(&[0.0, 2.0], &[]).unwrap_err();
    assert_eq!((number, error.to_string().as_str()), (1, "action[0] is 2: it must be a number from -1 to 1"));
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(vector.values()), bits(&before));
    // One that is skipped need not have an action.
    vector.step(&[0.0, f64::NAN], &[1]).unwrap();
    assert!(vector.values()[0] > before[0] && vector.values()[VALUES.len()] == before[VALUES.len()]);
}

#[test]
fn flows_that_cannot_be_led_are_refused() {
    let two = "
        link = [{ name = 'l', between = ['a', 'node b'], rate = '1 Mbit/s', delay = '1 ms' }]
        hsdpa = [{ name = 'cell', node = 'node b', ues = 2, rings = 0 }]
        flow = [
            { name = 'udp', from = 'a', to = 'cell.ue[0]', transport.udp = {}, source.cbr = {} },
            { name = 'both', from = 'a', to = 'cell.ue[*]' },
            { name = 'old', from = 'a', to = 'cell.ue[0]', transport.tcp.profile = 'ns2' },
            { name = 'f', from = 'a', to = 'cell.ue[1]' },
        ]";
    let scenario = read::toml(two, "test").unwrap().scenario;
    for (flow, message) in [
        ("udp", "flow \"udp\" has no congestion window"),
        ("both", "\"both\" stands for several flows"),
        ("old", "flow \"old\" has ns-2's TCP, whose window cannot be led"),
        ("none", "there is no flow \"none\""),
    ] {
        let wrong = Settings { flow: flow.to_owned(), ..settings(ActionSpace::RateMultiplier) };
        let fault = Environment::new(&scenario, Arc::new(wrong)).err().unwrap();
        assert_eq!(fault.message, message);
    }
    environment(&scenario, settings(ActionSpace::RateMultiplier));
}

/// The steps of a flow whose terminals hint at a longer path after 3 s.
fn hinted(hint: &str) -> Vec<Report> {
    let text = format!(
        "
        link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '15 ms' }}]
        flow = [{{ name = 'f', from = 'a', to = 'b', transport.tcp.path_hint = '{hint}' }}]
        change = [{{ at = '3 s', link = 'l', delay = '100 ms' }}]
        duration = '60 s'"
    );
    let scenario = read::toml(&text, "test").unwrap().scenario;
    let steps = Settings { step: Every::Time(Duration::from_millis(50)), ..settings(ActionSpace::WindowSteps) };
    reports(&mut environment(&scenario, steps), &[2.0], 160).into_iter().map(|(report, _)| report).collect()
}

#[test]
fn a_controller_that_begins_anew_counts_nothing_again() {
    for hint in ["delays", "restart"] {
        for report in hinted(hint) {
            assert!(report.delivery_rate <= 1e7, "{hint}: {} bit/s at {} s", report.delivery_rate, report.time);
        }
    }
}

#[test]
fn delays_of_another_path_are_void_after_a_hint() {
    for hint in ["delays", "restart"] {
        let known = |report: &&Report| (3.1..3.3).contains(&report.time) || report.time > 3.5;
        let steps = hinted(hint);
        let after: Vec<&Report> = steps.iter().filter(known).collect();
        for report in &after {
            let delays = [report.min_rtt, report.srtt, report.rtt];
            assert!(delays.iter().all(|delay| delay.is_nan() || *delay > 0.2), "{hint}: {delays:?} at {}", report.time);
        }
        assert!(after.iter().any(|report| report.srtt > 0.2) && after.iter().any(|report| report.srtt.is_nan()));
    }
    assert!(hinted("off").last().unwrap().min_rtt < 0.05);
}

/// The pages of the web have segments of several sizes, a connection each.
#[test]
fn a_connection_of_larger_segments_sends_whatever_the_window_was() {
    let text = "
        link = [{ name = 'l', between = ['a', 'b'], rate = '5 Mbit/s', delay = '20 ms' }]
        flow = [{ name = 'f', from = 'a', to = 'b', source.web = { reading = '1 s', first = '1 s' } }]
        duration = '200 s'";
    let scenario = read::toml(text, "test").unwrap().scenario;
    let settings = Settings {
        step: Every::Time(Duration::from_millis(100)),
        episode: Duration::from_secs(200),
        ..settings(ActionSpace::WindowSteps)
    };
    let mut led = environment(&scenario, settings);
    let mut observation = vec![0.0; FEATURES.len()];
    for seed in 0..20 {
        led.reset(seed, &mut observation).unwrap();
        let (mut small, mut wide) = (0.0, 0.0);
        while led.report().time < 199.0 {
            let early = led.report().time < 100.0;
            led.step(&[if early { 0.0 } else { 4.0 }], &mut observation).unwrap();
            *(if early { &mut small } else { &mut wide }) += led.report().sent;
        }
        assert!(small > 1e5 && wide > 1e5, "seed {seed}: {small} and {wide} bytes");
    }
}
