//! The shared handle of a sandbox: the service behind a lock, with its state file when it has one.
//!
//! A state file holds one JSON line for each commit. A line is written before its answer is given back, so a
//! sandbox that is killed comes back with everything that it has ever answered for. Nothing is forced to the disk:
//! the file is to outlive the process, not the machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::SandboxError;
use super::exchange::{Answer, Effect, Millis, Request, Response};
use super::scenario::Scenario;
use super::service::Service;
use super::state::attachments::Attachment;
use super::state::ledger::{LedgerEntry, Line};
use super::state::seed_data::Present;
use super::state::statistics::Statistics;

/// The simulated service, ready to be asked from any thread.
pub struct Sandbox {
    inner: Mutex<Inner>,
}

/// Tells what is to be taken as present; nothing where that is as it was when it was asked last.
type Telling = Box<dyn FnMut() -> Option<Present> + Send>;

struct Inner {
    service: Service,
    telling: Option<Telling>,
    state: Option<File>,
    /// Set when the state file could not be written: what is in memory is then more than what would come back.
    broken: bool,
}

impl Inner {
    /// Takes in what somebody refers to since the last time.
    fn learn(&mut self) {
        if let Some(present) = self.telling.as_mut().and_then(|telling| telling()) {
            self.service.take_as_present(&present);
        }
    }

    /// Writes what has been done since the last time.
    fn keep(&mut self) {
        let lines = self.service.take_lines();
        if let Some(state) = &mut self.state
            && !lines.is_empty()
        {
            let text: String = lines.iter().map(Line::text).collect();
            self.broken |= state.write_all(text.as_bytes()).is_err();
        }
    }
}

impl Sandbox {
    /// A sandbox in memory. `now` is the caller's clock at this moment.
    ///
    /// # Errors
    /// When the scenario contradicts itself.
    pub fn new(scenario: Scenario, now: Millis) -> Result<Self, SandboxError> {
        Ok(Self::around(Service::new(scenario, now, false)?, None))
    }

    /// A sandbox that keeps its state in a file, made (for its owner only) when it is not there.
    ///
    /// # Errors
    /// When the scenario contradicts itself; when the file cannot be used, is in use by another sandbox, or is
    /// damaged before its last line.
    pub fn open(scenario: Scenario, state: &Path, now: Millis) -> Result<Self, SandboxError> {
        let mut service = Service::new(scenario, now, true)?;
        let mut file = open_private(state).map_err(|cause| trouble(state, cause))?;
        replay(&mut service, &mut file, state)?;
        service.leave_the_past(now);
        Ok(Self::around(service, Some(file)))
    }

    fn around(service: Service, state: Option<File>) -> Self {
        Self { inner: Mutex::new(Inner { service, telling: None, state, broken: false }) }
    }

    /// Takes as present what `telling` names, from now on and in later processes that are told the same: it is not in
    /// the state file, since it is not the sandbox that made it. Asked before each request, so that a record is there
    /// before somebody who refers to it is; it gives nothing where nothing has changed. A strict scenario takes nothing.
    #[must_use]
    pub fn taking_as_present(mut self, telling: impl FnMut() -> Option<Present> + Send + 'static) -> Self {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        inner.telling = Some(Box::new(telling));
        self
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic in one request leaves the state as far as it came, which is what the others go on with.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request that arrives at `now`. Moments must not go back between two calls. What the answer says
    /// of commits is in the state file when this returns.
    pub fn respond(&self, request: &Request, now: Millis) -> Answer {
        let mut inner = self.lock();
        if inner.broken {
            return unwritable();
        }
        inner.learn();
        let answer = inner.service.respond(request, now);
        inner.keep();
        if inner.broken { unwritable() } else { answer }
    }

    /// What was done so far, as of `now`.
    pub fn ledger(&self, now: Millis) -> Vec<LedgerEntry> {
        self.ledger_after(0, now)
    }

    /// What was done after the entry with this number, as of `now`.
    pub fn ledger_after(&self, sequence: usize, now: Millis) -> Vec<LedgerEntry> {
        let mut inner = self.lock();
        inner.service.settle(now);
        inner.keep();
        inner.service.ledger.iter().skip(sequence).cloned().collect()
    }

    /// What hangs on the records, as of `now`, sorted; what is there twice is in it twice.
    pub fn attachments(&self, now: Millis) -> Vec<Attachment> {
        let mut inner = self.lock();
        inner.service.settle(now);
        inner.keep();
        inner.service.world.attachments()
    }

    /// What was asked and answered so far, as of `now`.
    pub fn statistics(&self, now: Millis) -> Statistics {
        let mut inner = self.lock();
        inner.service.settle(now);
        inner.keep();
        inner.service.statistics(now)
    }

    /// Changes limits, switches and faults while it runs. The seed, the clock and the companies are taken when a
    /// sandbox is opened; changes of them have no effect here.
    ///
    /// # Errors
    /// When the changed scenario contradicts itself; the old one then stays at work.
    pub fn change(&self, change: impl FnOnce(&mut Scenario)) -> Result<(), SandboxError> {
        let mut inner = self.lock();
        let mut scenario = inner.service.scenario.clone();
        change(&mut scenario);
        inner.service.change(scenario)
    }

    /// Moves the service's own clock by so many seconds.
    pub fn advance_clock(&self, seconds: i64) {
        let mut inner = self.lock();
        let step = seconds.saturating_mul(1000);
        inner.service.offset = inner.service.offset.saturating_add(step);
    }
}

fn unwritable() -> Answer {
    Answer {
        response: Response::page(500, "The sandbox cannot write its state file"),
        delay_ms: 0,
        effect: Effect::Deliver,
    }
}

fn trouble(state: &Path, cause: io::Error) -> SandboxError {
    SandboxError::State { path: PathBuf::from(state), cause }
}

fn open_private(state: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let file = options.open(state)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another sandbox is using it"))
        }
        Err(TryLockError::Error(cause)) => Err(cause),
    }
}

/// Takes in every whole line; a torn last one was never answered for and is cut off.
fn replay(service: &mut Service, file: &mut File, state: &Path) -> Result<(), SandboxError> {
    let failed = |cause| trouble(state, cause);
    let mut reader = BufReader::new(&*file);
    let mut whole = 0;
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        reader.read_until(b'\n', &mut text).map_err(failed)?;
        if text.last() != Some(&b'\n') {
            break;
        }
        let line: Line = serde_json::from_slice(&text).map_err(|error| SandboxError::DamagedState {
            path: PathBuf::from(state),
            line: number,
            what: error.to_string(),
        })?;
        service.replay(line);
        whole += text.len() as u64;
    }
    if !text.is_empty() {
        file.set_len(whole).map_err(failed)?;
    }
    Ok(())
}
