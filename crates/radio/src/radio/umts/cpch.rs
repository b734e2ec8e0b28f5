//! The common packet channel (CPCH): a terminal on the common channels gets an uplink channel for some frames.
//!
//! Access as in 3GPP TS 25.214 §6.2 (until Release 4), with the timing of TS 25.211 §7.4 for T_cpch = 0. Each
//! channel is chosen by the terminal (UE channel selection):
//!
//! 1. The terminal waits for an access slot. The status channel (CSICH) says which channels are idle; of these
//!    it takes one at random. If none is, it backs off. If a message on RACH is not over yet, it tries again when that is.
//! 2. It sends the access preamble of that channel. Terminals that send it in the same slot are not distinguished, and all
//!    are acknowledged.
//! 3. Three access slots later it sends a collision detection preamble, one of 16 at random. The Node B
//!    answers one of those that it got. A terminal that hears another's backs off.
//! 4. Three access slots after that preamble the power control preamble begins, 8 slots of a frame; then the
//!    message, of at most `max_frames` frames. It begins with the next interval of the channel.
//! 5. Terminals with the same collision detection preamble send on the same channel: then nothing of these
//!    messages is received.
//!
//! Not modelled: the power of preambles, so the first is heard; persistence; the channel's end by an emergency
//! stop. During access and message the terminal does not use RACH; while it waits or backs off it does, but begins no message there while
//! it waits for the end of the former one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::attachment::Waiting;
use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Instant, Stream};
use lasthop_net::net::Probe;

use super::channel::Rate;
use super::slots;

/// The common packet channels of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Cpch")]
pub struct Config {
    /// How many there are. Default: 1, at most 16, since each has an access preamble of its own.
    pub channels: u32,
    /// The rate of each, in bits per second of RLC's PDUs. Default: 64 kbit/s.
    pub rate: BitRate,
    /// The transmission time interval. Default: 10 ms.
    pub tti: Duration,
    /// A terminal asks for one if more than this waits in its RLC and is not yet in PDUs. Default:
    /// 500 B.
    pub threshold: Bytes,
    /// The most frames of 10 ms of a message (N_Max_frames, TS 25.331 §10.3.6.22). Default: 64, the
    /// most there.
    pub max_frames: u32,
    /// Maximum random backoff, in frames of 10 ms, of a terminal that finds no channel or loses one to another. Default: 16.
    pub backoff: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            channels: 1,
            rate: BitRate::from_bps(64_000),
            tti: FRAME,
            threshold: Bytes::new(500),
            max_frames: 64,
            backoff: 16,
        }
    }
}

impl Config {
    /// The rate and interval of each channel.
    pub fn channel(&self) -> Rate {
        Rate { rate: self.rate, tti: self.tti }
    }

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if !(1..=PREAMBLES).contains(&self.channels) {
            return fault("channels", format!("{} common packet channels", self.channels), "expected 1 to 16");
        }
        if u64::from(self.max_frames) * FRAME.as_nanos() < self.tti.as_nanos() || self.max_frames > MOST_FRAMES {
            let message = format!("a message of at most {} frames", self.max_frames);
            return fault("max_frames", message, "expected at least an interval, and at most 64");
        }
        if !(1..=MOST_BACKOFF).contains(&self.backoff) {
            return fault("backoff", format!("a back-off of {} frames", self.backoff), "expected 1 to 127");
        }
        Ok(())
    }
}

/// A radio frame.
const FRAME: Duration = Duration::from_millis(10);
/// Signatures of preambles (TS 25.213 §4.3.4.3).
const PREAMBLES: u32 = 16;
/// The most frames of a message (TS 25.331 §10.3.6.22).
const MOST_FRAMES: u32 = 64;
/// The most frames of a back-off (TS 25.331 §10.3.6.23).
const MOST_BACKOFF: u32 = 127;
/// From the access preamble to that of collision detection: three access slots (TS 25.211 §7.4).
const TO_DETECTION: Duration = slots::lasting(3);
/// From there to the Node B's answer: 7680 chips (the same).
const TO_ANSWER: Duration = Duration::from_millis(2);
/// From the access preamble to the message: three access slots, three more, and the power control preamble of
/// 8 slots of 2/3 ms, which are four access slots (TS 25.211 §5.2.2.2.4).
const TO_MESSAGE: Duration = slots::lasting(3 + 3 + 4);

