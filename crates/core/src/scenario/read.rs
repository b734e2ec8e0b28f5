//! From text to a [`Scenario`]: TOML, JSON, files. Errors name the place and the mend.
//!
//! What the values mean together is the business of [`super::check()`].

use std::io::Read;
use std::ops::Range;

use serde_json::Value;
use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{Of, Problem};
use super::diagnostic::{Diagnostic, MOST, Path, Step};
use super::tree::Tree;
use super::types::Scenario;
use super::wording::Wording;
use super::{attached, schema, wording};

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
    /// What was written, in JSON with the texts of files that it names; `None` if it names none.
    pub whole: Option<String>,
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
        Self { scenario, origin: origin.to_owned(), text: None, whole: None }
    }

    /// These problems in the order of the text, each shown at its place. `meant` says of a name that stands for nothing what it
    /// may have meant: label and note.
    pub(super) fn all(
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
        let mut problems: Vec<_> = problems.into_iter().map(|problem| (place(&problem), problem)).collect();
        problems.sort_by_key(|(place, _)| place.as_ref().map_or(0, |place| place.start));
        Diagnostic::together(problems.into_iter().map(|(place, problem)| {
            let Problem { path, message, mut label, mut note, unknown, .. } = problem;
            if let Some((name, of)) = unknown {
                let (near, known) = meant(&name, of);
                label = if label.is_empty() { near } else { label };
                note = known;
            }
            let diagnostic = Diagnostic { path, label, note, ..Diagnostic::new(message, &self.origin) };
            match place {
                Some(place) => diagnostic.at(text, place),
                None => diagnostic,
            }
        }))
    }
}

/// What is wrong, and where.
type Errors = Vec<(Wording, Path)>;

/// The scenario that a tree of tables is, with the texts of files that it names beside `origin`, or what is wrong with it.
fn with_files(written: &mut Value, origin: &str) -> Result<(Scenario, Option<String>), Errors> {
    let folder = std::path::Path::new(origin).parent().unwrap_or_else(|| std::path::Path::new(""));
    let attached = attached::put_in(written, folder);
    let faults = attached.iter().filter_map(|a| Some((Wording::of_file(&a.name, a.fault.as_ref()?), a.path.clone())));
    let faults: Vec<_> = faults.collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let scenario = scenario_of(written).map_err(|mut errors| {
        for (wording, path) in &mut errors {
            if let Some(file) = attached.iter().find(|file| file.path == *path) {
                wording.name_file(&file.name);
            }
        }
        errors
    })?;
    Ok((scenario, (!attached.is_empty()).then(|| written.to_string())))
}

/// The scenario that a tree of tables is, or what is wrong with its names and values.
///
/// Reading ends at an error. To find the next one, the field that is wrong is taken away, and the rest is read again.
fn scenario_of(written: &Value) -> Result<Scenario, Errors> {
    let mut errors = Vec::new();
    let mut left = written.clone();
    let mut taken: Vec<Path> = Vec::new();
    while errors.len() < MOST {
        let error = match serde_path_to_error::deserialize::<_, Scenario>(left.clone()) {
            Ok(scenario) if errors.is_empty() => return Ok(scenario),
            Ok(_) => break,
            Err(error) => error,
        };
        let path = steps(error.path());
        let (wording, path) = match listed(&left, &path) {
            Some(list) => (Wording::of_list(&list), list),
            None => wording::of(&error.inner().to_string(), path),
        };
        if taken.iter().any(|taken| taken == &path || taken.parent() == path) {
            break; // it may be wrong only because a field was taken away
        }
        errors.push((wording, path.clone()));
        if !take_away(&mut left, &path) {
            break;
        }
        taken.push(path);
    }
    Err(errors)
}

/// The outermost list on the way to `path` that stands where none may: serde reads one for a table, by the order of its fields.
fn listed(tree: &Value, path: &Path) -> Option<Path> {
    let mut tree = tree;
    (1..=path.0.len()).map(|length| Path(path.0[..length].to_vec())).find(|way| {
        let below = way.0.last().and_then(|step| match step {
            Step::Key(name) => tree.get(name),
            Step::Index(place) => tree.get(place),
        });
        tree = below.unwrap_or(&Value::Null);
        tree.is_array() && schema::is_table(way)
    })
}

