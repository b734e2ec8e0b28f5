//! A half-connection (RFC 4340 §3.2): data one way, answers the other, and nothing sent again. Here
//! is what its protocols have in common: connections, what the source hears, the frame of each
//! packet. TFRC and DCCP's congestion controls put their machines inside.

mod address;
pub mod backlog;
pub mod outbox;
pub mod receiver;
pub mod sender;

pub use outbox::Outbox;
pub use receiver::{Receiver, Receiving};
pub use sender::{Sender, Sending};
