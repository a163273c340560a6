//! From headers as people write them to columns.

use super::*;

fn mapped(kind: Kind, headers: &[&str]) -> (Vec<String>, Vec<(Code, Option<usize>)>) {
    let headers: Vec<String> = headers.iter().map(|&header| header.to_owned()).collect();
    let (mapping, problems) = map(kind, &headers, &[], &[], &|_| true);
    let names = mapping
        .into_iter()
        .map(|mapped| match mapped {
            Mapped::Column { column, entry } => format!("{}{}", column.name, entry.unwrap_or_default()),
            Mapped::Ignored => "ignored".into(),
            Mapped::Blank => "blank".into(),
            Mapped::Unknown => "unknown".into(),
        })
        .collect();
    (names, problems.into_iter().map(|problem| (problem.code, problem.column)).collect())
}

#[test]
fn aliases_names_of_the_service_and_families_find_their_columns() {
    let (names, problems) = mapped(
        Kind::Device,
        &[
            "Asset Tag",
            "companyId",
            "Department",
            "MAC Address",
            "Zip",
            "meta:Contract No",
            "label:1",
            "snat:HQ:LAN1",
        ],
    );
    assert_eq!(
        names,
        ["key", "company", "name", "mac", "postcode", "meta:Contract No", "label:1", "snat:HQ:LAN1"]
    );
    assert_eq!(problems, []);
    assert_eq!(mapped(Kind::Site, &["address.latitude"]).0, ["address_latitude"]);
    assert_eq!(mapped(Kind::Site, &["lat"]).0, ["latitude"]);
}

#[test]
fn what_is_unknown_or_doubled_is_found() {
    let table: [(Kind, &[&str], Code, usize); 5] = [
        (Kind::Site, &["adress1"], Code::HeaderUnknown, 0),
        (Kind::Site, &["street", "address"], Code::HeaderDuplicate, 1),
        (Kind::Device, &["snat:HQ"], Code::HeaderUnknown, 0),
        (Kind::Device, &["snat:HQ:LAN1", "snat: HQ : LAN1"], Code::HeaderDuplicate, 1),
        (Kind::Person, &["phone", "mobile"], Code::HeaderUnknown, 1),
    ];
    for (kind, headers, code, column) in table {
        assert_eq!(mapped(kind, headers).1, [(code, Some(column))], "{headers:?}");
    }
    assert_eq!(mapped(Kind::Person, &["mobile"]), (vec!["phone".to_owned()], vec![]));
}

#[test]
fn a_misspelt_header_in_words_or_of_another_name_is_suggested_as_its_column() {
    let table = [
        (Kind::Device, "MAC adress", "mac"),
        (Kind::Device, "MAC-Adress", "mac"),
        (Kind::Device, "Phone numbr", "phone"),
        (Kind::Device, "Adress", "address1"),
        (Kind::Device, "Street adress", "address1"),
        (Kind::Device, "Adress line 2", "address2"),
        (Kind::Device, "Device nme", "name"),
        (Kind::Device, "Modell", "device_model"),
        (Kind::Device, "device_modle", "device_model"),
        (Kind::Device, "Licence cod", "licence_code"),
        (Kind::Site, "Site nme", "name"),
        (Kind::Site, "Post code no", "postcode"),
        (Kind::Company, "Parent Compny", "parent"),
        (Kind::Company, "parent compny", "parent"),
        (Kind::Company, "Remark", ""),
        (Kind::Device, "Tax", ""),
    ];
    for (kind, header, meant) in table {
        let (mapping, problems) = map(kind, &[header.to_owned()], &[], &[], &|_| true);
        assert_eq!(mapping, [Mapped::Unknown], "{header}");
        assert_eq!(problems[0].suggestion.as_deref().unwrap_or_default(), meant, "{header}: {problems:?}");
        let option = format!("--map {}", quoted(&format!("{header}={meant}")));
        assert!(meant.is_empty() || problems[0].message.contains(&option), "{}", problems[0].message);
    }
}

#[test]
fn a_column_of_updates_in_a_sheet_without_an_action_says_what_is_missing() {
    for (kind, says_action) in [(Kind::Company, true), (Kind::Device, true), (Kind::Person, false)] {
        let (mapping, problems) = map(kind, &["id".to_owned()], &[], &[], &|_| true);
        assert_eq!(mapping, [Mapped::Unknown]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].code, Code::HeaderUnknown);
        assert_eq!(problems[0].message.contains("a column 'action'"), says_action, "{}", problems[0].message);
    }
    let (mapping, problems) =
        map(Kind::Company, &["id".to_owned(), "action".to_owned()], &[], &[], &|_| true);
    assert!(mapping.iter().all(|mapped| matches!(mapped, Mapped::Column { .. })), "{mapping:?}");
    assert_eq!(problems, []);
}

#[test]
fn a_missing_required_column_is_named_unless_a_default_fills_it() {
    let (_, problems) = map(Kind::Company, &["name".to_owned()], &[], &[], &|name| name != "parent");
    let missing: Vec<_> =
        problems.iter().map(|problem| (problem.code, problem.suggestion.as_deref())).collect();
    assert_eq!(missing, [(Code::HeaderRequiredMissing, Some("parent"))]);
}

#[test]
fn the_kind_is_a_word_of_the_name() {
    let table = [
        ("Devices", Some(Kind::Device)),
        ("acme_devices 2026", Some(Kind::Device)),
        ("02-Companies", Some(Kind::Company)),
        ("company sites", None),
        ("Instructions", None),
        ("Lists", None),
    ];
    for (name, expected) in table {
        assert_eq!(kind_of_name(name), expected, "{name}");
    }
}
