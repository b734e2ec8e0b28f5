//! The network device of a host.

use std::io;

/// A device that carries IP packets, one at a time, and never waits.
pub trait Device {
    /// Reads the next packet that the host sent into `buffer`, and says how long it is; `None` if there is none at present.
    ///
    /// # Errors
    /// If the device is gone.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Hands a packet to the host. Says `false` if the host does not take it, as when its interface is down.
    ///
    /// # Errors
    /// If the device is gone.
    fn write(&mut self, packet: &[u8]) -> io::Result<bool>;
}
