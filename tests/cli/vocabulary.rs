//! Everything that a person reads uses one vocabulary, in plain technical English: docs, help, explanations, messages.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::Bench;
use fleetload::sandbox::Scenario;

/// Words that have a plainer one: reported, is in, not allowed, fix, again, automatically, cancelled, anyway, result,
/// not imported, verification, below, compared with, paused, blocks.
const AVOIDED: &[&str] = &[
    "told",
    "stands in",
    "stand in",
    "may stand",
    "may not stand",
    "as it stands",
    "as they stand",
    "mend",
    "mends",
    "mended",
    "anew",
    "by itself",
    "by themselves",
    "give up",
    "gives up",
    "given up",
    "gave up",
    "giving up",
    "all the same",
    "what became of",
    "what becomes of",
    "what came of",
    "found wanting",
    "not through",
    "get through",
    "got through",
    "left out",
    "leave out",
    "leaves out",
    "read back",
    "reads back",
    "reading back",
    "hang below",
    "hangs below",
    "held against",
    "held back",
    "holds back",
    "in the way",
    "somebody",
    "set aside",
    "what is there",
    "what was found",
    "what it belongs to",
];

/// The avoided words in a text, whatever its case and line breaks; none spans two sentences.
fn avoided(text: &str) -> Vec<&'static str> {
    let is_word = |c: char| c.is_alphanumeric() || "_-'/".contains(c);
    let words: String = text.to_lowercase().replace(|c: char| !is_word(c) && !c.is_whitespace(), " | ");
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    AVOIDED.iter().copied().filter(|phrase| words.contains(&format!(" {phrase} "))).collect()
}

/// A text without what stands between two marks, such as names of fields and tests in backticks.
fn without(text: &str, open: char, close: char) -> String {
    let mut inside = false;
    text.chars()
        .filter(|&c| {
            let was_inside = inside;
            inside = if inside { c != close } else { c == open };
            !was_inside && !inside
        })
        .collect()
}

/// The string literals of a source, without comments, tests and placeholders.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), source);
    while let Some(start) = rest.find(['"', '\'', '/']) {
        let (mark, after) = (rest.as_bytes()[start], &rest[start + 1..]);
        rest = match mark {
            b'/' if after.starts_with('/') => after.split_once('\n').map_or("", |(_, next)| next),
            b'\'' if after.starts_with('\\') => after[2..].split_once('\'').map_or("", |(_, next)| next),
            b'\'' if after.chars().nth(1) == Some('\'') => {
                after.split_once('\'').map_or("", |(_, next)| next)
            }
            b'"' => {
                let mut escaped = false;
                let end = after.find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                let end = end.unwrap_or(after.len());
                found.push(without(&after[..end].replace("\\n", " ").replace("\\\n", " "), '{', '}'));
                after.get(end + 1..).unwrap_or_default()
            }
            _ => after,
        };
    }
    found
}

/// The files below a folder with an ending, without tests and what they use.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with("tests") || name == "fixture" {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found
}

/// The parts of a page that links lead to, as the heading lines make them.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        heading.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_to_a_heading_of_a_page_leads_to_one() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut links = 0;
    for page in files(&docs, "md") {
        let text = fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some((file, anchor)) = link.split_once('#').filter(|_| !link.contains("://")) else {
                continue;
            };
            let of = if file.is_empty() { page.clone() } else { docs.join(file) };
            let target = fs::read_to_string(&of).unwrap_or_else(|_| panic!("{}: {link}", page.display()));
            assert!(anchors(&target).iter().any(|known| known == anchor), "{}: {link}", page.display());
            links += 1;
        }
    }
    assert!(links > 30, "only {links}");
}

#[test]
fn docs_help_explanations_and_messages_have_one_vocabulary() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut pages = files(&here.join("docs"), "md");
    pages.extend(["README.md", "samples/README.md", "fleetload.example.toml"].map(|name| here.join(name)));
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        texts.push((page.display().to_string(), without(&text, '`', '`').replace("\n#", "\n")));
    }
    for file in files(&here.join("src"), "rs") {
        let source = fs::read_to_string(&file).expect("a source");
        texts.extend(
            literals(&source)
                .into_iter()
                .filter(|text| text.contains(' '))
                .map(|text| (file.display().to_string(), text)),
        );
    }
    for schema in files(&here.join("docs/schema"), "json") {
        let text = fs::read_to_string(&schema).expect("a schema");
        let descriptions = text.lines().filter_map(|line| line.trim().strip_prefix("\"description\": "));
        texts.extend(descriptions.map(|text| (schema.display().to_string(), without(text, '`', '`'))));
    }
    let bench = Bench::new(Scenario::default());
    let help = bench.fleetload(&["--help"]).expect_code(0).stdout;
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let (commands, _) = commands.split_once("\n\n").expect("an end of the list");
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty()) {
        texts.push((format!("help {name}"), bench.fleetload(&["help", name]).expect_code(0).stdout));
    }
    texts.push(("help".to_owned(), help));
    for line in bench.fleetload(&["explain", "--json"]).expect_code(0).stdout.lines() {
        let object: Value = serde_json::from_str(line).expect("JSON");
        let parts =
            ["meaning", "follows", "what_to_do"].map(|part| object[part].as_str().unwrap_or_default());
        texts.push((format!("explain {}", object["code"]), parts.join(" ")));
    }
    assert!(texts.len() > 3_000, "only {} texts were read", texts.len());
    let found: Vec<String> = texts
        .iter()
        .flat_map(|(place, text)| {
            avoided(text).into_iter().map(move |phrase| format!("{place}: {phrase}: {text:.160}"))
        })
        .collect();
    assert!(found.is_empty(), "{} texts have words with a plainer one:\n{}", found.len(), found.join("\n"));
}

#[test]
fn avoided_words_are_found_across_lines_and_not_in_names_or_comments() {
    assert_eq!(avoided("The row is\nTold, and\n  left  out."), ["told", "left out"]);
    assert_eq!(avoided("left_out, --held-back, stolen"), [""; 0]);
    assert_eq!(avoided(&without("a `left out` row", '`', '`')), [""; 0]);
    let source = "// told\nlet c = ['\"', '\\''];\nfoo(\"is \\\"mended\\\" {told}\");\n#[cfg(test)]\nmod tests {\n\"anew\" }";
    let found: Vec<_> = literals(source).iter().flat_map(|text| avoided(text)).collect();
    assert_eq!(found, ["mended"]);
}
