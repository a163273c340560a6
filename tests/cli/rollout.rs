//! The roll-out: what it says of every device agrees with what the service says of each, by whatever operations.

use std::collections::BTreeMap;

use fleetload::sandbox::{DeviceStatus, Fault, FaultKind, Request, Scenario, wall_clock};
use serde_json::Value;

use crate::bench::{self, Bench, CLIENT, Outcome, SECRET, books};

/// A bench whose import 1 has made companies and devices.
fn imported(scenario: Scenario, companies: usize, devices: usize) -> Bench {
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(companies));
    bench.write("devices.csv", &bench::devices(devices, companies));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    bench
}

fn later(status: DeviceStatus) -> Scenario {
    Scenario { device_status: status, rate: 0, ..Scenario::default() }
}

fn objects(outcome: &Outcome, of: &str) -> Vec<Value> {
    let objects = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    objects.filter(|object| object["object"] == of).collect()
}

fn summary(outcome: &Outcome) -> Value {
    objects(outcome, "summary").pop().expect("a summary")
}

/// What the service answers, asked directly, of each device that it has made: its status, where it has one.
fn asked_directly(bench: &Bench) -> BTreeMap<String, Option<Value>> {
    let ask = |request: Request| -> Value {
        let answer = bench.sandbox().respond(&request, wall_clock());
        serde_json::from_slice(&answer.response.body).expect("JSON")
    };
    let token = ask(Request::sign_in(CLIENT, SECRET))["access_token"].as_str().expect("a token").to_owned();
    let made = bench.created("device").into_iter().map(|entry| entry.id.to_string());
    made.map(|id| {
        let path = format!("/device-api/config/v1/getDeviceOnlineStatus/{id}");
        let answer = ask(Request::get(&path).bearing(&token));
        (id, answer.get("body").cloned())
    })
    .collect()
}

/// Holds every device of an output against what the service says of it.
#[track_caller]
fn assert_agrees(bench: &Bench, outcome: &Outcome) {
    let truth = asked_directly(bench);
    let told = objects(outcome, "device");
    assert_eq!(told.len(), truth.len());
    let mut online = 0;
    for device in &told {
        let status = &truth[device["id"].as_str().expect("an id")];
        let word = status.as_ref().map_or(&Value::Null, |status| &status["status"]);
        let since = status.as_ref().map_or(&Value::Null, |status| &status["statusTimestamp"]);
        assert_eq!((&device["status"], &device["status_timestamp"]), (word, since), "{device}");
        let standing = match word.as_str() {
            Some("Online") => "online",
            Some(_) => "not_online",
            None => "no_status",
        };
        assert_eq!(device["standing"], standing);
        online += u64::from(standing == "online");
    }
    let counts = &summary(outcome)["devices"];
    assert_eq!((&counts["online"], &counts["devices"]), (&online.into(), &truth.len().into()));
    let of_companies = objects(outcome, "group").into_iter().filter(|group| group["site"].is_null());
    let sum: u64 = of_companies.map(|group| group["counts"]["online"].as_u64().expect("a number")).sum();
    assert_eq!(sum, online, "the companies add up");
}

#[test]
fn it_agrees_with_the_service_at_every_moment_with_one_request_for_each_company() {
    let status = DeviceStatus {
        online_after_seconds: [1_000, 2_000],
        online_for_seconds: 3_000,
        never_online: 0.2,
        offline_word: None,
    };
    // Which of them are online goes by their ids, so that any number may be; a list of ten could be a page.
    let bench = imported(later(status), 3, 27);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(5);
        assert_agrees(&bench, &outcome);
        assert_eq!(
            (&summary(&outcome)["reason"], &summary(&outcome)["requests"]),
            (&"devices-awaited".into(), &3.into())
        );
        seen.push(summary(&outcome)["devices"]["online"].as_u64().expect("a number"));
        bench.sandbox().advance_clock(1_500);
    }
    // None, some, all that ever are, some of them again.
    assert!(seen[0] == 0 && seen[1] > 0 && seen[2] > seen[1] && seen[3] < seen[2], "{seen:?}");
    assert_eq!(bench.requests("listCompanyDeviceFullStatuses"), 12);
    assert_eq!(bench.ledger().iter().filter(|entry| !entry.created).count(), 0, "nothing was changed");
}

