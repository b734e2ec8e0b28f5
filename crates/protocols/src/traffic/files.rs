//! Downloads: files of a few sizes, one after another, with a pause after each.
//!
//! The model of Landström, Larzon and Bodin (*Congestion Control in a High Speed Radio Environment*, §III): the pause
//! begins as soon as all the data have reached the receiver, and each file has a connection of its own, which remembers nothing of
//! the one before. A transport without retransmission ends a file with its last packet.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Fault, Instant, Stream};
use lasthop_net::net::{Hears, Notice, Source, Timed, Transfer};

use super::SourceConfig;

/// How long a transfer takes at least. One that is lost at the sender itself would end at once, and without a pause so would the next.
const LEAST: Duration = Duration::from_millis(1);

/// Files of a few sizes, one after another, with a pause after each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Files")]
pub struct Config {
    /// The sizes. 3, 7, 15, … 1023 packets of 1450 B: each is what whole rounds of slow start carry.
    pub sizes: Vec<Bytes>,
    /// How often each size is drawn, in relation to the others. Default: 9 for the smallest, … 1 for the
    /// largest.
    pub weights: Vec<f64>,
    /// The mean of the pause. Default: 2 s.
    pub pause: Duration,
    /// The least pause; the time beyond it is exponential, as a truncated exponential distribution is. Default: 0.5 s.
    pub pause_min: Duration,
    /// The latest start of the first file after the start of the flow; the time is uniformly distributed. Default: 2 s (own choice).
    pub first: Duration,
}

impl Default for Config {
    fn default() -> Self {
        // i ← 2 i + 1 from 3 on.
        let packets = (2..=10).map(|n| (1u64 << n) - 1);
        Self {
            sizes: packets.map(|packets| Bytes::new(packets * 1450)).collect(),
            weights: (1..=9).rev().map(f64::from).collect(),
            pause: Duration::from_secs(2),
            pause_min: Duration::from_millis(500),
            first: Duration::from_secs(2),
        }
    }
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, mut stream: Stream) -> Box<dyn Source> {
        let begins = start + Duration::from_secs_f64(stream.uniform(0.0, self.first.as_secs_f64()));
        Box::new(Files {
            config: self.clone(),
            stream,
            wake: Some(begins),
            pause: Duration::ZERO,
            sent: 0,
            received: 0,
            lost: Vec::new(),
            asks: VecDeque::new(),
            transfers: Vec::new(),
            keep: true,
            opened: false,
        })
    }

    fn suits_datagrams(&self) -> bool {
        false
    }

    fn repeats(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        if self.sizes.is_empty() {
            return Err(Fault::new("sizes", "files without a size", "expected at least one"));
        }
        if let Some(size) = self.sizes.iter().find(|size| size.get() == 0) {
            return Err(Fault::new("sizes", format!("a file of {size}"), "expected 1 B or more"));
        }
        if self.weights.len() != self.sizes.len() {
            let message = format!("{} weights for {} sizes", self.weights.len(), self.sizes.len());
            return Err(Fault::new("weights", message, "expected one for each size"));
        }
        let usable = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if !self.weights.iter().all(usable) || !self.weights.iter().sum::<f64>().is_normal() {
            let expected = "expected 0 or more, and not all 0";
            return Err(Fault::new("weights", "weights by which no size can be drawn", expected));
        }
        if self.pause_min > self.pause {
            let message = format!("a mean pause of {} of at least {}", self.pause, self.pause_min);
            return Err(Fault::new("pause_min", message, "expected less than the mean"));
        }
        Ok(())
    }
}

/// The source.
#[derive(Debug)]
struct Files {
    config: Config,
    stream: Stream,
    /// When the next file begins.
    wake: Option<Instant>,
    /// The pause after the present one.
    pause: Duration,
    /// Bytes of the present file that were sent, and up to which they were received.
    sent: u64,
    received: u64,
    /// Where packets of it that were lost for good begin and end, in the order in which they were sent.
    lost: Vec<(u64, u64)>,
    asks: VecDeque<Notice>,
    transfers: Vec<Transfer>,
    /// Whether transfers that have ended are kept.
    keep: bool,
    opened: bool,
}

impl Files {
    /// Draws a size, with one number from the stream.
    fn draw_size(&mut self) -> u64 {
        let Config { sizes, weights, .. } = &self.config;
        let mut left = self.stream.unit() * weights.iter().sum::<f64>();
        let place = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // Sums may leave a rest of the last digit.
        let last = || weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
        sizes[place.unwrap_or_else(last)].get()
    }

