//! What a run made is read back before it is called finished: what vanished, what is there twice, what was left
//! behind. Found and told, never repaired.

use crate::bench::{self, Bench, Outcome};
use crate::relay::{self, Act, Relay};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::{Value, json};

fn instant() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

/// The figures of an import, those that are not zero.
fn audit(bench: &Bench, import: u32) -> Value {
    let mut figures = bench.summary(import)["audit"].clone();
    figures.as_object_mut().expect("an object").retain(|_, number| *number != 0);
    figures
}

/// The rows of an import that have a finding of this code.
fn found(bench: &Bench, import: u32, code: &str) -> Vec<Value> {
    bench.results(import).into_iter().filter(|row| row["code"] == code).collect()
}

/// Devices that bring a site along.
fn devices_with_sites(count: usize) -> String {
    bench::devices(count, 1)
        .lines()
        .enumerate()
        .map(|(n, line)| match n {
            0 => format!("{line},custom_site_name,custom_site_id\n"),
            n => format!("{line},Shop {n},SHOP-{n}\n"),
        })
        .collect()
}

#[track_caller]
fn says(outcome: &Outcome, words: &str) {
    assert!(outcome.stdout.contains(words), "no '{words}' in:\n{}\n{}", outcome.stdout, outcome.stderr);
}

#[test]
fn a_run_without_faults_reads_every_record_back_once_and_a_later_one_none() {
    let bench = Bench::new(instant());
    bench.write("companies.csv", &bench::companies(30));
    bench.write("sites.csv", &bench::sites(40, 30));
    bench.write("people.csv", &bench::people(20, 30));
    bench.write("devices.csv", &bench::devices(40, 30));
    let files = ["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"];
    let outcome = bench.fleetload(&files).expect_code(0);
    says(&outcome, "130 records verified: all there, none duplicated");
    assert_eq!(audit(&bench, 1), json!({"checked": 130}));
    assert_eq!(bench.requests("getChildCompanies"), 2, "one list before, one to read back");
    let asked =
        ["getPersonByUsername", "getPerson", "getDeviceByMac", "getDevice"].map(|by| bench.requests(by));
    assert_eq!(asked, [20, 20, 36, 36], "by the key before, by the id to read back");
    assert_eq!(bench.requests("getCompany"), 1, "the id that the sheet names, before anything is sent");
    says(&bench.fleetload(&["status"]).expect_code(0), "130 records verified");
    let before = bench.statistics().requests;
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.statistics().requests, before, "nothing is read back twice");
}

#[test]
fn a_record_that_vanished_after_its_creation_is_named_and_not_made_again() {
    for (operation, files) in [
        ("addCompany", &["companies.csv"][..]),
        ("addSite", &["companies.csv", "sites.csv"]),
        ("addPerson", &["companies.csv", "people.csv"]),
        ("addDevice", &["companies.csv", "devices.csv"]),
    ] {
        let vanished = Fault::new(operation, FaultKind::Vanished).after(1).times(1);
        let bench = Bench::new(instant().with_fault(vanished));
        bench.write("companies.csv", &bench::companies(3));
        bench.write("sites.csv", &bench::sites(5, 1));
        bench.write("people.csv", &bench::people(5, 1));
        bench.write("devices.csv", &bench::devices(5, 1));
        let outcome = bench.fleetload(&[&["run"], files].concat()).expect_code(8);
        assert_eq!(bench.statistics().faults_fired["vanished"], 1, "{operation}");
        says(&outcome, "1 missing");
        says(&outcome, "audit.vanished");
        let gone = bench.ledger().into_iter().find(|entry| entry.operation == "vanished").expect("the loss");
        let rows = found(&bench, 1, "audit.vanished");
        assert_eq!(rows.len(), 1, "{operation}");
        assert_eq!(rows[0]["id"], gone.id.to_string());
        assert_eq!(rows[0]["status"], "created");
        assert!(rows[0]["message"].as_str().expect("words").contains(&gone.id.to_string()));
        assert!(rows[0]["advice"].as_str().expect("words").contains("fleetload run"), "{}", rows[0]);
        assert_eq!(audit(&bench, 1)["vanished"], 1);
        says(&outcome, &gone.id.to_string());

        let made = bench.ledger().len();
        let later = bench.fleetload(&["run"]).expect_code(8);
        assert_eq!(bench.ledger().len(), made, "{operation}: it is not made again");
        says(&later, "an earlier run found problems with 1 row, not reviewed yet");
        says(&later, &gone.id.to_string());
        // No surface says that all is well.
        let status = bench.fleetload(&["status"]).expect_code(0);
        for told in [&outcome.stdout, &later.stdout, &status.stdout] {
            assert!(told.contains("finished; verification found problems with 1 row"), "{told}");
        }
        let reviewed = format!("fleetload resolve {} --seen", rows[0]["job"]);
        assert!(outcome.stderr.contains(&reviewed), "{}", outcome.stderr);
        let seen = format!("resolve {} --seen", rows[0]["job"]);
        assert!(later.stderr.contains(&seen), "{}", later.stderr);
        bench.fleetload(&["resolve", "--import", "1", "--code", "audit.vanished", "--seen"]).expect_code(0);
        says(&bench.fleetload(&["run"]).expect_code(0), "every row is done");
        says(&bench.fleetload(&["status"]).expect_code(0), "reviewed by");
        says(&bench.fleetload(&["status"]).expect_code(0), "1 missing");
        bench.fleetload(&["report"]).expect_code(0);
        assert_eq!(found(&bench, 1, "audit.vanished").len(), 1, "it stays in the report");
        assert_eq!(bench.summary(1)["findings_unseen"], 0);
        let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
        assert!(!page.contains("--seen"), "nobody is asked to review it again");
    }
}

