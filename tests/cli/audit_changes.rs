//! What upkeep rows changed is read back before a run is finished: what is not so any more is named, what nobody can tell is
//! counted, and nothing is said where all is as asked.

use std::time::Duration;

use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Virtual};
use fleetload::clock::Clock;
use fleetload::journal::AuditScope;
use fleetload::run::Ending;
use fleetload::sandbox::{ENTERPRISE_TEMPLATES, Fault, FaultKind, Scenario, VPN_CLOUDS};
use serde_json::{Value, json};

fn instant() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

/// A service in which four devices and their company are there.
fn bench_of(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    let devices = (0..4).map(|n| {
        format!(
            "D{n},Customer 0,Till {n},Edge 100,00:1a:2b:00:00:0{n},+64 9 557 0000,1 Earl Street,Auckland,NZ\n"
        )
    });
    let head = "key,company,name,device_model,mac,phone,address1,city,country\n";
    bench.write("devices.csv", &format!("{head}{}", devices.collect::<String>()));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv", "--quiet"]).expect_code(0);
    bench
}

/// The figures of an import, those that are not zero.
fn audit(bench: &Bench, import: u32) -> Value {
    let mut figures = bench.summary(import)["audit"].clone();
    figures.as_object_mut().expect("an object").retain(|_, number| *number != 0);
    figures
}

/// The rows of an import that are found to be undone.
fn reverted(bench: &Bench, import: u32) -> Vec<Value> {
    bench.results(import).into_iter().filter(|row| row["code"] == "audit.reverted").collect()
}

fn break_it(bench: &Bench, fault: Fault) {
    bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a consistent scenario");
}

/// A file and what is in it.
type Written<'w> = (&'w str, &'w str);

#[track_caller]
fn says(outcome: &Outcome, words: &str) {
    assert!(outcome.stdout.contains(words), "no '{words}' in:\n{}\n{}", outcome.stdout, outcome.stderr);
}

/// A row for each of the four devices, with `cells` after its key.
fn for_each(head: &str, cells: &str) -> String {
    let rows = (0..4).map(|n| format!("{}\n", cells.replace('#', &format!("D{n}"))));
    format!("{head}\n{}", rows.collect::<String>())
}

#[test]
fn all_that_was_changed_is_looked_up_once_for_each_record_and_is_as_asked() {
    let bench = bench_of(instant());
    let labels: String = (0..30).map(|n| format!("device,D{},label {n}\n", n % 3)).collect();
    bench.write("labels.csv", &format!("owner_kind,owner,label\n{labels}"));
    bench.write("licences.csv", &for_each("device,licence_code", "#,LIC-#"));
    bench.write("site_assignments.csv", "device,site\nD0,Branch 0\nD1,Branch 1\n");
    let files = ["run", "labels.csv", "licences.csv", "site_assignments.csv"];
    let outcome = bench.fleetload(&files).expect_code(0);
    says(&outcome, "32 changes verified: all as asked; 4 licence codes could not be verified");
    assert!(outcome.stderr.contains("verification: 32 changes are looked up"), "{}", outcome.stderr);
    assert_eq!(audit(&bench, 2), json!({"changes_checked": 32, "licences_not_shown": 4}));
    assert_eq!(bench.requests("listDeviceLabels"), 6, "a list of each device before, and one to read back");
    let status = bench.fleetload(&["status", "2"]).expect_code(0);
    says(&status, "32 changes verified");
    // Which those are is plain.
    assert!(!status.stdout.contains("\n  could not be verified"), "{}", status.stdout);
    let licence = bench.results(2).into_iter().find(|row| row["source"] == "licences.csv!licences!2");
    let why = "the licence code could not be verified: the service has no look-up for it";
    assert_eq!(licence.expect("its row")["message"], why);
    // Nothing is read back twice, and what is known from before not at all.
    let before = bench.statistics().requests;
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.statistics().requests, before);
    bench.fleetload(&["run", "labels.csv"]).expect_code(0);
    assert_eq!(bench.requests("listDeviceLabels"), 6);
}

