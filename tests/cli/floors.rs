//! The rule of the house: a file imports from lower floors only, and rooms of one floor do not know each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The floor of every room below `src/`. `main.rs` stands above all, `lib.rs` only lists them.
const FLOORS: &[(&str, u8)] = &[
    ("ending", 0),
    ("error", 0),
    ("clock", 0),
    ("advice", 0),
    ("failpoint", 0),
    ("json_schema", 0),
    ("private_file", 0),
    ("mistake", 0),
    ("model", 0),
    ("testing", 0),
    ("sheet", 1),
    ("journal", 1),
    ("service", 1),
    ("sandbox", 1),
    ("import", 2),
    ("export", 2),
    ("metrics", 2),
    ("notify", 2),
    ("plan", 2),
    ("run", 2),
    ("status", 2),
    ("report", 3),
    ("term", 4),
    ("cli", 4),
];

/// An import that breaks the rule, in words.
fn broken(room: &str, imported: &str) -> Option<String> {
    let floors: BTreeMap<_, _> = FLOORS.iter().copied().collect();
    if room == imported {
        return None;
    }
    let (Some(own), Some(other)) = (floors.get(room), floors.get(imported)) else {
        return Some(format!("{room} or {imported} has no floor: add it to the table of this test"));
    };
    if room == "sandbox" {
        return Some(format!("the sandbox knows nothing of the rest, but imports {imported}"));
    }
    let allowed = match own {
        // The rooms of the ground floor share one idea, words; those of the top floor share the terminal.
        0 | 4 => other <= own,
        _ => other < own,
    };
    (!allowed).then(|| format!("{room} (floor {own}) imports {imported} (floor {other})"))
}

/// The rooms named after `crate::` in a file, tests in it excepted.
fn imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut rooms = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            if let Some(list) = part.strip_prefix('{') {
                rooms.extend(list.split(',').map(|item| first_word(item.trim())));
            } else {
                rooms.push(first_word(part));
            }
        }
    }
    rooms.retain(|room| !room.is_empty());
    rooms
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            found.push(entry);
        }
    }
    found
}

#[test]
fn every_file_imports_from_lower_floors_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    let mut seen = 0;
    for file in files(&source) {
        let inside = file.strip_prefix(&source).unwrap();
        let room = inside.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
        if room == "main" || room == "lib" {
            continue;
        }
        seen += 1;
        let text = std::fs::read_to_string(&file).unwrap();
        faults.extend(
            imports(&text)
                .iter()
                .filter_map(|imported| broken(&room, imported))
                .map(|fault| format!("{}: {fault}", inside.display())),
        );
    }
    assert!(seen > 20, "only {seen} files were read");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_rule_sees_a_broken_floor() {
    let fault = |room, text: &str| imports(text).iter().find_map(|imported| broken(room, imported));
    assert!(fault("journal", "use crate::service::Client;").is_some());
    assert!(fault("model", "use crate::journal::Journal;").is_some());
    assert!(fault("sandbox", "use crate::model::kind::Kind;").is_some());
    assert!(fault("sheet", "use crate::{error, run};").is_some());
    assert!(fault("run", "use crate::journal::Journal;\n// use crate::term::print;").is_none());
}