/// What a terminal sends up over, as far as this is decided here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uplink {
    /// The random access channel.
    Rach,
    /// Nothing: it seeks access.
    Nothing,
    /// A common packet channel.
    Cpch,
}

/// The use of a cell's common packet channels by terminals.
pub struct Cpch {
    config: Config,
    stream: Stream,
    channels: Vec<Channel>,
    users: Vec<User>,
    /// When something is due at which terminal; entries may be old.
    timers: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Whose uplink has changed.
    changed: Vec<u32>,
    counts: Counts,
    /// Those whose access preambles come in one slot, with their channels; empty between events.
    contenders: Vec<(usize, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    /// How many send on it, or have won it.
    holders: u32,
    /// When the last message ends.
    until: Instant,
}

impl Channel {
    fn is_idle(&self, now: Instant) -> bool {
        self.holders == 0 && self.until <= now
    }
}

#[derive(Clone, Debug)]
struct User {
    stage: Stage,
    /// Whether nothing of its last message was, or is, received.
    collided: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Rests,
    /// It sends an access preamble then.
    Waits(Instant),
    /// The same, when it has sent what it handed down for RACH.
    Ends(Instant),
    /// It knows then that another got the channel.
    Loses(Instant),
    /// Its message may begin then; whether another sends one, too.
    Wins(Instant, usize, bool),
    /// It has sent this number of intervals.
    Sends(usize, u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    accesses: u64,
    busy: u64,
    lost: u64,
    collided: u64,
}

impl Cpch {
    /// For `terminals` terminals.
    pub fn new(config: Config, terminals: u32, stream: Stream) -> Self {
        Self {
            channels: vec![Channel::default(); config.channels as usize],
            config,
            stream,
            users: vec![User { stage: Stage::Rests, collided: false }; terminals as usize],
            timers: BinaryHeap::new(),
            changed: Vec::new(),
            counts: Counts::default(),
            contenders: Vec::new(),
        }
    }

    /// Whether this backlog of a terminal on the common channels is more than RACH should carry.
    pub fn is_much(&self, waits: u64) -> bool {
        waits > self.config.threshold.get()
    }

    /// A terminal wants a channel. Asked again it changes nothing.
    pub fn ask(&mut self, now: Instant, terminal: u32) {
        if self.users[terminal as usize].stage == Stage::Rests {
            self.wait(terminal, now);
        }
    }

    /// A terminal leaves the common channels, or the cell. What it has handed down is sent by `end`.
    pub fn leave(&mut self, terminal: u32, end: Instant) {
        match self.users[terminal as usize].stage {
            Stage::Wins(_, channel, _) | Stage::Sends(channel, _) => self.release(terminal, channel, end),
            _ => self.users[terminal as usize].stage = Stage::Rests,
        }
    }

    /// What a terminal on the common channels sends up over.
    pub fn uplink(&self, terminal: u32) -> Uplink {
        match self.users[terminal as usize].stage {
            Stage::Rests | Stage::Waits(_) => Uplink::Rach,
            Stage::Ends(_) | Stage::Loses(_) | Stage::Wins(..) => Uplink::Nothing,
            Stage::Sends(..) => Uplink::Cpch,
        }
    }

    /// A terminal that sends has handed down an interval's PDUs, which is over at `end`; `more`: it has more to
    /// send. Whether that was the last interval of its message.
    pub fn on_interval(&mut self, terminal: u32, end: Instant, more: bool) -> bool {
        let Stage::Sends(channel, sent) = self.users[terminal as usize].stage else { return false };
        let most = (u64::from(self.config.max_frames) * FRAME.as_nanos() / self.config.tti.as_nanos()) as u32;
        if more && sent + 1 < most {
            self.users[terminal as usize].stage = Stage::Sends(channel, sent + 1);
            return false;
        }
        self.release(terminal, channel, end);
        true
    }

