//! Speech: AMR at 12.2 kbit/s over RTP, in talk spurts and silences.
//!
//! The coder makes a frame every 20 ms, whatever is said. During a talk spurt each goes out in a
//! packet of its own. In silence there is discontinuous transmission (3GPP TS 26.093): the first
//! frame is a silence descriptor, and so are the third after it and every eighth from then on;
//! the others are not sent. The hangover, during which the coder still sends speech, is part of
//! the talk spurt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant, Stream};
use lasthop_net::net::{Notice, Source, Timed};

use super::{RTP_HEADER, SourceConfig};

/// Speech of the AMR coder at 12.2 kbit/s: over UDP one RTP packet for each frame that is sent.
/// The first talk spurt begins at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The mean length of a talk spurt; lengths are exponential. Default: 1.026 s. (ITU-T P.59:
    /// 1.004 s.)
    pub talk: Duration,
    /// The mean length of the silence between two talk spurts; lengths are exponential. Default:
    /// 1.171 s. (ITU-T P.59: 1.587 s.)
    pub silence: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { talk: Duration::from_millis(1026), silence: Duration::from_millis(1171) }
    }
}

/// The coder's frame: 160 samples at 8 kHz (3GPP TS 26.071).
const FRAME: Duration = Duration::from_millis(20);

/// Speech bits of a frame at 12.2 kbit/s (3GPP TS 26.101, Table 2).
const SPEECH_BITS: u64 = 244;

/// Bits of a silence descriptor (3GPP TS 26.101, Table 2: 35 of comfort noise, 4 of type and mode).
const SID_BITS: u64 = 39;

/// RFC 4867 §4.3, the bandwidth-efficient payload: 4 bits of mode request and 6 bits of table of
/// contents before the frame.
const PAYLOAD_HEADER_BITS: u64 = 4 + 6;

/// Bytes of an RTP packet with a frame of `bits` bits.
const fn packet(bits: u64) -> u64 {
    RTP_HEADER + (PAYLOAD_HEADER_BITS + bits).div_ceil(8)
}

/// Whether the coder sends a SID frame in place of frame number `frame` of a silence.
fn is_sid(frame: u64) -> bool {
    // 3GPP TS 26.093 §5.1: SID_FIRST, SID_UPDATE in the third frame after it, then in every eighth.
    frame == 0 || frame % 8 == 3
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source> {
        let mut voice = Voice {
            config: self.clone(),
            stream,
            start,
            talking: true,
            ends: start,
            frame: 0,
            silent: 0,
            write: packet(SPEECH_BITS),
            due: None,
            woken: false,
            opened: false,
        };
        voice.ends = start + voice.draw();
        Box::new(voice)
    }

    fn suits_datagrams(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        if self.talk < FRAME {
            let message = format!("talk spurts of {} are shorter than a frame", self.talk);
            return Err(Fault::new("talk", message, format!("expected at least {FRAME}")));
        }
        Ok(())
    }
}

/// The source.
#[derive(Debug)]
pub struct Voice {
    config: Config,
    stream: Stream,
    start: Instant,
    /// Whether a talk spurt is on, and until when that lasts.
    talking: bool,
    ends: Instant,
    /// The next frame that is sent, and its bytes.
    frame: u64,
    write: u64,
    /// Frames of the present silence before it.
    silent: u64,
    /// The frame to be written now.
    due: Option<u64>,
    woken: bool,
    opened: bool,
}

impl Voice {
    /// The length of a talk spurt or a silence.
    fn draw(&mut self) -> Duration {
        let mean = if self.talking { self.config.talk } else { self.config.silence };
        Duration::from_secs_f64(self.stream.exponential(mean.as_secs_f64()))
    }

    /// When frame `n` is ready; computed from `n`, so that rounding never adds up.
    fn time_of(&self, n: u64) -> Instant {
        self.start + FRAME * n
    }

    /// Finds the next frame that is sent.
    fn plan(&mut self) {
        loop {
            self.frame += 1;
            let at = self.time_of(self.frame);
            if at >= Instant::MAX {
                return;
            }
            while at >= self.ends {
                self.talking = !self.talking;
                let length = self.draw();
                self.ends += length;
            }
            if self.talking {
                self.silent = 0;
                self.write = packet(SPEECH_BITS);
                return;
            }
            self.silent += 1;
            if is_sid(self.silent - 1) {
                self.write = packet(SID_BITS);
                return;
            }
        }
    }
}

