//! Rows that later imports bring with the key, the name or the owner of another row.

use std::collections::BTreeSet;

use super::*;
use crate::model::action::Action;
use crate::model::record::Metadata;

impl Bench {
    /// What rows of an import are, each with the name of its record and, of a row below a row, that of its owner.
    fn placed(&self, import: ImportId) -> Vec<(String, Disposition)> {
        let rows = self.rows(import);
        rows.into_iter().map(|row| (self.called(row.job.unwrap()), row.disposition)).collect()
    }

    /// The name of a job, below that of its owner if a row made that.
    fn called(&self, job: JobId) -> String {
        let name = self.journal.row_identity(job).unwrap().unwrap().name;
        let owner = self.journal.links_of(job).unwrap().into_iter().find_map(|link| match link.target {
            Target::Job(owner) => Some(self.called(owner)),
            Target::Remote(_) => None,
        });
        owner.map_or(name.clone(), |owner| format!("{owner}/{name}"))
    }

    /// Puts a job on hold.
    fn hold(&mut self, job: JobId, from: JobState) {
        let evidence = Evidence::at(self.now());
        let (code, reason, candidates) = ("existing.unclear".to_owned(), "two".to_owned(), Vec::new());
        self.apply(Write::Hold { job, from, code, reason, candidates, evidence });
    }

    fn job_of(&self, import: ImportId, key: &str) -> JobId {
        self.rows(import).into_iter().find(|row| row.cells[0] == key).and_then(|row| row.job).unwrap()
    }
}

#[test]
fn names_that_move_between_rows_with_keys_stay_with_their_keys() {
    use Disposition::Revised;
    let below = "key,company,name\ns1,c1,HQ\n";
    for [first, second] in [["Globex", "Initech"], ["Globex", "Acme"]] {
        let mut bench = Bench::new();
        let before = companies(&format!("c1,{ROOT},Acme,\nc2,{ROOT},Globex,\n"));
        let (import, _) = bench.import(&[("companies.csv", &before), ("sites.csv", below)]).unwrap();
        let site = bench.job_of(import.import, "s1");
        let now = companies(&format!("c1,{ROOT},{first},\nc2,{ROOT},{second},\n"));
        let (again, _) = bench.import(&[("companies.csv", &now)]).unwrap();
        assert_eq!(bench.placed(again.import), [(first.into(), Revised), (second.into(), Revised)]);
        assert_eq!(bench.called(site), format!("{first}/HQ"), "the site is below the row with the key c1");
        for key in ["c1", "c2"] {
            let has_key = bench.journal.by_sheet_key(Kind::Company, key).unwrap();
            assert_eq!(has_key.len(), 1, "{key}");
            assert_eq!(has_key[0].job, bench.job_of(import.import, key));
        }

        // Sites and devices alike, of which one may have been refused.
        let owner = companies(&format!("c,{ROOT},Company,\n"));
        for (file, operation) in [("sites.csv", Operation::AddSite), ("devices.csv", Operation::AddDevice)] {
            let mut bench = Bench::new();
            let rows = |first, second| format!("key,company,name\nc1,c,{first}\nc2,c,{second}\n");
            let (import, _) =
                bench.import(&[("companies.csv", &owner), (file, &rows("Acme", "Globex"))]).unwrap();
            bench.create(bench.job_of(import.import, "c"), Operation::AddCompany);
            bench.reject(bench.job_of(import.import, "c1"), operation);
            let (again, _) = bench.import(&[(file, &rows(first, second))]).unwrap();
            let expected = [first, second].map(|name| (format!("Company/{name}"), Revised));
            assert_eq!(bench.placed(again.import), expected, "{file}");
            for key in ["c1", "c2"] {
                assert_eq!(bench.job_of(again.import, key), bench.job_of(import.import, key), "{file} {key}");
            }
        }
    }
}

#[test]
fn a_row_with_the_name_of_one_record_and_the_key_of_another_is_refused() {
    let mut bench = Bench::new();
    let before = companies(&format!("c1,{ROOT},Acme,\nc2,{ROOT},Globex,\n"));
    let (import, _) = bench.import(&[("companies.csv", &before)]).unwrap();
    let refusal = |bench: &mut Bench| {
        let wrong = companies(&format!("c1,{ROOT},Globex,\n"));
        let refused = bench.import(&[("companies.csv", &wrong)]).unwrap_err();
        assert_eq!(codes(&refused), [(Code::DupKey, "A2".into())]);
        let message = refused.iter().next().unwrap().message.clone();
        assert!(message.contains("'Acme'") && message.contains("brought with the key 'c2'"), "{message}");
    };
    refusal(&mut bench);
    bench.create(bench.job_of(import.import, "c2"), Operation::AddCompany);
    refusal(&mut bench);
}

#[test]
fn rows_of_records_that_are_there_are_known_by_their_names_when_their_keys_are_numbered_again() {
    let mut bench = Bench::new();
    let owner = companies(&format!("c,{ROOT},Company,\n"));
    let devices = |rows: &str| format!("key,company,name\n{rows}");
    let before = devices("1,c,Front\n2,c,Back\n3,c,Cellar\n");
    let (import, _) = bench.import(&[("companies.csv", &owner), ("devices.csv", &before)]).unwrap();
    bench.create(bench.job_of(import.import, "c"), Operation::AddCompany);
    let made = ["1", "2", "3"].map(|key| bench.job_of(import.import, key));
    let again = devices("1,c,Back\n2,c,Cellar\n");
    let refused = bench.import(&[("devices.csv", &again)]).unwrap_err();
    let waits = "Front still waits with its key";
    assert_eq!(codes(&refused), [(Code::DupKey, "A2".into()), (Code::DupKey, "A3".into())], "{waits}");
    made.into_iter().for_each(|job| {
        bench.create(job, Operation::AddDevice);
    });
    let (known, _) = bench.import(&[("devices.csv", &again)]).unwrap();
    let names = ["Back", "Cellar"].map(|name| (format!("Company/{name}"), Disposition::Recognised));
    assert_eq!(bench.placed(known.import), names);
}

