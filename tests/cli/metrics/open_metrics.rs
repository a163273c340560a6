//! A reader of the OpenMetrics text form that takes nothing but what the form allows.

#![allow(dead_code, reason = "every test uses a part of it")]

use std::collections::BTreeMap;

/// The labels of a sample.
pub(super) type Labels = BTreeMap<String, String>;

/// A text that was read: the samples by their names.
#[derive(Debug, Default)]
pub(super) struct Metrics(BTreeMap<String, Vec<(Labels, f64)>>);

/// A family under way.
#[derive(Default)]
struct Open {
    name: String,
    metric: String,
    unit: Option<String>,
    help: Option<String>,
    has_samples: bool,
}

impl Metrics {
    /// Reads a text; panics where it breaks a rule.
    #[track_caller]
    pub(super) fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end mark:\n{text}"));
        assert!(!body.contains("# EOF") && !body.contains('\r'), "{text}");
        let (mut metrics, mut open, mut seen) = (Self::default(), Open::default(), Vec::<String>::new());
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# ") {
                let (word, rest) = rest.split_once(' ').expect("a word and a name");
                let (name, value) = rest.split_once(' ').expect("a name and a value");
                if word == "TYPE" {
                    open.check();
                    assert!(!seen.iter().any(|seen| seen == name), "{name} comes twice");
                    seen.push(name.to_owned());
                    assert!(["gauge", "counter", "histogram"].contains(&value), "{line}");
                    open = Open { name: name.to_owned(), metric: value.to_owned(), ..Open::default() };
                    continue;
                }
                assert!(name == open.name && !open.has_samples, "{line} is not where its family begins");
                match word {
                    "UNIT" => assert!(open.unit.replace(value.to_owned()).is_none(), "{line}"),
                    "HELP" => assert!(open.help.replace(value.to_owned()).is_none(), "{line}"),
                    _ => panic!("{line}"),
                }
                continue;
            }
            let (name, labels, value) = sample(line);
            open.has_samples = true;
            let ending =
                name.strip_prefix(&open.name).unwrap_or_else(|| panic!("{line} is in {}", open.name));
            let allowed: &[&str] = match open.metric.as_str() {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_count", "_sum"],
                _ => &[""],
            };
            assert!(allowed.contains(&ending), "{line}");
            assert_eq!(labels.contains_key("le"), ending == "_bucket", "{line}");
            assert!(open.metric == "gauge" || value >= 0.0, "{line}");
            let samples = metrics.0.entry(name).or_default();
            assert!(samples.iter().all(|(other, _)| *other != labels), "{line} comes twice");
            samples.push((labels, value));
        }
        open.check();
        for name in &seen {
            metrics.check_buckets(name);
        }
        metrics
    }

    /// Buckets rise up to the one without a bound, which has the count.
    fn check_buckets(&self, family: &str) {
        let mut rising: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for (labels, value) in self.samples(&format!("{family}_bucket")) {
            let mut rest = labels.clone();
            let bound = rest.remove("le").expect("a bound");
            assert!(bound == "+Inf" || bound.contains('.'), "{bound} is no canonical number");
            rising
                .entry(rest)
                .or_default()
                .push((bound.replace("+Inf", "inf").parse().expect("a number"), *value));
        }
        for (labels, buckets) in rising {
            assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{family} {labels:?} {buckets:?}");
            let last = buckets.last().expect("a bucket");
            let count = self.samples(&format!("{family}_count")).iter().find(|(other, _)| *other == labels);
            assert!(
                last.0.is_infinite() && count.is_some_and(|(_, count)| *count == last.1),
                "{family} {labels:?}"
            );
        }
    }

    /// The samples of a name.
    pub(super) fn samples(&self, name: &str) -> &[(Labels, f64)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The one sample of a name, if there is one.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        let samples = self.samples(name);
        assert!(samples.len() <= 1, "{samples:?}");
        samples.first().map(|(_, value)| *value)
    }

    /// The samples of a name added up by one of their labels; zeros are left out.
    pub(super) fn by(&self, name: &str, label: &str) -> BTreeMap<String, u64> {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (labels, value) in self.samples(name).iter().filter(|(_, value)| *value > 0.0) {
            *sums.entry(labels[label].clone()).or_default() += whole(*value);
        }
        sums
    }

    /// The samples of a name with these labels, added up.
    pub(super) fn sum(&self, name: &str, wanted: &[(&str, &str)]) -> u64 {
        let has = |labels: &Labels| {
            wanted.iter().all(|(name, value)| labels.get(*name).is_some_and(|v| v == value))
        };
        self.samples(name).iter().filter(|(labels, _)| has(labels)).map(|(_, value)| whole(*value)).sum()
    }
}

impl Open {
    fn check(&self) {
        if self.name.is_empty() {
            return;
        }
        assert!(is_name(&self.name) && self.has_samples, "{}", self.name);
        assert!(self.help.as_ref().is_some_and(|help| !help.is_empty()), "{} has no help", self.name);
        if let Some(unit) = &self.unit {
            assert!(self.name.ends_with(&format!("_{unit}")), "{} does not end with {unit}", self.name);
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The name, the labels and the value of a line.
fn sample(line: &str) -> (String, Labels, f64) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("{line}"));
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(is_name(label), "{line}");
            let (value, after) = quoted(after, line);
            assert!(labels.insert(label.to_owned(), value).is_none(), "{line}: {label} twice");
            if let Some(after) = after.strip_prefix('}') {
                rest = after;
                break;
            }
            rest = after.strip_prefix(',').unwrap_or_else(|| panic!("{line}"));
        }
    }
    let value = rest.strip_prefix(' ').unwrap_or_else(|| panic!("{line}"));
    assert!(!value.contains(' '), "{line} has a timestamp");
    (name.to_owned(), labels, value.parse().unwrap_or_else(|_| panic!("{line}")))
}

/// A value up to its quote, and what follows.
fn quoted<'a>(text: &'a str, line: &str) -> (String, &'a str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, escaped @ ('\\' | '"'))) => value.push(escaped),
                other => panic!("{line}: {other:?}"),
            },
            letter => value.push(letter),
        }
    }
    panic!("{line} has no end of a label");
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
pub(super) fn whole(value: f64) -> u64 {
    assert!(value >= 0.0 && value.fract() == 0.0, "{value}");
    value as u64
}

#[test]
fn what_breaks_a_rule_is_noticed() {
    let right = "# TYPE a counter\n# HELP a How many.\na_total{b=\"c\"} 1\n# EOF\n";
    Metrics::parse(right);
    for (from, to) in [
        ("# EOF\n", ""),
        ("# HELP a How many.\n", ""),
        ("a_total", "a"),
        ("a_total", "b_total"),
        ("} 1", "} one"),
        ("} 1", "} 1 1772409599"),
        ("\"c\"", "\"c"),
        ("# HELP", "# UNIT a seconds\n# HELP"),
        ("# EOF", "a_total{b=\"c\"} 2\n# EOF"),
        ("counter", "info"),
    ] {
        let wrong = right.replace(from, to);
        assert!(std::panic::catch_unwind(|| Metrics::parse(&wrong)).is_err(), "{wrong}");
    }
}
