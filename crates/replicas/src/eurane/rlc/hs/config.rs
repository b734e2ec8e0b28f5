//! The parameters of EURANE's RLC AM over the high-speed shared channel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::eurane::rlc as eurane;
use lasthop_net::engine::{Duration, Fault};
use lasthop_radio::radio::Direction;
use lasthop_radio::radio::arq::{ArqConfig, LinkArq};

use super::Entity;

/// RLC in acknowledged mode as EURANE does it over the high-speed shared channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "EuraneHs")]
pub struct Config {
    /// What both ends have in common, and what the terminal's needs beside that. Its `window` and `buffer` are the terminal's;
    /// `max_dat` is not for this channel.
    pub am: eurane::Config,
    /// How many PDUs the RNC may send beyond the first sequence number of the last report. Default: 4095 (`win_` of
    /// `UMTS/RLC/AMHS`).
    pub window: u32,
    /// The limit of PDUs waiting at the RNC; an SDU that would reach it is dropped. Default: 500 (`buffer_level_max_`).
    pub buffer: u32,
    /// How long the last part of an SDU waits for the next one to fill its PDU. Default: 2 ms
    /// (`temp_pdu_timeout_time_`).
    pub wait: Duration,
    /// How long a report waits for a PDU on which it can ride. Default: 1 s (`status_timeout_`: "1ms" is read
    /// as 1 s).
    pub status_delay: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            am: eurane::Config::default(),
            window: 4095,
            buffer: 500,
            wait: Duration::from_millis(2),
            status_delay: Duration::from_secs(1),
        }
    }
}

impl ArqConfig for Config {
    fn build(&self, sends: Direction) -> Box<dyn LinkArq> {
        match sends {
            Direction::Down => Box::new(Entity::new(self)),
            Direction::Up => Box::new(eurane::Entity::new(&self.am)),
        }
    }

    fn pdu_bits(&self) -> u32 {
        self.am.pdu_bits()
    }

    fn check(&self) -> Result<(), Fault> {
        if self.am.max_dat.is_some() {
            return Err(Fault::new("am.max_dat", "the RNC's entity gives nothing up", "expected none"));
        }
        if self.window == 0 {
            return Err(Fault::new("window", "nothing could be sent", "at least 1"));
        }
        if self.buffer < 3 {
            let message = format!("a buffer for {} PDUs", self.buffer);
            return Err(Fault::new(
                "buffer",
                message,
                "expected 3 or more: an SDU of one needs two places, and is less",
            ));
        }
        self.am.check().map_err(|fault| fault.inside("am"))
    }
}
