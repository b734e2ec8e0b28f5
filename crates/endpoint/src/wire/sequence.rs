//! Sequence numbers of 32 bits, and the ones of 64 bits that machines count with.

use super::WireError;

/// How far ahead of the highest number the next may be: more packets than a transmit window or a second of 1 Gbit/s holds. RFC 3550 A.1
/// does the same with 3000 of 2¹⁶ numbers (MAX_DROPOUT).
pub const MOST_AHEAD: u32 = 1 << 16;
/// How far behind it may be.
pub const MOST_BEHIND: u32 = 1 << 18;

/// The numbers that come from a sender. One datagram with a wild number changes nothing; two in a row, as after a long outage, are believed
/// (RFC 3550 A.1), and then the numbers go on as if only [`MOST_AHEAD`] packets were missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    highest: Option<u64>,
    /// What a number is less than the one in datagrams, modulo 2³².
    shift: u32,
    /// The number that would confirm a wild one.
    candidate: Option<u32>,
}

impl Numbers {
    /// The number of 64 bits.
    ///
    /// # Errors
    /// [`WireError::Sequence`].
    pub fn read(&mut self, wire: u32) -> Result<u64, WireError> {
        let Some(highest) = self.highest else {
            self.highest = Some(wire.into());
            return Ok(wire.into());
        };
        let ahead = wire.wrapping_sub(self.shift).wrapping_sub(highest as u32);
        let number = if ahead <= MOST_AHEAD {
            highest + u64::from(ahead)
        } else if ahead.wrapping_neg() <= MOST_BEHIND {
            highest.checked_sub(ahead.wrapping_neg().into()).ok_or(WireError::Sequence)?
        } else if self.candidate.replace(wire.wrapping_add(1)) == Some(wire) {
            let number = highest + u64::from(MOST_AHEAD);
            self.shift = wire.wrapping_sub(number as u32);
            number
        } else {
            return Err(WireError::Sequence);
        };
        self.candidate = None;
        self.highest = Some(highest.max(number));
        Ok(number)
    }

    /// A number beside one that was read: at most [`MOST_BEHIND`] behind the highest, or [`MOST_AHEAD`] ahead.
    ///
    /// # Errors
    /// [`WireError::Sequence`].
    pub fn near(&self, wire: u32) -> Result<u64, WireError> {
        let Some(highest) = self.highest else { return Ok(wire.into()) };
        let ahead = wire.wrapping_sub(self.shift).wrapping_sub(highest as u32);
        if ahead <= MOST_AHEAD {
            Ok(highest + u64::from(ahead))
        } else if ahead.wrapping_neg() <= MOST_BEHIND {
            Ok(highest.saturating_sub(ahead.wrapping_neg().into()))
        } else {
            Err(WireError::Sequence)
        }
    }

    /// A number as it stands in datagrams.
    pub fn write(&self, number: u64) -> u32 {
        (number as u32).wrapping_add(self.shift)
    }
}

/// The numbers that an end itself has sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    next: u64,
}

impl Sent {
    /// This number is sent.
    pub fn write(&mut self, number: u64) -> u32 {
        self.next = self.next.max(number + 1);
        number as u32
    }

    /// The number that was sent last of those that stand in datagrams like this.
    ///
    /// # Errors
    /// [`WireError::Sequence`] if it was not sent lately.
    pub fn read(&self, wire: u32) -> Result<u64, WireError> {
        let last = self.next.checked_sub(1).ok_or(WireError::Sequence)?;
        let back = (last as u32).wrapping_sub(wire);
        if back > MOST_BEHIND {
            return Err(WireError::Sequence);
        }
        last.checked_sub(back.into()).ok_or(WireError::Sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_over_the_turn_and_wild_ones_need_a_second() {
        let mut numbers = Numbers::default();
        let first = u32::MAX - 1;
        assert_eq!(numbers.read(first), Ok(u64::from(first)));
        assert_eq!(numbers.read(1), Ok(u64::from(first) + 3));
        assert_eq!(numbers.read(u32::MAX), Ok(u64::from(first) + 1));
        assert_eq!(numbers.read(0x8000_0000), Err(WireError::Sequence));
        assert_eq!(numbers.read(2), Ok(u64::from(first) + 4));
        // An outage of 2³¹ packets.
        assert_eq!(numbers.read(0x8000_0002), Err(WireError::Sequence));
        let number = numbers.read(0x8000_0003).unwrap();
        assert_eq!(number, u64::from(first) + 4 + u64::from(MOST_AHEAD));
        assert_eq!(numbers.read(0x8000_0004), Ok(number + 1));
        assert_eq!(numbers.write(number + 1), 0x8000_0004);
        assert_eq!(numbers.near(0x8000_0000), Ok(number - 3));
    }

    #[test]
    fn what_was_never_sent_is_refused() {
        let mut sent = Sent::default();
        assert_eq!(sent.read(0), Err(WireError::Sequence));
        for number in [0, 1, (1 << 32) + 4] {
            sent.write(number);
        }
        assert_eq!(sent.read(4), Ok((1 << 32) + 4));
        assert_eq!(sent.read(u32::MAX), Ok(u64::from(u32::MAX)));
        assert_eq!(sent.read(5), Err(WireError::Sequence));
    }
}
