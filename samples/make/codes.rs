//! `docs/codes.md`: the whole catalogue of codes, as `fleetload explain` tells it.

use std::fmt::Write as _;

use fleetload::status::catalogue::{Entry, Scope, of_scope};

const OPENING: &str = "\
# Codes

Every code that fleetload writes, with its meaning, what follows from it and what to do: the same as
`fleetload explain CODE`. This page is made from the program's own catalogue by
`cargo run --example samples -- docs`.
";

/// The page.
pub(crate) fn page() -> String {
    let mut page = OPENING.to_owned();
    for scope in Scope::ALL {
        push(&mut page, format_args!("\n## {}\n", scope.title()));
        for entry in of_scope(scope) {
            section(&mut page, entry);
        }
    }
    page
}

fn section(page: &mut String, entry: &Entry) {
    push(page, format_args!("\n### `{}`\n\n{}\n", entry.code, entry.sentence()));
    push(page, format_args!("\n*{}:* {}\n", entry.scope.follows(), entry.follows));
    let advice = entry.advice("JOB", "IMPORT").to_string();
    if !advice.is_empty() {
        let stop = if advice.ends_with('.') { "" } else { "." };
        push(page, format_args!("\n*What to do:* {advice}{stop}\n"));
    }
    if let Some((stands, should)) = &entry.example {
        push(page, format_args!("\n*Example:* `{stands}` becomes `{should}`\n"));
    }
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _infallible = page.write_fmt(text);
}
