//! The bounds of the numbers among the settings, and the words in which others are refused.

use super::settings::{RateSetting, Setting, wrong};
use crate::error::Result;

/// The service refuses more requests a second than this, for each account and operation (specification 8).
const HIGHEST_RATE: f64 = 100.0;
/// Slower than one request in a hundred seconds is most likely a mistake in the unit.
const LOWEST_RATE: f64 = 0.01;

pub(super) fn rate(text: &Setting<String>, local: bool) -> Result<Setting<RateSetting>> {
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

pub(super) fn within(
    text: &Setting<String>,
    key: &str,
    range: std::ops::RangeInclusive<u64>,
    unit: &str,
) -> Result<Setting<u64>> {
    match text.value.parse::<u64>() {
        Ok(number) if range.contains(&number) => Ok(Setting { value: number, origin: text.origin.clone() }),
        Ok(_) | Err(_) => {
            let rule = format!("must be a whole number of {unit} from {} to {}", range.start(), range.end());
            Err(wrong(text, key, &rule))
        }
    }
}
