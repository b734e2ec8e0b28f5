//! Random valid scenarios: a network, and entries of the schema written into it.

use lasthop_core::scenario::types::Scenario;
use lasthop_core::scenario::{Document, check};
use serde_json::Value;

use super::Dice;
use super::draw::Drawer;
use super::entries::{ENTRIES, Place, Step};
use super::network::network;

/// How many networks are tried until one has a place for an entry.
const NETWORKS: usize = 60;

/// A random valid scenario of about `packets` packets, with the entry of this number.
pub fn scenario(dice: &mut Dice, packets: f64, wish: usize) -> Value {
    let ways: Vec<&[Step]> = ENTRIES.values().map(Vec::as_slice).collect();
    let mut drawn = Value::Null;
    for _ in 0..NETWORKS {
        drawn = toml::from_str(&network(dice, packets)).expect("the syntax of TOML");
        for _ in 0..dice.below(4) {
            let way = *dice.pick(&ways);
            write(dice, &mut drawn, way);
        }
        if write(dice, &mut drawn, ways[wish % ways.len()]) {
            break;
        }
    }
    drawn
}

/// Writes the item at the end of `way` into a scenario, if that is valid with it.
fn write(dice: &mut Dice, scenario: &mut Value, way: &[Step]) -> bool {
    let mut with = scenario.clone();
    let valid = Drawer::new(dice, scenario).place(&Place::root(), "", &mut with, way) && is_valid(&with);
    if valid {
        *scenario = with;
    }
    valid
}

/// Whether a scenario passes its checks.
fn is_valid(scenario: &Value) -> bool {
    // As the reader of scenarios reads it, so that it is not compiled for another way too: a third of what this crate of tests takes.
    let read = serde_path_to_error::deserialize::<_, Scenario>(scenario.clone());
    read.is_ok_and(|scenario| check(&Document::of(scenario, "case")).is_ok())
}
