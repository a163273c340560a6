//! Why rows of an import did not get through: the codes they have, how many rows each, and where some of them stand.

use std::collections::HashMap;

use rusqlite::Connection;

use super::column::natural;
use super::view::every_row;
use super::{Journal, place};
use crate::error::Result;
use crate::model::id::ImportId;

/// Rows named with each cause.
const SAMPLES: usize = 5;

/// Why rows of an import did not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The machine code.
    pub code: String,
    /// The most frequent message with it.
    pub message: String,
    /// Its rows.
    pub count: u64,
    /// The places (`file!sheet!row`) of the first of them.
    pub rows: Vec<String>,
}

impl Journal {
    /// Why rows of an import were rejected, skipped or held, or had a finding when they were read back; the most
    /// frequent reason first.
    pub fn causes(&self, import: ImportId) -> Result<Vec<Cause>> {
        let mut statement = self.connection.prepare_cached(every_row!(
            "SELECT code, message, count(*), min(place) FROM (",
            ") WHERE state IN ('rejected', 'skipped', 'held')
             GROUP BY code, message ORDER BY count(*) DESC, min(place)"
        ))?;
        let mut rows = statement.query(place::range_of(&self.connection, import)?)?;
        let mut causes: Vec<Cause> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        while let Some(row) = rows.next()? {
            let code: String = row.get(0)?;
            let count = natural(row.get(2)?);
            if let Some(&index) = known.get(&code) {
                causes[index].count += count;
                continue;
            }
            known.insert(code.clone(), causes.len());
            // The most frequent message comes first.
            let message: Option<String> = row.get(1)?;
            causes.push(Cause { code, message: message.unwrap_or_default(), count, rows: Vec::new() });
        }
        for cause in &mut causes {
            cause.rows = samples(&self.connection, import, &cause.code)?;
        }
        for finding in self.audit_findings(Some(import), None)? {
            match causes.iter_mut().find(|cause| cause.code == finding.code) {
                Some(cause) => {
                    cause.count += 1;
                    if cause.rows.len() < SAMPLES {
                        cause.rows.push(finding.place);
                    }
                }
                None => causes.push(Cause {
                    code: finding.code,
                    message: finding.message,
                    count: 1,
                    rows: vec![finding.place],
                }),
            }
        }
        causes.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.code.cmp(&right.code)));
        Ok(causes)
    }
}

fn samples(connection: &Connection, import: ImportId, code: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(every_row!(
        "SELECT place FROM (",
        ") WHERE state IN ('rejected', 'skipped', 'held') AND code = ?3 ORDER BY place LIMIT ?4"
    ))?;
    let (first, last) = place::range_of(connection, import)?;
    let keys: Vec<i64> = statement
        .query_map((first, last, code, super::column::count(SAMPLES)), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    keys.into_iter().map(|key| place::written(connection, key)).collect()
}