#[test]
fn of_many_rows_each_with_the_name_that_the_next_one_had_all_are_placed() {
    const ROWS: usize = 300;
    let owner = companies(&format!("c,{ROOT},Company,\n"));
    let devices = |name: &dyn Fn(usize) -> usize| {
        let rows: String = (0..ROWS).map(|n| format!("k{n},c,Till {}\n", name(n))).collect();
        format!("key,company,name\n{rows}")
    };
    // Up, down, and all around.
    let (up, down, around) = (|n: usize| n + 1, |n: usize| n.wrapping_sub(1), |n: usize| (n + 1) % ROWS);
    for name in [&up as &dyn Fn(usize) -> usize, &down, &around] {
        let mut bench = Bench::new();
        let first = devices(&|n| n);
        let (import, _) = bench.import(&[("companies.csv", &owner), ("devices.csv", &first)]).unwrap();
        let (again, _) = bench.import(&[("devices.csv", &devices(name))]).unwrap();
        assert_eq!((again.revised, again.added), (ROWS as u64, 0));
        for key in ["k0", "k1", "k299"] {
            assert_eq!(bench.job_of(again.import, key), bench.job_of(import.import, key), "{key}");
        }
    }
}

#[test]
fn the_name_of_a_row_that_was_given_up_is_free_unless_its_record_may_have_been_made() {
    for may_be_there in [false, true] {
        let mut bench = Bench::new();
        let other = companies(&format!("c2,{ROOT},Globex,\n"));
        let (import, _) = bench.import(&[("companies.csv", &other)]).unwrap();
        if may_be_there {
            let job = bench.job_of(import.import, "c2");
            bench.claim(job, Operation::AddCompany);
            bench.hold(job, JobState::Sending);
            let at = bench.now();
            bench.journal.resolve(job, crate::journal::Decision::Abandon, None, "ann", at).unwrap();
        } else {
            let at = bench.now();
            bench.journal.cancel(import.import, "ann", at).unwrap();
        }
        bench.import(&[("companies.csv", &companies(&format!("c1,{ROOT},Acme,\n")))]).unwrap();
        match bench.import(&[("companies.csv", &companies(&format!("c1,{ROOT},Globex,\n")))]) {
            Ok((again, _)) => {
                assert!(!may_be_there);
                assert_eq!(bench.placed(again.import), [("Globex".into(), Disposition::Revised)]);
                assert_eq!(bench.journal.by_sheet_key(Kind::Company, "c1").unwrap().len(), 1);
            }
            Err(refused) => {
                assert!(may_be_there);
                assert_eq!(codes(&refused), [(Code::DupKey, "A2".into())]);
            }
        }
    }
}

#[test]
fn a_row_that_was_given_up_in_doubt_and_comes_with_another_name_is_a_warning() {
    let owner = companies(&format!("c,{ROOT},Company,\n"));
    let device = |name: &str, model: &str| format!("key,company,name,device_model\nd1,c,{name},{model}\n");
    for is_sent in [false, true] {
        for (name, model, is_warned) in
            [("Till 1", "Edge 200", false), ("Till One", "Edge 100", true), ("Till One", "Edge 200", true)]
        {
            let mut bench = Bench::new();
            let first = device("Till 1", "Edge 100");
            let (import, _) = bench.import(&[("companies.csv", &owner), ("devices.csv", &first)]).unwrap();
            bench.create(bench.job_of(import.import, "c"), Operation::AddCompany);
            let job = bench.job_of(import.import, "d1");
            let at = bench.now();
            if is_sent {
                bench.claim(job, Operation::AddDevice);
                bench.hold(job, JobState::Sending);
                bench.journal.resolve(job, crate::journal::Decision::Abandon, None, "ann", at).unwrap();
            } else {
                bench.journal.cancel(import.import, "ann", at).unwrap();
            }
            let (_, findings) = bench.import(&[("west devices.csv", &device(name, model))]).unwrap();
            let told: Vec<_> = findings.iter().filter(|found| found.code == Code::DupRow).collect();
            assert_eq!(told.len(), usize::from(is_sent && is_warned), "{is_sent} {name} {model} {told:?}");
            if let Some(told) = told.first() {
                let words =
                    format!("job {job} was cancelled while it was not known whether its device 'Till 1' was");
                assert!(told.message.starts_with(&words), "{}", told.message);
            }
        }
    }
}

#[test]
fn a_row_of_another_company_in_a_file_of_the_same_name_does_not_answer_for_one_that_was_left_out() {
    for stranger in ["Globex HQ", "HQ"] {
        let mut bench = Bench::new();
        let owners = companies(&format!("c1,{ROOT},Acme,\nc2,{ROOT},Globex,\n"));
        let wrong = "key,company,name,latitude\ns1,c1,HQ,north\n";
        let first = bench.import_the_right_ones(&[("companies.csv", &owners), ("sites.csv", wrong)]);
        assert_eq!(bench.waiting(first), [2]);
        bench.import(&[("sites.csv", &format!("key,company,name\ns1,c2,{stranger}\n"))]).unwrap();
        assert_eq!(bench.waiting(first), [2], "{stranger}");
        bench.import(&[("sites.csv", "key,company,name\ns1,c1,Head Office\n")]).unwrap();
        assert!(bench.waiting(first).is_empty(), "its key and its company are the same");
    }
}

#[test]
fn a_row_whose_company_was_wrong_is_answered_by_the_row_with_its_key_and_name_in_the_same_sheet() {
    let mut bench = Bench::new();
    let owners = companies(&format!("c1,{ROOT},Acme,\n"));
    let right = "key,company,name\ns1,c1,HQ\ns2,c1,Depot\n";
    bench.import(&[("companies.csv", &owners), ("sites.csv", right)]).unwrap();
    // What it belongs to is not there, or is left out itself.
    let wrong = companies("c3,nowhere,Initech,\n");
    let sheet = "key,company,name\ns1,c2,HQ\ns2,c3,Depot\n";
    let first = bench.import_the_right_ones(&[("companies.csv", &wrong), ("sites.csv", sheet)]);
    assert_eq!(bench.waiting(first), [2, 2, 3]);
    bench.import(&[("sites.csv", right)]).unwrap();
    assert_eq!(bench.waiting(first), [2], "only the company waits");
}

