//! DCCP headers as they are on the wire (RFC 4340 §5).

use crate::net::{DccpHeader, DccpOptions, DccpType, ListedIntervals};

/// The protocol number of DCCP (RFC 4340 §19.1).
pub(super) const PROTOCOL: u8 = 33;

/// Room for the longest header: that of an acknowledgement with nine loss intervals.
pub(super) const MAX_BYTES: usize = 128;

/// Puts a header with its options into `bytes`, which are zero, and gives its length and that of
/// the payload, with which the packet has at most `largest` bytes. The checksum covers the header
/// only (CsCov 1), and in the pseudo-header the length of both (§9.1).
pub(super) fn write(
    bytes: &mut [u8; MAX_BYTES],
    header: &DccpHeader,
    ports: (u16, u16),
    [source, destination]: [[u8; 4]; 2],
    largest: usize,
) -> (usize, usize) {
    let length = header.bytes() as usize;
    let payload = (header.payload as usize).min(largest - length);
    bytes[..2].copy_from_slice(&ports.0.to_be_bytes());
    bytes[2..4].copy_from_slice(&ports.1.to_be_bytes());
    bytes[4] = (length / 4) as u8;
    bytes[5] = header.ccval << 4 | 1;
    // Extended sequence numbers (X = 1).
    bytes[8] = (header.kind as u8) << 1 | 1;
    bytes[10..16].copy_from_slice(&header.seq.to_be_bytes()[2..]);
    if header.kind != DccpType::Data {
        bytes[18..24].copy_from_slice(&header.ack.to_be_bytes()[2..]);
        let mut options = Options { bytes: &mut bytes[DccpHeader::ACK_BYTES as usize..length], at: 0 };
        options.write(header);
    }
    let words = |bytes: &[u8]| bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum::<u32>();
    let mut sum = words(&source) + words(&destination) + u32::from(PROTOCOL) + (length + payload) as u32;
    sum += words(&bytes[..length]);
    while sum >> 16 > 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    bytes[6..8].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    (length, payload)
}

/// The place of the options. Bytes not written are padding (§5.8.1).
struct Options<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Options<'_> {
    fn write(&mut self, header: &DccpHeader) {
        match &header.options {
            DccpOptions::None => {}
            DccpOptions::AckRatio(ratio) => self.ack_ratio(32, *ratio),
            DccpOptions::AckVector { vector, confirm } => {
                self.option(38, &[vector.bytes()]);
                if *confirm > 0 {
                    self.ack_ratio(35, *confirm);
                }
            }
            DccpOptions::Tfrc { rate, elapsed, intervals } => {
                self.option(194, &[&rate.to_be_bytes()]);
                self.option(43, &[&elapsed.to_be_bytes()]);
                self.intervals(header.ack, intervals);
            }
        }
    }

    /// An option of this type with these data.
    fn option(&mut self, kind: u8, data: &[&[u8]]) {
        let length = 2 + data.iter().map(|part| part.len()).sum::<usize>();
        self.put(&[kind, length as u8]);
        data.iter().for_each(|part| self.put(part));
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Change L or Confirm R of the feature Ack Ratio, number 5 (§6.1, §6.2, §6.4).
    fn ack_ratio(&mut self, kind: u8, ratio: u16) {
        self.option(kind, &[&[5], &ratio.to_be_bytes()]);
    }

    /// Loss Intervals (RFC 4342 §8.6). Nonces are zero.
    fn intervals(&mut self, ack: u64, intervals: &ListedIntervals) {
        let mut rows = [[0; 9]; ListedIntervals::MAX];
        let count = intervals.iter().len();
        let mut end = (ack + 1).saturating_sub(intervals.skip().into());
        for (i, (row, interval)) in rows.iter_mut().zip(intervals.iter()).enumerate() {
            let is_first = i + 1 == count && interval.lossy == 0;
            // What the first interval of a connection counts as is not what it has.
            let length = if is_first { end } else { interval.length.into() };
            let lossy = u64::from(interval.lossy).min(length);
            row[..3].copy_from_slice(&(length - lossy).to_be_bytes()[5..]);
            row[3..6].copy_from_slice(&lossy.to_be_bytes()[5..]);
            row[6..].copy_from_slice(&interval.length.to_be_bytes()[1..]);
            end = end.saturating_sub(length);
        }
        self.option(193, &[&[intervals.skip()], rows[..count].as_flattened()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{AckVector, ListedInterval, PacketState};

    fn options(header: &DccpHeader) -> Vec<u8> {
        let mut bytes = [0; MAX_BYTES];
        let (length, _) = write(&mut bytes, header, (1, 2), [[10, 0, 0, 1], [10, 0, 0, 2]], 1500);
        assert_eq!(length, header.bytes() as usize);
        assert_eq!(usize::from(bytes[4]) * 4, length);
        bytes[24..length].to_vec()
    }

    /// The bytes of RFC 4342 §8.6.2 with nonces of zero, and data lengths that are the lengths of
    /// the intervals, since all packets here carry data.
    #[test]
    fn loss_intervals_of_the_rfc() {
        let mut intervals = ListedIntervals::new(2);
        for (length, lossy) in [(11, 1), (13, 5), (9, 1), (15, 0)] {
            intervals.push(ListedInterval { length, lossy });
        }
        let options = options(&DccpHeader {
            kind: DccpType::Ack,
            ack: 44,
            options: DccpOptions::Tfrc { rate: 0x0001_0203, elapsed: 7, intervals },
            ..DccpHeader::default()
        });
        assert_eq!(options[..12], [194, 6, 0, 1, 2, 3, 43, 6, 0, 0, 0, 7]);
        let expected = [
            193, 39, 2, 0, 0, 10, 0, 0, 1, 0, 0, 11, 0, 0, 8, 0, 0, 5, 0, 0, 13, 0, 0, 8, 0, 0, 1, 0, 0, 9, 0, 0, 10,
            0, 0, 0, 0, 0, 15,
        ];
        assert_eq!(options[12..51], expected);
        assert_eq!(options[51..], [0], "padding");
    }

    /// The vector of RFC 4340 §11.4, and features as in §6.5.
    #[test]
    fn ack_vectors_and_ack_ratios() {
        use PacketState::{Marked, Missing, Received};
        let mut vector = AckVector::EMPTY;
        for (state, count) in [(Received, 1), (Missing, 1), (Received, 4), (Marked, 1), (Received, 6)] {
            vector.push(state, count);
        }
        let with = |kind, options| DccpHeader { kind, ack: 100, options, ..DccpHeader::default() };
        let ack = |confirm| options(&with(DccpType::Ack, DccpOptions::AckVector { vector, confirm }));
        assert_eq!(ack(0), [38, 7, 0, 192, 3, 64, 5, 0]);
        assert_eq!(ack(3), [38, 7, 0, 192, 3, 64, 5, 35, 5, 5, 0, 3]);
        let change = options(&with(DccpType::DataAck, DccpOptions::AckRatio(300)));
        assert_eq!(change, [32, 5, 5, 1, 44, 0, 0, 0]);
    }
}
