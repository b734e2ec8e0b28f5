//! The parameters of TCP as a scenario states them, and what a profile makes of those left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transport::congestion::{self, Congestion, bbr, copa, cubic, dctcp, ledbat, prague, vegas};
use crate::transport::limits;
use crate::transport::path_hint::PathHint;
use crate::transport::xcp::sender as xcp;
use lasthop_net::engine::{Bytes, Duration, Fault};
use lasthop_net::profile::Profile;

use super::recovery::{self, Recovery, fack, newreno, rack, sack, tahoe};
use super::settings::parts;

/// TCP. Parameters left out are as the profile says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The profile, if not the scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The usual pair of loss recovery and congestion control: `cubic` (SACK recovery) by default
    /// in profile `rfc`, `newreno` in profile `ns2`. In profile `linux`: `reno`, `cubic` (the default) or `bbr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Loss recovery, apart from the variant, or the variant's own with its parameters. Profile `ns2`: only the latter.
    /// Profile `linux`: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Congestion control, apart from the variant, or the variant's own with its parameters. Profile `ns2`: only the latter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Congestion>,
    /// Payload of a full segment. `rfc`: 1460 B. `ns2`: 1000 B (`packetSize_`). `linux`: 1448 B. If the source
    /// chooses another for a connection, the value here is the maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Header bytes on the wire of each data segment, IP included: 40 B. In profile `ns2` the
    /// first packet (seqno 0) has none without a SYN, and Vegas never has any, as in ns-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// How a connection opens. Default: `rfc`: `full`. `ns2`: `partial`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Handshake>,
    /// Initial window in segments. Default: `rfc` and `linux`: 10 (RFC 6928). `ns2`: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Initial slow-start threshold in segments. Default: `rfc`: none. `ns2`: the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// The receiver's buffer, and so the most it advertises, in segments. Default: `rfc`: 100 000,
    /// which does not limit. `ns2`: 20 (`window_`). `linux`: 16,776,528 B, which grow to 20,971,520 B (`tcp_rmem` of 32 MiB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// When the receiver acknowledges.
    pub ack: AckPolicy,
    /// One new segment on each of the first two duplicate acknowledgements (RFC 3042). Default: on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// The most segments sent at once, 0 for no limit (`ns2`: `maxburst_`). Default: 0.
    pub max_burst: u32,
    /// The window after an idle time longer than the RTO. Default: `rfc`: `rfc5681`. `ns2`: `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<IdleRestart>,
    /// Explicit congestion notification (RFC 3168). DCTCP and L4S controllers switch it on. Default: off.
    pub ecn: bool,
    /// The receiver counts marks and reports the count in each acknowledgement, in 8 bytes (AccECN, RFC 9768). Default: on with DCTCP
    /// and L4S controllers, else off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accurate_ecn: Option<bool>,
    /// Time stamps (RFC 7323), which cost 12 bytes in each packet. Default: `rfc`: on with Eifel and
    /// with LEDBAT, else off. `ns2`: on with XCP, else off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether a duplicate segment is reported in the first SACK block (RFC 2883). Default: `rfc`:
    /// on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Detection of spurious retransmission timeouts. Default: none.
    pub spurious: Spurious,
    /// What a change of the terminal's path makes void. Profile `rfc` only. Default: `off`.
    pub path_hint: PathHint,
    /// Undo a reduction of the window once duplicates that the receiver reports (RFC 3708) or time stamps (RFC 3522) show that nothing was
    /// lost (RFC 9438 §4.9, which allows it). Default: on with recovery `rack`, else off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<bool>,
    /// The retransmission timer.
    pub rto: Rto,
    /// No new fast retransmit before everything sent at the last loss is acknowledged (ns-2's
    /// `bugFix_`; RFC 6582 §4.1 step 1). Default: on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<bool>,
    /// Profile `ns2`: the window is cut to exactly its half (`precisionReduce_`); otherwise to the half of its whole packets, rounded
    /// down, as ns-2 did before 2006. Default: on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_half: Option<bool>,
    /// Profile `ns2`: the phase of the sender's clock ticks, which ns-2 draws uniformly from one
    /// tick. Default: drawn likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_time: Option<f64>,
    /// Profile `ns2`: a random delay of up to this before each packet is sent (`overhead_`).
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Duration>,
}

