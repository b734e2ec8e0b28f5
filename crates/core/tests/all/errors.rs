//! The errors of wrong scenarios: the sentence, the place, and the remedy.

use lasthop_core::scenario::{Diagnostic, check, read};

/// A scenario in which nothing is wrong; rows of the tables replace a line of it, or add some.
const RIGHT: &str = r#"name = "cell"
duration = "30 s"
seed = 7

[[link]]
name = "wire"
between = ["server", "router"]
rate = "10 Mbit/s"

[[link]]
name = "radio"
between = ["router", "mobile"]
rate = "384 kbit/s"
queue.droptail.limit = "64 kB"

[[group]]
name = "listeners"
members = ["mobile", "router"]

[[flow]]
name = "video"
from = "server"
to = "mobile"
transport.tcp.variant = "newreno"
"#;

fn reading(text: &str) -> Result<(), Diagnostic> {
    read::toml(text, "cell.toml").and_then(|document| check(&document))
}

/// The scenario with `line` replaced, or with lines added at its end if `line` is empty.
fn with(line: &str, by: &str) -> String {
    if line.is_empty() {
        return format!("{RIGHT}{by}\n");
    }
    assert_eq!(RIGHT.matches(line).count(), 1, "{line}");
    RIGHT.replace(line, by)
}

#[test]
fn nothing_is_wrong_with_the_right_one() {
    reading(RIGHT).unwrap();
}

