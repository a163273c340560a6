//! The bounds of the numbers among the settings, and the words in which others are refused.

use std::ops::RangeInclusive;

use super::{RateSetting, Setting, wrong};
use crate::error::Result;

/// The service refuses more requests a second than this, for each account and operation (specification 8).
const HIGHEST_RATE: f64 = 100.0;
/// Slower than one request in a hundred seconds is most likely a mistake in the unit.
const LOWEST_RATE: f64 = 0.01;

pub(super) const HIGHEST_CONCURRENCY: usize = 1024;
/// Before a minute has passed, "it is not there" proves little: the service may still be at work on the request.
pub(super) const SHORTEST_SETTLE: u64 = 60;
pub(super) const LONGEST_SETTLE: u64 = 86_400;
const LONGEST_TIMEOUT: u64 = 600;
/// More creations a day than any service allows.
const MOST_CREATIONS: u64 = 1_000_000_000;

/// A whole number among the settings: what it is called in the file, in the environment and on the command line (blank
/// where there is no such option), and its bounds.
pub(super) struct Whole {
    pub(in crate::cli) key: &'static str,
    pub(in crate::cli) variable: &'static str,
    pub(in crate::cli) option: &'static str,
    pub(in crate::cli) range: RangeInclusive<u64>,
    pub(super) unit: &'static str,
}

pub(super) const CONCURRENCY: Whole = Whole {
    key: "concurrency",
    variable: "FLEETLOAD_CONCURRENCY",
    option: "--concurrency",
    range: 1..=HIGHEST_CONCURRENCY as u64,
    unit: "requests",
};
pub(super) const DAILY_QUOTA: Whole = Whole {
    key: "daily_quota",
    variable: "FLEETLOAD_DAILY_QUOTA",
    option: "--daily-quota",
    range: 1..=MOST_CREATIONS,
    unit: "creations",
};
pub(super) const RESERVE: Whole = Whole {
    key: "reserve",
    variable: "FLEETLOAD_RESERVE",
    option: "--reserve",
    range: 0..=MOST_CREATIONS,
    unit: "creations",
};
pub(super) const SETTLE: Whole = Whole {
    key: "settle_seconds",
    variable: "FLEETLOAD_SETTLE_SECONDS",
    option: "",
    range: SHORTEST_SETTLE..=LONGEST_SETTLE,
    unit: "seconds",
};
pub(super) const REQUEST_TIMEOUT: Whole = Whole {
    key: "request_timeout_seconds",
    variable: "FLEETLOAD_REQUEST_TIMEOUT_SECONDS",
    option: "",
    range: 1..=LONGEST_TIMEOUT,
    unit: "seconds",
};

/// The pace that a text says; no limit at all only towards this machine itself.
pub(in crate::cli) fn rate(text: &Setting<String>, local: bool) -> Result<Setting<RateSetting>> {
    if text.value == "unlimited" {
        return if local {
            Ok(Setting { value: RateSetting::Unlimited, origin: text.origin.clone() })
        } else {
            Err(wrong(text, "rate", "may be \"unlimited\" only towards this machine itself")
                .hint("the service allows 100 requests a second for each operation; leave rate out for 98"))
        };
    }
    let number: Option<f64> = text.value.parse().ok().filter(|number: &f64| number.is_finite());
    match number {
        Some(number) if number > HIGHEST_RATE => {
            Err(wrong(text, "rate", "is above 100 requests a second, which the service refuses")
                .hint("leave rate out for 98, which uses the limit as far as it safely goes"))
        }
        Some(number) if number >= LOWEST_RATE => {
            Ok(Setting { value: RateSetting::PerSecond(number), origin: text.origin.clone() })
        }
        Some(_) | None => Err(wrong(text, "rate", "must be a number of requests a second from 0.01 to 100")),
    }
}

/// The number that a text says, which must be within its bounds.
pub(super) fn within(text: &Setting<String>, named: &Whole) -> Result<Setting<u64>> {
    let (range, unit) = (&named.range, named.unit);
    match text.value.parse::<u64>() {
        Ok(number) if range.contains(&number) => Ok(Setting { value: number, origin: text.origin.clone() }),
        Ok(_) | Err(_) => {
            let rule = format!("must be a whole number of {unit} from {} to {}", range.start(), range.end());
            Err(wrong(text, named.key, &rule))
        }
    }
}
