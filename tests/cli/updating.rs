//! Rows that change records which exist: the action `update`, by hand and from an export that was edited.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::{Value, json};

use crate::bench::{self, Bench, Outcome};
use crate::relay::{Act, Gate, Relay};

const DEVICES: &str = "\
key,company,name,device_model,mac,phone,address1,city,country
T0,C0,Till 0,Edge 100,00:1a:2b:00:00:00,+64 9 557 0000,1 Earl Street,Auckland,NZ
T1,C0,Till 1,Edge 100,00:1a:2b:00:00:01,+64 9 557 0000,1 Earl Street,Auckland,NZ
T2,C0,Till 2,Edge 100,00:1a:2b:00:00:02,+64 9 557 0000,1 Earl Street,Auckland,NZ
";

/// A company with two sites and three devices, that exist.
fn created(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.write("devices.csv", DEVICES);
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    bench
}

/// How each row of an import ended, with its code and message.
fn endings(bench: &Bench, import: u32) -> Vec<(String, String, String)> {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let ending = |row: &Value| (text(row, "status"), text(row, "code"), text(row, "message"));
    bench.results(import).iter().map(ending).collect()
}

/// The updates that the service has carried out.
fn updates(bench: &Bench) -> usize {
    bench.ledger().iter().filter(|entry| entry.operation.starts_with("update")).count()
}

fn id_of(bench: &Bench, site: &str) -> String {
    let mut made = bench.created("site").into_iter().filter(|entry| entry.request["name"] == site);
    made.next().expect("it is there").id.to_string()
}

