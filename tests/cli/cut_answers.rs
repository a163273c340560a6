//! Answers of creations that are lost, or cut at every byte they have: head and body, the first and the last. Every
//! row is created once, whatever was left of its answer.

use std::collections::BTreeMap;

use crate::bench::{self, Bench};
use fleetload::sandbox::{Fault, FaultKind, Request, Sandbox, Scenario, TEMPLATE_DEVICE, wall_clock};
use serde_json::{Value, json};

/// Rows of each creation in one run. Fewer than the two hundred over which the breaker takes its share of failures,
/// since every second answer is spoilt.
const ROWS: usize = 180;

/// The creations with the kind of record that they make.
const CREATIONS: [(&str, &str); 5] = [
    ("addCompany", "company"),
    ("addSite", "site"),
    ("addPerson", "person"),
    ("addDevice", "device"),
    ("addDeviceFromTemplate", "device"),
];

/// How long the answer of each creation is, asked of a service of its own. The sheets below have names of one length,
/// so that every row of a kind gets an answer of the same length.
fn lengths() -> BTreeMap<&'static str, usize> {
    let service = Sandbox::new(Scenario::default(), wall_clock()).expect("a consistent scenario");
    let signed_in = service.respond(&Request::sign_in(bench::CLIENT, bench::SECRET), wall_clock());
    let token: Value = serde_json::from_slice(&signed_in.response.body).expect("a token");
    let token = token["access_token"].as_str().expect("a token");
    let ask = |operation: &str, body: Value| {
        let target = format!("/device-api/config/v1/{operation}");
        let request = Request::post(&target, body.to_string()).bearing(token);
        let response = service.respond(&request, wall_clock()).response;
        let answer: Value = serde_json::from_slice(&response.body).expect("JSON");
        assert_eq!(answer["status"], "OK", "{operation}: {answer}");
        (response.encode().len(), answer["body"]["id"].clone())
    };
    let address = json!({"address1": "1 Queen Street", "city": "Auckland", "country": "NZ"});
    let phone = "+64 9 555 0000";
    let mut lengths = BTreeMap::new();
    let (length, company) = ask(
        "addCompany",
        json!({"parentCompanyId": bench::root(), "companyType": "CUSTOMER", "name": "Company 0000",
            "address": address, "phoneNumber": phone, "supportEmail": "help@bench.example",
            "salesEmail": "help@bench.example", "accountsEmail": "help@bench.example"}),
    );
    lengths.insert("addCompany", length);
    let site = json!({"companyId": company, "name": "Site 0000", "reference": "REF-0000", "address": address,
        "phoneNumber": phone});
    lengths.insert("addSite", ask("addSite", site).0);
    let person = json!({"companyId": company, "userType": "Reports Client", "templateScope": "COMPANY_INHERIT",
        "firstName": "Ann", "lastName": "Other", "username": "user0000@bench.example",
        "email": "user0000@bench.example", "allowLogin": true, "address": address});
    lengths.insert("addPerson", ask("addPerson", person).0);
    let device = json!({"companyId": company, "name": "Device 0000", "address": address, "phoneNumber": phone,
        "deviceModel": "Edge 100", "identification": "00:1a:2b:00:00:00"});
    lengths.insert("addDevice", ask("addDevice", device).0);
    let copy = json!({"companyId": company, "name": "Copied 0000", "address": address, "phoneNumber": phone,
        "templateId": TEMPLATE_DEVICE});
    lengths.insert("addDeviceFromTemplate", ask("addDeviceFromTemplate", copy).0);
    lengths
}

/// The sheets of one run: every creation, the same number of rows each, all below one company.
fn sheets(bench: &Bench, run: usize) -> Vec<String> {
    let name = |kind: &str| format!("{kind}-{run}.csv");
    let numbers = || (run * ROWS..(run + 1) * ROWS).map(|n| (n, format!("{n:04}")));
    let mut companies =
        "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country\n"
            .to_owned();
    let mut sites = "company,name,reference,phone,address1,city,country\n".to_owned();
    let mut people =
        "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n"
            .to_owned();
    let mut devices = "company,name,device_model,mac,phone,address1,city,country\n".to_owned();
    let mut copies = "company,name,template,phone,address1,city,country\n".to_owned();
    let place = "1 Queen Street,Auckland,NZ";
    for (n, number) in numbers() {
        let mail = "help@bench.example,help@bench.example,help@bench.example";
        companies +=
            &format!("K{number},{},CUSTOMER,Company {number},+64 9 555 0000,{mail},{place}\n", bench::root());
        sites += &format!("K0000,Site {number},REF-{number},+64 9 555 0000,{place}\n");
        let user = format!("user{number}@bench.example");
        people += &format!("K0000,Reports Client,COMPANY_INHERIT,Ann,Other,{user},{user},yes,{place}\n");
        let mac = format!("00:1a:2b:00:{:02x}:{:02x}", n >> 8, n & 255);
        devices += &format!("K0000,Device {number},Edge 100,{mac},+64 9 555 0000,{place}\n");
        copies += &format!("K0000,Copied {number},{TEMPLATE_DEVICE},+64 9 555 0000,{place}\n");
    }
    let mut names = Vec::new();
    for (kind, content) in [
        ("companies", companies),
        ("sites", sites),
        ("people", people),
        ("devices", devices),
        ("copied-devices", copies),
    ] {
        bench.write(&name(kind), &content);
        names.push(name(kind));
    }
    names
}

