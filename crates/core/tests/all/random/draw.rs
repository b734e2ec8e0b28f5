//! Draws values for places of the schema.

use serde_json::{Map, Value, json};

use super::Dice;
use super::entries::{Kind, Place, Step};

/// Element sets of one satellite (NORAD, July 2020) and of one that follows it.
const ELEMENT_SETS: &str = "ISS\n\
    1 25544U 98067A   20194.88612269 -.00002218  00000-0 -31515-4 0  9992\n\
    2 25544  51.6461 221.2784 0001413  89.1723 280.4612 15.49507896236008\n";

/// The most of a counted item, such as terminals or satellites of a plane: the drawn scenario shall not take long.
const MANY: f64 = 24.0;

/// Draws values; texts are the names of one scenario.
pub struct Drawer<'d> {
    pub dice: &'d mut Dice,
    nodes: Vec<String>,
    links: Vec<String>,
}

impl<'d> Drawer<'d> {
    /// For a scenario.
    pub fn new(dice: &'d mut Dice, scenario: &Value) -> Self {
        let items = |list: &str| scenario[list].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let links: Vec<String> = items("link").iter().map(|link| text(&link["name"])).collect();
        let mut nodes: Vec<String> =
            items("link").iter().flat_map(|link| [0, 1].map(|i| text(&link["between"][i]))).collect();
        for radio in ["cell", "hsdpa", "mbms"].iter().flat_map(|radio| items(radio)) {
            nodes.push(format!("{}.ue[0]", text(&radio["name"])));
        }
        nodes.extend(items("group").iter().map(|group| text(&group["name"])));
        nodes.sort_unstable();
        nodes.dedup();
        Self { dice, nodes, links }
    }

    /// A value for `place`, which is the field `field`. Without `more` it has only what it needs.
    pub fn value(&mut self, place: &Place, field: &str, more: bool) -> Value {
        match place.kind() {
            Kind::Choice(choices) => {
                let (name, parameters) = self.dice.pick(&choices);
                match parameters {
                    None => json!(name),
                    Some(place) => json!({ *name: self.value(place, name, more) }),
                }
            }
            Kind::Table(fields) => {
                let mut table = Map::new();
                for (name, place, required) in fields {
                    if required || (more && self.dice.one_in(4)) {
                        // Deeper items are only there if they have to be: a queue can hold queues.
                        table.insert(name.to_owned(), self.value(&place, name, false));
                    }
                }
                table.into()
            }
            Kind::List(item, least, most) => {
                let count = least.max(1) + self.dice.below(most + 1 - least.max(1).min(most));
                (0..count.min(most)).map(|_| self.value(&item, field, false)).collect()
            }
            Kind::Tuple(items) => items.iter().map(|item| self.value(item, field, false)).collect(),
            Kind::Forms(forms) => {
                let form = self.dice.below(forms.len());
                self.value(&forms[form], field, more)
            }
            Kind::Switch => json!(self.dice.one_in(2)),
            Kind::Integer(least, most) => {
                let most = (most as f64).min(least as f64 + MANY);
                json!((least as f64 - 1.0 + self.dice.log(1.0, most - least as f64 + 1.99)).max(least as f64) as u64)
            }
            Kind::Number(least, most) => {
                let least = least.unwrap_or(0.0);
                let most = most.unwrap_or(least + MANY);
                json!(least + (most - least) * self.dice.log(1e-3, 1.0))
            }
            Kind::Quantity(pattern) => json!(self.quantity(pattern)),
            Kind::Text => json!(self.text(field)),
        }
    }