#[test]
fn all_online_ends_with_zero_and_says_since_when() {
    let bench = imported(Scenario::default(), 2, 6);
    let outcome = bench.fleetload(&["rollout", "1", "--json"]).expect_code(0);
    assert_agrees(&bench, &outcome);
    let shown = bench.fleetload(&["rollout"]).expect_code(0).stdout;
    assert!(shown.contains("6 of 6 devices online"), "{shown}");
    assert!(shown.contains("it gives no time zone"), "{shown}");
}

#[test]
fn whatever_operations_are_mapped_the_devices_are_the_same() {
    let status = DeviceStatus {
        online_after_seconds: [1_000, 5_000],
        offline_word: Some("Offline".to_owned()),
        ..DeviceStatus::default()
    };
    let bench = imported(later(status), 2, 12);
    bench.sandbox().advance_clock(1_500);
    for (operation, parameter, requests) in [
        ("listCompanyDeviceFullStatuses", "companyId", 2),
        ("listCompanyDeviceOnlineStatuses", "companyId", 2),
        ("listCompanyTreeDeviceFullStatuses", "companyId", 2),
        ("listCompanyTreeDeviceOnlineStatuses", "companyId", 2),
        ("getDeviceFullStatus", "deviceId", 12),
        ("getDeviceOnlineStatus", "deviceId", 12),
    ] {
        for path in
            [format!("{operation}/{{{parameter}}}"), format!("{operation}?{parameter}={{{parameter}}}")]
        {
            bench.profile(
                &format!(
                    "paths = \"documented\"\n[profile.bench.endpoints.{operation}]\n\
                     path = \"/device-api/config/v1/{path}\""
                ),
                "",
                "",
            );
            let before = bench.requests(operation);
            let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(5);
            assert_eq!(bench.requests(operation) - before, requests, "{path}");
            assert_agrees(&bench, &outcome);
        }
    }
    bench.profile("paths = \"documented\"", "", "");
    let refused = bench.fleetload(&["rollout"]).expect_code(2);
    assert!(
        refused.stderr.contains("[profile.bench.endpoints.listCompanyDeviceFullStatuses]"),
        "{refused:?}"
    );
    let refused = bench.fleetload(&["rollout", "--json"]).expect_code(2);
    assert_eq!(summary(&refused)["reason"], "endpoint-unknown");
}

#[test]
fn an_operation_that_is_not_there_or_fails_is_replaced_by_the_next() {
    for kind in [FaultKind::NotFound404, FaultKind::Error500Before, FaultKind::NoDataFound] {
        let bench = imported(Scenario::default(), 2, 6);
        let fault = |operation: &str| Fault::new(operation, kind);
        let lists = ["listCompanyDeviceFullStatuses", "listCompanyDeviceOnlineStatuses"].map(fault).to_vec();
        bench.sandbox().change(|scenario| scenario.fault = lists).expect("a consistent scenario");
        let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(0);
        assert_agrees(&bench, &outcome);
        assert!(bench.statistics().faults_fired[kind.name()] >= 1, "{}", kind.name());
    }
    // A service that refuses us ends it.
    let bench = imported(Scenario::default(), 1, 3);
    let refuses = |scenario: &mut Scenario| scenario.revoked_clients = vec![CLIENT.to_owned()];
    bench.sandbox().change(refuses).expect("a consistent scenario");
    let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(7);
    assert_eq!(summary(&outcome)["reason"], "credentials");
    // With nothing that answers it is not said that they are offline.
    let bench = imported(Scenario::default(), 1, 3);
    let faults = vec![Fault::new("lookups", FaultKind::Error500Before)];
    bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
    let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(4);
    assert_eq!(
        (&summary(&outcome)["reason"], &summary(&outcome)["devices"]["unknown"]),
        (&"not-read".into(), &3.into())
    );
    assert_eq!(objects(&outcome, "device")[0]["standing"], "unknown");
}

/// What was shown, with a zero for each digit of a time and without the address of the service.
fn masked(bench: &Bench, shown: &str) -> String {
    let line = |line: &str| {
        let mut masked = String::new();
        for word in line.split_inclusive(' ') {
            let timed = word.len() > 7 && (word.starts_with("20") || word.as_bytes()[2] == b':');
            let mask = |c: char| if c.is_ascii_digit() { '0' } else { c };
            masked.extend(word.chars().map(|c| if timed { mask(c) } else { c }));
        }
        masked + "\n"
    };
    shown.replace(&bench.base_url(), "SERVICE").lines().map(line).collect()
}

