//! How commands end: the exit code, and the last JSON object with `state`, `reason` and `exit_code`, from one table.

use crate::bench::{self, Bench, Outcome};
use fleetload::ending::End;
use fleetload::journal::Journal;
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

/// The last object of a command, which agrees with its exit code and with the table.
#[track_caller]
fn ended(outcome: &Outcome) -> Value {
    let last = outcome.stdout.lines().last().unwrap_or_default();
    let summary: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{outcome:?}"));
    assert_eq!(summary["object"], "summary", "{outcome:?}");
    assert_eq!(summary["exit_code"], outcome.code, "{outcome:?}");
    let reason = summary["reason"].as_str().unwrap_or_else(|| panic!("{summary}"));
    let end = End::parse(reason).unwrap_or_else(|| panic!("{reason} is not in the table"));
    assert_eq!(summary["state"], end.state().as_str(), "{summary}");
    summary
}

#[test]
fn every_command_ends_with_a_summary_of_state_reason_and_exit_code() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("wrong.csv", &bench::companies(2).replace("Customer 1", ""));
    let table: [(&[&str], &str, i32); 20] = [
        (&["status"], "journal-missing", 6),
        (&["check", "companies.csv"], "done", 0),
        (&["check", "wrong.csv", "--kind", "companies"], "sheets", 3),
        (&["check", "nowhere.csv"], "sheets", 3),
        (&["plan", "companies.csv"], "done", 0),
        (&["plan", "wrong.csv", "--kind", "companies"], "sheets", 3),
        (&["run", "wrong.csv", "--kind", "companies"], "sheets", 3),
        (&["import", "companies.csv"], "done", 0),
        (&["report"], "rows-waiting", 0),
        (&["status"], "rows-waiting", 0),
        (&["run"], "done", 0),
        (&["status"], "done", 0),
        (&["report"], "done", 0),
        (&["retry"], "done", 0),
        (&["resolve"], "done", 0),
        (&["cancel", "1"], "done", 0),
        (&["status", "9"], "usage", 2),
        (&["template", "--out", "blank.xlsx"], "done", 0),
        (&["explain", "exit"], "done", 0),
        (&["explain", "wheelbarrow"], "usage", 2),
    ];
    for (arguments, reason, code) in table {
        let outcome = bench.fleetload(&[arguments, &["--json"]].concat()).expect_code(code);
        // Of `status` and `report` the reason is that of the rows.
        let summary = outcome.summary();
        let got = (&summary["object"], &summary["reason"], &summary["exit_code"]);
        assert_eq!(got, (&"summary".into(), &reason.into(), &code.into()), "{arguments:?}: {summary}");
        let end = End::parse(reason).expect("a reason of the table");
        assert_eq!(summary["state"], end.state().as_str(), "{arguments:?}: {summary}");
        let of_journal = ["run", "import", "status", "report", "retry", "resolve", "cancel"];
        let has_journal = of_journal.contains(&arguments[0]) && code != 3 && code != 6;
        assert_eq!(summary["counts"].is_object(), has_journal, "{arguments:?}: {summary}");
    }
}

