//! The packets under way, and which of them are lost (RFC 4341 §5, `pipe`).

use std::collections::VecDeque;

use lasthop_net::engine::Instant;
use lasthop_net::net::{AckVector, PacketState};

/// After how many later packets a missing one is lost (RFC 4341 §5, NUMDUPACK).
const NUMDUPACK: usize = 3;

/// What the sender knows of its packets.
#[derive(Debug, Default)]
pub struct Flight {
    /// The packets from number `first` on: all before it came or are lost.
    first: u64,
    sent: VecDeque<Sent>,
    /// How many of them are in the network.
    pipe: u32,
    /// The highest numbers that came, each plus one, the highest first.
    highest: [u64; NUMDUPACK],
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    /// Payload bytes of the connection up to its end.
    end: u64,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// In the network.
    Flying,
    /// The timer has expired: it is counted out, but may still come.
    Overdue,
    /// It came.
    Came,
}

/// What an acknowledgement told for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// How many packets came.
    pub came: u32,
    /// How many of them came unmarked, and were sent after the last congestion event.
    pub clean: u32,
    /// How many are lost.
    pub lost: u32,
    /// Whether a packet that was sent after the last congestion event is lost or marked.
    pub congestion: bool,
    /// When the packet with the acknowledgement number was sent, if it is among those that came.
    pub sent_at: Option<Instant>,
    /// Payload bytes up to the end of that packet.
    pub end: u64,
}

impl Flight {
    /// The number of the next packet.
    #[inline]
    pub fn next(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    /// How many packets are in the network.
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.pipe
    }

    /// The next packet is sent; the payload bytes of the connection up to its end are `end`.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, end: u64) {
        self.sent.push_back(Sent { at: now, end, fate: Fate::Flying });
        self.pipe += 1;
    }

    /// An acknowledgement has come. Packets before number `answered` were sent before the last
    /// congestion event was detected: what happens to them belongs to it.
    ///
    /// Only packets whose fate is open are looked at: those in the network, and up to two below
    /// the highest that came.
    pub fn on_ack(&mut self, ack: u64, vector: &AckVector, answered: u64) -> Heard {
        let mut heard = Heard::default();
        for (state, low, high) in vector.runs(ack) {
            if high < self.first {
                break;
            }
            if state == PacketState::Missing {
                continue;
            }
            for number in (low.max(self.first)..=high).rev() {
                let Some(sent) = self.sent.get_mut((number - self.first) as usize) else { continue };
                if sent.fate == Fate::Came {
                    continue;
                }
                self.pipe -= u32::from(sent.fate == Fate::Flying);
                sent.fate = Fate::Came;
                heard.came += 1;
                if number == ack {
                    heard.sent_at = Some(sent.at);
                    heard.end = sent.end;
                }
                if number >= answered {
                    heard.congestion |= state == PacketState::Marked;
                    heard.clean += u32::from(state == PacketState::Received);
                }
                note(&mut self.highest, number + 1);
            }
        }
        self.settle(answered, &mut heard);
        heard
    }

    /// Forgets the oldest packets whose fate is known.
    fn settle(&mut self, answered: u64, heard: &mut Heard) {
        let [.., third] = self.highest;
        while let Some(sent) = self.sent.front() {
            if sent.fate != Fate::Came {
                // Three later ones came if the third highest is above it.
                if self.first + 1 >= third {
                    break;
                }
                self.pipe -= u32::from(sent.fate == Fate::Flying);
                heard.lost += 1;
                heard.congestion |= self.first >= answered;
            }
            self.sent.pop_front();
            self.first += 1;
        }
    }

    /// The timer has expired: none is in the network.
    pub fn on_timeout(&mut self) {
        for sent in &mut self.sent {
            if sent.fate == Fate::Flying {
                sent.fate = Fate::Overdue;
            }
        }
        self.pipe = 0;
    }
}

