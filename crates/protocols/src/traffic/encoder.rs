//! A video encoder that follows a rate: the statistical model and the trace-driven model of RFC 8593, and the playout of received frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant, Stream};
use lasthop_net::net::{Hears, Notice, Probe, Source, Timed};

use super::SourceConfig;
use super::frame_trace::FrameTrace;
use super::playout::Playout;

/// An encoder that follows the rate of the congestion control, from the start of the flow to the end of the run (RFC 8593 §5). The first
/// frame comes at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Encoder")]
pub struct Config {
    /// Frames a second. Default: 30 (RFC 8593, Figure 2).
    pub fps: f64,
    /// The least rate of the encoder, R_min. Default: 150 kbit/s (RFC 8593, Figure 2).
    pub min_rate: BitRate,
    /// Its greatest, R_max. Default: 1.5 Mbit/s (RFC 8593, Figure 2).
    pub max_rate: BitRate,
    /// That at the start, until the transport says one. Default: `min_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_rate: Option<BitRate>,
    /// After a change of its rate it takes no other for this time, τ_v. Default: 200 ms (RFC 8593, Figure 2).
    pub reaction: Duration,
    /// Scale of the Laplacian deviation of a frame's size, in sizes, SCALE_B. 0: all have the size that the rate asks for. Default: 0.15 (RFC
    /// 8593, Figure 2).
    pub size_deviation: f64,
    /// Scale of the Laplacian deviation of the time between two frames, in such times, SCALE_t. Default: 0.15 (RFC 8593, Figure 2).
    pub interval_deviation: f64,
    /// The first frame after a rate that rises or falls by half or more is larger by this factor, K_B/B0; the seven frames after it are
    /// smaller, so that the eight (K_d) keep the rate. 1: no such burst. Default: 3.24 (RFC 8593, Figure 2: 13.5 kB of 4.17 kB).
    pub burst: f64,
    /// Sizes that an encoder produced at several bit rates, in the place of the statistical model (§6): on the first line bit rates in
    /// kbit/s, ascending, on each further line the sizes in bytes of one frame at these rates. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<FrameTrace>,
    /// Pauses, as `[from, until]` by the run's time: no frame is captured in them (RFC 8867 §5.8). Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<[Duration; 2]>,
    /// A frame is skipped if more of the media than this wait at the sender (§4, instant frame skipping). Default: 100 ms, as long as SCReAM lets
    /// packets wait.
    pub skip: Duration,
    /// How long after its capture a frame is shown; one that is not whole by then is late. Default: 400 ms, the one-way delay beyond which a
    /// conversation suffers (ITU-T G.114).
    pub playout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            fps: 30.0,
            min_rate: BitRate::from_kbps(150),
            max_rate: BitRate::from_kbps(1_500),
            start_rate: None,
            reaction: Duration::from_millis(200),
            size_deviation: 0.15,
            interval_deviation: 0.15,
            burst: 3.24,
            trace: None,
            pauses: Vec::new(),
            skip: Duration::from_millis(100),
            playout: Duration::from_millis(400),
        }
    }
}

/// K_d: frames of a transient (RFC 8593, Figure 2).
const TRANSIENT: u32 = 8;

/// The change of rate that an encoder shows a transient for. RFC 8593 §5.2 speaks of abrupt changes; half is a choice.
const ABRUPT: f64 = 0.5;

/// fs_min: the smallest frame, bytes (RFC 8593 §6.2.1).
const SMALLEST: f64 = 10.0;

/// Fastest frames, a second.
const MOST_FPS: f64 = 1_000.0;

impl SourceConfig for Config {
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source> {
        let start_rate = self.start_rate.unwrap_or(self.min_rate).clamp(self.min_rate, self.max_rate);
        let rate = start_rate.as_bps() as f64;
        Box::new(Encoder {
            config: self.clone(),
            stream,
            next: start,
            frame: 0,
            rate,
            wanted: rate,
            reacts_at: start,
            transient: 0,
            due: None,
            sent: 0,
            woken: false,
            opened: false,
            playout: Playout::new(self.playout, Duration::from_secs_f64(1.0 / self.fps)),
        })
    }

