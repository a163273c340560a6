//! What the reading of the sheets makes of each row, kept until the rows are placed: in memory as long as it is little, then in
//! a temporary file without a name, which is gone with the process.

use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
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
    row: Vec<u8>,
    shapes: ActionShapes,
}

impl RowKeeper {
    pub(super) fn new() -> Self {
        let file = BufWriter::with_capacity(CHUNK, SpooledTempFile::new(IN_MEMORY));
        Self { file, written: 0, tables: Vec::new(), row: Vec::new(), shapes: ActionShapes::default() }
    }

    /// Begins a table; its rows follow.
    pub(super) fn begin_table(&mut self) {
        self.tables.push(self.written);
    }

    /// Keeps a row of a sheet of this kind.
    pub(super) fn keep(&mut self, row: &Row, sheet: Kind) -> Result<()> {
        let draft = KeptDraft::of(row, sheet, &mut self.shapes)?;
        self.row.clear();
        put_row(&mut self.row, row, draft.as_ref());
        let length = u32::try_from(self.row.len()).map_err(io::Error::other).map_err(not_kept)?.to_le_bytes();
        self.file.write_all(&length).and_then(|()| self.file.write_all(&self.row)).map_err(not_kept)?;
        self.written += (length.len() + self.row.len()) as u64;
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
            let mut length = [0; 4];
            file.read_exact(&mut length).map_err(not_read)?;
            bytes.resize(u32::from_le_bytes(length) as usize, 0);
            file.read_exact(&mut bytes).map_err(not_read)?;
            let (row, draft) = KeptRowReader { rest: &bytes }.row().ok_or_else(damaged)?;
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

fn put_row(to: &mut Vec<u8>, row: &Row, draft: Option<&KeptDraft>) {
    put_number(to, row.number.into());
    put_number(to, row.line.map_or(0, |line| line + 1));
    put_number(to, row.cells.len() as u64);
    row.cells.iter().for_each(|cell| put_text(to, cell));
    let identity = &row.identity;
    [&identity.key, &identity.name, &identity.unique]
        .into_iter()
        .for_each(|text| put_option(to, text.as_deref()));
    let errors: Vec<Reason> =
        row.findings.iter().filter(|finding| finding.is_error()).map(Reason::of).collect();
    put_number(to, errors.len() as u64);
    for Reason { code, message, column } in &errors {
        put_number(to, *code as u64);
        put_text(to, message);
        put_option(to, column.as_deref());
    }
    put_number(to, draft.is_some().into());
    let Some(KeptDraft { key, name, kind, own_key, digest, steps }) = draft else { return };
    put_option(to, key.as_deref());
    put_text(to, name);
    put_number(to, kind.index() as u64);
    let (role, own) = match own_key {
        None => (None, None),
        Some(OwnKey::Whole(own)) => (None, Some(own)),
        Some(OwnKey::InOwner(role, own)) => (Some(role.as_str()), Some(own)),
    };
    put_option(to, role);
    put_option(to, own.map(String::as_str));
    to.extend_from_slice(&digest.0);
    put_number(to, steps.len() as u64);
    for KeptStep { operation, action } in steps {
        put_number(to, *operation as u64);
        match action {
            KeptAction::Whole(action) => {
                put_number(to, UNPACKED);
                put_text(to, action);
            }
            KeptAction::Packed(PackedAction { shape, values }) => {
                put_number(to, UNPACKED + 1 + *shape as u64);
                put_option(to, values.as_deref());
            }
        }
    }
}

/// Seven bits in each byte, the lowest first; the eighth says that more follow.
fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        to.push(number as u8 | 128);
        number >>= 7;
    }
    to.push(number as u8);
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    put_number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

fn put_option(to: &mut Vec<u8>, text: Option<&str>) {
    put_number(to, text.is_some().into());
    if let Some(text) = text {
        put_text(to, text);
    }
}

/// What is left to read of a row.
struct KeptRowReader<'b> {
    rest: &'b [u8],
}

impl<'b> KeptRowReader<'b> {
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
        self.rest.is_empty().then_some((KeptRow { number, line, cells, identity, errors }, draft))
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
        let (digest, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
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
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(number);
            }
            shift += 7;
        }
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }

    fn option<T: From<&'b str>>(&mut self) -> Option<Option<T>> {
        Some(match self.number()? {
            0 => None,
            _ => Some(self.text()?.into()),
        })
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = usize::try_from(self.number()?).ok()?;
        let mut list = Vec::with_capacity(length.min(self.rest.len()));
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
            let mut bytes = Vec::new();
            let expected = expected(row, kind, &mut ActionShapes::default());
            put_row(&mut bytes, row, expected.1.as_ref());
            let read = |length: usize| KeptRowReader { rest: &bytes[..length] }.row();
            assert_eq!(read(bytes.len()), Some(expected));
            for length in 0..bytes.len() {
                assert_eq!(read(length), None, "{length} of {}", bytes.len());
            }
        }
    }
}
