//! The server and every fault, seen by a real client over a real socket.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, StatusCode, redirect};
use serde_json::Value;

use super::{device, site};
use crate::sandbox::{
    Fault, FaultKind, LedgerEntry, Running, Sandbox, SandboxError, Scenario, Statistics, bind, wall_clock,
};

/// Long enough for any answer on loopback; the tests that wait for it to pass are those of answers that never come.
const PATIENCE: Duration = Duration::from_millis(1500);

struct Visit {
    running: Running,
    client: Client,
    token: String,
}

impl Visit {
    async fn new(scenario: Scenario) -> Self {
        let sandbox = Arc::new(Sandbox::new(scenario, wall_clock()).unwrap());
        let running = Running::start(sandbox).await.unwrap();
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .timeout(PATIENCE)
            .build()
            .unwrap();
        let mut visit = Self { running, client, token: String::new() };
        let answer = visit
            .client
            .post(visit.at("/device-api/auth/v1/auth"))
            .form(&[("client_id", "acme"), ("client_secret", "open sesame")])
            .send()
            .await
            .unwrap();
        let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        visit.token = body["access_token"].as_str().unwrap().to_owned();
        visit
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.running.base_url())
    }

    async fn add(&self, operation: &str, body: &Value) -> Seen {
        let sent = self
            .client
            .post(self.at(&format!("/device-api/config/v1/{operation}")))
            .bearer_auth(&self.token)
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) if error.is_timeout() => return Seen::Nothing,
            Err(_) => return Seen::Broken,
        };
        let status = answer.status();
        let dated = answer.headers().contains_key("date");
        match answer.bytes().await {
            Ok(bytes) => Seen::Answer { status, dated, text: String::from_utf8_lossy(&bytes).into_owned() },
            Err(_) => Seen::Broken,
        }
    }

    async fn control(&self, path: &str) -> String {
        let answer = self.client.get(self.at(path)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer.text().await.unwrap()
    }

    async fn statistics(&self) -> Statistics {
        serde_json::from_str(&self.control("/sandbox/statistics").await).unwrap()
    }

    async fn ledger(&self) -> Vec<LedgerEntry> {
        let lines = self.control("/sandbox/ledger").await;
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// What the client sees.
#[derive(Debug)]
enum Seen {
    Answer {
        status: StatusCode,
        dated: bool,
        text: String,
    },
    /// The connection ended before the answer did.
    Broken,
    /// No end of the answer while the client was willing to wait.
    Nothing,
}

/// What a fault must show: how often the deed was done, and the answer as `status`, and a part of its text.
enum Shown {
    Says(u16, &'static str),
    Breaks,
    Hangs,
}

fn expected(kind: FaultKind) -> (usize, Shown) {
    use Shown::{Breaks, Hangs, Says};
    match kind {
        FaultKind::Latency => (1, Says(200, "\"OK\"")),
        FaultKind::RateLimitExceeded => (0, Says(429, "rateLimitExceeded")),
        FaultKind::QuotaExceeded => (0, Says(429, "quotaLimitExceeded")),
        FaultKind::Error500Before => (0, Says(500, "internalServerError")),
        FaultKind::Error500After => (1, Says(500, "internalServerError")),
        FaultKind::RequestLost | FaultKind::ResetBefore => (0, Breaks),
        FaultKind::AnswerLost | FaultKind::ResetAfter | FaultKind::AnswerCut => (1, Breaks),
        FaultKind::AnswerDrip => (1, Says(200, "\"OK\"")),
        FaultKind::StallBefore => (0, Hangs),
        FaultKind::StallAfter => (1, Hangs),
        FaultKind::LateCommit => (1, Breaks),
        FaultKind::SentTwice => (2, Says(200, "\"OK\"")),
        FaultKind::Html200 => (1, Says(200, "<html>")),
        FaultKind::Html503Before => (0, Says(503, "<html>")),
        FaultKind::Html503After => (1, Says(503, "<html>")),
        FaultKind::CaptivePortal => (0, Says(200, "Sign in")),
        FaultKind::NotFound404 => (0, Says(404, "<html>")),
        FaultKind::MethodNotAllowed405 => (0, Says(405, "<html>")),
        FaultKind::UnsupportedMedia415 => (0, Says(415, "<html>")),
        FaultKind::TokenRevoked => (0, Says(401, "invalid_token")),
        FaultKind::InvalidClient => (0, Says(401, "invalid_client")),
        FaultKind::UnauthorizedSource => (0, Says(401, "unauthorizedSource")),
        FaultKind::NoDataFound => (0, Says(200, "noDataFound")),
        FaultKind::InvalidData => (0, Says(200, "request.region")),
        FaultKind::InvalidState => (0, Says(200, "invalidState")),
        FaultKind::GeneralError => (0, Says(200, "generalError")),
        FaultKind::UnknownCode => (1, Says(200, "subsystemUnsettled")),
        FaultKind::Redirect302 => (0, Says(302, "<html>")),
        FaultKind::OrphanSite => (1, Says(500, "internalServerError")),
        FaultKind::Vanished => (2, Says(200, "\"OK\"")),
        FaultKind::NameFolded => (1, Says(200, "\"PIER\"")),
        FaultKind::IdMissing => (1, Says(200, "\"body\":{\"name\":")),
        FaultKind::WrongId => (1, Says(200, "\"OK\"")),
        FaultKind::WrongName => (1, Says(200, "Pier (1)")),
        FaultKind::Garbled => (1, Says(200, "\u{fffd}")),
        FaultKind::DateMissing => (1, Says(200, "\"OK\"")),
    }
}

#[tokio::test]
async fn every_fault_fires_and_shows_itself_as_said() {
    for kind in FaultKind::ALL.iter().copied() {
        let fault = Fault::new("creations", kind).times(1).at(60);
        let visit = Visit::new(Scenario::default().with_fault(fault)).await;
        let (deeds, shown) = expected(kind);
        let seen = if kind == FaultKind::OrphanSite {
            let mut body = device("Till");
            body["customSiteName"] = Value::String("Pier".to_owned());
            visit.add("addDevice", &body).await
        } else {
            visit.add("addSite", &site("Pier")).await
        };
        match (&seen, shown) {
            (Seen::Answer { status, dated, text }, Shown::Says(wanted, part)) => {
                assert_eq!(status.as_u16(), wanted, "{}: {text}", kind.name());
                assert!(text.contains(part), "{}: {text}", kind.name());
                assert_eq!(*dated, kind != FaultKind::DateMissing, "{}", kind.name());
            }
            (Seen::Broken, Shown::Breaks) | (Seen::Nothing, Shown::Hangs) => {}
            _ => panic!("{} was seen as {seen:?}", kind.name()),
        }
        let ledger = visit.ledger().await;
        assert_eq!(ledger.len(), deeds, "{}", kind.name());
        if kind == FaultKind::WrongId {
            let Seen::Answer { text, .. } = &seen else {
                unreachable!("matched above");
            };
            assert!(!text.contains(&ledger[0].id.to_string()), "{text}");
        }
        let fired = visit.statistics().await.faults_fired;
        assert_eq!(fired.len(), 1, "{}: {fired:?}", kind.name());
        assert_eq!(fired[kind.name()], 1);
        visit.running.stop().await;
    }
}

#[tokio::test]
async fn once_a_fault_is_used_up_everything_is_well_on_the_next_request() {
    let fault = Fault::new("creations", FaultKind::AnswerCut).times(1).at(150);
    let visit = Visit::new(Scenario::default().with_fault(fault)).await;
    assert!(matches!(visit.add("addDevice", &device("d")).await, Seen::Broken));
    for _ in 0..3 {
        let seen = visit.add("addDevice", &device("d")).await;
        assert!(matches!(seen, Seen::Answer { status: StatusCode::OK, .. }), "{seen:?}");
    }
    assert_eq!(visit.ledger().await.len(), 4);
}

#[tokio::test]
async fn an_answer_can_be_cut_at_every_one_of_its_bytes() {
    let visit = Visit::new(Scenario { rate: 0, ..Scenario::default() }).await;
    let mut cuts = 0;
    for at in 0..10_000 {
        let fault = Fault::new("addSite", FaultKind::AnswerCut).at(at);
        visit.running.sandbox().change(|s| s.fault = vec![fault]).unwrap();
        match visit.add("addSite", &site("Pier")).await {
            Seen::Broken => cuts += 1,
            Seen::Answer { text, .. } => {
                assert!(text.ends_with("}}"), "whole only past its end: {text}");
                break;
            }
            Seen::Nothing => panic!("nothing at byte {at}"),
        }
    }
    let statistics = visit.statistics().await;
    assert!(cuts > 150, "{cuts}");
    assert_eq!(statistics.faults_fired["answer_cut"], cuts);
    assert_eq!(statistics.records["site"] as u64, cuts + 1);
}

#[tokio::test]
async fn faults_and_the_clock_can_be_changed_while_it_runs() {
    let fault = Fault::new("addSite", FaultKind::NotFound404);
    let visit = Visit::new(Scenario::default().with_fault(fault)).await;
    let control = async |path: &str, body: &'static str| {
        let answer = visit.client.post(visit.at(path)).body(body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let seen = visit.add("addSite", &site("s")).await;
    assert!(matches!(seen, Seen::Answer { status: StatusCode::NOT_FOUND, .. }));
    let (status, text) = control("/sandbox/scenario", "falt = []").await;
    assert_eq!(status, 400);
    assert!(text.contains("`fault`"), "{text}");
    assert_eq!(control("/sandbox/scenario", "fault = []\ndaily_quota = 1").await.0, 200);
    let seen = visit.add("addSite", &site("s")).await;
    assert!(matches!(seen, Seen::Answer { status: StatusCode::OK, .. }));
    let seen = visit.add("addSite", &site("s")).await;
    assert!(matches!(seen, Seen::Answer { status: StatusCode::TOO_MANY_REQUESTS, .. }));
    assert_eq!(control("/sandbox/clock", "{\"advance_seconds\": 86400}").await.0, 200);
    let seen = visit.add("addSite", &site("s")).await;
    assert!(matches!(seen, Seen::Answer { status: StatusCode::OK, .. }));
    let (_, text) = control("/sandbox/clock", "{\"set\": \"2030-01-02T03:04:05Z\"}").await;
    assert!(text.contains("2030-01-02T03:04:05"), "{text}");
    assert_eq!(control("/sandbox/clock", "{\"sett\": 1}").await.0, 400);
}

#[tokio::test]
async fn many_clients_at_once_are_answered_each_for_itself() {
    let visit = Arc::new(Visit::new(Scenario { rate: 0, ..Scenario::default() }).await);
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let visit = Arc::clone(&visit);
            tokio::spawn(async move {
                for round in 0..10 {
                    let name = format!("Site {number}-{round}");
                    let seen = visit.add("addSite", &site(&name)).await;
                    let Seen::Answer { text, .. } = seen else {
                        panic!("{seen:?}");
                    };
                    assert!(text.contains(&format!("\"{name}\"")), "{text}");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(visit.ledger().await.len(), 400);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_with_a_page() {
    let visit = Visit::new(Scenario::default()).await;
    let mut body = site("s");
    body["name"] = Value::String("x".repeat(1024 * 1024));
    // The refusal may come while the client is still writing, which some clients see as a broken connection.
    match visit.add("addSite", &body).await {
        Seen::Answer { status, .. } => assert_eq!(status.as_u16(), 413),
        Seen::Broken => {}
        Seen::Nothing => panic!("no answer"),
    }
    assert!(visit.ledger().await.is_empty());
}

#[tokio::test]
async fn it_listens_on_loopback_only() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let error = bind(address.parse().unwrap()).await.unwrap_err();
        assert!(matches!(error, SandboxError::NotLoopback(_)));
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    }
    let taken = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let again = bind(taken.local_addr().unwrap()).await;
    assert!(matches!(again, Err(SandboxError::Listen { .. })));
}

#[tokio::test]
async fn stopping_closes_connections_that_are_held() {
    let fault = Fault::new("addSite", FaultKind::StallAfter);
    let visit = Visit::new(Scenario::default().with_fault(fault)).await;
    let address = visit.running.address();
    let sandbox = Arc::clone(visit.running.sandbox());
    let client = visit.client.clone();
    let held = client
        .post(visit.at("/device-api/config/v1/addSite"))
        .bearer_auth(&visit.token)
        .header("content-type", "application/json")
        .body(site("s").to_string());
    let held = tokio::spawn(held.send());
    while sandbox.ledger(wall_clock()).is_empty() {
        tokio::task::yield_now().await;
    }
    visit.running.stop().await;
    assert!(held.await.unwrap().is_err());
    assert!(bind(address).await.is_ok(), "the port is free again");
}
