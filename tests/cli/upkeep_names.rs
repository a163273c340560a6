//! Templates and VPN clouds by their names: the lists of what a device has and may have show the id.

use fleetload::sandbox::{ENTERPRISE_TEMPLATES, Fault, FaultKind, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};
use serde_json::json;

use crate::bench::{self, Bench};

fn bench_of(subscriptions: &str, vpn: &str) -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    write(&bench, subscriptions, vpn);
    bench
}

/// Sheets whose rows are about the device that is there; a line for each: what, action.
fn write(bench: &Bench, subscriptions: &str, vpn: &str) {
    for (file, column, lines) in [("subscriptions.csv", "template", subscriptions), ("vpn.csv", "cloud", vpn)]
    {
        let rows: String = lines.lines().map(|line| format!("{TEMPLATE_DEVICE},{line}\n")).collect();
        bench.write(file, &format!("device,{column},action\n{rows}"));
    }
}

fn run(bench: &Bench, code: i32) {
    bench.fleetload(&["run", "subscriptions.csv", "vpn.csv"]).expect_code(code);
}

/// Of each row of an import its state and code, and what is said of those that were rejected.
fn outcomes(bench: &Bench, import: u32) -> Vec<String> {
    let rows = bench.results(import).into_iter();
    rows.map(|row| {
        let message = if row["status"] == "rejected" { &row["message"] } else { &json!("") };
        [&row["status"], &row["code"], message]
            .map(|value| value.as_str().unwrap_or_default())
            .join(" ")
            .trim()
            .to_owned()
    })
    .collect()
}

/// The templates and clouds in the requests that changed something.
fn changes(bench: &Bench) -> Vec<(String, String)> {
    let id = |entry: &serde_json::Value| {
        entry.get("enterpriseTemplateId").or(entry.get("vpnCloudId")).cloned().unwrap_or_default()
    };
    let mut changes: Vec<_> = bench
        .ledger()
        .into_iter()
        .map(|entry| (entry.operation, id(&entry.request).as_str().unwrap_or_default().to_owned()))
        .collect();
    changes.sort();
    changes
}

#[test]
fn the_reports_of_sheets_with_two_columns_can_be_read_again() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let nobody = "11111111-1111-4111-8111-111111111111";
    for (sheet, table) in [
        ("subscriptions", format!("device,template\n{TEMPLATE_DEVICE},Retail Standrad\n")),
        ("vpn", format!("device,cloud\n{TEMPLATE_DEVICE},Corporat\n")),
        ("licences", format!("device,licence_code\n{nobody},LIC-1\n")),
        ("site_assignments", format!("device,site\n{TEMPLATE_DEVICE},{nobody}\n")),
    ] {
        bench.write(&format!("{sheet}.csv"), &table);
    }
    bench.fleetload(&["run", "subscriptions.csv", "vpn.csv"]).expect_code(4);
    bench.fleetload(&["import", "licences.csv", "site_assignments.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(3);
    for (import, sheets) in [(1, ["subscriptions", "vpn"]), (2, ["licences", "site_assignments"])] {
        for report in ["fix.xlsx", "results.xlsx"].map(str::to_owned).into_iter().chain(
            sheets.iter().flat_map(|sheet| [format!("{sheet}.fix.csv"), format!("{sheet}.results.csv")]),
        ) {
            let read = bench.fleetload(&["check", &format!("reports/{import}/{report}")]).expect_code(0);
            assert!(read.stdout.contains("nothing is wrong"), "{report}: {}", read.stdout);
        }
    }
}

#[test]
fn names_lead_to_ids_and_the_same_rows_again_ask_for_nothing() {
    let bench = bench_of("Retail Standard,\nOffice  Standard,", "Corporate,join\nname:Guest,join");
    run(&bench, 0);
    let joined = VPN_CLOUDS.map(|id| ("addDeviceToVpnCloud".to_owned(), id.to_string()));
    let subscribed = ENTERPRISE_TEMPLATES.map(|id| ("subscribeTemplate".to_owned(), id.to_string()));
    assert_eq!(changes(&bench), [joined, subscribed].concat());
    // Once for each device and not for each row; what it has once more, to read back.
    for (list, times) in [
        ("listAssignedTemplates", 2),
        ("listAssignableTemplates", 1),
        ("listDeviceVpnClouds", 2),
        ("listJoinableVpnClouds", 1),
    ] {
        assert_eq!(bench.requests(list), times, "{list}");
    }
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 2), ["done row.unchanged"; 4]);

    // The same by its id is another row, which finds it so.
    write(&bench, &format!("{},", ENTERPRISE_TEMPLATES[0]), &format!("id:{},", VPN_CLOUDS[0]));
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 3), ["existing"; 2]);

    // What is not there any more, and what never was, is as asked.
    write(&bench, "Retail Standard,unsubscribe", "Corporate,leave");
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 4), ["done"; 2]);
    write(&bench, &format!("{},unsubscribe", ENTERPRISE_TEMPLATES[0]), &format!("{},leave", VPN_CLOUDS[0]));
    run(&bench, 0);
    assert_eq!(outcomes(&bench, 5), ["existing"; 2]);
    assert_eq!(changes(&bench).len(), 6);
}

