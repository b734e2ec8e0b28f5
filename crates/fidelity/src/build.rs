//! From a description to a scenario of lasthop.

use lasthop_core::engine::units::Amount;
use lasthop_core::engine::{BitRate, Bytes, Duration, Probability};
use lasthop_core::net::loss::{bernoulli, list, none, schedule};
use lasthop_core::profile::Profile;
use lasthop_core::queues::{droptail, red};
use lasthop_core::scenario::registry::{LossModel, Queue, Source, Transport};
use lasthop_core::scenario::types::{self, Scenario};
use lasthop_core::traffic::{file, greedy};
use lasthop_core::transport::congestion::{Congestion, vegas};
use lasthop_core::transport::tcp::recovery::{Recovery, fack};
use lasthop_core::transport::tcp::{self, config};
use lasthop_core::transport::tfrc;
use lasthop_core::transport::xcp::router as xcp;
use serde_json::Value;

use crate::index::{Direction, Flow, Network, Tcp, XcpRouter};

/// Why there is no scenario.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// lasthop does not have what it needs.
    Unsupported(String),
    /// The description is not understood, or contradicts itself.
    Wrong(String),
}

/// The name of the bottleneck.
pub const BOTTLENECK: &str = "bottleneck";

/// The name of its direction forward, in results.
pub const FORWARD: &str = "bottleneck r1>r2";

/// The variant of this name in ns-2.
pub fn variant(name: &str) -> Option<config::Variant> {
    Some(match name {
        "Tahoe" => config::Variant::Tahoe,
        "Reno" => config::Variant::Reno,
        "Newreno" => config::Variant::NewReno,
        "Sack1" => config::Variant::Sack,
        "Fack" => config::Variant::Fack,
        "Vegas" => config::Variant::Vegas,
        "XCP" => config::Variant::Xcp,
        _ => return None,
    })
}

/// The scenario that `network` describes.
///
/// # Errors
/// See [`Obstacle`].
pub fn scenario(network: &Network) -> Result<Scenario, Obstacle> {
    if network.access.len() != network.flows.len() {
        return Err(Obstacle::Wrong("access_links: not one for each flow".to_owned()));
    }
    let mut links = vec![types::Link {
        reverse: Some(Box::new(types::Reverse {
            loss: list(&network.ack_drops),
            rate: Some(BitRate::from_bps(network.reverse.rate)),
            delay: Some(Duration::from_secs_f64(network.reverse.delay)),
            queue: Some(queue(&network.reverse)),
        })),
        loss: data_loss(network)?,
        reorder: network.reorder,
        queue: match (&network.red, &network.xcp) {
            (Some(variables), _) => red_queue(&network.bottleneck, variables)?,
            (None, Some(router)) => xcp_queue(&network.bottleneck, router),
            (None, None) => queue(&network.bottleneck),
        },
        ..link(BOTTLENECK, ["r1", "r2"], &network.bottleneck)
    }];
    let mut flows = Vec::new();
    if network.xcp.is_some() && network.flows.iter().any(|flow| flow.variant != "XCP") {
        return Err(Obstacle::Unsupported(
            "flows of other transports in ns-2's virtual queues beside XCP's".to_owned(),
        ));
    }
    for (i, (flow, [source_side, sink_side])) in network.flows.iter().zip(&network.access).enumerate() {
        let (source, sink) = (format!("s{i}"), format!("d{i}"));
        links.push(link(&format!("source {i}"), [&source, "r1"], source_side));
        links.push(link(&format!("sink {i}"), ["r2", &sink], sink_side));
        let size = |packets: u64| Bytes::new(packets * u64::from(network.tcp.packet_size));
        flows.push(types::Flow {
            name: i.to_string(),
            from: source,
            to: sink,
            transport: match flow.variant.as_str() {
                "TFRC" => Transport::Tfrc(tfrc(network, flow)?),
                _ => Transport::Tcp(transport(&network.tcp, flow)?),
            },
            source: match flow.packets {
                None => Source::Greedy(greedy::Config::default()),
                Some(packets) => Source::File(file::Config { size: size(packets) }),
            },
            start: Duration::from_secs_f64(flow.start),
            qos: None,
        });
    }
    let changes = network.changes.iter().map(|change| types::Change {
        rate: Some(BitRate::from_bps(change.rate)),
        delay: Some(Duration::from_secs_f64(change.delay)),
        ..quiet(change.at)
    });
    let mut changes: Vec<types::Change> = changes.collect();
    changes.extend(blackouts(network)?);
    Ok(Scenario {
        profile: Profile::Ns2,
        duration: Duration::from_secs_f64(network.stop),
        link: links,
        flow: flows,
        change: changes,
        ..Scenario::default()
    })
}

