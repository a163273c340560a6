//! What the reading of the sheets makes of each row, kept until the rows are placed: in memory as long as it is little, then in
//! a temporary file without a name, which is gone with the process.

use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use smol_str::SmolStr;
use tempfile::SpooledTempFile;

use super::content_digest::StepsDigest;
use super::left_out::Reason;
use crate::error::{Error, Result};
use crate::journal::{self, ActionShapes, PackedAction, WrittenStep};
use crate::model::action::Action;
use crate::model::key::OwnKey;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::sheet::Row;
use crate::sheet::finding::Code;

/// Bytes that are kept in memory: some ten thousand rows.
const IN_MEMORY: usize = 8 << 20;
/// Stands for the shape of an action that is kept as it is.
const UNPACKED: u64 = 0;
/// Bytes written and read at once.
const CHUNK: usize = 1 << 17;

/// A row as it is kept, beside what it asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct KeptRow {
    /// As a spreadsheet program shows it.
    pub(super) number: u32,
    /// Text tables only: the physical line where it starts.
    pub(super) line: Option<u64>,
    pub(super) cells: Vec<SmolStr>,
    /// What others know it by.
    pub(super) identity: KeptIdentity,
    /// Why it cannot be sent, as far as that lies in the row.
    pub(super) errors: Vec<Reason>,
}

/// What a row is known by, as far as it can be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeptIdentity {
    pub(super) key: Option<SmolStr>,
    pub(super) name: Option<SmolStr>,
    pub(super) unique: Option<SmolStr>,
}

/// What a row asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptDraft {
    /// Its own key, as written.
    pub(super) key: Option<SmolStr>,
    /// What it is known by: the name of its record, or what it changes.
    pub(super) name: SmolStr,
    /// What its job is: one of the kind of its sheet, or of the updates of those.
    pub(super) kind: Kind,
    /// Its natural key before its owner is known, where it creates a record.
    pub(super) own_key: Option<OwnKey>,
    /// A digest of what it asks for.
    pub(super) digest: StepsDigest,
    /// What it asks for.
    pub(super) steps: Vec<KeptStep>,
}

/// A step of what a row asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptStep {
    /// The operation that carries it out.
    pub(super) operation: Operation,
    pub(super) action: KeptAction,
}

/// The action of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum KeptAction {
    /// As the journal keeps it.
    Whole(String),
    /// By its shape: what creates a record says little that the cells do not.
    Packed(PackedAction),
}

impl KeptDraft {
    /// That of a row of a sheet of this kind.
    fn of(row: &Row, sheet: Kind, shapes: &mut ActionShapes) -> Result<Option<Self>> {
        let Some(draft) = &row.draft else { return Ok(None) };
        let kind = match (draft.steps.first(), sheet.updates()) {
            (Some(Action::Update(_)), Some(updates)) => updates,
            (Some(_) | None, _) => sheet,
        };
        let own_key = draft.steps.first().and_then(Action::record).map(OwnKey::of);
        let written = journal::written_steps(kind, &draft.steps)?;
        let digest = StepsDigest::of(&written);
        let mut steps = Vec::with_capacity(written.len());
        for WrittenStep { operation, action } in written {
            let is_creation = steps.is_empty() && own_key.is_some();
            let packed = if is_creation { shapes.pack(&action, &row.cells)? } else { None };
            let action = packed.map_or(KeptAction::Whole(action), KeptAction::Packed);
            steps.push(KeptStep { operation, action });
        }
        let (key, name) = (draft.key.clone(), SmolStr::from(draft.name()));
        Ok(Some(Self { key, name, kind, own_key, digest, steps }))
    }
}

/// Keeps rows, table after table.
pub(super) struct RowKeeper {
    file: BufWriter<SpooledTempFile>,
    written: u64,
    /// Where the rows of each table begin.
    tables: Vec<u64>,
    row: RowBytes,
    shapes: ActionShapes,
}

impl RowKeeper {
    pub(super) fn new() -> Self {
        let file = BufWriter::with_capacity(CHUNK, SpooledTempFile::new(IN_MEMORY));
        Self {
            file,
            written: 0,
            tables: Vec::new(),
            row: RowBytes::default(),
            shapes: ActionShapes::default(),
        }
    }

    /// Begins a table; its rows follow.
    pub(super) fn begin_table(&mut self) {
        self.tables.push(self.written);
    }

