//! `fleetload explain`: every code in plain words, from the one catalogue.

use crate::bench::{self, Bench};
use fleetload::sandbox::Scenario;
use fleetload::status::catalogue::{Scope, of_scope};
use serde_json::Value;

fn explained(words: &[&str]) -> String {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&[&["explain"], words].concat()).expect_code(0);
    assert_eq!(outcome.stderr, "");
    outcome.stdout
}

#[test]
fn a_finding_is_told_with_why_it_matters_what_to_do_and_a_cell_before_and_after() {
    insta::assert_snapshot!("finding", explained(&["CELL.numeric-identifier"]));
}

#[test]
fn a_code_of_the_service_a_state_and_an_exit_code_are_told_together() {
    insta::assert_snapshot!("together", explained(&["noDataFound", "held", "exit", "4"]));
}

#[test]
fn an_exit_code_is_told_with_its_reasons_also_when_it_was_typed_in_quotes() {
    let quoted = explained(&["exit 5"]);
    assert_eq!(quoted, explained(&["exit", "5"]));
    insta::assert_snapshot!("exit", quoted);
}

#[test]
fn a_word_that_is_a_code_and_a_state_is_told_as_both() {
    insta::assert_snapshot!("both", explained(&["existing", "answer.timeout"]));
}

#[test]
fn without_a_code_all_are_listed_by_what_they_are_about() {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&["explain"]).expect_code(0);
    assert_eq!(outcome.stderr, "hint: more about one of them: fleetload explain CODE\n");
    for scope in Scope::ALL {
        assert!(outcome.stdout.contains(scope.title()));
        for entry in of_scope(scope) {
            assert!(outcome.stdout.contains(&format!("\n  {} ", entry.code)), "{}", entry.code);
        }
    }
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 80), "{}", outcome.stdout);
    let exits = bench.fleetload(&["explain", "exit"]).expect_code(0);
    insta::assert_snapshot!("exits", exits.stdout);
}

#[test]
fn a_word_that_is_no_code_is_answered_with_the_nearest_and_the_other_words_are_explained() {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&["explain", "held", "cell.mac-lenght", "sheet-paused"]).expect_code(2);
    assert!(outcome.stdout.starts_with("held: a state of a row\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\nsheet-paused: a reason for which"), "{}", outcome.stdout);
    insta::assert_snapshot!("unknown", outcome.stderr);
    let outcome = bench.fleetload(&["explain", "\u{1b}[2Jwheelbarrow"]).expect_code(2);
    assert!(outcome.stderr.contains("there is no code '\\u{1b}[2Jwheelbarrow'"), "{}", outcome.stderr);
}

#[test]
fn the_words_of_the_status_are_explained_too() {
    for word in ["finished", "parked", "stopped", "waiting", "held", "failed", "running", "empty"] {
        assert!(explained(&[word]).contains(&format!("{word}: how the work stands\n")), "{word}");
    }
}

/// What an example shows as wrong is found to be so.
#[test]
fn an_example_of_a_cell_has_the_finding_that_it_is_an_example_of() {
    let bench = Bench::new(Scenario::default());
    for (code, column) in [("cell.country", "country"), ("cell.number", "latitude")] {
        let told = bench.fleetload(&["explain", code, "--json"]).expect_code(0).stdout;
        let object: Value = serde_json::from_str(told.lines().next().expect("a code")).expect("JSON");
        for (text, is_found) in [(&object["example"]["stands"], true), (&object["example"]["should"], false)]
        {
            let cell = |name: &str, usual: &str| match name == column {
                true => text.as_str().expect("a cell").to_owned(),
                false => usual.to_owned(),
            };
            let row = format!(
                "S1,{},HQ,+64 9 557 0001,1 Earl Street,Auckland,{},{},174.7",
                bench::root(),
                cell("country", "NZ"),
                cell("latitude", "-36.85")
            );
            bench.write(
                "sites.csv",
                &format!("key,company,name,phone,address1,city,country,latitude,longitude\n{row}\n"),
            );
            let told = bench.fleetload(&["check", "sites.csv"]).stdout;
            assert_eq!(told.contains(&format!("[{code}]")), is_found, "{code}: {text}: {told}");
        }
    }
}

#[test]
fn every_code_is_an_object_for_programs_and_explains_itself_alone() {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&["explain", "--json"]).expect_code(0);
    let objects: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (summary, codes) = objects.split_last().expect("a summary");
    assert_eq!(summary["codes"], codes.len());
    for code in codes {
        for part in ["code", "scope", "meaning", "follows", "what_to_do"] {
            assert!(code[part].as_str().is_some_and(|text| !text.is_empty()), "{part}: {code}");
        }
    }
    let all: Vec<&str> = codes.iter().map(|code| code["code"].as_str().expect("a code")).collect();
    let told = bench.fleetload(&[&["explain"], all.as_slice()].concat()).expect_code(0);
    for code in all {
        assert!(told.stdout.contains(code), "{code}");
    }
}
