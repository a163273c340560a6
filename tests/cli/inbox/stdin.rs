//! `-`: a sheet from standard input, kept as a file so that everything that is advised about it can be typed.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use fleetload::sandbox::Scenario;

use crate::bench::{self, Bench, Outcome};

/// Runs the binary with a sheet on a pipe.
fn piped(bench: &Bench, arguments: &[&str], sheet: &[u8]) -> Outcome {
    let mut command = bench.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A command that refuses it before it has read it closes the pipe.
    drop(pipe.write_all(sheet));
    drop(pipe);
    Outcome::of(child.wait_with_output().expect("it ends"))
}

/// The only file that is kept.
fn kept(bench: &Bench) -> String {
    let kept = bench::below(&bench.path("fleetload.db.stdin"));
    assert_eq!(kept.len(), 1, "{kept:?}");
    kept[0].strip_prefix(bench.path("")).expect("in the folder").to_string_lossy().into_owned()
}

#[test]
fn a_sheet_on_a_pipe_is_checked_planned_and_run_and_what_is_advised_can_be_typed() {
    let bench = Bench::new(Scenario::default());
    let sheet = bench::companies(3);
    let told = piped(&bench, &["check", "-"], sheet.as_bytes()).expect_code(0).stderr;
    let file = kept(&bench);
    assert!(told.contains(&format!("kept as {file}")), "{told}");
    assert!(told.contains(&format!("fleetload plan {file}")) && !told.contains("plan -"), "{told}");
    let plan = told
        .lines()
        .map(str::trim_start)
        .find_map(|line| line.split_once("fleetload "))
        .expect("a command")
        .1;
    bench.fleetload(&plan.split(' ').collect::<Vec<_>>()).expect_code(0);

    let told = piped(&bench, &["run", "-"], sheet.as_bytes()).expect_code(0);
    assert!(!told.stderr.contains("/dev/stdin"), "{}", told.stderr);
    assert_eq!(bench.created("company").len(), 3);
    bench.assert_exact(1);
    assert_eq!(kept(&bench), file, "the same sheet is kept once");
    assert_eq!(fs::read_to_string(bench.path(&file)).expect("the sheet"), sheet);
    let source = bench.results(1)[0]["source"].as_str().expect("a source").to_owned();
    assert!(file.ends_with(source.split('!').next().expect("a file")), "{source}");

    // A device of the model that the option names.
    let devices = bench::devices(2, 3);
    piped(&bench, &["import", "-", "--kind", "devices"], devices.as_bytes()).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 2);
}

#[test]
fn a_sheet_with_errors_is_named_by_the_file_it_is_kept_in() {
    let bench = Bench::new(Scenario::default());
    let sheet = bench::companies(2).replace("Customer 1,+64 9 555 0001", "Customer 1,no number");
    let told = piped(&bench, &["run", "-"], sheet.as_bytes()).expect_code(3);
    let file = kept(&bench);
    let name = file.rsplit('/').next().expect("a name");
    assert!(told.stdout.contains(name), "{}", told.stdout);
    let told = piped(&bench, &["check", "-"], sheet.as_bytes()).expect_code(3).stderr;
    assert!(told.contains(&format!("fleetload check {file}")), "{told}");
    assert!(bench.created("company").is_empty());
}

#[test]
fn nothing_on_standard_input_is_an_error() {
    let bench = Bench::new(Scenario::default());
    for command in ["check", "plan", "import", "run"] {
        let told = piped(&bench, &[command, "-"], b"").expect_code(3).stderr;
        assert!(told.contains("standard input was empty"), "{told}");
    }
}

#[test]
#[cfg(unix)]
fn the_device_of_standard_input_is_standard_input() {
    let bench = Bench::new(Scenario::default());
    let told = piped(&bench, &["check", "/dev/stdin"], bench::companies(1).as_bytes()).expect_code(0).stderr;
    assert!(told.contains(&format!("fleetload plan {}", kept(&bench))), "{told}");
}
