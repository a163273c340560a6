//! `fleetload template --for`: blank workbooks whose drop-downs list what the service has of a company.

use std::io::{Cursor, Read as _};

use fleetload::model::operation::Operation;
use fleetload::sandbox::{ENTERPRISE_TEMPLATES, Scenario};

use crate::bench::{self, Bench};

/// The text of a part of a workbook.
fn part(bytes: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a workbook");
    let mut text = String::new();
    archive.by_name(name).expect(name).read_to_string(&mut text).expect("XML");
    text
}

/// A service with two companies, four sites and four devices.
fn filled() -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(4, 2));
    bench.write("devices.csv", &bench::devices(4, 2));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    bench
}

#[test]
fn drop_downs_list_the_records_of_the_company_and_a_cell_with_an_entry_means_its_id() {
    let bench = filled();
    let outcome = bench
        .fleetload(&[
            "template",
            "devices",
            "subscriptions",
            "--for",
            "Customer 1",
            "--out",
            "blank.xlsx",
            "--json",
        ])
        .expect_code(0);
    let summary = outcome.summary();
    let counts = ["companies", "sites", "devices", "templates", "clouds"]
        .map(|kind| summary["filled_in"][kind].as_u64().expect("a number"));
    assert_eq!(counts, [1, 2, 2, 2, 2]);
    assert_eq!(
        summary["filled_in"]["notes"][0],
        "Filled in for Customer 1: 1 company, 2 sites, 2 devices, 2 templates, 2 clouds. The drop-downs list these in place \
         of the keys of this workbook."
    );

    let bytes = std::fs::read(bench.path("blank.xlsx")).expect("a workbook");
    let strings = part(&bytes, "xl/sharedStrings.xml");
    let site =
        bench.created("site").into_iter().find(|site| site.request["name"] == "Branch 3").expect("a site");
    let (template, template_name) = (ENTERPRISE_TEMPLATES[0], "Retail Standard");
    let entry = format!("Branch 3 (id:{})", site.id);
    assert!(strings.contains(&format!(">{entry}<")), "{entry}");
    assert!(!strings.contains("Branch 2 (id:"), "a site of the other company");
    // Read me, devices, subscriptions, lists.
    let devices = part(&bytes, "xl/worksheets/sheet2.xml");
    for range in
        ["lists!$B$1:$B$1", "lists!$C$1:$C$2", "lists!$D$1:$D$2", "lists!$F$1:$F$2", "lists!$G$1:$G$2"]
    {
        assert!(devices.contains(&format!("<formula1>{range}</formula1>")), "{range}");
    }
    let subscriptions = part(&bytes, "xl/worksheets/sheet3.xml");
    assert!(subscriptions.contains("<formula1>lists!$F$1:$F$2</formula1>"), "{subscriptions}");

    // What a drop-down enters is read as the record's id.
    let header = bench::devices(0, 1).replace("company,name", "company,site,enterprise_template,name");
    let company = site.request["companyId"].as_str().expect("an id").to_owned();
    let row = format!(
        "Customer 1 (id:{company}),{entry},{template_name} (id:{template}),New,Edge 100,00:1a:2b:77:00:01,\
         +64 9 557 0000,1 Earl Street,Auckland,NZ\n"
    );
    bench.write("new.csv", &format!("{header}{row}"));
    bench.fleetload(&["run", "new.csv", "--kind", "devices"]).expect_code(0);
    let made =
        bench.created("device").into_iter().find(|made| made.request["name"] == "New").expect("a device");
    assert_eq!(made.request["siteId"], site.id.to_string());
    assert_eq!(made.request["companyId"], company);
}

#[test]
fn a_workbook_that_is_filled_in_from_a_rehearsal_says_so() {
    let bench = Bench::new(Scenario::default());
    let root = bench::root();
    let typed = ["template", "devices", "--for", &root, "--out", "blank.xlsx", "--sandbox"];
    let told = bench.fleetload(&typed).expect_code(0);
    assert_eq!(told.stdout.matches("REHEARSAL").count(), 1, "{told:?}");
    let strings = part(&std::fs::read(bench.path("blank.xlsx")).expect("a workbook"), "xl/sharedStrings.xml");
    assert!(strings.contains("REHEARSAL"), "{strings}");
    let typed = ["template", "devices", "--for", &root, "--out", "real.xlsx"];
    assert!(!bench.fleetload(&typed).expect_code(0).stdout.contains("REHEARSAL"));
    let strings = part(&std::fs::read(bench.path("real.xlsx")).expect("a workbook"), "xl/sharedStrings.xml");
    assert!(!strings.contains("REHEARSAL"), "{strings}");
}

#[test]
fn what_cannot_be_read_is_said_and_only_workbooks_have_drop_downs() {
    let bench = filled();
    let id = bench.created("company")[0].id.to_string();
    bench.profile("paths = \"documented\"", "", "");
    let outcome = bench.fleetload(&["template", "--for", &id, "--out", "some.xlsx"]).expect_code(0);
    for words in [
        "sites are not filled in: listSites has no known path",
        "devices are not filled in: listDevices has no known path",
        "templates and clouds are not filled in",
        "hardware models are not filled in",
    ] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    let strings = part(&std::fs::read(bench.path("some.xlsx")).expect("a workbook"), "xl/sharedStrings.xml");
    assert!(strings.contains("sites are not filled in: listSites has no known path"), "{strings}");

    // Without the lists, the searches and the statuses show the same, and it is said.
    let others = [
        Operation::FindSitesByName,
        Operation::ListCompanyDeviceOnlineStatuses,
        Operation::FindDevicesByName,
    ];
    let mapped: String = others
        .map(|operation| {
            let (method, path) = (operation.method().as_str(), operation.path());
            format!("[profile.bench.endpoints.{operation}]\nmethod = \"{method}\"\npath = \"{path}\"\n")
        })
        .concat();
    bench.profile("paths = \"documented\"", "", "");
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("a profile");
    bench.write("fleetload.toml", &format!("{profile}{mapped}"));
    let outcome =
        bench.fleetload(&["template", "--for", &id, "--out", "found.xlsx", "--json"]).expect_code(0);
    let summary = outcome.summary();
    assert_eq!([&summary["filled_in"]["sites"], &summary["filled_in"]["devices"]], [2, 2]);
    assert!(
        outcome.stderr.contains("sites may be missing: listSites has no known path"),
        "{}",
        outcome.stderr
    );
    bench.profile("paths = \"documented\"", "", "");

    let refused = bench.fleetload(&["template", "--for", &id, "--out", "folder"]).expect_code(2);
    assert!(refused.stderr.contains("--out FILE.xlsx"), "{}", refused.stderr);
    let wrong = "22222222-2222-4222-8222-222222222222";
    let refused = bench.fleetload(&["template", "--for", wrong, "--out", "none.xlsx"]).expect_code(2);
    assert!(refused.stderr.contains("the service has no company with the id"), "{}", refused.stderr);
    assert!(!bench.path("none.xlsx").exists());
}
