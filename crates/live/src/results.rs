//! What a live run gives: tables beside those of any run, and the verdict.

use std::fmt;
use std::path::Path;

use lasthop_core::engine::Duration;
use lasthop_core::measure::table::{Column, Names, Table};
use lasthop_core::net::RunError;

use crate::bridge::Bridge;
use crate::flows::{Counts, Flow, OLDER};
use crate::lateness::Lateness;

/// The table `hosts`: a row for each host.
pub fn hosts(bridge: &Bridge, lateness: &[Lateness]) -> Table {
    let mut names = Names::default();
    let mut addresses = Vec::new();
    for host in bridge.hosts() {
        names.push(&host.node);
        addresses.push(host.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    }
    let traffic: Vec<_> = (0..lateness.len()).map(|host| bridge.traffic(host)).collect();
    let counts =
        |numbers: Vec<u64>| Column::Int(numbers.into_iter().map(|number| number as i64).collect::<Vec<_>>().into());
    let share = |q: f64| Column::Float(lateness.iter().map(|lateness| lateness.quantile(q)).collect());
    let largest = |l: &Lateness| (l.packets() > 0).then(|| l.largest().as_secs_f64());
    Table {
        columns: vec![
            ("host", names.column()),
            ("addresses", Column::Text(addresses)),
            ("sent_packets", counts(traffic.iter().map(|t| t.sent).collect())),
            ("sent_bytes", counts(traffic.iter().map(|t| t.sent_bytes).collect())),
            ("delivered_packets", counts(traffic.iter().map(|t| t.delivered).collect())),
            ("delivered_bytes", counts(traffic.iter().map(|t| t.delivered_bytes).collect())),
            ("lateness_p50_s", share(0.5)),
            ("lateness_p99_s", share(0.99)),
            ("lateness_p999_s", share(0.999)),
            ("lateness_max_s", Column::Float(lateness.iter().map(largest).collect())),
            ("late_packets", counts(lateness.iter().map(Lateness::late).collect())),
        ],
    }
}

/// The table `real_flows`: a row for each flow between hosts, and one for all those that were forgotten.
pub fn real_flows(bridge: &Bridge) -> Table {
    let flows = bridge.flows();
    let mut rows: Vec<(String, Option<u8>, Counts)> = flows.iter().map(row).collect();
    if flows.older != Counts::default() {
        rows.push((OLDER.to_owned(), None, flows.older));
    }
    let counts = |of: fn(&Counts) -> u64| Column::Int(rows.iter().map(|(.., c)| Some(of(c) as i64)).collect());
    Table {
        columns: vec![
            ("flow", Column::Text(rows.iter().map(|(name, ..)| name.clone()).collect())),
            ("protocol", Column::Int(rows.iter().map(|(_, protocol, _)| protocol.map(i64::from)).collect())),
            ("sent_packets", counts(|c| c.sent)),
            ("sent_bytes", counts(|c| c.sent_bytes)),
            ("delivered_packets", counts(|c| c.delivered)),
            ("dropped_packets", counts(|c| c.dropped)),
        ],
    }
}

fn row(flow: &Flow) -> (String, Option<u8>, Counts) {
    (flow.name(), Some(flow.key.protocol), flow.counts)
}

/// A row of the table `live`: how the run went by the wall clock.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "they are the columns of the table")]
pub struct Wall {
    pub wall_s: f64,
    pub virtual_s: f64,
    pub turns: u64,
    pub cpu_s: f64,
    pub behind_s: f64,
    pub fell_behind: bool,
    pub lost_before_the_bridge: u64,
    pub not_for_a_host: u64,
    pub refused: u64,
    pub over_memory: u64,
    pub realtime: bool,
    pub kernel: String,
    pub congestion: String,
    pub verdict: String,
}

impl Wall {
    /// The table `live`.
    pub fn table(&self) -> Table {
        let float = |value: f64| Column::Float(vec![value].into());
        let int = |value: u64| Column::Int(vec![value as i64].into());
        let text = |value: &str| Column::Text(vec![value.to_owned()]);
        Table {
            columns: vec![
                ("wall_s", float(self.wall_s)),
                ("virtual_s", float(self.virtual_s)),
                ("turns", int(self.turns)),
                ("cpu_s", float(self.cpu_s)),
                ("behind_s", float(self.behind_s)),
                ("fell_behind", int(self.fell_behind.into())),
                ("lost_before_the_bridge", int(self.lost_before_the_bridge)),
                ("not_for_a_host", int(self.not_for_a_host)),
                ("refused_by_host", int(self.refused)),
                ("over_memory", int(self.over_memory)),
                ("realtime", int(self.realtime.into())),
                ("kernel", text(&self.kernel)),
                ("congestion_control", text(&self.congestion)),
                ("verdict", text(&self.verdict)),
            ],
        }
    }
}

/// Whether the figures of a live run can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They can.
    Sound,
    /// Packets left late.
    Late {
        /// Their share of all packets.
        share: f64,
        /// The limit beyond which a packet is late.
        limit: Duration,
        /// The 99th percentile of lateness, in seconds.
        p99: f64,
    },
    /// Packets were read after the bridge had not run for a while: how long each waited is not known.
    Waited {
        /// How many.
        packets: u64,
        /// For how long at most.
        longest: Duration,
        /// That packets left late too, if they did.
        late: Option<Box<Verdict>>,
    },
    /// The interface of this host went away.
    Gone(String),
    /// The kernel dropped packets before the bridge could read them.
    Lost {
        /// How many.
        packets: u64,
        /// Of which host.
        host: String,
    },
    /// Packets did not enter the network, for want of memory.
    Refused(u64),
}

