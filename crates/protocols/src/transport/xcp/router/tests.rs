use super::*;
use lasthop_net::engine::Streams;
use lasthop_net::net::bench::any_packet;
use lasthop_net::net::{CongestionHeader, NodeId, Port, TcpHeader, Words};

fn queue(config: &Config) -> Xcp {
    let mut xcp = Xcp::new(config, Place(0), Streams::new(1).stream("link", "xcp"));
    xcp.on_capacity(Instant::ZERO, BitRate::from_bps(8_000_000));
    xcp
}

/// A packet of XCP's, or another.
fn arrive(core: &mut Core, xcp: &mut Xcp, is_xcp: bool, number: u64) {
    let header = CongestionHeader { rtt: Words::new(0.1), x: Words::new(0.01), delta: Words::new(1e24) };
    let options = if is_xcp { TcpOptions::Congestion(header) } else { TcpOptions::default() };
    let header = Header::Tcp(TcpHeader { options, ..TcpHeader::default() });
    let pkt = core.insert(Packet { size: 1000, number, header, ..any_packet() });
    core.note_queued(&pkt);
    xcp.enqueue(core, pkt);
}

/// The numbers of all packets that wait, in the order in which they leave.
fn drain(core: &mut Core, xcp: &mut Xcp) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some(pkt) = xcp.dequeue(core) {
        numbers.push(core.packet(&pkt).number);
        core.arrive(NodeId(0), Port(0), pkt);
    }
    numbers
}

#[test]
fn shared_queues_take_turns_and_xcp_is_told_half() {
    // The others begin, as in ns-2.
    for (share, expected, capacity) in [(true, [4, 0, 5, 1, 2, 3], 500_000.0), (false, [0, 1, 2, 3, 4, 5], 1e6)] {
        let mut core = Core::new(1);
        core.place("xcp");
        let mut xcp = queue(&Config { share, ..Config::default() });
        for number in 0..6 {
            arrive(&mut core, &mut xcp, number < 4, number);
        }
        assert_eq!(drain(&mut core, &mut xcp), expected);
        xcp.expire(Instant::from_secs_f64(1.0));
        assert_eq!(xcp.control.capacity, capacity);
    }
}

#[test]
fn each_queue_has_the_limit() {
    let mut core = Core::new(1);
    core.place("xcp");
    let mut xcp = queue(&Config { share: true, limit: Amount::Packets(2), ..Config::default() });
    for number in 0..6 {
        arrive(&mut core, &mut xcp, number % 2 == 0, number);
    }
    assert_eq!(xcp.backlog(), Backlog { packets: 4, bytes: 4000 });
    assert_eq!(core.counters().dropped, 2);
    assert_eq!(drain(&mut core, &mut xcp), [1, 0, 3, 2]);
}

#[test]
fn what_is_not_its_own_counts_as_input_where_all_wait_together() {
    for (share, expected) in [(true, 1000.0), (false, 2000.0)] {
        let mut core = Core::new(1);
        core.place("xcp");
        let first = Some(Duration::from_millis(50));
        let mut xcp = queue(&Config { share, first_control: first, ..Config::default() });
        arrive(&mut core, &mut xcp, true, 1);
        arrive(&mut core, &mut xcp, false, 2);
        xcp.expire(Instant::from_secs_f64(0.05));
        assert_eq!(xcp.control.last.input, expected / 0.05);
        drain(&mut core, &mut xcp);
    }
}

#[test]
fn timers_begin_at_random_and_run_by_themselves() {
    let first = |seed: u64| {
        let xcp = Xcp::new(&Config::default(), Place(0), Streams::new(seed).stream("link", "xcp"));
        (xcp.control_at, xcp.queue_at)
    };
    let draws: Vec<f64> = (0..2000).flat_map(|seed| <[f64; 2]>::from(first(seed))).collect();
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    let variance = draws.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / draws.len() as f64;
    // N(50 ms, 10 ms): five standard errors of 4000 draws.
    assert!((mean - 0.05).abs() < 5.0 * 0.01 / 4000f64.sqrt(), "{mean}");
    assert!((variance.sqrt() / 0.01 - 1.0).abs() < 5.0 / 8000f64.sqrt(), "{}", variance.sqrt());
    let mut xcp = queue(&Config::default());
    let (control, queue) = (xcp.control_at, xcp.queue_at);
    xcp.expire(Instant::from_secs_f64(control.max(queue)));
    // Without traffic: 50 ms, and half of that.
    assert!((xcp.control_at - control - 0.05).abs() < 1e-12);
    assert!(xcp.queue_at > control.max(queue) && xcp.queue_at <= control.max(queue) + 0.025 + 1e-12);
}
