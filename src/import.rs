//! Sheets into the journal: all rows in one transaction, or every problem at once.
//!
//! [`examine`] reads the files once, finds every problem, and keeps what is made of the rows; [`import`] writes that. In
//! memory is only what rows have to do with each other, so that a million rows fit. What a row that was imported before
//! means now is decided in `identity`; sending is left to the run.

mod ahead;
mod content_digest;
mod difference;
mod identity;
mod jobs_of_rows;
mod kept_rows;
mod left_out;
mod placing;
mod prepared;
mod told;

use std::collections::BTreeSet;
use std::mem;
use std::path::PathBuf;

use smol_str::SmolStr;

use kept_rows::{KeptRow, KeptRows, RowKeeper};
use left_out::Reasons;

use crate::error::{Error, Result};
use crate::journal::{ImportWriter, Imported, Journal, KnownJob, Provenance, SheetId};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::record::{Link, Role, Target};
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::zone::ZoneList;
use crate::sheet::cross_row::{Between, By, Checked, EarlierRecord, Known, To};
use crate::sheet::finding::{Code, Finding, Findings, Severity};
use crate::sheet::formula_guard;
use crate::sheet::{
    Book, HiddenRows, Options, Row, RowUse, RowWidths, SeverityPolicy, SourceFile, column_of_role, fold_key,
    open_as,
};

/// What one sheet of an import holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetCount {
    /// The worksheet's name, or the file's without its ending.
    pub name: String,
    /// The file's name.
    pub file: String,
    /// What its rows are.
    pub kind: Kind,
    /// Its rows of data.
    pub rows: u64,
    /// Those that are free of errors, as is everything they depend on.
    pub usable: u64,
}

/// Files that were read and checked.
pub struct Examined {
    books: Vec<Book>,
    /// Of each sheet the book and the table in it, and the number of its first row.
    places: Vec<(usize, usize, usize)>,
    checked: Checked,
    /// What an import takes of the rows; nothing where they were only to be checked.
    kept: Option<KeptRows>,
    policy: SeverityPolicy,
    /// Why rows that are not usable are not, as far as it lies between rows.
    reasons: Reasons,
    /// The sheets, in the order of the files.
    pub sheets: Vec<SheetCount>,
    /// Everything that was found.
    pub findings: Findings,
    /// How the files were read, as the options of a command; kept in the journal for what is corrected of them.
    pub reading: String,
    /// What the import is to be called; without it, by its files.
    pub label: Option<String>,
    /// The time zones of the rows that can be sent, each once.
    zones: BTreeSet<SmolStr>,
}

/// What came of placing the rows in the journal.
#[derive(Debug)]
pub struct Placed {
    /// Which rows were there already, and what the journal has against others.
    pub findings: Findings,
    /// How many rows of each sheet are left out.
    left_out: Vec<u64>,
}

/// What became of an import.
#[derive(Debug)]
pub enum Outcome {
    /// It is in the journal.
    Imported(Imported, Placed),
    /// Nothing was imported, for these reasons.
    Refused(Findings),
}

