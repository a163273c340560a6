//! Towns, names and numbers as they are in New Zealand, Australia, Britain and Ireland. No real person or company:
//! mail domains end in `.example`, phone numbers are from the ranges kept for fiction where a country has one.

use fastrand::Rng;
use unicode_normalization::UnicodeNormalization as _;

use super::Result;

const TOWNS: &str = include_str!("towns.txt");
const NAMES: &str = include_str!("names.txt");

/// A town and what an address in it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Town {
    pub(crate) id: &'static str,
    pub(crate) city: &'static str,
    pub(crate) state: &'static str,
    pub(crate) postcode: &'static str,
    pub(crate) country: &'static str,
    pub(crate) timezone: &'static str,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    /// What stands before the last three digits of a phone number.
    phone: &'static str,
}

impl Town {
    /// A phone number there.
    pub(crate) fn phone(&self, rng: &mut Rng) -> String {
        format!("{}{:03}", self.phone, rng.u32(0..1000))
    }
}

/// The towns and the names of the people in them.
#[derive(Debug)]
pub(crate) struct World {
    towns: Vec<Town>,
    names: Vec<Names>,
}

/// The names usual in a country.
#[derive(Debug)]
struct Names {
    country: &'static str,
    first: Vec<&'static str>,
    last: Vec<&'static str>,
}

impl World {
    pub(crate) fn load() -> Result<Self> {
        let town = |fields: [&'static str; 9]| -> Result<Town> {
            let [id, city, state, postcode, country, timezone, latitude, longitude, phone] = fields;
            let (latitude, longitude) = (latitude.parse()?, longitude.parse()?);
            Ok(Town { id, city, state, postcode, country, timezone, latitude, longitude, phone })
        };
        let names = |[country, first, last]: [&'static str; 3]| Names {
            country,
            first: first.split(", ").collect(),
            last: last.split(", ").collect(),
        };
        Ok(Self {
            towns: lines(TOWNS).map(town).collect::<Result<_>>()?,
            names: lines(NAMES).map(names).collect(),
        })
    }

    /// A town by its id.
    pub(crate) fn town(&self, id: &str) -> Result<Town> {
        self.towns
            .iter()
            .find(|town| town.id == id)
            .copied()
            .ok_or_else(|| format!("no town is called {id}").into())
    }

    /// Any town.
    pub(crate) fn any_town(&self, rng: &mut Rng) -> Town {
        self.towns[rng.usize(0..self.towns.len())]
    }

    /// A given and a family name as they are in a country.
    pub(crate) fn person(&self, country: &str, rng: &mut Rng) -> Result<(&'static str, &'static str)> {
        let names = self
            .names
            .iter()
            .find(|names| names.country == country)
            .ok_or_else(|| format!("there are no names for {country}"))?;
        Ok((names.first[rng.usize(0..names.first.len())], names.last[rng.usize(0..names.last.len())]))
    }
}

/// The fields of each line of a table, separated by `|`; fields that are not there are empty.
pub(crate) fn lines<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut fields = line.split('|');
        std::array::from_fn(|_| fields.next().unwrap_or_default())
    })
}

/// A name in small letters without accents, as people make usernames of it.
pub(crate) fn plain(name: &str) -> String {
    name.nfd().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>().to_lowercase()
}

/// The MAC address as one of the notations in which equipment lists come.
pub(crate) fn mac(address: u64, notation: usize) -> String {
    let hex = format!("{address:012x}");
    let groups = |size: usize, separator: &str| {
        (0..hex.len()).step_by(size).map(|at| &hex[at..at + size]).collect::<Vec<_>>().join(separator)
    };
    match notation % 4 {
        0 => groups(2, ":"),
        1 => groups(2, "-").to_uppercase(),
        2 => groups(4, "."),
        _ => hex.to_uppercase(),
    }
}
