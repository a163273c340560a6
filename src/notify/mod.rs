//! Notifications: tells others what a run came to, by a webhook or a command. What is to be told is noted in the journal
//! first, each change once, and stays there until it is delivered; a run is never held up by it.
//!
//! Which news is worth telling is decided by the [`Observer`]; the words are those of the terminal, composed by `cli`.
//!
//! ```text
//! notification  what is delivered: a change with its facts         observer  which news of a run is reported
//! format/       the forms of it: Slack, Teams, mail, environment   target/   webhook and command: one try each
//! courier       the thread that notes, delivers and tries again
//! ```

mod courier;
mod format;
mod notification;
mod observer;
mod target;

pub use courier::{Courier, Delivering, Left};
pub use format::Format;
pub use notification::{Draft, Event, ImportFacts, NeedFacts, Notification};
pub use observer::{Observer, Occasion};
pub use target::{CommandTarget, Failure, Target, WebhookTarget};
