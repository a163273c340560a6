//! Fields of the service: MAC addresses, usernames, e-mail addresses, lists, ids, phone numbers, labels (D1 to D7, D11 to
//! D20).

use fleetload::model::action::Action;
use fleetload::model::record::{TemplateScope, UserType};
use fleetload::sheet::MacForm;

use super::record::{cases, csv, device, judged, person, row, site, spoiled};
use crate::desk::Desk;

/// Labels of four vendors, a spreadsheet's spaces, and a mixture.
#[test]
fn d01_a_mac_is_read_in_every_notation_and_sent_in_one() {
    let table = [
        "00:1A:2B:3C:4D:5E",
        "00-1a-2b-3c-4d-5e",
        "001A.2B3C.4D5E",
        "001a2b3c4d5e",
        "00 1a 2b 3c 4d 5e",
        "001a-2b3c:4d5e",
    ];
    for value in table {
        let sent = device(&csv("devices", &[("mac", value)])).identification;
        assert_eq!(sent.as_deref(), Some("00:1a:2b:3c:4d:5e"), "{value}");
    }
    let forms = [
        (MacForm::Colon, "00:1a:2b:3c:4d:5e"),
        (MacForm::Dash, "00-1a-2b-3c-4d-5e"),
        (MacForm::Dot, "001a.2b3c.4d5e"),
        (MacForm::Bare, "001a2b3c4d5e"),
    ];
    for (form, expected) in forms {
        let desk = csv("devices", &[]).read_with(|options| options.mac_form = Some(form));
        assert_eq!(device(&desk).identification.as_deref(), Some(expected));
    }
}

/// What Linux tools print: groups without their leading zero.
#[test]
fn d02_short_groups_of_a_mac_are_padded_and_told_as_they_are_sent() {
    for (value, sent) in [("0:1a:2b:c:4d:5e", "00:1a:2b:0c:4d:5e"), ("0:1a:2b:3c:4d:5e", "00:1a:2b:3c:4d:5e")]
    {
        let desk = csv("devices", &[("mac", value)]);
        assert_eq!(device(&desk).identification.as_deref(), Some(sent));
        assert_eq!(desk.the("cell.zero-padded-format").cell.as_deref(), Some("E2"));
    }
}

/// A digit too few or too many, and a label with the longer kind of address.
#[test]
fn d03_a_mac_of_another_length_is_told_with_its_count() {
    for (value, count) in [
        ("00:1A:2B:3C:4D", "this has 10"),
        ("001a2b3c4d5", "this has 11"),
        ("001a2b3c4d5e6", "this has 13"),
        ("001a2bfffe3c4d5e", "this has 16"),
    ] {
        let finding = csv("devices", &[("mac", value)]).the("cell.mac-length");
        assert!(finding.message.contains(count), "{value}: {}", finding.message);
    }
    assert_eq!(spoiled("devices", "mac", "001a2bfffe3c4d5e").0, ["error cell.mac-length E2"]);
}

/// Placeholders, addresses of groups, and those that phones make up.
#[test]
fn d04_an_address_of_no_single_device_is_an_error_and_one_that_was_made_up_a_warning() {
    let reserved = "error cell.mac-reserved";
    cases(
        "devices",
        "mac",
        &[
            ("00:00:00:00:00:00", reserved, None),
            ("ff:ff:ff:ff:ff:ff", reserved, None),
            ("01:00:5e:00:00:01", reserved, None),
            ("02:1a:2b:3c:4d:5e", "warning cell.mac-reserved", None),
        ],
    );
    let made_up = device(&csv("devices", &[("mac", "02:1a:2b:3c:4d:5e")])).identification;
    assert_eq!(made_up.as_deref(), Some("02:1a:2b:3c:4d:5e"));
}

/// The serial number in the column of the MAC address.
#[test]
fn d05_a_serial_number_in_the_mac_column_is_asked_about() {
    cases(
        "devices",
        "mac",
        &[("SN-99812", "error cell.mac", None), ("Q2XX-1234-WXYZ", "error cell.mac", None)],
    );
    cases(
        "devices",
        "mac",
        &[
            ("00:1a:2b:3c:4d:5e (eth0)", "error cell.mac", Some("00:1a:2b:3c:4d:5e")),
            ("MAC: 001a.2b3c.4d5e", "error cell.mac", Some("001a.2b3c.4d5e")),
            ("01:00:5e:00:00:01 (eth0)", "error cell.mac", None),
            ("eth0 00:1a:2b:3c:4d:5e, eth1 00:1a:2b:3c:4d:5f", "error cell.multiple-values", None),
        ],
    );
    let more = csv("devices", &[("mac", "00:1a:2b:3c:4d:5e (eth0)")]).the("cell.mac");
    assert_eq!(more.message, "the cell holds more than the address: keep only that");
    let finding = csv("devices", &[("mac", "SN-99812")]).the("cell.mac");
    assert!(finding.message.contains("is this the serial number?"), "{}", finding.message);
}

