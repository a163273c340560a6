//! The binary under way: started by a test that reads its news line by line, waits for what it has told or for what the
//! service has seen, signals or kills it, and takes what it ended with.
//!
//! Nothing here waits for a length of time. What is said on stderr is read all along, so that the process never waits
//! for a reader, and it is shown when the process ends before what a test waits for. A run that a test leaves behind is
//! killed. Commands that simply run to their end are the bench's own affair.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use super::Outcome;

/// See the module.
pub(crate) struct UnderWay {
    child: Child,
    news: BufReader<ChildStdout>,
    talk: Option<JoinHandle<Vec<u8>>>,
}

/// Between two looks at what is waited for: leaves the processor to whoever brings it about. How long it takes decides nothing.
pub(crate) fn look_again() {
    std::thread::sleep(std::time::Duration::from_millis(1));
}

impl UnderWay {
    /// Starts a command.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let news = BufReader::new(child.stdout.take().expect("piped"));
        let mut stderr = child.stderr.take().expect("piped");
        let talk = std::thread::spawn(move || {
            let mut said = Vec::new();
            stderr.read_to_end(&mut said).expect("a pipe");
            said
        });
        Self { child, news, talk: Some(talk) }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its news from here on, line by line.
    pub(crate) fn news(&mut self) -> impl Iterator<Item = String> {
        self.news.by_ref().lines().map(|line| line.expect("UTF-8 on stdout"))
    }

    /// Reads on until a line has all of these words.
    #[track_caller]
    pub(crate) fn hears(&mut self, words: &[&str]) {
        let told = self.news().any(|line| words.iter().all(|words| line.contains(words)));
        assert!(told, "it ended and never told {words:?}:\n{}", self.talk());
    }

    /// Waits until something is seen from outside.
    #[track_caller]
    pub(crate) fn until(&mut self, seen: impl Fn() -> bool) {
        while !seen() {
            assert!(!self.has_ended() || seen(), "it ended before that was seen:\n{}", self.talk());
            look_again();
        }
    }

    /// Whether it has ended already.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Sends a signal, by its name: `-INT`.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// Ends it from outside.
    pub(crate) fn kill(mut self) -> ExitStatus {
        self.child.kill().expect("a child");
        self.child.wait().expect("a child")
    }

    /// Reads what is left, and waits until it has ended by itself: with this code, this rest of its news, and all that
    /// it said on stderr.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Outcome {
        let mut stdout = Vec::new();
        self.news.read_to_end(&mut stdout).expect("a pipe");
        let status = self.child.wait().expect("a child");
        Outcome::of(std::process::Output { status, stdout, stderr: self.said() })
    }

    /// What it said on stderr, when it has ended.
    fn said(&mut self) -> Vec<u8> {
        self.talk.take().map(|talk| talk.join().expect("no panic")).unwrap_or_default()
    }

    /// The same, to be shown.
    fn talk(&mut self) -> String {
        String::from_utf8_lossy(&self.said()).into_owned()
    }
}

/// Starts a command, reads the first line of its news and no more of it, and waits for its end.
pub(crate) fn read_one_line(mut command: Command) -> Outcome {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a pipe");
    let ended = child.wait_with_output().expect("a child");
    Outcome::of(std::process::Output { stdout: line.into_bytes(), ..ended })
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}
