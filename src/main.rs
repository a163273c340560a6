//! Starts fleetload, hands over to the command line and returns its exit code.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fleetload::cli::main(std::env::args_os()).code().into()
}