impl Verdict {
    /// The verdict on a run: the gravest reason. `lost` says how many packets of each host the kernel dropped,
    /// `refused` how many found no memory.
    pub fn of(lateness: &[Lateness], limit: Duration, lost: &[(String, u64)], refused: u64) -> Self {
        if let Some((host, packets)) = lost.iter().max_by_key(|(_, packets)| *packets).filter(|(_, lost)| *lost > 0) {
            return Self::Lost { packets: *packets, host: host.clone() };
        }
        if refused > 0 {
            return Self::Refused(refused);
        }
        let (late, packets) = lateness.iter().fold((0, 0), |(late, all), l| (late + l.late(), all + l.packets()));
        if late == 0 {
            return Self::Sound;
        }
        // The host that fares worst: delays of all are in doubt.
        let p99 = lateness.iter().filter_map(|l| l.quantile(0.99)).fold(0.0, f64::max);
        Self::Late { share: late as f64 / packets as f64, limit, p99 }
    }

    /// The same, or that this many packets waited, the longest this long, if that is graver.
    pub fn or_waited(self, packets: u64, longest: Duration) -> Self {
        match self.trusted() {
            Some(trusted) if packets > 0 && longest.as_secs_f64() > trusted => {
                let late = matches!(self, Self::Late { .. }).then(|| Box::new(self));
                Self::Waited { packets, longest, late }
            }
            _ => self,
        }
    }

