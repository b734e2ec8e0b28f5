//! The books of real packets in the network: their bytes, and what became of them on their way.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::net::simulation::OUTSIDE_PORT;
use lasthop_core::net::{Address, Cause, FlowId, Observation, Observer, Packet, Place};

use crate::store::Store;

/// What the network says of real packets as they end.
#[derive(Default)]
pub struct Books {
    pub store: Store,
    /// What became of packets on their way, since it was last taken.
    pub seen: Vec<Seen>,
    /// Whether their bytes and marks are wanted.
    pub captures: bool,
    /// What serves each terminal.
    pub served: BTreeMap<Place, &'static str>,
    /// For how long after its drop a packet to a group may be sent again, by an RNC of MBMS that keeps it.
    pub again: Option<Duration>,
    /// Dropped packets to groups, and until when their bytes are held.
    pub held: VecDeque<(u64, Instant)>,
}

/// Something that happened to a packet on its way.
pub struct Seen {
    pub at: Instant,
    pub place: Place,
    pub flow: FlowId,
    /// Why it was dropped; `None` if it was marked.
    pub dropped: Option<Cause>,
    /// Its bytes, if they are wanted.
    pub bytes: Box<[u8]>,
}

impl Books {
    fn saw(&mut self, at: Instant, place: Place, packet: &Packet, dropped: Option<Cause>) {
        let bytes = if self.captures { self.store.bytes_of(packet.number).into() } else { Box::default() };
        self.seen.push(Seen { at, place, flow: packet.flow, dropped, bytes });
    }
}

/// Keeps the books.
pub struct Keeper(pub Arc<Mutex<Books>>);

impl Observer for Keeper {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Copied { packet } if is_real(packet) => open(&self.0).store.copy(packet.number),
            Observation::Dropped { place, cause, packet } if is_real(packet) => {
                let mut books = open(&self.0);
                books.saw(now, place, packet, Some(cause));
                if let Some(again) = books.again.filter(|_| matches!(packet.to, Address::Group(_))) {
                    books.store.hold(packet.number);
                    books.held.push_back((packet.number, now + again));
                }
                books.store.end(packet.number);
            }
            Observation::Marked { place, packet } if is_real(packet) => {
                let mut books = open(&self.0);
                if books.captures {
                    books.saw(now, place, packet, None);
                }
            }
            Observation::Served { place, service } => {
                open(&self.0).served.insert(place, service);
            }
            _ => {}
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Real packets go to a port at which no endpoint is.
fn is_real(packet: &Packet) -> bool {
    packet.to_port == OUTSIDE_PORT
}

pub fn open(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}
