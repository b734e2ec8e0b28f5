//! How far congestion has been answered, so that it is once in a window of data (RFC 3168 §6.1.2).

/// The last reduction of the window, for a loss or for marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// SND.NXT then: marks that acknowledgements up to it tell of are answered.
    pub to: u64,
    /// Whether the next new segment says that the window was reduced.
    pub tell: bool,
}

impl Answered {
    /// The last reduction is undone: what it answered is not answered, and a CWR that has not left does not leave.
    pub fn withdraw(&mut self, before: Self) {
        *self = Self { to: before.to, tell: self.tell && before.tell };
    }
}
