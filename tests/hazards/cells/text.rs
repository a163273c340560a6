//! Text: white space, invisible and foreign characters, placeholders, several values, markup, formulas (T1 to T14), and
//! what is written back to the terminal (O4).

use std::process::Command;

use super::record::{cases, csv, judged, person, site, spoiled};

/// Names typed with spaces before and after, as everybody does.
#[test]
fn t01_spaces_around_a_value_are_removed_and_counted() {
    let desk = csv("sites", &[("name", "  Earl St\t")]);
    assert_eq!(site(&desk).name, "Earl St");
    let note = desk.the("cell.trimmed");
    assert_eq!((note.cell.as_deref(), note.column.as_deref()), (Some("C1"), Some("sites.name")));
    assert!(note.message.contains("1 cell"), "{}", note.message);
    assert!(
        desk.found_with_notes().contains(&"note cell.trimmed C1".to_owned()),
        "{:?}",
        desk.found_with_notes()
    );
}

/// Text pasted from a web page, French typography and Japanese input: spaces that are not U+0020.
#[test]
fn t02_every_kind_of_space_is_a_space() {
    for space in ["\u{a0}", "\u{202f}", "\u{3000}", "\u{2007}", " \u{a0} "] {
        let desk = csv("sites", &[("name", &format!("{space}Earl{space}St{space}"))]);
        assert_eq!(site(&desk).name, "Earl St", "{space:?}");
    }
}

/// Values copied from chat programs and right-to-left documents.
#[test]
fn t03_invisible_characters_are_removed_and_those_that_turn_the_text_are_refused() {
    let desk = csv("sites", &[("name", "\u{feff}Earl\u{200b} S\u{ad}t\u{2060}")]);
    assert_eq!(site(&desk).name, "Earl St");
    assert_eq!(desk.the("cell.invisible-removed").cell.as_deref(), Some("C1"));
    cases(
        "sites",
        "name",
        &[
            ("Earl \u{202e}tS", "error cell.control-char", None),
            ("Earl \u{200f}St", "error cell.control-char", None),
            ("Earl \u{2063}St", "error cell.control-char", None),
            ("Earl\u{7}St", "error cell.control-char", None),
            // Persian names have it between their letters.
            ("می\u{200c}خواهم", "", None),
        ],
    );
    cases("sites", "key", &[("s\u{200d}1", "error cell.control-char", None)]);
    let told = |name: &str| csv("sites", &[("address1", name)]).the("cell.control-char").message;
    assert_eq!(told("1\tEarl St"), "the cell has a tab U+0009: type the value again");
    assert_eq!(
        told("1 \u{202e}Earl"),
        "the cell has the character U+202E, which turns the direction of writing: type the value again"
    );
    // A line break is no invisible character, and is told as what it is.
    assert_eq!(
        csv("sites", &[("phone", "555 1234\n555 1235")]).found_with_notes(),
        ["error cell.line-break D2", "note ref.unverified B2"]
    );
    let (_, suggestion) = spoiled("people", "email", "jane\u{200b}@acme.example");
    assert_eq!(suggestion, None);
    assert_eq!(person(&csv("people", &[("email", "jane@acme.example\u{200b}")])).email, "jane@acme.example");
}

