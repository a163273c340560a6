//! Which rows must be made before which: how deep each stands below others of its kind, the circles in which none could
//! be first, the order of creation, and what errors of one row mean for those that need it.
//!
//! Where references lead is found out in `references`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::earlier_records::Earlier;
use super::{Between, Known, Resolution, To};
use crate::error::Result;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, shown};
use crate::sheet::row::draft::column_of_role;

/// The row of the same kind that must be created before this one, and the role it has.
fn before(between: &Between, resolutions: &[Resolution], number: usize) -> Option<(usize, Role)> {
    let entry = &between.entries[number];
    let (reference, role) = match between.kind(entry) {
        Kind::Company => (entry.owner, Role::Parent),
        Kind::Device => (entry.template, Role::Template),
        Kind::Site | Kind::Person | Kind::Upkeep(_) => return None,
    };
    match resolutions.get(reference as usize) {
        Some(Resolution::To(To::Row(row))) => Some((*row, role)),
        _ => None,
    }
}

/// How many rows of the same kind must come before each row. Circles are reported, and their rows made unusable.
pub(super) fn depths(
    between: &mut Between,
    resolutions: &[Resolution],
    found: &mut dyn FnMut(Finding),
) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    const ON_PATH: u32 = u32::MAX - 1;
    let mut depths = vec![UNKNOWN; between.entries.len()];
    let mut path: Vec<usize> = Vec::new();
    for start in 0..between.entries.len() {
        let mut at = start;
        let mut below = loop {
            match depths[at] {
                UNKNOWN => {
                    depths[at] = ON_PATH;
                    path.push(at);
                    match before(between, resolutions, at) {
                        Some((next, _)) => at = next,
                        None => break 0,
                    }
                }
                ON_PATH => {
                    let from = path.iter().position(|row| *row == at).unwrap_or(0);
                    tell_circle(between, resolutions, &path[from..], found);
                    break 0;
                }
                depth => break depth + 1,
            }
        };
        while let Some(row) = path.pop() {
            depths[row] = below;
            below += 1;
        }
    }
    depths
}

/// Tells a circle once, at its first row, with every cell in order.
fn tell_circle(
    between: &mut Between,
    resolutions: &[Resolution],
    circle: &[usize],
    found: &mut dyn FnMut(Finding),
) {
    let lowest = circle.iter().enumerate().min_by_key(|(_, row)| **row).map_or(0, |(position, _)| position);
    let ordered: Vec<usize> = circle[lowest..].iter().chain(&circle[..lowest]).copied().collect();
    let role = before(between, resolutions, ordered[0]).map_or(Role::Parent, |(_, role)| role);
    let column = column_of_role(between.kind(&between.entries[ordered[0]]), role);
    let names: Vec<String> = ordered
        .iter()
        .chain(ordered.first())
        .map(|row| {
            let entry = &between.entries[*row];
            shown(between.get(entry.key).or(between.get(entry.name)).unwrap_or("?"))
        })
        .collect();
    let message = if ordered.len() == 1 {
        format!("the row names itself as its {column}: name another one")
    } else {
        format!("each of these rows needs the other first: correct one of them ({})", names.join(" → "))
    };
    let mut finding = between.finding(Code::RefCycle, message, &between.entries[ordered[0]], column);
    finding.rule = Some(match role {
        Role::Template => "a template that exists, or one that is created before its copies".to_owned(),
        Role::Parent | Role::Company | Role::Site | Role::Device => {
            "parents that lead up to a company that exists already".to_owned()
        }
    });
    for row in &ordered[1..] {
        finding.related.push(between.related(*row, column, "next in the circle"));
    }
    found(finding);
    for row in ordered {
        between.entries[row].unusable = true;
    }
}

/// All rows, kind by kind, those that others of their kind need first.
pub(super) fn order(between: &Between, depths: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..between.entries.len()).filter_map(|row| u32::try_from(row).ok()).collect();
    order.sort_by_key(|row| {
        let kind = between.kind(&between.entries[*row as usize]);
        (kind, depths[*row as usize], *row)
    });
    order
}

/// Makes rows unusable that depend on unusable ones, with a note instead of an error of their own. What depends on a row
/// whose record is there depends on that record, whatever is wrong with the row now.
pub(super) fn spread(
    between: &mut Between,
    resolutions: &mut [Resolution],
    order: &[u32],
    known: &dyn Known,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let mut earlier = Earlier::of(known);
    let mut records: HashMap<usize, Option<JobId>> = HashMap::new();
    for number in order {
        let entry = between.entries[*number as usize];
        for (_, reference) in entry.references() {
            let Some(Resolution::To(To::Row(row))) = resolutions.get(reference as usize) else { continue };
            if !between.entries[*row].unusable {
                continue;
            }
            let record = match records.entry(*row) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => *unknown.insert(earlier.record_of(between, resolutions, *row)?),
            };
            if let Some(job) = record {
                resolutions[reference as usize] = Resolution::To(To::Job(job));
            }
        }
        let invalid =
            entry.references().find_map(|(role, reference)| match resolutions.get(reference as usize) {
                Some(Resolution::To(To::Row(target))) if between.entries[*target].unusable => {
                    Some((role, *target))
                }
                _ => None,
            });
        let Some((role, target)) = invalid else { continue };
        between.entries[*number as usize].unusable = true;
        if entry.unusable {
            continue;
        }
        let message = format!(
            "it refers to {}, which has errors: correct those, and this row is right too",
            between.row_as_seen(&between.entries[target], &entry)
        );
        let mut finding = between.finding(
            Code::RefTargetInvalid,
            message,
            &entry,
            column_of_role(between.kind(&entry), role),
        );
        finding.related.push(between.related(target, "key", "has errors"));
        found(finding);
    }
    Ok(())
}
