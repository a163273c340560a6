//! What systemd is told of a service that it has started: that it works, what it did last, that it ends. Whoever started
//! the process otherwise is told nothing.

/// It has begun, and does this.
pub(super) fn ready(doing: &str) {
    tell(&[State::Ready, State::Status(doing)]);
}

/// What it did last, for `systemctl status`.
pub(super) fn status(words: &str) {
    tell(&[State::Status(words)]);
}

/// It lets what is under way come home, and ends.
pub(super) fn stopping() {
    tell(&[State::Stopping]);
}

/// A state that systemd knows.
enum State<'a> {
    Ready,
    Status(&'a str),
    Stopping,
}

#[cfg(unix)]
fn tell(states: &[State<'_>]) {
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
        tracing::debug!(%error, "the service manager was not told");
    }
}

#[cfg(not(unix))]
fn tell(_states: &[State<'_>]) {}
