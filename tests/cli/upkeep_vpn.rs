//! Settings of devices in VPN clouds: rows of one device and cloud are one request, what is so already is left, and what is
//! wrong is found at its cell.

use fleetload::sandbox::{Fault, FaultKind, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};
use serde_json::{Value, json};

use crate::bench::Bench;

const UPDATE: &str = "updateDeviceVpnConfiguration";

/// Settings of two interfaces and a cipher suite, above the row by which the device joins the cloud.
const ROWS: &str = "\
Guest,configure,ECDHE_ECDSA_AES128_GCM,LAN 1,outbound,hide,10,
Guest,configure,,LAN 2,,,,yes
Guest,,,,,,,
";

fn bench_of(rows: &str) -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    write(&bench, rows);
    bench
}

/// A sheet whose rows are about the device that is there.
fn write(bench: &Bench, rows: &str) {
    let rows: String = rows.lines().map(|line| format!("{TEMPLATE_DEVICE},{line}\n")).collect();
    let head = "device,cloud,action,cipher_suite,interface,direction,snat,weight,default";
    bench.write("vpn.csv", &format!("{head}\n{rows}"));
}

fn run(bench: &Bench, code: i32) {
    bench.fleetload(&["run", "vpn.csv"]).expect_code(code);
}

/// Of each row of an import its state and code.
fn outcomes(bench: &Bench, import: u32) -> Vec<String> {
    let words = |row: &Value| {
        let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("status"), word("code")).trim().to_owned()
    };
    bench.results(import).iter().map(words).collect()
}

/// The operations that the service has carried out, and the last request.
fn done(bench: &Bench) -> (Vec<String>, Value) {
    let ledger = bench.ledger();
    let last = ledger.last().map(|entry| entry.request.clone()).unwrap_or_default();
    (ledger.into_iter().map(|entry| entry.operation).collect(), last)
}

/// The id of an interface of the device.
fn interface(number: u128) -> String {
    uuid::Uuid::from_u128(TEMPLATE_DEVICE.as_u128() ^ number).to_string()
}

/// The number of the interface in the simulated service, by the request that names it.
fn entry(request: &Value, at: usize) -> Value {
    request["interfaceConfiguration"][at].clone()
}

#[test]
fn rows_of_one_device_and_cloud_are_one_request_after_the_device_has_joined() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    let (operations, request) = done(&bench);
    assert_eq!(operations, ["addDeviceToVpnCloud", UPDATE]);
    assert_eq!(request["vpnCloudId"], json!(VPN_CLOUDS[1]));
    assert_eq!(request["cipherSuite"], "ECDHE_ECDSA_AES128_GCM");
    let ids =
        [entry(&request, 0)["interfaceDeviceId"].clone(), entry(&request, 1)["interfaceDeviceId"].clone()];
    assert_eq!(
        request["interfaceConfiguration"],
        json!([
            {"interfaceDeviceId": ids[0], "direction": "outbound", "snat": "hide", "weight": 10},
            {"interfaceDeviceId": ids[1], "configurationDisabled": true},
        ])
    );
    let known = (1..10).map(interface).collect::<Vec<_>>();
    assert!(ids.iter().all(|id| known.contains(&id.as_str().expect("an id").to_owned())), "{ids:?}");
    assert_eq!(outcomes(&bench, 1), ["done"; 3]);

    // The same rows in another order ask for nothing.
    let other: Vec<&str> = ROWS.lines().rev().collect();
    write(&bench, &other.join("\n"));
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 2), ["done row.unchanged"; 3]);

    // One cell: one request for all rows of the device and cloud.
    write(&bench, &ROWS.replace(",10,", ",20,"));
    run(&bench, 0);
    let (operations, request) = done(&bench);
    assert_eq!(operations, ["addDeviceToVpnCloud", UPDATE, UPDATE]);
    assert_eq!(entry(&request, 0)["weight"], 20);
    assert_eq!(bench.requests(UPDATE), 2);

    // By the id of the cloud they are other rows, which find it so.
    write(&bench, &ROWS.replace(",10,", ",20,").replace("Guest", &VPN_CLOUDS[1].to_string()));
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 4), ["existing"; 3]);
    assert_eq!(bench.requests(UPDATE), 2);
}

