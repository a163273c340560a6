//! The signature of a webhook: HMAC-SHA-256 over the bytes of the body, in hexadecimal.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use crate::model::digest::hexadecimal;

/// The value of the header `X-Fleetload-Signature`.
pub(super) fn signature(secret: &SecretString, body: &[u8]) -> Option<String> {
    // HMAC takes a key of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).ok()?;
    mac.update(body);
    Some(format!("sha256={}", hexadecimal(&mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_test_vector_of_rfc_4231() {
        let secret = SecretString::from("Jefe".to_owned());
        assert_eq!(
            signature(&secret, b"what do ya want for nothing?").unwrap(),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
