//! Rehearsals: any sheet can be rehearsed, and what comes of one says that it was one.

use std::io::{Cursor, Read as _};

use fleetload::sandbox::Scenario;
use serde_json::Value;

use crate::bench::{self, Bench};

/// Ids of somebody's own service, which no sandbox has.
const COMPANY: &str = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0001";
const SITE: &str = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0002";
const DEVICE: &str = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0003";
const TEMPLATE: &str = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0004";
const CLOUD: &str = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0005";

/// The blank sheets with a row each that refers to what is there already, by its id, and a device of a model of our own.
fn own_sheets(bench: &Bench) {
    let companies = bench::companies(1).replace(&bench::root(), COMPANY);
    bench.write("companies.csv", &companies);
    bench.write("sites.csv", &bench::sites(1, 1).replace(",C0,", &format!(",{COMPANY},")));
    bench.write("people.csv", &bench::people(1, 1).replace("C0,", &format!("{COMPANY},")));
    bench.write(
        "devices.csv",
        &format!(
            "company,name,site,device_model,template,phone,address1,city,country,enterprise_template,vpn_clouds\n\
             {COMPANY},Till 1,{SITE},RX-2000,,+64 9 557 0001,1 Earl Street,Auckland,NZ,{TEMPLATE},{CLOUD}\n\
             C0,Till 2,,,{DEVICE},+64 9 557 0002,2 Earl Street,Auckland,NZ,,\n"
        ),
    );
}

const SHEETS: [&str; 4] = ["companies.csv", "sites.csv", "people.csv", "devices.csv"];

#[test]
fn sheets_that_refer_to_what_a_service_of_ones_own_has_are_rehearsed_to_the_end() {
    let bench = Bench::new(Scenario::default());
    own_sheets(&bench);
    bench.fleetload(&[&["run"][..], &SHEETS, &["--sandbox"]].concat()).expect_code(0);
    assert_eq!(bench.counts(1), [("created".to_owned(), 5)].into());
    assert!(bench.statistics().requests.is_empty(), "nothing of it left the process");
}

#[test]
fn a_strict_rehearsal_refuses_what_nobody_created() {
    let bench = Bench::new(Scenario::default());
    own_sheets(&bench);
    bench.write("strict.toml", "strict = true\n");
    let strict = ["--sandbox", "--scenario", "strict.toml"];
    let refused = bench.fleetload(&[&["run"][..], &SHEETS, &strict].concat()).expect_code(3);
    let find = |kind: &str| format!("fleetload find {kind} NAME --sandbox --scenario strict.toml");
    let each = ["companies", "sites", "devices"].map(find).join(", ");
    assert!(refused.stderr.contains(&format!("to find the right ids: {each}\n")), "{}", refused.stderr);
    let refused = refused.stdout;
    assert!(refused.contains("6 errors, 0 warnings, 0 notes; nothing was imported"), "{refused}");
    bench.fleetload(&[&["import"][..], &SHEETS].concat()).expect_code(0);
    bench.fleetload(&[&["run"][..], &strict].concat()).expect_code(3);
    assert_eq!(bench.counts(1), [("rejected".to_owned(), 5)].into());
}

#[test]
fn what_is_taken_as_present_is_so_for_later_processes_and_for_rows_that_come_later() {
    let bench = Bench::new(Scenario::default());
    own_sheets(&bench);
    bench.write("one.toml", "daily_quota = 1\n");
    let parked = ["--sandbox", "--scenario", "one.toml", "--on-quota", "exit"];
    bench.fleetload(&[&["run"][..], &SHEETS, &parked].concat()).expect_code(5);
    bench.write("sites.csv", &bench::sites(1, 1).replace(",C0,", &format!(",{DEVICE},")));
    bench.write("more.csv", &bench::sites(3, 1).replace(",C0,", &format!(",{TEMPLATE},")));
    bench.fleetload(&["run", "--sandbox"]).expect_code(0);
    // One id is one record: a device of the first import is no company in the second, and a template is none.
    bench.fleetload(&["run", "sites.csv", "--sandbox"]).expect_code(3);
    bench.fleetload(&["run", "more.csv", "--kind", "sites", "--sandbox"]).expect_code(3);
    let late = COMPANY.replace("0001", "0009");
    bench.write("late.csv", &bench::sites(2, 1).replace(",C0,", &format!(",{late},")).replace("S", "L"));
    bench.fleetload(&["run", "late.csv", "--kind", "sites", "--sandbox"]);
    assert_eq!(bench.counts(4), [("created".to_owned(), 2)].into());
}

