//! The request itself: whom it trusts, how long it waits, and which addresses it may call.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;
use std::time;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::time::Duration;
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// From the search for the address to the last byte of the answer's head.
const LIMIT: time::Duration = time::Duration::from_secs(10);
/// A head that is longer is no answer.
const LONGEST_HEAD: usize = 16 * 1024;

/// Which addresses may be called.
#[derive(Clone, Copy, Debug)]
pub enum Reach {
    /// Whoever named the address may call it themselves.
    Anywhere,
    /// Only addresses for which this holds. It is asked of what the name resolved to, right before the connection is made, so
    /// a name that means something else the second time gains nothing.
    Only(fn(IpAddr) -> bool),
}

/// Sends once and gives back the status of the answer, whatever it is; else why there was none.
pub fn post(url: &str, headers: &[(&str, &str)], body: &str, reach: Reach) -> Result<u16, String> {
    let agent = agent(url, reach)?;
    let mut request = agent.post(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send(body).map(|answer| answer.status().as_u16()).map_err(|error| error.to_string())
}

/// Trusts whom this machine trusts, so that a company's own authority counts.
fn agent(url: &str, reach: Reach) -> Result<ureq::Agent, String> {
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
        .max_response_header_size(LONGEST_HEAD)
        // Settings are resolved elsewhere; nothing here looks into the environment.
        .proxy(None)
        .timeout_global(Some(LIMIT))
        .build();
    Ok(ureq::Agent::with_parts(config, DefaultConnector::default(), Guard(reach)))
}

/// Without any, every server would be called a stranger, and the words would blame the server.
fn authorities() -> Result<Vec<Certificate<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        let why = if why.is_empty() { "none is installed".to_owned() } else { why.join("; ") };
        return Err(format!("no authority is known that could vouch for it: {why}"));
    }
    Ok(found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
}

/// Looks names up as usual, and gives nothing back where one of the addresses must not be called.
#[derive(Debug)]
struct Guard(Reach);

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = looked_up(uri, config, timeout)?;
        if let Reach::Only(allowed) = self.0
            && let Some(other) = found.iter().find(|address| !allowed(address.ip()))
        {
            return Err(ureq::Error::BadUri(format!("{} must not be called from here", other.ip())));
        }
        Ok(found)
    }
}

/// As usual, on a thread that nobody waits for longer than they want to: a name server may be silent. The library would start
/// one itself, and panic where there is no room for it.
fn looked_up(uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
    let (tell, told) = sync_channel(1);
    let (uri, config) = (uri.clone(), config.clone());
    let unlimited = NextTimeout { after: Duration::NotHappening, ..timeout };
    let look = move || {
        // Whoever asked may have gone.
        let _ = tell.send(DefaultResolver::default().resolve(&uri, &config, unlimited));
    };
    let _ = Builder::new().name("look-up".to_owned()).spawn(look)?;
    told.recv_timeout(*timeout.after).unwrap_or(Err(ureq::Error::Timeout(timeout.reason)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    /// Answers one connection with these words.
    fn server(words: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://127.0.0.1:{}/hook", listener.local_addr().unwrap().port());
        std::thread::spawn(move || {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            for _ in head.take_while(|line| !line.is_empty()) {}
            // Whoever does not read to the end is right to hang up.
            let _ = stream.write_all(words.as_bytes());
        });
        url
    }

    #[test]
    fn a_redirect_is_an_answer_and_is_not_followed() {
        let elsewhere = server("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned());
        let url = server(format!("HTTP/1.1 307 There\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n"));
        assert_eq!(post(&url, &[], "{}", Reach::Anywhere), Ok(307));
    }

    #[test]
    fn a_body_without_end_is_not_read_and_a_head_without_end_is_no_answer() {
        let endless = "x".repeat(1 << 20);
        let body = server(format!("HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n{endless}"));
        assert_eq!(post(&body, &[], "{}", Reach::Anywhere), Ok(200));
        let head = server(format!("HTTP/1.1 200 OK\r\nx-more: {endless}\r\n\r\n"));
        assert!(post(&head, &[], "{}", Reach::Anywhere).is_err());
    }

    #[test]
    fn what_resolves_to_a_forbidden_address_is_not_called() {
        let url = server("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned());
        let by_name = url.replace("127.0.0.1", "localhost");
        let outside = Reach::Only(|address| !address.is_loopback());
        for url in [&url, &by_name] {
            let refused = post(url, &[], "{}", outside).unwrap_err();
            assert!(refused.contains("must not be called"), "{refused}");
        }
        assert_eq!(post(&url, &[], "{}", Reach::Anywhere), Ok(200), "nobody was called before");
    }
}
