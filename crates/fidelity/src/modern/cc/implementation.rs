//! The implementations whose logs there are: what stands for each here, how it paces, and how alike the two are.

use lasthop_core::transport::congestion::{Congestion, bbr, copa, cubic, reno};

use super::path::Path;
use super::quic::PACKET;

/// How a log of an implementation can be compared.
pub struct Implementation {
    pub congestion: Congestion,
    pub pacing: Pacing,
    /// Bytes.
    pub initial_window: u64,
    /// It takes packets sent when the connection begins for sent before the last reduction.
    pub cut_at_start: bool,
    /// Bytes counted towards the next growth outlast a reduction; here counting begins anew (RFC 5681 leaves both open).
    pub keeps_count: bool,
    pub likeness: Likeness,
}

/// How fast packets leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// As the controller says.
    Own,
    /// A number of windows in a smoothed round trip, in slow start and after; before there is one, in `initial` seconds, or at once.
    Windows { slow_start: f64, avoidance: f64, initial: Option<f64> },
}

/// How alike the arithmetic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same: windows are equal.
    Same,
    /// The same algorithm, with other arithmetic, for this reason: event logs are left out, and runs agree by their means.
    Means(&'static str),
    /// Another algorithm: left out, for this reason.
    Other(&'static str),
}

/// What is compared of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The mean rate.
    Rate,
    /// Packets lost.
    Lost,
}

impl Implementation {
    /// Why a run over this path may differ from all implementations in a measure, if that is known.
    pub fn cause(&self, measure: Measure, path: &Path) -> Option<&'static str> {
        // LossThresh (draft-ietf-ccwg-bbr §2.5) is 2 %.
        let is_above_threshold = path.loses.is_some_and(|every| every < 50);
        let is_long = path.stretches.iter().any(|stretch| stretch.rtt >= LONG);
        match (&self.congestion, measure) {
            (Congestion::Bbr(_), _) if is_above_threshold => Some(BBR_LOSSES),
            (Congestion::Bbr(_), Measure::Lost) if is_long => Some(BBR_LONG),
            (Congestion::Cubic(_), Measure::Lost) => Some(CUBIC),
            _ => None,
        }
    }

    /// That of this name in an index.
    pub fn of(who: &str) -> Option<Self> {
        let reno = || Congestion::Reno(reno::Config::default());
        let cubic = |hystart| Congestion::Cubic(cubic::Config { hystart, ..cubic::Config::default() });
        // draft-ietf-ccwg-bbr §5.5.10.2 ends a probe for one lost packet of fewer than 50; quiche, s2n and picoquic ask for more.
        let bbr = || Congestion::Bbr(bbr::Config { loss_bursts: 2 });
        let implementation = |congestion, pacing, likeness| Self {
            congestion,
            pacing,
            initial_window: 10 * PACKET,
            cut_at_start: false,
            keeps_count: false,
            likeness,
        };
        let windows = |slow_start, avoidance, initial| Pacing::Windows { slow_start, avoidance, initial };
        Some(match who {
            "quinn-newreno" => Self {
                cut_at_start: true,
                keeps_count: true,
                ..implementation(reno(), windows(1.25, 1.25, INITIAL_RTT), Likeness::Same)
            },
            "picoquic-newreno" => Self {
                initial_window: 15_360,
                ..implementation(reno(), windows(1.25, 1.0, None), Likeness::Means(PICOQUIC_NEWRENO))
            },
            "quinn-cubic" => implementation(cubic(false), windows(1.25, 1.25, INITIAL_RTT), Likeness::Means(CUBIC)),
            "s2n-cubic" => implementation(cubic(true), windows(2.0, 1.25, None), Likeness::Means(CUBIC)),
            "tquic-cubic" => implementation(cubic(true), windows(1.0, 1.0, INITIAL_RTT), Likeness::Means(CUBIC)),
            "picoquic-bbr3" => implementation(bbr(), Pacing::Own, Likeness::Means(PICOQUIC_BBR)),
            "quiche-bbr2" => implementation(bbr(), Pacing::Own, Likeness::Means(BBR2)),
            "s2n-bbr2" => implementation(bbr(), Pacing::Own, Likeness::Means(BBR2)),
            "tquic-copa" => {
                let copa = copa::Config { delta: 0.04, competitive: false };
                implementation(Congestion::Copa(copa), Pacing::Own, Likeness::Other(COPA))
            }
            "quinn-bbr1" => implementation(bbr(), Pacing::Own, Likeness::Other(BBR1)),
            _ => return None,
        })
    }
}

/// RFC 9002 §6.2.2: kInitialRtt, s.
const INITIAL_RTT: Option<f64> = Some(0.333);

/// Startup's ten doublings take longer than ProbeRTTInterval, 5 s (draft-ietf-ccwg-bbr §2.15), µs.
const LONG: f64 = 500e3;

const BBR_LOSSES: &str = "losses above LossThresh lower inflight_longterm with each probe (draft-ietf-ccwg-bbr §5.5.10.2), which stacks count more mildly";
const BBR_LONG: &str = "the draft's ProbeRTT comes in Startup too (§5.3.4), which then overshoots again";
const PICOQUIC_NEWRENO: &str = "the window grows with each acknowledgement (RFC 5681 §3.1, equation 3), in recovery too; here once it is acknowledged whole";
const CUBIC: &str = "RFC 8312: W_est by the time since the loss (§4.2), here by the acknowledged segments (RFC 9438 §4.3), and another end of slow start";
const PICOQUIC_BBR: &str = "picoquic's filter of round-trip times and its longer start on long paths";
const BBR2: &str = "BBRv2, with other rules for losses";
const COPA: &str = "tquic's competitive mode doubles δ above 10 % loss, the reverse of the paper's";
const BBR1: &str = "BBRv1, in which losses bound nothing; here is BBRv3";
