//! To whom notifications are delivered. A try is bounded in time and in what it reads, and says why it failed.

mod command;
mod signature;
mod webhook;

use super::Notification;

pub use command::CommandTarget;
pub use webhook::WebhookTarget;

/// Why a try failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It may succeed later.
    Passing(String),
    /// There was no answer, or no end, in time; it may succeed later.
    Late(String),
    /// The receiver refuses this one: to try again soon is of no use.
    Refused(String),
}

impl Failure {
    /// Why, in words.
    pub fn words(&self) -> &str {
        match self {
            Self::Passing(words) | Self::Late(words) | Self::Refused(words) => words,
        }
    }
}

/// A receiver.
#[derive(Debug)]
pub enum Target {
    /// An address that takes a request.
    Webhook(WebhookTarget),
    /// A command that is started.
    Command(CommandTarget),
}

impl Target {
    /// The word for a webhook.
    pub const WEBHOOK: &'static str = "webhook";
    /// The word for a command.
    pub const COMMAND: &'static str = "command";

    /// The word for it, in the journal too.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Webhook(_) => Self::WEBHOOK,
            Self::Command(_) => Self::COMMAND,
        }
    }

    /// Tries once.
    ///
    /// # Errors
    /// Why it is not delivered, as far as is known.
    pub async fn deliver(&self, notification: &Notification) -> Result<(), Failure> {
        match self {
            Self::Webhook(webhook) => webhook.deliver(notification).await,
            Self::Command(command) => command.deliver(notification).await,
        }
    }
}