/// The objects that a command wrote with `--json`.
fn objects(outcome: &Outcome) -> Vec<Value> {
    outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn ended(status: &str, code: &str, message: &str) -> (String, String, String) {
    (status.into(), code.into(), message.into())
}

#[test]
fn the_sheet_that_created_devices_changes_them_once_its_rows_say_update() {
    let bench = created(Scenario::default());
    let rows = DEVICES.replace("key,", "action,key,").replace("\nT", "\nupdate,T");
    bench.write("devices.csv", &rows.replace("Till 1", "Front desk"));
    let planned = bench.fleetload(&["plan", "devices.csv"]).expect_code(0);
    assert!(planned.stdout.contains("devices.csv!devices!3  name: \"Front desk\""), "{}", planned.stdout);
    assert!(planned.stdout.contains("3 rows to carry out: 3 device updates"), "{}", planned.stdout);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    let as_before = || ended("existing", "", "there was nothing to change, and nothing was sent");
    let changed = ended("done", "", "name was \"Till 1\", now \"Front desk\"");
    assert_eq!(endings(&bench, 2), [as_before(), changed, as_before()]);
    assert_eq!((updates(&bench), bench.requests("updateDevice")), (1, 1));
    let seen = bench.fleetload(&["rollout", "1", "--json"]).stdout;
    assert!(seen.contains("\"Front desk\"") && !seen.contains("\"Till 1\""), "{seen}");
    // The same again asks for nothing; nor does it look.
    let looks = bench.requests("getDevice");
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!((updates(&bench), bench.requests("getDevice")), (1, looks));
    // And back, though the record was created with that name.
    bench.write("devices.csv", &rows);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    let back = ended("done", "", "name was \"Front desk\", now \"Till 1\"");
    assert_eq!(endings(&bench, 4)[1], back);
    assert_eq!(updates(&bench), 2);
    // Undone, and the undo undone.
    for (import, was, now) in [(4, "Till 1", "Front desk"), (5, "Front desk", "Till 1")] {
        bench
            .fleetload(&["undo", &import.to_string(), "--out", &format!("undo{import}.xlsx")])
            .expect_code(0);
        bench.fleetload(&["run", &format!("undo{import}.xlsx")]).expect_code(0);
        let message = format!("name was \"{was}\", now \"{now}\"");
        assert_eq!(endings(&bench, import + 1), [ended("done", "", &message)]);
    }
    assert_eq!(updates(&bench), 4);
}

#[test]
fn a_record_is_named_by_its_id_or_mac_address_and_blank_cells_leave_its_fields_as_they_are() {
    let bench = created(Scenario::default());
    let site = id_of(&bench, "Branch 0");
    bench.write("sites.csv", &format!("action,id,name,reference,city\nupdate,{site},,R-9,\n"));
    bench.write("devices.csv", "action,mac,name,site\nupdate,00-1A-2B-00-00-02,Back office,S1\n");
    bench.fleetload(&["run", "sites.csv", "devices.csv"]).expect_code(0);
    let endings = endings(&bench, 2);
    assert_eq!(endings[0], ended("done", "", "reference was \"REF-0\", now \"R-9\""));
    assert_eq!(endings[1].0, "done");
    let sent: Vec<String> = bench.ledger().into_iter().map(|entry| entry.operation).collect();
    assert_eq!(sent.iter().filter(|operation| *operation == "assignDeviceToSite").count(), 1);
    assert_eq!(updates(&bench), 2);
}

#[test]
fn what_cannot_be_changed_or_is_not_said_is_refused_at_its_cell() {
    let bench = created(Scenario::default());
    let table = [
        ("action,name\nupdate,Till\n", "cell.required", "A2"),
        ("action,key,name\nupdate,T9,Till\n", "ref.not-found", "B2"),
        ("action,id,name\nupdate,12,Till\n", "cell.uuid", "B2"),
        ("action,key,name\ndelete,T0,Till\n", "cell.unsupported-action", "A2"),
        ("action,key,name,template\nupdate,T0,Till,T1\n", "cell.unsupported-action", "D2"),
        ("action,key,name,exported\nupdate,T0,Till,nonsense\n", "row.conflict", "D2"),
        ("action,key,name\nupdate,T0,Till\nupdate,t0,Desk\n", "dup.natural-key", "B3"),
    ];
    for (sheet, code, cell) in table {
        bench.write("devices.csv", sheet);
        let outcome = bench.fleetload(&["check", "devices.csv", "--json"]).expect_code(3);
        let found: Vec<(String, String)> = objects(&outcome)
            .iter()
            .filter(|object| object["severity"] == "error")
            .map(|object| {
                let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
                (text("code"), text("cell"))
            })
            .collect();
        assert_eq!(found, [(code.to_owned(), cell.to_owned())], "{sheet}");
    }
    let new = "action,key,company,name,device_model,mac,phone,address1,city,country\n\
               ,FRONT-1,C0,Front 1,Edge 100,00:1a:2b:00:00:0a,+64 9 557 0000,1 Earl Street,Auckland,NZ\n";
    bench.write("devices.csv", &format!("{new}update,FRONT-2,,Front,,,,,,\n"));
    let outcome = bench.fleetload(&["check", "devices.csv", "--json"]).expect_code(3);
    let found = objects(&outcome).into_iter().find(|object| object["code"] == "ref.not-found");
    let found = found.expect("a finding");
    assert_eq!((&found["value"], &found["suggestion"]), (&json!("FRONT-2"), &json!("FRONT-1")), "{found}");
    assert_eq!(updates(&bench), 0);
    // A field that the service does not change is compared with what the record has, and was created with.
    bench.write(
        "devices.csv",
        "action,key,name,mac,address1\nupdate,T0,Till,00:1a:2b:00:00:09,9 New Street\n",
    );
    let told = bench.fleetload(&["run", "devices.csv", "--allow-missing-address1"]).expect_code(4).stderr;
    let hint = "hint: correct the rows in reports/2/fix.xlsx, then: fleetload run reports/2/fix.xlsx \
                --allow-missing-address1\n";
    assert!(told.contains(hint), "read as the sheet was, and not sent again as it is: {told}");
    let [(status, code, message)] = &endings(&bench, 2)[..] else { panic!("one row") };
    assert_eq!((status.as_str(), code.as_str()), ("rejected", "not-changeable"));
    assert!(
        message.contains("cannot change the identification of a device, and it is '00:1a:2b:00:00:00'"),
        "{message}"
    );
    assert!(message.contains("cannot change the address1 of a device"), "{message}");
    bench.write("devices.csv", "action,key,licence_code\nupdate,T0,L-9\n");
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    let [(_, code, message)] = &endings(&bench, 3)[..] else { panic!("one row") };
    assert_eq!(code, "not-changeable");
    assert!(message.ends_with(": add the code in the sheet licences, and clear the cell"), "{message}");
    assert_eq!(updates(&bench), 0);
}

#[test]
fn a_part_of_an_address_that_the_service_does_not_show_is_refused_at_the_cells_to_fill_in() {
    let bench = created(Scenario::default());
    bench.write("sites.csv", "action,key,address1,city,country\nupdate,S0,New Street 1,,NZ\n");
    bench.fleetload(&["run", "sites.csv"]).expect_code(4);
    let row = &bench.results(2)[0];
    assert_eq!((&row["code"], &row["column"]), (&json!("not-changeable"), &json!("city")), "{row}");
    let message = row["message"].as_str().expect("words");
    assert!(message.ends_with("fill in city and the other cells of the address"), "{message}");
    let advice = row["advice"].as_str().expect("words");
    let words = "Fill in cell D2 (city). Correct the cell as the message says in fix.xlsx, and type: ";
    assert!(advice.starts_with(words), "{advice}");
}

#[test]
fn two_rows_of_one_record_are_told_where_the_other_is() {
    let bench = created(Scenario::default());
    // The first is known by its MAC address, the second by its key.
    let rows: String = DEVICES.lines().take(2).map(|line| format!("{line}\n")).collect();
    let second = rows.lines().last().expect("a row").replace("00:00:00", "00:00:09");
    bench.write("devices.csv", &format!("{}{second}\n", rows.replace("\nT0,", "\n,")));
    let refused = bench.fleetload(&["run", "devices.csv"]).expect_code(3);
    let words = "another row is the same device, devices.csv!devices!2: remove one of them";
    assert!(refused.stdout.contains(words), "{}", refused.stdout);
}

#[test]
fn lost_answers_are_settled_by_what_the_record_has() {
    let faults = [FaultKind::AnswerLost, FaultKind::Error500After, FaultKind::AnswerCut]
        .map(|kind| Fault::new("updateDevice", kind).times(1));
    let bench = created(Scenario { fault: faults.to_vec(), ..Scenario::default() });
    let rows = DEVICES.replace("key,", "action,key,").replace("\nT", "\nupdate,T").replace("Till", "Desk");
    bench.write("devices.csv", &rows);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert!(endings(&bench, 2).iter().all(|(status, ..)| status == "done"), "{:?}", endings(&bench, 2));
    assert_eq!(bench.statistics().faults_fired.values().sum::<u64>(), 3);
    assert_eq!(updates(&bench), 3, "none was carried out twice");
}

#[test]
fn the_page_of_updates_counts_them_at_companies_that_it_shows() {
    let bench = created(Scenario::default());
    bench.write("changes.csv", "key,action,phone\nC0,update,+64 9 777 7777\n");
    bench.fleetload(&["run", "changes.csv", "--kind", "companies"]).expect_code(0);
    bench.write("devices.csv", "key,action,name\nT0,update,Front desk\n");
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    let page = |import: u32| {
        std::fs::read_to_string(bench.path(&format!("reports/{import}/report.html"))).expect("a page")
    };
    assert!(page(2).contains("Customer 0") && !page(2).contains("not shown here"), "{}", page(2));
    assert!(page(1).contains("Open all"), "{}", page(1));
    // An update of a device is counted at its company.
    for words in ["Customer 0", "from an earlier import", "1 device update"] {
        assert!(page(3).contains(words), "{words}: {}", page(3));
    }
    assert!(!page(3).contains("not shown") && !page(3).contains("Company of job"), "{}", page(3));
}

/// An edit of one cell of a CSV file.
fn edit(bench: &Bench, file: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    bench.write(file, &text.replace(from, to));
}

#[test]
fn an_export_that_was_edited_is_a_sheet_of_changes() {
    let bench = created(Scenario::default());
    let root = bench::root();
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T0,asset,A-1\ndevice,T1,asset,A-2\n");
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    let files = ["sites.out.csv", "devices.out.csv", "metadata.out.csv"];
    for (what, out) in ["sites", "devices", "metadata"].into_iter().zip(files) {
        bench.fleetload(&["export", what, "--company", &root, "--below", "--out", out]).expect_code(0);
    }
    // As it was exported it asks for nothing.
    let planned = bench.fleetload(&["plan", files[0], files[1], files[2]]).expect_code(0);
    assert!(planned.stdout.contains("Nothing is sent for these sheets"), "{}", planned.stdout);
    assert!(
        planned.stdout.contains("unchanged  8 rows with no new value: nothing is asked for"),
        "{}",
        planned.stdout
    );
    let run = || -> Outcome { bench.fleetload(&["run", files[0], files[1], files[2]]) };
    run().expect_code(0);
    assert!(endings(&bench, 3).iter().all(|(status, code, _)| status == "existing" && code.is_empty()));
    let changes = || updates(&bench) + usize::try_from(bench.requests("putDeviceMetadata")).expect("few");
    let before = changes();
    // Three cells.
    edit(&bench, files[0], "\"Branch 1\",\"REF", "\"Branch One\",\"REF");
    edit(&bench, files[1], ",\"Till 2\",", ",\"Till Two\",");
    edit(&bench, files[2], "\"asset\",\"A-2\",", "\"asset\",\"B-2\",");
    let planned = bench.fleetload(&["plan", files[0], files[1], files[2], "--json"]).expect_code(0);
    let calls = |operation: &str| {
        let summary = objects(&planned).pop().expect("a summary");
        let mut sent = summary["plan"]["sent"].as_array().expect("a list").clone().into_iter();
        sent.find(|calls| calls["operation"] == operation).map(|calls| calls["calls"].clone())
    };
    assert_eq!(calls("updateSite"), Some(1.into()));
    assert_eq!(calls("updateDevice"), Some(1.into()));
    let summary = objects(&planned).pop().expect("a summary");
    let rows = &summary["plan"]["rows"];
    assert_eq!(rows["site update"], json!({"apply": 1, "there": 1}));
    assert_eq!(rows["device update"], json!({"apply": 1, "there": 3}));
    assert_eq!(rows["metadata entry"], json!({"apply": 1, "unchanged": 1}));
    let told = bench.fleetload(&["plan", files[0], files[1], files[2], "--out", "plan.html"]).expect_code(0);
    assert!(told.stdout.contains("3 rows to carry out"), "{}", told.stdout);
    let page = std::fs::read_to_string(bench.path("plan.html")).expect("the page");
    for (from, to) in [("Branch 1", "Branch One"), ("Till 2", "Till Two"), ("A-2", "B-2")] {
        let cells = format!("<bdi>{from}</bdi></td>\n<td data-label=\"New value\"><bdi>{to}</bdi>");
        assert!(page.contains(&cells), "{cells}");
    }
    let cells: Vec<(&str, &str, &str)> = summary["changes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|change| {
            let text = |field: &str| change[field].as_str().expect("a text");
            (text("column"), text("from"), text("to"))
        })
        .collect();
    assert_eq!(
        cells,
        [("name", "Branch 1", "Branch One"), ("name", "Till 2", "Till Two"), ("value", "A-2", "B-2")]
    );
    run().expect_code(0);
    assert_eq!(changes() - before, 3);
    run().expect_code(0);
    assert_eq!(changes() - before, 3, "nothing is left to be changed");
    // A record cannot be moved, and a cell that asks for it is not taken for one that was not changed.
    let exported = std::fs::read_to_string(bench.path(files[1])).expect("the file");
    let row = exported.lines().find(|line| line.contains("Till Two")).expect("the row");
    let company = row.split(',').find(|cell| {
        cell.trim_matches('"').parse::<uuid::Uuid>().is_ok() && exported.matches(*cell).count() > 2
    });
    let moved = row.replacen(company.expect("the id of its company"), "Customer 1", 1);
    bench.write(files[1], &exported.replace(row, &moved));
    let told = bench.fleetload(&["check", files[1]]).expect_code(3);
    assert!(told.stdout.contains("the service cannot move a record to another company"), "{}", told.stdout);
}

