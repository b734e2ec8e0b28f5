//! `lasthop-endpoint`: one end of a session of TFRC, TFMCC, PGMCC or layered multicast over UDP.
//!
//! Exit codes: 0; 1 if a file is not whole; 2 if nothing can be run.

use std::process::ExitCode;

use lasthop_endpoint::plan::{self, Plan};

fn main() -> ExitCode {
    let outcome = plan::read(std::env::args_os().skip(1)).and_then(|plan| match plan {
        None => {
            println!("{}", plan::USAGE);
            Ok(0)
        }
        Some(plan) => run(&plan),
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
fn run(plan: &Plan) -> Result<i32, String> {
    lasthop_endpoint::run::run(plan)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &Plan) -> Result<i32, String> {
    Err("endpoints over sockets need Linux".to_owned())
}
