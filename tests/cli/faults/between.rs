//! What stands between us and the service: resets at the worst moment, connections that are just being closed,
//! answers cut within a chunk, redirects, answers too large or too deep to be true.

use super::*;
use crate::relay::{Act, Relay, answer, body};

/// Ten devices behind a relay that does this to the creations of the third and the fourth.
fn behind(act: impl Fn() -> Act + Send + Sync + 'static) -> (Bench, Relay) {
    let bench = bench_of(service(), 10);
    let relay = Relay::before(&bench.base_url(), move |operation, nth| match (operation, nth) {
        ("addDevice", 2..=3) => act(),
        _ => Act::Pass,
    });
    profile_at(&bench, &relay.base_url(), "", "");
    (bench, relay)
}

/// As [`behind`], for acts after the deed: nothing is sent again, both are found.
fn found_again(act: impl Fn() -> Act + Send + Sync + 'static) {
    let (bench, relay) = behind(act);
    run(&bench).expect_code(0);
    assert_eq!(relay.fired(), 2, "the fault fired");
    assert_eq!(bench.counts(1), [("adopted".to_owned(), 2), ("created".to_owned(), 9)].into());
    assert_eq!(bench.requests("addDevice"), 10, "nothing was sent again");
    assert_eq!(bench.created("device").len(), 10);
    bench.assert_exact(1);
}

#[test]
fn f04_a_reset_while_the_request_is_read_is_in_doubt_and_sent_again_only_once_absence_is_proved() {
    let (bench, relay) = behind(|| Act::ResetUnread);
    run(&bench).expect_code(0);
    assert_eq!(relay.fired(), 2, "the fault fired");
    assert_eq!(bench.requests("addDevice"), 10, "ten of twelve requests reached the service");
    let twice = bench.results(1).into_iter().filter(|row| row["attempts"] == 2).count();
    assert_eq!(twice, 2, "each was charged its lost attempt: {:?}", bench.results(1)[1]);
    assert!(looks(&bench) >= 10 + 2 * 2, "each was looked for twice before it was sent again");
    bench.assert_exact(1);
}

#[test]
fn f06_a_connection_that_closes_as_we_write_leaves_a_doubt_and_no_second_request_of_its_own() {
    let bench = bench_of(service(), 10);
    let relay = Relay::before(&bench.base_url(), |operation, nth| match (operation, nth) {
        ("addDevice", 2..=3) => Act::CloseOnNext,
        _ => Act::Pass,
    });
    profile_at(&bench, &relay.base_url(), "", "");
    // One at a time, so that the connection that is closed is the next one to be used.
    one_at_a_time(&bench);
    run(&bench).expect_code(0);
    assert!(relay.fired() >= 1, "a request met a connection that was closing");
    assert_eq!(bench.created("device").len(), 10);
    assert_eq!(bench.requests("addDevice"), 10, "the library sent nothing a second time");
    bench.assert_exact(1);
}

fn chunked(answer: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let head =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    (head, body(answer).to_vec())
}

#[test]
fn f08_an_answer_in_chunks_that_ends_in_the_middle_of_one_is_found_again() {
    found_again(|| {
        Act::After(|answer| {
            let (head, body) = chunked(&answer);
            let (first, second) = body.split_at(20);
            let chunks = format!("{:x}\r\n", first.len()).into_bytes();
            let rest = format!("\r\n{:x}\r\n", second.len()).into_bytes();
            [&head, &chunks, first, &rest, &second[..second.len() - 3]].concat()
        })
    });
}

#[test]
fn f08_an_answer_whose_last_chunk_never_comes_is_found_again() {
    found_again(|| {
        Act::After(|answer| {
            let (head, body) = chunked(&answer);
            [&head, format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n"].concat()
        })
    });
}

#[test]
fn f08_a_compressed_answer_that_nobody_asked_for_is_found_again() {
    found_again(|| {
        Act::After(|_| {
            let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0x56, 0x2a];
            answer("200 OK", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", &gzip)
        })
    });
}

#[test]
fn f35_an_answer_that_is_too_large_is_not_read_to_its_end_and_found_again() {
    found_again(|| {
        Act::After(|_| {
            let body = format!("{{\"status\":\"OK\",\"body\":\"{}\"}}", "x".repeat(3 << 20));
            answer("200 OK", "Content-Type: application/json\r\n", body.as_bytes())
        })
    });
}

#[test]
fn f35_an_answer_nested_a_hundred_thousand_deep_is_found_again() {
    found_again(|| {
        Act::After(|_| {
            let body = format!("{{\"status\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
            answer("200 OK", "Content-Type: application/json\r\n", body.as_bytes())
        })
    });
}

#[test]
fn f35_a_head_without_end_is_found_again() {
    found_again(|| {
        Act::After(|_| format!("HTTP/1.1 200 OK\r\nX-Much: {}", "x".repeat(2 << 20)).into_bytes())
    });
}

#[test]
fn f14_a_redirect_is_never_followed_and_stops_the_operation() {
    for status in
        ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let bench = bench_of(service(), 10);
        let elsewhere = Relay::before(&bench.base_url(), |_, _| Act::Instead(answer("200 OK", "", b"{}")));
        let location = format!("Location: {}/device-api/config/v1/addDevice\r\n", elsewhere.base_url());
        let relay = Relay::before(&bench.base_url(), move |operation, nth| match (operation, nth) {
            ("addDevice", 2..) => Act::Instead(answer(status, &location, b"")),
            _ => Act::Pass,
        });
        profile_at(&bench, &relay.base_url(), "", "");
        one_at_a_time(&bench);
        let outcome = run(&bench).expect_code(7);
        let code = &status[..3];
        assert!(outcome.stderr.contains(&format!("answered {code} to addDevice")), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("[profile.NAME.endpoints.addDevice]"), "{}", outcome.stderr);
        assert_eq!(relay.fired(), 1, "one redirect was enough");
        assert_eq!(elsewhere.fired(), 0, "it was not followed");
        let counts = bench.counts(1);
        assert_eq!(counts["created"], 3, "{counts:?}");
        assert_eq!(counts["ready"], 8, "the one in doubt was proved absent: {counts:?}");
    }
}

#[test]
fn f52_a_429_with_a_body_that_nobody_knows_is_in_doubt_and_slows_the_operation_down() {
    let bench = bench_of(service(), 10);
    let relay = Relay::before(&bench.base_url(), |operation, nth| match (operation, nth) {
        ("addDevice", 2..=3) => Act::Instead(answer("429 Too Many Requests", "", b"<html>slow down</html>")),
        _ => Act::Pass,
    });
    profile_at(&bench, &relay.base_url(), "", "");
    bench.alter("rate = \"unlimited\"", "rate = 98");
    let outcome = run(&bench).expect_code(0);
    assert_eq!(relay.fired(), 2, "the fault fired");
    assert!(outcome.stderr.contains("slower pace"), "{}", outcome.stderr);
    assert!(looks(&bench) >= 10 + 2 * 2, "each was looked for twice before it was sent again");
    assert_eq!(bench.requests("addDevice"), 10);
    bench.assert_exact(1);
}
