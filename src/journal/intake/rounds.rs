//! Rounds: rows that come again in a later import, corrected or not, are another round of the import they came in first.

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;
use crate::journal::file::column::count;
use crate::journal::row_ref;
use crate::journal::state::import_reserve;
use crate::model::id::ImportId;

/// Where the rows of an import came before, by the first round of that: made by an earlier import, left out by one and
/// imported now, or left out once more.
const CAME_BEFORE: &str = "SELECT coalesce(earlier.round_of, earlier.id) AS first, count(*) AS rows
     FROM (
         SELECT job.first_import AS import FROM sheet_row JOIN job ON job.id = sheet_row.job
         WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.first_import < ?3
         UNION ALL
         SELECT max(sheet.import) FROM left_out JOIN job ON job.id = left_out.job AND job.first_import = ?3
         JOIN sheet ON sheet.id = left_out.place >> 32 WHERE left_out.place < ?1 GROUP BY left_out.job
         UNION ALL
         SELECT sheet.import FROM left_out AS own JOIN sheet ON sheet.id = own.origin >> 32
         WHERE own.place BETWEEN ?1 AND ?2 AND own.origin <> own.place
     ) AS came JOIN import AS earlier ON earlier.id = came.import GROUP BY 1";

/// Which parts of its turn an import was given.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::journal) struct GivenTurn {
    pub(in crate::journal) priority: bool,
    pub(in crate::journal) reserve: bool,
}

/// Notes of an import of so many rows which round it is: of the import in which most of its rows came before, when they
/// are more than half of its rows, or when both have the same label. Without a label of its own it is called as the first
/// round was, and without a priority or reserve it has that of the round before.
pub(in crate::journal) fn note(
    connection: &Connection,
    import: ImportId,
    rows: u64,
    given: GivenTurn,
) -> Result<()> {
    let (first_place, last_place) = row_ref::range_of(connection, import)?;
    let of: Option<ImportId> = connection
        .prepare_cached(&format!(
            "WITH came AS ({CAME_BEFORE})
             SELECT came.first FROM came
             JOIN import AS series ON series.id = came.first JOIN import AS own ON own.id = ?3
             WHERE 2 * came.rows > ?4 OR lower(series.label) = lower(own.label)
             ORDER BY came.rows DESC, came.first DESC LIMIT 1"
        ))?
        .query_row((first_place, last_place, import, count(rows)), |row| row.get(0))
        .optional()?;
    if let Some(first) = of {
        connection
            .prepare_cached(
                "UPDATE import SET round_of = ?2,
                     round = (SELECT 1 + max(round) FROM import WHERE id = ?2 OR round_of = ?2),
                     label = coalesce(label, (SELECT label FROM import WHERE id = ?2))
                 WHERE id = ?1",
            )?
            .execute((import, first))?;
        pass_turn(connection, import, given)?;
    }
    Ok(())
}

