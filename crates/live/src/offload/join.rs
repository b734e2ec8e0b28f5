//! From packets for a host to one frame: neighbours that are segments of one flow, one behind the other, are joined, as the kernel joins packets of
//! a network card (`tcp_gro_receive`). Cut again they are the same packets.

use super::{Layout, checksum, put, tcp, virtio, word};

/// The longest joined packet: IPv4's length field (RFC 791 §3.1).
const LONGEST: usize = 65_535;

/// The most packets that are joined: a frame is written from as many pieces and its head, and the system takes 1,024 (`UIO_MAXIOV`).
const MOST: usize = 1_000;

/// How many of `packets`, which are not none, go in one frame; `head` is then what stands in front of them there. The second number says how many
/// bytes at the start of each packet stand in `head` already: none of a packet that goes alone.
pub fn join<'p>(packets: impl IntoIterator<Item = &'p [u8]>, head: &mut Vec<u8>) -> (usize, usize) {
    let mut packets = packets.into_iter();
    let mut count = 1;
    let mut line = packets.next().and_then(Line::begin);
    if let Some(line) = &mut line {
        count += packets.take(MOST - 1).take_while(|packet| line.take(packet)).count();
    }
    head.clear();
    match line.filter(|_| count > 1) {
        Some(line) => {
            line.write_head(head);
            (count, line.layout.payload)
        }
        None => {
            head.extend_from_slice(&virtio::Header::default().bytes());
            (1, 0)
        }
    }
}

/// Segments of one flow, one behind the other.
struct Line<'p> {
    first: &'p [u8],
    layout: Layout,
    /// Segments, and bytes of payload in all.
    segments: u16,
    payload: usize,
    /// FIN and PSH of the last.
    flags: u8,
    /// Whether the last ends it: it is short, or has FIN or PSH.
    is_closed: bool,
    /// Whether the checksums of the first are known to be right.
    is_right: bool,
}

impl<'p> Line<'p> {
    /// A line with this segment; `None` if it is not one that can be joined.
    fn begin(first: &'p [u8]) -> Option<Self> {
        let layout = Layout::of(first)?;
        let flags = first[layout.tcp + tcp::FLAGS];
        // Options of IP are rare, and not looked into.
        let is_plain = layout.tcp == if layout.is_v4 { 20 } else { 40 };
        let is_data = flags & (tcp::ACK | tcp::SYN | tcp::RST | tcp::URG | tcp::CWR) == tcp::ACK;
        let payload = first.len() - layout.payload;
        if !is_plain || !is_data || payload == 0 {
            return None;
        }
        let flags = flags & (tcp::FIN | tcp::PSH);
        Some(Self { first, layout, segments: 1, payload, flags, is_closed: flags != 0, is_right: false })
    }

    /// Takes a packet as the next segment, if it is that.
    fn take(&mut self, packet: &[u8]) -> bool {
        let Layout { tcp: at, payload: headers, .. } = self.layout;
        let size = self.first.len() - headers;
        if self.is_closed
            || packet.len() <= headers
            || packet.len() > self.first.len()
            || headers + self.payload + packet.len() - headers > LONGEST
            || !self.is_next(packet)
            || self.layout.length(packet) != packet.len()
        {
            return false;
        }
        // Joined, a wrong checksum would become a right one.
        self.is_right = self.is_right || is_right(self.layout, self.first);
        if !self.is_right || !is_right(self.layout, packet) {
            return false;
        }
        self.segments += 1;
        self.payload += packet.len() - headers;
        self.flags = packet[at + tcp::FLAGS] & (tcp::FIN | tcp::PSH);
        self.is_closed = self.flags != 0 || packet.len() - headers < size;
        true
    }

