//! Files that a scenario names: their texts take the places of their names, so a scenario that was read holds all that it needs.

use std::io::Read;
use std::path::Path as File;

use serde_json::Value;

use super::diagnostic::{Path, Step};

/// The fields that hold a long text, or the name of a file with it; `*` stands for each item of a list.
const FIELDS: [&[&str]; 4] = [
    &["link", "*", "trace", "down"],
    &["link", "*", "trace", "up"],
    &["flow", "*", "source", "encoder", "trace"],
    &["constellation", "*", "orbits", "tle", "text"],
];

/// The largest file that is read: a trace of a day at 12 Mbit/s has some 700 MB.
const MOST_BYTES: u64 = 1 << 30;

/// A file whose text stands in a scenario.
pub struct Attached {
    /// The field.
    pub path: Path,
    /// The file's name, as the scenario has it.
    pub name: String,
    /// Why it could not be read, if so.
    pub fault: Option<String>,
}

/// Puts the texts of files in `folder` in the places of their names. A text of one line that is no number is a name.
pub fn put_in(tree: &mut Value, folder: &File) -> Vec<Attached> {
    let mut attached = Vec::new();
    for field in FIELDS {
        walk(tree, field, &mut Vec::new(), folder, &mut attached);
    }
    attached
}

fn walk(value: &mut Value, way: &[&str], at: &mut Vec<Step>, folder: &File, attached: &mut Vec<Attached>) {
    let Some((step, rest)) = way.split_first() else {
        let Some(name) = value.as_str().filter(|text| is_name(text)).map(str::to_owned) else { return };
        let fault = match text(&folder.join(&name)) {
            Ok(mut text) => {
                // Read again, a text of one line would be a name.
                if is_name(&text) {
                    text.push('\n');
                }
                *value = Value::String(text);
                None
            }
            Err(fault) => Some(fault),
        };
        return attached.push(Attached { path: Path(at.clone()), name, fault });
    };
    if *step == "*" {
        for (item, n) in value.as_array_mut().into_iter().flatten().zip(0..) {
            at.push(Step::Index(n));
            walk(item, rest, at, folder, attached);
            at.pop();
        }
    } else if let Some(inner) = value.get_mut(step) {
        at.push(Step::Key((*step).to_owned()));
        walk(inner, rest, at, folder, attached);
        at.pop();
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('\n') && text.parse::<u64>().is_err()
}

fn text(file: &File) -> Result<String, String> {
    // A pipe or a device could keep a reader waiting for ever.
    let kind = std::fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file beside the scenario".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if !kind.is_file() {
        return Err("it is no file".to_owned());
    }
    if kind.len() > MOST_BYTES {
        return Err(format!("it is larger than {} MB", MOST_BYTES >> 20));
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        format!("line {line} is no text: it is not UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_that_is_no_number_is_a_name() {
        for (text, named) in [("driving.trace", true), ("1", false), ("0\n7", false), ("", false), ("a/b c", true)] {
            assert_eq!(is_name(text), named, "{text:?}");
        }
    }
}
