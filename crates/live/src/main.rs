//! `lasthop-live SCENARIO OPTIONS`: a live run as tests and other programs ask for it, with the options as JSON; `lasthop-live --replay DIR OUT`
//! runs a recording again. People have `lasthop live`.
//!
//! Exit codes: that of the program; 2 if there can be no run; 3 if a strict run was late.

use std::path::Path;
use std::process::ExitCode;

use lasthop_core::scenario::{check, read};
use lasthop_live::plan::Plan;
use lasthop_live::{recording, results};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--replay", folder, out] => replay(Path::new(folder), Path::new(out)),
        [scenario, options] => plan(scenario, options).and_then(live),
        _ => Err("usage: lasthop-live SCENARIO OPTIONS, or --replay DIR OUT".to_owned()),
    };
    match outcome {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn plan(scenario: &str, options: &str) -> Result<Plan, String> {
    let document = read::file(scenario).map_err(|error| error.render(false))?;
    check(&document).map_err(|error| error.render(false))?;
    Plan::new(&document.scenario, serde_json::from_str(options).map_err(|error| error.to_string())?)
}

#[cfg(target_os = "linux")]
fn live(plan: Plan) -> Result<i32, String> {
    use lasthop_live::linux::{outer, run};

    if !outer::is_inner() {
        // What is wrong with the scenario is said before anything is made.
        plan.bridge()?;
        return outer::run("/proc/self/exe".as_ref(), std::env::args_os().skip(1));
    }
    let out = plan.options.record.clone();
    let ended = run::run(plan, None)?;
    if let Some(out) = out {
        results::write(&out, &ended.tables)?;
    }
    eprintln!("{}", ended.verdict);
    Ok(ended.code)
}

#[cfg(not(target_os = "linux"))]
fn live(_: Plan) -> Result<i32, String> {
    Err(lasthop_live::NEEDS_LINUX.to_owned())
}

fn replay(folder: &Path, out: &Path) -> Result<i32, String> {
    let replayed = recording::replay(folder, None, None).map_err(|error| error.to_string())?;
    results::write(out, &replayed.tables)?;
    Ok(0)
}
