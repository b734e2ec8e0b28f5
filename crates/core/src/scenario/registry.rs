//! Everything that a scenario can choose by name: one line each.

use crate::choice;
use crate::net::discipline::QueueConfig;
use crate::net::disciplines::droptail;
use crate::net::loss::LossConfig;
use crate::net::loss::bernoulli;
use crate::traffic::{self, SourceConfig};
use crate::transport::{TransportConfig, tcp, udp};

choice! {
    /// What a transmitter keeps, marks and drops.
    pub enum Queue: "queue discipline" as QueueConfig {
        /// A FIFO that drops what arrives when it is full.
        "droptail" => DropTail(droptail::Config),
    }
}

choice! {
    /// How a flow carries its data.
    #[expect(clippy::large_enum_variant, reason = "there is one for each flow, not for each packet")]
    pub enum Transport: "transport" as TransportConfig {
        /// TCP.
        "tcp" => Tcp(tcp::Config),
        /// UDP.
        "udp" => Udp(udp::Config),
    }
}

choice! {
    /// What a flow has to send.
    pub enum Source: "source" as SourceConfig {
        /// As much as the transport takes, for ever.
        "greedy" => Greedy(traffic::greedy::Config),
    }
}

choice! {
    /// Which packets a link loses, in front of its queue.
    pub enum LossModel: "loss model" as LossConfig {
        /// Independent losses.
        "bernoulli" => Bernoulli(bernoulli::Config),
    }
}
