//! The endpoints of the simulator between real hosts: TFRC, TFMCC, PGMCC and layered multicast over UDP sockets.
//!
//! [`host`] drives one end, without IO; [`wire`] has the layouts of datagrams, [`mod@file`] what carries a file whole over packets that may be lost.
//! [`plan`] reads the command line, [`tables`] writes what happened. Only [`run`] knows sockets and the clock.

pub mod file;
pub mod host;
pub mod plan;
pub mod tables;
pub mod wire;

#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
pub mod socket;

use std::ffi::OsString;
use std::io::Write as _;

/// Runs a command line, without the name of the program; its exit code: 0; 1 if a file is not whole; 2 if nothing can be run.
pub fn command(words: impl IntoIterator<Item = OsString>) -> i32 {
    let outcome = plan::read(words).and_then(|plan| match plan {
        None => {
            say(plan::USAGE);
            Ok(0)
        }
        Some(plan) => run_plan(&plan),
    });
    outcome.unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "error: {message}");
        2
    })
}

/// Writes a line to standard output. A closed pipe (EPIPE) is no error.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(target_os = "linux")]
fn run_plan(plan: &plan::Plan) -> Result<i32, String> {
    run::run(plan)
}

#[cfg(not(target_os = "linux"))]
fn run_plan(_: &plan::Plan) -> Result<i32, String> {
    Err("endpoints over sockets need Linux".to_owned())
}
