//! A connection: its state and its congestion control. The files beside it have what happens to both.

use super::congestion::Control;
use super::tcp::Tcp;

/// A connection.
pub struct Socket {
    pub tcp: Tcp,
    pub control: Control,
}