    /// Keeps a row of a sheet of this kind.
    pub(super) fn keep(&mut self, row: &Row, sheet: Kind) -> Result<()> {
        let draft = KeptDraft::of(row, sheet, &mut self.shapes)?;
        self.row.clear();
        self.row.row(row, draft.as_ref());
        self.written += self.row.write_to(&mut self.file).map_err(not_kept)?;
        Ok(())
    }

    /// All rows are there.
    pub(super) fn finish(self) -> Result<KeptRows> {
        let file = self.file.into_inner().map_err(|error| not_kept(error.into_error()))?;
        Ok(KeptRows { file: Mutex::new(file), tables: self.tables, shapes: self.shapes })
    }
}

/// Rows that are kept.
pub(super) struct KeptRows {
    /// Whoever reads has it alone.
    file: Mutex<SpooledTempFile>,
    tables: Vec<u64>,
    shapes: ActionShapes,
}

impl KeptRows {
    /// Hands over the first `rows` rows of a table, in their order, each with what it asks for unless it has errors, until
    /// `each` breaks.
    pub(super) fn read(
        &self,
        table: usize,
        rows: u64,
        each: &mut dyn FnMut(KeptRow, Option<KeptDraft>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let start = *self.tables.get(table).ok_or_else(damaged)?;
        file.seek(SeekFrom::Start(start)).map_err(not_read)?;
        let mut file = BufReader::with_capacity(CHUNK, &mut *file);
        let mut bytes = Vec::new();
        for _ in 0..rows {
            let mut length = || {
                let mut length = [0; 4];
                file.read_exact(&mut length).map(|()| u32::from_le_bytes(length) as usize)
            };
            let (numbers, texts) = (length().map_err(not_read)?, length().map_err(not_read)?);
            bytes.resize(numbers + texts, 0);
            file.read_exact(&mut bytes).map_err(not_read)?;
            let (numbers, texts) = bytes.split_at(numbers);
            let (row, draft) = KeptRowReader::row_of(numbers, texts).ok_or_else(damaged)?;
            if each(row, draft)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The shapes of the actions that are packed.
    pub(super) fn shapes(&self) -> &ActionShapes {
        &self.shapes
    }
}

fn not_kept(error: io::Error) -> Error {
    let folder = std::env::temp_dir();
    Error::journal(format!("what was read of the sheets cannot be kept in {}", folder.display()))
        .because(error)
        .hint("make room there, or name another folder with TMPDIR, then type the same command again")
}

fn not_read(error: io::Error) -> Error {
    let folder = std::env::temp_dir();
    Error::journal(format!("what was kept of the sheets in {} can no longer be read", folder.display()))
        .because(error)
        .hint("name another folder with TMPDIR, then type the same command again")
}

fn damaged() -> Error {
    Error::internal("a row that was kept cannot be read again")
}

/// A row as bytes: its numbers, and all its texts as one, which is checked at once when it is read again.
#[derive(Default)]
struct RowBytes {
    /// Each with seven bits in a byte, the lowest first; the eighth says that more follow. And digests as they are.
    numbers: Vec<u8>,
    texts: String,
}

impl RowBytes {
    fn clear(&mut self) {
        self.numbers.clear();
        self.texts.clear();
    }

    /// Writes them behind the length of each; returns how many bytes that takes.
    fn write_to(&self, file: &mut impl io::Write) -> io::Result<u64> {
        let mut written = 0;
        for part in [self.numbers.as_slice(), self.texts.as_bytes()] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?.to_le_bytes();
            file.write_all(&length)?;
            written += (length.len() + part.len()) as u64;
        }
        file.write_all(&self.numbers)?;
        file.write_all(self.texts.as_bytes())?;
        Ok(written)
    }

    fn row(&mut self, row: &Row, draft: Option<&KeptDraft>) {
        self.number(row.number.into());
        self.number(row.line.map_or(0, |line| line + 1));
        self.number(row.cells.len() as u64);
        row.cells.iter().for_each(|cell| self.text(cell));
        let identity = &row.identity;
        [&identity.key, &identity.name, &identity.unique]
            .into_iter()
            .for_each(|text| self.option(text.as_deref()));
        let errors: Vec<Reason> =
            row.findings.iter().filter(|finding| finding.is_error()).map(Reason::of).collect();
        self.number(errors.len() as u64);
        for Reason { code, message, column } in &errors {
            self.number(*code as u64);
            self.text(message);
            self.option(column.as_deref());
        }
        self.number(draft.is_some().into());
        if let Some(draft) = draft {
            self.draft(draft);
        }
    }

    fn draft(&mut self, KeptDraft { key, name, kind, own_key, digest, steps }: &KeptDraft) {
        self.option(key.as_deref());
        self.text(name);
        self.number(kind.index() as u64);
        let (role, own) = match own_key {
            None => (None, None),
            Some(OwnKey::Whole(own)) => (None, Some(own)),
            Some(OwnKey::InOwner(role, own)) => (Some(role.as_str()), Some(own)),
        };
        self.option(role);
        self.option(own.map(String::as_str));
        self.numbers.extend_from_slice(&digest.0);
        self.number(steps.len() as u64);
        for KeptStep { operation, action } in steps {
            self.number(*operation as u64);
            match action {
                KeptAction::Whole(action) => {
                    self.number(UNPACKED);
                    self.text(action);
                }
                KeptAction::Packed(PackedAction { shape, values }) => {
                    self.number(UNPACKED + 1 + *shape as u64);
                    self.option(values.as_deref());
                }
            }
        }
    }

    fn number(&mut self, mut number: u64) {
        while number > 127 {
            self.numbers.push(number as u8 | 128);
            number >>= 7;
        }
        self.numbers.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.texts.push_str(text);
    }

    fn option(&mut self, text: Option<&str>) {
        self.number(text.is_some().into());
        if let Some(text) = text {
            self.text(text);
        }
    }
}

/// What is left to read of a row.
struct KeptRowReader<'b> {
    numbers: &'b [u8],
    texts: &'b str,
}

impl<'b> KeptRowReader<'b> {
    /// The row of which these are the bytes; `None` where they are none.
    fn row_of(numbers: &'b [u8], texts: &'b [u8]) -> Option<(KeptRow, Option<KeptDraft>)> {
        Self { numbers, texts: std::str::from_utf8(texts).ok()? }.row()
    }

