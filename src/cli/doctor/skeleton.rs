//! The skeleton of the mapping: a settings file with every operation whose path the specification does not state, all of
//! it commented out, for the owner of the account to complete.

use std::io::ErrorKind as Io;
use std::path::Path;

use super::operations::groups;
use crate::cli::output_file::unwritable;
use crate::error::{Error, Result};
use crate::model::operation::{Operation, Provenance};
use crate::private_file;
use crate::service::{Endpoints, Origin};

/// Writes it to a file of its own; a file that exists is never replaced. Gives the number of operations in it.
pub(super) fn write(file: &Path, profile: &str, endpoints: &Endpoints) -> Result<usize> {
    let (text, operations) = skeleton(profile, endpoints);
    let failed = |error: std::io::Error| match error.kind() {
        Io::AlreadyExists => Error::usage(format!("{} already exists and is not replaced", file.display()))
            .hint("name a file that does not exist with --write-endpoints"),
        _ => unwritable(file.display(), error),
    };
    private_file::create(file, text.as_bytes()).map_err(failed)?;
    Ok(operations)
}

/// The text, and how many operations are in it.
fn skeleton(profile: &str, endpoints: &Endpoints) -> (String, usize) {
    let mut text = format!(
        "# Where the operations are whose path the specification does not state, for [profile.{profile}].\n\
         #\n\
         # Ask the provider of the service for method and path of each, correct its lines, remove the '#' in front of\n\
         # them, and add them to fleetload.toml. A name in braces stands for a parameter; it may be in the path or in the\n\
         # query string. What `# assumed` marks follows the naming of the specification and may be wrong.\n\
         # `fleetload doctor` shows which of them answer.\n"
    );
    let mut operations = 0;
    for (group, of_group) in groups() {
        let open = of_group.into_iter().filter(|operation| operation.provenance() != Provenance::Documented);
        let open: Vec<Operation> = open.collect();
        if open.is_empty() {
            continue;
        }
        text.push_str(&format!("\n# ----- {group} -----\n"));
        operations += open.len();
        for operation in open {
            text.push_str(&entry(operation, profile, endpoints));
        }
    }
    (text, operations)
}

fn entry(operation: Operation, profile: &str, endpoints: &Endpoints) -> String {
    let mapped = endpoints.get(operation).filter(|endpoint| endpoint.origin() == Origin::Mapped);
    let (method, path, from) = match mapped {
        Some(endpoint) => (endpoint.method(), endpoint.path(), "as in this profile"),
        None if operation.provenance() == Provenance::EndingOnly => {
            (operation.method(), operation.path(), "assumed; the specification states how it ends")
        }
        None => (operation.method(), operation.path(), "assumed"),
    };
    let parameters: Vec<&str> = operation.parameters().into_iter().map(|parameter| parameter.name).collect();
    let parameters = match parameters.is_empty() {
        true => String::new(),
        false => format!("; parameters: {}", parameters.join(", ")),
    };
    format!(
        "\n# {operation}: needed for {}{parameters}\n\
         # [profile.{profile}.endpoints.{operation}]\n\
         # method = \"{}\"\n\
         # path = \"{path}\"  # {from}\n",
        operation.needed_for(),
        method.as_str(),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::operation::Method;
    use crate::service::{Mapping, Paths};

    #[test]
    fn with_the_marks_removed_it_maps_every_operation_that_is_not_documented() {
        let mapping = Mapping { method: Method::Put, path: "/v2/sites/{siteId}".to_owned() };
        let mapped = BTreeMap::from([(Operation::UpdateSite, mapping)]);
        let endpoints = Endpoints::new(Paths::Documented, mapped).unwrap();
        let (text, operations) = skeleton("acme", &endpoints);
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "nothing takes effect");
        let lines = text.lines().filter_map(|line| line.strip_prefix("# "));
        let lines = lines.filter(|line| line.starts_with('[') || line.contains(" = \""));
        let account = "[profile.acme]\nbase_url = \"https://service.example\"\nclient_id = \"x\"\n\
                       client_secret_command = \"true\"\n";
        let settings = format!("{account}{}", lines.collect::<Vec<_>>().join("\n"));
        crate::cli::check_settings(Path::new("fleetload.toml"), &settings).unwrap();
        let documented = Operation::ALL.iter().filter(|o| o.provenance() == Provenance::Documented).count();
        assert_eq!(operations, Operation::ALL.len() - documented);
        assert_eq!(settings.matches(".endpoints.").count(), operations);
        assert!(text.contains("# method = \"PUT\"\n# path = \"/v2/sites/{siteId}\"  # as in this profile"));
    }

    #[test]
    fn a_file_that_exists_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("endpoints.toml");
        let endpoints = Endpoints::new(Paths::Documented, BTreeMap::new()).unwrap();
        write(&file, "acme", &endpoints).unwrap();
        let before = std::fs::read(&file).unwrap();
        let error = write(&file, "other", &endpoints).unwrap_err();
        assert!(error.to_string().contains("already exists"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}