/// Reads and checks files; with a journal, references may also lead to its records. What is only checked cannot be imported.
///
/// # Errors
/// When a file is named twice or can no longer be read halfway, when the rows cannot be kept, or the journal cannot be read. What
/// is wrong with the sheets is no error but in [`Examined::findings`].
pub fn examine(files: &[PathBuf], options: &Options, journal: Option<&Journal>) -> Result<Examined> {
    refuse_repeated(files)?;
    let mut findings = Findings::under(options.policy.clone());
    if options.list_all {
        findings = findings.listing_all();
    }
    let mut books = Vec::new();
    for (path, name) in files.iter().zip(names(files)) {
        match open_as(path, &name, options) {
            Ok(book) => {
                for table in &book.tables {
                    findings.note_sheet(&table.file, table.worksheet.as_deref());
                }
                findings.extend_whole(book.findings.iter().cloned());
                books.push(book);
            }
            Err(refusal) => findings.extend_whole(refusal),
        }
    }
    let of_files = findings;
    let Looked { mut between, kept, mut reasons, places, mut sheets, mut findings, zones } = loop {
        let (looked, learned) = Looked::through(&books, options, of_files.clone())?;
        if !learn(&mut books, &looked.between, &learned) {
            break looked;
        }
        // What was taken for a remark is a row, or the rows of a file are short by habit: all is looked at again.
    };
    let rows: u64 = sheets.iter().map(|sheet| sheet.rows).sum();
    if rows == 0
        && !options.allow_empty
        && findings.is_clean()
        && let Some(book) = books.first()
    {
        // Blank sheets beside filled ones are right; an import of nothing is not what anybody meant.
        let message = match book.tables.iter().any(|table| formula_guard::is_ours(&table.headers)) {
            true => {
                "no sheet has a row to import: fill in at least one, or, to cancel the rows to be corrected of an import, \
                 type `fleetload cancel IMPORT`"
            }
            false => "no sheet has a row to import: fill in at least one",
        };
        findings.extend_whole([Finding::of_file(Code::SheetEmpty, &book.file.name, message)]);
    }
    for fatal in findings.iter().filter(|finding| finding.severity == Severity::Fatal) {
        between.unread(fatal.kind);
    }
    let checked = between.check(&Earlier(journal), &mut |finding| {
        reasons.add(&finding);
        findings.push(finding);
    })?;
    for (sheet, (_, _, first)) in sheets.iter_mut().zip(&places) {
        let last = first + usize::try_from(sheet.rows).unwrap_or(0);
        sheet.usable = (*first..last).filter(|row| checked.is_usable(*row)).count() as u64;
    }
    Ok(Examined {
        books,
        places,
        checked,
        kept,
        policy: options.policy.clone(),
        reasons,
        sheets,
        findings,
        reading: String::new(),
        label: None,
        zones,
    })
}

/// What one look through the rows of all files came to.
struct Looked {
    between: Between,
    kept: Option<KeptRows>,
    reasons: Reasons,
    places: Vec<(usize, usize, usize)>,
    sheets: Vec<SheetCount>,
    findings: Findings,
    zones: BTreeSet<SmolStr>,
}

/// What only all rows of a book's table tell of it.
struct Learned {
    place: (usize, usize),
    /// Rows that were taken for totals or remarks, with their keys.
    keys_alone: Vec<(u32, SmolStr)>,
    widths: RowWidths,
}

impl Looked {
    /// Reads all rows; `findings` are those about the files.
    fn through(books: &[Book], options: &Options, findings: Findings) -> Result<(Self, Vec<Learned>)> {
        let policy = &options.policy;
        let mut keeper = (options.row_use == RowUse::Import).then(RowKeeper::new);
        let mut between = Between::under(policy.clone()).beside(options.ids.clone());
        let mut reasons = Reasons::default();
        let (mut places, mut sheets, mut learned) = (Vec::new(), Vec::new(), Vec::new());
        let (mut findings, mut rows, mut zones) = (findings, 0, BTreeSet::new());
        for (book_number, book) in books.iter().enumerate() {
            for (table_number, table) in book.tables.iter().enumerate() {
                let number = between.table(table);
                reasons.table(table);
                keeper.iter_mut().for_each(RowKeeper::begin_table);
                places.push((book_number, table_number, rows));
                let judge = |mut row: Row| {
                    row.judge(policy);
                    let Some(draft) = &row.draft else { return Ok(row) };
                    // Those that no list has are as many as there are rows, and one of them tells all that is asked.
                    if let Some(zone) = draft.record().and_then(|record| record.address().timezone.as_ref())
                        && zones.len() <= ZoneList::MOST
                        && !zones.contains(zone)
                    {
                        zones.insert(zone.clone());
                    }
                    Ok(row)
                };
                let summary = ahead::read(book, table, judge, &mut |mut row| {
                    between.add(number, &row);
                    if let Some(keeper) = &mut keeper {
                        keeper.keep(&row, table.kind)?;
                    }
                    rows += 1;
                    findings.extend(row.findings.drain(..));
                    Ok(())
                })?;
                if options.hidden_rows == Some(HiddenRows::Skip)
                    && summary.findings.iter().any(|finding| finding.code == Code::SheetHiddenRows)
                {
                    between.hidden(table.kind);
                }
                findings.extend_whole(summary.findings);
                learned.push(Learned {
                    place: (book_number, table_number),
                    keys_alone: summary.keys_alone,
                    widths: summary.widths,
                });
                sheets.push(SheetCount {
                    name: table.name.clone(),
                    file: table.file.clone(),
                    kind: table.kind,
                    rows: summary.rows,
                    usable: 0,
                });
            }
        }
        let kept = keeper.map(RowKeeper::finish).transpose()?;
        Ok((Self { between, kept, reasons, places, sheets, findings, zones }, learned))
    }
}

