//! Segmentation and concatenation: how SDUs lie in PDUs of one size (TS 25.322 §9.2.2.8, §9.2.2.9).
//!
//! A PDU is filled to its end with SDUs, one behind the other, and each that ends in it costs a
//! length indicator. What remains is padding, which costs one too. If the last byte of an SDU is
//! the last of the PDU, there is no room for its indicator: it comes first in the next PDU.

use std::collections::VecDeque;

use super::pdu::{Pdu, Reason};

/// What of which SDUs a PDU carries. Its fields are those of [`Pdu`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub sdu: u64,
    pub data: u16,
    pub first: u16,
    pub ends: u16,
    pub padding: u16,
    pub indicators: u8,
    pub starts: bool,
    pub goes_on: bool,
}

impl Segment {
    /// The last SDU of which it carries something.
    pub fn last(&self) -> u64 {
        self.sdu + u64::from(self.ends) + u64::from(self.goes_on) - 1
    }

    /// The PDU in which it is sent.
    #[inline]
    pub fn to_pdu(self, sn: u32, poll: bool, reason: Reason, bits: u32) -> Pdu {
        let Self { sdu, data, first, ends, padding, indicators, starts, goes_on } = self;
        let control = None;
        Pdu { sn, sdu, ends, starts, goes_on, poll, reason, data, first, indicators, padding, bits, control }
    }
}

/// What a mode's PDUs look like.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bytes for length indicators and data.
    pub room: u16,
    /// Bytes of a length indicator with its extension bit: 1 or 2.
    pub indicator: u16,
    /// Whether an indicator tells that the first byte is the first of an SDU, where nothing else does
    /// (UM).
    pub tells_start: bool,
    /// Whether the header can tell that the last byte is the last of an SDU (the special value of HE,
    /// AM).
    pub header_tells_end: bool,
    /// How many SDUs may end in a PDU.
    pub most_ends: u16,
}

/// The SDUs that wait, and how much of the first is gone.
#[derive(Debug)]
pub struct Segmenter {
    format: Format,
    /// Their sizes. Those taken into PDUs to their last byte are gone.
    sdus: VecDeque<u32>,
    /// The number of the first, what of it is in no PDU yet, and whether something is in one.
    front: u64,
    rest: u32,
    begun: bool,
    /// Whether the end of the SDU before the first is still to be signalled, in the next PDU.
    owed: bool,
    /// Bytes that wait, and the most that may.
    bytes: u64,
    limit: u64,
}

impl Segmenter {
    /// With room for `limit` bytes.
    pub fn new(format: Format, limit: u64) -> Self {
        Self { format, sdus: VecDeque::new(), front: 0, rest: 0, begun: false, owed: false, bytes: 0, limit }
    }

    /// Takes an SDU, if there is room or it needs none.
    pub fn push(&mut self, bytes: u32, exempt: bool) -> bool {
        debug_assert!(bytes > 0, "an SDU has at least one byte");
        let fits = exempt || self.bytes + u64::from(bytes) <= self.limit;
        if fits {
            self.bytes += u64::from(bytes);
            self.sdus.push_back(bytes);
            if self.rest == 0 {
                self.rest = bytes;
            }
        }
        fits
    }

    /// Bytes that are in no PDU yet.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many PDUs they take, about: a byte that indicators of two bytes leave alone is not counted.
    pub fn pdus(&self) -> u64 {
        let ends = self.sdus.len() as u64 + u64::from(self.owed);
        (self.bytes + ends * u64::from(self.format.indicator)).div_ceil(u64::from(self.format.room))
    }

