//! Clocks that cannot be trusted: this machine's, the service's, and a machine that was asleep.

use std::sync::Arc;
use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside::{self, Direct, Fate, Inside, Nth, Settable, Virtual, noted};
use fleetload::clock::Clock;
use fleetload::journal::Writing;
use fleetload::model::event::Event;
use fleetload::model::state::JobState;
use fleetload::run::{Ending, Interrupt, ListAhead, RunOptions};
use fleetload::sandbox::{Fault, FaultKind, ROOT_COMPANY, Scenario};
use fleetload::service::Client;

const MINUTE: Duration = Duration::from_secs(60);
/// Longer than the slowest machine needs: what never happens fails then instead of hanging.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// A service with `quota` creations a day, whose clock starts `seconds` before a midnight.
fn before_midnight(midnight: &str, seconds: i64, quota: u64) -> Scenario {
    let midnight: jiff::Timestamp = midnight.parse().expect("a moment");
    let starts_at = midnight - jiff::SignedDuration::from_secs(seconds);
    Scenario { rate: 0, daily_quota: quota, clock_starts_at: Some(starts_at), ..Scenario::default() }
}

/// So many companies in the journal of a bench.
fn companies(scenario: Scenario, count: usize) -> Bench {
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(count));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench
}

/// A run inside the test, over the bench's sockets, by a clock that can be set.
fn running(bench: &Bench, clock: &Arc<Settable>, settle: Duration) -> Inside {
    let clock: Arc<dyn Clock> = clock.clone();
    Inside::start(bench, inside::client(bench, clock.clone()), clock, inside::options(settle))
}

/// A clock that can be set over one of the test's own, and a client whose answers take differently long: they come while the
/// journal is busy.
fn with_uneven_answers(bench: &Bench) -> (Arc<Settable>, Client) {
    let clock = Settable::over(inside::Virtual::start());
    let requests = Nth::default();
    let uneven = move |_: &str| Fate::AnsweredAfter(Duration::from_millis(requests.next() * 7 % 20));
    let transport = Direct::new(bench.sandbox(), clock.clone(), uneven);
    (clock.clone(), inside::client_over(bench, clock, transport))
}

/// A journal whose accesses take 5 ms; something happens at the nth of them.
fn at_access(nth: u64, happens: impl Fn() + Send + Sync + 'static) -> Writing {
    let accesses = Nth::default();
    Writing::AmongTasks(Arc::new(move || {
        if accesses.next() == nth {
            happens();
        }
        Box::pin(tokio::time::sleep(Duration::from_millis(5)))
    }))
}

/// Waits until the service has seen something; a run that will never send it fails instead of hanging.
async fn until(seen: impl Fn() -> bool) {
    let waiting = async {
        while !seen() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the service sees it");
}

#[test]
fn the_services_midnight_counts_though_this_machines_clock_is_hours_or_years_off() {
    // Years ahead of this machine's clock and over the edge of a year; years behind, over a leap day.
    for midnight in ["2031-01-01T00:00:00Z", "2024-02-29T00:00:00Z"] {
        let bench = companies(before_midnight(midnight, 3600, 5), 8);
        inside::drive_virtually(async {
            let clock = Virtual::start_now();
            let options = inside::options(Duration::from_secs(1));
            let run = inside::start_virtually(&bench, clock.clone(), Duration::from_millis(50), options);
            let (_, ending, told) = run.ends().await;
            assert_eq!(ending, Ending::Finished);
            assert!(told.iter().any(|event| matches!(event, Event::ClockSkew { .. })), "{told:#?}");
            assert!(clock.elapsed() < 2 * 60 * MINUTE, "it waited for that midnight: {:?}", clock.elapsed());
        });
        bench.fleetload(&["report", "1"]).expect_code(0);
        assert!(bench.statistics().answers["quotaLimitExceeded"] >= 1, "the quota was met");
        assert_eq!(bench.created("company").len(), 8);
        bench.assert_exact(1);
    }
}

#[test]
fn a_service_some_hours_off_counts_its_own_day_in_the_ledger() {
    for hours in [-5, 5] {
        let scenario =
            Scenario { rate: 0, clock_offset_seconds: hours * 3600, daily_quota: 4, ..Scenario::default() };
        let bench = Bench::new(scenario);
        bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "on_quota = \"exit\"");
        bench.write("companies.csv", &bench::companies(6));
        let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(5);
        let word = if hours > 0 { "behind" } else { "ahead of" };
        let words = format!(" {word} the service's");
        assert!(outcome.stderr.contains(&words), "{}", outcome.stderr);
        // A second run asks once and no more: the day that was spent is the service's.
        bench.fleetload(&["run"]).expect_code(5);
        assert_eq!(bench.created("company").len(), 4);
        assert_eq!(bench.statistics().answers["quotaLimitExceeded"], 2);
    }
}

