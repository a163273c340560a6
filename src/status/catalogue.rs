//! The catalogue of codes: what each means in plain words, what follows from it, and what a person does about it.
//!
//! The one place for these words: the terminal, the reports, the page and `explain` take them from here. They stand in
//! `catalogue/*.toml`, one file a scope; those of the ways a command ends in [`crate::ending`]. Which codes there are is said
//! where they come from ([`crate::model::reason`], [`crate::model::verdict`], the findings of sheets); tests on both sides see
//! that none lacks its entry. What is to be done about one row, as it stands, is left to [`super::row_advice`].

use std::sync::LazyLock;

use serde::Deserialize;

use crate::advice::{Advice, Parts, Piece};
use crate::ending::End;
use crate::model::amount::capitalised;
use crate::model::state::JobState;
use crate::sheet::finding::Code;

/// Where a code comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// What was found in a sheet before anything was sent.
    Sheets,
    /// What the service says, section 7 of its specification.
    Service,
    /// An answer that was lost, or did not tell what became of a request.
    Answers,
    /// Why a row waits, is held, was refused by a rule of ours, or was given up; and what reading back found.
    Rows,
    /// The state of a row.
    States,
    /// How the work stands.
    Work,
    /// The number a command ends with.
    Exits,
    /// Why a command ended, as its summary says for programs.
    Endings,
}

impl Scope {
    /// Every scope, in the order they are listed.
    pub const ALL: [Self; 8] = [
        Self::Sheets,
        Self::Service,
        Self::Answers,
        Self::Rows,
        Self::States,
        Self::Work,
        Self::Exits,
        Self::Endings,
    ];

    /// What its codes are about, as a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sheets => "Findings in sheets",
            Self::Service => "Codes of the service",
            Self::Answers => "Answers after which the outcome of a request is unknown",
            Self::Rows => "Decisions about rows, and findings of verification",
            Self::States => "States of a row",
            Self::Work => "How the work stands",
            Self::Exits => "Exit codes",
            Self::Endings => "Reasons for which a command ends",
        }
    }

    /// One code of it, in words.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Sheets => "a finding in a sheet",
            Self::Service => "a code of the service (section 7 of its specification)",
            Self::Answers => "a note about a request whose outcome is unknown",
            Self::Rows => "a decision about a row, or a finding of verification",
            Self::States => "a state of a row",
            Self::Work => "how the work stands",
            Self::Exits => "an exit code",
            Self::Endings => "a reason for which a command ends",
        }
    }

    /// What [`Entry::follows`] tells, as a heading.
    pub const fn follows(self) -> &'static str {
        match self {
            Self::Sheets => "Why it matters",
            Self::Service | Self::Answers | Self::Rows | Self::States => "What fleetload does",
            Self::Work | Self::Exits | Self::Endings => "What it means",
        }
    }

    /// Its entries as they are written down; those of the ways a command ends are code.
    const fn written(self) -> Option<&'static str> {
        match self {
            Self::Sheets => Some(include_str!("catalogue/sheets.toml")),
            Self::Service => Some(include_str!("catalogue/service.toml")),
            Self::Answers => Some(include_str!("catalogue/answers.toml")),
            Self::Rows => Some(include_str!("catalogue/rows.toml")),
            Self::States => Some(include_str!("catalogue/states.toml")),
            Self::Work => Some(include_str!("catalogue/work.toml")),
            Self::Exits => Some(include_str!("catalogue/exits.toml")),
            Self::Endings => None,
        }
    }
}

/// One code and everything there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The written form.
    pub code: String,
    /// Where it comes from.
    pub scope: Scope,
    /// What it means: one sentence without its full stop, so that others can go on from it.
    pub words: String,
    /// What would happen if it were accepted, or what fleetload does about it; in sentences.
    pub follows: String,
    /// What a person does; `{job}`, `{import}` and `{code}` stand for the row's. Empty where nothing is to be done.
    advice: Advice,
    /// A cell as it stands and as it should be, where that says more than words.
    pub example: Option<(String, String)>,
}