    /// Whether the headers of `packet`, which is long enough to have some, are those of the first but for the fields that count on.
    fn is_next(&self, packet: &[u8]) -> bool {
        let Layout { is_v4, tcp: at, payload: headers } = self.layout;
        let same = |from: usize, to: usize| packet[from..to] == self.first[from..to];
        let ip = if is_v4 {
            // Version, class; identification; fragments, TTL, protocol; addresses.
            same(0, 2)
                && word(packet, 4) == word(self.first, 4).wrapping_add(self.segments)
                && same(6, 10)
                && same(12, 20)
        } else {
            same(0, 4) && same(6, 40)
        };
        let seq = |packet: &[u8]| u32::from(word(packet, at + 4)) << 16 | u32::from(word(packet, at + 6));
        let flags = |packet: &[u8]| packet[at + tcp::FLAGS] & !(tcp::FIN | tcp::PSH);
        // Ports; sequence number; acknowledgement number and length of the header; flags; window; urgent pointer and options.
        ip && same(at, at + tcp::SEQ)
            && seq(packet) == seq(self.first).wrapping_add(self.payload as u32)
            && same(at + 8, at + tcp::FLAGS)
            && flags(packet) == flags(self.first)
            && same(at + 14, at + tcp::CHECKSUM)
            && same(at + 18, headers)
    }

    /// The header of virtio and the headers of the joined packet. Its checksum is left out: the field has the sum of the pseudo-header.
    fn write_head(&self, head: &mut Vec<u8>) {
        let Layout { is_v4, tcp: at, payload: headers } = self.layout;
        let header = virtio::Header {
            flags: virtio::NEEDS_CSUM,
            gso_type: if is_v4 { virtio::GSO_TCPV4 } else { virtio::GSO_TCPV6 },
            hdr_len: headers as u16,
            gso_size: (self.first.len() - headers) as u16,
            csum_start: at as u16,
            csum_offset: tcp::CHECKSUM as u16,
        };
        head.extend_from_slice(&header.bytes());
        head.extend_from_slice(&self.first[..headers]);
        let packet = &mut head[virtio::LENGTH..];
        self.layout.write_length(packet, headers + self.payload, word(self.first, 4));
        packet[at + tcp::FLAGS] |= self.flags;
        let sum = self.layout.pseudo_header(packet, headers + self.payload - at);
        put(packet, at + tcp::CHECKSUM, checksum::folded(sum));
    }
}

/// Whether the checksums of a segment are right.
fn is_right(layout: Layout, packet: &[u8]) -> bool {
    let segment = &packet[layout.tcp..];
    let ip = !layout.is_v4 || checksum::of(&packet[..layout.tcp], 0) == 0;
    ip && checksum::of(segment, layout.pseudo_header(packet, segment.len())) == 0
}

#[cfg(test)]
mod tests {
    use etherparse::{IpSlice, TcpHeader, TcpSlice};
    use proptest::prelude::*;

    use super::super::cut;
    use super::super::samples::{bytes, data, frame, packet};
    use super::*;
    use crate::device::Packets;

    /// The frames that packets for a host are written as.
    fn frames(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let (mut rest, mut frames, mut head) = (packets, Vec::new(), Vec::new());
        while !rest.is_empty() {
            let (count, headers) = join(rest.iter().map(Vec::as_slice), &mut head);
            frames.push(rest[..count].iter().fold(head.clone(), |frame, packet| [&frame, &packet[headers..]].concat()));
            rest = &rest[count..];
        }
        frames
    }

    fn cut_again(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for frame in frames {
            let mut packets = Packets::default();
            cut(frame, 1_500, &mut packets).unwrap();
            all.extend(packets.iter().map(<[u8]>::to_vec));
        }
        all
    }

    /// Segments of `size` of a payload, each made by itself.
    fn segments(is_v4: bool, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
        let parts = payload.chunks(size).enumerate();
        parts.map(|(n, part)| packet(is_v4, 7 + n as u16, &data(1_000 + (n * size) as u32), part)).collect()
    }

