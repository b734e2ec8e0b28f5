//! Where the bytes of real packets lie while the network carries the packets: by key, with the number of copies under way.

use std::collections::VecDeque;

/// The bytes of packets under way. A key is given once and never again; the packet in the network carries it as its number.
#[derive(Debug, Default)]
pub struct Store {
    /// The packets from key `first` on; `None` where the last copy has ended.
    kept: VecDeque<Option<Kept>>,
    first: u64,
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
        let place = key.checked_sub(self.first).and_then(|place| self.kept.get(place as usize));
        place.and_then(Option::as_ref).map_or(&[], |kept| &kept.bytes)
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
        self.kept.iter().flatten().map(|kept| u64::from(kept.copies)).sum()
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
        self.kept.get_mut(key.checked_sub(self.first)? as usize)?.as_mut()
    }

    fn remove(&mut self, key: u64) -> Option<Box<[u8]>> {
        let place = self.kept.get_mut(key.checked_sub(self.first)? as usize)?;
        let bytes = place.take()?.bytes;
        self.packets -= 1;
        self.bytes -= bytes.len();
        while let Some(None) = self.kept.front() {
            self.kept.pop_front();
            self.first += 1;
        }
        Some(bytes)
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
        // Keys that were never given do nothing.
        store.end(99);
        store.copy(99);
        assert_eq!(store.copies(), 1);
    }
}
