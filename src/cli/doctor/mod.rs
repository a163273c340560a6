//! `fleetload doctor`: shows every setting with its origin, says for each kind of row what this profile can do with it,
//! and tries credentials, clock, journal and look-ups. What is wrong is reported, and the rest is examined anyway.
//!
//! Creates and changes nothing at the service: what is asked of it are look-ups of a record that cannot exist, everything
//! that reads about records that exist, and its list of time zones, which is kept beside the journal for the checking of
//! sheets.

pub(super) mod operations;
pub(super) mod probe;
mod reading_operations;
mod skeleton;

use std::path::Path;

use serde::Serialize;

use self::probe::Finding;
use crate::cli::args::commands::Doctor as Typed;
use crate::cli::context::Context;
use crate::cli::run::meter;
use crate::cli::sandbox::rehearsal::Rehearsal;
use crate::cli::settings::{Purpose, Settings, reading};
use crate::cli::summary::Summary;
use crate::cli::zones;
use crate::ending::End;
use crate::error::Result;
use crate::journal::{Journal, Register, Storage, Whose, state_folder, was_there};
use crate::model::kind::{Kind, Plural, Upkeep};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::{NotSent, Refusal, Verdict};
use crate::notify::Target;
use crate::plan::ability::{self, Ability, Use};
use crate::run::{end_of, require_available};
use crate::service::{Client, Endpoints, Origin, TokenInfo};
use crate::term::{Ink, Line, count, span};

/// From here on a difference of the clocks is worth telling, in seconds.
const NOTABLE_SKEW: i64 = 60;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Health {
    /// It is as it should be.
    Well,
    /// It is worth a look.
    Look,
    /// It keeps a run from working.
    Wrong,
}

/// One check and how it went.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CheckObject<'a> {
    /// What was checked.
    check: &'a str,
    health: Health,
    /// The result, in words.
    message: &'a str,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The file with the operations that a profile has to say the paths of.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct EndpointsObject<'a> {
    /// The file.
    file: &'a Path,
    /// How many operations are to be completed in it.
    operations: usize,
}

/// What to do where the service gives no token: the secret is named only where the service has refused it.
fn no_token_hint(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Refused(Refusal::InvalidClient)
        | Verdict::Succeeded(_)
        | Verdict::Rejected(_)
        | Verdict::NoDataFound(_)
        | Verdict::Duplicate(_) => "check client_id and the client secret of the profile",
        Verdict::Refused(Refusal::UnauthorizedSource) => "check VPN and network, or have the address added",
        Verdict::Refused(Refusal::TokenRefused) | Verdict::TokenInvalid => "ask the service's operator",
        Verdict::NotSent(NotSent::Untrusted(_)) => {
            "check this machine's clock and base_url; if the service has a certificate of your own authority, name its file \
             with ca_file in the profile"
        }
        Verdict::NotSent(NotSent::NoResources(_)) => "close other programs, or raise the limit of open files",
        Verdict::NotSent(NotSent::NoConnection(_)) => {
            "check base_url, and the network, VPN and proxy of this machine"
        }
        Verdict::EndpointMissing(_) => {
            "check base_url; where the path differs, set [profile.NAME.endpoints.auth]"
        }
        Verdict::NotSent(NotSent::NoToken(_))
        | Verdict::Throttled
        | Verdict::QuotaSpent
        | Verdict::Contradicted(_)
        | Verdict::Doubtful(_) => {
            "check base_url, and whether a proxy or the sign-in page of a network answers in the service's place; if that is not \
             so, try again in a few minutes"
        }
    }
}

/// What can be done with the rows of a kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct AbilityObject<'a> {
    kind: Plural,
    /// Whether its rows can be created, or carried out.
    can_create: bool,
    /// Whether a record is found after a lost answer.
    can_look_up: bool,
    /// Whether records can be verified.
    can_verify: bool,
    /// The operations that its rows need.
    operations: Vec<UsedOperation<'a>>,
}

/// An operation that rows of a kind need.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct UsedOperation<'a> {
    operation: Operation,
    #[serde(rename = "use")]
    for_what: Use,
    /// Its path; `null` where it is not known.
    path: Option<&'a str>,
    /// Where the path is from: `documented`, `mapped` or `assumed`, else `unavailable`.
    origin: &'static str,
}

/// A setting.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct SettingObject<'a> {
    /// Its key in the settings file.
    setting: &'a str,
    /// Its value.
    value: &'a str,
    /// Where the value is from.
    origin: &'a str,
}