#[test]
fn an_export_that_was_not_edited_answers_for_no_row_that_differs() {
    let bench = created(Scenario::default());
    bench.write("devices.csv", &DEVICES.replace("Till 1", "Front desk"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    let differs = || {
        let status = bench.fleetload(&["status", "2", "--check"]);
        (status.code, status.stdout.contains("1 row differs"))
    };
    bench.fleetload(&["export", "devices", "--import", "1", "--out", "devices.out.csv"]).expect_code(0);
    bench.fleetload(&["run", "devices.out.csv"]).expect_code(0);
    assert!(endings(&bench, 3).iter().all(|(status, ..)| status == "existing"), "{:?}", endings(&bench, 3));
    assert_eq!(differs(), (4, true));
    // Somebody renames it by hand, and a row that says so finds it.
    let device = bench.created("device").into_iter().find(|made| made.request["name"] == "Till 1");
    let parameter = format!("deviceId={}", device.expect("it is there").id);
    bench.write("body.json", "{\"name\": \"Front desk\"}");
    let call = ["call", "updateDevice", "-p", &parameter, "--body", "body.json", "--yes"];
    bench.fleetload(&call).expect_code(0);
    assert_eq!(differs(), (4, true));
    bench.write("update.csv", "action,key,name\nupdate,T1,Front desk\n");
    bench.fleetload(&["run", "update.csv", "--kind", "devices"]).expect_code(0);
    assert_eq!(
        endings(&bench, 4),
        [ended("existing", "", "there was nothing to change, and nothing was sent")]
    );
    assert_eq!(differs(), (0, false));
}

#[test]
fn a_plan_lists_the_edits_of_an_export_that_the_service_cannot_carry_out() {
    let bench = created(Scenario::default());
    let file = "devices.out.csv";
    let export = ["export", "devices", "--company", &bench::root(), "--below", "--out", file];
    bench.fleetload(&export).expect_code(0);
    edit(&bench, file, ",\"Till 2\",", ",\"Till Two\",");
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    let row = text.lines().find(|line| line.contains("\"Till 1\"")).expect("the row");
    let mac = row.split(',').find(|cell| cell.starts_with("\"00:1a:2b")).expect("its MAC address");
    let row_of_mac = text.lines().position(|line| line == row).expect("the row") + 1;
    // The other cell has it in the quotation marks of the column 'exported'.
    bench.write(file, &text.replacen(&format!(",{mac},"), ",\"00:1a:2b:99:99:99\",", 1));
    let told = bench.fleetload(&["plan", file]).expect_code(0).stdout;
    let place = format!("{file}!devices.out!{row_of_mac}");
    for words in [
        "Edits that the service cannot carry out, for which 1 row is rejected unless they are taken back:"
            .to_owned(),
        format!("  {place}  mac: \"00:1a:2b:99:99:99\": the service cannot change the mac of a device"),
    ] {
        assert!(told.contains(&words), "{words}: {told}");
    }
    let planned = bench.fleetload(&["plan", file, "--json"]).expect_code(0);
    let summary = objects(&planned).pop().expect("a summary");
    assert_eq!((&summary["changed_cells"], &summary["not_changeable_cells"]), (&1.into(), &1.into()));
    assert_eq!(summary["not_changeable"][0]["column"], "mac");
    bench.fleetload(&["run", file]).expect_code(4);
    let rejected: Vec<_> =
        bench.results(2).into_iter().filter(|row| row["code"] == "not-changeable").collect();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["source"], place.as_str());
    // What is done, or was rejected, is not sent again.
    let planned = bench.fleetload(&["plan", file, "--json"]).expect_code(0);
    let summary = objects(&planned).pop().expect("a summary");
    assert_eq!((&summary["changed_cells"], &summary["not_changeable_cells"]), (&0.into(), &0.into()));
}

#[test]
fn a_part_of_an_address_is_told_alone_though_all_of_it_is_sent() {
    let bench = created(Scenario::default());
    let (root, file) = (bench::root(), "companies.out.csv");
    bench.fleetload(&["export", "companies", "--company", &root, "--below", "--out", file]).expect_code(0);
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    bench.write(file, &text.replacen("\"Auckland\"", "\"Wellington\"", 1));
    bench.fleetload(&["run", file]).expect_code(0);
    let changed = ended("done", "", "address.city was \"Auckland\", now \"Wellington\"");
    assert_eq!(endings(&bench, 2)[1..], [changed]);
}

#[test]
fn a_cell_that_was_cleared_since_the_export_changes_nothing_and_is_warned_of() {
    let bench = created(Scenario::default());
    let (root, file) = (bench::root(), "sites.out.csv");
    bench.fleetload(&["export", "sites", "--company", &root, "--below", "--out", file]).expect_code(0);
    edit(&bench, file, "\"Branch 1\",\"REF-1\"", "\"Branch 1\",\"\"");
    let warned = |outcome: &Outcome| {
        let words = "REF-1' here, and the cell is blank now: a blank cell leaves the field as it is";
        outcome.stdout.contains("cell.unsupported-action") && outcome.stdout.contains(words)
    };
    for command in ["check", "plan", "run"] {
        let outcome = bench.fleetload(&[command, file]).expect_code(0);
        assert!(warned(&outcome), "{}", outcome.stdout);
    }
    assert_eq!(updates(&bench), 0);
    // Without the column there is no cell that was cleared.
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    bench.write(file, &text.replacen("\"reference\"", "\"remark\"", 1));
    let outcome = bench.fleetload(&["check", file, "--ignore-column", "remark"]).expect_code(0);
    assert!(!warned(&outcome), "{}", outcome.stdout);
}

#[test]
fn what_the_service_changed_since_the_export_is_told_and_not_overwritten_unless_asked() {
    let bench = created(Scenario::default());
    let (root, file) = (bench::root(), "sites.out.csv");
    bench.fleetload(&["export", "sites", "--company", &root, "--below", "--out", file]).expect_code(0);
    // Somebody else renames both.
    for site in ["Branch 0", "Branch 1"] {
        let id = id_of(&bench, site);
        bench.write("body.json", &format!("{{\"name\": \"{site} of theirs\"}}"));
        let parameter = format!("siteId={id}");
        bench
            .fleetload(&["call", "updateSite", "-p", &parameter, "--body", "body.json", "--yes"])
            .expect_code(0);
    }
    edit(&bench, file, "\"Branch 1\",\"REF", "\"Branch One\",\"REF");
    let told = bench.fleetload(&["run", file]).expect_code(4).stderr;
    let hint = "hint: correct the rows in reports/2/fix.xlsx, then: fleetload run reports/2/fix.xlsx\n";
    assert!(told.contains(hint), "a retry and a run send nothing: {told}");
    let left = "name: the service has changed this to 'Branch 0 of theirs' since the export, and the sheet has 'Branch 0'";
    let refused = "name: the service has changed this to 'Branch 1 of theirs' since the export, and the sheet has 'Branch One'";
    let mut found = endings(&bench, 2);
    found.sort();
    assert_eq!(
        found,
        [ended("existing", "changed.since-export", left), ended("rejected", "changed.since-export", refused)]
    );
    assert_eq!(updates(&bench), 2, "theirs");
    // A row that is not sent changes nothing.
    let planned = bench.fleetload(&["plan", file]).expect_code(0).stdout;
    assert!(planned.contains("Nothing is sent for these sheets"), "{planned}");
    assert!(planned.contains("1 row rejected earlier and unchanged"), "{planned}");
    assert!(!planned.contains("Branch One"), "{planned}");
    // Whatever names the row: sent as it is, it is rejected again.
    let told = bench.fleetload(&["retry", "2"]).expect_code(0);
    assert!(told.stderr.contains("fleetload run --overwrite"), "{}", told.stderr);
    assert!(!told.stderr.contains("to send them"), "{}", told.stderr);
    bench.fleetload(&["run", "--overwrite"]).expect_code(0);
    let mut found = endings(&bench, 2);
    found.sort();
    assert_eq!(found[0], ended("done", "", "name was \"Branch 1 of theirs\", now \"Branch One\""));
    assert_eq!(updates(&bench), 3);
}

/// An address with this second line.
fn address_with(address2: Option<&str>) -> Value {
    let mut address = json!({"address1": "1 Earl Street", "city": "Auckland", "country": "New Zealand"});
    if let Some(address2) = address2 {
        address["address2"] = json!(address2);
    }
    address
}

/// A company with a second line in its address and without a fax number, which is exported; then somebody else changes it by
/// this body of an update, and a person these cells of the export.
fn company_of_two(theirs: &Value, own: &[(&str, &str)]) -> Bench {
    let bench = created(Scenario::default());
    let company = bench.created("company")[0].id.to_string();
    let parameter = format!("companyId={company}");
    let change = |body: &Value| {
        bench.write("body.json", &body.to_string());
        bench
            .fleetload(&["call", "updateCompany", "-p", &parameter, "--body", "body.json", "--yes"])
            .expect_code(0);
    };
    change(&json!({"address": address_with(Some("Level 3"))}));
    bench
        .fleetload(&["export", "companies", "--company", &company, "--out", "companies.out.csv"])
        .expect_code(0);
    change(theirs);
    let text = std::fs::read_to_string(bench.path("companies.out.csv")).expect("the export");
    let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let headers = reader.headers().expect("headers").clone();
    let row = reader.records().next().expect("a row").expect("a row");
    let cells = headers.iter().zip(&row).map(|(header, cell)| {
        own.iter().find(|(column, _)| *column == header).map_or(cell, |(_, value)| *value)
    });
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).expect("headers");
    writer.write_record(cells).expect("a row");
    let text = String::from_utf8(writer.into_inner().expect("the rows")).expect("text");
    bench.write("companies.out.csv", &text);
    bench
}

