//! The token under many workers, short lives and failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{FakeClock, FakeTransport, SECRET, answer, client};
use crate::clock::Clock;
use crate::model::id::RemoteId;
use crate::model::verdict::{Doubt, NotSent, Refusal, Verdict};
use crate::service::client::{Answer, Client};
use crate::service::lookup::Lookup;
use crate::service::transport::SendFailure;

const OK: &str = r#"{"status":"OK"}"#;

/// A call that any token will do for.
fn call() -> crate::service::call::Call {
    Lookup::PeopleOf(RemoteId::from_u128(1)).call()
}

/// Numbers the tokens 1, 2, 3 …, each with this `expires_in` as written.
fn tokens(expires_in: &'static str) -> impl Fn(&super::Seen) -> Option<String> {
    let count = AtomicUsize::new(0);
    move |seen| {
        seen.path.ends_with("/auth").then(|| {
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            format!(r#"{{"access_token":"token-{number}","token_type":"Bearer"{expires_in}}}"#)
        })
    }
}

/// What a hundred workers are answered that send at once.
async fn of_a_hundred_workers(client: &Client) -> Vec<Answer> {
    let workers: Vec<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.send(call()).await })
        })
        .collect();
    let mut answers = Vec::new();
    for worker in workers {
        answers.push(worker.await.unwrap());
    }
    answers
}

