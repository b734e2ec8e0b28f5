//! What is to be run: a scenario with its hosts, and the programs at them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use lasthop_core::engine::Duration;
use lasthop_core::scenario::media::Radios;
use lasthop_core::scenario::types::{LiveHost, Scenario};
use serde::{Deserialize, Serialize};

use crate::bridge::{Bridge, Host};

/// The longest run whose program decides when it ends.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// What a run gets beside its scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The node of the run's own program, whose end ends the run. Default: there is none.
    pub node: Option<String>,
    /// That program with its arguments; the caller's shell if there are none.
    pub command: Vec<String>,
    /// How long the run lasts at most. Default: until its own program ends; without one, as long as the scenario says.
    pub time: Option<Duration>,
    /// Whether the first late packet ends the run.
    pub strict: bool,
    /// Whether real-time priority is asked for.
    pub realtime: bool,
    /// The folder of the recording.
    pub record: Option<PathBuf>,
    /// The file of the capture.
    pub pcap: Option<PathBuf>,
    /// Network namespaces that exist, to be taken for hosts: files by nodes.
    pub attach: BTreeMap<String, PathBuf>,
}

/// A program at a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The number of its host.
    pub host: usize,
    /// Its name and arguments.
    pub words: Vec<String>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// Whether the terminal is its own, if there is one.
    pub has_terminal: bool,
}

/// How a host's interface is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The longest packet, in bytes.
    pub mtu: u32,
    /// Whether its kernel leaves the cutting of TCP to the bridge.
    pub offload: bool,
    /// The congestion control of its kernel's TCP; the system's if it is not named.
    pub congestion: Option<String>,
    /// Settings of its kernel's network.
    pub sysctl: BTreeMap<String, String>,
    /// The network namespace in which it is made; a new one if none is named.
    pub namespace: Option<PathBuf>,
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario, with the duration of this run.
    pub scenario: Scenario,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// Their interfaces.
    pub interfaces: Vec<Interface>,
    /// The programs, the run's own one last.
    pub programs: Vec<Program>,
    /// Whether the last program is the run's own, whose end ends the run.
    pub has_own_program: bool,
    /// The rest.
    pub options: Options,
}

impl Plan {
    /// What `scenario` and `options` say is to be run.
    ///
    /// # Errors
    /// A sentence.
    pub fn new(scenario: &Scenario, options: Options) -> Result<Self, String> {
        let mut scenario = scenario.clone();
        let has_own_program = options.node.is_some();
        match options.time {
            Some(Duration::ZERO) => return Err("a live run must be longer than 0 s".to_owned()),
            Some(time) => scenario.duration = time,
            None if has_own_program => scenario.duration = LONGEST,
            None => {}
        }
        let listed = listed(&scenario, options.node.as_deref());
        // Where a namespace of the user's is attached its programs may run already.
        if !has_own_program && options.attach.is_empty() && listed.iter().all(|host| host.run.is_empty()) {
            return Err("nothing is to run: give NODE -- COMMAND, --shell NODE or --run NODE=COMMAND".to_owned());
        }
        if let Some(node) = options.attach.keys().find(|node| !listed.iter().any(|host| host.node == **node)) {
            return Err(format!("\"{node}\" is to be attached, but is no host"));
        }
        let hosts: Vec<Host> = (1..).zip(&listed).map(|(number, one)| host(number, one)).collect();
        let mut programs = Vec::new();
        for (number, one) in listed.iter().enumerate().filter(|(_, one)| !one.run.is_empty()) {
            programs.push(Program {
                host: number,
                words: one.run.clone(),
                environment: Vec::new(),
                has_terminal: false,
            });
        }
        if let Some(node) = &options.node {
            let host = listed.iter().position(|host| host.node == *node).unwrap_or_default();
            programs.push(own_program(host, node, &options.command));
        }
        let interface = |one: &LiveHost| Interface {
            mtu: one.mtu,
            offload: scenario.live.offload,
            congestion: one.congestion.clone(),
            sysctl: one.sysctl.clone(),
            namespace: options.attach.get(&one.node).cloned(),
        };
        let interfaces = listed.iter().map(interface).collect();
        Ok(Self { scenario, hosts, interfaces, programs, has_own_program, options })
    }

    /// The network.
    ///
    /// # Errors
    /// A sentence: the scenario cannot run live.
    pub fn bridge(&self) -> Result<Bridge, String> {
        Bridge::new(&self.scenario, self.scenario.seed, self.hosts.clone()).map_err(|refused| refused.to_string())
    }
}

/// The hosts, one for each node: those of the scenario, or else the ends of its flows; and the node of the run's own program.
fn listed(scenario: &Scenario, own: Option<&str>) -> Vec<LiveHost> {
    let radios = Radios::of(scenario);
    let mut listed: Vec<LiveHost> = Vec::new();
    for one in &scenario.live.host {
        listed.extend(radios.called(&one.node).into_iter().map(|node| LiveHost { node, ..one.clone() }));
    }
    let ends = if listed.is_empty() { ends_of_flows(scenario) } else { Vec::new() };
    for node in ends.into_iter().chain(own.map(str::to_owned)) {
        if !listed.iter().any(|host| host.node == node) {
            listed.push(LiveHost::new(node));
        }
    }
    listed
}

