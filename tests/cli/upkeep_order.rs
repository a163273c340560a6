//! The order within one record: what is taken away from it is settled before anything is put on it.

use std::collections::BTreeMap;
use std::time::Duration;

use fleetload::model::state::JobState;
use fleetload::run::Interrupt;
use fleetload::sandbox::{ENTERPRISE_TEMPLATES, Fault, FaultKind, LedgerEntry, Scenario};

use crate::bench::{self, Bench};
use crate::inside::{self, Virtual};

const DEVICES: usize = 3;
const REMOVALS: [&str; 2] = ["deleteDeviceMetadata", "unsubscribeTemplate"];

/// Devices with an entry and a template, and sheets that put another of each before they take the old one away.
fn bench_of(devices: usize) -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let [old, new] = ENTERPRISE_TEMPLATES;
    let rows: String = (0..devices)
        .map(|n| format!("T{n},C0,Till {n},Edge 100,+64 9 557 0000,1 Earl Street,Auckland,NZ\n"))
        .collect();
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &format!("key,company,name,device_model,phone,address1,city,country\n{rows}"));
    let sheet = |head: &str, lines: &[&str]| {
        let lines =
            lines.iter().flat_map(|line| (0..devices).map(move |n| line.replace('#', &format!("T{n}"))));
        format!("{head}\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    };
    let (metadata, subscriptions) = ("owner_kind,owner,key,value,action", "device,template,action");
    bench.write("metadata.csv", &sheet(metadata, &["device,#,old,1,"]));
    bench.write("subscriptions.csv", &sheet(subscriptions, &[&format!("#,{old},")]));
    let files = ["companies.csv", "devices.csv", "metadata.csv", "subscriptions.csv"];
    bench.fleetload(&[&["run"][..], &files].concat()).expect_code(0);
    bench.write("metadata.csv", &sheet(metadata, &["device,#,new,2,", "device,#,old,,delete"]));
    bench.write(
        "subscriptions.csv",
        &sheet(subscriptions, &[&format!("#,{new},subscribe"), &format!("#,{old},unsubscribe")]),
    );
    bench
}

/// What the service did since it had done `before` things: by device, the operations in their order.
fn done_since(bench: &Bench, before: usize) -> BTreeMap<String, Vec<String>> {
    let mut done: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for LedgerEntry { parent, operation, .. } in bench.ledger().into_iter().skip(before) {
        done.entry(parent.expect("what it belongs to").to_string()).or_default().push(operation);
    }
    done
}

/// Every device lost both things before it got both.
#[track_caller]
fn assert_in_order(done: &BTreeMap<String, Vec<String>>) {
    assert_eq!(done.len(), DEVICES);
    for operations in done.values() {
        let (lost, got) = operations.split_at(REMOVALS.len());
        assert!(lost.iter().all(|operation| REMOVALS.contains(&operation.as_str())), "{operations:?}");
        let mut got = got.to_vec();
        got.sort();
        assert_eq!(got, ["putDeviceMetadata", "subscribeTemplate"], "{operations:?}");
    }
}

fn fault(bench: &Bench, fault: Fault) {
    bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a fault");
}

/// Of each row of an import that is not done, its sheet, its row, its state and what is said of it.
fn open_rows(bench: &Bench, import: u32) -> Vec<String> {
    let rows = bench.results(import).into_iter().filter(|row| row["status"] != "done");
    rows.map(|row| {
        format!("{} {}: {}: {}", row["sheet"], row["row"], row["status"], row["message"]).replace('"', "")
    })
    .collect()
}

#[test]
fn what_is_taken_away_from_a_record_comes_before_what_is_put_on_it() {
    let bench = bench_of(DEVICES);
    let before = bench.ledger().len();
    bench.fleetload(&["run", "metadata.csv", "subscriptions.csv"]).expect_code(0);
    assert_eq!(bench.counts(2), [("done".to_owned(), 4 * DEVICES as u64)].into());
    assert_in_order(&done_since(&bench, before));
}

#[test]
fn what_is_put_on_a_record_of_the_same_import_waits_for_the_record_and_the_removals() {
    let bench = bench_of(DEVICES);
    for file in ["devices.csv", "metadata.csv", "subscriptions.csv"] {
        let sheet = std::fs::read_to_string(bench.path(file)).expect("a sheet");
        let mut other = sheet;
        for n in 0..DEVICES {
            other = other.replace(&format!("T{n},"), &format!("D{n},"));
        }
        bench.write(file, &other.replace("Till", "Desk"));
    }
    let files = ["companies.csv", "devices.csv", "metadata.csv", "subscriptions.csv"];
    bench.fleetload(&[&["run"][..], &files].concat()).expect_code(0);
    // A new device has nothing that can be taken away: those rows are settled without a request.
    assert_eq!((bench.requests("deleteDeviceMetadata"), bench.requests("unsubscribeTemplate")), (0, 0));
    let counts = [("created", DEVICES + 1), ("done", 2 * DEVICES), ("existing", 2 * DEVICES)];
    assert_eq!(bench.counts(2), counts.map(|(state, rows)| (state.to_owned(), rows as u64)).into());
}

/// A device that is to be created, whose row has these columns besides, and these cells in them.
fn bench_of_new_device(columns: &str, cells: &str) -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(1));
    let device = "Till 0,Edge 100,+64 9 557 0000,1 Earl Street,Auckland,NZ";
    let head = "key,company,name,device_model,phone,address1,city,country";
    bench.write("devices.csv", &format!("{head},{columns}\nT0,C0,{device},{cells}\n"));
    bench
}