    #[test]
    fn segments_of_a_flow_become_one_packet_whose_checksums_are_right() {
        for is_v4 in [true, false] {
            let payload = bytes(10_500);
            let [frame] = &frames(&segments(is_v4, &payload, 1_000))[..] else { panic!("not one") };
            let (header, joined) = virtio::Header::read(frame).unwrap();
            let at = if is_v4 { 20 } else { 40 };
            let expected = virtio::Header {
                flags: virtio::NEEDS_CSUM,
                gso_type: if is_v4 { virtio::GSO_TCPV4 } else { virtio::GSO_TCPV6 },
                hdr_len: at + 32,
                gso_size: 1_000,
                csum_start: at,
                csum_offset: 16,
            };
            assert_eq!(header, expected);
            // The other implementation makes the same packet, but for the checksum that is left to the kernel.
            let whole = packet(is_v4, 7, &data(1_000), &payload);
            let at = usize::from(at) + 16;
            assert_eq!((&joined[..at], &joined[at + 2..]), (&whole[..at], &whole[at + 2..]));
            let ip = IpSlice::from_slice(joined).unwrap();
            let tcp = TcpSlice::from_slice(ip.payload().payload).unwrap();
            let right = match (ip.ipv4(), ip.ipv6()) {
                (Some(ip), _) => tcp.calc_checksum_ipv4(ip.header().source(), ip.header().destination()),
                (_, Some(ip)) => tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination()),
                _ => panic!("neither"),
            };
            let mut completed = joined.to_vec();
            let sum = checksum::of(&completed[usize::from(expected.csum_start)..], 0);
            put(&mut completed, at, sum);
            assert_eq!(word(&completed, at), right.unwrap());
        }
    }

    /// A segment and the one behind it, which differs in one thing.
    fn joins(change: impl Fn(&mut TcpHeader), spoil: impl Fn(&mut Vec<u8>), length: usize) -> bool {
        let first = packet(true, 7, &data(1_000), &bytes(500));
        let mut tcp = data(1_500);
        change(&mut tcp);
        let mut second = packet(true, 8, &tcp, &bytes(length));
        spoil(&mut second);
        frames(&[first, second]).len() == 1
    }

    #[test]
    fn only_what_the_kernel_would_join_is_joined() {
        type Change = fn(&mut TcpHeader);
        let alike: [(&str, Change); 3] =
            [("nothing", |_| ()), ("PSH", |tcp| tcp.psh = true), ("FIN", |tcp| tcp.fin = true)];
        for (what, change) in alike {
            assert!(joins(change, |_| (), 500), "{what}");
        }
        let changes: [(&str, Change); 15] = [
            ("a gap", |tcp| tcp.sequence_number += 1),
            ("an overlap", |tcp| tcp.sequence_number -= 1),
            ("another source port", |tcp| tcp.source_port += 1),
            ("another port", |tcp| tcp.destination_port += 1),
            ("another acknowledgement", |tcp| tcp.acknowledgment_number += 1),
            ("another window", |tcp| tcp.window_size += 1),
            ("SYN", |tcp| tcp.syn = true),
            ("RST", |tcp| tcp.rst = true),
            ("URG", |tcp| tcp.urg = true),
            ("no ACK", |tcp| tcp.ack = false),
            ("ECE", |tcp| tcp.ece = true),
            ("CWR", |tcp| tcp.cwr = true),
            ("NS", |tcp| tcp.ns = true),
            ("another time stamp", |tcp| tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 6, 0, 0, 0, 6]).unwrap()),
            ("no options", |tcp| tcp.set_options_raw(&[]).unwrap()),
        ];
        for (what, change) in changes {
            assert!(!joins(change, |_| (), 500), "{what}");
        }
        // What is changed in IP's header has its checksum corrected.
        fn patch(at: usize, value: u8) -> impl Fn(&mut Vec<u8>) {
            move |packet| {
                packet[at] = value;
                put(packet, 10, 0);
                let sum = checksum::of(&packet[..20], 0);
                put(packet, 10, sum);
            }
        }
        assert!(joins(|_| (), patch(8, 64), 500), "the same TTL");
        for (what, spoil) in [
            ("CE", patch(1, 0b11)),
            ("a class", patch(1, 0b110)),
            ("another identification", patch(5, 9)),
            ("may be fragmented", patch(6, 0)),
            ("another TTL", patch(8, 63)),
        ] {
            assert!(!joins(|_| (), spoil, 500), "{what}");
        }
        assert!(!joins(|_| (), |packet| packet[11] ^= 1, 500), "a wrong checksum of IP");
        assert!(!joins(|_| (), |packet| packet[37] ^= 1, 500), "a wrong checksum of TCP");
        assert!(!joins(|_| (), |packet| packet[300] ^= 1, 500), "a damaged payload");
        assert!(!joins(|_| (), |packet| packet.truncate(400), 500), "a packet that is cut off");
        assert!(!joins(|_| (), |packet| packet.push(0), 499), "a byte behind its end");
        assert!(joins(|_| (), |_| (), 1) && !joins(|_| (), |_| (), 501) && !joins(|_| (), |_| (), 0), "sizes");
    }

    #[test]
    fn a_short_segment_or_a_push_is_the_last() {
        let sizes = |packets: &[Vec<u8>]| frames(packets).iter().map(Vec::len).collect::<Vec<_>>();
        let at = |seq, n, psh, length| {
            let mut tcp = data(seq);
            tcp.psh = psh;
            packet(true, n, &tcp, &bytes(length))
        };
        let head = 10 + 52;
        assert_eq!(
            sizes(&[at(0, 1, false, 500), at(500, 2, false, 400), at(900, 3, false, 400)]),
            [head + 900, head + 400]
        );
        assert_eq!(sizes(&[at(0, 1, true, 500), at(500, 2, false, 500)]), [head + 500, head + 500]);
        assert_eq!(
            sizes(&[at(0, 1, false, 500), at(500, 2, true, 500), at(1_000, 3, false, 500)]),
            [head + 1_000, head + 500]
        );
    }

    #[test]
    fn a_joined_packet_has_a_length() {
        let payload = bytes(80_000);
        let made = frames(&segments(true, &payload, 1_448));
        // 45 segments of 1,448 B and the headers are less than 65,535 B, and 46 more.
        assert_eq!(made.iter().map(Vec::len).collect::<Vec<_>>(), [62 + 45 * 1_448, 62 + 80_000 - 45 * 1_448]);
        assert_eq!(frames(&segments(true, &payload[..1_100], 1)).len(), 2, "no more pieces than a write takes");
    }

    proptest! {
        /// A frame that is cut and joined is the same frame.
        #[test]
        fn cut_and_joined_is_the_same(is_v4: bool, length in 2..60_000usize, size in 100..1_429u16, fin: bool, psh: bool, ece: bool) {
            let size = size.min(length as u16 - 1).max(1);
            let mut tcp = data(u32::MAX - 9);
            (tcp.fin, tcp.psh, tcp.ece) = (fin, psh, ece);
            let mut before = frame(is_v4, size, &packet(is_v4, u16::MAX, &tcp, &bytes(length)));
            let mut packets = Packets::default();
            cut(&before, 1_500, &mut packets).unwrap();
            let packets: Vec<_> = packets.iter().map(<[u8]>::to_vec).collect();
            let after = frames(&packets);
            if length.div_ceil(size.into()) <= MOST {
                // The kernel leaves the sum of the pseudo-header in the place of the checksum.
                let at = virtio::LENGTH + if is_v4 { 20 } else { 40 } + tcp::CHECKSUM;
                let sum = word(&after[0], at);
                put(&mut before, at, sum);
                prop_assert!(after == [before]);
            }
            prop_assert!(cut_again(&after) == packets);
        }

        /// Whatever is joined, cut again it is the same packets in the same order: losses, other flows, marks, flags.
        #[test]
        fn nothing_is_lost_or_turned(steps in proptest::collection::vec((0..3u16, 0..4u8, 0..40u8), 1..60)) {
            let mut packets = Vec::new();
            let mut next = [0u32; 3];
            for &(flow, gap, what) in &steps {
                let seq = &mut next[usize::from(flow)];
                *seq += u32::from(gap == 0) * 500;
                let mut tcp = data(*seq);
                (tcp.psh, tcp.cwr, tcp.source_port) = (what == 0, what == 1, 4_000 + flow);
                let payload = bytes(if what == 2 { 100 } else { 500 });
                packets.push(packet(flow != 2, (*seq / 500) as u16, &tcp, &payload));
                *seq += payload.len() as u32;
            }
            prop_assert!(cut_again(&frames(&packets)) == packets);
        }

        #[test]
        fn no_bytes_do_harm(packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 1..4)) {
            let mut packets = packets;
            for packet in packets.iter_mut().filter(|packet| !packet.is_empty()) {
                packet[0] = 0x45;
            }
            let parts = frames(&packets);
            prop_assert!(parts.iter().map(|frame| frame.len() - virtio::LENGTH).sum::<usize>() <= packets.concat().len());
        }
    }
}
