//! RTP's header and RTCP's feedback as they are on the wire (RFC 3550 §5.1, RFC 8888 §3.1).

use crate::net::{FlowId, RtcpReport, RtpHeader};

/// RTP's version, in the first two bits.
const VERSION: u8 = 2 << 6;

/// A dynamic payload type (RFC 3551 §6), as browsers use for video.
const PAYLOAD_TYPE: u8 = 96;

/// RTPFB (RFC 4585 §6.1) and CCFB (RFC 8888 §3.1).
const RTPFB: u8 = 205;
const CCFB: u8 = 11;

/// The synchronisation source of a flow's data; that of its reports is the next.
fn ssrc(flow: FlowId) -> u32 {
    2 * (flow.0 + 1)
}

/// RTP's header.
pub(super) fn data(flow: FlowId, header: &RtpHeader) -> Vec<u8> {
    let mut bytes = vec![VERSION, u8::from(header.marker) << 7 | PAYLOAD_TYPE];
    bytes.extend((header.seq as u16).to_be_bytes());
    bytes.extend(header.timestamp.to_be_bytes());
    bytes.extend(ssrc(flow).to_be_bytes());
    bytes
}

/// A report.
pub(super) fn report(flow: FlowId, report: &RtcpReport) -> Vec<u8> {
    let mut bytes = vec![VERSION | CCFB, RTPFB];
    bytes.extend((report.bytes() as u16 / 4 - 1).to_be_bytes());
    bytes.extend((ssrc(flow) + 1).to_be_bytes());
    bytes.extend(ssrc(flow).to_be_bytes());
    bytes.extend((report.begin as u16).to_be_bytes());
    bytes.extend((report.len() as u16).to_be_bytes());
    bytes.extend(report.blocks().iter().flat_map(|block| block.to_be_bytes()));
    if report.len() % 2 == 1 {
        bytes.extend([0; 2]);
    }
    bytes.extend(report.timestamp().to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Instant;
    use crate::net::Ecn;

    /// RFC 8888 §3.1, Figure 2, by hand: one stream, three packets from 0xffff on, the second lost, the third marked and 10/1024 s ago.
    #[test]
    fn a_report_is_that_of_the_figure() {
        let second = Instant::from_nanos(1_000_000_000);
        let mut made = RtcpReport::new(second, 0xffff, 0);
        for arrival in [Some((second, Ecn::Ect1)), None, Some((Instant::from_nanos(990_000_000), Ecn::Ce))] {
            made.push(arrival);
        }
        let expected: [&[u8]; 7] = [
            &[0x8b, 205, 0, 6],
            &[0, 0, 0, 3, 0, 0, 0, 2],
            &[0xff, 0xff, 0, 3],
            &[0b1010_0000, 0],
            &[0, 0],
            &[0b1110_0000, 10, 0, 0],
            &[0, 1, 0, 0],
        ];
        assert_eq!(report(FlowId(0), &made), expected.concat());
    }

    #[test]
    fn a_header_is_that_of_rfc_3550() {
        let header = RtpHeader { seq: 0x1_0203, timestamp: 90_000, marker: true, ..RtpHeader::default() };
        assert_eq!(data(FlowId(4), &header), [0x80, 0xe0, 2, 3, 0, 1, 0x5f, 0x90, 0, 0, 0, 10]);
    }
}
