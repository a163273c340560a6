//! What a row means that may have been imported before: a new job, new values for one, or nothing new.
//!
//! A row is the same thing as before when its natural key is. Failing that, its own key in the sheet may say that it
//! is the correction of a row that came to nothing. A MAC address or username alone does not make two rows one: it may be
//! mistyped, and then belongs to another row. Pure rules; the look-ups are made by the caller.

use crate::journal::{KnownJob, SamePlace};
use crate::model::content_hash::ContentHash;
use crate::model::id::JobId;
use crate::model::key::comparable;
use crate::model::kind::Kind;
use crate::model::record::{Link, Record, Role, Target};
use crate::model::state::JobState;

/// What is to be done with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// A new job.
    Add,
    /// New values for a job that is not done.
    Revise(JobId),
    /// The same for the steps after the creation of its record, which has other values than the row.
    ReviseLater(JobId),
    /// The job is there with the same values.
    Recognise(JobId),
    /// A request for the job is or may be under way: its values stay.
    LeaveUnderWay(JobId),
    /// The job is done with other values.
    ChangedSince(JobId),
    /// The key belongs to another record.
    KeyTaken(JobId),
    /// Another row of this import is the same thing.
    Twice(JobId),
    /// The MAC address or username of the row is that of this job, which is another row.
    Collides(JobId),
    /// The row may be that job if no row of this import that comes later is.
    Awaits(JobId),
    /// An update has given the record of this job another name than that of the row. The row has a key and that job has none,
    /// so that nothing tells whether they are the same.
    FormerName(JobId),
}

/// What a row that was imported before says of the key of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyed {
    /// Nothing, or the one it has.
    AsBefore,
    /// It had none.
    First,
    /// It has another one.
    Another,
}

/// What is known of a row.
pub(super) struct Claim<'a> {
    pub(super) kind: Kind,
    /// The row's own key, folded.
    pub(super) key: Option<&'a str>,
    pub(super) links: &'a [Link],
    pub(super) content_hash: ContentHash,
    /// What earlier imports know of it.
    pub(super) earlier: &'a Known,
    /// Whether rows of this import that come later may still give other jobs another natural key.
    pub(super) more_come: bool,
}

/// What earlier imports know of a row.
#[derive(Default)]
pub(super) struct Known {
    /// The job with the row's natural key.
    pub(super) natural: Option<KnownJob>,
    /// Whether that job is known by a name that its record no longer has.
    pub(super) by_former_name: bool,
    /// Whether the record of that job has the values that the row has for it.
    pub(super) same_record: bool,
    /// Whether that job asks for the same as the row besides the record.
    pub(super) same_later: bool,
    /// Whether other rows have changed what that job brought about.
    pub(super) was_changed: bool,
    /// The update of the record of a job that is recognised which is not settled, and where that stands.
    pub(super) update: Option<(JobId, JobState)>,
    /// Whether the row's natural key is a MAC address or a username.
    pub(super) is_unique: bool,
    /// In what else the row is like the job with its natural key, where that is a MAC address or a username.
    pub(super) alike: Option<Alike>,
    /// The jobs with the row's own key, newest first; not looked up where the job with its natural key has that key.
    pub(super) by_key: Vec<SameKey>,
}

impl Known {
    /// Whether a job that is known of the row is on hold.
    pub(super) fn is_held(&self, job: JobId) -> bool {
        let mut all = self.natural.iter().chain(self.by_key.iter().map(|same| &same.known));
        all.any(|known| known.job == job && known.state == JobState::Held)
    }
}

/// In what a row is like the job with its MAC address or username, besides that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alike {
    /// Whether it belongs to the same company.
    pub(super) company: bool,
    /// Whether it has the same name; of people the given and the family name.
    pub(super) name: bool,
    /// Whether it is at the place of a row of that job.
    pub(super) place: Option<SamePlace>,
}

