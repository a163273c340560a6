//! The roll-out for people and for programs: counts, companies and sites, the devices that are not online, and what has
//! changed since the last look.

use std::collections::HashMap;

use serde::Serialize;

use crate::cli::context::Context;
use crate::model::amount::{count, counted};
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::{Moment, Rfc3339};
use crate::status::rollout::{Rollout, RolloutCounts, RolloutDevice, RolloutGroup, Standing};
use crate::term::{Ink, Line, Table};

/// Devices that are shown one by one; `--out` and `--json` have all of them.
const SHOWN: usize = 50;
/// Companies and sites that are shown; `--out` and `--json` have all of them.
const GROUPS: usize = 100;
/// Changes of a look that are named one by one.
const CHANGES: usize = 10;

/// A look: what it showed, and when.
pub(super) struct Seen<'a> {
    pub(super) rollout: &'a Rollout,
    pub(super) at: Moment,
}

impl Seen<'_> {
    /// Everything, for people.
    pub(super) fn tell_all(&self, context: &Context<'_>) {
        self.tell_counts(context);
        self.tell_groups(context);
        self.tell_devices(context);
    }

    fn tell_counts(&self, context: &Context<'_>) {
        let (terminal, counts) = (context.terminal, self.rollout.counts());
        let with_record = counts.devices - counts.no_record;
        let ink = if counts.online == with_record { Ink::Good } else { Ink::Strong };
        let words = self.rollout.online_words();
        terminal.result(Line::new().ink(ink, words).text(format!(", seen at {}", context.moment(self.at))));
        for &standing in Standing::ALL {
            let number = counts.of(standing);
            if number == 0 && standing != Standing::Online {
                continue;
            }
            let remark = self.remark(standing);
            let remark = if remark.is_empty() { remark } else { format!("  {remark}") };
            let line = Line::plain(format!("  {:<11}{:>9}", standing.words(), count(number)));
            terminal.result(line.ink(Ink::Faint, remark));
        }
        if let Some(words) = self.rollout.not_imported_words() {
            terminal.result(format!("  {words}"));
        }
    }

    /// What is to be known of a count.
    fn remark(&self, standing: Standing) -> String {
        let listed = |entries: Vec<(String, u64)>| {
            let entries = entries.into_iter().map(|(word, number)| format!("{word} {}", count(number)));
            entries.collect::<Vec<_>>().join(", ")
        };
        match standing {
            Standing::Online => String::new(),
            Standing::NotOnline => format!("the service says: {}", listed(self.rollout.other_words())),
            Standing::NoStatus => "the service shows no status for them".to_owned(),
            Standing::Unknown => {
                "the service was asked without a usable answer, or cannot be asked".to_owned()
            }
            Standing::NoRecord => {
                let states = self.rollout.states_without_record().into_iter();
                let states = states.map(|(state, number)| (state.to_string(), number)).collect();
                format!("rows without a record: {}", listed(states))
            }
        }
    }

    fn tell_groups(&self, context: &Context<'_>) {
        let terminal = context.terminal;
        let groups = self.rollout.groups();
        let standings: Vec<Standing> = Standing::ALL
            .iter()
            .copied()
            .filter(|&standing| self.rollout.counts().of(standing) > 0)
            .collect();
        let mut heads = vec!["company, site", "devices"];
        heads.extend(standings.iter().map(|standing| standing.words()));
        heads.push("latest online since");
        let numbers: Vec<usize> = (1..heads.len() - 1).collect();
        let mut table = Table::new(&heads, &numbers);
        for group in groups.iter().take(GROUPS) {
            let name = match &group.site {
                None => group.company.words(),
                Some(site) => format!("  {}", site.words()),
            };
            let mut cells = vec![name, count(group.counts.devices)];
            cells.extend(standings.iter().map(|&standing| count(group.counts.of(standing))));
            cells.push(group.latest.clone().unwrap_or_default());
            table.row(&cells);
        }
        terminal.result("");
        for line in table.lines_within(terminal.result_columns()) {
            terminal.result(line);
        }
        if groups.len() > GROUPS {
            let more = (groups.len() - GROUPS) as u64;
            terminal.result(format!(
                "and {}; --out FILE.xlsx has all of them",
                counted(more, "more line", "more lines")
            ));
        }
    }

    fn tell_devices(&self, context: &Context<'_>) {
        let terminal = context.terminal;
        // The whole list is asked for with -v.
        let (all, most) = if context.common.verbose > 0 { (true, usize::MAX) } else { (false, SHOWN) };
        let wanted = |device: &&RolloutDevice| all || device.standing() != Standing::Online;
        let shown: Vec<&RolloutDevice> = self.rollout.devices.iter().filter(wanted).collect();
        if !shown.is_empty() {
            let rows: Vec<[String; 6]> = shown.iter().take(most).map(|device| row(context, device)).collect();
            let heads = ["device", "company, site", "status", "since", "last contact", "remark"];
            // A column without a value takes room from the others.
            let filled: Vec<usize> =
                (0..heads.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
            let heads: Vec<&str> = filled.iter().map(|&at| heads[at]).collect();
            let mut table = Table::new(&heads, &[]);
            for row in &rows {
                let cells: Vec<&str> = filled.iter().map(|&at| row[at].as_str()).collect();
                table.row(&cells);
            }
            terminal.result("");
            for line in table.lines_within(terminal.result_columns()) {
                terminal.result(line);
            }
            if shown.len() > most {
                let more = counted((shown.len() - most) as u64, "more device", "more devices");
                terminal.result(format!("and {more}; -v and --out FILE.xlsx have all of them"));
            }
        }
        if self.rollout.has_times() {
            let words = "times are as the service writes them: it gives no time zone";
            terminal.result("");
            terminal.result(Line::new().ink(Ink::Faint, words));
        }
    }

    /// What is new since the look before, in a line.
    pub(super) fn tell_changes(&self, context: &Context<'_>, before: &HashMap<JobId, Standing>) {
        let mut words = format!("{}: {}", context.moment(self.at), self.rollout.online_words());
        for &standing in Standing::ALL {
            let news: Vec<&str> = self
                .changed(before)
                .filter(|device| device.standing() == standing)
                .map(|device| device.row.name.as_str())
                .collect();
            if news.is_empty() {
                continue;
            }
            let more = match news.len().saturating_sub(CHANGES) {
                0 => String::new(),
                more => format!(" and {} more", count(more as u64)),
            };
            let named = news[..news.len().min(CHANGES)].join(", ");
            words.push_str(&format!("; now {}: {named}{more}", standing.words()));
        }
        context.terminal.result(words);
    }

    /// The devices whose standing is another one than before, or that are new.
    fn changed(&self, before: &HashMap<JobId, Standing>) -> impl Iterator<Item = &RolloutDevice> {
        let is_new = |device: &&RolloutDevice| before.get(&device.row.job) != Some(&device.standing());
        self.rollout.devices.iter().filter(is_new)
    }

    /// The same for programs: the look, the companies and sites, and the devices that are new or have changed.
    pub(super) fn tell_objects(&self, context: &Context<'_>, before: &HashMap<JobId, Standing>) {
        let terminal = context.terminal;
        if !terminal.json() {
            return;
        }
        terminal.object(&RolloutLookObject { at: self.at.into(), counts: self.rollout.counts() });
        for group in self.rollout.groups() {
            terminal.object(&GroupObject::of(&group));
        }
        for device in self.changed(before) {
            terminal.object(&DeviceObject::of(device));
        }
    }
}

