//! A mail for the system's `sendmail`: headers that no name of a file can add to, and a text in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::{headline, lines};
use crate::notify::Notification;

/// How many characters of the headline the subject has.
const SUBJECT: usize = 120;
/// How many bytes of text an encoded word holds: it may have 75 characters (RFC 2047).
const WORD: usize = 42;
/// How many characters a line of base64 has (RFC 2045).
const LINE: usize = 76;

/// The mail, with the line ends that `sendmail` takes. The addresses were checked when the profile was read.
pub(in crate::notify) fn mail(notification: &Notification, to: &[String]) -> String {
    let mut text = headline(notification);
    text.push_str("\n\n");
    text.push_str(&lines(notification).join("\n"));
    text.push_str(&format!(
        "\n\nEvent {} {}, {}\n",
        notification.event.as_str(),
        notification.id,
        notification.at
    ));
    let mut mail = String::new();
    let mut header = |name: &str, value: &str| mail.push_str(&format!("{name}: {value}\n"));
    header("To", &to.join(",\n "));
    header("Subject", &subject(&headline(notification)));
    // A moment that cannot be read is left to sendmail, which adds the header where it is missing.
    let at = notification.at.parse::<Timestamp>().ok();
    if let Some(date) = at.and_then(|at| rfc2822::DateTimePrinter::new().timestamp_to_string(&at).ok()) {
        header("Date", &date);
    }
    header("Message-ID", &format!("<{}@fleetload>", notification.id));
    header("X-Fleetload-Event", &notification.id.to_string());
    // Out-of-office replies do not answer it (RFC 3834).
    header("Auto-Submitted", "auto-generated");
    header("MIME-Version", "1.0");
    header("Content-Type", "text/plain; charset=utf-8");
    header("Content-Transfer-Encoding", "base64");
    mail.push('\n');
    for line in STANDARD.encode(text).as_bytes().chunks(LINE) {
        mail.push_str(&String::from_utf8_lossy(line));
        mail.push('\n');
    }
    mail
}

/// As much of the headline as the subject has: up to the end of a part of the sentence, otherwise of a word, and a sign that there
/// is more.
fn shortened(text: &str) -> String {
    if text.chars().count() <= SUBJECT {
        return text.to_owned();
    }
    let room: String = text.chars().take(SUBJECT - 1).collect();
    // A part that is cut off may be a number without its noun.
    let part = room.rfind("; ").max(room.rfind(", ")).filter(|end| *end > room.len() / 2);
    let end = part.or_else(|| room.rfind(' ')).unwrap_or(room.len());
    format!("{}…", room[..end].trim_end())
}

/// The value of the header: as it is where that is plain ASCII, else in encoded words (RFC 2047).
fn subject(text: &str) -> String {
    let text = shortened(text);
    if text.chars().all(|c| matches!(c, ' '..='~')) {
        return text;
    }
    let mut words = vec![String::new()];
    for c in text.chars() {
        if words.last().is_some_and(|word| word.len() + c.len_utf8() > WORD) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    let words: Vec<String> =
        words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word))).collect();
    words.join("\n ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::notification::tests::hostile;

    #[test]
    fn a_mail_has_its_own_headers_and_no_others() {
        let mail = mail(&hostile(), &["ops@example.com".to_owned(), "night@example.com".to_owned()]);
        let (headers, body) = mail.split_once("\n\n").unwrap();
        let names: Vec<&str> = headers
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split_once(':').unwrap().0)
            .collect();
        let expected = "To Subject Date Message-ID X-Fleetload-Event Auto-Submitted MIME-Version Content-Type \
                        Content-Transfer-Encoding";
        assert_eq!(names.join(" "), expected);
        assert!(mail.lines().all(|line| line.len() <= LINE + 2 && line.is_ascii()), "{mail}");
        let text = STANDARD.decode(body.replace('\n', "")).unwrap();
        insta::assert_snapshot!("mail", format!("{headers}\n\n{}", String::from_utf8(text).unwrap()));
    }

    #[test]
    fn a_subject_ends_after_a_part_of_the_sentence_and_shows_that_there_is_more() {
        let text = "fleetload acme: parked until 2026-11-29 00:00 UTC: today's quota is spent, 4 rows remaining; 1 row was \
                    not imported because of errors";
        assert_eq!(
            shortened(text),
            "fleetload acme: parked until 2026-11-29 00:00 UTC: today's quota is spent, 4 rows remaining…"
        );
        assert_eq!(shortened(&text[..SUBJECT]), text[..SUBJECT]);
        assert_eq!(shortened(&"word ".repeat(60)), format!("{}…", "word ".repeat(23).trim_end()));
        assert_eq!(shortened(&"ü".repeat(500)), format!("{}…", "ü".repeat(SUBJECT - 1)));
    }

    #[test]
    fn a_plain_subject_is_not_encoded() {
        assert_eq!(
            subject("fleetload acme: finished: every row is done"),
            "fleetload acme: finished: every row is done"
        );
        assert_eq!(subject("a\r\nBcc: all"), format!("=?utf-8?B?{}?=", STANDARD.encode("a\r\nBcc: all")));
        assert!(subject(&"ü".repeat(500)).lines().all(|line| line.len() <= 76));
    }
}