#[test]
fn rows_below_a_company_that_was_named_by_its_id_are_known_once_a_row_owns_it() {
    let id = RemoteId::from_u128(0xA000 + 1);
    for outcome in ["ready", "created", "rejected"] {
        let mut bench = Bench::new();
        let below = |parent: &str| {
            let devices = format!("key,company,name\n,{parent},Till\n");
            (companies(&format!("k1,{parent},Branch,\n")), devices)
        };
        let (branches, devices) = below(&id.to_string());
        // Its job gets the first number, and with it that id.
        let owner = companies(&format!("acme,{ROOT},Acme,\n"));
        let files = [("acme.csv", owner.as_str()), ("companies.csv", &branches), ("devices.csv", &devices)];
        let (first, _) = bench.import(&files).unwrap();
        let owner = bench.job_of(first.import, "acme");
        let (branch, till) = (bench.job_of(first.import, "k1"), bench.job_of(first.import, ""));
        assert_eq!(bench.create(owner, Operation::AddCompany), id);
        for (job, operation) in [(branch, Operation::AddCompany), (till, Operation::AddDevice)] {
            match outcome {
                "created" => drop(bench.create(job, operation)),
                "rejected" => bench.reject(job, operation),
                _ => {}
            }
        }
        for parent in ["acme", &id.to_string()] {
            let (branches, devices) = below(parent);
            let (again, findings) =
                bench.import(&[("companies.csv", &branches), ("devices.csv", &devices)]).unwrap();
            assert_eq!((again.recognised, again.rows), (2, 2), "{outcome} {parent}: {:?}", codes(&findings));
            assert_eq!(bench.job_of(again.import, "k1"), branch);
            assert_eq!(bench.job_of(again.import, ""), till);
        }
    }
}

#[test]
fn a_name_that_two_customers_have_is_ambiguous_also_where_one_of_them_was_rejected() {
    let mut bench = Bench::new();
    let resellers = companies(&format!("r1,{ROOT},One,\nr2,{ROOT},Two,\n"));
    let (owners, _) = bench.import(&[("resellers.csv", &resellers)]).unwrap();
    let (first, _) = bench.import(&[("companies.csv", &companies("a1,r1,Acme,\n"))]).unwrap();
    for key in ["r1", "r2"] {
        bench.create(bench.job_of(owners.import, key), Operation::AddCompany);
    }
    bench.reject(bench.job_of(first.import, "a1"), Operation::AddCompany);
    bench.import(&[("more.csv", &companies("a2,r2,Acme,\n"))]).unwrap();
    let sites = "key,company,name\ns1,Acme,Depot\n";
    let refused = bench.import(&[("sites.csv", sites)]).unwrap_err();
    assert_eq!(codes(&refused), [(Code::RefAmbiguous, "B2".into())]);
    let at = bench.now();
    bench.journal.cancel(first.import, "ann", at).unwrap();
    let (imported, _) = bench.import(&[("sites.csv", sites)]).unwrap();
    assert_eq!(bench.placed(imported.import)[0].0, "Two/Acme/Depot", "what was cancelled is not meant");
}

#[test]
fn a_key_that_a_cancelled_company_of_another_customer_had_is_a_warning_where_it_is_taken_for_that_of_one() {
    let office = |group: &str| companies(&format!("{group},{ROOT},{group},\nho,{group},{group} HQ,\n"));
    let devices = "key,company,name\nd1,ho,Till\nd2,ho,Desk\n";
    let mut bench = Bench::new();
    let (first, _) = bench.import(&[("acme.csv", &office("acme"))]).unwrap();
    bench.journal.cancel(first.import, "ann", Moment::from_millis(90_000)).unwrap();
    bench.import(&[("bolt.csv", &office("bolt"))]).unwrap();
    let examined = bench.examined(&[("devices.csv", devices)]);
    let told: Vec<_> = examined.findings.iter().filter(|found| found.code == Code::RefAmbiguous).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].severity, told[0].cell.as_deref()), (Severity::Warning, Some("B2")));
    assert_eq!(
        told[0].message,
        "this is the key of 'bolt HQ' (bolt.csv!bolt!3), and was that of 'acme HQ' (acme.csv!acme!3), which was cancelled: if that \
         is meant, import its sheet together with this one, with a changed value in each cancelled row that is to be sent \
         (reported once)"
    );
    // As it says.
    let changed = office("acme").replace(",acme,\n", ",acme,+64 9 555 0199\n");
    let changed = changed.replace("HQ,\n", "HQ,+64 9 555 0199\n");
    let (again, _) = bench.import(&[("acme.csv", &*changed), ("devices.csv", devices)]).unwrap();
    assert_eq!(again.tally.in_state(JobState::Cancelled), 0);
    assert_eq!(bench.called(bench.job_of(again.import, "d1")), "acme/acme HQ/Till");
}

#[test]
fn a_rejected_row_is_not_meant_where_another_one_of_its_company_has_its_name() {
    let mut bench = Bench::new();
    let owner = companies(&format!("acme,{ROOT},Acme,\n"));
    let (first, _) = bench
        .import(&[("companies.csv", &owner), ("sites.csv", "key,company,name,reference\nd1,acme,Depot,D1\n")])
        .unwrap();
    let id = bench.create(bench.job_of(first.import, "acme"), Operation::AddCompany);
    bench.reject(bench.job_of(first.import, "d1"), Operation::AddSite);
    let corrected = format!("key,company,name,reference\nd2,{id},Depot,D-1\n");
    let (again, _) = bench.import(&[("sites.csv", &corrected)]).unwrap();
    let site = bench.rows(again.import)[0].job.unwrap();
    let (device, _) = bench.import(&[("devices.csv", "company,name,site\nacme,Till,Depot\n")]).unwrap();
    let links = bench.journal.links_of(bench.rows(device.import)[0].job.unwrap()).unwrap();
    assert_eq!(links[1].target, Target::Job(site));
}

