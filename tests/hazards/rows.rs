//! Rows among each other: order, references, duplicates, and the same sheet again (R1 to R11; how many days a quota makes
//! of an import is said by the plan).

use std::path::Path;

use fleetload::import::{Outcome, examine, import, rehearse};
use fleetload::journal::Journal;
use fleetload::model::record::Role;
use fleetload::model::time::Moment;
use fleetload::sheet::cross_row::To;
use fleetload::sheet::finding::{Finding, Severity};

use super::desk::{Desk, line};

const ROOT: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";

/// Companies: key, parent, name; the rest is the same in all rows.
fn companies(rows: &[(&str, &str, &str)]) -> String {
    let mut sheet = String::from(
        "key,parent,name,company_type,phone,support_email,sales_email,accounts_email,address1,city,country\n",
    );
    for (key, parent, name) in rows {
        sheet.push_str(&format!(
            "{key},{parent},{name},CUSTOMER,+64 9 557 0000,a@b.example,a@b.example,a@b.example,1 Earl St,Ulm,DE\n"
        ));
    }
    sheet
}

/// Sites: key, company, name.
fn sites(rows: &[(&str, &str, &str)]) -> String {
    let mut sheet = String::from("key,company,name,phone,address1,city,country\n");
    for (key, company, name) in rows {
        sheet.push_str(&format!("{key},{company},{name},+64 9 557 0000,1 Earl St,Ulm,DE\n"));
    }
    sheet
}

/// Devices: company, name, site, mac.
fn devices(rows: &[(&str, &str, &str, &str)]) -> String {
    let mut sheet = String::from("company,name,site,mac,device_model,phone,address1,city,country\n");
    for (company, name, site, mac) in rows {
        sheet.push_str(&format!("{company},{name},{site},{mac},Edge 100,+64 9 557 0000,1 Earl St,Ulm,DE\n"));
    }
    sheet
}

/// People: company and username.
fn people(rows: &[(&str, &str)]) -> String {
    let mut sheet = String::from(
        "company,username,user_type,template_scope,first_name,last_name,email,allow_login,address1,city,country\n",
    );
    for (company, username) in rows {
        sheet.push_str(&format!(
            "{company},{username},VPN User,COMPANY_INHERIT,A,B,a@b.example,no,1 Earl St,Ulm,DE\n"
        ));
    }
    sheet
}

/// What is found in each file, without notes: `severity code file cell`.
fn found(desk: &Desk) -> Vec<String> {
    desk.findings().iter().filter(|finding| finding.severity != Severity::Info).map(told).collect()
}

fn told(finding: &Finding) -> String {
    let severity = if finding.is_error() { "error" } else { "warning" };
    let place = finding.cell.clone().unwrap_or_else(|| format!("row {}", finding.row.unwrap_or_default()));
    assert!(finding.message.contains(':'), "says what to do: {}", finding.message);
    assert!(finding.rule.is_some(), "has a rule: {} {}", finding.code, finding.message);
    format!("{severity} {} {} {place}", finding.code, finding.file)
}

/// The cells that belong to a finding.
fn related(finding: &Finding) -> Vec<&str> {
    finding.related.iter().map(|related| related.cell.as_deref().unwrap_or("row")).collect()
}

/// Devices first, then sites, then companies, each child above its parent.
#[test]
fn r01_rows_may_stand_in_any_order() {
    let desk = Desk::with("devices.csv", devices(&[("b", "Till", "s", "00:1a:2b:3c:4d:5e")]))
        .and("sites.csv", sites(&[("s", "b", "Earl St")]))
        .and("companies.csv", companies(&[("b", "a", "B"), ("a", ROOT, "A")]));
    assert_eq!(found(&desk), [""; 0]);
    let examined = desk.examined();
    assert_eq!(examined.checked().order().collect::<Vec<_>>(), [3, 2, 1, 0]);
    assert_eq!(examined.checked().links(0), [(Role::Company, To::Row(2)), (Role::Site, To::Row(1))]);
}

