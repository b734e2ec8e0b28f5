//! The outcome of each scenario, as text and as a Markdown table.

use std::fmt::Write;

/// A scenario and its outcome.
#[derive(Clone, Debug)]
pub struct Line {
    /// The folder.
    pub family: String,
    /// The scenario; empty if it is the folder itself.
    pub scenario: String,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The outcome of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of this number of events (or cells of a statistical comparison) agree.
    Same(usize),
    /// This number of means over seeds agree, and why not run by run.
    SameMeans(usize, String),
    /// Of this number of events at least one differs; the first one in words.
    Differs(usize, String),
    /// The same, and why that is.
    Explained(usize, String, String),
    /// It is not compared, for this reason.
    LeftOut(String),
    /// lasthop does not have what it needs.
    Unsupported(String),
    /// It cannot be read or built.
    Failed(String),
}

impl Outcome {
    /// Whether lasthop fails to do what ns-2 did, or cannot tell.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Differs(..) | Self::Failed(_))
    }

    /// Whether lasthop does what the reference did.
    pub fn agrees(&self) -> bool {
        matches!(self, Self::Same(_) | Self::SameMeans(..))
    }

    fn cells(&self) -> (String, String) {
        match self {
            Self::Same(events) => (events.to_string(), String::new()),
            Self::SameMeans(cells, why) => (cells.to_string(), format!("by means: {why}")),
            Self::Differs(events, first) => (events.to_string(), first.clone()),
            Self::Explained(events, first, cause) => (events.to_string(), format!("{first} (known: {cause})")),
            Self::LeftOut(why) => (String::new(), format!("left out: {why}")),
            Self::Unsupported(why) => (String::new(), format!("not supported: {why}")),
            Self::Failed(why) => (String::new(), format!("failed: {why}")),
        }
    }
}

const HEADINGS: [&str; 4] = ["family", "scenario", "events compared", "first difference"];

/// The lines as a table with aligned columns, and a summary.
pub fn text(lines: &[Line]) -> String {
    let rows: Vec<[String; 4]> = lines.iter().map(row).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].len()).chain([HEADINGS[i].len()]).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    let mut add = |r: [&str; 4]| {
        let _ = writeln!(
            text,
            "{:<w0$}  {:<w1$}  {:>w2$}  {}",
            r[0],
            r[1],
            r[2],
            r[3],
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2]
        );
    };
    add(HEADINGS);
    for row in &rows {
        add(row.each_ref().map(String::as_str));
    }
    text.push_str(&summary(lines));
    text
}

/// The lines as a Markdown table, and a summary.
pub fn markdown(lines: &[Line]) -> String {
    let mut text = format!("| {} |\n| --- | --- | ---: | --- |\n", HEADINGS.join(" | "));
    for line in lines {
        let _ = writeln!(text, "| {} |", row(line).map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text.push('\n');
    text.push_str(&summary(lines));
    text
}

fn row(line: &Line) -> [String; 4] {
    let (events, difference) = line.outcome.cells();
    [line.family.clone(), line.scenario.clone(), events, difference]
}

fn summary(lines: &[Line]) -> String {
    let count = |test: &dyn Fn(&Outcome) -> bool| lines.iter().filter(|l| test(&l.outcome)).count();
    format!(
        "{} scenarios agree, {} differ, {} more for a known cause, {} failed, {} are left out, {} are not supported\n",
        count(&|o| o.agrees()),
        count(&|o| matches!(o, Outcome::Differs(..))),
        count(&|o| matches!(o, Outcome::Explained(..))),
        count(&|o| matches!(o, Outcome::Failed(_))),
        count(&|o| matches!(o, Outcome::LeftOut(_))),
        count(&|o| matches!(o, Outcome::Unsupported(_))),
    )
}