/// A job with the row's own key and another natural key.
pub(super) struct SameKey {
    pub(super) known: KnownJob,
    /// Whether its name is the row's.
    pub(super) same_name: bool,
    /// Whether all its values but the name are the row's.
    pub(super) same_values: bool,
    /// Whether the row keeps something else that tells its record from others, or corrects it in its place.
    pub(super) is_corrected: bool,
    /// Whether it asks for the same as the row besides the record.
    pub(super) same_later: bool,
    /// Whether a row of this import is what it belongs to, or it named that by an id and the row is at its place.
    pub(super) owner_came: bool,
    /// Whether it was rejected as nothing has the id by which it named what it belongs to.
    pub(super) lacks_owner: bool,
    /// Whether the row is at the place of a row of that job; asked only where it has another owner.
    pub(super) place: Option<SamePlace>,
}

impl SameKey {
    /// Whether the row is the same one, and only what it belongs to was corrected. One with other values is that of another
    /// company: keys such as "hq" and names such as "Head Office" are common, and so are files of one name.
    fn is_moved(&self) -> bool {
        let is_failed = came_to_nothing(&self.known);
        match self.place {
            Some(SamePlace::Source) => self.same_name || self.same_values,
            Some(SamePlace::Own) if self.lacks_owner => self.same_name || self.same_values,
            Some(SamePlace::Own) if is_failed => self.same_name && self.same_values,
            Some(SamePlace::Own) | None => self.same_name && self.same_values && self.owner_came,
        }
    }

    /// Whether a row that is another one may have been meant as a correction of it.
    pub(super) fn may_be_meant(&self) -> bool {
        match progress(&self.known) {
            // Nothing is wrong in one that was skipped, nor is one wanted that was cancelled.
            JobProgress::Failed => {
                self.known.state == JobState::Rejected && (self.same_name || self.same_values)
            }
            JobProgress::Waiting if self.owner_came => self.same_name || self.same_values,
            JobProgress::Waiting | JobProgress::Made | JobProgress::UnderWay | JobProgress::Done => {
                self.same_name && self.same_values
            }
        }
    }
}

/// Where a job stands, as far as new values are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JobProgress {
    /// Nothing of it was sent, or it waits to be sent again.
    Waiting,
    /// It came to nothing.
    Failed,
    /// Its record is there, and what the row asks for besides is still to be done, or failed.
    Made,
    /// A request is or may be under way, or a person decides.
    UnderWay,
    /// It is done.
    Done,
}

fn progress(known: &KnownJob) -> JobProgress {
    match known.state {
        JobState::Incomplete => JobProgress::Made,
        JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Cancelled
            if known.remote_id.is_some() =>
        {
            JobProgress::Made
        }
        JobState::Blocked | JobState::Ready | JobState::Deferred => JobProgress::Waiting,
        JobState::Rejected | JobState::Skipped | JobState::Cancelled => JobProgress::Failed,
        JobState::Sending | JobState::InDoubt | JobState::Held => JobProgress::UnderWay,
        JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => JobProgress::Done,
    }
}

/// Whether nothing was made of a job, nor will be unless it comes again.
pub(super) fn came_to_nothing(known: &KnownJob) -> bool {
    progress(known) == JobProgress::Failed
}

