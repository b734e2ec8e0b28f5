//! What is to be run: the command line, read.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, ToSocketAddrs};
use std::path::PathBuf;

use lasthop_net::engine::{Bytes, Duration, Fault, Streams};
use lasthop_net::net::{Address, Endpoint, EndpointContext, FlowId, GroupId, Hears, NodeId, Socket};
use lasthop_net::profile::Profile;
use lasthop_protocols::multicast::{layered, pgmcc, tfmcc};
use lasthop_protocols::transport::{TransportConfig, tfrc};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::wire::{self, Codec};

/// How the command is used.
pub const USAGE: &str = "\
usage: lasthop endpoint tfrc send --to HOST:PORT [OPTIONS]
       lasthop endpoint tfrc receive --port PORT [OPTIONS]
       lasthop endpoint tfmcc|pgmcc|layered send --group ADDRESS:PORT [OPTIONS]
       lasthop endpoint tfmcc|pgmcc|layered receive --group ADDRESS:PORT [OPTIONS]

  --file FILE           send: this file, whole, by repeating what receivers ask for. Default: bytes that mean nothing, without end
  --receivers N         send --file: the transfer is over when N receivers have it. Default: when five questions in a row, a second
                        apart, are answered by no request
  --out FILE            receive: write the file there
  --for TIME            end after this time. Default: when the file is sent, or is here and the sender has ended; else never
  --ttl N               send to a group: the time to live. Default: 1 (RFC 1112 §6.1)
  --interface ADDRESS   the own address of the interface that groups are joined and sent over; with tfrc the own address, for hosts that have
                        several. Default: the one of the route
  --seed N              of what the protocol draws, and of the receiver's number: another one for each receiver. Default: drawn
  -o DIR                write the tables flows or receivers, and series, as CSV
  --PARAMETER VALUE     a parameter of the protocol as scenarios have it: --segment 1000B, --reliable true, --control.rlm.join '2 s'";

/// Which protocol.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// TFRC.
    Tfrc(Box<tfrc::Config>),
    /// TFMCC.
    Tfmcc(tfmcc::Config),
    /// PGM with PGMCC.
    Pgmcc(Box<pgmcc::Config>),
    /// Layered multicast.
    Layered(layered::Config),
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The protocol, with its parameters.
    pub protocol: Protocol,
    /// Whether this is the sender.
    pub sends: bool,
    /// Where data go: the receiver, or the group; of a receiver without a group, port only.
    pub to: SocketAddrV4,
    /// The file to be sent or written.
    pub file: Option<PathBuf>,
    /// How many receivers the file has.
    pub receivers: Option<usize>,
    /// The longest time.
    pub time: Option<Duration>,
    /// The time to live of packets to a group.
    pub ttl: u8,
    /// The interface of groups; without groups the own address.
    pub interface: Ipv4Addr,
    /// The seed of all that is drawn.
    pub seed: Option<u64>,
    /// Where tables go.
    pub out: Option<PathBuf>,
}

/// Header bytes of PGM's data over UDP: IPv4 (20 B), UDP (8 B), PGM and its options.
const PGM_HEADER: u64 = 28 + wire::pgm::DATA_BYTES as u64;
/// Payload with which packets of PGM over UDP have 1500 B.
const PGM_SEGMENT: u64 = 1_500 - PGM_HEADER;

