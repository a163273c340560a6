//! Cells, names of sheets and words of the service that mean harm: to a terminal, to a spreadsheet program, to the file
//! system, to whoever shares the machine.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::Path;

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench, Outcome};
use crate::relay::{Act, Relay, answer, gated};
use fleetload::sandbox::Scenario;

/// What moves a cursor, repaints, rings, reorders or hides.
const STEERING: [&str; 8] = [
    "\u{1b}[31mred",
    "\u{1b}]0;title\u{7}",
    "\u{9b}2J",
    "back\u{8}\u{8}",
    "over\rwritten",
    "gpj\u{202e}exe",
    "\u{2066}isolated",
    "hid\u{200b}den",
];

/// What a spreadsheet program would carry out.
const FORMULAS: [&str; 7] =
    ["=1+1", "=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "=HYPERLINK(\"http://evil.example\")", "'=1"];

fn service() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Devices of one company with these names.
fn devices<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut sheet = "company,name,device_model,mac,phone,address1,city,country\n".to_owned();
    for (n, name) in names.into_iter().enumerate() {
        let name = quoted(name);
        sheet +=
            &format!("C0,{name},Edge 100,00:1a:2b:00:00:{n:02x},+64 9 557 0000,1 Earl Street,Auckland,NZ\n");
    }
    sheet
}

/// Whether a character does something other than show itself. Lines end with a newline and nothing else does.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[track_caller]
fn assert_harmless(what: &str, outcome: &Outcome) {
    for (stream, text) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        if let Some(at) = text.chars().position(steers) {
            let around: String = text.chars().skip(at.saturating_sub(60)).take(120).collect();
            panic!("{what}: {stream} has {around:?}");
        }
    }
}

/// Talks of everything there is to talk of.
fn talk(bench: &Bench, sheets: &[&str]) -> Vec<(String, Outcome)> {
    let until = bench::at_the_latest();
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for command in ["check", "plan"] {
        commands.push([&[command], sheets].concat());
        commands.push([&[command], sheets, &["--json"]].concat());
    }
    commands.push([&["run"], sheets, &["--skip-invalid", "-v", "-v", "--until", &until]].concat());
    commands.push([&["run"], sheets, &["--skip-invalid", "--json", "--until", &until]].concat());
    for command in ["status", "report", "resolve", "retry"] {
        commands.push(vec![command, "-v", "-v"]);
        commands.push(vec![command, "--json"]);
    }
    let told = |arguments: Vec<&str>| (format!("{arguments:?}"), bench.fleetload(&arguments));
    commands.into_iter().map(told).collect()
}

#[test]
fn cells_that_steer_a_terminal_are_shown_and_not_obeyed() {
    let bench = Bench::new(service());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices(STEERING));
    let told = talk(&bench, &["companies.csv", "devices.csv"]);
    let all: String = told.iter().map(|(_, outcome)| outcome.stdout.clone() + &outcome.stderr).collect();
    assert!(all.contains("[31mred"), "the cells were talked of: {all}");
    for (what, outcome) in &told {
        assert_harmless(what, outcome);
    }
}

#[test]
fn headers_and_file_names_that_steer_a_terminal_are_shown_and_not_obeyed() {
    let bench = Bench::new(service());
    bench.write("companies.csv", &bench::companies(1));
    let name = "devices \u{1b}[31m \u{202e}.csv";
    bench.write(name, &devices(["Till"]).replace("phone", "pho\u{1b}[31mne").replace("city", "ci\u{202e}ty"));
    let told = talk(&bench, &["companies.csv", name]);
    assert!(told.iter().any(|(_, outcome)| outcome.stderr.contains("[31m")), "the header was talked of");
    for (what, outcome) in &told {
        assert_harmless(what, outcome);
    }
}