const CORRECT: &str = "where no cell is wrong and the cause is gone, type fleetload retry 1; otherwise correct the rows in \
                       reports/1/fix.xlsx, then: fleetload run reports/1/fix.xlsx\n";

#[test]
fn rows_to_correct_are_named_beside_what_is_to_be_reviewed() {
    let rejected = Fault::new("addCompany", FaultKind::InvalidData).times(1);
    let vanished = Fault::new("addCompany", FaultKind::Vanished).after(1).times(1);
    let bench = Bench::new(Scenario { fault: vec![rejected, vanished], ..instant() });
    bench.profile("", "concurrency = 1", "");
    bench.write("companies.csv", &bench::companies(3));
    let ended = bench.fleetload(&["run", "companies.csv"]).expect_code(8).stderr;
    let job = &found(&bench, 1, "audit.vanished")[0]["job"];
    let status = bench.fleetload(&["status"]).expect_code(0).stderr;
    let review = "when you have reviewed what verification found: fleetload resolve";
    let steps = format!("hint: {review} {job} --seen\n      {CORRECT}");
    for told in [ended, status] {
        assert!(told.contains(&steps), "{told}");
        assert_eq!(told.matches("--seen").count(), 1, "{told}");
    }
}

#[test]
fn rows_to_correct_are_named_beside_a_row_on_hold() {
    let rejected = Fault::new("addCompany", FaultKind::InvalidData).times(1);
    let orphan = Fault::new("addDevice", FaultKind::OrphanSite).times(1);
    let bench = Bench::new(Scenario { fault: vec![rejected, orphan], ..instant() });
    bench.profile("", "concurrency = 1", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &devices_with_sites(2).replace("C0", "C1"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    let counts = bench.counts(1);
    assert_eq!((counts.get("held"), counts.get("rejected")), (Some(&1), Some(&1)), "{counts:?}");
    let told = bench.fleetload(&["status"]).expect_code(0).stderr;
    assert!(told.contains(&format!("hint: {CORRECT}")), "{told}");
}

#[cfg(unix)]
#[test]
fn a_finding_that_is_reviewed_while_the_run_goes_on_is_counted_at_its_end() {
    let vanished = Fault::new("addDevice", FaultKind::Vanished).times(1);
    let bench = Bench::new(instant().with_fault(vanished));
    bench.profile("", "rate = \"unlimited\"\ndaily_quota = 4", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(5, 1));
    let mut run = bench.start(&["run", "companies.csv", "devices.csv"]);
    let seen = ["resolve", "--import", "1", "--code", "audit.vanished", "--seen"];
    run.until(|| bench.fleetload(&seen).stdout.contains("audit.vanished"));
    run.signal("-INT");
    let parked = run.ended().expect_code(5);
    says(&parked, "verified: 1 missing");
    says(&parked, "; reviewed by ");
    assert!(!parked.stderr.contains("--seen"), "nobody is asked to review it again: {}", parked.stderr);
    bench.alter("daily_quota = 4", "daily_quota = 9");
    let ended = bench.fleetload(&["run"]).expect_code(0);
    says(&ended, "verified: all there, none duplicated");
    says(&bench.fleetload(&["status"]).expect_code(0), "6 records verified: 1 missing");
}

#[test]
fn a_creation_that_a_middlebox_sent_twice_is_found_for_every_kind_without_a_unique_key() {
    for (operation, kind, files) in [
        ("addCompany", "company", &["companies.csv"][..]),
        ("addSite", "site", &["companies.csv", "sites.csv"]),
        ("addDevice", "device", &["companies.csv", "devices.csv"]),
    ] {
        let twice = Fault::new(operation, FaultKind::SentTwice).after(1).times(1);
        let bench = Bench::new(instant().with_fault(twice));
        bench.write("companies.csv", &bench::companies(4));
        bench.write("sites.csv", &bench::sites(4, 1));
        let devices = bench::devices(4, 1);
        let without_mac: String = devices
            .lines()
            .map(|line| line.replace("00:1a:2b:00:00:0", "").replace(",0,", ",,") + "\n")
            .collect();
        let without_mac = (1..4).fold(without_mac, |sheet, n| sheet.replace(&format!("100,{n},"), "100,,"));
        bench.write("devices.csv", &without_mac);
        let outcome = bench.fleetload(&[&["run"], files].concat()).expect_code(8);
        assert_eq!(bench.statistics().faults_fired["sent_twice"], 1, "{operation}");
        says(&outcome, "1 duplicated");
        let rows = found(&bench, 1, "audit.double");
        assert_eq!(rows.len(), 1, "{operation}: {:?}", bench.results(1));
        let other = bench.unowned(1, kind);
        assert_eq!(rows[0]["candidates"][0]["id"], other.as_str());
        says(&outcome, &other);
        assert_eq!(audit(&bench, 1)["doubled"], 1);
    }
}

#[test]
fn a_site_whose_id_is_that_of_another_company_is_not_taken_for_the_row_s_own() {
    let bench = Bench::new(instant());
    let other: Arc<Mutex<String>> = Arc::default();
    let said = Arc::clone(&other);
    let relay = Relay::before(&bench.base_url(), move |operation, nth| match (operation, nth) {
        ("addSite", 1) => {
            let record = json!({"id": *said.lock().expect("an id"), "name": "Depot"});
            let body = json!({"status": "OK", "body": record}).to_string();
            Act::Instead(relay::answer("200 OK", "Content-Type: application/json\r\n", body.as_bytes()))
        }
        _ => Act::Pass,
    });
    bench.alter(&bench.base_url(), &relay.base_url());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let made = bench.created("company").into_iter().find(|company| company.request["name"] == "Customer 1");
    let stranger = made.expect("the other company").id.to_string();
    let depot = |company: &str| {
        format!(
            "company,name,phone,address1,city,country\n{company},Depot,+64 9 557 0000,1 Earl Street,Auckland,NZ\n"
        )
    };
    // One of the name in the other company, of which this journal knows nothing.
    bench.write("elsewhere.csv", &depot(&stranger));
    let elsewhere =
        ["run", "elsewhere.csv", "--kind", "sites", "--journal", "other.db", "--reports", "others"];
    bench.fleetload(&elsewhere).expect_code(0);
    *other.lock().expect("an id") = bench.created("site")[0].id.to_string();
    bench.write("sites.csv", &depot("C0"));
    let outcome = bench.fleetload(&["run", "sites.csv"]).expect_code(8);
    assert_eq!(relay.fired(), 1);
    says(&outcome, &format!("the service shows that id in another company, {stranger}"));
    assert_eq!(found(&bench, 2, "audit.vanished").len(), 1);
}

#[test]
fn a_double_is_found_when_the_look_up_shows_new_records_late() {
    let twice = Fault::new("addSite", FaultKind::SentTwice).after(1).times(1);
    let bench = Bench::new(Scenario { lookup_lag_ms: 400, ..instant() }.with_fault(twice));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(4, 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["sent_twice"], 1);
    says(&outcome, "1 duplicated");
    assert_eq!(found(&bench, 1, "audit.double").len(), 1);
    assert!(audit(&bench, 1)["doubles_not_checked"].is_null(), "{}", audit(&bench, 1));
}

#[test]
fn a_double_of_a_record_that_was_renamed_before_it_was_verified_is_found() {
    let twice = Fault::new("addCompany", FaultKind::SentTwice).after(1).times(1);
    let bench = Bench::new(instant().with_fault(twice));
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv", "--audit", "none"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["sent_twice"], 1);
    let double = bench.names("company").into_iter().fold(BTreeMap::new(), |mut count, name| {
        *count.entry(name).or_insert(0) += 1;
        count
    });
    let (name, _) = double.into_iter().find(|(_, count)| *count == 2).expect("one is there twice");
    let row = bench.results(1).into_iter().find(|row| row["values"]["name"] == name.as_str());
    let id = row.expect("its row")["id"].as_str().expect("an id").to_owned();
    bench.write("companies.csv", &format!("action,id,name\nupdate,{id},Renamed\n"));
    bench.fleetload(&["run", "companies.csv", "--audit", "none"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(found(&bench, 1, "audit.double").len(), 1);
}

#[test]
fn a_device_with_a_mac_that_was_sent_twice_is_there_once_and_adopted() {
    let twice = Fault::new("addDevice", FaultKind::SentTwice).times(1);
    let bench = Bench::new(instant().with_fault(twice));
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &bench::devices(3, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["sent_twice"], 1);
    assert_eq!(bench.counts(1), [("adopted".to_owned(), 1), ("created".to_owned(), 4)].into());
    assert_eq!(audit(&bench, 1), json!({"checked": 5}));
    bench.assert_exact(1);
}

#[test]
fn a_site_that_a_failed_device_left_behind_is_told_with_its_row() {
    let orphan = Fault::new("addDevice", FaultKind::OrphanSite).after(1).times(1);
    let bench = Bench::new(instant().with_fault(orphan));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices_with_sites(3));
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["orphan_site"], 1);
    assert_eq!(bench.counts(1), [("created".to_owned(), 3), ("held".to_owned(), 1)].into());
    assert_eq!(audit(&bench, 1), json!({"checked": 3, "orphan_sites": 1}));
    let held = bench.results(1).into_iter().find(|row| row["status"] == "held").expect("a held row");
    let name = held["name"].as_str().expect("a name");
    let left = bench
        .created("site")
        .into_iter()
        .find(|entry| entry.request["name"] == name)
        .expect("the site of the device that failed");
    assert!(held["message"].as_str().expect("words").contains(&left.id.to_string()), "{held}");
    says(&outcome, "audit.orphan-site");
    // It is told once: the next run looks at nothing it has seen.
    bench.fleetload(&["run"]).expect_code(8);
    let sites = bench.requests("findSitesByName");
    bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(bench.requests("findSitesByName"), sites);
}

#[test]
fn a_site_that_an_earlier_try_left_behind_is_told_until_it_is_reviewed_though_the_row_comes_again() {
    let orphan = Fault::new("addDevice", FaultKind::OrphanSite).times(1);
    let bench = Bench::new(instant().with_fault(orphan));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices_with_sites(1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["orphan_site"], 1);
    let job = bench.results(1).into_iter().find(|row| row["status"] == "held").expect("a held row");
    bench.fleetload(&["resolve", &job["job"].to_string(), "--abandon"]).expect_code(0);
    let (with_site, without) = ("Shop 1,SHOP-1", ",");
    bench.write("devices.csv", &devices_with_sites(1).replace(with_site, without));
    let outcome = bench.fleetload(&["run", "devices.csv"]).expect_code(8);
    says(&outcome, "audit.orphan-site");
    assert_eq!(bench.counts(2), [("created".to_owned(), 1)].into());
    bench.fleetload(&["run"]).expect_code(8);
    bench.fleetload(&["resolve", "--code", "audit.orphan-site", "--seen"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
}

#[test]
fn a_device_that_is_there_twice_is_told_with_the_second_site_it_brought_along() {
    let twice = Fault::new("addDevice", FaultKind::SentTwice).times(1);
    let bench = Bench::new(instant().with_fault(twice));
    bench.write("companies.csv", &bench::companies(1));
    let sheet = devices_with_sites(2);
    bench.write(
        "devices.csv",
        &(0..2).fold(sheet, |sheet, n| sheet.replace(&format!("00:1a:2b:00:00:{n:02x}"), "")),
    );
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["sent_twice"], 1);
    assert_eq!((bench.created("device").len(), bench.created("site").len()), (3, 3));
    let rows = found(&bench, 1, "audit.double");
    assert_eq!(rows.len(), 1);
    let words = rows[0]["message"].as_str().expect("words");
    assert!(words.contains("2 sites") && words.contains("1 may be left over"), "{words}");
    assert_eq!(rows[0]["candidates"].as_array().expect("a list").len(), 3, "the device and both sites");
}

#[test]
fn a_device_whose_answer_was_lost_has_one_site_and_that_is_its_own() {
    let lost = Fault::new("addDevice", FaultKind::AnswerLost).after(1).times(1);
    let bench = Bench::new(instant().with_fault(lost));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices_with_sites(3));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 1);
    assert_eq!(bench.requests("findSitesByName"), 1, "only of the one that was in doubt");
    assert_eq!(audit(&bench, 1), json!({"checked": 4}));
}

#[test]
fn a_look_up_that_lags_behind_makes_no_record_vanish() {
    let bench = Bench::new(Scenario { lookup_lag_ms: 60_000, ..instant() });
    bench.write("companies.csv", &bench::companies(3));
    bench.write("sites.csv", &bench::sites(4, 1));
    bench.write("people.csv", &bench::people(4, 1));
    bench.write("devices.csv", &bench::devices(4, 1));
    let files = ["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"];
    bench.fleetload(&files).expect_code(0);
    assert!(bench.requests("getDevice") >= 4, "what no search shows is read by its id");
    assert_eq!(audit(&bench, 1)["checked"], 15);
    assert!(found(&bench, 1, "audit.vanished").is_empty());
}

#[test]
fn a_look_up_that_has_never_found_anything_makes_no_record_vanish() {
    // The search finds nothing for longer than the settle time, and there is no other look-up.
    let bench = Bench::new(Scenario { lookup_lag_ms: 3_600_000, ..instant() });
    bench.profile(
        "paths = \"documented\"",
        "rate = \"unlimited\"",
        "[profile.bench.endpoints.addSite]\nmethod = \"POST\"\npath = \"/device-api/config/v1/addSite\"\n\
         [profile.bench.endpoints.findSitesByName]\nmethod = \"GET\"\n\
         path = \"/device-api/config/v1/findSitesByName?name={name}&companyId={companyId}\"\n",
    );
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(3, 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    assert_eq!(audit(&bench, 1), json!({"checked": 1, "doubles_not_checked": 1, "not_checked": 3}));
    says(&outcome, "3 records could not be verified: the look-up was inconclusive");
    let why = "the record could not be verified: the look-up was inconclusive or is not available";
    let rows = bench.results(1).into_iter().filter(|row| row["message"] == why);
    assert!(rows.map(|row| row["kind"].clone()).eq(["site"; 3]));
    says(
        &bench.fleetload(&["status"]).expect_code(0),
        "could not be verified: sites.csv!sites!2, sites.csv!sites!3, ",
    );
}

#[test]
fn without_look_ups_by_key_records_are_read_by_their_id_and_doubles_are_said_to_be_unknown() {
    let vanished = Fault::new("addCompany", FaultKind::Vanished).after(1).times(1);
    let bench = Bench::new(instant().with_fault(vanished));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(3));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["vanished"], 1);
    assert_eq!(audit(&bench, 1), json!({"checked": 3, "doubles_not_checked": 3, "vanished": 1}));
    says(&outcome, "no look-up could tell whether they are duplicated");
}

