//! A request as a value: the operation, its named parameters and its JSON body.

use serde_json::Value;

use crate::model::kind::Kind;
use crate::model::operation::Operation;

/// One request. Its path is a matter of the endpoint it goes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is asked.
    pub operation: Operation,
    /// The named parameters of specification section 4, unencoded. Whether one stands in the path or in the query
    /// is a matter of the [endpoint](super::endpoint::Endpoint).
    pub parameters: Vec<(&'static str, String)>,
    /// The JSON body, for operations that take one.
    pub body: Option<Value>,
}

/// The parameter that names the record something belongs to.
pub(crate) fn owner_parameter(kind: Kind) -> &'static str {
    match kind {
        Kind::Company => "companyId",
        Kind::Site => "siteId",
        Kind::Person => "id",
        Kind::Device => "deviceId",
    }
}
