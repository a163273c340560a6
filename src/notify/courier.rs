//! The courier: a thread that notes notifications in the journal and delivers them, oldest first, each target for itself.
//!
//! It has its own connection to the journal, as another command would. Nobody waits for it while a run goes on; at the end
//! of the process it is waited for, for a bounded time. What is not delivered by then stays due in the journal. A
//! notification whose delivery was under way when the process ended is delivered again: receivers tell by its id.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::notification::{Draft, Notification};
use super::target::{Failure, Target};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::Journal;

/// The waits after a failed try, one after the other; the last one again and again.
const WAITS: [Duration; 7] = [
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(15),
    Duration::from_secs(60),
    Duration::from_secs(240),
    Duration::from_secs(600),
];
/// How often one notification is tried in a row: for about an hour and a half. Then it is left to the next run.
const MOST_TRIES: usize = 14;
/// The same at the end of the process.
const LAST_TRIES: usize = 3;
/// The longest wait for another try at the end of the process.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// How long the journal is waited for at once, where another program has locked it: less than [`GRACE`].
const LOCKED: Duration = Duration::from_millis(250);
/// How long it is waited for in all, as a run waits for it.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same at the end of the process. The rest of the time is for a delivery without a record.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// How much longer than asked for the thread is waited for: it ends by then, unless the disk does not answer.
const GRACE: Duration = Duration::from_millis(500);

/// What composes a notification from the journal, where there is one, on the thread of the courier.
type Compose = Box<dyn FnOnce(Option<&Journal>) -> Result<Draft> + Send>;

/// What the thread gets.
enum Message {
    /// The journal is there: what is due in it may be delivered.
    JournalReady,
    Tell(Box<Draft>),
    Compose(Compose),
    /// Nothing more comes: deliver what is due.
    Close,
}

/// When the thread must end; nothing as long as it is not closed. It does not wait for the messages before it.
type Limit = Arc<watch::Sender<Option<Instant>>>;

/// Has the thread end after this time at the latest.
fn set_limit(limit: &Limit, from_now: Duration) {
    let deadline = Instant::now() + from_now;
    limit.send_modify(|known| *known = Some(known.map_or(deadline, |known| known.min(deadline))));
}

/// The handle of the thread.
#[derive(Debug)]
pub struct Courier {
    messages: mpsc::UnboundedSender<Message>,
    limit: Limit,
    ended: std_mpsc::Receiver<Left>,
}

/// Cuts the last wait for deliveries short.
#[derive(Debug, Clone)]
pub struct Delivering(Limit);

impl Delivering {
    /// Ends it; what is not delivered stays due.
    pub fn cut(&self) {
        set_limit(&self.0, Duration::ZERO);
    }
}

/// What is not delivered when the courier ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// How many notifications of the journal at least one target has not got.
    pub notifications: u64,
    /// How many could not be noted in the journal and were not delivered either: nobody delivers them later.
    pub lost: u64,
    /// Why the latest try failed.
    pub last_error: Option<String>,
    /// Why some could not be noted in the journal, where it is there.
    pub not_noted: Option<String>,
}

impl Courier {
    /// Starts the thread. Nothing is read or sent before a message comes.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(targets: Vec<Target>, journal: PathBuf, clock: Arc<dyn Clock>) -> Result<Self> {
        let failed =
            |error| Error::internal("cannot start the thread that delivers notifications").because(error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (messages, inbox) = mpsc::unbounded_channel();
        let (done, ended) = std_mpsc::channel();
        let limit = Limit::default();
        let of_thread = Arc::clone(&limit);
        thread::Builder::new()
            .name("notifications".to_owned())
            .spawn(move || {
                let desk = Desk::new(targets, journal, clock, of_thread);
                runtime.block_on(desk.work(inbox));
                // Whoever waited may have ended.
                let _gone = done.send(desk.left());
            })
            .map_err(failed)?;
        Ok(Self { messages, limit, ended })
    }

    /// The journal is there: what is due from before is delivered from now on.
    pub fn begin(&self) {
        self.send(Message::JournalReady);
    }

    /// Tells a change, unless it has been told already.
    pub fn tell(&self, draft: Draft) {
        self.send(Message::Tell(Box::new(draft)));
    }

    /// Tells a change whose words are composed on the thread.
    pub fn compose(&self, compose: impl FnOnce(Option<&Journal>) -> Result<Draft> + Send + 'static) {
        self.send(Message::Compose(Box::new(compose)));
    }

