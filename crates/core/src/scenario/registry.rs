//! Everything that a scenario can choose by name: one line each.

use crate::choice;
use crate::multicast::{layered, pgmcc, tfmcc};
use crate::net::discipline::QueueConfig;
use crate::net::loss::{LossConfig, bernoulli, gilbert, list, none, redrawn, schedule};
use crate::qos::{self, QosConfig};
use crate::queues::{codel, droptail, drr, dualpi2, fq_codel, pie, priority, red, rio, threshold, token_bucket, wfq};
use crate::radio::arq::ArqConfig;
use crate::radio::loss_indication::{self, IndicationConfig};
use crate::radio::pdcp::{self, PdcpConfig};
use crate::radio::rate_map::{self, RateMapConfig};
use crate::radio::rlc;
use crate::radio::scheduler::{self, SchedulerConfig};
use crate::radio::shared_channel::reception::{self, ReceptionConfig};
use crate::radio::umts::attachment::{AttachmentConfig, fixed, rrc};
use crate::replicas::eurane;
use crate::satellite::orbits::{OrbitsConfig, planes, star, tle, walker};
use crate::traffic::{self, SourceConfig};
use crate::transport::{self, TransportConfig, dccp, media, tcp, tfrc, udp};

choice! {
    /// What a transmitter keeps, marks and drops.
    pub enum Queue: "queue discipline" as QueueConfig {
        /// A FIFO that drops arriving packets when it is full.
        "droptail" => DropTail(droptail::Config),
        /// Random early detection, also adaptive.
        "red" => Red(red::Config) boxed,
        /// Controlled delay (RFC 8289).
        "codel" => CoDel(codel::Config) boxed,
        /// Proportional integral controller enhanced (RFC 8033).
        "pie" => Pie(pie::Config) boxed,
        /// Flow queue CoDel: a CoDel for each flow, which take turns (RFC 8290).
        "fq_codel" => FqCoDel(fq_codel::Config) boxed,
        /// Two coupled queues, for low-latency (L4S) and for classic traffic (RFC 9332).
        "dualpi2" => DualPi2(dualpi2::Config) boxed,
        /// A FIFO that marks packets above a threshold.
        "threshold" => Threshold(threshold::Config) boxed,
        /// Writes windows into returning acknowledgements (Kalampoukas, Varma, Ramakrishnan 2002).
        "ewa" => Ewa(transport::ewa::Config) boxed,
        /// Tells the senders of XCP their change of throughput (Katabi, Handley, Rohrs 2002).
        "xcp" => Xcp(transport::xcp::router::Config) boxed,
        /// Best effort shaped by the delay of the medium, real time unhindered (SWAN).
        "swan" => Swan(qos::swan::router::Config) boxed,
        /// Random early detection that drops out-of-profile packets first.
        "rio" => Rio(rio::Config) boxed,
        /// Deficit round robin: equal shares for flows.
        "drr" => Drr(drr::Config),
        /// Strict priority by code point.
        "priority" => Priority(priority::Config),
        /// A shaper or policer around another queue.
        "token_bucket" => TokenBucket(token_bucket::Config) boxed,
        /// Weighted fair queueing between reservations and best effort.
        "wfq" => Wfq(wfq::Config),
        /// Blocks and releases layers of multicast sessions by the length of the queue (Peng, Sikdar 2003).
        "queue_phase" => QueuePhase(layered::queue_phase::Config) boxed,
        /// Differentiated services: an edge's conditioner and a queue for each class.
        "diffserv" => DiffServ(qos::diffserv::router::Config) boxed,
    }
}

choice! {
    /// How a flow carries its data.
    pub enum Transport: "transport" as TransportConfig {
        /// TCP.
        "tcp" => Tcp(tcp::Config),
        /// UDP.
        "udp" => Udp(udp::Config),
        /// TFRC: a rate that follows TCP's throughput equation (RFC 5348).
        "tfrc" => Tfrc(tfrc::Config),
        /// Interactive media: RTP with feedback for each packet (RFC 8888), and congestion control that gives an encoder its rate.
        "media" => Media(media::Config),
        /// DCCP: datagrams under a congestion control of choice (RFC 4340).
        "dccp" => Dccp(dccp::Config),
        /// TFMCC: a rate for a group, by the receiver with the least of TCP's throughput (RFC 4654).
        "tfmcc" => Tfmcc(tfmcc::Config),
        /// PGM with PGMCC: a window to the worst receiver of a group (RFC 3208, draft-ietf-rmt-bb-pgmcc-03).
        "pgmcc" => Pgmcc(pgmcc::Config),
        /// Layers in groups of their own, to which receivers subscribe.
        "layered" => Layered(layered::Config),
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
        "onoff" => OnOff(traffic::onoff::Config) boxed,
        /// Speech of the AMR coder at 12.2 kbit/s, in talk spurts and silences.
        "voice" => Voice(traffic::voice::Config),
        /// Video in frames of several slices, with Pareto-distributed sizes.
        "video" => Video(traffic::video::Config) boxed,
        /// A video encoder that follows the rate of the congestion control (RFC 8593).
        "encoder" => Encoder(traffic::encoder::Config) boxed,
        /// Web pages, one after another (3GPP TR 25.876).
        "web" => Web(traffic::web::Config) boxed,
        /// Files, one after another (3GPP TR 25.876).
        "ftp" => Ftp(traffic::ftp::Config) boxed,
        /// Files of a few sizes, one after another, with a pause after each.
        "files" => Files(traffic::files::Config) boxed,
    }
}

