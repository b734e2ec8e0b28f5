//! `lasthop-fidelity [FOLDER…] [--markdown FILE] [--jobs N]`: compares reference families with
//! runs of lasthop. A folder is a family, or holds several. Exit code 1 if a supported scenario
//! differs, 2 if the command line is wrong.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lasthop_fidelity::report::{self, Line};

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: lasthop-fidelity [FOLDER…] [--markdown FILE] [--jobs N]");
            return ExitCode::from(2);
        }
    };
    let mut lines: Vec<Line> = Vec::new();
    for folder in arguments.folders.iter().flat_map(|folder| families(folder)) {
        lines.extend(lasthop_fidelity::folder(&folder, arguments.jobs));
    }
    print!("{}", report::text(&lines));
    if let Some(file) = arguments.markdown
        && let Err(error) = std::fs::write(&file, report::markdown(&lines))
    {
        eprintln!("{}: {error}", file.display());
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(lines.is_empty() || lines.iter().any(|line| line.outcome.is_failure())))
}

/// The command line.
struct Arguments {
    folders: Vec<PathBuf>,
    markdown: Option<PathBuf>,
    jobs: usize,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self { folders: Vec::new(), markdown: None, jobs: 2 };
        while let Some(word) = words.next() {
            let mut value = |what: &str| words.next().ok_or_else(|| format!("{word} needs {what}"));
            match word.as_str() {
                "--markdown" => arguments.markdown = Some(value("a file")?.into()),
                "--jobs" => {
                    let text = value("a number")?;
                    arguments.jobs = text.parse().map_err(|_| format!("--jobs needs a number, not {text}"))?;
                }
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                folder => arguments.folders.push(folder.into()),
            }
        }
        if arguments.folders.is_empty() {
            let all = ["ns2", "ns2-2", "ns2-3", "eurane", "eurane-2", "modern", "modern-2", "traces", "live"];
            arguments.folders.extend(all.map(|folder| Path::new("tests/reference").join(folder)));
        }
        Ok(arguments)
    }
}

/// The folder itself if it has an index, or else those in it that have one, by name.
fn families(folder: &Path) -> Vec<PathBuf> {
    if folder.join("index.json").exists() {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(folder) else {
        // It is read again, and the failure reported, as a family.
        return vec![folder.to_owned()];
    };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("index.json").exists()).collect();
    folders.sort();
    folders
}