#[test]
fn nothing_is_created_before_the_service_has_said_on_which_day() {
    for days in [-1, 1] {
        let down = Fault::new("auth", FaultKind::Error500Before).times(3);
        let scenario = Scenario { rate: 0, clock_offset_seconds: days * 86_400, ..Scenario::default() };
        let bench = Bench::new(scenario.with_fault(down));
        // No look-up of a company is documented, so that the first request would be a creation.
        bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
        bench.write("companies.csv", &bench::companies(6));
        bench.fleetload(&["run", "companies.csv"]).expect_code(0);
        assert_eq!(bench.statistics().faults_fired["error_500_before"], 3);
        assert_eq!(bench.created("company").len(), 6);
        let ledger = &bench.summary(1)["quota"];
        assert_eq!(ledger["used"], 6, "{days}: all on the service's day: {ledger}");
    }
}

#[test]
fn without_a_date_this_machines_clock_decides_and_that_is_told_once() {
    let silent = Fault::new("*", FaultKind::DateMissing);
    let bench = Bench::new(Scenario { rate: 0, daily_quota: 5, ..Scenario::default() }.with_fault(silent));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(8));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert!(bench.statistics().faults_fired["date_missing"] > 5);
    assert_eq!(outcome.stderr.matches("carry no Date").count(), 1, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("00:00:03"), "{}", outcome.stdout);
    assert_eq!(bench.created("company").len(), 5);
}

#[test]
fn a_clock_that_is_set_forward_makes_no_lost_answer_settle_sooner() {
    let lost = Fault::new("addCompany", FaultKind::RequestLost).times(1);
    let bench = companies(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost), 3);
    inside::drive(async {
        let clock = Settable::start();
        let mut run = running(&bench, &clock, 10 * MINUTE);
        run.hears_of(JobState::InDoubt).await;
        // The others are under way at the same time.
        until(|| bench.requests("addCompany") == 3).await;
        let before = bench.requests("addCompany");
        // Each jump makes the next look due; each look finds nothing, which two looks are enough to believe.
        for _ in 0..4 {
            let looks = bench.requests("getChildCompanies");
            clock.jump(3600);
            until(|| bench.requests("getChildCompanies") > looks).await;
        }
        run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
        let (journal, _, told) = run.ends().await;
        assert!(noted(&told, "the clock jumped ahead by 60 min"), "{told:#?}");
        assert_eq!(bench.requests("addCompany"), before, "nothing was sent again");
        assert_eq!(journal.tally(None).expect("counts").in_state(JobState::InDoubt), 1);
    });
}

#[test]
fn a_clock_that_is_set_back_keeps_no_row_waiting_for_hours() {
    let lost = Fault::new("addCompany", FaultKind::AnswerLost).times(1);
    let bench = companies(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost), 3);
    inside::drive(async {
        let clock = Settable::start();
        let mut run = running(&bench, &clock, Duration::from_secs(2));
        run.hears_of(JobState::InDoubt).await;
        clock.jump(-3 * 3600);
        let (journal, ending, told) = tokio::time::timeout(PATIENCE, run.ends()).await.expect("an end");
        assert!(noted(&told, "the clock was set back by 3 h"), "{told:#?}");
        assert_eq!(ending, Ending::Finished);
        assert_eq!(journal.tally(None).expect("counts").in_state(JobState::Adopted), 1);
    });
}

