//! The environment variables of a command that gets a notification. All begin with `FLEETLOAD_EVENT`, apart from
//! the journal, so that a fleetload that the command starts is about the same one.

use crate::notify::Notification;

/// Each variable with its value.
pub(in crate::notify) fn variables(notification: &Notification) -> Vec<(&'static str, String)> {
    let Notification { event, id, at, text, next, state, reason, exit_code, imports, journal, .. } =
        notification;
    let imports: Vec<String> = imports.iter().map(|import| import.import.to_string()).collect();
    [
        ("FLEETLOAD_EVENT", event.as_str().to_owned()),
        ("FLEETLOAD_EVENT_ID", id.to_string()),
        ("FLEETLOAD_EVENT_AT", at.clone()),
        ("FLEETLOAD_EVENT_TEXT", text.clone()),
        ("FLEETLOAD_EVENT_NEXT", next.clone().unwrap_or_default()),
        ("FLEETLOAD_EVENT_STATE", state.clone()),
        ("FLEETLOAD_EVENT_REASON", reason.clone().unwrap_or_default()),
        ("FLEETLOAD_EVENT_EXIT_CODE", exit_code.map_or_else(String::new, |code| code.to_string())),
        ("FLEETLOAD_EVENT_IMPORTS", imports.join(" ")),
        ("FLEETLOAD_JOURNAL", journal.clone()),
    ]
    // The system takes no value with a NUL.
    .map(|(name, value)| (name, value.replace('\0', "")))
    .into()
}

#[cfg(test)]
mod tests {
    use crate::notify::notification::tests::hostile;

    #[test]
    fn the_facts_are_in_the_environment() {
        let lines: Vec<String> = super::variables(&hostile())
            .into_iter()
            .map(|(name, value)| format!("{name}={value:?}"))
            .collect();
        insta::assert_snapshot!("variables", lines.join("\n"));
    }
}
