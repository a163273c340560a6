//! What may happen to a journal, and how sequences of it are made up.
//!
//! Everything is a small number that means something whatever has happened before, so that a sequence that fails can
//! be made shorter and still be a sequence.

use fleetload::model::verdict::Execution;
use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;

use crate::reference::Record;

/// How many different rows there are: three companies, two sites, a device, an entry of metadata and a licence code.
pub(crate) const ROWS: u8 = 8;

/// How many records of the service the answers draw from. Few, so that two jobs come to the same one.
const RECORDS: u128 = 8;

/// How a step was done, as the journal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Created,
    Adopted,
    Existing,
    Done,
}

/// One row of a sheet.
#[derive(Debug, Clone)]
pub(crate) struct RowSpec {
    /// Which of the rows.
    pub(crate) row: u8,
    /// What it belongs to: nothing, a foreign record, or one of the rows before it.
    pub(crate) first: u8,
    /// The same for a device's site.
    pub(crate) second: u8,
    /// The steps after the creation.
    pub(crate) extras: Vec<u8>,
    /// Whether it is called otherwise.
    pub(crate) renamed: bool,
    /// What else its cells say.
    pub(crate) version: u8,
    /// Gives the values to the job whatever state that is in.
    pub(crate) force: bool,
}

/// A write to a job.
#[derive(Debug, Clone)]
pub(crate) struct WriteSpec {
    /// Which job, counted among those in a state that the write may leave when there are any and `fitting`, else
    /// among all.
    pub(crate) job: usize,
    pub(crate) fitting: bool,
    /// The state it believes the job in, when that is not the one it is in.
    pub(crate) believed: Option<usize>,
    /// Whether it is about the values the job has, or about older ones; `None` when it does not ask. Only for writes
    /// that name their state.
    pub(crate) content: Option<bool>,
    /// What the answer says of the execution, as an index among all words.
    pub(crate) execution: usize,
    pub(crate) what: What,
}

/// What a write is about.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Claim { right_operation: bool, content: Option<bool>, baseline: Option<Vec<u8>>, counted: Option<u8> },
    Advance { how: How, id: Option<Record> },
    Leave { id: Record },
    Reject,
    Defer { after: i64 },
    Return,
    Postpone { after: i64 },
    Doubt { executed: bool, charged: bool, after: i64 },
    KeepDoubting { after: i64, absent_reads: u32 },
    Release,
    Hold { candidates: Vec<u8> },
    Ceiling { day: u8, ceiling: u64 },
}

impl What {
    /// Whether the write says in which state it believes the job.
    pub(crate) fn names_its_state(&self) -> bool {
        match self {
            Self::Advance { .. }
            | Self::Leave { .. }
            | Self::Reject
            | Self::Postpone { .. }
            | Self::Hold { .. } => true,
            Self::Claim { .. }
            | Self::Defer { .. }
            | Self::Return
            | Self::Doubt { .. }
            | Self::KeepDoubting { .. }
            | Self::Release
            | Self::Ceiling { .. } => false,
        }
    }
}

/// What a person says of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verdict {
    /// It is there, with this id.
    Created(Record),
    /// It is there, with the id that the job has or that nobody else has.
    CreatedAsKnown,
    NotCreated,
    Abandon,
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    /// Sheets are read; `given_up` when the process ends before the end of it.
    Import { rows: Vec<RowSpec>, given_up: bool },
    /// Writes in one transaction.
    Write(Vec<WriteSpec>),
    /// The process ends and another one starts; what it could not write any more was spilled.
    Crash { spilled: Vec<WriteSpec> },
    /// The journal is closed and opened again.
    Reopen,
    /// A person wants rejected jobs sent again.
    Retry { import: Option<u8>, code: Option<bool> },
    /// A person decides about a job; about one that waits for it when there is one and `fitting`.
    Resolve { job: usize, fitting: bool, verdict: Verdict },
    /// A person gives an import up.
    Cancel { import: u8 },
}

/// Sequences of operations, each beginning with rows.
pub(crate) fn sequences() -> impl Strategy<Value = Vec<Operation>> {
    let some = prop_oneof![60 => operation().prop_map(|one| vec![one]), 3 => deaths()];
    (vec(row(), 2..7), vec(some, 1..28)).prop_map(|(rows, operations)| {
        let mut sequence = vec![Operation::Import { rows, given_up: false }];
        sequence.extend(operations.into_iter().flatten());
        sequence
    })
}

