//! What to say and to advise about one row: the words of its code, and what to do as the row stands.
//!
//! The words themselves are in [`crate::status::catalogue`]; `Advisor` completes the commands in them. A code that is not listed
//! gets the advice of the state of its row, which is honest about knowing no more.

use std::path::{Path, PathBuf};

use super::next_command::Again;
use super::to_do::Correction;
use crate::advice::Advice;
use crate::journal::Cause;
use crate::model::amount::counted;
use crate::model::descriptor::ActionDescriptor;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::{Kind, Upkeep};
use crate::model::operation::Operation;
use crate::model::reason::{Reason, ServiceCode};
use crate::model::state::JobState;
use crate::sheet::finding::Code;
use crate::status::catalogue::{self, Entry, typed};

/// Advice as one report gives it: its commands are about the same journal, and name the workbook of rows to correct.
#[derive(Debug)]
pub struct Advisor<'a> {
    again: &'a Again,
    fix: Option<PathBuf>,
    /// The later import that answers for its rows, where nothing is left to be corrected.
    answered_by: Option<ImportId>,
}

impl<'a> Advisor<'a> {
    /// `fix` is the workbook of rows to correct, as it is called from where fleetload is typed.
    pub const fn new(again: &'a Again, fix: Option<PathBuf>) -> Self {
        Self { again, fix, answered_by: None }
    }

    /// The same where a later import answers for all rows that did not get through.
    pub fn answered_by(self, import: Option<ImportId>) -> Self {
        Self { answered_by: import, ..self }
    }

    /// Whether there is a workbook of rows to correct.
    pub const fn has_fix(&self) -> bool {
        self.fix.is_some()
    }

    /// How commands are typed.
    pub const fn again(&self) -> &Again {
        self.again
    }

    /// How the rows of the report are corrected.
    pub fn correction(&self) -> Correction {
        let fix = self.fix.clone().unwrap_or_else(|| PathBuf::from("fix.xlsx"));
        Correction { fix, is_there: self.has_fix(), again: self.again.clone() }
    }

    /// The command that imports what was corrected.
    pub fn run_corrected(&self) -> String {
        self.again.with_file("run", self.fix.as_deref().unwrap_or(Path::new("FILE")))
    }

    /// An advice; `in_fix` says whether it is about rows to correct.
    pub fn said(&self, advice: &Advice, in_fix: bool) -> Advice {
        self.again.said(advice, self.fix.as_deref().filter(|_| in_fix))
    }

    /// What to do about rows of an import that a code kept from getting through.
    pub fn of_cause(&self, rows: RowsOfCode<'_>, import: ImportId) -> Advice {
        let advice = of_cause(rows, import);
        match self.answered_by {
            // What advice about rows to correct has in it.
            Some(by) if advice.commands().any(|line| line.starts_with("fleetload run")) => {
                self.said(&of_answered(by), false)
            }
            Some(_) | None => self.said(&advice, true),
        }
    }
}

/// Rows with the same code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsOfCode<'a> {
    /// The code.
    pub code: &'a str,
    /// How many they are.
    pub rows: u64,
    /// Those of them that were rejected with values of an earlier import, while their own were not sent.
    pub unsent: u64,
}

impl<'a> From<&'a Cause> for RowsOfCode<'a> {
    fn from(cause: &'a Cause) -> Self {
        Self { code: &cause.code, rows: cause.count, unsent: cause.unsent }
    }
}

/// What to do about what came again in a later import.
pub fn of_answered(by: ImportId) -> Advice {
    let words = format!("Nothing to do here: import {by} has this row again. To see its result, type: ");
    Advice::from(words).command(typed(&format!("report {by}")))
}

/// What to do about a row that is not sent before its import is resumed.
pub fn of_paused(import: ImportId) -> Advice {
    Advice::from(format!(
        "Nothing to correct. Import {import} is paused, and this row with it. To let it go on, type: "
    ))
    .command(typed(&format!("resume {import}")))
}

/// What to do about a row that waits for one that is not sent before its import is resumed.
pub fn of_waiting_for_paused(import: ImportId) -> Advice {
    Advice::from(format!(
        "Nothing to correct. This row waits for a row of import {import}, which is paused. To let that go on, type: "
    ))
    .command(typed(&format!("resume {import}")))
}