    /// Draws a pause, in the same way.
    fn draw_pause(&mut self) -> Duration {
        let beyond = (self.config.pause - self.config.pause_min).as_secs_f64();
        self.config.pause_min + Duration::from_secs_f64(self.stream.exponential(beyond))
    }

    /// Opens a connection for the next file.
    fn begin(&mut self, now: Instant) {
        // The n-th file and pause of a seed are the same whatever carries them.
        let bytes = self.draw_size();
        self.pause = self.draw_pause();
        (self.sent, self.received) = (0, 0);
        self.lost.clear();
        if !self.keep {
            self.transfers.clear();
        }
        self.transfers.push(Transfer::begun(now, bytes));
        if std::mem::replace(&mut self.opened, true) {
            self.asks.push_back(Notice::Reset);
        }
        self.asks.extend([Notice::Open, Notice::Write(bytes), Notice::Close]);
    }

    /// Ends the present file if nothing of it is to come any more.
    fn end_if_all_came(&mut self, now: Instant) {
        let Some(transfer) = self.transfers.last_mut() else { return };
        if self.sent < transfer.bytes || transfer.received.is_some() {
            return;
        }
        // Data lost at its end will not come.
        let coming = |end, &(begin, until): &(u64, u64)| if until == end { begin } else { end };
        if self.received >= self.lost.iter().rev().fold(transfer.bytes, coming) {
            transfer.received = Some(now);
            self.wake = Some(now.max(transfer.start + LEAST) + self.pause);
            self.asks.push_back(Notice::Over);
        }
    }
}

