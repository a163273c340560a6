//! A run that is asked to stop, and two commands at the same journal or account.
#![cfg(unix)]

mod bench;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use bench::Bench;
use fleetload::sandbox::Scenario;

/// A run under way: it has told so many pieces of news.
fn under_way(
    bench: &Bench,
    arguments: &[&str],
    news: usize,
) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = bench
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    for _ in 0..news {
        line.clear();
        assert!(stdout.read_line(&mut line).expect("UTF-8") > 0, "the run ended before it told so much");
    }
    (child, stdout)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Reads what is left, so that the child never waits for a reader, and returns its exit code.
fn ended((mut child, stdout): (Child, BufReader<std::process::ChildStdout>)) -> Option<i32> {
    let _last_lines = stdout.lines().count();
    child.wait().expect("a child").code()
}

fn paced() -> Bench {
    let bench = Bench::new(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "rate = 90", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(250, 3));
    bench
}

#[test]
fn the_first_signal_lets_requests_come_home_and_a_later_run_finishes_without_doubt() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let bench = paced();
        let run = under_way(&bench, &["run", "companies.csv", "devices.csv", "--json"], 350);
        signal(&run.0, name);
        assert_eq!(ended(run), Some(5), "{name}");
        let made = bench.created("device").len();
        assert!(made > 0 && made < 250, "{made} devices were made before {name}");
        let counts = bench.counts(1);
        assert!(!counts.contains_key("sending") && !counts.contains_key("in_doubt"), "{name}: {counts:?}");
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(bench.created("device").len(), 250);
        bench.assert_exact(1);
    }
}

#[test]
fn a_second_run_on_the_same_journal_leaves_its_rows_to_the_first() {
    let bench = paced();
    let run = under_way(&bench, &["run", "companies.csv", "devices.csv", "--json"], 350);
    let more = bench::devices(300, 3)
        .lines()
        .enumerate()
        .filter(|(n, _)| *n == 0 || *n > 250)
        .fold(String::new(), |sheet, (_, line)| sheet + line + "\n");
    bench.write("more.csv", &more);
    let outcome = bench.fleetload(&["run", "more.csv", "--kind", "devices"]).expect_code(5);
    assert!(outcome.stdout.contains("another run of this journal"), "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(ended(run), Some(0));
    assert_eq!(bench.created("device").len(), 300, "the first run sent the rows of the second");
}

#[test]
fn another_journal_on_the_same_account_is_refused_while_the_first_runs() {
    let bench = paced();
    let run = under_way(&bench, &["run", "companies.csv", "devices.csv", "--json"], 350);
    let pid = run.0.id().to_string();
    bench.write("others.csv", &bench::companies(1));
    let outcome = bench
        .fleetload(&["run", "others.csv", "--kind", "companies", "--journal", "other.db"])
        .expect_code(6);
    assert!(outcome.stderr.contains(&pid), "who holds the account is named: {}", outcome.stderr);
    assert_eq!(ended(run), Some(0));
}
