//! Every object that programs get has a schema in `docs/schema` and fits it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{self, Bench};
use fleetload::model::time::Moment;
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

/// What keeps a value from fitting a schema, and which of its fields the schema speaks of.
#[derive(Default)]
struct Outcome {
    misfits: Vec<String>,
    named: BTreeSet<String>,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.misfits.extend(other.misfits);
        self.named.extend(other.named);
    }
}

/// What keeps a value from fitting a document: every rule that the schemas use, and a panic at any other.
fn misfits(document: &Value, value: &Value) -> Vec<String> {
    look(document, document, value, "").misfits
}

fn look(document: &Value, schema: &Value, value: &Value, at: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let rules = match schema {
        Value::Bool(true) => return outcome,
        Value::Bool(false) => {
            outcome.misfits.push(format!("{at} is not in the schema ({value})"));
            return outcome;
        }
        schema => schema.as_object().expect("rules"),
    };
    let again = |schema: &Value| look(document, schema, value, at);
    let none = serde_json::Map::new();
    let fields = value.as_object().unwrap_or(&none);
    let inside = |name: &str| format!("{at}/{name}");
    for (rule, with) in rules {
        let list = || with.as_array().expect("a list").iter();
        let fits = match rule.as_str() {
            "$ref" => {
                let part =
                    with.as_str().and_then(|place| place.strip_prefix('#')).expect("a part of the document");
                outcome.add(again(document.pointer(part).expect("a known part")));
                true
            }
            "const" => with == value,
            "enum" => list().any(|one| one == value),
            "type" => match with {
                Value::String(one) => types(value).contains(&one.as_str()),
                _ => list().any(|one| types(value).contains(&one.as_str().expect("a type"))),
            },
            "minimum" => value.as_f64().is_none_or(|number| number >= with.as_f64().expect("a number")),
            "maximum" => value.as_f64().is_none_or(|number| number <= with.as_f64().expect("a number")),
            "minItems" => {
                value.as_array().is_none_or(|all| all.len() as u64 >= with.as_u64().expect("a number"))
            }
            "maxItems" => {
                value.as_array().is_none_or(|all| all.len() as u64 <= with.as_u64().expect("a number"))
            }
            "format" => match (with.as_str(), value.as_str()) {
                (Some("date-time"), Some(text)) => Moment::parse(text).is_some() && text.ends_with('Z'),
                (Some("uuid"), Some(text)) => text.parse::<uuid::Uuid>().is_ok(),
                (_, _) => true,
            },
            "required" => {
                let missing = list().map(|name| name.as_str().expect("a name"));
                let missing = missing.filter(|name| value.is_object() && !fields.contains_key(*name));
                outcome.misfits.extend(missing.map(|name| format!("{} is missing", inside(name))));
                true
            }
            "properties" => {
                for (name, schema) in with.as_object().expect("fields") {
                    if let Some(field) = fields.get(name) {
                        outcome.misfits.extend(look(document, schema, field, &inside(name)).misfits);
                        outcome.named.insert(name.clone());
                    }
                }
                true
            }
            "propertyNames" => {
                for name in fields.keys() {
                    let name = Value::String(name.clone());
                    outcome.misfits.extend(look(document, with, &name, at).misfits);
                }
                true
            }
            "additionalProperties" => {
                let known = rules.get("properties").and_then(Value::as_object).unwrap_or(&none);
                for (name, field) in fields.iter().filter(|(name, _)| !known.contains_key(*name)) {
                    outcome.misfits.extend(look(document, with, field, &inside(name)).misfits);
                    outcome.named.insert(name.clone());
                }
                true
            }
            "items" => {
                for (number, entry) in value.as_array().into_iter().flatten().enumerate() {
                    outcome.misfits.extend(look(document, with, entry, &inside(&number.to_string())).misfits);
                }
                true
            }
            "allOf" => {
                list().for_each(|part| outcome.add(again(part)));
                true
            }
            "anyOf" | "oneOf" => {
                let (mut fitting, others): (Vec<_>, Vec<_>) =
                    list().map(again).partition(|outcome| outcome.misfits.is_empty());
                let count = fitting.len();
                fitting.drain(..).for_each(|one| outcome.add(one));
                if count == 0 {
                    // The nearest says best what is wrong.
                    outcome.misfits.extend(
                        others.into_iter().map(|one| one.misfits).min_by_key(Vec::len).unwrap_or_default(),
                    );
                }
                count == 1 || rule == "anyOf" || count == 0
            }
            "$schema" | "$defs" | "title" | "description" | "unevaluatedProperties" => true,
            unknown => panic!("the rule {unknown} is not known to this test"),
        };
        if !fits {
            outcome.misfits.push(format!("{at} is {value} and does not fit {rule} {with}"));
        }
    }
    if rules.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
        let unknown = fields.keys().filter(|name| !outcome.named.contains(*name));
        let unknown: Vec<String> =
            unknown.map(|name| format!("{} is not in the schema", inside(name))).collect();
        outcome.misfits.extend(unknown);
    }
    outcome
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
                schemas.get(&name).unwrap_or_else(|| panic!("{name} is not in src/cli/objects.rs: {line}"));
            let misfits = misfits(schema, &object);
            assert!(misfits.is_empty(), "{command:?}: {misfits:?}\n{line}");
            seen.insert(name);
        }
    }
    seen
}