/// The usual pairs of loss recovery and congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// Fast retransmit, then slow start from one segment (Jacobson 1988).
    Tahoe,
    /// Fast recovery (RFC 2581).
    Reno,
    /// Fast recovery that stays until everything is repaired (RFC 6582).
    NewReno,
    /// SACK: profile `rfc` RFC 6675 with Reno's window, profile `ns2` Fall and Floyd's.
    Sack,
    /// Forward acknowledgement (Mathis, Mahdavi 1996).
    Fack,
    /// Vegas (Brakmo, Peterson 1995): its window, and its recovery with a fine-grained timeout.
    Vegas,
    /// SACK recovery with CUBIC's window (RFC 9438). Profile `rfc` only.
    Cubic,
    /// SACK recovery with DCTCP's window (RFC 8257). Profile `rfc` only.
    Dctcp,
    /// SACK recovery with Prague's window (Linux' `tcp_prague`). Profile `rfc` only.
    Prague,
    /// SACK recovery with Copa's window (Arun, Balakrishnan 2018). Profile `rfc` only.
    Copa,
    /// SACK recovery with LEDBAT's window (RFC 6817). Profile `rfc` only.
    Ledbat,
    /// RACK-TLP with BBRv3 (draft-ietf-ccwg-bbr). Profile `rfc` only.
    Bbr,
    /// The window that XCP's routers grant (Katabi, Handley, Rohrs 2002). Recovery is NewReno's in
    /// profile `rfc`, Reno's in profile `ns2`.
    Xcp,
}

impl Variant {
    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Sack => "sack",
            Self::Fack => "fack",
            Self::Vegas => "vegas",
            Self::Cubic => "cubic",
            Self::Dctcp => "dctcp",
            Self::Prague => "prague",
            Self::Copa => "copa",
            Self::Ledbat => "ledbat",
            Self::Bbr => "bbr",
            Self::Xcp => "xcp",
        }
    }

    /// The pair that it is, with the usual parameters.
    pub fn parts(self) -> (Recovery, Congestion) {
        let reno = Congestion::Reno(congestion::reno::Config::default());
        match self {
            Self::Tahoe => (Recovery::Tahoe(tahoe::Config {}), reno),
            Self::Reno => (Recovery::Reno(recovery::reno::Config {}), reno),
            Self::NewReno => (Recovery::NewReno(newreno::Config {}), reno),
            Self::Sack => (Recovery::Sack(sack::Config::default()), reno),
            Self::Fack => (Recovery::Fack(fack::Config::default()), reno),
            Self::Vegas => (Recovery::Vegas(recovery::vegas::Config {}), Congestion::Vegas(vegas::Config::default())),
            Self::Cubic => (Recovery::Sack(sack::Config::default()), Congestion::Cubic(cubic::Config::default())),
            Self::Dctcp => (Recovery::Sack(sack::Config::default()), Congestion::Dctcp(dctcp::Config::default())),
            Self::Prague => (Recovery::Sack(sack::Config::default()), Congestion::Prague(prague::Config::default())),
            Self::Copa => (Recovery::Sack(sack::Config::default()), Congestion::Copa(copa::Config::default())),
            Self::Ledbat => (Recovery::Sack(sack::Config::default()), Congestion::Ledbat(ledbat::Config::default())),
            Self::Bbr => (Recovery::Rack(rack::Config::default()), Congestion::Bbr(bbr::Config::default())),
            Self::Xcp => (Recovery::NewReno(newreno::Config {}), Congestion::Xcp(xcp::Config::default())),
        }
    }
}

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Handshake {
    /// SYN, SYN+ACK, ACK.
    Full,
    /// The data sender's 40-byte SYN is acknowledged; no SYN comes back, no FIN at the end (ns-2).
    Partial,
    /// The first data segment is the SYN too; the initial window leaves at once. No FIN at the end.
    DataOnSyn,
    /// The connection is open from the start. No FIN at the end.
    None,
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AckPolicy {
    /// Segments to an acknowledgement when all is in order. Default: 1 (RFC 9293 §3.8.6.3 allows
    /// 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
    /// The longest delay of an acknowledgement. Default: `rfc`: 200 ms. `ns2`: 100 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

/// The window after an idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdleRestart {
    /// The timer keeps running when all is acknowledged, and its expiry sets the window to one.
    Ns2,
    /// At most the initial window after one RTO without sending (RFC 5681 §4.1).
    Rfc5681,
    /// The window stays.
    Off,
}

/// How spurious retransmission timeouts are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spurious {
    /// Not at all.
    #[default]
    None,
    /// By time stamps (RFC 3522), with the response of RFC 4015.
    Eifel,
    /// By the first acknowledgements after the timeout (RFC 5682), with the response of RFC 4015.
    FRto,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rto {
    /// Least value. Default: `rfc`: 1 s (RFC 6298 §2.4). `ns2`: 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Duration>,
    /// Greatest value, back-off included. Default: 60 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Duration>,
    /// Profile `ns2`: the most by which back-off multiplies the timer, as 64 in ns-2.29, whose timer stays there below `max`. None: it
    /// is doubled until it reaches `max`, as ns-2.35 does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_backoff: Option<u32>,
    /// Before the first sample. Default: `rfc`: 1 s (RFC 6298 §2.1). `ns2`: 3 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Duration>,
    /// Clock granularity G. Default: `rfc`: 1 ms. `ns2`: 10 ms (`tcpTick_`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<Duration>,
    /// Which mean the deviation is taken from. Default: `rfc`.
    pub order: RtoOrder,
}

/// Which smoothed round-trip time the variation is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RtoOrder {
    /// The one before the sample (RFC 6298 §2.3).
    #[default]
    Rfc,
    /// The one after it, as the UMTS thesis prints.
    Thesis,
}

