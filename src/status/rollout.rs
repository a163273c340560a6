//! The roll-out of an import: which of its devices are online, counted by company and site.
//!
//! Nothing here says that a device was never online: a look shows one moment.

use std::collections::HashMap;

use serde::Serialize;

use crate::ending::End;
use crate::error::Result;
use crate::journal::{DeviceRow, Journal, Place};
use crate::model::amount::{count, counted};
use crate::model::device_status::{DeviceStatus, Shown};
use crate::model::id::ImportId;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::words::words;

words! {
    /// How far a device has come.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Standing: words {
        /// The service says that it is online.
        Online = "online",
        /// The service gives another status.
        NotOnline = "not online",
        /// The service gives no status.
        NoStatus = "no status",
        /// The look did not show it.
        Unknown = "unknown",
        /// No record of it exists.
        NoRecord = "no record",
    }
}

/// A device of the import, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolloutDevice {
    /// What its row says.
    pub row: DeviceRow,
    /// What the last look showed; `None` where there is no record to ask for.
    pub shown: Option<Shown>,
    /// When a look saw it online last, where it no longer is.
    pub was_online: Option<Moment>,
}

impl RolloutDevice {
    /// How far it has come.
    pub fn standing(&self) -> Standing {
        match &self.shown {
            Some(Shown::Status(status, _)) if status.is_online() => Standing::Online,
            Some(Shown::Status(_, _)) => Standing::NotOnline,
            Some(Shown::Nothing(_)) => Standing::NoStatus,
            Some(Shown::Unknown(_)) => Standing::Unknown,
            None => Standing::NoRecord,
        }
    }

    /// The status that the service gave.
    pub fn status(&self) -> Option<&DeviceStatus> {
        match &self.shown {
            Some(Shown::Status(status, _)) => Some(status),
            Some(Shown::Nothing(_) | Shown::Unknown(_)) | None => None,
        }
    }

    /// The status as the service writes it, else how far it has come.
    pub fn status_words(&self) -> &str {
        self.status().map_or(self.standing().words(), |status| &status.word)
    }

    /// Its company and its site, in words.
    pub fn place(&self) -> String {
        match &self.row.site {
            Some(site) => format!("{}, {}", self.row.company.words(), site.words()),
            None => self.row.company.words(),
        }
    }

    /// The operation that showed it.
    pub fn shown_by(&self) -> Option<Operation> {
        match &self.shown {
            Some(Shown::Status(_, operation) | Shown::Nothing(operation)) => Some(*operation),
            Some(Shown::Unknown(_)) | None => None,
        }
    }

    /// What is to be said besides.
    pub fn remark(&self, written: &dyn Fn(Moment) -> String) -> String {
        let mut remarks = Vec::new();
        match &self.shown {
            Some(Shown::Unknown(why)) => remarks.push(why.clone()),
            Some(Shown::Status(_, _) | Shown::Nothing(_)) => {}
            None => remarks.push(format!("its row is {}", self.row.state)),
        }
        if let Some(at) = self.was_online {
            remarks.push(format!("was online at {}", written(at)));
        }
        remarks.join("; ")
    }
}

/// How many devices have come how far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RolloutCounts {
    /// All of them.
    pub devices: u64,
    /// Those that the service shows as online.
    pub online: u64,
    /// Those with another status.
    pub not_online: u64,
    /// Those of which the service gives no status.
    pub no_status: u64,
    /// Those of which the look got no usable answer.
    pub unknown: u64,
    /// Those without a record in the service.
    pub no_record: u64,
}

impl RolloutCounts {
    fn of_devices<'a>(devices: impl IntoIterator<Item = &'a RolloutDevice>) -> Self {
        let mut counts = Self::default();
        for device in devices {
            counts.add(device.standing());
        }
        counts
    }

    fn add(&mut self, standing: Standing) {
        self.devices += 1;
        *match standing {
            Standing::Online => &mut self.online,
            Standing::NotOnline => &mut self.not_online,
            Standing::NoStatus => &mut self.no_status,
            Standing::Unknown => &mut self.unknown,
            Standing::NoRecord => &mut self.no_record,
        } += 1;
    }

    /// How many have come so far.
    pub fn of(&self, standing: Standing) -> u64 {
        match standing {
            Standing::Online => self.online,
            Standing::NotOnline => self.not_online,
            Standing::NoStatus => self.no_status,
            Standing::Unknown => self.unknown,
            Standing::NoRecord => self.no_record,
        }
    }
}

