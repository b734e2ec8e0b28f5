//! The sending application of the harness: an encoder that hits its target, a queue of packets, and the implementation's rules for when they
//! leave.

use std::collections::VecDeque;

use lasthop_core::transport::media::control::scream::{NewFrame, PER_SECOND, Parameters, SILENCE, Scream, Ticks};

use super::receiver::Part;

/// RTP's header, and the payload that makes a packet of 1200 bytes with it (index: MSS 1200).
const HEADER: u32 = 12;
const PAYLOAD: u32 = 1_188;
/// Packets are discarded after 1 s, as in the implementation's simulator (scream_simulator.cpp), and not again within 0.25 s
/// (kMinRtpQueueDiscardInterval).
const DISCARDS_AFTER: Ticks = PER_SECOND;
const DISCARD_INTERVAL: Ticks = PER_SECOND / 4;

/// The encoder: frames a second, and its rates in bit/s.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    pub frames_per_second: u32,
    pub min_rate: f32,
    pub start_rate: f32,
    pub max_rate: f32,
}

impl Encoder {
    /// The parameters that the index names, with these rates.
    pub fn parameters(&self, l4s: bool) -> Parameters {
        Parameters {
            l4s,
            queue_target: 0.06,
            beta_loss: 0.7,
            beta_ecn: 0.8,
            initial_window: 10_000,
            min_rate: self.min_rate,
            start_rate: self.start_rate,
            max_rate: self.max_rate,
            longest_leap: 50_000,
        }
    }

    /// The bytes of a frame at a rate, headers included.
    pub fn frame(&self, rate: f32) -> u32 {
        let payload = (rate / 8.0 / self.frames_per_second as f32) as u32;
        payload + HEADER * payload.div_ceil(PAYLOAD)
    }
}

/// A packet: when it leaves, or since when it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub at: Ticks,
    pub bytes: u32,
    pub number: u64,
    pub marker: bool,
}

/// The application.
pub struct Sender {
    pub scream: Scream,
    encoder: Encoder,
    queue: VecDeque<Packet>,
    numbers: u64,
    /// When it asks again whether a packet may leave.
    call_at: Option<Ticks>,
    discarded_at: Ticks,
    /// Packets were discarded since the last frame; losses until then; and whether that frame was left out for either.
    discarded: bool,
    losses: u64,
    left_out: bool,
}

impl Sender {
    pub fn new(now: Ticks, encoder: Encoder, l4s: bool) -> Self {
        Self {
            scream: Scream::new(now, encoder.parameters(l4s)),
            encoder,
            queue: VecDeque::new(),
            numbers: 0,
            call_at: None,
            discarded_at: now,
            discarded: false,
            losses: 0,
            left_out: false,
        }
    }

    /// The bytes of the frame that the encoder makes now. After a loss or a discard the implementation gives −1 once in place of a rate, and the
    /// harness's encoder then makes nothing.
    pub fn encode(&mut self, now: Ticks) -> u32 {
        let missing = std::mem::take(&mut self.discarded) || self.scream.losses() > self.losses;
        self.losses = self.scream.losses();
        self.left_out = missing && !self.left_out;
        let rate = self.scream.encoder_rate(now);
        if self.left_out { 0 } else { self.encoder.frame(rate) }
    }

    /// A frame of this size waits to be sent.
    pub fn on_frame(&mut self, now: Ticks, bytes: u32) {
        let mut left = bytes;
        while left > 0 {
            let packet = left.min(PAYLOAD + HEADER);
            left -= packet;
            self.queue.push_back(Packet { at: now, bytes: packet, number: self.numbers, marker: left == 0 });
            self.numbers += 1;
        }
        let queued = self.queue.iter().map(|packet| u64::from(packet.bytes)).sum();
        let waited = self.queue.front().map_or(0, |packet| now - packet.at);
        // updateTargetBitrate comes before newMediaFrame looks at the first packet's size.
        self.discard(now);
        let frame = NewFrame { bytes, queued, waited, next: self.queue.front().map(|packet| packet.bytes) };
        if self.scream.refreshes(now) {
            self.scream.on_cleared_frame(now, &frame);
            self.queue.clear();
        } else {
            self.scream.on_frame(now, &frame);
        }
    }

    /// A report has come.
    pub fn on_report(&mut self, now: Ticks, parts: &[Part]) {
        for part in parts {
            if self.scream.on_part(now, &part.blocks, part.ends) {
                self.discard(now);
            }
        }
    }

    /// When it wants to be asked again.
    pub fn call_at(&self) -> Option<Ticks> {
        self.call_at
    }

    /// The packets that leave now.
    pub fn send(&mut self, now: Ticks, mut leave: impl FnMut(Packet)) {
        if self.call_at.is_some_and(|at| at <= now) {
            self.call_at = None;
        }
        loop {
            self.scream.poll(now);
            let Some(&packet) = self.queue.front() else { return };
            let mut wait = self.scream.next_at().saturating_sub(now);
            let mut open = (self.scream.in_flight() + i64::from(packet.bytes)) as f32 <= self.scream.limit();
            if now - self.scream.sent_at() > SILENCE {
                self.scream.forget_flight();
                (wait, open) = (0, true);
            }
            if !open {
                return;
            }
            if wait > 0 {
                self.call_at = Some(now + wait);
                return;
            }
            self.queue.pop_front();
            self.scream.on_sent(now, packet.number, packet.bytes, packet.at, packet.marker);
            leave(Packet { at: now, ..packet });
            self.call_at = Some(now + ((self.scream.pace_interval() * PER_SECOND as f32) as Ticks).max(1));
        }
    }

    /// Where the first packet has waited too long, all are discarded.
    fn discard(&mut self, now: Ticks) {
        let late = self.queue.front().is_some_and(|packet| now - packet.at > DISCARDS_AFTER);
        if late && now - self.discarded_at > DISCARD_INTERVAL {
            self.queue.clear();
            self.discarded_at = now;
            self.discarded = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that a frame finds too old are discarded before it is asked how large the first packet is: none is then.
    #[test]
    fn the_size_of_a_discarded_packet_is_not_seen() {
        let mut sender = Sender::new(1, super::super::ENCODERS[0], false);
        sender.on_frame(1, 1_000);
        let full = sender.scream.limit();
        // The largest packet of a second and of the one before is forgotten; 100 bytes are the least.
        sender.scream.poll(2 + PER_SECOND);
        sender.scream.poll(3 + 2 * PER_SECOND);
        sender.on_frame(3 + 2 * PER_SECOND, 500);
        assert_eq!(full - sender.scream.limit(), 900.0);
    }
}