/// What was examined.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct DoctorSummary {
    /// The kinds of rows that can be created.
    can_create: Vec<Plural>,
}

/// Examines everything and says what is wrong.
pub(super) fn doctor(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    context.runtime()?.block_on(async {
        if !typed.rehearsal.sandbox {
            return examine(context, &Purpose::Service, typed).await;
        }
        let rehearsal = Rehearsal::start(typed.rehearsal.scenario.as_deref(), None).await?;
        let purpose = Purpose::Rehearsal(rehearsal.account.clone());
        let exit = examine(context, &purpose, typed).await;
        rehearsal.running.stop().await;
        exit
    })
}

async fn examine(context: &Context<'_>, purpose: &Purpose, typed: &Typed) -> Result<Summary> {
    let overrides = &typed.overrides;
    let mut examined = Examined { context, found: None, kinds: Vec::new() };
    let settings = examined.noting("settings", context.settings(purpose, overrides));
    if let Some(settings) = &settings {
        let whose = Whose::from(settings.identity());
        if context.rehearsing.get() {
            context.tell_whose(&whose);
        } else {
            // The settings below name it.
            context.whose.replace(Some(whose));
        }
        tell_settings(context, settings);
    }
    examined.noting("reading", reading::tell_kept(context));
    if let Some(settings) = &settings {
        examined.receivers(settings);
    }
    check_journal(context, settings.as_ref(), &mut |health, message, hint| {
        examined.tell_as("journal", health, message, hint, End::Journal);
    });
    if let Some(settings) = &settings
        && let Some(endpoints) = examined.noting("endpoints", settings.endpoints())
    {
        if let Some(file) = &typed.write_endpoints {
            examined.write_endpoints(file, settings, &endpoints)?;
        }
        examined.abilities(settings, &endpoints);
        examined.noting("rows of the journal", waiting(context, &endpoints));
        if let Some(client) = examined.noting("credentials", settings.client(context.clock.clone())) {
            examined.service(&client, purpose, settings, typed.company.as_deref()).await;
        }
    }
    Ok(examined.conclude())
}

struct Examined<'a> {
    context: &'a Context<'a>,
    /// What keeps a run from working, as the way in which a run would end; the lowest exit code counts.
    found: Option<End>,
    /// What can be done with the rows of each kind.
    kinds: Vec<(Kind, Ability)>,
}

