//! The one writer: it owns the journal, on a thread of its own, writes in groups, and answers once what it wrote is
//! on disk.
//!
//! Group commit without a timer: whatever is queued when the last commit has ended goes into the next. Reads and
//! questions keep their order with the writes. When the journal fails, nothing more is claimed and every
//! settlement goes to the spill file.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task;

use crate::clock::Sleep;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::file::open::PATIENCE;
use crate::journal::state::quota::PartialDays;
use crate::journal::{JobQueue, Journal, Moved, SameLicence, Work, WorkPage, Write};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::time::Moment;

/// Writes that share one commit at most, some milliseconds of work: as many as requests are under way at once by default. A
/// commit costs as much as some twenty writes, so that smaller groups only take longer where many wait.
const GROUP: usize = 256;

/// How long a lock of another program is waited for before that is said: others write for as long as that all the time.
const SILENCE: Duration = Duration::from_secs(2);

/// Where the writer works.
#[derive(Clone, Default)]
pub enum Writing {
    /// On a thread of its own, so that nobody else waits for the disk.
    #[default]
    OwnThread,
    /// On a task among the others, for runs in virtual time, where everything happens on one thread. The function
    /// is asked before and after each commit how long the disk takes.
    AmongTasks(Arc<dyn Fn() -> Sleep + Send + Sync>),
}

impl fmt::Debug for Writing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnThread => f.write_str("OwnThread"),
            Self::AmongTasks(_) => f.write_str("AmongTasks"),
        }
    }
}

/// The writer. Dropped without [`Writer::close`], it still finishes what is queued.
#[derive(Debug)]
pub struct Writer {
    orders: UnboundedSender<Order>,
    worker: Worker,
}

#[derive(Debug)]
enum Worker {
    Thread(thread::JoinHandle<Journal>),
    Task(task::JoinHandle<Journal>),
}

/// An answer of the writer.
#[derive(Debug)]
pub enum Reply {
    /// A write is on disk.
    Written {
        /// The number it was given.
        ticket: u64,
        /// The jobs it moved, its own first.
        moved: Vec<Moved>,
    },
    /// A write did not fit the state of its job and changed nothing.
    Refused {
        /// The number it was given.
        ticket: u64,
        /// Why.
        error: Error,
    },
    /// Jobs of one operation that may be sent.
    Ready {
        /// The operation.
        operation: Operation,
        /// The jobs.
        page: WorkPage,
    },
    /// Jobs in doubt that are due.
    Doubtful {
        /// The jobs.
        page: WorkPage,
    },
    /// Who owns the ids that were asked about.
    Owners {
        /// The job they were found for.
        job: JobId,
        /// What is known.
        ownership: Ownership,
    },
    /// The latest day of the quota ledger, where more is known of it by what is on disk now.
    Quota {
        /// The day.
        day: QuotaDay,
    },
    /// Another program has locked the journal: what is to be written waits.
    Locked,
    /// The journal cannot be written or read. Nothing of the batch under way is on disk; its settlements are in the
    /// spill file, and so will be all later ones; claims are dropped. Neither gets a reply any more.
    Failed {
        /// Why.
        error: Error,
    },
}

/// Whose records are those that were found for a job.
#[derive(Debug, Default)]
pub struct Ownership {
    /// The ids that jobs own.
    pub owners: Vec<(RemoteId, JobId)>,
    /// The ids of records that jobs rename; see [`View::renamed`](crate::journal::View::renamed).
    pub renamed: Vec<(RemoteId, JobId)>,
    /// The rows whose records the others may be; see [`View::under_way_like`](crate::journal::View::under_way_like).
    pub under_way: Vec<Work>,
    /// Of a row that adds a licence code: what is known of another request for it.
    pub same_licence: Option<SameLicence>,
}