    /// Whether the message that a terminal sends, or sent last, collides with another.
    pub fn collides(&self, terminal: u32) -> bool {
        self.users[terminal as usize].collided
    }

    /// When it wants to be woken next.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.timers.peek().map(|Reverse((at, _))| *at)
    }

    /// The instant that it named has come. `rach_ends`: when a terminal has sent what it handed down for RACH; not after `now` if it has.
    pub fn on_timeout(&mut self, now: Instant, waiting: &dyn Waiting, rach_ends: &dyn Fn(u32) -> Instant) {
        while let Some(&Reverse((at, terminal))) = self.timers.peek()
            && at <= now
        {
            self.timers.pop();
            match self.users[terminal as usize].stage {
                Stage::Waits(due) | Stage::Ends(due) if due == at => {
                    self.choose(now, terminal, waiting, rach_ends(terminal));
                }
                Stage::Loses(due) if due == at => self.back_off(now, terminal),
                Stage::Wins(due, channel, collided) if due == at => {
                    self.users[terminal as usize] = User { stage: Stage::Sends(channel, 0), collided };
                    self.changed.push(terminal);
                }
                _ => {} // an old entry
            }
        }
        self.contend(now);
    }

    /// A terminal whose uplink has changed; asked until there is no more.
    pub fn poll(&mut self) -> Option<u32> {
        self.changed.pop()
    }

    /// How often channels were sought, and with which results.
    pub fn sample(&self, probe: &mut dyn Probe) {
        probe.value("cpch_accesses", self.counts.accesses as f64);
        probe.value("cpch_busy", self.counts.busy as f64);
        probe.value("cpch_lost", self.counts.lost as f64);
        probe.value("cpch_collisions", self.counts.collided as f64);
    }

    fn set_timer(&mut self, terminal: u32, at: Instant) {
        self.timers.push(Reverse((at, terminal)));
    }

    fn wait(&mut self, terminal: u32, from: Instant) {
        let at = slots::start(slots::first_at(from));
        self.users[terminal as usize].stage = Stage::Waits(at);
        self.set_timer(terminal, at);
    }

    /// It asks again after 1 to `backoff` frames.
    fn back_off(&mut self, now: Instant, terminal: u32) {
        let frames = 1 + self.below(self.config.backoff);
        if self.uplink(terminal) != Uplink::Rach {
            self.changed.push(terminal);
        }
        self.wait(terminal, now + Duration::from_nanos(u64::from(frames) * FRAME.as_nanos()));
    }

    /// An access slot begins: the terminal chooses an idle channel, and sends its access preamble. If RACH has
    /// carried what waited, it does not; if RACH still carries something, it waits for the end.
    fn choose(&mut self, now: Instant, terminal: u32, waiting: &dyn Waiting, rach_ends: Instant) {
        if !self.is_much(waiting.unsent(terminal, Direction::Up).sdus) {
            if self.uplink(terminal) != Uplink::Rach {
                self.changed.push(terminal);
            }
            self.users[terminal as usize].stage = Stage::Rests;
            return;
        }
        let idle = self.channels.iter().filter(|channel| channel.is_idle(now)).count() as u32;
        if idle == 0 {
            self.counts.busy += 1;
            return self.back_off(now, terminal);
        }
        if rach_ends > now {
            let at = slots::start(slots::first_at(rach_ends));
            self.users[terminal as usize].stage = Stage::Ends(at);
            self.set_timer(terminal, at);
            return self.changed.push(terminal);
        }
        let choice = self.below(idle) as usize;
        let numbers = (0..).zip(&self.channels).filter(|(_, channel)| channel.is_idle(now));
        let channel = numbers.map(|(number, _)| number).nth(choice).unwrap_or(0);
        self.counts.accesses += 1;
        self.contenders.push((channel, terminal));
    }

