//! The parameters of acknowledged mode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::radio::Direction;
use crate::radio::arq::{ArqConfig, LinkArq};
use crate::radio::rlc::Header;
use crate::radio::rlc::segmentation::Format;
use lasthop_net::engine::{Bytes, Duration, Fault};

use super::Am;

/// Acknowledged mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The size of a PDU. Up to 126 B a length indicator takes 1 B, above 2 B (§9.2.2.8). Default:
    /// 40 B.
    pub pdu: Bytes,
    /// Whether the header of 2 B takes of it. Default: `included`.
    pub header: Header,
    /// Let the header tell that the last byte of a PDU is the last of an SDU (the special value of
    /// HE, §9.2.2.7, since release 7), instead of an indicator in the next PDU. Default: off.
    pub special_he: bool,
    /// How many PDUs may be under way, and how far the receiver looks ahead
    /// (Configured_Tx_Window_Size and Configured_Rx_Window_Size, §9.6). Up to 2047: above half of the
    /// sequence numbers a repeated PDU or discard can pass for a new one. Default: 1024 (NIST's
    /// EURANE).
    pub window: u32,
    /// The most bytes that wait to be put into PDUs; an SDU that does not fit is dropped. Default:
    /// 100 kB (EURANE).
    pub buffer: Bytes,
    /// When SDUs are given up (§9.7.3). Default: `max-dat`.
    pub discard: Discard,
    /// How often a PDU is sent, with `discard` at `max-dat` or `reset` (MaxDAT, §9.6 a; RRC can ask for
    /// up to 40). Default: 10 (Dubois 2005, ch. 8).
    pub max_dat: u32,
    /// What `max_dat` counts. Default: `transmissions`, which the results of Dubois 2005 imply.
    pub maxdat_counts: MaxDatCounts,
    /// How long an SDU may wait for its acknowledgement, with `discard` at `timer` (Timer_Discard, §9.5 d;
    /// RRC: 0.1 s to 7.5 s). Default: 5 s.
    pub discard_timer: Duration,
    /// How long after an order to move the receiving window (MRW) it is sent again, if it is not acknowledged (Timer_MRW, §9.5 i).
    /// Default: 500 ms (Dubois 2005, §5.1).
    pub mrw_timer: Duration,
    /// How often an MRW is sent before both ends are reset (MaxMRW, §9.6 h; RRC: 1 to 32). Default: 8.
    pub max_mrw: u32,
    /// How long after a reset it is asked for again, if it is not acknowledged (Timer_RST, §9.5 h; RRC: 50
    /// ms to 1 s). Default: 500 ms.
    pub reset_timer: Duration,
    /// One more than how often a reset is asked for before that is counted as an unrecoverable error
    /// (MaxRST, §9.6 e; RRC: 1 to 32). Default: 8.
    pub max_rst: u32,
    /// What `poll_timer` does. Default: `timer`.
    pub poll: Poll,
    /// How long after a poll the next one is sent, if no report has answered it (Timer_Poll, §9.5 a); with
    /// `poll` at `periodic`, the time from poll to poll (Timer_Poll_Periodic, §9.5 e). Default: 170 ms
    /// (EURANE).
    pub poll_timer: Duration,
    /// Poll on a new PDU after which none can be sent (*last PDU in buffer*, §9.7.1). Default: on.
    pub poll_last: bool,
    /// Poll on the last retransmission that is due (*last PDU in retransmission buffer*, §9.7.1).
    /// Default: on.
    pub poll_last_retransmission: bool,
    /// Poll on every so-many-th PDU (Poll_PDU, §9.6 b; RRC: up to 128). Default: 256 (EURANE); 0
    /// for never.
    pub poll_every: u32,
    /// Poll at the end of every so-many-th SDU (Poll_SDU, §9.6 c; RRC: 1, 4, 16, 64). Default: 0
    /// for never.
    pub poll_every_sdus: u32,
    /// Poll on PDUs sent when this percentage of the window is in use (Poll_Window, §9.6 d; RRC: 50 to 99). Default: 0 for never.
    pub poll_window: u32,
    /// Report when a PDU arrives before one that is missing, and that gap is new (*detection of missing
    /// PDUs*, §9.7.2). Default: on.
    pub status_on_gap: bool,
    /// The least time between two reports (Timer_Status_Prohibit, §9.5 f; RRC: 10 ms to 1 s). Default:
    /// 80 ms; 0 for none.
    pub status_prohibit: Duration,
    /// Report at all multiples of this time (Timer_Status_Periodic, §9.5 g; RRC: 0.1 s to 2 s).
    /// Default: only on a poll or a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_periodic: Option<Duration>,
    /// Do not believe that a PDU is missing which was sent less than this ago: the report was made
    /// before it could arrive. Left out: send it again at once, as the standard says (§11.5.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Duration>,
    /// Deliver SDUs in the order in which they were sent (*in-sequence delivery*, §11.3.3); otherwise each
    /// as soon as it is complete. Default: on.
    pub in_sequence: bool,
}

