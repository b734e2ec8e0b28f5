//! From packets of the endpoints to datagrams and back: a codec for each protocol.
//!
//! A codec belongs to one end of one session. It keeps what short fields leave out: the turns of sequence numbers and of foreign clocks.
//! All numbers are in network byte order. A datagram is a header and the payload behind it; a payload's length is the datagram's.

pub mod floats;
pub mod layered;
pub mod pgm;

pub mod reader;
pub mod sequence;
pub mod stamp;
pub mod tfmcc;
pub mod tfrc;

use lasthop_net::engine::Instant;
use lasthop_net::net::Packet;
use thiserror::Error;

/// Writes and reads the packets of a protocol.
pub trait Codec {
    /// Writes the header of `packet` to the end of `datagram`.
    fn encode(&mut self, packet: &Packet, datagram: &mut Vec<u8>);

    /// The payload is behind the header: writes those fields of the header that cover it.
    fn seal(&mut self, _packet: &Packet, _datagram: &mut [u8]) {}

    /// Reads a datagram that comes at `now` into `packet`: its header, and its size but for IP and UDP. Gives the length of the header;
    /// the payload follows.
    ///
    /// # Errors
    /// See [`WireError`]. Nothing is remembered of such a datagram, except that the next number may confirm it.
    fn decode(&mut self, now: Instant, datagram: &[u8], packet: &mut Packet) -> Result<usize, WireError>;

    /// What was read was none of the session's: forgets all numbers and clocks of the other end.
    fn forget(&mut self) {}

    /// Whether receivers send this to one another, so that it comes from others than the sender.
    fn is_of_receiver(&self, _datagram: &[u8]) -> bool {
        false
    }
}

/// A datagram that cannot be a packet of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// It ends within its header.
    #[error("the datagram ends within its header")]
    Short,
    /// Of another protocol or version, or for the other end.
    #[error("no packet of this protocol for this end")]
    Kind,
    /// Its checksum is another.
    #[error("the checksum is wrong")]
    Checksum,
    /// Its number is too far from the last ones.
    #[error("the sequence number is too far from the last ones")]
    Sequence,
    /// A time stamp that is brought back was never sent, or too long ago.
    #[error("the time stamp that it brings back was not sent lately")]
    Stamp,
    /// Another value that no sender writes.
    #[error("a field has a value that makes no sense")]
    Value,
}