#[test]
fn a_key_under_another_company_takes_no_row_unless_only_its_company_was_corrected() {
    let both = companies(&format!("c1,{ROOT},Acme,\nc2,{ROOT},Globex,\n"));
    let hq = |company: &str, name: &str, city: &str| {
        format!("key,company,name,city\nhq,{company},{name},{city}\n")
    };
    let another = "this row is another one, which will be created";
    let moved = "where it will not be created: this row takes its place";
    for state in ["ready", "rejected"] {
        for (name, city, has_owner, file, words) in [
            ("Globex HQ", "Napier", true, "sites.csv", [None, None]),
            ("Acme HQ", "Napier", true, "sites.csv", [Some(another), Some(another)]),
            ("Globex HQ", "Auckland", true, "sites.csv", [Some(another), Some(another)]),
            ("Acme HQ", "Auckland", true, "sites.csv", [Some(moved), Some(moved)]),
            ("Acme HQ", "Auckland", true, "west sites.csv", [Some(moved), Some(moved)]),
            // The sheet of the sites alone.
            ("Acme HQ", "Napier", false, "sites.csv", [None, Some(another)]),
            ("Acme HQ", "Auckland", false, "sites.csv", [Some(another), Some(moved)]),
            ("Acme HQ", "Auckland", false, "west sites.csv", [Some(another), Some(another)]),
        ] {
            let words = words[usize::from(state == "rejected")];
            let mut bench = Bench::new();
            let first = [("companies.csv", both.as_str()), ("sites.csv", &hq("c1", "Acme HQ", "Auckland"))];
            let (import, _) = bench.import(&first).unwrap();
            let job = bench.job_of(import.import, "hq");
            if state == "rejected" {
                bench.create(bench.job_of(import.import, "c1"), Operation::AddCompany);
                bench.reject(job, Operation::AddSite);
            }
            let sites = hq("c2", name, city);
            let files = [("companies.csv", &*both), (file, &*sites)];
            let (again, findings) = bench.import(&files[usize::from(!has_owner)..]).unwrap();
            let case = format!("{state} {name} {city} {has_owner} {file}");
            let told: Vec<_> = findings.iter().filter(|found| found.code == Code::DupRow).collect();
            assert_eq!(told.len(), usize::from(words.is_some()), "{case}: {told:?}");
            if let (Some(words), [told]) = (words, &*told) {
                assert!(told.message.contains(words), "{case}: {}", told.message);
            }
            let is_same = words == Some(moved);
            assert_eq!(bench.job_of(again.import, "hq") == job, is_same, "{case}");
            assert_eq!(
                bench.called(job),
                if is_same { format!("Globex/{name}") } else { "Acme/Acme HQ".into() }
            );
        }
    }
}

#[test]
fn a_company_of_another_customer_is_another_one_than_that_with_its_key_and_name_that_came_to_nothing() {
    let customer = |group: &str, fax: &str| {
        companies(&format!("{group},{ROOT},{group},\nho,{group},Head Office,{fax}\n"))
    };
    let device = "key,company,name\nd1,ho,Till\n";
    for state in ["rejected", "skipped", "cancelled"] {
        let mut bench = Bench::new();
        let files = [("companies.csv", &*customer("acme", "+64 9 555 0101")), ("devices.csv", device)];
        let (first, _) = bench.import(&files).unwrap();
        let [group, office] = ["acme", "ho"].map(|key| bench.job_of(first.import, key));
        match state {
            "rejected" => {
                bench.create(group, Operation::AddCompany);
                bench.reject(office, Operation::AddCompany);
            }
            "skipped" => bench.reject(group, Operation::AddCompany),
            _ => drop(bench.journal.cancel(first.import, "ann", Moment::from_millis(90_000)).unwrap()),
        }
        let files = [("companies.csv", &*customer("bolt", "+64 9 555 0202")), ("devices.csv", device)];
        let (second, findings) = bench.import(&files).unwrap();
        assert_eq!((second.added, second.revised), (3, 0), "{state}");
        assert_eq!(bench.called(office), "acme/Head Office", "{state}");
        assert_eq!(bench.called(bench.job_of(first.import, "d1")), "acme/Head Office/Till", "{state}");
        let told = codes(&findings).into_iter().filter(|(code, _)| *code == Code::DupRow);
        let expected: &[_] = if state == "rejected" { &["B3"] } else { &[] };
        assert_eq!(told.map(|(_, cell)| cell).collect::<Vec<_>>(), expected, "{state}");
    }
}

#[test]
fn a_row_with_the_key_of_one_that_waits_or_failed_corrects_it_or_is_refused_and_replaces_no_other() {
    use Operation::{AddDevice, AddPerson, AddSite};
    let sites = "key,company,name,reference,phone,address1,city";
    let devices = "key,company,name,mac,device_model,address1,city";
    let people = "key,company,first_name,last_name,username,email,city,user_type,template_scope,allow_login";
    let kinds = [
        ("sites.csv", AddSite, sites, "s1,c,Markt,B1,+49 228 1,Markt 1,Bonn"),
        ("devices.csv", AddDevice, devices, "d1,c,Till,00:25:96:42:bf:42,Edge 100,Markt 1,Bonn"),
        (
            "people.csv",
            AddPerson,
            people,
            "p1,c,Anna,Ost,anna.ost,anna@b.example,Bonn,VPN User,COMPANY_INHERIT,yes",
        ),
    ];
    // The row in the same place of a file of this name, and in one of another name: whether it is a correction.
    let table = [
        ("s1,c,Dom,T1,+49 651 7,Domplatz 9,Trier", [false, false]),
        ("s1,c,Neumarkt,B2,+49 228 1,Markt 1,Bonn", [true, false]),
        ("s1,c,Neumarkt,B1,+49 228 2,Markt 2,Bonn", [true, true]),
        ("s1,c,Neumarkt,B1,+49 228 1,Markt 1,Bonn", [true, true]),
        ("s1,c,Markt,B2,+49 228 2,Markt 2,Bonn", [true, true]),
        ("s1,c,Neumarkt,,+49 228 2,Markt 1,Bonn", [true, false]),
        ("d1,c,Desk,00:25:96:42:bf:43,Edge 200,Domplatz 9,Trier", [false, false]),
        ("d1,c,Desk,00:25:96:42:bf:43,Edge 100,Markt 1,Bonn", [false, false]),
        ("d1,c,Till,00:25:96:42:bf:43,Edge 200,Domplatz 9,Trier", [true, true]),
        ("d1,c,Desk,00:25:96:42:bf:42,Edge 200,Domplatz 9,Trier", [true, true]),
        ("d1,c,Desk,,Edge 100,Markt 1,Bonn", [true, false]),
        ("p1,c,Otto,West,otto.west,otto@b.example,Trier,VPN User,COMPANY_INHERIT,yes", [false, false]),
        ("p1,c,Anna,Ostrow,anna.ostrow,ostrow@b.example,Bonn,VPN User,COMPANY_INHERIT,yes", [true, false]),
        ("p1,c,Anna,Ost,anna.o,anna.o@b.example,Bonn,VPN User,COMPANY_INHERIT,yes", [true, true]),
    ];
    let owner = companies(&format!("c,{ROOT},Company,\n"));
    for (now, corrects) in table {
        let (file, operation, header, before) =
            *kinds.iter().find(|(file, ..)| file.starts_with(&now[..1])).unwrap();
        let other = format!("west {file}");
        for (file_now, corrects) in [(file, corrects[0]), (&*other, corrects[1]), ("fix.csv", true)] {
            for is_rejected in [false, true] {
                let mut bench = Bench::new();
                let sheet = format!("{header}\n{before}\n");
                let (first, _) = bench.import(&[("companies.csv", &owner), (file, &sheet)]).unwrap();
                let job = bench.rows(first.import)[1].job.unwrap();
                if is_rejected {
                    bench.create(bench.job_of(first.import, "c"), Operation::AddCompany);
                    bench.reject(job, operation);
                }
                let stem = file.trim_end_matches(".csv");
                let sheet = match file_now {
                    "fix.csv" => format!("{header},result_source\n{now},{file}!{stem}!2\n"),
                    _ => format!("{header}\n{now}\n"),
                };
                let file_now =
                    if file_now == "fix.csv" { format!("{stem}.fix.csv") } else { file_now.to_owned() };
                let found = match bench.import(&[(&file_now, &sheet)]) {
                    Ok((again, _)) => {
                        let row = &bench.rows(again.import)[0];
                        (row.job == Some(job) && row.disposition == Disposition::Revised, Vec::new())
                    }
                    Err(refused) => (false, codes(&refused)),
                };
                let expected = match corrects {
                    true => (true, Vec::new()),
                    false => (false, vec![(Code::DupKey, "A2".to_owned())]),
                };
                assert_eq!(found, expected, "{file_now}, rejected {is_rejected}: {now}");
            }
        }
    }
}

