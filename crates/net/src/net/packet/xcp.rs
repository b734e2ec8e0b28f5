//! XCP's congestion header, which rides in TCP's options.

/// XCP's congestion header (Katabi, Handley, Rohrs 2002 §3.2; in the form of ns-2.35 and
/// draft-falk-xcp-spec).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionHeader {
    /// The sender's smoothed round-trip time, s; 0 before it knows one.
    pub rtt: Words,
    /// The time between two packets of the sender, s: its round-trip time over its window in
    /// packets.
    pub x: Words,
    /// Change of the sender's throughput, bytes/s: the demand, and the part of it granted by the routers so far.
    pub delta: Words,
}

impl CongestionHeader {
    /// That of a sender that knows no round-trip time and asks for nothing.
    pub const NONE: Self = Self { rtt: Words::new(0.0), x: Words::new(0.0), delta: Words::new(0.0) };
}

/// A double in two words of 32 bits, so that what holds it needs no alignment to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words([u32; 2]);

impl Words {
    /// The words of a number.
    #[inline]
    pub const fn new(value: f64) -> Self {
        let bits = value.to_bits();
        Self([bits as u32, (bits >> 32) as u32])
    }

    /// The number.
    #[inline]
    pub const fn get(self) -> f64 {
        f64::from_bits(self.0[0] as u64 | (self.0[1] as u64) << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_survives_its_words() {
        for value in [0.0, -0.0, 1e24, 0.1, -1.0 / 3.0, f64::MIN_POSITIVE, f64::NAN] {
            assert_eq!(Words::new(value).get().to_bits(), value.to_bits());
        }
    }
}
