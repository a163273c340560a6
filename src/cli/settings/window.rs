//! The settings of when a run may send: `[profile.NAME.window]`, and what was typed in its place.

use jiff::tz::TimeZone;

use super::layers::{Layers, Origin, Setting};
use super::setting::{ON_CLOSE, ZONE, nearest};
use crate::cli::args::options::WindowArgs;
use crate::error::{Error, Result};
use crate::model::policy::OnClose;
use crate::model::time::Moment;
use crate::model::window::{SendingHours, Window, Windows};

/// When a run may send, by the profile.
#[derive(Debug, Clone)]
pub(in crate::cli) struct WindowSettings {
    between: Setting<Vec<Window>>,
    zone: Option<Setting<TimeZone>>,
    pub(in crate::cli) on_close: Setting<OnClose>,
}

impl WindowSettings {
    /// Reads and checks what environment and file say.
    pub(super) fn settle(layers: &Layers<'_>) -> Result<Self> {
        let file = layers.profile;
        let of_file = |line: usize| Origin::File(file.file.clone(), line);
        let between = match file.between.first() {
            None => Setting::default_of(Vec::new()),
            Some(first) => {
                let windows =
                    file.between.iter().map(|text| window(&of_file(text.line), "between", &text.value));
                Setting { value: windows.collect::<Result<_>>()?, origin: of_file(first.line) }
            }
        };
        let zone = match layers.text(&ZONE, None) {
            Some(text) => {
                Some(Setting { value: zone(&text.origin, "zone", &text.value)?, origin: text.origin })
            }
            None => None,
        };
        Ok(Self { between, zone, on_close: layers.word(&ON_CLOSE, None)? })
    }

    /// When a run may send: as typed, else as the profile says. `here` is the zone of this machine.
    pub(in crate::cli) fn hours(
        &self,
        typed: &WindowArgs,
        from: Option<Moment>,
        here: &TimeZone,
    ) -> Result<SendingHours> {
        let option = Origin::Flag("--between");
        let windows: Vec<Window> = match typed.between.as_slice() {
            [] => self.between.value.clone(),
            between => {
                between.iter().map(|text| window(&option, "--between", text)).collect::<Result<_>>()?
            }
        };
        if windows.is_empty() {
            return Ok(SendingHours { from, windows: None });
        }
        // The profile's windows keep their zone, whatever is typed for --until.
        let zone = match &self.zone {
            Some(zone) if typed.zone.is_none() || typed.between.is_empty() => zone.value.clone(),
            Some(_) | None => zone_typed(typed, here)?,
        };
        let windows = Windows::new(windows, zone).ok_or_else(|| {
            Error::usage("the time zone of this machine has no name, so that its windows cannot be shown")
                .hint(
                    "name the zone of the windows: --zone Pacific/Auckland, or zone in [profile.NAME.window]",
                )
        })?;
        Ok(SendingHours { from, windows: Some(windows) })
    }

    /// Each setting with its value and origin. Without a window they hold for those that are typed.
    pub(super) fn listed(&self, put: &mut dyn FnMut(&str, String, &dyn std::fmt::Display)) {
        let has_window = !self.between.value.is_empty();
        if has_window {
            let between: Vec<String> = self.between.value.iter().map(Window::to_string).collect();
            put("window.between", between.join(", "), &self.between.origin);
        }
        if let Some(zone) = &self.zone {
            put("window.zone", zone.value.iana_name().unwrap_or_default().to_owned(), &zone.origin);
        }
        if has_window || self.on_close.origin != Origin::Default {
            put("window.on_close", self.on_close.value.to_string(), &self.on_close.origin);
        }
    }
}

/// The zone that was typed, else that of this machine.
pub(in crate::cli) fn zone_typed(typed: &WindowArgs, here: &TimeZone) -> Result<TimeZone> {
    match &typed.zone {
        Some(name) => zone(&Origin::Flag("--zone"), "--zone", name),
        None => Ok(here.clone()),
    }
}

fn window(origin: &Origin, key: &str, text: &str) -> Result<Window> {
    text.parse().map_err(|why: String| {
        Error::usage(format!("{origin}: {key}: '{text}' is not a window: {why}"))
            .hint("write 22:00-06:00, or with days \"Mon-Fri 22:00-06:00\"")
    })
}

fn zone(origin: &Origin, key: &str, name: &str) -> Result<TimeZone> {
    TimeZone::get(name).map_err(|_unknown| {
        let error = Error::usage(format!("{origin}: {key}: '{name}' is not a time zone"));
        let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
        match nearest(name, known.iter().map(String::as_str)) {
            Some(known) => error.hint(format!("did you mean {known}?")),
            None => error.hint("write a name of the IANA database, such as Pacific/Auckland or UTC"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_the_zone_that_belongs_to_them() {
        let auckland = Some(Setting::default_of(TimeZone::get("Pacific/Auckland").unwrap()));
        let profile = ["22:00-06:00"].as_slice();
        let typed = ["21:00-05:00"].as_slice();
        let table = [
            (profile, &auckland, [].as_slice(), None, "Pacific/Auckland"),
            (profile, &auckland, [].as_slice(), Some("Europe/Paris"), "Pacific/Auckland"),
            (profile, &auckland, typed, None, "Pacific/Auckland"),
            (profile, &auckland, typed, Some("Europe/Paris"), "Europe/Paris"),
            (profile, &None, [].as_slice(), None, "UTC"),
            (profile, &None, [].as_slice(), Some("Europe/Paris"), "Europe/Paris"),
            (&[], &None, typed, None, "UTC"),
        ];
        for (between, zone, typed, typed_zone, expected) in table {
            let windows = between.iter().map(|text| text.parse().unwrap()).collect();
            let settings = WindowSettings {
                between: Setting::default_of(windows),
                zone: zone.clone(),
                on_close: Setting::default_of(OnClose::Wait),
            };
            let typed = WindowArgs {
                between: typed.iter().map(|&text| text.to_owned()).collect(),
                zone: typed_zone.map(str::to_owned),
                on_close: None,
            };
            let words = settings.hours(&typed, None, &TimeZone::UTC).unwrap().windows.unwrap().words();
            assert!(words.contains(expected), "{words}, not {expected}: {typed:?}");
        }
    }
}
