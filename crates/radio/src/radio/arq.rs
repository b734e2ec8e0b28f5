//! Link ARQ: segmentation, retransmission and order between the two ends of a radio bearer.
//!
//! An entity is a machine without IO. It knows SDUs by number and size, not by what they are:
//! its medium keeps the packets, in the order in which it handed them over, and ends each when
//! the entity at the far end says [`Outcome::Delivered`] or [`Outcome::Lost`].
//!
//! An entity sends in one direction and receives in the other, since what it says of what it
//! received may ride on what it sends.

use lasthop_net::engine::{Duration, Fault, FloatTime, Instant};
use lasthop_net::net::Probe;

use super::Direction;
use super::rlc::Pdu;

/// One end of a radio bearer.
pub trait LinkArq: Send {
    /// Takes an SDU of `bytes` bytes, not 0, to send. Those taken are numbered from 0. `false`: there is no room, and it is not taken. One
    /// that is `exempt` needs no room.
    fn enqueue(&mut self, now: Instant, bytes: u32, exempt: bool) -> bool;

    /// The PDU that leaves next in a transmission time interval, no larger than [`Slot::left`]. Asked until it gives none, or until
    /// fewer bits are left than [`ArqConfig::pdu_bits`]; only while [`LinkArq::wants_to_send`].
    fn pull(&mut self, slot: &Slot) -> Option<Pdu>;

    /// Whether there is, or soon may be, something to send: intervals are counted while it says so.
    /// What makes it true is an input; what makes it false may also be a [`LinkArq::pull`].
    fn wants_to_send(&self) -> bool;

    /// Whether what it would send next is control information of its own protocol, for which timers of the far end may wait.
    fn has_control(&self) -> bool {
        false
    }

    /// The SDU of which the next PDU would carry something, as far as it knows.
    fn next_sdu(&self) -> Option<u64> {
        None
    }

    /// A PDU of the far end has come. What follows from it for SDUs of the far end is added to
    /// `outcomes`, in order.
    fn on_pdu(&mut self, now: Instant, pdu: &Pdu, outcomes: &mut Vec<Outcome>);

    /// The instant that [`LinkArq::next_timeout`] named has come.
    fn on_timeout(&mut self, now: Instant);

    /// When it wants to be woken next. Read after every input and after every interval in which it sent.
    fn next_timeout(&self) -> Option<Instant>;

    /// The present by ns-2's clock, if that is followed. Told before a PDU.
    fn set_float(&mut self, _now: FloatTime) {}

    /// [`LinkArq::next_timeout`] by ns-2's clock, if that may order it among PDUs that come.
    fn next_float(&self) -> Option<FloatTime> {
        None
    }

    /// The channel that carries what it sends has changed: until `at`, when it hands PDUs down the next time, intervals last
    /// `former`, and from there on `tti`.
    fn on_channel_change(&mut self, _at: Instant, _former: Duration, _tti: Duration) {}

    /// About how many PDUs it would hand down now over an unlimited channel: its request where capacity is allocated.
    fn ready_pdus(&self) -> u64;

    /// Whether it sends again what was lost on the way.
    fn retransmits(&self) -> bool {
        true
    }

    /// What it holds to send.
    fn backlog(&self) -> Unsent;

    /// Its present state and totals.
    fn sample(&self, probe: &mut dyn Probe);
}

/// The parameters of a link ARQ.
pub trait ArqConfig: Send + Sync {
    /// The end of a bearer that sends in a direction. Both its ends are built from the same parameters.
    fn build(&self, sends: Direction) -> Box<dyn LinkArq>;

    /// What a PDU takes of a transmission time interval, in bits.
    fn pdu_bits(&self) -> u32;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// What became of an SDU of the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The SDU of this number is complete, and delivered now.
    Delivered(u64),
    /// The SDU of this number will not be delivered: a part of it was lost, or its sender gave it up.
    Lost(u64),
}

/// A transmission time interval in which an entity may send, and the place in it.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// When the interval's PDUs are made. One interval later the next ones are.
    pub now: Instant,
    /// When this PDU leaves the entity: at once, or a little later. Timers count from here.
    pub at: Instant,
    /// The length of an interval (TTI).
    pub tti: Duration,
    /// How many bits the interval carries.
    pub bits: u32,
    /// How many of them are left for this PDU and those after it.
    pub left: u32,
}

impl Slot {
    /// How many PDUs of one size the interval carries, and how many of them are left.
    pub fn pdus_of(&self, bits: u32) -> [u32; 2] {
        [self.bits / bits, self.left / bits]
    }
}

/// What an entity holds to send, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsent {
    /// Of SDUs that are not yet, or not wholly, in PDUs.
    pub sdus: u64,
    /// Of PDUs sent and kept for retransmission, padding included.
    pub unacknowledged: u64,
}
