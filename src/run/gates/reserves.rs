//! The reserves of imports: creations of each day's quota that are kept for the rows of one import, as long as it has some
//! that could use them. Rows of other imports that create something wait once no more is left than what is kept; where nobody
//! knows how many creations the day has, they wait until the reserves are used.
//!
//! What a reserve may still be used for is counted by the journal every second; what is claimed meanwhile is counted here.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::journal::ImportReserve;
use crate::model::amount::counted;
use crate::model::event::Event;
use crate::model::id::ImportId;
use crate::model::time::Day;
use crate::run::run_action::RunAction;

/// How often the journal is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Reserves {
    imports: BTreeMap<ImportId, Share>,
    /// Creations claimed since the journal was asked, those taken back subtracted.
    since_asked: BTreeMap<ImportId, i64>,
    is_asked: bool,
    /// When the journal is asked next; `None` for at once.
    next: Option<Duration>,
    /// Whether nothing of these imports can be sent by this run, on this day, whatever the journal counts.
    released_on: Option<Day>,
    /// The imports that alone may create something; all where none is named.
    only: Vec<ImportId>,
    /// The day on which it was told that others wait.
    told_on: Option<Day>,
}

/// The reserve of one import.
#[derive(Debug, Clone, Copy)]
struct Share {
    reserve: u64,
    day: Day,
    sent: u64,
    left: u64,
    /// Creations under way that the reserve was used for.
    under_way: u64,
}

impl Share {
    fn kept(&self, day: Day) -> u64 {
        let sent = if day == self.day { self.sent } else { 0 };
        self.reserve.saturating_sub(sent).min(self.left)
    }
}

impl Reserves {
    /// Whether no import has one.
    pub(super) fn is_empty(&self) -> bool {
        self.imports.is_empty() && self.only.is_empty()
    }

    /// Whether the journal is to be asked now; [`Self::on_known`] follows.
    pub(super) fn wants_asking(&mut self, has_reserves: bool, now: Duration) -> bool {
        let due = self.next.is_none_or(|next| now >= next);
        let is_needed = has_reserves || !self.is_empty();
        if self.is_asked || !due || !is_needed {
            return false;
        }
        (self.is_asked, self.next) = (true, Some(now + ASK_EVERY));
        self.since_asked.clear();
        true
    }

    /// The journal knows how the imports with a reserve stand on `day`.
    pub(super) fn on_known(&mut self, day: Day, known: &[ImportReserve]) {
        self.is_asked = false;
        let before = std::mem::take(&mut self.imports);
        for import in known {
            let since = self.since_asked.get(&import.import).copied().unwrap_or_default();
            let sent = match before.get(&import.import) {
                Some(share) if share.day >= day => (share.day, share.sent),
                Some(_) | None => (day, import.sent.saturating_add_signed(since)),
            };
            let share = Share {
                reserve: import.reserve,
                day: sent.0,
                sent: sent.1,
                under_way: before.get(&import.import).map_or(0, |share| share.under_way),
                left: import.left.saturating_add_signed(-since),
            };
            self.imports.insert(import.import, share);
        }
    }

    /// What was known of the day is wrong: it is another one at the service.
    pub(super) fn forget(&mut self) {
        (self.imports, self.next) = (BTreeMap::new(), None);
    }

    /// Something has changed: asks soon.
    pub(super) fn on_changed(&mut self) {
        (self.released_on, self.next) = (None, None);
    }

    /// A creation for a row of this import counts on `day`.
    pub(super) fn on_send(&mut self, import: ImportId, day: Day) {
        self.count(import, day, 1);
    }

    /// A creation for a row of this import that counted on `day` was not executed.
    pub(super) fn on_not_executed(&mut self, import: ImportId, day: Day) {
        self.count(import, day, -1);
        self.on_answer(import);
    }

    /// A creation for a row of this import has come back.
    pub(super) fn on_answer(&mut self, import: ImportId) {
        if let Some(share) = self.imports.get_mut(&import) {
            share.under_way = share.under_way.saturating_sub(1);
        }
    }

    fn count(&mut self, import: ImportId, day: Day, by: i64) {
        if self.is_asked {
            *self.since_asked.entry(import).or_default() += by;
        }
        let Some(share) = self.imports.get_mut(&import) else { return };
        share.left = share.left.saturating_add_signed(-by);
        if day > share.day {
            (share.day, share.sent) = (day, 0);
        }
        if by > 0 && share.sent < share.reserve {
            share.under_way += 1;
        }
        if day == share.day {
            share.sent = share.sent.saturating_add_signed(by);
        }
    }

    /// How many creations of the day are kept, by import.
    fn kept(&self, day: Day) -> impl Iterator<Item = (ImportId, u64)> {
        let is_released = self.released_on == Some(day);
        let kept = self.imports.iter().map(move |(import, share)| (*import, share.kept(day)));
        kept.filter(move |(_, kept)| !is_released && *kept > 0)
    }