/// Notes how wide the rows of a table are, and of those that were taken for remarks which others refer to; whether any of
/// it is new.
fn learn(books: &mut [Book], between: &Between, learned: &[Learned]) -> bool {
    let mut any = false;
    for Learned { place: (book, table), keys_alone, widths } in learned {
        let table = &mut books[*book].tables[*table];
        if table.widths == RowWidths::Header && *widths != table.widths {
            table.widths = *widths;
            any = true;
        }
        for (row, key) in keys_alone {
            if between.is_referred_to(table.kind, key) {
                table.referred.insert(*row);
                any = true;
            }
        }
    }
    any
}

impl Examined {
    /// The files, in the order they were given.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.books.iter().map(|book| &book.file)
    }

    /// The books, with the mapping of their columns.
    pub fn books(&self) -> &[Book] {
        &self.books
    }

    /// The rows with their references resolved.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// By what a row is known when it was left out before, or comes again after it was.
    fn provenance<'a>(&self, table: usize, sheet: SheetId, row: &'a KeptRow) -> Provenance<'a> {
        let (book, table, _) = self.places[table];
        let table = &self.books[book].tables[table];
        let owner = match table.kind {
            Kind::Company => Role::Parent,
            Kind::Site | Kind::Person | Kind::Device => Role::Company,
            Kind::Upkeep(_) => Role::Device,
        };
        let owner =
            table.position(column_of_role(table.kind, owner)).and_then(|column| row.cells.get(column));
        let owner = owner.map(|owner| fold_key(owner)).unwrap_or_default();
        Provenance {
            sheet,
            source: formula_guard::source(&table.headers, &row.cells),
            natural_key: left_out::natural_key(table.kind, row, &owner, &table.headers),
            owner,
        }
    }

    /// Whether the rows, which were read without the service's list of time zones, are read as with it: no row is wrong, no
    /// zone was doubted, and the list has each as it is sent.
    pub fn would_be_the_same_with(&self, list: &ZoneList) -> bool {
        let is_doubted = self.findings.groups().iter().any(|group| group.key.code == Code::CellTimezone);
        let has = |zone: &SmolStr| list.spelled(zone) == Some(zone.as_str());
        self.is_clean() && !is_doubted && self.zones.len() <= ZoneList::MOST && self.zones.iter().all(has)
    }

    /// Takes in what the journal has against rows, and how many are usable for all that.
    pub fn take(&mut self, placed: Placed) {
        self.findings.append(placed.findings);
        for (sheet, left_out) in self.sheets.iter_mut().zip(placed.left_out) {
            sheet.usable = sheet.rows - left_out;
        }
    }

    /// Whether nothing forbids importing all of it.
    pub fn is_clean(&self) -> bool {
        self.findings.is_clean()
    }
}

