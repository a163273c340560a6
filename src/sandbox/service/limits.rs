//! The limits of specification 5 and 8: tokens and their life, requests in a sliding second, creations in a day.
//!
//! All of it is counted by client and by the service's own clock, which the caller passes in.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::sandbox::exchange::Millis;

const SECOND: Millis = 1000;
const DAY: Millis = 86_400_000;

/// A client, by its place among those seen; small, since it is part of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Client(usize);

/// Events of the last second, kept as one number for each millisecond.
#[derive(Debug, Default)]
pub(crate) struct Window {
    marks: VecDeque<(Millis, u32)>,
    sum: u32,
}

impl Window {
    /// How many events lie in the second that ends at `now`: a moment exactly a second ago is outside.
    pub(crate) fn count(&mut self, now: Millis) -> u32 {
        while let Some((at, number)) = self.marks.front().copied()
            && at <= now - SECOND
        {
            self.sum -= number;
            self.marks.pop_front();
        }
        self.sum
    }

    /// Adds an event and says how many the second then holds.
    pub(crate) fn add(&mut self, now: Millis) -> u32 {
        self.count(now);
        match self.marks.back_mut() {
            Some((at, number)) if *at >= now => *number += 1,
            _ => self.marks.push_back((now, 1)),
        }
        self.sum += 1;
        self.sum
    }
}

#[derive(Debug)]
struct Session {
    client: Client,
    expires: Millis,
}

/// Who is signed in, and what each has used up.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    names: Vec<String>,
    places: HashMap<String, Client>,
    sessions: HashMap<String, Session>,
    accepted: HashMap<(Client, &'static str), Window>,
    /// Creations by client, day (since the Unix epoch, UTC) and operation.
    used: HashMap<Client, BTreeMap<(i64, &'static str), u64>>,
}

impl Limits {
    pub(crate) fn client(&mut self, name: &str) -> Client {
        if let Some(client) = self.places.get(name) {
            return *client;
        }
        let client = Client(self.names.len());
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), client);
        client
    }

    pub(crate) fn name(&self, client: Client) -> &str {
        &self.names[client.0]
    }

    pub(crate) fn admit(&mut self, token: String, client: Client, now: Millis, expires: Millis) {
        self.sessions.retain(|_, session| session.expires > now);
        self.sessions.insert(token, Session { client, expires });
    }

    /// The client whose token this is, while the token lives.
    pub(crate) fn holder(&self, authorization: Option<&str>, now: Millis) -> Option<Client> {
        let (scheme, token) = authorization?.split_once(' ')?;
        let session = self.sessions.get(token.trim())?;
        (scheme.eq_ignore_ascii_case("bearer") && session.expires > now).then_some(session.client)
    }

    pub(crate) fn revoke_all(&mut self) {
        self.sessions.clear();
    }

    /// Takes one of the `rate` places in the sliding second. What is refused takes none.
    pub(crate) fn pass(&mut self, client: Client, operation: &'static str, rate: u32, now: Millis) -> bool {
        if rate == 0 {
            return true;
        }
        let window = self.accepted.entry((client, operation)).or_default();
        if window.count(now) >= rate {
            return false;
        }
        window.add(now);
        true
    }

    /// Creations of this day: by one operation, or by all together.
    pub(crate) fn used(&self, client: Client, operation: Option<&str>, now: Millis) -> u64 {
        let day = now.div_euclid(DAY);
        let counts = self.used.get(&client).into_iter().flatten();
        counts
            .filter(|((of, name), _)| *of == day && operation.is_none_or(|one| one == *name))
            .map(|(_, creations)| creations)
            .sum()
    }

    pub(crate) fn charge(&mut self, client: Client, operation: &'static str, now: Millis) {
        let day = now.div_euclid(DAY);
        *self.used.entry(client).or_default().entry((day, operation)).or_default() += 1;
    }

    /// Creations of every client on every day, by name and by days since the Unix epoch.
    pub(crate) fn by_day(&self) -> BTreeMap<String, BTreeMap<i64, u64>> {
        let mut clients: BTreeMap<String, BTreeMap<i64, u64>> = BTreeMap::new();
        for (client, counts) in &self.used {
            let days = clients.entry(self.name(*client).to_owned()).or_default();
            for ((day, _), creations) in counts {
                *days.entry(*day).or_default() += creations;
            }
        }
        clients
    }

    /// Clients and what they have used today, by name.
    pub(crate) fn usage(&self, now: Millis) -> Vec<(&str, u64)> {
        let mut usage: Vec<_> =
            self.places.iter().map(|(name, client)| (name.as_str(), self.used(*client, None, now))).collect();
        usage.sort_unstable();
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_slides_and_its_far_end_is_open() {
        let mut limits = Limits::default();
        let client = limits.client("acme");
        for at in [0, 0, 500] {
            assert!(limits.pass(client, "addDevice", 3, at));
        }
        for (at, passes) in [(999, false), (1000, true), (1001, true), (1002, false), (1500, true)] {
            assert_eq!(limits.pass(client, "addDevice", 3, at), passes, "at {at}");
        }
        assert!(limits.pass(client, "addSite", 3, 999), "each operation for itself");
        let other = limits.client("other");
        assert!(limits.pass(other, "addDevice", 3, 1500), "each client for itself");
        assert!((0..500).all(|_| limits.pass(client, "addDevice", 0, 1500)));
    }

    #[test]
    fn a_day_ends_at_midnight_utc() {
        let mut limits = Limits::default();
        let client = limits.client("acme");
        limits.charge(client, "addSite", DAY - 1);
        limits.charge(client, "addDevice", DAY - 1);
        assert_eq!(limits.used(client, None, DAY - 1), 2);
        assert_eq!(limits.used(client, Some("addSite"), DAY - 1), 1);
        assert_eq!(limits.used(client, None, DAY), 0);
        limits.charge(client, "addSite", DAY);
        assert_eq!(limits.used(client, None, DAY), 1);
        assert_eq!(limits.by_day()["acme"], BTreeMap::from([(0, 2), (1, 1)]));
    }

    #[test]
    fn a_token_lives_until_its_last_millisecond_has_passed() {
        let mut limits = Limits::default();
        let client = limits.client("acme");
        limits.admit("t".to_owned(), client, 0, 100);
        assert_eq!(limits.holder(Some("Bearer t"), 99), Some(client));
        for (header, now) in
            [(Some("Bearer t"), 100), (Some("Basic t"), 0), (Some("t"), 0), (Some("Bearer u"), 0), (None, 0)]
        {
            assert_eq!(limits.holder(header, now), None, "{header:?} at {now}");
        }
        limits.revoke_all();
        assert_eq!(limits.holder(Some("Bearer t"), 0), None);
    }
}