    fn suits_datagrams(&self) -> bool {
        false
    }

    fn follows_rate(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        let wrong = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if !(self.fps > 0.01 && self.fps <= MOST_FPS) {
            return wrong("fps", format!("{} frames a second", self.fps), "expected a number from 0.01 to 1000");
        }
        if self.min_rate.as_bps() == 0 || self.min_rate > self.max_rate {
            let message = format!("rates from {} to {}", self.min_rate, self.max_rate);
            return wrong("min_rate", message, "expected more than zero, and no more than max_rate");
        }
        for (field, scale) in [("size_deviation", self.size_deviation), ("interval_deviation", self.interval_deviation)]
        {
            if !(0.0..1.0).contains(&scale) {
                return wrong(field, format!("a scale of {scale}"), "expected a share from 0 to 1");
            }
        }
        let bounds: Vec<Duration> = self.pauses.iter().flatten().copied().collect();
        if bounds.windows(2).any(|pair| pair[0] >= pair[1]) {
            return wrong("pauses", "pauses that overlap or end before they begin".to_owned(), "expected rising times");
        }
        if !(1.0..=f64::from(TRANSIENT)).contains(&self.burst) {
            return wrong("burst", format!("a first frame of {} sizes", self.burst), "expected 1 to 8");
        }
        Ok(())
    }
}

/// The source.
#[derive(Debug)]
pub struct Encoder {
    config: Config,
    stream: Stream,
    /// When the next frame comes, and its number.
    next: Instant,
    frame: u64,
    /// The rate that it encodes at, bit/s, and the one that the congestion control asks for.
    rate: f64,
    wanted: f64,
    /// Before this it takes no other rate.
    reacts_at: Instant,
    /// Frames of the transient that are to come.
    transient: u32,
    /// The frame that is to be written.
    due: Option<u64>,
    /// Bytes that have left the sender.
    sent: u64,
    woken: bool,
    opened: bool,
    playout: Playout,
}

impl Encoder {
    /// A Laplacian deviation of this scale, by inversion.
    fn deviation(&mut self, scale: f64) -> f64 {
        if scale == 0.0 {
            return 0.0;
        }
        let u = self.stream.inner_unit() - 0.5;
        -scale * u.signum() * libm::log(1.0 - 2.0 * u.abs())
    }

    /// When the pause ends that it is in, if it is in one.
    fn pause(&self, now: Instant) -> Option<Instant> {
        let here = self
            .config
            .pauses
            .iter()
            .find(|[from, until]| (Instant::ZERO + *from..Instant::ZERO + *until).contains(&now));
        here.map(|[_, until]| Instant::ZERO + *until)
    }

    /// §5.1: a new rate, unless one was taken a short while ago.
    fn react(&mut self, now: Instant) {
        if self.wanted == self.rate || now < self.reacts_at {
            return;
        }
        if (self.wanted / self.rate - 1.0).abs() >= ABRUPT {
            self.transient = TRANSIENT;
        }
        self.rate = self.wanted;
        self.reacts_at = now + self.config.reaction;
    }

    /// The size of the next frame, bytes.
    fn size(&mut self) -> u64 {
        if let Some(trace) = &self.config.trace {
            return libm::round(trace.size(self.frame, self.rate)) as u64;
        }
        let reference = self.rate / 8.0 / self.config.fps;
        let burst = self.config.burst;
        // §5.2: over the transient the mean is that of the rate.
        let factor = match self.transient {
            0 => 1.0,
            TRANSIENT => burst,
            _ => (f64::from(TRANSIENT) - burst) / f64::from(TRANSIENT - 1),
        };
        self.transient = self.transient.saturating_sub(1);
        let deviation = self.deviation(self.config.size_deviation);
        libm::round((reference * factor * (1.0 + deviation)).max(SMALLEST)) as u64
    }
}

