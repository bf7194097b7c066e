//! How a webhook is signed with HMAC-SHA256: over id, time and body in the form of the Standard Webhooks, so that anybody's
//! library can check it, or over the body alone as the story queue's clients expect it. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret that begins so is the rest in base64, as the libraries hand it out.
const ENCODED: &str = "whsec_";

/// `v1,` and the signature, as the header `webhook-signature` has it. `None` for a secret that cannot be used.
pub fn sign(secret: &str, id: &str, seconds: u64, body: &str) -> Option<String> {
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

/// `sha256=` and the signature of the body in hexadecimal digits, as the header `x-signature-256` has it.
pub fn sign_body(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(body.as_bytes());
    let digits = mac.finalize().into_bytes();
    digits.iter().fold(String::from("sha256="), |text, byte| text + &format!("{byte:02x}"))
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

    /// The second example of RFC 4231.
    #[test]
    fn it_signs_a_body_as_everybody_does() {
        assert_eq!(
            sign_body("Jefe", "what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn a_secret_that_is_no_key_signs_nothing() {
        for secret in ["", "whsec_", "whsec_!!"] {
            assert_eq!(sign(secret, "id", 1, "{}"), None, "{secret}");
        }
    }
}