#[test]
fn the_plan_of_a_rehearsal_is_one_for_the_client_of_its_scenario() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("acme.toml", "daily_quota = 2\n[[client]]\nid = \"acme\"\nsecret = \"s3cret\"\n");
    let scenario = ["--sandbox", "--scenario", "acme.toml"];
    let parked = ["run", "companies.csv", "--on-quota", "exit"];
    bench.fleetload(&[&parked[..], &scenario].concat()).expect_code(5);
    let planned = bench.fleetload(&[&["plan", "companies.csv"], &scenario[..]].concat()).expect_code(0);
    assert!(planned.stdout.contains("acme"), "{planned:?}");
    assert!(planned.stdout.contains("1 row to create: 1 company"), "{planned:?}");
    let next = "fleetload run companies.csv --sandbox --scenario acme.toml\n";
    assert!(planned.stderr.ends_with(next), "{planned:?}");
}

const BANNER: &str = "REHEARSAL: nothing was created";

/// What each output says, by its name; of a workbook all texts in it.
fn outputs(bench: &Bench, options: &[&str]) -> Vec<(String, String)> {
    // One of the rows is wrong, so that there is something to correct.
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(1, 1).replace(",C0,", ",nobody,"));
    let mut told = Vec::new();
    let mut of = |name: &str, command: &[&str], code| {
        let outcome = bench.fleetload(command).expect_code(code);
        told.push((name.to_owned(), outcome.stdout));
    };
    let planned = ["plan", "companies.csv", "--out", "plan.html"];
    of("plan", &[&planned[..], options].concat(), 0);
    of("doctor", &[&["doctor"][..], options].concat(), 0);
    of("doctor --json", &[&["doctor", "--json"][..], options].concat(), 0);
    of("plan --json", &[&["plan", "companies.csv", "--json"][..], options].concat(), 0);
    let run = ["run", "companies.csv", "sites.csv", "--skip-invalid"];
    of("run", &[&run[..], options].concat(), 4);
    of("run --json", &[&["run", "--json"][..], options].concat(), 4);
    // From the journal alone: it knows.
    let from_the_journal: [&[&str]; 7] = [
        &["status"],
        &["report"],
        &["check", "companies.csv"],
        &["import", "companies.csv"],
        &["retry", "1"],
        &["resolve"],
        &["resolve", "--import", "1", "--seen"],
    ];
    for command in from_the_journal {
        of(&command.join(" "), command, 0);
        of(&format!("{} --json", command.join(" ")), &[command, &["--json"]].concat(), 0);
    }
    // Ended by mistake.
    of("cancel 9 --json", &["cancel", "9", "--json"], 2);
    for file in ["plan.html", "reports/1/report.html", "reports/1/summary.json", "reports/1/results.jsonl"] {
        told.push((file.to_owned(), std::fs::read_to_string(bench.path(file)).expect(file)));
    }
    for file in ["results.xlsx", "fix.xlsx"] {
        let bytes = std::fs::read(bench.path(&format!("reports/1/{file}"))).expect(file);
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a workbook");
        for part in 0..archive.len() {
            let mut part = archive.by_index(part).expect("a part");
            let name = format!("{file}!{}", part.name().expect("a name"));
            let mut text = String::new();
            if name.contains("worksheets/sheet") || name.contains("sharedStrings") {
                part.read_to_string(&mut text).expect("XML");
                told.push((name, text));
            }
        }
    }
    for (import, json) in [("1", false), ("2", true)] {
        let command = ["cancel", import, "--json"];
        let name = command[..2 + usize::from(json)].join(" ");
        let told_last = bench.fleetload(&command[..2 + usize::from(json)]).expect_code(0);
        told.push((name, told_last.stdout));
    }
    told
}

