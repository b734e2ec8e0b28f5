//! Errors of the parsers and of serde, in the words of a writer of scenarios.

use super::check::Problem;
use super::diagnostic::{Diagnostic, Path, listed, nearest, shown};
use super::read::Part;
use super::{hints, schema};

/// What serde_json expects in place of a list that is too long.
const TOO_LONG: &str = "fewer elements in array";

/// An error in a name or in a value.
#[derive(Debug)]
pub struct Wording {
    message: String,
    label: String,
    note: String,
    /// Whether it stands at the field's name or at its value.
    pub part: Part,
}

impl Wording {
    fn new(part: Part, message: String, label: String, note: String) -> Self {
        Self { message, label, note, part }
    }

    /// The file `name`, which a field names, cannot be read.
    pub fn of_file(name: &str, fault: &str) -> Self {
        let note = "The name of a file beside the scenario, or its lines.".to_owned();
        Self::new(Part::Value, format!("the file {}: {fault}", shown(name)), String::new(), note)
    }

    /// At `path` stands a list where a table belongs.
    pub fn of_list(path: &Path) -> Self {
        let message = format!("{} must be a table of fields", path.subject());
        let label = format!("found a list; one table is written [{}]", path.heading());
        Self::new(Part::Value, message, label, known_names(&hints::fields(path), path.field()))
    }

    /// What is wrong stands in this file.
    pub fn name_file(&mut self, name: &str) {
        self.message = format!("the file {}: {}", shown(name), self.message);
    }

    /// The error at `path`, for [`Document::all`](super::read::Document::all).
    pub(super) fn problem(self, path: String) -> Problem {
        let Self { message, label, note, part } = self;
        Problem { path, part, message, label, note, unknown: None }
    }

    /// The error at `path` of the scenario `origin`, as yet without its line.
    pub fn diagnostic(self, origin: &str, path: &Path) -> Diagnostic {
        let Self { message, label, note, .. } = self;
        Diagnostic { path: path.to_string(), label, note, ..Diagnostic::new(message, origin) }
    }
}

/// Rewrites serde's `message` about the field at `path`, and gives the place that it is about.
pub fn of(message: &str, path: Path) -> (Wording, Path) {
    let wording = reworded(message, &path);
    // A configuration that checks itself names the parameter first: `` `size` must … ``.
    let named = message.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(name, _)| path.join(name));
    match named.filter(|path| schema::meaning(path).is_some()) {
        Some(path) => (wording, path),
        None => (wording, path),
    }
}

fn reworded(message: &str, path: &Path) -> Wording {
    let field = path.field().unwrap_or("scenario");
    let subject = path.subject();
    let meaning = || schema::meaning(path).unwrap_or_default();
    if let Some((name, known)) = message.strip_prefix("unknown field `").and_then(unexpected) {
        let section = path.parent();
        let place = if section.0.is_empty() { String::new() } else { format!(" in {section}") };
        let message = format!("unknown field {}{place}", shown(name));
        let label = if known.is_empty() { "nothing can be set here".into() } else { did_you_mean(name, &known) };
        return Wording::new(Part::Key, message, label, known_names(&known, section.field()));
    }
    if let Some(name) = quoted_after(message, "missing field `") {
        let place = if path.0.is_empty() { String::new() } else { format!(" in {path}") };
        let note = schema::meaning(&path.join(name)).map_or_else(String::new, |m| format!("{name}: {m}"));
        return Wording::new(Part::Value, format!("missing field \"{name}\"{place}"), "it is needed here".into(), note);
    }
    if let Some(name) = quoted_after(message, "duplicate field `") {
        let place = if path.0.is_empty() { String::new() } else { format!(" in {path}") };
        let message = format!("\"{name}\" is given twice{place}");
        return Wording::new(Part::Value, message, "keep one".into(), String::new());
    }
    if let Some((found, expected)) = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .and_then(|rest| rest.rsplit_once(", expected ").or_else(|| rest.split_once(", expected ")))
    {
        // The expectation may hold a comma itself; the value found is the user's.
        let (found, expected) = match message.split_once(", expected a") {
            Some((_, tail)) if expected_is_prose(tail) => (found, format!("a{tail}")),
            _ => (found, expected.to_owned()),
        };
        let message = format!("{subject} must be {}", type_in_words(&expected));
        if found == "map" && hints::takes_tables(path) {
            let label = format!("found one table; write [[{}]] each time, or a list of tables", path.heading());
            return Wording::new(Part::Value, message, label, meaning());
        }
        let label = format!("found {}", found_in_words(found));
        if expected.starts_with("struct ") {
            let word = found.strip_prefix("string \"").and_then(|rest| rest.strip_suffix('"'));
            let near = word.and_then(|word| Some((hints::field_with(path, word)?, word)));
            let label = near.map_or(label.clone(), |(name, word)| {
                format!("{label}; did you mean {} = {}?", below(path, &name), shown(word))
            });
            return Wording::new(Part::Value, message, label, known_names(&hints::fields(path), path.field()));
        }
        return Wording::new(Part::Value, message, label, meaning());
    }
    if let Some((length, expected)) =
        message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "))
    {
        let items = if length == "1" { "item" } else { "items" };
        let message = match (expected, schema::length(path)) {
            (TOO_LONG, Some(most)) => format!("{subject} must be a list of {most} items"),
            (TOO_LONG, None) => format!("{subject} must be a shorter list"),
            _ => format!("{subject} must be {}", type_in_words(expected)),
        };
        return Wording::new(Part::Value, message, format!("found {length} {items}"), meaning());
    }
    if message == "wanted string or table" {
        let message = format!("{subject} must be one of its words, in quotes");
        return Wording::new(Part::Value, message, String::new(), meaning());
    }
    if let Some((what, rest)) = message.strip_prefix("unknown ").and_then(|rest| rest.split_once(" `"))
        && let Some((name, known)) = unexpected(rest)
    {
        // serde's word for a value of an enumeration, which is no section of its own.
        let is_word = what == "variant";
        let is_key = path.field() == Some(name);
        let around = path.parent();
        let section = if is_word || is_key { around.field() } else { path.field() };
        let message = format!("unknown {} {}", if is_word { field } else { what }, shown(name));
        let part = if is_key { Part::Key } else { Part::Value };
        let mut label = did_you_mean(name, &known);
        if !is_word
            && !is_key
            && let Some(inner) = hints::field_with(path, name)
        {
            label = format!("did you mean {} = {}?", below(path, &inner), shown(name));
        }
        return Wording::new(part, message, label, known_names(&known, section));
    }
    sentence(message, field, meaning())
}

