//! From settings to what the lower floors take: where operations are found and how the client connects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::choice::{MethodWord, PathsWord, ProxyWord};
use super::{RateSetting, Settings};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::model::operation::{Method, Operation};
use crate::service::Rate;
use crate::service::{Client, Config, Proxy};
use crate::service::{Endpoints, Mapping, Paths};

/// A service that has not taken a connection in this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Settings {
    /// Where every available operation is found.
    pub(in crate::cli) fn endpoints(&self) -> Result<Endpoints> {
        let paths = match self.paths.value {
            PathsWord::Documented => Paths::Documented,
            PathsWord::Assumed => Paths::Assumed,
        };
        let mut mapped: BTreeMap<Operation, Mapping> = BTreeMap::new();
        for (operation, setting) in &self.endpoints {
            let method = match setting.value.method {
                MethodWord::Get => Method::Get,
                MethodWord::Post => Method::Post,
                MethodWord::Put => Method::Put,
                MethodWord::Patch => Method::Patch,
                MethodWord::Delete => Method::Delete,
            };
            mapped.insert(*operation, Mapping { method, path: setting.value.path.clone() });
        }
        Endpoints::new(paths, mapped)
    }

    /// A client for the account; reads the secret. Nothing is sent yet.
    pub(in crate::cli) fn client(&self, clock: Arc<dyn Clock>) -> Result<Client> {
        let account = self.account.as_ref().ok_or_else(|| {
            Error::internal("the settings of a command that talks to the service lack an account")
        })?;
        let config = Config {
            base_url: account.base_url.value.clone(),
            client_id: account.client_id.value.clone(),
            client_secret: account.secret.read()?,
            endpoints: self.endpoints()?,
            request_timeout: self.request_timeout.value,
            connect_timeout: CONNECT_TIMEOUT.min(self.request_timeout.value),
            proxy: match self.proxy.value {
                ProxyWord::Ignore => Proxy::Ignored,
                ProxyWord::Environment => Proxy::FromEnvironment,
            },
            ca_file: self.ca_file.value.clone(),
        };
        Client::new(config, clock)
    }

    /// The pace of each operation.
    pub(in crate::cli) fn pace(&self) -> Rate {
        match self.rate.value {
            RateSetting::PerSecond(rate) => Rate::PerSecond(rate),
            RateSetting::Unlimited => Rate::Unlimited,
        }
    }
}
