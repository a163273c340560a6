//! Rows that an import leaves out, and what answers for them later.

use super::*;

impl Bench {
    /// Imports what is right of some sheets.
    pub(super) fn import_the_right_ones(&mut self, files: &[(&str, &str)]) -> ImportId {
        let examined = self.examined(files);
        let now = self.now();
        match import(&examined, &mut self.journal, true, now).unwrap() {
            Outcome::Imported(imported, _) => imported.import,
            Outcome::Refused(findings) => panic!("{:?}", codes(&findings)),
        }
    }

    /// Which rows of an import wait for one that takes their place, by the number of the row.
    pub(super) fn waiting(&self, import: ImportId) -> Vec<u32> {
        self.rows(import).iter().filter(|row| row.job.is_none()).map(|row| row.number).collect()
    }
}

#[test]
fn a_row_that_was_left_out_shows_what_became_of_it_when_it_comes_again() {
    let mut bench = Bench::new();
    let examined = bench.examined(&[(
        "companies.csv",
        &companies(&format!("acme,{ROOT},Acme,\nbad,nowhere,Bad,\nbelow,bad,Below,\nACME,{ROOT},Twin,\n")),
    )]);
    let now = bench.now();
    let Outcome::Imported(first, _) = import(&examined, &mut bench.journal, true, now).unwrap() else {
        panic!("the good row is imported");
    };
    assert_eq!(first.left_out.total(), 3);
    let corrected = companies(&format!("BAD,{ROOT},Bad,\nbelow,bad,Below,\nacme,{ROOT},Acme,\n"));
    let (second, _) = bench.import(&[("companies.csv", &corrected)]).unwrap();
    let bad = bench.rows(second.import)[0].job.unwrap();
    bench.create(bad, Operation::AddCompany);
    let told: Vec<_> =
        bench.rows(first.import).iter().map(|row| (row.disposition, row.state, row.job)).collect();
    let below = bench.rows(second.import)[1].job;
    assert_eq!(
        told[1..3],
        [
            (Disposition::LeftOut, JobState::Created, Some(bad)),
            (Disposition::LeftOut, JobState::Ready, below),
        ]
    );
    // The row whose key another one has is not that other one.
    assert_eq!(told[3], (Disposition::LeftOut, JobState::Rejected, None));
    assert_eq!(bench.journal.left_out(Some(first.import)).unwrap(), 1);
    assert_eq!(bench.journal.tally(Some(first.import)).unwrap().total(), 4);
}

#[test]
fn what_depends_on_a_wrong_row_whose_record_is_there_is_imported_all_the_same() {
    let mut bench = Bench::new();
    let rows = |fax: &str, name: &str, parent: &str| {
        companies(&format!("b,{ROOT},B,\nacme,{parent},{name},{fax}\nchild,acme,Child,{fax}\n"))
    };
    let sites = "key,company,name\ns,acme,S\n,name:Child,T\n";
    let (right, wrong) = (rows("", "Acme", ROOT), rows("1", "Acme", ROOT));
    let (first, _) = bench.import(&[("companies.csv", &right), ("sites.csv", sites)]).unwrap();
    let left_out = |bench: &mut Bench, companies: &str| {
        let import = bench.import_the_right_ones(&[("companies.csv", companies), ("sites.csv", sites)]);
        bench.rows(import).iter().map(|row| row.disposition == Disposition::LeftOut).collect::<Vec<_>>()
    };
    assert_eq!(left_out(&mut bench, &wrong), [false, true, true, true, true], "no record is there yet");
    for row in &bench.rows(first.import)[1..3] {
        bench.create(row.job.unwrap(), Operation::AddCompany);
    }
    let refused = bench.import(&[("companies.csv", &wrong), ("sites.csv", sites)]).unwrap_err();
    assert_eq!(codes(&refused).len(), 2, "the rows that are wrong forbid the import");
    assert_eq!(left_out(&mut bench, &wrong), [false, true, true, false, false]);
    // Of another name, or of another company, it may be another one.
    for wrong in [rows("1", "Acme Ltd", ROOT), rows("1", "Acme", "b"), rows("1", "Acme", "nowhere")] {
        assert_eq!(left_out(&mut bench, &wrong), [false, true, true, true, true], "{wrong}");
    }
}

