//! The RSVP process of a node (RFC 2205): it keeps the state of each flow that comes through, has rates reserved
//! at its own interfaces, and passes messages from neighbour to neighbour.
//!
//! A message is worked at for as long as it says itself; then what follows from it happens at once. State is
//! soft: it is refreshed hop by hop, each node by its own timers, and forgotten when no refresh comes.
//!
//! More than 500 lines: RSVP's messages all read and write one table of sessions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::qos::signal;
use lasthop_net::engine::{BitRate, Duration, Instant, Stream};
use lasthop_net::net::{
    Action, Answer, Command, Endpoint, EndpointContext, FlowId, LinkNotice, NodeId, Notice, Order, Packet, Port, Probe,
    Signal, SignalHeader, Socket, Timed,
};

/// The port of the RSVP process at every node.
pub const PORT: u16 = 1;

/// Flags of an RSVP message.
pub mod flag {
    /// The receiver asks for a confirmation of the reservation (RFC 2205 §2.6).
    pub const CONFIRM: u8 = 1;
    /// Sent because the way has changed, not to refresh (RFC 2205 §3.6). It goes as far as something changes.
    pub const REPAIR: u8 = 2;
    /// At a handover the reservation is transferred instead of signalled anew.
    pub const TRANSFER: u8 = 4;
    /// From a receiver whose access has changed. Until PATH comes it takes the former previous hop for that of the present way.
    pub const HANDOVER: u8 = 8;
}

/// How long state lives without a refresh: (K + 0.5)·1.5·R with K = 3 (RFC 2205 §3.7).
pub fn lifetime(refresh: Duration) -> Duration {
    refresh.mul_f64((3.0 + 0.5) * 1.5)
}

/// When the next refresh is due: uniform in [0.5 R, 1.5 R] (RFC 2205 §3.7).
pub fn next_refresh(now: Instant, refresh: Duration, stream: &mut Stream) -> Instant {
    now + refresh.mul_f64(stream.uniform(0.5, 1.5))
}

/// The RSVP process of one node.
pub struct Agent {
    local: Socket,
    stream: Stream,
    sessions: BTreeMap<FlowId, Session>,
    /// Messages that are being worked at, in the order in which that ends.
    inbox: VecDeque<Message>,
    /// The next actions, in order.
    tasks: VecDeque<Task>,
    /// The question whose answer comes next.
    asked: Option<Question>,
    /// No timer of a session is due before.
    wake: Instant,
    /// Interfaces that are down, and what could not be given back at them.
    down: BTreeSet<u32>,
    stale: Vec<(Port, NodeId, FlowId)>,
    counts: Counts,
}

/// What it counts.
#[derive(Default)]
struct Counts {
    sent: u64,
    received: u64,
    granted: u64,
    refused: u64,
    expired: u64,
    most_sessions: usize,
}

/// The state of one flow.
struct Session {
    /// What the sender says of itself, as the last PATH has it.
    spec: SignalHeader,
    path: Option<Path>,
    resv: Option<Resv>,
    /// The rate that was last asked of the previous hop.
    sent_up: Option<BitRate>,
    /// The interface over which data left, while it is down and no other way leads on. PATH would go back, and is not refreshed.
    lost: Option<Port>,
}

/// Path state: whence the data come.
struct Path {
    previous: Socket,
    via: Port,
    expires: Instant,
    refresh_at: Instant,
}

/// Reservation state: the next hop, and the rate reserved there.
struct Resv {
    next: Socket,
    /// The interface to it; `None` within a node.
    over: Option<Port>,
    rate: BitRate,
    /// Whether the interface holds it. It does not between a handover and the answer to it.
    held: bool,
    /// Hops from here to the receiver that can reserve nothing.
    gaps: u8,
    expires: Instant,
    refresh_at: Instant,
}

/// A message that is being worked at.
struct Message {
    done: Instant,
    from: Socket,
    via: Port,
    header: SignalHeader,
}

