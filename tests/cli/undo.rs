//! What rows change or remove: kept as it was before, told in the reports, and put back.

use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::{Value, json};

use crate::bench::{self, Bench};

const METADATA: &str = "owner_kind,owner,key,value,action\ndevice,T0,asset,A-1,\nsite,S0,floor,3,\n";
const LABELS: &str = "owner_kind,owner,interface,label,action\ninterface,T0,LAN 1,uplink,\n";

fn bench_of(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.write(
        "devices.csv",
        "key,company,name,device_model,mac,phone,address1,city,country\n\
         T0,C0,Till T0,Edge 100,00:1a:2b:00:00:00,+64 9 557 0000,1 Earl Street,Auckland,NZ\n",
    );
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    bench.write("metadata.csv", METADATA);
    bench.write("labels.csv", LABELS);
    bench.fleetload(&["run", "metadata.csv", "labels.csv"]).expect_code(0);
    bench
}

/// Of each row of an import: how it ended, what was there before, and what is said.
fn told(bench: &Bench, import: u32) -> Vec<(String, Value, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = bench.results(import).into_iter();
    rows.map(|row| (text(&row["status"]), row["before"].clone(), text(&row["message"]))).collect()
}

#[test]
fn what_a_row_replaced_or_removed_is_in_its_report_and_what_only_was_added_is_not() {
    let bench = bench_of(Scenario::default());
    let absent = || json!({"was": "absent"});
    let added = ("done".to_owned(), absent(), String::new());
    assert_eq!(told(&bench, 2), [added.clone(), added.clone(), added]);

    bench.write("metadata.csv", &METADATA.replace("A-1", "A-2").replace("floor,3,", "floor,,delete"));
    bench.write("labels.csv", &LABELS.replace("uplink,", "uplink,delete"));
    bench.fleetload(&["run", "metadata.csv", "labels.csv"]).expect_code(0);
    let done = |before: Value, words: &str| ("done".to_owned(), before, words.to_owned());
    let expected = [
        done(json!({"was": "value", "value": "A-1"}), "the value was \"A-1\" before"),
        done(json!({"was": "value", "value": "3"}), "removed: the value was \"3\""),
        done(json!({"was": "present"}), "removed: it was there before"),
    ];
    assert_eq!(told(&bench, 3), expected);
    for file in ["metadata.results.csv", "labels.results.csv"] {
        let text = std::fs::read_to_string(bench.path(&format!("reports/3/{file}"))).expect("the report");
        let words =
            if file.starts_with("metadata") { "the value was \"\"A-1\"\" before" } else { "removed: it" };
        assert!(text.contains(words), "{file}: {text}");
    }

    // The same sheets again: nothing is sent, and nothing was changed by that import.
    bench.fleetload(&["run", "metadata.csv", "labels.csv"]).expect_code(0);
    assert!(told(&bench, 4).iter().all(|(_, before, words)| before.is_null() && !words.contains("A-1")));
}

#[test]
fn what_was_there_before_is_that_of_before_the_first_request_when_its_answer_is_lost() {
    let lost = Fault::new("putDeviceMetadata", FaultKind::AnswerLost).times(2);
    let bench = bench_of(Scenario::default().with_fault(lost));
    bench.write("metadata.csv", &METADATA.replace("A-1", "A-2"));
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 2);
    let before = json!({"was": "value", "value": "A-1"});
    assert_eq!(told(&bench, 3)[0], ("done".to_owned(), before, "the value was \"A-1\" before".to_owned()));
}
