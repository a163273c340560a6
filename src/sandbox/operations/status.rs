//! Online status, full status and state of devices (specification 2.10, 4.10).
//!
//! Nothing runs behind a simulated device: when it comes online and goes follows from the scenario, the seed and its id.
//! A device that is not online has no status, unless the scenario says by which word it shows.

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::call::Call;
use super::devices::interfaces;
use crate::sandbox::exchange::Millis;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::Device;

/// The only status that the specification shows.
const ONLINE: &str = "Online";

/// A local date-time with milliseconds and no zone designator (specification 2.10).
fn local(at: Millis) -> String {
    Timestamp::from_millisecond(at).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string()
}

/// A number below `bound` that belongs to this record.
pub(crate) fn figure(id: Uuid, salt: usize, bound: u64) -> u64 {
    let bytes = id.as_bytes();
    let mix = bytes.iter().zip(1..).fold(0_u64, |sum, (byte, place)| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte) * place).wrapping_add(salt as u64)
    });
    mix % bound.max(1)
}

/// An address of the range kept for documentation that belongs to this record.
pub(crate) fn address(id: Uuid, salt: usize) -> String {
    format!("203.0.113.{}", 1 + figure(id, salt, 254))
}

/// How it stands with a device at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has not been seen yet; known since then.
    NotYet { since: Millis },
    /// It is there, since then.
    Online { since: Millis },
    /// It was there, and has been away since then.
    Gone { since: Millis },
}

impl Presence {
    pub(crate) fn of(call: &Call<'_>, device: &Device) -> Self {
        // What was there before the first request is there throughout.
        if device.made_at == 0 {
            return Self::Online { since: call.opened };
        }
        let scenario = call.device_status;
        let (high, low) = device.id.as_u64_pair();
        let mut chance = fastrand::Rng::with_seed(high ^ low.rotate_left(32) ^ call.seed);
        let never = chance.f64() < scenario.never_online;
        let [least, most] = scenario.online_after_seconds;
        let online = later(device.made_at, chance.u64(least..=most));
        let gone = (scenario.online_for_seconds > 0).then(|| later(online, scenario.online_for_seconds));
        match gone {
            _ if never || call.now < online => Self::NotYet { since: device.made_at },
            Some(gone) if gone <= call.now => Self::Gone { since: gone },
            Some(_) | None => Self::Online { since: online },
        }
    }

    fn since(self) -> Millis {
        match self {
            Self::NotYet { since } | Self::Online { since } | Self::Gone { since } => since,
        }
    }
}

fn later(from: Millis, seconds: u64) -> Millis {
    let millis = Millis::try_from(seconds).unwrap_or(Millis::MAX).saturating_mul(1000);
    from.saturating_add(millis)
}

/// The state of a device. The specification does not show its content: this one is nested, as a structure may be.
fn state(call: &Call<'_>, device: &Device) -> Option<Value> {
    let presence = Presence::of(call, device);
    let online = matches!(presence, Presence::Online { .. });
    let interfaces: Vec<Value> = interfaces(device.id)
        .map(|interface| json!({ "name": interface.name, "link": if online { "up" } else { "unknown" } }))
        .collect();
    let mut state = json!({
        "connectivity": { "online": online, "since": local(presence.since()) },
        "interfaces": interfaces,
    });
    if online {
        state["resources"] = json!({
            "cpu": { "cores": 4, "load": [0.5, figure(device.id, 5, 100)] },
            "memoryPercent": figure(device.id, 6, 100),
        });
    }
    Some(json!({ "cpeId": device.id, "state": state }))
}

fn online(call: &Call<'_>, device: &Device) -> Option<Value> {
    let presence = Presence::of(call, device);
    let word = match presence {
        Presence::Online { .. } => ONLINE,
        Presence::NotYet { .. } | Presence::Gone { .. } => call.device_status.offline_word.as_deref()?,
    };
    Some(json!({ "cpeId": device.id, "statusTimestamp": local(presence.since()), "status": word }))
}

/// The online status, with the last contact of a device that there was contact with.
fn full(call: &Call<'_>, device: &Device) -> Option<Value> {
    let mut status = online(call, device)?;
    let contact = match Presence::of(call, device) {
        Presence::NotYet { .. } => return Some(status),
        Presence::Online { since } => {
            let ago = Millis::try_from(figure(device.id, 3, 60_000)).unwrap_or(0);
            since.max(call.now - ago)
        }
        Presence::Gone { since } => since,
    };
    status["contactDate"] = json!(local(contact));
    status["wanIpAddress"] = json!(address(device.id, 1));
    status["contactIpAddress"] = json!(address(device.id, 1));
    Some(status)
}

type View = fn(&Call<'_>, &Device) -> Option<Value>;

fn of_device(call: &Call<'_>, view: View) -> Result<Value, Failure> {
    let device = call.device(call.id("deviceId")?)?;
    view(call, device)
        .ok_or_else(|| Failure::NoDataFound(format!("No status found for device {}", device.id)))
}

fn of_company(call: &Call<'_>, below: bool, view: View) -> Result<Value, Failure> {
    let company = call.company(call.id("companyId")?)?.id;
    let companies = if below { call.world.tree(company) } else { vec![company] };
    let devices = companies.iter().flat_map(|company| call.world.devices_of(*company));
    Ok(listed(call, devices.filter_map(|id| call.world.devices.get(*id)), view))
}

fn of_site(call: &Call<'_>, view: View) -> Result<Value, Failure> {
    let site = call.site(call.id("siteId")?)?.id;
    Ok(listed(call, call.world.devices.iter().filter(|device| device.site == Some(site)), view))
}

fn listed<'a>(call: &Call<'_>, devices: impl Iterator<Item = &'a Device>, view: View) -> Value {
    call.page(devices.filter(|device| call.sees(device.made_at)).filter_map(|device| view(call, device)))
}

macro_rules! views {
    ($($name:ident = $of:ident($($argument:expr),*);)*) => {
        $(pub(crate) fn $name(call: &mut Call<'_>) -> Result<Value, Failure> {
            $of(call, $($argument),*)
        })*
    };
}

views! {
    list_company_device_states = of_company(false, state);
    list_company_tree_device_states = of_company(true, state);
    list_site_device_states = of_site(state);
    get_device_online_status = of_device(online);
    list_company_device_online_statuses = of_company(false, online);
    list_company_tree_device_online_statuses = of_company(true, online);
    list_site_device_online_statuses = of_site(online);
    get_device_full_status = of_device(full);
    list_company_device_full_statuses = of_company(false, full);
    list_company_tree_device_full_statuses = of_company(true, full);
    list_site_device_full_statuses = of_site(full);
}
