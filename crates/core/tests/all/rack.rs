//! RACK-TLP and Proportional Rate Reduction over links that lose and delay: no timeouts, and the rate that the window's law gives.

use crate::common::scenario::{column, rows, run};
use lasthop_core::scenario::session::Results;

/// A bulk transfer as in the reference data: 10 Mbit/s, 20 ms each way, 70 packets of buffer, segments of 1400 B, least timer 200 ms.
fn bulk(tcp: &str, loss: &str, seed: u64) -> Results {
    run(
        &format!(
            "duration = '30 s'
            link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms', {loss} queue.droptail.limit = '70 packets' }}]
            flow = [{{ from = 'a', to = 'b', transport.tcp = {{ {tcp}, segment = '1400 B', rto.min = '200 ms' }} }}]"
        ),
        seed,
    )
}

fn sum(results: &Results, name: &str) -> f64 {
    column(results, "flows", name).iter().sum()
}

/// Goodput in kbit/s, timeouts, and fast retransmits of segments that were only late, over eight runs.
fn lossy(tcp: &str, loss: f64) -> (f64, f64, f64) {
    let runs: Vec<_> = (1..=8).map(|seed| bulk(tcp, &format!("loss.bernoulli.p = {loss},"), seed)).collect();
    let total = |name: &str| runs.iter().map(|run| sum(run, name)).sum::<f64>();
    (total("goodput_kbps") / 8.0, total("timeouts"), total("spurious_fast_retransmits"))
}

/// ns-3.37's TcpLinuxReno with SACK and Proportional Rate Reduction on the same path: 3.55 Mbit/s at 1 % of random loss, one seed, so within
/// 20 %. Its TcpCubic has 1.55 there, less than half of that: RFC 9438 §4.3 wants CUBIC's window to be Reno's at least where that
/// is small, and so it is here.
#[test]
fn at_one_per_cent_of_loss_the_rate_is_that_of_ns_3() {
    let (reno, timeouts, late) = lossy("recovery = 'rack', congestion = 'reno'", 0.01);
    assert!((reno / 3549.5 - 1.0).abs() < 0.2, "{reno}");
    assert_eq!((timeouts, late), (0.0, 0.0));
    let (cubic, timeouts, _) = lossy("recovery = 'rack', congestion = 'cubic'", 0.01);
    assert!(cubic > 0.95 * reno && cubic < 1.5 * reno, "{cubic}, Reno {reno}");
    assert_eq!(timeouts, 0.0);
}

/// With SACK alone a lost retransmission, or a loss at the tail of a flight, waits for the timer.
#[test]
fn loss_does_not_lead_to_timeouts() {
    for congestion in ["reno", "cubic"] {
        let (rack, timeouts, _) = lossy(&format!("recovery = 'rack', congestion = '{congestion}'"), 0.03);
        let (sack, waits, _) = lossy(&format!("recovery = 'sack', congestion = '{congestion}'"), 0.03);
        assert!(timeouts <= 1.0 && waits >= 10.0, "{congestion}: {timeouts} timeouts, with SACK {waits}");
        assert!(rack > sack, "{congestion}: {rack} kbit/s, with SACK {sack}");
    }
}

/// Files of 30 kB, one after another, over a link that loses 3 %. Most of them end within a window, whose last segments nothing follows.
#[test]
fn short_transfers_do_not_wait_for_the_timer() {
    let mean = |recovery: &str| {
        let results = run(
            &format!(
                "duration = '300 s'
                link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms', loss.bernoulli.p = 0.03 }}]
                flow = [{{ from = 'a', to = 'b', transport.tcp.recovery = '{recovery}',
                           source.web = {{ main_mean = '30 kB', main_std = '0 B', parsing = '0 s', reading = '0 s' }} }}]"
            ),
            1,
        );
        let transfers = results.table("transfers").unwrap();
        let took = |row| Some(transfers.number("acked_s", row)? - transfers.number("start_s", row)?);
        let times: Vec<f64> = (0..transfers.rows()).filter_map(took).collect();
        assert!(times.len() > 100);
        (times.iter().sum::<f64>() / times.len() as f64, sum(&results, "timeouts") / times.len() as f64)
    };
    let ((rack, timeouts), (sack, waits)) = (mean("rack"), mean("sack"));
    assert!(rack < sack, "{rack} s, with SACK {sack} s");
    assert!(timeouts < waits, "{timeouts} timeouts in each, with SACK {waits}");
}

/// A file whose last segment and FIN are lost. The FIN is sent again as a probe, and its acknowledgement tells of the loss (RFC 8985 §7.4), so the
/// file is there after seven round trips of 100 ms: the handshake, four windows, the probe, and the segment. The FIN is the shortest segment of all,
/// and its round trip shorter than those of data; the acknowledgement of the probe echoes the time stamp of a segment before the gap.
#[test]
fn a_probe_that_is_the_fin_finds_the_loss_before_it() {
    for tcp in ["recovery = 'rack'", "recovery = 'rack', timestamps = true", "variant = 'bbr'"] {
        let results = run(
            &format!(
                "duration = '5 s'
                record = {{ state = true }}
                link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '50 ms', loss.list.drop = [21, 22] }}]
                flow = [{{ from = 'a', to = 'b', transport.tcp = {{ {tcp} }}, source.file.size = '29200 B' }}]"
            ),
            1,
        );
        let took = column(&results, "transfers", "acked_s")[0];
        assert!((0.7..0.76).contains(&took), "{tcp}: {took} s");
        assert_eq!(sum(&results, "timeouts"), 0.0, "{tcp}");
    }
}

/// A TCP header has room for 40 bytes of options (RFC 9293 §3.1): for three SACK blocks beside time stamps (RFC 2018 §3) or AccECN, for two beside both.
#[test]
fn acknowledgements_carry_as_many_blocks_as_the_header_has_room_for() {
    let receiver = |options: &str| {
        let results = run(
            &format!(
                "duration = '5 s'
                record.packets = true
                link = [{{ name = 'l', between = ['a', 'b'], rate = '10 Mbit/s', delay = '20 ms', loss.bernoulli.p = 0.1 }}]
                flow = [{{ from = 'a', to = 'b', transport.tcp = {{ variant = 'sack'{options} }} }}]"
            ),
            1,
        );
        let packets = results.table("packets").unwrap();
        let acks = rows(packets, &[("kind", "ack"), ("event", "sent")]);
        let largest = |name: &str| acks.iter().filter_map(|row| packets.number(name, *row)).fold(0.0, f64::max);
        (largest("sack_blocks"), largest("size_bytes"))
    };
    assert_eq!(receiver(""), (3.0, 40.0 + 28.0));
    assert_eq!(receiver(", timestamps = true"), (3.0, 40.0 + 12.0 + 28.0));
    assert_eq!(receiver(", ecn = true, accurate_ecn = true"), (3.0, 40.0 + 8.0 + 28.0));
    assert_eq!(receiver(", ecn = true, accurate_ecn = true, timestamps = true"), (2.0, 40.0 + 8.0 + 12.0 + 20.0));
}
