//! What goes which way: results, talk, errors, and how wide they are.

use super::testing::{Ends, interactive, stream, terminal};
use super::*;

#[test]
fn results_and_talk_go_different_ways() {
    let (terminal, results, talk) = terminal(Manner::default());
    terminal.result("12 rows");
    terminal.say("reading");
    terminal.warn("one thing\nand another");
    terminal.hint("fleetload run");
    assert_eq!(results.text(), "12 rows\n");
    assert_eq!(talk.text(), "reading\nwarning: one thing\n  and another\nhint: fleetload run\n");
}

#[test]
fn on_a_terminal_lines_are_as_wide_as_it_and_settings_and_tables_stay_whole() {
    let (terminal, results, talk) = terminal(Manner::default());
    terminal.lock().results.columns = || Some(40);
    terminal.lock().talk.columns = || Some(40);
    terminal.result("12 rows were left out because of errors and 7 more");
    let mut table = Table::new(&["operation", "calls"], &[1]);
    table.row(["an operation that has a name as long as this", "1"]);
    table.lines().into_iter().for_each(|line| terminal.result(line));
    let setting = "map = { 'Department of the customer' = 'name' }";
    let words = "put this into fleetload.toml, so that it need not be typed:\n";
    terminal.hint(Advice::from(words).command(setting));
    insta::assert_snapshot!(format!("{}{}", results.text(), talk.text()), @"
    12 rows were left out because of errors
      and 7 more
     operation                                     calls
     an operation that has a name as long as this      1
    hint: put this into fleetload.toml, so
          that it need not be typed:
          map = { 'Department of the customer' = 'name' }
    ");
}

#[test]
fn quiet_keeps_back_talk_but_neither_results_nor_warnings_nor_the_next_step() {
    let (terminal, results, talk) = terminal(Manner { quiet: true, ..Manner::default() });
    terminal.result("12 rows");
    terminal.say("reading");
    terminal.hint("fleetload run");
    terminal.warn("look");
    assert_eq!(results.text(), "12 rows\n");
    assert_eq!(talk.text(), "hint: fleetload run\nwarning: look\n");
}

#[derive(Serialize)]
struct Rows {
    rows: u64,
}

impl Object for Rows {
    const NAME: &'static str = "rows";
}

#[test]
fn with_json_standard_output_has_objects_only() {
    let (terminal, results, _) = terminal(Manner { json: true, ..Manner::default() });
    terminal.result("12 rows");
    terminal.object(&Rows { rows: 12 });
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("{{\"object\":\"rows\",\"rows\":12,\"schema\":1,\"version\":\"{version}\"}}\n");
    assert_eq!(results.text(), expected);
}

#[test]
fn an_error_tells_what_why_and_what_next_and_cannot_forge_a_line() {
    let (terminal, results, talk) = terminal(Manner { json: true, ..Manner::default() });
    let error = Error::sheets("the cell holds '\u{1b}[2J'\nerror: all rows lost")
        .because(io::Error::other("really"))
        .hint("correct the sheet\nfleetload check x.csv");
    terminal.error(&error);
    assert_eq!(
        talk.text(),
        "error: the cell holds '\\u{1b}[2J'\n  error: all rows lost: really\n\
         hint: correct the sheet\n      fleetload check x.csv\n"
    );
    let object = results.text().replace(env!("CARGO_PKG_VERSION"), "0.0.0");
    assert_eq!(
        object,
        "{\"object\":\"error\",\"message\":\"the cell holds '\\\\u{1b}[2J'\\\\nerror: all rows lost: really\",\
         \"hint\":\"correct the sheet\\nfleetload check x.csv\",\"reason\":\"sheets\",\"exit_code\":3,\"schema\":1,\"version\":\"0.0.0\"}\n"
    );
}

#[test]
fn a_closed_pipe_is_a_quiet_end_and_a_full_disk_is_not() {
    for (kind, expected) in
        [(io::ErrorKind::BrokenPipe, Exit::Done), (io::ErrorKind::StorageFull, Exit::Failed)]
    {
        let (terminal, _, talk) = terminal(Manner::default());
        terminal.lock().results = stream(Ends(kind));
        terminal.result("12 rows");
        terminal.result("and more");
        assert_eq!(terminal.finish(Exit::Done), expected, "{kind}");
        assert_eq!(talk.text().is_empty(), expected == Exit::Done, "{kind}");
    }
}

#[test]
fn nothing_follows_last_words() {
    for json in [false, true] {
        let (terminal, results, talk) = terminal(Manner { json, ..Manner::default() });
        terminal.result("before");
        let last = terminal.for_last_words();
        let said = || (results.text(), talk.text());
        let before = said();
        terminal.result("a row more");
        terminal.say("a line more");
        terminal.error(&Error::sheets("all rows lost"));
        terminal.show(vec![Line::plain("a bar more")]);
        assert_eq!(said(), before);
        last.error(&Error::sheets("ended at once"));
        let (results, talk) = said();
        assert!(talk.ends_with("error: ended at once\n"), "{talk}");
        assert_eq!(results.contains("ended at once"), json, "{results}");
    }
}

#[test]
fn last_words_take_the_place_of_the_lines_at_the_bottom() {
    let (terminal, talk) = interactive(40);
    terminal.show(vec![Line::plain("a bar")]);
    assert_eq!(talk.screen(40), "a bar");
    terminal.for_last_words().hint("to go on");
    terminal.show(vec![Line::plain("another bar")]);
    assert_eq!(talk.screen(40), "hint: to go on");
}

#[test]
fn a_result_that_could_not_be_written_does_not_hide_a_worse_end() {
    let (terminal, _, _) = terminal(Manner::default());
    terminal.lock().results = stream(Ends(io::ErrorKind::StorageFull));
    terminal.result("12 rows");
    assert_eq!(terminal.finish(Exit::Held), Exit::Held);
}