/// The devices of a company, or of one of its sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolloutGroup {
    /// The company.
    pub company: Place,
    /// The site; `None` for the company as a whole.
    pub site: Option<SiteOfGroup>,
    /// Its devices.
    pub counts: RolloutCounts,
    /// Since when the last of them is online, as the service wrote it; `None` where the times differ in form.
    pub latest: Option<String>,
}

/// A site among those of a company.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SiteOfGroup {
    /// This one.
    Site(Place),
    /// Devices whose rows name no site.
    None,
}

impl SiteOfGroup {
    /// Its name.
    pub fn words(&self) -> String {
        match self {
            Self::Site(site) => site.words(),
            Self::None => "(no site)".to_owned(),
        }
    }
}

/// The devices of an import as a look showed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rollout {
    /// The devices, in the order of their rows.
    pub devices: Vec<RolloutDevice>,
    /// Rows of devices that were not imported.
    pub not_imported: u64,
}

/// What is said of a device whose record is newer than the last look.
const NOT_LOOKED_AT: &str = "its record is newer than the last look";

/// The devices of an import as the journal has them now, and how many of their rows were not imported.
///
/// # Errors
/// When the journal cannot be read.
pub fn device_rows(journal: &Journal, import: ImportId) -> Result<(Vec<DeviceRow>, u64)> {
    Ok((journal.devices(import)?, journal.devices_left_out(import)?))
}