#[test]
fn rows_of_a_later_import_are_compared_with_what_earlier_ones_have_left() {
    let bench = bench_of("", "Corporate,join");
    let import = |vpn: &str| {
        write(&bench, "", vpn);
        bench.fleetload(&["import", "vpn.csv"]).expect_code(0);
    };
    import("Corporate,join");
    // What the device can join, among which Corporate is not, is listed for the second row.
    import("Guest,join");
    import("Corporate,leave");
    import("Corporate,join");
    bench.fleetload(&["run"]).expect_code(0);
    let ended: Vec<_> = (1..=4).flat_map(|import| outcomes(&bench, import)).collect();
    assert_eq!(ended, ["done"; 4]);
    assert_eq!(bench.requests("listJoinableVpnClouds"), 2);
}

#[test]
fn a_name_that_nothing_has_is_rejected_with_the_nearest_one_whatever_the_action() {
    let bench = bench_of("Retail Standrad,\nWarehouse,unsubscribe", "corporate,join\nGuests,leave");
    run(&bench, 4);
    insta::assert_debug_snapshot!(outcomes(&bench, 1));
    assert_eq!(bench.ledger().len(), 0);
    let columns: Vec<_> = bench.results(1).iter().map(|row| row["column"].clone()).collect();
    assert_eq!(columns, ["template", "template", "cloud", "cloud"]);
}

#[test]
fn what_is_no_whole_id_and_several_ids_in_a_cell_are_found_before_anything_is_sent() {
    let [one, other] = ENTERPRISE_TEMPLATES;
    let bench = bench_of(&format!("{one};{other},\n6f1c2a3e-0000-4000-8000-00000000,"), "id:Corporate,");
    let outcome = bench.fleetload(&["check", "subscriptions.csv", "vpn.csv", "--json"]).expect_code(3);
    let found: Vec<String> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .filter(|line| line["severity"] == "error")
        .map(|line| format!("{} {}", line["cell"], line["code"]).replace('"', ""))
        .collect();
    assert_eq!(found, ["B2 cell.multiple-values", "B3 cell.uuid", "B2 cell.uuid"]);
}

#[test]
fn a_plan_says_that_a_name_cannot_be_resolved_where_no_list_shows_its_id() {
    let bench = bench_of("Retail Standard,\nOffice Standard,", "Corporate,join");
    let path = "/device-api/config/v1/subscribeTemplate";
    let mapped = format!(
        "paths = \"documented\"\nendpoints.subscribeTemplate = {{method = \"POST\", path = \"{path}\"}}"
    );
    bench.profile(&mapped, "", "");
    let plan = || bench.fleetload(&["plan", "subscriptions.csv"]).expect_code(0).stdout;
    let told = "2 rows wait: listAssignableTemplates is neither documented nor in the profile, and without it the id of \
                what the row names is not known: give the id, or set [profile.NAME.endpoints.listAssignableTemplates]";
    assert!(plan().contains(told), "{}", plan());
    // By their ids nothing is to be resolved.
    write(&bench, &ENTERPRISE_TEMPLATES.map(|id| format!("{id},")).join("\n"), "");
    assert!(plan().contains("2 rows to carry out: 2 subscriptions"), "{}", plan());
}

/// A device to be created, with templates and clouds.
fn device(bench: &Bench, templates: &str, clouds: &str) {
    let header = bench::devices(0, 1).replace("company,name", "company,enterprise_template,vpn_clouds,name");
    let rows = bench::devices(1, 1)
        .lines()
        .nth(1)
        .expect("a row")
        .replace("C0,", &format!("C0,{templates},{clouds},"));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &format!("{header}{rows}\n"));
}

