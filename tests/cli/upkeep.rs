//! Upkeep sheets: what rows ask for of records that exist, or that other rows create.

use std::collections::BTreeMap;

use fleetload::sandbox::{Fault, FaultKind, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};
use serde_json::Value;

use crate::bench::{self, Bench};

const LABELS: &str = "\
owner_kind,owner,interface,label,action
device,T0,,retail,
device,00:1A:2B:00:00:01,,retail,put
site,S0,,north,
interface,T0,LAN 1,uplink,
interface,T1,LAN 1,gone,delete
";

const METADATA: &str = "\
owner_kind,owner,key,value,action
company,C0,contract,C-1,
device,T0,asset,A-1,put
site,S0,nothing,,delete
";

const FILES: [&str; 6] =
    ["companies.csv", "sites.csv", "devices.csv", "labels.csv", "metadata.csv", "site_assignments.csv"];

/// Three devices with keys, the last without a MAC address, in one company with two sites.
fn devices() -> String {
    let rows = [("T0", "00:1a:2b:00:00:00"), ("T1", "00:1a:2b:00:00:01"), ("T2", "")];
    let rows = rows.map(|(key, mac)| {
        format!("{key},C0,Till {key},Edge 100,{mac},+64 9 557 0000,1 Earl Street,Auckland,NZ\n")
    });
    format!("key,company,name,device_model,mac,phone,address1,city,country\n{}", rows.concat())
}

fn bench_of(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.write("devices.csv", &devices());
    bench.write("labels.csv", LABELS);
    bench.write("metadata.csv", METADATA);
    bench.write("site_assignments.csv", "device,site\nT2,S1\n");
    bench
}

fn run(bench: &Bench, code: i32) {
    let arguments: Vec<&str> = ["run"].into_iter().chain(FILES).collect();
    bench.fleetload(&arguments).expect_code(code);
}

/// Of each upkeep row, its kind and place: how it ended.
fn endings(bench: &Bench, import: u32) -> Vec<String> {
    let rows = bench
        .results(import)
        .into_iter()
        .filter(|row| matches!(row["kind"].as_str(), Some("label" | "metadata entry" | "site assignment")));
    rows.map(|row| {
        format!(
            "{} {}: {}",
            row["kind"].as_str().expect("a kind"),
            row["row"],
            row["status"].as_str().expect("a status")
        )
    })
    .collect()
}

/// The changes that the service has carried out, records that were created not counted.
fn changes(bench: &Bench) -> Vec<String> {
    let kinds = ["company", "site", "person", "device"];
    let entries =
        bench.ledger().into_iter().filter(|entry| !entry.created || !kinds.contains(&entry.kind.as_str()));
    let mut changes: Vec<String> = entries.map(|entry| entry.operation).collect();
    changes.sort();
    changes
}

#[test]
fn what_rows_ask_for_is_carried_out_once_the_record_is_there_and_what_is_so_is_left() {
    let bench = bench_of(Scenario::default());
    run(&bench, 0);
    let first = [
        "label 2: done",
        "label 3: done",
        "label 4: done",
        "label 5: done",
        "label 6: existing",
        "metadata entry 2: done",
        "metadata entry 3: done",
        "metadata entry 4: existing",
        "site assignment 2: done",
    ];
    assert_eq!(endings(&bench, 1), first);
    let carried_out = [
        "assignDeviceToSite",
        "putCompanyMetadata",
        "putDeviceLabel",
        "putDeviceLabel",
        "putDeviceMetadata",
        "putInterfaceLabel",
        "putSiteLabel",
    ];
    assert_eq!(changes(&bench), carried_out);
    bench.assert_exact(1);

    // The same again asks for nothing.
    run(&bench, 0);
    assert_eq!(endings(&bench, 2), first);
    assert_eq!(changes(&bench), carried_out);

    // Another value, and a label that goes: two requests.
    bench.write("labels.csv", &LABELS.replace("LAN 1,uplink,", "LAN 1,uplink,delete"));
    bench.write("metadata.csv", &METADATA.replace("A-1", "A-2"));
    run(&bench, 0);
    assert_eq!(endings(&bench, 3)[3], "label 5: done");
    let mut more: Vec<&str> = carried_out.to_vec();
    more.extend(["deleteInterfaceLabel", "putDeviceMetadata"]);
    more.sort_unstable();
    assert_eq!(changes(&bench), more);

    // It may be asked for again after that.
    bench.write("labels.csv", LABELS);
    bench.write("metadata.csv", METADATA);
    run(&bench, 0);
    assert_eq!(changes(&bench).len(), more.len() + 2);
    // Lists are asked for once for each record and run, and once to read back: of two devices, then of the one whose label
    // changes.
    assert_eq!(bench.requests("listInterfaces"), (2 + 1) + (1 + 1) + (1 + 1));
}

