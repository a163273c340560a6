//! The page of a plan: where it is written, and what is never written over.

use std::fs::File;
use std::io::{ErrorKind as Io, Read as _};
use std::path::Path;

use super::output::{Outlook, quota};
use crate::cli::atomic_file;
use crate::cli::context::Context;
use crate::cli::settings::Settings;
use crate::error::{Error, Result};
use crate::import::Examined;
use crate::journal::Whose;
use crate::report::{MARK, PlanPage as Page, plan_page as page};
use crate::term::{Ink, Line};

/// A page of ours says so within its first bytes.
const BEGINNING: u64 = 64 << 10;

/// What the page tells besides the sheets and what becomes of them.
pub(super) struct PageFacts<'a> {
    pub(in crate::cli) settings: &'a Settings,
    /// The limits.
    pub(super) terms: &'a super::PlanTerms,
    /// Whose plan it is.
    pub(in crate::cli) whose: &'a Whose,
    /// What is typed to do it.
    pub(in crate::cli) command: &'a str,
}

/// Refuses to write over a file that is no plan of ours.
pub(super) fn refuse_others(out: &Path) -> Result<()> {
    let mut beginning = Vec::new();
    let read = File::open(out).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    let ours = beginning.windows(MARK.len()).any(|bytes| bytes == MARK.as_bytes());
    match read {
        Err(error) if error.kind() == Io::NotFound => Ok(()),
        Ok(_) if ours => Ok(()),
        Ok(_) | Err(_) => {
            Err(Error::usage(format!("{} already exists and is not a plan page", out.display()))
                .hint("name another file with --out, or remove this one first"))
        }
    }
}

/// Writes the page; whole or not at all.
pub(in crate::cli) fn write(
    context: &Context<'_>,
    out: &Path,
    examined: &Examined,
    known: &PageFacts<'_>,
    outlook: &Outlook,
) -> Result<()> {
    let files: Vec<String> = examined.files().map(|file| file.name.clone()).collect();
    let text = page(&Page {
        files: &files,
        plan: &outlook.plan,
        terms: &known.terms.terms,
        obstacles: &outlook.obstacles,
        more_obstacles: outlook.more_obstacles,
        left_out: outlook.left_out,
        quota: &quota(known.settings, &known.terms.terms, known.terms.learned),
        whose: known.whose,
        command: known.command,
    })?;
    atomic_file::put(out, text.as_bytes()).map_err(|error| {
        Error::usage(format!("the page {} cannot be written", out.display()))
            .because(error)
            .hint("name a file in an existing folder that you may write to")
    })?;
    let line = Line::plain("the plan as a page: ").ink(Ink::Strong, out.display().to_string());
    context.terminal.result(line);
    Ok(())
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
        assert!(error.what().contains("is not a plan page"), "{}", error.what());
        std::fs::write(&out, format!("<!doctype html>{MARK}")).unwrap();
        refuse_others(&out).unwrap();
        assert!(refuse_others(folder.path()).is_err(), "a folder is no page");
    }
}