/// When SDUs are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discard {
    /// When a PDU would be sent too often (§9.7.3.3).
    MaxDat,
    /// When they have waited too long (§9.7.3.1).
    Timer,
    /// Never; when a PDU would be sent too often, both ends are reset (§9.7.3.4).
    Reset,
}

/// What `max_dat` = n means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MaxDatCounts {
    /// A PDU is sent n times.
    #[serde(rename = "transmissions")]
    Transmissions,
    /// It is sent again n times.
    #[serde(rename = "retransmissions")]
    Retransmissions,
    /// It is sent n − 1 times (§9.6 a).
    #[serde(rename = "3gpp")]
    Gpp,
}

/// What makes a poll come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Poll {
    /// A poll that is not answered in time.
    Timer,
    /// The clock, at all multiples of a time, if anything is unacknowledged.
    Periodic,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            pdu: Bytes::new(40),
            header: Header::Included,
            special_he: false,
            window: 1024,
            buffer: Bytes::new(100_000),
            discard: Discard::MaxDat,
            max_dat: 10,
            maxdat_counts: MaxDatCounts::Transmissions,
            discard_timer: Duration::from_secs(5),
            mrw_timer: Duration::from_millis(500),
            max_mrw: 8,
            reset_timer: Duration::from_millis(500),
            max_rst: 8,
            poll: Poll::Timer,
            poll_timer: Duration::from_millis(170),
            poll_last: true,
            poll_last_retransmission: true,
            poll_every: 256,
            poll_every_sdus: 0,
            poll_window: 0,
            status_on_gap: true,
            status_prohibit: Duration::from_millis(80),
            status_periodic: None,
            round_trip: None,
            in_sequence: true,
        }
    }
}

impl Config {
    /// The number of times for which a PDU is scheduled at which it is given up instead: the limit of
    /// VT(DAT).
    pub(super) fn vt_dat_limit(&self) -> u32 {
        if self.discard == Discard::Timer {
            return u32::MAX;
        }
        self.max_dat.saturating_add(match self.maxdat_counts {
            MaxDatCounts::Transmissions => 1,
            MaxDatCounts::Retransmissions => 2,
            MaxDatCounts::Gpp => 0,
        })
    }

    pub(super) fn format(&self) -> Format {
        let pdu = self.pdu.get();
        Format {
            room: self.header.room(pdu, HEADER),
            indicator: if pdu <= SHORT_INDICATORS { 1 } else { 2 },
            tells_start: false,
            header_tells_end: self.special_he,
            // With explicit signalling a PDU has at most 15 (§9.2.2.8).
            most_ends: if self.discard == Discard::Reset { u16::MAX } else { 15 },
        }
    }
}

impl ArqConfig for Config {
    fn build(&self, _sends: Direction) -> Box<dyn LinkArq> {
        Box::new(Am::new(self))
    }

