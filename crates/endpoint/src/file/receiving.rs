//! The receiving end of a file.

use std::io::{self, Read, Seek, SeekFrom, Write};

use lasthop_net::engine::{Duration, Instant, Stream};

use super::checksum;
use super::piece::Piece;
use super::ranges::Ranges;
use super::status::{MOST_RANGES, Status};
use crate::wire::WireError;

/// A receiver answers a question after a time from 0 to this, so that answers do not come all at once.
const SPREAD: Duration = Duration::from_millis(250);
/// The most ranges that are kept: pieces that would make more are not taken.
const MOST_KEPT: usize = 1 << 20;

/// A file that can be read and written anywhere.
pub trait Store: Read + Write + Seek {}
impl<T: Read + Write + Seek> Store for T {}

/// The receiving end.
pub struct Receiving {
    file: Box<dyn Store>,
    receiver: u32,
    stream: Stream,
    /// The first transfer that came: no other is taken.
    transfer: Option<Piece>,
    have: Ranges,
    answer_at: Option<Instant>,
    /// Whether the file is the sender's, once all bytes are here.
    whole: Option<bool>,
    ended: bool,
    failure: Option<io::Error>,
}

impl Receiving {
    /// Into `file`, by the receiver with this number.
    pub fn new(file: Box<dyn Store>, receiver: u32, stream: Stream) -> Self {
        Self {
            file,
            receiver,
            stream,
            transfer: None,
            have: Ranges::default(),
            answer_at: None,
            whole: None,
            ended: false,
            failure: None,
        }
    }

    /// The payload of a data packet.
    ///
    /// # Errors
    /// If it is none that the sender of this file writes.
    pub fn on_payload(&mut self, now: Instant, payload: &[u8]) -> Result<(), WireError> {
        let Some((piece, bytes)) = Piece::read(payload)? else { return Ok(()) };
        let known = *self.transfer.get_or_insert(piece);
        if (piece.transfer, piece.length, piece.checksum) != (known.transfer, known.length, known.checksum) {
            return Err(WireError::Value);
        }
        let range = piece.offset..piece.offset + bytes.len() as u64;
        if self.whole.is_none() && self.have.len() < MOST_KEPT && self.have.add(range) {
            let written = self.file.seek(SeekFrom::Start(piece.offset)).and_then(|_| self.file.write_all(bytes));
            if let Err(error) = written {
                self.failure.get_or_insert(error);
            }
        }
        if self.whole.is_none() && self.have.has_all(known.length) {
            match self.file.flush().and_then(|()| checksum(&mut *self.file, known.length)) {
                Ok(sum) => self.whole = Some(sum == known.checksum),
                Err(error) => drop(self.failure.get_or_insert(error)),
            }
        }
        if piece.asks && self.answer_at.is_none() {
            self.answer_at = Some(now + SPREAD.mul_f64(self.stream.unit()));
        }
        self.ended |= piece.ends;
        Ok(())
    }

