//! A message of Slack's incoming webhooks: plain text, in which names of files neither mention anybody nor format anything.

use serde_json::json;

use super::{headline, lines};
use crate::notify::Notification;

/// The body of the request.
pub(super) fn body(notification: &Notification) -> String {
    let mut text = vec![headline(notification)];
    text.extend(lines(notification));
    let text = escaped(&text.join("\n"));
    json!({"text": text, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false}).to_string()
}

/// The three characters that Slack reads as its own: mentions, links and channels begin with one of them.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use crate::notify::notification::tests::hostile;

    #[test]
    fn a_message_mentions_nobody() {
        let body = super::body(&hostile());
        assert!(!body.contains('<') && !body.contains('>'), "{body}");
        insta::assert_snapshot!("slack", body);
    }
}
