//! The saved plan: what a plan said, in short, so that the run that follows can say whether something has changed since.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::action::{ActionCounts, PlannedAction};
use super::survey::{JobOrigin, Survey};
use crate::model::content_hash::ContentHash;
use crate::model::digest::{add_text, hexadecimal};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::time::Moment;

/// The form of what is kept; another one is not compared with.
pub const FORM: u32 = 2;

/// What a plan said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPlan {
    /// Always [`FORM`].
    pub form: u32,
    /// When the plan was made, in milliseconds since 1970.
    pub at: Moment,
    /// The files: name and SHA-256, in the order they were given.
    pub files: Vec<(String, String)>,
    /// Whose records they are to become: base address and client id; `None` without a profile.
    pub account: Option<(String, String)>,
    /// The number that the import would have got.
    pub import: i64,
    /// What becomes of the rows of each kind.
    pub rows: BTreeMap<Kind, ActionCounts>,
    /// The requests for the rows of the sheets.
    pub operations: BTreeMap<Operation, u64>,
    /// The requests for rows that earlier imports have left.
    pub earlier: BTreeMap<Operation, u64>,
    /// Operations that are needed and could not be used.
    pub unavailable: Vec<Operation>,
    /// Of each sheet a digest of the rows: place, natural key, values, and what the import makes of them.
    pub sheets: Vec<SheetDigest>,
}

/// The rows of one sheet, digested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetDigest {
    /// The file.
    pub file: String,
    /// The sheet in it.
    pub name: String,
    /// Over all its rows.
    pub digest: String,
}

/// A digest of rows in the making.
#[derive(Debug, Clone, Default)]
pub struct RowDigest(Sha256);

impl RowDigest {
    /// Takes in a row.
    pub fn row(&mut self, number: u32, natural_key: &str, content: ContentHash, disposition: &str) {
        for part in [natural_key, disposition] {
            add_text(&mut self.0, part);
        }
        self.0.update(content.as_bytes());
        self.0.update(number.to_le_bytes());
    }

    /// The digest, in hexadecimal.
    pub fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

/// Something that is not as it was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Difference {
    /// The plan is about other files.
    Files {
        /// Their names.
        planned: Vec<String>,
    },
    /// A file has other bytes.
    File {
        /// Its name.
        name: String,
    },
    /// The records are to become those of another account.
    Account,
    /// The journal has had other imports since.
    Journal {
        /// How many.
        imports: i64,
    },
    /// Other numbers of rows have an action.
    Rows {
        /// Which rows.
        kind: Kind,
        /// Which action.
        #[serde(rename = "fate")]
        action: PlannedAction,
        /// As it was planned.
        planned: u64,
        /// As it is.
        now: u64,
    },
    /// Other numbers of requests are needed.
    Calls {
        /// Of which operation.
        operation: Operation,
        /// As it was planned.
        planned: u64,
        /// As it is.
        now: u64,
    },
    /// Other numbers of requests are needed for rows that earlier imports have left.
    Earlier {
        /// Of which operation.
        operation: Operation,
        /// As it was planned.
        planned: u64,
        /// As it is.
        now: u64,
    },
    /// An operation that was available is so no more.
    Unavailable {
        /// Which one.
        operation: Operation,
    },
    /// An operation that was not available is so now.
    Available {
        /// Which one.
        operation: Operation,
    },
    /// The rows of a sheet have other values, or mean something else than they did.
    Values {
        /// The file.
        file: String,
        /// The sheet.
        sheet: String,
    },
}

impl SavedPlan {
    /// Fills in what becomes of the rows of the sheets, if every operation they need can be used, and what of this
    /// cannot.
    pub fn reckon(&mut self, survey: &Survey, available: &dyn Fn(Operation) -> bool) {
        let decided = survey.actions(&|_| true);
        self.rows = super::rows(survey, &decided);
        let demand = survey.demand(&decided, |origin| matches!(origin, JobOrigin::Sheets { .. }));
        self.operations = demand.sent().clone();
        self.earlier = survey.demand(&decided, |origin| origin == JobOrigin::Earlier).sent().clone();
        self.unavailable = demand.unavailable(available);
    }

    /// Whether both speak of files of the same names.
    pub fn is_about(&self, names: &[&str]) -> bool {
        self.files.iter().map(|(name, _)| name.as_str()).eq(names.iter().copied())
    }

    /// Rows that are to be created.
    pub fn to_create(&self) -> u64 {
        self.rows_to(PlannedAction::Create)
    }

    /// Rows of upkeep that are to be carried out.
    pub fn to_carry_out(&self) -> u64 {
        self.rows_to(PlannedAction::Apply)
    }

    fn rows_to(&self, action: PlannedAction) -> u64 {
        let of = self.rows.values().map(|actions| actions.of(action));
        // What was read from a file may be any number.
        of.fold(0, u64::saturating_add)
    }

    /// What is not as it was planned; nothing when all of it is.
    pub fn differences(&self, now: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        let names = |saved: &Self| saved.files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        if names(self) != names(now) {
            return vec![Difference::Files { planned: names(self) }];
        }
        for ((name, planned), (_, sha256)) in self.files.iter().zip(&now.files) {
            if planned != sha256 {
                differences.push(Difference::File { name: name.clone() });
            }
        }
        if let (Some(planned), Some(account)) = (&self.account, &now.account)
            && planned != account
        {
            differences.push(Difference::Account);
        }
        if self.import != now.import {
            differences.push(Difference::Journal { imports: now.import.saturating_sub(self.import) });
        }
        for kind in Kind::ALL {
            let of = |saved: &Self| saved.rows.get(&kind).cloned().unwrap_or_default();
            let (before, after) = (of(self), of(now));
            for &action in PlannedAction::ALL {
                let (planned, now) = (before.of(action), after.of(action));
                if planned != now {
                    differences.push(Difference::Rows { kind, action, planned, now });
                }
            }
        }
        self.compare_operations(now, &mut differences);
        // Of what other files, or another journal, make of the rows there is no more to say.
        if differences.is_empty() {
            for (planned, sheet) in self.sheets.iter().zip(&now.sheets) {
                if planned != sheet {
                    let (file, sheet) = (sheet.file.clone(), sheet.name.clone());
                    differences.push(Difference::Values { file, sheet });
                }
            }
        }
        differences
    }