#[test]
fn a_changed_label_of_an_export_is_put_beside_the_exported_one_and_that_is_said() {
    let bench = bench_of(Scenario::default());
    run(&bench, 0);
    let (root, file) = (bench::root(), "labels.out.csv");
    bench.fleetload(&["export", "labels", "--company", &root, "--below", "--out", file]).expect_code(0);
    let mut text = std::fs::read_to_string(bench.path(file)).expect("the file");
    for (was, now) in [("north", "south"), ("uplink", "downlink")] {
        assert_eq!(text.matches(&format!(",\"{was}\",")).count(), 1, "{text}");
        text = text.replace(&format!(",\"{was}\","), &format!(",\"{now}\","));
    }
    bench.write(file, &text);
    for command in ["check", "plan", "run"] {
        let told = bench.fleetload(&[command, file]).expect_code(0).stdout;
        for words in [
            "the export has 'north' here: what the cell says now is put beside it and does not replace it; the service \
             cannot delete a label of a site or device: put back what was exported, unless both are wanted",
            "the export has 'uplink' here: what the cell says now is put beside it and does not replace it; to replace \
             it, add a row with delete as action for 'uplink', if there is none",
        ] {
            assert!(told.contains("2 warnings") || command != "check", "{told}");
            assert!(told.contains(words), "{command}: {told}");
        }
    }
    bench.fleetload(&["export", "labels", "--company", &root, "--below", "--out", file]).expect_code(0);
    let text = std::fs::read_to_string(bench.path(file)).expect("the file");
    for label in ["north", "south", "uplink", "downlink"] {
        assert!(text.contains(&format!(",\"{label}\",")), "{label}: {text}");
    }
}

#[test]
fn only_what_an_exported_row_names_no_longer_is_said_to_stay() {
    let (bench, root) = (Bench::new(Scenario::default()), bench::root());
    let device = TEMPLATE_DEVICE.to_string();
    let of_company = |key: &str| format!("company,{root},{key},2020,put");
    let of_device = |subject: &str, action: &str| format!("{device},{subject},{action}");
    let metadata = ("metadata", "owner_kind,owner,key,value,action");
    let table = [
        (metadata, of_company("opened"), of_company("Opened"), Some("with delete as action for 'opened'")),
        (metadata, of_company("opened"), of_company("opened"), None),
        (metadata, of_company("opened"), of_company("opened").replace("2020", "2021"), None),
        (metadata, of_company("opened"), format!("company,{root},Opened,,delete"), None),
        (metadata, of_company("opened"), format!("device,{device},Opened,2020,put"), None),
        (metadata, String::new(), of_company("Opened"), None),
        (
            ("subscriptions", "device,template,action"),
            of_device("Retail", "subscribe"),
            of_device("Office", "subscribe"),
            Some("with unsubscribe as action for 'Retail'"),
        ),
        (
            ("vpn", "device,cloud,action"),
            of_device("Guest", "configure"),
            of_device("Corporate", "join"),
            Some("with leave as action for 'Guest'"),
        ),
    ];
    for ((sheet, head), exported, row, expected) in table {
        let seen: BTreeMap<&str, &str> = head.split(',').zip(exported.split(',')).collect();
        let seen = serde_json::to_string(&seen).expect("JSON").replace('"', "\"\"");
        let seen = if exported.is_empty() { String::new() } else { format!("\"{seen}\"") };
        let file = format!("{sheet}.csv");
        bench.write(&file, &format!("{head},exported\n{row},{seen}\n"));
        let told = bench.fleetload(&["check", &file]).expect_code(0).stdout;
        assert_eq!(told.contains("cell.unsupported-action"), expected.is_some(), "{row}: {told}");
        assert!(told.contains(expected.unwrap_or_default()), "{row}: {told}");
    }
}