    /// When an answer is due.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.answer_at
    }

    /// The answer that is due now.
    pub fn poll(&mut self, now: Instant) -> Option<Status> {
        let known = self.transfer?;
        self.answer_at.take_if(|at| *at <= now)?;
        let lacks = match self.whole {
            Some(true) => Vec::new(),
            // All bytes came and they are not the file's: all are asked for again.
            Some(false) => {
                (self.whole, self.have) = (None, Ranges::default());
                std::iter::once(0..known.length).collect()
            }
            None => self.have.missing(known.length).take(MOST_RANGES).collect(),
        };
        Some(Status { transfer: known.transfer, receiver: self.receiver, lacks })
    }

    /// Whether the sender said that nothing more comes.
    pub fn is_over(&self) -> bool {
        self.ended || self.failure.is_some()
    }

    /// Whether the file is here and is the sender's.
    pub fn is_whole(&self) -> bool {
        self.whole == Some(true) && self.failure.is_none()
    }

    /// Length and CRC-32 of the file, once the sender has said them.
    pub fn identity(&self) -> Option<(u64, u32)> {
        self.transfer.map(|piece| (piece.length, piece.checksum))
    }

    /// How many bytes are missing.
    pub fn missing(&self) -> Option<u64> {
        let length = self.transfer?.length;
        Some(self.have.missing(length).map(|range| range.end - range.start).sum())
    }

    /// The first failure to write the file.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Cursor;
    use std::rc::Rc;

    use lasthop_net::engine::Streams;

    use super::*;
    use crate::file::sending::Sending;

    /// A file that the test can look at.
    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Cursor<Vec<u8>>>>);

    impl Read for Shared {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.0.borrow_mut().read(to)
        }
    }

    impl Write for Shared {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(from)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Shared {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.borrow_mut().seek(to)
        }
    }

    /// A packet each 10 ms, of which each receiver loses a share; answers come at once. Gives the number of passes.
    fn transfer(length: usize, receivers: usize, loss: f64, expected: Option<usize>) -> (u32, usize) {
        let streams = Streams::new(7);
        let content: Vec<u8> = (0..length).map(|n| (n * 31 % 251) as u8).collect();
        let mut sending = Sending::new(Box::new(Cursor::new(content.clone())), 9, 500, expected, 0).unwrap();
        let stores: Vec<Shared> = (0..receivers).map(|_| Shared::default()).collect();
        let mut ends: Vec<(Receiving, Stream)> = (1..)
            .zip(&stores)
            .map(|(number, store)| {
                let name = number.to_string();
                let receiving = Receiving::new(Box::new(store.clone()), number, streams.stream(&name, "answers"));
                (receiving, streams.stream(&name, "losses"))
            })
            .collect();
        let mut payload = Vec::new();
        for tick in 0..100_000u64 {
            let now = Instant::from_nanos(tick * 10_000_000);
            sending.on_timeout(now);
            if sending.waiting() > 0 {
                payload.clear();
                sending.write(now, tick, &mut payload);
                for (receiving, losses) in &mut ends {
                    if !losses.chance(loss) {
                        receiving.on_payload(now, &payload).unwrap();
                    }
                }
            }
            for (receiving, losses) in &mut ends {
                if let Some(status) = receiving.poll(now).filter(|_| !losses.chance(loss)) {
                    sending.on_status(now, &status);
                }
            }
            if sending.is_over() {
                break;
            }
        }
        assert!(sending.is_over());
        for ((receiving, _), store) in ends.iter().zip(&stores) {
            assert!(receiving.is_whole(), "{:?}", receiving.missing());
            assert_eq!(store.0.borrow().get_ref(), &content);
        }
        (sending.passes(), sending.complete())
    }

    #[test]
    fn a_file_arrives_whole_at_all_receivers() {
        assert_eq!(transfer(50_000, 3, 0.0, None).0, 1);
        let (passes, complete) = transfer(50_000, 50, 0.1, Some(50));
        assert!((2..=10).contains(&passes) && complete == 50, "{passes} {complete}");
        assert_eq!(transfer(1, 2, 0.3, Some(2)).1, 2);
        assert_eq!(transfer(0, 1, 0.0, Some(1)), (1, 1), "an empty file is a file");
    }

    /// A transfer of 2,000 bytes to a receiver, before which `change` is done to the file: both ends, when they are over.
    fn changed(change: impl FnOnce(&mut Vec<u8>)) -> (Sending, Receiving) {
        let source = Shared(Rc::new(RefCell::new(Cursor::new(vec![7; 2_000]))));
        let mut sending = Sending::new(Box::new(source.clone()), 9, 500, Some(1), 0).unwrap();
        change(source.0.borrow_mut().get_mut());
        let stream = Streams::new(7).stream("r", "answers");
        let mut end = Receiving::new(Box::new(Shared::default()), 1, stream);
        let mut payload = Vec::new();
        for tick in 0..1_000u64 {
            let now = Instant::from_nanos(tick * 10_000_000);
            sending.on_timeout(now);
            if sending.waiting() > 0 {
                payload.clear();
                sending.write(now, tick, &mut payload);
                end.on_payload(now, &payload).unwrap();
            }
            if let Some(status) = end.poll(now) {
                sending.on_status(now, &status);
            }
        }
        assert!(sending.is_over() && end.is_over() && !end.is_whole());
        (sending, end)
    }

    /// The file changes while it is sent: a receiver finds another CRC-32, and the sender that it is no more what it announced. It says the
    /// end, and does not send it for ever.
    #[test]
    fn a_file_that_changes_under_way_ends_the_transfer() {
        let (sending, _) = changed(|bytes| bytes[1_999] = 8);
        assert_eq!((sending.passes(), sending.complete()), (1, 0));
        assert_eq!(sending.failure().unwrap().to_string(), "its bytes have changed since the transfer began");
    }

    /// The sender went without a word, and receivers waited for ever.
    #[test]
    fn a_file_that_becomes_shorter_ends_the_transfer() {
        let (sending, end) = changed(|bytes| bytes.truncate(900));
        assert_eq!(sending.failure().unwrap().to_string(), "it has become shorter since the transfer began");
        assert_eq!(end.missing(), Some(1_528), "nothing was sent in the place of its bytes");
    }

    #[test]
    fn a_file_that_goes_away_when_all_have_it_is_no_failure() {
        let source = Shared(Rc::new(RefCell::new(Cursor::new(vec![7; 900]))));
        let mut sending = Sending::new(Box::new(source.clone()), 9, 500, Some(1), 0).unwrap();
        sending.on_status(Instant::ZERO, &Status { transfer: 9, receiver: 1, lacks: Vec::new() });
        source.0.borrow_mut().get_mut().clear();
        for tick in 0..1_000u64 {
            let now = Instant::from_nanos(tick * 10_000_000);
            sending.on_timeout(now);
            if sending.waiting() > 0 {
                sending.write(now, tick, &mut Vec::new());
            }
        }
        assert!(sending.is_over() && sending.failure().is_none());
    }

    #[test]
    fn other_transfers_and_damaged_files_are_not_taken() {
        let store = Shared::default();
        let mut end = Receiving::new(Box::new(store), 1, Streams::new(1).stream("r", "answers"));
        let piece = |transfer, checksum, bytes: &[u8]| {
            let mut payload = Vec::new();
            Piece { asks: true, ends: false, transfer, length: 3, offset: 0, checksum }.write(&mut payload);
            payload.extend(bytes);
            payload
        };
        let now = Instant::ZERO;
        assert_eq!(end.on_payload(now, &piece(4, 5, b"abc")), Ok(()));
        assert_eq!(end.on_payload(now, &piece(3, 5, b"abc")), Err(WireError::Value));
        assert!(!end.is_whole(), "5 is not the checksum of these bytes");
        let later = now + SPREAD;
        assert_eq!(end.poll(later).unwrap().lacks.as_slice(), std::slice::from_ref(&(0..3)));
        assert_eq!(end.missing(), Some(3));
    }
}
