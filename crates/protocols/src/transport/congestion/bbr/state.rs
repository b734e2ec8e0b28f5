//! The states and what each of them does to the rate and to the window (draft-ietf-ccwg-bbr §5.6.1).

/// A state of the machine (§5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The rate doubles each round until the pipe is full (§5.3.1).
    Startup,
    /// The queue of Startup is drained (§5.3.2).
    Drain,
    /// ProbeBW_DOWN: slower than the path (§5.3.3.1).
    Down,
    /// ProbeBW_CRUISE: as fast as the path (§5.3.3.2).
    Cruise,
    /// ProbeBW_REFILL: one round to fill the pipe (§5.3.3.3).
    Refill,
    /// ProbeBW_UP: faster than the path (§5.3.3.4).
    Up,
    /// A small flight, to measure the least round-trip time (§5.3.4).
    ProbeRtt,
}

impl State {
    /// BBR.pacing_gain (§5.6.1, table). Startup's is 4 ln 2 (§2.5).
    pub(super) fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => 2.77,
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    /// BBR.cwnd_gain (§5.6.1, table): DefaultCwndGain (§2.6), and ProbeRTTCwndGain (§2.16.2).
    pub(super) fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// IsInAProbeBWState() (§5.3.3.6).
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// IsProbingBW() (§5.3.3.6).
    pub(super) fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
