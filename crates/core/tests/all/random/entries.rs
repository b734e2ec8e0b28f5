//! What a scenario can say, by its schema: each field, each thing that can be chosen, each word, and both values of a switch. A new line of
//! the registry or a new field is an entry by itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

use lasthop_core::scenario::schema::schema;
use serde_json::Value;

/// Every entry by its name, with the way to one of its places.
pub static ENTRIES: LazyLock<BTreeMap<String, Vec<Step>>> = LazyLock::new(entries);

/// A step from a value of a scenario to a value inside of it, or to what it shall be.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The field of a table.
    Field(String),
    /// An item of a list.
    Item(usize),
    /// The choice, and its parameters.
    Choice(String),
    /// One of several ways to write a value.
    Form(usize),
    /// The value of a switch.
    Is(bool),
}

/// What can stand at a place of a scenario.
pub enum Kind {
    /// One of these, some with parameters.
    Choice(Vec<(&'static str, Option<Place>)>),
    /// A table of fields; whether each is required.
    Table(Vec<(&'static str, Place, bool)>),
    /// A list of the same, with its least and largest length.
    List(Place, usize, usize),
    /// One value after another.
    Tuple(Vec<Place>),
    /// Several ways to write it.
    Forms(Vec<Place>),
    Switch,
    /// A whole number from, to.
    Integer(u64, u64),
    /// A number from, to, if anything is said of that.
    Number(Option<f64>, Option<f64>),
    /// A number and its unit, by the pattern that it follows.
    Quantity(&'static str),
    Text,
}

/// A place of the schema.
#[derive(Clone)]
pub struct Place {
    /// Its definition's name, or that of the table or choice around it and its own.
    pub name: String,
    node: &'static Value,
}

impl Place {
    /// The scenario itself.
    pub fn root() -> Self {
        Self { name: "Scenario".to_owned(), node: schema() }
    }

    /// A place inside of this one.
    fn inner(&self, step: &str, node: &'static Value) -> Self {
        let mut found = Self { name: format!("{}.{step}", self.name), node };
        // References are followed, and a value that may be left out is one that is there.
        loop {
            if let Some(name) = found.node.get("$ref").and_then(Value::as_str) {
                found.name = name.trim_start_matches("#/$defs/").to_owned();
                found.node = schema().pointer(name.trim_start_matches('#')).expect("a definition");
            } else if let Some([some, none]) = found.node.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
                && none.get("type").is_some_and(|kind| kind == "null")
            {
                found.node = some;
            } else {
                return found;
            }
        }
    }

    fn list(&self, keyword: &str) -> Option<&'static [Value]> {
        self.node.get(keyword)?.as_array().map(Vec::as_slice)
    }

    /// What can stand here.
    pub fn kind(&self) -> Kind {
        let bound = |keyword| self.node.get(keyword).and_then(Value::as_u64);
        if let Some(words) = self.list("enum") {
            return Kind::Choice(words.iter().filter_map(Value::as_str).map(|word| (word, None)).collect());
        }
        if let Some(choices) = self.list("oneOf") {
            return Kind::Choice(choices.iter().flat_map(|choice| self.alternative(choice)).collect());
        }
        match self.list("anyOf") {
            Some([names, choices @ ..]) if names.get("enum").is_some() => {
                let choices = choices.iter().flat_map(|choice| self.alternative(choice));
                // Controllers in Python run in the Python package alone, whose tests have their own wrong ones.
                return Kind::Choice(choices.filter(|(name, _)| *name != "python").collect());
            }
            Some(forms) => {
                let form = |(i, form)| self.inner(&format!("form {i}"), form);
                return Kind::Forms(forms.iter().enumerate().map(form).collect());
            }
            None => {}
        }
        if let Some(pattern) = self.node.get("pattern").and_then(Value::as_str) {
            return Kind::Quantity(pattern);
        }
        let kinds = self.list("type").unwrap_or_else(|| std::slice::from_ref(&self.node["type"]));
        match kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null") {
            Some("object") => {
                let required = self.list("required").unwrap_or_default();
                let fields = self.node.get("properties").and_then(Value::as_object).into_iter().flatten();
                let field = |(name, node): (&'static String, _)| {
                    (name.as_str(), self.inner(name, node), required.iter().any(|r| r == name))
                };
                Kind::Table(fields.map(field).collect())
            }
            Some("array") => match (self.list("prefixItems"), self.node.get("items")) {
                (Some(items), _) => {
                    Kind::Tuple((0..).zip(items).map(|(i, item)| self.inner(&i.to_string(), item)).collect())
                }
                (None, Some(item)) => {
                    let least = bound("minItems").unwrap_or(0);
                    let most = bound("maxItems").unwrap_or(least.max(3));
                    Kind::List(self.inner("item", item), least as usize, most as usize)
                }
                (None, None) => panic!("{} is a list of what?", self.name),
            },
            Some("boolean") => Kind::Switch,
            Some("integer") => Kind::Integer(bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(u64::MAX)),
            Some("number") => {
                let bound = |keyword| self.node.get(keyword).and_then(Value::as_f64);
                Kind::Number(bound("minimum"), bound("maximum"))
            }
            Some("string") => Kind::Text,
            kind => panic!("{} is {kind:?}, which no scenario is made of so far", self.name),
        }
    }

    /// A choice of the schema: a word, or a table with one field, whose name it is.
    fn alternative(&self, choice: &'static Value) -> Option<(&'static str, Option<Place>)> {
        if let Some(word) = choice.get("const") {
            return Some((word.as_str()?, None));
        }
        let name = choice.get("required")?.get(0)?.as_str()?;
        Some((name, Some(self.inner(name, choice.get("properties")?.get(name)?))))
    }

    /// Which of several ways to write it a value follows.
    pub fn form(forms: &[Place], value: &Value) -> usize {
        let is_list = |place: &Place| matches!(place.kind(), Kind::List(..) | Kind::Tuple(_));
        forms.iter().position(|form| is_list(form) == value.is_array()).unwrap_or(0)
    }
}

/// Every entry, by the shortest way.
fn entries() -> BTreeMap<String, Vec<Step>> {
    let mut entries = BTreeMap::new();
    let mut todo = VecDeque::from([(Place::root(), Vec::new())]);
    let mut known = BTreeSet::new();
    while let Some((place, way)) = todo.pop_front() {
        let further = |step| way.iter().cloned().chain([step]).collect::<Vec<_>>();
        // A name is defined once, whichever way leads to it.
        if !known.insert(place.name.clone()) {
            continue;
        }
        match place.kind() {
            Kind::Choice(choices) => {
                for (name, parameters) in choices {
                    let way = further(Step::Choice(name.to_owned()));
                    entries.insert(format!("{} = {name}", place.name), way.clone());
                    todo.extend(parameters.map(|place| (place, way)));
                }
            }
            Kind::Table(fields) => {
                for (name, field, _) in fields {
                    let way = further(Step::Field(name.to_owned()));
                    entries.insert(format!("{}.{name}", place.name), way.clone());
                    todo.push_back((field, way));
                }
            }
            Kind::List(item, ..) => todo.push_back((item, further(Step::Item(0)))),
            Kind::Tuple(items) => todo.extend((0..).zip(items).map(|(i, item)| (item, further(Step::Item(i))))),
            Kind::Forms(forms) => {
                for (i, form) in forms.into_iter().enumerate() {
                    let way = further(Step::Form(i));
                    entries.insert(form.name.clone(), way.clone());
                    todo.push_back((form, way));
                }
            }
            Kind::Switch => {
                for value in [true, false] {
                    entries.insert(format!("{} = {value}", place.name), further(Step::Is(value)));
                }
            }
            Kind::Integer(..) | Kind::Number(..) | Kind::Quantity(_) | Kind::Text => {}
        }
    }
    entries
}

/// Adds the entries that `value` says, which stands at `place`.
pub fn said(place: &Place, value: &Value, entries: &mut BTreeSet<String>) {
    match place.kind() {
        Kind::Choice(choices) => {
            let name = value.as_str().or_else(|| value.as_object()?.keys().next().map(String::as_str));
            let Some((name, parameters)) = choices.into_iter().find(|choice| Some(choice.0) == name) else { return };
            entries.insert(format!("{} = {name}", place.name));
            if let (Some(place), Some(value)) = (parameters, value.get(name)) {
                said(&place, value, entries);
            }
        }
        Kind::Table(fields) => {
            for (name, field, _) in fields {
                if let Some(value) = value.get(name) {
                    entries.insert(format!("{}.{name}", place.name));
                    said(&field, value, entries);
                }
            }
        }
        Kind::List(item, ..) => value.as_array().into_iter().flatten().for_each(|value| said(&item, value, entries)),
        Kind::Tuple(items) => {
            items
                .iter()
                .zip(value.as_array().into_iter().flatten())
                .for_each(|(item, value)| said(item, value, entries));
        }
        Kind::Forms(forms) => {
            let form = &forms[Place::form(&forms, value)];
            entries.insert(form.name.clone());
            said(form, value, entries);
        }
        Kind::Switch => {
            entries.insert(format!("{} = {value}", place.name));
        }
        Kind::Integer(..) | Kind::Number(..) | Kind::Quantity(_) | Kind::Text => {}
    }
}
