//! What the bridge writes into a real packet before it hands it to a host: the differentiated-services and ECN fields, as the network left
//! them. Nothing else is changed.

use lasthop_core::net::Ecn;

/// Writes these fields into the IP header of `packet`; the checksum of IPv4 is corrected by RFC 1624, equation 3. Transport checksums do not
/// cover these fields.
pub fn write_class(packet: &mut [u8], dscp: u8, ecn: Ecn) {
    // RFC 2474 §3, RFC 3168 §5: six bits and two.
    let class = dscp << 2 | ecn as u8;
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] = class;
            let after = u16::from_be_bytes([packet[0], packet[1]]);
            let sum = u16::from_be_bytes([packet[10], packet[11]]);
            packet[10..12].copy_from_slice(&corrected(sum, before, after).to_be_bytes());
        }
        Some(6) if packet.len() >= 40 => {
            // RFC 8200 §3: the traffic class lies across the first two bytes.
            packet[0] = 0x60 | class >> 4;
            packet[1] = class << 4 | packet[1] & 0x0f;
        }
        _ => {}
    }
}

/// RFC 1624 §3, equation 3: HC' = ~(~HC + ~m + m'), in one's complement.
fn corrected(sum: u16, before: u16, after: u16) -> u16 {
    let wide = u32::from(!sum) + u32::from(!before) + u32::from(after);
    let folded = (wide & 0xffff) + (wide >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header, Ipv6Slice};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_rfc_1624() {
        // RFC 1624 §4: HC = 0xDD2F, m = 0x5555, m' = 0x3285: HC' = 0x0000, where RFC 1141 gives 0xFFFF.
        assert_eq!(corrected(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn the_corrected_checksum_is_the_computed_one(
            source: [u8; 4], destination: [u8; 4], dscp in 0u8..64, ecn in 0u8..4, ttl: u8, length in 0u16..60_000, after in 0u8..64,
        ) {
            let mut header = Ipv4Header::new(length, ttl, IpNumber::UDP, source, destination).unwrap();
            header.dscp = IpDscp::try_new(dscp).unwrap();
            header.ecn = IpEcn::try_new(ecn).unwrap();
            header.header_checksum = header.calc_header_checksum();
            let mut packet = header.to_bytes().to_vec();
            write_class(&mut packet, after, Ecn::Ce);
            let (read, _) = Ipv4Header::from_slice(&packet).unwrap();
            prop_assert_eq!(read.header_checksum, read.calc_header_checksum());
            prop_assert_eq!((read.dscp.value(), read.ecn.value()), (after, 0b11));
            prop_assert_eq!((read.source, read.time_to_live), (source, ttl));
        }

        #[test]
        fn ipv6_keeps_version_and_flow_label(label in 0u32..1 << 20, class: u8, dscp in 0u8..64) {
            let header = Ipv6Header { flow_label: label.try_into().unwrap(), traffic_class: class, ..Default::default() };
            let mut packet = header.to_bytes().to_vec();
            write_class(&mut packet, dscp, Ecn::Ce);
            let read = Ipv6Slice::from_slice(&packet).unwrap().header().to_header();
            prop_assert_eq!((read.flow_label.value(), read.traffic_class), (label, dscp << 2 | 0b11));
        }

        #[test]
        fn anything_else_is_left_alone(mut bytes in proptest::collection::vec(any::<u8>(), 0..19)) {
            let before = bytes.clone();
            write_class(&mut bytes, 0, Ecn::Ce);
            prop_assert_eq!(bytes, before);
        }
    }
}
