//! Error answers of the simulated service, and their shapes on the wire (specification 2.1 and 7).

use serde_json::{Value, json};

use crate::sandbox::exchange::Response;

/// One violated field of a request body (specification 2.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// A refusal by an operation or by the checks before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    InvalidClient,
    InvalidToken,
    UnauthorizedSource,
    RateLimitExceeded(u32),
    QuotaLimitExceeded,
    NotFoundPage,
    MethodNotAllowedPage,
    UnsupportedMediaPage,
    InternalServerError,
    InvalidParam(String),
    MalformedJson(String),
    InvalidData(String),
    Violations(Vec<Violation>),
    NoDataFound(String),
    InvalidState(String),
    GeneralError(String),
    DuplicateEntity(String),
    Unknown,
}

impl Failure {
    /// The name by which statistics count it: the error code, or the kind of page.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::InvalidClient => "invalid_client",
            Self::InvalidToken => "invalid_token",
            Self::UnauthorizedSource => "unauthorizedSource",
            Self::RateLimitExceeded(_) => "rateLimitExceeded",
            Self::QuotaLimitExceeded => "quotaLimitExceeded",
            Self::NotFoundPage => "notFound",
            Self::MethodNotAllowedPage => "methodNotAllowed",
            Self::UnsupportedMediaPage => "unsupportedMediaType",
            Self::InternalServerError => "internalServerError",
            Self::InvalidParam(_) => "invalidParam",
            Self::MalformedJson(_) => "malformedJsonInput",
            Self::InvalidData(_) | Self::Violations(_) => "invalidData",
            Self::NoDataFound(_) => "noDataFound",
            Self::InvalidState(_) => "invalidState",
            Self::GeneralError(_) => "generalError",
            Self::DuplicateEntity(_) => "duplicateEntity",
            Self::Unknown => "subsystemUnsettled",
        }
    }

    /// The response. With `bare` the error object stands alone, without the envelope: the specification (2.1) has
    /// both forms and clients must take either.
    pub(crate) fn response(&self, bare: bool) -> Response {
        let (status, message) = match self {
            Self::InvalidClient | Self::InvalidToken => {
                return Response::json(401, &json!({ "error": self.name() }));
            }
            Self::NotFoundPage => return Response::page(404, "HTTP Status 404 - Not Found"),
            Self::MethodNotAllowedPage => {
                return Response::page(405, "HTTP Status 405 - Method Not Allowed");
            }
            Self::UnsupportedMediaPage => {
                return Response::page(415, "HTTP Status 415 - Unsupported Media Type");
            }
            Self::UnauthorizedSource => (401, "Source address is not authorized".to_owned()),
            Self::RateLimitExceeded(rate) => {
                (429, format!("Rate limit of {rate} requests per second exceeded"))
            }
            Self::QuotaLimitExceeded => {
                (429, "Daily quota exceeded, try again on the next day (UTC)".to_owned())
            }
            Self::InternalServerError => (500, "Internal server error".to_owned()),
            Self::Unknown => (200, "The subsystem has not settled".to_owned()),
            Self::Violations(_) => (200, "Invalid data".to_owned()),
            Self::InvalidParam(message)
            | Self::MalformedJson(message)
            | Self::InvalidData(message)
            | Self::NoDataFound(message)
            | Self::InvalidState(message)
            | Self::GeneralError(message)
            | Self::DuplicateEntity(message) => (200, message.clone()),
        };
        let mut error = json!({ "errorCode": self.name(), "message": message });
        if let Self::Violations(violations) = self {
            let entries: Vec<Value> = violations
                .iter()
                .map(|violation| json!({ "path": violation.path, "message": violation.message }))
                .collect();
            error["errorDetails"] = json!({ "violations": entries });
        }
        if bare {
            Response::json(status, &error)
        } else {
            Response::json(status, &json!({ "status": "FAILED", "error": error }))
        }
    }
}