/// Whether each output says what is looked for; those of a name that ends with `--json` or in JSON have it as fields.
#[track_caller]
fn assert_named(told: &[(String, String)], account: &str, service: &str, rehearsal: bool) {
    for (name, text) in told {
        let is_json = name.contains("json");
        assert!(
            text.contains(account) || name.contains("sharedStrings"),
            "{name} does not name the account: {text}"
        );
        assert_eq!(text.contains(BANNER), rehearsal && !is_json, "{name}: {text}");
        if !is_json {
            continue;
        }
        let last = if name.ends_with("summary.json") { text } else { text.lines().last().expect("a line") };
        let object: Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(object["account"], account, "{name}: {last}");
        assert_eq!(object["service"], service, "{name}: {last}");
        assert_eq!(object["rehearsal"], rehearsal, "{name}: {last}");
    }
}

#[test]
fn every_output_of_a_rehearsal_says_that_it_is_one_and_names_account_and_service() {
    let bench = Bench::new(Scenario::default());
    let told = outputs(&bench, &["--sandbox"]);
    assert_named(&told, "sandbox", "sandbox://in-process", true);
    for (name, text) in told.iter().filter(|(name, _)| name.ends_with("sharedStrings.xml")) {
        assert_eq!(text.matches(BANNER).count(), 1, "once on the first sheet: {name}");
    }
    let page = &told.iter().find(|(name, _)| name.ends_with("report.html")).expect("a page").1;
    let commands = page.split("<code>").skip(1).filter_map(|rest| rest.split_once("</code>"));
    let incomplete: Vec<&str> = commands
        .map(|(command, _)| command)
        .filter(|command| command.starts_with("fleetload run") && !command.contains("--sandbox"))
        .collect();
    assert!(incomplete.is_empty(), "{incomplete:?}");
}

/// Nobody need say again that it is one.
#[test]
fn a_plan_without_a_profile_is_that_of_the_rehearsal_whose_journal_it_is() {
    let bench = Bench::new(Scenario::default());
    std::fs::remove_file(bench.path("fleetload.toml")).expect("the profile");
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv", "--sandbox"]).expect_code(0);
    let told = bench.fleetload(&["plan", "companies.csv", "--out", "plan.html"]).expect_code(0).stdout;
    assert!(told.contains(BANNER), "{told}");
    let page = std::fs::read_to_string(bench.path("plan.html")).expect("a page");
    assert!(page.contains(BANNER), "{page}");
}

#[test]
fn no_output_of_a_run_with_a_profile_says_that_it_is_a_rehearsal() {
    let bench = Bench::new(Scenario::default());
    let told = outputs(&bench, &[]);
    assert_named(&told, bench::CLIENT, &bench.base_url(), false);
    for (name, text) in &told {
        let text = text.split_once("</head>").map_or(text.as_str(), |(_, body)| body);
        let text = text.replace("\"rehearsal\":false", "").replace("\"rehearsal\": false", "");
        assert!(!text.to_lowercase().contains("rehears"), "{name}: {text}");
    }
}

#[test]
fn a_journal_that_no_run_has_used_says_so() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    for command in ["status", "report"] {
        let told = bench.fleetload(&[command]).expect_code(0).stdout;
        assert!(told.contains("not used with any account yet"), "{told}");
    }
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("not used with any account yet"), "{page}");
    let summary = bench.summary(1);
    assert_eq!([&summary["account"], &summary["service"]], [&Value::Null, &Value::Null]);
    assert_eq!(summary["rehearsal"], false);
}

