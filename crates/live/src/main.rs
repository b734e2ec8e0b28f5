//! `lasthop-live`: runs a scenario by the wall clock, with real programs at its nodes; or a recording of such a run, without a clock.
//!
//! Exit codes: that of the program; 2 if there can be no run; 3 if a strict run was late.

use std::path::Path;
use std::process::ExitCode;

use lasthop_live::plan::{self, Command};
use lasthop_live::{recording, results};

fn main() -> ExitCode {
    let outcome = plan::read_command(std::env::args_os().skip(1)).and_then(|command| match command {
        Command::Help => {
            println!("{}", plan::USAGE);
            Ok(0)
        }
        Command::Replay(folder, out) => replay(&folder, out.as_deref()),
        Command::Run(plan) => live(*plan),
    });
    match outcome {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

#[cfg(target_os = "linux")]
fn live(plan: plan::Plan) -> Result<i32, String> {
    use lasthop_live::linux::{outer, run};

    if outer::is_inner() {
        return run::run(plan);
    }
    // What is wrong with the scenario is said before anything is made.
    plan.bridge()?;
    outer::run()
}

#[cfg(not(target_os = "linux"))]
fn live(_: plan::Plan) -> Result<i32, String> {
    Err("live needs Linux: network namespaces and TUN devices".to_owned())
}

fn replay(folder: &Path, out: Option<&Path>) -> Result<i32, String> {
    let replayed = recording::replay(folder).map_err(|error| error.to_string())?;
    let tables = results::tables(replayed.bridge, &replayed.lateness).map_err(|error| error.to_string())?;
    if let Some(out) = out {
        results::write(out, &tables)?;
    }
    Ok(0)
}
