//! A packet for several terminals: copies are made where its way divides, in the medium.

use super::core::Core;
use super::slab::Pkt;

/// Gives `take` a copy of the packet for each of these receivers, and the packet itself for the last. Callers never pass an empty receiver
/// list.
#[inline]
pub fn each<T: Copy>(core: &mut Core, pkt: Pkt, all: &[T], mut take: impl FnMut(&mut Core, T, Pkt)) {
    let Some((last, others)) = all.split_last() else { return };
    for one in others {
        let copy = core.copy(&pkt);
        take(core, *one, copy);
    }
    take(core, *last, pkt);
}
