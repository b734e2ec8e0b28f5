//! `lasthop-endpoint`: what `lasthop endpoint` is, as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = lasthop_endpoint::command(std::env::args_os().skip(1));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