/// Decides; `touched` says whether another row of this import already is a job.
pub(super) fn decide(claim: &Claim<'_>, touched: &dyn Fn(JobId) -> bool) -> Decision {
    // Where a row has the name that the record has now, a former name is free.
    let is_free = |known: &KnownJob| claim.earlier.by_former_name && touched(known.job);
    if let Some(known) = claim.earlier.natural.as_ref().filter(|known| !is_free(known)) {
        if claim.earlier.by_former_name && claim.more_come {
            return Decision::Awaits(known.job);
        }
        if claim.earlier.by_former_name && claim.key.is_some() && known.sheet_key.is_none() {
            return Decision::FormerName(known.job);
        }
        let may_move = claim.more_come
            && matches!(progress(known), JobProgress::Waiting | JobProgress::Failed)
            && known.remote_id.is_none()
            && !touched(known.job);
        if belongs_to_another(claim, known) {
            return if may_move { Decision::Awaits(known.job) } else { Decision::Collides(known.job) };
        }
        if touched(known.job) {
            return match claim.earlier.alike {
                Some(_) => Decision::Collides(known.job),
                None => Decision::Twice(known.job),
            };
        }
        // Of two records that are there each keeps its key, and no other one is made.
        let are_there = |other: &KnownJob| {
            [known, other].iter().all(|one| matches!(progress(one), JobProgress::Made | JobProgress::Done))
        };
        if let (keyed @ (Keyed::First | Keyed::Another), Some(other)) = (keyed(claim), taken(claim))
            && (keyed == Keyed::First || !are_there(other))
        {
            return if may_move { Decision::Awaits(known.job) } else { Decision::KeyTaken(other.job) };
        }
        if known.content_hash == claim.content_hash && !claim.earlier.was_changed {
            return Decision::Recognise(known.job);
        }
        return match progress(known) {
            JobProgress::Waiting | JobProgress::Failed => Decision::Revise(known.job),
            // What failed is tried again with its new values. The record itself is not created again, nor changed.
            JobProgress::Made if !claim.kind.is_record() => Decision::Revise(known.job),
            JobProgress::Made if claim.earlier.same_later => Decision::ChangedSince(known.job),
            JobProgress::Made if claim.earlier.same_record => Decision::Revise(known.job),
            JobProgress::Made => Decision::ReviseLater(known.job),
            JobProgress::UnderWay => Decision::LeaveUnderWay(known.job),
            // What a row asked for of a record may be asked for otherwise at any time.
            JobProgress::Done if !claim.kind.is_record() => Decision::Revise(known.job),
            JobProgress::Done => Decision::ChangedSince(known.job),
        };
    }
    let own = owner(claim.links);
    for same in &claim.earlier.by_key {
        let SameKey { known, same_name, same_values, is_corrected, same_later, .. } = same;
        let same_owner = owner(&known.links) == own;
        if touched(known.job) {
            // A row without a key was taken for it, by its MAC address or username.
            if claim.earlier.is_unique && same_owner && known.state != JobState::Cancelled {
                return Decision::Twice(known.job);
            }
            // A record that is there, or may be, keeps its key beside the one of that row.
            let keeps =
                matches!(progress(known), JobProgress::Made | JobProgress::UnderWay | JobProgress::Done);
            if same_owner && keeps {
                return Decision::KeyTaken(known.job);
            }
            continue;
        }
        let stands = progress(known);
        if claim.kind == Kind::Company {
            // Rows of others hang on a company by its key: one that merely has the same key never takes its place.
            let correction = *same_name || *same_values;
            match stands {
                JobProgress::Failed if correction && same_owner || same.is_moved() => {
                    return Decision::Revise(known.job);
                }
                JobProgress::Waiting if correction && same_owner => return Decision::Revise(known.job),
                JobProgress::UnderWay if correction && same_owner => {
                    return Decision::LeaveUnderWay(known.job);
                }
                // Cancelled, it needs its key no longer.
                JobProgress::Failed if known.state == JobState::Cancelled => {}
                _ if same_owner => return Decision::KeyTaken(known.job),
                JobProgress::Waiting
                | JobProgress::Failed
                | JobProgress::Made
                | JobProgress::UnderWay
                | JobProgress::Done => {}
            }
            continue;
        }
        let corrects = match same_owner {
            true => *same_name || *same_values || *is_corrected,
            false => same.is_moved(),
        };
        match stands {
            JobProgress::Failed | JobProgress::Waiting if corrects => return Decision::Revise(known.job),
            // Cancelled, it needs its key no longer.
            JobProgress::Failed if known.state == JobState::Cancelled => {}
            // The row of another sheet whose keys are numbered alike would take its place, and it would not be created.
            JobProgress::Waiting | JobProgress::Failed if same_owner => return Decision::KeyTaken(known.job),
            JobProgress::UnderWay if same_owner => return Decision::LeaveUnderWay(known.job),
            JobProgress::Made if same_owner && !same_later && !claim.earlier.is_unique => {
                return Decision::ReviseLater(known.job);
            }
            JobProgress::Made | JobProgress::Done if same_owner => return Decision::ChangedSince(known.job),
            // Keys such as "hq" are common: under another owner it is another record.
            JobProgress::Waiting
            | JobProgress::Failed
            | JobProgress::Made
            | JobProgress::UnderWay
            | JobProgress::Done => {}
        }
    }
    Decision::Add
}

