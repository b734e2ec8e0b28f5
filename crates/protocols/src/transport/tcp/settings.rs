//! The parameters of a connection in profile `rfc`, with every default filled in. Both ends
//! read them from the same [`Config`], so what real ends negotiate on their SYNs is agreed.

use lasthop_net::engine::Duration;
use lasthop_net::net::{Ecn, TcpFlags};

use crate::transport::congestion::{Begun, Congestion, CongestionControl, EndpointContext};
use crate::transport::path_hint::PathHint;
use crate::transport::xcp::sender as xcp;

use super::config::{Config, Handshake, IdleRestart, Spurious, Variant};
use super::recovery::Recovery;
use super::rto::RtoConfig;

/// Header bytes of a segment without options: IPv4 and TCP. Also the size of a SYN and of a FIN;
/// the options of a SYN cost nothing here.
pub const HEADER_BYTES: u32 = 40;

/// The most bytes of TCP's options (RFC 9293 §3.1: a data offset of 15 words).
pub const OPTIONS_BYTES: u32 = 40;

/// What the time-stamp option adds to every segment (RFC 7323 §3, padded as in its Appendix A).
pub const TIMESTAMP_BYTES: u32 = 12;

/// What the AccECN option with two of its three counters adds to an acknowledgement (RFC 9768 §3.2.3).
pub const ACCURATE_ECN_BYTES: u32 = 8;

/// The first data byte's sequence number; 0 is the SYN's.
pub const FIRST_BYTE: u64 = 1;

/// The parameters of a connection.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which segments are lost, and which are resent.
    pub recovery: Recovery,
    /// How much may be in flight.
    congestion: Congestion,
    /// Whether packets carry XCP's congestion header.
    pub explicit: bool,
    /// SMSS: payload bytes of a full segment.
    pub smss: u32,
    /// The most that it can be, if the source asks for another.
    pub largest_smss: u32,
    /// Header bytes of a data segment, options excepted.
    pub header: u32,
    /// Bytes of a packet's options.
    pub options: u32,
    /// How the connection opens.
    pub handshake: Handshake,
    /// Initial window, bytes.
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes; `u64::MAX` for none.
    pub initial_ssthresh: u64,
    /// The receiver's buffer, bytes.
    pub buffer: u32,
    /// Segments to an acknowledgement.
    pub ack_every: u32,
    /// The longest delay of an acknowledgement.
    pub ack_delay: Duration,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// The most segments sent at once.
    pub max_burst: u32,
    /// The window after an idle time.
    pub idle_restart: IdleRestart,
    /// RFC 3168.
    pub ecn: bool,
    /// The ECN field of data packets.
    pub ect: Ecn,
    /// Whether the receiver counts marks (RFC 9768).
    pub accurate_ecn: bool,
    /// Whether the controller answers to counted marks by itself (RFC 9331).
    pub l4s: bool,
    /// RFC 7323.
    pub timestamps: bool,
    /// Whether the receiver sends SACK blocks (RFC 2018): if the recovery reads them.
    pub sack: bool,
    /// How spurious timeouts are detected.
    pub spurious: Spurious,
    /// What a change of the path makes void.
    pub path_hint: PathHint,
    /// Whether reductions of the window that prove needless are undone.
    pub undo: bool,
    /// Whether Proportional Rate Reduction governs recoveries.
    pub prr: bool,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// No new fast retransmit before everything sent at the last loss is acknowledged.
    pub guard: bool,
    /// The number of the flow.
    pub flow: u32,
    /// The seed of its random streams.
    pub seed: u64,
}

/// What the receiving end goes by.
#[derive(Clone, Debug)]
pub struct Receiving {
    /// How the connection opens.
    pub handshake: Handshake,
    /// The buffer, bytes.
    pub buffer: u32,
    /// Segments to an acknowledgement.
    pub ack_every: u32,
    /// The longest delay of an acknowledgement.
    pub ack_delay: Duration,
    /// RFC 3168.
    pub ecn: bool,
    /// Whether it counts marks (RFC 9768).
    pub accurate_ecn: bool,
    /// RFC 7323.
    pub timestamps: bool,
    /// Whether it sends SACK blocks (RFC 2018).
    pub sack: bool,
    /// RFC 2883.
    pub dsack: bool,
    /// Whether packets carry XCP's congestion header.
    pub explicit: bool,
    /// What a change of the path makes void.
    pub path_hint: PathHint,
}

impl Receiving {
    /// What `config` says, completed from the RFCs; what both ends go by is the sender's.
    pub fn new(config: &Config) -> Self {
        let settings = Settings::new(config);
        let Settings { handshake, buffer, ack_every, ack_delay, .. } = settings;
        let Settings { ecn, accurate_ecn, timestamps, sack, explicit, path_hint, .. } = settings;
        let dsack = config.dsack.unwrap_or(true);
        Self {
            handshake,
            buffer,
            ack_every,
            ack_delay,
            ecn,
            accurate_ecn,
            timestamps,
            sack,
            dsack,
            explicit,
            path_hint,
        }
    }
}

