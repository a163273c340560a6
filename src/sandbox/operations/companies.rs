//! Companies and time zones (specification 4.2).

use serde_json::{Map, Value, json};

use super::call::{Call, id_and_name};
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Company};

/// The fields of a company that come back as they were given (specification 2.3).
const DETAILS: [&str; 6] =
    ["address", "phoneNumber", "faxNumber", "supportEmail", "salesEmail", "accountsEmail"];

/// What people call some of the time zones.
const ZONE_NAMES: &str = include_str!("zone_names.csv");

fn record(company: &Company) -> Value {
    let mut record = Map::new();
    record.insert("id".to_owned(), json!(company.id));
    record.insert("name".to_owned(), json!(company.name));
    record.extend(company.details.clone());
    Value::Object(record)
}

pub(crate) fn add_company(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("company", call.body)?;
    let parent = form.id("parentCompanyId");
    let company_type = form.one_of("companyType", &["CUSTOMER", "RESELLER"]);
    let name = form.text("name");
    form.address("address", true, false);
    form.text("phoneNumber");
    form.optional_text("faxNumber");
    form.text("supportEmail");
    form.text("salesEmail");
    form.text("accountsEmail");
    let details = form.keep(&DETAILS);
    form.judge()?;
    call.company(parent)?;
    let company =
        Company { id: call.fresh_id(), parent: Some(parent), company_type, name, made_at: call.now, details };
    let answer = record(&company);
    call.create("company", company.id, Some(parent), Change::Company(company));
    Ok(answer)
}

pub(crate) fn update_company(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("companyId")?;
    let mut form = Form::of("company", call.body)?;
    let name = form.optional_text("name");
    form.address("address", false, false);
    for field in &DETAILS[1..] {
        form.optional_text(field);
    }
    let details = form.keep(&DETAILS);
    form.judge()?;
    let mut company = call.company(id)?.clone();
    if let Some(name) = name {
        company.name = name;
    }
    company.details.extend(details);
    let answer = record(&company);
    call.alter("company", id, company.parent, Change::Company(company));
    Ok(answer)
}

pub(crate) fn get_company(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("id")?;
    call.company(id).map(record)
}

pub(crate) fn list_companies(call: &mut Call<'_>) -> Result<Value, Failure> {
    let companies = call.world.companies.iter();
    Ok(call.page(companies.filter(|company| call.sees(company.made_at)).map(record)))
}

pub(crate) fn find_companies_by_name(call: &mut Call<'_>) -> Result<Value, Failure> {
    let part = call.required("companyName")?;
    let companies = call.world.companies.search(&part);
    Ok(call.page(
        companies
            .filter(|company| call.sees(company.made_at))
            .map(|company| id_and_name(company.id, &company.name)),
    ))
}

pub(crate) fn get_child_companies(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("companyId")?;
    call.company(id)?;
    let children = call.world.children(id).iter();
    Ok(call.page(
        children
            .filter_map(|child| call.world.companies.get(*child))
            .filter(|company| call.sees(company.made_at))
            .map(|company| id_and_name(company.id, &company.name)),
    ))
}

pub(crate) fn list_time_zones(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(call.page(zones()))
}

/// The time zones that the service lists (specification 2.8): those of the IANA database that have a place, and UTC, in
/// the order of the identifiers. The region is the first part of the identifier. Addresses are not checked against this
/// list, since the specification does not say that they are.
pub(crate) fn zones() -> impl Iterator<Item = Value> {
    // Those that come along with the program, so that the service is the same on every machine.
    let bundled = jiff::tz::TimeZoneDatabase::bundled();
    let mut ids: Vec<String> = bundled
        .available()
        .map(|name| name.to_string())
        .filter(|name| name == "UTC" || (name.contains('/') && !name.starts_with("Etc/")))
        .collect();
    ids.sort_unstable();
    ids.into_iter().map(|id| {
        let mut names = ZONE_NAMES.lines().filter_map(|line| line.split_once(','));
        let name = names
            .find(|(zone, _)| *zone == id)
            .map_or_else(|| id.replace('_', " "), |(_, name)| name.to_owned());
        let region = id.split('/').next().unwrap_or(&id);
        json!({ "zoneId": id, "name": name, "region": region })
    })
}