/// A key with a typing mistake.
#[test]
fn r02_a_reference_that_leads_nowhere_is_an_error_with_what_was_probably_meant() {
    let desk =
        Desk::with("companies.csv", companies(&[("acme", ROOT, "Acme Ltd"), ("globex", ROOT, "Globex")]))
            .and("sites.csv", sites(&[("s1", "acmee", "S1"), ("s2", "nobody", "S2")]));
    assert_eq!(found(&desk), ["error ref.not-found sites.csv B2", "error ref.not-found sites.csv B3"]);
    let findings = desk.findings();
    let mut lost = findings.iter().filter(|finding| finding.code.as_str() == "ref.not-found");
    let first = lost.next().expect("a finding");
    assert_eq!((first.value.as_deref(), first.suggestion.as_deref()), (Some("acmee"), Some("acme")));
    assert!(first.message.contains("Did you mean 'acme'?"), "{}", first.message);
    assert_eq!(first.row_key.as_deref(), Some("s1"));
    assert_eq!(lost.next().expect("another").suggestion, None);
}

/// The form says by what the record is meant, and a record that goes by the other is never taken for it.
#[test]
fn r02_a_reference_in_the_wrong_form_is_told_with_the_form_that_fits() {
    let rows = [("acme", ROOT, "Acme Ltd"), ("globex", ROOT, "Globex Ltd")];
    let table = [
        (
            "name:acme",
            "no company has the name 'acme', but one has that key: write key:acme",
            Some("key:acme"),
        ),
        (
            "key:Acme Ltd",
            "has the key 'Acme Ltd', but one has that name: write name:Acme Ltd",
            Some("name:Acme Ltd"),
        ),
        ("key:acmee", "no company has the key 'acmee', in these sheets", Some("key:acme")),
        ("name:Acme Lt", "no company has the name 'Acme Lt', in these sheets", Some("name:Acme Ltd")),
        ("name:globexx", "no company has the name 'globexx', in these sheets", None),
        ("key:", "the value after 'key:' is missing", None),
    ];
    for (cell, told, suggestion) in table {
        let desk =
            Desk::with("companies.csv", companies(&rows)).and("sites.csv", sites(&[("s1", cell, "S1")]));
        let finding = desk.the("ref.not-found");
        assert!(finding.message.contains(told), "{cell}: {}", finding.message);
        assert_eq!((finding.value.as_deref(), finding.suggestion.as_deref()), (Some(cell), suggestion));
        assert!(finding.rule.is_some(), "{cell}");
    }
}

/// What stands for all blank cells of a column stands in none of them.
#[test]
fn r02_a_default_that_leads_nowhere_is_told_as_a_default() {
    let rows = companies(&[("acme", "", "Acme Ltd"), ("globex", "nope", "Globex Ltd")]);
    let desk = Desk::with("companies.csv", rows)
        .read_with(|options| options.set_default("companies.parent=nope").expect("a default"));
    let said: Vec<_> = desk.findings().into_iter().filter(|finding| finding.is_error()).collect();
    let ours =
        |finding: &Finding| finding.message.ends_with("(the value comes from --default companies.parent)");
    assert_eq!(said.iter().map(ours).collect::<Vec<_>>(), [true, false]);
    let desk =
        Desk::with("companies.csv", companies(&[("acme", ROOT, "Acme Ltd")]).replace("Ulm,DE", "Ulm,"))
            .read_with(|options| options.set_default("companies.country=Atlantis").expect("a default"));
    let message = desk.the("cell.country").message;
    assert!(message.ends_with("(the value comes from --default companies.country)"), "{message}");
}

