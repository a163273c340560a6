//! The one writer: a thread that owns the journal, writes in groups, and answers once what it wrote is on disk.
//!
//! Group commit without a timer: whatever is queued when the last commit has ended goes into the next. Reads and
//! questions keep their order with the writes. When the journal fails, nothing more is claimed and every
//! settlement goes to the spill file.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::{Journal, Moved, Page, Write};
use crate::error::{Error, Result};
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::time::Moment;

/// Writes that share one commit at most: beyond it, waiting grows and little is won.
const GROUP: usize = 64;

/// The writer's thread. Dropped without [`Writer::close`], it still finishes what is queued.
#[derive(Debug)]
pub struct Writer {
    orders: Sender<Order>,
    thread: JoinHandle<Journal>,
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
        page: Page,
    },
    /// Jobs in doubt that are due.
    Doubtful {
        /// The jobs.
        page: Page,
    },
    /// Who owns the ids that were asked about.
    Owners {
        /// The number the question was given.
        ticket: u64,
        /// The ids that jobs own.
        owners: Vec<(RemoteId, JobId)>,
    },
    /// The journal cannot be written or read. Nothing of the batch under way is on disk; its settlements are in the
    /// spill file, and so will be all later ones; claims are dropped. Neither gets a reply any more.
    Failed {
        /// Why.
        error: Error,
    },
}

/// What the thread is asked to do.
enum Order {
    Write(u64, Write),
    Ready(Operation, Moment, usize),
    Doubtful(Moment, usize),
    Owners(u64, Vec<RemoteId>),
    Ask(Box<dyn FnOnce(&mut Journal) + Send>),
    Close,
}

impl Writer {
    /// Starts the thread. `reply` is called on it and must not wait.
    pub fn start(journal: Journal, reply: impl Fn(Reply) + Send + 'static) -> Result<Self> {
        let (orders, inbox) = channel();
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || Desk { journal, reply, failed: false }.work(&inbox))
            .map_err(|error| Error::internal("cannot start the thread of the journal").because(error))?;
        Ok(Self { orders, thread })
    }

    /// Queues a write; answered by [`Reply::Written`] or [`Reply::Refused`] with the ticket.
    pub fn write(&self, ticket: u64, write: Write) {
        self.order(Order::Write(ticket, write));
    }

    /// Asks for jobs that may be sent; answered by [`Reply::Ready`].
    pub fn ready(&self, operation: Operation, now: Moment, limit: usize) {
        self.order(Order::Ready(operation, now, limit));
    }

    /// Asks for jobs in doubt; answered by [`Reply::Doubtful`].
    pub fn doubtful(&self, now: Moment, limit: usize) {
        self.order(Order::Doubtful(now, limit));
    }

    /// Asks who owns ids; answered by [`Reply::Owners`] with the ticket.
    pub fn owners(&self, ticket: u64, ids: Vec<RemoteId>) {
        self.order(Order::Owners(ticket, ids));
    }

    /// Asks anything else, in order with the writes.
    pub fn ask(&self, question: Box<dyn FnOnce(&mut Journal) + Send>) {
        self.order(Order::Ask(question));
    }

    /// Waits until everything queued is done, and gives the journal back.
    pub fn close(self) -> Result<Journal> {
        self.order(Order::Close);
        self.thread
            .join()
            .map_err(|_panic| Error::internal("the thread of the journal ended before its time"))
    }

    fn order(&self, order: Order) {
        // The thread is gone only after a panic, which `close` reports; what it did not write is in doubt then.
        let _gone = self.orders.send(order);
    }
}

/// The thread's side.
struct Desk<R> {
    journal: Journal,
    reply: R,
    failed: bool,
}

impl<R: Fn(Reply)> Desk<R> {
    fn work(mut self, inbox: &Receiver<Order>) -> Journal {
        let mut next = inbox.recv().ok();
        while let Some(order) = next.take() {
            match order {
                Order::Write(ticket, write) => {
                    let (mut tickets, mut writes) = (vec![ticket], vec![write]);
                    while writes.len() < GROUP && next.is_none() {
                        match inbox.try_recv() {
                            Ok(Order::Write(ticket, write)) => {
                                tickets.push(ticket);
                                writes.push(write);
                            }
                            Ok(other) => next = Some(other),
                            Err(_none_waiting) => break,
                        }
                    }
                    self.commit(&tickets, &writes);
                }
                Order::Ready(operation, now, limit) => {
                    let page = self.journal.ready(operation, now, limit);
                    self.answer(page.map(|page| Reply::Ready { operation, page }));
                }
                Order::Doubtful(now, limit) => {
                    let page = self.journal.doubtful(now, limit);
                    self.answer(page.map(|page| Reply::Doubtful { page }));
                }
                Order::Owners(ticket, ids) => {
                    let owners = self.journal.owners(&ids);
                    self.answer(owners.map(|owners| Reply::Owners { ticket, owners }));
                }
                Order::Ask(question) => question(&mut self.journal),
                Order::Close => break,
            }
            if next.is_none() {
                next = inbox.recv().ok();
            }
        }
        self.journal
    }

    fn commit(&mut self, tickets: &[u64], writes: &[Write]) {
        if self.failed {
            self.spill(writes);
            return;
        }
        match self.journal.look_at_files().and_then(|()| self.journal.apply(writes)) {
            Ok(outcomes) => {
                for (&ticket, outcome) in tickets.iter().zip(outcomes) {
                    (self.reply)(match outcome {
                        Ok(moved) => Reply::Written { ticket, moved },
                        Err(error) => Reply::Refused { ticket, error },
                    });
                }
            }
            Err(error) => {
                self.failed = true;
                self.journal.touch_no_more();
                // The first failure is the one to be told; when spilling fails as well, rows are in doubt besides.
                (self.reply)(Reply::Failed { error });
                self.spill(writes);
            }
        }
    }

    fn spill(&self, writes: &[Write]) {
        if let Err(error) = self.journal.spill(writes) {
            (self.reply)(Reply::Failed { error });
        }
    }

    fn answer(&self, answer: Result<Reply>) {
        (self.reply)(answer.unwrap_or_else(|error| Reply::Failed { error }));
    }
}

#[cfg(test)]
mod tests;
