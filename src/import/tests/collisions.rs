//! MAC addresses and usernames that belong to another row.

use super::*;

/// What a row of a later import is to the journal's row with its MAC address or username.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    /// The same row, with the same values.
    Unchanged,
    /// The same row, done or under way, with other values.
    Differs,
    /// The same row, of which nothing is sent yet: it gets the new values.
    Revised,
    /// A row of its own.
    New,
    /// Another row: refused.
    Collision,
}
use Is::{Collision, Differs, New, Revised, Unchanged};

const MAC: &str = "00:25:96:42:bf:42";
const OTHER_MAC: &str = "00:25:96:42:bf:43";

fn owners() -> String {
    companies(&format!("acme,{ROOT},Acme,\nglobex,{ROOT},Globex,\n"))
}

fn devices(rows: &[(&str, &str, &str, &str)]) -> String {
    let mut sheet = "key,company,name,mac,device_model\n".to_owned();
    for (key, company, name, mac) in rows {
        sheet += &format!("{key},{company},{name},{mac},Edge 100\n");
    }
    sheet
}

fn people(rows: &[(&str, &str, &str, &str)]) -> String {
    let mut sheet =
        "key,company,first_name,last_name,username,email,user_type,template_scope,allow_login\n".to_owned();
    for (key, company, last_name, username) in rows {
        sheet += &format!(
            "{key},{company},Grace,{last_name},{username},g@b.example,Reports Client,COMPANY_INHERIT,yes\n"
        );
    }
    sheet
}

/// A sheet of one kind of row: its file's name without the ending, and what it is made by.
type Sheet = (&'static str, fn(&[(&str, &str, &str, &str)]) -> String, Operation, [&'static str; 2]);

const DEVICES: Sheet = ("devices", devices, Operation::AddDevice, [MAC, OTHER_MAC]);
const PEOPLE: Sheet = ("people", people, Operation::AddPerson, ["grace", "henry"]);

impl Bench {
    /// Imports the companies and the first row of a kind, and brings that to a state.
    fn with_row(
        (name, sheet, operation, _): Sheet,
        row: (&str, &str, &str, &str),
        state: JobState,
    ) -> (Self, JobId) {
        let mut bench = Self::new();
        let (first, _) = bench.import(&[("companies.csv", &owners())]).unwrap();
        for row in bench.rows(first.import) {
            bench.create(row.job.unwrap(), Operation::AddCompany);
        }
        let (first, _) = bench.import(&[(&format!("{name}.csv"), &sheet(&[row]))]).unwrap();
        let job = bench.rows(first.import)[0].job.unwrap();
        match state {
            JobState::Created => drop(bench.create(job, operation)),
            JobState::Rejected => bench.reject(job, operation),
            JobState::Sending => bench.claim(job, operation),
            JobState::Cancelled => {
                let at = bench.now();
                bench.journal.cancel(first.import, "ann", at).unwrap();
            }
            JobState::Ready => {}
            other => panic!("{other}"),
        }
        (bench, job)
    }

    /// What a later sheet makes of its rows, by what becomes of each.
    fn outcome(&mut self, file: &str, content: &str) -> Vec<Is> {
        match self.import(&[(file, content)]) {
            Ok((imported, _)) => self
                .rows(imported.import)
                .iter()
                .map(|row| match row.disposition {
                    Disposition::New => New,
                    Disposition::Revised => Revised,
                    Disposition::Recognised => Unchanged,
                    Disposition::ChangedSince => Differs,
                    Disposition::LeftOut => panic!("nothing is left out"),
                })
                .collect(),
            Err(refused) => {
                let expected = if file.contains("people") { Code::DupUsername } else { Code::DupMac };
                let errors = refused.errors();
                assert!(errors.iter().all(|finding| finding.code == expected), "{:?}", codes(&refused));
                vec![Collision; errors.iter().count()]
            }
        }
    }
}