/// The field `inner` below that at `path`, as it is written in the part of the innermost list.
fn below(path: &Path, inner: &str) -> String {
    let outer = path.in_part();
    if outer.0.is_empty() { inner.to_owned() } else { format!("{outer}.{inner}") }
}

/// A sentence made by the types themselves: the error, then the expectation.
fn sentence(message: &str, field: &str, meaning: String) -> Wording {
    let message = cut(&message.replace('`', "\""));
    let (message, hint) = match message.rsplit_once("; did you mean ") {
        Some((message, hint)) => (message.to_owned(), format!("did you mean {hint}")),
        None => (message, String::new()),
    };
    match message.split_once(": expected ") {
        Some((wrong, expected)) if hint.is_empty() => {
            Wording::new(Part::Value, format!("{field}: {wrong}"), format!("expected {expected}"), meaning)
        }
        Some((wrong, expected)) => {
            Wording::new(Part::Value, format!("{field}: {wrong}"), hint, format!("expected {expected}"))
        }
        None => Wording::new(Part::Value, format!("{field}: {message}"), hint, meaning),
    }
}

/// Long sentences quote a long text of the user's: the middle is left out.
fn cut(message: &str) -> String {
    const MOST: usize = 300;
    if message.len() <= MOST {
        return message.to_owned();
    }
    let head = &message[..message.floor_char_boundary(60)];
    let tail = &message[message.ceil_char_boundary(message.len() - 160)..];
    format!("{head}…{tail}")
}

/// Splits ``x`, expected one of `a`, `b` `` into the unexpected name and the known ones.
fn unexpected(rest: &str) -> Option<(&str, Vec<&str>)> {
    if let Some(at) = rest.rfind("`, expected ") {
        // Known names are the odd pieces between back quotes.
        let known = rest[at + 1..].split('`').skip(1).step_by(2).collect();
        return Some((&rest[..at], known));
    }
    rest.strip_suffix("`, there are no fields").map(|name| (name, Vec::new()))
}

/// The name after `prefix`, which ends with the message.
fn quoted_after<'m>(message: &'m str, prefix: &str) -> Option<&'m str> {
    message.strip_prefix(prefix)?.strip_suffix('`')
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "not known here".to_owned(),
    }
}

fn known_names(known: &[&str], section: Option<&str>) -> String {
    if known.is_empty() {
        return String::new();
    }
    let section = section.map_or(String::new(), |s| format!(" {s}"));
    format!("known: {}   (lasthop schema{section})", listed(known.iter().copied()))
}

