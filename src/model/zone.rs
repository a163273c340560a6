//! The time zones that the service lists (specification 2.8), as it answered when it was last asked.

use super::time::Moment;

/// The zones of the service. It holds at least one, and each name once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneList {
    asked_at: Moment,
    /// In the order of the alphabet.
    ids: Vec<String>,
}

impl ZoneList {
    /// The most zones of a list.
    pub const MOST: usize = 5_000;
    /// The most characters of a name.
    pub const LONGEST: usize = 100;

    /// The list with these names; nothing where they cannot be the names of zones, or are none.
    pub fn new(mut ids: Vec<String>, asked_at: Moment) -> Option<Self> {
        let is_name = |id: &String| {
            (1..=Self::LONGEST).contains(&id.chars().count())
                && id.trim() == id
                && !id.chars().any(char::is_control)
        };
        if ids.is_empty() || ids.len() > Self::MOST || !ids.iter().all(is_name) {
            return None;
        }
        ids.sort_unstable();
        ids.dedup();
        Some(Self { asked_at, ids })
    }

    /// When the service was asked.
    pub fn asked_at(&self) -> Moment {
        self.asked_at
    }

    /// The names, in the order of the alphabet.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The name as the service writes it, for one that differs in capital letters at most.
    pub fn spelled(&self, name: &str) -> Option<&str> {
        let exact = self.ids.binary_search_by(|id| id.as_str().cmp(name)).ok().map(|at| &self.ids[at]);
        exact.or_else(|| self.ids.iter().find(|id| id.eq_ignore_ascii_case(name))).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ids: &[&str]) -> Option<ZoneList> {
        ZoneList::new(ids.iter().map(|id| (*id).to_owned()).collect(), Moment::default())
    }

    #[test]
    fn a_list_is_of_names_only() {
        let long = "x".repeat(ZoneList::LONGEST + 1);
        for wrong in [&[][..], &[""], &["UTC", " "], &["UTC\n"], &["UTC", "a\u{1b}b"], &[long.as_str()]] {
            assert_eq!(list(wrong), None, "{wrong:?}");
        }
        assert_eq!(ZoneList::new(vec!["UTC".to_owned(); ZoneList::MOST + 1], Moment::default()), None);
        assert_eq!(list(&["UTC", "Asia/Tokyo", "UTC"]).unwrap().ids(), ["Asia/Tokyo", "UTC"]);
    }

    #[test]
    fn a_name_is_found_whatever_its_capital_letters_and_spelled_as_the_service_does() {
        let list = list(&["Pacific/Auckland", "UTC", "utc", "Etc/GMT-12"]).unwrap();
        for (name, spelled) in [
            ("Pacific/Auckland", Some("Pacific/Auckland")),
            ("pacific/AUCKLAND", Some("Pacific/Auckland")),
            ("utc", Some("utc")),
            ("etc/gmt-12", Some("Etc/GMT-12")),
            ("Auckland", None),
            ("", None),
        ] {
            assert_eq!(list.spelled(name), spelled, "{name}");
        }
    }
}