/// Whether the MAC address or username of a row is that of another one: their keys differ, or, where one has no key,
/// their companies and their names. A key that was changed in a row that is known by its place is no other row.
fn belongs_to_another(claim: &Claim<'_>, known: &KnownJob) -> bool {
    let Some(alike) = claim.earlier.alike else { return false };
    match (claim.key, known.sheet_key.as_deref()) {
        (Some(key), Some(own)) if key == own => false,
        (Some(_), _) if taken(claim).is_some() => true,
        (Some(_), Some(_)) => match alike.place {
            Some(SamePlace::Source) => !alike.company && !alike.name,
            Some(SamePlace::Own) => !alike.company || !alike.name,
            None => true,
        },
        (Some(_) | None, None) | (None, Some(_)) => !alike.company && !alike.name,
    }
}

/// What the row says of the key of the job that has its natural key.
pub(super) fn keyed(claim: &Claim<'_>) -> Keyed {
    match (claim.key, &claim.earlier.natural) {
        (None, _) | (_, None) => Keyed::AsBefore,
        (Some(key), Some(known)) => match known.sheet_key.as_deref() {
            None => Keyed::First,
            Some(own) if own == key => Keyed::AsBefore,
            Some(_) => Keyed::Another,
        },
    }
}

/// Another job under the same owner that has the row's key, unless it was given up: what a later sheet means by the key
/// would be chance.
fn taken<'k>(claim: &'k Claim<'_>) -> Option<&'k KnownJob> {
    let own = owner(claim.links);
    let natural = claim.earlier.natural.as_ref().map(|known| known.job);
    let same = |known: &&KnownJob| {
        owner(&known.links) == own && known.state != JobState::Cancelled && Some(known.job) != natural
    };
    claim.earlier.by_key.iter().map(|same| &same.known).find(same)
}

/// The company, or the parent of a company.
pub(super) fn owner(links: &[Link]) -> Option<Target> {
    links.iter().find(|link| is_owner(link.role)).map(|link| link.target)
}

/// Whether a reference is that to the company, or to the parent of a company.
pub(super) fn is_owner(role: Role) -> bool {
    matches!(role, Role::Parent | Role::Company)
}

