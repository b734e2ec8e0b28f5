//! Changes of the way to a terminal: each medium applies them as documented, to that terminal and to no other.

use lasthop_core::engine::{BitRate, Decibel, Duration, Instant};
use lasthop_core::scenario::change::Change;
use lasthop_core::scenario::registry::RateMap;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{check, read};

fn session(text: &str) -> Session {
    let document = read::toml(text, "test").unwrap_or_else(|error| panic!("{error}"));
    check(&document).unwrap_or_else(|error| panic!("{error}"));
    Session::new(&document.scenario, 1, None).unwrap()
}

fn to(name: &str) -> Change {
    Change::new(Duration::ZERO, name)
}

fn outage(name: &str) -> Change {
    Change { up: Some(false), ..to(name) }
}

fn found(session: &Session, name: &str, kind: &str, quantity: &str) -> f64 {
    let table = session.look(name);
    let is = |row: &usize| (table.text("kind", *row), table.text("quantity", *row)) == (Some(kind), Some(quantity));
    let row = (0..table.rows()).find(is).unwrap_or_else(|| panic!("{name} has no {quantity}"));
    table.number("value", row).unwrap()
}

/// Packets that flows have brought from now to `until`, in seconds.
fn brought<const N: usize>(session: &mut Session, flows: [&str; N], until: f64) -> [f64; N] {
    let count = |session: &Session| flows.map(|flow| found(session, flow, "receiver", "received_packets"));
    let before = count(session);
    session.advance_to(Instant::from_secs_f64(until), u64::MAX).unwrap();
    let after = count(session);
    std::array::from_fn(|n| after[n] - before[n])
}

fn cbr(radio: &str, interval: &str) -> String {
    let flow = |n: u32| {
        format!(
            "{{ name = 'f{n}', from = 'server', to = '{radio}.ue[{n}]', transport.udp = {{}}, \
             source.cbr = {{ interval = '{interval}', size = '472 B' }} }}"
        )
    };
    format!("flow = [{}, {}]", flow(0), flow(1))
}

const WIRE: &str = "
    duration = '60 s'
    nodes = ['server', 'rnc']
    link = [{ name = 'wire', between = ['server', 'rnc'], rate = '100 Mbit/s', delay = '1 ms' }]
";

fn radios() -> Vec<(&'static str, String)> {
    let mbms = "mbms = [{ name = 'cell', rnc = 'rnc', ues = 2, rate = '384 kbit/s' }]";
    let rlc = |mode: &str| {
        format!("cell = [{{ name = 'cell', rnc = 'rnc', ues = 2, rlc.{mode} = {{}}, attachment.dedicated = {{}} }}]")
    };
    let hs = "cell = [{ name = 'cell', rnc = 'rnc', ues = 2, attachment.high_speed = {}, hs_dsch.cqi = [[[1, 20]]] }]";
    let hsdpa = "hsdpa = [{ name = 'cell', node = 'rnc', ues = 2, rings = 0, radius = '100 m' }]";
    let all = [("mbms", mbms), ("um", &rlc("um")), ("am", &rlc("am")), ("hs_dsch", hs), ("hsdpa", hsdpa)];
    all.map(|(name, radio)| (name, format!("{WIRE}{radio}\n{}", cbr("cell", "100 ms")))).to_vec()
}

/// 10 packets of 500 B a second go to each of two terminals. A terminal without coverage receives none of them; the other one loses none.
#[test]
fn without_coverage_nothing_comes_and_with_it_everything_again() {
    for (radio, text) in radios() {
        let mut led = session(&text);
        let both = |got: [f64; 2]| got.iter().all(|n| (n - 100.0).abs() <= 3.0);
        assert!(both(brought(&mut led, ["f0", "f1"], 10.0)), "{radio} begins");
        led.change(&outage("cell.ue[0]")).unwrap();
        let [out, other] = brought(&mut led, ["f0", "f1"], 20.0);
        // Blocks whose fate was decided before may still come.
        assert!(out <= 3.0 && (other - 100.0).abs() <= 3.0, "{radio}: {out}, {other}");
        led.change(&Change { up: Some(true), ..to("cell.ue[0]") }).unwrap();
        // Waiting packets come first; RLC in acknowledged mode may have to poll.
        brought(&mut led, ["f0", "f1"], 40.0);
        assert!(both(brought(&mut led, ["f0", "f1"], 50.0)), "{radio} goes on");
        led.change(&outage("cell")).unwrap();
        let all = brought(&mut led, ["f0", "f1"], 60.0);
        assert!(all.iter().all(|n| *n <= 3.0), "{radio}: {all:?}");
        led.complete().unwrap();
    }
}

