//! The segments in flight in the order in which they were last sent: a doubly linked list (RFC 8985 §6.2, step 5: "The implementation
//! can use a separate doubly linked list ordered by Segment.xmit_ts").
//!
//! A segment is put at the end when it is sent, and taken out when it is delivered or lost. So the segments that may be late lie at its
//! front, up to a border that moves on with the newest segment delivered, and nothing else is looked at.

use lasthop_net::engine::Instant;

use super::super::super::scoreboard::{Id, Scoreboard};

/// No segment.
const NONE: Id = Id::MAX;
/// In the place of `prev`: the segment is not in the list.
const OUT: Id = Id::MAX - 1;
/// The smallest ring.
const LEAST_ROOM: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Link {
    prev: Id,
    next: Id,
}

const VACANT: Link = Link { prev: OUT, next: NONE };

/// The list.
#[derive(Clone, Debug)]
pub(super) struct SendOrder {
    /// A ring; its length is a power of two. The link of the segment `id` lies at `id & mask`.
    links: Vec<Link>,
    mask: u64,
    head: Id,
    tail: Id,
    /// The last segment that was sent before the newest one delivered.
    border: Id,
}

impl SendOrder {
    pub(super) fn new() -> Self {
        Self { links: vec![VACANT; LEAST_ROOM], mask: LEAST_ROOM as u64 - 1, head: NONE, tail: NONE, border: NONE }
    }

    fn link(&mut self, id: Id) -> &mut Link {
        &mut self.links[(id & self.mask) as usize]
    }

    fn next_of(&self, id: Id) -> Id {
        self.links[(id & self.mask) as usize].next
    }

    /// The segment `id` of the board was sent, for the first time or again. Of segments sent at one instant the one of higher numbers
    /// counts as the later (§6.2, RACK_sent_after).
    pub(super) fn push(&mut self, board: &Scoreboard, id: Id) {
        self.fit(board, id);
        self.remove(id);
        let at = board.at(id).sent_at;
        let mut before = self.tail;
        while before != NONE && board.at(before).sent_at == at && before > id {
            before = self.links[(before & self.mask) as usize].prev;
        }
        let after = if before == NONE { self.head } else { self.next_of(before) };
        *self.link(id) = Link { prev: before, next: after };
        match before {
            NONE => self.head = id,
            _ => self.link(before).next = id,
        }
        match after {
            NONE => self.tail = id,
            _ => self.link(after).prev = id,
        }
    }

    /// The segment `id` is delivered or lost. Nothing happens if it is not in the list.
    pub(super) fn remove(&mut self, id: Id) {
        let link = *self.link(id);
        if link.prev == OUT {
            return;
        }
        match link.prev {
            NONE => self.head = link.next,
            prev => self.link(prev).next = link.next,
        }
        match link.next {
            NONE => self.tail = link.prev,
            next => self.link(next).prev = link.prev,
        }
        if self.border == id {
            self.border = link.prev;
        }
        *self.link(id) = VACANT;
    }

    /// A segment that was sent at `at`, the number behind which is `end`, is the newest delivered so far.
    pub(super) fn reach(&mut self, board: &Scoreboard, at: Instant, end: u64) {
        loop {
            let next = if self.border == NONE { self.head } else { self.next_of(self.border) };
            if next == NONE || (board.at(next).sent_at, board.at(next).end()) >= (at, end) {
                return;
            }
            self.border = next;
        }
    }

    /// The first and the last segment that were sent before the newest delivered.
    pub(super) fn reached(&self) -> Option<(Id, Id)> {
        (self.border != NONE).then_some((self.head, self.border))
    }

    /// The first segment.
    pub(super) fn first(&self) -> Option<Id> {
        (self.head != NONE).then_some(self.head)
    }

    /// Forgets everything, and takes the board's segments in flight instead.
    pub(super) fn rebuild(&mut self, board: &Scoreboard) {
        *self = Self::new();
        let mut ids: Vec<Id> = (board.una()..board.next()).filter(|&id| board.at(id).is_in_flight()).collect();
        ids.sort_by_key(|&id| (board.at(id).sent_at, id));
        ids.into_iter().for_each(|id| self.push(board, id));
    }

