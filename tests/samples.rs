//! The committed sample sheets are what the program that makes them makes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../samples/make/mod.rs"]
mod make;

/// Every file below a folder but the sources, by its path within it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let inside = path.strip_prefix(folder).unwrap().to_owned();
            if inside.starts_with("make") || inside.starts_with("make.rs") || inside.starts_with("README.md")
            {
                continue;
            }
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(inside, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_committed_samples_are_current() {
    let folder = tempfile::tempdir().unwrap();
    make::all(folder.path()).unwrap();
    let (kept, made) = (files(&here().join("samples")), files(folder.path()));
    assert_eq!(kept.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    for (path, bytes) in made {
        assert!(kept[&path] == bytes, "{}: run cargo run --example samples -- all", path.display());
    }
}

#[test]
fn a_large_import_has_the_size_asked_for_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count() as u64 - 1;
    for rows in [1, 7, 1_000] {
        let (first, again) = (folder.path().join(format!("a{rows}")), folder.path().join(format!("b{rows}")));
        let written = make::large(rows, &first, 1).unwrap();
        assert_eq!(written.iter().map(|path| lines(path)).sum::<u64>(), rows);
        make::large(rows, &again, 1).unwrap();
        assert!(files(&first) == files(&again));
    }
    let (one, other) = (folder.path().join("one.xlsx"), folder.path().join("other.xlsx"));
    make::large(1_000, &one, 7).unwrap();
    make::large(1_000, &other, 7).unwrap();
    assert!(fs::read(one).unwrap() == fs::read(other).unwrap());
    let single = folder.path().join("big-sites.csv");
    make::large(50, &single, 1).unwrap();
    assert_eq!(lines(&single), 50);
    assert!(fs::read_to_string(single).unwrap().starts_with("key,company,name,reference,"));
}
