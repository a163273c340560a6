//! A receiver of webhooks on a socket of its own, which answers as a test says and keeps what it got.

#![allow(dead_code, reason = "every test uses a part of it")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver as Inbox, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// What a request is answered with.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    Status(u16),
    /// A redirect to this address.
    Redirect(String),
    /// Nothing, with the connection kept open.
    Hang,
    /// Nothing: the connection is closed.
    Close,
    /// 200, with a body that does not end.
    Flood,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct Got {
    /// Names in small letters.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl Got {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// See the module.
pub(super) struct Receiver {
    port: u16,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    got: Inbox<Got>,
}

impl Receiver {
    /// One that answers 204.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let replies: Arc<Mutex<VecDeque<Reply>>> = Arc::default();
        let (tell, got) = channel();
        let script = Arc::clone(&replies);
        thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                kept.extend(serve(stream, &script, &tell));
            }
        });
        Self { port, replies, got }
    }

    /// Answers the next requests like this, and those after them with 204.
    pub(super) fn replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().expect("a script").extend(replies);
    }

    /// Answers everything with 204, whatever was said before.
    pub(super) fn takes_all_from_now(&self) {
        self.replies.lock().expect("a script").clear();
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hooks/T0-hidden-token", self.port)
    }

    /// What came until now.
    pub(super) fn got(&self) -> Vec<Got> {
        self.got.try_iter().collect()
    }

    /// Waits for the next request.
    pub(super) fn next(&self) -> Got {
        self.got.recv().expect("a request")
    }

    /// The events that came until now.
    pub(super) fn events(&self) -> Vec<String> {
        self.got().iter().map(|got| got.json()["event"].as_str().expect("an event").to_owned()).collect()
    }
}

/// Takes one request and answers it; gives a connection back that is to stay open.
fn serve(stream: TcpStream, script: &Mutex<VecDeque<Reply>>, tell: &Sender<Got>) -> Option<TcpStream> {
    let mut reader = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    let mut line = String::new();
    // A connection without a request, such as one that was only tried.
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let reply = script.lock().expect("a script").pop_front().unwrap_or(Reply::Status(204));
    let body = String::from_utf8(body).expect("UTF-8");
    // The test may have ended.
    let _gone = tell.send(Got { headers, body });
    let mut stream = reader.into_inner();
    let head = match reply {
        Reply::Status(status) => format!("{status} Told\r\nContent-Length: 0"),
        Reply::Redirect(to) => format!("302 Found\r\nLocation: {to}\r\nContent-Length: 0"),
        Reply::Hang => return Some(stream),
        Reply::Close => return None,
        Reply::Flood => "200 OK\r\nContent-Length: 100000000".to_owned(),
    };
    let is_flood = head.starts_with("200 OK");
    stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes()).ok()?;
    while is_flood && stream.write_all(&[b'x'; 65_536]).is_ok() {}
    None
}