#[test]
fn rows_about_a_new_record_wait_for_all_that_its_own_row_puts_on_it() {
    let bench = bench_of_new_device("vpn_clouds", "Guest");
    bench.write("vpn.csv", "device,cloud,action,interface,weight\nT0,Guest,configure,LAN 1,10\n");
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T0,asset,A-1\n");
    // The row joins the cloud only when it has been looked up and sent again.
    fault(&bench, Fault::new("addDeviceToVpnCloud", FaultKind::RequestLost).times(1));
    bench.fleetload(&["run", "companies.csv", "devices.csv", "vpn.csv", "metadata.csv"]).expect_code(0);
    assert!(bench.statistics().faults_fired.contains_key("request_lost"));
    let ledger = bench.ledger();
    let of_device: Vec<&str> = ledger[2..].iter().map(|entry| entry.operation.as_str()).collect();
    assert_eq!(of_device[0], "addDeviceToVpnCloud", "{of_device:?}");
    assert_eq!(bench.counts(1), [("created".to_owned(), 2), ("done".to_owned(), 2)].into());
}

#[test]
fn a_row_about_a_new_record_is_compared_with_what_its_own_row_has_put_on_it() {
    let bench = bench_of_new_device("vpn_clouds,enterprise_template", "Guest,Retail Standard");
    bench.write("vpn.csv", "device,cloud,action\nT0,Guest,join\n");
    bench.write("subscriptions.csv", "device,template,action\nT0,Retail Standard,unsubscribe\n");
    bench.fleetload(&["run", "companies.csv", "devices.csv", "vpn.csv", "subscriptions.csv"]).expect_code(0);
    // What the row has put is there already, and is taken away where another row says so.
    assert_eq!((bench.requests("addDeviceToVpnCloud"), bench.requests("unsubscribeTemplate")), (1, 1));
    let counts = [("created".to_owned(), 2), ("done".to_owned(), 1), ("existing".to_owned(), 1)];
    assert_eq!(bench.counts(1), counts.into());
}

