//! What becomes of rows that are right: the same in every format, with all their columns.

use super::*;
use crate::model::action::Action;
use crate::model::record::Role;
use crate::sheet::table::book::separators::DELIMITERS;

/// The rows as a text table; cells are quoted only where they must be.
fn text_table(rows: &[&[&str]], delimiter: char, line_end: &str) -> String {
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .map(|cell| {
                    if cell.contains([delimiter, '"', '\n']) {
                        format!("\"{}\"", cell.replace('"', "\"\""))
                    } else {
                        (*cell).to_owned()
                    }
                })
                .collect();
            cells.join(&delimiter.to_string()) + line_end
        })
        .collect()
}

#[test]
fn the_same_rows_give_the_same_drafts_in_every_format() {
    let (_keep, path) = workbook(&[("Sites", SITES)]);
    let book = open(&path, &Options::default()).unwrap();
    let (expected, _) = rows_of(&book, &book.tables[0]);
    assert_eq!(expected.len(), 2);
    for row in &expected {
        assert_eq!(row.findings, [], "row {}", row.number);
        assert!(row.draft.is_some());
    }
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text_table(SITES, '\t', "\r\n").encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let mut files = vec![utf16, format!("\u{feff}sep=|\r\n{}", text_table(SITES, '|', "\r\n")).into_bytes()];
    for delimiter in DELIMITERS {
        for line_end in ["\n", "\r\n", "\r"] {
            files.push(text_table(SITES, delimiter, line_end).into_bytes());
        }
    }
    for content in files {
        let (_keep, path) = file("sites.csv", &content);
        let book = open(&path, &Options::default()).unwrap();
        let (rows, summary) = rows_of(&book, &book.tables[0]);
        assert_eq!(book.findings, []);
        assert_eq!(summary.findings, []);
        let shown = String::from_utf8_lossy(&content[..20]).into_owned();
        for (row, expected) in rows.iter().zip(&expected) {
            assert_eq!(row.draft, expected.draft, "{shown}");
            assert_eq!((row.number, &row.cells), (expected.number, &expected.cells), "{shown}");
        }
        assert_eq!(rows.len(), expected.len());
    }
}

#[test]
fn a_row_becomes_a_record_with_references_and_extras() {
    let (_keep, path) = workbook(&[("Sites", SITES)]);
    let book = open(&path, &Options::default()).unwrap();
    let (rows, _) = rows_of(&book, &book.tables[0]);
    let draft = rows[0].draft.as_ref().unwrap();
    let Some(Record::Site(site)) = draft.record() else { panic!("a site") };
    assert_eq!((site.name.as_str(), site.latitude), ("Harbour Shop", Some(-36.8485)));
    assert_eq!(site.address.latitude, None, "the place of a site is not that of its address");
    assert_eq!(draft.key.as_deref(), Some("q-01"));
    assert_eq!(draft.references[0].role, Role::Company);
    assert_eq!(draft.references[0].pointer, Pointer::Any("acme".into()));
    let metadata = crate::model::record::Metadata { key: "Contract No".into(), value: "C-77".into() };
    assert_eq!(
        draft.steps[1..],
        [Action::PutLabels(vec!["retail".into(), "north".into()]), Action::PutMetadata(vec![metadata])]
    );
    assert_eq!(rows[1].draft.as_ref().unwrap().references[0].pointer, Pointer::Name("Acme Ltd".into()));
}

#[test]
fn people_and_devices_are_read_with_all_their_columns() {
    let people = "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country,mobile";
    let person =
        "acme,vpn user,company_inherit,Jane,Doe,jane,jane@acme.example,oui,1 High St,Ulm,DE,+49 731 555";
    let devices = "key,company,name,site,template,copy_dhcp_leases,snat:HQ:LAN1,snat:HQ:LAN2,phone,address1,city,country,\
                   licence_code,vpn_clouds";
    let device = "d1,acme,Till,q-01,d0,yes,10.1.0.0/16,10.2.0.0/16,+49 731 555,1 High St,Ulm,DE,LIC-1,\
                  0123456789abcdef0123456789abcdef";
    let [people, person, devices, device] =
        [people, person, devices, device].map(|cells| cells.split(',').collect::<Vec<_>>());
    let (_keep, path) = workbook(&[
        ("People", &[&people, &person]),
        ("Devices", &[&devices, &device]),
        ("Notes", &[&["whatever"]]),
    ]);
    let book = open(&path, &Options::default()).unwrap();
    assert_eq!(book.ignored, [("Notes".to_owned(), "holds no known kind of row")]);
    let (people, _) = rows_of(&book, &book.tables[0]);
    assert_eq!(people[0].findings, []);
    let Some(Record::Person(person)) = people[0].draft.as_ref().unwrap().record() else { panic!("a person") };
    assert_eq!((person.allow_login, person.phone_number.as_deref()), (true, Some("+49 731 555")));
    let (devices, _) = rows_of(&book, &book.tables[1]);
    assert_eq!(devices[0].findings, []);
    let draft = devices[0].draft.as_ref().unwrap();
    let Some(Record::Device(device)) = draft.record() else { panic!("a device") };
    let copy = device.copy.as_ref().unwrap();
    assert!(copy.copy_dhcp_leases && !copy.copy_internet_passwords);
    assert_eq!(copy.snat_mapping.len(), 1);
    assert_eq!(copy.snat_mapping[0].mapping["LAN2"], "10.2.0.0/16");
    assert_eq!(draft.steps.len(), 3);
    assert_eq!(
        draft.references.iter().map(|reference| reference.role).collect::<Vec<_>>(),
        [Role::Company, Role::Site, Role::Template]
    );
}