    /// Makes room for `id`: doubles the ring if the board's flight does not fit, halves it if three quarters are free.
    fn fit(&mut self, board: &Scoreboard, id: Id) {
        let (held, room) = ((id.max(board.next() - 1) - board.una() + 1) as usize, self.links.len());
        let size = if held > room {
            held.next_power_of_two()
        } else if id & self.mask == 0 && held <= room / 4 && room > LEAST_ROOM {
            room / 2
        } else {
            return;
        };
        let mut links = vec![VACANT; size];
        let mask = size as u64 - 1;
        let mut at = self.head;
        while at != NONE {
            links[(at & mask) as usize] = self.links[(at & self.mask) as usize];
            at = self.next_of(at);
        }
        (self.links, self.mask) = (links, mask);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::scoreboard::Segment;
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn listed(order: &SendOrder) -> Vec<Id> {
        std::iter::successors(order.first(), |&id| Some(order.next_of(id)).filter(|&id| id != NONE)).collect()
    }

    /// A board and its order with `n` segments, sent one a millisecond.
    fn sent(n: u64) -> (Scoreboard, SendOrder) {
        let (mut board, mut order) = (Scoreboard::new(1000, false), SendOrder::new());
        for id in 0..n {
            board.push(Segment::new(id * 1000, 1000, false, ms(id)));
            order.push(&board, id);
        }
        (board, order)
    }

    #[test]
    fn a_segment_sent_again_is_the_last() {
        let (mut board, mut order) = sent(5);
        board.resend(1, ms(7));
        order.push(&board, 1);
        assert_eq!(listed(&order), [0, 2, 3, 4, 1]);
        order.remove(0);
        order.remove(4);
        order.remove(4);
        assert_eq!(listed(&order), [2, 3, 1]);
    }

    /// RACK_sent_after (§6.2) breaks ties of time by sequence numbers.
    #[test]
    fn of_one_instant_the_higher_number_is_the_later() {
        let (mut board, mut order) = sent(5);
        for id in [3, 0] {
            board.resend(id, ms(9));
            order.push(&board, id);
        }
        assert_eq!(listed(&order), [1, 2, 4, 0, 3]);
        order.reach(&board, ms(9), board.at(3).end());
        assert_eq!(order.reached(), Some((1, 0)));
    }

    #[test]
    fn the_border_follows_the_newest_delivered_segment_and_its_neighbours() {
        let (board, mut order) = sent(6);
        assert_eq!(order.reached(), None);
        order.reach(&board, ms(0), board.at(0).end());
        assert_eq!(order.reached(), None, "nothing was sent before the first");
        order.reach(&board, ms(4), board.at(4).end());
        assert_eq!(order.reached(), Some((0, 3)));
        order.remove(3);
        assert_eq!(order.reached(), Some((0, 2)));
        for id in [0, 2, 1] {
            order.remove(id);
        }
        assert_eq!((order.reached(), order.first()), (None, Some(4)));
    }

    /// Against a plain sort, over a random history.
    #[test]
    fn the_list_is_the_flight_sorted_by_time() {
        let (mut board, mut order) = sent(0);
        let (mut state, mut una, mut next) = (1u64, 0u64, 0u64);
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for step in 0..20_000u64 {
            let now = ms(step / 3);
            match draw(10) {
                0..=3 => {
                    board.push(Segment::new(next * 1000, 1000, false, now));
                    order.push(&board, next);
                    next += 1;
                }
                4 | 5 if next > una => {
                    let to = una + draw(next - una + 1).min(4);
                    (una..to).for_each(|id| order.remove(id));
                    board.on_ack(to * 1000, &mut super::super::super::super::scoreboard::Acked::default());
                    una = to;
                }
                6 if next > una => {
                    let id = una + draw(next - una);
                    board.mark_lost_alone(id);
                    order.remove(id);
                }
                7 => {
                    if let Some(id) = board.next_lost_alone() {
                        board.resend(id, now);
                        order.push(&board, id);
                    }
                }
                8 if step % 40 == 0 => order.rebuild(&board),
                _ => {}
            }
            let mut ids: Vec<Id> = (una..next).filter(|&id| board.at(id).is_in_flight()).collect();
            ids.sort_by_key(|&id| (board.at(id).sent_at, id));
            assert_eq!(listed(&order), ids, "step {step}");
        }
    }
}
