//! What is to be run: the command line, read.
//!
//! `lasthop live SCENARIO [OPTIONS] NODE -- COMMAND…`

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use lasthop_core::engine::Duration;
use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{check, read};

use crate::bridge::{Bridge, GroupAddress, Host};

/// How the command is used.
pub const USAGE: &str = "\
usage: lasthop-live SCENARIO [OPTIONS] NODE -- COMMAND...    run COMMAND at NODE of the scenario, by the wall clock
       lasthop-live SCENARIO [OPTIONS] --shell NODE          start a shell there
       lasthop-live --replay DIR [-o DIR]                    run a recording again, without clock or network

  --run NODE=COMMAND    run COMMAND, by sh, at another host, for as long as the run lasts (may be repeated)
  --host NODE[=ADDRESS] make NODE a host, with this IPv4 address (may be repeated). Default: the nodes between which the scenario has
                        flows, if neither --host nor --run is given; addresses 10.77.0.1 and up, fd77::1 and up
                        NAME.ue[*] stands for all terminals of a cell, NAME.ue[0:15] for the first 15, each a host, with addresses from
                        ADDRESS up; in --run too
  --group NAME=ADDRESS  the multicast address of a group of the scenario (may be repeated). Default: 239.77.0.1 and up, in its order
  --seed N              the seed of all random streams. Default: the scenario's
  --for TIME            end the run after this time. Default: when COMMAND ends, or after a day
  --late TIME           a packet written later than this counts as late. Default: 1 ms
  --strict              end the run with exit code 3 at the first late packet
  -o DIR                write tables, and a recording for --replay";

/// The default of `--late`.
const LATE: Duration = Duration::from_millis(1);

/// The longest run without `--for`.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// A program at a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The number of its host.
    pub host: usize,
    /// Its name and arguments.
    pub words: Vec<OsString>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario, with the duration of this run.
    pub scenario: Scenario,
    /// The seed.
    pub seed: u64,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// Multicast addresses of groups, where they are not the default.
    pub groups: Vec<GroupAddress>,
    /// The programs, the command's own one last.
    pub programs: Vec<Program>,
    /// Whether the last program is the command's own, whose end ends the run.
    pub has_own_program: bool,
    /// The limit beyond which a packet is late.
    pub late: Duration,
    /// Whether the first late packet ends the run.
    pub strict: bool,
    /// Where results go.
    pub out: Option<PathBuf>,
}

/// A command line.
#[derive(Clone, Debug)]
pub enum Command {
    /// Run a plan.
    Run(Box<Plan>),
    /// Run a recording again, and write its tables.
    Replay(PathBuf, Option<PathBuf>),
    /// Say how the command is used.
    Help,
}

impl Plan {
    /// The network.
    ///
    /// # Errors
    /// A sentence: the scenario cannot run live.
    pub fn bridge(&self) -> Result<Bridge, String> {
        Bridge::new(&self.scenario, self.seed, self.hosts.clone())
            .and_then(|bridge| bridge.with_groups(&self.groups))
            .map_err(|refused| refused.to_string())
    }
}

/// Words of the command line as they are read.
#[derive(Default)]
struct Words {
    scenario: Option<String>,
    node: Option<String>,
    command: Vec<OsString>,
    shell: Option<String>,
    runs: Vec<(String, String)>,
    hosts: Vec<(String, Option<Ipv4Addr>)>,
    groups: Vec<GroupAddress>,
    seed: Option<u64>,
    time: Option<Duration>,
    late: Option<Duration>,
    strict: bool,
    out: Option<PathBuf>,
    replay: Option<PathBuf>,
}