impl Config {
    /// Whether ns-2's agents act, and not the standard's.
    pub fn is_ns2(&self, profile: Profile) -> bool {
        self.profile.unwrap_or(profile).is_ns2()
    }

    /// Whether the Linux kernel's TCP acts, and not the standard's.
    pub fn is_linux(&self, profile: Profile) -> bool {
        self.profile.unwrap_or(profile) == Profile::Linux
    }

    /// What does not make sense under `profile`, the first of it.
    pub fn faults(&self, profile: Profile) -> Option<Fault> {
        let unknown = match profile {
            Profile::Ns2 => self.unknown_to_ns2(),
            Profile::Linux => self.unknown_to_linux(),
            Profile::Rfc | Profile::Gpp => self.unknown_to_the_standards(),
        };
        unknown
            .or_else(|| self.out_of_range(profile))
            .or_else(|| self.rto.faults())
            .or_else(|| self.congestion_faults())
    }

    fn congestion_faults(&self) -> Option<Fault> {
        let chosen = self.congestion.as_ref()?;
        chosen.config().check().err().map(|fault| fault.below(&format!("congestion.{}", chosen.name())))
    }

    fn unknown_to_ns2(&self) -> Option<Fault> {
        const STANDARD: &str = "it exists in profile \"rfc\" only";
        const PAIRS: &str = "profile \"ns2\" knows only the usual pairs: choose a variant";
        let xcp = self.variant == Some(Variant::Xcp);
        let (recovery, congestion) = self.variant.unwrap_or(Variant::NewReno).parts();
        let rate_based = matches!(&self.congestion, Some(Congestion::Xcp(xcp)) if xcp.rate_based);
        let halfway = "choose partial, data_on_syn or none";
        first([
            (self.variant == Some(Variant::Cubic), "variant", "ns-2's TCP has no CUBIC", STANDARD),
            (self.variant == Some(Variant::Dctcp), "variant", "ns-2's TCP has no DCTCP", STANDARD),
            (self.variant == Some(Variant::Prague), "variant", "ns-2's TCP has no Prague", STANDARD),
            (self.variant == Some(Variant::Copa), "variant", "ns-2's TCP has no Copa", STANDARD),
            (self.variant == Some(Variant::Ledbat), "variant", "ns-2's TCP has no LEDBAT", STANDARD),
            (self.variant == Some(Variant::Bbr), "variant", "ns-2's TCP has no BBR", STANDARD),
            (self.recovery.as_ref().is_some_and(|one| one.name() != recovery.name()), "recovery", PAIRS, STANDARD),
            (
                self.congestion.as_ref().is_some_and(|one| one.name() != congestion.name()),
                "congestion",
                PAIRS,
                STANDARD,
            ),
            (self.handshake == Some(Handshake::Full), "handshake", "ns-2's connections open halfway", halfway),
            (
                self.idle_restart == Some(IdleRestart::Rfc5681),
                "idle_restart",
                "ns-2's TCP knows no RFC 5681 after an idle time",
                "choose ns2 or off",
            ),
            (self.spurious != Spurious::None, "spurious", "ns-2's TCP does not detect spurious timeouts", STANDARD),
            (self.undo == Some(true), "undo", "ns-2's TCP undoes no reduction of its window", STANDARD),
            (
                xcp && self.timestamps == Some(false),
                "timestamps",
                "ns-2's XCP measures round-trip times by time stamps",
                "leave them on",
            ),
            (rate_based, "congestion.xcp.rate_based", "ns-2's XCP keeps a window", STANDARD),
            (self.accurate_ecn == Some(true), "accurate_ecn", "ns-2's receiver counts no marks", STANDARD),
            (self.path_hint != PathHint::Off, "path_hint", "ns-2's TCP takes no hint", STANDARD),
            (self.dsack == Some(true), "dsack", "ns-2's receiver does not report duplicates", STANDARD),
            (
                self.ack.every.is_some_and(|every| every > 2),
                "ack.every",
                "ns-2's receiver acknowledges each segment, or each second",
                "choose 1 or 2",
            ),
        ])
    }