#[test]
fn a_list_as_long_as_a_page_proves_nothing_and_a_narrower_question_is_asked() {
    let twice = Fault::new("addCompany", FaultKind::SentTwice).after(1).times(1);
    let bench = Bench::new(instant().with_fault(twice));
    // One at a time, so that it is always the same company that is sent twice: how many names contain its name counts.
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    // With the second one there are twenty.
    bench.write("companies.csv", &bench::companies(19));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["sent_twice"], 1);
    assert_eq!(audit(&bench, 1), json!({"checked": 19, "doubled": 1, "doubles_not_checked": 1}));
    assert_eq!(bench.requests("findCompaniesByName"), 18);

    // Of a longer list only a page is shown: what is not on it is read by its id.
    let bench = Bench::new(Scenario { page_limit: 10, ..instant() });
    bench.write("companies.csv", &bench::companies(25));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert!(bench.requests("getCompany") >= 15);
    assert_eq!(audit(&bench, 1)["checked"], 25);
}

#[test]
fn children_of_a_company_that_is_deleted_meanwhile_are_rejected_and_the_company_is_named() {
    let deleted = Fault::new("addCompany", FaultKind::Vanished).after(1).times(1);
    let bench = Bench::new(instant().with_fault(deleted));
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &bench::devices(4, 2));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["vanished"], 1);
    assert_eq!(bench.counts(1), [("created".to_owned(), 4), ("rejected".to_owned(), 2)].into());
    let rejected: Vec<Value> =
        bench.results(1).into_iter().filter(|row| row["status"] == "rejected").collect();
    assert!(rejected.iter().all(|row| row["code"] == "noDataFound"), "{rejected:?}");
    // The cells are right: it is the record that is gone.
    let advice = rejected[0]["advice"].as_str().expect("words");
    assert!(
        advice.contains("it may have been deleted") && !advice.contains("Correct the reference"),
        "{advice}"
    );
    let gone = found(&bench, 1, "audit.vanished");
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0]["kind"], "company");
    let causes = bench.summary(1)["causes"].clone();
    let codes: Vec<&Value> = causes.as_array().expect("a list").iter().map(|cause| &cause["code"]).collect();
    assert_eq!(codes, ["noDataFound", "audit.vanished"]);
}