impl Timed for Encoder {
    fn on_timeout(&mut self, now: Instant) {
        self.woken = true;
        if self.next > now || now == Instant::MAX {
            return;
        }
        if let Some(end) = self.pause(now) {
            self.playout.on_pause();
            self.next = end;
            return;
        }
        self.react(now);
        let waiting = self.playout.written().saturating_sub(self.sent) as f64;
        let size = self.size();
        if waiting * 8.0 > self.rate * self.config.skip.as_secs_f64() {
            self.playout.on_skip();
        } else {
            self.due = Some(size);
        }
        self.frame += 1;
        let scale = if self.config.trace.is_none() { self.config.interval_deviation } else { 0.0 };
        let interval = (1.0 + self.deviation(scale)).max(SHORTEST) / self.config.fps;
        self.next = now + Duration::from_secs_f64(interval);
    }

    fn next_timeout(&self) -> Option<Instant> {
        // The first call comes at the flow's start without being asked for.
        self.woken.then_some(self.next)
    }
}

/// The least time between two frames, in usual ones.
const SHORTEST: f64 = 0.05;

impl Source for Encoder {
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Rate(rate) => {
                self.wanted = rate.clamp(self.config.min_rate, self.config.max_rate).as_bps() as f64;
            }
            Notice::Sent(sent) => self.sent = sent,
            Notice::Received(end) => self.playout.on_received(now, end),
            Notice::Lost { payload, end } => self.playout.on_lost(payload, end),
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Notice> {
        self.due?;
        if !std::mem::replace(&mut self.opened, true) {
            return Some(Notice::Open);
        }
        let bytes = self.due.take()?;
        self.playout.on_write(now, bytes);
        Some(Notice::Write(bytes))
    }

