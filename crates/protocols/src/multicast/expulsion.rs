//! Expulsion: the manager of a group takes out of it a receiver whose channel stays bad, since the whole group follows the worst receiver.
//!
//! Alexiou, Bouras and Papazois (2009, §6) leave this to future work and give no rule. Here, at the end of every feedback round, the
//! present representative is low if its rate is below a share of the next lowest that is known, or below what the application needs.
//! It is bad if it is low and packets for it found no room in front of its radio since it represents the group: so it is the radio that
//! is slow, not the network. One that has been bad for a time is expelled, and let in again later, each time after twice as long.
//!
//! PGMCC's receivers report no rate; 1/(R √p) stands for it. Their loss rate halves every 90 packets, so an acker whose queue overflows
//! once in half a minute is seldom low for long enough.
//!
//! A query in each round would expel no receiver: senders follow the slow radio within seconds, and then its queue overflows once in half a
//! minute or so.
//!
//! A round is six times the largest round-trip time reported in the one before, of at least 0.5 s, as in RFC 4654 §3.4. The number of
//! packets that found no room is queried from the machines of [`super::membership`] on the way to the receiver: the first whose
//! interface knows answers.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::membership;
use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::guard::Guard;
use lasthop_net::net::{
    Action, EndpointContext, GroupId, Header, NodeId, Packet, PgmHeader, PgmReport, Probe, Signal, SignalHeader,
    Socket, Timed,
};

/// How many round-trip times a feedback round takes, and the least round-trip time that is reckoned with (RFC 4654 §3.1, §3.4).
const ROUND: u64 = 6;
const LEAST_RTT: Duration = Duration::from_millis(500);
/// For how many rounds a report counts. A receiver that has been silent for longer is not limiting: TFMCC's receivers report when they are
/// slow, PGMCC's when packets are missing.
const FRESH: u64 = 3;
/// One of PGMCC's loss rates.
const LOSS_ONE: f64 = 65_536.0;

/// When a receiver is taken out of a group, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Expulsion")]
pub struct Config {
    /// It is bad below this share of the next lowest rate. Default: 0.5.
    pub ratio: f64,
    /// It is bad below this rate, too. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<BitRate>,
    /// For how long it must be bad. Default: 30 s.
    pub after: Duration,
    /// For how long it is kept out the first time; each time twice as long. Default: 60 s.
    pub readmit: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { ratio: 0.5, least: None, after: Duration::from_secs(30), readmit: Duration::from_secs(60) }
    }
}

impl Config {
    /// Whether it makes sense.
    ///
    /// # Errors
    /// The first parameter that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if !(0.0..1.0).contains(&self.ratio) {
            return Err(Fault::new(
                "ratio",
                format!("a share of {}", self.ratio),
                "expected 0 or more, and less than 1",
            ));
        }
        if self.readmit == Duration::ZERO {
            return Err(Fault::new("readmit", "kept out for 0 s", "expected a time"));
        }
        Ok(())
    }
}

/// What a receiver said last.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Its rate, or for PGMCC 1/(R √p), which orders receivers in the same way, and when it said so.
    rate: f64,
    at: Instant,
}

/// A representative that is low, and since when it is bad.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    receiver: NodeId,
    bad_since: Option<Instant>,
}

/// Stands before the sending end of a flow to a group.
pub struct Judge {
    seat: EndpointContext,
    group: GroupId,
    config: Config,
    known: BTreeMap<NodeId, Known>,
    /// The representative of the group (CLR or acker), and since when.
    representative: Option<(NodeId, Instant)>,
    suspect: Option<Suspect>,
    /// The largest round-trip time in this round, and when the round ends; none before the first report.
    rtt: Duration,
    round_ends: Option<Instant>,
    round: Duration,
    /// The expelled receivers and the ends of their expulsions; and how often each receiver was expelled.
    outside: BTreeMap<NodeId, Instant>,
    times: BTreeMap<NodeId, u32>,
    messages: VecDeque<(NodeId, Signal)>,
    sent: u64,
    expulsions: u64,
    readmissions: u64,
}

