//! Packets in groups by their send times, and how groups lie apart.

/// By how much the last finished group differs from the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Deltas {
    /// Between the send times of their last packets, ms.
    pub sent_ms: f64,
    /// Between their last arrivals, ms.
    pub arrived_ms: i64,
    /// Between their sizes, bytes.
    pub bytes: i64,
}

/// A group of packets. Send times are in 2⁻²⁶ s, modulo 2³².
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    last: u32,
    arrived_ms: i64,
    bytes: i64,
}

/// The present group and the one before it.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    present: Option<Group>,
    previous: Option<Group>,
}

impl Groups {
    /// A packet has arrived. Gives the differences if it begins a new group. One that was sent before the present group is passed over.
    pub fn add(&mut self, sent: u32, arrived_ms: i64, bytes: u32) -> Option<Deltas> {
        let bytes = i64::from(bytes);
        let alone = Group { first: sent, last: sent, arrived_ms, bytes };
        let Some(present) = &mut self.present else {
            self.present = Some(alone);
            return None;
        };
        if sent.wrapping_sub(present.first) >= HALF {
            return None;
        }
        if present.takes(sent, arrived_ms) {
            let later = sent.wrapping_sub(present.last);
            if (1..HALF).contains(&later) {
                present.last = sent;
            }
            present.bytes += bytes;
            present.arrived_ms = arrived_ms;
            return None;
        }
        let finished = *present;
        *present = alone;
        let previous = self.previous.replace(finished)?;
        Some(Deltas {
            sent_ms: f64::from(finished.last.wrapping_sub(previous.last)) * TO_MS,
            arrived_ms: finished.arrived_ms - previous.arrived_ms,
            bytes: finished.bytes - previous.bytes,
        })
    }
}

impl Group {
    /// Whether a packet belongs to it: it came in a burst, or was sent within 5 ms of the first.
    fn takes(&self, sent: u32, arrived_ms: i64) -> bool {
        let sent_ms = libm::rint(f64::from(sent.wrapping_sub(self.last)) * TO_MS) as i64;
        let passed = arrived_ms - self.arrived_ms;
        let is_burst = sent_ms == 0 || (passed < sent_ms && passed <= BURST_MS);
        is_burst || sent.wrapping_sub(self.first) <= LENGTH
    }
}

/// Send times further apart than this are the other way round.
const HALF: u32 = 1 << 31;
/// abs-send-time, shifted by 8: 2⁻²⁶ s.
const TO_MS: f64 = 1e3 / (1 << 26) as f64;
/// 5 ms in these units, rounded down.
const LENGTH: u32 = (5 << 26) / 1000;
/// Packets that arrive within this belong together if they were sent further apart, ms.
const BURST_MS: i64 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    /// Send times in ms.
    fn sent(ms: f64) -> u32 {
        (ms / TO_MS) as u64 as u32
    }

    #[test]
    fn groups_are_five_milliseconds_long() {
        let mut groups = Groups::default();
        for (ms, arrived, bytes) in [(0.0, 20, 100), (4.9, 30, 200), (20.0, 40, 400)] {
            assert!(groups.add(sent(ms), arrived, bytes).is_none());
        }
        let deltas = groups.add(sent(40.0), 61, 800).unwrap();
        assert!((deltas.sent_ms - 15.1).abs() < 1e-5, "{deltas:?}");
        assert_eq!((deltas.arrived_ms, deltas.bytes), (10, 100));
    }

    /// The clock's 64 s pass between two groups, and a late packet is of no group.
    #[test]
    fn send_times_wrap() {
        let mut groups = Groups::default();
        for ms in [63_980.0, 64_000.0] {
            assert!(groups.add(sent(ms), ms as i64, 100).is_none());
        }
        assert!(groups.add(sent(63_990.0), 64_001, 100).is_none());
        let deltas = groups.add(sent(64_020.0), 64_020, 100).unwrap();
        assert!((deltas.sent_ms - 20.0).abs() < 1e-4 && deltas.bytes == 0, "{deltas:?}");
    }
}