#[test]
fn it_does_not_matter_between_which_two_accesses_to_the_journal_a_clock_is_set_back() {
    for access in 1.. {
        let lost = Fault::new("addCompany", FaultKind::AnswerLost).times(1);
        let bench = companies(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost), 6);
        let mut is_set_back = false;
        inside::drive_virtually(async {
            let (clock, client) = with_uneven_answers(&bench);
            let sets_back = {
                let clock = Arc::clone(&clock);
                at_access(access, move || clock.jump(-3 * 3600))
            };
            let options = RunOptions { writing: sets_back, ..inside::options(Duration::from_secs(2)) };
            let begun = tokio::time::Instant::now();
            let (journal, ending, told) = Inside::start(&bench, client, clock.clone(), options).ends().await;
            assert_eq!(ending, Ending::Finished, "access {access}");
            assert_eq!(journal.tally(None).expect("counts").in_state(JobState::Adopted), 1);
            assert!(begun.elapsed() < MINUTE, "access {access}: it took {:?}", begun.elapsed());
            is_set_back = noted(&told, "the clock was set back by 3 h");
        });
        if !is_set_back {
            // The run was over before.
            assert!(access > 30, "only {access} accesses");
            return;
        }
    }
}

#[test]
fn a_list_that_was_taken_before_the_machine_slept_is_not_what_the_run_begins_with() {
    for seconds in [12 * 3600, -3600] {
        let bench = companies(Scenario { rate: 0, ..Scenario::default() }, 3);
        inside::drive_virtually(async {
            let clock = Settable::over(inside::Virtual::start());
            let transport = Direct::new(bench.sandbox(), clock.clone(), |_: &str| Fate::Answered);
            let client = inside::client_over(&bench, clock.clone(), transport);
            let list_ahead = ListAhead::below(&client, &*clock, ROOT_COMPANY).await;
            assert!(list_ahead.is_some());
            // Between that and the moment at which the run may send.
            clock.jump(seconds);
            bench.fleetload(&["run", "companies.csv", "--journal", "colleague.db"]).expect_code(0);
            let writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
            let options = RunOptions { list_ahead, writing, ..inside::options(Duration::from_secs(2)) };
            let (journal, ending, _) = Inside::start(&bench, client, clock, options).ends().await;
            assert_eq!(ending, Ending::Finished);
            assert_eq!(journal.tally(None).expect("counts").in_state(JobState::Existing), 3);
        });
        assert_eq!(bench.created("company").len(), 3, "{seconds}: none was created twice");
    }
}

#[test]
fn whatever_a_machine_was_at_when_it_fell_asleep_it_makes_nothing_that_was_made_meanwhile() {
    for access in 1.. {
        let bench = Arc::new(Bench::new(Scenario { rate: 0, ..Scenario::default() }));
        bench.write("companies.csv", &bench::companies(1));
        bench.write("sites.csv", &bench::sites(2, 1).replace("C0,", &format!("{},", bench::root())));
        let sheets = ["companies.csv", "sites.csv"];
        bench.fleetload(&["import", sheets[0], sheets[1]]).expect_code(0);
        let mut left = 0;
        inside::drive_virtually(async {
            let (clock, client) = with_uneven_answers(&bench);
            let sleeps = {
                let (clock, bench) = (Arc::clone(&clock), Arc::clone(&bench));
                at_access(access, move || {
                    let colleague = ["run", sheets[0], sheets[1], "--journal", "colleague.db"];
                    bench.fleetload(&colleague).expect_code(0);
                    clock.jump(12 * 3600);
                })
            };
            let options = RunOptions { writing: sleeps, ..inside::options(Duration::from_secs(2)) };
            let (journal, ending, told) = Inside::start(&bench, client, clock.clone(), options).ends().await;
            assert_eq!(ending, Ending::Finished, "access {access}");
            left = journal.tally(None).expect("counts").in_state(JobState::Existing);
            assert!(left == 0 || noted(&told, "the clock jumped ahead by 12 h"), "{told:#?}");
        });
        let made = (bench.created("company").len(), bench.created("site").len());
        assert_eq!(made, (1, 2), "access {access}: none was created twice");
        if left == 0 {
            // The run had made all of them before.
            assert!(access > 5, "only {access} accesses");
            return;
        }
    }
}