/// Something to be done.
enum Task {
    Send(Socket, SignalHeader),
    SendToward(NodeId, SignalHeader),
    Find(NodeId, Question),
    Reserve(Ask),
    Release(Port, NodeId, FlowId),
}

/// What the node is asked.
enum Question {
    /// Which interface leads to the next hop.
    NextHop(Ask),
    /// Which interface leads to the receiver, where another next hop asks.
    DataLeave(Ask),
    /// Whether the rate is reserved there.
    Rate(Ask),
    /// A link has changed: which interface leads to the sender, or to the receiver, of the flow now.
    ToSender(FlowId, LinkNotice),
    ToReceiver(FlowId, LinkNotice),
    /// The interface to the receiver of the flow was lost: which one leads there by now.
    AnotherWay(FlowId),
}

/// A rate that is asked of the interface to the next hop.
#[derive(Clone, Copy)]
struct Ask {
    next: Socket,
    over: Option<Port>,
    rate: BitRate,
    header: SignalHeader,
    /// A second request, for the remaining rate.
    again: bool,
}

impl Agent {
    /// The process of the node at `seat`.
    pub fn new(seat: EndpointContext, stream: Stream) -> Self {
        Self {
            local: seat.local,
            stream,
            sessions: BTreeMap::new(),
            inbox: VecDeque::new(),
            tasks: VecDeque::new(),
            asked: None,
            wake: Instant::MAX,
            down: BTreeSet::new(),
            stale: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn is_here(&self, socket: Socket) -> bool {
        socket.node == self.local.node
    }

    /// What a message means, now that it has been worked at.
    fn handle(&mut self, now: Instant, message: Message) {
        let Message { from, via, header, .. } = message;
        match header.kind {
            Signal::Path => self.on_path(now, from, via, header),
            Signal::Resv => self.on_resv(now, from, header),
            Signal::ResvErr => self.on_resv_err(from, header),
            Signal::ResvTear => self.on_resv_tear(from, header),
            Signal::PathTear => self.on_path_tear(from, header),
            Signal::Context => self.on_context(from, header),
            _ => {}
        }
    }

    /// PATH: data of a flow will come from there (RFC 2205 §3.1.3).
    fn on_path(&mut self, now: Instant, from: Socket, via: Port, header: SignalHeader) {
        let expires = now + lifetime(header.refresh);
        let refresh_at = next_refresh(now, header.refresh, &mut self.stream);
        let spec = SignalHeader { flags: header.flags & flag::TRANSFER, ..header };
        let session = self.sessions.entry(header.flow).or_insert_with(|| Session::new(spec));
        let is_new = session.path.as_ref().is_none_or(|path| path.previous != from);
        let refresh_at = session.path.as_ref().map_or(refresh_at, |path| path.refresh_at);
        session.spec = SignalHeader { number: spec.number.max(session.spec.number), ..spec };
        session.path = Some(Path { previous: from, via, expires, refresh_at });
        if is_new {
            (session.sent_up, session.lost) = (None, None);
        }
        self.wake = self.wake.min(expires).min(refresh_at);
        self.counts.most_sessions = self.counts.most_sessions.max(self.sessions.len());
        let repairs = header.flags & flag::REPAIR != 0;
        let joined = (is_new || repairs) && self.repair_up(header.flow);
        if is_new || (repairs && !joined) {
            self.send_path(header);
        }
    }

    /// The previous hop is another one, or has lost its reservation: the reservation here is requested from it at once (RFC 2205 §3.6).
    /// Says whether there is one.
    fn repair_up(&mut self, flow: FlowId) -> bool {
        let Some(session) = self.sessions.get_mut(&flow) else { return false };
        let (Some(path), Some(resv)) = (&session.path, &session.resv) else { return false };
        let header = SignalHeader { flags: session.spec.flags | flag::REPAIR, ..resv.message(session) };
        session.sent_up = Some(resv.rate);
        self.tasks.push_back(Task::Send(path.previous, header));
        true
    }

    /// Sends PATH on, toward the receiver.
    fn send_path(&mut self, header: SignalHeader) {
        let task = if self.is_here(header.receiver) {
            Task::Send(header.receiver, header)
        } else {
            Task::SendToward(header.receiver.node, header)
        };
        self.tasks.push_back(task);
    }

    /// RESV: this rate is wanted toward there (RFC 2205 §3.1.4).
    fn on_resv(&mut self, now: Instant, from: Socket, header: SignalHeader) {
        let repair = header.flags & flag::REPAIR != 0;
        if !repair && !self.sessions.contains_key(&header.flow) {
            return; // no way is known that it could take
        }
        let spec = SignalHeader { kind: Signal::Path, flags: header.flags & flag::TRANSFER, ..header };
        self.sessions.entry(header.flow).or_insert_with(|| Session::new(spec));
        let ask = Ask { next: from, over: None, rate: header.rate, header, again: false };
        if self.is_here(from) {
            self.reserve(now, ask);
        } else {
            self.tasks.push_back(Task::Find(from.node, Question::NextHop(ask)));
        }
    }

    /// The interface to the next hop is found. Data may leave over another one than at the last refresh.
    fn reserve(&mut self, now: Instant, ask: Ask) {
        let within = self.is_here(ask.next);
        let Some(session) = self.sessions.get_mut(&ask.header.flow) else { return };
        let is_same = |resv: &Resv| resv.next.node == ask.next.node && resv.over == ask.over && resv.rate == ask.rate;
        match &mut session.resv {
            Some(resv) if resv.held && is_same(resv) => {
                resv.expires = now + lifetime(ask.header.refresh);
                self.ask_upstream(ask.header);
            }
            _ if within => self.grant(now, ask, true),
            Some(resv) if resv.next.node == ask.next.node => self.tasks.push_back(Task::Reserve(ask)),
            _ => self.tasks.push_back(Task::Find(session.spec.receiver.node, Question::DataLeave(ask))),
        }
    }

    /// The interface has answered. The receiver learns of a lower rate by the confirmation, and releases the excess behind this hop.
    fn on_answer(&mut self, now: Instant, ask: Ask, answer: Answer) {
        match answer {
            Answer::Done => self.grant(now, ask, true),
            // A hop that reserves nothing is passed, and counted (RFC 2205 §2.9).
            Answer::Unknown
            | Answer::Interface(_)
            | Answer::Offered(..)
            | Answer::Branches(_)
            | Answer::Rejected(_) => self.grant(now, ask, false),
            Answer::Refused(left) if !ask.again && left >= ask.header.floor && left > BitRate::default() => {
                let header = SignalHeader { flags: ask.header.flags | flag::CONFIRM, ..ask.header };
                self.tasks.push_back(Task::Reserve(Ask { rate: left, again: true, header, ..ask }));
            }
            Answer::Refused(_) => self.refuse(ask),
        }
    }

    /// The rate is reserved toward the next hop.
    fn grant(&mut self, now: Instant, ask: Ask, reserves: bool) {
        let Ask { next, over, rate, header, .. } = ask;
        let refresh_at = next_refresh(now, header.refresh, &mut self.stream);
        let Some(session) = self.sessions.get_mut(&header.flow) else { return };
        let resv = Resv {
            next,
            over,
            rate,
            held: true,
            gaps: header.hops.saturating_add(u8::from(!reserves)),
            expires: now + lifetime(header.refresh),
            refresh_at: session.resv.as_ref().map_or(refresh_at, |old| old.refresh_at),
        };
        self.counts.granted += 1;
        self.wake = self.wake.min(resv.expires).min(resv.refresh_at);
        let old = session.resv.replace(resv);
        let path = session.spec;
        session.spec.number = path.number.max(header.number);
        let renewed = session.spec;
        let has_path = session.path.is_some();
        self.ask_upstream(SignalHeader { rate, ..header });
        let moves = old.as_ref().is_none_or(|old| old.next.node != next.node);
        if moves && (old.is_some() || (has_path && header.flags & flag::REPAIR != 0)) {
            // The branch learns whence data come.
            self.tasks.push_back(Task::Send(next, renewed));
        }
        if let Some(old) = old.as_ref().filter(|_| moves) {
            self.leave_branch(old.next, header, path);
        }
        if let Some(old) = old.filter(|old| old.held && old.over != over) {
            self.release(old.over, old.next.node, header.flow);
        }
    }

    /// Data do not go to this hop any more, as a request with `header` has shown: its branch is torn down. It has lower numbers than a handover,
    /// while the nodes behind it, which both branches share, have that number.
    fn leave_branch(&mut self, hop: Socket, header: SignalHeader, path: SignalHeader) {
        let handover = u32::from(header.flags & flag::HANDOVER != 0);
        let number = path.number.max(header.number.saturating_sub(handover));
        self.tasks.push_back(Task::Send(hop, SignalHeader { kind: Signal::PathTear, number, ..path }));
    }

    /// A hop has asked over an interface to which data do not go (RFC 2209 §2: no path information for this RESV). Its path state is old, and
    /// with its PATH it would call the nodes behind it away from the branch that data take.
    fn reject(&mut self, ask: Ask) {
        let Some(session) = self.sessions.get(&ask.header.flow) else { return };
        let (path, current) = (session.spec, session.resv.as_ref().map(|resv| resv.next));
        if let Some(next) = current.filter(|next| next.node != ask.next.node) {
            self.tasks.push_back(Task::Send(next, path));
        }
        self.leave_branch(ask.next, ask.header, path);
    }

    /// Requests the reservation of this hop from the previous one, unless it was requested before.
    fn ask_upstream(&mut self, asked: SignalHeader) {
        let Some(session) = self.sessions.get_mut(&asked.flow) else { return };
        let Some(resv) = &session.resv else { return };
        let confirm = asked.flags & flag::CONFIRM != 0;
        let repair = asked.flags & flag::REPAIR != 0;
        let is_known = session.sent_up == Some(resv.rate);
        let header = SignalHeader { flags: asked.flags, number: asked.number, ..resv.message(session) };
        if is_known && repair {
            // Here the way joins one that is reserved already (RFC 2205 §2.6).
            if confirm {
                let confirmation = SignalHeader { kind: Signal::ResvConf, ..header };
                self.tasks.push_back(Task::Send(header.receiver, confirmation));
            }
        } else if !is_known || confirm {
            session.sent_up = Some(resv.rate);
            let task = match &session.path {
                Some(path) => Task::Send(path.previous, header),
                // A new branch: the sender lies that way.
                None => Task::SendToward(header.sender.node, header),
            };
            self.tasks.push_back(task);
        }
    }

    /// Not even the floor is left.
    fn refuse(&mut self, ask: Ask) {
        self.counts.refused += 1;
        let header = SignalHeader { kind: Signal::ResvErr, ..ask.header };
        self.tasks.push_back(Task::Send(ask.next, header));
    }

    /// RESV-ERR: a hop has refused (RFC 2205 §3.1.8). If that was on a new branch, no data come over the old one any more: the receiver
    /// leaves both, and its next RESV takes the way that PATH takes by then (RFC 2205 §3.1.3).
    fn on_resv_err(&mut self, from: Socket, header: SignalHeader) {
        self.pass_down(header);
        let is_left = |session: &Session| {
            let elsewhere = session.path.as_ref().is_none_or(|path| path.previous.node != from.node);
            elsewhere && header.number >= session.spec.number
        };
        if self.is_here(header.receiver) && self.sessions.get(&header.flow).is_some_and(is_left) {
            self.tear_up(header.flow);
            self.tasks.push_back(Task::Send(from, SignalHeader { kind: Signal::ResvTear, ..header }));
            if let Some(session) = self.sessions.get_mut(&header.flow) {
                session.path = None;
            }
        }
    }

    /// Passes a refusal to the next hop, which asked.
    fn pass_down(&mut self, header: SignalHeader) {
        if let Some(resv) = self.sessions.get(&header.flow).and_then(|session| session.resv.as_ref()) {
            self.tasks.push_back(Task::Send(resv.next, header));
        }
    }

    /// RESV-TEAR: the reservation toward there is not wanted any more (RFC 2205 §3.1.6).
    fn on_resv_tear(&mut self, from: Socket, header: SignalHeader) {
        let Some(session) = self.sessions.get_mut(&header.flow) else { return };
        if session.resv.as_ref().is_some_and(|resv| resv.next.node == from.node) {
            self.tear_up(header.flow);
        }
    }

    /// Releases the reservation, here and further up.
    fn tear_up(&mut self, flow: FlowId) {
        let Some(session) = self.sessions.get_mut(&flow) else { return };
        let header = SignalHeader { kind: Signal::ResvTear, ..session.spec };
        if session.sent_up.take().is_some()
            && let Some(path) = &session.path
        {
            self.tasks.push_back(Task::Send(path.previous, header));
        }
        if let Some(resv) = session.resv.take().filter(|resv| resv.held) {
            self.release(resv.over, resv.next.node, flow);
        }
    }

    /// PATH-TEAR: no more data of this flow come from there (RFC 2205 §3.1.5).
    fn on_path_tear(&mut self, from: Socket, header: SignalHeader) {
        // An old branch may end here, too; data come another way now.
        let is_way = |session: &Session| {
            let from_there = session.path.as_ref().is_none_or(|path| path.previous.node == from.node);
            from_there && header.number >= session.spec.number
        };
        if !self.sessions.get(&header.flow).is_some_and(is_way) {
            return;
        }
        let resv = self.sessions.remove(&header.flow).and_then(|session| session.resv);
        self.tear_path_down(resv.as_ref().map(|resv| resv.next), header);
        if let Some(resv) = resv.filter(|resv| resv.held) {
            self.release(resv.over, resv.next.node, header.flow);
        }
    }

    /// Passes PATH-TEAR on: to the hop that reserved, or else the way that PATH takes.
    fn tear_path_down(&mut self, next: Option<Socket>, header: SignalHeader) {
        match next {
            Some(next) => self.tasks.push_back(Task::Send(next, header)),
            None => self.send_path(header),
        }
    }

    /// A transferred reservation is in place one hop before.
    fn on_context(&mut self, from: Socket, header: SignalHeader) {
        let Some(session) = self.sessions.get_mut(&header.flow) else { return };
        if session.path.as_ref().is_some_and(|path| path.previous.node == from.node) {
            session.sent_up = Some(header.rate);
            self.pass_down(header);
        }
    }

    /// Has a rate given back by the interface that holds it, wherever packets to the next hop go now.
    fn release(&mut self, over: Option<Port>, toward: NodeId, flow: FlowId) {
        let Some(over) = over else { return };
        if self.down.contains(&over.0) {
            self.stale.push((over, toward, flow));
        } else {
            self.tasks.push_back(Task::Release(over, toward, flow));
        }
    }

    /// One of the node's links has changed.
    fn on_link(&mut self, notice: &LinkNotice) {
        let LinkNotice { port, after, .. } = *notice;
        if after.up {
            self.down.remove(&port.0);
        } else {
            self.down.insert(port.0);
        }
        let (back, rest) =
            std::mem::take(&mut self.stale).into_iter().partition(|(over, ..)| after.up && *over == port);
        self.stale = rest;
        self.tasks.extend(Vec::into_iter(back).map(|(over, toward, flow)| Task::Release(over, toward, flow)));
        let flows: Vec<FlowId> = self.sessions.keys().copied().collect();
        for flow in flows {
            if after.up {
                self.sessions.get_mut(&flow).and_then(|session| session.lost.take_if(|lost| *lost == port));
                self.leave_changed_link(flow, port);
            }
            self.look_for_ways(flow, notice);
        }
    }

    /// Whether the way leads elsewhere now is known where it leads.
    fn look_for_ways(&mut self, flow: FlowId, notice: &LinkNotice) {
        let Some(session) = self.sessions.get(&flow) else { return };
        let SignalHeader { sender, receiver, .. } = session.spec;
        if self.is_here(receiver) {
            self.tasks.push_back(Task::Find(sender.node, Question::ToSender(flow, *notice)));
        } else {
            self.tasks.push_back(Task::Find(receiver.node, Question::ToReceiver(flow, *notice)));
        }
    }

    /// Data leave over another link: the one over which they left is down, or one has come up at the sender. The new way is made known
    /// with PATH, unless it leads back, or the receiver is behind the lost link and signals by itself.
    fn tell_new_way(&mut self, flow: FlowId, notice: &LinkNotice, way: Option<Port>) {
        let at_sender = self.sessions.get(&flow).is_some_and(|session| self.is_here(session.spec.sender));
        let Some(session) = self.sessions.get_mut(&flow) else { return };
        let (spec, LinkNotice { port, before, after }) = (session.spec, *notice);
        let leads_on = way.is_some() && session.path.as_ref().is_some_and(|path| way != Some(path.via));
        if !after.up && !leads_on && session.resv.as_ref().is_some_and(|resv| resv.over == Some(port)) {
            session.lost = Some(port);
        }
        let is_lost = |resv: &Resv| resv.over == Some(port) && resv.next.node != spec.receiver.node;
        let is_found = leads_on && session.lost.take().is_some();
        let moves = if after.up {
            is_found || (!before.up && way == Some(port) && at_sender)
        } else {
            session.resv.as_ref().is_some_and(is_lost) && leads_on
        };
        if moves {
            let header = SignalHeader { flags: spec.flags | flag::REPAIR, ..spec };
            self.tasks.push_back(Task::SendToward(spec.receiver.node, header));
        }
    }

    /// PATH is due, and the interface over which data left is lost: it is refreshed if another one leads on.
    fn refresh_lost(&mut self, flow: FlowId, way: Option<Port>) {
        let Some(session) = self.sessions.get_mut(&flow) else { return };
        if way.is_some() && session.path.as_ref().is_some_and(|path| way != Some(path.via)) {
            session.lost = None;
            let spec = session.spec;
            self.send_path(spec);
        }
    }

    /// Data of the flow leave over the changed link: the reservation there does not hold any more.
    fn leave_changed_link(&mut self, flow: FlowId, port: Port) {
        let Some(session) = self.sessions.get_mut(&flow) else { return };
        let spec = session.spec;
        let Some(resv) = session.resv.as_mut().filter(|resv| resv.over == Some(port) && resv.held) else { return };
        let (next, over) = (resv.next, resv.over);
        if spec.flags & flag::TRANSFER != 0 {
            let header = SignalHeader { kind: Signal::Context, hops: resv.gaps, ..spec };
            self.tasks.push_back(Task::Reserve(Ask { next, over, rate: spec.rate, header, again: false }));
            return;
        }
        resv.held = false;
        self.release(over, next.node, flow);
        // A receiver behind the link signals by itself; farther ones are asked to.
        if next.node != spec.receiver.node {
            self.tasks.push_back(Task::SendToward(
                spec.receiver.node,
                SignalHeader { flags: spec.flags | flag::REPAIR, ..spec },
            ));
        }
    }

    /// The receiver of the flow is here and its access has changed: it reserves anew, from the node on where the
    /// old way and the new one meet, if data came over that link or `way`, where the sender lies now, leads over it.
    fn resignal(&mut self, flow: FlowId, notice: &LinkNotice, way: Option<Port>) {
        let Some(session) = self.sessions.get_mut(&flow) else { return };
        let spec = session.spec;
        let was_way = session.path.as_ref().is_some_and(|path| path.via == notice.port);
        let is_way = way == Some(notice.port);
        let transfers = spec.flags & flag::TRANSFER != 0 && was_way && is_way && notice.before.up;
        if way.is_none() || !(was_way || is_way) || transfers {
            return;
        }
        session.spec.number += 1;
        session.sent_up = Some(spec.rate);
        let flags = spec.flags | flag::REPAIR | flag::CONFIRM | flag::HANDOVER;
        let header = SignalHeader { kind: Signal::Resv, flags, number: session.spec.number, hops: 0, ..spec };
        self.tasks.push_back(Task::SendToward(spec.sender.node, header));
    }

    /// Serves timers: removes state that was not refreshed, and sends due refreshes.
    fn sweep(&mut self, now: Instant) {
        let flows: Vec<FlowId> = self.sessions.keys().copied().collect();
        for flow in flows {
            let Some(session) = self.sessions.get_mut(&flow) else { continue };
            let gone = session.path.as_ref().is_some_and(|path| path.expires <= now);
            let lapsed = session.resv.as_ref().is_some_and(|resv| resv.expires <= now);
            let (spec, next) = (session.spec, session.resv.as_ref().map(|resv| resv.next));
            if gone || lapsed {
                self.counts.expired += 1;
                self.tear_up(flow);
            }
            if gone {
                // The timeout of path state starts PATH-TEAR, too (RFC 2205 §3.1.5).
                self.tear_path_down(next, SignalHeader { kind: Signal::PathTear, ..spec });
            }
            let Some(session) = self.sessions.get_mut(&flow) else { continue };
            if gone || (session.path.is_none() && session.resv.is_none()) {
                self.sessions.remove(&flow);
                continue;
            }
            if let Some(path) = session.path.as_mut().filter(|path| path.refresh_at <= now) {
                path.refresh_at = next_refresh(now, spec.refresh, &mut self.stream);
                if session.lost.is_none() {
                    self.send_path(spec);
                } else {
                    self.tasks.push_back(Task::Find(spec.receiver.node, Question::AnotherWay(flow)));
                }
            }
            let Some(session) = self.sessions.get_mut(&flow) else { continue };
            if session.resv.as_ref().is_some_and(|resv| resv.held && resv.refresh_at <= now) {
                let message = session.resv.as_ref().map(|resv| resv.message(session));
                if let (Some(path), Some(message)) = (&session.path, message) {
                    session.sent_up = Some(message.rate);
                    self.tasks.push_back(Task::Send(path.previous, message));
                }
            }
            if let Some(resv) = session.resv.as_mut().filter(|resv| resv.refresh_at <= now) {
                resv.refresh_at = next_refresh(now, spec.refresh, &mut self.stream);
            }
        }
        self.wake = self.sessions.values().map(Session::wake).min().unwrap_or(Instant::MAX);
    }

    /// Does a task: writes a message or gives an order.
    fn perform(&mut self, task: Task, packet: &mut Packet) -> Action {
        match task {
            Task::Send(to, header) => {
                self.counts.sent += u64::from(!self.is_here(to));
                signal::write(packet, self.local, to, self.counts.sent, header);
                Action::Send
            }
            Task::SendToward(node, header) => {
                self.counts.sent += 1;
                signal::write(packet, self.local, Socket { node, port: PORT }, self.counts.sent, header);
                Action::SendToward(node)
            }
            Task::Find(toward, question) => {
                self.asked = Some(question);
                Action::Order(Order { toward, over: None, command: Command::Interface })
            }
            Task::Reserve(ask) => {
                self.asked = Some(Question::Rate(ask));
                let command = Command::Reserve(ask.header.flow, ask.rate);
                Action::Order(Order { toward: ask.next.node, over: ask.over, command })
            }
            Task::Release(over, toward, flow) => {
                Action::Order(Order { toward, over: Some(over), command: Command::Release(flow) })
            }
        }
    }

    /// A reservation that was to move with its interface was answered.
    fn on_transfer(&mut self, ask: Ask, answer: Answer) {
        let flow = ask.header.flow;
        match answer {
            Answer::Refused(left) if !ask.again && left >= ask.header.floor && left > BitRate::default() => {
                self.tasks.push_back(Task::Reserve(Ask { rate: left, again: true, ..ask }));
            }
            Answer::Refused(_) => {
                if let Some(resv) = self.sessions.get_mut(&flow).and_then(|session| session.resv.as_mut()) {
                    resv.held = false;
                    let (over, toward) = (resv.over, resv.next.node);
                    self.release(over, toward, flow);
                }
                self.refuse(ask);
            }
            Answer::Done
            | Answer::Unknown
            | Answer::Interface(_)
            | Answer::Offered(..)
            | Answer::Branches(_)
            | Answer::Rejected(_) => {
                let Some(session) = self.sessions.get_mut(&flow) else { return };
                if let Some(resv) = &mut session.resv {
                    resv.rate = ask.rate;
                }
                self.counts.granted += 1;
                let header = SignalHeader { rate: ask.rate, ..ask.header };
                self.tasks.push_back(Task::Send(ask.next, header));
                self.ask_upstream(header);
            }
        }
    }
}

impl Session {
    fn new(spec: SignalHeader) -> Self {
        Self { spec, path: None, resv: None, sent_up: None, lost: None }
    }

    /// When the first of its timers is due.
    fn wake(&self) -> Instant {
        let path = self.path.as_ref().map_or(Instant::MAX, |path| path.expires.min(path.refresh_at));
        let resv = self.resv.as_ref().map_or(Instant::MAX, |resv| resv.expires.min(resv.refresh_at));
        path.min(resv)
    }
}

impl Resv {
    /// The RESV that asks the previous hop for the same.
    fn message(&self, session: &Session) -> SignalHeader {
        SignalHeader { kind: Signal::Resv, rate: self.rate, hops: self.gaps, ..session.spec }
    }
}

impl Timed for Agent {
    fn on_timeout(&mut self, now: Instant) {
        if self.wake <= now {
            self.sweep(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let message = self.inbox.front().map_or(Instant::MAX, |message| message.done);
        Some(message.min(self.wake)).filter(|at| *at < Instant::MAX)
    }
}

impl Endpoint for Agent {
    fn on_packet(&mut self, now: Instant, packet: &Packet, via: Port) {
        let Some(header) = packet.signal() else { return };
        self.counts.received += 1;
        let message = Message { done: now + header.processing, from: packet.from, via, header: *header };
        let place = self.inbox.partition_point(|other| other.done <= message.done);
        self.inbox.insert(place, message);
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Answer(answer) => match self.asked.take() {
                Some(Question::NextHop(ask)) => self.reserve(now, Ask { over: answer.interface(), ..ask }),
                Some(Question::DataLeave(ask)) if answer.interface() == ask.over => {
                    self.tasks.push_back(Task::Reserve(ask));
                }
                Some(Question::DataLeave(ask)) => self.reject(ask),
                Some(Question::ToSender(flow, link)) => self.resignal(flow, &link, answer.interface()),
                Some(Question::ToReceiver(flow, link)) => self.tell_new_way(flow, &link, answer.interface()),
                Some(Question::AnotherWay(flow)) => self.refresh_lost(flow, answer.interface()),
                Some(Question::Rate(ask)) if ask.header.kind == Signal::Context => self.on_transfer(ask, answer),
                Some(Question::Rate(ask)) => self.on_answer(now, ask, answer),
                None => {}
            },
            Notice::Link(link) => self.on_link(&link),
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        loop {
            if let Some(task) = self.tasks.pop_front() {
                return Some(self.perform(task, packet));
            }
            let message = self.inbox.pop_front_if(|message| message.done <= now)?;
            self.handle(now, message);
        }
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let held = self.sessions.values().filter_map(|session| session.resv.as_ref()).filter(|resv| resv.held);
        let reserved: u64 = held.filter(|resv| !self.is_here(resv.next)).map(|resv| resv.rate.as_bps()).sum();
        probe.value("sessions", self.sessions.len() as f64);
        probe.value("reserved_bps", reserved as f64);
        probe.value("state_bytes", (self.counts.most_sessions * size_of::<Session>()) as f64);
        probe.value("signalling_packets", self.counts.sent as f64);
        probe.value("signalling_messages_heard", self.counts.received as f64);
        probe.value("grants", self.counts.granted as f64);
        probe.value("refusals", self.counts.refused as f64);
        probe.value("expiries", self.counts.expired as f64);
    }
}