/// Reads a command line; `None` asks for help.
///
/// # Errors
/// A sentence.
pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Option<Plan>, String> {
    let mut words = words
        .into_iter()
        .map(|word| word.into_string().map_err(|word| format!("this is not UTF-8: {}", word.display())));
    let name = words.next().transpose()?.ok_or("a protocol is needed: tfrc, tfmcc, pgmcc or layered")?;
    if matches!(name.as_str(), "--help" | "-h") {
        return Ok(None);
    }
    if !["tfrc", "tfmcc", "pgmcc", "layered"].contains(&name.as_str()) {
        return Err(format!("there is no protocol {name}; there are tfrc, tfmcc, pgmcc and layered"));
    }
    let sends = match words.next().transpose()?.as_deref() {
        Some("send") => true,
        Some("receive") => false,
        Some("--help" | "-h") => return Ok(None),
        other => return Err(format!("{name} send or {name} receive, not {name} {}", other.unwrap_or("alone"))),
    };
    let (mut to, mut port, mut parameters) = (None, None, Map::new());
    let mut plan = Plan {
        protocol: Protocol::Tfmcc(tfmcc::Config::default()),
        sends,
        to: SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0),
        file: None,
        receivers: None,
        time: None,
        ttl: 1,
        interface: Ipv4Addr::UNSPECIFIED,
        seed: None,
        out: None,
    };
    while let Some(word) = words.next().transpose()? {
        if matches!(word.as_str(), "--help" | "-h") {
            return Ok(None);
        }
        let Some(option) = word.strip_prefix('-') else {
            return Err(format!("what is {word}? options begin with --"));
        };
        let text = words.next().transpose()?.ok_or_else(|| format!("{word} needs a value"))?;
        let number = |what: &str| format!("{word} needs {what}, not {text}");
        match option {
            "-to" if name == "tfrc" && sends => to = Some(resolve(&text)?),
            "-group" if name != "tfrc" => to = Some(text.parse().map_err(|_| number("ADDRESS:PORT"))?),
            "-port" if name == "tfrc" && !sends => port = Some(text.parse::<u16>().map_err(|_| number("a port"))?),
            "-file" if sends => plan.file = Some(text.into()),
            "-receivers" if sends => match text.parse() {
                Ok(0) | Err(_) => return Err(number("a number from 1 on")),
                Ok(receivers) => plan.receivers = Some(receivers),
            },
            "-out" if !sends => plan.file = Some(text.into()),
            "-for" => plan.time = Some(value(&Value::String(text.clone())).map_err(|_| number("a time"))?),
            "-ttl" if name == "tfrc" => return Err("--ttl is for groups, and tfrc has none".to_owned()),
            "-ttl" => plan.ttl = text.parse().map_err(|_| number("a number from 0 to 255"))?,
            "-interface" => plan.interface = text.parse().map_err(|_| number("an IPv4 address"))?,
            "-seed" => plan.seed = Some(text.parse().map_err(|_| number("a number"))?),
            "o" => plan.out = Some(text.into()),
            _ => match option.strip_prefix('-') {
                Some(parameter) => set(&mut parameters, parameter, &text)?,
                None => return Err(format!("there is no option {word}")),
            },
        }
    }
    plan.to = match (to, port) {
        (Some(to), _) => to,
        (None, Some(port)) => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port),
        (None, None) => {
            let needed = if name != "tfrc" {
                "--group ADDRESS:PORT"
            } else if sends {
                "--to HOST:PORT"
            } else {
                "--port PORT"
            };
            return Err(format!("{name} needs {needed}"));
        }
    };
    if plan.to.port() == 0 {
        return Err("a port is from 1 to 65535, not 0".to_owned());
    }
    if plan.receivers.is_some() && plan.file.is_none() {
        return Err("--receivers says how many receivers --file has, and there is no --file".to_owned());
    }
    plan.protocol = protocol(&name, parameters)?;
    // Layer n has the group n addresses behind that of the session.
    let layers = match &plan.protocol {
        Protocol::Layered(config) => config.layers.len() as u32,
        _ => 0,
    };
    let last = Ipv4Addr::from(u32::from(*plan.to.ip()).saturating_add(layers));
    let groups = [*plan.to.ip(), last];
    if let Some(group) = groups.into_iter().find(|group| name != "tfrc" && !group.is_multicast()) {
        let layer = if group == *plan.to.ip() { "" } else { ", the group of the last layer," };
        return Err(format!("{group}{layer} is no multicast address; they are 224.0.0.0 to 239.255.255.255"));
    }
    check(&plan)?;
    Ok(Some(plan))
}

/// The IPv4 address and the port of a host, which has its name or its address.
fn resolve(text: &str) -> Result<SocketAddrV4, String> {
    let mut addresses = text.to_socket_addrs().map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => format!("--to needs HOST:PORT, not {text}"),
        _ => format!("--to {text}: {error}"),
    })?;
    let first = addresses.find_map(|address| match address {
        SocketAddr::V4(address) => Some(address),
        SocketAddr::V6(_) => None,
    });
    first.ok_or_else(|| format!("--to {text}: the host has no IPv4 address"))
}