fn link(name: &str, [a, b]: [&str; 2], direction: &Direction) -> types::Link {
    types::Link {
        name: name.to_owned(),
        between: [a.to_owned(), b.to_owned()],
        rate: Some(BitRate::from_bps(direction.rate)),
        trace: None,
        delay: Duration::from_secs_f64(direction.delay),
        queue: queue(direction),
        jitter: None,
        loss: None,
        reorder: true,
        reverse: None,
    }
}

fn queue(direction: &Direction) -> Queue {
    Queue::DropTail(droptail::Config { limit: Amount::Packets(direction.waiting), ..Default::default() })
}

fn xcp_queue(direction: &Direction, router: &XcpRouter) -> Queue {
    let config = xcp::Config {
        limit: Amount::Packets(direction.waiting),
        first_control: Some(Duration::from_secs_f64(router.first_control)),
        first_queue: Some(Duration::from_secs_f64(router.first_queue)),
        ..xcp::Config::default()
    };
    Queue::Xcp(config.into())
}

/// RED as ns-2.35 has it, with these variables.
fn red_queue(direction: &Direction, variables: &[(String, Value)]) -> Result<Queue, Obstacle> {
    let mut config = red::Config { limit: Amount::Packets(direction.waiting), ..red::Config::default() };
    for (name, value) in variables {
        let number = number(name, value)?;
        let probability = || Probability::new(number).ok_or_else(|| Obstacle::Wrong(format!("{name}: {number}")));
        match name.as_str() {
            "bytes_" => config.by_size = Some(number != 0.0),
            "queue_in_bytes_" if number == 0.0 => config.count = Some(red::Count::Packets),
            "thresh_" => config.min = Some(number),
            "maxthresh_" => config.max = Some(number),
            "q_weight_" => config.weight = Some(probability()?),
            "gentle_" => config.gentle = number != 0.0,
            "linterm_" => config.max_p = Probability::new(1.0 / number).unwrap_or_default(),
            _ => return Err(Obstacle::Wrong(format!("Queue/RED: {name} is not known"))),
        }
    }
    Ok(Queue::Red(config.into()))
}

fn list(drops: &[u64]) -> Option<LossModel> {
    (!drops.is_empty()).then(|| LossModel::List(list::Config { drop: drops.to_vec() }.into()))
}

fn data_loss(network: &Network) -> Result<Option<LossModel>, Obstacle> {
    let probability =
        |p: f64| Probability::new(p).ok_or_else(|| Obstacle::Wrong(format!("{p} is not a probability of loss")));
    if network.loss_schedule.is_empty() {
        return Ok(list(&network.data_drops));
    }
    if !network.data_drops.is_empty() {
        // Scripted losses come first; see `blackouts`.
        return Ok(list(&network.data_drops));
    }
    let step = |&(at, p): &(f64, f64)| Ok(schedule::Step { at: Duration::from_secs_f64(at), p: probability(p)? });
    let steps = network.loss_schedule.iter().map(step).collect::<Result<_, Obstacle>>()?;
    Ok(Some(LossModel::Schedule(schedule::Config { steps, every: None, attempts: None }.into())))
}

/// Times in which everything is lost, on a link that has scripted losses before them.
fn blackouts(network: &Network) -> Result<Vec<types::Change>, Obstacle> {
    if network.data_drops.is_empty() {
        return Ok(Vec::new());
    }
    let change = |&(at, p): &(f64, f64)| {
        let loss = match p {
            0.0 => LossModel::None(none::Config::default()),
            1.0 => LossModel::Bernoulli(bernoulli::Config { p: Probability::new(p).unwrap_or_default() }),
            _ => return Err(Obstacle::Unsupported("scripted and random losses on one link".to_owned())),
        };
        Ok(types::Change { loss: Some(loss), ..quiet(at) })
    };
    network.loss_schedule.iter().map(change).collect()
}