    /// A number with a unit.
    fn quantity(&mut self, pattern: &str) -> String {
        let unit = pattern.trim_end_matches("\\s*$").rsplit("\\s*").next().unwrap_or_default();
        let (least, most, unit) = match unit {
            "(ns|us|ms|s|min|h)" if self.dice.one_in(8) => return "0 s".to_owned(),
            "(ns|us|ms|s|min|h)" if self.dice.one_in(4) => (1e6, 1e8, "us"),
            "(ns|us|ms|s|min|h)" => (1.0, 3e6, "us"),
            "[kMG]?bit/s" => (1e4, 4e6, "bit/s"),
            "(packets?|[kMG]?B)" if self.dice.one_in(2) => (1.0, 100.0, "packets"),
            "(packets?|[kMG]?B)" | "[kMG]?B" => (1.0, 1e5, "B"),
            "dB" => (0.1, 30.0, "dB"),
            "dBm" if self.dice.one_in(2) => return format!("-{:.1} dBm", self.dice.log(1.0, 120.0)),
            "dBm" => (0.1, 50.0, "dBm"),
            "m?W" => (1.0, 1e5, "mW"),
            "k?m" if self.dice.one_in(4) => (150.0, 5e3, "km"),
            "k?m" => (1.0, 5e3, "m"),
            "deg" => (0.1, 360.0, "deg"),
            "(m/s|km/h)" => (0.1, 300.0, "m/s"),
            unit => panic!("what is a {unit}? {pattern}"),
        };
        let number = self.dice.log(least, most);
        let signed = if ["dB", "m"].contains(&unit) && self.dice.one_in(4) { -number } else { number };
        let whole = ["packets", "B", "us", "bit/s"].contains(&unit);
        if whole { format!("{} {unit}", libm::round(signed)) } else { format!("{signed:.2} {unit}") }
    }

    /// A text: most of them are names of nodes.
    fn text(&mut self, field: &str) -> String {
        match field {
            "text" => ELEMENT_SETS.to_owned(),
            // Bit rates in kbit/s, and more frames than are left out when it begins again.
            "trace" => format!("150 900{}", "\n600 3500".repeat(21)),
            // Opportunities of a link, ms.
            "down" | "up" => format!("0\n1\n1\n{}", 2 + self.dice.below(30)),
            "name" => format!("x{}", self.dice.below(1_000_000)),
            "address" => format!("10.1.0.{}", 1 + self.dice.below(250)),
            "link" => self.dice.pick(&self.links).clone(),
            "quantities" | "transfer_quantities" => "timeouts".to_owned(),
            _ => self.dice.pick(&self.nodes).clone(),
        }
    }

    /// Writes at `place`, where `value` stands, the item at the end of `way`, and whatever that needs around it. False if this scenario has
    /// no place for it.
    pub fn place(&mut self, place: &Place, field: &str, value: &mut Value, way: &[Step]) -> bool {
        let Some((step, rest)) = way.split_first() else {
            // What holds more is left as it is.
            if !(value.is_object() || value.is_array()) {
                *value = self.value(place, field, true);
            }
            return true;
        };
        match (step, place.kind()) {
            (Step::Is(on), _) => {
                *value = json!(on);
                true
            }
            (Step::Choice(name), Kind::Choice(choices)) => {
                let Some((_, parameters)) = choices.into_iter().find(|choice| choice.0 == name) else { return false };
                let Some(place) = parameters else {
                    *value = json!(name);
                    return true;
                };
                let mut chosen = match value.get_mut(name) {
                    Some(chosen) => chosen.take(),
                    None => self.value(&place, name, rest.is_empty()),
                };
                let found = rest.is_empty() || self.place(&place, name, &mut chosen, rest);
                *value = json!({ name: chosen });
                found
            }
            (Step::Field(name), Kind::Table(fields)) => {
                let Some((_, inner, _)) = fields.iter().find(|field| field.0 == name) else { return false };
                if !value.is_object() {
                    *value = self.value(place, field, false);
                }
                let Some(table) = value.as_object_mut() else { return false };
                self.place(inner, name, table.entry(name.as_str()).or_insert(Value::Null), rest)
            }
            (Step::Item(_), Kind::List(item, ..)) => {
                if value.is_null() && place.name.starts_with("Scenario.") {
                    return false;
                }
                if !value.is_array() {
                    *value = self.value(place, field, false);
                }
                let Some(items) = value.as_array_mut().filter(|items| !items.is_empty()) else { return false };
                let at = self.dice.below(items.len());
                self.place(&item, field, &mut items[at], rest)
            }
            (Step::Item(i), Kind::Tuple(items)) => {
                if !value.is_array() {
                    *value = self.value(place, field, false);
                }
                value.get_mut(i).is_some_and(|value| self.place(&items[*i], field, value, rest))
            }
            (Step::Form(i), Kind::Forms(forms)) => {
                if Place::form(&forms, value) != *i {
                    *value = Value::Null;
                }
                self.place(&forms[*i], field, value, rest)
            }
            _ => false,
        }
    }
}