impl Judge {
    /// The judge of `group` before the endpoint at `seat`.
    pub fn new(config: &Config, group: GroupId, seat: EndpointContext) -> Self {
        Self {
            seat,
            group,
            config: config.clone(),
            known: BTreeMap::new(),
            representative: None,
            suspect: None,
            rtt: Duration::ZERO,
            round_ends: None,
            round: LEAST_RTT * ROUND,
            outside: BTreeMap::new(),
            times: BTreeMap::new(),
            messages: VecDeque::new(),
            sent: 0,
            expulsions: 0,
            readmissions: 0,
        }
    }

    /// A receiver reports its rate; `echo` is when the packet left that it answers.
    fn on_report(&mut self, now: Instant, receiver: NodeId, rate: f64, echo: Instant) {
        if self.outside.contains_key(&receiver) {
            return;
        }
        self.rtt = self.rtt.max(now.since(echo));
        self.known.insert(receiver, Known { rate, at: now });
        self.round_ends.get_or_insert(now + self.round);
    }

    fn on_pgm_report(&mut self, now: Instant, report: &PgmReport) {
        let rtt = now.since(report.echo).as_secs_f64().max(1e-3);
        let loss = f64::from(report.loss) / LOSS_ONE;
        self.on_report(now, report.receiver, 1.0 / (rtt * loss.sqrt()), report.echo);
    }

    /// A round is over.
    fn on_round(&mut self, now: Instant) {
        self.round = self.rtt.max(LEAST_RTT) * ROUND;
        self.rtt = Duration::ZERO;
        self.round_ends = Some(now + self.round);
        let due: Vec<NodeId> = self.outside.iter().filter(|(_, at)| **at <= now).map(|(node, _)| *node).collect();
        for node in due {
            self.outside.remove(&node);
            self.readmissions += 1;
            self.messages.push_back((node, Signal::Admit));
        }
        let Some((receiver, _)) = self.representative.filter(|(node, _)| self.is_low(now, *node)) else {
            self.suspect = None;
            return;
        };
        if self.suspect.is_none_or(|suspect| suspect.receiver != receiver) {
            self.suspect = Some(Suspect { receiver, bad_since: None });
        }
        self.messages.push_back((receiver, Signal::Rejections));
    }

    /// Whether a receiver's rate is far below that of all others, or too low.
    fn is_low(&self, now: Instant, receiver: NodeId) -> bool {
        let Some(own) = self.known.get(&receiver) else { return false };
        let fresh = self.round * FRESH;
        let rate = |known: &Known| if now.since(known.at) <= fresh { known.rate } else { f64::INFINITY };
        let others = self.known.iter().filter(|(node, _)| **node != receiver).map(|(_, known)| rate(known));
        let next = others.min_by(f64::total_cmp);
        let too_low = self.config.least.is_some_and(|least| own.rate * 8.0 < least.as_bps() as f64);
        too_low || next.is_some_and(|next| own.rate < self.config.ratio * next)
    }

    /// The number of packets for the representative that have found no room so far, and how long ago the last of them came.
    fn on_rejected(&mut self, now: Instant, receiver: NodeId, rejected: u32, ago: Duration) {
        let Some((_, since)) = self.representative.filter(|(node, _)| *node == receiver) else { return };
        let Some(suspect) = self.suspect.as_mut().filter(|suspect| suspect.receiver == receiver) else { return };
        if rejected > 0 && ago <= now.since(since) {
            suspect.bad_since.get_or_insert(now);
        }
        if suspect.bad_since.is_some_and(|since| now.since(since) >= self.config.after) {
            self.expel(now, receiver);
        }
    }

    fn expel(&mut self, now: Instant, receiver: NodeId) {
        const DOUBLINGS: u32 = 20;
        let times = self.times.entry(receiver).or_default();
        self.outside.insert(receiver, now + self.config.readmit * (1 << (*times).min(DOUBLINGS)));
        *times += 1;
        self.expulsions += 1;
        self.known.remove(&receiver);
        (self.suspect, self.representative) = (None, None);
        self.messages.push_back((receiver, Signal::Expel));
    }
}

