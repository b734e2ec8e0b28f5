//! XCP, the explicit control protocol (Katabi, Handley, Rohrs 2002): routers tell the senders by how much their throughput is to change.
//!
//! Read [`sender`] for the congestion control at the end, [`router`] for the queue that writes into the packets' headers.

pub mod router;
pub mod sender;