#[test]
fn a_key_answers_for_a_row_under_the_same_owner_or_in_the_same_sheet_only() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\nb,{ROOT},B,\n"));
    let wrong = "key,company,name,latitude\nhq,a,Head Office,north\n";
    let first = bench.import_the_right_ones(&[("companies.csv", &owners), ("sites.csv", wrong)]);
    assert_eq!(bench.waiting(first), [2]);
    // Another company's site goes by the same key: it is another site.
    let stranger = "key,company,name\nhq,b,Head Office\n";
    let (_, _) = bench.import(&[("sites of b.csv", stranger)]).unwrap();
    assert_eq!(bench.waiting(first), [2], "a stranger with the same key is no answer");
    let corrected = "key,company,name\nhq,A,Head Office\n";
    bench.import(&[("sites corrected.csv", corrected)]).unwrap();
    assert!(bench.waiting(first).is_empty());
}

#[test]
fn a_row_without_a_key_is_known_by_its_name_and_owner_or_by_where_it_says_it_comes_from() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\nb,{ROOT},B,\n"));
    let wrong = "company,name,reference,latitude\na,Depot,D-1,north\na,Shop,S-1,north\n";
    let first = bench.import_the_right_ones(&[("companies.csv", &owners), ("sites.csv", wrong)]);
    assert_eq!(bench.waiting(first), [2, 3]);
    // The same name in another company, and another reference, are other sites.
    bench.import(&[("sites.csv", "company,name,reference\nb,Depot,D-1\na,Shop,S-2\n")]).unwrap();
    assert_eq!(bench.waiting(first), [2, 3]);
    bench.import(&[("sites.csv", "company,name,reference\nA,Depot,D-1\n")]).unwrap();
    assert_eq!(bench.waiting(first), [3]);
    // Its name was wrong as well: a fix sheet says which row it is.
    let renamed = "company,name,reference,result_source\na,Shop 1,S-1,sites.csv!sites!3\n";
    bench.import(&[("sites.fix.csv", renamed)]).unwrap();
    assert!(bench.waiting(first).is_empty());
}

#[test]
fn a_place_at_which_two_rows_were_left_out_answers_for_neither() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\n"));
    let wrong = |name: &str| format!("company,name,reference,latitude\na,{name},R,north\n");
    let sheets = [wrong("Depot"), wrong("Shop")];
    let [first, second] =
        sheets.map(|sheet| bench.import_the_right_ones(&[("companies.csv", &owners), ("sites.csv", &sheet)]));
    let renamed = "company,name,reference,result_source\na,Kiosk,R,sites.csv!sites!2\n";
    bench.import(&[("sites.fix.csv", renamed)]).unwrap();
    assert_eq!((bench.waiting(first), bench.waiting(second)), (vec![2], vec![2]));
}

#[test]
fn of_two_files_with_one_name_each_row_has_its_own_reason() {
    let mut bench = Bench::new();
    for (folder, sheet) in
        [("north", format!("n,{ROOT},North,\n")), ("south", "s,nowhere,South,\n".to_owned())]
    {
        std::fs::create_dir(bench.folder.path().join(folder)).unwrap();
        bench.write(&format!("{folder}/companies.csv"), &companies(&sheet));
    }
    let files = ["north/companies.csv", "south/companies.csv"].map(|name| {
        let path = bench.folder.path().join(name);
        let content = std::fs::read_to_string(&path).unwrap();
        (name, content)
    });
    let files = [(files[0].0, files[0].1.as_str()), (files[1].0, files[1].1.as_str())];
    let import = bench.import_the_right_ones(&files);
    let told: Vec<_> = bench
        .rows(import)
        .into_iter()
        .map(|row| (row.cells[0].clone(), row.code.unwrap_or_default()))
        .collect();
    assert_eq!(told, [("n".to_owned(), String::new()), ("s".to_owned(), "ref.not-found".to_owned())]);
    let names: Vec<_> = bench.journal.sheets(import).unwrap().into_iter().map(|sheet| sheet.file).collect();
    assert!(
        names[0].ends_with("north/companies.csv") && names[1].ends_with("south/companies.csv"),
        "{names:?}"
    );
}

#[test]
fn a_row_that_is_left_out_for_a_denied_warning_is_told_why() {
    let mut bench = Bench::new();
    let mut options = Options::default();
    options.policy.deny("cell.phone").unwrap();
    for field in ["support_email", "sales_email", "accounts_email"] {
        options.set_default(&format!("companies.{field}=a@b.example")).unwrap();
    }
    options.set_default("companies.company_type=CUSTOMER").unwrap();
    options.set_default("companies.address1=1 High St").unwrap();
    let sheet = format!("key,parent,name,phone\na,{ROOT},A,1-800-FLOWERS\n");
    let path = bench.write("companies.csv", &sheet);
    let examined = examine(&[path], &options, Some(&bench.journal)).unwrap();
    let now = bench.now();
    let Outcome::Imported(imported, _) = import(&examined, &mut bench.journal, true, now).unwrap() else {
        panic!("one row is left out, and that is all");
    };
    let rows = bench.rows(imported.import);
    assert_eq!((rows[0].code.as_deref(), rows[0].state), (Some("cell.phone"), JobState::Rejected));
    assert_eq!(rows[0].violations[0].path, "phone");
}

