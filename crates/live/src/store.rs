//! Where the bytes of real packets lie while the network carries the packets: by key, with the number of copies under way.

use std::collections::{BTreeMap, VecDeque};

/// How many places there may be for each packet that is kept, and beside them.
const PLACES_PER_PACKET: usize = 8;
const FEW_PLACES: usize = 1_024;

/// The bytes of packets under way. A key is given once and never again; the packet in the network carries it as its number.
#[derive(Debug, Default)]
pub struct Store {
    /// The packets from key `first` on; `None` where the last copy has ended.
    kept: VecDeque<Option<Kept>>,
    first: u64,
    /// Packets below `first`: few that stay long, as in front of a link that is down, while many come and go.
    old: BTreeMap<u64, Kept>,
    packets: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    bytes: Box<[u8]>,
    /// How many packets under way have this key.
    copies: u32,
    /// How often they are held: then they stay without any, since one may be sent again.
    held: u32,
}

impl Store {
    /// Keeps the bytes of a packet that is sent now, and gives its key.
    pub fn keep(&mut self, bytes: &[u8]) -> u64 {
        self.packets += 1;
        self.bytes += bytes.len();
        self.kept.push_back(Some(Kept { bytes: bytes.into(), copies: 1, held: 0 }));
        while self.kept.len() > FEW_PLACES + PLACES_PER_PACKET * self.packets {
            self.pop_front();
        }
        self.first + self.kept.len() as u64 - 1
    }

    /// One more packet with this key is under way.
    pub fn copy(&mut self, key: u64) {
        if let Some(kept) = self.find(key) {
            kept.copies += 1;
        }
    }

    /// A packet with this key was delivered: its bytes.
    pub fn take(&mut self, key: u64) -> Option<Box<[u8]>> {
        let kept = self.find(key)?;
        if kept.copies > 1 || kept.held > 0 {
            kept.copies = kept.copies.saturating_sub(1);
            return Some(kept.bytes.clone());
        }
        self.remove(key)
    }

    /// The bytes of a packet under way; none if there is none with this key.
    pub fn bytes_of(&self, key: u64) -> &[u8] {
        let kept = match key.checked_sub(self.first) {
            Some(place) => self.kept.get(place as usize).and_then(Option::as_ref),
            None => self.old.get(&key),
        };
        kept.map_or(&[], |kept| &kept.bytes)
    }

    /// A packet with this key was dropped.
    pub fn end(&mut self, key: u64) {
        if let Some(kept) = self.find(key) {
            kept.copies = kept.copies.saturating_sub(1);
            if kept.copies == 0 && kept.held == 0 {
                self.remove(key);
            }
        }
    }

    /// The bytes of packets with this key stay, until they are released as often.
    pub fn hold(&mut self, key: u64) {
        if let Some(kept) = self.find(key) {
            kept.held += 1;
        }
    }

    /// The bytes go with the last copy, if they are not held once more.
    pub fn release(&mut self, key: u64) {
        if let Some(kept) = self.find(key) {
            kept.held = kept.held.saturating_sub(1);
            if kept.copies == 0 && kept.held == 0 {
                self.remove(key);
            }
        }
    }

    /// How many packets under way have their bytes here, each copy counted.
    pub fn copies(&self) -> u64 {
        self.old.values().chain(self.kept.iter().flatten()).map(|kept| u64::from(kept.copies)).sum()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.packets == 0 && self.bytes == 0
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn find(&mut self, key: u64) -> Option<&mut Kept> {
        match key.checked_sub(self.first) {
            Some(place) => self.kept.get_mut(place as usize)?.as_mut(),
            None => self.old.get_mut(&key),
        }
    }

    fn remove(&mut self, key: u64) -> Option<Box<[u8]>> {
        let Kept { bytes, .. } = match key.checked_sub(self.first) {
            Some(place) => self.kept.get_mut(place as usize)?.take()?,
            None => self.old.remove(&key)?,
        };
        self.packets -= 1;
        self.bytes -= bytes.len();
        while let Some(None) = self.kept.front() {
            self.pop_front();
        }
        Some(bytes)
    }

    /// Gives the first place back; a packet that is still there is an old one from now on.
    fn pop_front(&mut self) {
        if let Some(Some(kept)) = self.kept.pop_front() {
            self.old.insert(self.first, kept);
        }
        self.first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_until_the_last_copy_ends_and_keys_are_never_used_again() {
        let mut store = Store::default();
        let (a, b) = (store.keep(b"first"), store.keep(b"second"));
        assert_ne!(a, b);
        store.copy(a);
        store.copy(a);
        assert_eq!(store.copies(), 4);
        store.end(a);
        assert_eq!(store.take(a).as_deref(), Some(&b"first"[..]));
        assert_eq!(store.bytes(), 11);
        assert_eq!(store.take(a).as_deref(), Some(&b"first"[..]));
        assert_eq!(store.take(a), None, "its last copy has ended");
        assert_eq!((store.bytes(), store.copies()), (6, 1));
        store.end(b);
        assert!(store.is_empty());
        assert!(store.kept.is_empty(), "places of ended packets are given back");
        assert!(store.keep(b"third") > b);
        // Held bytes outlive their packets.
        let held = store.keep(b"held");
        store.hold(held);
        store.end(held);
        assert_eq!((store.copies(), store.bytes()), (1, 9));
        store.copy(held);
        assert_eq!(store.take(held).as_deref(), Some(&b"held"[..]));
        store.release(held);
        assert_eq!(store.bytes(), 5);
        // One that stays takes no place for each of those that come and go.
        for n in 0..100_000 {
            let key = store.keep(b"passing");
            if n % 2 == 0 { store.end(key) } else { drop(store.take(key)) }
        }
        assert!(store.kept.len() + store.old.len() < 2_000, "{} places", store.kept.len());
        let old = b + 1;
        assert_eq!((store.bytes_of(old), store.copies(), store.bytes()), (&b"third"[..], 1, 5));
        store.copy(old);
        store.end(old);
        assert_eq!(store.take(old).as_deref(), Some(&b"third"[..]));
        assert!(store.is_empty() && store.old.is_empty());
        store.keep(b"fourth");
        // Keys that were never given do nothing.
        store.end(999_999);
        store.copy(999_999);
        assert_eq!(store.copies(), 1);
    }
}
