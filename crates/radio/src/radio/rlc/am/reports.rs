//! Status reports: when the receiving side makes one, and what it says (TS 25.322 §9.7.2, §11.5).
//!
//! Received PDUs are reported by an ACK, missing ones by LISTs or BITMAPs, whichever take less. If neither fits into a PDU, the report is
//! spread over several, of BITMAPs, whose ACK says VR(R) only (§9.2.2.11.2).
//!
//! A report is made up when it leaves, so it answers all polls before.

use crate::radio::rlc::pdu::Status;
use lasthop_net::engine::{Duration, Instant};

use super::config::Config;
use super::mrw::Order;
use super::receiver::Receiver;
use super::sn_set::MODULUS;

/// When a report is due.
#[derive(Debug)]
pub struct Reports {
    /// Whether one was asked for.
    asked: bool,
    /// The rest of a report that did not fit into a PDU: PDUs from here to there.
    rest: Option<(u64, u64)>,
    /// An acknowledgement of a moved window that is still to be sent.
    moved: Option<Order>,
    /// Timer_Status_Prohibit, if it runs, and its length.
    prohibited: Option<Instant>,
    prohibit: Duration,
    /// When Timer_Status_Periodic expires next, and its length.
    periodic: Option<Instant>,
    period: Duration,
}

/// A report, made up but not sent.
#[derive(Debug)]
pub struct Draft {
    pub status: Status,
    rest: Option<(u64, u64)>,
}

impl Reports {
    pub fn new(config: &Config) -> Self {
        Self {
            asked: false,
            rest: None,
            moved: None,
            prohibited: None,
            prohibit: config.status_prohibit,
            periodic: config.status_periodic.map(|period| Instant::ZERO + period),
            period: config.status_periodic.unwrap_or_default(),
        }
    }

    /// A report is asked for: by a poll, a gap or the clock.
    pub fn ask(&mut self, now: Instant) {
        self.asked = true;
        self.permit(now);
    }

    /// The window was moved, which is to be acknowledged at once (§11.6.3.1).
    pub fn acknowledge(&mut self, moved: Order) {
        self.moved = Some(moved);
    }

    /// Whether there is something to report, and reporting is permitted.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.moved.is_some() || self.tells()
    }

    /// Whether received and missing PDUs are to be reported now.
    #[inline]
    fn tells(&self) -> bool {
        self.rest.is_some() || (self.asked && self.prohibited.is_none())
    }

    /// What there is to tell, with `order` for the far end, in at most `room` bytes. `None`: it does not
    /// fit, and is not to be spread.
    pub fn draft(&self, receiver: &Receiver, order: Option<Order>, room: u16, spread: bool) -> Option<Draft> {
        let mut status = Status::default();
        let mut bits = HEADER;
        if let Some(Order { sn, end, kept }) = order {
            (status.give_up, status.give_up_end, status.kept) = (vec![wire(sn)], end, kept);
            bits += MRW;
        }
        if let Some(Order { sn, end, .. }) = self.moved {
            (status.gave_up, status.gave_up_end) = (Some(wire(sn)), end);
            bits += MRW_ACK;
        }
        let mut rest = None;
        if self.tells() {
            bits += ACK;
            let left = (8 * u32::from(room)).checked_sub(bits)?;
            let (told, size) = self.tell(receiver, left, spread, &mut status)?;
            rest = told;
            bits += size;
        } else {
            bits += NO_MORE;
        }
        status.bytes = bits.div_ceil(8) as u16;
        (status.bytes <= room).then_some(Draft { status, rest })
    }

    /// Reports the PDUs from VR(R) to VR(H), or the rest. Returns the part that does not fit, and the bits taken.
    fn tell(
        &self,
        receiver: &Receiver,
        left: u32,
        spread: bool,
        status: &mut Status,
    ) -> Option<(Option<(u64, u64)>, u32)> {
        let (vr_r, vr_h) = (receiver.vr_r(), receiver.vr_h());
        let covers = |status: &mut Status, from: u64, to: u64| {
            status.first = wire(from);
            status.received = (from..to).map(|sn| !receiver.is_missing(sn)).collect();
        };
        let (from, to) = match self.rest {
            Some((from, to)) => (from.max(vr_r), to),
            None => {
                let size = list_bits(runs(receiver)).min(bitmap_bits(vr_h - vr_r));
                if size <= left {
                    covers(status, vr_r, vr_h);
                    status.ack = Some(wire(vr_h));
                    return Some((None, size));
                }
                (vr_r, vr_h)
            }
        };
        if !spread {
            return None;
        }
        status.ack = Some(wire(vr_r));
        // The BITMAPs of a report end at `to`, so the first begins up to 7 PDUs before VR(R) (§9.2.2.11.5).
        let octets = to.saturating_sub(from).div_ceil(8);
        let most = octets_in(left);
        let (to, rest) = if octets <= most { (to, None) } else { (to - 8 * (octets - most), Some(to)) };
        covers(status, from, to.max(from));
        Some((rest.map(|end| (to, end)), bitmap_bits(8 * octets.min(most))))
    }

    /// A report, or a part of it, leaves.
    pub fn submit(&mut self, at: Instant, draft: &Draft) {
        self.moved = None;
        if draft.status.ack.is_none() {
            return;
        }
        // What asks between the parts of a report asks for the next one: this one ends at the VR(H) at which it was begun.
        self.asked &= self.rest.is_some();
        self.rest = draft.rest;
        if self.rest.is_none() && self.prohibit > Duration::ZERO {
            self.prohibited = Some(at + self.prohibit);
        }
    }

    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        let prohibited = if self.asked { self.prohibited } else { None };
        earlier(prohibited, self.periodic)
    }

    pub fn on_timeout(&mut self, now: Instant) {
        if self.periodic.is_some_and(|next| next <= now) {
            self.asked = true;
            let passed = now.as_nanos() / self.period.as_nanos();
            self.periodic = Some(Instant::ZERO + self.period * (passed + 1));
        }
        self.permit(now);
    }

    /// Forgets a prohibition that is over.
    fn permit(&mut self, now: Instant) {
        self.prohibited = self.prohibited.filter(|until| *until > now);
    }

    /// Starts anew (§11.4.3); the periodic timer runs on.
    pub fn reset(&mut self) {
        (self.asked, self.rest, self.moved, self.prohibited) = (false, None, None, None);
    }
}

