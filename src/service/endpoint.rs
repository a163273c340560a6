//! Where each operation is found: the documented paths, the ones the profile maps, and, when it says so, the assumed.
//!
//! An operation that is none of these is unavailable; nothing here guesses. Filling a path is left to the template.

mod template;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::model::digest::hexadecimal;
use crate::model::operation::{Method, Operation, Provenance};
pub use crate::model::policy::Paths;
use template::Template;

/// Where the profile says an operation is: `[endpoints.<operation>]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The method.
    pub method: Method,
    /// The path below the base address; `{name}` stands for a parameter, in the path or in the query string.
    pub path: String,
}

/// Who says where an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The specification.
    Documented,
    /// The profile.
    Mapped,
    /// The naming of the specification, because the profile allows assumed paths.
    Assumed,
}

/// Where one operation is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    method: Method,
    template: Template,
    origin: Origin,
}

impl Endpoint {
    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The path as written, with its `{name}` holes.
    pub fn path(&self) -> &str {
        self.template.as_str()
    }

    /// Who says so.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Path and query with the parameters in place, percent-encoded. The error says which value cannot be sent.
    pub(crate) fn fill(&self, parameters: &[(&'static str, String)]) -> std::result::Result<String, String> {
        self.template.fill(parameters)
    }
}

/// Where every available operation is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints(BTreeMap<Operation, Endpoint>);

impl Endpoints {
    /// Puts the mapped paths over the documented (and assumed) ones.
    ///
    /// # Errors
    ///
    /// A usage error naming the profile key when a mapped path is not a path of this operation: no leading `/`, a
    /// `{name}` it does not have, one it needs left out, a character no path can hold, or GET for a call with a body.
    pub fn new(paths: Paths, mapped: BTreeMap<Operation, Mapping>) -> Result<Self> {
        let mut endpoints = BTreeMap::new();
        for &operation in Operation::ALL {
            let origin = match (operation.provenance(), paths) {
                (Provenance::Documented, _) => Origin::Documented,
                (Provenance::EndingOnly | Provenance::Assumed, Paths::Assumed) => Origin::Assumed,
                (Provenance::EndingOnly | Provenance::Assumed, Paths::Documented) => continue,
            };
            let template = Template::parse(operation, operation.path()).map_err(|why| {
                Error::internal(format!("the path of {operation} in the table is wrong: {why}"))
            })?;
            endpoints.insert(operation, Endpoint { method: operation.method(), template, origin });
        }
        for (operation, Mapping { method, path }) in mapped {
            if method == Method::Get && carries_body(operation) {
                return Err(Error::usage(format!(
                    "[endpoints.{operation}] method: {operation} sends a body"
                ))
                .hint(format!(
                    "ask the provider for its method, POST, PUT, PATCH or DELETE, and set it in [endpoints.{operation}]"
                )));
            }
            let template = Template::parse(operation, &path).map_err(|why| {
                Error::usage(format!("[endpoints.{operation}] path = {path:?}: {why}"))
                    .hint(format!("write it like path = \"{}\"", operation.path()))
            })?;
            endpoints.insert(operation, Endpoint { method, template, origin: Origin::Mapped });
        }
        Ok(Self(endpoints))
    }

    /// Where `operation` is found; `None` when it is unavailable.
    pub fn get(&self, operation: Operation) -> Option<&Endpoint> {
        self.0.get(&operation)
    }

    /// Whether `operation` can be called with this profile.
    pub fn available(&self, operation: Operation) -> bool {
        self.0.contains_key(&operation)
    }

    /// A digest of all methods and paths, in hexadecimal, equal for profiles that call the same addresses.
    pub fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        for (operation, endpoint) in &self.0 {
            digest.update(format!("{operation} {} {}\n", endpoint.method.as_str(), endpoint.path()));
        }
        hexadecimal(&digest.finalize())
    }
}

/// Whether the operation sends a body: JSON, or the form of the authentication.
fn carries_body(operation: Operation) -> bool {
    operation.body().is_some() || operation == Operation::Auth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(operation: Operation, method: Method, path: &str) -> Result<Endpoints> {
        let mapping = Mapping { method, path: path.to_owned() };
        Endpoints::new(Paths::Documented, BTreeMap::from([(operation, mapping)]))
    }

    #[test]
    fn only_documented_paths_are_used_unless_the_profile_says_otherwise() {
        let documented = Endpoints::new(Paths::Documented, BTreeMap::new()).unwrap();
        let available: Vec<_> =
            Operation::ALL.iter().copied().filter(|&operation| documented.available(operation)).collect();
        assert_eq!(
            available,
            [
                Operation::Auth,
                Operation::AddCompany,
                Operation::GetCompany,
                Operation::AddDevice,
                Operation::GetDevice,
                Operation::AddPerson
            ]
        );
        assert_eq!(documented.get(Operation::AddDevice).unwrap().origin(), Origin::Documented);
        assert_eq!(documented.get(Operation::ListCompanies), None, "a known ending is not a known path");

        let assumed = Endpoints::new(Paths::Assumed, BTreeMap::new()).unwrap();
        assert!(Operation::ALL.iter().all(|&operation| assumed.available(operation)));
        assert_eq!(assumed.get(Operation::AddSite).unwrap().origin(), Origin::Assumed);
        assert_eq!(assumed.get(Operation::ListCompanies).unwrap().origin(), Origin::Assumed);
    }

    #[test]
    fn a_mapped_path_takes_the_place_of_any_other() {
        let endpoints = mapped(Operation::GetDevice, Method::Post, "/v2/device?id={id}").unwrap();
        let endpoint = endpoints.get(Operation::GetDevice).unwrap();
        assert_eq!(
            (endpoint.method(), endpoint.path(), endpoint.origin()),
            (Method::Post, "/v2/device?id={id}", Origin::Mapped)
        );
    }

    #[test]
    fn every_method_but_get_may_carry_a_body() {
        for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
            let endpoints = mapped(Operation::AddSite, method, "/v2/site").unwrap();
            assert_eq!(endpoints.get(Operation::AddSite).unwrap().method(), method);
        }
    }

    #[test]
    fn a_wrong_mapping_is_a_usage_error_that_names_its_key() {
        for (operation, method, path) in [
            (Operation::AddSite, Method::Post, "config/addSite"),
            (Operation::GetSite, Method::Get, "/getSite"),
            (Operation::GetSite, Method::Get, "/getSite/{siteId}"),
            (Operation::AddSite, Method::Get, "/config/addSite"),
        ] {
            let error = mapped(operation, method, path).unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
            assert!(error.what().contains(&format!("[endpoints.{operation}]")), "{error}");
            assert!(error.next_step().is_some());
        }
    }

    #[test]
    fn the_fingerprint_changes_with_what_is_called_and_with_nothing_else() {
        let plain = Endpoints::new(Paths::Documented, BTreeMap::new()).unwrap();
        let same = mapped(Operation::AddDevice, Method::Post, Operation::AddDevice.path()).unwrap();
        let moved = mapped(Operation::AddDevice, Method::Post, "/v2/addDevice").unwrap();
        let more = mapped(Operation::AddSite, Method::Post, Operation::AddSite.path()).unwrap();
        assert_eq!(plain.fingerprint(), same.fingerprint());
        assert_eq!(plain.fingerprint().len(), 64);
        assert_ne!(plain.fingerprint(), moved.fingerprint());
        assert_ne!(plain.fingerprint(), more.fingerprint());
    }
}
