//! What holds between rows, on whole text tables.

use super::*;
use crate::sheet::{Options, RowUse, open};

/// Records of earlier imports.
struct Earlier(Vec<(Kind, &'static str, i64)>);

impl Known for Earlier {
    fn find(&self, kind: Kind, by: By<'_>) -> Result<Vec<JobId>> {
        let text = match by {
            By::Key(text) | By::Name(text) | By::Mac(text) => text.to_owned(),
            By::Id(id) => id.to_string(),
        };
        Ok(self
            .0
            .iter()
            .filter(|known| known.0 == kind && known.1 == text)
            .map(|known| JobId(known.2))
            .collect())
    }

    fn given_up(&self, _: &str, _: JobId) -> Result<Option<JobId>> {
        Ok(None)
    }

    fn record(&self, job: JobId) -> Result<EarlierRecord> {
        Ok(EarlierRecord { name: String::new(), company: None, id: None, place: format!("job {job}") })
    }

    fn left_out(&self, _: Kind, _: By<'_>) -> Result<Option<ImportId>> {
        Ok(None)
    }

    fn names(&self, _: Kind) -> Result<Vec<(Option<String>, String)>> {
        Ok(Vec::new())
    }
}

struct Outcome {
    found: Vec<Finding>,
    checked: Checked,
}

impl Outcome {
    /// Code, file and cell of each finding but those that tell nothing wrong.
    fn codes(&self) -> Vec<(Code, String)> {
        self.found
            .iter()
            .filter(|finding| finding.code != Code::RefUnverified)
            .map(|finding| {
                let stem = finding.file.trim_end_matches(".csv");
                (finding.code, format!("{stem}!{}", finding.cell.as_deref().unwrap_or("-")))
            })
            .collect()
    }
}

/// Checks text tables against each other: `(file name, rows without what every row needs)`.
fn check(files: &[(&str, &str)], known: &dyn Known) -> Outcome {
    check_for(RowUse::Import, files, known)
}

/// The same of rows that are read for this use.
fn check_for(row_use: RowUse, files: &[(&str, &str)], known: &dyn Known) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let mut between = Between::default();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let mut options = Options { row_use, ..Options::default() };
        for assignment in [
            "companies.company_type=CUSTOMER",
            "companies.support_email=a@b.example",
            "companies.sales_email=a@b.example",
            "companies.accounts_email=a@b.example",
            "people.user_type=VPN User",
            "people.template_scope=COMPANY_INHERIT",
            "people.first_name=A",
            "people.last_name=B",
            "people.email=a@b.example",
            "people.allow_login=no",
        ] {
            options.set_default(assignment).unwrap();
        }
        for kind in Kind::RECORDS {
            options.set_default(&format!("{kind}.phone=+64 9 555 0100")).unwrap();
            options.set_default(&format!("{kind}.address1=1 High St")).unwrap();
        }
        let book = open(&path, &options).map_err(|findings| findings[0].message.clone()).unwrap();
        let table = between.table(&book.tables[0]);
        book.read(&book.tables[0], &mut |row| {
            between.add(table, &row);
            Ok(())
        })
        .unwrap();
    }
    let mut found = Vec::new();
    let checked = between.check(known, &mut |finding| found.push(finding)).unwrap();
    Outcome { found, checked }
}

const ROOT: &str = "11111111-1111-4111-8111-111111111111";

fn at(code: Code, place: &str) -> (Code, String) {
    (code, place.to_owned())
}

#[test]
fn references_in_any_row_order_lead_to_rows_and_parents_come_first() {
    let companies = format!("key,parent,name\nc,b,C\nb,A,B\na,{ROOT},A\n");
    let devices = "company,site,name,template\nc,key:s1,Till 1,d2\nB,,Till 2,\n";
    let devices =
        devices.replace("company,", "key,company,").replace("\nc,", "\nd1,c,").replace("\nB,", "\nd2,B,");
    let result = check(
        &[
            ("devices.csv", &devices),
            ("sites.csv", "key,company,name\ns1,name:C,S1\n"),
            ("companies.csv", &companies),
        ],
        &Nothing,
    );
    assert_eq!(result.codes(), []);
    assert_eq!(result.checked.order().collect::<Vec<_>>(), [5, 4, 3, 2, 1, 0]);
    assert_eq!(
        result.checked.links(0),
        [(Role::Company, To::Row(3)), (Role::Site, To::Row(2)), (Role::Template, To::Row(1))]
    );
    assert_eq!(result.checked.links(5), [(Role::Parent, To::Remote(ROOT.parse().unwrap()))]);
    assert_eq!(result.found.len(), 1, "the id is told once");
}

