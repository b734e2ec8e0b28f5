//! The window that the receiver advertises (`tcp_grow_window`, `tcp_select_window`). It is half of the buffer before the first segment; with each
//! segment it grows by two, up to the share of the buffer that segments fill (`scaling_ratio`), and its right edge never moves back.

/// `MAX_TCP_WINDOW` without scaling: what a SYN can carry.
pub const UNSCALED: u64 = 65_535;

/// The window.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    /// `rcv_ssthresh`.
    size: u64,
    /// `window_clamp`.
    clamp: u64,
    /// The right edge as advertised.
    edge: u64,
}

impl ReceiveWindow {
    /// A window of `size` bytes that may grow to `clamp`. A SYN+ACK carries its lower 16 bits' worth.
    pub fn new(size: u64, clamp: u64) -> Self {
        Self { size, clamp, edge: UNSCALED.min(size) + 1 }
    }

    /// A segment of `bytes` has come. Says whether the window has grown.
    pub fn grow(&mut self, bytes: u64, mss: u64) -> bool {
        let room = self.clamp.saturating_sub(self.size);
        self.size += room.min(2 * mss.max(bytes));
        room > 0
    }

    /// The window of a SYN+ACK.
    pub fn unscaled(&self) -> u64 {
        self.size.min(UNSCALED)
    }

    /// The window to be advertised beyond `rcv_nxt`.
    pub fn select(&mut self, rcv_nxt: u64) -> u64 {
        self.edge = self.edge.max(rcv_nxt + self.size);
        self.edge - rcv_nxt
    }

    /// The right edge.
    pub fn edge(&self) -> u64 {
        self.edge
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;
    use super::*;
    use lasthop_protocols::transport::tcp::config::Config;

    /// 32 MiB of which half, in whole segments, is window at first, and 160/256 (1,448 of 2,304 B) at last; TCP_INFO of a kernel with 8 MiB has
    /// 4,193,408 and 5,242,880. In all captures of the reference the first acknowledgement of two segments answers the 1,467th, or one or two later, as they pair: while
    /// the window grows each segment is acknowledged, and 16 more after.
    #[test]
    fn the_window_of_the_reference_grows_with_1449_segments() {
        let settings = Settings::new(&Config::default());
        let mut window = ReceiveWindow::new(settings.window, settings.window_clamp);
        let grown = (0..5_000).filter(|_| window.grow(1_448, 1_448)).count();
        assert_eq!(grown + 16 + 2, 1_467);
    }

    #[test]
    fn the_edge_never_moves_back() {
        let mut window = ReceiveWindow::new(10_000, 10_000);
        assert_eq!(window.select(1), 10_000);
        assert_eq!(window.edge(), 10_001);
        window.size = 5_000;
        assert_eq!(window.select(2_001), 8_000);
    }
}