impl Examined<'_> {
    /// How it ended, and what to type next.
    fn conclude(self) -> Summary {
        let terminal = self.context.terminal;
        let end = self.found.unwrap_or(End::Done);
        if end == End::Done {
            let (records, upkeep) = (
                self.possible(Kind::is_record, "created"),
                self.possible(|kind| !kind.is_record(), "carried out"),
            );
            let words = format!("{records}; {upkeep}; next: ");
            terminal.hint(self.context.advice(words, "plan SHEET.xlsx"));
        } else {
            terminal.hint(self.context.advice("correct what is wrong, then: ", "doctor"));
        }
        let can = self.kinds.iter().filter(|(_, ability)| ability.create);
        Summary::new(end).with(&DoctorSummary { can_create: can.map(|(kind, _)| Plural(*kind)).collect() })
    }

    /// Which of the `meant` kinds can be created or carried out, and which cannot.
    fn possible(&self, meant: impl Fn(Kind) -> bool, how: &str) -> String {
        let named = |can: bool| {
            let kinds = self.kinds.iter().filter(|(kind, ability)| meant(*kind) && ability.create == can);
            kinds.map(|(kind, _)| kind.plural()).collect::<Vec<_>>().join(", ")
        };
        match (named(true), named(false)) {
            (can, cannot) if cannot.is_empty() => format!("{can} can be {how}"),
            (can, cannot) if can.is_empty() => format!("{cannot} cannot be {how}"),
            (can, cannot) => format!("{can} can be {how}, but not {cannot}"),
        }
    }

    /// What something gave; its error is reported as what is wrong, and the rest is examined anyway.
    fn noting<T>(&mut self, check: &str, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.tell_as(check, Health::Wrong, &error.to_string(), error.next_step(), error.end());
                None
            }
        }
    }

    fn tell(&mut self, check: &str, health: Health, message: &str, hint: Option<&str>) {
        self.tell_as(check, health, message, hint, End::Service);
    }

    /// Tells how a check went; where it is wrong, a run ends as `end` says.
    fn tell_as(&mut self, check: &str, health: Health, message: &str, hint: Option<&str>, end: End) {
        let (ink, word) = match health {
            Health::Well => (Ink::Good, "ok   "),
            Health::Look => (Ink::Warning, "look "),
            Health::Wrong => (Ink::Error, "wrong"),
        };
        if health == Health::Wrong && self.found.is_none_or(|found| end.exit() < found.exit()) {
            self.found = Some(end);
        }
        let terminal = self.context.terminal;
        let mut lines = message.lines();
        let first = format!("  {check}: {}", lines.next().unwrap_or_default());
        terminal.result(Line::new().ink(ink, word).text(first));
        lines.for_each(|line| terminal.result(format!("       {line}")));
        for (number, line) in hint.into_iter().flat_map(str::lines).enumerate() {
            let mark = if number == 0 { "hint:" } else { "     " };
            terminal.result(Line::plain("       ").ink(Ink::Hint, mark).text(" ").text(line));
        }
        terminal.object(&CheckObject { check, health, message, hint });
    }

    /// Where a run reports while nobody looks: whether it could begin to. Nothing is delivered.
    fn receivers(&mut self, settings: &Settings) {
        if let Some(path) = &settings.metrics_file.value
            && self.noting("metrics file", meter::probe(path, &self.context.common.journal)).is_some()
        {
            let message = format!("{} can be written", path.display());
            self.tell("metrics file", Health::Well, &message, None);
        }
        if settings.notify.tells()
            && let Some(targets) = self.noting("notifications", settings.notify_targets())
        {
            let names: Vec<&str> = targets.iter().map(Target::name).collect();
            let message = format!("set for {}; not tried here", names.join(" and "));
            let hint = self.context.advice("to send a test: ", "notify --test");
            self.tell("notifications", Health::Well, &message, Some(hint.as_str()));
        }
    }

    /// Everything that only the service can tell.
    async fn service(
        &mut self,
        client: &Client,
        purpose: &Purpose,
        settings: &Settings,
        company: Option<&str>,
    ) {
        match client.authenticate().await {
            Ok(token) => {
                self.credentials(&token);
                self.clock(&token);
                if self.endpoints(client).await {
                    self.operations(client, settings, company).await;
                }
                if let (Purpose::Service, Some(account)) = (purpose, settings.identity()) {
                    self.zones(client, &account.base_url).await;
                }
            }
            Err(verdict) => self.no_token(&verdict),
        }
    }

    /// Writes the skeleton of the mapping.
    fn write_endpoints(&self, file: &Path, settings: &Settings, endpoints: &Endpoints) -> Result<()> {
        let operations = skeleton::write(file, settings.profile_name(), endpoints)?;
        let line = Line::plain(format!("{operations} operations to complete: "));
        let line = line.ink(Ink::Strong, file.display().to_string());
        self.context.terminal.result(line);
        self.context.terminal.object(&EndpointsObject { file, operations });
        Ok(())
    }

    /// What can be done with the rows of each kind, and what is missing: what `plan` and `run` go by as well.
    fn abilities(&mut self, settings: &Settings, endpoints: &Endpoints) {
        let available = |operation| endpoints.available(operation);
        for kind in Kind::ALL {
            let ability = Ability::of(kind, &available);
            self.kinds.push((kind, ability));
            let health = match ability {
                Ability { create: true, look_up: true, verify: true } => Health::Well,
                Ability { .. } => Health::Look,
            };
            let lines = operations_of(kind, endpoints);
            let mut missing: Vec<Operation> = Vec::new();
            for (_, operation) in ability::operations(kind) {
                if !available(operation) && !missing.contains(&operation) {
                    missing.push(operation);
                }
            }
            self.tell(kind.plural(), health, &can(kind, ability), None);
            let terminal = self.context.terminal;
            for (what, operations) in &lines {
                terminal.result(format!("       {what}: {operations}"));
            }
            if !missing.is_empty() {
                let hint = Line::plain("       ").ink(Ink::Hint, "hint:").text(" ");
                terminal.result(hint.text(settings.to_map(&missing).as_str()).whole());
            }
            terminal.object(&ability_object(kind, ability, endpoints));
        }
        if self.kinds.iter().all(|(_, ability)| !ability.create) {
            let message = "nothing can be created with this profile: no creation has a known path";
            let hint = "set paths = \"assumed\", or the method and path of each creation as shown above";
            self.tell_as("creations", Health::Wrong, message, Some(hint), End::EndpointUnknown);
        }
    }

    fn credentials(&mut self, token: &TokenInfo) {
        let life = match token.expires_in {
            Some(life) => format!(", valid for {}", span(life)),
            None => String::new(),
        };
        let message = format!("the service gave a token{life} (in {} ms)", token.took.as_millis());
        self.tell("credentials", Health::Well, &message, None);
    }

    fn no_token(&mut self, verdict: &Verdict) {
        let (check, message) = match probe::finding(verdict) {
            Finding::Refused(why) if *verdict == Verdict::Refused(Refusal::InvalidClient) => {
                ("credentials", why)
            }
            Finding::Answers => ("credentials", "the service refuses to give a token".to_owned()),
            Finding::Refused(why) => ("service", why),
            Finding::Unclear(why) => ("service", format!("the credentials could not be tried: {why}")),
            Finding::Missing(why) => ("service", format!("there is no sign-in at this address: {why}")),
        };
        self.tell_as(check, Health::Wrong, &message, Some(no_token_hint(verdict)), end_of(verdict));
    }

    fn clock(&mut self, token: &TokenInfo) {
        let Some(date) = token.date else {
            let message =
                "the service does not report its time; this machine's clock decides when its midnight is";
            self.tell("clock", Health::Look, message, None);
            return;
        };
        let skew = skew_seconds(date, self.context.now());
        let side = if skew > 0 { "behind" } else { "ahead of" };
        let size = span(std::time::Duration::from_secs(skew.unsigned_abs()));
        if skew.abs() < NOTABLE_SKEW {
            self.tell("clock", Health::Well, "this machine's clock and the service's agree", None);
        } else {
            let message =
                format!("this machine's clock is {size} {side} the service's; the service's clock counts");
            self.tell("clock", Health::Look, &message, Some("set this machine's clock by a time server"));
        }
    }

    /// Whether the service can be asked further.
    async fn endpoints(&mut self, client: &Client) -> bool {
        for (operation, origin, call) in probe::questions(client.endpoints()) {
            let answer = client.send(call).await;
            let path = client.endpoints().get(operation).map_or("", |endpoint| endpoint.path()).to_owned();
            let name = format!("{operation} ({})", whose(origin));
            match probe::finding(&answer.verdict) {
                Finding::Answers => self.tell(&name, Health::Well, "answers", None),
                Finding::Missing(why) => {
                    // An assumed path that is not there was only a guess, and look-ups can be done without.
                    let health = if origin == Origin::Assumed { Health::Look } else { Health::Wrong };
                    let hint = format!("set method and path in [profile.NAME.endpoints.{operation}]");
                    let message = format!("{why} at {path}");
                    self.tell_as(&name, health, &message, Some(&hint), End::EndpointMissing);
                }
                Finding::Unclear(why) => self.tell(&name, Health::Look, &why, None),
                Finding::Refused(why) => {
                    self.tell_as(&name, Health::Wrong, &why, None, end_of(&answer.verdict));
                    return false;
                }
            }
        }
        true
    }

    /// The list of time zones is not only tried: it is kept, for the checking of sheets.
    async fn zones(&mut self, client: &Client, base_url: &str) {
        if !zones::can_be_asked(client) {
            return;
        }
        match zones::ask(client, self.context.now()).await {
            Ok(list) => {
                zones::keep(self.context, base_url, &list);
                let message = format!(
                    "the service lists {}; from now on, sheets for the journal {} are checked against this list",
                    count(list.ids().len() as u64),
                    self.context.common.journal.display()
                );
                self.tell("time zones", Health::Well, &message, None);
            }
            Err(why) => {
                let message = format!("there is no list ({why}); sheets are checked against the IANA list");
                self.tell("time zones", Health::Look, &message, None);
            }
        }
    }
}