#[test]
fn what_is_put_waits_while_a_removal_is_in_doubt_and_through_a_kill() {
    let bench = bench_of(DEVICES);
    let before = bench.ledger().len();
    fault(&bench, Fault::new("unsubscribeTemplate", FaultKind::StallAfter).times(1));
    let mut run = bench.start(&["run", "metadata.csv", "subscriptions.csv"]);
    run.until(|| bench.statistics().faults_fired.contains_key("stall_after"));
    let puts = |bench: &Bench| bench.requests("subscribeTemplate");
    // All other devices are done, side by side with the one that waits.
    run.until(|| puts(&bench) == (2 * DEVICES - 1) as u64);
    run.kill();
    assert_eq!(done_since(&bench, before).values().filter(|done| done.len() == 2).count(), 1);
    bench.fleetload(&["run"]).expect_code(0);
    assert_in_order(&done_since(&bench, before));
}

#[test]
fn what_is_put_goes_on_after_a_removal_that_was_rejected() {
    let bench = bench_of(DEVICES);
    fault(&bench, Fault::new("unsubscribeTemplate", FaultKind::GeneralError).times(1));
    bench.fleetload(&["run", "metadata.csv", "subscriptions.csv"]).expect_code(4);
    let counts = [("done".to_owned(), 4 * DEVICES as u64 - 1), ("rejected".to_owned(), 1)];
    assert_eq!(bench.counts(2), counts.into());
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.counts(2), [("done".to_owned(), 4 * DEVICES as u64)].into());
}

