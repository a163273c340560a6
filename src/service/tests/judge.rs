//! The table of answers: every status with every form of body.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::settle::{Settled, StepContext, settle};
use crate::model::verdict::{Doubt, Refusal, Rejection, Success, Verdict, Violation};
use crate::service::call::Call;
use crate::service::judge::{Expectation, Raw, judge as judge_whole, judge_apart};
use crate::service::lookup::Lookup;

const ID: &str = "6f2b6f0a-0000-4000-8000-000000000001";
const OTHER: &str = "6f2b6f0a-0000-4000-8000-000000000002";

fn raw(status: u16, body: impl AsRef<[u8]>) -> Raw {
    Raw { status, body: Bytes::copy_from_slice(body.as_ref()), flaw: None }
}

/// Judges an answer both ways: an answer of which a list is read entry by entry means the same.
fn judge(operation: Operation, expectation: &Expectation, raw: &Raw) -> Verdict {
    let whole = judge_whole(operation, expectation, raw);
    let (mut apart, list) = judge_apart(&[], operation, expectation, raw);
    match (&mut apart, list) {
        (Verdict::Succeeded(success), Some(list)) => {
            assert_eq!(success.body, json!([]));
            success.body = list.entries().collect();
        }
        (_, None) => {}
        (verdict, Some(list)) => panic!("{list:?} of {verdict:?}"),
    }
    assert_eq!(apart, whole);
    whole
}

fn device() -> Expectation {
    Expectation {
        id: None,
        name: Some("Till 1".into()),
        username: None,
        company: Some(OTHER.parse().unwrap()),
        identification: Some("00:1a:2b:3c:4d:5e".into()),
    }
}

/// One word for each verdict, so that a table of hundreds can be read.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Succeeded(_) => "ok",
        Verdict::Rejected(_) => "rejected",
        Verdict::NoDataFound(_) => "absent",
        Verdict::Duplicate(_) => "duplicate",
        Verdict::NotSent(_) => "unsent",
        Verdict::Throttled => "throttled",
        Verdict::QuotaSpent => "quota",
        Verdict::TokenInvalid => "token",
        Verdict::Refused(Refusal::InvalidClient) => "client",
        Verdict::Refused(Refusal::UnauthorizedSource) => "source",
        Verdict::Refused(Refusal::TokenRefused) => "refused",
        Verdict::EndpointMissing(_) => "missing",
        Verdict::Contradicted(_) => "contradicted",
        Verdict::Doubtful(Doubt::ServerError) => "server",
        Verdict::Doubtful(Doubt::UnknownAnswer) => "unknown",
        Verdict::Doubtful(Doubt::Unreadable) => "unreadable",
        Verdict::Doubtful(Doubt::Redirect) => "redirect",
        Verdict::Doubtful(Doubt::Truncated) => "cut",
        Verdict::Doubtful(_) => "doubt",
    }
}

/// Every form a coded error can have: wrapped, unwrapped, bare, and a word in its place.
fn forms(code: &str) -> [String; 4] {
    [
        json!({"status": "FAILED", "error": {"errorCode": code, "message": "m"}}).to_string(),
        json!({"error": {"errorCode": code, "message": "m"}}).to_string(),
        json!({"errorCode": code, "message": "m"}).to_string(),
        json!({"error": code}).to_string(),
    ]
}