/// Refuses, as a run would, when rows that wait in the journal need what has no known path. A journal that cannot be
/// used has been told of.
fn waiting(context: &Context<'_>, endpoints: &Endpoints) -> Result<()> {
    let path = &context.common.journal;
    let lanes = if path.exists() {
        Journal::open_existing(path).and_then(|journal| journal.lanes())
    } else {
        Ok(vec![])
    };
    lanes.map_or(Ok(()), |needed| require_available(endpoints, &needed))
}

/// Where a path is from, in a word.
const fn whose(origin: Origin) -> &'static str {
    match origin {
        Origin::Documented => "documented",
        Origin::Mapped => "mapped",
        Origin::Assumed => "assumed",
    }
}

/// What can be done with rows of a kind, in a sentence.
fn can(kind: Kind, ability: Ability) -> String {
    let mut can = vec![match (ability.create, kind.is_record()) {
        (true, true) => "can be created",
        (false, true) => "cannot be created",
        (true, false) => "can be carried out",
        (false, false) => "cannot be carried out",
    }];
    can.push(match (ability.look_up, kind) {
        (true, _) => "looked up",
        (false, _) if !ability.create => "not looked up",
        (false, Kind::Device) => {
            "not looked up (if an answer is lost, only a device with a MAC address is sent \
            again; the others are put on hold)"
        }
        (false, Kind::Upkeep(upkeep)) if upkeep != Upkeep::Licences => {
            "not looked up (a row whose answer is lost is sent again: a second request changes nothing)"
        }
        (false, _) => "not looked up (a row whose answer is lost is put on hold)",
    });
    can.push(if ability.verify { "verified" } else { "not verified" });
    can.join(", ")
}