impl Timed for Files {
    fn on_timeout(&mut self, now: Instant) {
        if self.wake.is_some_and(|at| at <= now) {
            self.wake = None;
            self.begin(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.wake
    }
}

impl Source for Files {
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        let Some(transfer) = self.transfers.last_mut() else { return };
        match notice {
            Notice::Sent(bytes) => {
                transfer.sent.get_or_insert(now);
                self.sent = bytes;
            }
            // A receiver that speaks of more than was sent speaks of an earlier connection.
            Notice::Received(bytes) if bytes <= self.sent => {
                self.received = self.received.max(bytes);
                self.end_if_all_came(now);
            }
            Notice::Lost { payload, end } if end <= self.sent => {
                self.lost.push((end - u64::from(payload), end));
                self.end_if_all_came(now);
            }
            Notice::Acked(bytes) if bytes >= transfer.bytes && bytes <= self.sent => {
                transfer.acked.get_or_insert(now);
            }
            _ => {}
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        self.asks.pop_front()
    }

    fn hears(&self) -> Hears {
        Hears { sent: true, acked: true, received: true, lost: true, rate: false }
    }

    fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    fn forget_transfers(&mut self) {
        self.keep = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::engine::choice::parsed;

    fn asked(source: &mut dyn Source, now: Instant) -> Vec<Notice> {
        std::iter::from_fn(|| source.poll(now)).collect()
    }

    #[test]
    fn sizes_and_pauses_are_those_of_the_paper() {
        // Mean size Σ w s / 45 = 129 114 B; largest share 9/45; pauses of at least 0.5 s with mean 2 s and standard deviation
        // 1.5 s.
        assert_eq!(
            Config::default().sizes.iter().map(|size| size.get()).collect::<Vec<_>>(),
            [4350, 10150, 21750, 44950, 91350, 184_150, 369_750, 740_950, 1_483_350]
        );
        let mut source = Config::default().build(Instant::ZERO, Streams::new(3).stream("flow", "source"));
        let n = 40_000;
        let (mut small, mut bytes, mut pauses, mut least) = (0, 0.0, 0.0, f64::INFINITY);
        for _ in 0..n {
            let now = source.next_timeout().unwrap();
            source.on_timeout(now);
            asked(&mut *source, now);
            let size = source.transfers().last().unwrap().bytes;
            small += u32::from(size == 4350);
            bytes += size as f64;
            source.on_notice(now, Notice::Sent(size));
            source.on_notice(now, Notice::Received(size));
            let pause = source.next_timeout().unwrap().since(now).as_secs_f64();
            pauses += pause;
            least = least.min(pause);
        }
        let n = f64::from(n);
        assert!((f64::from(small) / n - 0.2).abs() < 5.0 * (0.2f64 * 0.8 / n).sqrt(), "{small}");
        // The standard deviation of a size is 261 kB.
        assert!((bytes / n - 129_114.0).abs() < 5.0 * 261e3 / n.sqrt(), "{}", bytes / n);
        assert!((pauses / n - 2.0).abs() < 5.0 * 1.5 / n.sqrt(), "{}", pauses / n);
        assert!(least >= 0.5);
    }

    #[test]
    fn the_pause_begins_when_all_is_received_and_the_connection_is_forgotten() {
        let config = Config { sizes: vec![Bytes::new(3000)], weights: vec![1.0], ..Config::default() };
        let mut source = config.build(Instant::ZERO, Streams::new(1).stream("flow", "source"));
        let first = source.next_timeout().unwrap();
        assert!(first <= Instant::ZERO + Duration::from_secs(2));
        source.on_timeout(first);
        assert_eq!(asked(&mut *source, first), [Notice::Open, Notice::Write(3000), Notice::Close]);
        let at = |ms| first + Duration::from_millis(ms);
        for (ms, notice) in [
            (1, Notice::Sent(1450)),
            (2, Notice::Received(3000)), // of an earlier connection
            (3, Notice::Sent(3000)),
            (4, Notice::Received(2900)),
        ] {
            source.on_notice(at(ms), notice);
            assert_eq!(source.next_timeout(), None, "after {notice:?}");
        }
        source.on_notice(at(5), Notice::Received(3000));
        let next = source.next_timeout().unwrap();
        assert!(next >= at(505));
        assert_eq!(asked(&mut *source, at(5)), [Notice::Over]);
        source.on_notice(at(6), Notice::Acked(3000));
        source.on_notice(at(7), Notice::Received(3000)); // again
        assert_eq!(source.next_timeout(), Some(next));
        source.on_timeout(next);
        assert_eq!(asked(&mut *source, next), [Notice::Reset, Notice::Open, Notice::Write(3000), Notice::Close]);
        let expected =
            Transfer { sent: Some(at(1)), received: Some(at(5)), acked: Some(at(6)), ..Transfer::begun(first, 3000) };
        assert_eq!(source.transfers()[0], expected);
    }

    #[test]
    fn a_file_whose_last_packets_are_lost_ends_with_the_last_that_comes() {
        let config = Config { sizes: vec![Bytes::new(4000)], weights: vec![1.0], ..Config::default() };
        let lost = |end| Notice::Lost { payload: 1000, end };
        for (notices, ends) in [
            // In the order in which they are dropped, while the one before them waits.
            (vec![lost(1000), lost(3000), lost(4000), Notice::Received(2000)], true),
            (vec![Notice::Received(3000), lost(4000)], true),
            (vec![lost(1000), lost(2000), lost(3000), lost(4000)], true),
            (vec![lost(2000), lost(4000), Notice::Received(1000)], false),
            (vec![lost(3000), Notice::Received(4000)], true),
        ] {
            let mut source = config.build(Instant::ZERO, Streams::new(1).stream("flow", "source"));
            let now = source.next_timeout().unwrap();
            source.on_timeout(now);
            source.on_notice(now, Notice::Sent(4000));
            let (last, before) = notices.split_last().unwrap();
            for notice in before {
                source.on_notice(now, *notice);
                assert_eq!(source.next_timeout(), None, "after {notice:?} of {notices:?}");
            }
            source.on_notice(now, *last);
            assert_eq!(source.next_timeout().is_some(), ends, "{notices:?}");
        }
    }

    /// The link behind the sender is down, and there is no pause: a thousand files in a second, not an endless number at one instant.
    #[test]
    fn what_is_lost_at_once_does_not_stop_time() {
        let config = Config { pause: Duration::ZERO, pause_min: Duration::ZERO, ..Config::default() };
        let mut source = config.build(Instant::ZERO, Streams::new(1).stream("flow", "source"));
        let first = source.next_timeout().unwrap();
        for n in 0..1000 {
            let now = source.next_timeout().unwrap();
            assert_eq!(now, first + Duration::from_millis(n));
            source.on_timeout(now);
            let bytes = source.transfers().last().unwrap().bytes;
            source.on_notice(now, Notice::Sent(bytes));
            source.on_notice(now, Notice::Lost { payload: bytes as u32, end: bytes });
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, field) in [
            ("sizes = []", "sizes"),
            ("sizes = ['0 B']\nweights = [1.0]", "sizes"),
            ("weights = [1.0]", "weights"),
            ("sizes = ['1 B']\nweights = [0.0]", "weights"),
            ("pause = '100 ms'", "pause_min"),
        ] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
        let config: Config = parsed("sizes = ['1 B']").unwrap();
        let fault = Config { weights: vec![f64::NAN], ..config }.check().unwrap_err();
        assert_eq!(fault.field, "weights");
    }
}
