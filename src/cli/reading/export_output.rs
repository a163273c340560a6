//! Where the rows of an export go, and what is said about it at its end.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::args::reading::Export as Typed;
use crate::cli::context::Context;
use crate::cli::output_file::refuse_unless;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::export::{Row, Rows, Standing, Subject, Survey};
use crate::journal::Whose;
use crate::report::export_file::{
    ExportFacts, ExportFormat, ExportRow, Owners, Spool, SpoolHead, csv_line, headers, is_export, texts,
    write_export,
};
use crate::term::{Ink, Line, ReadFigures, clean, count, counted};

/// How many records that could not be read are named.
const MOST_NAMED: usize = 20;

/// See the module.
pub(super) struct Output {
    subject: Subject,
    head: SpoolHead,
    found: Survey,
    whose: Whose,
    /// The first that could not be read, or may be incomplete, each with why.
    notes: Vec<String>,
    /// What an interrupted export had read.
    before: ReadFigures,
    to: Destination,
}

enum Destination {
    /// Rows are printed as they come.
    Standard,
    /// Rows are kept beside the file until all are there.
    File { out: PathBuf, format: ExportFormat, spool: Spool },
}

/// The form of the file that is asked for; `None` for standard output. A file that is no earlier export is refused.
pub(super) fn format(typed: &Typed) -> Result<Option<ExportFormat>> {
    let Some(out) = &typed.out else { return Ok(None) };
    match ExportFormat::of(out) {
        Some(format) => refuse_unless(is_export(out), out, "an export", "--out").map(|()| Some(format)),
        None => Err(Error::usage(format!("--out: {} does not say what to write", out.display()))
            .hint("name a file that ends in .xlsx, .csv or .jsonl")),
    }
}

impl Output {
    /// Begins an export whose owners are found.
    pub(super) fn begin(
        context: &Context<'_>,
        subject: Subject,
        spool: Spool,
        target: Option<(&Path, ExportFormat)>,
        (head, found): (SpoolHead, Survey),
        whose: &Whose,
    ) -> Self {
        let to = match target {
            Some((out, format)) => Destination::File { out: out.to_owned(), format, spool },
            None => Destination::Standard,
        };
        let (whose, notes, before) = (whose.clone(), Vec::new(), ReadFigures::default());
        let this = Self { subject, head, found, whose, notes, before, to };
        this.tell_begun(context);
        this
    }

    /// Goes on with an export that was interrupted; and what is still to be asked about.
    pub(super) fn resume(
        context: &Context<'_>,
        (out, format): (&Path, ExportFormat),
        head: &SpoolHead,
        whose: &Whose,
    ) -> Result<(Self, Owners)> {
        let (mut notes, mut before) = (Vec::new(), ReadFigures::default());
        let resumed = Spool::resume(out, head, &mut |row| {
            note(&mut notes, row);
            before.take(row);
        })?;
        (before.done, before.before) = (resumed.done, resumed.done);
        let subject =
            Subject::parse(&head.what).ok_or_else(|| Error::internal("an export without a subject"))?;
        let (head, found, whose) = (resumed.head, resumed.found, whose.clone());
        let to = Destination::File { out: out.to_owned(), format, spool: resumed.spool };
        let this = Self { subject, head, found, whose, notes, before, to };
        this.tell_begun(context);
        let done = counted(resumed.done, "record is", "records are");
        context.terminal.say(format!("{done} read already, since {}", context.moment(this.head.at)));
        Ok((this, resumed.left))
    }

    /// What was read before this process began.
    pub(super) fn figures(&self) -> ReadFigures {
        self.before
    }

    /// Tells whose records they are and how they were found, and begins the table on standard output.
    fn tell_begun(&self, context: &Context<'_>) {
        let terminal = context.terminal;
        match &self.to {
            Destination::File { .. } => context.tell_whose(&self.whose),
            Destination::Standard => {
                context.whose.replace(Some(self.whose.clone()));
                terminal.say(self.whose.line());
                if !terminal.json() {
                    terminal.document(&csv_line(headers(self.subject)));
                }
            }
        }
        for way in &self.found.ways {
            terminal.say(way.clone());
        }
    }

    /// Adds the rows of the next owner, and counts them.
    pub(super) fn add(&mut self, context: &Context<'_>, rows: Rows, figures: &mut ReadFigures) -> Result<()> {
        let terminal = context.terminal;
        // What a terminal shows must not steer it; a file or a program gets what the service said.
        let watched = terminal.result_columns().is_some();
        for row in rows {
            note(&mut self.notes, &row);
            figures.take(&row);
            match &mut self.to {
                Destination::File { spool, .. } => spool.add(&row)?,
                Destination::Standard if terminal.json() => {
                    terminal.object(&ExportRow::of(self.subject, &row));
                }
                Destination::Standard if watched => {
                    terminal.document(&csv_line(texts(&row).iter().map(|text| clean(text))));
                }
                Destination::Standard => terminal.document(&csv_line(texts(&row))),
            }
        }
        figures.done += 1;
        match &mut self.to {
            Destination::File { spool, .. } => spool.end_owner(),
            Destination::Standard => Ok(()),
        }
    }

