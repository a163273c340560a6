//! Asks about many owners side by side and gives their rows in order.

use std::collections::VecDeque;
use std::vec::IntoIter;

use tokio_util::task::AbortOnDropHandle;

use super::answers;
use super::owner::Owner;
use super::row::Row;
use super::subject::Subject;
use crate::service::{ReadError, ServiceReader};

/// How many owners are asked about at once: enough for the pace of an operation whose answers take a second, and for those
/// that are asked after it.
pub const SIDE_BY_SIDE: usize = 128;

/// An export under way.
pub struct Exporter {
    reader: ServiceReader,
    subject: Subject,
    waiting: IntoIter<Owner>,
    under_way: VecDeque<AbortOnDropHandle<Result<Vec<Row>, ReadError>>>,
    side_by_side: usize,
}

impl Exporter {
    /// Begins to ask about owners as soon as the first rows are wanted.
    pub fn new(reader: ServiceReader, subject: Subject, owners: Vec<Owner>, side_by_side: usize) -> Self {
        let waiting = owners.into_iter();
        Self { reader, subject, waiting, under_way: VecDeque::new(), side_by_side: side_by_side.max(1) }
    }

    /// The rows of the next owner; `None` after the last. Nothing is lost when the future is dropped before it ends.
    ///
    /// # Errors
    ///
    /// Why nothing more can be read.
    pub async fn next(&mut self) -> Option<Result<Vec<Row>, ReadError>> {
        while self.under_way.len() < self.side_by_side
            && let Some(owner) = self.waiting.next()
        {
            let (reader, subject) = (self.reader.clone(), self.subject);
            let task = tokio::spawn(async move { answers::rows(&reader, subject, &owner).await });
            self.under_way.push_back(AbortOnDropHandle::new(task));
        }
        let rows = self.under_way.front_mut()?.await;
        self.under_way.pop_front();
        Some(rows.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())))
    }
}