/// Whether the text after `, expected a` is one of our own types' sentences, commas and all.
fn expected_is_prose(tail: &str) -> bool {
    tail.contains("such as \"")
}

/// The type that serde expected.
fn type_in_words(expected: &str) -> String {
    if let Some(length) = expected.strip_prefix("an array of length ") {
        return format!("a list of {length} items");
    }
    let words = match expected {
        "a boolean" | "bool" => "true or false",
        "a string" | "str" | "string" | "a borrowed string" => "text",
        "a sequence" => "a list",
        "a map" => "a table",
        "string or map" => "a name, or a name with its parameters",
        "f64" | "f32" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, not negative",
        "i64" | "i32" => "a whole number",
        _ if expected.starts_with("struct ") => "a table of fields",
        _ => return expected.replace('`', "\""),
    };
    words.to_owned()
}

/// The value that serde found.
fn found_in_words(found: &str) -> String {
    let inside = |prefix: &str| {
        let rest = found.strip_prefix(prefix)?;
        Some(rest.split('`').next().unwrap_or(rest).to_owned())
    };
    if let Some(number) = inside("integer `") {
        return if number.len() > 20 {
            "a number that is too large".to_owned()
        } else {
            format!("the number {number}")
        };
    }
    if let Some(number) = inside("floating point `") {
        let short = number.parse::<f64>().map_or(number.clone(), |x| format!("{x:e}"));
        return format!("the number {}", if number.len() > 20 { short } else { number });
    }
    if let Some(truth) = inside("boolean `") {
        return truth;
    }
    if let Some(text) = found.strip_prefix("string \"").and_then(|t| t.strip_suffix('"')) {
        return format!("the text {}", shown(text));
    }
    match found {
        "map" => "a table or a date".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit value" => "nothing".to_owned(),
        other => cut(&other.replace('`', "\"")),
    }
}

/// Rewrites what the TOML parser says about the text that it underlines: the sentence, and a label.
pub fn toml_syntax(message: &str, underlined: &str) -> (String, String) {
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let expected = expected.replace('`', "\"");
    let (sentence, label) = match what {
        "duplicate key" if schema::is_repeated(underlined) => {
            return (format!("{} is given twice", shown(underlined)), format!("write [[{underlined}]] each time"));
        }
        "duplicate key" => (format!("{} is given twice", shown(underlined)), "keep one"),
        "key with no value" => ("a name without a value".to_owned(), "expected \"=\" and a value"),
        "string values must be quoted" => {
            ("a value is missing, or is not in quotes".to_owned(), "expected a value; text stands in quotes")
        }
        "unquoted keys cannot be empty" => ("a name is missing".to_owned(), "expected a name"),
        "invalid unquoted key" => {
            ("a name has letters, digits, \"_\" and \"-\" only".to_owned(), "put other names in quotes")
        }
        "invalid float" | "invalid boolean" => {
            (format!("{} is neither a number nor text in quotes", shown(underlined)), "text stands in quotes")
        }
        "unexpected key or value" => {
            ("more text after the value".to_owned(), "expected the end of the line; text stands in quotes")
        }
        "missing comma between array elements" => {
            ("a comma or a \"]\" is missing before this".to_owned(), "the list goes on here")
        }
        "cannot recurse further; max recursion depth met" | "recursion limit" => {
            ("nested too deeply".to_owned(), "a scenario has a few levels")
        }
        _ if what.starts_with("cannot extend value") => {
            (format!("{} has a value already", shown(underlined)), "nothing can be set below it")
        }
        "invalid literal string" | "invalid basic string" if expected.len() > 3 => {
            ("text holds a control character".to_owned(), "write it as an escape in double quotes, such as \"\\n\"")
        }
        "invalid literal string" | "invalid basic string" => ("text without its closing quote".to_owned(), ""),
        _ if what.starts_with("unclosed ") => return (what.to_owned(), format!("expected {expected}")),
        _ => {
            let label = match expected.as_str() {
                "" | "nothing" => String::new(),
                expected => format!("expected {expected}"),
            };
            return (cut(&what.replace('`', "\"")), label);
        }
    };
    (sentence, label.to_owned())
}

/// Rewrites what the JSON parser says, which ends with the place.
pub fn json_syntax(message: &str) -> String {
    let what = message.rsplit_once(" at line ").map_or(message, |(what, _)| what);
    match what {
        "recursion limit exceeded" => "nested too deeply".to_owned(),
        _ if what.starts_with("EOF while parsing") => {
            format!("the JSON ends within {}", &what["EOF while parsing".len()..].trim())
        }
        _ if what.ends_with(" is given twice") => what.to_owned(),
        _ => format!("this is not JSON: {what}"),
    }
}
