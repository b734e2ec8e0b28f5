//! The sending end of a file.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use lasthop_net::engine::{Duration, Instant};

use super::piece::{HEADER_BYTES, Piece};
use super::ranges::Ranges;
use super::status::Status;
use super::{ASK_EVERY, checksum};

/// How long requests are gathered before they are answered by a pass: what receivers draw before they answer, and a round trip of a slow
/// cell.
const GATHER: Duration = Duration::from_millis(750);
/// After this number of questions that no receiver answered with a request the transfer is over.
const MOST_QUESTIONS: u32 = 5;
/// How often the end is said.
const GOODBYES: u32 = 3;
/// The most receivers and ranges that are kept.
const MOST_KEPT: usize = 1 << 16;

/// A file that can be read anywhere.
pub trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

/// The sending end.
pub struct Sending {
    file: Box<dyn Source>,
    length: u64,
    checksum: u32,
    transfer: u32,
    /// Bytes of a piece, but for the last.
    piece: u64,
    /// When as many receivers have the file, the transfer is over.
    receivers: Option<usize>,
    /// To be sent in this pass.
    pending: VecDeque<Range<u64>>,
    /// Asked for, for the next one.
    requested: Ranges,
    /// When the next pass begins.
    gathered_at: Option<Instant>,
    /// When the next question is due; none while a pass is under way.
    ask_at: Option<Instant>,
    questions: u32,
    /// How often the end is still to be said.
    goodbyes: Option<u32>,
    /// By receiver: whether it has the file.
    known: BTreeMap<u32, bool>,
    /// Which bytes were sent with each number, for protocols that send numbers again: from number `kept_from` on.
    kept: VecDeque<Range<u64>>,
    kept_from: u64,
    most_kept: usize,
    passes: u32,
    /// The pass in which the file was last compared with its checksum.
    compared: u32,
    failure: Option<io::Error>,
}

