//! How a webhook is signed: HMAC-SHA256 over id, time and body, in the form of the Standard Webhooks, so that anybody's
//! library can check it. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret that begins so is the rest in base64, as the libraries hand it out.
const ENCODED: &str = "whsec_";

/// `v1,` and the signature, as the header `webhook-signature` has it. `None` for a secret that cannot be used.
pub(super) fn sign(secret: &str, id: &str, seconds: u64, body: &str) -> Option<String> {
    let key = match secret.strip_prefix(ENCODED) {
        Some(encoded) => STANDARD.decode(encoded).ok()?,
        None => secret.as_bytes().to_vec(),
    };
    if key.is_empty() {
        return None;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks' own libraries.
    #[test]
    fn it_signs_as_the_standard_webhooks_do() {
        let signed = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signed.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn a_secret_that_is_no_key_signs_nothing() {
        for secret in ["", "whsec_", "whsec_!!"] {
            assert_eq!(sign(secret, "id", 1, "{}"), None, "{secret}");
        }
    }
}
