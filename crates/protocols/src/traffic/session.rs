//! Sessions: one page after another, each over a connection of its own, with time to read it.
//!
//! The order of events is that of 3GPP TR 25.876 as Dubois (*Performance of Different TCP Versions
//! over UMTS Common/Dedicated Channels*, Namur 2005, §5.3.2) puts it on a TCP that sends without
//! being asked. A connection opens with the first object of a page. When the last byte of an
//! object has been sent for the first time, the time begins after which the next is written. When
//! all of the page is acknowledged, the time begins after which the next page does. Nothing goes
//! up but acknowledgements: requests are not simulated.
//!
//! A page is drawn as a whole when it begins. So the n-th page of a seed is the same whatever
//! carries it.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Fault, Instant, Lognormal, Probability, Stream};
use lasthop_net::net::{Hears, Notice, Source, Timed, Transfer};

/// Something that is asked for at once, and then read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The size of its full packets, TCP/IP headers included.
    pub packet: u32,
    /// Its objects, in order; at least one.
    pub objects: Vec<Object>,
    /// How long it is read.
    pub reading: Duration,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// How long after the last byte of the object before it comes; of no meaning for the first.
    pub parsing: Duration,
    /// Its payload, at least 1 B.
    pub bytes: u64,
}

/// Where pages come from.
pub trait Pages: Send {
    /// The next page.
    fn draw(&self, stream: &mut Stream) -> Page;
}

/// The source.
#[derive(Debug)]
pub struct Session<P> {
    pages: P,
    stream: Stream,
    page: Page,
    phase: Phase,
    /// When the time ends that passes in `phase`.
    wake: Option<Instant>,
    /// Objects of the page written so far, and their bytes.
    objects: usize,
    written: u64,
    /// Bytes of the connection sent and acknowledged so far, as far as the source has heard.
    sent: u64,
    acked: u64,
    asks: VecDeque<Notice>,
    opened: bool,
    transfers: Vec<Transfer>,
    /// Whether transfers that have ended are kept.
    keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The page is read; before the first page, nothing is.
    Reading,
    /// Written data are on their way to be sent, and more objects follow.
    Sending,
    /// The next object is being found.
    Parsing,
    /// All is written, and acknowledgements are waited for.
    Finishing,
}

impl<P: Pages> Session<P> {
    /// A session of `pages`. The first begins at a uniformly distributed time of at most `first`
    /// after `start`.
    pub fn new(pages: P, start: Instant, first: Duration, mut stream: Stream) -> Self {
        let begins = start + Duration::from_secs_f64(stream.uniform(0.0, first.as_secs_f64()));
        Self {
            pages,
            stream,
            page: Page::default(),
            phase: Phase::Reading,
            wake: Some(begins),
            objects: 0,
            written: 0,
            sent: 0,
            acked: 0,
            asks: VecDeque::new(),
            opened: false,
            transfers: Vec::new(),
            keep: true,
        }
    }

    /// Opens a connection for the next page, and writes its first object.
    fn begin(&mut self, now: Instant) {
        self.page = self.pages.draw(&mut self.stream);
        if !self.keep {
            self.transfers.clear();
        }
        self.transfers.push(Transfer {
            objects: self.page.objects.len() as u32,
            packet: Some(self.page.packet),
            ..Transfer::begun(now, self.page.objects.iter().map(|object| object.bytes).sum())
        });
        (self.objects, self.written, self.sent, self.acked) = (0, 0, 0, 0);
        if std::mem::replace(&mut self.opened, true) {
            self.asks.push_back(Notice::Reset);
        }
        let segment = self.page.packet.saturating_sub(HEADER_BYTES);
        self.asks.extend([Notice::Segment(segment), Notice::Open]);
        self.write();
    }

    /// Writes the next object, and closes behind the last.
    fn write(&mut self) {
        let bytes = self.page.objects[self.objects].bytes;
        self.objects += 1;
        self.written += bytes;
        self.asks.push_back(Notice::Write(bytes));
        self.phase = Phase::Sending;
        if self.objects == self.page.objects.len() {
            self.asks.push_back(Notice::Close);
            self.phase = Phase::Finishing;
        }
    }

    /// Goes on as far as the notices allow. In profile `ns2` data may count as sent, and even
    /// as acknowledged, before they are written: Vegas resends what it has not sent.
    fn proceed(&mut self, now: Instant) {
        if self.phase == Phase::Sending && self.sent >= self.written {
            self.phase = Phase::Parsing;
            self.wake = Some(now + self.page.objects[self.objects].parsing);
        } else if self.phase == Phase::Finishing && self.acked >= self.written {
            self.phase = Phase::Reading;
            self.wake = Some(now + self.page.reading);
            if let Some(transfer) = self.transfers.last_mut() {
                transfer.acked = Some(now);
            }
        }
    }
}

