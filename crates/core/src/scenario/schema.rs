//! The schema of scenarios, made from the types: as JSON Schema, by section, as reference page.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::diagnostic::{Diagnostic, Path, Step, listed, nearest, shown};
use super::types::Scenario;

/// The JSON Schema (2020-12) of a scenario.
pub fn schema() -> &'static Value {
    // It is looked into for every list of a scenario, and takes a millisecond to make.
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = schemars::schema_for!(Scenario).to_value();
        name_configurations(&mut schema);
        schema
    });
    &SCHEMA
}

/// The JSON Schema of one section: a table or a choice by its name (`link`, `queue`, `tcp`), or
/// by its path (`flow.transport`). An empty name is the whole scenario.
///
/// # Errors
/// If there is no such section.
pub fn schema_of(section: &str) -> Result<Value, Diagnostic> {
    let root = schema();
    let sections = sections(root);
    let wanted = |s: &&Section<'_>| s.path == section || s.name() == section;
    let Some(found) = sections.iter().find(wanted) else {
        let names = sections.iter().map(Section::name).filter(|n| !n.is_empty());
        let mut diagnostic = Diagnostic::new(format!("the schema has no section {}", shown(section)), "schema");
        diagnostic.label =
            nearest(section, names.clone()).map_or_else(String::new, |near| format!("did you mean \"{near}\"?"));
        diagnostic.note = format!("known: {}", listed(names));
        return Err(diagnostic);
    };
    let mut schema = found.node.clone();
    let mut wanted = references(&schema);
    let mut definitions = Map::new();
    while let Some(name) = wanted.pop() {
        if let Some(definition) = root.pointer(&format!("/$defs/{name}"))
            && !definitions.contains_key(&name)
        {
            wanted.extend(references(definition));
            definitions.insert(name, definition.clone());
        }
    }
    if let Value::Object(schema) = &mut schema {
        schema.entry("$schema").or_insert_with(|| root["$schema"].clone());
        schema.entry("title").or_insert_with(|| section.into());
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
    }
    Ok(schema)
}

/// The number of items of the list at `path`, if it is fixed.
pub(super) fn length(path: &Path) -> Option<u64> {
    let root = schema();
    at(root, path)?.get("maxItems")?.as_u64()
}

/// Whether a list may stand at `path`.
pub(super) fn takes_list(path: &Path) -> bool {
    let root = schema();
    let Some(node) = at(root, path) else { return false };
    let is_list = |node: &Value| node.get("type").is_some_and(|kind| kind == "array");
    let node = resolved(root, node);
    let any = node.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    is_list(node) || any.into_iter().any(|form| is_list(resolved(root, form)))
}

/// Whether only a table may stand at `path`.
pub(super) fn is_table(path: &Path) -> bool {
    let root = schema();
    at(root, path).is_some_and(|node| resolved(root, node).get("properties").is_some())
}

/// Whether each list of a text stands where one may. All items of a list have one place, which is looked up once.
pub(super) fn takes_lists(written: &Value) -> bool {
    // Each place, and whether a list stands there.
    let mut places = vec![(Path::default(), false)];
    let mut below: BTreeMap<(usize, Option<&str>), usize> = BTreeMap::new();
    let mut todo = vec![(written, 0)];
    while let Some((value, place)) = todo.pop() {
        let parts: Vec<(Option<&str>, &Value)> = match value {
            Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (Some(name.as_str()), value)).collect(),
            _ => Vec::new(),
        };
        for (name, part) in parts.into_iter().filter(|(_, part)| part.is_array() || part.is_object()) {
            let inner = *below.entry((place, name)).or_insert(places.len());
            if inner == places.len() {
                let mut path = places[place].0.clone();
                path.0.push(name.map_or(Step::Index(0), |name| Step::Key(name.to_owned())));
                places.push((path, false));
            }
            places[inner].1 |= part.is_array();
            todo.push((part, inner));
        }
    }
    places.iter().all(|(path, is_list)| !is_list || takes_list(path))
}

