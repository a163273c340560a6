//! The OpenMetrics text form: families with their samples, escaped, and the mark at the end.
//!
//! Only what the older text form of Prometheus reads as well is used, since the textfile collector of node_exporter reads
//! that: no info or stateset, no timestamps of samples.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::family::Family;
use crate::model::time::Moment;

/// The text, as far as it is written.
pub(super) struct TextForm {
    text: String,
    /// Labels of every sample.
    constant: Vec<(&'static str, String)>,
}

/// A sample of a gauge or a counter: the values of its labels, and its own.
pub(super) type Sample<'a> = (Vec<&'a str>, f64);

impl TextForm {
    /// Nothing yet; every sample is to have these labels.
    pub(super) fn new(constant: Vec<(&'static str, String)>) -> Self {
        Self { text: String::new(), constant }
    }

    /// Writes a family of gauges or counters. Without samples nothing is written.
    pub(super) fn family<'a>(&mut self, family: &Family, samples: impl IntoIterator<Item = Sample<'a>>) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        self.head(family);
        for (labels, value) in samples {
            let labels = self.labels(family, &labels, None);
            self.sample(&family.sample_name(), &labels, value);
        }
    }

    /// Writes a family with one sample, where it has a value.
    pub(super) fn value(&mut self, family: &Family, value: Option<f64>) {
        self.family(family, value.map(|value| (Vec::new(), value)));
    }

    /// Writes a point in time, where there is one.
    pub(super) fn moment(&mut self, family: &Family, at: Option<Moment>) {
        self.value(family, at.map(seconds_since_1970));
    }

    /// Writes points in time, each with its label.
    pub(super) fn moments<'a>(
        &mut self,
        family: &Family,
        moments: impl IntoIterator<Item = (&'a str, Moment)>,
    ) {
        self.family(family, moments.into_iter().map(|(label, at)| (vec![label], seconds_since_1970(at))));
    }

    /// Writes a family of histograms.
    pub(super) fn histograms<'a>(
        &mut self,
        family: &Family,
        histograms: impl IntoIterator<Item = (&'a str, &'a Histogram)>,
    ) {
        let mut histograms = histograms.into_iter().peekable();
        if histograms.peek().is_none() {
            return;
        }
        self.head(family);
        for (label, histogram) in histograms {
            let name = format!("{}_bucket", family.name);
            let mut below = 0;
            let bounds = BOUNDS.iter().map(|bound| bound_word(*bound)).chain(["+Inf".to_owned()]);
            for (bound, count) in bounds.zip(histogram.counts) {
                below += count;
                let labels = self.labels(family, &[label], Some(&bound));
                self.sample(&name, &labels, number(below));
            }
            let labels = self.labels(family, &[label], None);
            self.sample(&format!("{}_count", family.name), &labels, number(below));
            self.sample(&format!("{}_sum", family.name), &labels, histogram.sum.as_secs_f64());
        }
    }

    /// The text with its end.
    pub(super) fn end(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }

    fn head(&mut self, family: &Family) {
        let Family { name, metric, unit, help, .. } = family;
        // A text takes everything.
        let _infallible = writeln!(self.text, "# TYPE {name} {}", metric.as_str());
        if !unit.is_empty() {
            let _infallible = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _infallible = writeln!(self.text, "# HELP {name} {help}.");
    }

    fn labels(&self, family: &Family, values: &[&str], bound: Option<&str>) -> String {
        let constant = self.constant.iter().map(|(name, value)| (*name, value.as_str()));
        let own = family.labels.iter().copied().zip(values.iter().copied());
        let all = constant.chain(own).chain(bound.map(|bound| ("le", bound)));
        let all: Vec<String> = all.map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
    }

    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let _infallible = writeln!(self.text, "{name}{labels} {value}");
    }
}

/// The upper bounds of the latencies, in milliseconds: from an answer within a network to the longest that is waited for.
const BOUNDS: [u32; 12] = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 120_000];

