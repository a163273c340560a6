//! `docs/hazards.md` is complete and true: every hazard has a row, every row a test that is there and speaks of the codes
//! that the row names, and no test of a hazard is missing from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fleetload::sheet::finding::Code;

/// The groups of hazards, and how many each has.
const GROUPS: [(char, usize); 9] =
    [('F', 24), ('C', 24), ('X', 32), ('H', 12), ('T', 14), ('N', 14), ('D', 20), ('R', 12), ('O', 6)];

/// A row of the page.
struct Row {
    number: String,
    cells: Vec<String>,
}

impl Row {
    /// What stands in backticks in one of its cells.
    fn quoted(&self, cell: usize) -> Vec<&str> {
        self.cells[cell].split('`').skip(1).step_by(2).collect()
    }
}

/// How bad a finding is, as the page and the tests say it.
const SEVERITIES: [&str; 4] = ["fatal", "error", "warning", "note"];

/// What a cell of the page says of codes: how bad each is, where that stands before it or before the one it is listed with.
fn judged(cell: &str) -> Vec<(&'static str, &str)> {
    let pieces: Vec<&str> = cell.split('`').collect();
    let mut severity = None;
    let mut judged = Vec::new();
    for (before, code) in pieces.iter().step_by(2).zip(pieces.iter().skip(1).step_by(2)) {
        let last = before.trim().rsplit(' ').next().unwrap_or_default();
        let is_list = matches!(before.trim(), "," | "or" | ", or");
        severity = SEVERITIES.into_iter().find(|word| *word == last).or(severity.filter(|_| is_list));
        judged.extend(severity.map(|severity| (severity, *code)));
    }
    judged
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of the page, in their order.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/hazards.md")).expect("the page");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|line| line.split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    rows.filter(|cells| cells[0] != "#").map(|cells| Row { number: cells[0].clone(), cells }).collect()
}

/// A hazard's number out of the name of its test: `F7` out of `f07_what_happens`.
fn number(test: &str) -> Option<String> {
    let (group, digits) = (test.chars().next()?, test.get(1..3)?);
    let is_one = group.is_ascii_lowercase() && test.get(3..4) == Some("_");
    let digits = digits.parse::<usize>().ok().filter(|_| is_one)?;
    Some(format!("{}{digits}", group.to_ascii_uppercase()))
}

/// The tests of a source, each with its text.
fn tests(source: &str) -> BTreeMap<String, String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut tests = BTreeMap::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.trim() == "#[test]") {
        let indent = &line[..line.len() - line.trim_start().len()];
        let after = &lines[at + 1..];
        let signature = after.iter().find_map(|line| line.trim_start().strip_prefix("fn "));
        let name = signature.and_then(|rest| rest.split('(').next()).expect("a test has a name");
        let end = format!("{indent}}}");
        let body = after.iter().take_while(|line| **line != end).copied().collect::<Vec<_>>().join("\n");
        tests.insert(name.to_owned(), body);
    }
    tests
}

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The text of a test as the page names it: `hazards/files.rs::f01_what_happens`.
fn text(listed: &str) -> Option<String> {
    let (file, name) = listed.split_once("::")?;
    let folders = if file.starts_with("src/") { [""; 2] } else { ["tests", "tests/cli"] };
    let path = folders.map(|folder| root().join(folder).join(file)).into_iter().find(|path| path.exists())?;
    tests(&fs::read_to_string(path).ok()?).remove(name)
}

#[test]
fn every_hazard_has_its_row_in_order() {
    let expected: Vec<String> = GROUPS
        .iter()
        .flat_map(|(group, count)| (1..=*count).map(move |number| format!("{group}{number}")))
        .collect();
    let rows = rows();
    assert_eq!(rows.iter().map(|row| row.number.clone()).collect::<Vec<_>>(), expected);
    for row in rows {
        assert_eq!(row.cells.len(), 4, "{}", row.number);
        assert!(row.cells.iter().all(|cell| !cell.is_empty()), "{}", row.number);
    }
}

#[test]
fn every_test_of_a_row_is_there_and_the_codes_of_the_row_are_in_them() {
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let scopes: BTreeSet<&str> = codes.iter().filter_map(|code| code.split('.').next()).collect();
    for row in rows() {
        let listed = row.quoted(3);
        assert!(!listed.is_empty(), "{} has no test", row.number);
        let text: String = listed
            .iter()
            .map(|listed| text(listed).unwrap_or_else(|| panic!("{}: there is no test {listed}", row.number)))
            .collect();
        for code in row.quoted(2) {
            let scope = code.split_once('.').map(|(scope, _)| scope);
            if !scope.is_some_and(|scope| scopes.contains(scope)) {
                continue;
            }
            assert!(codes.contains(code), "{}: no code is called {code}", row.number);
            assert!(text.contains(code), "{}: no test of it speaks of {code}", row.number);
        }
    }
}

#[test]
fn a_code_is_as_bad_as_the_tests_of_its_row_say() {
    let mut compared = 0;
    for row in rows() {
        let text: String = row.quoted(3).into_iter().filter_map(text).collect();
        for (severity, code) in judged(&row.cells[2]) {
            let said = |severity: &str| text.contains(&format!("{severity} {code}"));
            if SEVERITIES.into_iter().any(said) {
                assert!(
                    said(severity),
                    "{}: the tests say of {code} something else than {severity}",
                    row.number
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared} codes were compared");
}

#[test]
fn every_test_of_a_hazard_is_in_its_row() {
    let rows = rows();
    let tests_folder = root().join("tests");
    let mut seen = 0;
    for path in sources(&tests_folder.join("hazards")) {
        let file =
            path.strip_prefix(&tests_folder).expect("below the tests").to_string_lossy().replace('\\', "/");
        for name in tests(&fs::read_to_string(&path).expect("a source")).into_keys() {
            let Some(number) = number(&name) else { continue };
            let row = rows.iter().find(|row| row.number == number);
            let listed = format!("{file}::{name}");
            let is_listed = row.is_some_and(|row| row.quoted(3).contains(&listed.as_str()));
            assert!(is_listed, "docs/hazards.md does not list {listed} under {number}");
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen} tests of hazards");
}

#[test]
fn tests_are_found_by_what_they_are() {
    let source = "fn f01_helper() {\n}\n#[test]\n#[cfg(unix)]\nfn f01_it(x: u8) {\n    body();\n}\nmod a {\n    #[test]\n    fn f02_in() {\n        inner();\n    }\n}\n";
    let found = tests(source);
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), ["f01_it", "f02_in"]);
    assert!(found["f01_it"].contains("body();") && !found["f01_it"].contains("mod a"));
    let cell = "fatal `a.b`, or `c.d`; with `--x` a note `e.f`, `g.h`, else `i.j`";
    assert_eq!(judged(cell), [("fatal", "a.b"), ("fatal", "c.d"), ("note", "e.f"), ("note", "g.h")]);
    let numbers = ["f07_x", "x31_y", "fn_x", "f7_x", "every_row"].map(number);
    assert_eq!(numbers, [Some("F7".to_owned()), Some("X31".to_owned()), None, None, None]);
}
