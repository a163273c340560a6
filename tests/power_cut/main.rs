//! The power goes at every sync of a short script: what the journal acknowledged is still there, every request that
//! was sent has its intent on disk, and nothing else is there. `cargo bench --features mistakes --bench power_cut`
//! does the same at many more moments.
//!
//! Proved is the journal with SQLite and its log; the spill file, which is written past SQLite, is not under this
//! layer. With the journal opened less carefully the same look must find losses.

mod check;
mod disk;
mod older;
mod proof;
mod records;
mod scribe;
mod script;
mod vfs;

use fleetload::mistake::Mistake;
use proof::{Moments, prove, prove_older};

#[test]
fn nothing_acknowledged_is_lost_and_no_intent_is_missing_when_the_power_goes_at_any_sync() {
    let tally = prove(None, Moments::Named(1), 1);
    println!("{tally}");
    assert!(tally.wrong.is_empty(), "{tally}");
    assert!(tally.syncs > 50 && tally.acknowledged >= 60 && tally.images > 400, "{tally}");
    assert!(tally.with_unsynced > 150 && tally.second > 50, "{tally}");
}

#[test]
fn nor_when_it_goes_between_syncs() {
    let tally = prove(None, Moments::Spread(200), 2);
    println!("{tally}");
    assert!(tally.wrong.is_empty(), "{tally}");
    assert!(tally.with_unsynced > 150, "{tally}");
}

#[test]
fn a_journal_of_an_older_version_is_brought_up_to_date_though_the_power_goes_meanwhile() {
    let (tally, version) = prove_older(Moments::Spread(100), 1);
    println!("version {version}: {tally}");
    assert!(tally.wrong.is_empty(), "{tally}");
    assert!(version > 1 && tally.writes > 10 && tally.syncs > 2, "version {version}: {tally}");
}

#[test]
fn the_same_look_finds_what_a_journal_without_full_synchronisation_loses() {
    for mistake in [Mistake::SynchronousNormal, Mistake::SynchronousOff] {
        let tally = prove(Some(mistake), Moments::Spread(150), 1);
        println!("{mistake:?}: {tally}");
        for wrong in ["outcome lost", "intent missing", "import lost", "other lost"] {
            assert!(tally.of(wrong) > 0, "{mistake:?}: {wrong} was not seen: {tally}");
        }
    }
}
