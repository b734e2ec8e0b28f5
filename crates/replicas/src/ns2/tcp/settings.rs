//! The parameters of profile `ns2`: what a scenario states, and ns-2.35's defaults
//! (`tcl/lib/ns-default.tcl`) for what it leaves out.

use lasthop_net::engine::Duration;
use lasthop_protocols::transport::congestion::{Congestion, vegas};
use lasthop_protocols::transport::tcp::config::{Config, Handshake, IdleRestart, Rto, RtoOrder, Variant};
use lasthop_protocols::transport::tcp::recovery::Recovery;
use lasthop_protocols::transport::tcp::recovery::fack::{self, CwndAtTrigger};

/// The parameters of a connection, complete.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The agent.
    pub variant: Variant,
    /// Payload of every packet, the last one included, in bytes (`packetSize_`).
    pub segment: u32,
    /// The most that it can be, if the source asks for another.
    pub largest_segment: u32,
    /// Header of every packet but number 0, in bytes; 0 is ns-2's `useHeaders_` false.
    pub header: u32,
    /// Bytes of a SYN (`tcpip_base_hdr_size_`).
    pub syn_size: u32,
    /// Whether packet 0 is a SYN, and the window waits for its acknowledgement (`syn_` and
    /// `delay_growth_`).
    pub syn: bool,
    /// `windowInit_`, packets.
    pub initial_window: f64,
    /// `ssthresh_` at the start, packets.
    pub initial_ssthresh: i64,
    /// `window_`, packets.
    pub window: i64,
    /// `singledup_`.
    pub limited_transmit: bool,
    /// `maxburst_`, packets; 0 is no limit.
    pub max_burst: u32,
    /// `slow_start_restart_`.
    pub idle_restart: bool,
    /// `ecn_`.
    pub ecn: bool,
    /// `timestamps_`; on by default with XCP only.
    pub timestamps: bool,
    /// `bugFix_`.
    pub guard: bool,
    /// `precisionReduce_`.
    pub exact_half: bool,
    /// Whether the loss of the first packet is heeded (`bugfix_ss_`): after that of a SYN the window begins with one packet, and the first packet
    /// of data may be retransmitted fast. ns-2 has this since it cuts windows exactly (2006).
    pub heeds_first_loss: bool,
    /// `tcpTick_`, seconds.
    pub tick: f64,
    /// `minrto_`, seconds.
    pub min_rto: f64,
    /// `maxrto_`, seconds.
    pub max_rto: f64,
    /// The most that `t_backoff_` becomes; if there is none, `maxrto_` alone bounds the timer.
    pub max_backoff: Option<u32>,
    /// `rtxcur_init_`, seconds.
    pub initial_rto: f64,
    /// Which mean the deviation is taken from.
    pub rto_order: RtoOrder,
    /// Fack: whether the window falls to one packet at the trigger, as ns-2.35 does, or to half.
    pub fack_to_one: bool,
    /// Fack: `rampdown_`.
    pub fack_rampdown: bool,
    /// Fack: `ss-div4_`.
    pub fack_overdamping: bool,
    /// Vegas: `v_alpha_`, `v_beta_`, `v_gamma_`.
    pub vegas: vegas::Config,
    /// `overhead_`, seconds.
    pub overhead: f64,
    /// `boot_time_`, seconds; drawn if there is none.
    pub boot_time: Option<f64>,
    /// The sink's `interval_` if it delays acknowledgements.
    pub ack_delay: Option<Duration>,
}

impl Settings {
    /// The parameters that `config` states, completed with ns-2's defaults.
    pub fn new(config: &Config) -> Self {
        let Rto { min, max, max_backoff, initial, granularity, order } = config.rto;
        let seconds = |stated: Option<Duration>, default: f64| stated.map_or(default, Duration::as_secs_f64);
        let window = i64::from(config.window.unwrap_or(20));
        let segment = config.segment.map(|b| (b.get() as u32).max(1));
        let header = config.header.map_or(HEADER_BYTES, |b| b.get() as u32);
        let fack = match &config.recovery {
            Some(Recovery::Fack(fack)) => *fack,
            _ => fack::Config::default(),
        };
        let vegas = match &config.congestion {
            Some(Congestion::Vegas(vegas)) => *vegas,
            _ => vegas::Config::default(),
        };
        Self {
            variant: config.variant.unwrap_or(Variant::NewReno),
            segment: segment.unwrap_or(1000),
            largest_segment: segment.unwrap_or(u32::MAX),
            header,
            // `useHeaders_` false leaves a SYN its header.
            syn_size: if header == 0 { HEADER_BYTES } else { header },
            syn: config.handshake.is_none_or(|h| h == Handshake::Partial),
            initial_window: f64::from(config.initial_window.unwrap_or(2)),
            initial_ssthresh: config.initial_ssthresh.map_or(window, i64::from),
            window,
            limited_transmit: config.limited_transmit.unwrap_or(true),
            max_burst: config.max_burst,
            idle_restart: config.idle_restart != Some(IdleRestart::Off),
            // Vegas' own `output` knows no ECN: its packets are not marked.
            ecn: config.ecn && config.variant != Some(Variant::Vegas),
            timestamps: config.timestamps.unwrap_or(config.variant == Some(Variant::Xcp)),
            guard: config.guard.unwrap_or(true),
            exact_half: config.exact_half.unwrap_or(true),
            heeds_first_loss: config.exact_half.unwrap_or(true),
            tick: seconds(granularity, 0.01),
            min_rto: seconds(min, 0.2),
            max_rto: seconds(max, 60.0),
            max_backoff,
            initial_rto: seconds(initial, 3.0),
            rto_order: order,
            fack_to_one: fack.cwnd_at_trigger != Some(CwndAtTrigger::Half),
            fack_rampdown: fack.rampdown,
            fack_overdamping: fack.overdamping,
            vegas,
            overhead: seconds(config.overhead, 0.0),
            boot_time: config.boot_time,
            ack_delay: (config.ack.every == Some(2)).then(|| config.ack.delay.unwrap_or(Duration::from_millis(100))),
        }
    }

    /// The bytes of a packet after the first that are not its segment. Vegas adds no header to any packet.
    pub fn header_bytes(&self) -> u32 {
        let header = if self.variant == Variant::Vegas { 0 } else { self.header };
        header + self.timestamp_bytes()
    }

    /// What time stamps add to a packet after the first. Without `useHeaders_` they take no bytes either.
    pub fn timestamp_bytes(&self) -> u32 {
        if self.timestamps && self.header > 0 { TIMESTAMP_BYTES } else { 0 }
    }

    /// Whether the receiver reports SACK blocks.
    pub fn sack(&self) -> bool {
        matches!(self.variant, Variant::Sack | Variant::Fack)
    }
}

/// IPv4 and TCP without options (`tcpip_base_hdr_size_`).
const HEADER_BYTES: u32 = 40;

/// `ts_option_size_`.
const TIMESTAMP_BYTES: u32 = 10;