#[test]
fn with_doubtful_only_what_was_in_doubt_is_read_back_and_with_none_nothing() {
    let lost = Fault::new("addDevice", FaultKind::AnswerLost).times(2);
    let bench = Bench::new(instant().with_fault(lost));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(9, 1));
    let files = ["run", "companies.csv", "devices.csv", "--audit"];
    bench.fleetload(&[&files[..], &["doubtful"]].concat()).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 2);
    assert_eq!(audit(&bench, 1), json!({"checked": 2, "not_verified_yet": 8}));
    let asked = bench.requests("getDevice");
    bench.fleetload(&["run", "--audit", "none"]).expect_code(0);
    assert_eq!(bench.requests("getDevice"), asked);
    // Who changes their mind has the rest read back, without sending anything.
    let sent = bench.requests("addDevice");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!((bench.requests("addDevice"), bench.requests("getDevice")), (sent, asked + 7));
    assert_eq!(audit(&bench, 1), json!({"checked": 10}));
}

#[test]
fn the_report_of_an_earlier_import_is_written_again_when_a_run_of_another_has_verified_its_records() {
    let bench = Bench::new(instant());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &bench::devices(3, 1));
    bench.fleetload(&["run", "companies.csv", "--audit", "none"]).expect_code(0);
    assert_eq!(audit(&bench, 1), json!({"not_verified_yet": 2}));
    let outcome = bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    says(&outcome, "5 records verified");
    says(&outcome, "report of import 1: written again, as rows of it were verified: ");
    assert_eq!(audit(&bench, 1), json!({"checked": 2}));
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(!page.contains("not verified yet"), "{page}");
    let outcome = bench.fleetload(&["run"]).expect_code(0);
    assert!(!outcome.stdout.contains("written again"), "once: {}", outcome.stdout);
}