#[test]
fn names_that_end_in_what_is_no_letter_are_found_and_told_apart_as_they_are_compared() {
    // An `à` that was read in another encoding: its second half is a space.
    let garbled = "Societ\u{c3}\u{a0}";
    let companies = format!("key,parent,name\na,{ROOT},{garbled}\n");
    let sites = format!("company,name\n{garbled},Depot\n");
    let result = check(&[("companies.csv", &companies), ("sites.csv", &sites)], &Nothing);
    assert_eq!(result.codes(), []);
    assert_eq!(result.checked.links(1), [(Role::Company, To::Row(0))]);
    let twice = format!("{companies}b,{ROOT},Societ\u{c3}\n");
    assert_eq!(
        check(&[("companies.csv", &twice)], &Nothing).codes(),
        [at(Code::DupNaturalKey, "companies!C3")]
    );
}

#[test]
fn two_sites_of_one_name_differ_by_their_reference() {
    let sites = format!("company,name,reference\n{ROOT},S,1\n{ROOT},S,2 a\n{ROOT},S,2  a\n");
    assert_eq!(check(&[("sites.csv", &sites)], &Nothing).codes(), [at(Code::DupNaturalKey, "sites!B4")]);
}

#[test]
fn names_that_differ_in_capitals_and_marks_only_are_worth_a_look() {
    let companies = |names: &[&str]| {
        let rows: String = names.iter().map(|name| format!("{ROOT},{name}\n")).collect();
        check(&[("companies.csv", &format!("parent,name\n{rows}"))], &Nothing)
    };
    let twins = companies(&["Child Ltd", "Other", "CHILD LTD.", "child-ltd"]);
    assert_eq!(twins.codes(), [at(Code::DupRow, "companies!B4"), at(Code::DupRow, "companies!B5")]);
    let first = twins.found.iter().find(|finding| finding.code == Code::DupRow).unwrap();
    assert!(first.message.starts_with("row 2 is 'Child Ltd', which differs"), "{}", first.message);
    assert_eq!(twins.checked.order().count(), 4, "they may be meant");
    let others =
        ["Shop 1-1", "Shop 11", "Shop 1/1/2", "Child Ltd", "Child Limited", "\u{3b1}", "\u{3b2}", "+", "!"];
    assert_eq!(companies(&others).codes(), []);
    let sites = format!("company,name,reference\n{ROOT},Main St,1\n{ROOT},main st.,2\n{ROOT},Main-St.,2\n");
    assert_eq!(check(&[("sites.csv", &sites)], &Nothing).codes(), [at(Code::DupRow, "sites!B4")]);
}

