//! The error of the tool itself: what kind, what happened, what to do about it.
//!
//! A row that cannot be created is not an [`Error`]; it is data, kept in the journal and told in the reports.
//! An `Error` ends a command. Its [`ErrorKind`] decides the exit code, and the [`End`] that it names, or that its kind
//! stands for, the reason that programs read.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::advice::Advice;
use crate::ending::End;

/// What went wrong, as far as the exit code and the reader are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// fleetload itself failed: a broken invariant, a full disk under a report.
    Internal,
    /// The command line, the profile or a setting is wrong.
    Usage,
    /// The sheets cannot be used as they are; nothing was imported and nothing sent.
    Sheets,
    /// The journal is locked, damaged, full, not writable, or an older copy.
    Journal,
    /// The service refuses us or cannot be reached.
    Service,
}

/// An error that ends a command: kind, words, the cause below it, and the next thing to do.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    end: End,
    what: String,
    hint: Option<Advice>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of everything that can end a command.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind`; `what` says where and what, as one sentence without a full stop.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, end: kind.into(), what: what.into(), hint: None, cause: None }
    }

    /// The same in other words, by whoever knows what it is about.
    #[must_use]
    pub fn saying(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    /// A broken invariant or an unforeseen failure of fleetload itself.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, what)
    }

    /// A wrong command line, profile or setting.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, what)
    }

    /// Sheets that cannot be used.
    pub fn sheets(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Sheets, what)
    }

    /// A journal that cannot be used.
    pub fn journal(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Journal, what)
    }

    /// A service that refuses us or cannot be reached.
    pub fn service(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Service, what)
    }

    /// Adds what the reader should do or type next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Advice>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another hint.
    #[must_use]
    pub fn map_hint(mut self, map: impl FnOnce(&Advice) -> Advice) -> Self {
        self.hint = self.hint.as_ref().map(map);
        self
    }

    /// Adds the error below this one.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Says more closely how the command ends; the exit code stays that of the kind.
    #[must_use]
    pub fn ending(mut self, end: End) -> Self {
        debug_assert_eq!(end.exit(), Exit::from(self.kind), "{end:?} has another exit code");
        self.end = end;
        self
    }

    /// How the command ends.
    pub fn end(&self) -> End {
        self.end
    }

    /// The kind, for the exit code.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What happened, without cause and hint.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What to do next, when something can be done, as one text.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_ref().map(Advice::as_str)
    }

    /// The same with its commands told apart.
    pub fn advice(&self) -> Option<&Advice> {
        self.hint.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut said = String::new();
        let mut below = self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static));
        while let Some(cause) = below {
            let text = cause.to_string();
            // Some errors say what their cause says as well.
            if said.is_empty() || !text.ends_with(&said) {
                write!(f, ": {text}")?;
            }
            // One of ours has said all that is below it.
            below = if cause.is::<Self>() { None } else { cause.source() };
            said = text;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

/// The exit codes of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Every job done.
    Done = 0,
    /// fleetload itself failed.
    Failed = 1,
    /// Usage, profile or settings wrong.
    Usage = 2,
    /// The sheets have problems; nothing was imported, nothing sent.
    Sheets = 3,
    /// Finished, and some rows were rejected or skipped.
    Rejections = 4,
    /// Stopped with work left that can go on automatically later.
    Parked = 5,
    /// Journal locked, damaged, full, not writable, or an older copy.
    Journal = 6,
    /// The service refuses us or cannot be reached.
    Service = 7,
    /// Finished, but a person must decide: rows are held, a sheet was set aside, or reading back found something.
    Held = 8,
    /// Of a plan that was asked for it: rows would be sent. Away from the codes of runs, so that no script confuses them.
    Changes = 10,
}

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Internal => Self::Failed,
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Sheets => Self::Sheets,
            ErrorKind::Journal => Self::Journal,
            ErrorKind::Service => Self::Service,
        }
    }
}

thread_local! {
    /// Whether a panic of this thread is expected, and told as an error by who expects it.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns, or nothing when it panics: for libraries that panic on a damaged file or a full disk. The words
/// and the trace that a panic leaves on standard error are left out, since the caller tells it as an error. Whatever
/// `work` was about must not be used any further then.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !EXPECTED.get() {
                before(panic);
            }
        }));
    });
    let outer = EXPECTED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    EXPECTED.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_library_is_nothing_and_the_next_call_works() {
        assert_eq!(without_panic(|| 1), Some(1));
        let inner = without_panic(|| {
            assert_eq!(without_panic(|| -> u8 { panic!("a damaged file") }), None);
            assert!(EXPECTED.get(), "the outer call still expects one");
            2
        });
        assert_eq!(inner, Some(2));
        assert!(!EXPECTED.get());
    }

    #[test]
    fn every_kind_has_the_exit_code_that_scripts_rely_on() {
        let table = [
            (ErrorKind::Internal, 1),
            (ErrorKind::Usage, 2),
            (ErrorKind::Sheets, 3),
            (ErrorKind::Journal, 6),
            (ErrorKind::Service, 7),
        ];
        for (kind, code) in table {
            assert_eq!(Exit::from(kind).code(), code, "{kind:?}");
        }
    }

    #[test]
    fn an_error_reads_as_one_sentence_with_its_causes() {
        let below = std::io::Error::other("disk full");
        let error = Error::journal("cannot write fleetload.db").because(below).hint("free some space");
        assert_eq!(error.to_string(), "cannot write fleetload.db: disk full");
        assert_eq!(error.next_step(), Some("free some space"));
    }

    #[test]
    fn a_cause_is_said_once_whoever_says_it_again() {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
        let words = "unable to open database file".to_owned();
        let error = Error::from(rusqlite::Error::SqliteFailure(code, Some(words)));
        let outer = Error::journal("cannot use fleetload.db").because(error);
        assert_eq!(
            outer.to_string(),
            "cannot use fleetload.db: the journal cannot be opened: unable to open database file"
        );
    }
}