#[test]
fn a_look_up_that_keeps_failing_holds_up_no_run_whose_rows_are_made() {
    let by_id = Fault::new("getDevice", FaultKind::Error500Before);
    let by_key = Fault::new("getDeviceByMac", FaultKind::Error500Before).after(180);
    let bench = Bench::new(instant().with_fault(by_id).with_fault(by_key));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(200, 1));
    let until = bench::at_the_latest();
    // It ends by itself, and not with code 5 at the time given.
    let files = ["run", "companies.csv", "devices.csv", "--until", &until];
    let outcome = bench.fleetload(&files).expect_code(0);
    assert!(bench.statistics().faults_fired["error_500_before"] >= 20, "the breaker opened");
    let figures = audit(&bench, 1);
    // Whether the company is read back by its name or, while the service fails, by its id alone is decided by who is faster.
    assert!([Value::Null, json!(1)].contains(&figures["doubles_not_checked"]), "{figures}");
    assert_eq!((&figures["checked"], &figures["not_verified_yet"]), (&json!(21), &json!(180)));
    says(&outcome, "180 records are not verified yet");
}

#[test]
fn a_device_that_cannot_be_read_by_its_id_is_read_by_its_key() {
    for kind in [FaultKind::Error500Before, FaultKind::Html200, FaultKind::NoDataFound, FaultKind::WrongId] {
        let bench = Bench::new(instant().with_fault(Fault::new("getDevice", kind)));
        bench.write("companies.csv", &bench::companies(1));
        bench.write("devices.csv", &bench::devices(40, 1));
        bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
        assert!(bench.statistics().faults_fired[kind.name()] > 0, "{kind:?}");
        assert_eq!(audit(&bench, 1), json!({"checked": 41}), "{kind:?}");
    }
}