/// A change of the bottleneck that changes nothing.
fn quiet(at: f64) -> types::Change {
    types::Change::new(Duration::from_secs_f64(at), BOTTLENECK)
}

/// TCP's parameters for a flow.
fn transport(tcp: &Tcp, flow: &Flow) -> Result<tcp::Config, Obstacle> {
    let Some(variant) = variant(&flow.variant) else {
        return Err(Obstacle::Unsupported(flow.variant.clone()));
    };
    let mut settled = Settled {
        guard: None,
        idle_restart: None,
        timestamps: None,
        tcp: tcp.clone(),
        fack: fack::Config::default(),
        vegas: vegas::Config::default(),
    };
    for (name, value) in &tcp.others {
        settled.set(name, value)?;
    }
    let Settled { tcp, guard, idle_restart, timestamps, fack, vegas } = settled;
    if tcp.syn != tcp.delay_growth {
        return Err(Obstacle::Unsupported("syn_ and delay_growth_ that differ".to_owned()));
    }
    if tcp.overhead > 0.0 {
        return Err(Obstacle::Unsupported("overhead_, whose delays are drawn from ns-2's generator".to_owned()));
    }
    check_agent(flow, &tcp)?;
    let is_vegas = variant == config::Variant::Vegas;
    // XCP's packets have time stamps too, if packets have headers.
    let stamps = if variant == config::Variant::Xcp && flow.data_bytes > tcp.packet_size { 10 } else { 0 };
    let header = match flow.data_bytes.checked_sub(tcp.packet_size + stamps) {
        Some(header) if !(is_vegas && header > 0) => header,
        _ => return Err(Obstacle::Wrong(format!("data_packet_bytes_on_wire: {} is not known", flow.data_bytes))),
    };
    let first = if tcp.syn && !is_vegas { 40 } else { tcp.packet_size };
    if flow.first_bytes.is_some_and(|bytes| bytes != first) {
        return Err(Obstacle::Wrong("seqno_0_bytes_on_wire is not as ns-2 has it".to_owned()));
    }
    let seconds = |s: f64| Some(Duration::from_secs_f64(s));
    Ok(tcp::Config {
        variant: Some(variant),
        segment: Some(Bytes::new(tcp.packet_size.into())),
        header: Some(Bytes::new(header.into())),
        handshake: Some(if tcp.syn { config::Handshake::Partial } else { config::Handshake::None }),
        initial_window: Some(tcp.window_init),
        initial_ssthresh: Some(tcp.ssthresh),
        window: Some(tcp.window),
        ack: config::AckPolicy {
            every: Some(if tcp.delayed_ack.is_some() { 2 } else { 1 }),
            delay: tcp.delayed_ack.and_then(seconds),
        },
        limited_transmit: Some(tcp.singledup),
        max_burst: tcp.maxburst,
        idle_restart,
        ecn: tcp.ecn,
        timestamps,
        rto: config::Rto {
            min: seconds(tcp.minrto),
            max: seconds(tcp.maxrto),
            max_backoff: None,
            initial: seconds(tcp.rtxcur_init),
            granularity: seconds(tcp.tick),
            order: config::RtoOrder::Rfc,
        },
        guard,
        recovery: (variant == config::Variant::Fack).then_some(Recovery::Fack(fack)),
        congestion: (variant == config::Variant::Vegas).then_some(Congestion::Vegas(vegas)),
        boot_time: flow.boot_time,
        ..tcp::Config::default()
    })
}

