//! Questions that a run has for the person at the terminal, one at a time. The run goes on meanwhile; what is asked
//! and what follows from the answer is decided in [`crate::run`].

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::model::event::Event;
use crate::model::id::SheetId;
use crate::run::Interrupt;
use crate::term::Terminal;

/// The questions of one run.
pub(super) struct Questions<'a> {
    terminal: &'a Terminal,
    waiting: VecDeque<(SheetId, String)>,
    /// Whether one is before the person.
    asked: bool,
    tell: mpsc::UnboundedSender<Interrupt>,
    answers: mpsc::UnboundedReceiver<Interrupt>,
}

impl<'a> Questions<'a> {
    pub(in crate::cli) fn new(terminal: &'a Terminal) -> Self {
        let (tell, answers) = mpsc::unbounded_channel();
        Self { terminal, waiting: VecDeque::new(), asked: false, tell, answers }
    }

    /// Puts the question, when a piece of news is one.
    pub(in crate::cli) fn take(&mut self, event: &Event) {
        if let Event::SheetPaused { sheet, title, asks: true, .. } = event {
            let question = format!("send the other rows of {title} anyway? (y/N)");
            self.waiting.push_back((*sheet, question));
            self.ask();
        }
    }

    /// Waits for the next answer.
    pub(in crate::cli) async fn answer(&mut self) -> Interrupt {
        match self.answers.recv().await {
            Some(answer) => {
                self.asked = false;
                self.ask();
                answer
            }
            // Never: the sender is kept here.
            None => std::future::pending().await,
        }
    }

    fn ask(&mut self) {
        if self.asked {
            return;
        }
        let Some((sheet, question)) = self.waiting.pop_front() else { return };
        self.asked = true;
        let tell = self.tell.clone();
        self.terminal.ask(&question, move |yes| {
            let answer = if yes { Interrupt::GoOn(sheet) } else { Interrupt::Leave(sheet) };
            let _ended_meanwhile = tell.send(answer);
        });
    }
}
