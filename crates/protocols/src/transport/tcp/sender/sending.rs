//! Which segment leaves next, and its way into a packet.

use crate::transport::congestion::Sent;
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{CongestionHeader, Ecn, Header, Packet, TcpFlags, TcpHeader, TcpOptions};

use super::super::config::Handshake;
use super::super::recovery::Next;
use super::super::scoreboard::{Id, Segment};
use super::super::settings::{FIRST_BYTE, HEADER_BYTES};
use super::Sender;
use super::handshake::Phase;

/// A segment without data.
#[derive(Clone, Copy)]
pub(super) enum Control {
    Syn,
    Ack,
    /// One byte that has arrived already, which the receiver answers with its window.
    Probe,
}

/// A segment that does not wait for room in the window.
#[derive(Clone, Copy)]
pub(super) enum AtOnce {
    /// The first one again.
    First,
    /// A probe of the recovery.
    Probe(Next),
}

/// A segment of the sequence space that is to be sent.
pub(super) enum Choice {
    /// One in flight, again.
    Again(Id),
    /// A new one, of `len` bytes, or the FIN.
    New { len: u32, fin: bool },
}

impl Sender {
    /// The next segment that may leave now, if any; it will be sent.
    #[inline]
    pub(super) fn choose(&mut self, now: Instant) -> Option<Choice> {
        let c = &mut self.c;
        if c.phase != Phase::Open {
            return None;
        }
        if let Some(at_once) = c.at_once.take()
            && let Some(choice) = c.choose_at_once(at_once, &self.settings)
        {
            return Some(choice);
        }
        debug_assert!(c.window >= u64::from(self.settings.smss), "cwnd is at least one segment");
        c.paced = c.release > now;
        if self.burst == 0 || c.paced {
            return None;
        }
        let smss = u64::from(self.settings.smss);
        let new = c.new_segment(&self.settings);
        let fits = new.is_some_and(|(len, fin)| fin || c.fits(len));
        let in_flight = c.in_flight();
        if c.status.recovering || c.status.duplicates > 0 || c.board.is_marked() {
            // RFC 6675 §5 step (C): while segments are missing there has to be room for a full one.
            let room = c.prr.as_ref().map_or(in_flight + smss <= c.window, |prr| prr.allows(in_flight));
            if !room {
                c.full_to = c.nxt;
                return None;
            }
            let new_data = fits && !c.detector.holds_new();
            let next = match c.detector.holds_resends() {
                true => new_data.then_some(Next::New),
                false => c.recovery.next(&mut c.board, new_data),
            };
            match next {
                Some(Next::Resend(id)) => return Some(Choice::Again(id)),
                Some(Next::New) if c.prr.is_some() => return new.map(|(len, fin)| Choice::New { len, fin }),
                Some(Next::New) => {}
                None => {
                    // draft-ietf-ccwg-bbr §4.1.2.4: all that is lost was sent again, and there is nothing new.
                    if new.is_none() && !c.detector.holds_resends() {
                        c.delivery.on_app_limited(in_flight);
                    }
                    return None;
                }
            }
        }
        let Some((len, fin)) = new else {
            if in_flight < c.window {
                c.delivery.on_app_limited(in_flight);
            }
            return None;
        };
        if !fits {
            return c.on_closed_window(now);
        }
        if in_flight + u64::from(len) > c.window {
            c.full_to = c.nxt;
            return None;
        }
        Some(Choice::New { len, fin })
    }

    /// Sends `len` bytes of new data, or a FIN.
    #[inline]
    pub(super) fn send_new(&mut self, now: Instant, len: u32, fin: bool, packet: &mut Packet) {
        let smss = u64::from(self.settings.smss);
        let c = &mut self.c;
        if c.board.is_empty() {
            c.restart_if_idle(now, &self.settings);
        }
        let start = c.nxt;
        let idle = c.wants.records && c.board.pipe() == 0;
        c.delivery.on_send(now, c.board.next(), idle, c.in_flight() + u64::from(len), c.board.total_lost());
        c.board.push(Segment::new(start, len, fin, now));
        c.nxt += u64::from(len);
        c.fin_sent |= fin;
        let in_flight = c.in_flight();
        if in_flight + smss > c.window {
            c.full_to = c.nxt;
        }
        if c.status.duplicates > 0 && !c.status.recovering {
            c.limited += u64::from(len);
        }
        c.detector.on_new_data();
        if !fin {
            self.totals.packets += 1;
            self.totals.bytes += u64::from(len);
        }
        let mut flags = TcpFlags::ACK;
        if std::mem::take(&mut c.answered.tell) {
            flags = flags.with(TcpFlags::CWR);
        }
        self.segment(now, start, len, fin, flags, self.settings.ect, in_flight, packet);
        if self.c.hooked {
            let id = self.c.board.next() - 1;
            self.c.note_sent(now, id, true);
        }
    }