/// Takes the field at `path` away, or says that it is none.
fn take_away(tree: &mut Value, path: &Path) -> bool {
    let Some((Step::Key(name), way)) = path.0.split_last() else { return false };
    let inner = way.iter().try_fold(tree, |tree, step| match step {
        Step::Key(name) => tree.get_mut(name),
        Step::Index(place) => tree.get_mut(place),
    });
    inner.and_then(Value::as_object_mut).is_some_and(|fields| fields.remove(name).is_some())
}

/// Reads TOML. `origin` names the text in errors.
///
/// # Errors
/// The first error of its syntax, or all of its names and values.
pub fn toml(text: &str, origin: &str) -> Result<Document, Diagnostic> {
    let mut written = toml_tree(text, origin)?;
    let (scenario, whole) = match with_files(&mut written, origin) {
        Ok(read) => read,
        Err(errors) => {
            let tree = DeTable::parse(text).ok();
            let place = |path: &Path, part| tree.as_ref().and_then(|tree| span(tree, path, part)).unwrap_or(0..0);
            let mut errors: Vec<_> = errors.into_iter().map(|(w, path)| (place(&path, w.part), w, path)).collect();
            errors.sort_by_key(|(place, ..)| place.start);
            let shown =
                errors.into_iter().map(|(place, wording, path)| wording.diagnostic(origin, &path).at(text, place));
            return Err(Diagnostic::together(shown).unwrap_or_else(|| Diagnostic::new("not a scenario", origin)));
        }
    };
    let document = Document { scenario, origin: origin.to_owned(), text: Some(text.to_owned()), whole };
    shape(&document, &written)?;
    Ok(document)
}

/// What a TOML text says, as JSON in the same order, whatever it means.
///
/// # Errors
/// The first error of its syntax.
pub fn toml_as_json(text: &str, origin: &str) -> Result<String, Diagnostic> {
    toml_tree(text, origin).map(|tree| tree.to_string())
}

fn toml_tree(text: &str, origin: &str) -> Result<Value, Diagnostic> {
    let Tree(written) = toml::from_str(text).map_err(|error: toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        let (message, label) = wording::toml_syntax(error.message(), text.get(span.clone()).unwrap_or_default());
        Diagnostic { label, ..Diagnostic::new(message, origin) }.at(text, span)
    })?;
    Ok(written)
}

/// Reads JSON, such as Python makes of a dictionary. Errors in names and values give the path.
///
/// # Errors
/// The first error of its syntax, or all of its names and values.
pub fn json(text: &str, origin: &str) -> Result<Document, Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        let message = "the scenario must be a table of fields";
        return Err(Diagnostic { label: "found a list".to_owned(), ..Diagnostic::new(message, origin) });
    }
    let Tree(mut written) = serde_json::from_str(text).map_err(|error| {
        let message = wording::json_syntax(&error.to_string());
        Diagnostic::new(message, origin).at(text, offset(text, error.line(), error.column()))
    })?;
    let (scenario, whole) = with_files(&mut written, origin).map_err(|errors| {
        let shown = errors.into_iter().map(|(wording, path)| wording.diagnostic(origin, &path));
        Diagnostic::together(shown).unwrap_or_else(|| Diagnostic::new("not a scenario", origin))
    })?;
    let document = Document { whole, ..Document::of(scenario, origin) };
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
    if schema::takes_lists(written) {
        return Ok(());
    }
    let read = serde_json::to_value(&document.scenario).unwrap_or_default();
    let mut todo = vec![(String::new(), written, &read)];
    while let Some((path, written, read)) = todo.pop() {
        match (written, read) {
            (Value::Array(_), Value::Object(_)) if !schema::takes_list(&Path::parse(&path)) => {
                let problem = Wording::of_list(&Path::parse(&path)).problem(path);
                return document.all(vec![problem], |_, _| Default::default()).map_or(Ok(()), Err);
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