/// A device with its place, its status, since when and the last contact as the service wrote them, and a remark.
fn row(context: &Context<'_>, device: &RolloutDevice) -> [String; 6] {
    let remark = device.remark(&|at| context.moment(at));
    let word = device.status_words().to_owned();
    let status = device.status().cloned().unwrap_or_default();
    let (since, contact) = (status.since.unwrap_or_default(), status.contact.unwrap_or_default());
    [device.row.name.clone(), device.place(), word, since, contact, remark]
}

/// One look at the devices of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RolloutLookObject {
    /// When it was.
    at: Rfc3339,
    /// The devices, counted.
    counts: RolloutCounts,
}

/// The devices of a company, or of a site of it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct GroupObject<'a> {
    /// The name of the company.
    company: Option<&'a str>,
    /// Its id.
    company_id: Option<RemoteId>,
    /// The site; `null` for the whole company.
    site: Option<String>,
    /// The devices, counted.
    counts: RolloutCounts,
    /// The latest moment since which one is online, as the service writes it.
    latest_online_since: Option<&'a str>,
}

impl<'a> GroupObject<'a> {
    fn of(group: &'a RolloutGroup) -> Self {
        Self {
            company: group.company.name.as_deref(),
            company_id: group.company.id,
            site: group.site.as_ref().map(|site| site.words()),
            counts: group.counts,
            latest_online_since: group.latest.as_deref(),
        }
    }
}

/// A device of an import, and how it is.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct DeviceObject<'a> {
    /// Its name, as the row has it.
    name: &'a str,
    /// Its id.
    id: Option<RemoteId>,
    /// Its MAC address, as the row has it.
    mac: Option<&'a str>,
    /// The name of its company.
    company: Option<&'a str>,
    /// The id of its company.
    company_id: Option<RemoteId>,
    /// The name of its site.
    site: Option<&'a str>,
    /// The id of its site.
    site_id: Option<RemoteId>,
    /// The sheet of its row.
    sheet: &'a str,
    /// The number of its row, as a spreadsheet counts.
    row: u32,
    job: JobId,
    /// Where the row stands.
    state: JobState,
    standing: Standing,
    /// The status, as the service writes it.
    status: Option<&'a str>,
    /// Since when it has this status, as the service writes it.
    status_timestamp: Option<&'a str>,
    /// The last contact, as the service writes it.
    contact_date: Option<&'a str>,
    /// The operation that showed it.
    shown_by: Option<Operation>,
    /// What else is to be known; often empty.
    remark: String,
}

impl<'a> DeviceObject<'a> {
    fn of(device: &'a RolloutDevice) -> Self {
        let (row, status) = (&device.row, device.status());
        Self {
            name: &row.name,
            id: row.id,
            mac: row.mac.as_deref(),
            company: row.company.name.as_deref(),
            company_id: row.company.id,
            site: row.site.as_ref().and_then(|site| site.name.as_deref()),
            site_id: row.site.as_ref().and_then(|site| site.id),
            sheet: &row.sheet,
            row: row.row,
            job: row.job,
            state: row.state,
            standing: device.standing(),
            status: status.map(|status| status.word.as_str()),
            status_timestamp: status.and_then(|status| status.since.as_deref()),
            contact_date: status.and_then(|status| status.contact.as_deref()),
            shown_by: device.shown_by(),
            remark: device.remark(&|at| at.to_string()),
        }
    }
}
