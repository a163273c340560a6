//! What a settings file may say, and in which words it is refused, as tables.

use std::path::Path;

use super::environment::Environment;
use super::layers::DEFAULT_RATE;
use super::profile::*;
use super::section::Located;
use super::setting::{CLIENT_ID, CONCURRENCY, DAILY_QUOTA, RATE, RESERVE, SETTINGS};
use crate::error::Result;
use crate::model::operation::Operation;

fn told(text: &str) -> String {
    tell(parse(Path::new("fleetload.toml"), text, None))
}

fn tell(result: Result<Profile>) -> String {
    let error = result.unwrap_err();
    match error.next_step() {
        Some(hint) => format!("{error} | {hint}"),
        None => error.to_string(),
    }
}

#[test]
fn every_key_of_the_example_is_understood() {
    let text = include_str!("../../../fleetload.example.toml");
    let profile = parse(Path::new("fleetload.example.toml"), text, Some("acme")).unwrap();
    assert_eq!(profile.name, "acme");
    let uncommented: String = text
        .lines()
        .map(|line| match line.strip_prefix("#: ") {
            Some(setting) => format!("{setting}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let all = parse(Path::new("fleetload.example.toml"), &uncommented, Some("acme")).unwrap();
    for known in SETTINGS {
        assert!(all.value(known).is_some(), "{}", known.key);
    }
    assert!(text.contains(&format!("#: rate = {DEFAULT_RATE}\n")), "the rate that is shown is the default");
    let lists = [&all.notify.command, &all.notify.mail_to, &all.notify.on];
    assert!(lists.iter().all(|list| !list.is_empty()));
    assert!(all.endpoints.contains_key(&Operation::AddSite));
    assert_eq!(all.reading.encoding.as_deref(), Some("windows-1252"));
    assert_eq!((all.customers[0].0.as_str(), all.customers[0].1.header_row), ("northern", Some(3)));
}

#[test]
fn a_wrong_file_is_refused_with_its_line_and_the_nearest_right_word() {
    let table = [
        (
            "",
            "fleetload.toml has no profile | begin one with [profile.NAME]; fleetload.example.toml explains every line",
        ),
        (
            "[profile.a]\nbase_ur = 'x'\n",
            "fleetload.toml, line 2: [profile.a] has no key 'base_ur' | did you mean 'base_url'?",
        ),
        (
            "[profile.a]\ncolour = 'x'\n",
            "fleetload.toml, line 2: [profile.a] has no key 'colour' | its keys are limits, policy, notify, window, endpoints, reading, customers, base_url, client_id, client_secret_file, client_secret_command, paths, ca_file, proxy, confirm, metrics_file",
        ),
        (
            "[profile.a]\n\nrate = 5\n",
            "fleetload.toml, line 3: [profile.a] has no key 'rate' | 'rate' belongs in [profile.a.limits]",
        ),
        (
            "[profile.a.limits]\non_quota = 'wait'\n",
            "fleetload.toml, line 2: [profile.a.limits] has no key 'on_quota' | 'on_quota' belongs in [profile.a.policy]",
        ),
        (
            "[profile.a.limits]\nrates = 5\n",
            "fleetload.toml, line 2: [profile.a.limits] has no key 'rates' | did you mean 'rate'?",
        ),
        (
            "[profil.a]\n",
            "fleetload.toml, line 1: 'profil' is not a table of a settings file | did you mean 'profile'?",
        ),
        (
            "base_url = 'x'\n",
            "fleetload.toml, line 1: 'base_url' is not a table of a settings file | 'base_url' belongs in a profile, which begins with [profile.NAME]",
        ),
        (
            "[profile.a]\nbase_url = 5\n",
            "fleetload.toml, line 2: 'base_url' must be a text in quotes, not a number",
        ),
        (
            "[profile.a.limits]\nrate = '98'\n",
            "fleetload.toml, line 2: 'rate' must be a number without quotes, not a text",
        ),
        (
            "[profile.a]\nlimits = 5\n",
            "fleetload.toml, line 2: 'limits' must be a table, [profile.a.limits], not a number",
        ),
        ("profile = 5\n", "fleetload.toml, line 1: 'profile' must be a table, [profile], not a number"),
        ("[profile]\nname = 'a'\n", "fleetload.toml, line 2: 'name' must be a table, [profile.name]"),
        (
            "[profile.a.policy]\non_quota = 'waits'\n",
            "fleetload.toml, line 2: 'on_quota' must be \"wait\" or \"exit\" | did you mean on_quota = \"wait\"?",
        ),
        (
            "[profile.a]\npaths = 'all'\n",
            "fleetload.toml, line 2: 'paths' must be \"documented\" or \"assumed\"",
        ),
        (
            "[profile.a.endpoints.addSites]\npath = '/x'\n",
            "fleetload.toml, line 1: the service has no operation named 'addSites' | did you mean 'addSite'?",
        ),
        (
            "[profile.a.endpoints.addSite]\nmethod = 'HEAD'\n",
            "fleetload.toml, line 2: 'method' must be \"GET\" or \"POST\" or \"PUT\" or \"PATCH\" or \"DELETE\"",
        ),
        (
            "[profile.a.endpoints.addSite]\nmethod = 'POST'\n",
            "fleetload.toml, line 1: the endpoint of addSite has no path | for example path = \"/device-api/config/v1/addSite\"",
        ),
        (
            "[profile.a.endpoints.addSite]\npath = '/x'\nverb = 'POST'\n",
            "fleetload.toml, line 3: [profile.a.endpoints.addSite] has no key 'verb' | its keys are method, path",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn no_complaint_about_a_file_shows_a_secret_in_it() {
    let table = [
        "[profile.a]\nclient_secret = 'hunter2'\n",
        "[profile.a]\nclient_secret = 'hunter2\n",
        "[profile.a]\nclient_secret = hunter2\n",
        "[profile.a]\nclient_secret = 5hunter2\n",
        "[profile.a]\nclientSecret = 'hunter2'\n",
        "[profile.a]\nclient_secert = 'hunter2'\n",
        "[profile.a]\npassword = 'hunter2'\n",
        "client_secret = 'hunter2'\n",
        "[profile]\nclient_secret = 'hunter2'\n",
        "[profile.a]\nclient_secret_file = ['hunter2']\n",
        "[profile.a]\npaths = 'hunter2'\n",
        "[profile.a]\nclient_secret = 'x'\nclient_secret = 'hunter2'\n",
        "[profile.a]\nclient_secret = \"\\qhunter2\"\n",
        "[profile.a.limits]\nrate = 'hunter2'\n",
    ];
    for text in table {
        let told = told(text);
        assert!(!told.contains("hunter2"), "{told}");
        assert!(told.starts_with("fleetload.toml, line "), "{told}");
    }
    assert!(told(table[0]).starts_with(
        "fleetload.toml, line 2: 'client_secret' does not belong in the settings file | put the secret alone"
    ));
}

#[test]
fn the_only_profile_is_the_default_and_of_several_one_must_be_named() {
    let file = Path::new("fleetload.toml");
    let two = "[profile.acme]\nclient_id = 'a'\n[profile.zenith]\nclient_id = 'z'\n";
    assert_eq!(parse(file, "[profile.acme]\n", None).unwrap().name, "acme");
    assert_eq!(parse(file, two, Some("zenith")).unwrap().value(&CLIENT_ID).unwrap().value, "z");
    assert_eq!(
        tell(parse(file, two, None)),
        "fleetload.toml has several profiles: acme, zenith | choose one, for example --profile acme"
    );
    assert_eq!(
        tell(parse(file, two, Some("zentih"))),
        "fleetload.toml has no profile 'zentih' | did you mean --profile zenith?"
    );
    assert_eq!(
        tell(parse(file, two, Some("other"))),
        "fleetload.toml has no profile 'other' | its profiles are acme, zenith"
    );
}

#[test]
fn numbers_are_taken_as_written_and_lines_are_kept() {
    let text = "[profile.a.limits]\nrate = 12.5\nconcurrency = 1_024\ndaily_quota = 0x10\nreserve = -1\n";
    let profile = parse(Path::new("f"), text, None).unwrap();
    assert_eq!(profile.value(&RATE), Some(&Located { value: "12.5".to_owned(), line: 2 }));
    assert_eq!(profile.value(&CONCURRENCY), Some(&Located { value: "1024".to_owned(), line: 3 }));
    assert_eq!(profile.value(&DAILY_QUOTA), Some(&Located { value: "16".to_owned(), line: 4 }));
    assert_eq!(profile.value(&RESERVE), Some(&Located { value: "-1".to_owned(), line: 5 }));
}

#[test]
fn the_settings_file_is_the_one_named_else_the_one_here_else_the_users() {
    let folder = tempfile::tempdir().unwrap();
    let (here, home) = (folder.path().join("here"), folder.path().join("home"));
    let user = home.join(".config/fleetload");
    std::fs::create_dir_all(&here).unwrap();
    std::fs::create_dir_all(&user).unwrap();
    let environment = Environment::of(&[("HOME", home.to_str().unwrap())]);
    assert_eq!(locate(None, &here, &environment).unwrap(), None);
    std::fs::write(user.join("fleetload.toml"), "").unwrap();
    assert_eq!(locate(None, &here, &environment).unwrap(), Some(user.join("fleetload.toml")));
    std::fs::write(here.join("fleetload.toml"), "").unwrap();
    assert_eq!(locate(None, &here, &environment).unwrap(), Some("fleetload.toml".into()));
    let named = user.join("fleetload.toml");
    assert_eq!(locate(Some(&named), &here, &environment).unwrap(), Some(named));
    let missing = tell(locate(Some(Path::new("no.toml")), &here, &environment).map(|_| unreachable!()));
    assert_eq!(
        missing,
        "there is no settings file no.toml | name one that exists with --config, or copy fleetload.example.toml to it"
    );
}

#[test]
fn the_documentation_explains_every_key_about_sheets() {
    let page = include_str!("../../../docs/profile.md");
    let missing: Vec<_> = crate::cli::settings::reading_options::KEYS
        .iter()
        .filter(|key| !page.contains(&format!("| `{key}` | `--")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
