use proptest::prelude::*;

use crate::radio::pdcp::PdcpConfig;
use lasthop_net::engine::choice::parsed;
use lasthop_net::engine::{Duration, Fault, Instant};
use lasthop_net::net::packet::{DccpHeader, UdpHeader};
use lasthop_net::net::{Address, Ecn, Header, NodeId, Packet, SackBlocks, Socket, TcpFlags, TcpHeader, TcpOptions};

use super::{Config, ContextLost, Entity, REQUEST_BYTES};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It was lost on the way.
    Lost,
    /// Its header was got back.
    Receivers,
    /// Its header was not got back, and the far end is asked for one, or not.
    Dropped(Option<u8>),
}

/// Two ends; the first sends.
struct Pair {
    now: Instant,
    ends: [Box<Entity>; 2],
}

impl Pair {
    fn new(config: &Config) -> Self {
        let end = || config.build().unwrap();
        Self { now: Instant::ZERO, ends: [end(), end()] }
    }

    /// Bytes of the header with which a packet is sent, and what becomes of it.
    fn send(&mut self, packet: &Packet, lost: bool) -> (u32, Fate) {
        let [sender, receiver] = &mut self.ends;
        let coded = sender.code(self.now, packet);
        sender.sent(self.now, &coded);
        if lost {
            return (coded.header_bytes(), Fate::Lost);
        }
        let fate = match receiver.receive(self.now, &coded) {
            Ok(()) => Fate::Receivers,
            Err(ContextLost { request }) => Fate::Dropped(request),
        };
        (coded.header_bytes(), fate)
    }

    /// Bytes of the header of a packet that comes, and is got back.
    fn bytes(&mut self, packet: &Packet) -> u32 {
        let (bytes, fate) = self.send(packet, false);
        assert_eq!(fate, Fate::Receivers, "{packet:?}");
        bytes
    }
}

fn pair() -> Pair {
    Pair::new(&Config::default())
}

/// A header with PDCP's byte.
const fn pdcp(bytes: u32) -> u32 {
    1 + bytes
}

/// IPv4 and TCP without options.
const FULL: u32 = pdcp(40);

/// What a TCP endpoint sends: its packets have the numbers 1, 2, ….
struct Tcp {
    port: u16,
    number: u64,
    header: TcpHeader,
    options: u32,
    ecn: Ecn,
}

impl Tcp {
    fn new(port: u16) -> Self {
        let header = TcpHeader { seq: 1, ack: 1, window: 65_535, flags: TcpFlags::ACK, ..TcpHeader::default() };
        Self { port, number: 0, header, options: 0, ecn: Ecn::NotEct }
    }

    fn packet(&mut self) -> Packet {
        self.number += 1;
        Packet {
            from: Socket { node: NodeId(0), port: self.port },
            to: Address::Node(NodeId(1)),
            to_port: 80,
            ecn: self.ecn,
            size: 40 + self.options + u32::from(self.header.payload),
            number: self.number,
            header: Header::Tcp(self.header),
            ..Packet::vacant()
        }
    }

    /// The next segment, of this payload.
    fn data(&mut self, payload: u16) -> Packet {
        self.header.seq += u64::from(self.header.payload);
        self.header.payload = payload;
        self.packet()
    }

    /// An acknowledgement of `more` further bytes.
    fn ack(&mut self, more: u64) -> Packet {
        self.header.ack += more;
        self.packet()
    }
}

/// CID, flags and TCP's checksum.
const LEAST: u32 = pdcp(1 + 1 + 2);

#[test]
fn a_steady_stream_of_data_takes_four_bytes() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    tcp.header = TcpHeader { seq: 0, flags: TcpFlags::SYN, ..tcp.header };
    assert_eq!(pair.bytes(&tcp.packet()), FULL, "the first header of a stream");
    tcp.header = TcpHeader { seq: 1, flags: TcpFlags::ACK, ..tcp.header };
    assert_eq!(pair.bytes(&tcp.packet()), FULL, "SYN and ACK have changed");
    // Data behind an acknowledgement changes nothing; later segments follow by the length of the one before.
    for _ in 0..20 {
        assert_eq!(pair.bytes(&tcp.data(1460)), LEAST);
    }
    assert_eq!(pair.bytes(&tcp.data(100)), LEAST);
    assert_eq!(pair.bytes(&tcp.data(1460)), LEAST, "the length of the one before, not of this");
    tcp.header.flags = TcpFlags::ACK.with(TcpFlags::FIN);
    assert_eq!(pair.bytes(&tcp.data(0)), FULL, "FIN has changed");
}

