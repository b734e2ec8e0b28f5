//! Reassembly where nothing is sent twice: an SDU is whole if no PDU was missed from its first byte to
//! its last.

use crate::radio::arq::Outcome;

use super::pdu::Pdu;

/// Puts the SDUs of PDUs together that come in order, some missing.
#[derive(Debug, Default)]
pub struct Reassembly {
    /// The first SDU of which nothing was said yet.
    next: u64,
    /// The SDU after whose first byte nothing was missed so far, if there is one.
    whole: Option<u64>,
    /// Counts of outcomes.
    pub delivered: u64,
    pub lost: u64,
}

impl Reassembly {
    /// Before the first SDU.
    pub fn new() -> Self {
        Self { whole: Some(0), ..Self::default() }
    }

    /// A PDU is missing here.
    pub fn miss(&mut self) {
        self.whole = None;
    }

    /// Takes the next PDU. `starts`: whether it is known that it begins with the first byte of an
    /// SDU.
    #[inline]
    pub fn accept(&mut self, pdu: &Pdu, starts: bool, outcomes: &mut Vec<Outcome>) {
        if starts {
            self.whole = Some(pdu.sdu);
        }
        let after = pdu.sdu + u64::from(pdu.ends);
        for sdu in pdu.sdu..after {
            let whole = sdu > pdu.sdu || self.whole == Some(sdu);
            self.lose(sdu + u64::from(!whole), outcomes);
            if whole {
                outcomes.push(Outcome::Delivered(sdu));
                self.delivered += 1;
                self.next = sdu + 1;
            }
        }
        if pdu.ends > 0 {
            self.whole = Some(after);
        } else if self.whole != Some(pdu.sdu) {
            self.whole = None;
        }
    }

    /// The SDUs before this one, if nothing was said of them yet, will not come.
    fn lose(&mut self, before: u64, outcomes: &mut Vec<Outcome>) {
        while self.next < before {
            outcomes.push(Outcome::Lost(self.next));
            self.lost += 1;
            self.next += 1;
        }
    }
}
