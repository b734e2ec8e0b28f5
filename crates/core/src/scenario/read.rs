//! From text to a [`Scenario`]: TOML, JSON, files. Errors name the place and the mend.
//!
//! What the values mean together is the business of [`super::check`].

use std::io::Read;
use std::ops::Range;

use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{Of, Problem};
use super::diagnostic::{Diagnostic, Path, Step};
use super::tree::Tree;
use super::types::Scenario;
use super::{schema, wording};

/// The largest file that is read.
const FILE_BYTES: u64 = 16_000_000;

/// A scenario, and the text it was read from, so that later checks can point at a line.
#[derive(Clone, Debug)]
pub struct Document {
    /// The scenario.
    pub scenario: Scenario,
    /// Where it came from.
    pub origin: String,
    /// The TOML text; `None` if it was JSON, whose places are paths.
    text: Option<String>,
}

/// The part of a field that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its name.
    Key,
    /// Its value.
    Value,
}

impl Document {
    /// A scenario made by a program, whose errors have a path and no line.
    pub fn of(scenario: Scenario, origin: &str) -> Self {
        Self { scenario, origin: origin.to_owned(), text: None }
    }

    /// The first of these problems in the order of the text, shown at its place. `meant` says of a name that stands for nothing what it
    /// may have meant: label and note.
    pub(super) fn first(
        &self,
        problems: Vec<Problem>,
        meant: impl Fn(&str, Of) -> (String, String),
    ) -> Option<Diagnostic> {
        if problems.is_empty() {
            return None;
        }
        let text = self.text.as_deref().unwrap_or_default();
        let tree = DeTable::parse(text).ok();
        let place = |p: &Problem| tree.as_ref().and_then(|t| span(t, &Path::parse(&p.path), p.part));
        let places = problems.iter().map(place).collect::<Vec<_>>();
        let order = |place: &Option<Range<usize>>| place.as_ref().map_or(0, |p| p.start);
        let (problem, place) = problems.into_iter().zip(places).min_by_key(|(_, place)| order(place))?;
        let Problem { path, message, mut label, mut note, unknown, .. } = problem;
        if let Some((name, of)) = unknown {
            let (near, known) = meant(&name, of);
            label = if label.is_empty() { near } else { label };
            note = known;
        }
        let diagnostic = Diagnostic { path, label, note, ..Diagnostic::new(message, &self.origin) };
        Some(match place {
            Some(place) => diagnostic.at(text, place),
            None => diagnostic,
        })
    }
}

/// Reads TOML. `origin` names the text in errors.
///
/// # Errors
/// The first thing that is wrong with its syntax, its names or its values.
pub fn toml(text: &str, origin: &str) -> Result<Document, Diagnostic> {
    let syntax = |error: &toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        let (message, label) = wording::toml_syntax(error.message(), text.get(span.clone()).unwrap_or_default());
        Diagnostic { label, ..Diagnostic::new(message, origin) }.at(text, span)
    };
    let Tree(written) = toml::from_str(text).map_err(|e| syntax(&e))?;
    let scenario = serde_path_to_error::deserialize(written.clone()).map_err(|error| {
        let (wording, path) = wording::of(&error.inner().to_string(), steps(error.path()));
        let place = DeTable::parse(text).ok().and_then(|tree| span(&tree, &path, wording.part));
        wording.diagnostic(origin, &path).at(text, place.unwrap_or(0..0))
    })?;
    let document = Document { scenario, origin: origin.to_owned(), text: Some(text.to_owned()) };
    shape(&document, &written)?;
    Ok(document)
}

/// Reads JSON, such as Python makes of a dictionary. Errors in names and values give the path.
///
/// # Errors
/// The first thing that is wrong with its syntax, its names or its values.
pub fn json(text: &str, origin: &str) -> Result<Document, Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        let message = "the scenario must be a table of fields";
        return Err(Diagnostic { label: "found a list".to_owned(), ..Diagnostic::new(message, origin) });
    }
    let Tree(written) = serde_json::from_str(text).map_err(|error| {
        let message = wording::json_syntax(&error.to_string());
        Diagnostic::new(message, origin).at(text, offset(text, error.line(), error.column()))
    })?;
    let scenario = serde_path_to_error::deserialize(written.clone()).map_err(|error| {
        let (wording, path) = wording::of(&error.inner().to_string(), steps(error.path()));
        wording.diagnostic(origin, &path)
    })?;
    let document = Document::of(scenario, origin);
    shape(&document, &written)?;
    Ok(document)
}