/// A bench whose service refuses some devices with these words and answers others with pages.
fn hostile_service(names: &[&str]) -> (Bench, Relay) {
    let bench = Bench::new(service());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices(names.iter().copied()));
    let relay = Relay::before(&bench.base_url(), |operation, nth| match operation {
        "addDevice" if nth % 4 == 3 => Act::Pass,
        "addDevice" if nth % 4 == 2 => {
            let page = format!("<html>{}{}</html>", STEERING.concat(), FORMULAS.concat());
            Act::Instead(answer("500 \u{1b}[31mOops", "X-Evil: \u{1b}[31m\r\n", page.as_bytes()))
        }
        "addDevice" => {
            let message = format!("{}{}", FORMULAS[nth as usize % FORMULAS.len()], STEERING.concat());
            let violations = serde_json::json!([{"path": format!("device.{message}"), "message": message},
                {"path": "device.phoneNumber", "message": message}]);
            let body = serde_json::json!({"status": "FAILED", "error": {"errorCode": "invalidData",
                "message": message, "errorDetails": {"violations": violations}}});
            Act::Instead(answer("200 OK", "", body.to_string().as_bytes()))
        }
        _ => Act::Pass,
    });
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    let held = profile.replace("[profile.bench.policy]", "[profile.bench.policy]\nin_doubt = \"hold\"");
    bench.write("fleetload.toml", &held.replace(&bench.base_url(), &relay.base_url()));
    (bench, relay)
}

#[test]
fn words_of_the_service_that_steer_a_terminal_are_shown_and_not_obeyed() {
    let names: Vec<String> = (0..12).map(|n| format!("Till {n}")).collect();
    let (bench, relay) = hostile_service(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let told = talk(&bench, &["companies.csv", "devices.csv"]);
    assert!(relay.fired() >= 9, "the service was hostile");
    let all: String = told.iter().map(|(_, outcome)| outcome.stdout.clone() + &outcome.stderr).collect();
    assert!(all.contains("held"), "{all}");
    let results = std::fs::read_to_string(bench.path("reports/1/results.jsonl")).expect("results");
    assert!(results.contains("invalidData"), "its words were kept: {results}");
    for name in ["results.jsonl", "report.html", "devices.results.csv", "devices.fix.csv", "summary.json"] {
        let text = std::fs::read_to_string(bench.path(&format!("reports/1/{name}"))).unwrap_or_default();
        let at = text.replace("\r\n", "\n").trim_start_matches('\u{feff}').chars().find(|c| steers(*c));
        assert_eq!(at, None, "{name}");
    }
    for (what, outcome) in &told {
        assert_harmless(what, outcome);
    }
}

/// The fields of a CSV file.
fn fields(path: &Path) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_path(path).expect("a file");
    let rows = reader.records().map(|row| row.expect("CSV").iter().map(str::to_owned).collect());
    rows.collect()
}

/// The number of a worksheet, by its part of the workbook.
fn n_of(part: &zip::read::ZipFile<'_, std::fs::File>) -> u32 {
    let name = part.name().expect("a name");
    let number = name.trim_start_matches("xl/worksheets/sheet").trim_end_matches(".xml");
    number.parse().expect("a number")
}

