//! `cargo run --example samples -- all` writes the sample sheets again, `templates` the blank ones, `docs` the tables
//! of columns in the documentation; `large` makes an import of any size.
//!
//! What the sheets hold is in `make/`; this file only reads the command line and says what was written.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[path = "make/mod.rs"]
mod make;

const USAGE: &str = "\
cargo run --example samples -- all                              write the files of samples/ again
cargo run --example samples -- templates                        write the files of templates/ again
cargo run --example samples -- docs                             write docs/codes.md, docs/operations.md and the tables in docs/sheets.md and scheduling.md again
cargo run --all-features --example samples -- schemas           write the JSON Schemas of docs/schema/ again
cargo run --example samples -- large ROWS FILE.csv [SEED]       one sheet; its kind is in its name, else devices
cargo run --example samples -- large ROWS FILE.xlsx [SEED]      a workbook of all four kinds
cargo run --example samples -- large ROWS FOLDER [SEED]         four CSV files";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut talk = std::io::stderr().lock();
    let (said, code) = match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(written) => {
            let lines: Vec<String> = written.iter().map(|path| format!("wrote {}", path.display())).collect();
            (lines.join("\n"), ExitCode::SUCCESS)
        }
        Err(error) => (error.to_string(), ExitCode::FAILURE),
    };
    // Nobody is left to tell when standard error is closed.
    let _closed = writeln!(talk, "{said}");
    code
}

fn run(words: &[&str]) -> make::Result<Vec<PathBuf>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match words {
        ["all"] => make::all(&here.join("samples")),
        ["templates"] => make::templates(&here.join("templates")),
        ["docs"] => make::renew_docs(&here.join("docs")),
        #[cfg(feature = "schemas")]
        ["schemas"] => make::schemas(&here.join("docs").join("schema")),
        // They are not compiled into every build.
        #[cfg(not(feature = "schemas"))]
        ["schemas"] => {
            Err("the schemas need their feature: cargo run --all-features --example samples -- schemas"
                .into())
        }
        ["large", rows, out] => make::large(number(rows)?, Path::new(out), 1),
        ["large", rows, out, seed] => make::large(number(rows)?, Path::new(out), number(seed)?),
        _ => Err(USAGE.into()),
    }
}

fn number(word: &str) -> make::Result<u64> {
    word.replace('_', "").parse().map_err(|_| format!("'{word}' is not a number").into())
}