/// Reads a file: JSON if its name ends in `.json`, TOML otherwise. A scenario without a name
/// gets the file's.
///
/// # Errors
/// If it cannot be read, or is wrong.
pub fn file(path: impl AsRef<std::path::Path>) -> Result<Document, Diagnostic> {
    let path = path.as_ref();
    let origin = path.display().to_string();
    let refuse = |why: String| Err(Diagnostic::new(why, &origin));
    if path.is_dir() {
        return refuse("this is a directory; expected a scenario file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(FILE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return refuse(match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "no permission to read this file".to_owned(),
            _ => format!("this file cannot be read: {error}"),
        });
    }
    if bytes.len() as u64 > FILE_BYTES {
        return refuse(format!("this file is larger than {} MB; is it a scenario?", FILE_BYTES / 1_000_000));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|&&b| b == b'\n').count();
            let diagnostic = Diagnostic::new("this is not a text file: it is not UTF-8", &origin);
            return Err(Diagnostic { line: Some(line), note: format!("first seen in line {line}"), ..diagnostic });
        }
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return refuse("this file is empty; expected a scenario (`lasthop new` writes one to start from)".to_owned());
    }
    let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let mut document = if is_json { json(&text, &origin) } else { toml(&text, &origin) }?;
    if document.scenario.name.is_empty() {
        document.scenario.name = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    }
    Ok(document)
}

/// Refuses what serde lets pass: a list where a table belongs, which it reads by position.
fn shape(document: &Document, written: &serde_json::Value) -> Result<(), Diagnostic> {
    use serde_json::Value;
    if schema::takes_lists(written) {
        return Ok(());
    }
    let read = serde_json::to_value(&document.scenario).unwrap_or_default();
    let mut todo = vec![(String::new(), written, &read)];
    while let Some((path, written, read)) = todo.pop() {
        match (written, read) {
            (Value::Array(_), Value::Object(_)) if !schema::takes_list(&Path::parse(&path)) => {
                let message = format!("{} must be a table of fields", Path::parse(&path).subject());
                let label = "found a list".to_owned();
                let problem = Problem { path, part: Part::Value, message, label, note: String::new(), unknown: None };
                return document.first(vec![problem], |_, _| Default::default()).map_or(Ok(()), Err);
            }
            (Value::Array(written), Value::Array(read)) => {
                let items = written.iter().zip(read).enumerate().rev();
                todo.extend(items.map(|(i, (written, read))| (format!("{path}[{i}]"), written, read)));
            }
            (Value::Object(written), Value::Object(read)) => {
                let fields = written.iter().rev().filter_map(|(key, value)| Some((key, value, read.get(key)?)));
                let dot = if path.is_empty() { "" } else { "." };
                todo.extend(fields.map(|(key, written, read)| (format!("{path}{dot}{key}"), written, read)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path that serde followed.
fn steps(path: &serde_path_to_error::Path) -> Path {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { variant } => Some(Step::Key(variant.clone())),
        Segment::Unknown => None,
    };
    Path(path.iter().filter_map(step).collect())
}

/// Where a field, or its value, stands in a TOML document: the innermost part of `path` that exists.
fn span(root: &Spanned<DeTable<'_>>, path: &Path, part: Part) -> Option<Range<usize>> {
    let (mut value, mut key): (Option<&Spanned<DeValue<'_>>>, _) = (None, None);
    for step in &path.0 {
        let inner = match (step, value.map(Spanned::get_ref)) {
            (Step::Key(name), None) => entry(root.get_ref(), name),
            (Step::Key(name), Some(DeValue::Table(table))) => entry(table, name),
            (Step::Index(i), Some(DeValue::Array(array))) => array.get(*i).map(|item| (item.span(), item)),
            _ => None,
        };
        let Some((place, inner)) = inner else { break };
        (key, value) = (Some(place), Some(inner));
    }
    match part {
        Part::Key => key,
        Part::Value => value.map(Spanned::span),
    }
}

/// The place of a table's key, and its value.
fn entry<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<(Range<usize>, &'t Spanned<DeValue<'i>>)> {
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(key, value)| (key.span(), value))
}

/// A line and a column in bytes, both from 1, as an offset.
fn offset(text: &str, line: usize, column: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = text.floor_char_boundary((start + column.saturating_sub(1)).min(text.len()));
    at..at + text[at..].chars().next().map_or(0, char::len_utf8)
}