    /// The kernel has its own recovery and timers, and they have no parameters here; nor is ECN asked for, as by default.
    fn unknown_to_linux(&self) -> Option<Fault> {
        const ELSEWHERE: &str = "it exists in profiles \"rfc\" and \"ns2\" only";
        const CHOICES: &str = "choose reno, cubic or bbr";
        const OWN: &str = "the kernel's TCP has its own";
        let known = |v: Variant| matches!(v, Variant::Reno | Variant::Cubic | Variant::Bbr);
        let odd = |c: &Congestion| match c {
            Congestion::Reno(one) => *one != congestion::reno::Config::default(),
            Congestion::Cubic(one) => {
                let (hystart, fast_convergence) = (one.hystart, one.fast_convergence);
                *one != cubic::Config { hystart, fast_convergence, ..cubic::Config::default() }
            }
            Congestion::Bbr(one) => *one != bbr::Config::default(),
            _ => true,
        };
        let handshake = self.handshake.is_some_and(|h| h != Handshake::Full);
        first([
            (self.variant.is_some_and(|v| !known(v)), "variant", "profile \"linux\" does not have it", CHOICES),
            (
                self.congestion.as_ref().is_some_and(odd),
                "congestion",
                "profile \"linux\" does not have it, or not with these parameters",
                "choose reno, cubic (with hystart and fast_convergence) or bbr",
            ),
            (self.recovery.is_some(), "recovery", OWN, ELSEWHERE),
            (handshake, "handshake", "the kernel opens connections in full", "choose full"),
            (self.ack != AckPolicy::default(), "ack", OWN, ELSEWHERE),
            (self.rto != Rto::default(), "rto", OWN, ELSEWHERE),
            (self.limited_transmit.is_some(), "limited_transmit", OWN, ELSEWHERE),
            (self.max_burst != 0, "max_burst", OWN, ELSEWHERE),
            (self.idle_restart.is_some(), "idle_restart", OWN, ELSEWHERE),
            (self.ecn || self.accurate_ecn == Some(true), "ecn", "the kernel's hosts ask for no ECN", ELSEWHERE),
            (self.timestamps == Some(false), "timestamps", "the kernel's TCP has them on", "leave them on"),
            (self.dsack == Some(false), "dsack", "the kernel's receiver reports duplicates", "leave it on"),
            (self.spurious != Spurious::None, "spurious", "the kernel's TCP has F-RTO always", "leave it out"),
            (self.undo == Some(false), "undo", "the kernel's TCP undoes needless reductions", "leave it on"),
            (self.path_hint != PathHint::Off, "path_hint", "the kernel's TCP takes no hint", ELSEWHERE),
            (self.guard.is_some(), "guard", OWN, ELSEWHERE),
            (self.exact_half.is_some(), "exact_half", OWN, ELSEWHERE),
            (self.boot_time.is_some(), "boot_time", OWN, ELSEWHERE),
            (self.overhead.is_some(), "overhead", OWN, ELSEWHERE),
        ])
    }