/// The earlier of two wishes.
#[inline]
pub fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

/// A sequence number as it is sent.
#[inline]
pub fn wire(sn: u64) -> u32 {
    (sn % MODULUS) as u32
}

/// Bits of a STATUS PDU before its super-fields: D/C and type (§9.2.1.5).
const HEADER: u32 = 4;
/// Bits of the super-fields (§9.2.2.11): a type of 4, sequence numbers of 12, lengths of 4. An MRW names
/// one end.
const NO_MORE: u32 = 4;
const ACK: u32 = 4 + 12;
const MRW: u32 = 4 + 4 + 12 + 4;
const MRW_ACK: u32 = 4 + 4 + 12;
const LIST: u32 = 4 + 4;
const LIST_PAIR: u32 = 12 + 4;
const BITMAP: u32 = 4 + 4 + 12;
/// The most pairs of a LIST, PDUs of a pair, and octets of a BITMAP.
const MOST_PAIRS: u32 = 15;
const MOST_IN_PAIR: u64 = 16;
const MOST_OCTETS: u64 = 16;

/// Bits of LISTs with this number of pairs.
fn list_bits(pairs: u32) -> u32 {
    pairs * LIST_PAIR + pairs.div_ceil(MOST_PAIRS) * LIST
}

/// Bits of BITMAPs over this number of PDUs, the first of which may begin before these.
fn bitmap_bits(pdus: u64) -> u32 {
    let octets = pdus.div_ceil(8);
    // A window has less than 2¹¹ PDUs.
    (octets * 8) as u32 + octets.div_ceil(MOST_OCTETS) as u32 * BITMAP
}

/// Octets of BITMAPs that fit into this number of bits.
fn octets_in(bits: u32) -> u64 {
    let full = BITMAP + 8 * MOST_OCTETS as u32;
    u64::from(bits / full) * MOST_OCTETS + u64::from((bits % full).saturating_sub(BITMAP) / 8)
}

/// How many pairs of a LIST the missing PDUs take: one for each 16 in a row.
fn runs(receiver: &Receiver) -> u32 {
    let (mut pairs, mut begin, mut expected) = (0, 0, None);
    for sn in receiver.missing() {
        if expected != Some(sn) || sn - begin == MOST_IN_PAIR {
            pairs += 1;
            begin = sn;
        }
        expected = Some(sn + 1);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn super_fields_take_the_bits_of_their_figures() {
        // Figures 9.8 to 9.15: no gap; one pair; 15 pairs; 16 pairs need a second LIST.
        assert_eq!([0, 1, 15, 16].map(list_bits), [0, 24, 248, 272]);
        // One octet; 16 octets of one BITMAP; one PDU more needs a second one.
        assert_eq!([0, 1, 8, 128, 129].map(bitmap_bits), [0, 28, 28, 148, 176]);
        // A PDU of 40 B has 300 bits beside header and ACK: two full BITMAPs, for 256 PDUs.
        assert_eq!(octets_in(320 - HEADER - ACK), 32);
        assert_eq!([27, 28, 148, 175, 176].map(octets_in), [0, 1, 16, 16, 17]);
    }
}