/// The nodes that flows name one by one.
fn ends_of_flows(scenario: &Scenario) -> Vec<String> {
    let nodes = scenario.node_names();
    let ends = scenario.flow.iter().flat_map(|flow| [&flow.from, &flow.to]);
    ends.filter(|end| nodes.binary_search(end).is_ok()).cloned().collect()
}

fn own_program(host: usize, node: &str, command: &[String]) -> Program {
    if !command.is_empty() {
        return Program { host, words: command.to_vec(), environment: Vec::new(), has_terminal: true };
    }
    // Start-up files of bash set PS1 anew; the command runs after them.
    let prompt = format!("[{node}] ");
    let again = format!("PS1='{prompt}'");
    let environment = vec![("PS1".to_owned(), prompt), ("PROMPT_COMMAND".to_owned(), again)];
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    Program { host, words: vec![shell], environment, has_terminal: true }
}

/// The host with this number, from 1.
fn host(number: u16, of: &LiveHost) -> Host {
    let [high, low] = number.to_be_bytes();
    let v4 = of.address.unwrap_or(Ipv4Addr::new(10, 77, high, low));
    let v6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number);
    Host { node: of.node.clone(), addresses: vec![IpAddr::V4(v4), IpAddr::V6(v6)] }
}

#[cfg(test)]
mod tests {
    use lasthop_core::scenario::read;

    use super::*;

    const CELL: &str = r#"
        [[cell]]
        name = "cell"
        rnc = "server"
        ues = 3
        [[flow]]
        from = "server"
        to = "cell.ue[0]"
    "#;

    fn plan(live: &str, options: Options) -> Result<Plan, String> {
        let document = read::toml(&format!("{CELL}\n{live}"), "test").map_err(|error| error.render(false))?;
        Plan::new(&document.scenario, options)
    }

    fn own(node: &str, command: &[&str]) -> Options {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Options { node: Some(node.to_owned()), command, ..Options::default() }
    }

    fn names(plan: &Plan) -> Vec<&str> {
        plan.hosts.iter().map(|host| host.node.as_str()).collect()
    }

    #[test]
    fn hosts_are_the_ends_of_flows_unless_they_are_named() {
        let made = plan("", own("cell.ue[0]", &["curl", "-s", "server"])).unwrap();
        assert_eq!(names(&made), ["server", "cell.ue[0]"]);
        let addresses: Vec<String> = made.hosts[1].addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["10.77.0.2", "fd77::2"]);
        assert_eq!((made.programs[0].host, made.programs[0].words.len()), (1, 3));
        let made = plan(
            "[[live.host]]\nnode = \"server\"\naddress = \"10.1.2.3\"\nrun = [\"true\"]",
            own("cell.ue[2]", &["true"]),
        );
        let made = made.unwrap();
        assert_eq!(names(&made), ["server", "cell.ue[2]"]);
        assert_eq!(made.hosts[0].addresses[0].to_string(), "10.1.2.3");
        assert!(made.has_own_program && made.programs.len() == 2);
    }

    #[test]
    fn all_terminals_of_a_cell_are_hosts_of_their_own() {
        let live = "[[live.host]]\nnode = \"cell.ue[*]\"\nrun = [\"true\"]\nmtu = 1400\ncongestion = \"reno\"";
        let made = plan(live, Options::default()).unwrap();
        assert_eq!(names(&made), ["cell.ue[0]", "cell.ue[1]", "cell.ue[2]"]);
        assert_eq!(made.programs.iter().map(|program| program.host).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(made.interfaces.iter().all(|one| one.mtu == 1_400 && one.congestion.as_deref() == Some("reno")));
        assert!(!made.has_own_program);
    }

    #[test]
    fn a_run_lasts_until_its_program_ends_or_as_long_as_it_is_told() {
        let live = "[live]\nhost = [{node = \"server\", run = [\"true\"]}]";
        let seconds = |options| plan(live, options).map(|plan| plan.scenario.duration.as_secs_f64());
        assert_eq!(seconds(Options::default()), Ok(60.0));
        assert_eq!(seconds(own("server", &["true"])), Ok(86_400.0));
        assert_eq!(seconds(Options { time: Some(Duration::from_secs(7)), ..own("server", &["true"]) }), Ok(7.0));
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_a_sentence() {
        let nothing = "nothing is to run: give NODE -- COMMAND, --shell NODE or --run NODE=COMMAND";
        assert_eq!(plan("", Options::default()).err().as_deref(), Some(nothing));
        let short = Options { time: Some(Duration::ZERO), ..own("server", &["true"]) };
        assert_eq!(plan("", short).err().as_deref(), Some("a live run must be longer than 0 s"));
        let attach = BTreeMap::from([("router".to_owned(), PathBuf::from("r"))]);
        let attached = Options { attach, ..own("server", &["true"]) };
        assert_eq!(plan("", attached).err().as_deref(), Some("\"router\" is to be attached, but is no host"));
    }
}