/// Sets a parameter, with its path by dots.
fn set(parameters: &mut Map<String, Value>, path: &str, text: &str) -> Result<(), String> {
    let (mut at, mut path) = (parameters, path.to_owned());
    while let Some((first, rest)) = path.split_once('.') {
        let inner = at.entry(first).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(inner) = inner else { return Err(format!("{first} has a value and parts")) };
        (at, path) = (inner, rest.to_owned());
    }
    // A number, a truth value or a list as they stand; anything else is text, such as "10 s".
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    at.insert(path, value);
    Ok(())
}

fn value<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    T::deserialize(value)
}

fn protocol(name: &str, parameters: Map<String, Value>) -> Result<Protocol, String> {
    let stated = |name: &str| parameters.contains_key(name);
    let (segment, header) = (stated("segment"), stated("header"));
    let all = Value::Object(parameters);
    let wrong = |error: serde_json::Error| format!("{name}: {error}");
    Ok(match name {
        "tfrc" => Protocol::Tfrc(value(&all).map_err(wrong)?),
        "tfmcc" => Protocol::Tfmcc(value(&all).map_err(wrong)?),
        "pgmcc" => {
            let mut config: Box<pgmcc::Config> = value(&all).map_err(wrong)?;
            // UDP's header stands before that of PGM.
            if !segment {
                config.segment = Bytes::new(PGM_SEGMENT);
            }
            if !header {
                config.header = Bytes::new(PGM_HEADER);
            }
            Protocol::Pgmcc(config)
        }
        _ => Protocol::Layered(value(&all).map_err(wrong)?),
    })
}

/// What protocols can do in the simulator and not over sockets.
fn check(plan: &Plan) -> Result<(), String> {
    use lasthop_protocols::multicast::gaps::Classifier;
    let marks = "sockets show no ECN marks here";
    let indications = "real packets carry no packet-loss indication";
    let (field, why) = match &plan.protocol {
        Protocol::Tfrc(config) if config.ecn => ("ecn", marks),
        Protocol::Tfrc(config) if config.is_ns2(Profile::Rfc) => {
            ("profile", "ns-2's agents exist in the simulator only")
        }
        Protocol::Tfrc(config) if config.handover != tfrc::config::Handover::Off => {
            ("handover", "a socket does not say that its link changes")
        }
        Protocol::Tfmcc(tfmcc::Config { classifier: Classifier::Ecn, .. }) => ("classifier", marks),
        Protocol::Tfmcc(config) if config.classifier != Classifier::All => ("classifier", indications),
        Protocol::Pgmcc(config) if config.classifier != Classifier::All => ("classifier", indications),
        Protocol::Pgmcc(config) if config.network_elements => {
            ("network_elements", "the nodes on the way are no network elements of PGM")
        }
        _ => {
            let config = plan.config();
            config
                .check(Profile::Rfc)
                .map_err(|Fault { field, message, expected, .. }| format!("{field}: {message}; {expected}"))?;
            let header = plan.wire_header();
            return match plan.full_packet() {
                Some((segment, _)) if plan.file.is_some() && segment <= crate::file::piece::HEADER_BYTES as u32 => {
                    Err(format!("segment: a piece of a file needs more than {} B", crate::file::piece::HEADER_BYTES))
                }
                Some((segment, _)) if segment as usize + header > MOST_PAYLOAD => {
                    Err(format!("segment: no datagram holds {segment} B and a header of {header} B"))
                }
                _ => Ok(()),
            };
        }
    };
    Err(format!("{field}: {why}"))
}

/// The longest payload of UDP over IPv4.
const MOST_PAYLOAD: usize = 65_535 - 28;

impl Plan {
    /// The protocol's parameters.
    pub fn config(&self) -> &dyn TransportConfig {
        match &self.protocol {
            Protocol::Tfrc(config) => &**config,
            Protocol::Tfmcc(config) => config,
            Protocol::Pgmcc(config) => &**config,
            Protocol::Layered(config) => config,
        }
    }

