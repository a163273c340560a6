//! A module imports from lower layers only, and modules of one layer do not import each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The layer of every module of `src/`. `main.rs` is above all, `lib.rs` only lists them.
const LAYERS: &[(&str, u8)] = &[
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
fn broken(module: &str, imported: &str) -> Option<String> {
    let layers: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    if module == imported {
        return None;
    }
    let (Some(own), Some(other)) = (layers.get(module), layers.get(imported)) else {
        return Some(format!("{module} or {imported} has no layer: add it to the table of this test"));
    };
    if module == "sandbox" {
        return Some(format!("the sandbox knows nothing of the rest, but imports {imported}"));
    }
    let allowed = match own {
        // The modules of the lowest layer are words and rules; those of the highest share the terminal.
        0 | 4 => other <= own,
        _ => other < own,
    };
    (!allowed).then(|| format!("{module} (layer {own}) imports {imported} (layer {other})"))
}

/// The modules named after `crate::` in a file, tests in it excepted.
fn imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut modules = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            if let Some(list) = part.strip_prefix('{') {
                modules.extend(list.split(',').map(|item| first_word(item.trim())));
            } else {
                modules.push(first_word(part));
            }
        }
    }
    modules.retain(|module| !module.is_empty());
    modules
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
fn every_file_imports_from_lower_layers_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    let mut seen = 0;
    for file in files(&source) {
        let inside = file.strip_prefix(&source).unwrap();
        let module = inside.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
        if module == "main" || module == "lib" {
            continue;
        }
        seen += 1;
        let text = std::fs::read_to_string(&file).unwrap();
        faults.extend(
            imports(&text)
                .iter()
                .filter_map(|imported| broken(&module, imported))
                .map(|fault| format!("{}: {fault}", inside.display())),
        );
    }
    assert!(seen > 20, "only {seen} files were read");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_rule_sees_a_broken_layer() {
    let fault = |module, text: &str| imports(text).iter().find_map(|imported| broken(module, imported));
    assert!(fault("journal", "use crate::service::Client;").is_some());
    assert!(fault("model", "use crate::journal::Journal;").is_some());
    assert!(fault("sandbox", "use crate::model::kind::Kind;").is_some());
    assert!(fault("sheet", "use crate::{error, run};").is_some());
    assert!(fault("run", "use crate::journal::Journal;\n// use crate::term::print;").is_none());
}