impl Sending {
    /// `file` in payloads of `payload` bytes, to `receivers` receivers if their number is known. The last `most_kept` payloads can be sent
    /// again by their number.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn new(
        mut file: Box<dyn Source>,
        transfer: u32,
        payload: u32,
        receivers: Option<usize>,
        most_kept: usize,
    ) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let checksum = checksum(&mut file, length)?;
        let mut pending = VecDeque::new();
        pending.push_back(0..length);
        Ok(Self {
            file,
            length,
            checksum,
            transfer,
            piece: u64::from(payload).saturating_sub(HEADER_BYTES as u64).max(1),
            receivers,
            pending,
            requested: Ranges::default(),
            gathered_at: None,
            ask_at: None,
            questions: 0,
            goodbyes: None,
            known: BTreeMap::new(),
            kept: VecDeque::new(),
            kept_from: 0,
            most_kept,
            passes: 1,
            compared: 0,
            failure: None,
        })
    }

    /// How many payloads are to be sent now.
    pub fn waiting(&self) -> u64 {
        let pieces = |range: &Range<u64>| (range.end - range.start).div_ceil(self.piece).max(1);
        self.pending.iter().map(pieces).sum()
    }

    /// Writes the next payload; a question if there is nothing else to send.
    pub fn write(&mut self, now: Instant, number: u64, to: &mut Vec<u8>) {
        let range = match self.pending.front_mut() {
            Some(first) => {
                let range = first.start..first.end.min(first.start + self.piece);
                first.start = range.end;
                if first.is_empty() {
                    self.pending.pop_front();
                }
                range
            }
            None => self.last_piece(),
        };
        if self.most_kept > 0 {
            if self.kept.is_empty() {
                self.kept_from = number;
            }
            self.kept.push_back(range.clone());
            if self.kept.len() > self.most_kept {
                self.kept.pop_front();
                self.kept_from += 1;
            }
        }
        let asks = self.pending.is_empty() && self.goodbyes.is_none();
        if asks {
            self.ask_at = Some(now + ASK_EVERY);
        }
        self.put(now, range, asks, to);
        if let Some(left) = &mut self.goodbyes {
            *left = left.saturating_sub(1);
            self.ask_at = (*left > 0).then_some(now + ASK_EVERY);
        }
    }

    /// Writes the payload of this number again.
    pub fn write_again(&mut self, now: Instant, number: u64, to: &mut Vec<u8>) {
        let place = number.checked_sub(self.kept_from).and_then(|place| usize::try_from(place).ok());
        if let Some(range) = place.and_then(|place| self.kept.get(place)) {
            self.put(now, range.clone(), false, to);
        }
    }

    fn put(&mut self, now: Instant, range: Range<u64>, asks: bool, to: &mut Vec<u8>) {
        let start = to.len();
        self.piece_at(range.start, asks).write(to);
        let from = to.len();
        to.resize(from + (range.end - range.start) as usize, 0);
        let read = self.file.seek(SeekFrom::Start(range.start)).and_then(|_| self.file.read_exact(&mut to[from..]));
        if let Err(error) = read {
            // The word of the end takes the place of bytes that are not there.
            self.fail(now, unreadable(&error));
            to.truncate(start);
            self.piece_at(range.start, false).write(to);
        }
    }

    /// The header of the piece at an offset.
    fn piece_at(&self, offset: u64, asks: bool) -> Piece {
        let Self { transfer, length, checksum, .. } = *self;
        Piece { asks, ends: self.goodbyes.is_some(), transfer, length, offset, checksum }
    }

    fn last_piece(&self) -> Range<u64> {
        let pieces = self.length.div_ceil(self.piece).max(1);
        (pieces - 1) * self.piece..self.length
    }

    /// A receiver says how it is.
    pub fn on_status(&mut self, now: Instant, status: &Status) {
        if status.transfer != self.transfer || self.goodbyes.is_some() {
            return;
        }
        // A question is a piece, so a receiver lacks all of the file only if all bytes came and were not the file's: it may be another by now.
        let doubted = status.lacks.contains(&(0..self.length));
        if doubted && std::mem::replace(&mut self.compared, self.passes) < self.passes {
            match checksum(&mut *self.file, self.length) {
                Ok(sum) if sum == self.checksum => {}
                Ok(_) => return self.fail(now, io::Error::other("its bytes have changed since the transfer began")),
                Err(error) => return self.fail(now, unreadable(&error)),
            }
        }
        let complete = status.lacks.is_empty();
        if self.known.len() < MOST_KEPT || self.known.contains_key(&status.receiver) {
            self.known.insert(status.receiver, complete);
        }
        for range in &status.lacks {
            if self.requested.len() < MOST_KEPT {
                self.requested.add(range.start.min(self.length)..range.end.min(self.length));
            }
        }
        if !self.requested.is_empty() {
            self.questions = 0;
            // Requests that come while a pass is under way wait for its end.
            if self.pending.is_empty() {
                self.gathered_at.get_or_insert(now + GATHER);
            }
        }
        if self.receivers.is_some_and(|all| self.complete() >= all) {
            self.say_goodbye(now);
        }
    }

    /// The file is not the one that was announced any more. It never arrives whole, and the transfer ends.
    fn fail(&mut self, now: Instant, failure: io::Error) {
        // The word of the end needs no bytes.
        if self.goodbyes.is_none() {
            self.failure = Some(failure);
            self.say_goodbye(now);
        }
    }

    fn say_goodbye(&mut self, now: Instant) {
        self.goodbyes = Some(GOODBYES);
        self.pending.clear();
        self.requested = Ranges::default();
        self.gathered_at = None;
        self.ask_at = Some(now);
    }

    /// When something is due.
    pub fn next_timeout(&self) -> Option<Instant> {
        match (self.pending.is_empty(), self.gathered_at, self.ask_at) {
            (false, ..) => None,
            (true, Some(at), _) => Some(at),
            (true, None, at) => at,
        }
    }

    /// The time has come.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.next_timeout().is_none_or(|at| at > now) {
            return;
        }
        if self.gathered_at.take().is_some() || !self.requested.is_empty() {
            self.passes += 1;
            self.pending = std::mem::take(&mut self.requested).iter().collect();
            self.ask_at = None;
            return;
        }
        if self.goodbyes.is_none() {
            self.questions += 1;
            if self.questions > MOST_QUESTIONS {
                self.goodbyes = Some(GOODBYES);
            }
        }
        // A question, or the word of the end.
        self.ask_at = None;
        self.pending.push_back(self.last_piece());
    }

    /// Whether nothing more is to be said.
    pub fn is_over(&self) -> bool {
        self.goodbyes == Some(0)
    }

    /// How many receivers said that they have the file.
    pub fn complete(&self) -> usize {
        self.known.values().filter(|complete| **complete).count()
    }

    /// How many receivers there are: as many as are expected, or more if more said how they are.
    pub fn receivers(&self) -> usize {
        self.known.len().max(self.receivers.unwrap_or(0))
    }

    /// How many passes there were.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Length and CRC-32 of the file.
    pub fn identity(&self) -> (u64, u32) {
        (self.length, self.checksum)
    }

    /// Why the file cannot be sent, if that is so.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

/// Why a file cannot be sent any more that cannot be read.
fn unreadable(error: &io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it has become shorter since the transfer began".to_owned(),
        _ => format!("it could not be read: {error}"),
    };
    io::Error::new(error.kind(), what)
}
