//! From a frame that a host's kernel hands over to its packets: TCP that it left whole is cut into segments, and checksums that it left out are
//! computed. What the header says is checked against the packet; a frame that contradicts itself gives nothing.

use super::{Layout, checksum, put, tcp, virtio, word};
use crate::device::Packets;

/// Adds the packets of a frame: one, or the segments of one, none longer than `mtu`. `None` of a frame that contradicts itself.
///
/// Segments are those of the kernel's own `tcp_gso_segment`: sequence numbers and identifications count on; FIN and PSH are the last one's, CWR the
/// first one's.
pub fn cut(frame: &[u8], mtu: usize, packets: &mut Packets) -> Option<()> {
    let (header, packet) = virtio::Header::read(frame)?;
    match header.gso_type & !virtio::GSO_ECN {
        virtio::GSO_NONE => {
            let whole = packets.add(packet.len());
            whole.copy_from_slice(packet);
            if header.flags & virtio::NEEDS_CSUM != 0 {
                complete(whole, header.csum_start.into(), header.csum_offset.into())?;
            }
            Some(())
        }
        virtio::GSO_TCPV4 | virtio::GSO_TCPV6 => segments(header, packet, mtu, packets),
        // UDP is not asked for.
        _ => None,
    }
}

/// Computes the checksum that begins at `start`; at `offset` from there it has the sum of the pseudo-header so far.
fn complete(packet: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let counted = packet.get_mut(start..)?;
    counted.get(offset..offset + 2)?;
    // Zero would mean that there is none (RFC 768); in TCP it is the same number.
    let sum = match checksum::of(counted, 0) {
        0 => 0xffff,
        sum => sum,
    };
    put(counted, offset, sum);
    Some(())
}

