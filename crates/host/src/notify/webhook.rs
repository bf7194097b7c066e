//! A notification as an HTTP request: JSON, signed where there is a secret, one request per try. How a request is made and
//! signed is the sender's.

use super::{Kit, Message, Trouble};
use crate::clock::SystemClock;
use windlass_engine::Clock;
use windlass_webhook_sender::signature::sign;
use windlass_webhook_sender::{Reach, post};

pub(super) fn send(kit: &Kit, url: &str, secret_env: Option<&str>, message: &Message) -> Result<(), Trouble> {
    let body = serde_json::to_string(message).map_err(|error| Trouble::Lasting(error.to_string()))?;
    let seconds = SystemClock.now().0 / 1000;
    let moment = seconds.to_string();
    let mut headers = vec![
        ("user-agent", concat!("windlass/", env!("CARGO_PKG_VERSION"))),
        ("webhook-id", message.id.as_str()),
        ("webhook-timestamp", moment.as_str()),
    ];
    let signature;
    if let Some(name) = secret_env {
        // Never unsigned where a signature is expected. Another process may have the variable.
        let secret = kit.environment.get(name);
        let secret =
            secret.ok_or_else(|| Trouble::Passing(format!("${name} is not set: it cannot be signed")))?;
        let signed = sign(secret, &message.id, seconds, &body);
        signature = signed.ok_or_else(|| Trouble::Passing(format!("${name} holds no key that can sign")))?;
        headers.push(("webhook-signature", signature.as_str()));
    }
    match post(url, &headers, &body, Reach::Anywhere) {
        Ok(200..300) => Ok(()),
        Ok(status) => {
            let words = format!("the answer was {status}");
            Err(if status >= 500 { Trouble::Passing(words) } else { Trouble::Lasting(words) })
        }
        Err(why) => Err(Trouble::Passing(why)),
    }
}
