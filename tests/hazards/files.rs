//! Files: what they are, whatever they are called, and how their letters are stored.

use encoding_rs::{GBK, MACINTOSH, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1254};
use fleetload::sheet::Format;

use super::desk::{Desk, SITES, package, site};

/// Nothing found.
const NOTHING: [&str; 0] = [];

/// A right sheet of one row.
fn right() -> String {
    format!("{SITES}{}", site("a"))
}

/// A sheet whose rows have these names and cities, both of them all letters.
fn named(rows: &[(&str, &str)]) -> String {
    let rows = rows.iter().enumerate().map(|(at, (name, city))| {
        format!("s{at},6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,{name},+64 9 557 0000,1 Earl Street,{city},NZ\n")
    });
    format!("{SITES}{}", rows.collect::<String>())
}

fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

/// Names of the first site's cells, as they are read.
fn names(desk: &Desk) -> Vec<String> {
    desk.rows().into_iter().map(|mut row| row.cells.swap_remove(2).into()).collect()
}

/// What the reader took the letters to be stored as.
fn encoding(desk: &Desk) -> &'static str {
    let examined = desk.examined();
    match &examined.files().next().expect("the file is read").format {
        Format::Text { encoding, .. } => encoding.name(),
        Format::Workbook => panic!("it is read as a workbook"),
    }
}

/// Excel: Protect Workbook, Encrypt with Password. The workbook is a stream inside the old container.
#[test]
fn f01_a_workbook_with_a_password_is_refused_with_the_way_to_clear_it() {
    let mut bytes = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    bytes.resize(1024, 0);
    bytes.extend(utf_16("EncryptedPackage", u16::to_le_bytes));
    let desk = Desk::with("sites.xlsx", bytes);
    assert_eq!(desk.found(), ["fatal file.encrypted"]);
    assert!(desk.the("file.encrypted").message.contains("Encrypt with Password"));
}

/// An old ERP writes Excel 97, and somebody has renamed the file.
#[test]
fn f02_an_old_workbook_under_a_new_name_is_refused_by_its_content() {
    let old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and a Workbook stream";
    let desk = Desk::with("sites.xlsx", old);
    assert_eq!(desk.found(), ["fatal file.format-mismatch"]);
    assert!(desk.the("file.format-mismatch").message.contains("(.xls): open it in Excel and save as .xlsx"));
    assert_eq!(Desk::with("sites.xls", old).found(), ["fatal file.format-unsupported"]);
}

/// A web reporting tool calls an HTML table .xls; Excel opens it all the same.
#[test]
fn f03_a_web_page_called_xls_is_refused_by_its_content() {
    for page in [
        "<html xmlns:o=\"urn:x\"><table><tr><td>key</td></tr></table>",
        "<table border=1><tr>",
        "<!-- x --><table>",
    ] {
        let desk = Desk::with("sites.xls", page);
        assert_eq!(desk.found(), ["fatal file.format-mismatch"], "{page}");
        let message = desk.the("file.format-mismatch").message;
        assert!(message.starts_with("the content is a web page (HTML), not a workbook"), "{message}");
        assert!(message.ends_with("save it as .xlsx"), "{message}");
    }
}

/// SAP and reporting services write the XML of Excel 2003 under .xls.
#[test]
fn f04_a_workbook_in_the_xml_of_2003_is_refused_by_its_content() {
    let xml = "<?xml version=\"1.0\"?>\r\n<?mso-application progid=\"Excel.Sheet\"?>\r\n\
               <Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\"></Workbook>";
    let desk = Desk::with("sites.xls", xml);
    assert_eq!(desk.found(), ["fatal file.format-mismatch"]);
    let message = desk.the("file.format-mismatch").message;
    assert!(message.contains("SpreadsheetML") && message.contains("save it as .xlsx"), "{message}");
    let prefixed = "<ss:Workbook xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"></ss:Workbook>";
    assert_eq!(Desk::with("sites.xls", prefixed).found(), ["fatal file.format-mismatch"]);
}

