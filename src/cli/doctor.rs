//! `fleetload doctor`: shows every setting with its origin, and tries credentials, clock, journal and look-ups.
//!
//! Creates and changes nothing at the service: what is asked of it are look-ups of a record that cannot exist, and its
//! list of time zones, which is kept beside the journal for the checking of sheets.

use serde::Serialize;

use super::args::Overrides;
use super::commands::Doctor as Typed;
use super::context::Context;
use super::journal_check;
use super::probe::{self, Finding};
use super::reading;
use super::rehearsal::Rehearsal;
use super::settings::{Purpose, RateSetting, Settings};
use super::zones;
use crate::error::{Exit, Result};
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::service::Client;
use crate::service::Origin;
use crate::service::TokenInfo;
use crate::term::{Ink, Line, count, span};

/// From here on a difference of the clocks is worth telling, in seconds.
const NOTABLE_SKEW: i64 = 60;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Health {
    Well,
    Look,
    Wrong,
}

/// One check and how it went.
#[derive(Debug, Serialize)]
struct Check<'a> {
    object: &'static str,
    check: &'a str,
    health: Health,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// Examines everything and says what is wrong.
pub(super) fn doctor(context: &Context<'_>, typed: &Typed) -> Result<Exit> {
    context.rehearse(&typed.rehearsal);
    context.runtime()?.block_on(async {
        if !typed.rehearsal.sandbox {
            return examine(context, &Purpose::Service, &typed.overrides).await;
        }
        let rehearsal = Rehearsal::start(typed.rehearsal.scenario.as_deref(), None).await?;
        let purpose = Purpose::Rehearsal(rehearsal.account.clone());
        let exit = examine(context, &purpose, &typed.overrides).await;
        rehearsal.running.stop().await;
        exit
    })
}

async fn examine(context: &Context<'_>, purpose: &Purpose, overrides: &Overrides) -> Result<Exit> {
    let settings = context.settings(purpose, overrides)?;
    tell_settings(context, &settings);
    reading::tell_kept(context)?;
    let mut examined = Examined { context, wrong: false };
    journal_check::check(context, &settings, &mut |health, message, hint| {
        examined.tell("journal", health, message, hint);
    });
    let client = settings.client(context.clock.clone())?;
    match client.authenticate().await {
        Ok(token) => {
            examined.credentials(&token);
            examined.clock(&token);
            examined.endpoints(&client).await;
            if let (Purpose::Service, Some(account)) = (purpose, settings.identity()) {
                examined.zones(&client, &account.base_url).await;
            }
        }
        Err(verdict) => examined.no_token(&verdict),
    }
    let exit = if examined.wrong { Exit::Service } else { Exit::Done };
    match exit {
        Exit::Done => context
            .terminal
            .hint(format!("everything needed answers; next: {}", context.again("plan SHEET.xlsx"))),
        _ => context.terminal.hint(format!("mend what is wrong, then: {}", context.again("doctor"))),
    }
    Ok(exit)
}

struct Examined<'a> {
    context: &'a Context<'a>,
    /// Whether anything was found that keeps a run from working.
    wrong: bool,
}

impl Examined<'_> {
    fn tell(&mut self, check: &str, health: Health, message: &str, hint: Option<&str>) {
        let (ink, word) = match health {
            Health::Well => (Ink::Good, "ok   "),
            Health::Look => (Ink::Warning, "look "),
            Health::Wrong => (Ink::Error, "wrong"),
        };
        self.wrong |= health == Health::Wrong;
        let terminal = self.context.terminal;
        terminal.result(Line::new().ink(ink, word).text(format!("  {check}: {message}")));
        if let Some(hint) = hint {
            terminal.result(Line::plain("       ").ink(Ink::Hint, "hint:").text(" ").text(hint));
        }
        terminal.object(&Check { object: "check", check, health, message, hint });
    }

    fn credentials(&mut self, token: &TokenInfo) {
        let life = match token.expires_in {
            Some(life) => format!(", good for {}", span(life)),
            None => String::new(),
        };
        let message = format!("the service gave a token{life} (in {} ms)", token.took.as_millis());
        self.tell("credentials", Health::Well, &message, None);
    }

    fn no_token(&mut self, verdict: &Verdict) {
        let (message, hint) = match probe::finding(verdict) {
            Finding::Refused(why) | Finding::Unclear(why) => {
                (why, "check base_url, client_id and the client secret of the profile")
            }
            Finding::Missing(why) => (
                format!("there is nothing to sign in at: {why}"),
                "check base_url; where the path differs, set [profile.NAME.endpoints.auth]",
            ),
            Finding::Answers => (
                "the service refuses to give a token".to_owned(),
                "check client_id and the client secret of the profile",
            ),
        };
        self.tell("credentials", Health::Wrong, &message, Some(hint));
    }

    fn clock(&mut self, token: &TokenInfo) {
        let Some(date) = token.date else {
            let message =
                "the service does not tell its time; its midnight is reckoned by this machine's clock";
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
                format!("this machine's clock is {size} {side} the service's; the service's counts");
            self.tell("clock", Health::Look, &message, Some("set this machine's clock by a time server"));
        }
    }

    async fn endpoints(&mut self, client: &Client) {
        for (operation, origin, call) in probe::questions(client.endpoints()) {
            let answer = client.send(call).await;
            let path = client.endpoints().get(operation).map_or("", |endpoint| endpoint.path()).to_owned();
            let whose = match origin {
                Origin::Documented => "documented",
                Origin::Mapped => "mapped",
                Origin::Assumed => "assumed",
            };
            let name = format!("{operation} ({whose})");
            match probe::finding(&answer.verdict) {
                Finding::Answers => self.tell(&name, Health::Well, "answers", None),
                Finding::Missing(why) => {
                    // An assumed path that is not there was only a guess, and look-ups can be done without.
                    let health = if origin == Origin::Assumed { Health::Look } else { Health::Wrong };
                    let hint = format!("set method and path in [profile.NAME.endpoints.{operation}]");
                    self.tell(&name, health, &format!("{why} at {path}"), Some(&hint));
                }
                Finding::Unclear(why) => self.tell(&name, Health::Look, &why, None),
                Finding::Refused(why) => {
                    self.tell(&name, Health::Wrong, &why, None);
                    return;
                }
            }
        }
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
                    "the service lists {}; sheets for the journal {} are held against them from now on",
                    count(list.ids().len() as u64),
                    self.context.common.journal.display()
                );
                self.tell("time zones", Health::Well, &message, None);
            }
            Err(why) => {
                let message = format!("there is no list ({why}); sheets are held against the IANA list");
                self.tell("time zones", Health::Look, &message, None);
            }
        }
    }
}