/// A flow between terminals that stands for others, one of them from a node to itself.
#[test]
fn a_flow_that_stands_for_one_from_a_node_to_itself_is_refused() {
    let text = |radio: &str, gateway: &str, from: &str, to: &str| {
        format!("[[{radio}]]\nname = \"h\"\n{gateway} = \"nb\"\nues = 3\n[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
    };
    for (radio, gateway) in [("hsdpa", "node"), ("cell", "rnc"), ("mbms", "rnc")] {
        for (from, to) in [("h.ue[0]", "h.ue[*]"), ("h.ue[*]", "h.ue[0]"), ("h.ue[*]", "h.ue[*]")] {
            let error = reading(&text(radio, gateway, from, to)).unwrap_err().to_string();
            assert!(error.contains("a flow from \"h.ue[0]\" to itself"), "{error}");
        }
        reading(&text(radio, gateway, "h.ue[0]", "h.ue[1]")).unwrap();
        let own = text(radio, gateway, "nb", "h.ue[*]").replace("\"nb\"", "\"h.ue[0]\"");
        let error = reading(&own).unwrap_err().to_string();
        assert!(error.contains("is a terminal of \"h\" itself"), "{error}");
    }
}

/// Line replaced, its replacement, and the whole error.
const EXACT: &[(&str, &str, &str)] = &[
    (
        "queue.droptail.limit = \"64 kB\"",
        "queue.droptial.limit = \"64 kB\"",
        r#"
error: unknown queue discipline "droptial"
  --> cell.toml:14:7
   |
14 | queue.droptial.limit = "64 kB"
   |       ^^^^^^^^ did you mean "droptail"?
   |
   = known: droptail, red, codel, pie, fq_codel, dualpi2, threshold, ewa, xcp, swan, rio, drr, priority, token_bucket, wfq, queue_phase, diffserv   (lasthop schema queue)
"#,
    ),
    (
        "queue.droptail.limit = \"64 kB\"",
        "queue.droptail.lmit = \"64 kB\"",
        r#"
error: unknown field "lmit" in link[1].queue.droptail
  --> cell.toml:14:16
   |
14 | queue.droptail.lmit = "64 kB"
   |                ^^^^ did you mean "limit"?
   |
   = known: limit, also, drop_front   (lasthop schema droptail)
"#,
    ),
    (
        "rate = \"384 kbit/s\"\n",
        "",
        r#"
error: a link without a rate
  --> cell.toml:10:1
   |
10 | [[link]]
   | ^^^^^^^^ expected one such as "2 Mbit/s", or a trace
"#,
    ),
    (
        "rate = \"384 kbit/s\"",
        "rate = 384",
        r#"
error: "rate" must be a rate as text, such as "384 kbit/s"
  --> cell.toml:13:8
   |
13 | rate = 384
   |        ^^^ found the number 384
   |
   = The rate, in both directions. A data rate: number and unit (bit/s, kbit/s, Mbit/s, Gbit/s), as in "384 kbit/s".
"#,
    ),
    (
        "rate = \"384 kbit/s\"",
        "rate = \"384 Kbit/s\"",
        r#"
error: rate: unknown unit "Kbit/s" for a rate
  --> cell.toml:13:8
   |
13 | rate = "384 Kbit/s"
   |        ^^^^^^^^^^^^ did you mean "kbit/s"?
   |
   = expected one of bit/s, kbit/s, Mbit/s, Gbit/s, as in "384 kbit/s"
"#,
    ),
    (
        "rate = \"384 kbit/s\"",
        "rate = 384 kbit/s",
        r#"
error: a value is missing, or is not in quotes
  --> cell.toml:13:8
   |
13 | rate = 384 kbit/s
   |        ^^^^^^^^^^ expected a value; text stands in quotes
"#,
    ),
    (
        "between = [\"router\", \"mobile\"]",
        "between = [\"router\", \"mobile\", \"server\"]",
        r#"
error: "between" must be a list of 2 items
  --> cell.toml:12:11
   |
12 | between = ["router", "mobile", "server"]
   |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ found 3 items
   |
   = The two nodes. Forward is from the first to the second.
"#,
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp.variant = \"new-reno\"",
        r#"
error: unknown variant "new-reno"
  --> cell.toml:24:25
   |
24 | transport.tcp.variant = "new-reno"
   |                         ^^^^^^^^^^ did you mean "newreno"?
   |
   = known: tahoe, reno, newreno, sack, fack, vegas, cubic, dctcp, prague, copa, ledbat, bbr, xcp   (lasthop schema tcp)
"#,
    ),
    (
        "name = \"radio\"",
        "name = \"radio\"\nname = \"again\"",
        r#"
error: "name" is given twice
  --> cell.toml:12:1
   |
12 | name = "again"
   | ^^^^ keep one
"#,
    ),
    (
        "seed = 7",
        "profile = \"ns3\"",
        r#"
error: unknown profile "ns3"
 --> cell.toml:3:11
  |
3 | profile = "ns3"
  |           ^^^^^ did you mean "ns2"?
  |
  = known: ns2, rfc, linux, 3gpp   (lasthop schema)
"#,
    ),
    (
        "to = \"mobile\"",
        "to = \"moblie\"",
        r#"
error: there is no node or group "moblie"
  --> cell.toml:23:6
   |
23 | to = "moblie"
   |      ^^^^^^^^ did you mean "mobile"?
   |
   = known: mobile, router, server, listeners
"#,
    ),
    (
        "from = \"server\"",
        "from = \"servre\"",
        r#"
error: there is no node "servre"
  --> cell.toml:22:8
   |
22 | from = "servre"
   |        ^^^^^^^^ did you mean "server"?
   |
   = known: mobile, router, server
"#,
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "start = \"31 s\"",
        r#"
error: flow "video" starts at 31 s, when the run has ended
  --> cell.toml:24:9
   |
24 | start = "31 s"
   |         ^^^^^^ the run lasts 30 s
"#,
    ),
    (
        "",
        "[[change]]\nat = \"10 s\"\nlink = \"Radio\"\nrate = \"1 Mbit/s\"",
        r#"
error: there is no link or terminal "Radio"
  --> cell.toml:27:8
   |
27 | link = "Radio"
   |        ^^^^^^^ did you mean "radio"?
   |
   = known: radio, wire
"#,
    ),
    (
        "duration = \"30 s\"",
        "duration = \"0 s\"",
        r#"
error: a run of no duration
 --> cell.toml:2:12
  |
2 | duration = "0 s"
  |            ^^^^^ expected a duration, such as "60 s"
"#,
    ),
    (
        "",
        "[[flow]]\nfrom = \"server\"\nto = \"router\"\n\n[[flow]]\nfrom = \"server\"\nto = \"router\"",
        r#"
error: two flows are called "server>router"
  --> cell.toml:29:1
   |
29 | [[flow]]
   | ^^^^^^^^ give this one a name, such as name = "second"
"#,
    ),
];

#[test]
fn errors_read_exactly_so() {
    for (line, by, expected) in EXACT {
        let error = reading(&with(line, by)).unwrap_err().render(false);
        assert_eq!(error, expected.trim_matches('\n'), "\nfor {by}, got\n{error}\n");
    }
}

/// Errors of names and values come together, in the order of the text, and so do those of what the values mean.
#[test]
fn all_errors_of_a_file_are_shown_at_once() {
    let spoil = |pairs: &[(&str, &str)]| {
        let text = pairs.iter().fold(RIGHT.to_owned(), |text, (line, by)| text.replacen(line, by, 1));
        let error = reading(&text).unwrap_err();
        let also: Vec<_> = error.also.iter().map(|also| (also.line.unwrap(), also.message.clone())).collect();
        ((error.line.unwrap(), error.message.clone()), also, error.render(false))
    };
    let (first, also, text) = spoil(&[
        ("duration = ", "durations = \"4 s\"\nduration = "),
        ("name = \"radio\"", "name = 7"),
        ("transport.tcp.variant = \"newreno\"", "transport.tcp.variants = \"newreno\""),
    ]);
    assert!(first.1.contains("durations"), "{text}");
    assert_eq!(also.len(), 2, "{text}");
    assert!(also[0].0 < also[1].0 && also[0].1.contains("name") && also[1].1.contains("variants"), "{text}");
    assert_eq!(text.matches("error: ").count(), 3, "{text}");
    // What is missing only because it was wrong is not said.
    let (_, also, text) = spoil(&[("duration = ", "duration = 7 # ")]);
    assert!(also.is_empty(), "{text}");
    let (first, also, text) =
        spoil(&[("from = \"server\"", "from = \"sever\""), ("to = \"mobile\"", "to = \"mobil\"")]);
    assert!(first.1.contains("sever") && also.len() == 1 && also[0].1.contains("mobil"), "{text}");
}

/// Line replaced, its replacement, line number of the error, and parts of its text.
const PARTS: &[(&str, &str, usize, &[&str])] = &[
    // Syntax.
    ("seed = 7", "seed 7", 3, &["a name without a value"]),
    ("seed = 7", "seed =", 3, &["a value is missing"]),
    ("seed = 7", "seed = 07", 3, &["leading zero"]),
    ("seed = 7", "= 7", 3, &["a name is missing"]),
    ("seed = 7", "seed = seven", 3, &["in quotes"]),
    ("name = \"cell\"", "name = \"cell", 1, &["without its closing quote"]),
    ("name = \"cell\"", "name = \"c\\qll\"", 1, &["escape"]),
    ("[[link]]\nname = \"radio\"", "[[link\nname = \"radio\"", 10, &["unclosed", "]]"]),
    (
        "[[link]]\nname = \"radio\"",
        "[link]\nname = \"radio\"",
        10,
        &["\"link\" is given twice", "write [[link]] each time"],
    ),
    (
        "members = [\"mobile\", \"router\"]",
        "members = [\"mobile\", \"router\"",
        20,
        &["a comma or a \"]\" is missing before this"],
    ),
    ("seed = 7", "sééd = 7", 3, &["letters, digits"]),
    // Names of fields.
    ("seed = 7", "Seed = 7", 3, &["unknown field \"Seed\"", "did you mean \"seed\"?"]),
    ("seed = 7", "xyzzy = 7", 3, &["unknown field \"xyzzy\"", "not known here", "known: name"]),
    ("", "bandwith = 3", 25, &["unknown field \"bandwith\" in flow[0]", "lasthop schema flow"]),
    ("", "source.greedy.size = \"1 MB\"", 25, &["unknown field \"size\"", "nothing can be set here"]),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp.rto.minimum = \"1 s\"",
        24,
        &["\"minimum\" in flow[0].transport.tcp.rto"],
    ),
    // Missing fields.
    ("name = \"radio\"\n", "", 10, &["missing field \"name\" in link[1]"]),
    ("from = \"server\"\n", "", 20, &["missing field \"from\" in flow[0]", "The sending node."]),
    ("queue.droptail.limit = \"64 kB\"", "loss = \"bernoulli\"", 14, &["missing field \"p\" in link[1].loss"]),
    // Types.
    ("duration = \"30 s\"", "duration = true", 2, &["\"duration\" must be a duration", "found true"]),
    ("duration = \"30 s\"", "duration = 1979-05-27", 2, &["found a table or a date"]),
    ("[[flow]]", "[flow]", 20, &["\"flow\" must be a list", "found one table; write [[flow]] each time"]),
    (
        "members = [\"mobile\", \"router\"]",
        "members = [\"mobile\"]\n[group.join]\nat = \"1 s\"",
        19,
        &["found one table; write [[group.join]] each time"],
    ),
    (
        "",
        "[[record]]\npackets = true",
        25,
        &["\"record\" must be a table", "found a list; one table is written [record]"],
    ),
    ("duration = \"30 s\"", "record = [true, false]", 2, &["\"record\" must be a table", "found a list"]),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = [\"cubic\"]",
        24,
        &["\"tcp\" must be a table", "found a list"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp.variant = [\"newreno\"]",
        24,
        &["\"variant\" must be a name, or a name with its parameters", "found a list"],
    ),
    ("", "[live.host]\nnode = \"mobile\"", 25, &["found one table; write [[live.host]] each time"]),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport = \"newreno\"",
        24,
        &["did you mean transport.tcp.variant = \"newreno\"?"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = \"newreno\"",
        24,
        &["did you mean transport.tcp.variant = \"newreno\"?", "known: "],
    ),
    ("transport.tcp.variant = \"newreno\"", "source.file = \"5 MB\"", 24, &["found the text \"5 MB\"", "known: size"]),
    ("seed = 7", "seed = 1.5", 3, &["whole number", "found the number 1.5"]),
    ("seed = 7", "seed = -1", 3, &["whole number", "-1"]),
    ("seed = 7", "seed = 1e308", 3, &["whole number", "1e308"]),
    ("seed = 7", "seed = nan", 3, &["finite"]),
    ("seed = 7", "seed = 340282366920938463463374607431768211456", 3, &["seed"]),
    ("seed = 7", "seed = 18446744073709551615", 3, &["too large", "9007199254740991"]),
    ("between = [\"router\", \"mobile\"]", "between = [\"router\"]", 12, &["a list of 2 items", "found 1 item"]),
    ("between = [\"router\", \"mobile\"]", "between = \"router\"", 12, &["a list of 2 items", "found the text"]),
    ("members = [\"mobile\", \"router\"]", "members = [\"mobile\", 3]", 18, &["\"members[1]\" must be text"]),
    ("queue.droptail.limit = \"64 kB\"", "queue = 3", 14, &["a queue discipline: a name such as"]),
    ("queue.droptail.limit = \"64 kB\"", "reorder = 1", 14, &["true or false"]),
    ("transport.tcp.variant = \"newreno\"", "transport.tcp.window = 5000000000", 24, &["from 0 to 4294967295"]),
    // Units.
    ("rate = \"384 kbit/s\"", "rate = \"384\"", 13, &["rate: a rate needs a unit", "kbit/s"]),
    ("rate = \"384 kbit/s\"", "rate = \"384 kbps\"", 13, &["unknown unit \"kbps\"", "expected one of bit/s"]),
    ("rate = \"384 kbit/s\"", "rate = \"-1 kbit/s\"", 13, &["cannot be negative"]),
    ("rate = \"384 kbit/s\"", "rate = \"0 kbit/s\"", 13, &["at least 1 bit/s"]),
    ("rate = \"384 kbit/s\"", "rate = \"1e308 Gbit/s\"", 13, &["too large"]),
    ("duration = \"30 s\"", "duration = \"9999 h\"", 2, &["too large"]),
    ("queue.droptail.limit = \"64 kB\"", "queue.droptail.limit = \"64 kb\"", 14, &["did you mean \"kB\"?"]),
    ("queue.droptail.limit = \"64 kB\"", "loss.bernoulli.p = 1.5", 14, &["between 0 and 1"]),
    ("queue.droptail.limit = \"64 kB\"", "loss.bernoulli.p = nan", 14, &["finite"]),
    // Choices.
    (
        "transport.tcp.variant = \"newreno\"",
        "transport = \"tpc\"",
        24,
        &["unknown transport \"tpc\"", "did you mean \"tcp\"?"],
    ),
    ("queue.droptail.limit = \"64 kB\"", "queue = {}", 14, &["expected the name of a queue discipline"]),
    (
        "queue.droptail.limit = \"64 kB\"",
        "queue = { droptail = {}, red = {} }",
        14,
        &["two choices of queue discipline"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "source.cbr.interval = \"0 s\"",
        24,
        &["\"interval\" must be longer than 0 s"],
    ),
    // Sense.
    ("seed = 7", "nodes = [\"server\", \"router\", \"mobil\"]", 12, &["no node \"mobile\" in \"nodes\"", "\"mobil\""]),
    ("seed = 7", "nodes = [\"server\", \"router\", \"mobile\", \"router\"]", 3, &["two nodes are called \"router\""]),
    ("name = \"wire\"", "name = \"radio\"", 11, &["two links are called \"radio\""]),
    ("name = \"wire\"", "name = \"\"", 6, &["a name is empty"]),
    ("between = [\"router\", \"mobile\"]", "between = [\"router\", \"router\"]", 12, &["from \"router\" to itself"]),
    ("to = \"mobile\"", "to = \"mobil\"", 23, &["no node or group \"mobil\"", "did you mean \"mobile\"?"]),
    ("to = \"mobile\"", "to = \"server\"", 23, &["from \"server\" to itself"]),
    ("to = \"mobile\"", "to = \"listeners\"", 23, &["\"tcp\" cannot send to a group"]),
    ("from = \"server\"", "from = \"listeners\"", 22, &["is a group, and only a node can send"]),
    (
        "between = [\"server\", \"router\"]",
        "between = [\"server\", \"hub\"]",
        23,
        &["no links lead from \"server\" to \"mobile\""],
    ),
    ("members = [\"mobile\", \"router\"]", "members = []", 18, &["has no members"]),
    ("members = [\"mobile\", \"router\"]", "members = [\"mobile\", \"mobile\"]", 18, &["twice a member"]),
    (
        "members = [\"mobile\", \"router\"]",
        "members = [\"mobile\", \"roter\"]",
        18,
        &["no node \"roter\"", "\"router\""],
    ),
    ("name = \"listeners\"", "name = \"mobile\"", 17, &["a group and a node are called \"mobile\""]),
    ("transport.tcp.variant = \"newreno\"", "start = \"30 s\"", 24, &["starts at 30 s", "the run lasts 30 s"]),
    ("transport.tcp.variant = \"newreno\"", "transport = \"udp\"", 20, &["\"greedy\" does not write datagrams"]),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport = \"tfrc\"\nsource = \"web\"",
        25,
        &["\"web\" opens one connection after another", "\"tfrc\" cannot", "\"tcp\""],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "source.web.embedded_max = \"40 B\"",
        24,
        &["sizes from 50 B to 40 B", "smallest size below the largest"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp.congestion.vegas.alpha = 4",
        24,
        &["alpha (4) is greater than beta (3)"],
    ),
    ("transport.tcp.variant = \"newreno\"", "transport.tcp.congestion.vegas.alpha = inf", 24, &["finite", "inf"]),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp.exact_half = true",
        24,
        &["exact_half", "exists in profile \"ns2\" only"],
    ),
    // Parameters of an algorithm stand below its name: those of another cannot be set.
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { variant = \"vegas\", congestion.vegas.c = 0.4 }",
        24,
        &["\"c\"", "known: alpha"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { congestion = { vegas = {}, cubic = {} } }",
        24,
        &["two choices of congestion control"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { profile = \"ns2\", variant = \"vegas\", congestion.cubic.beta = 0.5 }",
        24,
        &["knows only the usual pairs"],
    ),
    ("transport.tcp.variant = \"newreno\"", "transport.tcp.segment = \"1 MB\"", 24, &["from 1 B to 65495 B"]),
    ("transport.tcp.variant = \"newreno\"", "transport.tcp.window = 0", 24, &["window is zero"]),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { profile = \"ns2\", variant = \"cubic\" }",
        24,
        &["no CUBIC"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { profile = \"ns2\", variant = \"ledbat\" }",
        24,
        &["no LEDBAT"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { variant = \"prague\", accurate_ecn = false }",
        24,
        &["answers to counted marks", "leave it on"],
    ),
    (
        "transport.tcp.variant = \"newreno\"",
        "transport.tcp = { profile = \"ns2\", recovery = \"sack\" }",
        24,
        &["usual pairs"],
    ),
    ("queue.droptail.limit = \"64 kB\"", "queue.red = { min = 15, max = 5 }", 14, &["min (15) is not below max (5)"]),
    ("", "[[change]]\nat = \"31 s\"\nlink = \"radio\"\nup = false", 26, &["when the run has ended"]),
    ("", "[[change]]\nat = \"3 s\"\nlink = \"radio\"", 25, &["changes nothing"]),
    (
        "",
        "[[change]]\nat = \"3 s\"\nlink = \"rado\"\nup = false",
        27,
        &["no link or terminal \"rado\"", "did you mean \"radio\"?"],
    ),
    ("", "[[flow]]\nfrom = \"server\"\nto = \"router\"\nname = \"video\"", 28, &["two flows are called \"video\""]),
    ("", "[record]\nseries = \"0 s\"", 26, &["an interval of zero"]),
    ("", "[record]\nseries = \"1 us\"", 26, &["would take 150000000 samples"]),
];

/// Fields of a change of the link `radio` at 3 s, of which the last is wrong beside the others, and
/// parts of the error.
const CHANGES: &[(&str, &[&str])] = &[
    ("interruption = '1 s'\noverlap = '1 s'", &["an overlap and an interruption", "keep overlap or interruption"]),
    ("overlap = '1 s'\nin_flight = 'move'", &["in flight arrive by the old access", "in_flight = \"finish\""]),
    ("overlap = '1 s'\nin_flight = 'copy'", &["in flight arrive by the old access", "in_flight = \"finish\""]),
    ("overlap = '1 s'\nin_flight = 'lose'", &["in flight arrive by the old access", "in_flight = \"finish\""]),
    ("overlap = '1 s'\nin_flight = 'forward'", &["in flight arrive by the old access", "in_flight = \"finish\""]),
    (
        "queue = 'empty'\nforwarding = '1 s'",
        &["nothing is forwarded", "in_flight = \"forward\" or queue = \"forward\""],
    ),
    ("delay = '1 ms'\nramp = '1 s'", &["a ramp to no new rate", "expected rate"]),
    ("delay = '1 ms'\nloss_for = '1 s'", &["loss_for without a loss model", "expected loss"]),
    ("up = false\nrepeat = { every = '0 s', times = 3 }", &["an interval of zero between changes"]),
    ("up = false\nrepeat = { every = '1 s', times = 0 }", &["made zero times", "at least 1"]),
    (
        "up = false\nrepeat = { every = '9 s', times = 4 }",
        &["the last of 4 changes comes at 30 s", "the run lasts 30 s"],
    ),
    ("up = false\nrepeat = { every = '1 ns', times = 2000000 }", &["2000000 changes are too many"]),
    (
        "up = false\nrepeat = { every = '1 s', times = 18446744073709551615 }",
        &["changes are too many", "the most is 1000000"],
    ),
    ("up = false\nrepeat.every = '1 s'", &["missing field \"times\" in change[0].repeat"]),
    ("in_flight = 'keep'", &["in_flight", "\"keep\""]),
];

#[test]
fn what_does_not_go_together_in_a_change_is_refused() {
    for (fields, parts) in CHANGES {
        let text = with("", &format!("[[change]]\nat = '3 s'\nlink = 'radio'\n{fields}"));
        let error = reading(&text).expect_err(fields);
        assert_eq!(error.line, Some(text.lines().count()), "{error}");
        let shown = error.render(false);
        assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
    }
}

#[test]
fn errors_name_the_place_and_the_mend() {
    let mut wrong = String::new();
    for (line, by, number, parts) in PARTS {
        let Err(error) = reading(&with(line, by)) else {
            wrong += &format!("\n{by}: should be refused\n");
            continue;
        };
        let text = error.render(false);
        if error.line != Some(*number) || parts.iter().any(|part| !text.contains(part)) {
            wrong += &format!("\n{by}: should have line {number} and {parts:?}:\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn colour_is_a_matter_of_rendering() {
    let error = reading(&with("seed = 7", "sed = 7")).unwrap_err();
    assert!(error.render(true).contains("\u{1b}["));
    assert!(!error.render(false).contains('\u{1b}'));
    assert_eq!((error.line, error.column, error.path.as_str()), (Some(3), Some(1), "sed"));
    assert_eq!(error.label, "did you mean \"seed\"?");
}

#[test]
fn errors_in_a_dictionary_have_a_path() {
    for (text, path, part) in [
        (r#"{"link": [{"name": "a", "between": ["a", "b"], "rate": "1"}]}"#, "link[0].rate", "needs a unit"),
        (r#"{"link": [{"name": "a", "betwen": ["a", "b"]}]}"#, "link[0].betwen", "did you mean \"between\"?"),
        (r#"{"flow": [{"from": "a", "to": "b", "transport": {"tpc": {}}}]}"#, "flow[0].transport.tpc", "\"tcp\"?"),
        (r#"{"seed": 1e30}"#, "seed", "whole number"),
        (r#"{"seed": null}"#, "seed", "found nothing"),
        (r#"{"duration": "0 s"}"#, "duration", "no duration"),
        (r#"{"nodes": ["a"], "flow": [{"from": "a", "to": "b"}]}"#, "flow[0].to", "no node \"b\""),
        (r#"{"seed": 1, "seed": 2}"#, "", "given twice"),
        ("[]", "", "a table of fields"),
        ("3", "", "a table of fields"),
    ] {
        let error = read::json(text, "scenario").and_then(|document| check(&document)).unwrap_err();
        assert_eq!(error.path, path, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    let error = read::json("{\"seed\": NaN}", "scenario").unwrap_err();
    assert_eq!((error.line, error.column), (Some(1), Some(10)), "{error}");
}

#[test]
fn files_that_are_no_scenarios_are_refused_in_one_sentence() {
    let folder = std::env::temp_dir().join(format!("lasthop-errors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for (path, part) in [
        (folder.join("missing.toml"), "there is no such file"),
        (folder.clone(), "this is a directory"),
        (file("binary.toml", b"\x7fELF\xff\xfe\n\x80"), "not UTF-8"),
        (file("empty.toml", b" \n\n"), "this file is empty"),
        (file("large.toml", &vec![b'#'; 17_000_000]), "larger than 16 MB"),
        (file("broken.json", b"{\"seed\": 1"), "the JSON ends within an object"),
    ] {
        let error = read::file(&path).unwrap_err();
        assert!(error.message.contains(part), "{error}");
        assert_eq!(error.message.lines().count(), 1, "{error}");
    }
    let right = read::file(file("right.toml", RIGHT.replace("name = \"cell\"", "").as_bytes())).unwrap();
    assert_eq!(right.scenario.name, "right", "the file's name is the scenario's");
    let json = read::file(file("right.json", b"{\"seed\": 3}")).unwrap();
    assert_eq!(json.scenario.seed, 3);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn nesting_and_size_do_no_harm() {
    let deep = 200_000;
    for text in [
        format!("x = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}", "{a = ".repeat(deep)),
        format!("{} = 1", vec!["a"; deep].join(".")),
        format!("[{}]", vec!["a"; deep].join(".")),
        format!("name = \"{}\"\nseed = x", "é".repeat(deep)),
        format!("{} = 1", "x".repeat(deep)),
        format!("seed = {}", "9".repeat(deep)),
        format!("duration = \"{}\"", "9".repeat(deep)),
        format!("name = \"{}\"", "n".repeat(deep)),
        format!("profile = \"{}\"", "p".repeat(deep)),
        format!("nodes = [{}]", "\"n\",".repeat(deep)),
    ] {
        let error = reading(&text).unwrap_err();
        assert!(error.line.is_some() && error.to_string().len() < 2_000, "{error}");
    }
    for text in ["[".repeat(deep), "{\"link\":".repeat(deep), "{\"link\": [{\"queue\": ".repeat(deep)] {
        let error = read::json(&text, "scenario").unwrap_err();
        assert!(error.to_string().len() < 2_000, "{error}");
    }
}

#[test]
fn wrong_mobility_is_shown_where_it_stands() {
    let with = |mobility: &str| {
        let (before, mobility) = mobility.split_once("--").unwrap_or(("", mobility));
        format!("{RIGHT}\n[[cell]]\nname = \"umts\"\nrnc = \"router\"\n{before}\n[cell.mobility]\n{mobility}\n")
    };
    let site = "site = [{ at = [\"1 km\", \"0 m\"] }]";
    assert!(reading(&with(site)).is_ok(), "{:?}", reading(&with(site)));
    let way = |of: &str| format!("{site}\nmovement = [{{ {of} }}]");
    for (mobility, field, message) in [
        ("site = []".to_owned(), "site", "sites with 0 cells"),
        (format!("{site}\nmovement = []"), "movement", "no movement"),
        (format!("{site}\ninterval = \"1 ms\""), "interval", "measurements every 1 ms"),
        (format!("{site}\nsoft.most = 0"), "most", "an active set of 0 cells"),
        (format!("{site}\nsoft.drop = \"1 dB\""), "drop", "dropped that was just added"),
        (format!("{site}\nshadowing.distance = \"0 m\""), "distance", "a distance of 0 m"),
        (format!("{site}\npath_loss.exponent = 0.1"), "exponent", "grows with power 0.1"),
        (format!("{site}\nantenna.beamwidth = \"0 deg\""), "beamwidth", "a beam of 0 deg"),
        (way("waypoints.points = []"), "points", "a way without places"),
        (way("straight = { to = [\"0 m\", \"0 m\"] }"), "to", "from a place to itself"),
        (way("straight = { to = [\"1 m\", \"0 m\"], speed = \"0 m/s\" }"), "speed", "at no speed"),
        (format!("{site}\nsystem = [{{ rate = \"1 Mbit/s\", leave = \"-70 dBm\" }}]"), "leave", "go back as soon as"),
        (format!("{site}\npower.loops.block_errors = 0"), "block_errors", "cannot aim at a share of 0"),
        (format!("loss.bernoulli.p = 0.1--{site}\npower = \"loops\""), "loss", "and so does power control"),
        (format!("{site}\npilot = \"33 dB\""), "pilot", "unknown unit \"dB\""),
        ("site = [{ rnc = \"nobody\" }]".to_owned(), "rnc", "no links lead from \"router\" to \"nobody\""),
        (format!("{site}\n[cell.cpch]"), "cpch", "for terminals that stay in one cell"),
    ] {
        let error = reading(&with(&mobility)).expect_err(&mobility).to_string();
        assert!(error.contains(message) && error.contains(field), "{mobility}: {error}");
    }
}

/// Of 65,536 ports at a node, machines have the lowest four, and packets that are handed out the last.
#[test]
fn flows_that_find_no_port_are_refused() {
    let flow = |n: usize, from: &str, to: &str| {
        format!(
            "[[flow]]\nname = \"f{n}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\nsource.cbr.interval = \"1 s\"\n"
        )
    };
    let flows = |many: usize, from: &str, to: &str| (0..many).map(|n| flow(n, from, to)).collect::<String>();
    let cell = |ues: usize| format!("duration = \"1 s\"\n[[cell]]\nname = \"cell\"\nrnc = \"rnc\"\nues = {ues}\n");
    let all = "cell.ue[*]";
    for (from, to) in [(all, "rnc"), ("rnc", all)] {
        // 65,531 = 19 · 3449.
        assert!(reading(&(cell(3449) + &flows(19, from, to))).is_ok());
        let error = reading(&(cell(3450) + &flows(19, from, to))).unwrap_err().to_string();
        assert!(error.contains("too many flows at node \"rnc\"") && error.contains("the most is 65531"), "{error}");
    }
    // A flow to a group is one flow of its sender's node.
    let group = format!("{}[[group]]\nname = \"g\"\nmembers = [\"{all}\"]\n", cell(3450));
    assert!(reading(&(group + &flows(20, "rnc", "g"))).is_ok());
}
