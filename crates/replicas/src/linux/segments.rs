//! The segments in flight (`tcp_rtx_queue`), in the order of their numbers and in the order of their last transmissions (`tsorted_sent_queue`).
//!
//! The kernel keeps buffers of several segments and splits them where an acknowledgement asks for it; here each segment stands alone from
//! the start, which comes to the same since the parts of a buffer share its time stamps.

use std::collections::VecDeque;

/// The record made at a transmission, for samples of the delivery rate (`TCP_SKB_CB(skb)->tx`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// When the sampled flight began to leave, us.
    pub first_tx_us: u64,
    /// Since when `delivered` held, us; 0 once a sample has used it.
    pub delivered_us: u64,
    /// How many segments had been delivered.
    pub delivered: u64,
    /// Whether the sender had nothing more to send.
    pub app_limited: bool,
}

/// A segment in flight.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its first sequence number.
    pub start: u64,
    /// How many sequence numbers it takes.
    pub len: u32,
    /// Whether it is the FIN.
    pub fin: bool,
    /// When it was sent last, us.
    pub sent_us: u64,
    /// The running number of that transmission.
    pub tx: u64,
    /// That of the first segment which left with it as one.
    pub buffer: u64,
    pub stamp: Stamp,
    /// `TCPCB_SACKED_ACKED`.
    pub sacked: bool,
    /// `TCPCB_LOST`.
    pub lost: bool,
    /// A retransmission of it is in flight (`TCPCB_SACKED_RETRANS`).
    pub resent: bool,
    /// It was retransmitted at some time (`TCPCB_EVER_RETRANS`).
    pub ever_resent: bool,
    /// Loss detection by time has found it lost, and does not look at it again before it is sent again.
    pub found_lost: bool,
}

impl Segment {
    /// One past its last sequence number.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Whether it is lost, and not yet sent again.
    #[inline]
    pub fn is_to_be_resent(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// The queue.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    queue: VecDeque<Segment>,
    /// Transmissions, oldest first: number and start of the segment. Those that were overtaken by events are passed over.
    order: VecDeque<(u64, u64)>,
}

impl Segments {
    /// Whether nothing is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<&Segment> {
        self.queue.front()
    }

    /// The segment at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Option<&Segment> {
        self.queue.get(place)
    }

    /// Likewise, to be changed.
    #[inline]
    pub fn at_mut(&mut self, place: usize) -> Option<&mut Segment> {
        self.queue.get_mut(place)
    }

    /// The place of the first segment that begins at `seq` or later.
    pub fn place(&self, seq: u64) -> usize {
        self.queue.partition_point(|one| one.start < seq)
    }

    /// The segment at `place` and those behind it that left with it as one and are to be sent again too.
    pub fn buffer(&self, place: usize) -> impl Iterator<Item = &Segment> {
        let buffer = self.queue.get(place).map(|one| one.buffer);
        self.queue
            .range(place.min(self.queue.len())..)
            .take_while(move |one| Some(one.buffer) == buffer && one.is_to_be_resent())
    }

    /// Adds one that is sent for the first time.
    pub fn push(&mut self, segment: Segment) {
        self.order.push_back((segment.tx, segment.start));
        self.queue.push_back(segment);
    }

    /// Takes the first one out.
    pub fn pop(&mut self) -> Option<Segment> {
        self.queue.pop_front()
    }

    /// The segment at `place` was sent again.
    pub fn note_resent(&mut self, place: usize, tx: u64) {
        if let Some(one) = self.queue.get_mut(place) {
            one.tx = tx;
            one.found_lost = false;
            self.order.push_back((tx, one.start));
        }
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Segment> {
        self.queue.iter_mut()
    }

    /// Walks over segments that are neither lost nor known to have arrived, by the time of their last transmission, as long as `visit` says to
    /// go on. One that is only marked lost, as all are at a timeout, keeps its place: the mark may be undone.
    pub fn walk_by_time(&mut self, mut visit: impl FnMut(&mut Segment) -> bool) {
        let mut next = 0;
        while let Some(&(tx, start)) = self.order.get(next) {
            let place = self.queue.partition_point(|one| one.start < start);
            let current = self.queue.get_mut(place).filter(|one| one.tx == tx && !one.sacked && !one.found_lost);
            match current {
                Some(one) if one.is_to_be_resent() => next += 1,
                Some(one) => {
                    if !visit(one) {
                        return;
                    }
                    next += 1;
                }
                None if next == 0 => {
                    self.order.pop_front();
                }
                None => next += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(start: u64) -> Segment {
        let (fin, sacked, lost, resent) = (false, false, false, false);
        let (stamp, ever_resent, found_lost) = (Stamp::default(), false, false);
        Segment {
            start,
            len: 1,
            fin,
            sent_us: start,
            tx: start,
            buffer: start,
            stamp,
            sacked,
            lost,
            resent,
            ever_resent,
            found_lost,
        }
    }

    fn walked(segments: &mut Segments) -> Vec<u64> {
        let mut starts = Vec::new();
        segments.walk_by_time(|one| {
            starts.push(one.start);
            true
        });
        starts
    }

    /// `tcp_rack_detect_loss` passes over segments that are lost and not sent again, and takes out only those that it marks itself.
    #[test]
    fn what_a_timeout_marked_is_found_again_when_that_is_undone() {
        let mut segments = Segments::default();
        (1..=4).for_each(|start| segments.push(segment(start)));
        segments.at_mut(0).unwrap().lost = true;
        segments.at_mut(1).unwrap().sacked = true;
        (segments.at_mut(2).unwrap().lost, segments.at_mut(2).unwrap().found_lost) = (true, true);
        assert_eq!(walked(&mut segments), [4]);
        segments.iter_mut().for_each(|one| one.lost = false);
        assert_eq!(walked(&mut segments), [1, 4]);
        segments.note_resent(2, 5);
        assert_eq!(walked(&mut segments), [1, 4, 3]);
    }
}
