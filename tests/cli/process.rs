//! The process and what befalls it: signals, a stop in the middle, no more open files, broken workers, readers that
//! go away, a run that stands still.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Direct, Fate, Inside, Nth};
use fleetload::clock::{Clock, SystemClock};
use fleetload::journal::Writing;
use fleetload::model::event::Event;
use fleetload::model::state::JobState;
use fleetload::run::{Ending, Interrupt, Watchdog};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

fn fired(bench: &Bench, kind: FaultKind) -> u64 {
    bench.statistics().faults_fired.get(kind.name()).copied().unwrap_or(0)
}

/// One company and some devices in the journal, all without limits of pace.
fn fleet(scenario: Scenario, devices: usize) -> Bench {
    let bench = Bench::new(Scenario { rate: 0, ..scenario });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(devices, 1));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    bench
}

#[test]
fn a_second_signal_ends_the_run_at_once_and_the_next_run_loses_and_doubles_nothing() {
    for second in ["-INT", "-TERM", "-HUP"] {
        let stalled = Fault::new("addDevice", FaultKind::StallAfter).after(2).times(3);
        let bench = fleet(Scenario::default().with_fault(stalled), 12);
        let mut run = bench.start(&["run", "--json"]);
        run.until(|| fired(&bench, FaultKind::StallAfter) == 3);
        run.signal("-INT");
        run.hears(&["\"draining\""]);
        run.signal(second);
        assert_eq!(run.ended().code, 5, "{second}");
        // Had it waited for the answers, their time would have been up and the rows in doubt.
        let journal = rusqlite::Connection::open(bench.path("fleetload.db")).expect("the journal");
        let sending = "SELECT count(*) FROM job WHERE state = 'sending'";
        let sending: i64 = journal.query_row(sending, [], |row| row.get(0)).expect("a count");
        assert!(sending >= 3, "{second}: {sending}");
        assert_eq!(i64::try_from(bench.counts(1)["in_doubt"]), Ok(sending), "{second}: nobody awaits them");
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(bench.created("device").len(), 12, "{second}");
        bench.assert_exact(1);
    }
}