impl Timed for Voice {
    fn on_timeout(&mut self, now: Instant) {
        self.woken = true;
        if self.time_of(self.frame) <= now && now < Instant::MAX {
            self.due = Some(self.write);
            self.plan();
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        // The first call comes at the flow's start without being asked for.
        self.woken.then(|| self.time_of(self.frame))
    }
}

impl Source for Voice {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        self.due?;
        if !std::mem::replace(&mut self.opened, true) {
            return Some(Notice::Open);
        }
        self.due.take().map(Notice::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::write_times;

    fn writes(config: &Config, seconds: u64) -> Vec<(Instant, u64)> {
        write_times(config, Instant::ZERO, Instant::from_nanos(seconds * 1_000_000_000))
    }

    #[test]
    fn packets_have_the_sizes_of_rfc_4867() {
        // 254 and 49 bits in whole octets, after the 12 of RTP.
        assert_eq!((packet(SPEECH_BITS), packet(SID_BITS)), (44, 19));
    }

    #[test]
    fn without_silence_a_packet_comes_every_20_ms() {
        let writes = writes(&Config { silence: Duration::ZERO, ..Config::default() }, 100);
        assert_eq!(writes.len(), 5_000);
        for (n, &(at, bytes)) in (0u64..).zip(&writes) {
            assert_eq!((at, bytes), (Instant::from_nanos(n * 20_000_000), 44));
        }
    }

    #[test]
    fn silences_are_described_as_ts_26_093_says() {
        let mut last = None;
        let mut silence = 0;
        let mut seen = 0;
        for (at, bytes) in writes(&Config::default(), 1_000) {
            let frame = at.as_nanos() / 20_000_000;
            assert_eq!(at.as_nanos() % 20_000_000, 0, "frames come every 20 ms");
            let gap = frame - last.replace(frame).unwrap_or(0);
            if bytes == 44 {
                // Speech ends a silence at any frame.
                assert!(gap <= 8, "speech {gap} frames after the packet before");
                silence = 0;
                continue;
            }
            silence += 1;
            assert_eq!(gap, [1, 3, 8][2.min(silence - 1)], "descriptor {silence} of its silence");
            seen = seen.max(silence);
        }
        assert!(seen > 10, "the longest silence has {seen} descriptors");
    }

    #[test]
    fn activity_and_rate_are_those_of_the_closed_form() {
        let (config, seconds) = (Config::default(), 200_000);
        let writes = writes(&config, seconds);
        let speech = writes.iter().filter(|(_, bytes)| *bytes == 44).count() as f64;
        let sid = writes.len() as f64 - speech;
        let frames = seconds as f64 * 50.0;
        let (talk, silence) = (1.026, 1.171);
        let cycle = talk + silence;
        // The share of time that an alternating renewal process of exponential lengths is on has
        // the standard error √2 · talk · silence / cycle² · √(cycle / time).
        let error = 2f64.sqrt() * talk * silence / (cycle * cycle) * (cycle / seconds as f64).sqrt();
        let activity = talk / cycle;
        assert!((speech / frames - activity).abs() < 5.0 * error, "{}, expected {activity}", speech / frames);
        // What the coder sees every 20 ms is a Markov chain; r is the probability that the next
        // frame is silent too. A silence of the coder has descriptors in its frames 0, 3, 11, 19, …
        let step = 1.0 - libm::exp(-0.02 * (1.0 / talk + 1.0 / silence));
        let r: f64 = 1.0 - step * talk / cycle;
        let silences = frames * activity * step * silence / cycle;
        let expected = silences * (1.0 + libm::pow(r, 3.0) / (1.0 - libm::pow(r, 8.0)));
        // The lengths of a cycle and the descriptors in it both vary by less than their mean.
        assert!(
            (sid / expected - 1.0).abs() < 5.0 * 2f64.sqrt() / silences.sqrt(),
            "{sid} descriptors, expected {expected}"
        );
    }
}