    /// Sends a segment again. RFC 3168 §6.1.5: a retransmission is not ECN-capable. One of an L4S sender is (RFC 8311 §4.3), or it would
    /// wait in another queue.
    pub(super) fn resend(&mut self, now: Instant, id: Id, packet: &mut Packet) {
        let c = &mut self.c;
        let idle = c.wants.records && c.board.pipe() == 0;
        c.board.resend(id, now);
        c.delivery.on_send(now, id, idle, c.in_flight(), c.board.total_lost());
        let segment = *c.board.at(id);
        if !segment.is_fin() {
            self.totals.resent_packets += 1;
            self.totals.resent_bytes += u64::from(segment.len);
        }
        let in_flight = c.in_flight();
        let (start, len, fin) = (segment.start, segment.len, segment.is_fin());
        let ecn = if self.settings.l4s { self.settings.ect } else { Ecn::NotEct };
        self.segment(now, start, len, fin, TcpFlags::ACK, ecn, in_flight, packet);
        if self.c.hooked {
            self.c.note_sent(now, id, false);
        }
    }

    /// A data segment or a FIN on its way: timers, pacing, and the packet.
    #[expect(clippy::too_many_arguments, reason = "the fields of one packet")]
    #[inline]
    fn segment(
        &mut self,
        now: Instant,
        start: u64,
        len: u32,
        fin: bool,
        flags: TcpFlags,
        ecn: Ecn,
        in_flight: u64,
        packet: &mut Packet,
    ) {
        let c = &mut self.c;
        self.burst -= u32::from(self.burst > 0);
        c.last_sent = now;
        if c.rto_at == Instant::MAX {
            // RFC 6298 §5.1.
            c.rto_at = now + c.rto.rto();
        }
        c.persist_at = Instant::MAX;
        if c.wants.sends {
            c.congestion.on_sent(&Sent {
                now,
                bytes: len.into(),
                in_flight,
                more: c.end > c.nxt,
                app_limited: c.delivery.is_app_limited(),
                srtt: c.rto.srtt().unwrap_or(Duration::ZERO),
                rto: c.rto.rto(),
            });
            // A controller may pace otherwise once it knows that it restarts after an idle time.
            c.pacing = c.congestion.pacing_rate();
        }
        let (payload, flags) = if fin { (0, flags.with(TcpFlags::FIN)) } else { (len, flags) };
        let header = if fin { HEADER_BYTES } else { self.settings.header };
        if let Some(rate) = c.pacing {
            let (bits, rate) = (8 * u64::from(header + payload + self.settings.options), rate.as_bps().max(1));
            let ns = bits * 1_000_000_000;
            c.release_rest += (ns % rate) as f64 / rate as f64;
            let carried = c.release_rest as u64;
            c.release_rest -= carried as f64;
            c.release = c.release.max(now) + Duration::from_nanos(ns / rate + carried);
        }
        self.packet(now, start, payload, header, flags, ecn, packet);
        if self.settings.explicit {
            self.ask_routers(packet);
        }
        if start == FIRST_BYTE && self.settings.handshake == Handshake::DataOnSyn {
            self.make_syn(packet);
        }
    }

    /// Fills in XCP's congestion header.
    #[cold]
    fn ask_routers(&mut self, packet: &mut Packet) {
        let c = &mut self.c;
        let more = c.end > c.nxt;
        let srtt = c.rto.srtt().unwrap_or(Duration::ZERO);
        let size = packet.size;
        if let Header::Tcp(header) = &mut packet.header
            && let Some(explicit) = c.congestion.explicit()
        {
            header.options = TcpOptions::Congestion(explicit.congestion_header(srtt, size, more));
        }
    }

    /// Writes a packet.
    #[expect(clippy::too_many_arguments, reason = "the fields of one packet")]
    #[inline]
    fn packet(
        &mut self,
        now: Instant,
        seq: u64,
        payload: u32,
        header: u32,
        flags: TcpFlags,
        ecn: Ecn,
        packet: &mut Packet,
    ) {
        self.number += 1;
        let (mut flags, size, mut ts_val) = (flags, header + payload + self.settings.options, Instant::ZERO);
        if self.settings.timestamps {
            flags = flags.with(TcpFlags::TIMESTAMPS);
            ts_val = now;
        }
        let mut options = TcpOptions::default();
        if self.settings.explicit {
            options = TcpOptions::Congestion(CongestionHeader::NONE);
        }
        let window = self.settings.buffer;
        // The receiving end sends no data: its SYN is all there is to acknowledge.
        let header =
            TcpHeader { seq, ack: 1, payload: payload as u16, window, flags, options, ts_val, ..TcpHeader::default() };
        *packet = self.seat.packet(self.connection, self.number, size, Header::Tcp(header));
        packet.ecn = ecn;
    }

    /// Sends a segment without data.
    pub(super) fn send_control(&mut self, now: Instant, control: Control, packet: &mut Packet) {
        match control {
            Control::Syn => {
                self.c.syn.sent_at = now;
                if self.c.rto_at == Instant::MAX {
                    self.c.rto_at = now + self.c.rto.rto();
                }
                self.packet(now, 0, 0, HEADER_BYTES, self.settings.syn_flags(), Ecn::NotEct, packet);
            }
            Control::Ack => self.packet(now, self.c.nxt, 0, HEADER_BYTES, TcpFlags::ACK, Ecn::NotEct, packet),
            Control::Probe => {
                self.packet(now, self.c.una - 1, 1, self.settings.header, TcpFlags::ACK, Ecn::NotEct, packet)
            }
        }
    }
}