#[test]
fn nothing_in_a_report_is_a_formula_and_all_of_it_reads_back_as_it_was() {
    let (bench, relay) = hostile_service(&FORMULAS);
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv"]);
    assert_eq!(outcome.code, 8, "{}{}", outcome.stdout, outcome.stderr);
    assert!(relay.fired() >= 5, "the service was hostile");
    let (mut looked_at, mut guarded) = (0, 0);
    for path in bench::below(&bench.path("reports")) {
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".csv") {
            for field in fields(&path).into_iter().flatten() {
                assert!(!field.starts_with(['=', '+', '-', '@', '\t', '\r']), "{name}: {field:?}");
                looked_at += 1;
                guarded += usize::from(field.starts_with('\''));
            }
        } else if name.ends_with(".xlsx") {
            let mut archive =
                zip::ZipArchive::new(std::fs::File::open(&path).expect("a file")).expect("a workbook");
            for n in 0..archive.len() {
                let mut part = archive.by_index(n).expect("a part");
                let mut text = String::new();
                if part.read_to_string(&mut text).is_err() {
                    continue;
                }
                assert!(!text.contains("TargetMode=\"External\""), "{name}: a link to somewhere else");
                if part.name().expect("a name").starts_with("xl/worksheets/sheet") {
                    assert!(!text.contains("<f>") && !text.contains("<f "), "{name}: a formula");
                    // Links lead from the first sheet to the worksheets of the same workbook, and nowhere else.
                    let first = n_of(&part) == 1;
                    for link in text.split("<hyperlink ").skip(1) {
                        let (link, _) = link.split_once('>').expect("its end");
                        assert!(
                            first && link.contains(" location=\"'") && !link.contains("r:id"),
                            "{name}: {link}"
                        );
                    }
                    looked_at += 1;
                }
            }
        } else if name.ends_with(".html") {
            let text = std::fs::read_to_string(&path).expect("a page");
            assert!(!text.contains("<html>\u{1b}") && !text.contains('\u{1b}'), "{name}");
            assert!(!text.contains("<html>\\u{1b}"), "{name}: a page within the page");
        }
    }
    assert!(looked_at > 20 && guarded > 3, "{looked_at} looked at, {guarded} guarded");
    // Read again, the rows are the same rows: nothing has changed, and nothing is sent.
    let before = bench.requests("addDevice");
    let fired = relay.fired();
    for sheets in [&["companies.csv", "reports/1/devices.results.csv"][..], &["reports/1/results.xlsx"]] {
        let outcome = bench.fleetload(&[&["import"], sheets, &["--json"]].concat());
        assert_eq!(outcome.code, 0, "{sheets:?}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains("\"changed_since\":0"), "{sheets:?}: {}", outcome.stdout);
        assert!(outcome.stdout.contains("\"revised\":0,\"recognised\":8"), "{sheets:?}: {}", outcome.stdout);
    }
    assert_eq!((bench.requests("addDevice"), relay.fired()), (before, fired));
    let names: Vec<_> = bench.results(1).iter().map(|row| row.to_string()).collect();
    for formula in FORMULAS {
        let written = serde_json::Value::from(formula).to_string();
        assert!(names.iter().any(|row| row.contains(&written)), "{formula} stays what it was in JSON");
    }
}

/// A workbook whose only worksheet has this name, whatever a spreadsheet program would say to it.
fn workbook(n: usize, name: &str) -> Vec<u8> {
    let mut book = rust_xlsxwriter::Workbook::new();
    {
        let sheet = book.add_worksheet().set_name("NAME").expect("a name");
        let headers = ["company", "name", "device_model", "mac", "phone", "address1", "city", "country"];
        for (column, header) in (0..).zip(headers) {
            sheet.write_string(0, column, header).expect("a cell");
        }
        let mac = format!("00:1a:2b:00:01:{n:02x}");
        let device = format!("Till {n}");
        let row = ["C0", &device, "Edge 100", &mac, "+64 9 557 0000", "1 Earl Street", "Auckland", "NZ"];
        for (column, value) in (0..).zip(row) {
            sheet.write_string(1, column, value).expect("a cell");
        }
    }
    let plain = book.save_to_buffer().expect("a workbook");
    let mut archive = zip::ZipArchive::new(Cursor::new(plain)).expect("a workbook");
    let mut renamed = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for n in 0..archive.len() {
        let mut part = archive.by_index(n).expect("a part");
        let mut content = Vec::new();
        part.read_to_end(&mut content).expect("a part");
        let part_name = part.name().expect("a name").into_owned();
        if part_name == "xl/workbook.xml" {
            content = String::from_utf8(content).expect("XML").replace("NAME", name).into_bytes();
        }
        renamed.start_file(part_name, zip::write::SimpleFileOptions::default()).expect("a part");
        renamed.write_all(&content).expect("a part");
    }
    renamed.finish().expect("a workbook").into_inner()
}