    /// Whether nothing is left to put into a PDU.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest == 0 && !self.owed
    }

    /// The first SDU of which no PDU tells the end.
    pub fn unfinished(&self) -> u64 {
        self.front - u64::from(self.owed)
    }

    /// The first SDU of which nothing is in a PDU.
    pub fn untouched(&self) -> u64 {
        self.front + u64::from(self.begun)
    }

    /// Drops the SDUs before `sdu`, and the rest of one that is partly in PDUs.
    pub fn drop_before(&mut self, sdu: u64) {
        self.owed &= self.front > sdu;
        while self.front < sdu && self.rest > 0 {
            self.bytes -= u64::from(self.rest);
            self.finish();
        }
    }

    /// Goes on to the next SDU.
    fn finish(&mut self) {
        self.sdus.pop_front();
        self.front += 1;
        self.begun = false;
        self.rest = self.sdus.front().copied().unwrap_or(0);
    }

    /// What the next PDU will carry; [`Segmenter::take`] takes it.
    #[inline]
    pub fn plan(&self) -> Option<Segment> {
        if self.is_empty() {
            return None;
        }
        let tells_start = self.format.tells_start & !self.begun;
        let room = self.format.room - if tells_start { self.format.indicator } else { 0 };
        if self.owed || self.rest <= u32::from(room) {
            return Some(self.plan_ends());
        }
        let (starts, indicators) = (!self.begun, u8::from(tells_start));
        Some(Segment {
            sdu: self.front,
            data: room,
            first: room,
            indicators,
            starts,
            goes_on: true,
            ..Segment::default()
        })
    }

    /// The next PDU, in which SDUs end.
    fn plan_ends(&self) -> Segment {
        let Format { mut room, indicator, .. } = self.format;
        let mut segment = Segment { sdu: self.front, ..Segment::default() };
        if self.owed {
            segment.sdu -= 1;
            segment.ends = 1;
            segment.indicators = 1;
            room -= indicator;
        } else if !self.begun {
            segment.starts = true;
            if self.format.tells_start {
                segment.indicators = 1;
                room -= indicator;
            }
        }
        for (place, bytes) in self.sdus.iter().enumerate() {
            let rest = if place == 0 { self.rest } else { *bytes };
            if rest > u32::from(room) {
                segment.add(room);
                segment.goes_on = true;
                return segment;
            }
            // It is no larger than the room.
            let rest = rest as u16;
            if rest + indicator > room {
                self.fill(&mut segment, rest, room);
                return segment;
            }
            segment.add(rest);
            segment.ends += 1;
            segment.indicators += 1;
            room -= rest + indicator;
            // With indicators of two bytes a last byte that remains is left alone.
            if room < indicator || segment.ends == self.format.most_ends {
                break;
            }
        }
        // With indicators of two bytes, one byte of padding needs none.
        segment.padding = room;
        if room >= indicator {
            segment.indicators += 1;
            segment.padding -= indicator;
        }
        segment
    }

    /// The end of an SDU for whose indicator there is no room.
    fn fill(&self, segment: &mut Segment, rest: u16, room: u16) {
        let told = self.format.header_tells_end && rest == room && segment.indicators == 0;
        segment.add(rest);
        segment.padding = room - rest;
        segment.ends += u16::from(told);
        segment.goes_on = !told;
    }

    /// Takes out what [`Segmenter::plan`] said.
    #[inline]
    pub fn take(&mut self, segment: &Segment) {
        let mut left = u32::from(segment.data);
        self.bytes -= u64::from(left);
        self.owed = false;
        while left >= self.rest && left > 0 {
            left -= self.rest;
            self.finish();
            // If nothing follows in this PDU, and it does not tell the end, the next one has to.
            self.owed = left == 0 && segment.goes_on;
        }
        self.rest -= left;
        self.begun |= left > 0;
    }
}

