//! Reads what `listTimeZones` answers (specification 2.8): the names of zones, all of them or none.

use serde_json::Value;

use super::found::may_be_a_page;
use super::wording::clean;
use crate::model::time::Moment;
use crate::model::zone::ZoneList;

/// Characters shown of something that is no name.
const SHOWN: usize = 60;

/// Reads the `body` of a successful answer to `listTimeZones`, had at `asked_at`.
///
/// # Errors
///
/// Says in words why it is not the whole list: what is not in it must be something the service does not have.
pub fn time_zones(body: &Value, asked_at: Moment) -> Result<ZoneList, String> {
    let Value::Array(entries) = body else { return Err("the answer is not a list".to_owned()) };
    if entries.is_empty() {
        return Err("the answer is an empty list".to_owned());
    }
    if entries.len() > ZoneList::MOST {
        return Err(format!("the answer has more than {} entries", ZoneList::MOST));
    }
    if may_be_a_page(entries.len()) {
        return Err(format!("the answer has {} entries, which may be a page of more", entries.len()));
    }
    let id = |(entry, at): (&Value, usize)| match entry.get("zoneId") {
        Some(Value::String(id)) => Ok(id.clone()),
        Some(other) => {
            Err(format!("the zoneId of entry {at} is no text: {}", clean(&other.to_string(), SHOWN)))
        }
        None => Err(format!("entry {at} has no zoneId")),
    };
    let ids = entries.iter().zip(1..).map(id).collect::<Result<Vec<_>, _>>()?;
    ZoneList::new(ids, asked_at).ok_or_else(|| "the answer has a zoneId that is no name".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_list_is_read_whole_or_not_at_all() {
        let zone = |id: &str| json!({"zoneId": id, "name": "a name", "region": "a region"});
        let whole = json!([zone("Pacific/Auckland"), zone("Asia/Tokyo"), {"zoneId": "UTC", "more": 1}]);
        let list = time_zones(&whole, Moment::from_millis(7)).unwrap();
        assert_eq!(list.ids(), ["Asia/Tokyo", "Pacific/Auckland", "UTC"]);
        assert_eq!(list.asked_at(), Moment::from_millis(7));

        let many = |count: usize| Value::Array((0..count).map(|n| zone(&format!("Zone/{n}"))).collect());
        for (body, why) in [
            (json!(null), "the answer is not a list"),
            (json!({"zones": []}), "the answer is not a list"),
            (json!([]), "the answer is an empty list"),
            (json!([zone("UTC"), "Asia/Tokyo"]), "entry 2 has no zoneId"),
            (json!([zone("UTC"), {"zoneId": 5}]), "the zoneId of entry 2 is no text: 5"),
            (json!([zone("UTC"), zone("")]), "the answer has a zoneId that is no name"),
            (many(50), "the answer has 50 entries, which may be a page of more"),
            (many(ZoneList::MOST + 1), "the answer has more than 5000 entries"),
        ] {
            assert_eq!(time_zones(&body, Moment::default()), Err(why.to_owned()));
        }
        assert_eq!(time_zones(&many(51), Moment::default()).unwrap().ids().len(), 51);
    }
}
