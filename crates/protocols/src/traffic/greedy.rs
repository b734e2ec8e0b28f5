//! A source that never runs dry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Instant, Stream};
use lasthop_net::net::{Notice, Source, Timed};

use super::SourceConfig;

/// As much as the transport takes, until the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl SourceConfig for Config {
    fn build(&self, _start: Instant, _stream: Stream) -> Box<dyn Source> {
        Box::new(Greedy::default())
    }

    fn suits_datagrams(&self) -> bool {
        false
    }
}

/// The source.
#[derive(Debug, Default)]
pub struct Greedy {
    said: u8,
    started: bool,
}

impl Timed for Greedy {
    fn on_timeout(&mut self, _now: Instant) {
        self.started = true;
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Source for Greedy {
    fn on_notice(&mut self, _now: Instant, _notice: Notice) {}

    fn poll(&mut self, _now: Instant) -> Option<Notice> {
        if !self.started {
            return None;
        }
        self.said = self.said.saturating_add(1);
        match self.said {
            1 => Some(Notice::Open),
            2 => Some(Notice::Write(u64::MAX)),
            _ => None,
        }
    }
}