#[test]
fn a_site_or_person_that_may_be_there_already_is_a_warning_before_it_is_made_twice() {
    use Operation::{AddPerson, AddSite};
    let sites = "key,company,name,reference,phone";
    let people = "key,company,first_name,last_name,username,email,user_type,template_scope,allow_login";
    let site_rows = [",c,Markt,B1,+49 228 1", ",c,Dom,T1,+49 651 7"];
    let end = "a@b.example,VPN User,COMPANY_INHERIT,yes";
    let persons = [format!(",c,Anna,Ost,anna.ost,{end}"), format!(",c,Otto,West,otto.west,{end}")];
    let persons = persons.each_ref().map(String::as_str);
    let other = format!(",c,Anna,Ost,anna.o,{end}");
    let moved = format!("p1,c,Anna,Ost,anna.o,{end}");
    let owner = companies(&format!("c,{ROOT},Company,\n"));
    let (reference, username) = (Some("reference 'B1'"), Some("username 'anna.ost'"));
    for (file, operation, header, before, now, expected) in [
        ("sites.csv", AddSite, sites, site_rows, site_rows.to_vec(), None),
        ("sites.csv", AddSite, sites, site_rows, vec![",c,Markt,,+49 228 1", site_rows[1]], reference),
        // At its place, and elsewhere with the same values.
        ("sites.csv", AddSite, sites, site_rows, vec![",c,Markt,B2,+49 228 2", site_rows[1]], reference),
        ("sites.csv", AddSite, sites, site_rows, vec![site_rows[1], ",c,Markt,B2,+49 228 1"], reference),
        ("sites.csv", AddSite, sites, site_rows, vec![site_rows[1], ",c,Markt,B2,+49 228 2"], None),
        // The other one is in the sheet as well.
        ("sites.csv", AddSite, sites, site_rows, vec![",c,Markt,B2,+49 228 1", site_rows[0]], None),
        ("people.csv", AddPerson, people, persons, vec![&*other, persons[1]], username),
        ("people.csv", AddPerson, people, persons, vec![&*moved, persons[1]], username),
        ("people.csv", AddPerson, people, persons, vec![&*other, persons[0]], None),
        ("people.csv", AddPerson, people, persons, persons.to_vec(), None),
    ] {
        let mut bench = Bench::new();
        let sheet = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
        let (first, _) = bench.import(&[("companies.csv", &owner), (file, &sheet(&before))]).unwrap();
        for row in bench.rows(first.import) {
            let operation = if row.kind == Kind::Company { Operation::AddCompany } else { operation };
            bench.create(row.job.unwrap(), operation);
        }
        let (_, findings) = bench.import(&[(file, &sheet(&now))]).unwrap();
        let told: Vec<_> = findings.iter().filter(|found| found.code == Code::DupRow).collect();
        let is_told = |words: &str| told.iter().any(|found| found.message.contains(words));
        assert_eq!(told.len(), usize::from(expected.is_some()), "{now:?} {told:?}");
        assert!(expected.is_none_or(is_told), "{now:?} {told:?}");
    }
}

#[test]
fn the_name_of_a_row_without_a_key_is_corrected_in_its_fix_sheet() {
    let fix = |name: &str, fax: &str| {
        format!("parent,name,fax,result_source\n{ROOT},{name},{fax},companies.csv!companies!2\n")
    };
    for (corrected, is_same) in [(fix("Acme", ""), true), (fix("Acme", "+64 9 555 0199"), false)] {
        let mut bench = Bench::new();
        let wrong = format!("parent,name,fax\n{ROOT},Acme*,\n");
        let sites = "company,name\nAcme*,HQ\n";
        let (first, _) = bench.import(&[("companies.csv", &wrong), ("sites.csv", sites)]).unwrap();
        let job = bench.rows(first.import)[0].job.unwrap();
        bench.reject(job, Operation::AddCompany);
        let (again, _) = bench.import(&[("companies.fix.csv", &corrected)]).unwrap();
        let expected = if is_same { Disposition::Revised } else { Disposition::New };
        assert_eq!(bench.placed(again.import), [("Acme".into(), expected)]);
        let below = bench.rows(first.import)[1].state;
        assert_eq!(below, if is_same { JobState::Blocked } else { JobState::Skipped });
    }
}

#[test]
fn a_key_that_a_record_keeps_is_no_other_rows_in_whichever_order_they_stand() {
    let sheets = [
        ("companies.csv", Operation::AddCompany, companies(&format!("res,{ROOT},Resell,\n"))),
        ("sites.csv", Operation::AddSite, format!("key,company,name\nres,{ROOT},Resell\n")),
    ];
    for (file, operation, first) in sheets {
        let mut bench = Bench::new();
        let (import, _) = bench.import(&[(file, &first)]).unwrap();
        bench.create(bench.job_of(import.import, "res"), operation);
        // The record with the key has another one now, and the key is that of a new row.
        let header = first.lines().next().unwrap();
        let rows = [
            first.lines().nth(1).unwrap().replacen("res,", "res9,", 1),
            first.lines().nth(1).unwrap().replacen("Resell", "Resell Two", 1),
        ];
        for rows in [[&rows[0], &rows[1]], [&rows[1], &rows[0]]] {
            let sheet = format!("{header}\n{}\n{}\n", rows[0], rows[1]);
            let refused = bench.import(&[(file, &sheet)]).unwrap_err();
            let found = codes(&refused);
            assert!(!found.is_empty() && bench.journal.imports().unwrap().len() == 1, "{sheet} {found:?}");
        }
        assert_eq!(bench.journal.tally(None).unwrap().total(), 1, "{file}");
    }
}