/// What the field at `path` means, and what can stand there.
pub(super) fn meaning(path: &Path) -> Option<String> {
    let root = schema();
    let node = at(root, path)?;
    let own = text(node, "description");
    let kind = text(resolved(root, node), "description");
    let is_quantity = resolved(root, node).get("pattern").is_some();
    let all = if own.is_empty() || (is_quantity && own != kind) { format!("{own} {kind}") } else { own };
    Some(all.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The reference page in Markdown: every table and choice, its fields, types and defaults.
pub fn reference() -> String {
    let root = schema();
    let mut page = String::from("# Scenario reference\n");
    for section in sections(root) {
        let title = match section.path.as_str() {
            "" => "The scenario".to_owned(),
            path if section.is_list => format!("`[[{path}]]`"),
            path => format!("`{path}`"),
        };
        let _ = write!(page, "\n## {title}\n\n");
        for place in &section.also {
            let _ = write!(page, "Also `{place}`. ");
        }
        let description = text(section.node, "description");
        if !description.is_empty() {
            let _ = write!(page, "{description}\n\n");
        }
        match alternatives(section.node) {
            Some(choices) => choice_table(&mut page, &choices),
            None => field_table(&mut page, root, section.node),
        }
    }
    page
}

fn choice_table(page: &mut String, choices: &[(&str, &Value)]) {
    page.push_str("One of, alone or with its parameters below it:\n\n| name | meaning |\n|---|---|\n");
    for (name, choice) in choices {
        let _ = writeln!(page, "| `{name}` | {} |", cell(&text(choice, "description")));
    }
}

fn field_table(page: &mut String, root: &Value, node: &Value) {
    let Some(fields) = node.get("properties").and_then(Value::as_object) else {
        page.push_str("No parameters.\n");
        return;
    };
    page.push_str("| field | type | default | meaning |\n|---|---|---|---|\n");
    let mut words = String::new();
    for (name, field) in fields {
        let required = node.get("required").and_then(Value::as_array).is_some_and(|r| r.iter().any(|n| n == name));
        let default = match field.get("default") {
            _ if required => "required".to_owned(),
            None => String::new(),
            Some(default) => default_in_words(root, field, default),
        };
        let meaning = cell(&text(field, "description"));
        let _ = writeln!(page, "| `{name}` | {} | {default} | {meaning} |", cell(&type_in_words(root, field)));
        if let Some(values) = values(resolved(root, field)).filter(|v| v.iter().any(|(_, doc)| !doc.is_empty())) {
            let _ = write!(words, "\n`{name}` is one of\n\n");
            for (value, doc) in values {
                let _ = writeln!(words, "- `{value}`: {}", doc.replace('\n', " "));
            }
        }
    }
    page.push_str(&words);
}

/// The default of a field, as it would be written.
fn default_in_words(root: &Value, field: &Value, default: &Value) -> String {
    match default {
        Value::Null => String::new(),
        Value::String(text) if text.is_empty() => String::new(),
        Value::Object(choice) if alternatives(resolved(root, field)).is_some() => {
            choice.keys().next().map_or_else(String::new, |name| format!("`\"{name}\"`"))
        }
        Value::Object(_) => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        other => format!("`{other}`"),
    }
}

/// The type of a field: its unit, its range, or what it refers to.
fn type_in_words(root: &Value, field: &Value) -> String {
    let node = resolved(root, field);
    if let Some(values) = values(node) {
        return values.iter().map(|(value, _)| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    if alternatives(node).is_some() {
        return "a choice".to_owned();
    }
    if node.get("pattern").is_some() {
        let what = text(node, "description");
        return what.split(':').next().unwrap_or(&what).split(',').next().unwrap_or(&what).to_lowercase();
    }
    let kind = match node.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|k| *k != "null").unwrap_or(""),
        Some(Value::String(kind)) => kind,
        _ => "",
    };
    match kind {
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "number" if node.get("maximum") == Some(&1.into()) => "number from 0 to 1".to_owned(),
        "number" => "number".to_owned(),
        "object" => "table".to_owned(),
        "array" => match node.get("items") {
            Some(items) if resolved(root, items).get("properties").is_some() => "tables".to_owned(),
            Some(items) => match (node.get("minItems"), node.get("maxItems")) {
                (Some(least), Some(most)) if least == most => format!("{least} × {}", type_in_words(root, items)),
                _ => format!("list of {}", type_in_words(root, items)),
            },
            None => "list".to_owned(),
        },
        other => other.to_owned(),
    }
}

/// A table or choice of the schema.
struct Section<'s> {
    /// Where it first occurs, without indices: `flow.transport.tcp`.
    path: String,
    /// Where else it occurs.
    also: Vec<String>,
    /// Whether it is an item of a list.
    is_list: bool,
    node: &'s Value,
}

impl Section<'_> {
    fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or("")
    }
}