    /// Its name in tables.
    pub fn label(&self) -> String {
        self.config().label(Profile::Rfc)
    }

    /// Whether data go to a group.
    pub fn is_multicast(&self) -> bool {
        !matches!(self.protocol, Protocol::Tfrc(_))
    }

    /// Whether the session has layers.
    pub fn is_layered(&self) -> bool {
        matches!(self.protocol, Protocol::Layered(_))
    }

    /// Bytes of the header of a data packet behind UDP.
    fn wire_header(&self) -> usize {
        match self.protocol {
            Protocol::Tfrc(_) => wire::tfrc::DATA_BYTES,
            Protocol::Tfmcc(_) => wire::tfmcc::DATA_BYTES,
            Protocol::Pgmcc(_) => wire::pgm::DATA_BYTES,
            Protocol::Layered(_) => wire::layered::DATA_BYTES,
        }
    }

    /// Payload of a full packet, and how many packets can be sent again by their number; `None` if the sender always sends.
    pub fn full_packet(&self) -> Option<(u32, usize)> {
        match &self.protocol {
            // RFC 5348's sender with the header of 40 B: packets of 1500 B.
            Protocol::Tfrc(config) => Some((config.segment.map_or(1460, |segment| segment.get() as u32), 0)),
            Protocol::Tfmcc(config) => Some((config.segment.get() as u32, 0)),
            Protocol::Pgmcc(config) => {
                let kept = if config.reliable { config.transmit_window as usize } else { 0 };
                Some((config.segment.get() as u32, kept))
            }
            Protocol::Layered(_) => None,
        }
    }

    /// Payload of a packet of a sender that always sends.
    pub fn payload(&self) -> u32 {
        match &self.protocol {
            Protocol::Layered(config) => {
                (config.packet.get() as u32).saturating_sub(28 + wire::layered::DATA_BYTES as u32)
            }
            _ => self.full_packet().map_or(0, |(segment, _)| segment),
        }
    }

    /// The endpoint, as the simulator has it; `receiver` is its number in the session.
    pub fn endpoint(&self, receiver: u32, seed: u64) -> Box<dyn Endpoint> {
        let group = if self.is_multicast() { Address::Group(GroupId(0)) } else { Address::Node(NodeId(0)) };
        let (node, remote) = if self.sends { (NodeId(0), group) } else { (NodeId(receiver), Address::Node(NodeId(0))) };
        let seat = EndpointContext {
            local: Socket { node, port: 0 },
            remote,
            remote_port: 0,
            flow: FlowId(0),
            hears: Hears { sent: true, ..Hears::default() },
            observed: false,
        };
        let stream = Streams::new(seed).stream("endpoint", if self.sends { "sender" } else { "receiver" });
        let config = self.config();
        if self.sends { config.sender(seat, Profile::Rfc, stream) } else { config.receiver(seat, Profile::Rfc, stream) }
    }