/// Renamed by hand: text called .xlsx, and a workbook called .csv. What is inside is plain, so it is read.
#[test]
fn f05_a_table_or_a_workbook_under_the_others_name_is_read_with_a_warning() {
    let desk = Desk::with("sites.xlsx", right());
    assert_eq!(desk.found(), ["warning file.format-mismatch"]);
    assert_eq!(desk.examined().sheets[0].usable, 1);
    for name in ["sites.ods", "sites.numbers", "sites.xlsb", "sites.JSON"] {
        assert_eq!(Desk::with(name, right()).found(), ["warning file.format-mismatch"], "{name}");
    }
    for name in ["sites.txt", "sites.tsv", "sites", "sites.2026"] {
        assert_eq!(Desk::with(name, right()).found(), NOTHING, "{name}");
    }
    let cells = |row: &str| -> String {
        row.trim_end()
            .split(',')
            .map(|cell| format!("<c t=\"inlineStr\"><is><t>{cell}</t></is></c>"))
            .collect()
    };
    let data = format!("<row r=\"1\">{}</row><row r=\"2\">{}</row>", cells(SITES), cells(&site("a")));
    let desk = Desk::with("sites.csv", package("Sites", &data, &[]));
    assert_eq!(desk.found(), ["warning file.format-mismatch"]);
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

/// A sign-in page, a document or the message of a failed request saved in place of the export.
#[test]
fn f06_what_is_no_export_is_refused_and_named() {
    let table = [
        ("<!DOCTYPE html><html><title>Sign in</title>", "perhaps a sign-in page, not the export: sign in"),
        ("{\\rtf1\\ansi", "text document (RTF)"),
        ("%PDF-1.7", "PDF document"),
        ("{\"error\":\"token expired\"}", "data for programs (JSON)"),
        ("<?xml version=\"1.0\"?><feed/>", "XML document"),
    ];
    assert_eq!(Desk::with("sites.xlsx", [0; 400]).found(), ["fatal file.format-mismatch"], "once");
    for (content, what) in table {
        let desk = Desk::with("sites.csv", content);
        assert_eq!(desk.found(), ["fatal file.format-mismatch"], "{content}");
        let message = desk.the("file.format-mismatch").message;
        assert!(message.contains(what), "{message}");
    }
    assert_eq!(Desk::with("sites.csv", "PK\x03\x04 mailed in part").found(), ["fatal file.corrupt"]);
}

/// The workbook is open in Excel, or LibreOffice, and its lock file was taken for it.
#[test]
fn f07_a_lock_file_is_refused_with_the_name_of_the_workbook() {
    let desk = Desk::with("~$rollout.xlsx", format!("\u{6}Ada{}", " ".repeat(161)));
    assert_eq!(desk.found(), ["fatal file.lock-file"]);
    assert_eq!(
        desk.the("file.lock-file").message,
        "this is the lock file of Excel: use 'rollout.xlsx' instead"
    );
    let mut renamed = format!("\u{3}Ada{}", " ".repeat(51)).into_bytes();
    renamed.resize(165, 0);
    let desk = Desk::with("rollout.xlsx", renamed);
    assert_eq!(desk.found(), ["fatal file.lock-file"]);
    assert!(desk.the("file.lock-file").message.ends_with("use the workbook itself"));
    let desk = Desk::with(".~lock.rollout.xlsx#", ",ada,laptop,21.11.2026");
    assert_eq!(
        desk.the("file.lock-file").message,
        "this is the lock file of LibreOffice: use 'rollout.xlsx' instead"
    );
}

/// No program writes it, and what begins its mark is that of UTF-16.
#[test]
fn f17_utf_32_is_refused_and_named() {
    let units: Vec<u8> =
        format!("\u{feff}{}", right()).chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let desk = Desk::with("sites.csv", units);
    assert_eq!(desk.found(), ["fatal file.format-unsupported"]);
    assert!(desk.the("file.format-unsupported").message.contains("UTF-32"));
}

/// What cannot be opened or read: a folder, a pipe, nothing at all.
#[test]
fn f08_what_cannot_be_read_is_refused_with_what_to_do() {
    let desk = Desk::with("sites.csv", right());
    let folder = desk.path().parent().expect("a folder").to_owned();
    let told = |path: std::path::PathBuf| {
        let examined = fleetload::import::examine(&[path], &desk.options, None).expect("it is examined");
        let findings = examined.findings.into_vec();
        assert_eq!(findings.len(), 1);
        (findings[0].code.as_str(), findings[0].message.clone())
    };
    let (code, message) = told(folder.clone());
    assert_eq!(code, "file.unreadable");
    assert!(message.ends_with("is a folder: name the files in it"), "{message}");
    assert_eq!(told(folder.join("other.csv")).0, "file.not-found");
    let (code, message) = told(folder.join("sites.csv/inside.csv"));
    // Windows says of a file that is named as a folder that there is nothing.
    if cfg!(unix) {
        assert_eq!(code, "file.unreadable");
        assert!(message.ends_with("close it in Excel, or save a copy and use that"), "{message}");
    } else {
        assert_eq!(code, "file.not-found");
    }
    #[cfg(unix)]
    {
        let socket = folder.join("pipe.csv");
        let _open = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        let (code, message) = told(socket);
        assert_eq!(code, "file.unreadable");
        assert!(message.ends_with("save it to a file first"), "{message}");
    }
}

/// A download that failed, and an export that found nothing.
#[test]
fn f09_a_file_without_rows_is_an_error_unless_that_is_allowed() {
    for nothing in ["", "\u{feff}", "\r\n\r\n", ",,,\n"] {
        let desk = Desk::with("sites.csv", nothing);
        assert_eq!(desk.found(), ["fatal file.empty"], "{nothing:?}");
    }
    let desk = Desk::with("sites.csv", SITES);
    assert_eq!(desk.found(), ["error sheet.empty row 1"]);
    let desk = desk.read_with(|options| options.allow_empty = true);
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(desk.found_with_notes(), ["note sheet.empty row 1"]);
    assert_eq!(
        Desk::with("sites.csv", "").read_with(|options| options.allow_empty = true).found(),
        ["fatal file.empty"]
    );
}

/// Excel's "CSV UTF-8"; and the same joined to another by a script, so that there are two marks.
#[test]
fn f15_byte_order_marks_are_no_part_of_the_first_header() {
    for marks in ["\u{feff}", "\u{feff}\u{feff}"] {
        let desk = Desk::with("sites.csv", format!("{marks}{}", right()));
        assert_eq!(desk.found(), NOTHING);
        assert_eq!(encoding(&desk), "UTF-8");
    }
    let desk = Desk::with("sites.csv", format!("\u{feff}{}", named(&[("Café", "Zürich")])))
        .read_with(|options| options.set_encoding("windows-1252").expect("it is known"));
    assert_eq!(desk.found(), ["warning file.encoding-guessed"], "the mark is believed");
    assert_eq!(names(&desk), ["Café"]);
}

/// Excel's "Unicode Text": UTF-16 with its mark, and tabs.
#[test]
fn f16_unicode_text_of_excel_is_read() {
    let text = named(&[("Café Zoë", "Zürich")]).replace(',', "\t").replace('\n', "\r\n");
    for (order, name) in
        [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")]
    {
        let desk = Desk::with("sites.txt", utf_16(&format!("\u{feff}{text}"), order));
        assert_eq!(desk.found(), NOTHING);
        assert_eq!(encoding(&desk), name);
        assert_eq!(names(&desk), ["Café Zoë"]);
    }
}

/// A database tool writes UTF-16 without its mark.
#[test]
fn f17_utf_16_without_its_mark_is_told_by_its_zeros() {
    let text = named(&[("Café Zoë", "Zürich"), ("横浜支店", "横浜")]);
    for (order, name) in
        [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")]
    {
        let desk = Desk::with("sites.csv", utf_16(&text, order));
        assert_eq!(desk.found(), ["warning file.encoding-guessed"]);
        assert_eq!(encoding(&desk), name);
        assert_eq!(names(&desk), ["Café Zoë", "横浜支店"]);
        let message = desk.the("file.encoding-guessed").message;
        assert!(
            message.contains(&format!("read as {name}, which gives 'key', 'company', 'name'")),
            "{message}"
        );
    }
}

/// Excel's plain "CSV" in six countries.
#[test]
fn f18_the_code_page_of_a_country_is_guessed_shown_and_can_be_named() {
    let table: [(&'static encoding_rs::Encoding, [(&str, &str); 3]); 6] = [
        (WINDOWS_1252, [("Müller & Söhne", "Köln"), ("Café Zoë", "Zürich"), ("Señor Niño", "Málaga")]),
        (
            WINDOWS_1250,
            [("Łódź Magazyn Główny", "Łódź"), ("Kraków Południe", "Kraków"), ("Święty Jan", "Wrocław")],
        ),
        (
            WINDOWS_1251,
            [
                ("Главный склад", "Москва"),
                ("Северный филиал", "Мурманск"),
                ("Аптека на Невском", "Санкт-Петербург"),
            ],
        ),
        (
            WINDOWS_1254,
            [("Şişli Şubesi", "İstanbul"), ("Güneş Çarşısı", "Eskişehir"), ("Işıklar Mağazası", "Muğla")],
        ),
        (SHIFT_JIS, [("横浜支店", "横浜"), ("東京本社ビル", "東京"), ("大阪営業所", "大阪")]),
        (GBK, [("北京分公司", "北京"), ("上海浦东店", "上海"), ("广州天河店", "广州")]),
    ];
    for (code_page, rows) in table {
        let bytes = code_page.encode(&named(&rows)).0.into_owned();
        let expected: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        let desk = Desk::with("sites.csv", &bytes);
        assert_eq!(desk.found(), ["warning file.encoding-guessed"], "{}", code_page.name());
        let message = desk.the("file.encoding-guessed").message;
        assert_eq!(encoding(&desk), code_page.name(), "{message}");
        assert!(message.contains(&format!("read as {}", code_page.name())), "{message}");
        let three = format!("'{}', '{}', '{}'", rows[0].0, rows[0].1, rows[1].0);
        assert!(message.contains(&three), "{message}");
        assert_eq!(names(&desk), expected);
        let desk = desk.read_with(|options| options.set_encoding(code_page.name()).expect("it is known"));
        assert_eq!(desk.found(), NOTHING, "{}", code_page.name());
        assert_eq!(names(&desk), expected);
    }
}

/// Excel for Mac: "CSV (Macintosh)". No guess ever says so, so the other reading is shown.
#[test]
fn f19_letters_of_an_old_mac_are_shown_as_they_would_be_there() {
    let text = named(&[("Café Zoë", "Zürich"), ("Müller & Söhne", "Köln"), ("Crème Brûlée", "Besançon")]);
    let desk = Desk::with("sites.csv", MACINTOSH.encode(&text).0).read_with(|_| ());
    assert_eq!(encoding(&desk), "windows-1252");
    let message = desk.the("file.encoding-guessed").message;
    assert!(message.contains("use --encoding macintosh, which gives 'Café Zoë', 'Zürich'"), "{message}");
    let desk = desk.read_with(|options| options.set_encoding("macintosh").expect("it is known"));
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(names(&desk), ["Café Zoë", "Müller & Söhne", "Crème Brûlée"]);
    let windows = WINDOWS_1252.encode(&named(&[("O’Brien’s – Café", "Zürich")])).0.into_owned();
    assert!(!Desk::with("sites.csv", windows).the("file.encoding-guessed").message.contains("macintosh"));
}

/// Rows of another system pasted below: the first are UTF-8, two others are not.
#[test]
fn f20_rows_in_another_encoding_are_found_one_by_one() {
    let rows = |names: &[(&str, &str)]| named(names).split_once('\n').expect("a header").1.to_owned();
    let mut bytes = named(&[("Müller", "Köln"), ("Café", "Paris")]).into_bytes();
    bytes.extend_from_slice(&WINDOWS_1252.encode(&rows(&[("Söhne", "Zürich")]).replace("s0", "t0")).0);
    bytes.extend(rows(&[("Zoë", "Nice")]).replace("s0", "u0").bytes());
    bytes.extend_from_slice(&WINDOWS_1252.encode(&rows(&[("Plain", "Málaga")]).replace("s0", "v0")).0);
    let desk = Desk::with("sites.csv", bytes);
    assert_eq!(
        desk.found(),
        [
            "error file.encoding-invalid C4",
            "error file.encoding-invalid F4",
            "error file.encoding-invalid F6"
        ]
    );
    assert_eq!(desk.examined().sheets[0].usable, 3);
    let finding = &desk.findings()[0];
    assert_eq!((finding.value.as_deref(), finding.line), (Some("S\u{fffd}hne"), Some(4)));
    assert!(finding.message.contains("retype the cell and save as CSV UTF-8"), "{}", finding.message);
    // As many lines in the one as in the other.
    let mut even = named(&[("Müller", "Ulm")]).into_bytes();
    even.extend_from_slice(&WINDOWS_1252.encode(&rows(&[("Söhne", "Ulm")]).replace("s0", "t0")).0);
    assert_eq!(Desk::with("sites.csv", even).found(), ["error file.encoding-invalid C3"]);
}

/// Opened once in the wrong encoding and saved: the letters are garbled for good.
#[test]
fn f21_letters_garbled_by_an_earlier_save_are_told_and_not_repaired() {
    let desk = Desk::with("sites.csv", named(&[("CafÃ©", "Auckland")]));
    assert_eq!(desk.found(), ["warning cell.mojibake C2"]);
    assert_eq!(desk.the("cell.mojibake").suggestion.as_deref(), Some("Café"));
    assert_eq!(names(&desk), ["CafÃ©"]);
}

/// Only some letters are garbled, in another code page, or twice; and what is right in other languages is left alone.
#[test]
fn f21_letters_are_found_one_by_one_and_right_names_are_left_alone() {
    let garbled = [
        ("Å\u{a0}koda Auto", "Škoda Auto"),
        ("Nguyá»…n Ltd", "Nguyễn Ltd"),
        ("Zürich â€“ x", "Zürich – x"),
        ("MÃ¼ller €", "Müller €"),
        ("l’Ã©cole", "l’école"),
        ("Ĺ‚ĂłdĹş", "łódź"),
        ("ä¸\u{ad}", "中"),
        ("MÃƒÂ¼ller", "Müller"),
    ];
    for (name, meant) in garbled {
        let desk = Desk::with("sites.csv", named(&[(name, "Auckland")]));
        assert_eq!(desk.found(), ["warning cell.mojibake C2"], "{name}");
        assert_eq!(desk.the("cell.mojibake").suggestion.as_deref(), Some(meant), "{name}");
        assert_eq!(names(&desk), [name], "it is sent as it was stored");
    }
    let desk = Desk::with("sites.csv", named(&[("Ã\u{81}vila", "Auckland")]));
    assert_eq!(desk.found(), ["warning cell.mojibake C2", "error cell.control-char C2"]);
    assert_eq!(desk.the("cell.mojibake").suggestion.as_deref(), Some("Ávila"));
    for name in [
        "São Paulo",
        "SÃO JOÃO",
        "“MANHÃ”",
        "«\u{a0}Le Café\u{a0}»",
        "JYVÄSKYLÄ–HELSINKI",
        "RĂŞINARI",
        "Nguyễn",
        "Müller & Söhne",
        "Київ СІЧІ",
        "Å",
    ] {
        let desk = Desk::with("sites.csv", named(&[(name, "Auckland")]));
        assert_eq!(desk.found(), [""; 0], "{name}");
    }
}

/// An export that could not write a letter.
#[test]
fn f22_a_letter_that_was_lost_is_an_error() {
    let desk = Desk::with("sites.csv", named(&[("Caf\u{fffd}", "Auckland")]));
    assert_eq!(desk.found(), ["error cell.replacement-char C2"]);
    let finding = desk.the("cell.replacement-char");
    assert_eq!((finding.value.as_deref(), finding.suggestion.as_deref()), (Some("Caf\u{fffd}"), None));
    assert!(
        finding.message.ends_with("type the value again") && finding.rule.is_some(),
        "{}",
        finding.message
    );
    let street = named(&[("Cafe", "Auckland")]).replace("1 Earl", "1 \u{fffd}rl");
    assert_eq!(Desk::with("sites.csv", street).found(), ["error cell.replacement-char E2"]);
    let people = "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n\
         6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,VPN User,COMPANY_INHERIT,A,B,j\u{fffd}ne,j\u{fffd}ne@acme.example,no,1 Earl St,Ulm,DE\n";
    assert_eq!(
        Desk::with("people.csv", people).found(),
        ["error cell.replacement-char F2", "error cell.replacement-char G2"]
    );
}

/// An export in an encoding that lacks the letter; a question is none.
#[test]
fn f22_a_question_mark_in_the_place_of_a_letter_is_an_error() {
    let lost = [
        "M?ller GmbH",
        "Caf? Z?rich",
        "????",
        "Ac ?? Ltd",
        "?sterreich",
        "M??ller",
        "Saint-?tienne",
        "L?OREAL",
    ];
    for name in lost {
        let desk = Desk::with("sites.csv", named(&[(name, "Auckland")]));
        assert_eq!(desk.found(), ["error cell.replacement-char C2"], "{name}");
    }
    let right = [
        "Is it? Ltd",
        "What's up?",
        "What?!",
        "Really??",
        "Who? What? Where?",
        "(Where?)",
        "¿Qué? Bar",
        "Quoi ?",
        "Guess?Jeans",
        "https://x.example/a?b=c",
    ];
    for name in right {
        let desk = Desk::with("sites.csv", named(&[(name, "Auckland")]));
        assert_eq!(desk.found(), [""; 0], "{name}");
    }
    for (city, found) in
        [("M?nchen", "error cell.replacement-char F2"), ("???", "warning cell.placeholder F2")]
    {
        assert_eq!(Desk::with("sites.csv", named(&[("A", city)])).found(), [found], "{city}");
    }
    let person = |first: &str, username: &str, email: &str| {
        let sheet = format!(
            "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n\
             6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,VPN User,COMPANY_INHERIT,{first},B,{username},{email},no,1 Earl St,Ulm,DE\n"
        );
        Desk::with("people.csv", sheet).found()
    };
    assert_eq!(person("??", "a", "a@x.example"), ["error cell.replacement-char D2"]);
    assert_eq!(person("A", "j?ne", "a@x.example"), ["error cell.replacement-char F2"]);
    assert_eq!(person("A", "a", "k?@x.example"), ["error cell.replacement-char G2"]);
    assert_eq!(person("A", "a", "mailto:a@x.example?subject=Hello"), ["error cell.email G2"]);
    // Labels and metadata are the texts of programs as well.
    let owner = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
    let labels = format!("owner_kind,owner,label\ndevice,{owner},a/b?c\n");
    assert_eq!(Desk::with("labels.csv", labels).found(), NOTHING);
    let metadata = format!("owner_kind,owner,key,value\ndevice,{owner},a/b?c,x?y/z\n");
    assert_eq!(Desk::with("metadata.csv", metadata).found(), NOTHING);
}

/// An export cut at the limit of Excel before 2007. The rows between are blank, which Excel counts as well.
#[test]
fn f23_a_sheet_that_ends_at_a_limit_of_excel_is_suspicious() {
    let ends_at = |row: usize| format!("{SITES}{}{}", "\n".repeat(row - 2), site("a"));
    let desk = Desk::with("sites.csv", ends_at(65_536));
    assert_eq!(desk.found(), ["warning sheet.row-limit row 65536"]);
    assert!(desk.the("sheet.row-limit").message.contains("ends exactly at Excel's limit"));
    assert_eq!(Desk::with("sites.csv", ends_at(65_535)).found(), NOTHING);
    assert_eq!(Desk::with("sites.csv", ends_at(1_048_576)).found(), ["warning sheet.row-limit row 1048576"]);
}

/// A portal packs its export.
#[test]
fn f24_a_packed_table_is_to_be_unpacked_first() {
    for name in ["sites.csv.gz", "sites.csv"] {
        let desk = Desk::with(name, b"\x1f\x8b\x08\0\0\0\0\0");
        assert_eq!(desk.found(), ["fatal file.format-unsupported"]);
        assert_eq!(
            desk.the("file.format-unsupported").message,
            "the content is compressed (gzip): unpack it first, then use the file inside"
        );
    }
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("sites.csv", zip::write::SimpleFileOptions::default()).expect("a part begins");
    std::io::Write::write_all(&mut zip, right().as_bytes()).expect("a part is written");
    let zip = zip.finish().expect("the archive is complete").into_inner();
    for name in ["sites.zip", "sites.csv", "sites.xlsx"] {
        let desk = Desk::with(name, &zip);
        assert_eq!(desk.found(), ["fatal file.format-unsupported"], "{name}");
        assert!(desk.the("file.format-unsupported").message.contains("unpack it"), "{name}");
    }
}