    /// For each channel of which access preambles have come: decides the winner.
    fn contend(&mut self, now: Instant) {
        let mut contenders = std::mem::take(&mut self.contenders);
        contenders.sort_unstable();
        for rivals in contenders.chunk_by(|a, b| a.0 == b.0) {
            let preambles: Vec<u32> = rivals.iter().map(|_| self.below(PREAMBLES)).collect();
            let answered = preambles[self.below(rivals.len() as u32) as usize];
            let winners = preambles.iter().filter(|preamble| **preamble == answered).count();
            for (&(channel, terminal), preamble) in rivals.iter().zip(&preambles) {
                let user = &mut self.users[terminal as usize];
                let at = if *preamble == answered {
                    user.stage = Stage::Wins(now + TO_MESSAGE, channel, winners > 1);
                    self.channels[channel].holders += 1;
                    self.counts.collided += u64::from(winners > 1);
                    now + TO_MESSAGE
                } else {
                    user.stage = Stage::Loses(now + TO_DETECTION + TO_ANSWER);
                    self.counts.lost += 1;
                    now + TO_DETECTION + TO_ANSWER
                };
                self.set_timer(terminal, at);
                self.changed.push(terminal);
            }
        }
        contenders.clear();
        self.contenders = contenders;
    }

    fn release(&mut self, terminal: u32, channel: usize, end: Instant) {
        self.users[terminal as usize].stage = Stage::Rests;
        self.channels[channel].holders -= 1;
        self.channels[channel].until = self.channels[channel].until.max(end);
    }

