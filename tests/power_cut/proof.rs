//! The proof: the power goes at chosen moments of the script, and every image that is left is looked at.

use std::collections::BTreeMap;
use std::fmt;

use fastrand::Rng;
use fleetload::failpoint::with_further_migration;
use fleetload::mistake::Mistake;

use crate::check::{Expected, Violation, look};
use crate::disk::{Cut, Disk, Event};
use crate::scribe::Account;
use crate::{older, script};

/// When the power goes, and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moments {
    /// Before and after every sync and at every acknowledgement, each with all unsynced writes lost, with all of
    /// them there, and mixed this many times; while the journal is made, [`YOUNG`] times as often.
    Named(usize),
    /// This many times, spread over everything that the disk was asked.
    Spread(usize),
}

/// What the proof found.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// What the disk was asked in the script.
    pub(crate) syncs: usize,
    pub(crate) writes: usize,
    pub(crate) acknowledged: usize,
    /// Power cuts, and those of them with writes that were not synced.
    pub(crate) images: usize,
    pub(crate) with_unsynced: usize,
    /// Images of a second power cut, during the start after the first.
    pub(crate) second: usize,
    /// First power cuts by what was wrong afterwards.
    pub(crate) wrong: BTreeMap<&'static str, usize>,
    /// The first few of them, to be looked into.
    pub(crate) examples: Vec<String>,
}

/// All that can be wrong, in words.
pub(crate) const WRONG: [&str; 7] =
    ["unusable", "never was", "outcome lost", "intent missing", "import lost", "other lost", "bad recovery"];

/// How many times as often the power goes while the journal is made: a file is never as easily broken again.
const YOUNG: usize = 8;

/// Examples kept of each.
const EXAMPLES: usize = 2;

/// Carries out the script, with or without a mistake, and cuts the power at the moments.
pub(crate) fn prove(mistaken: Option<Mistake>, moments: Moments, seed: u64) -> Tally {
    cut_all(Disk::default(), &script::carry_out(mistaken), moments, seed)
}

/// Opens a journal of the version before and cuts the power at the moments of that. Gives the version it came to.
pub(crate) fn prove_older(moments: Moments, seed: u64) -> (Tally, i64) {
    with_further_migration(|| {
        let (disk, account, version) = older::open();
        (cut_all(disk, &account, moments, seed), version)
    })
}

fn cut_all(mut disk: Disk, account: &Account, moments: Moments, seed: u64) -> Tally {
    let events = &account.events;
    let mut tally = Tally {
        syncs: events.iter().filter(|event| matches!(event, Event::Synced(_))).count(),
        writes: events.iter().filter(|event| matches!(event, Event::Written { .. })).count(),
        acknowledged: account.marks.len(),
        ..Tally::default()
    };
    let mut rng = Rng::with_seed(seed);
    let mut marks = 0;
    for at in 0..=events.len() {
        for cut in cuts(events, at, moments, marks == 0, &mut rng) {
            if matches!(moments, Moments::Named(_)) && disk.unsynced() == 0 && cut != Cut::Dropped {
                // Nothing is left to chance.
                continue;
            }
            tally.images += 1;
            tally.with_unsynced += usize::from(disk.unsynced() > 0);
            // A tenth of the starts are cut off too.
            let again = (rng.u8(..10) == 0).then(|| rng.u64(..));
            let (images, violations) = look(&disk.cut(cut), Expected::after(account, marks), again);
            tally.second += images - 1;
            tally.note(&violations, &format!("event {at} of seed {seed}, {cut:?}, again {again:?}"));
        }
        if let Some(event) = events.get(at) {
            disk.take(event);
            if let Event::Mark(number) = event {
                marks = number + 1;
            }
        }
    }
    tally
}

/// How the power goes before the event at a place.
fn cuts(events: &[Event], at: usize, moments: Moments, young: bool, rng: &mut Rng) -> Vec<Cut> {
    match moments {
        Moments::Named(mixed) => {
            let is_named = |event: &Event| matches!(event, Event::Synced(_) | Event::FolderSynced);
            let after = at.checked_sub(1).and_then(|before| events.get(before));
            let named = events.get(at).is_none_or(is_named)
                || after.is_some_and(|event| is_named(event) || matches!(event, Event::Mark(_)));
            if !named {
                return Vec::new();
            }
            let mut cuts = vec![Cut::Dropped, Cut::Applied];
            for _ in 0..if young { mixed * YOUNG } else { mixed } {
                cuts.push(Cut::UpTo(rng.u64(..)));
                cuts.push(Cut::Mixed(rng.u64(..)));
            }
            cuts
        }
        Moments::Spread(images) => {
            // Even shares, so that every event has its turn.
            let places = events.len() + 1;
            let share = images * (at + 1) / places - images * at / places;
            (0..share)
                .map(|_| match rng.u8(..8) {
                    0 => Cut::Dropped,
                    1 => Cut::Applied,
                    2..=4 => Cut::UpTo(rng.u64(..)),
                    _ => Cut::Mixed(rng.u64(..)),
                })
                .collect()
        }
    }
}

impl Tally {
    /// How many power cuts had this kind of consequence.
    pub(crate) fn of(&self, wrong: &str) -> usize {
        self.wrong.get(wrong).copied().unwrap_or(0)
    }

    fn note(&mut self, violations: &[Violation], place: &str) {
        let mut kinds = BTreeMap::new();
        for violation in violations {
            let (kind, told) = match violation {
                Violation::Unusable(told) => (WRONG[0], told),
                Violation::NeverWas(told) => (WRONG[1], told),
                Violation::OutcomeLost(told) => (WRONG[2], told),
                Violation::IntentMissing(told) => (WRONG[3], told),
                Violation::ImportLost(told) => (WRONG[4], told),
                Violation::OtherLost(told) => (WRONG[5], told),
                Violation::BadRecovery(told) => (WRONG[6], told),
            };
            kinds.entry(kind).or_insert(told);
        }
        for (kind, told) in kinds {
            let seen = self.wrong.entry(kind).or_default();
            *seen += 1;
            if *seen <= EXAMPLES {
                self.examples.push(format!("{kind}: {told} ({place})"));
            }
        }
    }
}

/// What the figures of a [`Tally`] are, in a few words.
pub(crate) const HEADINGS: [&str; 12] = [
    "syncs",
    "acknowledged",
    "power cuts",
    "with unsynced",
    "at the next start",
    "unusable",
    "never was",
    "outcome lost",
    "intent missing",
    "import lost",
    "other lost",
    "bad recovery",
];

impl Tally {
    /// The figures, in the order of [`HEADINGS`].
    pub(crate) fn figures(&self) -> Vec<usize> {
        let mut figures = vec![self.syncs, self.acknowledged, self.images, self.with_unsynced, self.second];
        figures.extend(WRONG.map(|wrong| self.of(wrong)));
        figures
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (heading, figure) in HEADINGS.iter().zip(self.figures()) {
            write!(f, "{heading} {figure}, ")?;
        }
        write!(f, "writes {}", self.writes)?;
        for example in &self.examples {
            write!(f, "\n  {example}")?;
        }
        Ok(())
    }
}