#[test]
fn a_correction_without_a_key_leaves_the_row_its_key() {
    let mut bench = Bench::new();
    bench.import(&[("companies.csv", &companies(&format!("acme,{ROOT},Acme,\n")))]).unwrap();
    let keyless = companies(&format!(",{ROOT},Acme,+64 9 555 0199\n"));
    let (again, _) = bench.import(&[("companies.csv", &keyless)]).unwrap();
    assert_eq!(again.revised, 1);
    assert_eq!(bench.journal.by_sheet_key(Kind::Company, "acme").unwrap().len(), 1);
    bench.import(&[("sites.csv", "key,company,name\ns1,acme,S1\n")]).unwrap();
}

#[test]
fn a_skipped_update_is_replaced_by_its_correction() {
    let mut bench = Bench::new();
    let owner = companies(&format!("acme,{ROOT},Acme,\n"));
    let update = |columns: &str, cells: &str| format!("action,key,{columns}\nupdate,s1,{cells}\n");
    let site = "key,company,name\ns1,acme,S1\n";
    let (first, _) = bench.import(&[("companies.csv", &owner), ("sites.csv", site)]).unwrap();
    let (changed, _) = bench
        .import(&[("site updates.csv", &update("fax,timezone", "+64 9 555 0198,Europe/Berlin"))])
        .unwrap();
    let job = bench.rows(changed.import)[0].job.unwrap();
    bench.reject(bench.job_of(first.import, "acme"), Operation::AddCompany);
    assert_eq!(bench.rows(changed.import)[0].state, JobState::Skipped);
    let (again, _) = bench.import(&[("site updates.csv", &update("fax", "+64 9 555 0199"))]).unwrap();
    let rows = bench.rows(again.import);
    assert_eq!((rows[0].job, rows[0].disposition), (Some(job), Disposition::Revised));
    let action = bench.journal.queue().work(job).unwrap().unwrap().action;
    let crate::model::action::Action::Update(update) = action else { panic!("{action:?}") };
    let sent = serde_json::to_string(&update).unwrap();
    assert!(sent.contains("+64 9 555 0199") && sent.contains("Europe/Berlin"), "of both rows: {sent}");
}

#[test]
fn of_updates_that_wait_the_later_value_of_each_cell_is_sent_and_no_other() {
    type Case = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);
    let table: [Case; 8] = [
        ("name,meta:floor", "Till,1", "name,meta:floor", "Till,3", &["name", "floor=3"]),
        ("meta:floor", "1", "meta:floor", "3", &["floor=3"]),
        (
            "meta:floor,meta:room",
            "1,R1",
            "name,meta:floor,meta:zone",
            "Till,3,Z",
            &["name", "zone=Z floor=3", "room=R1"],
        ),
        ("name,labels", "Till,tlil", "labels", "till", &["name", "till"]),
        ("enterprise_template", "Retial", "enterprise_template", "Retail", &["Retail"]),
        ("vpn_clouds,labels", "Ofice;Lab,till", "vpn_clouds", "Office", &["Office", "till"]),
        ("name", "Till", "labels", "till", &["name", "till"]),
        ("meta:floor", "1", "meta:room", "R1", &["floor=1", "room=R1"]),
    ];
    for (columns, cells, later_columns, later_cells, expected) in table {
        let mut bench = Bench::new();
        for (columns, cells) in [(columns, cells), (later_columns, later_cells)] {
            let update = format!("action,id,{columns}\nupdate,{ROOT},{cells}\n");
            bench.import(&[("devices.csv", &update)]).unwrap();
        }
        let mut sent = Vec::new();
        let rows = [1, 2].map(|import| bench.rows(ImportId(import)).swap_remove(0));
        for job in rows.into_iter().filter_map(|row| row.job).collect::<BTreeSet<_>>() {
            while let Some(work) = bench.journal.queue().work(job).unwrap() {
                if work.state.is_final() {
                    break;
                }
                bench.claim(job, work.operation);
                let evidence = Evidence::at(bench.now());
                let done =
                    Write::Advance { job, from: JobState::Sending, how: How::Done, id: None, evidence };
                bench.apply(done);
                sent.push(match work.action {
                    Action::Update(update) => update.fields.into_keys().collect::<Vec<_>>().join(" "),
                    Action::PutMetadata(entries) => {
                        let entry = |entry: &Metadata| format!("{}={}", entry.key, entry.value);
                        entries.iter().map(entry).collect::<Vec<_>>().join(" ")
                    }
                    Action::PutLabels(labels) => labels.join(" "),
                    other => other.subject(),
                });
            }
        }
        // An update without fields sends nothing.
        sent.retain(|cells| !cells.is_empty());
        assert_eq!(sent, expected, "{columns}: {cells}, then {later_columns}: {later_cells}");
    }
}

#[test]
fn an_upkeep_row_about_a_record_that_a_row_owns_since_is_the_same_row_still() {
    let device = "22222222-2222-4222-8222-222222222222";
    let licences = format!("device,licence_code\n{device},LIC-1\n");
    let metadata = |value: &str| format!("owner_kind,owner,key,value\ndevice,{device},floor,{value}\n");
    let mut bench = Bench::new();
    let done = |bench: &mut Bench, import: ImportId| {
        let row = bench.rows(import).swap_remove(0);
        let (job, operation) = (row.job.unwrap(), row.operation.unwrap());
        bench.claim(job, operation);
        let evidence = Evidence::at(bench.now());
        bench.apply(Write::Advance { job, from: JobState::Sending, how: How::Done, id: None, evidence });
    };
    for (file, sheet) in [("licences.csv", &licences), ("metadata.csv", &metadata("1"))] {
        let (imported, _) = bench.import(&[(file, sheet)]).unwrap();
        done(&mut bench, imported.import);
    }
    let row = format!("company,name,mac,device_model\n{ROOT},Till,00:25:96:42:bf:42,Edge 100\n");
    let (owner, _) = bench.import(&[("devices.csv", &row)]).unwrap();
    let job = bench.rows(owner.import)[0].job.unwrap();
    let (id, evidence) = (Some(device.parse().unwrap()), Evidence::at(bench.now()));
    bench.apply(Write::Advance { job, from: JobState::Ready, how: How::Existing, id, evidence });
    let (again, _) = bench.import(&[("licences.csv", &licences)]).unwrap();
    assert_eq!(bench.rows(again.import)[0].disposition, Disposition::Recognised);
    // Another value is sent, and is what the next row is compared with.
    let (other, _) = bench.import(&[("metadata.csv", &metadata("2"))]).unwrap();
    assert_eq!(bench.rows(other.import)[0].disposition, Disposition::New);
    done(&mut bench, other.import);
    let (again, _) = bench.import(&[("metadata.csv", &metadata("2"))]).unwrap();
    assert_eq!(bench.rows(again.import)[0].disposition, Disposition::Recognised);
}

