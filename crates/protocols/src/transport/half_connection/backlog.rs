//! The data that wait to be sent: the rest of a stream, or datagrams of a source with a rate of its own.

use std::collections::VecDeque;

/// Writes that have not been sent. One that fits into a packet is a datagram and stays whole; a
/// longer one is cut into full packets and a rest.
#[derive(Debug)]
pub struct Backlog {
    segment: u64,
    /// How many writes may wait. Of more the oldest is dropped: old media are worth least, and
    /// data behind it would come later still.
    limit: usize,
    endless: bool,
    writes: VecDeque<u64>,
    /// Writes that were dropped.
    dropped: u64,
}

impl Backlog {
    /// An empty backlog, to be sent in packets of `segment` bytes of payload.
    pub fn new(segment: u32, limit: usize) -> Self {
        Self { segment: segment.into(), limit, endless: false, writes: VecDeque::new(), dropped: 0 }
    }

    /// Takes a write; `u64::MAX` bytes never end. Gives the bytes, of the oldest one, that are dropped for it: those come next after what
    /// was sent.
    pub fn write(&mut self, bytes: u64) -> Option<u64> {
        let mut dropped = None;
        if bytes == u64::MAX {
            self.endless = true;
        } else if bytes > 0 {
            if self.writes.len() == self.limit {
                dropped = self.writes.pop_front();
                self.dropped += 1;
            }
            self.writes.push_back(bytes);
        }
        dropped
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.endless && self.writes.is_empty()
    }

    /// The payload of the next packet.
    #[inline]
    pub fn peek(&self) -> Option<u32> {
        if self.endless {
            return Some(self.segment as u32);
        }
        self.writes.front().map(|bytes| (*bytes).min(self.segment) as u32)
    }

    /// Takes the next packet away.
    #[inline]
    pub fn pop(&mut self) {
        if self.endless {
            return;
        }
        if let Some(front) = self.writes.front_mut() {
            *front = front.saturating_sub(self.segment);
            if *front == 0 {
                self.writes.pop_front();
            }
        }
    }

    /// Writes that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets the waiting data.
    pub fn clear(&mut self) {
        self.endless = false;
        self.writes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(backlog: &mut Backlog) -> Vec<u32> {
        std::iter::from_fn(|| {
            let payload = backlog.peek()?;
            backlog.pop();
            Some(payload)
        })
        .collect()
    }

    #[test]
    fn writes_become_datagrams_or_segments() {
        let mut backlog = Backlog::new(1000, 10);
        for bytes in [200, 2500, 1000, 0] {
            assert_eq!(backlog.write(bytes), None);
        }
        assert_eq!(packets(&mut backlog), [200, 1000, 1000, 500, 1000]);
        assert!(backlog.is_empty());
    }

    #[test]
    fn the_oldest_is_dropped() {
        let mut backlog = Backlog::new(1000, 2);
        assert_eq!([1001, 2, 3].map(|bytes| backlog.write(bytes)), [None, None, Some(1001)]);
        assert_eq!((packets(&mut backlog), backlog.dropped()), (vec![2, 3], 1));
        // Of a write that was sent in part the rest is dropped.
        backlog.write(1001);
        backlog.pop();
        assert_eq!([2, 3].map(|bytes| backlog.write(bytes)), [None, Some(1)]);
    }
}