/// The process ends again and again while the same row is being sent. By chance alone that hardly happens.
fn deaths() -> impl Strategy<Value = Vec<Operation>> {
    let claim = What::Claim { right_operation: true, content: None, baseline: None, counted: None };
    let first = |what: What| {
        Operation::Write(vec![WriteSpec {
            job: 0,
            fitting: true,
            believed: None,
            content: None,
            execution: 0,
            what,
        }])
    };
    (2..4_usize).prop_map(move |times| {
        let crash = Operation::Crash { spilled: Vec::new() };
        let one = [first(claim.clone()), crash, first(What::Release)];
        one.iter().cloned().cycle().take(times * one.len()).collect()
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        40 => vec(write(), 1..4).prop_map(Operation::Write),
        5 => (vec(row(), 1..5), prop::bool::weighted(0.1))
            .prop_map(|(rows, given_up)| Operation::Import { rows, given_up }),
        4 => vec(write(), 0..3).prop_map(|spilled| Operation::Crash { spilled }),
        1 => Just(Operation::Reopen),
        3 => (of(0..4_u8), weighted(0.3, any::<bool>()))
            .prop_map(|(import, code)| Operation::Retry { import, code }),
        4 => (0..8_usize, prop::bool::weighted(0.9), verdict())
            .prop_map(|(job, fitting, verdict)| Operation::Resolve { job, fitting, verdict }),
        1 => (0..4_u8).prop_map(|import| Operation::Cancel { import }),
    ]
}

fn row() -> impl Strategy<Value = RowSpec> {
    (
        (0..ROWS, 0..5_u8, 0..4_u8),
        vec(0..3_u8, 0..3),
        (prop::bool::weighted(0.2), 0..3_u8, prop::bool::weighted(0.1)),
    )
        .prop_map(|((row, first, second), extras, (renamed, version, force))| RowSpec {
            row,
            first,
            second,
            extras,
            renamed,
            version,
            force,
        })
}

fn write() -> impl Strategy<Value = WriteSpec> {
    let content = weighted(0.3, prop::bool::weighted(0.8));
    let execution = 0..Execution::ALL.len();
    (0..8_usize, prop::bool::weighted(0.9), weighted(0.05, 0..14_usize), content, execution, what()).prop_map(
        |(job, fitting, believed, content, execution, what)| WriteSpec {
            job,
            fitting,
            believed,
            content,
            execution,
            what,
        },
    )
}

fn record() -> impl Strategy<Value = Record> {
    // Most of the time nobody's yet: job and record are then one to one.
    prop_oneof![1 => 1..RECORDS, 2 => 1_000..1_000_000_u128]
}

fn what() -> impl Strategy<Value = What> {
    let how = prop_oneof![
        4 => Just(How::Created),
        1 => Just(How::Adopted),
        1 => Just(How::Existing),
        1 => Just(How::Done),
    ];
    let day = || 0..2_u8;
    let ids = || vec(1..8_u8, 0..3);
    let claim = (prop::bool::weighted(0.95), of(prop::bool::weighted(0.9)), of(ids()), of(day()));
    prop_oneof![
        12 => claim.prop_map(|(right_operation, content, baseline, counted)| {
            What::Claim { right_operation, content, baseline, counted }
        }),
        8 => (how, weighted(0.8, record())).prop_map(|(how, id)| What::Advance { how, id }),
        1 => record().prop_map(|id| What::Leave { id }),
        3 => Just(What::Reject),
        2 => (0..5_000_i64).prop_map(|after| What::Defer { after }),
        1 => Just(What::Return),
        1 => (0..5_000_i64).prop_map(|after| What::Postpone { after }),
        4 => (prop::bool::weighted(0.2), any::<bool>(), 0..5_000_i64)
            .prop_map(|(executed, charged, after)| What::Doubt { executed, charged, after }),
        2 => (0..5_000_i64, 0..3_u32)
            .prop_map(|(after, absent_reads)| What::KeepDoubting { after, absent_reads }),
        3 => Just(What::Release),
        2 => ids().prop_map(|candidates| What::Hold { candidates }),
        1 => (day(), 0..50_u64).prop_map(|(day, ceiling)| What::Ceiling { day, ceiling }),
    ]
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        2 => record().prop_map(Verdict::Created),
        2 => Just(Verdict::CreatedAsKnown),
        3 => Just(Verdict::NotCreated),
        3 => Just(Verdict::Abandon),
    ]
}
