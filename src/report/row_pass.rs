//! Passes the rows of an import to the formats of its reports. The workbooks take as long as all others together and are
//! written on a thread of their own.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::error::{Error, Result};

use super::atomic_write::FileChange;
use super::format::FormatWriter;
use super::layout::Layout;
use super::result_line::ResultLine;

/// Rows that are passed on together.
const PORTION: usize = 256;
/// Portions that wait for the thread of the workbooks: what is in memory does not depend on how many rows there are.
const AHEAD: usize = 4;

/// The formats of a report.
pub(super) struct Formats<'a> {
    /// Those that have a thread of their own; their files come first.
    pub(super) workbooks: Vec<Box<dyn FormatWriter + Send + 'a>>,
    /// The others.
    pub(super) others: Vec<Box<dyn FormatWriter + 'a>>,
}

/// Hands the rows of a sheet to whoever is given, in order.
pub(super) type ReadRows<'r> = &'r dyn Fn(&Layout, &mut dyn FnMut(ResultLine) -> Result<()>) -> Result<()>;

/// A part of what passes by.
enum Portion<'a> {
    /// The rows of this sheet follow.
    Sheet(&'a Layout),
    /// Rows of the sheet.
    Rows(&'a Layout, Vec<ResultLine>),
}

impl Formats<'_> {
    /// Passes the rows of the sheets to every format; their files, in the order of the formats.
    ///
    /// # Errors
    /// That of the rows or of a format; then no other format goes on.
    pub(super) fn write(self, layouts: &[Layout], rows: ReadRows<'_>) -> Result<Vec<FileChange>> {
        let Self { workbooks, mut others } = self;
        thread::scope(|scope| {
            let (portions, received) = sync_channel(AHEAD);
            let worker = thread::Builder::new()
                .name("workbooks".to_owned())
                .spawn_scoped(scope, move || write_portions(workbooks, &received))
                .map_err(|error| Error::internal("cannot start a thread for the workbooks").because(error))?;
            let read = layouts.iter().try_for_each(|layout| pass_sheet(layout, rows, &mut others, &portions));
            drop(portions);
            let written = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            // Where the workbooks ended before the rows, theirs is the error.
            let mut changes = written?;
            read?;
            for format in others {
                format.finish(&mut changes)?;
            }
            Ok(changes)
        })
    }
}

/// Passes the rows of a sheet to the formats, and to the thread of the workbooks.
fn pass_sheet<'a>(
    layout: &'a Layout,
    rows: ReadRows<'_>,
    others: &mut [Box<dyn FormatWriter + '_>],
    workbooks: &SyncSender<Portion<'a>>,
) -> Result<()> {
    let mut waiting = Vec::with_capacity(PORTION);
    let send =
        |portion| workbooks.send(portion).map_err(|_| Error::internal("the workbooks ended before the rows"));
    send(Portion::Sheet(layout))?;
    others.iter_mut().try_for_each(|format| format.begin(layout))?;
    rows(layout, &mut |line| {
        others.iter_mut().try_for_each(|format| format.line(layout, &line))?;
        waiting.push(line);
        if waiting.len() < PORTION {
            return Ok(());
        }
        let portion = std::mem::replace(&mut waiting, Vec::with_capacity(PORTION));
        send(Portion::Rows(layout, portion))
    })?;
    send(Portion::Rows(layout, waiting))
}

/// Writes what is received until nothing more comes; the files.
fn write_portions(
    mut formats: Vec<Box<dyn FormatWriter + Send + '_>>,
    received: &Receiver<Portion<'_>>,
) -> Result<Vec<FileChange>> {
    for portion in received {
        match portion {
            Portion::Sheet(layout) => formats.iter_mut().try_for_each(|format| format.begin(layout))?,
            Portion::Rows(layout, lines) => lines
                .iter()
                .try_for_each(|line| formats.iter_mut().try_for_each(|format| format.line(layout, line)))?,
        }
    }
    let mut changes = Vec::new();
    for format in formats {
        format.finish(&mut changes)?;
    }
    Ok(changes)
}