#[test]
fn settings_name_a_cloud_that_the_device_has_joined_by_its_id() {
    let bench = bench_of(&ROWS.replace("Guest,,", &format!("{},,", VPN_CLOUDS[1])));
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 1), ["done"; 3]);
}

#[test]
fn settings_whose_answer_was_lost_are_looked_up_and_not_sent_again() {
    for fault in [FaultKind::AnswerLost, FaultKind::Error500After] {
        let bench = bench_of(ROWS);
        let fault = Fault::new(UPDATE, fault).times(1);
        bench.sandbox().change(|scenario| scenario.fault = vec![fault.clone()]).expect("a fault");
        run(&bench, 0);
        assert_eq!(bench.statistics().faults_fired.values().sum::<u64>(), 1);
        assert_eq!(bench.requests(UPDATE), 1);
        assert_eq!(outcomes(&bench, 1), ["done"; 3]);
    }
}

#[test]
fn an_interface_that_the_device_lacks_and_a_cloud_it_is_not_in_are_rejected() {
    let bench = bench_of("Guest,,,,,,,\nGuest,configure,,LAN 1,,,10,\nGuest,configure,,LAN 9,,,10,");
    run(&bench, 4);
    let rejected: Vec<Value> =
        bench.results(1).into_iter().filter(|row| row["status"] == "rejected").collect();
    assert_eq!(rejected.len(), 2, "they are one request");
    // The row that names another interface is right.
    let columns: Vec<&Value> = rejected.iter().map(|row| &row["column"]).collect();
    assert_eq!(columns, [&Value::Null, &json!("interface")]);
    let told: Vec<String> =
        rejected.iter().map(|row| format!("{}\n{}", row["message"], row["advice"])).collect();
    insta::assert_snapshot!(told.join("\n\n"));
    assert_eq!(bench.requests(UPDATE), 0);

    write(&bench, "Guest,,,,,,,\nGuest,configure,,LAN 1,,,10,\nCorporate,configure,,LAN 1,,,10,");
    run(&bench, 4);
    assert_eq!(outcomes(&bench, 2), ["done row.unchanged", "done", "rejected noDataFound"]);
}

#[test]
fn what_is_wrong_with_settings_is_found_at_its_cell_and_nothing_is_sent() {
    let configure = "Guest,configure,";
    let table = [
        (format!("{configure},LAN 1,,,heavy,"), "H2 cell.number"),
        (format!("{configure},LAN 1,,,1.5,"), "H2 cell.number"),
        (format!("{configure}ECDHE_ECDSA_AES129_GCM,,,,,"), "D2 cell.enum"),
        (format!("{configure},LAN 1,,,10,perhaps"), "I2 cell.bool"),
        (format!("{configure},LAN 1,,,10,yes"), "H2 row.conflict"),
        (format!("{configure},LAN 1,,,,"), "E2 row.incomplete-group"),
        (format!("{configure},,,,10,"), "E2 row.incomplete-group"),
        (format!("{configure},,,,,"), "D2 row.incomplete-group"),
        (format!("{configure},LAN 1,out,,10,yes"), "F2 row.conflict, H2 row.conflict"),
        ("Guest,join,,LAN 1,,,10,".to_owned(), "E2 row.conflict, H2 row.conflict"),
        ("Guest,leave,Automatic,LAN 1,,,,no".to_owned(), "D2 row.conflict, E2 row.conflict, I2 row.conflict"),
        ("Guest,,Automatic,,,,,".to_owned(), "D2 row.conflict"),
        ("Guest,leave,,,,,10,".to_owned(), "H2 row.conflict"),
        (format!("{configure},LAN 1,,,10,\n{configure},LAN 1,,,20,"), "E3 dup.natural-key"),
        (
            format!("{configure}Automatic,LAN 1,,,10,\n{configure}ECDHE_ECDSA_AES256_GCM,LAN 2,,,10,"),
            "D3 row.conflict",
        ),
    ];
    let bench = bench_of("");
    for (rows, expected) in table {
        write(&bench, &rows);
        let outcome = bench.fleetload(&["run", "vpn.csv", "--json"]).expect_code(3);
        let found: Vec<String> = outcome
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .filter(|line| line["severity"] == "error")
            .map(|line| format!("{} {}", line["cell"], line["code"]).replace('"', ""))
            .collect();
        assert_eq!(found.join(", "), expected, "{rows}");
    }
    assert_eq!(bench.ledger().len(), 0);
}