impl Entry {
    fn of_ending(end: End) -> Self {
        let entry = end.entry();
        Self {
            code: end.as_str().to_owned(),
            scope: Scope::Endings,
            words: entry.words.to_owned(),
            follows: entry.follows.to_owned(),
            advice: of_parts(entry.advice),
            example: None,
        }
    }

    /// What it means, as a whole sentence.
    pub fn sentence(&self) -> String {
        format!("{}.", capitalised(&self.words))
    }

    /// What a person does; the job and the import stand as they are given. Empty where nothing is to be done.
    pub fn advice(&self, job: &str, import: &str) -> Advice {
        self.advice.map(|piece| {
            let (Piece::Words(text) | Piece::Command(text)) = piece;
            text.replace("{job}", job).replace("{import}", import).replace("{code}", &self.code)
        })
    }

    /// Whether nothing is to be done about it.
    pub fn needs_nobody(&self) -> bool {
        self.advice.is_empty()
    }
}

/// A file of entries.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryFile {
    code: Vec<WrittenEntry>,
    in_no_cell: Option<WrittenEntry>,
}

/// An entry as it is written down; what it does not say itself is as in the entry of the code that it is `like`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntry {
    code: String,
    words: String,
    like: Option<String>,
    follows: Option<String>,
    advice: Option<Vec<WrittenPiece>>,
    example: Option<(String, String)>,
}

/// A piece of an advice: a text to be read, or a command to be typed behind the name of the program.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenPiece {
    Words(String),
    Command { command: String },
}

impl WrittenEntry {
    fn entry(self, scope: Scope, before: &[Entry]) -> Entry {
        let like = self.like.and_then(|like| before.iter().find(|entry| entry.code == like));
        let pieces = |pieces: Vec<WrittenPiece>| {
            pieces.into_iter().fold(Advice::new(), |advice, piece| match piece {
                WrittenPiece::Words(words) => advice.words(words),
                WrittenPiece::Command { command } => advice.command(typed(&command)),
            })
        };
        Entry {
            scope,
            words: self.words,
            follows: self.follows.or(like.map(|like| like.follows.clone())).unwrap_or_default(),
            advice: self.advice.map(pieces).or(like.map(|like| like.advice.clone())).unwrap_or_default(),
            code: self.code,
            example: self.example,
        }
    }
}

/// An advice that is written down as code.
fn of_parts(parts: Parts) -> Advice {
    parts.iter().fold(Advice::new(), |advice, part| match part {
        Piece::Words(words) => advice.words(words),
        Piece::Command(command) => advice.command(typed(command)),
    })
}

/// A command without the options of the journal and the account: `fleetload retry 3`.
pub fn typed(command: &str) -> String {
    format!("fleetload {command}")
}

/// All entries, in the order of the scopes.
struct Catalogue {
    entries: Vec<Entry>,
    in_no_cell: Option<Entry>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let mut catalogue = Catalogue { entries: Vec::new(), in_no_cell: None };
    for scope in Scope::ALL {
        let Some(text) = scope.written() else {
            catalogue.entries.extend(End::ALL.iter().copied().map(Entry::of_ending));
            continue;
        };
        let written: EntryFile =
            toml::from_str(text).expect("the files are part of the program, and every test reads them");
        let mut of_scope: Vec<Entry> = Vec::new();
        for entry in written.code {
            let entry = entry.entry(scope, &of_scope);
            of_scope.push(entry);
        }
        let in_no_cell = written.in_no_cell.map(|entry| entry.entry(scope, &of_scope));
        catalogue.in_no_cell = catalogue.in_no_cell.or(in_no_cell);
        catalogue.entries.append(&mut of_scope);
    }
    catalogue
});

fn entries() -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.entries.iter()
}

/// Every entry of a scope, in the order of its subject.
pub fn of_scope(scope: Scope) -> Vec<&'static Entry> {
    entries().filter(|entry| entry.scope == scope).collect()
}

/// The entry of a code that a row, an attempt or a finding about a record may carry.
pub fn of_row(code: &str) -> Option<&'static Entry> {
    entries().find(|entry| {
        matches!(entry.scope, Scope::Service | Scope::Answers | Scope::Rows) && entry.code == code
    })
}

