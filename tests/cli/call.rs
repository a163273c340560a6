//! `fleetload call`: every operation of the service by its name, over sockets; what is checked before it is sent, what is
//! asked, what is written down, and how it ends.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use fleetload::journal::Journal;
use fleetload::model::operation::Operation;
use fleetload::sandbox::{
    ENTERPRISE_TEMPLATES, Fault, FaultKind, ROOT_COMPANY, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS,
};
use serde_json::{Value, json};

use crate::bench::{self, Bench, Outcome, SECRET};
use crate::relay;

/// The object of a call among the lines of an output with `--json`.
fn object(outcome: &Outcome) -> Value {
    let mut objects = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    objects.find(|object| object["object"] == "call").expect("the object of the call")
}

/// Runs the binary with a body on standard input.
fn with_body(bench: &Bench, arguments: &[&str], body: &Value) -> Outcome {
    let mut command = bench.command(&[arguments, &["--body", "-"]].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // Who refuses the command line reads nothing.
    drop(child.stdin.take().expect("piped").write_all(body.to_string().as_bytes()));
    Outcome::of(child.wait_with_output().expect("a child"))
}

/// A request as it is typed: `call OPERATION -p …`, with what makes a program of it.
fn typed(operation: Operation, parameters: &[(&str, String)]) -> Vec<String> {
    let mut line: Vec<String> = ["call", operation.name(), "--json"].map(str::to_owned).to_vec();
    for (name, value) in parameters {
        line.extend(["-p".to_owned(), format!("{name}={value}")]);
    }
    if operation.changes() {
        line.push("--yes".to_owned());
    }
    line
}

fn send(bench: &Bench, operation: Operation, parameters: &[(&str, String)], body: Option<&Value>) -> Outcome {
    let line = typed(operation, parameters);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    match body {
        Some(body) => with_body(bench, &line, body),
        None => bench.fleetload(&line),
    }
}

/// The ids that requests may name, learned from the answers before.
struct World(BTreeMap<&'static str, String>);

impl World {
    fn new() -> Self {
        let known = [
            ("companyId", ROOT_COMPANY),
            ("deviceId", TEMPLATE_DEVICE),
            ("vpnCloudId", VPN_CLOUDS[0]),
            ("enterpriseTemplateId", ENTERPRISE_TEMPLATES[0]),
        ];
        Self(known.map(|(name, id)| (name, id.to_string())).into())
    }

    /// The value of a parameter of an operation.
    fn value(&self, operation: Operation, name: &'static str) -> String {
        let owner = match (name, operation) {
            ("id", Operation::GetCompany) => "companyId",
            ("id", Operation::GetDevice) => "deviceId",
            ("id", Operation::GetPerson) => "personId",
            ("id", Operation::GetSite) => "siteId",
            ("labelId", _) => "labelId",
            ("metadataId", Operation::DeleteCompanyMetadata) => "metadata of companyId",
            ("metadataId", Operation::DeleteDeviceMetadata) => "metadata of deviceId",
            ("metadataId", _) => "metadata of siteId",
            ("label", Operation::DeleteInterfaceLabel) => return "south".to_owned(),
            ("label", _) => return "north".to_owned(),
            ("key", _) => return "cost-centre".to_owned(),
            ("username", _) => return "ann.smith@acme.example".to_owned(),
            ("macAddress", _) => return "00:1a:2b:3c:4d:5e".to_owned(),
            ("name" | "companyName", _) => return "e".to_owned(),
            (other, _) => other,
        };
        self.0.get(owner).unwrap_or_else(|| panic!("{operation} needs {owner}")).clone()
    }

    /// The example of the help, with the site and the interface that are there.
    fn body(&self, operation: Operation) -> Option<Value> {
        let mut body = operation.body()?.example();
        if operation == Operation::AssignDeviceToSite {
            body["siteId"] = self.value(operation, "siteId").into();
        }
        if operation == Operation::PutInterfaceLabels {
            body[0]["label"] = "south".into();
        }
        Some(body)
    }

    fn learn(&mut self, operation: Operation, answer: &Value) {
        let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
        let name = match operation {
            Operation::AddSite => "siteId",
            Operation::AddPerson => "personId",
            Operation::PutInterfaceLabel => "labelId",
            Operation::PutCompanyMetadata => "metadata of companyId",
            Operation::PutDeviceMetadata => "metadata of deviceId",
            Operation::PutSiteMetadata => "metadata of siteId",
            Operation::ListInterfaces => {
                self.0.insert("interfaceDeviceId", id(&answer[0]));
                return;
            }
            _ => return,
        };
        self.0.insert(name, id(answer));
    }
}

/// What is made comes first, then what is put on it, what is read, what is changed, and at last what is removed.
fn stage(operation: Operation) -> u8 {
    let starts = |words: &[&str]| words.iter().any(|word| operation.name().starts_with(word));
    match operation {
        Operation::ListInterfaces => 0,
        _ if operation.creates() => 0,
        _ if starts(&["add", "put", "subscribe", "assign"]) => 1,
        _ if starts(&["delete", "remove", "unsubscribe"]) => 3,
        _ => 2,
    }
}

#[test]
fn each_of_the_81_operations_is_reached_by_its_name() {
    let bench = Bench::new(Scenario { strict: true, ..Scenario::default() });
    let mut world = World::new();
    let mut operations = Operation::ALL.to_vec();
    operations.sort_by_key(|operation| stage(*operation));
    for operation in operations {
        let names = operation.parameters();
        let parameters: Vec<(&str, String)> =
            names.iter().map(|known| (known.name, world.value(operation, known.name))).collect();
        let before = bench.requests(operation.name());
        let outcome = send(&bench, operation, &parameters, world.body(operation).as_ref());
        assert_eq!(outcome.code, 0, "{operation}: {outcome:?}");
        let told = object(&outcome);
        assert_eq!((&told["verdict"], &told["code"]), (&"succeeded".into(), &Value::Null), "{operation}");
        assert!(bench.requests(operation.name()) > before, "{operation} did not arrive");
        world.learn(operation, &told["body"]);
    }
    // By the service's own count: all were asked, and what changes something changed something.
    let asked = bench.statistics().requests;
    let never: Vec<&Operation> =
        Operation::ALL.iter().filter(|operation| !asked.contains_key(operation.name())).collect();
    assert!(never.is_empty(), "{never:?}");
    let changed: Vec<String> = bench.ledger().into_iter().map(|entry| entry.operation).collect();
    for operation in Operation::ALL.iter().filter(|operation| operation.changes()) {
        // The entry of a list may be there already.
        let may_be_so = operation.name().ends_with("Labels") || operation.name().ends_with("MetadataList");
        let times = changed.iter().filter(|name| *name == operation.name()).count();
        assert!(times == 1 || (may_be_so && times == 0), "{operation}: {times}");
    }
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    let day = journal.latest_quota().expect("a ledger").expect("a day");
    assert_eq!((day.sent, day.confirmed, day.doubtful), (5, 5, 0));
}

/// A service that answers everything with OK and remembers what it was asked: method, path and body.
struct Recorder {
    base_url: String,
    seen: Arc<Mutex<Vec<(String, String, Value)>>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen: Arc<Mutex<Vec<(String, String, Value)>>> = Arc::default();
        let remembered = Arc::clone(&seen);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let Ok(request) = relay::read_request(&mut stream) else { continue };
                let text = String::from_utf8_lossy(&request).into_owned();
                let (head, body) = text.split_once("\r\n\r\n").expect("a head");
                let mut words = head.split(' ').map(str::to_owned);
                let (method, path) = (words.next().expect("a method"), words.next().expect("a path"));
                let signs_in = path.contains("auth");
                let body = serde_json::from_str(body).unwrap_or_default();
                remembered.lock().expect("nothing panics while it is held").push((method, path, body));
                let answer = match signs_in {
                    true => {
                        r#"{"access_token":"a-token-of-some-length","token_type":"Bearer","expires_in":14400}"#
                    }
                    false => r#"{"status":"OK"}"#,
                };
                // A client that goes away is nothing to report.
                drop(stream.write_all(&relay::answer("200 OK", "", answer.as_bytes())));
            }
        });
        Self { base_url, seen }
    }
}