#[test]
fn the_whole_picture() {
    let offline_word = Some("Offline".to_owned());
    let status =
        DeviceStatus { online_after_seconds: [1_000, 1_000], offline_word, ..DeviceStatus::default() };
    let bench = Bench::new(later(status));
    bench.write("companies.csv", &bench::companies(3));
    bench.write("sites.csv", &bench::sites(3, 2));
    // Those of the first import have come online when the second one adds four.
    for devices in [8, 12] {
        let sheet = bench::devices(devices, 3).replace("company,name,", "company,site,name,");
        let sheet =
            sheet.replace("\nC0,", "\nC0,S0,").replace("\nC1,", "\nC1,S1,").replace("\nC2,", "\nC2,,");
        bench.write("devices.csv", &sheet.replacen("Edge 100", "Edge 9000", 1));
        bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(4);
        bench.sandbox().advance_clock(if devices == 8 { 2_000 } else { 500 });
    }
    let outcome = bench.fleetload(&["rollout"]).expect_code(5);
    insta::assert_snapshot!(masked(&bench, &format!("{}\n{}", outcome.stdout, outcome.stderr)));
    let all = bench.fleetload(&["rollout", "-v"]).expect_code(5).stdout;
    assert!((0..12).all(|n| all.contains(&format!("Till {n} "))), "{all}");
}

#[test]
fn a_list_that_fails_is_replaced_by_one_with_shorter_entries() {
    let bench = imported(Scenario::default(), 2, 6);
    let fault = Fault::new("listCompanyDeviceFullStatuses", FaultKind::Html200);
    bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a consistent scenario");
    let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(0);
    assert_agrees(&bench, &outcome);
    assert_eq!(bench.requests("listCompanyDeviceOnlineStatuses"), 2);
    assert_eq!(
        bench.requests("listCompanyTreeDeviceFullStatuses") + bench.requests("getDeviceFullStatus"),
        0
    );
}

#[test]
fn a_refusal_for_the_pace_and_a_lost_answer_are_asked_again() {
    let bench = imported(Scenario::default(), 3, 9);
    let faults = vec![
        Fault::new("listCompanyDeviceFullStatuses", FaultKind::RateLimitExceeded).times(2),
        Fault::new("listCompanyDeviceFullStatuses", FaultKind::AnswerLost).times(2),
    ];
    bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
    let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(0);
    assert_agrees(&bench, &outcome);
    assert_eq!(bench.requests("listCompanyDeviceFullStatuses"), 7);
    assert_eq!(bench.requests("getDeviceFullStatus"), 0);
}

#[test]
fn a_list_that_may_be_a_page_says_nothing_of_the_devices_that_it_lacks() {
    let bench = imported(Scenario { page_limit: 10, ..Scenario::default() }, 1, 13);
    let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(0);
    assert_agrees(&bench, &outcome);
    assert_eq!(bench.requests("getDeviceFullStatus"), 3, "one by one");
}

#[test]
fn what_the_service_writes_is_shown_as_it_came_and_cannot_steer_the_terminal() {
    let word = "Off\u{1b}[2Jline".to_owned();
    let status = DeviceStatus {
        online_after_seconds: [1_000, 1_000],
        offline_word: Some(word.clone()),
        ..DeviceStatus::default()
    };
    let bench = imported(later(status), 1, 2);
    let shown = bench.fleetload(&["rollout"]).expect_code(5).stdout;
    assert!(!shown.contains('\u{1b}') && shown.contains("the service says: Off"), "{shown}");
    let told = bench.fleetload(&["rollout", "--json"]).expect_code(5);
    assert_eq!(objects(&told, "device")[0]["status"], word.as_str());
}

#[test]
fn rows_without_a_record_are_counted_and_not_asked_for() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let devices = bench::devices(4, 1).replacen("Edge 100", "Edge 9000", 1);
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let outcome = bench.fleetload(&["rollout", "--json"]).expect_code(0);
    let counts = &summary(&outcome)["devices"];
    assert_eq!(
        (&counts["devices"], &counts["online"], &counts["no_record"]),
        (&4.into(), &3.into(), &1.into())
    );
    let shown = bench.fleetload(&["rollout"]).expect_code(0).stdout;
    assert!(shown.contains("3 of 3 devices online") && shown.contains("rejected 1"), "{shown}");
}