impl Rollout {
    /// The devices of an import as the last look showed them, and when that was; `None` where nobody has looked.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn seen_last(journal: &Journal, import: ImportId) -> Result<Option<(Self, Moment)>> {
        let Some(mut look) = journal.device_look(import)? else { return Ok(None) };
        let (rows, not_imported) = device_rows(journal, import)?;
        let devices = rows.into_iter().map(|row| {
            let seen = look.devices.remove(&row.job);
            let (shown, was_online) = seen.map_or((None, None), |seen| (seen.shown, seen.was_online));
            let is_newer = shown.is_none() && row.id.is_some();
            let shown = shown.or(is_newer.then(|| Shown::Unknown(NOT_LOOKED_AT.to_owned())));
            RolloutDevice { row, shown, was_online }
        });
        Ok(Some((Self { devices: devices.collect(), not_imported }, look.at)))
    }

    /// How many of the devices with a record are online, in words.
    pub fn online_words(&self) -> String {
        let counts = self.counts();
        let with_record = counted(counts.devices - counts.no_record, "device", "devices");
        format!("{} of {with_record} online", count(counts.online))
    }

    /// How many rows of devices were not imported, in words; `None` where all were.
    pub fn not_imported_words(&self) -> Option<String> {
        let rows = counted(self.not_imported, "row of a device was", "rows of devices were");
        (self.not_imported > 0).then(|| format!("{rows} not imported"))
    }

    /// Whether the service gave a time with some status.
    pub fn has_times(&self) -> bool {
        self.devices.iter().any(|device| device.status().is_some_and(|status| status.since.is_some()))
    }

    /// All devices counted.
    pub fn counts(&self) -> RolloutCounts {
        RolloutCounts::of_devices(&self.devices)
    }

    /// The devices of each company, and behind it of each of its sites, in the order of the rows. A company whose devices
    /// have no site has no line for that.
    pub fn groups(&self) -> Vec<RolloutGroup> {
        struct Of<'a> {
            company: &'a Place,
            devices: Vec<&'a RolloutDevice>,
            sites: Vec<(SiteOfGroup, Vec<&'a RolloutDevice>)>,
            places: HashMap<SiteOfGroup, usize>,
        }
        let mut companies: Vec<Of<'_>> = Vec::new();
        let mut places: HashMap<&Place, usize> = HashMap::new();
        for device in &self.devices {
            let company = *places.entry(&device.row.company).or_insert_with(|| {
                let company = &device.row.company;
                let (devices, sites) = (Vec::new(), Vec::new());
                companies.push(Of { company, devices, sites, places: HashMap::new() });
                companies.len() - 1
            });
            let company = &mut companies[company];
            company.devices.push(device);
            let site = device.row.site.clone().map_or(SiteOfGroup::None, SiteOfGroup::Site);
            let place = *company.places.entry(site.clone()).or_insert_with(|| {
                company.sites.push((site, Vec::new()));
                company.sites.len() - 1
            });
            company.sites[place].1.push(device);
        }
        let groups = companies.into_iter().flat_map(|of| {
            let group = |site, devices: Vec<&RolloutDevice>| {
                let (counts, latest) = (RolloutCounts::of_devices(devices.iter().copied()), latest(&devices));
                RolloutGroup { company: of.company.clone(), site, counts, latest }
            };
            let only_none = of.sites.len() == 1 && of.sites[0].0 == SiteOfGroup::None;
            let sites = of.sites.into_iter().filter(|_| !only_none);
            let sites: Vec<_> = sites.map(|(site, devices)| group(Some(site), devices)).collect();
            std::iter::once(group(None, of.devices)).chain(sites).collect::<Vec<_>>()
        });
        groups.collect()
    }

    /// The words of other statuses than online, as the service wrote them, and how many devices have each.
    pub fn other_words(&self) -> Vec<(String, u64)> {
        let mut words: Vec<(String, u64)> = Vec::new();
        for status in self.devices.iter().filter_map(RolloutDevice::status) {
            if status.is_online() {
                continue;
            }
            match words.iter_mut().find(|(word, _)| *word == status.word) {
                Some((_, count)) => *count += 1,
                None => words.push((status.word.clone(), 1)),
            }
        }
        words
    }

    /// How the states of rows without a record are spread.
    pub fn states_without_record(&self) -> Vec<(JobState, u64)> {
        let without = || self.devices.iter().filter(|device| device.standing() == Standing::NoRecord);
        let count = |state| without().filter(|device| device.row.state == state).count() as u64;
        JobState::ALL.iter().map(|&state| (state, count(state))).filter(|(_, count)| *count > 0).collect()
    }

    /// How a command that shows it ends: done when every device that exists is online and no row will still make one.
    pub fn end(&self) -> End {
        if self.counts().unknown > 0 {
            return End::NotRead;
        }
        let is_settled = |device: &RolloutDevice| match device.standing() {
            Standing::Online => true,
            Standing::NotOnline | Standing::NoStatus | Standing::Unknown => false,
            Standing::NoRecord => device.row.state.is_final() || device.row.state == JobState::Held,
        };
        if self.devices.iter().all(is_settled) { End::Done } else { End::DevicesAwaited }
    }
}

