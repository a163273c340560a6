//! The list of findings of one import: all of them counted and placed, the first of each kind kept.
//!
//! A wrong column of a large sheet gives a million equal sentences. They are one group: how many there are, in which
//! ranges, and the first of them whole. There are never more than some thousand groups: those that a hostile sheet would
//! add are told together, whatever their column. The policy of the import is applied to what has not passed it yet.

use std::collections::{BTreeSet, HashMap};

use super::Finding;
use super::code::{Code, Severity};
use super::ranges::Places;
use super::severity_policy::SeverityPolicy;

/// Findings kept of one group; the rest are counted and placed.
const KEPT_PER_GROUP: usize = 1_000;
/// Findings kept of all groups together, some hundred bytes each; the first of every group are kept beyond it.
const KEPT: usize = 50_000;
/// Findings kept where every one is to be listed.
const KEPT_OF_LISTED: usize = 100_000;
/// Their size in memory, about: sentences may be long.
const LISTED_BYTES: usize = 64 << 20;
/// The first findings of a group that differ, which are reported whole.
const FIRST: usize = 5;

/// How many findings are kept.
#[derive(Debug, Clone, Copy)]
struct KeptLimits {
    of_group: usize,
    of_all: usize,
}

impl Default for KeptLimits {
    fn default() -> Self {
        Self { of_group: KEPT_PER_GROUP, of_all: KEPT }
    }
}

/// A list of findings that stays small: after 1,000 equal ones in a column only their number and range grow.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    policy: SeverityPolicy,
    limits: KeptLimits,
    kept: Vec<Finding>,
    groups: Groups,
    counts: [usize; 4],
    /// What is kept, in bytes.
    bytes: usize,
    /// The sheets in the order of the files, as far as they are known.
    sheets: Vec<(String, Option<String>)>,
    /// Codes of errors, denied warnings among them, that are about more than a row, so that leaving out rows does not
    /// help.
    whole: BTreeSet<Code>,
}

