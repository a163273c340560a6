//! A card for the incoming webhooks of Teams. Its text is in runs, which Teams shows as they are: in other elements it
//! would read Markdown, so that the name of a file could become a link.

use serde_json::{Value, json};

use super::{headline, lines};
use crate::notify::Notification;

/// The body of the request.
pub(super) fn body(notification: &Notification) -> String {
    let run = |text: &str, weight: &str| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, "weight": weight}]});
    let mut body: Vec<Value> = vec![run(&headline(notification), "Bolder")];
    body.extend(lines(notification).iter().map(|line| run(line, "Default")));
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard", "version": "1.4", "body": body,
            },
        }],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use crate::notify::notification::tests::hostile;

    #[test]
    fn a_card_has_no_element_that_reads_markdown() {
        let body = super::body(&hostile());
        assert!(!body.contains("TextBlock\",\"text") && !body.contains("FactSet"), "{body}");
        insta::assert_snapshot!("teams", body);
    }
}
