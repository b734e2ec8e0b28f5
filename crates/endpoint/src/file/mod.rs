//! A file over packets that may be lost. The congestion controls of TFRC and TFMCC control a rate and send nothing again; this is a small
//! reliable layer above them, in the payload of data packets, of the kind that NORM has (RFC 5740: data, NORM_CMD(FLUSH), NACK).
//!
//! The sender sends the file once, piece by piece. The last packet of a pass, repeated each second, asks receivers how they are. Each answers
//! with the ranges that it lacks, or that it lacks nothing; all ranges that are asked for make the next pass. It ends when as many receivers
//! as are expected lack nothing, or when nothing is asked for any more.
//!
//! [`piece`] and [`status`] are the layouts, [`sending`] and [`receiving`] the two ends, without IO but for the file.

pub mod piece;
pub mod ranges;
pub mod receiving;
pub mod sending;
pub mod status;

use std::io::{Read, Seek, SeekFrom};

use lasthop_net::engine::Duration;

/// How often the sender asks when it has nothing to send.
pub const ASK_EVERY: Duration = Duration::from_secs(1);

/// The CRC-32 (ISO 3309, as in Ethernet and ZIP) of the first `length` bytes.
///
/// # Errors
/// If they cannot be read.
pub fn checksum(file: &mut (impl Read + Seek + ?Sized), length: u64) -> std::io::Result<u32> {
    file.seek(SeekFrom::Start(0))?;
    let mut sum = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut left = length;
    while left > 0 {
        let most = left.min(buffer.len() as u64) as usize;
        file.read_exact(&mut buffer[..most])?;
        sum.update(&buffer[..most]);
        left -= most as u64;
    }
    Ok(sum.finalize())
}