/// What to do about an upkeep row, or an update, that differs.
pub fn of_differing_change() -> Advice {
    Advice::from("Import the row again: the outcome of the earlier one was not known then. Type: ")
        .command(typed("run FILE"))
}

/// What to do about rows that were rejected with values of an earlier import while their own were not sent.
pub fn of_unsent(rows: u64) -> Advice {
    let words = match rows {
        1 => "This row was rejected with its earlier values. To send those that it has now, type: ",
        _ => "These rows were rejected with their earlier values. To send those that they have now, type: ",
    };
    Advice::from("Nothing to correct. ").words(words).command(typed("run FILE"))
}

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowAdvice {
    /// What it means, as one sentence without a full stop.
    pub words: &'static str,
    /// Whose advice it is.
    entry: &'static Entry,
}

/// The advice for a code and the state of its row.
pub fn of(code: Option<&str>, state: JobState) -> RowAdvice {
    let known = code.and_then(catalogue::of_row);
    let general = catalogue::of_state(state);
    match known {
        // What was read back, and in what a row differs, is about a row that is done.
        Some(entry) if is_finding(&entry.code) || entry.code == Reason::RowDiffers.as_str() => {
            RowAdvice::of(&entry.words, entry)
        }
        // Rows that are settled need no advice, whatever happened on the way.
        _ if general.needs_nobody() => RowAdvice::of(&general.words, general),
        // A code may be left from before; what goes on automatically needs no more than that. It does not without the profile.
        Some(entry) if !goes_on(state) || waits_for_profile(entry, state) => {
            RowAdvice::of(&entry.words, entry)
        }
        Some(entry) => RowAdvice::of(&entry.words, general),
        None => RowAdvice::of(&general.words, general),
    }
}

/// What to do about a row that was rejected, or is incomplete; `blamed` says whether a cell of it is to blame. Where none is,
/// the sheet may be right, and what it refers to may have been deleted; where the value of one is, that is corrected.
pub fn of_rejected(
    (code, state): (Option<&str>, JobState),
    blamed: bool,
    (job, import): (JobId, ImportId),
) -> Advice {
    let is_of_value = [ServiceCode::InvalidParam, ServiceCode::InvalidData].map(ServiceCode::as_str);
    match (code, catalogue::of_reference_in_no_cell()) {
        (Some(code), Some(entry)) if !blamed && code == entry.code => {
            RowAdvice::of(&entry.words, entry).next(job, import)
        }
        (Some(code), _) if blamed && is_of_value.contains(&code) => of_left_out(state),
        _ => of(code, state).next(job, import),
    }
}

/// What a code means, whatever the state of its row; `None` for a code that is not known.
pub fn words(code: &str) -> Option<&'static str> {
    catalogue::of_row(code).or_else(|| catalogue::of_sheet(code)).map(|entry| entry.words.as_str())
}

/// Whether rows that were rejected with a code may be sent again as they are, by what is advised about it; not where only a
/// run with an option of its own sends them.
pub(super) fn may_be_retried(code: &str, state: JobState) -> bool {
    let advice = of(Some(code), state).next_for_all(ImportId(0));
    let has = |start: &str| advice.commands().any(|command| command.starts_with(start));
    has("fleetload retry ") && !has("fleetload run --")
}

/// Whether a code is one of reading back, which are about rows that are done.
pub fn is_finding(code: &str) -> bool {
    code.starts_with("audit.")
}

/// What to do about what reading back found of rows of an import; `None` for a code that is none of its.
pub fn of_finding(code: &str, import: ImportId) -> Option<Advice> {
    let entry = catalogue::of_row(code).filter(|entry| is_finding(&entry.code))?;
    Some(entry.advice("JOB", &import.to_string()))
}

impl RowAdvice {
    const fn of(words: &'static str, entry: &'static Entry) -> Self {
        Self { words, entry }
    }

    /// What to do next about a job of an import, in words, with the command to type; empty when nothing is to be done.
    pub fn next(&self, job: JobId, import: ImportId) -> Advice {
        self.entry.advice(&job.to_string(), &import.to_string())
    }

    /// The same for many jobs of an import with the same code.
    pub fn next_for_all(&self, import: ImportId) -> Advice {
        self.entry.advice("JOB", &import.to_string())
    }
}