/// A row with a mistake in another cell, and a reference that leads nowhere besides: both are told at once.
#[test]
fn r02_the_references_of_a_row_with_errors_are_checked_too() {
    let rows = companies(&[("acme", "nobody", "Acme Ltd"), ("b", "c", "B"), ("c", "b", "C")]);
    let desk = Desk::with("companies.csv", rows.replace("CUSTOMER", "BOTH"));
    assert_eq!(
        found(&desk),
        [
            "error cell.enum companies.csv D2",
            "error cell.enum companies.csv D3",
            "error cell.enum companies.csv D4",
            "error ref.not-found companies.csv B2",
            "error ref.cycle companies.csv B3",
        ]
    );
}

/// Keys that read like the explicit forms of references, and one that reads like an id.
#[test]
fn r03_a_key_may_not_begin_as_references_do_and_one_like_an_id_is_found() {
    for key in ["key:1", "id:5", "Name:x"] {
        let desk = Desk::with("companies.csv", companies(&[("1", ROOT, "A"), (key, ROOT, "B")]));
        let told: Vec<String> =
            desk.findings().iter().filter(|found| found.is_error()).map(super::desk::line).collect();
        assert_eq!(told, ["error cell.key A3"], "{key}");
    }
    let key = "a1b2c3d4-e5f6a7b8-c9d0e1f2-ab";
    let desk = Desk::with("companies.csv", companies(&[(key, ROOT, "A")]))
        .and("sites.csv", sites(&[("s1", key, "S1"), ("s2", "a1b2c3d4-e5f6a7b8-c9d0e1f2-ac", "S2")]));
    assert_eq!(found(&desk), ["error cell.uuid sites.csv B3"]);
}

/// Companies by their names, as people know them.
#[test]
fn r03_a_name_leads_to_the_one_row_that_has_it_and_is_ambiguous_when_two_have() {
    let rows = [("a", ROOT, "Acme Ltd"), ("b", ROOT, "Shop"), ("c", "a", "Shop")];
    let desk = Desk::with("companies.csv", companies(&rows))
        .and("sites.csv", sites(&[("s1", "Acme  Ltd", "S1"), ("s2", "Shop", "S2"), ("s3", "Acme Lt", "S3")]));
    assert_eq!(found(&desk), ["error ref.ambiguous sites.csv B3", "error ref.not-found sites.csv B4"]);
    let ambiguous = desk.the("ref.ambiguous");
    assert_eq!(ambiguous.related.iter().map(|related| related.row).collect::<Vec<_>>(), [3, 4]);
    let advice =
        |by: &str| format!("2 rows have this name: {by}, or delete all but one if they are the same company");
    assert_eq!(ambiguous.message, advice("refer to the key of the right one"));
    assert_eq!(desk.the("ref.not-found").suggestion.as_deref(), Some("Acme Ltd"));
    let rows = [("a", ROOT, "Acme Ltd"), ("", ROOT, "Shop"), ("c", "a", "Shop")];
    let desk = Desk::with("companies.csv", companies(&rows)).and("sites.csv", sites(&[("s", "Shop", "S")]));
    assert_eq!(desk.the("ref.ambiguous").message, advice("give the right one a key and refer to that"));
}

/// A column of parents that was filled one row off.
#[test]
fn r04_a_circle_of_parents_is_told_once_with_its_cells_in_order() {
    let circles = [("a", "c", "A"), ("b", "a", "B"), ("c", "b", "C"), ("d", "d", "D")];
    let rows = [&circles[..], &[("e", ROOT, "E"), ("f", "a", "F")]].concat();
    let desk = Desk::with("companies.csv", companies(&rows));
    assert_eq!(found(&desk), ["error ref.cycle companies.csv B2", "error ref.cycle companies.csv B5"]);
    assert_eq!(desk.the("ref.target-invalid").cell.as_deref(), Some("B7"), "below a circle");
    assert_eq!(desk.examined().checked().order().collect::<Vec<_>>(), [4]);
    let findings = desk.findings();
    let mut circles = findings.iter().filter(|finding| finding.code.as_str() == "ref.cycle");
    let long = circles.next().expect("the circle of three");
    assert!(long.message.contains("a → c → b → a"), "{}", long.message);
    assert_eq!(related(long), ["B4", "B3"]);
    let own = circles.next().expect("the row that names itself");
    assert!(own.message.contains("names itself"), "{}", own.message);
}

