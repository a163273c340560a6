//! What people decided about jobs, written down and read back: who, when, what, and how it was checked.
//!
//! A decision is written in one transaction with what follows from it, in `operator`.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::row_ref;
use crate::journal::state::job_row::JobRow;
use crate::journal::state::selection::{Selection, is_selected};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::model::state::JobState;
use crate::model::time::{Moment, rfc_3339};

/// A decision about a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Decided {
    /// Who decided.
    pub who: String,
    /// When.
    #[serde(serialize_with = "rfc_3339")]
    #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
    pub at: Moment,
    /// `created`, `not created` or `abandon`.
    pub what: String,
    /// The id that was given for the job's record.
    pub id: Option<RemoteId>,
    /// How it was checked, in words: `checked by getSite: it agrees`, or `not checked`.
    pub check: Option<String>,
    /// Whether it was about something that the row asks of a record, and not about the record's creation.
    #[serde(skip)]
    pub of_step: bool,
}

impl Decided {
    /// What was decided and how it was checked, in words.
    pub fn words(&self) -> String {
        let what = match (self.what.as_str(), self.id) {
            ("created", Some(id)) if self.of_step => format!("carried out on {id}"),
            ("created", Some(id)) => format!("created as {id}"),
            ("not created", _) if self.of_step => "not carried out".to_owned(),
            ("abandon", _) => JobState::Cancelled.to_string(),
            (what, _) => what.to_owned(),
        };
        match &self.check {
            Some(check) => format!("{what}, {check}"),
            None => what,
        }
    }
}

/// What a person found out about a held job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The record exists, with this id. At a step after the creation: the step was carried out on this record.
    Created(RemoteId),
    /// It does not exist: send again.
    NotCreated,
    /// Leave it at that.
    Abandon,
}

/// A decision with the job it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedJob {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The records that an upkeep row is about, by their names or ids.
    pub about: Vec<(Role, String)>,
    /// `file!sheet!row` of the row that named it last.
    pub place: String,
    /// What was decided.
    pub decided: Decided,
}

/// The column `details` of a decision.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::journal) struct Details {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<RemoteId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    check: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    of_step: bool,
}

impl Details {
    /// Of a decision; `of_step` says that it is not about the creation of a record.
    pub(in crate::journal) fn of(decision: Decision, check: Option<&str>, of_step: bool) -> Self {
        let id = match decision {
            Decision::Created(id) => Some(id),
            Decision::NotCreated | Decision::Abandon => None,
        };
        Self { id, check: check.map(str::to_owned), of_step }
    }

    pub(in crate::journal) fn written(&self) -> Result<Option<String>> {
        if self.id.is_none() && self.check.is_none() && !self.of_step {
            return Ok(None);
        }
        serde_json::to_string(self).map(Some).map_err(unwritable)
    }

    fn read(text: Option<&str>) -> Result<Self> {
        let details = text.map(serde_json::from_str).transpose();
        Ok(details.map_err(|error| damaged("the details of a decision", error))?.unwrap_or_default())
    }
}

/// The word a decision is kept under.
pub(in crate::journal) fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Created(_) => "created",
        Decision::NotCreated => "not created",
        Decision::Abandon => "abandon",
    }
}

/// The latest decision about each job that had one.
pub(in crate::journal) fn latest(connection: &Connection) -> Result<HashMap<JobId, Decided>> {
    let mut statement = connection.prepare_cached(
        "SELECT job, at, who, what, details FROM decision
         WHERE job IS NOT NULL AND what IN ('created', 'not created', 'abandon') ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    let mut latest = HashMap::new();
    while let Some(row) = rows.next()? {
        let details = Details::read(row.get::<_, Option<String>>(4)?.as_deref())?;
        let (at, who, what) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let Details { id, check, of_step } = details;
        latest.insert(row.get(0)?, Decided { who, at, what, id, check, of_step });
    }
    Ok(latest)
}

/// The same without those about values that the job no longer has, as an import gave it others since. A record that a person
/// named stays that of the job.
pub(in crate::journal) fn standing(connection: &Connection) -> Result<HashMap<JobId, Decided>> {
    let mut is_revised = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
             JOIN import ON import.id = sheet.import
         WHERE sheet_row.job = ?1 AND sheet_row.disposition = 'revised' AND import.at > ?2)",
    )?;
    let mut standing = HashMap::new();
    for (job, decided) in latest(connection)? {
        let is_overtaken =
            decided.id.is_none() && is_revised.query_row((job, decided.at), |row| row.get(0))?;
        if !is_overtaken {
            standing.insert(job, decided);
        }
    }
    Ok(standing)
}

