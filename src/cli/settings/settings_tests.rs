//! The rules of the settings, as tables: who wins, what is refused, and in which words.

use std::path::Path;

use super::account::Rehearsed;
use super::environment::Environment;
use super::profile::{self, Profile};
use super::setting::SETTINGS;
use super::*;
use crate::cli::args::options::Overrides;
use crate::cli::args::options::WindowArgs;
use crate::error::Result;
use jiff::tz::TimeZone;

const ACME: &str =
    "[profile.acme]\nbase_url = 'https://p.example'\nclient_id = 'me'\nclient_secret_command = 'true'\n";

fn profile(text: &str) -> Profile {
    profile::parse(Path::new("fleetload.toml"), text, None).unwrap()
}

fn with(addition: &str) -> Profile {
    profile(&format!("{ACME}{addition}"))
}

fn settle(flags: &Overrides, environment: &[(&str, &str)], profile: &Profile) -> Result<Settings> {
    Settings::settle(&Purpose::Service, flags, &Environment::of(environment), Some(profile))
}

fn of_file(addition: &str) -> Result<Settings> {
    settle(&Overrides::default(), &[], &with(addition))
}

fn told(result: Result<Settings>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    match error.next_step() {
        Some(hint) => format!("{error} | {hint}"),
        None => error.to_string(),
    }
}

#[test]
fn flags_win_over_the_environment_that_over_the_file_and_that_over_the_default() {
    let file = with("[profile.acme.limits]\nrate = 10\n");
    let flags = Overrides { rate: Some("30".into()), ..Overrides::default() };
    let environment = [("FLEETLOAD_RATE", "20")];
    let nothing: &[(&str, &str)] = &[];
    let table = [
        (&flags, &environment[..], &file, 30.0, "option --rate"),
        (&Overrides::default(), &environment[..], &file, 20.0, "environment FLEETLOAD_RATE"),
        (&Overrides::default(), nothing, &file, 10.0, "fleetload.toml, line 6"),
        (&Overrides::default(), nothing, &with(""), 98.5, "default"),
    ];
    for (flags, environment, profile, rate, origin) in table {
        let settings = settle(flags, environment, profile).unwrap();
        assert_eq!(settings.rate.value, Rate::PerSecond(rate));
        assert_eq!(settings.rate.origin.to_string(), origin);
    }
}