/// The operations of a kind by what they are for, each with where its path is from.
fn operations_of(kind: Kind, endpoints: &Endpoints) -> Vec<(&'static str, String)> {
    let all = ability::operations(kind);
    let of = |wanted: Use| {
        let operations = all.iter().filter(|(of, _)| *of == wanted).map(|(_, operation)| {
            let from = endpoints.get(*operation).map_or("unavailable", |endpoint| whose(endpoint.origin()));
            format!("{operation} ({from})")
        });
        operations.collect::<Vec<_>>().join(", ")
    };
    [
        (if kind.is_record() { "create" } else { "carry out" }, Use::Create),
        ("where a row asks for it", Use::Ask),
        ("look up", Use::LookUp),
        ("verify", Use::Verify),
    ]
    .into_iter()
    .map(|(what, wanted)| (what, of(wanted)))
    .filter(|(_, operations)| !operations.is_empty())
    .collect()
}

/// The same for programs.
fn ability_object(kind: Kind, ability: Ability, endpoints: &Endpoints) -> AbilityObject<'_> {
    let operations = ability::operations(kind).into_iter().map(|(for_what, operation)| {
        let endpoint = endpoints.get(operation);
        UsedOperation {
            operation,
            for_what,
            path: endpoint.map(|endpoint| endpoint.path()),
            origin: endpoint.map_or("unavailable", |endpoint| whose(endpoint.origin())),
        }
    });
    AbilityObject {
        kind: Plural(kind),
        can_create: ability.create,
        can_look_up: ability.look_up,
        can_verify: ability.verify,
        operations: operations.collect(),
    }
}

/// The service's time minus ours. A `Date` header has whole seconds, so a second more or less is none.
fn skew_seconds(date: Moment, now: Moment) -> i64 {
    (date.millis() - now.millis()) / 1000
}

fn tell_settings(context: &Context<'_>, settings: &Settings) {
    let terminal = context.terminal;
    if let Some((name, file)) = &settings.profile {
        terminal
            .result(Line::plain("profile ").ink(Ink::Strong, name).text(format!(" in {}", file.display())));
    }
    let mut table = crate::term::Table::new(&["setting", "value", "from"], &[]);
    for (setting, value, origin) in settings.listed() {
        table.row([setting.as_str(), &value, &origin]);
        terminal.object(&SettingObject { setting: &setting, value: &value, origin: &origin });
    }
    for line in table.lines() {
        terminal.result(line);
    }
    terminal.result("");
}

/// Looks at the journal of the common options and tells what there is.
fn check_journal(
    context: &Context<'_>,
    settings: Option<&Settings>,
    tell: &mut dyn FnMut(Health, &str, Option<&str>),
) {
    let path = &context.common.journal;
    if !was_there(path) {
        let message = format!("{} does not exist yet; the first import creates it", path.display());
        return tell(Health::Well, &message, None);
    }
    match journal_health(path, settings) {
        Ok((health, message, hint)) => tell(health, &message, hint),
        Err(error) => tell(Health::Wrong, &error.to_string(), error.next_step()),
    }
}

fn journal_health(
    path: &Path,
    settings: Option<&Settings>,
) -> Result<(Health, String, Option<&'static str>)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_are_compared_in_whole_seconds() {
        let now = Moment::from_millis(10_900);
        assert_eq!(skew_seconds(Moment::from_millis(10_000), now), 0);
        assert_eq!(skew_seconds(Moment::from_millis(101_000), now), 90);
        assert_eq!(skew_seconds(Moment::from_millis(0), Moment::from_millis(90_000)), -90);
    }
}
