//! The page of a plan: where it is written, and what is never written over.

use std::fs::File;
use std::io::{ErrorKind as Io, Read as _, Write as _};
use std::path::Path;

use super::Known;
use crate::cli::context::{Context, quoted};
use crate::cli::outlook::{Outlook, quota};
use crate::cli::settings::Settings;
use crate::error::{Error, Result};
use crate::import::Examined;
use crate::plan::{MARK, Page, page};
use crate::term::{Ink, Line};

/// A page of ours says so within its first bytes.
const BEGINNING: u64 = 64 << 10;

/// Refuses to write over a file that is no plan of ours.
pub(super) fn refuse_others(out: &Path) -> Result<()> {
    let mut beginning = Vec::new();
    let read = File::open(out).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    let ours = beginning.windows(MARK.len()).any(|bytes| bytes == MARK.as_bytes());
    match read {
        Err(error) if error.kind() == Io::NotFound => Ok(()),
        Ok(_) if ours => Ok(()),
        Ok(_) | Err(_) => {
            Err(Error::usage(format!("{} is there already and is not the page of a plan", out.display()))
                .hint("name another file with --out, or remove this one first"))
        }
    }
}

/// Writes the page; whole or not at all.
pub(super) fn write(
    context: &Context<'_>,
    out: &Path,
    examined: &Examined,
    settings: &Settings,
    known: &Known,
    outlook: &Outlook,
) -> Result<()> {
    let files: Vec<String> = examined.files().map(|file| file.name.clone()).collect();
    let typed: Vec<String> = files.iter().map(|file| quoted(file)).collect();
    let text = page(&Page {
        files: &files,
        plan: &outlook.plan,
        terms: &known.terms,
        obstacles: &outlook.obstacles,
        more_obstacles: outlook.more_obstacles,
        left_out: outlook.left_out,
        quota: &quota(settings, &known.terms, known.learned),
        command: &match outlook.plan.unavailable().is_empty() {
            true => context.again(&format!("run {}", typed.join(" "))),
            false => context.again(&format!("plan {} --sandbox", typed.join(" "))),
        },
    })?;
    put(out, &text).map_err(|error| {
        Error::usage(format!("the page {} cannot be written", out.display()))
            .because(error)
            .hint("name a file in a folder that is there and that you may write to")
    })?;
    let line = Line::plain("the plan as a page: ").ink(Ink::Strong, out.display().to_string());
    context.terminal.result(line);
    Ok(())
}

fn put(out: &Path, text: &str) -> std::io::Result<()> {
    let folder = match out.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut beside = tempfile::Builder::new().prefix(".fleetload-").suffix(".part").tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.persist(out).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_plans_are_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("plan.html");
        refuse_others(&out).unwrap();
        std::fs::write(&out, "<!doctype html><title>Somebody's</title>").unwrap();
        let error = refuse_others(&out).unwrap_err();
        assert!(error.what().contains("is not the page of a plan"), "{}", error.what());
        std::fs::write(&out, format!("<!doctype html>{MARK}")).unwrap();
        refuse_others(&out).unwrap();
        assert!(refuse_others(folder.path()).is_err(), "a folder is no page");
    }
}
