//! Everything that a scenario can choose by name: one line each.

use crate::choice;
use crate::net::disciplines::droptail;
use crate::net::loss::bernoulli;
use crate::traffic;
use crate::transport::{tcp, udp};

choice! {
    /// What a transmitter keeps, marks and drops.
    pub enum Queue: "queue discipline" {
        /// A FIFO that drops what arrives when it is full.
        "droptail" => DropTail(droptail::Config),
    }
}

choice! {
    /// How a flow carries its data.
    pub enum Transport: "transport" {
        /// TCP.
        "tcp" => Tcp(Box<tcp::Config>),
        /// UDP.
        "udp" => Udp(udp::Config),
    }
}

choice! {
    /// What a flow has to send.
    pub enum Source: "source" {
        /// As much as the transport takes, for ever.
        "greedy" => Greedy(traffic::greedy::Config),
    }
}

choice! {
    /// Which packets a link loses, in front of its queue.
    pub enum LossModel: "loss model" {
        /// Independent losses.
        "bernoulli" => Bernoulli(bernoulli::Config),
    }
}
