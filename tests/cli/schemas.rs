//! Every object that programs get has a schema in `docs/schema` and fits it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::bench::{self, Bench};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// The schemas by the names of their objects.
fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON"))
    };
    files.map(read).collect()
}

/// The types of JSON that a value is of.
fn types(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(number) if number.is_f64() => &["number"],
        Value::Number(_) => &["integer", "number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    }
}

/// What keeps an object from fitting its schema: the rules that the schemas use.
fn misfits(schema: &Value, object: &Value) -> Vec<String> {
    let (properties, fields) = (&schema["properties"], object.as_object().expect("an object"));
    let mut misfits = Vec::new();
    for name in schema["required"].as_array().expect("names") {
        let name = name.as_str().expect("a name");
        if !fields.contains_key(name) {
            misfits.push(format!("{name} is missing"));
        }
    }
    for (name, value) in fields {
        match properties.get(name) {
            None if schema["additionalProperties"] == true => {}
            None => misfits.push(format!("{name} is not in the schema ({value})")),
            Some(property) => {
                let allowed = match &property["type"] {
                    Value::String(one) => vec![one.as_str()],
                    Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
                    _ => Vec::new(),
                };
                if !allowed.is_empty() && !types(value).iter().any(|one| allowed.contains(one)) {
                    misfits.push(format!("{name} is {value} and not {allowed:?}"));
                }
                if property.get("const").is_some_and(|expected| expected != value) {
                    misfits.push(format!("{name} is {value}"));
                }
            }
        }
    }
    misfits
}

/// Runs commands with `--json`, checks every object, and gives the names of those that came.
fn check(bench: &Bench, commands: &[&[&str]]) -> BTreeSet<String> {
    let (schemas, mut seen) = (schemas(), BTreeSet::new());
    for command in commands {
        let outcome = bench.fleetload(&[*command, &["--json"]].concat());
        assert!(!outcome.stdout.is_empty(), "{command:?}: {}", outcome.stderr);
        for line in outcome.stdout.lines() {
            let object: Value = serde_json::from_str(line).expect("JSON");
            let name = object["object"].as_str().expect("a name").to_owned();
            let schema =
                schemas.get(&name).unwrap_or_else(|| panic!("{name} is not in src/term/objects.csv: {line}"));
            let misfits = misfits(schema, &object);
            assert!(misfits.is_empty(), "{command:?}: see src/term/objects.csv: {misfits:?}\n{line}");
            seen.insert(name);
        }
    }
    seen
}

#[test]
fn every_object_of_a_rehearsal_from_the_check_to_the_undo_fits_its_schema() {
    let bench = Bench::new(Scenario::default());
    let sample = |name: &str| format!("{}/samples/{name}", env!("CARGO_MANIFEST_DIR"));
    let (right, wrong, upkeep) = (sample("onboarding.xlsx"), sample("mistakes.xlsx"), sample("upkeep.xlsx"));
    let seen = check(
        &bench,
        &[
            &["check", &wrong],
            &["plan", &right, "--sandbox"],
            &["run", &right, "--sandbox"],
            &["status"],
            &["report"],
            &["find", "companies", "a", "--sandbox"],
            &["rollout", "--sandbox"],
            &["export", "companies", "--sandbox", "--out", "companies.csv"],
            &["undo", "1", "--out", "undo.xlsx"],
            &["run", &upkeep, "--sandbox"],
            &["explain"],
            &["call", "--list"],
            &["call", "addDevice", "--help"],
            &["template", "--out", "blank"],
            &["run", "--nonsense"],
            &["run", "missing.csv"],
        ],
    );
    for name in
        ["company", "device", "error", "event", "finding", "found", "group", "import", "progress", "summary"]
    {
        assert!(seen.contains(name), "{name} did not come: {seen:?}");
    }
}

#[test]
fn every_object_of_a_run_with_trouble_and_of_what_is_decided_after_it_fits_its_schema() {
    let scenario = Scenario { latency_ms: [1, 10], ..Scenario::default() };
    let bench = Bench::new(
        scenario
            .with_fault(Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::Error500Before) })
            .with_fault(Fault { probability: 0.3, ..Fault::new("addDevice", FaultKind::InvalidData) })
            .with_fault(Fault { times: Some(3), ..Fault::new("addDevice", FaultKind::RateLimitExceeded) }),
    );
    bench.write("companies.csv", &bench::companies(5));
    bench.write("devices.csv", &bench::devices(40, 5));
    let run = ["run", "companies.csv", "devices.csv", "--in-doubt", "hold"];
    let mut seen = check(&bench, &[&run, &["status"], &["doctor"], &["resolve"], &["retry"]]);
    let told = bench.fleetload(&["status", "--json"]).expect_code(0).stdout;
    let held = told.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let job = held.filter(|object| object["object"] == "held").map(|held| held["job"].to_string()).next();
    let job = job.expect("a row on hold");
    bench.sandbox().change(|scenario| scenario.daily_quota = 10).expect("a consistent scenario");
    seen.extend(check(
        &bench,
        &[&["resolve", &job, "--not-created"], &["run", "--on-quota", "exit"], &["status"], &["cancel", "1"]],
    ));
    for name in ["ability", "check", "decided", "held", "moved", "operation", "quota", "run", "setting"] {
        assert!(seen.contains(name), "{name} did not come: {seen:?}");
    }
    assert!(
        bench.statistics().answers["quotaLimitExceeded"] > 0 && bench.statistics().faults_fired.len() == 3
    );
}

#[test]
fn an_object_that_does_not_fit_is_noticed() {
    let schema = &schemas()["quota"];
    let right = serde_json::json!({
        "object": "quota", "day": "2026-03-01", "used": 1, "confirmed": 1, "refused": 0, "doubtful": 0, "under_way": 0,
        "ceiling": null, "left": null, "resets_at": "2026-03-02T00:00:00Z", "schema": 1, "version": "0.1.0",
    });
    assert_eq!(misfits(schema, &right), [""; 0]);
    for (name, value) in [("used", Value::from("1")), ("more", Value::from(1)), ("schema", Value::from(2))] {
        let mut wrong = right.clone();
        wrong[name] = value;
        assert_eq!(misfits(schema, &wrong).len(), 1, "{name}");
    }
    let mut wrong = right;
    wrong.as_object_mut().expect("fields").remove("day");
    assert_eq!(misfits(schema, &wrong), ["day is missing"]);
}