/// Refuses a file that is named twice: all of its rows would be found twice.
fn refuse_repeated(files: &[PathBuf]) -> Result<()> {
    let mut known: Vec<PathBuf> = Vec::new();
    for file in files {
        let path = file.canonicalize().unwrap_or_else(|_| file.clone());
        if known.contains(&path) {
            let error = Error::usage(format!("{} is named twice", file.display()));
            return Err(error.hint("name every file once"));
        }
        known.push(path);
    }
    Ok(())
}

/// What the files are called: by their names, or as they were given where two have the same name.
fn names(files: &[PathBuf]) -> Vec<String> {
    let same = |file: &PathBuf| files.iter().filter(|other| other.file_name() == file.file_name()).count();
    let short = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
    files
        .iter()
        .map(|file| match short(file) {
            Some(name) if same(file) == 1 => name,
            Some(_) | None => file.display().to_string(),
        })
        .collect()
}

/// Puts all rows into the journal, in one transaction. With any error in the sheets nothing is imported, unless
/// `skip_invalid` leaves out the rows with errors and those that depend on them.
///
/// # Errors
/// When a file has changed since it was examined, or the journal cannot be written. Nothing is imported then.
pub fn import(
    examined: &Examined,
    journal: &mut Journal,
    skip_invalid: bool,
    now: Moment,
) -> Result<Outcome> {
    import_when(examined, journal, skip_invalid, now, &mut |_| Ok(()))
}

/// The same, with a look at what would come of it before it is committed: an error of `look` undoes it.
///
/// # Errors
/// As [`import`], and those of `look`.
pub fn import_when(
    examined: &Examined,
    journal: &mut Journal,
    skip_invalid: bool,
    now: Moment,
    look: &mut dyn FnMut(&ImportWriter<'_>) -> Result<()>,
) -> Result<Outcome> {
    if examined.findings.forbid_import(skip_invalid) {
        return Ok(Outcome::Refused(examined.findings.errors()));
    }
    let (writer, placed) = placed(examined, journal, now)?;
    if !placed.findings.forbid_import(skip_invalid) {
        look(&writer)?;
        Ok(Outcome::Imported(writer.finish()?, placed))
    } else {
        // Dropping the writer undoes all of it.
        Ok(Outcome::Refused(placed.findings))
    }
}

/// What an import would find, without importing: rows that are there already, keys that are taken.
///
/// # Errors
/// As [`import`].
pub fn rehearse(examined: &Examined, journal: &mut Journal, now: Moment) -> Result<Placed> {
    rehearse_with(examined, journal, false, now, &mut |_| Ok(()))
}

/// The same, with a look at what would come of it, unless a finding forbids the import.
///
/// # Errors
/// As [`import`], and those of `look`.
pub fn rehearse_with(
    examined: &Examined,
    journal: &mut Journal,
    skip_invalid: bool,
    now: Moment,
    look: &mut dyn FnMut(&ImportWriter<'_>) -> Result<()>,
) -> Result<Placed> {
    let (writer_that_is_dropped, placed) = placed(examined, journal, now)?;
    if !placed.findings.forbid_import(skip_invalid) {
        look(&writer_that_is_dropped)?;
    }
    Ok(placed)
}

/// Places the rows, and counts those that the journal leaves usable.
fn placed<'j>(
    examined: &Examined,
    journal: &'j mut Journal,
    now: Moment,
) -> Result<(ImportWriter<'j>, Placed)> {
    let (writer, findings) = placing::place(examined, journal, now)?;
    let left_out = writer.sheets().map(|sheet| writer.left_out_of_sheet(sheet)).collect::<Result<_>>()?;
    Ok((writer, Placed { findings, left_out }))
}

/// Records of earlier imports among which one is sought that is like what a row refers to: walked over for each such row.
const EARLIER_NAMES: u32 = 10_000;

/// The records of earlier imports in a journal, if there is one.
struct Earlier<'a>(Option<&'a Journal>);