#[test]
fn the_order_of_metadata_columns_makes_no_row_another_one() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\n"));
    let sheet = "key,company,name,meta:zone,meta:a\ns,a,S,1,2\n";
    bench.import(&[("companies.csv", &owners), ("sites.csv", sheet)]).unwrap();
    let moved = "key,company,name,meta:a,meta:zone\ns,a,S,2,1\n";
    let (again, _) = bench.import(&[("companies.csv", &owners), ("sites.csv", moved)]).unwrap();
    assert_eq!((again.recognised, again.changed_since, again.revised), (2, 0, 0));
}

#[test]
fn a_row_that_was_imported_before_answers_the_one_of_its_name_and_owner_that_was_left_out() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\nb,{ROOT},B,\n"));
    let right = "key,company,name,reference,latitude,longitude\n\
                 ,a,Depot,D-1,1,1\n,b,Depot,D-1,2,2\nk,a,Shop,S-1,3,3\n";
    bench.import(&[("companies.csv", &owners), ("sites.csv", right)]).unwrap();
    let left_out = |bench: &mut Bench, wrong: &str| {
        bench.import_the_right_ones(&[("companies.csv", &owners), ("sites.csv", wrong)])
    };
    // A broken value, and a broken key.
    let wrong = right.replace("D-1,1,", "D-1,north,").replace("k,a", "k k,a");
    let first = left_out(&mut bench, &wrong);
    assert_eq!(bench.waiting(first), [2, 4]);
    bench.import(&[("companies.csv", &owners), ("sites.csv", right)]).unwrap();
    assert!(bench.waiting(first).is_empty());
    // Of a name that is another row's, the row is not known by it.
    let twice = left_out(&mut bench, &format!("{right},a,Depot,D-1,9,9\n"));
    assert_eq!(bench.waiting(twice), [5]);
    bench.import(&[("companies.csv", &owners), ("sites.csv", right)]).unwrap();
    assert_eq!(bench.waiting(twice), [5]);
}

#[test]
fn a_row_of_upkeep_that_is_unchanged_answers_the_one_that_was_left_out_for_another_row() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\n"));
    let sites =
        |latitude: &str| format!("key,company,name,latitude,longitude\ns,a,S,{latitude},1\nt,a,T,1,1\n");
    let labels = "owner_kind,owner,label\nsite,s,L1\nsite,t,L1\n";
    let wrong = sites("north");
    let first = bench.import_the_right_ones(&[
        ("companies.csv", &owners),
        ("sites.csv", &wrong),
        ("labels.csv", labels),
    ]);
    assert_eq!(bench.waiting(first).len(), 2, "the site and its label");
    let other = labels.replace("s,L1", "s,L2");
    bench.import(&[("companies.csv", &owners), ("sites.csv", &sites("1")), ("labels.csv", &other)]).unwrap();
    assert_eq!(bench.waiting(first).len(), 1, "another label is another row");
    bench.import(&[("companies.csv", &owners), ("sites.csv", &sites("1")), ("labels.csv", labels)]).unwrap();
    assert!(bench.waiting(first).is_empty());
}

#[test]
fn an_update_that_was_left_out_is_answered_from_its_fix_sheet() {
    let mut bench = Bench::new();
    let wrong = format!("action,id,latitude,longitude\nupdate,{ROOT},north,1\n");
    let first = bench.import_the_right_ones(&[("sites.csv", &wrong)]);
    assert_eq!(bench.waiting(first), [2]);
    let corrected =
        format!("action,id,latitude,longitude,result_source\nupdate,{ROOT},1,1,sites.csv!sites!2\n");
    bench.import(&[("sites.fix.csv", &corrected)]).unwrap();
    assert!(bench.waiting(first).is_empty());
}

