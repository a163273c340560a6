//! The dry run of an import: its rows are placed in a temporary copy of the journal, which is removed afterwards, and the
//! graph of jobs that a run would find then is read from it for the plan.
//!
//! Placing the rows of a large sheet takes long, and whoever does it holds the journal so that nobody else can write to it.
//! A run that is at work meanwhile must not wait for that.

use std::collections::HashMap;
use std::rc::Rc;

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::import::Examined;
use crate::journal::{Disposition, ImportWriter, Journal, Prospect, RunLock, SheetId};
use crate::model::action::Action;
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::model::time::Moment;
use crate::plan::{
    Asks, FORM, JobOrigin, RowDigest, SavedPlan, SheetDigest, Survey, SurveyedJob, settings_of_row,
};

/// A journal in a folder of its own that goes with it.
pub(in crate::cli) struct TempJournal {
    // Closed before its folder is removed.
    pub(in crate::cli) journal: Journal,
    /// Held where a run is at work on the journal that it is a copy of: the same is under way in both.
    _lock: Option<RunLock>,
    _folder: TempDir,
}

impl TempJournal {
    /// Copies a journal as it is now, or begins an empty one where there is none.
    pub(in crate::cli) fn of(live: Option<&Journal>) -> Result<Self> {
        let folder = private_folder().map_err(|error| {
            Error::internal("there is no room for a temporary copy of the journal")
                .because(error)
                .hint("free some space in the folder for temporary files, or name another one in TMPDIR")
        })?;
        let path = folder.path().join("scratch.db");
        let at_work = live.is_some_and(|live| live.is_run_at_work());
        let journal = match live {
            Some(live) => live.snapshot(&path)?,
            None => Journal::open(&path)?,
        };
        let lock = if at_work { journal.lock_for_run()?.ok() } else { None };
        Ok(Self { journal, _lock: lock, _folder: folder })
    }
}

fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("fleetload-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// What a run would find, and what of it a later one is compared with.
pub(in crate::cli) struct Surveyed {
    pub(in crate::cli) survey: Survey,
    /// Still without the numbers that depend on the operations.
    pub(in crate::cli) promise: SavedPlan,
}

/// Surveys an import whose rows are all placed.
pub(in crate::cli) fn survey(
    writer: &ImportWriter<'_>,
    examined: &Examined,
    now: Moment,
) -> Result<Surveyed> {
    let mut survey = Survey::default();
    let mut known = KnownAsks::default();
    let places: HashMap<SheetId, usize> = writer.sheets().zip(0..).collect();
    let mut digests = vec![RowDigest::default(); places.len()];
    writer.prospects(&mut |prospect| {
        if let Some(row) = prospect.row
            && let Some(digest) = places.get(&row.sheet).and_then(|place| digests.get_mut(*place))
        {
            let made_of_it = row.disposition.as_str();
            digest.row(row.number, &prospect.natural_key, prospect.content_hash, made_of_it);
        }
        let origin = match prospect.row {
            Some(row) => JobOrigin::Sheets { changed_since: row.disposition == Disposition::ChangedSince },
            None => JobOrigin::Earlier,
        };
        let job = found(&prospect, origin, &mut known);
        let own = settings_of_row(writer, &prospect)?;
        let is_unchanged = own.map_or(job.is_unchanged, |own| Action::ConfigureVpn(own).is_as_exported());
        survey.add(SurveyedJob { is_unchanged, ..job });
        Ok(())
    })?;
    // Companies above others, up to the top.
    loop {
        let missing = survey.missing();
        if missing.is_empty() {
            break;
        }
        for job in missing {
            survey.add(found(&writer.prospect(job)?, JobOrigin::Referred, &mut known));
        }
    }
    let sheets = examined.sheets.iter().zip(digests).map(|(sheet, digest)| SheetDigest {
        file: sheet.file.clone(),
        name: sheet.name.clone(),
        digest: digest.finish(),
    });
    let ImportId(import) = writer.import();
    let promise = SavedPlan {
        form: FORM,
        at: now,
        files: examined.files().map(|file| (file.name.clone(), file.sha256.clone())).collect(),
        account: None,
        import,
        rows: [].into(),
        operations: [].into(),
        earlier: [].into(),
        unavailable: Vec::new(),
        sheets: sheets.collect(),
    };
    Ok(Surveyed { survey, promise })
}

/// What jobs of a kind ask, by the shape of their step.
type KnownAsks = HashMap<(Kind, i64), Rc<Asks>>;

fn found<'p>(prospect: &'p Prospect, origin: JobOrigin, known: &mut KnownAsks) -> SurveyedJob<'p> {
    let of_steps = || Rc::new(Asks::of(prospect.kind, &*prospect.steps_by_shape));
    let asks = match prospect.shape {
        Some(shape) => Rc::clone(known.entry((prospect.kind, shape)).or_insert_with(of_steps)),
        None => of_steps(),
    };
    let owner = prospect.links.iter().find(|link| matches!(link.role, Role::Parent | Role::Company));
    SurveyedJob {
        job: prospect.job,
        kind: prospect.kind,
        state: prospect.state,
        remote_id: prospect.remote_id,
        name: &prospect.name,
        origin,
        owner: owner.map(|link| link.target),
        unmade: &prospect.unmade,
        is_unchanged: asks.is_unchanged(),
        asks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_is_another_file_for_its_owner_alone_and_goes_with_its_folder() {
        let place = tempfile::tempdir().unwrap();
        let live = Journal::open(&place.path().join("live.db")).unwrap();
        let scratch = TempJournal::of(Some(&live)).unwrap();
        let path = scratch.journal.path().to_owned();
        assert!(path.exists() && path != live.path());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
        drop(scratch);
        assert!(!path.parent().unwrap().exists());
    }
}