/// Gives an import the priority of the round before it, and the last reserve that one before had, unless rows of that have
/// creations left: it would be kept twice.
fn pass_turn(connection: &Connection, import: ImportId, given: GivenTurn) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT before.id, before.priority, before.reserve FROM import AS own
         JOIN import AS before ON own.round_of IN (before.id, before.round_of)
         WHERE own.id = ?1 AND before.id < ?1 ORDER BY before.id DESC",
    )?;
    let rounds: Vec<(ImportId, i64, i64)> = statement
        .query_map([import], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if let (Some((_, priority, _)), false) = (rounds.first(), given.priority) {
        connection.execute("UPDATE import SET priority = ?2 WHERE id = ?1", (import, priority))?;
    }
    if let (Some((before, _, reserve)), false) =
        (rounds.iter().find(|(.., reserve)| *reserve > 0), given.reserve)
        && import_reserve::left(connection, *before, 1)? == 0
    {
        connection.execute("UPDATE import SET reserve = ?2 WHERE id = ?1", (import, reserve))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::journal::Disposition::{self, New, Recognised, Revised};
    use crate::journal::fixture::*;
    use crate::model::id::JobId;
    use crate::model::kind::Kind;

    /// Imports rows of these jobs, and makes one for each new name; which round it is.
    fn import(
        bench: &mut Bench,
        label: Option<&str>,
        known: &[(JobId, Disposition)],
        new: &[&str],
    ) -> (u32, Option<i64>, Option<String>) {
        let mut import = bench.journal.begin_import(at(4_000)).unwrap();
        if let Some(label) = label {
            import.label(label).unwrap();
        }
        let again = import.sheet(&sheet("again", Kind::Company)).unwrap();
        let mut number = 1;
        for &(job, disposition) in known {
            number += 1;
            import.row(&row(again, number, job, disposition)).unwrap();
        }
        for name in new {
            number += 1;
            let job = import.add_job(&company(name, vec![])).unwrap();
            import.row(&row(again, number, job, New)).unwrap();
        }
        import.finish().unwrap();
        let info = bench.journal.imports().unwrap().pop().unwrap();
        (info.round, info.round_of.map(|first| first.0), info.given_label)
    }

    #[test]
    fn an_import_is_another_round_of_the_one_in_which_most_of_its_rows_came_before() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["A", "B", "C", "D"], false);
        let known = |range: std::ops::Range<usize>, disposition| -> Vec<(JobId, Disposition)> {
            jobs[range].iter().map(|&job| (job, disposition)).collect()
        };
        // A sheet that only refers to a few of them is one of its own.
        assert_eq!(import(&mut bench, None, &known(0..2, Recognised), &["E", "F"]), (1, None, None));
        // A corrected part of it, and the whole of it with new rows.
        assert_eq!(import(&mut bench, None, &known(3..4, Revised), &[]), (2, Some(1), None));
        assert_eq!(import(&mut bench, None, &known(0..4, Recognised), &["G", "H"]), (3, Some(1), None));
        // The rows that a later round made are of the same series.
        let newest: Vec<JobId> =
            bench.journal.by_name(Kind::Company, "G").unwrap().iter().map(|job| job.job).collect();
        assert_eq!(newest.len(), 1);
        assert_eq!(import(&mut bench, None, &[(newest[0], Revised)], &[]), (4, Some(1), None));
        assert_eq!(import(&mut bench, None, &[], &["I"]), (1, None, None));
    }

    #[test]
    fn one_row_is_enough_where_the_label_is_the_same_and_a_round_is_called_as_the_first_one_was() {
        let mut bench = bench();
        assert_eq!(import(&mut bench, Some("North"), &[], &["A", "B"]), (1, None, Some("North".into())));
        let jobs: Vec<JobId> = ["A", "B"]
            .iter()
            .flat_map(|name| bench.journal.by_name(Kind::Company, name).unwrap())
            .map(|job| job.job)
            .collect();
        let one = [(jobs[0], Recognised)];
        assert_eq!(import(&mut bench, Some("South"), &one, &["C", "D"]).0, 1);
        assert_eq!(import(&mut bench, Some("north"), &one, &["E", "F"]), (2, Some(1), Some("north".into())));
        assert_eq!(import(&mut bench, None, &one, &[]), (3, Some(1), Some("North".into())));
        // The label alone makes no round.
        assert_eq!(import(&mut bench, Some("North"), &[], &["G"]).0, 1);
    }

    #[test]
    fn a_round_has_the_priority_of_the_one_before_and_its_reserve_once_that_keeps_nothing_by_it() {
        let mut bench = bench();
        let (first, jobs) = import_companies(&mut bench.journal, &["A", "B", "C"], false);
        bench.journal.prioritise(first.import, 10, "ann", at(4_000)).unwrap();
        bench.journal.reserve(first.import, 15, "ann", at(4_000)).unwrap();
        let known = |jobs: &[JobId]| jobs.iter().map(|&job| (job, Revised)).collect::<Vec<_>>();
        let turn = |bench: &Bench| {
            let info = bench.journal.imports().unwrap().pop().unwrap();
            (info.priority, info.reserve)
        };
        import(&mut bench, None, &known(&jobs[..1]), &[]);
        assert_eq!(turn(&bench), (10, 0), "two rows are left in import 1");
        import(&mut bench, None, &known(&jobs), &[]);
        assert_eq!(turn(&bench), (10, 15));
        let mut import = bench.journal.begin_import(at(4_000)).unwrap();
        let again = import.sheet(&sheet("again", Kind::Company)).unwrap();
        import.row(&row(again, 2, jobs[0], Revised)).unwrap();
        import.priority(0).unwrap();
        import.reserve(0).unwrap();
        import.finish().unwrap();
        assert_eq!(turn(&bench), (0, 0), "as typed");
    }
}
