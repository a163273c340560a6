//! What rows change or remove: kept as it was before, told in the reports, and put back.

use fleetload::sandbox::{ENTERPRISE_TEMPLATES, Fault, FaultKind, Scenario, VPN_CLOUDS, wall_clock};
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
    let before = |row: &Value| row["before"].as_array().map_or(Value::Null, |steps| steps[0].clone());
    let rows = bench.results(import).into_iter();
    rows.map(|row| (text(&row["status"]), before(&row), text(&row["message"]))).collect()
}

#[test]
fn what_a_row_replaced_or_removed_is_in_its_report_and_what_only_was_added_is_not() {
    let bench = bench_of(Scenario::default());
    let added = |by: &str| ("done".to_owned(), json!({"operation": by, "was": "absent"}), String::new());
    let operations = ["putDeviceMetadata", "putSiteMetadata", "putInterfaceLabel"];
    assert_eq!(told(&bench, 2), operations.map(added));

    bench.write("metadata.csv", &METADATA.replace("A-1", "A-2").replace("floor,3,", "floor,,delete"));
    bench.write("labels.csv", &LABELS.replace("uplink,", "uplink,delete"));
    bench.fleetload(&["run", "metadata.csv", "labels.csv"]).expect_code(0);
    let done = |before: Value, words: &str| ("done".to_owned(), before, words.to_owned());
    let expected = [
        done(
            json!({"operation": "putDeviceMetadata", "was": "value", "value": "A-1"}),
            "the value was \"A-1\" before",
        ),
        done(
            json!({"operation": "deleteSiteMetadata", "was": "value", "value": "3"}),
            "removed: the value was \"3\"",
        ),
        done(json!({"operation": "deleteInterfaceLabel", "was": "present"}), "removed: it was there before"),
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
    let before = json!({"operation": "putDeviceMetadata", "was": "value", "value": "A-1"});
    assert_eq!(told(&bench, 3)[0], ("done".to_owned(), before, "the value was \"A-1\" before".to_owned()));
}

#[test]
fn what_was_there_before_is_kept_of_a_row_that_is_sent_again_below_a_record_of_its_run() {
    let refused = Fault::new("putSiteMetadata", FaultKind::NoDataFound).times(1);
    let blind = Fault::new("getSite", FaultKind::NotFound404);
    let bench = Bench::new(Scenario::default().with_fault(refused).with_fault(blind));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.write("metadata.csv", "owner_kind,owner,key,value,action\nsite,S0,floor,3,\n");
    bench.fleetload(&["run", "companies.csv", "sites.csv", "metadata.csv"]).expect_code(0);
    assert_eq!((bench.statistics().faults_fired["no_data_found"], bench.requests("putSiteMetadata")), (1, 2));
    let before = json!({"operation": "putSiteMetadata", "was": "absent"});
    assert_eq!(told(&bench, 1)[2], ("done".to_owned(), before, String::new()));
}

/// What every record has besides its own fields, in words; licences are no matter of an undo.
fn state(bench: &Bench) -> Vec<String> {
    let all = bench.sandbox().attachments(wall_clock()).into_iter();
    let words = all
        .filter(|one| one.kind != "licence")
        .map(|one| format!("{} {} {} {}", one.owner, one.interface.unwrap_or_default(), one.kind, one.value));
    words.collect()
}

/// A device with something of everything, and sheets that change all of it.
fn with_everything() -> Bench {
    let [retail, office] = ENTERPRISE_TEMPLATES;
    let [corporate, guest] = VPN_CLOUDS;
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.write(
        "devices.csv",
        "key,company,site,name,device_model,mac,phone,address1,city,country\n\
         T0,C0,S0,Till T0,Edge 100,00:1a:2b:00:00:00,+64 9 557 0000,1 Earl Street,Auckland,NZ\n",
    );
    bench.write(
        "metadata.csv",
        "owner_kind,owner,key,value,action\ndevice,T0,asset,A-1,\nsite,S0,floor,3,\ncompany,C0,stays,as it is,\n",
    );
    bench.write("labels.csv", "owner_kind,owner,interface,label,action\ninterface,T0,LAN 1,uplink,\n");
    bench.write("subscriptions.csv", &format!("device,template\nT0,{retail}\n"));
    bench.write("vpn.csv", &format!("device,cloud\nT0,{corporate}\n"));
    let files = ["companies", "sites", "devices", "metadata", "labels", "subscriptions", "vpn"];
    let files: Vec<String> = files.iter().map(|file| format!("{file}.csv")).collect();
    let first: Vec<&str> = ["run"].into_iter().chain(files.iter().map(String::as_str)).collect();
    bench.fleetload(&first).expect_code(0);
    bench.write(
        "metadata.csv",
        "owner_kind,owner,key,value,action\n\
         device,T0,asset,\"A-2, new\",\nsite,S0,floor,,delete\ncompany,C0,stays,as it is,\nsite,S1,new,x,\n",
    );
    bench.write(
        "labels.csv",
        "owner_kind,owner,interface,label,action\n\
         interface,T0,LAN 1,uplink,delete\ninterface,T0,LAN 2,spare,\ninterface,T0,LAN 2,absent,delete\n",
    );
    bench.write(
        "subscriptions.csv",
        &format!("device,template,action\nT0,{retail},unsubscribe\nT0,{office},subscribe\n"),
    );
    bench.write("vpn.csv", &format!("device,cloud,action\nT0,{guest},join\n"));
    bench
}

/// What a command says after the line that names the account and its port.
fn after_account(stdout: &str) -> &str {
    stdout.split_once('\n').expect("more than a line").1
}

const CHANGED: [&str; 5] = ["run", "metadata.csv", "labels.csv", "subscriptions.csv", "vpn.csv"];

/// The last object of a command with `--json`, and those before it of a kind.
fn objects(stdout: &str, kind: &str) -> (Value, Vec<Value>) {
    let mut lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let summary = lines.pop().expect("a summary");
    (summary, lines.into_iter().filter(|line| line["object"] == kind).collect())
}

#[test]
fn the_workbook_of_an_undo_brings_back_what_was_there_and_its_own_undo_what_the_import_wished() {
    let bench = with_everything();
    let before = state(&bench);
    bench.fleetload(&CHANGED).expect_code(0);
    let wished = state(&bench);
    assert_ne!(before, wished);

    let undo = bench.fleetload(&["undo", "2", "--out", "undo.xlsx"]).expect_code(0);
    insta::assert_snapshot!("undo", after_account(&undo.stdout));
    assert_eq!(state(&bench), wished, "nothing was sent");
    bench.fleetload(&["check", "undo.xlsx"]).expect_code(0);
    bench.fleetload(&["plan", "undo.xlsx"]).expect_code(0);
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    assert_eq!(state(&bench), before);
    assert_eq!(bench.counts(3), [("done".to_owned(), 8)].into());

    // What was undone once is not undone again by the same import.
    let again = bench.fleetload(&["undo", "2", "--out", "again.xlsx", "--json"]).expect_code(4);
    let (summary, left) = objects(&again.stdout, "not_restored");
    assert_eq!(
        (&summary["reason"], &summary["restores"], &summary["workbook"]),
        (&"not-undone".into(), &0.into(), &Value::Null)
    );
    assert!(
        left.iter().all(|left| {
            left["words"]
                == "import 3 asked about the same again since; what this import replaced, if anything, is in its report"
        }),
        "{left:?}"
    );
    assert_eq!(left.len(), 8);
    assert!(!bench.path("again.xlsx").exists());

    // The undo of the undo.
    let redo = bench.fleetload(&["undo", "3", "--out", "redo.xlsx"]).expect_code(4);
    insta::assert_snapshot!("undo_of_an_undo", after_account(&redo.stdout));
    bench.fleetload(&["run", "redo.xlsx"]).expect_code(0);
    assert_eq!(state(&bench), wished);
    bench.fleetload(&["run", "redo.xlsx"]).expect_code(0);
    assert_eq!(
        bench.fleetload(&["undo", "5", "--out", "none.xlsx"]).expect_code(0).stdout.lines().last(),
        Some("nothing to undo: import 5 changed nothing")
    );
}

#[test]
fn what_cannot_be_undone_is_listed_with_its_reason() {
    let lost = Fault::new("addLicenceCode", FaultKind::AnswerLost).times(1);
    let bench = bench_of(Scenario::default().with_fault(lost));
    // A value that no cell can hold as it is, put by somebody else.
    let device =
        bench.results(1).iter().find(|row| row["kind"] == "device").expect("the device")["id"].clone();
    let device = device.as_str().expect("an id");
    for (key, value) in [("spaced", "  two words "), ("blank", ""), ("plain", "p-1")] {
        bench.write("body.json", &json!({"key": key, "value": value}).to_string());
        let parameter = format!("deviceId={device}");
        bench
            .fleetload(&["call", "putDeviceMetadata", "-p", &parameter, "--body", "body.json", "--yes"])
            .expect_code(0);
    }
    bench.write(
        "metadata.csv",
        "owner_kind,owner,key,value,action\ndevice,T0,spaced,one,\ndevice,T0,blank,filled,\ndevice,T0,plain,p-2,\n",
    );
    bench.write(
        "labels.csv",
        &format!(
            "owner_kind,owner,interface,label,action\nsite,S0,,north{},\ndevice,T0,,till,\n",
            "-x".repeat(50)
        ),
    );
    bench.write("licences.csv", "device,licence_code\nT0,LIC-1\n");
    bench.write("sites.csv", &bench::sites(3, 1));
    bench.write("site_assignments.csv", "device,site\nT0,S1\n");
    let files = [
        "run",
        "metadata.csv",
        "labels.csv",
        "licences.csv",
        "companies.csv",
        "sites.csv",
        "site_assignments.csv",
    ];
    bench.fleetload(&files).expect_code(8);
    bench.fleetload(&["import", "site_assignments.csv"]).expect_code(0);
    let outcome = bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(4);
    insta::assert_snapshot!("undo_left", after_account(&outcome.stdout));

    let outcome = bench.fleetload(&["undo", "3", "--out", "again.xlsx", "--json"]).expect_code(4);
    let (summary, restores) = objects(&outcome.stdout, "restores");
    let expected = json!({
        "owner_kind": "device", "owner": device, "key": "plain", "value": "p-1", "action": "put",
        "exported": "{\"value\":\"p-2\"}",
    });
    assert_eq!(restores.iter().map(|row| &row["cells"]).collect::<Vec<_>>(), [&expected]);
    assert_eq!((&summary["restores"], &summary["not_restored"]), (&1.into(), &7.into()));
    let mut reasons: Vec<String> = objects(&outcome.stdout, "not_restored")
        .1
        .iter()
        .map(|left| format!("{} {}", left["source"].as_str().unwrap(), left["reason"].as_str().unwrap()))
        .collect();
    reasons.sort();
    let expected = [
        "labels.csv!labels!2 label-stays",
        "labels.csv!labels!3 label-stays",
        "licences.csv!licences!2 outcome-unknown",
        "metadata.csv!metadata!2 not-writable",
        "metadata.csv!metadata!3 not-writable",
        "site_assignments.csv!site_assignments!2 not-read",
        "sites.csv!sites!4 created",
    ];
    assert_eq!(reasons, expected);

    // The sheet of ours does not break the reading, and says the same.
    bench.fleetload(&["check", "undo.xlsx"]).expect_code(0);
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(8);
    assert!(state(&bench).iter().any(|line| line.ends_with("metadata plain=p-1")));
}

#[test]
fn an_undo_that_cannot_be_written_says_why_and_writes_nothing() {
    let bench = bench_of(Scenario::default());
    bench.write("metadata.csv", &METADATA.replace("A-1", "A-2"));
    bench.fleetload(&["import", "metadata.csv"]).expect_code(0);
    let sent = bench.ledger().len();
    // Not carried out yet.
    let outcome = bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(4);
    insta::assert_snapshot!("undo_unfinished", after_account(&outcome.stdout));
    // Nothing but created records.
    let outcome = bench.fleetload(&["undo", "1", "--out", "undo.xlsx"]).expect_code(4);
    insta::assert_snapshot!("undo_of_creations", after_account(&outcome.stdout));
    assert!(!bench.path("undo.xlsx").exists());

    bench.write("there.xlsx", "mine");
    for (arguments, words) in [
        (["undo", "9", "--out", "undo.xlsx"], "the journal has no import 9"),
        (["undo", "3", "--out", "there.xlsx"], "there.xlsx already exists"),
        (["undo", "3", "--out", "undo.csv"], "undo.csv is not a name for a workbook"),
        (["undo", "2", "--out", "no/such/undo.xlsx"], "the workbook no/such/undo.xlsx cannot be written"),
    ] {
        let outcome = bench.fleetload(&arguments).expect_code(2);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    assert_eq!(std::fs::read_to_string(bench.path("there.xlsx")).unwrap(), "mine");
    let elsewhere = bench.fleetload(&["undo", "1", "--out", "undo.xlsx", "--journal", "none.db"]);
    assert_eq!(elsewhere.code, 6, "{}", elsewhere.stderr);
    assert_eq!(bench.ledger().len(), sent, "nothing was sent");
}

#[test]
fn a_row_with_several_fields_that_are_not_restored_is_one_row() {
    let bench = bench_of(Scenario::default());
    let company = "company_type,key,phone,fax,address2,address1,city,country,action\n\
                   ,C0,+64 9 555 1111,+64 9 555 2222,Floor 2,1 Queen Street,Auckland,NZ,update\n";
    bench.write("changes.csv", company);
    bench.fleetload(&["run", "changes.csv", "--kind", "companies"]).expect_code(0);
    let outcome = bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(4);
    insta::assert_snapshot!("undo_of_blank_fields", after_account(&outcome.stdout));
    let outcome = bench.fleetload(&["undo", "3", "--out", "again.xlsx", "--json"]).expect_code(4);
    let (summary, left) = objects(&outcome.stdout, "not_restored");
    assert_eq!((&summary["not_restored"], left.len()), (&1.into(), 2), "{left:?}");
}

#[test]
fn metadata_that_an_update_puts_is_planned_told_and_undone_as_that_of_its_own_sheet() {
    let bench = bench_of(Scenario::default());
    let device = bench.results(1).into_iter().find(|row| row["kind"] == "device").expect("a device");
    let of_device = format!("deviceId={}", device["id"].as_str().expect("an id"));
    let metadata = || -> Value {
        let outcome = bench.fleetload(&["call", "listDeviceMetadata", "-p", &of_device]).expect_code(0);
        serde_json::from_str(&outcome.stdout).expect("JSON")
    };
    let values = |metadata: &Value| -> Vec<(String, String)> {
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let entries = metadata.as_array().expect("a list").iter();
        entries.map(|entry| (text(entry, "key"), text(entry, "value"))).collect()
    };
    let before = metadata();
    bench.write("devices.csv", "key,action,meta:asset,meta:room,site\nT0,update,A-2,R7,S1\n");
    let planned = bench.fleetload(&["plan", "devices.csv"]).expect_code(0);
    for cell in ["meta:asset: \"A-2\"", "meta:room: \"R7\"", "site: \"S1\""] {
        assert!(planned.stdout.contains(&format!("devices.csv!devices!2  {cell}")), "{}", planned.stdout);
    }
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(told(&bench, 3)[0].2, "the value of asset was \"A-1\" before");
    let changed = metadata();
    assert_eq!(values(&changed), [("asset".into(), "A-2".into()), ("room".into(), "R7".into())]);
    bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(4);
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    assert_eq!(values(&metadata()), values(&before));
}

#[test]
fn a_cloud_that_was_joined_and_configured_is_left_and_its_settings_go_with_it() {
    let bench = with_everything();
    let before = state(&bench);
    let guest = VPN_CLOUDS[1];
    bench.write(
        "vpn.csv",
        &format!(
            "device,cloud,action,cipher_suite\nT0,{guest},join,\nT0,{guest},configure,ECDHE_ECDSA_AES256_GCM\n"
        ),
    );
    bench.fleetload(&["run", "vpn.csv"]).expect_code(0);
    let undo = bench.fleetload(&["undo", "2", "--out", "undo.xlsx", "--json"]).expect_code(0);
    let (_, rows) = objects(&undo.stdout, "restores");
    let actions: Vec<&Value> = rows.iter().map(|row| &row["cells"]["action"]).collect();
    assert_eq!(actions, ["leave"]);
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    assert_eq!(state(&bench), before);
}

#[test]
fn settings_of_an_interface_that_were_blank_are_said_to_stay() {
    let bench = with_everything();
    let (cloud, header) = (VPN_CLOUDS[0], "device,cloud,action,interface,direction,snat,weight\n");
    let run = |row: &str| {
        bench.write("vpn.csv", &format!("{header}T0,{cloud},configure,LAN 1,{row}\n"));
        bench.fleetload(&["run", "vpn.csv"]).expect_code(0);
    };
    run("outbound,,");
    run("inbound,hide,7");
    let told = bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(4).stdout;
    let words = "not restored:\n  1 row with 2 values: the field was blank, and a blank cell leaves a field as it is\n    \
        vpn.csv!vpn!2  VPN membership 'snat of LAN 1'\n    vpn.csv!vpn!2  VPN membership 'weight of LAN 1'\n";
    assert!(told.contains(words), "{told}");
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    let device = bench.results(1).into_iter().find(|row| row["kind"] == "device").expect("a device");
    let device = format!("deviceId={}", device["id"].as_str().expect("an id"));
    let of_cloud = format!("vpnCloudId={cloud}");
    let shown = bench.fleetload(&["call", "getDeviceVpnConfiguration", "-p", &device, "-p", &of_cloud]);
    let shown: Value = serde_json::from_str(&shown.expect_code(0).stdout).expect("JSON");
    let mut entries = shown[0]["interfaceConfiguration"].as_array().expect("interfaces").iter();
    let entry = entries.find(|entry| entry["interfaceDevice"]["name"] == "LAN 1").expect("the interface");
    let settings = ["direction", "snat", "weight"].map(|field| entry[field].clone());
    assert_eq!(settings, [json!("outbound"), json!("hide"), json!(7)]);
    // Where it used the default configuration, that brings all of them back.
    run("both,,");
    bench.write("vpn.csv", &format!("{},default\nT0,{cloud},configure,LAN 1,,,,yes\n", header.trim_end()));
    bench.fleetload(&["run", "vpn.csv"]).expect_code(0);
    run("inbound,show,9");
    bench.fleetload(&["undo", "7", "--out", "again.xlsx"]).expect_code(0);
}

#[test]
fn what_others_have_put_in_the_place_of_a_deleted_entry_is_overwritten_neither_read_nor_unread() {
    let bench = bench_of(Scenario::default());
    bench.write(
        "metadata.csv",
        "owner_kind,owner,key,value,action\ndevice,T0,asset,,delete\nsite,S0,floor,,delete\n",
    );
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(0);
    let device = bench.results(1).into_iter().find(|row| row["kind"] == "device").expect("a device");
    bench.write("body.json", &json!({"key": "asset", "value": "theirs"}).to_string());
    let of_device = format!("deviceId={}", device["id"].as_str().expect("an id"));
    bench
        .fleetload(&["call", "putDeviceMetadata", "-p", &of_device, "--body", "body.json", "--yes"])
        .expect_code(0);
    let blind = Fault::new("listSiteMetadata", FaultKind::NotFound404);
    bench.sandbox().change(|scenario| scenario.fault = vec![blind]).expect("a consistent scenario");
    let sent = bench.ledger().len();
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(4);
    let codes: Vec<Value> = bench.results(4).iter().map(|row| row["code"].clone()).collect();
    assert_eq!(codes, ["changed.since-export", "lookup.unavailable"]);
    assert_eq!(bench.ledger().len(), sent);
    bench.sandbox().change(|scenario| scenario.fault = Vec::new()).expect("a consistent scenario");
    bench.fleetload(&["retry", "4"]).expect_code(0);
    bench.fleetload(&["run", "--overwrite"]).expect_code(0);
    assert!(
        ["metadata asset=A-1", "metadata floor=3"]
            .iter()
            .all(|entry| { state(&bench).iter().any(|line| line.ends_with(entry)) })
    );
}

/// A record as the service shows it.
fn record(bench: &Bench, operation: &str, id: &str) -> Value {
    let outcome = bench.fleetload(&["call", operation, "-p", &format!("id={id}")]).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

#[test]
fn changed_fields_get_their_earlier_values_back_unless_others_have_changed_them_since() {
    let bench = bench_of(Scenario::default());
    let id = |kind: &str| {
        let row = bench.results(1).into_iter().find(|row| row["kind"] == kind).expect("a row");
        row["id"].as_str().expect("an id").to_owned()
    };
    let (company, device) = (id("company"), id("device"));
    let records = || (record(&bench, "getCompany", &company), record(&bench, "getDevice", &device));
    let before = records();
    bench.write(
        "companies.csv",
        "key,action,name,phone,fax,city\nC0,update,Customer zero,+64 4 555 1111,+64 4 555 2222,Wellington\n",
    );
    bench.write("devices.csv", "key,action,name\nT0,update,Till renamed\n");
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let changed = records();
    assert_ne!(before, changed);

    // The service showed no fax number of the company, so that none is known to put back.
    let undo = bench.fleetload(&["undo", "3", "--out", "undo.xlsx", "--json"]).expect_code(4);
    let (summary, left) = objects(&undo.stdout, "not_restored");
    assert_eq!((&summary["restores"], &left[0]["reason"]), (&2.into(), &"not-read".into()));
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    let mut expected = before;
    expected.0["faxNumber"] = changed.0["faxNumber"].clone();
    assert_eq!(records(), expected);

    // What others change between the import and its undo is not overwritten.
    bench.fleetload(&["undo", "4", "--out", "redo.xlsx"]).expect_code(0);
    bench.write("body.json", &json!({"name": "Till of theirs"}).to_string());
    let parameter = format!("deviceId={device}");
    bench
        .fleetload(&["call", "updateDevice", "-p", &parameter, "--body", "body.json", "--yes"])
        .expect_code(0);
    bench.fleetload(&["run", "redo.xlsx"]).expect_code(4);
    let (_, last) = records();
    assert_eq!(last["name"], "Till of theirs");
    let codes: Vec<Value> = bench.results(5).iter().map(|row| row["code"].clone()).collect();
    assert_eq!(codes, [Value::Null, "changed.since-export".into()]);
}

#[test]
fn rows_that_changed_nothing_are_not_left_to_a_later_import_that_changes_their_records() {
    let bench = bench_of(Scenario::default());
    let root = bench::root();
    bench
        .fleetload(&["export", "sites", "--company", &root, "--below", "--out", "sites.out.csv"])
        .expect_code(0);
    let exported = std::fs::read_to_string(bench.path("sites.out.csv")).expect("the export");
    let rename = |file: &str, site: &str| {
        let text = exported.replacen(&format!("\"{site}\""), &format!("\"{site} renamed\""), 1);
        assert_ne!(text, exported);
        bench.write(file, &text);
        bench.fleetload(&["run", file]).expect_code(0);
    };
    // Two edits of the same export, each of one row.
    rename("a.csv", "Branch 0");
    let undone = |out: &str| {
        let undo = bench.fleetload(&["undo", "3", "--out", out, "--json"]).expect_code(0);
        objects(&undo.stdout, "not_restored").0["restores"].clone()
    };
    assert_eq!(undone("undo.xlsx"), 1);
    rename("b.csv", "Branch 1");
    assert_eq!(undone("again.xlsx"), 1);
}

/// The undo of an import that must be whole, run.
fn undone(bench: &Bench, import: &str) {
    let out = format!("undo{import}.xlsx");
    bench.fleetload(&["undo", import, "--out", &out]).expect_code(0);
    bench.fleetload(&["run", &out]).expect_code(0);
}

/// What the undo of an import leaves, and why.
fn left(bench: &Bench, import: &str) -> Vec<(Value, Value)> {
    let outcome = bench.fleetload(&["undo", import, "--out", "left.xlsx", "--json"]).expect_code(4);
    std::fs::remove_file(bench.path("left.xlsx")).ok();
    let left = objects(&outcome.stdout, "not_restored").1.into_iter();
    left.map(|one| (one["subject"].clone(), one["words"].clone())).collect()
}

#[test]
fn what_an_incomplete_row_replaced_is_told_and_undone_after_it_was_corrected() {
    let [retail, office] = ENTERPRISE_TEMPLATES;
    let bench = bench_of(Scenario::default());
    let device = bench.results(1).into_iter().find(|row| row["kind"] == "device").expect("a device");
    let name = || record(&bench, "getDevice", device["id"].as_str().expect("an id"))["name"].clone();
    let before = (name(), state(&bench));
    let row =
        format!("key,action,name,meta:asset,enterprise_template\nT0,update,Front desk,A-2,{retail}; Nope\n");
    bench.write("devices.csv", &row);
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    let first = (name(), state(&bench));
    // Another value of the entry, and the rest as it was but for the template that there is not.
    bench.write("devices.csv", &row.replace("Nope", &office.to_string()).replace("A-2", "A-3"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    let words = |import: u32| told(&bench, import)[0].2.clone();
    let replaced = "name was \"Till T0\", now \"Front desk\"; the value of asset was \"A-1\" before";
    let since = "import 4 asked for something else after this row was sent; this is its result";
    assert_eq!(words(3), format!("{replaced}; {since}"));
    assert_eq!(words(4), "the value of asset was \"A-2\" before");

    let again =
        "import 4 asked about the same again since; what this import replaced, if anything, is in its report";
    assert_eq!(left(&bench, "3"), [("asset".into(), again.into())]);
    undone(&bench, "4");
    assert_eq!((name(), state(&bench)), first);
    undone(&bench, "3");
    assert_eq!((name(), state(&bench)), before);
    assert_eq!(left(&bench, "3").len(), 3, "nothing is undone twice");
}

#[test]
fn imports_are_undone_one_after_the_other() {
    let bench = bench_of(Scenario::default());
    let device = bench.results(1).into_iter().find(|row| row["kind"] == "device").expect("a device");
    let name = || record(&bench, "getDevice", device["id"].as_str().expect("an id"))["name"].clone();
    let mut before = Vec::new();
    for now in ["2", "3", "4"] {
        before.push((name(), state(&bench)));
        bench.write("devices.csv", &format!("key,action,name\nT0,update,Till {now}\n"));
        bench.write("metadata.csv", &METADATA.replace("A-1", &format!("A-{now}")));
        bench.fleetload(&["run", "devices.csv", "metadata.csv"]).expect_code(0);
    }
    let by = |import: u32| {
        format!(
            "import {import} asked about the same again since; what this import replaced, if anything, is in its report"
        )
    };
    for (import, later) in [("3", 4), ("4", 5)] {
        let words: Vec<Value> = left(&bench, import).into_iter().map(|(_, words)| words).collect();
        assert_eq!(words, [by(later), by(later)], "{import}");
    }
    for import in ["5", "4", "3"] {
        undone(&bench, import);
        assert_eq!(Some((name(), state(&bench))), before.pop());
    }
}