impl Findings {
    /// An empty list whose findings are judged by `policy`.
    pub fn under(policy: SeverityPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The same, of which every finding is to be listed: 100,000 are kept, however many are equal, and of each group the
    /// first five beyond that.
    #[must_use]
    pub fn listing_all(mut self) -> Self {
        self.limits = KeptLimits { of_group: usize::MAX, of_all: KEPT_OF_LISTED };
        self
    }

    /// A list like this one that has no findings yet.
    #[must_use]
    pub fn none_yet(&self) -> Self {
        Self { policy: self.policy.clone(), limits: self.limits, ..Self::default() }
    }

    /// What its findings are judged by.
    pub fn policy(&self) -> &SeverityPolicy {
        &self.policy
    }

    /// Notes a sheet that was opened, so that what is found in it is reported in the order of the files.
    pub fn note_sheet(&mut self, file: &str, sheet: Option<&str>) {
        self.sheets.push((file.to_owned(), sheet.map(str::to_owned)));
    }

    /// The sheets, and the files as a whole, in the order of the files; those nobody noted as they come up. What is
    /// about a whole file stands before its sheets.
    pub fn sheets(&self) -> Vec<(&str, Option<&str>)> {
        let mut sheets: Vec<(&str, Option<&str>)> =
            self.sheets.iter().map(|(file, sheet)| (file.as_str(), sheet.as_deref())).collect();
        for group in self.groups.all() {
            let (file, sheet) = (group.key.file.as_str(), group.key.sheet.as_deref());
            if sheets.contains(&(file, sheet)) {
                continue;
            }
            let of_file = |known: &(&str, Option<&str>)| known.0 == file;
            let at = match sheet {
                None => sheets.iter().position(of_file),
                Some(_) => sheets.iter().rposition(of_file).map(|last| last + 1),
            };
            sheets.insert(at.unwrap_or(sheets.len()), (file, sheet));
        }
        sheets
    }

    /// Takes one in.
    pub fn push(&mut self, mut finding: Finding) {
        if self.policy.judge(&mut finding) {
            self.whole.insert(finding.code);
        }
        self.take(finding);
    }

    /// Takes in those about a whole file or sheet: leaving out rows fixes no error among them.
    pub fn extend_whole(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for mut finding in findings {
            self.policy.judge(&mut finding);
            if finding.is_error() {
                self.whole.insert(finding.code);
            }
            self.take(finding);
        }
    }

    fn take(&mut self, finding: Finding) {
        let number = self.groups.of(&finding);
        self.groups.at(number).places.add(&finding);
        self.keep(number, finding);
    }

    /// Counts a finding of this group, whose place is noted, and keeps it if it is among the first.
    fn keep(&mut self, number: usize, mut finding: Finding) {
        self.counts[finding.severity as usize] += 1;
        let group = self.groups.at(number);
        group.count += 1;
        let says_the_same = |place: &usize| {
            let other = self.kept.get(*place);
            other.is_some_and(|other| other.value == finding.value && other.message == finding.message)
        };
        let first = group.first.len() < FIRST && !group.first.iter().any(says_the_same);
        if first {
            group.first.push(self.kept.len());
        }
        let has_room = self.kept.len() < self.limits.of_all && self.bytes < LISTED_BYTES;
        if first || (group.kept < self.limits.of_group && has_room) {
            group.kept += 1;
            finding.complete();
            self.bytes += finding.size();
            self.kept.push(finding);
        }
    }

    /// Takes several in.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.push(finding);
        }
    }

    /// Takes in another list that was judged already, with all that it only counted.
    pub fn append(&mut self, others: Self) {
        for finding in others.kept {
            let number = self.groups.of(&finding);
            self.keep(number, finding);
        }
        for group in others.groups.into_all() {
            let (beyond, severity) = (group.beyond(), group.key.severity);
            let number = self.groups.with(group.key);
            let own = self.groups.at(number);
            // The places of those kept are among them, so that each is noted once.
            own.places.append(&group.places);
            own.count += beyond;
            self.counts[severity as usize] += beyond;
        }
        self.whole.extend(others.whole);
    }

    /// Only those that forbid something, with all that is counted of them.
    #[must_use]
    pub fn errors(&self) -> Self {
        let (policy, sheets) = (self.policy.clone(), self.sheets.clone());
        let mut errors = Self { policy, sheets, limits: self.limits, ..Self::default() };
        let mut all = self.clone();
        all.kept.retain(Finding::is_error);
        all.groups.retain(|key| matches!(key.severity, Severity::Fatal | Severity::Error));
        errors.append(all);
        errors
    }

    /// How many there are of a severity, those not kept included.
    pub fn count(&self, severity: Severity) -> usize {
        self.counts[severity as usize]
    }

    /// Whether nothing forbids using the sheets.
    pub fn is_clean(&self) -> bool {
        self.count(Severity::Fatal) == 0 && self.count(Severity::Error) == 0
    }

    /// Whether nothing may be imported. With `skip_invalid` the rows with errors are left out, which helps as long as
    /// only rows are wrong: two columns that claim one place, or a second table that is not read, are no row's fault.
    pub fn forbid_import(&self, skip_invalid: bool) -> bool {
        let whole = self.count(Severity::Fatal) > 0 || !self.whole.is_empty();
        whole || (!self.is_clean() && !skip_invalid)
    }

    /// The codes of what is wrong with whole files and sheets, for which no row can be left out.
    pub fn of_the_whole(&self) -> BTreeSet<Code> {
        let fatal = self.groups().iter().filter(|group| group.key.severity == Severity::Fatal);
        fatal.map(|group| group.key.code).chain(self.whole.iter().copied()).collect()
    }

    /// Those kept, in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.kept.iter()
    }

    /// The groups, in the order their first findings came.
    pub fn groups(&self) -> &[Group] {
        self.groups.all()
    }

    /// The first findings of a group of this list, at most five.
    pub fn first_of<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a Finding> {
        group.first.iter().filter_map(|place| self.kept.get(*place))
    }

    /// One note for each group that was shortened.
    pub fn shortened(&self) -> Vec<Finding> {
        let mut groups: Vec<_> = self.groups().iter().filter(|group| group.is_shortened()).collect();
        groups.sort_by(|left, right| left.key.cmp(&right.key));
        let note = |group: &Group| {
            let (more, code) = (group.beyond(), group.key.code);
            let mut note = Finding::of_file(
                Code::LimitFindings,
                &group.key.file,
                format!("{more} more findings {code} of the same column are not listed"),
            );
            note.sheet.clone_from(&group.key.sheet);
            note.column.clone_from(&group.key.column);
            note
        };
        groups.into_iter().map(note).collect()
    }

    /// Those kept, with one note for each group that was shortened.
    pub fn into_vec(self) -> Vec<Finding> {
        let shortened = self.shortened();
        let mut all = self.kept;
        all.extend(shortened);
        all
    }
}

/// Groups told apart by column and header; a sheet with ever other headers would make ever more.
pub(super) const GROUPS: usize = 10_000;

/// What equal findings have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    /// The file, by its name as given.
    pub file: String,
    /// The worksheet; absent for text tables.
    pub sheet: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub code: Code,
    /// The column by its canonical name.
    pub column: Option<String>,
    /// The header of the column, as written in the file.
    pub header: Option<String>,
}