    /// Whether no more is left of the day than what is kept: `room` creations, where that is known. What leaves at the same
    /// time as a creation under way may come to the service before it.
    fn are_all_there_is(&self, day: Day, room: Option<u64>) -> bool {
        let kept: u64 = self.kept(day).map(|(_, kept)| kept).sum();
        let is_used = kept == 0 && self.imports.values().all(|share| share.under_way == 0);
        !is_used && room.is_none_or(|room| room <= kept)
    }

    /// Whether a creation for a row of this import waits, as the `room` that is left of the day is kept for others; or until
    /// rows of all imports are in turn again, as its own reserve is used.
    pub(super) fn keeps_back(&self, import: ImportId, day: Day, room: Option<u64>) -> bool {
        (!self.only.is_empty() || self.are_all_there_is(day, room))
            && self.kept(day).all(|(other, _)| other != import)
    }

    /// Which imports alone may create something from now on, when that has changed.
    pub(super) fn news(&mut self, day: Day, room: Option<u64>) -> Vec<RunAction> {
        let only: Vec<ImportId> = match self.are_all_there_is(day, room) {
            true => self.kept(day).map(|(import, _)| import).collect(),
            false => Vec::new(),
        };
        if only == self.only {
            return Vec::new();
        }
        let text = match (only.is_empty(), self.told_on == Some(day)) {
            // Of a day of which nothing is left, nothing is kept for anybody.
            (false, false) if room != Some(0) => {
                self.told_on = Some(day);
                Some(self.words(day, room))
            }
            (true, true) if self.released_on != Some(day) => Some(
                "what was reserved is used, or not needed: rows of all imports are sent again".to_owned(),
            ),
            (_, _) => None,
        };
        self.only.clone_from(&only);
        let told = text.map(|text| RunAction::Tell(Event::Note { text }));
        [RunAction::CreateOnlyFor(only)].into_iter().chain(told).collect()
    }

    fn words(&self, day: Day, room: Option<u64>) -> String {
        let kept = self.kept(day).map(|(import, kept)| {
            let kept = counted(kept.min(room.unwrap_or(kept)), "creation", "creations");
            format!("{kept} for import {import}")
        });
        let kept = kept.collect::<Vec<_>>().join(", ");
        match room {
            Some(_) => format!(
                "the rest of the day's quota is reserved ({kept}): rows of other imports that create records wait"
            ),
            None => format!(
                "the day's quota is not known, so what is reserved comes first ({kept}): rows of other imports that create \
                 records wait until then"
            ),
        }
    }