#[test]
fn what_another_row_has_changed_since_is_asked_for_again_or_said_to_differ() {
    let bench = bench_of(Scenario::default());
    let made = devices().replace("country\n", "country,meta:asset,site\n").replace(",NZ\n", ",NZ,A-1,S0\n");
    bench.write("devices.csv", &made);
    bench.write("metadata.csv", "owner_kind,owner,key,value,action\ndevice,T0,asset,A-2,\n");
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    bench.fleetload(&["run", "metadata.csv", "site_assignments.csv"]).expect_code(0);
    // The rows that made the devices: two of them are otherwise now.
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    let word = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let rows = bench.results(3);
    let differing = rows.iter().map(|row| [word(row, "code"), word(row, "column")].join(" "));
    assert_eq!(
        differing.collect::<Vec<_>>(),
        ["row.differs meta:asset", "row.unchanged ", "row.differs site"]
    );
    for (row, said) in [(0, "meta:asset was 'A-2', is 'A-1' now"), (2, "site was 'Branch 1', is 'S0' now")] {
        assert!(word(&rows[row], "message").contains(said), "{}", rows[row]);
    }
    let lists = || bench.requests("putDeviceMetadataList");
    // By rows that update them they are as before again.
    bench.write("devices.csv", &made.replace("key,", "action,key,").replace("\nT", "\nupdate,T"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(lists(), 3 + 1, "of three devices as they were made, and of one again");
    bench.write("devices.csv", &made);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    // So that what the other rows asked for is undone, and is sent when they come again; and not a third time.
    for sent in [1, 0] {
        let before = (bench.requests("putDeviceMetadata"), bench.requests("assignDeviceToSite"));
        bench.fleetload(&["run", "metadata.csv", "site_assignments.csv"]).expect_code(0);
        let now = (bench.requests("putDeviceMetadata"), bench.requests("assignDeviceToSite"));
        assert_eq!(now, (before.0 + sent, before.1 + sent));
    }
}

#[test]
fn records_are_looked_up_once_however_many_rows_are_about_them() {
    let bench = bench_of(Scenario::default());
    let rows: String = (0..40).map(|n| format!("device,T{},,label {n},\n", n % 2)).collect();
    bench.write("labels.csv", &format!("owner_kind,owner,interface,label,action\n{rows}"));
    run(&bench, 0);
    assert_eq!(bench.requests("listDeviceLabels"), 2 + 2, "before they are sent, and to read back");
    assert_eq!(bench.requests("putDeviceLabel"), 40);
}

#[test]
fn answers_that_are_lost_are_settled_by_the_state_and_nothing_is_done_twice() {
    let faults = [
        ("putDeviceLabel", FaultKind::AnswerLost),
        ("putSiteLabel", FaultKind::Error500After),
        ("putDeviceMetadata", FaultKind::AnswerCut),
        ("assignDeviceToSite", FaultKind::AnswerLost),
        ("putInterfaceLabel", FaultKind::Error500After),
    ];
    let scenario = faults.iter().fold(Scenario::default(), |scenario, (operation, kind)| {
        scenario.with_fault(Fault::new(operation, *kind).times(1))
    });
    let bench = bench_of(scenario);
    run(&bench, 0);
    let fired: BTreeMap<String, u64> = bench.statistics().faults_fired;
    assert_eq!(fired.values().sum::<u64>(), 5, "every fault fired: {fired:?}");
    let mut done: Vec<String> = changes(&bench);
    done.dedup();
    assert_eq!(changes(&bench).len(), 7, "nothing was carried out twice: {:?}", changes(&bench));
    assert!(endings(&bench, 1).iter().all(|row| row.ends_with("done") || row.ends_with("existing")));
}

#[test]
fn a_licence_code_whose_answer_was_lost_is_decided_by_a_person() {
    let lost = Fault::new("addLicenceCode", FaultKind::AnswerLost).times(1);
    let bench = bench_of(Scenario::default().with_fault(lost));
    bench.write("licences.csv", "device,licence_code\nT0,LIC-1\n");
    bench.fleetload(&["run", "companies.csv", "devices.csv", "licences.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 1);
    let rows = bench.results(1);
    let device = rows.iter().find(|row| row["key"] == "T0").expect("the device");
    let held = rows.iter().find(|row| row["kind"] == "licence").expect("the licence");
    assert_eq!((&held["status"], &held["code"]), (&"held".into(), &"lookup.unavailable".into()));
    let (job, id) = (held["job"].to_string(), device["id"].as_str().expect("an id"));

    let other = rows.iter().find(|row| row["key"] == "T1").expect("a device")["id"].as_str().expect("an id");
    let refused = bench.fleetload(&["resolve", &job, "--created", other, "--unchecked"]).expect_code(2);
    assert!(refused.stderr.contains(&format!("is about the device {id}, not {other}")), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("resolve {job} --created {id}")), "{}", refused.stderr);

    bench.fleetload(&["resolve", &job, "--created", id, "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.counts(1), [("created".to_owned(), 4), ("done".to_owned(), 1)].into());
    assert_eq!(bench.requests("addLicenceCode"), 1);
}

#[test]
fn what_is_wrong_with_an_upkeep_row_is_said_at_its_cell_and_nothing_is_sent() {
    let head = "owner_kind,owner,interface,label,action\n";
    let table = [
        ("labels.csv", "person,T0,,retail,", "cell.enum", "A2"),
        ("labels.csv", "device,,,retail,", "cell.required", "B2"),
        ("labels.csv", "device,S0,,retail,", "ref.wrong-kind", "B2"),
        ("labels.csv", "device,T9,,retail,", "ref.not-found", "B2"),
        ("labels.csv", "device,00:1a:2b:00:00:77,,retail,", "ref.not-found", "B2"),
        ("labels.csv", "interface,T0,,retail,", "row.incomplete-group", "C2"),
        ("labels.csv", "device,T0,LAN 1,retail,", "row.conflict", "C2"),
        ("labels.csv", "site,S0,,north,delete", "cell.unsupported-action", "E2"),
        ("labels.csv", "device,T0,,retail,remove", "cell.enum", "E2"),
        ("labels.csv", "device,T0,,retail,\ndevice,00:1a:2b:00:00:00,,retail,", "dup.natural-key", "D3"),
        ("labels.csv", "interface,T0,LAN 1,up,put\ninterface,T0,LAN 1,up,delete", "dup.natural-key", "D3"),
        ("metadata.csv", "device,T0,asset,,", "cell.required", "D2"),
        ("metadata.csv", "device,T0,asset,A-1,delete", "row.conflict", "D2"),
        ("metadata.csv", "device,T0,asset,A-1,\ndevice,T0,asset,A-2,", "dup.natural-key", "C3"),
        ("site_assignments.csv", "T0,S0\nT0,S1", "dup.natural-key", "A3"),
    ];
    let bench = bench_of(Scenario::default());
    for (file, rows, code, cell) in table {
        let head = match file {
            "labels.csv" => head,
            "metadata.csv" => "owner_kind,owner,key,value,action\n",
            _ => "device,site\n",
        };
        let kind = file.trim_end_matches(".csv");
        bench.write(&format!("{kind}-wrong.csv"), &format!("{head}{rows}\n"));
        let outcome = bench.fleetload(&[
            "run",
            "companies.csv",
            "sites.csv",
            "devices.csv",
            &format!("{kind}-wrong.csv"),
            "--json",
        ]);
        let outcome = outcome.expect_code(3);
        let found: Vec<(String, String)> = outcome
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
            .filter(|line| line["severity"] == "error")
            .map(|line| {
                (
                    line["code"].as_str().unwrap_or_default().to_owned(),
                    line["cell"].as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        assert_eq!(found, [(code.to_owned(), cell.to_owned())], "{rows}");
    }
    assert_eq!(bench.ledger().len(), 0);
}

#[test]
fn what_is_gone_when_it_is_to_be_deleted_is_deleted() {
    // A proxy sends each request twice: the second finds nothing, and its answer is the one that comes.
    let twice = |operation: &str| Fault::new(operation, FaultKind::SentTwice).times(1);
    let bench = bench_of(Scenario::default());
    let vpn = |action: &str| format!("device,cloud,action\nT0,{},{action}\n", VPN_CLOUDS[0]);
    bench.write("vpn.csv", &vpn("join"));
    let sheets =
        ["run", "companies.csv", "sites.csv", "devices.csv", "labels.csv", "metadata.csv", "vpn.csv"];
    bench.fleetload(&sheets).expect_code(0);
    let faults = ["deleteInterfaceLabel", "deleteDeviceMetadata", "removeDeviceFromVpnCloud"].map(twice);
    bench.sandbox().change(|scenario| scenario.fault = faults.into()).expect("a consistent scenario");
    bench.write("labels.csv", &LABELS.replace("LAN 1,uplink,", "LAN 1,uplink,delete"));
    bench.write("metadata.csv", &METADATA.replace("A-1,put", ",delete"));
    bench.write("vpn.csv", &vpn("leave"));
    bench.fleetload(&sheets).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["sent_twice"], 3);
    let removed = ["deleteInterfaceLabel", "deleteDeviceMetadata", "removeDeviceFromVpnCloud"];
    for operation in removed {
        assert_eq!(bench.requests(operation), 1, "{operation}");
    }
    let done = endings(&bench, 2).into_iter().filter(|row| row.ends_with("done")).count();
    assert_eq!((done, bench.counts(2)["done"]), (6, 7), "{:?}", endings(&bench, 2));
}

#[test]
fn an_interface_of_a_device_that_was_created_just_now_is_waited_for() {
    // The service shows what belongs to the devices only after some time.
    let late = Fault::new("listInterfaces", FaultKind::NoDataFound).times(4);
    let bench = bench_of(Scenario::default().with_fault(late));
    run(&bench, 0);
    assert_eq!(bench.statistics().faults_fired["no_data_found"], 4);
    assert!(endings(&bench, 1).contains(&"label 5: done".to_owned()));
    assert!(endings(&bench, 1).contains(&"label 6: existing".to_owned()));

    // Of a device that has been there for long it is rejected at once.
    bench.write("labels.csv", &LABELS.replace("LAN 1,uplink", "LAN 9,uplink"));
    run(&bench, 4);
    assert!(endings(&bench, 2).contains(&"label 5: rejected".to_owned()));
    assert_eq!(bench.requests("listInterfaces"), 4 + 2 + 1 + 1, "the last of the first import to read back");
}

#[test]
fn a_label_that_was_deleted_by_the_id_of_its_interface_is_put_again() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let id = uuid::Uuid::from_u128(TEMPLATE_DEVICE.as_u128() ^ 2).to_string();
    let run = |interface: &str, action: &str| {
        let head = "owner_kind,owner,interface,label,action";
        let rows = format!("{head}\ninterface,{TEMPLATE_DEVICE},{interface},zed,{action}\n");
        bench.write("labels.csv", &rows);
        bench.fleetload(&["run", "labels.csv"]).expect_code(0);
    };
    run("LAN 1", "put");
    run(&id, "delete");
    assert_eq!(changes(&bench), ["deleteInterfaceLabel", "putInterfaceLabel"]);
    run("LAN 1", "put");
    assert_eq!(bench.results(3)[0]["status"], "done");
    assert_eq!(changes(&bench), ["deleteInterfaceLabel", "putInterfaceLabel", "putInterfaceLabel"]);
    run("LAN 1", "put");
    assert_eq!(bench.results(4)[0]["code"], "row.unchanged");
    assert_eq!(changes(&bench).len(), 3);
}

#[test]
fn an_interface_is_found_by_its_id_in_capitals() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let id = uuid::Uuid::from_u128(TEMPLATE_DEVICE.as_u128() ^ 2).to_string().to_uppercase();
    let head = "owner_kind,owner,interface,label";
    bench.write("labels.csv", &format!("{head}\ninterface,{TEMPLATE_DEVICE},{id},zed\n"));
    bench.fleetload(&["run", "labels.csv"]).expect_code(0);
    bench.write("vpn.csv", &format!("device,cloud,action,interface,weight\n{TEMPLATE_DEVICE},Guest,,,\n{TEMPLATE_DEVICE},Guest,configure,{id},10\n"));
    bench.fleetload(&["run", "vpn.csv"]).expect_code(0);
}

#[test]
fn a_licence_code_that_the_row_of_its_device_adds_is_added_once() {
    let bench = bench_of(Scenario::default());
    let coded = devices().replace("country\n", "country,licence_code\n").replace(",NZ\n", ",NZ,L-5\n");
    bench.write("devices.csv", &coded);
    bench.write("licences.csv", "device,licence_code\nT0,L-5\nT1,L-6\n");
    for files in [["licences.csv", "devices.csv"], ["devices.csv", "licences.csv"]] {
        let told =
            bench.fleetload(&[&["run", "companies.csv"], &files[..], &["--json"]].concat()).expect_code(3);
        let found: Vec<Value> =
            told.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let errors: Vec<_> = found.iter().filter(|line| line["severity"] == "error").collect();
        let [error] = errors[..] else { panic!("{errors:?}") };
        let place = [&error["code"], &error["file"], &error["cell"]];
        assert_eq!(place, ["dup.natural-key", "licences.csv", "B2"], "{error}");
    }
    // While the device waits, its row alone asks for the code.
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let told = bench.fleetload(&["import", "licences.csv"]).expect_code(3);
    assert!(
        told.stdout.contains("dup.natural-key") && told.stdout.contains("devices.csv!devices!2"),
        "{told:?}"
    );
    bench.fleetload(&["run"]).expect_code(0);
    for (import, second) in [(2, ""), (3, "row.unchanged")] {
        bench.fleetload(&["run", "licences.csv"]).expect_code(0);
        let rows = bench.results(import);
        let told = rows.iter().map(|row| (row["status"].as_str(), row["code"].as_str().unwrap_or_default()));
        let unchanged = (Some("created"), "row.unchanged");
        assert_eq!(told.collect::<Vec<_>>(), [unchanged, (Some("done"), second)]);
        assert_eq!(bench.requests("addLicenceCode"), 3 + 1);
    }
}

#[test]
fn a_licence_code_that_another_row_adds_or_may_have_added_is_not_sent_again() {
    let coded = devices().replace("country\n", "country,licence_code\n").replace(",NZ\n", ",NZ,\n");
    let coded = coded.replacen(",NZ,\n", ",NZ,L-5\n", 1);
    for (lost, code, ended) in [(0, 0, ["done", "existing"]), (1, 8, ["held", "held"])] {
        let bench = bench_of(Scenario::default());
        bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
        let device = bench.created("device").into_iter().find(|entry| entry.request["name"] == "Till T0");
        let device = device.expect("it is there").id;
        // Another journal, which knows the device by its id, and by its row once that is adopted.
        std::fs::remove_file(bench.path("fleetload.db")).expect("the journal");
        std::fs::remove_dir_all(bench.path("reports")).expect("the reports");
        let fault = Fault::new("addLicenceCode", FaultKind::AnswerLost).times(lost);
        bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a fault");
        bench.write("devices.csv", &coded);
        bench.write("licences.csv", &format!("device,licence_code\n{device},L-5\n"));
        bench.fleetload(&["run", "companies.csv", "devices.csv", "licences.csv"]).expect_code(code);
        assert_eq!(bench.requests("addLicenceCode"), 1, "{lost} lost");
        let rows = bench.results(1);
        let of =
            |what: &str| rows.iter().find(|row| row["key"] == what || row["kind"] == what).expect("a row");
        let mut states = [of("T0"), of("licence")].map(|row| row["status"].as_str().expect("a state"));
        states.sort_unstable_by_key(|state| *state == "existing");
        assert_eq!(states, ended, "{lost} lost");
    }
}

#[test]
fn a_licence_code_cancelled_in_doubt_is_not_sent_again_when_its_row_asks_for_more() {
    let coded = devices().replace("country\n", "country,licence_code\n").replace(",NZ\n", ",NZ,\n");
    let coded = coded.replacen(",NZ,\n", ",NZ,L-5\n", 1);
    let lost = Fault::new("addLicenceCode", FaultKind::AnswerLost).times(1);
    let bench = bench_of(Scenario::default().with_fault(lost));
    bench.write("devices.csv", &coded);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    let held = || bench.results(1).into_iter().find(|row| row["key"] == "T0").expect("the device");
    let job = held()["job"].to_string();
    bench.fleetload(&["resolve", &job, "--abandon"]).expect_code(0);
    // The labels come before the code, which is another step of the row then.
    let labelled =
        coded.replace("licence_code\n", "licence_code,labels\n").replace(",NZ,L-5\n", ",NZ,L-5,red\n");
    bench.write("devices.csv", &labelled.replace(",NZ,\n", ",NZ,,\n"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    assert_eq!(bench.requests("addLicenceCode"), 1);
    bench.fleetload(&["resolve", &job, "--not-created", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("addLicenceCode"), 2, "a person said that it was not added");
}
