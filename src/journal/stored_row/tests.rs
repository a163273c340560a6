//! Rows as they are kept, and read again.

use super::*;
use crate::journal::fixture::{at, bench};
use crate::journal::{Disposition, NewRow};
use crate::model::action::Action;
use crate::model::kind::Kind;
use crate::model::record::Record;

fn cells(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn an_action_is_its_shape_with_the_cells_of_its_row() {
    let table = [
        (
            r#"{"action":"create","value":{"name":"Depot"}}"#,
            r#"{"action":"create","value":{"name":$1}}"#,
            None,
        ),
        // What is sent in another form than it was written, and numbers.
        (r#"{"name":"depot","at":-36.5,"to":1e3}"#, r#"{"name":?,"at":#3,"to":?}"#, Some(r#""depot",1e3"#)),
        // What says what it is stays, whatever stands in the cells.
        (r#"{"kind":"Depot","of":"Depot"}"#, r#"{"kind":"Depot","of":$1}"#, None),
        (r#"{"list":["a \\ \"b\"","é"],"yes":true}"#, r#"{"list":[$2,$4],"yes":true}"#, None),
        (r##"{"asks":"$1?","more":"#3"}"##, r#"{"asks":?,"more":?}"#, Some(r##""$1?","#3""##)),
    ];
    let row = cells(&["key", "Depot", "a \\ \"b\"", "-36.5", "é"]);
    let literals: Vec<String> = row.iter().map(|cell| serde_json::to_string(cell).unwrap()).collect();
    for (action, expected, values) in table {
        let (shape, found) = shape_of(action, &literals);
        assert_eq!((shape.as_str(), found.as_deref()), (expected, values), "{action}");
        let parts = ShapeParts::of(shape);
        assert_eq!(parts.fill(&row, values).as_deref(), Some(action));
        // What has the shape of the row before has the values that were found.
        assert_eq!(parts.fit(action, &row), Some(found), "{action}");
        for other in [&action[1..], &action[..action.len() - 1], &format!("{action} "), "{}"] {
            assert_eq!(parts.fit(other, &row), None, "{other}");
        }
    }
    assert_eq!(ShapeParts::of("{\"name\":$9}").fill(&row, None), None);
    assert_eq!(ShapeParts::of("{\"name\":$1}").fill(&row, Some("\"left\"")), None);
    assert_eq!(ShapeParts::of("{\"name\":?}").fill(&row, None), None);
}

#[test]
fn a_row_has_the_shape_of_the_row_before_only_if_its_action_is_that_byte_for_byte() {
    let shape = r##"{"name":$1,"at":#0,"to":?}"##;
    let parts = ShapeParts::of(shape);
    let row = cells(&["12", "Depot \"1\""]);
    let table = [
        (r#"{"name":"Depot \"1\"","at":12,"to":5}"#, Some("5")),
        (r#"{"name":"Depot \"1\"","at":12,"to":"5,\"x"}"#, Some(r#""5,\"x""#)),
        (r#"{"name":"Depot \"1\"","at":123,"to":5}"#, None),
        (r#"{"name":"Depot","at":12,"to":5}"#, None),
        (r#"{"name":"Depot \"1\"","at":12,"to":null}"#, None),
        (r#"{"name":"Depot \"1\"","at":12,"to":5,"by":6}"#, None),
    ];
    for (action, expected) in table {
        let found = parts.fit(action, &row);
        assert_eq!(found, expected.map(|values| Some(values.to_owned())), "{action}");
        if let Some(values) = found {
            assert_eq!(parts.fill(&row, values.as_deref()).as_deref(), Some(action));
        }
    }
}

#[test]
fn a_text_that_comes_again_is_kept_once_and_one_of_a_column_of_keys_as_it_is() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let sheet = import.sheet(&crate::journal::fixture::sheet("sites", Kind::Site)).unwrap();
    let mut encoder = import.encoder().unwrap();
    encoder.begin_sheet();
    let row = |number: u32| cells(&[&format!("S-{number}"), "Auckland", "NZ", "\"Quay\"\n1"]);
    let mut stored = Vec::new();
    for number in 0..4 {
        let row = encoder.row(&row(number), None).unwrap();
        import.add_texts(&row).unwrap();
        stored.push(row.cells.clone());
        let job =
            import.add_job(&crate::journal::fixture::site(&number.to_string(), vec![], vec![])).unwrap();
        let place = NewRow { sheet, number, line: None, cells: vec![], job, disposition: Disposition::New };
        import.stored_row(&place, &row).unwrap();
    }
    assert_eq!(stored[0], r#"["S-0","Auckland","NZ","\"Quay\"\n1"]"#);
    assert_eq!(stored[1..], [r#"["S-1",1,"NZ",2]"#, r#"["S-2",1,"NZ",2]"#, r#"["S-3",1,"NZ",2]"#]);
    import.finish().unwrap();
    let mut seen = Vec::new();
    bench
        .journal
        .rows(sheet, &mut |row| {
            seen.push(row.cells);
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [row(0), row(1), row(2), row(3)]);
}

#[test]
fn a_job_made_from_an_encoded_row_has_the_action_that_was_written() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let sheet = import.sheet(&crate::journal::fixture::sheet("sites", Kind::Site)).unwrap();
    let (mut encoder, mut shapes) = (import.encoder().unwrap(), ActionShapes::default());
    let mut made = Vec::new();
    for number in 0..3 {
        let job = crate::journal::fixture::site(&format!("Site {number}"), vec![], vec![]);
        let written = vec![crate::journal::written_step(job.kind, &job.steps[0]).unwrap()];
        let row = cells(&[&format!("Site {number}"), "elsewhere"]);
        let packed = shapes.pack(&written[0].action, &row).unwrap().unwrap();
        assert_eq!(shapes.unpack(&packed, &row).as_deref(), Some(written[0].action.as_str()));
        let stored = encoder.row(&row, Some((packed, &shapes))).unwrap();
        import.add_texts(&stored).unwrap();
        let id = import.add_written_job(&job, &written, &stored, (sheet, number)).unwrap();
        let place =
            NewRow { sheet, number, line: None, cells: vec![], job: id, disposition: Disposition::New };
        import.stored_row(&place, &stored).unwrap();
        assert_eq!(import.steps_of(id).unwrap(), job.steps);
        made.push((id, job));
    }
    import.finish().unwrap();
    let shapes: i64 =
        bench.journal.connection.query_row("SELECT count(*) FROM shape", [], |row| row.get(0)).unwrap();
    assert_eq!(shapes, 1, "they differ in their names only");
    for (id, job) in made {
        let work = bench.journal.work(id).unwrap().unwrap();
        assert_eq!(work.action, job.steps[0]);
        assert!(matches!(work.action, Action::Create(Record::Site(_))));
    }
}