#[test]
fn a_wrong_id_is_found_whatever_the_row_is_and_however_late_its_own_record_is_listed() {
    for lookup_lag_ms in [0, 400] {
        for (operation, kind, sheet) in [
            ("addPerson", "person", bench::people(2, 1)),
            ("addSite", "site", bench::sites(2, 1)),
            ("addDevice", "device", bench::devices(2, 1)),
        ] {
            let wrong = Fault::new(operation, FaultKind::WrongId).after(1).times(1);
            let bench = Bench::new(Scenario { lookup_lag_ms, ..instant() }.with_fault(wrong));
            bench.write("companies.csv", &bench::companies(1));
            bench.fleetload(&["run", "companies.csv"]).expect_code(0);
            // The first of the two is of another journal, so that its id is nobody's here.
            let company = bench.created("company")[0].id.to_string();
            let mut lines = sheet.lines();
            let header = lines.next().expect("a header");
            let rows: Vec<String> = lines.map(|row| row.replace("C0", &company)).collect();
            bench.write("first.csv", &format!("{header}\n{}\n", rows[0]));
            bench.write("second.csv", &format!("{header}\n{}\n", rows[1]));
            let sheets = ["--kind", kind];
            let elsewhere = ["run", "first.csv", "--journal", "other.db", "--reports", "others"];
            bench.fleetload(&[&elsewhere[..], &sheets].concat()).expect_code(0);
            let outcome = bench.fleetload(&[&["run", "second.csv"][..], &sheets].concat()).expect_code(8);
            assert_eq!(bench.statistics().faults_fired["wrong_id"], 1);
            let created = bench.created(kind);
            let (theirs, own) = (&created[0], &created[1]);
            let name = theirs.request.get("username").or(theirs.request.get("name")).expect("a name");
            let name = name.as_str().expect("a text");
            says(&outcome, &format!("with the id {}, which the service shows as '{name}'", theirs.id));
            says(&outcome, &format!("a {kind} equal to the row belongs to no row: {}", own.id));
            assert!(!outcome.stderr.contains("duplicated"), "{kind} {lookup_lag_ms}: {outcome:?}");
            assert_eq!(audit(&bench, 2)["vanished"], 1, "{kind} {lookup_lag_ms}");
        }
    }
}

