//! Rows that come again with other values: which columns differ, and what they said.

use super::*;

const SITE: &str = "key,company,name,reference,latitude,longitude,labels,meta:till,meta:area,city";

impl Bench {
    /// Companies and one site, all created.
    fn with_site(row: &str) -> Self {
        let mut bench = Self::new();
        let owners = companies(&format!("acme,{ROOT},Acme,\nglobex,{ROOT},Globex,\n"));
        let sites = format!("{SITE}\n{row}\n");
        let (first, _) = bench.import(&[("companies.csv", &owners), ("sites.csv", &sites)]).unwrap();
        for row in bench.rows(first.import) {
            let operation = row.operation.unwrap();
            bench.create(row.job.unwrap(), operation);
        }
        bench.carry_out_the_rest(first.import);
        bench
    }

    /// Carries out what the rows of an import ask for after their creation.
    fn carry_out_the_rest(&mut self, import: ImportId) {
        while let Some(row) = self.rows(import).into_iter().find(|row| row.state == JobState::Ready) {
            let (job, operation) = (row.job.unwrap(), row.operation.unwrap());
            self.claim(job, operation);
            let evidence = Evidence::at(self.now());
            self.apply(Write::Advance { job, from: JobState::Sending, how: How::Done, id: None, evidence });
        }
    }

    /// The differences of the only row of a sheet, each as `column: earlier > now`, and the cell that is marked.
    fn differs(&mut self, header: &str, row: &str) -> (Vec<String>, Option<String>) {
        let (imported, findings) = self.import(&[("sites.csv", &format!("{header}\n{row}\n"))]).unwrap();
        let rows = self.rows(imported.import);
        assert_eq!(
            rows[0].code.as_deref(),
            Some(if rows[0].differs() { "row.differs" } else { "row.unchanged" })
        );
        assert_eq!(rows[0].state, JobState::Created);
        assert_eq!(imported.changed_since, u64::from(rows[0].differs()));
        assert_eq!(self.journal.differing(Some(imported.import)).unwrap(), u64::from(rows[0].differs()));
        let said = |value: &Option<String>| value.clone().unwrap_or_default();
        let differences = rows[0]
            .differences
            .iter()
            .map(|one| format!("{}: {} > {}", one.header, said(&one.earlier), said(&one.now)))
            .collect();
        (
            differences,
            findings.iter().find(|one| one.code == Code::RowDiffers).and_then(|one| one.cell.clone()),
        )
    }
}

#[test]
fn a_row_that_differs_names_the_columns_as_the_sheets_say_them() {
    let row = "s1,acme,Branch,R-1,-36.8485,174.7633,\"till; red\",7,North,Auckland";
    let table: &[(&str, &[&str], &str)] = &[
        (
            "s1,acme,Branch,R-1,-36.8485,174.7633,\"till; red\",7,North,Wellington",
            &["city: Auckland > Wellington"],
            "J2",
        ),
        (
            "s1,acme,Branch 2,R-1,-36.8485,174.7633,\"till; red\",7,North,Auckland",
            &["name: Branch > Branch 2"],
            "C2",
        ),
        (
            "s1,acme,Branch,R-2,-36.8485,174.7633,\"till; red\",7,North,Auckland",
            &["reference: R-1 > R-2"],
            "D2",
        ),
        (
            "s1,acme,Branch,R-1,-36.85,174.7633,\"till; red\",7,North,Auckland",
            &["latitude: -36.8485 > -36.85"],
            "E2",
        ),
        ("s1,acme,Branch,R-1,-36.8485,174.7633,till,7,North,Auckland", &["labels: till; red > till"], "G2"),
        ("s1,acme,Branch,R-1,-36.8485,174.7633,,7,North,Auckland", &["labels: till; red > "], "G2"),
        (
            "s1,acme,Branch,R-1,-36.8485,174.7633,\"till; red\",8,,Auckland",
            &["meta:till: 7 > 8", "meta:area: North > "],
            "H2",
        ),
    ];
    for (now, expected, cell) in table {
        let mut bench = Bench::with_site(row);
        let (differences, marked) = bench.differs(SITE, now);
        assert_eq!(differences, *expected, "{now}");
        assert_eq!(marked.as_deref(), Some(*cell), "{now}");
        assert_eq!(bench.differs(SITE, row), (Vec::new(), None), "as it was at first: unchanged");
    }
}