/// How many latencies are at most so long.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram {
    /// How many are between a bound and the one before it; the last are above all bounds.
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Histogram {
    /// Counts a latency.
    pub(super) fn observe(&mut self, took: Duration) {
        let place = BOUNDS.iter().position(|bound| took <= Duration::from_millis(u64::from(*bound)));
        if let Some(count) = self.counts.get_mut(place.unwrap_or(BOUNDS.len())) {
            *count += 1;
        }
        self.sum += took;
    }
}

/// A bound as the text form wants it: a number with a point.
fn bound_word(milliseconds: u32) -> String {
    format!("{:?}", f64::from(milliseconds) / 1_000.0)
}

/// A count as a value.
#[expect(
    clippy::cast_precision_loss,
    reason = "the text form has floating-point values; counts stay below 2^53"
)]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 stay below 2^53")]
fn seconds_since_1970(at: Moment) -> f64 {
    at.millis() as f64 / 1_000.0
}

/// The value of a label. What steers a terminal is in no sample.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            letter if letter.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A count for each key, with the words of its labels.
pub(super) fn counts<'a, K>(
    of: &'a BTreeMap<K, u64>,
    labels: impl Fn(&'a K) -> Vec<&'a str> + 'a,
) -> impl Iterator<Item = Sample<'a>> {
    of.iter().map(move |(key, count)| (labels(key), number(*count)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::family::MetricType;

    static LATENCY: Family = Family {
        name: "a_seconds",
        metric: MetricType::Histogram,
        unit: "seconds",
        labels: &["operation"],
        of_run: true,
        help: "How long",
    };
    static REQUESTS: Family =
        Family { name: "a", metric: MetricType::Counter, unit: "", help: "How many", ..LATENCY };

    #[test]
    fn a_histogram_has_cumulative_buckets_a_count_and_a_sum() {
        let mut histogram = Histogram::default();
        for took in [10, 11, 2_500, 400_000] {
            histogram.observe(Duration::from_millis(took));
        }
        let mut text = TextForm::new(Vec::new());
        text.histograms(&LATENCY, [("addDevice", &histogram)]);
        let text = text.end();
        for line in [
            "# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n# HELP a_seconds How long.\n",
            "a_seconds_bucket{operation=\"addDevice\",le=\"0.01\"} 1\n",
            "a_seconds_bucket{operation=\"addDevice\",le=\"0.025\"} 2\n",
            "a_seconds_bucket{operation=\"addDevice\",le=\"1.0\"} 2\n",
            "a_seconds_bucket{operation=\"addDevice\",le=\"120.0\"} 3\n",
            "a_seconds_bucket{operation=\"addDevice\",le=\"+Inf\"} 4\n",
            "a_seconds_count{operation=\"addDevice\"} 4\na_seconds_sum{operation=\"addDevice\"} 402.521\n# EOF\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }

    #[test]
    fn labels_are_escaped_and_a_family_without_samples_is_not_written() {
        let mut text = TextForm::new(vec![("account", "a\"b\\c\nd\u{1b}[2J".to_owned())]);
        text.family(&REQUESTS, [(vec!["addDevice"], 3.0)]);
        text.family(&LATENCY, []);
        text.value(&LATENCY, None);
        assert_eq!(
            text.end(),
            "# TYPE a counter\n# HELP a How many.\n\
             a_total{account=\"a\\\"b\\\\c\\nd\u{fffd}[2J\",operation=\"addDevice\"} 3\n# EOF\n"
        );
    }

    #[test]
    fn a_moment_is_in_seconds_with_its_thousandths() {
        let gauge = Family { metric: MetricType::Gauge, labels: &[], ..LATENCY };
        let mut text = TextForm::new(Vec::new());
        text.moment(&gauge, Some(Moment::from_millis(1_772_409_599_250)));
        assert!(text.end().contains("a_seconds 1772409599.25\n"));
    }
}