impl Timed for Judge {
    fn on_timeout(&mut self, now: Instant) {
        self.on_round(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.round_ends
    }
}

impl Guard for Judge {
    fn on_signal(&mut self, now: Instant, header: &SignalHeader) {
        if header.kind == Signal::Rejected {
            self.on_rejected(now, header.node, header.number, header.refresh);
        }
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet) {
        match &packet.header {
            Header::TfmccReport(report) if !report.leaving => {
                self.on_report(now, report.receiver, report.rate, report.echo);
            }
            Header::Pgm(PgmHeader::Nak(nak)) => self.on_pgm_report(now, &nak.report),
            Header::Pgm(PgmHeader::Ack(ack)) if !ack.leaving => self.on_pgm_report(now, &ack.report),
            _ => {}
        }
    }

    fn poll(&mut self, packet: &mut Packet) -> Option<Action> {
        let (receiver, kind) = self.messages.pop_front()?;
        let asks = kind == Signal::Rejections;
        let number = if asks { 0 } else { self.group.0 };
        // Of a group's members the machines know by its sender, of rejections by the receiver.
        let node = if asks { receiver } else { self.seat.local.node };
        let header = SignalHeader {
            kind,
            flow: self.seat.flow,
            sender: self.seat.local,
            node,
            number,
            ..SignalHeader::default()
        };
        let to = Socket { node: receiver, port: membership::PORT };
        *packet = header.packet(self.seat.local, to, self.sent, membership::MESSAGE_BYTES);
        self.sent += 1;
        Some(if asks { Action::SendToward(receiver) } else { Action::Send })
    }

