//! Sources: what a flow has to send, one file each.

pub mod cbr;
pub mod encoder;
pub mod file;
pub mod files;
pub mod frame_trace;
pub mod ftp;
pub mod greedy;
pub mod onoff;
pub mod playout;
pub mod session;
pub mod video;
pub mod voice;
pub mod web;

use lasthop_net::engine::{BitRate, Bytes, Duration, Fault, Instant, Stream};
use lasthop_net::net::Source;

/// The parameters of a source.
pub trait SourceConfig: Send + Sync {
    /// The source of a flow that starts at `start`; `stream` is its own.
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source>;

    /// Whether what it writes makes sense as datagrams: one for each write, of bounded size.
    fn suits_datagrams(&self) -> bool;

    /// Whether it opens one connection after another, each with a segment size of its choice, and
    /// waits for what it has sent.
    fn reconnects(&self) -> bool {
        false
    }

    /// Whether it opens one connection after another, and subscribes to bytes sent and received.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether it follows the rate that its transport tells ([`Notice::Rate`](lasthop_net::net::Notice::Rate)).
    fn follows_rate(&self) -> bool {
        false
    }

    /// How many writes it is sure to make in this time, whatever the network does.
    fn writes(&self, _time: Duration) -> u64 {
        0
    }

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// The largest payload of a UDP datagram over IPv4, whose total length has 16 bits (RFC 768, RFC 791).
const LARGEST_DATAGRAM: u64 = 65_507;

/// The header of RTP without contributing sources (RFC 3550 §5.1), which the application writes.
const RTP_HEADER: u64 = 12;

/// `size`, if a datagram can have it.
fn datagram_size(size: Bytes) -> Result<Bytes, String> {
    if (1..=LARGEST_DATAGRAM).contains(&size.get()) {
        Ok(size)
    } else {
        Err(format!("`size` must lie from 1 B to {LARGEST_DATAGRAM} B, and not be {size}"))
    }
}

/// How long `n` writes of `size` take at `rate`, rounded down to the nanosecond.
fn writes_before(n: u64, size: Bytes, rate: BitRate) -> Duration {
    let work = u128::from(n) * u128::from(size.get()) * 8 * 1_000_000_000;
    let nanos = work / u128::from(rate.as_bps());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::net::Notice;

    /// Runs a source by itself and gives when it writes how much, before `until`.
    pub fn write_times(config: &dyn SourceConfig, start: Instant, until: Instant) -> Vec<(Instant, u64)> {
        let mut source = config.build(start, Streams::new(5).stream("flow", "source"));
        let mut writes = Vec::new();
        let mut wake = Some(start);
        while let Some(now) = wake.filter(|at| *at < until) {
            source.on_timeout(now);
            while let Some(notice) = source.poll(now) {
                match notice {
                    Notice::Write(bytes) => writes.push((now, bytes)),
                    other => assert_eq!((other, writes.len()), (Notice::Open, 0), "opens once, and first"),
                }
            }
            wake = source.next_timeout();
        }
        writes
    }
}