/// Checks every line of `results.jsonl` and every `summary.json` of the reports; how many lines there are.
fn check_reports(bench: &Bench) -> usize {
    let schemas = schemas();
    let fits = |name: &str, text: &str, place: &Path| {
        let value: Value = serde_json::from_str(text).expect("JSON");
        let misfits = misfits(&schemas[name], &value);
        assert!(misfits.is_empty(), "{}: {misfits:?}\n{text}", place.display());
    };
    let read = |path: &Path| std::fs::read_to_string(path).expect("a report");
    let (mut lines, mut summaries) = (0, 0);
    for path in bench::below(&bench.path("reports")) {
        if path.ends_with("results.jsonl") {
            let text = read(&path);
            text.lines().for_each(|line| fits("results_line", line, &path));
            lines += text.lines().count();
        } else if path.ends_with("summary.json") {
            fits("report_summary", &read(&path), &path);
            summaries += 1;
        }
    }
    assert!(lines > 0 && summaries > 0, "{lines} lines, {summaries} summaries");
    lines
}

/// Lets notifications be appended to a file, a line each; the lines of a run so far.
#[cfg(unix)]
fn notify_a_file(bench: &Bench) -> impl Fn() -> Vec<Value> {
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    let notify =
        "timeout_seconds = 60\ncommand = [\"sh\", \"-c\", \"cat >> told.jsonl; echo >> told.jsonl\"]";
    bench.write("fleetload.toml", &format!("{profile}[profile.bench.notify]\n{notify}\n"));
    let file = bench.path("told.jsonl");
    move || {
        let text = std::fs::read_to_string(&file).expect("notifications");
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

#[cfg(unix)]
#[test]
fn what_a_notification_says_fits_its_schema() {
    let scenario = Scenario { daily_quota: 4, ..Scenario::default() };
    let bench = Bench::new(scenario);
    let told = notify_a_file(&bench);
    bench.write("companies.csv", &bench::companies(8));
    let mut seen = check(&bench, &[&["notify", "--test"]]);
    seen.extend(check(&bench, &[&["run", "companies.csv", "--on-quota", "exit"]]));
    bench.sandbox().change(|scenario| scenario.daily_quota = 100).expect("a consistent scenario");
    seen.extend(check(&bench, &[&["run"], &["notify"]]));
    assert!(seen.contains("delivery"), "{seen:?}");
    let (schema, told) = (&schemas()["notification"], told());
    for notification in &told {
        let misfits = misfits(schema, notification);
        assert!(misfits.is_empty(), "{misfits:?}\n{notification}");
    }
    let events: BTreeSet<&str> = told.iter().filter_map(|one| one["event"].as_str()).collect();
    assert!(events.is_superset(&["finished", "parked", "test"].into()), "{events:?}");
    let mut wrong = told[1].clone();
    wrong["counts"]["departed"] = json!(1);
    assert_eq!(misfits(schema, &wrong).len(), 1);
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
            &["plan", &right, "--sandbox", "--rows"],
            &["run", &right, "--sandbox"],
            &["status"],
            &["report"],
            &["find", "companies", "a", "--sandbox"],
            &["rollout", "--sandbox"],
            &["export", "companies", "--sandbox", "--out", "companies.csv"],
            &["export", "devices", "--sandbox"],
            &["pause", "1"],
            &["resume", "1"],
            &["priority", "1", "2"],
            &["backup", "backup.db"],
            &["prune", "--older-than", "90d", "--dry-run"],
            &["doctor", "--sandbox"],
            &["call", "getCompany", "-p", "id=6f1c2a3e-0000-4000-8000-000000000001", "--sandbox"],
            &["import", "companies.csv"],
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
    assert!(check_reports(&bench) > 300);
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
    assert_eq!(check_reports(&bench), 45);
    for name in ["ability", "check", "decided", "held", "moved", "operation", "quota", "run", "setting"] {
        assert!(seen.contains(name), "{name} did not come: {seen:?}");
    }
    assert!(
        bench.statistics().answers["quotaLimitExceeded"] > 0 && bench.statistics().faults_fired.len() == 3
    );
}

#[test]
fn an_object_that_does_not_fit_is_noticed() {
    let schemas = schemas();
    let noticed = |name: &str, right: &Value, changes: &[(&str, Value, &str)]| {
        assert_eq!(misfits(&schemas[name], right), [""; 0], "{name}");
        for (place, value, expected) in changes {
            let mut wrong = right.clone();
            let (parent, field) = place.rsplit_once('/').expect("a place");
            wrong
                .pointer_mut(parent)
                .expect("a part")
                .as_object_mut()
                .expect("fields")
                .insert(field.to_owned(), value.clone());
            let found = misfits(&schemas[name], &wrong).join("; ");
            assert!(found.contains(expected), "{name} {place}: {found}");
        }
    };
    let quota = json!({
        "object": "quota", "day": "2026-03-01", "used": 1, "confirmed": 1, "refused": 0, "doubtful": 0, "under_way": 0,
        "ceiling": null, "left": null, "partial": false, "resets_at": "2026-03-02T00:00:00Z", "schema": 1, "version": "0.1.0",
    });
    let changes = [
        ("/used", json!("1"), "/used is"),
        ("/used", json!(-1), "minimum"),
        ("/more", json!(1), "/more is not in the schema"),
        ("/schema", json!(2), "const"),
        ("/resets_at", json!("tomorrow"), "date-time"),
    ];
    noticed("quota", &quota, &changes);
    let mut wrong = quota;
    wrong.as_object_mut().expect("fields").remove("day");
    assert_eq!(misfits(&schemas["quota"], &wrong), ["/day is missing"]);
    // A part of a part, a word that is none, and a field that another form of the object has.
    let held = json!({
        "object": "held", "job": 7, "kind": "device", "name": "x", "place": "a.csv!2", "code": "c", "reason": "r",
        "since": "2026-03-02T00:00:00Z", "schema": 1, "version": "0.1.0",
        "candidates": [{"id": null, "name": null, "details": "", "difference": ""}],
        "now": {"by": "getDevice", "is_so": true},
    });
    let changes = [
        ("/kind", json!("devices"), "/kind is"),
        ("/candidates/0/id", json!("no uuid"), "/candidates/0/id is"),
        ("/candidates/0/more", json!(1), "/candidates/0/more is not in the schema"),
        ("/now/is_so", json!("yes"), "/now/is_so is"),
        ("/now/untold", json!("?"), "/now"),
    ];
    noticed("held", &held, &changes);
    let parked = json!({
        "object": "event", "at": "2026-03-02T00:00:00Z", "event": "parked", "until": "2026-03-02T00:00:00Z",
        "schema": 1, "version": "0.1.0",
    });
    let changes = [
        ("/event", json!("departed"), "/event is"),
        ("/operation", json!("addSite"), "/operation is not in the schema"),
        ("/until", json!(1), "/until is"),
    ];
    noticed("event", &parked, &changes);
}

/// The names of the types for which `src` has such a block, with its file.
fn implementations(of: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, of: &str, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            if entry.is_dir() {
                walk(&entry, of, found);
            } else if entry.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&entry).expect("a source");
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let blocks = code.lines().filter_map(|line| line.strip_prefix(of));
                let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric()).collect::<String>();
                found.extend(blocks.map(|rest| (name(rest), entry.display().to_string())));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), of, &mut found);
    found
}

