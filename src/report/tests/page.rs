//! The page: whole, escaped, and the same for the same journal.

use super::*;
use crate::journal::{AuditFinding, Evidence, ReadBy, Write};
use crate::model::action::Action;
use crate::model::record::Record;
use crate::model::verdict::Rejection;
use crate::sheet::Draft;

fn page(written: &Written) -> String {
    fs::read_to_string(written.folder.join("report.html")).unwrap()
}

/// The page without its style and its script, which are looked at elsewhere.
fn body(written: &Written) -> String {
    let page = page(written);
    let (before, rest) = page.split_once("<style>").expect("a style");
    let (style, rest) = rest.split_once("</style>").expect("its end");
    assert_eq!(style, crate::report::page_assets::STYLE);
    let (middle, rest) = rest.split_once("<script>").expect("a script");
    let (script, after) = rest.split_once("</script>").expect("its end");
    assert_eq!(script, crate::report::page_assets::SCRIPT);
    let policy = crate::report::page_assets::policy().replace('\'', "&#39;");
    let before = before.replace(&policy, "POLICY");
    assert!(before.contains("content=\"POLICY\""), "{before}");
    format!("{before}<style/>{middle}<script/>{after}")
}

#[test]
fn the_page_tells_of_every_state_in_a_fixed_journal() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    insta::assert_snapshot!("report.html", body(&written));
}

#[test]
fn a_finished_import_says_so_and_has_nothing_to_do() {
    let mut bench = Bench::new();
    let line: String = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect();
    let import = bench.import(&[("companies.csv", "companies", &line)]);
    bench.claim("acme", Operation::AddCompany, 1);
    bench.done("acme", JobState::Sending, How::Created, 1, 2);
    let standing = ImportEnd { end: End::Done, exit_code: 0, resumes_at: None, holder: None };
    let folder = bench.folder.path().join("reports");
    let written = write(&bench.journal, import, &folder, &standing, caller(&Again::default())).unwrap();
    let page = body(&written);
    assert!(page.contains("<h1 id=\"summary\">Finished: every row is done</h1>"), "{page}");
    assert!(page.contains("None. No row failed or needs a decision"), "{page}");
    assert!(!page.contains("id=\"next\"") && !page.contains("id=\"causes\""), "{page}");
}

#[test]
fn an_import_without_rows_claims_no_work_and_shows_no_empty_chart() {
    let mut bench = Bench::new();
    let header = COMPANIES.lines().next().unwrap();
    let import = bench.import(&[("companies.csv", "companies", &format!("{header}\n"))]);
    let standing = ImportEnd { end: End::Done, exit_code: 0, resumes_at: None, holder: None };
    let folder = bench.folder.path().join("reports");
    let written = write(&bench.journal, import, &folder, &standing, caller(&Again::default())).unwrap();
    let page = body(&written);
    assert!(
        page.contains("<h1 id=\"summary\">The sheets have no rows: there is nothing to do</h1>"),
        "{page}"
    );
    assert!(!page.contains("<figure") && !page.contains("<div class=\"card\">"), "{page}");
}

