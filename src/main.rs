//! Starts fleetload, hands over to the command line and returns its exit code.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    fleetload::cli::main(std::env::args_os()).code().into()
}
