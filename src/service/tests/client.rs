//! The client over real sockets: answers cut anywhere, refusals, redirects, silence; and what it keeps to itself.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{FakeClock, FakeTransport, SECRET, answer, config};
use crate::clock::SystemClock;
use crate::error::ErrorKind;
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::verdict::{Doubt, NotSent, Verdict};
use crate::service::call::Call;
use crate::service::client::Client;
use crate::service::config::{Config, Proxy};
use crate::service::endpoint::{Endpoints, Paths};
use crate::service::lookup::Lookup;
use crate::service::tests::client;

const ID: &str = "6f2b6f0a-0000-4000-8000-000000000001";
const TOKEN: &str = "eyJ0b2tlbiI6.the-token";

/// What the server does with a request that is not for a token.
#[derive(Clone)]
enum Reply {
    /// Writes these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Says nothing and keeps the connection.
    Silence,
    /// Writes these bytes, then says nothing more and keeps the connection.
    Stall(Vec<u8>),
}

/// A server on a port of its own that answers every request but those for a token with the reply at hand.
struct Server {
    base: String,
    reply: Arc<Mutex<Reply>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let reply = Arc::new(Mutex::new(reply));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (replies, seen) = (Arc::clone(&reply), Arc::clone(&heads));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&replies), Arc::clone(&seen)));
            }
        });
        Self { base, reply, heads }
    }

    fn answers(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// The requests that were not for a token, up to the end of their headers.
    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    fn client(&self) -> Client {
        Client::new(config(&self.base), SystemClock::start()).unwrap()
    }
}

async fn serve(mut stream: TcpStream, reply: Arc<Mutex<Reply>>, heads: Arc<Mutex<Vec<String>>>) {
    let Some(head) = request_head(&mut stream).await else { return };
    if head.starts_with("POST /device-api/auth/v1/auth ") {
        let body = json!({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 14400}).to_string();
        let _ = stream.write_all(&http("200 OK", &body)).await;
        return;
    }
    heads.lock().unwrap().push(head);
    let reply = reply.lock().unwrap().clone();
    let (bytes, stays) = match reply {
        Reply::Bytes(bytes) => (bytes, false),
        Reply::Silence => (Vec::new(), true),
        Reply::Stall(bytes) => (bytes, true),
    };
    let _ = stream.write_all(&bytes).await;
    if stays {
        // Until the client goes away.
        let _ = stream.read(&mut [0; 64]).await;
    }
}

/// Reads one whole request and returns its head.
async fn request_head(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let mut more = [0; 4096];
        match stream.read(&mut more).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => read.extend_from_slice(&more[..count]),
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut left = (end + 4 + length).saturating_sub(read.len());
    while left > 0 {
        match stream.read(&mut [0; 4096]).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => left = left.saturating_sub(count),
        }
    }
    Some(String::from_utf8_lossy(&read[..end]).into_owned())
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nDate: Sun, 01 Mar 2026 23:59:59 GMT\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn creation() -> Call {
    let body = json!({"name": "Till", "companyId": ID, "address": {"address1": "1 High St"}});
    Call { operation: Operation::AddDevice, parameters: Vec::new(), body: Some(body) }
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_never_taken_for_a_success() {
    let body =
        json!({"status": "OK", "body": {"id": ID, "name": "Till", "companyName": "Caf\u{e9}"}}).to_string();
    let until_close = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}").into_bytes();
    let (left, right) = body.split_at(40);
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{left}\r\n{:x}\r\n{right}\r\n0\r\n\r\n",
        left.len(),
        right.len()
    )
    .into_bytes();
    let server = Server::start(Reply::Silence).await;
    let client = server.client();
    for whole in [http("200 OK", &body), until_close, chunked] {
        for cut in 0..whole.len() {
            server.answers(Reply::Bytes(whole[..cut].to_vec()));
            let answer = client.send(creation()).await;
            assert!(
                matches!(
                    answer.verdict,
                    Verdict::Doubtful(Doubt::Disconnected | Doubt::Truncated | Doubt::Unreadable)
                ),
                "cut after {cut} of {}: {:?}",
                whole.len(),
                answer.verdict
            );
        }
        server.answers(Reply::Bytes(whole.clone()));
        let answer = client.send(creation()).await;
        match &answer.verdict {
            Verdict::Succeeded(success) => assert_eq!(success.id.unwrap().to_string(), ID),
            other => panic!("{other:?}"),
        }
        assert_eq!((answer.status, answer.excerpt), (Some(200), None));
    }
}