#[test]
fn a_row_that_differs_in_what_it_belongs_to_says_what_the_sheets_say() {
    let header = "company,name,mac,device_model\n";
    let mut bench = Bench::new();
    let owners = companies(&format!("acme,{ROOT},Acme,\nglobex,{ROOT},Globex,\n"));
    let device = |company: &str| format!("{header}{company},Till,00:25:96:42:bf:42,Edge 100\n");
    let (first, _) = bench.import(&[("companies.csv", &owners), ("devices.csv", &device("Acme"))]).unwrap();
    for row in bench.rows(first.import) {
        bench.create(row.job.unwrap(), row.operation.unwrap());
    }
    let (second, _) = bench.import(&[("devices.csv", &device("key:globex"))]).unwrap();
    let difference = &bench.rows(second.import)[0].differences[0];
    assert_eq!(difference.words(), "company was 'Acme', is 'key:globex' now");
    // The same company by another name is the same.
    let (third, _) = bench.import(&[("devices.csv", &device("key:acme"))]).unwrap();
    assert_eq!(bench.rows(third.import)[0].code.as_deref(), Some("row.unchanged"));
    assert_eq!(bench.journal.differing(Some(second.import)).unwrap(), 0, "it came again since");
    assert_eq!(bench.rows(second.import)[0].answered_by, Some(third.import));
}

#[test]
fn values_that_are_written_in_another_way_or_in_another_order_are_unchanged() {
    let mut bench = Bench::with_site("s1,acme,Branch,R-1,-36.8485,174.7633,\"till; red\",7,North,Auckland");
    let turned = "city,labels,meta:area,meta:till,longitude,latitude,reference,name,company,key";
    let (differences, marked) =
        bench.differs(turned, " Auckland ,\"red;till\",North,7,174.76330,-36.84850,R-1,Branch,Acme,S1");
    assert_eq!((differences, marked), (Vec::new(), None));
}

#[test]
fn a_row_that_differs_twice_is_compared_with_the_record_each_time() {
    let mut bench = Bench::with_site("s1,acme,Branch,R-1,,,,,,Auckland");
    let city = |city: &str| format!("s1,acme,Branch,R-1,,,,,,{city}");
    assert_eq!(bench.differs(SITE, &city("Wellington")).0, ["city: Auckland > Wellington"]);
    assert_eq!(bench.differs(SITE, &city("Napier")).0, ["city: Auckland > Napier"]);
    assert_eq!(bench.journal.differing(None).unwrap(), 1, "the newest row counts");
    assert!(bench.differs(SITE, &city("Auckland")).0.is_empty());
    assert_eq!(bench.journal.differing(None).unwrap(), 0);
}

#[test]
fn a_row_that_waits_gets_its_new_values_and_one_under_way_keeps_those_it_was_sent_with() {
    let row = |city: &str| format!("{SITE}\ns1,acme,Branch,R-1,,,,,,{city}\n");
    let owners = companies(&format!("acme,{ROOT},Acme,\n"));
    let mut bench = Bench::new();
    let (first, _) = bench.import(&[("companies.csv", &owners), ("sites.csv", &row("Auckland"))]).unwrap();
    let (again, _) = bench.import(&[("sites.csv", &row("Wellington"))]).unwrap();
    assert_eq!((again.revised, again.changed_since), (1, 0));
    for row in bench.rows(first.import) {
        if row.kind == Kind::Company {
            bench.create(row.job.unwrap(), Operation::AddCompany);
        }
    }
    let job = bench.rows(again.import)[0].job.unwrap();
    let _run = bench.journal.lock_for_run().unwrap().unwrap();
    bench.claim(job, Operation::AddSite);
    let (late, findings) = bench.import(&[("sites.csv", &row("Napier"))]).unwrap();
    assert_eq!((late.revised, late.changed_since, findings.count(Severity::Warning)), (0, 1, 1));
    let sent = &bench.rows(late.import)[0];
    assert_eq!(
        (sent.state, &sent.code),
        (JobState::Sending, &None),
        "it is not known yet what it differs from"
    );
    let id = Some(RemoteId::from_u128(0xB000));
    let evidence = Evidence::at(bench.now());
    bench.apply(Write::Advance { job, from: JobState::Sending, how: How::Created, id, evidence });
    let told = &bench.rows(late.import)[0];
    assert_eq!(told.code.as_deref(), Some("row.differs"));
    assert_eq!(told.differences[0].words(), "city was 'Wellington', is 'Napier' now");
}