    fn pdu_bits(&self) -> u32 {
        self.pdu.bits()
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, message: String, expected: &str| Err(Fault::new(field, message, expected));
        if !PDU_SIZES.contains(&self.pdu.get()) {
            let expected = "expected 16 B, for a status report, to 1505 B (TS 25.322 §9.2.2.9)";
            return fault("pdu", format!("PDUs of {}", self.pdu), expected);
        }
        if !(1..=2047).contains(&self.window) {
            let expected = "expected 1 to 2047, less than half of the 4096 sequence numbers";
            return fault("window", format!("a window of {} PDUs", self.window), expected);
        }
        if self.vt_dat_limit() < 2 {
            let expected = "expected at least 1, or 2 with `maxdat_counts = \"3gpp\"`, where n means n - 1 times";
            return fault("max_dat", "no PDU would ever be sent".into(), expected);
        }
        let timers = [
            ("discard_timer", Some(self.discard_timer)),
            ("mrw_timer", Some(self.mrw_timer)),
            ("reset_timer", Some(self.reset_timer)),
            ("poll_timer", Some(self.poll_timer)),
            ("status_periodic", self.status_periodic),
        ];
        if let Some((field, _)) = timers.into_iter().find(|(_, timer)| *timer == Some(Duration::ZERO)) {
            return fault(field, "it would expire at once, for ever".into(), "expected more than 0 s");
        }
        if self.max_mrw < 1 {
            return fault("max_mrw", "no discard would ever be told".into(), "expected at least 1");
        }
        if self.max_rst < 2 {
            return fault(
                "max_rst",
                "no reset would ever be asked for".into(),
                "expected at least 2: n means n - 1 times",
            );
        }
        if self.poll_window > 100 {
            return fault("poll_window", format!("{} percent of the window", self.poll_window), "expected 0 to 100");
        }
        for (field, on) in [("poll_last", self.poll_last), ("poll_last_retransmission", self.poll_last_retransmission)]
        {
            if self.poll == Poll::Timer && !on {
                let message = "the last PDU would not be asked for, and waited for without end if it is lost";
                return fault(field, message.into(), "expected true, or `poll = \"periodic\"`");
            }
        }
        Ok(())
    }
}

/// Room for a report with a discard, its acknowledgement and a gap, to the largest data field of 1503 B.
const PDU_SIZES: std::ops::RangeInclusive<u64> = 16..=1505;
/// Bytes of the header (§9.2.1.4).
const HEADER: u64 = 2;
/// The largest PDU with indicators of 7 bits (§9.2.2.8).
const SHORT_INDICATORS: u64 = 126;

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::choice::parsed;

    #[test]
    fn what_makes_no_sense_is_refused_by_its_name() {
        assert_eq!(Config::default().check(), Ok(()));
        for (field, text) in [
            ("pdu", "pdu = '15 B'"),
            ("pdu", "pdu = '1506 B'"),
            ("window", "window = 0"),
            ("window", "window = 2048"),
            ("max_dat", "max_dat = 0"),
            ("max_dat", "max_dat = 1\nmaxdat_counts = '3gpp'"),
            ("poll_timer", "poll_timer = '0 s'"),
            ("mrw_timer", "mrw_timer = '0 s'"),
            ("status_periodic", "status_periodic = '0 s'"),
            ("max_mrw", "max_mrw = 0"),
            ("max_rst", "max_rst = 1"),
            ("poll_window", "poll_window = 101"),
            ("poll_last", "poll_last = false"),
            ("poll_last_retransmission", "poll_last_retransmission = false"),
        ] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
        let config: Config = parsed("poll = 'periodic'\npoll_last = false\nmax_dat = 9000").unwrap();
        assert_eq!(config.check(), Ok(()));
    }

    #[test]
    fn max_dat_counts_as_it_is_told() {
        for (counts, limit) in [("transmissions", 6), ("retransmissions", 7), ("3gpp", 5)] {
            let config: Config = parsed(&format!("max_dat = 5\nmaxdat_counts = '{counts}'")).unwrap();
            assert_eq!(config.vt_dat_limit(), limit, "{counts}");
        }
    }
}
