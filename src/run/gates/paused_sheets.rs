//! Pauses a sheet of which the service refuses one row after another for the same reason: the contract has changed, or a
//! column holds the wrong thing throughout. Going on would spend the day's quota on refusals, so that nothing more of
//! the sheet is sent and everything else goes on; a person may have it go on anyway.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::journal::{PausedSheetName, Work};
use crate::model::event::Event;
use crate::model::id::{ImportId, SheetId};
use crate::model::remaining::SheetPause;
use crate::model::verdict::Rejection;
use crate::run::OnRejections;
use crate::run::ending::{Ending, LeftSheet};
use crate::run::rejection_shape::rejection_shape;
use crate::run::run_action::{Inquiry, RunAction};

/// Equal rejections in a row that pause a sheet.
const EQUAL: u32 = 50;

/// What the run knows of refusals, sheet by sheet.
#[derive(Debug)]
pub(in crate::run) struct PausedSheets {
    policy: OnRejections,
    streaks: HashMap<SheetId, Streak>,
    paused: BTreeMap<SheetId, PausedSheet>,
    /// Sheets that go on whatever the service says.
    despite: HashSet<SheetId>,
}

/// Equal rejections in a row.
#[derive(Debug)]
struct Streak {
    shape: String,
    times: u32,
}

/// A sheet that is paused.
#[derive(Debug)]
struct PausedSheet {
    /// The last rejection of the streak.
    rejection: Rejection,
    /// How it is called, and its import; unknown until the journal has said it.
    title: String,
    import: ImportId,
    /// Whether a person has been asked and has not answered yet.
    asked: bool,
}

impl PausedSheet {
    /// The pause of a sheet of which so many rows could be sent.
    fn with_rows(&self, rows: u64) -> SheetPause {
        SheetPause {
            import: self.import,
            title: self.title.clone(),
            times: EQUAL,
            code: self.rejection.code.clone(),
            asked: self.asked,
            rows,
        }
    }
}

impl PausedSheets {
    pub(in crate::run) fn new(policy: OnRejections) -> Self {
        Self { policy, streaks: HashMap::new(), paused: BTreeMap::new(), despite: HashSet::new() }
    }

    /// Whether nothing of this sheet leaves any more.
    pub(in crate::run) fn is_paused(&self, sheet: SheetId) -> bool {
        self.paused.contains_key(&sheet)
    }

    /// Whether a person has been asked and has not answered yet.
    pub(in crate::run) fn awaits_answer(&self) -> bool {
        self.paused.values().any(|paused| paused.asked)
    }

    /// Nobody is there any more to answer.
    pub(in crate::run) fn nobody_answers(&mut self) {
        for paused in self.paused.values_mut() {
            paused.asked = false;
        }
    }

    /// Whether no sheet has had its last row refused.
    pub(in crate::run) fn is_calm(&self) -> bool {
        self.streaks.is_empty()
    }

    /// How many rows of a sheet may be under way at most: as many as would pause it, were they refused as well.
    pub(in crate::run) fn room(&self, sheet: SheetId) -> Option<usize> {
        self.streaks.get(&sheet).map(|streak| EQUAL.saturating_sub(streak.times).max(1) as usize)
    }

    /// The service did what a row asks for, or refused it.
    pub(in crate::run) fn on_verdict(
        &mut self,
        work: &Work,
        rejection: Option<&Rejection>,
    ) -> Vec<RunAction> {
        let sheet = work.sheet;
        match rejection {
            None => self.accepted(sheet),
            Some(rejection) if self.rejected(sheet, rejection, &work.name) => {
                // What is under way goes on.
                return vec![RunAction::AskJournal(Inquiry::PauseSheet(sheet)), RunAction::DropSheet(sheet)];
            }
            Some(_) => {}
        }
        Vec::new()
    }

    /// The journal has paused a sheet and says how it is called.
    pub(in crate::run) fn on_paused(&mut self, sheet: SheetId, named: PausedSheetName) -> Vec<RunAction> {
        let Some(paused) = self.paused.get_mut(&sheet) else { return Vec::new() };
        paused.import = named.import;
        paused.title = match named.worksheet {
            Some(worksheet) => format!("'{worksheet}' of {}", named.file),
            None => named.file,
        };
        vec![RunAction::Tell(Event::SheetPaused {
            sheet,
            title: paused.title.clone(),
            times: EQUAL,
            code: paused.rejection.code.clone(),
            message: words(&paused.rejection),
            asks: paused.asked,
        })]
    }