    fn unknown_to_the_standards(&self) -> Option<Fault> {
        const SIMULATOR: &str = "it exists in profile \"ns2\" only";
        let (recovery, congestion) = parts(self);
        let xcp = congestion.config().is_explicit();
        first([
            (self.exact_half.is_some(), "exact_half", "the standards cut the window to its half in bytes", SIMULATOR),
            (self.boot_time.is_some(), "boot_time", "the standards' clocks have no phase", SIMULATOR),
            (self.overhead.is_some(), "overhead", "the standards know no random delay before sending", SIMULATOR),
            (
                self.rto.max_backoff.is_some(),
                "rto.max_backoff",
                "the standards bound the timer, not its back-off",
                SIMULATOR,
            ),
            (
                self.accurate_ecn == Some(true) && !self.ecn && !congestion.config().counts_marks(),
                "accurate_ecn",
                "nothing is marked without ECN",
                "set ecn too",
            ),
            (
                self.accurate_ecn == Some(false) && congestion.config().counts_marks(),
                "accurate_ecn",
                "this congestion control answers to counted marks (RFC 8257 §3.2, RFC 9331 §4.2)",
                "leave it on",
            ),
            (
                xcp && recovery.config().reads_sack(),
                "recovery",
                "XCP's header takes the place of SACK blocks",
                "choose newreno, reno or tahoe",
            ),
        ])
    }

    fn out_of_range(&self, profile: Profile) -> Option<Fault> {
        let segment = self.segment.map_or(1, Bytes::get);
        let sizes = limits::segment(self.segment).or_else(|| limits::header(self.header));
        let counts = [
            ("initial_window", self.initial_window),
            ("initial_ssthresh", self.initial_ssthresh),
            ("window", self.window),
            ("ack.every", self.ack.every),
        ];
        let zero = counts.into_iter().find(|(_, count)| *count == Some(0));
        let zero = zero
            .map(|(field, _)| Fault::new(field, format!("{field} is zero: nothing would move"), "expected at least 1"));
        let too_large =
            !profile.is_ns2() && self.window.is_some_and(|w| u64::from(w).saturating_mul(segment) > MAX_WINDOW);
        let phase = self.boot_time.is_some_and(|t| !(0.0..=1e6).contains(&t));
        let rest = || {
            first([
                (too_large, "window", "a window has at most 1 GiB (RFC 7323 §2.3)", "counted in segments"),
                (phase, "boot_time", "the phase of the clock lies between 0 and 1e6 seconds", ""),
            ])
        };
        sizes.or(zero).or_else(rest)
    }
}

/// A check: whether it fails; the parameter, the error, and the expectation.
type Row = (bool, &'static str, &'static str, &'static str);

/// The first that is wrong.
fn first<const N: usize>(rows: [Row; N]) -> Option<Fault> {
    let wrong = rows.into_iter().find(|(wrong, ..)| *wrong);
    wrong.map(|(_, field, message, expected)| Fault::new(field, message, expected))
}

impl Rto {
    fn faults(&self) -> Option<Fault> {
        const ENDLESS: &str = "a retransmission timer of zero would never stop";
        let zero = |time: Option<Duration>| time == Some(Duration::ZERO);
        let least = self.min.unwrap_or(Duration::ZERO);
        first([
            (zero(self.max), "rto.max", ENDLESS, ""),
            (zero(self.initial), "rto.initial", ENDLESS, ""),
            (self.max_backoff == Some(0), "rto.max_backoff", "the timer's plain value is a back-off of 1", ""),
            (zero(self.granularity), "rto.granularity", "a clock's granularity is more than zero", ""),
            (self.max.is_some_and(|most| most < least), "rto.max", "rto.max is less than rto.min", ""),
        ])
    }
}

/// The largest window in bytes (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 1 << 30;
