//! What every transport asks of the sizes that a scenario states.

use lasthop_net::engine::{Bytes, Fault};

/// The largest payload of a packet: IPv4's 65 535 B less the smallest headers.
const MAX_SEGMENT: u64 = 65_495;

/// The largest header that a scenario may ask for, tunnels and all.
const MAX_HEADER: u64 = 1_000;

/// The fault in the payload of a full packet.
pub fn segment(segment: Option<Bytes>) -> Option<Fault> {
    let segment = segment.filter(|segment| !(1..=MAX_SEGMENT).contains(&segment.get()))?;
    let expected = format!("expected from 1 B to {MAX_SEGMENT} B");
    Some(Fault::new("segment", format!("packets of {segment} cannot be sent"), expected))
}

/// The fault in the headers of a data packet.
pub fn header(header: Option<Bytes>) -> Option<Fault> {
    let header = header.filter(|header| header.get() > MAX_HEADER)?;
    let expected = format!("expected at most {MAX_HEADER} B");
    Some(Fault::new("header", format!("a header of {header} is too large"), expected))
}

/// The fault in the number of writes that may wait.
pub fn buffer(buffer: Option<u32>) -> Option<Fault> {
    let fault = || Fault::new("buffer", "without a buffer nothing could be sent", "expected at least 1");
    (buffer == Some(0)).then(fault)
}

/// How headers differ from those of a standard: they are ns-2's, or smaller than `least` bytes.
pub fn unlike_the_standard(ns2: bool, header: Option<Bytes>, least: u64) -> Option<String> {
    if ns2 {
        return Some("has those of ns-2".to_owned());
    }
    header.filter(|header| *header < Bytes::new(least)).map(|header| format!("has headers of {header}"))
}
