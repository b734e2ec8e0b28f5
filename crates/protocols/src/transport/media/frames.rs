//! The frames that wait at the sender, and how they are cut into packets.

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};

/// Frames in the order in which they were written.
#[derive(Debug)]
pub struct Frames {
    waiting: VecDeque<Frame>,
    /// Bytes that wait, without those of a source that never ends.
    bytes: u64,
    /// A source that never ends: full packets for ever.
    endless: bool,
    /// Payload bytes taken so far, sent or not.
    taken: u64,
}

/// A frame of which something waits.
#[derive(Clone, Copy, Debug)]
struct Frame {
    left: u64,
    written_at: Instant,
}

/// A packet's part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When the frame was written.
    pub written_at: Instant,
    /// Its bytes.
    pub payload: u32,
    /// Bytes of the flow up to its end.
    pub end: u64,
    /// Whether it is the last of the frame.
    pub marker: bool,
}

impl Frames {
    /// None wait.
    pub fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, endless: false, taken: 0 }
    }

    /// A frame is written; one of `u64::MAX` bytes never ends.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        if bytes == u64::MAX {
            self.endless = true;
        } else if bytes > 0 {
            self.waiting.push_back(Frame { left: bytes, written_at: now });
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    /// Whether the source never ends.
    pub fn is_endless(&self) -> bool {
        self.endless
    }

    /// The payload of the next packet, which has room for `most` bytes.
    pub fn peek(&self, most: u32) -> Option<u32> {
        if self.endless {
            return Some(most);
        }
        self.waiting.front().map(|frame| frame.left.min(most.into()) as u32)
    }

    /// Takes the next packet's payload. What never ends is written when it leaves.
    pub fn take(&mut self, now: Instant, most: u32) -> Option<Piece> {
        let payload = self.peek(most)?;
        self.taken += u64::from(payload);
        if self.endless {
            return Some(Piece { written_at: now, payload, end: self.taken, marker: false });
        }
        let frame = self.waiting.front_mut()?;
        frame.left -= u64::from(payload);
        self.bytes -= u64::from(payload);
        let piece = Piece { written_at: frame.written_at, payload, end: self.taken, marker: frame.left == 0 };
        if piece.marker {
            self.waiting.pop_front();
        }
        Some(piece)
    }

    /// Drops the next frame, or its rest, if it was written before `before`. Gives the bytes dropped and the bytes of the flow up to their end.
    pub fn discard(&mut self, before: Instant) -> Option<(u64, u64)> {
        let frame = *self.waiting.front().filter(|frame| frame.written_at < before)?;
        self.waiting.pop_front();
        self.bytes -= frame.left;
        self.taken += frame.left;
        Some((frame.left, self.taken))
    }

    /// Payload bytes taken so far, sent or dropped.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How long the first frame has waited.
    pub fn delay(&self, now: Instant) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |frame| now.since(frame.written_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_cut_into_full_packets_and_a_rest() {
        let mut frames = Frames::new();
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        for (ms, bytes) in [(0, 2_500), (10, 0), (20, 1_000), (30, 300)] {
            frames.write(at(ms), bytes);
        }
        let piece = |ms, payload, end, marker| Some(Piece { written_at: at(ms), payload, end, marker });
        assert_eq!(frames.take(at(40), 1_000), piece(0, 1_000, 1_000, false));
        assert_eq!(frames.take(at(40), 1_000), piece(0, 1_000, 2_000, false));
        assert_eq!((frames.bytes(), frames.delay(at(40))), (1_800, Duration::from_millis(40)));
        assert_eq!(frames.discard(at(0)), None, "it is not too old");
        assert_eq!(frames.discard(at(1)), Some((500, 2_500)), "the rest of the frame");
        assert_eq!(frames.take(at(40), 1_000), piece(20, 1_000, 3_500, true));
        assert_eq!(frames.take(at(40), 1_000), piece(30, 300, 3_800, true));
        assert_eq!((frames.take(at(40), 1_000), frames.bytes()), (None, 0));
    }
}