    /// Keeps nothing for the rest of the day, until something changes.
    pub(super) fn release(&mut self, day: Day) -> Vec<RunAction> {
        self.released_on = Some(day);
        self.only.clear();
        let text =
            "nothing is left that could use what is reserved: rows of all imports are sent again".to_owned();
        vec![RunAction::CreateOnlyFor(Vec::new()), RunAction::Tell(Event::Note { text })]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Day = Day::from_number(20_000);
    const BIG: ImportId = ImportId(1);
    const SMALL: ImportId = ImportId(2);
    const OTHER: ImportId = ImportId(3);

    fn known(import: ImportId, reserve: u64, sent: u64, left: u64) -> ImportReserve {
        ImportReserve { import, reserve, sent, left }
    }

    fn of(known: &[ImportReserve]) -> Reserves {
        let mut reserves = Reserves::default();
        reserves.on_known(DAY, known);
        reserves
    }

    fn words(actions: &[RunAction]) -> Vec<String> {
        let word = |action: &RunAction| match action {
            RunAction::CreateOnlyFor(imports) => format!("only {imports:?}"),
            RunAction::Tell(Event::Note { text }) => {
                text.split([':', ',']).next().unwrap_or_default().to_owned()
            }
            other => format!("{other:?}"),
        };
        actions.iter().map(word).collect()
    }

    #[test]
    fn others_wait_once_no_more_is_left_than_what_is_kept() {
        // What is known of the imports with a reserve, the room of the day, and who waits.
        type Case<'a> = (&'a [ImportReserve], Option<u64>, &'a [ImportId]);
        let cases: [Case<'_>; 11] = [
            (&[], Some(0), &[]),
            (&[known(SMALL, 300, 0, 900)], Some(301), &[]),
            (&[known(SMALL, 300, 0, 900)], Some(300), &[BIG, OTHER]),
            (&[known(SMALL, 300, 120, 900)], Some(181), &[]),
            (&[known(SMALL, 300, 120, 900)], Some(180), &[BIG, OTHER]),
            // It has no more rows than that.
            (&[known(SMALL, 300, 0, 20)], Some(21), &[]),
            (&[known(SMALL, 300, 0, 20)], Some(20), &[BIG, OTHER]),
            (&[known(SMALL, 300, 300, 900)], Some(0), &[]),
            (&[known(SMALL, 300, 0, 0)], Some(0), &[]),
            // Two of them, and one that has used its own.
            (&[known(BIG, 50, 50, 9), known(SMALL, 30, 0, 90), known(OTHER, 20, 0, 9)], Some(39), &[BIG]),
            // Nobody knows how much a day has.
            (&[known(SMALL, 300, 0, 20)], None, &[BIG, OTHER]),
        ];
        for (known, room, expected) in cases {
            let reserves = of(known);
            let waiting: Vec<ImportId> = [BIG, SMALL, OTHER]
                .into_iter()
                .filter(|import| reserves.keeps_back(*import, DAY, room))
                .collect();
            assert_eq!(waiting, expected, "{known:?} {room:?}");
        }
    }

    #[test]
    fn what_is_sent_counts_until_the_day_ends_and_others_follow_when_it_has_come_back() {
        let mut reserves = of(&[known(SMALL, 2, 0, 9)]);
        assert_eq!(
            words(&reserves.news(DAY, Some(2))),
            ["only [ImportId(2)]", "the rest of the day's quota is reserved (2 creations for import 2)"]
        );
        assert!(reserves.news(DAY, Some(2)).is_empty());
        reserves.on_send(SMALL, DAY);
        reserves.on_send(SMALL, DAY);
        assert!(reserves.keeps_back(BIG, DAY, Some(0)), "the service may take another one first");
        assert!(reserves.keeps_back(SMALL, DAY, Some(0)), "it has used its own");
        reserves.on_answer(SMALL);
        // Refused: it is kept again.
        reserves.on_not_executed(SMALL, DAY);
        assert!(reserves.keeps_back(BIG, DAY, Some(1)) && !reserves.keeps_back(SMALL, DAY, Some(1)));
        reserves.on_send(SMALL, DAY);
        reserves.on_answer(SMALL);
        assert_eq!(words(&reserves.news(DAY, Some(0)))[0], "only []");
        assert!(!reserves.keeps_back(BIG, DAY, Some(0)));
        // The next day.
        assert!(reserves.keeps_back(BIG, DAY.next(), Some(2)));
        reserves.on_send(SMALL, DAY.next());
        assert!(
            reserves.keeps_back(BIG, DAY.next(), Some(1)) && !reserves.keeps_back(BIG, DAY.next(), Some(2))
        );
    }

    #[test]
    fn what_is_claimed_while_the_journal_is_asked_is_not_counted_twice_nor_forgotten() {
        let mut reserves = Reserves::default();
        let second = Duration::from_secs(1);
        assert!(!reserves.wants_asking(false, second), "no import has one");
        assert!(reserves.wants_asking(true, second) && !reserves.wants_asking(true, second * 9));
        reserves.on_send(SMALL, DAY);
        // The journal answers as it was before.
        reserves.on_known(DAY, &[known(SMALL, 5, 1, 8)]);
        assert_eq!(reserves.kept(DAY).collect::<Vec<_>>(), [(SMALL, 3)]);
        assert!(!reserves.wants_asking(true, second * 2 - Duration::from_millis(1)));
        assert!(reserves.wants_asking(true, second * 2));
        reserves.on_send(SMALL, DAY);
        reserves.on_known(DAY, &[known(SMALL, 5, 2, 2)]);
        assert_eq!(reserves.kept(DAY).collect::<Vec<_>>(), [(SMALL, 1)], "one row is left");
        reserves.on_known(DAY, &[]);
        assert!(reserves.is_empty());
    }

    #[test]
    fn no_more_is_said_to_be_kept_than_is_left_of_the_day() {
        let mut reserves = of(&[known(SMALL, 5, 0, 9)]);
        assert_eq!(words(&reserves.news(DAY, Some(0))), ["only [ImportId(2)]"]);
        let mut reserves = of(&[known(SMALL, 5, 0, 9)]);
        let told = words(&reserves.news(DAY, Some(2)));
        assert_eq!(told[1], "the rest of the day's quota is reserved (2 creations for import 2)");
    }

    #[test]
    fn nothing_is_kept_for_rows_that_cannot_be_sent_until_something_changes() {
        let mut reserves = of(&[known(SMALL, 2, 0, 9)]);
        reserves.news(DAY, Some(1));
        assert_eq!(words(&reserves.release(DAY))[0], "only []");
        reserves.on_known(DAY, &[known(SMALL, 2, 0, 9)]);
        assert!(!reserves.keeps_back(BIG, DAY, Some(1)) && reserves.news(DAY, Some(1)).is_empty());
        assert!(reserves.keeps_back(BIG, DAY.next(), Some(1)), "the next day");
        reserves.on_changed();
        assert!(reserves.keeps_back(BIG, DAY, Some(1)));
    }
}