#[test]
fn acknowledgements_take_five_or_seven_bytes() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    assert_eq!(pair.bytes(&tcp.packet()), FULL);
    // A difference up to 255 takes a byte, a larger one three.
    for (more, bytes) in [(1, 1), (255, 1), (256, 3), (2920, 3), (65_535, 3)] {
        assert_eq!(pair.bytes(&tcp.ack(more)), LEAST + bytes, "{more}");
    }
    assert_eq!(pair.bytes(&tcp.ack(65_536)), FULL, "too large a difference");
    tcp.header.window = 65_535 - 200;
    // -200 modulo 2^16 takes three bytes, 100 one.
    assert_eq!(pair.bytes(&tcp.ack(200)), LEAST + 3 + 1);
    tcp.header.window += 100;
    assert_eq!(pair.bytes(&tcp.ack(0)), LEAST + 1);
}

#[test]
fn a_large_window_is_scaled_before_it_is_compared() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    // 1 000 000 B need a shift of 4, and are 62 500 on the wire. A change by 160 B is one by 10.
    tcp.header.window = 1_000_000;
    pair.bytes(&tcp.packet());
    tcp.header.window = 1_000_160;
    assert_eq!(pair.bytes(&tcp.ack(0)), LEAST + 1);
    tcp.header.window = 1_008_160;
    assert_eq!(pair.bytes(&tcp.ack(0)), LEAST + 3, "500 on the wire");
}

#[test]
fn typing_that_is_echoed_takes_four_bytes() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1));
    tcp.header.ack += 1;
    assert_eq!(pair.bytes(&tcp.data(1)), LEAST, "both numbers grow by the data before");
    tcp.header.ack += 2;
    assert_eq!(pair.bytes(&tcp.data(1)), LEAST + 2);
}

#[test]
fn what_was_sent_before_goes_with_a_full_header() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1000));
    pair.bytes(&tcp.data(1000));
    tcp.header.seq = 1;
    assert_eq!(pair.bytes(&tcp.packet()), FULL, "a retransmission");
    assert_eq!(pair.bytes(&tcp.packet()), FULL, "and another one");
    tcp.header.seq = 2001;
    assert_eq!(pair.bytes(&tcp.packet()), LEAST + 3, "2000 B on");
    let mut acks = Tcp::new(2);
    pair.bytes(&acks.packet());
    pair.bytes(&acks.ack(1000));
    assert_eq!(pair.bytes(&acks.ack(0)), FULL, "a duplicate acknowledgement");
}

#[test]
fn identifications_that_jump_take_a_difference() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1460));
    // Two segments were lost in front of the compressor: 4380 B on, and 3 instead of 1.
    tcp.data(1460);
    tcp.data(1460);
    assert_eq!(pair.bytes(&tcp.data(1460)), LEAST + 3 + 1);
}

#[test]
fn options_are_sent_whole_if_they_have_changed_and_not_grown() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.ack(1460));
    let mut sacks = |start, end, tcp: &mut Tcp| {
        let mut sack = SackBlocks::default();
        sack.push(start, end);
        tcp.header.options = TcpOptions::Sack(sack);
        tcp.options = 12;
        pair.bytes(&tcp.ack(0))
    };
    assert_eq!(sacks(3000, 4460, &mut tcp), FULL + 12, "the data offset has changed");
    assert_eq!(sacks(3000, 5920, &mut tcp), LEAST + 12);
    assert_eq!(sacks(3000, 5920, &mut tcp), FULL + 12, "nothing has changed");
    tcp.header.options = TcpOptions::default();
    tcp.options = 0;
    assert_eq!(pair.bytes(&tcp.ack(4460)), FULL, "the data offset again");
}

#[test]
fn time_stamps_cost_their_option_whenever_they_tick() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    tcp.header.flags = tcp.header.flags.with(TcpFlags::TIMESTAMPS);
    tcp.options = 12;
    assert_eq!(pair.bytes(&tcp.data(1000)), FULL + 12);
    tcp.header.ts_val = Instant::from_nanos(999_999);
    assert_eq!(pair.bytes(&tcp.data(1000)), LEAST);
    tcp.header.ts_val = Instant::from_nanos(1_000_000);
    assert_eq!(pair.bytes(&tcp.data(1000)), LEAST + 12);
}