    fn compare_operations(&self, now: &Self, differences: &mut Vec<Difference>) {
        for &operation in Operation::ALL {
            let of = |saved: &Self| saved.operations.get(&operation).copied().unwrap_or(0);
            let (planned, calls) = (of(self), of(now));
            // How many records are created is said by the rows.
            if planned != calls && !operation.creates() {
                differences.push(Difference::Calls { operation, planned, now: calls });
            }
            let left = |saved: &Self| saved.earlier.get(&operation).copied().unwrap_or(0);
            if left(self) != left(now) {
                differences.push(Difference::Earlier { operation, planned: left(self), now: left(now) });
            }
            match (self.unavailable.contains(&operation), now.unavailable.contains(&operation)) {
                (false, true) => differences.push(Difference::Unavailable { operation }),
                (true, false) if calls > 0 => differences.push(Difference::Available { operation }),
                (true, true | false) | (false, false) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> SavedPlan {
        let mut rows = BTreeMap::<Kind, ActionCounts>::new();
        for _ in 0..3 {
            rows.entry(Kind::Company).or_default().add(PlannedAction::Create, 1);
        }
        SavedPlan {
            form: FORM,
            at: Moment::from_millis(0),
            files: vec![("a.csv".into(), "aa".into())],
            account: None,
            import: 1,
            rows,
            operations: [(Operation::AddCompany, 3), (Operation::PutCompanyMetadataList, 1)].into(),
            earlier: [(Operation::AddSite, 2)].into(),
            unavailable: Vec::new(),
            sheets: vec![SheetDigest { file: "a.csv".into(), name: "a".into(), digest: "d".into() }],
        }
    }

    #[test]
    fn what_has_not_changed_is_as_planned_and_survives_the_file() {
        let text = serde_json::to_string(&saved()).unwrap();
        let read: SavedPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(read, saved());
        assert_eq!(read.differences(&saved()), []);
        assert_eq!(read.to_create(), 3);
        assert!(read.is_about(&["a.csv"]) && !read.is_about(&["a.csv", "b.csv"]));
    }

    #[test]
    fn every_difference_is_named() {
        let mut now = saved();
        now.files[0].1 = "bb".into();
        now.import = 3;
        now.rows.entry(Kind::Company).or_default().add(PlannedAction::There, 1);
        now.operations.insert(Operation::PutCompanyMetadataList, 4);
        now.unavailable.push(Operation::AddCompany);
        now.sheets[0].digest = "e".into();
        now.earlier.clear();
        assert_eq!(
            saved().differences(&now),
            [
                Difference::File { name: "a.csv".into() },
                Difference::Journal { imports: 2 },
                Difference::Rows { kind: Kind::Company, action: PlannedAction::There, planned: 0, now: 1 },
                Difference::Unavailable { operation: Operation::AddCompany },
                Difference::Calls { operation: Operation::PutCompanyMetadataList, planned: 1, now: 4 },
                Difference::Earlier { operation: Operation::AddSite, planned: 2, now: 0 },
            ]
        );
        let mut other_files = saved();
        other_files.files[0].0 = "b.csv".into();
        assert_eq!(saved().differences(&other_files), [Difference::Files { planned: vec!["a.csv".into()] }]);
        let mut other_values = saved();
        other_values.sheets[0].digest = "e".into();
        let differences = saved().differences(&other_values);
        assert_eq!(differences, [Difference::Values { file: "a.csv".into(), sheet: "a".into() }]);
    }

    #[test]
    fn numbers_that_nobody_planned_are_differences_and_nothing_worse() {
        let mut text = serde_json::to_value(saved()).unwrap();
        text["import"] = i64::MIN.into();
        text["rows"] = serde_json::json!({
            "company": {"create": u64::MAX, "there": u64::MAX}, "device": {"create": u64::MAX},
        });
        let hostile: SavedPlan = serde_json::from_value(text).unwrap();
        assert_eq!(hostile.to_create(), u64::MAX);
        let differences = hostile.differences(&saved());
        assert_eq!(differences[0], Difference::Journal { imports: i64::MAX });
        assert_eq!(differences.len(), 4);
    }

    #[test]
    fn rows_are_digested_with_their_place_and_order() {
        let digest = |rows: &[(u32, &str, &str)]| {
            let mut digest = RowDigest::default();
            rows.iter()
                .for_each(|(number, key, hash)| digest.row(*number, key, ContentHash::of(hash), "new"));
            digest.finish()
        };
        let one = digest(&[(2, "ab", "c"), (3, "d", "e")]);
        assert_eq!(one, digest(&[(2, "ab", "c"), (3, "d", "e")]));
        for other in
            [&[(2, "a", "bc"), (3, "d", "e")][..], &[(3, "d", "e"), (2, "ab", "c")], &[(2, "ab", "c")]]
        {
            assert_ne!(one, digest(other));
        }
    }
}