#[test]
fn each_operation_goes_where_the_profile_maps_it_in_the_path_or_in_the_query_by_each_method() {
    const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    let recorder = Recorder::start();
    let bench = Bench::new(Scenario::default());
    let mut met = Vec::new();
    for in_query in [false, true] {
        let mut profile = String::new();
        let mut expected = Vec::new();
        for (number, &operation) in Operation::ALL.iter().enumerate() {
            // Only what sends no body may be a GET.
            let methods = if operation.changes() && operation.body().is_some() || operation == Operation::Auth
            {
                &METHODS[1..]
            } else {
                &METHODS[..]
            };
            let method = methods[(number + usize::from(in_query)) % methods.len()];
            let (mut path, mut filled) = (format!("/mapped/{operation}"), format!("/mapped/{operation}"));
            for (place, known) in operation.parameters().iter().enumerate() {
                let name = known.name;
                let value = operation.example_of(*known).replace(':', "%3A").replace('@', "%40");
                let (before, key) = match (in_query, place) {
                    (false, _) => ("/", String::new()),
                    (true, 0) => ("?", format!("{name}=")),
                    (true, _) => ("&", format!("{name}=")),
                };
                path += &format!("{before}{key}{{{name}}}");
                filled += &format!("{before}{key}{value}");
            }
            profile +=
                &format!("[profile.bench.endpoints.{operation}]\nmethod = \"{method}\"\npath = \"{path}\"\n");
            expected.push((method.to_owned(), filled));
            met.push((method, in_query));
        }
        bench.profile(&profile, "rate = \"unlimited\"", "");
        bench.alter(&bench.base_url(), &recorder.base_url);
        for (&operation, expected) in Operation::ALL.iter().zip(expected) {
            recorder.seen.lock().expect("no panic").clear();
            let parameters: Vec<(&str, String)> = operation
                .parameters()
                .into_iter()
                .map(|known| (known.name, operation.example_of(known).to_owned()))
                .collect();
            let body = operation.body().map(|body| body.example());
            let outcome = send(&bench, operation, &parameters, body.as_ref());
            assert_eq!(outcome.code, 0, "{operation}: {outcome:?}");
            let mut seen = recorder.seen.lock().expect("no panic").clone();
            let (method, path, sent) = seen.pop().expect("a request");
            assert_eq!((method, path), expected, "{operation}");
            assert_eq!(sent, body.unwrap_or_default(), "{operation}");
            assert_eq!(seen.len(), usize::from(operation != Operation::Auth), "{operation}: one sign-in");
        }
    }
    for method in METHODS {
        for in_query in [false, true] {
            assert!(met.contains(&(method, in_query)), "{method}, in the query: {in_query}");
        }
    }
}