impl Known for Earlier<'_> {
    fn find(&self, kind: Kind, by: By<'_>) -> Result<Vec<JobId>> {
        let Some(journal) = self.0 else { return Ok(Vec::new()) };
        let mut jobs = match by {
            By::Key(key) => journal.by_any_key(kind, key)?,
            By::Name(name) => journal.by_name(kind, name)?,
            By::Mac(digits) => journal.by_natural_key(kind, digits)?.into_iter().collect(),
            By::Id(id) => journal.by_remote_id(kind, id)?.into_iter().collect(),
        };
        if jobs.len() > 1 {
            drop_replaced(journal, &mut jobs)?;
        }
        Ok(jobs.into_iter().map(|job| job.job).collect())
    }

    fn given_up(&self, folded_key: &str, beside: JobId) -> Result<Option<JobId>> {
        let Some(journal) = self.0 else { return Ok(None) };
        let jobs = journal.by_any_key(Kind::Company, folded_key)?;
        let owner = |job: &KnownJob| company_of(journal, &job.links);
        let Some(own) = jobs.iter().find(|job| job.job == beside) else { return Ok(None) };
        let own = owner(own)?;
        for job in &jobs {
            let is_given_up = job.state == JobState::Cancelled && job.remote_id.is_none();
            if is_given_up && job.job != beside && owner(job)? != own {
                return Ok(Some(job.job));
            }
        }
        Ok(None)
    }

    fn record(&self, job: JobId) -> Result<EarlierRecord> {
        let journal = self.0.ok_or_else(|| Error::internal(format!("job {job} of no journal")))?;
        let company = company_of(journal, &journal.links_of(job)?)?.map(|company| match company {
            Target::Job(job) => To::Job(job),
            Target::Remote(id) => To::Remote(id),
        });
        let (id, name, place) = journal.named_in(job)?;
        Ok(EarlierRecord { name, company, id, place })
    }

    fn left_out(&self, kind: Kind, by: By<'_>) -> Result<Option<ImportId>> {
        match (self.0, by) {
            (Some(journal), By::Key(key)) => journal.left_out_by_key(kind, key),
            (Some(journal), By::Name(name)) => journal.left_out_by_name(kind, name),
            (None, _) | (_, By::Mac(_) | By::Id(_)) => Ok(None),
        }
    }

    fn names(&self, kind: Kind) -> Result<Vec<(Option<String>, String)>> {
        self.0.map_or(Ok(Vec::new()), |journal| journal.keys_and_names(kind, EARLIER_NAMES))
    }
}

/// The company that a job belongs to: as a job, where one owns its record.
fn company_of(journal: &Journal, links: &[Link]) -> Result<Option<Target>> {
    Ok(match identity::owner(links) {
        Some(Target::Remote(id)) => {
            let made = journal.by_remote_id(Kind::Company, id)?;
            Some(made.map_or(Target::Remote(id), |made| Target::Job(made.job)))
        }
        owner => owner,
    })
}

/// Drops what is not meant where a job that is wanted has the same key or name: cancelled jobs, and jobs of the same owner that
/// came to nothing, as it took their place. The rejected row of another owner may be the one that is meant.
fn drop_replaced(journal: &Journal, jobs: &mut Vec<KnownJob>) -> Result<()> {
    let owner = |job: &KnownJob| company_of(journal, &job.links);
    let is_wanted = |job: &KnownJob| !identity::came_to_nothing(job);
    let owners = jobs.iter().filter(|job| is_wanted(job)).map(&owner).collect::<Result<Vec<_>>>()?;
    if owners.is_empty() {
        return Ok(());
    }
    for job in mem::take(jobs) {
        if is_wanted(&job) || job.state != JobState::Cancelled && !owners.contains(&owner(&job)?) {
            jobs.push(job);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