#[test]
fn a_row_that_came_again_unchanged_is_reported_with_the_import_that_gave_it_other_values() {
    let mut bench = Bench::new();
    let replaced = |bench: &Bench, import: ImportId| {
        bench.rows(import)[0].replaced_by.map(|replaced| (replaced.import, replaced.was_sent))
    };
    let acme = |fax: &str| companies(&format!("acme,{ROOT},Acme,{fax}\n"));
    let [first, second, third] = ["", "", "+64 9 555 0199"]
        .map(|fax| bench.import(&[("companies.csv", &acme(fax))]).unwrap().0.import);
    for import in [first, second] {
        assert_eq!(replaced(&bench, import), Some((third, false)));
    }
    assert_eq!(replaced(&bench, third), None);

    // The row was sent before it came again.
    let tier = |value: &str| format!("owner_kind,owner,key,value\ncompany,{ROOT},tier,{value}\n");
    let (first, _) = bench.import(&[("metadata.csv", &tier("gold"))]).unwrap();
    bench.reject(bench.rows(first.import)[0].job.unwrap(), Operation::PutCompanyMetadata);
    let (second, _) = bench.import(&[("metadata.csv", &tier("gold"))]).unwrap();
    let (third, _) = bench.import(&[("metadata.csv", &tier("silver"))]).unwrap();
    assert_eq!((second.recognised, third.revised), (1, 1));
    for import in [first.import, second.import] {
        assert_eq!(replaced(&bench, import), Some((third.import, true)));
    }
}

#[test]
fn an_unchanged_row_names_the_update_of_its_record_that_is_not_settled() {
    let mut bench = Bench::new();
    let owners = companies(&format!("a,{ROOT},A,\n"));
    let files = [("companies.csv", owners.as_str()), ("sites.csv", "key,company,name\ns,a,S\n")];
    let (first, _) = bench.import(&files).unwrap();
    bench.create(bench.job_of(first.import, "a"), Operation::AddCompany);
    bench.create(bench.job_of(first.import, "s"), Operation::AddSite);
    let update = "action,key,reference\nupdate,s,R-1\n";
    let (second, _) = bench.import(&[("sites.csv", update)]).unwrap();
    let update = bench.job_of(second.import, "update");
    let plain = "unchanged since an earlier import; nothing new is sent for it";
    for state in ["ready", "sending"] {
        let (_, findings) = bench.import(&files).unwrap();
        let told: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        let named =
            format!("{plain}; job {update} ({state}) is to update its record, and is not settled yet");
        assert_eq!(told, [plain, &named]);
        if state == "ready" {
            bench.claim(update, Operation::UpdateSite);
        }
    }
}

#[test]
fn other_values_for_a_row_on_hold_are_told_with_the_command_that_decides_it() {
    let mut bench = Bench::new();
    let acme = |fax: &str| companies(&format!("acme,{ROOT},Acme,{fax}\n"));
    let (first, _) = bench.import(&[("companies.csv", &acme(""))]).unwrap();
    let job = bench.rows(first.import)[0].job.unwrap();
    bench.hold(job, JobState::Ready);
    let (_, findings) = bench.import(&[("companies.csv", &acme("+64 9 555 0199"))]).unwrap();
    let told = findings.iter().next().unwrap();
    assert_eq!(
        told.message,
        format!(
            "job {job} is on hold, and the values of the row are not used: fax was blank, is '+64 9 555 0199' now; decide \
             the job with `fleetload resolve {job}`, then import the row again"
        )
    );
}

#[test]
fn a_key_of_several_customers_means_that_of_the_rows_own_company() {
    let mut bench = Bench::new();
    let mut ids = Vec::new();
    for name in ["Acme", "Bolt"] {
        let company = companies(&format!("{name},{ROOT},{name},\n"));
        let sites = format!("key,company,name,reference\ns,{name},Depot,\n");
        let files = [("companies.csv", &*company), ("sites.csv", &*sites)];
        let (imported, _) = bench.import(&files).unwrap();
        ids.push(bench.create(bench.job_of(imported.import, name), Operation::AddCompany));
    }
    let device = |company: &str| format!("key,company,name,site\nd1,{company},Till of {company},s\n");
    // By its key, by its id, and by a row that has it again.
    let again = companies(&format!("Acme,{ROOT},Acme,\n"));
    for (files, company) in [
        (vec![("devices.csv", device("Bolt"))], "Bolt"),
        (vec![("devices.csv", device(&ids[0].to_string()))], "Acme"),
        (vec![("companies.csv", again), ("devices.csv", device("name:Acme"))], "Acme"),
    ] {
        let files: Vec<_> = files.iter().map(|(file, sheet)| (*file, &**sheet)).collect();
        let (imported, _) = bench.import(&files).unwrap();
        let row = bench.rows(imported.import).pop().and_then(|row| row.job).unwrap();
        let site = bench.journal.links_of(row).unwrap().into_iter().find(|link| link.role == Role::Site);
        let Some(Target::Job(site)) = site.map(|link| link.target) else { panic!("a site") };
        assert_eq!(bench.called(site), format!("{company}/Depot"));
    }
    // Of an update as well, which may name the company of its record.
    let update = "action,key,company,phone\nupdate,s,Bolt,+64 9 555 0199\n";
    let (imported, _) = bench.import(&[("sites.csv", update)]).unwrap();
    let row = bench.rows(imported.import).pop().and_then(|row| row.job).unwrap();
    assert!(bench.called(row).starts_with("Bolt/Depot/"), "{}", bench.called(row));
    // None of them is right for a row of another company, be it one that is there or a new one.
    let another = companies(&format!("Cog,{ROOT},Cog,\n"));
    for files in [
        vec![("devices.csv", device(ROOT))],
        vec![("companies.csv", another), ("devices.csv", device("Cog"))],
    ] {
        let files: Vec<_> = files.iter().map(|(file, sheet)| (*file, &**sheet)).collect();
        let elsewhere = bench.import(&files).unwrap_err();
        assert_eq!(codes(&elsewhere), [(Code::RefNotFound, "D2".into())]);
        assert_eq!(
            elsewhere.iter().next().unwrap().message,
            "no site of the row's company has the key or name 's', and 2 of other companies have it: correct it, add the row, \
             or give the id"
        );
    }
    // Of a row without a company any may be meant; which has an id only once it is created.
    let tier = "owner_kind,owner,key,value\nsite,s,tier,gold\n";
    let several = |bench: &mut Bench| {
        let refused = bench.import(&[("metadata.csv", tier)]).unwrap_err();
        assert_eq!(codes(&refused), [(Code::RefAmbiguous, "B2".into())]);
        refused.iter().next().unwrap().message.clone()
    };
    let before = several(&mut bench);
    for site in bench.journal.by_any_key(Kind::Site, "s").unwrap() {
        bench.create(site.job, Operation::AddSite);
    }
    insta::assert_snapshot!("several_customers", format!("{before}\n{}", several(&mut bench)));
}