/// A share p of blocks is lost. Unacknowledged mode of one PDU a packet loses that share of packets (binomial, 5 standard errors);
/// MBMS with two attempts p².
#[test]
fn lost_blocks_are_lost_packets_where_nobody_sends_them_again() {
    let p = 0.3_f64;
    for (radio, share) in [("um", p), ("mbms", p * p)] {
        let (_, text) = radios().into_iter().find(|(name, _)| *name == radio).unwrap();
        let text = text.replace("472 B", "2 B").replace("100 ms", "10 ms").replace("60 s", "101 s");
        let mut led = session(&text);
        let loss = "{ at = '0 s', link = 'cell.ue[0]', loss.bernoulli.p = 0.3 }";
        let with_loss = read::toml(&format!("{text}\nchange = [{loss}]"), "test").unwrap();
        led.change(&with_loss.scenario.change[0]).unwrap();
        let [lossy, other] = brought(&mut led, ["f0", "f1"], 100.0);
        let (n, q) = (10_000.0, 1.0 - share);
        assert!((lossy - n * q).abs() < 5.0 * f64::sqrt(n * q * share) + 20.0, "{radio}: {lossy} of {n}");
        assert!((other - n).abs() < 20.0, "{radio}: {other}");
    }
}

/// A terminal alone in a cell for which more than enough comes gets in each slot of 2 ms what the rate map says of its signal, without the
/// blocks in error.
#[test]
fn a_worse_signal_buys_what_the_rate_map_says() {
    let cell = "hsdpa = [{ name = 'cell', node = 'rnc', ues = 1, rings = 0, radius = '100 m' }]";
    let flow = "flow = [{ name = 'f', from = 'server', to = 'cell.ue[0]', transport.udp = {}, source.cbr = { interval = '250 us', size = '472 B' } }]";
    let mut led = session(&format!("{WIRE}{cell}\n{flow}"));
    let rate_map = RateMap::Modulation(Default::default()).config().build();
    led.advance_to(Instant::from_secs_f64(1.0), u64::MAX).unwrap();
    let usual = found(&led, "cell.ue[0] down", "bearer", "sir_db");
    let mut formats = Vec::new();
    for (n, better) in [0.0, -5.0, -15.0, 0.0].into_iter().enumerate() {
        let until = 11.0 * (n as f64 + 1.0);
        led.change(&Change { quality: Some(Decibel::new(better)), ..to("cell.ue[0]") }).unwrap();
        brought(&mut led, ["f"], until - 10.0);
        let [packets] = brought(&mut led, ["f"], until);
        let sir = Decibel::new(usual + better);
        let grant = rate_map.grant(sir, u64::MAX, 12).unwrap();
        let expected = 10.0 * 500.0 * f64::from(grant.bits / 8) * (1.0 - rate_map.error(grant.format, sir)) / 500.0;
        // 5,000 blocks, each with its own error: five standard errors are below 3 %.
        assert!((packets / expected - 1.0).abs() < 0.03, "{better} dB: {packets} packets, not {expected}");
        formats.push(grant.format);
    }
    assert!(formats[2] < formats[1] && formats[1] <= formats[0] && formats[3] == formats[0], "{formats:?}");
}

/// 384 kbit/s carry 96 packets of 500 B a second, 96 kbit/s 24.
#[test]
fn a_bearer_of_mbms_takes_another_rate() {
    let mbms = "mbms = [{ name = 'cell', rnc = 'rnc', ues = 2, rate = '384 kbit/s' }]";
    let mut led = session(&format!("{WIRE}{mbms}\n{}", cbr("cell", "5 ms")));
    brought(&mut led, ["f0", "f1"], 10.0);
    led.change(&Change { rate: Some(BitRate::from_kbps(96)), ..to("cell.ue[1]") }).unwrap();
    brought(&mut led, ["f0", "f1"], 12.0);
    let [first, second] = brought(&mut led, ["f0", "f1"], 32.0);
    assert!((first - 20.0 * 96.0).abs() <= 2.0 && (second - 20.0 * 24.0).abs() <= 2.0, "{first}, {second}");
}