impl Segment {
    /// Adds a part of an SDU.
    #[inline]
    fn add(&mut self, bytes: u16) {
        if self.data == 0 && self.ends == 0 {
            self.first = bytes;
        }
        self.data += bytes;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format(room: u16, indicator: u16) -> Format {
        Format { room, indicator, tells_start: false, header_tells_end: false, most_ends: u16::MAX }
    }

    /// The PDUs into which these SDUs go.
    fn cut(format: Format, sdus: &[u32]) -> Vec<Segment> {
        let mut segmenter = Segmenter::new(format, u64::MAX);
        sdus.iter().for_each(|bytes| assert!(segmenter.push(*bytes, false)));
        let next = || {
            let segment = segmenter.plan()?;
            segmenter.take(&segment);
            Some(segment)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn an_sdu_alone_takes_its_bytes_and_one_indicator() {
        // 38 B behind a header of 2 B in 40 B: ceil((bytes + 1) / 38), by §9.2.2.8.
        for (bytes, pdus) in [(1, 1), (36, 1), (37, 1), (38, 2), (40, 2), (576, 16), (1000, 27), (1040, 28), (1500, 40)]
        {
            assert_eq!(cut(format(38, 1), &[bytes]).len(), pdus, "{bytes} B");
        }
        // 40 B of payload, and a header that can tell that the last byte is an end: as in EURANE.
        let free = Format { header_tells_end: true, ..format(40, 1) };
        for (bytes, pdus) in [(40, 1), (576, 15), (1000, 25), (1040, 26), (1500, 38)] {
            assert_eq!(cut(free, &[bytes]).len(), pdus, "{bytes} B");
        }
    }

    #[test]
    fn the_last_pdu_tells_its_end_by_the_rules_of_indicators() {
        // Bytes, PDUs, and of the last one data, indicators, padding and whether it tells an end.
        let rows = [
            // One byte of indicators: one for the end, one for padding, which may have no length.
            (1, 35, 1, (35, 2, 1, 1)),
            (1, 36, 1, (36, 2, 0, 1)),
            (1, 37, 1, (37, 1, 0, 1)),
            // No room for the indicator: it comes in a PDU of its own, since no SDU follows.
            (1, 38, 2, (0, 2, 36, 1)),
            // Two bytes: a byte that remains needs no indicator of padding.
            (2, 33, 1, (33, 2, 1, 1)),
            (2, 34, 1, (34, 2, 0, 1)),
            (2, 35, 1, (35, 1, 1, 1)),
            (2, 36, 1, (36, 1, 0, 1)),
            // One byte short of the end, and the end itself: the next PDU tells.
            (2, 37, 2, (0, 2, 34, 1)),
            (2, 38, 2, (0, 2, 34, 1)),
            (2, 39, 2, (1, 2, 33, 1)),
        ];
        for (indicator, bytes, pdus, (data, indicators, padding, ends)) in rows {
            let segments = cut(format(38, indicator), &[bytes]);
            let last = *segments.last().unwrap();
            assert_eq!(segments.len(), pdus, "{bytes} B");
            let of = (last.data, u32::from(last.indicators), last.padding, last.ends);
            assert_eq!(of, (data, indicators, padding, ends), "{bytes} B with indicators of {indicator} B");
        }
        let [short, _] = cut(format(38, 2), &[37])[..] else { panic!("two PDUs") };
        assert_eq!((short.data, short.padding, short.ends, short.goes_on), (37, 1, 0, true));
    }

    #[test]
    fn a_byte_is_enough_for_the_next_sdu() {
        // 36 B and an indicator leave one byte, which is the first of the next SDU.
        let segments = cut(format(38, 1), &[36, 100]);
        assert_eq!((segments[0].data, segments[0].ends, segments[0].goes_on), (37, 1, true));
        assert_eq!((segments[1].sdu, segments[1].starts, segments[1].data), (1, false, 38));
        // With indicators of two bytes one byte is left alone, and two are not.
        assert_eq!(cut(format(38, 2), &[35, 100])[0].data, 35);
        assert_eq!(cut(format(38, 2), &[34, 100])[0].data, 36);
        // After 15 ends there is padding, if no more are allowed.
        let few = Format { most_ends: 15, ..format(38, 1) };
        let segments = cut(few, &[1; 20]);
        assert_eq!(segments.iter().map(|s| s.ends).collect::<Vec<_>>(), [15, 5]);
        assert_eq!((segments[0].padding, segments[0].indicators), (7, 16));
    }

    #[test]
    fn the_start_is_told_where_the_end_before_does_not() {
        let tells = Format { tells_start: true, ..format(39, 1) };
        // 37 B: start, end. The next starts a PDU, and tells so. 39 B: all but one byte, then the end.
        let of = |sdus: &[u32]| cut(tells, sdus).iter().map(|s| (s.data, s.indicators)).collect::<Vec<_>>();
        assert_eq!(of(&[37, 39]), [(37, 2), (38, 1), (1, 2)]);
        // An SDU that fills its PDU: the next PDU tells its end, and so the start of the next SDU.
        assert_eq!(of(&[38, 20]), [(38, 1), (20, 3)]);
    }

    #[test]
    fn what_is_dropped_leaves_the_next_sdu_at_a_start() {
        for (first, pdus) in [(100, 1), (38, 1), (100, 0)] {
            let mut segmenter = Segmenter::new(format(38, 1), 1000);
            [first, 50, 60].iter().for_each(|bytes| assert!(segmenter.push(*bytes, false)));
            (0..pdus).for_each(|_| segmenter.take(&segmenter.plan().unwrap()));
            segmenter.drop_before(1);
            assert_eq!((segmenter.bytes(), segmenter.unfinished(), segmenter.untouched()), (110, 1, 1));
            let segment = segmenter.plan().unwrap();
            assert_eq!((segment.sdu, segment.starts, segment.ends), (1, true, 0));
        }
        // An SDU that is not to be dropped keeps the end that is owed.
        let mut segmenter = Segmenter::new(format(38, 1), 1000);
        assert!(segmenter.push(38, false));
        segmenter.take(&segmenter.plan().unwrap());
        segmenter.drop_before(0);
        assert_eq!(segmenter.unfinished(), 0);
        assert_eq!(segmenter.plan().unwrap().ends, 1);
    }

    #[test]
    fn the_buffer_counts_what_is_in_no_pdu() {
        let mut segmenter = Segmenter::new(format(38, 1), 100);
        assert!(segmenter.push(60, false) && segmenter.push(40, false) && !segmenter.push(1, false));
        segmenter.take(&segmenter.plan().unwrap());
        assert_eq!(segmenter.bytes(), 62);
        assert!(segmenter.push(38, false) && !segmenter.push(1, false));
    }

    proptest! {
        /// With indicators of one byte each SDU takes its bytes and one more, wherever that comes to lie.
        #[test]
        fn nothing_but_the_last_pdu_is_padded(sdus in proptest::collection::vec(1u32..200, 1..60), room in 14u16..125) {
            let segments = cut(format(room, 1), &sdus);
            let bytes: u32 = sdus.iter().map(|bytes| bytes + 1).sum();
            prop_assert_eq!(segments.len() as u32, bytes.div_ceil(u32::from(room)));
            let mut segmenter = Segmenter::new(format(room, 1), u64::MAX);
            sdus.iter().for_each(|bytes| assert!(segmenter.push(*bytes, false)));
            for taken in 0..segments.len() {
                prop_assert_eq!(segmenter.pdus(), (segments.len() - taken) as u64);
                segmenter.take(&segmenter.plan().unwrap());
            }
            prop_assert_eq!(segmenter.pdus(), 0);
            prop_assert!(segments.iter().rev().skip(1).all(|segment| segment.padding == 0));
        }

        /// Whatever the format, PDUs are full and in order, and every byte and every end is there.
        #[test]
        fn all_bytes_and_all_ends_are_there(
            sdus in proptest::collection::vec(1u32..200, 1..60),
            room in 14u16..300,
            indicator in 1u16..=2,
            tells_start: bool,
            header_tells_end: bool,
        ) {
            let format = Format { room, indicator, tells_start, header_tells_end, most_ends: 15 };
            let segments = cut(format, &sdus);
            let size = |s: &Segment| s.data + u16::from(s.indicators) * indicator + s.padding;
            prop_assert!(segments.iter().all(|segment| size(segment) == room));
            prop_assert_eq!(segments.iter().map(|s| u32::from(s.data)).sum::<u32>(), sdus.iter().sum::<u32>());
            prop_assert_eq!(segments.iter().map(|s| usize::from(s.ends)).sum::<usize>(), sdus.len());
            for pair in segments.windows(2) {
                let next = pair[0].sdu + u64::from(pair[0].ends);
                prop_assert_eq!(pair[1].sdu, next);
                prop_assert_eq!(pair[1].starts, !pair[0].goes_on);
            }
        }
    }
}
