//! The time zones that the service lists: asked of it, kept beside the journal, and looked into when sheets are read.
//!
//! It is a copy of what the service said and no more: without it zones are held against the IANA list, which proves less.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cli::atomic_file;
use crate::cli::call::answer::words;
use crate::cli::context::Context;
use crate::cli::settings::profile::Profile;
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::model::zone::ZoneList;
use crate::service::{Call, Client, time_zones};

/// No list is longer: a file that is was not written by us.
const LONGEST: u64 = 4 << 20;
/// The form of the file.
const FORM: u32 = 1;
/// For so long a list is not asked for again by a run.
const FRESH: Duration = Duration::from_hours(24);

/// The list as it is kept.
#[derive(Serialize, Deserialize)]
struct SavedZones {
    form: u32,
    /// The service that was asked.
    base_url: String,
    asked_at: Moment,
    zones: Vec<String>,
}

/// Where the list is kept: beside the journal.
fn file_of(journal: &Path) -> PathBuf {
    atomic_file::beside(journal, ".zones.json")
}

/// The list that is kept, if it is that of the service that environment or profile name.
pub(super) fn of_service(context: &Context<'_>, profile: Option<&Profile>) -> Option<ZoneList> {
    let of_profile = profile.and_then(Profile::base_url);
    let base_url = context.environment.get("FLEETLOAD_BASE_URL").or(of_profile);
    known(&context.common.journal, base_url)
}

/// The list that is kept, if it is that of the service at `base_url`, or if nobody says which service is meant.
fn known(journal: &Path, base_url: Option<&str>) -> Option<ZoneList> {
    let text = atomic_file::read(&file_of(journal), LONGEST).ok()??;
    let kept: SavedZones = serde_json::from_slice(&text).ok()?;
    let same = base_url.is_none_or(|base_url| is_same(base_url, &kept.base_url));
    if kept.form != FORM || !same {
        return None;
    }
    ZoneList::new(kept.zones, kept.asked_at)
}

/// Whether two addresses are of one service.
fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/').eq_ignore_ascii_case(other.trim_end_matches('/'))
}

/// Whether a list is so new that it need not be asked for again.
pub(super) fn is_fresh(list: &ZoneList, now: Moment) -> bool {
    // A list of the future is of another clock.
    list.asked_at() <= now && now.since(list.asked_at()) < FRESH
}

/// Whether the service can be asked at all: its path is documented, mapped or assumed.
pub(super) fn can_be_asked(client: &Client) -> bool {
    client.endpoints().available(Operation::ListTimeZones)
}

/// Asks the service.
///
/// # Errors
///
/// Says in words why there is no list.
pub(super) async fn ask(client: &Client, now: Moment) -> Result<ZoneList, String> {
    let call = Call { operation: Operation::ListTimeZones, parameters: Vec::new(), body: None };
    match client.send(call).await.verdict {
        Verdict::Succeeded(success) => time_zones(&success.body, now),
        other => Err(words(&other)),
    }
}

/// Keeps a list beside the journal.
pub(super) fn keep(context: &Context<'_>, base_url: &str, list: &ZoneList) {
    let file = file_of(&context.common.journal);
    let kept = SavedZones {
        form: FORM,
        base_url: base_url.to_owned(),
        asked_at: list.asked_at(),
        zones: list.ids().to_vec(),
    };
    let written = serde_json::to_vec(&kept)
        .map_err(std::io::Error::from)
        .and_then(|text| atomic_file::put(&file, &text));
    if let Err(error) = written {
        context.terminal.warn(format!(
            "the service's list of time zones cannot be kept in {}, so sheets are checked without it: {error}",
            file.display()
        ));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn put(journal: &Path, text: &str) {
        fs::write(file_of(journal), text).unwrap();
    }

    #[test]
    fn a_list_is_that_of_the_service_that_is_meant_and_anything_else_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("fleetload.db");
        assert_eq!(known(&journal, None), None);
        let good = r#"{"form": 1, "base_url": "https://one.example/", "asked_at": 5, "zones": ["UTC", "Asia/Tokyo"]}"#;
        put(&journal, good);
        let list = known(&journal, None).unwrap();
        assert_eq!(list.ids(), ["Asia/Tokyo", "UTC"]);
        assert_eq!(list.asked_at(), Moment::from_millis(5));
        assert_eq!(known(&journal, Some("https://one.example")), Some(list));
        assert_eq!(known(&journal, Some("https://two.example")), None);
        for other in ["", "{}", "[1]", &good.replace("\"form\": 1", "\"form\": 2"), &good.replace("UTC", "")]
        {
            put(&journal, other);
            assert_eq!(known(&journal, None), None, "{other}");
        }
        fs::remove_file(file_of(&journal)).unwrap();
        fs::create_dir(file_of(&journal)).unwrap();
        assert_eq!(known(&journal, None), None);
    }

    #[test]
    fn a_list_is_fresh_for_a_day() {
        let at = |hours: u64| Moment::default().plus(Duration::from_hours(hours));
        let list = ZoneList::new(vec!["UTC".to_owned()], at(10)).unwrap();
        for (now, fresh) in [(10, true), (33, true), (34, false), (9, false)] {
            assert_eq!(is_fresh(&list, at(now)), fresh, "{now}");
        }
    }
}