#[test]
fn a_row_that_refers_to_one_that_was_left_out_is_told_where_that_waits() {
    let mut bench = Bench::new();
    let wrong = companies(&format!("acme,{ROOT},Acme,\nbad,nowhere,Bad Ltd,\n"));
    let sites = "key,company,name,reference,latitude\nhq,acme,Head Office,R1,north\n";
    let first = bench.import_the_right_ones(&[("companies.csv", &wrong), ("sites.csv", sites)]);
    let message = |bench: &mut Bench, files: &[(&str, &str)]| {
        let refused = bench.import(files).unwrap_err();
        let found = refused.iter().next().unwrap();
        assert_eq!(found.code, Code::RefNotFound);
        found.message.clone()
    };
    let waits = |what: &str| {
        format!(
            "{what} was not imported with import {first} and waits in fix.xlsx of that import: correct and import that first, \
             or give the id"
        )
    };
    for reference in ["BAD", "key:bad", "name:Bad  Ltd"] {
        let sites = format!("company,name\n{reference},Depot\n");
        let shown = reference.split_once(':').map_or(reference, |(_, text)| text);
        let (form, shown) = match reference.split_once(':') {
            Some(("name", _)) => ("name", "Bad Ltd"),
            Some(_) => ("key", shown),
            None => ("key or name", shown),
        };
        let told = message(&mut bench, &[("sites.csv", &sites)]);
        assert_eq!(told, waits(&format!("the company with the {form} '{shown}'")));
    }
    // A site is known by its name and its reference.
    let device = "company,name,site\nacme,Till,Head Office\n";
    let told = message(&mut bench, &[("devices.csv", device)]);
    assert_eq!(told, waits("the site with the key or name 'Head Office'"));
    // Once nobody is to correct it any more, it is not there.
    bench.journal.cancel(first, "kim", Moment::from_millis(90_000)).unwrap();
    let told = message(&mut bench, &[("sites.csv", "company,name\nbad,Depot\n")]);
    assert!(told.starts_with("no company has the key or name 'bad'"), "{told}");
}

#[test]
fn a_row_that_differs_from_its_record_is_no_answer_to_the_one_that_was_left_out() {
    let mut bench = Bench::new();
    let sites = |latitude: &str| format!("key,company,name,latitude,longitude\ns,{ROOT},S,{latitude},1\n");
    let (made, _) = bench.import(&[("sites.csv", &sites("1"))]).unwrap();
    bench.create(bench.rows(made.import)[0].job.unwrap(), Operation::AddSite);
    let wrong = bench.import_the_right_ones(&[("sites.csv", &sites("north"))]);
    let (differs, _) = bench.import(&[("sites.csv", &sites("2"))]).unwrap();
    assert_eq!((differs.changed_since, bench.waiting(wrong)), (1, vec![2]));
    bench.import(&[("sites.csv", &sites("1"))]).unwrap();
    assert!(bench.waiting(wrong).is_empty());
}

/// Two rows of which the second is left out: the file, the header, the first row, the second one, what is corrected in that, and
/// the code.
type Double = (&'static str, &'static str, &'static str, &'static str, (&'static str, &'static str), Code);

const DOUBLES: [Double; 9] = [
    (
        "devices.csv",
        "key,company,name,device_model,mac",
        "k,ROOT,one,Edge 200,00:11:22:00:05:01",
        "k,ROOT,two,Edge 200,00:11:22:00:05:02",
        ("k,", "k2,"),
        Code::DupKey,
    ),
    (
        "devices.csv",
        "company,name,device_model,mac,city",
        "ROOT,one,Edge 200,00:11:22:00:05:01,Leeds",
        "ROOT,two,Edge 200,00:11:22:00:05:01,York",
        (":01,", ":02,"),
        Code::DupMac,
    ),
    (
        "devices.csv",
        "key,company,name,device_model,city",
        "q1,ROOT,one,Edge 200,Leeds",
        "q2,ROOT,one,Edge 200,York",
        (",one,", ",two,"),
        Code::DupNaturalKey,
    ),
    ("sites.csv", "key,company,name", "k,ROOT,one", "k,ROOT,two", ("k,", "k2,"), Code::DupKey),
    (
        "sites.csv",
        "key,company,name,city",
        "k,ROOT,one,Leeds",
        "k,ROOT,one,York",
        ("k,ROOT,one", "k2,ROOT,two"),
        Code::DupKey,
    ),
    (
        "sites.csv",
        "key,company,name,city",
        "q1,ROOT,one,Leeds",
        "q2,ROOT,one,York",
        (",one,", ",two,"),
        Code::DupNaturalKey,
    ),
    ("sites.csv", "company,name", "ROOT,one", "ROOT,one", (",one", ",two"), Code::DupNaturalKey),
    (
        "companies.csv",
        "key,parent,name,city",
        "q1,ROOT,one,Leeds",
        "q2,ROOT,one,York",
        (",one,", ",two,"),
        Code::DupNaturalKey,
    ),
    (
        "people.csv",
        "key,company,first_name,last_name,username,email,user_type,template_scope,allow_login",
        "k,ROOT,Grace,One,one,g@b.example,Reports Client,COMPANY_INHERIT,yes",
        "k,ROOT,Grace,Two,two,g@b.example,Reports Client,COMPANY_INHERIT,yes",
        ("k,", "k2,"),
        Code::DupKey,
    ),
];