#[test]
fn the_only_record_that_is_seen_is_not_called_a_second_one() {
    let bench = Bench::new(instant().with_fault(Fault::new("addCompany", FaultKind::WrongId).times(1)));
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv", "--audit", "none"]).expect_code(0);
    let outcome = bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["wrong_id"], 1);
    let only = &bench.created("company")[0].id;
    says(&outcome, "which no look-up shows; a company equal to the row belongs to no row");
    says(&outcome, &only.to_string());
    assert!(!outcome.stderr.contains("duplicated"), "{outcome:?}");
    assert_eq!(audit(&bench, 1)["vanished"], 1);
    // It is the row's, and what belongs to it names it by its id.
    let way_out = "If the finding names an equal record that belongs to no row, that may be this row's, and the \
        service answered with a wrong id: look at it, and if it is, give its id in the rows that refer to it.";
    assert!(outcome.stderr.contains(way_out), "{}", outcome.stderr);
    bench.fleetload(&["resolve", "1", "--seen"]).expect_code(0);
    bench.write("sites.csv", &bench::sites(1, 1).replace(",C0,", &format!(",{only},")));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(bench.created("site")[0].request["companyId"], only.to_string());
}

#[test]
fn what_fails_to_be_read_back_is_left_to_the_next_run() {
    let by_id = Fault::new("getDevice", FaultKind::Error500Before);
    let by_key = Fault::new("getDeviceByMac", FaultKind::Error500Before).after(3);
    let bench = Bench::new(instant().with_fault(by_id).with_fault(by_key));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(3, 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert!(bench.statistics().faults_fired["error_500_before"] >= 3);
    says(&outcome, "3 records are not verified yet");
    assert_eq!(audit(&bench, 1), json!({"checked": 1, "not_verified_yet": 3}));
    bench.clear_faults();
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(audit(&bench, 1), json!({"checked": 4}));
}

#[test]
fn a_process_killed_while_it_reads_back_leaves_the_rest_to_the_next_run() {
    // Of those that read back, the 21st look and all after it have no answer. They take one of two places while devices are
    // created.
    let silent = Fault::new("getDevice", FaultKind::StallBefore).after(20);
    let vanished = Fault::new("addDevice", FaultKind::Vanished).after(30).times(1);
    let bench = Bench::new(instant().with_fault(vanished).with_fault(silent));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 2", "");
    bench.write("companies.csv", &bench::companies(1));
    let macs = (0..40).filter(|n| n % 10 == 9);
    let sheet = macs.fold(bench::devices(40, 1), |sheet, n| {
        sheet.replace(&format!("Till {n},Edge 100,,"), &format!("Till {n},Edge 100,00:1a:2b:00:ff:{n:02x},"))
    });
    bench.write("devices.csv", &sheet);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.created("device").len() == 40 && bench.requests("getDevice") >= 21);
    // It goes on telling where it stands, and writes what it has read meanwhile.
    run.hears(&["\"progress\""]);
    run.hears(&["\"progress\""]);
    run.kill();
    bench.clear_faults();
    assert_eq!(bench.statistics().faults_fired["vanished"], 1);
    let (sent, asked) = (bench.ledger().len(), bench.requests("getDevice"));

    let outcome = bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(bench.ledger().len(), sent, "nothing was sent");
    let asked_again = bench.requests("getDevice") - asked;
    assert!((20..40).contains(&asked_again), "what was read back is not asked for again: {asked_again}");
    says(&outcome, "1 missing");
    assert_eq!(audit(&bench, 1), json!({"checked": 41, "vanished": 1}));
}

