//! The last word of every command: how it ended, as the exit code and as the last JSON object.
//!
//! The ways to end are those of [`crate::ending`]. Every object has `state`, `reason` and `exit_code`; the other fields
//! are those of the command.

use std::path::PathBuf;
use std::process;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{Holder, Whose};
use crate::json_schema::serialize_as_word;
use crate::model::tally::Tally;
use crate::model::time::{Moment, Rfc3339};
use crate::run::AccountHolder;
use crate::status::RunState;
use crate::term::{Object, Terminal};

/// The fields of a command's summary that are its own; [`super::objects`] lists them.
pub(super) trait SummaryFields: Serialize {}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Summary {
    end: End,
    /// `None` for a command whose output is a document.
    object: Option<SummaryObject>,
}

/// The last object of a command.
#[derive(Debug, Serialize)]
struct SummaryObject {
    state: StateWord,
    reason: Option<End>,
    exit_code: u8,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl Object for SummaryObject {
    const NAME: &'static str = "summary";
}

/// One look of a command that looks again and again.
#[derive(Serialize)]
struct LookObject(SummaryObject);

impl Object for LookObject {
    const NAME: &'static str = "look";
}

/// How the work stands: as a command ended, or as the rows that it reports on stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateWord(&'static str);

serialize_as_word!(
    StateWord,
    |state| state.0,
    "StateWord",
    "How the work stands: as the command ended, or as the rows stand that it reports on.",
    (crate::ending::State::ALL.iter().map(|state| state.as_str()))
        .chain([RunState::Empty.word(), RunState::Running.word()])
        .map(StateWord)
        .collect::<Vec<_>>()
);

impl Summary {
    /// A command that ended like this.
    pub(super) fn new(end: End) -> Self {
        let state = StateWord(end.state().as_str());
        let object =
            SummaryObject { state, reason: Some(end), exit_code: end.exit().code(), fields: Map::new() };
        Self { end, object: Some(object) }
    }

    /// A command that printed a document, such as a completion script: no object follows it.
    pub(super) fn of_document() -> Self {
        Self { end: End::Done, object: None }
    }

    /// A command that ended with this error.
    pub(super) fn of_error(error: &Error) -> Self {
        Self::new(error.end())
    }

    /// With the fields that are the command's own.
    pub(super) fn with(mut self, fields: &impl SummaryFields) -> Self {
        // They are plain values, which always have a form in JSON.
        if let (Some(object), Ok(Value::Object(fields))) = (&mut self.object, serde_json::to_value(fields)) {
            object.fields.extend(fields);
        }
        self
    }

    /// With `state` and `reason` of what the command reports on.
    pub(super) fn about(mut self, state: RunState) -> Self {
        if let Some(object) = &mut self.object {
            (object.state, object.reason) = (StateWord(state.word()), state.end());
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
                object.fields.entry(name).or_insert(value);
            }
        }
        self
    }

    /// With how many rows of the journal are in each state, unless it says so already. A journal that cannot be read
    /// is not counted.
    pub(super) fn counting(mut self, rows: impl FnOnce() -> Result<Tally>) -> Self {
        if let Some(object) = self.object.as_mut().filter(|object| !object.fields.contains_key("counts"))
            && let Ok(tally) = rows()
        {
            let counts = tally.by_state().into_iter().map(|(state, rows)| (state.to_string(), rows.into()));
            object.fields.insert("counts".to_owned(), Value::Object(counts.collect()));
        }
        self
    }

    /// Says when and how a run ended in a line of its own where nobody watches: a log of many nights is told apart by it.
    /// After a command that asked another run to try again, no run has ended.
    pub(super) fn date(&self, terminal: &Terminal, now: Moment) {
        let Some(object) = &self.object else { return };
        if let Some(reason) = object.reason.filter(|reason| *reason == self.end) {
            let (state, code) = (object.state.0, self.end.exit().code());
            let words = format!("run ended: {state} ({}), exit code {code}", reason.as_str());
            terminal.log(if terminal.dates_lines() { words } else { format!("{now} {words}") });
        }
    }

    /// Prints the object and gives the exit code.
    pub(super) fn tell(&self, terminal: &Terminal) -> Exit {
        if let Some(object) = &self.object {
            terminal.object(object);
        }
        self.end.exit()
    }

    /// Prints the object as one look of a command that goes on.
    pub(super) fn tell_look(self, terminal: &Terminal) {
        if let Some(object) = self.object {
            terminal.object(&LookObject(object));
        }
    }

    /// How it ended.
    pub(super) const fn end(&self) -> End {
        self.end
    }
}

/// How long last words may take: the terminal may be what is stuck.
const TELLING: Duration = Duration::from_secs(2);

/// Ends the process from a thread beside the command, even if telling why gets stuck. What `tell` says are the last words.
pub(super) fn end_process(end: End, terminal: Terminal, tell: impl FnOnce(&Terminal) + Send + 'static) -> ! {
    let (done, ended) = channel();
    let telling = thread::Builder::new().name("last words".to_owned()).spawn(move || {
        tell(&terminal.for_last_words());
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

/// The summary of a command that ended because another process is at work.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct HeldBySummary {
    pub(super) held_by: HeldBy,
}

/// The process that holds a lock. What is not known is `null`.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct HeldBy {
    /// The number of the process.
    pid: Option<u32>,
    /// Since when it holds the lock.
    since: Option<Rfc3339>,
    /// The journal that it works on, of the lock of an account.
    journal: Option<PathBuf>,
}

impl From<Holder> for HeldBySummary {
    fn from(Holder { pid, since, .. }: Holder) -> Self {
        Self { held_by: HeldBy { pid, since: since.map(Rfc3339), journal: None } }
    }
}

impl From<&AccountHolder> for HeldBySummary {
    fn from(AccountHolder { pid, since, journal, .. }: &AccountHolder) -> Self {
        let journal = journal.clone();
        Self { held_by: HeldBy { pid: *pid, since: since.map(Rfc3339), journal } }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::term::{Manner, testing::terminal};

    #[derive(Serialize)]
    struct Fields {
        import: u32,
        counts: BTreeMap<&'static str, u64>,
    }

    impl SummaryFields for Fields {}

    fn told(summary: &Summary) -> (Exit, String) {
        let (terminal, results, _) = terminal(Manner { json: true, ..Manner::default() });
        let exit = summary.tell(&terminal);
        (exit, results.text())
    }

    #[test]
    fn every_end_is_told_with_its_state_reason_and_exit_code() {
        let fields = Fields { import: 3, counts: BTreeMap::new() };
        let (exit, text) = told(&Summary::new(End::AnotherRun).with(&fields));
        assert_eq!(exit, Exit::Parked);
        assert_eq!(
            text.replace(env!("CARGO_PKG_VERSION"), "0.0.0"),
            "{\"object\":\"summary\",\"state\":\"stopped\",\"reason\":\"another-run\",\"exit_code\":5,\"import\":3,\
             \"counts\":{},\"schema\":1,\"version\":\"0.0.0\"}\n"
        );
        assert_eq!(told(&Summary::of_document()), (Exit::Done, String::new()));
    }

    #[test]
    fn counts_of_the_command_itself_are_left_as_they_are() {
        let fields = Fields { import: 3, counts: [("created", 2)].into() };
        let told = told(&Summary::new(End::Done).with(&fields).counting(|| {
            unreachable!("the journal need not be asked");
        }));
        assert!(told.1.contains("\"counts\":{\"created\":2}"), "{}", told.1);
    }
}