#[test]
fn a_new_device_is_subscribed_and_joined_by_names_that_are_looked_up_when_it_is_there() {
    let bench = bench_of("", "");
    device(&bench, &format!("Retail Standard;{}", ENTERPRISE_TEMPLATES[1]), "Corporate; name:Guest");
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let joined = VPN_CLOUDS.map(|id| ("addDeviceToVpnCloud".to_owned(), id.to_string()));
    let subscribed = ENTERPRISE_TEMPLATES.map(|id| ("subscribeTemplate".to_owned(), id.to_string()));
    let mut after = changes(&bench);
    after.retain(|(operation, _)| !["addCompany", "addDevice"].contains(&operation.as_str()));
    assert_eq!(after, [joined, subscribed].concat());
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert_eq!(outcomes(&bench, 2), ["created row.unchanged"; 2]);
    assert_eq!(changes(&bench).len(), after.len() + 2);
}

#[test]
fn a_new_device_whose_template_is_not_there_is_incomplete_and_says_which_is_nearest() {
    let bench = bench_of("", "");
    device(&bench, "Retail Standrad", "Corporate");
    // The run that creates it ends before it asks for the list, so that the next one need not wait for what is new.
    let fault = Fault::new("listAssignedTemplates", FaultKind::UnauthorizedSource).times(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a fault");
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(7);
    assert_eq!(bench.statistics().faults_fired.values().sum::<u64>(), 1);
    bench.fleetload(&["run"]).expect_code(4);
    let row = bench.results(1).pop().expect("the device");
    assert_eq!((&row["status"], &row["column"]), (&json!("incomplete"), &json!("enterprise_template")));
    assert!(row["message"].as_str().expect("words").contains("'Retail Standard'?"), "{row}");
    // Corrected, the same device is completed.
    device(&bench, "Retail Standard", "Corporate");
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let operations: Vec<String> = changes(&bench).into_iter().map(|(operation, _)| operation).collect();
    assert_eq!(operations, ["addCompany", "addDevice", "addDeviceToVpnCloud", "subscribeTemplate"]);
}

#[test]
fn a_device_is_not_created_where_no_list_shows_the_id_of_its_template() {
    let bench = bench_of("", "");
    device(&bench, "Retail Standard", "");
    let path = "/device-api/config/v1/subscribeTemplate";
    let mapped = format!(
        "paths = \"documented\"\nendpoints.subscribeTemplate = {{method = \"POST\", path = \"{path}\"}}"
    );
    bench.profile(&mapped, "", "");
    for command in ["plan", "run"] {
        let outcome = bench.fleetload(&[command, "companies.csv", "devices.csv"]).expect_code(2);
        let told =
            "the sheets need listAssignableTemplates, whose path is neither documented nor in the profile";
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    }
    assert_eq!(bench.ledger().len(), 0);
    // By its id nothing is looked up.
    device(&bench, &ENTERPRISE_TEMPLATES[0].to_string(), "");
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
}

#[test]
fn a_cell_is_blamed_for_what_it_names_and_not_for_the_state_of_a_record() {
    let nobody = "11111111-1111-4111-8111-111111111111";
    let blamed = |bench: &Bench, import| -> Vec<(String, String)> {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        bench.results(import).iter().map(|row| (text(&row["code"]), text(&row["column"]))).collect()
    };
    let both = |code: &str, columns: [&str; 2]| columns.map(|column| (code.to_owned(), column.to_owned()));
    let bench = bench_of(&format!("{nobody},"), &format!("{nobody},"));
    run(&bench, 4);
    assert_eq!(blamed(&bench, 1), both("noDataFound", ["template", "cloud"]));
    for (import, kind, code) in
        [(2, FaultKind::InvalidState, "invalidState"), (3, FaultKind::GeneralError, "generalError")]
    {
        let faults =
            ["subscribeTemplate", "addDeviceToVpnCloud"].map(|operation| Fault::new(operation, kind));
        bench.sandbox().change(|scenario| scenario.fault = faults.into()).expect("faults");
        let at = import - 2;
        write(&bench, &format!("{},", ENTERPRISE_TEMPLATES[at]), &format!("{},", VPN_CLOUDS[at]));
        run(&bench, 4);
        assert_eq!(blamed(&bench, u32::try_from(import).expect("a number")), both(code, ["", ""]));
    }
}