    /// A person has said that a sheet goes on whatever the service says.
    pub(in crate::run) fn resume(&mut self, sheet: SheetId) -> Vec<RunAction> {
        let Some(paused) = self.paused.remove(&sheet) else { return Vec::new() };
        self.despite.insert(sheet);
        let text = format!("the sheet {} goes on", paused.title);
        vec![RunAction::AskJournal(Inquiry::ResumeSheet(sheet)), RunAction::Tell(Event::Note { text })]
    }

    /// A person has said that a sheet stays paused.
    pub(in crate::run) fn leave(&mut self, sheet: SheetId) -> Vec<RunAction> {
        let Some(paused) = self.paused.get_mut(&sheet) else { return Vec::new() };
        paused.asked = false;
        let text = format!("the sheet {} stays paused; everything else goes on", paused.title);
        vec![RunAction::Tell(Event::Note { text })]
    }

    /// The end of a run in which nothing had to stop: finished, unless sheets were paused.
    pub(in crate::run) fn ending(&self) -> Ending {
        let sheets = self.left();
        if sheets.is_empty() { Ending::Finished } else { Ending::SheetsLeft { sheets } }
    }

    /// The sheets that are paused and of which so many rows could be sent, for whoever asks the journal.
    pub(in crate::run) fn noted(&self, unsent: &BTreeMap<SheetId, u64>) -> Vec<SheetPause> {
        let noted = |(sheet, paused): (&SheetId, &PausedSheet)| {
            Some(paused.with_rows(unsent.get(sheet).copied().filter(|rows| *rows > 0)?))
        };
        // One whose name the journal has not said yet is noted with the next count.
        self.paused.iter().filter(|(_, paused)| !paused.title.is_empty()).filter_map(noted).collect()
    }

    /// The service did what a row of this sheet asks for.
    fn accepted(&mut self, sheet: SheetId) {
        self.streaks.remove(&sheet);
    }

    /// The service refused a row of this sheet. Whether the sheet is paused from now on.
    fn rejected(&mut self, sheet: SheetId, rejection: &Rejection, name: &str) -> bool {
        if self.policy == OnRejections::GoOn
            || self.despite.contains(&sheet)
            || self.paused.contains_key(&sheet)
        {
            return false;
        }
        let shape = rejection_shape(rejection, name);
        let streak = self.streaks.entry(sheet).or_insert_with(|| Streak { shape: String::new(), times: 0 });
        if streak.shape == shape {
            streak.times += 1;
        } else {
            *streak = Streak { shape, times: 1 };
        }
        if streak.times < EQUAL {
            return false;
        }
        self.streaks.remove(&sheet);
        let asked = self.policy == OnRejections::Ask;
        self.paused.insert(
            sheet,
            PausedSheet { rejection: rejection.clone(), title: String::new(), import: ImportId(0), asked },
        );
        true
    }

    /// The sheets that are paused, with what was refused.
    fn left(&self) -> Vec<LeftSheet> {
        self.paused
            .iter()
            .map(|(&sheet, paused)| LeftSheet {
                sheet,
                pause: paused.with_rows(0),
                message: words(&paused.rejection),
            })
            .collect()
    }
}

