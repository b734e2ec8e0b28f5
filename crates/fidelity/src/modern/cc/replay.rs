//! Logs of events: packets sent, acknowledgements with the losses that they show, and the window after each.

use std::collections::BTreeMap;

use super::implementation::Implementation;
use super::quic::{Acked, Quic};
use super::rtt::Rtt;
use crate::modern::log::{Log, Row, Tally};

/// Rows `S` (time, number, bytes, application-limited), `A` (time, numbers acknowledged at once), `L` (time, numbers lost by the one before
/// it) and `O` (time, window, pacing rate, state after it).
pub fn replay(log: &Log, implementation: &Implementation) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut run = Replay {
        quic: Quic::new(implementation),
        rtt: Rtt::default(),
        in_flight: BTreeMap::new(),
        next: 1,
        app_limited: false,
        acked: Vec::new(),
        lost: Vec::new(),
        now: 0,
    };
    for row in log.rows() {
        let now: u64 = row.value(1)?;
        if now < run.now || now > MOST_TIME {
            return Err(row.fault("its time is before the last one, or too late"));
        }
        if now > run.now {
            run.settle();
            run.now = now;
        }
        match row.text(0) {
            "S" => run.send(&row)?,
            "A" => {
                run.settle();
                run.acked = run.numbers(&row)?;
            }
            "L" => {
                let lost = run.numbers(&row)?;
                run.lost.extend(lost);
            }
            "O" => {
                run.settle();
                tally.equal(&row, "window", run.quic.window(), row.value(2)?);
                pacing(&mut tally, &row, 3, run.quic.rate(run.rtt.smoothed()))?;
                ssthresh(&mut tally, &row, 4, run.quic.ssthresh())?;
            }
            _ => return Err(row.unknown()),
        }
    }
    Ok(tally)
}

/// Compares a pacing rate, with a cell that is empty where there is none.
pub fn pacing(tally: &mut Tally, row: &Row<'_>, cell: usize, ours: Option<u64>) -> Result<(), String> {
    let theirs: Option<u64> = if row.text(cell).is_empty() { None } else { Some(row.value(cell)?) };
    tally.equal(row, "pacing rate", shown(ours), shown(theirs));
    Ok(())
}

/// Compares a threshold, if the state of the implementation in this cell is one.
pub fn ssthresh(tally: &mut Tally, row: &Row<'_>, cell: usize, ours: Option<u64>) -> Result<(), String> {
    if let Some(theirs) = row.text(cell).strip_prefix("ssthresh=") {
        let theirs: u64 = theirs.parse().map_err(|_| row.fault("ssthresh is no number"))?;
        tally.equal(row, "ssthresh", ours.unwrap_or(u64::MAX), theirs);
    }
    Ok(())
}

fn shown(rate: Option<u64>) -> String {
    rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string())
}

struct Replay {
    quic: Quic,
    rtt: Rtt,
    /// When each packet in flight was sent.
    in_flight: BTreeMap<u64, u64>,
    next: u64,
    /// Whether the application was the limit when the last packet left.
    app_limited: bool,
    /// Packets of the acknowledgement that is not handled yet, with the times at which they were sent.
    acked: Vec<(u64, u64)>,
    lost: Vec<(u64, u64)>,
    now: u64,
}

impl Replay {
    fn send(&mut self, row: &Row<'_>) -> Result<(), String> {
        self.settle();
        let number = row.value(2)?;
        if number != self.next {
            return Err(row.fault("its number is not the next one"));
        }
        self.app_limited = row.value::<u8>(4)? > 0;
        self.next += 1;
        self.in_flight.insert(number, self.now);
        let in_flight = self.in_flight.len() as u64;
        self.quic.on_sent(self.now, number, in_flight, self.rtt.smoothed(), !self.app_limited);
        Ok(())
    }

    /// The packets of a row, which leave the flight.
    fn numbers(&mut self, row: &Row<'_>) -> Result<Vec<(u64, u64)>, String> {
        (2..row.len())
            .map(|at| {
                let number = row.value(at)?;
                let sent_at = self.in_flight.remove(&number);
                let sent_at = sent_at.ok_or_else(|| row.fault(&format!("packet {number} is not in flight")))?;
                Ok((number, sent_at))
            })
            .collect()
    }

    /// Handles the last acknowledgement, with its losses.
    fn settle(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        let acked = std::mem::take(&mut self.acked);
        if acked.is_empty() && !lost.is_empty() {
            self.quic.on_timer(self.now, self.next, &lost);
        }
        // RFC 9002 §5.1: an acknowledgement gives one sample, of the largest packet that it acknowledges.
        if let Some((_, sent_at)) = acked.iter().max() {
            self.rtt.update(self.now - sent_at);
        }
        for (at, (number, sent_at)) in acked.iter().enumerate() {
            let is_last = at + 1 == acked.len();
            let losses: &[(u64, u64)] = if is_last { &lost } else { &[] };
            let later = (acked.len() - at - 1) as u64;
            self.quic.on_ack(
                &Acked {
                    now: self.now,
                    number: *number,
                    sent_at: *sent_at,
                    srtt: self.rtt.smoothed().unwrap_or_default(),
                    rttvar: self.rtt.variation(),
                    in_flight: self.in_flight.len() as u64 + lost.len() as u64 + later,
                    first: self.in_flight.keys().next().copied().unwrap_or(self.next),
                    next: self.next,
                    app_limited: self.app_limited,
                },
                losses,
            );
        }
    }
}

/// The longest log, µs.
const MOST_TIME: u64 = 86_400_000_000;