#[test]
fn a_mistake_of_the_command_line_is_an_error_and_a_summary_for_programs() {
    let bench = Bench::new(Scenario::default());
    for arguments in
        [&["run", "--bogus", "--json"][..], &["--json", "cancel"], &["--json"], &["plam", "--json"]]
    {
        let outcome = bench.fleetload(arguments).expect_code(2);
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{outcome:?}");
        let error: Value = serde_json::from_str(lines[0]).expect("JSON");
        assert!(!error.to_string().contains("\\\\n"), "a line break is one: {error}");
        assert_eq!((&error["object"], &error["reason"]), (&"error".into(), &"usage".into()), "{error}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
        assert_eq!(ended(&outcome)["reason"], "usage");
        assert!(!outcome.stderr.is_empty(), "people are told as well");
    }
    let outcome = bench.fleetload(&["run", "--bogus"]).expect_code(2);
    assert_eq!(outcome.stdout, "");
    assert_eq!(bench.fleetload(&["run", "--help", "--json"]).expect_code(0).stderr, "");
}

#[test]
fn a_variable_that_is_set_to_nothing_counts_as_not_set() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let names = ["PROFILE", "CONFIG", "JOURNAL", "REPORTS", "LOG_FORMAT", "CUSTOMER"];
    let blank = |arguments: &[&str]| {
        let mut command = bench.command(arguments);
        command.envs(names.map(|name| (format!("FLEETLOAD_{name}"), "")));
        Outcome::of(command.output().expect("the binary starts"))
    };
    let told = blank(&["check", "companies.csv"]).expect_code(0);
    assert!(told.stderr.contains("fleetload plan companies.csv\n"), "no option is advised: {}", told.stderr);
    blank(&["run", "companies.csv"]).expect_code(0);
    assert!(bench.path("fleetload.db").is_file() && bench.path("reports/1").is_dir());
}

