//! What a row changed or removed, in words: what its record had of it before.

use serde_json::Value;

use crate::journal::DoneStep;
use crate::model::action::before::Before;
use crate::model::action::record_update::is_same;
use crate::model::action::vpn_comparison::LeftSetting;
use crate::model::action::{Action, ReplacedSetting};
use crate::model::kind::{Kind, Upkeep};
use crate::sheet::column::column_of_violation;

/// A value of a field, so that its ends are seen.
fn quoted(value: &Value) -> String {
    match value {
        Value::Null => "blank".to_owned(),
        Value::String(text) if text.is_empty() => "blank".to_owned(),
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}

/// A setting of a device in a VPN cloud that was replaced, by its column.
fn replaced(setting: &ReplacedSetting) -> String {
    let of = named(setting.field, setting.interface.as_deref());
    let [was, now] = [&setting.was, &setting.now].map(|text| quoted(&Value::from(text.as_str())));
    format!("{of} was {was}, now {now}")
}

/// A setting that the service has changed since the export of the rows.
fn left(setting: &LeftSetting) -> String {
    left_so(&named(&setting.field, setting.interface.as_deref()), &Value::from(setting.value.as_str()))
}

/// That a value is another one since the export of the rows.
fn left_so(what: &str, there: &Value) -> String {
    format!("{what} was changed to {} in the service since the export, and left so", quoted(there))
}

/// A setting of a device in a VPN cloud, by its column.
fn named(field: &str, interface: Option<&str>) -> String {
    let column = column_of_violation(Kind::Upkeep(Upkeep::Vpn), field);
    let name = column.map_or(field, |column| column.name);
    let of = interface.map(|interface| format!(" of {interface}")).unwrap_or_default();
    format!("{name}{of}")
}

/// What there was before a step of a row; nothing where it only added something.
pub fn words(step: &DoneStep) -> String {
    let DoneStep { action, before: Some(before), .. } = step else { return String::new() };
    let removes = action.removes();
    match before {
        Before::Absent => String::new(),
        Before::Present { name, .. } if removes => match name {
            Some(name) => format!("removed: it was \"{name}\""),
            None => "removed: it was there before".to_owned(),
        },
        Before::Present { settings, left: changed_by_others, .. } => match (action, settings) {
            (Action::ConfigureVpn(sent), Some(settings)) => {
                let own = sent.replaced(settings);
                let words = own.iter().map(replaced).chain(changed_by_others.iter().map(left));
                words.collect::<Vec<_>>().join("; ")
            }
            _ => String::new(),
        },
        Before::Value { value, .. } if removes => format!("removed: the value was \"{value}\""),
        Before::Value { value, meanwhile: None } => format!("the value was \"{value}\" before"),
        Before::Value { value, meanwhile: Some(theirs) } => {
            format!(
                "the value was \"{value}\" before; it was changed to \"{theirs}\" meanwhile, and replaced"
            )
        }
        Before::Entries { entries } => {
            let had = |(key, was): (&String, &Option<String>)| {
                was.as_ref().map(|value| format!("the value of {key} was \"{value}\" before"))
            };
            entries.iter().filter_map(had).collect::<Vec<_>>().join("; ")
        }
        Before::Site { id, name: Some(name) } => format!("it was in the site \"{name}\" ({id}) before"),
        Before::Site { id, name: None } => format!("it was in the site {id} before"),
        Before::Fields { fields, sent, left, meanwhile } => {
            // All of an address is sent, and only what is new in it is reported.
            let changed = sent.iter().filter_map(|(field, now)| match fields.get(field) {
                Some(was) if is_same(field, was, now) => None,
                Some(was) => Some(format!("{field} was {}, now {}", quoted(was), quoted(now))),
                None => Some(format!("{field} was not shown, now {}", quoted(now))),
            });
            let left = left.iter().map(|(field, there)| left_so(field, there));
            let replaced = meanwhile.iter().map(|(field, theirs)| {
                format!("{field} was changed to {} meanwhile, and replaced", quoted(theirs))
            });
            changed.chain(replaced).chain(left).collect::<Vec<_>>().join("; ")
        }
    }
}
