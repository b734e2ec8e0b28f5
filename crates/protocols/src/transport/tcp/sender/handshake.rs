//! How a connection opens.
//!
//! With `data_on_syn` the first data segment is the SYN too, and is sent again as such. Everything
//! else about it is a data segment's: the initial window leaves with it, and its loss is a loss of
//! data. The receiver answers it with a SYN+ACK that acknowledges the data.

use lasthop_net::engine::Instant;
use lasthop_net::net::{Ecn, Header, Packet, TcpFlags, TcpHeader};

use crate::transport::congestion::WindowRule;

use super::super::config::Handshake;
use super::super::settings::FIRST_BYTE;
use super::Sender;
use super::sending::Control;

/// How far a connection has come.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Phase {
    Closed,
    /// The SYN is under way.
    Opening,
    Open,
}

/// The SYN.
#[derive(Clone, Copy, Default)]
pub(super) struct Syn {
    pub(super) sent_at: Instant,
    pub(super) resent: bool,
}

impl Sender {
    /// The source wants to send.
    pub(super) fn open(&mut self) {
        if self.c.phase != Phase::Closed {
            return;
        }
        match self.settings.handshake {
            Handshake::Full | Handshake::Partial => {
                self.c.phase = Phase::Opening;
                self.c.control = Some(Control::Syn);
            }
            Handshake::DataOnSyn | Handshake::None => self.c.phase = Phase::Open,
        }
    }

    /// The SYN was answered.
    pub(super) fn on_opened(&mut self, now: Instant, header: &TcpHeader) {
        let c = &mut self.c;
        if header.ack < FIRST_BYTE {
            return;
        }
        c.phase = Phase::Open;
        c.una = FIRST_BYTE;
        c.edge = header.ack + u64::from(header.window);
        c.rto_at = Instant::MAX;
        if c.syn.resent {
            // RFC 5681 §3.1, RFC 6928 §2: a lost SYN leaves one segment. RFC 6298 §5.7: the timer.
            c.rule(now, WindowRule::Start(self.settings.smss.into()));
            c.rto.after_lost_syn();
            c.refresh();
        } else {
            let rtt = now.since(c.syn.sent_at);
            c.last_rtt = rtt;
            self.rtt.add(rtt.as_nanos());
            if c.syn.sent_at >= c.path_since {
                c.rto.on_sample(rtt, true);
                c.recovery.on_opened(now, rtt);
            }
        }
        if self.settings.handshake == Handshake::Full {
            c.control = Some(Control::Ack);
        }
    }

    /// Makes the first data segment the SYN too.
    #[cold]
    pub(super) fn make_syn(&self, packet: &mut Packet) {
        let Header::Tcp(header) = &mut packet.header else { return };
        let stamped = header.flags.has(TcpFlags::TIMESTAMPS);
        header.seq = 0;
        header.flags = self.settings.syn_flags().with(if stamped { TcpFlags::TIMESTAMPS } else { TcpFlags::NONE });
        packet.ecn = Ecn::NotEct;
    }
}