/// Excel begins sentences with a capital; people use spaces and plus signs.
#[test]
fn d06_every_bad_character_of_a_username_is_named_and_small_letters_are_suggested() {
    cases(
        "people",
        "username",
        &[
            ("Jane.Doe", "error cell.username", Some("jane.doe")),
            ("jane doe", "error cell.username", None),
            ("jane_doe+x", "error cell.username", None),
            ("", "error cell.required", None),
        ],
    );
    let finding = csv("people", &[("username", "jane_doe+x")]).the("cell.username");
    assert!(finding.message.contains("'+', '_'"), "{}", finding.message);
    assert_eq!(person(&csv("people", &[("username", "jane.doe@acme")])).username, "jane.doe@acme");
}

/// Addresses that work inside one network only, and letters beyond a to z in a domain.
#[test]
fn d07_an_address_needs_a_domain_of_the_internet() {
    let wrong = "error cell.email";
    cases(
        "people",
        "email",
        &[
            ("a@b", wrong, None),
            ("a@localhost", wrong, None),
            ("a@[127.0.0.1]", wrong, None),
            ("a@127.0.0.1", wrong, None),
            ("a@b.1", wrong, None),
            (&format!("a@{}eu", "long-domain.".repeat(20)), "", None),
            ("a@1.example", "", None),
            ("\"a b\"@acme.example", wrong, None),
            ("\"jane\"@acme.example", wrong, None),
            ("jane.@acme.example", wrong, None),
            ("@acme.example", wrong, None),
            ("jane", wrong, None),
            ("jane acme.example", wrong, None),
            ("jane@müller.example", "warning cell.email", None),
        ],
    );
    let endless = format!("a@{}example", "long-domain.".repeat(21));
    let expected = ["warning cell.too-long H2", "error cell.email H2"];
    assert_eq!(spoiled("people", "email", &endless).0, expected);
    for (value, sent) in
        [("Jane@ACME.example", "Jane@acme.example"), ("jane@müller.example", "jane@müller.example")]
    {
        assert_eq!(person(&csv("people", &[("email", value)])).email, sent);
    }
}

/// Values of a list in another order of words, with a letter missing, or not at all.
#[test]
fn d11_a_value_that_is_not_of_the_list_is_told_with_all_values_and_the_nearest() {
    cases(
        "people",
        "user_type",
        &[
            ("full_reseller", "", None),
            ("Full Resellr", "error cell.enum", Some("Full Reseller")),
            ("Reseller Full", "error cell.enum", Some("Full Reseller")),
            ("Boss", "error cell.enum", None),
        ],
    );
    cases("people", "template_scope", &[("COMPANY INHERIT", "", None)]);
    cases("companies", "company_type", &[("CUSTOMR", "error cell.enum", Some("CUSTOMER"))]);
    let read =
        person(&csv("people", &[("user_type", "vpn  USER"), ("template_scope", "Company no-inherit")]));
    assert_eq!((read.user_type, read.template_scope), (UserType::VpnUser, TemplateScope::CompanyNoInherit));
    let finding = csv("people", &[("user_type", "Boss")]).the("cell.enum");
    for value in ["Configure Client", "VPN User"] {
        assert!(finding.message.contains(value), "{}", finding.message);
    }
}

/// Ids as other tools print them, and as Excel or a chat cuts them.
#[test]
fn d12_an_id_is_read_with_braces_capitals_or_without_dashes_and_not_when_cut() {
    let id = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
    for value in [id.to_uppercase(), format!("{{{id}}}"), id.replace('-', ""), format!("id:{id}")] {
        assert_eq!(spoiled("sites", "company", &value).0, [""; 0], "{value}");
    }
    for (value, suggestion) in [
        ("6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b".to_owned(), None),
        ("6f1c9c8e-3b0a-4d55-9f5a-0c8f0d…".to_owned(), None),
        ("6f1c9c8e-3b0a-4d55-9…".to_owned(), None),
        ("6f1c9c8e-3b0a-4d55".to_owned(), None),
        (format!("({id})"), Some(id)),
        (format!("\"{id}\""), Some(id)),
        (format!("{id},"), Some(id)),
    ] {
        let finding = csv("sites", &[("company", &value)]).the("cell.uuid");
        let place = (finding.cell.as_deref(), finding.suggestion.as_deref());
        assert_eq!(place, (Some("B2"), suggestion), "{value}");
    }
    cases("sites", "company", &[("id:acme", "error cell.uuid", None)]);
    cases(
        "devices",
        "vpn_clouds",
        &[
            ("cloud one; Two", "", None),
            ("id:cloud", "error cell.uuid", None),
            ("6f1c2a3e-0000-4000-8000", "error cell.uuid", None),
        ],
    );
}