    /// What cuts the wait of [`Courier::close`] short.
    pub fn delivering(&self) -> Delivering {
        Delivering(Arc::clone(&self.limit))
    }

    /// Delivers what is due and ends, after `limit` at the latest. `None` when the thread did not end in time.
    pub fn close(self, limit: Duration) -> Option<Left> {
        set_limit(&self.limit, limit);
        self.send(Message::Close);
        self.ended.recv_timeout(limit + GRACE).ok()
    }

    fn send(&self, message: Message) {
        // The thread ends only once it was closed.
        let _ended = self.messages.send(message);
    }
}

/// The thread's side.
struct Desk {
    targets: Vec<Target>,
    path: PathBuf,
    clock: Arc<dyn Clock>,
    /// Open once it is there.
    journal: RefCell<Option<Journal>>,
    limit: Limit,
    /// Whether nothing more comes.
    is_closed: watch::Sender<bool>,
    /// Something new may be due, for each target.
    news: Vec<Notify>,
    /// What could not be noted and was not delivered.
    lost: RefCell<Left>,
}

impl Desk {
    fn new(targets: Vec<Target>, path: PathBuf, clock: Arc<dyn Clock>, limit: Limit) -> Self {
        Self {
            news: targets.iter().map(|_| Notify::new()).collect(),
            targets,
            path,
            clock,
            journal: RefCell::default(),
            limit,
            is_closed: watch::Sender::default(),
            lost: RefCell::default(),
        }
    }

    /// Works until it is closed and everything is delivered, or until its time is up.
    async fn work(&self, inbox: mpsc::UnboundedReceiver<Message>) {
        let deliver = async {
            match self.targets.as_slice() {
                [one] => self.deliver(one, 0).await,
                [one, two] => {
                    tokio::join!(self.deliver(one, 0), self.deliver(two, 1));
                }
                _ => {}
            }
        };
        tokio::select! {
            () = deliver => {}
            () = self.take(inbox) => {}
            () = self.time_up() => {}
        }
    }

    /// Waits until the thread must end.
    async fn time_up(&self) {
        let mut changes = self.limit.subscribe();
        loop {
            let deadline = *changes.borrow_and_update();
            tokio::select! {
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return,
                // It may come sooner. The sender is kept here.
                _ = changes.changed() => {}
            }
        }
    }

    /// Waits until the thread is closed.
    async fn closing(&self) {
        let mut changes = self.is_closed.subscribe();
        // It fails only without a sender, which is kept here.
        drop(changes.wait_for(|is_closed| *is_closed).await);
    }

    fn is_closing(&self) -> bool {
        *self.is_closed.borrow()
    }

    /// Takes what comes, until nothing more comes.
    async fn take(&self, mut inbox: mpsc::UnboundedReceiver<Message>) {
        while let Some(message) = inbox.recv().await {
            match message {
                Message::JournalReady => {
                    self.opened();
                }
                Message::Tell(draft) => self.tell(&draft).await,
                Message::Compose(compose) => {
                    self.opened();
                    let composed = compose(self.journal.borrow().as_ref());
                    match composed {
                        Ok(draft) => self.tell(&draft).await,
                        Err(error) => self.not_noted(&error),
                    }
                }
                Message::Close => drop(self.is_closed.send_replace(true)),
            }
            for news in &self.news {
                news.notify_one();
            }
        }
    }

    /// Opens the journal where it is not open yet.
    fn opened(&self) {
        let mut journal = self.journal.borrow_mut();
        if journal.is_some() || !self.path.exists() {
            return;
        }
        match Journal::open_existing(&self.path) {
            Ok(opened) => match opened.wait_for_lock(LOCKED) {
                Ok(()) => *journal = Some(opened),
                Err(error) => self.not_noted(&error),
            },
            Err(error) => self.not_noted(&error),
        }
    }

    /// Writes to the journal, where there is one; waits while another program has locked it.
    async fn write<T>(&self, write: impl Fn(&mut Journal) -> Result<T>) -> Option<Result<T>> {
        let began = Instant::now();
        loop {
            let written = self.journal.borrow_mut().as_mut().map(&write)?;
            let is_closing = self.limit.borrow().is_some();
            let patience = if is_closing { LAST_PATIENCE } else { PATIENCE };
            match written {
                Err(error) if error.end() == End::JournalLocked && began.elapsed() < patience => {
                    sleep(LOCKED).await;
                }
                written => return Some(written),
            }
        }
    }