/// AutoCorrect's dashes, and what Japanese input methods write for digits and letters.
#[test]
fn t04_full_width_letters_and_dashes_are_made_plain_where_code_belongs_and_kept_in_names() {
    let table = [
        ("key", "Ｓ\u{2013}１", "S-1"),
        ("mac", "００１Ａ２Ｂ３Ｃ４Ｄ５Ｅ", "00:1a:2b:3c:4d:5e"),
        ("mac", "０01A2B3C4D5E", "00:1a:2b:3c:4d:5e"),
        ("mac", "00\u{2013}1a\u{2013}2b\u{2013}3c\u{2013}4d\u{2013}5e", "00:1a:2b:3c:4d:5e"),
    ];
    for (column, value, expected) in table {
        let row = super::record::row(&csv("devices", &[(column, value)]));
        let draft = row.draft.expect("the row is right");
        let found = match (column, draft.record()) {
            ("key", _) => draft.key.clone(),
            (_, Some(fleetload::model::record::Record::Device(device))) => device.identification.clone(),
            (_, other) => panic!("not a device: {other:?}"),
        };
        assert_eq!(found.as_deref(), Some(expected), "{value}");
    }
    let wide = [
        ("user_type", "ＶＰＮ Ｕser"),
        ("template_scope", "COMPANY\u{2010}INHERIT"),
        ("username", "ｊane.doe"),
        ("email", "jane＠acme.example"),
        ("allow_login", "ｎｏ"),
        ("company", "６f1c9c8e\u{2013}3b0a\u{2212}4d55\u{2014}9f5a-0c8f0d3a2b11"),
    ];
    assert_eq!(judged(&csv("people", &wide)).0, [""; 0]);
    let read = person(&csv("people", &wide));
    assert_eq!((read.username.as_str(), read.email.as_str()), ("jane.doe", "jane@acme.example"));
    assert_eq!(site(&csv("sites", &[("name", "Ａ \u{2013} B")])).name, "Ａ \u{2013} B");
    assert_eq!(site(&csv("sites", &[("country", "ＤＥ")])).address.country.as_deref(), Some("DE"));
    assert_eq!(site(&csv("sites", &[("phone", "09\u{2013}557 0000")])).phone_number, "09-557 0000");
    let coded =
        super::record::device(&csv("devices", &[("custom_site_id", "½Ａ"), ("postcode", "１０１０")]));
    assert_eq!(coded.custom_site_id.as_deref(), Some("½Ａ"));
    assert_eq!(coded.address.post_or_zip_code.as_deref(), Some("１０１０"));
    let licence = super::record::row(&csv("devices", &[("licence_code", "½Ａ")])).draft.expect("it is right");
    assert_eq!(licence.steps[1..], [fleetload::model::action::Action::AddLicence("½Ａ".into())]);
}

/// Names out of file names of a Mac or a PDF: a letter, and the accent after it.
#[test]
fn t05_accents_are_composed_before_names_are_compared_and_sent() {
    assert_eq!(site(&csv("sites", &[("name", "Cafe\u{301}")])).name, "Café");
    let company = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
    let rest = "+64 9 557 0000,1 Earl Street,Auckland,NZ";
    let sheet = format!(
        "company,name,phone,address1,city,country\n{company},Cafe\u{301},{rest}\n{company},Caf\u{e9},{rest}\n"
    );
    let desk = crate::desk::Desk::with("sites.csv", sheet);
    assert_eq!(desk.found(), ["error dup.natural-key B3"]);
}

/// A Cyrillic letter among Latin ones, typed with the wrong keyboard or to deceive; the letter O for a zero.
#[test]
fn t06_a_letter_that_only_looks_right_is_named_with_its_code() {
    cases(
        "people",
        "username",
        &[
            ("j\u{430}ne", "error cell.non-ascii-lookalike", Some("jane")),
            ("jane😀", "error cell.username", None),
        ],
    );
    cases(
        "people",
        "email",
        &[
            ("j\u{430}ne@acme.example", "error cell.non-ascii-lookalike", Some("jane@acme.example")),
            ("jane@\u{430}cme.example", "error cell.non-ascii-lookalike", Some("jane@acme.example")),
        ],
    );
    cases(
        "companies",
        "company_type",
        &[("CUS\u{422}OMER", "error cell.non-ascii-lookalike", Some("CUSTOMER"))],
    );
    cases(
        "devices",
        "mac",
        &[
            ("00:1\u{410}:2B:3C:4D:5E", "error cell.non-ascii-lookalike", Some("00:1A:2B:3C:4D:5E")),
            ("O0:1A:2B:3C:4D:5E", "error cell.mac", None),
        ],
    );
    cases("sites", "name", &[("\u{410}uckland", "warning cell.non-ascii-lookalike", Some("Auckland"))]);
    // Only the mixed word is written otherwise.
    let acme = ("Acm\u{435} Москва", "warning cell.non-ascii-lookalike", Some("Acme Москва"));
    cases("sites", "name", &[acme]);
    let zone = "\u{420}\u{430}cific/Auckland";
    cases("sites", "timezone", &[(zone, "error cell.non-ascii-lookalike", Some("Pacific/Auckland"))]);
    cases("sites", "name", &[("Москва", "", None), ("Αθήνα", "", None), ("Kadıköy", "", None)]);
    let finding = csv("people", &[("username", "j\u{430}ne")]).the("cell.non-ascii-lookalike");
    assert!(finding.message.contains("(U+0430) looks like the letter a"), "{}", finding.message);
    let finding = csv("devices", &[("mac", "O0:1A:2B:3C:4D:5E")]).the("cell.mac");
    assert!(finding.message.contains("'O' (U+004F) is the letter O, not the digit 0"), "{}", finding.message);
}