    /// A whole number from 0 to `n` − 1.
    fn below(&mut self, n: u32) -> u32 {
        (f64::from(n) * self.stream.unit()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::arq::Unsent;
    use lasthop_net::engine::Streams;

    /// This backlog everywhere.
    struct Waits(u64);

    impl Waiting for Waits {
        fn unsent(&self, _terminal: u32, _direction: Direction) -> Unsent {
            Unsent { sdus: self.0, unacknowledged: 0 }
        }
    }

    fn cpch(config: Config, terminals: u32, seed: u64) -> Cpch {
        Cpch::new(config, terminals, Streams::new(seed).stream("cell", "contention"))
    }

    /// Runs it until `until`, and says whose uplinks have changed.
    fn run(cpch: &mut Cpch, until: Instant) -> Vec<(Instant, u32, Uplink)> {
        let mut changed = Vec::new();
        while let Some(at) = cpch.next_timeout().filter(|at| *at <= until) {
            cpch.on_timeout(at, &Waits(1000), &|_| Instant::ZERO);
            while let Some(terminal) = cpch.poll() {
                changed.push((at, terminal, cpch.uplink(terminal)));
            }
        }
        changed
    }

    #[test]
    fn access_takes_three_slots_three_more_and_the_power_control_preamble() {
        let mut cpch = cpch(Config::default(), 1, 1);
        cpch.ask(Instant::from_nanos(1), 0);
        // The next slot begins at 4/3 ms, the message 10 slots later.
        let ns = Instant::from_nanos;
        let expected = [(ns(1_333_333), 0, Uplink::Nothing), (ns(1_333_333 + 13_333_333), 0, Uplink::Cpch)];
        assert_eq!(run(&mut cpch, ns(100_000_000)), expected);
    }

    #[test]
    fn who_hears_the_preamble_of_another_backs_off_for_whole_frames() {
        for seed in 0..50 {
            let mut cpch = cpch(Config { backoff: 3, ..Config::default() }, 2, seed);
            cpch.ask(Instant::ZERO, 0);
            cpch.ask(Instant::ZERO, 1);
            let changed = run(&mut cpch, Instant::from_nanos(6_000_000));
            let Some(&(at, loser, _)) = changed.iter().find(|(.., uplink)| *uplink == Uplink::Rach) else { continue };
            // Three slots and 7680 chips: 4 ms and 2 ms. Then 10, 20 or 30 ms, to the next slot.
            assert_eq!(at, Instant::from_nanos(6_000_000));
            let next = cpch.timers.iter().filter(|Reverse((_, n))| *n == loser).map(|Reverse((at, _))| *at).max();
            let frames = [10, 20, 30].map(|ms| slots::start(slots::first_at(at + Duration::from_millis(ms))));
            assert!(frames.contains(&next.unwrap()), "{next:?}");
        }
    }

    #[test]
    fn rivals_are_told_apart_unless_they_choose_one_of_16_preambles() {
        // Whichever terminal is answered, each of the others chose the same with probability 1/16.
        const RUNS: u32 = 4000;
        for rivals in [2, 3, 6] {
            let p = 1.0 - libm::pow(15.0 / 16.0, f64::from(rivals - 1));
            let collides = |seed: u32| {
                let mut cpch = cpch(Config::default(), rivals, u64::from(seed));
                (0..rivals).for_each(|n| cpch.ask(Instant::ZERO, n));
                cpch.on_timeout(Instant::ZERO, &Waits(1000), &|_| Instant::ZERO);
                assert!(cpch.channels[0].holders >= 1);
                cpch.channels[0].holders > 1
            };
            let collisions = f64::from((0..RUNS).map(|seed| u32::from(collides(seed))).sum::<u32>());
            let (mean, sigma) = (p * f64::from(RUNS), (f64::from(RUNS) * p * (1.0 - p)).sqrt());
            assert!((collisions - mean).abs() < 4.0 * sigma, "{rivals} rivals: {collisions} of {mean} ± {sigma}");
        }
    }

    #[test]
    fn who_finds_all_channels_taken_sends_no_preamble() {
        let mut cpch = cpch(Config { channels: 2, ..Config::default() }, 3, 5);
        for terminal in 0..3 {
            // One after the other, so that none meets another.
            let at = Instant::from_nanos(50_000_000 * u64::from(terminal));
            cpch.ask(at, terminal);
            cpch.on_timeout(slots::start(slots::first_at(at)), &Waits(1000), &|_| Instant::ZERO);
            run(&mut cpch, at + Duration::from_millis(20));
        }
        assert_eq!((cpch.uplink(0), cpch.uplink(1), cpch.uplink(2)), (Uplink::Cpch, Uplink::Cpch, Uplink::Rach));
        assert!((cpch.counts.accesses, cpch.counts.lost) == (2, 0) && cpch.counts.busy >= 1);
        // A message of one interval ends, and the waiting terminal comes to its turn.
        assert!(cpch.on_interval(0, Instant::from_nanos(150_000_000), false));
        let changed = run(&mut cpch, Instant::from_nanos(600_000_000));
        assert_eq!(changed.last().map(|(_, terminal, uplink)| (*terminal, *uplink)), Some((2, Uplink::Cpch)));
    }

    #[test]
    fn who_has_sent_all_meanwhile_asks_no_more() {
        let mut cpch = cpch(Config::default(), 1, 1);
        cpch.ask(Instant::ZERO, 0);
        cpch.on_timeout(Instant::ZERO, &Waits(500), &|_| Instant::ZERO);
        assert_eq!((cpch.uplink(0), cpch.next_timeout(), cpch.counts.accesses), (Uplink::Rach, None, 0));
    }

    #[test]
    fn access_begins_when_the_last_message_on_rach_has_ended() {
        let mut cpch = cpch(Config::default(), 1, 1);
        cpch.ask(Instant::ZERO, 0);
        let ns = Instant::from_nanos;
        cpch.on_timeout(Instant::ZERO, &Waits(1000), &|_| ns(30_000_001));
        // Nothing new goes to RACH meanwhile; the next access slot begins at 30 2/3 ms.
        assert_eq!((cpch.uplink(0), cpch.counts.accesses), (Uplink::Nothing, 0));
        assert_eq!(cpch.next_timeout(), Some(ns(30_666_666)));
        let changed = run(&mut cpch, ns(100_000_000));
        assert_eq!(changed.last(), Some(&(ns(30_666_666 + 13_333_333), 0, Uplink::Cpch)));
        assert_eq!(cpch.counts.accesses, 1);
    }
}