#[test]
fn every_status_with_every_code_in_every_form() {
    // code; then the verdict with 200, 401, 404, 429, and any other status below 500 that is no redirect.
    // A dash is a status at which the form of a word differs from the coded ones; see below.
    #[rustfmt::skip]
    let table = [
        ("invalidParam",        "rejected",  "unknown", "rejected",  "unknown",   "unknown"),
        ("malformedJsonInput",  "rejected",  "unknown", "rejected",  "unknown",   "unknown"),
        ("invalidData",         "rejected",  "unknown", "rejected",  "unknown",   "unknown"),
        ("invalidState",        "rejected",  "unknown", "rejected",  "unknown",   "unknown"),
        ("generalError",        "rejected",  "unknown", "rejected",  "unknown",   "unknown"),
        ("noDataFound",         "absent",    "unknown", "absent",    "unknown",   "unknown"),
        ("duplicateEntity",     "duplicate", "unknown", "duplicate", "unknown",   "unknown"),
        ("rateLimitExceeded",   "unknown",   "unknown", "unknown",   "throttled", "unknown"),
        ("quotaLimitExceeded",  "unknown",   "unknown", "unknown",   "quota",     "unknown"),
        ("invalid_token",       "unknown",   "token",   "unknown",   "unknown",   "unknown"),
        ("invalid_client",      "unknown",   "client",  "unknown",   "unknown",   "unknown"),
        ("unauthorizedSource",  "unknown",   "source",  "unknown",   "unknown",   "unknown"),
        ("internalServerError", "server",    "server",  "server",    "server",    "server"),
        ("notInTheBook",        "unknown",   "unknown", "unknown",   "unknown",   "unknown"),
        ("InvalidData",         "unknown",   "unknown", "unknown",   "unknown",   "unknown"),
        ("",                    "unknown",   "unknown", "unknown",   "unknown",   "unknown"),
    ];
    for (code, with_200, with_401, with_404, with_429, otherwise) in table {
        for (index, body) in forms(code).iter().enumerate() {
            let is_word = index == 3;
            for operation in [Operation::AddDevice, Operation::ListPeople, Operation::PutDeviceLabels] {
                let mut columns = vec![(200, with_200), (401, with_401), (429, with_429)];
                for status in [404, 405, 415] {
                    // A word where the specification promises a page is somebody else's page.
                    columns
                        .push((status, if is_word && with_404 != "server" { "missing" } else { with_404 }));
                }
                columns.extend(
                    [
                        100, 201, 202, 204, 206, 299, 400, 402, 403, 408, 409, 410, 413, 422, 425, 499, 600,
                        999,
                    ]
                    .map(|status| (status, otherwise)),
                );
                columns.extend([500, 501, 502, 503, 504, 520, 599].map(|status| (status, "server")));
                columns.extend([300, 301, 302, 303, 304, 307, 308, 399].map(|status| (status, "redirect")));
                for (status, expected) in columns {
                    // Rejections need the coded form: a word names no reason to show.
                    let expected = match expected {
                        "rejected" | "absent" | "duplicate" if is_word => "unknown",
                        expected => expected,
                    };
                    let verdict = judge(operation, &device(), &raw(status, body));
                    assert_eq!(word(&verdict), expected, "{operation} {status} {body}: {verdict:?}");
                }
            }
        }
    }
}

