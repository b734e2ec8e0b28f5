//! Compares the bytes that each sink received in each bin of time, exactly.
//!
//! The files have the use of the bottleneck and the length of its queue too, which are not compared:
//! both follow from which packets leave it when.

use std::any::Any;
use std::path::Path;

use lasthop_core::engine::Instant;
use lasthop_core::net::{Observation, Observer, TcpFlags};
use lasthop_core::scenario::run::Run;

use crate::build::{self, Obstacle};
use crate::in_parallel;
use crate::index::{Case, Network};
use crate::report::Outcome;

/// Compares the scenarios of one family that have bins.
pub fn family(folder: &Path, cases: &[Case], jobs: usize) -> Vec<(String, Outcome)> {
    in_parallel(jobs, cases, |case| {
        let outcome = compare(&folder.join(&case.file), &case.network).unwrap_or_else(|outcome| outcome);
        (case.id.clone(), outcome)
    })
}

fn compare(file: &Path, network: &Network) -> Result<Outcome, Outcome> {
    let bins = read(file, network.flows.len()).map_err(Outcome::Failed)?;
    let scenario = build::scenario(network).map_err(|obstacle| match obstacle {
        Obstacle::Unsupported(why) => Outcome::Unsupported(why),
        Obstacle::Wrong(why) => Outcome::Failed(why),
    })?;
    let failed = |e: &dyn std::fmt::Display| Outcome::Failed(e.to_string());
    let mut run = Run::new(&scenario, 1, Some(Box::new(Arrivals::default()))).map_err(|e| failed(&e))?;
    run.complete().map_err(|e| failed(&e))?;
    let observer = run.finish().observer.take().and_then(|o| o.downcast::<Arrivals>().ok());
    let arrivals = observer.ok_or_else(|| Outcome::Failed("the observer is lost".to_owned()))?;
    let mut received = arrivals.0.iter().peekable();
    // The script that samples adds up its interval in doubles.
    let mut clock = 0.0;
    for (end, theirs) in &bins {
        clock += INTERVAL;
        let mut ours = vec![0; theirs.len()];
        while let Some((_, flow, bytes)) = received.next_if(|(at, ..)| at.as_secs_f64() < clock) {
            ours[*flow as usize] += bytes;
        }
        if let Some(flow) = (0..ours.len()).find(|&flow| ours[flow] != theirs[flow]) {
            let words = format!("flow {flow} until {end} s: ns-2 {} B, lasthop {} B", theirs[flow], ours[flow]);
            return Ok(Outcome::Differs(bins.len() * theirs.len(), words));
        }
    }
    Ok(Outcome::Same(bins.len() * network.flows.len()))
}

/// The end of each bin as it is written, and the bytes that each flow received in it.
type Bins = Vec<(String, Vec<u64>)>;

fn read(file: &Path, flows: usize) -> Result<Bins, String> {
    let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let mut reader = csv::Reader::from_path(file).map_err(|e| wrong(&e))?;
    let known = ["t_end_s", "utilisation", "queue_mean_packets", "queue_max_packets"].map(str::to_owned);
    let expected: Vec<String> = known.into_iter().chain((0..flows).map(|f| format!("rx_bytes_flow{f}"))).collect();
    if reader.headers().map_err(|e| wrong(&e))? != expected {
        return Err(wrong(&format!("its columns are not {}", expected.join(", "))));
    }
    let bins = reader.records().map(|record| {
        let record = record.map_err(|e| wrong(&e))?;
        let bytes = record.iter().skip(4).map(|text| text.parse().map_err(|e| wrong(&e))).collect::<Result<_, _>>()?;
        Ok((record[0].to_owned(), bytes))
    });
    bins.collect()
}

/// Seconds of a bin.
const INTERVAL: f64 = 0.1;

/// What has arrived at sinks: when, of which flow, bytes on the wire.
#[derive(Debug, Default)]
struct Arrivals(Vec<(Instant, u32, u64)>);

impl Observer for Arrivals {
    fn see(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Received { packet, .. } = observation
            && packet.tcp().is_some_and(|tcp| !tcp.flags.has(TcpFlags::ACK))
        {
            self.0.push((now, packet.flow.0, packet.size.into()));
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
