//! Asks the person at the terminal. Only where somebody can answer, which nobody can to a process in the background;
//! the lines at the bottom make room until then.

use std::io::{self, IsTerminal};

use super::log_format::Level;
use super::{Ink, Line, Terminal};

impl Terminal {
    /// Whether somebody can be asked: a person types and reads, and did not ask for silence.
    pub fn can_ask(&self) -> bool {
        self.interactive
            && !self.manner.quiet
            && !self.manner.json
            && io::stdin().is_terminal()
            && in_foreground()
    }

    /// Asks a question that is answered by yes or no, and hands the answer over on another thread: work goes on
    /// meanwhile. No answer, no more input, and nobody to hear the question is a no.
    pub fn ask(&self, question: &str, answer: impl Fn(bool) + Clone + Send + 'static) {
        // It may have been sent to the background since it was found that somebody can be asked.
        if !in_foreground() {
            return answer(false);
        }
        let terminal = self.clone();
        self.live.hide(true);
        self.write_talk(Level::Info, &Line::new().ink(Ink::Strong, "?").text(" ").text(question));
        let unasked = answer.clone();
        // Not a task: reading cannot be interrupted, and the command must be able to end without an answer.
        let asking = std::thread::Builder::new().name("question".to_owned()).spawn(move || {
            let mut typed = String::new();
            let yes = io::stdin().read_line(&mut typed).is_ok() && says_yes(&typed);
            terminal.live.hide(false);
            answer(yes);
        });
        if asking.is_err() {
            self.live.hide(false);
            unasked(false);
        }
    }
}

/// Whether what is typed reaches this process. One in the background (`fleetload run … &`) is stopped whole by the
/// system as soon as it reads from the terminal.
#[cfg(unix)]
fn in_foreground() -> bool {
    rustix::termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn in_foreground() -> bool {
    true
}

fn says_yes(typed: &str) -> bool {
    matches!(typed.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["y", "Y\n", " yes \r\n"] {
            assert!(says_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n", "no", "yesterday", "y n"] {
            assert!(!says_yes(no), "{no:?}");
        }
    }

    #[test]
    fn where_nobody_reads_nobody_is_asked() {
        let (terminal, _, _) = super::super::testing::terminal(super::super::Manner::default());
        assert!(!terminal.can_ask());
    }
}