#[test]
fn what_is_undone_right_after_it_was_carried_out_is_named_and_carried_out_again_when_asked() {
    let (template, cloud) = (ENTERPRISE_TEMPLATES[0], VPN_CLOUDS[0]);
    let subscribe = for_each("device,template,action", &format!("#,{template},subscribe"));
    let join = for_each("device,cloud,action", &format!("#,{cloud},join"));
    let label = for_each("owner_kind,owner,interface,label", "device,#,,north");
    let on_interface = for_each("owner_kind,owner,interface,label", "interface,#,LAN 1,uplink");
    let entry = for_each("owner_kind,owner,key,value", "device,#,asset,A-1");
    let configure =
        for_each("device,cloud,action,cipher_suite", &format!("#,{cloud},configure,ECDHE_ECDSA_AES128_CTR"));
    let rename = for_each("id,action,name", "#,update,Front #").replace("id,", "key,");
    // The sheets that are run before, the one of which an answer is a lie, the operation, and what is said.
    let table: [(&[Written<'_>], Written<'_>, &str, &str); 10] = [
        (&[], ("labels.csv", &label), "putDeviceLabel", "the label 'north' was put, and it is not there now"),
        (&[], ("labels.csv", &on_interface), "putInterfaceLabel", "the label 'uplink' was put"),
        (
            &[("labels.csv", &on_interface)],
            (
                "labels.csv",
                &on_interface.replace("label\n", "label,action\n").replace("uplink\n", "uplink,delete\n"),
            ),
            "deleteInterfaceLabel",
            "the label 'uplink' was deleted, and it is there now",
        ),
        (
            &[],
            ("metadata.csv", &entry),
            "putDeviceMetadata",
            "'asset' was given the value 'A-1', and it is not there now",
        ),
        (
            &[("metadata.csv", &entry)],
            ("metadata.csv", &entry.replace("A-1", "A-2")),
            "putDeviceMetadata",
            "'asset' was given the value 'A-2', and the value of 'asset' is 'A-1' now",
        ),
        (&[], ("subscriptions.csv", &subscribe), "subscribeTemplate", "and is not now"),
        (
            &[("subscriptions.csv", &subscribe)],
            ("subscriptions.csv", &subscribe.replace("subscribe\n", "unsubscribe\n")),
            "unsubscribeTemplate",
            "and is subscribed to it now",
        ),
        (&[], ("vpn.csv", &join), "addDeviceToVpnCloud", "and is not in it now"),
        (
            &[("vpn.csv", &join)],
            ("vpn.csv", &configure),
            "updateDeviceVpnConfiguration",
            "and the service shows other settings now",
        ),
        (&[], ("devices.csv", &rename), "updateDevice", "its fields were changed, and name is 'Till"),
    ];
    for (before, (file, sheet), operation, words) in table {
        let bench = bench_of(instant());
        let mut import = 1;
        for (file, sheet) in before {
            bench.write(file, sheet);
            bench.fleetload(&["run", file, "--quiet"]).expect_code(0);
            import += 1;
        }
        import += 1;
        break_it(&bench, Fault::new(operation, FaultKind::Vanished).after(1).times(1));
        bench.write(file, sheet);
        let outcome = bench.fleetload(&["run", file]).expect_code(8);
        assert_eq!(bench.statistics().faults_fired["vanished"], 1, "{operation}");
        says(&outcome, "4 changes verified: 1 is undone");
        says(&outcome, words);
        let rows = reverted(&bench, import);
        assert_eq!(rows.len(), 1, "{operation}: {:?}", bench.results(import));
        assert_eq!(rows[0]["status"], "done");
        assert!(rows[0]["message"].as_str().expect("words").contains(words), "{operation}: {}", rows[0]);
        assert_eq!(audit(&bench, import), json!({"changes_checked": 4, "reverted": 1}));

        // Nothing is sent again until somebody says so.
        let sent = bench.requests(operation);
        says(&bench.fleetload(&["run"]).expect_code(8), "an earlier run found problems with 1 row");
        assert_eq!(bench.requests(operation), sent);
        let advice = rows[0]["advice"].as_str().expect("words");
        for told in [advice, &outcome.stderr] {
            assert!(told.contains(&format!("fleetload retry {import} --code audit.reverted")), "{told}");
        }
        says(
            &bench.fleetload(&["retry", &import.to_string(), "--code", "audit.reverted"]).expect_code(0),
            "1 row is ready again",
        );
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(bench.requests(operation), sent + 1);
        bench.fleetload(&["report", &import.to_string()]).expect_code(0);
        assert_eq!(reverted(&bench, import), Vec::<Value>::new(), "{operation}");
        assert_eq!(audit(&bench, import), json!({"changes_checked": 4}));
    }
}

#[test]
fn one_command_says_of_all_findings_that_they_are_reviewed() {
    let bench = bench_of(instant());
    break_it(&bench, Fault::new("putDeviceLabel", FaultKind::Vanished).after(1).times(2));
    bench.write("labels.csv", &for_each("owner_kind,owner,interface,label", "device,#,,north"));
    let outcome = bench.fleetload(&["run", "labels.csv"]).expect_code(8);
    let jobs: Vec<String> = reverted(&bench, 2).iter().map(|row| row["job"].to_string()).collect();
    assert_eq!(jobs.len(), 2);
    let review = ["resolve", &jobs[0], &jobs[1], "--seen"];
    let status = bench.fleetload(&["status"]).expect_code(0);
    let told = format!("fleetload {}", review.join(" "));
    for told_by in [&outcome.stderr, &status.stdout] {
        assert!(told_by.contains(&told), "{told_by}");
    }
    says(&status, "review them, then mark them as reviewed");
    bench.fleetload(&review).expect_code(0);
    says(&bench.fleetload(&["run"]).expect_code(0), "every row is done");
}

#[test]
fn what_was_reviewed_is_left_as_it_is_unless_its_row_is_named() {
    let bench = bench_of(instant());
    break_it(&bench, Fault::new("putDeviceLabel", FaultKind::Vanished).after(1).times(2));
    bench.write("labels.csv", &for_each("owner_kind,owner,interface,label", "device,#,,north"));
    bench.fleetload(&["run", "labels.csv"]).expect_code(8);
    let rows = reverted(&bench, 2);
    for row in &rows {
        bench.fleetload(&["resolve", &row["job"].to_string(), "--seen"]).expect_code(0);
    }
    let retry = ["retry", "2", "--code", "audit.reverted"];
    says(&bench.fleetload(&retry).expect_code(0), "nothing was changed");
    let sent = bench.requests("putDeviceLabel");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("putDeviceLabel"), sent, "they are left as they are");

    let row = rows[0]["row"].to_string();
    let named = [&retry[..], &["--sheet", "labels", "--row", &row]].concat();
    says(&bench.fleetload(&named).expect_code(0), "1 row is ready again");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("putDeviceLabel"), sent + 1);
}

