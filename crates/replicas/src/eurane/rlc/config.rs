//! The parameters of EURANE's RLC AM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Fault};
use lasthop_radio::radio::Direction;
use lasthop_radio::radio::arq::{ArqConfig, LinkArq};

use super::Entity;

/// RLC in acknowledged mode as EURANE does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The size of a PDU. Its header takes nothing of it, a length indicator 1 B. Default: 40 B
    /// (`payload_`).
    pub pdu: Bytes,
    /// How many PDUs may lie between the highest that a report spoke of and the next new one.
    /// Default: 1024 (`win_`).
    pub window: u32,
    /// How long after a poll the next one is sent, if no report covers the PDU that carried it.
    /// Default: 170 ms (`poll_timeout_`).
    pub poll_timer: Duration,
    /// After how many PDUs with data one polls at the latest. Default: 256 (`poll_PDU_`).
    pub poll_every: u32,
    /// The least time between two reports. Default: 150 ms (`stprob_timeout_`).
    pub status_prohibit: Duration,
    /// How many bytes of SDUs may wait to be put into PDUs; an SDU that does not fit is dropped.
    /// Default: 100 kB (`maxRBSize_`).
    pub buffer: Bytes,
    /// How often a PDU is sent at most (maxDAT). If it is still missing then, its SDU and those before
    /// it are given up. Default: without limit, as EURANE was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_dat: Option<u32>,
    /// With `max_dat`: how long after an order to give SDUs up (MRW) it is sent again, if no report shows that the far end knows. Default:
    /// 500 ms (Dubois 2005, §5.1).
    pub mrw_timer: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            pdu: Bytes::new(40),
            window: 1024,
            poll_timer: Duration::from_millis(170),
            poll_every: 256,
            status_prohibit: Duration::from_millis(150),
            buffer: Bytes::new(100_000),
            max_dat: None,
            mrw_timer: Duration::from_millis(500),
        }
    }
}

impl ArqConfig for Config {
    fn build(&self, _sends: Direction) -> Box<dyn LinkArq> {
        Box::new(Entity::new(self))
    }

    fn pdu_bits(&self) -> u32 {
        self.pdu.bits()
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if !PDU_SIZES.contains(&self.pdu.get()) {
            let expected = "expected 8 B, for a report and a discard, to 126 B, the most for indicators of one byte";
            return fault("pdu", format!("PDUs of {}", self.pdu), expected);
        }
        let counts = [("window", self.window), ("poll_every", self.poll_every), ("max_dat", self.max_dat.unwrap_or(1))];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return fault(field, "nothing could be sent".to_owned(), "at least 1");
        }
        let timers = [("poll_timer", self.poll_timer), ("mrw_timer", self.mrw_timer)];
        if let Some((field, _)) = timers.into_iter().find(|(_, timer)| *timer == Duration::ZERO) {
            return fault(field, "it would expire at once, for ever".to_owned(), "longer than 0 s");
        }
        Ok(())
    }
}

/// A report of one bit beside a discard takes 45 bits; a length indicator of one byte counts to 126
/// (TS 25.322 §9.2.2.8).
const PDU_SIZES: std::ops::RangeInclusive<u64> = 8..=126;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_by_its_name() {
        let usual = Config::default();
        assert_eq!(usual.check(), Ok(()));
        for (field, config) in [
            ("pdu", Config { pdu: Bytes::new(7), ..usual.clone() }),
            ("pdu", Config { pdu: Bytes::new(127), ..usual.clone() }),
            ("window", Config { window: 0, ..usual.clone() }),
            ("poll_every", Config { poll_every: 0, ..usual.clone() }),
            ("max_dat", Config { max_dat: Some(0), ..usual.clone() }),
            ("poll_timer", Config { poll_timer: Duration::ZERO, ..usual.clone() }),
            ("mrw_timer", Config { mrw_timer: Duration::ZERO, ..usual.clone() }),
        ] {
            assert_eq!(config.check().unwrap_err().field, field);
        }
    }
}