#[test]
fn every_problem_is_reported_before_anything_is_sent() {
    let bench = Bench::new(Scenario::default());
    let id = TEMPLATE_DEVICE.to_string();
    let table: [(&[&str], &[&str]); 8] = [
        (&["call", "getPerosn"], &["no operation 'getPerosn'", "did you mean getPerson?", "call --list"]),
        (&["call", "listDevices", "-p", "id=1"], &["this operation has no parameters"]),
        (
            &["call", "getDevice", "-p", "id=17", "-p", "ID=2"],
            &["2 problems", "must be a UUID", "did you mean id?"],
        ),
        (&["call", "getDevice"], &["the parameter id is missing", "call getDevice --help"]),
        (&["call", "addSite", "--yes"], &["the body is missing"]),
        (&["call", "listDevices", "--body", "x.json"], &["--body: this operation takes none"]),
        (&["call", "addSite", "--body", "nowhere.json"], &["cannot read nowhere.json"]),
        (&["call", "auth", "--raw"], &["would print the access token"]),
    ];
    for (arguments, words) in table {
        let outcome = bench.fleetload(arguments).expect_code(2);
        for words in words {
            assert!(outcome.stderr.contains(words), "{arguments:?}: {words}: {}", outcome.stderr);
        }
    }
    let body = json!({"companyId": id, "name": 5, "adress": {}, "phoneNumber": "1"});
    let outcome = with_body(&bench, &["call", "addSite", "--yes"], &body).expect_code(2);
    for words in
        ["3 problems", "name must be a string, and is 5", "did you mean address?", "address is missing"]
    {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert!(bench.statistics().requests.is_empty());
    assert!(!bench.path("fleetload.db").exists());
}

#[test]
fn an_operation_whose_path_nobody_knows_names_the_key_to_set() {
    let bench = Bench::new(Scenario::default());
    bench.profile("paths = \"documented\"", "", "");
    let outcome = bench.fleetload(&["call", "listSites", "--json"]).expect_code(2);
    assert!(outcome.stderr.contains("[profile.bench.endpoints.listSites]"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("\"endpoint-unknown\""), "{}", outcome.stdout);
    let id = ROOT_COMPANY.to_string();
    bench.fleetload(&["call", "getCompany", "-p", &format!("id={id}")]).expect_code(0);
    assert_eq!(bench.requests("listSites"), 0);
}

#[test]
fn a_change_is_not_sent_where_nobody_can_be_asked_and_nobody_said_yes() {
    let bench = Bench::new(Scenario::default());
    let id = format!("deviceId={TEMPLATE_DEVICE}");
    for more in [&[][..], &["--sandbox"], &["--json"]] {
        let arguments = [&["call", "updateDevice", "-p", &id], more].concat();
        let outcome = with_body(&bench, &arguments, &json!({"name": "Till"})).expect_code(2);
        assert!(outcome.stderr.contains("add --yes"), "{more:?}: {}", outcome.stderr);
    }
    assert!(bench.statistics().requests.is_empty());
    assert!(!bench.path("fleetload.db").exists());
}

#[test]
fn a_look_up_needs_no_journal_and_prints_the_body_of_the_answer() {
    let bench = Bench::new(Scenario::default());
    let id = format!("id={ROOT_COMPANY}");
    let outcome = bench.fleetload(&["call", "getCompany", "-p", &id]).expect_code(0);
    let company: Value = serde_json::from_str(&outcome.stdout).expect("JSON and nothing else");
    assert_eq!(company["name"], "Northwind Networks");
    assert_eq!(outcome.stderr, "");
    let raw = bench.fleetload(&["call", "getCompany", "-p", &id, "--raw"]).expect_code(0);
    assert_eq!(
        serde_json::from_str::<Value>(&raw.stdout).expect("JSON"),
        json!({"status": "OK", "body": company})
    );
    let token = bench.fleetload(&["call", "auth"]).expect_code(0);
    let shown: Value = serde_json::from_str(&token.stdout).expect("JSON");
    assert_eq!(shown, json!({"token_type": "Bearer", "expires_in": 14400}));
    for text in [&token.stdout, &token.stderr, &raw.stdout] {
        assert!(!text.contains("sandbox-token") && !text.contains(SECRET), "{text}");
    }
    assert!(!bench.path("fleetload.db").exists());
}

#[test]
fn a_rejection_is_explained_with_its_violations_and_ends_with_4() {
    let bench = Bench::new(Scenario { strict: true, ..Scenario::default() });
    let nobody = "id=6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
    let outcome = bench.fleetload(&["call", "getSite", "-p", nobody, "--json"]).expect_code(4);
    let told = object(&outcome);
    assert_eq!((&told["verdict"], &told["code"]), (&"no_data_found".into(), &"noDataFound".into()));
    for words in ["does not exist in the service", "fleetload explain noDataFound"] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    // The specification does not say what a copy needs, so the service says it.
    let copy = json!({"companyId": ROOT_COMPANY, "templateId": TEMPLATE_DEVICE, "address": {"address1": "1 High St"}});
    let outcome = with_body(&bench, &["call", "addDeviceFromTemplate", "--yes"], &copy).expect_code(4);
    for words in ["invalidData", "device.name: must not be null", "device.phoneNumber: must not be null"] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert_eq!(outcome.stdout, "");
    assert!(bench.ledger().is_empty());
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    let day = journal.latest_quota().expect("a ledger").expect("a day");
    assert_eq!((day.sent, day.refused), (1, 1), "a rejected creation counts");
}

#[test]
fn a_creation_beyond_the_quota_is_not_carried_out_and_ends_with_5() {
    let bench = Bench::new(Scenario { daily_quota: 1, ..Scenario::default() });
    let body = Operation::AddSite.body().expect("a body").example();
    let sites = || bench.requests("addSite");
    send(&bench, Operation::AddSite, &[], Some(&body)).expect_code(0);
    let outcome = send(&bench, Operation::AddSite, &[], Some(&body)).expect_code(5);
    assert_eq!(object(&outcome)["code"], "quotaLimitExceeded");
    assert!(outcome.stdout.contains("\"resumes_at\""), "{}", outcome.stdout);
    assert_eq!((sites(), bench.created("site").len()), (2, 1));
    // Where the profile says how many a day allows, the service is not asked.
    bench.profile("", "daily_quota = 1", "");
    send(&bench, Operation::AddSite, &[], Some(&body)).expect_code(5);
    assert_eq!(sites(), 2);
    let device = [("deviceId", TEMPLATE_DEVICE.to_string())];
    send(&bench, Operation::PutDeviceLabel, &device, Some(&json!({"label": "north"}))).expect_code(0);
}

#[test]
fn a_change_whose_answer_is_lost_is_unknown_and_never_sent_again() {
    let lost = |operation: &str| Fault { times: Some(1), ..Fault::new(operation, FaultKind::AnswerLost) };
    let bench = Bench::new(Scenario::default().with_fault(lost("addSite")).with_fault(lost("listSites")));
    let body = Operation::AddSite.body().expect("a body").example();
    let outcome = send(&bench, Operation::AddSite, &[], Some(&body)).expect_code(8);
    assert_eq!(object(&outcome)["verdict"], "doubtful");
    assert!(outcome.stdout.contains("\"call-unknown\""), "{}", outcome.stdout);
    for words in ["the outcome of addSite is unknown", "call findSitesByName --help"] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    }
    assert_eq!((bench.requests("addSite"), bench.created("site").len()), (1, 1));
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(status.stdout.contains("1 call of the last 7 days with an unknown outcome"), "{}", status.stdout);
    assert!(status.stdout.contains("addSite {}"), "{}", status.stdout);
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    let day = journal.latest_quota().expect("a ledger").expect("a day");
    assert_eq!((day.sent, day.doubtful), (1, 1));
    // Somebody looks, and says so: it is not shown any more, and stays in the journal.
    let advised = "resolve --call 1 --seen";
    let need = "needs a person:\n  1 call has an unknown outcome: check in the service whether it was carried out, then mark it as \
                reviewed\n    fleetload resolve --call 1 --seen\n";
    assert!(status.stdout.contains(need), "{}", status.stdout);
    assert!(
        status.stdout.starts_with("nothing has been imported yet; 1 call has an unknown outcome\n"),
        "{}",
        status.stdout
    );
    let told = bench.fleetload(&["status", "--check", "--json"]).expect_code(8).summary();
    assert_eq!(told["headline"], "nothing has been imported yet; 1 call has an unknown outcome");
    assert_eq!(
        (&told["needs_person"][0]["cause"], &told["needs_person"][0]["count"]),
        (&"call_unknown".into(), &1.into())
    );
    for (arguments, code, words) in [
        (vec!["resolve", "--call", "7", "--seen"], 2, "the journal has no call 7"),
        (advised.split(' ').collect(), 0, "call 1: marked as reviewed"),
        (advised.split(' ').collect(), 0, "call 1: was marked as reviewed before"),
    ] {
        let outcome = bench.fleetload(&arguments).expect_code(code);
        assert!(format!("{}{}", outcome.stdout, outcome.stderr).contains(words), "{outcome:?}");
    }
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(!status.stdout.contains("unknown outcome"), "{}", status.stdout);
    assert_eq!(bench.requests("addSite"), 1);
    // Of a look-up nothing is unknown: it can be asked again.
    let outcome = bench.fleetload(&["call", "listSites", "--json"]).expect_code(7);
    assert!(outcome.stdout.contains("\"reason\":\"service\""), "{}", outcome.stdout);
}

#[test]
fn a_creation_waits_for_the_run_of_its_account_and_everything_else_does_not() {
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    let bench = Bench::new(Scenario::default().with_fault(stall));
    bench.write("companies.csv", &bench::companies(1));
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.hears(&["\"progress\""]);
    let body = Operation::AddSite.body().expect("a body").example();
    let outcome = send(&bench, Operation::AddSite, &[], Some(&body)).expect_code(6);
    assert!(outcome.stderr.contains(&format!("(process {})", run.id())), "{}", outcome.stderr);
    assert_eq!(bench.requests("addSite"), 0);
    let device = [("deviceId", TEMPLATE_DEVICE.to_string())];
    send(&bench, Operation::PutDeviceLabel, &device, Some(&json!({"label": "north"}))).expect_code(0);
    send(&bench, Operation::ListDeviceLabels, &device, None).expect_code(0);
    run.kill();
    send(&bench, Operation::AddSite, &[], Some(&body)).expect_code(0);
    assert_eq!(bench.created("site").len(), 1);
}

#[test]
fn the_list_says_how_each_path_is_known_and_whether_it_can_be_reached() {
    let bench = Bench::new(Scenario::default());
    let mapped = "[profile.bench.endpoints.listSites]\nmethod = \"POST\"\npath = \"/v2/sites\"";
    bench.profile(&format!("paths = \"documented\"\n{mapped}"), "", "");
    let outcome = bench.fleetload(&["call", "--list", "--json"]).expect_code(0);
    let lines: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 82, "each operation, and the summary");
    let of = |name: &str| lines.iter().find(|line| line["operation"] == name).expect("it is listed");
    let shown = |name: &str| {
        let line = of(name);
        json!([line["method"], line["path"], line["provenance"], line["reachable"]])
    };
    assert_eq!(shown("listSites"), json!(["POST", "/v2/sites", "mapped", true]));
    assert_eq!(shown("addSite"), json!(["POST", "/device-api/config/v1/addSite", "assumed", false]));
    assert_eq!(
        shown("listCompanies"),
        json!(["GET", "/device-api/config/v1/listCompanies", "ending only", false])
    );
    assert_eq!(lines[81]["reachable"], 7);
    let table = bench.fleetload(&["call", "--list"]).expect_code(0).stdout;
    assert_eq!(table.lines().count(), 82);
    assert!(bench.statistics().requests.is_empty());
}

#[test]
fn the_help_of_an_operation_is_whole() {
    let bench = Bench::new(Scenario::default());
    let help = bench.fleetload(&["call", "updateDeviceVpnConfiguration", "--help"]).expect_code(0);
    insta::assert_snapshot!("help", help.stdout);
    let general = bench.fleetload(&["call", "--help"]).expect_code(0).stdout;
    assert!(general.contains("--parameter") && general.contains("Exit code 4"), "{general}");
    for &operation in Operation::ALL {
        let help = bench.fleetload(&["call", operation.name(), "-h"]).expect_code(0).stdout;
        assert!(help.contains(operation.section()) && help.contains("Example:"), "{help}");
    }
    assert!(bench.statistics().requests.is_empty());
}
