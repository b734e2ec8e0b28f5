//! The round-trip time of QUIC (RFC 9002 §5), without delays of acknowledgements: whole nanoseconds, rounded down.

/// Estimates, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtt {
    smoothed: Option<u64>,
    variation: u64,
    latest: u64,
}

impl Rtt {
    /// A packet took this long, in µs.
    pub fn update(&mut self, us: u64) {
        self.latest = us * 1_000;
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(self.latest), self.latest / 2),
            Some(smoothed) => {
                self.variation = (3 * self.variation + smoothed.abs_diff(self.latest)) / 4;
                self.smoothed = Some((7 * smoothed + self.latest) / 8);
            }
        }
    }

    pub fn smoothed(&self) -> Option<u64> {
        self.smoothed
    }

    pub fn variation(&self) -> u64 {
        self.variation
    }

    /// A packet that was sent this long before one that has arrived is lost: 9/8 of a round trip (RFC 9002 §6.1.2), in whole µs.
    pub fn loss_delay(&self) -> u64 {
        9 * self.smoothed.unwrap_or_default().max(self.latest) / 8_000
    }

    /// How long a sender waits for an acknowledgement, µs (RFC 9002 §6.2.1); without a sample for a connection's first round trip (§6.2.2).
    pub fn probe_timeout(&self) -> u64 {
        self.smoothed.map_or(999_000, |smoothed| (smoothed + (4 * self.variation).max(1_000_000)) / 1_000)
    }
}