/// Puts `value` into the place that it has among the highest.
fn note(highest: &mut [u64; NUMDUPACK], mut value: u64) {
    for place in highest {
        if value > *place {
            std::mem::swap(place, &mut value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PacketState::{Marked, Missing, Received};
    use lasthop_net::engine::Duration;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// Packets 0 to `count` - 1, sent at 1 ms each, of 100 B.
    fn flight(count: u64) -> Flight {
        let mut flight = Flight::default();
        (0..count).for_each(|n| flight.on_sent(ms(n), 100 * (n + 1)));
        flight
    }

    fn vector(runs: &[(PacketState, u64)]) -> AckVector {
        let mut vector = AckVector::EMPTY;
        runs.iter().for_each(|(state, count)| assert!(vector.push(*state, *count)));
        vector
    }

    /// RFC 4341 §5: packets that come leave the pipe once, lost ones when three later ones came, and
    /// a late one that was lost not again.
    #[test]
    fn three_later_packets_make_a_loss() {
        let mut flight = flight(10);
        let mut pipes = Vec::new();
        let mut losses = Vec::new();
        for (ack, runs) in [
            (1, &[(Received, 2)][..]),
            // 2 and 3 are missing.
            (4, &[(Received, 1), (Missing, 2), (Received, 2)]),
            (5, &[(Received, 2), (Missing, 2), (Received, 2)]),
            // The same once more: a true duplicate.
            (5, &[(Received, 2), (Missing, 2), (Received, 2)]),
            (6, &[(Received, 3), (Missing, 2), (Received, 2)]),
            // 3 was only late.
            (6, &[(Received, 4), (Missing, 1), (Received, 2)]),
            (9, &[(Received, 7), (Missing, 1), (Received, 2)]),
        ] {
            let heard = flight.on_ack(ack, &vector(runs), 0);
            pipes.push(flight.pipe());
            losses.push((heard.lost, heard.congestion));
        }
        assert_eq!(pipes, [8, 7, 6, 6, 3, 3, 0]);
        let none = (0, false);
        assert_eq!(losses, [none, none, none, none, (2, true), none, none]);
        assert_eq!((flight.next(), flight.sent.len()), (10, 0));
    }

    /// A late packet that comes in time is no loss, wherever its acknowledgement says so.
    #[test]
    fn a_late_packet_that_comes_in_time_is_no_loss() {
        let mut flight = flight(6);
        flight.on_ack(3, &vector(&[(Received, 2), (Missing, 1), (Received, 1)]), 0);
        let heard = flight.on_ack(4, &vector(&[(Received, 5)]), 0);
        assert_eq!((heard.came, heard.lost, flight.pipe()), (2, 0, 1));
    }

    /// Packets sent before an event was detected belong to it.
    #[test]
    fn losses_and_marks_of_a_window_are_one_event() {
        let mut flight = flight(10);
        let runs = vector(&[(Received, 3), (Missing, 1), (Received, 1)]);
        let heard = flight.on_ack(4, &runs, 0);
        assert!(heard.congestion);
        let answered = flight.next();
        (10..14).for_each(|n| flight.on_sent(ms(n), 100 * (n + 1)));
        // 6 is lost and 9 marked: both were sent before.
        let heard = flight.on_ack(9, &vector(&[(Marked, 1), (Received, 2), (Missing, 1), (Received, 4)]), answered);
        assert_eq!((heard.lost, heard.congestion, heard.clean), (1, false, 0));
        // 11 is marked: a new one. 10, 12 and 13 count as clean.
        let heard = flight.on_ack(13, &vector(&[(Received, 2), (Marked, 1), (Received, 1)]), answered);
        assert_eq!((heard.came, heard.clean, heard.congestion), (4, 3, true));
    }

    /// RFC 4341 §5: a timeout sets pipe to zero; a later acknowledgement is timed, and does not lower it again.
    #[test]
    fn after_a_timeout_nothing_is_in_the_network() {
        let mut flight = flight(4);
        flight.on_timeout();
        assert_eq!(flight.pipe(), 0);
        flight.on_sent(ms(9), 500);
        let heard = flight.on_ack(3, &vector(&[(Received, 4)]), 4);
        assert_eq!((heard.came, heard.clean, heard.sent_at, heard.end), (4, 0, Some(ms(3)), 400));
        assert_eq!(flight.pipe(), 1);
    }

    /// RFC 4340 §11.4: what no vector covers is not yet received.
    #[test]
    fn what_a_vector_leaves_out_is_missing() {
        let mut flight = flight(20);
        let heard = flight.on_ack(19, &vector(&[(Received, 5)]), 0);
        assert_eq!((heard.came, heard.lost, flight.pipe()), (5, 15, 0));
    }
}
