//! The canonical form of a scenario: all names filled in, choices written with their parameters,
//! repeated changes written one by one. Reading it gives the same scenario again.

use serde_json::{Map, Value};

use super::change;
use super::media::Radios;
use super::types::Scenario;

/// The scenario with its nodes listed, its flows named and its changes single.
pub fn resolved(scenario: &Scenario) -> Scenario {
    let mut resolved = scenario.clone();
    resolved.nodes = scenario.node_names();
    let radios = Radios::of(scenario);
    resolved.flow = scenario.flow.iter().flat_map(|flow| radios.flows(flow)).collect();
    for flow in &mut resolved.flow {
        flow.name = flow.label();
    }
    resolved.resolve_media();
    resolved.change = change::expanded(&scenario.change);
    resolved
}

/// What it holds, in one line.
pub fn summary(scenario: &Scenario) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let radios = Radios::of(scenario);
    let flows = scenario.flow.iter().map(|flow| radios.flows(flow).len()).sum();
    let (links, flows) = (count(scenario.link.len(), "link"), count(flows, "flow"));
    format!("{}, {links}, {flows}, profile {}", scenario.duration, scenario.profile.name())
}

/// The canonical form in TOML.
pub fn toml(scenario: &Scenario) -> String {
    let mut value = value(scenario);
    drop_nulls(&mut value);
    let Value::Object(fields) = value else { unreachable!("a scenario is a table") };
    // Lists of tables are written a few at a time: to write a list takes time with the square of its length.
    let (lists, plain): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(_, value)| is_list_of_tables(value));
    let written = |fields: Map<String, Value>| toml::to_string(&fields).expect("a scenario has plain values");
    let mut text = written(plain.into_iter().collect());
    for (name, list) in lists {
        for some in list.as_array().map_or(&[][..], Vec::as_slice).chunks(TABLES_AT_A_TIME) {
            text.push('\n');
            text.push_str(&written(Map::from_iter([(name.clone(), Value::Array(some.to_vec()))])));
        }
    }
    text
}

const TABLES_AT_A_TIME: usize = 64;

fn is_list_of_tables(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object))
}

/// The canonical form in JSON.
pub fn json(scenario: &Scenario) -> String {
    serde_json::to_string_pretty(&value(scenario)).expect("a value has text for its keys")
}

/// Both are written from this: the types are compiled for one form.
fn value(scenario: &Scenario) -> Value {
    serde_json::to_value(resolved(scenario)).expect("a scenario has text for its keys and finite numbers")
}

/// TOML has no null.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::umts::channel::Limit;
    use crate::scenario::read;

    #[test]
    fn the_canonical_form_reads_back_the_same() {
        let text = r#"
            duration = "20 s"
            [[link]]
            name = "radio"
            between = ["router", "mobile"]
            rate = "3.84 Mbit/s"
            delay = "48.3 ms"
            loss.bernoulli.p = 0.9522444552911937
            reverse.rate = "384 kbit/s"
            [[cell]]
            name = "cell"
            rnc = "router"
            [[flow]]
            from = "router"
            to = "mobile"
            transport.tcp.variant = "newreno"
            transport.tcp.rto.min = "200 ms"
            [[change]]
            at = "10.000000001 s"
            link = "radio"
            rate = "384 kbit/s"
            repeat = { every = "4 s", times = 2 }
            [[change]]
            at = "12 s"
            link = "radio"
            loss = "none"
            loss_for = "1 s"
            repeat = { every = "1 ns", times = 1 }
        "#;
        let scenario = read::toml(text, "text").unwrap().scenario;
        let resolved = resolved(&scenario);
        assert_eq!(resolved.nodes, ["cell.ue[0]", "mobile", "router"]);
        assert_eq!(resolved.flow[0].name, "router>mobile");
        let times: Vec<u64> = resolved.change.iter().map(|change| change.at.as_nanos()).collect();
        assert_eq!(times, [10_000_000_001, 14_000_000_001, 12_000_000_000]);
        assert_eq!(resolved.cell[0].queue, Some(Limit::TwoIntervals), "as the profile has it");
        let expanded = toml(&scenario);
        assert_eq!(read::toml(&expanded, "expanded").unwrap().scenario, resolved, "{expanded}");
        assert_eq!(read::json(&json(&scenario), "expanded").unwrap().scenario, resolved);
        assert_eq!(toml(&resolved), expanded, "it is its own canonical form");
    }
}