#[test]
fn without_a_command_a_log_has_one_line_and_not_the_help() {
    let bench = Bench::new(Scenario::default());
    for format in [None, Some("text")] {
        let mut command = bench.command(&[]);
        command
            .env_remove("FLEETLOAD_LOG_FORMAT")
            .envs(format.map(|format| ("FLEETLOAD_LOG_FORMAT", format)));
        let told = Outcome::of(command.output().expect("the binary starts")).expect_code(2);
        let lines: Vec<&str> = told.stderr.lines().collect();
        assert!(lines[0].ends_with(" error   no command was given"), "{lines:?}");
        assert!(lines[1].ends_with("hint: to see the commands: fleetload --help"), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
    assert!(
        bench.fleetload(&[]).expect_code(2).stderr.contains("Usage: fleetload"),
        "at a terminal it is the help"
    );
}

#[test]
fn no_colour_is_no_colour_in_help_and_mistakes_too() {
    let bench = Bench::new(Scenario::default());
    for arguments in [&["--help"][..], &["call", "--help"], &["status", "--nonsense"]] {
        let told = |options: &[&str]| {
            let mut command = bench.command(&[options, arguments].concat());
            let outcome =
                Outcome::of(command.env("CLICOLOR_FORCE", "1").output().expect("the binary starts"));
            outcome.stdout + &outcome.stderr
        };
        assert!(told(&[]).contains('\u{1b}'), "{arguments:?}: the test would see colour");
        assert!(!told(&["--no-color"]).contains('\u{1b}'), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_a_failure_of_help_too_and_the_log_of_a_run_says_the_code_it_ends_with() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let full = |arguments: &[&str]| {
        let to = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        Outcome::of(bench.command(arguments).stdout(to).output().expect("the binary starts")).expect_code(1)
    };
    for arguments in [&["--help"][..], &["help"], &["--version"], &["call", "--help"]] {
        let told = full(arguments).stderr;
        assert!(told.contains("cannot write the result to standard output"), "{arguments:?}: {told}");
    }
    let told = full(&["run", "companies.csv"]).stderr;
    assert!(told.ends_with("run ended: failed (internal), exit code 1\n"), "{told}");
}

#[test]
fn the_second_run_of_a_journal_says_who_is_at_work_and_counts_the_rows() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    let _lock = journal.lock_for_run().expect("a lock file").expect("nobody else runs it");
    let summary = ended(&bench.fleetload(&["run", "--json"]).expect_code(5));
    assert_eq!((&summary["state"], &summary["reason"]), (&"stopped".into(), &"another-run".into()));
    assert_eq!(summary["counts"]["ready"], 2, "{summary}");
    let holder = &summary["held_by"];
    assert_eq!(holder["pid"], std::process::id(), "{summary}");
    assert!(holder["since"].as_str().is_some_and(|since| since.ends_with('Z')), "{summary}");
    for words in [&["exit", "5"][..], &["another-run"]] {
        let told = bench.fleetload(&[&["explain"], words].concat()).expect_code(0).stdout;
        assert!(told.contains("nother run is using this journal"), "{told}");
    }
}

#[test]
fn a_run_of_an_account_that_another_journal_has_says_which_one() {
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    let bench = Bench::new(Scenario::default().with_fault(stall));
    bench.write("companies.csv", &bench::companies(1));
    let mut first = bench.start(&["run", "companies.csv", "--json"]);
    first.hears(&["\"progress\""]);
    let outcome =
        bench.fleetload(&["run", "companies.csv", "--journal", "other.db", "--json"]).expect_code(6);
    let summary = ended(&outcome);
    assert_eq!(summary["reason"], "account-locked");
    assert_eq!(summary["held_by"]["pid"], first.id(), "{summary}");
    assert!(
        summary["held_by"]["journal"].as_str().is_some_and(|path| path.ends_with("fleetload.db")),
        "{summary}"
    );
    assert!(bench.fleetload(&["explain", "exit", "6"]).expect_code(0).stdout.contains("account-locked"));
}

#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_while_the_service_is_unreachable_is_stopped_and_not_parked() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("a profile");
    // Nothing listens on a port that only root may have.
    bench.write("fleetload.toml", &profile.replace(&bench.base_url(), "http://127.0.0.1:1"));
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.hears(&["\"unreachable\""]);
    run.signal("-TERM");
    let summary = ended(&run.ended().expect_code(5));
    assert_eq!((&summary["state"], &summary["reason"]), (&"stopped".into(), &"signal".into()));
    assert_eq!((&summary["resumes_at"], &summary["counts"]["created"]), (&Value::Null, &0.into()));
    let told = bench.summary(1);
    assert_eq!((&told["state"], &told["reason"]), (&"stopped".into(), &"signal".into()));
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("Stopped on request"), "the page says so too");
    bench.fleetload(&["report"]).expect_code(0);
    assert_eq!(bench.summary(1)["reason"], "signal", "and so does a report that is written later");
}

/// A pipe by which a process says that it has come to a named step, where it stays for ever.
#[cfg(all(unix, feature = "failpoints"))]
struct Held {
    pipe: std::path::PathBuf,
    run: crate::bench::child::UnderWay,
}

#[cfg(all(unix, feature = "failpoints"))]
impl Held {
    /// Starts a command that will stay at a step.
    fn start(bench: &Bench, arguments: &[&str], step: &str) -> Self {
        let pipe = bench.path("held");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let mut command = bench.command(arguments);
        command.env("FLEETLOAD_HOLDPOINT", format!("{step}={}", pipe.display()));
        Self { pipe, run: crate::bench::child::UnderWay::start(command) }
    }

    /// Waits until it is there.
    fn is_there(&self) {
        assert_eq!(std::fs::read_to_string(&self.pipe).expect("a pipe"), "here\n");
    }
}

#[cfg(all(unix, feature = "failpoints"))]
#[test]
fn a_signal_while_reports_are_written_ends_the_command_and_says_how_to_write_them() {
    for name in ["-INT", "-TERM"] {
        let bench = Bench::new(Scenario::default());
        bench.write("companies.csv", &bench::companies(3));
        let held = Held::start(&bench, &["run", "companies.csv", "--json"], "report.between-files");
        held.is_there();
        held.run.signal(name);
        let outcome = held.run.ended().expect_code(5);
        let summary = ended(&outcome);
        assert_eq!((&summary["state"], &summary["reason"]), (&"stopped".into(), &"signal".into()));
        assert_eq!(summary["counts"]["created"], 3, "{summary}");
        assert!(outcome.stderr.contains("to write the reports: fleetload report"), "{}", outcome.stderr);
        bench.fleetload(&["report"]).expect_code(0);
        assert_eq!(bench.counts(1), [("created".to_owned(), 3)].into());
    }
}

#[cfg(all(unix, feature = "failpoints"))]
#[test]
fn a_second_signal_ends_a_run_whose_journal_does_not_answer() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    let mut held = Held::start(&bench, &["run", "companies.csv", "--json"], "claim.in-transaction");
    held.is_there();
    held.run.signal("-INT");
    held.run.hears(&["\"draining\""]);
    held.run.signal("-INT");
    let outcome = held.run.ended().expect_code(5);
    assert_eq!(ended(&outcome)["reason"], "signal");
    assert!(outcome.stderr.contains("to go on: fleetload run"), "{}", outcome.stderr);
    assert!(bench.created("company").is_empty(), "nothing left before its claim was on disk");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    bench.assert_exact(1);
}

