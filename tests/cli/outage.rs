//! The service goes away, is in maintenance, answers with pages or refuses everything: no more rows are put in
//! doubt than were under way and twenty, no try is used up, and everything is created once when it is back.

use std::time::Duration;

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Virtual};
use crate::relay::gated;
use fleetload::clock::Clock as _;
use fleetload::ending::End;
use fleetload::model::event::Event;
use fleetload::model::operation::Operation;
use fleetload::model::state::JobState;
use fleetload::run::Ending;
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

/// Requests under way at once in these tests.
const CONCURRENCY: u64 = 24;

fn quick() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

/// A bench with so many devices of one company in its journal.
fn with_devices(scenario: Scenario, devices: usize) -> Bench {
    let bench = Bench::new(scenario);
    bench.profile("", &format!("rate = \"unlimited\"\nconcurrency = {CONCURRENCY}"), "");
    bench.write("companies.csv", &bench::companies(1));
    // From the hundredth on, so that no name begins with another one and look-ups find one record.
    let sheet = bench::devices(devices + 100, 1);
    let rows: Vec<&str> =
        sheet.lines().enumerate().filter(|(n, _)| !(1..=100).contains(n)).map(|(_, row)| row).collect();
    bench.write("devices.csv", &format!("{}\n", rows.join("\n")));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    bench
}

/// Starts a run of what is in the journal, with an end set so that it cannot hang.
fn start(bench: &Bench) -> UnderWay {
    bench.start(&["run", "--json", "--until", &bench::at_the_latest()])
}

/// A piece of news.
fn read(line: &str) -> Value {
    serde_json::from_str(line).expect("JSON")
}

fn is_breaker(news: &Value, operation: &str, open: bool) -> bool {
    news["event"] == "breaker" && news["operation"] == operation && news["open"] == open
}

/// Rows that were put in doubt, by the news of a run.
fn doubted(told: &[Event]) -> u64 {
    told.iter().filter(|event| matches!(event, Event::Moved { to: JobState::InDoubt, .. })).count() as u64
}

/// Runs through an outage in virtual time. When the service has been tried once more and in vain, `check` looks at what was
/// told until then; after it nothing fails any more, and the run comes to its end.
fn through_an_outage(bench: &Bench, tried: fn(Operation) -> bool, check: impl FnOnce(&[Event])) {
    let of = |event: &Event, is_open: bool, of: fn(Operation) -> bool| matches!(event, Event::Breaker { operation, open, .. } if of(*operation) && *open == is_open);
    let breaker = |event: &Event, is_open: bool| of(event, is_open, Operation::creates);
    inside::drive_virtually(async {
        let mut options = inside::options(Duration::from_secs(1));
        options.limits.concurrency = CONCURRENCY as usize;
        let delay = Duration::from_millis(50);
        let mut run = inside::start_virtually(bench, Virtual::start(), delay, options);
        run.hears("it opens", |event| breaker(event, true)).await;
        let mut opened = run.told.iter().filter(|event| of(event, true, tried)).count();
        while opened < 2 {
            run.hears("it was tried once more", |event| of(event, true, tried)).await;
            opened += 1;
        }
        check(&run.told);
        bench.clear_faults();
        let heard = run.told.len();
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
        assert!(told[heard..].iter().any(|event| breaker(event, false)), "{told:#?}");
    });
    bench.fleetload(&["report", "1"]).expect_code(0);
}

fn rejected_and_ready(bench: &Bench) -> (u64, u64) {
    let counts = bench.counts(1);
    (counts.get("rejected").copied().unwrap_or(0), counts.get("ready").copied().unwrap_or(0))
}

/// Runs to the end and reads the news besides.
fn finish(run: UnderWay) -> (i32, Vec<Value>) {
    let outcome = run.ended();
    (outcome.code, outcome.stdout.lines().map(read).collect())
}

