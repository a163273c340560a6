//! The service account whose records a journal speaks of, and how every output names it.

use serde::Serialize;
use serde_json::{Map, Value};

/// A service account. That of a rehearsal is at an address that no real service has, so the two are never mixed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The base address of the service.
    pub base_url: String,
    /// The client id.
    pub client_id: String,
}

/// Where the simulated service inside the process is: a fixed name, since its port is another one each time.
const IN_PROCESS: &str = "sandbox://in-process";
/// What a rehearsal says of itself at the top of everything that it puts out.
const REHEARSAL: &str = "REHEARSAL: nothing was created";

impl Account {
    /// The account of a rehearsal.
    pub fn of_rehearsal(client_id: String) -> Self {
        Self { base_url: IN_PROCESS.to_owned(), client_id }
    }

    /// Whether it is that of a rehearsal.
    pub fn is_rehearsal(&self) -> bool {
        self.base_url == IN_PROCESS
    }
}

/// Whose records an output speaks of: an account's, or nobody's yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whose(Option<Account>);

impl From<Option<Account>> for Whose {
    fn from(account: Option<Account>) -> Self {
        Self(account)
    }
}

impl Whose {
    /// What stands at the top of an output of a rehearsal.
    pub fn banner(&self) -> Option<&'static str> {
        self.0.as_ref().filter(|account| account.is_rehearsal()).map(|_| REHEARSAL)
    }

    /// The client id; nothing as long as there is no account.
    pub fn account(&self) -> Option<&str> {
        self.0.as_ref().map(|account| account.client_id.as_str())
    }

    /// The service, in words; nothing as long as there is no account.
    pub fn service(&self) -> Option<&str> {
        self.0.as_ref().map(|account| {
            if account.is_rehearsal() { "the simulated service in fleetload" } else { &account.base_url }
        })
    }

    /// Account and service in words, without the banner.
    pub fn words(&self) -> String {
        match (self.account(), self.service()) {
            (Some(account), Some(service)) => format!("account {account} at {service}"),
            _ => "not used with any account yet".to_owned(),
        }
    }

    /// All of it in one line.
    pub fn line(&self) -> String {
        match self.banner() {
            Some(banner) => format!("{banner}; {}", self.words()),
            None => self.words(),
        }
    }

    /// The same for programs.
    pub fn facts(&self) -> WhoseFacts {
        let account = self.0.as_ref();
        WhoseFacts {
            account: account.map(|account| account.client_id.clone()),
            service: account.map(|account| account.base_url.clone()),
            rehearsal: self.banner().is_some(),
        }
    }

    /// The same as a list of fields.
    pub fn fields(&self) -> Map<String, Value> {
        // Plain values always have a form in JSON.
        serde_json::to_value(self.facts())
            .ok()
            .and_then(|facts| facts.as_object().cloned())
            .unwrap_or_default()
    }
}

/// Whose records an output is about, for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WhoseFacts {
    /// The client id of the account; `null` where none is known.
    account: Option<String>,
    /// The base address of the service; `null` where none is known.
    service: Option<String>,
    /// Whether it is a rehearsal: nothing was created.
    rehearsal: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_output_names_the_account_and_the_service_and_a_rehearsal_says_that_it_is_one() {
        let ours = Account { base_url: "https://a.example".into(), client_id: "me".into() };
        let table = [
            (None, "not used with any account yet", json!([null, null, false])),
            (Some(ours), "account me at https://a.example", json!(["me", "https://a.example", false])),
            (
                Some(Account::of_rehearsal("sandbox".into())),
                "REHEARSAL: nothing was created; account sandbox at the simulated service in fleetload",
                json!(["sandbox", "sandbox://in-process", true]),
            ),
        ];
        for (account, line, fields) in table {
            let whose = Whose::from(account);
            assert_eq!(whose.line(), line);
            let told = whose.fields();
            assert_eq!(json!([told["account"], told["service"], told["rehearsal"]]), fields);
        }
    }
}