#[test]
fn a_change_that_a_later_row_changes_again_is_not_said_to_be_undone() {
    let bench = bench_of(instant());
    let [template, other] = ENTERPRISE_TEMPLATES;
    let doubtful = ["--audit", "none"];
    let run = |file: &str, text: &str, more: &[&str]| {
        bench.write(file, text);
        bench.fleetload(&[&["run", file, "--quiet"], more].concat()).expect_code(0)
    };
    // What is put and then deleted, and a value that is replaced: the first of each cannot be seen any more.
    let head = "owner_kind,owner,interface,label,action\n";
    run("labels.csv", &format!("{head}interface,D0,LAN 1,up,put\n"), &doubtful);
    run("labels.csv", &format!("{head}interface,D0,LAN 1,up,delete\n"), &doubtful);
    run("metadata.csv", "owner_kind,owner,key,value\ndevice,D0,asset,1\n", &doubtful);
    run("metadata.csv", "owner_kind,owner,key,value\ndevice,D0,asset,2\n", &doubtful);
    // The same template by its name is another row.
    run("subscriptions.csv", &format!("device,template,action\nD0,{template},\nD1,{other},\n"), &doubtful);
    run("subscriptions.csv", "device,template,action\nD0,Retail Standard,unsubscribe\n", &doubtful);
    // Now all of it is read back.
    let outcome = bench.fleetload(&["run"]).expect_code(0);
    says(&outcome, "4 changes verified: all as asked; 3 changes could not be verified");
    says(&outcome, "or the same was changed again");
    assert!(!bench.fleetload(&["run"]).expect_code(0).stdout.contains("verified"));
}

#[test]
fn what_a_later_row_has_changed_again_is_not_looked_up_until_the_settle_time() {
    let bench = bench_of(instant());
    for value in ["1", "2"] {
        bench.write("metadata.csv", &format!("owner_kind,owner,key,value\ndevice,D0,asset,{value}\n"));
        bench.fleetload(&["run", "metadata.csv", "--quiet", "--audit", "none"]).expect_code(0);
    }
    inside::drive_virtually(async {
        let (clock, settle) = (Virtual::start_now(), Duration::from_secs(600));
        let mut options = inside::options(settle);
        options.policy.audit = Some(AuditScope::All);
        let run = inside::start_virtually(&bench, clock.clone(), Duration::from_millis(50), options);
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
        assert!(clock.elapsed() < settle / 10, "the run waited {:?}", clock.elapsed());
    });
    let status = bench.fleetload(&["status"]).expect_code(0);
    says(&status, "1 change verified: as asked; 1 change could not be verified");
}