fn segments(header: virtio::Header, packet: &[u8], mtu: usize, packets: &mut Packets) -> Option<()> {
    let layout = Layout::of(packet)?;
    let (headers, payload) = packet.split_at(layout.payload);
    let size = usize::from(header.gso_size);
    let agrees = layout.is_v4 == (header.gso_type & !virtio::GSO_ECN == virtio::GSO_TCPV4)
        && header.flags & virtio::NEEDS_CSUM != 0
        && usize::from(header.csum_start) == layout.tcp
        && usize::from(header.csum_offset) == tcp::CHECKSUM;
    if !agrees || size == 0 || payload.is_empty() || headers.len() + size.min(payload.len()) > mtu {
        return None;
    }
    let first_id = word(packet, 4);
    let seq = packet.get(layout.tcp + tcp::SEQ..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))?;
    let last = (payload.len() - 1) / size;
    for (n, part) in payload.chunks(size).enumerate() {
        let segment = packets.add(headers.len() + part.len());
        segment[..headers.len()].copy_from_slice(headers);
        segment[headers.len()..].copy_from_slice(part);
        layout.write_length(segment, headers.len() + part.len(), first_id.wrapping_add(n as u16));
        let length = segment.len() - layout.tcp;
        let pseudo_header = layout.pseudo_header(segment, length);
        let tcp = &mut segment[layout.tcp..];
        tcp[tcp::SEQ..tcp::SEQ + 4].copy_from_slice(&seq.wrapping_add((n * size) as u32).to_be_bytes());
        if n > 0 {
            tcp[tcp::FLAGS] &= !tcp::CWR;
        }
        if n < last {
            tcp[tcp::FLAGS] &= !(tcp::FIN | tcp::PSH);
        }
        put(tcp, tcp::CHECKSUM, 0);
        let sum = checksum::of(tcp, pseudo_header);
        put(tcp, tcp::CHECKSUM, sum);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::super::samples::{bytes, data, frame, packet};
    use super::*;

    fn cut_all(frame: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
        let mut packets = Packets::default();
        cut(frame, mtu, &mut packets)?;
        Some(packets.iter().map(<[u8]>::to_vec).collect())
    }

    proptest! {
        /// Each segment is, byte for byte, the packet that another implementation makes of its numbers, flags and payload.
        #[test]
        fn segments_are_those_that_another_implementation_makes(
            is_v4: bool, length in 1..9_000usize, size in 1..1_429u16, seq: u32, id: u16, flags: [bool; 4],
        ) {
            let size = size.max(40);
            let (payload, mut tcp) = (bytes(length), data(seq));
            [tcp.fin, tcp.psh, tcp.cwr, tcp.ece] = flags;
            let made = cut_all(&frame(is_v4, size, &packet(is_v4, id, &tcp, &payload)), 1_500).unwrap();
            let parts: Vec<&[u8]> = payload.chunks(size.into()).collect();
            prop_assert_eq!(made.len(), parts.len());
            for (n, (made, part)) in made.iter().zip(&parts).enumerate() {
                let is_last = n + 1 == parts.len();
                let mut tcp = tcp.clone();
                tcp.sequence_number = seq.wrapping_add((n * usize::from(size)) as u32);
                (tcp.fin, tcp.psh, tcp.cwr) = (flags[0] && is_last, flags[1] && is_last, flags[2] && n == 0);
                prop_assert_eq!(made, &packet(is_v4, id.wrapping_add(n as u16), &tcp, part));
            }
        }

        /// A checksum that the kernel left out is the one that the other implementation computes, in TCP and in UDP.
        #[test]
        fn checksums_are_completed(is_tcp: bool, payload in proptest::collection::vec(any::<u8>(), 0..1_400)) {
            let mut expected = Vec::new();
            let offset = if is_tcp { 16 } else { 6 };
            let ip = PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64);
            if is_tcp { ip.tcp(1, 2, 3, 4).write(&mut expected, &payload) } else { ip.udp(1, 2).write(&mut expected, &payload) }.unwrap();
            // The kernel leaves the sum of the pseudo-header there.
            let mut packet = expected.clone();
            let length = (packet.len() - 20) as u16;
            let words = [0x0a4d, 1, 0x0a4d, 2, if is_tcp { 6 } else { 17 }, length];
            let sum: u32 = words.iter().map(|word| u32::from(*word)).sum();
            put(&mut packet, 20 + offset, ((sum & 0xffff) + (sum >> 16)) as u16);
            let header = virtio::Header {
                flags: virtio::NEEDS_CSUM, csum_start: 20, csum_offset: offset as u16, ..virtio::Header::default()
            };
            let made = cut_all(&[&header.bytes()[..], &packet].concat(), 1_500).unwrap();
            prop_assert_eq!(made, [expected]);
        }
    }

    #[test]
    fn a_packet_that_is_whole_stays_as_it_is() {
        let whole = packet(true, 7, &data(1), &bytes(100));
        let header = virtio::Header::default().bytes();
        assert_eq!(cut_all(&[&header[..], &whole].concat(), 1_500), Some(vec![whole]));
    }

    #[test]
    fn a_frame_that_contradicts_itself_gives_nothing() {
        let whole = packet(true, 7, &data(1), &bytes(4_000));
        let (good, _) =
            virtio::Header::read(&frame(true, 1_000, &whole)).map(|(header, packet)| (header, packet.len())).unwrap();
        let cut_with = |header: virtio::Header, packet: &[u8]| cut_all(&[&header.bytes()[..], packet].concat(), 1_500);
        assert_eq!(cut_with(good, &whole).map(|packets| packets.len()), Some(4));
        // The length of the headers is a hint: whatever it says, the packet decides.
        for hdr_len in [0, 20, 1_000, u16::MAX] {
            assert_eq!(cut_with(virtio::Header { hdr_len, ..good }, &whole), cut_with(good, &whole));
        }
        for (what, header) in [
            ("no size", virtio::Header { gso_size: 0, ..good }),
            ("segments above the MTU", virtio::Header { gso_size: 1_449, ..good }),
            ("not cut at all", virtio::Header { gso_size: u16::MAX, ..good }),
            ("the other IP", virtio::Header { gso_type: virtio::GSO_TCPV6, ..good }),
            ("UDP", virtio::Header { gso_type: 5, ..good }),
            ("fragments of UDP", virtio::Header { gso_type: 3, ..good }),
            ("an unknown type", virtio::Header { gso_type: 0x7f, ..good }),
            ("no checksum", virtio::Header { flags: 0, ..good }),
            ("another start", virtio::Header { csum_start: 24, ..good }),
            ("a start behind the end", virtio::Header { csum_start: u16::MAX, ..good }),
            ("another place", virtio::Header { csum_offset: 6, ..good }),
            ("a sum behind the end", virtio::Header { gso_type: 0, csum_offset: u16::MAX, ..good }),
            ("a sum from behind the end", virtio::Header { gso_type: 0, csum_start: u16::MAX, ..good }),
            ("a sum across the end", virtio::Header { gso_type: 0, csum_start: 4_051, csum_offset: 0, ..good }),
        ] {
            assert_eq!(cut_with(header, &whole), None, "{what}");
        }
        let longer = [&whole[..], &[0; 9]].concat();
        let udp = {
            let mut packet = Vec::new();
            PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64).udp(1, 2).write(&mut packet, &[0; 3_000]).unwrap();
            packet
        };
        let bare = packet(true, 7, &data(1), &[]);
        for (what, packet) in [
            ("trailing bytes", &longer[..]),
            ("cut off", &whole[..3_000]),
            ("UDP", &udp),
            ("no payload", &bare),
            ("none", &[]),
        ] {
            assert_eq!(cut_with(good, packet), None, "{what}");
        }
        assert_eq!(cut_all(&[0; 9], 1_500), None, "shorter than its header");
    }
}