#[test]
fn of_an_outage_no_more_rows_are_in_doubt_than_were_under_way_and_twenty() {
    let dark = Fault::new("addDevice", FaultKind::StallAfter).after(60);
    let bench = with_devices(quick().with_fault(dark), 400);
    through_an_outage(&bench, Operation::creates, |told| {
        let fired = bench.statistics().faults_fired["stall_after"];
        let (in_doubt, probes) = (doubted(told), 1);
        assert!(in_doubt > 20, "the outage was met: {in_doubt}");
        assert!(fired <= CONCURRENCY + 20 + probes, "{fired} requests left into the dark");
        assert!(in_doubt <= CONCURRENCY + 20 + probes, "{in_doubt} rows are in doubt");
        assert_eq!(bench.requests("getCompany"), 1, "a question went before the probe");
    });
    assert_eq!(bench.created("device").len(), 400);
    bench.assert_exact(1);
}

#[test]
fn maintenance_is_waited_for_with_look_ups_and_uses_up_no_try_of_any_row() {
    let bench = with_devices(quick(), 300);
    let page = Fault::new("*", FaultKind::Html503Before);
    // From the first device on, as the sandbox counts creations.
    let maintenance = |scenario: &mut Scenario| {
        scenario.fault = vec![Fault { after: 1, ..page.clone() }];
        scenario.fault[0].operation = "creations".to_owned();
        scenario.fault.push(Fault { operation: "lookups".to_owned(), after: 40, ..page.clone() });
    };
    bench.sandbox().change(maintenance).expect("a consistent scenario");
    // What was returned is looked up before it is sent again, so that a look-up tries.
    through_an_outage(
        &bench,
        |operation| operation == Operation::GetDeviceByMac,
        |told| {
            let sent = bench.requests("addDevice");
            assert!(sent <= CONCURRENCY + 20, "{sent} creations left into the maintenance");
            assert!(doubted(told) <= CONCURRENCY + 20);
            assert_eq!(bench.requests("getCompany"), 0, "the look-ups try the service");
            let Some(Event::Breaker { next_try_in: Some(wait), .. }) = told.last() else {
                panic!("{told:#?}")
            };
            assert!(*wait > Duration::from_secs(5), "{wait:?}");
            let status = bench.fleetload(&["status"]).expect_code(0);
            assert!(status.stdout.contains("addDevice"), "{}", status.stdout);
            assert!(bench.statistics().faults_fired["html_503_before"] > 40);
        },
    );
    assert_eq!(bench.created("device").len(), 300);
    bench.assert_exact(1);
    for row in bench.results(1) {
        assert!(row["attempts"].as_u64() <= Some(3), "{row}");
    }
}

#[test]
fn a_service_that_gives_no_token_is_waited_for_like_one_that_fails_at_an_operation() {
    /// How a run ended whose token is refused in the middle, and whose requests for another are answered with a page so often;
    /// how long it took, and what it told.
    fn runs(pages: u64) -> (Bench, Ending, Duration, Vec<Event>) {
        let down = Fault::new("auth", FaultKind::Html503Before).after(1).times(pages);
        let revoked = Fault::new("addDevice", FaultKind::TokenRevoked).after(20).times(1);
        let bench = with_devices(quick().with_fault(down).with_fault(revoked), 60);
        let (mut ended, mut took) = (None, Duration::ZERO);
        inside::drive_virtually(async {
            let clock = Virtual::start();
            let (delay, options) = (Duration::from_millis(50), inside::options(Duration::from_secs(1)));
            let run = inside::start_virtually(&bench, clock.clone(), delay, options);
            let (_, ending, told) = run.ends().await;
            took = clock.elapsed();
            ended = Some((ending, told));
        });
        let (ending, told) = ended.expect("an end");
        bench.fleetload(&["report", "1"]).expect_code(0);
        (bench, ending, took, told)
    }
    let told_of = |told: &[Event], is_open: bool| {
        let of_tokens = told.iter().filter_map(|event| match event {
            Event::Breaker { operation: Operation::Auth, open, reason, .. } if *open == is_open => {
                Some(reason.clone())
            }
            _ => None,
        });
        of_tokens.collect::<Vec<_>>()
    };
    let is_unreachable = |event: &Event| matches!(event, Event::Unreachable { .. });

    let (bench, ending, took, told) = runs(100);
    assert_eq!(ending, Ending::Finished, "{told:#?}");
    assert_eq!(bench.statistics().faults_fired["html_503_before"], 100, "the fault fired");
    // After 5, 10, 20 … 160 seconds, then every five minutes.
    let hours = took.as_secs() / 3_600;
    assert_eq!(hours, 7, "{took:?}");
    let reasons = told_of(&told, true);
    // Two that left at once are one piece of news.
    assert!((96..=100).contains(&reasons.len()), "{reasons:?}");
    assert!(reasons[0].starts_with("the service gives no token: "), "{reasons:?}");
    assert_eq!(told_of(&told, false), ["the service gives tokens again"]);
    assert!(!told.iter().any(is_unreachable), "{told:#?}");
    assert_eq!(bench.created("device").len(), 60);
    bench.assert_exact(1);
    for row in bench.results(1) {
        assert!(row["attempts"].as_u64() <= Some(2), "{row}");
    }

    let (bench, ending, took, told) = runs(1_000);
    let Ending::Stopped { end: End::Breaker, why, .. } = &ending else { panic!("{ending:?}: {told:#?}") };
    assert!(why.starts_with("the service has given no token for 24 hours: "), "{why}");
    assert_eq!(took.as_secs() / 3_600, 24, "{took:?}");
    assert!(!told.iter().any(is_unreachable), "{told:#?}");
    let (rejected, ready) = rejected_and_ready(&bench);
    assert_eq!((rejected, ready + bench.created("device").len() as u64), (0, 60));
}