/// What to do about a row that is on hold at a change of a record: what to look for, and how to decide. `operation` is that
/// of the step whose outcome is unknown.
pub fn of_held_change(kind: Kind, operation: Operation, job: JobId) -> Advice {
    let what = match kind {
        _ if operation == Operation::AddLicenceCode => "the device has the licence code".to_owned(),
        Kind::Upkeep(Upkeep::Labels) => "the label is put or deleted as the row asks for".to_owned(),
        Kind::Upkeep(Upkeep::Metadata) => "the entry is as the row asks for".to_owned(),
        Kind::Upkeep(Upkeep::Licences) => "the device has the licence code".to_owned(),
        Kind::Upkeep(Upkeep::Subscriptions) => {
            "the device is subscribed or unsubscribed as the row asks for".to_owned()
        }
        Kind::Upkeep(Upkeep::SiteAssignments) => "the device is in the site".to_owned(),
        Kind::Upkeep(Upkeep::Vpn) => "the device's place in the VPN cloud is as the row asks for".to_owned(),
        Kind::Upkeep(Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates) => {
            "the record has the values of the row".to_owned()
        }
        // The record is there: a later step of its row is in question.
        Kind::Company | Kind::Site | Kind::Person | Kind::Device => {
            let step = ActionDescriptor::of(operation).map_or(operation.name(), |action| action.words);
            format!("this step of the {} was carried out: {step}", kind.singular())
        }
    };
    // No look-up shows a licence code.
    let unchecked = if operation == Operation::AddLicenceCode { " --unchecked" } else { "" };
    Advice::from(format!("Look in the service whether {what}. If so, type: "))
        .command(typed(&format!("resolve {job} --done{unchecked}")))
        .words(". If certainly not, type: ")
        .command(typed(&format!("resolve {job} --not-done{unchecked}")))
        .words(". To cancel the row, type: ")
        .command(typed(&format!("resolve {job} --abandon")))
}

/// Whether a row waits for a person to map its operation in the profile.
fn waits_for_profile(entry: &Entry, state: JobState) -> bool {
    let is_to_be_sent = matches!(state, JobState::Blocked | JobState::Ready | JobState::Deferred);
    is_to_be_sent && entry.code == Reason::EndpointMissing.as_str()
}

/// Whether the next run goes on with a row by itself.
fn goes_on(state: JobState) -> bool {
    match state {
        JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Sending | JobState::InDoubt => {
            true
        }
        JobState::Held
        | JobState::Created
        | JobState::Adopted
        | JobState::Existing
        | JobState::Done
        | JobState::Rejected
        | JobState::Incomplete
        | JobState::Skipped
        | JobState::Cancelled => false,
    }
}

/// What to do about the rows of an import that a code kept from getting through. Codes of findings in sheets are those
/// of rows that were left out.
fn of_cause(RowsOfCode { code, rows, unsent }: RowsOfCode<'_>, import: ImportId) -> Advice {
    if unsent > 0 && unsent >= rows {
        return of_unsent(rows);
    }
    if unsent > 0 {
        let unsent = counted(unsent, "row", "rows");
        let words =
            format!("Correct the rows in fix.xlsx, except {unsent} whose values were not sent, and type: ");
        return Advice::from(words).command(typed("run FILE"));
    }
    let is_of_sheet = catalogue::of_row(code).is_none() && catalogue::of_sheet(code).is_some();
    match is_of_sheet {
        true if code == Code::RefTargetInvalid.as_str() => of_left_out(JobState::Skipped),
        true => of_left_out(JobState::Rejected),
        false => of(Some(code), JobState::Rejected).next_for_all(import),
    }
}

