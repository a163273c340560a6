//! Stands between the product and the simulated service and does to requests and answers what no HTTP server would:
//! resets before a request is read, answers of any bytes, TLS. Plain sockets and a thread for each connection.

#![allow(dead_code, reason = "every test file uses a part of the relay")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use crate::bench::Bench;

/// What becomes of one request.
pub(crate) enum Act {
    /// The service answers it.
    Pass,
    /// The connection is reset before the request was read.
    ResetUnread,
    /// These bytes are the answer; the service never sees the request. The connection ends.
    Instead(Vec<u8>),
    /// The service answers; these bytes, made of its answer, arrive in its place. The connection ends.
    After(fn(Vec<u8>) -> Vec<u8>),
    /// The service answers; the connection is closed as the next request comes.
    CloseOnNext,
}

/// Holds requests until a test opens it, however slow the machine is: `decide` waits at it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<Waiting>, Condvar)>);

#[derive(Default)]
struct Waiting {
    requests: u64,
    open: bool,
}

impl Gate {
    /// A request comes to the gate, and goes on when it is open.
    pub(crate) fn pass(&self) {
        let (waiting, opened) = &*self.0;
        let mut waiting = waiting.lock().expect("nothing panics while it is held");
        waiting.requests += 1;
        while !waiting.open {
            waiting = opened.wait(waiting).expect("nothing panics while it is held");
        }
    }

    /// How many requests have come to the gate.
    pub(crate) fn requests(&self) -> u64 {
        self.0.0.lock().expect("nothing panics while it is held").requests
    }

    /// Whether a request has come to the gate.
    pub(crate) fn is_reached(&self) -> bool {
        self.requests() > 0
    }

    /// Lets everything pass from now on.
    pub(crate) fn open(&self) {
        self.0.0.lock().expect("nothing panics while it is held").open = true;
        self.0.1.notify_all();
    }
}

type Decide = dyn Fn(&str, u64) -> Act + Send + Sync;

/// A relay at work until the test ends.
pub(crate) struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    service: SocketAddr,
    decide: Box<Decide>,
    seen: Mutex<BTreeMap<String, u64>>,
    fired: AtomicU64,
}

impl Relay {
    /// A relay before the service at `base_url`; `decide` is asked with the operation and how many requests for it
    /// came before.
    pub(crate) fn before(base_url: &str, decide: impl Fn(&str, u64) -> Act + Send + Sync + 'static) -> Self {
        let service = base_url.trim_start_matches("http://").parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            service,
            decide: Box::new(decide),
            seen: Mutex::default(),
            fired: AtomicU64::new(0),
        });
        let at_work = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&at_work);
                // A client that goes away is nothing to report.
                std::thread::spawn(move || drop(shared.converse(stream)));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often something else was done than to pass a request on.
    pub(crate) fn fired(&self) -> u64 {
        self.shared.fired.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn converse(&self, mut client: TcpStream) -> std::io::Result<()> {
        loop {
            let Some(operation) = peek_operation(&client)? else { return Ok(()) };
            let nth = {
                let mut seen = self.seen.lock().expect("nothing panics while it is held");
                let nth = seen.entry(operation.clone()).or_default();
                *nth += 1;
                *nth - 1
            };
            let act = (self.decide)(&operation, nth);
            if !matches!(act, Act::Pass | Act::CloseOnNext) {
                self.fired.fetch_add(1, Ordering::SeqCst);
            }
            match act {
                // What was not read makes the end of the connection a reset.
                Act::ResetUnread => return Ok(()),
                Act::Pass => {
                    let answer = self.ask(&read_request(&mut client)?)?;
                    // The service closed the connection without an answer.
                    if answer.is_empty() {
                        return Ok(());
                    }
                    client.write_all(&answer)?;
                }
                Act::Instead(bytes) => {
                    read_request(&mut client)?;
                    return client.write_all(&bytes);
                }
                Act::After(change) => {
                    let answer = self.ask(&read_request(&mut client)?)?;
                    return client.write_all(&change(answer));
                }
                Act::CloseOnNext => {
                    let answer = self.ask(&read_request(&mut client)?)?;
                    client.write_all(&answer)?;
                    if client.peek(&mut [0])? > 0 {
                        self.fired.fetch_add(1, Ordering::SeqCst);
                    }
                    return Ok(());
                }
            }
        }
    }

    /// The answer of the service, whole.
    fn ask(&self, request: &[u8]) -> std::io::Result<Vec<u8>> {
        let line = request.windows(2).position(|two| two == b"\r\n").expect("a request line") + 2;
        let mut service = TcpStream::connect(self.service)?;
        service.write_all(&[&request[..line], b"Connection: close\r\n", &request[line..]].concat())?;
        let mut answer = Vec::new();
        service.read_to_end(&mut answer)?;
        Ok(answer)
    }
}

/// Waits for the beginning of a request and says what it asks for, without reading it; `None` when the client left.
fn peek_operation(client: &TcpStream) -> std::io::Result<Option<String>> {
    let mut bytes = [0; 4096];
    loop {
        let number = client.peek(&mut bytes)?;
        if number == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&bytes[..number]);
        if let Some(line) = text.split_once("\r\n").map(|(line, _)| line) {
            let target = line.split(' ').nth(1).unwrap_or_default();
            let target = target.split('?').next().unwrap_or_default();
            return Ok(target.split('/').nth(4).map(str::to_owned));
        }
        std::thread::yield_now();
    }
}

/// One whole request, head and body.
pub(crate) fn read_request(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |length| length.trim().parse::<usize>().expect("a length"));
            if request.len() >= end + 4 + length {
                return Ok(request);
            }
        }
        let number = client.read(&mut buffer)?;
        if number == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        request.extend_from_slice(&buffer[..number]);
    }
}

/// The service of a bench behind a gate, at which requests wait: those for this operation, from the given one on (0 is
/// the first).
pub(crate) fn gated(bench: &Bench, operation: &'static str, from: u64) -> (Relay, Gate) {
    let gate = Gate::default();
    let waits = gate.clone();
    let relay = Relay::before(&bench.base_url(), move |asked, nth| {
        if asked == operation && nth >= from {
            waits.pass();
        }
        Act::Pass
    });
    bench.alter(&bench.base_url(), &relay.base_url());
    (relay, gate)
}

/// An answer with a head of ours: a status line, further headers, a body with its length.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The body of a whole answer.
pub(crate) fn body(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    &answer[end + 4..]
}