#[test]
fn what_was_undone_and_then_changed_by_a_later_row_is_not_carried_out_again() {
    let table = [
        ("devices.csv", "key,action,meta:asset\nD0,update,2\n", true),
        ("metadata.csv", "owner_kind,owner,key,value\ndevice,D0,asset,2\n", true),
        ("metadata.csv", "owner_kind,owner,key,value\ndevice,D0,room,2\n", false),
        ("metadata.csv", "owner_kind,owner,key,value\ndevice,D1,asset,2\n", false),
    ];
    for (file, sheet, is_about_the_same) in table {
        let bench = bench_of(instant());
        let put = |value: &str| {
            bench.write("metadata.csv", &format!("owner_kind,owner,key,value\ndevice,D0,asset,{value}\n"));
            bench.fleetload(&["run", "metadata.csv"])
        };
        put("0").expect_code(0);
        break_it(&bench, Fault::new("putDeviceMetadata", FaultKind::Vanished).times(1));
        put("1").expect_code(8);
        assert_eq!(bench.statistics().faults_fired["vanished"], 1);
        bench.write(file, sheet);
        let outcome = bench.fleetload(&["run", file]).expect_code(if is_about_the_same { 0 } else { 8 });
        assert_eq!(!outcome.stderr.contains("retry 3 --code"), is_about_the_same, "{}", outcome.stderr);
        bench.fleetload(&["report", "3"]).expect_code(0);
        let left = usize::from(!is_about_the_same);
        assert_eq!(reverted(&bench, 3).len(), left);
        let sent = bench.requests("putDeviceMetadata");
        bench.fleetload(&["retry", "3", "--code", "audit.reverted"]);
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(bench.requests("putDeviceMetadata") - sent, left as u64, "{file}: {sheet}");
    }
}

#[test]
fn what_no_look_up_tells_is_counted_and_never_said_to_be_undone() {
    // The list shows nothing of what is put for longer than the settle time, and nothing shows that it shows anything.
    let bench = bench_of(instant());
    break_it(&bench, Fault::new("putDeviceLabel", FaultKind::Vanished));
    bench.write("labels.csv", "owner_kind,owner,label\ndevice,D0,north\ndevice,D1,north\n");
    let outcome = bench.fleetload(&["run", "labels.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["vanished"], 2);
    says(&outcome, "2 changes could not be verified");
    assert!(
        outcome.stderr.contains("to see which rows could not be verified: fleetload status\n"),
        "{}",
        outcome.stderr
    );
    assert_eq!(audit(&bench, 2), json!({"changes_not_checked": 2}));
    let why = "the change could not be verified: the service does not show this, the look-up was inconclusive or is not \
        available, or the same was changed again";
    let messages: Vec<_> = bench.results(2).into_iter().map(|row| row["message"].clone()).collect();
    assert_eq!(messages, [why, why]);
    let places = "could not be verified: labels.csv!labels!2, labels.csv!labels!3";
    for status in [&["status"][..], &["status", "2"]] {
        says(&bench.fleetload(status).expect_code(0), &format!("\n  {places}\n"));
    }
    says(&bench.fleetload(&["status", "1"]).expect_code(0), "none duplicated\n");
    let page = std::fs::read_to_string(bench.path("reports/2/report.html")).expect("a page");
    assert!(page.contains(&format!(". These {places}.")), "{page}");

    // Without the look-up nobody can tell either.
    let bench = bench_of(instant());
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", &mapped("putDeviceLabel"));
    bench.write("labels.csv", "owner_kind,owner,label\ndevice,D0,north\n");
    bench.fleetload(&["run", "labels.csv"]).expect_code(0);
    assert_eq!(audit(&bench, 2), json!({"changes_not_checked": 1}));
}

fn mapped(operation: &str) -> String {
    format!(
        "[profile.bench.endpoints.{operation}]\nmethod = \"POST\"\n\
         path = \"/device-api/config/v1/{operation}/{{deviceId}}\"\n"
    )
}

#[test]
fn a_list_that_fails_leaves_the_rows_to_the_next_run() {
    let bench = bench_of(instant());
    // One list before each device's row is sent; those that read back fail.
    break_it(&bench, Fault::new("listDeviceLabels", FaultKind::Error500Before).after(4));
    bench.write("labels.csv", &for_each("owner_kind,owner,interface,label", "device,#,,north"));
    let outcome = bench.fleetload(&["run", "labels.csv"]).expect_code(0);
    assert!(bench.statistics().faults_fired["error_500_before"] >= 4);
    says(&outcome, "4 changes are not verified yet");
    assert_eq!(audit(&bench, 2), json!({"changes_not_verified_yet": 4}));
    bench.clear_faults();
    let sent = bench.ledger().len();
    says(&bench.fleetload(&["run"]).expect_code(0), "4 changes verified: all as asked");
    assert_eq!(bench.ledger().len(), sent);
    assert_eq!(audit(&bench, 2), json!({"changes_checked": 4}));
}

#[test]
fn every_step_of_a_row_that_changes_a_record_is_read_back() {
    let bench = bench_of(instant());
    break_it(&bench, Fault::new("putDeviceLabels", FaultKind::Vanished).after(1).times(1));
    let sheet = for_each("key,action,name,labels,meta:asset", "#,update,Front #,north,A-#");
    bench.write("devices.csv", &sheet);
    let outcome = bench.fleetload(&["run", "devices.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["vanished"], 1);
    says(&outcome, "the labels 'north' were put, and not all of them are there now");
    assert_eq!(audit(&bench, 2), json!({"changes_checked": 4, "reverted": 1}));
    assert!(bench.requests("getDevice") >= 8, "read before, and read back");
}
