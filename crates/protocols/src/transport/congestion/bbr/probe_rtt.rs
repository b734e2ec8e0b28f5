//! The least round-trip time and ProbeRTT (draft-ietf-ccwg-bbr §5.3.4, §5.5.7).

use lasthop_net::engine::{Duration, Instant};

use super::Bbr;
use super::ack::Ack;
use super::probe_bw::AckPhase;
use super::state::State;

/// MinRTTFilterLen (§2.16.1).
const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// ProbeRTTInterval (§2.16.2).
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// ProbeRTTDuration (§2.16.2).
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

/// The estimate of the round-trip propagation delay, and the times of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// BBR.min_rtt; none yet: Infinity.
    pub(super) min_rtt: Option<Duration>,
    /// BBR.min_rtt_stamp.
    stamp: Instant,
    /// BBR.probe_rtt_min_delay.
    probe_min: Option<Duration>,
    /// BBR.probe_rtt_min_stamp.
    probe_stamp: Instant,
    /// BBR.probe_rtt_expired.
    expired: bool,
    /// BBR.probe_rtt_done_stamp, once the flight is small.
    done_at: Option<Instant>,
    /// BBR.probe_rtt_round_done.
    round_done: bool,
}

impl MinRtt {
    /// OnInit() (§5.2.1).
    pub(super) fn new(now: Instant, srtt: Duration) -> Self {
        let min_rtt = (srtt > Duration::ZERO).then_some(srtt);
        Self { min_rtt, stamp: now, probe_stamp: now, ..Self::default() }
    }

    /// UpdateMinRTT() (§5.3.4.3).
    pub(super) fn update(&mut self, now: Instant, rtt: Option<Duration>) {
        self.expired = now > self.probe_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rtt
            && (self.expired || self.probe_min.is_none_or(|least| rtt < least))
        {
            self.probe_min = Some(rtt);
            self.probe_stamp = now;
        }
        let Some(probe_min) = self.probe_min else { return };
        if now > self.stamp + MIN_RTT_FILTER_LEN || self.min_rtt.is_none_or(|least| probe_min < least) {
            self.min_rtt = Some(probe_min);
            self.stamp = self.probe_stamp;
        }
    }
}

impl Bbr {
    /// CheckProbeRTT() (§5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.delay.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.delay.done_at = None;
            self.cycle.phase = AckPhase::ProbeStopping;
            self.rounds.begin(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        self.idle_restart &= ack.volume == 0;
    }

    /// HandleProbeRTT().
    fn handle_probe_rtt(&mut self, ack: &Ack) {
        self.holds_back = true;
        if self.delay.done_at.is_some() {
            self.delay.round_done |= self.rounds.start;
            if self.delay.round_done {
                self.check_probe_rtt_done(ack.now);
            }
        } else if ack.in_flight <= self.probe_rtt_cwnd() {
            self.delay.done_at = Some(ack.now + PROBE_RTT_DURATION);
            self.delay.round_done = false;
            self.rounds.begin(self.delivered);
        }
    }

    /// CheckProbeRTTDone(), ExitProbeRTT() (§5.3.4.4).
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.delay.done_at.is_none_or(|done| now <= done) {
            return;
        }
        self.delay.probe_stamp = now;
        self.restore_cwnd();
        self.bounds.reset_short_term();
        self.state = State::Startup;
        if self.full.reached {
            self.start_down(now);
            self.state = State::Cruise;
        }
    }
}
