//! Reports to systemd, if it started this process as a service: that it works, what it did last, that it ends. Without systemd
//! nothing is reported.

/// It has begun, and does this.
pub(super) fn ready(doing: &str) {
    report(&[State::Ready, State::Status(doing)]);
}

/// What it did last, for `systemctl status`.
pub(super) fn status(words: &str) {
    report(&[State::Status(words)]);
}

/// It waits for what is under way, and ends.
pub(super) fn stopping() {
    report(&[State::Stopping]);
}

/// A state that systemd knows.
enum State<'a> {
    Ready,
    Status(&'a str),
    Stopping,
}

#[cfg(unix)]
fn report(states: &[State<'_>]) {
    use sd_notify::NotifyState;
    let states: Vec<NotifyState<'_>> = states
        .iter()
        .map(|state| match state {
            State::Ready => NotifyState::Ready,
            State::Status(words) => NotifyState::Status(words),
            State::Stopping => NotifyState::Stopping,
        })
        .collect();
    // The work does not depend on who watches it.
    if let Err(error) = sd_notify::notify(&states) {
        tracing::debug!(%error, "the service manager did not get a message");
    }
}

#[cfg(not(unix))]
fn report(_states: &[State<'_>]) {}