    fn hears(&self) -> Hears {
        Hears { sent: true, received: true, lost: true, rate: true, ..Hears::default() }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("encoder_kbps", self.rate / 1e3);
        self.playout.sample(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::engine::choice::parsed;

    /// Runs an encoder that is asked for a rate at some instants (s, bit/s); gives when it writes how much.
    fn frames(text: &str, rates: &[(f64, u64)], seconds: f64) -> Vec<(f64, f64)> {
        let config: Config = parsed(text).unwrap();
        config.check().unwrap();
        let mut source = config.build(Instant::ZERO, Streams::new(3).stream("flow", "source"));
        let (mut wake, mut written, mut rates) = (Some(Instant::ZERO), Vec::new(), rates.iter().peekable());
        let mut sent = 0;
        while let Some(now) = wake.filter(|at| at.as_secs_f64() < seconds) {
            while let Some((_, rate)) = rates.next_if(|(at, _)| *at <= now.as_secs_f64()) {
                source.on_notice(now, Notice::Rate(BitRate::from_bps(*rate)));
            }
            source.on_timeout(now);
            while let Some(notice) = source.poll(now) {
                if let Notice::Write(bytes) = notice {
                    sent += bytes;
                    source.on_notice(now, Notice::Sent(sent));
                    written.push((now.as_secs_f64(), bytes as f64));
                }
            }
            wake = source.next_timeout();
        }
        written
    }

    /// RFC 8593 §5.3: sizes and intervals deviate by a Laplacian, whose mean absolute value is its scale.
    #[test]
    fn sizes_and_intervals_are_laplacian_around_the_rate() {
        let written = frames("start_rate = '1 Mbit/s'", &[], 2_000.0);
        let n = written.len() as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let reference = 1e6 / 8.0 / 30.0;
        let sizes: Vec<f64> = written.iter().map(|(_, bytes)| bytes / reference - 1.0).collect();
        let gaps: Vec<f64> = written.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 30.0 - 1.0).collect();
        for (what, deviations) in [("sizes", sizes), ("intervals", gaps)] {
            // Five standard errors: the variance of a Laplacian is 2 b², that of its absolute value b².
            let error = 5.0 * 0.15 * (2.0 / n).sqrt();
            assert!(mean(&deviations).abs() < error, "{what}: mean {}", mean(&deviations));
            let absolute: Vec<f64> = deviations.iter().map(|d| d.abs()).collect();
            // Below -1 there is no size and no interval: e^(-1/0.15)/2 = 0.06 % of the values.
            assert!((mean(&absolute) - 0.15).abs() < error + 1e-3, "{what}: scale {}", mean(&absolute));
        }
    }

    /// §5.1: within τ_v after a reaction further requests are ignored.
    #[test]
    fn it_reacts_at_once_and_then_waits() {
        let plain = "fps = 10\nsize_deviation = 0\ninterval_deviation = 0\nburst = 1\nreaction = '250 ms'\nmax_rate = '2 Mbit/s'";
        let written = frames(plain, &[(0.15, 400_000), (0.25, 800_000)], 0.65);
        let kbps: Vec<f64> = written.iter().map(|(_, bytes)| bytes * 8.0 * 10.0 / 1e3).collect();
        // 400 kbit/s from the frame at 0.2 s; the request of 0.25 s is taken by the first frame at or after 0.45 s.
        assert_eq!(kbps, [150.0, 150.0, 400.0, 400.0, 400.0, 800.0, 800.0]);
    }

    #[test]
    fn nothing_is_captured_in_a_pause() {
        let plain =
            "fps = 10\nsize_deviation = 0\ninterval_deviation = 0\npauses = [['0.25 s', '0.52 s'], ['0.6 s', '0.7 s']]";
        let at: Vec<f64> = frames(plain, &[], 0.95).iter().map(|(at, _)| libm::round(at * 100.0)).collect();
        assert_eq!(at, [0.0, 10.0, 20.0, 52.0, 70.0, 80.0, 90.0]);
        for wrong in ["[['2 s', '1 s']]", "[['1 s', '3 s'], ['2 s', '4 s']]"] {
            let config: Config = parsed(&format!("pauses = {wrong}")).unwrap();
            assert_eq!(config.check().unwrap_err().field, "pauses");
        }
    }

    /// §5.2: a burst, and smaller frames that make up for it.
    #[test]
    fn a_transient_keeps_the_rate() {
        let plain = "fps = 10\nsize_deviation = 0\ninterval_deviation = 0\nmin_rate = '80 kbit/s'";
        let written = frames(plain, &[(0.05, 800_000)], 1.0);
        let sizes: Vec<f64> = written.iter().map(|(_, bytes)| *bytes).collect();
        assert_eq!(sizes[..3], [1_000.0, 32_400.0, 6_800.0]);
        assert_eq!(sizes[1..9].iter().sum::<f64>(), 80_000.0);
        assert_eq!(sizes[9], 10_000.0);
    }

    /// §4: frames are skipped while more than 100 ms of the media wait at the sender.
    #[test]
    fn frames_are_skipped_while_the_sender_holds_many() {
        let config: Config =
            parsed("fps = 10\nstart_rate = '800 kbit/s'\nsize_deviation = 0\ninterval_deviation = 0").unwrap();
        let mut source = config.build(Instant::ZERO, Streams::new(3).stream("flow", "source"));
        let mut step = |n: u64, sent: u64| {
            let now = Instant::from_nanos(n * 100_000_000);
            source.on_notice(now, Notice::Sent(sent));
            source.on_timeout(now);
            std::iter::from_fn(|| source.poll(now)).any(|notice| matches!(notice, Notice::Write(_)))
        };
        // Frames of 10,000 bytes, 100 ms each: with more than one of them waiting the next is skipped.
        let got =
            [(0, 0), (1, 0), (2, 0), (3, 9_999), (4, 10_000), (5, 10_000), (6, 30_000)].map(|(n, sent)| step(n, sent));
        assert_eq!(got, [true, true, false, false, true, false, true]);
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, field) in [
            ("fps = 0", "fps"),
            ("min_rate = '2 Mbit/s'", "min_rate"),
            ("size_deviation = 1.5", "size_deviation"),
            ("interval_deviation = -0.1", "interval_deviation"),
            ("burst = 9", "burst"),
        ] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
    }
}
