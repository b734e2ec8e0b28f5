//! A parameter that makes no sense beside its neighbours, as a configuration finds it; and how errors quote the value written.

use std::borrow::Cow;

/// What a configuration's check finds wrong. What a single value must be, its type says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter, below the configuration: `rto.min`.
    pub field: Cow<'static, str>,
    /// The error, in one sentence without a full stop.
    pub message: String,
    /// The expectation, or what to write instead. May be empty.
    pub expected: String,
}

impl Fault {
    /// A fault of the parameter `field`.
    pub fn new(field: &'static str, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), expected: expected.into() }
    }

    /// The same fault, found in the configuration that is the parameter `field`.
    #[must_use]
    pub fn inside(self, field: &'static str) -> Self {
        Self { message: format!("{}: {}", self.field, self.message), field: field.into(), ..self }
    }

    /// The same fault, with the path of the configuration in front of the parameter's.
    #[must_use]
    pub fn below(self, path: &str) -> Self {
        Self { field: format!("{path}.{}", self.field).into(), ..self }
    }
}

/// Text of the user's in double quotes, on one line and not too long.
pub fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut out = String::from("\"");
    for (i, c) in text.chars().enumerate() {
        if i == MOST {
            out.push('…');
            break;
        }
        match c {
            '\t' | '\n' | '\r' => out.extend(c.escape_default()),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
