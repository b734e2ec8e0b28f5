//! The receiver of CCID 2: an acknowledgement with an Ack Vector for each Ack Ratio packets
//! (RFC 4341 §6, RFC 4340 §11.3).

use std::collections::VecDeque;

use crate::transport::half_connection::Receiving;
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{DccpHeader, DccpOptions, DccpType, Ecn, Header, Packet, Probe, Timed};

use super::super::IP_BYTES;
use super::ack_ratio;
use super::history::{Arrival, History};

/// The longest time that an acknowledgement is held back (RFC 4340 §11.3, T).
pub const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// The receiving machine.
#[derive(Default)]
pub struct Receiver {
    state: State,
    totals: Totals,
}

/// What it knows of the connection.
struct State {
    history: History,
    /// The Ack Ratio, the last packet that changed it (RFC 4340 §6.6.4, FGSR), and the ratio that
    /// is to be confirmed; 0 for none.
    ratio: u16,
    changed_by: Option<u64>,
    confirm: u16,
    /// Packets since the last acknowledgement, and when to send one at the latest.
    unacknowledged: u32,
    ack_at: Option<Instant>,
    due: bool,
    /// The number of the next acknowledgement, and the highest packets that those said came from
    /// number `first_ack` on, which the sender is not known to have.
    next: u64,
    first_ack: u64,
    acks: VecDeque<u64>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            history: History::default(),
            ratio: ack_ratio::INITIAL,
            changed_by: None,
            confirm: 0,
            unacknowledged: 0,
            ack_at: None,
            due: false,
            next: 0,
            first_ack: 0,
            acks: VecDeque::new(),
        }
    }
}

#[derive(Default)]
struct Totals {
    packets: u64,
    bytes: u64,
    duplicates: u64,
    /// Packets that were sent in earlier connections, as far as known.
    expected_before: u64,
    acks: u64,
    vector_bytes: u64,
    longest_vector: u64,
    cut_vectors: u64,
}

impl State {
    /// A data packet with an acknowledgement number: the sender knows what that acknowledgement
    /// said (RFC 4340 §A.3).
    fn on_ack_of_ack(&mut self, number: u64) {
        let Some(place) = number.checked_sub(self.first_ack) else { return };
        let Some(&highest) = self.acks.get(place as usize) else { return };
        self.history.forget(highest);
        self.acks.drain(..=place as usize);
        self.first_ack = number + 1;
    }

    /// Packet `number` asks for this ratio.
    fn on_change(&mut self, number: u64, ratio: u16) {
        if self.changed_by.is_none_or(|last| number > last) {
            self.changed_by = Some(number);
            self.ratio = ratio.max(1);
            self.confirm = self.ratio;
        }
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        self.state.due |= self.state.ack_at.is_some_and(|at| at <= now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.state.ack_at
    }
}

impl Receiving for Receiver {
    fn on_data(&mut self, now: Instant, packet: &Packet) -> Option<u64> {
        let Header::Dccp(header) = &packet.header else { return None };
        let state = &mut self.state;
        let marked = packet.ecn == Ecn::Ce;
        let arrival = state.history.on_packet(header.seq, marked);
        if header.kind == DccpType::DataAck {
            state.on_ack_of_ack(header.ack);
            if let DccpOptions::AckRatio(ratio) = header.options {
                state.on_change(header.seq, ratio);
            }
        }
        self.totals.packets += 1;
        if arrival == Arrival::Old {
            self.totals.duplicates += 1;
            return None;
        }
        self.totals.bytes += u64::from(header.payload);
        state.unacknowledged += 1;
        // At once if something may be lost or is marked (RFC 4340 §11.3).
        state.due |= arrival == Arrival::OutOfOrder || marked || state.unacknowledged >= state.ratio.into();
        if state.ack_at.is_none() {
            state.ack_at = Some(now + LONGEST_DELAY);
        }
        Some(header.end)
    }

    fn take(&mut self, _now: Instant, _end: u64, packet: &mut Packet) -> bool {
        let state = &mut self.state;
        if !std::mem::take(&mut state.due) {
            return false;
        }
        let (vector, whole) = state.history.vector();
        let ack = state.history.highest();
        let confirm = std::mem::take(&mut state.confirm);
        let options = DccpOptions::AckVector { vector, confirm };
        let header = DccpHeader { kind: DccpType::Ack, seq: state.next, ack, options, ..DccpHeader::default() };
        state.next += 1;
        state.acks.push_back(ack);
        (state.unacknowledged, state.ack_at) = (0, None);
        let bytes = 2 + vector.bytes().len() as u64;
        self.totals.acks += 1;
        self.totals.vector_bytes += bytes;
        self.totals.longest_vector = self.totals.longest_vector.max(bytes);
        self.totals.cut_vectors += u64::from(!whole);
        packet.ecn = Ecn::Ect0;
        packet.size = IP_BYTES + header.bytes();
        packet.header = Header::Dccp(header);
        true
    }