#[test]
fn marks_take_an_octet_when_they_change() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    let mut with = |ecn, flags, bytes| {
        (tcp.ecn, tcp.header.flags) = (ecn, TcpFlags::ACK.with(flags));
        assert_eq!(pair.bytes(&tcp.data(1000)), bytes, "{ecn:?} {flags:?}");
    };
    with(Ecn::Ect0, TcpFlags::NONE, FULL);
    with(Ecn::Ect0, TcpFlags::NONE, LEAST);
    with(Ecn::Ce, TcpFlags::NONE, LEAST + 1);
    with(Ecn::Ce, TcpFlags::NONE, LEAST);
    with(Ecn::Ect0, TcpFlags::CWR, LEAST + 1);
}

#[test]
fn the_twice_algorithm_mends_the_loss_of_one_segment() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1460));
    pair.bytes(&tcp.data(1460));
    for _ in 0..3 {
        assert_eq!(pair.send(&tcp.data(1460), true).1, Fate::Lost);
        assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Receivers));
        assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Receivers));
    }
    let mut acks = Tcp::new(2);
    pair.bytes(&acks.packet());
    pair.bytes(&acks.ack(2920));
    pair.send(&acks.ack(2920), true);
    assert_eq!(pair.send(&acks.ack(2920), false), (LEAST + 3, Fate::Receivers));
    assert_eq!(pair.ends[1].received.repaired, 4);
    // One that acknowledges less than the lost one is not what the one before was.
    pair.send(&acks.ack(2920), true);
    assert_eq!(pair.send(&acks.ack(1460), false), (LEAST + 3, Fate::Dropped(Some(1))));
}

#[test]
fn the_loss_of_two_costs_what_follows_until_the_header_asked_for() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1460));
    pair.bytes(&tcp.data(1460));
    pair.send(&tcp.data(1460), true);
    pair.send(&tcp.data(1460), true);
    assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Dropped(Some(0))));
    assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Dropped(None)), "it has just asked");
    pair.now += Duration::from_millis(500);
    assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Dropped(Some(0))), "the answer does not come");
    assert_eq!(REQUEST_BYTES, 1 + 3, "PID; type, count, context identifier");
    pair.ends[0].on_request(0);
    // CID, identification, and the TCP header but for its ports.
    assert_eq!(pair.send(&tcp.data(1460), false), (pdcp(1 + 2 + 16), Fate::Receivers));
    assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Receivers));
    assert_eq!(pair.ends[1].received.lost, 3);
    // A second request without a full header since: perhaps there is no context at all.
    pair.ends[0].on_request(0);
    assert_eq!(pair.send(&tcp.data(1460), false), (FULL, Fate::Receivers));
    pair.ends[0].on_request(0);
    assert_eq!(pair.send(&tcp.data(1460), false).0, pdcp(19));
}

#[test]
fn a_lost_full_header_is_asked_for_twice() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.send(&tcp.data(1460), true);
    assert_eq!(pair.send(&tcp.data(1460), false), (LEAST, Fate::Dropped(Some(0))));
    pair.ends[0].on_request(0);
    pair.now += Duration::from_millis(500);
    assert_eq!(pair.send(&tcp.data(1460), false), (pdcp(19), Fate::Dropped(Some(0))), "the ports are not known");
    pair.ends[0].on_request(0);
    assert_eq!(pair.send(&tcp.data(1460), false), (FULL, Fate::Receivers));
}

#[test]
fn a_retransmission_mends_the_context() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1460));
    pair.bytes(&tcp.data(1460));
    let lost = tcp.data(1460);
    pair.send(&lost, true);
    pair.send(&tcp.data(1460), true);
    assert!(matches!(pair.send(&tcp.data(1460), false).1, Fate::Dropped(_)));
    assert_eq!(pair.send(&lost, false), (FULL, Fate::Receivers));
    assert_eq!(pair.send(&tcp.data(1460), false).1, Fate::Receivers);
}

/// A datagram, or a packet of DCCP, with payload.
fn datagram(port: u16, dscp: u8) -> Packet {
    let header = Header::Udp(UdpHeader::default());
    let (from, to) = (Socket { node: NodeId(0), port }, Address::Node(NodeId(1)));
    Packet { from, to, to_port: 9, dscp, size: 228, header, ..Packet::vacant() }
}