    /// Above which delay, in seconds, delays can be trusted; `None` if none can.
    fn trusted(&self) -> Option<f64> {
        match self {
            Self::Sound => Some(0.0),
            Self::Late { limit, p99, .. } => Some(p99.max(limit.as_secs_f64())),
            Self::Waited { longest, .. } => Some(longest.as_secs_f64()),
            Self::Gone(_) | Self::Lost { .. } | Self::Refused(_) => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trusted = (1e3 * self.trusted().unwrap_or_default()).ceil();
        match self {
            Self::Sound => write!(f, "sound"),
            Self::Late { share, limit, p99 } => {
                write!(f, "LATE: {}; do not trust delays below {trusted} ms", left_late(*share, *limit, *p99))
            }
            Self::Waited { packets, longest, late } => {
                let ms = 1e3 * longest.as_secs_f64();
                let what = match late.as_deref() {
                    Some(Self::Late { share, limit, p99 }) => {
                        format!("{}, and {packets}", left_late(*share, *limit, *p99))
                    }
                    _ => format!("{packets} packet{}", if *packets == 1 { "" } else { "s" }),
                };
                write!(
                    f,
                    "LATE: {what} may have waited up to {ms:.1} ms to be read; do not trust delays below {trusted} ms"
                )
            }
            Self::Gone(host) => write!(f, "UNSOUND: the interface of host {host} went away"),
            Self::Lost { packets, host } => {
                let s = if *packets == 1 { "" } else { "s" };
                write!(f, "UNSOUND: the kernel dropped {packets} packet{s} of host {host} before the bridge read them")
            }
            Self::Refused(packets) => {
                let s = if *packets == 1 { "" } else { "s" };
                write!(
                    f,
                    "UNSOUND: {packets} packet{s} did not enter the network: more bytes under way than live.memory allows"
                )
            }
        }
    }
}

/// Which share of packets left how late.
fn left_late(share: f64, limit: Duration, p99: f64) -> String {
    let share = if share < 0.0005 { "less than 0.1".to_owned() } else { format!("{:.1}", 100.0 * share) };
    format!("{share} % of packets left more than {limit} late (p99 {p99:.1} ms)", p99 = 1e3 * p99)
}

/// All tables of a run but `live`: those of the session, `hosts` and `real_flows`.
///
/// # Errors
/// [`RunError::NotConserved`], which is a defect of lasthop.
pub fn tables(bridge: Bridge, lateness: &[Lateness]) -> Result<Vec<(&'static str, Table)>, RunError> {
    let (hosts, real_flows) = (hosts(&bridge, lateness), real_flows(&bridge));
    let mut tables = bridge.finish()?;
    tables.extend([("hosts", hosts), ("real_flows", real_flows)]);
    Ok(tables)
}

/// Writes each table into `folder`, as `NAME.csv`.
///
/// # Errors
/// A sentence with the file that cannot be written.
pub fn write(folder: &Path, tables: &[(&'static str, Table)]) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, table) in tables {
        let path = folder.join(format!("{name}.csv"));
        std::fs::write(&path, csv(table)).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// A table as CSV (RFC 4180). A missing number is empty.
pub fn csv(table: &Table) -> String {
    let quoted = |text: &str| {
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut text = table.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..table.rows() {
        let cells = table.columns.iter().map(|(_, column)| match column {
            Column::Text(texts) => quoted(&texts[row]),
            Column::Names(places, names) => quoted(&names[places[row] as usize]),
            Column::Int(numbers) => numbers.get(row).map_or(String::new(), |number| number.to_string()),
            Column::Float(numbers) => numbers.get(row).map_or(String::new(), |number| number.to_string()),
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_said_as_specified() {
        let limit = Duration::from_millis(1);
        let late = Verdict::Late { share: 0.021, limit, p99: 0.0046 };
        assert_eq!(
            late.to_string(),
            "LATE: 2.1 % of packets left more than 1 ms late (p99 4.6 ms); do not trust delays below 5 ms"
        );
        let lost = [("server".to_owned(), 0), ("phone".to_owned(), 12)];
        assert_eq!(
            Verdict::of(&[], limit, &lost, 1).to_string(),
            "UNSOUND: the kernel dropped 12 packets of host phone before the bridge read them"
        );
        assert_eq!(Verdict::of(&[Lateness::default()], limit, &[], 0).to_string(), "sound");
    }

    #[test]
    fn packets_that_may_have_waited_longer_than_any_was_late_decide() {
        let ms = Duration::from_millis;
        let late = Verdict::Late { share: 0.021, limit: ms(1), p99: 0.0046 };
        let waited = "LATE: 1 packet may have waited up to 300.4 ms to be read; do not trust delays below 301 ms";
        let longest = Duration::from_micros(300_400);
        for (verdict, packets, longest, expected) in [
            (Verdict::Sound, 1, longest, waited.to_owned()),
            (
                late.clone(),
                14,
                longest,
                "LATE: 2.1 % of packets left more than 1 ms late (p99 4.6 ms), and 14 may have waited up to 300.4 ms to be read; do not trust \
                 delays below 301 ms"
                    .to_owned(),
            ),
            (late.clone(), 1, ms(4), late.to_string()),
            (Verdict::Sound, 0, Duration::ZERO, "sound".to_owned()),
            (Verdict::Refused(1), 1, longest, Verdict::Refused(1).to_string()),
        ] {
            assert_eq!(verdict.or_waited(packets, longest).to_string(), expected);
        }
    }

    #[test]
    fn one_late_packet_is_enough() {
        let limit = Duration::from_millis(1);
        let mut lateness = Lateness::default();
        lateness.add(limit, limit);
        assert_eq!(Verdict::of(std::slice::from_ref(&lateness), limit, &[], 0), Verdict::Sound);
        lateness.add(Duration::from_millis(50), limit);
        assert!(matches!(Verdict::of(&[lateness], limit, &[], 0), Verdict::Late { .. }));
    }

    #[test]
    fn csv_quotes_what_it_must() {
        let table = Table {
            columns: vec![
                ("name", Column::Text(vec!["a,\"b\"".to_owned(), "c".to_owned()])),
                ("n", Column::Int([None, Some(-1)].into_iter().collect())),
            ],
        };
        assert_eq!(csv(&table), "name,n\n\"a,\"\"b\"\"\",\nc,-1\n");
    }
}