choice! {
    /// What a flow asks of the network beyond best effort.
    pub enum Qos: "quality of service" as QosConfig {
        /// Its packets carry a code point.
        "mark" => Mark(qos::mark::Config),
        /// A class of service at every edge (differentiated services).
        "diffserv" => DiffServ(qos::diffserv::Config) boxed,
        /// A rate reserved at every hop (RSVP, guaranteed service).
        "intserv" => IntServ(qos::intserv::Config) boxed,
        /// Real time, if a probe finds room for it (SWAN).
        "swan" => Swan(qos::swan::Config) boxed,
    }
}

choice! {
    /// Which packets a link loses, in front of its queue.
    pub enum LossModel: "loss model" as LossConfig {
        /// Independent losses.
        "bernoulli" => Bernoulli(bernoulli::Config),
        /// Losses in bursts (Gilbert–Elliott).
        "gilbert" => Gilbert(gilbert::Config) boxed,
        /// The packets that a list names.
        "list" => List(list::Config) boxed,
        /// Independent losses with a probability that changes over time.
        "schedule" => Schedule(schedule::Config) boxed,
        /// Independent losses with a probability that is drawn anew from time to time.
        "redrawn" => Redrawn(redrawn::Config) boxed,
        /// Nothing is lost.
        "none" => None(none::Config),
    }
}

choice! {
    /// How RLC carries packets over a radio (3GPP TS 25.322).
    pub enum Rlc: "RLC mode" as ArqConfig {
        /// Acknowledged mode: lost PDUs are sent again.
        "am" => Am(rlc::am::Config),
        /// Unacknowledged mode: no retransmission, and delivery in order.
        "um" => Um(rlc::um::Config),
        /// Acknowledged mode as EURANE, the UMTS extension of ns-2, does it.
        "eurane" => Eurane(eurane::rlc::Config),
        /// The same over the high-speed shared channel.
        "eurane_hs" => EuraneHs(eurane::rlc::hs::Config),
        /// Transparent mode: nothing is added.
        "tm" => Tm(rlc::tm::Config),
    }
}

choice! {
    /// How PDCP compresses headers (3GPP TS 25.323).
    pub enum Pdcp: "header compression" as PdcpConfig {
        /// Not at all.
        "none" => None(pdcp::NoCompression),
        /// IP header compression (RFC 2507).
        "rfc2507" => Rfc2507(pdcp::rfc2507::Config),
    }
}

choice! {
    /// Where the satellites of a constellation are.
    pub enum Orbits: "orbits" as OrbitsConfig {
        /// A polar constellation with a seam, such as Iridium (Walker star).
        "star" => Star(star::Config),
        /// Inclined planes around the whole Earth, such as Starlink (Walker delta).
        "walker" => Walker(walker::Config),
        /// Planes with the places of their satellites.
        "planes" => Planes(planes::Config),
        /// Two-line element sets, by SGP4.
        "tle" => Tle(tle::Config),
    }
}

choice! {
    /// The scheduler of the slots of a shared channel.
    pub enum Scheduler: "scheduler" as SchedulerConfig {
        /// The terminals in turn.
        "round_robin" => RoundRobin(scheduler::round_robin::Config),
        /// The best signal first (SIR scheduling, maximum C/I).
        "max_sir" => MaxSir(scheduler::max_sir::Config),
        /// Highest rate relative to the terminal's average throughput.
        "proportional_fair" => ProportionalFair(scheduler::proportional_fair::Config),
        /// The terminal that has waited longest (EURANE's round robin).
        "least_recent" => LeastRecent(scheduler::least_recent::Config),
        /// Highest SIR relative to the terminal's own average (EURANE's fair channel-dependent scheduling).
        "fair_channel" => FairChannel(scheduler::fair_channel::Config),
    }
}

choice! {
    /// What a slot of a shared channel carries, by the state of the air.
    pub enum RateMap: "rate map" as RateMapConfig {
        /// Four modulation and coding schemes (Landström, Larzon, Bodin).
        "modulation" => Modulation(rate_map::modulation::Config),
        /// By channel quality indicators (3GPP TS 25.214).
        "cqi" => Cqi(rate_map::cqi::Config),
    }
}

choice! {
    /// Which transmissions of blocks are received on the high-speed shared channel.
    pub enum Reception: "reception" as ReceptionConfig {
        /// The energy of all transmissions adds up (chase combining).
        "combining" => Combining(reception::Combining),
        /// By power and thresholds (EURANE).
        "thresholds" => Thresholds(reception::Thresholds),
    }
}

choice! {
    /// By which rule a base station sets the packet-loss indication (Alexiou, Bouras, Papazois 2009).
    pub enum LossIndication: "packet-loss indication" as IndicationConfig {
        /// Set in the first packets after a gap, and in copies that the base station asked for.
        "edge" => Edge(loss_indication::Edge),
        /// Changes with each gap, and stays until the next.
        "toggle" => Toggle(loss_indication::Toggle),
        /// Set only in copies that the base station asked for.
        "resend" => Resend(loss_indication::Resend),
    }
}

choice! {
    /// What serves the terminals of a cell.
    pub enum Attachment: "attachment" as AttachmentConfig {
        /// Dedicated channels on demand, and the states of RRC.
        "rrc" => Rrc(rrc::Config),
        /// The common channels, always.
        "common" => Common(fixed::Common),
        /// Dedicated channels, always.
        "dedicated" => Dedicated(fixed::Dedicated),
        /// The high-speed shared channel down and a dedicated channel up, always.
        "high_speed" => HighSpeed(fixed::HighSpeed),
        /// Switching as in EURANE.
        "eurane" => Eurane(eurane::attachment::Config),
    }
}