/// TFRC's parameters for a flow.
fn tfrc(network: &Network, flow: &Flow) -> Result<tfrc::Config, Obstacle> {
    for (stated, known) in [(&flow.agent, "Agent/TFRC"), (&flow.sink, "Agent/TFRCSink")] {
        if stated.as_deref() != Some(known) {
            return Err(Obstacle::Wrong(format!("flows: {stated:?} where {known} is expected")));
        }
    }
    let segment = network.tcp.packet_size;
    let Some(header) = flow.data_bytes.checked_sub(segment) else {
        return Err(Obstacle::Wrong("data_packet_bytes_on_wire is less than packetSize_".to_owned()));
    };
    let mut config = tfrc::Config {
        segment: Some(Bytes::new(segment.into())),
        header: Some(Bytes::new(header.into())),
        ..tfrc::Config::default()
    };
    for (name, value) in &network.tfrc {
        let number = number(name, value)?;
        match name.as_str() {
            "ca_" => config.damping = Some(number != 0.0),
            "maxHeavyRounds_" => config.heavy_rounds = Some(number as u32),
            "numPkts_" => config.loss_trigger = Some(number as u32),
            _ => return Err(Obstacle::Wrong(format!("non_default_agent_variables: {name} is not known"))),
        }
    }
    Ok(config)
}

/// The value of a variable.
fn number(name: &str, value: &Value) -> Result<f64, Obstacle> {
    let number = match value {
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Number(n) => n.as_f64(),
        Value::String(text) if text == "true" => Some(1.0),
        Value::String(text) if text == "false" => Some(0.0),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| Obstacle::Wrong(format!("non_default_agent_variables: {name} is not a number")))
}

/// The agents named must be those of the variant.
fn check_agent(flow: &Flow, tcp: &Tcp) -> Result<(), Obstacle> {
    let agent = match flow.variant.as_str() {
        "Tahoe" => "Agent/TCP".to_owned(),
        "XCP" => "Agent/TCP/Reno/XCP".to_owned(),
        name => format!("Agent/TCP/{name}"),
    };
    let sack = if matches!(flow.variant.as_str(), "Sack1" | "Fack") { "/Sack1" } else { "" };
    let delayed = if tcp.delayed_ack.is_some() { "/DelAck" } else { "" };
    let xcp = if flow.variant == "XCP" { "/XCPSink" } else { "" };
    let sink = format!("Agent/TCPSink{xcp}{sack}{delayed}");
    for (stated, known) in [(&flow.agent, agent), (&flow.sink, sink)] {
        if let Some(stated) = stated
            && *stated != known
        {
            return Err(Obstacle::Unsupported(format!("{stated} where {known} is expected")));
        }
    }
    Ok(())
}

/// Parameters while variables by name are put into them.
struct Settled {
    tcp: Tcp,
    guard: Option<bool>,
    idle_restart: Option<config::IdleRestart>,
    timestamps: Option<bool>,
    fack: fack::Config,
    vegas: vegas::Config,
}

impl Settled {
    fn set(&mut self, name: &str, value: &Value) -> Result<(), Obstacle> {
        let number = number(name, value)?;
        let on = number != 0.0;
        let tcp = &mut self.tcp;
        match name {
            "window_" => tcp.window = number as u32,
            "windowInit_" => tcp.window_init = number as u32,
            "ssthresh_" => tcp.ssthresh = number as u32,
            "syn_" => tcp.syn = on,
            "delay_growth_" => tcp.delay_growth = on,
            "packetSize_" => tcp.packet_size = number as u32,
            "tcpTick_" => tcp.tick = number,
            "minrto_" => tcp.minrto = number,
            "maxrto_" => tcp.maxrto = number,
            "rtxcur_init_" => tcp.rtxcur_init = number,
            "maxburst_" => tcp.maxburst = number as u32,
            "singledup_" => tcp.singledup = on,
            "overhead_" => tcp.overhead = number,
            "ecn_" => tcp.ecn = on,
            "interval_" => tcp.delayed_ack = tcp.delayed_ack.map(|_| number),
            "bugFix_" => self.guard = Some(on),
            "slow_start_restart_" => self.idle_restart = (!on).then_some(config::IdleRestart::Off),
            "timestamps_" => self.timestamps = Some(on),
            "rampdown_" => self.fack.rampdown = on,
            "ss-div4_" => self.fack.overdamping = on,
            // ns-2 keeps whole numbers.
            "v_alpha_" => self.vegas.alpha = number.trunc(),
            "v_beta_" => self.vegas.beta = number.trunc(),
            "v_gamma_" => self.vegas.gamma = number.trunc(),
            _ => return Err(Obstacle::Wrong(format!("non_default_agent_variables: {name} is not known"))),
        }
        Ok(())
    }
}
