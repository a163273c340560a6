//! Transitions that are meant for values which were corrected meanwhile: refused, and nothing changes.

use super::*;
use crate::model::content_hash::ContentHash;

#[test]
fn a_claim_of_values_that_were_corrected_meanwhile_is_refused() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    for (content, fits) in [("Bolt", false), ("Acme", true)] {
        let Write::Claim { job, operation, baseline, counted, at, .. } = claim(jobs[0], ADD) else {
            unreachable!("it is a claim");
        };
        let claim = Write::Claim {
            job,
            operation,
            content: Some(ContentHash::of(content)),
            before: None,
            baseline,
            counted,
            at,
        };
        assert_eq!(apply(&mut bench.journal, claim).is_ok(), fits, "{content}");
    }
}

#[test]
fn what_is_concluded_of_values_that_were_corrected_meanwhile_is_refused_and_changes_nothing() {
    let mut bench = bench();
    let mut tried = 0;
    for &from in &[Ready, Deferred] {
        for index in 0..writes(JobId(1), from).len() {
            let name = format!("{from} {index}");
            let (_, jobs) = import_companies(&mut bench.journal, &[name.as_str()], false);
            let (write, leaves, to) = writes(jobs[0], from).swap_remove(index);
            force(&bench.journal, jobs[0], from);
            let given = |content: &str| Write::IfUnchanged {
                content: ContentHash::of(content),
                then: Box::new(write.clone()),
            };
            let before = everything(&bench.journal).unwrap();
            let error = apply(&mut bench.journal, given("its old values")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal);
            assert!(error.to_string().contains("corrected meanwhile"), "{error}");
            assert_eq!(everything(&bench.journal).unwrap(), before, "{from}: {write:?}");

            let outcome = apply(&mut bench.journal, given(&name));
            assert_eq!(outcome.is_ok(), leaves.contains(&from), "{from}: {write:?}");
            if outcome.is_ok() {
                assert_eq!(state(&bench.journal, jobs[0]), to, "{write:?}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 14, "claim, advance, reject, leave, postpone, suspect and hold, from two states");
}

#[test]
fn a_condition_on_the_values_of_no_job_is_refused() {
    let mut bench = bench();
    let day = Day::from_number(20_000);
    let ceiling = Write::Ceiling { day, ceiling: 1 };
    let absent = [(claim(JobId(99), ADD), "no job 99"), (ceiling, "about no job")];
    for (write, why) in absent {
        let write = Write::IfUnchanged { content: ContentHash::of("Acme"), then: Box::new(write) };
        assert!(apply(&mut bench.journal, write).unwrap_err().to_string().contains(why));
    }
    assert_eq!(bench.journal.quota(day).unwrap().ceiling, None);
}