#[test]
fn an_undo_gives_interfaces_and_the_cloud_the_settings_that_they_had() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    let first = done(&bench).1;
    write(&bench, &ROWS.replace(",10,", ",20,").replace("GCM", "CTR").replace("hide", "plain"));
    run(&bench, 0);
    assert_ne!(done(&bench).1, first);
    let told = "cipher_suite was \"ECDHE_ECDSA_AES128_GCM\", now \"ECDHE_ECDSA_AES128_CTR\"; \
                snat of LAN 1 was \"hide\", now \"plain\"; weight of LAN 1 was \"10\", now \"20\"";
    assert_eq!(bench.results(2)[0]["message"], told);
    bench.fleetload(&["undo", "2", "--out", "undo.xlsx"]).expect_code(0);
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    let (operations, last) = done(&bench);
    assert_eq!(operations, ["addDeviceToVpnCloud", UPDATE, UPDATE, UPDATE], "all rows are one request");
    assert_eq!(last["cipherSuite"], first["cipherSuite"]);
    for (name, value) in entry(&first, 0).as_object().expect("settings") {
        assert_eq!(entry(&last, 0)[name], *value, "{name}");
    }
    assert_eq!(entry(&last, 1), Value::Null, "the other one has what it had");
}

/// The settings of the device as an export has them, with a cell of the row of an interface replaced.
fn edited(bench: &Bench, number: usize, column: &str, value: &str) {
    let text = std::fs::read_to_string(bench.path("vpn.out.csv")).expect("the export");
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let headers = reader.headers().expect("headers").clone();
    let at = headers.iter().position(|header| header == column).expect("the column");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).expect("a header");
    for (row, record) in reader.records().enumerate() {
        let record = record.expect("a row");
        let cells = record.iter().enumerate().map(|(place, cell)| match (row, place) {
            (row, place) if (row, place) == (number, at) => value,
            _ => cell,
        });
        writer.write_record(cells).expect("a row");
    }
    let text = String::from_utf8(writer.into_inner().expect("the rows")).expect("text");
    bench.write("vpn.out.csv", &text);
}

fn export(bench: &Bench) {
    let device = TEMPLATE_DEVICE.to_string();
    bench.fleetload(&["export", "vpn", "--device", &device, "--out", "vpn.out.csv"]).expect_code(0);
}

/// Somebody else gives the first interface another weight.
fn change_weight(bench: &Bench, weight: i64) {
    let mut body = done(bench).1;
    body["interfaceConfiguration"][0]["weight"] = json!(weight);
    bench.write("body.json", &body.to_string());
    bench.fleetload(&["call", UPDATE, "--body", "body.json", "--yes"]).expect_code(0);
}