/// The last time since which one of these is online. Times without a zone are compared as they are written, which says
/// something only where all are written alike.
fn latest(devices: &[&RolloutDevice]) -> Option<String> {
    let online = devices.iter().filter(|device| device.standing() == Standing::Online);
    let times: Vec<&String> = online.filter_map(|device| device.status()?.since.as_ref()).collect();
    let alike = |time: &&&String| time.len() == times[0].len();
    if times.iter().all(|time| alike(&time)) { times.into_iter().max().cloned() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{JobId, RemoteId};

    fn device(number: u128, company: &str, site: Option<&str>, shown: Option<Shown>) -> RolloutDevice {
        let place = |name: &str| Place { id: None, name: Some(name.to_owned()) };
        let id = shown.is_some().then(|| RemoteId::from_u128(number + 1));
        RolloutDevice {
            row: DeviceRow {
                job: JobId(1),
                sheet: "devices".into(),
                row: 2,
                name: format!("Till {number}"),
                mac: None,
                state: if id.is_some() { JobState::Created } else { JobState::Ready },
                id,
                company: place(company),
                site: site.map(place),
            },
            shown,
            was_online: None,
        }
    }

    fn status(word: &str) -> Option<Shown> {
        let status = DeviceStatus { word: word.into(), ..DeviceStatus::default() };
        Some(Shown::Status(status, Operation::GetDeviceOnlineStatus))
    }

    #[test]
    fn only_the_word_of_the_specification_is_online_in_any_case() {
        for (word, online) in [
            ("Online", true),
            ("ONLINE", true),
            (" online ", true),
            ("On line", false),
            ("Onlines", false),
            ("Up", false),
            ("Offline", false),
            ("", false),
        ] {
            let status = DeviceStatus { word: word.into(), ..DeviceStatus::default() };
            assert_eq!(status.is_online(), online, "{word}");
        }
    }

    #[test]
    fn the_counts_of_companies_and_of_their_sites_add_up_to_the_devices() {
        let nothing = || Some(Shown::Nothing(Operation::ListCompanyDeviceOnlineStatuses));
        let devices = vec![
            device(0, "Harbour", Some("Pier"), status("Online")),
            device(1, "Wharf", None, status("Offline")),
            device(2, "Harbour", Some("Quay"), nothing()),
            device(3, "Harbour", None, Some(Shown::Unknown("no answer".into()))),
            device(4, "Harbour", Some("Pier"), None),
        ];
        let rollout = Rollout { devices, not_imported: 0 };
        let told: Vec<_> = rollout
            .groups()
            .into_iter()
            .map(|group| {
                let site = group.site.map(|site| site.words()).unwrap_or_default();
                let counts: Vec<u64> =
                    Standing::ALL.iter().map(|&standing| group.counts.of(standing)).collect();
                (group.company.words(), site, group.counts.devices, counts)
            })
            .collect();
        let expected = [
            ("Harbour", "", 4, [1, 0, 1, 1, 1]),
            ("Harbour", "Pier", 2, [1, 0, 0, 0, 1]),
            ("Harbour", "Quay", 1, [0, 0, 1, 0, 0]),
            ("Harbour", "(no site)", 1, [0, 0, 0, 1, 0]),
            ("Wharf", "", 1, [0, 1, 0, 0, 0]),
        ];
        let expected = expected.map(|(company, site, devices, counts)| {
            (company.to_owned(), site.to_owned(), devices, counts.to_vec())
        });
        assert_eq!(told, expected);
        assert_eq!(rollout.other_words(), [("Offline".to_owned(), 1)]);
        assert_eq!(rollout.states_without_record(), [(JobState::Ready, 1)]);
        assert!(Standing::ALL.iter().all(|&standing| rollout.counts().of(standing) == 1));
    }

    #[test]
    fn the_latest_time_is_told_only_of_times_that_are_written_alike() {
        let since = |number, since: &str| {
            let status = DeviceStatus { word: "Online".into(), since: Some(since.into()), contact: None };
            device(number, "Harbour", None, Some(Shown::Status(status, Operation::GetDeviceOnlineStatus)))
        };
        let of =
            |devices: Vec<RolloutDevice>| Rollout { devices, not_imported: 0 }.groups()[0].latest.clone();
        let (early, late) = ("2026-03-01T12:00:00.000", "2026-03-02T09:00:00.000");
        assert_eq!(of(vec![since(0, late), since(1, early)]).as_deref(), Some(late));
        assert_eq!(of(vec![since(0, late), since(1, "yesterday")]), None);
        assert_eq!(of(vec![device(0, "Harbour", None, status("Online"))]), None);
    }

    #[test]
    fn it_is_done_when_every_device_is_online_and_no_row_will_make_another() {
        let of = |devices: Vec<RolloutDevice>| Rollout { devices, not_imported: 0 }.end();
        let without_record = |state| {
            let mut device = device(1, "Harbour", None, None);
            device.row.state = state;
            device
        };
        let online = || device(0, "Harbour", None, status("Online"));
        assert_eq!(of(vec![]), End::Done);
        assert_eq!(of(vec![online()]), End::Done);
        for (state, end) in [
            (JobState::Rejected, End::Done),
            (JobState::Cancelled, End::Done),
            (JobState::Held, End::Done),
            (JobState::Ready, End::DevicesAwaited),
            (JobState::InDoubt, End::DevicesAwaited),
        ] {
            assert_eq!(of(vec![online(), without_record(state)]), end, "{state}");
        }
        for shown in ["Offline", "Connecting"].map(status) {
            assert_eq!(of(vec![online(), device(1, "Harbour", None, shown)]), End::DevicesAwaited);
        }
        let unknown = Some(Shown::Unknown("no answer".into()));
        assert_eq!(of(vec![online(), device(1, "Harbour", None, unknown)]), End::NotRead);
    }
}