/// The row of the journal is `(key, acme, Till 1, MAC)`; the row that comes is in another sheet.
#[test]
fn a_mac_or_username_belongs_to_a_row_by_its_key_else_by_its_company_and_name() {
    const FIRST: [&str; 2] = ["t1", ""];
    // The key of the row of the journal (the first or none), and the row that comes: key, company, name, whether its MAC
    // address is the same; then what it is where the row of the journal is created, rejected, and ready.
    let table = [
        ("t1", "t1", "acme", "Till 1", true, [Unchanged; 3]),
        ("t1", "t1", "acme", "Till 2", true, [Differs, Revised, Revised]),
        ("t1", "t1", "globex", "Till 1", true, [Differs, Revised, Revised]),
        ("t1", "t1", "globex", "Till 2", true, [Differs, Revised, Revised]),
        ("t1", "t1", "acme", "Till 1", false, [Differs, Revised, Revised]),
        ("t1", "t2", "acme", "Till 1", true, [Collision; 3]),
        ("t1", "t2", "acme", "Till 2", true, [Collision; 3]),
        ("t1", "t2", "globex", "Till 1", true, [Collision; 3]),
        ("t1", "t2", "globex", "Till 2", true, [Collision; 3]),
        ("t1", "t2", "acme", "Till 1", false, [New; 3]),
        ("", "", "acme", "Till 1", true, [Unchanged; 3]),
        ("", "", "acme", "Till 2", true, [Differs, Revised, Revised]),
        ("", "", "globex", "Till 1", true, [Differs, Revised, Revised]),
        ("", "", "globex", "Till 2", true, [Collision; 3]),
        ("", "", "acme", "Till 1", false, [New; 3]),
        ("t1", "", "acme", "Till 1", true, [Unchanged; 3]),
        ("t1", "", "acme", "Till 2", true, [Differs, Revised, Revised]),
        ("t1", "", "globex", "Till 1", true, [Differs, Revised, Revised]),
        ("t1", "", "globex", "Till 2", true, [Collision; 3]),
        ("", "t1", "acme", "Till 1", true, [Unchanged; 3]),
        ("", "t1", "acme", "Till 2", true, [Differs, Revised, Revised]),
        ("", "t1", "globex", "Till 1", true, [Differs, Revised, Revised]),
        ("", "t1", "globex", "Till 2", true, [Collision; 3]),
    ];
    for kind in [DEVICES, PEOPLE] {
        let (name, sheet, _, [value, other]) = kind;
        for (own, key, company, called, same, expected) in table {
            assert!(FIRST.contains(&own));
            for (state, expected) in
                [JobState::Created, JobState::Rejected, JobState::Ready].into_iter().zip(expected)
            {
                let (mut bench, _) = Bench::with_row(kind, (own, "acme", "Till 1", value), state);
                let row = (key, company, called, if same { value } else { other });
                let got = bench.outcome(&format!("more-{name}.csv"), &sheet(&[row]));
                assert_eq!(got, [expected], "{name} {state}: {own:?} has {row:?}");
            }
        }
    }
}

#[test]
fn the_error_names_the_other_row_and_nothing_is_imported() {
    let (mut bench, job) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), JobState::Created);
    let row = devices(&[("Z1", "globex", "Office router", "00259642BF42")]);
    let refused = bench.import(&[("more-devices.csv", &row)]).unwrap_err();
    let finding = refused.iter().next().unwrap();
    assert_eq!(
        (finding.cell.as_deref(), finding.row_key.as_deref()),
        (Some("D2"), Some("Z1")),
        "as it is written"
    );
    assert_eq!(
        finding.message,
        format!(
            "this MAC address belongs to another row: device 'Till 1' of 'Acme', key 't1', created (import 2, \
             devices.csv!devices!2, job {job}): correct the MAC address; if this row is that device, write its key 't1'"
        )
    );
    assert_eq!(bench.journal.imports().unwrap().len(), 2, "nothing was imported");
}

#[test]
fn a_mac_of_a_rejected_row_may_move_to_another_row_of_the_corrected_sheet_in_any_order() {
    for turned in [false, true] {
        let (mut bench, job) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), JobState::Rejected);
        let mut rows = [("t2", "acme", "Till 2", MAC), ("t1", "acme", "Till 1", OTHER_MAC)];
        let mut expected = [New, Revised];
        if turned {
            rows.reverse();
            expected.reverse();
        }
        assert_eq!(bench.outcome("devices.csv", &devices(&rows)), expected);
        assert_eq!(bench.journal.by_natural_key(Kind::Device, "00259642bf43").unwrap().unwrap().job, job);
        let other = bench.journal.by_natural_key(Kind::Device, "00259642bf42").unwrap().unwrap();
        assert_eq!(other.sheet_key.as_deref(), Some("t2"));
    }
}