/// A device with a site, and a site to be made with it.
#[test]
fn d13_a_site_and_a_site_to_be_made_exclude_each_other() {
    let site = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b12";
    let desk = csv("devices", &[("site", site), ("custom_site_id", "S-1")]);
    assert_eq!(judged(&desk).0, ["error row.conflict K2"]);
    assert_eq!(desk.the("row.conflict").related[0].cell.as_deref(), Some("J2"));
}

/// A device from a model and from a template, and one from neither.
#[test]
fn d14_a_model_and_a_template_exclude_each_other_and_neither_is_worth_a_warning() {
    let template = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b12";
    let both = csv("devices", &[("template", template), ("mac", "")]);
    assert_eq!(judged(&both).0, ["error row.conflict D2"]);
    let neither = csv("devices", &[("device_model", "")]);
    assert_eq!(judged(&neither).0, ["warning row.incomplete-group D2"]);
    let copy = csv("devices", &[("template", template), ("device_model", ""), ("mac", "")]);
    assert_eq!(judged(&copy).0, [""; 0]);
}

/// A copied device with what the service takes of no copy.
#[test]
fn d14_a_copied_device_has_no_site_to_be_made_and_no_fax_number() {
    let copy = [("template", "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b12"), ("device_model", ""), ("mac", "")];
    for (column, value) in [("custom_site_id", "S-1"), ("custom_site_name", "HQ"), ("fax", "+64 9 555 0101")]
    {
        let desk = csv("devices", &[&copy[..], &[(column, value)]].concat());
        assert_eq!(judged(&desk).0, ["error row.conflict K2"], "{column}");
        assert!(desk.the("row.conflict").message.contains("copied from a template"), "{column}");
    }
}

/// Numbers of advertisements, extensions, and zeros in brackets.
#[test]
fn d15_a_phone_number_stays_as_it_is_and_letters_in_it_are_a_warning() {
    for value in
        ["+64 9 555 0100", "(09) 555-0100 ext 5", "09 555 0100 x5", "+44 (0)20 7946 0000", "1.800.555/0100"]
    {
        assert_eq!(site(&csv("sites", &[("phone", value)])).phone_number, value);
        assert_eq!(spoiled("sites", "phone", value).0, [""; 0], "{value}");
    }
    cases(
        "sites",
        "phone",
        &[
            ("1-800-FLOWERS", "warning cell.phone", None),
            ("12", "error cell.phone", None),
            ("5", "error cell.phone", None),
            ("+", "error cell.phone", None),
            ("call me", "error cell.phone", None),
        ],
    );
}

/// A number without its country's code, and numbers with what is dialled before it, as people in Europe, Australia and
/// America write them.
#[test]
fn d16_a_national_number_is_sent_as_it_is_and_a_prefix_for_abroad_is_noted() {
    let told = |value: &str, country: &str| {
        let desk = csv("sites", &[("phone", value), ("country", country)]);
        assert_eq!(site(&desk).phone_number, value);
        let found = judged(&desk).0;
        assert!(found.iter().all(|line| !line.contains("cell.phone")), "{value}: {found:?}");
        let findings = desk.findings().into_iter();
        findings.filter(|finding| finding.code.as_str() == "cell.phone").collect::<Vec<_>>()
    };
    for (value, country) in [("021 123 4567", "NZ"), ("011 23 456 789", "IN"), ("+64 9 555 0100", "NZ")] {
        assert_eq!(told(value, country), [], "{value}");
    }
    for (value, country) in
        [("0064 9 555 0100", "NZ"), ("0011 64 9 555 0100", "AU"), ("011 64 9 555 0100", "US")]
    {
        let notes = told(value, country);
        assert_eq!(
            notes.iter().map(crate::desk::line).collect::<Vec<_>>(),
            ["note cell.phone D2"],
            "{value}"
        );
        assert_eq!(notes[0].suggestion.as_deref(), Some("+64 9 555 0100"), "{value}");
    }
    let without_country = told("0064 9 555 0100", "");
    assert_eq!(
        without_country[0].message,
        "the number begins with 00, an international prefix of some countries only, and is sent as it is; the service may \
         reject it: write +64 9 555 0100, if that is right"
    );
}

