//! The rule "downwards only": which part of the core may use which.
//!
//! learning ─► scenario ─► replicas ─► the areas ─► queues ─► net ─► engine, and scenario ─► measure ─► net. Areas are siblings
//! that meet through `net`. Profiles and the macro `choice!` are free for all. Only `scenario`
//! opens files, `measure` may write to what it is given, only `crates/python` knows PyO3.
//!
//! Parts lie in crates, whose arrows the compiler holds: net (engine, net, queues, measure) ◄─ protocols (transport, traffic,
//! multicast, qos) and radio (radio, satellite) ◄─ replicas ◄─ core (scenario, learning).

use std::fs;
use std::path::{Path, PathBuf};

/// What each part may use besides itself.
fn allowed(part: &str) -> Option<&'static [&'static str]> {
    const AREA: &[&str] = &["engine", "net", "queues"];
    Some(match part {
        "engine" => &[],
        "net" => &["engine"],
        "queues" => &["engine", "net"],
        "transport" | "radio" | "satellite" | "qos" | "traffic" => AREA,
        // Its estimators of round-trip time and loss are those of `transport`.
        "multicast" => &["engine", "net", "queues", "transport"],
        "measure" => &["engine", "net"],
        // Agents of other simulators and of an operating system: beside the areas' own, whose configurations they share.
        "ns2" | "linux" => &["engine", "net", "queues", "transport"],
        "eurane" => &["engine", "net", "queues", "radio"],
        "scenario" => {
            const ALL: [&str; 11] = [
                "engine",
                "net",
                "queues",
                "transport",
                "multicast",
                "radio",
                "satellite",
                "qos",
                "traffic",
                "measure",
                "replicas",
            ];
            &ALL
        }
        // A scenario in which a flow is led.
        "learning" => &["engine", "net", "transport", "scenario"],
        _ => return None,
    })
}

/// Free for all.
const FREE: &[&str] = &["profile", "choice"];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file without its comments, and without its tests, which may use more.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The crates in which the parts lie.
const CRATES: [&str; 5] = ["net", "protocols", "radio", "replicas", "core"];

/// The parts that `crate::` and `lasthop_net::` and the like name in `code`: also those of `use crate::{a, b::c}`.
fn parts_used(code: &str) -> Vec<String> {
    let roots = CRATES.iter().map(|name| format!("lasthop_{name}::")).chain(["crate::".to_owned()]);
    roots.flat_map(|root| named_after(&root, code)).collect()
}

/// The names that follow `root` in `code`.
fn named_after(root: &str, code: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut used = Vec::new();
    for (at, _) in code.match_indices(root) {
        // `$crate::` is not a path of this crate's own.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + root.len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut item = String::new();
            for c in list.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 || (depth == 1 && c == ',') {
                    used.push(name(item.trim()));
                    item.clear();
                } else {
                    item.push(c);
                }
                if depth == 0 {
                    break;
                }
            }
        } else {
            used.push(name(rest));
        }
    }
    used.retain(|part| !part.is_empty());
    used
}

/// The violations in a file of `part`.
fn violations(part: &str, code: &str) -> Vec<String> {
    let Some(allowed) = allowed(part) else {
        return vec![format!("the part `{part}` has no rule: add it to this test and to the design")];
    };
    let mut wrong: Vec<String> = parts_used(code)
        .into_iter()
        .filter(|used| used != part && !allowed.contains(&used.as_str()) && !FREE.contains(&used.as_str()))
        .map(|used| format!("`{part}` must not use `{used}`"))
        .collect();
    let homes: [(&str, &[&str]); 4] =
        [("std::fs", &["scenario"]), ("std::io", &["scenario", "measure"]), ("std::env", &["scenario"]), ("pyo3", &[])];
    for (word, homes) in homes {
        if code.contains(word) && !homes.contains(&part) {
            wrong.push(format!("`{part}` must not use `{word}`"));
        }
    }
    wrong
}

#[test]
fn parts_use_only_what_lies_below_them() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        assert!(files.len() > 20, "the sources are found");
        for file in files {
            let inside = file.strip_prefix(&source).unwrap();
            let part = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
            if part == "lib" || FREE.contains(&part) {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let found = violations(part, &code(&text));
            wrong.extend(found.into_iter().map(|what| format!("{name}: {}: {what}", inside.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_check_sees_what_it_should() {
    for (part, text, expected) in [
        ("engine", "use crate::net::Packet;", 1),
        ("engine", "use crate::{net::{core, Packet}, profile::Profile, scenario};", 2),
        ("net", "let tcp = crate::transport::tcp::Config::default();", 1),
        ("traffic", "use crate::transport::udp;", 1),
        ("net", "use crate::engine::Instant; // as crate::scenario does", 0),
        ("net", "/// [`crate::measure`] makes tables of them.\nuse std::fs::File;", 1),
        ("measure", "use pyo3::prelude::*;", 1),
        ("scenario", "use crate::measure::table; use std::fs;", 0),
        ("multicast", "use crate::transport::rtt;", 0),
        ("radio", "use lasthop_net::net::Packet;", 0),
        ("radio", "use lasthop_protocols::{transport, qos::x};", 2),
        ("transport", "use lasthop_replicas::ns2;", 1),
        ("net", "crate::choice! {}\n#[cfg(test)]\nmod tests {\n    use crate::scenario;", 0),
        ("unheard", "", 1),
    ] {
        let wrong = violations(part, &code(text));
        assert_eq!(wrong.len(), expected, "{part}: {text}: {wrong:?}");
    }
}