#[test]
fn every_type_that_names_its_object_elsewhere_is_in_the_list_that_the_schemas_are_made_from() {
    let list = include_str!("../../src/cli/objects.rs");
    // The two that are made of the types of summaries, and the one of tests.
    let generic = ["SummaryObject", "LookObject", "Rows"];
    let types = implementations("impl Object for ");
    assert!(types.len() > generic.len(), "{types:?}");
    for (name, file) in types.iter().filter(|(name, _)| !generic.contains(&name.as_str())) {
        let words = list.split(|c: char| !c.is_alphanumeric());
        assert!(words.into_iter().any(|word| word == name), "{name} of {file} is not in src/cli/objects.rs");
    }
}

/// The places of fields that do not say what they are.
fn undescribed(document: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let is_described = |field: &Value| {
        let part = field["$ref"].as_str().and_then(|place| document.pointer(place.strip_prefix('#')?));
        field.get("description").or(part.and_then(|part| part.get("description"))).is_some()
            || field.get("const").is_some()
    };
    match schema {
        Value::Object(rules) => {
            let fields = rules.get("properties").and_then(Value::as_object);
            // The keys of a map say it themselves.
            let is_map = fields.is_some_and(|fields| {
                !rules.contains_key("required") && {
                    let mut forms = fields.values();
                    let first = forms.next();
                    forms.all(|form| Some(form) == first)
                }
            });
            for (name, field) in fields.into_iter().flatten().filter(|_| !is_map) {
                if !is_described(field) {
                    found.push(format!("{at}/{name}"));
                }
            }
            for (name, inside) in rules {
                undescribed(document, inside, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(all) => all.iter().for_each(|inside| undescribed(document, inside, at, found)),
        _ => {}
    }
}

#[test]
fn every_field_says_what_it_is() {
    let mut found = Vec::new();
    for (name, schema) in schemas() {
        undescribed(&schema, &schema, &name, &mut found);
    }
    assert!(found.is_empty(), "give these fields a comment in their types: {found:#?}");
}