/// The labels of a site with this cell.
fn labels(value: &str) -> Vec<String> {
    let draft = row(&csv("sites", &[("labels", value)])).draft.expect("the row is right");
    match draft.steps.into_iter().nth(1) {
        Some(Action::PutLabels(labels)) => labels,
        other => panic!("no labels: {other:?}"),
    }
}

/// A list of labels in one cell, with commas and semicolons inside labels.
#[test]
fn d17_labels_are_separated_by_semicolons_and_nothing_else() {
    assert_eq!(labels("Retail; North, South;Retail"), ["Retail", "North, South"]);
    assert_eq!(labels("\"North; South\"; East"), ["North; South", "East"]);
    assert_eq!(labels("a \"b\";c"), ["a \"b\"", "c"]);
    assert_eq!(spoiled("sites", "labels", "\"North; South").0, ["error row.quote-unterminated H2"]);
    assert_eq!(spoiled("sites", "labels", "\"North\" South").0, ["error row.quote-stray H2"]);
    let columns = row(&csv("sites", &[("label:1", "North; South"), ("label:2", "East")]));
    let expected = [Action::PutLabels(vec!["North; South".into(), "East".into()])];
    assert_eq!(columns.draft.expect("the row is right").steps[1..], expected);
}

/// What is named twice goes once; each label is looked at as other texts are.
#[test]
fn d17_what_is_named_twice_is_noted_and_each_label_is_looked_at() {
    let noted = |cells: &[(&str, &str)]| {
        let mut found = csv("sites", cells).found_with_notes();
        found.retain(|found| found.contains("cell."));
        found
    };
    assert_eq!(noted(&[("labels", "a; b; a")]), ["note cell.multiple-values H2"]);
    assert_eq!(noted(&[("labels", "a"), ("label:1", "a")]), ["note cell.multiple-values I2"]);
    assert_eq!(noted(&[("label:1", "a"), ("label:2", "b")]), [""; 0]);
    assert_eq!(labels("a; b; a"), ["a", "b"]);
    let cloud = "0b6a1b1e-6d0f-4f0c-9d6a-5b0e5a3c9a11";
    let twice = csv("devices", &[("vpn_clouds", &format!("{cloud}; {cloud}"))]);
    assert_eq!(twice.the("cell.multiple-values").severity, fleetload::sheet::finding::Severity::Info);
    cases(
        "sites",
        "labels",
        &[
            ("CafÃ©; b", "warning cell.mojibake", Some("Café; b")),
            ("<b>x</b>; y", "warning cell.html", None),
            ("a; =1+1", "warning cell.formula-text", None),
            ("a; n/a", "warning cell.placeholder", None),
            ("n/a", "warning cell.placeholder", None),
            ("a; #REF!", "error cell.formula-error", None),
            ("a; Who?Me; R&D;", "", None),
        ],
    );
    let left_out =
        csv("sites", &[("labels", "a; n/a")]).read_with(|options| options.placeholders_blank = true);
    let expected = [Action::PutLabels(vec!["a".into()])];
    assert_eq!(row(&left_out).draft.expect("the row is right").steps[1..], expected);
}

/// Labels for companies and people, metadata for people: the service has neither.
#[test]
fn d18_columns_that_the_service_does_not_have_for_a_kind_are_errors() {
    for (kind, column) in
        [("companies", "labels"), ("companies", "label:1"), ("people", "tags"), ("people", "meta:floor")]
    {
        let found = judged(&csv(kind, &[(column, "x")])).0;
        assert_eq!(found.len(), 1, "{kind} {column}: {found:?}");
        assert!(found[0].starts_with("error header.unsupported-field"), "{kind} {column}: {found:?}");
    }
}

/// The same key of metadata in two columns.
#[test]
fn d19_a_metadata_key_given_twice_is_an_error() {
    let sheet = "company,name,phone,address1,city,country,meta:floor,Meta: floor\n\
                 6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,A,+64 9 557 0000,1 Earl St,Ulm,DE,1,2\n";
    let desk = Desk::with("sites.csv", sheet);
    assert_eq!(judged(&desk).0, ["error dup.metadata-key H1"]);
    assert_eq!(desk.the("dup.metadata-key").related[0].cell.as_deref(), Some("G1"));
}

/// The column of the service's own worked example.
#[test]
fn d20_general_email_is_not_taken_for_another_address() {
    let desk = csv("companies", &[("general_email", "info@acme.example")]);
    assert_eq!(judged(&desk).0, ["error header.unknown L1"]);
    let finding = desk.the("header.unknown");
    assert!(finding.message.contains("accounts_email"), "{}", finding.message);
}
