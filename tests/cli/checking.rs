//! `fleetload check` as an onboarding team meets it: what it prints and writes, how files are read, what a profile keeps
//! for each customer, and which warnings stop an import.

use crate::bench::{self, Bench, Outcome};
use fleetload::sandbox::Scenario;
use serde_json::Value;

fn bench() -> Bench {
    Bench::new(Scenario::default())
}

/// Everything that is seen at a terminal.
fn seen(outcome: &Outcome) -> String {
    format!("{}----- besides -----\n{}", outcome.stdout, outcome.stderr)
}

fn objects(outcome: &Outcome) -> Vec<Value> {
    outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn summary(outcome: &Outcome) -> Value {
    objects(outcome).pop().expect("a summary")
}

/// The lines of JSON without what changes with the bytes of a workbook.
fn lines(outcome: &Outcome) -> String {
    let mut text = String::new();
    for mut object in objects(outcome) {
        for file in object.get_mut("files").and_then(Value::as_array_mut).into_iter().flatten() {
            file["sha256"] = "of the file".into();
            file["bytes"] = "of the file".into();
        }
        text += &format!("{object}\n");
    }
    text
}

fn with_mistakes() -> Bench {
    let bench = bench();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/mistakes.xlsx");
    std::fs::copy(sample, bench.path("mistakes.xlsx")).expect("the sample");
    bench
}

#[test]
fn the_sample_with_mistakes_is_told_whole() {
    let outcome = with_mistakes().fleetload(&["check", "mistakes.xlsx"]).expect_code(3);
    insta::assert_snapshot!(seen(&outcome));
}

#[test]
fn the_sample_with_mistakes_is_told_to_programs_whole() {
    let outcome = with_mistakes().fleetload(&["check", "mistakes.xlsx", "--json"]).expect_code(3);
    for finding in objects(&outcome).iter().filter(|object| object["object"] == "finding") {
        let doc = format!("explain {}", finding["code"].as_str().expect("a code"));
        assert_eq!(finding["doc"], doc.as_str());
    }
    insta::assert_snapshot!(lines(&outcome));
}

#[test]
fn ten_thousand_equal_mistakes_are_five_and_a_range() {
    let bench = bench();
    bench.write("companies.csv", &bench::companies(1));
    let mut sheet = "company,name,device_model,mac,phone,address1,city,country\n".to_owned();
    for n in 0..10_000 {
        sheet += &format!("C0,Till {n},Edge 100,00:1a:2b:{n:04},+64 9 557 0000,1 Earl Street,Auckland,NZ\n");
    }
    bench.write("devices.csv", &sheet);
    let outcome = bench.fleetload(&["check", "companies.csv", "devices.csv"]).expect_code(3);
    insta::assert_snapshot!(seen(&outcome));
    let outcome = bench.fleetload(&["check", "companies.csv", "devices.csv", "--json"]).expect_code(3);
    let summary = summary(&outcome);
    let groups = summary["groups"].as_array().expect("groups");
    let group = groups.iter().find(|group| group["code"] == "cell.mac-length").expect("the group");
    assert_eq!((&group["count"], &group["ranges"]), (&10_000.into(), &serde_json::json!(["D2:D10001"])));
    assert_eq!(summary["found"]["errors"], 10_000);
}

/// A customer's own sheet of two sites: other names, an encoding of old, a title above the header.
fn northern(bench: &Bench) -> [&'static str; 3] {
    bench.write("companies.csv", &bench::companies(1));
    let text = "Sites of Northern;;;;;;;\nkey;company;name;Store No.;phone;address1;Ort;Notes\n\
                S1;C0;Caf\u{e9} One;R-1;+64 9 556 0001;1 King Street;Auckland;old\n\
                S2;C0;Two;R-2;+64 9 556 0002;2 King Street;;new\n";
    let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    std::fs::write(bench.path("sites.csv"), bytes).expect("the sheet");
    ["check", "companies.csv", "sites.csv"]
}

/// Excel for Mac: "CSV (Macintosh)". What is wrong with the letters follows from the guess.
#[test]
fn a_guessed_encoding_is_told_before_what_may_come_of_it() {
    let bench = bench();
    let sheet = bench::companies(2).replace("Auckland", "Gen\u{e8}ve").replace('\n', "\r");
    let bytes: Vec<u8> = sheet.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    // The letter of MacRoman, which is an invisible character of windows-1252.
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| if byte == 0xe8 { 0x8f } else { byte }).collect();
    std::fs::write(bench.path("companies.csv"), bytes).expect("the sheet");
    let outcome = bench.fleetload(&["check", "companies.csv"]).expect_code(3);
    let told: Vec<&str> =
        outcome.stdout.lines().filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0)).collect();
    assert_eq!(told, ["file.encoding-guessed", "cell.control-char"], "{outcome:?}");
    assert!(outcome.stderr.contains("fleetload explain file.encoding-guessed"), "{outcome:?}");
}