/// IPv4 and TCP without options, which the models count as part of a packet.
const HEADER_BYTES: u32 = 40;

impl<P: Pages> Timed for Session<P> {
    fn on_timeout(&mut self, now: Instant) {
        if self.wake.is_none_or(|at| at > now) {
            return;
        }
        self.wake = None;
        match self.phase {
            Phase::Reading => self.begin(now),
            Phase::Parsing => self.write(),
            Phase::Sending | Phase::Finishing => {}
        }
        self.proceed(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.wake
    }
}

impl<P: Pages> Source for Session<P> {
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        let Some(transfer) = self.transfers.last_mut() else { return };
        match notice {
            Notice::Sent(bytes) => {
                transfer.sent.get_or_insert(now);
                self.sent = bytes;
            }
            Notice::Acked(bytes) => self.acked = bytes,
            // A receiver that speaks of more than was sent speaks of an earlier connection.
            Notice::Received(bytes) if bytes >= transfer.bytes && bytes <= self.sent => {
                transfer.received.get_or_insert(now);
            }
            _ => {}
        }
        self.proceed(now);
    }

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        self.asks.pop_front()
    }

    fn hears(&self) -> Hears {
        Hears { sent: true, acked: true, received: true, lost: false, rate: false }
    }

    fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    fn forget_transfers(&mut self) {
        self.keep = false;
    }
}

/// The packets of a page: all large or all small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "PagePackets")]
pub struct Packets {
    /// The size of large packets, TCP/IP headers of 40 B included. Default: 1500 B (3GPP TR
    /// 25.876).
    pub large: Bytes,
    /// The size of small packets, likewise. Default: 576 B.
    pub small: Bytes,
    /// The share of pages or files that come in large packets. Default: 0.76.
    pub large_share: Probability,
}

impl Default for Packets {
    fn default() -> Self {
        let large_share = Probability::new(0.76).expect("it lies between 0 and 1");
        Self { large: Bytes::new(1500), small: Bytes::new(576), large_share }
    }
}

impl Packets {
    /// The size of a page's packets.
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        let large = stream.chance(self.large_share.get());
        if large { self.large.get() as u32 } else { self.small.get() as u32 }
    }

    /// Whether the sizes can be.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn check(&self) -> Result<(), Fault> {
        for (field, size) in [("packet.large", self.large), ("packet.small", self.small)] {
            if !(u64::from(HEADER_BYTES) + 1..=LARGEST_PACKET).contains(&size.get()) {
                let expected = format!("expected 41 B to {LARGEST_PACKET} B: 40 B are headers");
                return Err(Fault::new(field, format!("packets of {size}"), expected));
            }
        }
        Ok(())
    }
}

/// The largest IPv4 packet (RFC 791 §3.1).
const LARGEST_PACKET: u64 = 65_535;