#[tokio::test]
async fn a_cut_answer_is_sent_once_and_told_by_where_it_was_cut() {
    let whole = http("200 OK", r#"{"status":"OK"}"#);
    let head = whole.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let server = Server::start(Reply::Silence).await;
    let client = server.client();
    for (reply, expected) in [
        (&whole[..0], Doubt::Disconnected),
        (&whole[..head - 1], Doubt::Disconnected),
        (&whole[..head], Doubt::Truncated),
        (&whole[..whole.len() - 1], Doubt::Truncated),
        (b"SSH-2.0-OpenSSH_9.9\r\n", Doubt::Unreadable),
        (b"HTTP/1.1 200 OK\r\nBad Header\r\n\r\n", Doubt::Unreadable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", Doubt::Unreadable),
    ] {
        server.answers(Reply::Bytes(reply.to_vec()));
        let before = server.heads().len();
        let verdict = client.send(creation()).await.verdict;
        assert_eq!(verdict, Verdict::Doubtful(expected), "{}", String::from_utf8_lossy(reply));
        assert_eq!(server.heads().len(), before + 1, "nothing is sent a second time");
    }
}

#[tokio::test]
async fn a_refused_connection_is_the_proof_that_nothing_was_sent() {
    let clock = FakeClock::start();
    // The port is free again once the listener is gone, and nothing else is told to use it.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let client = Client::new(config(&format!("http://127.0.0.1:{port}")), clock).unwrap();
    let answer = client.send(creation()).await;
    match &answer.verdict {
        Verdict::NotSent(NotSent::NoConnection(words)) => {
            assert!(words.contains("onnect"), "{words}");
            assert!(!words.contains("device-api"), "{words}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((answer.status, answer.date), (None, None));
}

#[tokio::test]
async fn a_service_that_goes_away_after_the_token_was_had_is_not_sent_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(config(&base), SystemClock::start()).unwrap();
    let one_login = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        request_head(&mut stream).await.unwrap();
        let body = format!(r#"{{"access_token":"{TOKEN}"}}"#);
        stream.write_all(&http("200 OK", &body)).await.unwrap();
        drop(listener);
    };
    let (token, ()) = tokio::join!(client.authenticate(), one_login);
    assert!(token.is_ok());
    assert!(matches!(client.send(creation()).await.verdict, Verdict::NotSent(NotSent::NoConnection(_))));
}

#[tokio::test]
async fn a_connection_that_is_never_accepted_is_not_sent_either() {
    // A queue of one that is full lets nobody in, and says nothing.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..16 {
        waiting.spawn(TcpStream::connect(address));
    }
    tokio::task::yield_now().await;
    let config = Config {
        request_timeout: Duration::from_secs(60),
        connect_timeout: Duration::from_millis(50),
        ..config(&format!("http://{address}"))
    };
    let client = Client::new(config, SystemClock::start()).unwrap();
    let verdict = client.send(creation()).await.verdict;
    assert!(matches!(verdict, Verdict::NotSent(NotSent::NoConnection(_))), "{verdict:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::start(Reply::Bytes(http("200 OK", r#"{"status":"OK"}"#))).await;
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let to = format!("HTTP/1.1 {status}\r\nLocation: {}/x\r\nContent-Length: 0\r\n\r\n", elsewhere.base);
        let server = Server::start(Reply::Bytes(to.into_bytes())).await;
        let verdict = server.client().send(creation()).await.verdict;
        assert_eq!(verdict, Verdict::Doubtful(Doubt::Redirect), "{status}");
        assert_eq!(server.heads().len(), 1);
    }
    assert_eq!(elsewhere.heads(), Vec::<String>::new());
}

#[tokio::test]
async fn no_answer_in_time_is_a_doubt_wherever_it_stops() {
    let whole = http("200 OK", r#"{"status":"OK"}"#);
    let server = Server::start(Reply::Silence).await;
    let quick = Config { request_timeout: Duration::from_millis(100), ..config(&server.base) };
    for reply in
        [Reply::Silence, Reply::Stall(whole[..20].to_vec()), Reply::Stall(whole[..whole.len() - 1].to_vec())]
    {
        // The token is had before the short time begins to count.
        let client = Client::new(quick.clone(), SystemClock::start()).unwrap();
        while client.authenticate().await.is_err() {}
        server.answers(reply);
        assert_eq!(client.send(creation()).await.verdict, Verdict::Doubtful(Doubt::Timeout));
    }
}

#[tokio::test]
async fn an_answer_without_end_is_left_at_the_limit() {
    let mut endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"status\":\"OK\",\"body\":\"".to_vec();
    endless.resize(2 * 1024 * 1024, b'x');
    let server = Server::start(Reply::Stall(endless)).await;
    let answer = server.client().send(creation()).await;
    assert_eq!(answer.verdict, Verdict::Doubtful(Doubt::Unreadable));
    assert_eq!(answer.excerpt.unwrap().chars().count(), 500);
}

#[tokio::test]
async fn a_request_carries_what_the_specification_asks_for() {
    let server = Server::start(Reply::Bytes(http("200 OK", r#"{"status":"OK"}"#))).await;
    let client = server.client();
    let answer = client.send(creation()).await;
    assert_eq!(answer.date.unwrap().to_string(), "2026-03-01T23:59:59Z");
    client.send(Lookup::DevicesByName { name: "Till & Co".into(), company: None }.call()).await;
    let heads = server.heads();
    assert!(heads[0].starts_with("POST /device-api/config/v1/addDevice HTTP/1.1\r\n"), "{}", heads[0]);
    assert!(
        heads[1].starts_with("GET /device-api/config/v1/findDevicesByName?name=Till%20%26%20Co HTTP/1.1\r\n")
    );
    for head in &heads {
        let head = head.to_ascii_lowercase();
        assert!(head.contains("\r\naccept: application/json\r\n"), "{head}");
        assert!(
            head.contains(&format!("\r\nauthorization: bearer {}", TOKEN.to_ascii_lowercase())),
            "{head}"
        );
        assert!(head.contains("\r\nuser-agent: fleetload/"), "{head}");
    }
    assert!(heads[0].to_ascii_lowercase().contains("\r\ncontent-type: application/json; charset=utf-8\r\n"));
    assert!(!heads[1].to_ascii_lowercase().contains("content-type"));
}

#[tokio::test]
async fn a_request_that_may_have_a_body_says_that_it_has_none() {
    let server = Server::start(Reply::Bytes(http("200 OK", r#"{"status":"OK"}"#))).await;
    for (operation, is_said) in [
        (Operation::DeleteSiteMetadata, true),
        (Operation::DeleteInterfaceLabel, true),
        (Operation::GetDevice, false),
    ] {
        let call = Call::reading(operation, std::iter::repeat(ID.to_owned()));
        server.client().send(call).await;
        let head = server.heads().pop().unwrap().to_ascii_lowercase();
        assert_eq!(head.contains("\r\ncontent-length: 0"), is_said, "{head}");
    }
    assert_eq!(server.heads().len(), 3);
}

#[tokio::test]
async fn neither_token_nor_secret_comes_back_in_an_answer_or_is_shown() {
    let clock = FakeClock::start();
    let transport = FakeTransport::new(&clock, |seen| {
        if seen.path.ends_with("/auth") {
            return answer(200, &json!({ "access_token": TOKEN }).to_string());
        }
        let echo = format!("you said {TOKEN} and {SECRET}");
        let body = match seen.path.rsplit('/').next().unwrap() {
            "addDevice" => json!({"status": "FAILED", "error": {"errorCode": "invalidData", "message": echo,
                "errorDetails": {"violations": [{"path": echo, "message": echo}]}}}),
            "addPerson" => json!({"status": "OK", "body": {"username": echo}}),
            _ => json!({"status": "FAILED", "error": {"errorCode": "odd", "message": echo}}),
        };
        answer(200, &body.to_string())
    });
    let client = client(&clock, &transport);
    for (operation, verdict) in [
        (Operation::AddDevice, "Rejected"),
        (Operation::AddPerson, "Contradicted"),
        (Operation::AddSite, "Doubtful"),
    ] {
        let body = json!({"name": "x", "username": "x"});
        let answer = client.send(Call { operation, parameters: Vec::new(), body: Some(body) }).await;
        let shown = format!("{answer:?} {client:?}");
        assert!(shown.contains(verdict), "{shown}");
        assert!(shown.contains("[removed]"), "{shown}");
        assert!(!shown.contains(TOKEN) && !shown.contains(SECRET), "{shown}");
    }
    let config = config("https://service.example");
    assert!(!format!("{config:?}").contains(SECRET));
}

#[tokio::test]
async fn what_cannot_be_sent_is_said_without_asking_for_a_token() {
    let clock = FakeClock::start();
    let transport = FakeTransport::new(&clock, |_| answer(500, ""));
    let documented = Config {
        endpoints: Endpoints::new(Paths::Documented, std::collections::BTreeMap::new()).unwrap(),
        ..config("https://service.example")
    };
    let client = Client::with_transport(documented, clock.clone(), transport.clone());
    let site = Call { operation: Operation::AddSite, parameters: Vec::new(), body: Some(json!({})) };
    assert_eq!(client.send(site).await.verdict, Verdict::EndpointMissing(0));
    for parameters in [vec![], vec![("id", "..".to_owned())], vec![("id", String::new())]] {
        let call = Call { operation: Operation::GetDevice, parameters, body: None };
        match client.send(call).await.verdict {
            Verdict::Rejected(rejection) => assert_eq!(rejection.code, "request.parameter"),
            other => panic!("{other:?}"),
        }
    }
    assert!(transport.seen().is_empty());
}

#[tokio::test]
async fn a_base_address_with_a_path_keeps_it() {
    let clock = FakeClock::start();
    let transport = FakeTransport::new(&clock, |_| answer(200, r#"{"access_token":"abcd"}"#));
    for base in ["https://gateway.example/tenant/7", "https://gateway.example/tenant/7/"] {
        let client = Client::with_transport(config(base), clock.clone(), transport.clone());
        client.send(Lookup::Device(RemoteId::from_u128(1)).call()).await;
    }
    let paths: Vec<_> = transport.seen().into_iter().map(|seen| seen.path).collect();
    let get = "/tenant/7/device-api/config/v1/getDevice/00000000-0000-0000-0000-000000000001";
    let auth = "/tenant/7/device-api/auth/v1/auth";
    assert_eq!(paths, [auth, get, auth, get]);
}

#[test]
fn secrets_go_out_over_https_or_not_at_all() {
    let made = |base: &str| Client::new(config(base), FakeClock::start()).map(|_| ());
    for base in [
        "http://127.0.0.1:1",
        "http://LOCALHOST.:1",
        "http://localhost:1",
        "http://[::1]:1/x",
        "http://127.8.9.1",
    ] {
        assert!(made(base).is_ok(), "{base}");
    }
    for base in [
        "http://service.example",
        "http://localhost.example",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "ftp://127.0.0.1",
        "data:text/plain,x",
        "https://user@service.example",
        "https://:pass@service.example",
        "https://service.example/?tenant=7",
        "https://service.example/#top",
    ] {
        let error = made(base).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{base}");
        assert!(error.next_step().is_some(), "{base}");
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
}

#[test]
fn a_certificate_file_that_cannot_be_used_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    let made = || {
        let config = Config {
            ca_file: Some(file.clone()),
            proxy: Proxy::Ignored,
            ..config("https://service.example")
        };
        Client::new(config, FakeClock::start()).map(|_| ()).unwrap_err()
    };
    assert!(made().what().contains("cannot be read"));
    std::fs::write(&file, "not a certificate").unwrap();
    let error = made();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.what().contains("ca.pem"), "{error}");
}