    /// Its codec. `source` is the number of the sending end.
    pub fn codec(&self, receiver: u32, source: u32) -> Box<dyn Codec> {
        match (&self.protocol, self.sends) {
            (Protocol::Tfrc(_), true) => Box::new(wire::tfrc::Sender),
            (Protocol::Tfrc(_), false) => Box::new(wire::tfrc::Receiver::default()),
            (Protocol::Tfmcc(_), true) => Box::new(wire::tfmcc::Sender),
            (Protocol::Tfmcc(_), false) => Box::new(wire::tfmcc::Receiver::new(receiver)),
            (Protocol::Pgmcc(_), true) => {
                let [a, b, c, d] = source.to_be_bytes();
                let session = wire::pgm::Session { ports: [self.to.port(); 2], source: [0, 0, a, b, c, d] };
                Box::new(wire::pgm::Sender::new(session))
            }
            (Protocol::Pgmcc(_), false) => Box::new(wire::pgm::Receiver::new()),
            (Protocol::Layered(_), _) => Box::new(wire::layered::Layered::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Plan, String> {
        read(words.split_whitespace().map(OsString::from)).map(Option::unwrap)
    }

    #[test]
    fn parameters_are_those_of_scenarios() {
        let plan = parse("tfmcc send --group 239.1.1.1:5000 --segment 1000B --discounting false --for 10s").unwrap();
        let Protocol::Tfmcc(config) = &plan.protocol else { panic!() };
        assert_eq!((config.segment.get(), config.discounting), (1000, false));
        assert_eq!(plan.time, Some(Duration::from_secs(10)));
        let plan = parse("layered receive --group 239.1.1.1:5000 --control.fixed.layers 2 --packet 500B").unwrap();
        let Protocol::Layered(config) = &plan.protocol else { panic!() };
        assert_eq!((config.control.name(), config.packet.get()), ("fixed", 500));
        let plan = parse("pgmcc send --group 239.1.1.1:5000 --reliable true").unwrap();
        assert_eq!(plan.full_packet(), Some((1428, 100_000)), "72 bytes of headers in 1500");
    }

    #[test]
    fn a_receiver_has_a_name_or_an_address() {
        for words in ["tfrc send --to 127.0.0.1:9", "tfrc send --to localhost:9"] {
            assert_eq!(parse(words).unwrap().to, SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9), "{words}");
        }
    }

    #[test]
    fn command_lines_that_make_no_sense_are_refused_in_a_sentence() {
        for (words, says) in [
            ("", "a protocol is needed: tfrc, tfmcc, pgmcc or layered"),
            ("tcp send", "there is no protocol tcp; there are tfrc, tfmcc, pgmcc and layered"),
            ("tfrc", "tfrc send or tfrc receive, not tfrc alone"),
            ("tfrc send", "tfrc needs --to HOST:PORT"),
            ("tfrc receive", "tfrc needs --port PORT"),
            ("tfmcc send", "tfmcc needs --group ADDRESS:PORT"),
            (
                "tfmcc send --group 10.0.0.1:9",
                "10.0.0.1 is no multicast address; they are 224.0.0.0 to 239.255.255.255",
            ),
            ("tfmcc send --group 239.1.1.1", "--group needs ADDRESS:PORT, not 239.1.1.1"),
            ("tfrc send --to 10.0.0.1:9 x", "what is x? options begin with --"),
            ("tfrc send --to", "--to needs a value"),
            ("tfrc send --to 10.0.0.1", "--to needs HOST:PORT, not 10.0.0.1"),
            ("tfrc send --to 10.0.0.1:0", "a port is from 1 to 65535, not 0"),
            ("tfrc receive --port 0", "a port is from 1 to 65535, not 0"),
            ("tfrc send --to 10.0.0.1:9 --ttl 9", "--ttl is for groups, and tfrc has none"),
            (
                "tfrc send --to 10.0.0.1:9 --receivers 2",
                "--receivers says how many receivers --file has, and there is no --file",
            ),
            ("tfrc send --to 10.0.0.1:9 --file f --receivers 0", "--receivers needs a number from 1 on, not 0"),
            (
                "layered receive --group 239.255.255.250:9",
                "240.0.0.9, the group of the last layer, is no multicast address; they are 224.0.0.0 to 239.255.255.255",
            ),
            ("tfrc send --to [::1]:9", "--to [::1]:9: the host has no IPv4 address"),
            ("tfmcc send --group 239.1.1.1:9 --ttl 256", "--ttl needs a number from 0 to 255, not 256"),
            ("tfrc send --to 10.0.0.1:9 --for soon", "--for needs a time, not soon"),
            ("tfrc send --to 10.0.0.1:9 --ecn true", "ecn: sockets show no ECN marks here"),
            (
                "pgmcc send --group 239.1.1.1:9 --network_elements true",
                "network_elements: the nodes on the way are no network elements of PGM",
            ),
            (
                "tfmcc send --group 239.1.1.1:9 --segment 65490B",
                "segment: no datagram holds 65490 B and a header of 20 B",
            ),
        ] {
            assert_eq!(parse(words).err().as_deref(), Some(says), "{words}");
        }
        let unknown = parse("tfmcc send --group 239.1.1.1:9 --sgment 1000B").unwrap_err();
        assert!(unknown.starts_with("tfmcc: unknown field `sgment`"), "{unknown}");
    }
}