    /// Puts the file in its place and tells what the export came to.
    pub(super) fn finish(self, context: &Context<'_>, figures: ReadFigures) -> Result<Summary> {
        let terminal = context.terminal;
        let written = match &self.to {
            Destination::Standard => String::new(),
            Destination::File { out, format, spool } => {
                let facts = ExportFacts {
                    subject: self.subject,
                    whose: &self.whose,
                    scope: &self.head.scope,
                    at: self.head.at,
                    said: &[&*self.found.ways, &*self.found.limits].concat(),
                };
                write_export((out, *format), &facts, &mut spool.rows()?)?;
                format!(" in {}", out.display())
            }
        };
        self.tell_limits(context, figures);
        let rows = counted(figures.rows, "row", "rows");
        let line = Line::new().ink(Ink::Strong, rows).text(format!(" of {}{written}", self.subject.words()));
        let failed = if figures.failed > 0 {
            format!(", and {} that could not be read", counted(figures.failed, "record", "records"))
        } else {
            String::new()
        };
        match &self.to {
            Destination::Standard => terminal.say(line.text(failed)),
            Destination::File { .. } => terminal.result(line.text(failed)),
        }
        let end = if figures.failed > 0 { End::NotRead } else { End::Done };
        let summary = self.summary(end, figures);
        if let Destination::File { spool, .. } = self.to {
            spool.remove();
        }
        Ok(summary)
    }

    /// Tells what the export cannot know and what was not read.
    fn tell_limits(&self, context: &Context<'_>, figures: ReadFigures) {
        let terminal = context.terminal;
        for limit in &self.found.limits {
            terminal.say(format!("note: {limit}"));
        }
        for note in &self.notes {
            terminal.warn(note);
        }
        let more = (figures.failed + figures.perhaps).saturating_sub(self.notes.len() as u64);
        if more > 0 {
            terminal
                .warn(format!("and {} more; each has a row with the reason in its last column", count(more)));
        }
    }

    /// What a signal leaves.
    pub(super) fn interrupted(self, context: &Context<'_>, figures: ReadFigures) -> Summary {
        let terminal = context.terminal;
        let done = format!("{} of {} asked", count(figures.done), count(figures.total.unwrap_or(0)));
        let line = Line::new().ink(Ink::Warning, "stopped").text(format!(": {done}"));
        match &self.to {
            Destination::Standard => terminal.say(line),
            Destination::File { .. } => {
                terminal.result(line);
                terminal.hint(RESUME);
            }
        }
        self.summary(End::Signal, figures)
    }

    /// An error that ended the export, with what is left of it.
    pub(super) fn explain(&self, error: Error) -> Error {
        match &self.to {
            Destination::Standard => error,
            Destination::File { .. } => {
                let hint = error.next_step().map(|step| format!("{step}\n")).unwrap_or_default();
                error.hint(format!("{hint}{RESUME}"))
            }
        }
    }

    fn summary(&self, end: End, figures: ReadFigures) -> Summary {
        let out = match &self.to {
            Destination::Standard => None,
            Destination::File { out, .. } => Some(out),
        };
        Summary::new(end).with(&ExportSummary {
            export: self.subject.word(),
            scope: &self.head.scope,
            rows: figures.rows,
            failed: figures.failed,
            perhaps_incomplete: figures.perhaps,
            asked: figures.done,
            of: figures.total,
            requests: figures.requests,
            ways: &self.found.ways,
            limits: &self.found.limits,
            notes: &self.notes,
            out,
        })
    }
}

/// How an interrupted export goes on.
const RESUME: &str = "to go on where it stopped, type the same command again with --resume";

/// Keeps the note of a row, as long as there are few.
fn note(notes: &mut Vec<String>, row: &Row) {
    if let (Standing::Failed | Standing::PerhapsPage, Some(note)) = (row.standing, &row.note)
        && notes.len() < MOST_NAMED
    {
        notes.push(note.clone());
    }
}

impl ReadFigures {
    /// Counts a row.
    pub(super) fn take(&mut self, row: &Row) {
        match row.standing {
            Standing::Read => self.rows += 1,
            Standing::PerhapsPage => {
                self.rows += 1;
                self.perhaps += 1;
            }
            Standing::Failed => self.failed += 1,
        }
    }
}

/// An export that was stopped before anything was read.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct StoppedExportSummary {
    /// What was to be exported.
    pub(super) export: &'static str,
}

/// What an export came to.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ExportSummary<'a> {
    /// What was exported.
    export: &'static str,
    /// Which records, in words.
    scope: &'a str,
    /// Rows.
    rows: u64,
    /// Records that could not be read.
    failed: u64,
    /// Lists that may be one page of a longer one.
    perhaps_incomplete: u64,
    /// Records that were asked about.
    asked: u64,
    /// How many were to be asked about; `null` where that was not found out.
    of: Option<u64>,
    /// Requests that were sent.
    requests: u64,
    /// How the records were found, a sentence each.
    ways: &'a [String],
    /// What this export cannot know, a sentence each.
    limits: &'a [String],
    /// Why records could not be read, or may be incomplete; the first of them.
    notes: &'a [String],
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<&'a PathBuf>,
}