#[test]
fn a_finding_about_a_row_that_was_left_out_and_came_again_is_one_of_both_imports() {
    for selection in [&["--import", "1"][..], &["--sheet", "devices"], &["--import", "2"]] {
        let bench = Bench::new(instant());
        bench.write("companies.csv", &bench::companies(1));
        let devices = bench::devices(3, 1);
        bench.write("devices.csv", &devices.replace("00:1a:2b:00:00:02", "00:1a"));
        bench.fleetload(&["run", "companies.csv", "devices.csv", "--skip-invalid"]).expect_code(4);
        let vanished = Fault::new("addDevice", FaultKind::Vanished);
        bench.sandbox().change(|scenario| scenario.fault.push(vanished)).expect("a consistent scenario");
        bench.write("corrected.csv", &devices);
        bench.fleetload(&["run", "corrected.csv", "--kind", "devices"]).expect_code(8);
        assert_eq!(bench.statistics().faults_fired["vanished"], 1);
        let status = bench.fleetload(&["status", "1"]).expect_code(0);
        says(&status, "verification found problems with 1 row");
        let seen = bench.fleetload(&[&["resolve", "--seen"], selection].concat()).expect_code(0);
        says(&seen, "audit.vanished marked as reviewed");
        bench.fleetload(&["run"]).expect_code(0);
    }
}
