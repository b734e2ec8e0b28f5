//! Contexts of a compressor by their identifiers.

use super::headers::Stream;

/// The contexts of one space of identifiers. Those of new streams are taken in order; when there is none left, the
/// one that has not been used for longest is taken again.
#[derive(Debug)]
pub(super) struct Contexts<C> {
    /// Each with its stream, and the number of its last use.
    used: Vec<(Stream, u64, C)>,
    largest: u32,
    uses: u64,
}

impl<C> Contexts<C> {
    /// With identifiers from 0 to `largest`.
    pub fn new(largest: u32) -> Self {
        Self { used: Vec::new(), largest, uses: 0 }
    }

    /// The identifier for a stream, and the context if it has one.
    pub fn find(&self, stream: Stream) -> (u16, Option<&C>) {
        if let Some(cid) = self.used.iter().position(|(other, ..)| *other == stream) {
            return (cid as u16, Some(&self.used[cid].2));
        }
        if self.used.len() as u32 <= self.largest {
            return (self.used.len() as u16, None);
        }
        let oldest = (0..self.used.len()).min_by_key(|cid| self.used[*cid].1);
        (oldest.unwrap_or_default() as u16, None)
    }

    /// The context of an identifier, whichever stream it has.
    pub fn get(&self, cid: u16) -> Option<&C> {
        self.used.get(usize::from(cid)).map(|(.., context)| context)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, cid: u16) -> Option<&mut C> {
        self.used.get_mut(usize::from(cid)).map(|(.., context)| context)
    }

    /// The identifier that [`Contexts::find`] gave is used for a stream, whose context this is now.
    pub fn set(&mut self, cid: u16, stream: Stream, context: C) {
        self.uses += 1;
        let entry = (stream, self.uses, context);
        match self.used.get_mut(usize::from(cid)) {
            Some(used) => *used = entry,
            None => self.used.push(entry),
        }
    }
}
