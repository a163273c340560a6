//! The jobs that a command means: of an import, a sheet, a row or a code.

use rusqlite::{Connection, named_params};

use crate::error::Result;
use crate::journal::{View, row_ref};
use crate::model::id::{ImportId, JobId};
use crate::model::state::JobState;

/// The condition of the index of jobs that did not get through, in its words.
macro_rules! refused {
    () => {
        "(job.state = 'rejected' OR job.state = 'incomplete' OR job.state = 'skipped')"
    };
}
pub(in crate::journal) use refused;

/// The condition that a job has a row where a selection looks for one, among those of a table.
macro_rules! has_selected_row {
    ($rows:literal, $job:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM ",
            $rows,
            " AS own JOIN sheet ON sheet.id = own.place >> 32
               WHERE own.job = ",
            $job,
            " AND (:import IS NULL OR sheet.import = :import)
                 AND (:sheet IS NULL OR sheet.name = :sheet)
                 AND (:row IS NULL OR (own.place & 4294967295) = :row))"
        )
    };
}

/// Which jobs are meant; what is `None` restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those with a row in this import.
    pub import: Option<ImportId>,
    /// Those with a row in a sheet of this name.
    pub sheet: Option<String>,
    /// Those with a row of this number.
    pub row: Option<u32>,
    /// Those that were rejected, incomplete or held with this code.
    pub code: Option<String>,
}

impl Selection {
    /// Whether only jobs with certain rows are meant.
    fn is_of_rows(&self) -> bool {
        self.import.is_some() || self.sheet.is_some() || self.row.is_some()
    }
}

impl View {
    /// The jobs in a state that a selection means, oldest first, each with the place of its row.
    pub fn places(&self, state: JobState, selection: &Selection) -> Result<Vec<(JobId, String)>> {
        selected(&self.connection, state, selection)?
            .into_iter()
            .map(|job| Ok((job, row_ref::of_job(&self.connection, job)?)))
            .collect()
    }
}

/// The jobs in a state that a selection means, oldest first.
pub(in crate::journal) fn selected(
    connection: &Connection,
    state: JobState,
    selection: &Selection,
) -> Result<Vec<JobId>> {
    let jobs = jobs_in(state);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id FROM {jobs} AND state = :state AND (:code IS NULL OR code = :code)
           AND (NOT :placed OR {})
         ORDER BY id",
        has_selected_row!("sheet_row", "job.id")
    ))?;
    let jobs = statement
        .query_map(
            named_params! {
                ":state": state,
                ":code": selection.code,
                ":placed": selection.is_of_rows(),
                ":import": selection.import,
                ":sheet": selection.sheet,
                ":row": selection.row,
            },
            |row| row.get(0),
        )?
        .collect::<rusqlite::Result<_>>()?;
    Ok(jobs)
}

/// The jobs in a state, in the words of the index that has the few of it: the others are not looked at. SQLite would walk through
/// all jobs to have them in their order.
fn jobs_in(state: JobState) -> String {
    match state {
        state if state.is_failed() => concat!("job INDEXED BY job_refused WHERE ", refused!()).to_owned(),
        JobState::Blocked
        | JobState::Ready
        | JobState::Deferred
        | JobState::Sending
        | JobState::InDoubt
        | JobState::Held => format!("job INDEXED BY job_{state} WHERE state = '{state}'"),
        _ => format!("job WHERE state = '{state}'"),
    }
}

/// Whether a job has a row where a selection looks for one, one included that was left out and came again.
pub(in crate::journal) fn is_selected(
    connection: &Connection,
    job: JobId,
    selection: &Selection,
) -> Result<bool> {
    if !selection.is_of_rows() {
        return Ok(true);
    }
    let sql = concat!(
        "SELECT ",
        has_selected_row!("sheet_row", ":job"),
        " OR ",
        has_selected_row!("left_out", ":job")
    );
    let selected = connection.prepare_cached(sql)?.query_row(
        named_params! {
            ":job": job, ":import": selection.import, ":sheet": selection.sheet, ":row": selection.row,
        },
        |row| row.get(0),
    )?;
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{bench, plan};
    use crate::model::state::JobState::{
        Blocked, Deferred, Held, InDoubt, Incomplete, Ready, Rejected, Sending, Skipped,
    };

    #[test]
    fn the_few_jobs_of_a_state_are_not_sought_among_all() {
        let bench = bench();
        for state in [Blocked, Ready, Deferred, Sending, InDoubt, Held, Incomplete, Rejected, Skipped] {
            let plan = plan(&bench.journal, &format!("SELECT id FROM {} ORDER BY id", jobs_in(state)));
            assert!(plan[0].contains("INDEX job_"), "{state}: {plan:?}");
        }
    }
}