#[test]
fn every_setting_has_its_variable() {
    let environment = [
        ("FLEETLOAD_BASE_URL", "https://other.example"),
        ("FLEETLOAD_CLIENT_ID", "you"),
        ("FLEETLOAD_CLIENT_SECRET", "hunter2"),
        ("FLEETLOAD_PATHS", "assumed"),
        ("FLEETLOAD_CA_FILE", "authority.pem"),
        ("FLEETLOAD_PROXY", "environment"),
        ("FLEETLOAD_RATE", "5"),
        ("FLEETLOAD_CONCURRENCY", "6"),
        ("FLEETLOAD_DAILY_QUOTA", "7"),
        ("FLEETLOAD_RESERVE", "1"),
        ("FLEETLOAD_ON_QUOTA", "exit"),
        ("FLEETLOAD_ON_EXISTING", "fail"),
        ("FLEETLOAD_IN_DOUBT", "hold"),
        ("FLEETLOAD_AUDIT", "doubtful"),
        ("FLEETLOAD_SETTLE_SECONDS", "90"),
        ("FLEETLOAD_REQUEST_TIMEOUT_SECONDS", "9"),
    ];
    let without_file =
        Settings::settle(&Purpose::Service, &Overrides::default(), &Environment::of(&environment), None)
            .unwrap();
    for settings in [settle(&Overrides::default(), &environment, &with("")).unwrap(), without_file] {
        let account = settings.account.as_ref().unwrap();
        assert_eq!(account.base_url.value.as_str(), "https://other.example/");
        assert_eq!(account.client_id.value, "you");
        assert_eq!(account.secret.as_ref().unwrap().words(), "environment FLEETLOAD_CLIENT_SECRET");
        let origins = [
            &settings.paths.origin,
            &settings.ca_file.origin,
            &settings.proxy.origin,
            &settings.rate.origin,
            &settings.concurrency.origin,
            &settings.daily_quota.origin,
            &settings.reserve.origin,
            &settings.on_quota.origin,
            &settings.on_existing.origin,
            &settings.in_doubt.origin,
            &settings.audit.origin,
            &settings.settle.origin,
            &settings.request_timeout.origin,
        ];
        for origin in origins {
            assert!(matches!(origin, Origin::Environment(_)), "{origin}");
        }
        assert_eq!(settings.settle.value.as_secs(), 90);
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}

#[test]
fn every_setting_of_the_table_is_settled_and_listed() {
    let tables = "[profile.acme.notify]\nwebhook = 'https://hooks.example/t0ken'\nsecret_file = 'key'\n\
                  [profile.acme.window]\nbetween = ['22:00-06:00']\nzone = 'Pacific/Auckland'";
    let settings = of_file(tables).unwrap();
    let listed = settings.listed();
    for known in SETTINGS.iter().filter(|known| !known.key.contains("secret_")) {
        let is_it = |name: &str| name.rsplit('.').next() == Some(known.key);
        assert!(listed.iter().any(|(name, ..)| is_it(name)), "{}", known.key);
    }
    assert!(listed.iter().any(|(name, value, _)| name == "notify.secret" && value == "(not shown)"));
    assert!(!format!("{listed:?} {settings:?}").contains("t0ken"));
}

#[test]
fn whom_a_mail_goes_to_is_listed_with_its_own_line() {
    let tables = "[profile.acme.notify]\ncommand = ['sendmail', '-t']\nmail_to = ['ops@example.com']";
    let settings = of_file(tables).unwrap();
    let line_of = |key: &str| settings.listed().into_iter().find(|(name, ..)| name == key).unwrap().2;
    let (command, mail_to) = (line_of("notify.command"), line_of("notify.mail_to"));
    let number = |line: &str| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
    assert_eq!(number(&mail_to.to_string()), number(&command.to_string()) + 1, "{command}, {mail_to}");
}

#[test]
fn windows_are_those_of_the_profile_unless_others_are_typed_and_what_is_none_is_refused() {
    let table =
        "[profile.acme.window]\nbetween = ['22:00-06:00', 'Sat 00:00-24:00']\nzone = 'Pacific/Auckland'";
    let settings = of_file(table).unwrap();
    let hours = |between: &[&str], zone: Option<&str>| {
        let between = between.iter().map(|text| (*text).to_owned()).collect();
        let typed = WindowArgs { between, zone: zone.map(str::to_owned), on_close: None };
        let hours = settings.window.hours(&typed, None, &TimeZone::UTC);
        hours.map(|hours| hours.windows.map(|windows| windows.words())).map_err(|error| error.to_string())
    };
    let told = |words: &str| Ok(Some(words.to_owned()));
    assert_eq!(hours(&[], None), told("22:00-06:00, Sat 00:00-24:00 (Pacific/Auckland)"));
    assert_eq!(hours(&["08:00-09:00"], None), told("08:00-09:00 (Pacific/Auckland)"));
    assert_eq!(hours(&["08:00-09:00"], Some("Europe/Berlin")), told("08:00-09:00 (Europe/Berlin)"));
    let settings = of_file("").unwrap();
    let typed = WindowArgs { between: vec!["08:00-09:00".to_owned()], ..WindowArgs::default() };
    let hours = settings.window.hours(&typed, None, &TimeZone::UTC).unwrap();
    assert_eq!(hours.windows.unwrap().words(), "08:00-09:00 (UTC)", "the zone of the machine");
    assert!(settings.window.hours(&WindowArgs::default(), None, &TimeZone::UTC).unwrap().is_always());
    for (lines, words) in [
        ("between = ['22-06']", "line 6: between: '22-06' is not a window"),
        ("between = ['Mo 22:00-06:00']", "'Mo' is not a day"),
        ("between = ['22:00-22:00']", "a whole day is 00:00-24:00"),
        ("zone = 'Pacific/Aukland'", "'Pacific/Aukland' is not a time zone"),
    ] {
        let error = of_file(&format!("[profile.acme.window]\n{lines}")).unwrap_err().to_string();
        assert!(error.contains(words), "{lines}: {error}");
    }
}

#[test]
fn what_cannot_be_notified_is_refused_with_its_line() {
    let table = [
        ("webhook = 'http://hooks.example/t0ken'", "webhook must begin with https://"),
        ("mail_to = ['ops@example.com']", "'mail_to' needs a command that sends the mail"),
        (
            "command = ['sendmail']\nmail_to = ['Ops <ops@example.com>']",
            "'mail_to' holds something that is not",
        ),
        ("command = ['']", "'command' begins with an empty text"),
        ("on = ['finnished']", "did you mean \"finished\"?"),
        ("format = 'irc'", "'format' must be \"json\" or \"slack\" or \"teams\""),
        ("timeout_seconds = 0", "timeout_seconds must be a whole number of seconds from 1 to 60"),
        ("secret = 't0ken'", "'secret' does not belong in the settings file"),
    ];
    for (line, expected) in table {
        let text = format!("{ACME}[profile.acme.notify]\n{line}");
        let read = profile::parse(Path::new("fleetload.toml"), &text, None);
        let error = read.and_then(|read| settle(&Overrides::default(), &[], &read)).unwrap_err();
        let told = format!("{error} | {}", error.next_step().unwrap_or_default());
        assert!(told.contains(expected) && told.contains("fleetload.toml, line "), "{line}: {told}");
        assert!(!told.contains("t0ken"), "{told}");
    }
}

#[test]
fn every_option_of_the_table_is_an_option_of_run_and_every_override_is_in_the_table() {
    use clap::Args as _;
    let overrides = Overrides::augment_args(clap::Command::new("run"));
    let typed: Vec<String> =
        overrides.get_arguments().filter_map(|one| Some(format!("--{}", one.get_long()?))).collect();
    let table: Vec<&str> =
        SETTINGS.iter().map(|known| known.option).filter(|option| !option.is_empty()).collect();
    assert_eq!(typed, table);
}

#[test]
fn the_defaults_are_those_of_the_documentation() {
    let settings = of_file("").unwrap();
    assert_eq!(settings.paths.value.to_string(), "documented");
    assert_eq!(settings.rate.value, Rate::PerSecond(98.5));
    assert_eq!(settings.concurrency.value, 256);
    assert_eq!(settings.daily_quota.value, None);
    assert_eq!(settings.reserve.value, 0);
    assert_eq!(settings.on_quota.value.to_string(), "wait");
    assert_eq!(settings.on_existing.value.to_string(), "adopt");
    assert_eq!(settings.in_doubt.value.to_string(), "settle");
    assert_eq!(settings.audit.value.to_string(), "all");
    assert_eq!(settings.settle.value.as_secs(), 600);
    assert_eq!(settings.request_timeout.value.as_secs(), 120);
}

#[test]
fn values_out_of_bounds_are_refused_with_their_origin_and_the_bounds() {
    let table = [
        (
            "limits",
            "rate = 101",
            "fleetload.toml, line 6: rate is above 100 requests a second, which the service refuses | leave rate out for 98.5, which uses the limit as far as it safely goes",
        ),
        (
            "limits",
            "rate = 100.5",
            "fleetload.toml, line 6: rate is above 100 requests a second, which the service refuses | leave rate out for 98.5, which uses the limit as far as it safely goes",
        ),
        (
            "limits",
            "rate = 0",
            "fleetload.toml, line 6: rate must be a number of requests a second from 0.01 to 100",
        ),
        (
            "limits",
            "rate = nan",
            "fleetload.toml, line 6: rate must be a number of requests a second from 0.01 to 100",
        ),
        (
            "limits",
            "rate = 'unlimited'",
            "fleetload.toml, line 6: rate may be \"unlimited\" only towards this machine itself | the service allows 100 requests a second for each operation; leave rate out for 98.5",
        ),
        (
            "limits",
            "concurrency = 0",
            "fleetload.toml, line 6: concurrency must be a whole number of requests from 1 to 1024",
        ),
        (
            "limits",
            "concurrency = 1025",
            "fleetload.toml, line 6: concurrency must be a whole number of requests from 1 to 1024",
        ),
        (
            "limits",
            "concurrency = 1.5",
            "fleetload.toml, line 6: concurrency must be a whole number of requests from 1 to 1024",
        ),
        (
            "limits",
            "daily_quota = 0",
            "fleetload.toml, line 6: daily_quota must be a whole number of creations from 1 to 1000000000",
        ),
        (
            "limits",
            "reserve = -1",
            "fleetload.toml, line 6: reserve must be a whole number of creations from 0 to 1000000000",
        ),
        (
            "limits",
            "daily_quota = 10\nreserve = 10",
            "reserve (10, fleetload.toml, line 7) must be less than daily_quota (10, fleetload.toml, line 6): nothing would be left to create with | lower reserve or raise daily_quota",
        ),
        (
            "limits",
            "reserve = 1",
            "reserve (1, fleetload.toml, line 6) leaves a part of each day's creations to others, and daily_quota is not set: what is left of a quota that is not known cannot be known either | set daily_quota beside it, or set reserve to 0",
        ),
        (
            "policy",
            "settle_seconds = 59",
            "fleetload.toml, line 6: settle_seconds must be a whole number of seconds from 60 to 86400",
        ),
        (
            "policy",
            "request_timeout_seconds = 0",
            "fleetload.toml, line 6: request_timeout_seconds must be a whole number of seconds from 1 to 600",
        ),
        (
            "policy",
            "request_timeout_seconds = 601",
            "fleetload.toml, line 6: request_timeout_seconds must be a whole number of seconds from 1 to 600",
        ),
    ];
    for (section, line, expected) in table {
        assert_eq!(told(of_file(&format!("[profile.acme.{section}]\n{line}\n"))), expected, "{line}");
    }
}

#[test]
fn values_at_their_bounds_are_accepted() {
    for (section, line) in [
        ("limits", "rate = 100"),
        ("limits", "rate = 0.01"),
        ("limits", "concurrency = 1024"),
        ("limits", "daily_quota = 10\nreserve = 9"),
        ("policy", "settle_seconds = 60"),
        ("policy", "request_timeout_seconds = 600"),
    ] {
        of_file(&format!("[profile.acme.{section}]\n{line}\n")).unwrap();
    }
}

#[test]
fn a_wrong_word_of_the_environment_names_the_nearest() {
    let table = [
        ("FLEETLOAD_ON_QUOTA", "quit", "environment FLEETLOAD_ON_QUOTA: on_quota must be wait or exit"),
        (
            "FLEETLOAD_ON_QUOTA",
            "exti",
            "environment FLEETLOAD_ON_QUOTA: on_quota must be wait or exit | did you mean FLEETLOAD_ON_QUOTA=exit?",
        ),
        (
            "FLEETLOAD_RATE",
            "fast",
            "environment FLEETLOAD_RATE: rate must be a number of requests a second from 0.01 to 100",
        ),
    ];
    for (name, value, expected) in table {
        assert_eq!(told(settle(&Overrides::default(), &[(name, value)], &with(""))), expected);
    }
}

#[test]
fn the_secret_travels_over_https_or_stays_on_this_machine() {
    let https = "must begin with https://, so that nobody can read the secret on its way";
    let table = [
        ("https://p.example", None),
        ("https://p.example/tenant/", None),
        ("http://127.0.0.1:8470", None),
        ("http://127.8.9.10", None),
        ("http://[::1]:8470", None),
        ("http://localhost:8470", None),
        ("http://LOCALHOST", None),
        ("http://localhost.", None),
        ("http://p.example", Some(https)),
        ("http://localhost.p.example", Some(https)),
        ("http://128.0.0.1", Some(https)),
        ("http://[::2]", Some(https)),
        ("http://0.0.0.0", Some(https)),
        ("ftp://p.example", Some("must begin with https://")),
        ("file:///etc/passwd", Some("must begin with https://")),
        ("p.example", Some("is not an address")),
        ("https://user:hunter2@p.example", Some("must not contain a user name or password")),
        ("https://p.example/?a=b", Some("must end before any ? or #")),
        ("https://p.example/#a", Some("must end before any ? or #")),
    ];
    for (url, refusal) in table {
        let result = settle(&Overrides::default(), &[("FLEETLOAD_BASE_URL", url)], &with(""));
        match refusal {
            None => assert!(result.is_ok(), "{url}"),
            Some(words) => {
                let told = told(result);
                assert!(told.starts_with("environment FLEETLOAD_BASE_URL: base_url "), "{told}");
                assert!(told.contains(words) && !told.contains("hunter2"), "{url}: {told}");
            }
        }
    }
}

#[test]
fn towards_this_machine_the_rate_may_be_unlimited_and_settling_short() {
    let local = [("FLEETLOAD_BASE_URL", "http://127.0.0.1:1")];
    let file = with("[profile.acme.limits]\nrate = 'unlimited'\n[profile.acme.policy]\nsettle_seconds = 1\n");
    let settings = settle(&Overrides::default(), &local, &file).unwrap();
    assert_eq!(settings.rate.value, Rate::Unlimited);
    assert_eq!(settings.settle.value.as_secs(), 1);
}

#[test]
fn what_is_missing_is_told_with_where_to_set_it() {
    let no_profile = Settings::settle(&Purpose::Service, &Overrides::default(), &Environment::of(&[]), None);
    assert_eq!(
        told(no_profile),
        "there is no profile: no settings file was found | copy fleetload.example.toml to fleetload.toml and set \
         base_url there, or set FLEETLOAD_BASE_URL;\nto rehearse without a service: fleetload run FILE --sandbox"
    );
    let table = [
        ("client_id = 'me'\nclient_secret_command = 'true'", "base_url"),
        ("base_url = 'https://p.example'\nclient_secret_command = 'true'", "client_id"),
        ("base_url = 'https://p.example'\nclient_id = 'me'", "client_secret_file"),
    ];
    for (lines, key) in table {
        let told = told(settle(&Overrides::default(), &[], &profile(&format!("[profile.acme]\n{lines}\n"))));
        assert!(
            told.starts_with(&format!(
                "fleetload.toml: [profile.acme] has no {key} | set {key} there, or set"
            )),
            "{told}"
        );
    }
    let both = with("client_secret_file = 'x'\n");
    assert_eq!(
        told(settle(&Overrides::default(), &[], &both)),
        "fleetload.toml, line 4: the profile has both client_secret_file and client_secret_command | remove one of the two"
    );
}

#[test]
fn a_reckoning_needs_no_account_and_a_rehearsal_ignores_the_one_there_is() {
    let nothing = Environment::of(&[]);
    let reckoning = Settings::settle(&Purpose::Reckoning, &Overrides::default(), &nothing, None).unwrap();
    assert!(reckoning.account.is_none());
    let secretless = profile("[profile.acme]\nbase_url = 'https://p.example'\nclient_id = 'me'\n");
    let reckoning =
        Settings::settle(&Purpose::Reckoning, &Overrides::default(), &nothing, Some(&secretless)).unwrap();
    assert!(reckoning.account.unwrap().secret.is_none());

    let address: url::Url = "http://127.0.0.1:4711".parse().unwrap();
    let environment =
        Environment::of(&[("FLEETLOAD_BASE_URL", "https://real.example"), ("FLEETLOAD_RATE", "7")]);
    let purpose = Purpose::Rehearsal(Rehearsed {
        address: address.clone(),
        client_id: "sandbox".to_owned(),
        client_secret: "sandbox".to_owned().into(),
    });
    let rehearsal = Settings::settle(&purpose, &Overrides::default(), &environment, Some(&with(""))).unwrap();
    let account = rehearsal.account.unwrap();
    assert_eq!((account.base_url.value, account.client_id.value.as_str()), (address, "sandbox"));
    assert_eq!(rehearsal.profile, None);
    assert_eq!(rehearsal.paths.value.to_string(), "assumed");
    assert_eq!(rehearsal.settle.value, REHEARSAL_SETTLE);
    assert_eq!(rehearsal.rate.value, Rate::PerSecond(7.0));
}

#[test]
fn what_holds_for_windows_that_are_typed_is_listed_without_a_window_in_the_file() {
    let listed = |lines: &str| {
        let settings = of_file(&format!("[profile.acme.window]\n{lines}")).unwrap();
        let listed = settings.listed().into_iter().filter(|(name, ..)| name.starts_with("window."));
        listed.map(|(name, value, _)| format!("{name} = {value}")).collect::<Vec<_>>()
    };
    assert_eq!(listed(""), [""; 0]);
    assert_eq!(listed("zone = 'Pacific/Auckland'"), ["window.zone = Pacific/Auckland"]);
    assert_eq!(listed("on_close = 'exit'"), ["window.on_close = exit"]);
    assert_eq!(
        listed("between = ['22:00-06:00']"),
        ["window.between = 22:00-06:00", "window.on_close = wait"]
    );
}