/// Equal findings of one column.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// How many there are.
    pub count: usize,
    /// Where they are.
    pub places: Places,
    /// How many of them are kept.
    pub(super) kept: usize,
    /// The first of them, by their place among those kept.
    pub(super) first: Vec<usize>,
}

impl Group {
    /// Whether some of them are counted and placed only.
    pub fn is_shortened(&self) -> bool {
        self.beyond() > 0
    }

    /// How many of them are.
    pub(super) fn beyond(&self) -> usize {
        self.count - self.kept
    }
}

/// All groups, each found by its key.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    numbers: HashMap<GroupKey, usize>,
}

impl Groups {
    /// The groups, in the order their first findings came.
    pub(super) fn all(&self) -> &[Group] {
        &self.all
    }

    /// The same, to be taken in by another list.
    pub(super) fn into_all(self) -> Vec<Group> {
        self.all
    }

    /// The group of this number.
    pub(super) fn at(&mut self, number: usize) -> &mut Group {
        &mut self.all[number]
    }

    /// The number of the group of a finding; of a new one, if it is the first.
    pub(super) fn of(&mut self, finding: &Finding) -> usize {
        self.with(GroupKey {
            file: finding.file.clone(),
            sheet: finding.sheet.clone(),
            severity: finding.severity,
            code: finding.code,
            column: finding.column.clone(),
            header: finding.header.clone(),
        })
    }