#[test]
fn it_is_watched_until_all_are_online_and_says_what_changes() {
    let status = DeviceStatus { online_after_seconds: [1_000, 1_000], ..DeviceStatus::default() };
    let bench = imported(later(status), 1, 3);
    let mut watched = bench.start(&["rollout", "--watch", "--every", "1"]);
    watched.hears(&["0 of 3 devices online"]);
    bench.sandbox().advance_clock(1_000);
    watched.hears(&["3 of 3 devices online", "now online: Till 0, Till 1, Till 2"]);
    let ended = watched.ended();
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_watching_in_order() {
    let status = DeviceStatus { online_after_seconds: [1_000, 1_000], ..DeviceStatus::default() };
    let bench = imported(later(status), 1, 3);
    let mut watched = bench.start(&["rollout", "--watch", "--json", "--out", "rollout.xlsx"]);
    watched.hears(&["\"object\":\"device\"", "Till 2"]);
    watched.signal("-INT");
    let ended = watched.ended();
    let summary = ended.summary();
    assert_eq!((ended.code, &summary["reason"]), (5, &"signal".into()), "{ended:?}");
    assert_eq!(summary["devices"]["no_status"], 3);
    assert!(bench.path("rollout.xlsx").exists());
}

#[test]
fn the_watching_ends_when_nobody_reads_it() {
    let status = DeviceStatus { online_after_seconds: [1_000, 1_000], ..DeviceStatus::default() };
    let bench = imported(later(status), 1, 3);
    let watch = bench.command(&["rollout", "--watch", "--json", "--every", "1"]);
    let ended = bench::child::read_one_line(watch).expect_code(5);
    assert!(!ended.stderr.contains("error"), "{ended:?}");
}

#[test]
fn the_workbook_has_every_device_and_replaces_only_one_of_its_kind() {
    let status = DeviceStatus { online_after_seconds: [1_000, 1_000], ..DeviceStatus::default() };
    let bench = Bench::new(later(status));
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(2, 2));
    let devices =
        bench::devices(4, 2).replace("Till 1,", "'=1+1,").replace("company,name,", "company,site,name,");
    let devices = devices.replace("\nC0,", "\nC0,S0,").replace("\nC1,", "\nC1,S1,");
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    for _ in 0..2 {
        bench.fleetload(&["rollout", "--out", "rollout.xlsx"]).expect_code(5);
    }
    let sheets = books::read(&bench.path("rollout.xlsx"));
    let names: Vec<_> = sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    assert_eq!(names, ["Summary", "Companies and sites", "Devices"]);
    let counted: Vec<String> = sheets[1].text().lines().skip(3).map(str::to_owned).collect();
    assert_eq!(
        counted[0],
        "company | site | devices | online | not online | no status | unknown | no record | latest online since"
    );
    assert_eq!(
        counted[1..],
        [
            "Customer 0 |  | 2 | 0 | 0 | 2 | 0 | 0",
            "Customer 0 | Branch 0 | 2 | 0 | 0 | 2 | 0 | 0",
            "Customer 1 |  | 2 | 0 | 0 | 2 | 0 | 0",
            "Customer 1 | Branch 1 | 2 | 0 | 0 | 2 | 0 | 0",
        ]
    );
    let listed = sheets[2].column("device");
    let listed: Vec<String> = sheets[2].rows[3..].iter().map(|row| row[listed].to_string()).collect();
    assert_eq!(listed, ["Till 0", "'=1+1", "Till 2", "Till 3"]);

    bench.write("mine.xlsx", "a workbook of somebody");
    for (out, words) in [("mine.xlsx", "already exists"), ("rollout.csv", "ends in .xlsx")] {
        let refused = bench.fleetload(&["rollout", "--out", out]).expect_code(2);
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(bench.path("mine.xlsx")).expect("a file"), "a workbook of somebody");
}

#[test]
fn a_rehearsal_is_followed_with_its_own_scenario() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(3, 1));
    bench.write(
        "slow.toml",
        "[device_status]\nonline_after_seconds = [9000, 9000]\noffline_word = \"Offline\"\n",
    );
    let run = ["run", "companies.csv", "devices.csv", "--sandbox", "--scenario", "slow.toml"];
    bench.fleetload(&run).expect_code(0);
    let shown = bench.fleetload(&["rollout"]).expect_code(5).stdout;
    assert!(shown.contains("REHEARSAL") && shown.contains("the service says: Offline 3"), "{shown}");
    bench.write("fast.toml", "");
    bench.fleetload(&["rollout", "--sandbox", "--scenario", "fast.toml"]).expect_code(0);
    assert!(bench.statistics().requests.is_empty(), "nothing of it left the process");
}

