//! Rehearsals: any sheet can be rehearsed, and what comes of one says that it was one.

use fleetload::sandbox::Scenario;

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
    bench.fleetload(&[&["run"][..], &SHEETS, &strict].concat()).expect_code(4);
    assert_eq!(bench.counts(1), [("rejected".to_owned(), 4), ("skipped".to_owned(), 1)].into());
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
    bench.fleetload(&["run", "sites.csv", "--sandbox"]).expect_code(4);
    bench.fleetload(&["run", "more.csv", "--kind", "sites", "--sandbox"]).expect_code(4);
    let late = COMPANY.replace("0001", "0009");
    bench.write("late.csv", &bench::sites(2, 1).replace(",C0,", &format!(",{late},")).replace("S", "L"));
    bench.fleetload(&["run", "late.csv", "--kind", "sites", "--sandbox"]);
    assert_eq!(bench.counts(4), [("created".to_owned(), 2)].into());
}