#[test]
fn an_exported_sheet_of_settings_asks_for_nothing_until_a_cell_is_changed() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    export(&bench);
    let run = || bench.fleetload(&["run", "vpn.out.csv"]).expect_code(0);
    run();
    assert_eq!(outcomes(&bench, 2), ["existing"; 3]);
    assert_eq!(bench.requests(UPDATE), 1);

    edited(&bench, 1, "weight", "20");
    let planned = bench.fleetload(&["plan", "vpn.out.csv", "--json"]).expect_code(0);
    let summary = planned.summary();
    assert_eq!(summary["plan"]["rows"]["VPN membership"], json!({"apply": 1, "unchanged": 2}));
    assert_eq!(summary["plan"]["sent"][0]["calls"], 1);
    assert_eq!(
        summary["changes"],
        json!([{"row": "vpn.out.csv!vpn.out!3", "column": "weight", "from": "10", "to": "20"}])
    );
    run();
    assert_eq!(bench.requests(UPDATE), 2);
    assert_eq!(outcomes(&bench, 3), ["existing", "done", "existing"], "as the plan says");
    let (_, request) = done(&bench);
    let first = interface_of(&request, 0);
    // The interface is sent whole, and nothing else.
    assert_eq!(
        request["interfaceConfiguration"],
        json!([{"interfaceDeviceId": first, "direction": "outbound", "snat": "hide", "weight": 20,
            "configurationDisabled": false}])
    );
    assert_eq!(request["cipherSuite"], json!(null));
    run();
    assert_eq!(bench.requests(UPDATE), 2, "nothing is left to be changed");

    // What was sent is undone, and what others have changed since is not.
    bench.fleetload(&["undo", "3", "--out", "undo.xlsx"]).expect_code(0);
    bench.fleetload(&["run", "undo.xlsx"]).expect_code(0);
    assert_eq!(entry(&done(&bench).1, 0)["weight"], 10);
    change_weight(&bench, 15);
    bench.fleetload(&["undo", "5", "--out", "undo5.xlsx"]).expect_code(0);
    bench.fleetload(&["run", "undo5.xlsx"]).expect_code(4);
    assert_eq!(outcomes(&bench, 6), ["rejected changed.since-export"]);

    // A cell that is cleared asks for nothing either.
    export(&bench);
    edited(&bench, 1, "weight", "");
    let cleared = bench.fleetload(&["check", "vpn.out.csv"]).expect_code(0).stdout;
    assert!(cleared.contains("the export has '15' here, and the cell is blank now"), "{cleared}");

    // Settings that the export could not read: nobody knows what they were.
    let whole = std::fs::read_to_string(bench.path("vpn.out.csv")).expect("the export");
    let of_membership =
        format!("\"device\":\"{TEMPLATE_DEVICE}\",\"cloud\":\"Guest\",\"action\":\"configure\"");
    let exported = format!("{{{of_membership}}}").replace('"', "\"\"");
    let head = "device,cloud,action,interface,weight,exported";
    bench.write(
        "vpn.out.csv",
        &format!("{head}\n{TEMPLATE_DEVICE},Guest,configure,LAN 1,20,\"{exported}\"\n"),
    );
    let planned = bench.fleetload(&["plan", "vpn.out.csv", "--json"]).expect_code(0).summary();
    assert_eq!(planned["changes"][0]["from"], Value::Null, "{planned}");
    bench.write("vpn.out.csv", &whole);

    // The cipher suite, in one row of three.
    export(&bench);
    edited(&bench, 2, "cipher_suite", "Automatic");
    run();
    let (_, request) = done(&bench);
    assert_eq!(
        (&request["cipherSuite"], &request["interfaceConfiguration"]),
        (&json!("Automatic"), &json!(null))
    );
}

/// The id of an interface in a request.
fn interface_of(request: &Value, at: usize) -> Value {
    entry(request, at)["interfaceDeviceId"].clone()
}

#[test]
fn settings_that_the_service_changed_since_the_export_are_told_and_not_overwritten_unless_asked() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    export(&bench);
    change_weight(&bench, 15);
    // A row that nobody changed, and another one of the same request.
    edited(&bench, 2, "default", "no");
    edited(&bench, 2, "weight", "7");
    bench.fleetload(&["run", "vpn.out.csv"]).expect_code(0);
    let (_, request) = done(&bench);
    assert_eq!(request["interfaceConfiguration"].as_array().map(Vec::len), Some(1), "{request}");
    assert_eq!((&entry(&request, 0)["weight"], bench.requests(UPDATE)), (&json!(7), 3));
    let rows = bench.results(2);
    let left = ": the service has changed this to '15' since the export, and the sheet has '10'";
    assert_eq!(
        outcomes(&bench, 2),
        ["existing changed.since-export", "existing changed.since-export", "done"]
    );
    assert!(rows[1]["message"].as_str().expect("words").ends_with(left), "{rows:?}");

    export(&bench);
    change_weight(&bench, 25);
    edited(&bench, 2, "weight", "8");
    bench.fleetload(&["run", "vpn.out.csv"]).expect_code(4);
    assert_eq!(outcomes(&bench, 3), ["existing", "existing", "rejected changed.since-export"]);
    let rows: Vec<Value> = bench.results(3).into_iter().filter(|row| row["status"] == "rejected").collect();
    assert!(
        rows.iter().all(|row| row["code"] == "changed.since-export" && row["column"] == "weight"),
        "{rows:?}"
    );
    let message = rows[0]["message"].as_str().expect("words");
    let told = ": the service has changed this to '25' since the export, and the sheet has '8'";
    assert!(message.ends_with(told) && message.starts_with("weight: interface "), "{message}");
    assert_eq!(bench.requests(UPDATE), 4, "theirs");
    // The cells of the other interfaces are blank, or as they were: none is to be filled in or changed.
    for row in &rows {
        let advice = row["advice"].as_str().expect("words");
        assert!(advice.starts_with("Export again and make the change in that file."), "{advice}");
    }
    bench.fleetload(&["retry", "3", "--code", "changed.since-export"]).expect_code(0);
    bench.fleetload(&["run", "--overwrite"]).expect_code(0);
    assert_eq!((&entry(&done(&bench).1, 0)["weight"], bench.requests(UPDATE)), (&json!(8), 5));
}

