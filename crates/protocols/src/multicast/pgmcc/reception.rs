//! What a receiver hands on: in order and whole, or as it comes.

use std::collections::VecDeque;

use lasthop_net::net::sequence::{Came, Sequence};

/// The data that have come to a receiver.
#[derive(Debug)]
pub enum Reception {
    /// Nothing is sent again; data are handed on as they come.
    Unreliable(Unordered),
    /// Data are handed on in order.
    Reliable(Ordered),
}

/// Data in the order in which they come.
#[derive(Debug, Default)]
pub struct Unordered {
    sequence: Sequence,
    bytes: u64,
    /// Payload of the connection up to the end of the last packet that came.
    end: u64,
}

/// Data in the order of their numbers.
#[derive(Debug, Default)]
pub struct Ordered {
    /// The first number that has not been handed on.
    next: u64,
    /// The state of that packet and of later ones.
    ahead: VecDeque<Place>,
    bytes: u64,
}

/// The state of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Missing,
    Here(u32),
    /// It will not come any more.
    GivenUp,
}

impl Reception {
    /// Nothing has come.
    pub fn new(reliable: bool) -> Self {
        if reliable { Self::Reliable(Ordered::default()) } else { Self::Unreliable(Unordered::default()) }
    }

    /// A packet has come, with `payload` bytes up to byte `end` of the connection. Says whether it is the first time.
    #[inline]
    pub fn take(&mut self, seq: u64, payload: u32, end: u64) -> bool {
        match self {
            Self::Unreliable(data) => {
                let first = data.sequence.take(seq) != Came::Again;
                if first {
                    data.bytes += u64::from(payload);
                    data.end = data.end.max(end);
                }
                first
            }
            Self::Reliable(data) => data.put(seq, Place::Here(payload)),
        }
    }

    /// The bytes of the connection that are reported to the source.
    #[inline]
    pub fn told(&self) -> u64 {
        match self {
            Self::Unreliable(data) => data.end,
            Self::Reliable(data) => data.bytes,
        }
    }

    /// Payload bytes that were handed on.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Unreliable(data) => data.bytes,
            Self::Reliable(data) => data.bytes,
        }
    }

    /// Payload bytes that wait for packets before them.
    pub fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Unreliable(_) => 0,
            Self::Reliable(data) => data.waiting_bytes(),
        }
    }
}

impl Ordered {
    /// A receiver that begins with this packet: it misses none before.
    pub fn begin_at(&mut self, seq: u64) {
        self.next = seq;
        self.ahead.clear();
    }

    /// Payload bytes that were handed on.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn waiting_bytes(&self) -> u64 {
        let payload = |place: &Place| if let Place::Here(payload) = place { u64::from(*payload) } else { 0 };
        self.ahead.iter().map(payload).sum()
    }

    /// Whether a packet has neither come nor been given up.
    pub fn misses(&self, seq: u64) -> bool {
        seq >= self.next && self.ahead.get((seq - self.next) as usize).is_none_or(|place| *place == Place::Missing)
    }

    /// A packet will not come any more: those behind it wait no longer.
    pub fn give_up(&mut self, seq: u64) {
        self.put(seq, Place::GivenUp);
    }

    /// Nor will any of those below `trail`.
    pub fn give_up_below(&mut self, trail: u64) {
        while self.next < trail {
            if self.ahead.is_empty() {
                self.next = trail;
                return;
            }
            if let Some(Place::Here(payload)) = self.ahead.pop_front() {
                self.bytes += u64::from(payload);
            }
            self.next += 1;
        }
        self.hand_on();
    }

    fn put(&mut self, seq: u64, what: Place) -> bool {
        if !self.misses(seq) {
            return false;
        }
        let index = (seq - self.next) as usize;
        if index >= self.ahead.len() {
            self.ahead.resize(index + 1, Place::Missing);
        }
        self.ahead[index] = what;
        self.hand_on();
        true
    }

    fn hand_on(&mut self) {
        while let Some(place) = self.ahead.front().filter(|place| **place != Place::Missing) {
            if let Place::Here(payload) = place {
                self.bytes += u64::from(*payload);
            }
            self.ahead.pop_front();
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_wait_for_those_before_them() {
        let mut reception = Reception::new(true);
        let waiting = [1u64, 3, 0, 3, 2].map(|seq| {
            reception.take(seq, 10 + seq as u32, 0);
            reception.waiting_bytes()
        });
        assert_eq!(waiting, [11, 24, 13, 13, 0]);
    }

    #[test]
    fn reliable_data_are_handed_on_in_order_and_once() {
        let mut reception = Reception::new(true);
        let told: Vec<u64> = [1u64, 0, 0, 3, 2, 1]
            .map(|seq| {
                reception.take(seq, 10 + seq as u32, 0);
                reception.told()
            })
            .to_vec();
        assert_eq!(told, [0, 21, 21, 21, 46, 46]);
    }

    #[test]
    fn what_is_given_up_holds_nothing_back() {
        let mut reception = Reception::new(true);
        for seq in [1, 2, 5, 7] {
            assert!(reception.take(seq, 10, 0));
        }
        let Reception::Reliable(data) = &mut reception else { unreachable!() };
        data.give_up(0);
        assert_eq!((data.next, data.bytes, data.misses(3), data.misses(5)), (3, 20, true, false));
        data.give_up_below(5);
        assert_eq!((data.next, data.bytes), (6, 30));
        data.give_up_below(20);
        assert_eq!((data.next, data.bytes), (20, 40));
        assert!(!reception.take(6, 10, 0), "too late");
        assert!(reception.take(20, 10, 0));
    }

    #[test]
    fn unreliable_data_are_counted_once() {
        let mut reception = Reception::new(false);
        let first = [(0, 10), (2, 30), (2, 30), (1, 20)].map(|(seq, end)| reception.take(seq, 10, end));
        assert_eq!((first, reception.told(), reception.bytes()), ([true, true, false, true], 30, 30));
    }
}