#[test]
fn a_blank_cell_of_an_export_that_got_a_value_meanwhile_and_one_that_lost_it_were_changed_by_others() {
    // The fax number was blank.
    let (fax, own) = (json!({"faxNumber": "+64 9 888 8888"}), ("fax", "'+64 9 777 7777"));
    let bench = company_of_two(&fax, &[own]);
    bench.fleetload(&["run", "companies.out.csv"]).expect_code(4);
    let refused = "fax: the service has changed this to '+64 9 888 8888' since the export, and the sheet has '+64 9 777 7777'";
    assert_eq!(endings(&bench, 2), [ended("rejected", "changed.since-export", refused)]);
    assert_eq!(updates(&bench), 2, "theirs");
    // Nobody has it in the sheet: it is named, with what is sent, and without anything that is.
    for (own, code, told) in [
        (
            None,
            "changed.since-export",
            "faxNumber: the service has changed this to '+64 9 888 8888' since the export, and the sheet has ''",
        ),
        (
            Some(("phone", "'+64 9 777 7777")),
            "",
            "faxNumber was changed to \"+64 9 888 8888\" in the service since the export, and left so",
        ),
    ] {
        let bench = company_of_two(&fax, own.as_slice());
        bench.fleetload(&["run", "companies.out.csv", "--overwrite"]).expect_code(0);
        let [(_, found, message)] = &endings(&bench, 2)[..] else { panic!("one row") };
        assert_eq!(found, code);
        assert!(message.ends_with(told), "{message}");
    }
    // The service shows no second line of the address any more.
    let gone = json!({"address": address_with(None)});
    let bench = company_of_two(&gone, &[("address2", "Floor 2")]);
    bench.fleetload(&["run", "companies.out.csv"]).expect_code(4);
    let refused = "address2: the service has cleared this since the export, and the sheet has 'Floor 2'";
    assert_eq!(endings(&bench, 2), [ended("rejected", "changed.since-export", refused)]);
    let bench = company_of_two(&gone, &[]);
    bench.fleetload(&["run", "companies.out.csv"]).expect_code(0);
    let left = "address2: the service has cleared this since the export, and the sheet has 'Level 3'";
    assert_eq!(endings(&bench, 2), [ended("existing", "changed.since-export", left)]);
    // Nobody else has changed what was blank.
    let bench = company_of_two(&json!({"name": "Customer 0"}), &[("fax", "'+64 9 777 7777")]);
    bench.fleetload(&["run", "companies.out.csv"]).expect_code(0);
    let done = "faxNumber was not shown, now \"+64 9 777 7777\"";
    assert_eq!(endings(&bench, 2), [ended("done", "", done)]);
}

#[test]
fn to_overwrite_sends_what_a_person_changed_and_nothing_else() {
    let bench = created(Scenario::default());
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T0,asset,A-0\ndevice,T1,asset,A-1\n");
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    let (root, files) = (bench::root(), ["devices.out.csv", "metadata.out.csv"]);
    for (what, out) in ["devices", "metadata"].into_iter().zip(files) {
        bench.fleetload(&["export", what, "--company", &root, "--below", "--out", out]).expect_code(0);
    }
    // Somebody else changes them all.
    for device in bench.created("device") {
        let body = |text: &Value| bench.write("body.json", &text.to_string());
        let parameter = format!("deviceId={}", device.id);
        let name = device.request["name"].as_str().expect("a name");
        for (operation, text) in [
            ("updateDevice", json!({"name": format!("{name} of theirs")})),
            ("putDeviceMetadata", json!({"key": "asset", "value": "theirs"})),
        ] {
            body(&text);
            bench
                .fleetload(&["call", operation, "-p", &parameter, "--body", "body.json", "--yes"])
                .expect_code(0);
        }
    }
    let sent = || (updates(&bench), bench.requests("putDeviceMetadata"));
    let before = sent();
    edit(&bench, files[0], ",\"Till 2\",", ",\"Till Two\",");
    edit(&bench, files[1], "\"asset\",\"A-1\",", "\"asset\",\"B-1\",");
    let outcome = bench.fleetload(&["run", files[0], files[1], "--overwrite"]).expect_code(0);
    assert_eq!(sent(), (before.0 + 1, before.1 + 1));
    let done: Vec<String> = endings(&bench, 3)
        .into_iter()
        .filter_map(|(status, _, message)| (status == "done").then_some(message))
        .collect();
    let told = ["name was \"Till 2 of theirs\", now \"Till Two\"", "the value was \"theirs\" before"];
    assert_eq!(done, told);
    let left: Vec<_> = endings(&bench, 3).into_iter().filter(|(status, ..)| status == "existing").collect();
    // The fourth was there before.
    let codes: Vec<&str> = left.iter().map(|(_, code, _)| code.as_str()).collect();
    assert_eq!(codes, ["", "changed.since-export", "changed.since-export", "changed.since-export"]);
    assert!(outcome.stdout.contains("2 changes verified: all as asked"), "{}", outcome.stdout);
}