#[test]
fn after_a_correction_every_row_of_the_request_tells_what_was_changed() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    export(&bench);
    change_weight(&bench, 15);
    edited(&bench, 1, "weight", "20");
    edited(&bench, 2, "default", "no");
    edited(&bench, 2, "weight", "7");
    bench.fleetload(&["run", "vpn.out.csv"]).expect_code(4);
    edited(&bench, 1, "weight", "21");
    bench.fleetload(&["run", "vpn.out.csv", "--overwrite"]).expect_code(0);
    let told: Vec<Value> = bench.results(3).iter().map(|row| row["message"].clone()).collect();
    let words = format!("weight of {} was \"15\", now \"21\"", interface(2));
    assert_eq!(told[1], told[2]);
    for words in [words.as_str(), "now \"7\""] {
        assert!(told[1].as_str().expect("words").contains(words), "{told:?}");
    }
    assert!(told[0].as_str().expect("words").contains("nothing was sent"), "{told:?}");
}

#[test]
fn settings_that_others_changed_are_named_with_what_is_sent_and_stay_as_they_are() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    export(&bench);
    // Somebody else changes the cipher suite, and the translation of an interface, which was blank.
    let mut body = done(&bench).1;
    body["cipherSuite"] = json!("ECDHE_ECDSA_AES256_CTR");
    body["interfaceConfiguration"][1]["configurationDisabled"] = json!(false);
    body["interfaceConfiguration"][1]["snat"] = json!("hide");
    bench.write("body.json", &body.to_string());
    bench.fleetload(&["call", UPDATE, "--body", "body.json", "--yes"]).expect_code(0);
    edited(&bench, 2, "default", "no");
    edited(&bench, 2, "weight", "7");
    bench.fleetload(&["run", "vpn.out.csv", "--overwrite"]).expect_code(0);
    assert_eq!(outcomes(&bench, 2), ["existing", "existing", "done"]);
    let message = bench.results(2)[2]["message"].as_str().expect("words").to_owned();
    for words in [
        "weight of ",
        "; cipher_suite was changed to \"ECDHE_ECDSA_AES256_CTR\" in the service since the export, and left so",
        " was changed to \"hide\" in the service since the export, and left so",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    let (_, request) = done(&bench);
    assert_eq!(request["cipherSuite"], json!(null));
    assert_eq!((&entry(&request, 0)["weight"], &entry(&request, 0)["snat"]), (&json!(7), &json!("hide")));
}

#[test]
fn settings_that_went_with_a_membership_are_sent_again_when_their_rows_come_again() {
    let bench = bench_of(ROWS);
    run(&bench, 0);
    for row in ["Guest,leave,,,,,,\n", "Guest,,,,,,,\n"] {
        write(&bench, row);
        run(&bench, 0);
    }
    let sent = bench.requests(UPDATE);
    write(&bench, ROWS);
    run(&bench, 0);
    assert_eq!(bench.requests(UPDATE), sent + 1);
    assert_eq!(outcomes(&bench, 4), ["done", "done", "done row.unchanged"]);
    run(&bench, 0);
    assert_eq!(bench.requests(UPDATE), sent + 1);
}