/// A service that grants tokens and says OK to everything.
fn granting(clock: &Arc<FakeClock>, expires_in: &'static str) -> Arc<FakeTransport> {
    let tokens = tokens(expires_in);
    FakeTransport::new(clock, move |seen| answer(200, &tokens(seen).unwrap_or_else(|| OK.to_owned())))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_workers_share_one_request_for_a_token() {
    let clock = FakeClock::start();
    let transport = granting(&clock, r#","expires_in":14400"#);
    let client = client(&clock, &transport);
    for answer in of_a_hundred_workers(&client).await {
        assert!(matches!(answer.verdict, Verdict::Succeeded(_)));
    }
    assert_eq!(transport.logins().len(), 1);
    assert_eq!(transport.seen().len(), 101);
    let sent = transport.seen();
    assert!(sent[1..].iter().all(|seen| seen.authorization.as_deref() == Some("Bearer token-1")));
}

#[tokio::test]
async fn the_login_is_the_form_of_the_specification() {
    let clock = FakeClock::start();
    let transport = granting(&clock, "");
    client(&clock, &transport).authenticate().await.unwrap();
    let login = transport.seen().remove(0);
    assert_eq!(login.path, "/device-api/auth/v1/auth");
    assert_eq!(login.content_type.as_deref(), Some("application/x-www-form-urlencoded; charset=utf-8"));
    assert_eq!(login.body, "client_id=tester&client_secret=s3cret%2Fand%2Bmore");
    assert_eq!(login.authorization, None);
}

#[tokio::test]
async fn a_hundred_refusals_of_one_token_lead_to_one_new_token_and_no_resend() {
    let clock = FakeClock::start();
    let tokens = tokens("");
    let transport = FakeTransport::new(&clock, move |seen| match tokens(seen) {
        Some(token) => answer(200, &token),
        None if seen.authorization.as_deref() == Some("Bearer token-1") => {
            answer(401, r#"{"error":"invalid_token"}"#)
        }
        None => answer(200, OK),
    });
    let client = client(&clock, &transport);
    client.authenticate().await.unwrap();
    for (round, expected_logins) in [(1, 1), (2, 2)] {
        for Answer { verdict, .. } in of_a_hundred_workers(&client).await {
            assert_eq!(verdict == Verdict::TokenInvalid, round == 1, "round {round}: {verdict:?}");
        }
        assert_eq!(transport.logins().len(), expected_logins);
        assert_eq!(transport.seen().len(), round * 100 + expected_logins, "each call is sent once");
    }
}

#[tokio::test]
async fn a_late_refusal_of_an_old_token_does_not_drop_the_new_one() {
    let clock = FakeClock::start();
    let transport = granting(&clock, "");
    let (clock, transport): (Arc<dyn Clock>, Arc<dyn crate::service::transport::Transport>) =
        (clock, transport);
    let keeper = crate::service::token::Keeper::new(
        crate::service::token::Login {
            method: crate::model::operation::Method::Post,
            url: url::Url::parse("https://service.example/auth").unwrap(),
            client_id: "tester".to_owned(),
            client_secret: SECRET.into(),
        },
        transport,
        clock,
    );
    let first = keeper.token().await.unwrap();
    keeper.refused(first.generation);
    let second = keeper.token().await.unwrap();
    assert!(second.generation > first.generation);
    keeper.refused(first.generation);
    assert_eq!(keeper.token().await.unwrap().generation, second.generation);
}

#[tokio::test]
async fn tokens_are_asked_for_at_most_once_a_second() {
    let clock = FakeClock::start();
    let tokens = tokens("");
    let transport = FakeTransport::new(&clock, move |seen| match tokens(seen) {
        Some(token) => answer(200, &token),
        None => answer(401, r#"{"error":"invalid_token"}"#),
    });
    let client = client(&clock, &transport);
    for _ in 0..5 {
        assert_eq!(client.send(call()).await.verdict, Verdict::TokenInvalid);
    }
    let starts: Vec<_> = transport.logins().iter().map(|seen| seen.at.as_millis()).collect();
    assert_eq!(starts, [0, 1000, 2000, 3000, 4000]);
}

#[tokio::test]
async fn a_token_of_two_seconds_is_renewed_before_its_end_and_not_for_every_call() {
    let clock = FakeClock::start();
    let transport = granting(&clock, r#","expires_in":2"#);
    let client = client(&clock, &transport);
    for _ in 0..1000 {
        assert!(matches!(client.send(call()).await.verdict, Verdict::Succeeded(_)));
        clock.advance(Duration::from_millis(10));
    }
    let starts: Vec<_> = transport.logins().iter().map(|seen| seen.at.as_millis()).collect();
    assert_eq!(starts, [0, 1800, 3600, 5400, 7200, 9000]);
}

#[tokio::test]
async fn a_token_of_four_hours_is_renewed_a_minute_before_its_end() {
    let clock = FakeClock::start();
    let transport = granting(&clock, r#","expires_in":14400"#);
    let client = client(&clock, &transport);
    for (at, logins) in [(0, 1), (14_339, 1), (14_340, 2), (14_400, 2)] {
        clock.set(Duration::from_secs(at));
        client.send(call()).await;
        assert_eq!(transport.logins().len(), logins, "after {at} s");
    }
}

#[tokio::test]
async fn a_token_that_expired_while_the_machine_slept_is_not_sent() {
    let clock = FakeClock::start();
    let transport = granting(&clock, r#","expires_in":14400"#);
    let client = client(&clock, &transport);
    client.send(call()).await;
    clock.advance(Duration::from_secs(2));
    clock.suspend(Duration::from_secs(8 * 60 * 60));
    client.send(call()).await;
    let last = transport.seen().pop().unwrap();
    assert_eq!(last.authorization.as_deref(), Some("Bearer token-2"));
}

#[tokio::test]
async fn a_life_that_makes_no_sense_leaves_renewal_to_the_first_refusal() {
    for expires_in in [
        "",
        r#","expires_in":null"#,
        r#","expires_in":0"#,
        r#","expires_in":-5"#,
        r#","expires_in":1e300"#,
        r#","expires_in":99999999999"#,
        r#","expires_in":"soon""#,
        r#","expires_in":[]"#,
    ] {
        let clock = FakeClock::start();
        let transport = granting(&clock, expires_in);
        let client = client(&clock, &transport);
        assert_eq!(client.authenticate().await.unwrap().expires_in, None, "{expires_in}");
        for _ in 0..10 {
            clock.advance(Duration::from_secs(1_000_000));
            client.send(call()).await;
        }
        assert_eq!(transport.logins().len(), 1, "{expires_in}");
    }
    let clock = FakeClock::start();
    let transport = granting(&clock, r#","expires_in":"14400""#);
    let info = client(&clock, &transport).authenticate().await.unwrap();
    assert_eq!(info.expires_in, Some(Duration::from_secs(14_400)), "a number written as text is a number");
}

#[tokio::test]
async fn while_renewal_fails_a_token_that_is_still_good_is_used() {
    let clock = FakeClock::start();
    let tokens = tokens(r#","expires_in":1000"#);
    let down = Arc::new(AtomicUsize::new(0));
    let is_down = Arc::clone(&down);
    let transport = FakeTransport::new(&clock, move |seen| match tokens(seen) {
        Some(_) if is_down.load(Ordering::SeqCst) == 1 => answer(503, "<html>"),
        Some(token) => answer(200, &token),
        None => answer(200, OK),
    });
    let client = client(&clock, &transport);
    client.send(call()).await;
    down.store(1, Ordering::SeqCst);
    clock.set(Duration::from_secs(950));
    assert!(matches!(client.send(call()).await.verdict, Verdict::Succeeded(_)));
    assert!(matches!(client.send(call()).await.verdict, Verdict::Succeeded(_)));
    assert_eq!(transport.logins().len(), 2, "the second call does not wait for another try");
    clock.set(Duration::from_secs(1000));
    assert!(matches!(client.send(call()).await.verdict, Verdict::NotSent(NotSent::NoToken(_))));
    down.store(0, Ordering::SeqCst);
    assert!(matches!(client.send(call()).await.verdict, Verdict::Succeeded(_)));
}

#[tokio::test]
async fn all_who_wait_share_a_failure() {
    let clock = FakeClock::start();
    let transport = FakeTransport::new(&clock, |_| answer(503, "<html>down</html>"));
    let client = client(&clock, &transport);
    for answer in of_a_hundred_workers(&client).await {
        assert!(matches!(answer.verdict, Verdict::NotSent(NotSent::NoToken(_))));
        assert_eq!(answer.status, None);
    }
    assert_eq!(transport.seen().len(), 1, "one request for a token, and no call without one");
}

#[tokio::test]
async fn what_the_login_answers_decides_what_a_call_comes_to() {
    let no_token = |why: &str| Verdict::NotSent(NotSent::NoToken(why.to_owned()));
    let refused = r#"{"status":"FAILED","error":{"errorCode":"unauthorizedSource","message":"no"}}"#;
    let general =
        format!(r#"{{"status":"FAILED","error":{{"errorCode":"generalError","message":"not {SECRET}"}}}}"#);
    let useless = no_token("asked for a token, the answer held none that can be used");
    let table = [
        (answer(401, r#"{"error":"invalid_client"}"#), Verdict::Refused(Refusal::InvalidClient)),
        (answer(401, refused), Verdict::Refused(Refusal::UnauthorizedSource)),
        (answer(404, "<html>"), Verdict::EndpointMissing(404)),
        (answer(503, ""), no_token("asked for a token, the service reported an error of its own")),
        (answer(302, ""), no_token("asked for a token, the service answered with a redirect")),
        (
            answer(429, r#"{"errorCode":"rateLimitExceeded"}"#),
            no_token("asked for a token, the service said that it is asked too often"),
        ),
        (
            answer(200, &general),
            no_token("asked for a token, the service answered generalError: not [removed]"),
        ),
        (
            answer(200, "\n<html>"),
            no_token(
                "asked for a token, the answer is a web page: perhaps base_url is wrong, or a proxy or the sign-in page \
                 of a network answered",
            ),
        ),
        (
            answer(413, "<html>"),
            no_token(
                "asked for a token, the answer is a web page with the status 413: perhaps base_url is wrong, or a proxy or the \
                 sign-in page of a network answered",
            ),
        ),
        (
            answer(407, ""),
            no_token(
                "asked for a token, the service answered with a code that it does not document (status 407)",
            ),
        ),
        (
            answer(200, "welcome"),
            no_token("asked for a token, the answer is not one that the service documents"),
        ),
        (answer(200, OK), no_token("asked for a token, the answer is not one that the service documents")),
        (answer(200, "{}"), useless.clone()),
        (answer(200, r#"{"access_token":""}"#), useless.clone()),
        (answer(200, r#"{"access_token":7}"#), useless.clone()),
        (answer(200, r#"{"access_token":"a b"}"#), useless.clone()),
        (answer(200, r#"{"access_token":"a\r\nb: c"}"#), useless.clone()),
        (answer(200, &format!(r#"{{"access_token":"{}"}}"#, "x".repeat(10_000))), useless),
        (
            answer(200, r#"{"access_token":"abc","token_type":"MAC"}"#),
            no_token("asked for a token, the service gave one that is not of the type Bearer"),
        ),
        (
            Err(SendFailure::Doubtful(Doubt::Timeout)),
            no_token("asked for a token, the service did not answer in time"),
        ),
        (
            Err(SendFailure::NotSent(NotSent::NoConnection("refused".into()))),
            Verdict::NotSent(NotSent::NoConnection("refused".into())),
        ),
    ];
    for (answered, expected) in table {
        let clock = FakeClock::start();
        let said = format!("{answered:?}");
        let answered = std::sync::Mutex::new(Some(answered));
        let transport = FakeTransport::new(&clock, move |_| answered.lock().unwrap().take().unwrap());
        assert_eq!(client(&clock, &transport).authenticate().await, Err(expected), "{said}");
    }
}

#[tokio::test]
async fn a_missing_address_for_tokens_is_not_taken_for_a_missing_operation() {
    let clock = FakeClock::start();
    let transport = FakeTransport::new(&clock, |_| answer(404, "<html>"));
    match client(&clock, &transport).send(call()).await.verdict {
        Verdict::NotSent(NotSent::NoToken(why)) => assert!(why.contains("[endpoints.auth]"), "{why}"),
        other => panic!("{other:?}"),
    }
}
