//! Metrics: what is written is in the OpenMetrics text form and agrees with the ledger of the service and the rows of the journal.

mod alerts;
mod file;
mod open_metrics;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::Bench;
use open_metrics::Metrics;

/// The metrics in a file of the bench.
fn written(bench: &Bench, name: &str) -> Metrics {
    let text = std::fs::read_to_string(bench.path(name)).expect("a metrics file");
    Metrics::parse(&text)
}

/// The metrics of the journal.
fn of_status(bench: &Bench) -> Metrics {
    Metrics::parse(&bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout)
}

/// What promtool says of its input, and its exit code; nothing where it is not installed.
#[expect(clippy::print_stderr, reason = "a test that does not look must say so")]
fn promtool(arguments: &[&str], input: &str) -> Option<(String, Option<i32>)> {
    let started = Command::new("promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("skipped: promtool is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = [output.stdout, output.stderr].concat();
    Some((String::from_utf8(text).expect("UTF-8"), output.status.code()))
}

/// A file of the project.
fn project(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