    fn reset(&mut self) {
        self.totals.expected_before += self.state.history.count();
        self.state = State::default();
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let totals = &self.totals;
        let expected = totals.expected_before + self.state.history.count();
        let lost = expected - (totals.packets - totals.duplicates);
        probe.value("received_packets", totals.packets as f64);
        probe.value("received_bytes", totals.bytes as f64);
        probe.value("duplicate_packets", totals.duplicates as f64);
        probe.value("lost_packets", lost as f64);
        if expected > 0 {
            probe.value("lost_share", lost as f64 / expected as f64);
        }
        probe.value("acks", totals.acks as f64);
        probe.value("ack_vector_bytes", totals.vector_bytes as f64);
        probe.value("longest_ack_vector_bytes", totals.longest_vector as f64);
        probe.value("cut_ack_vectors", totals.cut_vectors as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// A data packet.
    fn data(seq: u64, ecn: Ecn) -> Packet {
        let header = DccpHeader { seq, payload: 100, end: 100 * (seq + 1), ..DccpHeader::default() };
        Packet { ecn, header: Header::Dccp(header), ..Packet::vacant() }
    }

    /// One that acknowledges acknowledgement `ack` and, if not 0, asks for a ratio.
    fn data_ack(seq: u64, ack: u64, ratio: u16) -> Packet {
        let mut packet = data(seq, Ecn::Ect0);
        if let Header::Dccp(header) = &mut packet.header {
            header.kind = DccpType::DataAck;
            header.ack = ack;
            header.options = if ratio > 0 { DccpOptions::AckRatio(ratio) } else { DccpOptions::None };
        }
        packet
    }

    /// The acknowledgement that is due, if any: its number, what it acknowledges, the bytes of its
    /// vector, what it confirms, and its size.
    fn ack(receiver: &mut Receiver, now: Instant) -> Option<(u64, u64, Vec<u8>, u16, u32)> {
        let mut packet = Packet::vacant();
        if !receiver.take(now, 0, &mut packet) {
            return None;
        }
        let Header::Dccp(header) = &packet.header else { panic!("not DCCP") };
        let DccpOptions::AckVector { vector, confirm } = &header.options else { panic!("no vector") };
        Some((header.seq, header.ack, vector.bytes().to_vec(), *confirm, packet.size))
    }

    /// RFC 4340 §11.3: one for each two packets, after 0.2 s, and at once for marks and gaps. Sizes: 20 B
    /// of IPv4, 24 B of header, and the option in whole words.
    #[test]
    fn when_it_acknowledges() {
        let mut receiver = Receiver::default();
        let none = Ecn::Ect0;
        for (at, seq, ecn, expected) in [
            (0, 0, none, None),
            (1, 1, none, Some((0, 1, vec![1], 0, 48))),
            (2, 2, none, None),
            // 3 is missing.
            (3, 4, none, Some((1, 4, vec![0, 0xc0, 2], 0, 52))),
            (4, 5, none, None),
            (5, 3, none, Some((2, 5, vec![5], 0, 48))),
            (6, 6, Ecn::Ce, Some((3, 6, vec![0x40, 5], 0, 48))),
            (7, 7, none, None),
        ] {
            receiver.on_data(ms(at), &data(seq, ecn));
            assert_eq!(ack(&mut receiver, ms(at)), expected, "at {at} ms");
        }
        assert_eq!(receiver.next_timeout(), Some(ms(207)));
        receiver.on_timeout(ms(207));
        assert_eq!(ack(&mut receiver, ms(207)), Some((4, 7, vec![0, 0x40, 5], 0, 52)));
        assert_eq!(receiver.next_timeout(), None);
    }

    /// RFC 4340 §11.1: without acknowledgements of acknowledgements a vector would grow for ever.
    #[test]
    fn acknowledged_acknowledgements_shorten_the_vector() {
        let mut receiver = Receiver::default();
        // Every third packet is lost.
        let mut bytes = Vec::new();
        for seq in (0..60).filter(|seq| seq % 3 != 1) {
            receiver.on_data(ms(seq), &data(seq, Ecn::Ect0));
            bytes.extend(ack(&mut receiver, ms(seq)).map(|ack| ack.2.len()));
        }
        let two_for_each_gap: Vec<usize> = (1..=20).map(|gaps| 2 * gaps + 1).collect();
        assert_eq!(bytes, two_for_each_gap);
        assert_eq!(receiver.state.acks.len(), bytes.len());
        let last = receiver.state.next - 1;
        receiver.on_data(ms(60), &data_ack(60, last - 1, 0));
        receiver.on_data(ms(61), &data(61, Ecn::Ect0));
        let (_, _, vector, ..) = ack(&mut receiver, ms(61)).unwrap();
        assert!(vector.len() <= 3, "{vector:?}");
        // An old one changes nothing.
        receiver.on_data(ms(62), &data_ack(62, 0, 0));
        assert_eq!(receiver.state.acks.len(), 2);
    }

    /// RFC 4340 §6.6.4: options count in the order of their packets.
    #[test]
    fn it_takes_over_the_ratio_and_confirms_it() {
        let mut receiver = Receiver::default();
        receiver.on_data(ms(0), &data(0, Ecn::Ect0));
        receiver.on_data(ms(1), &data(1, Ecn::Ect0));
        assert!(ack(&mut receiver, ms(1)).is_some());
        receiver.on_data(ms(2), &data_ack(3, 0, 4));
        assert_eq!(ack(&mut receiver, ms(2)).map(|ack| (ack.3, ack.4)), Some((4, 56)), "a gap");
        receiver.on_data(ms(3), &data_ack(2, 0, 9));
        assert_eq!(ack(&mut receiver, ms(3)).map(|ack| ack.3), Some(0), "an older question");
        for seq in 4..7 {
            receiver.on_data(ms(seq), &data(seq, Ecn::Ect0));
            assert_eq!(ack(&mut receiver, ms(seq)), None);
        }
        receiver.on_data(ms(7), &data(7, Ecn::Ect0));
        assert!(ack(&mut receiver, ms(7)).is_some(), "each fourth");
    }
}