/// Whether a section of the scenario is a list of tables, written `[[name]]` each time.
pub(super) fn is_repeated(name: &str) -> bool {
    let field = schema().pointer(&format!("/properties/{name}"));
    field.is_some_and(|field| resolved(schema(), field).get("items").is_some())
}

/// Every table and choice, nearest to the root first.
fn sections(root: &Value) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut todo = VecDeque::from([(String::new(), false, root)]);
    while let Some((path, is_list, node)) = todo.pop_front() {
        let node = resolved(root, node);
        let (is_list, node) = match node.get("items") {
            Some(items) => (true, resolved(root, items)),
            None => (is_list, node),
        };
        if let Some(known) = sections.iter_mut().find(|s| std::ptr::eq(s.node, node)) {
            known.also.push(path);
            continue;
        }
        let dot = if path.is_empty() { "" } else { "." };
        if let Some(choices) = alternatives(node) {
            let inner = choices.iter().filter_map(|(name, choice)| {
                Some((format!("{path}{dot}{name}"), false, choice.get("properties")?.get(*name)?))
            });
            todo.extend(inner);
        } else if let Some(fields) = node.get("properties").and_then(Value::as_object) {
            todo.extend(fields.iter().map(|(name, field)| (format!("{path}{dot}{name}"), false, field)));
        } else {
            continue;
        }
        sections.push(Section { path, also: Vec::new(), is_list, node });
    }
    sections
}

/// The schema at `path`.
pub(super) fn at<'s>(root: &'s Value, path: &Path) -> Option<&'s Value> {
    path.0.iter().try_fold(root, |node, step| match step {
        Step::Key(name) => field(root, node, name),
        Step::Index(_) => resolved(root, node).get("items"),
    })
}

/// The field `name` of a table, or the choice of that name.
fn field<'s>(root: &'s Value, node: &'s Value, name: &str) -> Option<&'s Value> {
    let node = resolved(root, node);
    if let Some(choices) = alternatives(node) {
        let (_, choice) = choices.into_iter().find(|(n, _)| *n == name)?;
        return choice.get("properties")?.get(name);
    }
    node.get("properties")?.get(name)
}

/// Follows references, and lets go of `null` where a field may be left out.
pub(super) fn resolved<'s>(root: &'s Value, node: &'s Value) -> &'s Value {
    let mut node = node;
    loop {
        if let Some(name) = node.get("$ref").and_then(Value::as_str) {
            match root.pointer(name.trim_start_matches('#')) {
                Some(definition) => node = definition,
                None => return node,
            }
        } else if let Some([some, none]) = node.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
            && none.get("type").is_some_and(|t| t == "null")
        {
            node = some;
        } else {
            return node;
        }
    }
}

/// The alternatives of a choice (see [`crate::choice`]), by name.
pub(super) fn alternatives(node: &Value) -> Option<Vec<(&str, &Value)>> {
    let any = node.get("anyOf")?.as_array()?;
    // The names come first. Where they do not, these are several ways to write one thing.
    any.first()?.get("enum")?;
    let named = any.iter().filter_map(|choice| Some((choice.get("required")?.get(0)?.as_str()?, choice)));
    Some(named.collect::<Vec<_>>()).filter(|named| !named.is_empty())
}

/// The values of an enumeration, each with what it means.
pub(super) fn values(node: &Value) -> Option<Vec<(&str, String)>> {
    if let Some(values) = node.get("enum").and_then(Value::as_array) {
        return Some(values.iter().filter_map(Value::as_str).map(|v| (v, String::new())).collect());
    }
    let any = node.get("oneOf")?.as_array()?;
    any.iter().map(|v| Some((v.get("const")?.as_str()?, text(v, "description")))).collect()
}