    /// Notes a notification. One that cannot be noted is tried once for each target.
    async fn tell(&self, draft: &Draft) {
        self.opened();
        let names: Vec<&'static str> = self.targets.iter().map(Target::name).collect();
        let noted = self.write(|journal| {
            journal.note_notification(&draft.key, &draft.notification.json(), &names, self.clock.now())
        });
        match noted.await {
            Some(Ok(_is_new)) => {}
            Some(Err(error)) => {
                self.not_noted(&error);
                self.deliver_unnoted(&draft.notification).await;
            }
            // There is no journal yet, or it cannot be opened.
            None => self.deliver_unnoted(&draft.notification).await,
        }
    }

    async fn deliver_unnoted(&self, notification: &Notification) {
        // As long as a try is under way it is not delivered.
        self.lost.borrow_mut().lost += 1;
        let mut failed = None;
        for target in &self.targets {
            failed = target.deliver(notification).await.err().or(failed);
        }
        let mut lost = self.lost.borrow_mut();
        match failed {
            Some(failure) => lost.last_error = Some(failure.words().to_owned()),
            None => lost.lost -= 1,
        }
    }

    fn not_noted(&self, error: &Error) {
        self.lost.borrow_mut().not_noted = Some(error.to_string());
    }

    /// Delivers to one target what is due for it, oldest first.
    async fn deliver(&self, target: &Target, number: usize) {
        let Some(news) = self.news.get(number) else { return };
        // Notifications up to this number are left to the next run.
        let mut beyond = 0;
        let mut failures = 0;
        let mut last_tries = 0;
        loop {
            let is_closing = self.is_closing();
            if is_closing && last_tries >= LAST_TRIES {
                return;
            }
            let due =
                self.journal.borrow().as_ref().map(|journal| journal.undelivered(target.name(), beyond));
            let due = match due {
                Some(Ok(Some(due))) => due,
                Some(Err(error)) => {
                    self.not_noted(&error);
                    return self.closing().await;
                }
                Some(Ok(None)) | None if is_closing => return,
                Some(Ok(None)) | None => {
                    news.notified().await;
                    continue;
                }
            };
            if failures > 0 {
                let wait = WAITS.get(failures - 1).or(WAITS.last()).copied().unwrap_or_default();
                self.wait(wait).await;
            }
            let tried = match serde_json::from_str::<Notification>(&due.body) {
                Ok(notification) => target.deliver(&notification).await,
                Err(_) => {
                    Err(Failure::Refused("the journal holds it in a form that cannot be read".to_owned()))
                }
            };
            let is_late = matches!(tried, Err(Failure::Late(_)));
            let is_refused = matches!(tried, Err(Failure::Refused(_)));
            if let Err(error) = self.noted(due.number, target, &tried).await {
                // What was delivered would be delivered again and again.
                self.not_noted(&error);
                return self.closing().await;
            }
            let is_closing = self.is_closing();
            match tried {
                Ok(()) => failures = 0,
                Err(_) if is_closing && is_late => return,
                Err(_) => {
                    failures += 1;
                    last_tries += usize::from(is_closing && !is_refused);
                    if is_refused || failures >= MOST_TRIES {
                        beyond = due.number;
                        failures = 0;
                    }
                }
            }
        }
    }

    /// Waits before another try; at the end of the process no longer than a second.
    async fn wait(&self, wait: Duration) {
        if !self.is_closing() {
            tokio::select! {
                () = sleep(wait) => return,
                () = self.closing() => {}
            }
        }
        sleep(wait.min(LAST_WAIT)).await;
    }

    async fn noted(
        &self,
        number: i64,
        target: &Target,
        tried: &std::result::Result<(), Failure>,
    ) -> Result<()> {
        let now = self.clock.now();
        let noted = self.write(|journal| match tried {
            Ok(()) => journal.note_delivered(number, target.name(), now),
            Err(failure) => journal.note_not_delivered(number, target.name(), failure.words(), now),
        });
        noted.await.unwrap_or(Ok(()))
    }

    /// What is not delivered.
    fn left(&self) -> Left {
        let mut left = self.lost.borrow().clone();
        let names: Vec<&str> = self.targets.iter().map(Target::name).collect();
        if let Some(Ok(due)) =
            self.journal.borrow().as_ref().map(|journal| journal.undelivered_figures(&names))
        {
            left.notifications = due.notifications;
            left.last_error = due.last_error.or(left.last_error);
        }
        left
    }
}
