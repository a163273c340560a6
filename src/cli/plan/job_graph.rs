//! The graph of jobs that a run would find after an import that is under way, read from the journal for the plan.

use std::collections::HashMap;

use crate::error::Result;
use crate::import::Examined;
use crate::journal::{Disposition, ImportWriter, Prospect, SheetId};
use crate::model::id::ImportId;
use crate::model::record::Role;
use crate::model::time::Moment;
use crate::plan::{Asks, FORM, Found, Origin, RowDigest, SavedPlan, SheetDigest, Survey};

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
    let places: HashMap<SheetId, usize> = writer.sheets().zip(0..).collect();
    let mut digests = vec![RowDigest::default(); places.len()];
    writer.prospects(&mut |prospect| {
        if let Some(row) = prospect.row
            && let Some(digest) = places.get(&row.sheet).and_then(|place| digests.get_mut(*place))
        {
            let made_of_it = row.disposition.as_str();
            digest.row(row.number, &prospect.natural_key, &prospect.content_hash, made_of_it);
        }
        let origin = match prospect.row {
            Some(row) => Origin::Sheets { changed_since: row.disposition == Disposition::ChangedSince },
            None => Origin::Earlier,
        };
        survey.add(found(&prospect, origin));
        Ok(())
    })?;
    // Companies above others, up to the top.
    loop {
        let missing = survey.missing();
        if missing.is_empty() {
            break;
        }
        for job in missing {
            survey.add(found(&writer.prospect(job)?, Origin::Referred));
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
        unavailable: Vec::new(),
        sheets: sheets.collect(),
    };
    Ok(Surveyed { survey, promise })
}

fn found(prospect: &Prospect, origin: Origin) -> Found<'_> {
    let owner = prospect.links.iter().find(|link| matches!(link.role, Role::Parent | Role::Company));
    Found {
        job: prospect.job,
        kind: prospect.kind,
        state: prospect.state,
        remote_id: prospect.remote_id,
        name: &prospect.name,
        origin,
        owner: owner.map(|link| link.target),
        unmade: &prospect.unmade,
        asks: Asks::of(&prospect.record, prospect.remote_id.is_some(), &prospect.steps),
    }
}
