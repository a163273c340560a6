//! The command to type next, so that it is about the same journal, account and rehearsal as the one before.
//!
//! The one owner of such lines: the terminal, the tables, the workbooks and the pages take them from here. Advice is
//! written with bare commands, which [`Again::said`] completes; one that is complete stays as it is.

use std::path::Path;

use crate::advice::{Advice, Piece, quoted};

/// How fleetload is called again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Again {
    /// What stands for the name of the program, where it is started by another one.
    program: Option<String>,
    /// Options that every command takes, each with its value.
    common: Vec<(&'static str, String)>,
    /// Options of a rehearsal.
    rehearsal: Vec<(&'static str, String)>,
    /// How files are read, each option with a space before it.
    reading: String,
}

/// How advice imports a file that was corrected.
const RUN: &str = "fleetload run FILE";
/// What stands for the name of a file in advice.
const FILE: &str = " FILE";
/// The commands that may be a rehearsal.
const REHEARSED: &[&str] = &["run", "plan", "doctor", "resolve", "find", "export", "call", "rollout"];

impl Again {
    /// Through another program, which starts fleetload with options of its own: `sudo fleetload-service`.
    #[must_use]
    pub fn through(mut self, program: &str) -> Self {
        self.program = Some(program.to_owned());
        self
    }

    /// With an option that every command takes; one that stands alone has an empty value.
    #[must_use]
    pub fn with(mut self, option: &'static str, value: &str) -> Self {
        self.common.push((option, value.to_owned()));
        self
    }

    /// As a rehearsal, with the file of what the simulated service does wrong.
    #[must_use]
    pub fn rehearsing(mut self, scenario: Option<&Path>) -> Self {
        self.rehearsal.push(("--sandbox", String::new()));
        self.rehearsal.extend(scenario.map(|file| ("--scenario", file.to_string_lossy().into_owned())));
        self
    }

    /// With the options by which files are read, each with a space before it.
    #[must_use]
    pub fn reading(mut self, options: String) -> Self {
        self.reading = options;
        self
    }

    /// A command with everything that matters: `run`, `resolve 7 --abandon`. Options that it has already stay.
    pub fn command(&self, command: &str) -> String {
        let rehearsed = REHEARSED.iter().any(|name| command.split(' ').next() == Some(name));
        let mut line = format!("{} {command}", self.program.as_deref().unwrap_or("fleetload"));
        for (option, value) in self.common.iter().chain(self.rehearsal.iter().filter(|_| rehearsed)) {
            if command.split(' ').any(|word| word == *option) {
                continue;
            }
            line.push(' ');
            line.push_str(option);
            if !value.is_empty() {
                line.push(' ');
                line.push_str(&quoted(value));
            }
        }
        line
    }

    /// The same for a command that takes a file of ours or one that was corrected.
    pub fn with_file(&self, command: &str, file: &Path) -> String {
        self.command(&format!("{command} {}{}", quoted(&file.to_string_lossy()), self.reading))
    }

    /// An advice with its commands completed; `corrected` is the file of rows to correct, where there is one.
    pub fn said(&self, advice: &Advice, corrected: Option<&Path>) -> Advice {
        // What is decided first is not among the rows to correct.
        let decides = advice.commands().any(|line| line.starts_with("fleetload resolve "));
        let corrected = corrected.filter(|_| !decides);
        advice.map(|piece| match (piece, corrected) {
            (Piece::Command(RUN), Some(file)) => self.with_file("run", file),
            (Piece::Command(command), _) => self.completed(command),
            (Piece::Words(words), _) => words.to_owned(),
        })
    }

    fn completed(&self, command: &str) -> String {
        let program = self.program.as_deref().unwrap_or("fleetload");
        let bare =
            [program, "fleetload"].iter().find_map(|name| command.strip_prefix(name)?.strip_prefix(' '));
        // It is one of another program.
        let Some(bare) = bare else { return command.to_owned() };
        match bare.split_once(FILE) {
            Some((before, after)) if !after.starts_with(&self.reading) || self.reading.is_empty() => {
                self.command(&format!("{before}{FILE}{}{after}", self.reading))
            }
            Some(_) | None => self.command(bare),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a command was typed with a journal of its own, for a customer, as a rehearsal.
    fn again() -> Again {
        let again = Again::default().with("--journal", "my jobs.db").with("--any-storage", "");
        again.rehearsing(Some(Path::new("bad-day.toml"))).reading(" --customer northern".into())
    }

    #[test]
    fn a_command_is_about_the_same_journal_and_is_a_rehearsal_where_it_may_be_one() {
        let table = [
            ("run", "fleetload run --journal 'my jobs.db' --any-storage --sandbox --scenario bad-day.toml"),
            ("retry 3 --code a.b", "fleetload retry 3 --code a.b --journal 'my jobs.db' --any-storage"),
            (
                "run FILE --journal NEW.db",
                "fleetload run FILE --journal NEW.db --any-storage --sandbox --scenario bad-day.toml",
            ),
        ];
        for (command, expected) in table {
            assert_eq!(again().command(command), expected);
            assert_eq!(Again::default().command(command), format!("fleetload {command}"));
            let through = Again::default().through("sudo fleetload-service");
            assert_eq!(through.command(command), format!("sudo fleetload-service {command}"));
        }
    }

    #[test]
    fn the_workbook_to_run_is_named_where_there_is_one_and_read_as_the_sheets_were() {
        let fix = Path::new("reports/1/fix.xlsx");
        let words = |advice: Advice| advice.words("Correct the row and type: ").command("fleetload run FILE");
        let advice = "Correct the row and type: fleetload run FILE";
        let with = |again: &Again, fix| again.said(&words(Advice::new()), fix).to_string();
        assert_eq!(
            with(&Again::default(), Some(fix)),
            "Correct the row and type: fleetload run reports/1/fix.xlsx"
        );
        assert_eq!(with(&Again::default(), None), advice);
        let options =
            "--customer northern --journal 'my jobs.db' --any-storage --sandbox --scenario bad-day.toml";
        assert_eq!(
            with(&again(), Some(fix)),
            format!("Correct the row and type: fleetload run reports/1/fix.xlsx {options}")
        );
        assert_eq!(with(&again(), None), format!("{advice} {options}"));
        let decided = words(Advice::new().command("fleetload resolve 7 --abandon"));
        assert_eq!(Again::default().said(&decided, Some(fix)), decided, "it is not among those rows");
    }

    #[test]
    fn what_is_complete_stays_and_so_does_what_another_program_takes() {
        for again in [again(), again().through("sudo fleetload-service"), Again::default()] {
            for command in ["fleetload run FILE", "fleetload status --all", "fleetload plan FILE --save PLAN"]
            {
                let once = again.said(&Advice::new().command(command), None);
                assert_eq!(again.said(&once, None), once);
            }
            let other = Advice::new().command("kill -CONT 17");
            assert_eq!(again.said(&other, None), other);
        }
    }
}