/// Reads a command line, and the scenario that it names.
///
/// # Errors
/// A sentence.
pub fn read_command(words: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let Some(words) = split(words.into_iter())? else { return Ok(Command::Help) };
    if let Some(folder) = words.replay {
        return Ok(Command::Replay(folder, words.out));
    }
    let file = words.scenario.as_deref().ok_or("a scenario is needed")?;
    let document = read::file(file).map_err(|error| error.render(false))?;
    check(&document).map_err(|error| error.render(false))?;
    let mut scenario = document.scenario;
    scenario.duration = words.time.unwrap_or(LONGEST);
    if scenario.duration == Duration::ZERO {
        return Err("--for must be longer than 0 s".to_owned());
    }

    let own = match (words.node, words.shell) {
        (Some(_), Some(_)) => return Err("either NODE -- COMMAND or --shell NODE".to_owned()),
        (Some(node), None) if words.command.is_empty() => {
            return Err(format!("what is to run at \"{node}\"? write: {node} -- COMMAND"));
        }
        (Some(node), None) => Some((node, words.command, Vec::new())),
        (None, Some(node)) => {
            let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
            // Start-up files of bash set PS1 anew; the command runs after them.
            let prompt = format!("[{node}] ");
            let again = format!("PS1='{prompt}'");
            let prompt = vec![("PS1".to_owned(), prompt), ("PROMPT_COMMAND".to_owned(), again)];
            Some((node, vec![shell], prompt))
        }
        (None, None) => None,
    };
    if own.is_none() && words.runs.is_empty() {
        return Err("nothing is to run: give NODE -- COMMAND, --shell NODE or --run NODE=COMMAND".to_owned());
    }

    let named = !(words.hosts.is_empty() && words.runs.is_empty());
    // A name may stand for several terminals.
    let several = |name: &str| scenario.nodes_called(name);
    let counted =
        |address: Option<Ipv4Addr>, n: u32| address.map(|first| Ipv4Addr::from(u32::from(first).wrapping_add(n)));
    let each = |(name, address): (String, Option<Ipv4Addr>)| {
        several(&name).into_iter().zip(0..).map(move |(node, n)| (node, counted(address, n)))
    };
    let mut names: Vec<(String, Option<Ipv4Addr>)> = words.hosts.into_iter().flat_map(each).collect();
    let each = |(name, command): (String, String)| several(&name).into_iter().map(move |node| (node, command.clone()));
    let runs: Vec<(String, String)> = words.runs.into_iter().flat_map(each).collect();
    let mut add = |name: &str| {
        if !names.iter().any(|(known, _)| known == name) {
            names.push((name.to_owned(), None));
        }
    };
    for (node, _) in &runs {
        add(node);
    }
    if !named {
        let groups: Vec<&str> = scenario.group.iter().map(|group| group.name.as_str()).collect();
        for end in scenario.flow.iter().flat_map(|flow| [&flow.from, &flow.to]) {
            // A flow to all terminals of a cell (`cell.ue[*]`) names no node.
            if scenario.node_names().contains(end) && !groups.contains(&end.as_str()) {
                add(end);
            }
        }
    }
    if let Some((node, ..)) = &own {
        add(node);
    }
    let hosts: Vec<Host> = (1..).zip(names).map(|(number, (node, address))| host(number, node, address)).collect();
    let place = |node: &str| hosts.iter().position(|host| host.node == node).unwrap_or_default();
    let shell = |command: &str| ["sh", "-c", command].map(OsString::from).to_vec();
    let mut programs: Vec<Program> = runs
        .iter()
        .map(|(node, command)| Program { host: place(node), words: shell(command), environment: Vec::new() })
        .collect();
    let has_own_program = own.is_some();
    programs.extend(own.map(|(node, words, environment)| Program { host: place(&node), words, environment }));

    let plan = Plan {
        seed: words.seed.unwrap_or(scenario.seed),
        scenario,
        hosts,
        groups: words.groups,
        programs,
        has_own_program,
        late: words.late.unwrap_or(LATE),
        strict: words.strict,
        out: words.out,
    };
    Ok(Command::Run(Box::new(plan)))
}

/// The host with this number, from 1.
fn host(number: u16, node: String, address: Option<Ipv4Addr>) -> Host {
    let [high, low] = number.to_be_bytes();
    let v4 = address.unwrap_or(Ipv4Addr::new(10, 77, high, low));
    let v6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number);
    Host { node, addresses: vec![IpAddr::V4(v4), IpAddr::V6(v6)] }
}

/// Sorts the words; `None` asks for help.
fn split(mut all: impl Iterator<Item = OsString>) -> Result<Option<Words>, String> {
    let mut words = Words::default();
    while let Some(word) = all.next() {
        let word = word.into_string().map_err(|word| format!("this is not UTF-8: {}", word.display()))?;
        if word == "--" {
            words.command = all.collect();
            if words.command.is_empty() {
                return Err("a command is needed behind --".to_owned());
            }
            break;
        }
        let mut value = |what: &str| {
            let value = all.next().ok_or_else(|| format!("{word} needs {what}"))?;
            value.into_string().map_err(|word| format!("this is not UTF-8: {}", word.display()))
        };
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--seed" => {
                let text = value("a number")?;
                words.seed = Some(text.parse().map_err(|_| format!("--seed needs a number, not {text}"))?);
            }
            "--for" => words.time = Some(time("--for", &value("a time")?)?),
            "--late" => words.late = Some(time("--late", &value("a time")?)?),
            "--strict" => words.strict = true,
            "-o" => words.out = Some(value("a folder")?.into()),
            "--replay" => words.replay = Some(value("a folder")?.into()),
            "--shell" => words.shell = Some(value("a node")?),
            "--run" => {
                let text = value("NODE=COMMAND")?;
                let (node, command) = text.split_once('=').ok_or("--run needs NODE=COMMAND")?;
                words.runs.push((node.to_owned(), command.to_owned()));
            }
            "--host" => {
                let text = value("NODE or NODE=ADDRESS")?;
                let (node, address) = match text.split_once('=') {
                    None => (text.as_str(), None),
                    Some((node, address)) => {
                        let parsed = address.parse().map_err(|_| format!("{address} is no IPv4 address"))?;
                        (node, Some(parsed))
                    }
                };
                words.hosts.push((node.to_owned(), address));
            }
            "--group" => {
                let text = value("NAME=ADDRESS")?;
                let (group, address) = text.split_once('=').ok_or("--group needs NAME=ADDRESS")?;
                let address = address.parse().map_err(|_| format!("{address} is no IPv4 address"))?;
                words.groups.push(GroupAddress { group: group.to_owned(), address });
            }
            _ if word.starts_with('-') => return Err(format!("there is no option {word}")),
            _ if words.scenario.is_none() && words.replay.is_none() => words.scenario = Some(word),
            _ if words.node.is_none() && words.replay.is_none() => words.node = Some(word),
            _ => return Err(format!("what is {word}? a command stands behind --")),
        }
    }
    Ok(Some(words))
}