impl View {
    /// What people decided about the jobs that `selection` means (its code aside), the latest decision of each,
    /// oldest first.
    pub fn decided(&self, selection: &Selection) -> Result<Vec<DecidedJob>> {
        let mut decided = Vec::new();
        for (job, decision) in latest(&self.connection)? {
            if !is_selected(&self.connection, job, selection)? {
                continue;
            }
            let (kind, name) = self
                .connection
                .prepare_cached("SELECT kind, name FROM job WHERE id = ?1")?
                .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let place = row_ref::of_job(&self.connection, job)?;
            let about = row_ref::about(&self.connection, job, kind)?;
            decided.push(DecidedJob { job, kind, name, about, place, decided: decision });
        }
        decided.sort_by_key(|decided| (decided.decided.at, decided.job));
        Ok(decided)
    }
}

/// Whether a person said of all that was sent of a job before its latest request that it was not carried out.
pub(in crate::journal) fn is_ruled_out(connection: &Connection, standing: &JobRow) -> Result<bool> {
    let ruled_out: Option<bool> = connection
        .prepare_cached(
            "SELECT what = 'not created' AND NOT EXISTS (SELECT 1 FROM attempt
                 WHERE job = ?1 AND number < ?2 AND execution IN ('confirmed', 'doubtful') AND sent_at > decision.at)
             FROM decision WHERE job = ?1 AND what IN ('created', 'not created', 'abandon') ORDER BY id DESC LIMIT 1",
        )?
        .query_row((standing.job, standing.attempts), |row| row.get(0))
        .optional()?;
    Ok(ruled_out == Some(true))
}

/// Writes down who decided what.
pub(in crate::journal) fn note(
    connection: &Connection,
    at: Moment,
    who: &str,
    what: &str,
    job: Option<JobId>,
    import: Option<ImportId>,
    details: Option<&str>,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO decision (at, who, what, job, import, details) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((at, who, what, job, import, details))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Write;
    use crate::journal::fixture::*;
    use crate::journal::state::write::Evidence;
    use crate::model::id::ImportId;
    use crate::model::state::JobState::Ready;

    #[test]
    fn a_decision_is_told_in_words_with_how_it_was_checked() {
        let told = |decision, check: Option<&str>, of_step| {
            let Details { id, check, of_step } = Details::of(decision, check, of_step);
            Decided { who: "kim".into(), at: at(9_000), what: word(decision).to_owned(), id, check, of_step }
                .words()
        };
        let decided = |decision, check| told(decision, check, false);
        let found = "checked by getSite: it agrees";
        assert_eq!(
            decided(Decision::Created(id(7)), Some(found)),
            format!("created as {}, checked by getSite: it agrees", id(7))
        );
        assert_eq!(decided(Decision::NotCreated, Some("not checked")), "not created, not checked");
        assert_eq!(decided(Decision::Abandon, None), "cancelled");
        // A licence, a label or another step after the creation.
        let done = told(Decision::Created(id(7)), Some("not checked"), true);
        assert_eq!(done, format!("carried out on {}, not checked", id(7)));
        assert_eq!(told(Decision::NotCreated, None, true), "not carried out");
    }

    #[test]
    fn the_latest_decision_about_a_job_is_read_back() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        let hold = |bench: &mut Bench, job| {
            let (code, reason) = ("absent".to_owned(), "not found".to_owned());
            let evidence = Evidence::at(at(4_000));
            apply(
                &mut bench.journal,
                Write::Hold { job, from: Ready, code, reason, candidates: vec![], evidence },
            )
            .unwrap();
        };
        for (job, when) in [(jobs[0], 5_000), (jobs[1], 6_000), (jobs[0], 7_000)] {
            hold(&mut bench, job);
            let check = format!("checked at {when}");
            bench.journal.resolve(job, Decision::NotCreated, Some(&check), "kim", at(when)).unwrap();
        }
        let decided = bench.journal.decided(&Selection::default()).unwrap();
        let told: Vec<_> = decided.iter().map(|one| (one.job, one.decided.at, one.decided.words())).collect();
        assert_eq!(
            told,
            [
                (jobs[1], at(6_000), "not created, checked at 6000".to_owned()),
                (jobs[0], at(7_000), "not created, checked at 7000".to_owned()),
            ]
        );
        assert_eq!(
            (decided[1].name.as_str(), decided[1].place.as_str()),
            ("Acme", "customers.csv!customers!2")
        );
        let elsewhere = Selection { import: Some(ImportId(2)), ..Selection::default() };
        assert!(bench.journal.decided(&elsewhere).unwrap().is_empty());
    }
}
