//! The parameters of profile `linux`: what a scenario states, and the kernel's defaults for what it leaves out.

use lasthop_protocols::transport::congestion::Congestion;
use lasthop_protocols::transport::tcp::config::{Config, Variant};

/// Which congestion control, by its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// tcp_cong.c.
    Reno,
    /// tcp_cubic.c, with `hystart` and `fast_convergence`.
    Cubic {
        /// HyStart in slow start.
        hystart: bool,
        /// Release of bandwidth for new flows.
        fast_convergence: bool,
    },
    /// tcp_bbr.c.
    Bbr,
}

/// The parameters of a connection, complete.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The congestion control.
    pub algorithm: Algorithm,
    /// Payload of a full segment, bytes (`mss_cache`).
    pub mss: u32,
    /// The most that it can be, if the source asks for another.
    pub largest_mss: u32,
    /// IP and TCP header of each segment, time stamps excepted.
    pub header: u32,
    /// `TCP_INIT_CWND`.
    pub initial_window: u64,
    /// `snd_ssthresh` at the start, segments; `u64::MAX` is `TCP_INFINITE_SSTHRESH`.
    pub initial_ssthresh: u64,
    /// The receiver's window at first, bytes (`rcv_ssthresh`).
    pub window: u64,
    /// What it grows to (`window_clamp`).
    pub window_clamp: u64,
}

impl Settings {
    /// The parameters that `config` states, completed with the kernel's defaults.
    pub fn new(config: &Config) -> Self {
        let (_, usual) = config.variant.unwrap_or(Variant::Cubic).parts();
        let algorithm = match config.congestion.as_ref().unwrap_or(&usual) {
            Congestion::Bbr(_) => Algorithm::Bbr,
            Congestion::Cubic(cubic) => {
                Algorithm::Cubic { hystart: cubic.hystart, fast_convergence: cubic.fast_convergence }
            }
            // `check` refuses all others but Reno.
            _ => Algorithm::Reno,
        };
        let stated = config.segment.map(|b| b.get().clamp(1, 1 << 20) as u32);
        let mss = stated.unwrap_or(MSS);
        let (window, window_clamp) = match config.window {
            Some(segments) => {
                let bytes = (u64::from(segments) * u64::from(mss)).min(1 << 30);
                (bytes, bytes)
            }
            None => (BUFFER / 2 / u64::from(MSS) * u64::from(MSS), BUFFER * (u64::from(MSS) * 256 / TRUESIZE) / 256),
        };
        Self {
            algorithm,
            mss,
            largest_mss: stated.unwrap_or(u32::MAX),
            header: config.header.map_or(HEADER_BYTES, |b| b.get().min(1 << 20) as u32),
            initial_window: u64::from(config.initial_window.unwrap_or(10).max(1)),
            initial_ssthresh: config.initial_ssthresh.map_or(u64::MAX, u64::from),
            window,
            window_clamp,
        }
    }

    /// The same with full segments of `bytes`, of which time stamps take their part (`tcp_current_mss`), but at most `largest_mss`.
    pub fn with_segment(&self, bytes: u32) -> Self {
        Self { mss: bytes.saturating_sub(TIMESTAMP_BYTES).clamp(1, self.largest_mss), ..self.clone() }
    }
}

/// The payload of a full segment on a path of 1,500 B: 40 B of headers and 12 B of time stamps go off.
const MSS: u32 = 1_448;

/// IPv4 and TCP without options.
pub const HEADER_BYTES: u32 = 40;

/// The time-stamp option with its padding (`TCPOLEN_TSTAMP_ALIGNED`).
pub const TIMESTAMP_BYTES: u32 = 12;

/// Options of a SYN: segment size, SACK permitted, time stamps, window scale.
pub const SYN_OPTION_BYTES: u32 = 20;

/// The receive buffer of the reference's hosts (`tcp_rmem`): half of it is window before the first segment (`TCP_DEFAULT_SCALING_RATIO`).
const BUFFER: u64 = 32 << 20;

/// How much memory a packet of 1,500 B takes (`truesize`): 2 KiB of data and the buffer's head.
const TRUESIZE: u64 = 2_304;