/// The same key typed twice, once in capitals and once with a space behind it.
#[test]
fn r05_a_key_that_two_rows_have_is_an_error_that_names_the_first() {
    let desk = Desk::with(
        "companies.csv",
        companies(&[("acme", ROOT, "A"), ("ACME ", ROOT, "B"), ("b", ROOT, "C")]),
    );
    assert_eq!(found(&desk), ["error dup.key companies.csv A3"]);
    let finding = desk.the("dup.key");
    let advice = "give each row a key of its own, or delete one if both are the same company";
    assert_eq!(finding.message, format!("row 2 has this key already: {advice}"));
    assert_eq!(related(&finding), ["A2"]);
    let two = Desk::with("north-sites.csv", sites(&[("s1", ROOT, "A")]))
        .and("south-sites.csv", sites(&[("s1", ROOT, "B")]));
    assert_eq!(found(&two), ["error dup.key south-sites.csv A2"]);
    let finding = two.the("dup.key");
    assert!(finding.message.starts_with("row 2 of north-sites.csv has this key"), "{}", finding.message);
}

/// One device in two lists, of which one writes addresses with dashes and the other with dots.
#[test]
fn r06_a_mac_that_two_rows_have_is_an_error_whatever_its_notation() {
    let rows = [(ROOT, "Till 1", "", "00-1A-2B-3C-4D-5E"), (ROOT, "Till 2", "", "001a.2b3c.4d5e")];
    let desk = Desk::with("devices.csv", devices(&rows));
    assert_eq!(found(&desk), ["error dup.mac devices.csv D3"]);
    let finding = desk.the("dup.mac");
    assert_eq!((finding.cell.as_deref(), related(&finding)), (Some("D3"), vec!["D2"]));
}

/// One person twice, once with a capital letter.
#[test]
fn r07_a_username_that_two_rows_have_is_an_error_whatever_its_case() {
    let desk = Desk::with("people.csv", people(&[(ROOT, "jane"), (ROOT, "jane")]));
    assert_eq!(found(&desk), ["error dup.username people.csv B3"]);
    assert_eq!(related(&desk.the("dup.username")), ["B2"]);
    let desk = Desk::with("people.csv", people(&[(ROOT, "jane"), (ROOT, "Jane")]));
    assert_eq!(found(&desk), ["error cell.username people.csv B3", "error dup.username people.csv B3"]);
    assert_eq!(desk.the("dup.username").value.as_deref(), Some("Jane"), "as it is in the cell");
}

/// A block of rows pasted twice. Rows that are right have a natural key (name and parent, name and company, username or
/// MAC), so that the second is always the same record: an error. Of a row with an error it is not known what it would be:
/// a warning, so that it is corrected once and not twice.
#[test]
fn r08_a_row_pasted_twice_is_an_error_when_it_is_the_same_record_and_a_warning_otherwise() {
    let site = ("", ROOT, "Earl St");
    let desk = Desk::with("sites.csv", sites(&[site, site]));
    assert_eq!(found(&desk), ["error dup.natural-key sites.csv C3"]);
    let finding = desk.the("dup.natural-key");
    assert!(finding.message.contains("the same cell by cell, so delete one"), "{}", finding.message);
    let device = (ROOT, "Till 1", "", "");
    assert_eq!(
        found(&Desk::with(
            "devices.csv",
            devices(&[device, device, (ROOT, "Till 1", "", "00:1a:2b:3c:4d:5f")])
        )),
        ["error dup.natural-key devices.csv B3"]
    );
    let nameless = ("", "nobody", "Earl St");
    let desk = Desk::with("sites.csv", sites(&[nameless, nameless]));
    assert_eq!(
        found(&desk),
        [
            "error ref.not-found sites.csv B2",
            "error ref.not-found sites.csv B3",
            "warning dup.row sites.csv row 3",
        ]
    );
    let finding = desk.the("dup.row");
    assert_eq!(finding.related[0].row, 2);
    assert!(finding.message.contains("row 2 is the same cell by cell: delete one"), "{}", finding.message);
}