#[cfg(all(unix, feature = "failpoints"))]
#[test]
fn a_run_that_is_stopped_before_its_journal_is_checked_is_not_taken_for_killed_and_leaves_the_check_to_the_next()
 {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    let killed = bench.command(&["run", "companies.csv"]).env("FLEETLOAD_FAILPOINT", "run.begun").output();
    assert_eq!(killed.expect("the binary starts").status.code(), None);
    let status = || ended(&bench.fleetload(&["status", "--json"]))["reason"].clone();
    assert_eq!(status(), "killed");
    let mut held = Held::start(&bench, &["run", "--json"], "pages.check-begun");
    held.is_there();
    held.run.hears(&["\"event\":\"quota_used\""]);
    held.run.signal("-INT");
    held.run.hears(&["\"draining\""]);
    held.run.signal("-INT");
    assert_eq!(ended(&held.run.ended().expect_code(5))["reason"], "signal");
    assert!(bench.created("company").is_empty(), "nothing left before the journal was known to be whole");
    assert_eq!(status(), "signal");
    let is_check_due = || {
        let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
        journal.is_page_check_due().expect("a journal")
    };
    assert!(is_check_due(), "the next run looks at the pages");
    bench.fleetload(&["run"]).expect_code(0);
    assert!(!is_check_due());
    bench.assert_exact(1);
}

#[cfg(feature = "failpoints")]
#[test]
fn rows_are_never_in_a_journal_without_the_account_they_are_for() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let output = bench
        .command(&["run", "companies.csv"])
        .env("FLEETLOAD_FAILPOINT", "import.committed")
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), None, "it was killed there: {output:?}");
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    assert_eq!(journal.tally(None).expect("counts").total(), 2);
    assert_eq!(journal.account().expect("an account").expect("bound").client_id, bench::CLIENT);
}

#[cfg(unix)]
#[test]
fn a_run_that_cannot_take_its_lock_imports_nothing() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    // A file where the folder of the locks has to be.
    bench.write("state", "");
    let output = bench
        .command(&["run", "companies.csv", "--json"])
        .env("XDG_STATE_HOME", bench.path("state"))
        .output()
        .expect("the binary starts");
    let outcome = Outcome::of(output).expect_code(6);
    assert_eq!(ended(&outcome)["reason"], "journal");
    assert!(!bench.path("fleetload.db").exists(), "nothing was imported");
}

#[test]
fn help_is_given_about_help_and_rare_options_are_in_the_long_help_alone() {
    let bench = Bench::new(Scenario::default());
    let help = |arguments: &[&str]| bench.fleetload(arguments).expect_code(0).stdout;
    assert_eq!(help(&["help", "--help"]), help(&["help", "help"]));
    assert_eq!(help(&["help", "run", "--help"]), help(&["help", "run"]));
    let (short, long) = (help(&["run", "-h"]), help(&["run", "--help"]));
    for rare in ["--mac-form", "--reserve", "--any-storage", "--accept-journal"] {
        assert!(!short.contains(rare) && long.contains(rare), "{rare}");
    }
    for heading in ["Which sheets and rows:", "Columns:", "Rehearsal:", "Settings, for this command only:"] {
        assert!(short.contains(heading), "{heading}: {short}");
    }
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(help(&["run", "--help"])).contains("at most 80 characters"), "the longest label");
    assert!(words(help(&["retry", "--help"])).contains("needs --sheet"), "a row is one of a sheet");
    let codes = help(&["--help"]);
    assert!(codes.contains("\n  5  stopped with work left that can go on automatically later\n"), "{codes}");
}