#[test]
fn an_entry_that_somebody_else_changed_while_an_answer_was_lost_is_not_overwritten() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let (gate, first) = (Gate::default(), Arc::new(AtomicU64::new(u64::MAX)));
    let (waits, from) = (gate.clone(), Arc::clone(&first));
    let relay = Relay::before(&bench.base_url(), move |asked, nth| {
        if asked == "listDeviceMetadata" && nth >= from.load(Ordering::SeqCst) {
            waits.pass();
        }
        Act::Pass
    });
    bench.alter(&bench.base_url(), &relay.base_url());
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T2,contract,C-1\n");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    let (root, file) = (bench::root(), "metadata.out.csv");
    bench.fleetload(&["export", "metadata", "--company", &root, "--below", "--out", file]).expect_code(0);
    edit(&bench, file, "\"contract\",\"C-1\",", "\"contract\",\"C-1x\",");
    let lost = Fault::new("putDeviceMetadata", FaultKind::RequestLost).times(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![lost]).expect("a consistent scenario");
    // The look after the lost answer, the second of this run, waits until somebody else has put another value.
    first.store(bench.requests("listDeviceMetadata") + 1, Ordering::SeqCst);
    let mut run = bench.start(&["run", file]);
    run.until(|| gate.is_reached());
    assert_eq!(bench.statistics().faults_fired["request_lost"], 1);
    let device = bench.created("device").into_iter().find(|made| made.request["name"] == "Till 2");
    let parameter = format!("deviceId={}", device.expect("it is there").id);
    bench.write("body.json", &json!({"key": "contract", "value": "theirs"}).to_string());
    let put = ["call", "putDeviceMetadata", "-p", &parameter, "--body", "body.json", "--yes"];
    bench.fleetload(&[&put[..], &["--journal", "other.db"]].concat()).expect_code(0);
    gate.open();
    run.ended().expect_code(4);
    let refused =
        "value: the service has changed this to 'theirs' since the export, and the sheet has 'C-1x'";
    assert_eq!(endings(&bench, 3), [ended("rejected", "changed.since-export", refused)]);
    let put: Vec<Value> = bench
        .ledger()
        .into_iter()
        .filter(|entry| entry.operation == "putDeviceMetadata")
        .map(|entry| entry.request["value"].clone())
        .collect();
    assert_eq!(put, ["C-1", "theirs"]);
}

#[test]
fn an_exported_entry_that_the_service_changed_is_not_deleted_and_one_of_another_key_is_a_new_one() {
    let bench = created(Scenario::default());
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T0,asset,A-1\ndevice,T1,asset,A-2\n");
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    let (root, file) = (bench::root(), "metadata.out.csv");
    bench.fleetload(&["export", "metadata", "--company", &root, "--below", "--out", file]).expect_code(0);
    // Somebody else changes the first.
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T0,asset,theirs\n");
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    edit(&bench, file, "\"asset\",\"A-1\",\"put\"", "\"asset\",\"\",\"delete\"");
    edit(&bench, file, "\"asset\",\"A-2\",\"put\"", "\"owner\",\"A-2\",\"put\"");
    bench.fleetload(&["run", file]).expect_code(4);
    let mut found = endings(&bench, 4);
    found.sort();
    let words = "value: the service has changed the value to 'theirs' since the export, which saw 'A-1': it is not deleted";
    assert_eq!(found, [ended("done", "", ""), ended("rejected", "changed.since-export", words)]);
    // The cell of the value has to stay blank.
    let rejected = bench.results(4).into_iter().find(|row| row["status"] == "rejected").expect("a row");
    let advice = rejected["advice"].as_str().expect("words");
    assert!(advice.starts_with("Export again and make the change in that file."), "{advice}");
    bench.fleetload(&["retry", "4", "--code", "changed.since-export"]).expect_code(0);
    bench.fleetload(&["run", "--overwrite"]).expect_code(0);
    assert_eq!(bench.requests("deleteDeviceMetadata"), 1);
}

#[test]
fn what_an_earlier_import_found_is_told_as_it_was_found_when_the_row_comes_again() {
    let bench = created(Scenario::default());
    let (template, device) = (fleetload::sandbox::ENTERPRISE_TEMPLATES[0], bench.created("device")[0].id);
    let call = |operation: &str| {
        let body = json!({"deviceId": device, "enterpriseTemplateId": template}).to_string();
        bench.write("body.json", &body);
        bench.fleetload(&["call", operation, "--body", "body.json", "--yes"]).expect_code(0);
    };
    call("subscribeTemplate");
    let (root, file) = (bench::root(), "subscriptions.out.csv");
    let export = ["export", "subscriptions", "--company", &root, "--below", "--out", file];
    bench.fleetload(&export).expect_code(0);
    // Somebody else takes it away; the row asks for nothing.
    call("unsubscribeTemplate");
    let gone = "the service has changed this since the export, and it is left as it is";
    let again = ", and this row asks for nothing else; nothing was sent";
    for (import, words) in
        [(2, gone.to_owned()), (3, format!("as an earlier import found it: {gone}{again}"))]
    {
        bench.fleetload(&["run", file]).expect_code(0);
        assert_eq!(endings(&bench, import), [ended("existing", "changed.since-export", &words)]);
    }
    // What is to be taken away, and was not there, is not in the service.
    bench.write("subscriptions.csv", &format!("device,template,action\nT1,{template},unsubscribe\n"));
    let was_so = format!("there was nothing to change when an earlier import looked{again}");
    for (import, code, words) in
        [(4, "", "there was nothing to change, and nothing was sent"), (5, "row.unchanged", &was_so)]
    {
        bench.fleetload(&["run", "subscriptions.csv"]).expect_code(0);
        assert_eq!(endings(&bench, import), [ended("existing", code, words)]);
    }
}

#[test]
fn a_workbook_that_creates_and_changes_a_record_is_unchanged_when_it_is_run_again() {
    let bench = created(Scenario::default());
    let address = "+64 9 557 0000,1 Earl Street,Auckland,NZ";
    bench.write(
        "new.csv",
        &format!(
            "key,company,name,device_model,mac,phone,address1,city,country,site,meta:rack\n\
             N1,C0,New 1,Edge 100,00:1a:2b:00:00:11,{address},S0,R-1\n"
        ),
    );
    bench.write("devices-upd.csv", "key,name,site,action\nN1,New 1 renamed,S1,update\n");
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,N1,rack,R-2\n");
    let book = ["run", "new.csv", "devices-upd.csv", "metadata.csv"];
    bench.fleetload(&book).expect_code(0);
    let sent = bench.ledger().len();
    let told = bench.fleetload(&book).expect_code(0);
    assert!(!told.stdout.contains("differ"), "{}", told.stdout);
    assert_eq!(bench.ledger().len(), sent);
    let codes: Vec<String> = endings(&bench, 3).into_iter().map(|(_, code, _)| code).collect();
    assert_eq!(codes, ["row.unchanged", "row.unchanged", "row.unchanged"]);
    // A difference that no row of the sheets makes is reported, and so are all of them where those rows are not imported.
    bench.write("others-devices.csv", "key,name,action\nN1,New 1 of others,update\n");
    bench.fleetload(&["run", "others-devices.csv"]).expect_code(0);
    bench.fleetload(&["run", "new.csv", "metadata.csv"]).expect_code(4);
    let row = bench.results(5).swap_remove(0);
    let differing: Vec<&Value> =
        row["differences"].as_array().expect("a list").iter().map(|one| &one["column"]).collect();
    assert_eq!(differing, ["name", "site"], "{row}");
}

