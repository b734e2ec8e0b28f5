//! Layered multicast over UDP. No document has a layout; this is one of our own.
//!
//! ```text
//! Data of a layer, 12 bytes        To other receivers, 4 bytes
//!  0  1                             0  2
//!  1  layer, from 1                 1  the layer that was added
//!  2  0                             2  0
//!  4  sequence number in its layer
//!  8  time stamp, in ms
//! ```
//!
//! The session has a group, and layer n the group n addresses behind it. Receivers tell one another in the group of the session.

use lasthop_net::engine::Instant;
use lasthop_net::net::packet::LayeredHeader;
use lasthop_net::net::{Header, Packet};
use lasthop_protocols::multicast::layered::config::MOST_LAYERS;

use super::reader::Reader;
use super::sequence::Numbers;
use super::stamp::{Foreign, Ticks};
use super::{Codec, WireError};

const TICKS: Ticks = Ticks(1_000_000);
const DATA: u8 = 1;
const ADDED: u8 = 2;
/// Bytes of the header of a data packet.
pub const DATA_BYTES: usize = 12;
/// IPv4 (20 B) and UDP (8 B), which sizes of packets count too.
const BELOW: u32 = 28;

/// The codec of both ends.
#[derive(Clone, Debug)]
pub struct Layered {
    numbers: [Numbers; MOST_LAYERS],
    clock: Foreign,
}

impl Default for Layered {
    fn default() -> Self {
        Self { numbers: [Numbers::default(); MOST_LAYERS], clock: Foreign::new(TICKS) }
    }
}

impl Codec for Layered {
    fn encode(&mut self, packet: &Packet, datagram: &mut Vec<u8>) {
        match packet.header {
            Header::Layered(LayeredHeader::Data { layer, seq, sent_at }) => {
                datagram.extend([DATA, layer as u8, 0, 0]);
                datagram.extend((seq as u32).to_be_bytes());
                datagram.extend(TICKS.write(sent_at).to_be_bytes());
            }
            Header::Layered(LayeredHeader::Added(layer)) => datagram.extend([ADDED, layer as u8, 0, 0]),
            _ => {}
        }
    }

    fn decode(&mut self, _now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError> {
        let mut fields = Reader(datagram);
        let [kind, layer, ..] = fields.bytes::<4>()?;
        if !(1..=MOST_LAYERS).contains(&usize::from(layer)) {
            return Err(WireError::Value);
        }
        packet.size = datagram.len() as u32 + BELOW;
        if kind == ADDED {
            packet.header = Header::Layered(LayeredHeader::Added(layer.into()));
            return Ok(datagram.len());
        }
        if kind != DATA {
            return Err(WireError::Kind);
        }
        let (seq, stamp) = (fields.u32()?, fields.u32()?);
        let seq = self.numbers[usize::from(layer) - 1].read(seq)?;
        let sent_at = self.clock.read(stamp);
        packet.header = Header::Layered(LayeredHeader::Data { layer: layer.into(), seq, sent_at });
        Ok(DATA_BYTES)
    }

    fn forget(&mut self) {
        *self = Self::default();
    }

    fn is_of_receiver(&self, datagram: &[u8]) -> bool {
        datagram.first() == Some(&ADDED)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_those_of_the_layout() {
        let header = LayeredHeader::Data { layer: 3, seq: 260, sent_at: Instant::from_nanos(70_000_000_000) };
        let mut bytes = Vec::new();
        Layered::default().encode(&Packet { header: Header::Layered(header), ..Packet::vacant() }, &mut bytes);
        assert_eq!(bytes, [1, 3, 0, 0, 0, 0, 1, 4, 0, 1, 0x11, 0x70]);
        bytes.clear();
        let added = Header::Layered(LayeredHeader::Added(4));
        Layered::default().encode(&Packet { header: added, ..Packet::vacant() }, &mut bytes);
        assert_eq!(bytes, [2, 4, 0, 0]);
        let mut packet = Packet::vacant();
        assert_eq!(Layered::default().decode(Instant::ZERO, &[3, 1, 0, 0], &mut packet), Err(WireError::Kind));
        assert_eq!(Layered::default().decode(Instant::ZERO, &[1, 65, 0, 0], &mut packet), Err(WireError::Value));
        assert_eq!(Layered::default().decode(Instant::ZERO, &[1, 1, 0, 0, 0], &mut packet), Err(WireError::Short));
    }

    proptest! {
        #[test]
        fn round_trips(layer in 1u32..=64, seq in 0u64..1 << 32, sent in 0u64..1 << 51, payload in 0usize..1000) {
            let header = LayeredHeader::Data { layer, seq, sent_at: Instant::from_nanos(sent) };
            let (mut bytes, mut packet) = (Vec::new(), Packet::vacant());
            let mut codec = Layered::default();
            codec.encode(&Packet { header: Header::Layered(header), ..Packet::vacant() }, &mut bytes);
            bytes.resize(bytes.len() + payload, 7);
            prop_assert_eq!(codec.decode(Instant::ZERO, &bytes, &mut packet), Ok(12));
            let Header::Layered(LayeredHeader::Data { layer: l, seq: s, .. }) = packet.header else { panic!() };
            prop_assert_eq!((l, s, packet.size), (layer, seq, 40 + payload as u32));
        }
    }
}