/// Names the parameters of each choice for it (`Queue.droptail`), where schemars counts (`Config2`).
fn name_configurations(schema: &mut Value) {
    let mut names = BTreeMap::new();
    for (choice, node) in schema["$defs"].as_object().into_iter().flatten() {
        for (name, alternative) in alternatives(node).unwrap_or_default() {
            let target = alternative["properties"][name]["$ref"].as_str().unwrap_or_default();
            // What two choices offer is named for the first.
            names.entry(target.to_owned()).or_insert_with(|| format!("#/$defs/{choice}.{name}"));
        }
    }
    rename_references(schema, &names);
    let plain = |name: &str| name.trim_start_matches("#/$defs/").to_owned();
    if let Some(definitions) = schema["$defs"].as_object_mut() {
        let renamed = std::mem::take(definitions)
            .into_iter()
            .map(|(name, definition)| (names.get(&format!("#/$defs/{name}")).map_or(name, |n| plain(n)), definition));
        *definitions = renamed.collect();
    }
}

fn rename_references(node: &mut Value, names: &BTreeMap<String, String>) {
    match node {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(target) if key == "$ref" => {
                        if let Some(name) = names.get(target) {
                            target.clone_from(name);
                        }
                    }
                    value => rename_references(value, names),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, names)),
        _ => {}
    }
}

/// The names of the definitions to which a schema refers.
fn references(node: &Value) -> Vec<String> {
    match node {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(target) if key == "$ref" => vec![target.trim_start_matches("#/$defs/").to_owned()],
                value => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// The text of a keyword, its lines joined.
fn text(node: &Value, keyword: &str) -> String {
    node.get(keyword).and_then(Value::as_str).unwrap_or_default().replace('\n', " ")
}

/// Text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_by_name_and_by_path() {
        for (section, part) in [
            ("link", "between"),
            ("queue", "droptail"),
            ("droptail", "drop_front"),
            ("tcp", "initial_window"),
            ("flow.transport.tcp.rto", "granularity"),
            ("change", "in_flight"),
        ] {
            let schema = schema_of(section).unwrap();
            assert!(schema.to_string().contains(part), "{section}: {schema}");
            for name in references(&schema) {
                assert!(schema.pointer(&format!("/$defs/{name}")).is_some(), "{section} refers to {name}");
            }
        }
        let error = schema_of("queu").unwrap_err();
        assert_eq!(error.label, "did you mean \"queue\"?");
    }

    #[test]
    fn configurations_have_names_that_do_not_depend_on_their_order() {
        let schema = schema();
        let names: Vec<_> = schema["$defs"].as_object().unwrap().keys().collect();
        assert!(names.iter().any(|n| *n == "Queue.droptail"), "{names:?}");
        assert!(names.iter().all(|n| !n.starts_with("Config")), "{names:?}");
    }

    /// Two types of one name were one definition: the power of a channel was a choice of power controls.
    #[test]
    fn types_of_one_name_have_definitions_of_their_own() {
        for (field, unit) in [("hsdpa[0].air.power", "W"), ("cell[0].mobility.system[0].power", "dBm")] {
            let root = schema();
            let node = resolved(root, at(root, &Path::parse(field)).unwrap());
            assert!(text(node, "pattern").ends_with(&format!("{unit}\\s*$")), "{field}: {node}");
        }
        let schema = schema_of("cell.mobility").unwrap();
        assert!(schema.to_string().contains("loops"), "{schema}");
    }

    #[test]
    fn every_field_of_every_section_has_a_meaning() {
        let root = schema();
        for section in sections(root) {
            for (name, field) in section.node.get("properties").and_then(Value::as_object).into_iter().flatten() {
                assert!(!text(field, "description").is_empty(), "{}.{name} has no description", section.path);
            }
        }
    }

    #[test]
    fn the_reference_shows_types_defaults_and_meanings() {
        let page = reference();
        for line in [
            "| `delay` | a length of time | `\"10 ms\"` | The propagation delay, in both directions. Default: 10 ms. |",
            "| `name` | text | required | A name for results and changes. |",
            "| `droptail` | A FIFO that drops arriving packets when it is full. |",
            "## `[[link]]`",
            "## `flow.transport.tcp.rto`",
            "- `tahoe`: Fast retransmit, then slow start from one segment (Jacobson 1988).",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
    }

    #[test]
    fn a_path_has_the_meaning_of_its_field() {
        let meaning = meaning(&Path::parse("link[3].reverse.rate")).unwrap();
        assert!(meaning.starts_with("The rate. A data rate: number and unit"), "{meaning}");
        assert_eq!(super::meaning(&Path::parse("link[3].rat")), None);
    }
}