    /// The number of the group with this key; of a new one, if there is none and room for it.
    pub(super) fn with(&mut self, mut key: GroupKey) -> usize {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        if self.all.len() >= GROUPS {
            (key.column, key.header) = (None, None);
        }
        let next = self.all.len();
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            let (places, first) = (Places::default(), Vec::new());
            self.all.push(Group { key, count: 0, places, kept: 0, first });
        }
        number
    }

    /// Leaves only the groups whose keys are wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&GroupKey) -> bool) {
        self.all.retain(|group| is_wanted(&group.key));
        let keys = self.all.iter().map(|group| group.key.clone());
        self.numbers = keys.zip(0..).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, *};

    fn blank(row: u32) -> Finding {
        Finding::of_file(Code::CellRequired, "a.csv", "fill it").in_row(row, None).in_column(5)
    }

    #[test]
    fn ten_thousand_equal_findings_are_counted_and_placed_and_not_kept() {
        let mut findings = Findings::default();
        findings.extend((2..=10_001).map(blank));
        assert_eq!(findings.count(Severity::Error), 10_000);
        let group = &findings.groups()[0];
        assert_eq!((group.count, group.places.words(3).0), (10_000, "F2:F10001".to_owned()));
        let first: Vec<_> = findings.first_of(group).filter_map(|finding| finding.cell.as_deref()).collect();
        assert_eq!(first, ["F2"], "those that say the same are told once");
        let kept = findings.into_vec();
        assert_eq!(kept.len(), KEPT_PER_GROUP + 1);
        assert_eq!(kept.last().unwrap().code, Code::LimitFindings);
        assert!(kept.last().unwrap().message.starts_with("9000 more"));
    }

    #[test]
    fn the_first_that_differ_are_told_wherever_they_stand_and_long_ones_are_not_listed_without_end() {
        let mut findings = Findings::default().listing_all();
        let of = |row: u32, value: &str| blank(row).showing(value, crate::sheet::finding::ValueKind::Text);
        findings.extend((2..=60).map(|row| of(row, "GMT+12")));
        findings.extend([of(61, "NZST"), of(62, "GMT+12"), of(63, "EST")]);
        let first: Vec<_> =
            findings.first_of(&findings.groups()[0]).filter_map(|finding| finding.row).collect();
        assert_eq!(first, [2, 61, 63]);
        for row in 100..1_100 {
            let mut long = blank(row);
            long.message = "x".repeat(100_000);
            findings.push(long);
        }
        let kept: usize = findings.iter().map(Finding::size).sum();
        assert!(kept < LISTED_BYTES + 200_000, "{kept}");
        assert_eq!(findings.count(Severity::Error), 1_062);
    }

    #[test]
    fn what_is_more_than_a_note_has_the_rule_of_its_code_unless_it_has_its_own() {
        let mut own = blank(2);
        own.rule = Some("a name".to_owned());
        let mut findings = Findings::default();
        findings.extend([blank(2), own, Finding::of_file(Code::RowBlank, "a.csv", "not read")]);
        findings.extend_whole([Finding::of_file(Code::FileEmpty, "b.csv", "export it again")]);
        let mut all = Findings::default();
        all.append(findings);
        let rules: Vec<_> =
            all.iter().map(|found| (found.rule.as_deref(), found.rule_of_its_own())).collect();
        let general = |code: Code| (code.rule(), None);
        let own = (Some("a name"), Some("a name"));
        assert_eq!(rules, [general(Code::CellRequired), own, (None, None), general(Code::FileEmpty)]);
    }

    #[test]
    fn where_every_finding_is_to_be_listed_equal_ones_are_kept_too() {
        let mut findings = Findings::default().listing_all();
        findings.extend((2..=10_001).map(blank));
        assert_eq!((findings.iter().count(), findings.shortened().len()), (10_000, 0));
        assert_eq!(findings.errors().iter().count(), 10_000);
        // Beyond the most that are kept they are counted, and a note says how many.
        let (last, more) = (u32::try_from(KEPT_OF_LISTED).unwrap(), 17);
        findings.extend((10_002..=last + 1 + more).map(blank));
        let notes: Vec<_> = findings.shortened().into_iter().map(|note| (note.code, note.message)).collect();
        let told = "17 more findings cell.required of the same column are not listed".to_owned();
        assert_eq!((findings.iter().count(), notes), (KEPT_OF_LISTED, vec![(Code::LimitFindings, told)]));
        assert_eq!(findings.count(Severity::Error), KEPT_OF_LISTED + 17);
    }

    #[test]
    fn lists_brought_together_lose_no_count_and_no_place() {
        let (mut one, mut two) = (Findings::default(), Findings::default());
        one.extend((2..=3_001).map(blank));
        two.extend((3_002..=6_001).map(blank));
        two.push(Finding::of_file(Code::RowBlank, "a.csv", "not read"));
        one.append(two);
        assert_eq!((one.count(Severity::Error), one.count(Severity::Info)), (6_000, 1));
        assert_eq!(one.groups()[0].places.words(3).0, "F2:F6001");
        let errors = one.errors();
        assert_eq!((errors.count(Severity::Error), errors.count(Severity::Info)), (6_000, 0));
        assert_eq!(errors.groups().len(), 1);
    }

    #[test]
    fn lists_brought_together_count_each_place_once_also_where_there_is_no_room_for_it() {
        let (mut one, mut two) = (Findings::default(), Findings::default());
        one.extend((1..=1_500).map(|row| blank(row * 2)));
        two.extend((1_501..=3_000).map(|row| blank(row * 2)));
        one.append(two);
        assert_eq!((one.count(Severity::Error), one.groups()[0].count), (3_000, 3_000));
        assert_eq!(one.groups()[0].places.len(), 3_000);
        assert_eq!(one.errors().groups()[0].places.len(), 3_000);
    }

    #[test]
    fn leaving_out_rows_does_not_help_against_an_error_of_the_whole_sheet() {
        let mut findings = Findings::default();
        findings.push(blank(2));
        findings.extend_whole([Finding::of_file(Code::RowBlank, "a.csv", "not read")]);
        assert!(findings.forbid_import(false) && !findings.forbid_import(true));
        findings.extend_whole([Finding::of_file(Code::HeaderDuplicate, "a.csv", "remove one")]);
        assert!(findings.forbid_import(true) && findings.errors().forbid_import(true));
        findings.push(Finding::of_file(Code::FileEmpty, "b.csv", "empty").as_severity(Severity::Fatal));
        let codes = BTreeSet::from([Code::FileEmpty, Code::HeaderDuplicate]);
        assert_eq!((findings.of_the_whole(), findings.errors().of_the_whole()), (codes.clone(), codes));
    }

    #[test]
    fn ever_other_headers_make_neither_groups_nor_findings_without_end() {
        let mut findings = Findings::default();
        for number in 0..30_000_u32 {
            let mut finding = blank(number % 7 + 2);
            finding.header = Some(format!("h{number}"));
            findings.push(finding);
        }
        assert_eq!(findings.count(Severity::Error), 30_000);
        assert_eq!(findings.groups().len(), GROUPS + 1);
        assert!(findings.iter().count() <= KEPT + FIRST);
        assert_eq!(findings.groups().iter().map(|group| group.count).sum::<usize>(), 30_000);
    }

    #[test]
    fn leaving_out_rows_does_not_help_against_a_denied_warning_about_the_whole_sheet() {
        let mut policy = SeverityPolicy::default();
        policy.deny("warnings").unwrap();
        let mut findings = Findings::under(policy);
        findings.push(blank(2));
        assert!(findings.forbid_import(false) && !findings.forbid_import(true));
        findings.push(Finding::of_file(Code::FileEncodingGuessed, "a.csv", "look"));
        assert!(findings.forbid_import(true));
        assert!(findings.errors().forbid_import(true));
    }
}
