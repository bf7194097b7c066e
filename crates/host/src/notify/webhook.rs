//! A notification as an HTTP request: JSON, signed where there is a secret, one request per try. Knows nothing of tries
//! before or after; no redirect is followed, because the signature is for the address that was agreed to.

use super::signature::sign;
use super::{Kit, Message, Trouble};
use crate::clock::SystemClock;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use windlass_engine::Clock;

/// From the search for the address to the last byte of the answer's head.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn send(kit: &Kit, url: &str, secret_env: Option<&str>, message: &Message) -> Result<(), Trouble> {
    let body = serde_json::to_string(message).map_err(|error| Trouble::Lasting(error.to_string()))?;
    let seconds = SystemClock.now().0 / 1000;
    let mut request = agent(url)?
        .post(url)
        .header("content-type", "application/json")
        .header("user-agent", concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", &message.id)
        .header("webhook-timestamp", seconds.to_string());
    if let Some(name) = secret_env {
        // Never unsigned where a signature is expected. Another process may have the variable.
        let secret = kit.environment.get(name);
        let secret =
            secret.ok_or_else(|| Trouble::Passing(format!("${name} is not set: it cannot be signed")))?;
        let signature = sign(secret, &message.id, seconds, &body);
        let signature =
            signature.ok_or_else(|| Trouble::Passing(format!("${name} holds no key that can sign")))?;
        request = request.header("webhook-signature", signature);
    }
    match request.send(body) {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => {
            let words = format!("the answer was {}", answer.status());
            Err(if answer.status().is_server_error() {
                Trouble::Passing(words)
            } else {
                Trouble::Lasting(words)
            })
        }
        Err(error) => Err(Trouble::Passing(error.to_string())),
    }
}

/// Trusts whom this machine trusts, so that a company's own authority counts.
fn agent(url: &str) -> Result<ureq::Agent, Trouble> {
    let mut tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    if url.starts_with("https:") {
        tls = tls.root_certs(RootCerts::from(authorities()?));
    }
    let config = ureq::Agent::config_builder()
        .tls_config(tls.build())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // Settings are resolved elsewhere; nothing here looks into the environment.
        .proxy(None)
        .timeout_global(Some(LIMIT));
    Ok(config.build().new_agent())
}

/// Without any, every server would be called a stranger, and the words would blame the server.
fn authorities() -> Result<Vec<Certificate<'static>>, Trouble> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        let why = if why.is_empty() { "none is installed".to_owned() } else { why.join("; ") };
        return Err(Trouble::Passing(format!("no authority is known that could vouch for it: {why}")));
    }
    Ok(found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
}
