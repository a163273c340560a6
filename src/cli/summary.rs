//! The last word of every command: how it ended, as the exit code and as the last JSON object.
//!
//! The ways to end are those of [`crate::ending`]. Every object has `state`, `reason` and `exit_code`; the other fields
//! are those of the command.

use std::process;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::status::counts;
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{Holder, Journal, Whose};
use crate::model::time::Moment;
use crate::run::AccountHolder;
use crate::term::Terminal;

/// How a command ended.
#[derive(Debug)]
pub(super) struct Summary {
    end: End,
    /// `None` for a command whose output is a document.
    object: Option<Map<String, Value>>,
}

impl Summary {
    /// A command that ended like this.
    pub(super) fn new(end: End) -> Self {
        let object = json!({
            "object": "summary", "state": end.state().as_str(), "reason": end.as_str(), "exit_code": end.exit().code(),
        });
        Self { end, object: object.as_object().cloned() }
    }

    /// A command that printed a document, such as a completion script: no object follows it.
    pub(super) fn of_document() -> Self {
        Self { end: End::Done, object: None }
    }

    /// A command that ended with this error.
    pub(super) fn of_error(error: &Error) -> Self {
        Self::new(error.end())
    }

    /// With one more field; `state` and `reason` may be those of what the command reports on.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        if let Some(object) = &mut self.object {
            // A field of ours is a plain value, which always has a form in JSON.
            object.insert(name.to_owned(), serde_json::to_value(value).unwrap_or(Value::Null));
        }
        self
    }

    /// With the fields of an object.
    pub(super) fn with_all(mut self, fields: Value) -> Self {
        if let (Some(object), Value::Object(fields)) = (&mut self.object, fields) {
            object.extend(fields);
        }
        self
    }

    /// With whose records the command speaks of, unless it says so already.
    pub(super) fn of_account(mut self, whose: &Whose, rehearsing: bool) -> Self {
        if let Some(object) = &mut self.object {
            let mut fields = whose.fields();
            // What was typed as a rehearsal is one, whatever it came to.
            if rehearsing {
                fields.insert("rehearsal".to_owned(), true.into());
            }
            for (name, value) in fields {
                object.entry(name).or_insert(value);
            }
        }
        self
    }

    /// With how many rows of the journal are in each state, unless it says so already. A journal that cannot be read
    /// is not counted.
    pub(super) fn counting(self, journal: impl FnOnce() -> Result<Journal>) -> Self {
        if self.object.as_ref().is_none_or(|object| object.contains_key("counts")) {
            return self;
        }
        match journal().and_then(|journal| journal.tally(None)) {
            Ok(tally) => self.with("counts", counts::object(&tally)),
            Err(_told_already) => self,
        }
    }

    /// Says when and how a run ended in a line of its own where nobody watches: a log of many nights is told apart by it.
    pub(super) fn date(&self, terminal: &Terminal, now: Moment) {
        let word = |name: &str| {
            self.object.as_ref().and_then(|object| object.get(name)?.as_str().map(str::to_owned))
        };
        if let (Some(state), Some(reason)) = (word("state"), word("reason")) {
            let words = format!("run ended: {state} ({reason}), exit code {}", self.end.exit().code());
            terminal.log(if terminal.dates_lines() { words } else { format!("{now} {words}") });
        }
    }

    /// Prints the object and gives the exit code.
    pub(super) fn tell(self, terminal: &Terminal) -> Exit {
        if let Some(object) = &self.object {
            terminal.object(object);
        }
        self.end.exit()
    }

    /// How it ended.
    pub(super) const fn end(&self) -> End {
        self.end
    }
}

/// How long last words may take: the terminal may be what is stuck.
const TELLING: Duration = Duration::from_secs(2);

/// Ends the process from a thread beside the command, even if telling why gets stuck.
pub(super) fn end_process(end: End, tell: impl FnOnce() + Send + 'static) -> ! {
    let (done, ended) = channel();
    let telling = thread::Builder::new().name("last words".to_owned()).spawn(move || {
        tell();
        // Whoever waits for it may have given up.
        let _gone = done.send(());
    });
    if telling.is_ok() {
        let _told_or_not = ended.recv_timeout(TELLING);
    }
    #[expect(
        clippy::exit,
        reason = "a command that is stuck, or is to end at once, gives nothing back to return from"
    )]
    process::exit(end.exit().code().into());
}

/// Who holds the lock of a journal, for programs.
pub(super) fn held_by_run(holder: Holder) -> Value {
    held_by(holder.pid, holder.since, None)
}

/// Who holds the lock of an account, for programs.
pub(super) fn held_by_account(holder: &AccountHolder) -> Value {
    held_by(holder.pid, holder.since, holder.journal.as_deref())
}

/// What is not known is `null`.
fn held_by(pid: Option<u32>, since: Option<Moment>, journal: Option<&std::path::Path>) -> Value {
    json!({"pid": pid, "since": since.map(|since| since.to_string()), "journal": journal})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Manner, testing::terminal};

    fn told(summary: Summary) -> (Exit, String) {
        let (terminal, results, _) = terminal(Manner { json: true, ..Manner::default() });
        let exit = summary.tell(&terminal);
        (exit, results.text())
    }

    #[test]
    fn every_end_is_told_with_its_state_reason_and_exit_code() {
        let (exit, text) = told(Summary::new(End::AnotherRun).with("import", 3));
        assert_eq!(exit, Exit::Parked);
        assert_eq!(
            text.replace(env!("CARGO_PKG_VERSION"), "0.0.0"),
            "{\"object\":\"summary\",\"state\":\"stopped\",\"reason\":\"another-run\",\"exit_code\":5,\"import\":3,\
             \"schema\":1,\"version\":\"0.0.0\"}\n"
        );
        assert_eq!(told(Summary::of_document()), (Exit::Done, String::new()));
    }

    #[test]
    fn counts_of_the_command_itself_are_left_as_they_are() {
        let told = told(Summary::new(End::Done).with("counts", json!({"created": 2})).counting(|| {
            unreachable!("the journal need not be asked");
        }));
        assert!(told.1.contains("\"counts\":{\"created\":2}"), "{}", told.1);
    }
}