#[test]
fn what_waits_for_a_removal_on_hold_says_so_and_goes_on_when_that_is_decided() {
    let bench = bench_of(1);
    // Nothing tells whether it was carried out.
    let faults = vec![
        Fault::new("unsubscribeTemplate", FaultKind::RequestLost).times(1),
        Fault::new("listAssignedTemplates", FaultKind::NotFound404),
    ];
    bench.sandbox().change(|scenario| scenario.fault = faults.clone()).expect("a fault");
    bench.fleetload(&["run", "metadata.csv", "subscriptions.csv"]).expect_code(8);
    insta::assert_debug_snapshot!(open_rows(&bench, 2));
    let held = bench.results(2).into_iter().find(|row| row["status"] == "held").expect("a row on hold");
    bench.fleetload(&["resolve", &held["job"].to_string(), "--abandon"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.counts(2), [("cancelled".to_owned(), 1), ("done".to_owned(), 3)].into());
}

#[test]
fn what_is_taken_away_and_put_again_under_its_id_is_compared_with_what_is_there_then() {
    let bench = bench_of(1);
    let [_, new] = ENTERPRISE_TEMPLATES;
    let device = bench.created("device").pop().expect("a device").id;
    let body = format!("{{\"deviceId\": \"{device}\", \"enterpriseTemplateId\": \"{new}\"}}");
    bench.write("body.json", &body);
    bench.fleetload(&["call", "subscribeTemplate", "--body", "body.json", "--yes"]).expect_code(0);
    let before = bench.ledger().len();
    let rows = format!("T0,{new},subscribe\nT0,Office Standard,unsubscribe\n");
    bench.write("subscriptions.csv", &format!("device,template,action\n{rows}"));
    bench.fleetload(&["run", "subscriptions.csv"]).expect_code(0);
    let operations: Vec<Vec<String>> = done_since(&bench, before).into_values().collect();
    assert_eq!(operations, [["unsubscribeTemplate", "subscribeTemplate"]]);
}

#[test]
fn rows_of_two_imports_are_about_one_record_whether_they_name_it_by_its_key_or_its_id() {
    let bench = bench_of(1);
    let before = bench.ledger().len();
    let device = bench.created("device").pop().expect("a device").id;
    let [old, new] = ENTERPRISE_TEMPLATES;
    for (file, rows) in
        [("off.csv", format!("T0,{old},unsubscribe\n")), ("on.csv", format!("{device},{new},subscribe\n"))]
    {
        bench.write(file, &format!("device,template,action\n{rows}"));
        bench.fleetload(&["import", file, "--kind", "subscriptions"]).expect_code(0);
    }
    // It is sent again after a look-up: a row that does not wait for it would have gone.
    fault(&bench, Fault::new("unsubscribeTemplate", FaultKind::RequestLost).times(1));
    bench.fleetload(&["run"]).expect_code(0);
    assert!(bench.statistics().faults_fired.contains_key("request_lost"));
    let operations: Vec<Vec<String>> = done_since(&bench, before).into_values().collect();
    assert_eq!(operations, [["unsubscribeTemplate", "subscribeTemplate"]]);
}

#[test]
fn what_comes_after_a_row_that_is_skipped_goes_on() {
    let bench = bench_of(1);
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.write("site_assignments.csv", "device,site\nT0,S0\n");
    let columns = "device,cloud,action,interface,weight";
    bench.write("vpn.csv", &format!("{columns}\nT0,Guest,join,,\n"));
    bench.fleetload(&["run", "vpn.csv"]).expect_code(0);
    bench.write("vpn.csv", &format!("{columns}\nT0,Guest,configure,LAN 1,10\n"));
    fault(&bench, Fault::new("addSite", FaultKind::GeneralError).times(1));
    bench.fleetload(&["run", "sites.csv", "site_assignments.csv", "vpn.csv"]).expect_code(4);
    assert!(bench.statistics().faults_fired.contains_key("general_error"));
    let states: Vec<String> = bench.results(3).iter().map(|row| row["status"].to_string()).collect();
    assert_eq!(states, ["\"rejected\"", "\"skipped\"", "\"done\""]);
}

/// Which of two values stays would be chance, whatever sheets they are in.
#[test]
fn what_contradicts_a_row_of_an_earlier_import_that_is_not_settled_is_refused_until_it_is() {
    let bench = bench_of(1);
    let device = bench.created("device").pop().expect("a device").id;
    let [_, new] = ENTERPRISE_TEMPLATES;
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let metadata = "owner_kind,owner,key,value,action";
    let table = [
        (("devices", "action,key,meta:asset", "update,T0,5"), ("metadata", metadata, "device,T0,asset,7,")),
        (("metadata", metadata, "device,T0,floor,1,"), ("devices", "action,id,meta:floor", "update,#,2")),
        (("metadata", metadata, "device,#,old,,delete"), ("devices", "action,key,meta:old", "update,T0,3")),
        (("devices", "action,key,site", "update,T0,S0"), ("site_assignments", "device,site", "#,S1")),
        (
            ("devices", "action,key,enterprise_template", "update,T0,@"),
            ("subscriptions", "device,template,action", "#,@,unsubscribe"),
        ),
        (
            ("devices", "action,key,vpn_clouds", "update,T0,Guest"),
            ("vpn", "device,cloud,action", "#,Guest,leave"),
        ),
    ];
    let mut said = Vec::new();
    for (first, later) in table {
        for (file, (_, head, row)) in [("first.csv", first), ("later.csv", later)] {
            let row = row.replace('#', &device.to_string()).replace('@', &new.to_string());
            bench.write(file, &format!("{head}\n{row}\n"));
        }
        bench.fleetload(&["import", "first.csv", "--kind", first.0]).expect_code(0);
        let refused = bench.fleetload(&["import", "later.csv", "--kind", later.0]).expect_code(3);
        said.extend(
            refused
                .stdout
                .lines()
                .chain(refused.stderr.lines())
                .filter(|line| line.contains("settled"))
                .map(str::to_owned),
        );
        bench.fleetload(&["run"]).expect_code(0);
        bench.fleetload(&["run", "later.csv", "--kind", later.0]).expect_code(0);
    }
    insta::assert_snapshot!("contradicts", said.join("\n"));
}

#[test]
fn a_sheet_that_comes_again_is_refused_while_a_row_waits_that_contradicts_it() {
    let bench = bench_of(1);
    bench.write("update.csv", "action,key,meta:old\nupdate,T0,5\n");
    bench.fleetload(&["import", "update.csv", "--kind", "devices"]).expect_code(0);
    bench.write("again.csv", "owner_kind,owner,key,value\ndevice,T0,old,1\n");
    bench.fleetload(&["pause", "2"]).expect_code(0);
    let refused = bench.fleetload(&["import", "again.csv", "--kind", "metadata"]).expect_code(3);
    let said = refused.stdout + &refused.stderr;
    assert!(said.contains("row.conflict"), "{said}");
    assert!(
        said.contains("send the other with `fleetload resume 2` and `fleetload run`, or cancel"),
        "{said}"
    );
    bench.fleetload(&["resume", "2"]).expect_code(0);
    // What asks for the same, or for something else, goes.
    bench.write("same.csv", "owner_kind,owner,key,value\ndevice,T0,old,5\ndevice,T0,other,1\n");
    bench.fleetload(&["run", "same.csv", "--kind", "metadata"]).expect_code(0);
}

#[test]
fn a_row_that_failed_and_that_a_later_import_contradicts_is_cancelled_and_never_sent_after_it() {
    let bench = bench_of(1);
    bench.write("first.csv", "owner_kind,owner,key,value\ndevice,T0,floor,1\ndevice,T0,asset,7\n");
    fault(&bench, Fault::new("putDeviceMetadata", FaultKind::InvalidState).times(2));
    bench.fleetload(&["run", "first.csv", "--kind", "metadata"]).expect_code(4);
    assert_eq!(bench.statistics().faults_fired["invalid_state"], 2, "both were refused");
    bench.clear_faults();
    bench.write("later.csv", "action,key,meta:floor\nupdate,T0,2\n");
    let later = bench.fleetload(&["run", "later.csv", "--kind", "devices"]).expect_code(0);
    let warning = (later.stdout + &later.stderr)
        .lines()
        .filter(|line| line.contains("is cancelled"))
        .collect::<Vec<_>>()
        .join("\n");
    let done = bench.ledger().len();
    let retried = bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.ledger().len(), done + 1, "the row about the other entry");
    bench.fleetload(&["report", "2"]).expect_code(0);
    insta::assert_snapshot!(
        "failed_and_contradicted",
        [
            warning,
            retried.stdout.lines().filter(|line| !line.starts_with("account ")).collect(),
            open_rows(&bench, 2).join("\n")
        ]
        .join("\n---\n")
    );
}