#[test]
fn changes_of_one_record_that_want_one_thing_otherwise_contradict_each_other() {
    let earlier = Earlier(vec![
        (Kind::Company, "a", 1),
        (Kind::Site, "s1", 101),
        (Kind::Site, "s2", 102),
        (Kind::Device, "old", 103),
        (Kind::Device, ROOT, 103),
    ]);
    // What the row that makes a record puts on it comes first, and may be changed.
    let devices = "key,company,name,meta:floor,enterprise_template,vpn_clouds,site\n\
        d1,a,T1,1,Retail,Office,s1\n";
    let updates = "action,key,meta:floor,enterprise_template,vpn_clouds,site\n\
        update,old,1,Retail,Office,s1\n";
    let agree = [
        (
            "metadata.csv",
            format!(
                "owner_kind,owner,key,value\ndevice,{ROOT},floor,1\ndevice,d1,floor,2\ndevice,old,Floor,2\n"
            ),
        ),
        (
            "subscriptions.csv",
            "device,template,action\nold,Retail,subscribe\nold,Office,unsubscribe\nd1,Retail,unsubscribe\n"
                .to_owned(),
        ),
        ("vpn.csv", "device,cloud,action\nold,Office,join\nd1,Office,leave\n".to_owned()),
        ("site_assignments.csv", "device,site\nd1,s2\nold,s1\n".to_owned()),
    ];
    let oppose = [
        ("metadata.csv", format!("owner_kind,owner,key,value\ndevice,{ROOT},floor,2\n"), "D2"),
        ("metadata.csv", "owner_kind,owner,key,value,action\ndevice,old,floor,,delete\n".to_owned(), "D2"),
        ("subscriptions.csv", "device,template,action\nold,Retail,unsubscribe\n".to_owned(), "B2"),
        ("vpn.csv", "device,cloud,action\nold,Office,leave\n".to_owned(), "B2"),
        ("site_assignments.csv", format!("device,site\n{ROOT},s2\n"), "B2"),
    ];
    for (name, content) in &agree {
        let sheets = [("devices.csv", devices), ("device-changes.csv", updates), (*name, content.as_str())];
        assert_eq!(check(&sheets, &earlier).codes(), [], "{name}");
    }
    let uses = [RowUse::Import, RowUse::Check];
    for ((name, content, cell), row_use) in oppose.iter().flat_map(|case| uses.map(|row_use| (case, row_use)))
    {
        let sheet = (*name, content.as_str());
        let sheets = [("devices.csv", devices), ("device-changes.csv", updates), sheet];
        let found = check_for(row_use, &sheets, &earlier).codes();
        assert_eq!(
            found,
            [at(Code::RowConflict, &format!("{}!{cell}", name.trim_end_matches(".csv")))],
            "{name}"
        );
        // The later row has the finding, at the cell that asks.
        let found = check_for(row_use, &[sheet, ("device-changes.csv", updates)], &earlier).codes();
        let own = match *name {
            "metadata.csv" => "C2",
            "subscriptions.csv" => "D2",
            "vpn.csv" => "E2",
            _ => "F2",
        };
        assert_eq!(found, [at(Code::RowConflict, &format!("device-changes!{own}"))], "{name}");
    }
}

#[test]
fn an_update_whose_key_is_that_of_another_record_than_its_id_is_told() {
    const OTHER: &str = "22222222-2222-4222-8222-222222222222";
    let earlier = Earlier(vec![(Kind::Device, "d1", 1), (Kind::Device, ROOT, 1), (Kind::Device, OTHER, 2)]);
    let updates = format!(
        "action,key,id,name\nupdate,D1,{ROOT},One\nupdate,d1,{OTHER},Two\nupdate,new,33333333-3333-4333-8333-333333333333,Three\n"
    );
    let result = check(&[("devices.csv", &updates)], &earlier);
    assert_eq!(result.codes(), [at(Code::RowConflict, "devices!B3")]);
}

#[test]
fn what_no_row_answers_is_asked_of_earlier_imports() {
    let known = Earlier(vec![
        (Kind::Company, "acme", 7),
        (Kind::Company, "Globex Ltd", 8),
        (Kind::Company, "Twice", 9),
        (Kind::Company, "Twice", 10),
    ]);
    let sites = "company,name\nACME,S1\nGlobex  Ltd,S2\nTwice,S3\n";
    let result = check(&[("sites.csv", sites)], &known);
    assert_eq!(result.codes(), [at(Code::RefAmbiguous, "sites!A4")]);
    assert_eq!(result.checked.links(0), [(Role::Company, To::Job(JobId(7)))]);
    assert_eq!(result.checked.links(1), [(Role::Company, To::Job(JobId(8)))]);
}

#[test]
fn a_finding_shows_a_mac_address_as_it_is_written_and_the_cell_that_has_what_a_reference_names() {
    let companies = format!("key,parent,name\nc,{ROOT},Acme\n");
    let devices = "key,company,site,name,mac\n\
                   d1,c,C,Till 1,00:1A:2B:00:C0:A0\n\
                   d2,c,Acme,Till 2,00-1a-2b-00-c0-a0\n";
    let result = check(&[("companies.csv", &companies), ("devices.csv", devices)], &Nothing);
    let told: Vec<_> = result
        .found
        .iter()
        .filter(|finding| finding.is_error())
        .map(|finding| {
            let related = &finding.related[0];
            let (value, cell) = (finding.value.as_deref().unwrap(), related.cell.as_deref().unwrap());
            (finding.code, value, cell, related.note.as_str())
        })
        .collect();
    assert_eq!(
        told,
        [
            (Code::DupMac, "00-1a-2b-00-c0-a0", "E2", "first use"),
            (Code::RefWrongKind, "C", "A2", "has this key"),
            (Code::RefWrongKind, "Acme", "C2", "has this name"),
        ]
    );
}
