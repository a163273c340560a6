//! The status of a device as the service gave it (specification 2.10), and what a look at the service showed of a device.
//!
//! Values are kept as they came: the specification shows the status `Online` and no other, and timestamps without a zone.

use serde::{Deserialize, Serialize};

use super::operation::Operation;

/// The one status that the specification shows.
const ONLINE: &str = "online";

/// A status of a device, as the service gave it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceStatus {
    /// `status`.
    pub word: String,
    /// `statusTimestamp`: since when, without a time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// `contactDate`, of a full status: the last contact, without a time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
}

impl DeviceStatus {
    /// Whether it says that the device is online, in capitals or not.
    pub fn is_online(&self) -> bool {
        self.word.trim().eq_ignore_ascii_case(ONLINE)
    }
}

/// What a look at the service showed of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A status, by this operation.
    Status(DeviceStatus, Operation),
    /// No status, by this operation.
    Nothing(Operation),
    /// It is not known, for this reason.
    Unknown(String),
}

impl Shown {
    /// Whether it shows that the device is online.
    pub fn is_online(&self) -> bool {
        matches!(self, Self::Status(status, _) if status.is_online())
    }
}