#[test]
fn every_status_with_every_body_that_is_no_error() {
    let deep = format!(r#"{{"status":"OK","body":{}{}}}"#, "[".repeat(64), "]".repeat(64));
    let ok = json!({"status": "OK", "body": {"id": ID, "name": "Till 1"}}).to_string();
    // body; then the verdict with 200, 401 and 429, 404, and any other status below 500 that is no redirect.
    #[rustfmt::skip]
    let table: Vec<(&[u8], &str, &str, &str, &str)> = vec![
        (ok.as_bytes(),                                     "ok",         "unknown", "unknown", "unknown"),
        (br#"{"status":"OK"}"#,                             "ok",         "unknown", "unknown", "unknown"),
        (br#"{"status":"OK","body":null,"error":null}"#,    "ok",         "unknown", "unknown", "unknown"),
        (b"\xef\xbb\xbf {\"status\":\"OK\"}\r\n",           "ok",         "unknown", "unknown", "unknown"),
        (br#"{"status":"OK","error":{"errorCode":"x"}}"#,   "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"OK","errorCode":"invalidData"}"#,   "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"ok"}"#,                             "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"PENDING","body":{}}"#,              "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"FAILED"}"#,                         "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"FAILED","error":null}"#,            "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"FAILED","error":{}}"#,              "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"FAILED","error":[]}"#,              "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":"FAILED","error":{"errorCode":4}}"#, "unknown",    "unknown", "unknown", "unknown"),
        (br#"{"status":true}"#,                             "unreadable", "unknown", "missing", "unknown"),
        (br#"{"status":404,"error":"Not Found"}"#,          "unreadable", "unknown", "missing", "unknown"),
        (br#"{"id":"1","name":"Till 1"}"#,                  "unreadable", "unknown", "missing", "unknown"),
        (b"{}",                                             "unreadable", "unknown", "missing", "unknown"),
        (b"",                                               "unreadable", "unknown", "missing", "unknown"),
        (b" \r\n ",                                         "unreadable", "unknown", "missing", "unknown"),
        (b"<html><body>Sign in</body></html>",              "unreadable", "unknown", "missing", "unknown"),
        (b"[]",                                             "unreadable", "unknown", "missing", "unknown"),
        (b"null",                                           "unreadable", "unknown", "missing", "unknown"),
        (b"\"OK\"",                                         "unreadable", "unknown", "missing", "unknown"),
        (b"\xff\xfe<\0h\0",                                 "unreadable", "unknown", "missing", "unknown"),
        (deep.as_bytes(),                                   "unreadable", "unreadable", "unreadable", "unreadable"),
        (b"{\"status\":\"OK\",\"body\":\"\xff\"}",          "unreadable", "unreadable", "unreadable", "unreadable"),
        (br#"{"status":"OK"} {"status":"OK"}"#,             "unreadable", "unreadable", "unreadable", "unreadable"),
        (br#"{"status":OK}"#,                               "unreadable", "unreadable", "unreadable", "unreadable"),
        (br#"{"status":"OK","#,                             "cut",        "cut",     "cut",     "cut"),
        (b"{\"status\":\"OK\",\"body\":\"\xc3",             "cut",        "cut",     "cut",     "cut"),
        (b"{",                                              "cut",        "cut",     "cut",     "cut"),
    ];
    for (body, with_200, with_401, with_404, otherwise) in table {
        let mut columns = vec![(200, with_200), (401, with_401), (429, with_401)];
        columns.extend([404, 405, 415].map(|status| (status, with_404)));
        columns.extend([201, 202, 204, 400, 403, 409, 422].map(|status| (status, otherwise)));
        columns.extend([500, 502, 503, 504].map(|status| (status, "server")));
        columns.extend([301, 302, 303, 304, 307, 308].map(|status| (status, "redirect")));
        for (status, expected) in columns {
            let verdict = judge(Operation::AddDevice, &device(), &raw(status, body));
            let shown = String::from_utf8_lossy(body);
            assert_eq!(word(&verdict), expected, "{status} {shown}: {verdict:?}");
        }
    }
}

#[test]
fn an_answer_that_was_not_read_to_its_end_proves_nothing() {
    for doubt in [Doubt::Truncated, Doubt::Timeout, Doubt::Unreadable] {
        for (status, body) in [
            (200, r#"{"status":"OK","body":{}}"#),
            (404, "<html>"),
            (401, r#"{"error":"invalid_token"}"#),
            (429, r#"{"errorCode":"rateLimitExceeded"}"#),
            (503, ""),
        ] {
            let raw = Raw { flaw: Some(doubt), ..raw(status, body) };
            assert_eq!(judge(Operation::AddDevice, &device(), &raw), Verdict::Doubtful(doubt), "{status}");
        }
    }
}

#[test]
fn a_creation_succeeded_only_when_the_answer_is_about_what_was_sent() {
    let id: RemoteId = ID.parse().unwrap();
    let ok = |id| Ok(id);
    let table = [
        (json!({"id": ID, "name": "Till 1"}), ok(Some(id))),
        (json!({"id": ID}), ok(Some(id))),
        (json!({"id": ID, "name": null, "companyId": null, "identification": null}), ok(Some(id))),
        (json!({"id": ID, "name": " Till  1 "}), ok(Some(id))),
        (json!({"id": ID, "companyId": OTHER, "identification": "001A.2B3C.4D5E"}), ok(Some(id))),
        (json!({"id": ID, "identification": "SN-4711"}), ok(Some(id))),
        (json!({"name": "Till 1"}), ok(None)),
        (json!({"id": null}), ok(None)),
        (json!({}), ok(None)),
        (Value::Null, ok(None)),
        (json!({"id": "17"}), Err("answers id '17'")),
        (json!({"id": ""}), Err("answers id ''")),
        (json!({"id": 17}), Err("answers id 17")),
        (json!({"id": "00000000-0000-0000-0000-000000000000"}), Err("answers id '0")),
        (json!({"id": ID.replace('-', "")}), Err("answers id")),
        (json!({"id": format!("{{{ID}}}")}), Err("answers id")),
        (json!({"id": ID, "name": "till 1"}), Err("answers name 'till 1' where 'Till 1' was expected")),
        (json!({"id": ID, "name": "Till 10"}), Err("answers name 'Till 10'")),
        (json!({"id": ID, "name": ""}), Err("answers name ''")),
        (json!({"id": ID, "name": 1}), Err("answers name 1")),
        (json!({"name": "Till 2"}), Err("answers name 'Till 2'")),
        (json!({"id": ID, "companyId": ID}), Err("answers companyId")),
        (json!({"id": ID, "companyId": "x"}), Err("answers companyId 'x'")),
        (json!({"id": ID, "identification": "00:1a:2b:3c:4d:5f"}), Err("answers identification")),
        (json!([]), Err("not a record")),
        (json!([{"id": ID}]), Err("not a record")),
        (json!("done"), Err("not a record")),
        (json!(true), Err("not a record")),
    ];
    for (body, expected) in table {
        let raw = raw(200, json!({"status": "OK", "body": body}).to_string());
        for operation in [Operation::AddDevice, Operation::AddDeviceFromTemplate, Operation::AddSite] {
            match (judge(operation, &device(), &raw), &expected) {
                (Verdict::Succeeded(Success { id, body: kept }), Ok(wanted)) => {
                    assert_eq!((id, &kept), (*wanted, &body), "{body}");
                }
                (Verdict::Contradicted(contradiction), Err(words)) => {
                    assert!(contradiction.what.contains(words), "{body}: {}", contradiction.what);
                    let named = body["id"].as_str() == Some(ID);
                    assert_eq!(contradiction.id, named.then_some(id), "{body}");
                }
                (verdict, expected) => panic!("{body}: {verdict:?} instead of {expected:?}"),
            }
        }
    }
}

#[test]
fn a_person_is_known_by_username() {
    let expectation = Expectation { username: Some("jo@acme".into()), ..Expectation::default() };
    for (body, expected) in [
        (json!({"id": ID, "username": "jo@acme", "firstName": "Jo"}), "ok"),
        (json!({"id": ID, "firstName": "Jo"}), "ok"),
        (json!({"id": ID, "username": "joe@acme"}), "contradicted"),
        (json!({"id": ID, "username": "JO@acme"}), "contradicted"),
    ] {
        let raw = raw(200, json!({"status": "OK", "body": body}).to_string());
        assert_eq!(word(&judge(Operation::AddPerson, &expectation, &raw)), expected, "{body}");
    }
}

#[test]
fn a_get_by_id_must_answer_the_record_asked_for_and_other_calls_may_answer_anything() {
    let asked = Expectation { id: Some(ID.parse().unwrap()), ..Expectation::default() };
    let free = Expectation::default();
    for (operation, expectation, body, expected) in [
        (Operation::GetDevice, &asked, json!({"id": ID, "name": "anything"}), "ok"),
        (Operation::GetDevice, &asked, json!({"name": "anything"}), "ok"),
        (Operation::GetDevice, &asked, json!({"id": OTHER}), "contradicted"),
        (Operation::GetDevice, &asked, json!([{"id": ID}]), "contradicted"),
        (Operation::ListPeople, &free, json!([]), "ok"),
        (Operation::PutDeviceLabels, &free, json!([{"id": "17", "label": "a"}]), "ok"),
        (Operation::AddLicenceCode, &free, Value::Null, "ok"),
        (Operation::GetDeviceByMac, &free, json!({"id": "17"}), "ok"),
    ] {
        let raw = raw(200, json!({"status": "OK", "body": body}).to_string());
        assert_eq!(word(&judge(operation, expectation, &raw)), expected, "{operation} {body}");
    }
}

#[test]
fn what_is_expected_is_what_was_sent() {
    let body = json!({
        "name": "Till 1", "companyId": OTHER, "identification": "00:1a:2b:3c:4d:5e", "address": {"address1": "x"},
    });
    let call = Call { operation: Operation::AddDevice, parameters: vec![], body: Some(body) };
    assert_eq!(Expectation::of(&call), device());
    let update = Call { operation: Operation::UpdateDevice, ..call };
    assert_eq!(Expectation::of(&update), Expectation::default());
    let id = ID.parse().unwrap();
    for lookup in [Lookup::Company(id), Lookup::Device(id), Lookup::Site(id), Lookup::Person(id)] {
        assert_eq!(Expectation::of(&lookup.call()).id, Some(id), "{lookup:?}");
    }
    assert_eq!(Expectation::of(&Lookup::PeopleOf(id).call()), Expectation::default());
}

#[test]
fn a_code_that_only_looks_like_a_listed_one_proves_nothing() {
    for code in ["inval\u{feff}idData", "invalidData\u{7f}", " noDataFound", "duplicate\u{200b}Entity"] {
        for body in [json!({"status": "FAILED", "error": {"errorCode": code}}), json!({"errorCode": code})] {
            for status in [200, 401, 404, 429] {
                let verdict =
                    judge(Operation::AddDevice, &Expectation::default(), &raw(status, body.to_string()));
                assert_eq!(verdict, Verdict::Doubtful(Doubt::UnknownAnswer), "{status} {body}");
            }
        }
    }
    for (status, word) in
        [(401, "invalid_token\u{7f}"), (401, "invalid_client "), (429, "\u{ad}rateLimitExceeded")]
    {
        let body = json!({"error": word}).to_string();
        let verdict = judge(Operation::AddDevice, &Expectation::default(), &raw(status, body.clone()));
        assert_eq!(verdict, Verdict::Doubtful(Doubt::UnknownAnswer), "{status} {body}");
    }
}

#[test]
fn violations_are_kept_cleaned_and_bounded() {
    let many: Vec<_> = (0..1000).map(|n| json!({"path": format!("device.f{n}"), "message": "x"})).collect();
    let error = |details: Value| {
        json!({"status": "FAILED", "error": {
            "errorCode": "invalidData", "message": "bad\u{1b}[31m\u{202e} data", "errorDetails": details,
        }})
        .to_string()
    };
    let rejection = |details| match judge(Operation::AddDevice, &device(), &raw(200, error(details))) {
        Verdict::Rejected(rejection) => rejection,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        rejection(json!({"violations": [
            {"path": "device.address.address1", "message": "must not\nbe null"}, "odd", {"message": "no path"}, {},
        ]})),
        Rejection {
            code: "invalidData".into(),
            message: "bad [31m data".into(),
            violations: vec![
                Violation { path: "device.address.address1".into(), message: "must not be null".into() },
                Violation { path: String::new(), message: "no path".into() },
                Violation { path: String::new(), message: String::new() },
            ],
        }
    );
    assert_eq!(rejection(json!({"violations": many})).violations.len(), 100);
    for odd in [json!(null), json!([]), json!({"violations": {}}), json!({"violations": "x"}), json!(4)] {
        assert_eq!(rejection(odd).violations, []);
    }
}

#[test]
fn size_and_depth_have_their_limits_to_the_byte_and_the_level() {
    let sized = |size: usize| {
        let frame = r#"{"status":"OK","body":""}"#;
        format!(r#"{{"status":"OK","body":"{}"}}"#, "x".repeat(size - frame.len()))
    };
    let mib = 1024 * 1024;
    for (operation, size, expected) in [
        (Operation::PutDeviceLabels, mib, "ok"),
        (Operation::PutDeviceLabels, mib + 1, "unreadable"),
        (Operation::ListPeople, 16 * mib, "ok"),
        (Operation::ListPeople, 16 * mib + 1, "unreadable"),
    ] {
        let verdict = judge(operation, &Expectation::default(), &raw(200, sized(size)));
        assert_eq!(word(&verdict), expected, "{operation} {size}");
    }
    let nested =
        |levels: usize| format!(r#"{{"status":"OK","body":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    for (levels, expected) in [(63, "ok"), (64, "unreadable"), (100_000, "unreadable")] {
        let verdict = judge(Operation::ListPeople, &Expectation::default(), &raw(200, nested(levels)));
        assert_eq!(word(&verdict), expected, "{levels}");
    }
}

/// What kind of body an answer has, as far as a proof goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Status OK.
    Ok,
    /// An error with this code.
    Coded(&'static str),
    /// A word in the place of the error.
    Word(&'static str),
    /// No answer of the service: a page, or JSON of somebody else.
    Page,
    /// The service's envelope, saying something that it should not, or what cannot be believed to be whole.
    Odd,
}

/// Every shape a body can have.
fn shapes() -> Vec<(Form, Vec<u8>)> {
    let ok = |body: Value| (Form::Ok, json!({"status": "OK", "body": body}).to_string().into_bytes());
    let mut shapes = vec![
        ok(json!({"id": ID, "name": "Till 1"})),
        ok(json!({"id": null, "name": "Till 1"})),
        ok(json!({"name": "Till 1"})),
        ok(json!({"id": OTHER, "name": "Till 1"})),
        ok(json!({"id": ID, "name": "Till 2"})),
        ok(json!({"id": "17"})),
        ok(json!({})),
        ok(json!([{"id": ID}])),
        ok(json!("done")),
        ok(json!(7)),
        ok(Value::Null),
    ];
    for code in [
        "invalidParam",
        "malformedJsonInput",
        "invalidData",
        "invalidState",
        "generalError",
        "noDataFound",
        "duplicateEntity",
        "rateLimitExceeded",
        "quotaLimitExceeded",
        "invalid_token",
        "invalid_client",
        "unauthorizedSource",
        "internalServerError",
        "notInTheBook",
    ] {
        let [wrapped, unwrapped, bare, word] = forms(code);
        shapes.extend([wrapped, unwrapped, bare].map(|body| (Form::Coded(code), body.into_bytes())));
        shapes.push((Form::Word(code), word.into_bytes()));
    }
    let deep = format!(r#"{{"status":"OK","body":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let twice =
        r#"{"status":"FAILED","status":"FAILED","error":{"errorCode":"x","errorCode":"invalidData"}}"#;
    let pages: [&[u8]; 13] = [
        b"",
        b" \r\n",
        b"<html><body>Sign in</body></html>",
        b"{}",
        b"[]",
        b"[{\"status\":\"OK\"}]",
        b"7",
        b"\"OK\"",
        b"null",
        b"\xff\xfe<\0h\0",
        br#"{"id":"1","name":"Till 1"}"#,
        br#"{"error":{"errorCode":"rateLimitExceeded"},"error":[]}"#,
        br#"{"status":404,"error":"Not Found"}"#,
    ];
    shapes.extend(pages.map(|body| (Form::Page, body.to_vec())));
    let odd: [&[u8]; 11] = [
        deep.as_bytes(),
        b"{\"status\":\"OK\",\"body\":\"\xff\"}",
        br#"{"status":"OK","#,
        b"{",
        br#"{"status":OK}"#,
        br#"{"status":"OK"} {"status":"OK"}"#,
        br#"{"status":"OK","error":{"errorCode":"invalidData"}}"#,
        br#"{"status":"FAILED"}"#,
        br#"{"status":"FAILED","error":{"errorCode":4}}"#,
        br#"{"status":"PENDING","body":{}}"#,
        br#"{"status":"FAILED","error":{"errorCode":"invalidData"},"status":"OK","body":{}}"#,
    ];
    shapes.extend(odd.map(|body| (Form::Odd, body.to_vec())));
    // Of a key that is there twice, the last one counts.
    shapes.push((Form::Coded("invalidData"), twice.as_bytes().to_vec()));
    shapes
}

#[test]
fn only_a_listed_proof_lets_anything_be_sent_again() {
    const STATUSES: [u16; 46] = [
        0, 100, 101, 103, 199, 200, 201, 202, 204, 206, 226, 299, 300, 301, 302, 303, 304, 307, 308, 399,
        400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 421, 422, 425, 429, 451, 499, 500,
        502, 503, 504, 599, 600, 999,
    ];
    let expectation = Expectation { company: None, identification: None, ..device() };
    let mut proofs = 0;
    for (form, body) in shapes() {
        for status in STATUSES {
            // A creation, a step after one, a look-up.
            for operation in [Operation::AddDevice, Operation::PutDeviceLabels, Operation::ListPeople] {
                for fresh_reference in [false, true] {
                    let shown = String::from_utf8_lossy(&body);
                    let said = format!("{status} {shown} to {operation}, fresh: {fresh_reference}");
                    let verdict = judge(operation, &expectation, &raw(status, &body));
                    let creation = operation.creates();
                    let standing =
                        StepContext { creation, removal: false, fresh_reference, token_refusals: 0 };
                    let (settled, _) = settle(standing, verdict);

                    let page = [404, 405, 415].contains(&status);
                    let told = status == 200 || page;
                    let proof = match form {
                        Form::Coded("rateLimitExceeded" | "quotaLimitExceeded")
                        | Form::Word("rateLimitExceeded" | "quotaLimitExceeded")
                            if status == 429 =>
                        {
                            true
                        }
                        Form::Coded("invalid_token" | "invalid_client" | "unauthorizedSource")
                        | Form::Word("invalid_token" | "invalid_client" | "unauthorizedSource")
                            if status == 401 =>
                        {
                            true
                        }
                        Form::Page => page,
                        Form::Word(word) => page && word != "internalServerError",
                        Form::Coded("noDataFound") => told && fresh_reference,
                        Form::Ok | Form::Coded(_) | Form::Odd => false,
                    };
                    let again = matches!(
                        settled,
                        Settled::Returned { .. } | Settled::Deferred { .. } | Settled::Unseen(_)
                    );
                    assert_eq!(again, proof, "{said}: {settled:?}");
                    proofs += u32::from(proof);
                    // Nor does anything else settle a row without the service having said so.
                    match settled {
                        Settled::Done { .. } | Settled::Held { .. } => {
                            assert_eq!((status, form), (200, Form::Ok), "{said}");
                        }
                        Settled::Rejected(rejection) => {
                            assert!(told && form == Form::Coded(code_of(&rejection.code)), "{said}");
                        }
                        Settled::InDoubt(doubt) => {
                            let none = form == Form::Ok && status == 200;
                            assert!(
                                !doubt.executed() || none || form == Form::Coded("duplicateEntity"),
                                "{said}"
                            );
                        }
                        Settled::Returned { .. } | Settled::Deferred { .. } | Settled::Unseen(_) => {}
                    }
                }
            }
        }
    }
    assert!(proofs > 500, "{proofs}");
}

/// The codes that reject a row.
fn code_of(code: &str) -> &'static str {
    [
        "invalidParam",
        "malformedJsonInput",
        "invalidData",
        "invalidState",
        "generalError",
        "noDataFound",
        "duplicateEntity",
    ]
    .into_iter()
    .find(|&known| known == code)
    .unwrap_or_else(|| panic!("{code} rejects nothing"))
}

#[test]
fn an_answer_that_is_too_large_proves_nothing_whatever_its_status() {
    let body = vec![b'<'; 1024 * 1024 + 1];
    for (status, expected) in
        [(200, "unreadable"), (401, "unreadable"), (404, "unreadable"), (429, "unreadable"), (503, "server")]
    {
        for operation in [Operation::AddDevice, Operation::PutDeviceLabels] {
            assert_eq!(word(&judge(operation, &device(), &raw(status, &body))), expected, "{status}");
        }
    }
}