/// IPv4 and UDP, whole and compressed: CID, generation, identification, checksum.
const FULL_UDP: u32 = pdcp(28);
const UDP: u32 = pdcp(1 + 1 + 2 + 2);

#[test]
fn contexts_of_datagrams_start_slowly() {
    let mut pair = pair();
    // RFC 2507 §3.3.1: full headers after 1, 2, 4, 8, 16, … compressed ones.
    let full: Vec<usize> = (0..70).filter(|_| pair.bytes(&datagram(1, 0)) == FULL_UDP).collect();
    assert_eq!(full, [0, 2, 5, 10, 19, 36, 69]);
    assert_eq!(pair.bytes(&datagram(1, 0)), UDP);
    let mut pair = Pair::new(&Config { f_max_period: 4, ..Config::default() });
    let full: Vec<usize> = (0..30).filter(|_| pair.bytes(&datagram(1, 0)) == FULL_UDP).collect();
    assert_eq!(full, [0, 2, 5, 10, 15, 20, 25], "never more than F_MAX_PERIOD");
    // Of DCCP, and of what is neither TCP nor UDP, only IPv4 is compressed: no checksum lies in it.
    for header in [Header::Dccp(DccpHeader::default()), Header::Opaque] {
        let mut pair = self::pair();
        let packet = Packet { header, ..datagram(1, 0) };
        let sizes: Vec<u32> = (0..3).map(|_| pair.bytes(&packet)).collect();
        assert_eq!(sizes, [pdcp(20), pdcp(1 + 1 + 2), pdcp(20)], "{header:?}");
    }
}

#[test]
fn contexts_of_datagrams_are_refreshed_in_time() {
    let mut pair = pair();
    let mut at = |ms| {
        pair.now = Instant::ZERO + Duration::from_millis(ms);
        pair.bytes(&datagram(1, 0))
    };
    let sizes = [0, 1, 2, 3, 4, 5].map(&mut at);
    assert_eq!(sizes, [FULL_UDP, UDP, FULL_UDP, UDP, UDP, FULL_UDP], "by number");
    // F_MAX_TIME is 5 s, and has to have passed.
    assert_eq!([5005, 5006].map(&mut at), [UDP, FULL_UDP], "by time");
    let sizes = [5007, 5008, 5009, 5010, 5011].map(&mut at);
    assert_eq!(sizes, [UDP, UDP, UDP, UDP, FULL_UDP], "F_PERIOD stays at 4");
}

#[test]
fn datagrams_are_lost_until_a_full_header_of_their_generation() {
    let mut pair = pair();
    for _ in 0..7 {
        pair.bytes(&datagram(1, 0));
    }
    assert_eq!(pair.send(&datagram(1, 0), true), (UDP, Fate::Lost));
    assert_eq!(pair.send(&datagram(1, 0), false), (UDP, Fate::Receivers), "a loss costs no other");
    // Another code point is another generation, and begins slowly.
    assert_eq!(pair.send(&datagram(1, 46), true), (FULL_UDP, Fate::Lost));
    assert_eq!(pair.send(&datagram(1, 46), false), (UDP, Fate::Dropped(None)));
    assert_eq!(pair.send(&datagram(1, 46), false), (FULL_UDP, Fate::Receivers));
    assert_eq!(pair.send(&datagram(1, 46), false), (UDP, Fate::Receivers));
}

#[test]
fn the_context_used_least_recently_makes_room() {
    let config = Config { tcp_space: 3, non_tcp_space: 3, ..Config::default() };
    let mut pair = Pair::new(&config);
    let mut flows: Vec<Tcp> = (1..=5).map(Tcp::new).collect();
    let mut send = |flow: usize| pair.bytes(&flows[flow].data(1000)) == FULL;
    // Identifiers 0 to 3 are four contexts.
    assert_eq!([0, 1, 2, 3, 0].map(&mut send), [true, true, true, true, false]);
    assert_eq!([4, 0, 2, 3].map(&mut send), [true, false, false, false], "flow 1 has gone");
    assert_eq!([1, 0, 2, 3, 4].map(&mut send), [true, false, false, false, true], "flow 4 has, then flow 1");
    let mut full = |port| pair.bytes(&datagram(port, 0)) == FULL_UDP;
    assert_eq!([1, 2, 3, 4, 5, 2, 3, 4, 1].map(&mut full), [true, true, true, true, true, false, false, false, true]);
    // A stream in the place of another: what it compresses does not pass for the other's.
    pair.send(&datagram(6, 0), true);
    assert_eq!(pair.send(&datagram(6, 0), false), (UDP, Fate::Dropped(None)));
}

