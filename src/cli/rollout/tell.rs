//! The roll-out for people and for programs: counts, companies and sites, the devices that are not online, and what has
//! changed since the last look.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::cli::context::Context;
use crate::model::amount::{count, counted};
use crate::model::id::JobId;
use crate::model::time::Moment;
use crate::status::rollout::{Rollout, RolloutDevice, RolloutGroup, Standing};
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
        let words =
            format!("{} of {} online", count(counts.online), counted(with_record, "device", "devices"));
        terminal.result(Line::new().ink(ink, words).text(format!(", seen at {}", context.moment(self.at))));
        for standing in Standing::ALL {
            let number = counts.of(standing);
            if number == 0 && standing != Standing::Online {
                continue;
            }
            let remark = self.remark(standing);
            let remark = if remark.is_empty() { remark } else { format!("  {remark}") };
            let line = Line::plain(format!("  {:<11}{:>9}", standing.words(), count(number)));
            terminal.result(line.ink(Ink::Faint, remark));
        }
        if self.rollout.not_imported > 0 {
            let rows = counted(self.rollout.not_imported, "row of a device was", "rows of devices were");
            terminal.result(format!("  {rows} not imported"));
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
        let standings: Vec<Standing> =
            Standing::ALL.into_iter().filter(|&standing| self.rollout.counts().of(standing) > 0).collect();
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
        for line in table.lines() {
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
            for line in table.lines() {
                terminal.result(line);
            }
            if shown.len() > most {
                let more = counted((shown.len() - most) as u64, "more device", "more devices");
                terminal.result(format!("and {more}; -v and --out FILE.xlsx have all of them"));
            }
        }
        if self
            .rollout
            .devices
            .iter()
            .any(|device| device.status().is_some_and(|status| status.since.is_some()))
        {
            let words = "times are as the service writes them: it gives no time zone";
            terminal.result("");
            terminal.result(Line::new().ink(Ink::Faint, words));
        }
    }

    /// What is new since the look before, in a line.
    pub(super) fn tell_changes(&self, context: &Context<'_>, before: &HashMap<JobId, Standing>) {
        let counts = self.rollout.counts();
        let with_record = counts.devices - counts.no_record;
        let mut words = format!(
            "{}: {} of {} online",
            context.moment(self.at),
            count(counts.online),
            counted(with_record, "device", "devices")
        );
        for standing in Standing::ALL {
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
        let at = self.at.to_string();
        terminal.object(&json!({ "object": "look", "at": at, "counts": self.rollout.counts() }));
        for group in self.rollout.groups() {
            terminal.object(&group_object(&group));
        }
        for device in self.changed(before) {
            terminal.object(&device_object(device));
        }
    }
}

/// A device with its place, its status, since when and the last contact as the service wrote them, and a remark.
fn row(context: &Context<'_>, device: &RolloutDevice) -> [String; 6] {
    let (word, since, contact) = match device.status() {
        Some(status) => (status.word.clone(), status.since.clone(), status.contact.clone()),
        None => (device.standing().words().to_owned(), None, None),
    };
    let remark = device.remark(&|at| context.moment(at));
    let (since, contact) = (since.unwrap_or_default(), contact.unwrap_or_default());
    [device.row.name.clone(), place(device), word, since, contact, remark]
}

/// Company and site of a device.
fn place(device: &RolloutDevice) -> String {
    match &device.row.site {
        Some(site) => format!("{}, {}", device.row.company.words(), site.words()),
        None => device.row.company.words(),
    }
}

fn group_object(group: &RolloutGroup) -> Value {
    json!({
        "object": "group", "company": group.company.name, "company_id": group.company.id,
        "site": group.site.as_ref().map(|site| site.words()), "counts": group.counts,
        "latest_online_since": group.latest,
    })
}

fn device_object(device: &RolloutDevice) -> Value {
    let (row, status) = (&device.row, device.status());
    json!({
        "object": "device", "name": row.name, "id": row.id, "mac": row.mac,
        "company": row.company.name, "company_id": row.company.id,
        "site": row.site.as_ref().and_then(|site| site.name.clone()),
        "site_id": row.site.as_ref().and_then(|site| site.id),
        "sheet": row.sheet, "row": row.row, "job": row.job, "state": row.state,
        "standing": device.standing(),
        "status": status.map(|status| &status.word),
        "status_timestamp": status.and_then(|status| status.since.as_ref()),
        "contact_date": status.and_then(|status| status.contact.as_ref()),
        "shown_by": device.shown_by(), "remark": device.remark(&|at| at.to_string()),
    })
}
