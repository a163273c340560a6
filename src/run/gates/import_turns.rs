//! The turns of imports: rows of a paused one stay where they are, and rows of one with a higher priority go first. Another
//! command decides that, in the journal; a run at work finds out here what has changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::journal::{ImportTurn, Work};
use crate::model::event::Event;
use crate::model::id::ImportId;
use crate::run::run_action::RunAction;

/// What the run knows of them.
#[derive(Debug, Default)]
pub(in crate::run) struct ImportTurns {
    turns: BTreeMap<ImportId, ImportTurn>,
}

impl ImportTurns {
    pub(in crate::run) fn new(turns: &[ImportTurn]) -> Self {
        Self { turns: turns.iter().map(|turn| (turn.import, *turn)).collect() }
    }

    /// Whether nothing of the import of a row leaves.
    pub(in crate::run) fn is_paused(&self, work: &Work) -> bool {
        self.paused(work.import)
    }

    /// Whether rows of some imports go before those of others.
    pub(in crate::run) fn has_priorities(&self) -> bool {
        !self.priorities().is_empty()
    }

    /// Whether creations of each day are kept for some imports.
    pub(in crate::run) fn has_reserves(&self) -> bool {
        self.turns.values().any(|turn| turn.reserve > 0)
    }

    /// The turns are these now.
    pub(in crate::run) fn on_changed(&mut self, turns: &[ImportTurn]) -> Vec<RunAction> {
        let before = std::mem::replace(self, Self::new(turns));
        let mut actions = Vec::new();
        let known: BTreeSet<ImportId> = self.turns.keys().chain(before.turns.keys()).copied().collect();
        for import in known.into_iter().filter(|import| self.paused(*import) != before.paused(*import)) {
            let text = match self.paused(import) {
                true => {
                    actions.push(RunAction::DropImport(import));
                    format!(
                        "import {import} is paused: its rows wait until it is resumed, requests under way end as usual"
                    )
                }
                false => format!("import {import} is resumed"),
            };
            actions.push(RunAction::Tell(Event::Note { text }));
        }
        if self.priorities() != before.priorities() {
            actions.push(RunAction::QueueAgain);
        }
        actions
    }

    fn paused(&self, import: ImportId) -> bool {
        self.turns.get(&import).is_some_and(|turn| turn.paused_at.is_some())
    }

    fn priorities(&self) -> Vec<(ImportId, i64)> {
        let other = self.turns.values().filter(|turn| turn.priority != 0);
        other.map(|turn| (turn.import, turn.priority)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Moment;

    fn turn(import: i64, is_paused: bool, priority: i64) -> ImportTurn {
        ImportTurn {
            import: ImportId(import),
            paused_at: is_paused.then(Moment::default),
            priority,
            reserve: 0,
        }
    }

    fn words(actions: &[RunAction]) -> Vec<String> {
        let word = |action: &RunAction| match action {
            RunAction::DropImport(import) => format!("drop {import}"),
            RunAction::QueueAgain => "queue again".to_owned(),
            RunAction::Tell(Event::Note { text }) => text.split(':').next().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        };
        actions.iter().map(word).collect()
    }

    #[test]
    fn what_another_command_has_changed_is_reported_once_and_followed() {
        let mut turns = ImportTurns::new(&[]);
        type Step<'a> = (&'a [ImportTurn], &'a [&'a str]);
        let steps: [Step<'_>; 6] = [
            (&[], &[]),
            (&[turn(3, true, 0)], &["drop 3", "import 3 is paused"]),
            (&[turn(3, true, 0)], &[]),
            (&[turn(2, false, 5), turn(3, true, 0)], &["queue again"]),
            (&[turn(2, true, 5)], &["drop 2", "import 2 is paused", "import 3 is resumed"]),
            (&[], &["import 2 is resumed", "queue again"]),
        ];
        for (now, expected) in steps {
            assert_eq!(words(&turns.on_changed(now)), expected, "{now:?}");
        }
    }
}
