//! The alert rules, the dashboard and the pages about them name only metrics that exist.

use std::collections::BTreeSet;

use super::{project, promtool};
use fleetload::metrics::FAMILIES;

const RULES: &str = "docs/alerts/fleetload.rules.yml";
const DASHBOARD: &str = "docs/alerts/fleetload.dashboard.json";

/// The names of samples.
fn known() -> BTreeSet<String> {
    let endings = |name: &str| ["", "_bucket", "_count", "_sum"].map(|ending| format!("{name}{ending}"));
    let histograms = FAMILIES.iter().filter(|family| family.metric.as_str() == "histogram");
    let plain = FAMILIES.iter().map(|family| family.sample_name());
    histograms.flat_map(|family| endings(family.name)).chain(plain).collect()
}

/// The names of metrics in a text.
fn named(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_word(c));
    words.filter(|word| word.starts_with("fleetload_")).map(str::to_owned).collect()
}

#[test]
fn rules_dashboard_and_pages_name_only_metrics_that_exist() {
    let known = known();
    for (page, least) in
        [(RULES, 6), (DASHBOARD, 12), ("docs/metrics.md", FAMILIES.len()), ("docs/alerts.md", 0)]
    {
        let named = named(&project(page));
        let strangers: Vec<&String> = named.difference(&known).collect();
        assert!(strangers.is_empty(), "{page}: {strangers:?}");
        assert!(named.len() >= least, "{page} names only {named:?}");
    }
}

#[test]
fn the_labels_of_rules_and_dashboard_are_those_of_the_metrics() {
    let labels: BTreeSet<&str> = FAMILIES.iter().flat_map(|family| family.labels.iter().copied()).collect();
    for page in [RULES, DASHBOARD] {
        for matcher in project(page).split('{').skip(1) {
            let inside = matcher.split('}').next().unwrap_or_default();
            for label in
                inside.split(',').filter_map(|part| part.split_once(['=', '!'])).map(|(label, _)| label)
            {
                let label = label.trim();
                let is_known = label == "account" || labels.contains(label);
                assert!(is_known || !label.chars().all(|c| c.is_ascii_lowercase()), "{page}: {label}");
            }
        }
    }
}

#[test]
fn there_are_six_alerts_each_explained_and_promtool_takes_them() {
    let (rules, page) = (project(RULES), project("docs/alerts.md"));
    let alerts: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert_eq!(alerts.len(), 6, "{alerts:?}");
    for alert in alerts {
        assert!(page.contains(&format!("| `{alert}` |")), "{alert} is not explained");
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(RULES);
    if let Some((said, code)) = promtool(&["check", "rules", path.to_str().expect("UTF-8")], "") {
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn the_dashboard_is_json_with_a_query_in_every_panel() {
    let dashboard: serde_json::Value = serde_json::from_str(&project(DASHBOARD)).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    assert!(panels.len() >= 10);
    for panel in panels {
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty() && targets.iter().all(|target| target["expr"].is_string()), "{panel}");
    }
}