/// What the thread is asked to do.
enum Order {
    Write(u64, Write),
    Ready { operation: Operation, imports: Vec<ImportId>, now: Moment, limit: usize, in_hand: Vec<JobId> },
    Doubtful(Moment, usize, Vec<JobId>),
    Owners(JobId, Vec<RemoteId>),
    Ask(Box<dyn FnOnce(&mut JobQueue<'_>) + Send>),
    Close,
}

impl Writer {
    /// Starts the writer. `reply` is called where it works and must not wait.
    pub fn start(journal: Journal, writing: Writing, reply: impl Fn(Reply) + Send + 'static) -> Result<Self> {
        let (orders, inbox) = unbounded_channel();
        let partial = journal.partial_days()?;
        let desk =
            Desk { journal, reply, failed: false, next: None, quota: None, partial, outbox: Vec::new() };
        let worker = match writing {
            Writing::OwnThread => Worker::Thread(
                thread::Builder::new().name("journal".to_owned()).spawn(move || desk.work(inbox)).map_err(
                    |error| Error::internal("cannot start the thread of the journal").because(error),
                )?,
            ),
            Writing::AmongTasks(disk) => Worker::Task(task::spawn(desk.work_among(inbox, disk))),
        };
        Ok(Self { orders, worker })
    }

    /// Queues a write; answered by [`Reply::Written`] or [`Reply::Refused`] with the ticket.
    pub fn write(&self, ticket: u64, write: Write) {
        self.order(Order::Write(ticket, write));
    }

    /// Asks for jobs that may be sent, besides those `in_hand`, of these imports or, where none is named, of all; answered
    /// by [`Reply::Ready`].
    pub fn ready(
        &self,
        (operation, imports): (Operation, Vec<ImportId>),
        now: Moment,
        limit: usize,
        in_hand: Vec<JobId>,
    ) {
        self.order(Order::Ready { operation, imports, now, limit, in_hand });
    }

    /// Asks for jobs in doubt, besides those `in_hand`; answered by [`Reply::Doubtful`].
    pub fn doubtful(&self, now: Moment, limit: usize, in_hand: Vec<JobId>) {
        self.order(Order::Doubtful(now, limit, in_hand));
    }

    /// Asks who owns the ids that were found for a job; answered by [`Reply::Owners`].
    pub fn owners(&self, job: JobId, ids: Vec<RemoteId>) {
        self.order(Order::Owners(job, ids));
    }

    /// Asks anything else, in order with the writes.
    pub fn ask(&self, question: Box<dyn FnOnce(&mut JobQueue<'_>) + Send>) {
        self.order(Order::Ask(question));
    }

    /// Waits until everything queued is done, and gives the journal back.
    pub async fn close(self) -> Result<Journal> {
        self.order(Order::Close);
        let journal = match self.worker {
            // A sync that hangs keeps a thread that is there to be kept, and none that others need.
            Worker::Thread(thread) => task::spawn_blocking(move || thread.join().ok()).await.ok().flatten(),
            Worker::Task(task) => task.await.ok(),
        };
        journal.ok_or_else(|| Error::internal("the writer of the journal ended before its time"))
    }

    /// Whether the writer has ended before its time: nothing it is told is written or answered any more.
    pub fn is_gone(&self) -> bool {
        match &self.worker {
            Worker::Thread(thread) => thread.is_finished(),
            Worker::Task(task) => task.is_finished(),
        }
    }

    fn order(&self, order: Order) {
        // The writer is gone only after a panic, which `is_gone` and `close` report; what it did not write is in doubt then.
        let _gone = self.orders.send(order);
    }
}

/// The writer's side.
struct Desk<R> {
    journal: Journal,
    reply: R,
    failed: bool,
    /// An order that was taken from the queue while writes were gathered, and is no write.
    next: Option<Order>,
    /// The latest day of the quota ledger as it was told last, less what was under way.
    quota: Option<QuotaDay>,
    /// Read once: no copy is accepted while a run writes.
    partial: PartialDays,
    /// Answers to what has been carried out.
    outbox: Vec<Reply>,
}

impl<R: Fn(Reply)> Desk<R> {
    fn work(mut self, mut inbox: UnboundedReceiver<Order>) -> Journal {
        while let Some(order) = self.next.take().or_else(|| inbox.blocking_recv()) {
            let more = self.carry_out(order, &mut inbox);
            self.send();
            if more.is_break() {
                break;
            }
        }
        self.journal
    }

    async fn work_among(
        mut self,
        mut inbox: UnboundedReceiver<Order>,
        disk: Arc<dyn Fn() -> Sleep + Send + Sync>,
    ) -> Journal {
        loop {
            let order = match self.next.take() {
                Some(order) => order,
                None => match inbox.recv().await {
                    Some(order) => order,
                    None => break,
                },
            };
            disk().await;
            let more = self.carry_out(order, &mut inbox);
            disk().await;
            self.send();
            if more.is_break() {
                break;
            }
        }
        self.journal
    }

    fn send(&mut self) {
        self.outbox.drain(..).for_each(&self.reply);
    }

    /// Carries out an order; a write together with those that wait behind it.
    fn carry_out(&mut self, order: Order, inbox: &mut UnboundedReceiver<Order>) -> ControlFlow<()> {
        match order {
            Order::Write(ticket, write) => {
                let (mut tickets, mut writes) = (vec![ticket], vec![write]);
                while writes.len() < GROUP && self.next.is_none() {
                    match inbox.try_recv() {
                        Ok(Order::Write(ticket, write)) => {
                            tickets.push(ticket);
                            writes.push(write);
                        }
                        Ok(other) => self.next = Some(other),
                        Err(_none_waiting) => break,
                    }
                }
                self.commit(&tickets, &writes);
            }
            Order::Ready { operation, imports, now, limit, in_hand } => {
                let page = self.journal.queue().ready_of(&imports, operation, now, limit, &in_hand);
                self.answer(page.map(|page| Reply::Ready { operation, page }));
            }
            Order::Doubtful(now, limit, in_hand) => {
                let page = self.journal.queue().doubtful(now, limit, &in_hand);
                self.answer(page.map(|page| Reply::Doubtful { page }));
            }
            Order::Owners(job, ids) => {
                let owners = self.owners(job, &ids);
                self.answer(owners);
            }
            // What may write is not asked any more once a write has failed.
            Order::Ask(_) if self.failed => {}
            Order::Ask(question) => question(&mut self.journal.queue()),
            Order::Close => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn owners(&self, job: JobId, ids: &[RemoteId]) -> Result<Reply> {
        let owners = self.journal.owners(ids)?;
        let ownership = match owners.len() < ids.len() {
            _ if ids.is_empty() => {
                Ownership { same_licence: self.journal.same_licence(job)?, ..Ownership::default() }
            }
            true => Ownership {
                owners,
                renamed: self.journal.renamed(job, ids)?,
                under_way: self.journal.under_way_like(job)?,
                same_licence: None,
            },
            false => Ownership { owners, ..Ownership::default() },
        };
        Ok(Reply::Owners { job, ownership })
    }

    fn commit(&mut self, tickets: &[u64], writes: &[Write]) {
        if self.failed {
            self.spill(writes);
            return;
        }
        match self.journal.look_at_files().and_then(|()| self.apply(writes)) {
            Ok(outcomes) => {
                // First, as nothing is waited for any more once the last write is answered.
                self.tell_quota();
                self.outbox.extend(tickets.iter().zip(outcomes).map(|(&ticket, outcome)| match outcome {
                    Ok(moved) => Reply::Written { ticket, moved },
                    Err(error) => Reply::Refused { ticket, error },
                }));
            }
            Err(error) => {
                self.failed = true;
                self.journal.touch_no_more();
                // The first failure is the one to be told; when spilling fails as well, rows are in doubt besides.
                self.outbox.push(Reply::Failed { error });
                self.spill(writes);
            }
        }
    }

    /// Writes in one transaction. While another program has locked the journal, it waits and says so.
    fn apply(&mut self, writes: &[Write]) -> Result<Vec<Result<Vec<Moved>>>> {
        self.journal.wait_for_lock(SILENCE)?;
        let applied = self.journal.queue().apply(writes);
        self.journal.wait_for_lock(PATIENCE)?;
        match applied {
            Err(error) if error.end() == End::JournalLocked => {
                (self.reply)(Reply::Locked);
                self.journal.queue().apply(writes)
            }
            applied => applied,
        }
    }

    fn tell_quota(&mut self) {
        match self.journal.latest_quota() {
            Ok(None) => {}
            Ok(Some(day)) => {
                let day = self.partial.mark(day);
                let known = Some(QuotaDay { sent: day.used(), ..day });
                if self.quota != known {
                    self.quota = known;
                    self.outbox.push(Reply::Quota { day });
                }
            }
            Err(error) => self.outbox.push(Reply::Failed { error }),
        }
    }

    fn spill(&mut self, writes: &[Write]) {
        if let Err(error) = self.journal.spill(writes) {
            self.outbox.push(Reply::Failed { error });
        }
    }

    fn answer(&mut self, answer: Result<Reply>) {
        self.outbox.push(answer.unwrap_or_else(|error| Reply::Failed { error }));
    }
}

#[cfg(test)]
mod tests;