/// The log-normal distribution of sizes with this mean and standard deviation before it is
/// truncated to `[least, most]`.
///
/// # Errors
/// The field among `fields`, for mean and interval, that makes no sense.
pub fn sizes([mean, deviation, least, most]: [Bytes; 4], fields: [&'static str; 2]) -> Result<Lognormal, Fault> {
    if mean.get() == 0 {
        return Err(Fault::new(fields[0], "sizes with a mean of 0 B", "expected 1 B or more"));
    }
    if least > most {
        let expected = "expected a smallest size below the largest";
        return Err(Fault::new(fields[1], format!("sizes from {least} to {most}"), expected));
    }
    let value = |size: Bytes| size.get() as f64;
    let sizes = Lognormal::from_moments(value(mean), value(deviation)).within(value(least), value(most));
    if sizes.share() < LEAST_SHARE {
        let message = format!("almost no sizes with a mean of {mean} lie between {least} and {most}");
        return Err(Fault::new(fields[1], message, "expected a wider interval"));
    }
    Ok(sizes)
}

/// Of which share of a distribution values are drawn at least: much less is a mistake, and its
/// quantiles are not exact.
const LEAST_SHARE: f64 = 1e-6;

/// A size of this distribution: whole bytes, at least one.
pub fn draw_size(sizes: &Lognormal, stream: &mut Stream) -> u64 {
    libm::round(sizes.draw(stream)).max(1.0) as u64
}

/// A time with this mean, exponentially distributed.
pub fn draw_time(mean: Duration, stream: &mut Stream) -> Duration {
    Duration::from_secs_f64(stream.exponential(mean.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    /// The same page for ever: objects of 3000 B, 1000 B and 500 B, 100 ms and 200 ms apart, and
    /// 5 s to read it.
    #[derive(Debug)]
    struct Same;

    impl Pages for Same {
        fn draw(&self, _stream: &mut Stream) -> Page {
            let object = |ms, bytes| Object { parsing: Duration::from_millis(ms), bytes };
            let objects = vec![object(0, 3_000), object(100, 1_000), object(200, 500)];
            Page { packet: 576, objects, reading: Duration::from_secs(5) }
        }
    }

    /// A session that is driven by hand; times in milliseconds.
    struct Script(Session<Same>);

    impl Script {
        fn new() -> Self {
            let stream = Streams::new(1).stream("flow", "source");
            Self(Session::new(Same, at(1_000), Duration::ZERO, stream))
        }

        /// What it asks for when its timer ends.
        fn wake(&mut self, ms: u64) -> Vec<Notice> {
            assert_eq!(self.0.next_timeout(), Some(at(ms)));
            self.0.on_timeout(at(ms));
            std::iter::from_fn(|| self.0.poll(at(ms))).collect()
        }

        /// It gets a notice, asks for nothing, and waits until `then`.
        fn hear(&mut self, ms: u64, notice: Notice, then: Option<u64>) {
            self.0.on_notice(at(ms), notice);
            assert_eq!(self.0.poll(at(ms)), None);
            assert_eq!(self.0.next_timeout(), then.map(at), "after {notice:?}");
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn parsing_follows_what_is_sent_and_reading_what_is_acknowledged() {
        let mut script = Script::new();
        // 576 B less 40 B of headers.
        let begins = [Notice::Segment(536), Notice::Open, Notice::Write(3_000)];
        assert_eq!(script.wake(1_000), begins);
        script.hear(1_010, Notice::Sent(2_999), None);
        script.hear(1_020, Notice::Sent(3_000), Some(1_120));
        script.hear(1_050, Notice::Received(3_000), Some(1_120));
        script.hear(1_060, Notice::Acked(3_000), Some(1_120));
        assert_eq!(script.wake(1_120), [Notice::Write(1_000)]);
        script.hear(1_130, Notice::Sent(4_000), Some(1_330));
        assert_eq!(script.wake(1_330), [Notice::Write(500), Notice::Close]);
        script.hear(1_340, Notice::Sent(4_500), None);
        script.hear(1_350, Notice::Received(4_500), None);
        script.hear(1_360, Notice::Acked(4_499), None);
        script.hear(1_370, Notice::Acked(4_500), Some(6_370));

        let again = [&[Notice::Reset], &begins[..]].concat();
        assert_eq!(script.wake(6_370), again);
        // The end of the page before is not the end of this one.
        script.hear(6_371, Notice::Received(4_500), None);
        script.hear(6_380, Notice::Sent(3_000), Some(6_480));
        let (first, second) = (Transfer::begun(at(1_000), 4_500), Transfer::begun(at(6_370), 4_500));
        let (objects, packet) = (3, Some(576));
        let first = Transfer {
            sent: Some(at(1_010)),
            received: Some(at(1_350)),
            acked: Some(at(1_370)),
            objects,
            packet,
            ..first
        };
        let second = Transfer { sent: Some(at(6_380)), objects, packet, ..second };
        assert_eq!(script.0.transfers(), [first, second]);
    }

    #[test]
    fn what_is_acknowledged_before_it_is_written_ends_a_page_all_the_same() {
        let mut script = Script::new();
        script.wake(1_000);
        script.hear(1_010, Notice::Sent(5_000), Some(1_110));
        script.hear(1_020, Notice::Acked(5_000), Some(1_110));
        assert_eq!(script.wake(1_110), [Notice::Write(1_000)]);
        assert_eq!(script.wake(1_310), [Notice::Write(500), Notice::Close]);
        assert_eq!(script.wake(6_310)[0], Notice::Reset);
        assert_eq!(script.0.transfers()[0].acked, Some(at(1_310)));
    }

    #[test]
    fn without_a_table_only_the_last_transfer_is_kept() {
        let mut script = Script::new();
        script.0.forget_transfers();
        let mut now = 1_000;
        for _ in 0..1_000 {
            script.wake(now);
            for (sent, parsing) in [(3_000, 100), (4_000, 200)] {
                script.hear(now, Notice::Sent(sent), Some(now + parsing));
                now += parsing;
                script.wake(now);
            }
            script.hear(now, Notice::Acked(4_500), Some(now + 5_000));
            assert_eq!(script.0.transfers().len(), 1);
            now += 5_000;
        }
        assert!(script.0.transfers.capacity() < 10 && script.0.asks.capacity() < 20);
    }
}