fn run(bench: &Bench, number: usize) {
    let names = sheets(bench, number);
    let mut arguments = vec!["run", "--quiet"];
    arguments.extend(names.iter().map(String::as_str));
    bench.fleetload(&arguments).expect_code(0);
}

/// Every second answer is spoilt; the one between comes whole, without its date.
fn spaced(operation: &str, fault: Fault) -> [Fault; 2] {
    [fault.times(1), Fault::new(operation, FaultKind::DateMissing).times(1)]
}

fn bench() -> Bench {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 24", "");
    bench
}

#[test]
fn an_answer_cut_at_any_of_its_bytes_leads_to_one_record_a_row() {
    let lengths = lengths();
    let longest = *lengths.values().max().expect("five answers");
    let bench = bench();
    let mut cuts = 0;
    let mut runs = 0;
    for (run_number, first) in (0..longest).step_by(ROWS / 2).enumerate() {
        let mut faults = Vec::new();
        for (operation, length) in &lengths {
            for at in first..(first + ROWS / 2).min(*length) {
                faults.extend(spaced(operation, Fault::new(operation, FaultKind::AnswerCut).at(at)));
                cuts += 1;
            }
        }
        bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
        run(&bench, run_number);
        assert_eq!(bench.statistics().faults_fired["answer_cut"], cuts, "every cut so far fired");
        let import = u32::try_from(run_number + 1).expect("few runs");
        assert!(bench.counts(import).keys().all(|state| state == "created" || state == "adopted"));
        runs += 1;
    }
    assert_eq!(cuts, lengths.values().map(|length| *length as u64).sum::<u64>(), "one for each byte of each");
    exactly_one_record_a_row(&bench, runs);
}

#[test]
fn an_answer_that_is_lost_leads_to_one_record_a_row() {
    let bench = bench();
    let kinds = [FaultKind::AnswerLost, FaultKind::ResetAfter];
    let faults = CREATIONS.iter().flat_map(|(operation, _)| {
        (0..ROWS / 2).flat_map(|n| spaced(operation, Fault::new(operation, kinds[n % 2])))
    });
    let faults: Vec<_> = faults.collect();
    bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
    run(&bench, 0);
    let fired = bench.statistics().faults_fired;
    let each = (CREATIONS.len() * ROWS / 4) as u64;
    assert_eq!((fired["answer_lost"], fired["reset_after"]), (each, each));
    assert_eq!(bench.counts(1)["adopted"], 2 * each);
    exactly_one_record_a_row(&bench, 1);
}

/// No record is missing, none is there twice, and no request was made for one a second time: an answer that was lost
/// after the deed is found by looking.
fn exactly_one_record_a_row(bench: &Bench, runs: usize) {
    for (operation, kind) in CREATIONS {
        let made: Vec<_> =
            bench.created(kind).into_iter().filter(|entry| entry.operation == operation).collect();
        assert_eq!(made.len(), runs * ROWS, "{operation}");
        let names: std::collections::BTreeSet<_> = made
            .iter()
            .map(|entry| entry.request[if kind == "person" { "username" } else { "name" }].to_string())
            .collect();
        assert_eq!(names.len(), runs * ROWS, "{operation}: a record for each row");
        assert_eq!(bench.requests(operation), (runs * ROWS) as u64, "{operation}: nothing was sent again");
    }
    let mut owners = BTreeMap::new();
    for import in 1..=runs {
        for row in bench.results(u32::try_from(import).expect("few runs")) {
            let id = row["id"].as_str().expect("every row has its record").to_owned();
            if let Some(other) = owners.insert(id, row.clone()) {
                panic!("two rows have one record:\n{other}\n{row}");
            }
        }
    }
    assert_eq!(owners.len(), runs * ROWS * CREATIONS.len());
    for entry in bench.ledger().iter().filter(|entry| entry.created) {
        assert!(owners.contains_key(&entry.id.to_string()), "no row owns {entry:?}");
    }
}