fn time(option: &str, text: &str) -> Result<Duration, String> {
    let quoted = serde_json::Value::String(text.to_owned());
    serde_json::from_value(quoted).map_err(|_| format!("{option} needs a time such as \"10 s\", not \"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/handover.toml");

    fn read(words: &str) -> Result<Plan, String> {
        let words = words.split_whitespace().map(|word| if word == "S" { EXAMPLE } else { word });
        match read_command(words.map(OsString::from))? {
            Command::Run(plan) => Ok(*plan),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hosts_are_the_ends_of_flows_unless_they_are_named() {
        let plan = read("S --for 5s mobile -- curl -s server").unwrap();
        let names: Vec<&str> = plan.hosts.iter().map(|host| host.node.as_str()).collect();
        assert_eq!(names, ["server", "mobile"]);
        assert_eq!(plan.hosts[1].addresses.map_to_text(), ["10.77.0.2", "fd77::2"]);
        assert_eq!((plan.programs[0].host, plan.programs[0].words.len()), (1, 3));
        assert_eq!((plan.scenario.duration, plan.late), (Duration::from_secs(5), Duration::from_millis(1)));
        let plan = read("S --host router=10.1.2.3 --run server=true mobile -- true").unwrap();
        let names: Vec<&str> = plan.hosts.iter().map(|host| host.node.as_str()).collect();
        assert_eq!(names, ["router", "server", "mobile"]);
        assert_eq!(plan.hosts[0].addresses.map_to_text()[0], "10.1.2.3");
        assert!(plan.has_own_program && plan.programs.len() == 2);
    }

    #[test]
    fn a_name_may_stand_for_several_terminals() {
        let cell = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/umts-cell.toml");
        let words = [
            "--host",
            "cell.ue[0:2]=10.1.2.255",
            "--run",
            "cell.ue[3:5]=true",
            "--group",
            "tv=239.1.2.3",
            "server",
            "--",
            "true",
        ];
        let Ok(Command::Run(plan)) = read_command([cell].into_iter().chain(words).map(OsString::from)) else {
            panic!()
        };
        let hosts: Vec<(&str, String)> =
            plan.hosts.iter().map(|host| (host.node.as_str(), host.addresses.map_to_text()[0].clone())).collect();
        let expected = [
            ("cell.ue[0]", "10.1.2.255"),
            ("cell.ue[1]", "10.1.3.0"),
            ("cell.ue[3]", "10.77.0.3"),
            ("cell.ue[4]", "10.77.0.4"),
            ("server", "10.77.0.5"),
        ];
        assert_eq!(hosts, expected.map(|(node, address)| (node, address.to_owned())));
        assert_eq!(plan.programs.iter().map(|program| program.host).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(plan.groups, [GroupAddress { group: "tv".to_owned(), address: [239, 1, 2, 3].into() }]);
        assert!(plan.bridge().is_err_and(|error| error.starts_with("there is no group \"tv\"")));
    }

    trait MapToText {
        fn map_to_text(&self) -> Vec<String>;
    }

    impl MapToText for Vec<IpAddr> {
        fn map_to_text(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }

    #[test]
    fn command_lines_that_make_no_sense_are_refused_in_a_sentence() {
        for (words, says) in [
            ("", "a scenario is needed"),
            ("S", "nothing is to run: give NODE -- COMMAND, --shell NODE or --run NODE=COMMAND"),
            ("S mobile", "what is to run at \"mobile\"? write: mobile -- COMMAND"),
            ("S mobile --", "a command is needed behind --"),
            ("S mobile curl", "what is curl? a command stands behind --"),
            ("S --fro 1s mobile -- true", "there is no option --fro"),
            ("S --for soon mobile -- true", "--for needs a time such as \"10 s\", not \"soon\""),
            ("S --for 0s mobile -- true", "--for must be longer than 0 s"),
            ("S --seed x mobile -- true", "--seed needs a number, not x"),
            ("S --host a=b mobile -- true", "b is no IPv4 address"),
            ("S --group tv mobile -- true", "--group needs NAME=ADDRESS"),
            ("S --group tv=9 mobile -- true", "9 is no IPv4 address"),
            ("S --shell", "--shell needs a node"),
            ("S --shell mobile mobile -- true", "either NODE -- COMMAND or --shell NODE"),
        ] {
            assert_eq!(read(words).err().as_deref(), Some(says), "{words}");
        }
    }
}