#[test]
fn a_hang_up_that_was_ignored_when_the_run_began_stays_ignored() {
    let slow = Fault::new("addDevice", FaultKind::Latency).ms(1_500).times(1);
    let bench = fleet(Scenario::default().with_fault(slow), 5);
    let binary = bench.command(&["run", "--json"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(binary.get_program()).args(binary.get_args());
    command.current_dir(bench.path("")).env("HOME", bench.path(""));
    let mut run = UnderWay::start(command);
    run.until(|| fired(&bench, FaultKind::Latency) == 1);
    run.signal("-HUP");
    assert_eq!(run.ended().code, 0, "it went on to the end");
    assert_eq!(bench.created("device").len(), 5);
}

#[test]
fn requests_under_way_have_less_than_the_ten_seconds_of_a_container_to_come_home() {
    let bench = fleet(Scenario::default(), 3);
    inside::drive_virtually(async {
        let clock = inside::Virtual::start();
        let fate =
            |path: &str| if path.ends_with("/addCompany") { Fate::NeverAnswered } else { Fate::Answered };
        let transport = Direct::new(bench.sandbox(), clock.clone(), fate);
        let client = inside::client_over(&bench, clock.clone(), transport);
        let writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
        let options = fleetload::run::RunOptions { writing, ..inside::options(Duration::from_secs(1)) };
        let mut run = Inside::start(&bench, client, clock.clone(), options);
        run.hears(
            "a request left",
            |event| matches!(event, Event::Sent { operation } if operation.creates()),
        )
        .await;
        let asked = clock.elapsed();
        run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
        let (journal, ending, _) = run.ends().await;
        assert!(matches!(ending, Ending::Interrupted { .. }), "{ending:?}");
        let waited = clock.elapsed() - asked;
        assert!(waited > Duration::from_secs(5), "it gave them time: {waited:?}");
        assert!(waited < Duration::from_secs(9), "and had time left to write its reports: {waited:?}");
        assert_eq!(journal.tally(None).expect("counts").in_state(JobState::InDoubt), 1);
    });
}

#[test]
fn a_process_that_is_stopped_and_continued_doubles_nothing() {
    // Two requests are carried out late, while the process is stopped: that is how the stop is seen to have lasted
    // longer than the time for an answer.
    let late = Fault::new("addDevice", FaultKind::LateCommit).after(20).times(2).ms(1_600);
    let slow = Fault::new("addDevice", FaultKind::Latency).after(20).times(6).ms(300);
    // However late it is stopped, it cannot have come to the end.
    let dark = Fault::new("addDevice", FaultKind::StallBefore).after(120);
    let scenario = Scenario { rate: 0, ..Scenario::default() };
    let bench = Bench::new(scenario.with_fault(slow).with_fault(late).with_fault(dark));
    bench.profile("", "rate = 90", "");
    bench.alter("request_timeout_seconds = 60", "request_timeout_seconds = 1");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(300, 1));
    let mut run = bench.start(&["run", "companies.csv", "devices.csv", "--json"]);
    let made = || bench.created("device").len();
    run.until(|| bench.requests("addDevice") >= 23);
    run.signal("-STOP");
    // Nothing leaves a process that is stopped, so what is still made was sent before.
    run.until(|| fired(&bench, FaultKind::LateCommit) == 2);
    // What had left before is read and carried out.
    run.until(|| made() as u64 + fired(&bench, FaultKind::StallBefore) == bench.requests("addDevice"));
    assert!(made() < 300, "it was stopped in the middle");
    bench.clear_faults();
    run.signal("-CONT");
    run.ended().expect_code(0);
    assert_eq!(made(), 300);
    bench.assert_exact(1);
}

#[test]
fn without_free_sockets_fewer_requests_are_sent_at_once_and_every_row_is_made_once() {
    let bench = fleet(Scenario { latency_ms: [150, 250], ..Scenario::default() }, 120);
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 256", "");
    let binary = bench.command(&["run"]);
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 48; exec \"$0\" \"$@\""])
        .arg(binary.get_program())
        .args(binary.get_args())
        .current_dir(bench.path(""))
        .env("HOME", bench.path(""))
        .output()
        .expect("a shell");
    let outcome = Outcome::of(output).expect_code(0);
    assert!(outcome.stderr.contains("no more sockets or open files"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("requests at once from now on"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("no request can be sent"), "{}", outcome.stderr);
    let counts = bench.counts(1);
    assert_eq!(counts["created"], 121, "none was in doubt: {counts:?}");
    bench.assert_exact(1);
}

#[test]
fn a_worker_that_panics_leaves_its_row_in_doubt_and_never_under_way() {
    for (fate, outcome) in [(Fate::PanicBefore, JobState::Created), (Fate::PanicAfter, JobState::Adopted)] {
        let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
        bench.write("companies.csv", &bench::companies(6));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
        inside::drive(async {
            let clock = SystemClock::start();
            let nth = Nth::default();
            let transport = Direct::new(bench.sandbox(), clock.clone(), move |path| {
                if path.ends_with("/addCompany") && nth.next() == 3 { fate } else { Fate::Answered }
            });
            let client = inside::client_over(&bench, clock.clone(), transport);
            let mut run = Inside::start(&bench, client, clock, inside::options(Duration::from_secs(1)));
            run.hears_of(JobState::InDoubt).await;
            let (journal, ending, _) = run.ends().await;
            assert_eq!(ending, Ending::Finished, "{fate:?}");
            let tally = journal.tally(None).expect("counts");
            assert_eq!(bench.created("company").len(), 6, "{fate:?}");
            assert_eq!(tally.in_state(outcome), if outcome == JobState::Created { 6 } else { 1 }, "{fate:?}");
            assert_eq!(tally.in_state(JobState::Sending) + tally.in_state(JobState::InDoubt), 0);
        });
    }
}

#[cfg(feature = "failpoints")]
#[test]
fn when_the_journals_writer_or_the_run_itself_breaks_down_nothing_more_is_sent_and_the_next_run_goes_on() {
    for (step, words) in [
        ("claim.in-transaction", "writing the journal failed"),
        ("claim.on-disk", "fleetload failed in the middle of the run"),
    ] {
        // Two devices are there already, by which a look-up can be proved.
        let bench = fleet(Scenario::default(), 2);
        bench.fleetload(&["run"]).expect_code(0);
        bench.write("devices.csv", &bench::devices(7, 1));
        bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
        let output =
            bench.command(&["run"]).env("FLEETLOAD_PANICPOINT", step).output().expect("the binary starts");
        let outcome = Outcome::of(output).expect_code(1);
        assert!(outcome.stderr.contains(words), "{step}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("hint: "), "{step}: {}", outcome.stderr);
        assert_eq!(bench.requests("addDevice"), 2, "{step}: nothing left after it");
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(bench.created("device").len(), 7, "{step}");
        bench.assert_exact(2);
    }
}

#[test]
fn readers_that_go_away_and_closed_streams_end_the_talk_and_not_the_work() {
    let bench = fleet(Scenario::default(), 30);
    let shell = |line: &str, arguments: &[&str]| {
        let binary = bench.command(arguments);
        Command::new("sh")
            .args(["-c", line])
            .arg(binary.get_program())
            .args(binary.get_args())
            .current_dir(bench.path(""))
            .env("HOME", bench.path(""))
            .output()
            .expect("a shell")
    };
    // The exit code goes past `head` through a file.
    let through_head = "{ \"$0\" \"$@\" 2>talk; echo $? >code; } | head -n 1";
    for (line, arguments) in [
        (through_head, &["status"][..]),
        ("\"$0\" \"$@\" >&- 2>&-; echo $? >code", &["status"]),
        (through_head, &["run", "--json"]),
        ("\"$0\" \"$@\" >&- 2>&-; echo $? >code", &["report"]),
        (through_head, &["report"]),
        (through_head, &["status", "--json"]),
        ("{ \"$0\" \"$@\" 2>&1 >/dev/null; echo $? >code; } | head -n 0", &["run", "-vv"]),
    ] {
        let output = shell(line, arguments);
        let code = std::fs::read_to_string(bench.path("code")).expect("an exit code");
        let talk = std::fs::read_to_string(bench.path("talk")).unwrap_or_default();
        assert!(!talk.contains("panicked"), "{arguments:?}: {talk}");
        assert_eq!(code.trim(), "0", "{arguments:?} {line}: {talk} {output:?}");
    }
    assert_eq!(bench.created("device").len(), 30);
    bench.assert_exact(1);
}

#[test]
fn a_run_that_is_starved_is_noticed_from_outside_with_what_it_had_in_hand() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let (blocked, is_blocked) = channel();
    let (release, released) = channel::<()>();
    let (bark, barks) = channel();
    let clock = SystemClock::start();
    let gate = std::sync::Mutex::new(Some((blocked, released)));
    let transport = Direct::new(bench.sandbox(), clock.clone(), move |path| {
        // The first creation takes the only thread of the runtime with it.
        if path.ends_with("/addCompany")
            && let Some((blocked, released)) = gate.lock().expect("no panic").take()
        {
            blocked.send(()).expect("the test waits");
            released.recv().expect("the test lets go");
        }
        Fate::Answered
    });
    let client = inside::client_over(&bench, clock.clone(), transport);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    std::thread::scope(|scope| {
        let (show, pulse) = channel();
        let (bench, clock_of_run) = (&bench, clock.clone());
        let running = scope.spawn(move || {
            runtime.block_on(async {
                let run = Inside::start(bench, client, clock_of_run, inside::options(Duration::from_secs(1)));
                show.send(run.pulse.clone()).expect("the test waits");
                run.ends().await.1
            })
        });
        is_blocked.recv().expect("a creation leaves");
        let patience = (Duration::from_millis(100), Duration::from_millis(10));
        let dog = Watchdog::start(pulse.recv().expect("a pulse"), clock, patience, move |standstill| {
            bark.send(standstill).expect("the test waits");
        })
        .expect("a thread");
        let standstill = barks.recv().expect("it barks");
        assert!(standstill.why.contains("stuck or the machine is overloaded"), "{}", standstill.why);
        assert!(standstill.in_hand.contains("addCompany"), "{}", standstill.in_hand);
        assert!(
            !standstill.in_hand.contains("Customer"),
            "nothing of what rows hold: {}",
            standstill.in_hand
        );
        release.send(()).expect("the run waits");
        assert_eq!(running.join().expect("no panic"), Ending::Finished);
        drop(dog);
    });
}

#[test]
fn what_has_changed_since_the_last_run_is_told_and_not_refused() {
    let bench = Bench::new(Scenario { daily_quota: 3, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(6));
    let first = bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert!(!first.stderr.contains("changed since"), "{}", first.stderr);
    let same = bench.fleetload(&["run"]).expect_code(5);
    assert!(!same.stderr.contains("changed since"), "{}", same.stderr);
    bench.sandbox().change(|scenario| scenario.daily_quota = 100).expect("a consistent scenario");
    let mapped = "[profile.bench.endpoints.addSite]\nmethod = \"POST\"\npath = \"/v9/addSite\"\n";
    bench.profile("", "rate = \"unlimited\"", &format!("on_quota = \"wait\"\n{mapped}"));
    let changed = bench.fleetload(&["run"]).expect_code(0);
    assert!(changed.stderr.contains("addSite is now POST /v9/addSite (was POST "), "{}", changed.stderr);
    assert!(changed.stderr.contains("on_quota is now wait (was exit)"), "{}", changed.stderr);
}

/// Whether nobody is writing to a journal.
#[cfg(target_os = "linux")]
fn is_free(journal: &Path) -> bool {
    let other = rusqlite::Connection::open(journal).expect("the journal");
    other.busy_timeout(Duration::ZERO).expect("it is set");
    other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_suspended_run_is_called_suspended_with_the_command_that_continues_it() {
    let stalled = Fault::new("addDevice", FaultKind::StallAfter).after(2).times(1);
    let bench = fleet(Scenario::default().with_fault(stalled), 6);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| fired(&bench, FaultKind::StallAfter) == 1);
    let process = format!("(process {})", run.id());
    assert!(!bench.fleetload(&["status"]).expect_code(0).stdout.contains("suspended"));

    // A process that is stopped in the middle of a write keeps the journal locked: it goes on, and is stopped again.
    let is_suspended = || bench.fleetload(&["status"]).stdout.contains("suspended");
    loop {
        run.signal("-STOP");
        run.until(is_suspended);
        if is_free(&bench.path("fleetload.db")) {
            break;
        }
        run.signal("-CONT");
        run.until(|| !is_suspended());
    }
    let continued = format!("fg in its terminal, or: kill -CONT {}", run.id());
    for (command, code, says) in [
        (&["status"][..], 0, format!("suspended {process}, so nothing is sent until it is continued")),
        (&["run", "--now"], 0, format!("the run in progress {process} is suspended: it does nothing until")),
        (&["run"], 5, format!("another run of this journal is suspended {process}, since ")),
    ] {
        let outcome = bench.fleetload(command).expect_code(code);
        assert!(outcome.stdout.contains(&says), "{command:?}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(&continued), "{command:?}: {}", outcome.stderr);
    }
    let of_the_account = bench.fleetload(&["run", "companies.csv", "--journal", "other.db"]).expect_code(6);
    assert!(of_the_account.stderr.contains(&format!("it is suspended; to continue it: {continued}")));
    let status = bench.fleetload(&["status"]).stdout;
    assert!(status.contains("last run: begun ") && status.contains(" UTC, suspended\n"), "{status}");
    assert!(!status.contains("next try") && !status.contains("done about"), "{status}");

    run.signal("-CONT");
    run.until(|| !is_suspended());
    run.signal("-INT");
    run.signal("-INT");
    assert_eq!(run.ended().code, 5);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 6);
    bench.assert_exact(1);
}