#[test]
fn an_update_that_names_another_company_than_that_of_its_record_changes_nothing() {
    let mut bench = Bench::new();
    let mac = "00:25:96:42:bf:42";
    let owners = companies(&format!("nord,{ROOT},Nord,\nwest,{ROOT},West,\n"));
    let sites = "key,company,name\ns0,nord,Depot\n";
    let devices = format!("key,company,name,mac,device_model\nd0,nord,Till,{mac},Edge 100\n");
    let files = [("companies.csv", &*owners), ("sites.csv", sites), ("devices.csv", &*devices)];
    let (first, _) = bench.import(&files).unwrap();
    let id = bench.create(bench.job_of(first.import, "nord"), Operation::AddCompany);
    bench.create(bench.job_of(first.import, "west"), Operation::AddCompany);
    let site = bench.create(bench.job_of(first.import, "s0"), Operation::AddSite);
    // Another company below another one, with the key of the first.
    let namesake = companies("nord,west,Nord,\n");
    let new = companies(&format!("sued,{ROOT},Sued,\n"));
    let again = companies(&format!("nord,{ROOT},Nord GmbH,\n"));
    let wrong = companies("sued,nowhere,Sued,\n");
    let (id, site, refused) = (&*id.to_string(), &*site.to_string(), Some(Code::RefWrongOwner));
    for (owners, file, column, record, company, code) in [
        ("", "sites.csv", "key", "s0", "nord", None),
        ("", "sites.csv", "key", "s0", "name:Nord", None),
        ("", "sites.csv", "key", "s0", id, None),
        ("", "sites.csv", "key", "s0", "", None),
        (&*again, "sites.csv", "key", "s0", "nord", None),
        (&*again, "sites.csv", "key", "s0", "Nord GmbH", None),
        ("", "sites.csv", "key", "s0", "west", refused),
        ("", "sites.csv", "key", "s0", ROOT, refused),
        ("", "sites.csv", "key", "s0", "nrod", Some(Code::RefNotFound)),
        (&*new, "sites.csv", "key", "s0", "sued", refused),
        (&*wrong, "sites.csv", "key", "s0", "sued", refused),
        (&*namesake, "sites.csv", "key", "s0", "nord", refused),
        ("", "devices.csv", "key", "d0", "west", refused),
        ("", "devices.csv", "mac", mac, "west", refused),
        ("", "devices.csv", "mac", mac, "nord", None),
        // An id alone says which record is meant.
        ("", "sites.csv", "id", site, "west", None),
    ] {
        let update = format!("action,{column},company,labels\nupdate,{record},{company},till\n");
        let files = [("companies.csv", owners), (file, &*update)];
        let found = codes(&bench.examined(&files[usize::from(owners.is_empty())..]).findings);
        let at_company = found.iter().filter(|(_, cell)| cell == "C2").map(|(code, _)| *code);
        let expected: Vec<_> = code.into_iter().collect();
        assert_eq!(at_company.collect::<Vec<_>>(), expected, "{owners}{update}");
    }
    let update = "action,key,company,labels\nupdate,s0,west,till\n";
    let told = bench.import(&[("sites.csv", update)]).unwrap_err();
    assert_eq!(
        told.iter().next().unwrap().message,
        "the site with the key 's0' is in the company 'Nord', and this row names 'west': correct the company or the key, or \
         clear the company if that site is meant"
    );
}

#[test]
fn a_reference_that_leads_nowhere_is_told_with_the_records_of_earlier_imports_that_are_like_it() {
    let mut bench = Bench::new();
    let rows = companies(&format!("acme,{ROOT},Acme Ltd,\nglobex,{ROOT},Globex,\n"));
    let (first, _) = bench.import(&[("companies.csv", &rows)]).unwrap();
    bench.create(bench.job_of(first.import, "acme"), Operation::AddCompany);
    let told = |bench: &mut Bench, company: &str, own: &str| {
        let sites = format!("key,company,name\ns1,{company},Depot\n");
        let own = companies(&format!("own,{ROOT},{own},\n"));
        let refused = bench.import(&[("companies.csv", &own), ("sites.csv", &sites)]).unwrap_err();
        assert_eq!(codes(&refused), [(Code::RefNotFound, "B2".into())]);
        let found = refused.iter().next().unwrap();
        (found.suggestion.clone(), found.message.rsplit_once(". ").map(|(_, end)| end.to_owned()))
    };
    let like = |words: &str| Some(format!("Did you mean '{words}'?"));
    assert_eq!(told(&mut bench, "acmee", "Own"), (Some("acme".into()), like("acme")));
    assert_eq!(told(&mut bench, "name:Acme Lt", "Own"), (Some("name:Acme Ltd".into()), like("Acme Ltd")));
    // One that is not created yet as well, but not where a row of this import is meant.
    assert_eq!(told(&mut bench, "name:Globexx", "Own"), (Some("name:Globex".into()), like("Globex")));
    assert_eq!(told(&mut bench, "name:Globexx", "Globexy"), (Some("name:Globexy".into()), like("Globexy")));
    // Nor one that nobody wants any more.
    bench.journal.cancel(first.import, "kim", Moment::from_millis(90_000)).unwrap();
    assert_eq!(told(&mut bench, "name:Globexx", "Own"), (None, None));
}