/// The service's words, with the first violated field where it names one.
fn words(rejection: &Rejection) -> String {
    match rejection.violations.first() {
        Some(violation) => format!("{}: {}", violation.path, violation.message),
        None => rejection.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::Violation;

    const SHEET: SheetId = SheetId(1);
    const OTHER: SheetId = SheetId(2);

    fn rejection(code: &str, message: &str, fields: &[&str]) -> Rejection {
        let violations =
            fields.iter().map(|path| Violation { path: (*path).into(), message: "no".into() }).collect();
        Rejection { code: code.into(), message: message.into(), violations }
    }

    fn after(policy: OnRejections, times: u32, each: impl Fn(u32) -> Rejection) -> Option<u32> {
        let mut paused_sheets = PausedSheets::new(policy);
        (1..=times).find(|&n| paused_sheets.rejected(SHEET, &each(n), &format!("Till {n}")))
    }

    #[test]
    fn fifty_equal_rejections_in_a_row_pause_the_sheet_once() {
        let each = |_| rejection("invalidData", "a field is missing", &["device.costCentre"]);
        assert_eq!(after(OnRejections::Leave, 200, each), Some(50));
        assert_eq!(after(OnRejections::Ask, 200, each), Some(50));
        assert_eq!(after(OnRejections::GoOn, 200, each), None);
        let mut paused_sheets = PausedSheets::new(OnRejections::Leave);
        let pauses = (0..200).filter(|_| paused_sheets.rejected(SHEET, &each(0), "x")).count();
        assert_eq!(pauses, 1);
        assert!(paused_sheets.is_paused(SHEET) && !paused_sheets.is_paused(OTHER));
    }

    #[test]
    fn a_success_or_another_reason_between_them_begins_the_count_anew() {
        let mut paused_sheets = PausedSheets::new(OnRejections::Leave);
        let (one, two) = (rejection("invalidData", "", &["a"]), rejection("invalidData", "", &["b"]));
        for _ in 0..5 {
            for _ in 1..EQUAL {
                assert!(!paused_sheets.rejected(SHEET, &one, "x"));
            }
            paused_sheets.accepted(SHEET);
            for _ in 1..EQUAL {
                assert!(!paused_sheets.rejected(SHEET, &one, "x"));
            }
            assert!(!paused_sheets.rejected(SHEET, &two, "x"));
        }
    }

    #[test]
    fn the_rows_of_another_sheet_do_not_count() {
        let mut paused_sheets = PausedSheets::new(OnRejections::Leave);
        let refused = rejection("invalidState", "not now", &[]);
        for _ in 1..EQUAL {
            assert!(!paused_sheets.rejected(SHEET, &refused, "x"));
            assert!(!paused_sheets.rejected(OTHER, &refused, "x"));
        }
        paused_sheets.accepted(OTHER);
        assert!(paused_sheets.rejected(SHEET, &refused, "x"));
        assert!(!paused_sheets.is_paused(OTHER));
    }

    #[test]
    fn what_differs_from_row_to_row_does_not_hide_that_the_reason_is_the_same() {
        let equal: [fn(u32) -> Rejection; 4] = [
            |n| rejection("generalError", &format!("row {n} cannot be stored"), &[]),
            |n| rejection("generalError", &format!("'Shop {n}, north' is not allowed"), &[]),
            |n| rejection("generalError", &format!("Till {n} is not allowed"), &[]),
            |n| rejection("invalidData", &format!("different words {}", "x".repeat(n as usize)), &["a.b"]),
        ];
        for each in equal {
            assert_eq!(after(OnRejections::Leave, 50, each), Some(50), "{}", each(7).message);
        }
        let different: [fn(u32) -> Rejection; 3] = [
            |n| rejection(if n % 2 == 0 { "invalidData" } else { "invalidState" }, "no", &[]),
            |n| rejection("invalidData", "no", if n % 2 == 0 { &["a"] } else { &["b"] }),
            |n| rejection("generalError", if n % 2 == 0 { "too long" } else { "too short" }, &[]),
        ];
        for each in different {
            assert_eq!(after(OnRejections::Leave, 200, each), None);
        }
    }

    #[test]
    fn the_words_of_the_service_are_kept_for_the_end() {
        let mut paused_sheets = PausedSheets::new(OnRejections::Ask);
        for _ in 0..EQUAL {
            paused_sheets.rejected(SHEET, &rejection("invalidData", "no", &["device.costCentre"]), "x");
        }
        assert!(paused_sheets.awaits_answer());
        paused_sheets.nobody_answers();
        assert!(!paused_sheets.awaits_answer());
        let left = paused_sheets.left();
        assert_eq!(
            (left[0].pause.code.as_str(), left[0].message.as_str()),
            ("invalidData", "device.costCentre: no")
        );
    }
}