#[test]
fn an_exported_row_that_is_carried_out_again_overwrites_only_when_asked_and_tells_what_it_did_before() {
    let bench = created(Scenario::default());
    let device = bench.created("device").into_iter().find(|made| made.request["name"] == "Till 2");
    let device = device.expect("it is there").id;
    bench.write("metadata.csv", "owner_kind,owner,key,value\ndevice,T2,asset,A-1\n");
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    let files = ["devices.out.csv", "metadata.out.csv"];
    for (what, out) in ["devices", "metadata"].into_iter().zip(files) {
        let root = bench::root();
        bench.fleetload(&["export", what, "--company", &root, "--below", "--out", out]).expect_code(0);
    }
    edit(&bench, files[0], ",\"Till 2\",", ",\"Mine\",");
    edit(&bench, files[1], "\"asset\",\"A-1\",", "\"asset\",\"A-1x\",");
    // The service says that both are carried out, and then shows the old values.
    let lies = ["updateDevice", "putDeviceMetadata"];
    let lies = lies.map(|operation| Fault::new(operation, FaultKind::Vanished).times(1));
    bench.sandbox().change(|scenario| scenario.fault = lies.to_vec()).expect("a consistent scenario");
    let outcome = bench.fleetload(&["run", files[0], files[1]]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["vanished"], 2);
    assert!(outcome.stderr.contains("fleetload run --overwrite"), "{}", outcome.stderr);
    // Somebody else changes both.
    for (operation, body) in [
        ("updateDevice", json!({"name": "Theirs"})),
        ("putDeviceMetadata", json!({"key": "asset", "value": "theirs"})),
    ] {
        bench.write("body.json", &body.to_string());
        let parameter = format!("deviceId={device}");
        bench
            .fleetload(&["call", operation, "-p", &parameter, "--body", "body.json", "--yes"])
            .expect_code(0);
    }
    let changed = || -> Vec<(String, String, String)> {
        endings(&bench, 3).into_iter().filter(|(status, ..)| status != "existing").collect()
    };
    let retry = |code: &str, rows: &str| {
        let told = bench.fleetload(&["retry", "3", "--code", code]).expect_code(0);
        assert!(told.stdout.contains(rows), "{}", told.stdout);
        assert!(told.stderr.contains("fleetload run --overwrite"), "{}", told.stderr);
    };
    let undone = |out: &str| {
        let undo = bench.fleetload(&["undo", "3", "--out", out, "--json"]);
        objects(&undo).iter().filter(|object| object["object"] == "restores").count()
    };
    let first = [("name was \"Till 2\", now \"Mine\""), ("the value was \"A-1\" before")];
    retry("audit.reverted", "2 rows are ready again");
    assert_eq!(undone("ready.xlsx"), 2, "both were carried out");
    bench.fleetload(&["run"]).expect_code(4);
    for ((status, code, message), first) in changed().into_iter().zip(first) {
        assert_eq!((status.as_str(), code.as_str()), ("rejected", "changed.since-export"));
        assert!(message.ends_with(&format!("; it had been carried out before that: {first}")), "{message}");
    }
    assert_eq!(undone("rejected.xlsx"), 2, "both were carried out");
    retry("changed.since-export", "2 rows are ready again");
    bench.fleetload(&["run", "--overwrite"]).expect_code(0);
    let second = ["name was \"Theirs\", now \"Mine\"", "the value was \"theirs\" before"];
    assert_eq!(changed(), second.map(|words| ended("done", "", words)));
}

#[test]
fn a_step_that_fails_after_the_fields_were_changed_says_what_was_changed() {
    let bench = created(Scenario::default().with_fault(Fault::new("putSiteLabels", FaultKind::InvalidData)));
    bench.write("sites.csv", "action,key,name,labels\nupdate,S0,Depot,north\n");
    bench.fleetload(&["run", "sites.csv"]).expect_code(4);
    let [(status, _, message)] = &endings(&bench, 2)[..] else { panic!("one row") };
    assert_eq!(status, "incomplete");
    assert!(
        message.starts_with(
            "the fields of the site are as the row asks; a later step failed, setting its labels:"
        ),
        "{message}"
    );
    assert!(message.ends_with("; this was carried out: name was \"Branch 0\", now \"Depot\""), "{message}");
    assert_eq!(bench.results(2)[0]["before"][0]["fields"], json!({"name": "Branch 0"}));
    assert_eq!(updates(&bench), 1);
}

#[test]
fn a_change_that_is_refused_after_a_lost_answer_is_rejected_only_when_late_requests_are_over() {
    let lost = Fault::new("updateSite", FaultKind::RequestLost).times(1);
    let refused = Fault::new("updateSite", FaultKind::InvalidData);
    let bench = created(Scenario::default().with_fault(lost).with_fault(refused));
    bench.write("sites.csv", "action,key,name\nupdate,S0,Depot\n");
    bench.fleetload(&["run", "sites.csv"]).expect_code(4);
    let [(status, code, _)] = &endings(&bench, 2)[..] else { panic!("one row") };
    assert_eq!((status.as_str(), code.as_str()), ("rejected", "invalidData"));
    // The first was lost, the second refused too early to count, the third after the settle time.
    assert_eq!((bench.requests("updateSite"), updates(&bench)), (3, 0));
}

