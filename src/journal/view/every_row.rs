//! The statement that reads every row of a sheet: those with a job and those that were left out.

/// A statement over every row between the places `?1` and `?2`, those that were left out included. A condition on places
/// stands within the two halves, and an order by the first column after them, so that neither sorts nor keeps the rows.
macro_rules! every_row {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "SELECT sheet_row.place AS place, (sheet_row.place & 4294967295) + sheet_row.line_offset AS line,
                sheet_row.cells AS cells,
                sheet_row.disposition AS disposition, job.id AS job, job.kind AS kind, job.state AS state,
                job.remote_id AS remote_id, job.code AS code, job.message AS message, job.violations AS violations,
                job.candidates AS candidates, job.attempts AS attempts, job.finished_at AS finished_at,
                job.due AS due, job.operation AS operation,
                EXISTS (SELECT 1 FROM step WHERE step.id BETWEEN job.id << 16 AND job.id << 16 | 65535
                    AND before IS NOT NULL) AS has_before,
                job.unsure AS unsure, job.audit IS 'unread' AND job.outcome IS NOT NULL AS unverified,
                job.last_import AS last_import
             FROM sheet_row JOIN job ON job.id = sheet_row.job WHERE sheet_row.place BETWEEN ?1 AND ?2
             UNION ALL
             SELECT left_out.place, left_out.line, left_out.cells, 'left_out',
                job.id, left_out.kind,
                coalesce(job.state, iif(left_out.given_up IS NULL, left_out.state, 'cancelled')), job.remote_id,
                CASE WHEN job.id IS NOT NULL THEN job.code
                    WHEN left_out.given_up IS NOT NULL THEN 'cancelled' ELSE left_out.code END,
                CASE WHEN job.id IS NOT NULL THEN job.message
                    WHEN left_out.given_up IS NOT NULL
                    THEN 'cancelled by ' || left_out.given_up || '; it was not imported: ' || left_out.message
                    ELSE left_out.message END,
                iif(job.id IS NULL, left_out.violations, job.violations), job.candidates,
                coalesce(job.attempts, 0), job.finished_at, job.due, job.operation, 0,
                coalesce(job.unsure, 0), job.audit IS 'unread' AND job.outcome IS NOT NULL,
                job.last_import
             FROM left_out LEFT JOIN job ON job.id = left_out.job WHERE left_out.place BETWEEN ?1 AND ?2 ",
            $after
        )
    };
}

pub(in crate::journal) use every_row;

/// The rows of the import `?1` that have a job, as a table of their `place` and `job`: those that were imported, and those
/// that it left out and that a later import has.
macro_rules! rows_with_job {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "(SELECT sheet_row.place AS place, sheet_row.job AS job FROM sheet JOIN sheet_row
                ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1 WHERE sheet.import = ?1
             UNION ALL
             SELECT left_out.place, left_out.job FROM sheet JOIN left_out
                ON left_out.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
             WHERE sheet.import = ?1 AND left_out.job IS NOT NULL)",
            $after
        )
    };
}

pub(in crate::journal) use rows_with_job;
