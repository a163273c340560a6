//! Pauses a sheet of which the service refuses one row after another for the same reason: the contract has changed, or a
//! column holds the wrong thing throughout. Going on would spend the day's quota on refusals, so that nothing more of
//! the sheet is sent and everything else goes on; a person may have it go on anyway.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::journal::{SheetId, Shelved, Work};
use crate::model::event::Event;
use crate::model::id::{ImportId, JobId};
use crate::model::verdict::Rejection;
use crate::run::OnRejections;
use crate::run::dispatcher::Dispatcher;
use crate::run::ending::{Ending, LeftSheet};

/// Equal rejections in a row that set a sheet aside.
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

/// A sheet set aside.
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

impl PausedSheets {
    pub(in crate::run) fn new(policy: OnRejections) -> Self {
        Self { policy, streaks: HashMap::new(), paused: BTreeMap::new(), despite: HashSet::new() }
    }

    /// Whether nothing of this sheet leaves any more.
    pub(in crate::run) fn is_paused(&self, sheet: SheetId) -> bool {
        self.paused.contains_key(&sheet)
    }

    /// Whether a person has been asked and has not answered yet.
    pub(in crate::run) fn await_answer(&self) -> bool {
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

    /// How many rows of a sheet may be under way at most: as many as would set it aside, were they refused as well.
    pub(in crate::run) fn room(&self, sheet: SheetId) -> Option<usize> {
        self.streaks.get(&sheet).map(|streak| EQUAL.saturating_sub(streak.times).max(1) as usize)
    }

    /// The service did what a row of this sheet asks for.
    fn accepted(&mut self, sheet: SheetId) {
        self.streaks.remove(&sheet);
    }

    /// The service refused a row of this sheet. Whether the sheet is to be set aside now.
    fn rejected(&mut self, sheet: SheetId, rejection: &Rejection, name: &str) -> bool {
        if self.policy == OnRejections::GoOn
            || self.despite.contains(&sheet)
            || self.paused.contains_key(&sheet)
        {
            return false;
        }
        let shape = shape(rejection, name);
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

    /// The sheets set aside, with what was refused.
    fn left(&self) -> Vec<LeftSheet> {
        self.paused
            .iter()
            .map(|(&sheet, paused)| LeftSheet {
                sheet,
                import: paused.import,
                title: paused.title.clone(),
                times: EQUAL,
                code: paused.rejection.code.clone(),
                message: words(&paused.rejection),
                unsent: 0,
            })
            .collect()
    }
}

impl Dispatcher {
    /// The service did what a row asks for, or refused it.
    pub(in crate::run) fn note_verdict(&mut self, job: JobId, rejection: Option<&Rejection>) {
        let Some(SheetOfJob { sheet, name }) = self.sheet_of(job) else { return };
        match rejection {
            None => self.paused_sheets.accepted(sheet),
            Some(rejection) => {
                if self.paused_sheets.rejected(sheet, rejection, &name) {
                    self.pause_sheet(sheet);
                }
            }
        }
    }

    fn sheet_of(&self, job: JobId) -> Option<SheetOfJob> {
        let work = self.in_flight.work(job)?;
        Some(SheetOfJob { sheet: work.sheet, name: work.record.name().to_owned() })
    }

    /// Whether a row belongs to a sheet set aside.
    pub(in crate::run) fn is_sheet_paused(&self, work: &Work) -> bool {
        self.paused_sheets.is_paused(work.sheet)
    }

    /// Drops everything that waits to be sent for a sheet; what is under way goes on.
    fn pause_sheet(&mut self, sheet: SheetId) {
        self.pause_in_journal(sheet);
        for job in self.in_flight.drop_sheet(sheet) {
            self.evidence.lag.forget(job);
        }
    }

    /// The journal has set a sheet aside and says how it is called.
    pub(in crate::run) fn on_sheet_paused(&mut self, sheet: SheetId, shelved: crate::error::Result<Shelved>) {
        let shelved = match shelved {
            Ok(shelved) => shelved,
            Err(error) => return self.fail(error),
        };
        let Some(paused) = self.paused_sheets.paused.get_mut(&sheet) else { return };
        paused.import = shelved.import;
        paused.title = match shelved.worksheet {
            Some(worksheet) => format!("'{worksheet}' of {}", shelved.file),
            None => shelved.file,
        };
        let event = Event::SheetPaused {
            sheet,
            title: paused.title.clone(),
            times: EQUAL,
            code: paused.rejection.code.clone(),
            message: words(&paused.rejection),
            asks: paused.asked,
        };
        self.tell(event);
    }

    /// A person has said that a sheet goes on whatever the service says.
    pub(in crate::run) fn resume_sheet(&mut self, sheet: SheetId) {
        let Some(paused) = self.paused_sheets.paused.remove(&sheet) else { return };
        self.paused_sheets.despite.insert(sheet);
        self.resume_in_journal(sheet);
        // What was asked for before that may come back without the rows of the sheet: ask once more, after it.
        self.version = None;
        self.tell(Event::Note { text: format!("the sheet {} goes on", paused.title) });
    }

    /// A person has said that a sheet stays set aside.
    pub(in crate::run) fn leave(&mut self, sheet: SheetId) {
        let Some(paused) = self.paused_sheets.paused.get_mut(&sheet) else { return };
        paused.asked = false;
        let text = format!("the sheet {} stays paused; everything else goes on", paused.title);
        self.tell(Event::Note { text });
    }

    /// The end of a run in which nothing had to stop: finished, unless sheets were set aside.
    pub(in crate::run) fn finished(&self) -> Ending {
        let sheets = self.paused_sheets.left();
        if sheets.is_empty() { Ending::Finished } else { Ending::SheetsLeft { sheets } }
    }
}

/// What the streaks need to know of a row.
struct SheetOfJob {
    sheet: SheetId,
    name: String,
}

/// What two rejections share that have the same cause: the code and the violated fields; where the service names no
/// fields, its words without whatever differs from row to row.
pub(in crate::run) fn shape(rejection: &Rejection, name: &str) -> String {
    let mut fields: Vec<&str> =
        rejection.violations.iter().map(|violation| violation.path.as_str()).collect();
    fields.sort_unstable();
    fields.dedup();
    let rest = if fields.is_empty() { skeleton(&rejection.message, name) } else { fields.join(" ") };
    format!("{} {rest}", rejection.code)
}

/// A message without the row's name, what stands in quotation marks, and words with digits in them.
fn skeleton(message: &str, name: &str) -> String {
    let message = if name.is_empty() { message.to_owned() } else { message.replace(name, "#") };
    let mut skeleton = Vec::new();
    for (index, part) in
        message.split(['"', '\'', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}']).enumerate()
    {
        if index % 2 == 1 {
            skeleton.push("#");
            continue;
        }
        skeleton.extend(
            part.split_whitespace()
                .map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word }),
        );
    }
    skeleton.join(" ")
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
    fn fifty_equal_rejections_in_a_row_set_the_sheet_aside_once() {
        let each = |_| rejection("invalidData", "a field is missing", &["device.costCentre"]);
        assert_eq!(after(OnRejections::Leave, 200, each), Some(50));
        assert_eq!(after(OnRejections::Ask, 200, each), Some(50));
        assert_eq!(after(OnRejections::GoOn, 200, each), None);
        let mut paused_sheets = PausedSheets::new(OnRejections::Leave);
        let set_aside = (0..200).filter(|_| paused_sheets.rejected(SHEET, &each(0), "x")).count();
        assert_eq!(set_aside, 1);
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
        assert!(paused_sheets.await_answer());
        paused_sheets.nobody_answers();
        assert!(!paused_sheets.await_answer());
        let left = paused_sheets.left();
        assert_eq!(
            (left[0].code.as_str(), left[0].message.as_str()),
            ("invalidData", "device.costCentre: no")
        );
    }
}