const TYPED: [&str; 12] = [
    "--map",
    "Store No.=reference",
    "--map",
    "Ort=city",
    "--ignore-column",
    "Notes",
    "--default",
    "sites.country=NZ",
    "--default",
    "sites.city=Wellington",
    "--encoding",
    "windows-1252",
];

/// The settings that `check` said to keep.
fn kept(outcome: &Outcome) -> String {
    let block = outcome.stderr.split("put into fleetload.toml:\n").nth(1).expect("a block to keep");
    block.lines().map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn what_was_typed_about_reading_is_told_and_kept_and_reads_the_same() {
    let bench = bench();
    let check = northern(&bench);
    std::fs::remove_file(bench.path("fleetload.toml")).expect("the profile");
    let typed = bench.fleetload(&[&check[..], &TYPED].concat()).expect_code(0);
    insta::assert_snapshot!(seen(&typed));
    bench.write("fleetload.toml", &kept(&typed));
    let again = bench.fleetload(&[&check[..], &["--json"]].concat()).expect_code(0);
    let typed = bench.fleetload(&[&check[..], &TYPED, &["--json"]].concat()).expect_code(0);
    assert_eq!(summary(&again)["sheets"], summary(&typed)["sheets"]);
    let columns: Vec<String> = summary(&again)["sheets"][1]["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|column| format!("{} {} {}", column["header"], column["column"], column["how"]).replace('"', ""))
        .collect();
    assert_eq!(columns[3], "Store No. reference map");
    assert_eq!(columns[7], "Notes null ignored");
}

#[test]
fn a_customer_is_read_as_the_profile_keeps_it_and_no_account_is_asked_for() {
    let bench = bench();
    let check = northern(&bench);
    bench.write(
        "fleetload.toml",
        "[profile.acme]\nbase_url = \"https://provisioning.example\"\n\
         [profile.acme.reading]\nencoding = \"windows-1252\"\n\
         [profile.acme.customers.northern]\nignore_columns = [\"Notes\"]\ndefaults.sites.country = \"NZ\"\n\
         map = { \"Store No.\" = \"reference\", Ort = \"city\" }\n\
         [profile.acme.customers.southern]\nheader_row = 3\n",
    );
    bench.fleetload(&check).expect_code(3);
    let read = bench.fleetload(&[&check[..], &["--customer", "northern"]].concat()).expect_code(0);
    assert!(
        read.stderr.contains("read as [profile.acme.customers.northern] and [profile.acme.reading]"),
        "{read:?}"
    );
    assert!(read.stdout.contains("\"Store No.\" -> reference (as given)"), "{}", read.stdout);
    assert!(!read.stderr.contains("to keep this"), "nothing was typed: {}", read.stderr);
    let mut command = bench.command(&check);
    let output = command.env("FLEETLOAD_CUSTOMER", "northern").output().expect("the binary starts");
    Outcome::of(output).expect_code(0);
    let unknown = bench.fleetload(&[&check[..], &["--customer", "eastern"]].concat()).expect_code(2);
    assert!(unknown.stderr.contains("has no customer 'eastern'"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("southern"), "{}", unknown.stderr);
    let import = ["import", "companies.csv", "sites.csv", "--customer", "northern"];
    bench.fleetload(&import).expect_code(0);
}

#[test]
fn a_settings_file_that_says_nothing_about_sheets_asks_for_no_choice() {
    let bench = bench();
    bench.write("companies.csv", &bench::companies(1));
    let two = "[profile.a]\nclient_id = \"a\"\n[profile.b]\nclient_id = \"b\"\n";
    bench.write("fleetload.toml", two);
    bench.fleetload(&["check", "companies.csv"]).expect_code(0);
    bench.write("fleetload.toml", &format!("{two}[profile.b.reading]\nheader_row = 1\n"));
    let outcome = bench.fleetload(&["check", "companies.csv"]).expect_code(2);
    assert!(outcome.stderr.contains("several profiles: a, b"), "{}", outcome.stderr);
    bench.fleetload(&["check", "companies.csv", "--profile", "a"]).expect_code(0);
}

/// Three companies, the second with a telephone number that draws a warning.
fn doubtful(bench: &Bench) {
    let sheet = bench::companies(3).replace("+64 9 555 0001", "0800 FLOWERS 1");
    bench.write("companies.csv", &sheet);
}

#[test]
fn a_denied_warning_stops_check_plan_import_and_run_alike() {
    let bench = bench();
    doubtful(&bench);
    bench.fleetload(&["check", "companies.csv"]).expect_code(0);
    for word in ["warnings", "cell.phone"] {
        for command in ["check", "plan", "import", "run"] {
            let outcome = bench.fleetload(&[command, "companies.csv", "--deny", word]).expect_code(3);
            assert!(outcome.stdout.contains("error[cell.phone] companies.csv!E3"), "{}", outcome.stdout);
        }
    }
    assert!(!bench.path("fleetload.db").exists());
    assert!(bench.statistics().requests.is_empty());
    bench.fleetload(&["import", "companies.csv", "--deny", "cell.phone", "--skip-invalid"]).expect_code(0);
    let outcome = bench.fleetload(&["status", "--json"]);
    assert_eq!(summary(&outcome)["rows"], 2, "the denied row is left out: {}", outcome.stdout);
}

#[test]
fn an_allowed_warning_is_a_note_and_an_error_cannot_be_allowed() {
    let bench = bench();
    doubtful(&bench);
    let allowed = ["check", "companies.csv", "--allow", "cell.phone", "--deny", "warnings"];
    let outcome = bench.fleetload(&allowed).expect_code(0);
    assert!(outcome.stdout.contains("nothing is wrong with 3 rows; 2 notes"), "{}", outcome.stdout);
    let outcome = bench.fleetload(&["check", "companies.csv", "--allow", "cell.enum"]).expect_code(2);
    assert!(outcome.stderr.contains("cell.enum is an error and cannot be allowed"), "{}", outcome.stderr);
    let outcome = bench.fleetload(&["check", "companies.csv", "--deny", "cell.fone"]).expect_code(2);
    assert!(outcome.stderr.contains("cell.phone"), "{}", outcome.stderr);
}

#[test]
fn the_warnings_of_a_code_that_may_be_an_error_can_be_allowed_and_its_errors_stay() {
    let bench = bench();
    let sheet = |mac: &str| bench::devices(1, 1).replace("00:1a:2b:00:00:00", mac).replace("C0,", &owner());
    // Made up, as virtual machines do; and the address of all devices at once.
    for (mac, code, words) in [
        ("02:1a:2b:00:00:00", 0, "nothing is wrong with 1 row"),
        ("ff:ff:ff:ff:ff:ff", 3, "error[cell.mac-reserved]"),
    ] {
        bench.write("devices.csv", &sheet(mac));
        let allowed = ["check", "devices.csv", "--deny", "warnings", "--allow", "cell.mac-reserved"];
        let outcome = bench.fleetload(&allowed).expect_code(code);
        assert!(outcome.stdout.contains(words), "{}", outcome.stdout);
    }
    bench.write("devices.csv", &sheet("02:1a:2b:00:00:00"));
    bench.fleetload(&["check", "devices.csv", "--deny", "warnings"]).expect_code(3);
}

/// The company of a device: one that no row of the sheets makes.
fn owner() -> String {
    format!("{},", bench::root())
}

#[test]
fn redacted_output_holds_nothing_of_the_cells() {
    let bench = bench();
    let marks = ["QuokkaPartner", "QuokkaPhone", "quokka@@mail", "QuokkaStreet"];
    let sheet = bench::companies(2)
        .replace(
            "CUSTOMER,Customer 1,+64 9 555 0001,help@c1.example",
            "QuokkaPartner,Customer 1,QuokkaPhone,quokka@@mail",
        )
        .replace("1 Queen Street", "\"QuokkaStreet\n1\"")
        .replace("C1,", "Quokka Key,");
    bench.write("companies.csv", &sheet);
    let open = seen(&bench.fleetload(&["check", "companies.csv"]).expect_code(3));
    for mark in marks {
        assert!(open.contains(mark), "{mark} is shown without the option: {open}");
    }
    for command in ["check", "plan", "import"] {
        for more in [&["--redact"][..], &["--redact", "--json"], &["--redact", "-v"]] {
            let outcome = bench.fleetload(&[&[command, "companies.csv"], more].concat()).expect_code(3);
            let seen = seen(&outcome).to_lowercase();
            assert!(!seen.contains("quokka"), "{command} {more:?}: {seen}");
            assert!(seen.contains("(text, 13 characters)"), "{command} {more:?}: {seen}");
        }
    }
}

/// A value for blank cells is a value of the sheet, in whatever the program says of it.
#[test]
fn redacted_output_does_not_repeat_values_for_blank_cells() {
    let bench = bench();
    let sheet = bench::companies(2);
    let cities = |city: &str| format!("companies.city={city}");
    bench.write("companies.csv", &sheet);
    let command = ["check", "companies.csv", "--default", &cities("Quokkaville")];
    let open = bench.fleetload(&[&command[..], &["--json"]].concat()).expect_code(0);
    assert!(seen(&open).contains("Quokkaville"), "{}", seen(&open));
    for more in [&["--redact"][..], &["--redact", "--json"], &["--redact", "-v"]] {
        let outcome = bench.fleetload(&[&command[..], more].concat()).expect_code(0);
        let seen = seen(&outcome);
        assert!(!seen.to_lowercase().contains("quokka"), "{more:?}: {seen}");
        assert!(seen.contains("VALUE"), "{more:?}: {seen}");
    }
    let outcome = bench.fleetload(&[&command[..], &["--redact"]].concat()).expect_code(0);
    let again = "--default 'companies.city=VALUE' --redact";
    assert!(seen(&outcome).contains(again), "{}", seen(&outcome));
}

#[test]
fn a_long_value_does_not_break_the_layout() {
    let bench = bench();
    let long = format!("{}{}", "a".repeat(150), "z".repeat(300));
    let sheet = bench::companies(1).replace("CUSTOMER,Customer 0", &format!("{long},Customer 0"));
    bench.write("companies.csv", &sheet);
    let outcome = bench.fleetload(&["check", "companies.csv"]).expect_code(3);
    let head = outcome.stdout.lines().find(|line| line.starts_with("error[cell.enum]")).expect("a finding");
    assert!(head.chars().count() < 130 && head.contains("aaa…zzz"), "{head}");
}

#[test]
fn worksheets_that_are_not_read_are_told_with_the_reason() {
    let bench = bench();
    let path = bench.path("book.xlsx");
    let mut book = rust_xlsxwriter::Workbook::new();
    let companies = bench::companies(2);
    let page = book.add_worksheet().set_name("Companies").expect("a name");
    for (row, line) in (0..).zip(companies.lines()) {
        for (column, cell) in (0..).zip(line.split(',')) {
            page.write_string(row, column, cell).expect("a cell");
        }
    }
    book.add_worksheet().set_name("Notes").expect("a name").write_string(0, 0, "ask Ada").expect("a cell");
    let old = book.add_worksheet().set_name("Old").expect("a name");
    old.set_hidden(true).write_string(0, 0, "x").expect("a cell");
    book.save(&path).expect("a workbook");
    let told = "book.xlsx, not read: \"Notes\" (holds no known kind of row), \"Old\" (hidden)";
    for command in ["check", "plan", "import"] {
        let outcome = bench.fleetload(&[command, "book.xlsx"]).expect_code(0);
        assert!(outcome.stdout.contains(told), "{command}: {}", outcome.stdout);
    }
    let summary = summary(&bench.fleetload(&["check", "book.xlsx", "--json"]).expect_code(0));
    assert_eq!(
        summary["not_read"],
        serde_json::json!([
            {"file": "book.xlsx", "name": "Notes", "why": "holds no known kind of row"},
            {"file": "book.xlsx", "name": "Old", "why": "hidden"},
        ])
    );
}

#[test]
fn an_option_that_is_wrong_or_says_nothing_is_not_advised_again() {
    let bench = bench();
    bench.write("companies.csv", &bench::companies(1));
    let mut book = rust_xlsxwriter::Workbook::new();
    let page = book.add_worksheet().set_name("Companies").expect("a name");
    for (row, line) in (0..).zip(bench::companies(1).lines()) {
        for (column, cell) in (0..).zip(line.split(',')) {
            page.write_string(row, column, cell).expect("a cell");
        }
    }
    book.save(bench.path("book.xlsx")).expect("a workbook");
    for (file, option, value) in [
        ("book.xlsx", "--worksheet", "Nosuch"),
        ("book.xlsx", "--header-row", "9"),
        ("companies.csv", "--delimiter", ";"),
    ] {
        let told = bench.fleetload(&["check", file, option, value]).expect_code(3).stderr;
        let command = told.lines().last().expect("a hint").rsplit_once(": ").expect("a command").1;
        assert_eq!(command, format!("fleetload check {file}"), "{told}");
    }
    for (file, option, value) in [
        ("companies.csv", "--worksheet", "Companies"),
        ("book.xlsx", "--delimiter", ";"),
        ("book.xlsx", "--encoding", "macintosh"),
        ("book.xlsx", "--escape", "\\"),
    ] {
        let told = bench.fleetload(&["check", file, option, value]).expect_code(0).stderr;
        assert!(told.contains(&format!("warning: {option} says nothing here")), "{told}");
        assert!(told.ends_with(&format!("fleetload plan {file}\n")), "{told}");
    }
}

#[test]
fn where_no_sheet_was_found_the_next_command_has_room_for_its_name_and_its_kind() {
    let bench = bench();
    let mut book = rust_xlsxwriter::Workbook::new();
    for (name, cell) in [("Firmen", "Bezeichnung"), ("Orte", "Ort")] {
        book.add_worksheet().set_name(name).expect("a name").write_string(0, 0, cell).expect("a cell");
    }
    book.save(bench.path("book.xlsx")).expect("a workbook");
    for (typed, advised) in
        [(&[][..], "--worksheet NAME --kind KIND"), (&["--kind", "sites"], "--kind sites --worksheet NAME")]
    {
        let told = bench.fleetload(&[&["check", "book.xlsx"], typed].concat()).expect_code(3).stderr;
        assert!(told.ends_with(&format!("fleetload check book.xlsx {advised}\n")), "{told}");
    }
}

#[test]
fn a_separator_that_can_be_none_is_a_mistake_in_the_command() {
    let bench = bench();
    bench.write("sites.csv", "key\n");
    for option in ["--delimiter", "--escape"] {
        for odd in ["§", "\"", "é"] {
            let outcome = bench.fleetload(&["check", "sites.csv", option, odd]).expect_code(2);
            assert!(outcome.stderr.contains("cannot be the"), "{}", outcome.stderr);
        }
    }
}

#[test]
fn a_mistyped_column_after_a_header_is_refused_with_the_nearest() {
    let bench = bench();
    bench.write("companies.csv", &bench::companies(1));
    for (option, told) in [
        (["--map", "Strasse=adress1"], "did you mean 'address1'?"),
        (["--map", "sites.Strasse=mac"], "sites have no column 'mac'"),
        (["--default", "companies.adress1=x"], "did you mean companies.address1=VALUE?"),
    ] {
        let outcome = bench.fleetload(&[&["check", "companies.csv"], &option[..]].concat()).expect_code(2);
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    }
}

#[test]
fn a_mistyped_header_is_told_with_the_nearest() {
    let bench = bench();
    let companies = bench::companies(1).replacen("name", "Firma", 1);
    bench.write("companies.csv", &companies);
    let typed = [
        "check",
        "companies.csv",
        "--map",
        "companies.Firma=name",
        "--map",
        "Firmma=name",
        "--ignore-column",
        "Nix",
    ];
    let outcome = bench.fleetload(&typed).expect_code(0);
    let warnings = [
        "--map Firmma=name: no sheet has the header 'Firmma', so it changes nothing. Did you mean 'Firma'?",
        "--ignore-column Nix: no sheet has the header 'Nix', so it changes nothing.",
    ];
    for warning in warnings {
        assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("changes nothing").count(), 2, "{}", outcome.stderr);
}

#[test]
fn the_scenario_of_a_rehearsal_is_told_again() {
    let bench = bench();
    bench.write("companies.csv", &bench::companies(1));
    bench.write("bad day.toml", "");
    let typed = ["plan", "companies.csv", "--sandbox", "--scenario", "bad day.toml"];
    let outcome = bench.fleetload(&typed).expect_code(0);
    assert!(outcome.stderr.contains("--sandbox --scenario 'bad day.toml'"), "{}", outcome.stderr);
}

/// One command for all headers that are not known, to be read over and typed; and each file once.
#[test]
fn headers_that_are_not_known_come_with_one_command_and_a_file_is_named_once() {
    let bench = Bench::new(Scenario::default());
    let header = "key,company,name,phone,address1,l,co,Our colour\n";
    let row = format!("s1,{},Shop,+64 9 555 0100,1 High St,Auckland,NZ,red\n", bench::root());
    bench.write("sites.csv", &format!("{header}{row}"));
    let told = bench.fleetload(&["check", "sites.csv"]).expect_code(3);
    let options = "--map l=city --map co=country --ignore-column 'Our colour'";
    let options = options.replace("l=city", "'l=city'").replace("co=country", "'co=country'");
    assert!(told.stderr.contains(&format!("fleetload check sites.csv {options}")), "{}", told.stderr);
    let typed =
        ["check", "sites.csv", "--map", "l=city", "--map", "co=country", "--ignore-column", "Our colour"];
    bench.fleetload(&typed).expect_code(0);
    let twice = bench.fleetload(&["check", "sites.csv", "./sites.csv"]).expect_code(2);
    assert!(twice.stderr.contains("./sites.csv is named twice"), "{}", twice.stderr);
    let equals = header.replace("Our colour", "A = B").replace(",l,", ",city,").replace(",co,", ",country,");
    bench.write("sites.csv", &format!("{equals}{row}"));
    bench.fleetload(&["check", "sites.csv", "--map", "A = B=state"]).expect_code(0);
    let told = bench.fleetload(&["check", "sites.csv", "--map", "A = B=label:1"]).expect_code(0);
    assert!(told.stdout.contains("\"A = B\" -> label:1 (as given)"), "{}", told.stdout);
}

#[test]
fn a_row_with_an_error_keeps_no_other_row_from_being_compared_with_the_journal() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(2, 2));
    bench.write("devices.csv", &bench::devices(2, 2));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    let device = bench.names("device").remove(0);
    for (more, expected) in
        [("", vec!["ref.wrong-owner B2"]), (",S0\n", vec!["cell.required A3", "ref.wrong-owner B2"])]
    {
        bench.write("site_assignments.csv", &format!("device,site\n{device},S1\n{more}"));
        let told = bench.fleetload(&["check", "site_assignments.csv", "--json"]).expect_code(3);
        let lines =
            told.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let mut found: Vec<String> = lines
            .filter(|line| line["severity"] == "error")
            .map(|line| format!("{} {}", line["code"], line["cell"]).replace('"', ""))
            .collect();
        found.sort();
        assert_eq!(found, expected);
    }
}

#[test]
fn rows_that_only_the_journal_makes_unusable_are_counted_as_by_a_run() {
    let bench = bench();
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.write("people.csv", &bench::people(1, 1));
    bench.fleetload(&["run", "companies.csv", "people.csv"]).expect_code(0);
    // The first has the username of a person in another company.
    let moved = |people: String| people.replace("\nC0,", "\nC1,").replace("Number0", "Other");
    bench.write("people.csv", &moved(bench::people(2, 2)));
    let counted = "people.csv, people: 2 rows of people, 1 cannot be used\n";
    let table: [(&[&str], i32); 3] =
        [(&["check"], 3), (&["plan", "--skip-invalid"], 0), (&["run", "--skip-invalid"], 4)];
    for (command, code) in table {
        let told = bench.fleetload(&[command, &["people.csv"]].concat()).expect_code(code);
        assert!(told.stdout.contains(counted) && told.stdout.contains("dup.username"), "{}", told.stdout);
    }
    bench.write("people.csv", &moved(bench::people(1, 1)));
    let told = bench.fleetload(&["check", "people.csv", "--json"]).expect_code(3).stdout;
    assert!(told.contains("\"usable\":0"), "{told}");
}