    /// Data name the representative.
    fn lets_pass(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let named = match &packet.header {
            Header::Tfmcc(header) if header.is_clr => header.echo.map(|echo| echo.receiver),
            Header::Pgm(PgmHeader::Data(data)) => data.acker,
            _ => None,
        };
        let is_news = |node: &NodeId| self.representative.is_none_or(|(known, _)| known != *node);
        if let Some(node) = named.filter(|node| is_news(node) && !self.outside.contains_key(node)) {
            self.representative = Some((node, now));
        }
        true
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("expelled", self.outside.len() as f64);
        probe.value("expulsions", self.expulsions as f64);
        probe.value("readmissions", self.readmissions as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::net::{Address, FlowId};
    use lasthop_net::net::{Hears, Socket};

    fn judge() -> Judge {
        let local = Socket { node: NodeId(0), port: 9 };
        let seat = EndpointContext {
            local,
            remote: Address::Group(GroupId(4)),
            remote_port: 9,
            flow: FlowId(2),
            hears: Hears::default(),
            observed: false,
        };
        Judge::new(&Config::default(), GroupId(4), seat)
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// Rounds of 3 s up to `until`: receiver 1 represents the group at `rate`, 2 and 3 could have 100 and 120; `rejected` are the packets
    /// that found no room, and how many seconds before the last of them came. Gives the messages sent, and when.
    fn rounds(judge: &mut Judge, from: u64, until: u64, rate: f64, rejected: (u32, u64)) -> Vec<(u64, NodeId, Signal)> {
        let mut said = Vec::new();
        for second in from..until {
            let now = at(second);
            let can = !judge.outside.contains_key(&NodeId(1));
            judge.representative = judge.representative.or(can.then_some((NodeId(1), now)));
            for (node, rate) in [(1, rate), (2, 100.0), (3, 120.0)] {
                judge.on_report(now, NodeId(node), rate, now);
            }
            if judge.next_timeout().is_some_and(|due| due <= now) {
                judge.on_timeout(now);
            }
            let mut packet = judge.seat.packet(0, 0, 0, Header::Signal(SignalHeader::default()));
            while let Some(action) = judge.poll(&mut packet) {
                let header = *packet.signal().unwrap();
                let Address::Node(to) = packet.to else { panic!("to a node") };
                assert_eq!(action == Action::Send, header.kind != Signal::Rejections);
                if header.kind == Signal::Rejections {
                    assert_eq!((to, header.node, header.flow), (NodeId(1), NodeId(1), FlowId(2)));
                    let refresh = Duration::from_secs(rejected.1);
                    let answer = SignalHeader { kind: Signal::Rejected, number: rejected.0, refresh, ..header };
                    judge.on_signal(now, &answer);
                } else {
                    assert_eq!((header.number, header.node), (4, NodeId(0)));
                    said.push((second, to, header.kind));
                }
            }
        }
        said
    }

    /// The first answer begins the 30 s; 60 s later it may return, after a second time 120 s later.
    #[test]
    fn the_bad_are_out_for_longer_each_time() {
        let mut judge = judge();
        let said = rounds(&mut judge, 1, 240, 40.0, (3, 1));
        let seconds: Vec<u64> = said.iter().map(|(second, ..)| *second).collect();
        let kinds: Vec<Signal> = said.iter().map(|(.., kind)| *kind).collect();
        assert_eq!(kinds, [Signal::Expel, Signal::Admit, Signal::Expel]);
        // Rounds end every 3 s, from the fourth on.
        assert_eq!(seconds, [34, 94, 127]);
        let said = rounds(&mut judge, 240, 260, 40.0, (3, 1));
        assert_eq!(said, [(247, NodeId(1), Signal::Admit)]);
        assert_eq!((judge.expulsions, judge.readmissions), (2, 2));
    }

    #[test]
    fn nobody_is_out_without_both_signs() {
        assert!(rounds(&mut judge(), 1, 200, 51.0, (3, 0)).is_empty(), "more than half of the next lowest");
        assert!(rounds(&mut judge(), 1, 200, 40.0, (0, 0)).is_empty(), "room for all");
        assert!(rounds(&mut judge(), 1, 200, 40.0, (3, 200)).is_empty(), "room for all since it represents the group");
        // A round in which it is not low begins the time anew.
        let mut judge = judge();
        assert!(rounds(&mut judge, 1, 30, 40.0, (3, 1)).is_empty());
        assert!(rounds(&mut judge, 30, 34, 60.0, (3, 1)).is_empty());
        assert_eq!(rounds(&mut judge, 34, 70, 40.0, (3, 1)), [(64, NodeId(1), Signal::Expel)]);
    }

    /// Too low for the application, though all have the same.
    #[test]
    fn a_least_rate_expels_too() {
        let mut judge = judge();
        judge.config.least = Some(BitRate::from_bps(1000));
        assert_eq!(rounds(&mut judge, 1, 60, 100.0, (1, 0)).len(), 1);
        let said = {
            let mut judge = super::tests::judge();
            judge.config.least = Some(BitRate::from_bps(700));
            rounds(&mut judge, 1, 60, 100.0, (1, 0))
        };
        assert!(said.is_empty());
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused() {
        assert_eq!(Config::default().check(), Ok(()));
        let field = |config: Config| config.check().unwrap_err().field;
        assert_eq!(field(Config { ratio: 1.0, ..Config::default() }), "ratio");
        assert_eq!(field(Config { ratio: f64::NAN, ..Config::default() }), "ratio");
        assert_eq!(field(Config { readmit: Duration::ZERO, ..Config::default() }), "readmit");
    }

    /// PGMCC's order of receivers: twice the round trip or four times the losses cost half.
    #[test]
    fn reports_of_pgmcc_are_rates_but_for_a_factor() {
        let mut judge = judge();
        let report = |node, loss, sent: u64| PgmReport { receiver: NodeId(node), loss, last_seq: 0, echo: at(sent) };
        for (node, loss, sent) in [(1, 1000, 9), (2, 4000, 9), (3, 1000, 8), (5, 0, 9)] {
            judge.on_pgm_report(at(10), &report(node, loss, sent));
        }
        let rate = |node| judge.known[&NodeId(node)].rate;
        assert!((rate(1) / rate(2) - 2.0).abs() < 1e-9 && (rate(1) / rate(3) - 2.0).abs() < 1e-9);
        assert!(rate(5).is_infinite());
        assert_eq!(judge.rtt, Duration::from_secs(2));
    }
}
