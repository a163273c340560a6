//! Rows that change a record and ask for different things: two values of a metadata entry, a subscription and its end, two
//! cipher suites in one cloud, two sites.
//! Both would be carried out, and which of them stays would be chance. What the row that makes a record puts on it comes first
//! (`record_order`), and may be changed by others; but its licence code is not added once more.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::duplicates::repeated;
use super::{Between, Index, Resolution, RowEntry, To};
use crate::model::action::Action;
use crate::model::action::setting::{Setting, Wish, asked};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, ValueKind, shown};
use crate::sheet::row::draft::Draft;
use crate::sheet::table::Table;
use crate::sheet::table::column::{Column, column};

/// The family of columns of metadata.
const META: &str = "meta:";

/// What the rows ask for that change records.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Each thing that is asked for of any record, once.
    distinct: Vec<Setting>,
    numbers: HashMap<Setting, u32>,
    asked: Vec<Asked>,
    hasher: RandomState,
}

/// What a row asks for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    row: u32,
    /// A number in the list of distinct settings.
    setting: u32,
    wish: KeptWish,
}

/// A [`Wish`], of whose value a digest is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum KeptWish {
    Value(u32),
    There,
    Gone,
}

impl Settings {
    /// Takes in what a row asks for; of one that makes a record its licence code.
    pub(super) fn add(&mut self, row: usize, draft: &Draft, changes: bool) {
        let Ok(row) = u32::try_from(row) else { return };
        let is_taken_in = |step: &&Action| changes || matches!(step, Action::AddLicence(_));
        for (setting, wish) in draft.steps.iter().filter(is_taken_in).flat_map(asked) {
            let wish = match wish {
                // The lower half is as good as any.
                Wish::Value(value) => KeptWish::Value(self.hasher.hash_one(value) as u32),
                Wish::There => KeptWish::There,
                Wish::Gone => KeptWish::Gone,
            };
            let setting = self.number(setting);
            self.asked.push(Asked { row, setting, wish });
        }
    }

    fn is_licence(&self, asked: &Asked) -> bool {
        self.distinct[asked.setting as usize] == Setting::Licence
    }

    fn number(&mut self, setting: Setting) -> u32 {
        if let Some(number) = self.numbers.get(&setting) {
            return *number;
        }
        let number = u32::try_from(self.distinct.len()).unwrap_or(u32::MAX);
        self.distinct.push(setting.clone());
        self.numbers.insert(setting, number);
        number
    }
}

/// Tells each row that asks for something else than a row before it, and makes it unusable.
pub(super) fn tell(between: &mut Between, resolutions: &[Resolution], found: &mut dyn FnMut(Finding)) {
    let settings = std::mem::take(&mut between.settings);
    let of = |asked: &Asked| {
        let entry = &between.entries[asked.row as usize];
        (!entry.unusable).then(|| record(between, asked.row, resolutions)).flatten()
    };
    // A record has many licence codes.
    let thing = |asked: &Asked| {
        let code = Some(asked.wish).filter(|_| settings.is_licence(asked));
        of(asked).map(|record| (record, asked.setting, code))
    };
    let index = Index::new(settings.asked.len(), |at| thing(&settings.asked[at]));
    let asked_of = |at: u32| settings.asked[at as usize];
    let repeats = repeated(&index, |at| thing(&asked_of(at)));
    let pairs = repeats.into_iter().map(|(at, first)| match (asked_of(at), asked_of(first)) {
        // The row that makes the device is kept.
        (asked, first)
            if settings.is_licence(&asked) && between.makes_record(&between.entries[asked.row as usize]) =>
        {
            (first, asked)
        }
        pair => pair,
    });
    // What the cells of one row say against each other is reported there.
    let contradictions: Vec<(Asked, Asked)> = pairs
        .filter(|(asked, first)| {
            asked.row != first.row && is_otherwise(between, resolutions, (asked, first), &settings)
        })
        .collect();
    for (asked, first) in contradictions {
        let setting = &settings.distinct[asked.setting as usize];
        found(finding(between, &asked, &first, setting));
        between.entries[asked.row as usize].unusable = true;
    }
}

/// The record that a row changes, or makes.
fn record(between: &Between, row: u32, resolutions: &[Resolution]) -> Option<To> {
    let entry = &between.entries[row as usize];
    if between.makes_record(entry) {
        return Some(To::Row(row as usize));
    }
    match resolutions.get(entry.owner as usize)? {
        Resolution::To(to) => Some(*to),
        Resolution::Failed { .. } => None,
    }
}