#[test]
fn the_row_that_tries_the_service_after_a_long_outage_is_looked_up_again_before_it_is_sent() {
    let bench = Bench::new(quick().with_fault(Fault::new("addSite", FaultKind::Error500Before).after(30)));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(100, 1));
    bench.fleetload(&["import", "companies.csv", "sites.csv"]).expect_code(0);
    let breaker = |event: &Event, wait: Option<Duration>| matches!(event, Event::Breaker { operation: Operation::AddSite, next_try_in, .. } if *next_try_in == wait);
    inside::drive_virtually(async {
        let (clock, delay) = (Virtual::start(), Duration::from_millis(50));
        let options = inside::options(Duration::from_secs(1));
        let mut run = inside::start_virtually(&bench, clock.clone(), delay, options);
        // The next try comes more than ten minutes after the rows were looked up.
        run.hears("it failed for long", |event| breaker(event, Some(Duration::from_secs(300)))).await;
        assert!(clock.elapsed() > Duration::from_secs(310), "{:?}", clock.elapsed());
        bench.clear_faults();
        // A colleague does not wait for it, but leaves a few sites to others.
        bench.write("sites.csv", &bench::sites(90, 1));
        bench.fleetload(&["run", "companies.csv", "sites.csv", "--journal", "colleague.db"]).expect_code(0);
        let sites = bench.created("site").len();
        assert_eq!(sites, 90);
        run.hears("it works again", |event| breaker(event, None)).await;
        let (journal, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
        let tally = journal.tally(None).expect("counts");
        assert!(tally.in_state(JobState::Existing) > 30, "{tally:?}");
    });
    assert_eq!(bench.created("site").len(), 100, "none was created twice");
}

#[test]
fn three_sign_in_pages_in_a_row_hold_the_operation_back() {
    let portal = Fault::new("addDevice", FaultKind::CaptivePortal).after(5).times(3);
    let bench = with_devices(quick().with_fault(portal), 40);
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    let (code, news) = finish(start(&bench));
    assert_eq!(code, 0);
    assert_eq!(bench.statistics().faults_fired["captive_portal"], 3);
    let opened = news.iter().find(|news| is_breaker(news, "addDevice", true)).expect("it opens");
    assert!(opened["reason"].as_str().expect("words").contains("3 answers in a row"), "{opened}");
    let doubted = news.iter().filter(|news| news["event"] == "moved" && news["to"] == "in_doubt");
    assert_eq!(doubted.count(), 3);
    assert_eq!(bench.created("device").len(), 40);
    bench.assert_exact(1);
}