/// What people write where they have nothing to say.
#[test]
fn t07_a_word_for_nothing_is_an_error_where_a_value_is_needed_and_a_warning_elsewhere() {
    let words = [
        "N/A",
        "-",
        "none",
        "null",
        "TBD",
        "xxx",
        "0",
        "—",
        "–",
        ".",
        "N / A",
        "n/a.",
        "tba",
        "xxxx",
        "undefined",
        "nan",
        "NaN",
        "??",
    ];
    for word in words {
        assert_eq!(spoiled("sites", "name", word).0, ["error cell.placeholder C2"], "{word}");
        assert_eq!(spoiled("people", "email", word).0, ["error cell.placeholder H2"], "{word}");
    }
    assert_eq!(spoiled("sites", "suburb", "n/a").0, ["warning cell.placeholder H2"]);
    for code in ["licence_code", "postcode"] {
        assert_eq!(spoiled("devices", code, "nan").0, ["warning cell.placeholder J2"]);
    }
    // Namibia, and people who are called so.
    assert_eq!(spoiled("sites", "country", "NA").0, [""; 0]);
    assert_eq!(spoiled("people", "last_name", "Null").0, [""; 0]);
    assert_eq!(spoiled("people", "first_name", "None").0, [""; 0]);
    assert_eq!(spoiled("people", "last_name", "nan").0, [""; 0]);
    for name in ["Nan", "Nona", "XX", "A.", "Unknown Ltd", "N A"] {
        assert_eq!(spoiled("sites", "name", name).0, [""; 0], "{name}");
    }
    // 0 is a value where it can be one.
    assert_eq!(spoiled("sites", "reference", "0").0, [""; 0]);
}

/// Where only certain values can be sent, and none is needed, the word is no value either way.
#[test]
fn t07_a_word_for_nothing_is_blank_where_it_could_not_be_sent_and_no_value_is_needed() {
    let table = [
        ("devices", "mac", "E2"),
        ("devices", "fax", "J2"),
        ("devices", "site", "J2"),
        ("devices", "timezone", "J2"),
        ("devices", "copy_dhcp_leases", "J2"),
        ("devices", "vpn_clouds", "J2"),
        ("people", "phone", "M2"),
        ("people", "key", "A2"),
    ];
    for (kind, column, cell) in table {
        for word in ["n/a", "-", "none"] {
            let desk = csv(kind, &[(column, word)]);
            assert_eq!(
                judged(&desk).0,
                [format!("warning cell.placeholder {cell}")],
                "{kind} {column} {word}"
            );
            let blank = super::record::row(&csv(kind, &[(column, "")])).draft;
            assert_eq!(super::record::row(&desk).draft, blank, "{kind} {column} {word}");
        }
    }
    let told = csv("devices", &[("mac", "n/a")]).the("cell.placeholder").message;
    assert!(told.contains("read as blank"), "{told}");
}

/// The same, where it was said that such a word counts as blank.
#[test]
fn t07_a_word_for_nothing_is_blank_where_that_was_said_and_no_value_is_needed() {
    let blank = |kind: &str, column: &str| {
        csv(kind, &[(column, "n/a")]).read_with(|options| options.placeholders_blank = true)
    };
    let desk = blank("devices", "mac");
    assert_eq!(judged(&desk).0, ["warning cell.placeholder E2"]);
    assert_eq!(super::record::device(&desk).identification, None);
    let desk = blank("sites", "suburb");
    assert_eq!(judged(&desk).0, ["warning cell.placeholder H2"]);
    assert_eq!(site(&desk).address.suburb, None);
    assert_eq!(judged(&blank("sites", "name")).0, ["error cell.placeholder C2"]);
}