#[test]
fn mistakes_of_a_rehearsal_say_to_programs_that_it_is_one() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let told = |arguments: &[&str]| bench.fleetload(arguments).expect_code(2).summary();
    for (options, rehearsal) in [(&["--sandbox"][..], true), (&[], false)] {
        let wrong = [&["run", "companies.csv", "--json"], options];
        for typo in [&["--until", "never"][..], &["--until"], &["--nonsense"]] {
            let summary = told(&[&wrong.concat()[..], typo].concat());
            assert_eq!([&summary["account"], &summary["service"]], [&Value::Null, &Value::Null], "{summary}");
            assert_eq!(summary["rehearsal"], rehearsal, "{typo:?}: {summary}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_rehearsal_that_is_ended_at_once_says_to_programs_whose_it_was() {
    let bench = Bench::new(Scenario::default());
    bench.write("stall.toml", "[[fault]]\noperation = \"addCompany\"\nkind = \"stall_after\"\n");
    bench.write("companies.csv", &bench::companies(1));
    let mut run = bench.start(&["run", "companies.csv", "--sandbox", "--scenario", "stall.toml", "--json"]);
    run.hears(&["\"moved\"", "\"sending\""]);
    run.signal("-INT");
    run.hears(&["\"draining\""]);
    run.signal("-INT");
    let outcome = run.ended().expect_code(5);
    let summary = outcome.summary();
    assert_eq!([&summary["account"], &summary["rehearsal"]], [&Value::from("sandbox"), &true.into()]);
}

/// The commands that are told to type, each as its words.
fn advised(outcome: &bench::Outcome) -> Vec<Vec<String>> {
    let all = outcome.stdout.clone() + &outcome.stderr;
    let commands = all.lines().filter_map(|line| Some(&line[line.find("fleetload ")?..]));
    commands.map(|command| command.split_whitespace().skip(1).map(str::to_owned).collect()).collect()
}

#[test]
fn the_scenario_of_a_rehearsal_is_part_of_every_command_that_goes_on_with_it() {
    let bench = Bench::new(Scenario::default());
    bench.write("two.toml", "daily_quota = 2\n");
    bench.write("companies.csv", &bench::companies(4));
    let typed = ["run", "companies.csv", "--sandbox", "--scenario", "two.toml", "--on-quota", "exit"];
    let mut told = vec![bench.fleetload(&typed).expect_code(5)];
    for command in [&["status"][..], &["report"], &["retry", "1"], &["import", "companies.csv"]] {
        told.push(bench.fleetload(command).expect_code(0));
    }
    let of_a_rehearsal = |command: &Vec<String>| ["run", "plan", "resolve"].contains(&command[0].as_str());
    for outcome in &told {
        let commands = advised(outcome);
        for command in commands.iter().filter(|command| of_a_rehearsal(command)) {
            assert!(
                command.ends_with(&["--sandbox", "--scenario", "two.toml"].map(str::to_owned)),
                "{command:?}"
            );
        }
    }
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("--sandbox --scenario two.toml"), "{page}");
    // Pasted, it meets the same service. Without its scenario it meets one that does nothing wrong.
    let again = advised(&told[1]).into_iter().find(|command| command[0] == "run").expect("how to go on");
    assert!(
        again.ends_with(&["--on-quota", "exit", "--sandbox", "--scenario", "two.toml"].map(str::to_owned))
    );
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    bench.fleetload(&again).expect_code(5);
    std::fs::remove_file(bench.path("two.toml")).expect("a file");
    let told = bench.fleetload(&["status"]).expect_code(0);
    assert!(
        told.stderr.contains("fleetload run --on-quota exit --sandbox\n"),
        "what is gone is not advised: {}",
        told.stderr
    );
    bench.fleetload(&["run", "--sandbox"]).expect_code(0);
    assert!(!bench.fleetload(&["status"]).stderr.contains("--scenario"));
}