#[test]
fn what_people_act_on_comes_first_and_consequences_are_told_below_their_cause() {
    let (bench, import) = every_state();
    let page = body(&bench.write(import, "reports"));
    let parts = ["summary", "next", "causes", "attention", "totals", "companies", "pace"];
    let places: Vec<usize> = parts
        .iter()
        .map(|part| page.find(&format!(" id=\"{part}\"")).unwrap_or_else(|| panic!("{part}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    let causes = &page[places[2]..places[3]];
    assert!(
        !causes.contains("<code>parent.rejected</code>"),
        "a consequence is no cause of its own: {causes}"
    );
    assert!(causes.contains("depends on it was skipped"), "{causes}");
    // Every code and every number of a job is in a part that is closed at first.
    let mut rest = page[places[2]..places[4]].to_owned();
    while let (Some(open), Some(close)) = (rest.find("<details"), rest.find("</details>")) {
        rest.replace_range(open..close + "</details>".len(), "");
    }
    let told = without_tags(&rest);
    for technical in ["job 1", "jobs 1", "Code "] {
        assert!(
            !told.contains(technical),
            "{technical}: {}",
            &told[told.find(technical).unwrap_or_default().saturating_sub(200)..]
        );
    }
}

#[test]
fn a_row_that_failed_is_listed_under_its_finding_of_verification_as_well() {
    let (mut bench, import) = every_state();
    let job = bench.job("Till 3");
    let content = bench.journal.work(job).unwrap().expect("a job").content_hash;
    let run = bench.journal.queue().begin_run(at(40)).unwrap();
    let finding = AuditFinding {
        code: AuditFinding::VANISHED.to_owned(),
        message: "the record 11 is gone".to_owned(),
        found: vec![],
    };
    let (finding, by) = (Some(finding), ReadBy::Key);
    let (id, site) = (Some(id(11)), None);
    bench.apply(&[Write::Audited { job, id, content, run, by, finding, site, at: at(41) }]);
    let page = body(&bench.write(import, "reports"));
    let (_, attention) = page.split_once("id=\"attention\"").expect("its part");
    let (_, group) = attention.split_once("id=\"code=audit.vanished\"").expect("where its cause leads");
    let (group, _) = group.split_once("</tbody>").expect("its end");
    for words in ["verification: the record 11 is gone", "Till 3", "Ask the service's operator", "NEW.db"] {
        assert!(group.replace("&#39;", "'").contains(words), "{words}: {group}");
    }
    let (_, choices) = attention.split_once("<select name=\"code\">").expect("the filter");
    let (choices, _) = choices.split_once("</select>").expect("its end");
    assert!(choices.contains("<option value=\"audit.vanished\">"), "{choices}");
    let (_, failed) = attention.split_once("id=\"code=noDataFound\"").expect("where its failure leads");
    assert!(failed.split_once("</tbody>").expect("its end").0.contains("Till 3"), "{failed}");
}

/// The words of a page.
fn without_tags(page: &str) -> String {
    page.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, words)| words).collect()
}

/// What a cell, a message of the service or the name of a file may hold, and how none of it may arrive.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></textarea><svg/onload=alert(1)>",
    "<!--<script>",
    "{{ 7*7 }}${7*7}{% raw %}",
    "javascript:alert(1)",
    "&lt;b&gt;&#60;i&#62;",
    "=HYPERLINK(\"http://evil.example\",\"x\")",
];

#[test]
fn nothing_that_others_wrote_becomes_markup() {
    for hostile in HOSTILE {
        let mut bench = Bench::new();
        let quoted = format!("\"{}\"", hostile.replace('"', "\"\""));
        let line = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
        let line = line.replace("1 High St", &quoted).replace("+64 9 555 0100", &quoted);
        let mut writer = bench.journal.begin_import(at(0)).unwrap();
        let import = writer.import();
        let (table, rows) = rows_of("companies.csv", &line.replace(&quoted, "+64 9 555 0100"));
        writer.file(hostile, "00ff").unwrap();
        let sheet = NewSheet {
            name: hostile.into(),
            file: hostile.into(),
            worksheet: None,
            kind: table.kind,
            headers: table.headers.clone(),
            header_row: 1,
        };
        let sheet = writer.sheet(&sheet).unwrap();
        let mut draft = rows[0].clone();
        if let Some(Draft { steps, .. }) = &mut draft.draft
            && let Some(Action::Create(Record::Company(company))) = steps.first_mut()
        {
            company.name = hostile.into();
        }
        let cells: Vec<String> = draft.cells.iter().map(|_| hostile.to_owned()).collect();
        let (job, disposition) = job_of(&mut writer, &mut bench.jobs, &draft);
        writer.row(&NewRow { sheet, number: 2, line: None, cells, job, disposition }).unwrap();
        writer.finish().unwrap();
        bench.claim("acme", Operation::AddCompany, 1);
        bench.reject("acme", hostile, hostile, &[("company.phoneNumber", hostile), (hostile, hostile)], 2);

        let page = body(&bench.write(import, "reports"));
        let ours = without_text(&page);
        for mark in ["alert", "onerror", "onload", "onmouseover", "javascript", "evil.example", "<img", "<b>"]
        {
            assert!(!ours.contains(mark), "{hostile}: {mark}");
        }
        assert_eq!(page.matches("<script").count(), 1, "{hostile}");
        assert!(page.matches("alert").count() >= 3 || !hostile.contains("alert"), "it is shown: {hostile}");
    }
}