/// The entry of a reference to something that does not exist and that no cell names.
pub fn of_reference_in_no_cell() -> Option<&'static Entry> {
    CATALOGUE.in_no_cell.as_ref()
}

/// The entry of a finding in a sheet.
pub fn of_sheet(code: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.scope == Scope::Sheets && entry.code == code)
}

/// The entry of a finding in a sheet, by its code.
pub fn of_finding(code: Code) -> &'static Entry {
    of_sheet(code.as_str()).expect("every finding is in the catalogue, which a test sees to")
}

/// The entry of a state.
pub fn of_state(state: JobState) -> &'static Entry {
    entries()
        .find(|entry| entry.scope == Scope::States && entry.code == state.as_str())
        .expect("every state is in the catalogue, which a test sees to")
}

/// Everything that goes by this word, whatever its case: a code, a state, or the number of an exit code.
pub fn all_of(word: &str) -> Vec<&'static Entry> {
    entries().filter(|entry| entry.code.eq_ignore_ascii_case(word)).collect()
}

/// The codes that a word may have been meant for, three at most, the most alike first. A word may also be what a code has
/// behind its dot.
pub fn nearest(word: &str) -> Vec<&'static str> {
    let codes = || entries().map(|entry| entry.code.as_str());
    let slug = |code: &'static str| code.split_once('.').map_or(code, |(_, slug)| slug);
    let mut found = crate::sheet::nearest(word, codes());
    for near in crate::sheet::nearest(word, codes().map(slug)) {
        found.extend(codes().find(|code| slug(code) == near).filter(|code| !found.contains(code)));
    }
    found.truncate(3);
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ending::State;
    use crate::model::reason::{Reason, ServiceCode};
    use crate::model::verdict::Doubt;
    use crate::status::RunState;

    #[test]
    fn every_code_that_a_row_or_an_attempt_may_carry_has_its_entry_and_no_other_has() {
        let mut listed: HashSet<&str> = HashSet::new();
        let of_service = ServiceCode::ALL.iter().map(|code| (code.as_str(), Scope::Service));
        let of_answers = Doubt::ALL.iter().map(|doubt| (doubt.code(), Scope::Answers));
        let of_rows = Reason::ALL.iter().map(|reason| (reason.as_str(), Scope::Rows));
        for (code, scope) in of_service.chain(of_answers).chain(of_rows) {
            assert_eq!(of_row(code).map(|entry| entry.scope), Some(scope), "{code}");
            assert!(listed.insert(code), "{code} is written twice");
        }
        let known: HashSet<&str> = [Scope::Service, Scope::Answers, Scope::Rows]
            .into_iter()
            .flat_map(of_scope)
            .map(|entry| entry.code.as_str())
            .collect();
        assert_eq!(known, listed);
    }

    #[test]
    fn every_finding_is_in_the_catalogue_and_the_catalogue_has_no_other() {
        for code in Code::ALL {
            let entry = of_sheet(code.as_str()).unwrap();
            assert!(code.rule() != Some(entry.words.as_str()), "{code}");
        }
        assert_eq!(of_scope(Scope::Sheets).len(), Code::ALL.len());
    }

    /// The code below a folder without its tests, file by file.
    fn sources(folder: &std::path::Path) -> Vec<(std::path::PathBuf, String)> {
        let of_tests = ["tests", "tests.rs", "fixture.rs", "conformance.rs"];
        let mut found = Vec::new();
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if of_tests.contains(&&*name) || name.ends_with("_tests.rs") {
                continue;
            }
            if path.is_dir() {
                found.extend(sources(&path));
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
                found.push((path, code));
            }
        }
        found
    }

    #[test]
    fn no_room_writes_a_code_of_its_own_beside_the_lists() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut seen = 0;
        for (file, text) in
            ["run", "journal", "service"].into_iter().flat_map(|room| sources(&source.join(room)))
        {
            seen += 1;
            // What the service says is compared there as it came.
            let judges = file.ends_with("service/judge.rs") || file.ends_with("service/envelope.rs");
            for line in text.lines().filter(|_| !judges) {
                assert!(
                    !line.contains("code: \"") && !line.contains("code = \""),
                    "{}: {line}",
                    file.display()
                );
                for literal in line.split('"').skip(1).step_by(2) {
                    let listed = of_row(literal).is_some() && !line.contains("failpoint::");
                    assert!(!listed, "{}: {line}", file.display());
                }
            }
        }
        assert!(seen > 60, "only {seen} files were read");
    }

    #[test]
    fn no_code_is_listed_twice_in_its_scope_and_every_entry_has_its_parts_in_good_form() {
        let mut seen = HashSet::new();
        for entry in entries() {
            let code = entry.code.as_str();
            assert!(seen.insert((entry.scope, code)), "{code}");
            assert!(!entry.words.is_empty() && !entry.words.ends_with('.'), "{code}: {}", entry.words);
            assert!(entry.follows.ends_with('.'), "{code}: {}", entry.follows);
            for text in [&entry.words, &entry.follows, entry.advice("7", "3").as_str()] {
                assert!(
                    !text.contains("  ") && !text.contains('\n') && text.trim() == text,
                    "{code}: {text}"
                );
            }
            // What is only noted, and what is done, needs nobody.
            let done = [Scope::States, Scope::Work, Scope::Exits, Scope::Endings].contains(&entry.scope);
            assert!(!entry.advice.is_empty() || done, "{code} says nothing of what to do");
            assert!(!entry.advice("7", "3").as_str().contains('{'), "{code}: {:?}", entry.advice);
        }
        assert!(seen.len() > 150, "{}", seen.len());
    }

    #[test]
    fn every_state_and_exit_code_is_explained_and_only_what_is_done_needs_nobody() {
        for &state in JobState::ALL {
            assert_eq!(of_state(state).needs_nobody(), state.is_success(), "{state}");
        }
        assert_eq!(of_scope(Scope::States).len(), JobState::ALL.len());
        let work: Vec<&str> = of_scope(Scope::Work).iter().map(|entry| entry.code.as_str()).collect();
        let of_ends = State::ALL.iter().map(|state| state.as_str());
        assert!(of_ends.chain([RunState::Running.word(), RunState::Empty.word()]).eq(work));
        let mut codes: Vec<String> = End::ALL.iter().map(|end| end.exit().code().to_string()).collect();
        codes.dedup();
        assert_eq!(of_scope(Scope::Exits).iter().map(|entry| entry.code.clone()).collect::<Vec<_>>(), codes);
        assert!(of_reference_in_no_cell().is_some());
    }

    #[test]
    fn a_word_finds_its_codes_whatever_its_case() {
        let codes = |word: &str| all_of(word).iter().map(|e| (e.scope, e.code.as_str())).collect::<Vec<_>>();
        assert_eq!(codes("CELL.MAC"), [(Scope::Sheets, "cell.mac")]);
        assert_eq!(codes("nodatafound"), [(Scope::Service, "noDataFound")]);
        assert_eq!(codes("answer.Timeout"), [(Scope::Answers, "answer.timeout")]);
        assert_eq!(codes("existing"), [(Scope::Rows, "existing"), (Scope::States, "existing")]);
        assert_eq!(codes("4"), [(Scope::Exits, "4")]);
        assert_eq!(codes("cell.nothing"), []);
    }

    #[test]
    fn a_word_that_is_nearly_a_code_is_answered_with_it() {
        let table = [
            ("cell.mac-lenght", "cell.mac-length"),
            ("numeric-identifier", "cell.numeric-identifier"),
            ("noDataFond", "noDataFound"),
            ("in doubt", "in_doubt"),
            ("lookup.inconclusiv", "lookup.inconclusive"),
        ];
        for (typed, meant) in table {
            assert_eq!(nearest(typed).first(), Some(&meant), "{typed}: {:?}", nearest(typed));
        }
        assert_eq!(nearest("wheelbarrow"), Vec::<&str>::new());
    }
}
