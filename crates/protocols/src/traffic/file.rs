//! A file: a number of bytes, then the connection closes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Instant, Stream};
use lasthop_net::net::{Hears, Notice, Source, Timed, Transfer};

use super::SourceConfig;

/// One transfer of a given size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much is sent: payload. Default: 1 MB.
    pub size: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { size: Bytes::new(1_000_000) }
    }
}

impl SourceConfig for Config {
    fn build(&self, _start: Instant, _stream: Stream) -> Box<dyn Source> {
        Box::new(File { size: self.size.get(), transfer: None, asks: Vec::new() })
    }

    fn suits_datagrams(&self) -> bool {
        false
    }
}

/// The source.
#[derive(Debug)]
pub struct File {
    size: u64,
    /// The transfer, once it has begun.
    transfer: Option<Transfer>,
    /// What it asks for next, last first.
    asks: Vec<Notice>,
}

impl Timed for File {
    fn on_timeout(&mut self, now: Instant) {
        // An empty file is complete when it begins.
        let complete = (self.size == 0).then_some(now);
        self.transfer = Some(Transfer { received: complete, acked: complete, ..Transfer::begun(now, self.size) });
        self.asks = vec![Notice::Close, Notice::Write(self.size), Notice::Open];
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Source for File {
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        let Some(transfer) = &mut self.transfer else { return };
        let (done, bytes) = match notice {
            Notice::Received(bytes) => (&mut transfer.received, bytes),
            Notice::Acked(bytes) => (&mut transfer.acked, bytes),
            _ => return,
        };
        if bytes >= self.size {
            done.get_or_insert(now);
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        self.asks.pop()
    }

    fn hears(&self) -> Hears {
        Hears { sent: false, acked: true, received: true, lost: false, rate: false }
    }

    fn transfers(&self) -> &[Transfer] {
        self.transfer.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;

    #[test]
    fn a_transfer_ends_when_its_last_byte_is_received_and_acknowledged() {
        let at = Instant::from_nanos;
        let stream = Streams::new(1).stream("flow", "source");
        let mut file = Config { size: Bytes::new(3_000) }.build(at(5), stream);
        assert_eq!(file.poll(at(0)), None);
        file.on_timeout(at(5));
        let asked: Vec<_> = std::iter::from_fn(|| file.poll(at(5))).collect();
        assert_eq!(asked, [Notice::Open, Notice::Write(3_000), Notice::Close]);
        for (now, notice) in [
            (6, Notice::Received(2_999)),
            (7, Notice::Received(3_000)),
            (8, Notice::Acked(2_000)),
            (9, Notice::Acked(3_001)),
            (10, Notice::Acked(3_001)),
        ] {
            file.on_notice(at(now), notice);
        }
        let (received, acked) = (Some(at(7)), Some(at(9)));
        let expected = Transfer { received, acked, ..Transfer::begun(at(5), 3_000) };
        assert_eq!(file.transfers(), [expected]);
    }
}
