//! Transport channels: a queue in front of the air, and a number of bits in each interval.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slab::Flying;
use lasthop_net::engine::{BitRate, Duration};

/// The rate of a transport channel, and its transmission time interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Bits per second of RLC's PDUs.
    pub rate: BitRate,
    /// The transmission time interval: 10, 20, 40 or 80 ms (3GPP TS 25.302 §6.2).
    pub tti: Duration,
}

impl Rate {
    /// How many bits an interval carries.
    pub fn bits(self) -> u32 {
        let bits = u128::from(self.rate.as_bps()) * u128::from(self.tti.as_nanos()) / 1_000_000_000;
        u32::try_from(bits).unwrap_or(u32::MAX)
    }
}

/// How much a queue in front of the air takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// What two intervals carry.
    TwoIntervals,
    /// EURANE's rule, which adds bytes to bits: a PDU is refused if the bytes that wait and its bits
    /// are more than the bits of two intervals. It takes 9 PDUs of 40 bytes on 32 kbit/s and 10 ms, and
    /// 25 on 64 kbit/s.
    MixedUnits,
}

/// Which of those that wait on a shared channel is sent next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// First come first served.
    #[default]
    Fifo,
    /// The terminals in turn, each of them in order.
    RoundRobin,
}

/// A transport channel's queue and its counts.
#[derive(Debug)]
pub struct Channel {
    rate: Rate,
    bits: u32,
    limit: Limit,
    order: Order,
    /// The waiting PDUs, with the terminal that each is for or from.
    queue: VecDeque<(u32, Flying)>,
    queued_bits: u32,
    /// The terminal served last, for turns.
    last: u32,
    /// The counts so far.
    pub counts: Counts,
}

/// What a channel did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// PDUs that came.
    pub offered: u64,
    /// PDUs that found no room.
    pub dropped: u64,
    /// PDUs sent.
    pub sent: u64,
    /// Bits sent.
    pub bits: u64,
}

impl Channel {
    /// An empty one.
    pub fn new(rate: Rate, limit: Limit, order: Order) -> Self {
        Self {
            rate,
            bits: rate.bits(),
            limit,
            order,
            queue: VecDeque::new(),
            queued_bits: 0,
            last: 0,
            counts: Counts::default(),
        }
    }

    /// Its rate and interval.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes a PDU, or gives it back if there is no room.
    #[inline]
    pub fn offer(&mut self, terminal: u32, pdu: Flying) -> Result<(), Flying> {
        self.counts.offered += 1;
        let waits = match self.limit {
            Limit::TwoIntervals => self.queued_bits,
            Limit::MixedUnits => self.queued_bits / 8,
        };
        if waits + pdu.bits > 2 * self.bits {
            self.counts.dropped += 1;
            return Err(pdu);
        }
        self.queued_bits += pdu.bits;
        self.queue.push_back((terminal, pdu));
        Ok(())
    }

    /// The next PDU of an interval in which `left` bits are left; these become less.
    #[inline]
    pub fn next(&mut self, left: &mut u32) -> Option<(u32, Flying)> {
        let (terminal, pdu) = match self.order {
            Order::Fifo => self.queue.pop_front_if(|(_, pdu)| pdu.bits <= *left)?,
            Order::RoundRobin => {
                let place = self.turn();
                self.queue.get(place).filter(|(_, pdu)| pdu.bits <= *left)?;
                self.queue.remove(place)?
            }
        };
        *left -= pdu.bits;
        self.last = terminal;
        self.queued_bits -= pdu.bits;
        self.counts.sent += 1;
        self.counts.bits += u64::from(pdu.bits);
        Some((terminal, pdu))
    }

    /// The first PDU of the terminal whose turn it is: the next one after that served last.
    fn turn(&self) -> usize {
        let distance = |terminal: u32| terminal.wrapping_sub(self.last + 1);
        let first = |best: Option<(u32, usize)>, (place, (terminal, _)): (usize, &(u32, Flying))| {
            let this = (distance(*terminal), place);
            Some(best.map_or(this, |best| best.min(this)))
        };
        self.queue.iter().enumerate().fold(None, first).map_or(0, |(_, place)| place)
    }

    /// Takes out all that waits for or from a terminal.
    pub fn take(&mut self, terminal: u32) -> Vec<Flying> {
        if self.queue.is_empty() {
            return Vec::new();
        }
        let (taken, kept): (Vec<_>, Vec<_>) = self.queue.drain(..).partition(|(of, _)| *of == terminal);
        self.queue.extend(kept);
        self.queued_bits -= taken.iter().map(|(_, pdu)| pdu.bits).sum::<u32>();
        taken.into_iter().map(|(_, pdu)| pdu).collect()
    }

    /// How many bits wait for or from the terminal whose PDU comes first, up to the first of another.
    pub fn bits_of_first(&self) -> u32 {
        let first = self.queue.front().map(|(terminal, _)| *terminal);
        self.queue.iter().take_while(|(terminal, _)| Some(*terminal) == first).map(|(_, pdu)| pdu.bits).sum()
    }

    /// How many bits an interval carries.
    #[inline]
    pub fn interval_bits(&self) -> u32 {
        self.bits
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many PDUs wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// The bytes waiting.
    #[inline]
    pub fn queued_bytes(&self) -> u32 {
        self.queued_bits / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::rlc::Pdu;
    use crate::radio::umts::slab::Slab;

    fn pdu(sn: u32) -> Flying {
        Slab::default().keep(Pdu { sn, bits: 320, ..Pdu::default() })
    }

    fn channel(kbps: u64, limit: Limit, order: Order) -> Channel {
        Channel::new(Rate { rate: BitRate::from_bps(kbps * 1000), tti: Duration::from_millis(10) }, limit, order)
    }

    #[test]
    fn queues_take_what_their_rule_says() {
        // Two intervals of 320 and 640 bits; EURANE's 9 and 25 PDUs.
        for (kbps, limit, room) in [
            (32, Limit::TwoIntervals, 2),
            (64, Limit::TwoIntervals, 4),
            (32, Limit::MixedUnits, 9),
            (64, Limit::MixedUnits, 25),
        ] {
            let mut channel = channel(kbps, limit, Order::Fifo);
            let taken = (0..40).filter(|&sn| channel.offer(0, pdu(sn)).is_ok()).count();
            assert_eq!((taken, channel.queued_bytes()), (room, 40 * room as u32), "{kbps} kbit/s, {limit:?}");
        }
    }

    #[test]
    fn terminals_are_served_first_come_or_in_turn() {
        for (order, expected) in [(Order::Fifo, [2, 2, 0, 1]), (Order::RoundRobin, [1, 2, 0, 2])] {
            let mut channel = channel(64, Limit::TwoIntervals, order);
            for (sn, terminal) in (0..).zip([2, 2, 0, 1]) {
                channel.offer(terminal, pdu(sn)).unwrap();
            }
            let mut left = u32::MAX;
            let served: Vec<u32> =
                std::iter::from_fn(|| channel.next(&mut left)).map(|(terminal, _)| terminal).collect();
            assert_eq!(served, expected, "{order:?}");
            assert_eq!(channel.queued_bytes(), 0);
        }
    }

    #[test]
    fn an_interval_carries_whole_pdus() {
        let mut channel = channel(64, Limit::MixedUnits, Order::Fifo);
        for sn in 0..5 {
            channel.offer(0, pdu(sn)).unwrap();
        }
        let mut left = channel.interval_bits();
        assert_eq!(std::iter::from_fn(|| channel.next(&mut left)).count(), 2);
        assert!(!channel.is_empty());
    }
}
