//! CCID 2: TCP-like congestion control (RFC 4341): SACK without reliability.
//!
//! [`TcpLike`] says how many packets may be in the network, `flight` how many are and which are lost,
//! `ack_ratio` how often the receiver is to acknowledge. Here they meet the timer and the headers.

mod ack_ratio;
mod flight;
mod history;
mod receiver;

pub use receiver::Receiver;

use crate::transport::congestion::tcp_like::TcpLike;
use crate::transport::congestion::{
    AckSample, Begun, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, Sent,
};
use crate::transport::half_connection::{Outbox, Sending};
use crate::transport::tcp::config::Rto;
use crate::transport::tcp::rto::{RtoConfig, RtoEstimator};
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{DccpHeader, DccpOptions, DccpType, Ecn, Header, Histogram, Packet, Probe, Timed, Variable};

use super::IP_BYTES;
use ack_ratio::AckRatio;
use flight::Flight;
use receiver::LONGEST_DELAY;

/// The sending machine.
pub struct Sender {
    outbox: Outbox,
    segment: u32,
    state: State,
    totals: Totals,
    shown: [f64; VARIABLES.len()],
}

/// What it knows of the connection.
struct State {
    window: TcpLike,
    flight: Flight,
    ratio: AckRatio,
    rto: RtoEstimator,
    rto_at: Option<Instant>,
    last_rtt: Option<Duration>,
    /// Packets before this one were sent when the last congestion event was detected, when the
    /// last round-trip time was taken, and when the last window of data was acknowledged.
    answered: u64,
    timed: u64,
    rounded: u64,
    /// The highest acknowledgement that came, and data packets since one was acknowledged.
    heard: Option<u64>,
    unheard: u32,
}

#[derive(Default)]
struct Totals {
    timeouts: u64,
    cuts: u64,
    lost: u64,
    /// Of earlier connections.
    lost_acks: u64,
    rtts: Histogram,
}

impl State {
    fn new(segment: u32) -> Self {
        // RFC 4341 §5: no least timeout. So the time for which an acknowledgement may be held back
        // has to be reckoned with.
        let seat = EndpointContext {
            smss: 1,
            header: 0,
            options: 0,
            initial_window: TcpLike::initial(segment).into(),
            initial_ssthresh: u64::MAX,
            sack: true,
            flow: 0,
            seed: 0,
            begun: Begun::default(),
        };
        let rto = RtoConfig::new(&Rto { min: Some(Duration::ZERO), ..Rto::default() });
        Self {
            window: TcpLike::new(&seat),
            flight: Flight::default(),
            ratio: AckRatio::new(),
            rto: RtoEstimator::new(rto.with_ack_delay(LONGEST_DELAY)),
            rto_at: None,
            last_rtt: None,
            answered: 0,
            timed: 0,
            rounded: 0,
            heard: None,
            unheard: 0,
        }
    }

    /// The congestion window, packets.
    fn cwnd(&self) -> u32 {
        self.window.window() as u32
    }

    /// The type of the next data packet, its acknowledgement number and its options: the receiver's
    /// acknowledgements are acknowledged once for each window (RFC 4341 §6.2).
    #[inline]
    fn acknowledge(&mut self, now: Instant, number: u64) -> (DccpType, u64, DccpOptions) {
        self.unheard += 1;
        let Some(heard) = self.heard else { return (DccpType::Data, 0, DccpOptions::None) };
        let question = self.ratio.question(now, number, self.rto.rto());
        if question.is_none() && u64::from(self.unheard) < self.window.window() {
            return (DccpType::Data, 0, DccpOptions::None);
        }
        self.unheard = 0;
        (DccpType::DataAck, heard, question.map_or(DccpOptions::None, DccpOptions::AckRatio))
    }
}

impl Sender {
    /// A machine that sends packets of `segment` bytes, with a backlog of `buffer` writes.
    pub fn new(segment: u32, buffer: usize) -> Self {
        Self {
            outbox: Outbox::new(segment, buffer),
            segment,
            state: State::new(segment),
            totals: Totals::default(),
            shown: [f64::NAN; VARIABLES.len()],
        }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        let state = &mut self.state;
        if state.rto_at.is_none_or(|at| at > now) {
            return;
        }
        state.rto_at = None;
        state.rto.back_off();
        state.flight.on_timeout();
        state.window.on_timeout(now, state.flight.pipe().into(), false);
        state.answered = state.flight.next();
        state.ratio.limit(state.cwnd());
        self.totals.timeouts += 1;
        self.totals.cuts += 1;
        self.outbox.give_up();
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.state.rto_at
    }
}