#[test]
fn rejected_rows_may_swap_their_macs_and_done_ones_may_not() {
    for (state, expected) in [(JobState::Rejected, [Revised; 2]), (JobState::Created, [Collision; 2])] {
        let (mut bench, first) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), state);
        let (second, _) =
            bench.import(&[("more-devices.csv", &devices(&[("t2", "acme", "Till 2", OTHER_MAC)]))]).unwrap();
        let second = bench.rows(second.import)[0].job.unwrap();
        match state {
            JobState::Created => drop(bench.create(second, Operation::AddDevice)),
            _ => bench.reject(second, Operation::AddDevice),
        }
        let rows = [("t1", "acme", "Till 1", OTHER_MAC), ("t2", "acme", "Till 2", MAC)];
        assert_eq!(bench.outcome("both-devices.csv", &devices(&rows)), expected, "{state}");
        let has =
            |job, mac: &str| bench.journal.by_natural_key(Kind::Device, mac).unwrap().unwrap().job == job;
        let swapped = state == JobState::Rejected;
        assert!(has(first, if swapped { "00259642bf43" } else { "00259642bf42" }), "{state}");
        assert!(has(second, if swapped { "00259642bf42" } else { "00259642bf43" }), "{state}");
    }
}

#[test]
fn a_row_that_swaps_with_one_that_collides_collides_too() {
    let (mut bench, _) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), JobState::Rejected);
    // t2 takes the address of t1, which takes one that a third row has and keeps.
    bench.import(&[("more-devices.csv", &devices(&[("t3", "acme", "Till 3", OTHER_MAC)]))]).unwrap();
    let rows = devices(&[("t2", "acme", "Till 2", MAC), ("t1", "acme", "Till 1", OTHER_MAC)]);
    assert_eq!(bench.outcome("both-devices.csv", &rows), [Collision; 2]);
}

#[test]
fn the_mac_of_a_row_that_was_given_up_is_free() {
    let (mut bench, job) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), JobState::Cancelled);
    assert_eq!(bench.outcome("more-devices.csv", &devices(&[("t2", "globex", "Till 2", MAC)])), [New]);
    assert_eq!(bench.journal.by_sheet_key(Kind::Device, "t1").unwrap()[0].job, job, "it keeps its place");
    // The row that was given up comes again: its address is that of another one now.
    assert_eq!(bench.outcome("devices.csv", &devices(&[("t1", "acme", "Till 1", MAC)])), [Collision]);
}

#[test]
fn a_key_that_was_corrected_where_the_row_stood_or_in_the_fix_sheet_is_no_collision() {
    for (state, expected) in
        [(JobState::Rejected, Revised), (JobState::Ready, Revised), (JobState::Created, Differs)]
    {
        let (mut bench, job) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), state);
        let fix = format!(
            "key,company,name,mac,device_model,result_source\nT-01,acme,Till 01,{MAC},Edge 200,devices.csv!devices!2\n"
        );
        assert_eq!(bench.outcome("devices.fix.csv", &fix), [expected], "{state}");
        let key = bench.journal.by_natural_key(Kind::Device, "00259642bf42").unwrap().unwrap();
        assert_eq!(key.job, job);
        assert_eq!(
            key.sheet_key.as_deref(),
            Some(if expected == Revised { "t-01" } else { "t1" }),
            "{state}"
        );

        let (mut bench, _) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), state);
        let own = devices(&[("t-01", "acme", "Till 1", MAC)]).replace("Edge 100", "Edge 200");
        assert_eq!(bench.outcome("devices.csv", &own), [expected], "{state}");
        // Another row in that place is another row.
        let (mut bench, _) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), state);
        assert_eq!(bench.outcome("devices.csv", &devices(&[("t2", "acme", "Till 2", MAC)])), [Collision]);
    }
}

#[test]
fn a_row_under_way_keeps_its_mac() {
    let (mut bench, _) = Bench::with_row(DEVICES, ("t1", "acme", "Till 1", MAC), JobState::Sending);
    let rows = devices(&[("t2", "acme", "Till 2", MAC), ("t1", "acme", "Till 1", OTHER_MAC)]);
    assert_eq!(bench.outcome("devices.csv", &rows), [Collision]);
}

#[test]
fn a_row_with_the_mac_of_one_that_was_not_imported_does_not_answer_for_it() {
    let mut bench = Bench::new();
    bench.import(&[("companies.csv", &owners())]).unwrap();
    let wrong = devices(&[("t1", "acme", "Till 1", MAC)])
        .replace("device_model", "latitude")
        .replace("Edge 100", "north");
    let first = bench.import_the_right_ones(&[("devices.csv", &wrong)]);
    assert_eq!(bench.waiting(first), [2]);
    assert_eq!(bench.outcome("more-devices.csv", &devices(&[("z1", "globex", "Router", MAC)])), [New]);
    assert_eq!(bench.waiting(first), [2], "another row is not its answer");
    assert_eq!(bench.outcome("devices.csv", &devices(&[("t1", "acme", "Till 1", MAC)])), [Collision]);
}