#[test]
fn a_row_that_was_left_out_beside_another_one_is_refused_until_what_both_have_is_corrected() {
    for is_created in [false, true] {
        for (file, header, one, two, (wrong, right), code) in DOUBLES {
            let case = format!("{file} {two} {is_created}");
            let creation = match file {
                "companies.csv" => Operation::AddCompany,
                "people.csv" => Operation::AddPerson,
                "sites.csv" => Operation::AddSite,
                _ => Operation::AddDevice,
            };
            let sheet = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n")).replace("ROOT", ROOT);
            let mut bench = Bench::new();
            let both = sheet(&[one, two]);
            let first = bench.import_the_right_ones(&[(file, &both)]);
            let rows = bench.rows(first);
            assert_eq!(
                (rows[1].code.as_deref(), bench.waiting(first)),
                (Some(code.as_str()), vec![3]),
                "{case}"
            );
            if is_created {
                bench.create(rows[0].job.unwrap(), creation);
            }

            let fix = |row: &str| {
                let (name, _) = file.split_once('.').unwrap();
                sheet(&[row]).replacen('\n', ",result_source\n", 1).trim_end().to_owned()
                    + &format!(",{file}!{name}!3\n")
            };
            let mut refused = vec![("fix.csv", fix(two))];
            if one != two {
                refused.extend([(file, sheet(&[two])), ("more.csv", sheet(&[two]))]);
            }
            for (again, content) in refused {
                let name = format!("{} {again}", file.split_once('.').unwrap().0);
                let name = if again == file { file } else { &name };
                let refused = bench.import(&[(name, &content)]).map(|(imported, _)| imported).unwrap_err();
                assert_eq!(codes(&refused).first().map(|(code, _)| *code), Some(code), "{case} {again}");
            }
            // What stands beside it is known as before, and is no answer to it.
            let again = bench.import_the_right_ones(&[(file, &both)]);
            assert_eq!((bench.waiting(first), bench.waiting(again)), (vec![3], vec![3]), "{case}");
            bench.import(&[(file, &sheet(&[one]))]).unwrap();

            let (corrected, _) = bench.import(&[(file, &fix(&two.replacen(wrong, right, 1)))]).unwrap();
            assert_eq!((corrected.added, bench.waiting(first)), (1, vec![]), "{case}");
        }
    }
}

#[test]
fn a_row_that_was_left_out_beside_another_one_is_refused_where_files_of_several_imports_have_one_name() {
    let mut bench = Bench::new();
    for name in ["A", "B"] {
        let row = format!("{ROOT},{name}\n");
        bench.import_the_right_ones(&[("sites.csv", &format!("company,name\n{row}{row}"))]);
    }
    for name in ["A", "B"] {
        let fix = format!("company,name,result_source\n{ROOT},{name},sites.csv!sites!3\n");
        let refused = bench.import(&[("sites.fix.csv", &fix)]).unwrap_err();
        assert_eq!(codes(&refused), [(Code::DupNaturalKey, "B2".into())], "{name}");
    }
}

#[test]
fn a_row_with_errors_of_its_own_is_told_as_well_what_is_wrong_with_it_beside_others() {
    let mut bench = Bench::new();
    let import = bench.import_the_right_ones(&[("companies.csv", &companies("a a,A,A,\nb,Z,B,\nb,Z,C,\n"))]);
    let rows = bench.rows(import);
    let told: Vec<(&str, Vec<&str>)> = rows
        .iter()
        .map(|row| (row.code.as_deref().unwrap(), row.violations.iter().map(|one| &*one.path).collect()))
        .collect();
    assert_eq!(
        told,
        [
            ("cell.key", vec!["key", "parent"]),
            ("ref.not-found", vec!["parent"]),
            ("dup.key", vec!["key", "parent"])
        ]
    );
}
