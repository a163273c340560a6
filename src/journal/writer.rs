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
        match self.journal.apply(writes) {
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
                self.spill(writes);
                (self.reply)(Reply::Failed { error });
            }
        }
    }

    fn spill(&self, writes: &[Write]) {
        if let Err(error) = Journal::spill(self.journal.path(), writes) {
            (self.reply)(Reply::Failed { error });
        }
    }

    fn answer(&self, answer: Result<Reply>) {
        (self.reply)(answer.unwrap_or_else(|error| Reply::Failed { error }));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;

    use super::*;
    use crate::error::ErrorKind;
    use crate::journal::fixture::*;
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::{self, Created, Ready, Sending};

    /// A writer whose replies arrive in a channel.
    fn started(journal: Journal) -> (Writer, mpsc::Receiver<Reply>) {
        let (replies, inbox) = channel();
        let writer = Writer::start(journal, move |reply| replies.send(reply).unwrap()).unwrap();
        (writer, inbox)
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("Company {number}")).collect()
    }

    #[test]
    fn a_reply_comes_only_when_another_connection_sees_what_was_written() {
        let mut bench = bench();
        let names = names(200);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (_, jobs) = import_companies(&mut bench.journal, &names, false);
        let other = Journal::open_existing(bench.journal.path()).unwrap();
        let (seen, sights) = channel();
        let in_order = jobs.clone();
        let writer = Writer::start(bench.journal, move |reply| {
            // On the writer's own thread: nothing can be committed between the reply and this look.
            let Reply::Written { ticket, .. } = reply else { panic!("{reply:?}") };
            let job = in_order[usize::try_from(ticket).unwrap()];
            seen.send((ticket, state(&other, job))).unwrap();
        })
        .unwrap();
        for (&job, ticket) in jobs.iter().zip(0..) {
            writer.write(ticket, claim(job, AddCompany));
        }
        writer.close().unwrap();
        let sights: Vec<(u64, JobState)> = sights.iter().collect();
        assert_eq!(sights, (0..200).map(|ticket| (ticket, Sending)).collect::<Vec<_>>());
    }

    #[test]
    fn reads_and_questions_keep_their_order_with_the_writes() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], true);
        let (writer, replies) = started(bench.journal);
        writer.ready(AddCompany, at(5_000), 10);
        writer.write(1, claim(jobs[0], AddCompany));
        writer.ready(AddCompany, at(5_000), 10);
        writer.write(2, created(jobs[0], Sending, id(1)));
        writer.write(3, claim(jobs[0], AddCompany));
        writer.owners(4, vec![id(1)]);
        writer.doubtful(at(5_000), 10);
        let (answer, answers) = channel();
        writer.ask(Box::new(move |journal| answer.send(state(journal, JobId(1))).unwrap()));
        writer.ready(AddCompany, at(5_000), 10);
        writer.close().unwrap();
        assert_eq!(answers.recv().unwrap(), Created);
        let told: Vec<String> = replies
            .iter()
            .map(|reply| match reply {
                Reply::Written { ticket, moved } => format!("written {ticket}: {}", moved.len()),
                Reply::Refused { ticket, error } => {
                    assert_eq!(error.kind(), ErrorKind::Internal);
                    format!("refused {ticket}")
                }
                Reply::Ready { page, .. } => {
                    let jobs: Vec<i64> = page.work.iter().map(|work| work.job.0).collect();
                    format!("ready {jobs:?}")
                }
                Reply::Doubtful { page } => format!("doubtful {}", page.work.len()),
                Reply::Owners { ticket, owners } => format!("owners {ticket}: {}", owners.len()),
                Reply::Failed { error } => panic!("{error}"),
            })
            .collect();
        assert_eq!(
            told,
            [
                "ready [1]",
                "written 1: 1",
                "ready []",
                "written 2: 2",
                "refused 3",
                "owners 4: 1",
                "doubtful 0",
                "ready [2]"
            ]
        );
    }

    #[test]
    fn a_full_disk_stops_the_writer_and_the_settlements_come_back_at_the_next_start() {
        let mut bench = bench();
        let names = names(40);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (_, jobs) = import_companies(&mut bench.journal, &names, false);
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        apply(&mut bench.journal, claim(jobs[1], AddCompany)).unwrap();
        let path = bench.journal.path().to_owned();
        // No page beyond those there are: what SQLite answers is what a full disk makes it answer.
        let pages: i64 =
            bench.journal.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        bench
            .journal
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
            .unwrap();

        let (writer, replies) = started(bench.journal);
        let mut big = created(jobs[0], Sending, id(1));
        if let Write::Advance { evidence, .. } = &mut big {
            evidence.excerpt = Some("x".repeat(100_000));
        }
        writer.write(1, big);
        writer.owners(2, vec![]);
        writer.write(3, claim(jobs[2], AddCompany));
        writer.write(4, created(jobs[1], Sending, id(2)));
        drop(writer.close().unwrap());
        let replies: Vec<Reply> = replies.iter().collect();
        let [Reply::Failed { error }, Reply::Owners { ticket: 2, .. }] = replies.as_slice() else {
            panic!("{replies:?}")
        };
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.to_string().contains("the disk is full"), "{error}");

        let mut journal = Journal::open_existing(&path).unwrap();
        assert_eq!(state(&journal, jobs[0]), Sending, "nothing of the failed batch is on disk");
        let spill = bench.folder.path().join("fleetload.db.spill");
        assert_eq!(fs::read_to_string(spill).unwrap().lines().count(), 2);
        let recovered = journal.recover(at(9_000)).unwrap();
        assert_eq!((recovered.spilled, recovered.doubtful), (2, 0));
        assert_eq!(state(&journal, jobs[0]), Created);
        assert_eq!(state(&journal, jobs[1]), Created);
        assert_eq!(state(&journal, jobs[2]), Ready, "the claim was dropped: nothing was sent");
    }

    #[test]
    fn an_import_beside_a_running_writer_succeeds_and_so_does_the_writer() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let mut second = Journal::open_existing(bench.journal.path()).unwrap();
        let version = bench.journal.data_version().unwrap();
        let (writer, replies) = started(bench.journal);
        // The import holds the write lock while the claim is queued; the writer waits for it.
        let mut import = second.begin_import(at(1)).unwrap();
        writer.write(1, claim(jobs[0], AddCompany));
        let added = import.add_job(&company("Bolt", vec![])).unwrap();
        import.finish().unwrap();
        assert!(matches!(replies.recv().unwrap(), Reply::Written { ticket: 1, .. }));
        writer.ready(AddCompany, at(5_000), 10);
        let Reply::Ready { page, .. } = replies.recv().unwrap() else { panic!("not the page") };
        assert_eq!(page.work.iter().map(|work| work.job).collect::<Vec<_>>(), [added]);
        let journal = writer.close().unwrap();
        assert_ne!(journal.data_version().unwrap(), version);
    }
}