impl Sending for Sender {
    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn on_answer(&mut self, now: Instant, packet: &Packet) -> bool {
        let Header::Dccp(header) = &packet.header else { return false };
        let DccpOptions::AckVector { vector, confirm } = &header.options else { return false };
        let state = &mut self.state;
        state.ratio.on_ack(now, header.seq, packet.ecn == Ecn::Ce);
        state.ratio.on_confirm(header.ack, *confirm);
        state.heard = state.heard.max(Some(header.seq));
        // RFC 2861: a window that is not in use does not grow.
        let in_use = state.flight.pipe() >= state.cwnd();
        let heard = state.flight.on_ack(header.ack, vector, state.answered);
        if let Some(sent_at) = heard.sent_at {
            self.outbox.on_acked(heard.end);
            if header.ack >= state.timed {
                let rtt = now.since(sent_at);
                state.rto.on_sample(rtt, true);
                state.timed = state.flight.next();
                state.last_rtt = Some(rtt);
                self.totals.rtts.add(rtt.as_nanos());
            }
        }
        self.totals.lost += u64::from(heard.lost);
        if heard.congestion {
            state.answered = state.flight.next();
            let (kind, flight) = (CongestionKind::Loss, state.flight.pipe().into());
            let event = CongestionEvent { now, kind, flight, lost: self.totals.lost, resent: false };
            state.window.on_congestion(&event);
            state.ratio.limit(state.cwnd());
            self.totals.cuts += 1;
        } else if in_use {
            let (acked, ack_every) = (heard.clean.into(), state.ratio.agreed().into());
            state.window.on_ack(&AckSample { now, acked, ack_every, window_limited: true, ..AckSample::default() });
        }
        if header.ack >= state.rounded {
            state.rounded = state.flight.next();
            state.ratio.on_window(state.cwnd());
        }
        if heard.came > 0 {
            state.rto_at = (state.flight.pipe() > 0).then(|| now + state.rto.rto());
        }
        heard.came > 0
    }

    fn take(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let state = &mut self.state;
        if state.flight.pipe() >= state.cwnd() {
            return false;
        }
        let Some(payload) = self.outbox.peek() else { return false };
        self.outbox.send(payload);
        let (seq, end) = (state.flight.next(), self.outbox.end());
        state.flight.on_sent(now, end);
        state.rto_at.get_or_insert(now + state.rto.rto());
        let (kind, ack, options) = state.acknowledge(now, seq);
        let (more, rto) = (!self.outbox.is_empty(), state.rto.rto());
        state.window.on_sent(&Sent {
            now,
            bytes: 1,
            in_flight: state.flight.pipe().into(),
            more,
            rto,
            ..Sent::default()
        });
        let header = DccpHeader { kind, ccval: 0, seq, ack, payload, end, options };
        packet.ecn = Ecn::Ect0;
        packet.size = IP_BYTES + header.bytes() + payload;
        packet.header = Header::Dccp(header);
        true
    }

    fn show(&mut self) -> Option<(Variable, f64)> {
        let state = &self.state;
        let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        let values = [
            state.cwnd().into(),
            state.window.ssthresh().map_or(f64::NAN, |packets| packets as f64),
            seconds(state.last_rtt),
            seconds(state.rto.srtt()),
            seconds(state.rto.srtt().map(|_| state.rto.rttvar())),
            state.rto.rto().as_secs_f64(),
            state.rto.backoff(),
            self.totals.timeouts as f64,
        ];
        let changed = |(shown, value): (&f64, &f64)| shown != value && !value.is_nan();
        let place = self.shown.iter().zip(&values).position(changed)?;
        self.shown[place] = values[place];
        Some((VARIABLES[place], values[place]))
    }

    fn reset(&mut self) {
        self.totals.lost_acks += self.state.ratio.lost();
        self.state = State::new(self.segment);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (state, totals) = (&self.state, &self.totals);
        self.outbox.sample(probe);
        probe.value("timeouts", totals.timeouts as f64);
        probe.value("window_cuts", totals.cuts as f64);
        probe.value("lost_packets", totals.lost as f64);
        probe.value("lost_acks", (totals.lost_acks + state.ratio.lost()) as f64);
        probe.value("cwnd_packets", state.cwnd().into());
        if let Some(ssthresh) = state.window.ssthresh() {
            probe.value("ssthresh_packets", ssthresh as f64);
        }
        probe.value("in_flight_packets", state.flight.pipe().into());
        probe.value("ack_ratio", state.ratio.agreed().into());
        if let Some(srtt) = state.rto.srtt() {
            probe.value("srtt_ms", srtt.as_secs_f64() * 1e3);
        }
        probe.value("rto_ms", state.rto.rto().as_secs_f64() * 1e3);
        probe.distribution("rtt_ms", 1e-6, &totals.rtts);
    }
}

/// What can be observed of it.
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