/// The name that tells a record from others of its company: of people the given and the family name.
pub(super) fn person_or_thing(record: &Record) -> String {
    match record {
        Record::Person(person) => comparable(&format!("{} {}", person.first_name, person.last_name)),
        Record::Company(_) | Record::Site(_) | Record::Device(_) => comparable(record.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{ImportId, RemoteId};

    const JOB: JobId = JobId(7);
    const ACME: JobId = JobId(1);
    const GLOBEX: JobId = JobId(2);

    fn link(job: JobId) -> Link {
        Link { role: Role::Company, target: Target::Job(job) }
    }

    fn known(state: JobState, hash: &str) -> KnownJob {
        KnownJob {
            job: JOB,
            kind: Kind::Site,
            state,
            remote_id: None,
            sheet_key: Some("hq".into()),
            name: "HQ".into(),
            natural_key: "k".into(),
            content_hash: ContentHash::of(hash),
            links: vec![link(ACME)],
            first_import: ImportId(1),
        }
    }

    fn by_natural(state: JobState, hash: &str) -> Decision {
        let earlier = Known { natural: Some(known(state, hash)), ..Known::default() };
        let claim = Claim {
            kind: Kind::Site,
            key: Some("hq"),
            links: &[link(ACME)],
            content_hash: ContentHash::of("new"),
            earlier: &earlier,
            more_come: true,
        };
        decide(&claim, &|_| false)
    }

    /// What a row with the key of a job in `state` is: with its name, all its other values, both or neither.
    fn by_key(kind: Kind, state: JobState, owner: JobId, alike: (bool, bool), touched: &[JobId]) -> Decision {
        moved(kind, state, owner, alike, touched, None)
    }

    /// The same for a row that is known to be at its place.
    fn moved(
        kind: Kind,
        state: JobState,
        owner: JobId,
        (same_name, same_values): (bool, bool),
        touched: &[JobId],
        place: Option<SamePlace>,
    ) -> Decision {
        let same = SameKey {
            known: known(state, "old"),
            same_name,
            same_values,
            is_corrected: false,
            same_later: false,
            owner_came: touched.contains(&ACME),
            lacks_owner: false,
            place,
        };
        let earlier = Known { by_key: vec![same], ..Known::default() };
        let claim = Claim {
            kind,
            key: Some("hq"),
            links: &[link(owner)],
            content_hash: ContentHash::of("new"),
            earlier: &earlier,
            more_come: true,
        };
        decide(&claim, &|job| touched.contains(&job))
    }

    #[test]
    fn the_same_row_with_the_same_values_changes_nothing_whatever_its_state() {
        for &state in JobState::ALL {
            assert_eq!(by_natural(state, "new"), Decision::Recognise(JOB), "{state}");
        }
    }

    #[test]
    fn the_same_row_with_other_values_depends_on_where_its_job_stands() {
        use JobState::{
            Adopted, Blocked, Cancelled, Created, Deferred, Done, Existing, Held, InDoubt, Incomplete, Ready,
            Rejected, Sending, Skipped,
        };
        for (states, expected) in [
            (vec![Blocked, Ready, Deferred, Rejected, Skipped, Cancelled], Decision::Revise(JOB)),
            (vec![Sending, InDoubt, Held], Decision::LeaveUnderWay(JOB)),
            (vec![Created, Adopted, Existing, Done], Decision::ChangedSince(JOB)),
            (vec![Incomplete], Decision::ReviseLater(JOB)),
        ] {
            for state in states {
                assert_eq!(by_natural(state, "old"), expected, "{state}");
            }
        }
    }

    #[test]
    fn a_record_that_is_there_gets_its_later_steps_corrected_and_never_other_values_of_its_own() {
        use JobState::{Blocked, Cancelled, Deferred, Incomplete, Ready};
        for state in [Incomplete, Ready, Deferred, Cancelled, Blocked] {
            let made = KnownJob { remote_id: Some(RemoteId::from_u128(7)), ..known(state, "old") };
            let decided = |same_record, same_later| {
                let natural = Some(made.clone());
                let earlier = Known { natural, same_record, same_later, ..Known::default() };
                decide(
                    &Claim {
                        kind: Kind::Site,
                        key: Some("hq"),
                        links: &[link(ACME)],
                        content_hash: ContentHash::of("new"),
                        earlier: &earlier,
                        more_come: true,
                    },
                    &|_| false,
                )
            };
            assert_eq!(decided(true, false), Decision::Revise(JOB), "{state}");
            assert_eq!(decided(false, false), Decision::ReviseLater(JOB), "{state}");
            assert_eq!(decided(false, true), Decision::ChangedSince(JOB), "{state}");
        }
    }

    #[test]
    fn the_same_key_is_a_correction_or_another_record() {
        use JobState::{Cancelled, Created, InDoubt, Incomplete, Ready, Rejected};
        const NEITHER: (bool, bool) = (false, false);
        const NAME: (bool, bool) = (true, false);
        const VALUES: (bool, bool) = (false, true);
        const BOTH: (bool, bool) = (true, true);
        let table = [
            (Kind::Site, Ready, ACME, NAME, Decision::Revise(JOB)),
            (Kind::Site, Ready, ACME, VALUES, Decision::Revise(JOB)),
            (Kind::Site, Ready, ACME, NEITHER, Decision::KeyTaken(JOB)),
            (Kind::Site, Ready, GLOBEX, NAME, Decision::Add),
            (Kind::Site, Rejected, ACME, NAME, Decision::Revise(JOB)),
            (Kind::Site, Rejected, ACME, NEITHER, Decision::KeyTaken(JOB)),
            (Kind::Site, Cancelled, ACME, NEITHER, Decision::Add),
            (Kind::Site, Rejected, GLOBEX, BOTH, Decision::Add),
            (Kind::Site, Rejected, GLOBEX, NAME, Decision::Add),
            (Kind::Site, InDoubt, ACME, NEITHER, Decision::LeaveUnderWay(JOB)),
            (Kind::Site, InDoubt, GLOBEX, NAME, Decision::Add),
            (Kind::Site, Created, ACME, NEITHER, Decision::ChangedSince(JOB)),
            (Kind::Site, Incomplete, ACME, NEITHER, Decision::ReviseLater(JOB)),
            (Kind::Site, Incomplete, GLOBEX, VALUES, Decision::Add),
            (Kind::Site, Created, GLOBEX, NAME, Decision::Add),
            // A company's name was corrected, and nothing else.
            (Kind::Company, Ready, ACME, VALUES, Decision::Revise(JOB)),
            (Kind::Company, Rejected, ACME, VALUES, Decision::Revise(JOB)),
            (Kind::Company, InDoubt, ACME, VALUES, Decision::LeaveUnderWay(JOB)),
            // Another customer's company that happens to have the key.
            (Kind::Company, Ready, ACME, NEITHER, Decision::KeyTaken(JOB)),
            (Kind::Company, Rejected, ACME, NEITHER, Decision::KeyTaken(JOB)),
            (Kind::Company, InDoubt, ACME, NEITHER, Decision::KeyTaken(JOB)),
            (Kind::Company, Created, ACME, VALUES, Decision::KeyTaken(JOB)),
            (Kind::Company, Incomplete, ACME, VALUES, Decision::KeyTaken(JOB)),
            (Kind::Company, Cancelled, ACME, NEITHER, Decision::Add),
            (Kind::Company, Ready, GLOBEX, NAME, Decision::Add),
            (Kind::Company, Rejected, GLOBEX, NEITHER, Decision::Add),
            (Kind::Company, Rejected, GLOBEX, BOTH, Decision::Add),
            (Kind::Company, Created, GLOBEX, NAME, Decision::Add),
        ];
        for (kind, state, owner, alike, expected) in table {
            assert_eq!(by_key(kind, state, owner, alike, &[]), expected, "{kind} {state} {owner} {alike:?}");
        }
        // Under another owner: the row in another file, at the same place of a file of this name, and of the fix sheet.
        use Decision::{Add, Revise};
        use SamePlace::{Own, Source};
        for (alike, state, touched, elsewhere, own, source) in [
            (BOTH, Ready, &[ACME][..], Revise(JOB), Revise(JOB), Revise(JOB)),
            (BOTH, Ready, &[], Add, Add, Revise(JOB)),
            (BOTH, Rejected, &[ACME], Revise(JOB), Revise(JOB), Revise(JOB)),
            (BOTH, Rejected, &[], Add, Revise(JOB), Revise(JOB)),
            (NAME, Ready, &[ACME], Add, Add, Revise(JOB)),
            (NAME, Rejected, &[], Add, Add, Revise(JOB)),
            (VALUES, Rejected, &[ACME], Add, Add, Revise(JOB)),
            (NEITHER, Rejected, &[ACME], Add, Add, Add),
        ] {
            for (place, expected) in [(None, elsewhere), (Some(Own), own), (Some(Source), source)] {
                let decided = moved(Kind::Device, state, GLOBEX, alike, touched, place);
                assert_eq!(decided, expected, "{state} {alike:?} {touched:?} {place:?}");
                if state == Rejected {
                    assert_eq!(moved(Kind::Company, state, GLOBEX, alike, touched, place), expected);
                }
            }
        }
    }

    #[test]
    fn a_key_is_learnt_by_a_job_that_has_none_and_is_never_that_of_another_one() {
        let of = |own: Option<&str>, key: Option<&str>, others: &[KnownJob]| {
            let natural = KnownJob { sheet_key: own.map(Into::into), ..known(JobState::Created, "new") };
            let alike = |known: &KnownJob| SameKey {
                known: known.clone(),
                same_name: false,
                same_values: true,
                is_corrected: false,
                same_later: false,
                owner_came: false,
                lacks_owner: false,
                place: None,
            };
            let by_key = others.iter().map(alike).collect();
            let earlier = Known { natural: Some(natural), by_key, ..Known::default() };
            let claim = Claim {
                kind: Kind::Site,
                key,
                links: &[link(ACME)],
                content_hash: ContentHash::of("new"),
                earlier: &earlier,
                more_come: true,
            };
            (decide(&claim, &|_| false), keyed(&claim))
        };
        let recognised = |keyed| (Decision::Recognise(JOB), keyed);
        assert_eq!(of(None, None, &[]), recognised(Keyed::AsBefore));
        assert_eq!(of(Some("hq"), None, &[]), recognised(Keyed::AsBefore));
        assert_eq!(of(Some("hq"), Some("hq"), &[]), recognised(Keyed::AsBefore));
        assert_eq!(of(Some("hq"), Some("main"), &[]), recognised(Keyed::Another));
        assert_eq!(of(None, Some("hq"), &[]), recognised(Keyed::First));
        for &state in JobState::ALL {
            let other =
                |owner| KnownJob { job: JobId(9), links: vec![link(owner)], ..known(state, "another") };
            let expected = match state {
                JobState::Cancelled => recognised(Keyed::First),
                _ => (Decision::KeyTaken(JobId(9)), Keyed::First),
            };
            assert_eq!(of(None, Some("hq"), &[other(ACME)]), expected, "{state}");
            assert_eq!(of(None, Some("hq"), &[other(GLOBEX)]), recognised(Keyed::First), "{state}");
        }
    }

    #[test]
    fn a_job_is_one_row_of_an_import_at_most() {
        let earlier = Known { natural: Some(known(JobState::Ready, "old")), ..Known::default() };
        let claim = Claim {
            kind: Kind::Site,
            key: Some("hq"),
            links: &[],
            content_hash: ContentHash::of("new"),
            earlier: &earlier,
            more_come: true,
        };
        assert_eq!(decide(&claim, &|_| true), Decision::Twice(JOB));
        assert_eq!(by_key(Kind::Site, JobState::Rejected, ACME, (true, true), &[JOB]), Decision::Add);
        // What is there keeps its key, whichever row comes first.
        for kind in [Kind::Company, Kind::Site] {
            for state in [JobState::Created, JobState::InDoubt, JobState::Incomplete] {
                assert_eq!(
                    by_key(kind, state, ACME, (false, false), &[JOB]),
                    Decision::KeyTaken(JOB),
                    "{state}"
                );
                assert_eq!(by_key(kind, state, GLOBEX, (false, false), &[JOB]), Decision::Add, "{state}");
            }
        }
    }
}
