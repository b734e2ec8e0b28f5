//! Everything that a scenario can choose by name: one line each.

use crate::choice;
use crate::net::discipline::QueueConfig;
use crate::net::disciplines::{codel, droptail, red, xcp};
use crate::net::loss::{LossConfig, bernoulli, gilbert, list, none, schedule};
use crate::qos::{self, QosConfig};
use crate::traffic::{self, SourceConfig};
use crate::transport::{TransportConfig, tcp, udp};

choice! {
    /// What a transmitter keeps, marks and drops.
    pub enum Queue: "queue discipline" as QueueConfig {
        /// A FIFO that drops what arrives when it is full.
        "droptail" => DropTail(droptail::Config),
        /// Random early detection, also adaptive.
        "red" => Red(red::Config),
        /// Controlled delay (RFC 8289).
        "codel" => CoDel(codel::Config),
        /// Tells the senders of XCP their change of throughput (Katabi, Handley, Rohrs 2002).
        "xcp" => Xcp(xcp::Config),
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
        /// One transfer of a given size, then the connection closes.
        "file" => File(traffic::file::Config),
        /// Writes of one size at equal intervals.
        "cbr" => Cbr(traffic::cbr::Config),
        /// Bursts of writes.
        "onoff" => OnOff(traffic::onoff::Config),
    }
}

choice! {
    /// What a flow asks of the network beyond best effort.
    pub enum Qos: "quality of service" as QosConfig {
        /// Its packets carry a code point.
        "mark" => Mark(qos::mark::Config),
    }
}

choice! {
    /// Which packets a link loses, in front of its queue.
    pub enum LossModel: "loss model" as LossConfig {
        /// Independent losses.
        "bernoulli" => Bernoulli(bernoulli::Config),
        /// Losses in bursts (Gilbert–Elliott).
        "gilbert" => Gilbert(gilbert::Config),
        /// The packets that a list names.
        "list" => List(list::Config),
        /// Independent losses with a probability that changes over time.
        "schedule" => Schedule(schedule::Config),
        /// Nothing is lost.
        "none" => None(none::Config),
    }
}
