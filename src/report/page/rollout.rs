//! The roll-out on the page: the devices by company and site, and those that are not online, as `rollout` saw them last.

use crate::error::Result;
use crate::journal::Journal;
use crate::model::amount::{count, counted};
use crate::model::id::ImportId;
use crate::model::time::Moment;
use crate::report::page_assets::{When, shown};
use crate::status::rollout::{Rollout, RolloutCounts, RolloutDevice, RolloutGroup, Standing};

/// Companies and sites that are shown.
const GROUPS: usize = 500;
/// Devices that are shown.
const DEVICES: usize = 200;

/// See the module.
pub(super) struct RolloutView {
    /// How many devices are online.
    pub(super) sentence: String,
    /// When that was seen.
    pub(super) at: When,
    /// What else is to be known.
    pub(super) sentences: Vec<String>,
    /// The standings that some device has.
    pub(super) standings: Vec<&'static str>,
    /// Whether a company or site has a time since which all of its devices that are online are.
    pub(super) has_latest: bool,
    pub(super) groups: Vec<GroupLine>,
    pub(super) more_groups: Option<String>,
    /// Those that are not online.
    pub(super) devices: Vec<DeviceLine>,
    pub(super) more_devices: Option<String>,
}

/// A company, or one of its sites.
pub(super) struct GroupLine {
    pub(super) name: String,
    pub(super) is_site: bool,
    pub(super) devices: String,
    /// How many devices have each standing.
    pub(super) numbers: Vec<(&'static str, String)>,
    pub(super) latest: String,
}

/// A device that is not online.
pub(super) struct DeviceLine {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) status: String,
    pub(super) since: String,
    pub(super) remark: String,
}

impl RolloutView {
    /// Reads what the last look showed; `None` where nobody has looked.
    pub(super) fn of(journal: &Journal, import: ImportId) -> Result<Option<Self>> {
        Ok(Rollout::seen_last(journal, import)?.map(|(rollout, at)| laid_out(&rollout, at)))
    }
}

fn laid_out(rollout: &Rollout, at: Moment) -> RolloutView {
    let (counts, groups) = (rollout.counts(), rollout.groups());
    let standings: Vec<Standing> =
        Standing::ALL.iter().copied().filter(|&standing| counts.of(standing) > 0).collect();
    let waited_for = || rollout.devices.iter().filter(|device| device.standing() != Standing::Online);
    let more = |all: usize, most: usize, one: &str, many: &str| {
        let more = all.saturating_sub(most) as u64;
        (more > 0).then(|| {
            format!("And {}: fleetload rollout --out FILE.xlsx writes all.", counted(more, one, many))
        })
    };
    RolloutView {
        sentence: rollout.online_words(),
        at: When::of(at),
        sentences: sentences(rollout, counts),
        standings: standings.iter().map(|standing| standing.words()).collect(),
        has_latest: groups.iter().any(|group| group.latest.is_some()),
        more_groups: more(groups.len(), GROUPS, "more company or site", "more companies and sites"),
        groups: groups.iter().take(GROUPS).map(|group| GroupLine::of(group, &standings)).collect(),
        more_devices: more(waited_for().count(), DEVICES, "more device", "more devices"),
        devices: waited_for().take(DEVICES).map(DeviceLine::of).collect(),
    }
}

/// What else is to be known of the counts.
fn sentences(rollout: &Rollout, counts: RolloutCounts) -> Vec<String> {
    let mut sentences = Vec::new();
    if counts.no_status > 0 {
        sentences.push("No status: the service shows no status for the device.".to_owned());
    }
    if counts.no_record > 0 {
        sentences.push("No record: the row has no record in the service.".to_owned());
    }
    sentences.extend(rollout.not_imported_words().map(|words| words + "."));
    if rollout.has_times() {
        sentences.push("Times of devices are as the service writes them: it gives no time zone.".to_owned());
    }
    sentences
}

impl GroupLine {
    fn of(group: &RolloutGroup, standings: &[Standing]) -> Self {
        Self {
            name: shown(&group.site.as_ref().map_or_else(|| group.company.words(), |site| site.words())),
            is_site: group.site.is_some(),
            devices: count(group.counts.devices),
            numbers: standings
                .iter()
                .map(|&standing| (standing.words(), count(group.counts.of(standing))))
                .collect(),
            latest: group.latest.as_deref().map(shown).unwrap_or_default(),
        }
    }
}

impl DeviceLine {
    fn of(device: &RolloutDevice) -> Self {
        Self {
            name: shown(&device.row.name),
            place: shown(&device.place()),
            status: shown(device.status_words()),
            since: device.status().and_then(|status| status.since.as_deref()).map(shown).unwrap_or_default(),
            remark: shown(&device.remark(&|at| When::of(at).text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{DeviceRow, Place};
    use crate::model::device_status::{DeviceStatus, Shown};
    use crate::model::id::{JobId, RemoteId};
    use crate::model::operation::Operation;
    use crate::model::state::JobState;

    #[test]
    fn the_page_is_bounded_and_counts_what_it_leaves_out() {
        let named = |name: String| Place { id: None, name: Some(name) };
        let device = |number: u32| {
            let status = DeviceStatus { word: "Down\u{202e}".into(), since: None, contact: None };
            RolloutDevice {
                row: DeviceRow {
                    job: JobId(i64::from(number)),
                    sheet: "devices".into(),
                    row: number,
                    name: format!("Till {number}"),
                    mac: None,
                    state: JobState::Created,
                    id: Some(RemoteId::from_u128(u128::from(number))),
                    company: named(format!("Customer {number}")),
                    site: None,
                },
                shown: Some(Shown::Status(status, Operation::GetDeviceOnlineStatus)),
                was_online: None,
            }
        };
        let rollout = Rollout { devices: (1..=3_000).map(device).collect(), not_imported: 2 };
        let view = laid_out(&rollout, Moment::default());
        assert_eq!(view.sentence, "0 of 3,000 devices online");
        assert_eq!((view.groups.len(), view.devices.len()), (GROUPS, DEVICES));
        let more = "And 2,500 more companies and sites: fleetload rollout --out FILE.xlsx writes all.";
        assert_eq!(view.more_groups.as_deref(), Some(more));
        let more = "And 2,800 more devices: fleetload rollout --out FILE.xlsx writes all.";
        assert_eq!(view.more_devices.as_deref(), Some(more));
        assert_eq!(view.standings, ["not online"]);
        assert_eq!(view.sentences, ["2 rows of devices were not imported."]);
        assert_eq!(view.devices[0].status, "Down\\u{202e}");
    }
}
