//! A simulated service as a process of its own: what processors work for it is not mixed with what they work for the bench
//! that watches, and it is the one that is shipped.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fleetload::sandbox::{Scenario, Statistics};
use serde_json::Value;

/// `fleetload sandbox`, until it is dropped.
pub(crate) struct Service {
    process: Child,
    base_url: String,
}

impl Service {
    /// Starts it at a free port, with its scenario in a file of the folder.
    pub(crate) fn start(program: &str, scenario: &Scenario, folder: &Path) -> Self {
        let file = folder.join("scenario.toml");
        fs::write(&file, toml::to_string(scenario).expect("a scenario as TOML")).expect("a file");
        let mut process = Command::new(program)
            .args(["sandbox", "--json", "--listen", "127.0.0.1:0", "--scenario"])
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("fleetload");
        let mut objects = BufReader::new(process.stdout.take().expect("its output")).lines();
        let base_url = loop {
            let line = objects.next().expect("an address before its end").expect("a line");
            let object: Value = serde_json::from_str(&line).expect("an object");
            if let Some(base_url) = object["base_url"].as_str() {
                break base_url.to_owned();
            }
        };
        Self { process, base_url }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// What it was asked so far.
    pub(crate) fn statistics(&self) -> Statistics {
        let host = self.base_url.trim_start_matches("http://");
        let mut connection = TcpStream::connect(host).expect("the service");
        let request =
            format!("GET /sandbox/statistics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).expect("the service");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("the service");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer of HTTP");
        serde_json::from_str(body).expect("statistics")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has no state that could be lost.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
