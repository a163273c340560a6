//! People (specification 4.7).

use serde_json::{Value, json};

use super::call::{Call, found};
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Person};

const USER_TYPES: [&str; 6] = [
    "Configure Client",
    "Diagnostics Client",
    "Full Reseller",
    "Reports Client",
    "Reports Only Reseller",
    "VPN User",
];
const TEMPLATE_SCOPES: [&str; 3] = ["COMPANY_INHERIT", "COMPANY_NO_INHERIT", "COMPANY_CHILDREN"];
const DETAILS: [&str; 6] = ["userType", "templateScope", "allowLogin", "address", "phoneNumber", "faxNumber"];

fn record(person: &Person) -> Value {
    json!({
        "id": person.id,
        "firstName": person.first_name,
        "lastName": person.last_name,
        "username": person.username,
        "email": person.email,
    })
}

/// The pattern of specification 2.4, `^[a-z0-9-.@]*$`; it lets the empty name through.
fn is_username(text: &str) -> bool {
    text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'.' | b'@'))
}

pub(crate) fn add_person(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("person", call.body)?;
    let company = form.id("companyId");
    form.one_of("userType", &USER_TYPES);
    form.one_of("templateScope", &TEMPLATE_SCOPES);
    let first_name = form.text("firstName");
    let last_name = form.text("lastName");
    let username = form.text("username");
    let email = form.text("email");
    form.boolean("allowLogin", true);
    form.address("address", true, false);
    form.optional_text("phoneNumber");
    form.optional_text("faxNumber");
    if !is_username(&username) {
        form.refuse("username", "must match ^[a-z0-9-.@]*$");
    }
    let details = form.keep(&DETAILS);
    form.judge()?;
    call.company(company)?;
    if call.world.person_by_username(&username).is_some() {
        return Err(Failure::DuplicateEntity(format!("Username {username} is already in use")));
    }
    let person = Person {
        id: call.fresh_id(),
        company,
        first_name,
        last_name,
        username,
        email,
        made_at: call.now,
        details,
    };
    let answer = record(&person);
    call.create("person", person.id, Some(company), Change::Person(person));
    Ok(answer)
}

pub(crate) fn get_person(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("id")?;
    found(call.world.people.get(id), "person", id).map(record)
}

pub(crate) fn get_person_by_username(call: &mut Call<'_>) -> Result<Value, Failure> {
    let username = call.required("username")?;
    call.world
        .person_by_username(&username)
        .filter(|person| call.sees(person.made_at))
        .map(record)
        .ok_or_else(|| Failure::NoDataFound(format!("No person found with username {username}")))
}

pub(crate) fn list_people(call: &mut Call<'_>) -> Result<Value, Failure> {
    let company = call.id("companyId")?;
    call.company(company)?;
    let people = call.world.people_of(company).iter();
    Ok(call.page(
        people
            .filter_map(|id| call.world.people.get(*id))
            .filter(|person| call.sees(person.made_at))
            .map(record),
    ))
}