    fn row(mut self) -> Option<(KeptRow, Option<KeptDraft>)> {
        let number = u32::try_from(self.number()?).ok()?;
        let line = self.number()?.checked_sub(1);
        let cells = self.list(|from| from.text().map(SmolStr::new))?;
        let identity = KeptIdentity { key: self.option()?, name: self.option()?, unique: self.option()? };
        let errors = self.list(|from| {
            let code = *Code::ALL.get(from.number()? as usize)?;
            let (message, column): (_, Option<String>) = (from.text()?.into(), from.option()?);
            Some(Reason { code, message, column: column.map(Into::into) })
        })?;
        let draft = match self.number()? {
            0 => None,
            _ => Some(self.draft()?),
        };
        let is_all = self.numbers.is_empty() && self.texts.is_empty();
        is_all.then_some((KeptRow { number, line, cells, identity, errors }, draft))
    }

    fn draft(&mut self) -> Option<KeptDraft> {
        let (key, name) = (self.option()?, self.text()?.into());
        let kind = *Kind::ALL.get(self.number()? as usize)?;
        let role: Option<String> = self.option()?;
        let own_key = match (role, self.option()?) {
            (_, None) => None,
            (None, Some(own)) => Some(OwnKey::Whole(own)),
            (Some(role), Some(own)) => {
                let role = Role::ALL.into_iter().find(|known| known.as_str() == role)?;
                Some(OwnKey::InOwner(role, own))
            }
        };
        let (digest, rest) = self.numbers.split_first_chunk()?;
        self.numbers = rest;
        let digest = StepsDigest(*digest);
        let steps = self.list(|from| {
            let operation = *Operation::ALL.get(from.number()? as usize)?;
            let action = match from.number()? {
                UNPACKED => KeptAction::Whole(from.text()?.to_owned()),
                shape => KeptAction::Packed(PackedAction {
                    shape: usize::try_from(shape - UNPACKED - 1).ok()?,
                    values: from.option()?,
                }),
            };
            Some(KeptStep { operation, action })
        })?;
        Some(KeptDraft { key, name, kind, own_key, digest, steps })
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.numbers.split_first()?;
            self.numbers = rest;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(number);
            }
            shift += 7;
        }
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.texts.split_at_checked(length)?;
        self.texts = rest;
        Some(text)
    }

    fn option<T: From<&'b str>>(&mut self) -> Option<Option<T>> {
        Some(match self.number()? {
            0 => None,
            _ => Some(self.text()?.into()),
        })
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = usize::try_from(self.number()?).ok()?;
        // Each has one number at least.
        let mut list = Vec::with_capacity(length.min(self.numbers.len()));
        for _ in 0..length {
            list.push(one(self)?);
        }
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::Finding;
    use crate::sheet::{Options, RowIdentity, open};

    const COMPANY: &str = "11111111-1111-4111-8111-111111111111";

    /// The rows of a sheet with records, an update and a row that is wrong, and their kind.
    fn rows() -> (Vec<Row>, Kind) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sites.csv");
        let sheet = format!(
            "action,id,key,company,name,reference,phone,address1,label:x\n\
             ,,a,{COMPANY},\"Depot, \u{e9}\",R-1,+64 9 555 0100,1 High St,l\n\
             update,{COMPANY},,,Renamed,,,,\n\
             ,,b,{COMPANY},Shop,,nothing,,\n"
        );
        std::fs::write(&path, sheet).unwrap();
        let book = open(&path, &Options::default()).unwrap();
        let mut rows = Vec::new();
        book.read(&book.tables[0], &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        (rows, book.tables[0].kind)
    }

    fn expected(row: &Row, kind: Kind, shapes: &mut ActionShapes) -> (KeptRow, Option<KeptDraft>) {
        let RowIdentity { key, name, unique, .. } = row.identity.clone();
        let is_error = |finding: &&Finding| finding.is_error();
        let kept = KeptRow {
            number: row.number,
            line: row.line,
            cells: row.cells.clone(),
            identity: KeptIdentity { key, name, unique },
            errors: row.findings.iter().filter(is_error).map(Reason::of).collect(),
        };
        (kept, KeptDraft::of(row, kind, shapes).unwrap())
    }

    fn read(kept: &KeptRows, table: usize, rows: u64) -> Vec<(KeptRow, Option<KeptDraft>)> {
        let mut read = Vec::new();
        let each = &mut |row, draft| {
            read.push((row, draft));
            Ok(ControlFlow::Continue(()))
        };
        kept.read(table, rows, each).unwrap();
        read
    }

    #[test]
    fn rows_come_back_as_they_were_kept_table_by_table_however_many_they_are() {
        let (rows, kind) = rows();
        let expected: Vec<(KeptRow, Option<KeptDraft>)> =
            rows.iter().map(|row| expected(row, kind, &mut ActionShapes::default())).collect();
        let kinds: Vec<_> =
            expected.iter().map(|(_, draft)| draft.as_ref().map(|draft| draft.kind)).collect();
        assert_eq!(kinds, [Some(Kind::Site), Kind::Site.updates(), None]);
        assert!(!expected[2].0.errors.is_empty());
        // A second reading is that of an import after its rehearsal.
        for times in [1, IN_MEMORY / 200] {
            let mut keeper = RowKeeper::new();
            keeper.begin_table();
            for _ in 0..times {
                rows.iter().for_each(|row| keeper.keep(row, kind).unwrap());
            }
            let is_in_memory = keeper.written < IN_MEMORY as u64;
            keeper.begin_table();
            keeper.keep(&rows[2], kind).unwrap();
            let kept = keeper.finish().unwrap();
            assert_eq!((is_in_memory, kept.file.lock().unwrap().is_rolled()), (times == 1, times > 1));
            assert_eq!(read(&kept, 1, 1), expected[2..]);
            let all = read(&kept, 0, 3 * times as u64);
            assert!(all.len() == 3 * times && all.chunks(3).all(|rows| rows == expected));
            assert_eq!(read(&kept, 0, 2), expected[..2]);
        }
    }

    #[test]
    fn a_row_that_was_cut_off_is_noticed_wherever_it_ends() {
        let (rows, kind) = rows();
        for row in &rows {
            let mut bytes = RowBytes::default();
            let expected = expected(row, kind, &mut ActionShapes::default());
            bytes.row(row, expected.1.as_ref());
            let (numbers, texts) = (bytes.numbers.as_slice(), bytes.texts.as_bytes());
            assert_eq!(KeptRowReader::row_of(numbers, texts), Some(expected));
            for length in 0..numbers.len() {
                let read = KeptRowReader::row_of(&numbers[..length], texts);
                assert_eq!(read, None, "{length} of {} for numbers", numbers.len());
            }
            for length in 0..texts.len() {
                let read = KeptRowReader::row_of(numbers, &texts[..length]);
                assert_eq!(read, None, "{length} of {} of texts", texts.len());
            }
        }
    }
}