#[test]
fn a_row_that_failed_and_that_two_rows_of_a_later_import_contradict_is_cancelled_once() {
    let bench = bench_of(1);
    bench.write("first.csv", "action,key,meta:floor,meta:asset\nupdate,T0,1,7\n");
    fault(&bench, Fault::new("putDeviceMetadataList", FaultKind::InvalidState).times(2));
    bench.fleetload(&["run", "first.csv", "--kind", "devices"]).expect_code(4);
    assert!(bench.statistics().faults_fired.contains_key("invalid_state"));
    bench.clear_faults();
    bench.write("later.csv", "owner_kind,owner,key,value\ndevice,T0,floor,2\ndevice,T0,asset,8\n");
    let later = bench.fleetload(&["run", "later.csv", "--kind", "metadata"]).expect_code(0);
    let said = later.stdout + &later.stderr;
    assert_eq!(said.matches("it is cancelled, so that").count(), 1, "{said}");
    assert_eq!(bench.results(2)[0]["status"], "cancelled");
}

#[test]
fn a_row_that_waits_for_its_time_or_is_skipped_sends_no_older_value_after_that_of_a_later_import() {
    let bench = bench_of(1);
    let later =
        |key: &str| bench.write("later.csv", &format!("owner_kind,owner,key,value\ndevice,T0,{key},7\n"));
    bench.write("update.csv", "action,key,meta:asset\nupdate,T0,5\n");
    bench.fleetload(&["import", "update.csv", "--kind", "devices"]).expect_code(0);
    fault(&bench, Fault::new("listDeviceMetadata", FaultKind::Error500Before));
    inside::drive_virtually(async {
        let (clock, options) = (Virtual::start_now(), inside::options(Duration::from_secs(1)));
        let mut run = inside::start_virtually(&bench, clock, Duration::from_millis(50), options);
        run.hears_of(JobState::Deferred).await;
        run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
        run.ends().await;
    });
    bench.clear_faults();
    later("asset");
    bench.fleetload(&["import", "later.csv", "--kind", "metadata"]).expect_code(3);
    // A row that is skipped is cancelled; what it belongs to is corrected after that.
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.write("update.csv", "action,key,site,meta:floor\nupdate,T0,S0,5\n");
    fault(&bench, Fault::new("addSite", FaultKind::GeneralError).times(1));
    bench.fleetload(&["import", "sites.csv"]).expect_code(0);
    bench.fleetload(&["run", "update.csv", "--kind", "devices"]);
    assert_eq!(bench.statistics().faults_fired["general_error"], 1);
    assert_eq!(bench.results(4)[0]["status"], "skipped");
    later("floor");
    bench.fleetload(&["run", "later.csv", "--kind", "metadata"]).expect_code(0);
    let sent = bench.requests("putDeviceMetadata");
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!((bench.created("site").len(), bench.requests("putDeviceMetadata")), (1, sent));
}