/// What to do about a row that the import left out.
pub fn of_left_out(state: JobState) -> Advice {
    let words = if state == JobState::Skipped {
        "Nothing to correct in this row. It is in fix.xlsx together with the row that it depends on: correct that one \
         and type: "
    } else {
        "Correct the row in fix.xlsx, and type: "
    };
    Advice::from(words).command(typed("run FILE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unfinished_row_is_told_what_to_do_even_for_an_unknown_code() {
        for &state in JobState::ALL {
            let next = of(Some("brandNewCode"), state).next(JobId(7), ImportId(3)).to_string();
            assert_eq!(next.is_empty(), state.is_success(), "{state}: {next}");
            assert!(!next.contains('{'), "{next}");
        }
    }

    #[test]
    fn a_row_that_waits_for_the_profile_is_told_what_to_set_there() {
        let next = |state| of(Some("endpoint.missing"), state).next(JobId(7), ImportId(3)).to_string();
        for state in [JobState::Ready, JobState::Deferred] {
            assert!(next(state).contains("[profile.NAME.endpoints.OPERATION]"), "{}", next(state));
        }
        assert!(next(JobState::InDoubt).contains("fleetload run"), "{}", next(JobState::InDoubt));
    }

    #[test]
    fn a_held_row_is_decided_by_its_number_and_a_refused_one_retried_by_its_import() {
        let held = of(Some("absent"), JobState::Held).next(JobId(7), ImportId(3)).to_string();
        assert!(held.contains("fleetload resolve 7 --created ID"), "{held}");
        let refused = of(Some("noDataFound"), JobState::Rejected).next(JobId(7), ImportId(3)).to_string();
        assert!(refused.contains("fleetload retry 3 --code noDataFound"), "{refused}");
    }

    #[test]
    fn the_advice_about_a_finding_is_typed_as_it_stands() {
        let codes = catalogue::of_scope(catalogue::Scope::Rows).into_iter().map(|entry| entry.code.as_str());
        let mut findings = 0;
        for advice in codes.filter_map(|code| of_finding(code, ImportId(3))) {
            findings += 1;
            for stands_for in ["JOB", "IMPORT", "{"] {
                assert!(!advice.as_str().contains(stands_for), "{advice}");
            }
        }
        assert!(findings > 3, "{findings}");
    }

    fn of_code(code: &str) -> RowsOfCode<'_> {
        RowsOfCode { code, rows: 3, unsent: 0 }
    }

    #[test]
    fn a_row_of_which_a_cell_is_to_blame_is_corrected_and_not_retried() {
        for code in ["invalidParam", "invalidData", "noDataFound", "generalError"] {
            for (state, blamed) in
                [(JobState::Rejected, true), (JobState::Incomplete, true), (JobState::Rejected, false)]
            {
                let next = of_rejected((Some(code), state), blamed, (JobId(7), ImportId(3)));
                let is_of_value = code.starts_with("invalid");
                assert!(
                    next.as_str().contains("fix.xlsx") && next.as_str().contains("fleetload run FILE"),
                    "{next}"
                );
                assert_eq!(
                    next.as_str().contains("retry"),
                    !(blamed && is_of_value),
                    "{code} {blamed}: {next}"
                );
            }
        }
    }

    #[test]
    fn rows_whose_values_were_not_sent_are_sent_and_never_retried() {
        for (unsent, expected) in [
            (
                3,
                "Nothing to correct. These rows were rejected with their earlier values. To send those that they have now, type: ",
            ),
            (1, "Correct the rows in fix.xlsx, except 1 row whose values were not sent, and type: "),
        ] {
            let told = of_cause(RowsOfCode { unsent, ..of_code("noDataFound") }, ImportId(3));
            assert_eq!(told.as_str(), format!("{expected}fleetload run FILE"));
        }
    }

    #[test]
    fn a_row_that_was_left_out_is_corrected_and_never_retried() {
        // Rows that are unchanged or differ are not left out.
        let left_out = |entry: &&&Entry| catalogue::of_row(&entry.code).is_none();
        for entry in catalogue::of_scope(catalogue::Scope::Sheets).iter().filter(left_out) {
            let next = of_cause(of_code(&entry.code), ImportId(3)).to_string();
            assert!(next.contains("fleetload run") && !next.contains("retry"), "{}: {next}", entry.code);
            assert!(words(&entry.code).is_some(), "{}", entry.code);
        }
        assert!(
            of_cause(of_code("ref.target-invalid"), ImportId(3))
                .to_string()
                .starts_with("Nothing to correct in this row")
        );
        assert!(of_cause(of_code("noDataFound"), ImportId(3)).to_string().contains("fleetload retry 3"));
    }

    #[test]
    fn a_row_that_goes_on_by_itself_is_never_sent_to_a_person() {
        let doubt = of(Some("answer.timeout"), JobState::InDoubt);
        assert_eq!(doubt.words, "the service did not answer in time");
        assert!(!doubt.next(JobId(7), ImportId(3)).to_string().contains("resolve"));
    }
}
