//! A half-connection (RFC 4340 §3.2): data one way, answers the other, and no retransmission. This module has the common parts of its
//! protocols: connections, notices to the source, the frame of each packet. TFRC and DCCP's congestion controls put their machines inside.

mod address;
pub mod backlog;
mod nominal_time;
pub mod outbox;
pub mod receiver;
pub mod sender;

pub use nominal_time::NominalTime;
pub use outbox::Outbox;
pub use receiver::{Receiver, Receiving};
pub use sender::{Sender, Sending};