#[test]
fn moments_left_behind_by_a_clock_that_was_ahead_keep_no_row_waiting_at_the_next_start() {
    let lost = Fault::new("addCompany", FaultKind::AnswerLost).times(1);
    let bench = companies(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost), 3);
    inside::drive(async {
        let ahead = Settable::start();
        ahead.jump(30 * 24 * 3600);
        let mut run = running(&bench, &ahead, Duration::from_secs(2));
        run.hears_of(JobState::InDoubt).await;
        run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
        let (journal, ..) = run.ends().await;
        let due = journal.next_due().expect("readable").expect("a row waits");
        let right = Settable::start();
        assert!(due.since(right.now()) > 1000 * MINUTE, "the wrong clock wrote it");
        drop(journal);
        // Another row, so that it can be seen that the next run is under way.
        bench.write("companies.csv", &bench::companies(4));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
        // The longest wait that a right clock makes is a quarter of an hour: it is looked at after that at the latest.
        let mut run = running(&bench, &right, Duration::from_secs(2));
        run.hears_of(JobState::Created).await;
        run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
        let (journal, ..) = run.ends().await;
        let due = journal.next_due().expect("readable").expect("a row waits");
        assert!(due.since(right.now()) <= 15 * MINUTE, "{:?}", due.since(right.now()));
    });
}

#[test]
fn a_machine_that_slept_over_midnight_goes_on_when_it_wakes() {
    let bench = companies(before_midnight("2026-03-02T00:00:00Z", 3600, 4), 7);
    inside::drive(async {
        let clock = Settable::start();
        let mut run = running(&bench, &clock, Duration::from_secs(2));
        run.hears("parked", |event| matches!(event, Event::Parked { .. })).await;
        bench.sandbox().advance_clock(7 * 3600);
        clock.jump(7 * 3600);
        let (_, ending, told) = tokio::time::timeout(PATIENCE, run.ends()).await.expect("it wakes");
        assert_eq!(ending, Ending::Finished);
        assert!(noted(&told, "the machine was suspended"), "{told:#?}");
        assert!(told.contains(&Event::Woken), "{told:#?}");
        assert_eq!(bench.created("company").len(), 7);
    });
}

#[test]
fn a_clock_that_is_set_over_midnight_wakes_nothing_since_the_service_says_what_time_it_is() {
    for jump in [7 * 3600, -20 * 3600] {
        let bench = companies(before_midnight("2026-03-02T00:00:00Z", 3600, 4), 7);
        inside::drive(async {
            let clock = Settable::start();
            let shared: Arc<dyn Clock> = clock.clone();
            let mut options = inside::options(Duration::from_secs(2));
            // One at a time, so that nothing is on its way any more when the run is parked.
            options.limits.concurrency = 1;
            let client = inside::client(&bench, shared.clone());
            let mut run = Inside::start(&bench, client, shared, options);
            run.hears("parked", |event| matches!(event, Event::Parked { .. })).await;
            let (asked, sent) = (bench.statistics().tokens_issued, bench.requests("addCompany"));
            clock.jump(jump);
            run.hears("the jump", |event| matches!(event, Event::Note { .. })).await;
            until(|| bench.statistics().tokens_issued > asked).await;
            // Told again, by the clock as it is now.
            run.hears("parked", |event| matches!(event, Event::Parked { .. })).await;
            run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
            run.ends().await;
            assert_eq!(bench.requests("addCompany"), sent, "{jump}: no early start, no second quota");
        });
    }
}