/// Contacts out of a CRM that keeps lists in a cell.
#[test]
fn t08_several_values_in_a_cell_are_an_error() {
    let several = "error cell.multiple-values";
    cases(
        "people",
        "email",
        &[("a@x.example; b@x.example", several, None), ("a@x.example / b@x.example", several, None)],
    );
    cases(
        "sites",
        "phone",
        &[
            ("09 557 0000; 09 557 0001", several, None),
            ("09 557 0000 or 09 557 0001", several, None),
            ("09 557 0000 / 09 557 0001", several, None),
            ("09/5570000", "", None),
        ],
    );
    cases(
        "devices",
        "mac",
        &[
            ("00:1a:2b:3c:4d:5e; 00:1a:2b:3c:4d:5f", several, None),
            ("001a2b3c4d5e 001a2b3c4d5f", several, None),
        ],
    );
}

/// Addresses dragged out of a mail program, and links that Excel made by itself.
#[test]
fn t09_what_a_mail_program_writes_around_an_address_is_an_error_with_the_bare_address() {
    let bare = Some("jane@acme.example");
    cases(
        "people",
        "email",
        &[
            ("Jane Doe <jane@acme.example>", "error cell.email", bare),
            ("mailto:jane@acme.example", "error cell.email", bare),
            ("MAILTO:jane@Acme.Example?subject=Hello", "error cell.email", bare),
        ],
    );
}

/// Broken formulas in a CSV, as Excel writes them in the languages it is sold in.
#[test]
fn x11_the_error_of_a_formula_is_known_as_text_in_every_language() {
    let errors = [
        "#N/A",
        "#REF!",
        "#VALUE!",
        "#NAME?",
        "#DIV/0!",
        "#NUM!",
        "#NULL!",
        "#SPILL!",
        "#ERROR!",
        "#NV",
        "#BEZUG!",
        "#WERT!",
        "#ZAHL!",
        "#VALEUR!",
        "#NOM?",
        "#NOMBRE!",
        "#NUL!",
        "#N/D",
        "#¡REF!",
        "#¡VALOR!",
        "#¿NOMBRE?",
        "#¡NUM!",
        "#VALOR!",
        "#NOME?",
        "#NÚM!",
        "#RIF!",
        "#VALORE!",
        "#N/B",
        "#VERW!",
        "#WAARDE!",
        "#NAAM?",
        "#SAKNAS!",
        "#REFERENS!",
        "#VÄRDEFEL!",
        "#I/T",
        "#VÆRDI!",
        "#VERDI!",
        "#PUUTTUU!",
        "#VIITTAUS!",
        "#ARVO!",
        "#N/D!",
        "#ADR!",
        "#ARG!",
        "#Н/Д",
        "#ССЫЛКА!",
        "#ЗНАЧ!",
        "#YOK",
        "#BAŞV!",
        "#DEĞER!",
        "#HODNOTA!",
        "#NÁZEV?",
        "#ČÍSLO!",
        "#NENÍ_K_DISPOZICI",
        "#DĚLENÍ_NULOU!",
        "#ÉRTÉK!",
        "#NÉV?",
        "#SZÁM!",
        "#HIÁNYZIK",
        "#ZÉRÓOSZTÓ!",
        "#NULLA!",
        "#PYTHON!",
        "#EXTERNAL!",
        "#н/д",
        "Err:502",
        "########",
        "#n/a",
        " #REF! ",
        "=\"#N/A\"",
    ];
    for error in errors {
        assert_eq!(spoiled("sites", "name", error).0, ["error cell.formula-error C2"], "{error}");
        assert_eq!(spoiled("devices", "mac", error).0, ["error cell.formula-error E2"], "{error}");
    }
    let finding = csv("sites", &[("name", "#WERT!")]).the("cell.formula-error");
    assert!(finding.message.contains("the error #WERT!"), "{}", finding.message);
    let finding = csv("sites", &[("name", "#####")]).the("cell.formula-error");
    assert!(finding.message.contains("too narrow"), "{}", finding.message);
    for name in ["#1 Earl St", "#North", "# N/A", "Err: 5", "Errol", "##1"] {
        assert_eq!(spoiled("sites", "name", name).0, [""; 0], "{name}");
    }
}

