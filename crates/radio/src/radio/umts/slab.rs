//! Where PDUs lie while they are under way between two RLC entities: queues and lines hold their handles.

use crate::radio::rlc::Pdu;

/// PDUs under way, in places that are used again.
#[derive(Debug, Default)]
pub struct Slab {
    pdus: Vec<Pdu>,
    free: Vec<u32>,
}

/// A PDU in the slab. It cannot be copied; it ends in [`Slab::take`] or [`Slab::free`].
#[derive(Debug)]
#[must_use = "a PDU ends in `take` or `free`"]
pub struct Flying {
    place: u32,
    /// Its size for the medium.
    pub bits: u32,
}

impl Slab {
    /// A PDU sets out.
    #[inline]
    pub fn keep(&mut self, pdu: Pdu) -> Flying {
        let bits = pdu.bits;
        let place = match self.free.pop() {
            Some(place) => {
                self.pdus[place as usize] = pdu;
                place
            }
            None => {
                self.pdus.push(pdu);
                (self.pdus.len() - 1) as u32
            }
        };
        Flying { place, bits }
    }

    /// A PDU under way.
    #[inline]
    pub fn at(&self, flying: &Flying) -> &Pdu {
        &self.pdus[flying.place as usize]
    }

    /// A PDU has come, and was read where it lies.
    #[inline]
    pub fn free(&mut self, flying: Flying) {
        self.free.push(flying.place);
        self.pdus[flying.place as usize].control = None;
    }

    /// A PDU has come, or is lost.
    #[inline]
    pub fn take(&mut self, flying: Flying) -> Pdu {
        self.free.push(flying.place);
        std::mem::take(&mut self.pdus[flying.place as usize])
    }

    /// How many PDUs are under way.
    pub fn len(&self) -> usize {
        self.pdus.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::default();
        let pdu = |sn| Pdu { sn, bits: 320, ..Pdu::default() };
        for round in 0..100 {
            let [first, second] = [0, 1].map(|place| slab.keep(pdu(2 * round + place)));
            assert_eq!((slab.at(&first).sn, second.bits), (2 * round, 320));
            assert_eq!(slab.take(second).sn, 2 * round + 1);
            slab.free(first);
        }
        assert_eq!((slab.pdus.len(), slab.len()), (2, 0));
    }
}
