//! A look at every page of a journal: whether what lies on the disk is whole. Beside a run it has a connection and a thread
//! of its own, since a journal of a million rows takes some seconds.

use std::path::Path;
use std::thread;

use rusqlite::{Connection, InterruptHandle, OpenFlags};
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::lineage::identity;
use crate::journal::{JobQueue, Journal};

/// A look at every page that is under way, or has ended. Dropped, it ends early.
pub struct PageCheck {
    found: Option<oneshot::Receiver<Result<()>>>,
    /// `None` where a test says what is found.
    interrupt: Option<InterruptHandle>,
}

impl Journal {
    /// Looks at every page. What is found is an error that says that the journal is damaged, and where.
    pub fn check_pages(&self) -> Result<()> {
        check(&self.view.connection, &self.view.path)
    }

    /// Begins to look at every page while the journal is used. Nothing that changes something at the service may be sent
    /// before the look has ended and says that the journal is whole. Until that is noted, the journal says that it is due,
    /// however the run ends.
    pub fn begin_page_check(&mut self) -> Result<()> {
        identity::note_pages(&self.view.connection, true)?;
        let path = self.view.path.clone();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.pragma_update(None, "trusted_schema", 0)?;
        connection.pragma_update(None, "cell_size_check", 1)?;
        let (tell, found) = oneshot::channel();
        let interrupt = connection.get_interrupt_handle();
        thread::Builder::new()
            .name("page-check".to_owned())
            .spawn(move || {
                failpoint::reach("pages.check-begun");
                // Whoever waited for it may have gone.
                drop(tell.send(check(&connection, &path)));
            })
            .map_err(|error| {
                Error::internal("cannot start the thread that checks the journal").because(error)
            })?;
        self.page_check = Some(PageCheck { found: Some(found), interrupt: Some(interrupt) });
        Ok(())
    }

    /// Begins a look at every page that ends when the test says so, with what the test says.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn begin_page_check_of_test(&mut self) -> Result<oneshot::Sender<Result<()>>> {
        identity::note_pages(&self.view.connection, true)?;
        let (tell, found) = oneshot::channel();
        self.page_check = Some(PageCheck { found: Some(found), interrupt: None });
        Ok(tell)
    }

    /// Takes the look at every page, where one was begun.
    pub(crate) fn take_page_check(&mut self) -> Option<PageCheck> {
        self.page_check.take()
    }

    /// Waits for the end of the look at every page, where one was begun, and says what was found.
    pub fn finish_page_check(&mut self) -> Result<()> {
        let Some(mut check) = self.take_page_check() else { return Ok(()) };
        let found = check.found.take().and_then(|found| found.blocking_recv().ok());
        found.unwrap_or_else(|| Err(ended_early()))?;
        self.queue().note_pages_whole()
    }
}

impl JobQueue<'_> {
    /// Notes that every page was looked at and is whole: the next run need not look.
    pub(crate) fn note_pages_whole(&mut self) -> Result<()> {
        identity::note_pages(&self.journal.view.connection, false)
    }
}

impl PageCheck {
    /// What was found, once every page has been looked at. Not to be asked again after that.
    pub(crate) async fn ended(&mut self) -> Result<()> {
        let found = match &mut self.found {
            Some(found) => found.await.ok(),
            None => None,
        };
        found.unwrap_or_else(|| Err(ended_early()))
    }
}

impl Drop for PageCheck {
    fn drop(&mut self) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.interrupt();
        }
    }
}

impl std::fmt::Debug for PageCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PageCheck")
    }
}

fn ended_early() -> Error {
    Error::internal("the check of the journal ended before its time")
}

/// Looks at every page that a connection reads.
pub(in crate::journal) fn check(connection: &Connection, path: &Path) -> Result<()> {
    let mut found: Vec<String> = Vec::new();
    let mut statement = connection.prepare("PRAGMA quick_check(3)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.push(row.get(0)?);
    }
    if found.iter().all(|line| line == "ok") {
        return Ok(());
    }
    let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    let details = format!("{}: {}", path.display(), found.join("; "));
    Err(rusqlite::Error::SqliteFailure(corrupt, Some(details)).into())
}