#[test]
fn a_finished_import_has_nothing_to_cancel() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0).stdout;
    assert!(
        told.ends_with("\nnothing to cancel: no row of import 1 is waiting or to be corrected\n"),
        "{told}"
    );
}

#[test]
fn a_log_of_nights_tells_each_run_apart_by_its_date() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    for (arguments, ending) in [
        (&["run", "companies.csv", "--quiet"][..], "run ended: finished (done), exit code 0"),
        (&["run", "--quiet"], "run ended: finished (done), exit code 0"),
        (&["run", "--quiet", "--journal", "nowhere.db"], "run ended: failed (journal-missing), exit code 6"),
    ] {
        let said = bench.fleetload(arguments).stderr;
        let (at, words) = said.lines().last().and_then(|line| line.split_once(' ')).expect("a last line");
        assert_eq!(words, ending, "{said}");
        assert!(at.len() > 19 && at.ends_with('Z'), "{at}");
    }
}

/// What the doctor says of a kind, for programs.
fn ability(outcome: &Outcome, kind: &str) -> Value {
    let objects = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut of_kind = objects.filter(|object| object["object"] == "ability" && object["kind"] == kind);
    of_kind.next().unwrap_or_else(|| panic!("nothing of {kind}: {outcome:?}"))
}

#[test]
fn the_doctor_says_of_each_kind_of_row_what_a_run_can_do_with_it_and_what_to_set() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(1, 2));
    bench.profile("paths = \"documented\"", "", "");
    let shown = bench.fleetload(&["doctor"]).expect_code(0);
    for words in [
        "companies: can be created, not looked up",
        "sites: cannot be created, not looked up",
        "create: addSite (unavailable)",
        "[profile.bench.endpoints.addSite]",
        "create: addDevice (documented)",
        "labels: cannot be carried out, not looked up, not verified",
        "carry out: putDeviceLabel (unavailable)",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    assert!(!shown.stderr.contains("everything needed answers"), "{}", shown.stderr);
    assert!(
        shown.stderr.contains(
            "companies, people, devices can be created, but not sites; labels, metadata, licences, subscriptions"
        ),
        "{}",
        shown.stderr
    );

    let told = bench.fleetload(&["doctor", "--json"]).expect_code(0);
    assert_eq!(ended(&told)["can_create"], serde_json::json!(["companies", "people", "devices"]));
    for (kind, files) in [("companies", &["companies.csv"][..]), ("sites", &["companies.csv", "sites.csv"])] {
        let can = ability(&told, kind)["can_create"].as_bool().expect("a fact");
        let planned = bench.fleetload(&[&["plan"], files].concat());
        assert_eq!(planned.code, if can { 0 } else { 2 }, "plan with {kind}: {planned:?}");
        if !can {
            let run = bench.fleetload(&[&["run"], files].concat()).expect_code(2);
            let named = |outcome: &Outcome| {
                outcome.stderr.lines().find(|line| line.starts_with("error:")).map(str::to_owned)
            };
            assert_eq!(named(&planned), named(&run), "the same operations in the same order");
        }
    }

    // With everything assumed, and with the one operation mapped, the same sheets are taken.
    bench.profile("[profile.bench.endpoints.addSite]\npath = \"/device-api/config/v1/addSite\"", "", "");
    let told = bench.fleetload(&["doctor", "--json"]).expect_code(0);
    let sites = ability(&told, "sites");
    assert_eq!(
        (&sites["can_create"], &sites["can_look_up"], &sites["can_verify"]),
        (&true.into(), &true.into(), &true.into())
    );
    assert_eq!(sites["operations"][0]["origin"], "mapped", "{sites}");
}