/// Two terminals under Iridium's satellites. Behind a wall there is no satellite for one of them; its packets find no way.
#[test]
fn a_terminal_behind_a_wall_has_no_satellite() {
    let text = "
        duration = '60 s'
        constellation = [{ name = 'sky', up.rate = '1 Mbit/s', terminal = [
            { node = 'berlin', latitude = '52.5 deg', longitude = '13.4 deg' },
            { node = 'boston', latitude = '42.3 deg', longitude = '-71.1 deg' },
        ] }]
        flow = [{ name = 'f', from = 'berlin', to = 'boston', transport.udp = {}, source.cbr = { interval = '10 ms', size = '472 B' } }]
    ";
    let mut led = session(text);
    let sent = |got: [f64; 1], n: f64| (got[0] - n).abs() <= 12.0;
    assert!(sent(brought(&mut led, ["f"], 10.0), 1_000.0));
    led.change(&outage("boston")).unwrap();
    assert!(sent(brought(&mut led, ["f"], 20.0), 0.0));
    led.change(&Change { up: Some(true), ..to("boston") }).unwrap();
    assert!(sent(brought(&mut led, ["f"], 30.0), 1_000.0));
    led.change(&outage("sky")).unwrap();
    assert!(sent(brought(&mut led, ["f"], 40.0), 0.0));
    led.change(&Change { up: Some(true), rate: Some(BitRate::from_kbps(100)), ..to("sky") }).unwrap();
    brought(&mut led, ["f"], 50.0);
    // 25 packets of 500 B a second.
    assert!(sent(brought(&mut led, ["f"], 60.0), 250.0));
}

#[test]
fn what_a_medium_cannot_change_is_refused_by_name() {
    let (_, text) = radios().into_iter().find(|(name, _)| *name == "um").unwrap();
    let mut led = session(&text);
    let refused = |change: &Change, led: &mut Session| {
        let fault = led.change(change).unwrap_err();
        (fault.field.into_owned(), fault.message, fault.expected)
    };
    let quality = refused(&Change { quality: Some(Decibel::ZERO), ..to("cell.ue[1]") }, &mut led);
    let said = ("quality", "\"cell.ue[1]\" has no quality to change", "expected up, loss, loss_for");
    assert_eq!((&*quality.0, &*quality.1, &*quality.2), said);
    let (field, message, _) = refused(&outage("cell.ue[2]"), &mut led);
    assert_eq!((&*field, &*message), ("link", "there is no link or terminal \"cell.ue[2]\""));
    let wire = refused(&Change { quality: Some(Decibel::ZERO), ..to("wire") }, &mut led);
    assert_eq!(wire.1, "\"wire\" has no quality to change");

    for (change, said) in [
        ("{ at = '1 s', link = 'cell.ue[0]', rate = '1 Mbit/s' }", "has no rate to change"),
        ("{ at = '1 s', link = 'cell.ue[7]', up = false }", "there is no link or terminal"),
        ("{ at = '1 s', link = 'cell', up = false, repeat = { every = '1 us', times = 900_000 } }", "too many"),
    ] {
        let document = read::toml(&format!("{text}\nchange = [{change}]"), "test").unwrap();
        let error = check(&document).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// What becomes of the air to a terminal is no notice to its machines, over any radio: TFRC that follows handovers sees none.
#[test]
fn a_gap_in_coverage_is_no_handover() {
    for radio in [
        "cell = [{ name = 'c', rnc = 'n', ues = 1 }]",
        "hsdpa = [{ name = 'c', node = 'n', ues = 1, rings = 0, places = [['50 m', '0 m']] }]",
        "mbms = [{ name = 'c', rnc = 'n', ues = 1 }]",
    ] {
        let text = format!(
            "duration = '20 s'
            record.state = true
            link = [{{ name = 'core', between = ['s', 'n'], rate = '10 Mbit/s', delay = '10 ms' }}]
            {radio}
            change = [{{ at = '10 s', link = 'c.ue[0]', up = false }}, {{ at = '11 s', link = 'c.ue[0]', up = true }}]
            flow = [{{ from = 's', to = 'c.ue[0]', transport.tfrc.handover = 'restart' }}]"
        );
        let results = crate::common::scenario::run(&text, 1);
        let state = |kind, what| crate::common::scenario::state(&results, &[("kind", kind)], what);
        assert_eq!(state("sender", "handover_restarts"), 0.0, "{radio}");
        assert!(state("receiver", "received_packets") > 10.0, "{radio}");
    }
}
