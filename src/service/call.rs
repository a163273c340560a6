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

impl Call {
    /// A call without a body, its parameters given in the order in which the specification names them; optional ones
    /// come last.
    pub fn reading(operation: Operation, values: impl IntoIterator<Item = String>) -> Self {
        let names = operation.parameters().into_iter().map(|parameter| parameter.name);
        Self { operation, parameters: names.zip(values).collect(), body: None }
    }
}

/// The parameter that names the record something belongs to.
pub(crate) fn owner_parameter(kind: Kind) -> &'static str {
    match kind {
        Kind::Company => "companyId",
        Kind::Site => "siteId",
        Kind::Person => "id",
        Kind::Device | Kind::Upkeep(_) => "deviceId",
    }
}
