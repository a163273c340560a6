//! A request to the service in the words of the specification, before it has a path.

use serde_json::Value;

use crate::model::operation::Operation;

/// One request: the operation, its named parameters and its JSON body.
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
