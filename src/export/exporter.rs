//! Asks about many owners side by side and gives their rows in order.

use super::answers;
use super::owner::Owner;
use super::rows::Rows;
use super::subject::Subject;
use crate::service::{InOrder, ReadError, ServiceReader};

/// How many owners are asked about at once: enough for the pace of an operation whose answers take a second, and for those
/// that are asked after it.
pub const SIDE_BY_SIDE: usize = 128;

/// How many bytes of answers are kept at once, as far as it can be told from the answers before: about the largest that is
/// read.
const MOST_HELD: usize = 16 * 1024 * 1024;

/// How large the first answers are expected to be, before one is known.
const EXPECTED: usize = 1024 * 1024;

/// An export under way.
pub struct Exporter {
    reader: ServiceReader,
    subject: Subject,
    under_way: InOrder<Result<Rows, ReadError>>,
    side_by_side: usize,
    /// How large an answer is to be expected, in bytes: as the largest of late.
    expected: usize,
}

impl Exporter {
    /// One that has asked nothing yet.
    pub fn new(reader: ServiceReader, subject: Subject, side_by_side: usize) -> Self {
        let under_way = InOrder::default();
        Self { reader, subject, under_way, side_by_side: side_by_side.max(1), expected: EXPECTED }
    }

    /// Whether one more owner may be asked about.
    pub fn has_room(&self) -> bool {
        let more = self.under_way.len() + 1;
        more == 1 || (more <= self.side_by_side && more.saturating_mul(self.expected) <= MOST_HELD)
    }

    /// Begins to ask about an owner.
    pub fn ask(&mut self, owner: Owner) {
        self.under_way.begin(answers::rows(self.reader.clone(), self.subject, owner));
    }

    /// The rows of the owner that was asked about first; `None` when none is asked about. Nothing is lost when the future is
    /// dropped before it ends.
    ///
    /// # Errors
    ///
    /// Why nothing more can be read.
    pub async fn next(&mut self) -> Option<Result<Rows, ReadError>> {
        let answer = self.under_way.next().await?;
        if let Ok(rows) = &answer {
            self.expected = rows.size().max(self.expected / 2);
        }
        Some(answer)
    }
}
