//! Work side by side whose results come in the order in which it was begun.

use std::collections::VecDeque;

use tokio_util::task::AbortOnDropHandle;

/// See the module. What is still under way ends when this is dropped.
#[derive(Debug)]
pub struct InOrder<T>(VecDeque<AbortOnDropHandle<T>>);

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Send + 'static> InOrder<T> {
    /// How much is under way, or done and not yet taken.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Begins one more.
    pub fn begin(&mut self, work: impl Future<Output = T> + Send + 'static) {
        self.0.push_back(AbortOnDropHandle::new(tokio::spawn(work)));
    }

    /// The result of the one that was begun first; `None` when nothing is under way. Nothing is lost when the future is
    /// dropped before it ends.
    pub async fn next(&mut self) -> Option<T> {
        let result = self.0.front_mut()?.await;
        self.0.pop_front();
        Some(result.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())))
    }
}