/// The tags of a page with the values of their attributes taken out: what can do something.
fn without_text(page: &str) -> String {
    let mut result = String::new();
    let (mut inside, mut quoted) = (false, false);
    for c in page.chars() {
        match c {
            '<' if !quoted => inside = true,
            '>' if !quoted => {
                inside = false;
                result.push('>');
            }
            '"' if inside => quoted = !quoted,
            _ => {}
        }
        if inside && !quoted {
            result.push(c);
        }
    }
    assert!(!inside && !quoted, "every tag and every value ends");
    result
}

#[test]
fn the_check_for_markup_sees_some() {
    assert_eq!(without_text("<p title=\"a>b\">alert</p>"), "<p title=\"></p>");
    assert!(without_text("<p><img src=x onerror=alert(1)></p>").contains("onerror=alert"));
}

#[test]
fn what_is_invisible_or_turns_the_text_is_shown_as_its_code() {
    let mut bench = Bench::new();
    let line: String = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect();
    let import = bench.import(&[("exe\u{202e}fdp.csv", "com\u{200b}panies", &line)]);
    bench.claim("acme", Operation::AddCompany, 1);
    bench.reject("acme", "invalidData", "no\u{0}t \u{202e}this\u{7}", &[], 2);
    let page = page(&bench.write(import, "reports"));
    let unseen = page.chars().find(|&c| {
        (c.is_control() && c != '\n')
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
    });
    assert_eq!(unseen, None);
    assert!(page.contains("exe\\u{202e}fdp.csv") && page.contains("no\\u{0}t \\u{202e}this\\u{7}"));
}

#[test]
fn thousands_of_refusals_do_not_hide_the_one_row_that_a_person_decides() {
    let mut bench = Bench::new();
    let mut lines = COMPANIES.lines();
    let (header, acme) = (lines.next().unwrap(), lines.next().unwrap());
    let line =
        |n: usize| acme.replace("acme,", &format!("k{n},")).replace("Acme Ltd", &format!("Customer {n}"));
    let sheet: Vec<String> = std::iter::once(header.to_owned()).chain((0..2_003).map(line)).collect();
    let import = bench.import(&[("companies.csv", "companies", &(sheet.join("\n") + "\n"))]);
    let rejection =
        |n: usize| Rejection { code: "invalidData".into(), message: format!("not {n}"), violations: vec![] };
    let from = JobState::Sending;
    let writes: Vec<Write> = (0..2_002)
        .flat_map(|n| {
            let (job, evidence) = (bench.job(&format!("k{n}")), Evidence::at(at(2)));
            let operation = Operation::AddCompany;
            let claim = Write::Claim {
                content: None,
                job,
                operation,
                before: None,
                baseline: None,
                counted: None,
                at: at(1),
            };
            [claim, Write::Reject { job, from, rejection: rejection(n), evidence }]
        })
        .collect();
    bench.apply(&writes);
    bench.claim("k2002", Operation::AddCompany, 3);
    bench.hold("k2002", "absent", "the record was not found", vec![], 4);

    let page = body(&bench.write(import, "reports"));
    assert!(page.contains("Shown are 201 of 2,003 rows; all of them are in results.xlsx"));
    assert!(
        page.contains("data-more=\"Shown are 201 of 2,003 rows;"),
        "the search says that it is not of all"
    );
    assert!(page.contains("and 1,802 more rows, in results.xlsx"));
    assert!(page.contains("and 1,997 other messages, in the rows below"), "five of them are shown");
    let (held, rejected) = page.split_once("<tbody data-status=\"rejected\"").expect("the failed rows");
    assert_eq!(held.matches("<tbody data-status=\"on hold\"").count(), 1, "what a person decides is first");
    assert_eq!(rejected.matches("class=\"place\"").count(), 200);
    assert!(page.contains("id=\"code=absent\"") && page.matches("id=\"code=invalidData\"").count() == 1);
}