/// An export of a web application.
#[test]
fn t10_markup_is_a_warning() {
    cases(
        "sites",
        "name",
        &[
            ("Smith &amp; Sons", "warning cell.html", None),
            ("Smith<br>Sons", "warning cell.html", None),
            ("Caf&eacute;", "warning cell.html", None),
            ("O&apos;Brien", "warning cell.html", None),
            ("O&#39;Brien", "warning cell.html", None),
            ("Joe&rsquo;s &copy;", "warning cell.html", None),
            ("<p class=x>A", "warning cell.html", None),
            ("<a href=x>y", "warning cell.html", None),
            ("<li>A", "warning cell.html", None),
            ("<em>A", "warning cell.html", None),
            ("<img src=x>", "warning cell.html", None),
            ("A <!-- c -->", "warning cell.html", None),
            ("Smith & Sons <North>", "", None),
            ("R&D; Lab", "", None),
            ("A<B", "", None),
            ("A<B Ltd", "", None),
            ("Depot <Main>", "", None),
            ("AT&T", "", None),
            ("I <3 You", "", None),
        ],
    );
}

/// Names with emoji: letters of four bytes.
#[test]
fn t11_an_emoji_is_a_letter_in_names_and_none_in_usernames_and_addresses() {
    assert_eq!(site(&csv("sites", &[("name", "Earl St 🏪")])).name, "Earl St 🏪");
    cases("people", "username", &[("jane🏪", "error cell.username", None)]);
    cases("people", "email", &[("jane🏪@acme.example", "error cell.email", None)]);
}

/// Formulas as text, typed or meant to do harm; a phone number starts with + like one.
#[test]
fn t12_text_that_starts_like_a_formula_is_a_warning_and_a_phone_number_is_none() {
    cases(
        "sites",
        "name",
        &[("=1+1", "warning cell.formula-text", None), ("@SUM(A1)", "warning cell.formula-text", None)],
    );
    assert_eq!(spoiled("sites", "phone", "+6495570000").0, [""; 0]);
}

/// A note pasted into the column of names.
#[test]
fn t13_a_text_of_more_than_255_characters_is_a_warning_and_the_number_can_be_said() {
    assert_eq!(spoiled("sites", "name", &"x".repeat(255)).0, [""; 0]);
    assert_eq!(spoiled("sites", "name", &"x".repeat(256)).0, ["warning cell.too-long C2"]);
    assert_eq!(spoiled("sites", "address1", &"é".repeat(256)).0, ["warning cell.too-long E2"]);
    assert_eq!(spoiled("sites", "labels", &format!("a;{}", "x".repeat(256))).0, ["warning cell.too-long H2"]);
    assert_eq!(spoiled("sites", "name", &"x".repeat(32_768)).0, ["error cell.too-long C2"]);
    let short =
        csv("sites", &[("name", "Twelve chars")]).read_with(|options| options.longest_text = Some(11));
    assert_eq!(
        judged(&short).0,
        ["warning cell.too-long C2", "warning cell.too-long D2", "warning cell.too-long E2"]
    );
    let long =
        csv("sites", &[("name", &"x".repeat(400))]).read_with(|options| options.longest_text = Some(400));
    assert_eq!(judged(&long).0, [""; 0]);
}

/// Capitals as the fancy takes people.
#[test]
fn t14_case_does_not_matter_in_lists_and_is_kept_in_names() {
    assert_eq!(site(&csv("sites", &[("name", "ACME ltd")])).name, "ACME ltd");
    for value in ["customer", "Customer", " CUSTOMER "] {
        assert_eq!(spoiled("companies", "company_type", value).0, [""; 0], "{value}");
    }
}

/// Values that would colour the terminal, clear it, or write a line backwards.
#[test]
fn o04_nothing_in_a_sheet_steers_the_terminal_and_long_values_are_cut_in_the_middle() {
    let long = format!("{}MIDDLE{}", "a".repeat(60), "z".repeat(60));
    let sheet = format!(
        "key,company,na\u{202e}me,phone,address1,\u{1b}[2Jx\n\u{1b}]0;owned\u{7},\u{1b}[31mred,n\u{9b}1mx,\u{202e}1,{long}\u{7}, \n"
    );
    let desk = crate::desk::Desk::with("sites.csv", sheet);
    let output = Command::new(env!("CARGO_BIN_EXE_fleetload"))
        .args(["check", "--no-color"])
        .arg(desk.path())
        .output()
        .expect("the program runs");
    let told =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let steers = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
    assert_eq!(told.chars().find(steers), None, "{told}");
    assert!(told.contains("\\u{1b}"), "{told}");
    assert!(told.contains("aaa…zzz"), "{told}");
    assert!(!told.contains("MIDDLE"), "{told}");
}