#[test]
fn a_device_that_a_fix_sheet_made_belongs_to_the_import_that_left_out_its_row() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let mac = "00:1a:2b:00:00:01";
    let wrong = bench::devices(3, 1).replace(mac, "bad").replace("00:1a:2b:00:00:02", "worse");
    bench.write("devices.csv", &wrong);
    bench.fleetload(&["run", "companies.csv", "devices.csv", "--skip-invalid"]).expect_code(4);
    let path = "reports/1/devices.fix.csv";
    let fix = std::fs::read_to_string(bench.path(path)).expect("a sheet to fix");
    bench.write(path, &fix.replace("bad", mac));
    bench.fleetload(&["run", path, "--skip-invalid"]).expect_code(4);
    assert_eq!(bench.created("device").len(), 2);
    let shown = bench.fleetload(&["rollout", "1", "--json"]).expect_code(0);
    assert_eq!(objects(&shown, "device").len(), 2);
    assert_eq!(
        (&summary(&shown)["devices"]["online"], &summary(&shown)["not_imported"]),
        (&2.into(), &1.into())
    );
}

#[test]
fn an_import_without_devices_names_the_newest_one_that_has_some() {
    let bench = imported(Scenario::default(), 1, 2);
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let before = bench.statistics().requests;
    let none = bench.fleetload(&["rollout"]).expect_code(0);
    assert_eq!(none.stdout.lines().last(), Some("the import has no devices of its own"), "{none:?}");
    assert!(
        none.stderr.ends_with("hint: the newest import that has some: fleetload rollout 1\n"),
        "{none:?}"
    );
    assert_eq!(bench.statistics().requests, before, "there was nothing to ask");
    let none = bench.fleetload(&["rollout", "--json"]).expect_code(0);
    assert_eq!((&summary(&none)["import"], &summary(&none)["requests"]), (&2.into(), &0.into()));
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let bench = Bench::new(Scenario::default());
    bench.fleetload(&["rollout"]).expect_code(6);
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let none = bench.fleetload(&["rollout"]).expect_code(0);
    assert!(none.stdout.contains("the import has no devices of its own"), "{none:?}");
    let refused = bench.fleetload(&["rollout", "7"]).expect_code(2);
    assert!(refused.stderr.contains("no import 7"), "{refused:?}");
    bench.fleetload(&["rollout", "--every", "5"]).expect_code(2);
    bench.fleetload(&["rollout", "--watch", "--every", "0"]).expect_code(2);
}

#[test]
fn the_page_of_the_report_shows_what_was_seen_last_and_nothing_before_anybody_looked() {
    let status = DeviceStatus { never_online: 0.5, ..DeviceStatus::default() };
    let bench = imported(later(status), 3, 20);
    let page = || std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(!page().contains("id=\"rollout\""));

    let looked = bench.fleetload(&["rollout", "--json"]).expect_code(5);
    assert!(looked.stderr.contains("to show it on the page of the report: fleetload report 1"), "{looked:?}");
    let (counts, seen_at) = (&summary(&looked)["devices"], summary(&looked)["seen_at"].clone());
    bench.fleetload(&["report"]).expect_code(0);
    let written = page();
    let sentence = format!("<strong>{} of 20 devices online</strong>", counts["online"]);
    assert!(counts["online"] != 0 && counts["online"] != 20, "{counts}");
    assert!(written.contains(&sentence), "{sentence}");
    assert!(
        written.contains(&format!("<time datetime=\"{}\" data-local>", seen_at.as_str().expect("a time")))
    );
    let section = written.split("<section class=\"part\" id=\"rollout\"").nth(1).expect("a section");
    let section = section.split("</section>").next().expect("its end");
    // The groups are those that the command told, and so are the devices that are not online.
    for group in objects(&looked, "group") {
        let line = format!(
            "<strong><bdi>{}</bdi></strong></th><td class=\"num\" data-label=\"Devices\">{}</td><td class=\"num",
            group["company"].as_str().expect("a name"),
            group["counts"]["devices"]
        );
        assert!(section.contains(&line), "{line}: {section}");
    }
    for device in objects(&looked, "device") {
        let name =
            format!("<tr><th scope=\"row\"><bdi>{}</bdi></th>", device["name"].as_str().expect("a name"));
        assert_eq!(section.contains(&name), device["standing"] != "online", "{device}");
    }
    bench.fleetload(&["report"]).expect_code(0);
    assert_eq!(page(), written);
}