#[test]
fn no_name_of_a_sheet_reaches_the_file_system_as_a_path() {
    let long = "devices ".repeat(60);
    let names = [
        "../../escaped",
        "/tmp/escaped-by-fleetload",
        "..\\..\\escaped",
        "CON",
        "nul.devices",
        "..",
        ".",
        "a/b",
        "a?b",
        "A_B",
        "results",
        "fix",
        "summary",
        "x\u{202e}fdp",
        "Summary",
        long.trim_end(),
    ];
    let bench = Bench::new(service());
    bench.write("companies.csv", &bench::companies(1));
    let mut arguments = vec!["run".to_owned(), "companies.csv".to_owned(), "./..csv".to_owned()];
    for (n, name) in names.iter().enumerate() {
        let file = format!("book-{n:02}.xlsx");
        std::fs::write(bench.path(&file), workbook(n, name)).expect("a writable folder");
        arguments.push(file);
    }
    std::fs::write(bench.path("..csv"), devices(["Counter"]).replace("00:1a:2b:00", "00:1a:2b:07"))
        .expect("a writable folder");
    let before = bench::below(&bench.path(""));
    let outcome = bench.fleetload(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).expect_code(0);
    assert_eq!(bench.created("device").len(), names.len() + 1);
    let root = bench.path("");
    let allowed = ["reports", "fleetload.db", ".local"];
    let mut of_sheets = 0;
    for path in bench::below(&root) {
        if before.contains(&path) {
            continue;
        }
        let inside = path.strip_prefix(&root).expect("below the folder");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        assert!(allowed.iter().any(|name| first.starts_with(name)), "{} was written", path.display());
        if inside.starts_with("reports") {
            assert!(inside.components().count() <= 3, "{}", path.display());
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(!name.contains(['\\', ':', '\0']) && !name.chars().any(steers), "{name:?}");
            of_sheets += usize::from(name.ends_with(".results.csv"));
        }
    }
    assert_eq!(of_sheets, names.len() + 2, "a file for each sheet, whatever its name");
    assert!(!Path::new("/tmp/escaped-by-fleetload").exists());
    assert_harmless("run", &outcome);
    // Each row is in exactly one of them.
    let mut rows = BTreeMap::new();
    for path in bench::below(&bench.path("reports/1")) {
        if path.to_string_lossy().ends_with(".results.csv") {
            for row in fields(&path).into_iter().skip(1) {
                *rows.entry(row[1].clone()).or_insert(0) += 1;
            }
        }
    }
    for n in 0..names.len() {
        assert_eq!(rows.get(&format!("Till {n}")), Some(&1), "Till {n}: {rows:?}");
    }
}

#[cfg(unix)]
#[test]
fn everything_a_command_makes_is_for_its_owner_alone_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::new(service());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &bench::devices(30, 2).replacen("Edge 100", "Unheard of", 2));
    let (_relay, gate) = gated(&bench, "addDevice", 5);
    let ours = bench::below(&bench.path(""));
    let binary = env!("CARGO_BIN_EXE_fleetload");
    let open = |arguments: &str| {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", &format!("umask 000; exec {binary} {arguments}")])
            .current_dir(bench.path(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", bench.path(""));
        command
    };
    let look = |when: &str| {
        let made: Vec<_> =
            bench::below(&bench.path("")).into_iter().filter(|path| !ours.contains(path)).collect();
        for path in &made {
            // A file that is gone meanwhile was one beside its target.
            let Ok(metadata) = std::fs::symlink_metadata(path) else { continue };
            let mode = metadata.permissions().mode() & 0o777;
            let state_of_others = path.ends_with(".local") || path.ends_with(".local/state");
            assert!(mode & 0o077 == 0 || state_of_others, "{when}: {} has mode {mode:o}", path.display());
        }
        made
    };
    let mut run = UnderWay::start(open("run companies.csv devices.csv --json"));
    run.until(|| gate.is_reached());
    let during = look("in mid-run");
    gate.open();
    let names: Vec<String> =
        during.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    for name in ["fleetload.db", "fleetload.db-wal", "fleetload.db-shm", "fleetload.db.lock"] {
        assert!(names.iter().any(|made| made == name), "{name}: {names:?}");
    }
    run.ended();
    let ended = |arguments: &str| {
        let output = open(arguments).output().expect("the binary starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    ended("report");
    ended("run companies.csv devices.csv --sandbox --journal rehearsal.db --reports rehearsal");
    let after = look("in the end");
    let names: Vec<String> = after.iter().map(|path| path.display().to_string()).collect();
    for name in
        ["results.xlsx", "devices.results.csv", "devices.fix.csv", "results.jsonl", "rehearsal.db", "locks"]
    {
        assert!(names.iter().any(|made| made.ends_with(name)), "{name}: {names:?}");
    }
}
