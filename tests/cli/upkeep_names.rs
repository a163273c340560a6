//! Templates and VPN clouds by their names: the lists of what a device has and may have show the id.

use fleetload::sandbox::{ENTERPRISE_TEMPLATES, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};
use serde_json::json;

use crate::bench::Bench;

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
