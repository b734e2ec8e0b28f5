//! Does a flow with this control have the throughput that the theory of AIMD gives?

use std::sync::Arc;

use lasthop_core::scenario::registry::Transport;
use lasthop_core::scenario::session::Session;
use lasthop_core::scenario::{check, read};
use lasthop_core::transport::congestion::Congestion;
use lasthop_example_controller::Aimd;

const ROUND_TRIP_S: f64 = 0.1;
const SECONDS: f64 = 600.0;
/// The distance between two lost packets, in packets.
const SPACING: usize = 1_000;

/// Segments a second that arrive in order over a path that loses at regular intervals and does not limit the rate.
fn throughput(alpha: f64, beta: f64) -> f64 {
    let lost: Vec<usize> = (1..1_000).map(|n| n * SPACING).collect();
    let path = format!(
        "duration = '{SECONDS} s'
        nodes = ['a', 'b']
        link = [{{ name = 'path', between = ['a', 'b'], rate = '10 Gbit/s', delay = '50 ms', loss.list.drop = {lost:?} }}]
        flow = [{{ from = 'a', to = 'b', transport.tcp.variant = 'sack' }}]"
    );
    let document = read::toml(&path, "path").unwrap();
    check(&document).unwrap();
    let mut scenario = document.scenario;
    let Transport::Tcp(tcp) = &mut scenario.flow[0].transport else { unreachable!("the scenario says so") };
    tcp.congestion = Some(Congestion::custom("aimd", Arc::new(Aimd { alpha, beta })));
    let mut run = Session::new(&scenario, 1, None).unwrap();
    run.complete().unwrap();
    let results = run.finish();
    let flows = results.table("flows").unwrap();
    assert_eq!(flows.text("transport", 0), Some("tcp sack+aimd"));
    flows.number("received_bytes", 0).unwrap() / 1_460.0 / SECONDS
}

/// Yang, Lam: "General AIMD Congestion Control" (2000), equation (13) without timeouts. The theory has no fast recovery, in which the
/// window stands still for one of the 20 to 60 round trips of a cycle, and counts on whole segments: 5 %.
#[test]
fn throughput_is_that_of_the_theory() {
    for (alpha, beta) in [(1.0, 0.5), (0.31, 0.875), (2.0, 0.5), (1.0, 0.8)] {
        let p = 1.0 / SPACING as f64;
        let theory = (alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * p)).sqrt() / ROUND_TRIP_S;
        let got = throughput(alpha, beta);
        assert!((got / theory - 1.0).abs() < 0.05, "alpha {alpha}, beta {beta}: {got:.1}/s, theory {theory:.1}/s");
    }
}

/// TCP of ns-2 and of the kernel have controls of their own: one that would not be asked is refused, as are parameters that make no sense.
#[test]
fn a_control_that_would_not_be_asked_is_refused() {
    let own = |whose: &str| format!("{whose} TCP takes no control that is made in code");
    for (profile, alpha, beta, expected) in [
        ("ns2", 1.0, 0.5, own("ns-2's")),
        ("linux", 1.0, 0.5, own("the Linux kernel's")),
        ("rfc", f64::NAN, 0.5, "alpha: NaN; expected 0 or more".to_owned()),
        ("rfc", 1.0, 1.5, "beta: 1.5; expected more than 0, less than 1".to_owned()),
    ] {
        let path = format!(
            "profile = '{profile}'
            duration = '1 s'
            link = [{{ name = 'path', between = ['a', 'b'], rate = '1 Mbit/s' }}]
            flow = [{{ from = 'a', to = 'b', transport.tcp = {{}} }}]"
        );
        let mut scenario = read::toml(&path, "path").unwrap().scenario;
        let Transport::Tcp(tcp) = &mut scenario.flow[0].transport else { unreachable!("the scenario says so") };
        tcp.congestion = Some(Congestion::custom("aimd", Arc::new(Aimd { alpha, beta })));
        let error = Session::new(&scenario, 1, None).err().expect("it is refused").to_string();
        assert_eq!(error, format!("flow[0].transport.tcp.congestion: {expected}"));
    }
}
