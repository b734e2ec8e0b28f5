//! The reports of a connection to the flow's source and to observers.

use lasthop_net::engine::{BitRate, Duration};
use lasthop_net::net::{Action, Notice, Variable};

use super::super::settings::FIRST_BYTE;
use super::Sender;

/// The values shown last.
pub(super) struct Shown([f64; 8]);

impl Default for Shown {
    fn default() -> Self {
        Self([f64::NAN; 8])
    }
}

const VARIABLES: [Variable; 8] = [
    Variable::Cwnd,
    Variable::Ssthresh,
    Variable::Rtt,
    Variable::Srtt,
    Variable::Rttvar,
    Variable::Rto,
    Variable::Backoff,
    Variable::Timeouts,
];

impl Sender {
    /// The next notice for the flow's source.
    pub(super) fn tell(&mut self) -> Option<Notice> {
        let c = &mut self.c;
        let hears = self.seat.hears;
        let bytes = |seq: u64, fin: bool| seq.saturating_sub(FIRST_BYTE + u64::from(fin));
        if hears.sent {
            let sent = bytes(c.nxt, c.fin_sent);
            if std::mem::replace(&mut c.told_sent, sent) != sent {
                return Some(Notice::Sent(sent));
            }
        }
        if hears.rate
            && let Some(srtt) = c.rto.srtt().filter(|srtt| *srtt > Duration::ZERO)
        {
            // What the connection allows: the window over the smoothed round-trip time, at most the pacing rate.
            let bps = u128::from(c.window) * 8_000_000_000 / u128::from(srtt.as_nanos());
            let allowed = BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX));
            let rate = c.pacing.map_or(allowed, |pacing| pacing.min(allowed));
            if c.told_rate.replace(rate) != Some(rate) {
                return Some(Notice::Rate(rate));
            }
        }
        if hears.acked {
            let acked = bytes(c.una, c.fin_sent && c.una == c.nxt);
            if std::mem::replace(&mut c.told_acked, acked) != acked {
                return Some(Notice::Acked(acked));
            }
        }
        None
    }

    /// The next variable that has changed.
    pub(super) fn show(&mut self) -> Option<Action> {
        let c = &self.c;
        let smss = f64::from(self.settings.smss);
        let values = [
            c.window as f64 / smss,
            c.congestion.ssthresh().map_or(f64::NAN, |s| s as f64 / smss),
            if c.last_rtt == Duration::ZERO { f64::NAN } else { c.last_rtt.as_secs_f64() },
            c.rto.srtt().map_or(f64::NAN, Duration::as_secs_f64),
            c.rto.srtt().map_or(f64::NAN, |_| c.rto.rttvar().as_secs_f64()),
            c.rto.rto().as_secs_f64(),
            c.rto.backoff(),
            self.totals.timeouts as f64,
        ];
        for ((shown, value), variable) in self.shown.get_or_insert_default().0.iter_mut().zip(values).zip(VARIABLES) {
            if *shown != value && !value.is_nan() {
                *shown = value;
                return Some(Action::Observe(variable, value));
            }
        }
        None
    }
}
