//! BBR's rates: segments per microsecond times 2^24, with gains times 2^8.

/// `BW_SCALE`.
pub const BW_SCALE: u32 = 24;
/// `BBR_SCALE`.
pub const SCALE: u32 = 8;
/// `bbr_pacing_margin_percent`.
const MARGIN_PERCENT: u64 = 1;

/// A rate with a gain, bytes a second, less the margin (`bbr_rate_bytes_per_sec`).
pub fn bytes_per_sec(mss: u64, bw: u64, gain: u64) -> u64 {
    let rate = (u128::from(bw) * u128::from(mss) * u128::from(gain)) >> SCALE;
    let rate = (rate * u128::from(1_000_000 / 100 * (100 - MARGIN_PERCENT))) >> BW_SCALE;
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP_INFO of the reference's BBR after a handshake of 20,275 us (samples of bbr_10mbit_20ms_1bdp_0): ten segments of 1,448 B at the gain 739/256.
    #[test]
    fn the_first_pacing_rate_is_that_of_the_reference() {
        assert_eq!(bytes_per_sec(1_448, (10 << BW_SCALE) / 20_275, 739), 2_040_815);
    }
}
