//! An error in a scenario: its place, and its remedy, in the reader's words.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet, normalize_untrusted_str};
use serde::Serialize;

pub use crate::engine::fault::shown;

/// An error in a scenario. [`Diagnostic::render`] shows it with the line that it is about;
/// its fields serve programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The error, in one sentence.
    pub message: String,
    /// Where the scenario came from: a file's path, or what the caller calls it.
    pub origin: String,
    /// The line, from 1; `None` if the scenario is not a text, or the error concerns all of it.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    /// The place in the scenario, as in `link[0].queue`; empty if it concerns all of it.
    pub path: String,
    /// The expectation there, or the nearest valid name. May be empty.
    pub label: String,
    /// What else helps. May be empty.
    pub note: String,
    /// Other errors of the same scenario, in the order of its text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Self>,
    /// How many there are beyond these.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The line's text, and the part of it to underline.
    #[serde(skip)]
    pub(super) excerpt: Option<(String, Range<usize>)>,
}

/// How many errors of one scenario are kept.
pub(super) const MOST: usize = 10;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The longest part of a line that is kept: longer ones are cut around the place.
const EXCERPT_BYTES: usize = 4_000;

impl Diagnostic {
    /// An error that concerns all of `origin`.
    pub fn new(message: impl Into<String>, origin: &str) -> Self {
        Self {
            message: message.into(),
            origin: origin.to_owned(),
            line: None,
            column: None,
            path: String::new(),
            label: String::new(),
            note: String::new(),
            also: Vec::new(),
            more: 0,
            excerpt: None,
        }
    }

    /// The first of these errors, with the others; `None` if there is none. The same sentence is said once.
    pub(super) fn together(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        for error in errors {
            let again = |one: &Self| one.message == error.message;
            if again(&first) || first.also.iter().any(again) {
                continue;
            }
            if first.also.len() + 1 < MOST {
                first.also.push(error);
            } else {
                first.more += 1;
            }
        }
        Some(first)
    }

    /// Points at a part of `text`, or at the first line of that part.
    #[must_use]
    pub fn at(mut self, text: &str, span: Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let first = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let last = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let last = if text[first..last].ends_with('\r') { (last - 1).max(start) } else { last };
        let end = text.floor_char_boundary(span.end.clamp(start, last));
        self.line = Some(1 + text[..first].bytes().filter(|&b| b == b'\n').count());
        self.column = Some(1 + text[first..start].chars().count());
        let (low, high) = (start.saturating_sub(EXCERPT_BYTES / 2), start.saturating_add(EXCERPT_BYTES / 2));
        let (low, high) = (text.ceil_char_boundary(low.max(first)), text.floor_char_boundary(high.min(last)));
        let end = end.min(high).max(start);
        self.excerpt = Some((text[low..high].to_owned(), start - low..end - low));
        self
    }

    /// The errors as text for people, as rustc shows its own, without a newline at the end.
    pub fn render(&self, colour: bool) -> String {
        let mut text = self.render_one(colour);
        for error in &self.also {
            text += "\n\n";
            text += &error.render_one(colour);
        }
        match self.more {
            0 => text,
            more => format!("{text}\n\n… and {more} more errors"),
        }
    }

    fn render_one(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut group = Level::ERROR.primary_title(self.message.as_str()).elements(Vec::<Origin<'_>>::new());
        // Without a line to write it under, the label follows.
        let mut below: Vec<&str> = vec![&self.label, &self.note];
        if let (Some((line, span)), Some(number)) = (&self.excerpt, self.line) {
            let mark = AnnotationKind::Primary.span(span.clone());
            let mark = if self.label.is_empty() { mark } else { mark.label(self.label.as_str()) };
            let snippet = Snippet::source(line.as_str()).path(self.origin.as_str()).line_start(number);
            group = group.element(snippet.annotation(mark));
            below.remove(0);
        } else {
            let place = if self.path.is_empty() { "" } else { ": " };
            group = group.element(Origin::path(format!("{}{place}{}", self.origin, self.path)));
        }
        for text in below.into_iter().filter(|t| !t.is_empty()) {
            group = group.element(Level::NOTE.no_name().message(normalize_untrusted_str(text)));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// A place in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Step>);

/// A step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the field of a table.
    Key(String),
    /// To the item of a list, from 0.
    Index(usize),
}

impl Path {
    /// Reads a path such as `link[0].queue.droptail`, whose names hold neither dots nor brackets.
    pub fn parse(text: &str) -> Self {
        let mut steps = Vec::new();
        for part in text.split('.').filter(|p| !p.is_empty()) {
            let (key, indices) = part.split_once('[').unwrap_or((part, ""));
            steps.push(Step::Key(key.to_owned()));
            let numbers = indices.split(['[', ']']).filter_map(|n| n.parse().ok());
            steps.extend(numbers.map(Step::Index));
        }
        Self(steps)
    }

    /// The name of the innermost field, if the path has one.
    pub fn field(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// The field that an error is about, for a sentence: `"between[1]"`, or `the scenario`.
    pub fn subject(&self) -> String {
        let start = self.0.iter().rposition(|step| matches!(step, Step::Key(_))).unwrap_or(0);
        if self.0.is_empty() { "the scenario".to_owned() } else { format!("\"{}\"", Self(self.0[start..].to_vec())) }
    }

    /// The field as TOML names it in the innermost list's part: `queue.droptail` of `link[0].queue.droptail`.
    #[must_use]
    pub fn in_part(&self) -> Self {
        let start = self.0.iter().rposition(|step| matches!(step, Step::Index(_))).map_or(0, |index| index + 1);
        Self(self.0[start..].to_vec())
    }

    /// The field as TOML names it in a heading: `group.join` of `group[0].join`.
    #[must_use]
    pub fn heading(&self) -> Self {
        Self(self.0.iter().filter(|step| matches!(step, Step::Key(_))).cloned().collect())
    }

    /// The path to a field below this one.
    #[must_use]
    pub fn join(&self, field: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(field.to_owned()));
        Self(steps)
    }

    /// The path to the table or list around its last step.
    #[must_use]
    pub fn parent(&self) -> Self {
        Self(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    let bare = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
                    let dot = if i == 0 { "" } else { "." };
                    if bare && !key.is_empty() { write!(f, "{dot}{key}")? } else { write!(f, "{dot}{}", shown(key))? }
                }
            }
        }
        Ok(())
    }
}

/// The one of `known` that `name` was probably meant to be.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer names are not typing errors, and comparing costs the product of the lengths.
    const MOST: usize = 64;
    if name.len() > MOST {
        return None;
    }
    let lower = name.to_lowercase().replace('-', "_");
    let allowed = (lower.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|k| k.len() <= MOST)
        .map(|k| (strsim::osa_distance(&lower, &k.to_lowercase().replace('-', "_")), k))
        .filter(|&(distance, k)| distance <= allowed && distance < lower.len().max(k.len()))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, k)| k)
}

/// Names as a note, cut to its length.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 160;
    let mut out = String::new();
    for name in names {
        if out.len() + name.len() > MOST {
            out.push_str(if out.is_empty() { "…" } else { ", …" });
            break;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(name);
    }
    out
}