#[test]
fn a_change_that_is_refused_after_a_lost_answer_and_is_not_shown_is_decided_by_a_person() {
    // It was carried out; a site does not show its telephone number.
    let lost = Fault::new("updateSite", FaultKind::Error500After).times(1);
    let refused = Fault::new("updateSite", FaultKind::InvalidData);
    let bench = created(Scenario::default().with_fault(lost).with_fault(refused));
    bench.write("sites.csv", "action,key,phone\nupdate,S0,+64 9 555 0900\n");
    bench.fleetload(&["run", "sites.csv"]).expect_code(8);
    let [(status, code, message)] = &endings(&bench, 2)[..] else { panic!("one row") };
    assert_eq!((status.as_str(), code.as_str()), ("held", "refused.in-doubt"), "{message}");
    assert_eq!((bench.requests("updateSite"), updates(&bench)), (2, 1));
    let job = bench.results(2)[0]["job"].to_string();
    // A person says that it was not carried out: a refusal counts then.
    bench.fleetload(&["resolve", &job, "--not-done", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(4);
    let [(status, code, _)] = &endings(&bench, 2)[..] else { panic!("one row") };
    assert_eq!((status.as_str(), code.as_str()), ("rejected", "invalidData"));
    assert_eq!((bench.requests("updateSite"), updates(&bench)), (3, 1));
}

#[test]
fn after_a_rename_the_record_is_known_by_the_name_that_it_has_and_by_the_one_that_it_had() {
    let bench = created(Scenario::default());
    let made = bench::sites(2, 1);
    bench.write("sites.csv", "action,key,name,phone\nupdate,S0,Head office,+64 9 555 7777\n");
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let site = id_of(&bench, "Branch 0");

    // The sheet that says what the record has now is unchanged, and rows refer to it by its name.
    let now = made.replace("Branch 0,", "Head office,").replace("+64 9 556 0000", "+64 9 555 7777");
    bench.write("sites.csv", &now);
    let device = |name: &str, site: &str| {
        let columns = "company,name,device_model,phone,address1,city,country,site";
        format!("{columns}\nC0,{name},Edge 100,+64 9 557 0000,1 Earl Street,Auckland,NZ,{site}\n")
    };
    bench.write("devices.csv", &device("Till 8", "Head office"));
    bench.fleetload(&["run", "sites.csv", "devices.csv"]).expect_code(0);
    assert_eq!(endings(&bench, 3)[0].1, "row.unchanged");
    let in_site = || bench.created("device").pop().expect("the new one").request["siteId"].clone();
    assert_eq!(in_site(), site.as_str());
    // A list of devices may still have the old name.
    bench.write("devices.csv", &device("Till 9", "Branch 0"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(in_site(), site.as_str());

    // The sheet that made it differs from it, with and without its keys, and makes no second one.
    let keyless: String =
        made.lines().map(|line| line.split_once(',').expect("columns").1.to_owned() + "\n").collect();
    for (import, sheet) in [(5, &made), (6, &keyless)] {
        bench.write("sites.csv", sheet);
        bench.fleetload(&["run", "sites.csv"]).expect_code(4);
        let endings = endings(&bench, import);
        assert_eq!((endings[0].0.as_str(), endings[0].1.as_str()), ("created", "row.differs"));
        for said in [
            "name was 'Head office', is 'Branch 0' now",
            "phone was '+64 9 555 7777', is '+64 9 556 0000' now",
        ] {
            assert!(endings[0].2.contains(said), "{}", endings[0].2);
        }
        assert_eq!(endings[1].1, "row.unchanged");
    }
    assert_eq!(bench.created("site").len(), 2);
    // A key of its own says that it is another one, to which the name is free.
    bench.write("sites.csv", &made.replace("S0,", "N0,"));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(endings(&bench, 7)[0].0, "created");
    assert_eq!(bench.names("site"), ["Branch 0", "Branch 0", "Branch 1"]);
}

#[test]
fn a_record_that_is_renamed_is_not_taken_for_a_new_one_with_its_name() {
    let foreign = created(Scenario::default());
    // Another journal, which knows nothing of them.
    let id = id_of(&foreign, "Branch 0");
    let company = foreign.created("company").pop().expect("one").id.to_string();
    std::fs::remove_file(foreign.path("fleetload.db")).expect("the journal");
    std::fs::remove_dir_all(foreign.path("reports")).expect("the reports");
    let creates = bench::sites(1, 1).replace("\nS0,", "\n,,").replace("C0", &company);
    let creates = creates.replacen("key,", "action,id,", 1);
    foreign.write("sites.csv", &creates);
    foreign.write("updates.csv", &format!("action,id,name\nupdate,{id},Old branch\n"));
    foreign.fleetload(&["run", "--kind", "site", "updates.csv", "sites.csv"]).expect_code(8);
    let [update, creation] = &endings(&foreign, 1)[..] else { panic!("two rows") };
    assert_eq!((update.0.as_str(), creation.0.as_str()), ("done", "held"));
    assert_eq!(creation.1, "existing.unclear");
    assert!(creation.2.contains("gives it another name"), "{}", creation.2);
    foreign.fleetload(&["resolve", "2", "--not-created"]).expect_code(0);
    foreign.fleetload(&["run"]).expect_code(0);
    assert_eq!(foreign.names("site"), ["Branch 0", "Branch 0", "Branch 1"]);
}

#[test]
fn records_that_exchange_their_names_are_known_by_them() {
    let bench = created(Scenario::default());
    let made = bench::sites(2, 1);
    // By way of a name between them, as the service may want names to differ, and with both names taken for a moment.
    for rows in ["update,S0,Branch 1\n", "update,S1,Branch 0\n"] {
        bench.write("sites.csv", &format!("action,key,name\n{rows}"));
        bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    }
    let now = made.replace("Branch 0", "*").replace("Branch 1", "Branch 0").replace('*', "Branch 1");
    let keyless: String =
        now.lines().map(|line| line.split_once(',').expect("columns").1.to_owned() + "\n").collect();
    for (import, sheet) in [(4, &now), (5, &keyless)] {
        bench.write("sites.csv", sheet);
        bench.fleetload(&["run", "sites.csv"]).expect_code(0);
        assert!(endings(&bench, import).iter().all(|ending| ending.1 == "row.unchanged"));
    }
    assert_eq!(bench.created("site").len(), 2);
}

#[test]
fn a_row_with_a_key_and_the_former_name_of_a_record_without_one_is_refused_until_that_one_has_a_key() {
    let bench = created(Scenario::default());
    let head = "company,name,phone,address1,city,country\n";
    let row = |name: &str| format!("C0,{name},+64 9 556 0000,9 King Street,Auckland,NZ\n");
    bench.write("sites.csv", &format!("{head}{}", row("Kiosk")));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let id = id_of(&bench, "Kiosk");
    bench.write("sites.csv", &format!("action,id,name\nupdate,{id},Pavilion\n"));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);

    let keyed = |key: &str, name: &str| format!("{key},{}", row(name));
    bench.write("sites.csv", &format!("key,{head}{}", keyed("K1", "Kiosk")));
    let refused = bench.fleetload(&["run", "sites.csv"]).expect_code(3);
    for said in
        ["dup.natural-key", "renamed to 'Pavilion'", "give that one a key first, in a row with its name"]
    {
        assert!(refused.stdout.contains(said), "{}", refused.stdout);
    }
    // Whichever comes first.
    bench.write("sites.csv", &format!("key,{head}{}{}", keyed("K1", "Kiosk"), keyed("P1", "Pavilion")));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let endings = endings(&bench, 4);
    assert_eq!((endings[0].0.as_str(), endings[1].1.as_str()), ("created", "row.unchanged"));
    assert_eq!(bench.created("site").len(), 4);
}

/// What somebody else has put there with the service's own texts, which no sheet would send.
fn call(bench: &Bench, operation: &str, parameter: &str, body: &Value) {
    bench.write("body.json", &body.to_string());
    let put = ["call", operation, "-p", parameter, "--body", "body.json", "--yes", "--journal", "other.db"];
    bench.fleetload(&put).expect_code(0);
}

#[test]
fn an_export_of_odd_texts_that_nobody_changed_asks_for_nothing_and_is_as_it_was() {
    let bench = created(Scenario::default());
    let device = bench.created("device")[0].id;
    let parameter = format!("deviceId={device}");
    for (key, value) in [
        (" leading", json!("v")),
        ("trailing ", json!(" v ")),
        ("decom\u{65}\u{301}", json!("\u{65}\u{301}")),
        ("zero\u{200b}width", json!("\u{200b}")),
        ("two\nlines", json!("one\nother")),
        ("bell\u{7}", json!("a\u{7}b")),
        ("blank", json!("")),
        ("spaces", json!("   ")),
        ("formula", json!("=1+1")),
    ] {
        call(&bench, "putDeviceMetadata", &parameter, &json!({"key": key, "value": value}));
    }
    for label in [" leading", "two\nlines", "\u{65}\u{301}", "zero\u{200b}width"] {
        call(&bench, "putDeviceLabel", &parameter, &json!({"label": label}));
    }
    let (root, sent) = (bench::root(), bench.ledger().len());
    for (import, file) in [(2, "metadata.csv"), (3, "labels.csv"), (4, "metadata.xlsx"), (5, "labels.xlsx")] {
        let what = file.split('.').next().expect("a name");
        bench.fleetload(&["export", what, "--company", &root, "--below", "--out", file]).expect_code(0);
        if import == 2 {
            // A program that saves cells without the spaces around them changes nothing.
            edit(&bench, file, ",\" v \",\"put\"", ",\"v\",\"put\"");
        }
        let told = bench.fleetload(&["run", file]).expect_code(0);
        let found = endings(&bench, import);
        let so = match import {
            2 | 3 => "there was nothing to change, and nothing was sent",
            _ => {
                "there was nothing to change when an earlier import looked, and this row asks for nothing else; nothing was sent"
            }
        };
        let code = if import > 3 { "row.unchanged" } else { "" };
        assert!(found.iter().all(|row| *row == ended("existing", code, so)), "{file}: {found:#?} {told:?}");
        assert_eq!(found.len(), if what == "labels" { 4 } else { 9 }, "{file}: {found:#?}");
    }
    assert_eq!(bench.ledger().len(), sent);
}

#[test]
fn an_exported_entry_is_deleted_or_changed_by_its_key_as_the_service_has_it() {
    let bench = created(Scenario::default());
    let device = bench.created("device")[0].id;
    let parameter = format!("deviceId={device}");
    for (key, value) in [(" k30", "v30"), (" k31", "v31"), ("two\nlines", "v32")] {
        call(&bench, "putDeviceMetadata", &parameter, &json!({"key": key, "value": value}));
    }
    let (root, file) = (bench::root(), "metadata.out.csv");
    bench.fleetload(&["export", "metadata", "--company", &root, "--below", "--out", file]).expect_code(0);
    edit(&bench, file, "\" k30\",\"v30\",\"put\"", "\" k30\",\"\",\"delete\"");
    edit(&bench, file, "\" k31\",\"v31\",\"put\"", "\" k31\",\"new\",\"put\"");
    edit(&bench, file, "\"two\nlines\",\"v32\",\"put\"", "\"two\nlines\",\"\",\"delete\"");
    bench.fleetload(&["run", file]).expect_code(0);
    let statuses: Vec<String> = endings(&bench, 2).into_iter().map(|(status, ..)| status).collect();
    assert_eq!(statuses, ["done"; 3]);
    bench.fleetload(&["export", "metadata", "--company", &root, "--below", "--out", file]).expect_code(0);
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    assert_eq!(text.lines().count(), 1 + 1, "{text}");
    assert!(text.contains("\" k31\",\"new\",\"put\""), "{text}");
    // A value where the export saw none is one that somebody has entered.
    let seen = json!({"owner_kind": "device", "owner": device, "key": "k", "action": "put"}).to_string();
    let seen = seen.replace('"', "\"\"");
    bench.write(
        "metadata.csv",
        &format!("owner_kind,owner,key,value,action,exported\ndevice,{device},k,new,put,\"{seen}\"\n"),
    );
    let planned = bench.fleetload(&["plan", "metadata.csv"]).expect_code(0).stdout;
    assert!(!planned.contains("Nothing is sent for these sheets"), "{planned}");
}

#[test]
fn what_others_changed_since_the_export_is_named_where_the_row_has_a_later_step() {
    for (assigned_meanwhile, expected) in [
        (
            false,
            ended("done", "", "name was changed to \"Theirs\" in the service since the export, and left so"),
        ),
        (
            true,
            ended(
                "existing",
                "changed.since-export",
                "name: the service has changed this to 'Theirs' since the export, and the sheet has 'Till 2'",
            ),
        ),
    ] {
        let bench = created(Scenario::default());
        let (root, file) = (bench::root(), "devices.out.csv");
        bench.fleetload(&["export", "devices", "--company", &root, "--below", "--out", file]).expect_code(0);
        let till = bench.created("device").into_iter().find(|made| made.request["name"] == "Till 2");
        let device = till.expect("it is there").id.to_string();
        let site = id_of(&bench, "Branch 1");
        call(&bench, "updateDevice", &format!("deviceId={device}"), &json!({"name": "Theirs"}));
        if assigned_meanwhile {
            bench.write("body.json", &json!({"deviceId": device, "siteId": site}).to_string());
            let assign =
                ["call", "assignDeviceToSite", "--body", "body.json", "--yes", "--journal", "other.db"];
            bench.fleetload(&assign).expect_code(0);
        }
        in_site(&bench, file, &device, &site);
        bench.fleetload(&["run", file]).expect_code(0);
        let found = endings(&bench, 2).into_iter().find(|(.., message)| message.contains("Theirs"));
        assert_eq!(found, Some(expected));
        assert_eq!(bench.requests("assignDeviceToSite"), 1);
        assert_eq!(bench.requests("updateDevice"), 1, "theirs");
        // Nothing of it can be undone: others changed it.
        let undone = bench.fleetload(&["undo", "2", "--out", "undo.xlsx", "--json"]);
        assert!(!undone.stdout.contains("Theirs"), "{undone:?}");
    }
}

/// Enters a site in the row of a device in an export.
fn in_site(bench: &Bench, file: &str, device: &str, site: &str) {
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    let at =
        text.lines().next().expect("a header").split(',').position(|name| name.trim_matches('"') == "site");
    let rows = text.lines().map(|line| match line.contains(device) {
        true => {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            cells[at.expect("a column")] = format!("\"{site}\"");
            cells.join(",")
        }
        false => line.to_owned(),
    });
    bench.write(file, &rows.collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_somebody_else_has_put_while_an_answer_was_lost_is_named_where_it_is_replaced() {
    for (operation, file, sheet, theirs, expected) in [
        (
            "putDeviceMetadata",
            "metadata.csv",
            "owner_kind,owner,key,value\ndevice,T2,contract,C-2\n",
            json!({"key": "contract", "value": "theirs"}),
            "the value was \"C-1\" before; it was changed to \"theirs\" meanwhile, and replaced",
        ),
        (
            "updateDevice",
            "devices.csv",
            "action,key,name\nupdate,T2,Front desk\n",
            json!({"name": "theirs"}),
            "name was \"Till 2\", now \"Front desk\"; name was changed to \"theirs\" meanwhile, and replaced",
        ),
    ] {
        let bench = Bench::new(Scenario::default());
        bench.profile("", "", "");
        let (gate, second) = (Gate::default(), Arc::new(AtomicU64::new(u64::MAX)));
        let (waits, from) = (gate.clone(), Arc::clone(&second));
        let look_up = if operation == "updateDevice" { "getDevice" } else { "listDeviceMetadata" };
        let relay = Relay::before(&bench.base_url(), move |asked, nth| {
            if asked == look_up && nth >= from.load(Ordering::SeqCst) {
                waits.pass();
            }
            Act::Pass
        });
        bench.alter(&bench.base_url(), &relay.base_url());
        bench.write("companies.csv", &bench::companies(1));
        bench.write("devices.csv", DEVICES);
        bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
        let device = bench.created("device").into_iter().find(|made| made.request["name"] == "Till 2");
        let parameter = format!("deviceId={}", device.expect("it is there").id);
        call(&bench, "putDeviceMetadata", &parameter, &json!({"key": "contract", "value": "C-1"}));
        // The look after the lost answer waits until somebody else has put another value.
        second.store(bench.requests(look_up) + 1, Ordering::SeqCst);
        let lost = Fault::new(operation, FaultKind::RequestLost).times(1);
        bench.sandbox().change(|scenario| scenario.fault = vec![lost]).expect("a consistent scenario");
        bench.write(file, sheet);
        let mut run = bench.start(&["run", file]);
        run.until(|| gate.is_reached());
        call(&bench, operation, &parameter, &theirs);
        gate.open();
        run.ended().expect_code(0);
        assert_eq!(endings(&bench, 2), [ended("done", "", expected)]);
    }
}