impl Settings {
    /// What `config` says, completed from the RFCs.
    pub fn new(config: &Config) -> Self {
        let (recovery, congestion) = parts(config);
        let (l4s, one_way) = (congestion.config().is_l4s(), congestion.config().wants_timestamps());
        let counts_marks = congestion.config().counts_marks();
        let ecn = config.ecn || counts_marks;
        let stated = config.segment.map(|b| b.get().clamp(1, 1 << 20) as u32);
        let smss = stated.unwrap_or(1460);
        let segments = |n: u32| u64::from(n) * u64::from(smss);
        let explicit = congestion.config().is_explicit();
        let timestamps = config.timestamps.unwrap_or(config.spurious == Spurious::Eifel || one_way);
        let options = [(timestamps, TIMESTAMP_BYTES), (explicit, xcp::HEADER_BYTES)];
        Self {
            explicit,
            sack: recovery.config().reads_sack(),
            undo: config.undo.unwrap_or(recovery.config().undoes()),
            prr: recovery.config().has_prr(),
            recovery,
            congestion,
            smss,
            largest_smss: stated.unwrap_or(u32::MAX),
            header: config.header.map_or(HEADER_BYTES, |b| b.get().min(1 << 20) as u32),
            options: options.iter().filter(|(used, _)| *used).map(|(_, bytes)| bytes).sum(),
            handshake: config.handshake.unwrap_or(Handshake::Full),
            initial_window: segments(config.initial_window.unwrap_or(10).max(1)),
            initial_ssthresh: config.initial_ssthresh.map_or(u64::MAX, segments),
            buffer: segments(config.window.unwrap_or(100_000).max(1)).min(u64::from(u32::MAX)) as u32,
            ack_every: config.ack.every.unwrap_or(1).max(1),
            ack_delay: config.ack.delay.unwrap_or(Duration::from_millis(200)),
            limited_transmit: config.limited_transmit.unwrap_or(true),
            max_burst: if config.max_burst == 0 { u32::MAX } else { config.max_burst },
            idle_restart: config.idle_restart.unwrap_or(IdleRestart::Rfc5681),
            ecn,
            ect: match (ecn, l4s) {
                (_, true) => Ecn::Ect1,
                (true, false) => Ecn::Ect0,
                (false, false) => Ecn::NotEct,
            },
            accurate_ecn: config.accurate_ecn.unwrap_or(counts_marks),
            l4s,
            timestamps,
            spurious: config.spurious,
            path_hint: config.path_hint,
            rto: RtoConfig::new(&config.rto),
            guard: config.guard.unwrap_or(true),
            flow: u32::MAX,
            seed: 0,
        }
    }

    /// The same with full segments of `bytes`, of which options take their part (RFC 6691), but at most `largest_smss`. Amounts counted in
    /// segments follow, but the receiver's buffer does not.
    pub fn with_segment(&self, bytes: u32) -> Self {
        let smss = bytes.saturating_sub(self.options).clamp(1, self.largest_smss);
        let scaled = |n: u64| n / u64::from(self.smss) * u64::from(smss);
        let initial_ssthresh = match self.initial_ssthresh {
            u64::MAX => u64::MAX,
            stated => scaled(stated),
        };
        Self { smss, initial_window: scaled(self.initial_window), initial_ssthresh, ..self.clone() }
    }

    /// A controller that begins there.
    pub fn controller(&self, begun: Begun) -> Box<dyn CongestionControl> {
        let seat = EndpointContext {
            smss: self.smss,
            header: self.header,
            options: self.options,
            initial_window: self.initial_window,
            initial_ssthresh: self.initial_ssthresh,
            sack: self.sack,
            flow: self.flow,
            seed: self.seed.wrapping_add(u64::from(begun.connection)),
            begun,
        };
        self.congestion.config().build(&seat)
    }

    /// The flags of a SYN; with ECN it is an ECN-setup SYN (RFC 3168 §6.1.1).
    pub fn syn_flags(&self) -> TcpFlags {
        let ecn = if self.ecn { TcpFlags::ECE.with(TcpFlags::CWR) } else { TcpFlags::NONE };
        TcpFlags::SYN.with(ecn)
    }
}

/// The loss recovery and the congestion control that `config` names.
pub fn parts(config: &Config) -> (Recovery, Congestion) {
    let (recovery, congestion) = config.variant.unwrap_or(Variant::Cubic).parts();
    (config.recovery.clone().unwrap_or(recovery), config.congestion.clone().unwrap_or(congestion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::choice::parsed;

    #[test]
    fn a_segment_of_the_sources_choice_is_at_most_the_stated_one() {
        let settings = |text: &str| Settings::new(&parsed(text).unwrap());
        let plain = settings("");
        let small = plain.with_segment(536);
        // RFC 6928's ten segments.
        assert_eq!((small.smss, small.initial_window, small.initial_ssthresh), (536, 5_360, u64::MAX));
        assert_eq!(small.buffer, plain.buffer, "it is the receiver's");
        let back = small.with_segment(1_460);
        assert_eq!((back.smss, back.initial_window), (1_460, 14_600));
        assert_eq!(settings("timestamps = true").with_segment(1_460).smss, 1_448, "1,500 B less 40 and 12");
        let stated = settings("segment = '1 kB'\ninitial_window = 3\ninitial_ssthresh = 4");
        for (asked, smss) in [(536, 536), (1_460, 1_000), (0, 1)] {
            let got = stated.with_segment(536).with_segment(asked);
            assert_eq!((got.smss, got.initial_window), (smss, 3 * u64::from(smss)), "{asked} B");
            assert_eq!(got.initial_ssthresh, 4 * u64::from(smss), "{asked} B");
        }
    }
}