/// A device of which an import takes a template away, and to which the next one gives another.
fn bench_of_two_imports() -> Bench {
    let bench = bench_of(1);
    let [old, new] = ENTERPRISE_TEMPLATES;
    for (file, row) in
        [("off.csv", format!("T0,{old},unsubscribe")), ("on.csv", format!("T0,{new},subscribe"))]
    {
        bench.write(file, &format!("device,template,action\n{row}\n"));
        bench.fleetload(&["import", file, "--kind", "subscriptions"]).expect_code(0);
    }
    bench
}

#[test]
fn a_resumed_import_says_which_of_its_rows_wait_for_a_paused_import_at_the_same_record() {
    let bench = bench_of_two_imports();
    bench.fleetload(&["pause", "2"]).expect_code(0);
    bench.fleetload(&["pause", "3"]).expect_code(0);
    let told = bench.fleetload(&["resume", "3"]).expect_code(0);
    assert!(told.stdout.contains("import 3 is resumed; 0 rows go on"), "{told:?}");
    assert!(told.stderr.contains("1 row of it waits for rows of import 2, which is paused"), "{told:?}");
    let told = bench.fleetload(&["resume", "2"]).expect_code(0);
    assert!(told.stdout.contains("import 2 is resumed; 1 row goes on"), "{told:?}");
}

#[test]
fn reports_advise_to_resume_the_paused_import_that_a_row_waits_for_at_its_record() {
    let bench = bench_of_two_imports();
    let advice = || {
        bench.fleetload(&["report", "3"]).expect_code(0);
        bench.results(3)[0]["advice"].to_string()
    };
    assert!(advice().contains("fleetload run"), "{}", advice());
    bench.fleetload(&["pause", "2"]).expect_code(0);
    assert!(advice().contains("This row waits for a row of import 2, which is paused"), "{}", advice());
}

#[test]
fn rows_that_wait_for_those_of_an_import_with_a_lower_priority_at_the_same_record_are_told() {
    let bench = bench_of_two_imports();
    let told = bench.fleetload(&["priority", "3", "5"]).expect_code(0);
    let words = "1 row of it waits for rows of import 2, which has a lower priority";
    assert!(told.stderr.contains(words) && told.stderr.contains("fleetload priority 2 5"), "{told:?}");
    let told = bench.fleetload(&["priority", "2", "5"]).expect_code(0);
    assert!(!told.stderr.contains("wait"), "{told:?}");
}