/// The service's time minus ours. A `Date` header has whole seconds, so a second more or less is none.
fn skew_seconds(date: Moment, now: Moment) -> i64 {
    (date.millis() - now.millis()) / 1000
}

/// A setting for programs.
#[derive(Serialize)]
struct Told<'a> {
    object: &'static str,
    setting: &'a str,
    value: &'a str,
    origin: &'a str,
}

fn tell_settings(context: &Context<'_>, settings: &Settings) {
    let terminal = context.terminal;
    if let Some((name, file)) = &settings.profile {
        terminal
            .result(Line::plain("profile ").ink(Ink::Strong, name).text(format!(" in {}", file.display())));
    }
    let mut table = crate::term::Table::new(&["setting", "value", "from"], &[]);
    for (setting, value, origin) in listed(settings) {
        table.row([setting.as_str(), &value, &origin]);
        terminal.object(&Told { object: "setting", setting: &setting, value: &value, origin: &origin });
    }
    for line in table.lines() {
        terminal.result(line);
    }
    terminal.result("");
}

/// Every setting with its value and origin, in the order of the settings file. Of the secret, only the origin.
fn listed(settings: &Settings) -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: String, origin: String| rows.push((name.to_owned(), value, origin));
    if let Some(account) = &settings.account {
        add("base_url", account.base_url.value.to_string(), account.base_url.origin.to_string());
        add("client_id", account.client_id.value.clone(), account.client_id.origin.to_string());
        add("client_secret", "(not shown)".to_owned(), account.secret.words().to_owned());
    }
    add("paths", settings.paths.value.to_string(), settings.paths.origin.to_string());
    let ca_file = settings.ca_file.value.as_ref();
    let ca_file = ca_file.map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    add("ca_file", ca_file, settings.ca_file.origin.to_string());
    add("proxy", settings.proxy.value.to_string(), settings.proxy.origin.to_string());
    let rate = match settings.rate.value {
        RateSetting::PerSecond(rate) => rate.to_string(),
        RateSetting::Unlimited => "unlimited".to_owned(),
    };
    add("rate", rate, settings.rate.origin.to_string());
    add("concurrency", settings.concurrency.value.to_string(), settings.concurrency.origin.to_string());
    let quota = settings.daily_quota.value.map_or_else(|| "learned".to_owned(), |quota| quota.to_string());
    add("daily_quota", quota, settings.daily_quota.origin.to_string());
    add("reserve", settings.reserve.value.to_string(), settings.reserve.origin.to_string());
    add("on_quota", settings.on_quota.value.to_string(), settings.on_quota.origin.to_string());
    add("on_existing", settings.on_existing.value.to_string(), settings.on_existing.origin.to_string());
    add("in_doubt", settings.in_doubt.value.to_string(), settings.in_doubt.origin.to_string());
    add("audit", settings.audit.value.to_string(), settings.audit.origin.to_string());
    add("settle_seconds", settings.settle.value.as_secs().to_string(), settings.settle.origin.to_string());
    add(
        "request_timeout_seconds",
        settings.request_timeout.value.as_secs().to_string(),
        settings.request_timeout.origin.to_string(),
    );
    for (operation, endpoint) in &settings.endpoints {
        let value = format!("{} {}", endpoint.value.method, endpoint.value.path);
        add(&format!("endpoints.{operation}"), value, endpoint.origin.to_string());
    }
    rows
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