#[test]
fn the_doctor_finds_what_a_run_would_refuse_and_does_not_stop_at_the_first_wrong_thing() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(1, 2));
    bench.fleetload(&["import", "companies.csv", "sites.csv"]).expect_code(0);
    bench.profile("paths = \"documented\"", "", "");
    let doctor = bench.fleetload(&["doctor", "--json"]).expect_code(2);
    assert_eq!(ended(&doctor)["reason"], "endpoint-unknown");
    let run = bench.fleetload(&["run", "--json"]).expect_code(2);
    assert_eq!(ended(&run)["reason"], "endpoint-unknown");

    // A secret that is missing is told, and so is everything that needs none.
    std::fs::remove_file(bench.path("secret")).expect("a file");
    let doctor = bench.fleetload(&["doctor"]).expect_code(2).stdout;
    for words in
        ["wrong  credentials: ", "ok     journal: ", "look   sites: ", "wrong  rows of the journal: "]
    {
        assert!(doctor.contains(words), "{words}: {doctor}");
    }
    // A profile that is wrong leaves the journal to be looked at.
    bench.write("fleetload.toml", "[profile.bench]\nbase_uri = \"https://service.example\"\n");
    let doctor = bench.fleetload(&["doctor"]).expect_code(2).stdout;
    assert!(doctor.contains("wrong  settings: ") && doctor.contains("base_url"), "{doctor}");
    assert!(doctor.contains("ok     journal: "), "{doctor}");
    // Of a hint of several lines each is shown as one.
    std::fs::remove_file(bench.path("fleetload.toml")).expect("a profile");
    let doctor = bench.fleetload(&["doctor"]).expect_code(2).stdout;
    assert!(
        doctor.contains("\n             to rehearse without a service: fleetload run FILE --sandbox\n"),
        "{doctor}"
    );
}

#[cfg(unix)]
#[test]
fn the_doctor_tries_whether_a_run_could_report_to_those_who_do_not_look() {
    let bench = Bench::new(Scenario::default());
    let notify = "command = [\"true\"]\nwebhook = \"http://127.0.0.1:9/x\"\nsecret_file = \"notify.secret\"";
    bench.profile("metrics_file = \"nowhere/fleetload.prom\"", "", "");
    bench.notify(notify);
    let says = |code: i32, told: &[&str]| {
        let doctor = bench.fleetload(&["doctor"]).expect_code(code).stdout;
        for words in told {
            assert!(doctor.contains(words), "{words}: {doctor}");
        }
    };
    says(
        2,
        &[
            "wrong  metrics file: the metrics file nowhere/fleetload.prom cannot be written",
            "secret_file: the file it names cannot be read",
        ],
    );
    bench::private(&bench.write("notify.secret", "n0tify"));
    bench.profile("metrics_file = \"fleetload.prom\"", "", "");
    bench.notify(notify);
    says(
        0,
        &[
            "ok     metrics file: fleetload.prom can be written",
            "ok     notifications: set for webhook and command; not tried here",
            "fleetload notify --test",
        ],
    );
    assert!(!bench.path("fleetload.prom").exists());
}

#[test]
fn a_report_that_cannot_be_written_is_written_by_the_command_that_the_error_gives() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("taken", "a file where the folder of the reports should be");
    let options = ["--journal", "other.db", "--reports", "taken"];
    let outcome = bench.fleetload(&[&["run", "companies.csv"], &options[..]].concat()).expect_code(1);
    let command = ["fleetload report 1", &options.join(" ")].join(" ");
    assert!(outcome.stderr.contains(&command), "{command}: {}", outcome.stderr);
    std::fs::remove_file(bench.path("taken")).expect("a file");
    bench.fleetload(&[&["report", "1"], &options[..]].concat()).expect_code(0);
    assert_eq!(bench.created("company").len(), 1);
}