/// A device that was moved to another customer in one column and not in the other.
#[test]
fn r09_a_device_in_a_site_of_another_company_is_an_error() {
    let desk = Desk::with("companies.csv", companies(&[("a", ROOT, "A"), ("b", ROOT, "B")]))
        .and("sites.csv", sites(&[("s", "b", "Earl St")]))
        .and("devices.csv", devices(&[("a", "Till", "s", ""), ("b", "Till", "s", "")]));
    assert_eq!(found(&desk), ["error ref.wrong-owner devices.csv C2"]);
    let finding = desk.the("ref.wrong-owner");
    assert_eq!((finding.related[0].file.as_str(), related(&finding)), ("sites.csv", vec!["B2"]));
}

/// The company was imported with the sheets of last week.
#[test]
fn r02_a_reference_in_the_wrong_form_to_a_record_of_an_earlier_import_is_told_with_the_form_that_fits() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(&folder.path().join("journal.db")).expect("a journal");
    let rows = [("acme", ROOT, "Acme Ltd"), ("east", ROOT, "Shops"), ("west", "acme", "Shops")];
    let first = Desk::with("companies.csv", companies(&rows));
    assert_eq!(imported(&first, &[first.path()], &mut journal, 1_000), []);
    let told = |desk: &Desk, file: &Path| {
        let examined = examine(&[file.to_path_buf()], &desk.options, Some(&journal)).expect("it is read");
        let found = examined.findings.into_vec();
        let lost = found.into_iter().find(|finding| finding.code.as_str() == "ref.not-found");
        lost.map(|finding| (finding.message, finding.suggestion)).expect("it leads nowhere")
    };
    for (cell, expected, suggestion) in [
        (
            "name:acme",
            "no company has the name 'acme', but one has that key: write key:acme, if that is meant",
            Some("key:acme"),
        ),
        (
            "key:Acme Ltd",
            "no company has the key 'Acme Ltd', but one has that name: write name:Acme Ltd, if that is meant",
            Some("name:Acme Ltd"),
        ),
        // Two have it.
        ("key:Shops", "no company has the key 'Shops', in these sheets or in an earlier import", None),
        ("name:globex", "no company has the name 'globex', in these sheets or in an earlier import", None),
    ] {
        let desk = Desk::with("sites.csv", sites(&[("s1", cell, "S1")]));
        let (message, meant) = told(&desk, desk.path());
        assert!(message.starts_with(expected), "{cell}: {message}");
        assert_eq!(meant.as_deref(), suggestion, "{cell}");
    }
}

/// Imports the files of a desk into a journal; what is told of rows that it had already.
fn imported(desk: &Desk, files: &[&Path], journal: &mut Journal, at: i64) -> Vec<Finding> {
    let files: Vec<_> = files.iter().map(|path| path.to_path_buf()).collect();
    let examined = examine(&files, &desk.options, Some(journal)).expect("the files are read");
    assert!(examined.is_clean());
    match import(&examined, journal, false, Moment::from_millis(at)).expect("the journal is written") {
        Outcome::Imported(_, placed) => placed.findings.into_vec(),
        Outcome::Refused(findings) => panic!("refused: {:?}", findings.into_vec()),
    }
}