#[test]
fn a_twentieth_of_answers_lost_pauses_the_operation_for_moments_and_everything_is_created_once() {
    let lost = Fault::new("addDevice", FaultKind::AnswerLost).probability(0.1);
    let bench = with_devices(quick().with_fault(lost), 500);
    let (code, news) = finish(start(&bench));
    assert_eq!(code, 0);
    let opened = news.iter().find(|news| is_breaker(news, "addDevice", true)).expect("it opens");
    assert!(opened["reason"].as_str().expect("words").contains("of the last 200"), "{opened}");
    assert!(news.iter().any(|news| is_breaker(news, "addDevice", false)));
    assert!(bench.statistics().faults_fired["answer_lost"] > 10);
    bench.assert_exact(1);
}

#[test]
fn fifty_equal_rejections_set_the_sheet_aside_and_the_rest_goes_on() {
    let drift = Fault::new("addDevice", FaultKind::InvalidData);
    let bench = with_devices(quick().with_fault(drift), 200);
    bench.write("people.csv", &bench::people(70, 1));
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    let Outcome { stdout, stderr, .. } = bench.fleetload(&["run"]).expect_code(8);
    let (rejected, ready) = rejected_and_ready(&bench);
    assert_eq!(bench.statistics().faults_fired["invalid_data"], rejected, "each was refused once");
    assert!((50..=50 + CONCURRENCY).contains(&rejected), "{rejected}");
    assert_eq!(rejected + ready, 200);
    assert_eq!(bench.created("person").len(), 70, "the other sheet is done");
    assert_eq!(bench.summary(1)["state"], "held");
    assert_eq!(bench.summary(1)["exit_code"], 8);
    let paused =
        "the sheet devices.csv is paused: the service rejected 50 of its rows in a row with invalidData";
    assert!(stdout.contains(&format!("{paused}: ")), "{stdout}");
    assert!(stderr.contains("fleetload run --despite-rejections"), "{stderr}");
    assert!(stderr.contains("fleetload cancel 1"), "{stderr}");
    let status = bench.fleetload(&["status"]).expect_code(0);
    let need = format!("{paused}; correct the sheet and run it again, or send the rest anyway");
    assert!(status.stdout.contains(&need), "{}", status.stdout);
    assert!(!status.stderr.contains("fleetload run\n"), "it is rejected again: {}", status.stderr);

    // On purpose: every other row is sent, and refused.
    bench.fleetload(&["run", "--despite-rejections"]).expect_code(4);
    assert_eq!(rejected_and_ready(&bench), (200, 0));
    assert_eq!(bench.statistics().faults_fired["invalid_data"], 200);
    // The service has come to its senses.
    bench.clear_faults();
    bench.fleetload(&["retry", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 200);
}

#[test]
fn the_rows_rejected_so_far_are_those_of_the_import_whose_sheet_is_paused() {
    let drift = Fault::new("addDevice", FaultKind::InvalidData);
    let once = Fault::new("addSite", FaultKind::InvalidData).times(1);
    let bench = with_devices(quick().with_fault(drift).with_fault(once), 200);
    bench.write("sites.csv", &bench::sites(3, 1));
    bench.fleetload(&["import", "sites.csv"]).expect_code(0);
    let ended = bench.fleetload(&["run"]).expect_code(8);
    assert!(bench.path("reports/2/fix.xlsx").exists(), "the later import has a rejected row as well");
    let fix = "only the rows rejected so far are in reports/1/fix.xlsx\n";
    assert!(ended.stderr.contains(fix), "{}", ended.stderr);
}

#[test]
fn of_two_paused_sheets_both_are_counted() {
    let bench = with_devices(quick(), 200);
    let drift = ["addDevice", "addPerson"].map(|operation| Fault::new(operation, FaultKind::InvalidData));
    bench.sandbox().change(|scenario| scenario.fault.extend(drift)).expect("a consistent scenario");
    bench.write("people.csv", &bench::people(200, 1));
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(8);
    let told = bench.fleetload(&["status"]).expect_code(0).stdout;
    assert!(told.starts_with("finished except for 2 paused sheets: "), "{told}");
    assert!(told.contains("; correct the sheets and run them again, or send the rest anyway"), "{told}");
    for (import, sheet) in [("1", "devices.csv"), ("2", "people.csv")] {
        let told = bench.fleetload(&["status", import]).expect_code(0).stdout;
        assert!(told.starts_with("finished except for a paused sheet: "), "{told}");
        let why = "is paused: the service rejected 50 of its rows in a row with invalidData";
        let need = format!(
            "\n  the sheet {sheet} {why}; correct the sheet and run it again, or send the rest anyway\n"
        );
        assert!(told.contains(&need), "{told}");
    }
}

#[test]
fn a_sheet_that_the_last_run_paused_keeps_no_later_import_from_the_next_run() {
    let drift = Fault::new("addDevice", FaultKind::InvalidData);
    let bench = with_devices(quick().with_fault(drift), 200);
    bench.fleetload(&["run"]).expect_code(8);
    bench.fleetload(&["status", "--check"]).expect_code(8);
    bench.write("people.csv", &bench::people(2, 1));
    let imported = bench.fleetload(&["import", "people.csv"]).expect_code(0);
    assert!(imported.stderr.ends_with("to go on: fleetload run\n"), "{imported:?}");
    let later = bench.fleetload(&["status", "2", "--check"]).expect_code(5);
    assert!(later.stdout.starts_with("2 rows remaining; no run is in progress"), "{later:?}");
    assert!(!later.stdout.contains("needs a person"), "{later:?}");
    let all = bench.fleetload(&["status", "--check", "--json"]).expect_code(5).summary();
    assert_eq!((&all["state"], &all["reason"]), (&"waiting".into(), &"rows-waiting".into()), "{all}");
    let (_, ready) = rejected_and_ready(&bench);
    let need = &all["needs_person"][0];
    assert_eq!((&need["cause"], &need["count"]), (&"set_aside".into(), &ready.into()), "{all}");
    let first = bench.fleetload(&["status", "1", "--check"]).expect_code(8);
    assert!(first.stdout.starts_with("finished except for a paused sheet: "), "{first:?}");
    bench.clear_faults();
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(bench.created("person").len(), 2);
}

#[test]
fn a_sheet_that_a_run_in_progress_has_paused_is_named_and_none_of_its_rows_is_promised() {
    let drift = Fault::new("addDevice", FaultKind::InvalidState);
    let bench = with_devices(quick().with_fault(drift), 200);
    bench.write("people.csv", &bench::people(2, 1));
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    let (_relay, gate) = gated(&bench, "addPerson", 0);
    let mut run = start(&bench);
    // The other sheet keeps it in progress until the pause is noted.
    let title =
        "the sheet devices.csv is paused: the service rejected 50 of its rows in a row with invalidState";
    run.until(|| bench.fleetload(&["status"]).stdout.contains(title));
    let Outcome { stdout, .. } = bench.fleetload(&["status"]).expect_code(0);
    assert!(stdout.contains(&format!("  {title}, and ")), "{stdout}");
    let words = " more rows of it are not sent; when the run has ended, correct the sheet and run it again, or send the rest anyway";
    assert!(stdout.contains(words), "{stdout}");
    assert!(stdout.contains("the rest of devices.csv is not sent, as the sheet is paused"), "{stdout}");
    assert!(stdout.contains("\n    fleetload run --despite-rejections\n"), "{stdout}");
    let but = "it sends the rows that can be sent, but not the rest of devices.csv, as the service rejected its rows";
    let then = "to send the rest anyway, when that run has ended: fleetload run --despite-rejections";
    let second = bench.fleetload(&["run", "--despite-rejections"]).expect_code(5);
    assert!(second.stdout.contains(but) && second.stderr.contains(then), "{second:?}");
    let retried = bench.fleetload(&["retry", "1"]).expect_code(0);
    let but = but.replacen("it sends", "the run in progress sends", 1);
    assert!(retried.stderr.contains(&but) && retried.stderr.contains(then), "{retried:?}");
    assert!(!retried.stderr.contains("to send them: fleetload run"), "{retried:?}");
    gate.open();
    run.ended().expect_code(8);
    bench.clear_faults();
    bench.fleetload(&["run", "--despite-rejections"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 200);
}

#[test]
fn rows_of_another_sheet_of_the_same_kind_go_on_past_one_that_is_set_aside() {
    // The first sixty devices are refused, whichever sheet they are of.
    let drift = Fault::new("addDevice", FaultKind::InvalidData).times(60);
    let bench = with_devices(quick().with_fault(drift), 3_000);
    // One at a time: fifty in a row are fifty in a row, in whatever order answers come home otherwise.
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    let sheet = bench::devices(3_140, 1);
    let lines: Vec<&str> = sheet.lines().collect();
    bench.write("second.csv", &format!("{}\n{}\n", lines[0], lines[3_101..].join("\n")));
    bench.fleetload(&["import", "second.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(rejected_and_ready(&bench), (50, 2_950));
    let counts = [("created".to_owned(), 30), ("rejected".to_owned(), 10)];
    assert_eq!(bench.counts(2), counts.into(), "beyond what is handed out at once");
}

#[test]
fn fifty_refused_rows_that_were_the_last_of_their_sheet_leave_nothing_to_decide() {
    let drift = Fault::new("addDevice", FaultKind::InvalidData);
    let bench = with_devices(quick().with_fault(drift), 50);
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(rejected_and_ready(&bench), (50, 0));
}

#[test]
fn a_run_whose_first_sign_in_is_not_answered_is_seen_at_work_and_tries_again_at_once_when_asked() {
    let bench = Bench::new(quick());
    let silent = || {
        let fault = Fault::new("auth", FaultKind::StallBefore).times(1);
        // One that stays in place does not fire again.
        bench.clear_faults();
        bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a consistent scenario");
    };
    let status = || bench.fleetload(&["status", "--json"]).expect_code(0).summary();
    let waits = || status()["next_events"][0]["event"] == "signed_in";
    // The first run looks up the id that its rows name; the second one knows it.
    for rows in [2, 4] {
        silent();
        bench.write("companies.csv", &bench::companies(rows));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
        let before = jiff::Timestamp::now();
        let mut run = start(&bench);
        run.until(waits);
        let told = status();
        assert_eq!((&told["state"], &told["run_at_work"]), (&"running".into(), &true.into()), "{told}");
        let since = told["next_events"][0]["since"].as_str().expect("a moment");
        let since: jiff::Timestamp = since.parse().expect("a moment");
        assert!(before.as_second() <= since.as_second() && since <= jiff::Timestamp::now(), "{told}");
        let shown = bench.fleetload(&["status"]).expect_code(0).stdout;
        for words in ["running since ", "signing in for ", ", under way"] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        let metrics = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
        let in_progress = |line: &str| line.starts_with("fleetload_run_in_progress") && line.ends_with(" 1");
        assert!(metrics.lines().any(in_progress), "{metrics}");
        let asked = bench.fleetload(&["run", "--now"]).expect_code(0).stdout;
        assert!(asked.contains("the sign-in, which has had no answer since "), "{asked}");
        let ended = run.ended().expect_code(0);
        let told = [ended.stdout.as_str(), ended.stderr.as_str()].concat();
        assert!(told.contains("asked to try again now: the sign-in"), "{told}");
        assert!(!told.contains("nothing waits for another try"), "asked once, tried once: {told}");
        assert_eq!(bench.created("company").len(), rows);
        assert_eq!(bench.statistics().faults_fired["stall_before"], rows as u64 / 2, "it had no answer");
    }

    // One that is stopped before it has sent anything leaves the journal as it was.
    let last = || inside::journal(&bench).last_run().expect("readable");
    let before = last();
    bench.write("companies.csv", &bench::companies(5));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    silent();
    let mut run = start(&bench);
    run.until(waits);
    run.signal("-INT");
    assert_eq!(run.ended().expect_code(5).summary()["reason"], "signal");
    assert_eq!((last(), status()["state"].clone()), (before, "waiting".into()));
}
