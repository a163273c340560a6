//! What `fleetload doctor` looks at in the journal: whether it opens, whose it is, and what is left in it.

use super::doctor::Health;
use crate::cli::context::Context;
use crate::cli::settings::Settings;
use crate::journal::{Journal, Register, Storage, state_folder};
use crate::model::state::JobState;
use crate::term::count;

/// Looks at the journal of the common options and tells what there is.
pub(super) fn check(
    context: &Context<'_>,
    settings: Option<&Settings>,
    tell: &mut dyn FnMut(Health, &str, Option<&str>),
) {
    let path = &context.common.journal;
    if !path.exists() {
        let message = format!("{} does not exist yet; the first import creates it", path.display());
        return tell(Health::Well, &message, None);
    }
    match examined(path, settings) {
        Ok((health, message, hint)) => tell(health, &message, hint),
        Err(error) => tell(Health::Wrong, &error.to_string(), error.next_step()),
    }
}

fn examined(
    path: &std::path::Path,
    settings: Option<&Settings>,
) -> crate::error::Result<(Health, String, Option<&'static str>)> {
    let journal = Journal::open_existing(path)?;
    journal.check_pages()?;
    if let Some(regression) = journal.regression(&Register::open(&state_folder())?)? {
        let message = format!("{} {}", path.display(), regression.words());
        return Ok((Health::Wrong, message, Some("fleetload run stops because of it and says how to go on")));
    }
    if let Storage::Network(name) | Storage::Synced(name) = Storage::of(path) {
        let message = format!("{} is on a network drive or in a synced folder ({name})", path.display());
        return Ok((Health::Wrong, message, Some("keep the journal on a disk of this machine")));
    }
    let tally = journal.tally(None)?;
    let left = tally.count(|state| !state.is_final() && state != JobState::Held);
    let message = format!(
        "{} holds {} rows, {} unfinished, {} on hold",
        path.display(),
        count(tally.total()),
        count(left),
        count(tally.in_state(JobState::Held))
    );
    let bound = journal.account()?;
    let ours = settings.and_then(Settings::identity);
    Ok(match (bound, ours) {
        (Some(bound), Some(ours)) if bound != ours => (
            Health::Wrong,
            format!(
                "{message}; but it belongs to the account {} at {}, not to this profile's",
                bound.client_id, bound.base_url
            ),
            Some("keep one journal for each account: choose another with --journal FILE"),
        ),
        _ => (Health::Well, message, None),
    })
}