/// The corrected sheet, imported again: one row is as it was, one is new.
#[test]
fn r10_a_row_that_is_unchanged_since_an_earlier_import_is_a_note_and_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(&folder.path().join("journal.db")).expect("a journal");
    let first = Desk::with("sites.csv", sites(&[("s1", ROOT, "Earl St")]));
    assert_eq!(imported(&first, &[first.path()], &mut journal, 1_000), []);
    let again = Desk::with("sites.csv", sites(&[("s1", ROOT, "Earl St"), ("s2", ROOT, "Queen St")]));
    let told = imported(&again, &[again.path()], &mut journal, 2_000);
    let seen: Vec<_> = told
        .iter()
        .map(|finding| {
            (finding.code.as_str(), finding.severity, finding.cell.as_deref(), finding.row_key.as_deref())
        })
        .collect();
    assert_eq!(seen, [("row.unchanged", Severity::Info, Some("C2"), Some("s1"))]);
}

/// The table was sent in without keys; then somebody gives its rows keys, and changes one later.
#[test]
fn r10_a_key_that_is_added_is_learnt_and_a_changed_one_is_a_warning_that_says_which_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(&folder.path().join("journal.db")).expect("a journal");
    let told = |journal: &mut Journal, key: &str| {
        let desk = Desk::with("companies.csv", companies(&[(key, ROOT, "Acme")]));
        let told = imported(&desk, &[desk.path()], journal, 1_000);
        let said = |finding: Finding| (line(&finding), finding.message);
        told.into_iter().map(said).collect::<Vec<_>>()
    };
    assert_eq!(told(&mut journal, ""), []);
    let learnt = told(&mut journal, "acme");
    assert_eq!(learnt[0].0, "note row.unchanged C2");
    assert!(learnt[0].1.ends_with("later sheets find it by the key 'acme'"), "{}", learnt[0].1);
    let below = Desk::with("sites.csv", sites(&[("s1", "acme", "Earl St")]));
    assert_eq!(imported(&below, &[below.path()], &mut journal, 2_000), []);
    let changed = told(&mut journal, "acme-2");
    assert_eq!(changed[0].0, "warning row.unchanged A2");
    assert!(changed[0].1.contains("knows it by the key 'acme'"), "{}", changed[0].1);
    let globex = |key: &str| Desk::with("companies.csv", companies(&[(key, ROOT, "Globex")]));
    let keyless = globex("");
    assert_eq!(imported(&keyless, &[keyless.path()], &mut journal, 2_500), []);
    let taken = globex("acme");
    let examined =
        examine(&[taken.path().clone()], &taken.options, Some(&journal)).expect("the files are read");
    let found = rehearse(&examined, &mut journal, Moment::from_millis(3_000)).expect("a journal");
    let found = found.findings.into_vec();
    assert_eq!(found.iter().map(line).collect::<Vec<_>>(), ["error dup.key A2"]);
}

/// A customer whose parent is misspelled, with all its sites and devices.
#[test]
fn r11_rows_below_a_wrong_one_get_a_note_each_and_no_error() {
    let rows = [("a", "nobody", "A"), ("b", ROOT, "B"), ("c", "a", "C")];
    let desk = Desk::with("companies.csv", companies(&rows))
        .and("sites.csv", sites(&[("s1", "a", "S1"), ("s2", "a", "S2")]))
        .and("devices.csv", devices(&[("a", "Till", "s1", "")]));
    assert_eq!(found(&desk), ["error ref.not-found companies.csv B2"]);
    let notes: Vec<String> = desk
        .findings()
        .iter()
        .filter(|finding| finding.code.as_str() == "ref.target-invalid")
        .map(|finding| format!("{} {}", finding.file, finding.cell.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(notes, ["companies.csv B4", "sites.csv B2", "sites.csv B3", "devices.csv A2"]);
    let note =
        desk.findings().into_iter().find(|finding| finding.file == "sites.csv" && finding.row == Some(2));
    let message = note.expect("a note").message;
    assert!(message.contains("row 2 of companies.csv"), "{message}");
    assert_eq!(desk.examined().sheets.iter().map(|sheet| sheet.usable).sum::<u64>(), 1);
}