#[test]
fn identifiers_above_255_take_a_byte_more() {
    let mut pair = Pair::new(&Config { non_tcp_space: 300, ..Config::default() });
    for (port, bytes) in [(255, UDP), (256, UDP + 1)] {
        for other in 0..=port {
            pair.send(&datagram(other, 0), false);
        }
        let mut sizes = (0..3).map(|_| pair.bytes(&datagram(port, 0)));
        assert!(sizes.any(|size| size == bytes), "{port}");
    }
}

#[test]
fn packets_without_room_for_their_headers_go_as_they_are() {
    let mut pair = pair();
    let mut tcp = Tcp::new(1).data(1000);
    tcp.size = 1020;
    assert_eq!(pair.bytes(&tcp), pdcp(0));
    let datagram = Packet { size: 27, ..datagram(1, 0) };
    assert_eq!(pair.ends[0].code(pair.now, &datagram).bytes(), pdcp(27));
}

#[test]
fn a_new_bearer_has_no_contexts() {
    let (mut pair, mut tcp) = (pair(), Tcp::new(1));
    pair.bytes(&tcp.data(1000));
    pair.bytes(&tcp.data(1000));
    pair.ends.iter_mut().for_each(|end| end.begin_anew());
    assert_eq!(pair.bytes(&tcp.data(1000)), FULL);
    assert_eq!(pair.ends[0].sent.full, 2, "counts go on");
}

#[test]
fn what_makes_no_sense_is_refused_by_its_name() {
    assert_eq!(Config::default().check(), Ok(()));
    for (field, text) in [
        ("tcp_space", "tcp_space = 2"),
        ("tcp_space", "tcp_space = 256"),
        ("non_tcp_space", "non_tcp_space = 65536"),
        ("f_max_period", "f_max_period = 0"),
        ("f_max_time", "f_max_time = '0.5 s'"),
        ("f_max_time", "f_max_time = '256 s'"),
    ] {
        let config: Config = parsed(text).unwrap();
        let Fault { field: found, .. } = config.check().unwrap_err();
        assert_eq!(found, field, "{text}");
    }
}

proptest! {
    /// Segments, acknowledgements, retransmissions and datagrams in any order, with losses: received headers are restored or their packets
    /// dropped, a full header always mends, and without losses nothing is dropped.
    #[test]
    fn headers_are_got_back_or_counted(
        steps in prop::collection::vec((0_u8..6, 1_u32..3000, 0_u16..6, any::<bool>()), 1..300),
        lossy in any::<bool>(),
    ) {
        let mut pair = Pair::new(&Config { tcp_space: 3, non_tcp_space: 3, ..Config::default() });
        let mut flows: Vec<Tcp> = (0..6).map(Tcp::new).collect();
        let [mut sent, mut came, mut missed, mut dropped] = [0_u64; 4];
        for (kind, amount, flow, lost) in steps {
            let tcp = &mut flows[usize::from(flow)];
            let packet = match kind {
                0 => datagram(flow, amount as u8 & 3),
                1 => tcp.ack(amount.into()),
                2 => {
                    tcp.header.seq = tcp.header.seq.saturating_sub(amount.into()).max(1);
                    tcp.packet()
                }
                3 => {
                    tcp.header.window = 30_000 + amount;
                    tcp.packet()
                }
                _ => tcp.data(amount as u16),
            };
            let before = (pair.ends[0].sent.full, pair.ends[0].sent.headers);
            let (bytes, fate) = pair.send(&packet, lost && lossy);
            let full = pair.ends[0].sent.full > before.0;
            let whole = (pair.ends[0].sent.headers - before.1) as u32;
            sent += 1;
            prop_assert!(bytes <= pdcp(whole), "a coded header is never longer");
            prop_assert_eq!(full, bytes == pdcp(whole));
            match fate {
                Fate::Lost => missed += 1,
                Fate::Receivers => came += 1,
                Fate::Dropped(request) => {
                    dropped += 1;
                    prop_assert!(lossy && !full, "a full header always comes through");
                    if let Some(cid) = request {
                        pair.ends[0].on_request(cid);
                    }
                }
            }
            pair.now += Duration::from_millis(100);
        }
        prop_assert_eq!(dropped, pair.ends[1].received.lost);
        prop_assert_eq!(came + missed + dropped, sent);
    }
}