/// The number of the reference to a site.
fn site_of(entry: &RowEntry) -> Option<u32> {
    (entry.site != super::NONE).then_some(entry.site)
}

/// Whether two rows want one thing to be otherwise.
fn is_otherwise(
    between: &Between,
    resolutions: &[Resolution],
    (asked, first): (&Asked, &Asked),
    settings: &Settings,
) -> bool {
    match settings.distinct[asked.setting as usize] {
        Setting::Site => {}
        Setting::Licence => return true,
        _ => return asked.wish != first.wish,
    }
    let site =
        |asked: &Asked| match resolutions.get(site_of(&between.entries[asked.row as usize])? as usize)? {
            Resolution::To(to) => Some(*to),
            Resolution::Failed { .. } => None,
        };
    site(asked).zip(site(first)).is_some_and(|(own, other)| own.is_another(other))
}

/// What is checked, in words.
pub const RULE: &str =
    "one value for each metadata entry, template, cloud, cipher suite and site of a record";

/// What a row does that wants a thing to be otherwise, in words.
pub fn does(setting: &Setting, removes: bool) -> String {
    match setting {
        Setting::Metadata(key) if removes => {
            format!("deletes the metadata entry '{}' of this record", shown(key))
        }
        Setting::Metadata(key) => {
            format!("gives the metadata entry '{}' of this record another value", shown(key))
        }
        Setting::Template(name) if removes => {
            format!("unsubscribes this device from the template '{}'", shown(name))
        }
        Setting::Template(name) => format!("subscribes this device to the template '{}'", shown(name)),
        Setting::Cloud(name) if removes => {
            format!("removes this device from the VPN cloud '{}'", shown(name))
        }
        Setting::Cloud(name) => format!("adds this device to the VPN cloud '{}'", shown(name)),
        Setting::CipherSuite(name) => {
            format!("gives this device another cipher suite in the VPN cloud '{}'", shown(name))
        }
        Setting::Site => "puts this device into another site".to_owned(),
        Setting::Licence => "adds the same licence code to this device".to_owned(),
    }
}

fn finding(between: &Between, asked: &Asked, first: &Asked, setting: &Setting) -> Finding {
    let (entry, before) = (&between.entries[asked.row as usize], &between.entries[first.row as usize]);
    let does = does(setting, first.wish == KeptWish::Gone);
    let (code, advice, rule) = match setting {
        Setting::Licence => {
            (Code::DupNaturalKey, "delete this row", "one row for each licence code of a device")
        }
        _ => (Code::RowConflict, "keep the one that is right, and clear or delete the other", RULE),
    };
    let message = format!("{} {does}: {advice}", between.row_as_seen(before, entry));
    let table = &between.tables[entry.table as usize];
    let mut finding = between.finding(code, message, entry, "");
    let (column, position) = column_of(table, setting);
    if let Some(column) = column {
        finding = table.name_column(finding, position, column);
    }
    if let Setting::Template(text) | Setting::Cloud(text) = setting {
        finding = finding.showing(text, ValueKind::Text);
    }
    finding.rule = Some(rule.to_owned());
    let of_first = &between.tables[before.table as usize];
    let (_, position) = column_of(of_first, setting);
    let note = if code == Code::RowConflict { "asks for something else" } else { "first use" };
    finding.related.push(of_first.related(before.row, position, note));
    finding
}

/// In which column rows of a table ask for something, and where it stands.
pub fn column_of(table: &Table, setting: &Setting) -> (Option<&'static Column>, Option<usize>) {
    let is_record = table.kind.is_record();
    let name = match setting {
        Setting::Metadata(key) if is_record => {
            return (column(table.kind, META), table.position_in_family(META, key));
        }
        Setting::Metadata(_) => "value",
        Setting::Template(_) if is_record => "enterprise_template",
        Setting::Template(_) => "template",
        Setting::Cloud(_) if is_record => "vpn_clouds",
        Setting::Cloud(_) => "cloud",
        Setting::CipherSuite(_) => "cipher_suite",
        Setting::Site => "site",
        Setting::Licence => "licence_code",
    };
    (column(table.kind, name), table.position(name))
}