#[test]
fn settings_that_come_again_before_they_are_sent_are_sent_with_those_that_only_the_earlier_rows_have() {
    let bench = bench_of("Guest,,,,,,,");
    run(&bench, 0);
    let import = |rows: &str| {
        write(&bench, rows);
        bench.fleetload(&["import", "vpn.csv"]).expect_code(0);
    };
    // The same interface: the later value of each field. Another interface: a request of its own.
    import("Guest,configure,ECDHE_ECDSA_AES256_GCM,LAN 1,,hide,10,");
    import("Guest,configure,,LAN 1,,,20,");
    import("Guest,configure,,LAN 2,,,30,");
    bench.fleetload(&["run"]).expect_code(0);
    let ledger = bench.ledger();
    let sent: Vec<&Value> = ledger.iter().filter(|of| of.operation == UPDATE).map(|of| &of.request).collect();
    let suites: Vec<&str> = sent.iter().filter_map(|request| request["cipherSuite"].as_str()).collect();
    assert_eq!(suites, ["ECDHE_ECDSA_AES256_GCM"]);
    let mut interfaces: Vec<[&Value; 2]> = sent
        .iter()
        .map(|request| &request["interfaceConfiguration"][0])
        .map(|entry| [&entry["weight"], &entry["snat"]])
        .collect();
    interfaces.sort_by_key(|[weight, _]| weight.as_i64());
    assert_eq!(interfaces, [[&json!(20), &json!("hide")], [&json!(30), &Value::Null]]);
    assert_eq!([2, 3, 4].map(|import| outcomes(&bench, import)), [["done"], ["done"], ["done"]]);
    let message = |import| bench.results(import)[0]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message(2).contains("import 3 asked for something else"), "{}", message(2));
    assert!(!message(4).contains("asked for"), "{}", message(4));

    // An interface with the default configuration has no other settings.
    import("Guest,configure,,LAN 1,,,40,");
    import("Guest,configure,,LAN 1,,,,yes");
    bench.fleetload(&["run"]).expect_code(0);
    let entry = entry(&done(&bench).1, 0);
    assert_eq!((&entry["weight"], &entry["configurationDisabled"]), (&Value::Null, &json!(true)));
}

#[test]
fn settings_that_ask_for_less_than_the_rejected_ones_are_no_correction_of_all_of_them() {
    let both = "Guest,configure,,LAN 1,,,10,\nGuest,configure,,LAN 2,,,10,";
    let bench = bench_of(both);
    run(&bench, 4);
    assert_eq!(outcomes(&bench, 1), ["rejected noDataFound"; 2]);
    write(&bench, "Guest,,,,,,,");
    run(&bench, 0);
    write(&bench, "Guest,configure,,LAN 2,,,10,");
    run(&bench, 0);
    bench.fleetload(&["report", "1"]);
    assert_eq!(outcomes(&bench, 1), ["rejected noDataFound"; 2]);
    let sent = |bench: &Bench| bench.ledger().iter().filter(|entry| entry.operation == UPDATE).count();
    assert_eq!(sent(&bench), 1);
    write(&bench, &both.replace(",10,", ",20,"));
    run(&bench, 0);
    bench.fleetload(&["report", "1"]);
    assert_eq!((outcomes(&bench, 1), sent(&bench)), (vec!["done".to_owned(); 2], 2));
}

#[test]
fn settings_of_one_interface_by_its_name_and_by_its_id_contradict_each_other() {
    let id = interface(2);
    let bench = bench_of(&format!("Guest,,,,,,,\nGuest,configure,,LAN 1,,,1,\nGuest,configure,,{id},in,,2,"));
    run(&bench, 4);
    assert_eq!(outcomes(&bench, 1), ["done", "rejected row.conflict", "rejected row.conflict"]);
    let rejected = &bench.results(1)[1];
    assert_eq!(rejected["column"], "interface", "{rejected}");
    let said = format!("'{id}' and 'LAN 1' are the same interface: give its settings in one row");
    assert!(rejected["message"].as_str().expect("words").contains(&said), "{rejected}");
    assert_eq!(bench.requests(UPDATE), 0);
    // Corrected, it is sent once.
    write(&bench, &format!("Guest,,,,,,,\nGuest,configure,,{id},in,,2,"));
    run(&bench, 0);
    assert_eq!(bench.requests(UPDATE), 1);
}
